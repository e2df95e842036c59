"""What a caller sets in one owner's memory: profiles, facts, who is who; undo."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from embermem import telemetry
from embermem.arguments import checked
from embermem.core import messages
from embermem.core.changes import CALLER, Cause, Change, Decision, ProfileSet, UndoPlan
from embermem.core.errors import InputError
from embermem.core.fields import FieldValue
from embermem.core.messages import Expiry
from embermem.core.metadata import checked as checked_metadata
from embermem.core.metadata import texts, with_texts
from embermem.core.types import About, Fact, FactId, FactProposal
from embermem.core.user_overrides import RULING, Rulings, rulings_of
from embermem.owner_memory.correcting import LONGEST_FACT
from embermem.owner_memory.reading import Reading
from embermem.protocols import ENDED, FactSelection

if TYPE_CHECKING:
    from embermem.core.attributes import Attributes
    from embermem.core.metadata import Metadata
    from embermem.owner_memory.handle import Once


@checked
class Ruling(Reading):
    """Profiles and facts set by callers; people; undo."""

    def set_profile(self, /, **fields: FieldValue | None) -> None:
        """Set fields of the user's profile, such as name or birth_year; None removes one. A field of your own takes
        values of its type, such as a date.

        No analyst overwrites what a caller set. Raises InputError.
        """
        self._set_profiles({About.USER: fields})

    def set_agent_profile(self, /, *description: str | None, **fields: FieldValue | None) -> None:
        """Set the agent's profile: a description of its role, or fields of any name; None removes one."""
        if len(description) > 1:
            raise InputError("give one description of the agent, and everything else as fields")
        self._set_profiles({About.AGENT: {**dict(zip(("description",), description, strict=False)), **fields}})

    def set_profiles(
        self,
        *,
        user: Mapping[str, FieldValue | None] | None = None,
        agent: Mapping[str, FieldValue | None] | None = None,
        key: str | None = None,
    ) -> None:
        """Set fields of both profiles in one change: all of them, or none if one is refused. Raises InputError.

        Repeated with the same `key`, this and every other call that takes one changes nothing, and returns what it
        returned, as it is now; KeyReused is raised if the key was used with other content.
        """
        given = {About.USER: user or {}, About.AGENT: agent or {}}
        self._set_profiles(given, self._once(key, "set_profiles", user, agent))

    @telemetry.spanned(telemetry.UPDATE, "learn")
    def learn(self, facts: Sequence[Mapping[str, Any]], *, key: str | None = None) -> tuple[Fact, ...]:
        """Add facts provided by the caller, in one change; returns the resulting facts in the same order.

        Each has a `text`, and may have a `subject` ("user"), an `attribute` ("lives_in"), a `value` (the text), `about`
        ("user" or "agent"), `valid_from` (now), `valid_to` (a time that has passed: the fact held until then, and is
        among `past_facts`), `expires_at` and `metadata`. They follow the same rules as extracted
        facts: for an attribute with one value the new fact replaces the old one, a known fact is strengthened, and the
        cap applies. A known fact that is given further metadata is replaced by one that has them too.
        They have no sources, and earlier messages do not end them. A value that was corrected or forgotten is accepted,
        because the caller's statement is newer.

        Raises InputError with the position of the invalid fact, and then adds none of them.
        """
        from embermem.memoryos.correct import fact_input
        from embermem.memoryos.ingest.long_term import Knowledge

        once = self._once(key, "learn", facts)
        if self._done_before(once) is not None and once is not None:
            return self._brought(json.loads(once.result or "[]"))
        inbox = self._inbox()
        read = [self._cleaned(proposal) for proposal in fact_input.read(facts, inbox, self._parts.settings.attributes)]
        expiries = fact_input.expiries(facts, inbox)
        labels = [
            self._cleaned_labels(one, f"facts[{place}]") for place, one in enumerate(fact_input.labels(facts, inbox))
        ]
        ends = fact_input.ends(facts, inbox)
        became: tuple[FactId, ...] = ()

        def decided(no: int, seq: int) -> Sequence[Decision]:
            nonlocal became
            persona, known = self._store.reads.persona(self.owner.id), self._parts.settings.attributes
            knowledge = Knowledge(self.owner, persona, self._rulings(), attributes=known)
            decisions, became = knowledge.bring(
                zip(read, expiries, labels, ends, strict=True),
                seq=seq,
                no=no,
                at=inbox.now,
                settings=self._parts.settings,
            )
            if once is not None:
                once.result = json.dumps(became)
            return decisions

        self._changing(Cause.IMPORT, decided, CALLER, once=once)
        return self._brought(became if once is None else json.loads(once.result or "[]"))

    def _brought(self, became: Sequence[FactId]) -> tuple[Fact, ...]:
        found = self._store.reads.facts(self.owner.id, FactSelection(ids=frozenset(became)))
        told = {fact.id: fact for fact in self._of_person(self._hidden().shown_facts(found), None, None)}
        return tuple(told.get(fact_id) or self.fact(fact_id) for fact_id in became)

    def add_instruction(self, text: str, *, expires_at: Expiry = None, key: str | None = None) -> Fact:
        """Add a standing instruction of the user's, in the user's words: "Always answer in metric units." Returns the
        fact. It ends an earlier one about the same matter; `retire` ends it, or `expires_at` does.

        Raises InputError for an empty text or a time that has gone by.
        """
        from embermem import languages
        from embermem.languages.people import USER, label

        said = messages.checked(text, "text", LONGEST_FACT)
        language = languages.by_signs(said)
        attribute, value = language.instruction(" ".join(said.split()))
        if not value:
            raise InputError("the text of an instruction must not be empty; use `retire` to end one")
        told = language.of_subject(label(USER, language), language.statement(attribute, value))
        fact = {"text": told, "attribute": attribute, "value": value, "expires_at": expires_at}
        return self.learn([fact], key=key)[0]

    def set_user(self, name: str, *, key: str | None = None) -> int:
        """Say which speaker is the user: in a talk of several people whose names say nothing of it. What is known of
        that person becomes the user's profile. Returns and raises as `merge_people`."""
        return self.merge_people("user", name, key=key)

    def merge_people(self, one: str, other: str, *, key: str | None = None) -> int:
        """Say that two names are one person's: "Ana" and "Bob's sister". What is known of both is known of one from now
        on; of an attribute with one value the newest value holds, the others are past. Returns the number of the
        change, which `undo` takes back. Raises NotFound for an unknown name, InputError if they are one person
        already."""
        return self._rule_people(one, other, holds=True, key=key)

    def split_people(self, one: str, other: str, *, key: str | None = None) -> int:
        """Say that two names are different persons', whatever the talk seems to show. Returns and raises as
        `merge_people`."""
        return self._rule_people(one, other, holds=False, key=key)

    def _rule_people(self, one: str, other: str, *, holds: bool, key: str | None) -> int:
        from embermem.memoryos.correct.people_rulings import ruling

        pair = messages.name(one, "one"), messages.name(other, "other")

        def decided(no: int, seq: int) -> Sequence[Decision]:
            ended = self._store.reads.facts(self.owner.id, ENDED)
            return ruling(pair, holds, self.owner, self._persona_then(), ended, self._parts.settings.attributes)

        return self._changing(Cause.CORRECTION, decided, once=self._once(key, "rule_people", *pair, holds))

    def undo(self, change_no: int, *, key: str | None = None) -> int:
        """Undo what a change taught; returns the number of the change that does so.

        Facts that it added are retired; facts that it retired, superseded or archived are current again; traits and
        profile lines get their earlier values; what it ruled out may be learnt again. Items on which a later change
        rests are left alone: a fact said again or superseded since, a trait or line set since. Pages, chains and
        segments stay, and forgotten content stays forgotten. Undoing the returned change restores what was undone.

        Raises NotFound for an unknown change, and InputError with the reasons if nothing can be undone, as for a second
        undo. `undo_plan` returns what it would do and refuse.
        """
        from embermem.memoryos.correct.undoing import undoing

        messages.whole(change_no, "change_no", 1)
        return self._changing(
            Cause.UNDO,
            lambda no, seq: undoing(self._taught(), change_no, self._parts.settings),
            once=self._once(key, "undo", change_no),
        )

    def undo_plan(self, change_no: int) -> UndoPlan:
        """Return what `undo` would revert now, and what it would refuse and why; changes nothing. Raises NotFound,
        and InputError for a change that taught nothing or is already undone."""
        from embermem.memoryos.correct.undoing import undo_plan

        messages.whole(change_no, "change_no", 1)
        return undo_plan(self._taught(), change_no, self._parts.settings)

    def _taught(self) -> tuple[Change, ...]:
        from embermem.memoryos.correct.undoing import TEACHING

        return self._store.change_log.changes(self.owner.id, kinds=TEACHING)

    def _rulings(self) -> Rulings:
        return rulings_of(self._store.change_log.changes(self.owner.id, causes=RULING), self._store.forgetting.secret)

    def _cleaned(self, fact: FactProposal) -> FactProposal:
        """A fact of the caller's without what is sensitive in it."""
        text, value, subject = self._clean(text=fact.text, value=fact.value, subject=fact.subject)
        return replace(fact, text=text, value=value, subject=subject)

    def _cleaned_labels(self, metadata: Metadata, where: str) -> Metadata:
        """The metadata of a fact of the caller's without what is sensitive in them. Raises InputError where what
        replaces it makes them too long."""
        clean = self._clean(**{f"{where}.{one}": text for one, text in texts(metadata)})
        return checked_metadata(with_texts(metadata, clean), f"{where}.metadata without what was sensitive")

    def _set_profiles(self, given: Mapping[About, Mapping[str, FieldValue | None]], once: Once | None = None) -> None:
        now = self._parts.clock()
        decisions = [
            _profile_set(whose, name, value, now, self._parts.settings.attributes)
            for whose, fields in given.items()
            for name, value in fields.items()
        ]
        if not decisions:
            raise InputError("no field given; give at least one, such as name='Alice'")
        clean = self._clean(**{f"{place} {one.name}": one.value or "" for place, one in enumerate(decisions)})
        decisions = [
            replace(one, value=None if one.value is None else text) for one, text in zip(decisions, clean, strict=True)
        ]
        self._changing(Cause.PROFILE, lambda no, seq: decisions, once=once)


def _profile_set(
    whose: About, name: str, value: FieldValue | None, now: datetime, attributes: Attributes
) -> ProfileSet:
    """The decision that sets a field, from now on."""
    from embermem.memoryos.correct.fact_input import field_value

    if not name.isidentifier() or len(name) > 64:
        raise InputError(f"{name!r} is not a field's name; give a word such as birth_year")
    if name == "birth_year" and value is not None and not (str(value).isdecimal() and 1800 <= int(str(value)) <= 9999):
        raise InputError(f"birth_year = {value!r} is not a year")
    field = attributes.field(name) if whose is About.USER else None
    if isinstance(value, bool | float | date) and field is None:
        raise InputError(f"{name} is {type(value).__name__}; give a text or a whole number")
    text = None if value is None else messages.checked(value, name, 2000) if isinstance(value, str) else value
    if text is not None and field is not None and field.many:
        raise InputError(f"{name} holds many values, which are facts; add each with `learn`")
    if whose is About.USER and text is not None:
        text = field_value(attributes, name, text, name)
    text = None if text is None else str(text)
    return ProfileSet(whose=whose, name=name, value=text, sources=(), set_by="caller", valid_from=now)
