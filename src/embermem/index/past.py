"""Snapshots of the past: what a recall looked at when the logs stood at (seq, revision), or what was true at a time.

Where pages were, and which change wrote each text, is held as arrays of all versions: a moment is a choice among them
by the numbers of their changes. Texts of segments that have changed since, and the persona, are read from the store.
Rows, postings and vectors are those of the snapshot of now: a moment sees the first of them (index/snapshot.py). An
utterance has its vector at every moment, whenever it was made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from embermem.core.equations import f_score, jaccard_of_counts
from embermem.core.types import SegmentId
from embermem.index.products import cosines, direction
from embermem.index.segments import SegmentTable
from embermem.index.snapshot import Snapshot

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from embermem.core.types import Vector, Vectors
    from embermem.index.vectors import TextVectors
    from embermem.protocols import PersonaThen, SegmentText, SegmentTimeline

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Mask = NDArray[np.bool_]

__all__ = ["SegmentHistory", "SegmentsThen", "with_persona"]

_AT_ONCE = 1024
"""Pages whose vectors are added up at once: what is held meanwhile stays small."""
_KEYWORD_BYTES = 70
"""Estimated bytes of a keyword."""


class SegmentHistory:
    """The versions of an owner's segments, ready for any moment up to `revision`.

    It is built from a snapshot of the same owner, whose pages and vectors it counts on; a snapshot that began anew
    since needs a new one.
    """

    def __init__(
        self,
        timeline: SegmentTimeline,
        snapshot: Snapshot,
        texts: Callable[[Mapping[SegmentId, int]], Mapping[SegmentId, SegmentText]],
        vectors: TextVectors | None = None,
    ) -> None:
        """`texts` reads those that changes wrote; `vectors` makes those of summaries, where segments have these."""
        self.revision = min(timeline.revision, snapshot.revision)
        self._ids = timeline.segments
        self._texts, self._read, self._vectors = timeline.texts, texts, vectors
        self._placings = _Placings(timeline, snapshot)
        self._left = timeline.left

    def at(self, then: Snapshot, table: SegmentTable) -> Snapshot:
        """A snapshot with the segments of its own revision in place of those of now, which are in a table."""
        same = np.full(len(self._ids), -1)
        due: dict[SegmentId, int] = {}
        stood = self._texts[(self._texts[:, 1] <= then.revision) & (self._texts[:, 2] > then.revision)]
        for place, no, _ in stood.tolist():
            row = table.places.get(self._ids[place], -1)
            if row >= 0 and table.rows[row].change_no == no and table.rows[row].counted:
                same[place] = row
            else:
                due[self._ids[place]] = no
        told = self._read(due) if due else {}
        others = {place: told[name] for place, name in enumerate(self._ids) if name in told}
        summaries = {place: text.summary for place, text in others.items()}
        summaries |= {place: table.rows[same[place]].summary for place in np.flatnonzero(same >= 0).tolist()}
        segments = SegmentsThen(
            dim=then.dim,
            ids=self._ids,
            archived=self._left <= then.revision,
            revision=then.revision,
            row_dots=then.dots,
            placings=self._placings,
            table=table,
            same=same,
            words={place: text.words for place, text in others.items()},
            summaries={place: one for place, one in sorted(summaries.items()) if one.strip()},
            vectors=self._vectors,
        )
        return then.placed(segments, self._placings.by_page(then.pages, then.revision))

    @property
    def nbytes(self) -> int:
        """Estimated bytes held."""
        return self._placings.nbytes + self._texts.nbytes


def with_persona(then: Snapshot, told: PersonaThen) -> Snapshot:
    """A snapshot with the persona of a moment in place of that of now."""
    return replace(
        then,
        persona=told.persona,
        facts=then.facts.replaced(told.persona, told.archived_facts),
        archived_facts=(),
        ended_facts=told.ended_facts,
    )


# ------------------------------------------------------------------------------------------------------------ segments


@dataclass(frozen=True, kw_only=True, eq=False)
class SegmentsThen:
    """An owner's segments at one revision, those opened since too, which hold no page yet.

    A segment's cosine is the sum of its pages' products with the query over the length of the sum of their vectors,
    which is measured once for a moment, where it is asked for. Where segments have the vectors of their summaries
    (`vectors`), those of the summaries of then are made when they are asked for. Keywords are those in the row of the
    `table` of now whose text is the `same` (−1: none), or the `words` of another text.
    """

    dim: int
    ids: tuple[SegmentId, ...]
    archived: Mask
    revision: int
    row_dots: Callable[[Vector], Floats]
    placings: _Placings
    table: SegmentTable
    same: Ints
    words: Mapping[int, frozenset[str]]
    summaries: Mapping[int, str]
    vectors: TextVectors | None

    def f_scores(self, e_q: Vector | None, K_q: AbstractSet[str]) -> Floats:
        """Eq. 2 of every segment against the query, as `SegmentTable.f_scores`."""
        return f_score(self._cosines(e_q), self._jaccards(K_q))

    def _jaccards(self, K_q: AbstractSet[str]) -> Floats:
        """J(K_s, K_q) of every segment as it was; 0 for one that was not there."""
        shared, counts, there = np.zeros(len(self.ids)), np.zeros(len(self.ids)), self.same >= 0
        of_rows, held = self.table.shared(K_q)
        shared[there], counts[there] = of_rows[self.same[there]], held[self.same[there]]
        for place, words in self.words.items():
            shared[place], counts[place], there[place] = len(K_q & words), len(words), True
        return np.where(there, jaccard_of_counts(shared, counts, len(K_q)), 0.0)

    def _cosines(self, e_q: Vector | None) -> Floats:
        towards = direction(e_q)
        if towards is None or not self.ids:
            return np.zeros(len(self.ids))
        found = self.placings.cosines(self.row_dots(towards), self._measured)
        if self.vectors is not None and self.summaries:
            made = self.vectors.of(list(self.summaries.values()))
            found[list(self.summaries)] = np.clip(cosines(made, towards[None])[:, 0], -1.0, 1.0)
        return found

    @cached_property
    def _measured(self) -> _Measured:
        return self.placings.measured(self.revision, len(self.ids))

    def place_of(self, segment_id: str) -> int | None:
        """The place of a segment."""
        return next((place for place, known in enumerate(self.ids) if known == segment_id), None)

    def id_at(self, place: int) -> SegmentId:
        """The segment at a place."""
        return self.ids[place]

    @property
    def nbytes(self) -> int:
        """What it holds alone."""
        return self.archived.nbytes + self.same.nbytes + _KEYWORD_BYTES * sum(map(len, self.words.values()))


@dataclass(frozen=True, slots=True, eq=False)
class _Measured:
    """The placings that stood at a revision, by their places; the length of each page's sum of vectors; and of each
    segment's sum of its pages' vectors, which have length 1."""

    stood: Ints
    lengths: Floats
    norms: Floats


class _Placings:
    """Pages in segments, as they came and went: arrays in the order of (segment, change)."""

    def __init__(self, timeline: SegmentTimeline, snapshot: Snapshot) -> None:
        number = snapshot.numbers_of_pages(timeline.pages)
        known = timeline.placings[number[timeline.placings[:, 0]] >= 0]
        known = known[np.lexsort((known[:, 2], known[:, 1]))]
        self._page, self._place = number[known[:, 0]], known[:, 1]
        self._no, self._until = known[:, 2], known[:, 3]
        self._vectors_of, self._dim = snapshot.vectors_of, snapshot.dim
        # What a page's vector is made of: what was said on it until it was placed.
        begins = snapshot.begins()
        pages = snapshot.page_of(snapshot.n)[begins]
        order = np.argsort(pages, kind="stable")
        first, last = (np.searchsorted(pages[order], self._page, side) for side in ("left", "right"))
        which, inside = _ranges(first, last)
        rows = begins[order][inside]
        said = snapshot.recorded_at(rows) <= known[which, 4]
        self._rows = rows[said]
        self._starts = np.append(0, np.cumsum(np.bincount(which[said], minlength=len(known))))

    def by_page(self, pages: int, revision: int) -> NDArray[np.int32]:
        """The place of the segment that each page was in, −1 for none; shape (pages,)."""
        found = np.full(pages, -1, dtype=np.int32)
        stood = self._stood(revision) & (self._page < pages)
        found[self._page[stood]] = self._place[stood]
        return found

    def cosines(self, row_dots: Floats, then: _Measured) -> Floats:
        """Each segment's cosine to a query, of which `row_dots` are the products with every row; 0 without a vector."""
        products = np.zeros(len(self._rows))
        seen = self._rows < len(row_dots)  # the others came later, or only were recorded so, by a clock that went back
        products[seen] = row_dots[self._rows[seen]]
        sums = np.append(0.0, np.cumsum(products))
        dots = (sums[self._starts[1:]] - sums[self._starts[:-1]])[then.stood]
        dots = np.divide(dots, then.lengths, out=np.zeros_like(dots), where=then.lengths > 0.0)
        total = np.bincount(self._place[then.stood], weights=dots, minlength=len(then.norms))
        norms = then.norms
        return np.clip(np.divide(total, norms, out=np.zeros(len(norms)), where=norms > 1e-6), -1.0, 1.0)

    def measured(self, revision: int, segments: int) -> _Measured:
        """What the cosines of a revision need beside a query: one pass over the vectors of the pages that stood."""
        stood = np.flatnonzero(self._stood(revision))
        lengths, sums = np.zeros(len(stood)), np.zeros((segments, self._dim))
        for start in range(0, len(stood), _AT_ONCE):
            which = stood[start : start + _AT_ONCE]
            lengths[start : start + _AT_ONCE], vectors = self._page_vectors(which)
            places, begins = np.unique(self._place[which], return_index=True)  # they are in the order of segments
            sums[places] += np.add.reduceat(vectors, begins, axis=0, dtype=np.float64)
        return _Measured(stood, lengths, np.sqrt(np.einsum("ij,ij->i", sums, sums)))

    def _stood(self, revision: int) -> Mask:
        return np.asarray((self._no <= revision) & (self._until > revision))

    def _page_vectors(self, which: Ints) -> tuple[Floats, Vectors]:
        """How long the sums of the vectors of these pages' rows are, and the sums with length 1 (0 without any)."""
        sums = np.zeros((len(which), self._dim), dtype=np.float32)
        first, last = self._starts[which], self._starts[which + 1]
        while (some := np.flatnonzero(first < last)).size:  # most pages have two rows
            sums[some] += self._vectors_of(self._rows[first[some]])
            first = first + 1
        lengths = np.sqrt(np.einsum("ij,ij->i", sums, sums))
        np.divide(sums, lengths[:, None], out=sums, where=lengths[:, None] > 0.0)
        return lengths.astype(np.float64), sums

    @property
    def nbytes(self) -> int:
        arrays = (self._place, self._no, self._until, self._page, self._rows, self._starts)
        return sum(a.nbytes for a in arrays)


def _ranges(first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """All numbers from each of `first` to before its `last`, and of which of these each is."""
    counts = last - first
    which = np.repeat(np.arange(len(counts)), counts)
    return which, np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts - first, counts)
