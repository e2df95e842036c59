"""What kind of answer a query asks for, by its own words: a time, a number, or several things."""

from __future__ import annotations

import re
from functools import cache

from embermem.languages.parts import NEVER
from embermem.languages.registry import all as languages
from embermem.languages.registry import either
from embermem.languages.words import asks

__all__ = [
    "asked_attributes",
    "asks_for_number",
    "asks_for_overview",
    "asks_for_several",
    "asks_for_time",
    "asks_of_character",
    "asks_of_oneself",
    "asks_of_the_past",
    "says_number",
]

_TIME = either(lambda one: one.questions.time)
_NUMBER = either(lambda one: one.questions.number)
_SEVERAL = either(lambda one: one.questions.several)
_PAST = either(lambda one: one.questions.past)
_CHARACTER = either(lambda one: one.questions.character)
_ME = either(lambda one: one.talk.me, re.NOFLAG)
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


def asks_for_overview(query: str) -> bool:
    """Who is somebody, what happened, what is known: whether a query, without the names and the times in it, asks for
    nothing else."""
    lowered = query.lower()
    return len(query) <= _LOOKS_AT and any(
        question.search(lowered) is not None and not any(c.isalpha() for c in words.sub(" ", lowered))
        for question, words in _overviews()
    )


@cache
def _overviews() -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    """For each language what such a question holds, and what it may hold besides."""
    asked = [one.questions for one in languages()]
    return tuple((re.compile(one.overview), re.compile(one.overview_words)) for one in asked)


def asks_of_the_past(query: str) -> bool:
    """Whether a query asks about the past, for which current goals are not relevant."""
    return asks(query.rstrip()) and _PAST.search(query) is not None


def asks_of_character(query: str) -> bool:
    """Whether a query asks what somebody is like or is into."""
    return _CHARACTER.search(query[:_LOOKS_AT]) is not None


def says_number(text: str) -> bool:
    """Whether a number stands in the text, in digits or words."""
    return _SAID_NUMBER.search(text) is not None


def asked_attributes(query: str) -> frozenset[str]:
    """The attributes of facts that a query asks for by name: "Do I have any pets?" asks for `has_pet`."""
    lowered = query[:_LOOKS_AT].lower()
    return frozenset(name for name, pattern in _asks().items() if pattern.search(lowered))


def asks_of_oneself(query: str) -> bool:
    """Whether who asks speaks of themselves."""
    return _ME.search(query[:_LOOKS_AT].lower()) is not None


@cache
def _asks() -> dict[str, re.Pattern[str]]:
    return {name: _asking_for(name) for name in sorted({name for language in languages() for name in language.asks})}


def _asking_for(attribute: str) -> re.Pattern[str]:
    return either(lambda one: one.asks.get(attribute, NEVER), re.NOFLAG)
