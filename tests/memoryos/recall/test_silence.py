"""Recall in mode `inject`: what is put before a model unasked may be nothing."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from talking import Line, snapshot

from embermem import Memory
from embermem.core.config import load
from embermem.core.errors import InputError
from embermem.index.query_context import Query
from embermem.index.tokens import counter
from embermem.memoryos.recall.retrieval import recall
from embermem.protocols import Needs

LINES = [Line("I moved to Lyon in spring."), Line("We saw a heron by the lake.", thread="b")]
NOTHING = Needs(advice=0.0, now=0.0, several=0.0, past=0.0, nothing=1.0, tells=0.0)
ASKS = Needs(advice=0.0, now=1.0, several=0.0, past=0.0, nothing=0.0, tells=0.0)


@dataclass(frozen=True)
class Case:
    query: str
    needs: Needs | None
    told: bool


@pytest.mark.parametrize(
    "case",
    [
        Case("Write a haiku about rain.", NOTHING, False),
        Case("How high does a heron fly?", NOTHING, False),
        Case("Where is the heron?", ASKS, True),
        Case("Thanks a lot!", None, False),
        Case("Where is the heron?", None, True),
    ],
    ids=lambda case: case.query,
)
def test_a_message_that_needs_no_memory_gets_nothing_and_is_told_why(case: Case) -> None:
    asked = Query(text=case.query, budget=300, needs=case.needs, mode="inject")
    context = recall(snapshot(LINES), asked, load(), counter("words"))
    assert bool(context.text) is case.told
    if not case.told:
        assert (context.tokens, context.hits, context.packed, context.facts, context.rests_on) == (0, (), (), (), ())
        assert "nothing was told" in context.notes[-1]
        assert context.notes[-1] in str(context.explain())

    whole = recall(snapshot(LINES), Query(text=case.query, budget=300, needs=case.needs), load(), counter("words"))
    assert whole.hits


def test_a_turn_that_rests_on_others_of_its_thread_is_never_silent() -> None:
    asked = Query(text="And there?", budget=300, needs=NOTHING, mode="inject", before=("Where is the heron?",))
    assert recall(snapshot(LINES), asked, load(), counter("words")).text


def test_another_mode_is_refused() -> None:
    with (
        Memory(":memory:", embedder="hashed", background=False) as memory,
        pytest.raises(InputError, match="mode = 'quiet' is not allowed; one of: ask, inject"),
    ):
        memory.of("alice").recall("Where?", mode="quiet")  # type: ignore[arg-type]
