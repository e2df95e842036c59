"""Dates that a text speaks of, in English and Chinese, resolved to days against the moment at which it was said.

A table of rules, each a pattern and what it means. The words that a rule can begin with lead to it, so that a text
without any of them costs one search. Weeks run from Monday to Sunday; seasons are those of the north.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import partial
from typing import NamedTuple, TypeVar

__all__ = ["DateSpan", "date_spans"]

_FLAGS = re.IGNORECASE | re.ASCII
_MOST_SPANS = 16
_DEEPEST = 3


@dataclass(frozen=True, slots=True)
class DateSpan:
    """Days that a text speaks of, both ends included, and the characters [start, end) that say so."""

    first: date
    last: date
    start: int
    end: int
    any_year: bool = False
    """The year was not said ("in May", "on 9 June"): `first` is in the year that lies nearest."""


class _Days(NamedTuple):
    first: date
    last: date
    any_year: bool = False


_Core = Callable[[re.Match[str], date], _Days | None]
_Prefix = Callable[[re.Match[str], DateSpan, date], _Days | None]
_Rule = TypeVar("_Rule", _Core, _Prefix)


class _Reading(NamedTuple):
    text: str
    lower: str
    leads: re.Pattern[str]
    said: date


def date_spans(text: str, said_at: datetime) -> tuple[DateSpan, ...]:
    """The dates in the text, at most 16, in order and without overlap; raises for no text and no moment.

    `said_at` gives the day in its own zone. Without a year, a date is the nearest of its kind (the past on a tie) and
    says `any_year`; a weekday alone is the latest before that day. Days outside of the calendar are left out.
    """
    is_english = text.isascii() or _ZH_NEEDED.search(text) is None
    reading = _Reading(text, _lowered(text), _LEAD if is_english else _ANY_LEAD, said_at.date())
    spans: list[DateSpan] = []
    end = 0
    for lead in reading.leads.finditer(reading.lower):
        if lead.start() < end or (span := _expression(reading, lead)) is None:
            continue
        if spans and (joined := _joined(text, spans[-1], span)):
            spans[-1] = joined
        elif len(spans) == _MOST_SPANS:
            break
        else:
            spans.append(span)
        end = span.end
    return tuple(spans)


def _lowered(text: str) -> str:
    """The text in lower case, character by character."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(c if len(c.lower()) > 1 else c.lower() for c in text)


def _expression(reading: _Reading, lead: re.Match[str], depth: int = 0) -> DateSpan | None:
    """The longest expression that begins with the lead; what stands before a date may itself have a date before it."""
    text, said, start, best = reading.text, reading.said, lead.start(), None
    for pattern, core in _CORE_RULES.get(lead.group(), ()):
        if (match := pattern.match(text, start)) and (best is None or match.end() > best.end):
            best = _spanned(partial(core, match, said), start, match.end()) or best
    if depth == _DEEPEST:
        return best
    for pattern, prefix in _PREFIX_RULES.get(lead.group(), ()):
        match = pattern.match(text, start)
        if match is None or (inner_lead := reading.leads.match(reading.lower, match.end())) is None:
            continue
        inner = _expression(reading, inner_lead, depth + 1)
        if inner is not None and (best is None or inner.end > best.end):
            best = _spanned(partial(prefix, match, inner, said), start, inner.end, inner.any_year) or best
    return best


def _spanned(days: Callable[[], _Days | None], start: int, end: int, any_year: bool = False) -> DateSpan | None:
    """A span of the days; None if there are none, or if the calendar has no such day."""
    try:
        found = days()
    except (ValueError, OverflowError):
        return None
    return None if found is None else DateSpan(found.first, found.last, start, end, any_year or found.any_year)


def _joined(text: str, one: DateSpan, two: DateSpan) -> DateSpan | None:
    """One span of "from one to two", "one - two" or "one of last year"; None if nothing joins them."""
    joint = _JOINT.fullmatch(text, one.end, two.start)
    if joint is None or (joint["to"] and not _FROM.search(text, max(0, one.start - 12), one.start)):
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
    return DateSpan(first, last, one.start, two.end, one.any_year and two.any_year) if first <= last else None


# ------------------------------------------------------------------------------------------------- the calendar


