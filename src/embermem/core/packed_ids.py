"""Ids in 16 bytes each, for arrays and files that hold many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from embermem.core.ids import DIGITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["PACKED", "packed_ids", "unpacked_id"]

_BYTES = 15
"""Bytes of an id without its letter: 24 digits of 5 bits."""
PACKED = 1 + _BYTES
"""Bytes of an id of `packed_ids`."""
_LENGTH = 1 + 8 * _BYTES // 5
_PAIRS = tuple(one + other for one in DIGITS for other in DIGITS)
"""What 10 bits are: a recall unpacks some dozens of ids."""
_NO_DIGIT = 255
_VALUES = np.full(256, _NO_DIGIT, dtype=np.uint8)
_VALUES[np.frombuffer(DIGITS.encode(), dtype=np.uint8)] = np.arange(len(DIGITS), dtype=np.uint8)


def packed_ids(ids: Sequence[str]) -> NDArray[np.uint8]:
    """Ids of `new_id` in 16 bytes each, shape (n, 16); any other id is 16 zeros."""
    packed = np.zeros((len(ids), PACKED), dtype=np.uint8)
    made = [i for i, one in enumerate(ids) if len(one) == _LENGTH and one.isascii()]
    letters = np.frombuffer("".join([ids[i] for i in made]).encode("ascii"), dtype=np.uint8).reshape(-1, _LENGTH)
    digits = _VALUES[letters[:, 1:]]
    known = (digits != _NO_DIGIT).all(axis=1) & (letters[:, 0] > 0)
    bits = np.unpackbits(digits[known, :, None], axis=2)[:, :, 3:]
    rows = np.array(made, dtype=np.int64)[known]
    packed[rows, 0] = letters[known, 0]
    packed[rows, 1:] = np.packbits(bits.reshape(len(rows), 8 * _BYTES), axis=1)
    return packed


def unpacked_id(packed: bytes) -> str:
    """The id of 16 bytes of `packed_ids`; empty for zeros."""
    if not packed[0]:
        return ""
    number = int.from_bytes(packed[1:], "big")
    return chr(packed[0]) + "".join([_PAIRS[number >> shift & 1023] for shift in range(8 * _BYTES - 10, -1, -10)])
