"""Some rows of a log as a log of their own: who reads it cannot see the others.

Short columns are gathered; texts, vectors, tokens and postings are those of the log. Neighbours, speakers, threads and
pages are numbered anew among the rows, so that they are as if nothing else had been said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from embermem.core.types import PageId, ThreadId, Utterance
from embermem.index.bm25 import PostingsPart
from embermem.index.growable_array import Column
from embermem.index.log import Log

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Mask = NDArray[np.bool_]
    Rows = NDArray[np.int32]

__all__ = ["Part", "Whole"]


class Part(Log):
    """The log of some of the first n rows of another, ascending: of each utterance all passages or none. Nothing is
    added to it."""

    def __init__(self, log: Log, n: int, rows: Ints) -> None:
        super().__init__(log.dim, log.token_dim)
        self._log: Log = log
        self._rows: Ints = rows
        if isinstance(log, Part):
            self._log, n, self._rows = log._log, len(log._row_of), log._rows[rows]
        log, rows = self._log, self._rows
        self._row_of: Rows = np.full(n, -1, dtype=np.int32)
        self._row_of[rows] = np.arange(len(rows), dtype=np.int32)
        self.words = PostingsPart(log.words, rows, self._row_of)
        self.dates = log.dates.part(rows, self._row_of)
        self.first_rows = Column.of(self._row_of[log.first_rows.data[rows]])
        for name in ("seqs", "said_at", "text_length", "asks", "role", "slots", "starts", "ends"):
            setattr(self, name, Column.of(getattr(log, name).data[rows]))
        for name in ("vectors", "scales", "tokens", "token_squares", "token_ends"):
            setattr(self, name, getattr(log, name))
        self._number_anew()

    def _number_anew(self) -> None:
        log, rows = self._log, self._rows
        speaker, self._speakers_there = _renumbered(log.speaker.data[rows])
        self.speakers.all = [log.speakers.all[number] for number in self._speakers_there.tolist()]
        self.speaker = Column.of(speaker)
        thread, self._threads_there = _renumbered(log.thread.data[rows])
        self.thread = Column.of(thread)
        self.previous, self.next = _linked(thread, self.alone(len(rows)))
        page, self._pages_there = _renumbered(log.page.data[rows])
        self.page = Column.of(page)

    def pages_here(self, log: Log) -> Rows:
        """The numbers that its pages have in the log that it was made a part of."""
        if not isinstance(log, Part):
            return self._pages_there
        place = np.zeros(int(log._pages_there.max(initial=-1)) + 1, dtype=np.int32)
        place[log._pages_there] = np.arange(len(log._pages_there), dtype=np.int32)
        return place[self._pages_there]

    def utterance(self, row: int) -> Utterance:
        """As of the log."""
        return self._log.utterance(int(self._rows[row]))

    def text(self, row: int) -> str:
        """As of the log."""
        return self._log.text(int(self._rows[row]))

    def thread_number(self, thread: ThreadId) -> int | None:
        """The number of a thread here; None for one that is not held."""
        return _place(self._threads_there, self._log.thread_number(thread))

    def page_numbers(self, page_ids: Sequence[PageId]) -> list[int | None]:
        """The number of each of these pages here; None for one that is not held."""
        return [_place(self._pages_there, number) for number in self._log.page_numbers(page_ids)]

    def rows_of_page(self, page: int) -> Sequence[int]:
        """The rows of a page here, ascending."""
        rows = [row for row in self._log.rows_of_page(int(self._pages_there[page])) if row < len(self._row_of)]
        places: list[int] = self._row_of[rows].tolist()
        return [place for place in places if place >= 0]

    def meeting(self, wanted: Mapping[str, Any], n: int) -> NDArray[np.bool_]:
        """As of the log."""
        return self._log.meeting(wanted, len(self._row_of))[self._rows[:n]]

    @property
    def nbytes(self) -> int:
        """What it holds alone."""
        own = (one for name, one in vars(self).items() if isinstance(one, Column) and one is not vars(self._log)[name])
        arrays = (self._rows, self._row_of, self._speakers_there, self._threads_there, self._pages_there)
        held = sum(one.nbytes for one in own) + sum(one.nbytes for one in arrays)
        return held + self.words.nbytes + self.dates.nbytes + self.notes.nbytes


@dataclass(frozen=True, slots=True, eq=False)
class Whole:
    """Of each page of a narrowed snapshot: whether some utterance of it was left out, and how many pages of the whole
    memory began after it (`Snapshot.newer_pages`)."""

    cut: Mask
    newer: Rows

    @classmethod
    def of(cls, before: Whole | None, here: Rows, cut: Mask, newer: Rows) -> Whole:
        """That of the pages `here` of a snapshot, of which those `cut` lose an utterance, and after which so many
        `newer` ones began; `before` is what it knows itself, if it was narrowed."""
        return cls(cut[here] if before is None else before.cut[here] | cut[here], newer[here])


def _renumbered(numbers: NDArray[Any]) -> tuple[Rows, Rows]:
    """Numbers from 0 in the order in which they first come; and which each of them was."""
    if len(numbers) == 0:
        return numbers.astype(np.int32), numbers.astype(np.int32)
    first = np.full(int(numbers.max()) + 1, len(numbers), dtype=np.int64)
    first[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1)  # what is written last stays
    there = np.flatnonzero(first < len(numbers))
    there = there[np.argsort(first[there])]
    new = np.empty(len(first), dtype=np.int32)
    new[there] = np.arange(len(there), dtype=np.int32)
    return new[numbers], there.astype(np.int32)


def _linked(threads: Rows, alone: Mask) -> tuple[Column, Column]:
    """The row before each in its thread, −1 for none, and the row after it plus 1, 0 for none, as of all `alone`, which
    are passed over."""
    previous, following = np.full(len(threads), -1, dtype=np.int32), np.zeros(len(threads), dtype=np.int32)
    order = np.argsort(threads, kind="stable").astype(np.int32)
    order = order[~alone[order]]
    same = threads[order[1:]] == threads[order[:-1]]
    previous[order[1:][same]] = order[:-1][same]
    following[order[:-1][same]] = order[1:][same] + 1
    return Column.of(previous), Column.of(following)


def _place(numbers: Rows, number: int | None) -> int | None:
    found = [] if number is None else np.flatnonzero(numbers == number).tolist()
    return found[0] if found else None
