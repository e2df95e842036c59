"""Databases on a real Citus cluster for the tests: the one that the variable EMBERMEM_TEST_CITUS names, by a URL of its
coordinator with a user who may create databases there and on every node.

A database has to be made on every node, which takes seconds; so those of a process are emptied and used again.
"""

from __future__ import annotations

import itertools
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from sqlalchemy import make_url

from embermem.store import migrations, schema
from embermem.store.engines.citus import spreading
from embermem.store.engines.ddl import ddl

VARIABLE = "EMBERMEM_TEST_CITUS"
URL = os.environ.get(VARIABLE, "")
SHARDS = 4
"""Of each table: enough for two on each of two nodes."""
_NUMBER = itertools.count()
_resting: list[str] = []


@contextmanager
def database() -> Iterator[str]:
    """The URL of a database with an empty store in it, spread over the nodes."""
    url = _resting.pop() if _resting else with_store(empty())
    try:
        yield url
    finally:
        try:
            _emptied(url)
            _resting.append(url)
        except psycopg.Error:  # a table is missing, or the test left another thing that cannot be undone
            drop(url)


def dropped() -> None:
    """This process needs no database any more."""
    while _resting:
        drop(_resting.pop())


def empty() -> str:
    """The URL of a new database on every node, with the extension, and with nothing in it."""
    name = f"test_{os.getpid()}_{next(_NUMBER)}_{uuid.uuid4().hex[:8]}"
    nodes = workers()
    for url in (URL, *nodes):
        run(url, f"CREATE DATABASE {name} TEMPLATE template0 LOCALE 'C.UTF-8'")  # in C, é is not the same as É
        run(of(url, name), "CREATE EXTENSION citus")
    coordinator, made = make_url(URL), of(URL, name)
    run(made, f"SELECT citus_set_coordinator_host('{coordinator.host}', {coordinator.port or 5432})")
    for node in map(make_url, nodes):
        run(made, f"SELECT citus_add_node('{node.host}', {node.port})")
    return made


def with_store(url: str) -> str:
    """The same database with the tables that `embermem schema --engine citus` prints."""
    with psycopg.connect(url) as c:
        c.execute(f"SET citus.shard_count = {SHARDS}")
        for statement in ddl("citus", halfvec=False):
            c.execute(statement)
    return url


def with_dump(url: str, dump: str) -> str:
    """The same database with the store of a dump, which a later PostgreSQL may have written, spread over the nodes.
    Vectors are bytes there, and cannot be read as vectors."""
    unknown = {"SET transaction_timeout = 0;": "", "CREATE EXTENSION": "-- CREATE EXTENSION", "public.halfvec": "bytea"}
    for one, here in unknown.items():
        dump = dump.replace(one, here)
    run(url, dump)
    names = {name for (name,) in run(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'")}
    first = [*(table.name for table in schema.COMMON), migrations.VERSION_TABLE, schema.owner.name]
    owned = (f"SELECT create_distributed_table('{one}', 'owner_id')" for one in sorted(names.difference(first)))
    run(url, f"SET citus.shard_count = {SHARDS}", *spreading(first), *owned)
    return url


def drop(url: str) -> None:
    """Drop a database on every node."""
    name = make_url(url).database
    for one in (URL, *workers()):
        run(one, "SET citus.enable_ddl_propagation = off", f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def workers() -> list[str]:
    """The URLs of the nodes that hold shards, as the coordinator reaches them."""
    rows = run(URL, "SELECT nodename, nodeport FROM pg_dist_node WHERE groupid <> 0 ORDER BY nodeport")
    return [str(_set(URL, host=row[0], port=row[1])) for row in rows]


def of(url: str, name: str) -> str:
    """The URL of another database of the same server."""
    return _set(url, database=name)


def run(url: str, *statements: str) -> list[Any]:
    """Run statements one by one; the rows of the last one."""
    with psycopg.connect(url, autocommit=True) as c:
        for statement in statements:
            done = c.execute(statement)
        return done.fetchall() if done.description else []


def _emptied(url: str) -> None:
    cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> "
    run(url, cut + "pg_backend_pid() AND application_name NOT LIKE 'Citus%'")
    deleted = (f"DELETE FROM {table.name}" for table in schema.metadata.sorted_tables)
    version = f"UPDATE {migrations.VERSION_TABLE} SET version_num = '{schema.HEAD}'"
    run(url, "BEGIN", *deleted, migrations.NEW_STORE, version, "COMMIT")


def _set(url: str, **values: Any) -> str:
    return make_url(url).set(**values).render_as_string(hide_password=False)


def node_of(url: str, owner_id: str) -> str:
    """The URL of the database on the node that holds an owner's rows."""
    query = f"""SELECT n.nodename, n.nodeport FROM pg_dist_placement p JOIN pg_dist_node n USING (groupid)
        WHERE p.shardid = get_shard_id_for_distribution_column('owner', '{owner_id}') AND n.noderole = 'primary'"""
    ((host, port),) = run(url, query)
    return _set(url, host=host, port=port)


def cut(node: str) -> None:
    """End every connection to a database on its node."""
    others = "datname = current_database() AND pid <> pg_backend_pid()"
    run(node, f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}")


@contextmanager
def down(node: str) -> Iterator[None]:
    """The node takes no connection to a database, and ends those that there are: as if it had stopped, for this
    database alone."""
    name, other = make_url(node).database, of(node, "postgres")
    allowed = f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS'
    run(other, "SET citus.enable_ddl_propagation = off", f"{allowed} false")
    run(other, f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
    try:
        yield
    finally:
        run(other, "SET citus.enable_ddl_propagation = off", f"{allowed} true")