def _calendar(unit: str, n: int, day: date) -> _Days:
    """The calendar day, week, weekend, month or year that lies n after (before: n < 0) the one of the day."""
    if unit == "day":
        return _Days(day + timedelta(days=n), day + timedelta(days=n))
    if unit in ("week", "weekend"):
        monday = day + timedelta(days=7 * n - day.weekday())
        return _Days(monday + timedelta(days=5 if unit == "weekend" else 0), monday + timedelta(days=6))
    if unit == "month":
        year, month = divmod(day.year * 12 + day.month - 1 + n, 12)
        return _months(year, month + 1)
    return _Days(date(day.year + n, 1, 1), date(day.year + n, 12, 31))


def _months(year: int, month: int, count: int = 1) -> _Days:
    last_year, last = divmod(year * 12 + month + count - 2, 12)
    return _Days(date(year, month, 1), date(last_year, last + 1, monthrange(last_year, last + 1)[1]))


def _away(unit: str, amount: tuple[int, int], side: int, day: date) -> _Days:
    """What lies the amount (least, most) of units before (side -1) or after the day; some weeks: the 7 days around."""
    near, far = (side * n for n in (amount if side > 0 else amount[::-1]))
    if unit == "week":
        return _Days(day + timedelta(days=7 * near - 3), day + timedelta(days=7 * far + 3))
    return _Days(_calendar(unit, near, day).first, _calendar(unit, far, day).last)


def _weekday(weekday: int, side: int, day: date) -> _Days:
    """The last such weekday before the day (-1), the next after it (1), or the one of its week (0)."""
    off = weekday - day.weekday()
    if side:
        off = off % 7 or 7
        off = off if side > 0 else (off % 7) - 7
    return _calendar("day", off, day)


def _part(days: _Days, k: int, n: int) -> _Days:
    """Part k (from 0) of the days cut in n parts."""
    total = (days.last - days.first).days + 1
    day = timedelta(days=1)
    return _Days(days.first + day * (total * k // n), days.first + day * (total * (k + 1) // n - 1), days.any_year)


def _candidates(of_year: Callable[[int], _Days], years: Iterable[int]) -> list[_Days]:
    found = []
    for year in years:
        try:
            found.append(of_year(year))
        except ValueError:
            continue
    return found


def _nearest(of_year: Callable[[int], _Days], said: date) -> _Days | None:
    """The occurrence nearest to the day of speech, the past on a tie; 29 February may be years away."""
    y = said.year
    found = _candidates(of_year, range(y - 1, y + 2)) or _candidates(of_year, range(y - 4, y + 5))
    if not found:
        return None
    best = min(found, key=lambda d: max((d.first - said).days, (said - d.last).days, 0))
    return _Days(best.first, best.last, True)


def _occurrence(of_year: Callable[[int], _Days], which: int, said: date) -> _Days | None:
    """The last that has ended (-1), the next to begin (1), or the one under way, else that of the year (0)."""
    found = _candidates(of_year, range(said.year - 2, said.year + 3))
    if which < 0:
        return max((d for d in found if d.last < said), default=None)
    if which > 0:
        return min((d for d in found if d.first > said), default=None)
    return next((d for d in found if d.first <= said <= d.last), None) or of_year(said.year)


# ---------------------------------------------------------------------------------------------------- English

_MONTH_WORDS = (
    "january february march april may june july august september october november december "
    "jan feb mar apr jun jul aug sep sept oct nov dec"
)
_MONTH_OF = {word[:3]: i % 12 + 1 for i, word in enumerate(_MONTH_WORDS.split()[:12])}
_DAY_WORDS = "monday tuesday wednesday thursday friday saturday sunday"
_SHORT_DAYS = "mon tue tues wed thu thur thurs fri sat sun"
_DAY_OF = {word[:3]: i for i, word in enumerate(_DAY_WORDS.split())}
_AMOUNT = {w: (i, i) for i, w in enumerate("one two three four five six seven eight nine ten eleven twelve".split(), 1)}
_AMOUNT |= {"a": (1, 1), "an": (1, 1), "couple": (2, 3), "few": (2, 5), "several": (3, 7), "twenty": (20, 20)}
_WHICH = {"last": -1, "past": -1, "this": 0, "next": 1, "coming": 1, "upcoming": 1}
_SEASON = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12, "春": 3, "夏": 6, "秋": 9, "冬": 12}
_HOLIDAY = {
    "christmas": (12, 25), "christmas day": (12, 25), "christmas eve": (12, 24), "halloween": (10, 31),
    "valentine's day": (2, 14), "new year's day": (1, 1), "new year's eve": (12, 31),
    "圣诞": (12, 25), "平安夜": (12, 24), "元旦": (1, 1), "国庆": (10, 1), "情人节": (2, 14), "万圣节": (10, 31),
}  # fmt: skip
_PART = {"early": (0, 3), "beginning": (0, 3), "start": (0, 3), "mid": (1, 3), "middle": (1, 3), "late": (2, 3)}
_PART |= {"end": (2, 3), "first": (0, 2), "second": (1, 2)}
_NEAR = {"yesterday": -1, "last night": -1, "last evening": -1, "tomorrow": 1}

# A space in a pattern is one to three of any white space.
_UNIT = r"(?P<unit>day|weekend|week|month|year)"
_N = rf"(?P<n>\d{{1,3}}|a couple(?: of)?|couple(?: of)?|a few|{'|'.join(sorted(_AMOUNT, reverse=True))})"
_YEAR = r"(?P<year>(?:19|20)\d\d|2100)(?!\d|[.,:]\d)\b"
_THEN_YEAR = rf"(?:(?:,\s{{0,3}}|-| of | ){_YEAR})?"
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|apr(?:il)?|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?|(?-i:M(?:ar(?:ch)?|ARCH|ay|AY))|(?:may|march)(?=,? (?:19|20)\d\d))\b\.?"
)
_TH = r"(?:st|nd|rd|th)?"
_NO_MORE = r"(?![0-9a-z_:%]|\.\d)"
_TO = r"(?: to | until | till | through |\s?[-–—]\s?)"
_WEEKDAY = rf"(?P<weekday>{_DAY_WORDS.replace(' ', '|')})\b"
_SHORT = r"(?-i:Mon|Tues?|Wed|Thurs?|Thu|Fri|Sat|Sun)\b"
_SEASONS = r"(?P<season>spring|summer|autumn|fall|winter)\b"
_HOLIDAYS = r"(?P<holiday>christmas(?: eve| day)?|halloween|valentine['’]?s day|new year['’]?s (?:eve|day))\b"

