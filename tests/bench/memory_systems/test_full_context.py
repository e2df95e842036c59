"""Full context: all of the talk in the order in which it was said; with a window the newest that fits."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embermem import Scope
from embermem_bench.systems import OwnerSystem, SystemMemory, open_system
from memory_systems.conftest import fresh
from proofs import bounded

TALK = (("I saw a heron.", "Where was it?"), ("In the park.", "How lovely!"))
LINES = (
    "2026-05-02 #1 mia: I saw a heron.",
    "2026-05-02 #2 assistant: Where was it?",
    "2026-05-02 #3 mia: In the park.",
    "2026-05-02 #4 assistant: How lovely!",
)


def opened(folder: Path, **options: object) -> SystemMemory:
    return open_system(
        "full_context", folder / "full.db", options=options, embedder="hashed", background=False, token_counter="words"
    )


def told(memory: SystemMemory) -> OwnerSystem:
    mia = memory.of("mia")
    for query, response in TALK:
        mia.add(query, response, at="2026-05-02T10:00:00+00:00")
    mia.settle()
    return mia


def test_all_that_was_said_stands_in_its_order_as_far_as_the_window_or_a_budget_goes(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        context = told(memory).recall("Anything?")
        assert context.text == "\n".join(LINES)
        assert [hit.utterance.seq for hit in context.hits] == [4, 3, 2, 1]
        assert len(context.packed) == 4

    for window, first in bounded(
        [(28, 0), (27, 1), (5, 4)], proofs=[(28, 0), (27, 1), (20, 1), (19, 2), (13, 2), (12, 3), (5, 4)]
    ):
        # The lines have 7, 6, 6 and 5 words; each costs one more for its line break, 28 in all.
        with opened(fresh(tmp_path), window_tokens=window) as memory:
            mia = told(memory)
            assert mia.recall("Anything?").text == "\n".join(LINES[first:])
            assert mia.recall("Anything?", budget=1).text == ""

    with opened(fresh(tmp_path)) as memory:
        mia = told(memory)
        assert mia.recall("Anything?", budget=15).text == "\n".join(LINES[2:])
        assert mia.recall("Anything?", scope=Scope(before_seq=3)).text == "\n".join(LINES[:2])


def test_no_talk_is_too_long_unless_a_window_is_given(tmp_path: Path) -> None:
    """Half of the evidence of a long talk was lost in a window of 16,000 tokens."""
    with opened(tmp_path) as memory:
        mia = memory.of("mia")
        for number in range(20):
            mia.add(f"page {number} " + "word " * 1_000, at="2026-05-02T10:00:00+00:00")
        context = mia.recall("Anything?")
        assert context.tokens > 20_000
        assert [number for number in range(20) if f"page {number} " in context.text] == list(range(20))
        assert len(context.packed) == 20


@settings(max_examples=bounded(5, proofs=100))
@given(st.lists(st.integers(1, 12), min_size=1, max_size=12), st.integers(1, 80))
def test_the_window_holds_the_longest_end_of_the_talk_that_fits(
    tmp_path_factory: pytest.TempPathFactory, counts: list[int], window: int
) -> None:
    with opened(tmp_path_factory.mktemp("full"), window_tokens=window) as memory:
        mia = memory.of("mia")
        for count in counts:
            mia.add("word " * count, at="2026-05-02T10:00:00+00:00")
        costs = [count + 4 for count in counts]  # a day, a number, a name, a line break
        fitting = max(n for n in range(len(costs) + 1) if sum(costs[len(costs) - n :]) <= window)
        assert len(mia.recall("Anything?").text.splitlines()) == fitting
