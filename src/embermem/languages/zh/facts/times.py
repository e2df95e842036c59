"""The time that a clause names: when an event was, and when a plan ends."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import NamedTuple

from embermem.languages.dates.days import DateSpan, months
from embermem.languages.dates.engine import date_spans, since
from embermem.languages.facts.finding import When
from embermem.languages.zh.dates import DATES


class Times(NamedTuple):
    """The days that a clause names."""

    first: date
    last: date


def times(text: str, said_at: datetime) -> Times | None:
    """The most exact of the times that a clause names; None if it names none."""
    spans = date_spans(text, said_at)
    if not spans:
        return None
    best = _most_exact(spans)
    return Times(best.first, best.last)


def past(text: str, said_at: datetime) -> When | None:
    """Since when, or when, something was; None if the clause names no time or a later one."""
    named = times(text, said_at)
    if named is None:
        return since(DATES, text, said_at)
    return None if named.first > said_at.date() else _when(named, said_at)


def planned(text: str, said_at: datetime) -> tuple[When, datetime] | None:
    """When a plan is for, and when it ends: the first moment after its last day. A day without a year is the next."""
    spans = date_spans(text, said_at)
    if not spans:
        return None
    best = _most_exact(spans).on_side(1, said_at.date())
    named = Times(best.first, best.last)
    if named.last < said_at.date():
        return None
    return _when(named, said_at), _midnight(named.last + timedelta(days=1), said_at)


def _most_exact(spans: tuple[DateSpan, ...]) -> DateSpan:
    return min(spans, key=lambda span: (span.last - span.first, span.start))


def _when(named: Times, said_at: datetime) -> When:
    return When(_midnight(named.first, said_at), _label(named.first, named.last), 0)


def _midnight(day: date, said_at: datetime) -> datetime:
    return said_at.replace(year=day.year, month=day.month, day=day.day, hour=0, minute=0, second=0, microsecond=0)


def _label(first: date, last: date) -> str:
    """2026年5月3日, 2026年5月3日那周, 2026年5月, 2026年3月至5月, 2026年, or the two ends of other spans."""
    if first == last:
        return _day(first)
    if first.year != last.year:
        return f"{_day(first)}至{_day(last)}"
    if first.day == 1 and last == months(last.year, last.month).last:
        if (first.month, last.month) == (1, 12):
            return f"{first.year}年"
        end = "" if first.month == last.month else f"至{last.month}月"
        return f"{first.year}年{first.month}月{end}"
    if (last - first).days == 6 and first.weekday() == 0:
        return f"{_day(first)}那周"
    return f"{_day(first)}至{last.day}日" if first.month == last.month else f"{_day(first)}至{last.month}月{last.day}日"


def _day(day: date) -> str:
    return f"{day.year}年{day.month}月{day.day}日"
