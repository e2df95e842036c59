"""One owner out of a store and into another, as parts that name no engine: both logs, and what no log holds.

What goes out is one state. What comes in is one transaction, and is derived from the log again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import Row, Table, bindparam, exists, func, insert, select, update
from sqlalchemy.engine import Connection

from embermem.core.changes import Cause, Decision
from embermem.core.errors import InputError
from embermem.core.types import Owner, OwnerId, Role
from embermem.store import schema
from embermem.store.admin.checking import unsound
from embermem.store.admin.replaying import replay
from embermem.store.codec import decisions_from, decisions_text, micros, offset
from embermem.store.erasing import Erasing
from embermem.store.queries import reads
from embermem.store.statements import ensure_owner, setting

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
class ChangePart:
    """One entry of the second log."""

    no: int
    cause: Cause
    analyst: str
    recorded_at: datetime
    decisions: tuple[Decision, ...]


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


AnyPart = TypeVar("AnyPart", bound="Part")
Part = OwnerPart | UtterancePart | ChangePart | ReceiptPart | SegmentPart | FactPart | VectorPart


@dataclass(frozen=True, kw_only=True, slots=True)
class Parts:
    """All parts of one owner, each kind in order."""

    owner: OwnerPart
    utterances: Sequence[UtterancePart]
    changes: Sequence[ChangePart]
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
        with self._read() as c:
            embedder = setting(c, "embedder") if vectors else ""
            for kind in (_owner, _utterances, _changes, _receipts):
                yield from kind(c, owner_id)
            yield from _segments(c, owner_id, embedder)
            yield from _facts(c, owner_id)
            if embedder:
                yield from _vectors(c, owner_id, embedder)

    def take_in(self, owner: Owner, parts: Parts, *, embedder: str, now: datetime) -> None:
        """Keep an owner's parts, in one transaction, and derive the memory from them. `embedder` is whose vectors the
        parts hold; what has none is due for one.

        Raises InputError where the owner has anything here, and for a log that leads to no sound memory.
        """
        with self._write() as c:
            ensure_owner(c, owner, micros(parts.owner.created_at))
            _refuse_anything(c, owner)
            _insert(c, schema.utterance, [_row(schema.utterance, owner.id, part) for part in parts.utterances])
            _insert(c, schema.page, _page_rows(owner.id, parts.utterances))
            _insert(
                c,
                schema.change,
                [
                    _row(schema.change, owner.id, part) | {"decisions": decisions_text(part.decisions)}
                    for part in parts.changes
                ],
            )
            _insert(c, schema.receipt, [_row(schema.receipt, owner.id, part) for part in parts.receipts])
            last = max((part.no for part in parts.changes), default=0)
            of = {"embedder": embedder, "change_no": last}
            _insert(c, schema.embedding, [_row(schema.embedding, owner.id, part, **of) for part in parts.vectors])
            c.execute(
                update(schema.owner)
                .where(schema.owner.c.owner_id == owner.id)
                .values(
                    timezone=parts.owner.timezone,
                    seq=parts.owner.seq,
                    pages=parts.owner.pages,
                    revision=last,
                    persona_no=last,
                    embedded_seq=_embedded(parts),
                    due_at=micros(now),
                )
            )
            replay(c, owner.id)
            _refuse_torn(c, owner.id)
            _count_visits(c, owner.id, parts, embedder)
            _refuse_unsound(c, owner)


# ---------------------------------------------------------------------------------------------------------------- out


def _owner(c: Connection, owner_id: OwnerId) -> Iterator[Part]:
    row = c.execute(select(schema.owner).where(schema.owner.c.owner_id == owner_id)).first()
    if row is not None:
        yield _part(OwnerPart, row)


def _utterances(c: Connection, owner_id: OwnerId) -> Iterator[Part]:
    said, page = schema.utterance, schema.page
    pages = {
        row.page_id: row
        for row in c.execute(
            select(page.c.page_id, page.c.no, page.c.expires_at, page.c.expires_offset).where(
                page.c.owner_id == owner_id
            )
        )
    }
    for row in _ordered(c, said, owner_id, said.c.seq):
        of = pages[row.page_id]
        ends = reads.time_from(of.expires_at, of.expires_offset)
        yield _part(UtterancePart, row, page_no=of.no, expires_at=ends)


def _changes(c: Connection, owner_id: OwnerId) -> Iterator[Part]:
    for row in _ordered(c, schema.change, owner_id, schema.change.c.no):
        yield _part(ChangePart, row, decisions=decisions_from(row.decisions))


def _receipts(c: Connection, owner_id: OwnerId) -> Iterator[Part]:
    for row in _ordered(c, schema.receipt, owner_id, schema.receipt.c.first_seq):
        yield _part(ReceiptPart, row)


def _segments(c: Connection, owner_id: OwnerId, embedder: str) -> Iterator[Part]:
    for row in _ordered(c, schema.segment, owner_id, schema.segment.c.opened_no):
        yield _part(SegmentPart, row, sum=row.vector_sum if embedder and row.embedder == embedder else None)


def _facts(c: Connection, owner_id: OwnerId) -> Iterator[Part]:
    fact = schema.fact
    query = select(fact).where(fact.c.owner_id == owner_id, fact.c.visits.is_not(None))
    for row in c.execute(query.order_by(fact.c.fact_id)):
        yield _part(FactPart, row)


def _vectors(c: Connection, owner_id: OwnerId, embedder: str) -> Iterator[Part]:
    for row in _ordered(c, schema.embedding, owner_id, schema.embedding.c.seq):
        if row.embedder == embedder:
            yield _part(VectorPart, row)


def _ordered(c: Connection, table: Table, owner_id: OwnerId, by: Any) -> Iterator[Row[Any]]:
    query = select(table).where(table.c.owner_id == owner_id).order_by(by)
    for rows in c.execute(query, execution_options={"stream_results": True}).partitions(_ROWS):
        yield from rows


# ------------------------------------------------------------------------------------------------- parts and rows


_COLUMNS: Mapping[type[Any], Mapping[str, str]] = {
    UtterancePart: {"page": "page_id"},
    SegmentPart: {"id": "segment_id", "sum": "vector_sum"},
    FactPart: {"id": "fact_id"},
}
"""What the columns of a part's fields are called, where they have another name."""


