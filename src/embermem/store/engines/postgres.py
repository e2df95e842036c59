"""PostgreSQL: how it is opened, how a transaction begins, and its errors in our words.

Whoever writes of an owner holds the owner's row first, in READ COMMITTED; whoever reads sees one state, in REPEATABLE
READ. Nothing else is asked of the engine: no advisory lock, no sequence, no trigger, no NOTIFY.

Settings of a session (time-outs) are given when a connection is made. Behind a pooler in transaction mode a session is
many clients', and Citus' nodes have sessions of their own: there they are set in each transaction.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from sqlalchemy import URL, Engine, Table, create_engine, event, exc, inspect, make_url, text
from sqlalchemy.engine import Connection, RootTransaction

from embermem.core.errors import (
    ConfigError,
    SchemaMismatch,
    StoreBusy,
    StoreConflict,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreUnreachable,
)
from embermem.core.extras import needing
from embermem.protocols import DiskUsage, Finding
from embermem.store import migrations, schema
from embermem.store.cache_folder import CacheFolder
from embermem.store.engines import citus, postgres_backup
from embermem.store.engines.database import Database, raise_interrupt
from embermem.store.engines.vector_type import column_is_halfvec
from embermem.store.forgotten_key import KeyFile, StoredKey

__all__ = ["Postgres"]

logger = logging.getLogger(__name__)

_DEFAULT_THRESHOLD = 5
"""So many times a statement is sent before the driver prepares it: psycopg's own number."""
_POOL, _OVERFLOW = 8, 24
"""Connections kept open, and opened beyond them while many ask at once."""
_CONNECT_S = 10
"""How long each host of a URL is waited for."""
_CANCEL_S = 2.0
"""How long a server is asked to stop a statement whose caller was interrupted."""
_CODES: tuple[tuple[str, type[StoreError], str], ...] = (
    ("40001", StoreConflict, "others wrote the same at the same time; try again"),
    ("40P01", StoreConflict, "others wrote the same at the same time; try again"),
    ("55P03", StoreBusy, "others held the store for longer than busy_timeout_s; try again"),
    ("57014", StoreBusy, "the statement took longer than it may; try again"),
    ("53300", StoreBusy, "the server takes no more connections; try again, or raise max_connections"),
    ("53100", StoreFull, "no room is left on the server's disk; what was acknowledged is kept"),
    ("53200", StoreFull, "the server has no memory left"),
    ("25006", StoreReadOnly, "the server, or the replica asked, takes no writes"),
    ("42501", StoreReadOnly, "the user may not do that in this database"),
    ("XX001", StoreCorrupt, "the server found damaged data; restore a backup"),
    ("XX002", StoreCorrupt, "the server found a damaged index; REINDEX it"),
    ("57P", StoreUnreachable, "the server was stopped; try again"),
    ("08", StoreUnreachable, "the connection broke off; try again"),
    ("28", StoreUnreachable, "the server refuses the user or the password"),
    ("3D000", StoreUnreachable, "there is no such database on the server"),
)
"""By the beginning of SQLSTATE."""
_SMALL_BYTES = 64 * 2**20
"""A store of so many bytes is written anew within about a second."""
_VACUUM_PAUSES_S = (0.0, 0.1, 0.3, 0.6)
"""Before each try to write a table anew."""
_HOLDS_BYTES = """
    SELECT pg_relation_size(t.oid) > 0 OR coalesce(pg_relation_size(nullif(t.reltoastrelid, 0)), 0) > 0 OR EXISTS (
        SELECT FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am a ON a.oid = x.relam
        WHERE i.indrelid = t.oid
            AND (a.amname != 'btree' OR pg_relation_size(x.oid) > current_setting('block_size')::int)
    ) FROM pg_class t WHERE t.oid = to_regclass(:name)
"""
"""Whether a table's files hold more than those of a new one. VACUUM makes a table without a row an empty file, while
its indexes keep the bytes of what they held; a new B-tree is one page."""
_NOT_YET = re.compile(r"(\d+) dead row versions cannot be removed yet")
"""What VACUUM says, in English, of deleted rows that an older transaction still sees."""
_FULL = ("too many clients", "too many connections", "remaining connection slots")
"""What a server says to one connection too many; one that speaks another language is merely unreachable."""
_CUT = ("could not commit transaction for shard", "failure on connection marked as essential")
"""What Citus says, without a code of its own, of a node that did not answer to the end."""
_POOLER = "unsupported startup parameter"
"""What PgBouncer says to a connection that brings settings."""
_LAG = """
    SELECT CASE
        WHEN NOT pg_is_in_recovery() THEN NULL
        WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() AND EXISTS (SELECT FROM pg_stat_wal_receiver) THEN 0
        ELSE extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())::float
    END
"""


