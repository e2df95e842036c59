"""Content words: what is left of an English text without function words and endings."""

from __future__ import annotations

import re
from collections.abc import Set

_WORD = re.compile(r"[a-z0-9']+")
_ENDINGS = ("ing", "ed", "ies", "es", "s", "ly")
_SHORTEST_STEM = 3
_SHORTEST_DOUBLED = 5
_FUNCTION_WORDS = frozenset(
    """
    a about again agent also am an and any are as assistant at be been being but by can could d did do does don down
    each feel feels felt few for from had has have he her here him his how i if in into is it its just ll m may me might
    more most must my no not of on or our out over own re really s same she should so some t than that the their them
    then there these they this those to too under up us user users ve very was we were what when where which who whom
    why will with would yes you your
    """.split()
)


def content_words(text: str) -> frozenset[str]:
    """The stems of a text's words of two characters or more, without function words.

    Of a word, the first of -ing, -ed, -ies, -es, -s, -ly that leaves three characters is cut off, then a final -e,
    then, where five letters are left, one of two equal letters at the end.
    """
    words = (word.strip("'").removesuffix("'s") for word in _WORD.findall(text.lower()))
    return frozenset(_stem(word) for word in words if len(word) > 1 and word not in _FUNCTION_WORDS)


def share(wanted: Set[str], found: Set[str]) -> float:
    """The share of the wanted words that were found, in [0, 1]; 1 if none is wanted."""
    return len(wanted & found) / len(wanted) if wanted else 1.0


def _stem(word: str) -> str:
    ending = next((e for e in _ENDINGS if word.endswith(e) and len(word) - len(e) >= _SHORTEST_STEM), "")
    stem = word.removesuffix(ending)
    if len(stem) > _SHORTEST_STEM:
        stem = stem.removesuffix("e")
    if len(stem) >= _SHORTEST_DOUBLED and stem[-1] == stem[-2]:
        stem = stem[:-1]
    return stem
