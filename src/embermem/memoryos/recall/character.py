"""Which traits of the user bear on a query: those of an interest that it speaks of, or all, if it asks what the user is
like."""

from __future__ import annotations

from functools import cache

from embermem import languages
from embermem.core.text import fold
from embermem.core.types import Trait
from embermem.index.query_context import View
from embermem.languages.language import normal_form
from embermem.languages.questions import asks_of_character
from embermem.languages.words import language_of_run, runs
from embermem.memoryos.people import People
from embermem.memoryos.recall.bearing import wanted

__all__ = ["bearing_traits"]

_MOST = 8
"""Traits that are told at most, those of the highest level and confidence (ours)."""


def bearing_traits(view: View, traits: tuple[Trait, ...], people: People) -> tuple[Trait, ...]:
    """The traits to tell with a query that speaks of the user, the strongest first."""
    if not traits or people.user not in wanted(view, people):
        return ()
    text = view.query.text
    if not asks_of_character(text):
        spoken_of = _interests_in(text)
        traits = tuple(trait for trait in traits if trait.dimension in spoken_of)
    return tuple(sorted(traits, key=lambda trait: -abs(trait.level) * trait.confidence)[:_MOST])


def _interests_in(text: str) -> frozenset[str]:
    """The dimensions that the words of a text indicate."""
    language, known = languages.by_signs(text), _lexicon()
    words = (
        normal_form(own, word)
        for run in runs(fold(text))
        for own in (language_of_run(run, language),)
        for word in own.keywords_of(run)
    )
    return frozenset(known[word] for word in words if word in known)


@cache
def _lexicon() -> dict[str, str]:
    return languages.merged(lambda one: one.interests)
