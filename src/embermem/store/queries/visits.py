"""Visits of segments and facts: those that changes tell of are folded with topics; those since the last change wait in
rows of their own, and the next change of the owner takes them away and says them (changes.Visited)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, case, delete, select
from sqlalchemy.engine import Connection, Row

from embermem.core.state import NO_VISITS, PersonaState, Visits
from embermem.core.state import visits as counted
from embermem.core.types import FactId, ItemId, OwnerId
from embermem.store import schema
from embermem.store.engines.words import upsert
from embermem.store.queries.reads import accessed, chunks, unanalysed_counts
from embermem.store.states import Known

_visit = schema.visit.c
_WAITING = select(_visit.item_id, _visit.visits, _visit.visited_at).where(_visit.owner_id == bindparam("owner"))
_SEGMENTS = select(schema.segment.c.segment_id).where(
    schema.segment.c.owner_id == bindparam("owner"), schema.segment.c.segment_id.in_(bindparam("some", expanding=True))
)


def of(c: Connection, known: Known, no: int | None = None) -> Mapping[str, Visits]:
    """The visits of each segment and fact that has any, as change `no` left them; None: now."""
    return counted(known.topics_at(no), () if no is not None else c.execute(_WAITING, {"owner": known.owner_id}).all())


def counters(c: Connection, known: Known, ids: Sequence[str] | None = None) -> Callable[[Row[Any]], Mapping[str, Any]]:
    """What segments count now, all or some, by their rows."""
    unanalysed, visited = unanalysed_counts(c, known.owner_id, ids), of(c, known)
    return lambda row: accessed(
        row.newest_at, unanalysed.get(row.segment_id, 0), visited.get(row.segment_id, NO_VISITS)
    )


def count(c: Connection, known: Known, counts: Mapping[ItemId, int], at: int) -> None:
    """Count visits of the segments and facts that are there, at a time in microseconds."""
    some = sorted(there(c, known.owner_id, known.held.state, counts))
    if some:
        new = upsert(c, schema.visit)
        later = case((_visit.visited_at > new.excluded.visited_at, _visit.visited_at), else_=new.excluded.visited_at)
        more = {"visits": _visit.visits + new.excluded.visits, "visited_at": later}
        rows = [{"owner_id": known.owner_id, "item_id": n, "visits": counts[n], "visited_at": at} for n in some]
        c.execute(new.on_conflict_do_update(index_elements=["owner_id", "item_id"], set_=more), rows)


def missing(c: Connection, owner_id: OwnerId, state: PersonaState) -> set[str]:
    """The items of which visits wait, and that are not there."""
    waiting = {row.item_id for row in c.execute(_WAITING, {"owner": owner_id})}
    return waiting - there(c, owner_id, state, waiting)


def drop_missing(c: Connection, owner_id: OwnerId, state: PersonaState) -> None:
    """Count no visits of what is not there any more."""
    for some in chunks(sorted(missing(c, owner_id, state))):
        c.execute(delete(schema.visit).where(_visit.owner_id == owner_id, _visit.item_id.in_(some)))


def there(c: Connection, owner_id: OwnerId, state: PersonaState, ids: Collection[str]) -> set[ItemId]:
    """The facts and segments among some items."""
    found = {ItemId(one) for one in ids if state.facts.get(FactId(one)) is not None}
    for some in chunks(sorted({*ids} - found)):
        found |= {ItemId(one) for one in c.scalars(_SEGMENTS, {"owner": owner_id, "some": some})}
    return found
