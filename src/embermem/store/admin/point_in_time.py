"""A store brought back to a time: what was recorded later goes, and memory is derived again from what is left.

Both logs say when each of their rows was recorded, so the memory of a time is what replaying the changes until then
gives. Settings, keys, grants and webhooks stay as they are. What was forgotten later is in neither log any more, and
stays forgotten: one change says so, with the marks by which it is known again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import delete, exists, func, or_, select, update
from sqlalchemy.engine import Connection

from embermem.core.changes import Cause, Change, Decision, Erased, FactBarred, TextsBarred
from embermem.core.errors import StoreCorrupt
from embermem.core.ids import made_in
from embermem.core.types import DocumentId, Owner, OwnerId, thread_of
from embermem.store import schema
from embermem.store.admin.checking import unsound
from embermem.store.admin.repairs import roll_up
from embermem.store.admin.replaying import replay
from embermem.store.codec import micros
from embermem.store.engines.owner_alias import drop_alias
from embermem.store.erasing import lose_passages, sum_again
from embermem.store.projector import NO_WAITING
from embermem.store.queries import originals, reads
from embermem.store.queries.changes import changes, log, stood_at
from embermem.store.statements import locked_owner, set_owner
from embermem.store.transactions import Transactions

__all__ = ["PointInTime"]


class PointInTime(Transactions):
    """A store that nobody else uses."""

    def bring_back(self, at: datetime, now: datetime, told: Callable[[int, int], None]) -> int:
        """Every owner as it was known at a time; how many forgettings there were later. Raises StoreCorrupt where the
        log gives no sound memory."""
        owner = schema.owner
        with self._read() as c:
            owners = [reads.owner_from(row) for row in c.execute(select(owner).order_by(owner.c.owner_id))]
        forgotten = 0
        for done, one in enumerate(owners):
            told(done, len(owners))
            with self._write() as c:
                locked_owner(c, one.id)
                forgotten += _bring_back(c, one, at, now)
        told(len(owners), len(owners))
        return forgotten


def _bring_back(c: Connection, owner: Owner, at: datetime, now: datetime) -> int:
    """One owner; how many forgettings there were later."""
    table, mine = schema.owner, schema.owner.c.owner_id == owner.id
    row = c.execute(select(table).where(mine)).one()
    seq, revision = stood_at(c, owner.id, at)
    if not seq and not revision and row.created_at > micros(at):
        for one in schema.OWNED:
            c.execute(delete(one).where(one.c.owner_id == owner.id))
        drop_alias(c, owner.id)
        return 0
    _forget_use(c, owner.id, at)
    if (seq, revision) == (row.seq, row.revision):
        return 0
    late = changes(c, owner.id, revision, causes=(Cause.FORGETTING,), kinds=(Erased, TextsBarred, FactBarred))
    c.execute(delete(schema.change).where(schema.change.c.owner_id == owner.id, schema.change.c.no > revision))
    _cut_utterances(c, owner.id, seq)
    seq, pages, gone = _missing(c, owner.id, revision, late)
    if gone:
        revision += 1
        cause, when = Cause.FORGETTING, late[-1].recorded_at
        log(c, owner.id, Change(no=revision, cause=cause, analyst="", recorded_at=when, decisions=gone))
    _number_again(c, owner.id, seq=seq, pages=pages, revision=revision, now=now)
    c.execute(delete(schema.barred).where(schema.barred.c.owner_id == owner.id))
    replay(c, owner.id)
    sum_again(c, owner.id)
    if found := unsound(c, owner):
        raise StoreCorrupt(
            f"{owner.user} / {owner.agent}: the log up to {at.isoformat()} gives no sound memory: {found[0]}"
        )
    return sum(any(isinstance(one, Erased) for one in change.decisions) for change in late)


def _forget_use(c: Connection, owner_id: OwnerId, at: datetime) -> None:
    """Receipts, calls of a model and visits that wait, and are later: whoever calls again with a key does it anew."""
    receipt, call, visit = schema.receipt, schema.call, schema.visit
    c.execute(delete(receipt).where(receipt.c.owner_id == owner_id, receipt.c.recorded_at > micros(at)))
    c.execute(delete(call).where(call.c.owner_id == owner_id, call.c.at > micros(at)))
    c.execute(delete(visit).where(visit.c.owner_id == owner_id, visit.c.visited_at > micros(at)))


def _cut_utterances(c: Connection, owner_id: OwnerId, seq: int) -> None:
    """All that belongs to utterances after one, and pages and documents of which none is left."""
    said, page, document = schema.utterance, schema.page, schema.document
    late = said.c.owner_id == owner_id, said.c.seq > seq
    cut = set(c.scalars(select(said.c.thread).where(*late).distinct()))
    originals.drop(c, owner_id, select(said.c.id).where(*late))
    for table in (schema.utterance_value, schema.embedding, said):
        c.execute(delete(table).where(table.c.owner_id == owner_id, table.c.seq > seq))
    own = (said.c.owner_id == owner_id, said.c.page_id == page.c.page_id)
    left = exists(select(said.c.seq).where(*own).with_hint(*reads.BY_PAGE))
    c.execute(delete(page).where(page.c.owner_id == owner_id, ~left))
    there = set(c.scalars(select(page.c.thread).where(page.c.owner_id == owner_id, page.c.no < 1).distinct()))
    for one in c.scalars(select(document.c.document_id).where(document.c.owner_id == owner_id)).all():
        if (thread := thread_of(DocumentId(one))) not in there or thread in cut:
            originals.drop(c, owner_id, [one])
            lose_passages(c, owner_id, DocumentId(one))
    roll_up(c, owner_id)


def _missing(
    c: Connection, owner_id: OwnerId, revision: int, late: Sequence[Change]
) -> tuple[int, int, tuple[Decision, ...]]:
    """The last numbers of an utterance and of a page, and what the log must say of those that later forgettings took:
    how many there were, and the marks of all that is not to come back."""
    said, page = schema.utterance, schema.page
    kept = changes(c, owner_id, causes=(Cause.FORGETTING,), kinds=(Erased,))
    known = [one for change in kept for one in change.decisions if isinstance(one, Erased)]
    after = [one for change in late for one in change.decisions if isinstance(one, Erased)]
    utterances = tuple(c.execute(select(func.count(), func.max(said.c.seq)).where(said.c.owner_id == owner_id)).one())
    talk = page.c.owner_id == owner_id, page.c.no >= 1
    pages = tuple(c.execute(select(func.count(), func.max(page.c.no)).where(*talk)).one())
    seq, lost = _last(utterances, sum(one.utterances for one in known))
    no, lost_pages = _last(pages, sum(len(one.pages) - one.passages for one in known))
    ids = sorted(page_id for one in after for page_id in one.pages)[:lost_pages]  # an older page's id is smaller
    facts = tuple(sorted({fact for one in after for fact in one.facts if made_in(fact) <= revision}))
    erased = Erased(pages=tuple(ids), facts=facts, utterances=lost)
    marks = [one for change in late for one in change.decisions if isinstance(one, TextsBarred | FactBarred)]
    return seq, no, (*((erased,) if lost or lost_pages or facts else ()), *marks)


def _last(there: Sequence[Any], forgotten: int) -> tuple[int, int]:
    """The last number that was given, and how many below it are there no more and in no forgetting that is known."""
    count, highest = there[0], there[1]
    last = max(highest or 0, count + forgotten)
    return last, last - count - forgotten


def _number_again(c: Connection, owner_id: OwnerId, *, seq: int, pages: int, revision: int, now: datetime) -> None:
    """The numbers of the owner, and those that others go by, none beyond the logs; all work is due."""
    owner, vector, hook, receipt = schema.owner, schema.embedding, schema.webhook, schema.receipt
    embedded = c.scalar(select(owner.c.embedded_seq).where(owner.c.owner_id == owner_id)) or 0
    token = c.scalar(select(owner.c.lease_token).where(owner.c.owner_id == owner_id)) or 0
    set_owner(
        c,
        owner_id,
        seq=seq,
        pages=pages,
        revision=revision,
        persona_no=revision,
        reset_no=revision,
        embedded_seq=min(embedded, seq),
        due_at=micros(now),
        failures=0,
        error=None,
        lease_by=None,
        lease_until=None,
        lease_token=token + 1,
    )
    newer = vector.c.owner_id == owner_id, vector.c.change_no > revision
    c.execute(update(vector).where(*newer).values(change_no=revision))
    c.execute(update(schema.page).where(schema.page.c.owner_id == owner_id).values(**NO_WAITING))
    beyond = or_(receipt.c.last_seq > seq, receipt.c.change_no > revision)
    c.execute(delete(receipt).where(receipt.c.owner_id == owner_id, beyond))
    attempt: dict[Any, None] = {hook.c[name]: None for name in ("upto_seq", "upto_revision", "retry_at", "lease_until")}
    for column, last in ((hook.c.seq, seq), (hook.c.revision, revision)):
        c.execute(update(hook).where(hook.c.owner_id == owner_id, column > last).values({column: last, **attempt}))
