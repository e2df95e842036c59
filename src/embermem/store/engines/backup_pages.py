"""The pages of a file of SQLite, as every backup is one, whatever the store is on: copied in one state while others
write, cleaned, and compared with an older state.

SQLite's backup is made from a connection that already holds a read transaction. Then all its steps see one state, and a
writer neither waits nor makes it begin again, as it does where each step opens a transaction for itself.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from embermem.core.errors import StoreBusy, StoreCorrupt, StoreError, StoreFull
from embermem.store.engines.sqlite_file import APPLICATION_ID, copy_rows
from embermem.store.engines.sqlite_slack import Damaged, RawFile, wipe

__all__ = [
    "Contents",
    "Runs",
    "apply_pages",
    "changed_pages",
    "contents_of",
    "copy_pages",
    "refuse_unsound",
    "row_counts",
]

Told = Callable[[int, int], None]
"""Gets how much is done, and of how much."""
Runs = Sequence[tuple[int, int]]
"""Runs of pages: the first and last number of each, in order."""
_AT_ONCE = 1024
"""Pages of one step: between two, who waits is told how far it is."""
_NAMED = 5
"""Damages that an error names."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Contents:
    """What a file of SQLite says of itself: the schema of Ember in it, its pages, and the rows of each table."""

    schema: str
    page_size: int
    pages: int
    rows: dict[str, int]
    settings: dict[str, str]


def copy_pages(source: sqlite3.Connection, place: Path, told: Told) -> dict[str, int]:
    """Every page of a database as it stands now in a file that is there and empty, without the bytes that hold no row;
    the rows of each table in that state. `source` is in no transaction. Raises sqlite3.Error, OSError, StoreCorrupt."""
    source.execute("BEGIN")
    try:
        rows = row_counts(source)
        _refuse_small(source, place)
        with closing(sqlite3.connect(place, isolation_level=None)) as target:
            for pragma in ("journal_mode=OFF", "synchronous=OFF"):  # whoever asked for it syncs the whole, once
                target.execute(f"PRAGMA {pragma}").fetchall()
            source.backup(target, pages=_AT_ONCE, progress=lambda status, left, total: told(total - left, total))
    except sqlite3.OperationalError as error:
        _refuse_full(error, place)
        raise
    finally:
        source.rollback()
    _without_slack(place)
    return rows


def _refuse_full(error: sqlite3.Error, place: Path) -> None:
    """Raises StoreFull for an error that says so: it is of the disk of the file that is written, not of the store's."""
    if "full" in str(error):
        raise StoreFull(f"{place}: no room is left on its disk; nothing was kept there") from error


def _refuse_small(source: sqlite3.Connection, place: Path) -> None:
    """Raises StoreFull where the disk has no room for the file."""
    pages, size = (source.execute(f"PRAGMA {one}").fetchone()[0] for one in ("page_count", "page_size"))
    free = shutil.disk_usage(place.parent).free
    if free < pages * size:
        raise StoreFull(
            f"{place}: no room is left on its disk: {pages * size / 2**20:,.1f} MB are needed and "
            f"{free / 2**20:,.1f} MB are free; nothing was written"
        )


