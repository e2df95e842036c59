"""The rows of an owner as one stream, and the one way to write such rows: what export, import and copy share.

The stream is of the transaction that it is read in, and so of one state. The owner's own row is first; within a table,
rows are in one order on every read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Column, Row, Select, Table, insert, select
from sqlalchemy.engine import Connection

from embermem.store import schema
from embermem.store.schema import COMMON, OWNED

Batch = tuple[Table, Sequence[Row[Any]]]
"""Some rows of one table, at least one."""
_ORDER: Mapping[Table, Iterable[Column[Any]]] = {
    schema.receipt: (schema.receipt.c.first_seq, schema.receipt.c.key),
    schema.segment: (schema.segment.c.opened_no, schema.segment.c.segment_id),
}
"""The order of the rows of a table, where it is not that of the primary key: the first one made first."""
_AT_ONCE = 1_000
"""Rows of a batch at most."""
_LARGE = 20_000
"""Utterances of an owner whose rows are not all held in memory: a server's cursor costs three more round trips."""


def owner_rows(c: Connection, owner_id: str, tables: Iterable[Table] = OWNED) -> Iterator[Batch]:
    """An owner's rows, table by table: of the tables that are given, the owner's own first."""
    large = False
    for table in tables:
        query = select(table).where(table.c.owner_id == owner_id)
        for rows in _batches(c, query.order_by(*_ORDER.get(table, table.primary_key.columns)), large):
            yield table, rows
            large = large or (table is schema.owner and rows[0].seq > _LARGE)


def common_rows(c: Connection, without: Sequence[str] = ()) -> Iterator[Batch]:
    """The rows of the tables that belong to no owner, without the settings of some keys."""
    for table in COMMON:
        query = select(table).where(table.c.key.not_in(without)) if table is schema.store else select(table)
        for rows in _batches(c, query, large=False):
            yield table, rows


def write(c: Connection, table: Table, rows: Iterable[Mapping[str, Any] | Row[Any]]) -> None:
    """Insert rows, each by the names of its columns."""
    if values := [dict(row._mapping if isinstance(row, Row) else row) for row in rows]:
        c.execute(insert(table), values)


def _batches(c: Connection, query: Select[Any], large: bool) -> Iterator[Sequence[Row[Any]]]:
    return c.execute(query, execution_options={"stream_results": large}).partitions(_AT_ONCE)
