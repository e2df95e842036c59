"""all-MiniLM-L6-v2 on onnxruntime: sentence vectors, and the token vectors they are the mean of.

The graph (`minilm.onnx`, made by `scripts/build_minilm_graph.py`) ships with Ember and holds no weights; they
are mapped from the installed `model.safetensors` when first needed. Nothing is built or written.

Model: https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0).
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from embermem.embedders.weights import MODEL, VOCABULARY, find_weights
from embermem.embedders.wordpiece import WordPiece
from embermem.errors import EmbedderError, EmbedderMissing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from embermem.types import Vectors

__all__ = ["MiniLM", "TokenVectors"]

NAME = "all-MiniLM-L6-v2"
DIM = 384

# `max_seq_length` of the model's sentence_bert_config.json, [CLS] and [SEP] included.
MAX_PIECES = 256
# Word pieces in one run, padding included. On 64 texts of 51 pieces and two threads, 512 gave 157 texts a second,
# 1024 145, 2048 132. It also keeps the largest array of a run small: 6.3 MB of attention scores (2 texts, 12 heads,
# 256 × 256 × 4 bytes).
PIECES_PER_RUN = 512
# Weights that the graph has no use for: BERT's next-sentence head. onnxruntime refuses what it does not know.
UNUSED = "pooler."
# Texts that are cut into pieces before they are run, so that what is held does not grow with the call.
TEXTS_AT_A_TIME = 4096
# Runs at the same time in one call. Two on two cores gave 1.9 times the throughput of one; more were not measured.
MAX_THREADS = 4


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class TokenVectors:
    """One text's word pieces: `ids` int64 (t,), [CLS] and [SEP] included, and `vectors` float32 (t, 384).

    The vectors are the last hidden state, not normalised; their mean, normalised, is the text's own vector.
    Both are empty (t = 0) for a text with nothing to embed.
    """

    ids: NDArray[np.int64]
    vectors: Vectors


class MiniLM:
    """all-MiniLM-L6-v2: 384 dimensions, English above all; the first 256 word pieces of a text count.

    Weights are loaded at the first text (0.1 to 0.3 s), once, and stay. Safe to call from several threads.
    """

    def __init__(self, folder: Path | None = None, *, threads: int | None = None) -> None:
        """`folder` holds the model's files (default: the installed package's).

        `threads` is how many runs one call of many texts makes at the same time (default: one a core, at most 4).
        """
        self._folder = folder
        self._threads = threads if threads is not None else min(_cores(), MAX_THREADS)
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None

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
        for rows, _, (found,) in self._run(texts, ["sentence"]):
            vectors[rows] = found
        return vectors

    def embed_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Each text's token vectors, in the texts' order, without padding. Raises as `embed` does.

        The result takes 1.5 kB a word piece: up to 394 kB a text.
        """
        nothing = TokenVectors(ids=np.zeros(0, np.int64), vectors=np.zeros((0, DIM), np.float32))
        tokens = [nothing] * len(texts)
        for rows, ids, (found,) in self._run(texts, ["tokens"]):
            for row, padded, vectors in zip(rows, ids, found, strict=True):
                length = int(np.count_nonzero(padded))
                tokens[row] = TokenVectors(ids=padded[:length].copy(), vectors=vectors[:length].copy())
        return tokens

    def _run(
        self, texts: Sequence[str], outputs: list[str]
    ) -> Iterator[tuple[list[int], NDArray[np.int64], list[NDArray[np.float32]]]]:
        """Runs the texts batch by batch: (which texts, their ids padded with 0, the outputs asked for)."""
        if not texts:
            return
        loaded = self._load()
        for start in range(0, len(texts), TEXTS_AT_A_TIME):
            cut = [loaded.pieces(text) for text in texts[start : start + TEXTS_AT_A_TIME]]
            batches = plan([len(pieces) for pieces in cut], PIECES_PER_RUN)
            padded = [_pad([cut[row] for row in batch]) for batch in batches]
            results = self._run_all(loaded, padded, outputs)
            for batch, ids, result in zip(batches, padded, results, strict=True):
                yield [start + row for row in batch], ids, result

    def _run_all(
        self, loaded: _Loaded, padded: Sequence[NDArray[np.int64]], outputs: list[str]
    ) -> Iterable[list[NDArray[np.float32]]]:
        if self._threads == 1 or len(padded) == 1:
            yield from (loaded.run(ids, outputs) for ids in padded)
            return
        with ThreadPoolExecutor(self._threads, thread_name_prefix="embermem-minilm") as pool:
            yield from pool.map(lambda ids: loaded.run(ids, outputs), padded)

    def _load(self) -> _Loaded:
        if self._loaded is None:
            with self._lock:
                if self._loaded is None:
                    self._loaded = _Loaded(self._folder or _installed())
        return self._loaded


