"""Who an owner's memory knows, and what it knows of them: names, persons, the persona."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from embermem.core.record import Record
from embermem.core.types.ids import Role
from embermem.core.types.memories import Fact, ProfileField, Source, Trait


class Relation(StrEnum):
    """What is known of a name: `speaks`, with the role that it speaks in; `is`, with another name."""

    SPEAKS = "speaks"
    IS = "is"


@dataclass(frozen=True, kw_only=True, slots=True)
class PersonRelation(Record):
    """One thing known of a name. `speaks`: `one` speaks in the role `other`, as its sources show. `is`: a caller ruled
    that both names are one person's, or (`holds` False) that they are not."""

    relation: Relation
    one: str
    other: str
    holds: bool = True
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Person(Record):
    """Somebody who speaks in, or is told of in, an owner's memory.

    `id` is "user", "agent", or the folded name by which the person is found; `name` is as it was written, and what the
    person is called in facts. `names` are all names and kin words ("Ana", "Bob's sister") of the person, `roles` those
    they speak in: none for somebody who is only told of. `facts` counts the current facts about them.

    `undecided`: what was told of a name that several people have, or by messages without a name where nobody knows who
    of several is the user. The id ends in "?". `merge_people` and `set_user` decide it.
    """

    id: str
    name: str
    names: tuple[str, ...] = ()
    roles: tuple[Role, ...] = ()
    facts: int = 0
    undecided: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Persona(Record):
    """Long-term personal memory: both profiles, the traits, both knowledge bases (current facts, oldest first), and
    what is known of names."""

    profile: tuple[ProfileField, ...] = ()
    agent_profile: tuple[ProfileField, ...] = ()
    traits: tuple[Trait, ...] = ()
    facts: tuple[Fact, ...] = ()
    agent_facts: tuple[Fact, ...] = ()
    relations: tuple[PersonRelation, ...] = ()
