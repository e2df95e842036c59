"""Topics: chains become segments by their words and vectors, as they come, and are looked back over after each batch.

A segment is a group of chains. Two groups are as like as their pages are on average (core/equations.py): words that few
pages have count most, and vectors without what all pages have in common. All that is compared of a segment is counted
as its pages come: its keywords, and the sum of its vectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from embermem.core.config import COMMON_LEAST, COMMON_SHARE, TOPIC_WORDS_MOST, Settings
from embermem.core.equations import topic_linkage, topic_weight
from embermem.core.types import SegmentId
from embermem.memoryos.ingest.segment_text import Spread
from embermem.protocols import SegmentState

if TYPE_CHECKING:
    from embermem.core.types import Vector


class Topics:
    """The segments of mid-term memory, as they are compared."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._states: dict[SegmentId, SegmentState] = {}
        self._holders: dict[str, dict[SegmentId, int]] = {}
        self._having: dict[str, int] = {}
        self._pages = 0
        self._weights: dict[str, float] = {}
        self._length: float | None = None
        self._rows: dict[SegmentId, int] = {}
        self._sums: np.ndarray[tuple[int, int], np.dtype[np.float32]] | None = None
        self._sizes: np.ndarray[tuple[int], np.dtype[np.float32]] | None = None
        self._mean: Vector | None = None

    def follow(self, segments: Mapping[SegmentId, SegmentState]) -> None:
        """Know what the segments are by now, and how rare each keyword is."""
        for gone in self._states.keys() - segments.keys():
            self.replace(gone, None)
        for segment_id, state in segments.items():
            if self._states.get(segment_id) is not state:
                self.replace(segment_id, state)
        self._weights, self._length = {}, None

    def replace(self, segment_id: SegmentId, state: SegmentState | None) -> None:
        """A segment as it is now; None: it is no more."""
        before = self._states.get(segment_id)
        if before is not None and state is not None and _same(before, state):
            self._states[segment_id] = state
            return
        if before is not None:
            self._uncount(segment_id, before)
        if state is None:
            self._states.pop(segment_id, None)
        else:
            self._count(segment_id, state)
            self._states[segment_id] = state
        self._mean = None
        if before is None or state is None or self._sums is None:
            self._sums = None
        else:
            self._sums[self._rows[segment_id]] = _sum(state, self._sums.shape[1])

    def linkages(
        self, words: Mapping[str, int], vector_sum: Vector | None, pages: int, inside: SegmentId | None = None
    ) -> dict[SegmentId, float]:
        """How like a group of pages is to each segment: `words` says how many of the pages have a keyword. Of the
        segment that they are `inside` the other pages are compared. Too few keywords in common count as none."""
        shared: dict[SegmentId, float] = {}
        common: dict[SegmentId, int] = {}
        for word, having in words.items():
            weight = self._weights.get(word)
            if weight or (weight is None and (weight := self._weight(word))):
                for segment_id, held in self._holders.get(word, {}).items():
                    others = held - having if segment_id == inside else held
                    if others:
                        shared[segment_id] = shared.get(segment_id, 0.0) + having * others * weight
                        common[segment_id] = common.get(segment_id, 0) + (others > 0)
        near = self._nearness(vector_sum, pages, inside)
        w, nu = self._settings.topic_vectors, self._mean_length
        found = {}
        for (segment_id, state), nearness in zip(self._states.items(), near, strict=True):
            size = state.pages - pages if segment_id == inside else state.pages
            told = shared.get(segment_id, 0.0)
            if told and common[segment_id] < _words_of_a_topic(min(size, pages)):
                told = 0.0
            found[segment_id] = topic_linkage(told, nearness, max(1, size * pages), nu, w)
        return found

    def nearest(
        self, words: Mapping[str, int], vector_sum: Vector | None, pages: int, but: SegmentId | None = None
    ) -> tuple[SegmentId, float] | None:
        """The segment that a group of pages is most like, the oldest of equals; `but` is not looked at."""
        found = self.linkages(words, vector_sum, pages)
        best = max((one for one in found if one != but), key=lambda one: found[one], default=None)
        return None if best is None else (best, found[best])

    def spread(self, segments: Iterable[SegmentState]) -> Spread:
        """How many segments there are, and how many of them have each keyword of these."""
        words = {count.word for one in segments for count in one.keywords}
        return Spread(segments=len(self._states), having={word: len(self._holders[word]) for word in words})

    # ----------------------------------------------------------------------------------------------------- counting

    def _count(self, segment_id: SegmentId, state: SegmentState) -> None:
        self._pages += state.pages
        for count in state.keywords:
            word, pages = count.word, count.pages
            self._having[word] = self._having.get(word, 0) + pages
            self._holders.setdefault(word, {})[segment_id] = pages

    def _uncount(self, segment_id: SegmentId, state: SegmentState) -> None:
        self._pages -= state.pages
        for count in state.keywords:
            word = count.word
            holders = self._holders[word]
            del holders[segment_id]
            if holders:
                self._having[word] -= count.pages
            else:
                del self._holders[word], self._having[word]

    def _weight(self, word: str) -> float:
        weight = self._weights.get(word)
        if weight is None:
            n = min(self._having.get(word, 0), self._pages)
            common = n > COMMON_LEAST and n > COMMON_SHARE * self._pages
            weight = self._weights[word] = 0.0 if common or not n else topic_weight(self._pages, n)
        return weight

    @property
    def _mean_length(self) -> float:
        if self._length is None:
            total = sum(n * self._weight(word) for word, n in self._having.items())
            self._length = total / max(1, self._pages)
        return self._length

    def _nearness(self, vector_sum: Vector | None, pages: int, inside: SegmentId | None) -> list[float]:
        """The product of the mean vectors without the mean of all pages, for each segment; 0 for one that has none."""
        if vector_sum is None or not pages or not self._states:
            return [0.0] * len(self._states)
        if self._sums is None or self._sums.shape[1] != len(vector_sum):
            self._rows = {one: row for row, one in enumerate(self._states)}
            self._sums = np.stack([_sum(state, len(vector_sum)) for state in self._states.values()])
            self._mean = None
        if self._mean is None or self._sizes is None:
            self._mean = self._sums.sum(axis=0) / max(1, self._pages)
            self._sizes = np.array([state.pages for state in self._states.values()], dtype=np.float32)
        towards = vector_sum / np.float32(pages) - self._mean
        products, sizes = self._sums @ towards, self._sizes
        if inside in self._rows:
            products[self._rows[inside]] -= vector_sum @ towards
            sizes = sizes.copy()
            sizes[self._rows[inside]] -= pages
        near = (products / np.maximum(1, sizes) - float(self._mean @ towards)).tolist()
        return [
            value if state.vector_sum is not None else 0.0
            for state, value in zip(self._states.values(), near, strict=True)
        ]


def _words_of_a_topic(pages: int) -> int:
    """How many keywords two groups must have in common, the smaller of so many pages: one word, however rare, makes no
    topic, and the more pages are compared, the more words are in both by chance."""
    return min(1 + pages, TOPIC_WORDS_MOST)


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
