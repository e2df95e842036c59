"""Numbers in Chinese numerals."""

from __future__ import annotations

_DIGITS = {"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}


def number(text: str) -> int | None:
    """A number below 1000, in digits or Chinese numerals (四十, 一百二十, 三百零五); None if it is none."""
    if text.isdecimal():
        return int(text)
    hundreds, hundred, rest = text.rpartition("百")
    if hundred and hundreds not in _DIGITS:
        return None
    tens, ten, ones = rest.removeprefix("零").rpartition("十")
    if (tens and tens not in _DIGITS) or (ones and ones not in _DIGITS) or not text:
        return None
    tenths = (_DIGITS[tens] if tens else 1) if ten else 0
    return (_DIGITS[hundreds] * 100 if hundred else 0) + tenths * 10 + (_DIGITS[ones] if ones else 0)
