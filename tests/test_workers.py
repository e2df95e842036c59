"""Many workers on one store: leases that are kept alive, and lost; turns between owners; workers that are killed."""

from __future__ import annotations

import json
import re
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bench_of import ALICE, LINES, Bench, Maker
from embermem import Memory, Tier
from embermem.background import Background
from embermem.core.changes import Cause
from embermem.core.config import Settings
from embermem.core.errors import StaleLease, StoreBusy, StoreError
from embermem.core.types import Owner, OwnerId, Role, Vectors
from embermem.embedders.hashed import HashedNgrams
from embermem.llms import ModelAsker
from embermem.memoryos.ingest.leases import Leases
from embermem.protocols import Analyst, ChatMessage, Lease, ModelReply, ModelRequest, Purpose
from forked import Child, ember, script
from proofs import bounded
from scripted import SMALL, Clock, Opener, Place, ScriptedAnalyst
from soundness import assert_sound, assert_tiers, rows

pytestmark = pytest.mark.engines


class WallClock(Clock):
    """Says what the wall clock says."""

    def __call__(self) -> datetime:
        return datetime.now(UTC)


class Ticking(Clock):
    """Goes on by a millisecond each time that it is asked."""

    def __call__(self) -> datetime:
        self.go(0.001)
        return self.now


@pytest.fixture
def bench(place: Place) -> Iterator[Maker]:
    """Workers on one store, by the wall clock."""
    made: list[Bench] = []

    def make(analyst: Analyst | None = None, file: str = "memory.db", **settings: Any) -> Bench:
        made.append(Bench(place(file), WallClock(), analyst, None, **settings))
        return made[-1]

    yield make
    for one in made:
        one.store.close()
    for where in {one.place for one in made}:
        assert_sound(where)


# ------------------------------------------------------------------------------------------------------ signs of life


@dataclass(kw_only=True)
class Signs:
    """A store's renewals, counted; `fails` is raised instead."""

    count: int = 0
    fails: Exception | None = None

    def renew(self, lease: Lease, now: datetime, seconds: float) -> None:
        self.count += 1
        if self.fails is not None:
            raise self.fails


LEASE = Lease(owner_id=OwnerId("o1"), by="me", token=1)


def until(come: Callable[[], object], seconds: float = 20.0) -> None:
    """Waits for something; it is no test of how long it takes."""
    end = time.monotonic() + seconds
    while not come():
        assert time.monotonic() < end
        time.sleep(0.01)


def heart() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "embermem-leases"}


def test_one_thread_gives_signs_of_life_for_all_leases_until_their_work_ends(clock: Clock) -> None:
    signs, others = Signs(), heart()
    leases = Leases(signs.renew, clock, 0.3)
    with leases.held(LEASE) as held:
        until(lambda: signs.count >= 3)
    count = signs.count
    until(lambda: not heart() - others)
    assert (signs.count, held.lost) == (count, False)

    signs = Signs()
    leases = Leases(signs.renew, clock, 0.3)
    others = heart()
    with leases.held(LEASE), leases.held(LEASE), leases.held(LEASE):
        assert len(heart() - others) == 1
        until(lambda: signs.count >= 6)


def test_a_lease_that_was_lost_is_asked_for_no_more_and_a_store_that_fails_once_is_asked_again(clock: Clock) -> None:
    signs = Signs(fails=StoreError("busy"))
    with Leases(signs.renew, clock, 0.3).held(LEASE) as held:
        until(lambda: signs.count >= 2)
        assert not held.lost

    signs = Signs(fails=StaleLease("another took over"))
    with Leases(signs.renew, clock, 0.3).held(LEASE) as held:
        until(lambda: held.lost)
        count = signs.count
        time.sleep(0.3)
        assert signs.count == count


def test_a_step_that_outlasts_the_lease_keeps_it(bench: Maker) -> None:
    other = bench(lease_s=0.5)

    def slow() -> None:
        for _ in range(4):
            time.sleep(0.5)
            assert other.store.due(datetime.now(UTC), 9) == ()
            assert other.store.claim(ALICE.id, "other", datetime.now(UTC), 1) is None

    one = bench(analyst := ScriptedAnalyst(during=slow), lease_s=0.5, short_term_pages=3)
    one.add(*LINES)
    assert one.system.work() == 2
    assert len(analyst.asked) == 1
    assert one.analysts(Cause.CONSOLIDATION) == ["scripted-v1"]