def _part(kind: type[AnyPart], row: Row[Any], **given: Any) -> AnyPart:
    """A part from its table's row, but for what is given of it."""
    names = _COLUMNS.get(kind, {})
    made = {
        one.name: _value(row, names.get(one.name, one.name), str(one.type))
        for one in fields(kind)
        if one.name not in given
    }
    return kind(**made, **given)


def _value(row: Row[Any], column: str, of: str) -> Any:
    value = getattr(row, column)
    if of.startswith("datetime"):
        return reads.time_from(value, getattr(row, _offset(column), 0))
    return _NAMED[of](value) if of in _NAMED else value


_NAMED: Mapping[str, type[Role] | type[Cause]] = {"Role": Role, "Cause": Cause}
"""Types of fields whose values are stored by their names."""


def _row(table: Table, owner_id: OwnerId, part: Part, **more: Any) -> dict[str, Any]:
    """A part as a row of its table; `more` is what the part does not say."""
    names = _COLUMNS.get(type(part), {})
    row: dict[str, Any] = {"owner_id": owner_id, **more}
    for one in fields(part):
        column, value = names.get(one.name, one.name), getattr(part, one.name)
        if isinstance(value, datetime):
            row |= {column: micros(value), _offset(column): offset(value)}
        else:
            row[column] = value.value if isinstance(value, Role | Cause) else value
    return {column: value for column, value in row.items() if column in table.c}


def _offset(column: str) -> str:
    """The column of a time's zone."""
    return f"{column.removesuffix('_at')}_offset"


# ----------------------------------------------------------------------------------------------------------------- in


def _refuse_anything(c: Connection, owner: Owner) -> None:
    table = schema.owner
    row = c.execute(select(table.c.seq, table.c.revision).where(table.c.owner_id == owner.id)).one()
    state = schema.record_state
    written = c.scalar(select(exists().where(state.c.owner_id == owner.id)))
    if row.seq or row.revision or written:
        raise InputError(f"{owner.user} / {owner.agent} already has a memory here: forget it first, or use --leave-out")


def _insert(c: Connection, table: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    if rows:
        c.execute(insert(table), rows)


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
                "expires_at": None if part.expires_at is None else micros(part.expires_at),
                "expires_offset": None if part.expires_at is None else offset(part.expires_at),
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
        _row(schema.segment, owner_id, part, embedder=None if part.sum is None else embedder) for part in parts.segments
    ]
    _set(c, schema.segment, "segment_id", segments, ("visits", "visited_at", "embedder", "vector_sum"))
    facts = [_row(schema.fact, owner_id, part) for part in parts.facts]
    _set(c, schema.fact, "fact_id", facts, ("visits", "visited_at"))


def _set(c: Connection, table: Table, key: str, rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> None:
    """Put columns of rows in the place of what the table has under their keys."""
    if not rows:
        return
    mine = (table.c.owner_id == rows[0]["owner_id"], table.c[key] == bindparam("k_id"))
    statement = update(table).where(*mine).values({name: bindparam(f"b_{name}") for name in names})
    c.execute(statement, [{"k_id": row[key], **{f"b_{name}": row[name] for name in names}} for row in rows])
