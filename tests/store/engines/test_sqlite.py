"""What is of SQLite alone: the file, its pragmas, and its errors in our words."""

from __future__ import annotations

import os
import random
import sqlite3
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from sqlalchemy import Engine, Index, PrimaryKeyConstraint, UniqueConstraint, event

from embermem import Memory
from embermem.core.errors import (
    SchemaMismatch,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreMoved,
    StoreReadOnly,
)
from embermem.store import migrations, schema
from embermem.store.engines import sqlite, sqlite_file
from embermem.store.engines.sqlite import Sqlite
from embermem.store.sql import SqlStore
from scripted import NOW, SMALL
from soundness import assert_sound


def test_every_key_and_index_begins_with_the_owner_but_for_due_owners_and_for_a_day_s_calls() -> None:
    exceptions = []
    for table in schema.metadata.sorted_tables:
        keys: list[Any] = [c for c in table.constraints if isinstance(c, PrimaryKeyConstraint | UniqueConstraint)]
        for key in [*keys, *table.indexes]:
            if next(iter(key.columns)).name != "owner_id":
                exceptions.append(f"{table.name}.{key.name if isinstance(key, Index) else 'key'}")
    assert sorted(exceptions) == ["api_key.key", "call.ix_call_at", "owner.ix_owner_due", "store.key"]


def test_the_pragmas_are_in_force_on_every_connection(tmp_path: Path) -> None:
    engine = sqlite_file.make_engine(tmp_path / "memory.db", 5)
    with engine.connect() as one, engine.connect() as other:
        for connection in (one, other):
            values = {
                name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
                for name in ("journal_mode", "synchronous", "fullfsync", "checkpoint_fullfsync", "secure_delete")
            }
            synced = {"synchronous": 2, "fullfsync": 1, "checkpoint_fullfsync": 1}
            assert values == {"journal_mode": "wal", **synced, "secure_delete": 1}
    engine.dispose()


# ------------------------------------------------------------------------------------------------ opening


def test_garbage_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_bytes(b"These are my notes, not a database. " * 100)
    before = file.read_bytes()
    with pytest.raises(StoreCorrupt, match=r"notes\.txt.*not a database"):
        Memory(file, **SMALL)
    assert file.read_bytes() == before
    assert [f.name for f in tmp_path.iterdir()] == ["notes.txt"]


def test_a_store_that_another_makes_while_its_file_is_looked_at_is_ours(tmp_path: Path) -> None:
    for line in range(1, 8):
        file = tmp_path / f"{line}.db"
        with closing(sqlite3.connect(file)) as begun:
            begun.execute("PRAGMA journal_mode=WAL")  # the first thing that whoever makes a store writes
        left = line

        def trace(frame: FrameType, event: str, argument: object, file: Path = file) -> Any:
            nonlocal left
            if frame.f_code is not sqlite.refuse_foreign.__code__:
                return None
            left -= event == "line"
            if left == 0:
                sys.settrace(None)
                SqlStore(Sqlite(file, 60)).close()
            return trace

        sys.settrace(trace)
        try:
            sqlite.refuse_foreign(file)
        finally:
            sys.settrace(None)
        assert left <= 0


def test_somebody_else_s_database_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "other.db"
    with closing(sqlite3.connect(file)) as other:
        other.execute("CREATE TABLE recipes (name TEXT)")
        other.commit()
    before = file.read_bytes()
    with pytest.raises(StoreCorrupt, match="not an Ember store"):
        Memory(file, **SMALL)
    assert file.read_bytes() == before