def test_a_worker_that_lost_its_lease_stops_at_the_next_step_and_nothing_of_it_is_applied(bench: Maker) -> None:
    other = bench()

    def overtaken() -> None:
        assert other.store.claim(ALICE.id, "other", datetime.now(UTC) + timedelta(hours=1), 60) is not None
        time.sleep(0.5)  # a sign of life finds out

    one = bench(analyst := ScriptedAnalyst(during=overtaken), lease_s=0.3)
    one.add(*LINES, *LINES)
    assert one.system.work() == 0
    assert len(analyst.asked) == 1
    assert one.analysts(Cause.CONSOLIDATION) == []
    assert len(one.pages(Tier.PENDING)) == 7
    assert [row["lease_by"] for row in rows(one.place, "SELECT lease_by FROM owner")] == ["other"]


def test_a_lease_of_a_clock_that_differs_a_little_holds_and_of_one_ahead_holds_up_nobody(bench: Maker) -> None:
    one = bench()
    one.add(*LINES)
    now = datetime.now(UTC)
    assert one.store.claim(ALICE.id, "other", now + timedelta(seconds=30), 60.0) is not None
    assert one.store.due(now, 9, lease_s=60.0) == ()
    assert one.store.claim(ALICE.id, "me", now, 60.0) is None

    bench = partial(bench, file="2.db")
    one = bench(lease_s=1.0)
    one.add(*LINES)
    ahead = one.store.claim(ALICE.id, "ahead", datetime.now(UTC) + timedelta(hours=1), 1.0)
    assert ahead is not None
    one.add("The heron came back.")
    assert [owner.user for owner in one.store.due(datetime.now(UTC), 9, lease_s=1.0)] == ["alice"]
    began = time.monotonic()
    assert one.system.settle(ALICE) > 0
    assert one.pages(Tier.PENDING) == ()
    assert time.monotonic() - began < 60  # and not an hour
    with pytest.raises(StaleLease):
        one.store.renew(ahead, datetime.now(UTC), 1.0)


def test_settle_does_not_wait_for_a_worker_that_changes_nothing_while_words_come_in(bench: Maker) -> None:
    one = bench(lease_s=0.5)
    one.add(*LINES)
    held = one.store.claim(ALICE.id, "other", datetime.now(UTC), 0.5)
    assert held is not None
    over = threading.Event()

    def go_on() -> None:
        for n in range(100):
            one.store.renew(held, datetime.now(UTC), 0.5)
            one.add(f"The heron came back {n} times.")
            if over.wait(0.1):
                return

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        with pytest.raises(StoreBusy, match="makes no progress"):
            one.system.settle(ALICE)
    finally:
        over.set()
        thread.join()


class QuotingEmbedder(HashedNgrams):
    """Fails with the words that it was given."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        raise ValueError(" ".join(texts))


def test_a_defect_is_logged_by_its_kind_and_place_and_not_by_its_words(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    for where in ("analyst", "embedder"):
        caplog.clear()

        def quote() -> None:
            raise ValueError("I live in Lyon.")

        analyst, embedder = ScriptedAnalyst(during=quote), QuotingEmbedder()
        one = Bench(place(f"{where}.db"), WallClock(), analyst, embedder if where == "embedder" else None)
        one.add(*LINES)
        one.system.work()
        assert re.search(r"ValueError \(test_workers\.py:\d+\)", caplog.text)
        assert "Lyon" not in caplog.text
        one.store.close()


def test_a_failure_behind_is_logged_without_its_words(caplog: pytest.LogCaptureFixture) -> None:
    def quote() -> float:
        raise ValueError("I live in Lyon.")

    behind = Background(quote, 60.0, 0.0)
    behind.wake()
    until(lambda: "background work failed" in caplog.text)
    behind.stop()
    assert "ValueError (test_workers.py:" in caplog.text
    assert "Lyon" not in caplog.text


HANGING = """
import sys, time
sys.path[:0] = sys.argv[2:]
from bench_of import Bench
from scripted import ScriptedAnalyst
from test_workers import WallClock

