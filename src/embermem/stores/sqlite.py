"""SQLite: how it is opened, how a transaction begins, and its errors in our words."""

from __future__ import annotations

import glob
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Engine, create_engine, event, exc
from sqlalchemy.engine import Connection
from sqlalchemy.pool import ConnectionPoolEntry

from embermem.errors import SchemaMismatch, StoreBusy, StoreCorrupt, StoreError, StoreFull, StoreReadOnly
from embermem.protocols import Finding

_SCRUB_WAIT_S = 2.0
"""How long readers of an older state are waited for: a recall's read takes milliseconds."""
APPLICATION_ID = 0x454D4252
"""The bytes EMBR in the file's header."""

_MESSAGES: tuple[tuple[str, type[StoreError], str], ...] = (
    ("database is locked", StoreBusy, "others held the store for longer than busy_timeout_s; try again"),
    ("database table is locked", StoreBusy, "others held the store for longer than busy_timeout_s; try again"),
    ("disk is full", StoreFull, "no room is left on the disk; what was acknowledged is kept; make room and try again"),
    ("readonly database", StoreReadOnly, "the file or its folder may not be written"),
    ("disk i/o error", StoreError, "the disk gave an error; nothing was half done"),
    ("malformed", StoreCorrupt, "the file is damaged; restore a copy, or see `embermem doctor`"),
    ("not a database", StoreCorrupt, "the file is not a database"),
    ("unable to open", StoreError, "the file cannot be opened; check the folder and its rights"),
)


