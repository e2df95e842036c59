"""SQLite: how it is opened, how a transaction begins, and its errors in our words."""

from __future__ import annotations

import glob
import os
import re
import secrets
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Engine, LargeBinary, String, Table, cast, event, exc, select
from sqlalchemy.engine import Connection, RootTransaction

from embermem.core.errors import (
    SchemaMismatch,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreMoved,
    StoreReadOnly,
)
from embermem.protocols import DiskUsage, Finding
from embermem.store.cache_folder import CacheFolder
from embermem.store.engines.backup_pages import copy_pages
from embermem.store.engines.copies import BESIDE
from embermem.store.engines.database import Database, raise_interrupt
from embermem.store.engines.sqlite_file import (
    APPLICATION_ID,
    FILES,
    Files,
    begin,
    engine_on,
    make_engine,
    refuse_moved,
)
from embermem.store.engines.sqlite_still import is_still, still_engine, still_uri
from embermem.store.forgotten_key import KeyFile, KeyInMemory, StoredKey

_DAMAGES = (100, 10, 1)
"""So many damages of a file are named, or fewer where the check cannot get on."""
_ROWS = 500
_OF_INDEX = re.compile(r"(?:missing from index|wrong # of entries in index|out of order in index) (?P<index>\w+)$")
"""How the integrity check names an index that disagrees with its table."""

_MESSAGES: tuple[tuple[str, type[StoreError], str], ...] = (
    ("database is locked", StoreBusy, "others held the store for longer than busy_timeout_s; try again"),
    ("database table is locked", StoreBusy, "others held the store for longer than busy_timeout_s; try again"),
    ("disk is full", StoreFull, "no room is left on the disk; what was acknowledged is kept; make room and try again"),
    (
        "readonly database",
        StoreReadOnly,
        "the file or its folder may not be written; read_only=True opens it to be read",
    ),
    ("disk i/o error", StoreError, "the disk gave an error; nothing was half done"),
    ("malformed", StoreCorrupt, "the file is damaged; restore a copy, or see `embermem doctor`"),
    ("not a database", StoreCorrupt, "the file is not a database"),
    (
        "could not decode to utf-8",
        StoreCorrupt,
        "a text in the file is damaged: its bytes are not UTF-8; `embermem doctor` says whose",
    ),
    (
        "user-defined function raised",  # that of packed texts, which is the only one of ours
        StoreCorrupt,
        "a packed text in the file is damaged; restore a copy, or see `embermem doctor`",
    ),
    ("unable to open", StoreError, "the file cannot be opened; check the folder and its rights"),
)


