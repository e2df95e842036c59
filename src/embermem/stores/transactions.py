"""How the store opens, reads and writes: each call is one transaction, each error one of ours."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.engine import Connection

from embermem.errors import StoreClosed
from embermem.stores import migrations, sqlite


class Transactions:
    """One SQLite file and how it is read and written. Many threads and processes may use it at once."""

    def __init__(self, path: Path, *, busy_timeout_s: float) -> None:
        self._path = path
        self._busy_timeout_s = busy_timeout_s
        self._pid = os.getpid()
        self._writing = threading.Lock()
        self._closed = False
        sqlite.refuse_foreign(path)
        with contextlib.suppress(OSError):  # what is wrong with the place, opening it says
            os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
        self._engine = sqlite.make_engine(path, busy_timeout_s)
        with self._errors():
            migrations.prepare(self._engine, path)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        with sqlite.our_errors(self._path):
            yield

    def _after_fork(self) -> None:
        if self._pid != os.getpid():
            self._engine.dispose(close=False)
            self._engine = sqlite.make_engine(self._path, self._busy_timeout_s)
            self._writing = threading.Lock()
            self._pid = os.getpid()

    @contextmanager
    def _read(self) -> Iterator[Connection]:
        self._after_fork()
        if self._closed:
            raise StoreClosed(f"{self._path}: this memory was closed")
        with self._errors(), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def _write(self) -> Iterator[Connection]:
        self._after_fork()
        if self._closed:
            raise StoreClosed(f"{self._path}: this memory was closed")
        with (
            self._writing,
            self._errors(),
            self._engine.connect().execution_options(ember_writes=True) as connection,
            connection.begin(),
        ):
            yield connection

    def close(self) -> None:
        """Give all connections back; the WAL is folded into the file by the last one out."""
        self._closed = True
        with contextlib.suppress(Exception):
            self._engine.dispose()
