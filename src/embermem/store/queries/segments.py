"""What is read of an owner's segments and chains, now and at any moment.

Every derived row says by which change it was written and by which it ended, so what stood at a revision is a condition
(`reads.stood`). What is counted (visits, heat, waits) has no past and is left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import and_, select
from sqlalchemy.engine import Connection, Row

from embermem.core.changes import SegmentWritten
from embermem.core.types import Chain, ChainId, OwnerId, PageId, Segment, SegmentId, ThreadId
from embermem.protocols import NOW, Moment
from embermem.store import schema
from embermem.store.codec import counted_words, micros, record
from embermem.store.codec import moment as time_of
from embermem.store.queries import reads
from embermem.store.queries.pages import evicted_no, noted, select_present
from embermem.store.queries.segment_texts import TextVersion, text_versions
from embermem.store.statements import setting
from embermem.store.transactions import Transactions


class Segments(Transactions):
    """Readers of segments and chains."""

    def segments(
        self,
        owner_id: OwnerId,
        *,
        moment: Moment = NOW,
        archived: bool | None = None,
        ids: Collection[SegmentId] | None = None,
    ) -> tuple[Segment, ...]:
        read = segments_now if moment.is_now else _segments_then
        with self._read() as c:
            return read(c, owner_id, moment, archived, None if ids is None else sorted(ids))

    def segment_words(self, owner_id: OwnerId) -> tuple[tuple[str, ...], ...]:
        query = reads.select_segments(owner_id).with_only_columns(schema.segment_text.c.keywords).order_by(None)
        with self._read() as c:
            return tuple(counted_words(counted) for (counted,) in c.execute(query))

    def chains(
        self, owner_id: OwnerId, *, moment: Moment = NOW, ids: Collection[ChainId] | None = None
    ) -> tuple[Chain, ...]:
        with self._read() as c:
            of = _members_of_chains(c, owner_id, moment, ids)
            texts = _chains_told(c, owner_id, moment, ids)
        names: Iterable[str] = of
        if moment.is_now:  # a chain that lost its pages to others is known by its name only
            names = texts if ids is not None else of.keys() & texts.keys()
        return tuple(_chain(name, of.get(name, ()), texts.get(name)) for name in sorted(names))


def _members_of_chains(
    c: Connection, owner_id: OwnerId, moment: Moment, ids: Collection[ChainId] | None
) -> Mapping[str, Sequence[Row[Any]]]:
    """The pages that are in each chain, or were then, with their notes of then."""
    page = schema.page.c
    if moment.is_now:
        query, key = select(page.chain_id, page.page_id).where(page.owner_id == owner_id), page.chain_id
    else:
        query, key = noted(select_present(owner_id, moment), moment), schema.note.c.chain_id
    of: defaultdict[str, list[Any]] = defaultdict(list)
    for row in c.execute(query.where(key.is_not(None) if ids is None else key.in_(sorted(ids))).order_by(page.no)):
        of[row.chain_id].append(row)
    return of


def _chain(name: str, pages: Sequence[Row[Any]], text: Row[Any] | None) -> Chain:
    """A chain; without a text that may be told, as its first page began it."""
    own: dict[str, Any] = {"id": ChainId(name), "page_ids": tuple(PageId(row.page_id) for row in pages)}
    if text is not None:
        return record(Chain, text, **own, sources=reads.sources_from(text.sources))
    first = pages[0]
    began = {"change_no": first.noted_no, "recorded_at": time_of(first.noted_at)}
    return Chain(**own, thread=ThreadId(first.thread), summary="", **began, sources=())


# ----------------------------------------------------------------------------------------------------------------- now


def segments_now(
    c: Connection, owner_id: OwnerId, _: Moment, archived: bool | None, ids: Sequence[SegmentId] | None
) -> tuple[Segment, ...]:
    segment, page = schema.segment, schema.page
    query = reads.select_segments(owner_id)
    if archived is not None:
        query = query.where(segment.c.evicted_no.is_not(None) if archived else segment.c.evicted_no.is_(None))
    if ids is not None:
        query = query.where(segment.c.segment_id.in_(ids))
    embedder = setting(c, "embedder")
    rows = c.execute(query).all()
    if not rows:
        return ()
    counts = reads.unanalysed_counts(c, owner_id, ids)
    of: dict[str, list[PageId]] = {}
    members = select(page.c.segment_id, page.c.page_id).where(
        page.c.owner_id == owner_id,
        page.c.segment_id.is_not(None) if ids is None else page.c.segment_id.in_(ids),
    )
    for segment_id, page_id in c.execute(members.order_by(page.c.no)).all():
        of.setdefault(segment_id, []).append(PageId(page_id))
    return tuple(
        reads.segment_from(
            row,
            embedder,
            counts.get(row.segment_id, 0),
            tuple(of.get(row.segment_id, ())),
        )
        for row in rows
    )


# ---------------------------------------------------------------------------------------------------------------- then


def _segments_then(
    c: Connection, owner_id: OwnerId, moment: Moment, archived: bool | None, ids: Sequence[SegmentId] | None
) -> tuple[Segment, ...]:
    members, segment = _members(c, owner_id, moment, ids), schema.segment.c
    every = select(segment.segment_id, evicted_no(moment).label("evicted_no")).where(segment.owner_id == owner_id)
    known = [
        row
        for row in c.execute(every.order_by(segment.opened_no, segment.segment_id))
        if row.segment_id in members and archived in (None, row.evicted_no is not None)
    ]

    texts = _texts_then(c, owner_id, moment, ids)
    return tuple(
        _segment(
            row,
            members[row.segment_id],
            texts.get(row.segment_id) or _bare(c, owner_id, moment, row.segment_id, members[row.segment_id].page_ids),
        )
        for row in known
    )


def _texts_then(c: Connection, owner_id: OwnerId, moment: Moment, ids: Sequence[str] | None) -> dict[str, TextVersion]:
    """The text of each segment that stood; with `valid_at` the newest that tells of nothing said later."""
    found: dict[str, TextVersion] = {}
    if moment.valid_at is not None:
        for version in text_versions(c, owner_id, ids, moment.revision):
            text, best = version.text, found.get(version.text.segment_id)
            if text.said_to <= moment.valid_at and (best is None or best.text.said_to <= text.said_to):
                found[text.segment_id] = version
        return found
    table = schema.segment_text
    query = select(table).where(table.c.owner_id == owner_id, reads.stood(table, moment.revision))
    gone = []
    for row in c.execute(query if ids is None else query.where(table.c.segment_id.in_(ids))):
        if row.retired_no is None:
            found[row.segment_id] = TextVersion(row.change_no, None, time_of(row.recorded_at), reads.text_from(row))
        else:
            gone.append(row.segment_id)
    for version in text_versions(c, owner_id, gone, moment.revision):
        found[version.text.segment_id] = version
    return found


def _chains_told(
    c: Connection, owner_id: OwnerId, moment: Moment, ids: Collection[ChainId] | None
) -> Mapping[str, Row[Any]]:
    """The summary of each chain that stood; with `valid_at` the newest that rests on nothing said later."""
    chain, said = schema.chain, schema.utterance.c
    query = select(chain).where(chain.c.owner_id == owner_id).order_by(chain.c.change_no)
    if ids is not None:
        query = query.where(chain.c.chain_id.in_(sorted(ids)))
    if moment.valid_at is None:
        return {row.chain_id: row for row in c.execute(query.where(reads.stood(chain, moment.revision)))}
    rows = c.execute(query.where(reads.known_by(chain, moment.revision))).all()
    told = [(row, [source.seq for source in reads.sources_from(row.sources)]) for row in rows]
    said_at: dict[int, int] = {}
    for some in reads.chunks(sorted({seq for _, seqs in told for seq in seqs})):
        times = select(said.seq, said.said_at).where(said.owner_id == owner_id, said.seq.in_(some))
        said_at.update((seq, at) for seq, at in c.execute(times))
    found: dict[str, tuple[int, Row[Any]]] = {}
    for row, seqs in told:
        last = max((said_at.get(seq, 0) for seq in seqs), default=None)
        if last is not None and last <= micros(moment.valid_at) and last >= found.get(row.chain_id, (last, row))[0]:
            found[row.chain_id] = last, row
    return {chain_id: row for chain_id, (_, row) in found.items()}


@dataclass(kw_only=True, slots=True)
class _Members:
    """A segment's pages, in order, and when the newest of them came."""

    page_ids: list[PageId] = field(default_factory=list)
    arrived: int = 0


