"""The rules of Japanese. Seasons are those of the north."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from datetime import date
from typing import Final

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

_ONES: Final = "一二三四五六七八九十百"
_WEEKDAYS: Final = "月火水木金土日"
_NEAR: Final = {
    "さきおととい": -3, "一昨日": -2, "おととい": -2, "昨日": -1, "きのう": -1, "昨晩": -1, "昨夜": -1, "ゆうべ": -1,
    "今日": 0, "きょう": 0, "本日": 0, "今朝": 0, "けさ": 0, "今晩": 0, "今夜": 0, "明日": 1, "あした": 1, "明朝": 1,
    "明晩": 1, "明後日": 2, "あさって": 2, "しあさって": 3,
}  # fmt: skip
_WHICH: Final = {"先々": -2, "先": -1, "昨": -1, "今": 0, "来": 1, "再来": 2}
_YEAR: Final = {
    "一昨年": -2, "おととし": -2, "去年": -1, "昨年": -1, "今年": 0, "ことし": 0, "本年": 0, "来年": 1, "再来年": 2,
}  # fmt: skip
_ERA: Final = {"令和": 2018, "平成": 1988, "昭和": 1925}
_UNIT: Final = {"日": "day", "週": "week", "月": "month", "年": "year"}
_SEASON: Final = {"春": 3, "夏": 6, "秋": 9, "冬": 12}
_SIDES: Final = {"この前": -1, "こないだ": -1, "この間": -1, "前": -1, "次": 1, "今度": 1}
_HOLIDAY: Final = {
    "クリスマスイブ": (12, 24, 24), "クリスマス": (12, 25, 25), "元日": (1, 1, 1), "元旦": (1, 1, 1), "お正月": (1, 1, 3),
    "正月": (1, 1, 3), "大晦日": (12, 31, 31), "大みそか": (12, 31, 31), "バレンタイン": (2, 14, 14), "七夕": (7, 7, 7),
    "ホワイトデー": (3, 14, 14), "ハロウィン": (10, 31, 31), "こどもの日": (5, 5, 5), "お盆": (8, 13, 16),
    "イースター": (0, -2, 1), "復活祭": (0, -2, 1),
}  # fmt: skip
_FEW: Final = (2, 5)
"""数日: some days."""
_PART: Final = {
    "初め": (0, 3), "はじめ": (0, 3), "始め": (0, 3), "頭": (0, 3), "上旬": (0, 3), "初旬": (0, 3), "半ば": (1, 3),
    "中頃": (1, 3), "中旬": (1, 3), "下旬": (2, 3), "末": (2, 3), "終わり": (2, 3), "前半": (0, 2), "後半": (1, 2),
}  # fmt: skip
_PART_OF_YEAR: Final = {
    "初め": (0, 4), "はじめ": (0, 4), "始め": (0, 4), "頭": (0, 4), "半ば": (1, 3), "末": (3, 4), "暮れ": (3, 4),
    "終わり": (3, 4), "前半": (0, 2), "後半": (1, 2), "上半期": (0, 2), "下半期": (1, 2),
}  # fmt: skip

_N = r"(?:[0-9０-９]{1,2}|[一二三四五六七八九十]{1,3})"
_PARTS = "|".join(_PART)
_OF_MONTH = (
    rf"(?:の?\s?(?:(?P<day>{_N})\s?日(?!間|目)(?:\s?(?:から|[〜～~-])\s?(?P<to>{_N})\s?日(?!間))?|(?P<part>{_PARTS})))?"
)
_OF_YEAR = (
    rf"(?:(?P<year>[0-9０-９]{{4}})\s?年(?![代間度])|(?P<era>令和|平成|昭和)(?P<nth>元|{_N})年(?![代間度])"
    r"|(?P<which>一昨年|おととし|去年|昨年|今年|ことし|本年|再来年|来年)(?!度))の?\s?"
)
_OF_WEEK = r"(?:の?(?P<day>[月火水木金土日](?:曜日?(?![日目])|(?=に|の|は|も|か|[、。！？!?]|$))|週末|末|土日))?"
_AMOUNT = r"(?P<n>[0-9０-９]{1,3}|数|半|[一二三四五六七八九十百]{1,4})"
_UNITS = r"(?P<unit>日|週|[かカヵヶケ箇]月|年|月(?<=半月))"

_LEADS = (
    r"(?a:\b)[0-9](?=[0-9]{0,3}\s{0,2}[年月日週かカヵヶケ箇/代])(?<![$€£¥#/:.-].)"
    rf"|(?<![{DIGITS}{_ONES}])[０-９{_ONES}数](?=[{DIGITS}{_ONES}]{{0,3}}\s?[年月日週かカヵヶケ箇代])"
    r"|(?<![一二三四五六七八九十大過])半(?=[年月])"
    r"|昨(?=[日晩夜年])|今(?=[日朝晩夜年月週度])|本(?=[日年])|明(?=[日朝晩後])|先(?=[月週々])|来(?=[月週年])|再(?=来[月週年])"
    r"|一(?=昨[日年])|去(?=年)|次(?=の?[月火水木金土日週])|(?<![以午直目人年月日週間])前(?=の[月火水木金土日週])"
    r"|こ(?=の(?:[週春夏秋冬前間]|数)|こ数|こ[0-9０-９一二三四五六七八九十]|ないだ|とし|どもの日)"
    r"|(?<![毎隔一二三四五六七八九十数0-9各平])(?<!毎週)[月火水木金土日](?=曜)|(?<![毎一二三四五六七八九十数0-9])週(?=末)"
    r"|お(?=ととい|ととし|正月|盆)|(?<![ぁ-ん])(?:き(?=のう|ょう)|ゆ(?=うべ)|け(?=さ(?:[、はの]|$))|あ(?=した|さって)|さ(?=きおととい)|し(?=あさって))"
    r"|(?<!お)正(?=月)|元(?=[日旦])|大(?=晦日|みそか)|ク(?=リスマス)|バ(?=レンタイン)|ホ(?=ワイトデー)|ハ(?=ロウィン)|イ(?=ースター)|復(?=活祭)|七(?=夕)"
    r"|令(?=和)|平(?=成)|昭(?=和)|最(?=近)|過(?=去)|直(?=近)|向(?=こう)"
)
"""Where a date may begin."""
_CLAUSE_AFTER = regex(r"[^。！？!?\n]{0,40}")
_BEHIND = regex(r"(?:た|だ)(?:[。！？、んのよねけらりっわ]|$)|でした|ました|かった")
_AHEAD = regex(
    r"予定|つもり|たい(?!した)|に行く|まで(?:に|$)|約束|締め?切|よう(?:と|か|ね|よ|$)|(?:る|く|う|す|つ|む|ぶ|ぐ|ます)(?:[。！？、んのよねけしかわ]|から|$)|試験|発表|は(?:空いて|暇|どう)"
)


def _number(word: str) -> int:
    return int(word) if word.isdecimal() else number(word) or 0


def _year(match: re.Match[str], said: date) -> int | None:
    """The year said, or 0 if it is none of 1900 to 2100; None if none was said."""
    if match["which"]:
        return said.year + _YEAR[match["which"]]
    if match["era"]:
        return _ERA[match["era"]] + (1 if match["nth"] == "元" else _number(match["nth"]))
    if match["year"] is None:
        return None
    year = int(match["year"])
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


def _in_numbers(match: re.Match[str], said: date) -> Days | None:
    month, day = _number(match["month"]), _number(match["day"])
    return nearest(lambda year: Days(date(year, month, day), date(year, month, day)), said, _side(match))


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
    return nth_part(days, *_PART_OF_YEAR[match["part"]]) if match["part"] else days


def _season(match: re.Match[str], said: date) -> Days | None:
    return nearest(lambda year: months(year, _SEASON[match["season"]], 3), said)


def _holiday(match: re.Match[str], said: date) -> Days | None:
    of_year, year = on_the_day(*_HOLIDAY[match["holiday"]]), _year(match, said)
    days = nearest(of_year, said, _side(match)) if year is None else of_year(year)
    return week_before(days) if match["week"] and days is not None else days


def _day(match: re.Match[str], said: date) -> Days | None:
    return unit_from("day", _NEAR[match["near"]], said)


def _week(match: re.Match[str], said: date) -> Days | None:
    n, day = _WHICH[match["rel"]], match["day"] or ""
    if day in ("週末", "末", "土日"):
        return unit_from("weekend", n, said)
    week = unit_from("week", n, said)
    return on_weekday(_WEEKDAYS.index(day[0]), 0, week.first) if day else week


def _weekday(match: re.Match[str], said: date) -> Days | None:
    side = _SIDES.get(match["rel"] or "") or _side(match) or -1
    day = match["day"]
    return weekend(side, said) if day in ("週末", "土日") else on_weekday(_WEEKDAYS.index(day[0]), side, said)


def _next_week(match: re.Match[str], said: date) -> Days | None:
    return unit_from("week", _SIDES[match["rel"]], said)


def _side(match: re.Match[str]) -> int:
    return side_of(_DIRECTION, match.string, match.start(), match.end())


def _tense(text: str, start: int, end: int) -> int:
    """Of the clause, whose verb follows."""
    after = _CLAUSE_AFTER.match(text, end)
    words = after.group() if after else ""
    if _BEHIND.search(words):
        return -1
    return 1 if _AHEAD.search(words) else 0


_DIRECTION: Final = Direction(
    tense=_tense,
    since_after=regex(r"(?:以来|から(?:ずっと)?[^。！？!?、\n]{0,16}(?:てい|てる|でい|でる))"),
    limits_after=regex(r"まで|より前|[の]?前に|以降|から|締め?切"),
)


def _ago(match: re.Match[str], said: date) -> Days | None:
    side = -1 if match["side"] in ("前", "まえ") else 1
    unit, n = _UNIT[match["unit"][-1]], _number(match["n"])
    if match["n"] == "半":
        if unit == "month":
            return away("day", (15, 15), side, said)
        unit, n = "month", 6
    amount = _FEW if match["n"] == "数" else (n, n)
    return away(unit, amount, side, said) if amount[0] else None


def _rolling(match: re.Match[str], said: date) -> Days | None:
    unit = _UNIT[match["unit"][-1]]
    if match["n"] == "半":
        unit, n = "month", 6 if unit == "year" else 0
    else:
        n = _FEW[1] if match["n"] == "数" else _number(match["n"])
    return rolling(unit, n if match["when"] in ("今後", "これから", "向こう") else -n, said) if n else None


def _decade(match: re.Match[str], said: date) -> Days | None:
    """Without its century, the one before this."""
    ten = int(match["ten"])
    return None if match["century"] is None and ten < 30 else decade(int(match["century"] or "19") * 100 + ten)


_ANY_YEAR: Final = "去 昨 今 本 来 再 一 お こ 令 平 昭"
_CORES: tuple[tuple[str, str, Core], ...] = (
    (f"0 {' '.join(_ONES)} {_ANY_YEAR}", rf"(?:{_OF_YEAR})?(?P<month>{_N})\s?月(?![間謝]){_OF_MONTH}", _date),
    ("0", r"(?P<month>[0-9]{1,2})/(?P<day>[0-9]{1,2})(?![0-9/])(?=に|は|の|から|まで|も|[（(][月火水木金土日])", _in_numbers),
    (f"0 {_ANY_YEAR}", rf"{_OF_YEAR}(?:第?(?P<quarter>[1-4１-４一二三四])四半期|(?P<part>{'|'.join(_PART_OF_YEAR)})|(?P<season>[春夏秋冬]))?", _whole_year),
    ("こ", r"この(?P<season>[春夏秋冬])", _season),
    (f"0 {_ANY_YEAR} 正 元 大 ク バ ホ ハ 七 イ 復", rf"(?:{_OF_YEAR})?(?P<holiday>{'|'.join(_HOLIDAY)})(?P<week>の?(?:前の週|前週|[1１一]週間前))?", _holiday),
    ("先 今 来 再", rf"(?P<rel>先々|先|今|来|再来)月{_OF_MONTH}", _month),
    ("先 今 来 再", rf"(?P<rel>先々|先|今|来|再来)週{_OF_WEEK}", _week),
    ("こ 次 前 今", r"(?P<rel>この前|この間|こないだ|前|次|今度)の?(?P<day>[月火水木金土日]曜日?|週末|土日)", _weekday),
    ("次 前", r"(?P<rel>前|次)の週(?!末)", _next_week),
    ("こ 月 火 水 木 金 土 日 週", r"(?P<rel>この)?(?P<day>[月火水木金土日]曜日?|週末)", _weekday),
    ("一 昨 今 本 明 お き ゆ け あ さ し", rf"(?P<near>{'|'.join(_NEAR)})(?!この頃|的|子|は(?:[。！？!?]|$))", _day),
    (f"0 {' '.join(_ONES)} 半 数", rf"{_AMOUNT}\s?{_UNITS}間?(?:くらい|ぐらい|ほど)?(?P<side>前|まえ|後(?![半輩期悔]))(?!半)", _ago),
    ("こ 最 過 直 今 向", rf"(?P<when>ここ|この|最近|過去|直近|今後|これから|向こう)の?{_AMOUNT}\s?{_UNITS}間?", _rolling),
    ("0", r"(?P<century>19|20)?(?P<ten>[0-9]0)\s?年代", _decade),
)  # fmt: skip

DATES: Final = DateTables(
    leads=_LEADS,
    cores=_CORES,
    needed=regex("[\u3041-\u3096\u30a1-\u30ff週曜]|先月|先日|昨年|一昨|令和|平成|昭和|数[日年]|再来"),
    joints=Joints(on="の", dash="から|[〜～]", weekday="[月火水木金土日]曜日?", number="月"),
)
