"""Owners' ids in SQLite's file: a short number stands for each, since the key of every row and of every index entry
begins with one. PostgreSQL's tables hold the ids themselves.

Statements name an owner by the id on both engines. Before SQLite runs one, its parameters that are owners' ids are
replaced by their numbers, which the table `owner_key` has. A number is given when an owner's first row is inserted, and
never again to another. What is selected of a column of owners is the id.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Dialect, String, TypeDecorator
from sqlalchemy.engine.interfaces import ExecutionContext
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.pool import PoolProxiedConnection
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

__all__ = ["KEYS", "IdOf", "OwnerKey", "drop_alias", "forget_numbers", "table_of_keys", "with_numbers"]

KEYS = "owner_key"
"""The table of numbers. It is of the file, not of the schema: no copy on another engine has it."""
_KNOWN = "ember_owner_keys"
"""Where a connection notes the numbers that its transaction has asked for."""
_NOBODY = ""
"""Stands in no row."""


class _Ref(str):
    """An owner's id among the parameters of a statement."""

    __slots__ = ()


class IdOf(FunctionElement[str]):
    """The id that a column of owners stands for, to order and compare by."""

    type = String(32)
    inherit_cache = True


@compiles(IdOf)
def _as_it_is(element: IdOf, compiler: SQLCompiler, **options: Any) -> str:
    return compiler.process(element.clauses, **options)


@compiles(IdOf, "sqlite")
def _looked_up(element: IdOf, compiler: SQLCompiler, **options: Any) -> str:
    return f"(SELECT {KEYS}.id FROM {KEYS} WHERE {KEYS}.no = {compiler.process(element.clauses, **options)})"


class OwnerKey(TypeDecorator[str]):
    """The id of an owner."""

    impl = String
    cache_ok = True

    def __init__(self) -> None:
        super().__init__(32)

    @property
    def python_type(self) -> type[str]:
        """What values of it are."""
        return str

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """The id, marked as one for SQLite's connection, which knows its number."""
        return value if value is None or dialect.name != "sqlite" else _Ref(value)

    def column_expression(self, column: Any) -> Any:
        """What is selected is the id."""
        return IdOf(column)


def table_of_keys() -> str:
    """The statement that makes the table."""
    return f"CREATE TABLE {KEYS} (no INTEGER PRIMARY KEY AUTOINCREMENT, id VARCHAR(32) NOT NULL UNIQUE)"


def forget_numbers(info: dict[Any, Any]) -> None:
    """At the beginning of a connection's transaction: another process may have given numbers, or taken them away."""
    info.pop(_KNOWN, None)


def with_numbers(rows: Sequence[Any], context: ExecutionContext) -> Sequence[Any]:
    """The rows of parameters of a statement, with numbers in the place of owners' ids; for an owner who has none, and
    gets none, what no row has."""
    places = [place for place, value in enumerate(rows[0]) if type(value) is _Ref]
    if not places:
        return rows
    connection, made = context.root_connection.connection, []
    known: dict[str, str] = connection.info.setdefault(_KNOWN, {})
    for row in rows:
        made.append(numbered := list(row))
        for place in places:
            owner_id = numbered[place]
            numbered[place] = known.get(owner_id) or _number(connection, known, str(owner_id), context.isinsert)
    return made


def _number(connection: PoolProxiedConnection, known: dict[str, str], owner_id: str, inserts: bool) -> str:
    driver: Any = connection.dbapi_connection
    row = driver.execute(f"SELECT no FROM {KEYS} WHERE id = ?", (owner_id,)).fetchone()
    if row is None and not inserts:
        return _NOBODY
    if row is None:
        row = (driver.execute(f"INSERT INTO {KEYS} (id) VALUES (?)", (owner_id,)).lastrowid,)
    known[owner_id] = str(row[0])
    return known[owner_id]


def drop_alias(c: Connection, owner_id: str) -> None:
    """Take away the number of an owner of whom no row is left."""
    if c.dialect.name == "sqlite":
        c.exec_driver_sql(f"DELETE FROM {KEYS} WHERE id = ?", (owner_id,))
        c.info.pop(_KNOWN, None)