_JOINT = re.compile(
    r"(?P<to>,?\s(?:to|and|until|till|through)\s(?:the\s)?)|(?P<of>,?\s(?:of\s)?)|[ ]?[-–—~～到至][ ]?", _FLAGS
)
_THAT_YEAR = re.compile(r"(?:last|this|next)\s{1,3}year", _FLAGS)
_FROM = re.compile(r"(?:\b(?:from|between)(?:\s{1,3}the)?\s{1,3}|从)$", _FLAGS)
_BEFORE_YEAR = re.compile(
    r"\b(?:in|since|by|from|during|until|till|before|after|year|early|mid|late|between|throughout"
    r"|(?:end|start|beginning|middle)\sof|(?:from|between)\s(?:\w{1,9}\s)?\d{4}\s(?:to|and|until))[\s-]{1,3}$",
    _FLAGS,
)
_BEFORE_MONTH = re.compile(
    r"\b(?:(?P<sure>in|during|since|early|mid|late)|by|from|until|till|before|after|of|between|throughout|through"
    r"|(?:from|between)\s\w{3,9}\s(?:to|and|until))[\s-]{1,3}$",
    _FLAGS,
)
_NO_ONE_DAY = re.compile(r"\b(?:every|each|an?|any|some|most|per|black|good|cyber|easter|palm|ash|fat)\s{1,3}$", _FLAGS)


def _month(word: str) -> int:
    return _MONTH_OF[word[:3].lower()]


def _amount(word: str) -> tuple[int, int]:
    if word.isdecimal():
        return int(word), int(word)
    return next(_AMOUNT[w] for w in reversed(word.lower().split()) if w in _AMOUNT)


def _numbers(match: re.Match[str], said: date) -> _Days | None:
    day = date(int(match["year"]), int(match["month"]), int(match["day"]))
    return _Days(day, day) if 1900 <= day.year <= 2100 else None


def _month_day(match: re.Match[str], said: date) -> _Days | None:
    month, day, to = _month(match["month"]), int(match["day"]), int(match["to"] or match["day"])
    return _in_year(lambda year: _Days(date(year, month, day), date(year, month, to)), match["year"], said)


