"""`embermem bench search`: the talk it fills with, the pool of vectors, and the figures it gives."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from embermem.embedders.hashed import HashedNgrams
from embermem.protocols import TokenVectors
from embermem_bench.search import Pooled, made_up_words, pooled, run
from embermem_bench.synthetic import questions, talk

if TYPE_CHECKING:
    from embermem.core.types import Vector, Vectors

SHORT, LONG = (20, 60), (150, 400)


class Counting:
    """An embedder with tokens that keeps what it was asked."""

    name, dim, token_dim = "counting", 4, 2

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self.embed_tokens(texts)[0]

    def embed_tokens(self, texts: Sequence[str]) -> tuple[Vectors, list[TokenVectors]]:
        first = len(self.asked)
        self.asked.extend(texts)
        vectors = np.arange(first, first + len(texts), dtype=np.float32)[:, None].repeat(self.dim, axis=1)
        return vectors, [TokenVectors(words=("tea",) * len(t), vectors=np.ones((len(t), 2), np.float32)) for t in texts]

    def embed_query(self, text: str) -> tuple[Vector, TokenVectors]:
        vectors, tokens = self.embed_tokens([text])
        return vectors[0], tokens[0]


def test_the_talk_is_the_same_for_the_same_seed_and_as_long_as_asked_for_and_its_words_keep_coming() -> None:
    words = made_up_words()
    first, again = (list(islice(talk(1, words, words=SHORT, answer_words=LONG), 400)) for _ in range(2))
    assert first == again
    for said in first:
        assert 20 <= len(said.query.split()) <= 100  # dates and numbers come on top
        assert 150 <= len(said.response.split()) <= 600
    assert all(a.at < b.at for a, b in pairwise(first))
    half = {word for said in first[:200] for word in said.response.lower().split()}
    assert len({word for said in first for word in said.response.lower().split()}) > 1.2 * len(half)
    assert len(set(questions(1, words, 80))) == 80


def test_a_pooled_embedder_gives_a_text_the_vectors_of_one_of_its_length_and_asks_no_more() -> None:
    real = Counting()
    embedder = pooled(real, ["a" * (1 + n) for n in range(400)])
    assert isinstance(embedder, Pooled)
    asked = list(real.asked)
    vectors, tokens = embedder.embed_tokens(["b" * 200, "c" * 200, "b" * 200])
    assert real.asked == asked
    assert (embedder.name, embedder.dim, embedder.token_dim) == (real.name, real.dim, real.token_dim)
    assert vectors[0].tolist() == vectors[2].tolist() != vectors[1].tolist()
    assert embedder.embed(["c" * 200]).tolist() == [vectors[1].tolist()]
    assert all(130 <= len(one.words) <= 270 for one in tokens)

    plain = HashedNgrams()
    assert pooled(plain, ["tea"]) is plain


@pytest.fixture(autouse=True)
def _hashed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBERMEM_EMBEDDER", "hashed")


@pytest.mark.proof
def test_each_size_is_measured_in_a_process_of_its_own(tmp_path: Path) -> None:
    report = run(tmp_path, HashedNgrams(), sizes=(60, 20), seconds=60.0)
    assert (report.embedder, report.complete, report.pool) == ("hashed-ngram-v1", True, 0)
    assert [point.utterances for point in report.points] == [20, 60]
    for point in report.points:
        assert point.pages == point.utterances / 2
        assert 0.0 < point.search_ms_least <= point.search_ms_p50 <= point.search_ms_p95
        assert point.recall_ms_p50 > 0.0
        assert point.cold_ms > 0.0
        assert point.resident_bytes_per_utterance > 1000
        assert point.disk_bytes_per_utterance > 1000


def test_when_the_time_is_over_it_tells_what_it_has(tmp_path: Path) -> None:
    report = run(tmp_path, HashedNgrams(), sizes=(20,), seconds=0.0)
    assert (report.complete, report.points) == (False, ())
