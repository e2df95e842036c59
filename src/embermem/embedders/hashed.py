"""Signed feature hashing of words, word pairs and character n-grams: the embedder that needs no weights.

It knows spelling, not meaning: texts are near each other when they share words, parts of words or, in Chinese
and Japanese, characters. Source: Weinberger et al. 2009, "Feature Hashing for Large Scale Multitask Learning"
(signed hashing); the character 3 to 5-grams within word boundaries are fastText's (Bojanowski et al. 2017).
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from embermem.core.types import Vectors

__all__ = ["HashedNgrams"]

# Any change to what follows makes other vectors and so needs another name.
NAME = "hashed-ngram-v1"
# As e5's, so that a store has the same size with either.
DIM = 384
# Lengths of character n-grams; shorter ones are in every text, longer ones in almost none.
GRAM_LENGTHS = (3, 4, 5)
# Share of each kind of feature in a vector, before the L2 norm. N-grams lead because a long word has many and a
# function word hardly any, which weighs words much as their rarity would: on four LoCoMo conversations (26, 30, 41,
# 42), recall in the first ten was 0.39 so, and 0.32 with shares 1, 0.5, 0.7; these were chosen on that data. Words
# and pairs carry the scripts that have no n-grams here.
WORD_SHARE, PAIR_SHARE, GRAM_SHARE = 0.15, 0.15, 1.0
# Longer runs of letters (base64, Thai without spaces) are cut, so that no single word fills the cache.
MAX_WORD_CHARS = 64
# Words whose features are remembered: about 25 MB when full.
WORD_CACHE = 32_768

# Scripts written without spaces, where a character is a word: Han, hiragana, katakana.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_PICTURE = "\u2600-\u27bf\U0001f000-\U0001faff"
_TOKEN = re.compile(
    rf"(?P<unspaced>[{_UNSPACED}]+)|(?P<picture>[{_PICTURE}])|(?:(?![{_UNSPACED}])\w){{1,{MAX_WORD_CHARS}}}"
)
# Odd 64-bit constants of splitmix64 (Steele et al. 2014), to mix the hashes of two words into that of their pair.
_MIX_A, _MIX_B = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_NONE = np.zeros(0, dtype=np.uint64)


class HashedNgrams:
    """384 dimensions from spelling alone; deterministic over processes and machines. Any length of text counts whole.

    Holds nothing but a bounded cache of words. Safe to call from several threads.
    """

    def __init__(self) -> None:
        self._features = lru_cache(maxsize=WORD_CACHE)(_features)

    @property
    def name(self) -> str:
        """ "hashed-ngram-v1"."""
        return NAME

    @property
    def dim(self) -> int:
        """384."""
        return DIM

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (len(texts), 384), L2 norm 1; a zero vector for a text without a letter, digit or emoji."""
        found = [[self._features(word) for word in _words(text)] for text in texts]
        words = [np.array([one[0] for one in some], dtype=np.uint64) for some in found]
        grams = [np.concatenate([one[1:] for one in some] or [_NONE]) for some in found]
        total = WORD_SHARE * _bags(words) + PAIR_SHARE * _bags([*map(_pairs, words)]) + GRAM_SHARE * _bags(grams)
        return _units(total).astype(np.float32)


def _words(text: str) -> list[str]:
    """Words and pictures, lower-cased; of unspaced scripts, each character."""
    found = _TOKEN.finditer(unicodedata.normalize("NFKC", text).lower())
    return [word for match in found for word in (match[0] if match["unspaced"] else (match[0],))]


def _features(word: str) -> NDArray[np.uint64]:
    """The hashes of a word and then of its character n-grams."""
    bounded = f"<{word}>"
    grams = [
        bounded[start : start + length]
        for length in GRAM_LENGTHS
        for start in range(len(bounded) - length + 1)
        if length < len(bounded)
    ]
    hashes = b"".join(map(_hash, (word, *(f"#{gram}" for gram in grams))))
    return np.frombuffer(hashes, dtype="<u8").astype(np.uint64)


def _hash(feature: str) -> bytes:
    """64 bits that are the same everywhere, little-endian."""
    return hashlib.blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _pairs(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The hashes of neighbouring words' pairs, order kept apart; arithmetic modulo 2⁶⁴."""
    mixed: NDArray[np.uint64] = words[:-1] * _MIX_A + (words[1:] ^ np.right_shift(words[1:], np.uint64(31))) * _MIX_B
    return np.bitwise_xor(mixed, np.right_shift(mixed, np.uint64(29)))


def _bags(hashes: Sequence[NDArray[np.uint64]]) -> NDArray[np.float64]:
    """For each text, signed sums of 1 + ln(count) of its features at their places, shape (n, 384), L2 norm 1 (0 if
    there are none)."""
    every = np.concatenate([_NONE, *map(np.sort, hashes)])
    rows = np.repeat(np.arange(len(hashes)), [*map(len, hashes)])
    is_first = np.append(True, (every[1:] != every[:-1]) | (rows[1:] != rows[:-1]))[: len(every)]
    counts = np.diff(np.append(np.flatnonzero(is_first), len(every)))
    features, places = every[is_first], rows[is_first] * DIM
    signs = np.where(np.right_shift(features, np.uint64(63)), 1.0, -1.0)
    places += (features % np.uint64(DIM)).astype(np.intp)
    sums = np.bincount(places, weights=signs * (1.0 + np.log(counts)), minlength=len(hashes) * DIM)
    return _units(sums.astype(np.float64).reshape(-1, DIM))


def _units(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    norms = np.array([np.linalg.norm(vector) for vector in vectors]).reshape(-1, 1)
    return vectors / np.where(norms > 0.0, norms, 1.0)
