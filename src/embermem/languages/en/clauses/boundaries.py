"""Where a clause ends."""

from __future__ import annotations

from collections.abc import Sequence

from embermem.languages.en import verbs
from embermem.languages.en.clauses.tokens import AND, Token, low
from embermem.languages.en.clauses.words import ENDS, FUNCTION, PRONOUNS, REASONS

_INSIDE = frozenset("'’%&/#+\"“”")
_OPINIONS = frozenset(
    """think believe feel know realize realise learn find learned learnt felt realized thought believed""".split()
)
FINITE = frozenset(
    """is are was were am has have had do does did will would can could should 's 're 've 'll 'd 'm isn't aren't wasn't
    weren't don't doesn't didn't won't can't couldn't haven't hasn't hadn't""".split()
)
_SUBJECTS = PRONOUNS | frozenset("my our your his their its everything nothing something".split())
_JOINED = frozenset(("that", "who", "whom", "what", "how", "where", "why", "because", "which"))


def natural_end(sentence: Sequence[Token], at: int) -> tuple[int, str]:
    """Where the clause whose verb is at `at` ends, and the word or sign at which it does."""
    j = at + 1
    while j < len(sentence):
        token = sentence[j]
        if not token.is_word:
            if token.text == ",":
                if (after := after_comma(sentence, j, at)) is None:
                    return j, ","
                j = after
                continue
            if token.text not in _INSIDE:
                return j, token.text
        elif not _embedded(sentence, j, at) and _ends(sentence, j, at):
            return j, token.low
        j += 1
    return len(sentence), ""


def _embedded(sentence: Sequence[Token], j: int, at: int) -> bool:
    """Whether the subject of what is thought stands there: "I think it's important", "I learned that …"."""
    if sentence[at].low not in _OPINIONS:
        return False
    return j == at + 1 or (j == at + 2 and low(sentence, at + 1) == "that")


def _ends(sentence: Sequence[Token], j: int, at: int) -> bool:
    """Whether the clause ends before this word."""
    word, after, before = sentence[j].low, low(sentence, j + 1), low(sentence, j - 1)
    if word in ("cause", "coz", "cuz") and after not in _SUBJECTS | {"of"}:
        return False
    if _explains(sentence, j):
        return False
    if word in ENDS:
        return not (word == "what" and after == "to") and not (word == "so" and j <= at + 2)
    if word == "once":
        return after in _SUBJECTS | {"the"}
    if word in ("if", "when", "as", "since", "though", "then"):
        if word == "as":
            return after in PRONOUNS
        return word != "since" or after in _SUBJECTS
    if word in ("how", "where", "why"):
        return after != "to"
    if word in AND:
        return starts_clause(sentence, j + 1)
    if word == "that":
        return after in PRONOUNS - {"i", "we"} and after not in ("it's",)
    if word in ("i", "we", "it", "he", "she", "they", "you", "there"):
        if word in ("i", "we") and low(sentence, j + 1) in _TOLD:
            return True
        if word == "you" or before in _JOINED | REASONS or (word in ("i", "we") and _restricts(sentence, j)):
            return False
        return low(sentence, j + 1) in FINITE or verbs.verb(low(sentence, j + 1)) is not None
    return False


_ABLE = frozenset(("can", "could", "don't", "won't", "have", "'ll"))


def _explains(sentence: Sequence[Token], j: int) -> bool:
    """Whether what begins there belongs to the statement: "because I …", "so we can …", "which helps me …"."""
    word, after, second = sentence[j].low, low(sentence, j + 1), low(sentence, j + 2)
    if word == "so" and after == "that":
        return second in ("i", "we") and low(sentence, j + 3) in _ABLE
    if word == "so":
        return after in ("i", "we") and second in _ABLE
    if word == "which":
        known = verbs.verb(after)
        return known is not None and "third" in known.forms and second in ("me", "us", "my", "our")
    return word in REASONS and after in ("i", "we") and (second in FINITE or verbs.verb(second) is not None)


