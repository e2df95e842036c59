"""How long memories last: when they were used, and when they expire."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.engine import Connection

from embermem.core.changes import Cause, Change
from embermem.core.types import Owner, OwnerId, PageId
from embermem.protocols import HELD, Receipt, Use
from embermem.store import schema
from embermem.store.codec import micros, moment, zoned
from embermem.store.queries import reads
from embermem.store.queries.changes import log
from embermem.store.queries.persona import facts
from embermem.store.statements import due_from, locked_owner, setting, write_receipt
from embermem.store.transactions import Transactions


class Retaining(Transactions):
    """Uses and expiry of one owner's memories."""

    def uses(self, owner_id: OwnerId) -> tuple[Use, ...]:
        segment = schema.segment
        with self._read() as c:
            used = _fact_uses(c, owner_id)
            held = facts(c, owner_id, HELD)
            counts, embedder = reads.unanalysed_counts(c, owner_id), setting(c, "embedder")
            rows = c.execute(reads.select_segments(owner_id).where(segment.c.evicted_no.is_(None))).all()
            segments = [reads.segment_from(row, embedder, counts.get(row.segment_id, 0)) for row in rows]
        return (
            *(Use(item=fact, visits=used[fact.id][0], last=used[fact.id][1]) for fact in held),
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


def _fact_uses(c: Connection, owner_id: OwnerId) -> dict[str, tuple[int, datetime]]:
    """Of each fact how often it was recalled, and when last, or told of last: said again, restored, ruled on."""
    fact, state = schema.fact, schema.fact_state
    rows = c.execute(
        select(fact.c.fact_id, fact.c.visits, fact.c.visited_at, fact.c.recorded_at, state.c.recorded_at.label("told"))
        .outerjoin(
            state,
            (state.c.owner_id == fact.c.owner_id) & (state.c.fact_id == fact.c.fact_id) & state.c.retired_no.is_(None),
        )
        .where(fact.c.owner_id == owner_id, fact.c.retired_no.is_(None))
    )
    return {
        row.fact_id: (row.visits or 0, moment(max(row.recorded_at, row.told or 0, row.visited_at or 0))) for row in rows
    }
