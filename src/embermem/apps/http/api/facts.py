"""Which facts a list shows."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from embermem.apps.http.api import listing, models, views

if TYPE_CHECKING:
    from embermem.memory import OwnerMemory
    from embermem.types import About, Fact


class State(StrEnum):
    """How a fact stands: it holds, it no longer does, or the cap moved it to the archive."""

    CURRENT = "current"
    PAST = "past"
    ARCHIVED = "archived"


def part(
    owner: OwnerMemory, asked: listing.Asked, *, about: About | None, state: State
) -> listing.Part[models.FactItem]:
    """Facts in one state, the newest first."""
    return listing.keyed(
        _all(owner, about, state),
        lambda fact: fact.id,
        listing.by_numbers,
        asked,
        lambda fact: views.fact(owner.owner, fact),
        listing=listing.named("facts", owner.owner.id, about, state),
    )


def _all(owner: OwnerMemory, about: About | None, state: State) -> list[Fact]:
    if state is State.PAST:
        return [fact for fact in owner.past_facts() if about in (None, fact.about)]
    return list(owner.facts(about, archived=state is State.ARCHIVED))
