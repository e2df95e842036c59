"""Which language the words of a text are of, and the terms that its words have for a search.

It is told by the script of the letters, among languages of one script by function words. Besides the languages with a
folder it knows those of function_words.txt: of these only words are known.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

from embermem.core.text import fold
from embermem.languages import registry
from embermem.languages.inflected_words import InflectedWords
from embermem.languages.parts import NEVER

__all__ = ["MARKS", "UNKNOWN", "Vocabulary", "by_script", "script_of"]

MARKS: Final = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0900-\u0903\u093a-\u093c\u093e-\u094f\u0951-\u0957\u0962\u0963"
    "\u0981-\u0983\u09bc\u09be-\u09cd\u09d7\u09e2\u09e3\u0a01-\u0a03\u0a3c-\u0a51\u0a70\u0a71\u0a81-\u0a83\u0abc"
    "\u0abe-\u0acd\u0b01-\u0b03\u0b3c\u0b3e-\u0b57\u0b82\u0bbe-\u0bcd\u0c00-\u0c04\u0c3e-\u0c56\u0c81-\u0c83\u0cbc"
    "\u0cbe-\u0cd6\u0d00-\u0d03\u0d3b\u0d3c\u0d3e-\u0d4d\u0d57\u0dca-\u0ddf"
)
"""Vowel signs, accents and other marks that are part of a word, but are no letters to a regular expression."""
_LOOKS_AT = 2_000
"""Characters of a text whose function words say what language its words are of."""
_LETTERS = 0.5
"""What letters of its own are worth to a language, in words."""
_SURE = 1.5
"""With less a language may be another: its function words may be words ("lake" is one in Swahili), and are kept."""
_NEGATIONS = ("no", "not", "never", "nothing")
"""They tell English, too: they are no function words of it, because they carry meaning."""
_WORD = re.compile(rf"[^\W\d_]+(?:[{MARKS}]+[^\W\d_]*)*(?:'[^\W\d_]+)*'?")
_WORD_IN_ASCII = re.compile(r"[a-z]+(?:'[a-z]+)*'?")
_DEFAULT_SCRIPT = "LATIN"


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """The words of a language, as far as a search needs them."""

    code: str
    stop_words: Set[str]
    terms_of: Callable[[str], tuple[str, ...]]
    """The terms of a folded word; none of a function word."""


UNKNOWN: Final = Vocabulary("und", frozenset(), InflectedWords("", frozenset()).search_terms_of)
"""Of words in a script of which no language is known."""


@dataclass(frozen=True, slots=True)
class _Known:
    """The languages of one script, the first of those that fit a text equally well before the others."""

    script: str
    places: tuple[int, ...]


@lru_cache(maxsize=4096)
def by_script(folded: str) -> Mapping[str, Vocabulary]:
    """The language of a folded text's words, by the script of a word: the default one where nothing tells. Scripts of
    which no language is known are not in it."""
    vocabularies, telling, letters, scripts = _tables()
    is_ascii = folded.isascii()
    found = [0.0] * len(vocabularies)
    for word in (_WORD_IN_ASCII if is_ascii else _WORD).findall(folded[:_LOOKS_AT]):
        for place in telling.get(word, ()):
            found[place] += 1
        if "'" in word:  # "j'habite": it begins with a word that lost its vowel
            for place in telling.get(word[: word.index("'") + 1], ()):
                found[place] += 1
    if not is_ascii:
        written = set(folded)
        for place, own in letters:
            if not own.isdisjoint(written):
                found[place] += _LETTERS
    known = scripts[:1] if is_ascii else scripts
    best = {one.script: max(one.places, key=found.__getitem__) for one in known}
    told = {script: vocabularies[place] for script, place in best.items()}
    if found[best[_DEFAULT_SCRIPT]] < _SURE:
        told[_DEFAULT_SCRIPT] = _unsure(told[_DEFAULT_SCRIPT])
    return told


@cache
def _unsure(vocabulary: Vocabulary) -> Vocabulary:
    """The same with its function words, but for those of the default language."""
    otherwise = registry.default().terms_of
    return replace(vocabulary, terms_of=lambda run: vocabulary.terms_of(run) or otherwise(run))


@lru_cache(maxsize=4096)
def script_of(letter: str) -> str:
    """The script of a letter, by the first word of its name in Unicode; of what has no name that of most texts."""
    return unicodedata.name(letter, _DEFAULT_SCRIPT).partition(" ")[0]


@cache
def _tables() -> tuple[
    tuple[Vocabulary, ...], Mapping[str, tuple[int, ...]], tuple[tuple[int, Set[str]], ...], tuple[_Known, ...]
]:
    """The vocabularies; by word those whose function word it is; the letters of each that has some of its own; and the
    vocabularies of each script. The default language and those with a folder come first."""
    vocabularies: list[Vocabulary] = []
    telling: dict[str, list[int]] = {}
    letters: list[tuple[int, Set[str]]] = []
    scripts: dict[str, list[int]] = {_DEFAULT_SCRIPT: []}

    def add(vocabulary: Vocabulary, words: Set[str], own: str) -> None:
        place = len(vocabularies)
        vocabularies.append(vocabulary)
        for word in words:
            telling.setdefault(word, []).append(place)
        if own:
            letters.append((place, frozenset(own)))
        scripts.setdefault(script_of(min(words)[0]), []).append(place)

    for language in registry.all():
        if not language.signs:
            words = language.telling_words or language.stop_words
            if language is registry.default():
                words |= {*_NEGATIONS}
            add(Vocabulary(language.code, language.stop_words, language.search_terms_of), words, language.own_letters)
    lines = files("embermem.languages").joinpath("function_words.txt").read_text(encoding="utf-8").splitlines()
    for line in lines:
        if not line.startswith("#"):
            head, _, listed = line.partition(": ")
            code, stemmer, own = (value if value != "-" else "" for value in head.split())
            words = frozenset(map(fold, listed.split()))
            elided = "|".join(word for word in words if word.endswith("'")) or NEVER
            inflected = InflectedWords(stemmer.strip("="), words, elided=elided)
            terms_of = inflected.terms_of if stemmer == "=" else inflected.search_terms_of
            add(Vocabulary(code, inflected.function_words, terms_of), words, own)
    return (
        tuple(vocabularies),
        {word: tuple(places) for word, places in telling.items()},
        tuple(letters),
        tuple(_Known(script, tuple(places)) for script, places in scripts.items()),
    )
