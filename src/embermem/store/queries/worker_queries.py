"""What consolidation asks of the store: leases, what is due, and applying changes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from sqlalchemy import Integer, and_, bindparam, case, delete, exists, func, insert, not_, or_, select, update
from sqlalchemy.engine import Connection

from embermem.core.changes import (
    BegunAnew,
    Cause,
    ChainSummarised,
    Change,
    Decision,
    FactAdded,
    FactExpires,
    Moves,
    Noted,
    is_extractive,
    kind_of,
)
from embermem.core.config import QUIET_MESSAGES
from embermem.core.errors import EmbedderMismatch, StaleLease
from embermem.core.state import sorted_sources
from embermem.core.types import ChainId, ChainTail, ItemId, Owner, OwnerId, PageId, PersonaChange, SegmentId, ThreadId
from embermem.core.vector_codes import stored_rows
from embermem.protocols import (
    Backlog,
    Lease,
    NotedPage,
    Receipt,
    SegmentState,
    SegmentVectors,
    VectorBatch,
)
from embermem.store import checkpoints, schema
from embermem.store.codec import micros, passages_bytes
from embermem.store.projector import Projector
from embermem.store.queries import reads
from embermem.store.queries.changes import log
from embermem.store.queries.item_decisions import item_decisions
from embermem.store.queries.retaining import count_visits, counters
from embermem.store.statements import (
    due_from,
    ensure_owner,
    locked_owner,
    set_owner,
    setting,
    unclaimed,
    update_rows,
    write_receipt,
)
from embermem.store.states import States, counted_after
from embermem.store.transactions import over_owners

if TYPE_CHECKING:
    from embermem.core.types import Vector

_ABOVE_ALL = 2**62
"""Above every page's number."""


