"""What kind of answer a query asks for, by its own words: a time, a number, or several things. English and Chinese."""

from __future__ import annotations

import re

__all__ = ["asks_for_number", "asks_for_several", "asks_for_time", "says_number"]

_MEASURED = "年天岁月周秒分小米公厘里斤吨克元块毛平亩度折成倍"
_COUNTED = _MEASURED + (
    "个次只本部位名遍口家张件条辆间层楼页场种门台套盒瓶杯份盆节课届期集季章首幅封篇句字人组队班点夜晚趟回轮顿餐碗级册棵"
    "匹头双副把根支片颗粒桶袋包箱步"
)
"""What a Chinese number stands before: units and measure words, and the first characters of longer ones (小时)."""
_NUMERAL = "零〇二两三四五六七八九十百千万亿"
"""Without 一, which is mostly the article: it counts before a unit, or in a longer number."""

_TIME = re.compile(
    r"^\W*when\b|\b(?:since when|what (?:date|day|month|year|time)|which (?:date|day|month|year|week))\b"
    r"|\bhow long ago\b|[什啥]么?时[候间]|何[时日]|什么日子|多久[之以]前|[周期拜]几"
    r"|几(?:[月号日]|时(?!候)|点(?![建意想]))"
    r"|哪一?(?:[天日年月周晚]|个(?:月|星期|礼拜|周末|季|年))",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\bhow (?:many|much|old|long|often|far|big|tall)\b|多少|多(?:[大久长远宽深]|高(?!兴)|重(?!要)|快(?!乐))"
    # Not "the other day" (前几天) nor "these few" (这几个): nobody asks for that number.
    rf"|(?<![这那好前后过近上下最十每])几(?:[{_COUNTED}十百千万](?<!月)|分之)",
    re.IGNORECASE,
)
_SAID_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|couple|once|twice|half)\b"
    rf"|(?<!第)(?:(?!万一|百度|千万(?![元块人多])|十分(?![钟之]))[{_NUMERAL}]多?[{_COUNTED}{_NUMERAL}一]"
    rf"|一[{_MEASURED}十百千万亿])|半(?:个?(?:小时|月)|[年天斤岁])",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    r"\b(?:what|which) (?:\w+ ){0,2}?(?:kinds?|types?|sorts?|things|activities|\w{3,}(?:[^s\W]s|ies))\b"
    r"|\bhow many\b|\bboth\b|\b(?:all the|every one of|everything (?:about|that|I))\b|^\W*(?:list|name)\b"
    r"|\bwhat (?:have|has|had|do|did|else)\b.{0,40}\b(?:told|said|mentioned)\b"
    r"|哪些|哪几|所有|全部|都有|分别|几[个次种]|列出",
    re.IGNORECASE,
)
_LOOKS_AT = 300
"""Characters of a query: a question stands at its beginning, and a pasted page is none."""


def asks_for_time(query: str) -> bool:
    """When did it happen?"""
    return _TIME.search(query[:_LOOKS_AT]) is not None


def asks_for_number(query: str) -> bool:
    """How many, how long, how old?"""
    return _NUMBER.search(query[:_LOOKS_AT]) is not None


def asks_for_several(query: str) -> bool:
    """Which ones, all of them, what have I told you about it: evidence is likely to stand in several places."""
    return _SEVERAL.search(query[:_LOOKS_AT]) is not None


def says_number(text: str) -> bool:
    """Whether a number stands in the text, in digits or words."""
    return _SAID_NUMBER.search(text) is not None
