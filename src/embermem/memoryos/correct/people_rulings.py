"""What a caller says of names: which are one person's, and who is the user; and what follows for the user's profile."""

from __future__ import annotations

from dataclasses import replace

from embermem.core.changes import Decision, PersonRelated
from embermem.core.errors import InputError, NotFound
from embermem.core.types import Owner, Persona, PersonRelation, Relation
from embermem.languages.people import USER
from embermem.memoryos.ingest.user_profile import follows, moved
from embermem.memoryos.people import people_of


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
    return [PersonRelated.of(related), *follows(persona, moved(persona, before, after))]
