"""Since when a statement holds: "last year", "in May 2024", "for three weeks"."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from typing import Literal, NamedTuple

from embermem.core.patterns import regex
from embermem.languages.dates.days import on_weekday, unit_from
from embermem.languages.dates.direction import side_of
from embermem.languages.en.direction import DIRECTION
from embermem.languages.en.vocabulary import DAY_OF, DAY_WORDS, MONTH_NAMES, MONTH_OF, MONTH_WORDS, SEASON, amount
from embermem.languages.facts.finding import When


class Began(NamedTuple):
    """Since when something is so: the first day, and how exactly that was said."""

    day: date
    grain: Literal["day", "month", "year"]


_UNITS = "day|week|month|year"
_NUMBERS = "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty"
_PATTERN = regex(
    rf"""\b(?:
      (?P<near>yesterday|today|last\ night|last\ weekend|this\ morning|(?P<which>last|this)\ (?P<unit>week|month|year))
    | (?:last\ (?P<season>{"|".join(SEASON)}))
    | (?:(?:last|on)\ (?P<weekday>{DAY_WORDS.replace(" ", "|")}))
    | (?P<n>\d{{1,3}}|an?|one|{_NUMBERS})\ (?P<ago>{_UNITS})s?\ ago
    | for\ (?:the\ (?:last|past)\ )?(?:over\ |about\ |almost\ )?(?P<k>\d{{1,3}}|{_NUMBERS})\ (?P<span>{_UNITS})s?
    | (?:in|since|back\ in)\ (?:the\ year\ )?(?P<year>(?:19|20)\d\d)\b
    | (?:in|since|last|on|this|back\ in)\ (?:(?:early|late|mid)[ -])?(?:(?:the\ )?(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\ (?:of\ )?)?(?P<month>{MONTH_WORDS.replace(" ", "|")})\b\.?(?:\ (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d))?(?:,?\ (?:of\ )?(?P<year2>(?:19|20)\d\d)\b)?
    )(?!\w)""",
    re.IGNORECASE | re.VERBOSE,
)


def since(text: str, said_at: datetime, pos: int = 0, endpos: int | None = None) -> When | None:
    """Since when a statement holds: the first expression of it in text[pos:endpos]; None if there is none, or it names
    no time that is past."""
    match = _PATTERN.search(text, pos, len(text) if endpos is None else endpos)
    if match is None:
        return None
    try:
        began = _began(match, said_at.date())
    except (ValueError, OverflowError):
        return None
    if began is None:
        return None
    day = began.day
    at = said_at.replace(year=day.year, month=day.month, day=day.day, hour=0, minute=0, second=0, microsecond=0)
    return When(at, _label(began), match.end())


def _began(match: re.Match[str], said: date) -> Began | None:
    if match["near"]:
        return _near(match["near"].lower(), match, said)
    if match["season"]:
        month = SEASON[match["season"].lower()]
        return Began(date(said.year if month < said.month - 2 else said.year - 1, month, 1), "month")
    if match["weekday"]:
        if _side(match) > 0:
            return None
        return Began(on_weekday(DAY_OF[match["weekday"][:3].lower()], -1, said).first, "day")
    if match["ago"]:
        return _back(amount(match["n"])[0], match["ago"].lower(), said)
    if match["span"]:
        return _back(amount(match["k"])[0], match["span"].lower(), said)
    if match["year"]:
        year = int(match["year"])
        return None if year > said.year else Began(date(year, 1, 1), "year")
    return _in_month(match, said)


def _near(words: str, match: re.Match[str], said: date) -> Began:
    if words in ("yesterday", "last night"):
        return _back(1, "day", said)
    if words in ("today", "this morning"):
        return Began(said, "day")
    if words == "last weekend":
        return Began(unit_from("weekend", -1, said).first, "day")
    back, unit = int(match["which"].lower() == "last"), match["unit"].lower()
    if unit == "week":
        return Began(unit_from("week", -back, said).first, "day")
    return _back(back, unit, said)


def _back(n: int, unit: str, said: date) -> Began:
    """So many units before: of days and weeks the day, of months and years the first day."""
    if unit in ("day", "week"):
        return Began(said - timedelta(days=n * (7 if unit == "week" else 1)), "day")
    return Began(unit_from(unit, -n, said).first, "month" if unit == "month" else "year")


def _in_month(match: re.Match[str], said: date) -> Began | None:
    day = match["d1"] or match["d2"]
    year = int(match["year2"]) if match["year2"] else said.year
    found = date(year, MONTH_OF[match["month"][:3].lower()], int(day) if day else 1)
    if found > said:
        if match["year2"] or _side(match) >= 0:
            return None
        found = found.replace(year=found.year - 1)
    return Began(found, "day" if day else "month")


def _side(match: re.Match[str]) -> int:
    """1 if the text says that a day or month lies ahead, -1 if it says that it lies behind, else 0."""
    if match.group()[:5].lower() in ("last ", "since"):
        return -1
    return side_of(DIRECTION, match.string, match.start(), match.end())


def _label(began: Began) -> str:
    day, year = began.day, str(began.day.year)
    if began.grain == "year":
        return year
    month = f"{MONTH_NAMES[day.month - 1]} {year}"
    return month if began.grain == "month" else f"{day.day} {month}"
