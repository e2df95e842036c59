"""BM25 over rows that only ever grow. A score is asked for the first n rows, and never sees a later one.

Postings of a term stand in row order, so that a reader who knows n rows cuts them at n. One writer may add
while many read: an array's cells are written before its length says that they are there.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, cast

import numpy as np

from embermem.core import equations
from embermem.index.growable_array import Column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from embermem.index.texts import Texts

    Floats = NDArray[np.float64]
    Rows = NDArray[np.int32]

__all__ = ["Postings", "PostingsPart"]

# equations.bm25_term is plain arithmetic: given arrays, it answers with an array.
_bm25_terms = cast("Callable[..., Floats]", equations.bm25_term)

_TERM_BYTES = 250
"""Estimated bytes of one term beside its cells: the dict's entry, the text, the array's head."""


class Postings:
    """Which rows hold a term, and how often."""

    def __init__(self) -> None:
        self._terms: dict[str, Column] = {}
        self._lengths = Column(np.int32)
        self._totals = Column(np.int64)
        self._cells = 0

    def add_all(self, texts: Iterable[Iterable[str]]) -> None:
        """Index the next rows, one a text. Many at once cost a third of as many by one."""
        row = self._lengths.length
        total = int(self._totals.data[row - 1]) if row else 0
        lengths: list[int] = []
        totals: list[int] = []
        cells: defaultdict[str, list[int]] = defaultdict(list)
        for at, terms in enumerate(texts, row):
            counts = Counter(terms)
            for term, tf in counts.items():
                cells[term] += (at, tf)
            lengths.append(counts.total())
            total += lengths[-1]
            totals.append(total)
        for term, found in cells.items():
            column = self._terms.get(term)
            if column is None:
                column = self._terms[term] = Column(np.int32, width=2, capacity=len(found) // 2)
            column.extend(np.array(found, dtype=np.int32).reshape(-1, 2))
            self._cells += len(found) // 2
        self._totals.extend(totals)
        self._lengths.extend(lengths)

    def find(self, term: str, n: int) -> tuple[Rows, Rows]:
        """The rows below n that hold the term, ascending, and its count in each."""
        column = self._terms.get(term)
        if column is None:
            return _NONE, _NONE
        cells = column.first(column.length)
        end = int(np.searchsorted(cells[:, 0], n))
        return cells[:end, 0], cells[:end, 1]

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
        lengths, average = texts.window_lengths(self)
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
        return 16 * self._cells + _TERM_BYTES * len(self._terms) + self._lengths.nbytes + self._totals.nbytes


class PostingsPart(Postings):
    """The postings of some rows: what of the whole's stands in them, by their places among each other."""

    def __init__(self, whole: Postings, rows: NDArray[np.int64], row_of: Rows) -> None:
        """`rows` ascending; `row_of` gives the place of each of the whole's first rows among them, or −1."""
        super().__init__()
        self._whole, self._row_of = whole, row_of
        lengths = whole.lengths(len(row_of))[rows]
        self._lengths = Column.of(lengths)
        self._totals = Column.of(np.cumsum(lengths, dtype=np.int64))

    def find(self, term: str, n: int) -> tuple[Rows, Rows]:
        """As of the whole, of these rows."""
        rows, tf = self._whole.find(term, len(self._row_of))
        places = self._row_of[rows]
        inside = (places >= 0) & (places < n)
        return places[inside], tf[inside]

    @property
    def nbytes(self) -> int:
        """What it holds alone."""
        return self._lengths.nbytes + self._totals.nbytes


_NONE: Rows = np.empty(0, dtype=np.int32)
