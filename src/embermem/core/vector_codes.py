"""Vectors as stores hold them: 8 bits a number, rounded once, where they are made.

A vector has one or two parts, one of each encoder (`protocols.PairedEmbedder`). Each number of a part is a whole
multiple, −127 … 127, of the part's step, which is a power of two. Such numbers are exact in half precision too, so that
every engine holds the same ones, whether it keeps bytes or pgvector's `halfvec`, and equal vectors have equal bytes.
Of a text that both encoders read, the second's part is only for questions in other languages: each of its numbers is
one of eight, −7, −5 … 7 by a power of two, and has 3 bits.

The bytes (`stored`): the codes of the first part; those of the second, where they are such one bit of each after the
other; the parts' exponents; how many numbers the first has, little-endian; and 1, or 3 where the second has 3 bits.
The length is odd (a zero is put before the exponents where it is not). Vectors of half precision, which stores that
were migrated to schema 0013 hold and other programs may bring, have an even length and stay as they are.
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

__all__ = [
    "StoredVectors",
    "codes_of",
    "halves_of",
    "rounded",
    "stored",
    "stored_bytes",
    "stored_rows",
    "vector_of",
]

_HALF = np.dtype("<f2")
_FINEST = 24
"""Half precision holds no number smaller than 2^−24."""
_LARGEST = 127
_IN_EIGHT, _IN_THREE = 1, 3
"""The last byte: of a second part in 8 bits, and in 3."""
_PADDED = 4
"""Is added to it where a zero stands before the exponents."""
_TAIL = 5
"""Bytes after the codes and that zero."""
_LONGEST = 0xFFFF
_MOST = float(np.finfo(_HALF).max)
_NO_CODES = 0
_NO_STEP = 1 << 48
"""The step of zeros: all steps fit them. It is larger than any number, in the finest step of half precision."""
_BLOCK = 32
"""The first part of a vector whose parts are not known ends at a multiple of it, as those of all encoders do."""
_BITS = 3
_NO_UNIT = 256
"""More than that of any code."""
_MOST_COARSE = 7
_STEPS_TRIED = (-3, -2, -1)
"""By which powers of two half a step is below the numbers' deviation, as its exponent has it: one of them is near the
best, 0.293 of it (Max, Quantizing for minimum distortion, 1960, of 8 steps for a normal deviation)."""


# ------------------------------------------------------------------------------------------------------------ rounding


def rounded(vectors: Vectors, first_dim: int) -> Vectors:
    """The nearest vectors (n, dim) that are stored exactly, float32. `first_dim` of their numbers are the first
    encoder's, all of them of a single one's. What was rounded once is not changed when it is rounded again."""
    whole = np.ldexp(np.rint(np.ldexp(np.asarray(vectors, dtype=np.float32), _FINEST)), -_FINEST)
    first, second = whole[:, :first_dim], whole[:, first_dim:]
    made = np.zeros_like(whole)
    made[:, :first_dim] = dequantized(*quantized(first))
    if first_dim < whole.shape[1]:
        made[:, first_dim:] = dequantized(*quantized(second))
        both = first.any(axis=1) & second.any(axis=1)
        made[both, first_dim:] = _in_three_bits(made[both, first_dim:])
    return made


def _in_three_bits(vectors: Vectors) -> Vectors:
    """With the step, of some powers of two, that leaves the smallest error."""
    below = np.frexp(np.sqrt(np.square(vectors).mean(axis=1)))[1]
    known = _units(quantized(vectors)[0]) > 0
    best, error = vectors, np.where(known, 0.0, np.inf)
    for one in _STEPS_TRIED:
        halves = np.ldexp(np.float32(1.0), np.maximum(below + one, -_FINEST))[:, None]
        made = np.clip(2 * np.floor(vectors / (2 * halves)) + 1, -_MOST_COARSE, _MOST_COARSE) * halves
        wrong = np.square(made - vectors).sum(axis=1)
        best = np.where((wrong < error)[:, None], made, best)
        error = np.minimum(error, wrong)
    return best


def _units(codes: Codes) -> NDArray[np.int32]:
    """Of which power of two all codes of a part (n, dim) are −7, −5 … 7 times; 0 of a part with others. Shape (n,)."""
    wide = codes.astype(np.int32)
    lowest = wide & -wide
    units = lowest.min(axis=1, initial=_NO_UNIT)
    coarse = (lowest == units[:, None]).all(axis=1) & (np.abs(wide) <= _MOST_COARSE * units[:, None]).all(axis=1)
    return np.asarray(np.where(coarse & (units < _NO_UNIT), units, 0), dtype=np.int32)


# --------------------------------------------------------------------------------------------------------------- bytes


def stored(vector: Vector) -> bytes:
    """The bytes of a vector (dim,): its codes, if it was `rounded`; else in half precision."""
    return stored_rows(vector[None])[0]


def stored_rows(vectors: Vectors) -> list[bytes]:
    """The same of each of some vectors (n, dim)."""
    numbers = np.asarray(vectors, dtype=np.float32)
    made = [b""] * len(numbers)
    first_dims = _first_dims(numbers)
    for first_dim in {*first_dims.tolist()}:  # numpy.unique would load numpy.ma
        places = np.flatnonzero(first_dims == first_dim)
        some = numbers[places]
        rows = _halves(some) if first_dim == _NO_CODES else _in_codes(some, first_dim)
        for place, row in zip(places.tolist(), rows, strict=True):
            made[place] = row
    return made


def _halves(vectors: Vectors) -> list[bytes]:
    return [one.tobytes() for one in vectors.astype(_HALF)]


def _in_codes(vectors: Vectors, first_dim: int) -> list[bytes]:
    first, e1 = quantized(vectors[:, :first_dim])
    second, e2 = quantized(vectors[:, first_dim:])
    units = _units(second) if second.shape[1] % 8 == 0 else np.zeros(len(vectors), dtype=np.int32)
    narrow = units > 0
    planes, e2 = _planes(second, units), np.where(narrow, e2 + np.frexp(units)[1] - 1, e2).astype(np.int8)
    split = first_dim.to_bytes(2, "little")
    made = []
    for row, is_narrow in enumerate(narrow.tolist()):
        codes = first[row].tobytes() + (planes if is_narrow else second)[row].tobytes()
        pad = len(codes) % 2
        form = (_IN_THREE if is_narrow else _IN_EIGHT) + _PADDED * pad
        made.append(b"".join((codes, bytes(pad), e1[row].tobytes(), e2[row].tobytes(), split, bytes((form,)))))
    return made


def _planes(codes: Codes, units: NDArray[np.int32]) -> NDArray[np.uint8]:
    """The bits of codes (n, dim), odd multiples of `units` (n,): shape (n, 3 * dim / 8). Of other codes, anything."""
    own = (codes // np.maximum(units, 1)[:, None] + _MOST_COARSE) // 2
    planes = np.stack([np.packbits(own >> bit & 1, axis=1) for bit in range(_BITS)], axis=1)
    return planes.reshape(len(codes), -1)


def _first_dims(vectors: Vectors) -> NDArray[np.int64]:
    """How many numbers the first of two parts has, each of which has codes; all of them, where one step fits them all;
    0 for a vector that was not rounded. Shape (n,)."""
    n, dim = vectors.shape
    if not 0 < dim <= _LONGEST:
        return np.full(n, _NO_CODES)
    wholes = np.ldexp(np.where(np.abs(vectors) <= _MOST, vectors, 0.5**25).astype(np.float64), _FINEST)
    exact = (wholes == np.rint(wholes)).all(axis=1)
    whole = np.abs(wholes).astype(np.int64)
    starts = np.arange(0, dim, _BLOCK)
    largest = np.maximum.reduceat(whole, starts, axis=1)
    steps = np.minimum.reduceat(np.where(whole == 0, _NO_STEP, whole & -whole), starts, axis=1)
    before = _fit(largest, steps)
    after = _fit(largest[:, ::-1], steps[:, ::-1])[:, ::-1]
    ends = before[:, :-1] & after[:, 1:]
    split = np.where(ends.any(axis=1), (np.argmax(ends, axis=1) + 1) * _BLOCK, _NO_CODES) if len(starts) > 1 else 0
    return np.asarray(np.where(exact, np.where(before[:, -1], dim, split), _NO_CODES), dtype=np.int64)


def _fit(largest: NDArray[np.int64], steps: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the numbers up to each block are codes of one step."""
    up_to, step = np.maximum.accumulate(largest, axis=1), np.minimum.accumulate(steps, axis=1)
    return np.asarray(up_to <= _LARGEST * step)


