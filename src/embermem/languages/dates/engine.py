"""The search: the words that a rule can begin with lead to it, so that a text without any of them costs one pass."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import cache, partial
from typing import NamedTuple

from embermem.languages.dates.days import DateSpan, Days
from embermem.languages.dates.joining import agreed, joined
from embermem.languages.dates.rules import Core, Prefix, by_lead
from embermem.languages.registry import all, of_signs, spelled

__all__ = ["ELSEWHEN", "DateSpan", "date_spans", "names_days", "relative_spans"]

_MOST_SPANS = 16
_DEEPEST = 3
_NEAR = 24
"""Characters between two dates that may speak of the same."""
ELSEWHEN = datetime(1990, 1, 3, tzinfo=UTC)
"""A moment in which nothing is said, to which relative dates are held."""


class _Grammar(NamedTuple):
    leads: re.Pattern[str]
    cores: dict[str, list[tuple[re.Pattern[str], Core]]]
    prefixes: dict[str, list[tuple[re.Pattern[str], Prefix]]]


class _Reading(NamedTuple):
    text: str
    lower: str
    said: date
    grammar: _Grammar


def date_spans(text: str, said_at: datetime) -> tuple[DateSpan, ...]:
    """The dates in the text, at most 16, in order and without overlap; raises for no text and no moment.

    `said_at` gives the day in its own zone. A date without a year says `any_year`. It lies ahead or behind where its
    clause says so ("by June", "it was in June"), else it is the nearest of its kind, the past on a tie. A weekday alone
    is the next where its clause says that it lies ahead, else the latest before that day.
    Other words beside a date ("last Friday on 23 January 2022") count from that date. Days outside of the calendar are
    left out.
    """
    reading = _Reading(text, _lowered(text), said_at.date(), _grammar(_needed(text)))
    spans: list[DateSpan] = []
    end = 0
    for lead in reading.grammar.leads.finditer(reading.lower):
        if lead.start() < end or (span := _expression(reading, lead)) is None:
            continue
        is_near = bool(spans) and span.start - spans[-1].end <= _NEAR
        if is_near and (one := joined(text, spans[-1], span)):
            spans[-1] = one
        elif is_near and (left := agreed(text, spans[-1], span, partial(_again, reading))):
            spans[-1:] = left
        elif len(spans) == _MOST_SPANS:
            break
        else:
            spans.append(span)
        if len(spans) > _MOST_SPANS:
            break
        end = span.end
    return tuple(spans[:_MOST_SPANS])


def names_days(text: str) -> bool:
    """Whether a text names days, whenever it is said."""
    return bool(date_spans(text, ELSEWHEN))


def relative_spans(text: str, said_at: datetime) -> tuple[DateSpan, ...]:
    """Those of the dates in a text that name other days when said at another time: "last Friday", but not "5 May"."""
    spans = date_spans(text, said_at)
    if not spans:
        return ()
    fixed = {(span.start, span.end): span.first for span in date_spans(text, ELSEWHEN)}
    return tuple(s for s in spans if not s.any_year and fixed.get((s.start, s.end)) != s.first)


def _needed(text: str) -> tuple[bool, ...]:
    """Of each language, whether the text may hold a date of its rules: the one that its letters spell, and those whose
    own signs stand in it. Where signs are shared (Japanese), the language that they are shared with is left out."""
    own, is_ascii, signed = spelled(text), text.isascii(), of_signs(text)
    shared = "" if signed is None else signed.shares
    return tuple(
        language is own
        or (needed is not None and not is_ascii and language.code != shared and needed.search(text) is not None)
        for language, needed in _NEEDED
    )


_NEEDED = tuple((language, language.dates.needed) for language in all())


@cache
def _grammar(needed: tuple[bool, ...]) -> _Grammar:
    """The rules of some languages, which may stand in one text; compiled at the first need."""
    tables = [language.dates for language, is_needed in zip(all(), needed, strict=True) if is_needed]
    leads = "|".join(dict.fromkeys(one.leads for one in tables))
    cores = dict.fromkeys(rule for one in tables for rule in one.cores)
    prefixes = dict.fromkeys(rule for one in tables for rule in one.prefixes)
    return _Grammar(re.compile(leads), by_lead(cores), by_lead(prefixes))


def _lowered(text: str) -> str:
    """The text in lower case, character by character."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(c if len(c.lower()) > 1 else c.lower() for c in text)


def _expression(reading: _Reading, lead: re.Match[str], depth: int = 0) -> DateSpan | None:
    """The longest expression that begins with the lead; what stands before a date may itself have a date before it."""
    text, said, start, best = reading.text, reading.said, lead.start(), None
    for pattern, core in reading.grammar.cores.get(lead.group(), ()):
        if (match := pattern.match(text, start)) and (best is None or match.end() > best.end):
            best = _spanned(partial(core, match, said), start, match.end()) or best
    if depth == _DEEPEST:
        return best
    for pattern, prefix in reading.grammar.prefixes.get(lead.group(), ()):
        match = pattern.match(text, start)
        if match is None or (inner_lead := reading.grammar.leads.match(reading.lower, match.end())) is None:
            continue
        inner = _expression(reading, inner_lead, depth + 1)
        if inner is not None and (best is None or inner.end > best.end):
            best = _spanned(partial(prefix, match, inner, said), start, inner.end, inner) or best
    return best


def _again(reading: _Reading, span: DateSpan, said: date) -> DateSpan | None:
    """The words of the span as if said on that day; None if they are no expression by themselves."""
    lead = reading.grammar.leads.match(reading.lower, span.start)
    found = None if lead is None else _expression(reading._replace(said=said), lead)
    return found if found is not None and found.end == span.end else None


def _spanned(days: Callable[[], Days | None], start: int, end: int, inner: DateSpan | None = None) -> DateSpan | None:
    """A span of the days; None if there are none, or if the calendar has no such day."""
    try:
        found = days()
    except (ValueError, OverflowError):
        return None
    if found is None:
        return None
    any_year, side = (inner.any_year, inner.side) if inner is not None else (False, 0)
    return DateSpan(found.first, found.last, start, end, any_year or found.any_year, found.side or side)
