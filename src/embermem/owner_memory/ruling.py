"""What a caller says of one owner's memory: profiles, facts, corrections, conflicts, undoing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from embermem import telemetry
from embermem.arguments import checked
from embermem.core import messages
from embermem.core.errors import InputError
from embermem.core.messages import At
from embermem.core.types import About, Conflict, Fact, FactId, FactProposal
from embermem.owner_memory.awaiting import awaited
from embermem.owner_memory.reading import AsyncReading, Reading

if TYPE_CHECKING:
    from embermem.core.changes import Change, Decision, ProfileSet, UndoPlan
    from embermem.core.user_overrides import Rulings

_LONGEST_FACT = 2000


@checked
class Ruling(Reading):
    """Profiles that callers set, facts that they bring, correct, pin and retire, changes that they take back."""

    def set_profile(self, /, **fields: str | int | None) -> None:
        """Set fields of the user's profile, such as name or birth_year; None takes one away.

        What the caller sets is not overwritten by an analyst. Raises InputError.
        """
        self._set_profiles({About.USER: fields})

    def set_agent_profile(self, /, *description: str | None, **fields: str | int | None) -> None:
        """Set the agent's profile: a description of its role, or fields of any name; None takes one away."""
        if len(description) > 1:
            raise InputError("give one description of the agent, and the rest as fields")
        self._set_profiles({About.AGENT: {**dict(zip(("description",), description, strict=False)), **fields}})

    def set_profiles(
        self,
        *,
        user: Mapping[str, str | int | None] | None = None,
        agent: Mapping[str, str | int | None] | None = None,
    ) -> None:
        """Set fields of both profiles in one change: all of them or, where one is refused, none. Raises InputError."""
        self._set_profiles({About.USER: user or {}, About.AGENT: agent or {}})

    @telemetry.spanned(telemetry.UPDATE, "correct")
    def correct(self, fact_id: str, text: str, *, value: str | None = None) -> Fact:
        """A fact was wrong: the new one, which takes its place. `text` is the fact in words, `value` what it comes to
        ("Lyon"); the text, if not given.

        The old one stands in `past_facts`, as true for no time. What was said until now neither ends the new one nor
        teaches the old value again; what is said from now on may. Raises NotFound, and InputError for a fact that no
        longer holds or that says just this.
        """
        from embermem.core.changes import Cause
        from embermem.memoryos.correct.corrections import correcting

        says = messages.checked(text, "text", _LONGEST_FACT)
        means = says if value is None else messages.checked(value, "value", _LONGEST_FACT)
        if not says.strip() or not means.strip():
            raise InputError("a fact's text and value are not empty; `retire` says that it no longer holds")
        says, means = self._clean(text=says, value=means)

        def decided(no: int, seq: int) -> Sequence[Decision]:
            fact, settings = self.fact(fact_id), self._parts.settings
            return correcting(fact, says, means, self.persona(), no=no, seq=seq, settings=settings)

        no = self._changing(Cause.CORRECTION, decided)
        return self.fact(f"f{no}-000")

    def pin(self, fact_id: str, pinned: bool = True) -> Fact:
        """Keep a fact from the cap of 100, or no longer; the fact as it is then. One that the cap has moved to the
        archive holds again. Raises NotFound, and InputError for a fact that no longer holds."""
        from embermem.core.changes import Cause
        from embermem.memoryos.correct.corrections import pinning

        self._changing(
            Cause.CORRECTION,
            lambda no, seq: pinning(self.fact(fact_id), bool(pinned), self.persona(), self._parts.settings),
        )
        return self.fact(fact_id)

    def retire(self, fact_id: str) -> Fact:
        """A fact is true no longer, from now on; it stands in `past_facts`. What was said until now does not teach it
        again. Raises NotFound, and InputError for one that holds no longer already."""
        from embermem.core.changes import Cause
        from embermem.memoryos.correct.corrections import retiring

        at = self._parts.clock()
        self._changing(Cause.CORRECTION, lambda no, seq: retiring(self.fact(fact_id), self.persona(), at=at, seq=seq))
        return self.fact(fact_id)

    @telemetry.spanned(telemetry.UPDATE, "learn")
    def learn(self, facts: Sequence[Mapping[str, Any]]) -> tuple[Fact, ...]:
        """Learn facts that the caller brings himself, in one change; what each became, in their order.

        Each has a `text`, and may have a `subject` ("user"), an `attribute` ("lives_in"), a `value` (the text), `about`
        ("user" or "agent"), `valid_from` (now) and `expires_at`. They go by the rules of facts that are understood: one
        of an attribute that holds one value takes the place of the old one, one that is known already makes that
        stronger, the cap holds. They rest on nothing that was said, and what was said until now does not end them. A
        value that was corrected or forgotten may be brought again: the caller's word is the newer one.

        Raises InputError that names the place, and then learns none of them.
        """
        from embermem.core.changes import CALLER, Cause
        from embermem.memoryos.correct import fact_input
        from embermem.memoryos.ingest.long_term import Knowledge

        inbox = self._inbox()
        read = [self._cleaned(proposal) for proposal in fact_input.read(facts, inbox)]
        expiries = fact_input.expiries(facts, inbox)
        became: tuple[FactId, ...] = ()

        def decided(no: int, seq: int) -> Sequence[Decision]:
            nonlocal became
            knowledge = Knowledge(self.persona(), self._rulings())
            decisions, became = knowledge.bring(
                zip(read, expiries, strict=True), seq=seq, no=no, at=inbox.now, settings=self._parts.settings
            )
            return decisions

        self._changing(Cause.IMPORT, decided, CALLER)
        held = {fact.id: fact for fact in (*self.facts(), *self.facts(archived=True))}
        return tuple(held.get(fact_id) or self.fact(fact_id) for fact_id in became)

    def conflicts(self, as_of: At = None) -> tuple[Conflict, ...]:
        """Facts that are both held and cannot both be so, in the order in which that was found; those of a moment.

        A conflict ends when one of its facts is corrected, retired or superseded, or by `settle_conflict`.
        """
        return self._store.conflicts(self.owner.id, self._moment(as_of))

    def settle_conflict(self, fact_id: str, other_id: str) -> None:
        """Both facts of a conflict may stand: they are not marked as one again. Raises NotFound for no such facts,
        InputError where they are not in conflict."""
        from embermem.core.changes import Cause, ConflictSettled
        from embermem.memoryos.ingest.long_term import known_first

        def decided(no: int, seq: int) -> Sequence[Decision]:
            pair = sorted((self.fact(fact_id), self.fact(other_id)), key=known_first)
            if pair[1].id not in pair[0].conflicts:
                raise InputError(
                    f"facts {fact_id} and {other_id} are not in conflict; `conflicts()` lists those that are"
                )
            return [ConflictSettled(fact_id=pair[0].id, other_id=pair[1].id)]

        self._changing(Cause.CORRECTION, decided)

    def undo(self, change_no: int) -> int:
        """Take back what a change taught; the number of the change that does so.

        Facts that it added are retired, those that it retired, superseded or moved to the archive hold again; traits,
        profile lines, links, conflicts and what segments evolved to get what stood there before; what it ruled out may
        be learnt again. What a later change built on is left alone: a fact said again or superseded since, a trait or
        line set since. Pages, chains and segments stay as they are, and what was forgotten is gone. Undoing the change
        that this returns restores what was taken back.

        Raises NotFound for no such change, InputError with the reasons where nothing can be taken back, as by a second
        undo. `undo_plan` says before what it would do and leave.
        """
        from embermem.core.changes import Cause
        from embermem.memoryos.correct.undoing import undoing

        messages.whole(change_no, "change_no", 1)
        return self._changing(Cause.UNDO, lambda no, seq: undoing(self._taught(), change_no, self._parts.settings))

    def undo_plan(self, change_no: int) -> UndoPlan:
        """What `undo` would decide now, and what it would leave and why; changes nothing. Raises NotFound, and
        InputError for a change that taught nothing or is undone already."""
        from embermem.memoryos.correct.undoing import undo_plan

        messages.whole(change_no, "change_no", 1)
        return undo_plan(self._taught(), change_no, self._parts.settings)

    def _taught(self) -> tuple[Change, ...]:
        from embermem.memoryos.correct.undoing import TEACHING

        return self._store.changes(self.owner.id, kinds=TEACHING)

    def _rulings(self) -> Rulings:
        from embermem.core.user_overrides import RULING, rulings_of

        return rulings_of(self._store.changes(self.owner.id, causes=RULING), self._store.secret)

    def _cleaned(self, fact: FactProposal) -> FactProposal:
        """A fact of the caller's without what is sensitive in it."""
        text, value, subject = self._clean(text=fact.text, value=fact.value, subject=fact.subject)
        return replace(fact, text=text, value=value, subject=subject)

    def _set_profiles(self, given: Mapping[About, Mapping[str, str | int | None]]) -> None:
        from embermem.core.changes import Cause

        now = self._parts.clock()
        decisions = [
            _profile_set(whose, name, value, now) for whose, fields in given.items() for name, value in fields.items()
        ]
        if not decisions:
            raise InputError("no field was named; give some, such as name='Alice'")
        clean = self._clean(**{f"{place} {one.name}": one.value or "" for place, one in enumerate(decisions)})
        decisions = [
            replace(one, value=None if one.value is None else text) for one, text in zip(decisions, clean, strict=True)
        ]
        self._changing(Cause.PROFILE, lambda no, seq: decisions)


