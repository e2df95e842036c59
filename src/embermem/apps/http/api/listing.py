"""Lists in parts. What comes in between two parts moves nothing: a part goes on below the last that was given."""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from embermem.apps.http.api import cursors
from embermem.errors import InputError

if TYPE_CHECKING:
    from embermem.memory import OwnerMemory
    from embermem.types import Hit, Page, Tier

_Thing = TypeVar("_Thing")
_AT_ONCE = 200
"""Pages read at once where a thread is picked out of all."""
_NUMBER = re.compile(r"[0-9]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Part(Generic[_Thing]):
    """Some of a list, and the cursor of what follows; None at the end."""

    things: tuple[_Thing, ...]
    next_cursor: str | None


def named(kind: str, *filters: object) -> str:
    """The name of a list, for its cursors: what it is of, whose, with which filters."""
    return json.dumps([kind, *(None if one is None else str(one) for one in filters)])


def pages(owner: OwnerMemory, *, tier: Tier | None, thread: str | None, limit: int, cursor: str | None) -> Part[Page]:
    """Pages, newest first."""
    listing = named("pages", owner.owner.id, tier, thread)
    before = cursors.number(listing, cursor)
    found: list[Page] = []
    while len(found) <= limit:
        wanted = limit + 1 if thread is None else _AT_ONCE
        some = owner.pages(tier, limit=wanted, before=before)
        found += (page for page in reversed(some) if thread in (None, page.thread))
        if len(some) < wanted:
            break
        before = some[0].no
    return _part(found, limit, listing, lambda page: str(page.no))


def keyed(
    things: Iterable[_Thing],
    key: Callable[[_Thing], str],
    order: Callable[[str], Any],
    *,
    listing: str,
    limit: int,
    cursor: str | None,
    newest_first: bool = True,
) -> Part[_Thing]:
    """Things by a key that never changes, which `order` makes comparable; by default the greatest first."""
    sorted_things = sorted(things, key=lambda thing: order(key(thing)), reverse=newest_first)
    if cursor is not None:
        last = _read(order, cursors.position(listing, cursor))
        beyond = operator.lt if newest_first else operator.gt
        sorted_things = [thing for thing in sorted_things if beyond(order(key(thing)), last)]
    return _part(sorted_things, limit, listing, key)


def by_numbers(made_id: str) -> tuple[tuple[int, ...], str]:
    """The order of ids such as f12-003, which are numbered as they are made."""
    return tuple(int(digits) for digits in _NUMBER.findall(made_id)), made_id


def in_thread(search: Callable[[int], tuple[Hit, ...]], thread: str, k: int) -> tuple[Hit, ...]:
    """The best k hits of one thread; `search(n)` gives the best n of all threads."""
    wanted = max(4 * k, _AT_ONCE)
    while True:
        found = search(wanted)
        here = tuple(hit for hit in found if hit.utterance.thread == thread)
        if len(here) >= k or len(found) < wanted:
            return here[:k]
        wanted *= 4


def _read(order: Callable[[str], Any], position: str) -> Any:
    """Where a position stands. Raises InputError for one that no cursor of ours holds."""
    try:
        return order(position)
    except ValueError as error:
        raise InputError("cursor is not one of this list; give next_cursor as it came, or none") from error


def _part(found: list[_Thing], limit: int, listing: str, key: Callable[[_Thing], str]) -> Part[_Thing]:
    """The first `limit`, and a cursor if there are more."""
    more = len(found) > limit
    things = tuple(found[:limit])
    return Part(things=things, next_cursor=cursors.cursor(listing, key(things[-1])) if more else None)
