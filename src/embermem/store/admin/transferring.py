"""One owner out of a store and into another, as parts that name no engine: both logs, and what no log holds.

What goes out is one state. What comes in is one transaction, and is derived from the log again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Row, Table, func, select
from sqlalchemy.engine import Connection

from embermem.core.changes import Change, VisitCount
from embermem.core.errors import InputError
from embermem.core.metadata import Metadata
from embermem.core.types import Owner, OwnerId, PageId, Passage, Role, ThreadId, UtteranceOrigin
from embermem.languages.text_marks import marks_of_message
from embermem.store import schema
from embermem.store.admin.checking import unsound
from embermem.store.admin.replaying import replay
from embermem.store.admin.row_stream import owner_rows, write
from embermem.store.codec import micros, moment, record, row_of, zoned
from embermem.store.erasing import Erasing, gone_marks, sum_again
from embermem.store.queries import originals, reads
from embermem.store.queries.changes import change_from, change_row
from embermem.store.queries.log import new_page
from embermem.store.statements import ensure_owner, owner_state, set_owner, setting
from embermem.store.values import value_rows

_TOLD = (
    *(schema.owner, schema.page, schema.document, schema.utterance, schema.original, schema.change),
    *(schema.receipt, schema.visit),
)
"""The tables of which parts are made, in their order; the vectors come last, if they are asked for."""


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
class DocumentPart:
    """A document, without its passages, which are utterances."""

    id: str
    source: str
    title: str
    digest: str
    said_at: datetime
    recorded_at: datetime
    metadata: Metadata = field(default_factory=dict, hash=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class UtterancePart:
    """One message, and the id and number of the page that it is of; `expires_at` is the page's. One of a document says
    where it stands. `origin` is None where it is that of the role."""

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
    metadata: Metadata = field(default_factory=dict, hash=False)
    passage: Passage | None = None
    origin: UtteranceOrigin | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class OriginalPart:
    """What a caller handed in, as JSON, and the id of the utterance or document that was made of it."""

    id: str
    value: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ReceiptPart:
    """A key that was given with a call, so that the same call made again does nothing. Of another call than `add`, both
    seqs are 0, and `change_no` and `result` say what it did."""

    key: str
    digest: str
    first_seq: int
    last_seq: int
    recorded_at: datetime
    change_no: int | None = None
    result: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class VectorPart:
    """An utterance's vector (core/vector_codes.py), and those of its tokens, packed, if there are any; of a
    long text, those of its first passage, and in `passages` those of the others (codec.py)."""

    seq: int
    data: bytes
    tokens: bytes | None
    passages: bytes | None = None


Part = OwnerPart | DocumentPart | UtterancePart | OriginalPart | Change | ReceiptPart | VisitCount | VectorPart


@dataclass(frozen=True, kw_only=True, slots=True)
class Parts:
    """All parts of one owner, each kind in order."""

    owner: OwnerPart
    utterances: Sequence[UtterancePart]
    changes: Sequence[Change]
    receipts: Sequence[ReceiptPart]
    vectors: Sequence[VectorPart]
    visits: Sequence[VisitCount] = ()  # that no change tells of yet
    documents: Sequence[DocumentPart] = ()
    originals: Sequence[OriginalPart] = ()


class Transferring(Erasing):
    """Owners out of the store, and into it."""

    def parts(self, owner_id: OwnerId, *, vectors: bool) -> Iterator[Part]:
        """An owner's parts, first the owner's own, in one state of the store; none for an owner that there is not.

        Vectors are those of the store's embedder, and come if they are asked for.
        """
        with self._read() as c:
            embedder = setting(c, "embedder") if vectors else ""
            pages: dict[str, Row[Any]] = {}
            for table, rows in owner_rows(c, owner_id, (*_TOLD, schema.embedding) if embedder else _TOLD):
                if table is schema.page:
                    pages.update((row.page_id, row) for row in rows)
                else:
                    yield from filter(None, (_part(table, row, pages, embedder) for row in rows))

    def take_in(self, owner: Owner, parts: Parts, *, embedder: str, now: datetime) -> None:
        """Keep an owner's parts, in one transaction, and derive the memory from them. `embedder` is whose vectors the
        parts hold; what has none is due for one.

        Raises InputError where the owner has anything here, where a message of the parts was forgotten here, and for a
        log that leads to no sound memory.
        """
        with self._write() as c:
            ensure_owner(c, owner, micros(parts.owner.created_at))
            _refuse_anything(c, owner)
            self._refuse_forgotten(c, owner, parts)
            last = max((part.no for part in parts.changes), default=0)
            mine, said = {"owner_id": owner.id}, schema.utterance
            of = {**mine, "embedder": embedder, "change_no": last}
            write(
                c,
                schema.document,
                (row_of(one, schema.document, **mine, document_id=one.id) for one in parts.documents),
            )
            write(c, said, (row_of(one, said, **mine, page_id=one.page) for one in parts.utterances))
            values = (row for one in parts.utterances for row in value_rows(owner.id, one.seq, one.metadata))
            write(c, schema.utterance_value, values)
            originals.keep(c, owner.id, ((one.id, one.value) for one in parts.originals))
            write(c, schema.page, _page_rows(owner.id, parts.utterances))
            write(c, schema.change, (change_row(owner.id, one) for one in parts.changes))
            write(c, schema.receipt, (row_of(one, schema.receipt, **mine) for one in parts.receipts))
            write(c, schema.embedding, (row_of(one, schema.embedding, **of) for one in parts.vectors))
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
            sum_again(c, owner.id)
            waiting = (row_of(one, schema.visit, **mine, visited_at=micros(one.at)) for one in parts.visits)
            write(c, schema.visit, waiting)
            _refuse_unsound(c, owner)

    def forgotten_of(self, owner_id: OwnerId, parts: Parts) -> int:
        """How many messages of the parts were forgotten here with this owner's whole memory, or before that."""
        with self._read() as c:
            return self._forgotten(c, owner_id, parts)

    def _forgotten(self, c: Connection, owner_id: OwnerId, parts: Parts) -> int:
        if (key := self._known_key(c)) is None:
            return 0
        marks = [marks_of_message(key, one.role.value, one.text, one.said_at) for one in parts.utterances]
        known = gone_marks(c, owner_id, frozenset[str]().union(*marks), key, new=True)
        return sum(not known.isdisjoint(one) for one in marks)

    def _refuse_forgotten(self, c: Connection, owner: Owner, parts: Parts) -> None:
        if count := self._forgotten(c, owner.id, parts):
            raise InputError(
                f"{count} of {len(parts.utterances)} messages of {owner.user} / {owner.agent} were forgotten in this "
                "store: no import brings them back, unless `readmit()` was called on this memory (Python) before; "
                "--leave-out goes on without this user"
            )

    def holds_all(self, owner_id: OwnerId, parts: Parts) -> bool:
        """Whether everything that was said in the parts, and changed, is of this owner here already."""
        with self._read() as c:
            state = owner_state(c, owner_id)
            if state is None or state.revision < max((one.no for one in parts.changes), default=0):
                return False
            table, found = schema.utterance, 0
            for some in reads.chunks([one.id for one in parts.utterances]):
                own = (table.c.owner_id == owner_id, table.c.id.in_(some))
                found += c.scalar(select(func.count()).select_from(table).where(*own)) or 0
            born = c.scalar(select(schema.owner.c.created_at).where(schema.owner.c.owner_id == owner_id))
            return found == len(parts.utterances) and bool(found or born == micros(parts.owner.created_at))


