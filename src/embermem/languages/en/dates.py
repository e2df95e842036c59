"""The rules of English. Seasons are those of the north."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import date, timedelta

from embermem.core.patterns import regex
from embermem.languages.dates.days import (
    DateSpan,
    Days,
    away,
    decade,
    months,
    nearest,
    nth_part,
    occurrence,
    on_the_day,
    on_weekday,
    quarter,
    rolling,
    unit_from,
    week_before,
    weekend,
)
from embermem.languages.dates.direction import side_of
from embermem.languages.dates.rules import FLAGS, ISO, Core, DateTables, Joints, Prefix
from embermem.languages.en.direction import DIRECTION
from embermem.languages.en.vocabulary import AMOUNT, DAY_OF, DAY_WORDS, MONTH_OF, MONTH_WORDS, SEASON, amount

_SHORT_DAYS = "mon tue tues wed thu thur thurs fri sat sun"
_WHICH = {"last": -1, "past": -1, "this": 0, "next": 1, "coming": 1, "upcoming": 1}
_HOLIDAY = {
    "christmas": (12, 25), "christmas day": (12, 25), "christmas eve": (12, 24), "halloween": (10, 31),
    "valentine's day": (2, 14), "new year's day": (1, 1), "new year's eve": (12, 31), "easter": (0, -2, 1),
    "easter weekend": (0, -2, 1), "easter sunday": (0, 0), "easter day": (0, 0), "easter monday": (0, 1),
    "good friday": (0, -2),
}  # fmt: skip
_PART = {"early": (0, 3), "beginning": (0, 3), "start": (0, 3), "mid": (1, 3), "middle": (1, 3), "late": (2, 3)}
_PART |= {"end": (2, 3), "first": (0, 2), "second": (1, 2)}
_QUARTER = {word: i % 4 + 1 for i, word in enumerate("first second third fourth 1 2 3 4".split())}
_NEAR = {"yesterday": -1, "last night": -1, "last evening": -1, "tomorrow": 1}

# A space in a pattern is one to three of any white space.
_UNIT = r"(?P<unit>day|weekend|week|month|year)"
_N = rf"(?P<n>\d{{1,3}}|a couple(?: of)?|couple(?: of)?|a few|{'|'.join(sorted(AMOUNT, reverse=True))})"
_YEAR = r"(?P<year>(?:19|20)\d\d|2100)(?!\d|[.,:]\d)\b"
_THEN_YEAR = rf"(?:(?:,\s{{0,3}}|-| of | ){_YEAR})?"
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|apr(?:il)?|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?|(?-i:M(?:ar(?:ch)?|ARCH|ay|AY))|(?:may|march)(?=,? (?:19|20)\d\d))\b\.?"
)
_TH = r"(?:st|nd|rd|th)?"
_NO_MORE = r"(?![0-9a-z_:%]|\.\d)"
_TO = r"(?: to | until | till | through |\s?[-–—]\s?)"
_WEEKDAY = rf"(?P<weekday>{DAY_WORDS.replace(' ', '|')})\b"
_SHORT = r"(?-i:Mon|Tues?|Wed|Thurs?|Thu|Fri|Sat|Sun)\b"
_SEASONS = r"(?P<season>spring|summer|autumn|fall|winter)\b"
_HOLIDAYS = (
    r"(?P<holiday>christmas(?: eve| day)?|halloween|valentine['’]?s day|new year['’]?s (?:eve|day)|good friday"
    r"|easter(?: sunday| monday| day| weekend)?(?! (?:eggs?|bunn(?:y|ies)|baskets?|hunts?|islands?)\b))\b"
)

_QUARTERS = r"(?:q(?P<q>[1-4])|(?P<k>first|second|third|fourth) quarter)"

_BEFORE_YEAR = regex(
    r"\b(?:in|since|by|from|during|until|till|before|after|year|early|mid|late|between|throughout"
    r"|(?:end|start|beginning|middle)\sof|(?:from|between)\s(?:\w{1,9}\s)?\d{4}\s(?:to|and|until))[\s-]{1,3}$",
    FLAGS,
)
_BEFORE_MONTH = regex(
    r"\b(?:(?P<sure>in|during|since|early|mid|late)|by|from|until|till|before|after|of|between|throughout|through"
    r"|(?:from|between)\s\w{3,9}\s(?:to|and|until))[\s-]{1,3}$",
    FLAGS,
)
_NO_ONE_DAY = regex(r"\b(?:every|each|an?|any|some|most|per|black|good|cyber|easter|palm|ash|fat)\s{1,3}$", FLAGS)
_BEFORE_DECADE = regex(r"(?:['’]|\b(?:from|of|since|during|back\sin|through|throughout|until)\sthe\s)$", FLAGS)
_NOT_FOR = regex(
    r"\b(?:(?:ha(?:ve|s|d)|do|does|did|is|was|would|could)n['’]?t|not|never|first|best|worst|most|least|longest)\b"
    r"[^.!?;:,\n]{0,40}$",
    FLAGS,
)
"""Before "in a few days" that is as long as something was not done."""
_NS = f"0 {' '.join(AMOUNT)}"
_UNITS, _NAMES = "day|week|month|year", "|".join((*MONTH_OF, *DAY_OF))
_MANY = "[0-9]|" + "|".join(w for w in AMOUNT if w not in ("a", "an", "one"))
_FOLLOWED = dict.fromkeys(AMOUNT, f"couple|few|of|{_UNITS}")
_FOLLOWED |= dict.fromkeys(
    ("last", "this", "next", "past", "coming", "upcoming"),
    f"{_UNITS}|{_NAMES}|past|coming|last|night|evening|morning|afternoon|arvo|spring|summer|autumn|fall|winter"
    f"|christmas|halloween|valentine|easter|new|{_MANY}",
)
_FOLLOWED |= dict.fromkeys(("beginning", "start", "middle", "end"), "of") | dict.fromkeys(("over", "at"), "the")
_FOLLOWED |= {
    "the": rf"{_UNITS}|{_NAMES}|last|(?:past|next|coming)\s{{1,3}}(?:{_UNITS}|{_MANY})|early|mid|late|beginning|start"
    "|end|first|second|third|fourth",
    "first": f"half|day|week|quarter|{'|'.join(DAY_OF)}",
    "second": "half|quarter",
    "third": "quarter",
    "fourth": "quarter",
    "in": f"about|around|[0-9]|{'|'.join(AMOUNT)}",
    "on": f"the|{_NAMES}",
    "new": "year",
    "good": "friday",
    "week": "before",
} | dict.fromkeys(("q1", "q2", "q3", "q4"), "of|last|this|next|[0-9]")
_TO_DAY = rf"(?P<to>\d{{1,2}}){_TH}"
_NO_ROLL = r"(?! (?:of|before|after|at|on|in(?! a row)|ago|old)\b|-|['’]s\b)"
_NO_YEAR = r"(?!-\d| ?[%$€£]| (?:people|steps|dollars|euros|words|calories)\b)"


def _month(word: str) -> int:
    return MONTH_OF[word[:3].lower()]


def _month_day(match: re.Match[str], said: date) -> Days | None:
    month, day, to = _month(match["month"]), int(match["day"]), int(match["to"] or match["day"])
    return _in_year(lambda year: Days(date(year, month, day), date(year, month, to)), match, said)


def _in_year(of_year: Callable[[int], Days], match: re.Match[str], said: date) -> Days | None:
    days = of_year(int(match["year"])) if match["year"] else nearest(of_year, said, _side(match))
    return days if days and days.first <= days.last else None


def _month_year(match: re.Match[str], said: date) -> Days | None:
    return months(int(match["year"]), _month(match["month"]))


def _month_alone(match: re.Match[str], said: date) -> Days | None:
    word = match["month"]
    if len(word) < 4 or word.lower() in ("march", "april", "june", "august", "sept"):
        before = _BEFORE_MONTH.search(match.string, max(0, match.start() - 28), match.start())
        if before is None or (word in ("may", "march", "mar") and not before["sure"]):
            return None
    return nearest(lambda year: months(year, _month(word)), said, _side(match))


def _year_alone(match: re.Match[str], said: date) -> Days | None:
    if _BEFORE_YEAR.search(match.string, max(0, match.start() - 28), match.start()) is None:
        return None
    first, last = int(match["year"]), int(match["to"] or match["year"])
    return Days(date(first, 1, 1), date(last, 12, 31)) if first <= last else None


def _season_year(match: re.Match[str], said: date) -> Days | None:
    return months(int(match["year"]), SEASON[match["season"].lower()], 3)


def _holiday(match: re.Match[str], said: date) -> Days | None:
    return _in_year(_of_holiday(match["holiday"]), match, said)


def _of_holiday(name: str) -> Callable[[int], Days]:
    words = " ".join(name.lower().replace("’", "'").split())
    days = _HOLIDAY[words.replace("valentines", "valentine's").replace("years", "year's")]
    return on_the_day(*days)


def _week_before(match: re.Match[str], said: date) -> Days | None:
    feast = _holiday(match, said)
    return None if feast is None else week_before(feast)


def _near(match: re.Match[str], said: date) -> Days | None:
    return unit_from("day", _NEAR.get(" ".join(match.group().lower().split()), 0), said)


def _relative(match: re.Match[str], said: date) -> Days | None:
    word = match["which"].lower()
    which = _WHICH[word]
    if match["unit"]:
        unit = match["unit"].lower()
        if unit != "weekend" and match.string[max(0, match.start() - 4) : match.start()].lower() == "the ":
            return None
        if unit == "weekend" and word in ("this", "coming", "upcoming"):
            return weekend((_side(match) if word == "this" else 0) or 1, said)
        return unit_from(unit, which, said)
    if weekday := match["weekday"] or match["short"]:
        return on_weekday(DAY_OF[weekday[:3].lower()], which, said)
    if match["season"]:
        return occurrence(lambda year: months(year, SEASON[match["season"].lower()], 3), which, said)
    if match["holiday"]:
        return occurrence(_of_holiday(match["holiday"]), which, said)
    return occurrence(lambda year: months(year, _month(match["month"])), which, said)


def _before_last(match: re.Match[str], said: date) -> Days | None:
    return unit_from(match["unit"].lower(), -2, said)


def _ago(match: re.Match[str], said: date) -> Days | None:
    if match["side"].lower() == "in" and _NOT_FOR.search(match.string, max(0, match.start() - 60), match.start()):
        return None
    return away(match["unit"].lower(), amount(match["n"]), -1 if match["side"].lower() == "ago" else 1, said)


def _rolling(match: re.Match[str], said: date) -> Days | None:
    """ "The last 3 days", "the next few weeks"; one of them for "the past week", which "the next week" is not."""
    is_past = match["which"].lower() in ("last", "past")
    if match["n"] is None and not (match["the"] and is_past and match["unit"].lower() != "day"):
        return None
    most = 1 if match["n"] is None else amount(match["n"])[1]
    return rolling(match["unit"].lower(), -most if is_past else most, said)


def _weekday_alone(match: re.Match[str], said: date) -> Days | None:
    before = (match.string, max(0, match.start() - 12), match.start())
    return (
        None
        if _NO_ONE_DAY.search(*before)
        else on_weekday(DAY_OF[match["weekday"][:3].lower()], _side(match) or -1, said)
    )


def _weekend_alone(match: re.Match[str], said: date) -> Days | None:
    return weekend(_side(match) or -1, said)


def _side(match: re.Match[str]) -> int:
    return side_of(DIRECTION, match.string, match.start(), match.end())


def _quarter_year(match: re.Match[str], said: date) -> Days | None:
    return quarter(int(match["year"]), _QUARTER[(match["q"] or match["k"]).lower()])


def _year_quarter(match: re.Match[str], said: date) -> Days | None:
    return quarter(int(match["year"]), int(match["q"]))


def _quarter_of(match: re.Match[str], inner: DateSpan, said: date) -> Days | None:
    year = inner.first.year
    is_year = Days(inner.first, inner.last) == Days(date(year, 1, 1), date(year, 12, 31))
    return quarter(year, _QUARTER[(match["q"] or match["k"]).lower()]) if is_year else None


def _decade(match: re.Match[str], said: date) -> Days | None:
    if match["year"]:
        return decade(int(match["year"]))
    before = _BEFORE_DECADE.search(match.string, max(0, match.start() - 20), match.start())
    return None if before is None else decade(1900 + int(match["ten"]))


def _part_of(match: re.Match[str], inner: DateSpan, said: date) -> Days | None:
    word = (match["part"] or match["whole"]).split()[0].lower()
    return nth_part(Days(inner.first, inner.last), *_PART[word]) if _is_long(inner) else None


def _is_long(span: DateSpan) -> bool:
    """Whether the span is a month or more."""
    return (span.last - span.first).days >= 27


def _so_far(match: re.Match[str], inner: DateSpan, said: date) -> Days | None:
    if not inner.first <= said <= inner.last:
        return None
    return Days(inner.first, said) if match["side"].lower() == "earlier" else Days(said, inner.last)


def _edge_of(match: re.Match[str], inner: DateSpan, said: date) -> Days | None:
    """The first or last day, week (7 days), weekend or weekday of a month or year."""
    if not _is_long(inner):
        return None
    is_first, unit, day = match["edge"].lower() == "first", (match["unit"] or "").lower(), timedelta(days=1)
    if match["weekday"]:
        of_week = DAY_OF[match["weekday"][:3].lower()]
        return on_weekday(of_week, 1, inner.first - day) if is_first else on_weekday(of_week, -1, inner.last + day)
    more = day * {"day": 0, "week": 6, "weekend": 1}[unit]
    if is_first:
        first = on_weekday(5, 1, inner.first - day).first if unit == "weekend" else inner.first
        return Days(first, first + more)
    last = on_weekday(6, -1, inner.last + day).first if unit == "weekend" else inner.last
    return Days(last - more, last)


def _beside(match: re.Match[str], inner: DateSpan, said: date) -> Days | None:
    """What "ago", "last" and "next" would mean if said on that date; "of" a day or week: the one around it."""
    side = {"before": -1, "of": 0}.get(match["side"].lower(), 1)
    day = inner.last if side > 0 else inner.first
    if side == 0 and (match["n"] or (inner.last - inner.first).days > 6):
        return None
    if match["n"]:
        return away(match["unit"].lower(), amount(match["n"]), side, day)
    if match["weekday"]:
        return on_weekday(DAY_OF[match["weekday"][:3].lower()], side, day)
    return unit_from(match["one"].lower(), side, day)


def _day_of(match: re.Match[str], inner: DateSpan, said: date) -> Days | None:
    """ "Friday, 5 May" is that date; "Friday last week" is the Friday of that week."""
    if (inner.last - inner.first).days == 6 and inner.first.weekday() == 0:
        return on_weekday(DAY_OF[match["weekday"][:3].lower()], 0, inner.first)
    is_date = inner.first == inner.last and any(c.isdecimal() for c in match.string[inner.start : inner.end])
    return Days(inner.first, inner.last) if is_date else None


_CORES: tuple[tuple[str, str, Core], ...] = (
    *ISO.cores,
    ("0", rf"(?P<day>\d{{1,2}}){_TH}(?:{_TO}{_TO_DAY})?(?: of)?[\s-]{_MONTH}{_THEN_YEAR}", _month_day),
    ("from between", rf"(?:from|between) (?:the )?(?P<day>\d{{1,2}}){_TH} (?:to|and|until) (?:the )?{_TO_DAY}(?: of)? "
     rf"{_MONTH}{_THEN_YEAR}", _month_day),
    (MONTH_WORDS, rf"{_MONTH} (?:the )?(?P<day>\d{{1,2}}){_TH}{_NO_MORE}(?:{_TO}{_TO_DAY}{_NO_MORE})?{_THEN_YEAR}",
     _month_day),
    (MONTH_WORDS, rf"{_MONTH}(?:,| of)? {_YEAR}(?!-\d)", _month_year),
    (MONTH_WORDS, rf"(?P<month>{MONTH_WORDS.replace(' ', '|')})\b(?!['’]s)", _month_alone),
    ("0", rf"{_YEAR}(?:{_TO}(?P<to>(?:19|20)\d\d)\b)?{_NO_YEAR}", _year_alone),
    ("spring summer autumn fall winter", rf"{_SEASONS}(?: of)?,? {_YEAR}", _season_year),
    ("christmas halloween valentine valentines new easter good", rf"{_HOLIDAYS}{_THEN_YEAR}", _holiday),
    ("the week", rf"(?:the )?week before {_HOLIDAYS}{_THEN_YEAR}", _week_before),
    ("today tonight yesterday tomorrow last this",
     r"(?:today|tonight|yesterday|tomorrow|last (?:night|evening)|this (?:morning|afternoon|arvo|evening))\b", _near),
    ("last this next coming upcoming past",
     rf"(?:this (?=past|coming|last))?(?P<which>last|past|this|next|coming|upcoming) (?:{_UNIT}\b(?! of\b)|{_WEEKDAY}"
     rf"|(?P<short>{_SHORT})|{_SEASONS}|{_HOLIDAYS}|{_MONTH}(?! \d))", _relative),
    ("the last past next coming",
     r"(?P<the>the )?(?P<which>last|past|next|coming) "
     rf"(?:(?!(?:an?|one) ){_N} )?(?P<unit>day|week|month|year)s?\b{_NO_ROLL}", _rolling),
    ("q1 q2 q3 q4 the first second third fourth", rf"(?:the )?{_QUARTERS}(?: of)?,? {_YEAR}", _quarter_year),
    ("0", r"(?P<year>(?:19|20)\d\d)[\s-]?q(?P<q>[1-4])\b", _year_quarter),
    ("0", r"(?:(?P<year>(?:19|20)\d0)|(?P<ten>[3-9]0))['’]?s\b", _decade),
    ("the weekend week month year", rf"(?:the )?{_UNIT} before last\b", _before_last),
    (_NS, rf"{_N} {_UNIT}s? (?P<side>ago|from now)\b", _ago),
    ("in", rf"(?P<side>in) (?:about |around )?(?!(?:a|one) day\b){_N} {_UNIT}s?\b(?! (?:before|after|of|ago|old)\b|-)",
     _ago),
    (DAY_WORDS, _WEEKDAY, _weekday_alone),
    ("on", rf"on (?P<weekday>{_SHORT})", _weekday_alone),
    ("over at on", r"(?:over|at|on) the weekend\b(?! (?:of|before|after)\b)", _weekend_alone),
)  # fmt: skip
# The same for what stands before a date.
_PREFIXES: tuple[tuple[str, str, Prefix], ...] = (
    ("the early beginning start mid middle late end first second",
     r"(?:the )?(?:(?P<part>early|mid|late)[\s-]|(?P<whole>beginning|start|middle|end|(?:first|second) half) of )"
     r"(?:the )?", _part_of),
    ("q1 q2 q3 q4 the first second third fourth", rf"(?:the )?{_QUARTERS}(?: of)? ", _quarter_of),
    ("earlier later", r"(?P<side>earlier|later) (?:in )?", _so_far),
    ("the first last", rf"(?:the )?(?P<edge>first|last) (?:(?P<unit>day|weekend|week)|{_WEEKDAY}) (?:of|in) (?:the )?",
     _edge_of),
    (f"{_NS} the last day weekend week month year {DAY_WORDS}",
     rf"(?:{_N} {_UNIT}s?|(?:the )?(?:last )?(?:(?P<one>day|weekend|week|month|year)|{_WEEKDAY})) "
     r"(?P<side>before|after|following|of) (?:the )?", _beside),
    (f"{DAY_WORDS} {_SHORT_DAYS}", rf"(?P<weekday>{DAY_WORDS.replace(' ', '|')}|{_SHORT}),? (?:the )?", _day_of),
)  # fmt: skip


def _leads(leads: Iterable[str]) -> str:
    """Finds each lead that is a word, or the first digit of a number, if what must follow it does.

    All is written for speed: words stand by their first letter, and a look ahead leaves out most positions.
    """
    words = sorted((w for w in leads if "a" <= w[0] <= "z"), reverse=True)
    initials = sorted({w[0] for w in words})
    rest = {w: w[1:] + (rf"(?=\s{{1,3}}(?:{_FOLLOWED[w]}))" if w in _FOLLOWED else "") for w in words}
    by_letter = [f"{a}(?:{'|'.join(rest[w] for w in words if w[0] == a)})(?a:\\b)" for a in initials]
    follow = rf"[-–—]|to|un|ti|th|of|{_UNITS}|{_NAMES}"
    counts = rf"0['’]?s|[0-9]{{0,2}}(?:st|nd|rd|th)?\s{{0,3}}(?:{follow})"
    digit = rf"[0-9](?=[0-9]{{3}}|{counts})(?<![$€£¥#/-].)(?<!\d[.,:].)"
    return rf"(?a:\b)(?=[{''.join(initials)}0-9])(?:{'|'.join(by_letter)}|{digit})|{ISO.leads}"


DATES = DateTables(
    leads=_leads({lead for leads, *_ in (*_CORES, *_PREFIXES) for lead in leads.split()}),
    cores=_CORES,
    prefixes=_PREFIXES,
    joints=Joints(
        to=r",?\s(?:to|and|until|till|through)\s(?:the\s)?",
        of=r",?\s(?:of\s)?",
        that_year=r"(?:last|this|next)\s{1,3}year",
        begins=r"\b(?:from|between)(?:\s{1,3}the)?\s{1,3}",
        part_of_day="morning|afternoon|arvo|evening|night",
        on=r"(?:on[ ]{1,3})?(?:the[ ]{1,3})?",
        weekday="[a-z]{3,9}",
    ),
)
