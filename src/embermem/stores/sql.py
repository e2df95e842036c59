"""The store on SQLAlchemy Core. Every statement names its owner, but for the few that look over a whole store."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import and_, bindparam, case, delete, exists, func, insert, or_, select, true, update
from sqlalchemy.dialects.sqlite import insert as upsert
from sqlalchemy.engine import Connection

from embermem.changes import Cause, Change, Decision
from embermem.errors import EmbedderMismatch, KeyReused, RevisionMoved, StaleLease, StoreClosed
from embermem.ids import new_id
from embermem.paging import PageTail, joins
from embermem.protocols import (
    Delta,
    Finding,
    Lease,
    NotedPage,
    OwnerState,
    OwnerStats,
    PageMark,
    SegmentState,
    Stats,
    VectorBatch,
)
from embermem.stores import migrations, reads, schema, sqlite
from embermem.stores.apply import PERSONA_DECISIONS, Applying, forget_derived
from embermem.stores.codec import decisions_from, decisions_text, micros, moment, offset, vector_bytes
from embermem.types import (
    About,
    Added,
    Chain,
    ChainId,
    ChainTail,
    Fact,
    Message,
    Owner,
    OwnerId,
    Page,
    PageId,
    PageView,
    Persona,
    Segment,
    SegmentId,
    ThreadId,
    Tier,
    Utterance,
    UtteranceId,
)

if TYPE_CHECKING:
    from embermem.types import Vector, Vectors


class SqlStore:
    """One SQLite file. Many threads and processes may use it at once."""

    def __init__(self, path: Path, *, busy_timeout_s: float) -> None:
        self._path = path
        self._busy_timeout_s = busy_timeout_s
        self._pid = os.getpid()
        self._writing = threading.Lock()
        self._closed = False
        sqlite.refuse_foreign(path)
        self._engine = sqlite.make_engine(path, busy_timeout_s)
        with self._errors():
            migrations.prepare(self._engine, path)

    # ----------------------------------------------------------------------------------------------- transactions

    @contextmanager
    def _errors(self) -> Iterator[None]:
        with sqlite.our_errors(self._path):
            yield

    def _after_fork(self) -> None:
        if self._pid != os.getpid():
            self._engine.dispose(close=False)
            self._engine = sqlite.make_engine(self._path, self._busy_timeout_s)
            self._writing = threading.Lock()
            self._pid = os.getpid()

    @contextmanager
    def _read(self) -> Iterator[Connection]:
        self._after_fork()
        if self._closed:
            raise StoreClosed(f"{self._path}: this memory was closed")
        with self._errors(), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def _write(self) -> Iterator[Connection]:
        self._after_fork()
        if self._closed:
            raise StoreClosed(f"{self._path}: this memory was closed")
        with (
            self._writing,
            self._errors(),
            self._engine.connect().execution_options(ember_writes=True) as connection,
            connection.begin(),
        ):
            yield connection

    def close(self) -> None:
        """Give all connections back; the WAL is folded into the file by the last one out."""
        self._closed = True
        with contextlib.suppress(Exception):
            self._engine.dispose()

    # ------------------------------------------------------------------------------------------ the store as a whole

    def setting(self, key: str) -> str | None:
        """What the store remembers under a key."""
        with self._read() as c:
            return c.scalar(select(schema.store.c.value).where(schema.store.c.key == key))

    def remember(self, values: Mapping[str, str]) -> None:
        """Keep values under their keys."""
        with self._write() as c:
            _remember(c, values)

    def owners(self) -> tuple[Owner, ...]:
        """All owners, by user and agent."""
        with self._read() as c:
            rows = c.execute(select(schema.owner).order_by(schema.owner.c.user, schema.owner.c.agent))
            return tuple(reads.owner_from(row) for row in rows)

    def due(self, now: datetime, limit: int) -> tuple[Owner, ...]:
        """Owners with work to do whom no one holds, the longest waiting first."""
        owner, at = schema.owner, micros(now)
        with self._read() as c:
            rows = c.execute(
                select(owner).where(owner.c.due_at <= at, _unclaimed(at)).order_by(owner.c.due_at).limit(limit)
            )
            return tuple(reads.owner_from(row) for row in rows)

    def stats(self, now: datetime, short: int) -> Stats:
        """Counts of the whole store."""
        owner, page = schema.owner, schema.page
        with self._read() as c:
            row = c.execute(
                select(
                    func.count().label("owners"),
                    func.coalesce(func.sum(owner.c.seq), 0).label("utterances"),
                    func.coalesce(func.sum(owner.c.pages), 0).label("pages"),
                    func.coalesce(func.sum(owner.c.seq - owner.c.embedded_seq), 0).label("without_vector"),
                    func.coalesce(func.sum(case((owner.c.due_at <= micros(now), 1), else_=0)), 0).label("due"),
                )
            ).one()
            pending = c.scalar(
                select(func.count())
                .select_from(page)
                .join(owner, owner.c.owner_id == page.c.owner_id)
                .where(page.c.segment_id.is_(None), page.c.no <= owner.c.pages - short)
            )
            settings = {row.key: row.value for row in c.execute(select(schema.store))}
        files = [Path(f"{self._path}{suffix}") for suffix in ("", "-wal", "-shm")]
        return Stats(
            path=str(self._path),
            bytes=sum(file.stat().st_size for file in files if file.exists()),
            owners=row.owners,
            utterances=row.utterances,
            pages=row.pages,
            pending=pending or 0,
            without_vector=row.without_vector,
            due=row.due,
            embedder=settings.get("embedder", ""),
            dim=int(settings.get("dim", 0)),
            schema=migrations.HEAD,
        )

    def check(self) -> tuple[Finding, ...]:
        """Whether the file is sound: SQLite's own check, and counts that must agree."""
        owner, utterance, page = schema.owner, schema.utterance, schema.page
        with self._read() as c:
            said = [str(row[0]) for row in c.exec_driver_sql("PRAGMA quick_check(5)")]
            counted = select(utterance.c.owner_id, func.count().label("n")).group_by(utterance.c.owner_id).subquery()
            gaps = c.scalar(
                select(func.count())
                .select_from(owner.outerjoin(counted, counted.c.owner_id == owner.c.owner_id))
                .where(func.coalesce(counted.c.n, 0) != owner.c.seq)
            )
            failed = c.scalar(select(func.count()).select_from(page).where(page.c.error.is_not(None)))
            stuck = c.scalar(select(func.count()).select_from(owner).where(owner.c.error.is_not(None)))
        findings = [
            Finding(level="ok", what="the database file is sound")
            if said == ["ok"]
            else Finding(level="error", what=f"the database file is damaged: {said[0]}", advice="restore a copy")
        ]
        if gaps:
            findings.append(
                Finding(level="error", what=f"{gaps} owners whose utterances have gaps", advice="restore a copy")
            )
        else:
            findings.append(Finding(level="ok", what="every owner's utterances are without gaps"))
        if failed:
            findings.append(
                Finding(level="warning", what=f"{failed} pages wait for another try", advice="embermem show PAGE")
            )
        if stuck:
            findings.append(
                Finding(level="warning", what=f"the last work on {stuck} owners failed", advice="embermem settle")
            )
        return tuple(findings)

    # ---------------------------------------------------------------------------------------------- what was said

    def append(
        self, owner: Owner, messages: Sequence[Message], *, now: datetime, key: str | None, digest: str, fresh: bool
    ) -> Added:
        """Store messages in one transaction; see protocols.Store."""
        at = micros(now)
        with self._write() as c:
            if key is not None:
                known = _receipt(c, owner.id, key, digest)
                if known is not None:
                    return known
            _ensure_owner(c, owner, at)
            table = schema.owner
            row = c.execute(
                update(table)
                .where(table.c.owner_id == owner.id)
                .values(
                    seq=table.c.seq + len(messages),
                    due_at=case((table.c.due_at < at, table.c.due_at), else_=at),
                )
                .returning(table.c.seq, table.c.pages)
            ).one()
            added = _append(c, owner.id, messages, row.seq - len(messages), row.pages, at, fresh)
            if key is not None:
                c.execute(
                    insert(schema.receipt).values(
                        owner_id=owner.id,
                        key=key,
                        digest=digest,
                        first_seq=row.seq - len(messages) + 1,
                        last_seq=row.seq,
                        recorded_at=at,
                    )
                )
            return added

    def owner_state(self, owner_id: OwnerId) -> OwnerState | None:
        """The owner's row, or None before the first add."""
        with self._read() as c:
            return _state(c, owner_id)

    def set_timezone(self, owner: Owner, timezone: str, now: datetime) -> None:
        """The zone of this owner's times that come without one."""
        with self._write() as c:
            _ensure_owner(c, owner, micros(now))
            c.execute(update(schema.owner).where(schema.owner.c.owner_id == owner.id).values(timezone=timezone))

    def utterances(self, owner_id: OwnerId, after_seq: int, limit: int) -> tuple[Utterance, ...]:
        """The next utterances after a seq, in order."""
        with self._read() as c:
            return _utterances(c, owner_id, after_seq, limit)

    # ------------------------------------------------------------------------------------------------------- work

    def claim(self, owner_id: OwnerId, by: str, now: datetime, seconds: float) -> Lease | None:
        """One conditional update of the owner's row."""
        table, at = schema.owner, micros(now)
        with self._write() as c:
            token = c.scalar(
                update(table)
                .where(table.c.owner_id == owner_id, _unclaimed(at))
                .values(lease_by=by, lease_token=table.c.lease_token + 1, lease_until=at + int(seconds * 1e6))
                .returning(table.c.lease_token)
            )
        return None if token is None else Lease(owner_id=owner_id, by=by, token=token)

    def renew(self, lease: Lease, now: datetime, seconds: float) -> None:
        """A sign of life; also revives a lease that ran out and that nobody else took."""
        with self._write() as c:
            held = c.execute(
                update(schema.owner).where(*_held(lease)).values(lease_until=micros(now) + int(seconds * 1e6))
            )
            if held.rowcount == 0:
                raise _stale(lease)

    def release(self, lease: Lease, *, due_at: datetime | None, error: str | None) -> None:
        """Give the lease back; what came in meanwhile makes the owner due at once."""
        table = schema.owner
        at = None if due_at is None else micros(due_at)
        with self._write() as c:
            c.execute(
                update(table)
                .where(*_held(lease))
                .values(
                    lease_by=None,
                    lease_until=None,
                    error=error,
                    failures=0 if error is None else table.c.failures + 1,
                    due_at=at
                    if error is not None
                    else case((table.c.seq > table.c.embedded_seq, func.coalesce(table.c.due_at, 0)), else_=at),
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
            _ensure_owner(c, owner, at)
            values: dict[str, Any] = {"revision": change.no}
            if any(isinstance(decision, PERSONA_DECISIONS) for decision in decisions):
                values["persona_no"] = change.no
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
            embedder = _setting(c, "embedder")
            if vectors is not None:
                if embedder and vectors.embedder != embedder:
                    raise EmbedderMismatch(
                        f"the store is now of {embedder!r}, these vectors are of {vectors.embedder!r}: open it again"
                    )
                _write_vectors(c, owner.id, change.no, vectors)
            sums = {key: (embedder, vector) for key, vector in (segment_vectors or {}).items()}
            Applying(c, owner.id, change.no, now).apply(change.decisions, sums)
        return change

    def postpone(self, lease: Lease, page_ids: Sequence[PageId], error: str, retry_at: datetime) -> None:
        """Count an attempt on pages and keep the error; the page stays pending."""
        page = schema.page
        with self._write() as c:
            if c.scalar(select(schema.owner.c.owner_id).where(*_held(lease))) is None:
                raise _stale(lease)
            c.execute(
                update(page)
                .where(page.c.owner_id == lease.owner_id, page.c.page_id.in_(page_ids))
                .values(attempts=page.c.attempts + 1, error=error, retry_at=micros(retry_at))
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
            return reads.page_views(c, owner_id, rows, 0, _setting(c, "embedder"))

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
            return reads.noted_pages(c, owner_id, ready, short, _setting(c, "embedder"))

    def pending_since(self, owner_id: OwnerId, short: int) -> tuple[int, datetime | None, datetime | None]:
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
            oldest = c.scalar(query.order_by(page.c.no).limit(1))
            retry_at = c.scalar(
                select(func.min(page.c.retry_at)).where(page.c.owner_id == owner_id, page.c.retry_at.is_not(None))
            )
        return count, None if oldest is None else moment(oldest), None if retry_at is None else moment(retry_at)

    def tails(self, owner_id: OwnerId, before: Mapping[ThreadId, int]) -> Mapping[ThreadId, ChainTail]:
        """The newest chained page of each thread below a number, with its chain's summary."""
        page, chain = schema.page, schema.chain
        found: dict[ThreadId, ChainTail] = {}
        with self._read() as c:
            embedder = _setting(c, "embedder")
            for thread, no in before.items():
                row = c.execute(
                    reads.select_pages(owner_id)
                    .where(page.c.thread == thread, page.c.no < no, page.c.chain_id.is_not(None))
                    .order_by(page.c.no.desc())
                    .limit(1)
                ).first()
                if row is None:
                    continue
                summary = c.scalar(
                    select(chain.c.summary).where(
                        chain.c.owner_id == owner_id, chain.c.chain_id == row.chain_id, chain.c.retired_no.is_(None)
                    )
                )
                view = reads.page_views(c, owner_id, [row], 0, embedder)[0]
                found[thread] = ChainTail(view=view, chain_id=ChainId(row.chain_id), summary=summary or "")
        return found

    def chain_summaries(self, owner_id: OwnerId, chain_ids: Sequence[ChainId]) -> Mapping[ChainId, Chain]:
        """The chains named, as they stand, without their pages."""
        with self._read() as c:
            return {chain.id: chain for chain in _chains(c, owner_id, chain_ids)}

    def segment_states(self, owner_id: OwnerId) -> tuple[SegmentState, ...]:
        """The segments of mid-term memory, oldest first."""
        with self._read() as c:
            counts = reads.unanalysed_counts(c, owner_id)
            embedder = _setting(c, "embedder")
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
            return reads.noted_pages(c, owner_id, rows, 0, _setting(c, "embedder"))

    def page_vectors(self, owner_id: OwnerId, segment_id: SegmentId) -> Vectors:
        """The vectors of a segment's pages."""
        with self._read() as c:
            embedder, dim = _setting(c, "embedder"), int(_setting(c, "dim") or 0)
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

    def begin_reindex(self, embedder: str, dim: int) -> None:
        """The store changes its embedder: every owner's vectors are due again. One transaction, no vector touched.
        Leases end: what is worked out with the old vectors is refused."""
        owner = schema.owner
        with self._write() as c:
            _remember(c, {"embedder": embedder, "dim": str(dim)})
            c.execute(
                update(owner).values(
                    embedded_seq=0,
                    due_at=0,
                    reset_no=owner.c.revision + 1,
                    lease_by=None,
                    lease_until=None,
                    lease_token=owner.c.lease_token + 1,
                )
            )

    def visit(self, owner_id: OwnerId, segments: Mapping[SegmentId, int], now: datetime) -> None:
        """Count visits of segments, and their time."""
        table, at = schema.segment, micros(now)
        with self._write() as c:
            for segment_id, visits in segments.items():
                c.execute(
                    update(table)
                    .where(table.c.owner_id == owner_id, table.c.segment_id == segment_id)
                    .values(
                        visits=table.c.visits + visits,
                        visited_at=case((table.c.visited_at > at, table.c.visited_at), else_=at),
                    )
                )
            owner = schema.owner
            c.execute(
                update(owner)
                .where(owner.c.owner_id == owner_id)
                .values(due_at=case((owner.c.due_at < at, owner.c.due_at), else_=at))
            )

    def replay(self, owner_id: OwnerId) -> None:
        """Derive everything again from the changes. Counters and vectors, which no change holds, are kept."""
        segment = schema.segment
        with self._write() as c:
            kept = c.execute(select(segment).where(segment.c.owner_id == owner_id)).all()
            forget_derived(c, owner_id)
            embedded = c.scalar(select(schema.owner.c.embedded_seq).where(schema.owner.c.owner_id == owner_id))
            for change in _changes(c, owner_id, 0):
                Applying(c, owner_id, change.no, change.recorded_at).apply(change.decisions, {})
            for row in kept:
                c.execute(
                    update(segment)
                    .where(segment.c.owner_id == owner_id, segment.c.segment_id == row.segment_id)
                    .values(
                        visits=row.visits,
                        visited_at=row.visited_at,
                        embedder=row.embedder,
                        vector_sum=row.vector_sum,
                    )
                )
            owner = schema.owner
            c.execute(
                update(owner)
                .where(owner.c.owner_id == owner_id)
                .values(reset_no=owner.c.revision, embedded_seq=embedded)
            )

    # ---------------------------------------------------------------------------------------------------- reading

    def delta(self, owner_id: OwnerId, seq: int, revision: int, embedder: str, dim: int) -> Delta:
        """What is newer than (seq, revision), read in one transaction."""
        with self._read() as c:
            row = c.execute(select(schema.owner).where(schema.owner.c.owner_id == owner_id)).first()
            if row is None or ((row.seq, row.revision) == (seq, revision) and row.reset_no <= revision):
                return _nothing(seq, revision, dim)
            reset = row.reset_no > revision and (seq, revision) != (0, 0)
            if reset:
                seq, revision = 0, 0
            return _newer(c, row, owner_id, seq, revision, embedder, dim, reset)

    def pages(
        self, owner_id: OwnerId, short: int, *, tier: Tier | None, before: int | None, limit: int | None
    ) -> tuple[Page, ...]:
        """Pages in order."""
        page = schema.page
        query = reads.select_pages(owner_id)
        if tier is not None:
            query = query.where(reads.in_tier(tier, short))
        if before is not None:
            query = query.where(page.c.no < before)
        with self._read() as c:
            rows = c.execute(query.order_by(page.c.no.desc()).limit(limit)).all()
            return reads.pages_from(c, owner_id, rows[::-1], short)

    def page(self, owner_id: OwnerId, page_id: PageId, short: int) -> Page | None:
        """One page of this owner."""
        with self._read() as c:
            rows = c.execute(reads.select_pages(owner_id).where(schema.page.c.page_id == page_id)).all()
            return next(iter(reads.pages_from(c, owner_id, rows, short)), None)

    def segments(self, owner_id: OwnerId, *, archived: bool | None, only: SegmentId | None) -> tuple[Segment, ...]:
        """Segments with their pages and sources, oldest first."""
        segment, page = schema.segment, schema.page
        query = reads.select_segments(owner_id)
        if archived is not None:
            query = query.where(segment.c.evicted_no.is_not(None) if archived else segment.c.evicted_no.is_(None))
        if only is not None:
            query = query.where(segment.c.segment_id == only)
        with self._read() as c:
            embedder = _setting(c, "embedder")
            counts = reads.unanalysed_counts(c, owner_id)
            sources = reads.sources_of(c, owner_id, "segment")
            of: dict[str, list[PageId]] = {}
            members = select(page.c.segment_id, page.c.page_id).where(
                page.c.owner_id == owner_id, page.c.segment_id.is_not(None)
            )
            for row in c.execute(members.order_by(page.c.no)):
                of.setdefault(row.segment_id, []).append(PageId(row.page_id))
            return tuple(
                reads.segment_from(
                    row,
                    embedder,
                    counts.get(row.segment_id, 0),
                    tuple(of.get(row.segment_id, ())),
                    sources.get(row.segment_id, ()),
                )
                for row in c.execute(query)
            )

    def chains(self, owner_id: OwnerId) -> tuple[Chain, ...]:
        """All chains with their pages."""
        with self._read() as c:
            return _chains(c, owner_id, None)

    def persona(self, owner_id: OwnerId) -> Persona:
        """Profiles, traits and current facts."""
        with self._read() as c:
            return reads.persona_of(c, owner_id)

    def facts(self, owner_id: OwnerId, *, about: About | None, archived: bool) -> tuple[Fact, ...]:
        """Current facts, or archived ones."""
        query = reads.select_facts(owner_id, archived=archived)
        if about is not None:
            query = query.where(schema.fact.c.about == about.value)
        with self._read() as c:
            sources = reads.sources_of(c, owner_id, "fact")
            return tuple(reads.fact_from(row, sources) for row in c.execute(query))

    def history(self, owner_id: OwnerId) -> tuple[Fact, ...]:
        """Facts that are no longer held."""
        with self._read() as c:
            sources = reads.sources_of(c, owner_id, "fact")
            query = reads.select_facts(owner_id, archived=False, retired=True)
            return tuple(reads.fact_from(row, sources) for row in c.execute(query))

    def changes(self, owner_id: OwnerId, since: int) -> tuple[Change, ...]:
        """The second log, after a number."""
        with self._read() as c:
            return _changes(c, owner_id, since)

    def owner_stats(self, owner_id: OwnerId, short: int) -> OwnerStats:
        """Counts of one owner."""
        page, segment, fact, trait, chain = schema.page, schema.segment, schema.fact, schema.trait, schema.chain
        with self._read() as c:
            state = _state(c, owner_id)

            def count(table: Any, *conditions: Any) -> int:
                query = select(func.count()).select_from(table).where(table.c.owner_id == owner_id, *conditions)
                return c.scalar(query) or 0

            evicted = select(segment.c.segment_id).where(
                segment.c.owner_id == owner_id, segment.c.evicted_no.is_not(None)
            )
            pages = 0 if state is None else state.pages
            archive = count(page, page.c.segment_id.in_(evicted))
            mid = count(page, page.c.segment_id.is_not(None)) - archive
            in_short = count(page, page.c.segment_id.is_(None), page.c.no > pages - short)
            held = and_(fact.c.retired_no.is_(None), fact.c.archived_no.is_(None))
            return OwnerStats(
                utterances=0 if state is None else state.seq,
                pages=pages,
                short=in_short,
                pending=count(page, page.c.segment_id.is_(None)) - in_short,
                mid=mid,
                archive=archive,
                segments=count(segment, segment.c.evicted_no.is_(None)),
                archived_segments=count(segment, segment.c.evicted_no.is_not(None)),
                chains=count(chain, chain.c.retired_no.is_(None)),
                facts=count(fact, held, fact.c.about == About.USER.value),
                agent_facts=count(fact, held, fact.c.about == About.AGENT.value),
                archived_facts=count(fact, fact.c.retired_no.is_(None), fact.c.archived_no.is_not(None)),
                traits=count(trait, trait.c.retired_no.is_(None)),
                changes=0 if state is None else state.revision,
                without_vector=0 if state is None else state.seq - state.embedded_seq,
                failed=count(page, page.c.error.is_not(None)),
            )


# ---- statements that several methods share


def _setting(c: Connection, key: str) -> str:
    return c.scalar(select(schema.store.c.value).where(schema.store.c.key == key)) or ""


def _remember(c: Connection, values: Mapping[str, str]) -> None:
    for key, value in values.items():
        statement = upsert(schema.store).values(key=key, value=value)
        c.execute(statement.on_conflict_do_update(index_elements=["key"], set_={"value": value}))


def _state(c: Connection, owner_id: OwnerId) -> OwnerState | None:
    row = c.execute(select(schema.owner).where(schema.owner.c.owner_id == owner_id)).first()
    return None if row is None else reads.owner_state_from(row)


def _ensure_owner(c: Connection, owner: Owner, at: int) -> None:
    row = {
        "owner_id": owner.id,
        "user": owner.user,
        "agent": owner.agent,
        "created_at": at,
        **dict.fromkeys(("seq", "pages", "revision", "persona_no", "reset_no", "embedded_seq", "failures"), 0),
        "lease_token": 0,
    }
    c.execute(upsert(schema.owner).values(**row).on_conflict_do_nothing())


def _receipt(c: Connection, owner_id: OwnerId, key: str, digest: str) -> Added | None:
    table = schema.receipt
    row = c.execute(select(table).where(table.c.owner_id == owner_id, table.c.key == key)).first()
    if row is None:
        return None
    if row.digest != digest:
        raise KeyReused(f"the key {key!r} was used before with other content; nothing was stored; give a new key")
    utterance = schema.utterance
    stored = c.execute(
        select(utterance.c.id, utterance.c.page_id)
        .where(utterance.c.owner_id == owner_id, utterance.c.seq.between(row.first_seq, row.last_seq))
        .order_by(utterance.c.seq)
    ).all()
    return Added(
        page_ids=tuple(dict.fromkeys(PageId(one.page_id) for one in stored)),
        utterance_ids=tuple(UtteranceId(one.id) for one in stored),
    )


def _thread_tail(c: Connection, owner_id: OwnerId, thread: ThreadId) -> PageTail | None:
    page = schema.page
    row = c.execute(
        select(page.c.page_id, page.c.answered)
        .where(page.c.owner_id == owner_id, page.c.thread == thread)
        .order_by(page.c.no.desc())
        .limit(1)
    ).first()
    return None if row is None else PageTail(page_id=PageId(row.page_id), answered=row.answered)


def _append(
    c: Connection, owner_id: OwnerId, messages: Sequence[Message], seq: int, pages: int, at: int, fresh: bool
) -> Added:
    """Number the messages from seq + 1, give each its page, and write both."""
    tails = {thread: _thread_tail(c, owner_id, thread) for thread in {message.thread for message in messages}}
    utterances: list[dict[str, Any]] = []
    opened: dict[PageId, dict[str, Any]] = {}
    joined: dict[PageId, dict[str, Any]] = {}
    for message in messages:
        seq += 1
        tail = tails[message.thread]
        if tail is not None and joins(tail, message.role, fresh=fresh):
            page_id, answered = tail.page_id, tail.answered or message.role.agent_side
            if page_id in opened:
                opened[page_id] |= {"last_seq": seq, "answered": answered}
            else:
                joined[page_id] = {"k_page": page_id, "k_last": seq, "k_answered": answered}
        else:
            pages += 1
            page_id, answered = PageId(new_id("p")), message.role.agent_side
            opened[page_id] = _new_page(owner_id, page_id, pages, message.thread, seq, answered, at)
            fresh = False
        tails[message.thread] = PageTail(page_id=page_id, answered=answered)
        utterances.append(_utterance_row(owner_id, seq, page_id, message, at))
    c.execute(insert(schema.utterance), utterances)
    page = schema.page
    if opened:
        c.execute(insert(page), list(opened.values()))
        c.execute(update(schema.owner).where(schema.owner.c.owner_id == owner_id).values(pages=pages))
    if joined:
        c.execute(
            update(page)
            .where(page.c.owner_id == owner_id, page.c.page_id == bindparam("k_page"))
            .values(last_seq=bindparam("k_last"), answered=bindparam("k_answered")),
            list(joined.values()),
        )
    return Added(
        page_ids=tuple(dict.fromkeys(row["page_id"] for row in utterances)),
        utterance_ids=tuple(row["id"] for row in utterances),
    )


def _new_page(
    owner_id: OwnerId, page_id: PageId, no: int, thread: ThreadId, seq: int, answered: bool, at: int
) -> dict[str, Any]:
    return {
        "owner_id": owner_id,
        "page_id": page_id,
        "no": no,
        "thread": thread,
        "first_seq": seq,
        "last_seq": seq,
        "answered": answered,
        "recorded_at": at,
        **dict.fromkeys(("annotated_seq", "analysed_seq", "touched_no", "attempts"), 0),
    }


def _utterance_row(owner_id: OwnerId, seq: int, page_id: PageId, message: Message, at: int) -> dict[str, Any]:
    return {
        "owner_id": owner_id,
        "seq": seq,
        "id": new_id("u"),
        "page_id": page_id,
        "thread": message.thread,
        "role": message.role.value,
        "speaker": message.speaker,
        "text": message.text,
        "said_at": micros(message.said_at),
        "said_offset": offset(message.said_at),
        "recorded_at": at,
    }


def _utterances(c: Connection, owner_id: OwnerId, after_seq: int, limit: int | None) -> tuple[Utterance, ...]:
    table = schema.utterance
    rows = c.execute(
        select(table).where(table.c.owner_id == owner_id, table.c.seq > after_seq).order_by(table.c.seq).limit(limit)
    )
    return tuple(reads.utterance_from(row) for row in rows)


def _unclaimed(at: int) -> Any:
    return or_(schema.owner.c.lease_until.is_(None), schema.owner.c.lease_until <= at)


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


def _with_note(query: Any) -> Any:
    return query.add_columns(schema.note.c.proposals, schema.note.c.analyst.label("note_analyst"))


def _write_vectors(c: Connection, owner_id: OwnerId, no: int, batch: VectorBatch) -> None:
    table = schema.vector
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
            }
            for seq, vector in zip(batch.seqs, batch.vectors, strict=True)
        ],
    )


