"""Lists in parts. What comes in between two parts moves nothing: a part goes on below the last that was given."""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from embermem.core.errors import InputError
from embermem.core.messages import LookBack
from embermem.http.access import asker_of
from embermem.http.api import cursors
from embermem.wire.answers import Changes, Part
from embermem.wire.mapping import to_record
from embermem.wire.memories import ChangeItem, page_item

if TYPE_CHECKING:
    from embermem.core.changes import Change
    from embermem.core.types import Hit, Page, Scope, Tier
    from embermem.memory import OwnerMemory

_Thing = TypeVar("_Thing")
_List = TypeVar("_List", bound=Part)
_AT_ONCE = 64
"""Pages or changes read at once: few enough that long ones are not all in memory before the first is shown."""
_HITS = 200
"""Hits asked for at first where one thread's are picked out of all."""
_NUMBER = re.compile(r"[0-9]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """Which part of a list: at most `limit` things from `cursor` on, which come to at most `most_bytes` of JSON. One
    thing alone may be larger."""

    limit: int
    cursor: str | None
    most_bytes: int


def named(kind: str, *filters: object) -> str:
    """The name of a list, for its cursors: what it is of, whose, with which filters."""
    return json.dumps([kind, *(None if one is None else str(one) for one in filters)])


def told(scope: Scope | None) -> str | None:
    """A scope in the name of a list."""
    return None if scope is None else json.dumps(scope.to_dict(), sort_keys=True)


def pages(
    owner: OwnerMemory,
    asked: Asked,
    *,
    into: type[_List],
    tier: Tier | None,
    thread: str | None,
    scope: Scope | None = None,
    then: LookBack | None = None,
) -> _List:
    """Pages, newest first."""
    then = then or {}
    listing = named("pages", owner.owner.id, tier, thread, told(scope), *then.items())
    found = _newest_first(owner, tier, thread, scope, cursors.number(listing, asked.cursor), _step(asked), then)
    return _part(found, lambda page: str(page.no), asked, partial(page_item, asker_of(owner)), into, listing)


def items(
    owner: OwnerMemory,
    asked: Asked,
    kind: str,
    order: str,
    show: Callable[[Any], object],
    *,
    after: str | None = None,
    scope: Scope | None = None,
    into: type[_List],
) -> _List:
    """Items of one kind, in an order; those after an item, or its number."""
    listing = named("items", owner.owner.id, kind, order, told(scope))
    place = {"page": "no", "utterance": "seq"}.get(kind)
    begin: str | int | None = int(after) if after is not None and place and _NUMBER.fullmatch(after) else after
    if asked.cursor is not None:
        begin = cursors.number(listing, asked.cursor) if place else cursors.position(listing, asked.cursor)
    step = _step(asked) if place else asked.limit + 1  # others are read whole each time
    found = _stepwise(partial(owner.items, kind, order=order, scope=scope), place or "id", begin, step)
    return _part(found, lambda item: str(getattr(item, place or "id")), asked, show, into, listing)


def changes(owner: OwnerMemory, asked: Asked, *, since: int) -> Changes:
    """Changes after `since`, oldest first."""
    listing = named("changes", owner.owner.id)
    after = max(since, cursors.number(listing, asked.cursor) or 0)
    found = _oldest_first(owner, after, _step(asked))
    return _part(found, lambda change: str(change.no), asked, partial(to_record, ChangeItem), Changes, listing)


def keyed(
    things: Iterable[_Thing],
    key: Callable[[_Thing], str],
    order: Callable[[str], Any],
    asked: Asked,
    show: Callable[[_Thing], object],
    *,
    into: type[_List],
    listing: str,
    newest_first: bool = True,
) -> _List:
    """Things by a key that never changes, which `order` makes comparable; by default the greatest first."""
    sorted_things = sorted(things, key=lambda thing: order(key(thing)), reverse=newest_first)
    if asked.cursor is not None:
        last = _read(order, cursors.position(listing, asked.cursor))
        beyond = operator.lt if newest_first else operator.gt
        sorted_things = [thing for thing in sorted_things if beyond(order(key(thing)), last)]
    return _part(sorted_things, key, asked, show, into, listing)


def read_on(
    read: Callable[[str | None, int], Iterable[_Thing]],
    key: Callable[[_Thing], str],
    asked: Asked,
    show: Callable[[_Thing], object],
    *,
    into: type[_List],
    listing: str,
) -> _List:
    """Things that are read in their order: `read(key, n)` gives those after the one with a key, n at a time."""
    begin = None if asked.cursor is None else cursors.position(listing, asked.cursor)
    return _part(read(begin, asked.limit + 1), key, asked, show, into, listing)


def by_numbers(made_id: str) -> tuple[tuple[int, ...], str]:
    """The order of ids such as f12-003, which are numbered as they are made."""
    return tuple(int(digits) for digits in _NUMBER.findall(made_id)), made_id


def in_thread(search: Callable[[int], tuple[Hit, ...]], thread: str, k: int) -> tuple[Hit, ...]:
    """The best k hits of one thread; `search(n)` gives the best n of all threads."""
    wanted = max(4 * k, _HITS)
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
        raise InputError("cursor is not valid for this list; pass next_cursor unchanged, or none") from error


def _step(asked: Asked) -> int:
    """How many are read at once, so that those asked for, and one more, come in as few equal steps as may be."""
    wanted = asked.limit + 1
    return -(-wanted // -(-wanted // _AT_ONCE))


def _stepwise(part: Callable[..., Sequence[Any]], place: str, after: str | int | None, step: int) -> Iterator[Any]:
    """Items after a place, read in steps."""
    while some := part(limit=step, after=after):
        yield from some
        if len(some) < step:
            break
        after = getattr(some[-1], place)


def _newest_first(
    owner: OwnerMemory,
    tier: Tier | None,
    thread: str | None,
    scope: Scope | None,
    before: int | None,
    step: int,
    then: LookBack,
) -> Iterator[Page]:
    """Pages from a number downwards, read in steps."""
    while some := owner.pages(tier, thread=thread, limit=step, before=before, scope=scope, **then):
        yield from reversed(some)
        if len(some) < step:
            break
        before = some[0].no


def _oldest_first(owner: OwnerMemory, after: int, step: int) -> Iterator[Change]:
    """Changes from a number upwards, read in steps."""
    while some := owner.changes(after, limit=step):
        yield from some
        if len(some) < step:
            break
        after = some[-1].no


def _part(
    things: Iterable[_Thing],
    key: Callable[[_Thing], str],
    asked: Asked,
    show: Callable[[_Thing], object],
    into: type[_List],
    listing: str,
) -> _List:
    """The first things, as many as were asked for and as fit, and a cursor if there are more. Where none was asked for,
    the list can go on where it would have begun."""
    if asked.limit == 0:
        return into(results=(), next_cursor=asked.cursor)
    shown: list[object] = []
    left, last = asked.most_bytes, ""
    for thing in things:
        if len(shown) == asked.limit:
            break
        item = show(thing)
        left -= len(msgspec.json.encode(item))
        if shown and left < 0:
            break
        shown.append(item)
        last = key(thing)
    else:
        return into(results=tuple(shown), next_cursor=None)
    return into(results=tuple(shown), next_cursor=cursors.cursor(listing, last))
