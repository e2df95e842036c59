"""The times that a sentence names, and how they read."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta

from embermem.core.patterns import regex
from embermem.languages.dates.engine import DateSpan, date_spans
from embermem.languages.en.clauses.words import FUNCTION
from embermem.languages.en.vocabulary import MONTH_NAMES

_MAY = regex(
    r"\d|\b(?:today|tonight|yesterday|tomorrow|ago|last|next|this|weekend|week|month|year|(?:mon|tues|wednes|thurs|fri|satur|sun)day|fri|sat"
    r"|jan\w*|feb\w*|march|april|may|june|july|aug\w*|sep\w*|oct\w*|nov\w*|dec\w*|christmas|halloween|spring|summer|autumn|fall|winter)\b",
    re.IGNORECASE,
)


_HOLIDAY = regex(r"christmas|halloween|valentine['’]?s day|new year['’]?s (?:eve|day)", re.IGNORECASE)
_WORD_AFTER = regex(r"\s([A-Za-z]+)")
_RECURRING = regex(r"\b(?:every|each|most)\s(?:\w+\s)?$", re.IGNORECASE)


def timed(sentence: str, said_at: datetime) -> tuple[DateSpan, ...]:
    """The times named in a sentence: no longer than two years, and none that recurs ("every second Tuesday")."""
    if _MAY.search(sentence) is None:
        return ()
    return tuple(
        one
        for one in date_spans(sentence, said_at)
        if (one.last - one.first).days < 740
        and not _RECURRING.search(sentence, 0, one.start)
        and not _is_modifier(sentence, one)
    )


def _is_modifier(sentence: str, span: DateSpan) -> bool:
    """Whether a holiday says which things are meant, and not when: "Christmas decorations"."""
    following = _WORD_AFTER.match(sentence, span.end)
    return (
        following is not None
        and following.group(1).lower() not in FUNCTION
        and _HOLIDAY.fullmatch(sentence, span.start, span.end) is not None
    )


def label_of(span: DateSpan) -> str:
    """How a time reads: "8 May 2023", "1–7 May 2023", "May 2023", "2022"."""
    first, last = span.first, span.last
    if first == last:
        return f"{first.day} {_month(first)} {first.year}"
    whole_months = first.day == 1 and (last + timedelta(days=1)).day == 1
    if first.year != last.year:
        return f"{first.year}–{last.year}"
    if whole_months and (first.month, last.month) == (1, 12):
        return str(first.year)
    if first.month != last.month:
        if whole_months:
            return f"{_month(first)}–{_month(last)} {first.year}"
        return f"{first.day} {_month(first)}–{last.day} {_month(last)} {first.year}"
    if whole_months:
        return f"{_month(first)} {first.year}"
    return f"{first.day}–{last.day} {_month(first)} {first.year}"


def _month(day: date) -> str:
    return MONTH_NAMES[day.month - 1]