class Sqlite(Database):
    """A Database in one file: WAL, and one who writes at a time, who holds all of it from the beginning."""

    def __init__(self, path: Path, busy_timeout_s: float, *, read_only: bool = False) -> None:
        self._path = path
        self._busy_timeout_s = busy_timeout_s
        self._read_only = read_only
        self._opened = False
        self._wal_moved: str | None = None
        self._writing = threading.RLock()  # it knows whose it is
        self.cache: CacheFolder | None = None
        self._cache_beside = CacheFolder(Path(f"{path}-cache"))

    @property
    def place(self) -> str:
        return str(self._path)

    @property
    def read_only(self) -> bool:
        return self._read_only

    @property
    def cache_beside(self) -> CacheFolder | None:
        """`FILE-cache`, beside it."""
        return self._cache_beside

    @property
    def key(self) -> StoredKey:
        """`FILE.key`, beside it."""
        return KeyFile(Path(f"{self._path}.key"))

    def open(self) -> Engine:
        """A new engine, with a lock of its own; the file is made if it is not there, for its maker's eyes only."""
        refuse_foreign(self._path, read_only=self._read_only)
        if self._read_only:
            if not self._path.exists():
                raise StoreError(f"there is no store at {self._path}")
            return self._engine_to_read()
        if not self._opened:  # else this is the child of a fork, and the file must be the parent's
            with suppress(OSError):  # what is wrong with the place, opening it says
                os.close(os.open(self._path, os.O_CREAT | os.O_EXCL, 0o600))
        self._opened = True
        self._writing = threading.RLock()
        return make_engine(self._path, self._busy_timeout_s)

    def _engine_to_read(self) -> Engine:
        if self._read_only and is_still(self._path):
            return still_engine(self._path)
        return make_engine(self._path, self._busy_timeout_s, read_only=True)

    def errors(self) -> AbstractContextManager[None]:
        return our_errors(self._path)

    def prepare(self, engine: Engine) -> None:
        """Make the schema, or migrate an older one after a backup. Raises StoreError."""
        from embermem.store import migrations, schema
        from embermem.store.engines import sqlite_schema

        if not self._read_only:
            sqlite_schema.prepare(engine, self._path)
            return
        found = migrations.version(engine, self._path)
        if found is None:
            raise StoreError(f"there is no store at {self._path}")
        migrations.refuse_unknown(found, str(self._path))
        if found != schema.HEAD:
            raise SchemaMismatch(
                f"{self._path} is from an older version of Ember (schema {found}; this version needs "
                f"{schema.HEAD}): open it once for writing to migrate it"
            )

    def migrate(self) -> tuple[str, str]:
        """Open the file, which migrates it after a backup; the schema before and after. Raises StoreError."""
        from embermem.store import migrations, schema

        if not self._path.exists() or self._path.stat().st_size == 0:
            raise StoreError(f"there is no store at {self._path}; opening it for writing creates one")
        engine = self.open()
        try:
            with self.errors():
                found = migrations.version(engine, self._path)
                self.prepare(engine)
        finally:
            engine.dispose()
        return found or "none", schema.HEAD

    def begin(self, connection: Connection, *, writes: bool) -> RootTransaction:
        """To read, one state: in WAL a transaction reads what stood when it first read. To write, BEGIN IMMEDIATE;
        threads of this process queue up by a lock, which is fairer than SQLite's."""
        self._refuse_moved(connection.info[FILES])
        if writes and not self._writing.acquire(timeout=self._busy_timeout_s):
            raise StoreBusy(f"{self._path}: other threads held the store for longer than busy_timeout_s; try again")
        transaction = begin(connection, writes=writes)
        if writes:
            from embermem.store import migrations

            migrations.refuse_other(connection, self.place)
        return transaction

    def _refuse_moved(self, files: Files) -> None:
        """Raises StoreMoved. A WAL that was moved once is not made good by the next one, which SQLite makes."""
        if self._wal_moved is not None:
            raise StoreMoved(self._wal_moved)
        refuse_moved(self._path, (files[0], None))
        try:
            refuse_moved(self._path, (None, files[1]))
        except StoreMoved as error:
            self._wal_moved = str(error)
            raise

    def abandon(self, raw: Any) -> None:
        """Roll back first: closed with a statement in use, it keeps its locks until the statement is collected."""
        with suppress(sqlite3.Error):
            raw.rollback()
        with suppress(sqlite3.Error):
            raw.close()

    def ended(self) -> None:
        """Other threads may write, if this one held them up, also where an interrupt cut short what ended before."""
        with suppress(RuntimeError):  # it is not this thread's any more
            while True:
                self._writing.release()

    def size(self, connection: Connection) -> int:
        """Of the file, its WAL and its index."""
        files = [Path(f"{self._path}{suffix}") for suffix in ("", "-wal", "-shm")]
        return sum(file.stat().st_size for file in files if file.exists())

    def disk_usage(self, connection: Connection) -> DiskUsage:
        from embermem.store.engines.disk_usage import of_file

        return of_file(connection)

    def soundness(self, connection: Connection) -> tuple[Finding, ...]:
        """SQLite's integrity check: every page, and every index against its table. It reads the whole file."""
        said = _integrity(connection)
        if said == ["ok"]:
            return (Finding(level="ok", what="the database file is sound"),)
        disagreeing = _disagreeing(connection, said)
        found = [
            Finding(
                level="error",
                what=f"the index {name} disagrees with its table",
                advice="embermem doctor --repair",
            )
            for name in disagreeing
        ]
        damage = [one for one in said if not (match := _OF_INDEX.search(one)) or match["index"] not in disagreeing]
        return (
            *found,
            *(
                Finding(level="error", what=f"the database file is damaged: {one}", advice="restore a copy")
                for one in damage
            ),
        )

    def reindexed(self, connection: Connection) -> tuple[Finding, ...]:
        """REINDEX of those that the integrity check names."""
        names = _disagreeing(connection, _integrity(connection))
        for name in names:
            connection.exec_driver_sql(f'REINDEX "{name}"')
        left = _disagreeing(connection, _integrity(connection)) if names else ()
        return tuple(
            Finding(level="mended", what=f"the index {name} disagrees with its table")
            for name in names
            if name not in left
        )

    def unreadable(self, connection: Connection, table: Table, owner_id: str) -> int:
        """Rows whose bytes are not UTF-8: SQLite gives them to nobody who asks for text."""
        texts = [cast(column, LargeBinary) for column in table.c if isinstance(column.type, String)]
        if not texts:
            return 0
        rows = connection.execute(
            select(*texts).where(table.c.owner_id == owner_id), execution_options={"yield_per": _ROWS}
        )
        return sum(not all(value is None or _is_utf_8(value) for value in row) for row in rows)

    def snapshot(self, place: Path, told: Callable[[int, int], None]) -> Mapping[str, int]:
        """Page by page, as a reader among others: docs/operations/backups.md has why."""
        with our_errors(self._path), closing(self._to_copy()) as connection:
            return copy_pages(connection, place, told)

    def _to_copy(self) -> sqlite3.Connection:
        """A connection of the driver's that makes no file where there is none."""
        if self._read_only and is_still(self._path):
            uri = still_uri(self._path)
        else:
            uri = f"{self._path.absolute().as_uri()}?mode={'ro' if self._read_only else 'rw'}"
        return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=self._busy_timeout_s)

    def in_memory(self) -> Database:
        return InMemory(self._busy_timeout_s, self.key)

    def scrubs_by_itself(self, connection: Connection) -> bool:
        """A scrub takes part of a second and stops nobody: see `scrub`."""
        return True

    def scrub(self, done: Callable[[Connection], None]) -> bool:
        from embermem.store.engines import sqlite_scrub

        return sqlite_scrub.scrub(self, self._path, self._busy_timeout_s, done)

    def leftovers(self) -> frozenset[str]:
        from embermem.store.engines import sqlite_scrub

        try:
            beside = frozenset(one for folder in self.caches for one in folder.utterances())
        except OSError as error:
            raise StoreError(f"{self.place}: its files cannot be read: {error}") from error
        return sqlite_scrub.leftovers(self, self._path, self._engine_to_read()) | beside

    def remains(self, ids: Collection[str]) -> frozenset[str]:
        from embermem.store.engines import sqlite_scrub

        beside = frozenset(one for folder in self.caches for one in folder.remains(ids))
        return sqlite_scrub.remains(self._path, ids) | beside

    def backups(self) -> tuple[Path, ...]:
        """`FILE.before-*`, `FILE.replaced-*`, and what a restore left that was killed, beside it."""
        name, folder = glob.escape(self._path.name), self._path.parent
        found = [one for end in ("before-*", "replaced-*", "part", "part.part") for one in folder.glob(f"{name}.{end}")]
        return tuple(sorted(file for file in found if not file.name.endswith(BESIDE)))


