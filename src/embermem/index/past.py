"""Snapshots of the past: what a recall looked at when the logs stood at (seq, revision), or what was true at a time.

Where pages were, and which change wrote each text, is held as arrays of all versions: a moment is a choice among them
by the numbers of their changes. Texts of segments that have changed since, and the persona, are read from the store.
Rows, postings and vectors are those of the snapshot of now: a moment sees the first of them (index/snapshot.py). An
utterance has its vector at every moment, whenever it was made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from embermem.core.types import SegmentId
from embermem.index.segments import SegmentRow, SegmentTable
from embermem.index.snapshot import Snapshot

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from embermem.core.types import Vectors
    from embermem.index.vectors import TextVectors
    from embermem.protocols import PersonaThen, SegmentText, SegmentTimeline

__all__ = ["SegmentHistory", "with_persona"]


class SegmentHistory:
    """The versions of an owner's segments, ready for any moment up to `revision`.

    It is built from a snapshot of the same owner, whose pages it counts on; a snapshot that began anew since needs a
    new one.
    """

    def __init__(
        self,
        timeline: SegmentTimeline,
        snapshot: Snapshot,
        texts: Callable[[Mapping[SegmentId, int]], Mapping[SegmentId, SegmentText]],
        summaries: TextVectors | None = None,
    ) -> None:
        """`texts` reads those that changes wrote; `summaries` makes the vectors of summaries, where segments have
        these."""
        self.revision = min(timeline.revision, snapshot.revision)
        self._timeline, self._read, self._summaries = timeline, texts, summaries
        self._pages = snapshot.numbers_of_pages(timeline.pages)

    def at(self, then: Snapshot, now: SegmentTable) -> Snapshot:
        """A snapshot with the segments of its own revision in place of those of `now`."""
        ids, texts = self._timeline.segments, self._timeline.texts
        held = texts[(texts[:, 1] <= then.revision) & (texts[:, 2] > then.revision)]
        written_by = {ids[place]: no for place, no, _ in held.tolist()}
        unchanged = {row.id: row for row in now.rows if row.counted and written_by.get(row.id) == row.change_no}
        changed = {name: no for name, no in written_by.items() if name not in unchanged}
        read = self._read(changed) if changed else {}
        rows: list[SegmentRow] = []
        for name, archived in zip(ids, (self._timeline.left <= then.revision).tolist(), strict=True):
            row = unchanged.get(name, SegmentRow(id=name))
            if name in read:
                row = SegmentRow(id=name, summary=read[name].summary, counted=tuple(read[name].words))
            rows.append(msgspec.structs.replace(row, archived=archived))
        placed = then.placed(SegmentTable(then.dim), self._segment_of_page(then))
        return replace(placed, segments=SegmentTable(then.dim, tuple(rows), lambda: self._vectors(rows, placed)))

    def _segment_of_page(self, then: Snapshot) -> NDArray[np.int32]:
        """The place of the segment that each page was in, −1 for none; shape (pages,)."""
        page, placings = self._pages[self._timeline.placings[:, 0]], self._timeline.placings
        known = (page >= 0) & (page < then.pages) & (placings[:, 2] <= then.revision) & (placings[:, 3] > then.revision)
        found = np.full(then.pages, -1, dtype=np.int32)
        found[page[known]] = placings[known, 1]
        return found

    def _vectors(self, rows: Sequence[SegmentRow], then: Snapshot) -> Vectors:
        """The vector of each row's summary, or the sum of its pages' (len(rows), dim)."""
        told = np.array([self._summaries is not None and bool(row.summary.strip()) for row in rows], dtype=bool)
        found = then.segment_sums(~told)
        if self._summaries is not None and told.any():
            found[told] = self._summaries.of([row.summary for row, is_told in zip(rows, told, strict=True) if is_told])
        return found

    @property
    def nbytes(self) -> int:
        """Estimated bytes held."""
        return self._pages.nbytes + self._timeline.placings.nbytes + self._timeline.texts.nbytes


def with_persona(then: Snapshot, told: PersonaThen) -> Snapshot:
    """A snapshot with the persona of a moment in place of that of now."""
    return replace(
        then,
        persona=told.persona,
        facts=then.facts.replaced(told.persona, told.archived_facts),
        archived_facts=(),
        ended_facts=told.ended_facts,
    )
