"""All versions of what a recall looks at of segments, read at once: any moment is then a choice among them
(index/past.py)."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlalchemy import select
from sqlalchemy.engine import Connection

from embermem.core.types import (
    OwnerId,
    PageId,
    SegmentId,
)
from embermem.protocols import Placing, SegmentTimeline, Version
from embermem.store import schema
from embermem.store.codec import moment
from embermem.store.queries import reads
from embermem.store.queries.segment_texts import text_versions
from embermem.store.transactions import Transactions


class Timelines(Transactions):
    """Readers of the past of an owner's segments as a whole."""

    def segment_timeline(self, owner_id: OwnerId, *, summaries: bool = False) -> SegmentTimeline:
        segment = schema.segment.c
        with self._read() as c:
            texts = _texts(c, owner_id, summaries=summaries)
            return SegmentTimeline(
                revision=_revision(c, owner_id),
                placings=_placings(c, owner_id),
                keywords=tuple(texts.keywords),
                evicted={
                    SegmentId(row.segment_id): row.evicted_no
                    for row in c.execute(
                        select(segment.segment_id, segment.evicted_no).where(
                            segment.owner_id == owner_id, segment.evicted_no.is_not(None)
                        )
                    )
                },
                summaries=tuple(texts.summaries),
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


@dataclass(slots=True)
class _Texts:
    """What a recall looks at of the versions of segments' texts."""

    keywords: list[Version[tuple[SegmentId, tuple[str, ...]]]] = field(default_factory=list)
    summaries: list[Version[tuple[SegmentId, str]]] = field(default_factory=list)


def _texts(c: Connection, owner_id: OwnerId, *, summaries: bool) -> _Texts:
    found = _Texts()
    for one in text_versions(c, owner_id):
        segment_id, no, until = one.text.segment_id, one.no, one.until
        found.keywords.append(Version(item=(segment_id, reads.words_of(one.text.keywords)), no=no, until=until))
        if summaries:
            summary = reads.summary_of(one.text.parts)
            found.summaries.append(Version(item=(segment_id, summary), no=no, until=until))
    return found
