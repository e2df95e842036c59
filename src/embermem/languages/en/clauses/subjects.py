"""Whom a clause is about: the speaker, alone or with others, or a relative."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from embermem.languages.en.clauses.tokens import Token, low
from embermem.languages.en.clauses.words import ADVERBS, KIN, KIN_BEFORE, KIN_MANY, PRONOUNS
from embermem.languages.facts.finding import USER


class Subject(NamedTuple):
    """Whom a clause is about, the token after it, and the tokens of who did it too."""

    name: str
    after: int
    companions: tuple[int, int] = (0, 0)


def subject_at(sentence: Sequence[Token], at: int) -> Subject | None:
    """The subject that begins there: "I", "my sister Ana", "my husband and I"; None for any other word."""
    word = sentence[at].low
    if word in ("i", "we"):
        return Subject(USER, at + 1)
    if (
        word == "the"
        and low(sentence, at + 1) in KIN | KIN_MANY
        and low(sentence, at + 2) == "and"
        and low(sentence, at + 3) == "i"
    ):
        return Subject(USER, at + 4, (at, at + 2))
    if word not in ("my", "our", "me"):
        return None
    if word == "me":
        return _companions(sentence, at + 2, at + 2) if low(sentence, at + 1) == "and" else None
    return _companions(sentence, at, at) or _relative(sentence, at)


def _companions(sentence: Sequence[Token], at: int, begin: int) -> Subject | None:
    """ "my husband and I", "me and my husband"."""
    end = at
    while (
        end < len(sentence)
        and end - at < 5
        and (sentence[end].is_word and sentence[end].low not in PRONOUNS and sentence[end].low != "and")
    ):
        end += 1
        if low(sentence, end - 1) in KIN or low(sentence, end - 1) in KIN_MANY:
            break
    if end == at or not (low(sentence, end - 1) in KIN or low(sentence, end - 1) in KIN_MANY):
        return None
    if end < len(sentence) and sentence[end].text[0].isupper() and sentence[end].low != "i":
        end += 1
    if low(sentence, end) == "and" and low(sentence, end + 1) in ("i", "me"):
        return Subject(USER, end + 2, (begin, end))
    return (
        Subject(USER, end, (begin, end))
        if at != 0 and low(sentence, at - 1) == "and" and low(sentence, at - 2) == "me"
        else None
    )


def _relative(sentence: Sequence[Token], at: int) -> Subject | None:
    """ "my older sister Ana"."""
    end = at + 1
    best = ""
    while low(sentence, end) in KIN_BEFORE and end - at < 4:
        best = "best " if low(sentence, end) == "best" else best
        end += 1
    kin = low(sentence, end)
    if kin not in KIN:
        return None
    name = sentence[end + 1] if end + 1 < len(sentence) else None
    if name is not None and name.text == "," and end + 3 < len(sentence) and sentence[end + 3].text == ",":
        name = sentence[end + 2]
        if _is_name(name):
            return Subject(f"{best}{kin} {name.text}", end + 4)
        return None
    if name is not None and _is_name(name):
        return Subject(f"{best}{kin} {name.text}", end + 2)
    return Subject(best + kin, end + 1)


def _is_name(token: Token) -> bool:
    return (
        token.text[0].isupper() and token.text[1:].islower() and token.low not in PRONOUNS and token.low not in ADVERBS
    )
