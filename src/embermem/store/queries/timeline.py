"""Where an owner's segments had their pages, and which changes wrote their texts, read at once: any moment is then a
choice among them (index/past.py)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from embermem.core.state import NEVER
from embermem.core.types import OwnerId, SegmentId
from embermem.protocols import SegmentText, SegmentTimeline
from embermem.store.queries import reads
from embermem.store.queries.segment_texts import last_texts
from embermem.store.states import Known, States


class Timelines(States):
    """Readers of the past of an owner's segments as a whole."""

    def segment_timeline(self, owner_id: OwnerId) -> SegmentTimeline:
        with self._read() as c:
            return _timeline(self._known(c, owner_id, topics=True))

    def segment_texts(self, owner_id: OwnerId, numbers: Mapping[SegmentId, int]) -> Mapping[SegmentId, SegmentText]:
        with self._read() as c:
            topics = self._known(c, owner_id, topics=True).topics
            found = last_texts(c, owner_id, topics, {segment_id: no + 1 for segment_id, no in numbers.items()})
        return {
            segment_id: SegmentText(
                words=frozenset(reads.words_of(version.text.keywords)), summary=reads.summary_of(version.text.parts)
            )
            for segment_id, version in found.items()
            if version.no == numbers[segment_id]
        }


def _timeline(known: Known) -> SegmentTimeline:
    topics = known.topics
    segments, places, texts, left = tuple(topics.opened()), topics.places, topics.texts, topics.left
    place_of = np.full(len(topics.names), -1)
    place_of[topics.names.numbers(segments)] = np.arange(len(segments))
    pages, page_of = np.unique(places.keys, return_inverse=True)
    at = topics.recorded.at[np.searchsorted(topics.recorded.numbers, places.began)]
    left_at = np.full(len(segments), NEVER)
    known_left = place_of[left.keys] >= 0
    left_at[place_of[left.keys[known_left]]] = left.began[known_left]
    told = texts.values >= 0
    return SegmentTimeline(
        revision=known.no,
        segments=segments,
        pages=topics.names.part(pages),
        placings=np.stack([page_of, place_of[places.values], places.began, places.ended, at], axis=1),
        texts=np.stack([place_of[texts.keys], texts.began, texts.ended], axis=1)[told].astype(np.int64),
        left=left_at,
    )
