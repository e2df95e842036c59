"""A file of SQLite in a folder that may not be written: read as one that nobody writes."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import Connection
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool

from embermem.core.errors import StoreReadOnly
from embermem.store.engines.packed_text import PLAIN, plain_text
from embermem.store.engines.sqlite_file import ANY_FILE, FILES

__all__ = ["is_still", "still_engine", "still_uri"]


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


def still_uri(path: Path) -> str:
    return f"{path.absolute().as_uri()}?mode=ro&immutable=1"


def still_engine(path: Path) -> Engine:
    """An engine on a file that nobody writes: it takes no locks. A transaction raises StoreReadOnly where the file was
    written since, since its pages may have moved below the reader."""
    engine = create_engine(
        f"{ANY_FILE}://",
        creator=lambda: sqlite3.connect(still_uri(path), uri=True, check_same_thread=False),
        poolclass=QueuePool,
        pool_size=8,
        max_overflow=64,
    )
    opened = _stamp(path)

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, entry: ConnectionPoolEntry) -> None:
        connection.isolation_level = None
        connection.create_function(PLAIN, 1, plain_text, deterministic=True)
        for pragma in ("query_only=ON", "temp_store=MEMORY"):
            connection.execute(f"PRAGMA {pragma}").fetchall()
        entry.info[FILES] = None, None

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        if _stamp(path) != opened:
            raise StoreReadOnly(f"{path}: the file was changed since it was opened read-only; open it again")

    return engine


def _stamp(path: Path) -> tuple[int, int, int, bool]:
    """What changes when the file, or a WAL beside it, is written."""
    file, log = path.stat(), Path(f"{path}-wal")
    return file.st_ino, file.st_size, file.st_mtime_ns, log.exists() and log.stat().st_size > 0
