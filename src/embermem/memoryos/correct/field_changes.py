"""What follows for facts and profile lines where an application's fields have changed: moved to a new name, converted
to a new type, ended where they do not fit, and no longer in the profile where their field is gone.

Decided from what is held alone, so that doing it again decides nothing more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from embermem.core.attributes import Attributes, attributes
from embermem.core.changes import (
    CALLER,
    Cause,
    Decision,
    FactAdded,
    FactAffirmed,
    FactArchived,
    FactPinned,
    FactRestored,
    FactRetired,
    ProfileSet,
)
from embermem.core.fields import Field
from embermem.core.revisions import decided_anew
from embermem.core.types import About, Fact, FactId, Owner, Persona, ProfileField
from embermem.core.user_overrides import RULING, Rulings, rulings_of
from embermem.languages.facts import fields
from embermem.languages.people import label, told_in
from embermem.memoryos.people import People
from embermem.protocols import ARCHIVED, ENDED, Store

__all__ = ["BY", "conform", "conforming"]

BY = "fields"
"""Who decided, as the log of changes names it: no analyst, but the definitions of the fields."""


def conform(store: Store, owner: Owner, old: Attributes, new: Attributes, clock: Callable[[], datetime]) -> int:
    """Bring one owner's facts and profile lines in line with the fields as they are now; the number of the change that
    does so, 0 where nothing had to change. `old` are the fields before. Raises StoreError."""

    def change() -> int:
        state = store.log.owner_state(owner.id)
        if state is None:
            return 0
        held = store.reads.persona(owner.id)
        rulings = rulings_of(store.change_log.changes(owner.id, causes=RULING), store.forgetting.secret)
        put_away = (*store.reads.facts(owner.id, ARCHIVED), *store.reads.facts(owner.id, ENDED))
        decisions = conforming(owner, held, put_away, rulings, old, new, no=state.revision + 1, at=clock())
        if not decisions:
            return 0
        now, revision, born = clock(), state.revision, state.created_at
        return store.change_log.apply(
            owner, Cause.CORRECTION, BY, decisions, now=now, revision=revision, lease=None, born=born
        ).no

    return decided_anew(change, partial(store.forgetting.alone_with, owner.id))


def conforming(
    owner: Owner,
    persona: Persona,
    put_away: Iterable[Fact],
    rulings: Rulings,
    old: Attributes,
    new: Attributes,
    *,
    no: int,
    at: datetime,
) -> list[Decision]:
    """The decisions of change `no`. `put_away` are the facts in the archive and those that have ended."""
    made = _Conforming(rulings=rulings, old=old, new=new, no=no, at=at, decisions=[], copies={}, lines={})
    made.facts([*put_away, *persona.facts])
    made.one_each(owner, persona)
    made.profile(persona)
    return made.decisions


@dataclass(kw_only=True, slots=True)
class _Conforming:
    rulings: Rulings
    old: Attributes
    new: Attributes
    no: int
    at: datetime
    decisions: list[Decision]
    copies: dict[FactId, Fact | None]
    """What became of each fact that changed: the fact in its place, None for one that ended."""
    lines: dict[str, ProfileField]

    def facts(self, held: Sequence[Fact]) -> None:
        """Facts under their new name, with their value in the form that its type has now."""
        for fact in held:
            field = self.new.field(self.new.former.get(fact.attribute, fact.attribute))
            if field is None or fact.about is not About.USER or _never_held(fact):
                continue
            renamed = field.name != fact.attribute
            value = _converted(field, fact)
            if fact.retired_at is not None:
                if renamed:
                    self._copy(fact, field, fact.value if value is None else value)
            elif value is None:
                self.copies[fact.id] = None
                self.decisions.append(FactRetired(fact_id=fact.id, superseded_by=None, valid_to=self.at))
            elif renamed or value != fact.value:
                self._copy(fact, field, value)
        for fact in held:  # what took the place of another does so under its new name
            self._ended(fact)

    def _copy(self, fact: Fact, field: Field, value: str) -> None:
        """The fact under another name or value, as a new one; the old one then held for no time."""
        made = FactId(f"f{self.no}-{len(self.copies):03}")
        copy = replace(fact, id=made, attribute=field.name, value=value, text=self._text(fact, field, value))
        self.copies[fact.id] = copy
        self.decisions.append(FactAdded.of(copy))
        if fact.retired_at is not None:
            self.decisions.append(FactRestored(fact_id=fact.id))
        self.decisions.append(FactRetired(fact_id=fact.id, superseded_by=made, valid_to=fact.valid_from))
        if fact.id in self.rulings.affirmed:
            self.decisions.append(FactAffirmed(fact_id=made, upto_seq=self.rulings.affirmed[fact.id]))
        if fact.pinned:
            self.decisions.append(FactPinned(fact_id=made, pinned=True))
        if fact.archived and fact.retired_at is None:
            self.decisions.append(FactArchived(fact_id=made))

    def _ended(self, fact: Fact) -> None:
        copy = self.copies.get(fact.id)
        if copy is None or fact.retired_at is None:
            return
        by = None if fact.superseded_by is None else self.copies.get(fact.superseded_by)
        by_id = fact.superseded_by if by is None else by.id
        self.decisions.append(FactRetired(fact_id=copy.id, superseded_by=by_id, valid_to=fact.valid_to))

    def _text(self, fact: Fact, field: Field, value: str) -> str:
        """A sentence of ours says the new name and value; one of a caller's, or a model's, stays."""
        language, before = told_in(fact.text), self.old.field(fact.attribute)
        if before is None or field.name in attributes():
            return fact.text
        subject = label(fact.subject, language)
        if not fact.text.startswith(language.of_subject(subject, fields.statement(before, fact.value, language))):
            return fact.text
        return language.of_subject(subject, fields.statement(field, value, language))

    def one_each(self, owner: Owner, persona: Persona) -> None:
        """Of a field that holds one value now, the newest is the one that holds."""
        people, newest = People(owner, persona), dict[tuple[str, str], Fact]()
        standing = [self.copies.get(fact.id, fact) for fact in persona.facts]
        for fact in sorted((one for one in standing if one is not None), key=_since):
            field = self.new.field(fact.attribute)
            if field is None or not field.single:
                continue
            whose = people.of(fact), fact.attribute
            before = newest.get(whose)
            if before is not None:
                self.decisions.append(
                    FactRetired(fact_id=before.id, superseded_by=fact.id, valid_to=fact.valid_from or self.at)
                )
            newest[whose] = fact
            if fact.sources and people.is_user(fact.subject) and (name := self.new.profile(fact.attribute)) is not None:
                self.lines[name] = _line(fact, name)

    def profile(self, persona: Persona) -> None:
        """The lines of fields that hold one value: moved, set where there was none, ended where the field is gone."""
        known = {line.name: line for line in persona.profile}
        built_in = {attributes()[one.name].profile for one in self.new.own if one.name in attributes()}
        moved = {*self.new.former, *built_in} - {self.new.profile(one.name) for one in self.new.own}
        ours = {one.name for one in (*self.old.own, *self.new.own)} | moved
        for line in persona.profile:
            if line.set_by == CALLER:
                self._line_of_caller(line, known)
            elif line.name in ours and line.name not in self.lines:
                self.decisions.append(ProfileSet.ended(line, line.valid_from if line.name in moved else self.at))
        for name, fresh in self.lines.items():
            before = known.get(name)
            if before is None or (before.set_by != CALLER and before.value != fresh.value):
                self.decisions.append(ProfileSet.of(fresh))

    def _line_of_caller(self, line: ProfileField, known: Mapping[str, ProfileField]) -> None:
        """A line that a caller set moves with its field. One of a field that is gone stays, as all that callers set."""
        field = self.new.field(self.new.former.get(line.name, line.name))
        if field is None or field.many:
            return
        value = fields.value_said(field, line.value, line.valid_from or line.recorded_at)
        if (field.name, value) == (line.name, line.value):
            return
        if value is not None and (field.name == line.name or field.name not in known):
            self.decisions.append(ProfileSet.of(replace(line, name=field.name, value=value)))
        if value is None or field.name != line.name:
            self.decisions.append(ProfileSet.ended(line, self.at if value is None else line.valid_from))
        if value is not None:
            self.lines.pop(field.name, None)


def _never_held(fact: Fact) -> bool:
    return fact.retired_at is not None and fact.valid_to == fact.valid_from


def _converted(field: Field, fact: Fact) -> str | None:
    return fields.value_said(field, fact.value, fact.valid_from or fact.recorded_at)


def _since(fact: Fact) -> tuple[float, int, str]:
    return fact.valid_from.timestamp() if fact.valid_from is not None else 0.0, fact.change_no, fact.id


def _line(fact: Fact, name: str) -> ProfileField:
    return ProfileField(
        whose=About.USER,
        name=name,
        value=fact.value,
        sources=fact.sources,
        recorded_at=fact.recorded_at,
        valid_from=fact.valid_from,
        set_by="analyst",
    )
