"""What facts lend to the utterances they rest on."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embermem.core.types import About, Fact, FactId, Persona, Source, UtteranceId
from embermem.index.facts import FactTable
from embermem.languages.words import terms

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


def lent(
    facts: Sequence[Fact], said: Sequence[str], asked: dict[str, float], hidden: Sequence[int] = ()
) -> list[float]:
    """What each utterance (seq from 1) is lent."""
    table = FactTable().replaced(Persona(facts=tuple(facts)), ())
    allowed = np.array([row not in hidden for row in range(len(said))], dtype=bool) if hidden else None
    sources = table.sources(np.arange(1, len(said) + 1), allowed)
    holds = [frozenset(terms(text)) for text in said]

    def holders(term: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.array([row for row, words in enumerate(holds) if term in words], dtype=np.int64)

    return [float(one) for one in table.lent(asked, holders, sources)]


def test_a_fact_lends_the_words_that_its_utterance_lacks() -> None:
    said = ["the heron came back", "it came back", "rain"]
    facts = [fact("saw a heron", 1), fact("saw a heron", 2)]
    assert lent(facts, said, {"heron": 1.0, "lantern": 3.0}) == [0.0, 0.5, 0.0]


def test_of_several_facts_the_one_that_says_most_counts() -> None:
    facts = [fact("a heron and a kayak", 1), fact("a heron", 1), fact("a trombone", 1)]
    assert lent(facts, ["yes"], {"heron": 1.0, "kayak": 1.0}) == [2.0]


def test_a_fact_that_rests_on_what_may_not_be_seen_lends_nothing() -> None:
    both, later, own = fact("a heron", 1, 2), fact("a heron", 1, 9), fact("a heron", 3)
    assert lent([both, later], ["a", "b", "c"], {"heron": 1.0}, hidden=[1]) == [0.0, 0.0, 0.0]
    assert lent([both, own], ["a", "b", "c"], {"heron": 1.0}, hidden=[1]) == [0.0, 0.0, 2.0]


def test_without_facts_utterances_or_sources_nothing_is_lent() -> None:
    for facts, said in [([], ["a"]), ([fact("a heron", 1)], []), ([fact("a heron")], ["a"])]:
        assert lent(facts, said, {"heron": 1.0}) == [0.0] * len(said)
        assert lent(facts, said, {}) == [0.0] * len(said)


_texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
_noted = st.tuples(_texts, st.sets(st.integers(1, 7), min_size=1, max_size=3))


@given(
    said=st.lists(_texts, max_size=6),
    noted=st.lists(_noted, max_size=6),
    asked=st.dictionaries(st.sampled_from([terms(w)[0] for w in WORDS]), st.floats(0.1, 5.0), min_size=1),
)
def test_arrays_say_what_the_rule_says(
    said: list[str], noted: list[tuple[str, set[int]]], asked: dict[str, float]
) -> None:
    facts = [fact(f"{text} {number}", *sorted(seqs)) for number, (text, seqs) in enumerate(noted)]
    expected = [0.0] * len(said)
    for text, seqs in noted:
        for seq in seqs if max(seqs) <= len(said) else ():
            heard = sum(w * (0 if t in terms(said[seq - 1]) else 2) for t, w in asked.items() if t in terms(text))
            expected[seq - 1] = max(expected[seq - 1], heard / sum(asked.values()))
    assert lent(facts, said, asked) == pytest.approx(expected)


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
