"""What a caller says of names: which are one person's, and who is the user; and what follows for facts and the user's
profile."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from embermem.core.attributes import BUILT_IN, Attributes
from embermem.core.changes import (
    CALLER,
    Decision,
    FactArchived,
    FactRestored,
    FactRetired,
    PersonRelated,
)
from embermem.core.errors import InputError, NotFound
from embermem.core.types import About, Fact, FactId, Owner, Persona, PersonRelation, Relation
from embermem.languages.people import USER
from embermem.memoryos.ingest.profile_lines import mirrors
from embermem.memoryos.ingest.user_profile import follows, moved
from embermem.memoryos.ingest.value_equality import same_value
from embermem.memoryos.people import People


def ruling(
    pair: tuple[str, str],
    holds: bool,
    owner: Owner,
    persona: Persona,
    ended: Iterable[Fact],
    attributes: Attributes = BUILT_IN,
) -> list[Decision]:
    """The decisions by which two names are one person's or, not `holds`, are not. Of an attribute with one value only
    the newest of one person's facts holds then; those that another person's had superseded (`ended`) hold again. Raises
    NotFound for a name that nobody has, InputError where it is so already."""
    before, (one, other) = People(owner, persona), pair
    for name in pair:
        if before.find(name) is None and not before.namesakes(name):
            raise NotFound(f"there is no person {name!r}; `people()` lists those known")
    undecided = USER in pair and before.user is None
    if (before.id_of(one) == before.id_of(other)) is holds and not undecided:
        told = "are one person already" if holds else "are different persons already"
        raise InputError(f"{one!r} and {other!r} {told}; nothing was changed")
    first, second = sorted((one, other), key=lambda name: (name != USER, name))
    if first == USER and holds:
        second = before.name_of(before.id_of(second))
    related = PersonRelation(relation=Relation.IS, one=first, other=second, holds=holds)
    kept = tuple(known for known in persona.relations if (known.one, known.other) != (first, second) or known.sources)
    after = People(owner, replace(persona, relations=(*kept, related)))
    if (after.id_of(one) == after.id_of(other)) is not holds:
        raise InputError(
            f"{one!r} and {other!r} cannot be ruled so: another ruling says otherwise; undo that one first"
        )
    decisions, now = _settled(persona, before, after, ended, attributes)
    return [PersonRelated.of(related), *decisions, *follows(persona, moved(now, before, after, attributes))]


def _settled(
    persona: Persona, before: People, after: People, ended: Iterable[Fact], attributes: Attributes
) -> tuple[list[Decision], Persona]:
    """What follows for the facts of those who are one person now, or are not any more; and the persona with it."""
    decisions: list[Decision] = []
    by_id = {fact.id: fact for fact in (*persona.facts, *persona.agent_facts)}
    again = [
        replace(fact, retired_at=None, superseded_by=None, valid_to=None)
        for fact in ended
        if fact.superseded_by is not None
        and (by := by_id.get(fact.superseded_by)) is not None
        and before.of(fact) == before.of(by)
        and after.of(fact) != after.of(by)
    ]
    for fact in again:
        decisions += [FactRestored(fact_id=fact.id), *([FactArchived(fact_id=fact.id)] if fact.archived else [])]
    held = by_id | {fact.id: fact for fact in again if not fact.archived}
    changed = [fact for fact in held.values() if after.of(fact) != before.of(fact) or fact in again]
    whose = {(fact.about, after.of(fact), fact.attribute) for fact in changed if attributes.single(fact.attribute)}
    gone: dict[FactId, Fact] = {}
    for about, person, attribute in sorted(whose):
        values = [
            fact
            for fact in held.values()
            if (fact.about, fact.attribute) == (about, attribute) and after.of(fact) == person
        ]
        for made in _of_one_value(values):
            decisions.append(made)
            gone[made.fact_id] = held[made.fact_id]
    left = [fact for fact in held.values() if fact.id not in gone]
    lines = (
        line
        for line in persona.profile
        if line.set_by == CALLER or not any(mirrors(one, line) for one in gone.values())
    )
    return decisions, replace(
        persona,
        profile=tuple(lines),
        facts=tuple(fact for fact in left if fact.about is About.USER),
        agent_facts=tuple(fact for fact in left if fact.about is About.AGENT),
    )


def _of_one_value(values: Iterable[Fact]) -> Iterable[FactRetired]:
    """Of facts that cannot all be true at a time, each is superseded by the next with another value; those that begin
    at one time both stay, in conflict."""
    known = sorted(values, key=lambda fact: (fact.valid_from or fact.recorded_at, fact.change_no, fact.id))
    for place, fact in enumerate(known):
        others = (one for one in known[place + 1 :] if not same_value(fact.value, one.value, fact.attribute))
        by = next(others, None)
        if by is not None and by.valid_from != fact.valid_from:
            yield FactRetired(fact_id=fact.id, superseded_by=by.id, valid_to=by.valid_from)