class Work(States):
    """Claims and changes of one owner."""

    @over_owners
    def due(self, now: datetime, limit: int, *, lease_s: float = math.inf) -> tuple[Owner, ...]:
        owner, at = schema.owner, micros(now)
        with self._read() as c:
            rows = c.execute(
                select(owner).where(owner.c.due_at <= at, unclaimed(at, lease_s)).order_by(owner.c.due_at).limit(limit)
            )
            return tuple(reads.owner_from(row) for row in rows)

    def claim(self, owner_id: OwnerId, by: str, now: datetime, seconds: float) -> Lease | None:
        """While it is held the owner is due when the lease runs out; what comes in meanwhile is due earlier, and so is
        seen at release."""
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
        born: datetime | None = None,
        vectors: VectorBatch | None = None,
        segment_vectors: SegmentVectors | None = None,
        receipt: Receipt | None = None,
    ) -> Change:
        change = Change(no=revision + 1, cause=cause, analyst=analyst, recorded_at=now, decisions=tuple(decisions))
        at = micros(now)
        with self._write() as c:
            ensure_owner(c, owner, at)
            values, expressions = {"revision": change.no}, dict[str, Any]()
            moves = {kind_of(decision).moves for decision in decisions}
            if not moves <= {Moves.NOTHING}:
                values["persona_no"] = change.no
            if Moves.ALL in moves:
                values["reset_no"] = change.no
            if any(_makes_due(decision) for decision in decisions):
                expressions["due_at"] = due_from(at)
            known = self._standing(c, owner.id, revision, born)
            change = log(c, owner.id, change)
            checkpoint = change.no - known.held.checkpoint >= checkpoints.EVERY
            if checkpoint:
                known = self._known(c, owner.id, topics=True, locked=True)
            after = known.held.after(change, reset="reset_no" in values)
            if "persona_no" in values:
                expressions |= counted_after(known.held.state, after.state, change)
            held = {} if lease is None else {"lease_token": lease.token, "lease_by": lease.by}
            moved = update_rows(c, schema.owner, owner.id, tuple(held), [values | held])
            if lease is not None and not moved:
                raise _stale(lease)
            if expressions:
                set_owner(c, owner.id, **expressions)
            write_receipt(c, owner.id, receipt, at)
            wrote = False
            if checkpoint:
                assert after.topics is not None  # which were asked for
                wrote = checkpoints.write(c, owner.id, after.checkpoint, after.later, change.no, after.topics)
            if vectors is not None:
                embedder = setting(c, "embedder")
                if embedder and vectors.embedder != embedder:
                    raise EmbedderMismatch(
                        f"the store is now of {embedder!r}, these vectors are of {vectors.embedder!r}: open it again"
                    )
                _write_vectors(c, owner.id, change.no, vectors)
            projector = Projector(c, owner.id, known.held.texts)
            projector.stage(change)
            after = after.with_texts(projector.flush(segment_vectors))
        if wrote:
            after = replace(after, checkpoint=change.no, later=())
        self._hold(owner.id, known.held, after if wrote or not checkpoint else None)  # None: another wrote it
        return change

    def postpone(
        self, lease: Lease, page_ids: Sequence[PageId], error: str, until: datetime, *, tried: bool = True
    ) -> None:
        attempts = schema.page.c.attempts + int(tried)
        self._postpone(lease, page_ids, error, {"attempts": attempts, "retry_at": micros(until)})

    def postpone_redo(
        self, lease: Lease, page_ids: Sequence[PageId], error: str, until: datetime, *, tried: bool = True
    ) -> None:
        tries = func.coalesce(schema.page.c.redo_tries, 0) + int(tried)
        self._postpone(lease, page_ids, error, {"redo_tries": tries, "redo_at": micros(until)})

    def _postpone(self, lease: Lease, page_ids: Sequence[PageId], error: str, values: Mapping[str, Any]) -> None:
        page = schema.page
        with self._write() as c:
            if c.scalar(select(schema.owner.c.owner_id).where(*_held(lease)).with_for_update()) is None:
                raise _stale(lease)
            c.execute(
                update(page)
                .where(page.c.owner_id == lease.owner_id, page.c.page_id.in_(page_ids))
                .values(error=error or None, **values)
            )

    def unread_pages(
        self, owner_id: OwnerId, short: int, *, open_too: bool, now: datetime, quiet_s: float | None, limit: int
    ) -> tuple[NotedPage, ...]:
        asked = {"owner": owner_id, "short": short, "now": micros(now), "quiet": _micros_of(quiet_s), "limit": limit}
        with self._read() as c:
            return _noted_pages(c, owner_id, c.execute(_select_unread(open_too=open_too), asked).all())

    def pending_pages(self, owner_id: OwnerId, short: int, now: datetime, limit: int) -> tuple[NotedPage, ...]:
        asked = {"of": owner_id, "short": short, "limit": limit}
        with self._read() as c:
            first = list(takewhile(lambda row: _may_be_placed(row, now), c.execute(_PENDING, asked).all()))
            return _noted_pages(c, owner_id, first, short)

    def newest_pages(self, owner_id: OwnerId, segment_id: SegmentId, limit: int) -> tuple[NotedPage, ...]:
        newest = _in_segment(owner_id, segment_id).order_by(schema.page.c.no.desc()).limit(limit)
        with self._read() as c:
            return _noted_pages(c, owner_id, c.execute(newest).all()[::-1], proposals=False)

    def unanalysed_pages(self, owner_id: OwnerId, segment_id: SegmentId) -> tuple[NotedPage, ...]:
        page = schema.page.c
        unanalysed = _in_segment(owner_id, segment_id).where(page.analysed_seq < page.last_seq).order_by(page.no)
        with self._read() as c:
            return _noted_pages(c, owner_id, c.execute(unanalysed).all())

    def pages_to_redo(
        self, owner_id: OwnerId, segment_id: SegmentId, now: datetime, limit: int
    ) -> tuple[NotedPage, ...]:
        page = schema.page.c
        readers = select(page.read_by).where(page.owner_id == owner_id, page.segment_id == segment_id).distinct()
        with self._read() as c:
            read = _in_segment(owner_id, segment_id).where(
                page.read_by.in_([one for one in c.scalars(readers) if one is not None and is_extractive(one)]),
                _may_be_redone(now),
                page.annotated_seq == page.last_seq,  # else it is read first, as it stands now
            )
            rows = c.execute(read.order_by(page.no).limit(limit)).all()
            return tuple(
                replace(noted, attempts=row.redo_tries or 0, retry_at=None)
                for noted, row in zip(_noted_pages(c, owner_id, rows), rows, strict=True)
            )

    def page_vectors(self, owner_id: OwnerId, segment_id: SegmentId) -> list[Vector]:
        with self._read() as c:
            found = reads.segment_page_vectors(c, owner_id, segment_id, setting(c, "embedder"))
        return [vector for vector in found if vector is not None]

    def backlog(
        self,
        owner_id: OwnerId,
        short: int,
        *,
        now: datetime,
        vectors_of: str,
        redo: bool = False,
        retry_after: datetime | None = None,
        quiet_s: float | None = None,
    ) -> Backlog:
        segment = schema.segment.c
        stale = select(segment.segment_id).where(
            segment.owner_id == owner_id,
            segment.pages > 0,
            or_(segment.embedder.is_(None), segment.embedder != vectors_of),
        )
        with self._read() as c:
            after = -1 if retry_after is None else micros(retry_after)
            quiet = None if quiet_s is None else _micros_of(quiet_s)
            row = c.execute(_BACKLOG, {"owner": owner_id, "short": short, "retry_after": after, "quiet": quiet}).one()
            to_redo, redo_at = _to_redo(c, owner_id, now) if redo else ({}, None)
            return Backlog(
                unembedded=row.unembedded,
                pending=row.pending,
                pending_since=reads.time_from(row.pending_since),
                retry_at=reads.time_from(row.retry_at),
                quiet_at=reads.time_from(row.quiet_at),
                expires_at=reads.time_from(
                    min((at for at in (row.page_expires_at, row.fact_expires_at) if at is not None), default=None)
                ),
                to_redo=to_redo,
                redo_at=redo_at,
                stale_segments=tuple(SegmentId(one) for one in c.scalars(stale)),
            )

    def tails(self, owner_id: OwnerId, before: Mapping[ThreadId, int]) -> Mapping[ThreadId, ChainTail]:
        found: dict[ThreadId, ChainTail] = {}
        with self._read() as c:
            embedder = setting(c, "embedder")
            rows = {}
            for thread, no in before.items():
                if (row := c.execute(_TAIL, {"of": owner_id, "thread": thread, "before": no}).first()) is not None:
                    rows[thread] = row
            if not rows:
                return found
            topics = self._known(c, owner_id, topics=True).topics_at()
            written = ((row.chain_id, topics.summary(row.chain_id)) for row in rows.values())
            numbers = {chain_id: no for chain_id, no in written if no is not None}
            told = item_decisions(c, owner_id, ChainSummarised, numbers)
            views = reads.page_views(c, owner_id, [*rows.values()], 0, embedder)
            for view, (thread, row) in zip(views, rows.items(), strict=True):
                one = told.get(row.chain_id)
                found[thread] = ChainTail(
                    view=view,
                    chain_id=ChainId(row.chain_id),
                    summary="" if one is None else one.summary,
                    sources=() if one is None else sorted_sources(one.sources),
                )
        return found

    def segment_states(self, owner_id: OwnerId) -> tuple[SegmentState, ...]:
        with self._read() as c:
            embedder, counted = setting(c, "embedder"), counters(c, self._known(c, owner_id, topics=True))
            rows = c.execute(reads.select_segments(owner_id).where(schema.segment.c.evicted_no.is_(None)))
            return tuple(reads.segment_state_from(row, embedder, counted(row)) for row in rows)

    def visit(self, owner_id: OwnerId, counts: Mapping[ItemId, int], now: datetime) -> None:
        with self._write() as c:
            set_owner(c, owner_id, due_at=due_from(micros(now)))  # first, since it holds the row: nobody waits for both
            count_visits(c, self._known(c, owner_id), counts, micros(now))


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


