"""What the engines say in different words, for statements that are the same on both."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Table, func
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection


def upsert(c: Connection, table: Table) -> Any:
    """An insert that may say what happens where the row is there already; both engines have the same words for it."""
    return postgresql.insert(table) if c.dialect.name == "postgresql" else sqlite.insert(table)


def how_it_runs(c: Connection) -> str:
    """What is put before a statement to be told how it would be run."""
    return "EXPLAIN" if c.dialect.name == "postgresql" else "EXPLAIN QUERY PLAN"


def holds(c: Connection, column: Any, text: str) -> Any:
    """Whether a text stands in a column, letter by letter."""
    find = func.strpos if c.dialect.name == "postgresql" else func.instr
    return find(column, text) > 0
