"""Which facts a list shows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Annotated, TypedDict, TypeVar, cast

from fastapi import Depends, Query

from embermem.core.errors import InputError
from embermem.core.types import FactStatus, Origin
from embermem.http.access import asker_of
from embermem.http.api import listing
from embermem.http.api.dependencies import text_query, time_query
from embermem.wire.answers import Part
from embermem.wire.memories import fact_item

if TYPE_CHECKING:
    from embermem.core.messages import LookBack
    from embermem.core.types import About, Fact, Scope
    from embermem.memory import OwnerMemory


_List = TypeVar("_List", bound=Part)


class Filters(TypedDict, total=False):
    """The conditions of a list of current memory, beside state and person, by their names in `find_facts`."""

    text: str
    attribute: str
    origin: Origin
    recorded_since: str
    recorded_until: str
    held_since: str
    held_until: str


def _filters(
    text: Annotated[
        str | None, text_query("Only facts that hold every word of this, also as a part of a word.", examples=["Lyon"])
    ] = None,
    attribute: Annotated[str | None, text_query("Only of this attribute.", examples=["lives_in"])] = None,
    origin: Annotated[Origin | None, Query(description="Only those that rest on this.")] = None,
    recorded_since: Annotated[str | None, time_query("Only those recorded on this day or later.")] = None,
    recorded_until: Annotated[str | None, time_query("Only those recorded on this day or before.")] = None,
    held_since: Annotated[str | None, time_query("Only those that were true on this day or later.")] = None,
    held_until: Annotated[str | None, time_query("Only those that were true on this day or before.")] = None,
) -> Filters:
    given = {
        "text": text,
        "attribute": attribute,
        "origin": origin,
        "recorded_since": recorded_since,
        "recorded_until": recorded_until,
        "held_since": held_since,
        "held_until": held_until,
    }
    return cast("Filters", {name: one for name, one in given.items() if one is not None})


Filtering = Annotated[Filters, Depends(_filters)]
"""A route's parameter: by what else facts are found."""


def part(
    owner: OwnerMemory,
    asked: listing.Asked,
    *,
    into: type[_List],
    about: About | None,
    person: str | None = None,
    state: FactStatus,
    filters: Filters | None = None,
    scope: Scope | None = None,
    then: LookBack,
) -> _List:
    """Facts in one state, the newest first; of one person. Raises NotFound for an unknown person, and InputError for
    filters with a scope or a moment."""
    filters = filters or {}
    name = listing.named(
        "facts", owner.owner.id, about, person, state, listing.told(scope), *then.items(), *filters.items()
    )
    whole = scope is None and not then
    if not whole and (filters or state in (FactStatus.PINNED, FactStatus.CONFLICT, FactStatus.EXPIRING)):
        raise InputError("scope, as_of and valid_at go with the states current, past and archived and no other filter")
    show = partial(fact_item, asker_of(owner))
    if whole:
        found = partial(_found, owner, about, person, state, filters)
        return listing.read_on(found, lambda fact: fact.id, asked, show, into=into, listing=name)
    every = _all(owner, about, person, state, scope, then)
    return listing.keyed(every, lambda fact: fact.id, listing.by_numbers, asked, show, into=into, listing=name)


def _found(
    owner: OwnerMemory,
    about: About | None,
    person: str | None,
    state: FactStatus,
    filters: Filters,
    before: str | None,
    step: int,
) -> Iterator[Fact]:
    """Facts before one, read in steps."""
    while True:
        found = owner.find_facts(state=state, about=about, person=person, **filters, limit=step, before=before)
        yield from found.facts
        if (before := found.next) is None:
            break


def _all(
    owner: OwnerMemory, about: About | None, person: str | None, state: FactStatus, scope: Scope | None, then: LookBack
) -> list[Fact]:
    if state is FactStatus.PAST:
        if "valid_at" in then:
            raise InputError("valid_at already includes past facts: leave state out")
        past = owner.past_facts(person=person, scope=scope, as_of=then.get("as_of"))
        return [fact for fact in past if about in (None, fact.about)]
    return list(owner.facts(about, archived=state is FactStatus.ARCHIVED, person=person, scope=scope, **then))
