"""A discrete-event simulation of many owners: who says something when, how long it waits for a worker, and whose
working set is in memory when something is asked. Pure: no store, no clock, one seed."""

from __future__ import annotations

import heapq
import math
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

__all__ = ["Load", "Queue", "Waits", "arrivals", "hit_rate", "popularity", "recalls", "served", "shared_out"]

DAY_S = 86_400.0
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """What owners do. The owner of rank r says and asks in proportion to r to the power of minus `zipf`, and no more
    than `most` times the mean. In a day each says `pages_a_day` on average, in sittings of `sitting_pages` with
    `pause_s` between two pages, and asks `recalls_a_day`. The rate is 1 + `swing` times the mean at the peak of the
    day, 1 - `swing` at night; `hours` around the peak are simulated."""

    owners: int = 1_000_000
    zipf: float = 0.7
    most: float = 50.0
    pages_a_day: float = 5.0
    recalls_a_day: float = 5.0
    sitting_pages: float = 8.0
    pause_s: float = 60.0
    swing: float = 0.8
    hours: float = 1.0
    seed: int = 0

    @property
    def pages_per_s(self) -> float:
        """Pages of all owners in a second, on average over the day."""
        return self.owners * self.pages_a_day / DAY_S

    @property
    def peak_pages_per_s(self) -> float:
        """The same at the peak."""
        return self.pages_per_s * (1 + self.swing)


def popularity(load: Load) -> Floats:
    """The share of each owner in all that is said and asked, the most active first; the sum is 1."""
    shares = np.arange(1, load.owners + 1, dtype=np.float64) ** -load.zipf
    return _normal(np.minimum(_normal(shares), load.most / load.owners))


def arrivals(load: Load, shares: Floats) -> tuple[Floats, Ints]:
    """When pages come in around the peak, in seconds from the beginning, in order; and whose they are."""
    rng = np.random.default_rng(load.seed)
    seconds = load.hours * 3600
    count = rng.poisson(_expected(load) / load.sitting_pages)
    begun = _by_the_day(load, rng, count)
    whose = _drawn(shares, rng, count)
    pages = rng.geometric(1 / load.sitting_pages, count)
    of = np.repeat(np.arange(count), pages)
    pauses = rng.exponential(load.pause_s, len(of))
    first = np.concatenate(([0], np.cumsum(pages)[:-1])) if count else np.zeros(0, dtype=np.int64)
    since = np.cumsum(pauses)
    at = begun[of] + since - since[first][of]
    kept = at < seconds
    order = np.argsort(at[kept], kind="stable")
    return at[kept][order], whose[of][kept][order]


def recalls(load: Load, shares: Floats, count: int, *, sittings: bool) -> Ints:
    """Who asks, one after another: in sittings, as pages come, from around the peak of a day (or all of it); or each
    by chance alone, as if nobody asked twice in a row."""
    if not sittings:
        return _drawn(shares, np.random.default_rng(load.seed + 1), count)
    a_second = load.owners * load.recalls_a_day / DAY_S
    hours = min(24.0, 1.2 * count / a_second / 3600)
    asking = replace(load, pages_a_day=load.recalls_a_day, hours=hours, seed=load.seed + 1)
    return arrivals(asking, shares)[1][:count]


# -------------------------------------------------------------------------------------------------------------- workers


@dataclass(frozen=True, kw_only=True, slots=True)
class Queue:
    """How workers take turns: the owner that has waited longest first, `slice_pages` at most (0: all of them). A turn
    takes `turn_s` and `page_s` for each page."""

    workers: int
    turn_s: float
    page_s: float
    slice_pages: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Waits:
    """Seconds from when an owner was due to its turn, of all turns but those of the noisy owner; turns, the most owners
    that waited at once, and the share of the time in which workers were busy."""

    turns: int
    p50_s: float
    p99_s: float
    longest_s: float
    most_waiting: int
    busy: float


