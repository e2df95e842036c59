"""BM25 over rows that only ever grow. A score is asked for the first n rows, and never sees a later one.

Postings of a term stand in row order, so that a reader who knows n rows cuts them at n. One writer may add
while many read: what a reader has seen stays as it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from embermem.core import equations
from embermem.index.growable_array import Column, Columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from embermem.index.texts import Texts

    Floats = NDArray[np.float64]
    Rows = NDArray[np.int32]
    Counts = NDArray[np.uint16]

__all__ = ["Postings", "PostingsPart"]

# equations.bm25_term is plain arithmetic: given arrays, it answers with an array.
_bm25_terms = cast("Callable[..., Floats]", equations.bm25_term)

_TAIL_TERM_BYTES = 200
"""Estimated bytes of one term of the tail beside its cells: the dict's entry, the text, the list."""
_TAIL_CELLS = 4096
"""Cells that the tail may have, whatever the base has."""
_TAIL_SHARE = 16
"""The tail joins the base when it has one cell for so many of the base's."""
_RARE = 100
"""Of so many texts one holds a rare term, at most: its windows are put in order, and not looked for among all."""
_AT_ONCE = 64
"""Texts that join the base at once when they come together."""
_MOST = np.iinfo(np.uint16).max
"""A term that stands in a row more often counts as so often."""


