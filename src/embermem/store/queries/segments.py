"""What is read of an owner's segments and chains, now and at any moment.

A segment as it stands is a row; what stood at a moment, and what is said of chains, comes from the state and the log.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import and_, select
from sqlalchemy.engine import Connection, Row

from embermem.core.changes import ChainSummarised, SegmentWritten
from embermem.core.state import NO_VISITS, TopicMoment, analysed, sorted_sources
from embermem.core.types import Chain, ChainId, OwnerId, PageId, Segment, SegmentId, ThreadId
from embermem.protocols import NOW, Moment
from embermem.store import schema
from embermem.store.codec import counted_words
from embermem.store.codec import moment as time_of
from embermem.store.queries import reads
from embermem.store.queries.changes import parts
from embermem.store.queries.item_decisions import item_decisions
from embermem.store.queries.pages import select_present
from embermem.store.queries.retaining import counters, visits
from embermem.store.queries.segment_texts import TextVersion, last_texts, text_versions
from embermem.store.statements import setting
from embermem.store.states import Known, States


class Segments(States):
    """Readers of segments and chains."""

    def segments(
        self,
        owner_id: OwnerId,
        *,
        moment: Moment = NOW,
        archived: bool | None = None,
        ids: Collection[SegmentId] | None = None,
    ) -> tuple[Segment, ...]:
        some = None if ids is None else sorted(ids)
        with self._read() as c:
            known = self._known(c, owner_id, topics=True)
            if moment.is_now:
                return segments_now(c, known, archived, some)
            return _segments_then(c, known, moment, archived, some)

    def segment_words(self, owner_id: OwnerId) -> tuple[tuple[str, ...], ...]:
        query = reads.select_segments(owner_id).with_only_columns(schema.segment.c.keywords).order_by(None)
        with self._read() as c:
            return tuple(counted_words(counted) for (counted,) in c.execute(query))

    def chains(
        self, owner_id: OwnerId, *, moment: Moment = NOW, ids: Collection[ChainId] | None = None
    ) -> tuple[Chain, ...]:
        with self._read() as c:
            known = self._known(c, owner_id, topics=True)
            of = _pages_of_chains(c, known, moment, ids)
            texts = _chains_told(c, known, moment, ids)
        names: Iterable[ChainId] = of
        if moment.is_now:  # a chain that lost its pages to others is known by its name only
            names = texts if ids is not None else of.keys() & texts.keys()
        recorded = known.topics.recorded
        return tuple(_chain(name, of.get(name, ()), texts.get(name), recorded) for name in sorted(names))


_Member = tuple[Row[Any], int]
"""A page of a chain, and the change that noted it."""
_Told = tuple[int, ChainSummarised]
"""A summary, and the change that wrote it."""


def _pages_of_chains(
    c: Connection, known: Known, moment: Moment, ids: Collection[ChainId] | None
) -> Mapping[ChainId, Sequence[_Member]]:
    """The pages that are in each chain, or were then, in order."""
    then = known.topics_at(moment.revision)
    notes = then.notes(ids)
    query, page = select_present(known.owner_id, moment), schema.page.c.page_id
    queries = [query] if ids is None else [query.where(page.in_(some)) for some in reads.chunks(sorted(notes))]
    rows = [row for one in queries for row in c.execute(one) if row.page_id in notes]
    of: defaultdict[ChainId, list[_Member]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: int(row.no)):
        chain_id, no = notes[row.page_id]
        of[chain_id].append((row, no))
    return of


def _chain(name: ChainId, pages: Sequence[_Member], text: _Told | None, recorded: Mapping[int, datetime]) -> Chain:
    """A chain; without a text that may be told, as its first page began it."""
    page_ids = tuple(PageId(row.page_id) for row, _ in pages)
    if text is not None:
        no, told = text
        return Chain(
            id=name,
            page_ids=page_ids,
            thread=told.thread,
            summary=told.summary,
            change_no=no,
            recorded_at=recorded[no],
            sources=sorted_sources(told.sources),
        )
    first, no = pages[0]
    return Chain(
        id=name,
        page_ids=page_ids,
        thread=ThreadId(first.thread),
        summary="",
        change_no=no,
        recorded_at=recorded[no],
        sources=(),
    )


def _chains_told(
    c: Connection, known: Known, moment: Moment, ids: Collection[ChainId] | None
) -> Mapping[ChainId, _Told]:
    """The summary of each chain that stood; with `valid_at` the newest that rests on nothing said later."""
    then = known.topics_at(moment.revision)
    numbers = then.summaries() if ids is None else {one: no for one in ids if (no := then.summary(one)) is not None}
    if moment.valid_at is None:
        told = item_decisions(c, known.owner_id, ChainSummarised, numbers)
        return {name: (numbers[name], one) for name, one in told.items()}
    every = [
        (change.no, one)
        for some in parts(c, known.owner_id, known.topics.begun, then.no, kinds=(ChainSummarised,))
        for change in some
        for one in change.decisions
        if isinstance(one, ChainSummarised) and one.chain_id in numbers
    ]
    said_at = _said_at(c, known.owner_id, {source.seq for _, one in every for source in one.sources})
    found: dict[ChainId, tuple[datetime, _Told]] = {}
    for no, one in every:
        last = max((said_at[source.seq] for source in one.sources if source.seq in said_at), default=None)
        if last is not None and last <= moment.valid_at and last >= found.get(one.chain_id, (last, None))[0]:
            found[one.chain_id] = last, (no, one)
    return {chain_id: told for chain_id, (_, told) in found.items()}


def _said_at(c: Connection, owner_id: OwnerId, seqs: Collection[int]) -> Mapping[int, datetime]:
    said = schema.utterance.c
    query = select(said.seq, said.said_at).where(said.owner_id == owner_id)
    return {
        seq: time_of(at)
        for some in reads.chunks(sorted(seqs))
        for seq, at in c.execute(query.where(said.seq.in_(some)))
    }


# ----------------------------------------------------------------------------------------------------------------- now


def segments_now(
    c: Connection, known: Known, archived: bool | None, ids: Sequence[SegmentId] | None
) -> tuple[Segment, ...]:
    segment, page, owner_id = schema.segment, schema.page, known.owner_id
    query = reads.select_segments(owner_id)
    if archived is not None:
        query = query.where(segment.c.evicted_no.is_not(None) if archived else segment.c.evicted_no.is_(None))
    if ids is not None:
        query = query.where(segment.c.segment_id.in_(ids))
    embedder = setting(c, "embedder")
    rows = c.execute(query).all()
    if not rows:
        return ()
    counted = counters(c, known, ids)
    of: dict[str, list[PageId]] = {}
    members = select(page.c.segment_id, page.c.page_id).where(
        page.c.owner_id == owner_id,
        page.c.segment_id.is_not(None) if ids is None else page.c.segment_id.in_(ids),
    )
    for segment_id, page_id in c.execute(members.order_by(page.c.no)).all():
        of.setdefault(segment_id, []).append(PageId(page_id))
    return tuple(reads.segment_from(row, embedder, counted(row), tuple(of.get(row.segment_id, ()))) for row in rows)


# ---------------------------------------------------------------------------------------------------------------- then


def _segments_then(
    c: Connection, known: Known, moment: Moment, archived: bool | None, ids: Sequence[SegmentId] | None
) -> tuple[Segment, ...]:
    then = known.topics_at(moment.revision)
    members = _members(c, known, then, moment, ids)
    texts = _texts_then(c, known, then, moment, ids)
    opened, gone, visited = known.topics.opened(), then.all_left(), visits(c, known, moment.revision)
    found = []
    for segment_id in sorted(members, key=lambda one: (opened[one], one)):
        own = members[segment_id]
        if archived in (None, segment_id in gone):
            text = texts.get(segment_id) or _bare(c, known, then, segment_id, own.page_ids)
            of = reads.accessed(own.arrived, own.unanalysed, visited.get(segment_id, NO_VISITS))
            told = text.text, text.no, text.recorded_at
            found.append(reads.segment_of(*told, own.page_ids, archived=segment_id in gone, **of))
    return tuple(found)


def _texts_then(
    c: Connection, known: Known, then: TopicMoment, moment: Moment, ids: Sequence[SegmentId] | None
) -> dict[SegmentId, TextVersion]:
    """The text of each segment that stood; with `valid_at` the newest that tells of nothing said later."""
    found: dict[SegmentId, TextVersion] = {}
    if moment.valid_at is not None:
        for version in text_versions(c, known.owner_id, known.topics, ids, moment.revision):
            text, best = version.text, found.get(version.text.segment_id)
            if text.said_to <= moment.valid_at and (best is None or best.text.said_to <= text.said_to):
                found[text.segment_id] = version
        return found
    stood = {one: no for one, no in then.texts().items() if ids is None or one in ids}
    for row in c.execute(reads.select_segments(known.owner_id)):
        if stood.get(row.segment_id) == row.change_no:
            text = reads.text_from(row)
            found[text.segment_id] = TextVersion(row.change_no, None, time_of(row.recorded_at), text)
    others = dict.fromkeys(stood.keys() - found.keys(), then.no + 1)
    return found | last_texts(c, known.owner_id, known.topics, others)


@dataclass(kw_only=True, slots=True)
class _Members:
    """A segment's pages, in order, when the newest of them came, and how many were not analysed."""

    page_ids: list[PageId] = field(default_factory=list)
    arrived: int = 0
    unanalysed: int = 0


