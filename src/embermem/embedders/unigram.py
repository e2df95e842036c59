"""Cuts text into the pieces of a unigram model: normalise, split at spaces, the likeliest pieces of each word.

Source of the search: Kudo 2018, "Subword Regularization", arXiv 1804.10959 (Viterbi over the pieces' log
probabilities). All tables are arrays of a mapped file, which `convert.py` makes; a piece is looked up there by a hash
of its bytes, so that nothing is built when a process starts.
"""

from __future__ import annotations

import unicodedata
import zlib
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SPACE", "Unigram", "Word", "tables_of"]

# Stands for a space, and begins every word.
SPACE = "\u2581"
# What a character that no piece covers costs below the rarest piece: `kUnkPenalty` of sentencepiece.
UNKNOWN_PENALTY = 10.0
# Words whose pieces are remembered, about 8 MB when full; a run of unspaced script longer than this is not kept.
WORD_CACHE, MAX_CACHED_CHARS = 32_768, 24
# A piece has at most this many characters; a conversion refuses longer ones.
LONGEST_PIECE = 16
# Buckets of the hash index: two for each piece, so that most lookups of what is no piece end at an empty one.
BUCKETS = 1 << 19
_CODE_POINTS = 0x110000


@dataclass(frozen=True, slots=True)
class Word:
    """A word between spaces: the ids of its pieces, and how many characters of `text` each covers. `text` is
    normalised, and begins with SPACE."""

    text: str
    ids: tuple[int, ...]
    lengths: tuple[int, ...]


class Unigram:
    """Cuts texts into the ids of a unigram model. Safe to share between threads."""

    NAMES = ("pieces", "offsets", "scores", "buckets", "order", "longest", "characters", "begins", "replacements")
    """The names of its arrays: see `tables_of`."""

    def __init__(self, tables: Mapping[str, NDArray[Any]], unknown: int) -> None:
        """`unknown` is the id for a character that no piece covers. Raises KeyError, ValueError for missing tables."""
        views = (memoryview(tables[name]) for name in self.NAMES)  # type: ignore[arg-type]
        self._pieces, self._offsets, self._scores, self._buckets, self._order, self._longest, *characters = views
        self._unknown = unknown
        self._unknown_score = float(tables["scores"].min()) - UNKNOWN_PENALTY
        self._replaced = _Characters(*characters)
        self._kept = lru_cache(maxsize=WORD_CACHE)(self._cut)

    def words(self, text: str, limit: int) -> list[Word]:
        """The text's first words, until they make `limit` pieces; the last word is whole. No word for a text of white
        space. Linear in the text, of which no more is read than `limit` pieces can hold."""
        found: list[Word] = []
        count = 0
        for word in self._words(text, limit):
            cut = self._kept(word) if len(word) <= MAX_CACHED_CHARS else self._cut(word)
            found.append(cut)
            count += len(cut.ids)
            if count >= limit:
                break
        return found

    def places(self, text: str, words: Sequence[Word]) -> list[tuple[int, int]]:
        """Where in the text the characters [start, end) of each piece of its first `words` stand; an empty stretch for
        the mark of a space alone."""
        normal: list[str] = []
        at: list[tuple[int, int]] = []
        for start, end in _composed(text):
            made = unicodedata.normalize("NFC", text[start:end]).translate(self._replaced)
            normal.append(made)
            at += [(start, end)] * len(made)
        joined, found, place = "".join(normal), [], 0
        for word in words:
            begin = joined.find(word.text[1:], place)
            if begin < 0:
                break
            last = -1  # SPACE, which the text does not have, comes first
            for length in word.lengths:
                first, last = max(last, 0), last + length
                start = at[begin + first][0] if begin + first < len(at) else len(text)
                found.append((start, at[begin + last - 1][1] if last > first else start))
            place = begin + len(word.text) - 1
        return found

    def _words(self, text: str, limit: int) -> Iterator[str]:
        at_most = limit * LONGEST_PIECE
        # Runs of white space count as one character.
        read = text if len(text) <= at_most else " ".join(text[: 4 * at_most].split())[:at_most]
        for word in unicodedata.normalize("NFC", read).translate(self._replaced).split(" "):
            if word:
                yield SPACE + word

    def _cut(self, word: str) -> Word:
        """The pieces of the highest summed score; of equal ones the one whose last piece begins earlier."""
        length = len(word)
        best = [0.0] + [-1e38] * length
        begin, piece = [0] * (length + 1), [self._unknown] * (length + 1)
        encoded = [char.encode("utf-8", "surrogatepass") for char in word]
        joined = b"".join(encoded)
        pieces, offsets, scores, buckets, order = self._pieces, self._offsets, self._scores, self._buckets, self._order
        crc32, mask = zlib.crc32, BUCKETS - 1
        first = 0
        for start in range(length):
            base, single = best[start], False
            crc, last = 0, first
            for end in range(start + 1, min(start + self._longest[ord(word[start])], length) + 1):
                crc = crc32(encoded[end - 1], crc)
                last += len(encoded[end - 1])
                bucket = crc & mask
                for place in range(buckets[bucket], buckets[bucket + 1]):
                    id_ = order[place]
                    if pieces[offsets[id_] : offsets[id_ + 1]] != joined[first:last]:
                        continue
                    single = single or end == start + 1
                    if base + scores[id_] > best[end]:
                        best[end], begin[end], piece[end] = base + scores[id_], start, id_
                    break
            if not single and base + self._unknown_score > best[start + 1]:
                best[start + 1], begin[start + 1], piece[start + 1] = base + self._unknown_score, start, self._unknown
            first += len(encoded[start])
        ids: list[int] = []
        lengths: list[int] = []
        end = length
        while end > 0:
            ids.append(piece[end])
            lengths.append(end - begin[end])
            end = begin[end]
        return Word(word, tuple(reversed(ids)), tuple(reversed(lengths)))


