"""Cuts text into the pieces of a SentencePiece unigram model: normalise, split at white space, the likeliest pieces.

The model file is sentencepiece's `ModelProto` (google/sentencepiece, `sentencepiece_model.proto`), in the older layout
of the Universal Sentence Encoder, where field 3 holds the normaliser. It is read here with a few lines, so that neither
sentencepiece nor protobuf is needed. Source of the search: Kudo 2018, "Subword Regularization", arXiv 1804.10959
(Viterbi over the pieces' log probabilities).

One difference to sentencepiece's own reader is meant: "<s>", "</s>" and the like in a text are plain characters here.
"""

from __future__ import annotations

import struct
import sys
import unicodedata
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from embermem.core.errors import EmbedderError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Unigram"]

# Stands for a space, and begins every word.
SPACE = "\u2581"
# Ids of sentencepiece's own pieces.
UNKNOWN, BEGIN, END = 0, 1, 2
# What a character that no piece covers costs below the rarest piece: `kUnkPenalty` of sentencepiece.
UNKNOWN_PENALTY = 10.0
# Words whose pieces are remembered, about 8 MB when full; a run of unspaced script longer than this is not kept.
WORD_CACHE, MAX_CACHED_CHARS = 32_768, 24
# Fields of ModelProto and of NormalizerSpec.
_PIECES, _NORMALIZER, _CHARSMAP = 1, 3, 2
# Tags of a piece's message and string, and of its score; a length from 128 on has more bytes than one.
_MESSAGE, _FLOAT, _LONG = 0x0A, 0x15, 0x80
# Between two pieces where they are looked at as one text: no piece has it.
_END = "\n"


