"""Originals of utterances and documents: what callers handed in."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, delete, exists, insert, literal, select
from sqlalchemy.engine import Connection

from embermem.core.errors import StoreCorrupt
from embermem.core.originals import value_of
from embermem.core.types import DocumentId, OwnerId, ThreadId, thread_of
from embermem.store import schema
from embermem.store.codec import micros
from embermem.store.queries import reads
from embermem.store.transactions import Transactions


class Originals(Transactions):
    """What callers handed in, given back."""

    def originals(
        self,
        owner_id: OwnerId,
        *,
        now: datetime,
        ids: Collection[str] | None = None,
        thread: ThreadId | None = None,
        last: int | None = None,
    ) -> dict[str, Any]:
        """The originals of what has not expired, by the ids of utterances and documents, in the order in which these
        were stored: those of some ids, of the utterances of a thread, the `last` of them. Raises StoreCorrupt."""
        queries = [_of_utterances(owner_id, micros(now), thread)]
        if thread is None:
            queries.append(_of_documents(owner_id, micros(now)))
        item = schema.original.c.item_id
        some: list[Sequence[str] | None] = [None] if ids is None else [*reads.chunks(sorted({*ids}))]
        with self._read() as c:
            rows = [
                row
                for query in queries
                for chunk in some
                for row in c.execute((query if chunk is None else query.where(item.in_(chunk))).limit(last))
            ]
        rows.sort(key=lambda row: (row.recorded_at, row.seq))
        return {row.item_id: value_of(row.value) for row in (rows if last is None else rows[-last:])}


def _of_utterances(owner_id: OwnerId, at: int, thread: ThreadId | None) -> Select[Any]:
    """The newest first."""
    original, said, page = schema.original, schema.utterance, schema.page
    query = (
        select(original.c.item_id, original.c.value, said.c.recorded_at, said.c.seq)
        .join_from(page, said, reads.same(said, page, "page_id"))
        .join(original, and_(original.c.owner_id == said.c.owner_id, original.c.item_id == said.c.id))
        .where(page.c.owner_id == owner_id, ~_over(at))
        .order_by(said.c.seq.desc())
    )
    return query if thread is None else query.where(page.c.thread == thread)


def _of_documents(owner_id: OwnerId, at: int) -> Select[Any]:
    """The newest first; none of a document that has lost a passage by now, and is to lose its row."""
    original, document, page = schema.original, schema.document, schema.page
    thread = literal(thread_of(DocumentId(""))) + document.c.document_id
    return (
        select(original.c.item_id, original.c.value, document.c.recorded_at, literal(2**31).label("seq"))
        .join_from(
            document,
            original,
            and_(original.c.owner_id == document.c.owner_id, original.c.item_id == document.c.document_id),
        )
        .where(
            document.c.owner_id == owner_id,
            ~exists().where(page.c.owner_id == document.c.owner_id, page.c.thread == thread, _over(at)),
        )
        .order_by(document.c.recorded_at.desc())
    )


def _over(at: int) -> ColumnElement[bool]:
    page = schema.page
    return and_(page.c.expires_at.is_not(None), page.c.expires_at <= at)


def keep(c: Connection, owner_id: OwnerId, given: Iterable[tuple[str, str | None]]) -> None:
    """Write originals, each with the id of its item; none where there is none."""
    rows = [{"owner_id": owner_id, "item_id": item, "value": text} for item, text in given if text is not None]
    if rows:
        c.execute(insert(schema.original), rows)


def drop(c: Connection, owner_id: OwnerId, items: Any) -> None:
    """Take away the originals of some items: ids, or a query for them."""
    original = schema.original
    c.execute(delete(original).where(original.c.owner_id == owner_id, original.c.item_id.in_(items)))


def unreadable(c: Connection, owner_id: OwnerId) -> int:
    """How many originals are no JSON."""
    count = 0
    query = select(schema.original.c.value).where(schema.original.c.owner_id == owner_id)
    for text in c.scalars(query, execution_options={"yield_per": 100}):
        try:
            value_of(text)
        except StoreCorrupt:
            count += 1
    return count
