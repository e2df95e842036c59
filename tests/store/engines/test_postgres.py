"""PostgreSQL: what it is refused for, what breaks off and goes on, and what its own SQL sees."""

from __future__ import annotations

import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from sqlalchemy import make_url, text

import postgres
from embermem import Memory
from embermem.bootstrap import migrate_store, open_store, store_exists
from embermem.core.config import load
from embermem.core.errors import (
    ConfigError,
    SchemaMismatch,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreReadOnly,
    StoreUnreachable,
)
from embermem.store import migrations, schema
from embermem.store.transactions import again
from forked import script
from lives import store_of
from older import BEFORE, VERSION, older
from scripted import NOW, SMALL, Place
from soundness import assert_sound, meddle, rows

pytestmark = pytest.mark.postgresql

LINES = ("I live in Lyon.", "We saw a heron.", "The heron came back.", "The train was late.", "My dog ate the cake.")


@pytest.fixture
def url(place: Place) -> str:
    """A database with an empty store in it."""
    return str(place())


@pytest.fixture
def empty(server_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A database with nothing in it, not even an extension."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with postgres.database(server_folder) as made:
        yield made


@pytest.fixture
def role(server_folder: Path) -> Iterator[Callable[..., str]]:
    """Makes roles that are no superusers, and says the URL with which one of them comes to a database."""
    made: list[tuple[str, str]] = []
    admin = postgres.server(server_folder).get_uri()

    def named(name: str, url: str, also: str = "", password: str = "") -> str:
        meddle(admin, f'DROP ROLE IF EXISTS "{name}"', f'CREATE ROLE "{name}" LOGIN {also}')
        meddle(url, f'GRANT CREATE ON SCHEMA public TO "{name}"')
        made.append((name, url))
        return str(url).replace("postgres:@", f"{name}:{password}@")

    yield named
    for name, url in made:
        meddle(url, f'DROP OWNED BY "{name}" CASCADE')
        meddle(admin, f'DROP ROLE "{name}"')


# -------------------------------------------------------------------------------------------------------- the schema


OPENER = """
import sys
from embermem import Memory
print("ready", flush=True)
sys.stdin.readline()
with Memory(sys.argv[1], embedder="hashed", background=False) as memory:
    memory.of("alice").add("I opened it", "I see.", thread=sys.argv[2])
"""


def test_processes_that_make_the_schema_at_once_all_succeed_and_one_makes_it(empty: str) -> None:
    openers = [script(OPENER, empty, f"t{n}") for n in range(4)]
    for one in openers:
        assert one.stdout.readline() == "ready\n"
    for one in openers:
        one.tell("go")
    for one in openers:
        assert (one.communicate(), one.returncode) == (("", ""), 0)
    assert rows(empty, VERSION) == [{"version_num": schema.HEAD}]
    with Memory(empty, **SMALL) as memory:
        assert len(memory.of("alice").pages()) == 4
    assert_sound(empty)


def test_an_older_schema_is_refused_with_the_command_and_left_as_it_is(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    older(url, monkeypatch)
    with pytest.raises(SchemaMismatch, match=r"older version of Ember .*back it up.*embermem --store .* migrate"):
        Memory(url, **SMALL)
    assert rows(url, VERSION) == [{"version_num": BEFORE}]
    assert store_exists(url, load())


def test_to_migrate_what_is_not_there_is_an_error(empty: str) -> None:
    with pytest.raises(StoreError, match="holds no store"):
        migrate_store(empty, load())
    assert not store_exists(empty, load())


def test_a_database_with_foreign_tables_of_our_names_is_refused_and_left_as_it_is(empty: str) -> None:
    meddle(empty, "CREATE TABLE page (title text)", "INSERT INTO page VALUES ('Recipes')")
    with pytest.raises(StoreCorrupt, match=r"another program under our names \(page\)"):
        Memory(empty, **SMALL)
    tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
    assert rows(empty, tables) == [{"tablename": "page"}]


def test_beside_foreign_tables_a_schema_of_its_own_holds_a_store(empty: str) -> None:
    meddle(empty, "CREATE TABLE page (title text)", "CREATE TABLE recipe (title text)", "CREATE SCHEMA mine")
    own = f"{empty}&options=-csearch_path%3Dmine,public"
    for _ in range(2):
        with Memory(own, **SMALL) as memory:
            memory.of("alice").add("I live in Lyon.", "I see.")
            memory.of("alice").settle()
            assert "Lyon" in memory.of("alice").recall("Where do I live?").text
            assert memory.stats().bytes > 0
    assert rows(empty, "SELECT count(*) AS n FROM mine.page") == [{"n": 2}]
    assert rows(empty, "SELECT count(*) AS n FROM page") == [{"n": 0}]


# ------------------------------------------------------------------------------------------------------------ vectors


def told(memory: Memory) -> Any:
    """What is recalled of a small life, and with what scores."""
    alice = memory.of("alice")
    for line in LINES if not alice.pages() else ():
        alice.add(line, "I see.")
    alice.settle()
    assert alice.stats().without_vector == 0
    return [(hit.utterance.text, round(hit.score, 4)) for hit in alice.search("Which heron?", k=5)]


def test_vectors_can_be_compared_by_sql_and_agree_with_ours(url: str) -> None:
    with Memory(url, **SMALL) as memory:
        told(memory)
        owner, store = memory.of("alice").owner.id, store_of(memory)
        delta = store.delta(owner, 0, 0, store.setting("embedder") or "", int(store.setting("dim") or 0))
    distances = rows(
        url,
        """SELECT other.seq, one.data <=> other.data AS distance FROM embedding one
           JOIN embedding other ON other.owner_id = one.owner_id
           WHERE one.owner_id = ? AND one.seq = 3 ORDER BY other.seq""",
        owner,
    )
    vectors = np.asarray(delta.vectors)
    directions = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    ours = 1.0 - directions @ directions[2]
    assert len(distances) == len(LINES) * 2
    assert np.allclose([row["distance"] for row in distances], ours, atol=2e-3)
    assert rows(url, "SELECT DISTINCT pg_typeof(data)::text AS kind FROM embedding") == [{"kind": "halfvec"}]


def test_without_pgvector_vectors_are_bytes_and_all_else_is_the_same(
    empty: str, url: str, role: Callable[..., str]
) -> None:
    kind = "SELECT DISTINCT pg_typeof(data)::text AS kind FROM embedding"
    plain = role("plain", empty)
    with Memory(plain, **SMALL) as memory, Memory(url, **SMALL) as other:
        assert told(memory) == told(other)
    assert rows(plain, kind) == [{"kind": "bytea"}]
    assert_sound(plain)
    meddle(empty, "CREATE EXTENSION vector")  # added later: the column stays what it is
    with Memory(plain, **SMALL) as memory:
        assert told(memory)
        memory.of("alice").add("The heron is gone.", "Oh.")
        assert len(told(memory)) == 5
    assert rows(plain, kind) == [{"kind": "bytea"}]


# -------------------------------------------------------------------------------------------------- what is refused


def test_no_server_no_database_and_no_such_user_are_said_without_the_password(url: str) -> None:
    nowhere = "postgresql://alice:s3cret@127.0.0.1:9/memory"
    gone = str(make_url(url).set(database="nothing", password="s3cret").render_as_string(hide_password=False))
    nobody = str(make_url(url).set(username="nobody", password="s3cret").render_as_string(hide_password=False))
    asked = "postgresql://127.0.0.1:9/memory?user=alice&password=s3cret"
    for place, said in ((nowhere, "127.0.0.1"), (gone, "nothing"), (nobody, "nobody"), (asked, "127.0.0.1")):
        for use in (lambda p=place: Memory(p, **SMALL), lambda p=place: store_exists(p, load())):
            with pytest.raises(StoreUnreachable, match=said) as raised:
                use()
            assert "s3cret" not in str(raised.value)
            assert "s3cret" not in repr(raised.value)


def test_a_wrong_password_is_said_without_it(url: str, role: Callable[..., str]) -> None:
    right = role(postgres.GUARDED, url, "SUPERUSER PASSWORD 'right'", "right")
    with Memory(right, **SMALL) as memory:
        memory.of("alice").add("Hello")
    with pytest.raises(StoreUnreachable, match="password authentication failed") as raised:
        Memory(right.replace(":right@", ":wr0ng@"), **SMALL)
    assert "wr0ng" not in str(raised.value)


def test_a_url_that_cannot_be_read_is_said_without_the_password() -> None:
    cases: list[str] = [
        "postgresql://alice:s3cret@[::1/memory",
        "postgresql://alice:s3cret@h:port/memory",
        "postgresql://",
    ]
    for broken in cases:
        with pytest.raises((ConfigError, StoreUnreachable)) as raised:
            Memory(broken, **SMALL)
        assert "s3cret" not in str(raised.value)


def test_a_user_who_may_only_read_is_told_so_when_he_writes(url: str, role: Callable[..., str]) -> None:
    with Memory(url, **SMALL) as memory:
        memory.of("alice").add("Hello")
    reader = role("reader", url)
    meddle(url, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
    with Memory(reader, **SMALL) as memory:
        assert [page.query for page in memory.of("alice").pages()] == ["Hello"]
        with pytest.raises(StoreReadOnly, match="may not do that"):
            memory.of("alice").add("Again")


def test_a_pool_that_is_full_says_so(url: str) -> None:
    with Memory(url, **{**SMALL, "busy_timeout_s": 0.2}) as memory:
        with ExitStack() as held:
            for _ in range(32):
                held.enter_context(store_of(memory)._read())
            with pytest.raises(StoreBusy, match=r"all 32 connections were in use for 0\.2 s; try again"):
                memory.of("alice").add("Hello")
        memory.of("alice").add("Hello")


def test_a_server_that_takes_no_more_connections_is_busy(url: str, role: Callable[..., str]) -> None:
    one = role("single", url, "SUPERUSER")
    meddle(url, "ALTER ROLE single NOSUPERUSER CONNECTION LIMIT 1")
    with psycopg.connect(one), pytest.raises(StoreBusy, match="takes no more connections"):
        Memory(one, **SMALL)


def test_a_read_sees_one_state_whatever_is_added_meanwhile(url: str) -> None:
    counted = text("SELECT count(*) FROM utterance")
    with Memory(url, **SMALL) as memory:
        alice = memory.of("alice")
        alice.add("Hello")
        with store_of(memory)._read() as c:
            assert c.scalar(counted) == 1
            alice.add("Again")
            assert c.scalar(counted) == 1
        with store_of(memory)._read() as c:
            assert c.scalar(counted) == 2


def test_two_adds_at_once_under_one_key_store_it_once_and_answer_the_same(url: str) -> None:
    waiting = (
        "SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    with Memory(url, **SMALL) as memory, ThreadPoolExecutor(2) as pool:
        alice = memory.of("alice")
        alice.add("Hello")
        with psycopg.connect(url) as other:
            other.execute("SELECT 1 FROM owner FOR UPDATE")
            adding = [pool.submit(alice.add, "We saw a heron.", key="k") for _ in range(2)]
            while rows(url, waiting)[0]["n"] < 2:
                time.sleep(0.02)
        first, second = (one.result(30) for one in adding)
        assert first == second
        assert [page.query for page in alice.pages()] == ["Hello", "We saw a heron."]


def test_an_owner_held_by_another_for_too_long_is_busy_and_no_other_owner_is(url: str) -> None:
    with Memory(url, **{**SMALL, "busy_timeout_s": 0.2}) as memory:
        alice, bob = memory.of("alice"), memory.of("bob")
        alice.add("Hello")
        with psycopg.connect(url) as other:
            other.execute("SELECT 1 FROM owner WHERE owner_id = %s FOR UPDATE", (alice.owner.id,))
            with pytest.raises(StoreBusy, match="longer than busy_timeout_s"):
                alice.add("Again")
            assert alice.recall("Hello").hits
            bob.add("Hello")
        alice.add("Again")
        assert [page.query for page in alice.pages()] == ["Hello", "Again"]


def test_a_store_that_a_migration_holds_for_too_long_is_busy(url: str) -> None:
    with Memory(url, **SMALL) as memory, Memory(url, **{**SMALL, "busy_timeout_s": 0.3}) as hurried:
        with psycopg.connect(url) as other:
            other.execute(f"LOCK TABLE {migrations.VERSION_TABLE} IN ACCESS EXCLUSIVE MODE")
            with pytest.raises(StoreBusy, match="busy_timeout_s"):
                hurried.of("alice").add("Hello")
        memory.of("alice").add("Hello")


# ----------------------------------------------------------------------------------------- what breaks off and goes on


def cut(url: str) -> int:
    """Every connection to the database but this one is ended by the server; how many there were."""
    query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid != "
    with psycopg.connect(url, autocommit=True) as connection:
        return len(connection.execute(query + "pg_backend_pid()").fetchall())


def test_connections_that_rested_when_they_were_cut_are_made_again(url: str) -> None:
    with Memory(url, **SMALL) as memory:
        alice = memory.of("alice")
        alice.add("Hello")
        assert cut(url)
        alice.add("Again")
        assert cut(url)
        assert [page.query for page in alice.pages()] == ["Hello", "Again"]


def test_what_is_cut_in_the_middle_is_undone_and_says_so(url: str) -> None:
    with Memory(url, **SMALL) as memory:
        alice = memory.of("alice")
        alice.add("Hello")

        def broken_off(*after: str) -> None:
            with store_of(memory)._write() as c:
                c.execute(text("DELETE FROM utterance"))
                cut(url)
                for statement in after:
                    c.execute(text(statement))

        with pytest.raises(StoreUnreachable) as raised:
            broken_off("DELETE FROM page")
        assert raised.value.undone
        with pytest.raises(StoreUnreachable) as raised:
            broken_off()  # found out at COMMIT, of which nobody knows whether it came through
        assert not raised.value.undone
        assert len(alice.pages()) == 1
    assert_sound(url)


def test_what_is_cut_at_its_commit_is_not_made_again(url: str) -> None:
    """It may have been committed: whoever asked for it decides."""
    made = 0
    with closing(open_store(url, load())) as store:

        def once() -> None:
            nonlocal made
            made += 1
            with store._write() as c:
                c.execute(text("DELETE FROM utterance"))
                cut(url)

        with pytest.raises(StoreUnreachable):
            again(once)()
    assert made == 1


def test_connections_cut_at_any_moment_lose_and_double_nothing(url: str) -> None:
    """What was cut before its COMMIT is tried again unseen; what was cut at it is sent again under its key."""
    made: list[str] = []
    over, unsure = threading.Event(), 0

    def disturb() -> None:
        for _ in range(12):
            time.sleep(0.1)
            cut(url)
        over.set()

    with Memory(url, **SMALL) as memory:
        alice = memory.of("alice")
        disturber = threading.Thread(target=disturb)
        disturber.start()
        while not over.is_set():
            try:
                made.append(alice.add(f"line {len(made)}", "I see.", key=f"k{len(made)}"))
            except StoreUnreachable as error:
                unsure += not error.undone
        disturber.join()
        alice.settle()
        assert [page.id for page in alice.pages()] == made
        assert [page.query for page in alice.pages()] == [f"line {n}" for n in range(len(made))]
    print(f"{len(made)} added, {unsure} of them sent again")
    assert_sound(url)


def test_two_who_wait_for_each_other_are_tried_again_and_both_done(url: str) -> None:
    """One of two in a deadlock is undone by the server, and done again by us."""
    with closing(open_store(url, load())) as store:
        for key in ("a", "b"):
            store.remember({key: "0"})
        met = threading.Barrier(2)

        def swap(first: str, second: str) -> None:
            waited: list[bool] = []

            def once() -> None:
                with store._write() as c:
                    grown = "UPDATE store SET value = (value::integer + 1)::text WHERE key = :key"
                    c.execute(text(grown), {"key": first})
                    if not waited:
                        waited.append(True)
                        met.wait(30)
                    c.execute(text(grown), {"key": second})

            again(once)()

        threads = [threading.Thread(target=swap, args=pair) for pair in (("a", "b"), ("b", "a"))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert (store.setting("a"), store.setting("b")) == ("2", "2")


def test_what_was_opened_keeps_no_more_connections_than_are_asked_for(url: str, empty: str) -> None:
    """Also where it was just made: a connection left over from that would be held for good."""
    for place in (url, empty):
        with Memory(place, **SMALL) as memory:
            memory.of("alice").add("Hello")
            query = "SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database()"
            (found,) = rows(place, query)
            assert found["n"] == 2  # the memory's, and the one that asks


# -------------------------------------------------------------------------------------------------------- interrupts


class OutOfTime(Exception):
    """What a caller's own time-out raises."""


class Holding:
    """A way to a server through which its answers come late: not while `held` is set."""

    def __init__(self, url: str) -> None:
        self.held = threading.Event()
        self._free = threading.Event()
        made = make_url(url)
        self._server = Path(str(made.query["host"])) / f".s.PGSQL.{made.port or 5432}"
        self._listening = socket.create_server(("127.0.0.1", 0))
        port = self._listening.getsockname()[1]
        self.url = made.set(host="127.0.0.1", port=port, query={}).render_as_string(hide_password=False)
        threading.Thread(target=self._accept, daemon=True).start()

    def release(self) -> None:
        """Let the answers go on."""
        self.held.clear()
        self._free.set()

    def close(self) -> None:
        """Take no more connections."""
        self.release()
        self._listening.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(str(self._server))
                threading.Thread(target=self._carry, args=(client, server, False), daemon=True).start()
                threading.Thread(target=self._carry, args=(server, client, True), daemon=True).start()

    def _carry(self, source: socket.socket, to: socket.socket, answers: bool) -> None:
        with source, to, suppress(OSError):
            while said := source.recv(65536):
                if answers and self.held.is_set():
                    self._free.wait(30)
                to.sendall(said)
            to.shutdown(socket.SHUT_RDWR)


def test_an_interrupt_while_a_rested_connection_is_asked_whether_it_lives_reaches_the_caller(url: str) -> None:
    def ring(number: int, frame: object) -> None:
        raise OutOfTime

    with closing(Holding(url)) as way, Memory(way.url, **SMALL) as memory:
        ann = memory.of("ann")
        ann.add("I live in Lyon.")
        before = signal.signal(signal.SIGALRM, ring)
        way.held.set()
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        try:
            with pytest.raises(OutOfTime):
                ann.add("We saw a heron.")
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
            way.release()
        ann.add("The train was late.")
        assert [page.query for page in ann.pages()] == ["I live in Lyon.", "The train was late."]


def test_a_connection_that_was_given_back_in_a_transaction_is_not_used_again(url: str) -> None:
    with closing(open_store(url, load())) as store:
        with store._engine.connect() as connection:  # its user was cut short while it was given back
            raw: Any = connection.connection.driver_connection
            pid = raw.info.backend_pid
        raw.execute("SELECT 1")
        assert store.stats(NOW, 1).owners == 0
        with store._engine.connect() as connection:
            other: Any = connection.connection.driver_connection
            assert other.info.backend_pid != pid
