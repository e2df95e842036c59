"""What heat counts (Eq. 3), at any moment: how often segments and facts were visited, and which pages are analysed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import numpy as np

from embermem.core.state.topics import TopicMoment, TopicState
from embermem.core.types import PageId

__all__ = ["NO_VISITS", "Visits", "analysed", "visited_by", "visits"]


class Visits(NamedTuple):
    """How often a segment or fact was visited, and when last."""

    times: int = 0
    at: datetime | None = None

    def after(self, other: datetime) -> datetime:
        """The later of the last and another time."""
        return other if self.at is None else max(other, self.at)


NO_VISITS = Visits()
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def visits(then: TopicMoment, waiting: Iterable[tuple[str, int, int]] = ()) -> Mapping[str, Visits]:
    """The visits of each segment and fact that has any; `waiting` are some that no change has yet: an id, their number,
    and the time of the last (microseconds since 1970). Those of a segment that ended are of the one that took its
    pages."""
    state, counts, last = then.state, dict[str, int](), dict[str, int]()
    upto = int(np.searchsorted(state.visits.began, then.no, side="right"))
    keys, place = np.unique(state.visits.keys[:upto], return_inverse=True)
    count, at = np.zeros(len(keys), dtype=np.int64), np.zeros(len(keys), dtype=np.int64)
    np.add.at(count, place, state.visits.values[:upto])
    np.maximum.at(at, place, state.visited.values[:upto])
    told = zip(map(state.name, keys.tolist()), count.tolist(), at.tolist(), strict=True)
    for name, more, when in (*told, *waiting):
        counts[name], last[name] = counts.get(name, 0) + more, max(last.get(name, 0), when)
    for ended, no in _ended(then):
        into = _taker(then, ended, no) if ended in counts else None
        if into is not None:
            counts[into] = counts.get(into, 0) + counts.pop(ended)
            last[into] = max(last.get(into, 0), last[ended])
    return {name: Visits(n, _EPOCH + timedelta(microseconds=last[name])) for name, n in counts.items()}


def _ended(then: TopicMoment) -> Iterable[tuple[str, int]]:
    """The segments that ended, in that order, each with the change."""
    texts = then.state.texts
    gone = np.flatnonzero((texts.values < 0) & (texts.began <= then.no))
    return zip(map(then.state.name, texts.keys[gone].tolist()), texts.began[gone].tolist(), strict=True)


def _taker(then: TopicMoment, segment: str, no: int) -> str | None:
    """The segment that took most pages of one with a change."""
    places = then.state.places
    pages = places.keys[(places.values == then.state.number(segment)) & (places.ended == no)]
    into, how_many = np.unique(places.values[(places.began == no) & np.isin(places.keys, pages)], return_counts=True)
    return then.state.name(int(into[how_many.argmax()])) if len(into) else None


def visited_by(state: TopicState, items: Iterable[str]) -> set[int]:
    """The changes that tell of visits of some items."""
    return {*state.visits.began[np.isin(state.visits.keys, [state.number(one) for one in items])].tolist()}


def analysed(then: TopicMoment) -> Mapping[PageId, int]:
    """Up to which utterance each page was analysed for the persona; none for a page that was not."""
    spans, of = then.state.analysed, then.state.names.ids
    stood = spans.stood(then.no)
    return {
        PageId(of[key]): upto
        for key, upto in zip(spans.keys[stood].tolist(), spans.values[stood].tolist(), strict=True)
    }
