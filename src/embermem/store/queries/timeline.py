"""All versions of what a recall looks at of segments, read at once: any moment is then a choice among them
(index/past.py)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import select
from sqlalchemy.engine import Connection

from embermem.core.state import NEVER
from embermem.core.types import OwnerId, PageId, SegmentId
from embermem.protocols import SegmentTimeline, Version
from embermem.store import schema
from embermem.store.codec import WrittenWords, words_written
from embermem.store.queries import reads
from embermem.store.queries.segment_texts import text_versions
from embermem.store.states import Known, States

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Timelines(States):
    """Readers of the past of an owner's segments as a whole."""

    def segment_timeline(self, owner_id: OwnerId, *, summaries: bool = False) -> SegmentTimeline:
        with self._read() as c:
            known = self._known(c, owner_id, topics=True)
            return _timeline(c, known, _summaries(c, known) if summaries else ())


def _timeline(c: Connection, known: Known, summaries: tuple[Version[tuple[SegmentId, str]], ...]) -> SegmentTimeline:
    topics = known.topics
    segments = tuple(topics.opened())
    place_of = {topics.number(one): place for place, one in enumerate(segments)}
    spans = topics.places
    pages = dict.fromkeys(spans.keys.tolist())
    page_of = {number: place for place, number in enumerate(pages)}
    placings = np.stack(
        [
            np.array([page_of[one] for one in spans.keys.tolist()], dtype=np.int64),
            np.array([place_of[one] for one in spans.values.tolist()], dtype=np.int64),
            spans.began,
            spans.ended,
            topics.recorded.at[np.searchsorted(topics.recorded.numbers, spans.began)],
        ],
        axis=1,
    )
    left = np.full(len(segments), NEVER)
    for key, no in zip(topics.left.keys.tolist(), topics.left.began.tolist(), strict=True):
        if key in place_of:
            left[place_of[key]] = no
    texts, words = _texts(c, known, {one: place for place, one in enumerate(segments)})
    return SegmentTimeline(
        revision=known.no,
        segments=segments,
        pages=tuple(PageId(topics.name(one)) for one in pages),
        placings=placings,
        texts=texts,
        words=words,
        left=left,
        summaries=summaries,
    )


def _summaries(c: Connection, known: Known) -> tuple[Version[tuple[SegmentId, str]], ...]:
    return tuple(
        Version(item=(one.text.segment_id, reads.summary_of(one.text.parts)), no=one.no, until=one.until)
        for one in text_versions(c, known.owner_id, known.topics)
    )


# ------------------------------------------------------------------------------------------------------------ keywords


@dataclass(slots=True)
class _Words:
    """The keywords of a segment's texts, one text after the other: of each text how many, and from which on and before
    which one each keyword was there."""

    counts: list[int] = field(default_factory=list)
    held: dict[str, int] = field(default_factory=dict)
    spans: list[tuple[str, int, int]] = field(default_factory=list)

    def take(self, told: WrittenWords, *, again: bool) -> None:
        """The next text; `again`: of the same change as the last."""
        if again:
            self.counts.pop()
        here = len(self.counts)
        gone: Iterable[str] = told.dropped if told.grew else self.held.keys() - told.words
        for word in [*gone]:
            if (since := self.held.pop(word, here)) < here:
                self.spans.append((word, since, here))
        for word in told.words:
            self.held.setdefault(word, here)
        self.counts.append(len(self.held))

    def ended(self) -> list[tuple[str, int, int]]:
        """All spans."""
        return [*self.spans, *((word, since, len(self.counts)) for word, since in self.held.items())]


def _texts(
    c: Connection, known: Known, places: Mapping[SegmentId, int]
) -> tuple[NDArray[np.int64], Mapping[str, NDArray[np.int64]]]:
    """The rows of texts, and by keyword the rows of words (`SegmentTimeline`). Of texts only their keywords are
    decoded."""
    versions: defaultdict[SegmentId, list[tuple[int, int]]] = defaultdict(list)
    due: defaultdict[int, set[SegmentId]] = defaultdict(set)
    for no, segment_id, until in known.topics.texts_of():
        versions[segment_id].append((no, NEVER if until is None else until))
        due[no].add(segment_id)
    table, of = schema.change.c, defaultdict[SegmentId, _Words](_Words)
    last: dict[SegmentId, int] = {}
    query = select(table.no, table.decisions).where(table.owner_id == known.owner_id)
    for some in reads.chunks(sorted(due)):
        for row in c.execute(query.where(table.no.in_(some)).order_by(table.no)):
            for told in words_written(row.decisions, due[row.no]):
                of[told.segment_id].take(told, again=last.get(told.segment_id) == row.no)
                last[told.segment_id] = row.no
    rows: list[tuple[int, int, int, int]] = []
    words: defaultdict[str, list[tuple[int, int, int]]] = defaultdict(list)
    for segment_id, place in places.items():
        first, own = len(rows), of[segment_id]
        numbers = versions.get(segment_id, [])
        rows += [(place, no, until, count) for (no, until), count in zip(numbers, own.counts, strict=True)]
        for word, since, upto in own.ended():
            words[word].append((place, first + since, first + upto))
    return np.array(rows, dtype=np.int64).reshape(-1, 4), {
        word: np.array(told, dtype=np.int64) for word, told in words.items()
    }
