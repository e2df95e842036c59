"""multilingual-e5-small, tuned for conversational memory, on onnxruntime: sentence vectors and token vectors.

The graph (`e5.onnx`, made by `scripts/build_graphs.py`) and the tuned layers (`e5_tuned.safetensors`, made by
`encoder/export.py`) ship with Ember; the other weights are mapped from the file that `embermem model install` makes.

Model: Wang et al. 2024, "Multilingual E5 Text Embeddings", arXiv 2402.05672; https://huggingface.co/intfloat/
multilingual-e5-small (MIT).
"""

from __future__ import annotations

import os
import threading
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from embermem.core.errors import EmbedderError, EmbedderMissing
from embermem.core.recent import Recent
from embermem.core.token_vectors import TokenVectors
from embermem.embedders.convert import expected_metadata, unpacked
from embermem.embedders.graphs import run, session
from embermem.embedders.tensors import read_tensors
from embermem.embedders.unigram import SPACE, WORD_CACHE, Unigram, Word
from embermem.embedders.weights import MODEL_SHA256, find_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from embermem.core.types import Vector, Vectors

__all__ = ["E5", "NAME", "QUERY", "Shared"]

NAME = "multilingual-e5-small+ember-1"
DIM = 384
TOKEN_DIM = 128

# Pieces of a text in one run; the model has 512 positions, and most of what it was trained on was shorter than this.
WINDOW = 254
# Windows of a text: 2032 pieces, some three pages; what lies beyond is not read.
MAX_WINDOWS = 8
PASSAGE, QUERY = "passage:", "query:"
"""What stands before a text, so that the model knows what it is for."""
# Marks after which a window may end; a full stop only before a space.
SENTENCE_ENDS = frozenset("!?。؟।")
# How Unicode's names of characters begin in scripts without spaces between words.
UNSPACED = ("CJK ", "IDEOGRAPHIC ", "HIRAGANA ", "KATAKANA", "THAI ", "LAO ", "KHMER ", "MYANMAR ", "TIBETAN ")
# Runs at the same time in one call. Two on two cores gave 1.9 times the throughput of one; more were not measured.
MAX_THREADS = 4
# Texts that are cut into pieces before they are run, so that what is held does not grow with the call.
TEXTS_AT_A_TIME = 4096
# Texts whose states are kept for the reader, which follows the encoder by some pages: 30 kB a short message.
SHARED_KEPT = 256


@dataclass(frozen=True, slots=True)
class Shared:
    """The beginning of a text after the layers that the reader shares: the hidden states of its pieces, and of what
    stands before and after them (t, 384); how many rows are `before` the text's; and where each of its pieces stands,
    the characters [start, end)."""

    rows: NDArray[np.float16]
    before: int
    places: tuple[tuple[int, int], ...]


