"""What kind of answer a query asks for, by its own words: a time, a number, or several things."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache, wraps
from typing import Literal, TypeVar

from embermem.core.patterns import regex
from embermem.languages.language import Language
from embermem.languages.parts import NEVER
from embermem.languages.registry import all as languages
from embermem.languages.registry import any_of, of
from embermem.languages.words import asks

__all__ = [
    "asked_attributes",
    "asks_for_advice",
    "asks_for_days_alone",
    "asks_for_overview",
    "asks_for_several",
    "asks_of_character",
    "asks_of_oneself",
    "asks_of_the_past",
    "continues",
    "names_day_beside",
    "points_back",
    "refers_to_person",
    "speaks_of_the_past",
    "speaks_to_somebody",
]

_LOOKS_AT = 300
"""Characters of a query: a question stands at its beginning, and a pasted page is none."""
_QUERIES = 64
_Answer = TypeVar("_Answer")


def _kept(asked: Callable[[str], _Answer]) -> Callable[[str], _Answer]:
    """The same, of the beginning of a query, and looked up for the last queries: a recall asks several times."""
    known = lru_cache(maxsize=_QUERIES)(asked)

    @wraps(asked)
    def asked_of(query: str) -> _Answer:
        return known(query[:_LOOKS_AT])

    return asked_of


_SEVERAL = any_of(lambda one: one.questions.several)
_ADVICE = any_of(lambda one: one.questions.advice)
_PAST = any_of(lambda one: one.questions.past)
_CHARACTER = any_of(lambda one: one.questions.character)
_YOU = any_of(lambda one: one.talk.you, re.NOFLAG)
_ME = any_of(lambda one: one.talk.me, re.NOFLAG)


@_kept
def asks_for_several(query: str) -> bool:
    """Which ones, all of them, what have I told you about it: evidence is likely to stand in several places."""
    return _SEVERAL.search(query) is not None


@_kept
def asks_for_advice(query: str) -> bool:
    """Does it ask for advice, an idea or a plan, so that preferences and limits count?"""
    return _ADVICE.search(query) is not None


def asks_for_overview(query: str) -> bool:
    """Who is somebody, what happened, what is known: whether a query, without the names and the times in it, asks for
    nothing else."""
    lowered = query.lower()
    return len(query) <= _LOOKS_AT and any(
        question.search(lowered) is not None and not any(c.isalpha() for c in words.sub(" ", lowered))
        for question, words in _overviews()
    )


def asks_for_days_alone(query: str) -> bool:
    """Whether a query, without the days in it, says nothing of what it asks for: "What did I do?"."""
    lowered = query.lower()
    return len(query) <= _LOOKS_AT and any(
        not any(c.isalpha() for c in words.sub(" ", lowered)) for words in _words_of_days()
    )


@cache
def _words_of_days() -> tuple[re.Pattern[str], ...]:
    asked = [one.questions for one in languages()]
    return tuple(regex(f"{one.days_words}|{one.overview_words}") for one in asked)


def names_day_beside(query: str, start: int, end: int) -> bool:
    """Whether a query names the day query[start:end] without asking what was on it: "planned for 18 May"."""
    return _asked_in(of(query), "beside_day").search(f"{query[:start]}§{query[end:]}") is not None


@cache
def _overviews() -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    """For each language what such a question holds, and what it may hold besides."""
    asked = [one.questions for one in languages()]
    return tuple((regex(one.overview), regex(one.overview_words)) for one in asked)


def asks_of_the_past(query: str) -> bool:
    """Whether a query asks about the past, for which current goals are not relevant."""
    return asks(query.rstrip()) and speaks_of_the_past(query)


@_kept
def speaks_of_the_past(query: str) -> bool:
    """Whether a query has a word of what was."""
    return _PAST.search(query) is not None


def continues(query: str) -> bool:
    """Whether a query goes on with the question before it: "and her sister?", "why?"."""
    return _asked_in(of(query), "continues").search(query[:_LOOKS_AT]) is not None


def points_back(query: str) -> bool:
    """Whether a query has a word for a thing or a place that was named before: "what did it cost?"."""
    return _asked_in(of(query), "points_back").search(query[:_LOOKS_AT]) is not None


def refers_to_person(query: str) -> bool:
    """Whether a query has a word for somebody who was named before: "when did she move?"."""
    return _asked_in(of(query), "pronoun").search(query[:_LOOKS_AT]) is not None


@_kept
def asks_of_character(query: str) -> bool:
    """Whether a query asks what somebody is like or is into."""
    return _CHARACTER.search(query) is not None


@_kept
def asked_attributes(query: str) -> frozenset[str]:
    """The attributes of facts that a query asks for by name: "Do I have any pets?" asks for `has_pet`."""
    lowered, (any_attribute, each) = query.lower(), _asks()
    if any_attribute.search(lowered) is None:
        return frozenset()
    return frozenset(name for name, pattern in each.items() if pattern.search(lowered))


@_kept
def asks_of_oneself(query: str) -> bool:
    """Whether who asks speaks of themselves."""
    return _ME.search(query.lower()) is not None


@_kept
def speaks_to_somebody(query: str) -> bool:
    """Whether who asks speaks of whom they speak to: "What did you recommend?"."""
    return _YOU.search(query.lower()) is not None


@cache
def _asked_in(
    language: Language, part: Literal["continues", "points_back", "pronoun", "beside_day"]
) -> re.Pattern[str]:
    """The pattern of one language alone: words that point back in one are others in another ("son")."""
    return re.compile(getattr(language.questions, part), re.IGNORECASE)


@cache
def _asks() -> tuple[re.Pattern[str], dict[str, re.Pattern[str]]]:
    """What a query holds that asks for any attribute, and for each of them."""
    names = sorted({name for language in languages() for name in language.asks})
    return any_of(lambda one: "|".join(one.asks.values()) or NEVER, re.NOFLAG), {n: _asking_for(n) for n in names}


def _asking_for(attribute: str) -> re.Pattern[str]:
    return any_of(lambda one: one.asks.get(attribute, NEVER), re.NOFLAG)
