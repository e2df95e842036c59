"""Relative times with their date beside them: "last Saturday [2026-03-07]", "next month [2026-04]"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta
from itertools import pairwise

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
    for span in _datable(text, relative_spans(text, said_at)):
        if _TOLD.match(text, span.end) is None:
            possessive = _POSSESSIVE.match(text, span.end)
            told_to = span.end if possessive is None else possessive.end()
            space = "" if unspaced(text[told_to - 1]) else " "
            parts += (text[end:told_to], f"{space}[{span_label(span)}]")
            end = told_to
    return "".join((*parts, text[end:]))


def _datable(text: str, spans: Iterable[DateSpan]) -> Iterator[DateSpan]:
    """The times without those of a list that does not go forward, "Monday, Wednesday, Friday": these are days of every
    week, or of another week than the first. One of several words ("next Tuesday") says its day by itself."""
    run: list[DateSpan] = []
    for span in spans:
        if run and span.start - run[-1].end > _BETWEEN:
            yield from _of_list(text, run)
            run = []
        run.append(span)
    yield from _of_list(text, run)


def _of_list(text: str, run: Sequence[DateSpan]) -> Iterable[DateSpan]:
    forward = all(one.first <= other.first for one, other in pairwise(run))
    return run if forward else [span for span in run if len(text[span.start : span.end].split()) > 1]


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
