"""The schema's versions: migrations make what the tables say, and an older store opens with all that is in it."""

from __future__ import annotations

import re
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from embermem import Memory
from embermem.bootstrap import migrate_store
from embermem.core.config import load
from embermem.core.errors import StoreError
from embermem.store import migrations, schema
from embermem.store.engines.sqlite import Sqlite
from embermem.store.sql import SqlStore
from forked import script
from older import VERSION, content, older
from scripted import NOW, SMALL, Place
from soundness import assert_sound, meddle, rows


def shape(file: Path) -> list[tuple[str, str, str]]:
    """Every table's columns and keys, and every index, as SQLite reports them."""
    found = []
    with closing(sqlite3.connect(file)) as c:
        for (table,) in c.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall():
            for column in c.execute(f"PRAGMA table_info('{table}')"):
                found.append((table, "column", repr(column[1:])))
            for index in sorted(c.execute(f"PRAGMA index_list('{table}')").fetchall(), key=lambda row: row[1]):
                columns = [row[2] for row in c.execute(f"PRAGMA index_info('{index[1]}')")]
                (sql,) = c.execute("SELECT sql FROM sqlite_master WHERE name = ?", (index[1],)).fetchone() or (None,)
                where = "" if sql is None else " ".join(re.split(r"\bWHERE\b", sql)[1:]).strip()
                name = "" if index[1].startswith("sqlite_autoindex") else index[1]
                found.append((table, "index", repr((name, index[2:], columns, where))))
    return sorted(found)


# ------------------------------------------------------------------------------------------------ an older store

TREES = "SELECT count(*) FROM sqlite_master WHERE type IN ('table', 'index')"
"""How many tables and indexes a file has; each is at least one page."""


def test_a_store_from_before_token_vectors_opens_with_all_that_is_in_it(tmp_path: Path) -> None:
    file = older(tmp_path / "memory.db", "0001")
    before, size, trees = content(file), rows(file, "PRAGMA page_count"), rows(file, TREES)
    with closing(SqlStore(Sqlite(file, 5))) as store:
        (alice,) = store.owners()
        embedder, dim = store.setting("embedder") or "", int(store.setting("dim") or 0)
        delta = store.delta(alice.id, 0, 0, embedder, dim)
    assert (len(delta.utterances), delta.vectors.shape, delta.tokens) == (24, (24, dim), ())
    assert content(file) == before
    (grown,), (was,) = (row.values() for row in (*rows(file, "PRAGMA page_count"), *size))
    ((added,), (there,)) = (row.values() for row in (*rows(file, TREES), *trees))
    assert grown - was <= added - there + 4  # new tables and indexes, and what lists them; no table was written again
    assert rows(file, "SELECT DISTINCT tokens FROM embedding") == [{"tokens": None}]
    with Memory(file, **SMALL) as memory:
        mine = memory.of("alice")
        assert len(mine.pages()) == 12
        assert mine.recall("Where do I live?").hits
        mine.add("I moved to Lyon.")
        mine.settle()
        memory.reindex()
        assert mine.stats().without_vector == 0
    assert_sound(file)


def test_a_store_from_before_the_ledger_opens_with_all_that_is_in_it(tmp_path: Path) -> None:
    file = older(tmp_path / "memory.db", "0002")
    before = content(file)
    with closing(SqlStore(Sqlite(file, 5))) as store:
        (alice,) = store.owners()
        assert store.calls(NOW) == ()
        assert store.backlog(alice.id, 7, now=NOW, vectors_of="", analyst="extractive-v1").redo_at is not None
    assert content(file) == before
    assert rows(file, "SELECT DISTINCT redo_tries, redo_at FROM page") == [{"redo_tries": None, "redo_at": None}]


def test_a_store_from_before_keys_opens_with_all_that_is_in_it_and_takes_keys(tmp_path: Path) -> None:
    file = older(tmp_path / "memory.db", "0003")
    before = content(file)
    with closing(SqlStore(Sqlite(file, 5))) as store:
        assert store.all_keys() == ()
    assert content(file) == before


@pytest.mark.parametrize(
    "revision", ["0001", *(pytest.param(f"000{n}", marks=pytest.mark.proof) for n in range(2, 6)), "0006"]
)
def test_a_migrated_store_has_the_schema_of_a_new_one(tmp_path: Path, revision: str) -> None:
    file, new = older(tmp_path / "memory.db", revision), tmp_path / "new.db"
    for store in (file, new):
        SqlStore(Sqlite(store, 5)).close()
    assert shape(file) == shape(new)
    assert len(shape(new)) > 100
    assert rows(file, VERSION) == [{"version_num": schema.HEAD}]