class AsyncRuling(AsyncReading):
    """`Ruling`, awaited."""

    set_profile = awaited("write", Ruling.set_profile)
    set_agent_profile = awaited("write", Ruling.set_agent_profile)
    set_profiles = awaited("write", Ruling.set_profiles)
    correct = awaited("write", Ruling.correct)
    pin = awaited("write", Ruling.pin)
    retire = awaited("write", Ruling.retire)
    learn = awaited("write", Ruling.learn)
    conflicts = awaited("read", Ruling.conflicts)
    settle_conflict = awaited("write", Ruling.settle_conflict)
    undo = awaited("write", Ruling.undo)
    undo_plan = awaited("read", Ruling.undo_plan)


def _profile_set(whose: About, name: str, value: str | int | None, now: datetime) -> ProfileSet:
    """The decision that sets a field, from now on."""
    from embermem.core.changes import ProfileSet

    if not name.isidentifier() or len(name) > 64:
        raise InputError(f"{name!r} is not a field's name; give a word such as birth_year")
    if name == "birth_year" and value is not None and not (str(value).isdecimal() and 1800 <= int(value) <= 9999):
        raise InputError(f"birth_year = {value!r} is not a year")
    if value is not None and not isinstance(value, (str, int)):
        raise InputError(f"{name} is {type(value).__name__}; give a text or a whole number")
    text = None if value is None else messages.checked(str(value), name, 2000)
    return ProfileSet(whose=whose, name=name, value=text, sources=(), set_by="caller", valid_from=now)