def _in_year(of_year: Callable[[int], _Days], year: str | None, said: date) -> _Days | None:
    days = of_year(int(year)) if year else _nearest(of_year, said)
    return days if days and days.first <= days.last else None


def _month_year(match: re.Match[str], said: date) -> _Days | None:
    return _months(int(match["year"]), _month(match["month"]))


def _month_alone(match: re.Match[str], said: date) -> _Days | None:
    word = match["month"]
    if len(word) < 4 or word.lower() in ("march", "april", "june", "august", "sept"):
        before = _BEFORE_MONTH.search(match.string, max(0, match.start() - 28), match.start())
        if before is None or (word in ("may", "march", "mar") and not before["sure"]):
            return None
    return _nearest(lambda year: _months(year, _month(word)), said)


def _year_alone(match: re.Match[str], said: date) -> _Days | None:
    if _BEFORE_YEAR.search(match.string, max(0, match.start() - 28), match.start()) is None:
        return None
    first, last = int(match["year"]), int(match["to"] or match["year"])
    return _Days(date(first, 1, 1), date(last, 12, 31)) if first <= last else None


def _season_year(match: re.Match[str], said: date) -> _Days | None:
    return _months(int(match["year"]), _SEASON[match["season"].lower()], 3)


def _holiday(match: re.Match[str], said: date) -> _Days | None:
    return _in_year(_of_holiday(match["holiday"]), match["year"], said)


def _of_holiday(name: str) -> Callable[[int], _Days]:
    words = " ".join(name.lower().replace("’", "'").split())
    month, day = _HOLIDAY[words.replace("valentines", "valentine's").replace("years", "year's")]
    return lambda year: _Days(date(year, month, day), date(year, month, day))


def _near(match: re.Match[str], said: date) -> _Days | None:
    return _calendar("day", _NEAR.get(" ".join(match.group().lower().split()), 0), said)


def _relative(match: re.Match[str], said: date) -> _Days | None:
    word = match["which"].lower()
    which = _WHICH[word]
    if match["unit"]:
        unit = match["unit"].lower()
        if unit != "weekend" and match.string[max(0, match.start() - 4) : match.start()].lower() == "the ":
            return None
        return _calendar(unit, 0 if unit == "weekend" and word in ("coming", "upcoming") else which, said)
    if weekday := match["weekday"] or match["short"]:
        return _weekday(_DAY_OF[weekday[:3].lower()], which, said)
    if match["season"]:
        return _occurrence(lambda year: _months(year, _SEASON[match["season"].lower()], 3), which, said)
    if match["holiday"]:
        return _occurrence(_of_holiday(match["holiday"]), which, said)
    return _occurrence(lambda year: _months(year, _month(match["month"])), which, said)


def _before_last(match: re.Match[str], said: date) -> _Days | None:
    return _calendar(match["unit"].lower(), -2, said)


def _ago(match: re.Match[str], said: date) -> _Days | None:
    return _away(match["unit"].lower(), _amount(match["n"]), -1 if match["side"].lower() == "ago" else 1, said)


def _weekday_alone(match: re.Match[str], said: date) -> _Days | None:
    before = (match.string, max(0, match.start() - 12), match.start())
    return None if _NO_ONE_DAY.search(*before) else _weekday(_DAY_OF[match["weekday"][:3].lower()], -1, said)


def _weekend_alone(match: re.Match[str], said: date) -> _Days | None:
    return _calendar("weekend", 0 if said.weekday() > 4 else -1, said)


def _part_of(match: re.Match[str], inner: DateSpan, said: date) -> _Days | None:
    word = (match["part"] or match["whole"]).split()[0].lower()
    return _part(_Days(inner.first, inner.last), *_PART[word]) if _is_long(inner) else None


def _is_long(span: DateSpan) -> bool:
    """Whether the span is a month or more."""
    return (span.last - span.first).days >= 27


def _so_far(match: re.Match[str], inner: DateSpan, said: date) -> _Days | None:
    if not inner.first <= said <= inner.last:
        return None
    return _Days(inner.first, said) if match["side"].lower() == "earlier" else _Days(said, inner.last)


