"""Keywords of a page or a query: lower-cased words in the singular, names kept, function words and fillers out.

The same words come out of the same text everywhere, so that K_s ∩ K_p of Eq. 1 can meet.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from embermem.analysts.lexicon import words
from embermem.core.text import CJK_STOP, STOP_WORDS, fold, has_cjk, runs

_MAX_WORD = 40
_MAX_RUN = 2_000
"""Characters of an unbroken Chinese run that are cut into words."""
_IRREGULAR = {
    "children": "child", "men": "man", "women": "woman", "feet": "foot", "teeth": "tooth", "mice": "mouse",
    "wives": "wife", "knives": "knife", "leaves": "leaf", "wolves": "wolf", "shelves": "shelf", "geese": "goose",
    "halves": "half",
    "loaves": "loaf", "potatoes": "potato", "tomatoes": "tomato", "heroes": "hero", "movies": "movie",
    "cookies": "cookie",
    "zombies": "zombie", "selfies": "selfie", "brownies": "brownie", "calories": "calorie",
    "quizzes": "quiz", "buses": "bus", "viruses": "virus",
    "shoes": "shoe", "ties": "tie", "pies": "pie",
}  # fmt: skip
_SAME = frozenset(
    """news series species physics mathematics
    economics politics chess paris texas james charles athletics gymnastics genetics
    diabetes christmas thomas lucas jesus kansas arkansas dallas vegas athens brussels wales netherlands lens gas
    canvas bias atlas alias pancreas yes always perhaps electronics logistics tennis alps""".split()
)


def keywords(text: str, limit: int = 8, *, max_chars: int = 20_000) -> tuple[str, ...]:
    """At most `limit` keywords, most telling first: frequent, early, names and long words before others.

    Of the text, the first `max_chars` characters are read. No duplicates; empty for a text without content words.
    """
    counts: Counter[str] = Counter()
    weight: dict[str, float] = {}
    text = text[:max_chars]
    total = 0
    for run, start, _ in runs(text):
        for word, bonus in _words(run, text, start):
            total += 1
            if word not in counts:
                weight[word] = bonus + 0.3 / (1.0 + total / 20.0)
            else:
                weight[word] = max(weight[word], bonus)
            counts[word] += 1
    order = sorted(counts, key=lambda w: (-(weight[w] * (1.0 + min(counts[w], 5) * 0.5)), w))
    return tuple(order[:limit])


@lru_cache(maxsize=65_536)
def singular(word: str) -> str:
    """The singular of a lower-cased English noun by rule; words that are no plural pass unchanged."""
    if not word.isascii() or len(word) < 4 or word in _SAME:
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "ches", "shes", "xes", "zzes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _words(run: str, text: str, start: int) -> list[tuple[str, float]]:
    if has_cjk(run[0]):
        return [(word, 1.0 + 0.1 * min(len(word), 4)) for word in _chinese(run[:_MAX_RUN])]
    if len(run) > _MAX_WORD:
        return []
    word = _english(run)
    if word is None:
        return []
    named = run[0].isupper() and _inside_sentence(text, start)
    return [(word, 1.0 + (0.7 if named else 0.0) + 0.05 * min(len(word), 10))]


@lru_cache(maxsize=65_536)
def _english(run: str) -> str | None:
    folded = fold(run)
    if folded in STOP_WORDS or folded in words("fillers_en"):
        return None
    word = singular(folded.removesuffix("'s").removesuffix("'"))
    if word in STOP_WORDS or word in words("fillers_en") or "'" in word:
        return None
    if word.isdecimal():
        return word if len(word) == 4 else None
    return word if len(word) >= (3 if word.isascii() else 2) or (len(run) == 2 and run.isupper()) else None


@lru_cache(maxsize=8_192)
def _chinese(run: str) -> tuple[str, ...]:
    import rjieba

    return tuple(
        w
        for w in rjieba.cut(run)
        if len(w) >= 2 and w not in words("fillers_zh") and w not in CJK_STOP and has_cjk(w[0])
    )


_INSIDE = re.compile(r"[\w,;]\s?$")


def _inside_sentence(text: str, start: int) -> bool:
    """Whether a capital there is a name's, not the first of a sentence."""
    return start > 0 and _INSIDE.search(text, max(0, start - 2), start) is not None
