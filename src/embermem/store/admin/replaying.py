"""Deriving an owner's memory again from its log of changes, in the transaction of whoever asks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Table, bindparam, or_, select, update
from sqlalchemy.engine import Connection, Row

from embermem.core.types import OwnerId
from embermem.store import schema
from embermem.store.projector import NO_WAITING, Projector, forget_derived
from embermem.store.queries.changes import changes

_REPLAYED_AT_ONCE = 200
"""Changes held in memory while they are applied again."""
_KEPT = ("visits", "visited_at", "embedder", "vector_sum")
"""What a segment has that no change holds."""
_USED = ("visits", "visited_at")
"""What a fact has that no change holds."""


def replay(c: Connection, owner_id: OwnerId) -> None:
    """Derive everything again. Counters, vectors and waits, which no change holds, are kept. Readers begin anew."""
    segment, page, owner, fact = schema.segment, schema.page, schema.owner, schema.fact
    kept = c.execute(select(segment).where(segment.c.owner_id == owner_id)).all()
    used = c.execute(
        select(fact.c.fact_id, *(fact.c[name] for name in _USED)).where(
            fact.c.owner_id == owner_id, fact.c.visits.is_not(None)
        )
    ).all()
    waiting = c.execute(
        select(page.c.page_id, *(page.c[name] for name in NO_WAITING))
        .where(page.c.owner_id == owner_id)
        .where(or_(page.c.attempts > 0, *(page.c[name].is_not(None) for name in NO_WAITING if name != "attempts")))
    ).all()
    forget_derived(c, owner_id)
    embedded = c.scalar(select(owner.c.embedded_seq).where(owner.c.owner_id == owner_id))
    done = 0
    while some := changes(c, owner_id, done, _REPLAYED_AT_ONCE):
        projector = Projector(c, owner_id)
        for change in some:
            projector.stage(change)
        projector.flush()
        done = some[-1].no
    _put_back(c, page, owner_id, "page_id", tuple(NO_WAITING), waiting)
    _put_back(c, segment, owner_id, "segment_id", _KEPT, kept)
    _put_back(c, fact, owner_id, "fact_id", _USED, used)
    c.execute(
        update(owner).where(owner.c.owner_id == owner_id).values(reset_no=owner.c.revision, embedded_seq=embedded)
    )


def _put_back(
    c: Connection, table: Table, owner_id: OwnerId, key: str, columns: Sequence[str], rows: Sequence[Row[Any]]
) -> None:
    """Give rows that are still there the values that they had."""
    statement = (
        update(table)
        .where(table.c.owner_id == owner_id, table.c[key] == bindparam("k_id"))
        .values({column: bindparam(f"b_{column}") for column in columns})
    )
    if rows:
        c.execute(
            statement,
            [
                {"k_id": getattr(row, key), **{f"b_{column}": getattr(row, column) for column in columns}}
                for row in rows
            ],
        )