def _edge_of(match: re.Match[str], inner: DateSpan, said: date) -> _Days | None:
    """The first or last day, week (7 days) or weekend of a month or year."""
    if not _is_long(inner):
        return None
    unit, day = match["unit"].lower(), timedelta(days=1)
    more = day * {"day": 0, "week": 6, "weekend": 1}[unit]
    if match["edge"].lower() == "first":
        first = _weekday(5, 1, inner.first - day).first if unit == "weekend" else inner.first
        return _Days(first, first + more)
    last = _weekday(6, -1, inner.last + day).first if unit == "weekend" else inner.last
    return _Days(last - more, last)


def _beside(match: re.Match[str], inner: DateSpan, said: date) -> _Days | None:
    """What "ago", "last" and "next" would mean if said on that date; "of" a day or week: the one around it."""
    side = {"before": -1, "of": 0}.get(match["side"].lower(), 1)
    day = inner.last if side > 0 else inner.first
    if side == 0 and (match["n"] or (inner.last - inner.first).days > 6):
        return None
    if match["n"]:
        return _away(match["unit"].lower(), _amount(match["n"]), side, day)
    if match["weekday"]:
        return _weekday(_DAY_OF[match["weekday"][:3].lower()], side, day)
    return _calendar(match["one"].lower(), side, day)


def _day_of(match: re.Match[str], inner: DateSpan, said: date) -> _Days | None:
    """ "Friday, 5 May" is that date; "Friday last week" is the Friday of that week."""
    if (inner.last - inner.first).days == 6 and inner.first.weekday() == 0:
        return _weekday(_DAY_OF[match["weekday"][:3].lower()], 0, inner.first)
    is_date = inner.first == inner.last and any(c.isdecimal() for c in match.string[inner.start : inner.end])
    return _Days(inner.first, inner.last) if is_date else None


# ---------------------------------------------------------------------------------------------------- Chinese

