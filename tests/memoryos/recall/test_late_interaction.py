"""Late interaction in the ranking, with token vectors of our own making: a word's vector is drawn from its stem, and
"bird" points nearly where "heron" does."""

from __future__ import annotations

import zlib
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from talking import Line, snapshot, unit

from embermem.core.config import load
from embermem.index.late import packed, stems_of
from embermem.index.snapshot import Snapshot
from embermem.index.tokens import counter
from embermem.memoryos.recall.retrieval import Query, Ranking, rank, recall
from embermem.protocols import TokenVectors

DEFAULT = load()
TOKEN_DIM = 32
FILLER = "birch cloud ditch ember fence gravel hedge island jetty kettle ladder meadow needle orchard pebble".split()
TALK = [Line(f"the {a} and the {b}", thread=f"t{i}") for i, (a, b) in enumerate(pairwise(FILLER))]


def drawn(word: str) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    own = np.random.default_rng(zlib.crc32((stems_of([word])[0] or word).encode())).normal(size=TOKEN_DIM)
    own /= np.linalg.norm(own)
    vector = drawn("heron") + 0.3 * own if word == "bird" else own
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def tokens(text: str) -> TokenVectors:
    words = tuple(text.lower().replace("?", " ?").split())
    return TokenVectors(words=words, vectors=np.array([drawn(word) for word in words], dtype=np.float32))


def memory(lines: list[Line]) -> Snapshot:
    """Every line has the same vector, so that only words and tokens tell them apart."""
    return snapshot(
        [replace(line, vector=(1,)) for line in lines],
        tokens=[packed(tokens(line.text)) for line in lines],
        token_dim=TOKEN_DIM,
    )


def asked(text: str) -> Query:
    return Query(text=text, vector=unit(1), tokens=tokens(text))


def first(ranking: Ranking) -> str:
    return ranking.hits[0].utterance.text


def test_a_word_that_means_nearly_the_same_is_found_and_the_rarest_decide() -> None:
    held = memory([*TALK, Line("a bird in the reeds", thread="x")])
    assert first(rank(held, asked("Where was the heron?"), DEFAULT)) == "a bird in the reeds"

    held = memory([*TALK, *(Line(f"heron number {i}", thread=f"h{i}") for i in range(5))])
    few = replace(DEFAULT, late_candidates=3)
    assert first(rank(held, asked("the heron"), few)).startswith("heron number")

    held = memory([*TALK, Line("the heron", speaker="Meadow", thread="x")])
    ranking = rank(held, asked("What did Meadow see?"), DEFAULT)
    late = {hit.utterance.text: hit.channels["late"].raw for hit in ranking.hits}
    assert late["the meadow and the needle"] < 0.9

    bare = snapshot([replace(line, vector=(1,)) for line in TALK])
    ranking = rank(bare, Query(text="the meadow", vector=unit(1)), DEFAULT)
    assert {hit.channels["late"].normalised for hit in ranking.hits} == {0.0}
    assert "meadow" in first(ranking)


def test_explain_says_the_rank_without_each_channel() -> None:
    held = memory([*TALK, Line("a bird in the reeds", thread="x")])
    context = recall(held, replace(asked("Where was the heron?"), budget=200), DEFAULT, counter("words"))
    best = context.hits[0]
    shares = best.channels
    total = sum(share.weight * share.normalised for share in shares.values())
    assert best.score == pytest.approx(total)
    assert shares["late"].rank_without is not None
    assert shares["late"].normalised > 3.0
    assert shares["date"].rank_without == 1
    assert "rank without it" in str(context.explain(best))

    held = memory([*TALK, Line("Did you see the heron?", thread="x"), Line("at the jetty by the reeds", thread="x")])
    query = asked("the heron and the ladder")
    ranking = rank(held, query, replace(DEFAULT, recall_told=0.0))
    assert {*ranking.hits[0].channels} == {"dense", "window", "late", "speaker", "date", "length", "told"}
    for name in ("window", "late"):
        silent = rank(held, query, replace(DEFAULT, recall_told=0.0, **{f"recall_{name}": 0.0}))  # type: ignore[arg-type]
        scores = {hit.utterance.id: hit.score for hit in silent.hits}
        for hit in ranking.hits[:5]:
            above = sum(score > scores[hit.utterance.id] + 1e-9 for score in scores.values())
            assert hit.channels[name].rank_without == 1 + above, name
