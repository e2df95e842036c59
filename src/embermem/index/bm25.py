"""BM25 over rows that only ever grow. A score is asked for the first n rows, and never sees a later one.

Postings of a term stand in row order, so that a reader who knows n rows cuts them at n. One writer may add
while many read: an array's cells are written before its length says that they are there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, cast

import numpy as np

from embermem import equations
from embermem.index.columns import Column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Rows = NDArray[np.int32]

__all__ = ["Links", "Postings"]

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

    def add(self, terms: Iterable[str]) -> None:
        """Index the next row: its terms, repeats kept."""
        row = self._lengths.length
        counts = Counter(terms)
        for term, tf in counts.items():
            column = self._terms.get(term)
            if column is None:
                column = self._terms[term] = Column(np.int32, width=2, capacity=1)
            column.append((row, tf))
        self._cells += len(counts)
        length = counts.total()
        self._totals.append(length + (int(self._totals.data[row - 1]) if row else 0))
        self._lengths.append(length)

    def find(self, term: str, n: int) -> tuple[Rows, Rows]:
        """The rows below n that hold the term, ascending, and its count in each."""
        column = self._terms.get(term)
        if column is None:
            return _NONE, _NONE
        cells = column.first(column.length)
        end = int(np.searchsorted(cells[:, 0], n))
        return cells[:end, 0], cells[:end, 1]

    def idf(self, term: str, n: int) -> float:
        """How rare the term is among the first n rows."""
        return equations.idf(n, len(self.find(term, n)[0]))

    def lengths(self, n: int) -> Rows:
        """Terms of each of the first n rows."""
        return self._lengths.first(n)

    def scores(self, terms: Iterable[str], n: int, k_1: float, b: float) -> Floats:
        """BM25 of each of the first n rows against the terms, joined by OR; shape (n,)."""
        scores = np.zeros(n)
        if n == 0:
            return scores
        lengths = self.lengths(n)
        average = max(1.0, float(self._totals.data[n - 1]) / n)
        for term in dict.fromkeys(terms):
            rows, tf = self.find(term, n)
            if len(rows):
                scores[rows] += equations.idf(n, len(rows)) * _bm25_terms(tf, lengths[rows], average, k_1, b)
        return scores

    def window_scores(self, terms: Iterable[str], links: Links, k_1: float, b: float) -> Floats:
        """BM25 where a row's document is itself with the rows before and after it in its thread; shape (n,).

        The windows are not stored: a window's count of a term is the sum of its rows' counts.
        """
        n = links.n
        scores = np.zeros(n)
        if n == 0:
            return scores
        lengths = links.window_sum(self.lengths(n).astype(np.float64))
        average = max(1.0, float(lengths.sum()) / n)
        counts = np.zeros(n + 1)
        for term in dict.fromkeys(terms):
            rows, tf = self.find(term, n)
            if len(rows) == 0:
                continue
            # Within one of the three groups no row stands twice, so that plain indexing adds rightly.
            before, after = links.previous[rows], links.next[rows]
            counts[rows] += tf
            counts[before] += tf
            counts[after] += tf
            counts[n] = 0.0
            touched = np.flatnonzero(counts)
            scores[touched] += equations.idf(n, len(touched)) * _bm25_terms(
                counts[touched], lengths[touched], average, k_1, b
            )
            counts[touched] = 0.0
        return scores

    @property
    def nbytes(self) -> int:
        """Estimated bytes held."""
        return 16 * self._cells + _TERM_BYTES * len(self._terms) + self._lengths.nbytes + self._totals.nbytes


class Links:
    """Thread neighbours among the first n rows: `previous[row]` and `next[row]`, n where there is none."""

    def __init__(self, previous: Rows, following: Rows) -> None:
        """From columns cut at n: the row before (−1: none) and the row after, plus 1 (0, or beyond n: none)."""
        self.n = n = len(previous)
        self.previous = np.where(previous < 0, n, previous)
        self.next = np.where((following == 0) | (following > n), n, following - 1)

    def window_sum(self, values: Floats) -> Floats:
        """Each value with those of its neighbours at distance 1 added."""
        return values + self.near(values, 1)

    def near(self, values: Floats, distance: int) -> Floats:
        """The sum of the values of the two rows that stand `distance` before and after, in the same thread."""
        padded = np.append(values, 0.0)
        before, after = self.previous, self.next
        for _ in range(distance - 1):
            before, after = np.append(before, self.n)[before], np.append(after, self.n)[after]
        return cast("Floats", padded[before] + padded[after])


_NONE: Rows = np.empty(0, dtype=np.int32)
