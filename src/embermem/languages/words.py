"""Splits text into words and sentences.

A run of characters that only one language uses is split by that language, every other word by the language of its
text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from datetime import datetime
from itertools import pairwise

from embermem.core.patterns import regex
from embermem.core.text import fold, visible
from embermem.languages.inflected_words import BEGINS
from embermem.languages.language import Language
from embermem.languages.parts import NEVER
from embermem.languages.registry import all, by_signs, default, of_signs, signed, spelled
from embermem.languages.syllables import LANGUAGE as SYLLABIC
from embermem.languages.vocabularies import MARKS, UNKNOWN, Vocabulary, by_script, script_of

__all__ = [
    "asks",
    "content_words",
    "date_words",
    "has_content_words",
    "is_beginning",
    "language_of_run",
    "name_of",
    "only_asks",
    "placed_runs",
    "runs",
    "search_terms",
    "sentences",
    "terms",
    "unspaced",
    "vocabularies",
    "wide",
    "words_cut",
    "words_to_match",
]

_SIGNS = "".join(language.signs for language in all())
_TOGETHER = tuple(
    dict.fromkeys(
        language.signs + "".join(one.signs for one in all() if one.shares == language.code)
        for language in all()
        if language.signs and not language.shares
    )
)
"""The signs that stand in one run: of a language, and of those that share them."""
_LETTER = rf"[^\W_{_SIGNS}{SYLLABIC.signs}]"
_RUN = regex(
    "|".join(
        (
            *(f"[{signs}]+" for signs in (*_TOGETHER, SYLLABIC.signs)),
            rf"{_LETTER}+(?:(?:[{MARKS}]|['’](?={_LETTER})){_LETTER}*)*",
        )
    )
)
_RUN_IN_ASCII = regex(r"[^\W_]+(?:'[^\W_]+)*", re.ASCII)
_SYLLABIC = regex(f"[{SYLLABIC.signs}]")
_UNSPACED_SIGNS = "".join(language.signs for language in all() if not language.spaced)
_UNSPACED = regex(f"[{_UNSPACED_SIGNS}]" if _UNSPACED_SIGNS else NEVER)
_LONGEST_WORD = 2_000
"""Characters above which what has no space in it is no word but encoded data."""
_WIDE_SIGNS = _UNSPACED_SIGNS + "".join(language.full_width for language in all())
_WIDE = regex(f"[{_WIDE_SIGNS}]" if _WIDE_SIGNS else NEVER)
_SENTENCE_END = regex("|".join((*dict.fromkeys(language.sentence_end for language in all()), r"\n+")))
_ABBREVIATIONS = "|".join(filter(None, (language.abbreviations for language in all())))
_ABBREVIATION = regex(rf"(?:\b(?:{_ABBREVIATIONS})|\b[A-Z])\.$", re.IGNORECASE)
_LONGEST_ABBREVIATION = 8
_QUESTION_MARKS = tuple(dict.fromkeys(mark for language in all() for mark in language.questions.marks))


def runs(text: str) -> list[str]:
    """Each word, or unbroken run of a language's own signs, as written."""
    return (_RUN_IN_ASCII if text.isascii() else _RUN).findall(text)


def placed_runs(text: str) -> Iterator[tuple[str, int]]:
    """The same, each with where it starts."""
    return ((match.group(), match.start()) for match in _RUN.finditer(text))


def language_of_run(run: str, otherwise: Language) -> Language:
    """The language of what `runs` gives: that of its signs, or `otherwise`."""
    return of_signs(run) or (SYLLABIC if _SYLLABIC.match(run) else otherwise)


def terms(text: str, language: Language | None = None) -> list[str]:
    """What measures of likeness compare: stems without function words; characters and pairs of them in a language that
    knows no spaces; repeats kept. What is spelled in shared letters is taken for `language`, by default that of the
    text."""
    folded = fold(text)
    language = language or spelled(folded)
    found: list[str] = []
    if folded.isascii():
        for run in runs(folded):
            found += language.terms_of(run)
        return found
    for run in runs(folded):
        found += (language if run.isascii() else language_of_run(run, language)).terms_of(run)
    return found


def vocabularies(text: str) -> Mapping[str, Vocabulary]:
    """The languages of a text's words, by script, for `search_terms`."""
    return by_script(fold(text))