class Postings(Columns):
    """Which rows hold a term, and how often.

    Most cells stand in the base: arrays in the order of (term, row), of which a term is found by its hash. What came
    since stands in the tail, a dict; both are swapped in together when the tail joins the base.
    """

    def __init__(self) -> None:
        self._held: tuple[_Base, dict[str, list[int]]] = (_Base.empty(), {})
        self._tail_cells = 0
        self._lengths = Column(np.int32)
        self._totals = Column(np.int64)

    def columns(self) -> dict[str, Column]:
        """As `Columns.columns`."""
        self._join_tail()
        return super().columns() | {name: Column.of(getattr(self._held[0], name)) for name in _BASE}

    def adopt(self, columns: Mapping[str, Column]) -> None:
        """As `Columns.adopt`."""
        super().adopt(columns)
        hashes, starts, rows, tf = (columns[name].first(columns[name].length) for name in _BASE)
        self._held, self._tail_cells = (_Base(hashes, starts, rows, tf, mapped=True), {}), 0

    def add_all(self, texts: Iterable[Sequence[str]]) -> None:
        """Index the next rows, one a text. Many at once cost a third of as many by one."""
        begin = self._lengths.length
        said = texts if isinstance(texts, Sequence) else [*texts]
        lengths = np.array([len(terms) for terms in said], dtype=np.int64)
        if len(said) >= _AT_ONCE:
            self._join(begin, said, lengths)
        else:
            self._extend_tail(begin, said)
        total = int(self._totals.data[begin - 1]) if begin else 0
        self._totals.extend(total + np.cumsum(lengths))
        self._lengths.extend(lengths)

    def _extend_tail(self, begin: int, said: Sequence[Sequence[str]]) -> None:
        base, tail = self._held
        for row, terms in enumerate(said, begin):
            counts = Counter(terms)
            for term, tf in counts.items():
                cells = tail.get(term)
                if cells is None:
                    tail[term] = [row, min(tf, _MOST)]
                else:
                    cells.extend((row, min(tf, _MOST)))
            self._tail_cells += len(counts)
        if self._tail_cells > max(_TAIL_CELLS, len(base.rows) // _TAIL_SHARE):
            self._join_tail()

    def _join_tail(self) -> None:
        base, tail = self._held
        if not tail:
            return
        cells = np.concatenate([np.array(one, dtype=np.int32).reshape(-1, 2) for one in tail.values()])
        counts = [len(one) // 2 for one in tail.values()]
        hashes = np.repeat(np.array([_hash(term) for term in tail], dtype=np.uint64), counts)
        self._held, self._tail_cells = (base.joined(hashes, cells[:, 0], cells[:, 1]), {}), 0

    def _join(self, begin: int, said: Sequence[Sequence[str]], lengths: NDArray[np.int64]) -> None:
        """Rows that come together go into the base at once."""
        self._join_tail()
        numbers: dict[str, int] = {}
        of = np.array([numbers.setdefault(term, len(numbers)) for terms in said for term in terms], dtype=np.int64)
        rows = np.repeat(np.arange(len(said)), lengths)
        cells, tf = np.unique(of * len(said) + rows, return_counts=True)
        hashes = np.array([_hash(term) for term in numbers], dtype=np.uint64)
        base = self._held[0].joined(hashes[cells // len(said)], begin + cells % len(said), np.minimum(tf, _MOST))
        self._held = base, {}

    def find(self, term: str, n: int) -> tuple[Rows, Counts]:
        """The rows below n that hold the term, ascending, and its count in each."""
        base, tail = self._held
        rows, tf = base.find(term, n)
        later = tail.get(term)
        if later is None:
            return rows, tf
        cells = np.array(later[:], dtype=np.int32).reshape(-1, 2)  # a copy: more may come meanwhile
        cells = cells[: np.searchsorted(cells[:, 0], n)]
        return np.concatenate([rows, cells[:, 0]]), np.concatenate([tf, cells[:, 1].astype(np.uint16)])

    def known(self, terms: Sequence[str]) -> list[str]:
        """Those of these terms that any row may hold, in their order: many are looked up at once."""
        base, tail = self._held
        inside = base.holds_any(terms)
        return [term for term, is_held in zip(terms, inside, strict=True) if is_held or term in tail]

    def holds(self, term: str, n: int) -> int:
        """How many of the first n rows hold the term."""
        return len(self.find(term, n)[0])

    def idf(self, term: str, n: int) -> float:
        """How rare the term is among the first n rows."""
        return equations.idf(n, self.holds(term, n))

    def lengths(self, n: int) -> Rows:
        """Terms of each of the first n rows."""
        return self._lengths.first(n)

    def scores(self, terms: Mapping[str, float], n: int, k_1: float, b: float) -> Floats:
        """BM25 of each of the first n rows against the terms, joined by OR, each with its weight; shape (n,)."""
        scores = np.zeros(n)
        if n == 0:
            return scores
        lengths = self.lengths(n)
        average = max(1.0, float(self._totals.data[n - 1]) / n)
        for term, weight in terms.items():
            rows, tf = self.find(term, n)
            if len(rows):
                scores[rows] += weight * equations.idf(n, len(rows)) * _bm25_terms(tf, lengths[rows], average, k_1, b)
        return scores

    def window_scores(self, terms: Mapping[str, float], texts: Texts, k_1: float, b: float) -> Floats:
        """BM25 where a text's document is itself with the texts before and after it in its thread; shape
        (texts.count,).

        The windows are not stored: a window's count of a term is the sum of its rows' counts.
        """
        n, links = texts.count, texts.links
        scores = np.zeros(n)
        if n == 0:
            return scores
        lengths, average = texts.window_lengths(self.lengths(texts.n))
        counts = np.zeros(n + 1)
        for term, weight in terms.items():
            rows, tf = texts.counted(*self.find(term, texts.n))
            if len(rows) == 0:
                continue
            # Within one of the three groups no text stands twice, so that plain indexing adds rightly.
            before, after = links.previous[rows], links.next[rows]
            counts[rows] += tf
            counts[before] += tf
            counts[after] += tf
            counts[n] = 0.0
            if _RARE * len(rows) < n:
                touched = np.unique(np.concatenate((rows, before, after)))
                touched = touched[: np.searchsorted(touched, n)]
            else:
                touched = (counts != 0.0).nonzero()[0]  # of truth values, which is six times as quick as of numbers
            scores[touched] += (
                weight
                * equations.idf(n, len(touched))
                * _bm25_terms(counts[touched], lengths[touched], average, k_1, b)
            )
            counts[touched] = 0.0
        return scores

    @property
    def nbytes(self) -> int:
        """Estimated bytes held."""
        base, tail = self._held
        held = 0 if base.mapped else base.nbytes
        return super().nbytes + held + _TAIL_TERM_BYTES * len(tail) + 16 * self._tail_cells

    @property
    def mapped_bytes(self) -> int:
        """Bytes of what is held in a mapped file."""
        base = self._held[0]
        return super().mapped_bytes + (base.nbytes if base.mapped else 0)


class PostingsPart(Postings):
    """The postings of some rows: what of the whole's stands in them, by their places among each other."""

    def __init__(self, whole: Postings, rows: NDArray[np.int64], row_of: Rows) -> None:
        """`rows` ascending; `row_of` gives the place of each of the whole's first rows among them, or −1."""
        super().__init__()
        self._whole, self._row_of = whole, row_of
        lengths = whole.lengths(len(row_of))[rows]
        self._lengths = Column.of(lengths)
        self._totals = Column.of(np.cumsum(lengths, dtype=np.int64))

    def find(self, term: str, n: int) -> tuple[Rows, Counts]:
        """As of the whole, of these rows."""
        rows, tf = self._whole.find(term, len(self._row_of))
        places = self._row_of[rows]
        inside = (places >= 0) & (places < n)
        return places[inside], tf[inside]

    def known(self, terms: Sequence[str]) -> list[str]:
        """As of the whole."""
        return self._whole.known(terms)

    @property
    def nbytes(self) -> int:
        """What it holds alone."""
        return self._lengths.nbytes + self._totals.nbytes


_BASE = ("hashes", "starts", "rows", "tf")


@dataclass(frozen=True, slots=True, eq=False)
class _Base:
    """Cells in the order of (hash of the term, row): those of term i are `starts[i]:starts[i + 1]`."""

    hashes: NDArray[np.uint64]
    starts: NDArray[np.int64]
    rows: Rows
    tf: Counts
    mapped: bool = False

    @classmethod
    def empty(cls) -> _Base:
        return cls(np.zeros(0, np.uint64), np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.uint16))

    def find(self, term: str, n: int) -> tuple[Rows, Counts]:
        wanted = np.uint64(_hash(term))
        place = int(self.hashes.searchsorted(wanted))
        if place == len(self.hashes) or self.hashes[place] != wanted:
            return self.rows[:0], self.tf[:0]
        start, end = self.starts[place : place + 2].tolist()
        if self.rows[end - 1] >= n:
            end = start + int(np.searchsorted(self.rows[start:end], n))
        return self.rows[start:end], self.tf[start:end]

    def holds_any(self, terms: Sequence[str]) -> list[bool]:
        """Of each term whether it has cells."""
        if len(self.hashes) == 0:
            return [False] * len(terms)
        wanted = np.frombuffer(b"".join(map(_digest, terms)), dtype="<u8")
        places = np.minimum(self.hashes.searchsorted(wanted), len(self.hashes) - 1)
        inside: list[bool] = (self.hashes[places] == wanted).tolist()
        return inside

    def joined(self, hashes: NDArray[np.uint64], rows: NDArray[Any], tf: NDArray[Any]) -> _Base:
        """With cells of later rows: of each term together, its rows ascending."""
        order = np.argsort(hashes, kind="stable")
        hashes, rows, tf = hashes[order], rows[order], tf[order]
        known = np.union1d(self.hashes, hashes)
        held = np.searchsorted(known, self.hashes)
        more = np.searchsorted(known, hashes)
        counts, added = np.diff(self.starts), np.bincount(more, minlength=len(known))
        sizes = added.copy()
        sizes[held] += counts
        starts = np.concatenate([[0], np.cumsum(sizes)])
        all_rows, all_tf = np.empty(starts[-1], dtype=np.int32), np.empty(starts[-1], dtype=np.uint16)
        before = np.repeat(starts[held] - self.starts[:-1], counts) + np.arange(len(self.rows))
        all_rows[before], all_tf[before] = self.rows, self.tf
        # The new cells of a term stand at its end, in their own order.
        after = np.repeat(starts[1:] - np.cumsum(added), added) + np.arange(len(rows))
        all_rows[after], all_tf[after] = rows, tf
        return _Base(known, starts, all_rows, all_tf)

    @property
    def nbytes(self) -> int:
        return sum(getattr(self, name).nbytes for name in _BASE)


def _hash(term: str) -> int:
    """64 bits: that two of a million terms meet has a chance of 1 in 30 million."""
    return int.from_bytes(_digest(term), "little")


def _digest(term: str) -> bytes:
    return blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest()
