"""Late interaction: how near each word of a query comes to the nearest word of an utterance (MaxSim).

Idea: Khattab and Zaharia, ColBERT, arXiv 2004.12832. The token vectors of an utterance's content words are kept in
4 bits a dimension. bench/scripts/fit_recall.sh --without measures what the channel gives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from embermem.index.products import rows_alone
from embermem.languages.words import search_terms, vocabularies

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from embermem.protocols import TokenVectors

    Codes = NDArray[np.uint8]
    Floats = NDArray[np.float32]

__all__ = ["inverse_lengths", "max_sims", "packed", "squares_of", "stems_of"]

_STEPS = 7
"""A dimension is one of −7 … 7, kept as 1 … 15 in half a byte."""
_ZERO = _STEPS + 1
_SQUARES = np.array([((byte & 15) - _ZERO) ** 2 + ((byte >> 4) - _ZERO) ** 2 for byte in range(256)], dtype=np.uint8)
"""What each byte adds to the square of its vector's length: 128 at most."""
_IN_CACHE = 512
"""Tokens looked at together: their numbers stay in the processor's cache."""


def stems_of(words: Sequence[str]) -> list[str | None]:
    """The term that each token's word of a text is for BM25; None for function words and punctuation, which late
    interaction leaves out."""
    known = vocabularies(" ".join(words))
    return [next(iter(search_terms(word, known)), None) for word in words]


def packed(tokens: TokenVectors) -> bytes:
    """The vectors of the content words: two dimensions a byte, the first half in the low bits.

    Each vector is scaled by its own largest number; the scale is not kept, because only the direction counts. A text
    without a content word gets one vector of zeros: it is known to come near nothing.
    """
    content = [i for i, stem in enumerate(stems_of(tokens.words)) if stem is not None]
    if not content:
        return bytes([_ZERO | _ZERO << 4] * (tokens.vectors.shape[1] // 2))
    vectors = tokens.vectors[content]
    scale = _STEPS / np.maximum(np.abs(vectors).max(axis=1, keepdims=True), 1e-9)
    codes = (np.rint(vectors * scale) + _ZERO).astype(np.uint8)
    half = codes.shape[1] // 2
    return bytes((codes[:, :half] | (codes[:, half:] << 4)).tobytes())


def squares_of(codes: Codes) -> NDArray[np.uint16]:
    """The square of the length of each packed vector (t, token_dim / 2), shape (t,)."""
    squares = np.empty(len(codes), dtype=np.uint16)
    for start in range(0, len(codes), _IN_CACHE):
        squares[start : start + _IN_CACHE] = _SQUARES[codes[start : start + _IN_CACHE]].sum(axis=1, dtype=np.int32)
    return squares


def inverse_lengths(squares: NDArray[np.uint16]) -> Floats:
    """1 over each length, of its square."""
    return np.asarray(1.0 / np.sqrt(np.maximum(squares, 1).astype(np.float32)), dtype=np.float32)


def max_sims(codes: Codes, norms: Floats, starts: NDArray[np.int64], query: Floats) -> Floats:
    """The highest cosine of each of the query's vectors (q, token_dim) among each text's tokens, shape (texts, q).

    The tokens of text i are `codes[starts[i]:starts[i + 1]]`, the last one's to the end; every text has one at least.
    """
    half = codes.shape[1]
    near = np.empty((len(codes), len(query)), dtype=np.float32)
    columns = np.ascontiguousarray(query.T)
    # What is taken apart stays in the processor's cache until it is multiplied, in the caller's thread.
    at_once = min(_IN_CACHE, rows_alone(columns.size))
    halves = np.empty((at_once, half), dtype=np.uint8)
    numbers = np.empty((at_once, 2 * half), dtype=np.float32)
    for start in range(0, len(codes), at_once):
        block = codes[start : start + at_once]
        n = len(block)
        numbers[:n, :half] = np.bitwise_and(block, 15, out=halves[:n])
        numbers[:n, half:] = np.right_shift(block, 4, out=halves[:n])
        np.matmul(numbers[:n], columns, out=near[start : start + n])
    near -= _ZERO * query.sum(axis=1)
    near *= norms[:, None]
    return np.asarray(np.maximum.reduceat(near, starts, axis=0))