def _changes(c: Connection, owner_id: OwnerId, since: int) -> tuple[Change, ...]:
    table = schema.change
    rows = c.execute(select(table).where(table.c.owner_id == owner_id, table.c.no > since).order_by(table.c.no))
    return tuple(
        Change(
            no=row.no,
            cause=Cause(row.cause),
            analyst=row.analyst,
            recorded_at=moment(row.recorded_at),
            decisions=decisions_from(row.decisions),
        )
        for row in rows
    )


def _chains(c: Connection, owner_id: OwnerId, only: Sequence[ChainId] | None) -> tuple[Chain, ...]:
    chain, page = schema.chain, schema.page
    query = select(chain).where(chain.c.owner_id == owner_id, chain.c.retired_no.is_(None)).order_by(chain.c.chain_id)
    sources = reads.sources_of(c, owner_id, "chain", only)
    of: dict[str, list[PageId]] = {}
    if only is not None:
        query = query.where(chain.c.chain_id.in_(only))
    else:
        members = select(page.c.chain_id, page.c.page_id).where(
            page.c.owner_id == owner_id, page.c.chain_id.is_not(None)
        )
        for row in c.execute(members.order_by(page.c.no)):
            of.setdefault(row.chain_id, []).append(PageId(row.page_id))
    return tuple(
        Chain(
            id=ChainId(row.chain_id),
            thread=ThreadId(row.thread),
            summary=row.summary,
            page_ids=tuple(of.get(row.chain_id, ())),
            change_no=row.change_no,
            recorded_at=moment(row.recorded_at),
            sources=sources.get(row.chain_id, ()),
        )
        for row in c.execute(query)
    )