def _members(
    c: Connection, owner_id: OwnerId, moment: Moment, ids: Sequence[SegmentId] | None
) -> Mapping[str, _Members]:
    """The pages that were in each segment."""
    page, member = schema.page, schema.membership
    same = reads.same(member, page, "page_id")
    query = (
        select_present(owner_id, moment)
        .with_only_columns(member.c.segment_id, page.c.page_id, page.c.recorded_at)
        .join(member, and_(same, reads.stood(member, moment.revision)))
        .order_by(page.c.no)
    )
    if ids is not None:
        query = query.where(member.c.segment_id.in_(ids))
    found: defaultdict[str, _Members] = defaultdict(_Members)
    for segment_id, page_id, recorded_at in c.execute(query):
        own = found[segment_id]
        own.page_ids.append(page_id)
        own.arrived = max(own.arrived, recorded_at)
    return found


def _bare(c: Connection, owner_id: OwnerId, moment: Moment, segment_id: str, page_ids: Sequence[PageId]) -> TextVersion:
    """In place of a text that tells of more than it may, or is gone with what was forgotten: nothing told, when the
    pages were said, and by which change the first of them entered."""
    page, member, said = schema.page, schema.membership, schema.utterance
    of_page = reads.same(page, member, "page_id")
    first = and_(said.c.owner_id == page.c.owner_id, said.c.seq == page.c.first_seq)
    query = (
        select(member.c.change_no, member.c.recorded_at, said.c.said_at, said.c.said_offset)
        .select_from(member)
        .join(page, of_page)
        .join(said, first)
        .where(member.c.owner_id == owner_id, reads.stood(member, moment.revision))
    )
    rows = [row for ids in reads.chunks(page_ids) for row in c.execute(query.where(member.c.page_id.in_(ids)))]
    said_at = [time_of(row.said_at, row.said_offset) for row in rows]
    change_no, recorded_at = min((row.change_no, row.recorded_at) for row in rows)
    nothing = SegmentWritten(
        segment_id=SegmentId(segment_id), parts=(), keywords=(), said_from=min(said_at), said_to=max(said_at)
    )
    return TextVersion(change_no, None, time_of(recorded_at), nothing)


def _segment(row: Row[Any], members: _Members, version: TextVersion) -> Segment:
    """A segment as it was, without counters."""
    text = version.text
    return Segment(
        id=SegmentId(row.segment_id),
        summary=reads.summary_of(text.parts),
        title=text.title or "",
        keywords=reads.shown_keywords(text),
        counted=reads.words_of(text.keywords),
        page_ids=tuple(members.page_ids),
        visits=0,
        unanalysed=0,
        last_access=time_of(members.arrived),
        archived=row.evicted_no is not None,
        change_no=version.no,
        recorded_at=version.recorded_at,
        said_from=text.said_from,
        said_to=text.said_to,
        sources=reads.sources_in(text.parts),
    )
