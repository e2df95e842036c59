"""What pages wait for the model, why, and until when."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from sqlalchemy import func, or_, select, update
from sqlalchemy.engine import Connection

from embermem.core.types import OwnerId, Waiting, WaitsFor
from embermem.store import schema
from embermem.store.codec import micros, moment
from embermem.store.projector import NO_WAITING
from embermem.store.queries import reads


def waiting(c: Connection, owner_id: OwnerId, short: int) -> tuple[Waiting, ...]:
    """What waits, those that failed and those behind them; with `short` pages of short-term memory."""
    return (*_for_a_place(c, owner_id, short), *_placed(c, owner_id))


def end_all(c: Connection, now: datetime) -> int:
    """No page of any owner waits any more, and its tries do not count; the number of pages. Owners whose own work
    failed wait on."""
    page, owner = schema.page, schema.owner
    waits = or_(page.c.retry_at.is_not(None), page.c.redo_at.is_not(None))
    later = or_(owner.c.due_at.is_(None), owner.c.due_at > micros(now))
    c.execute(
        update(owner)
        .where(owner.c.owner_id.in_(select(page.c.owner_id).where(waits)), owner.c.error.is_(None), later)
        .values(due_at=micros(now))
    )
    return c.execute(update(page).where(waits).values(NO_WAITING)).rowcount


def _for_a_place(c: Connection, owner_id: OwnerId, short: int) -> Iterator[Waiting]:
    """Pages are placed in order: with the first that waits all behind it do."""
    page, owner = schema.page.c, schema.owner.c
    left = (page.owner_id == owner_id, page.segment_id.is_(None))
    first = c.execute(
        select(page.no, page.error, page.retry_at).where(*left, page.retry_at.is_not(None)).order_by(page.no).limit(1)
    ).first()
    if first is not None:
        pages = select(owner.pages).where(owner.owner_id == owner_id).scalar_subquery()
        behind = select(func.count()).where(*left, page.no >= first.no, page.no <= pages - short)
        count, until = c.scalar(behind) or 0, moment(first.retry_at)
        if count:
            yield Waiting(waits_for=WaitsFor.PLACE, pages=count, reason=first.error or "", until=until)


def _placed(c: Connection, owner_id: OwnerId) -> Iterator[Waiting]:
    """Pages that are to be read again are analysed after that: they wait for the reading."""
    page, segment = schema.page, schema.segment
    of: dict[WaitsFor, tuple[Any, list[Any]]] = {
        WaitsFor.ANALYSIS: (page.c.retry_at, [page.c.analysed_seq < page.c.last_seq, page.c.redo_at.is_(None)]),
        WaitsFor.READING: (page.c.redo_at, []),
    }
    for waits_for, (at, more) in of.items():
        rows = c.execute(
            select(page.c.error, func.count().label("pages"), func.min(at).label("until"))
            .join(segment, reads.same(segment, page, "segment_id"))
            .where(page.c.owner_id == owner_id, at.is_not(None), segment.c.evicted_no.is_(None), *more)
            .group_by(page.c.error)
            .order_by(func.min(at), page.c.error)
        )
        for row in rows:
            yield Waiting(waits_for=waits_for, pages=row.pages, reason=row.error or "", until=moment(row.until))