def _nothing(seq: int, revision: int, dim: int) -> Delta:
    return Delta(
        seq=seq,
        revision=revision,
        utterances=(),
        vector_seqs=np.zeros(0, dtype=np.int64),
        vectors=np.zeros((0, dim), dtype=np.float32),
        pages=(),
        segments=(),
        persona=None,
    )


def _newer(
    c: Connection, owner: Any, owner_id: OwnerId, seq: int, revision: int, embedder: str, dim: int, reset: bool
) -> Delta:
    vector, page, segment = schema.vector, schema.page, schema.segment
    found = c.execute(
        select(vector.c.seq, vector.c.data)
        .where(vector.c.owner_id == owner_id, vector.c.change_no > revision, vector.c.embedder == embedder)
        .order_by(vector.c.seq)
    ).all()
    data = np.frombuffer(b"".join(row.data for row in found), dtype="<f2").astype(np.float32)
    marks = c.execute(
        select(page.c.page_id, page.c.no, page.c.segment_id, page.c.chain_id)
        .where(page.c.owner_id == owner_id, or_(page.c.touched_no > revision, page.c.first_seq > seq))
        .order_by(page.c.no)
    )
    segments = c.execute(reads.select_segments(owner_id).where(segment.c.touched_no > revision))
    persona_moved = owner.persona_no > revision or reset
    persona = reads.persona_of(c, owner_id) if persona_moved else None
    archived: tuple[Fact, ...] = ()
    if persona_moved:
        sources = reads.sources_of(c, owner_id, "fact")
        rows = c.execute(reads.select_facts(owner_id, archived=True))
        archived = tuple(reads.fact_from(row, sources) for row in rows)
    return Delta(
        seq=owner.seq,
        revision=owner.revision,
        utterances=_utterances(c, owner_id, seq, None),
        vector_seqs=np.array([row.seq for row in found], dtype=np.int64),
        vectors=data.reshape(len(found), -1) if found else np.zeros((0, dim), dtype=np.float32),
        pages=tuple(
            PageMark(
                page_id=PageId(row.page_id),
                no=row.no,
                segment_id=None if row.segment_id is None else SegmentId(row.segment_id),
                chain_id=None if row.chain_id is None else ChainId(row.chain_id),
            )
            for row in marks
        ),
        segments=tuple(reads.segment_from(row, embedder) for row in segments),
        persona=persona,
        archived_facts=archived,
        reset=reset,
    )
