"""What a language says of dates: its rules, and what joins two dates."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from typing import TypeVar

from embermem.core.patterns import regex
from embermem.languages.dates.days import DateSpan, Days
from embermem.languages.parts import NEVER

FLAGS = re.IGNORECASE | re.ASCII
DIGITS = "0123456789０１２３４５６７８９"

Core = Callable[[re.Match[str], date], Days | None]
"""What a match means if it was said on that day; None if it means no date."""
Prefix = Callable[[re.Match[str], DateSpan, date], Days | None]
"""The same for what stands before a date, which is given."""
Rule = tuple[str, str, Core]
"""The words that a date can begin with, its pattern, and what that means."""
_Meaning = TypeVar("_Meaning", Core, Prefix)


@dataclass(frozen=True, kw_only=True, slots=True)
class Joints:
    """What stands between two dates that say something together. Patterns of FLAGS, whose spaces are written `\\s`."""

    to: str = NEVER
    """Words between the ends of a span that `begins` opened, with what is around them."""
    dash: str = NEVER
    """Signs that join the ends of any span."""
    of: str = NEVER
    """Between a date and the year it is of."""
    that_year: str = NEVER
    begins: str = NEVER
    """What opens a span, up to its first date."""
    part_of_day: str = NEVER
    on: str = NEVER
    """Before a date that says again what another said."""
    weekday: str = NEVER
    """Words that may be a weekday alone."""
    number: str = NEVER
    """Signs of a date that is said in numbers."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DateTables:
    """The rules of a language.

    `leads` is a pattern that finds the words with which rules begin, in lower case; `cores` are the dates themselves,
    `prefixes` what may stand before one. `needed` finds a sign without which no text has a date of these rules, and
    which no ASCII text has; None where every text may.
    """

    leads: str
    cores: tuple[Rule, ...]
    prefixes: tuple[tuple[str, str, Prefix], ...] = ()
    needed: re.Pattern[str] | None = None
    joints: Joints = Joints()


def by_lead(rules: Iterable[tuple[str, str, _Meaning]]) -> dict[str, list[tuple[re.Pattern[str], _Meaning]]]:
    """The patterns with their meanings, under each word that they can begin with (0: any digit).

    A space in a pattern is one to three of any white space.
    """
    found: dict[str, list[tuple[re.Pattern[str], _Meaning]]] = {}
    for leads, pattern, meaning in rules:
        compiled = regex(pattern.replace(" ", r"[\s\u00a0\u3000]{1,3}"), FLAGS)
        for lead in leads.replace("0", " ".join(DIGITS)).split():
            found.setdefault(lead, []).append((compiled, meaning))
    return found


def _iso(match: re.Match[str], said: date) -> Days | None:
    day = date(int(match["year"]), int(match["month"]), int(match["day"]))
    return Days(day, day) if 1900 <= day.year <= 2100 else None


def _numeric(match: re.Match[str], said: date) -> Days | None:
    """ "18.05.2026", "18/05/2026". Where the month may go first, as in "5/6/2026", which is meant is not known."""
    one, two, year = int(match["one"]), int(match["two"]), int(match["year"])
    if match["cut"] != "." and one <= _MONTHS and two <= _MONTHS and one != two:
        return None
    month, day = (two, one) if one > _MONTHS or match["cut"] == "." else (one, two)
    return Days(date(year, month, day), date(year, month, day))


_MONTHS = 12
_CUT = r"(?P<cut>[-/.])"
ISO = DateTables(
    leads=r"(?a:\b)[0-9](?=[0-9]{3}[-/.][0-9]{1,2}[-/.][0-9]|[0-9]?[-/.][0-9]{1,2}[-/.](?:19|20)[0-9]{2})",
    cores=(
        ("0", rf"(?P<year>\d{{4}}){_CUT}(?P<month>\d{{1,2}})(?P=cut)(?P<day>\d{{1,2}})(?!\d|[-/.]\d)", _iso),
        ("0", rf"(?P<one>\d{{1,2}}){_CUT}(?P<two>\d{{1,2}})(?P=cut)(?P<year>(?:19|20)\d\d)(?!\d|[-/.]\d)", _numeric),
    ),
)
"""Dates in numbers, which every language has: 2026-05-02 (ISO 8601), 02.05.2026."""
