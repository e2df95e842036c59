"""Signs of life of a worker's threads: when each was last heard of, what rounds ended, and what failed."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from embermem.core.record import Record
from embermem.llms.flights import FIRST_FACTOR

if TYPE_CHECKING:
    from embermem.core.config import Settings

__all__ = ["Beat", "Pulse", "PulseState", "stall_s"]


def stall_s(settings: Settings, *, modelled: bool) -> float:
    """How long a thread may be silent before it counts as one that hangs: a step in hand may wait for a model."""
    waits = FIRST_FACTOR * settings.model_timeout_s * (1 + settings.model_retries) if modelled else 0.0
    return settings.worker_stall_s + settings.poll_s + waits


@dataclass(frozen=True, kw_only=True, slots=True)
class PulseState(Record):
    """What is known of a worker's threads. `silent_s` is how long the most silent of them has been so; `rounds` ended,
    the last of them `last_round_s` ago (None: none yet). `failures` ended a round, by the class of the error; `failed`
    is the class of the last one, `failed_s` ago (empty and None: none yet)."""

    threads: int
    silent_s: float
    rounds: int
    last_round_s: float | None
    failures: Mapping[str, int] = field(hash=False)
    failed: str
    failed_s: float | None


class Beat:
    """The signs of life of one thread."""

    def __init__(self, pulse: Pulse) -> None:
        self._pulse = pulse
        self.at = pulse.clock()

    def __call__(self) -> None:
        """It lives."""
        self.at = self._pulse.clock()

    def round_ended(self) -> None:
        """It has done all that was due, or looked for it."""
        self()
        self._pulse.round_ended()

    def failed(self, kind: str) -> None:
        """What it did ended with an error of this class; it goes on."""
        self()
        self._pulse.failed(kind)


class Pulse:
    """What the threads of one worker tell of themselves. Safe for many threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._lock = threading.Lock()
        self._beats: list[Beat] = []
        self._rounds = 0
        self._last_round: float | None = None
        self._failures: Counter[str] = Counter()
        self._failed: tuple[str, float] | None = None

    def thread(self) -> Beat:
        """A thread begins: what it is to call. One that ends without having been told to stop stays silent."""
        one = Beat(self)
        with self._lock:
            self._beats.append(one)
        return one

    def round_ended(self) -> None:
        """A round of one of the threads ended."""
        with self._lock:
            self._rounds += 1
            self._last_round = self.clock()

    def failed(self, kind: str) -> None:
        """A round ended with an error of this class."""
        with self._lock:
            self._failures[kind] += 1
            self._failed = kind, self.clock()

    def state(self) -> PulseState:
        """As it stands now."""
        with self._lock:
            now = self.clock()
            kind, at = self._failed or ("", None)
            return PulseState(
                threads=len(self._beats),
                silent_s=max((now - one.at for one in self._beats), default=0.0),
                rounds=self._rounds,
                last_round_s=None if self._last_round is None else now - self._last_round,
                failures=dict(self._failures),
                failed=kind,
                failed_s=None if at is None else now - at,
            )
