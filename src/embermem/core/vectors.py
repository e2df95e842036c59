"""How a page gets its vector."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from embermem.core.types import Vector, Vectors

__all__ = ["page_vector"]


def page_vector(vectors: Vectors) -> Vector:
    """A page's vector: the mean of its utterances' vectors (n, dim), with L2 norm 1.

    Rows of norm 0 (nothing to embed) do not count; without any other the vector is 0, shape (dim,).
    """
    total = np.asarray(vectors, dtype=np.float32).sum(axis=0)
    norm = float(np.sqrt(total @ total))
    return np.asarray(total / norm if norm > 0.0 else total, dtype=np.float32)
