"""The frozen stores, thawed into a folder or a database of the test's own."""

from __future__ import annotations

import lzma
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from embermem import Memory
from net.life import END, SETTINGS, Clock

FROZEN = Path(__file__).parent / "frozen"
SCHEMAS = tuple(sorted(file.name.partition(".")[0] for file in FROZEN.glob("[0-9][0-9][0-9][0-9].db.xz")))
"""The schemas of which there is a frozen store, oldest first: all that can be opened."""
TODAY = SCHEMAS[-1]
"""The store of the newest schema, of which the golden outputs are told."""
MIGRATED = "0013-migrated"
"""A store with the rows of an older schema, as its migration to 0013 left them."""


def thaw(name: str, folder: Path) -> Path:
    """A copy of a frozen SQLite store, with the key of what was forgotten in it."""
    file = folder / f"{name}.db"
    file.write_bytes(lzma.decompress((FROZEN / f"{name}.db.xz").read_bytes()))
    file.chmod(0o600)
    thaw_key(name, file.with_name(f"{file.name}.key"))
    return file


def thaw_key(name: str, file: Path) -> Path:
    """The key of what was forgotten in a frozen store; nothing for one in which nothing was."""
    frozen = FROZEN / f"{name}.key"
    if frozen.exists():
        file.write_bytes(frozen.read_bytes())
        file.chmod(0o600)
    return file


@contextmanager
def thawed_on_a_server(folder: Path, server_folder: Path, name: str = TODAY) -> Iterator[tuple[str, Path]]:
    """The same store as the one of a schema, row by row, in a PostgreSQL database: its URL, and the file of its key."""
    import psycopg

    import postgres

    with postgres.database(server_folder) as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(dump(name))
        yield url, thaw_key(name, folder / "postgresql.key")


def dump(name: str) -> str:
    """What pg_dump wrote of a frozen store, as SQL."""
    return lzma.decompress((FROZEN / f"{name}.postgresql.sql.xz").read_bytes()).decode()


def opened(place: str | Path, **settings: Any) -> Memory:
    """A memory on a thawed store, at the time at which its lives end."""
    return Memory(place, **{"clock": Clock(END), **SETTINGS, **settings})
