"""Words: stems, function words, the singular."""

from __future__ import annotations

import threading
from functools import lru_cache
from typing import Final

from embermem.core.text import fold, plain
from embermem.languages.language import words_of

# They carry grammar, not topic. Written for this project; negations are kept out of the list.
STOP_WORDS: Final = frozenset(
    """
    a about above after again all also am an and any are as at be because been before being below between both but
    by can could did do does doing down during each few for from further had has have having he her here hers
    herself him himself his how i if in into is it its itself just let me might more most my myself now of off on
    once only or other our ours ourselves out over own same shall she should so some such than that the their theirs
    them themselves then there these they this those through to too under until up us very was we were what when
    where which while who whom why will with would you your yours yourself yourselves
    i'm i've i'd i'll you're you've you'd you'll he's she's it's we're we've we'd they're they've that's there's
    let's what's who's how's where's when's didn't don't doesn't isn't aren't wasn't weren't can't couldn't won't
    wouldn't shouldn't haven't hasn't hadn't im ive dont didnt thats its
    hey hi hello yeah yes ok okay oh wow well really thanks thank please sure got get gets getting go going gonna
    like know think thing things lot much many make makes made one
    """.split()
)
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
_LONGEST = 64
"""Longer runs of letters are no words (base64, hashes): they are not stemmed, and no cache holds them."""
_LONGEST_KEYWORD = 40
_local = threading.local()


def terms_of(run: str) -> tuple[str, ...]:
    """The stem (Snowball) of a folded word without accents; none of a function word as it is written: "thé" is none."""
    return _cached_terms(run) if len(run) <= _LONGEST and run.isascii() else _terms(run)


def stem(word: str) -> str:
    """The stem of a lower-cased word; words of other alphabets, and what is too long to be a word, pass unchanged."""
    return word if len(word) > _LONGEST or not word.isascii() else _stem(word)


@lru_cache(maxsize=65_536)
def singular(word: str) -> str:
    """The singular of a lower-cased noun by rule; words that are no plural pass unchanged."""
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


def keywords_of(run: str) -> tuple[str, ...]:
    """The word, folded and in the singular, if it may be a keyword."""
    return () if len(run) > _LONGEST_KEYWORD else _keywords(run)


@lru_cache(maxsize=65_536)
def _cached_terms(run: str) -> tuple[str, ...]:
    return _terms(run)


def _terms(run: str) -> tuple[str, ...]:
    if run in STOP_WORDS:
        return ()
    word = run.removesuffix("'s")
    if word in STOP_WORDS:
        return ()
    return (stem(word if word.isascii() else plain(word)),)


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    stemmer = getattr(_local, "stemmer", None)
    if stemmer is None:
        import Stemmer

        stemmer = _local.stemmer = Stemmer.Stemmer("english")
    return str(stemmer.stemWord(word))


@lru_cache(maxsize=65_536)
def _keywords(run: str) -> tuple[str, ...]:
    fillers = words_of("en", "fillers")
    folded = fold(run)
    if folded in STOP_WORDS or folded in fillers:
        return ()
    word = singular(folded.removesuffix("'s").removesuffix("'"))
    if word in STOP_WORDS or word in fillers or "'" in word:
        return ()
    if word.isdecimal():
        return (word,) if len(word) == 4 else ()
    telling = len(word) >= (3 if word.isascii() else 2) or (len(run) == 2 and run.isupper())
    return (word,) if telling else ()