class Postgres(Database):
    """A Database on a PostgreSQL server, or on an engine that speaks as one."""

    def __init__(
        self, url: str, busy_timeout_s: float, key_file: Path | None = None, *, read_only: bool = False
    ) -> None:
        """Raises ConfigError for a URL that cannot be read, or where psycopg is not installed."""
        self._url, self._driver = _driven(url)
        self._pooled = self._driver.pop("pool_mode") == "transaction"
        self._busy_timeout_s = busy_timeout_s
        self._key_file = key_file
        self._read_only = read_only
        self._halfvec = False
        self.cache: CacheFolder | None = None
        self._spread = False

    @property
    def place(self) -> str:
        """Its URL, the password hidden."""
        shown = self._url.set(drivername="postgresql")
        if "password" in shown.query:
            shown = shown.update_query_dict({"password": "***"})
        return shown.render_as_string(hide_password=True)

    @property
    def read_only(self) -> bool:
        return self._read_only

    @property
    def key(self) -> StoredKey:
        """As set, else in the user's data folder, by the database's name: every machine needs the same one."""
        if self._key_file is not None:
            return KeyFile(self._key_file)
        named = f"{self._hosts}/{self._url.database}".encode()
        folder = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "embermem"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return KeyFile(folder / f"{hashlib.blake2b(named, digest_size=8).hexdigest()}.key")

    @property
    def _hosts(self) -> str:
        """Where the server is; of several, where any of them is."""
        several = self._url.query.get("host", ())
        return ",".join(several) if isinstance(several, tuple) and several else f"{self._url.host}:{self._url.port}"

    def open(self) -> Engine:
        """A pool of connections; one that has died is replaced when it is next asked for."""
        own = self._url.query.get("options", "")  # what is given to connect would take its place
        options = f"{own if isinstance(own, str) else ' '.join(own)} -c timezone=UTC"
        options += f" -c lock_timeout={self._lock_timeout_ms}"
        if self._read_only:
            options += " -c default_transaction_read_only=on"
        engine = create_engine(
            self._url.difference_update_query(["pool_mode", "prepare_threshold"]),
            pool_size=_POOL,
            max_overflow=_OVERFLOW,
            pool_timeout=self._busy_timeout_s,
            pool_pre_ping=True,
            connect_args={
                "connect_timeout": _CONNECT_S,
                **({} if self._pooled else {"options": options}),
                **self._driver,
            },
            hide_parameters=True,  # a cause that somebody logs would hold what was said
        )
        engine.dialect.do_ping = _ping  # type: ignore[method-assign, assignment]
        self._speak_of_vectors(engine)
        return engine

    @contextmanager
    def errors(self) -> Iterator[None]:
        """A driver's error becomes one of ours, with its cause kept. No statement and no value stands in it."""
        import psycopg

        try:
            yield
        except exc.TimeoutError as error:
            raise StoreBusy(
                f"{self.place}: all {_POOL + _OVERFLOW} connections were in use for {self._busy_timeout_s:g} s; "
                "try again"
            ) from error
        except (exc.SQLAlchemyError, psycopg.Error, OverflowError, AssertionError) as error:
            raise_interrupt(error)
            raise _ours(self.place, error) from error

    def prepare(self, engine: Engine) -> None:
        """Make the schema in a database without one. Raises SchemaMismatch for an older one, with the command that
        brings it up to date, and for a newer; StoreCorrupt where tables of other programs have our names."""
        with engine.connect() as connection:
            found = _version(connection, self.place)
            spread = citus.spread_tables(connection)
            by_hand = found is None and citus.is_installed(connection)
        if found is None:
            if self._read_only:
                raise StoreError(f"there is no store at {self.place}")
            if by_hand:
                raise StoreError(
                    f"{self.place} has the extension Citus and no store yet. Create its tables, spread over the nodes, "
                    f"with `embermem schema --engine citus | psql --single-transaction {self.place}`"
                )
            self._create(engine)
        elif found != schema.HEAD:
            migrations.refuse_unknown(found, self.place)
            raise SchemaMismatch(
                f"{self.place} is from an older version of Ember (schema {found}; this version needs "
                f"{schema.HEAD}): back it up, stop what uses it, and run `embermem --store {self.place} migrate`"
            )
        self._refuse_half_spread(spread)
        with engine.connect() as connection:
            self._halfvec, self._spread = column_is_halfvec(connection, schema.embedding.name), bool(spread)
        self._speak_of_vectors(engine)

    def _refuse_half_spread(self, spread: Collection[str]) -> None:
        """Raises StoreError where tables of a store that is spread lie on one node: no statement may join the two."""
        left = sorted(set(citus.every_table()) - set(spread)) if spread else []
        if left:
            statements = "; ".join(citus.spreading(left))
            raise StoreError(
                f"{self.place}: these tables are not spread over Citus' nodes: {', '.join(left)}. Run: {statements}"
            )

    def exists(self) -> bool:
        """Whether the database holds a store, of whatever age. Raises StoreError where it cannot be asked."""
        engine = self.open()
        try:
            with self.errors(), engine.connect() as connection:
                return _version(connection, self.place) is not None
        finally:
            engine.dispose()

    def migrate(self) -> tuple[str, str]:
        """Bring the schema up to date, in one transaction; the schema before and after. Raises StoreError."""
        engine = self.open()
        try:
            with self.errors():
                with engine.connect() as connection:
                    found = _version(connection, self.place)
                if found is None:
                    raise StoreError(f"{self.place} holds no store; opening it for writing creates one")
                migrations.refuse_unknown(found, self.place)
                if found == schema.HEAD:
                    return found, found
                with engine.begin() as connection:  # waits for those who write, and they for it
                    connection.execute(text(f"LOCK TABLE {migrations.VERSION_TABLE} IN ACCESS EXCLUSIVE MODE"))
                    _upgraded(connection)
            return found, schema.HEAD
        finally:
            engine.dispose()

    def begin(self, connection: Connection, *, writes: bool) -> RootTransaction:
        """To read, one state, without the right to write. To write, READ COMMITTED: what is read after an owner's row
        is held is what the last holder left."""
        if not writes:
            connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        transaction = connection.begin()
        if self._pooled or (self._spread and writes):
            self._limit(connection)
        if writes:
            migrations.refuse_other(connection, self.place)
        return transaction

    @property
    def _lock_timeout_ms(self) -> int:
        return int(self._busy_timeout_s * 1000)

    def _limit(self, connection: Connection) -> None:
        """Nobody waits longer for a lock in this transaction, on no node of it."""
        first = "SET LOCAL citus.propagate_set_commands = 'local'; " if self._spread else ""
        raw: Any = connection.connection.driver_connection  # the driver's own: every transaction asks this
        raw.execute(f"{first}SET LOCAL lock_timeout = {self._lock_timeout_ms}", prepare=False)

    @property
    def has_parts(self) -> bool:
        """Whether Citus spreads the store's tables over nodes."""
        return self._spread

    def of_living(self, connection: Connection) -> Connection:
        """Statements over all owners are put to the shards whose nodes answer."""
        return cast("Connection", citus.Living(connection))

    def abandon(self, raw: Any) -> None:
        """Cancel what the server still works at, and hang up: it rolls back by itself."""
        import psycopg

        with suppress(psycopg.Error):
            if not raw.closed and raw.info.transaction_status is psycopg.pq.TransactionStatus.ACTIVE:
                raw.cancel_safe(timeout=_CANCEL_S)
            raw.close()

    def size(self, connection: Connection) -> int:
        """Of our tables, their indexes among them."""
        if self._spread:
            return citus.size(connection)
        names = [table.name for table in schema.metadata.sorted_tables]
        query = text(
            "SELECT coalesce(sum(pg_total_relation_size(oid)), 0) FROM pg_class "
            "WHERE relname = ANY(:names) AND relkind = 'r' AND pg_table_is_visible(oid)"
        )
        return int(connection.execute(query, {"names": names}).scalar_one())

    def disk_usage(self, connection: Connection) -> DiskUsage:
        from embermem.store.engines.disk_usage import of_server

        return of_server(connection)

    def lag_s(self, connection: Connection) -> float | None:
        """Of a standby: 0 while it receives from the primary and has taken in all that came; else the age of the last
        transaction it has taken in, which a primary that rests makes larger than it is."""
        return connection.execute(text(_LAG)).scalar()

    def soundness(self, connection: Connection) -> tuple[Finding, ...]:
        """That it answers, and which version does."""
        version = connection.execute(text("SHOW server_version")).scalar_one()
        return (Finding(level="ok", what=f"PostgreSQL {version} answers"),)

    def snapshot(self, place: Path, told: Callable[[int, int], None]) -> None:
        """Row by row; each owner is one state, and all of them together are not."""
        from embermem.store.admin.copying import copied
        from embermem.store.engines.sqlite import Sqlite

        place.unlink()
        try:
            copied(self, Sqlite(place, 60.0))
        except BaseException:
            for end in ("", "-wal", "-shm"):
                Path(f"{place}{end}").unlink(missing_ok=True)
            raise

    def own_backup(self, target: str) -> Sequence[str]:
        return postgres_backup.commands(self._url, target)

    def in_memory(self) -> Database:
        from embermem.store.engines.sqlite import InMemory

        return InMemory(self._busy_timeout_s, self.key)

    def scrubs_by_itself(self, connection: Connection) -> bool:
        """Writing tables anew locks them: that is a moment where they are small. Else the operator says when."""
        return not self._spread and self.size(connection) <= _SMALL_BYTES

    def scrub(self, done: Callable[[Connection], None]) -> bool:
        """Write every table anew (VACUUM FULL), which leaves deleted rows out. No table is waited for, nor held, for
        longer than half the busy time-out; nothing is done where a transaction still sees an older state. The server's
        own log, its archive, replicas and backups are the operator's affair; docs/concepts/forgetting.md."""
        if self._spread:  # what VACUUM leaves on a node is not told
            logger.warning("%s: the bytes of deleted rows on Citus' nodes are the operator's affair", self.place)
            return False
        engine = self.open()
        limit = int(self._busy_timeout_s * 500)
        try:
            with self.errors(), engine.connect().execution_options(isolation_level="AUTOCOMMIT") as c:
                for name in ("lock_timeout", "statement_timeout"):
                    c.execute(text(f"SET {name} = {limit}"))
                c.execute(text("SET client_min_messages = info"))
                for statement in _statistics_dropped(c):
                    c.execute(text(statement))
                # Whoever is in the way of one table is in the way of the next ones.
                written = all(_written_anew(c, table) for table in schema.metadata.sorted_tables)
            if written:
                with self.errors(), engine.begin() as c:
                    done(c)
        except StoreBusy:
            return False
        finally:
            engine.dispose()
        return written

    # ---------------------------------------------------------------------------------------------- the schema's making

    def _create(self, engine: Engine) -> None:
        from embermem.store.engines.ddl import without_statistics

        try:
            with engine.begin() as connection:
                connection.execute(
                    text(f"CREATE TABLE {migrations.VERSION_TABLE} (version_num VARCHAR(32) NOT NULL PRIMARY KEY)")
                )
                self._halfvec = _with_extension(connection)
                self._know_vectors(engine)
                schema.metadata.create_all(connection, checkfirst=False)  # others' may be further on in the search path
                connection.execute(
                    text(f"INSERT INTO {migrations.VERSION_TABLE} VALUES (:head)"), {"head": schema.HEAD}
                )
                for statement in (migrations.NEW_STORE, *without_statistics()):
                    connection.execute(text(statement))
        except (exc.IntegrityError, exc.ProgrammingError):  # another was first, and has committed by now
            with engine.connect() as connection:
                if _version(connection, self.place) is None:
                    raise

    def _know_vectors(self, engine: Engine) -> None:
        """Vectors are `halfvec` where the database has it, else bytes; schema.Vectors asks the dialect."""
        engine.dialect.ember_halfvec = self._halfvec  # type: ignore[attr-defined]
        engine.dialect.ember_spread = self._spread  # type: ignore[attr-defined]
        engine.dialect._type_memos.clear()

    def _speak_of_vectors(self, engine: Engine) -> None:
        """Connections from now on take and give vectors. None may be in use: it would be kept open for good."""
        self._know_vectors(engine)
        if self._halfvec and not event.contains(engine, "connect", _register):
            event.listen(engine, "connect", _register)
            engine.dispose()


