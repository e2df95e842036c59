"""The file of an SQLite store: how a connection to it is made, how its rows are copied, how it is known again."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Engine, create_engine, event
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.sqlite.base import SQLiteCompiler
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.engine import Connection, RootTransaction
from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection
from sqlalchemy.util import LRUCache

from embermem.core.errors import StoreMoved
from embermem.store.engines.owner_alias import forget_numbers, with_numbers
from embermem.store.engines.packed_text import PLAIN, plain_text

FILES = "ember_files"
"""Where a connection's files are noted: the database's and its WAL's, as they were when it was opened."""
_WRITES = "ember_writes"
"""Where a connection notes whether its next transaction writes."""
_WAITS_S = "ember_waits_s"
"""Where it notes how long it waits for others."""
_PACE_S = 0.002
"""Between two tries to begin a transaction that writes."""
Files = tuple[tuple[int, int] | None, tuple[int, int] | None]
APPLICATION_ID = 0x454D4252
"""The bytes EMBR in the file's header."""
PAGE_SIZE = "page_size=4096"
"""Of a new file; an older one keeps its own until it is copied. With pages of 8,192 an empty store has 516 kB in place
of 233, and an `add` writes nearly twice as much to the WAL."""
DURABLE = "synchronous=FULL", "fullfsync=ON", "checkpoint_fullfsync=ON"
"""What is committed is on the disk: on macOS only F_FULLFSYNC empties the disk's own cache; elsewhere there is none."""


class _Compiler(SQLiteCompiler):
    """Writes the hints of statements, such as "INDEXED BY"."""

    def get_from_hint_text(self, table: Any, text: str | None) -> str | None:
        return text


class AnyFile(SQLiteDialect_pysqlite):
    """The dialect of every file of a process, equal for all: a statement is compiled once, not for each store."""

    supports_statement_cache = True
    statement_compiler = _Compiler

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    def __hash__(self) -> int:
        return hash(type(self))

    # These three do what listeners of the engine could; with listeners a short read takes a third longer.

    def do_begin(self, dbapi_connection: PoolProxiedConnection) -> None:
        forget_numbers(dbapi_connection.info)
        cursor = dbapi_connection.cursor()
        if dbapi_connection.info.pop(_WRITES, False):
            _begin_to_write(cursor, dbapi_connection.info[_WAITS_S])
        else:
            cursor.execute("BEGIN")

    def do_execute(self, cursor: Any, statement: str, parameters: Any, context: Any = None) -> None:
        cursor.execute(statement, with_numbers([parameters], context)[0])

    def do_executemany(self, cursor: Any, statement: str, parameters: Any, context: Any = None) -> None:
        cursor.executemany(statement, with_numbers(parameters, context))


def _begin_to_write(cursor: Any, wait_s: float) -> None:
    """Wait for other processes that write. SQLite would wait longer after each try, up to 100 ms: who writes one
    transaction after the other is then always there first."""
    until = time.monotonic() + wait_s
    cursor.execute("PRAGMA busy_timeout=0")
    try:
        while True:
            try:
                cursor.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= until:
                    raise
            time.sleep(_PACE_S)
    finally:
        cursor.execute(f"PRAGMA busy_timeout={int(wait_s * 1000)}")


ANY_FILE = "sqlite+anyfile"
registry.register("sqlite.anyfile", __name__, AnyFile.__name__)
_COMPILED: LRUCache[Any, Any] = LRUCache(1000)


def begin(connection: Connection, *, writes: bool) -> RootTransaction:
    """A transaction that reads, or one that may write from its first statement on."""
    connection.info[_WRITES] = writes
    return connection.begin()


def copy_rows(connection: Any, place: Path) -> None:
    """Every row of a database in another file, which is empty or not there yet: without the pages and bytes that hold
    no row. `connection` is the driver's, in no transaction. Raises sqlite3.Error."""
    connection.execute("VACUUM INTO ?", (str(place),))


def make_engine(path: Path, busy_timeout_s: float, *, read_only: bool = False, before: tuple[str, ...] = ()) -> Engine:
    """An engine on one file: WAL, synchronous = FULL, secure_delete = ON; a write transaction begins as one. `before`
    are pragmas that are set before the file is looked at."""
    last = ("query_only=ON",) if read_only else ()
    return engine_on(URL.create("sqlite", database=str(path)), path, busy_timeout_s, before, last)


def engine_on(
    url: URL, path: Path, busy_timeout_s: float, before: tuple[str, ...] = (), last: tuple[str, ...] = ()
) -> Engine:
    engine = create_engine(
        url.set(drivername=ANY_FILE),
        execution_options={"compiled_cache": _COMPILED},
        connect_args={"timeout": busy_timeout_s, "check_same_thread": False},
        pool_size=8,
        max_overflow=64,
        hide_parameters=True,  # a cause that somebody logs would hold what was said
    )
    first: list[Files] = []

    @event.listens_for(engine, "do_connect")
    def _connect(dialect: Any, entry: ConnectionPoolEntry, arguments: Any, options: Any) -> None:
        if first:  # a file that is gone must not be made anew
            refuse_moved(path, (first[0][0], None))

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, entry: ConnectionPoolEntry) -> None:
        connection.isolation_level = None
        connection.create_function(PLAIN, 1, plain_text, deterministic=True)
        for pragma in (
            *before,
            PAGE_SIZE,
            "journal_mode=WAL",
            *DURABLE,
            "secure_delete=ON",
            "temp_store=MEMORY",
            *last,
        ):
            connection.execute(f"PRAGMA {pragma}").fetchall()
        connection.execute("PRAGMA schema_version").fetchall()  # from here on it holds the WAL, which nobody removes
        entry.info[_WAITS_S] = busy_timeout_s
        entry.info[FILES] = found = file_of(path), file_of(wal_of(path))
        first[:] = first or [found]
        refuse_moved(path, (first[0][0], found[1]))

    @event.listens_for(engine, "close")
    def _close(connection: Any, entry: ConnectionPoolEntry) -> None:
        """See `Sqlite.abandon`."""
        with suppress(sqlite3.Error):
            connection.rollback()

    return engine


def refuse_moved(path: Path, files: Files) -> None:
    """Raises StoreMoved where the path, or its WAL's, no longer leads to these files. What cannot be told is let pass:
    a file without a number, as some file systems have them."""
    for suffix, known in zip(("", "-wal"), files, strict=True):
        if known is not None and (found := file_of(f"{path}{suffix}")) != known:
            what = "was deleted or renamed" if found is None else "was replaced by another file"
            advice = "put it back, or close this memory and open the store that is meant"
            if suffix:
                advice = "close every memory that has the store open, then run `embermem doctor`"
            raise StoreMoved(f"{path}{suffix} {what} while the store was open; nothing was written: {advice}")


def file_of(path: Path | str) -> tuple[int, int] | None:
    """What tells a file from others at the same place; None where there is none, or it cannot be told."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if found.st_ino else None


def wal_of(path: Path) -> str:
    return f"{path}-wal"
