"""Whether two values say the same in other words: "a nurse" and "nurse", "to hike in hills" and "hiking in the hills".

Words are compared after folding, without articles, possessives and fillers; common nouns and verbs by their stem, where
one is an inflection of the other; the parts of a list in any order. Whatever may change the meaning stays: numbers,
negations, names as they are written, the order of words within a part. What is left open is not the same.
"""

from __future__ import annotations

import re
from functools import lru_cache

from embermem.core.text import fold, has_cjk, stem
from embermem.core.user_overrides import plain

_DROPPED = frozenset("the my our your his her their its really very quite some user's".split())
"""Words that add nothing to a value where another follows: articles (a, an: below), possessives, fillers."""
_SUBJECT = re.compile(r"(?:i'm|i am|(?:he|she|(?:the )?user)(?:'s| is)|(?:we|they)(?:'re| are)) (?!not\b|no\b)(?=\S)")
_ONE = frozenset({"a", "an"})
_AND = frozenset({"and", "&"})
_LEADING = re.compile(
    r"(?:(?:i|he|she|they|we|(?:the )?user)(?:'m|'s|'re| am| is| are)? )?"
    r"(?:(?:really|very|quite|so) )?"
    r"(?:(?:fond|a (?:big |huge )?fan|fans) of|keen on|crazy about|(?:love|like|enjoy|adore)s?(?! to be\b)) "
    r"(?=\S)"
)  # fmt: skip
"""How who likes something says so, before what is liked."""
_LEADING_ZH = re.compile("(?:我|他|她)?(?:很|真的|非常|特别|最|比较)?(?:喜欢|喜爱|热爱|爱好)(?=.)")
_LIKING = frozenset({"likes", "hobby"})
_MEASURES = "个名位只条种杯本件部家所辆台首项支"
_ONE_ZH = re.compile(f"^一[{_MEASURES}](?=.)")
_DROPPED_ZH = re.compile("^(?:我|他|她)们?的|[的了]|^(?:很|非常|特别|比较)")
_AND_ZH = re.compile("(?<=.)[和与及](?=.)")
_LIST = re.compile(r"(?<!\d)[,、，;；]|[,、，;；](?!\d)")
_ROUND = "\"'“”‘’()[]{}«»*_`"
_END = ".!?。！？:："
_INFLECTED = (frozenset({"", "s"}), frozenset({"", "es"}), frozenset({"y", "ies"}))
_DOING = frozenset({"ing"})
_BASE = frozenset({"", "e", "s", "es"})
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
    return tuple(sorted((part for part in filled if part), key=lambda part: [stem(word) for word, _, _ in part]))


def _without_leading(value: str, liking: bool) -> str:
    """The value without its speaker ("I'm"), without "I'm fond of" where it tells what is liked, and without the "to"
    of an infinitive."""
    text = " ".join(value.replace("’", "'").split())
    for pattern in (*((_LEADING, _LEADING_ZH) if liking else ()), _SUBJECT):
        found = pattern.match(text.lower() if len(text.lower()) == len(text) else text)
        if found is not None:
            text = text[found.end() :]
            break
    return text[3:] if text[:3].lower() == "to " and len(text) > 3 else text


def _words(raw: str, *, first: bool) -> list[_Word]:
    word = raw.strip(_ROUND).rstrip(_END).strip(_ROUND)
    folded = fold(word)
    if not folded:
        return []
    if has_cjk(folded):
        return [(_chinese(folded) or folded, False, False)]
    small = word == word.lower()
    if small and folded.endswith("'s") and len(folded) > 3:
        folded = folded.removesuffix("'s")
    return [(folded, small, False)]


def _chinese(word: str) -> str:
    return _DROPPED_ZH.sub("", _ONE_ZH.sub("", _DROPPED_ZH.sub("", word)))


def _cut(part: tuple[_Word, ...]) -> list[tuple[_Word, ...]]:
    """A part of one Chinese run, cut at its words for "and"."""
    if len(part) == 1 and has_cjk(part[0][0]):
        return [((piece, False, False),) for piece in _AND_ZH.split(part[0][0]) if piece]
    return [part]


def _without_articles(part: tuple[_Word, ...]) -> tuple[_Word, ...]:
    """A part without what adds nothing; a noun remembers that "a" stood before it."""
    words: list[_Word] = []
    one = False
    for place, (folded, small, _) in enumerate(part):
        spare = place < len(part) - 1 and (small or place == 0)  # "vitamin A" keeps its letter
        if spare and folded in _ONE:
            one = True
        elif not (spare and folded in _DROPPED):
            words.append((folded, small, one))
    return tuple(words)


def _same_word(one: _Word, other: _Word) -> bool:
    """Names and numbers by their letters; other words also by their stem. "a dog" is not "dogs"."""
    if one[0] == other[0]:
        return True
    if not (one[1] and other[1] and one[0].isalpha() and other[0].isalpha()) or stem(one[0]) != stem(other[0]):
        return False
    shared = 0
    for left, right in zip(one[0], other[0], strict=False):
        if left != right:
            break
        shared += 1
    ends = {one[0][shared:], other[0][shared:]}
    if ends in _INFLECTED:
        return not (one[2] or other[2])
    if len(ends) == 2 and shared:  # a doubled consonant: run, running
        ends = {end[1:] if end[:1] == one[0][shared - 1] and end[1:] == "ing" else end for end in ends}
    return bool(ends & _DOING) and bool(ends - _DOING) and (ends - _DOING) <= _BASE
