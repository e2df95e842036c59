"""The figures of /metrics. No owner's name stands in any label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeHistogramMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

from embermem.http.store_metrics import StoreMetrics
from embermem.memoryos.ingest.heat_sample import BOUNDS

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from embermem.memory import Memory
    from embermem.memoryos.ingest.heat_sample import HeatSample
    from embermem.memoryos.ingest.work_watch import WorkCounts
    from embermem.pulse import Pulse

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Seconds: a recall takes milliseconds, a reply of a model many seconds."""


class Metrics:
    """The figures of one server or worker, in a registry of its own; with the `pulse` of a worker's threads also what
    they tell."""

    def __init__(self, memory: Memory, pulse: Pulse | None = None) -> None:
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
        if pulse is not None:
            self._registry.register(_OfPulse(pulse))

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(seconds)

    def text(self) -> bytes:
        """All figures, as Prometheus reads them. Asks the store."""
        return generate_latest(self._registry)


class _OfMemory(Collector):
    """What the memory counts itself, and the store with it, asked when it is asked for."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._store = StoreMetrics(memory)

    def describe(self) -> Iterator[Metric]:
        yield from ()  # nothing is asked of the store when the registry is made

    def collect(self) -> Iterator[Metric]:
        memory = self._memory
        told = "What was done with the memory here."
        yield _counter("ember_operations", told, "operation", memory.done.counts())
        yield _gauge("ember_resident_bytes", "Owners' indexes in memory.", memory.resident_bytes)
        yield _gauge("ember_mapped_bytes", "Of these, mapped files of indexes.", memory.mapped_bytes)
        yield _total("ember_pages_placed", "Pages placed into segments by this process.", memory.pages_placed)
        yield from _of_heat(memory.heat)
        yield from _of_work(memory.work_counts)
        told = "Attempts of this process to deliver to webhooks."
        yield _counter("ember_webhook_deliveries", told, "outcome", memory.deliveries.counts())
        yield from self._store.families()


class _OfPulse(Collector):
    """What a worker's threads tell of themselves."""

    def __init__(self, pulse: Pulse) -> None:
        self._pulse = pulse

    def describe(self) -> Iterator[Metric]:
        yield from ()

    def collect(self) -> Iterator[Metric]:
        state = self._pulse.state()
        yield _gauge("ember_worker_threads", "Threads of this worker.", state.threads)
        told = "How long the most silent of them has given no sign of life."
        yield _gauge("ember_worker_silent_seconds", told, state.silent_s)
        yield _total("ember_worker_rounds", "Rounds in which a thread did all that was due.", state.rounds)
        if state.last_round_s is not None:
            yield _gauge("ember_worker_last_round_seconds", "How long ago the last round ended.", state.last_round_s)
        told = "Rounds that ended with an error, by its class."
        yield _counter("ember_worker_errors", told, "kind", state.failures)


def _of_work(counts: WorkCounts) -> Iterator[Metric]:
    yield _total("ember_utterances_embedded", "Messages that this process has embedded.", counts.embedded)
    told = "Turns of an owner that ended with an error in this process, by its class."
    yield _counter("ember_turn_errors", told, "kind", counts.failures)
    told = "Owners that this process lost to another worker, at the claim or during the work."
    yield _counter("ember_claims_lost", told, "when", counts.lost)
    yield _gauge("ember_leases", "Leases that this process holds.", counts.leases)
    told = "How long the oldest of them has been held."
    yield _gauge("ember_oldest_lease_seconds", told, counts.oldest_lease_s)


def _of_heat(heat: HeatSample) -> Iterator[Metric]:
    """What the work of this process saw last. A scrape asks nobody for it."""
    buckets = [*zip(map(str, BOUNDS), heat.up_to, strict=True), ("+Inf", heat.segments)]
    told = "Heat of the segments of the owners whom this process worked on last."
    yield GaugeHistogramMetricFamily("ember_segment_heat", told, buckets=buckets, gsum_value=heat.total)
    yield _gauge("ember_segment_heat_max", "The greatest heat among them.", heat.hottest)
    yield _gauge("ember_segment_heat_owners", "How many owners these are.", heat.owners)
    yield _total("ember_promotions", "Changes by which this process promoted pages of a segment.", heat.promotions)
    told = "Segments that this process moved to the archive."
    yield _counter("ember_evictions", told, "cause", heat.evictions)


def _gauge(name: str, told: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, told, value=value)


def _total(name: str, told: str, count: int) -> CounterMetricFamily:
    return CounterMetricFamily(name, told, value=count)


def _counter(name: str, told: str, label: str, counts: Mapping[str, int]) -> CounterMetricFamily:
    found = CounterMetricFamily(name, told, labels=(label,))
    for value, count in sorted(counts.items()):
        found.add_metric((value,), count)
    return found
