"""Deriving an owner's memory again from its log of changes, in the transaction of whoever asks."""

from __future__ import annotations

from sqlalchemy import or_, select, update
from sqlalchemy.engine import Connection

from embermem.stores import schema
from embermem.stores.apply import NO_WAITING, Applying, forget_derived
from embermem.stores.statements import changes
from embermem.types import OwnerId

_REPLAYED_AT_ONCE = 200
"""Changes held in memory while they are applied again."""


def replay(c: Connection, owner_id: OwnerId) -> None:
    """Derive everything again. Counters, vectors and waits, which no change holds, are kept. Readers begin anew."""
    segment, page, owner = schema.segment, schema.page, schema.owner
    kept = c.execute(select(segment).where(segment.c.owner_id == owner_id)).all()
    waiting = c.execute(
        select(page.c.page_id, *(page.c[name] for name in NO_WAITING))
        .where(page.c.owner_id == owner_id)
        .where(or_(page.c.attempts > 0, *(page.c[name].is_not(None) for name in NO_WAITING if name != "attempts")))
    ).all()
    forget_derived(c, owner_id)
    embedded = c.scalar(select(owner.c.embedded_seq).where(owner.c.owner_id == owner_id))
    done = 0
    while some := changes(c, owner_id, done, _REPLAYED_AT_ONCE):
        for change in some:
            Applying(c, owner_id, change.no, change.recorded_at).apply(change.decisions, {})
        done = some[-1].no
    for row in waiting:
        own = (page.c.owner_id == owner_id, page.c.page_id == row.page_id)
        c.execute(update(page).where(*own).values({name: getattr(row, name) for name in NO_WAITING}))
    for row in kept:
        c.execute(
            update(segment)
            .where(segment.c.owner_id == owner_id, segment.c.segment_id == row.segment_id)
            .values(
                visits=row.visits,
                visited_at=row.visited_at,
                embedder=row.embedder,
                vector_sum=row.vector_sum,
            )
        )
    c.execute(
        update(owner).where(owner.c.owner_id == owner_id).values(reset_no=owner.c.revision, embedded_seq=embedded)
    )
