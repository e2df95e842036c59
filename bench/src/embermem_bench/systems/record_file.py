"""The file of a system's records: SQLite, beside the store of what was said. A record is one row."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np

from embermem.core.errors import RevisionMoved, StoreError
from embermem.core.types import OwnerId
from embermem_bench.systems.records import Found, Record, RecordId, Standing, Written

__all__ = ["RecordFile"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS setting (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS standing (
    owner_id TEXT PRIMARY KEY, revision INTEGER NOT NULL, read_to INTEGER NOT NULL, born INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS record (
    no INTEGER PRIMARY KEY, owner_id TEXT NOT NULL, record_id TEXT NOT NULL, kind TEXT NOT NULL,
    revision INTEGER NOT NULL, body TEXT, vector BLOB, UNIQUE (owner_id, record_id)
);
CREATE INDEX IF NOT EXISTS ix_record_kind ON record (owner_id, kind, revision);
"""
"""The body is the record as JSON without its vector; NULL if it was dropped. The vector is in half precision."""
_HALF = np.dtype("<f2")


class RecordFile:
    """The records of one system. Each call is one transaction; every failure is a StoreError.

    Several threads, processes and objects may use one file. What is dropped is overwritten with zeros.
    """

    def __init__(self, file: Path | None, busy_timeout_s: float) -> None:
        """Opens the file, or creates it; None: in memory, for this object alone. Raises StoreError."""
        self._lock = threading.RLock()
        with _as_store_errors(file):
            if file is not None:
                os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
            self._connection = sqlite3.connect(
                file or ":memory:", timeout=busy_timeout_s, isolation_level=None, check_same_thread=False
            )
            self._connection.executescript(f"PRAGMA secure_delete = ON; BEGIN IMMEDIATE; {_SCHEMA} COMMIT;")
        self._file = file

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def remember_once(self, key: str, value: str) -> str:
        """Keep a value under a key that has none yet; the value that is kept."""
        with self._writing() as c:
            c.execute("INSERT OR IGNORE INTO setting VALUES (?, ?)", (key, value))
            return str(c.execute("SELECT value FROM setting WHERE key = ?", (key,)).fetchone()[0])

    def standing(self, owner_id: OwnerId) -> Standing:
        """How far an owner's records have come; all 0 before the first write."""
        with self._transaction("BEGIN") as c:
            return _standing(c, owner_id)

    def records(self, owner_id: OwnerId, kinds: Sequence[type[Record]], since: int = 0) -> Found:
        """Records of these kinds that were written after a revision; with 0 all there are, and none as gone."""
        of = {kind.kind: kind for kind in kinds}
        with self._transaction("BEGIN") as c:
            revision = _standing(c, owner_id).revision
            rows = c.execute(
                "SELECT kind, record_id, body, vector FROM record WHERE owner_id = ? AND revision > ?"
                f" AND kind IN ({', '.join('?' * len(of))}) ORDER BY no",
                (owner_id, since, *of),
            ).fetchall()
        gone = frozenset(RecordId(row[1]) for row in rows if row[2] is None) if since else frozenset()
        made = tuple(_record(of[kind], body, vector) for kind, _, body, vector in rows if body is not None)
        return Found(records=made, gone=gone, revision=revision)

    def write(self, owner_id: OwnerId, written: Written, *, revision: int, read_to: int) -> int:
        """Keep and drop records and note how far was read, if the owner still stands at `revision`; the new revision.

        Raises RevisionMoved if another write came first: nothing was written, read again and decide again.
        """
        kept = {record.id: record for record in written.keep}
        rows = [(owner_id, record.id, record.kind, revision + 1, *_columns(record)) for record in kept.values()]
        with self._writing() as c:
            found = _standing(c, owner_id)
            if found.revision != revision:
                raise RevisionMoved(f"the records of {owner_id} were written by another meanwhile")
            _stand(c, owner_id, replace(found, revision=revision + 1, read_to=read_to))
            c.executemany(
                "UPDATE record SET body = NULL, vector = NULL, revision = ? WHERE owner_id = ? AND record_id = ?",
                [(revision + 1, owner_id, one) for one in written.drop if one not in kept],
            )
            c.executemany(
                "INSERT INTO record (owner_id, record_id, kind, revision, body, vector) VALUES (?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (owner_id, record_id) DO UPDATE SET kind = excluded.kind, revision = excluded.revision,"
                " body = excluded.body, vector = excluded.vector",
                rows,
            )
        return revision + 1

    def forget_owner(self, owner_id: OwnerId) -> None:
        """Remove all records of an owner; whoever decided on them before can write nothing."""
        with self._writing() as c:
            revision = _standing(c, owner_id).revision + 1
            c.execute("DELETE FROM record WHERE owner_id = ?", (owner_id,))
            _stand(c, owner_id, Standing(revision=revision, born=revision))

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._transaction("BEGIN IMMEDIATE") as c:
            yield c

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self._lock, _as_store_errors(self._file):
            self._connection.execute(begin)
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise


def _standing(c: sqlite3.Connection, owner_id: OwnerId) -> Standing:
    row = c.execute("SELECT revision, read_to, born FROM standing WHERE owner_id = ?", (owner_id,)).fetchone()
    return Standing() if row is None else Standing(revision=row[0], read_to=row[1], born=row[2])


def _stand(c: sqlite3.Connection, owner_id: OwnerId, now: Standing) -> None:
    c.execute("REPLACE INTO standing VALUES (?, ?, ?, ?)", (owner_id, now.revision, now.read_to, now.born))


def _columns(record: Record) -> tuple[str, bytes | None]:
    """Body and vector. Raises TypeError for a field that a record may not hold."""
    body = msgspec.json.encode(replace(record, vector=None)).decode()
    return body, None if record.vector is None else record.vector.astype(_HALF).tobytes()


def _record(kind: type[Record], body: str, vector: bytes | None) -> Record:
    """Raises StoreError for a body of another form."""
    try:
        found = msgspec.json.decode(body, type=kind)
        return found if vector is None else replace(found, vector=np.frombuffer(vector, dtype=_HALF).astype(np.float32))
    except ValueError as error:
        raise StoreError(f"a record of kind {kind.kind} cannot be read: {error}") from error


@contextmanager
def _as_store_errors(file: Path | None) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise StoreError(f"{file or 'the records in memory'}: {error}") from error
