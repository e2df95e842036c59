"""How near in time what was said, or what it speaks of, comes to the days that a query names. A soft boost only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING

import numpy as np

from embermem.core import equations
from embermem.index.growable_array import Column
from embermem.languages.dates.engine import DateSpan, date_spans

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Days = NDArray[np.int32]

__all__ = ["DateTable", "met"]

_TOLD_WITHIN = 7
"""Days: what happened is mostly told within a week, so a message speaks of its own day and of the week before."""
_FADES = 4.0
"""Days of distance after which a match is worth 1/e."""
_MONTH = 31
"""Days: a text that speaks of a longer span ("last year") says the less about a shorter one that lies in it."""
_YEARS = 30
"""How many years are looked at, at most, for a day without a year."""


class DateTable:
    """The day of every row, and the spans of days that its text names. Rows only ever grow. The day of a passage of a
    document brings it near to nothing: it was not said then."""

    def __init__(self) -> None:
        self.said = Column(np.int32)
        self.spoken = Column(np.bool_)
        self.row = Column(np.int32)
        self.first = Column(np.int32)
        self.last = Column(np.int32)
        self._spans_so_far = Column(np.int32)

    def add_all(self, said: Iterable[tuple[str, datetime, bool]]) -> None:
        """The next rows: a text, its time, and whether it was said in a talk."""
        days: list[int] = []
        spoken: list[bool] = []
        so_far: list[int] = []
        spans: list[tuple[int, int, int]] = []
        for row, (text, said_at, is_spoken) in enumerate(said, self.said.length):
            spans += [(row, span.first.toordinal(), span.last.toordinal()) for span in date_spans(text, said_at)]
            days.append(said_at.date().toordinal())
            spoken.append(is_spoken)
            so_far.append(self.row.length + len(spans))
        rows, first, last = np.array(spans, dtype=np.int32).reshape(-1, 3).T
        self.row.extend(rows)
        self.first.extend(first)
        self.last.extend(last)
        self.said.extend(days)
        self.spoken.extend(spoken)
        self._spans_so_far.extend(so_far)

    def part(self, rows: NDArray[np.int64], row_of: NDArray[np.int32]) -> DateTable:
        """The table of these rows, ascending; `row_of` gives each row's place among them, −1 for the others."""
        part = DateTable()
        count = self._count(len(row_of))
        places = row_of[self.row.first(count)]
        inside = places >= 0
        part.said = Column.of(self.said.data[rows])
        part.spoken = Column.of(self.spoken.data[rows])
        part.row = Column.of(places[inside])
        part.first = Column.of(self.first.first(count)[inside])
        part.last = Column.of(self.last.first(count)[inside])
        part._spans_so_far = Column.of(np.searchsorted(part.row.data, np.arange(len(rows)), side="right"))
        return part

    def dated(self, n: int) -> NDArray[np.bool_]:
        """Which of the first n rows name a day, shape (n,)."""
        found = np.zeros(n, dtype=bool)
        found[self.row.first(self._count(n))] = True
        return found

    def nearness(self, asked: Iterable[DateSpan], n: int) -> Floats:
        """How near each of the first n rows comes to the days asked for: 1 on them, towards 0 away; shape (n,)."""
        near = np.zeros(n)
        if n == 0:
            return near
        said, spoken, count = self.said.first(n), self.spoken.first(n), self._count(n)
        rows, first, last = self.row.first(count), self.first.first(count), self.last.first(count)
        breadth = last - first + 1
        for begin, end in self._years(asked, said):
            length = end - begin + 1
            near = np.maximum(near, np.where(spoken, _near(said - _TOLD_WITHIN, said, begin, end), 0.0))
            sharp = np.minimum(1.0, equations.sharpness(length, breadth.astype(np.float64), _MONTH))
            np.maximum.at(near, rows, sharp * _near(first, last, begin, end))
        return near

    def columns(self) -> dict[str, Column]:
        """All that is held."""
        return {name.removeprefix("_"): one for name, one in vars(self).items()}

    def adopt(self, columns: Mapping[str, Column]) -> None:
        """Hold these columns, those of `columns` of others."""
        for name in vars(self):
            setattr(self, name, columns[name.removeprefix("_")])

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(column.nbytes for column in self.columns().values())

    def _count(self, n: int) -> int:
        return int(self._spans_so_far.data[n - 1]) if n else 0

    def _years(self, asked: Iterable[DateSpan], said: Days) -> Iterable[tuple[int, int]]:
        """Each span asked for, in every year of the memory where none was named."""
        newest = date.fromordinal(int(said.max())).year
        oldest = max(newest - _YEARS, date.fromordinal(int(said.min())).year)
        return _in_years(asked, range(oldest, newest + 2))


def met(asked: Iterable[DateSpan], since: datetime | None, until: datetime, now: datetime) -> bool:
    """Whether what was so from `since` (None: always) until `until` was so on one of the days asked for, of those that
    are past now. Of days without a year, those of every year count."""
    if since is not None and since >= until:
        return False
    first, last, today = 0 if since is None else since.date().toordinal(), until.date().toordinal(), now.date()
    years = range(max(today.year - _YEARS, 1 if since is None else since.year), today.year + 1)
    spans = _in_years(asked, years)
    return any(begin < today.toordinal() and first <= end and begin <= last for begin, end in spans)


def falls_on(asked: Iterable[DateSpan], at: datetime) -> bool:
    """Whether a moment is on one of the days asked for; of days without a year, in any year."""
    day = at.date().toordinal()
    return any(first <= day <= last for first, last in _in_years(asked, range(at.year - 1, at.year + 1)))


def _in_years(asked: Iterable[DateSpan], years: range) -> Iterable[tuple[int, int]]:
    """The first and the last day of each span; of one without a year, in each of these years."""
    for span in asked:
        for year in years if span.any_year else (span.first.year,):
            try:
                begin = span.first.replace(year=year)
            except ValueError:  # 29 February
                continue
            yield begin.toordinal(), begin.toordinal() + (span.last - span.first).days


def _near(first: Days, last: Days, begin: int, end: int) -> Floats:
    gap = np.maximum(begin - last, first - end)
    return _FADED.take(gap, mode="clip")  # below 0 as at 0


_FADED = equations.fading(np.arange(1000.0), _FADES)
"""What is left at so many days; at a thousand it is 0 to a hundred places."""
