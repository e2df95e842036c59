"""Vectors as stores hold them: 8 bits a number, rounded once, where they are made.

Each number of a vector is a whole multiple, −127 … 127, of the vector's step, which is a power of two. Such numbers are
exact in half precision too, so that every engine holds the same ones, whether it keeps bytes or pgvector's `halfvec`,
and equal vectors have equal bytes.

The bytes (`stored`): the codes; the exponent of the step; 0; how many numbers there are, little-endian; 1. Bytes of
another form are refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from embermem.core.vectors import dequantized, quantized

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from embermem.core.types import Vector, Vectors

    Codes = NDArray[np.int8]

__all__ = ["TAIL", "StoredVectors", "codes_of", "halves_of", "rounded", "stored", "stored_rows", "vector_of"]

TAIL = 5
"""Bytes after the codes."""
_HALF = np.dtype("<f2")
_FINEST = 24
"""Half precision holds no number smaller than 2^−24."""
_MOST = float(np.finfo(_HALF).max)
_LONGEST = 0xFFFF


def rounded(vectors: Vectors) -> Vectors:
    """The nearest vectors (n, dim) that are stored exactly, float32. What was rounded once is not changed when it is
    rounded again."""
    whole = np.ldexp(np.rint(np.ldexp(np.asarray(vectors, dtype=np.float32), _FINEST)), -_FINEST)
    return dequantized(*quantized(whole))


def stored(vector: Vector) -> bytes:
    """The bytes of a vector (dim,), `rounded`. Raises ValueError for numbers that have no code."""
    return stored_rows(vector[None])[0]


def stored_rows(vectors: Vectors) -> list[bytes]:
    """The same of each of some vectors (n, dim)."""
    numbers = np.asarray(vectors, dtype=np.float32)
    n, dim = numbers.shape
    if not 0 < dim <= _LONGEST:
        raise ValueError(f"a vector has {dim} numbers; 1 to {_LONGEST} can be stored")
    if not (np.abs(numbers) <= _MOST).all():
        raise ValueError(f"a vector has a number that is not finite, or above {_MOST:.0f}")
    codes, exponents = quantized(rounded(numbers))
    table = np.empty((n, dim + TAIL), dtype=np.int8)
    table[:, :dim], table[:, dim], table[:, dim + 1 :] = codes, exponents, _end_of(dim)
    return [row.tobytes() for row in table]


def _end_of(dim: int) -> Codes:
    """What all vectors of so many numbers end with, after the exponent."""
    return np.frombuffer(b"\0" + dim.to_bytes(2, "little") + b"\1", dtype=np.int8)


def vector_of(data: bytes) -> Vector:
    """The float32 vector of `stored`. Raises ValueError for bytes that it did not write."""
    dim = len(data) - TAIL
    if not 0 < dim <= _LONGEST:
        raise ValueError("a stored vector is damaged")
    codes, exponents = codes_of([data], dim)
    return np.asarray(dequantized(codes, exponents)[0])


def codes_of(rows: Sequence[bytes], dim: int) -> tuple[Codes, Codes]:
    """The codes (n, dim) of `stored` vectors (n), and the exponents (n,) of their steps: number = code · 2^exponent.

    Raises ValueError for bytes of another dimension or form.
    """
    if len(rows) == 0:
        return np.zeros((0, dim), dtype=np.int8), np.zeros(0, dtype=np.int8)
    if any(len(row) != dim + TAIL for row in rows):
        raise ValueError(f"a stored vector does not have {dim} numbers")
    table = np.frombuffer(b"".join(rows), dtype=np.int8).reshape(len(rows), dim + TAIL)
    if not (table[:, dim + 1 :] == _end_of(dim)).all():
        raise ValueError("a stored vector is damaged")
    return table[:, :dim], table[:, dim]


class StoredVectors:
    """Vectors (n, dim) as a store gives them, `rows` of bytes; an array of float32 for whoever asks for one."""

    def __init__(self, rows: Sequence[bytes], dim: int) -> None:
        self.rows, self._dim = rows, dim

    @property
    def shape(self) -> tuple[int, int]:
        """(n, dim)."""
        return len(self.rows), self._dim

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: int) -> Vector:
        return vector_of(self.rows[place])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        found = dequantized(*codes_of(self.rows, self._dim))
        return found if dtype is None else found.astype(dtype)


def halves_of(data: bytes) -> bytes:
    """The same vector in half precision, little-endian. Raises ValueError."""
    return vector_of(data).astype(_HALF).tobytes()
