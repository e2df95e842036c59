"""What the tables and indexes of a store take, as the engine counts it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping

from sqlalchemy import func, select, text
from sqlalchemy.engine import Connection

from embermem.protocols import DiskUsage, PartBytes
from embermem.store import schema

__all__ = ["of_file", "of_server"]

_PAGES = "SELECT name, sum(pgsize) AS size, sum(unused) AS unused FROM dbstat GROUP BY name"
_SERVER = """
SELECT c.relname AS name, t.relname AS of_table, c.relkind AS kind,
       CASE WHEN c.relkind = 'r' THEN pg_table_size(c.oid) ELSE pg_relation_size(c.oid) END AS size
FROM pg_class c
LEFT JOIN pg_index i ON i.indexrelid = c.oid
LEFT JOIN pg_class t ON t.oid = i.indrelid
WHERE c.relkind IN ('r', 'i') AND coalesce(t.relname, c.relname) = ANY(:names)
  AND pg_table_is_visible(coalesce(t.oid, c.oid))
"""


def of_file(c: Connection) -> DiskUsage:
    """Of an SQLite database: each page by what it belongs to (`dbstat`), with the bytes in it that hold nothing. An
    SQLite that was built without that table tells how long the values are; the rest of the file is then `other`."""
    page, free, count = (
        int(c.exec_driver_sql(f"PRAGMA {one}").scalar_one()) for one in ("page_size", "freelist_count", "page_count")
    )
    table_of: dict[str, str] = {
        row.name: row.tbl_name
        for row in c.exec_driver_sql("SELECT name, tbl_name FROM sqlite_master WHERE type = 'index'")
    }
    exact = _has_page_table(c)
    if exact:
        rows = c.exec_driver_sql(_PAGES).all()
        parts = [_part(row.name, table_of.get(row.name), row.size - row.unused, row.unused) for row in rows]
    else:
        parts = [_part(name, None, length, 0) for name, length in _lengths(c)]
    return _usage(c, parts, total=page * count, free=page * free, exact=exact)


def of_server(c: Connection) -> DiskUsage:
    """Of a PostgreSQL database: the sizes of our tables (with their long values) and indexes; what in them holds
    nothing is not told."""
    rows = c.execute(text(_SERVER), {"names": [table.name for table in schema.metadata.sorted_tables]}).all()
    parts = [_part(row.name, row.of_table, int(row.size), 0) for row in rows]
    return _usage(c, parts, total=sum(one.bytes for one in parts), free=0, exact=True)


def _part(name: str, of_table: str | None, used: int, unused: int) -> PartBytes:
    return PartBytes(name=name, index_of=of_table, bytes=used + unused, unused=unused)


def _usage(c: Connection, parts: list[PartBytes], *, total: int, free: int, exact: bool) -> DiskUsage:
    count = {
        table.name: int(c.scalar(select(func.count()).select_from(table)) or 0)
        for table in (schema.utterance, schema.page)
    }
    return DiskUsage(
        bytes=total,
        free=free,
        other=max(0, total - free - sum(one.bytes for one in parts)),
        exact=exact,
        utterances=count[schema.utterance.name],
        pages=count[schema.page.name],
        parts=tuple(sorted(parts, key=lambda one: (-one.bytes, one.name))),
    )


def _has_page_table(c: Connection) -> bool:
    try:
        with_pages: Mapping[str, object] = dict(c.exec_driver_sql("SELECT name, 1 FROM pragma_module_list").all())
    except sqlite3.Error:
        return False
    return "dbstat" in with_pages


def _lengths(c: Connection) -> Iterator[tuple[str, int]]:
    """The bytes of each table's values."""
    for table in schema.metadata.sorted_tables:
        columns = " + ".join(f'coalesce(length(CAST("{column.name}" AS BLOB)), 0)' for column in table.c)
        yield table.name, int(c.exec_driver_sql(f'SELECT coalesce(sum({columns}), 0) FROM "{table.name}"').scalar_one())
