"""Deriving an owner's memory again from its log of changes, in the transaction of whoever asks."""

from __future__ import annotations

from sqlalchemy import or_, select
from sqlalchemy.engine import Connection

from embermem.core.types import OwnerId
from embermem.store import schema
from embermem.store.projector import NO_WAITING, Projector, forget_derived
from embermem.store.queries.changes import index_again, parts
from embermem.store.queries.retaining import drop_visits
from embermem.store.statements import set_owner, update_rows
from embermem.store.states import counted, folded_anew

_KEPT = ("embedder", "vector_sum")
"""What a segment has that no change holds."""


def replay(c: Connection, owner_id: OwnerId) -> None:
    """Derive everything again. Vectors, waits, and visits that wait, which no change holds, are kept. Readers begin
    anew."""
    segment, page, owner = schema.segment, schema.page, schema.owner
    waits = or_(page.c.attempts > 0, *(page.c[name].is_not(None) for name in NO_WAITING if name != "attempts"))
    kept = [
        (table, names[0], c.execute(query.with_only_columns(*(table.c[name] for name in names))).mappings().all())
        for table, names, query in (
            (page, ("page_id", *NO_WAITING), select(page).where(page.c.owner_id == owner_id, waits)),
            (segment, ("segment_id", *_KEPT), select(segment).where(segment.c.owner_id == owner_id)),
        )
    ]
    forget_derived(c, owner_id)
    embedded = c.scalar(select(owner.c.embedded_seq).where(owner.c.owner_id == owner_id))
    for some in parts(c, owner_id):
        projector = Projector(c, owner_id)
        for change in some:
            projector.stage(change)
        projector.flush()
    for table, key, rows in kept:
        update_rows(c, table, owner_id, (key,), rows)
    index_again(c, owner_id)
    state = folded_anew(c, owner_id)
    drop_visits(c, owner_id, state)
    set_owner(c, owner_id, reset_no=owner.c.revision, embedded_seq=embedded, **counted(state))
