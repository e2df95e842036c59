"""`backup` and `restore`: what a backup holds, whatever happens to it, to the store and to the disk meanwhile."""

from __future__ import annotations

import os
import random
import re
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from running import run

from embermem import Memory
from embermem.bootstrap import back_up_store, copy_store, restore_store, wall_clock
from embermem.cli.commands.moving import output
from embermem.core.config import load
from embermem.core.errors import InputError, NotFound, StoreBusy, StoreCorrupt, StoreError, StoreFull
from embermem.core.types import Backup, Restored
from embermem.store.backup_list import BACKUPS, BEGUN, COPIES, LAST_BACKUP
from embermem.store.statements import SCRUBBED
from forked import Child
from lives import contents, fill_every_table
from older import BEFORE, SAID, VERSION, older
from proofs import bounded
from scripted import SMALL, Clock
from soundness import rows

pytestmark = pytest.mark.sqlite

OWN = (BACKUPS, BEGUN, COPIES, LAST_BACKUP, SCRUBBED)
"""Settings of one store alone: its backups and copies, and its last scrub."""
KILLS, SEED = int(os.environ.get("KILLS", bounded(4, proofs=240))), int(os.environ.get("SEED", "1"))
WORD = re.compile(rb"w[0-9a-f]{12}x")


def opened(place: Path, clock: Clock | None = None) -> Memory:
    return Memory(place, clock=clock or Clock(), **SMALL)


def restored(backup: Path, target: Path, *, replace: bool = False) -> Restored:
    return restore_store(backup, target, load(**SMALL), wall_clock(), lambda *told: None, replace=replace)


