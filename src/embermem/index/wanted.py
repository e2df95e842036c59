"""What kind of answer a query asks for, by its own words: a time, a number, or several things. English and Chinese."""

from __future__ import annotations

import re

__all__ = ["asks_for_number", "asks_for_several", "asks_for_time", "says_number"]

_TIME = re.compile(
    r"^\W*when\b|\b(?:since when|what (?:date|day|month|year|time)|which (?:date|day|month|year|week))\b"
    r"|\bhow long ago\b|什么时候|何时|哪(?:一)?[天日年月周]|几[月号日点]",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\bhow (?:many|much|old|long|often|far|big|tall)\b|多少|几[个次岁只本部年天位名遍]|多[大久长远]", re.IGNORECASE
)
_SAID_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|couple|once|twice|half)\b"
    r"|[一二两三四五六七八九十百千万][个次岁只本部年天位名遍]",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    r"\b(?:what|which) (?:\w+ ){0,2}?(?:kinds?|types?|sorts?|things|activities|\w{3,}(?:[^s\W]s|ies))\b"
    r"|\bhow many\b|\bboth\b|\b(?:all the|every one of|everything (?:about|that|I))\b|^\W*(?:list|name)\b"
    r"|\bwhat (?:have|has|had|do|did|else)\b.{0,40}\b(?:told|said|mentioned)\b"
    r"|哪些|所有|全部|都有|几[个次种]|列出",
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