def test_a_newer_schema_is_refused_with_what_to_do(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    Memory(file, **SMALL).close()
    with closing(sqlite3.connect(file)) as store:
        store.execute(f"UPDATE {migrations.VERSION_TABLE} SET version_num = '9999'")
        store.commit()
    with pytest.raises(SchemaMismatch, match=r"newer version of Ember \(schema 9999.*upgrade"):
        Memory(file, **SMALL)


def test_a_damaged_file_is_an_error_of_ours_and_never_an_empty_answer(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    with Memory(file, **SMALL) as memory:
        for n in range(200):
            memory.of("alice").add(f"line {n} " * 20, "ok")
    damaged = bytearray(file.read_bytes())
    for page in range(1, len(damaged) // 4096):
        damaged[page * 4096 : page * 4096 + 2000] = b"\xff" * 2000
    file.write_bytes(damaged)
    with pytest.raises(StoreError):  # noqa: SIM117  (either may be the one that finds out)
        with Memory(file, **SMALL) as memory:
            memory.of("alice").pages()


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    (tmp_path / "memory.db").touch()
    with Memory(tmp_path / "memory.db", **SMALL) as memory:
        memory.of("alice").add("Hello")
        assert len(memory.of("alice").pages()) == 1


def test_a_file_may_have_any_name(tmp_path: Path) -> None:
    cases: list[str] = ["with space.db", "ünï 汉字.db", "what?.db", "a#b%41.db", "'quoted\".db"]
    for name in cases:
        with Memory(tmp_path / name, **SMALL) as memory:
            memory.of("alice").add("Hello")
        assert (tmp_path / name).is_file()
        with Memory(str(tmp_path / name), **SMALL) as memory:
            assert len(memory.of("alice").pages()) == 1


def test_a_folder_or_a_missing_one_is_refused_with_advice(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is a folder; give a file in it"):
        Memory(tmp_path, **SMALL)
    with pytest.raises(StoreError, match="does not exist; create it first"):
        Memory(tmp_path / "none" / "memory.db", **SMALL)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_an_error_of_ours(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    Memory(file, **SMALL).close()
    file.chmod(0o400)
    tmp_path.chmod(0o500)
    try:
        with pytest.raises((StoreReadOnly, StoreError)), Memory(file, **SMALL) as memory:
            memory.of("alice").add("Hello")
    finally:
        tmp_path.chmod(0o700)


# ------------------------------------------------------------------------------------------------ in trouble


@pytest.fixture
def small_disk() -> Iterator[list[int]]:
    """SQLite refuses to let any file grow above so many pages of 4 KB, as it does on a full disk."""
    limit = [2**30]

    def restrict(connection: Any, record: object) -> None:
        connection.execute(f"PRAGMA max_page_count={limit[0]}").fetchall()

    event.listen(Engine, "connect", restrict)
    yield limit
    event.remove(Engine, "connect", restrict)


def test_a_full_disk_says_so_and_loses_nothing_acknowledged(tmp_path: Path, small_disk: list[int]) -> None:
    file, kept, chance = tmp_path / "memory.db", [], random.Random(1)
    small_disk[0] = 150
    with Memory(file, **SMALL) as memory:
        alice = memory.of("alice")

        def add_for_ever() -> None:
            for n in range(10_000):
                said = f"line {n} {chance.randbytes(4000).hex()}"  # which no packing makes small
                kept.append((alice.add(said, "ok"), said))

        with pytest.raises(StoreFull, match="no room"):
            add_for_ever()
        assert kept
        with pytest.raises(StoreFull):
            alice.settle()
        assert [(page.id, page.query) for page in alice.pages()] == kept
        assert alice.recall("line 3").hits
    small_disk[0] = 2**30
    assert_sound(file)
    with Memory(file, **SMALL) as memory:
        alice = memory.of("alice")
        assert [(page.id, page.query) for page in alice.pages()] == kept
        alice.settle()
        alice.add("there is room again")
        assert alice.stats().pending in (0, 1)
    assert_sound(file)


def test_a_store_held_by_another_for_too_long_is_busy(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    with Memory(file, **{**SMALL, "busy_timeout_s": 0.2}) as memory, closing(sqlite3.connect(file)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy, match="try again"):
            memory.of("alice").add("Hello")
        assert memory.of("alice").pages() == ()
        other.rollback()
        memory.of("alice").add("Hello")


def test_a_transaction_whose_end_an_interrupt_cut_short_holds_no_thread_up_after_the_next_one(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db", **{**SMALL, "background": False, "busy_timeout_s": 0.2}) as memory:
        alice = memory.of("alice")
        database = memory._parts.admin._database
        assert isinstance(database, Sqlite)
        database._writing.acquire()  # as two interrupts leave it, of which the second comes while the first is handled
        alice.add("The heron came.", "Good.")
        with ThreadPoolExecutor(1) as pool:
            pool.submit(alice.add, "It went.", "Good.").result()
        assert len(alice.pages()) == 2


def test_deleted_text_does_not_stay_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    engine = sqlite_file.make_engine(file, 5)
    with engine.connect() as c:
        c.exec_driver_sql("CREATE TABLE t (x)")
        c.exec_driver_sql("INSERT INTO t VALUES ('purple heron')")
        c.commit()
        c.exec_driver_sql("DELETE FROM t")
        c.commit()
        c.exec_driver_sql("SELECT 1")
    engine.dispose()
    assert b"purple heron" not in file.read_bytes()


# ------------------------------------------------------------------------------------------------ a file that moves


def move_away(file: Path) -> None:
    file.rename(file.with_name("elsewhere.db"))


def restore(file: Path) -> None:
    """As one puts a copy back: another file under the same name."""
    with closing(sqlite3.connect(file)) as mine, closing(sqlite3.connect(f"{file}.copy")) as copy:
        mine.backup(copy)
    Path(f"{file}.copy").replace(file)


def delete_wal(file: Path) -> None:
    Path(f"{file}-wal").unlink()


def test_a_store_whose_file_was_moved_takes_nothing_and_makes_nothing(tmp_path: Path) -> None:
    cases: list[tuple[Callable[[Path], None], str]] = [
        (Path.unlink, r"memory\.db was deleted or renamed while the store was open; nothing was written: put it back"),
        (move_away, r"memory\.db was deleted or renamed while"),
        (restore, r"memory\.db was replaced by another file while.* open the store that is meant"),
        (delete_wal, r"memory\.db-wal was deleted or renamed while.*close every memory that has the store open"),
    ]
    for number, (move, what) in enumerate(cases):
        (folder := tmp_path / str(number)).mkdir()
        file = folder / "memory.db"
        with Memory(file, **SMALL) as memory:
            memory.of("alice").add("Hello")
            move(file)
            there = set(folder.glob("*.db"))
            for _ in range(2):
                with pytest.raises(StoreMoved, match=what):
                    memory.of("alice").add("Lost")
                with pytest.raises(StoreMoved, match=what):
                    memory.of("alice").pages()
            with ThreadPoolExecutor(4) as threads:  # which need further connections
                for error in [threads.submit(memory.of("bob").add, "Lost").exception() for _ in range(4)]:
                    assert isinstance(error, StoreMoved)
            assert set(folder.glob("*.db")) == there


def test_a_store_whose_file_comes_back_goes_on(tmp_path: Path) -> None:
    file, elsewhere = tmp_path / "memory.db", tmp_path / "elsewhere.db"
    with Memory(file, **SMALL) as memory:
        memory.of("alice").add("Hello")
        file.rename(elsewhere)
        with pytest.raises(StoreMoved):
            memory.of("alice").add("Lost")
        elsewhere.rename(file)
        memory.of("alice").add("Again")
    with Memory(file, **SMALL) as memory:
        assert [page.query for page in memory.of("alice").pages()] == ["Hello", "Again"]


def test_a_store_restored_in_place_is_read_anew_where_the_numbers_meet_again(tmp_path: Path) -> None:
    file, older = tmp_path / "memory.db", tmp_path / "older.db"

    def restored() -> None:
        with closing(sqlite3.connect(older)) as kept, closing(sqlite3.connect(file)) as mine:
            kept.backup(mine)

    with Memory(file, **SMALL) as memory:
        alice = memory.of("alice")
        alice.add("We saw a purple heron.", "Lovely!")
        with closing(sqlite3.connect(file)) as mine, closing(sqlite3.connect(older)) as kept:
            mine.backup(kept)
        alice.add("We saw a green quagga.", "Where?")
        assert "quagga" in alice.recall("What did we see?").text
        restored()
        assert "quagga" not in alice.recall("What did we see?").text
        alice.add("We saw a grey okapi.", "When?")
        assert "okapi" in alice.recall("What did we see?").text
        restored()
        alice.add("We saw a red ibis.", "Who?")
        text = alice.recall("What did we see?").text
        assert "ibis" in text
        assert "okapi" not in text


# ------------------------------------------------------------------------------------------------ both logs


def dump(file: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every table that is derived or rolled up, row by row."""
    tables = [schema.segment, schema.page, schema.embedding, schema.change, schema.utterance]
    with closing(sqlite3.connect(file)) as c:
        return {table.name: sorted(c.execute(f"SELECT * FROM {table.name}").fetchall(), key=repr) for table in tables}


def test_applying_all_changes_again_gives_the_same_memory(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    settings = {
        **SMALL,
        "mid_term_segments": 2,
        "min_new": 1,
        "tau": 0.5,
        "user_facts": 2,
        "placed_by": "page",
        "theta": 0.9,
    }
    lines = (
        "I live in Lyon.",
        "I moved to Nantes.",
        "I like green tea. I like figs. I like jazz.",
        "My sister Ana is a nurse.",
        "I don't live in Nantes any more.",
        "Call me Sam. I was born in 1990.",
        "We saw a heron on the lake.",
    )
    with Memory(file, clock=lambda: NOW, **settings) as memory:
        alice = memory.of("alice")
        for n in range(21):
            alice.add(lines[n % 7], "I am your patient tutor.", thread=f"t{n % 2}", at=f"2025-03-{n + 1:02}T10:00:00Z")
            if n % 5 == 0:
                alice.settle()
                alice.visit(alice.recall("heron").hits)
        alice.set_profile(name="Alice")
        alice.settle()
        stats = alice.stats()
        assert min(stats.segments, stats.archived_segments, stats.facts, stats.archived_facts, stats.traits) > 0
        assert alice.past_facts()
        before, facts, segments = dump(file), alice.facts(), alice.segments()
        owner = alice.owner.id
    with closing(SqlStore(Sqlite(file, 5))) as store:
        store.replay(owner)
        assert dump(file) == before
    with Memory(file, clock=lambda: NOW, **settings) as memory:
        assert memory.of("alice").facts() == facts
        assert memory.of("alice").segments() == segments
    assert_sound(file)


@pytest.mark.skipif(os.name != "posix", reason="files have no such rights here")
def test_a_new_store_is_its_makers_alone(tmp_path: Path) -> None:
    with closing(SqlStore(Sqlite(tmp_path / "m.db", 1.0))):
        assert (tmp_path / "m.db").stat().st_mode & 0o777 == 0o600
