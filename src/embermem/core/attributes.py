"""The vocabulary of facts: each attribute, whether it has one value at a time, and whether it is a goal or limit. Each
language defines its wording (`Language.statement`).

Goals and limits are considered at every recall, even if no word of the query matches: a goal until it is reached or
given up, a limit (an allergy, food or activities that are excluded) as long as it is true.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

Standing = Literal["goal", "limit"]


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute: whether it has one value at a time; whether it is a goal, a limit, or neither (`standing`); the
    field of the user's profile that it is also stored as, or None."""

    name: str
    single: bool
    standing: Standing | None = None
    profile: str | None = None


_TABLE = (
    Attribute("name", True, profile="name"),
    Attribute("nickname", True, profile="name"),
    Attribute("gender", True, profile="gender"),
    Attribute("age", True),
    Attribute("birth_year", True, profile="birth_year"),
    Attribute("birthday", True),
    Attribute("born_in", True),
    Attribute("comes_from", True),
    Attribute("grew_up_in", True),
    Attribute("nationality", True),
    Attribute("lives_in", True, profile="home"),
    Attribute("works_as", True, profile="occupation"),
    Attribute("works_at", True),
    Attribute("works_in", True),
    Attribute("studies", True),
    Attribute("studies_at", True),
    Attribute("graduated_from", False),
    Attribute("marital_status", True),
    Attribute("native_language", True, profile="language"),
    Attribute("speaks", False),
    Attribute("learns", False),
    Attribute("diet", True, "limit"),
    Attribute("allergic_to", False, "limit"),
    Attribute("has_condition", False, "limit"),
    Attribute("has_pet", False),
    Attribute("has_relative", False),
    Attribute("likes", False),
    Attribute("dislikes", False),
    Attribute("prefers", False),
    Attribute("hobby", False),
    Attribute("plays", False),
    Attribute("collects", False),
    Attribute("avoids", False, "limit"),
    Attribute("drives", True),
    Attribute("visited", False),
    Attribute("temperament", False),
    Attribute("role", True),
    Attribute("cannot", False, "limit"),
    Attribute("health", False, "limit"),
    Attribute("afraid_of", False, "limit"),
    Attribute("wants_to", False, "goal"),
    Attribute("prepares_for", False, "goal"),
    Attribute("saves_for", False, "goal"),
    Attribute("gives_up", False, "goal"),
    Attribute("cuts_down_on", False, "goal"),
    Attribute("on_diet", True, "goal"),
    Attribute("budget", True, "goal"),
)

OPPOSITE = {"likes": "dislikes", "dislikes": "likes"}
"""Who says the one of a thing takes back the other."""

FAVORITE_PREFIX = "favorite_"
"""`favorite_<thing>` (favorite_color, favorite_food, …) holds one value each."""


@cache
def attributes() -> dict[str, Attribute]:
    """Return the table by name."""
    return {a.name: a for a in _TABLE}


def attribute(name: str) -> Attribute:
    """The entry of that name. `favorite_<thing>` is made from its thing. Raises KeyError for an unknown name."""
    if name.startswith(FAVORITE_PREFIX):
        return Attribute(name, True)
    return attributes()[name]


def single(name: str) -> bool:
    """Whether an attribute holds one value at a time; one that is not in the table does not."""
    return name.startswith(FAVORITE_PREFIX) or (name in attributes() and attributes()[name].single)


def standing(name: str) -> Standing | None:
    """Whether an attribute is a goal or a limit; None for all others, and for one that is not in the table."""
    known = attributes().get(name)
    return None if known is None else known.standing