class E5:
    """multilingual-e5-small+ember-1: 384 dimensions, in about a hundred languages; 2032 pieces of a text.

    Weights are mapped at the first text, once, and stay. Each text has a run of its own, so that its vectors do not
    depend on the other texts of a call. Safe to call from several threads.
    """

    def __init__(self, file: Path | None = None, *, threads: int | None = None) -> None:
        """`file` is the converted file of weights (default: the installed one).

        `threads` is how many runs one call of many texts makes at the same time (default: one a core, at most 4).
        """
        self._file = file
        self._threads = threads if threads is not None else _at_once()
        self._lock = threading.Lock()
        self._loaded: Loaded | None = None
        self._shared: Recent[tuple[str, str], NDArray[np.float16]] = Recent(SHARED_KEPT)

    @property
    def name(self) -> str:
        """The model's name."""
        return NAME

    @property
    def dim(self) -> int:
        """384."""
        return DIM

    @property
    def token_dim(self) -> int:
        """128."""
        return TOKEN_DIM

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts as passages, shape (len(texts), 384), L2 norm 1; zero for a text without a piece.

        Raises EmbedderMissing if the weights are not installed, EmbedderError if they cannot be used.
        """
        return np.concatenate([*(vectors for vectors, _ in self._embedded(texts)), _none(DIM)])

    def embed_tokens(self, texts: Sequence[str]) -> tuple[Vectors, list[TokenVectors]]:
        """What `embed` gives, and each text's tokens in the text's order; raises as `embed` does.

        A token is a piece. Its word is the one that it stands in; in scripts without spaces, and for marks, the piece
        itself. What precedes every text, the mark of a space alone, and characters that the model does not know are no
        tokens. 512 bytes a token.
        """
        parts = list(self._embedded(texts))
        vectors = np.concatenate([*(vectors for vectors, _ in parts), _none(DIM)])
        return vectors, [tokens for _, some in parts for tokens in some]

    def embed_query(self, text: str) -> tuple[Vector, TokenVectors]:
        """The vector and the tokens of a text that asks; raises as `embed` does."""
        loaded = self._load()
        windows = loaded.windows(text, QUERY)
        made = [loaded.states(window) for window in windows]
        if made:
            self._shared.put((QUERY, text), made[0].shared)
        return loaded.joined(windows, made, QUERY)

    def shared(self, text: str, prefix: str = PASSAGE) -> Shared | None:
        """The beginning of a passage (or a `QUERY`) after the layers that the reader shares: at most 254 pieces; None
        for a text without a piece. Kept of the texts that were embedded last. Raises as `embed` does."""
        loaded = self._load()
        windows = loaded.windows(text, prefix)
        if not windows:
            return None
        rows = self._shared.get((prefix, text))
        if rows is None:
            rows = loaded.states(windows[0]).shared
        places = loaded.places(text, windows[0])
        return Shared(rows, windows[0].before, tuple(places))

    def _embedded(self, texts: Sequence[str]) -> Iterator[tuple[Vectors, list[TokenVectors]]]:
        """Vectors and tokens of some of the texts at a time."""
        for start in range(0, len(texts), TEXTS_AT_A_TIME):
            loaded = self._load()
            cut = [loaded.windows(text, PASSAGE) for text in texts[start : start + TEXTS_AT_A_TIME]]
            windows = [window for some in cut for window in some]
            made = iter(self._run(windows, loaded.states))
            of_texts = [[next(made) for _ in some] for some in cut]
            for text, some in zip(texts[start : start + TEXTS_AT_A_TIME], of_texts, strict=True):
                if some:
                    self._shared.put((PASSAGE, text), some[0].shared)
            joined = [loaded.joined(windows, some, PASSAGE) for windows, some in zip(cut, of_texts, strict=True)]
            yield np.stack([vector for vector, _ in joined]), [tokens for _, tokens in joined]

    def _run(self, windows: Sequence[Window], run: Callable[[Window], States]) -> list[States]:
        """What comes out for each window. Runs go on side by side, longest first, so that they end together."""
        if self._threads == 1 or len(windows) <= 1:
            return [run(window) for window in windows]
        order = sorted(range(len(windows)), key=lambda i: -len(windows[i].ids))
        with ThreadPoolExecutor(self._threads, thread_name_prefix="embermem-e5") as pool:
            found = dict(zip(order, pool.map(run, [windows[i] for i in order]), strict=True))
        return [found[i] for i in range(len(windows))]

    def _load(self) -> Loaded:
        if self._loaded is None:
            with self._lock:
                if self._loaded is None:
                    self._loaded = Loaded(self._file or _installed())
        return self._loaded


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """A stretch of a text for one run: its `ids`, those before and after the text included, the `words` of the text's
    pieces (None: no token), and how many ids are `before` them."""

    ids: NDArray[np.int64]
    words: tuple[str | None, ...]
    before: int


class States(NamedTuple):
    """Of a window: the mean of its hidden states (384,), the vectors of its tokens, and the states that the reader
    shares (t, 384)."""

    mean: Vector
    tokens: Vectors
    shared: NDArray[np.float16]


class Loaded:
    """The session with its tokenizer and tables; immutable once made."""

    def __init__(self, path: Path) -> None:
        arrays = _read(path)
        try:
            self._begin, self._end, self._unknown = arrays.pop("special").tolist()
            self._tokenizer = Unigram({name: arrays.pop(name) for name in Unigram.NAMES}, self._unknown)
            self._table, self._positions = arrays.pop("words"), arrays.pop("positions")
            self._means = {PASSAGE: arrays.pop("mean.passage"), QUERY: arrays.pop("mean.query")}
        except (KeyError, ValueError) as error:
            raise _damaged(path, error) from error
        self._model = session("embermem.embedders", "e5.onnx", arrays, path)
        self._prefixes = {
            prefix: [self._begin, *(id_ for word in self._tokenizer.words(prefix, WINDOW) for id_ in word.ids)]
            for prefix in self._means
        }
        self._words = lru_cache(maxsize=WORD_CACHE)(self._words_of)

    def windows(self, text: str, prefix: str) -> list[Window]:
        """The text's windows; none for a text without a piece."""
        words = self._tokenizer.words(text, MAX_WINDOWS * WINDOW)
        ids = [id_ for word in words for id_ in word.ids]
        if not ids:
            return []
        tokens = [token for word in words for token in self._words(word)]
        cuts = [len(ids)] if len(ids) <= WINDOW else cut_windows(_ends(words), WINDOW, MAX_WINDOWS)
        before = self._prefixes[prefix]
        return [
            Window(
                ids=np.array([*before, *ids[first:last], self._end], dtype=np.int64),
                words=tuple(tokens[first:last]),
                before=len(before),
            )
            for first, last in zip([0, *cuts], cuts, strict=False)
        ]

    def states(self, window: Window) -> States:
        """What a run gives of a window. Raises EmbedderError."""
        outputs = ["mean", "tokens", "shared"]
        mean, tokens, shared = run(self._model, outputs, {"embedded": self._embedded(window.ids)}, NAME)
        kept = [place for place, word in enumerate(window.words, window.before) if word is not None]
        return States(mean, tokens[kept], shared.astype(np.float16))

    def places(self, text: str, window: Window) -> list[tuple[int, int]]:
        """Where the pieces of a text's first window stand in it."""
        words = self._tokenizer.words(text, len(window.words))
        return self._tokenizer.places(text, words)[: len(window.words)]

    def joined(self, windows: Sequence[Window], made: Sequence[States], prefix: str) -> tuple[Vector, TokenVectors]:
        """A text's vector and tokens, of those of its windows. Tokens without vectors are left out."""
        if not windows:
            return np.zeros(DIM, dtype=np.float32), TokenVectors(words=(), vectors=_none(TOKEN_DIM))
        mean = np.average([one.mean for one in made], axis=0, weights=[len(window.ids) for window in windows])
        vector = (mean - self._means[prefix]).astype(np.float32)
        words = (word for window in windows for word in window.words if word is not None)
        tokens = np.concatenate([one.tokens for one in made])
        found = TokenVectors(words=tuple(words) if len(tokens) else (), vectors=tokens)
        return vector / np.float32(max(float(np.linalg.norm(vector)), 1e-12)), found

    def _embedded(self, ids: NDArray[np.int64]) -> Vectors:
        """Word, position and type of the pieces (t, 384). Here and not in the session, which would hold the whole table
        of pieces in float32 (384 MB)."""
        return np.asarray(unpacked(self._table[ids]) + self._positions[: len(ids)])

    def _words_of(self, word: Word) -> tuple[str | None, ...]:
        """The token's word of each piece of a word, None for one that is no token."""
        found: list[str | None] = []
        runs = _runs(word.text)
        for id_, length, end in zip(word.ids, word.lengths, accumulate(word.lengths), strict=True):
            piece = word.text[end - length : end].strip(SPACE)
            if id_ == self._unknown or not piece:
                found.append(None)
                continue
            inside = next((runs[i] for i in range(end - length, end) if i in runs), None)
            found.append(piece.lower() if inside is None else inside)
        return tuple(found)


