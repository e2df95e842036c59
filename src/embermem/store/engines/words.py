"""What the engines say in different words, for statements that are the same on both."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import ARRAY, Table, Text, bindparam, func, or_, select, text
from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import Connection

_LAST = "\U0010ffff"
"""No character is ordered after this one."""
_SURROGATES, _AFTER_SURROGATES = 0xD800, 0xE000


def upsert(c: Connection, table: Table) -> Any:
    """An insert that may say what happens where the row is there already; both engines have the same words for it."""
    return _upsert(c.dialect.name, table)


def replacing(c: Connection, table: Table) -> Any:
    """An insert of whole rows, each of which replaces the one with its key."""
    return _replacing(c.dialect.name, table)


@cache
def _upsert(engine: str, table: Table) -> Any:
    if engine != "postgresql":
        return sqlite.insert(table)
    from sqlalchemy.dialects import postgresql  # a dozen modules, which nobody needs who has a file

    return postgresql.insert(table)


@cache
def _replacing(engine: str, table: Table) -> Any:
    made = _upsert(engine, table)
    others = {one.name: made.excluded[one.name] for one in table.c if not one.primary_key}
    return made.on_conflict_do_update(index_elements=list(table.primary_key), set_=others)


def is_spread(c: Connection) -> bool:
    """Whether the store of a connection is spread over several servers, with what belongs to no owner on each."""
    return bool(getattr(c.dialect, "ember_spread", False))


def begins_with(column: Any, beginning: str) -> tuple[Any, ...]:
    """That a column, which is ordered by code points, begins with a text: by an index of the column, letter by letter.
    (LIKE takes no notice of case on SQLite, and uses no index there.)"""
    stem = beginning.rstrip(_LAST)
    if not stem:
        return column >= beginning, func.substr(column, 1, len(beginning)) == beginning
    after = ord(stem[-1]) + 1
    return column >= beginning, column < stem[:-1] + chr(_AFTER_SURROGATES if after == _SURROGATES else after)


def how_it_runs(c: Connection) -> str:
    """What is put before a statement to be told how it would be run."""
    return "EXPLAIN" if c.dialect.name == "postgresql" else "EXPLAIN QUERY PLAN"


def planned_rows(c: Connection, table: Table) -> int | None:
    """How many rows the engine's planner takes a table for; None where it does not tell. PostgreSQL's knows since the
    last ANALYZE, which autovacuum makes by itself."""
    if c.dialect.name != "postgresql":
        return None
    told = c.execute(text("SELECT reltuples FROM pg_class WHERE oid = to_regclass(:name)"), {"name": table.name})
    return int(told.scalar() or 0)


def has_text(column: Any, text: str) -> Any:
    """Whether a text stands in a column, whatever the case of its letters (on SQLite: of those of ASCII)."""
    exact = column.contains(text, autoescape=True)
    return or_(exact, func.lower(column).contains(text.lower(), autoescape=True))


def among(c: Connection, column: Any, some: Sequence[str]) -> Any:
    """Whether a column has one of some texts, of which there may be any number: they are one parameter."""
    if c.dialect.name == "postgresql":
        return column == func.any(bindparam(None, list(some), type_=ARRAY(Text)))
    listed = func.json_each(json.dumps(list(some))).table_valued("value")
    return column.in_(select(listed.c.value))


def holds(c: Connection, column: Any, text: str) -> Any:
    """Whether a text stands in a column, letter by letter."""
    find = func.strpos if c.dialect.name == "postgresql" else func.instr
    return find(column, text) > 0
