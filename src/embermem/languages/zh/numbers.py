"""Numbers in Chinese numerals."""

from __future__ import annotations

_DIGITS = {"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10}


def number(text: str) -> int | None:
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