class Unigram:
    """Cuts texts into the ids of a unigram model. Safe to share between threads."""

    NAMES = ("pieces", "controls", "begins", "longest", "scores", "charsmap")
    """The names of its `arrays`."""

    def __init__(
        self,
        pieces: list[str],
        scores: array[float],
        charsmap: bytes,
        controls: Sequence[str] | None = None,
        longest: dict[str, int] | None = None,
    ) -> None:
        """`scores` are log probabilities of `pieces`; what is in angle brackets is no piece of a text.

        Which these `controls` are, and how long the `longest` piece is that begins with a character, is worked out
        where it is not given.
        """
        if controls is None:
            controls = [piece for piece in pieces if piece[0] in "<e" and _is_control(piece)]
        self._ids = dict(zip(pieces, range(len(pieces)), strict=True))
        for piece in controls:
            self._ids.pop(piece, None)
        self._pieces, self._controls = pieces, controls
        self._scores, self._charsmap = scores, charsmap
        self._unknown_score = float(np.frombuffer(scores, dtype=np.float32).min()) - UNKNOWN_PENALTY
        self._longest = _longest(self._ids) if longest is None else longest
        self._most = max(self._longest.values())
        self._normalizer = _Normalizer(charsmap)
        self._kept = lru_cache(maxsize=WORD_CACHE)(self._cut)

    @classmethod
    def from_file(cls, path: Path) -> Unigram:
        """Reads a sentencepiece model. Raises EmbedderError if it cannot be read or is damaged."""
        try:
            pieces, scores, charsmap = read_model(path)
            return cls(pieces, scores, charsmap)
        except (OSError, ValueError, IndexError, KeyError, struct.error) as error:
            raise EmbedderError(
                f"{path} is damaged or cannot be read: {error}; run `embermem model install`"
            ) from error

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Unigram:
        """What `arrays` was made of. Raises ValueError, KeyError if it is damaged."""
        pieces, controls, begins = map(_texts_of, (arrays[name] for name in cls.NAMES[:3]))
        scores = array("f")
        scores.frombytes(arrays["scores"].astype(np.float32).tobytes())
        if len(pieces) != len(scores):
            raise ValueError(f"{len(pieces)} pieces have {len(scores)} scores")
        longest = dict(zip(begins, arrays["longest"].tolist(), strict=True))
        return cls(pieces, scores, arrays["charsmap"].tobytes(), controls, longest)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that it knows, as arrays from which it is made sooner."""
        parts = (
            _bytes_of(self._pieces),
            _bytes_of(self._controls),
            _bytes_of(self._longest),
            np.array(list(self._longest.values()), dtype=np.int64),
            np.array(self._scores, dtype=np.float32),
            np.frombuffer(self._charsmap, dtype=np.uint8),
        )
        return dict(zip(self.NAMES, parts, strict=True))

    def pieces(self, text: str, limit: int) -> list[int]:
        """The ids of the text's first `limit` pieces, without those of begin and end; none for a text of white space.

        Linear in the text, of which no more is read than `limit` pieces can hold.
        """
        found: list[int] = []
        for _, ids in self.words(text, limit):
            found.extend(ids)
        return found[:limit]

    def words(self, text: str, limit: int) -> list[tuple[str, tuple[int, ...]]]:
        """The text's first words, each with its ids, until they make `limit` pieces; the last word is whole.

        A word is what stands between white space, normalised (NFKC), with the sign for a space before it.
        """
        found: list[tuple[str, tuple[int, ...]]] = []
        count = 0
        for word in self._words(text, limit):
            ids = self._kept(word) if len(word) <= MAX_CACHED_CHARS else self._cut(word)
            found.append((word, ids))
            count += len(ids)
            if count >= limit:
                break
        return found

    def piece(self, id_: int) -> str:
        """The piece with this id."""
        return self._pieces[id_]

    def _words(self, text: str, limit: int) -> Iterator[str]:
        at_most = limit * self._most
        # Runs of white space count as one character.
        read = text if len(text) <= at_most else " ".join(text[: 4 * at_most].split())[:at_most]
        for word in self._normalizer.normalized(read).rstrip(f" {SPACE}").split(" "):
            if word:
                yield SPACE + word

    def _cut(self, word: str) -> tuple[int, ...]:
        """The pieces of the highest summed score; of equal ones the one whose last piece begins earlier."""
        length = len(word)
        best = [0.0] + [-1e38] * length
        begin, piece = [0] * (length + 1), [UNKNOWN] * (length + 1)
        ids, scores = self._ids, self._scores
        for start in range(length):
            base, single = best[start], False
            longest = self._longest.get(word[start], 0)
            for end in range(start + 1, min(start + longest, length) + 1):
                id_ = ids.get(word[start:end])
                if id_ is None:
                    continue
                single = single or end == start + 1
                if base + scores[id_] > best[end]:
                    best[end], begin[end], piece[end] = base + scores[id_], start, id_
            if not single and base + self._unknown_score > best[start + 1]:
                best[start + 1], begin[start + 1], piece[start + 1] = base + self._unknown_score, start, UNKNOWN
        found: list[int] = []
        end = length
        while end > 0:
            found.append(piece[end])
            end = begin[end]
        return tuple(reversed(found))


def _bytes_of(texts: Iterable[str]) -> NDArray[np.uint8]:
    return np.frombuffer(_END.join(texts).encode(), dtype=np.uint8)


def _texts_of(stored: NDArray[np.uint8]) -> list[str]:
    return stored.tobytes().decode().split(_END)


def _longest(pieces: Iterable[str]) -> dict[str, int]:
    """How long the longest piece that begins with a character is, by these characters."""
    joined = np.frombuffer(f"\n{_END.join(pieces)}\n".encode("utf-32-le"), dtype=np.uint32)
    ends = np.flatnonzero(joined == ord(_END))
    longest = np.zeros(sys.maxunicode + 1, dtype=np.int64)
    np.maximum.at(longest, joined[ends[:-1] + 1], np.diff(ends) - 1)
    begins = np.flatnonzero(longest)
    return dict(zip(map(chr, begins.tolist()), longest[begins].tolist(), strict=True))


def _is_control(piece: str) -> bool:
    return (piece.startswith("<") and piece.endswith(">") and len(piece) > 2) or piece.startswith("extra_token_id_")


# ----------------------------------------------------------------------------------------------------- normaliser


class _Normalizer:
    """Replaces characters by a precompiled map: a double-array trie of UTF-8 keys, then the replacements, each ended by
    a zero byte. The longest key that fits is replaced; what none fits stays.

    Format: Yata's darts-clone (https://github.com/s-yata/darts-clone), as sentencepiece's `normalizer.cc` stores it.
    """

    def __init__(self, charsmap: bytes) -> None:
        (size,) = struct.unpack_from("<I", charsmap)
        self._units = array("I", charsmap[4 : 4 + size])
        self._texts = charsmap[4 + size :]
        self._single: dict[str, tuple[str, bool]] = {}
        self._characters = _Characters(lambda char: self._alone(char)[0])

    def normalized(self, text: str) -> str:
        # Keys of several characters are those that NFKC would join.
        if unicodedata.is_normalized("NFKC", text):
            return text.translate(self._characters)
        out: list[str] = []
        single = self._single
        place, length = 0, len(text)
        while place < length:
            char = text[place]
            known = single.get(char)
            if known is None:
                known = single[char] = self._alone(char)
            step = 1
            if known[1] and place + 1 < length:
                replaced, step = self._longest(text, place)
                out.append(replaced)
            else:
                out.append(known[0])
            place += step
        return "".join(out)

    def _alone(self, char: str) -> tuple[str, bool]:
        """What the character alone becomes, and whether a longer key begins with it."""
        text, node, goes_on = char, self._offset(self._units[0]), True
        for byte in char.encode("utf-8", "replace"):
            node ^= byte
            unit = self._units[node]
            if unit & 0x800000FF != byte:
                goes_on = False
                break
            node ^= self._offset(unit)
            leaf = bool(unit & 0x100)
        if goes_on:
            if leaf:
                text = self._text(self._units[node] & 0x7FFFFFFF)
            goes_on = any(self._units[node ^ byte] & 0x800000FF == byte for byte in range(1, 256))
        return text, goes_on

    def _longest(self, text: str, place: int) -> tuple[str, int]:
        """What the longest key at a place becomes, and how many characters it has."""
        node, found, chars = self._offset(self._units[0]), (text[place], 1), 0
        while place + chars < len(text):
            for byte in text[place + chars].encode("utf-8", "replace"):
                node ^= byte
                unit = self._units[node]
                if unit & 0x800000FF != byte:
                    return found
                node ^= self._offset(unit)
            chars += 1
            if unit & 0x100:
                found = self._text(self._units[node] & 0x7FFFFFFF), chars
        return found

    def _text(self, begin: int) -> str:
        return self._texts[begin : self._texts.index(b"\0", begin)].decode()

    @staticmethod
    def _offset(unit: int) -> int:
        return (unit >> 10) << ((unit & 0x200) >> 6)


class _Characters(dict[int, str]):
    """For `str.translate`: what each character becomes, found at its first use. At most one entry a code point."""

    def __init__(self, made: Callable[[str], str]) -> None:
        super().__init__()
        self._made = made

    def __missing__(self, code: int) -> str:
        self[code] = made = self._made(chr(code))
        return made


# ------------------------------------------------------------------------------------------------------- the file


def read_model(path: Path) -> tuple[list[str], array[float], bytes]:
    """The pieces of a sentencepiece model, their scores, and the map of characters."""
    data = path.read_bytes()
    pieces, scores, place = _leading_pieces(data)
    charsmap = b""
    for field, begin, end in _fields(data, place, len(data)):
        if field == _PIECES:
            text_end = begin + 2 + data[begin + 1]
            if data[begin] != _MESSAGE or data[begin + 1] >= _LONG or data[text_end] != _FLOAT:
                raise ValueError(f"the piece at byte {begin} has another form")
            pieces.append(data[begin + 2 : text_end].decode())
            scores.append(struct.unpack_from("<f", data, text_end + 1)[0])
        elif field == _NORMALIZER:
            parts = {part: data[first:last] for part, first, last in _fields(data, begin, end)}
            charsmap = parts.get(_CHARSMAP, b"")
    if not pieces or not charsmap:
        raise ValueError("it holds no pieces, or no map of characters")
    return pieces, scores, charsmap


def _leading_pieces(data: bytes) -> tuple[list[str], array[float], int]:
    """The pieces that begin the file, their scores, and where they end.

    They are the commonest part of it, 128,000 times, and are found all at once: a message (tag 0x0a) of less than 128
    bytes that has a string (tag 0x0a), then a float (tag 0x15). Bytes that only look so end what is found here; the
    rest is read field by field.
    """
    codes = np.frombuffer(data + bytes(2 * _LONG), dtype=np.uint8)
    begins = np.flatnonzero((codes[: len(data)] == _MESSAGE) & (codes[2 : len(data) + 2] == _MESSAGE))
    begins = begins[(codes[begins + 1] < _LONG) & (codes[begins + 3] < _LONG)]
    begins = begins[codes[begins + 4 + codes[begins + 3]] == _FLOAT]
    after = begins + 2 + codes[begins + 1]
    gap = np.flatnonzero(after[:-1] != begins[1:])
    count = int(gap[0]) + 1 if len(gap) else len(begins)
    if not count or begins[0] != 0 or after[count - 1] > len(data):
        raise ValueError("it begins with no piece, or is cut off")
    texts, ends = begins[:count] + 4, begins[:count] + 4 + codes[begins[:count] + 3]
    scores = array("f")
    scores.frombytes(codes[ends[:, None] + np.arange(1, 5)].tobytes())
    if sys.byteorder == "big":
        scores.byteswap()
    return _cut_out(codes, texts, ends), scores, int(after[count - 1])


def _cut_out(codes: NDArray[np.uint8], texts: NDArray[np.int64], ends: NDArray[np.int64]) -> list[str]:
    """The texts that begin and end at these bytes: all that lies between is left out, and they are decoded at once."""
    change = np.zeros(int(ends[-1]) + 1, dtype=np.int8)
    change[texts] = 1
    change[ends] -= 1
    inside = np.cumsum(change, dtype=np.int8).astype(bool)
    inside[ends] = True  # a byte that becomes the mark between two
    marked = codes[: len(inside)].copy()
    marked[ends] = ord(_END)
    found: list[str] = marked[inside].tobytes().decode().split(_END)[:-1]
    if len(found) != len(texts):
        raise ValueError("a piece has a line break")
    return found


def _fields(data: bytes, place: int, end: int) -> Iterator[tuple[int, int, int]]:
    """The fields of a Protocol Buffers message: number, and where its value begins and ends."""
    while place < end:
        tag, place = _varint(data, place)
        match tag & 7:
            case 2:
                length, place = _varint(data, place)
            case 0:
                length = _varint(data, place)[1] - place
            case 1:
                length = 8
            case 5:
                length = 4
            case other:
                raise ValueError(f"unknown wire type {other} at byte {place}")
        yield tag >> 3, place, place + length
        place += length


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place
