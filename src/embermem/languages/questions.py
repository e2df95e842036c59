"""What kind of answer a query asks for, by its own words: a time, a number, or several things."""

from __future__ import annotations

from embermem.languages.registry import either
from embermem.languages.words import asks

__all__ = ["asks_for_number", "asks_for_several", "asks_for_time", "asks_of_the_past", "says_number"]

_TIME = either(lambda one: one.questions.time)
_NUMBER = either(lambda one: one.questions.number)
_SEVERAL = either(lambda one: one.questions.several)
_PAST = either(lambda one: one.questions.past)
_SAID_NUMBER = either(lambda one: one.questions.says_number)
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


def asks_of_the_past(query: str) -> bool:
    """Whether a query asks about the past, for which current goals are not relevant."""
    return asks(query.rstrip()) and _PAST.search(query) is not None


def says_number(text: str) -> bool:
    """Whether a number stands in the text, in digits or words."""
    return _SAID_NUMBER.search(text) is not None
