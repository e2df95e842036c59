"""Spans: what they tell, what they never tell, and that they cost nothing where nobody listens."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from embermem.core.errors import InputError, NotFound
from scripted import Opener

_EXPORTER = InMemorySpanExporter()


@pytest.fixture(scope="session", autouse=True)
def _provider() -> None:
    """OpenTelemetry takes one provider a process: whoever is first sets it."""
    provider = trace.get_tracer_provider()
    if not isinstance(provider, TracerProvider):
        provider = TracerProvider()
        trace.set_tracer_provider(provider)
    provider.add_span_processor(SimpleSpanProcessor(_EXPORTER))


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    """Where spans end up."""
    _EXPORTER.clear()
    yield _EXPORTER
    _EXPORTER.clear()


def told(span: ReadableSpan) -> dict[str, object]:
    """A span's attributes."""
    return dict(span.attributes or {})


def test_each_operation_is_a_span_in_the_words_of_the_conventions(opened: Opener, spans: InMemorySpanExporter) -> None:
    alice = opened().of("alice")
    page = alice.add("I like herons. I live in Lyon.", "Noted.")
    added = alice.add_messages([{"role": "user", "content": "And owls."}, {"role": "user", "content": "And cranes."}])
    context = alice.recall("What do I like?")
    hits = alice.search("herons", k=2)
    store = alice.owner.id
    assert [(span.name, told(span)) for span in spans.get_finished_spans()] == [
        (
            "create_memory",
            {
                "gen_ai.operation.name": "create_memory",
                "gen_ai.memory.store.id": store,
                "gen_ai.memory.record.id": page,
            },
        ),
        (
            "create_memory",
            {
                "gen_ai.operation.name": "create_memory",
                "gen_ai.memory.store.id": store,
                "gen_ai.memory.record.count": len(added.utterance_ids),
            },
        ),
        (
            "search_memory",
            {
                "gen_ai.operation.name": "search_memory",
                "gen_ai.memory.store.id": store,
                "gen_ai.memory.record.count": len(context.packed) + len(context.facts),
            },
        ),
        (
            "search_memory",
            {
                "gen_ai.operation.name": "search_memory",
                "gen_ai.memory.store.id": store,
                "gen_ai.memory.record.count": len(hits),
            },
        ),
    ]


def test_correcting_and_forgetting_are_spans_too(opened: Opener, spans: InMemorySpanExporter) -> None:
    alice = opened().of("alice")
    alice.add("I live in Lyon.", "Noted.")
    alice.settle()
    fact = alice.facts()[0]
    spans.clear()
    new = alice.correct(fact.id, "The user lives in Paris", value="Paris")
    alice.forget(fact=new.id, dry_run=True)
    gone = alice.forget(fact=new.id)
    update, previewed, deleted = [told(span) for span in spans.get_finished_spans()]
    assert (update["gen_ai.operation.name"], update["gen_ai.memory.record.id"]) == ("update_memory", new.id)
    assert (previewed["gen_ai.operation.name"], previewed["gen_ai.memory.record.count"]) == ("delete_memory", 0)
    assert deleted["gen_ai.memory.record.count"] == len(gone.utterances) + len(gone.facts)


def test_no_text_is_told_unless_a_setting_says_so(opened: Opener, spans: InMemorySpanExporter) -> None:
    for n, trace_text in enumerate([False, True]):
        alice = opened(f"{n}.db", trace_text=trace_text).of("alice-4711")
        alice.add("I like heron-1.", "Noted.")
        alice.recall("heron-2?")
        alice.search(query="heron-3?")
        whole = "".join(span.to_json() for span in spans.get_finished_spans())
        assert "heron-1" not in whole
        assert "4711" not in whole
        assert ("heron-2" in whole, "heron-3" in whole) == (trace_text, trace_text)


def test_an_error_is_told_by_its_kind_and_not_by_its_words(opened: Opener, spans: InMemorySpanExporter) -> None:
    alice = opened().of("alice")
    with pytest.raises(InputError):
        alice.search("heron-4711", k=0)
    with pytest.raises(NotFound):
        alice.correct("heron-4711", "x")
    for span, kind in zip(spans.get_finished_spans(), ("InputError", "NotFound"), strict=True):
        assert told(span)["error.type"] == kind
        assert span.status.status_code is trace.StatusCode.ERROR
        assert "heron" not in span.to_json()


def test_spans_stand_under_the_caller_s(opened: Opener, spans: InMemorySpanExporter) -> None:
    with trace.get_tracer("caller").start_as_current_span("turn") as turn:
        opened().of("alice").recall("x")
    inner = spans.get_finished_spans()[0]
    assert inner.parent is not None
    assert inner.parent.span_id == turn.get_span_context().span_id


def test_only_what_ended_well_is_counted(opened: Opener) -> None:
    memory = opened()
    alice = memory.of("alice")
    alice.add("I like herons.")
    alice.recall("x")
    with pytest.raises(InputError):
        alice.recall("x", budget=0)
    assert memory.done.counts() == {"add": 1, "recall": 1}


def test_ember_itself_never_imports_opentelemetry(tmp_path: Path) -> None:
    does = """
import sys
from embermem import Memory
with Memory(sys.argv[1], embedder="hashed", background=False) as memory:
    memory.of("alice").add("I like herons.", "Noted.")
    memory.of("alice").recall("herons?")
assert not [name for name in sys.modules if name.startswith("opentelemetry")]
"""
    subprocess.run([sys.executable, "-c", does, str(tmp_path / "memory.db")], check=True, timeout=60)
