"""One store, opened by two versions of Ember at once: nothing is written in an older form, nor half migrated."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from embermem import Memory, OwnerMemory
from embermem.bootstrap import migrate_store
from embermem.core.config import load
from embermem.core.errors import SchemaMismatch, StoreBusy
from embermem.store import migrations, schema
from embermem.store.engines.postgres import Postgres
from embermem.store.engines.sqlite import Sqlite
from embermem.store.sql import SqlStore
from lives import contents
from older import BEFORE, VERSION, content, older
from scripted import Clock, Opener, Place
from soundness import assert_sound, meddle, rows

NEWER = (
    "ALTER TABLE page ADD COLUMN newer INTEGER",
    f"UPDATE {migrations.VERSION_TABLE} SET version_num = '9999'",
)
"""What a migration of a later version does."""
BACK = f"UPDATE {migrations.VERSION_TABLE} SET version_num = '{schema.HEAD}'"
WRITES: dict[str, Callable[[OwnerMemory], object]] = {
    "add": lambda mine: mine.add("I moved to Nantes.", "I see."),
    "settle": lambda mine: mine.settle(),
    "set_profile": lambda mine: mine.set_profile(name="Zoë"),
    "forget": lambda mine: mine.forget(page=mine.pages()[0].id),
    "forget_owner": lambda mine: mine.forget_owner(),
    "correct": lambda mine: mine.correct(mine.facts()[0].id, "lives in Nantes"),
    "visit": lambda mine: mine.visit(mine.recall("Where do I live?")),
}


def said(memory: Memory) -> OwnerMemory:
    """An owner of whom something is known, and something is due."""
    mine = memory.of("alice")
    for number in range(8):
        mine.add(f"I live in town {number}. I like herons.", "I see.", thread=f"t{number}")
    mine.settle()
    mine.add("I like figs.", "I see.")
    return mine


QUICK = ("add", "forget_owner", "visit")
"""Writes that `make test` tries; every transaction that writes begins with the same look at the version."""


def something_said(memory: Memory, clock: Clock) -> None:
    said(memory)


@pytest.mark.parametrize(
    "write", [name if name in QUICK else pytest.param(name, marks=pytest.mark.proof) for name in WRITES]
)
def test_an_older_process_writes_nothing_once_a_newer_one_has_migrated_the_store(
    lived_in: Callable[..., Any], opened: Opener, place: Place, write: str
) -> None:
    lived_in(something_said)
    mine = opened().of("alice")
    before = contents(place())
    meddle(place(), *NEWER)
    with pytest.raises(SchemaMismatch, match=r"migrated to schema 9999 while this process.*nothing was written"):
        WRITES[write](mine)
    assert "I like figs." in mine.recall("What do I like?").text
    meddle(place(), BACK)
    assert contents(place()) == before
    meddle(place(), "ALTER TABLE page DROP COLUMN newer")  # databases of a cluster are used again


@pytest.mark.sqlite
def test_a_store_that_an_older_process_has_open_is_not_migrated_until_it_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = older(tmp_path / "memory.db", monkeypatch)
    before = content(file)
    with closing(sqlite3.connect(file)) as running:  # it rests between two calls, in no transaction
        running.execute("PRAGMA journal_mode=WAL").fetchall()
        running.execute("SELECT count(*) FROM page").fetchall()
        with pytest.raises(
            StoreBusy, match=rf"older version of Ember \(schema {BEFORE}.*stop what uses it.*nothing was changed"
        ):
            SqlStore(Sqlite(file, 5))
        running.execute("UPDATE owner SET failures = 0")
        running.commit()
    assert rows(file, VERSION) == [{"version_num": BEFORE}]
    assert content(file) == before
    assert [one.name for one in tmp_path.glob("*before*")] == []
    SqlStore(Sqlite(file, 5)).close()
    assert rows(file, VERSION) == [{"version_num": schema.HEAD}]
    assert_sound(file)


@pytest.mark.sqlite
def test_nobody_reads_or_writes_while_a_store_is_copied_and_migrated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = older(tmp_path / "memory.db", monkeypatch)
    failed: list[str] = []
    wrote = opened = 0
    begun, over = threading.Event(), threading.Event()

    def use() -> None:
        nonlocal wrote, opened
        while not over.is_set():
            with closing(sqlite3.connect(file, timeout=20)) as old:
                try:
                    (version,) = old.execute(VERSION).fetchone()
                    opened += 1
                    if version == BEFORE:  # as an older Ember does when it opens
                        old.execute("BEGIN IMMEDIATE")
                        (now,) = old.execute(VERSION).fetchone()
                        old.execute("UPDATE owner SET failures = failures + 1")
                        old.commit()
                        wrote += 1
                        begun.set()
                        if now != version:
                            failed.append(f"wrote into {now}")
                except sqlite3.OperationalError as error:
                    failed.append(str(error))
            time.sleep(0.005)

    users = [threading.Thread(target=use) for _ in range(2)]
    for user in users:
        user.start()
    assert begun.wait(20)  # on a busy machine neither may have come to it before the store is migrated
    with suppress(StoreBusy):
        SqlStore(Sqlite(file, 5)).close()
    over.set()
    for user in users:
        user.join()
    assert failed == []
    assert wrote
    (told,) = rows(file, "SELECT failures FROM owner")
    assert told["failures"] == wrote
    assert_sound(file)


@pytest.mark.postgresql
def test_a_migration_waits_for_those_who_write_and_they_wait_for_it(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = str(place())
    with closing(SqlStore(Postgres(url, 20.0))) as store:
        done: list[str] = []

        def migrate() -> None:
            migrate_store(url, load())
            done.append("migrated")

        with store._write():
            older(url, monkeypatch)
            migrating = threading.Thread(target=migrate)
            migrating.start()
            migrating.join(1.0)
            done.append("written")
        migrating.join(30)
    assert done == ["written", "migrated"]
