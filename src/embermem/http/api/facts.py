"""Which facts a list shows."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from embermem.core.errors import InputError
from embermem.http.access import asker_of
from embermem.http.api import listing
from embermem.wire.answers import Part
from embermem.wire.memories import fact_item

if TYPE_CHECKING:
    from embermem.core.messages import LookBack
    from embermem.core.types import About, Fact, Scope
    from embermem.memory import OwnerMemory


_List = TypeVar("_List", bound=Part)


class State(StrEnum):
    """How a fact stands: it holds, it no longer does, or the cap moved it to the archive."""

    CURRENT = "current"
    PAST = "past"
    ARCHIVED = "archived"


def part(
    owner: OwnerMemory,
    asked: listing.Asked,
    *,
    into: type[_List],
    about: About | None,
    person: str | None = None,
    state: State,
    scope: Scope | None = None,
    then: LookBack,
) -> _List:
    """Facts in one state, the newest first; of one person. Raises NotFound for an unknown person."""
    return listing.keyed(
        _all(owner, about, person, state, scope, then),
        lambda fact: fact.id,
        listing.by_numbers,
        asked,
        partial(fact_item, asker_of(owner)),
        into=into,
        listing=listing.named("facts", owner.owner.id, about, person, state, listing.told(scope), *then.items()),
    )


def _all(
    owner: OwnerMemory, about: About | None, person: str | None, state: State, scope: Scope | None, then: LookBack
) -> list[Fact]:
    if state is State.PAST:
        if "valid_at" in then:
            raise InputError("valid_at already includes past facts: leave state out")
        past = owner.past_facts(person=person, scope=scope, as_of=then.get("as_of"))
        return [fact for fact in past if about in (None, fact.about)]
    return list(owner.facts(about, archived=state is State.ARCHIVED, person=person, scope=scope, **then))
