"""What consolidation asks of the store: leases, what is due, and applying changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import and_, bindparam, case, delete, exists, func, insert, literal, or_, select, true, update
from sqlalchemy.engine import Connection

from embermem.core.changes import BegunAnew, Cause, Change, Decision, FactAdded, FactExpires, Moves, kind_of
from embermem.core.errors import EmbedderMismatch, RevisionMoved, StaleLease
from embermem.core.types import ChainId, ChainTail, FactId, Owner, OwnerId, PageId, PageView, SegmentId, ThreadId
from embermem.protocols import (
    Lease,
    NotedPage,
    SegmentState,
    VectorBatch,
)
from embermem.store import schema
from embermem.store.admin.replaying import replay
from embermem.store.codec import decisions_text, micros, moment, vector_bytes
from embermem.store.projector import Projector
from embermem.store.queries import reads
from embermem.store.statements import due_from, ensure_owner, locked_owner, remember, setting, unclaimed
from embermem.store.transactions import Transactions

if TYPE_CHECKING:
    from embermem.core.types import Vector, Vectors


class Work(Transactions):
    """Claims and changes of one owner."""

    def claim(self, owner_id: OwnerId, by: str, now: datetime, seconds: float) -> Lease | None:
        """One conditional update of the owner's row. While it is held the owner is due when the lease runs out; what
        comes in meanwhile is due earlier, and so is seen at release. Another's lease that ends more than twice as far
        ahead is of a clock gone wrong, and does not hold."""
        table, at = schema.owner, micros(now)
        until = at + int(seconds * 1e6)
        with self._write() as c:
            token = c.scalar(
                update(table)
                .where(table.c.owner_id == owner_id, unclaimed(at, seconds))
                .values(lease_by=by, lease_token=table.c.lease_token + 1, lease_until=until, due_at=until)
                .returning(table.c.lease_token)
            )
        return None if token is None else Lease(owner_id=owner_id, by=by, token=token)

    def renew(self, lease: Lease, now: datetime, seconds: float) -> None:
        """A sign of life; also revives a lease that ran out and that nobody else took."""
        table, until = schema.owner, micros(now) + int(seconds * 1e6)
        with self._write() as c:
            held = c.execute(
                update(table)
                .where(*_held(lease))
                .values(
                    lease_until=until, due_at=case((table.c.due_at < table.c.lease_until, table.c.due_at), else_=until)
                )
            )
            if held.rowcount == 0:
                raise _stale(lease)

    def release(self, lease: Lease, *, due_at: datetime | None, error: str | None) -> None:
        """Give the lease back. What came in meanwhile keeps the owner due, unless the work failed and must wait."""
        table = schema.owner
        at = None if due_at is None else micros(due_at)
        sooner = table.c.due_at if at is None else case((table.c.due_at < at, table.c.due_at), else_=at)
        said = schema.utterance
        bare = exists().where(said.c.owner_id == lease.owner_id, said.c.seq > table.c.embedded_seq)
        came_in = or_(table.c.due_at < table.c.lease_until, bare)
        with self._write() as c:
            locked_owner(c, lease.owner_id)  # what is being said now is seen to the end first
            c.execute(
                update(table)
                .where(*_held(lease))
                .values(
                    lease_by=None,
                    lease_until=None,
                    error=error,
                    failures=0 if error is None else table.c.failures + 1,
                    due_at=at if error is not None else case((came_in, sooner), else_=at),
                )
            )

    def apply(
        self,
        owner: Owner,
        cause: Cause,
        analyst: str,
        decisions: Sequence[Decision],
        *,
        now: datetime,
        revision: int,
        lease: Lease | None,
        vectors: VectorBatch | None = None,
        segment_vectors: Mapping[SegmentId, Vector] | None = None,
    ) -> Change:
        """The next change, and all that it derives, in one transaction; see protocols.Store."""
        change = Change(no=revision + 1, cause=cause, analyst=analyst, recorded_at=now, decisions=tuple(decisions))
        table, at = schema.owner, micros(now)
        with self._write() as c:
            ensure_owner(c, owner, at)
            values: dict[str, Any] = {"revision": change.no}
            moves = {kind_of(decision).moves for decision in decisions}
            if not moves <= {Moves.NOTHING}:
                values["persona_no"] = change.no
            if Moves.ALL in moves:
                values["reset_no"] = change.no
            if any(_makes_due(decision) for decision in decisions):
                values["due_at"] = due_from(at)
            moved = c.execute(
                update(table)
                .where(table.c.owner_id == owner.id, table.c.revision == revision)
                .where(*(() if lease is None else _held(lease)))
                .values(**values)
            )
            if moved.rowcount == 0:
                raise _refusal(c, owner.id, revision, lease)
            c.execute(
                insert(schema.change).values(
                    owner_id=owner.id,
                    no=change.no,
                    cause=cause.value,
                    analyst=analyst,
                    recorded_at=at,
                    decisions=decisions_text(change.decisions),
                )
            )
            embedder = setting(c, "embedder")
            if vectors is not None:
                if embedder and vectors.embedder != embedder:
                    raise EmbedderMismatch(
                        f"the store is now of {embedder!r}, these vectors are of {vectors.embedder!r}: open it again"
                    )
                _write_vectors(c, owner.id, change.no, vectors)
            sums = {key: (embedder, vector) for key, vector in (segment_vectors or {}).items()}
            projector = Projector(c, owner.id)
            projector.stage(change)
            projector.flush(sums)
        return change

    def postpone(
        self, lease: Lease, page_ids: Sequence[PageId], error: str, retry_at: datetime, *, tried: bool = True
    ) -> None:
        """Keep the error, and count an attempt if there was one; the page stays as it is."""
        attempts = schema.page.c.attempts + int(tried)
        self._wait(lease, page_ids, attempts=attempts, error=error, retry_at=micros(retry_at))

    def postpone_redo(self, lease: Lease, page_ids: Sequence[PageId], error: str, redo_at: datetime) -> None:
        """Keep the error, and count a try at reading the pages again if there is one."""
        tries = func.coalesce(schema.page.c.redo_tries, 0) + int(bool(error))
        self._wait(lease, page_ids, redo_tries=tries, error=error or None, redo_at=micros(redo_at))

    def _wait(self, lease: Lease, page_ids: Sequence[PageId], **values: Any) -> None:
        page = schema.page
        with self._write() as c:
            if c.scalar(select(schema.owner.c.owner_id).where(*_held(lease)).with_for_update()) is None:
                raise _stale(lease)
            c.execute(
                update(page).where(page.c.owner_id == lease.owner_id, page.c.page_id.in_(page_ids)).values(**values)
            )

    def unread(self, owner_id: OwnerId, short: int, limit: int, *, open_too: bool) -> tuple[PageView, ...]:
        """Pages with something no analyst has read, fully embedded, oldest first."""
        page, owner, later = schema.page, schema.owner, schema.page.alias("later")
        followed = exists().where(later.c.owner_id == owner_id, later.c.thread == page.c.thread, later.c.no > page.c.no)
        with self._read() as c:
            rows = c.execute(
                reads.select_pages(owner_id)
                .where(page.c.annotated_seq < page.c.last_seq, page.c.last_seq <= owner.c.embedded_seq)
                .where(true() if open_too else or_(page.c.answered, page.c.no <= owner.c.pages - short, followed))
                .order_by(page.c.no)
                .limit(limit)
            ).all()
            return reads.page_views(c, owner_id, rows, 0, setting(c, "embedder"))

    def pending(self, owner_id: OwnerId, short: int, limit: int, now: datetime) -> tuple[NotedPage, ...]:
        """The oldest pages to be placed; it stops at one that is not read yet or must wait, so that order is kept."""
        page, owner = schema.page, schema.owner
        with self._read() as c:
            rows = c.execute(
                _with_note(reads.select_pages(owner_id))
                .add_columns(and_(page.c.chain_id.is_not(None), page.c.last_seq <= owner.c.embedded_seq).label("read"))
                .where(_is_pending(short))
                .order_by(page.c.no)
                .limit(limit)
            ).all()
            ready = []
            for row in rows:
                if not row.read or (row.retry_at is not None and row.retry_at > micros(now)):
                    break
                ready.append(row)
            return reads.noted_pages(c, owner_id, ready, short, setting(c, "embedder"))

    def pending_since(
        self, owner_id: OwnerId, short: int, after: datetime | None = None
    ) -> tuple[int, datetime | None, datetime | None]:
        """How many are pending before the first that failed, since when the oldest, until when a failed one waits."""
        page, owner = schema.page, schema.owner
        with self._read() as c:
            query = (
                select(page.c.recorded_at)
                .join(owner, owner.c.owner_id == page.c.owner_id)
                .where(page.c.owner_id == owner_id, _is_pending(short))
            )
            failed = c.scalar(
                select(func.min(page.c.no)).where(
                    page.c.owner_id == owner_id, page.c.segment_id.is_(None), page.c.retry_at.is_not(None)
                )
            )
            if failed is not None:
                query = query.where(page.c.no < failed)
            count = c.scalar(select(func.count()).select_from(query.subquery())) or 0
            # A page is pending since the one that took its place in short-term memory came, or, where that is
            # forgotten, the next one.
            left = page.alias("left")
            since = (
                select(left.c.recorded_at)
                .where(left.c.owner_id == owner_id, left.c.no >= page.c.no + short)
                .order_by(left.c.no)
                .limit(1)
                .scalar_subquery()
            )
            oldest = c.scalar(
                query.with_only_columns(func.coalesce(since, page.c.recorded_at)).order_by(page.c.no).limit(1)
            )
            retry_at = c.scalar(
                select(func.min(page.c.retry_at)).where(
                    page.c.owner_id == owner_id, page.c.retry_at > (-1 if after is None else micros(after))
                )
            )
        return count, None if oldest is None else moment(oldest), None if retry_at is None else moment(retry_at)

    def read_by(self, owner_id: OwnerId, analyst: str, now: datetime) -> Mapping[SegmentId, int]:
        """Where pages are that this analyst read last and that need not wait."""
        page = schema.page
        with self._read() as c:
            rows = c.execute(
                _read_by(owner_id, analyst, page.c.segment_id, func.count().label("pages"))
                .where(_may_be_redone(now))
                .group_by(page.c.segment_id)
            )
            return {SegmentId(row.segment_id): row.pages for row in rows}

    def pages_read_by(
        self, owner_id: OwnerId, segment_id: SegmentId, analyst: str, limit: int, now: datetime
    ) -> tuple[NotedPage, ...]:
        """Those of one segment, oldest first."""
        page, note = schema.page, schema.note
        with self._read() as c:
            rows = c.execute(
                _with_note(reads.select_pages(owner_id))
                .where(page.c.segment_id == segment_id, note.c.analyst == analyst, _may_be_redone(now))
                .where(page.c.annotated_seq == page.c.last_seq)  # else it is read first, as it stands now
                .order_by(page.c.no)
                .limit(limit)
            ).all()
            found = reads.noted_pages(c, owner_id, rows, 0, setting(c, "embedder"))
            return tuple(
                replace(noted, attempts=row.redo_tries or 0, retry_at=None)
                for noted, row in zip(found, rows, strict=True)
            )

    def redo_since(self, owner_id: OwnerId, analyst: str) -> datetime | None:
        """The earliest time at which one of them may be read again; long ago for one that need not wait."""
        with self._read() as c:
            first = c.scalar(_read_by(owner_id, analyst, func.min(func.coalesce(schema.page.c.redo_at, 0))))
        return None if first is None else moment(first)

    def chain_ends(
        self, owner_id: OwnerId, chain_ids: Sequence[ChainId], within: SegmentId | None
    ) -> Mapping[ChainId, int]:
        """The number of each chain's newest page."""
        page = schema.page
        query = select(page.c.chain_id, func.max(page.c.no).label("no")).where(
            page.c.owner_id == owner_id, page.c.chain_id.in_(chain_ids)
        )
        if within is not None:
            query = query.where(page.c.segment_id == within)
        with self._read() as c:
            return {ChainId(row.chain_id): row.no for row in c.execute(query.group_by(page.c.chain_id))}

    def tails(self, owner_id: OwnerId, before: Mapping[ThreadId, int]) -> Mapping[ThreadId, ChainTail]:
        """The newest chained page of each thread below a number, with its chain's summary."""
        page, chain = schema.page, schema.chain
        found: dict[ThreadId, ChainTail] = {}
        with self._read() as c:
            embedder = setting(c, "embedder")
            for thread, no in before.items():
                row = c.execute(
                    reads.select_pages(owner_id)
                    .where(page.c.thread == thread, page.c.no < no, page.c.chain_id.is_not(None))
                    .order_by(page.c.no.desc())
                    .limit(1)
                ).first()
                if row is None:
                    continue
                told = c.execute(
                    select(chain.c.summary, chain.c.change_no).where(
                        chain.c.owner_id == owner_id, chain.c.chain_id == row.chain_id, chain.c.retired_no.is_(None)
                    )
                ).first()
                view, chain_id = reads.page_views(c, owner_id, [row], 0, embedder)[0], ChainId(row.chain_id)
                if told is None:
                    found[thread] = ChainTail(view=view, chain_id=chain_id, summary="")
                    continue
                sources = reads.sources_of(c, owner_id, "chain", {chain_id: told.change_no})
                found[thread] = ChainTail(
                    view=view, chain_id=chain_id, summary=told.summary, sources=sources.get(chain_id, ())
                )
        return found

    def segment_states(self, owner_id: OwnerId) -> tuple[SegmentState, ...]:
        """The segments of mid-term memory, oldest first."""
        with self._read() as c:
            counts = reads.unanalysed_counts(c, owner_id)
            embedder = setting(c, "embedder")
            rows = c.execute(reads.select_segments(owner_id).where(schema.segment.c.evicted_no.is_(None)))
            return tuple(reads.segment_state_from(row, embedder, counts.get(row.segment_id, 0)) for row in rows)

    def unanalysed(self, owner_id: OwnerId, segment_id: SegmentId) -> tuple[NotedPage, ...]:
        """The segment's pages with something not yet analysed."""
        page = schema.page
        with self._read() as c:
            rows = c.execute(
                _with_note(reads.select_pages(owner_id))
                .where(page.c.segment_id == segment_id, page.c.analysed_seq < page.c.last_seq)
                .order_by(page.c.no)
            ).all()
            return reads.noted_pages(c, owner_id, rows, 0, setting(c, "embedder"))

    def page_vectors(self, owner_id: OwnerId, segment_id: SegmentId) -> Vectors:
        """The vectors of a segment's pages."""
        with self._read() as c:
            embedder, dim = setting(c, "embedder"), int(setting(c, "dim") or 0)
            rows = c.execute(
                reads.select_pages(owner_id).where(schema.page.c.segment_id == segment_id).order_by(schema.page.c.no)
            ).all()
            views = reads.page_views(c, owner_id, rows, 0, embedder)
        own = [view.vector for view in views if view.vector is not None]
        return np.stack(own) if own else np.zeros((0, dim), dtype=np.float32)

    def segments_without_vector(self, owner_id: OwnerId, embedder: str) -> tuple[SegmentId, ...]:
        """Segments whose vector is of another embedder, or missing."""
        table = schema.segment
        with self._read() as c:
            rows = c.scalars(
                select(table.c.segment_id).where(
                    table.c.owner_id == owner_id, or_(table.c.embedder.is_(None), table.c.embedder != embedder)
                )
            )
            return tuple(SegmentId(row) for row in rows)

    def unembedded(self, owner_id: OwnerId) -> int:
        """How many utterances have no vector yet."""
        with self._read() as c:
            return reads.unembedded(c, owner_id)

    def begin_reindex(self, embedder: str, dim: int, now: datetime) -> None:
        """The store changes its embedder: every owner's vectors are due again. One transaction, no vector touched.
        Leases end: what is worked out with the old vectors is refused."""
        owner, change = schema.owner, schema.change
        with self._write() as c:
            remember(c, {"embedder": embedder, "dim": str(dim)})
            c.execute(select(owner.c.owner_id).order_by(owner.c.owner_id).with_for_update())
            columns = ["owner_id", "no", "cause", "analyst", "recorded_at", "decisions"]
            begun = (literal(Cause.REINDEX.value), literal(embedder), literal(micros(now)), literal(decisions_text(())))
            c.execute(insert(change).from_select(columns, select(owner.c.owner_id, owner.c.revision + 1, *begun)))
            c.execute(
                update(owner).values(
                    embedded_seq=0,
                    due_at=0,
                    revision=owner.c.revision + 1,
                    reset_no=owner.c.revision + 1,
                    lease_by=None,
                    lease_until=None,
                    lease_token=owner.c.lease_token + 1,
                )
            )

    def visit(
        self,
        owner_id: OwnerId,
        segments: Mapping[SegmentId, int],
        now: datetime,
        facts: Mapping[FactId, int] | None = None,
    ) -> None:
        """Count visits of segments and of facts, and their time."""
        table, fact, at = schema.segment, schema.fact, micros(now)
        with self._write() as c:
            locked_owner(
                c, owner_id
            )  # first, as all who write of an owner do: two in another order wait for each other
            for segment_id, visits in segments.items():
                c.execute(
                    update(table)
                    .where(table.c.owner_id == owner_id, table.c.segment_id == segment_id)
                    .values(
                        visits=table.c.visits + visits,
                        visited_at=case((table.c.visited_at > at, table.c.visited_at), else_=at),
                    )
                )
            if facts:
                c.execute(
                    update(fact)
                    .where(fact.c.owner_id == owner_id, fact.c.fact_id == bindparam("k_fact"))
                    .values(
                        visits=func.coalesce(fact.c.visits, 0) + bindparam("k_visits"),
                        visited_at=case((fact.c.visited_at > at, fact.c.visited_at), else_=at),
                    ),
                    [{"k_fact": fact_id, "k_visits": visits} for fact_id, visits in facts.items()],
                )
            owner = schema.owner
            c.execute(update(owner).where(owner.c.owner_id == owner_id).values(due_at=due_from(at)))

    def replay(self, owner_id: OwnerId) -> None:
        """Derive everything again from the changes. Counters, vectors and waits, which no change holds, are kept."""
        with self._write() as c:
            locked_owner(c, owner_id)
            replay(c, owner_id)