class Sqlite:
    """A Database in one file: WAL, and one who writes at a time, who holds all of it from the beginning."""

    def __init__(self, path: Path, busy_timeout_s: float, *, read_only: bool = False) -> None:
        self._path = path
        self._busy_timeout_s = busy_timeout_s
        self._read_only = read_only
        self._writing = threading.Lock()

    @property
    def place(self) -> str:
        """Its path."""
        return str(self._path)

    @property
    def read_only(self) -> bool:
        """As it was opened."""
        return self._read_only

    @property
    def key_file(self) -> Path:
        """`FILE.key`, beside it."""
        return Path(f"{self._path}.key")

    def open(self) -> Engine:
        """A new engine, with a lock of its own; the file is made if it is not there, for its maker's eyes only."""
        refuse_foreign(self._path)
        if self._read_only:
            if not self._path.exists():
                raise StoreError(f"there is no store at {self._path} to be read")
            return make_engine(self._path, self._busy_timeout_s, read_only=True)
        with suppress(OSError):  # what is wrong with the place, opening it says
            os.close(os.open(self._path, os.O_CREAT | os.O_EXCL, 0o600))
        self._writing = threading.Lock()
        return make_engine(self._path, self._busy_timeout_s)

    def errors(self) -> AbstractContextManager[None]:
        """See `our_errors`."""
        return our_errors(self._path)

    def prepare(self, engine: Engine) -> None:
        """Make the schema, or migrate an older one after a backup. Raises StoreError."""
        from embermem.stores import migrations

        if not self._read_only:
            migrations.prepare(engine, self._path)
            return
        found = migrations.version(engine, self._path)
        if found is None:
            raise StoreError(f"there is no store at {self._path} to be read")
        migrations.refuse_newer(found, str(self._path))
        if found != migrations.HEAD:
            raise SchemaMismatch(
                f"{self._path} is of an older Ember (schema {found}, this one needs {migrations.HEAD}): "
                "opening it once to write brings it up to date"
            )

    def migrate(self) -> tuple[str, str]:
        """Open the file, which migrates it after a backup; the schema before and after. Raises StoreError."""
        from embermem.stores import migrations

        if not self._path.exists() or self._path.stat().st_size == 0:
            raise StoreError(f"there is no store at {self._path}; opening it makes one")
        engine = self.open()
        try:
            with self.errors():
                found = migrations.version(engine, self._path)
                self.prepare(engine)
        finally:
            engine.dispose()
        return found or "none", migrations.HEAD

    def reading(self, connection: Connection) -> AbstractContextManager[object]:
        """One state: in WAL a transaction reads what stood when it first read."""
        return connection.begin()

    @contextmanager
    def writing(self, connection: Connection) -> Iterator[None]:
        """BEGIN IMMEDIATE; threads of this process queue up by a lock, which is fairer than SQLite's."""
        from embermem.stores import migrations

        with self._writing, connection.execution_options(ember_writes=True).begin():
            migrations.refuse_other(connection, self.place)
            yield

    def size(self, connection: Connection) -> int:
        """Of the file, its WAL and its index."""
        files = [Path(f"{self._path}{suffix}") for suffix in ("", "-wal", "-shm")]
        return sum(file.stat().st_size for file in files if file.exists())

    def lag_s(self, connection: Connection) -> None:
        """A file is no replica."""

    def soundness(self, connection: Connection) -> Finding:
        """SQLite's own quick check."""
        said = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA quick_check(5)")]
        if said == ["ok"]:
            return Finding(level="ok", what="the database file is sound")
        return Finding(level="error", what=f"the database file is damaged: {said[0]}", advice="restore a copy")

    def copy(self, place: Path) -> None:
        """By SQLite's backup: a reader among others. Raises StoreError."""
        try:
            os.close(os.open(place, os.O_CREAT | os.O_EXCL, 0o600))
        except OSError as error:
            raise StoreError(f"no copy of {self._path} can be made at {place}: {error}") from error
        with self.errors(), closing(sqlite3.connect(self._path)) as mine, closing(sqlite3.connect(place)) as copy:
            mine.backup(copy)
        if self.key_file.exists():  # without it the copy would not know what was forgotten
            with open(os.open(f"{place}.key", os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as file:
                file.write(self.key_file.read_bytes())

    def scrub(self) -> bool:
        """Fold the WAL into the file and empty it, so that what was overwritten there is gone from the disk."""
        with self.errors(), closing(sqlite3.connect(self._path, timeout=_SCRUB_WAIT_S)) as connection:
            busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not busy

    def backups(self) -> tuple[Path, ...]:
        """`FILE.before-*`, beside it."""
        found = self._path.parent.glob(f"{glob.escape(self._path.name)}.before-*")
        return tuple(sorted(file for file in found if not file.name.endswith(("-wal", "-shm", ".key"))))


def refuse_foreign(path: Path) -> None:
    """Raises StoreCorrupt for a file that is not one of Ember, before anything is set in it."""
    if not path.exists() or path.stat().st_size == 0:
        return
    with our_errors(path), closing(sqlite3.connect(path)) as connection:
        mark = connection.execute("PRAGMA application_id").fetchone()[0]
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if tables and mark != APPLICATION_ID:
        raise StoreCorrupt(f"{path} is a database, but not one of Ember; choose another file")


def make_engine(path: Path, busy_timeout_s: float, *, read_only: bool = False, first: tuple[str, ...] = ()) -> Engine:
    """An engine on one file: WAL, synchronous = FULL, secure_delete = ON; a write transaction begins as one. `first`
    are pragmas that are set before the file is looked at."""
    last = ("query_only=ON",) if read_only else ()
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        connect_args={"timeout": busy_timeout_s, "check_same_thread": False},
        pool_size=8,
        max_overflow=64,
    )

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, entry: ConnectionPoolEntry) -> None:
        connection.isolation_level = None
        for pragma in (*first, "journal_mode=WAL", "synchronous=FULL", "secure_delete=ON", "temp_store=MEMORY", *last):
            connection.execute(f"PRAGMA {pragma}").fetchall()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("ember_writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


@contextmanager
def our_errors(path: Path) -> Iterator[None]:
    """A driver's error becomes one of ours, with its cause kept."""
    try:
        yield
    except (exc.SQLAlchemyError, sqlite3.Error, OverflowError) as error:
        said = str(getattr(error, "orig", None) or error)
        if "unable to open" in said.lower() and path.parent.is_dir() and not os.access(path.parent, os.W_OK):
            raise StoreReadOnly(f"{path}: its folder may not be written, which SQLite needs even to read") from error
        for needle, kind, advice in _MESSAGES:
            if needle in said.lower():
                raise kind(f"{path}: {advice} ({said})") from error
        raise StoreError(f"{path}: the database refused ({said})") from error
