"""Checksums of the rows of a mapped file, block by block: what is damaged is found when it is first read."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

__all__ = ["BLOCK", "Blocks", "DamagedBlock", "row_bytes", "rows_of_block", "sums_of"]

BLOCK = 2**16
"""Bytes of a block, at most, but for a row that is longer."""


class DamagedBlock(Exception):
    """A block of a file is not what was written. Whoever holds the file's rows is to read the store in their place."""


def rows_of_block(size: int) -> int:
    """How many rows, of so many bytes, a block has."""
    return max(1, BLOCK // max(1, size))


def sums_of(rows: NDArray[Any]) -> NDArray[np.uint32]:
    """The checksum of each block of some rows."""
    at_once = rows_of_block(row_bytes(rows))
    return np.array([_sum(rows[start : start + at_once]) for start in range(0, len(rows), at_once)], dtype=np.uint32)


class Blocks:
    """The checksums of the first rows of an array, and which blocks were read. Safe for many readers."""

    def __init__(self, sums: NDArray[np.uint32]) -> None:
        self._sums = sums
        self._unread = np.ones(len(sums), dtype=bool)

    def read_all(self, rows: NDArray[Any]) -> None:
        """Check the blocks of all rows that were not read before. Raises DamagedBlock."""
        self._read(rows, np.flatnonzero(self._unread).tolist())

    def read_part(self, rows: NDArray[Any], begin: int, end: int) -> None:
        """Check those of the rows from `begin` to `end`."""
        at_once = rows_of_block(row_bytes(rows))
        blocks = range(begin // at_once, min(-(-end // at_once), len(self._sums)))
        self._read(rows, [block for block in blocks if self._unread[block]])

    def read_at(self, rows: NDArray[Any], places: NDArray[np.integer[Any]]) -> None:
        """Check those of the rows at some places."""
        of = np.zeros(len(self._sums) + 1, dtype=bool)
        of[np.minimum(places // rows_of_block(row_bytes(rows)), len(self._sums))] = True
        self._read(rows, np.flatnonzero(of[:-1] & self._unread).tolist())

    def _read(self, rows: NDArray[Any], blocks: Iterable[int]) -> None:
        at_once = rows_of_block(row_bytes(rows))
        for block in blocks:
            if _sum(rows[block * at_once : (block + 1) * at_once]) != self._sums[block]:
                raise DamagedBlock
            self._unread[block] = False


def _sum(rows: NDArray[Any]) -> int:
    return zlib.crc32(np.ascontiguousarray(rows).view(np.uint8).data)


def row_bytes(rows: NDArray[Any]) -> int:
    """The bytes of one of some rows."""
    return rows.itemsize * (rows.shape[1] if rows.ndim == 2 else 1)
