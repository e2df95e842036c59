"""Topics: chains become segments by their words and vectors, as they come, and are looked back over after each batch.

A segment is a group of chains. Two groups are as like as their pages are on average (core/equations.py): words that few
pages have count most, and vectors without what all pages have in common. All that is compared of a segment is counted
as its pages come: its keywords, and the sum of its vectors.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from embermem.core.config import COMMON_LEAST, COMMON_SHARE, TOPIC_WORDS_MOST, Settings
from embermem.core.equations import topic_linkage, topic_weight
from embermem.core.types import SegmentId
from embermem.memoryos.ingest.segment_text import Spread
from embermem.protocols import SegmentState

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from embermem.core.types import Vector


class Topics:
    """The segments of mid-term memory, as they are compared."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._states: dict[SegmentId, SegmentState] = {}
        self._place: dict[SegmentId, int] = {}
        """The column of each segment in what is counted, and its row among the sums."""
        self._row = defaultdict[str, int]()
        self._row.default_factory = self._row.__len__
        """The row of each keyword in what is counted."""
        self._held = np.zeros((0, 0))
        """How many pages of each segment have each keyword."""
        self._sizes = np.zeros(0, dtype=np.int64)
        self._pages = 0
        self._weights = np.zeros(0)
        """What each keyword weighs; NaN until it is asked for."""
        self._length: float | None = None
        self._sums: np.ndarray[tuple[int, int], np.dtype[np.float32]] | None = None
        self._bare = np.zeros(0, dtype=np.bool_)
        self._mean: Vector | None = None

    def follow(self, segments: Mapping[SegmentId, SegmentState]) -> None:
        """Know what the segments are by now, and how rare each keyword is."""
        for gone in self._states.keys() - segments.keys():
            self.replace(gone, None)
        for segment_id, state in segments.items():
            if self._states.get(segment_id) is not state:
                self.replace(segment_id, state)
        self._weights[:] = np.nan
        self._length = None

    def replace(self, segment_id: SegmentId, state: SegmentState | None) -> None:
        """A segment as it is now; None: it is no more."""
        before = self._states.get(segment_id)
        if before is not None and state is not None and _same(before, state):
            self._states[segment_id] = state
            return
        self._pages += (0 if state is None else state.pages) - (0 if before is None else before.pages)
        self._mean = None
        if state is None:
            self._drop(segment_id)
            return
        if before is None:
            self._place[segment_id] = len(self._states)
            self._held = np.pad(self._held, ((0, 0), (0, 1)))
            self._sizes = np.append(self._sizes, 0)
            self._sums = None
        elif self._sums is not None:
            self._sums[self._place[segment_id]] = _sum(state, self._sums.shape[1])
            self._bare[self._place[segment_id]] = state.vector_sum is None
        place = self._place[segment_id]
        self._states[segment_id] = state
        self._sizes[place] = state.pages
        rows = self._rows(count.word for count in state.keywords)
        self._held[:, place] = 0.0
        self._held[rows, place] = [count.pages for count in state.keywords]

    def linkages(
        self, words: Mapping[str, int], vector_sum: Vector | None, pages: int, inside: SegmentId | None = None
    ) -> dict[SegmentId, float]:
        """How like a group of pages is to each segment: `words` says how many of the pages have a keyword. Of the
        segment that they are `inside` the other pages are compared. Too few keywords in common count as none."""
        rows, having = self._rows(words), np.array([*words.values()], dtype=np.float64)
        weights = self._weights_of(rows)
        told = weights > 0.0
        having = having[told]
        others, sizes = self._held[rows[told]], self._sizes
        if inside is not None:
            own = others[:, self._place[inside]]
            own -= having * (own > 0.0)
            sizes = sizes.copy()
            sizes[self._place[inside]] -= pages
        shared = (having * weights[told]) @ others
        # One word, however rare, makes no topic; the more pages are compared, the more are in both by chance.
        least = np.minimum(1 + np.minimum(sizes, pages), TOPIC_WORDS_MOST)
        shared[(others > 0.0).sum(axis=0) < least] = 0.0
        near = self._nearness(vector_sum, pages, inside)
        pairs = np.maximum(1.0, sizes * float(pages))
        found = topic_linkage(shared, near, pairs, self._mean_length, self._settings.topic_vectors)
        return dict(zip(self._states, found.tolist(), strict=True))

    def nearest(
        self, words: Mapping[str, int], vector_sum: Vector | None, pages: int, but: SegmentId | None = None
    ) -> tuple[SegmentId, float] | None:
        """The segment that a group of pages is most like, the oldest of equals; `but` is not looked at."""
        found = self.linkages(words, vector_sum, pages)
        best = max((one for one in found if one != but), key=lambda one: found[one], default=None)
        return None if best is None else (best, found[best])

    def spread(self, segments: Iterable[SegmentState]) -> Spread:
        """How many segments there are, and how many of them have each keyword of these."""
        words = [*dict.fromkeys(count.word for one in segments for count in one.keywords)]
        having = np.count_nonzero(self._held[self._rows(words)], axis=1).tolist()
        return Spread(segments=len(self._states), having=dict(zip(words, having, strict=True)))

    # ----------------------------------------------------------------------------------------------------- counting

    def _drop(self, segment_id: SegmentId) -> None:
        del self._states[segment_id]
        place = self._place.pop(segment_id)
        self._held = np.delete(self._held, place, axis=1)
        self._sizes = np.delete(self._sizes, place)
        self._place = {one: at for at, one in enumerate(self._states)}
        self._sums = None

    def _rows(self, words: Iterable[str]) -> NDArray[np.int64]:
        rows = [self._row[word] for word in words]
        if (more := len(self._row) - len(self._held)) > 0:
            more = max(more, len(self._held))  # rows without a keyword yet
            self._held = np.pad(self._held, ((0, more), (0, 0)))
            self._weights = np.append(self._weights, np.full(more, np.nan))
        return np.array(rows, dtype=np.int64)

    def _weights_of(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        unknown = rows[np.isnan(self._weights[rows])]
        if len(unknown):
            having = self._held[unknown].sum(axis=1).astype(np.int64)
            weights = np.zeros(having.max() + 1)
            counts = np.flatnonzero(np.bincount(having))
            weights[counts] = [self._weight(one) for one in counts.tolist()]
            self._weights[unknown] = weights[having]
        return self._weights[rows]

    def _weight(self, having: int) -> float:
        """Of a keyword that so many pages have."""
        n = min(having, self._pages)
        common = n > COMMON_LEAST and n > COMMON_SHARE * self._pages
        return 0.0 if common or not n else topic_weight(self._pages, n)

    @property
    def _mean_length(self) -> float:
        if self._length is None:
            having = self._held.sum(axis=1)
            told = np.flatnonzero(having)
            self._length = float(having[told] @ self._weights_of(told)) / max(1, self._pages)
        return self._length

    def _nearness(self, vector_sum: Vector | None, pages: int, inside: SegmentId | None) -> NDArray[np.float64]:
        """The product of the mean vectors without the mean of all pages, for each segment; 0 for one that has none."""
        if vector_sum is None or not pages or not self._states:
            return np.zeros(len(self._states))
        if self._sums is None or self._sums.shape[1] != len(vector_sum):
            self._sums = np.stack([_sum(state, len(vector_sum)) for state in self._states.values()])
            self._bare = np.array([state.vector_sum is None for state in self._states.values()])
            self._mean = None
        if self._mean is None:
            self._mean = self._sums.sum(axis=0) / max(1, self._pages)
        towards = vector_sum / np.float32(pages) - self._mean
        products, sizes = self._sums @ towards, self._sizes.astype(np.float32)
        if inside is not None:
            products[self._place[inside]] -= vector_sum @ towards
            sizes[self._place[inside]] -= pages
        near = products / np.maximum(1, sizes) - float(self._mean @ towards)
        near[self._bare] = 0.0
        return np.asarray(near, dtype=np.float64)


def _same(one: SegmentState, other: SegmentState) -> bool:
    """Whether they are compared alike."""
    return one.keywords is other.keywords and one.vector_sum is other.vector_sum and one.pages == other.pages


def _sum(state: SegmentState, dim: int) -> Vector:
    if state.vector_sum is None or state.vector_sum.shape != (dim,):
        return np.zeros(dim, dtype=np.float32)
    return state.vector_sum


def words_of(state: SegmentState) -> dict[str, int]:
    """How many pages of a segment have each keyword that is counted."""
    return {count.word: count.pages for count in state.keywords}
