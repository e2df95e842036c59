"""What a forgetting leaves in the bytes of an SQLite file: nothing, whoever else uses the file meanwhile."""

from __future__ import annotations

import random
import re
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from embermem import Memory
from embermem.store.engines.sqlite_slack import Damaged, RawFile, slack, wipe
from lives import copy_of
from proofs import bounded
from scripted import SMALL, Clock

pytestmark = pytest.mark.sqlite

WORD = re.compile(rb"w[0-9a-f]{12}x")
"""A word that one text only has."""


def word(rng: random.Random) -> str:
    return f"w{rng.getrandbits(48):012x}x"


def words_in(folder: Path) -> set[str]:
    """The words in the bytes of every file of a folder."""
    return {found.decode() for path in folder.iterdir() if path.is_file() for found in WORD.findall(path.read_bytes())}


def opened(path: Path) -> Memory:
    return Memory(path, clock=Clock(), **SMALL)


def told(memory: Memory, users: int, pages: int, seed: int) -> dict[tuple[str, str], set[str]]:
    """Users who talk by turns; the rare words of each page, by user and page."""
    rng, said = random.Random(seed), dict[tuple[str, str], set[str]]()
    for number in range(pages):
        user = f"user{number % users}"
        words = {word(rng) for _ in range(4)}
        filler = " ".join(
            rng.choices(("the", "river", "was", "high", "and", "cold", "today"), k=rng.choice((2, 5, 10, 20)))
        )
        page = memory.of(user).add(f"I saw {' and '.join(sorted(words))} {filler}.")
        said[user, page] = words
        if number % 10 == 9:
            memory.of(user).settle()
    return said


def test_no_forgotten_word_is_in_any_byte_after_pages_of_four_users_were_split(tmp_path: Path) -> None:
    with opened(tmp_path / "store.db") as memory:
        said = told(memory, users=4, pages=bounded(40, proofs=120), seed=1)
        gone = {key: words for key, words in said.items() if key[0] == "user1"}
        for user, page in gone:
            assert memory.of(user).forget(page=page).scrubbed
            assert not words_in(tmp_path) & gone[user, page]
    left = words_in(tmp_path)
    assert not left & set().union(*gone.values())
    assert left == set().union(*(words for key, words in said.items() if key not in gone))