_ONES = "一二三四五六七八九"
_ZH_NUMBER = {c: i for i, c in enumerate(_ONES, 1)} | {"两": 2, "十": 10, "二十": 20, "三十": 30, "三十一": 31}
_ZH_NUMBER |= {f"{tens}十{c}": n + i for tens, n in (("", 10), ("二", 20)) for i, c in enumerate(_ONES, 1)}
_ZH_NEAR = {"大前": -3, "前": -2, "昨": -1, "今": 0, "明": 1, "后": 2, "大后": 3}
_ZH_WHICH = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
_ZH_YEAR = {"前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2}
_ZH_UNIT = {"天": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "年": "year"}
_ZH_PART = {
    "初": (0, 3), "中": (1, 3), "底": (2, 3), "末": (2, 3), "上旬": (0, 3), "中旬": (1, 3), "下旬": (2, 3),
    "年初": (0, 4), "年中": (1, 3), "年底": (3, 4), "年末": (3, 4), "上半年": (0, 2), "下半年": (1, 2),
}  # fmt: skip

_ZH_N = r"(?:[0-9０-９]{1,2}|[一二三四五六七八九十]{1,3})"
_ZH_OF_MONTH = (
    rf"(?:\s?(?P<day>{_ZH_N})\s?[日号](?:\s?[到至~～-]\s?(?P<to>{_ZH_N})\s?[日号])?|(?P<part>[初底末]|[上中下]旬))?"
)
_ZH_OF_YEAR = (
    r"(?:(?P<year>[0-9０-９]{4}|[〇零一二三四五六七八九]{4})\s?年(?!代)|(?P<which>[前去今明后]年)(?![龄纪轻级]))的?\s?"
)
_ZH_PART_OF_YEAR = (
    r"(?:(?P<part>年?(?:初(?![中一二三级恋])|[底末])|年中(?!国)|[上下]半年)|(?P<season>[春夏秋冬])[天季])?"
)
_ZH_HOLIDAYS = "(?P<holiday>圣诞|平安夜|元旦|国庆|情人节|万圣节)节?"
_ZH_REL = "(?P<rel>上上|上|这|本|下下|下)"
_ZH_WEEK = "(?:周|星期|礼拜(?!堂))"
_ZH_WEEKDAY = "(?P<day>[一二三四五六](?![次个顿遍场起直样共])|日(?!本)|天(?!气)|末)"
_DIGITS = "0123456789０１２３４５６７８９"
_ZH_MANY = f"{_DIGITS}〇零一二两三四五六七八九十百千几"


def _zh_number(word: str) -> int:
    return int(word) if word.isdecimal() else _ZH_NUMBER.get(word, 0)


def _zh_year(match: re.Match[str], said: date) -> int | None:
    """The year said, or 0 if it is none of 1900 to 2100; None if none was said."""
    if match["which"]:
        return said.year + _ZH_YEAR[match["which"]]
    if match["year"] is None:
        return None
    year = int("".join(str(_ZH_NUMBER.get(c, 0)) if not c.isdecimal() else c for c in match["year"]))
    return year if 1900 <= year <= 2100 else 0


def _zh_date(match: re.Match[str], said: date) -> _Days | None:
    year, month = _zh_year(match, said), _zh_number(match["month"])
    if year is None:
        return _nearest(lambda y: _zh_in_month(match, y, month), said)
    return _zh_in_month(match, year, month)


def _zh_in_month(match: re.Match[str], year: int, month: int) -> _Days:
    """The day, days or part of the month that the match names, or all of it."""
    if match["day"]:
        day = _zh_number(match["day"])
        return _Days(date(year, month, day), date(year, month, max(day, _zh_number(match["to"] or ""))))
    days = _months(year, month)
    return _part(days, *_ZH_PART[match["part"]]) if match["part"] else days


def _zh_month(match: re.Match[str], said: date) -> _Days | None:
    first = _calendar("month", _ZH_WHICH[match["rel"]], said).first
    return _zh_in_month(match, first.year, first.month)


def _zh_whole_year(match: re.Match[str], said: date) -> _Days | None:
    year = _zh_year(match, said) or 0
    if match["season"]:
        return _months(year, _SEASON[match["season"]], 3)
    days = _Days(date(year, 1, 1), date(year, 12, 31))
    part = match["part"]
    return _part(days, *_ZH_PART[part if "年" in part else f"年{part}"]) if part else days


def _zh_holiday(match: re.Match[str], said: date) -> _Days | None:
    of_year, year = _of_holiday(match["holiday"]), _zh_year(match, said)
    return _nearest(of_year, said) if year is None else of_year(year)


def _zh_day(match: re.Match[str], said: date) -> _Days | None:
    return _calendar("day", _ZH_NEAR[match["near"]], said)


def _zh_week(match: re.Match[str], said: date) -> _Days | None:
    rel, day = match["rel"], match["day"]
    if rel is None:
        if day is None:
            return None
        return _weekend_alone(match, said) if day == "末" else _weekday(_zh_weekday(day), -1, said)
    week = _calendar("weekend" if day == "末" else "week", _ZH_WHICH[rel], said)
    return week if day is None or day == "末" else _weekday(_zh_weekday(day), 0, week.first)


def _zh_weekday(day: str) -> int:
    return 6 if day in "日天" else _ONES.index(day)


def _zh_ago(match: re.Match[str], said: date) -> _Days | None:
    n = _zh_number(match["n"])
    amount = _AMOUNT["few"] if match["n"] == "几" else (n, n)
    return _away(_ZH_UNIT[match["unit"]], amount, -1 if match["side"] == "前" else 1, said) if amount[0] else None


# ------------------------------------------------------------------------------------------------- the rules

_NS = f"0 {' '.join(_AMOUNT)}"
_UNITS, _NAMES = "day|week|month|year", "|".join((*_MONTH_OF, *_DAY_OF))
_FOLLOWED = dict.fromkeys(_AMOUNT, f"couple|few|of|{_UNITS}")
_FOLLOWED |= dict.fromkeys(
    ("last", "this", "next", "past", "coming", "upcoming"),
    f"{_UNITS}|{_NAMES}|past|coming|last|night|evening|morning|afternoon|spring|summer|autumn|fall|winter"
    "|christmas|halloween|valentine|new",
)
_FOLLOWED |= dict.fromkeys(("beginning", "start", "middle", "end"), "of") | dict.fromkeys(("over", "at"), "the")
_FOLLOWED |= {
    "the": f"{_UNITS}|{_NAMES}|last|early|mid|late|beginning|start|end|first|second",
    "first": "half|day|week",
    "second": "half",
    "in": f"about|around|[0-9]|{'|'.join(_AMOUNT)}",
    "on": f"the|{_NAMES}",
    "new": "year",
}
_TO_DAY = rf"(?P<to>\d{{1,2}}){_TH}"
_NO_YEAR = r"(?!-\d| ?[%$€£]| (?:people|steps|dollars|euros|words|calories)\b)"
_ZH_DIGITS = "0 〇 零 一 二 两 三 四 五 六 七 八 九 十 几"
_ZH_NEEDED = re.compile("[年月周天日晚早晨期拜诞安旦庆节]")
"""Each Chinese date has one of these signs."""

# The signs with which Chinese rules begin, if what must follow does; none that ends another word (以前, 马上).
_ZH_LEAD = (
    rf"(?<![{_ZH_MANY}])[{_ZH_DIGITS[1:].replace(' ', '')}０-９](?=[{_ZH_MANY}]{{0,3}}\s?[年月天周个星礼])"
    rf"|(?<![{_ZH_MANY}每半整个])[周星礼](?=[期拜一二三四五六日天末])|(?:(?<![马早晚])上|[下这本])(?=[上下一个周月星礼])"
    r"|(?:(?<![之以最然午饭])[前后]|[今昨明去])(?=[天日年晚早晨])|大(?=[前后])|[圣平元国情万](?=[诞安旦庆人圣])"
)

# The words that a rule can begin with (0: any digit), its pattern, its meaning.
_CORES: tuple[tuple[str, str, _Core], ...] = (
    ("0", r"(?P<year>\d{4})(?P<cut>[-/])(?P<month>\d{1,2})(?P=cut)(?P<day>\d{1,2})(?!\d|[-/.]\d)", _numbers),
    ("0", rf"(?P<day>\d{{1,2}}){_TH}(?:{_TO}{_TO_DAY})?(?: of)?[\s-]{_MONTH}{_THEN_YEAR}", _month_day),
    ("from between", rf"(?:from|between) (?:the )?(?P<day>\d{{1,2}}){_TH} (?:to|and|until) (?:the )?{_TO_DAY}(?: of)? "
     rf"{_MONTH}{_THEN_YEAR}", _month_day),
    (_MONTH_WORDS, rf"{_MONTH} (?:the )?(?P<day>\d{{1,2}}){_TH}{_NO_MORE}(?:{_TO}{_TO_DAY}{_NO_MORE})?{_THEN_YEAR}",
     _month_day),
    (_MONTH_WORDS, rf"{_MONTH}(?:,| of)? {_YEAR}(?!-\d)", _month_year),
    (_MONTH_WORDS, rf"(?P<month>{_MONTH_WORDS.replace(' ', '|')})\b(?!['’]s)", _month_alone),
    ("0", rf"{_YEAR}(?:{_TO}(?P<to>(?:19|20)\d\d)\b)?{_NO_YEAR}", _year_alone),
    ("spring summer autumn fall winter", rf"{_SEASONS}(?: of)?,? {_YEAR}", _season_year),
    ("christmas halloween valentine valentines new", rf"{_HOLIDAYS}{_THEN_YEAR}", _holiday),
    ("today tonight yesterday tomorrow last this",
     r"(?:today|tonight|yesterday|tomorrow|last (?:night|evening)|this (?:morning|afternoon|evening))\b", _near),
    ("last this next coming upcoming past",
     rf"(?:this (?=past|coming|last))?(?P<which>last|past|this|next|coming|upcoming) (?:{_UNIT}\b(?! of\b)|{_WEEKDAY}"
     rf"|(?P<short>{_SHORT})|{_SEASONS}|{_HOLIDAYS}|{_MONTH}(?! \d))", _relative),
    ("the weekend week month year", rf"(?:the )?{_UNIT} before last\b", _before_last),
    (_NS, rf"{_N} {_UNIT}s? (?P<side>ago|from now)\b", _ago),
    ("in", rf"(?P<side>in) (?:about |around )?(?!(?:a|one) day\b){_N} {_UNIT}s?\b(?! (?:before|after|of|ago|old)\b|-)",
     _ago),
    (_DAY_WORDS, _WEEKDAY, _weekday_alone),
    ("on", rf"on (?P<weekday>{_SHORT})", _weekday_alone),
    ("over at on", r"(?:over|at|on) the weekend\b(?! (?:of|before|after)\b)", _weekend_alone),
    (f"{_ZH_DIGITS} 前 去 今 明 后", rf"(?:{_ZH_OF_YEAR})?(?P<month>{_ZH_N})\s?月份?{_ZH_OF_MONTH}", _zh_date),
    ("0 一 二 前 去 今 明 后", rf"{_ZH_OF_YEAR}{_ZH_PART_OF_YEAR}", _zh_whole_year),
    ("0 一 二 前 去 今 明 后 圣 平 元 国 情 万", rf"(?:{_ZH_OF_YEAR})?{_ZH_HOLIDAYS}", _zh_holiday),
    ("上 下 这 本", rf"{_ZH_REL}一?个?月(?![球亮台光])份?的?{_ZH_OF_MONTH}", _zh_month),
    ("上 下 这 本 周 星 礼", rf"(?:{_ZH_REL}一?个?)?{_ZH_WEEK}{_ZH_WEEKDAY}?", _zh_week),
    ("今 昨 前 明 后 大", r"(?P<near>大前|前|昨|今|明|大后|后)(?:天|日(?!子)|[晚早晨]上?)", _zh_day),
    (_ZH_DIGITS, rf"(?P<n>[0-9０-９]{{1,3}}|[两几]|{_ZH_N})\s?个?(?P<unit>天|周|星期|礼拜|年|(?<=个)月)"
     r"[之以]?(?P<side>[前后])(?![天日年])", _zh_ago),
)  # fmt: skip
# The same for what stands before a date.
_PREFIXES: tuple[tuple[str, str, _Prefix], ...] = (
    ("the early beginning start mid middle late end first second",
     r"(?:the )?(?:(?P<part>early|mid|late)[\s-]|(?P<whole>beginning|start|middle|end|(?:first|second) half) of )"
     r"(?:the )?", _part_of),
    ("earlier later", r"(?P<side>earlier|later) (?:in )?", _so_far),
    ("the first last", r"(?:the )?(?P<edge>first|last) (?P<unit>day|weekend|week) (?:of|in) (?:the )?", _edge_of),
    (f"{_NS} the last day weekend week month year {_DAY_WORDS}",
     rf"(?:{_N} {_UNIT}s?|(?:the )?(?:last )?(?:(?P<one>day|weekend|week|month|year)|{_WEEKDAY})) "
     r"(?P<side>before|after|following|of) (?:the )?", _beside),
    (f"{_DAY_WORDS} {_SHORT_DAYS}", rf"(?P<weekday>{_DAY_WORDS.replace(' ', '|')}|{_SHORT}),? (?:the )?", _day_of),
)  # fmt: skip


def _by_lead(rules: Iterable[tuple[str, str, _Rule]]) -> dict[str, list[tuple[re.Pattern[str], _Rule]]]:
    """The compiled patterns with their meanings, under each word that they can begin with."""
    found: dict[str, list[tuple[re.Pattern[str], _Rule]]] = {}
    for leads, pattern, meaning in rules:
        compiled = re.compile(pattern.replace(" ", r"[\s\u00a0\u3000]{1,3}"), _FLAGS)
        for lead in leads.replace("0", " ".join(_DIGITS)).split():
            found.setdefault(lead, []).append((compiled, meaning))
    return found


def _english_leads(leads: Iterable[str]) -> str:
    """Finds each lead that is a word, or the first digit of a number, if what must follow it does.

    All is written for speed: words stand by their first letter, and a look ahead leaves out most positions.
    """
    words = sorted((w for w in leads if w.isascii() and w.isalpha()), reverse=True)
    initials = sorted({w[0] for w in words})
    rest = {w: w[1:] + (rf"(?=\s{{1,3}}(?:{_FOLLOWED[w]}))" if w in _FOLLOWED else "") for w in words}
    by_letter = [f"{a}(?:{'|'.join(rest[w] for w in words if w[0] == a)})(?a:\\b)" for a in initials]
    counts = rf"[0-9]{{0,2}}(?:st|nd|rd|th)?\s{{0,3}}(?:[-–—年月天周个星礼]|to|un|ti|th|of|{_UNITS}|{_NAMES})"
    digit = rf"[0-9](?=[0-9]{{3}}|{counts})(?<![$€£¥#/-].)(?<!\d[.,:].)"
    return rf"(?a:\b)(?=[{''.join(initials)}0-9])(?:{'|'.join(by_letter)}|{digit})"


_CORE_RULES = _by_lead(_CORES)
_PREFIX_RULES = _by_lead(_PREFIXES)
_LEAD = re.compile(_english_leads({*_CORE_RULES, *_PREFIX_RULES}))
_ANY_LEAD = re.compile(f"{_LEAD.pattern}|{_ZH_LEAD}")