def _composed(text: str) -> Iterator[tuple[int, int]]:
    """The stretches of a text that normalisation keeps apart: a character with the combining ones that follow it."""
    start = 0
    for place in range(1, len(text) + 1):
        if place == len(text) or not (unicodedata.combining(text[place]) or "\u1160" <= text[place] <= "\u11ff"):
            yield start, place
            start = place


class _Characters(dict[int, str]):
    """For `str.translate`: what each character becomes, looked up at its first use. At most one entry a code point."""

    def __init__(self, characters: memoryview[int], begins: memoryview[int], replacements: memoryview[int]) -> None:
        super().__init__()
        self._characters, self._begins, self._replacements = characters, begins, replacements

    def __missing__(self, code: int) -> str:
        place = bisect_left(self._characters, code)
        made = chr(code)
        if place < len(self._characters) and self._characters[place] == code:
            made = bytes(self._replacements[self._begins[place] : self._begins[place + 1]]).decode()
        self[code] = made
        return made


def tables_of(
    pieces: list[bytes], scores: NDArray[np.float32], replaced: Mapping[str, str], controls: frozenset[int]
) -> dict[str, NDArray[Any]]:
    """The arrays that a `Unigram` reads.

    `pieces` (UTF-8) lie one after the other from `offsets`, the ids of a bucket in `order` from `buckets`; `controls`
    are ids that no text is cut into. `longest` is, for each code point, the length of the longest piece that begins
    with it. `characters` are the code points that become others, in order; what they become begins at `begins` in
    `replacements` (UTF-8). Raises ValueError for a piece of more than LONGEST_PIECE characters.
    """
    longest = np.zeros(_CODE_POINTS, dtype=np.uint8)
    hashes = np.full(len(pieces), BUCKETS, dtype=np.uint32)
    for id_, piece in enumerate(pieces):
        if id_ in controls or not piece:
            continue
        text = piece.decode()
        if len(text) > LONGEST_PIECE:
            raise ValueError(f"the piece {text!r} has more than {LONGEST_PIECE} characters")
        longest[ord(text[0])] = max(int(longest[ord(text[0])]), len(text))
        hashes[id_] = zlib.crc32(piece) & (BUCKETS - 1)
    order = np.argsort(hashes, kind="stable").astype(np.uint32)
    characters = sorted(replaced)
    texts = [replaced[char].encode() for char in characters]
    return {
        "pieces": np.frombuffer(b"".join(pieces), dtype=np.uint8),
        "offsets": _begins(list(map(len, pieces))),
        "scores": np.asarray(scores, dtype=np.float32),
        "buckets": _begins(np.bincount(hashes, minlength=BUCKETS + 1)[:BUCKETS]),
        "order": order,
        "longest": longest,
        "characters": np.array(list(map(ord, characters)), dtype=np.uint32),
        "begins": _begins(list(map(len, texts))),
        "replacements": np.frombuffer(b"".join(texts), dtype=np.uint8),
    }


def _begins(lengths: list[int] | NDArray[Any]) -> NDArray[np.uint32]:
    return np.concatenate(([0], np.cumsum(lengths))).astype(np.uint32)
