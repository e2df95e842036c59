"""The schema of an SQLite file: made in an empty one, and brought up to date in an older one."""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

from sqlalchemy import Connection, Engine, exc, inspect
from sqlalchemy.dialects import sqlite

from embermem.core.errors import StoreBusy, StoreError
from embermem.store.engines.owner_alias import table_of_keys
from embermem.store.engines.sqlite_file import APPLICATION_ID, begin, copy_rows, make_engine
from embermem.store.migrations import VERSION_TABLE, new_store, refuse_unknown, upgrade, version
from embermem.store.schema import HEAD

_ALONE_S = 3.0
"""How long a migration waits for others to close the file: a short command is done by then."""
_ALONE_WAIT_S = 0.1


def prepare(engine: Engine, path: Path) -> None:
    """Make the schema in an empty file, or migrate an older one after a backup beside it (`FILE.before-REVISION`).

    Raises StoreCorrupt for somebody else's database, SchemaMismatch for a schema that is newer or too old,
    StoreBusy for an older one that another process has open, and StoreError where no backup can be made: then the file
    stays as it was.
    """
    found = version(engine, path)
    if found == HEAD:
        return
    if found is None:
        _create(engine)
        return
    refuse_unknown(found, str(path))
    _migrate(engine, path, found)


def _create(engine: Engine) -> None:
    with engine.connect() as connection, begin(connection, writes=True):
        if VERSION_TABLE in inspect(connection).get_table_names():
            return  # another process was first
        for statement in new_file():
            connection.exec_driver_sql(statement)


@cache
def new_file() -> tuple[str, ...]:
    """The statements that make an empty store in a file, compiled once in a process."""
    return (table_of_keys(), *new_store(sqlite.dialect()), f"PRAGMA application_id={APPLICATION_ID}")


def _migrate(engine: Engine, path: Path, found: str) -> None:
    """Copy and migrate while nobody else has the file open: an older process would go on writing in the old form."""
    engine.dispose()  # our own connections would be in the way
    alone = make_engine(path, _ALONE_WAIT_S, before=("locking_mode=EXCLUSIVE",))
    end = time.monotonic() + _ALONE_S
    try:
        while version(engine, path) != HEAD:  # else another process was first
            engine.dispose()
            try:
                with alone.connect() as connection:
                    _copy(connection, path, path.with_name(f"{path.name}.before-{HEAD}"))
                    with begin(connection, writes=True):
                        upgrade(connection)
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
