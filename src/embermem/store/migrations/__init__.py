"""Making the schema, and bringing an older one up to date (Alembic, imported only when it is needed)."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import cache
from pathlib import Path

from sqlalchemy import Connection, Dialect, Engine, exc, inspect, text
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from embermem.core.errors import SchemaMismatch, StoreBusy, StoreCorrupt, StoreError
from embermem.store import schema
from embermem.store.engines.sqlite_file import APPLICATION_ID, copy_rows, make_engine
from embermem.store.statements import SCRUBBED

HEAD = "0007"
"""The newest revision in versions/; a test holds this and `schema.metadata` equal to what the migrations make."""
VERSION_TABLE = "ember_version"
NEW_STORE = f"INSERT INTO {schema.store.name} (key, value) VALUES ('{SCRUBBED}', 'new')"
"""What a store holds that was just made: nothing was ever deleted there."""

_ALONE_S = 3.0
"""How long a migration waits for others to close the file: a short command is done by then."""
_ALONE_WAIT_S = 0.1

_ALEMBIC = threading.Lock()
"""Alembic hands its environment over in module globals: one migration at a time in a process."""


def prepare(engine: Engine, path: Path) -> None:
    """Make the schema in an empty file, or migrate an older one after a backup beside it (`FILE.before-REVISION`).

    Raises StoreCorrupt for somebody else's database, SchemaMismatch for one of a newer Ember, StoreBusy for an older
    one that another process has open, and StoreError where no backup can be made: then the file stays as it was.
    """
    found = version(engine, path)
    if found == HEAD:
        return
    if found is None:
        _create(engine)
        return
    refuse_newer(found, str(path))
    _migrate(engine, path, found)


def refuse_newer(found: str, place: str) -> None:
    """Raises SchemaMismatch for a schema that this Ember does not know."""
    known = {file.stem.split("_")[0] for file in (Path(__file__).parent / "versions").glob("[0-9]*.py")}
    if found not in known:
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


def _create(engine: Engine) -> None:
    with engine.connect().execution_options(ember_writes=True) as connection, connection.begin():
        if VERSION_TABLE in inspect(connection).get_table_names():
            return  # another process was first
        for statement in new_file():
            connection.exec_driver_sql(statement)


@cache
def new_file() -> tuple[str, ...]:
    """The statements that make an empty store in a file, compiled once in a process."""
    return (*new_store(sqlite.dialect()), f"PRAGMA application_id={APPLICATION_ID}")


def new_store(dialect: Dialect) -> Iterator[str]:
    """The statements that make the tables of an empty store, in order."""
    for table in schema.metadata.sorted_tables:
        yield str(CreateTable(table).compile(dialect=dialect)).strip()
        for index in sorted(table.indexes, key=lambda index: str(index.name)):
            yield str(CreateIndex(index).compile(dialect=dialect)).strip()
    yield f"CREATE TABLE {VERSION_TABLE} (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"
    yield f"INSERT INTO {VERSION_TABLE} VALUES ('{HEAD}')"
    yield NEW_STORE


def _migrate(engine: Engine, path: Path, found: str) -> None:
    """Copy and migrate while nobody else has the file open: an older process would go on writing in the old form."""
    engine.dispose()  # our own connections would be in the way
    alone = make_engine(path, _ALONE_WAIT_S, before=("locking_mode=EXCLUSIVE",))
    end = time.monotonic() + _ALONE_S
    try:
        while version(engine, path) != HEAD:  # else another process was first
            engine.dispose()
            try:
                with alone.connect().execution_options(ember_writes=True) as connection:
                    _copy(connection, path, path.with_name(f"{path.name}.before-{HEAD}"))
                    with connection.begin():
                        run(connection, "head")
                return
            except exc.OperationalError as error:
                if "database is locked" not in str(error.orig):
                    raise
                if time.monotonic() > end:
                    raise StoreBusy(
                        f"{path} is from an older version of Ember (schema {found}; this version needs {HEAD}), and "
                        "another process has it open: stop what uses it, and open it again; nothing was changed"
                    ) from error
                time.sleep(_ALONE_WAIT_S)
    finally:
        alone.dispose()


def _copy(connection: Connection, path: Path, backup: Path) -> None:
    """The whole store, with the file's rights, under its name only once it is complete. Raises StoreError."""
    part = backup.with_name(f"{backup.name}.part")
    try:
        part.unlink(missing_ok=True)
        os.close(os.open(part, os.O_CREAT | os.O_EXCL, 0o600))
        copy_rows(connection.connection.driver_connection, part)
        shutil.copymode(path, part)
        part.replace(backup)
    except OSError as error:
        raise StoreError(
            f"{path} is from an older version of Ember, and no backup can be made at {backup}: {error}"
        ) from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


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
