"""Visits of segments and facts: those that changes tell of are folded with topics; those since the last change wait in
rows of their own, and the next change of the owner takes them away and says them (changes.Visited)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from sqlalchemy import bindparam, case, delete, select
from sqlalchemy.engine import Connection

from embermem.core.changes import BegunAnew, Change, VisitCount, Visited
from embermem.core.state import PersonaState, Visits
from embermem.core.state import visits as counted
from embermem.core.types import FactId, ItemId, OwnerId
from embermem.store import schema
from embermem.store.codec import moment
from embermem.store.engines.words import upsert
from embermem.store.queries.reads import chunks
from embermem.store.states import Known

_visit = schema.visit.c
_WAITING = select(_visit.item_id, _visit.visits, _visit.visited_at).where(_visit.owner_id == bindparam("owner"))
_TAKEN = (
    delete(schema.visit)
    .where(_visit.owner_id == bindparam("owner"))
    .returning(_visit.item_id, _visit.visits, _visit.visited_at)
)
_SEGMENTS = select(schema.segment.c.segment_id).where(
    schema.segment.c.owner_id == bindparam("owner"), schema.segment.c.segment_id.in_(bindparam("some", expanding=True))
)


def of(c: Connection, known: Known, no: int | None = None) -> Mapping[str, Visits]:
    """The visits of each segment and fact that has any, as change `no` left them; None: now."""
    return counted(known.topics_at(no), () if no is not None else c.execute(_WAITING, {"owner": known.owner_id}).all())


def count(c: Connection, owner_id: OwnerId, counts: Mapping[ItemId, int], at: int) -> None:
    """Count visits at a time, in microseconds."""
    rows = [{"owner_id": owner_id, "item_id": one, "visits": n, "visited_at": at} for one, n in counts.items()]
    if rows:
        new = upsert(c, schema.visit)
        later = case((_visit.visited_at > new.excluded.visited_at, _visit.visited_at), else_=new.excluded.visited_at)
        more = {"visits": _visit.visits + new.excluded.visits, "visited_at": later}
        c.execute(new.on_conflict_do_update(index_elements=["owner_id", "item_id"], set_=more), rows)


def told_in(c: Connection, owner_id: OwnerId, change: Change) -> Change:
    """The next change of an owner, with the visits that waited for it, which wait no more. Where it begins memory anew,
    nothing is left that was visited."""
    rows = sorted(c.execute(_TAKEN, {"owner": owner_id}).all())
    if not rows or any(isinstance(one, BegunAnew) for one in change.decisions):
        return change
    items = (VisitCount(item_id=ItemId(item_id), visits=n, at=moment(at)) for item_id, n, at in rows)
    return replace(change, decisions=(*change.decisions, Visited(items=tuple(items))))


def missing(c: Connection, owner_id: OwnerId, state: PersonaState) -> set[str]:
    """The items of which visits wait, and that are not there."""
    waiting = {row.item_id for row in c.execute(_WAITING, {"owner": owner_id})}
    waiting -= facts_among(state, waiting)
    return waiting - segments_among(c, owner_id, waiting) if waiting else waiting


def drop_missing(c: Connection, owner_id: OwnerId, state: PersonaState) -> None:
    """Count no visits of what is not there any more."""
    for some in chunks(sorted(missing(c, owner_id, state))):
        c.execute(delete(schema.visit).where(_visit.owner_id == owner_id, _visit.item_id.in_(some)))


def segments_among(c: Connection, owner_id: OwnerId, ids: Collection[str]) -> set[ItemId]:
    """The segments among some items."""
    found = (c.scalars(_SEGMENTS, {"owner": owner_id, "some": some}) for some in chunks(sorted(ids)))
    return {ItemId(one) for some in found for one in some}


def facts_among(state: PersonaState, ids: Collection[str]) -> set[ItemId]:
    """The facts among some items."""
    return {ItemId(one) for one in ids if state.facts.get(FactId(one)) is not None}
