"""Metadata of rows that only ever grow: which of the first n rows meet a filter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from embermem.core import metadata as metadata_of
from embermem.core.metadata import Metadata, Plain
from embermem.index.growable_array import Column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]

__all__ = ["Labels"]

_VALUE_BYTES = 400
"""Estimated bytes of one value of a name beside its rows: two entries of dicts, the text, the array's head."""


class Labels:
    """For each name of metadata its values, and for each value the rows that have it. One writer, many readers."""

    def __init__(self) -> None:
        self._named: dict[str, Column] = {}
        self._values: dict[str, dict[tuple[type, Plain], Column]] = {}
        self._cells = self._count = 0

    def add_all(self, begin: int, rows: Iterable[Metadata]) -> None:
        """The metadata of the next rows, from the row `begin` on."""
        named: dict[str, list[int]] = {}
        valued: dict[tuple[str, type, Plain], list[int]] = {}
        for row, metadata in enumerate(rows, begin):
            if not metadata:
                continue
            for name in metadata:
                named.setdefault(name, []).append(row)
            for name, value in dict.fromkeys(metadata_of.items(metadata)):
                valued.setdefault((name, _type(value), value), []).append(row)
        for name, found in named.items():
            _add(self._named, name, found)
        for (name, of, value), found in valued.items():
            _add(self._values.setdefault(name, {}), (of, value), found)
        self._cells += sum(map(len, named.values())) + sum(map(len, valued.values()))
        self._count = sum(map(len, self._values.values())) if valued else self._count

    def meeting(self, wanted: Mapping[str, Any], n: int) -> Mask:
        """Which of the first n rows meet a filter of `metadata.checked_filter`; as `metadata.matches` of each."""
        found = np.ones(n, dtype=bool)
        for name, one in wanted.items():
            if name == "$and":
                for part in one:
                    found &= self.meeting(part, n)
            elif name == "$or":
                found &= np.logical_or.reduce([self.meeting(part, n) for part in one])
            elif name == "$not":
                found &= ~self.meeting(one, n)
            else:
                for operator, value in one.items():
                    found &= self._holding(name, operator, value, n)
        return found

    def _holding(self, name: str, operator: str, wanted: Any, n: int) -> Mask:
        if operator == "$exists":
            columns = [self._named[name]] if name in self._named else []
            return _rows_of(columns, n) if wanted else ~_rows_of(columns, n)
        values = self._values.get(name, {})
        if operator in ("$eq", "$in", "$ne", "$nin"):
            several: Sequence[Plain] = wanted if operator in ("$in", "$nin") else (wanted,)
            columns = [column for one in several if (column := values.get((_type(one), one))) is not None]
            return ~_rows_of(columns, n) if operator in ("$ne", "$nin") else _rows_of(columns, n)
        held = tuple(values.items())  # a writer may add a value meanwhile: of rows that the reader does not see
        return _rows_of([rows for (_, value), rows in held if metadata_of.stands(operator, value, wanted)], n)

    @property
    def nbytes(self) -> int:
        """Estimated bytes held."""
        return 5 * self._cells + _VALUE_BYTES * self._count


def _type(value: Plain) -> type:
    """What tells True from 1; a number is one type, whole or not."""
    return float if isinstance(value, (int, float)) and not isinstance(value, bool) else type(value)


def _add(columns: dict[Any, Column], key: Any, rows: list[int]) -> None:
    column = columns.get(key)
    if column is None:
        column = columns[key] = Column(np.int32, capacity=len(rows))
    column.extend(rows)


def _rows_of(columns: Iterable[Column], n: int) -> Mask:
    found = np.zeros(n, dtype=bool)
    for column in columns:
        rows = column.first(column.length)
        found[rows[: np.searchsorted(rows, n)]] = True
    return found
