"""Relative times with their date beside them: "last Saturday [2026-03-07]", "next month [2026-04]"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta
from itertools import pairwise

from embermem import languages
from embermem.languages.dates.engine import DateSpan, relative_spans
from embermem.languages.words import unspaced

__all__ = ["dated_text", "span_label"]

_MONTH = 31
"""Days: a longer span is told by its months."""
_TOLD = re.compile(r"\s?\[\d{4}")
"""What follows a time whose date is beside it already."""
_POSSESSIVE = re.compile(r"['’]s\b")
_BETWEEN = 5
"""Characters at most between two times of one list: ", ", " and ", "/"."""


def dated_text(text: str, said_at: datetime) -> str:
    """The text with the days that its relative times mean, if it was said at that moment, in brackets behind them."""
    parts: list[str] = []
    end = 0
    for span in _datable(text, said_at):
        if _TOLD.match(text, span.end) is None:
            possessive = _POSSESSIVE.match(text, span.end)
            told_to = span.end if possessive is None else possessive.end()
            space = "" if unspaced(text[told_to - 1]) else " "
            parts += (text[end:told_to], f"{space}[{span_label(span)}]")
            end = told_to
    return "".join((*parts, text[end:]))


def _datable(text: str, said_at: datetime) -> Iterator[DateSpan]:
    """The relative times of a text that mean one day or time for certain, list by list."""
    run: list[DateSpan] = []
    for span in relative_spans(text, said_at):
        if run and span.start - run[-1].end > _BETWEEN:
            yield from _of_list(text, run, said_at.date())
            run = []
        run.append(span)
    yield from _of_list(text, run, said_at.date())


def _of_list(text: str, run: Sequence[DateSpan], said_on: date) -> Iterable[DateSpan]:
    """Of a list that goes forward all, if the first is certain, "last Friday and Saturday"; of one that does not,
    "Monday, Wednesday, Friday", those of several words. A weekday alone that would be past may be one to come."""
    if any(one.first > other.first for one, other in pairwise(run)):
        return [span for span in run if len(text[span.start : span.end].split()) > 1]
    certain = [span for span in run if span.last >= said_on or not _is_weekday(text[span.start : span.end])]
    return run if run[:1] == certain[:1] else certain


def _is_weekday(words: str) -> bool:
    """Whether a time is the name of a weekday, and no more."""
    names = languages.by_signs(words).weekdays
    return " " not in words and words.casefold().startswith(tuple(name.casefold() for name in names))


def span_label(span: DateSpan) -> str:
    """A day, month or year (`2026-03-07`, `2026-04`), or the first and the last of several (`2026-03-07..08`).

    Days if they are no more than a month, else the months or years that they lie in.
    """
    first, last = span.first, span.last
    if (first.month, first.day, last.month, last.day) == (1, 1, 12, 31):
        return _ranged((f"{first.year:04d}",), (f"{last.year:04d}",))
    if (last - first).days >= _MONTH or (first.day == 1 and (last + timedelta(days=1)).day == 1):
        return _ranged(_parts(first)[:2], _parts(last)[:2])
    return _ranged(_parts(first), _parts(last))


def _parts(day: date) -> tuple[str, ...]:
    return f"{day.year:04d}", f"{day.month:02d}", f"{day.day:02d}"


def _ranged(first: tuple[str, ...], last: tuple[str, ...]) -> str:
    """Both ends, the second without what it shares with the first."""
    if first == last:
        return "-".join(first)
    shared = next(i for i, (one, other) in enumerate(zip(first, last, strict=True)) if one != other)
    return f"{'-'.join(first)}..{'-'.join(last[shared:])}"
