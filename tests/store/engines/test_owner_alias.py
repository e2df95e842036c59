"""In SQLite, a number represents each owner: no caller notices, and nothing of it is left of a forgotten one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from embermem import Memory
from embermem.bootstrap import copy_store
from embermem.core.config import Settings
from embermem.store.engines.owner_alias import KEYS
from scripted import SMALL
from soundness import assert_sound


def numbers(file: Path) -> dict[str, str]:
    """The number of each owner's id in a file."""
    with closing(sqlite3.connect(file)) as c:
        return {str(owner_id): str(no) for owner_id, no in c.execute(f"SELECT id, no FROM {KEYS}")}


def column(file: Path, table: str) -> set[Any]:
    """The owners of a table's rows as the file has them."""
    with closing(sqlite3.connect(file)) as c:
        return {row[0] for row in c.execute(f"SELECT owner_id FROM {table}")}


def test_rows_hold_numbers_and_callers_see_ids(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    with Memory(file, **SMALL) as memory:
        owners = [memory.of(f"user {n}") for n in range(12)]
        for one in owners:
            one.add(f"I am {one.owner.user}.", "I see.")
            one.settle()
        assert [one.user for one in memory.owners()] == sorted(one.owner.user for one in owners)
        found = numbers(file)
        assert set(found) == {one.owner.id for one in owners}
        for table in ("owner", "utterance", "page", "embedding", "change"):
            assert column(file, table) == set(found.values())
    assert_sound(file)


def test_an_owner_that_another_process_made_is_found_at_once(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    with Memory(file, **SMALL) as one, Memory(file, **SMALL) as other:
        assert other.of("alice").pages() == ()
        one.of("alice").add("I live in Lyon.")
        assert len(other.of("alice").pages()) == 1
        other.of("alice").add("I moved to Nantes.", thread="later")
        assert len(one.of("alice").pages()) == 2
    assert len(numbers(file)) == 1


def test_who_is_forgotten_has_no_number_and_gets_another_one_on_coming_back(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    with Memory(file, **SMALL) as one, Memory(file, **SMALL) as other:
        alice, ben = one.of("alice"), one.of("ben")
        alice.add("I live in Lyon.")
        ben.add("I live in Oban.")
        assert len(other.of("alice").pages()) == 1
        before = numbers(file)
        one.forget_user("alice")
        assert alice.owner.id not in numbers(file)
        assert alice.owner.id.encode() not in file.read_bytes()
        other.of("alice").add("I am back.")
        assert [page.query for page in one.of("alice").pages()] == ["I am back."]
        assert [page.query for page in one.of("ben").pages()] == ["I live in Oban."]
        assert numbers(file)[alice.owner.id] not in before.values()
    assert_sound(file)


def test_a_copy_is_the_same_whatever_the_numbers_are(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    with Memory(file, **SMALL) as memory:
        for name in ("gone", "alice", "ben"):
            memory.of(name).add(f"I am {name}.")
        memory.forget_user("gone")
    copy_store(file, tmp_path / "copy.db", Settings(), datetime.now(UTC), lambda progress: None)
    assert set(numbers(tmp_path / "copy.db")) == set(numbers(file))
    assert numbers(tmp_path / "copy.db") != numbers(file)
    with Memory(tmp_path / "copy.db", **SMALL) as memory:
        assert [page.query for page in memory.of("ben").pages()] == ["I am ben."]


@pytest.mark.parametrize(
    "damage",
    [
        f"DELETE FROM {KEYS} WHERE no = 1",
        f"UPDATE {KEYS} SET no = 999 WHERE no = 1",
        f"UPDATE {KEYS} SET id = 'x' WHERE no = 1",
    ],
)
def test_doctor_finds_an_owner_whose_number_is_lost(tmp_path: Path, damage: str) -> None:
    file = tmp_path / "memory.db"
    with Memory(file, **SMALL) as memory:
        memory.of("alice").add("I like tea.", "I see.")
        assert not [one for one in memory.check() if one.level == "error"]
    with closing(sqlite3.connect(file)) as c:
        c.execute(damage)
        c.commit()
    with Memory(file, **SMALL) as memory:
        (found,) = (one.what for one in memory.check() if one.level == "error")
        assert found.startswith("alice/default: nobody finds its rows")
