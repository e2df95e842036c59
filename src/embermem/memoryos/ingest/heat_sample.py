"""The heat of mid-term memory as the work behind sees it, for who watches a service: how it is distributed, what is
hottest, what was promoted and evicted.

A claim has all segments of its owner at hand, so that their heat costs nothing more there. It stays true enough: it
falls by less than γ in all the time in which nothing is added and nothing visited, and both make the owner due.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final

from embermem.core.changes import Analysed, Cause, Decision, Evicted
from embermem.core.record import Record
from embermem.core.types import OwnerId

BOUNDS: Final = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 7.5, 10.0, 20.0, 50.0, 100.0, 200.0)
"""Of the distribution; a heat counts below the first bound that it does not exceed. τ is 5 in the paper."""
OWNERS: Final = 1_000
"""Owners whose heat is kept, those that were worked on last."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HeatSample(Record):
    """Heat of the segments of up to 1,000 owners, those that this process worked on last, as it was then; and what it
    has promoted and evicted since it began.

    `up_to` counts, for each of `BOUNDS`, the segments with no more heat than that; `segments` are all of them, `total`
    the sum of their heat, `hottest` the greatest (0 without any). `promotions` are changes by which pages of a segment
    entered long-term memory; `evictions` segments that left for the archive, by the cause of the change: `eviction`
    (no room) or `retention` (faded).
    """

    owners: int
    segments: int
    up_to: tuple[int, ...]
    total: float
    hottest: float
    promotions: int
    evictions: Mapping[str, int] = field(hash=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Heats:
    """The heat of one owner's segments: how many there are below each bound and above the last, their sum, the
    greatest."""

    counts: tuple[int, ...]
    total: float
    hottest: float


class HeatWatch:
    """Keeps the sample of one process. Safe for many threads; bounded, whatever the number of owners."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owners: OrderedDict[OwnerId, _Heats] = OrderedDict()
        self._promotions = 0
        self._evictions: Counter[str] = Counter({Cause.EVICTION.value: 0, Cause.RETENTION.value: 0})

    def applied(self, cause: Cause, decisions: Sequence[Decision]) -> None:
        """A change was applied: count what it promoted and evicted."""
        evicted = sum(isinstance(one, Evicted) for one in decisions)
        with self._lock:
            self._promotions += cause is Cause.PROMOTION and any(isinstance(one, Analysed) for one in decisions)
            if evicted:
                self._evictions[cause.value] += evicted

    def worked(self, owner_id: OwnerId, heats: Sequence[float]) -> None:
        """An owner was worked on: the heat of the segments that there are now."""
        counts = [0] * (len(BOUNDS) + 1)
        for heat in heats:
            counts[bisect_left(BOUNDS, heat)] += 1
        seen = _Heats(counts=tuple(counts), total=sum(heats), hottest=max(heats, default=0.0))
        with self._lock:
            self._owners[owner_id] = seen
            self._owners.move_to_end(owner_id)
            while len(self._owners) > OWNERS:
                self._owners.popitem(last=False)

    def forgotten(self, owner_id: OwnerId) -> None:
        """An owner was forgotten, and so is the heat of what there was."""
        with self._lock:
            self._owners.pop(owner_id, None)

    def sample(self) -> HeatSample:
        """As it stands now."""
        with self._lock:
            seen, promotions, evictions = [*self._owners.values()], self._promotions, dict(self._evictions)
        sums = [sum(column) for column in zip(*(one.counts for one in seen), strict=True)] or [0] * (len(BOUNDS) + 1)
        return HeatSample(
            owners=len(seen),
            segments=sum(sums),
            up_to=tuple(accumulate(sums[:-1])),
            total=sum(one.total for one in seen),
            hottest=max((one.hottest for one in seen), default=0.0),
            promotions=promotions,
            evictions=evictions,
        )