def _statistics_dropped(c: Connection) -> list[str]:
    """The statements that drop the samples which the server keeps of content, where a migration let it: in a new
    column of a table that Citus spreads, and in a store of an older Ember. Telling a column its own type does so, and
    leaves the bytes in the catalog, which a database's owner may write anew; others get a warning of the server."""
    from embermem.store.engines.ddl import of_content

    columns = [(table.name, column) for table in schema.metadata.sorted_tables for column in of_content(table)]
    query = text(
        "SELECT tablename, attname FROM pg_stats WHERE schemaname = current_schema() AND tablename = ANY(:names)"
    )
    sampled = {(row.tablename, row.attname) for row in c.execute(query, {"names": sorted(schema.metadata.tables)})}
    found = [(table, column) for table, column in columns if (table, column.name) in sampled]
    dropped = [
        f'ALTER TABLE {table} ALTER COLUMN "{column.name}" SET STATISTICS 0, '
        f'ALTER COLUMN "{column.name}" TYPE {column.type.compile(c.dialect)}'
        for table, column in found
    ]
    return [*dropped, "VACUUM FULL pg_statistic"] if dropped else []


def _ping(raw: Any) -> bool:
    """Whether a connection that rested answers. It is closed where it does not, where an earlier user left it in a
    transaction, and where an interrupt cut the ping short: SQLAlchemy's own ping would set `autocommit` back on a
    connection that still waits for its answer, and the driver's refusal would take the interrupt's place."""
    try:
        raw.autocommit = True  # the driver refuses it for a connection that is not at rest
        raw.execute(";")
        raw.autocommit = False
    except BaseException:
        raw.close()
        raise
    return True


