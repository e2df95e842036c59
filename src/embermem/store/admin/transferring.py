"""One owner out of a store and into another, as parts that name no engine: both logs, and what no log holds.

What goes out is one state. What comes in is one transaction, and is derived from the log again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, exists, func, insert, select
from sqlalchemy.engine import Connection

from embermem.core.changes import Change
from embermem.core.errors import InputError
from embermem.core.types import Owner, OwnerId, Role
from embermem.store import schema
from embermem.store.admin.checking import unsound
from embermem.store.admin.replaying import replay
from embermem.store.codec import micros, record, row_of, zoned
from embermem.store.erasing import Erasing
from embermem.store.queries import reads
from embermem.store.queries.changes import change_from, change_row
from embermem.store.statements import ensure_owner, set_owner, setting, update_rows

_ROWS = 1_000
"""Rows read at once."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnerPart:
    """Who it is, and the last numbers given to an utterance and to a page: what was forgotten gave its numbers up."""

    user: str
    agent: str
    timezone: str | None
    created_at: datetime
    seq: int
    pages: int


@dataclass(frozen=True, kw_only=True, slots=True)
class UtterancePart:
    """One message, and the id and number of the page that it is of; `expires_at` is the page's."""

    seq: int
    id: str
    page: str
    page_no: int
    thread: str
    role: Role
    speaker: str
    text: str
    said_at: datetime
    recorded_at: datetime
    expires_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ReceiptPart:
    """A key that was given with what was said, so that the same call made again stores nothing."""

    key: str
    digest: str
    first_seq: int
    last_seq: int
    recorded_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class SegmentPart:
    """What no log holds of a segment: its visits, and the sum of its pages' vectors (float32, little-endian)."""

    id: str
    visits: int
    visited_at: datetime | None
    sum: bytes | None


@dataclass(frozen=True, kw_only=True, slots=True)
class FactPart:
    """What no log holds of a fact: how often it was recalled, and when last. One that never was has none."""

    id: str
    visits: int
    visited_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class VectorPart:
    """An utterance's vector (half precision, little-endian), and those of its tokens, packed, if there are any."""

    seq: int
    data: bytes
    tokens: bytes | None


Part = OwnerPart | UtterancePart | Change | ReceiptPart | SegmentPart | FactPart | VectorPart


@dataclass(frozen=True, kw_only=True, slots=True)
class Parts:
    """All parts of one owner, each kind in order."""

    owner: OwnerPart
    utterances: Sequence[UtterancePart]
    changes: Sequence[Change]
    receipts: Sequence[ReceiptPart]
    segments: Sequence[SegmentPart]
    vectors: Sequence[VectorPart]
    facts: Sequence[FactPart] = ()


class Transferring(Erasing):
    """Owners out of the store, and into it."""

    def parts(self, owner_id: OwnerId, *, vectors: bool) -> Iterator[Part]:
        """An owner's parts, first the owner's own, in one state of the store; none for an owner that there is not.

        Vectors are those of the store's embedder, and come if they are asked for.
        """
        said, page, fact = schema.utterance.c, schema.page.c, schema.fact.c
        with self._read() as c:
            embedder = setting(c, "embedder") if vectors else ""
            of_pages = select(page.page_id, page.no, page.expires_at, page.expires_offset)
            pages = {row.page_id: row for row in c.execute(of_pages.where(page.owner_id == owner_id))}
            for row in _rows(c, owner_id, schema.owner.c.created_at):
                yield record(OwnerPart, row)
            for row in _rows(c, owner_id, said.seq):
                of = pages[row.page_id]
                ends = reads.time_from(of.expires_at, of.expires_offset)
                yield record(UtterancePart, row, page=row.page_id, page_no=of.no, expires_at=ends)
            for row in _rows(c, owner_id, schema.change.c.no):
                yield change_from(row)
            for row in _rows(c, owner_id, schema.receipt.c.first_seq):
                yield record(ReceiptPart, row)
            for row in _rows(c, owner_id, schema.segment.c.opened_no):
                ours = embedder and row.embedder == embedder
                yield record(SegmentPart, row, id=row.segment_id, sum=row.vector_sum if ours else None)
            for row in _rows(c, owner_id, fact.fact_id, fact.visits.is_not(None)):
                yield record(FactPart, row, id=row.fact_id)
            if embedder:
                vector = schema.embedding.c
                for row in _rows(c, owner_id, vector.seq, vector.embedder == embedder):
                    yield record(VectorPart, row)

    def take_in(self, owner: Owner, parts: Parts, *, embedder: str, now: datetime) -> None:
        """Keep an owner's parts, in one transaction, and derive the memory from them. `embedder` is whose vectors the
        parts hold; what has none is due for one.

        Raises InputError where the owner has anything here, and for a log that leads to no sound memory.
        """
        with self._write() as c:
            ensure_owner(c, owner, micros(parts.owner.created_at))
            _refuse_anything(c, owner)
            last = max((part.no for part in parts.changes), default=0)
            mine, said = {"owner_id": owner.id}, schema.utterance
            of = {**mine, "embedder": embedder, "change_no": last}
            for table, rows in (
                (said, [row_of(one, said, **mine, page_id=one.page) for one in parts.utterances]),
                (schema.page, _page_rows(owner.id, parts.utterances)),
                (schema.change, [change_row(owner.id, one) for one in parts.changes]),
                (schema.receipt, [row_of(one, schema.receipt, **mine) for one in parts.receipts]),
                (schema.embedding, [row_of(one, schema.embedding, **of) for one in parts.vectors]),
            ):
                if rows:
                    c.execute(insert(table), rows)
            set_owner(
                c,
                owner.id,
                timezone=parts.owner.timezone,
                seq=parts.owner.seq,
                pages=parts.owner.pages,
                revision=last,
                persona_no=last,
                embedded_seq=_embedded(parts),
                due_at=micros(now),
            )
            replay(c, owner.id)
            _refuse_torn(c, owner.id)
            _count_visits(c, owner.id, parts, embedder)
            _refuse_unsound(c, owner)