def row_counts(connection: sqlite3.Connection) -> dict[str, int]:
    """The rows of each table."""
    names = [str(name) for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    count = 'SELECT count(*) FROM "{}"'
    return {name: int(connection.execute(count.format(name)).fetchone()[0]) for name in sorted(names)}


def _without_slack(place: Path) -> None:
    with _still(place) as connection:
        roots = [int(n) for (n,) in connection.execute("SELECT rootpage FROM sqlite_master WHERE rootpage > 0")]
    file = RawFile(place)
    try:
        wipe(file, roots)
    except Damaged as error:
        raise StoreCorrupt(f"the store is damaged ({error}); see `embermem doctor`") from error
    finally:
        file.close()


@contextmanager
def _still(place: Path) -> Iterator[sqlite3.Connection]:
    """A connection to a file that nobody writes: it makes none beside it."""
    uri = f"{place.absolute().as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as connection:
        yield connection


def refuse_unsound(place: Path) -> None:
    """Raises StoreCorrupt for a file that nobody writes, if it is not a sound store: SQLite's integrity check of every
    page and index."""
    try:
        with _still(place) as connection:
            mark = connection.execute("PRAGMA application_id").fetchone()[0]
            if mark != APPLICATION_ID:
                raise StoreCorrupt(f"{place} is not an Ember store")
            said = [str(row[0]) for row in connection.execute(f"PRAGMA integrity_check({_NAMED})")]
    except sqlite3.DatabaseError as error:
        raise StoreCorrupt(f"{place} is damaged: {error}") from error
    if said != ["ok"]:
        raise StoreCorrupt(f"{place} is damaged: {'; '.join(said)}")


def contents_of(place: Path, version_table: str) -> Contents:
    """What a store's file that nobody writes says of itself. Raises StoreCorrupt."""
    try:
        with _still(place) as connection:
            schema, size, pages = (
                connection.execute(query).fetchone()[0]
                for query in (f"SELECT version_num FROM {version_table}", "PRAGMA page_size", "PRAGMA page_count")
            )
            settings = {str(key): str(value) for key, value in connection.execute("SELECT key, value FROM store")}
            rows = row_counts(connection)
    except (sqlite3.DatabaseError, TypeError) as error:
        raise StoreCorrupt(f"{place} is not an Ember store, or is damaged: {error}") from error
    return Contents(schema=str(schema), page_size=int(size), pages=int(pages), rows=rows, settings=settings)


def compact(place: Path, into: Path) -> None:
    """Every row of a store that nobody has open in another file, which is there and empty. Raises StoreFull."""
    with closing(sqlite3.connect(place, isolation_level=None)) as connection:
        try:
            copy_rows(connection, into)
        except sqlite3.OperationalError as error:
            _refuse_full(error, into)
            raise


def alone(target: Path) -> sqlite3.Connection:
    """A connection that holds a store against all others, with nothing left beside its file. Raises StoreBusy where
    another process has it open."""
    connection = sqlite3.connect(target, isolation_level=None, timeout=0.0)
    try:
        for pragma in ("locking_mode=EXCLUSIVE", "journal_mode=DELETE"):
            connection.execute(f"PRAGMA {pragma}").fetchall()
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        connection.close()
        if "locked" not in str(error):
            raise StoreError(f"{target} cannot be replaced: {error}") from error
        raise StoreBusy(f"{target} is open in another process: stop what uses it, and restore again") from error
    except sqlite3.DatabaseError:  # it is damaged, which may be why it is replaced
        connection.close()
        return sqlite3.connect(":memory:")
    return connection


# ---------------------------------------------------------------------------------------------------------- increments


def changed_pages(newer: Path, older: Sequence[tuple[Path, Runs]], size: int, out: BinaryIO) -> list[tuple[int, int]]:
    """Write the pages of `newer` that `older` holds otherwise, or not at all, one after another; which those are.

    `older` is a chain: a whole file, whose runs are empty, and files as this function writes them, each with its runs.
    Pages are of `size` bytes. Raises OSError.
    """
    with _Chain(older, size) as chain, newer.open("rb") as file:
        runs: list[tuple[int, int]] = []
        number = 0
        while page := file.read(size):
            number += 1
            if page == chain.page(number):
                continue
            out.write(page)
            if runs and runs[-1][1] == number - 1:
                runs[-1] = (runs[-1][0], number)
            else:
                runs.append((number, number))
        return runs


def apply_pages(file: BinaryIO, pages: Path, runs: Runs, size: int, count: int) -> None:
    """Put the pages that `changed_pages` wrote in their places in a file, which has `count` pages then. Raises
    OSError."""
    with pages.open("rb") as source:
        for first, last in runs:
            file.seek((first - 1) * size)
            for _ in range(first, last + 1):
                file.write(source.read(size))
    file.truncate(count * size)


class _Chain:
    """Pages as the last of a chain of files leaves them."""

    def __init__(self, files: Sequence[tuple[Path, Runs]], size: int) -> None:
        self._size = size
        self._files = [place.open("rb") for place, _ in files]
        self._newest: dict[int, tuple[BinaryIO, int]] = {}
        for file, (_, runs) in zip(self._files[1:], files[1:], strict=True):
            at = 0
            for first, last in runs:
                for number in range(first, last + 1):
                    self._newest[number] = file, at
                    at += size

    def __enter__(self) -> _Chain:
        return self

    def __exit__(self, *error: object) -> None:
        for file in self._files:
            file.close()

    def page(self, number: int) -> bytes:
        file, at = self._newest.get(number) or (self._files[0], (number - 1) * self._size)
        file.seek(at)
        return file.read(self._size)
