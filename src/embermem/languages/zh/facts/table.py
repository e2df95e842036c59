"""All rules, in the order in which they are tried: what ends comes before what holds."""

from __future__ import annotations

from typing import Final

from embermem.languages.facts.rules import Rule
from embermem.languages.zh.facts import goals, health, identity, people, places, tastes, work

RULES: Final[tuple[Rule, ...]] = tuple(
    one
    for rules in (
        places.ENDED, work.ENDED, tastes.ENDED, health.ENDED, goals.ENDED, people.ENDED,
        identity.RULES, places.RULES, work.GRADES, work.RULES, health.RULES, goals.RULES, people.RULES, tastes.RULES,
    )
    for one in rules
)  # fmt: skip
"""Of the speaker. A clause about somebody else is read as if they said it."""
OF_RELATIVES: Final[tuple[Rule, ...]] = (
    *(one for one in RULES if one.attribute not in (
        "nickname", "gender", "temperament", "wants_to", "prepares_for", "saves_for", "budget")),
    *identity.OF_RELATIVES, *work.OF_RELATIVES, *places.OF_RELATIVES,
)  # fmt: skip
