"""Files that a store was copied to: each is one of SQLite, whatever the store is on."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from contextlib import closing
from pathlib import Path

from embermem.core.errors import StoreCorrupt
from embermem.core.ids import made_in
from embermem.store.engines.owner_alias import KEYS
from embermem.store.engines.packed_text import plain_text, unpacked_within

_AT_ONCE = 500
"""Ids in one statement."""
PAGES = ".pages"
"""Ends the name of a file that has some pages of a database: what an incremental backup writes."""
PART = ".part"
"""Ends the name of a file that is not whole yet; or never will be, if its writer was killed."""
LOGS = "-wal", "-shm", "-journal"
"""End the names of the files that SQLite keeps beside a database."""
BESIDE = *LOGS, "-cache", ".key"
"""End the names of all that may lie beside a store, its folder of index files and its key among them."""
_BLOCK, _LONGEST = 1 << 20, 80
"""Bytes that are searched at once, and those of the longest id."""


def holds_any(file: Path, ids: Collection[str]) -> bool:
    """Whether a file of SQLite holds one of some utterances, pages or facts. What cannot be opened may hold them, and
    so may one that is not whole."""
    if not file.exists():
        return False
    if file.suffix == PART:
        return file.stat().st_size > 0
    if file.suffix == PAGES:
        return _bytes_hold(file, ids)
    try:
        with closing(_opened(file)) as connection:
            wanted = sorted(ids)
            for some in (wanted[start : start + _AT_ONCE] for start in range(0, len(wanted), _AT_ONCE)):
                marks = ", ".join("?" * len(some))
                for table, column in (("utterance", "id"), ("page", "page_id")):
                    query = f"SELECT 1 FROM {table} WHERE {column} IN ({marks}) LIMIT 1"
                    if connection.execute(query, some).fetchone():
                        return True
            return _log_makes(connection, [one for one in wanted if made_in(one)])
    except (sqlite3.Error, StoreCorrupt):
        return True


def _log_makes(connection: sqlite3.Connection, ids: Collection[str]) -> bool:
    """Whether the change by which one of some facts was made still names it."""
    of = {number: [one for one in ids if made_in(one) == number] for number in {made_in(one) for one in ids}}
    if not of:
        return False
    rows = connection.execute("SELECT no, decisions FROM change WHERE no BETWEEN ? AND ?", (min(of), max(of)))
    return any(f'"{one}"' in (plain_text(decisions) or "") for no, decisions in rows for one in of.get(no, ()))


def holds_others(file: Path, owners: Collection[tuple[str, int]]) -> bool:
    """Whether a file of SQLite holds an owner who is not among these: the id of each, and when it began. What cannot be
    opened may hold some."""
    try:
        with closing(_opened(file)) as connection:
            numbered = connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (KEYS,)).fetchone()
            of = f"(SELECT k.id FROM {KEYS} k WHERE k.no = owner.owner_id)" if numbered else "owner_id"
            return any(one not in owners for one in connection.execute(f"SELECT {of}, created_at FROM owner"))
    except sqlite3.Error:
        return True


def _bytes_hold(file: Path, ids: Collection[str]) -> bool:
    """Whether one of the ids stands anywhere in the bytes of a file; a longer id that begins with it counts too."""
    wanted, before = [one.encode() for one in ids], b""
    try:
        with file.open("rb") as opened:
            while block := opened.read(_BLOCK):
                piece = before + block
                if any(one in told for told in (piece, *unpacked_within(piece)) for one in wanted):
                    return True
                before = block[-_LONGEST:]
    except OSError:
        return True
    return False


def _opened(file: Path) -> sqlite3.Connection:
    used = Path(f"{file}-wal").exists()
    how = "mode=ro" if used else "immutable=1"  # which leaves no file beside one that nobody uses
    return sqlite3.connect(f"{file.absolute().as_uri()}?{how}", uri=True)
