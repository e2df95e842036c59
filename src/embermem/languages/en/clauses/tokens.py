"""Words and signs of a sentence, with their positions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from embermem.core.patterns import regex

_TOKEN = regex(
    r"\d{1,4}(?:-[a-zA-Z]+)+|[$€£¥]?\d[\d,.:]*\d(?:[a-zA-Z%]+)?|[$€£¥]?\d[a-zA-Z]*%?|[^\W\d_]\w*(?:['.&/-]\w+)*'?(?!\w)|\.{2,}|--+|\S"
)
_CONTRACTED = regex(r"(i|we|he|she|they|it|there|who|that|[a-z]+)'(m|re|ve|ll|d|s)")
AND: Final = frozenset(("and", "&", "or"))


class Token(NamedTuple):
    """A word or sign, its lower-case form, and its [start, end) in the sentence."""

    text: str
    low: str
    start: int
    end: int

    @property
    def is_word(self) -> bool:
        return self.text[0].isalnum() or self.text[0] in "$€£¥" or (self.text[0] == "'" and len(self.text) > 1)


def tokens(sentence: str) -> list[Token]:
    """The tokens of a sentence; "I'm" and "my brother's" after which a verb form stands are split before the
    apostrophe."""
    found: list[Token] = []
    for match in _TOKEN.finditer(sentence):
        text, start = match.group(), match.start()
        if text[0].isalpha() and text[-1] == "'" and not text.endswith("s'"):
            text = text[:-1]
        low = text.lower()
        parts = _CONTRACTED.fullmatch(low) if "'" in low else None
        if parts is not None and (parts[2] != "s" or parts[1] in ("he", "she", "it", "there", "that", "who")):
            cut = len(parts[1])
            found.append(Token(text[:cut], low[:cut], start, start + cut))
            found.append(Token(text[cut:], low[cut:], start + cut, start + len(text)))
        elif low in ("im", "ive") and text != "IM":
            found.append(Token(text[0], "i", start, start + 1))
            found.append(Token(text[1:], "'" + low[1:], start + 1, start + len(text)))
        else:
            found.append(Token(text, low, start, start + len(text)))
            if len(found) > 1 and found[-2].low.endswith("'s") and len(found[-2].low) > 2 and low in _AFTER_IS:
                found[-2:-1] = _split(found[-2])
    return found


_AFTER_IS = frozenset(
    """a an the so been really super such always like not all just my pretty very also still getting going mostly
    totally important""".split()
)
"""Words before which "'s" is "is" or "has", not a genitive."""


def _split(token: Token) -> list[Token]:
    cut = token.end - 2
    return [Token(token.text[:-2], token.low[:-2], token.start, cut), Token(token.text[-2:], "'s", cut, token.end)]


def low(sentence: Sequence[Token], at: int) -> str:
    """The lower-case form of the token at a place; empty beyond either end."""
    return sentence[at].low if 0 <= at < len(sentence) else ""