def vector_of(data: bytes) -> Vector:
    """The float32 vector of `stored`. Raises ValueError for bytes that it did not write."""
    if len(data) % 2 == 0:
        return np.frombuffer(data, dtype=_HALF).astype(np.float32)
    codes, exponents, first_dim = _parts(data)
    vector = np.empty(len(codes), dtype=np.float32)
    for part, exponent in zip((slice(None, first_dim), slice(first_dim, None)), exponents, strict=True):
        vector[part] = np.ldexp(codes[part].astype(np.float32), exponent)
    return vector


def _parts(data: bytes) -> tuple[Codes, tuple[int, int], int]:
    """The codes (dim,), the parts' exponents, and how many numbers the first has."""
    e1, e2 = np.frombuffer(data[-_TAIL : 2 - _TAIL], dtype=np.int8).tolist()
    first_dim, form = int.from_bytes(data[-3:-1], "little"), data[-1]
    codes = np.frombuffer(data, dtype=np.int8, count=len(data) - _TAIL - form // _PADDED)
    form %= _PADDED
    if form == _IN_THREE:
        codes = np.concatenate((codes[:first_dim], _wide(codes[first_dim:])))
    elif form != _IN_EIGHT or first_dim > len(codes):
        raise ValueError("a stored vector is damaged")
    return codes, (e1, e2), first_dim


def _wide(planes: Codes) -> Codes:
    """The codes (…, dim), −7, −5 … 7, of bytes (…, 3 * dim / 8) that have them bit by bit."""
    bits = np.unpackbits(planes.view(np.uint8), axis=-1).reshape(*planes.shape[:-1], _BITS, -1)
    own = bits[..., 0, :] | bits[..., 1, :] << 1 | bits[..., 2, :] << 2
    return own.astype(np.int8) * np.int8(2) - np.int8(_MOST_COARSE)


def codes_of(rows: Sequence[bytes], dim: int, first_dim: int) -> tuple[Codes, Codes]:
    """The codes (n, dim) of `stored` vectors (n), and the exponents (n, 2) of their parts: number = code · 2^exponent.

    Vectors of half precision are rounded to 8 bits. Raises ValueError for bytes of another dimension.
    """
    codes, exponents = np.zeros((len(rows), dim), dtype=np.int8), np.zeros((len(rows), 2), dtype=np.int8)
    lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    narrow = first_dim + (dim - first_dim) * _BITS // 8
    narrow += narrow % 2 + _TAIL
    told = first_dim.to_bytes(2, "little")
    for length in np.unique(lengths).tolist():
        places = np.flatnonzero(lengths == length)
        some = [rows[place] for place in places.tolist()]
        if length == narrow and all(row.endswith(told + bytes((_IN_THREE,))) for row in some):
            table = np.frombuffer(b"".join(some), dtype=np.int8).reshape(-1, length)
            codes[places, :first_dim] = table[:, :first_dim]
            codes[places, first_dim:] = _wide(np.ascontiguousarray(table[:, first_dim:-_TAIL]))
        elif length == dim + _TAIL and all(
            row[-3:] in (told + b"\1", dim.to_bytes(2, "little") + b"\1") for row in some
        ):
            table = np.frombuffer(b"".join(some), dtype=np.int8).reshape(-1, length)
            codes[places] = table[:, :dim]
        else:
            vectors = [vector_of(row) for row in some]
            if any(len(one) != dim for one in vectors):
                raise ValueError(f"a stored vector does not have {dim} numbers")
            for part, numbers in enumerate((slice(None, first_dim), slice(first_dim, None))):
                codes[places, numbers], exponents[places, part] = quantized(np.stack(vectors)[:, numbers])
            continue
        exponents[places] = table[:, -_TAIL : 2 - _TAIL]
        whole = np.array([row[-3:-1] != told for row in some])
        exponents[places[whole], 1] = exponents[places[whole], 0]
    return codes, exponents


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
        found = np.stack([vector_of(row) for row in self.rows]) if self.rows else np.zeros(self.shape, dtype=np.float32)
        return found if dtype is None else found.astype(dtype)


def halves_of(data: bytes) -> bytes:
    """The same vector in half precision, little-endian. Raises ValueError."""
    return data if len(data) % 2 == 0 else vector_of(data).astype(_HALF).tobytes()


def stored_bytes(data: bytes) -> bytes:
    """The `stored` bytes of a vector that came in them, or in half precision. Raises ValueError."""
    return data if len(data) % 2 else stored(vector_of(data))
