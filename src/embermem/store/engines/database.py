"""The engine below the store: what SQLite and PostgreSQL do each in their own way."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy import Engine, Table, exc
from sqlalchemy.engine import Connection, RootTransaction

from embermem.protocols import DiskUsage, Finding
from embermem.store.cache_folder import CacheFolder
from embermem.store.forgotten_key import StoredKey


class Database(Protocol):
    """One database: how it is opened, read, written, checked and copied."""

    @property
    def place(self) -> str:
        """Its path or URL as messages name it, without a password."""

    @property
    def read_only(self) -> bool:
        """Whether it was opened to be read only: then nothing is made, migrated or written."""

    def open(self) -> Engine:
        """A new engine, with connections of its own."""

    def errors(self) -> AbstractContextManager[None]:
        """A driver's error becomes one of ours, with its cause kept."""

    def prepare(self, engine: Engine) -> None:
        """Make the schema, or see that it is the one this Ember knows. Raises StoreError."""

    def begin(self, connection: Connection, *, writes: bool) -> RootTransaction:
        """Begin a transaction that reads one state and writes nothing, or one that writes."""

    @property
    def has_parts(self) -> bool:
        """Whether it is spread over several servers, of which one may fail alone."""
        return False

    def of_living(self, connection: Connection) -> Connection:
        """Of a database with parts: what puts a statement over all owners to those parts that answer."""
        return connection

    def abandon(self, raw: Any) -> None:
        """Roll back and close a driver's connection in whatever state an interrupt left it, quietly."""

    def ended(self) -> None:
        """A transaction of this thread that writes has ended: what `begin` took beside the connection is free again.
        Without effect where nothing was taken."""
        return

    def size(self, connection: Connection) -> int:
        """Bytes on disk."""

    def disk_usage(self, connection: Connection) -> DiskUsage:
        """The same by table and index, without a WAL."""

    def lag_s(self, connection: Connection) -> float | None:
        """How far what is read here is behind its primary, in seconds, where it is a replica."""
        return None

    def soundness(self, connection: Connection) -> tuple[Finding, ...]:
        """What the engine itself says of its soundness: every part that is damaged, by its number or name."""

    def reindexed(self, connection: Connection) -> tuple[Finding, ...]:
        """Make the indexes again that disagree with their tables, unless the engine's own tools do; what was mended."""
        return ()

    def unreadable(self, connection: Connection, table: Table, owner_id: str) -> int:
        """How many of an owner's rows in a table hold text that is none, where the engine takes such."""
        return 0

    def snapshot(self, place: Path, told: Callable[[int, int], None]) -> Mapping[str, int] | None:
        """The whole store as it stands now in a file of SQLite that is there and empty, without a byte that holds no
        row; the rows of each table, where that is one state of all owners. Writers do not wait. `told` gets how much is
        done, and of how much. Raises StoreError."""

    def own_backup(self, target: str) -> Sequence[str]:
        """The commands of the engine's own that back the database up; none where `snapshot` is how it is done."""
        return ()

    def in_memory(self) -> Database:
        """An empty database in this process's memory, with the key of this one: it ends with its engine, and with the
        process, however that ends."""

    def scrubs_by_itself(self, connection: Connection) -> bool:
        """Whether a scrub may follow every forgetting, because it holds others up for a moment at most."""

    def scrub(self, done: Callable[[Connection], None]) -> bool:
        """See `Erasing.scrub`. `done` writes what the store remembers of it, in the transaction that ends it."""

    def leftovers(self) -> frozenset[str]:
        """The ids of utterances in bytes that hold no row, as far as there are files that can be read. Raises
        StoreError."""
        return frozenset()

    def remains(self, ids: Collection[str]) -> frozenset[str]:
        """Those of some ids that stand in the bytes of the database's files, as far as there are such that can be read.
        Raises OSError."""
        return frozenset()

    def backups(self) -> tuple[Path, ...]:
        """Files that migrations, and restores in its place, kept of older states."""
        return ()

    cache: CacheFolder | None
    """Where files of indexes are kept; None: nowhere."""

    @property
    def cache_beside(self) -> CacheFolder | None:
        """Where they are kept unless a setting says otherwise; None where there is no place beside the database."""
        return None

    @property
    def caches(self) -> tuple[CacheFolder, ...]:
        """Both, as far as they are there."""
        return tuple({one.path: one for one in (self.cache, self.cache_beside) if one is not None}.values())

    @property
    def key(self) -> StoredKey:
        """Where the key of forgotten values lies: outside the database."""


def raise_interrupt(error: Exception) -> None:
    """Raise what the handler of a signal did, where SQLAlchemy put an error of its own over it: that the statement
    failed, though no driver says so, or an assertion about a transaction whose end was cut short."""
    if type(error) is exc.StatementError and error.orig is not None:
        raise error.orig
    if isinstance(error, AssertionError):
        raise error.__context__ or error
