"""Whether two values say the same in other words: "a nurse" and "nurse", "to hike in hills" and "hiking in the hills".

Words are compared after folding, without articles, possessives and fillers; common nouns and verbs by their stem, where
one is an inflection of the other; the parts of a list in any order. Whatever may change the meaning stays: numbers,
negations, names as they are written, the order of words within a part. What is left open is not the same.
"""

from __future__ import annotations

import re
from functools import lru_cache

from embermem import languages
from embermem.core.text import fold
from embermem.core.user_overrides import plain
from embermem.languages import Language
from embermem.languages.words import unspaced

_SUBJECT = languages.either(lambda one: one.values.subject, re.NOFLAG)
_LEADING = languages.either(lambda one: one.values.leading, re.NOFLAG)
_INFINITIVES = tuple(filter(None, (language.values.infinitive for language in languages.all())))
_POSSESSIVES = tuple(filter(None, (language.values.possessive for language in languages.all())))
_ARTICLES = frozenset(word for language in languages.all() for word in language.values.articles)
_DROPPED = frozenset(word for language in languages.all() for word in language.values.dropped)
_AND = frozenset(word for language in languages.all() for word in language.values.conjunctions)
_NAMING = frozenset(word for language in languages.all() for word in language.values.naming)
_LIKING = frozenset({"likes", "hobby"})
_LIST = re.compile(r"(?<!\d)[,、，;；]|[,、，;；](?!\d)")
_ROUND = "\"'“”‘’()[]{}«»*_`"
_END = ".!?。！？:："
_LONGEST = 200
"""Longer values are compared as they stand: they are sentences, and each word of one may matter."""

_Word = tuple[str, bool, bool]
"""A word folded; whether it is written in small letters; whether "a" or "an" stands before it."""


def same_value(one: str, other: str, attribute: str = "") -> bool:
    """Whether two values of one attribute say the same, if need be in other words."""
    if plain(one) == plain(other):
        return True
    if len(one) > _LONGEST or len(other) > _LONGEST:
        return False
    liking = attribute in _LIKING
    first, second = _parts(one, liking), _parts(other, liking)
    return (
        bool(first)
        and len(first) == len(second)
        and all(
            len(part) == len(against) and all(_same_word(*pair) for pair in zip(part, against, strict=True))
            for part, against in zip(first, second, strict=True)
        )
    )


def names(one: str, other: str) -> bool:
    """Whether a value says the same as the other and its name too: "a dog named Rex", "dog Rex" of "a dog"."""
    if len(one) > _LONGEST or len(other) > _LONGEST:
        return False
    first, second = _parts(one, False), _parts(other, False)
    if len(first) != 1 or len(second) != 1 or len(first[0]) <= len(second[0]):
        return False
    full, short = first[0], second[0]
    rest = full[len(short) :]
    name = rest[1:] if rest[0][0] in _NAMING else rest
    return (
        bool(name)
        and not any(small for _, small, _ in name)
        and all(_same_word(*pair) for pair in zip(full, short, strict=False))
    )


@lru_cache(maxsize=4096)
def _parts(value: str, liking: bool) -> tuple[tuple[_Word, ...], ...]:
    """The parts of a list, in an order of their own, each as its words; the empty tuple where nothing is left."""
    parts: list[tuple[_Word, ...]] = []
    for piece in _LIST.split(_without_leading(value, liking)):
        words: list[_Word] = []
        for raw in piece.split():
            if fold(raw) in _AND:
                parts.append(tuple(words))
                words = []
            else:
                words += _words(raw, first=not words)
        parts += _cut(tuple(words))
    filled = [_without_articles(part) for part in parts]
    stem = languages.spelled(value).stem
    return tuple(sorted((part for part in filled if part), key=lambda part: [stem(word) for word, _, _ in part]))


def _without_leading(value: str, liking: bool) -> str:
    """The value without its speaker ("I'm"), without "I'm fond of" where it tells what is liked, and without the "to"
    of an infinitive."""
    text = " ".join(value.replace("’", "'").split())
    for pattern in (*((_LEADING,) if liking else ()), _SUBJECT):
        found = pattern.match(text.lower() if len(text.lower()) == len(text) else text)
        if found is not None:
            text = text[found.end() :]
            break
    for infinitive in _INFINITIVES:
        if text.lower().startswith(infinitive) and len(text) > len(infinitive):
            return text[len(infinitive) :]
    return text


def _words(raw: str, *, first: bool) -> list[_Word]:
    word = raw.strip(_ROUND).rstrip(_END).strip(_ROUND)
    folded = fold(word)
    if not folded:
        return []
    if unspaced(folded):
        return [(_core(languages.by_signs(folded), folded) or folded, False, False)]
    small = word == word.lower()
    if small:
        owns = next((end for end in _POSSESSIVES if folded.endswith(end) and len(folded) > len(end) + 1), "")
        folded = folded.removesuffix(owns)
    return [(folded, small, False)]


def _core(language: Language, run: str) -> str:
    """A run without spaces, without what adds nothing to it."""
    for pattern in language.values.taken_off:
        run = re.sub(pattern, "", run)
    return run


def _cut(part: tuple[_Word, ...]) -> list[tuple[_Word, ...]]:
    """A part of one run without spaces, cut at its words for "and"."""
    if len(part) == 1 and unspaced(part[0][0]):
        within = languages.by_signs(part[0][0]).values.within
        return [((piece, False, False),) for piece in re.split(within, part[0][0]) if piece]
    return [part]


def _without_articles(part: tuple[_Word, ...]) -> tuple[_Word, ...]:
    """A part without what adds nothing; a noun remembers that "a" stood before it."""
    words: list[_Word] = []
    one = False
    for place, (folded, small, _) in enumerate(part):
        spare = place < len(part) - 1 and (small or place == 0)  # "vitamin A" keeps its letter
        if spare and folded in _ARTICLES:
            one = True
        elif not (spare and folded in _DROPPED):
            words.append((folded, small, one))
    return tuple(words)


def _same_word(one: _Word, other: _Word) -> bool:
    """Names and numbers by their letters; other words also by their stem. "a dog" is not "dogs"."""
    if one[0] == other[0]:
        return True
    if not (one[1] and other[1]):
        return False
    return languages.spelled(f"{one[0]} {other[0]}").inflected(one[0], other[0], counted=one[2] or other[2])