def _written_anew(c: Connection, table: Table) -> bool:
    """Whether a table holds no deleted row any more. Who looks at an older state, such as the server's own ANALYZE, is
    waited for a little. VACUUM FULL keeps rows for the transactions of all databases of the server; what only those of
    other databases hold is taken out by a plain VACUUM before the next try."""
    driver, left = c.connection.driver_connection, [0]
    assert driver is not None

    def noticed(notice: Any) -> None:
        found = _NOT_YET.search(f"{notice.message_primary} {notice.message_detail}")
        left[0] += int(found[1]) if found else 0

    name = c.dialect.identifier_preparer.format_table(table)
    driver.add_notice_handler(noticed)
    try:
        for pause in _VACUUM_PAUSES_S:
            if left[0]:
                time.sleep(pause)
                c.execute(text(f"VACUUM {name}"))
            left[0] = 0
            if c.scalar(text(_HOLDS_BYTES), {"name": name}):
                c.execute(text(f"VACUUM (FULL, VERBOSE) {name}"))
            if not left[0]:
                return True
    finally:
        driver.remove_notice_handler(noticed)
    return False


def _register(connection: Any, record: object) -> None:
    from pgvector.psycopg import register_vector

    register_vector(connection)


def _driven(url: str) -> tuple[URL, dict[str, Any]]:
    """A URL for the driver, and what else is given to it: `pool_mode` (ours), `prepare_threshold`. Raises
    ConfigError."""
    try:
        made = make_url(_one_host(url))
    except (exc.ArgumentError, ValueError) as error:
        raise ConfigError(
            "the store's URL cannot be read; such as postgresql://USER:PASSWORD@HOST:5432/DATABASE"
        ) from error
    with needing("postgres", "a PostgreSQL store"):
        import pgvector  # noqa: F401
        import psycopg  # noqa: F401
    own = {name: made.query[name] for name in ("pool_mode", "prepare_threshold") if name in made.query}
    if own.get("pool_mode", "session") not in ("session", "transaction"):
        raise ConfigError(f"pool_mode={own['pool_mode']} in the store's URL: allowed are session and transaction")
    if own.get("pool_mode") == "transaction" and "options" in made.query:
        raise ConfigError(
            "the store's URL has both pool_mode=transaction and options: a pooler passes no options on; set them for "
            "the user instead (ALTER ROLE … SET …)"
        )
    threshold = None if own.get("pool_mode") == "transaction" else _DEFAULT_THRESHOLD
    if "prepare_threshold" in own:
        threshold = _threshold(str(own["prepare_threshold"]))
    driver = {"pool_mode": own.get("pool_mode"), "prepare_threshold": threshold}
    return made.set(drivername="postgresql+psycopg"), driver