def cut_windows(ends: Sequence[int], room: int, most: int) -> list[int]:
    """Where the windows of at most `room` pieces end, `most` windows at most, by what ends with each piece: 2, a
    sentence; 1, a word; 0, neither.

    A window rather ends after a sentence in its last third, else after a word in it.
    """
    cuts: list[int] = []
    begin = 0
    while begin < len(ends) and len(cuts) < most:
        end = min(begin + room, len(ends))
        if end < len(ends):
            places = range(begin + 2 * room // 3, end)
            end = max(places, key=lambda place: (ends[place], place), default=end - 1) + 1
        cuts.append(end)
        begin = end
    return cuts


def _ends(words: Sequence[Word]) -> list[int]:
    """What ends with each piece of the words, as `cut_windows` takes it."""
    found: list[int] = []
    for word in words:
        found += [2 if word.text[end - 1] in SENTENCE_ENDS else 0 for end in accumulate(word.lengths)]
        found[-1] = 2 if word.text[-1] in SENTENCE_ENDS or word.text[-1] == "." else 1
    return found


def _runs(text: str) -> dict[int, str]:
    """By the place of each letter, digit or combining mark of a text, the unbroken run that it is in, in lower case. In
    scripts without spaces there are no runs."""
    found: dict[int, str] = {}
    begin: int | None = None
    for place, char in enumerate(text + SPACE):
        if unicodedata.category(char)[0] in "LNM" and not unicodedata.name(char, "").startswith(UNSPACED):
            begin = place if begin is None else begin
        elif begin is not None:
            found |= dict.fromkeys(range(begin, place), text[begin:place].lower())
            begin = None
    return found


def _at_once() -> int:
    """How many runs one call of many texts makes at the same time: one a core that this process may use, at most 4."""
    affinity = getattr(os, "sched_getaffinity", None)
    return min(len(affinity(0)) if affinity else os.cpu_count() or 1, MAX_THREADS)


def _read(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of the converted file. Raises EmbedderMissing if it is of another version, EmbedderError if it is
    damaged."""
    try:
        arrays, metadata = read_tensors(path)
    except (OSError, ValueError) as error:
        raise _damaged(path, error) from error
    expected = expected_metadata(MODEL_SHA256)
    if {name: metadata.get(name) for name in expected} != expected:
        raise EmbedderMissing(f"{path} was made by another version of Ember; run `embermem model install`")
    return arrays


def _damaged(path: Path, error: Exception) -> EmbedderError:
    return EmbedderError(f"{path} is damaged or cannot be read: {error}; run `embermem model install`")


def _none(dim: int) -> Vectors:
    return np.zeros((0, dim), dtype=np.float32)


def _installed() -> Path:
    file = find_weights()
    if file is None:
        raise EmbedderMissing(f"the weights of {NAME} are not installed; run `embermem model install`")
    return file
