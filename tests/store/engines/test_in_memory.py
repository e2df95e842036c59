"""A store in memory does what one in a file does, is nobody else's, leaves nothing, and writes no file."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from running import run
from serving import running

from embermem import AsyncMemory, Memory
from embermem.client import Client
from embermem.core.errors import ConfigError, NotFound, StoreClosed
from json_lines import exported, imported
from lives import copy_of
from scripted import SMALL, Clock

pytestmark = pytest.mark.sqlite
QUICK = {**SMALL, "busy_timeout_s": 5.0}


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """One in memory, in an empty folder, which is empty afterwards."""
    monkeypatch.chdir(tmp_path)
    with Memory(":memory:", **QUICK, clock=Clock()) as memory:
        yield memory
    assert list(tmp_path.iterdir()) == []


def lived(memory: Memory, user: str = "alice") -> None:
    alice = memory.of(user)
    for day in range(1, 8):
        alice.add(f"I live in Lyon. I like figs, said {day} times.", "Since when?", at=f"2026-05-0{day}T10:00:00Z")
    alice.settle()


def test_it_remembers_and_is_sound(memory: Memory) -> None:
    lived(memory)
    alice = memory.of("alice")
    assert "Lyon" in alice.recall("Where do I live?").text
    assert alice.segments()
    assert {one.level for one in memory.check(deep=True)} == {"ok"}
    assert [one.same for one in memory.rebuild()] == [True]
    assert memory.stats().bytes > 0
    before = alice.stats()
    alice.understand_anew(dry_run=True)
    assert alice.stats() == before


def test_what_is_forgotten_is_gone_is_verified_and_is_not_learnt_again_and_its_key_can_be_renewed(
    memory: Memory,
) -> None:
    lived(memory)
    alice = memory.of("alice")
    receipt = alice.forget(fact=alice.facts()[0].id)
    assert receipt.scrubbed
    assert alice.verify(receipt).ok
    known = {fact.text for fact in alice.facts()}
    alice.understand_anew()
    assert {fact.text for fact in alice.facts()} == known
    receipt = alice.forget(page=alice.pages()[0].id)
    memory.renew_forgotten_key()
    assert "key" in alice.verify(receipt).unchecked
    with pytest.raises(NotFound):
        alice.page(receipt.pages[0])
    gone = alice.forget_owner()
    assert gone.scrubbed
    assert memory.owners() == ()
    assert alice.verify(gone).ok
    assert alice.readmit() > 0


def test_two_are_independent_closed_is_gone_and_none_is_opened_to_be_read_only(memory: Memory) -> None:
    with pytest.raises(ConfigError, match="cannot be opened with read_only=True"):
        Memory(":memory:", **QUICK, read_only=True)
    lived(memory)
    with Memory("sqlite:///:memory:", **QUICK) as other:
        assert other.owners() == ()
        other.of("bob").add("Hello")
    assert [owner.user for owner in memory.owners()] == ["alice"]
    with pytest.raises(StoreClosed):
        other.owners()
    with Memory(Path(":memory:"), **QUICK) as third:
        assert third.owners() == ()


def test_threads_read_and_write_it_at_once(memory: Memory) -> None:
    def add(user: str) -> None:
        try:
            for number in range(4):
                memory.of(user).add(f"I like figs, said {number} times.", "I see.")
                memory.of(user).recall("What do I like?")
                memory.work()
        except Exception as error:  # noqa: BLE001
            failed.append(error)

    failed: list[Exception] = []
    threads = [threading.Thread(target=add, args=(name,)) for name in ("a", "b", "c", "d")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert {memory.of(name).stats().pages for name in "abcd"} == {4}
    assert {one.level for one in memory.check()} == {"ok"}


def test_the_background_thread_works_on_it() -> None:
    with Memory(":memory:", **{**QUICK, "background": True, "pause_s": 0.0, "short_term_pages": 1}) as memory:
        alice = memory.of("alice")
        for number in range(4):
            alice.add(f"I live in Lyon, said {number} times.", "I see.")
        end = time.monotonic() + 60
        while not alice.segments() and time.monotonic() < end:
            time.sleep(0.05)
        assert alice.segments()


def test_it_is_exported_imported_and_kept_in_a_file(memory: Memory, tmp_path_factory: pytest.TempPathFactory) -> None:
    lived(memory)
    with Memory(":memory:", **QUICK, clock=Clock()) as other:
        imported(other, exported(memory, vectors=True))
        assert other.of("alice").facts() == memory.of("alice").facts()
        assert other.of("alice").recall("Where do I live?").text == memory.of("alice").recall("Where do I live?").text
    alice = memory.of("alice")
    receipt = alice.forget(page=alice.pages()[0].id)
    file = tmp_path_factory.mktemp("kept") / "memory.db"
    copy_of(memory, file)
    with Memory(file, **QUICK, clock=Clock()) as kept:
        assert kept.of("alice").pages() == alice.pages()
        assert kept.of("alice").verify(receipt).ok
    assert file.with_name("memory.db.key").stat().st_mode & 0o777 == 0o600


def test_async_callers_have_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    async def asked() -> str:
        async with AsyncMemory(":memory:", **QUICK) as memory:
            alice = memory.of("alice")
            await asyncio.gather(*(alice.add(f"I live in Lyon, said {n} times.") for n in range(20)))
            return (await alice.recall("Where do I live?")).text

    assert "Lyon" in asyncio.run(asked())
    assert list(tmp_path.iterdir()) == []


def test_a_command_that_ends_at_once_says_that_nothing_would_be_kept() -> None:
    for command in (("add", "I like figs."), ("recall", "figs"), ("migrate",), ("export", "-"), ("worker",)):
        told = run(Path(":memory:"), *command)
        assert (told.code != 0, ":memory:" in told.err) == (True, True), command


NOTHING_WRITTEN = """
import json, os
from embermem import Memory
with Memory(":memory:", embedder="hashed", background=False, short_term_pages=1) as memory:
    alice = memory.of("alice")
    for number in range(5):
        alice.add(f"I live in Lyon, said {number} times.", "I see.")
    alice.settle()
    receipt = alice.forget(page=alice.pages()[0].id)
    found = [alice.verify(receipt).ok, memory.check(deep=True)[0].level, memory.rebuild()[0].same]
    if hasattr(os, "fork"):
        child = os.fork()
        if child == 0:
            try:
                alice.pages()
            except Exception as error:
                os._exit(0 if "stays with the process that opened it" in str(error) else 1)
            os._exit(2)
        found.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(json.dumps(found))
"""


def test_no_file_is_made_anywhere_and_the_child_of_a_fork_is_refused(tmp_path: Path) -> None:
    folders = {name: tmp_path / name for name in ("home", "tmp", "cwd", "data")}
    for folder in folders.values():
        folder.mkdir()
    environment = {
        **os.environ,
        **{"HOME": str(folders["home"]), "TMPDIR": str(folders["tmp"]), "XDG_DATA_HOME": str(folders["data"])},
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-c", NOTHING_WRITTEN]
    done = subprocess.run(command, cwd=folders["cwd"], env=environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)[:3] == [True, "ok", True]
    assert json.loads(done.stdout)[3:] in ([], [0])
    assert [file for folder in folders.values() for file in folder.rglob("*")] == []


def test_one_process_serves_it() -> None:
    with Memory(":memory:", **QUICK) as memory, running(memory) as url, Client(url) as client:
        alice = client.of("alice")
        alice.add("I live in Lyon.", "Since when?")
        alice.settle()
        assert "Lyon" in alice.recall("Where do I live?").text
