"""A clause in the third person: "took my kids" as it is told of somebody, "took their kids"."""

from __future__ import annotations

from collections.abc import Sequence

from embermem.languages.en import verbs
from embermem.languages.en.clauses.tokens import AND, Token, low
from embermem.languages.en.clauses.words import FUNCTION, PREPOSITIONS

_PRONOUNS = {
    "i": "they", "we": "they", "me": "them", "us": "them", "my": "their", "our": "their", "mine": "theirs",
    "ours": "theirs",    "myself": "themself", "ourselves": "themselves",
}  # fmt: skip
_SPELLED = {"cause": "because", "'cause": "because", "cuz": "because", "coz": "because"}
_AGREE = {"am": "are", "'m": "are", "was": "were", "wasn't": "weren't"}


def told(sentence: Sequence[Token], start: int, end: int, *, inflected: bool = False) -> str:
    """The words of tokens[start:end] in the third person, as they are spaced in the text; `inflected`: they follow a
    present verb, and those that are joined to it agree with it ("cooks and takes pictures")."""
    words: list[str] = []
    speaker = False
    for k in range(start, end):
        token = sentence[k]
        joined = inflected and k > start and (sentence[k - 1].low in AND or sentence[k - 1].text == ",")
        word = _agreed(sentence, k, end) if joined else token.text
        if token.low in _PRONOUNS and (len(token.text) == 1 or not token.text.isupper()):
            word = _PRONOUNS[token.low]
        elif k > start and token.low in ("this", "these"):
            word = _introduced(sentence, k)
        elif _points_back(sentence, start, k, end):
            word = "the"
        elif token.low in _SPELLED and low(sentence, k + 1) in ("i", "we"):
            word = _SPELLED[token.low]
        elif speaker and token.low in _AGREE:
            word = _AGREE[token.low]
        if k > start and (token.start > sentence[k - 1].end or word == "are"):
            words.append(" ")
        words.append(word)
        speaker = token.low == "i"
    value = "".join(words)
    if value.count("'") == f" {value}".count(" '") == 1:  # a quotation that was cut
        value = value.replace("'", "", 1)
    if value.count('"') % 2:
        value = value + '"' if value.rfind('"') < len(value) - 1 else value[:-1].rstrip()
    return value


_TIMES = frozenset("time week weekend month year morning afternoon evening summer winter spring fall".split())
_THE_ONE = frozenset("whole next last first same entire past coming".split())


def _introduced(sentence: Sequence[Token], at: int) -> str:
    """What "this" and "these" are for who does not know what they point to: "ran into this nice couple"."""
    after, word = low(sentence, at + 1), sentence[at].low
    if after in _TIMES or not after[:1].isalpha() or after in AND or after in FUNCTION:
        return word
    if after in _THE_ONE or low(sentence, at - 1) in ("all", "both", "through", "throughout"):
        return "the"
    return article(after) if word == "this" else "some"


def _points_back(sentence: Sequence[Token], start: int, at: int, end: int) -> bool:
    """Whether "those" stands before a noun there, or "that" before one of two words: "with that relationship map"."""
    word, after, second = sentence[at].low, low(sentence, at + 1), low(sentence, at + 2)
    if word == "those":
        return after[:1].isalnum() and after not in FUNCTION
    is_noun = at + 2 < end and after[:1].isalpha() and second[:1].isalpha() and not {after, second} & FUNCTION
    return word == "that" and at > start and is_noun and low(sentence, at - 1) in PREPOSITIONS


def article(word: str) -> str:
    """The indefinite article before a word."""
    return "an" if word[:1].lower() in "aeiou" else "a"


def undetermined(sentence: Sequence[Token], at: int) -> str | None:
    """ "a" for "this" before a noun that is told of for the first time ("this bowl"), "some" for "these"; None where
    it points to a time or stands alone."""
    after = low(sentence, at + 1)
    if not after or after in (
        "week",
        "weekend",
        "month",
        "year",
        "morning",
        "summer",
        "winter",
        "spring",
        "fall",
        "one",
        "and",
        "for",
        "in",
    ):
        return None
    known = verbs.verb(after)
    if known is not None and "participle" in known.forms and "base" not in known.forms:
        return None
    return article(after) if sentence[at].low in ("this", "that") else "some"


_OBJECTS = frozenset(
    """a an the my our their his her its it them to in on up out for at from home some any with off away over back
    about things""".split()
)

_ALWAYS = frozenset(
    """have go make take get do eat keep try give bring see want need think know become learn teach write""".split()
)
"""Bases that are hardly nouns."""


def _agreed(sentence: Sequence[Token], k: int, end: int) -> str:
    """A present verb after "and", in the third person; anything else as it is."""
    known = verbs.verb(sentence[k].low)
    if known is not None and sentence[k].low in _ALWAYS:
        return verbs.third(known.base)
    if known is None or "base" not in known.forms or low(sentence, k + 1) not in _OBJECTS or k + 1 >= end:
        return sentence[k].text
    return verbs.third(known.base)
