"""Facts as a query sees them."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from embermem.core.types import About, Fact, FactId, Persona, Source, UtteranceId
from embermem.index.facts import FactTable

AT = datetime(2026, 5, 2, 9, tzinfo=UTC)
WORDS = ("heron", "kayak", "trombone", "lantern")


def fact(text: str, *seqs: int) -> Fact:
    return Fact(
        id=FactId(f"{text} {seqs}"),
        about=About.USER,
        subject="user",
        attribute="observed",
        value=text,
        text=text,
        sources=tuple(Source(seq=seq, utterance_id=UtteranceId(f"u{seq}")) for seq in seqs),
        valid_from=None,
        valid_to=None,
        recorded_at=AT,
    )


@given(
    said=st.lists(st.integers(1, 9), unique=True, max_size=6).map(sorted),
    scores=st.lists(st.sampled_from([-np.inf, -1.0, 0.0, 2.0]), min_size=6, max_size=6),
    rests_on=st.lists(st.lists(st.integers(0, 10), max_size=3), max_size=5),
)
def test_the_best_source_is_the_first_of_the_highest_score_among_what_is_there(
    said: list[int], scores: list[float], rests_on: list[list[int]]
) -> None:
    table = FactTable().replaced(
        Persona(facts=tuple(fact(f"a heron {number}", *seqs) for number, seqs in enumerate(rests_on))), ()
    )
    highest, rows = table.best(np.array(said, dtype=np.int64), np.array(scores[: len(said)]))
    for best, row, seqs in zip(highest.tolist(), rows.tolist(), rests_on, strict=True):
        there = [said.index(seq) for seq in seqs if seq in said and np.isfinite(scores[said.index(seq)])]
        assert row == max(there, key=lambda one: scores[one], default=-1)
        assert best == (scores[row] if there else -np.inf)
