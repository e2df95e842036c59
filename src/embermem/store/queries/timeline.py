"""All versions of what a recall looks at of segments, read at once: any moment is then a choice among them
(index/past.py)."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.engine import Connection

from embermem.core.changes import KeywordCount
from embermem.core.types import (
    OwnerId,
    PageId,
    SegmentId,
)
from embermem.protocols import Placing, SegmentTimeline, Version
from embermem.store import schema
from embermem.store.codec import from_json, moment
from embermem.store.queries import reads
from embermem.store.transactions import Transactions


class Timelines(Transactions):
    """Readers of the past of an owner's segments as a whole."""

    def segment_timeline(self, owner_id: OwnerId, *, summaries: bool = False) -> SegmentTimeline:
        segment = schema.segment.c
        with self._read() as c:
            return SegmentTimeline(
                revision=_revision(c, owner_id),
                placings=_placings(c, owner_id),
                keywords=_keywords(c, owner_id),
                evicted={
                    SegmentId(row.segment_id): row.evicted_no
                    for row in c.execute(
                        select(segment.segment_id, segment.evicted_no).where(
                            segment.owner_id == owner_id, segment.evicted_no.is_not(None)
                        )
                    )
                },
                summaries=_summaries(c, owner_id) if summaries else (),
            )


def _revision(c: Connection, owner_id: OwnerId) -> int:
    return c.scalar(select(schema.owner.c.revision).where(schema.owner.c.owner_id == owner_id)) or 0


def _placings(c: Connection, owner_id: OwnerId) -> tuple[Version[Placing], ...]:
    table = schema.membership.c
    columns = (table.page_id, table.segment_id, table.change_no, table.retired_no, table.recorded_at)
    rows = c.execute(select(*columns).where(table.owner_id == owner_id))
    return tuple(
        Version(
            item=Placing(page_id=PageId(row[0]), segment_id=SegmentId(row[1]), at=moment(row[4])),
            no=row[2],
            until=row[3],
        )
        for row in rows
    )


# ------------------------------------------------------------------------------------------------------------ segments


def _keywords(c: Connection, owner_id: OwnerId) -> tuple[Version[tuple[SegmentId, tuple[str, ...]]], ...]:
    of = schema.segment_text.c
    query = select(of.segment_id, of.change_no, of.retired_no, of.keywords).where(of.owner_id == owner_id)
    rows = c.execute(query.order_by(of.segment_id, of.change_no))
    return tuple(
        Version(
            item=(SegmentId(row.segment_id), reads.words_of(from_json(row.keywords, tuple[KeywordCount, ...]))),
            no=row.change_no,
            until=row.retired_no,
        )
        for row in rows
    )


def _summaries(c: Connection, owner_id: OwnerId) -> tuple[Version[tuple[SegmentId, str]], ...]:
    of = schema.segment_text.c
    rows = c.execute(select(of.segment_id, of.change_no, of.retired_no, of.parts).where(of.owner_id == owner_id))
    return tuple(
        Version(item=(SegmentId(row.segment_id), reads.summary_from(row.parts)), no=row.change_no, until=row.retired_no)
        for row in rows
    )
