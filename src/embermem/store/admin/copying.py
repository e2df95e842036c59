"""A whole store from one database into another, owner by owner, and seen to be the same at the end.

Each owner is read in one state and written in one transaction, so a copy that was killed goes on where it stood. Until
it is finished a mark stands in the target's settings, and nothing else opens it. What changed in the source meanwhile
is found by comparing every owner's rows on both sides, and copied again.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from heapq import merge
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any

from sqlalchemy import Engine, Float, Row, Table, delete, exists, func, select, true
from sqlalchemy.engine import Connection

from embermem.core.errors import StoreBusy, StoreError
from embermem.core.ids import new_id
from embermem.store import schema
from embermem.store.admin.row_stream import Batch, common_rows, owner_rows, write
from embermem.store.backup_list import BEGUN
from embermem.store.engines.owner_alias import IdOf, drop_alias
from embermem.store.forgotten_key import bring_key, refuse_other_key
from embermem.store.schema import COMMON, OWNED
from embermem.store.statements import SCRUBBED, remember, setting
from embermem.store.transactions import Transaction

if TYPE_CHECKING:
    from embermem.store.engines.database import Database

UNFINISHED = "copy_unfinished"
"""The setting of a store that is a copy not yet finished: of what, by whom, and the last owner that it has."""
FINISHED = "copied_from"
"""The setting of a store that was made as a copy: of what, when, and each table's rows and sum."""
_OF_COPYING = (UNFINISHED, FINISHED, SCRUBBED, BEGUN)
"""Settings that each side has of its own."""
_OWNERS = 1_000
"""Owners listed at once."""
_LOOKS = 5
"""How often all owners are compared, until nothing was written between two looks."""
_AFTER_ALL = "~"
"""Stands after every owner's id, which is hexadecimal."""
_SUM_BYTES = 32


@dataclass(frozen=True, kw_only=True, slots=True)
class Sum:
    """How many rows, and the sum of their hashes: the same for the same rows, in whatever order and on any engine."""

    rows: int = 0
    total: int = 0

    def __add__(self, other: Sum) -> Sum:
        return Sum(rows=self.rows + other.rows, total=(self.total + other.total) % (1 << 8 * _SUM_BYTES))

    @property
    def sha(self) -> str:
        """The sum in hexadecimal."""
        return self.total.to_bytes(_SUM_BYTES, "big").hex()