def _integrity(connection: Connection) -> list[str]:
    """What the integrity check says, line by line; ["ok"] of a sound file. Where the damage stops it, what it says."""
    stopped = ""
    for limit in _DAMAGES:  # where the damage stops it, what was found by then is given only to who asks for no more
        try:
            rows = connection.connection.cursor().execute(f"PRAGMA integrity_check({limit})").fetchall()
        except sqlite3.DatabaseError as error:
            stopped = str(error)
        else:
            lines = [line.strip() for row in rows for line in str(row[0]).splitlines()]
            return [line for line in lines if line and not line.startswith("***")]
    return [stopped]


def _disagreeing(connection: Connection, said: Sequence[str]) -> tuple[str, ...]:
    """The indexes of ours that a check named. One that would have to hold two equal keys is none that can be made."""
    names = {match["index"]: None for one in said if (match := _OF_INDEX.search(one))}
    known = set(connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'index'").scalars())
    return tuple(name for name in names if name in known)


def _is_utf_8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


class InMemory(Sqlite):
    """A Database in this process's memory: it ends with its engine, and with the process, however that ends. No file
    is written, so nothing of it can be left behind. `key` is that of the store that it is a copy of; without, it has
    one of its own, in memory too."""

    def __init__(self, busy_timeout_s: float, key: StoredKey | None = None) -> None:
        self._name = f"embermem-{secrets.token_hex(8)}"
        self._pid = os.getpid()
        super().__init__(Path(self._name), busy_timeout_s)
        self._key = key or KeyInMemory()

    @property
    def cache_beside(self) -> CacheFolder | None:
        """None: no file is written."""
        return None

    @property
    def place(self) -> str:
        """That it has none."""
        return "the store in memory"

    @property
    def key(self) -> StoredKey:
        return self._key

    def open(self) -> Engine:
        """An engine whose connections share the database, which is gone when the engine is disposed of. Raises
        StoreError in the child of a fork, which has only a copy of this process's memory."""
        if os.getpid() != self._pid:
            raise StoreError(
                "a store in memory stays with the process that opened it: open another one in this process, or keep "
                "the store in a file"
            )
        shared = {"vfs": "memdb", "uri": "true"}
        keeper = self._connected()
        engine = engine_on(
            URL.create("sqlite", database=f"file:/{self._name}", query=shared), self._path, self._busy_timeout_s
        )

        @event.listens_for(engine, "engine_disposed")
        def _end(engine: Engine) -> None:
            keeper.close()

        return engine

    def errors(self) -> AbstractContextManager[None]:
        return our_errors(Path(self.place))

    def size(self, connection: Connection) -> int:
        """Of its pages."""
        pages, size = (
            int(connection.exec_driver_sql(f"PRAGMA {one}").scalar_one()) for one in ("page_count", "page_size")
        )
        return pages * size

    def scrub(self, done: Callable[[Connection], None]) -> bool:
        """There is no file; SQLite overwrites what it deletes in memory."""
        from embermem.store.transactions import Transaction

        engine = self.open()
        try:
            with Transaction(self, engine, writes=True) as connection:
                done(connection)
        finally:
            engine.dispose()
        return True

    def leftovers(self) -> frozenset[str]:
        return frozenset()

    def remains(self, ids: Collection[str]) -> frozenset[str]:
        return frozenset()

    def backups(self) -> tuple[Path, ...]:
        return ()

    def _to_copy(self) -> sqlite3.Connection:
        return self._connected()

    def _connected(self) -> sqlite3.Connection:
        return sqlite3.connect(f"file:/{self._name}?vfs=memdb", uri=True, isolation_level=None, check_same_thread=False)


def refuse_foreign(path: Path, *, read_only: bool = False) -> None:
    """Raises StoreCorrupt for a file that is not one of Ember, before anything is set in it."""
    if not path.exists() or path.stat().st_size == 0:
        return
    still = read_only and is_still(path)
    place = still_uri(path) if still else path
    with our_errors(path), closing(sqlite3.connect(place, uri=still, isolation_level=None)) as connection:
        connection.execute("BEGIN")  # one state: another process may make the store meanwhile
        mark = connection.execute("PRAGMA application_id").fetchone()[0]
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if tables and mark != APPLICATION_ID:
        raise StoreCorrupt(f"{path} is a database, but not an Ember store; choose another file")


@contextmanager
def our_errors(path: Path) -> Iterator[None]:
    """A driver's error becomes one of ours, with its cause kept."""
    try:
        yield
    except (exc.SQLAlchemyError, sqlite3.Error, OverflowError, AssertionError) as error:
        raise_interrupt(error)
        said = str(getattr(error, "orig", None) or error)
        if "unable to open" in said.lower() and path.parent.is_dir() and not os.access(path.parent, os.W_OK):
            raise StoreReadOnly(
                f"{path}: its folder may not be written, which SQLite needs even to read; read_only=True opens a store "
                "that nobody writes, once those who did have closed it"
            ) from error
        for needle, kind, advice in _MESSAGES:
            if needle in said.lower():
                if kind is StoreCorrupt:  # SQLite quotes the text that it cannot read
                    raise kind(f"{path}: {advice}") from None
                raise kind(f"{path}: {advice} ({said})") from error
        raise StoreError(f"{path}: the database reported an error ({said})") from error
    except UnicodeDecodeError:  # an error of SQLite that quotes damaged text
        raise StoreCorrupt(f"{path}: the file is damaged; restore a copy, or see `embermem doctor`") from None
