"""SQLite: how it is opened, how a transaction begins, and its errors in our words."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Engine, create_engine, event, exc
from sqlalchemy.engine import Connection
from sqlalchemy.pool import ConnectionPoolEntry

from embermem.errors import StoreBusy, StoreCorrupt, StoreError, StoreFull, StoreReadOnly

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


def refuse_foreign(path: Path) -> None:
    """Raises StoreCorrupt for a file that is not one of Ember, before anything is set in it."""
    if not path.exists() or path.stat().st_size == 0:
        return
    with our_errors(path), closing(sqlite3.connect(path)) as connection:
        mark = connection.execute("PRAGMA application_id").fetchone()[0]
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if tables and mark != APPLICATION_ID:
        raise StoreCorrupt(f"{path} is a database, but not one of Ember; choose another file")


def make_engine(path: Path, busy_timeout_s: float) -> Engine:
    """An engine on one file: WAL, synchronous = FULL, secure_delete = ON; a write transaction begins as one."""
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        connect_args={"timeout": busy_timeout_s, "check_same_thread": False},
        pool_size=8,
        max_overflow=64,
    )

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, entry: ConnectionPoolEntry) -> None:
        connection.isolation_level = None
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "secure_delete=ON", "temp_store=MEMORY"):
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
