"""Making the schema, and bringing an older one up to date: what it lacks is added. No table gets another layout:
those of SQLite that an older version made keep their rowid until the store is copied. On SQLite the step to 0013 writes
every row of an owner again, with the owner's number for its id."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Connection, Dialect, Engine, Table, inspect, literal_column, select, text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import CreateIndex, CreateTable, ExecutableDDLElement
from sqlalchemy.sql.compiler import DDLCompiler

from embermem.core.errors import SchemaMismatch, StoreCorrupt
from embermem.store import schema
from embermem.store.engines.owner_alias import KEYS, has_numbers, table_of_keys
from embermem.store.engines.short_names import short_forms
from embermem.store.engines.words import order_by_code_points
from embermem.store.schema import HEAD, KNOWN
from embermem.store.statements import SCRUBBED

VERSION_TABLE = "ember_version"
NEW_STORE = f"INSERT INTO {schema.store.name} (key, value) VALUES ('{SCRUBBED}', 'new')"
"""What a store holds that was just made: nothing was ever deleted there."""


def refuse_newer(found: str, place: str) -> None:
    """Raises SchemaMismatch for a schema that this Ember does not know."""
    if found not in KNOWN:
        raise SchemaMismatch(
            f"{place} was made by a newer version of Ember (schema {found}; this version supports up to {HEAD}): "
            "upgrade embermem"
        )


def refuse_other(connection: Connection, place: str) -> None:
    """Raises SchemaMismatch in a transaction that writes, where another Ember has migrated the store since it was
    opened. On PostgreSQL the look holds a migration off until the transaction ends."""
    with closing(connection.connection.cursor()) as cursor:  # the driver's own: every write asks this
        cursor.execute(f"SELECT version_num FROM {VERSION_TABLE}")
        (found,) = cursor.fetchone() or (None,)
    if found != HEAD:
        raise SchemaMismatch(
            f"{place} was migrated to schema {found} while this process, which supports up to {HEAD}, had it open; "
            "nothing was written: restart this program with the newer embermem"
        )


def version(engine: Engine, path: Path) -> str | None:
    """The schema's revision; None for an empty file. Raises StoreCorrupt for somebody else's database."""
    with engine.connect() as connection:
        tables = set(inspect(connection).get_table_names())
        if VERSION_TABLE in tables:
            return str(connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar_one())
    if tables:
        raise StoreCorrupt(f"{path} is a database, but not an Ember store; choose another file")
    return None


def new_store(dialect: Dialect) -> Iterator[str]:
    """The statements that make the tables of an empty store, in order."""
    for table in schema.metadata.sorted_tables:
        yield str(CreateTable(table).compile(dialect=dialect)).strip()
        for index in sorted(table.indexes, key=lambda index: str(index.name)):
            yield str(CreateIndex(index).compile(dialect=dialect)).strip()
    yield f"CREATE TABLE {VERSION_TABLE} (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"
    yield f"INSERT INTO {VERSION_TABLE} VALUES ('{HEAD}')"
    yield NEW_STORE


def upgrade(connection: Connection, made: Callable[[Table], None] = lambda table: None) -> None:
    """Make an older schema the one of today, in the transaction of whoever asks. `made` is told of each new table
    before anything is written into it."""
    found = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar_one()
    if found < "0006":  # in PostgreSQL pgvector has a type named "vector"
        connection.execute(text("DROP INDEX ix_vector_change"))
        connection.execute(text(f"ALTER TABLE vector RENAME TO {schema.embedding.name}"))
    _add_what_is_missing(connection, made)
    if found < "0007":
        _fill_states(connection)
    if found == "0010":
        order_by_code_points(connection, schema.document.c.source)
    if found < "0013" and has_numbers(connection):
        _number_owners(connection)
        _shorten_names(connection)
    connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '{HEAD}'"))


def _add_what_is_missing(connection: Connection, made: Callable[[Table], None]) -> None:
    """Tables, columns and indexes. A column that is added may be NULL."""
    there_before = set(inspect(connection).get_table_names())
    for table in schema.metadata.sorted_tables:
        connection.execute(CreateTable(table, if_not_exists=True))
        if table.name not in there_before:
            made(table)
        there = set(connection.execute(select(literal_column("*")).select_from(table).limit(0)).keys())
        for column in table.c:
            if column.name not in there:
                connection.execute(_AddColumn(column))
        for index in table.indexes:
            connection.execute(CreateIndex(index, if_not_exists=True))


class _AddColumn(ExecutableDDLElement):
    def __init__(self, column: Column[Any]) -> None:
        self.column = column


@compiles(_AddColumn)
def _added(element: _AddColumn, compiler: DDLCompiler, **options: Any) -> str:
    table = compiler.preparer.format_table(element.column.table)
    return f"ALTER TABLE {table} ADD COLUMN {compiler.get_column_specification(element.column)}"


def _number_owners(connection: Connection) -> None:
    """Numbers in the place of owners' ids (store/engines/owner_alias.py)."""
    connection.execute(text(table_of_keys()))
    for table in schema.OWNED:
        connection.execute(
            text(
                f"INSERT INTO {KEYS} (id) SELECT DISTINCT owner_id FROM {table.name}"
                f" WHERE owner_id NOT IN (SELECT id FROM {KEYS}) ORDER BY owner_id"
            )
        )
        number = f"(SELECT k.no FROM {KEYS} k WHERE k.id = {table.name}.owner_id)"
        connection.execute(text(f"UPDATE {table.name} SET owner_id = {number}"))


def _shorten_names(connection: Connection) -> None:
    """Short forms in the place of the names of embedders and analysts (store/engines/short_names.py)."""
    for table in schema.OWNED:
        for column, name, short in short_forms(table):
            connection.execute(
                text(f"UPDATE {table.name} SET {column} = :short WHERE {column} = :name"),
                {"short": short, "name": name},
            )


def _fill_states(connection: Connection) -> None:
    """What facts were before: those that have ended have two states, held, and as they are now. What lay between (a
    pin, an undoing) stands in the log: `embermem rebuild` derives it."""
    last = "CASE WHEN coalesce(f.archived_no, 0) > coalesce(f.retired_no, 0) THEN f.archived_no ELSE f.retired_no END"
    no = f"coalesce({last}, f.change_no)"
    since = "(SELECT recorded_at FROM change c WHERE c.owner_id = f.owner_id AND c.no = {no})"
    into = (
        "INSERT INTO fact_state (owner_id, fact_id, change_no, confirmed_no, pinned, archived_no, superseded_by,"
        " ended_no, ended_at, valid_to, valid_to_offset, recorded_at, retired_no, retired_at)"
    )
    connection.execute(
        text(
            f"{into} SELECT owner_id, fact_id, change_no, confirmed_no, pinned, NULL, NULL, NULL, NULL, NULL, NULL,"
            f" recorded_at, {last}, {since.format(no=last)} FROM fact f WHERE {no} <> f.change_no"
        )
    )
    connection.execute(
        text(
            f"{into} SELECT owner_id, fact_id, {no}, confirmed_no, pinned, archived_no, superseded_by, retired_no,"
            f" retired_at, valid_to, valid_to_offset, coalesce({since.format(no=no)}, recorded_at), NULL, NULL"
            " FROM fact f"
        )
    )