def _noted_pages(
    c: Connection, owner_id: OwnerId, rows: Sequence[Any], short: int = 0, *, proposals: bool = True
) -> tuple[NotedPage, ...]:
    """Pages with their vectors and notes, and with what these propose if it is asked for; rows are of
    `reads.select_pages`."""
    views = reads.page_views(c, owner_id, rows, short, setting(c, "embedder"))
    numbers = {row.page_id: row.noted_no for row in rows if proposals and row.noted_no is not None}
    notes = item_decisions(c, owner_id, Noted, numbers)
    return tuple(
        NotedPage(
            view=view,
            read_seq=row.annotated_seq,
            chain_id=view.page.chain_id,
            keywords=view.page.keywords,
            change=_proposed(notes.get(row.page_id)),
            attempts=row.attempts,
            retry_at=reads.time_from(row.retry_at),
            analysed=row.analysed_seq >= row.last_seq,
        )
        for view, row in zip(views, rows, strict=True)
    )


def _proposed(note: Noted | None) -> PersonaChange:
    if note is None:
        return PersonaChange()
    return PersonaChange(facts=note.facts, traits=note.traits, profile=note.profile)


@cache
def _select_unread(*, open_too: bool) -> Any:
    """Made once, because each step of a claim asks it."""
    page, owner, said = schema.page, schema.owner, schema.utterance
    owner_id, short = bindparam("owner", type_=page.c.owner_id.type), bindparam("short", type_=Integer)
    now, quiet = (bindparam(name, type_=said.c.recorded_at.type) for name in ("now", "quiet"))
    wanted = [page.c.annotated_seq < page.c.last_seq, page.c.last_seq <= owner.c.embedded_seq]
    if not open_too:
        newest = (said.c.owner_id == owner_id, said.c.seq == page.c.last_seq)
        wanted.append(or_(not_(_is_open(owner_id, short)), exists().where(*newest, _quiet_at(quiet) <= now)))
    return _in_order(owner_id).where(*wanted).limit(bindparam("limit", type_=Integer))


