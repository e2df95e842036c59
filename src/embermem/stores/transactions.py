"""How the store opens, reads and writes: each call is one transaction, each error one of ours."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.engine import Connection

from embermem.errors import StoreClosed
from embermem.stores.database import Database
from embermem.stores.sqlite import Sqlite

_BUSY_TIMEOUT_S = 60.0


class Transactions:
    """A database and how it is read and written. Many threads and processes may use it at once."""

    def __init__(self, place: Path | Database, *, busy_timeout_s: float = _BUSY_TIMEOUT_S) -> None:
        """`place` is a database, or the path of an SQLite file."""
        self._database: Database = Sqlite(place, busy_timeout_s) if isinstance(place, Path) else place
        self._pid = os.getpid()
        self._closed = False
        self._engine = self._database.open()
        with self._database.errors():
            self._database.prepare(self._engine)

    def _after_fork(self) -> None:
        if self._pid != os.getpid():
            self._engine.dispose(close=False)
            self._engine = self._database.open()
            self._pid = os.getpid()

    @contextmanager
    def _read(self) -> Iterator[Connection]:
        """A transaction that sees one state, whatever others write meanwhile."""
        with self._connected() as connection, self._database.reading(connection):
            yield connection

    @contextmanager
    def _write(self) -> Iterator[Connection]:
        """A transaction that writes. What it decides by, it reads after it holds the owner's row (`locked_owner`)."""
        with self._connected() as connection, self._database.writing(connection):
            yield connection

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        self._after_fork()
        if self._closed:
            raise StoreClosed(f"{self._database.place}: this memory was closed")
        with self._database.errors(), self._engine.connect() as connection:
            yield connection

    def close(self) -> None:
        """Give all connections back; the WAL of an SQLite file is folded into it by the last one out."""
        self._closed = True
        with contextlib.suppress(Exception):
            self._engine.dispose()