def _one_host(url: str) -> str:
    """A URL of several hosts, as libpq has them (`//a:1,b:2/name`), in the form that SQLAlchemy reads."""
    found = urlsplit(url)
    user, at, hosts = found.netloc.rpartition("@")
    if "," not in hosts:
        return url
    several = "&".join(f"host={one}" for one in hosts.split(","))
    return found._replace(netloc=f"{user}{at}", query="&".join(filter(None, (several, found.query)))).geturl()


def _threshold(text: str) -> int | None:
    """After how many times the driver prepares a statement; None never. Raises ConfigError."""
    if text.lower() in ("none", "off"):
        return None
    if text.isdecimal():
        return int(text)
    raise ConfigError(f"prepare_threshold={text} in the store's URL: allowed are none, or a number of times, such as 5")


def _upgraded(connection: Connection) -> None:
    """Bring the schema up to date; a new table is spread where the others are, before anything is written into it."""
    from embermem.store.engines.ddl import without_statistics

    spread = citus.spread_tables(connection)

    def made(table: Table) -> None:
        for statement in (*without_statistics([table]), *citus.spreading([table.name])) if spread else ():
            connection.execute(text(statement))

    migrations.upgrade(connection, made=made)
    for statement in () if spread else without_statistics():  # of a table that is spread, Citus refuses it
        connection.execute(text(statement))


