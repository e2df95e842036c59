"""Rules of dates made from the words of a calendar: for languages whose dates are built like those of French."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from typing import Final

from embermem.core.patterns import regex
from embermem.languages.dates.days import (
    DateSpan,
    Days,
    away,
    months,
    nearest,
    nth_part,
    occurrence,
    on_the_day,
    on_weekday,
    rolling,
    unit_from,
    week_before,
    weekend,
)
from embermem.languages.dates.direction import Direction, side_of
from embermem.languages.dates.rules import ISO, Core, DateTables, Joints, Prefix
from embermem.languages.parts import NEVER

__all__ = ["Calendar", "tables_of"]

_CLAUSE: Final = regex(r"[^.!?;:,\n]{0,60}$")
_REST: Final = regex(r"[^.!?;:,\n]{0,40}")
_PARTS: Final = {"early": (0, 3), "mid": (1, 3), "late": (2, 3)}
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)(?![\d:%]|[.,]\d)"
_A_MONTH: Final = 28
"""Days from which a span is a month or more."""


@dataclass(frozen=True, kw_only=True)
class Calendar:
    """The words of a calendar, in lower case, and how they make dates.

    A pattern is written with {MONTH}, {WEEKDAY}, {SEASON}, {HOLIDAY}, {NEAR}, {UNIT}, {N} (an amount), {DAY} and {YEAR}
    for these, {LAST}, {NEXT} and {THIS} for words that say which one, and a space for white space. `rules` has triples
    of the words it can begin with ({months}, {weekdays} and so on; 0 is any digit), what it means (a method of
    `_Meanings`) and the pattern.
    """

    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    """From Monday, 0."""
    seasons: Mapping[str, int]
    """By their first month, in the north."""
    holidays: Mapping[str, tuple[int, ...]]
    """Month and day, or first and last day; of month 0, counted from Easter Sunday."""
    near: Mapping[str, int]
    """Days from the day of speech."""
    units: Mapping[str, str]
    amounts: Mapping[str, tuple[int, int]]
    """The least and the most that a word means."""
    last: str
    next: str
    this: str
    day: str
    """A day of a month, with the group `day`."""
    rules: tuple[tuple[str, str, str], ...]
    parts: tuple[tuple[str, str], ...] = ()
    """Words before a month or year, each with "early", "mid" or "late"."""
    part_of: str = ""
    """What may stand between such a word and its month."""
    follows: Mapping[str, str] = field(default_factory=dict)
    """Of a frequent word that a rule begins with, what must follow it."""
    ahead: str = NEVER
    """What a clause holds that speaks of the future."""
    behind: str = NEVER
    """What a clause holds that speaks of the past."""
    since: str = NEVER
    """Before a date that lies behind: "depuis"."""
    starts: str = NEVER
    """Before a date that lies ahead."""
    limits: str = NEVER
    """Before a date that lies ahead unless the clause speaks of the past: "d'ici"."""
    range: str = NEVER
    """The same word between the ends of a range, where it says nothing: "von Montag bis"."""
    of: str = ""
    """What may stand between these words and the date."""
    part_of_day: str = NEVER
    on: str = NEVER
    """Between a weekday and the week that it is of."""


def tables_of(calendar: Calendar) -> DateTables:
    """The rules of a calendar."""
    meanings = _Meanings(calendar)
    words = {
        "months": calendar.months, "weekdays": calendar.weekdays, "seasons": calendar.seasons, "near": calendar.near,
        "holidays": calendar.holidays, "units": calendar.units, "amounts": calendar.amounts,
    }  # fmt: skip
    first = {name: " ".join(dict.fromkeys(word.split()[0] for word in of)) for name, of in words.items()}
    fields = _fields(calendar)
    cores: list[tuple[str, str, Core]] = [*ISO.cores]
    for begins, means, pattern in calendar.rules:
        cores.append((begins.format(**first), _filled(pattern, fields), getattr(meanings, means)))
    prefixes: list[tuple[str, str, Prefix]] = [
        (
            word.split()[0],
            _filled(re.escape(word).replace(r"\ ", " ") + calendar.part_of, fields),
            partial(_part_of, part),
        )
        for word, part in calendar.parts
    ]
    leads = {lead for rules in (cores, prefixes) for words_of, *_ in rules for lead in words_of.split()}
    return DateTables(
        leads=_leads(leads, calendar.follows),
        cores=tuple(cores),
        prefixes=tuple(prefixes),
        joints=Joints(
            part_of_day=calendar.part_of_day, on=calendar.on, weekday="|".join(map(re.escape, calendar.weekdays))
        ),
    )


def _fields(calendar: Calendar) -> dict[str, str]:
    def named(name: str, words: Mapping[str, object]) -> str:
        found = "|".join(re.escape(word).replace(r"\ ", " ") for word in sorted(words, key=len, reverse=True))
        return rf"(?P<{name}>{found})(?![^\W_])"

    return {
        "MONTH": named("month", calendar.months) + r"\.?",
        "WEEKDAY": named("weekday", calendar.weekdays),
        "SEASON": named("season", calendar.seasons),
        "HOLIDAY": named("holiday", calendar.holidays),
        "NEAR": named("near", calendar.near),
        "UNIT": named("unit", calendar.units),
        "N": rf"(?:(?P<n>\d{{1,3}})(?!\d)|{named('amount', calendar.amounts)})",
        "DAY": calendar.day,
        "YEAR": _YEAR,
        "LAST": rf"(?P<last>{calendar.last})(?![^\W_])",
        "NEXT": rf"(?P<next>{calendar.next})(?![^\W_])",
        "THIS": rf"(?P<this>{calendar.this})(?![^\W_])",
    }


def _filled(pattern: str, fields: Mapping[str, str]) -> str:
    """A pattern with its fields, in which letters are those of Unicode."""
    for name, words in fields.items():
        pattern = pattern.replace("{" + name + "}", words)
    return f"(?u:{pattern})".replace(" ?", r"\s?")


def _leads(leads: set[str], follows: Mapping[str, str]) -> str:
    words = sorted((lead for lead in leads if not lead.isdecimal()), key=len, reverse=True)
    found = "|".join(
        re.escape(word) + (rf"(?=\s{{1,3}}(?:{follows[word]}))" if word in follows else "") for word in words
    )
    digit = r"(?<![$€£¥#/-])(?<!\d[.,:])(?<!\d)[0-9]"
    return rf"(?<![^\W_])(?:{found})(?![^\W_])|{digit}"


class _Meanings:
    """What the rules of a calendar mean."""

    def __init__(self, calendar: Calendar) -> None:
        self._of = calendar
        self._ahead = regex(calendar.ahead, re.IGNORECASE)
        self._behind = regex(calendar.behind, re.IGNORECASE)
        since, starts, limits, ends = (
            regex(rf"(?:\b(?:{lead})){calendar.of}\s*$", re.IGNORECASE)
            for lead in (calendar.since, calendar.starts, calendar.limits, calendar.range)
        )
        self._direction = Direction(tense=self._tense, since=since, starts=starts, limits=limits, range=ends)

    def day_month(self, match: re.Match[str], said: date) -> Days | None:
        """ "12 mars 2024", "12 mars", "3 au 7 mai"."""
        found = match.groupdict()
        month, day, to = self._month(match), int(found["day"]), found.get("to")

        def of_year(year: int) -> Days:
            return Days(date(year, month, day), date(year, month, int(to) if to else day))

        return self._in_year(of_year, match, said)

    def numeric(self, match: re.Match[str], said: date) -> Days | None:
        """ "12/03/2024", "12/03": the day goes first."""
        of_year = on_the_day(int(match["month"]), int(match["day"]))
        return self._in_year(of_year, match, said)

    def month_year(self, match: re.Match[str], said: date) -> Days | None:
        month = self._month(match)
        return self._in_year(lambda year: months(year, month), match, said)

    def year(self, match: re.Match[str], said: date) -> Days | None:
        year = int(match["year"])
        return Days(date(year, 1, 1), date(year, 12, 31))

    def season_year(self, match: re.Match[str], said: date) -> Days | None:
        month = self._of.seasons[_said(match["season"])]
        return self._in_year(lambda year: months(year, month, 3), match, said)

    def holiday(self, match: re.Match[str], said: date) -> Days | None:
        return self._in_year(on_the_day(*self._of.holidays[_said(match["holiday"])]), match, said)

    def before_holiday(self, match: re.Match[str], said: date) -> Days | None:
        """The week, weekend or day before a holiday."""
        feast, unit = self.holiday(match, said), self._of.units[_said(match["unit"])]
        if feast is None or unit == "week":
            return None if feast is None else week_before(feast)
        return unit_from(unit, -1, feast.first)._replace(any_year=feast.any_year, side=feast.side)

    def near(self, match: re.Match[str], said: date) -> Days | None:
        return unit_from("day", self._of.near[_said(match["near"])], said)

    def relative(self, match: re.Match[str], said: date) -> Days | None:
        """The last, this or the next unit, weekday, month, season or holiday."""
        found = match.groupdict()
        which = -1 if found.get("last") else 1 if found.get("next") else 0
        if unit := found.get("unit"):
            if which == 0 and self._of.units[_said(unit)] == "weekend":
                return weekend(self._side(match) or 1, said)
            return unit_from(self._of.units[_said(unit)], which, said)
        if weekday := found.get("weekday"):
            return on_weekday(self._of.weekdays[_said(weekday)], which, said)
        if found.get("month"):
            month = self._month(match)
            return occurrence(lambda year: months(year, month), which, said)
        if season := found.get("season"):
            first = self._of.seasons[_said(season)]
            return occurrence(lambda year: months(year, first, 3), which, said)
        return occurrence(on_the_day(*self._of.holidays[_said(found["holiday"] or "")]), which, said)

    def before_last(self, match: re.Match[str], said: date) -> Days | None:
        if weekday := match.groupdict().get("weekday"):
            return unit_from("day", -7, on_weekday(self._of.weekdays[_said(weekday)], -1, said).first)
        return unit_from(self._of.units[_said(match["unit"])], -2, said)

    def ago(self, match: re.Match[str], said: date) -> Days | None:
        return self._away(match, -1, said)

    def ahead(self, match: re.Match[str], said: date) -> Days | None:
        return self._away(match, 1, said)

    def last_units(self, match: re.Match[str], said: date) -> Days | None:
        return self._rolling(match, -1, said)

    def next_units(self, match: re.Match[str], said: date) -> Days | None:
        return self._rolling(match, 1, said)

    def weekday(self, match: re.Match[str], said: date) -> Days | None:
        """A weekday alone: the last one, or the next if its clause speaks of the future."""
        return on_weekday(self._of.weekdays[_said(match["weekday"])], self._side(match) or -1, said)

    def weekend(self, match: re.Match[str], said: date) -> Days | None:
        return weekend(self._side(match) or -1, said)

    def _month(self, match: re.Match[str]) -> int:
        return self._of.months[_said(match["month"])]

    def _amount(self, match: re.Match[str]) -> tuple[int, int]:
        return (int(match["n"]),) * 2 if match["n"] else self._of.amounts[_said(match["amount"])]

    def _away(self, match: re.Match[str], side: int, said: date) -> Days:
        return away(self._of.units[_said(match["unit"])], self._amount(match), side, said)

    def _rolling(self, match: re.Match[str], side: int, said: date) -> Days:
        return rolling(self._of.units[_said(match["unit"])], side * self._amount(match)[1], said)

    def _in_year(self, of_year: Callable[[int], Days], match: re.Match[str], said: date) -> Days | None:
        year = match.groupdict().get("year")
        return of_year(int(year)) if year else nearest(of_year, said, self._side(match))

    def _side(self, match: re.Match[str]) -> int:
        return side_of(self._direction, match.string, match.start(), match.end())

    def _tense(self, text: str, start: int, end: int) -> int:
        before, after = _CLAUSE.search(text, max(0, start - 60), start), _REST.match(text, end, end + 40)
        clause = f"{before.group() if before else ''} {after.group() if after else ''}"
        if self._behind.search(clause):
            return -1
        return 1 if self._ahead.search(clause) else 0


def _said(words: str) -> str:
    return " ".join(words.lower().replace("’", "'").split())


def _part_of(part: str, match: re.Match[str], inner: DateSpan, said: date) -> Days | None:
    days = Days(inner.first, inner.last)
    return nth_part(days, *_PARTS[part]) if (days.last - days.first).days >= _A_MONTH - 1 else None