def served(at: Floats, whose: Ints, queue: Queue, *, noisy_pages: int = 0) -> Waits:
    """Play the pages through the workers. With `noisy_pages`, another owner brings so many at once in the middle."""
    times, owners = at.tolist(), whose.tolist()
    noisy, middle = -1, len(times) // 2
    pending: dict[int, int] = {}
    ends: dict[int, float] = {}
    free = [0.0] * queue.workers
    due: list[tuple[float, int]] = []
    waits: list[float] = []
    busy, most, here = 0.0, 0, 0

    def came(now: float, owner: int, pages: int) -> None:
        if owner not in pending:
            heapq.heappush(due, (max(now, ends.pop(owner, 0.0)), owner))
        pending[owner] = pending.get(owner, 0) + pages

    while here < len(times) or due:
        start = max(free[0], due[0][0]) if due else math.inf
        if here < len(times) and times[here] <= start:
            came(times[here], owners[here], 1)
            if here == middle and noisy_pages:
                came(times[here], noisy, noisy_pages)
            here += 1
            continue
        most = max(most, len(due))
        since, owner = heapq.heappop(due)
        pages = min(pending[owner], queue.slice_pages or pending[owner])
        took = queue.turn_s + pages * queue.page_s
        heapq.heapreplace(free, start + took)
        busy += took
        if owner != noisy:
            waits.append(start - since)
        left = pending.pop(owner) - pages
        ends[owner] = start + took
        if left:
            came(start + took, owner, left)
    waited = np.array(waits or [0.0])
    return Waits(
        turns=len(waits),
        p50_s=_rounded(np.quantile(waited, 0.5)),
        p99_s=_rounded(np.quantile(waited, 0.99)),
        longest_s=_rounded(waited.max()),
        most_waiting=most,
        busy=_rounded(busy / (queue.workers * max(free))) if max(free) else 0.0,
    )


# --------------------------------------------------------------------------------------------------------------- memory


def hit_rate(
    asked: Sequence[int] | Ints, limit_bytes: float, bytes_of: Mapping[int, int] | int, *, after: int
) -> float:
    """The share of those who ask, after the first so many, whose working set is in memory, where the least recently
    used are dropped above a limit of bytes. `bytes_of` each owner, or of every one."""
    held: OrderedDict[int, int] = OrderedDict()
    total, hits, asks = 0, 0, 0
    for n, owner in enumerate(_whole(asked)):
        size = bytes_of if isinstance(bytes_of, int) else bytes_of[owner]
        hit = owner in held
        if hit:
            held.move_to_end(owner)
        else:
            held[owner] = size
            total += size
            while total > limit_bytes and len(held) > 1:
                total -= held.popitem(last=False)[1]
        if n >= after:
            asks += 1
            hits += hit
    return hits / asks if asks else 0.0


def shared_out(asked: Ints, servers: int, seed: int) -> Iterable[Ints]:
    """What each of some servers is asked where a load balancer sends each question to any of them."""
    to = np.random.default_rng(seed + 2).integers(0, servers, len(asked))
    return (asked[to == n] for n in range(servers))


# -------------------------------------------------------------------------------------------------------------- helpers


def _whole(values: Sequence[int] | Ints) -> Iterable[int]:
    return values.tolist() if isinstance(values, np.ndarray) else islice(values, None)


def _normal(weights: Floats) -> Floats:
    shares: Floats = weights / weights.sum()
    return shares


def _drawn(shares: Floats, rng: np.random.Generator, count: int) -> Ints:
    found = np.searchsorted(np.cumsum(shares), rng.random(count))
    return np.minimum(found, len(shares) - 1)


def _expected(load: Load) -> float:
    """Pages in the hours around the peak: the integral of mean · (1 + swing · cos)."""
    half = min(load.hours, 24.0) * 1800
    angle = 2 * math.pi * half / DAY_S
    return load.pages_per_s * (2 * half + load.swing * DAY_S / math.pi * math.sin(angle))


def _by_the_day(load: Load, rng: np.random.Generator, count: int) -> Floats:
    """Times within the hours around the peak, by the curve of the day: drawn evenly, and refused in proportion."""
    seconds = load.hours * 3600
    kept: list[Floats] = []
    missing = count
    while missing > 0:
        drawn = rng.random(2 * missing + 16) * seconds
        rate = 1 + load.swing * np.cos(2 * np.pi * (drawn - seconds / 2) / DAY_S)
        taken = drawn[rng.random(len(drawn)) * (1 + load.swing) < rate][:missing]
        kept.append(taken)
        missing -= len(taken)
    return np.concatenate(kept) if kept else np.zeros(0)


def _rounded(value: float) -> float:
    return round(float(value), 4)
