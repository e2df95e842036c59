"""`migrate`, `export`, `import` and `copy`, killed with SIGKILL at random moments: run again, they come to the end that
an undisturbed run comes to, and leave nothing behind. KILLS=500 kills each so often; SEED is the first seed."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from running import environment, run

from embermem import Memory
from embermem.cli.main import app
from embermem.core.errors import StoreError
from embermem.store import schema
from embermem.store.admin import copying
from embermem.store.backup_list import BEGUN, COPIES
from embermem.store.forgotten_key import KEY_MARK
from embermem.store.statements import SCRUBBED
from lives import contents, fill_every_table
from older import BEFORE, VERSION, content, older
from proofs import bounded
from scripted import SMALL, Clock, Place
from soundness import assert_sound, rows

KILLS, SEED = int(os.environ.get("KILLS", bounded(2, proofs=20))), int(os.environ.get("SEED", "1"))
OWN = (copying.FINISHED, BEGUN, COPIES, SCRUBBED)
"""Settings that a copy has of its own."""
OWN_OF_EACH = (*OWN, "nonce_key", KEY_MARK)
"""Settings that every store makes for itself."""

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def started(store: str | Path, *arguments: str) -> int:
    """The command in a process of its own, which begins at once: everything is imported already. Its id."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.environ.update(environment(Path("unused")), EMBERMEM_STORE=str(store))
            null = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(null, stream)
            app(list(arguments))
        except SystemExit as ended:
            code = int(ended.code or 0)
        finally:
            os._exit(code)
    return child


