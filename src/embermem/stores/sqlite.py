"""SQLite: how it is opened, how a transaction begins, and its errors in our words."""

from __future__ import annotations

import glob
import os
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Engine, create_engine, event, exc
from sqlalchemy.engine import Connection
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool

from embermem.errors import SchemaMismatch, StoreBusy, StoreCorrupt, StoreError, StoreFull, StoreReadOnly
from embermem.protocols import Finding
from embermem.stores.sqlite_slack import Damaged, RawFile, slack, wipe

_PREFIX = 5
"""Ids made within days of each other have so many characters in common: bytes are searched for these first."""
_UTTERANCE_ID = re.compile(rb"(?=(u[0-9a-z]{24}))")
_ID_BYTES = 25
"""What `embermem.ids.new_id` makes."""
_SCRUB_WAIT_S = 2.0
"""How long readers of an older state are waited for: a recall's read takes milliseconds."""
_SCRUB_TRIES = 16
"""How often a scrub begins again because another process wrote in between."""
APPLICATION_ID = 0x454D4252
"""The bytes EMBR in the file's header."""

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
        refuse_foreign(self._path, read_only=self._read_only)
        if self._read_only:
            if not self._path.exists():
                raise StoreError(f"there is no store at {self._path} to be read")
            return self._engine_to_read()
        with suppress(OSError):  # what is wrong with the place, opening it says
            os.close(os.open(self._path, os.O_CREAT | os.O_EXCL, 0o600))
        self._writing = threading.Lock()
        return make_engine(self._path, self._busy_timeout_s)

    def _engine_to_read(self) -> Engine:
        if self._read_only and is_still(self._path):
            return still_engine(self._path)
        return make_engine(self._path, self._busy_timeout_s, read_only=True)

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
        with self._writing, connection.execution_options(ember_writes=True).begin():
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
        """By VACUUM INTO, which takes over rows and nothing that is left of deleted ones; a reader among others. Raises
        StoreError."""
        try:
            os.close(os.open(place, os.O_CREAT | os.O_EXCL, 0o600))
        except OSError as error:
            raise StoreError(f"no copy of {self._path} can be made at {place}: {error}") from error
        with self.errors():
            copy_rows(self._path, place)
        if self.key_file.exists():  # without it the copy would not know what was forgotten
            with open(os.open(f"{place}.key", os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as file:
                file.write(self.key_file.read_bytes())

    @property
    def scrubs_by_itself(self) -> bool:
        """A scrub takes part of a second and stops nobody: see `scrub`."""
        return True

    def scrub(self, done: Callable[[Connection], None]) -> bool:
        """Fold the WAL into the file and empty it, overwrite all bytes of the file that hold no row with zeros, and
        have `done` write that in the transaction that ends it.

        The file is walked beside readers and writers. Other processes keep pages in memory as they were; the last
        transaction makes them read anew. Where others wrote during the walk, it is repeated with the write lock held,
        if it takes less than a quarter of the busy time-out.
        """
        engine = make_engine(self._path, min(_SCRUB_WAIT_S, self._busy_timeout_s / 2))  # nothing in its page cache
        try:
            with self.errors(), engine.connect() as connection:
                return self._scrub(connection, done)
        except StoreBusy:
            return False
        except (Damaged, OSError) as error:
            raise StoreCorrupt(f"{self._path}: the file cannot be scrubbed ({error}); see `embermem doctor`") from error
        finally:
            engine.dispose()

    def _scrub(self, c: Connection, done: Callable[[Connection], None]) -> bool:
        file, took = RawFile.of(self._path), 0.0
        for _ in range(_SCRUB_TRIES):
            if not _folded(c):
                return False
            if took:  # others wrote in between: nobody does now
                with self.writing(c):
                    if self._wal_is_empty():
                        wipe(file, _roots(c))
                        done(c)
                        return True
                continue
            began = time.monotonic()
            with self.reading(c):  # as long as this lasts, no checkpoint writes to the file
                roots, seen = _roots(c), _data_version(c)
                if not self._wal_is_empty():
                    continue
                wipe(file, roots)
            took = time.monotonic() - began
            with self.writing(c):
                if _data_version(c) == seen and self._wal_is_empty():
                    done(c)
                    return True
            if took > self._busy_timeout_s / 4:
                return False
        return False

    def _wal_is_empty(self) -> bool:
        wal = Path(f"{self._path}-wal")
        return not wal.exists() or wal.stat().st_size == 0

    def leftovers(self) -> frozenset[str]:
        """The ids of utterances in the bytes of the file that hold no row, and in its WAL: of rows that are gone, and
        of rows that were moved. Raises StoreCorrupt where the file cannot be walked."""
        engine, why = self._engine_to_read(), ""
        try:
            for _ in range(_SCRUB_TRIES):
                with self.errors(), engine.connect() as connection, self.reading(connection):
                    try:
                        return self._leftovers(_roots(connection))
                    except (Damaged, OSError) as error:  # a checkpoint may have written meanwhile
                        why = str(error)
        finally:
            engine.dispose()
        raise StoreCorrupt(f"{self._path}: the file cannot be walked ({why})")

    def _leftovers(self, roots: Collection[int]) -> frozenset[str]:
        file, wal = RawFile.of(self._path), Path(f"{self._path}-wal")
        pieces = [file.read(start, end - start) for start, end in slack(file.read, roots)]
        pieces += RawFile.of(wal).blocks(_ID_BYTES) if wal.exists() else ()
        return frozenset(found[1].decode() for piece in pieces for found in _UTTERANCE_ID.finditer(piece))

    def remains(self, ids: Collection[str]) -> frozenset[str]:
        """Those of some ids that stand anywhere in the bytes of the file or its WAL. Raises OSError."""
        wanted = {one.encode() for one in ids}
        found: set[bytes] = set()
        for path in (self._path, Path(f"{self._path}-wal")):
            if wanted and path.exists():
                for block in RawFile.of(path).blocks(max(map(len, wanted))):
                    found |= _found_in(block, wanted)
        return frozenset(one.decode() for one in found)

    def backups(self) -> tuple[Path, ...]:
        """`FILE.before-*`, beside it."""
        found = self._path.parent.glob(f"{glob.escape(self._path.name)}.before-*")
        return tuple(sorted(file for file in found if not file.name.endswith(("-wal", "-shm", ".key"))))


def copy_rows(path: Path, place: Path) -> None:
    """Every row of a database in another file, which is empty or not there yet: without the pages and bytes that hold
    no row. Raises sqlite3.Error."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("VACUUM INTO ?", (str(place),))


def _folded(c: Connection) -> bool:
    """Whether the WAL could be folded into the file and emptied: nobody reads an older state."""
    driver = c.connection.driver_connection  # outside of any transaction
    assert driver is not None
    busy, _, _ = driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy


def _found_in(block: bytes, wanted: Collection[bytes]) -> set[bytes]:
    """Those of some ids that stand in a block, wherever they begin."""
    found: set[bytes] = set()
    lengths = {len(one) for one in wanted}
    for prefix in {one[:_PREFIX] for one in wanted}:
        at = block.find(prefix)
        while at >= 0:
            found.update(one for length in lengths if (one := block[at : at + length]) in wanted)
            at = block.find(prefix, at + 1)
    return found


def _roots(c: Connection) -> list[int]:
    """The root pages of tables and indexes. The first statement of a transaction: what it reads begins here."""
    rows = c.exec_driver_sql("SELECT rootpage FROM sqlite_master WHERE rootpage > 0")
    return [int(row[0]) for row in rows]


def _data_version(c: Connection) -> int:
    """Another number whenever another connection has written."""
    return int(c.exec_driver_sql("PRAGMA data_version").scalar_one())


def refuse_foreign(path: Path, *, read_only: bool = False) -> None:
    """Raises StoreCorrupt for a file that is not one of Ember, before anything is set in it."""
    if not path.exists() or path.stat().st_size == 0:
        return
    still = read_only and is_still(path)
    place = _still_uri(path) if still else path
    with our_errors(path), closing(sqlite3.connect(place, uri=still)) as connection:
        mark = connection.execute("PRAGMA application_id").fetchone()[0]
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if tables and mark != APPLICATION_ID:
        raise StoreCorrupt(f"{path} is a database, but not one of Ember; choose another file")


def is_still(path: Path) -> bool:
    """Whether a file can be read only as one that nobody writes: SQLite needs to make a file beside it even to read
    (`-shm`), and the folder may not be written. Raises StoreReadOnly where changes wait in a WAL that cannot be read
    without it."""
    if os.access(path.parent, os.W_OK):
        return False
    log, index = Path(f"{path}-wal"), Path(f"{path}-shm")
    if index.exists():  # by it, those who may write and we see the same
        return False
    if log.exists() and log.stat().st_size > 0:
        raise StoreReadOnly(
            f"{path}: changes wait in {log.name}, which cannot be read where the folder may not be written; open and "
            "close the store once where it may be, or copy both files into a folder that you may write"
        )
    return True


def _still_uri(path: Path) -> str:
    return f"{path.absolute().as_uri()}?mode=ro&immutable=1"


def still_engine(path: Path) -> Engine:
    """An engine on a file that nobody writes: it takes no locks. A transaction raises StoreReadOnly where the file was
    written since, since its pages may have moved below the reader."""
    engine = create_engine(
        "sqlite://",
        creator=lambda: sqlite3.connect(_still_uri(path), uri=True, check_same_thread=False),
        poolclass=QueuePool,
        pool_size=8,
        max_overflow=64,
    )
    opened = _stamp(path)

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, entry: ConnectionPoolEntry) -> None:
        connection.isolation_level = None
        for pragma in ("query_only=ON", "temp_store=MEMORY"):
            connection.execute(f"PRAGMA {pragma}").fetchall()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        if _stamp(path) != opened:
            raise StoreReadOnly(f"{path}: the file was written since it was opened to be read only; open it again")
        connection.exec_driver_sql("BEGIN")

    return engine


def _stamp(path: Path) -> tuple[int, int, int, bool]:
    """What changes when the file, or a WAL beside it, is written."""
    file, log = path.stat(), Path(f"{path}-wal")
    return file.st_ino, file.st_size, file.st_mtime_ns, log.exists() and log.stat().st_size > 0


def make_engine(path: Path, busy_timeout_s: float, *, read_only: bool = False) -> Engine:
    """An engine on one file: WAL, synchronous = FULL, secure_delete = ON; a write transaction begins as one."""
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
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "secure_delete=ON", "temp_store=MEMORY", *last):
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
            raise StoreReadOnly(
                f"{path}: its folder may not be written, which SQLite needs even to read; read_only=True opens a store "
                "that nobody writes, once those who did have closed it"
            ) from error
        for needle, kind, advice in _MESSAGES:
            if needle in said.lower():
                raise kind(f"{path}: {advice} ({said})") from error
        raise StoreError(f"{path}: the database refused ({said})") from error
