"""How long memories last: when they were used, and when they expire."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.engine import Connection

from embermem.core.changes import Cause, Change
from embermem.core.state import NO_VISITS, Visits
from embermem.core.types import Fact, Owner, OwnerId, PageId
from embermem.protocols import HELD, Receipt, Use
from embermem.store import schema
from embermem.store.codec import micros, zoned
from embermem.store.queries import reads, visits
from embermem.store.queries.changes import log
from embermem.store.queries.persona import facts
from embermem.store.statements import due_from, locked_owner, setting, write_receipt
from embermem.store.states import Known, States


class Retaining(States):
    """Uses and expiry of one owner's memories."""

    def uses(self, owner_id: OwnerId) -> tuple[Use, ...]:
        segment = schema.segment
        with self._read() as c:
            known = self._known(c, owner_id, topics=True)
            visited, held = visits.of(c, known), facts(c, known, HELD)
            counts, embedder = reads.unanalysed_counts(c, owner_id), setting(c, "embedder")
            rows = c.execute(reads.select_segments(owner_id).where(segment.c.evicted_no.is_(None))).all()
            segments = [
                reads.segment_from(
                    row, embedder, counts.get(row.segment_id, 0), visits=visited.get(row.segment_id, NO_VISITS)
                )
                for row in rows
            ]
        told = _told_last(known)
        return (
            *(_use(fact, visited.get(fact.id, NO_VISITS), told[fact.id]) for fact in held),
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
        """Set when a page expires, or (None) that it does not; False for a page that there is not.

        It is no decision, since a page is not derived; a change without any tells readers to look.
        """
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
    change = Change(no=revision, cause=Cause.EXPIRY, analyst="", recorded_at=now, decisions=())
    log(c, owner_id, visits.told_in(c, owner_id, change))


def _use(fact: Fact, visited: Visits, told: datetime) -> Use:
    return Use(item=fact, visits=visited.times, last=told if visited.at is None else max(told, visited.at))


def _told_last(known: Known) -> dict[str, datetime]:
    """When each fact was told of last: said again, restored, ruled on."""
    recorded = known.held.state.recorded
    return {
        fact.added.fact_id: max(recorded[fact.no], recorded[fact.states[-1].began])
        for fact, state in known.newest.facts()
        if state.ended_no is None
    }
