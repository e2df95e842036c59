"""The vocabulary of facts: each attribute, its kind, whether it has one value at a time, and whether it is a goal or
limit. Each language defines its wording (`Language.statement`).

Goals and limits are considered at every recall, even if no word of the query matches: a goal until it is reached or
given up, a limit (an allergy, food or activities that are excluded) as long as it is true. Instructions are told with
every recall.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from typing import Literal

Standing = Literal["goal", "limit"]


class Kind(IntEnum):
    """What a fact is about. The knowledge base keeps a higher kind longer: when it is full, tastes leave first."""

    TASTE = 1
    EVENT = 2
    """Something that happened once, or a state that passes."""
    HABIT = 3
    PLAN = 4
    """A goal, a plan or a wish: it ends at its date, when it is done, or when it is taken back."""
    POSSESSION = 5
    LIFE = 6
    """Work, education, languages, places."""
    RELATIVE = 7
    HEALTH = 8
    INSTRUCTION = 9
    """How somebody wants the agent to behave, until it is taken back."""
    IDENTITY = 10
    """Who someone is. It needs a statement of one's own: nobody else's word sets it, but for a relative's."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute: its kind; whether it has one value at a time; whether it is a goal, a limit, or neither
    (`standing`); the field of a person's profile that it is also stored as, or None; other names for it that a model or
    a caller may use."""

    name: str
    kind: Kind
    single: bool
    standing: Standing | None = None
    profile: str | None = None
    synonyms: tuple[str, ...] = ()


_TABLE = (
    Attribute("name", Kind.IDENTITY, True, profile="name", synonyms=("full_name", "first_name")),
    Attribute("nickname", Kind.IDENTITY, True, profile="name"),
    Attribute("gender", Kind.IDENTITY, True, profile="gender"),
    Attribute("age", Kind.IDENTITY, True),
    Attribute("birth_year", Kind.IDENTITY, True, profile="birth_year"),
    Attribute("birthday", Kind.IDENTITY, True, synonyms=("date_of_birth",)),
    Attribute("born_in", Kind.IDENTITY, True),
    Attribute("comes_from", Kind.IDENTITY, True, synonyms=("hometown", "origin")),
    Attribute("grew_up_in", Kind.IDENTITY, True),
    Attribute("nationality", Kind.IDENTITY, True),
    Attribute("lives_in", Kind.IDENTITY, True, profile="home", synonyms=("home", "residence", "location", "city")),
    Attribute("works_as", Kind.LIFE, True, profile="occupation", synonyms=("job", "occupation", "profession", "title")),
    Attribute("works_at", Kind.LIFE, True, synonyms=("employer", "company", "workplace")),
    Attribute("works_in", Kind.LIFE, True),
    Attribute("studies", Kind.LIFE, True, synonyms=("major", "field_of_study")),
    Attribute("studies_at", Kind.LIFE, True, synonyms=("school", "university")),
    Attribute("graduated_from", Kind.LIFE, False),
    Attribute("marital_status", Kind.RELATIVE, True),
    Attribute("native_language", Kind.IDENTITY, True, profile="language"),
    Attribute("speaks", Kind.LIFE, False),
    Attribute("learns", Kind.LIFE, False),
    Attribute("diet", Kind.HEALTH, True, "limit", synonyms=("dietary_restriction",)),
    Attribute("allergic_to", Kind.HEALTH, False, "limit", synonyms=("allergy", "allergies")),
    Attribute("has_condition", Kind.HEALTH, False, "limit", synonyms=("illness", "condition", "diagnosis")),
    Attribute("has_pet", Kind.POSSESSION, False, synonyms=("pet", "pets")),
    Attribute("has_relative", Kind.RELATIVE, False, synonyms=("relative", "family_member", "relationship")),
    Attribute("likes", Kind.TASTE, False, synonyms=("loves", "enjoys", "interest")),
    Attribute("dislikes", Kind.TASTE, False, synonyms=("hates",)),
    Attribute("prefers", Kind.TASTE, False),
    Attribute("hobby", Kind.HABIT, False),
    Attribute("plays", Kind.HABIT, False),
    Attribute("collects", Kind.POSSESSION, False),
    Attribute("avoids", Kind.HEALTH, False, "limit"),
    Attribute("drives", Kind.POSSESSION, True),
    Attribute("visited", Kind.EVENT, False),
    Attribute("temperament", Kind.IDENTITY, False),
    Attribute("role", Kind.IDENTITY, True),
    Attribute("cannot", Kind.HEALTH, False, "limit"),
    Attribute("health", Kind.HEALTH, False, "limit"),
    Attribute("afraid_of", Kind.HEALTH, False, "limit"),
    Attribute("wants_to", Kind.PLAN, False, "goal", synonyms=("goal", "wish")),
    Attribute("prepares_for", Kind.PLAN, False, "goal"),
    Attribute("saves_for", Kind.PLAN, False, "goal"),
    Attribute("gives_up", Kind.PLAN, False, "goal"),
    Attribute("cuts_down_on", Kind.PLAN, False, "goal"),
    Attribute("on_diet", Kind.PLAN, True, "goal"),
    Attribute("budget", Kind.PLAN, True, "goal"),
    Attribute("pronouns", Kind.IDENTITY, True),
    Attribute("religion", Kind.IDENTITY, True),
    Attribute("height", Kind.IDENTITY, True),
    Attribute("phone", Kind.IDENTITY, True, synonyms=("phone_number",)),
    Attribute("email", Kind.IDENTITY, True, synonyms=("email_address",)),
    Attribute("education", Kind.LIFE, False, synonyms=("degree",)),
    Attribute("knows", Kind.RELATIVE, False, synonyms=("friend", "colleague")),
    Attribute("owns", Kind.POSSESSION, False, synonyms=("has", "bought")),
    Attribute("did", Kind.EVENT, False, synonyms=("event", "experienced")),
    Attribute("feels", Kind.EVENT, False, synonyms=("thinks", "opinion")),
    Attribute("says", Kind.EVENT, False, synonyms=("states",)),
    Attribute("does", Kind.HABIT, False, synonyms=("activity", "habit", "routine")),
    Attribute("plans", Kind.PLAN, False, synonyms=("plan", "intends")),
    Attribute("would_like_to", Kind.PLAN, False, synonyms=("hopes_to", "dreams_of")),
    Attribute("instruction", Kind.INSTRUCTION, False, synonyms=("standing_instruction",)),
)

OPPOSITE = {"likes": "dislikes", "dislikes": "likes"}
"""Who says the one of a thing takes back the other."""

FAVORITE_PREFIX = "favorite_"
"""`favorite_<thing>` (favorite_color, favorite_food, …) holds one value each."""
INSTRUCTION_PREFIX = "instruction_"
"""`instruction_<matter>` (instruction_language, instruction_length, …) holds one value each: a newer instruction about
the same matter ends the older one. `instruction` holds all others."""
_FAMILIES = {FAVORITE_PREFIX: Kind.TASTE, INSTRUCTION_PREFIX: Kind.INSTRUCTION}
"""Attributes that are made from a word of their own, each of one value."""


@cache
def attributes() -> dict[str, Attribute]:
    """Return the table by name."""
    return {a.name: a for a in _TABLE}


def attribute(name: str) -> Attribute:
    """The entry of that name. `favorite_<thing>` and `instruction_<matter>` are made from their words. Raises KeyError
    for an unknown name."""
    family = _family(name)
    return attributes()[name] if family is None else Attribute(name, family, True)


def single(name: str) -> bool:
    """Whether an attribute holds one value at a time; one that is not in the table does not."""
    return _family(name) is not None or (name in attributes() and attributes()[name].single)


def standing(name: str) -> Standing | None:
    """Whether an attribute is a goal or a limit; None for all others, and for one that is not in the table."""
    known = attributes().get(name)
    return None if known is None else known.standing


def kind(name: str) -> Kind:
    """The kind of an attribute; one that is not in the table is kept like a habit."""
    known = attributes().get(name)
    return (_family(name) or Kind.HABIT) if known is None else known.kind


def is_instruction(name: str) -> bool:
    """Whether an attribute holds standing instructions: facts of it are told with every recall, if they are the
    user's."""
    return name == "instruction" or name.startswith(INSTRUCTION_PREFIX)


def _family(name: str) -> Kind | None:
    return next((kind for prefix, kind in _FAMILIES.items() if name.startswith(prefix)), None)


def canonical(name: str) -> str:
    """The table's name of an attribute; a name that it does not know unchanged."""
    return _names().get(name, name)


@cache
def _names() -> dict[str, str]:
    return {synonym: a.name for a in _TABLE for synonym in a.synonyms}
