"""What a vector of two encoders says (`protocols.PairedEmbedder`): its parts, and how near two such vectors are.

The first encoder reads one language, the second all. Two texts that the first reads are compared by its part, every
other two by the second's. Of a single encoder the first part is the whole vector.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from embermem.core.vectors import SECOND_SHARE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from embermem.core.types import Vector, Vectors

    Floats = NDArray[np.float64]
    Mask = NDArray[np.bool_]

__all__ = ["FIRST_SCALE", "SECOND_SCALE", "read_by_second", "similarities", "similarities_among"]

FIRST_SCALE = (1.0 - SECOND_SHARE) ** -0.5
"""Gives the first part norm 1."""
SECOND_SCALE = SECOND_SHARE**-0.5
"""Gives the second part of a text that the first encoder reads norm 1."""


def read_by_second(vectors: Vectors | NDArray[np.int8], first_dim: int) -> Mask:
    """Which of these vectors (n, dim), or their codes, are of texts that only the second encoder reads, shape (n,)."""
    if first_dim == vectors.shape[1]:
        return np.zeros(len(vectors), dtype=bool)
    # Where the first number is not 0 the others need not be looked at: of nearly all.
    unread: Mask = np.asarray(vectors[:, 0] == 0)
    if unread.any():
        open_ = vectors[unread]
        unread[unread] = ~open_[:, :first_dim].any(axis=1) & open_[:, first_dim:].any(axis=1)
    return unread


def similarities(vectors: Vectors, vector: Vector, first_dim: int) -> Floats:
    """The cosine of each of these vectors (n, dim) and another (dim,), by the part that reads both texts; shape (n,).

    The two parts' cosines have nearly the same scale (embedders/pair.py).
    """
    alone: Floats = similarities_among(vectors, vector[None], first_dim)[:, 0]
    return alone


def similarities_among(vectors: Vectors, others: Vectors, first_dim: int) -> Floats:
    """The same of each of these vectors (n, dim) and each of the others (m, dim), shape (n, m)."""
    first = vectors[:, :first_dim] @ others[:, :first_dim].T
    if first_dim == others.shape[1]:
        return np.asarray(first, dtype=np.float64)
    by_second = read_by_second(vectors, first_dim)[:, None] | read_by_second(others, first_dim)
    if not by_second.any():
        return np.asarray(first * FIRST_SCALE**2, dtype=np.float64)
    one, other = vectors[:, first_dim:], others[:, first_dim:]
    lengths = np.outer(np.linalg.norm(one, axis=1), np.linalg.norm(other, axis=1))
    second = np.divide(one @ other.T, lengths, out=np.zeros_like(first), where=lengths > 0.0)
    return np.asarray(np.where(by_second, second, first * FIRST_SCALE**2), dtype=np.float64)
