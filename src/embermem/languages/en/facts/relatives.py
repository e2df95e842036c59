"""Relatives and friends whom a sentence mentions: "my sister Ana", "my two kids, Tom and Mia", "Ana, my sister"."""

# ruff: noqa: E501  (a pattern is read in one piece)

from __future__ import annotations

import re
from collections.abc import Iterator

from embermem.core.patterns import regex
from embermem.languages.en.clauses.words import ADVERBS, BEFORE_CLAUSE, KIN, KIN_BEFORE, RELATED
from embermem.languages.en.facts.identity import NO_NAME
from embermem.languages.en.facts.places import NO_PLACE
from embermem.languages.en.words import STOP_WORDS
from embermem.languages.facts.finding import USER, Finding
from embermem.languages.language import words_of

_ACQUAINTED = frozenset(
    "friend roommate flatmate boss neighbor neighbour colleague coworker co-worker manager mentor ex".split()
)
_NAME = r"[A-ZÀ-Þ][a-zà-ÿ]{1,15}"
_BEFORE = rf"(?:(?:{'|'.join(sorted(KIN_BEFORE))}) ){{0,2}}"
_KIN = "|".join(
    sorted(
        (word for word in KIN if word not in ("baby", "kid", "child", "sis", "bro")),
        key=lambda word: (-len(word), word),
    )
)
_MINE = regex(
    rf"\b(?:[Mm]y|[Oo]ur) (?:two |three |late )?{_BEFORE}(?P<kin>{_KIN})\b(?!-)(?P<own>'s\b)?(?:,? (?:named |called |is called |is named )?(?P<name>{_NAME})\b(?! (?:is not|isn't) (?:my|a)))?"
)
_NAMED = regex(rf"\b(?P<name>{_NAME}), my {_BEFORE}(?P<kin>{_KIN})\b(?!'|-)")
_IS_NAME = regex(rf"\b[Mm]y {_BEFORE}(?P<kin>{_KIN})'s name is (?P<name>{_NAME})\b")
_MANY = regex(
    rf"\b(?:[Mm]y|[Oo]ur) (?:(?:two|three|four|five|\d) )?(?P<kin>kids|children|sons|daughters|sisters|brothers|twins|boys|girls|grandkids),? (?P<names>{_NAME}(?:, {_NAME})*,? and {_NAME})\b"
)
_NO_NAMES = (
    NO_PLACE
    | NO_NAME
    | BEFORE_CLAUSE
    | ADVERBS
    | STOP_WORDS
    | frozenset("and or but so because since when while if the a an he she they we you it just is was has".split())
)


def relatives(sentence: str, offset: int) -> Iterator[Finding]:
    """`has_relative` and `knows` for those named with a kin word, and `has_relative` for a partner or child mentioned."""
    if "y " not in sentence and "ur " not in sentence:
        return
    named = list(_MANY.finditer(sentence))
    for match in named:
        yield _finding("has_relative", f"{match['kin']} {match['names']}", match, offset)
    for pattern in (_IS_NAME, _NAMED, _MINE):
        for match in pattern.finditer(sentence):
            kin, name = match["kin"].lower(), match["name"]
            if name is not None and (
                name.lower() in _NO_NAMES
                or name.lower() in words_of("en", "places")
                or name.lower() in words_of("en", "names_not")
                or _followed_by_capital(sentence, match)
            ):
                name = None
                if pattern is not _MINE:
                    continue
            if name is not None:
                yield _finding("knows" if kin in _ACQUAINTED else "has_relative", f"{kin} {name}", match, offset)
            elif kin in RELATED and kin not in ("sister", "brother", "twin", "niece", "nephew"):
                yield _finding("has_relative", kin, match, offset)


def _followed_by_capital(sentence: str, match: re.Match[str]) -> bool:
    """Whether the name is part of a longer one that need not be a person's: "my friend Red Cross"."""
    return re.match(r"(?:'s)? [A-Z][a-z]", sentence[match.end() :]) is not None


def _finding(attribute: str, value: str, match: re.Match[str], offset: int) -> Finding:
    return Finding(
        subject=USER, attribute=attribute, value=value, start=offset + match.start(), end=offset + match.end()
    )
