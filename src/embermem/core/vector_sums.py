"""Sums of unit vectors as stores hold them: in few bits, rounded again after each addition.

A sum is cut into blocks of 128 numbers. Each block has a step of its own, a power of two, and codes of 16 bits, which
lose nothing that a ranking would show. A block has 4 bits where its largest number is less than about a sixteenth of
the largest block's, or where all are 0. In a sum that is longer than 4 all others have 16, so that one more vector is
not lost in rounding.
What was rounded once is not changed when it is rounded again.

The bytes (`sum_bytes`): how many numbers there are, little-endian; the exponent of each block's step; a bit for each
block, set where it has 4 bits; the codes. The length is no multiple of 4 (a zero is added where it is): what has such a
length is single precision, as in stores that were migrated to schema 0013.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from embermem.core.types import Vector

    Steps = NDArray[np.int32]

__all__ = ["sum_bytes", "sum_from"]

_SINGLE = np.dtype("<f4")
_CODES = np.dtype("<i2")
_BLOCK = 128
_LONG = 4.0
"""The length, of a sum of about five pages of one topic, above which every block has 16 bits."""
_FAR_BELOW = 4
"""By how many powers of two a block's step is below the largest one where 4 bits are enough."""
_NARROW, _WIDE = 4, 16
_LARGEST = {_NARROW: 7, _WIDE: 32767}
"""The largest code, by bits."""
_FINEST, _COARSEST = -126, 127
_HEAD = 2
_LONGEST = 0xFFFF


def sum_bytes(vector: Vector) -> bytes:
    """The bytes of a sum (dim,). Numbers that are not finite, and more than 65,535, stay in single precision."""
    numbers = np.asarray(vector, dtype=np.float32)
    dim = len(numbers)
    if not 0 < dim <= _LONGEST or not np.isfinite(numbers).all():
        return numbers.astype(_SINGLE).tobytes()
    blocks = np.zeros((-(-dim // _BLOCK), _BLOCK), dtype=np.float32)
    blocks.ravel()[:dim] = numbers
    steps = _steps(blocks, _WIDE)
    used = blocks.any(axis=1)
    below = steps <= steps.max(where=used, initial=_FINEST) - _FAR_BELOW
    narrow = ~used | (below & (float(np.linalg.norm(numbers.astype(np.float64))) <= _LONG))
    steps[narrow] = _steps(blocks[narrow], _NARROW)
    parts = [dim.to_bytes(_HEAD, "little"), steps.astype(np.int8).tobytes(), np.packbits(narrow).tobytes()]
    most = np.where(narrow, _LARGEST[_NARROW], _LARGEST[_WIDE])[:, None]
    codes = np.rint(np.ldexp(blocks, -steps[:, None])).clip(-most, most).astype(_CODES)
    for start, block, is_narrow in zip(range(0, dim, _BLOCK), codes, narrow.tolist(), strict=True):
        parts.append(_in_nibbles(block[: dim - start]) if is_narrow else block[: dim - start].tobytes())
    data = b"".join(parts)
    return data if len(data) % _SINGLE.itemsize else data + b"\0"


def _steps(blocks: NDArray[np.float32], bits: int) -> Steps:
    """The exponents of the smallest powers of two that reach the largest number of each block (n, 128), shape (n,)."""
    reach = np.abs(blocks).max(axis=1, initial=0.0)
    _, exponents = np.frexp(reach / np.float32(_LARGEST[bits]))
    exponents = np.where(np.ldexp(np.float32(_LARGEST[bits]), exponents - 1) >= reach, exponents - 1, exponents)
    return np.asarray(np.clip(np.where(reach > 0.0, exponents, 0), _FINEST, _COARSEST), dtype=np.int32)


def _in_nibbles(codes: NDArray[np.int16]) -> bytes:
    nibbles = np.append(codes, [0] * (len(codes) % 2)).astype(np.uint8) & 15
    return (nibbles[::2] | nibbles[1::2] << 4).tobytes()


def sum_from(data: bytes) -> Vector:
    """The float32 sum (dim,) of `sum_bytes`. Raises ValueError for bytes that it did not write."""
    if data and len(data) % _SINGLE.itemsize == 0:
        return np.frombuffer(data, dtype=_SINGLE).astype(np.float32)
    dim = int.from_bytes(data[:_HEAD], "little")
    count = -(-dim // _BLOCK)
    at = _HEAD + count + -(-count // 8)
    if not dim or at > len(data):
        raise ValueError("a stored sum of vectors is damaged")
    steps = np.frombuffer(data, dtype=np.int8, count=count, offset=_HEAD).astype(np.int32)
    narrow = np.unpackbits(np.frombuffer(data[_HEAD + count : at], dtype=np.uint8), count=count)
    made = []
    for start, is_narrow in zip(range(0, dim, _BLOCK), narrow.tolist(), strict=True):
        n, bits = min(_BLOCK, dim - start), _NARROW if is_narrow else _WIDE
        size = (n * bits + 7) // 8
        made.append(_codes(data[at : at + size], bits)[:n])
        at += size
    codes = np.concatenate(made)
    if len(codes) != dim or len(data) - at > 1:
        raise ValueError("a stored sum of vectors is damaged")
    return np.ldexp(codes.astype(np.float32), np.repeat(steps, _BLOCK)[:dim])


def _codes(data: bytes, bits: int) -> NDArray[np.int16] | NDArray[np.int8]:
    if bits == _WIDE:
        return np.frombuffer(data[: len(data) // 2 * 2], dtype=_CODES)
    codes = np.frombuffer(data, dtype=np.int8)
    return np.stack((codes << 4 >> 4, codes >> 4), axis=1).ravel()
