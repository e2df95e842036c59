"""Since when a statement holds: 去年, 三个月前, 2024年5月."""

from __future__ import annotations

import re
from datetime import date, timedelta

from embermem.core.patterns import regex
from embermem.languages.dates.days import unit_from
from embermem.languages.dates.rules import Began, Since
from embermem.languages.zh.numbers import number

_PATTERN = regex(
    r"(?P<day>昨天|前天|今天)"
    r"|(?P<week>上(?:个)?(?:周|星期|礼拜))(?![一二三四五六日天末])"
    r"|(?P<lastmonth>上个?月)|(?P<thismonth>这个月)"
    r"|(?P<n>\d{1,3}|[一二两三四五六七八九十]{1,3})(?P<unit>个月|年|天|周|个星期)(?:以)?前"
    r"|(?:(?P<rel>去年|前年|今年)|(?P<year>(?:19|20)\d\d)年)(?:的)?"
    r"(?:(?P<month>\d{1,2}|[一二三四五六七八九十]{1,3})月(?:份)?)?(?:(?P<mday>\d{1,2})[日号])?"
)
_DAYS = {"天": 1, "周": 7, "个星期": 7}


def _began(match: re.Match[str], said: date) -> Began | None:
    if match["day"]:
        return Began(said - timedelta(days=("今天", "昨天", "前天").index(match["day"])), "day")
    if match["week"]:
        return Began(unit_from("week", -1, said).first, "day")
    if match["lastmonth"] or match["thismonth"]:
        return Began(unit_from("month", -1 if match["lastmonth"] else 0, said).first, "month")
    if match["unit"]:
        return _ago(number(match["n"]), match["unit"], said)
    year = int(match["year"]) if match["year"] else said.year - ("今年", "去年", "前年").index(match["rel"])
    month = number(match["month"]) if match["month"] else None
    day = int(match["mday"]) if match["mday"] and month else None
    found = date(year, month or 1, day or 1)
    return None if found > said else Began(found, "day" if day else "month" if month else "year")


def _ago(n: int | None, unit: str, said: date) -> Began | None:
    if n is None:
        return None
    if unit in _DAYS:
        return Began(said - timedelta(days=n * _DAYS[unit]), "day")
    if unit == "个月":
        return Began(unit_from("month", -n, said).first, "month")
    return Began(unit_from("year", -n, said).first, "year")


def _label(began: Began) -> str:
    day = began.day
    label = f"{day.year}年"
    if began.grain != "year":
        label += f"{day.month}月"
    if began.grain == "day":
        label += f"{day.day}日"
    return label


SINCE = Since(pattern=_PATTERN, meaning=_began, label=_label)