def ended(child: int) -> int:
    """Its exit code; minus the signal that killed it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def whole(store: str | Path, *arguments: str) -> float:
    """The command to its end, in a process of its own; how many seconds that took."""
    begun = time.monotonic()
    assert ended(started(store, *arguments)) == 0, arguments
    return time.monotonic() - begun


def warmed(store: str | Path, *arguments: str) -> None:
    """The command to its end in this process, which imports all that it needs: those to be killed begin at once."""
    done = run(Path("unused"), "--store", str(store), *arguments)
    assert done.code == 0, done.err


def kills(took: float, chance: random.Random, begin: Callable[[], int], between: Callable[[], object]) -> int:
    """Start it again and again, and kill it at a random moment of the time that it takes; how often it was hit before
    its end. `between` looks at what each blow left."""
    hit = 0
    for _ in range(KILLS):
        child = begin()
        time.sleep(chance.uniform(0, took))
        os.kill(child, signal.SIGKILL)
        hit += ended(child) == -signal.SIGKILL
        between()
    return hit


def names(folder: Path) -> set[str]:
    """Of files, but for what SQLite keeps beside one that was not closed."""
    return {one.name for one in folder.iterdir() if not one.name.endswith(("-wal", "-shm"))}


def assert_clean(place: str | Path) -> None:
    """`doctor --deep` finds nothing, but that the key of forgotten values was not brought along."""
    assert_sound(place)
    with Memory(place, **SMALL) as memory:
        found = [one.what for one in memory.check(deep=True) if one.level == "error"]
    assert [one for one in found if "the key of what was forgotten" not in one] == []


def three(memory: Memory, clock: Clock) -> None:
    """Something in every table, of three users."""
    fill_every_table(memory, clock, users=("alice",))
    for user in ("bob", "carol"):
        memory.of(user, "tutor").add("I live in Rome.", "I see.", key="home")
        memory.of(user, "tutor").settle()


@pytest.fixture
def lived(lived_in: Callable[..., str | Path]) -> str | Path:
    """A store with something in every table."""
    return lived_in(three, "lived.db")


@pytest.mark.sqlite
def test_a_migration_that_was_killed_has_not_begun_or_is_done_and_the_next_opens_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance, hit, left = random.Random(SEED), 0, set[str]()
    (tmp_path / "old").mkdir()
    old = older(tmp_path / "old" / "memory.db", monkeypatch)
    before, bytes_of = content(old), old.read_bytes()
    whole_one = tmp_path / "whole.db"
    whole_one.write_bytes(bytes_of)
    warmed(whole_one, "migrate")
    timed = tmp_path / "timed.db"
    timed.write_bytes(bytes_of)
    took = whole(timed, "migrate")
    for number in range(KILLS):
        folder = tmp_path / str(number)
        folder.mkdir()
        file = folder / "memory.db"
        file.write_bytes(bytes_of)
        child = started(file, "migrate")
        time.sleep(chance.uniform(0, took))
        os.kill(child, signal.SIGKILL)
        hit += ended(child) == -signal.SIGKILL
        left |= names(folder)
        (version,) = rows(file, VERSION)
        assert version["version_num"] in (BEFORE, schema.HEAD)
        assert content(file) == before
        whole(file, "migrate")
        assert content(file) == before
        assert contents(file) == contents(whole_one)
        assert names(folder) == {"memory.db", f"memory.db.before-{schema.HEAD}"}
        backup = folder / f"memory.db.before-{schema.HEAD}"
        assert (content(backup), rows(backup, VERSION)) == (before, [{"version_num": BEFORE}])
        assert_clean(file)
    print(f"{hit} of {KILLS} migrations killed, in {took:.2f} s each; files that they left: {sorted(left)}")
    assert hit or KILLS < 10  # a few blows may all come too late


def test_an_export_that_was_killed_leaves_no_file_under_its_name_and_the_next_is_whole(
    lived: str | Path, tmp_path: Path, engine: str
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    before = contents(lived, without=OWN)
    warmed(lived, "export", str(tmp_path / "whole.jsonl"), "--vectors")
    took = whole(lived, "export", str(tmp_path / "timed.jsonl"), "--vectors")
    expected = (tmp_path / "whole.jsonl").read_bytes().splitlines()[1:]

    def between() -> None:
        assert names(folder) <= {"out.jsonl.part", "out.jsonl"}
        if (folder / "out.jsonl").exists():
            assert (folder / "out.jsonl").read_bytes().splitlines()[1:] == expected
            (folder / "out.jsonl").unlink()

    begin = lambda: started(lived, "export", str(folder / "out.jsonl"), "--vectors")  # noqa: E731
    hit = kills(took, random.Random(SEED), begin, between)
    assert contents(lived, without=OWN) == before
    whole(lived, "export", str(folder / "out.jsonl"), "--vectors")
    between()
    assert names(folder) == set()
    print(f"{hit} of {KILLS} exports killed, in {took:.2f} s each")
    assert hit or KILLS < 10  # a few blows may all come too late


def test_an_import_that_was_killed_has_each_user_whole_or_not_at_all_and_the_next_brings_the_rest(
    lived: str | Path, place: Place, tmp_path: Path
) -> None:
    file = tmp_path / "all.jsonl"
    warmed(lived, "export", str(file), "--vectors")
    warmed(place("whole.db"), "import", str(file))
    took = whole(place("timed.db"), "import", str(file))
    expected = contents(place("whole.db"), without=OWN_OF_EACH)
    chance, hit = random.Random(SEED), 0
    for number in range(max(1, KILLS // 3)):
        target = place(f"target{number}.db")

        def between(target: str | Path = target) -> None:
            if not isinstance(target, Path) or target.exists():
                with Memory(target, **SMALL) as memory:
                    users = {owner.user for owner in memory.owners()}
                    assert users <= {"alice", "bob", "carol"}
                    assert all(memory.of(owner.user, owner.agent).changes() for owner in memory.owners())
                assert_clean(target)

        for _ in range(bounded(1, proofs=3)):
            child = started(target, "import", str(file), "--leave-out")
            time.sleep(chance.uniform(0, took))
            os.kill(child, signal.SIGKILL)
            hit += ended(child) == -signal.SIGKILL
            between()
        whole(target, "import", str(file), "--leave-out")
        found = contents(target, without=OWN_OF_EACH)
        assert {name: timeless(found[name]) for name in found if name != "owner"} == {
            name: timeless(expected[name]) for name in expected if name != "owner"
        }
        assert [row[:5] for row in found["owner"]] == [row[:5] for row in expected["owner"]]
    print(f"{hit} imports killed, in {took:.2f} s each")
    assert hit or KILLS < 10  # a few blows may all come too late


def timeless(found: list[tuple[object, ...]]) -> str:
    """Rows, as a hash that a difference is told by."""
    return hashlib.sha256(repr(found).encode()).hexdigest()


def test_a_copy_that_was_killed_is_opened_by_nobody_and_goes_on_to_the_same_end(
    lived: str | Path, place: Place, tmp_path: Path
) -> None:
    before = contents(lived, without=OWN)
    warmed(lived, "copy", str(lived), str(tmp_path / "whole.db"))
    took = whole(lived, "copy", str(lived), str(tmp_path / "timed.db"))
    chance, hit = random.Random(SEED), 0
    for number in range(max(1, KILLS // 3)):
        target = tmp_path / f"target{number}.db"
        for _ in range(bounded(1, proofs=3)):
            child = started(lived, "copy", str(lived), str(target))
            time.sleep(chance.uniform(0, took))
            os.kill(child, signal.SIGKILL)
            hit += ended(child) == -signal.SIGKILL
            if target.exists():
                unfinished(target)
        done = started(lived, "copy", str(lived), str(target))
        if ended(done) != 0:  # it was whole before the last blow
            assert "copied_from" in str(rows(target, "SELECT key FROM store"))
        assert contents(target, without=OWN) == before
        assert_clean(target)
    assert contents(lived, without=OWN) == before
    assert names(tmp_path) >= {"whole.db"}
    assert not [name for name in names(tmp_path) if name.endswith(".part")]
    print(f"{hit} copies killed, in {took:.2f} s each")
    assert hit or KILLS < 10  # a few blows may all come too late


def unfinished(target: Path) -> None:
    """It is not opened before it is whole."""
    mark = []
    with closing(sqlite3.connect(target)) as file:  # what the killed process had begun is rolled back
        file.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if target.stat().st_size and rows(target, "SELECT name FROM sqlite_master WHERE name = 'store'"):
        mark = rows(target, "SELECT value FROM store WHERE key = ?", copying.UNFINISHED)
    if mark:
        with pytest.raises(StoreError, match="unfinished copy"):
            Memory(target, **SMALL)
