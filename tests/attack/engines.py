"""Where lives keep their stores: in files, or on a PostgreSQL server of the run's own; and what lies on the disk."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

import psycopg

import postgres


class Engine(Protocol):
    """What a life needs to know of an engine."""

    @property
    def name(self) -> str:
        """As the command line has it."""

    def store(self, folder: Path) -> AbstractContextManager[str | Path]:
        """A new store's place, below a folder or on a server."""

    def rest(self, place: str | Path) -> None:
        """Wait until nobody is at work on the store any more."""

    def files(self, place: str | Path) -> list[Path]:
        """The files that hold the store."""


class SqliteFiles:
    """Each store is a file in the life's folder."""

    name = "sqlite"

    @contextmanager
    def store(self, folder: Path) -> Iterator[str | Path]:
        """`memory.db`."""
        yield folder / "memory.db"

    def rest(self, place: str | Path) -> None:
        """A process that has ended holds no file."""

    def files(self, place: str | Path) -> list[Path]:
        """All in its folder but the key: the file, what SQLite keeps beside it, and whatever else lies there."""
        beside = Path(place).parent
        return sorted(one for one in beside.rglob("*") if one.is_file() and one.suffix != ".key")


class PostgresServer:
    """Each store is a database of its own on one server."""

    name = "postgresql"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def store(self, folder: Path) -> Iterator[str | Path]:
        """A database whose large texts are kept as they are: compressed, no word could be found in the files."""
        with postgres.database(self._folder, template=postgres.MADE) as url:
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute(_PLAIN)
            yield url

    def rest(self, place: str | Path) -> None:
        """A server goes on with the statement of a client that was killed."""
        until = time.monotonic() + 20
        with psycopg.connect(str(place), autocommit=True) as connection:
            while connection.execute(_OTHERS).fetchone() != (0,):
                if time.monotonic() > until:
                    raise TimeoutError("connections to the database are left over")
                time.sleep(0.01)

    def files(self, place: str | Path) -> list[Path]:
        """The database's folder under `base`, once all that is in memory has been written."""
        with psycopg.connect(str(place), autocommit=True) as connection:
            connection.execute("CHECKPOINT")
            row = connection.execute(_FOLDER).fetchone()
        assert row is not None
        return sorted(one for one in (Path(row[0]) / "base" / str(row[1])).iterdir() if one.is_file())


_OTHERS = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid != pg_backend_pid()"
_FOLDER = "SELECT current_setting('data_directory'), oid FROM pg_database WHERE datname = current_database()"
_PLAIN = """
    DO $$ DECLARE one record; BEGIN
        FOR one IN SELECT c.relname, a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
            WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND a.attstorage = 'x' AND a.attnum > 0
        LOOP
            EXECUTE format('ALTER TABLE %I ALTER COLUMN %I SET STORAGE EXTERNAL', one.relname, one.attname);
        END LOOP;
    END $$
"""


def engine_of(name: str, folder: Path) -> Engine:
    """The engine of a name; a server's data lie in a folder."""
    return SqliteFiles() if name == "sqlite" else PostgresServer(folder)