def search_terms(text: str, known: Mapping[str, Vocabulary] | None = None) -> list[str]:
    """The terms of a text in the index and of a query: for each word that is no function word its stem, its form
    without accents, and its first letters, whatever the language; of what knows no spaces pairs of characters; repeats
    kept. What is written in letters that languages share is taken for `known`, by default that of the text: the forms
    without accents meet also where a text is too short to tell its language."""
    folded = fold(text)
    known = by_script(folded) if known is None else known
    found: list[str] = []
    latin = known["LATIN"].terms_of
    for run in runs(folded):
        if run.isascii():
            found += latin(run)
        elif (own := known.get(script_of(run[0]))) is not None:
            found += own.terms_of(run)
        else:
            language = language_of_run(run, default())
            found += UNKNOWN.terms_of(run) if language is default() else language.search_terms_of(run)
    return found


def is_beginning(term: str) -> bool:
    """Whether a term of `search_terms` is the first letters of a word, and no word."""
    return term.endswith(BEGINS)


def content_words(text: str) -> frozenset[str]:
    """The distinct words of a text that carry topic: stems, and words as a language without spaces cuts them out."""
    return frozenset(_each_content_word(text))


def has_content_words(text: str, count: int, *besides: Set[str]) -> bool:
    """Whether a text has so many distinct words that carry topic, besides others: it is read no further than that."""
    found: set[str] = set()
    for word in _each_content_word(text):
        if word not in found and not any(word in others for others in besides):
            found.add(word)
            if len(found) >= count:
                return True
    return count <= 0


def _each_content_word(text: str) -> Iterator[str]:
    folded = fold(text)
    language = spelled(folded)
    for run in runs(folded):
        own = language if run.isascii() else language_of_run(run, language)
        yield from own.terms_of(run) if own.spaced else own.keywords_of(run)


def words_to_match(text: str) -> Iterator[str]:
    """The words of a text that carry topic, in the form in which a query and a text are compared where nothing that is
    meant may be missed: without accents (naïve, naive), in full case folding (straße, STRASSE), without characters that
    are not seen (soft hyphens, zero-width and bidirectional ones), by their stems.

    `fold` stays as it is: hashes that stores keep are made of it.
    """
    folded = visible(fold(text))
    language = spelled(folded)
    for run in runs(folded):
        yield from (language if run.isascii() else language_of_run(run, language)).terms_to_match(run)


def sentences(text: str) -> list[tuple[int, int]]:
    """The [start, end) of each sentence, trimmed, in order; lines end sentences."""
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _SENTENCE_END.finditer(text):
        before = text[max(start, match.start() - _LONGEST_ABBREVIATION) : match.start()]
        if before.endswith(".") and "\n" not in match.group() and _ABBREVIATION.search(before):
            continue
        _append_trimmed(spans, text, start, match.end())
        start = match.end()
    _append_trimmed(spans, text, start, len(text))
    return spans


def words_cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where what is written without a space may be cut, as spans that follow each other: its words where a language
    knows no spaces, each with the signs behind it; else all of it, but for what is too long to be a word."""
    marks = [start]
    if _UNSPACED.search(text, start, end):
        for match in _RUN.finditer(text, start, end):
            at = match.start()
            for word in language_of_run(match.group(), default()).parts_of(match.group()):
                marks.append(at)
                at += len(word)
    for one, other in pairwise([*marks, end]):
        for begin in range(one, other, _LONGEST_WORD):
            yield begin, min(other, begin + _LONGEST_WORD)


def _append_trimmed(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    found = text[start:end].lstrip()
    if trimmed := found.rstrip():
        start = end - len(found)
        spans.append((start, start + len(trimmed)))


def unspaced(text: str) -> int:
    """The number of characters of languages without spaces in a text."""
    return 0 if text.isascii() else len(_UNSPACED.findall(text))


def wide(text: str) -> int:
    """The same, including punctuation of the same width."""
    return 0 if text.isascii() else len(_WIDE.findall(text))


def asks(text: str) -> bool:
    """Whether a text ends like a question."""
    return text.endswith(_QUESTION_MARKS)


def only_asks(text: str) -> bool:
    """Whether each sentence of a text ends like a question."""
    return asks(text) and not any(not asks(text[start:end]) for start, end in sentences(text))


def name_of(text: str) -> str | None:
    """The name of a text's language for a model that has to answer in it; None for an unknown one."""
    words = [fold(run) for run in runs(text) if language_of_run(run, default()).signs == ""]
    names = (name for language, _ in signed() if (name := language.name_for(text, words)))
    return next(names, None) or spelled(text).name_for(text, words)


def date_words(text: str, moment: datetime) -> str:
    """The day on which a text was said, as a query may write it: as the default language does, and as that of the signs
    in the text does."""
    first, own = default(), by_signs(text)
    return first.day(moment) if own is first else f"{first.day(moment)} {own.short_day(moment)}"
