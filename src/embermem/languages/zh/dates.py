"""The rules of Chinese. Seasons are those of the north."""

from __future__ import annotations

import re
from datetime import date

from embermem.core.patterns import regex
from embermem.languages.dates.days import (
    Days,
    away,
    decade,
    months,
    nearest,
    nth_part,
    on_the_day,
    on_weekday,
    quarter,
    rolling,
    unit_from,
    week_before,
    weekend,
)
from embermem.languages.dates.direction import Direction, side_of
from embermem.languages.dates.rules import DIGITS, Core, DateTables, Joints
from embermem.languages.zh.numbers import number

_ONES = "一二三四五六七八九"
_NUMBER = {c: i for i, c in enumerate(_ONES, 1)}
_NEAR = {"大前": -3, "前": -2, "昨": -1, "今": 0, "明": 1, "后": 2, "大后": 3}
_WHICH = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
_YEAR = {"前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2}
_UNIT = {"天": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "年": "year"}
_SEASON = {"春": 3, "夏": 6, "秋": 9, "冬": 12}
_HOLIDAY = {
    "圣诞": (12, 25), "平安夜": (12, 24), "元旦": (1, 1), "国庆": (10, 1), "情人节": (2, 14), "万圣节": (10, 31),
    "复活": (0, -2, 1), "劳动": (5, 1), "儿童": (6, 1), "清明": (4, 4, 5), "妇女": (3, 8), "教师": (9, 10),
}  # fmt: skip
_FEW = (2, 5)
_PART = {
    "初": (0, 3), "中": (1, 3), "底": (2, 3), "末": (2, 3), "上旬": (0, 3), "中旬": (1, 3), "下旬": (2, 3),
    "年初": (0, 4), "年中": (1, 3), "年底": (3, 4), "年末": (3, 4), "上半年": (0, 2), "下半年": (1, 2),
}  # fmt: skip

_N = r"(?:[0-9０-９]{1,2}|[一二三四五六七八九十]{1,3})"
_LARGE = "[一二两三四五六七八九]百零?[一二三四五六七八九十]{0,3}"
_OF_MONTH = rf"(?:\s?(?P<day>{_N})\s?[日号](?:\s?[到至~～-]\s?(?P<to>{_N})\s?[日号])?|(?P<part>[初底末]|[上中下]旬))?"
_OF_YEAR = (
    r"(?:(?P<year>[0-9０-９]{4}|[〇零一二三四五六七八九]{4})\s?年(?!代)|(?P<which>[前去今明后]年)(?![龄纪轻级]))的?\s?"
)
_PART_OF_YEAR = (
    r"(?:第?(?P<quarter>[一二三四1-4１-４])季度"
    r"|(?P<part>年?(?:初(?![中一二三级恋])|[底末])|年中(?!国)|[上下]半年)|(?P<season>[春夏秋冬])[天季])?"
)
_A_WEEK = "[一1]?个?(?:周|星期|礼拜)"
_HOLIDAYS = (
    "(?P<holiday>圣诞|平安夜|元旦|国庆|情人节|万圣节|复活(?=节)|(?:劳动|儿童|清明|妇女|教师)(?=节))节?"
    f"(?P<week>的?(?:[之以]?前的?{_A_WEEK}|{_A_WEEK}[之以]?前))?"
)
_REL = "(?P<rel>上上|上|这|本|下下|下)"
_WEEK = "(?:周|星期|礼拜(?!堂))"
_WEEKDAY = "(?P<day>[一二三四五六](?![次个顿遍场起直样共])|日(?!本)|天(?!气)|末)"
_MANY = f"{DIGITS}〇零一二两三四五六七八九十百千几"
_DIGITS = "0 〇 零 一 二 两 三 四 五 六 七 八 九 十 几"
_NEEDED = regex("[年月周天日晚早晨期拜诞安旦庆节]")
"""Each Chinese date has one of these signs."""

# The signs with which Chinese rules begin, if what must follow does; none that ends another word (以前, 马上).
_LEADS = (
    r"(?a:\b)[0-9](?=[0-9]{3}|[0-9]{0,2}\s{0,3}[年月天周个星礼])(?<![$€£¥#/-].)(?<!\d[.,:].)"
    rf"|(?<![{_MANY}])[{_DIGITS[1:].replace(' ', '')}０-９](?=[{_MANY}]{{0,4}}\s?[年月天周个星礼])"
    r"|(?<!一)半(?=年[之以]?[前后])"
    rf"|(?<![{_MANY}每半整个])[周星礼](?=[期拜一二三四五六日天末])|(?:(?<![马早晚])上|[下这本])(?=[上下一个周月星礼])"
    rf"|(?<!走)(?:最近|过去|接下来|未来|今后|(?<![附将接靠临邻就最])近)(?=的?[{_MANY}半])"
    r"|(?:(?<![之以最然午饭])[前后]|[今昨明去])(?=[天日年晚早晨])|大(?=[前后])|[圣平元国情万复](?=[诞安旦庆人圣活])|[劳儿清妇教](?=[动童明女师]节)"
)


_CLAUSE_BEFORE = regex(r"[^。！？；：，、.!?;:,\n]{0,20}$")
_CLAUSE_AFTER = regex(r"[^。！？；：，、.!?;:,\n]{0,20}")
_WANT = "(?<![重主需只])要(?![是求么不点])"
_AHEAD = regex(f"{_WANT}|准备|打算|计划|即将|约[好定在]|安排在|[定订]在|记得|别忘")
_THEN_AHEAD = regex(
    rf".{{0,6}}?(?:{_WANT}|(?<![开机社约聚晚宴大年])会(?![议上])|将(?!近)|准备|打算|计划|截止|到期)|.{{0,8}}(?:见面?|去)[吧啦哦呀]?$"
)
_BEHIND = regex("了|过(?![去来])|刚|已|昨|曾|时候|为什么")


def _number(word: str) -> int:
    return int(word) if word.isdecimal() else number(word) or 0


def _year(match: re.Match[str], said: date) -> int | None:
    """The year said, or 0 if it is none of 1900 to 2100; None if none was said."""
    if match["which"]:
        return said.year + _YEAR[match["which"]]
    if match["year"] is None:
        return None
    year = int("".join(str(_NUMBER.get(c, 0)) if not c.isdecimal() else c for c in match["year"]))
    return year if 1900 <= year <= 2100 else 0


def _date(match: re.Match[str], said: date) -> Days | None:
    year, month = _year(match, said), _number(match["month"])
    if year is None:
        return nearest(lambda y: _in_month(match, y, month), said, _side(match))
    return _in_month(match, year, month)


def _in_month(match: re.Match[str], year: int, month: int) -> Days:
    """The day, days or part of the month that the match names, or all of it."""
    if match["day"]:
        day = _number(match["day"])
        return Days(date(year, month, day), date(year, month, max(day, _number(match["to"] or ""))))
    days = months(year, month)
    return nth_part(days, *_PART[match["part"]]) if match["part"] else days


def _month(match: re.Match[str], said: date) -> Days | None:
    first = unit_from("month", _WHICH[match["rel"]], said).first
    return _in_month(match, first.year, first.month)


def _whole_year(match: re.Match[str], said: date) -> Days | None:
    year = _year(match, said) or 0
    if match["quarter"]:
        return quarter(year, _number(match["quarter"]))
    if match["season"]:
        return months(year, _SEASON[match["season"]], 3)
    days = Days(date(year, 1, 1), date(year, 12, 31))
    part = match["part"]
    return nth_part(days, *_PART[part if "年" in part else f"年{part}"]) if part else days


def _holiday(match: re.Match[str], said: date) -> Days | None:
    of_year, year = on_the_day(*_HOLIDAY[match["holiday"]]), _year(match, said)
    days = nearest(of_year, said, _side(match)) if year is None else of_year(year)
    return week_before(days) if match["week"] and days is not None else days


def _day(match: re.Match[str], said: date) -> Days | None:
    return unit_from("day", _NEAR[match["near"]], said)


def _week(match: re.Match[str], said: date) -> Days | None:
    rel, day = match["rel"], match["day"]
    if rel is None:
        if day is None:
            return None
        return weekend(_side(match) or -1, said) if day == "末" else on_weekday(_weekday(day), _side(match) or -1, said)
    week = unit_from("weekend" if day == "末" else "week", _WHICH[rel], said)
    return week if day is None or day == "末" else on_weekday(_weekday(day), 0, week.first)


def _side(match: re.Match[str]) -> int:
    return side_of(_DIRECTION, match.string, match.start(), match.end())


def _tense(text: str, start: int, end: int) -> int:
    before, after = _CLAUSE_BEFORE.search(text, max(0, start - 20), start), _CLAUSE_AFTER.match(text, end, end + 20)
    before_words, after_words = before.group() if before else "", after.group() if after else ""
    if _BEHIND.search(before_words) or _BEHIND.search(after_words):
        return -1
    return 1 if _AHEAD.search(before_words) or _THEN_AHEAD.match(after_words) else 0


_DIRECTION = Direction(
    tense=_tense,
    since=regex(r"自从?$"),
    starts=regex(r"(?:截至|截止到?|最晚|最迟|不迟于)$"),
    limits=regex(r"(?:(?<![来去])到|等到?|赶在)$"),
    range=regex(r"从[^，。；！？]{1,12}到$"),
    range_after=regex(r"[到至~～-]"),
    since_after=regex(r"(?:以来|(?:起|开始)?(?:一直|就一直))"),
    limits_after=regex(r"(?:之前|以前|前(?![天面年])|截止|到期|起|开始)"),
)


def _weekday(day: str) -> int:
    return 6 if day in "日天" else _ONES.index(day)


def _ago(match: re.Match[str], said: date) -> Days | None:
    unit, n = _UNIT[match["unit"]], _number(match["n"])
    if match["n"] == "半":
        unit, n = "month", 6
    amount = _FEW if match["n"] == "几" else (n, n)
    return away(unit, amount, -1 if match["side"] == "前" else 1, said) if amount[0] else None


def _rolling(match: re.Match[str], said: date) -> Days | None:
    unit = _UNIT[match["unit"].removeprefix("个")]
    if match["n"] == "半":
        unit, n = "month", 6 if unit == "year" else 0
    else:
        n = _FEW[1] if match["n"] == "几" else _number(match["n"])
    return rolling(unit, -n if match["when"] in ("最近", "过去", "近") else n, said) if n else None


def _decade(match: re.Match[str], said: date) -> Days | None:
    """Without its century, the one before this."""
    ten = int(match["ten"]) if match["ten"].isdecimal() else _ONES.index(match["ten"][0]) * 10 + 10
    if match["century"] is None and ten < 30:
        return None
    return decade(int(match["century"] or "19") * 100 + ten)


_CORES: tuple[tuple[str, str, Core], ...] = (
    (f"{_DIGITS} 前 去 今 明 后", rf"(?:{_OF_YEAR})?(?P<month>{_N})\s?月份?{_OF_MONTH}", _date),
    ("0 一 二 前 去 今 明 后", rf"{_OF_YEAR}{_PART_OF_YEAR}", _whole_year),
    ("0 一 二 前 去 今 明 后 圣 平 元 国 情 万 复 劳 儿 清 妇 教", rf"(?:{_OF_YEAR})?{_HOLIDAYS}", _holiday),
    ("上 下 这 本", rf"{_REL}一?个?月(?![球亮台光])份?的?{_OF_MONTH}", _month),
    ("上 下 这 本 周 星 礼", rf"(?:{_REL}一?个?)?{_WEEK}{_WEEKDAY}?", _week),
    ("今 昨 前 明 后 大", r"(?P<near>大前|前|昨|今|明|大后|后)(?:天|日(?!子)|[晚早晨]上?)", _day),
    (f"{_DIGITS} 半", rf"(?P<n>[0-9０-９]{{1,3}}|[两几]|半(?=年)|{_LARGE}|{_N})\s?个?"
     r"(?P<unit>天|周|星期|礼拜|年|(?<=个)月)[之以]?(?P<side>[前后])(?![天日年])", _ago),
    ("最近 过去 接下来 未来 今后 近",
     rf"(?P<when>最近|过去|近|接下来|未来|今后)的?这?(?P<n>[0-9０-９]{{1,3}}|[两几半]|{_N})\s?"
     r"(?P<unit>个?星期|个?礼拜|个月|[天周年])(?![龄级前后内代]|以[前后])", _rolling),
    ("0 二 三 四 五 六 七 八 九", r"(?P<century>19|20)?(?P<ten>[0-9]0|[二三四五六七八九]十)\s?年代", _decade),
)  # fmt: skip

DATES = DateTables(
    leads=_LEADS,
    cores=_CORES,
    needed=_NEEDED,
    joints=Joints(on="的", dash="[到至]", begins="从", weekday="(?:周|星期|礼拜).", number="月"),
)
