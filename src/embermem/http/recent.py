"""The requests that a server answered last, kept in its memory, without any value of an address, any text or name."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

KEPT = 5000
"""Some 300 bytes each."""
KEY_ID = "ember.key_id"
"""Where a request's scope holds the id of the key that let it in."""


class Answered(NamedTuple):
    """A request that was answered: when (seconds since 1970), the template of its route, its status, the seconds until
    it was answered whole, the bytes of the answer's body, the id of its key if it gave one, and its own id. A `stream`
    was open for these seconds: they are no time that it took."""

    at: float
    method: str
    route: str
    status: int
    seconds: float
    bytes: int
    key_id: str | None
    request_id: str
    stream: bool = False


class OfRoute(NamedTuple):
    """The requests of one route together: how many, how many of them failed here (5xx), and within which seconds half,
    95 of a hundred, and all of them were answered; streams are not among these times. `timed`: whether any has one."""

    route: str
    requests: int
    failed: int
    p50: float
    p95: float
    slowest: float
    timed: bool


class Recent:
    """The newest requests, and when each key was used last since the server began. Several threads may read while one
    writes: requests are noted by the loop that serves them."""

    def __init__(self, kept: int = KEPT, clock: Callable[[], float] = time.time) -> None:
        self.since = clock()
        self.used: dict[str, float] = {}
        self._clock = clock
        self._kept: deque[Answered] = deque(maxlen=kept)

    def note(
        self,
        method: str,
        route: str,
        status: int,
        seconds: float,
        size: int,
        key_id: str | None,
        request_id: str,
        *,
        stream: bool = False,
    ) -> None:
        """Keep one request; the oldest goes."""
        at = self._clock()
        if key_id is not None:
            self.used[key_id] = at
        self._kept.append(Answered(at, method, route, status, seconds, size, key_id, request_id, stream))

    def newest(self, since: float = 0.0) -> list[Answered]:
        """The requests that were answered since a time, newest first."""
        return [one for one in reversed(self._kept.copy()) if one.at >= since]


def by_route(requests: Iterable[Answered]) -> list[OfRoute]:
    """Requests summed up by route, the slowest first, by the 95th of a hundred."""
    of: dict[str, list[Answered]] = {}
    for one in requests:
        of.setdefault(f"{one.method} {one.route}", []).append(one)
    return sorted((summed(route, some) for route, some in of.items()), key=lambda one: -one.p95)


def summed(route: str, some: Iterable[Answered]) -> OfRoute:
    """Requests together, under a name; zeros for none."""
    asked = list(some)
    timed = sorted(one.seconds for one in asked if not one.stream)
    times = timed or [0.0]
    last = len(times) - 1
    return OfRoute(
        route=route,
        requests=len(asked),
        failed=sum(one.status >= 500 for one in asked),
        p50=times[round(0.5 * last)],
        p95=times[round(0.95 * last)],
        slowest=times[-1],
        timed=bool(timed),
    )