def _makes_due(decision: Decision) -> bool:
    """Whether it brings work: all is to be read again, or something is to end at a time."""
    return isinstance(decision, BegunAnew | FactExpires) or (
        isinstance(decision, FactAdded) and decision.expires_at is not None
    )


def _held(lease: Lease) -> tuple[Any, ...]:
    table = schema.owner
    return (
        table.c.owner_id == lease.owner_id,
        table.c.lease_token == lease.token,
        table.c.lease_by == lease.by,
    )


def _stale(lease: Lease) -> StaleLease:
    return StaleLease(f"the lease {lease.token} of {lease.by} no longer holds; another worker took over")


def _refusal(c: Connection, owner_id: OwnerId, revision: int, lease: Lease | None) -> StaleLease | RevisionMoved:
    now = c.scalar(select(schema.owner.c.revision).where(schema.owner.c.owner_id == owner_id))
    if lease is not None and now == revision:
        return _stale(lease)
    return RevisionMoved(f"the owner stands at change {now}, not at {revision}")


def _is_pending(short: int) -> Any:
    page, owner = schema.page, schema.owner
    return and_(page.c.segment_id.is_(None), page.c.no <= owner.c.pages - short)


def _read_by(owner_id: OwnerId, analyst: str, *columns: Any) -> Any:
    """Pages of mid-term memory whose note is of this analyst. The notes' index finds them: there are few, or much to
    do."""
    note, page, segment = schema.note, schema.page, schema.segment
    return (
        select(*columns)
        .select_from(note)
        .join(page, and_(page.c.owner_id == note.c.owner_id, page.c.page_id == note.c.page_id))
        .join(segment, and_(segment.c.owner_id == page.c.owner_id, segment.c.segment_id == page.c.segment_id))
        .where(note.c.owner_id == owner_id, note.c.analyst == analyst, note.c.retired_no.is_(None))
        .where(segment.c.evicted_no.is_(None))
    )


def _may_be_redone(now: datetime) -> Any:
    redo_at = schema.page.c.redo_at
    return or_(redo_at.is_(None), redo_at <= micros(now))


def _with_note(query: Any) -> Any:
    return query.add_columns(schema.note.c.proposals)


def _write_vectors(c: Connection, owner_id: OwnerId, no: int, batch: VectorBatch) -> None:
    table = schema.embedding
    packed: Sequence[bytes | None] = batch.tokens or [None] * len(batch.seqs)
    c.execute(delete(table).where(table.c.owner_id == owner_id, table.c.seq.in_(list(batch.seqs))))
    c.execute(
        insert(table),
        [
            {
                "owner_id": owner_id,
                "seq": int(seq),
                "embedder": batch.embedder,
                "change_no": no,
                "data": vector_bytes(vector),
                "tokens": tokens,
            }
            for seq, vector, tokens in zip(batch.seqs, batch.vectors, packed, strict=True)
        ],
    )
