"""Vectors of short texts that nothing stores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from embermem.index.vectors import TextVectors


class Counting:
    """An embedder whose vector of a text is its length, and which keeps what it was asked for."""

    name = "counting"
    dim = 2

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
        self.asked.append(list(texts))
        return np.array([[len(text), 0] for text in texts], dtype=np.float32)


def test_each_text_is_embedded_once_and_the_order_is_that_of_the_question() -> None:
    embedder = Counting()
    vectors = TextVectors(embedder, 10)
    assert vectors.of(["a", "bbb", "a"]).tolist() == [[1, 0], [3, 0], [1, 0]]
    assert vectors.of(["bbb", "cc"]).tolist() == [[3, 0], [2, 0]]
    assert embedder.asked == [["a", "bbb"], ["cc"]]
    assert vectors.of([]).shape == (0, 2)


def test_those_used_last_are_kept() -> None:
    embedder = Counting()
    vectors = TextVectors(embedder, 2)
    vectors.of(["a", "bb"])
    vectors.of(["a"])
    vectors.of(["ccc"])  # bb leaves
    vectors.of(["a", "bb"])
    assert embedder.asked == [["a", "bb"], ["ccc"], ["bb"]]
