"""A file that is damaged: what the doctor names and mends, what can still be read, and that no error quotes what was
said.

`EMBER_DAMAGES=2000 pytest tests/store/engines/test_damage.py` damages as many copies; `EMBER_SEED` begins elsewhere.
"""

from __future__ import annotations

import logging
import os
import random
import shutil
import sqlite3
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from embermem import Memory
from embermem.core.errors import EmberError, StoreCorrupt
from embermem.protocols import Finding
from embermem.store.engines.sqlite import Sqlite
from embermem.store.sql import SqlStore
from proofs import bounded
from scripted import NOW, SMALL
from soundness import assert_sound, meddle

DAMAGES = int(os.environ.get("EMBER_DAMAGES", bounded(4, proofs=30)))
SEED = int(os.environ.get("EMBER_SEED", "1"))
OWNERS = ("ann", "bob", "cid")
SECRET = "quagga"
"""Stands in all that is said."""
PAGE = 4096


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of three owners, closed."""
    file = tmp_path_factory.mktemp("sound") / "memory.db"
    with Memory(file, **SMALL) as memory:
        for name in OWNERS:
            one = memory.of(name)
            for n in range(12):
                one.add(f"{name} saw {SECRET} number {n} by the river, and I live in Lyon. " * 6, "I see.")
            one.settle()
    return file


@pytest.fixture
def file(sound: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    shutil.copy(sound, tmp_path / "memory.db")
    shutil.copy(f"{sound}.key", tmp_path / "memory.db.key") if Path(f"{sound}.key").exists() else None
    return tmp_path / "memory.db"


def errors_of(findings: tuple[Finding, ...]) -> list[str]:
    return [finding.what for finding in findings if finding.level == "error"]


def assert_quotes_nothing(error: BaseException, caplog: pytest.LogCaptureFixture | None = None) -> None:
    """Neither the error nor what a log would print of it."""
    assert SECRET not in "".join(traceback.format_exception(error))
    assert caplog is None or SECRET not in caplog.text


# ---------------------------------------------------------------------------------------------------------------- texts


def test_a_text_that_is_not_utf_8_is_named_and_quoted_nowhere(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    spoil = "CAST(CAST(text AS BLOB) || x'ff' AS TEXT) WHERE owner_id = (SELECT owner_id FROM owner WHERE user = 'ann')"
    meddle(file, f"UPDATE utterance SET text = {spoil} AND seq = 3")
    caplog.set_level(logging.DEBUG)
    with Memory(file, **SMALL) as memory:
        for read in (memory.of("ann").pages, lambda: memory.of("ann").recall("the river")):
            with pytest.raises(StoreCorrupt, match="not UTF-8; `embermem doctor` says whose") as raised:
                read()
            assert_quotes_nothing(raised.value, caplog)
        assert len(memory.of("bob").pages()) == len(memory.of("cid").pages()) == 12
        for findings in (memory.check(), memory.check(deep=True), memory.repair()):
            assert errors_of(findings) == ["ann/default: rows of `utterance` whose text is damaged (not UTF-8): 1"]


def test_each_owner_is_looked_at_also_after_one_that_is_damaged(file: Path) -> None:
    meddle(
        file,
        "UPDATE page SET thread = CAST(x'ff' AS TEXT) WHERE owner_id = (SELECT owner_id FROM owner WHERE user = 'ann')",
        "UPDATE segment SET pages = pages + 1 WHERE owner_id = (SELECT owner_id FROM owner WHERE user = 'cid')",
    )
    with Memory(file, **SMALL) as memory:
        found = errors_of(memory.check())
        assert [what.split(":")[0] for what in found] == ["ann/default", "cid/default"]
        mended = [one.what for one in memory.repair() if one.level == "mended"]
        assert any(what.startswith("cid/default: segments with a wrong count") for what in mended)
        assert [what.split(":")[0] for what in errors_of(memory.check())] == ["ann/default"]


def test_a_damaged_row_of_an_owner_hides_no_other_owner(file: Path) -> None:
    meddle(file, "UPDATE owner SET agent = CAST(x'ff' AS TEXT) WHERE user = 'ann'")
    with Memory(file, **SMALL) as memory:
        found = errors_of(memory.check())
        assert len(found) == 1
        assert "cannot be read" in found[0]
        assert len(memory.of("bob").pages()) == 12


def test_a_packed_text_that_is_damaged_hides_no_other_owner_and_is_named_as_damage(file: Path) -> None:
    with closing(sqlite3.connect(file)) as c:
        c.execute("UPDATE segment SET parts = x'e501ff' WHERE owner_id = (SELECT min(no) FROM owner_key)")
        c.execute("UPDATE change SET decisions = x'e501ff' WHERE owner_id = (SELECT min(no) FROM owner_key)")
        c.commit()
    with Memory(file, **SMALL) as memory:
        errors = [one.what for one in memory.check() if one.level == "error"]
        assert [what for what in errors if "ann/" in what and "a packed text" in what]
        assert not [what for what in errors if "bob/" in what]
        for ask in (lambda: memory.of("ann").recall("river"), lambda: memory.of("ann").forget(matching="river")):
            with pytest.raises(StoreCorrupt, match="a packed text"):
                ask()


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param("zeroblob(length(vector_sum))", marks=pytest.mark.proof),
        "substr(vector_sum, 1, length(vector_sum) / 8 * 4 + 1)",
    ],
)
def test_a_sum_of_vectors_that_cannot_be_read_is_named_and_made_again(file: Path, damage: str) -> None:
    with closing(sqlite3.connect(file)) as c:
        c.execute(f"UPDATE segment SET vector_sum = {damage} WHERE owner_id = (SELECT min(no) FROM owner_key)")
        c.commit()
    with Memory(file, **SMALL) as memory:
        with pytest.raises(StoreCorrupt, match="doctor --repair"):
            memory.of("ann").recall("river")
        (found,) = errors_of(memory.check())
        assert found.startswith("ann/default: segments whose sum of vectors cannot be read")
        assert found in [one.what for one in memory.repair() if one.level == "mended"]
        assert errors_of(memory.check()) == []
        memory.of("ann").settle()
        assert memory.of("ann").recall("river").hits
        assert all(one.embedding is not None for one in memory.of("ann").segments())


def test_an_error_of_the_database_quotes_no_parameters(tmp_path: Path) -> None:
    store = SqlStore(Sqlite(tmp_path / "memory.db", 60))
    with pytest.raises(EmberError) as raised, store._write() as c:
        c.exec_driver_sql("INSERT INTO store (key, value) VALUES (?, ?), (?, ?)", ("k", SECRET, "k", SECRET))
    assert_quotes_nothing(raised.value)
    store.close()


# -------------------------------------------------------------------------------------------------------------- indexes


def test_an_index_that_disagrees_with_its_table_is_named_and_made_again(file: Path) -> None:
    hidden = "FROM sqlite_master WHERE name = 'ix_owner_due'"
    with closing(sqlite3.connect(file)) as store:
        row = store.execute(f"SELECT * {hidden}").fetchone()
        store.execute("PRAGMA writable_schema = ON")
        store.execute(f"DELETE {hidden}")
        store.commit()
    with closing(sqlite3.connect(file)) as store:
        store.execute("UPDATE owner SET due_at = 7 WHERE user = 'bob'")
        store.execute("PRAGMA writable_schema = ON")
        store.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", row)
        store.commit()
    with Memory(file, **SMALL) as memory:
        assert errors_of(memory.check()) == ["the index ix_owner_due disagrees with its table"]
        assert "the index ix_owner_due disagrees with its table" in [
            one.what for one in memory.repair() if one.level == "mended"
        ]
        assert errors_of(memory.check()) == []
    assert_sound(file)


# ---------------------------------------------------------------------------------------------------------------- pages


def test_a_damaged_page_is_named_and_the_other_owners_are_read(file: Path) -> None:
    data = bytearray(file.read_bytes())
    pages = range(1, len(data) // PAGE)
    at = next(n for n in pages if page_of(data, n).count(b"ann saw") > 5 and b"bob" not in page_of(data, n))
    data[at * PAGE : at * PAGE + 8] = b"\xff" * 8
    file.write_bytes(data)
    with Memory(file, **SMALL) as memory:
        with pytest.raises(StoreCorrupt) as raised:
            memory.of("ann").pages()
        assert_quotes_nothing(raised.value)
        assert len(memory.of("bob").pages()) == len(memory.of("cid").pages()) == 12
        for findings in (memory.check(), memory.repair() and memory.check()):
            found = errors_of(findings)
            assert any(what.startswith("the database file is damaged: ") and str(at + 1) in what for what in found)
            assert any(what.startswith("ann/default: cannot be read") for what in found)
            assert not any("bob" in what for what in found)


def page_of(data: bytes | bytearray, number: int) -> bytes | bytearray:
    return data[number * PAGE : (number + 1) * PAGE]


def flip(data: bytearray, chance: random.Random) -> None:
    for _ in range(chance.choice((1, 1, 4, 40))):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def overwrite(data: bytearray, chance: random.Random) -> None:
    at, length = chance.randrange(len(data) - 600), chance.randrange(1, 600)
    data[at : at + length] = chance.choice((bytes(length), b"\xff" * length, chance.randbytes(length)))


def swap(data: bytearray, chance: random.Random) -> None:
    one, other = (PAGE * chance.randrange(1, len(data) // PAGE) for _ in range(2))
    data[one : one + PAGE], data[other : other + PAGE] = data[other : other + PAGE], data[one : one + PAGE]


def cut(data: bytearray, chance: random.Random) -> None:
    del data[chance.randrange(PAGE, len(data)) :]


def test_whatever_is_damaged_the_store_answers_or_raises_an_error_of_ours_that_quotes_nothing(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cases: list[Callable[[bytearray, random.Random], None]] = [flip, overwrite, swap, cut]
    sound = file.read_bytes()
    for damage in cases:
        for n in range(max(1, DAMAGES // 4)):
            data = bytearray(sound)
            damage(data, random.Random(f"{SEED} {damage.__name__} {n}"))
            for suffix in ("-wal", "-shm"):
                Path(f"{file}{suffix}").unlink(missing_ok=True)
            file.write_bytes(data)
            with ThreadPoolExecutor(1) as thread:
                for error in thread.submit(tried, file).result(timeout=60):
                    assert isinstance(error, EmberError), "".join(traceback.format_exception(error))
                    assert_quotes_nothing(error)
            assert SECRET not in caplog.text
            caplog.clear()


def tried(file: Path) -> list[BaseException]:
    """The errors of all that is asked of a store."""
    errors: list[BaseException] = []

    def ask(question: Callable[[], Any]) -> Any:
        try:
            return question()
        except Exception as error:  # noqa: BLE001 - looked at by the test
            errors.append(error)

    memory = ask(lambda: Memory(file, **{**SMALL, "clock": lambda: NOW}))
    if memory is None:
        return errors
    for question in (memory.check, lambda: memory.check(deep=True), memory.repair, memory.stats):
        ask(question)
    for name in OWNERS:
        one = memory.of(name)
        for read in (one.pages, one.facts, one.segments, one.changes, lambda one=one: one.recall("by the river")):
            ask(read)
    ask(memory.close)
    return errors
