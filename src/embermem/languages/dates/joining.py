"""What two dates that stand side by side say together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta

from embermem.core.patterns import regex
from embermem.languages.dates.days import DateSpan
from embermem.languages.dates.rules import FLAGS
from embermem.languages.registry import alternatives, either

Again = Callable[[DateSpan, date], DateSpan | None]
"""The words of the span once more, as if said on that day; None if they cannot be read alone."""

_JOINT = regex(
    rf"(?P<to>{alternatives(lambda one: one.dates.joints.to)})|(?P<of>{alternatives(lambda one: one.dates.joints.of)})"
    rf"|[ ]?(?:[-–—~～]|{alternatives(lambda one: one.dates.joints.dash)})[ ]?",
    FLAGS,
)
_THAT_YEAR = either(lambda one: one.dates.joints.that_year, FLAGS)
_BEGINS = regex(rf"(?:{alternatives(lambda one: one.dates.joints.begins)})$", FLAGS)
_BESIDE = regex(
    rf"(?:[ ](?:{alternatives(lambda one: one.dates.joints.part_of_day)}))?"
    r"(?:(?P<comma>[,，])[ ]{0,2}[(（]?|[ ]{0,2}[(（:：]?[ ]{0,2})"
    rf"(?P<on>(?:{alternatives(lambda one: one.dates.joints.on)})?)",
    FLAGS,
)
_NUMBER = regex(f"[0-9０-９]|{alternatives(lambda one: one.dates.joints.number)}", FLAGS)
_WEEKDAY = either(lambda one: one.dates.joints.weekday, FLAGS)
_ELSEWHEN = date(1990, 1, 3)
_WEEK = 7


def joined(text: str, one: DateSpan, two: DateSpan) -> DateSpan | None:
    """One span of "from one to two", "one - two" or "one of last year"; None if nothing joins them."""
    joint = _JOINT.fullmatch(text, one.end, two.start)
    if joint is None or (joint["to"] and not _BEGINS.search(text, max(0, one.start - 12), one.start)):
        return None
    if joint["of"] and not (one.any_year and _THAT_YEAR.fullmatch(text, two.start, two.end)):
        return None
    first, last = one.first, one.last if joint["of"] else two.last
    crosses = (first.month, first.day) > (last.month, last.day)
    try:
        if one.any_year and not two.any_year:
            first, last = first.replace(year=two.last.year - crosses), last.replace(year=two.last.year)
        elif two.any_year and not one.any_year:
            last = last.replace(year=first.year + crosses)
    except ValueError:
        return None
    any_year = one.any_year and two.any_year
    return DateSpan(first, last, one.start, two.end, any_year, one.side or two.side) if first <= last else None


def agreed(text: str, one: DateSpan, two: DateSpan, again: Again) -> tuple[DateSpan, ...] | None:
    """What is left of a date with other words for it: "last Friday on 23 January 2022", "5 May (Friday)", "明天周五".

    The words are left out if they name that same day, or nothing near it. Else they mean what they would mean if said
    on the date. None: the two stand apart.
    """
    gap = _BESIDE.fullmatch(text, one.end, two.start)
    if gap is None:
        return None
    for day, week in ((one, two), (two, one)):
        if (found := _day_of_week(text, day, week, again)) is not None:
            return (replace(found, start=one.start, end=two.end),)
    if not gap["on"] and one.first == one.last and _is_its_weekday(text, two, one, again):
        return (one,)
    if two.first == two.last and _is_its_weekday(text, one, two, again):
        return (two,)
    if _is_explicit(text, two, again) and _is_relative(one, again):
        return _settled(one, two, again)
    if not gap["on"] and _is_explicit(text, one, again) and _is_relative(two, again):
        settled = _settled(two, one, again)
        # "On 5 May 2023, last week ..." may begin something new.
        return None if settled is None or (gap["comma"] and len(settled) > 1) else settled[::-1]
    return None


def _is_its_weekday(text: str, words: DateSpan, day: DateSpan, again: Again) -> bool:
    """Whether the words are a weekday alone, and that of the day."""
    there = again(words, day.first) if _WEEKDAY.fullmatch(text, words.start, words.end) else None
    return there is not None and there.first == there.last and abs((there.first - day.first).days) == 7


def _day_of_week(text: str, words: DateSpan, week: DateSpan, again: Again) -> DateSpan | None:
    """The weekday that lies in a week, where the words are a weekday alone: "on Friday two weeks ago"."""
    if (week.last - week.first).days != _WEEK - 1 or _WEEKDAY.fullmatch(text, words.start, words.end) is None:
        return None
    found = again(words, week.last + timedelta(days=1))
    if found is None or found.first != found.last:
        return None
    day = week.first + timedelta(days=(found.first - week.first).days % _WEEK)
    return replace(found, first=day, last=day)


def _is_explicit(text: str, span: DateSpan, again: Again) -> bool:
    """Whether the span is one day, said with a number, whenever it is said."""
    if span.first != span.last or _NUMBER.search(text, span.start, span.end) is None:
        return False
    return span.any_year or not _is_relative(span, again)


def _is_relative(span: DateSpan, again: Again) -> bool:
    """Whether the words mean other days at another time; "5 May" does not count."""
    there = None if span.any_year else again(span, _ELSEWHEN)
    return there is not None and there.first != span.first


def _settled(words: DateSpan, day: DateSpan, again: Again) -> tuple[DateSpan, ...] | None:
    """The words, if they still say something, and the day."""
    if day.any_year and (found := _within(words, day)):
        return (found,)
    there = again(words, day.first)
    if there is None or _apart(words, day) == 0 or _apart(there, day) == 0:
        return (day,)
    if there.first == words.first:
        return None
    if _apart(words, day) < 7 or there.last - there.first > timedelta(days=6) or abs(there.first - day.first).days == 7:
        return (day,)
    return replace(there, any_year=day.any_year), day


def _within(words: DateSpan, day: DateSpan) -> DateSpan | None:
    """The day in a year in which it is one of those that the words name."""
    for year in (words.first.year, words.last.year):
        try:
            first = day.first.replace(year=year)
        except ValueError:
            continue
        if words.first <= first <= words.last:
            return DateSpan(first, first, day.start, day.end)
    return None


def _apart(one: DateSpan, two: DateSpan) -> int:
    """Days from one to the other; 0 if they share any."""
    return max((two.first - one.last).days, (one.first - two.last).days, 0)
