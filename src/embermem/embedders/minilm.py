"""all-MiniLM-L6-v2 on onnxruntime: sentence vectors, and token vectors for late interaction.

The graph (`minilm.onnx`, made by `scripts/build_minilm_graph.py`) ships with Ember and holds no weights; they
are mapped from the installed `model.safetensors` when first needed. Nothing is built or written. A second, small
graph makes token vectors of hidden states (`minilm_tokens.onnx`, made by `scripts/build_minilm_tokens.py`).

Model: https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from embermem.core.errors import EmbedderMissing
from embermem.embedders import sessions
from embermem.embedders.tensors import read_safetensors
from embermem.embedders.weights import MODEL, VOCABULARY, find_weights
from embermem.embedders.wordpiece import WordPiece
from embermem.protocols import TokenVectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from embermem.core.types import Vectors

__all__ = ["MiniLM"]

NAME = "all-MiniLM-L6-v2"
DIM = 384
# Of a token's vector. On three talks of LoCoMo, 128 in 4 bits found as much as 384 in float (rec@10 .744, .738).
TOKEN_DIM = 128

# `max_seq_length` of the model's sentence_bert_config.json, [CLS] and [SEP] included.
MAX_PIECES = 256
# Passages of a text whose tokens are given: 8 · 254 = 2032 pieces, some three pages.
MAX_PASSAGES = 8
# Words after which a passage may end.
SENTENCE_ENDS = frozenset(".!?。！？")
# The id of [PAD].
PAD = 0
# Word pieces in one run, padding included. On 64 texts of 51 pieces and two threads, 512 gave 157 texts a second,
# 1024 145, 2048 132. It also keeps the largest array of a run small: 6.3 MB of attention scores (2 texts, 12 heads,
# 256 × 256 × 4 bytes).
PIECES_PER_RUN = 512
# By how many pieces a text is padded at most: padding costs as much as pieces, a run as much as 9. Of 720 messages of
# LoCoMo, 64 at a time, a twenty-fifth of what is run is padding, in 166 runs; without a bound a seventh, in 64.
PADDED_AT_MOST = 3
# Weights that the graph has no use for: BERT's next-sentence head. onnxruntime refuses what it does not know.
UNUSED = "pooler."
# Texts that are cut into pieces before they are run, so that what is held does not grow with the call.
TEXTS_AT_A_TIME = 4096


_T = TypeVar("_T")


class MiniLM:
    """all-MiniLM-L6-v2: 384 dimensions, English above all; the first 256 word pieces of a text make its vector.

    Weights are loaded at the first text (0.1 to 0.3 s), once, and stay. Safe to call from several threads.
    """

    def __init__(self, folder: Path | None = None, *, threads: int | None = None) -> None:
        """`folder` holds the model's files (default: the installed package's).

        `threads` is how many runs one call of many texts makes at the same time (default: one a core, at most 4).
        """
        self._folder = folder
        self._threads = threads if threads is not None else sessions.at_once()
        self._lock = threading.Lock()
        self._loaded: Loaded | None = None

    @property
    def name(self) -> str:
        """The model's name."""
        return NAME

    @property
    def dim(self) -> int:
        """384."""
        return DIM

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (len(texts), 384), L2 norm 1; a zero vector for a text without a word piece.

        A text's vector does not depend on its company, but for rounding (1e-6). Raises EmbedderMissing if the
        weights are not installed, EmbedderError if they cannot be used.
        """
        vectors = np.zeros((len(texts), DIM), dtype=np.float32)
        for start in range(0, len(texts), TEXTS_AT_A_TIME):
            loaded = self._load()
            cut = [loaded.pieces(text) for text in texts[start : start + TEXTS_AT_A_TIME]]
            for rows, found in self._run(cut, loaded.sentences):
                vectors[start : start + len(cut)][rows] = found
        return vectors

    @property
    def token_dim(self) -> int:
        """128."""
        return TOKEN_DIM

    def embed_tokens(self, texts: Sequence[str]) -> tuple[Vectors, list[TokenVectors]]:
        """What `embed` gives, and each text's tokens in the text's order; raises as `embed` does.

        A text longer than one run holds is cut into passages, at most 8 (2032 pieces); what lies beyond has no
        tokens. [CLS], [SEP] and [UNK] are no tokens: a text of nothing but unknown words (emoji, say) has a vector and
        no token. A token's vectors do not depend on the text's company, but for rounding. 512 bytes a token.
        """
        vectors = np.zeros((len(texts), DIM), dtype=np.float32)
        tokens: list[TokenVectors] = []
        for start in range(0, len(texts), TEXTS_AT_A_TIME):
            loaded = self._load()
            cut = [loaded.passages(text) for text in texts[start : start + TEXTS_AT_A_TIME]]
            owned = [(row, passage) for row, passages in enumerate(cut, start) for passage in passages]
            parts: list[Vectors] = [vectors] * len(owned)
            for places, (sentences, found) in self._run([passage.ids for _, passage in owned], loaded.tokens):
                for place, sentence, part in zip(places, sentences, found, strict=True):
                    row, passage = owned[place]
                    # Fewer than what was run where the passage ends inside a word.
                    parts[place] = part[: len(passage.words)]
                    if passage.first:
                        vectors[row] = sentence
            placed = iter(parts)
            tokens.extend(_join(passages, [next(placed) for _ in passages]) for passages in cut)
        return vectors, tokens

    def _run(
        self, cut: Sequence[Sequence[int]], work: Callable[[NDArray[np.int64]], _T]
    ) -> Iterator[tuple[list[int], _T]]:
        """Does the work on the pieces batch by batch: (which of `cut`, what came out). Batches run side by side."""
        batches = plan([len(pieces) for pieces in cut], PIECES_PER_RUN)
        padded = (pad([cut[row] for row in batch]) for batch in batches)
        if self._threads == 1 or len(batches) <= 1:
            yield from zip(batches, map(work, padded), strict=True)
            return
        with ThreadPoolExecutor(self._threads, thread_name_prefix="embermem-minilm") as pool:
            yield from zip(batches, pool.map(work, padded), strict=True)

    def _load(self) -> Loaded:
        if self._loaded is None:
            with self._lock:
                if self._loaded is None:
                    self._loaded = Loaded(self._folder or _installed())
        return self._loaded


def plan(lengths: Sequence[int], limit: int) -> list[list[int]]:
    """Batches of positions in `lengths`: longest first, no more than `limit` when padded, no text by more than
    PADDED_AT_MOST, texts of length 0 left out.

    A text longer than the limit stands alone. Longest first, so that runs side by side end at about the same time.
    """
    order = sorted((i for i, length in enumerate(lengths) if length), key=lambda i: -lengths[i])
    batches: list[list[int]] = []
    for i in order:
        last = batches[-1] if batches else [i]
        longest = lengths[last[0]]
        if batches and longest * (len(last) + 1) <= limit and longest - lengths[i] <= PADDED_AT_MOST:
            last.append(i)
        else:
            batches.append([i])
    return batches


@dataclass(frozen=True, kw_only=True, slots=True)
class Passage:
    """A stretch of a text for one run: its `ids`, [CLS] and [SEP] included, and the `words` of its tokens, one each.

    Where the first passage ends inside a word, the next one has the whole word, and `words` ends before it.
    """

    ids: list[int]
    words: list[str]
    first: bool


def cut_passages(words: Sequence[tuple[str, Sequence[int]]], room: int, most: int) -> list[slice]:
    """Which words make each passage of at most `room` pieces, `most` passages at most; no word has more than `room`.

    The first passage takes what it can hold. The others rather end after a sentence in their last third.
    """
    cuts: list[slice] = []
    begin = 0
    while begin < len(words) and len(cuts) < most:
        end = _end(words, begin, room, SENTENCE_ENDS if cuts else frozenset())
        cuts.append(slice(begin, end))
        begin = end
    return cuts


def _end(words: Sequence[tuple[str, Sequence[int]]], begin: int, room: int, sentence_ends: frozenset[str]) -> int:
    count, after_sentence = 0, 0
    for end in range(begin, len(words)):
        word, ids = words[end]
        count += len(ids)
        if count > room:
            return after_sentence or end
        if word in sentence_ends and 3 * count > 2 * room:
            after_sentence = end + 1
    return len(words)


def _join(passages: Sequence[Passage], parts: Sequence[Vectors]) -> TokenVectors:
    """The passages' tokens as the text's."""
    words = tuple(word for passage in passages for word in passage.words)
    vectors = np.zeros((0, TOKEN_DIM), dtype=np.float32)
    if words:
        vectors = parts[0] if len(parts) == 1 else np.concatenate(parts)
    # The vocabulary holds some hundreds of the commonest CJK characters, learned by the way; others are [UNK].
    return TokenVectors(words=words, vectors=vectors, reads="en")


class Loaded:
    """The session with its tokenizer; immutable once made."""

    def __init__(self, folder: Path) -> None:
        self._tokenizer = WordPiece.from_file(folder / VOCABULARY)
        # Views into the mapped file: they live as long as the session that reads them.
        weights = read_safetensors(folder / MODEL)
        self._weights = {name: one for name, one in weights.items() if not name.startswith(UNUSED)}
        self._model = sessions.session("minilm.onnx", self._weights, folder / MODEL)

    def pieces(self, text: str) -> list[int]:
        """[CLS] … [SEP], at most MAX_PIECES; empty for a text without a piece."""
        inner = self._tokenizer.pieces(text, MAX_PIECES - 2)
        return [self._tokenizer.cls, *inner, self._tokenizer.sep] if inner else []

    def passages(self, text: str) -> list[Passage]:
        """The text's passages; the first has the ids that `pieces` gives. None for a text without a piece."""
        room, unknown = MAX_PIECES - 2, (self._tokenizer.unk,)
        words = self._tokenizer.words(text, MAX_PASSAGES * room)
        passages: list[Passage] = []
        for cut in cut_passages(words, room, MAX_PASSAGES):
            inner = [id_ for _, ids in words[cut] for id_ in ids]
            if cut.start == 0 and cut.stop < len(words):
                inner.extend(words[cut.stop][1][: room - len(inner)])
            passages.append(
                Passage(
                    ids=[self._tokenizer.cls, *inner, self._tokenizer.sep],
                    words=[word for word, ids in words[cut] if ids != unknown for _ in ids],
                    first=cut.start == 0,
                )
            )
        return passages

    def sentences(self, ids: NDArray[np.int64]) -> Vectors:
        """One vector a row of `ids`."""
        (vectors,) = sessions.run(self._model, ["sentence"], {"ids": ids}, NAME)
        return vectors

    def tokens(self, ids: NDArray[np.int64]) -> tuple[Vectors, list[Vectors]]:
        """One vector a row of `ids`, and the row's token vectors.

        In the session and not in numpy: numpy's BLAS would wait spinning for its next product, on the cores that
        the runs beside this one need (128 texts a second instead of 173).
        """
        sentences, before, last, lengths = self.states(ids)
        (vectors,) = sessions.run(self._projection, ["vectors"], {"before": before, "last": last}, NAME)
        return sentences, np.split(vectors, np.cumsum(lengths)[:-1])

    def states(
        self, ids: NDArray[np.int64]
    ) -> tuple[Vectors, NDArray[np.float32], NDArray[np.float32], NDArray[np.int64]]:
        """One vector a row of `ids`; the tokens' hidden states after layers 5 and 6; how many tokens a row has.

        The tokens of all rows lie under each other, (t, 384). [PAD], [CLS], [SEP] and [UNK] are no tokens.
        """
        no_tokens = (PAD, self._tokenizer.cls, self._tokenizer.sep, self._tokenizer.unk)
        real = np.isin(ids, no_tokens, invert=True)
        sentences, before, last = sessions.run(self._model, ["sentence", "before", "tokens"], {"ids": ids}, NAME)
        flat = real.reshape(-1)
        return sentences, before[flat], last[flat], real.sum(axis=1)

    @cached_property
    def _projection(self) -> Any:
        """Made when tokens are first asked for (some ms); twice does no harm."""
        return sessions.session("minilm_tokens.onnx", {}, Path("minilm_tokens.onnx"))


def _installed() -> Path:
    folder = find_weights()
    if folder is None:
        raise EmbedderMissing(f"the weights of {NAME} are not installed; run `embermem model install`")
    return folder


def pad(pieces: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """One row a text, padded with 0 ([PAD]) to the longest."""
    ids = np.zeros((len(pieces), max(map(len, pieces))), dtype=np.int64)
    for row, text in zip(ids, pieces, strict=True):
        row[: len(text)] = text
    return ids
