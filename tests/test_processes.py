"""Many processes and threads on one store."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from embermem import Memory
from embermem.core.errors import StoreError
from forked import Child, script
from proofs import bounded
from scripted import Opener, Place
from soundness import assert_sound, assert_tiers

SETTINGS: dict[str, Any] = {"embedder": "hashed", "background": False}

ADDER = """
import sys
from embermem import Memory
place, worker, count, background = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] == "1"
with Memory(place, embedder="hashed", background=background, poll_s=0.05, batch_wait_s=0.0) as memory:
    alice = memory.of("alice")
    for n in range(count):
        page = alice.add(f"worker {worker} says {n}", "I see.", thread=f"t{worker}")
        assert alice.page(page).query == f"worker {worker} says {n}"
"""


def started(place: str | Path, worker: int, count: int, background: bool = False) -> Child:
    return script(ADDER, str(place), str(worker), str(count), "1" if background else "0")


@pytest.mark.engines
def test_many_processes_add_many_pages_each_to_one_new_store(place: Place) -> None:
    count, each = bounded(3, proofs=8), bounded(15, proofs=200)
    workers = [started(place(), n, each) for n in range(count)]
    for worker in workers:
        assert (worker.communicate(), worker.returncode) == (("", ""), 0)
    with Memory(place(), **SETTINGS) as memory:
        pages = memory.of("alice").pages()
        assert len(pages) == count * each
        assert sorted(u.seq for page in pages for u in page.utterances) == list(range(1, 2 * count * each + 1))
        for worker_no in range(count):
            mine = [page.query for page in pages if page.thread == f"t{worker_no}"]
            assert mine == [f"worker {worker_no} says {n}" for n in range(each)]
    assert_sound(place())


def test_readers_see_what_another_process_added_while_workers_consolidate(place: Place) -> None:
    with Memory(place(), **SETTINGS) as memory:
        alice = memory.of("alice")
        alice.add("I saw a purple heron.", "Lovely!")
        each = bounded(10, proofs=60)
        workers = [started(place(), n, each, background=True) for n in range(2)]
        seen = 0
        while any(worker.poll() is None for worker in workers):
            known = alice.stats().utterances
            (newest,) = alice.pages(limit=1)
            found = alice.search(newest.query, k=1000)
            assert newest.utterances[0] in [hit.utterance for hit in found]
            assert "purple heron" in alice.recall("Which purple heron did I see?").text
            assert known >= seen
            seen = known
        for worker in workers:
            assert (worker.communicate(), worker.returncode) == (("", ""), 0)
        assert alice.stats().utterances == 2 + 2 * each * 2
        alice.settle()
        assert alice.stats().pending == 0
        assert alice.stats().mid > 0
        assert_tiers(memory)
    assert_sound(place())


def test_what_is_added_in_a_forked_child_and_in_its_parent_is_all_kept(place: Place) -> None:
    with Memory(place(), **SETTINGS) as memory:
        alice = memory.of("alice")
        alice.add("before the fork", "ok")
        child = os.fork()
        if child == 0:
            try:
                for n in range(20):
                    alice.add(f"child {n}", "ok", thread="child")
                alice.settle()
                alice.recall("child")
                os._exit(0)
            finally:
                os._exit(1)
        for n in range(20):
            alice.add(f"parent {n}", "ok", thread="parent")
        assert os.waitpid(child, 0)[1] == 0
        assert len(alice.pages()) == 41
        alice.settle()
        assert_tiers(memory)
    assert_sound(place())


def at_once(text: str, place: str | Path, count: int, *told: str) -> list[Child]:
    """Processes that have opened the store, and go at the same moment."""
    made = [script(BEGUN + text, str(place), str(n), *told) for n in range(count)]
    for one in made:
        assert one.stdout.readline() == "ready\n"
    for one in made:
        one.tell("go")
    return made


def said_by(processes: list[Child]) -> list[list[str]]:
    """The lines that each of them printed, once all have ended well."""
    found = []
    for one in processes:
        lines, errors = one.communicate()
        assert (one.returncode, errors) == (0, "")
        found.append(lines.splitlines())
    return found


BEGUN = """
import sys, time
from contextlib import suppress
from datetime import UTC, datetime
from embermem import Memory
from embermem.core.errors import KeyReused, NotFound
memory = Memory(sys.argv[1], embedder="hashed", background=False, busy_timeout_s=30.0)
alice, worker = memory.of("alice"), sys.argv[2]
print("ready", flush=True)
sys.stdin.readline()
"""
KEYS = """
for n in range(20):
    print(alice.add(f"line {n}", "I see.", key=f"k{n}"))
    try:
        alice.add(f"worker {worker} says {n}", key=f"mine {n}")
        print("mine")
    except KeyReused:
        print("reused")
