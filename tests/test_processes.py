"""Many processes and threads on one file."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from embermem import Memory
from embermem.errors import StoreError
from scripted import Opener
from soundness import assert_sound, assert_tiers

SETTINGS: dict[str, Any] = {"embedder": "hashed", "background": False}

ADDER = """
import sys
from embermem import Memory
file, worker, count, background = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] == "1"
with Memory(file, embedder="hashed", background=background, poll_s=0.05, batch_wait_s=0.0) as memory:
    alice = memory.of("alice")
    for n in range(count):
        page = alice.add(f"worker {worker} says {n}", "I see.", thread=f"t{worker}")
        assert alice.page(page).query == f"worker {worker} says {n}"
"""


def started(file: Path, worker: int, count: int, background: bool = False) -> subprocess.Popen[bytes]:
    arguments = [sys.executable, "-c", ADDER, str(file), str(worker), str(count), "1" if background else "0"]
    return subprocess.Popen(arguments, stderr=subprocess.PIPE)


@pytest.mark.slow
def test_eight_processes_add_two_hundred_pages_each_to_one_new_file(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    workers = [started(file, n, 200) for n in range(8)]
    for worker in workers:
        _, errors = worker.communicate(timeout=200)
        assert (worker.returncode, errors.decode()) == (0, "")
    with Memory(file, **SETTINGS) as memory:
        pages = memory.of("alice").pages()
        assert len(pages) == 1600
        assert sorted(u.seq for page in pages for u in page.utterances) == list(range(1, 3201))
        for worker_no in range(8):
            mine = [page.query for page in pages if page.thread == f"t{worker_no}"]
            assert mine == [f"worker {worker_no} says {n}" for n in range(200)]
    assert_sound(file)


@pytest.mark.slow
def test_readers_see_what_another_process_added_while_workers_consolidate(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    with Memory(file, **SETTINGS) as memory:
        alice = memory.of("alice")
        alice.add("I saw a purple heron.", "Lovely!")
        workers = [started(file, n, 60, background=True) for n in range(2)]
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
            _, errors = worker.communicate(timeout=60)
            assert (worker.returncode, errors.decode()) == (0, "")
        assert alice.stats().utterances == 2 + 2 * 60 * 2
        alice.settle()
        assert alice.stats().pending == 0
        assert alice.stats().mid > 0
        assert_tiers(memory)
    assert_sound(file)


def test_what_is_added_in_a_forked_child_and_in_its_parent_is_all_kept(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    with Memory(file, **SETTINGS) as memory:
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
    assert_sound(file)


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


def test_threads_add_recall_visit_and_settle_at_once(opened: Opener, tmp_path: Path) -> None:
    memory = opened(background=True, poll_s=0.01, batch_wait_s=0.0)
    alice, bob = memory.of("alice"), memory.of("bob")

    def add(worker: int) -> None:
        for n in range(25):
            alice.add(f"I walked to the lake, {worker} {n}", "Nice.", thread=f"t{worker}")
            bob.add(f"I cooked a soup, {worker} {n}", "Good.")

    def read() -> None:
        for _ in range(25):
            hits = alice.recall("lake").hits
            assert all("lake" in hit.utterance.text or hit.utterance.role == "assistant" for hit in hits)
            alice.visit(hits)
            assert not [p for p in bob.pages() if "lake" in p.query]

    def settle() -> None:
        for _ in range(8):
            alice.settle()
            bob.settle()

    in_threads(lambda: add(1), lambda: add(2), read, read, settle, settle)
    alice.settle()
    bob.settle()
    assert (len(alice.pages()), len(bob.pages())) == (50, 50)
    assert (alice.stats().pending, bob.stats().pending) == (0, 0)
    assert_tiers(memory)
    assert_sound(tmp_path / "memory.db")


def test_two_memories_on_one_file_in_one_process_see_each_other(opened: Opener, tmp_path: Path) -> None:
    one, other = opened(), opened()
    one.of("alice").add("The heron is purple.", "Yes.")
    assert other.of("alice").recall("heron").hits
    for n, word in enumerate("apple bridge candle dragon engine falcon guitar hammer island jacket".split()):
        (one if n % 2 else other).of("alice").add(f"I drew the {word}.", "ok")
        (other if n % 2 else one).of("alice").settle()
        for reader in (one, other):
            assert reader.of("alice").search(word, k=1)[0].utterance.text == f"I drew the {word}."
    assert_tiers(one)
    assert_sound(tmp_path / "memory.db")


def test_the_background_thread_understands_what_was_added(opened: Opener) -> None:
    memory = opened(background=True, poll_s=0.02, batch_wait_s=0.0)
    alice = memory.of("alice")
    for n in range(12):
        alice.add(f"I walked to the lake {n}", "Nice.")
    until = time.monotonic() + 20
    while alice.stats().pending or alice.stats().mid != 9:
        assert time.monotonic() < until
        time.sleep(0.02)


def test_the_background_thread_can_be_switched_off(opened: Opener) -> None:
    before = threading.active_count()
    alice = opened(background=False).of("alice")
    alice.add("Hello", "Hi")
    assert threading.active_count() == before
    assert alice.stats().without_vector == 2


def test_closing_waits_for_the_step_in_hand_and_what_is_left_is_done_by_the_next(
    opened: Opener, tmp_path: Path
) -> None:
    memory = opened(background=True, poll_s=0.01, batch_wait_s=0.0)
    for n in range(200):
        memory.of("alice").add(f"I walked to the lake {n}", "Nice.")
    memory.close()
    assert not [t for t in threading.enumerate() if t.name == "embermem-background"]
    assert_sound(tmp_path / "memory.db")
    alice = opened(lease_s=1).of("alice")
    assert len(alice.pages()) == 200
    alice.settle()
    assert alice.stats().pending == 0


def test_closing_twice_is_nothing_and_use_after_it_says_so(opened: Opener) -> None:
    memory = opened()
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