def test_before_a_migration_the_store_is_copied_with_its_rights(tmp_path: Path) -> None:
    file = older(tmp_path / "memory.db", "0001")
    before = content(file)
    SqlStore(Sqlite(file, 5)).close()
    backup = tmp_path / f"memory.db.before-{schema.HEAD}"
    assert rows(backup, VERSION) == [{"version_num": "0001"}]
    assert content(backup) == before
    assert backup.stat().st_mode == file.stat().st_mode
    assert sorted(f.name for f in tmp_path.iterdir()) == sorted([file.name, backup.name])


def test_without_room_for_the_copy_nothing_is_migrated(tmp_path: Path) -> None:
    file = older(tmp_path / "memory.db", "0001")
    before = content(file)
    (tmp_path / f"memory.db.before-{schema.HEAD}").mkdir()
    with pytest.raises(StoreError, match="no backup can be made"):
        SqlStore(Sqlite(file, 5))
    assert (rows(file, VERSION), content(file)) == ([{"version_num": "0001"}], before)


def test_a_migration_that_fails_half_way_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    file = older(tmp_path / "memory.db", "0001")
    with closing(sqlite3.connect(file)) as c:
        c.execute(
            f"CREATE TRIGGER no BEFORE UPDATE ON {migrations.VERSION_TABLE} BEGIN SELECT RAISE(ABORT, 'not now'); END"
        )
    before = shape(file)
    with pytest.raises(StoreError, match="not now"):
        SqlStore(Sqlite(file, 5))
    assert (shape(file), rows(file, VERSION)) == (before, [{"version_num": "0001"}])
    with closing(sqlite3.connect(file)) as c:
        c.execute("DROP TRIGGER no")
    SqlStore(Sqlite(file, 5)).close()
    assert rows(file, VERSION) == [{"version_num": schema.HEAD}]


OPENER = """
import sys
from embermem import Memory
print("ready", flush=True)
sys.stdin.readline()
with Memory(sys.argv[1], embedder="hashed", background=False, busy_timeout_s=20.0) as memory:
    assert len(memory.of("alice").pages()) >= 12
    memory.of("alice").add("I opened it", "I see.", thread=sys.argv[2])
"""


def test_processes_that_open_an_older_store_at_once_all_succeed_and_one_migrates_it(tmp_path: Path) -> None:
    file = older(tmp_path / "memory.db", "0001")
    before = content(file)
    openers = [script(OPENER, str(file), f"p{n}") for n in range(4)]
    for one in openers:
        assert one.stdout.readline() == "ready\n"
    with closing(sqlite3.connect(file)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        for one in openers:
            one.tell("go")
        time.sleep(1.5)  # long enough for all to find the older version, and to wait for the writer
        writer.rollback()
    for one in openers:
        assert (one.communicate(), one.returncode) == (("", ""), 0)
    with Memory(file, **SMALL) as memory:
        assert len(memory.of("alice").pages()) == 16
    backup = tmp_path / f"memory.db.before-{schema.HEAD}"
    assert (rows(backup, VERSION), content(backup)) == ([{"version_num": "0001"}], before)
    assert_sound(file)


@pytest.mark.postgresql
def test_on_a_server_sources_are_ordered_by_code_points_once_the_store_is_migrated(place: Place) -> None:
    with Memory(place(), **SMALL) as memory:
        memory.of("alice").add_document("A lease.", source="a/b")
    meddle(
        place(),
        "DROP TABLE original",
        'ALTER TABLE document ALTER COLUMN source TYPE TEXT COLLATE "default"',
        "UPDATE ember_version SET version_num = '0010'",
    )
    assert migrate_store(place(), load(**SMALL)) == ("0010", schema.HEAD)
    told = (
        "SELECT collation_name FROM information_schema.columns WHERE table_name = 'document' AND column_name = 'source'"
    )
    assert rows(place(), told) == [{"collation_name": "C"}]
    with Memory(place(), **SMALL) as memory:
        alice = memory.of("alice")
        alice.add_document("A lease.", source="a/b", original=1)
        assert [alice.original(one.id) for one in alice.documents(under="a/")] == [1]