"""
CLAIMS = """
for n in range(40):
    owner = memory.of(f"user {n}").owner
    if memory._store.claim(owner.id, worker, datetime(2026, 5, 2, tzinfo=UTC), 60.0):
        print("claimed", n)
"""
HOLDS = """
from sqlalchemy import text
with memory._store._write() as c:
    c.execute(text("DELETE FROM utterance"))
    c.execute(text("UPDATE owner SET seq = 7"))
    print("held", flush=True)
    time.sleep(600)
"""
FORGETS = """
for n in range(12):
    alice.add(f"worker {worker} says {n}", "I see.", thread=worker)
    if n % 4 == 2:
        page = alice.add(f"worker {worker} forgets {n}", thread=worker)
        with suppress(NotFound):  # all may have been forgotten since
            alice.forget(page=page)
    if n == 8 and worker == "0":
        alice.forget_owner()
page = alice.add(f"worker {worker} is done", "I see.", thread=worker)
print(page)
"""


def test_a_key_or_an_owner_that_many_processes_ask_for_at_once_is_had_by_one(place: Place) -> None:
    with Memory(place(), **SETTINGS) as memory:
        for n in range(40):
            memory.of(f"user {n}").add("Hello")
    count = bounded(3, proofs=6)
    told = said_by(at_once(KEYS + CLAIMS, place(), count))
    claimed = [line for lines in told for line in lines if line.startswith("claimed")]
    assert sorted(claimed) == sorted(f"claimed {n}" for n in range(40))
    pages = [[line for line in lines if line not in ("mine", "reused", *claimed)] for lines in told]
    assert len(pages[0]) == 20
    assert all(one == pages[0] for one in pages)
    assert sum(lines.count("mine") for lines in told) == 20
    assert sum(lines.count("reused") for lines in told) == 20 * (count - 1)
    with Memory(place(), **SETTINGS) as memory:
        stored = memory.of("alice").pages()
        assert sorted(page.query for page in stored if page.query.startswith("line")) == sorted(
            f"line {n}" for n in range(20)
        )
        assert len(stored) == 40
    assert_sound(place())


def test_a_process_killed_in_the_middle_of_a_transaction_leaves_nothing_of_it_and_holds_nobody_up(place: Place) -> None:
    with Memory(place(), **SETTINGS) as memory:
        alice = memory.of("alice")
        alice.add("Hello")
        (holder,) = at_once(HOLDS, place(), 1)
        assert holder.stdout.readline() == "held\n"
        assert [page.query for page in alice.pages()] == ["Hello"]
        holder.kill()
        alice.add("Again")
        holder.communicate()
        assert [page.query for page in alice.pages()] == ["Hello", "Again"]
    assert_sound(place())


def test_processes_that_forget_pages_and_all_while_others_add_leave_a_sound_store(place: Place) -> None:
    told = said_by(at_once(FORGETS, place(), bounded(2, proofs=4)))
    with Memory(place(), **SETTINGS) as memory:
        alice = memory.of("alice")
        alice.settle()
        assert not [page for page in alice.pages() if "forgets" in page.query]
        assert told[0][0] in [page.id for page in alice.pages()]
        assert all(found.same for found in memory.rebuild())
        assert_tiers(memory)
    assert_sound(place())


# ------------------------------------------------------------------------------------------------------ threads


def in_threads(*works: Callable[[], object]) -> None:
    """Run all at once; the first error is raised."""
    errors: list[BaseException] = []

    def guarded(work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001  (raised below)
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
        assert not thread.is_alive()
    if errors:
        raise errors[0]


def test_threads_add_recall_visit_and_settle_at_once(opened: Opener, place: Place) -> None:
    memory, each = opened(background=True, poll_s=0.01, batch_wait_s=0.0), bounded(8, proofs=25)
    alice, bob = memory.of("alice"), memory.of("bob")

    def add(worker: int) -> None:
        for n in range(each):
            alice.add(f"I walked to the lake, {worker} {n}", "Nice.", thread=f"t{worker}")
            bob.add(f"I cooked a soup, {worker} {n}", "Good.")

    def read() -> None:
        for _ in range(each):
            hits = alice.recall("lake").hits
            assert all("lake" in hit.utterance.text or hit.utterance.role == "assistant" for hit in hits)
            alice.visit(hits)
            assert not [p for p in bob.pages() if "lake" in p.query]

    def settle() -> None:
        for _ in range(bounded(3, proofs=8)):
            alice.settle()
            bob.settle()

    in_threads(lambda: add(1), lambda: add(2), read, read, settle, settle)
    alice.settle()
    bob.settle()
    assert (len(alice.pages()), len(bob.pages())) == (2 * each, 2 * each)
    assert (alice.stats().pending, bob.stats().pending) == (0, 0)
    assert_tiers(memory)
    assert_sound(place())


def test_two_memories_on_one_store_in_one_process_see_each_other(opened: Opener, place: Place) -> None:
    one, other = opened(), opened()
    one.of("alice").add("The heron is purple.", "Yes.")
    assert other.of("alice").recall("heron").hits
    for n, word in enumerate("apple bridge candle dragon engine falcon guitar hammer island jacket".split()):
        (one if n % 2 else other).of("alice").add(f"I drew the {word}.", "ok")
        (other if n % 2 else one).of("alice").settle()
        for reader in (one, other):
            assert reader.of("alice").search(word, k=1)[0].utterance.text == f"I drew the {word}."
    assert_tiers(one)
    assert_sound(place())


def test_the_background_thread_understands_what_was_added_and_can_be_switched_off(opened: Opener) -> None:
    before = set(threading.enumerate())
    alice = opened(background=False).of("alice")
    alice.add("Hello", "Hi")
    assert set(threading.enumerate()) <= before
    assert alice.stats().without_vector == 2

    memory = opened("2.db", background=True, poll_s=0.02, batch_wait_s=0.0)
    alice = memory.of("alice")
    for n in range(12):
        alice.add(f"I walked to the lake {n}", "Nice.")
    until = time.monotonic() + 20
    while alice.stats().pending or alice.stats().mid != 9:
        assert time.monotonic() < until
        time.sleep(0.02)

    memory = opened("3.db")
    alice = memory.of("alice")
    alice.add("Hello", "Hi")
    memory.close()
    memory.close()
    for use in (
        lambda: alice.add("a"),
        lambda: alice.recall("a"),
        lambda: alice.pages(),
        lambda: alice.settle(),
        lambda: alice.set_profile(name="A"),
        lambda: memory.owners(),
        lambda: memory.work(),
    ):
        with pytest.raises(StoreError, match="closed"):
            use()


def test_closing_waits_for_the_step_in_hand_and_what_is_left_is_done_by_the_next(opened: Opener, place: Place) -> None:
    memory = opened(background=True, poll_s=0.01, batch_wait_s=0.0)
    count = bounded(40, proofs=200)
    for n in range(count):
        memory.of("alice").add(f"I walked to the lake {n}", "Nice.")
    memory.close()
    assert not [t for t in threading.enumerate() if t.name == "embermem-background"]
    assert_sound(place())
    alice = opened(lease_s=1).of("alice")
    assert len(alice.pages()) == count
    alice.settle()
    assert alice.stats().pending == 0
