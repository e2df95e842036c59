"""Arrays that grow at their end, so that what was read before stays as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from embermem.index.blocks import Blocks, row_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, DTypeLike, NDArray

__all__ = ["Column", "Columns", "under"]


class Column:
    """A growing array with spare capacity. One writer, many readers, no lock for the readers.

    `first(n)` for an n that was once reached is right for ever: growing copies into a new array and then swaps it
    in. A cell may be written once after it was appended (`set`); who reads it must know what an unwritten one means.

    Rows of a mapped file are checked when they are first read: those asked for (`take`, `part`), or all of them.
    Reading raises DamagedBlock.
    """

    __slots__ = ("_blocks", "_data", "length", "mapped")

    def __init__(self, dtype: DTypeLike, width: int | None = None) -> None:
        self._data: NDArray[Any] = np.zeros(64 if width is None else (64, width), dtype=dtype)
        self._blocks: Blocks | None = None
        self.length = 0
        self.mapped = 0
        """How many of the first rows are those of a mapped file, and take no memory of this process's own."""

    @classmethod
    def of(cls, data: NDArray[Any]) -> Column:
        """An array as a column; it is not copied."""
        column = cls.__new__(cls)
        column._data, column._blocks, column.length, column.mapped = data, None, len(data), 0
        return column

    @classmethod
    def on(cls, data: NDArray[Any], length: int, blocks: Blocks) -> Column:
        """A column whose first rows are those of a mapped file, with the room behind them; it may be written to, which
        does not reach the file."""
        column = cls.of(data)
        column.length = column.mapped = length
        column._blocks = blocks
        return column

    @property
    def data(self) -> NDArray[Any]:
        """All rows, and the spare capacity behind them."""
        if self._blocks is not None:
            self._blocks.read_all(self._data[: self.mapped])
            self._blocks = None
        return self._data

    def take(self, places: NDArray[np.integer[Any]]) -> NDArray[Any]:
        """A copy of the rows at some places."""
        if (blocks := self._blocks) is not None:
            blocks.read_at(self._data[: self.mapped], places)
        return self._data.take(places, axis=0)

    def part(self, begin: int, end: int) -> NDArray[Any]:
        """The rows from `begin` to `end`, not to be written to."""
        if (blocks := self._blocks) is not None and begin < end:
            blocks.read_part(self._data[: self.mapped], begin, end)
        return self._data[begin:end]

    def extend(self, values: NDArray[Any] | Sequence[Any]) -> None:
        """More rows at once."""
        length = self.length
        self._reserve(length + len(values))
        self._data[length : length + len(values)] = values
        self.length = length + len(values)

    def set(self, row: int, value: ArrayLike) -> None:
        """Write a cell that was left open when it was appended."""
        self.data[row] = value

    def first(self, n: int) -> NDArray[Any]:
        """The first n rows, not to be written to."""
        return self.data[:n]

    @property
    def nbytes(self) -> int:
        """Bytes held, spare capacity included, but for what is mapped."""
        if not self.mapped:
            return self._data.nbytes
        return (self.length - self.mapped) * row_bytes(self._data)

    @property
    def mapped_bytes(self) -> int:
        """Bytes of the rows that are those of a mapped file."""
        return self.mapped * row_bytes(self._data)

    def _reserve(self, length: int) -> None:
        if length <= len(self._data):
            return
        held = len(self._data)
        # Doubling while small, then by a quarter: still linear in all, and an owner's vectors waste little memory.
        capacity = max(length, held + held // 4 + min(held, 64))
        grown = np.zeros((capacity, *self._data.shape[1:]), dtype=self._data.dtype)
        grown[: self.length] = self.data[: self.length]
        self._data, self.mapped = grown, 0


class Columns:
    """What is held as columns: the attributes that are columns, and those that are `Columns` themselves."""

    def columns(self) -> dict[str, Column]:
        """All of them by name, such as "texts.ends"; not while anything is added."""
        found: dict[str, Column] = {}
        for name, one in vars(self).items():
            if isinstance(one, Column):
                found[name] = one
            elif isinstance(one, Columns):
                found |= {f"{name}.{inner}": column for inner, column in one.columns().items()}
        return found

    def adopt(self, columns: Mapping[str, Column]) -> None:
        """Hold what `columns` of others gave. Raises KeyError where one is missing, DamagedBlock."""
        for name, one in [*vars(self).items()]:
            if isinstance(one, Column):
                setattr(self, name, columns[name])
            elif isinstance(one, Columns):
                one.adopt(under(name, columns))

    @property
    def nbytes(self) -> int:
        """Estimated bytes held, but for what is mapped."""
        return sum(one.nbytes for one in vars(self).values() if isinstance(one, Column | Columns))

    @property
    def mapped_bytes(self) -> int:
        """Bytes of what is held in a mapped file, which other processes share."""
        return sum(one.mapped_bytes for one in vars(self).values() if isinstance(one, Column | Columns))


def under(name: str, columns: Mapping[str, Column]) -> dict[str, Column]:
    """Those whose names begin with this one and a point, by the rest of their names."""
    return {one.removeprefix(f"{name}."): column for one, column in columns.items() if one.startswith(f"{name}.")}
