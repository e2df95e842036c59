"""What a caller says of names: which are one person's, and who is the user; and what follows for the user's profile."""

from __future__ import annotations

from dataclasses import replace

from embermem.core.changes import CALLER, Decision, PersonRelated, ProfileSet, TraitCleared
from embermem.core.errors import InputError, NotFound
from embermem.core.types import About, Fact, Owner, Persona, PersonRelation, Relation
from embermem.languages.people import USER
from embermem.memoryos.ingest.profile_lines import mirrors
from embermem.memoryos.people import People, people_of, profile_from


def ruling(pair: tuple[str, str], holds: bool, owner: Owner, persona: Persona) -> list[Decision]:
    """The decisions by which two names are one person's or, not `holds`, are not. Raises NotFound for a name that
    nobody has, InputError where it is so already."""
    before, (one, other) = people_of(owner, persona), pair
    for name in pair:
        if before.find(name) is None:
            raise NotFound(f"there is no person {name!r}; `people()` lists those known")
    if (before.id_of(one) == before.id_of(other)) is holds:
        told = "are one person already" if holds else "are different persons already"
        raise InputError(f"{one!r} and {other!r} {told}; nothing was changed")
    first, second = sorted((one, other), key=lambda name: (name != USER, name))
    if first == USER and holds:
        second = before.name_of(before.id_of(second))
    related = PersonRelation(relation=Relation.IS, one=first, other=second, holds=holds)
    kept = tuple(known for known in persona.relations if (known.one, known.other) != (first, second) or known.sources)
    after = people_of(owner, replace(persona, relations=(*kept, related)))
    if (after.id_of(one) == after.id_of(other)) is not holds:
        raise InputError(
            f"{one!r} and {other!r} cannot be ruled so: another ruling says otherwise; undo that one first"
        )
    return [PersonRelated.of(related), *_profile(persona, before, after), *_traits(persona, before, after)]


def _of_user(persona: Persona, people: People) -> list[Fact]:
    return [fact for fact in persona.facts if people.is_user(fact.subject)]


def _profile(persona: Persona, before: People, after: People) -> list[Decision]:
    """The lines that say what is known of who is the user now, in place of those that say what is known of another."""
    were, are = _of_user(persona, before), _of_user(persona, after)
    if were == are:
        return []
    others = [fact for fact in persona.facts if fact not in are]
    gone = [line for line in persona.profile if line.set_by != CALLER and any(mirrors(fact, line) for fact in others)]
    kept = {line.name for line in persona.profile if line not in gone}
    lines = [replace(line, whose=About.USER) for line in profile_from(are) if line.name not in kept]
    fresh = {line.name for line in lines}
    ended = [ProfileSet.ended(line, line.valid_from) for line in gone if line.name not in fresh]
    return [*ended, *(ProfileSet.of(line) for line in lines)]


def _traits(persona: Persona, before: People, after: People) -> list[Decision]:
    """The traits that rest on words of somebody who is not the user any more are unknown again."""
    ours = {source.seq for fact in _of_user(persona, after) for source in fact.sources}
    theirs = {source.seq for fact in _of_user(persona, before) for source in fact.sources} - ours
    return [
        TraitCleared(dimension=trait.dimension)
        for trait in persona.traits
        if trait.sources and theirs.issuperset(source.seq for source in trait.sources)
    ]
