"""Spans of days, and the arithmetic of the calendar. Weeks run from Monday to Sunday."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class DateSpan:
    """Days that a text speaks of, both ends included, and the characters [start, end) that say so."""

    first: date
    last: date
    start: int
    end: int
    any_year: bool = False
    """The year was not said ("in May", "on 9 June"): `first` is in the year that lies on the side that the text says,
    else in the nearest."""
    side: int = 0
    """Of a date without a year: 1 if the text says that it lies ahead, -1 if behind, 0 if neither."""

    def on_side(self, side: int, said: date) -> DateSpan:
        """The date in the year that lies ahead of the day (1) or behind it (-1), where neither a year nor a side was
        said."""
        if not self.any_year or self.side:
            return self
        years = 1 if side > 0 and self.last < said else -1 if side < 0 and self.first > said else 0
        return replace(self, first=_years_on(self.first, years), last=_years_on(self.last, years), side=side)

    def begins(self, said_at: datetime) -> datetime:
        """The first moment of the days, where something was said."""
        return datetime.combine(self.first, time(), said_at.tzinfo)

    def is_over(self, said_at: datetime) -> datetime:
        """The first moment after the days, where something was said."""
        return datetime.combine(self.last + timedelta(days=1), time(), said_at.tzinfo)


def _years_on(day: date, years: int) -> date:
    year = day.year + years
    return day.replace(year=year, day=min(day.day, monthrange(year, day.month)[1]))


class Days(NamedTuple):
    first: date
    last: date
    any_year: bool = False
    side: int = 0


def unit_from(unit: str, n: int, day: date) -> Days:
    """The calendar day, week, weekend, month or year that lies n after (before: n < 0) the one of the day."""
    if unit == "day":
        return Days(day + timedelta(days=n), day + timedelta(days=n))
    if unit in ("week", "weekend"):
        monday = day + timedelta(days=7 * n - day.weekday())
        return Days(monday + timedelta(days=5 if unit == "weekend" else 0), monday + timedelta(days=6))
    if unit == "month":
        year, month = divmod(day.year * 12 + day.month - 1 + n, 12)
        return months(year, month + 1)
    return Days(date(day.year + n, 1, 1), date(day.year + n, 12, 31))


def months(year: int, month: int, count: int = 1) -> Days:
    last_year, last = divmod(year * 12 + month + count - 2, 12)
    return Days(date(year, month, 1), date(last_year, last + 1, monthrange(last_year, last + 1)[1]))


def away(unit: str, amount: tuple[int, int], side: int, day: date) -> Days:
    """What lies the amount (least, most) of units before (side -1) or after the day; some weeks: the 7 days around."""
    near, far = (side * n for n in (amount if side > 0 else amount[::-1]))
    if unit == "week":
        return Days(day + timedelta(days=7 * near - 3), day + timedelta(days=7 * far + 3))
    return Days(unit_from(unit, near, day).first, unit_from(unit, far, day).last)


def rolling(unit: str, n: int, day: date) -> Days:
    """The n units that begin with the day, or (n < 0) that end with it."""
    if unit in ("day", "week"):
        other = day + timedelta(days=n * (7 if unit == "week" else 1))
    else:
        month = unit_from("month", n * (12 if unit == "year" else 1), day)
        other = min(month.last, month.first + timedelta(days=day.day - 1))
    return Days(min(day, other), max(day, other))


def on_weekday(weekday: int, side: int, day: date) -> Days:
    """The last such weekday before the day (-1), the next after it (1), or the one of its week (0)."""
    off = weekday - day.weekday()
    if side:
        off = off % 7 or 7
        off = off if side > 0 else (off % 7) - 7
    return unit_from("day", off, day)


def nth_part(days: Days, k: int, n: int) -> Days:
    """Part k (from 0) of the days cut in n parts."""
    total = (days.last - days.first).days + 1
    day = timedelta(days=1)
    first, last = days.first + day * (total * k // n), days.first + day * (total * (k + 1) // n - 1)
    return Days(first, last, days.any_year, days.side)


def _candidates(of_year: Callable[[int], Days], years: Iterable[int]) -> list[Days]:
    found = []
    for year in years:
        try:
            found.append(of_year(year))
        except ValueError:
            continue
    return found


def nearest(of_year: Callable[[int], Days], said: date, side: int = 0) -> Days | None:
    """The occurrence nearest to the day of speech, the past on a tie: of those that have not ended (side 1), of those
    that have begun (-1), or of all (0). 29 February may be years away."""
    y = said.year
    for years in (range(y - 1, y + 2), range(y - 8, y + 9)):
        found = [
            d
            for d in _candidates(of_year, years)
            if (d.last >= said if side > 0 else d.first <= said if side < 0 else True)
        ]
        if found:
            best = min(found, key=lambda d: max((d.first - said).days, (said - d.last).days, 0))
            return Days(best.first, best.last, True, side)
    return None


def occurrence(of_year: Callable[[int], Days], which: int, said: date) -> Days | None:
    """The last that has ended (-1), the next to begin (1), or the one under way, else that of the year (0)."""
    found = _candidates(of_year, range(said.year - 2, said.year + 3))
    if which < 0:
        return max((d for d in found if d.last < said), default=None)
    if which > 0:
        return min((d for d in found if d.first > said), default=None)
    return next((d for d in found if d.first <= said <= d.last), None) or of_year(said.year)


def on_the_day(month: int, first: int, last: int | None = None) -> Callable[[int], Days]:
    """That day of a year, or the days up to another of the month; of month 0, counted from Easter Sunday."""

    def of_year(year: int) -> Days:
        base = _easter(year) if month == 0 else date(year, month, 1) - timedelta(days=1)
        begin, end = (base + timedelta(days=n) for n in (first, first if last is None else last))
        if month and begin.month != month:
            raise ValueError(f"no day {first} in month {month}")
        return Days(begin, end)

    return of_year


def week_before(feast: Days) -> Days:
    """The seven days before a feast; before Easter Sunday, where the feast is all of Easter."""
    day = feast.first + timedelta(days=((feast.last - feast.first).days + 1) // 2)
    return Days(day - timedelta(days=7), day - timedelta(days=1), feast.any_year, feast.side)


def _easter(year: int) -> date:
    """Easter Sunday of the Gregorian calendar: the Sunday after the first full moon of spring, by the church's tables
    of epacts."""
    golden, century = year % 19 + 1, year // 100 + 1
    left_out, moon = 3 * century // 4 - 12, (8 * century + 5) // 25 - 5
    epact = (11 * golden + 20 + moon - left_out) % 30
    if epact == 24 or (epact == 25 and golden > 11):
        epact += 1
    full_moon = 44 - epact + (30 if 44 - epact < 21 else 0)
    day = full_moon + 7 - (5 * year // 4 - left_out - 10 + full_moon) % 7
    return date(year, 3, 1) + timedelta(days=day - 1)


def weekend(side: int, day: date) -> Days:
    """The weekend that the day is in, else the last before it (-1) or the next (1)."""
    return unit_from("weekend", 0 if side > 0 or day.weekday() > 4 else -1, day)


def quarter(year: int, k: int) -> Days:
    """The k-th quarter of the year, from 1."""
    return months(year, 3 * k - 2, 3)


def decade(year: int) -> Days:
    """The ten years that begin with the year."""
    return Days(date(year, 1, 1), date(year + 9, 12, 31))
