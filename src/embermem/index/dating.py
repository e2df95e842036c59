"""Which rows were said on the days that a query names, or speak of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING

import numpy as np

from embermem.core import equations
from embermem.index.growable_array import Column
from embermem.languages.dates.engine import DateSpan, date_spans
from embermem.languages.questions import asks_for_advice, names_day_beside, speaks_of_the_past
from embermem.languages.words import asks, sentences

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Days = NDArray[np.int32]

__all__ = ["DateTable", "asked_of", "falls_on", "met", "without_days"]

_ROUGH_DAYS = 14

_OTHER_DAYS = 0.75
"""What was said on a day asked for, but speaks of other days only, beside what speaks of that day (ours)."""
_PLANNED = 0.75
"""What was said before a day that is past by now, beside what was said of it on the day or later: a plan (ours)."""
_OTHER_YEARS = 0.4
"""The days of another year, where a query names no year, beside those of the year that it means (ours)."""
_NEAR = 0.5
"""The days right before and after those asked for, where nothing was said of these (ours)."""
_FADES = 4.0
"""Days of distance after which a near day is worth 1/e of that."""
_WEEK = 7
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

    def on_days(self, asked: Iterable[DateSpan], n: int, now: datetime, *, spoken_of: bool = False) -> Floats:
        """What each of the first n rows has to do with the days asked for, in [0, 1], shape (n,): 1 if it speaks of
        them, or was said on them and speaks of no other day; less, if it was said on them and speaks of other days
        only. All of their days are alike. Where there is no such row, the days near to those that are past count. With
        `spoken_of` only what a row speaks of counts."""
        found, near = np.zeros(n), np.zeros(n)
        if n == 0:
            return found
        said, spoken, count = self.said.first(n), self.spoken.first(n), self._count(n)
        if spoken_of:
            spoken = np.zeros(n, dtype=bool)
        rows, first, last = self.row.first(count), self.first.first(count), self.last.first(count)
        breadth = (last - first + 1).astype(np.float64)
        when_said = np.where(self.dated(n), _OTHER_DAYS, 1.0)
        for begin, end, share in self._years(asked, said):
            sharp = share * np.minimum(1.0, equations.sharpness(end - begin + 1, breadth, _WEEK))
            if end < now.toordinal() and not spoken_of:
                sharp = sharp * np.where(said[rows] < begin, _PLANNED, 1.0)
            np.maximum.at(found, rows, np.where((first <= end) & (last >= begin), sharp, 0.0))
            on = spoken & (begin <= said) & (said <= end)
            found[on] = np.maximum(found[on], share * when_said[on])
            if end >= now.toordinal():
                continue
            near = np.maximum(near, np.where(spoken, share * _faded(said, said, begin, end), 0.0))
            np.maximum.at(near, rows, sharp * _faded(first, last, begin, end))
        return found if found.any() else _NEAR * near

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

    def _years(self, asked: Iterable[DateSpan], said: Days) -> Iterable[tuple[int, int, float]]:
        """Each span asked for, in every year of the memory where none was named, with what it counts."""
        newest = date.fromordinal(int(said.max())).year
        oldest = max(newest - _YEARS, date.fromordinal(int(said.min())).year)
        for span in asked:
            own = span.first.toordinal(), span.last.toordinal()
            yield *own, 1.0
            for days in _in_years((span,), range(oldest, newest + 2)) if span.any_year else ():
                if days != own:
                    yield *days, _OTHER_YEARS


def asked_of(text: str, spans: Sequence[DateSpan], now: datetime) -> tuple[DateSpan, ...]:
    """The days, of those that a query names, of which it asks what was on them: not "the trip planned for 18 May",
    "since March", "a few weeks ago", "what could I cook today", "who lives there today", nor what it says before or
    after its question."""
    if not spans:
        return ()
    today = now.date()
    first = today if asks_for_advice(text) else date.max
    is_past = speaks_of_the_past(text)
    said = sentences(text)
    asking = said if len(said) == 1 else [(start, end) for start, end in said if asks(text[start:end])]
    return tuple(
        span
        for span in spans
        if span.last < first
        and not _is_rough(span)
        and (is_past or not span.first == span.last == today)
        and any(start <= span.start < end for start, end in asking)
        and not names_day_beside(text, span.start, span.end)
    )


def _is_rough(span: DateSpan) -> bool:
    """Whether it only says about when: two weeks and more that are no months."""
    return (span.last - span.first).days >= _ROUGH_DAYS and span.first.day != 1


def without_days(text: str, spans: Sequence[DateSpan]) -> str:
    """A query without the words that name these days."""
    rest = text
    for span in reversed(spans):
        rest = f"{rest[: span.start].rstrip()} {rest[span.end :].lstrip()}"
    return rest


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


def _faded(first: Days, last: Days, begin: int, end: int) -> Floats:
    gap = np.maximum(begin - last, first - end)
    return _FADED.take(gap, mode="clip")  # below 0 as at 0


_FADED = equations.fading(np.arange(1000.0), _FADES)
"""What is left at so many days; at a thousand it is 0 to a hundred places."""