def _version(connection: Connection, place: str) -> str | None:
    asked = inspect(connection)
    tables = set(asked.get_table_names(asked.default_schema_name))  # where tables would be made; others are others'
    if migrations.VERSION_TABLE in tables:
        return connection.execute(text(f"SELECT version_num FROM {migrations.VERSION_TABLE}")).scalar()
    if foreign := sorted(tables & set(schema.metadata.tables)):
        raise StoreCorrupt(
            f"{place} has tables of another program under our names ({', '.join(foreign[:3])}): use another database, "
            "or a schema of its own (?options=-csearch_path%3DNAME,public)"
        )
    return None


def _with_extension(connection: Connection) -> bool:
    """Whether pgvector is there, or could be added."""
    if _has_extension(connection):
        return True
    try:
        with connection.begin_nested():
            connection.execute(text("CREATE EXTENSION IF NOT EXISTS vector"))
    except exc.DBAPIError:  # not on the server, or not allowed
        return False
    return _has_extension(connection)


def _has_extension(connection: Connection) -> bool:
    return connection.execute(text("SELECT to_regtype('halfvec') IS NOT NULL")).scalar_one() is True


def _ours(place: str, error: Exception) -> StoreError:
    """A driver's error in our words, whether it comes by way of SQLAlchemy or by itself."""
    import psycopg

    cause = error if isinstance(error, psycopg.Error) else getattr(error, "orig", None)
    code = getattr(cause, "sqlstate", None) or ""
    said = str(getattr(getattr(cause, "diag", None), "message_primary", None) or type(cause or error).__name__)
    if (
        cause is not None and code
    ):  # what else the server says, such as DETAIL, quotes rows: not even a log is to have it
        cause.args = (said,)
        if error is not cause:
            error.args = (f"({type(cause).__name__}) {said}",)
    for begins, kind, advice in _CODES:
        if code.startswith(begins):
            return kind(f"{place}: {advice} ({said})")
    if said.startswith(_CUT):
        return StoreUnreachable(f"{place}: the connection to a node broke off; try again ({said})")
    if (
        isinstance(error, (exc.OperationalError, psycopg.OperationalError)) and not code
    ):  # no connection was made, and the server gives no code
        told = " ".join(str(cause).split())
        if any(words in told for words in _FULL):
            return StoreBusy(f"{place}: the server takes no more connections; try again, or raise max_connections")
        if _POOLER in told:
            return StoreUnreachable(
                f"{place}: this is a pooler, such as PgBouncer, that takes no settings with a connection: add "
                "pool_mode=transaction to the URL (postgresql://…?pool_mode=transaction)"
            )
        return StoreUnreachable(f"{place}: the server cannot be reached, or takes no connection ({told})")
    return StoreError(f"{place}: the database reported an error ({said})")
