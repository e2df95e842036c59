"""What is read of an owner's links."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import ColumnElement, and_, exists, not_, or_, select

from embermem.core.types import Link, LinkId, OwnerId
from embermem.protocols import NOW, Moment
from embermem.store import schema
from embermem.store.codec import record
from embermem.store.queries import reads
from embermem.store.transactions import Transactions


class Links(Transactions):
    """Readers of links. A link whose end is gone stays in its table, and is read no more."""

    def links(
        self,
        owner_id: OwnerId,
        *,
        moment: Moment = NOW,
        of: Collection[str] | None = None,
        ids: Collection[LinkId] | None = None,
        standing: bool = True,
    ) -> tuple[Link, ...]:
        link = schema.link
        query = select(link).where(link.c.owner_id == owner_id)
        if standing:
            query = query.where(*visible(owner_id, moment.revision))
        if ids is not None:
            query = query.where(link.c.link_id.in_(sorted(ids)))
        if of is not None:
            query = query.where(or_(link.c.from_id.in_(sorted(of)), link.c.to_id.in_(sorted(of))))
        with self._read() as c:
            rows = c.execute(query.order_by(link.c.change_no, link.c.link_id)).all()
            sources = reads.sources_of(c, owner_id, "link", {row.link_id: row.change_no for row in rows})
        return tuple(record(Link, row, id=row.link_id, sources=sources.get(row.link_id, ())) for row in rows)


def visible(owner_id: OwnerId, revision: int | None) -> tuple[ColumnElement[bool], ...]:
    """What holds of a link that was not removed and both of whose ends are there."""
    ends = (_stands(schema.link.c[end], owner_id, revision) for end in ("from_id", "to_id"))
    return (reads.stood(schema.link, revision), *ends)


def _stands(item_id: Any, owner_id: OwnerId, revision: int | None) -> ColumnElement[bool]:
    """Whether an end is a fact that was held, if only in the archive, or a segment that was there."""
    segment = schema.segment.c
    ended = and_(segment.pages == 0, segment.evicted_no.is_not(None))
    if revision is not None:
        ended = and_(ended, segment.evicted_no <= revision)
    opened = exists().where(segment.owner_id == owner_id, segment.segment_id == item_id, not_(ended))
    if revision is not None:
        opened = opened.where(segment.opened_no <= revision)
    return or_(reads.fact_held(owner_id, item_id, revision, archived=True), opened)
