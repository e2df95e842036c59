"""The figures of /metrics. No owner's name stands in any label."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeHistogramMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

from embermem.core.errors import StoreError
from embermem.memoryos.ingest.heat_sample import BOUNDS
from embermem.reports.cost import midnight_of

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from embermem.memory import Memory
    from embermem.memoryos.ingest.heat_sample import HeatSample

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Seconds: a recall takes milliseconds, a reply of a model many seconds."""


class Metrics:
    """The figures of one server, in a registry of its own."""

    def __init__(self, memory: Memory) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "ember_http_requests", "Requests answered.", ("method", "route", "status"), registry=self._registry
        )
        self._seconds = Histogram(
            "ember_http_request_seconds",
            "Time until a request was answered whole.",
            ("method", "route"),
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._registry.register(_OfMemory(memory))

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(seconds)

    def text(self) -> bytes:
        """All figures, as Prometheus reads them. Asks the store."""
        return generate_latest(self._registry)


class _OfMemory(Collector):
    """What the memory counts itself, asked when it is asked for."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def describe(self) -> Iterator[Metric]:
        yield from ()  # nothing is asked of the store when the registry is made

    def collect(self) -> Iterator[Metric]:
        done = CounterMetricFamily("ember_operations", "What was done with the memory here.", labels=("operation",))
        for name, count in sorted(self._memory.done.counts().items()):
            done.add_metric((name,), count)
        yield done
        yield _gauge("ember_resident_bytes", "Owners' indexes in memory.", self._memory.resident_bytes)
        placed = CounterMetricFamily("ember_pages_placed", "Pages placed into segments by this process.")
        placed.add_metric((), self._memory.pages_placed)
        yield placed
        yield from _of_heat(self._memory.heat)
        try:
            stats, today = self._memory.stats(), midnight_of(self._memory.now())
            calls = self._memory.call_sums(today, by=("purpose", "outcome"))
            lag_s = self._memory.replica_lag_s()
        except StoreError:
            yield _gauge("ember_store_up", "Whether the store could be read.", 0)
            return
        yield _gauge("ember_store_up", "Whether the store could be read.", 1)
        for name, told, value in (
            ("ember_store_bytes", "The store's files.", stats.bytes),
            ("ember_owners", "Pairs of user and agent.", stats.owners),
            ("ember_due_owners", "Owners whose pages wait to be understood.", stats.due),
            ("ember_pages", "Pages in the store.", stats.pages),
            ("ember_pending_pages", "Pages that left short-term memory and are in no segment yet.", stats.pending),
            ("ember_oldest_pending_seconds", "How long the oldest of them has been so.", stats.oldest_pending_s),
            ("ember_utterances", "Messages in the store.", stats.utterances),
            ("ember_utterances_without_vector", "Messages that no embedder has read yet.", stats.without_vector),
            ("ember_webhooks", "Webhooks.", stats.webhooks),
            (
                "ember_webhooks_retrying",
                "Webhooks whose last attempt failed and is made again.",
                stats.webhooks_retrying,
            ),
            ("ember_webhooks_stopped", "Webhooks that were stopped after their last attempt.", stats.webhooks_stopped),
            ("ember_store_unreachable", "Nodes of the database that do not answer.", len(stats.unreachable)),
        ):
            yield _gauge(name, told, value)
        if lag_s is not None:
            yield _gauge("ember_replica_lag_seconds", "How far this replica is behind its primary.", lag_s)
        asked = GaugeMetricFamily(
            "ember_model_calls_today",
            "Requests to the model since midnight, UTC.",
            labels=("purpose", "outcome"),
        )
        for one in sorted(calls, key=lambda one: (one.purpose or "", one.outcome or "")):
            asked.add_metric((one.purpose or "", one.outcome or ""), one.calls)
        yield asked
        spent = sum(one.tokens for one in calls)
        yield _gauge("ember_model_tokens_today", "Tokens of those requests and their answers.", spent)


def _of_heat(heat: HeatSample) -> Iterator[Metric]:
    """What the work of this process saw last. A scrape asks nobody for it."""
    buckets = [*zip(map(str, BOUNDS), heat.up_to, strict=True), ("+Inf", heat.segments)]
    told = "Heat of the segments of the owners whom this process worked on last."
    yield GaugeHistogramMetricFamily("ember_segment_heat", told, buckets=buckets, gsum_value=heat.total)
    yield _gauge("ember_segment_heat_max", "The greatest heat among them.", heat.hottest)
    yield _gauge("ember_segment_heat_owners", "How many owners these are.", heat.owners)
    promoted = CounterMetricFamily("ember_promotions", "Changes by which this process promoted pages of a segment.")
    promoted.add_metric((), heat.promotions)
    yield promoted
    evicted = CounterMetricFamily(
        "ember_evictions", "Segments that this process moved to the archive.", labels=("cause",)
    )
    for cause, count in sorted(heat.evictions.items()):
        evicted.add_metric((cause,), count)
    yield evicted


def _gauge(name: str, told: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, told, value=value)
