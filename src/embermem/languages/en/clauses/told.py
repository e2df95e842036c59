"""A clause in the third person: "took my kids" as it is told of somebody, "took their kids"."""

from __future__ import annotations

from collections.abc import Sequence

from embermem.languages.en.clauses.tokens import Token, low

_PRONOUNS = {
    "i": "they", "we": "they", "me": "them", "us": "them", "my": "their", "our": "their", "mine": "theirs", "ours": "theirs",
    "myself": "themself", "ourselves": "themselves",
}  # fmt: skip
_AGREE = {"am": "are", "'m": "are", "was": "were", "wasn't": "weren't"}


def told(sentence: Sequence[Token], text: str, start: int, end: int) -> str:
    """The words of tokens[start:end] in the third person, as they are spaced in the text."""
    words: list[str] = []
    speaker = False
    for k in range(start, end):
        token = sentence[k]
        word = token.text
        if token.low in _PRONOUNS:
            word = _PRONOUNS[token.low]
        elif speaker and token.low in _AGREE:
            word = _AGREE[token.low]
        if k > start and (token.start > sentence[k - 1].end or word == "are"):
            words.append(" ")
        words.append(word)
        speaker = token.low == "i"
    return "".join(words)


def article(word: str) -> str:
    """The indefinite article before a word."""
    return "an" if word[:1].lower() in "aeiou" else "a"


def undetermined(sentence: Sequence[Token], at: int) -> str | None:
    """ "a" for "this" before a noun that is told of for the first time ("this bowl"), "some" for "these"; None where
    it points to a time or stands alone."""
    after = low(sentence, at + 1)
    if not after or after in ("week", "weekend", "month", "year", "morning", "summer", "winter", "spring", "fall", "one", "and", "for", "in"):
        return None
    return article(after) if sentence[at].low in ("this", "that") else "some"
