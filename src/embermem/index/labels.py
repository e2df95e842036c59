"""Metadata of rows that only ever grow: which of the first n rows meet a filter."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from embermem.core import metadata as metadata_of
from embermem.core.metadata import Metadata, Plain
from embermem.index.growable_array import Column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]

__all__ = ["Labels"]

_VALUE_BYTES = 250
"""Estimated bytes of one value of a name beside its rows: an entry of a dict, the text, its place among the sorted."""


class Labels:
    """For each name of metadata the rows that have it, and their values. One writer, many readers."""

    def __init__(self) -> None:
        self._named: dict[str, Column] = {}
        self._values: dict[tuple[str, type], _Values] = {}

    def add_all(self, rows: Iterable[tuple[int, Metadata]]) -> None:
        """The metadata of later rows, ascending; rows without any may be left out."""
        named: dict[str, list[int]] = {}
        valued: dict[tuple[str, type], list[tuple[Any, int]]] = {}
        for row, metadata in rows:
            for name in metadata:
                named.setdefault(name, []).append(row)
            for name, value in metadata_of.items(metadata):
                valued.setdefault((name, _type(value)), []).append((value, row))
        for key, found in valued.items():
            if key not in self._values:
                self._values[key] = _Values()
            self._values[key].add_all(found)
        for name, those in named.items():
            if name not in self._named:
                self._named[name] = Column(np.int32)
            self._named[name].extend(those)

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
        found = np.zeros(n, dtype=bool)
        if operator == "$exists":
            if (column := self._named.get(name)) is not None:
                rows = column.first(column.length)
                found[rows[: np.searchsorted(rows, n)]] = True
            return found if wanted else ~found
        several = tuple(wanted) if operator in ("$in", "$nin") else (wanted,)
        for of in dict.fromkeys(map(_type, several)):
            if (values := self._values.get((name, of))) is not None:
                values.mark(found, operator, [one for one in several if _type(one) is of])
        return ~found if operator in ("$ne", "$nin") else found

    @property
    def nbytes(self) -> int:
        """Estimated bytes held."""
        named = sum(column.nbytes for column in self._named.values())
        return named + sum(values.nbytes for values in self._values.values())


class _Values:
    """The values of one type under one name, numbered as they came, and which rows have which."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}
        self._number, self._row = Column(np.int32), Column(np.int32)
        self._sorted: list[Any] = []
        self._places = np.zeros(0, dtype=np.int64)

    def add_all(self, found: list[tuple[Any, int]]) -> None:
        """Values with their rows, ascending."""
        numbers = [self._numbers.setdefault(value, len(self._numbers)) for value, _ in found]
        self._number.extend(numbers)
        self._row.extend([row for _, row in found])  # written last: what it holds has a number

    def mark(self, rows: Mask, operator: str, wanted: list[Any]) -> None:
        """Set the rows that have one of these values, or one that stands to the only one as an operator says."""
        row = self._row.first(self._row.length)
        row = row[: np.searchsorted(row, len(rows))]
        number = self._number.first(len(row))
        chosen = np.zeros(len(self._numbers), dtype=bool)
        if operator in ("$gt", "$gte", "$lt", "$lte"):
            chosen[self._between(operator, wanted[0])] = True
        else:
            chosen[[self._numbers[one] for one in wanted if one in self._numbers]] = True
        rows[row[chosen[number]]] = True

    def _between(self, operator: str, wanted: Any) -> NDArray[np.int64]:
        if isinstance(wanted, bool):
            return self._places[:0]
        values, places = self._sorted, self._places
        if len(values) != len(self._numbers):
            known = list(self._numbers)
            values = sorted([*values, *known[len(values) :]])  # nearly in order already
            places = np.array([self._numbers[value] for value in values], dtype=np.int64)
            self._sorted, self._places = values, places
        cut = bisect_right(values, wanted) if operator in ("$gt", "$lte") else bisect_left(values, wanted)
        return places[cut:] if operator in ("$gt", "$gte") else places[:cut]

    @property
    def nbytes(self) -> int:
        """Estimated bytes held."""
        return self._number.nbytes + self._row.nbytes + _VALUE_BYTES * len(self._numbers)


def _type(value: Plain) -> type:
    """What tells True from 1; a number is one type, whole or not."""
    return float if isinstance(value, (int, float)) and not isinstance(value, bool) else type(value)
