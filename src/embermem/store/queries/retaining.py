"""How long memories last: when they were used, and when they expire.

The visits that changes tell of are folded with topics; those since the last change wait in rows of their own, and the
next change of the owner takes them away and says them (changes.Visited).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, case, delete, select, update
from sqlalchemy.engine import Connection, Row

from embermem.core.changes import Cause, Change
from embermem.core.state import NO_VISITS, PersonaState, Visits
from embermem.core.state import visits as visits_at
from embermem.core.types import FactId, ItemId, Owner, OwnerId, PageId
from embermem.protocols import HELD, Receipt, Use
from embermem.store import schema
from embermem.store.codec import micros, zoned
from embermem.store.engines.words import upsert
from embermem.store.queries import reads
from embermem.store.queries.changes import log
from embermem.store.queries.persona import facts
from embermem.store.statements import due_from, locked_owner, setting, write_receipt
from embermem.store.states import Known, States

_visit = schema.visit.c
_WAITING = select(_visit.item_id, _visit.visits, _visit.visited_at).where(_visit.owner_id == bindparam("owner"))
_SEGMENTS = select(schema.segment.c.segment_id).where(
    schema.segment.c.owner_id == bindparam("owner"), schema.segment.c.segment_id.in_(bindparam("some", expanding=True))
)


class Retaining(States):
    """Uses and expiry of one owner's memories."""

    def uses(self, owner_id: OwnerId) -> tuple[Use, ...]:
        segment = schema.segment
        with self._read() as c:
            known = self._known(c, owner_id, topics=True)
            visited, held, recorded = visits(c, known), facts(c, known, HELD), known.held.state.recorded
            embedder, counted = setting(c, "embedder"), counters(c, known)
            rows = c.execute(reads.select_segments(owner_id).where(segment.c.evicted_no.is_(None))).all()
            segments = [reads.segment_from(row, embedder, counted(row)) for row in rows]
        told = {  # said again, restored, ruled on
            one.added.fact_id: max(recorded[one.no], recorded[one.last_no]) for one in known.held.state.facts
        }
        use = ((fact, visited.get(fact.id, NO_VISITS)) for fact in held)
        return (
            *(Use(item=fact, visits=of.times, last=max(told[fact.id], of.at or told[fact.id])) for fact, of in use),
            *(Use(item=one, visits=one.visits, last=one.last_access) for one in segments),
        )

    def expired(self, owner_id: OwnerId, now: datetime) -> tuple[frozenset[PageId], frozenset[int]]:
        page, said = schema.page, schema.utterance
        with self._read() as c:
            pages = frozenset(
                PageId(page_id)
                for page_id in c.scalars(
                    select(page.c.page_id).where(
                        page.c.owner_id == owner_id, page.c.expires_at.is_not(None), page.c.expires_at <= micros(now)
                    )
                )
            )
            seqs = frozenset(
                seq
                for ids in reads.chunks(sorted(pages))
                for seq in c.scalars(select(said.c.seq).where(said.c.owner_id == owner_id, said.c.page_id.in_(ids)))
            )
        return pages, seqs

    def expire_page(
        self, owner: Owner, page_id: PageId, at: datetime | None, now: datetime, receipt: Receipt | None = None
    ) -> bool:
        """It is no decision, since a page is not derived; a change without any tells readers to look."""
        page = schema.page
        with self._write() as c:
            if not locked_owner(c, owner.id):
                return False
            set_to = c.execute(
                update(page)
                .where(page.c.owner_id == owner.id, page.c.page_id == page_id)
                .values(zoned("expires_at", at))
            )
            if set_to.rowcount == 0:
                return False
            log_expiry(c, owner.id, now)
            write_receipt(c, owner.id, receipt, micros(now))
        return True


def log_expiry(c: Connection, owner_id: OwnerId, now: datetime) -> None:
    """A change without decisions: readers look again at what has expired, and the owner is due. Its row is held."""
    table = schema.owner
    revision = c.execute(
        update(table)
        .where(table.c.owner_id == owner_id)
        .values(revision=table.c.revision + 1, due_at=due_from(micros(now)))
        .returning(table.c.revision)
    ).scalar_one()
    log(c, owner_id, Change(no=revision, cause=Cause.EXPIRY, analyst="", recorded_at=now, decisions=()))


def visits(c: Connection, known: Known, no: int | None = None) -> Mapping[str, Visits]:
    """The visits of each segment and fact that has any, as change `no` left them; None: now."""
    return visits_at(
        known.topics_at(no), () if no is not None else c.execute(_WAITING, {"owner": known.owner_id}).all()
    )


def counters(c: Connection, known: Known, ids: Sequence[str] | None = None) -> Callable[[Row[Any]], Mapping[str, Any]]:
    """What segments count now, all or some, by their rows."""
    unanalysed, visited = reads.unanalysed_counts(c, known.owner_id, ids), visits(c, known)
    return lambda row: reads.accessed(
        row.newest_at, unanalysed.get(row.segment_id, 0), visited.get(row.segment_id, NO_VISITS)
    )


def count_visits(c: Connection, known: Known, counts: Mapping[ItemId, int], at: int) -> None:
    """Count visits of the segments and facts that are there, at a time in microseconds."""
    some = sorted(_there(c, known.owner_id, known.held.state, counts))
    if some:
        new = upsert(c, schema.visit)
        later = case((_visit.visited_at > new.excluded.visited_at, _visit.visited_at), else_=new.excluded.visited_at)
        more = {"visits": _visit.visits + new.excluded.visits, "visited_at": later}
        rows = [{"owner_id": known.owner_id, "item_id": n, "visits": counts[n], "visited_at": at} for n in some]
        c.execute(new.on_conflict_do_update(index_elements=["owner_id", "item_id"], set_=more), rows)


def missing_visits(c: Connection, owner_id: OwnerId, state: PersonaState) -> set[str]:
    """The items of which visits wait, and that are not there."""
    waiting = {row.item_id for row in c.execute(_WAITING, {"owner": owner_id})}
    return waiting - _there(c, owner_id, state, waiting)


def drop_visits(c: Connection, owner_id: OwnerId, state: PersonaState) -> None:
    """Count no visits of what is not there any more."""
    for some in reads.chunks(sorted(missing_visits(c, owner_id, state))):
        c.execute(delete(schema.visit).where(_visit.owner_id == owner_id, _visit.item_id.in_(some)))


def _there(c: Connection, owner_id: OwnerId, state: PersonaState, ids: Collection[str]) -> set[ItemId]:
    """The facts and segments among some items."""
    found = {ItemId(one) for one in ids if state.facts.get(FactId(one)) is not None}
    for some in reads.chunks(sorted({*ids} - found)):
        found |= {ItemId(one) for one in c.scalars(_SEGMENTS, {"owner": owner_id, "some": some})}
    return found
