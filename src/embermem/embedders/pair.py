"""MiniLM and USE multilingual side by side: English as MiniLM reads it, every other language as USE does.

A vector holds both: first MiniLM's 384 numbers, then USE's 512. They weigh so that the product of two vectors is
MiniLM's cosine for two English texts and USE's for two texts in other languages; one of each has a product near 0, and
recall compares them by USE's part alone (`index/pairs.py`). The two cosines have nearly the same scale: unrelated
texts 0.10 and 0.07 to 0.13 (deviation 0.08 in both), neighbours in a conversation 0.20 and 0.10 to 0.21.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from embermem import languages
from embermem.core.vectors import SECOND_SHARE
from embermem.embedders.minilm import MiniLM
from embermem.embedders.use import UseMultilingual
from embermem.protocols import TokenVectors

if TYPE_CHECKING:
    from embermem.core.types import Vectors

__all__ = ["MiniLMWithUse"]

# Share of a text that must be in English for MiniLM to read it.
READ = 0.5


class MiniLMWithUse:
    """all-MiniLM-L6-v2 for English, USE multilingual v3 for every language: 384 + 512 dimensions, L2 norm 1.

    Of English text 0.01 % of the square of a vector's length is USE's part, of other text all of it. Safe to call
    from several threads.
    """

    def __init__(self, first: MiniLM | None = None, second: UseMultilingual | None = None) -> None:
        self._first = MiniLM() if first is None else first
        self._second = UseMultilingual() if second is None else second

    @property
    def name(self) -> str:
        """The models' names: "all-MiniLM-L6-v2+use-multilingual-v3"."""
        return f"{self._first.name}+{self._second.name}"

    @property
    def dim(self) -> int:
        """896."""
        return self._first.dim + self._second.dim

    @property
    def first_dim(self) -> int:
        """384: how many of a vector's numbers are MiniLM's."""
        return self._first.dim

    @property
    def token_dim(self) -> int:
        """128, of both."""
        return self._first.token_dim

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (len(texts), 896), L2 norm 1; a zero vector for a text that neither has a piece of.

        Raises EmbedderMissing if weights are not installed, EmbedderError if they cannot be used.
        """
        read = _read(texts)
        first = self._first.embed([texts[i] for i in read])
        return self._joined(read, first, self._second.embed(texts))

    def embed_tokens(self, texts: Sequence[str]) -> tuple[Vectors, list[TokenVectors]]:
        """What `embed` gives, and each text's tokens: MiniLM's for a text in English, with USE's as their `second`;
        USE's alone for another. Raises as `embed` does."""
        read = _read(texts)
        first, by_first = self._first.embed_tokens([texts[i] for i in read])
        second, tokens = self._second.embed_tokens(texts)
        tokens = [replace(one, encoder=1) for one in tokens]
        for place, one in zip(read, by_first, strict=True):
            tokens[place] = replace(one, second=tokens[place])
        return self._joined(read, first, second), tokens

    def _joined(self, read: Sequence[int], first: Vectors, second: Vectors) -> Vectors:
        vectors = np.zeros((len(second), self.dim), dtype=np.float32)
        vectors[:, self.first_dim :] = second
        known = np.asarray(read, dtype=np.int64)[first.any(axis=1)]
        vectors[known, self.first_dim :] *= SECOND_SHARE**0.5
        alone = ~second[known].any(axis=1)
        weights = np.where(alone, 1.0, (1.0 - SECOND_SHARE) ** 0.5).astype(np.float32)
        vectors[known, : self.first_dim] = first[first.any(axis=1)] * weights[:, None]
        return vectors


def _read(texts: Sequence[str]) -> list[int]:
    """Which of the texts are in English."""
    return [i for i, text in enumerate(texts) if languages.readable(text, "en") >= READ]
