"""How long memories last: when they were used, and when they expire."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.engine import Connection

from embermem.core.changes import Cause, Change
from embermem.core.state import NO_VISITS
from embermem.core.types import Owner, OwnerId, PageId
from embermem.protocols import HELD, Receipt, Use
from embermem.store import schema
from embermem.store.codec import micros, zoned
from embermem.store.queries import reads, visits
from embermem.store.queries.changes import log
from embermem.store.queries.persona import facts
from embermem.store.statements import due_from, locked_owner, setting, write_receipt
from embermem.store.states import States


class Retaining(States):
    """Uses and expiry of one owner's memories."""

    def uses(self, owner_id: OwnerId) -> tuple[Use, ...]:
        segment = schema.segment
        with self._read() as c:
            known = self._known(c, owner_id, topics=True)
            visited, held, recorded = visits.of(c, known), facts(c, known, HELD), known.held.state.recorded
            embedder, counted = setting(c, "embedder"), visits.counters(c, known)
            rows = c.execute(reads.select_segments(owner_id).where(segment.c.evicted_no.is_(None))).all()
            segments = [reads.segment_from(row, embedder, counted(row)) for row in rows]
        told = {  # said again, restored, ruled on
            one.added.fact_id: max(recorded[one.no], recorded[one.states[-1].began]) for one in known.held.state.facts
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
    log(c, owner_id, Change(no=revision, cause=Cause.EXPIRY, analyst="", recorded_at=now, decisions=()))