def hang():
    print("reading", flush=True)
    time.sleep(600)

Bench(sys.argv[1], WallClock(), ScriptedAnalyst(during=hang), None, lease_s=0.6).system.work()
"""


def test_what_a_killed_worker_had_is_taken_over_within_the_lease_time_and_done_once(bench: Maker) -> None:
    one = bench(analyst := ScriptedAnalyst(), lease_s=0.6)
    one.add(*LINES, *LINES)
    paths = [path for path in sys.path if path]
    worker = script(HANGING, str(one.place), *paths)
    assert worker.stdout.readline() == "reading\n"
    time.sleep(1.5)  # more than two leases
    assert one.system.work() == 0
    worker.kill()
    worker.communicate()
    killed = datetime.now(UTC)
    state = one.store.owner_state(ALICE.id)
    assert state is not None
    assert state.due_at is not None
    assert state.due_at <= killed + timedelta(seconds=0.6)
    until(lambda: one.system.work() == 7)
    assert sorted(page for batch in analyst.asked for page in batch) == sorted(p.id for p in one.pages(Tier.MID))
    assert placements(one.place) == Counter({page.id: 1 for page in one.pages(Tier.MID)})


def placements(place: str | Path) -> Counter[str]:
    """How often each page was placed, as the log says."""
    told = rows(place, "SELECT decisions FROM change WHERE cause = 'consolidation'")
    decisions = [decision for row in told for decision in json.loads(row["decisions"])]
    return Counter(said["page_id"] for name, said in decisions if name == "Placed")


# --------------------------------------------------------------------------------------------------------------- turns


def filled(memory: Memory, user: str, pages: int) -> None:
    """So many pages of one user, in few transactions."""
    for first in range(0, pages, 200):
        memory.of(user).add_messages(
            [
                {"role": role, "content": text}
                for n in range(first, min(first + 200, pages))
                for role, text in (("user", f"{LINES[n % 5]} That was walk {n}."), ("assistant", "I see."))
            ]
        )


def test_an_owner_with_much_to_do_gives_way_to_all_who_wait_after_each_slice(opened: Opener) -> None:
    memory = opened(clock=Ticking(), batch_wait_s=0.0, slice_pages=4, short_term_pages=1)
    filled(memory, "noisy", 21)
    for n in range(10):
        filled(memory, f"quiet {n}", 3)
    turns: list[str] = []
    assert memory.work(owner_done=lambda owner: turns.append(owner.user)) == 20 + 10 * 2
    assert Counter(turns) == {"noisy": 5 + 1, **{f"quiet {n}": 1 for n in range(10)}}
    assert turns[0] == "noisy"
    assert turns[1:11] == [f"quiet {n}" for n in range(10)]
    assert memory.pages_placed == 40
    assert memory.stats().due == 0


def test_a_slice_ends_by_time_too_and_settle_has_none(place: Place, clock: Clock) -> None:
    analyst = ScriptedAnalyst(during=lambda: clock.go(3))
    one = Bench(place(), clock, analyst, None, slice_s=5.0, short_term_pages=1, batch_pages=2)
    one.add(*LINES, *LINES)
    turns: list[Owner] = []
    assert one.system.work(owner_done=turns.append) == 9
    assert len(turns) == 3
    one.add(*LINES, *LINES)
    assert one.system.settle(ALICE) == 10
    one.store.close()


def test_workers_in_threads_share_the_owners_and_do_each_page_once(place: Place) -> None:
    settings = {**SMALL, "batch_wait_s": 0.0, "slice_pages": 4, "short_term_pages": 1}
    with Memory(place(), **settings) as memory:
        users, much = bounded(6, proofs=12), bounded(14, proofs=30)
        for n in range(users):
            filled(memory, f"user {n}", 3 if n else much)
        with ThreadPoolExecutor(4) as pool:
            for done in [pool.submit(memory.work) for _ in range(4)]:
                done.result()
        assert memory.work() == 0
        assert memory.pages_placed == much - 1 + (users - 1) * 2
        assert (memory.stats().pending, memory.stats().due) == (0, 0)
        assert set(placements(place()).values()) == {1}
        assert_tiers(memory)
    assert_sound(place())


def test_a_turn_that_another_took_since_the_list_was_read_is_left_to_him(place: Place) -> None:
    clock = Ticking()
    one, other = (Memory(place(), **{**SMALL, "clock": clock, "batch_wait_s": 0.0}) for _ in range(2))
    for n in range(3):
        filled(one, f"user {n}", 5)
    first: list[str] = []

    def overtaken(owner: Owner) -> None:
        first.append(owner.user)
        other.work()

    assert one.work(owner_done=overtaken) == 2
    assert first == ["user 0"]
    assert [len(one.of(f"user {n}").pages("mid")) for n in range(3)] == [2, 2, 2]
    one.close()
    other.close()


# --------------------------------------------------------------------------------------------------------- the backlog


def test_stats_count_a_small_store_exactly_and_tell_how_long_the_oldest_page_has_been_pending(
    opened: Opener, clock: Clock
) -> None:
    memory = opened(short_term_pages=3, batch_pages=64)
    filled(memory, "alice", 3)
    clock.go(1000)
    assert (memory.stats().pending, memory.stats().oldest_pending_s) == (0, 0.0)
    filled(memory, "alice", 1)
    clock.go(50)
    filled(memory, "bob", 4)
    assert (memory.stats().pending, memory.stats().oldest_pending_s) == (2, 50.0)
    clock.go(600)
    memory.work()
    assert (memory.stats().pending, memory.stats().oldest_pending_s) == (0, 0.0)

    memory = opened("2.db", short_term_pages=3)
    filled(memory, "alice", 5)
    memory.of("bob").add_document("Rent is due on the first.", title="Lease", source="file:lease.txt")
    assert memory.stats(estimated=True) == memory.stats()
    assert (memory.stats().utterances, memory.stats().pages, memory.stats().passages) == (10, 5, 1)
    assert (memory.stats().due, memory.stats().pending, memory.stats().without_vector) == (2, 2, 11)


# ----------------------------------------------------------------------------------------------------------- the model


@dataclass(frozen=True, kw_only=True)
class City:
    city: str


class Crowded:
    """A model that knows how many ask it at once."""

    name = "crowded"

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.now = self.most = 0

    def complete(self, request: ModelRequest) -> ModelReply:
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        time.sleep(0.02)
        with self.lock:
            self.now -= 1
        return ModelReply(text='{"city": "Nantes"}', prompt_tokens=1, completion_tokens=1)

    def stream(self, request: ModelRequest) -> Iterator[str | ModelReply]:
        yield "Nantes"
        yield ModelReply(text="Nantes", prompt_tokens=1, completion_tokens=1)


def test_no_more_questions_are_asked_at_once_than_set_and_a_chat_waits_for_none_of_them(bench: Maker) -> None:
    model, words = Crowded(), (ChatMessage(role=Role.USER, text="Which city?"),)
    asker = ModelAsker(model, bench().store, Settings(model_concurrency=2), WallClock())
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(asker.ask, ALICE, Purpose.ANNOTATE, words, City) for _ in range(16)]
        assert {one.result() for one in asked} == {City(city="Nantes")}
    assert model.most == 2
    streams = [asker.stream(ALICE, Purpose.CHAT, words) for _ in range(3)]
    assert [next(stream) for stream in streams] == ["Nantes"] * 3


# --------------------------------------------------------------------------------------------------------- the command

DUE_NOW = {"EMBERMEM_BATCH_WAIT_S": "0", "EMBERMEM_SHORT_TERM_PAGES": "1", "EMBERMEM_POLL_S": "0.1"}


@contextmanager
def workers(place: Any, count: int, *arguments: str, **settings: str) -> Iterator[list[Child]]:
    """So many `embermem worker`, which tell what they do in lines of JSON."""
    more = {**DUE_NOW, **{f"EMBERMEM_{name.upper()}": value for name, value in settings.items()}}
    started = [ember(place, "worker", "--json", *arguments, more=more) for _ in range(count)]
    try:
        yield started
    finally:
        for one in started:
            one.kill()
            one.communicate()


def ended(worker: Child) -> list[Any]:
    """Waits for its end; what it told."""
    out, errors = worker.communicate()
    assert worker.returncode == 0, errors
    assert "Traceback" not in errors
    return [json.loads(line) for line in out.splitlines()]


def test_a_worker_told_to_stop_ends_its_steps_and_gives_its_leases_back(place: Place) -> None:
    each = bounded(50, proofs=150)
    placed = 3 * (each - 1)
    with Memory(place(), **SMALL) as memory:
        for n in range(3):
            filled(memory, f"user {n}", each)
    with workers(place(), 1, "--workers", "2") as (worker,):
        worker.stdout.readline()
        worker.send_signal(signal.SIGTERM)
        told = ended(worker)
    assert 0 < told[-1]["placed"] < placed
    assert [row["lease_by"] for row in rows(place(), "SELECT lease_by FROM owner")] == [None] * 3
    with workers(place(), 1, "--once", "--workers", "2") as (worker,):
        again = ended(worker)
    assert told[-1]["placed"] + again[-1]["placed"] == placed
    assert {line["user"] for line in told[:-1] + again[:-1]} <= {f"user {n}" for n in range(3)}
    assert set(placements(place()).values()) == {1}


def test_the_others_go_on_when_a_worker_is_killed_and_no_page_is_placed_twice(place: Place) -> None:
    with Memory(place(), **SMALL) as memory:
        for n in range(4):
            filled(memory, f"user {n}", bounded(25, proofs=60))
        with workers(place(), 2, "--workers", "2", lease_s="1", slice_pages="4") as (killed, other):
            for one in (killed, other):
                assert one.stdout.readline()
            killed.kill()
            until(lambda: not rows(place(), UNPLACED), 60)
            other.send_signal(signal.SIGTERM)
            ended(other)
    assert placements(place()) == Counter(row["page_id"] for row in rows(place(), PLACED))
    assert_sound(place())


PLACED = "SELECT page_id FROM page WHERE segment_id IS NOT NULL"
UNPLACED = """SELECT 1 FROM page p JOIN owner o ON o.owner_id = p.owner_id
              WHERE p.segment_id IS NULL AND p.no < o.pages"""


@pytest.mark.proof  # in threads: test_an_owner_with_much_to_do_gives_way_to_all_who_wait_after_each_slice
@pytest.mark.timeout(600)
def test_many_owners_and_a_noisy_one_are_all_done_once_and_fairly_by_many_workers(place: Place) -> None:
    quiet, count = 1000, 4
    noisy = 2 * quiet
    with Memory(place(), **SMALL) as memory:
        filled(memory, "noisy", noisy + 1)
        for n in range(quiet):
            filled(memory, f"quiet {n}", 2)
    with workers(place(), count, "--once", slice_pages="32", batch_pages="8") as crew:
        told = [ended(worker) for worker in crew]
    assert sum(lines[-1]["placed"] for lines in told) == noisy + quiet
    with Memory(place(), **{**SMALL, "short_term_pages": 1}) as memory:
        assert (memory.stats().pending, memory.stats().due) == (0, 0)
    once = placements(place())
    assert (len(once), set(once.values())) == (noisy + quiet, {1})
    # In the order of time: whose batch it was, and how many pages.
    order = [
        (row["user"], len(re.findall('"Placed"', row["decisions"])))
        for row in rows(
            place(),
            """SELECT o."user", c.decisions FROM change c JOIN owner o ON o.owner_id = c.owner_id
               WHERE c.cause = 'consolidation' ORDER BY c.recorded_at""",
        )
    ]
    # While more wait than four workers hold in their lists, the noisy one has had its first slice only.
    waited = [n for n, (user, _) in enumerate(order) if user != "noisy"]
    crowded = waited[max(0, quiet - count * 64)]
    assert sum(pages for user, pages in order[:crowded] if user == "noisy") <= 32
    assert order[-1][0] == "noisy"