def plan(lengths: Sequence[int], limit: int) -> list[list[int]]:
    """Batches of positions in `lengths`: longest first, no more than `limit` when padded, texts of length 0 left out.

    A text longer than the limit stands alone. Longest first, so that runs side by side end at about the same time.
    """
    order = sorted((i for i, length in enumerate(lengths) if length), key=lambda i: -lengths[i])
    batches: list[list[int]] = []
    for i in order:
        if batches and lengths[batches[-1][0]] * (len(batches[-1]) + 1) <= limit:
            batches[-1].append(i)
        else:
            batches.append([i])
    return batches


class _Loaded:
    """The session with its tokenizer; immutable once made."""

    def __init__(self, folder: Path) -> None:
        self._tokenizer = WordPiece.from_file(folder / VOCABULARY)
        # Views into the mapped file: they live as long as the session that reads them.
        self._weights = read_safetensors(folder / MODEL)
        self._session = _session(self._weights, folder / MODEL)

    def pieces(self, text: str) -> list[int]:
        """[CLS] … [SEP], at most MAX_PIECES; empty for a text without a piece."""
        inner = self._tokenizer.pieces(text, MAX_PIECES - 2)
        return [self._tokenizer.cls, *inner, self._tokenizer.sep] if inner else []

    def run(self, ids: NDArray[np.int64], outputs: list[str]) -> list[NDArray[np.float32]]:
        from onnxruntime.capi import onnxruntime_pybind11_state as ort

        try:
            found: list[NDArray[np.float32]] = self._session.run(outputs, {"ids": ids})
        except (ort.Fail, ort.RuntimeException, ort.InvalidArgument, RuntimeError) as error:
            raise EmbedderError(f"{NAME} failed on {ids.shape[0]} texts: {error}") from error
        return found


def read_safetensors(path: Path) -> dict[str, NDArray[np.float32]]:
    """The float32 tensors of a safetensors file by name: read-only views into the mapped file, nothing copied.

    Format: 8 bytes little-endian length, a JSON header, the data; https://github.com/huggingface/safetensors.
    Raises EmbedderError if the file cannot be read or is damaged.
    """
    try:
        with path.open("rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        (size,) = struct.unpack_from("<Q", data)
        header: dict[str, Any] = json.loads(data[8 : 8 + size])
        return {
            name: np.frombuffer(
                data,
                dtype="<f4",
                count=(entry["data_offsets"][1] - entry["data_offsets"][0]) // 4,
                offset=8 + size + entry["data_offsets"][0],
            ).reshape(entry["shape"])
            for name, entry in header.items()
            if name != "__metadata__" and entry["dtype"] == "F32"
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, struct.error) as error:
        raise EmbedderError(f"{path} is damaged or cannot be read: {error}; run `embermem model install`") from error


def _session(weights: dict[str, NDArray[np.float32]], path: Path) -> Any:
    """The graph with the weights in it, one thread a run."""
    import onnxruntime
    from onnxruntime.capi import onnxruntime_pybind11_state as ort

    options = onnxruntime.SessionOptions()
    # Calls of many texts run several batches at once instead: as fast as two threads in a run, with one session,
    # and nobody waits spinning (which made a busy machine collapse).
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # A pattern is kept for every shape seen, and ours are many.
    options.enable_mem_pattern = False
    names = [name for name in weights if not name.startswith(UNUSED)]
    values = [onnxruntime.OrtValue.ortvalue_from_numpy(weights[name]) for name in names]
    graph = (files("embermem.embedders") / "minilm.onnx").read_bytes()
    try:
        options.add_external_initializers(names, values)
        return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    except (ort.Fail, ort.RuntimeException, ort.InvalidArgument, ort.InvalidGraph, RuntimeError) as error:
        raise EmbedderError(f"{path} does not fit the graph: {error}; run `embermem model install`") from error


def _installed() -> Path:
    folder = find_weights()
    if folder is None:
        raise EmbedderMissing(f"the weights of {NAME} are not installed; run `embermem model install`")
    return folder


def _pad(pieces: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """One row a text, padded with 0 ([PAD]) to the longest."""
    ids = np.zeros((len(pieces), max(map(len, pieces))), dtype=np.int64)
    for row, text in zip(ids, pieces, strict=True):
        row[: len(text)] = text
    return ids


def _cores() -> int:
    """The cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
