"""`schema`: the SQL that makes a store's tables by hand."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from psycopg.rows import tuple_row

import postgres
from embermem import Memory
from embermem.core.errors import ConfigError
from embermem.store import schema
from embermem.store.engines.ddl import ddl
from embermem.store.engines.sqlite import Sqlite
from embermem.store.sql import SqlStore
from scripted import SMALL, Place

COLUMNS = """
    SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.atthasdef, a.attidentity
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 ORDER BY 1, 2
"""
INDEXES = "SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1, 2"
CONSTRAINTS = """
    SELECT conrelid::regclass::text, contype, pg_get_constraintdef(oid) FROM pg_constraint
    WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2, 3
"""
MADE_UP = """
    SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind NOT IN ('r', 'i')
    UNION ALL SELECT tgname FROM pg_trigger UNION ALL SELECT conname FROM pg_constraint WHERE contype = 'f'
"""


def shape(url: str) -> list[list[tuple[object, ...]]]:
    """Tables, columns, keys and indexes, as PostgreSQL reports them."""
    with psycopg.connect(url, row_factory=tuple_row) as connection:
        return [connection.execute(query).fetchall() for query in (COLUMNS, INDEXES, CONSTRAINTS)]


@pytest.mark.postgresql
@pytest.mark.parametrize("halfvec", [True, False])
def test_the_printed_tables_are_those_that_a_store_makes_itself(
    place: Place, server_folder: Path, tmp_path: Path, halfvec: bool
) -> None:
    with postgres.database(server_folder) as url:
        with psycopg.connect(url) as connection:
            for statement in ddl("postgresql", halfvec=halfvec):
                connection.execute(statement)
        if halfvec:
            assert shape(url) == shape(str(place()))
        with psycopg.connect(url) as connection:
            assert connection.execute(MADE_UP).fetchall() == []  # no sequence, trigger or foreign key
        with Memory(url, **SMALL, forgotten_key_file=str(tmp_path / "key")) as memory:
            alice = memory.of("alice")
            alice.add("I live in Lyon.", "I see.")
            alice.settle()
            assert alice.recall("Where do I live?").hits


@pytest.mark.sqlite
def test_the_printed_file_is_one_that_a_store_makes_itself(tmp_path: Path) -> None:
    by_hand, itself = tmp_path / "by-hand.db", tmp_path / "itself.db"
    SqlStore(Sqlite(itself, 5)).close()
    with closing(sqlite3.connect(by_hand)) as connection:
        connection.executescript(";\n".join(ddl("sqlite")))
    found = []
    for file in (by_hand, itself):
        with closing(sqlite3.connect(file)) as connection:
            tables = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY 1, 2").fetchall()
            found.append([tables, connection.execute("PRAGMA application_id").fetchall()])
    mine, its = (re.sub(r"[\\nt\s]+", " ", repr(one)) for one in found)
    assert mine == its
    with Memory(by_hand, **SMALL) as memory:
        memory.of("alice").add("I live in Lyon.")


def test_on_citus_every_table_is_spread_by_owner_or_kept_on_every_node() -> None:
    plain, sharded = ddl("postgresql"), ddl("citus")
    assert sharded[: len(plain)] == plain
    calls = sharded[len(plain) :]
    spread = {
        m[1] for one in calls if (m := re.fullmatch(r"SELECT create_distributed_table\('(\w+)', 'owner_id'.*\)", one))
    }
    kept = {m[1] for one in calls if (m := re.fullmatch(r"SELECT create_reference_table\('(\w+)'\)", one))}
    assert len(calls) == len(spread) + len(kept)
    assert spread == {name for name, table in schema.metadata.tables.items() if "owner_id" in table.c}
    assert kept == {"store", "api_key", "ember_version"}
    assert all("colocate_with => 'owner'" in one for one in calls if "'owner'," not in one and "distributed" in one)


def test_there_is_no_schema_for_another_engine() -> None:
    with pytest.raises(ConfigError, match="one of: sqlite, postgresql, citus"):
        ddl("mysql")
