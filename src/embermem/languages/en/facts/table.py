"""All rules, in the order in which they are tried: what is no longer so before what is."""

from __future__ import annotations

from typing import Final

from embermem.languages.en.facts import health, identity, people, places, plans, tastes, work

RULES: Final = (
    *places.ENDED,
    *work.ENDED,
    *health.ENDED,
    *tastes.ENDED,
    *people.ENDED,
    *identity.ENDED,
    *plans.ENDED,
    *identity.RULES,
    *places.RULES,
    *work.RULES,
    *health.RULES,
    *plans.RULES,
    *people.RULES,
    *tastes.RULES,
)
