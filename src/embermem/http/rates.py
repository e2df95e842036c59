"""How often a client may ask: requests a minute for each key."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: float


class RateLimit:
    """A token bucket for each key: `per_minute` requests at once, and as many again in each minute; 0: no limit.

    The buckets are this process's: two servers on one store count apart. `clock` gives seconds that only grow.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: dict[str, _Bucket] = {}

    def take(self, key_id: str) -> float:
        """Count one request: 0.0, or the seconds until there is room for it. Then it is not counted."""
        if self._per_minute == 0:
            return 0.0
        rate, now = self._per_minute / 60.0, self._clock()
        with self._lock:
            bucket = self._buckets.setdefault(key_id, _Bucket(self._per_minute, now))
            bucket.tokens = min(float(self._per_minute), bucket.tokens + (now - bucket.at) * rate)
            bucket.at = now
            if bucket.tokens < 1.0:
                return (1.0 - bucket.tokens) / rate
            bucket.tokens -= 1.0
            return 0.0
