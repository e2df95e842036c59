from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embermem.index.late import inverse_lengths, max_sims, packed, squares_of, stems_of
from embermem.protocols import TokenVectors

TOKEN_DIM = 128


def tokens(words: list[str], seed: int = 0) -> TokenVectors:
    vectors = np.random.default_rng(seed).normal(size=(len(words), TOKEN_DIM)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return TokenVectors(words=tuple(words), vectors=vectors)


def codes(data: bytes) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    return np.frombuffer(data, dtype=np.uint8).reshape(-1, TOKEN_DIM // 2)


def test_half_a_byte_a_dimension_keeps_the_direction() -> None:
    said = tokens([f"heron{i}" for i in range(50)])
    kept = codes(packed(said))
    sims = max_sims(kept, inverse_lengths(squares_of(kept)), np.arange(50), said.vectors)
    assert np.diag(sims).min() > 0.98
    assert np.abs(sims - said.vectors @ said.vectors.T).max() < 0.05


def test_function_words_and_punctuation_are_not_kept() -> None:
    assert len(codes(packed(tokens(["the", "heron", ",", "was", "here", "?"])))) == 1


def test_a_text_without_a_content_word_is_known_to_come_near_nothing() -> None:
    for nothing in (["the", "?"], []):
        kept = codes(packed(tokens(nothing)))
        assert kept.shape == (1, TOKEN_DIM // 2)
        sims = max_sims(kept, inverse_lengths(squares_of(kept)), np.array([0]), tokens(["heron"]).vectors)
        assert sims.tolist() == [[pytest.approx(0.0, abs=1e-6)]]


def test_a_chinese_character_is_a_word() -> None:
    assert stems_of(["鸟", "herons", "heron", "。"]) == ["鸟", "heron", "heron", None]


def test_the_nearest_token_of_each_text_counts() -> None:
    here, there = tokens(["reed", "heron"], seed=1), tokens(["lake"], seed=2)
    kept = np.concatenate([codes(packed(here)), codes(packed(there))])
    sims = max_sims(
        kept, inverse_lengths(squares_of(kept)), np.array([0, 2]), np.stack([here.vectors[1], there.vectors[0]])
    )
    assert sims.shape == (2, 2)
    assert sims[0, 0] == pytest.approx(1.0, abs=0.02)
    assert sims[1, 1] == pytest.approx(1.0, abs=0.02)
    assert sims[0, 1] == pytest.approx(float((here.vectors @ there.vectors[0]).max()), abs=0.05)


@given(st.lists(st.lists(st.floats(-1, 1, width=32), min_size=8, max_size=8), min_size=1, max_size=6))
def test_whatever_is_packed_has_cosines_within_one(rows: list[list[float]]) -> None:
    vectors = np.array(rows, dtype=np.float32)
    data = packed(TokenVectors(words=tuple(f"w{i}" for i in range(len(rows))), vectors=vectors))
    kept = np.frombuffer(data, dtype=np.uint8).reshape(-1, 4)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    query = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 1e-6)
    sims = max_sims(kept, inverse_lengths(squares_of(kept)), np.array([0]), query)
    assert np.isfinite(sims).all()
    assert np.abs(sims).max() <= 1.0 + 1e-4
