"""Token counters by name: what a text costs in a prompt. No model's vocabulary is needed.

`words` counts what stands between white space. `approx` estimates the tokens of a common byte-pair vocabulary:

* a Chinese, Japanese or Korean character: 1
* a word of plain Latin letters: 1, and 1 more for every 7 letters after the first 7
* a word of other letters (accents, Cyrillic, Greek): 1 for every 3 letters, rounded up
* digits: 1 for every 3, rounded up
* a run of one punctuation mark, such as `...` or `---`: 1
* line breaks that follow each other: 1; other white space: 0
* anything else (emoji, symbols): 2
"""

from __future__ import annotations

import re
from typing import Final

from embermem.core.errors import ConfigError
from embermem.core.patterns import regex
from embermem.languages.words import unspaced
from embermem.protocols import TokenCounter

__all__ = ["Approx", "Words", "by_pieces", "counter"]

_LATIN_LETTERS_A_TOKEN: Final = 7
_OTHER_LETTERS_A_TOKEN: Final = 3
_DIGITS_A_TOKEN: Final = 3
_SYMBOL_TOKENS: Final = 2

_PIECE = regex(
    r"(?P<latin>[A-Za-z]+)|(?P<digits>\d+)|(?P<letters>[^\W\d_]+)|(?P<breaks>[\r\n]+)"
    r"|(?P<mark>[!-/:-@\[-`{-~\u2010-\u2027\u3001-\u3003\u3008-\u3011\uff01-\uff65])(?P=mark)*|\s+|(?P<symbol>.)",
    re.DOTALL,
)

# Of plain ASCII each piece that is found is one token, a control character two. Line breaks behind a space are none.
_ASCII_TOKEN = regex(
    rf"[A-Za-z]{{1,{_LATIN_LETTERS_A_TOKEN}}}|[0-9]{{1,{_DIGITS_A_TOKEN}}}|(?<!\s)[\r\n]+|([!-/:-@\[-`{{-~])\1*"
)
_SPACE = regex(r"[\r\n]+|[^\S\r\n]\s*")
_ASCII_CONTROL = regex(r"[\x00-\x08\x0e-\x1b\x7f]")


def counter(name: str) -> TokenCounter:
    """The counter of that name (`approx` or `words`). Raises ConfigError for any other."""
    for known in (Approx(), Words()):
        if known.name == name:
            return known
    raise ConfigError(f"unknown token counter {name!r}; known: approx, words")


class Words:
    """Words between white space."""

    name: str = "words"

    def count(self, text: str) -> int:
        """`len(text.split())`."""
        return len(text.split())


class Approx:
    """A deterministic estimate of byte-pair tokens, by the rule at the head of this module."""

    name: str = "approx"

    def count(self, text: str) -> int:
        """Estimated tokens of the text; a sum over its pieces, so it grows with every word added."""
        if text.isascii():
            return _ascii(text)
        words = text.split()
        plain = " ".join(word for word in words if word.isascii())
        others = " ".join(word for word in words if not word.isascii())
        breaks = sum(1 for space in _SPACE.findall(text) if space[0] in "\r\n")
        return _ascii(plain) + by_pieces(others) + breaks


def _ascii(text: str) -> int:
    return len(_ASCII_TOKEN.findall(text)) + _SYMBOL_TOKENS * len(_ASCII_CONTROL.findall(text))


def by_pieces(text: str) -> int:
    """The rule as it stands at the head of this module, for any text."""
    return sum(_cost(match) for match in _PIECE.finditer(text))


def _cost(piece: re.Match[str]) -> int:
    length = piece.end() - piece.start()
    match piece.lastgroup:
        case "latin":
            return _rounded_up(length, _LATIN_LETTERS_A_TOKEN)
        case "digits":
            return _rounded_up(length, _DIGITS_A_TOKEN)
        case "letters":
            return _letters(piece.group())
        case "breaks" | "mark":
            return 1
        case "symbol":
            return _SYMBOL_TOKENS
        case _:
            return 0


def _letters(word: str) -> int:
    """A run of letters that are not plain Latin; it may mix signs that stand for words with others."""
    singly = unspaced(word)
    return singly + _rounded_up(len(word) - singly, _OTHER_LETTERS_A_TOKEN)


def _rounded_up(length: int, a_token: int) -> int:
    return -(-length // a_token)
