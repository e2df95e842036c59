"""Simple expressions of time, resolved against the moment of speech. What is not simple stays unresolved."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class When:
    """A resolved time: the first moment of the day, month or year meant, and how it reads.

    `end` is where the expression ended in the text that was searched.
    """

    at: datetime
    label: str
    end: int
    exact_year: bool = True
    """Whether the year is certain ("two years ago" in months is not)."""


_MONTHS = ("january february march april may june july august september october november december").split()
_MONTH_NAMES = [m.capitalize() for m in _MONTHS]
_M = r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "twenty": 20, "a couple of": 2,
}  # fmt: skip
_N = r"(?P<n>\d{1,3}|a couple of|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty)"
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}

_EN = re.compile(
    rf"""\b(?:
      (?P<near>yesterday|today|last\ night|last\ weekend|this\ morning|(?P<which>last|this)\ (?P<unit>week|month|year))
    | (?:last\ (?P<season>spring|summer|autumn|fall|winter))
    | (?:(?:last|on)\ (?P<weekday>{"|".join(_DAYS)}))
    | {_N}\ (?P<ago>day|week|month|year)s?\ ago
    | for\ (?:the\ (?:last|past)\ )?(?P<over>over\ |about\ |almost\ )?(?P<k>\d{{1,3}}|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty)\ (?P<span>day|week|month|year)s?
    | (?:in|since|back\ in)\ (?:the\ year\ )?(?P<year>(?:19|20)\d\d)\b
    | (?:in|since|last|on|this|back\ in)\ (?:(?:early|late|mid)[ -])?(?:(?:the\ )?(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\ (?:of\ )?)?{_M}(?:\ (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d))?(?:,?\ (?:of\ )?(?P<year2>(?:19|20)\d\d)\b)?
    )(?!\w)""",
    re.IGNORECASE | re.VERBOSE,
)

_DIGITS = {"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10}
_ZH = re.compile(
    r"(?P<day>昨天|前天|今天)"
    r"|(?P<week>上(?:个)?(?:周|星期|礼拜))(?![一二三四五六日天末])"
    r"|(?P<lastmonth>上个?月)|(?P<thismonth>这个月)"
    r"|(?P<n>\d{1,3}|[一二两三四五六七八九十]{1,3})(?P<unit>个月|年|天|周|个星期)(?:以)?前"
    r"|(?:(?P<rel>去年|前年|今年)|(?P<year>(?:19|20)\d\d)年)(?:的)?(?:(?P<month>\d{1,2}|[一二三四五六七八九十]{1,3})月(?:份)?)?(?:(?P<mday>\d{1,2})[日号])?"
)


def find_en(text: str, said_at: datetime, pos: int = 0, endpos: int | None = None) -> When | None:
    """The first English expression of time in text[pos:endpos] that can be resolved; None if there is none."""
    match = _EN.search(text, pos, len(text) if endpos is None else endpos)
    if match is None:
        return None
    try:
        return _english(match, said_at)
    except (ValueError, OverflowError):
        return None


def find_zh(text: str, said_at: datetime, pos: int = 0, endpos: int | None = None) -> When | None:
    """The same for Chinese."""
    match = _ZH.search(text, pos, len(text) if endpos is None else endpos)
    if match is None:
        return None
    try:
        return _chinese(match, said_at)
    except (ValueError, OverflowError):
        return None


def number_zh(text: str) -> int | None:
    """A number below 1000 in digits, or below 100 in Chinese numerals; None if it is none."""
    if text.isdecimal():
        return int(text)
    if not text or any(c not in _DIGITS for c in text):
        return None
    if "十" not in text:
        return _DIGITS[text] if len(text) == 1 else None
    tens, _, ones = text.partition("十")
    if len(tens) > 1 or len(ones) > 1:
        return None
    return (_DIGITS[tens] if tens else 1) * 10 + (_DIGITS[ones] if ones else 0)


def _midnight(at: datetime) -> datetime:
    return at.replace(hour=0, minute=0, second=0, microsecond=0)


def _month_back(at: datetime, months: int) -> datetime:
    index = at.year * 12 + at.month - 1 - months
    return _midnight(at).replace(year=index // 12, month=index % 12 + 1, day=1)


def _day(at: datetime, end: int) -> When:
    return When(at, f"{at.day} {_MONTH_NAMES[at.month - 1]} {at.year}", end)


def _month(at: datetime, end: int, exact_year: bool = True) -> When:
    return When(at, f"{_MONTH_NAMES[at.month - 1]} {at.year}", end, exact_year)


def _year(at: datetime, years: int, end: int, exact: bool = True) -> When:
    first = _midnight(at).replace(year=at.year - years, month=1, day=1)
    return When(first, str(first.year), end, exact)


def _back(said_at: datetime, n: int, unit: str, end: int) -> When:
    today = _midnight(said_at)
    if unit == "day":
        return _day(today - timedelta(days=n), end)
    if unit == "week":
        return _day(today - timedelta(weeks=n), end)
    if unit == "month":
        return _month(_month_back(said_at, n), end)
    return _year(said_at, n, end, exact=False)


def _english(match: re.Match[str], said_at: datetime) -> When | None:
    end, today = match.end(), _midnight(said_at)
    if match["near"]:
        near, which, unit = match["near"].lower(), (match["which"] or "").lower(), (match["unit"] or "").lower()
        if near in ("yesterday", "last night"):
            return _day(today - timedelta(days=1), end)
        if near in ("today", "this morning"):
            return _day(today, end)
        if near == "last weekend":
            return _day(today - timedelta(days=today.weekday() + 2), end)
        back = 1 if which == "last" else 0
        if unit == "week":
            return _day(today - timedelta(days=today.weekday() + 7 * back), end)
        return _month(_month_back(said_at, back), end) if unit == "month" else _year(said_at, back, end)
    if match["season"]:
        month = _SEASONS[match["season"].lower()]
        year = said_at.year if month < said_at.month - 2 else said_at.year - 1
        return _month(today.replace(year=year, month=month, day=1), end)
    if match["weekday"]:
        back = (today.weekday() - _DAYS.index(match["weekday"].lower()) - 1) % 7 + 1
        return _day(today - timedelta(days=back), end)
    if match["ago"]:
        n = match["n"].lower()
        return _back(said_at, _NUMBERS[n] if n in _NUMBERS else int(n), match["ago"].lower(), end)
    if match["span"]:
        k = match["k"].lower()
        return _back(said_at, _NUMBERS[k] if k in _NUMBERS else int(k), match["span"].lower(), end)
    if match["year"]:
        year = int(match["year"])
        return None if year > said_at.year else _year(said_at, said_at.year - year, end)
    return _english_month(match, said_at)


def _english_month(match: re.Match[str], said_at: datetime) -> When | None:
    month = next(i for i, m in enumerate(_MONTHS, 1) if m.startswith(match["month"].lower()[:3]))
    day = match["d1"] or match["d2"]
    year = int(match["year2"]) if match["year2"] else said_at.year
    at = _midnight(said_at).replace(year=year, month=month, day=int(day) if day else 1)
    if at > said_at:
        if match["year2"]:
            return None
        at = at.replace(year=at.year - 1)
    return _day(at, match.end()) if day else _month(at, match.end())


def _chinese(match: re.Match[str], said_at: datetime) -> When | None:
    end, today = match.end(), _midnight(said_at)
    if match["day"]:
        return _zh(today - timedelta(days=("今天", "昨天", "前天").index(match["day"])), end, "day")
    if match["week"]:
        return _zh(today - timedelta(days=today.weekday() + 7), end, "day")
    if match["lastmonth"] or match["thismonth"]:
        return _zh(_month_back(said_at, 1 if match["lastmonth"] else 0), end, "month")
    if match["unit"]:
        n = number_zh(match["n"])
        if n is None:
            return None
        unit = {"个月": "month", "年": "year", "天": "day", "周": "week", "个星期": "week"}[match["unit"]]
        back = _back(said_at, n, unit, end)
        return _zh(back.at, end, "day" if unit == "week" else unit, exact=back.exact_year)
    year = int(match["year"]) if match["year"] else said_at.year - ("今年", "去年", "前年").index(match["rel"])
    month = number_zh(match["month"]) if match["month"] else None
    day = int(match["mday"]) if match["mday"] and month else None
    at = today.replace(year=year, month=month or 1, day=day or 1)
    return None if at > said_at else _zh(at, end, "day" if day else "month" if month else "year")


def _zh(at: datetime, end: int, grain: str, exact: bool = True) -> When:
    label = f"{at.year}年"
    if grain in ("month", "day"):
        label += f"{at.month}月"
    if grain == "day":
        label += f"{at.day}日"
    return When(at, label, end, exact)
