"""Scrubbing an SQLite file, so that no byte of a deleted row is left in it, and looking at its bytes."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Engine
from sqlalchemy.engine import Connection

from embermem.core.errors import StoreBusy, StoreCorrupt
from embermem.store.engines.packed_text import unpacked_within
from embermem.store.engines.sqlite_file import make_engine
from embermem.store.engines.sqlite_slack import Damaged, RawFile, committed_pages, slack, wipe, with_wal
from embermem.store.transactions import Transaction

if TYPE_CHECKING:
    from embermem.store.engines.database import Database

__all__ = ["leftovers", "remains", "scrub"]

_WAIT_S = 2.0
"""How long readers of an older state are waited for: a recall's read takes milliseconds."""
_TRIES = 16
"""How often a scrub begins again because another process wrote in between."""
_UTTERANCE_ID = re.compile(rb"(?=(u0[0-9a-hjkmnp-tv-z]{23}))")
"""What `core.ids.new_id` makes until the year 2248. Other columns of a row may follow each other without a byte
between them, as in "useroccupation": an id is told from these by its digits, which are without i, l, o and u."""
_ID = re.compile(r"[a-z][0-9a-z]{24}")
_ID_BYTES = 25
"""What `embermem.core.ids.new_id` makes."""
_PREFIX = 5
"""Ids made within days of each other have so many characters in common: bytes are searched for these first."""


def scrub(database: Database, path: Path, busy_timeout_s: float, done: Callable[[Connection], None]) -> bool:
    """Fold the WAL into the file and empty it, overwrite all bytes of the file that hold no row with zeros, and have
    `done` write that in the transaction that ends it. False: others were in the way.

    The file is walked beside readers and writers. Other connections keep pages in memory as they were; the last
    transaction makes them read anew. Where others wrote during the walk, it is repeated with the write lock held, if it
    takes less than a quarter of the busy time-out. Raises StoreCorrupt where the file cannot be walked.
    """
    engine = make_engine(path, min(_WAIT_S, busy_timeout_s / 2))  # nothing in its page cache
    try:
        with database.errors():
            return _Scrub(database, engine, path, busy_timeout_s / 4).run(done)
    except StoreBusy:
        return False
    except (Damaged, OSError) as error:
        raise StoreCorrupt(f"{path}: the file cannot be scrubbed ({error}); see `embermem doctor`") from error
    finally:
        engine.dispose()


class _Scrub:
    def __init__(self, database: Database, engine: Engine, path: Path, limit_s: float) -> None:
        self._database = database
        self._engine = engine
        self._file = RawFile.of(path)
        self._wal = Path(f"{path}-wal")
        self._limit_s = limit_s

    def run(self, done: Callable[[Connection], None]) -> bool:
        """Without the write lock first; with it, where others wrote meanwhile and it is quick enough."""
        for _ in range(_TRIES):
            if not self._folded():
                return False
            began = time.monotonic()
            seen = self._walked()
            if seen is None:
                continue
            if self._ended(seen, done):
                return True
            return time.monotonic() - began <= self._limit_s and self._alone(done)
        return False

    def _walked(self) -> int | None:
        """Wipe the file; the version of the data that it holds. None: another wrote before it began."""
        with Transaction(self._database, self._engine, writes=False) as c:
            roots = _roots(c)  # as long as this transaction lasts, no checkpoint writes to the file
            if not self._wal_is_empty():
                return None
            wipe(self._file, roots)
            return _data_version(c)

    def _ended(self, seen: int, done: Callable[[Connection], None]) -> bool:
        with Transaction(self._database, self._engine, writes=True) as c:
            if _data_version(c) != seen or not self._wal_is_empty():
                return False
            done(c)
            return True

    def _alone(self, done: Callable[[Connection], None]) -> bool:
        """Walk it again while nobody else may write."""
        for _ in range(_TRIES):
            if not self._folded():
                return False
            with Transaction(self._database, self._engine, writes=True) as c:
                if self._wal_is_empty():
                    wipe(self._file, _roots(c))
                    done(c)
                    return True
        return False

    def _folded(self) -> bool:
        """Whether the WAL could be folded into the file and emptied: nobody reads an older state."""
        with self._engine.connect() as connection:
            driver = connection.connection.driver_connection  # outside of any transaction
            assert driver is not None
            busy, _, _ = driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not busy

    def _wal_is_empty(self) -> bool:
        return not self._wal.exists() or self._wal.stat().st_size == 0


def leftovers(database: Database, path: Path, engine: Engine) -> frozenset[str]:
    """The ids of utterances in the bytes of the file that hold no row, and in what was committed to its WAL: of rows
    that are gone, and of rows that were moved, packed texts among them. The engine is one to read with, and is disposed
    of. Raises StoreCorrupt where the file cannot be walked."""
    why = ""
    try:
        for _ in range(_TRIES):
            with Transaction(database, engine, writes=False) as connection:
                try:
                    return _leftovers(path, _roots(connection))
                except (Damaged, OSError) as error:  # a checkpoint may have written meanwhile
                    why = str(error)
    finally:
        engine.dispose()
    raise StoreCorrupt(f"{path}: the file cannot be walked ({why})")


def _leftovers(path: Path, roots: Collection[int]) -> frozenset[str]:
    beside, file = Path(f"{path}-wal"), RawFile.of(path)
    wal = RawFile.of(beside) if beside.exists() else None
    read = file.read if wal is None else with_wal(file, wal)
    pieces = [read(start, end - start) for start, end in slack(read, roots)]
    pieces += () if wal is None else committed_pages(wal)
    read_of = (told for piece in pieces for told in (piece, *unpacked_within(piece)))
    return frozenset(found[1].decode() for told in read_of for found in _UTTERANCE_ID.finditer(told))


def remains(path: Path, ids: Collection[str]) -> frozenset[str]:
    """Those of some ids that stand anywhere in the bytes of the file or its WAL; what cannot be an id of ours stands
    nowhere. Raises OSError."""
    wanted = {one.encode() for one in ids if _ID.fullmatch(one)}
    found: set[bytes] = set()
    for file in (path, Path(f"{path}-wal")):
        if wanted and file.exists():
            for block in RawFile.of(file).blocks(_ID_BYTES):
                found |= _found_in(block, wanted)
                for told in unpacked_within(block):
                    found |= _found_in(told, wanted)
    return frozenset(one.decode() for one in found)


def _found_in(block: bytes, wanted: Collection[bytes]) -> set[bytes]:
    """Those of some ids that stand in a block, wherever they begin."""
    found: set[bytes] = set()
    for prefix in {one[:_PREFIX] for one in wanted}:
        at = block.find(prefix)
        while at >= 0:
            one = block[at : at + _ID_BYTES]
            if one in wanted:
                found.add(one)
            at = block.find(prefix, at + 1)
    return found


def _roots(c: Connection) -> list[int]:
    """The root pages of tables and indexes. The first statement of a transaction: what it reads begins here."""
    rows = c.exec_driver_sql("SELECT rootpage FROM sqlite_master WHERE rootpage > 0")
    return [int(row[0]) for row in rows]


def _data_version(c: Connection) -> int:
    """Another number whenever another connection has written."""
    return int(c.exec_driver_sql("PRAGMA data_version").scalar_one())