def _rows(c: Connection, owner_id: OwnerId, by: Any, *where: Any) -> Iterator[Row[Any]]:
    """An owner's rows of a table, in the order of one of its columns; not all in memory at once."""
    query = select(by.table).where(by.table.c.owner_id == owner_id, *where).order_by(by)
    for rows in c.execute(query, execution_options={"stream_results": True}).partitions(_ROWS):
        yield from rows


def _refuse_anything(c: Connection, owner: Owner) -> None:
    table = schema.owner
    row = c.execute(select(table.c.seq, table.c.revision).where(table.c.owner_id == owner.id)).one()
    state = schema.record_state
    written = c.scalar(select(exists().where(state.c.owner_id == owner.id)))
    if row.seq or row.revision or written:
        raise InputError(f"{owner.user} / {owner.agent} already has a memory here: forget it first, or use --leave-out")


def _page_rows(owner_id: OwnerId, utterances: Sequence[UtterancePart]) -> list[dict[str, Any]]:
    """Pages as `append` made them, one utterance after the other."""
    pages: dict[str, dict[str, Any]] = {}
    for part in utterances:
        page = pages.setdefault(
            part.page,
            {
                "owner_id": owner_id,
                "page_id": part.page,
                "no": part.page_no,
                "thread": part.thread,
                "first_seq": part.seq,
                "answered": False,
                "recorded_at": micros(part.recorded_at),
                **zoned("expires_at", part.expires_at),
                **dict.fromkeys(("annotated_seq", "analysed_seq", "touched_no", "attempts"), 0),
            },
        )
        page["last_seq"] = part.seq
        page["answered"] = page["answered"] or part.role.agent_side
    return list(pages.values())


def _embedded(parts: Parts) -> int:
    """Up to which number no utterance is without a vector."""
    known = {part.seq for part in parts.vectors}
    bare = next((part.seq for part in parts.utterances if part.seq not in known), None)
    return parts.owner.seq if bare is None else bare - 1


def _refuse_torn(c: Connection, owner_id: OwnerId) -> None:
    """Raises InputError where a page is in a segment that the log never wrote."""
    page, text = schema.page, schema.segment_text
    written = exists().where(
        text.c.owner_id == owner_id, text.c.segment_id == page.c.segment_id, text.c.retired_no.is_(None)
    )
    torn = (
        select(func.count())
        .select_from(page)
        .where(page.c.owner_id == owner_id, page.c.segment_id.is_not(None), ~written)
    )
    if count := c.scalar(torn):
        raise InputError(f"{count} pages were placed into segments that no change wrote")


def _refuse_unsound(c: Connection, owner: Owner) -> None:
    """Raises InputError where `doctor` would find something in what was derived."""
    if found := unsound(c, owner):
        more = f", and {len(found) - 1} more" if len(found) > 1 else ""
        raise InputError(f"the log gives an inconsistent memory: {found[0]}{more}")


def _count_visits(c: Connection, owner_id: OwnerId, parts: Parts, embedder: str) -> None:
    """What no log holds: the use of segments and facts, and the sums of segments' vectors."""
    segments = [
        row_of(
            part,
            schema.segment,
            segment_id=part.id,
            vector_sum=part.sum,
            embedder=None if part.sum is None else embedder,
        )
        for part in parts.segments
    ]
    update_rows(c, schema.segment, owner_id, ("segment_id",), segments)
    facts = [row_of(part, schema.fact, fact_id=part.id) for part in parts.facts]
    update_rows(c, schema.fact, owner_id, ("fact_id",), facts)