def test_a_copy_holds_no_byte_of_what_was_forgotten_before(tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    path = tmp_path / "store.db"
    with opened(path) as memory, closing(sqlite3.connect(path)) as reader:
        said = told(memory, users=2, pages=bounded(20, proofs=60), seed=2)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM utterance").fetchall()  # the scrub of the source has to wait for it
        gone = [key for key in said if key[0] == "user1"][:3]
        memory.of("user1").forget_pages([page for _, page in gone])
        copy_of(memory, tmp_path / "copy" / "copy.db")
    assert not words_in(tmp_path / "copy") & set().union(*(said[key] for key in gone))


def test_pages_that_other_connections_hold_in_memory_do_not_bring_it_back(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with opened(path) as memory:
        said = told(memory, users=3, pages=bounded(24, proofs=90), seed=3)
        others = [sqlite3.connect(path, isolation_level=None) for _ in range(3)]
        gone = [key for key in said if key[0] == "user1"]
        for user, page in gone:
            for other in others:
                for table in ("utterance", "change", "page", "segment"):
                    other.execute(f"SELECT * FROM {table}").fetchall()
            assert memory.of(user).forget(page=page).scrubbed
            for other in others:
                other.execute("UPDATE utterance SET text = text WHERE seq % 3 = 0")
        for other in others:
            other.execute("PRAGMA wal_checkpoint(PASSIVE)")
            other.close()
    assert not words_in(tmp_path) & set().union(*(said[key] for key in gone))


def test_a_scrub_among_writers_ends_and_an_add_never_waits_for_it_longer_than_its_time_out(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    stop = threading.Event()
    failures: list[Exception] = []

    def write(user: str) -> None:
        with Memory(path, clock=Clock(), **{**SMALL, "busy_timeout_s": 5.0}) as mine:
            while not stop.is_set():
                try:
                    mine.of(user).add("The river was high.", "Yes.")
                except Exception as error:  # noqa: BLE001 - of a thread, told below
                    failures.append(error)
                    return

    with opened(path) as memory:
        said = told(memory, users=2, pages=bounded(16, proofs=40), seed=4)
        writers = [threading.Thread(target=write, args=(f"writer{n}",)) for n in range(2)]
        for writer in writers:
            writer.start()
        gone = [key for key in said if key[0] == "user1"][: bounded(3, proofs=6)]
        for user, page in gone:
            memory.of(user).forget(page=page)
        stop.set()
        for writer in writers:
            writer.join()
        assert memory.scrub()
    assert not failures
    assert not words_in(tmp_path) & set().union(*(said[key] for key in gone))


def findings(memory: Memory) -> list[str]:
    return [one.what for one in memory.check() if one.level != "ok"]


def test_the_doctor_takes_no_message_for_forgotten_that_was_rolled_back(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with opened(path) as memory:
        alice = memory.of("alice")
        alice.forget(page=alice.add("I saw a heron.", "Where?"))
        alice.add("I saw a crane.", "Where?")
        with closing(sqlite3.connect(path, isolation_level=None)) as writer:
            writer.execute("PRAGMA cache_size = 1")  # the pages of a long transaction go to the WAL before its end
            writer.execute("BEGIN IMMEDIATE")
            writer.execute("UPDATE utterance SET id = 'u06h088bznn31njzxfe49gzhx'")
            writer.executemany("INSERT INTO store VALUES (?, ?)", ((f"k{n}", "v" * 3000) for n in range(50)))
            assert b"u06h088bznn31njzxfe49gzhx" in Path(f"{path}-wal").read_bytes()
            assert findings(memory) == []
            writer.execute("ROLLBACK")
        assert b"u06h088bznn31njzxfe49gzhx" in Path(f"{path}-wal").read_bytes()
        assert findings(memory) == []


def test_the_doctor_takes_columns_that_follow_each_other_for_no_id(tmp_path: Path) -> None:
    with opened(tmp_path / "store.db") as memory:
        alice = memory.of("alice")
        alice.forget(page=alice.add("I saw a heron.", "Where?"))
        alice.add_messages([{"role": "user", "name": "occupation7nurseanalyst", "content": "I work as a nurse."}])
        assert re.search(rb"useroccupation7nurseanalyst", Path(f"{tmp_path / 'store.db'}-wal").read_bytes())
        assert findings(memory) == []


@pytest.mark.parametrize("folded", [False, True])
def test_the_doctor_sees_what_was_deleted_behind_its_back(tmp_path: Path, folded: bool) -> None:
    path = tmp_path / "store.db"
    with opened(path) as memory:
        alice = memory.of("alice")
        alice.forget(page=alice.add("I saw a heron.", "Where?"))
        alice.add("I saw a crane.")
        with closing(sqlite3.connect(path, isolation_level=None)) as writer:
            if folded:
                writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            writer.execute("PRAGMA secure_delete = OFF")
            writer.execute("DELETE FROM utterance")
        assert "bytes of 1 forgotten messages are in the store's files" in findings(memory)


# ------------------------------------------------------------------------------------------------------ the file format

STEPS = st.lists(
    st.tuples(
        st.sampled_from(["insert"] * 6 + ["delete"] * 3 + ["update", "many", "wipe"]),
        st.integers(0, 3000),
        st.integers(0, 9000),
    ),
    min_size=5,
    max_size=60,
)


def roots_of(connection: sqlite3.Connection) -> list[int]:
    return [row[0] for row in connection.execute("SELECT rootpage FROM sqlite_master WHERE rootpage > 0")]


@settings(max_examples=bounded(10, proofs=125), deadline=None)
@given(STEPS, st.sampled_from([512, 1024, 4096, 65536]), st.booleans(), st.integers(0, 2**32))
@example([*[("insert", 0, 0)] * 4, ("insert", 97, 120), ("update", 99, 1160)], 512, False, 0)
def test_wiping_changes_no_row_and_leaves_no_word_that_stands_in_none(
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[tuple[str, int, int]],
    page_size: int,
    secure: bool,
    seed: int,
) -> None:
    path, rng = tmp_path_factory.mktemp("slack") / "any.db", random.Random(seed)
    with closing(sqlite3.connect(path, isolation_level=None)) as c:
        c.execute("PRAGMA synchronous = OFF")
        c.execute(f"PRAGMA page_size = {page_size}")
        c.execute(f"PRAGMA secure_delete = {int(secure)}")
        c.execute("CREATE TABLE a (k INTEGER PRIMARY KEY, t TEXT)")
        c.execute("CREATE TABLE b (k INTEGER, t TEXT, PRIMARY KEY (t, k)) WITHOUT ROWID")
        c.execute("CREATE INDEX i ON a (t, k)")
        c.execute("CREATE TABLE c (t TEXT)")
        for step, number, length in steps:
            text = (word(rng) + " " * rng.randint(0, 30)) * (length // 20)
            table = "ab"[number % 2]
            if step == "insert":
                c.execute(f"INSERT OR REPLACE INTO {table} VALUES (?, ?)", (number, text))
            elif step == "many":
                c.execute("BEGIN")
                c.executemany("INSERT INTO c VALUES (?)", [(f"{word(rng)} {text[: length // 9]}",)] * 20)
                c.execute("COMMIT")
            elif step == "wipe":
                wipe(RawFile.of(path), roots_of(c))
            elif step == "delete":
                c.execute(f"DELETE FROM {table} WHERE k BETWEEN ? AND ?", (number, number + length // 20))
            else:
                c.execute(f"UPDATE {table} SET t = substr(t, 1, ?) WHERE k < ?", (length // 10, number))
        if seed % 4 == 0:
            c.execute("DROP TABLE c")
        before = list(c.iterdump())
        roots = roots_of(c)
    wipe(RawFile.of(path), roots)
    assert not list(slack(RawFile.of(path).read, roots))
    with closing(sqlite3.connect(path)) as c:
        assert c.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert list(c.iterdump()) == before
    left = {found.decode() for found in WORD.findall(path.read_bytes())}
    assert left <= {found.decode() for found in WORD.findall("\n".join(before).encode())}


def test_a_page_that_changed_since_it_was_walked_is_walked_again(tmp_path: Path) -> None:
    path, rng = tmp_path / "any.db", random.Random(3)
    for _ in range(3):
        with closing(sqlite3.connect(path, isolation_level=None)) as c:
            c.execute("PRAGMA secure_delete = OFF")
            c.execute("CREATE TABLE IF NOT EXISTS a (k INTEGER PRIMARY KEY, t TEXT)")
            c.execute("BEGIN")
            c.executemany("INSERT INTO a (t) VALUES (?)", [(f"{word(rng)} {'.' * 300}",) for _ in range(300)])
            c.execute("DELETE FROM a WHERE k % 7 = 3")
            c.execute("COMMIT")
            kept = {found for (text,) in c.execute("SELECT t FROM a") for found in WORD.findall(text.encode())}
            roots = roots_of(c)
        wipe(RawFile.of(path), roots)
        assert set(WORD.findall(path.read_bytes())) == kept
        assert not list(slack(RawFile.of(path).read, roots))
        assert RawFile.of(path).clean.marks.any()


def test_inner_pages_of_an_index_are_wiped_too(tmp_path: Path) -> None:
    path, rng = tmp_path / "any.db", random.Random(1)
    with closing(sqlite3.connect(path, isolation_level=None)) as c:
        c.execute("PRAGMA secure_delete = OFF")
        c.execute("CREATE TABLE a (t TEXT)")
        c.execute("CREATE INDEX i ON a (t)")
        c.execute("BEGIN")
        c.executemany("INSERT INTO a VALUES (?)", [(f"{word(rng)} {'.' * 400}",) for _ in range(2000)])
        c.execute("DELETE FROM a WHERE rowid % 3 > 0")
        c.execute("COMMIT")
        roots = dict(c.execute("SELECT name, rootpage FROM sqlite_master"))
        kept = {found for (text,) in c.execute("SELECT t FROM a") for found in WORD.findall(text.encode())}
    assert set(WORD.findall(_inner_pages(path, roots["i"]))) - kept
    wipe(RawFile.of(path), roots.values())
    assert set(WORD.findall(path.read_bytes())) == kept


def _inner_pages(path: Path, root: int) -> bytes:
    """The bytes of the pages of an index that name other pages (SQLite's file format, §1.6)."""
    raw, found, waiting = path.read_bytes(), b"", [root]
    while waiting:
        number = waiting.pop()
        page = raw[(number - 1) * 4096 : number * 4096]
        if page[0] == 2:
            found += page
            cells = (int.from_bytes(page[12 + 2 * n : 14 + 2 * n]) for n in range(int.from_bytes(page[3:5])))
            waiting += [int.from_bytes(page[at : at + 4]) for at in cells] + [int.from_bytes(page[8:12])]
    return found


@settings(max_examples=bounded(15, proofs=400), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2**20), st.integers(0, 255)), min_size=1, max_size=8))
def test_a_damaged_file_is_said_to_be_so_or_no_row_of_it_is_touched(
    tmp_path_factory: pytest.TempPathFactory, flips: list[tuple[int, int]]
) -> None:
    path = tmp_path_factory.mktemp("damaged") / "any.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as c:
        c.execute("PRAGMA synchronous = OFF")
        c.execute("CREATE TABLE a (k INTEGER PRIMARY KEY, t TEXT)")
        c.execute("BEGIN")
        c.executemany("INSERT INTO a VALUES (?, ?)", [(n, f"row {n} " * (n % 700)) for n in range(120)])
        c.execute("DELETE FROM a WHERE k % 5 = 0")
        c.execute("COMMIT")
        roots = roots_of(c)
    raw = bytearray(path.read_bytes())
    for at, value in flips:
        raw[at % len(raw)] = value
    try:
        spans = list(slack(lambda start, count: bytes(raw[start : start + count]), roots))
    except Damaged:
        spans = []  # nothing would be written
    assert all(0 <= start < end <= len(raw) for start, end in spans)


def test_other_processes_locks_outlive_a_look_at_the_bytes(tmp_path: Path) -> None:
    """POSIX gives up a process's locks on a file when any descriptor of it is closed: ours is not."""
    path = tmp_path / "store.db"
    with opened(path) as memory:
        alice = memory.of("alice")
        receipt = alice.forget(page=alice.add("I saw a heron.", "Where?"))
        assert alice.verify(receipt).ok
        alice.add("I saw a crane.", "Where?")
        script = (
            f"import sqlite3; c = sqlite3.connect({str(path)!r}); c.execute('SELECT count(*) FROM page').fetchall()"
        )
        subprocess.run([sys.executable, "-c", script], check=True)  # the last one out deletes the WAL
        assert Path(f"{path}-wal").exists()
        assert Path(f"{path}-wal").stat().st_size