def held(backup: Path, folder: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of the store that a backup gives."""
    target = folder / f"{len(list(folder.iterdir()))}.db"
    restored(backup, target)
    return contents(target, without=OWN)


def words_in(*files: Path) -> set[bytes]:
    return {word for file in files for word in WORD.findall(file.read_bytes())}


def files_of(folder: Path) -> list[Path]:
    return sorted(one for one in folder.rglob("*") if one.is_file())


@pytest.fixture
def away(tmp_path: Path) -> Path:
    """A folder where restored stores lie."""
    (tmp_path / "away").mkdir()
    return tmp_path / "away"


# ------------------------------------------------------------------------------------------------------------ one file


def test_a_backup_holds_every_row_with_its_key_for_its_makers_eyes_and_is_never_written_over(
    tmp_path: Path, away: Path, clock: Clock
) -> None:
    file, backup = tmp_path / "memory.db", tmp_path / "backup.db"
    told: list[tuple[str, int, int]] = []
    with opened(file, clock) as memory:
        fill_every_table(memory, clock)
        made = memory.backup(backup, progress=lambda *step: told.append(step))
        before = memory.of("alice").recall("Where do I live?").text
        for taken in (backup, file):
            with pytest.raises(InputError, match="already exists"):
                memory.backup(taken)
    assert (made.place, made.bytes, made.owners) == (str(backup), backup.stat().st_size, len(contents(file)["owner"]))
    assert [one.stat().st_mode & 0o777 for one in tmp_path.glob("backup.db*")] == [0o600] * 3
    assert {one.name for one in tmp_path.glob("backup.db*")} == {"backup.db", "backup.db.json", "backup.db.key"}
    assert {step for step, _, _ in told} == {"copying", "checking"}
    assert held(backup, away) == contents(file, without=OWN)
    with opened(next(away.glob("*.db")), clock) as memory:
        assert memory.of("alice").recall("Where do I live?").text == before
        assert [one.what for one in memory.check(deep=True) if one.level == "error"] == []


def test_writers_in_other_processes_go_on_and_each_backup_is_one_state_of_them_all(tmp_path: Path, away: Path) -> None:
    file, users = tmp_path / "memory.db", [f"user{n}" for n in range(3)]
    with opened(file) as memory:
        for user in users:
            memory.of(user).add("page 0")

    def write(user: str) -> None:
        with opened(file) as memory:
            for n in range(1, 10_000):
                memory.of(user).add(f"page {n}")
                print(n, flush=True)

    writers = [Child(partial(write, user)) for user in users]
    try:
        for number in range(bounded(1, proofs=12)):
            acknowledged = [int(child.stdout.readline()) for child in writers]
            back_up_store(file, tmp_path / "folder", load(**SMALL), wall_clock(), lambda *told: None, incremental=True)
            restored(tmp_path / "folder", away / f"{number}.db")
            with opened(away / f"{number}.db") as memory:
                for user, least in zip(users, acknowledged, strict=True):
                    pages = [page.query for page in memory.of(user).pages()]
                    assert pages == [f"page {n}" for n in range(len(pages))]
                    assert len(pages) > least
                assert [one.what for one in memory.check(deep=True) if one.level == "error"] == []
    finally:
        for child in writers:
            child.kill()
            child.wait()


def test_a_store_of_an_older_version_is_backed_up_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "old").mkdir()
    file = older(tmp_path / "old" / "memory.db", monkeypatch)
    before = file.read_bytes()
    back_up_store(file, tmp_path / "backup.db", load(**SMALL), wall_clock(), lambda *told: None)
    assert file.read_bytes() == before
    assert rows(tmp_path / "backup.db", VERSION) == [{"version_num": BEFORE}]
    restored(tmp_path / "backup.db", tmp_path / "restored.db")
    with opened(tmp_path / "restored.db") as memory:
        assert len(memory.of("alice").pages()) == len(SAID)


def test_a_store_in_memory_and_one_that_is_read_only_are_backed_up_too(tmp_path: Path, away: Path) -> None:
    with Memory(":memory:", clock=Clock(), **SMALL) as memory:
        memory.of("alice").add("I live in Lyon.")
        memory.backup(tmp_path / "backup.db")
    restored(tmp_path / "backup.db", tmp_path / "memory.db")
    with Memory(tmp_path / "memory.db", read_only=True, **SMALL) as memory:
        assert len(memory.of("alice").pages()) == 1
        memory.backup(tmp_path / "second.db")
        assert [Path(one.place).name for one in memory.copies()] == ["backup.db"]  # and not what it could not note
    assert held(tmp_path / "second.db", away) == contents(tmp_path / "memory.db", without=OWN)


@pytest.mark.skipif(os.name != "posix", reason="needs locks of files")
@pytest.mark.parametrize(
    "way", [*(pytest.param(one, marks=pytest.mark.proof) for one in ("file", "folder")), "increment", "restore"]
)
def test_a_second_run_at_the_same_place_is_refused_and_does_the_first_no_harm(tmp_path: Path, way: str) -> None:
    file, target, refused = tmp_path / "memory.db", tmp_path / "target", list[str]()
    with opened(file) as memory:
        memory.of("alice").add("Hello")
        memory.backup(tmp_path / "backup.db")
        if way in ("folder", "increment"):
            memory.backup(target, keep=9)
            memory.of("alice").add("And on it goes.")

    def go(told: Any) -> object:
        settings, now = load(**SMALL), wall_clock()
        if way == "restore":
            return restore_store(tmp_path / "backup.db", target, settings, now, told)
        return back_up_store(file, target, settings, now, told, incremental=way == "increment")

    def second(step: str, done: int, of: int) -> None:
        with pytest.raises(StoreBusy, match="target: another backup or restore is being written"):
            go(lambda *told: None)
        refused.append(step)

    go(second)
    assert {"copying", "checking"} <= set(refused)
    assert not [one.name for one in files_of(tmp_path) if ".part" in one.name]
    if way != "restore":
        restored(target, tmp_path / "restored.db")
        with opened(tmp_path / "restored.db") as memory:
            assert len(memory.of("alice").pages()) == (1 if way == "file" else 2)


# ---------------------------------------------------------------------------------------------------------- increments


def test_each_backup_of_a_chain_gives_the_store_as_it_was_and_increments_hold_little(
    tmp_path: Path, away: Path, clock: Clock
) -> None:
    file, folder = tmp_path / "memory.db", tmp_path / "folder"
    made: list[tuple[Backup, dict[str, list[tuple[Any, ...]]]]] = []
    with opened(file, clock) as memory:
        fill_every_table(memory, clock)
        for n in range(4):
            memory.of("alice").add(f"I saw {n} herons.", "I see.")
            if n % 2:
                memory.of("bob").settle()
            before = contents(file, without=OWN)
            made.append((memory.backup(folder, incremental=True), before))
    assert [one.incremental for one, _ in made] == [False, True, True, True]
    assert all(one.bytes < made[0][0].bytes / 2 for one, _ in made[1:])
    for one, before in made:
        assert held(Path(one.place), away) == before
    assert held(folder, away) == made[-1][1]


def test_the_last_backups_are_kept_with_what_they_rest_on_and_nothing_else_is_touched(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    with opened(tmp_path / "memory.db") as memory:
        alice = memory.of("alice")
        for n in range(6):
            alice.add("Hello " * 200)
            memory.backup(folder, incremental=n != 3)
        (folder / "backup-0001-notes.db").write_text("mine")
        (folder / "other.db").write_text("mine")
        last = memory.backup(folder, incremental=True, keep=2)
        left = {one.name for one in folder.iterdir() if one.suffix in (".db", ".pages")}
        assert {name[:11] for name in left} == {*(f"backup-000{n}" for n in (1, 4, 5, 6, 7)), "other.db"}
        assert "backup-0001-notes.db" in left
        assert len(last.dropped) == 3
        assert [one.bytes is None for one in memory.copies()] == [False] * 4
        for one in memory.copies():
            restored(Path(one.place), tmp_path / f"{Path(one.place).name}.restored")


@pytest.mark.parametrize("what", ["file", pytest.param("manifest", marks=pytest.mark.proof)])
def test_a_gap_in_a_chain_keeps_no_new_backup_from_being_made_and_no_good_one_from_being_kept(
    tmp_path: Path, what: str
) -> None:
    folder = tmp_path / "folder"
    with opened(tmp_path / "memory.db") as memory:
        alice, made = memory.of("alice"), list[Path]()
        for n in range(4):
            alice.add("Hello " * 200)
            made.append(Path(memory.backup(folder, incremental=n != 1).place))
        good, gap = made[0], made[1] if what == "file" else Path(f"{made[1]}.json")
        assert [one.suffix for one in made] == [".db", ".db", ".pages", ".pages"]
        before = gap.read_bytes()
        gap.unlink() if what == "file" else gap.write_bytes(before[:-9])
        with pytest.raises((NotFound, StoreCorrupt), match=r"backup-0002.*(not there: put|cannot be read)"):
            restored(folder, tmp_path / "no.db")
        newer = memory.backup(folder, incremental=True, keep=2, drop_forgotten=True)
        assert (newer.incremental, newer.dropped) == (False, ())
        assert memory.backup(folder, incremental=True).after == Path(newer.place).name
        restored(folder, tmp_path / "restored.db")
        restored(good, tmp_path / "good.db")
        gap.write_bytes(before)
        restored(made[3], tmp_path / "put back.db")
        assert memory.backup(folder, keep=2).dropped == tuple(str(one) for one in made)


def test_a_folder_with_backups_of_another_store_is_refused(tmp_path: Path) -> None:
    for name in ("one.db", "other.db"):
        with opened(tmp_path / name) as memory:
            memory.of("alice").add("Hello")
            if name == "one.db":
                memory.backup(tmp_path / "folder", keep=1)
                continue
            with pytest.raises(InputError, match="backups of another store"):
                memory.backup(tmp_path / "folder", keep=1)


# ---------------------------------------------------------------------------------------------------------- forgetting


def lived(memory: Memory, pages: int, seed: int) -> dict[tuple[str, str], set[bytes]]:
    """Users who talk by turns; the rare words of each page."""
    rng, said = random.Random(seed), dict[tuple[str, str], set[bytes]]()
    for n in range(pages):
        words = [f"w{rng.getrandbits(48):012x}x" for _ in range(3)]
        filler = " ".join(rng.choices(("the", "river", "was", "high"), k=rng.choice((2, 9, 20))))
        user = f"user{n % 3}"
        page = memory.of(user).add(f"I saw {' and '.join(words)} {filler}.")
        said[user, page] = {word.encode() for word in words}
        if n % 8 == 7:
            memory.of(user).settle()
    return said


def test_a_backup_never_takes_the_name_of_a_file_of_the_store_itself(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as memory:
        memory.of("user").add("Hello.")
        for end in ("-wal", "-shm", "-journal", "-cache", ".key"):
            with pytest.raises(InputError, match="belongs to the store"):
                memory.backup(tmp_path / f"memory.db{end}")
    assert not list(tmp_path.glob("*.part*"))


@pytest.mark.parametrize(
    "pending", [pytest.param(False, marks=pytest.mark.proof), True], ids=["scrubbed", "before the scrub"]
)
def test_a_new_backup_holds_no_byte_of_what_was_forgotten_before(tmp_path: Path, pending: bool) -> None:
    file, folder = tmp_path / "memory.db", tmp_path / "folder"
    impatient = {**SMALL, "busy_timeout_s": 0.5}  # a forgetting waits so long for the reader
    with Memory(file, clock=Clock(), **impatient) as memory, closing(sqlite3.connect(file)) as reader:
        said = lived(memory, bounded(24, proofs=90), seed=4)
        memory.backup(tmp_path / "old.db")
        memory.backup(folder, incremental=True)
        said |= lived(memory, 6, seed=5)
        assert memory.backup(folder, incremental=True).incremental
        if pending:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM utterance").fetchall()
        gone = [key for key in said if key[0] == "user1"]
        receipts = [memory.of(user).forget(page=page) for user, page in gone[:-2]]
        assert receipts[0].scrub_pending == pending
        older_ones = {str(one) for one in (tmp_path / "old.db", *folder.glob("*.db"), *folder.glob("*.pages"))}
        assert set(receipts[0].backups) == older_ones
        memory.forget_user("user2")
        forgotten = set().union(*(said[key] for key in said if key in gone[:-2] or key[0] == "user2"))
        assert words_in(*files_of(folder)) & forgotten

        memory.backup(tmp_path / "new.db")
        newer = memory.backup(folder, incremental=True)
        assert not newer.incremental
        assert not words_in(*tmp_path.glob("new.db*"), *folder.glob(f"{Path(newer.place).name}*")) & forgotten
        assert words_in(Path(newer.place)) == set().union(*said.values()) - forgotten
        holding = {one.place: one.holds_forgotten for one in memory.copies(look=True)}
        assert holding == {**dict.fromkeys(older_ones, True), str(tmp_path / "new.db"): False, newer.place: False}
        assert set(memory.of("user1").verify(receipts[0]).backups) == older_ones

        reader.rollback()
        memory.scrub()
        assert len(memory.backup(folder, drop_forgotten=True).dropped) == 3
        assert not words_in(*files_of(folder)) & forgotten
        memory.of("user0").add("And on it goes.")
        assert memory.backup(folder, incremental=True).incremental
        assert not words_in(*files_of(folder)) & forgotten
        (tmp_path / "old.db").unlink()
        shown = {one.place: one.bytes for one in memory.copies()}
        assert shown[str(tmp_path / "old.db")] is None
        assert memory.of("user1").verify(receipts[0]).backups == ()


@pytest.mark.parametrize("way", [pytest.param("folder", marks=pytest.mark.proof), "file", "copy"])
def test_a_restored_store_names_what_it_was_made_of_and_what_it_replaced_while_they_hold_what_it_forgot(
    tmp_path: Path, clock: Clock, way: str
) -> None:
    file, folder, single = tmp_path / "memory.db", tmp_path / "folder", tmp_path / "single.db"
    with opened(file, clock) as memory:
        page = memory.of("alice").add("I live in Lyon.")
        made = [Path(memory.backup(folder, incremental=True).place)]
        memory.of("alice").add("I live in Oslo.")
        made.append(Path(memory.backup(folder, incremental=True).place))
        memory.backup(single)
    if way == "copy":
        Path(f"{single}.json").unlink()
    source, holding = (folder, made) if way == "folder" else (single, [*made, single])
    replaced = restored(source, file, replace=True).replaced
    with opened(file, clock) as memory:
        receipt = memory.of("alice").forget(page=page)
        assert {*receipt.backups} == {str(replaced), *map(str, holding)}
        assert {one.place for one in memory.copies(look=True) if one.holds_forgotten} == {*receipt.backups}
        assert not any(one.of_migration for one in memory.copies())
        for one in receipt.backups:
            Path(one).unlink()
        assert memory.of("alice").verify(receipt).backups == ()


# ------------------------------------------------------------------------------------------------------------ restoring


def test_a_damaged_backup_is_not_restored(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    with opened(tmp_path / "memory.db") as memory:
        lived(memory, 12, seed=6)
        whole = Path(memory.backup(folder, incremental=True).place)
        memory.of("user0").add("Hello")
        pages = Path(memory.backup(folder, incremental=True).place)
    manifest = Path(f"{whole}.json")
    for damaged in (whole, pages, manifest, Path(f"{pages}.json")):
        good = damaged.read_bytes()
        damaged.write_bytes(good[: len(good) // 2] + bytes([good[len(good) // 2] ^ 64]) + good[len(good) // 2 + 1 :])
        with pytest.raises(StoreError):
            restored(folder, tmp_path / "restored.db")
        damaged.write_bytes(good[:-100])
        with pytest.raises(StoreError):
            restored(folder, tmp_path / "restored.db")
        damaged.unlink()
        with pytest.raises((NotFound, StoreCorrupt)):
            restored(pages, tmp_path / "restored.db")
        damaged.write_bytes(good)
    assert {one.name for one in tmp_path.iterdir()} == {"memory.db", "folder"}
    restored(folder, tmp_path / "restored.db")
    whole.write_bytes(whole.read_bytes()[:-1] + b"x")
    with opened(tmp_path / "memory.db") as memory:
        assert not memory.backup(folder, incremental=True).incremental  # nothing new rests on what is damaged
    restored(folder, tmp_path / "after.db")


def test_a_backup_that_was_renamed_with_its_manifest_is_restored_and_no_other_file_is_taken_for_it(
    tmp_path: Path,
) -> None:
    folder, names = tmp_path / "folder", ("old", "new")
    with opened(tmp_path / "memory.db") as memory:
        for name in names:
            memory.of("alice").add(f"I am {name}.")
            made = Path(memory.backup(tmp_path / "backup.db").place)
            made.rename(tmp_path / f"{name}.db")
            Path(f"{made}.json").rename(tmp_path / f"{name}.db.json")
        memory.backup(folder, incremental=True)
        memory.of("alice").add("I am in the folder.")
        pages = Path(memory.backup(folder, incremental=True).place)
    (tmp_path / "backup.db").write_bytes((tmp_path / "old.db").read_bytes())
    for count, name in enumerate(names, 1):
        restored(tmp_path / f"{name}.db", tmp_path / f"{name}.restored")
        with opened(tmp_path / f"{name}.restored") as memory:
            assert [page.query for page in memory.of("alice").pages()] == [f"I am {one}." for one in names[:count]]
    pages.rename(folder / "last.pages")
    Path(f"{pages}.json").rename(folder / "last.pages.json")
    restored(folder / "last.pages", tmp_path / "last.restored")
    with opened(tmp_path / "last.restored") as memory:
        assert len(memory.of("alice").pages()) == 3


def test_a_file_that_is_no_store_and_a_newer_one_are_not_restored(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("CREATE TABLE a (b)")
    (tmp_path / "text.db").write_text("Hello " * 1000)
    with opened(tmp_path / "memory.db") as memory:
        memory.of("alice").add("Hello")
        memory.backup(tmp_path / "newer.db")
    with closing(sqlite3.connect(tmp_path / "newer.db")) as newer:
        newer.execute("UPDATE ember_version SET version_num = '9999'")
        newer.commit()
    Path(tmp_path / "newer.db.json").unlink()
    for name, said in (("other.db", "not an Ember store"), ("text.db", "damaged"), ("newer.db", "newer version")):
        with pytest.raises(StoreError, match=said):
            restored(tmp_path / name, tmp_path / "restored.db")
    with pytest.raises(NotFound):
        restored(tmp_path / "nowhere.db", tmp_path / "restored.db")
    assert not list(tmp_path.glob("restored.db*"))


def test_a_store_is_replaced_only_if_asked_and_if_nobody_has_it_open_and_the_old_one_is_kept(
    tmp_path: Path, clock: Clock
) -> None:
    file = tmp_path / "memory.db"
    with opened(file, clock) as memory:
        page = memory.of("alice").add("I live in Lyon.")
        memory.backup(tmp_path / "backup.db")
        memory.of("alice").add("I live in Oslo.")
        memory.of("alice").forget(page=page)

    def use() -> None:
        with opened(file) as memory:
            memory.of("alice").pages()
            print("open", flush=True)
            time.sleep(60)

    with pytest.raises(InputError, match="--replace"):
        restored(tmp_path / "backup.db", file)
    user = Child(use)
    assert user.stdout.readline() == "open\n"
    with pytest.raises(StoreBusy, match="open in another process"):
        restored(tmp_path / "backup.db", file, replace=True)
    user.kill()
    user.wait()
    made = restored(tmp_path / "backup.db", file, replace=True)
    assert made.replaced == f"{file}.replaced-1"
    with opened(file) as memory, opened(Path(made.replaced)) as old:
        assert [page.query for page in memory.of("alice").pages()] == ["I live in Lyon."]
        assert [page.query for page in old.of("alice").pages()] == ["I live in Oslo."]
        assert old.check() == old.check(deep=False)
    assert not [one for one in tmp_path.iterdir() if one.name.endswith((".part", "-wal", "-shm"))]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_the_log_of_a_damaged_store_is_moved_away_with_it_and_not_read_as_that_of_the_new_one(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    with opened(file) as memory:
        memory.of("alice").add("I live in Lyon.")
        memory.backup(tmp_path / "backup.db")

    def change() -> None:
        with closing(sqlite3.connect(file, isolation_level=None)) as raw:
            raw.execute("UPDATE utterance SET text = 'stale'")
            os.kill(os.getpid(), signal.SIGKILL)

    Child(change).wait()
    assert b"stale" not in file.read_bytes()
    file.write_bytes(b"damaged " * 13 + file.read_bytes()[104:])
    made = restored(tmp_path / "backup.db", file, replace=True)
    with opened(file) as memory:
        assert [page.query for page in memory.of("alice").pages()] == ["I live in Lyon."]
    assert made.replaced is not None
    left = (Path(made.replaced), Path(f"{made.replaced}-wal"))  # SQLite may have written the log into the file
    assert any(b"stale" in one.read_bytes() for one in left if one.exists())


def test_a_store_that_was_made_at_the_place_meanwhile_is_not_replaced_unless_asked(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as memory:
        memory.of("alice").add("Hello")
        memory.backup(tmp_path / "backup.db")

    def make(step: str, done: int, of: int) -> None:
        with opened(tmp_path / "new.db") as memory:
            memory.of("bob").add("Hello")

    with pytest.raises(InputError, match="already exists"):
        restore_store(tmp_path / "backup.db", tmp_path / "new.db", load(**SMALL), wall_clock(), make)
    with opened(tmp_path / "new.db") as memory:
        assert len(memory.of("bob").pages()) >= 1
    assert not list(tmp_path.glob("new.db.replaced*"))


def test_a_store_behind_a_link_is_replaced_where_it_is_and_its_key_lies_beside_the_name_it_is_opened_by(
    tmp_path: Path,
) -> None:
    (tmp_path / "data").mkdir()
    file, link = tmp_path / "data" / "memory.db", tmp_path / "link.db"
    link.symlink_to(file)
    with opened(link) as memory:
        pages = [memory.of("alice").add(f"I live in {city}.") for city in ("Lyon", "Oslo")]
        memory.of("alice").forget(page=pages[0])
        memory.backup(tmp_path / "backup.db")
        memory.of("alice").add("I live in Kiel.")
    made = restored(tmp_path / "backup.db", link, replace=True)
    assert made.place == str(link)
    assert link.is_symlink()
    assert made.replaced == f"{file}.replaced-1"
    for place, cities in ((link, ["Oslo"]), (file, ["Oslo"]), (Path(made.replaced), ["Oslo", "Kiel"])):
        with opened(place) as memory:
            assert [page.query for page in memory.of("alice").pages()] == [f"I live in {city}." for city in cities]
    with opened(link) as memory:
        memory.of("alice").forget(page=pages[1])
    file.unlink()
    restored(tmp_path / "backup.db", link)
    assert link.is_symlink()
    assert file.exists()


def test_a_log_that_was_left_of_a_store_that_is_gone_is_not_read_as_that_of_the_new_one(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as memory:
        memory.of("alice").add("Hello")
        memory.backup(tmp_path / "backup.db")
    (tmp_path / "memory.db").unlink()
    (tmp_path / "memory.db-wal").write_bytes(b"left")
    with pytest.raises(InputError, match=r"memory\.db-wal is left"):
        restored(tmp_path / "backup.db", tmp_path / "memory.db")


# -------------------------------------------------------------------------------------------- killed, and full disks


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_what_was_killed_leaves_the_store_as_it_was_and_the_next_run_leaves_nothing_of_it(
    tmp_path: Path, away: Path, clock: Clock
) -> None:
    file, folder, chance, hit = tmp_path / "memory.db", tmp_path / "folder", random.Random(SEED), 0
    with opened(file, clock) as memory:
        fill_every_table(memory, clock, users=("alice",))
        at = clock.now
        clock.go(60)
        memory.of("alice").add("I moved to Bergen.", "I see.")
        memory.of("alice").settle()
        memory.backup(folder, incremental=True)
        memory.of("alice").add("And on it goes.", "I see.")
    (tmp_path / "out").mkdir()
    before = contents(file, without=OWN)

    def go(way: str) -> None:
        settings, now, target = load(**SMALL), clock.now, tmp_path / "out" / "new.db"
        if way == "file":
            back_up_store(file, target, settings, now, lambda *told: None)
        elif way == "increment":
            back_up_store(file, folder, settings, now, lambda *told: None, incremental=True)
        else:
            then = at if way == "time" else None
            restore_store(folder, target, settings, now, lambda *told: None, at=then)

    def clear() -> None:
        for one in files_of(tmp_path / "out"):
            one.unlink()

    for way in ("file", "increment", "restore", "time"):
        begun = time.monotonic()
        go(way)
        took = time.monotonic() - begun
        clear()
        for _ in range(KILLS // 4):
            child = Child(partial(go, way))
            time.sleep(chance.uniform(0, 1.2 * took))
            child.kill()
            hit += child.wait() == -signal.SIGKILL
            assert contents(file, without=OWN) == before
            if (tmp_path / "out" / "new.db").exists():  # it was whole before the blow
                clear()
            go(way)
            names = {one.name for one in files_of(tmp_path / "out")}
            assert names <= {"new.db", "new.db.json", "new.db.key"}
            assert not [
                one for one in files_of(folder) if not re.fullmatch(r".*Z\.(db|pages)(\.json|\.key)?", one.name)
            ]
            known = {one.name for one in folder.iterdir() if one.suffix in (".db", ".pages")}
            assert {f"{name}.json" for name in known} == {one.name for one in folder.glob("*.json")}
            if way == "time":
                with opened(tmp_path / "out" / "new.db", clock) as memory:
                    assert [one.what for one in memory.check(deep=True) if one.level == "error"] == []
            else:
                found = contents(tmp_path / "out" / "new.db", without=OWN) if names else held(folder, away)
                assert {**found, "store": None} == {**before, "store": None} or way == "restore"
            clear()
        print(f"{way}: {hit} of {KILLS} killed, in {took:.2f} s each")


def test_what_a_killed_run_left_is_named_when_something_is_forgotten_and_the_next_backup_removes_it(
    tmp_path: Path, clock: Clock
) -> None:
    file, folder, out, settings = tmp_path / "memory.db", tmp_path / "folder", tmp_path / "out", load(**SMALL)
    out.mkdir()
    folder.mkdir()
    left: dict[Path, bytes] = {}

    def killed(step: object, *of: int) -> None:
        """What is there when the words are: the blow that leaves it is struck here."""
        if step == "checking":
            parts = [one for one in files_of(tmp_path) if one.suffix == ".part"]
            left.update((one, one.read_bytes()) for one in parts if one not in left)
            raise KeyboardInterrupt

    def stopped(at: object) -> None:
        raise KeyboardInterrupt

    with Memory(file, clock=clock, **SMALL) as memory:
        alice = memory.of("alice")
        alice.add("I live in Lyon.")
        ways: dict[Path, Callable[[], object]] = {
            out / "today.db.part": lambda: memory.backup(out / "today.db", progress=killed),
            folder / "backup-0001-20260502T100000Z.db.part": lambda: memory.backup(folder, progress=killed),
            out / "outside.db.part": lambda: back_up_store(file, out / "outside.db", settings, clock.now, killed),
            out / "new.db.part": lambda: restore_store(out / "b.db", out / "new.db", settings, clock.now, killed),
            file.with_name("memory.db.part"): lambda: restore_store(
                out / "b.db", file, settings, clock.now, killed, replace=True
            ),
            out / "copy.db": lambda: copy_store(file, out / "copy.db", settings, clock.now, stopped),
        }
        for place, begun in ways.items():
            for one in out.glob("b.db*"):
                one.unlink()
            memory.backup(out / "b.db")
            assert not [one for one in files_of(tmp_path) if one.suffix == ".part" and one.parent != tmp_path]
            page = alice.add(f"I was in {place.name}.")
            left.clear()
            with pytest.raises(KeyboardInterrupt):
                begun()
            for part, held in left.items():
                part.write_bytes(held)
            assert [*left] == ([place] if place.suffix == ".part" else [])
            receipt = alice.forget(page=page)
            assert str(place) in receipt.backups or place.name == "copy.db"
            assert alice.verify(receipt).backups == receipt.backups
            assert place.name == "copy.db" or str(place) in {
                one.place for one in memory.copies(look=True) if one.holds_forgotten
            }
            assert str(place) in {one.place for one in memory.copies()}
    with output(str(out / "export.jsonl"), file) as export:
        export.write(b"I live in Lyon.")
        export.flush()
        assert not [one for one in files_of(out) if one.name.startswith("export")]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    told = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if os.name != "posix" or os.geteuid() != 0 or subprocess.run(told, check=False, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=False)


def test_a_full_disk_is_told_and_leaves_no_half_backup_and_no_half_store(tmp_path: Path, small_disk: Path) -> None:
    with opened(tmp_path / "memory.db") as memory:
        memory.of("alice").add("Hello " * 100_000)
        memory.of("alice").add("Hello " * 100_000)

        def fill(step: str, done: int, of: int) -> None:
            (small_disk / "filler").write_bytes(bytes(700_000))

        for incremental in (False, True):
            target = small_disk / "folder" if incremental else small_disk / "backup.db"
            with pytest.raises(StoreFull, match="no room"):
                memory.backup(target, incremental=incremental)
        memory.backup(tmp_path / "backup.db")
    with pytest.raises(StoreFull, match="no room"):
        restored(tmp_path / "backup.db", small_disk / "memory.db")
    assert files_of(small_disk) == []


# --------------------------------------------------------------------------------------------------------- the commands


def test_the_commands_back_up_list_and_restore(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    run(store, "add", "I live in Lyon.")
    folder, target = tmp_path / "folder", tmp_path / "restored.db"
    made = run(store, "backup", str(folder), "--incremental", "--keep", "3", "--json")
    assert (made.code, made.json["utterances"], made.json["after"]) == (0, 1, None)
    run(store, "add", "I live in Oslo.")
    again = run(store, "backup", str(folder), "--incremental")
    assert again.code == 0
    assert "pages that differ from backup-0001" in again.out
    listed = run(store, "backup", "--list", "--json").json
    assert [(one["increment"], one["holds_forgotten"]) for one in listed] == [(False, False), (True, False)]
    assert "holds nothing that was forgotten since" in run(store, "backup", "--list").out
    back = run(store, "restore", str(folder), str(target), "--check", "--json")
    assert (back.code, back.json["utterances"]) == (0, 2)
    assert [one for one in back.json["findings"] if one["level"] == "error"] == []
    for words, code in ((("backup", str(folder / "no" / "x.db")), 1), (("backup",), 2), (("restore", "x", "y"), 1)):
        assert run(store, *words).code == code
    assert run(store, "restore", str(folder), str(target)).code == 1
    assert run(store, "restore", str(folder), str(target), "--replace").code == 0
    assert run(tmp_path / "nowhere.db", "backup", str(tmp_path / "x.db")).code == 1
    assert not (tmp_path / "nowhere.db").exists()
    assert any("backups" in one["what"] for one in run(store, "doctor", "--json").json["checks"])


def test_of_a_store_on_a_server_the_command_says_what_to_run_without_the_password() -> None:
    url = "postgresql://ember:sesame@db.example.org:5433/mem?sslmode=require"
    told = run(Path("unused"), "--store", url, "backup", "mem.dump")
    assert told.code == 1
    assert "sesame" not in told.out + told.err
    assert "pg_dump --format=custom --file=" in told.out
    assert "--dbname='postgresql://ember@db.example.org:5433/mem?sslmode=require'" in told.out
    assert "pg_basebackup -h db.example.org -p 5433 -U ember" in told.out
    assert len(run(Path("unused"), "--store", url, "backup", "mem.dump", "--json").json["commands"]) == 4
