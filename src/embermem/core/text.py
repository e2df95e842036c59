"""Characters, whatever the language: the forms in which texts are compared."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches

_SAME_LETTERS = str.maketrans(
    {
        "ı": "i", "ł": "l", "đ": "d", "ø": "o", "æ": "ae", "œ": "oe", "ґ": "г",
        "ک": "ك", "ی": "ي", "ى": "ي", "ے": "ي", "ہ": "ه", "ھ": "ه", "ە": "ه", "ة": "ه", "ـ": "",
        "\u0901": "\u0902", "\u0981": "\u0982",  # the two signs of a nasal vowel, in Hindi and Bengali
    }
    | dict(zip("ךםןףץ", "כמנפצ", strict=True))
    | {zero + digit: str(digit) for zero in (0x0660, 0x06F0, 0x0966, 0x09E6) for digit in range(10)}
)  # fmt: skip
"""Letters that are written one for the other, or that a keyboard lacks, and digits of other scripts."""
_VARIANTS = frozenset(map(chr, (0x034F, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
"""Variation selectors and the grapheme joiner: not seen, and yet no format characters to Unicode."""


def fold(text: str) -> str:
    """Compatibility form, lower case, straight apostrophes: the form in which words are compared."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).lower().replace("’", "'")


def visible(text: str) -> str:
    """The text without characters that are not seen: format characters, those that choose a variant, and marks that
    compose with no letter."""
    return text if text.isascii() else "".join(one for one in text if not _unseen(one))


def bare(word: str) -> str:
    """In full case folding (straße as STRASSE), without combining marks (naïve as naive)."""
    split = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", word).casefold())
    return unicodedata.normalize("NFC", "".join(one for one in split if not unicodedata.combining(one)))


def plain(word: str) -> str:
    """`bare`, and of letters that are written one for the other the same one (Arabic and Persian kaf, ı and i), in
    digits of ASCII: the form of a name in which it is found however it was typed."""
    found = bare(word)
    return found if found.isascii() else found.translate(_SAME_LETTERS)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """What an error about an unknown name adds: " (did you mean at?)", or nothing where no known name is like it."""
    near = get_close_matches(name.casefold(), known, 1)
    return f" (did you mean {near[0]}?)" if near else ""


def _unseen(character: str) -> bool:
    kind = unicodedata.category(character)
    return kind == "Cf" or character in _VARIANTS or unicodedata.combining(character) != 0
