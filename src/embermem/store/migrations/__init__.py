"""Making the schema, and bringing an older one up to date (Alembic, imported only when it is needed)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection, Dialect, Engine, inspect, text
from sqlalchemy.schema import CreateIndex, CreateTable

from embermem.core.errors import SchemaMismatch, StoreCorrupt
from embermem.store import schema
from embermem.store.statements import SCRUBBED

_KNOWN = frozenset(file.stem.partition("_")[0] for file in (Path(__file__).parent / "versions").glob("[0-9]*.py"))
HEAD = max(_KNOWN)
"""The newest revision in versions/; a test holds this and `schema.metadata` equal to what the migrations make."""
VERSION_TABLE = "ember_version"
NEW_STORE = f"INSERT INTO {schema.store.name} (key, value) VALUES ('{SCRUBBED}', 'new')"
"""What a store holds that was just made: nothing was ever deleted there."""

_ALEMBIC = threading.Lock()
"""Alembic hands its environment over in module globals: one migration at a time in a process."""


def refuse_newer(found: str, place: str) -> None:
    """Raises SchemaMismatch for a schema that this Ember does not know."""
    if found not in _KNOWN:
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


def _version(connection: Connection, path: Path) -> str | None:
    tables = set(inspect(connection).get_table_names())
    if VERSION_TABLE in tables:
        return str(connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar_one())
    if tables:
        raise StoreCorrupt(f"{path} is a database, but not an Ember store; choose another file")
    return None


def version(engine: Engine, path: Path) -> str | None:
    """The schema's revision; None for an empty file. Raises StoreCorrupt for somebody else's database."""
    with engine.connect() as connection:
        return _version(connection, path)


def new_store(dialect: Dialect) -> Iterator[str]:
    """The statements that make the tables of an empty store, in order."""
    for table in schema.metadata.sorted_tables:
        yield str(CreateTable(table).compile(dialect=dialect)).strip()
        for index in sorted(table.indexes, key=lambda index: str(index.name)):
            yield str(CreateIndex(index).compile(dialect=dialect)).strip()
    yield f"CREATE TABLE {VERSION_TABLE} (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"
    yield f"INSERT INTO {VERSION_TABLE} VALUES ('{HEAD}')"
    yield NEW_STORE


def upgrade(engine: Engine, to: str = "head") -> None:
    """Run the migrations that are missing, in one transaction."""
    with engine.connect().execution_options(ember_writes=True) as connection, connection.begin():
        run(connection, to)


def run(connection: Connection, to: str) -> None:
    """Run the migrations that are missing, in the transaction of whoever asks."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.attributes["connection"] = connection
    with _ALEMBIC:
        command.upgrade(config, to)