Sums = Mapping[str, Sum]
"""By table; tables without rows are left out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    """How far a step has come: owners done, of how many, and their rows. `step` is `copying` or `comparing`."""

    step: str
    owners: int
    total: int
    rows: int


ProgressFn = Callable[[Progress], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Copied:
    """What was copied: owners, rows and sums by table. `again`: owners that were written meanwhile, and copied again;
    `went_on`: an earlier run had begun it."""

    source: str
    target: str
    owners: int
    again: int
    went_on: bool
    tables: Sums

    @property
    def rows(self) -> int:
        """Of all tables."""
        return sum(one.rows for one in self.tables.values())


def copy(
    source: Database, target: Database, now: datetime, told: ProgressFn, begun: Callable[[], None] = lambda: None
) -> Copied:
    """All of a store in another, which is empty or an unfinished copy of the same one; with the key of what was
    forgotten. Killed, it goes on when it is called again. `begun` is called when the target is ours, and holds no word.

    Raises StoreError where the target holds something else, where a key of another store lies in its place, and where
    a row cannot be written as it was read; StoreBusy where others kept writing to the source: then it is not finished.
    """
    if source.place == target.place:
        raise StoreError(f"{source.place} cannot be copied into itself")
    with _Side.opened(source) as theirs, _Side.opened(target) as mine:
        copying = _Copying(theirs, mine, told)
        went_on = copying.begin()
        begun()
        copying.first()
        again = 0
        for _ in range(_LOOKS):
            changed = copying.look()
            again += changed
            if not changed:
                return copying.finish(now, again, went_on)
        raise StoreBusy(
            f"{source.place}: {changed} owners were still being written after {_LOOKS} looks; stop what uses it and "
            "copy again: it goes on there"
        )


def copied(database: Database, file: Database) -> None:
    """Every row of a database in a new file, each owner as it stands in one state, with the key of what was
    forgotten. Raises StoreError."""
    with _Side.opened(database) as theirs, _Side.opened(file) as mine:
        copying = _Copying(theirs, mine, lambda progress: None)
        copying.begin()
        copying.first()
        copying.finish(None, 0, went_on=False)


def in_memory(database: Database, owner_id: str) -> Database:
    """One owner's rows, with the tables that belong to none, in this process's memory. It needs as much of that as the
    owner needs on disk. Open the store that is made of it, and close that, or it stays. Raises StoreError."""
    memory = database.in_memory()
    with _Side.opened(database) as theirs:
        mine = _Side(database=memory, engine=memory.open())
        try:
            memory.prepare(mine.engine)
            with theirs.reading() as reader, mine.writing() as c:
                c.execute(delete(schema.store))  # what a new store remembers of itself: the source's own words come in
                for table, rows in theirs.read(chain(common_rows(reader), owner_rows(reader, owner_id))):
                    write(c, table, rows)
        except BaseException:
            mine.engine.dispose()
            raise
    return memory


def refuse_unfinished(mark: str | None, place: str) -> None:
    """Raises StoreError for a store whose setting UNFINISHED says that it is not whole yet."""
    if mark:
        of = _Mark.read(mark).of
        raise StoreError(f"{place} is an unfinished copy of {of}: run `embermem copy {of} {place}` again to continue")


class _Copying:
    def __init__(self, source: _Side, target: _Side, told: ProgressFn) -> None:
        self._source = source
        self._target = target
        self._told = told
        self._mark = _Mark(of=source.database.place, run=new_id("c"), after="")
        self._of = 0
        self._there = 0
        self._start("copying", 0)

    def begin(self) -> bool:
        """Mark the target as ours; whether an earlier run had begun. Raises StoreError."""
        with self._source.reading() as c:
            refuse_unfinished(setting(c, UNFINISHED), self._source.database.place)
            self._of = c.scalar(select(func.count()).select_from(schema.owner)) or 0
        refuse_other_key(self._source.database.key, self._target.database.key)
        with self._target.writing() as c:
            found = _held_mark(c)
            if found is None:
                _refuse_rows(c, self._target.database.place)
            elif found.of != self._mark.of:
                raise StoreError(f"{self._target.database.place} is an unfinished copy of another store, {found.of}")
            else:
                self._mark = replace(self._mark, after=found.after)
                self._there = c.scalar(select(func.count()).select_from(schema.owner)) or 0
            remember(c, {UNFINISHED: self._mark.text})
        return found is not None

    def first(self) -> None:
        """All owners that the target does not have yet."""
        self._start("copying", self._there)
        for owner_id in self._source.owner_ids(self._mark.after):
            with self._source.reading() as reader:
                self._add(self._write(reader, owner_id, {}, after=owner_id))
        with self._target.writing() as c:
            self._stand(c, _AFTER_ALL)

    def look(self) -> int:
        """Compare all owners on both sides, and copy again those that differ; how many those were."""
        self._start("comparing", 0)
        changed = 0
        for owner_id, _ in groupby(merge(self._source.owner_ids(""), self._target.owner_ids(""))):
            with self._source.reading() as reader:
                theirs = self._source.sums(reader, owner_id)
                with self._target.reading() as c:
                    mine = self._target.sums(c, owner_id)
                if theirs != mine:
                    theirs = self._write(reader, owner_id, mine, after=_AFTER_ALL)
                    changed += 1
                self._add(theirs)
        return changed

    def finish(self, now: datetime | None, again: int, went_on: bool) -> Copied:
        """The tables that belong to no owner, the key, and instead of the mark what was copied, if a time is given."""
        with self._source.reading() as reader, self._target.writing() as c:
            self._stand(c, _AFTER_ALL)
            for table in COMMON:
                c.execute(delete(table))
            sums = _summed(_written(c, self._source.read(common_rows(reader, without=_OF_COPYING))))
            _refuse_difference(sums, _summed(common_rows(c)), "the settings or keys")
            made = Copied(
                source=self._mark.of,
                target=self._target.database.place,
                owners=self._done,
                again=again,
                went_on=went_on,
                tables={**self._sums, **sums},
            )
            if now is not None:
                remember(c, {FINISHED: _report(made, now)})
            bring_key(self._source.database.key, self._target.database.key)
        self._scrub()
        return made

    def _scrub(self) -> None:
        """What was forgotten in the source while it was copied may have been written here before; where that cannot be
        overwritten now, the target remembers that it is due."""
        with self._target.reading() as c:
            by_itself = self._target.database.scrubs_by_itself(c)
        if by_itself:
            self._target.database.scrub(lambda c: remember(c, {SCRUBBED: self._mark.run}))

    # ------------------------------------------------------------------------------------------------------ one owner

    def _write(self, reader: Connection, owner_id: str, mine: Sums, after: str) -> Sums:
        """One owner as it stands in the reader's state, in place of what the target has of it."""
        with self._target.writing() as c:
            self._stand(c, after)
            for table in OWNED:
                if table.name in mine:
                    c.execute(delete(table).where(table.c.owner_id == owner_id))
            sums = _summed(_written(c, self._source.read(owner_rows(reader, owner_id))))
            if not sums:
                drop_alias(c, owner_id)
            _refuse_difference(sums, self._target.sums(c, owner_id), f"owner {owner_id}")
        return sums

    def _stand(self, c: Connection, after: str) -> None:
        """The mark says where the copy stands with this transaction, and is held until its end. Raises StoreError where
        another run took over, or finished."""
        found = _held_mark(c)
        if found is None or found.run != self._mark.run:
            raise StoreError(f"{self._target.database.place}: another copy took over; this one stops")
        self._mark = replace(self._mark, after=after)
        remember(c, {UNFINISHED: self._mark.text})

    # ------------------------------------------------------------------------------------------------------- counting

    def _start(self, step: str, done: int) -> None:
        self._step, self._done, self._rows = step, done, 0
        self._sums: defaultdict[str, Sum] = defaultdict(Sum)

    def _add(self, sums: Sums) -> None:
        for name, one in sums.items():
            self._sums[name] += one
            self._rows += one.rows
        self._done += schema.owner.name in sums
        total = max(self._of, self._done)
        self._told(Progress(step=self._step, owners=self._done, total=total, rows=self._rows))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Side:
    """One of the two databases, opened."""

    database: Database
    engine: Engine = field(compare=False)

    @classmethod
    @contextmanager
    def opened(cls, database: Database) -> Iterator[_Side]:
        engine = database.open()
        try:
            with database.errors():
                database.prepare(engine)
            yield cls(database=database, engine=engine)
        finally:
            engine.dispose()

    def reading(self) -> Transaction:
        """One state."""
        return Transaction(self.database, self.engine, writes=False)

    def writing(self) -> Transaction:
        return Transaction(self.database, self.engine, writes=True)

    def read(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """Rows of this side: an error of reading them is this side's, wherever they are asked for."""
        with self.database.errors():
            yield from batches

    def sums(self, c: Connection, owner_id: str) -> Sums:
        """Of one owner's rows."""
        return _summed(self.read(owner_rows(c, owner_id)))

    def owner_ids(self, after: str) -> Iterator[str]:
        """Every owner with a row in any table, in order of their ids."""
        while True:
            with self.reading() as c:
                found: set[str] = set()
                for table in OWNED:
                    one = IdOf(select(table.c.owner_id).distinct().subquery().c.owner_id)
                    found |= set(c.scalars(select(one).where(one > after).order_by(one).limit(_OWNERS)))
            some = sorted(found)[:_OWNERS]
            yield from some
            if len(some) < _OWNERS:
                return
            after = some[-1]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Mark:
    """An unfinished copy: of which place, by which run, and the last owner that was copied."""

    of: str
    run: str
    after: str

    @classmethod
    def read(cls, text: str) -> _Mark:
        """The mark of `text`. Raises StoreError."""
        try:
            return cls(**json.loads(text))
        except (TypeError, ValueError) as error:
            raise StoreError(f"the mark of an unfinished copy cannot be read: {text!r}") from error

    @property
    def text(self) -> str:
        return json.dumps(asdict(self))


def _held_mark(c: Connection) -> _Mark | None:
    table = schema.store
    found = c.scalar(select(table.c.value).where(table.c.key == UNFINISHED).with_for_update())
    return None if found is None else _Mark.read(found)


def _written(c: Connection, batches: Iterable[Batch]) -> Iterator[Batch]:
    """The same batches, each written when it is passed on."""
    for table, rows in batches:
        write(c, table, rows)
        yield table, rows


def _refuse_rows(c: Connection, place: str) -> None:
    for table in schema.metadata.sorted_tables:
        ours = table.c.key != SCRUBBED if table is schema.store else true()
        if c.scalar(select(exists(select(1).select_from(table).where(ours)))):
            raise StoreError(f"{place} already contains a store: copy into a new file or an empty database")


def _refuse_difference(read: Sums, written: Sums, what: str) -> None:
    for name in {**read, **written}:
        if read.get(name) != written.get(name):
            raise StoreError(f"{what}: rows of the table {name} differ from what was read; nothing of it was kept")


def _summed(batches: Iterable[Batch]) -> Sums:
    sums: defaultdict[str, Sum] = defaultdict(Sum)
    for table, rows in batches:
        sums[table.name] += _sum(table, rows)
    return sums


def _sum(table: Table, rows: Sequence[Row[Any]]) -> Sum:
    numbers = frozenset(place for place, column in enumerate(table.c) if isinstance(column.type, Float))
    total = sum(int.from_bytes(hashlib.sha256(_plain(row, numbers)).digest(), "big") for row in rows)
    return Sum(rows=len(rows), total=total % (1 << 8 * _SUM_BYTES))


def _plain(row: Row[Any], numbers: frozenset[int]) -> bytes:
    """A row's values as bytes, the same from every engine: each with its kind and length before it."""
    parts: list[bytes] = []
    for place, value in enumerate(row):
        if value is None:
            parts.append(b"-")
        elif isinstance(value, str):
            data = value.encode()
            parts.append(b"s%d:%s" % (len(data), data))
        elif isinstance(value, bytes):
            parts.append(b"b%d:%s" % (len(value), value))
        elif place in numbers:
            parts.append(b"f" + struct.pack(">d", value + 0.0))  # SQLite keeps no sign of a zero
        else:
            parts.append(b"i%d:" % value)
    return b"".join(parts)


def _report(made: Copied, now: datetime) -> str:
    tables = {name: {"rows": one.rows, "sum": one.sha} for name, one in sorted(made.tables.items())}
    return json.dumps({"of": made.source, "at": now.isoformat(), "owners": made.owners, "tables": tables})