_TOLD = frozenset("discussed mentioned talked agreed".split())
"""What "the plan we discussed" says of the talk."""


def _restricts(sentence: Sequence[Token], j: int) -> bool:
    """Whether "I" begins what narrows a noun down: "the impact we can make"."""
    near = [token.low for token in sentence[max(0, j - 4) : j]]
    return sentence[j - 1].is_word and near[-1] not in FUNCTION and bool({"the", "all", "every"} & set(near[:-1]))


_GOES_ON = frozenset(
    "hope think believe guess wish wonder am will would can could should may might cannot can't won't".split()
)
"""Verbs after "and" that say something of their own, in the time of speech: "tried it and hope to …"."""


def starts_clause(sentence: Sequence[Token], j: int) -> bool:
    """Whether a clause of its own begins there: a subject, and soon its verb."""
    word = low(sentence, j)
    if not word or not sentence[j].is_word:
        return True
    if word in (
        "i",
        "we",
        "it",
        "he",
        "she",
        "they",
        "you",
        "it's",
        "that's",
        "there",
        "then",
        "now",
        "yes",
        "yeah",
        "so",
        "if",
        "when",
        "what",
        "how",
        "how's",
        "just",
        "even",
        "let",
    ):
        return not (word in ("you",) and low(sentence, j + 1) in AND) and not (
            word == "even" and verbs.verb(low(sentence, j + 1)) is not None
        )
    if word in _GOES_ON or (word, low(sentence, j + 1)) in (("have", "been"), ("want", "to")):
        return True
    known = verbs.verb(word)
    if known is not None and word not in FUNCTION and known.forms & {"past", "base", "gerund"}:
        return False
    for k in range(j + 1, min(j + 7, len(sentence))):
        token = sentence[k]
        if token.low in AND and k == j + 1:
            continue
        if not token.is_word or token.low in AND or token.low in ("who", "that", "which", "to"):
            return False
        if token.low in FINITE:
            return True
        known = verbs.verb(token.low)
        if (
            known is not None
            and "past" in known.forms
            and not known.forms & {"base"}
            and k == j + 1 + (word in _SUBJECTS or word in ("the", "a", "an", "everyone"))
        ):
            return low(sentence, k + 1) not in ("by",) and not token.low.endswith("ed")
    return word in ("everyone", "everybody", "someone", "nobody")


def after_comma(sentence: Sequence[Token], j: int, at: int) -> int | None:
    """Where reading goes on after a comma that belongs to a list ("hiking, chess and baking", "big, old house"); None
    where the comma ends the clause."""
    k = j + 1
    items = 0
    if (
        low(sentence, j - 2) in ("a", "an")
        and k < len(sentence)
        and sentence[k].is_word
        and low(sentence, k) not in FUNCTION | ENDS
    ):
        return k
    if low(sentence, k) in AND:
        return None if starts_clause(sentence, k + 1) or low(sentence, k + 1) in FUNCTION - {"a", "an"} else k + 1
    length = 0
    while k < len(sentence):
        token = sentence[k]
        word = token.low
        if token.text == ",":
            if length == 0 or items > 5:
                return None
            items, length, k = items + 1, 0, k + 1
            if low(sentence, k) in AND:
                return None if starts_clause(sentence, k + 1) else k + 1
            continue
        if word in AND:
            return None if length == 0 or starts_clause(sentence, k + 1) else j + 1
        if not token.is_word or length > 4 or word in _SUBJECTS - {"my", "our"} or word in FINITE or word in ENDS:
            return None
        if length == 0 and word in FUNCTION - {
            "a",
            "an",
            "the",
            "my",
            "our",
            "go",
            "going",
            "went",
            "taking",
            "took",
            "got",
            "made",
            "making",
            "try",
            "trying",
            "start",
            "started",
        }:
            return None
        length += 1
        k += 1
    return None
