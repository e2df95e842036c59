"""Keeps what a pure function gave for the last sentences.

A segment is described anew with each page that joins it, and most of its sentences are those of the time before.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar, TypeVarTuple, cast

from embermem.languages.words import terms

__all__ = ["memoized", "term_set"]

_KEPT = 4_096
"""Results that are kept of each function: those of some hundred pages."""
_LONGEST = 400
"""Characters of a text whose result is kept: a sentence of a summary with its speaker is shorter."""
_More = TypeVarTuple("_More")
_Result = TypeVar("_Result")


def memoized(function: Callable[[str, *_More], _Result]) -> Callable[[str, *_More], _Result]:
    """A pure function of a text and what can be hashed, with an immutable result, which is kept for short texts."""
    kept = cast("Callable[[str, *_More], _Result]", lru_cache(maxsize=_KEPT)(function))

    @wraps(function)
    def known(text: str, *more: *_More) -> _Result:
        return kept(text, *more) if len(text) <= _LONGEST else function(text, *more)

    return cast("Callable[[str, *_More], _Result]", known)


@memoized
def term_set(text: str) -> frozenset[str]:
    """The distinct terms of a text."""
    return frozenset(terms(text))