def _members(
    c: Connection, known: Known, then: TopicMoment, moment: Moment, ids: Sequence[SegmentId] | None
) -> Mapping[SegmentId, _Members]:
    """The pages that were in each segment."""
    places, read = then.places(), analysed(then)
    found: defaultdict[SegmentId, _Members] = defaultdict(_Members)
    for row in c.execute(select_present(known.owner_id, moment).order_by(schema.page.c.no)):
        segment_id = places.get(row.page_id)
        if segment_id is not None and (ids is None or segment_id in ids):
            own = found[segment_id]
            own.page_ids.append(row.page_id)
            own.arrived = max(own.arrived, row.recorded_at)
            own.unanalysed += read.get(row.page_id, 0) < row.last_seq
    return found


def _bare(
    c: Connection, known: Known, then: TopicMoment, segment_id: SegmentId, page_ids: Sequence[PageId]
) -> TextVersion:
    """In place of a text that tells of more than it may, or is gone with what was forgotten: nothing told, when the
    pages were said, and by which change the first of them entered."""
    page, said = schema.page, schema.utterance
    first = and_(said.c.owner_id == page.c.owner_id, said.c.seq == page.c.first_seq)
    query = select(said.c.said_at, said.c.said_offset).join(page, first).where(page.c.owner_id == known.owner_id)
    rows = [row for ids in reads.chunks(page_ids) for row in c.execute(query.where(page.c.page_id.in_(ids)))]
    said_at = [time_of(row.said_at, row.said_offset) for row in rows]
    no = min(place[1] for page_id in page_ids if (place := then.place(page_id)) is not None)
    nothing = SegmentWritten(segment_id=segment_id, parts=(), keywords=(), said_from=min(said_at), said_to=max(said_at))
    return TextVersion(no, None, known.topics.recorded[no], nothing)
