"""What pages wait for the model, why, and until when."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, func, or_, select, update
from sqlalchemy.engine import Connection

from embermem.core.types import OwnerId, Waiting, WaitsFor
from embermem.store import schema
from embermem.store.codec import micros, moment
from embermem.store.projector import NO_WAITING
from embermem.store.queries import reads

Whose = Callable[[Any], ColumnElement[bool]]
"""Says of a column of owners' ids whose rows are meant: one owner's, or those of some owners."""


def one(owner_id: OwnerId) -> Whose:
    """The rows of one owner."""
    return lambda column: column == owner_id


def waiting(c: Connection, whose: Whose, short: int) -> tuple[Waiting, ...]:
    """What waits of an owner, or of some: what failed and what is behind it, one for each reason; with `short` pages of
    short-term memory."""
    return (*_for_a_place(c, whose, short), *_placed(c, whose))


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


def _for_a_place(c: Connection, whose: Whose, short: int) -> Iterator[Waiting]:
    """Pages are placed in order: with the first of an owner's that waits all behind it do."""
    owner, page, behind = schema.owner, schema.page, schema.page.alias("behind")
    first = (
        select(page.c.owner_id, func.min(page.c.no).label("no"))
        .where(whose(page.c.owner_id), page.c.segment_id.is_(None), page.c.retry_at > 0)  # by the index of what waits
        .group_by(page.c.owner_id)
        .subquery()
    )
    rows = c.execute(
        select(page.c.error, func.count().label("pages"), func.min(page.c.retry_at).label("until"))
        .select_from(first)
        .join(page, and_(page.c.owner_id == first.c.owner_id, page.c.no == first.c.no))
        .join(owner, owner.c.owner_id == page.c.owner_id)
        .join(behind, and_(behind.c.owner_id == page.c.owner_id, behind.c.segment_id.is_(None)))
        .where(whose(page.c.owner_id))  # said again, since Citus does not see it through the groups
        .where(behind.c.no.between(first.c.no, owner.c.pages - short))
        .group_by(page.c.error)
        .order_by(func.min(page.c.retry_at), page.c.error)
    )
    yield from _told(WaitsFor.PLACE, rows)


def _placed(c: Connection, whose: Whose) -> Iterator[Waiting]:
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
            .where(whose(page.c.owner_id), at.is_not(None), segment.c.evicted_no.is_(None), *more)
            .group_by(page.c.error)
            .order_by(func.min(at), page.c.error)
        )
        yield from _told(waits_for, rows)


def _told(waits_for: WaitsFor, rows: Iterable[Any]) -> Iterator[Waiting]:
    for row in rows:
        yield Waiting(waits_for=waits_for, pages=row.pages, reason=row.error or "", until=moment(row.until))
