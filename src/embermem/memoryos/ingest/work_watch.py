"""What the background work of a process has done and what went wrong in it, for who watches the process: utterances
embedded, failures by their kind, owners that another worker took, and the leases that are held now."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from embermem.core.errors import EmberError
from embermem.core.record import Record

__all__ = ["WorkCounts", "WorkWatch", "kind_of_failure"]

DEFECT = "defect"
"""Stands for every error that is not one of ours: their classes are without number, ours are not."""
AT_CLAIM, AT_WORK = "claim", "work"
"""When an owner was lost to another worker: before any work on it, or during the work, because the lease ran out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkCounts(Record):
    """Counts of one process since it began, but for the leases, which are those of now.

    `embedded` utterances got their vector; `failures` of work on an owner, by the class of the error (`defect`: one
    that is not Ember's); `lost` owners to another worker, at the `claim` or during the `work`. `leases` are held now,
    the oldest of them for `oldest_lease_s` seconds (0 without any).
    """

    embedded: int
    failures: Mapping[str, int] = field(hash=False)
    lost: Mapping[str, int] = field(hash=False)
    leases: int
    oldest_lease_s: float


class WorkWatch:
    """Counts what the work of one process does. Safe for many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._embedded = 0
        self._failures: Counter[str] = Counter()
        self._lost: Counter[str] = Counter({AT_CLAIM: 0, AT_WORK: 0})
        self._held: dict[object, float] = {}

    def embedded(self, utterances: int) -> None:
        """So many utterances got their vector."""
        with self._lock:
            self._embedded += utterances

    def failed(self, error: BaseException) -> None:
        """The work on one owner ended with an error, and will be tried again."""
        with self._lock:
            self._failures[kind_of_failure(error)] += 1

    def lost(self, when: str) -> None:
        """Another worker has the owner: `AT_CLAIM` or `AT_WORK`."""
        with self._lock:
            self._lost[when] += 1

    @contextmanager
    def holding(self) -> Iterator[None]:
        """A lease is held within the block."""
        one = object()
        with self._lock:
            self._held[one] = time.monotonic()
        try:
            yield
        finally:
            with self._lock:
                del self._held[one]

    def counts(self) -> WorkCounts:
        """As they stand now."""
        now = time.monotonic()
        with self._lock:
            return WorkCounts(
                embedded=self._embedded,
                failures=dict(self._failures),
                lost=dict(self._lost),
                leases=len(self._held),
                oldest_lease_s=now - min(self._held.values(), default=now),
            )


def kind_of_failure(error: BaseException) -> str:
    """What a metric may say of an error: its class, where it is one of Ember's. The message may quote a text."""
    return type(error).__name__ if isinstance(error, EmberError) else DEFECT
