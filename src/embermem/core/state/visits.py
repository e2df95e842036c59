"""What heat counts (Eq. 3), at any moment: how often segments and facts were visited, and which pages are analysed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import numpy as np

from embermem.core.state.topics import TopicMoment

__all__ = ["NO_VISITS", "Visits", "analysed", "visits"]


class Visits(NamedTuple):
    """How often a segment or fact was visited, and when last."""

    times: int = 0
    at: datetime | None = None


NO_VISITS = Visits()
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def visits(then: TopicMoment, waiting: Iterable[tuple[str, int, int]] = ()) -> Mapping[str, Visits]:
    """The visits of each segment and fact that has any; `waiting` are some that no change has yet: an id, their number,
    and the time of the last (microseconds since 1970). Those of a segment that ended are of its heir."""
    state, counts, last = then.state, dict[str, int](), dict[str, int]()
    upto, size = int(np.searchsorted(state.visits.began, then.no, side="right")), len(state.names)
    count, at, keys = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64), state.visits.keys[:upto]
    np.add.at(count, keys, state.visits.values[:upto])
    np.maximum.at(at, keys, state.visited.values[:upto])
    used = np.flatnonzero(count)
    told = zip(state.names.some(used), count[used].tolist(), at[used].tolist(), strict=True)
    for name, more, when in (*told, *waiting):
        counts[name], last[name] = counts.get(name, 0) + more, max(last.get(name, 0), when)
    passed = (state.heirs.began <= then.no) & bool(counts)
    for ended, into in zip(
        state.names.some(state.heirs.keys[passed]), state.names.some(state.heirs.values[passed]), strict=True
    ):
        if ended in counts:
            counts[into] = counts.get(into, 0) + counts.pop(ended)
            last[into] = max(last.get(into, 0), last[ended])
    return {name: Visits(n, _EPOCH + timedelta(microseconds=last[name])) for name, n in counts.items()}


def analysed(then: TopicMoment) -> Mapping[str, int]:
    """Up to which utterance each page was analysed for the persona; none for a page that was not."""
    spans, stood = then.state.analysed, then.state.analysed.stood(then.no)
    return dict(zip(then.state.names.some(spans.keys[stood]), spans.values[stood].tolist(), strict=True))
