"""What /metrics tells of the store: read from it, and kept for a while, so that no number of scrapes burdens it."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from prometheus_client.core import GaugeMetricFamily

from embermem.core.errors import StoreError
from embermem.reports.cost import midnight_of

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from embermem.core.types import CallSum
    from embermem.memory import Memory
    from embermem.protocols import Stats

__all__ = ["StoreMetrics"]

_SHARE = 20
"""What was read stands for so many times as long as reading it took: reading takes a twentieth of one connection."""
_LONGEST_S = 300.0
"""It stands no longer than this."""
_QUICK_S, _SHORT_S = 0.25, 1.0
"""What is read more quickly than this stands no longer than a second."""


class StoreMetrics:
    """The figures of one store for one process. One thread reads them at a time; others are given the last ones."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._reading = threading.Lock()
        self._known: Sequence[Metric] = ()
        self._until = 0.0

    def families(self) -> Sequence[Metric]:
        """As they were read last; read again where they are too old, and where the store failed."""
        known = self._known
        if known and time.monotonic() < self._until:
            return known
        if not self._reading.acquire(blocking=not known):
            return known
        try:
            if time.monotonic() >= self._until:
                self._read()
            return self._known
        finally:
            self._reading.release()

    def _read(self) -> None:
        began = time.perf_counter()
        try:
            found = self._asked()
        except StoreError:
            self._known, self._until = (_gauge("ember_store_up", "Whether the store could be read.", 0),), 0.0
            return
        took = time.perf_counter() - began
        found.append(_gauge("ember_store_read_seconds", "How long these figures of the store took to read.", took))
        longest = _LONGEST_S if took >= _QUICK_S else _SHORT_S
        self._known, self._until = found, time.monotonic() + min(took * _SHARE, longest)

    def _asked(self) -> list[Metric]:
        memory, now = self._memory, self._memory.now()
        stats = memory.stats(estimated=True)
        calls = memory.call_sums(midnight_of(now), by=("purpose", "outcome"))
        lag_s, backup_at = memory.replica_lag_s(), memory.last_backup_at()
        found: list[Metric] = [_gauge("ember_store_up", "Whether the store could be read.", 1)]
        found += [_gauge(name, told, value) for name, told, value in _of_stats(stats)]
        found.append(_gauge("ember_scrub_due", "1: forgotten bytes wait for a scrub.", memory.scrub_due()))
        if (free := _free_bytes(stats.path)) is not None:
            found.append(_gauge("ember_store_free_bytes", "Free bytes of the disk that holds the store's file.", free))
        if lag_s is not None:
            found.append(_gauge("ember_replica_lag_seconds", "How far this replica is behind its primary.", lag_s))
        if backup_at is not None:
            found.append(_gauge("ember_last_backup_age_seconds", "Age of the newest backup.", _age_s(now, backup_at)))
        return [*found, *_of_calls(calls)]


def _of_stats(stats: Stats) -> Sequence[tuple[str, str, float]]:
    return (
        ("ember_store_bytes", "The store's files.", stats.bytes),
        ("ember_owners", "Pairs of user and agent.", stats.owners),
        ("ember_due_owners", "Owners whose pages wait to be understood.", stats.due),
        ("ember_pages", "Pages in the store.", stats.pages),
        ("ember_pending_pages", "Pages that left short-term memory and are in no segment yet.", stats.pending),
        ("ember_oldest_pending_seconds", "How long the oldest of them has been so.", stats.oldest_pending_s),
        ("ember_utterances", "Messages in the store.", stats.utterances),
        ("ember_utterances_without_vector", "Messages that no embedder has read yet.", stats.without_vector),
        ("ember_webhooks", "Webhooks.", stats.webhooks),
        ("ember_webhooks_retrying", "Webhooks whose last attempt failed and is made again.", stats.webhooks_retrying),
        ("ember_webhooks_stopped", "Webhooks that were stopped after their last attempt.", stats.webhooks_stopped),
        ("ember_store_unreachable", "Nodes of the database that do not answer.", len(stats.unreachable)),
    )


def _of_calls(calls: Sequence[CallSum]) -> Sequence[Metric]:
    told = "Requests to the model since midnight, UTC."
    asked = GaugeMetricFamily("ember_model_calls_today", told, labels=("purpose", "outcome"))
    for one in sorted(calls, key=lambda one: (one.purpose or "", one.outcome or "")):
        asked.add_metric((one.purpose or "", one.outcome or ""), one.calls)
    spent = sum(one.tokens for one in calls)
    return asked, _gauge("ember_model_tokens_today", "Tokens of those requests and their answers.", spent)


def _free_bytes(place: str) -> int | None:
    """Of the disk that holds a file; None where the store is a server, or the disk does not tell."""
    try:
        return None if "://" in place else shutil.disk_usage(Path(place).absolute().parent).free
    except OSError:
        return None


def _age_s(now: datetime, then: datetime) -> float:
    return max(0.0, (now - then).total_seconds())


def _gauge(name: str, told: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, told, value=value)