def _part(table: Table, row: Row[Any], pages: Mapping[str, Row[Any]], embedder: str) -> Part | None:
    """What goes out of a row; None where that is nothing."""
    match table.name:
        case "owner":
            return record(OwnerPart, row)
        case "document":
            return record(DocumentPart, row, id=row.document_id)
        case "utterance":
            of = pages[row.page_id]
            ends = reads.time_from(of.expires_at, of.expires_offset)
            return record(UtterancePart, row, page=row.page_id, page_no=of.no, expires_at=ends)
        case "original":
            return record(OriginalPart, row, id=row.item_id)
        case "change":
            return change_from(row)
        case "receipt":
            return record(ReceiptPart, row)
        case "visit":
            return record(VisitCount, row, at=moment(row.visited_at))
        case _:
            if row.embedder != embedder:
                return None
            return record(VectorPart, row)


def _refuse_anything(c: Connection, owner: Owner) -> None:
    table = schema.owner
    row = c.execute(select(table.c.seq, table.c.revision).where(table.c.owner_id == owner.id)).one()
    if row.seq or row.revision:
        raise InputError(f"{owner.user} / {owner.agent} already has a memory here, which is not that of the file")


def _page_rows(owner_id: OwnerId, utterances: Sequence[UtterancePart]) -> list[dict[str, Any]]:
    """Pages as `append` made them, one utterance after the other."""
    pages: dict[str, dict[str, Any]] = {}
    for part in utterances:
        if part.page not in pages:
            pages[part.page] = zoned("expires_at", part.expires_at) | new_page(
                owner_id,
                PageId(part.page),
                part.page_no,
                ThreadId(part.thread),
                part.seq,
                False,
                micros(part.recorded_at),
            )
        page = pages[part.page]
        page["last_seq"] = part.seq
        page["answered"] = page["answered"] or part.role.agent_side
    return list(pages.values())


def _embedded(parts: Parts) -> int:
    """Up to which number no utterance is without a vector."""
    known = {part.seq for part in parts.vectors}
    bare = next((part.seq for part in parts.utterances if part.seq not in known), None)
    return parts.owner.seq if bare is None else bare - 1


def _refuse_unsound(c: Connection, owner: Owner) -> None:
    """Raises InputError where `doctor` would find something in what was derived."""
    if found := unsound(c, owner):
        more = f", and {len(found) - 1} more" if len(found) > 1 else ""
        raise InputError(f"the log gives an inconsistent memory: {found[0]}{more}")
