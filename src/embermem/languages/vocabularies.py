"""Which language the words of a text are of, and the terms that its words have for a search.

It is told by the script of the letters, among languages of one script by function words. Besides the languages with a
folder it knows those of function_words.txt: of these only words are known.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
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
_WORD = re.compile(rf"[^\W\d_]+(?:[{MARKS}][^\W\d_]*)*(?:'[^\W\d_]+)*'?")
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


def by_script(folded: str) -> Mapping[str, Vocabulary]:
    """The language of a folded text's words, by the script of a word: of Latin letters the default one where nothing
    tells. Scripts of which no language is known are not in it."""
    return _by_script(folded[:_LOOKS_AT])


@lru_cache(maxsize=4096)
def _by_script(folded: str) -> Mapping[str, Vocabulary]:
    known, is_ascii = _known(), folded.isascii()
    words = {*(_WORD_IN_ASCII if is_ascii else _WORD).findall(folded)}
    if "'" in folded:  # "j'habite": it begins with a word that lost its vowel
        words |= {word[: word.index("'") + 1] for word in words if "'" in word}
    if is_ascii and len(words & known.of_default) >= len(words & known.of_others):
        return known.firsts  # no other language has more of its words
    found: dict[int, float] = {}
    for word in words:
        for place in known.telling.get(word, ()):
            found[place] = found.get(place, 0.0) + 1
    if not is_ascii:
        for place in {place for letter in {*folded} & known.with_letters for place in known.letters[letter]}:
            found[place] = found.get(place, 0.0) + _LETTERS
    best: dict[str, int] = {}
    for place in sorted(found):
        script = known.scripts[place]
        if script not in best or found[place] > found[best[script]]:
            best[script] = place
    told = {**known.firsts, **{script: known.vocabularies[place] for script, place in best.items()}}
    if (latin := best.get(_DEFAULT_SCRIPT)) is not None and found[latin] < _SURE:
        told[_DEFAULT_SCRIPT] = _unsure(known.vocabularies[latin])
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


@dataclass(frozen=True, slots=True)
class _Known:
    """All languages by their places: the default one first, then the others with a folder. `telling` has those whose
    function word a word is, `letters` those that a letter speaks for; `firsts` are the first of each script."""

    vocabularies: tuple[Vocabulary, ...]
    scripts: tuple[str, ...]
    firsts: Mapping[str, Vocabulary]
    telling: Mapping[str, Sequence[int]]
    letters: Mapping[str, Sequence[int]]
    with_letters: Set[str]
    of_default: Set[str]
    of_others: Set[str]


@cache
def _known() -> _Known:
    vocabularies, scripts = list[Vocabulary](), list[str]()
    telling: dict[str, list[int]] = {}
    letters: dict[str, list[int]] = {}
    for vocabulary, words, own in _languages():
        place = len(vocabularies)
        vocabularies.append(vocabulary)
        scripts.append(script_of(min(words)[0]))
        for word in words:
            telling.setdefault(word, []).append(place)
        for letter in own:
            letters.setdefault(letter, []).append(place)
    return _Known(
        vocabularies=tuple(vocabularies),
        scripts=tuple(scripts),
        firsts={script: vocabularies[scripts.index(script)] for script in scripts},
        telling=telling,
        letters=letters,
        with_letters=frozenset(letters),
        of_default=frozenset(word for word, places in telling.items() if places[0] == 0),
        of_others=frozenset(word for word, places in telling.items() if places[-1] != 0),
    )


def _languages() -> Iterator[tuple[Vocabulary, Set[str], str]]:
    """Each language with the words and the letters that tell it."""
    for language in registry.all():
        if not language.signs:
            words = language.telling_words or language.stop_words
            if language is registry.default():
                words |= {*_NEGATIONS}
            yield Vocabulary(language.code, language.stop_words, language.search_terms_of), words, language.own_letters
    lines = files("embermem.languages").joinpath("function_words.txt").read_text(encoding="utf-8").splitlines()
    for line in lines:
        if not line.startswith("#"):
            head, _, listed = line.partition(": ")
            code, stemmer, own = (value if value != "-" else "" for value in head.split())
            words = frozenset(map(fold, listed.split()))
            elided = "|".join(word for word in words if word.endswith("'")) or NEVER
            inflected = InflectedWords(stemmer.strip("="), words, elided=elided)
            terms_of = inflected.terms_of if stemmer == "=" else inflected.search_terms_of
            yield Vocabulary(code, inflected.function_words, terms_of), words, own
