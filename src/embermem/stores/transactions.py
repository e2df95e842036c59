"""How the store opens, reads and writes: each call is one transaction, each error one of ours."""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

from sqlalchemy.engine import Connection

from embermem.errors import StoreClosed, StoreConflict, StoreReadOnly, StoreUnreachable
from embermem.stores.database import Database
from embermem.stores.sqlite import Sqlite

logger = logging.getLogger(__name__)

Store = TypeVar("Store")

_BUSY_TIMEOUT_S = 60.0
_PAUSES_S = (0.1, 0.5, 2.0)
"""Before each further try: a server that is started again is back within seconds, and so are those in the way done."""


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
        if self._database.read_only:
            raise StoreReadOnly(f"{self._database.place}: opened to be read only; nothing is written here")
        decided = False
        try:
            with self._connected() as connection, self._database.writing(connection):
                yield connection
                decided = True
        except StoreUnreachable as error:
            error.undone = not decided
            raise

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


Method = TypeVar("Method", bound=Callable[..., Any])


def again(method: Method) -> Method:
    """A method of one transaction that is tried again, a few times, where the server broke off before it was done, or
    undid it because others wrote the same."""

    @wraps(method)
    def tried(*arguments: Any, **named: Any) -> Any:
        for pause in _PAUSES_S:
            try:
                return method(*arguments, **named)
            except StoreUnreachable as error:
                if not error.undone:
                    raise
                logger.warning("the database broke off and is asked again in %g s: %s", pause, error)
            except StoreConflict as error:
                logger.info("others wrote the same; it is tried again in %g s: %s", pause, error)
            time.sleep(pause)
        return method(*arguments, **named)

    return cast("Method", tried)


def each_again(store: type[Store]) -> type[Store]:
    """Every public method of the store, each of which is one transaction, tried again."""
    for name in dir(store):
        if not name.startswith("_") and callable(getattr(store, name)) and name != "close":
            setattr(store, name, again(getattr(store, name)))
    return store
