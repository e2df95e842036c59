"""What is read of an owner's links, and of the facts that others took the place of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, exists, or_, select

from embermem.core.types import Fact, FactId, ItemId, Link, LinkId, OwnerId
from embermem.protocols import Moment
from embermem.store import schema
from embermem.store.codec import moment as time_of
from embermem.store.queries import reads
from embermem.store.transactions import Transactions

_NOW = Moment()


class Links(Transactions):
    """Readers of links. A link whose end is gone stays in its table, and is read no more."""

    def links(self, owner_id: OwnerId, item_id: str | None = None, moment: Moment = _NOW) -> tuple[Link, ...]:
        """The links that stand, or stood, in the order in which they were made; all, or those of one item."""
        link = schema.link
        query = select(link).where(link.c.owner_id == owner_id, _stood(link, moment.revision))
        query = query.where(*(_stands(link.c[end], owner_id, moment.revision) for end in ("from_id", "to_id")))
        if item_id is not None:
            query = query.where(or_(link.c.from_id == item_id, link.c.to_id == item_id))
        return self._links(owner_id, query)

    def link(self, owner_id: OwnerId, link_id: LinkId) -> Link | None:
        """One link as it stands, or as it last stood."""
        link = schema.link
        query = select(link).where(link.c.owner_id == owner_id, link.c.link_id == link_id)
        return next(iter(self._links(owner_id, query)[::-1]), None)

    def linked_pairs(self, owner_id: OwnerId, item_ids: Sequence[str]) -> tuple[tuple[ItemId, ItemId], ...]:
        """Both ends of each link that one of these items has, or had before it was taken back."""
        link = schema.link
        found: dict[tuple[ItemId, ItemId], None] = {}
        with self._read() as c:
            for ids in reads.chunks(item_ids):
                of_these = or_(link.c.from_id.in_(ids), link.c.to_id.in_(ids))
                query = select(link.c.from_id, link.c.to_id).where(link.c.owner_id == owner_id, of_these)
                found.update(((FactId(row.from_id), FactId(row.to_id)), None) for row in c.execute(query))
        return tuple(found)

    def superseded(self, owner_id: OwnerId, fact_ids: Sequence[FactId]) -> tuple[Fact, ...]:
        """The facts of which one of these took the place, the last one ended first."""
        fact = schema.fact
        query = (
            select(fact)
            .where(fact.c.owner_id == owner_id, fact.c.superseded_by.in_(fact_ids))
            .order_by(fact.c.retired_no.desc(), fact.c.change_no.desc(), fact.c.fact_id.desc())
        )
        with self._read() as c:
            return reads.facts_from(c, owner_id, query)

    def _links(self, owner_id: OwnerId, query: Select[Any]) -> tuple[Link, ...]:
        link = schema.link
        with self._read() as c:
            rows = c.execute(query.order_by(link.c.change_no, link.c.link_id)).all()
            sources = reads.sources_of(c, owner_id, "link", {row.link_id: row.change_no for row in rows})
        return tuple(
            Link(
                id=LinkId(row.link_id),
                from_id=FactId(row.from_id),
                to_id=FactId(row.to_id),
                reason=row.reason,
                sources=sources.get(row.link_id, ()),
                analyst=row.analyst,
                recorded_at=time_of(row.recorded_at),
                retired_at=None if row.retired_at is None else time_of(row.retired_at),
                change_no=row.change_no,
            )
            for row in rows
        )


def _stood(table: Any, revision: int | None) -> ColumnElement[bool]:
    """Whether a version was the one that stood."""
    if revision is None:
        return table.c.retired_no.is_(None)  # type: ignore[no-any-return]
    return and_(table.c.change_no <= revision, or_(table.c.retired_no.is_(None), table.c.retired_no > revision))


def _stands(item_id: Any, owner_id: OwnerId, revision: int | None) -> ColumnElement[bool]:
    """Whether an end is a fact that was held, if only in the archive, or a segment that was there."""
    fact, state, segment = schema.fact, schema.fact_state, schema.segment
    opened = and_(segment.c.owner_id == owner_id, segment.c.segment_id == item_id)
    if revision is None:
        held = and_(fact.c.owner_id == owner_id, fact.c.fact_id == item_id, fact.c.retired_no.is_(None))
    else:
        opened = and_(opened, segment.c.opened_no <= revision)
        held = and_(state.c.owner_id == owner_id, state.c.fact_id == item_id, state.c.ended_no.is_(None))
        held = and_(held, _stood(state, revision))
    return or_(exists().where(held), exists().where(opened))
