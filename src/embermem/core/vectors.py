"""How a page gets its vector, and what a segment's is called by what it was made from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from embermem.core.types import Vector, Vectors

__all__ = ["SECOND_SHARE", "of_summaries", "page_vector"]

SECOND_SHARE = 1e-4
"""Of a pair of encoders (`protocols.PairedEmbedder`): the share of the square of a vector's length that is the second's
part where the first reads the text. It is small, so that products of such vectors are the first's cosine to 0.0001, and
large enough for 11 bits of each number in float16, as stores keep them."""


def of_summaries(embedder: str) -> str:
    """What vectors of segments' summaries are stored under; sums of pages' vectors, under the embedder's own name."""
    return f"{embedder}, of summaries"


def page_vector(vectors: Vectors) -> Vector:
    """A page's vector: the mean of its utterances' vectors (n, dim), with L2 norm 1.

    Rows of norm 0 (nothing to embed) do not count; without any other the vector is 0, shape (dim,).
    """
    total = np.asarray(vectors, dtype=np.float32).sum(axis=0)
    norm = float(np.sqrt(total @ total))
    return np.asarray(total / norm if norm > 0.0 else total, dtype=np.float32)
