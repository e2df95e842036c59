"""WordPiece as BERT (uncased) cuts text: clean, lower-case, strip accents, split, then the longest known pieces.

Source: BertNormalizer, BertPreTokenizer and WordPiece of Hugging Face tokenizers, and google-research/bert
`tokenization.py`; a test compares the pieces with the former. One difference is meant: "[SEP]", "[MASK]" and the
like in a text are plain characters here (there: with `encode_special_tokens`), as nobody's message may
steer the model. Another is not worth a table: theirs knows Unicode 8, so that a punctuation mark or accent of a
later version splits or vanishes here and not there; none of them is in the vocabulary.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from embermem.core.errors import EmbedderError

__all__ = ["WordPiece"]

# `max_input_chars_per_word` of the model's tokenizer.json: a longer word is [UNK].
MAX_WORD_CHARS = 100
# Words whose pieces are remembered: about 10 MB when full.
WORD_CACHE = 65_536
# Characters that are cleaned at a time, so that a long text is read no further than its limit needs. English
# has 4 to 5 characters a piece: 2048 hold the 254 pieces of MiniLM's longest text, so that one step mostly serves.
WINDOW = 2048

# `_is_chinese_char` of google-research/bert: the blocks of Han characters, not kana or hangul.
HAN_BLOCKS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)

# Control, format, private and surrogate characters. The unassigned stay (they end as [UNK]), as in the original,
# so that a character does not come and go with Python's Unicode version.
REMOVED = frozenset({"Cc", "Cf", "Co", "Cs"})


class WordPiece:
    """Cuts texts into the ids of a vocabulary. Safe to share between threads."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        """`vocabulary`: piece → id; pieces inside a word begin with "##". Raises EmbedderError if [UNK] is missing."""
        try:
            self.unk, self.cls, self.sep = (vocabulary[piece] for piece in ("[UNK]", "[CLS]", "[SEP]"))
        except KeyError as error:
            raise EmbedderError(f"the vocabulary has no {error.args[0]}") from error
        self._heads = {piece: id_ for piece, id_ in vocabulary.items() if not piece.startswith("##")}
        self._tails = {piece[2:]: id_ for piece, id_ in vocabulary.items() if piece.startswith("##")}
        self._longest = max(map(len, vocabulary))
        self._characters = _Characters()
        self._word = lru_cache(maxsize=WORD_CACHE)(self._cut)

    @classmethod
    def from_file(cls, path: Path) -> WordPiece:
        """Reads a `vocab.txt`: one piece a line, its id the line's number from 0. Raises EmbedderError."""
        try:
            lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise EmbedderError(f"the vocabulary {path} cannot be read: {error}") from error
        return cls({piece: id_ for id_, piece in enumerate(lines)})

    def pieces(self, text: str, limit: int) -> list[int]:
        """The ids of the text's first `limit` pieces, without [CLS] and [SEP].

        Linear in the text up to the place where the limit is reached; the rest is not looked at.
        """
        found: list[int] = []
        for words in self._words(text):
            for word in words:
                found.extend(self._word(word))
                if len(found) >= limit:
                    return found[:limit]
        return found

    def words(self, text: str, limit: int) -> list[tuple[str, tuple[int, ...]]]:
        """The text's first words, each with its ids, until they make `limit` pieces; the last word is whole.

        A word is what is cut into pieces: lower case, without accents; a mark or a Han character is a word of its
        own. The ids, one after the other, are those of `pieces`. A word that cannot be cut has the one id `unk`.
        """
        found: list[tuple[str, tuple[int, ...]]] = []
        count = 0
        for words in self._words(text):
            for word in words:
                ids = self._word(word)
                found.append((word, ids))
                count += len(ids)
                if count >= limit:
                    return found
        return found

    def _words(self, text: str) -> Iterator[list[str]]:
        """The text's words, window by window."""
        unfinished = ""
        for start in range(0, len(text), WINDOW):
            cleaned = unfinished + text[start : start + WINDOW].translate(self._characters)
            words = cleaned.split()
            # A word at the window's end may go on in the next one; past the limit its length no longer matters.
            unfinished = words.pop()[: MAX_WORD_CHARS + 1] if words and not cleaned[-1].isspace() else ""
            yield words
        if unfinished:
            yield [unfinished]

    def _cut(self, word: str) -> tuple[int, ...]:
        """Greedy longest match from the left; a word that cannot be cut whole is one [UNK]."""
        if len(word) > MAX_WORD_CHARS:
            return (self.unk,)
        found: list[int] = []
        start, known = 0, self._heads
        while start < len(word):
            for end in range(min(len(word), start + self._longest), start, -1):
                id_ = known.get(word[start:end])
                if id_ is not None:
                    break
            else:
                return (self.unk,)
            found.append(id_)
            start, known = end, self._tails
        return tuple(found)


class _Characters(dict[int, str]):
    """For `str.translate`: what each character becomes, found at its first use. At most one entry a code point."""

    def __missing__(self, code: int) -> str:
        self[code] = cleaned = _clean(chr(code))
        return cleaned


def _clean(char: str) -> str:
    if char in "\t\n\r" or (char.isspace() and unicodedata.category(char)[0] == "Z"):
        return " "
    if char == "\ufffd" or unicodedata.category(char) in REMOVED:
        return ""
    decomposed = unicodedata.normalize("NFD", char)
    # Character by character, so that Σ is σ at a word's end too, as in the original.
    plain = "".join(c.lower() for c in decomposed if unicodedata.category(c) != "Mn")
    spaced = "".join(f" {c} " if _is_punctuation(c) else c for c in plain)
    return f" {spaced} " if _is_han(ord(char)) else spaced


def _is_han(code: int) -> bool:
    return any(first <= code <= last for first, last in HAN_BLOCKS)


def _is_punctuation(char: str) -> bool:
    """Unicode's P categories and all ASCII marks, "$" and "+" among them."""
    return (char.isascii() and char.isprintable() and not char.isalnum() and char != " ") or (
        unicodedata.category(char)[0] == "P"
    )