def _in_order(owner_id: Any) -> Any:
    return reads.select_pages(owner_id).order_by(schema.page.c.no)


def _in_segment(owner_id: OwnerId, segment_id: SegmentId) -> Any:
    return reads.select_pages(owner_id).where(schema.page.c.segment_id == segment_id)


def _is_open(owner_id: Any, short: Any) -> Any:
    page, owner, later = schema.page, schema.owner, schema.page.alias("later")
    mine = (later.c.owner_id == owner_id, later.c.thread == page.c.thread)
    followed = exists().where(*mine, later.c.no > page.c.no)
    return and_(not_(page.c.answered), page.c.no > owner.c.pages - short, not_(followed))


def _quiet_at(quiet: Any) -> Any:
    """When a page has been quiet for long enough, by when its newest utterance was recorded; NULL without a time."""
    page = schema.page.c
    return schema.utterance.c.recorded_at + quiet * (1 + (page.last_seq - page.first_seq) // QUIET_MESSAGES)


def _micros_of(seconds: float | None) -> int | None:
    return None if seconds is None else int(seconds * 1e6)


def _may_be_placed(row: Any, now: datetime) -> bool:
    return row.read and (row.retry_at is None or row.retry_at <= micros(now))


def _is_pending(short: Any) -> Any:
    page, owner = schema.page, schema.owner
    return and_(page.c.segment_id.is_(None), page.c.no.between(1, owner.c.pages - short))


_page = schema.page.c
_IS_READ = and_(_page.chain_id.is_not(None), _page.last_seq <= schema.owner.c.embedded_seq).label("read")
_SHORT, _LIMIT = (bindparam(name, type_=Integer) for name in ("short", "limit"))
_PENDING = _in_order(bindparam("of")).add_columns(_IS_READ).where(_is_pending(_SHORT)).limit(_LIMIT)
_BEFORE = (_page.thread == bindparam("thread"), _page.no < bindparam("before"), _page.chain_id.is_not(None))
_TAIL = reads.select_pages(bindparam("of")).where(*_BEFORE).order_by(_page.no.desc()).limit(1)
"""Statements that each step of a claim asks, made once."""


def _may_be_redone(now: datetime) -> Any:
    redo_at = schema.page.c.redo_at
    return or_(redo_at.is_(None), redo_at <= micros(now))


def _select_backlog() -> Any:
    """One row: counts and times of what waits of an `owner` with `short` pages of short-term memory."""
    owner_id, short = bindparam("owner", type_=schema.owner.c.owner_id.type), bindparam("short", type_=Integer)
    owner, page, said = schema.owner, schema.page, schema.utterance
    failed, left, waits, ends = (schema.page.alias(name) for name in ("failed", "left", "waits", "ends"))
    first_failed = select(func.min(failed.c.no)).where(
        failed.c.owner_id == owner_id, failed.c.segment_id.is_(None), failed.c.retry_at.is_not(None)
    )
    pending = (
        select(page)
        .join(owner, owner.c.owner_id == page.c.owner_id)
        .where(page.c.owner_id == owner_id, _is_pending(short))
        .where(page.c.no < func.coalesce(first_failed.scalar_subquery(), _ABOVE_ALL))
    )
    # A page is pending since the one that took its place in short-term memory came, or, where that is forgotten, the
    # next one.
    since = (
        select(left.c.recorded_at)
        .where(left.c.owner_id == owner_id, left.c.no >= page.c.no + short)
        .order_by(left.c.no)
        .limit(1)
        .scalar_subquery()
    )
    oldest = pending.with_only_columns(func.coalesce(since, page.c.recorded_at)).order_by(page.c.no).limit(1)
    quiet = bindparam("quiet", type_=said.c.recorded_at.type)
    quiet_at = (
        select(func.min(_quiet_at(quiet)))
        .select_from(page)
        .join(owner, owner.c.owner_id == page.c.owner_id)
        .join(said, and_(said.c.owner_id == page.c.owner_id, said.c.seq == page.c.last_seq))
        .where(page.c.owner_id == owner_id, page.c.annotated_seq < page.c.last_seq, _is_open(owner_id, short))
    )
    embedded = select(owner.c.embedded_seq).where(owner.c.owner_id == owner_id).scalar_subquery()
    of = {
        "unembedded": select(func.count()).select_from(said).where(said.c.owner_id == owner_id, said.c.seq > embedded),
        "pending": pending.with_only_columns(func.count()),
        "pending_since": oldest,
        "quiet_at": quiet_at,
        "retry_at": select(func.min(waits.c.retry_at)).where(
            waits.c.owner_id == owner_id, waits.c.retry_at > bindparam("retry_after", type_=waits.c.retry_at.type)
        ),
        "page_expires_at": select(func.min(ends.c.expires_at)).where(
            ends.c.owner_id == owner_id, ends.c.expires_at.is_not(None)
        ),
        "fact_expires_at": select(owner.c.fact_expires_at).where(owner.c.owner_id == owner_id),
    }
    return select(*(query.scalar_subquery().label(name) for name, query in of.items()))


_BACKLOG = _select_backlog()
"""Made once, because each claim asks it."""


def _to_redo(c: Connection, owner_id: OwnerId, now: datetime) -> tuple[Mapping[SegmentId, int], datetime | None]:
    """How many pages of each segment of mid-term memory, read by the extractive analyst, need not wait to be read
    again; and from when on the first of all may be."""
    page, segment = schema.page, schema.segment
    query = (
        select(
            page.c.segment_id,
            page.c.read_by,
            func.sum(case((_may_be_redone(now), 1), else_=0)).label("pages"),
            func.min(func.coalesce(page.c.redo_at, 0)).label("first"),
        )
        .select_from(page)
        .join(segment, reads.same(segment, page, "segment_id"))
        .where(page.c.owner_id == owner_id, page.c.read_by.is_not(None), segment.c.evicted_no.is_(None))
        .group_by(page.c.segment_id, page.c.read_by)
    )
    rows = [row for row in c.execute(query) if is_extractive(row.read_by)]
    counts: Counter[SegmentId] = Counter()
    for row in rows:
        counts[SegmentId(row.segment_id)] += row.pages
    return +counts, reads.time_from(min((row.first for row in rows), default=None))


def _write_vectors(c: Connection, owner_id: OwnerId, no: int, batch: VectorBatch) -> None:
    table = schema.embedding
    of_all = {"owner_id": owner_id, "embedder": batch.embedder, "change_no": no}
    packed: Sequence[bytes | None] = batch.tokens or [None] * len(batch.seqs)
    rows: dict[int, list[tuple[bytes, bytes | None]]] = {}
    for seq, data, tokens in zip(batch.seqs, stored_rows(batch.vectors), packed, strict=True):
        rows.setdefault(int(seq), []).append((data, tokens))
    c.execute(delete(table).where(table.c.owner_id == owner_id, table.c.seq.in_(list(rows))))
    c.execute(insert(table), [{**of_all, "seq": seq, **_of_passages(parts)} for seq, parts in rows.items()])


def _of_passages(parts: Sequence[tuple[bytes, bytes | None]]) -> Mapping[str, bytes | None]:
    """The columns of an utterance's vectors: of its first passage, and of the others."""
    (data, tokens), further = parts[0], parts[1:]
    passages = passages_bytes([one for one, _ in further], [one or b"" for _, one in further]) if further else None
    return {"data": data, "tokens": tokens, "passages": passages}
