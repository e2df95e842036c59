"""Originals of utterances and documents: what callers handed in."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Select, and_, bindparam, delete, exists, insert, literal, select
from sqlalchemy.engine import Connection

from embermem.core.errors import StoreCorrupt
from embermem.core.originals import value_of
from embermem.core.types import OwnerId, ThreadId
from embermem.store import schema
from embermem.store.codec import micros
from embermem.store.queries import reads
from embermem.store.transactions import Transactions

_OVER = and_(schema.page.c.expires_at.is_not(None), schema.page.c.expires_at <= bindparam("at"))
_KEEP = insert(schema.original)
_DROP = delete(schema.original).where(
    schema.original.c.owner_id == bindparam("owner"), schema.original.c.item_id == bindparam("item")
)


class Originals(Transactions):
    """What callers handed in, given back."""

    def originals(
        self,
        owner_id: OwnerId,
        *,
        now: datetime,
        ids: Collection[str] | None = None,
        thread: ThreadId | None = None,
        source: str | None = None,
        last: int | None = None,
    ) -> dict[str, Any]:
        """The originals of what has not expired, by the ids of utterances and documents, in the order in which these
        were stored: those of some ids, of the utterances of a thread, of the document of a source, the `last` of them.
        Raises StoreCorrupt."""
        queries = [] if source is not None else [_of_utterances(thread is not None)]
        if thread is None:
            queries.append(_of_documents(source is not None))
        if last is not None:
            queries = [query.limit(last) for query in queries]
        item, named = schema.original.c.item_id, {"owner": owner_id, "at": micros(now), "of": thread or source}
        some: list[Sequence[str] | None] = [None] if ids is None else [*reads.chunks(sorted({*ids}))]
        with self._read() as c:
            rows = [
                row
                for query in queries
                for chunk in some
                for row in c.execute(query if chunk is None else query.where(item.in_(chunk)), named)
            ]
        rows.sort(key=lambda row: (row.recorded_at, row.seq))
        return {row.item_id: value_of(row.value) for row in (rows if last is None else rows[-last:])}


@cache
def _of_utterances(of_thread: bool) -> Select[Any]:
    """The newest first."""
    original, said, page = schema.original, schema.utterance, schema.page
    query = (
        select(original.c.item_id, original.c.value, said.c.recorded_at, said.c.seq)
        .join_from(page, said, reads.same(said, page, "page_id"))
        .join(original, and_(original.c.owner_id == said.c.owner_id, original.c.item_id == said.c.id))
        .where(page.c.owner_id == bindparam("owner"), ~_OVER)
        .order_by(said.c.seq.desc())
    )
    return query.where(page.c.thread == bindparam("of")) if of_thread else query


@cache
def _of_documents(of_source: bool) -> Select[Any]:
    """The newest first; none of a document that has lost a passage by now, and is to lose its row."""
    original, document, page = schema.original, schema.document, schema.page
    query = (
        select(original.c.item_id, original.c.value, document.c.recorded_at, literal(2**31).label("seq"))
        .join_from(
            document,
            original,
            and_(original.c.owner_id == document.c.owner_id, original.c.item_id == document.c.document_id),
        )
        .where(
            document.c.owner_id == bindparam("owner"),
            ~exists().where(page.c.owner_id == document.c.owner_id, page.c.thread == reads.DOCUMENT_THREAD, _OVER),
        )
    )
    return (
        query.where(document.c.source == bindparam("of"))
        if of_source
        else query.order_by(document.c.recorded_at.desc())
    )


def keep(c: Connection, owner_id: OwnerId, given: Iterable[tuple[str, str | None]]) -> None:
    """Write originals, each with the id of its item; none where there is none."""
    rows = [{"owner_id": owner_id, "item_id": item, "value": text} for item, text in given if text is not None]
    if rows:
        c.execute(_KEEP, rows)


def drop(c: Connection, owner_id: OwnerId, items: Select[Any] | Sequence[str]) -> None:
    """Take away the originals of some items: ids, or a query for them."""
    original = schema.original
    if isinstance(items, Select):
        c.execute(delete(original).where(original.c.owner_id == owner_id, original.c.item_id.in_(items)))
    elif items:
        c.execute(_DROP, [{"owner": owner_id, "item": item} for item in items])


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
