"""Texts: what rows are together. A long text has several rows, one a passage; nearly every other text has one.

What a passage lacks is the text it is of: its neighbours in the thread are those of the text, and words that stand
anywhere in the text speak for each of its passages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Rows = NDArray[np.int32]

__all__ = ["Links", "Texts"]

_Number = TypeVar("_Number", bound=np.generic)


class Texts:
    """The texts of the first n rows, in their order: `begins` and `ends` are the first and the last row of each."""

    def __init__(self, first_rows: Rows, previous: Rows, following: Rows) -> None:
        """From columns cut at n: the first row of each row's text, and those of `Links`."""
        self.n = n = len(first_rows)
        begins = first_rows == np.arange(n)
        self.are_rows = bool(begins.all())
        self.begins: Rows = np.flatnonzero(begins).astype(np.int32)
        self.ends = self.begins if self.are_rows else np.append(self.begins[1:], np.int32(n))[: len(self.begins)] - 1
        self._of = self.begins if self.are_rows else np.cumsum(begins, dtype=np.int32) - 1
        self._window_lengths: tuple[Floats, float] | None = None
        self.links = Links(*((previous, following) if self.are_rows else self._linked(previous, following)))

    def _linked(self, previous: Rows, following: Rows) -> tuple[Rows, Rows]:
        before, after = previous[self.begins], following[self.ends]
        known = (after > 0) & (after <= self.n)
        return (
            np.where(before < 0, -1, self._of[before]).astype(np.int32),
            np.where(known, self._of[np.where(known, after - 1, 0)] + 1, 0).astype(np.int32),
        )

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.begins)

    def of(self, rows: NDArray[Any]) -> NDArray[Any]:
        """The text of each of these rows."""
        return rows if self.are_rows else self._of[rows]

    def rows_of(self, texts: NDArray[Any]) -> NDArray[np.int64]:
        """All rows of these texts, each of which stands once, in the order of the texts."""
        counts = self.ends[texts] + 1 - self.begins[texts]
        jumps = np.repeat(self.begins[texts] - (np.cumsum(counts) - counts), counts)
        return np.asarray(jumps + np.arange(len(jumps)))

    def spread(self, values: NDArray[_Number]) -> NDArray[_Number]:
        """A value for each text (count,) as one for each row (n,)."""
        return values if self.are_rows else values[self._of]

    def best(self, values: Floats) -> Floats:
        """The highest value of each text's rows, (n,) → (count,)."""
        return values if self.are_rows else np.maximum.reduceat(values, self.begins)

    def leading(self, scores: Floats) -> Floats:
        """The score of each text's best row, the first of equals, −∞ for its others, (n,)."""
        if self.are_rows:
            return scores
        leading = np.full(self.n, -np.inf)
        rows = np.flatnonzero(scores == self.spread(self.best(scores)))
        of = self._of[rows]
        first = rows[np.append(True, of[1:] != of[:-1])]
        leading[first] = scores[first]
        return leading

    def at_begins(self, scores: Floats) -> Floats:
        """The score of each text's best row at its first row, −∞ at its others, (n,): there a seq is found."""
        if self.are_rows:
            return scores
        found = np.full(self.n, -np.inf)
        found[self.begins] = self.best(scores)
        return found

    def total(self, values: NDArray[_Number]) -> NDArray[_Number]:
        """The sum of the values of each text's rows, (n,) → (count,)."""
        return values if self.are_rows else np.add.reduceat(values, self.begins)

    def counted(self, rows: Rows, tf: NDArray[Any]) -> tuple[Rows, NDArray[Any]]:
        """How often a term stands in each text that holds it, from how often it stands in rows, ascending."""
        if self.are_rows or len(rows) == 0:
            return rows, tf
        of = self._of[rows]
        first = np.flatnonzero(np.append(True, of[1:] != of[:-1]))
        return of[first], np.add.reduceat(tf, first)

    def window_lengths(self, lengths_of_rows: Rows) -> tuple[Floats, float]:
        """The number of terms of each window of three texts, and their mean (at least 1), from those of each row (n,);
        kept for all queries."""
        if self._window_lengths is None:
            lengths = self.links.window_sum(self.total(lengths_of_rows).astype(np.float64))
            self._window_lengths = lengths, max(1.0, float(lengths.sum()) / self.count)
        return self._window_lengths


class Links:
    """Thread neighbours among the first n rows: `previous[row]` and `next[row]`, n where there is none."""

    def __init__(self, previous: Rows, following: Rows) -> None:
        """From columns cut at n: the row before (−1: none) and the row after, plus 1 (0, or beyond n: none)."""
        self.n = n = len(previous)
        self.previous = np.where(previous < 0, n, previous)
        self.next = np.where((following == 0) | (following > n), n, following - 1)

    def window_sum(self, values: Floats) -> Floats:
        """Each value with those of the rows before and after it, in the same thread, added."""
        padded = np.append(values, 0.0)
        return np.asarray(values + (padded.take(self.previous) + padded.take(self.next)))
