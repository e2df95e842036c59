"""Files of indexes: a cache that many processes share, that may be removed at any time, and that forgets first."""

from __future__ import annotations

import logging
import os
import random
import shutil
import signal
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from embermem import Memory, OwnerMemory
from embermem.core.types import OwnerId
from embermem.index import mapped
from embermem.protocols import Standing
from forgotten import SECRET, WORDS, found_by, holds, lived
from proofs import bounded
from scripted import Opener

SETTINGS: dict[str, Any] = {"embedder": "hashed", "background": False, "index_cache_from": 1}
QUESTIONS = ("Where do I live?", "What did I see on the lake?", "What does my sister do?", "Which tea do I like?")

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def at(path: Path, **settings: Any) -> Memory:
    return Memory(path, **{**SETTINGS, **settings})


def files(path: Path) -> list[Path]:
    return sorted(Path(f"{path}-cache").glob("*"))


@pytest.fixture(scope="module")
def lived_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store that was lived in and closed: it has a file."""
    path = tmp_path_factory.mktemp("lived") / "memory.db"
    with at(path) as memory:
        lived(memory.of("alice"))
        found_by(memory.of("alice"), *QUESTIONS)
    assert len(files(path)) == 1
    return path.parent


@pytest.fixture
def path(lived_in: Path, tmp_path: Path) -> Path:
    """A copy of that store, with its file."""
    shutil.copytree(lived_in, tmp_path, dirs_exist_ok=True)
    return tmp_path / "memory.db"


def secret_page(alice: OwnerMemory) -> str:
    return next(page.id for page in alice.pages() if SECRET in page.query)


def test_what_is_recalled_is_the_same_with_a_file_and_without(path: Path) -> None:
    with at(path, index_cache="off") as memory:
        without = found_by(memory.of("alice"), *QUESTIONS)
        assert memory.mapped_bytes == 0
    with at(path) as memory:
        assert found_by(memory.of("alice"), *QUESTIONS) == without
        assert 0 < memory.mapped_bytes <= memory.resident_bytes


def test_what_was_said_since_a_file_was_written_is_recalled_with_it(path: Path) -> None:
    def added(memory: Memory) -> str:
        memory.of("alice").add("My sister Ana moved to Porto.", thread="main")
        return found_by(memory.of("alice"), *QUESTIONS, "Where is Ana?")

    copy = path.parent / "copy" / "memory.db"
    copy.parent.mkdir()
    shutil.copy(path, copy)
    with at(copy, index_cache="off") as memory:
        without = added(memory)
    with at(path) as memory:
        assert memory.of("alice").recall("Ana?").text
        assert memory.mapped_bytes > 0
        found = added(memory)
    assert "Porto" in found
    assert [line for line in found.splitlines() if "Porto" in line][:1] == [
        line for line in without.splitlines() if "Porto" in line
    ][:1]


def test_pages_that_expire_are_recalled_with_a_file_until_they_do(path: Path) -> None:
    soon = datetime.now(UTC) + timedelta(days=2)
    with at(path) as memory:
        memory.of("alice").add("The plumber comes on Tuesday.", expires_at=soon)
        memory.of("alice").settle()
    for now, found in ((soon - timedelta(days=1), True), (soon + timedelta(days=1), False)):
        with at(path, clock=lambda now=now: now) as memory:
            assert ("plumber" in found_by(memory.of("alice"), "When does the plumber come?")) is found
            assert memory.mapped_bytes > 0


def test_a_file_is_for_its_makers_eyes_only_and_may_be_removed(path: Path) -> None:
    (file,) = files(path)
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    with at(path) as memory:
        before = found_by(memory.of("alice"), *QUESTIONS)
        shutil.rmtree(file.parent)
        assert found_by(memory.of("alice"), *QUESTIONS) == before
    assert files(path) == []
    with at(path) as memory:
        assert found_by(memory.of("alice"), *QUESTIONS) == before
    assert len(files(path)) == 1


def test_small_memories_and_stores_that_are_only_read_have_no_file(path: Path) -> None:
    shutil.rmtree(f"{path}-cache")
    for settings in ({"index_cache_from": 1000}, {"index_cache": "off"}, {"read_only": True}):
        with at(path, **settings) as memory:
            assert memory.of("alice").recall("tea?").hits
        assert files(path) == []


def test_a_folder_that_cannot_be_written_is_logged_once_and_does_no_harm(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.rmtree(f"{path}-cache")
    Path(f"{path}-cache").write_text("not a folder")
    with caplog.at_level(logging.WARNING, "embermem"), at(path) as memory:
        for _ in range(3):
            memory.of("alice").add("It rains again.")
            assert memory.of("alice").recall("tea?").hits
            memory.of("alice").settle()
    assert len([one for one in caplog.records if "no file of an index" in one.getMessage()]) == 1


def _is_cut_off(file: Path, content: bytes) -> None:
    file.write_bytes(content[:20_000])


def _is_a_pipe(file: Path, content: bytes) -> None:
    os.mkfifo(file)


def _is_a_folder(file: Path, content: bytes) -> None:
    file.mkdir()


def _is_a_link_to_itself(file: Path, content: bytes) -> None:
    file.symlink_to(file)


def test_what_is_in_place_of_a_file_stops_neither_a_recall_nor_a_check(path: Path) -> None:
    (file,) = files(path)
    content = file.read_bytes()
    with at(path, index_cache="off") as memory:
        before = found_by(memory.of("alice"), *QUESTIONS)
    for becomes in (_is_cut_off, _is_a_pipe, _is_a_link_to_itself, _is_a_folder):
        file.unlink()
        becomes(file, content)
        with at(path, read_only=True) as memory:
            assert found_by(memory.of("alice"), *QUESTIONS) == before
            assert not [finding for finding in memory.check() if finding.level == "error"]


def test_a_bit_that_flipped_in_a_file_changes_nothing_that_is_recalled(path: Path) -> None:
    (file,) = files(path)
    content, drawn = file.read_bytes(), random.Random(7)
    with at(path, index_cache="off") as memory:
        without = found_by(memory.of("alice"), *QUESTIONS)
    written = [place for place, byte in enumerate(content) if byte]
    flipped = [
        drawn.choice(written if number % 5 else range(len(content))) for number in range(bounded(50, proofs=150))
    ]
    read_anew = 0
    for place in flipped:
        damaged = bytearray(content)
        damaged[place] ^= 1 << drawn.randrange(8)
        file.write_bytes(damaged)
        with at(path, read_only=True) as memory:
            assert found_by(memory.of("alice"), *QUESTIONS) == without, place
            read_anew += memory.mapped_bytes == 0
    assert read_anew > len(flipped) / 2
    file.write_bytes(content[:5000] + bytes([content[5000] ^ 1]) + content[5001:])
    with at(path) as memory:
        assert found_by(memory.of("alice"), *QUESTIONS) == without
    with at(path, read_only=True) as memory:
        assert found_by(memory.of("alice"), *QUESTIONS) == without
        assert memory.mapped_bytes > 0  # it was written again


def forgets_a_page(alice: OwnerMemory) -> None:
    alice.forget(page=secret_page(alice))


def forgets_the_owner(alice: OwnerMemory) -> None:
    alice.forget_owner()


def test_no_file_outlives_what_is_forgotten_in_whatever_process(path: Path) -> None:
    store, (file,) = path.read_bytes(), files(path)
    content = file.read_bytes()
    ways: list[tuple[Callable[[OwnerMemory], None], dict[str, Any]]] = [
        (forgets_a_page, {}), (forgets_the_owner, {"index_cache": "off"}), (forgets_a_page, {"index_cache": "off"}),
        (forgets_the_owner, {}),
    ]  # fmt: skip
    for number, (forgets, settings) in enumerate(bounded(ways[:2], proofs=ways)):
        copy = path.parent / str(number) / path.name
        copy.parent.mkdir()
        copy.write_bytes(store)
        (copy.parent / file.parent.name).mkdir()
        (copy.parent / file.parent.name / file.name).write_bytes(content)
        with at(copy) as reader, at(copy, **settings) as other:
            assert SECRET in found_by(reader.of("alice"), *QUESTIONS)
            forgets(other.of("alice"))
            assert files(copy) == []
            assert SECRET not in found_by(reader.of("alice"), *QUESTIONS)
            assert holds(copy, *WORDS) == []
        assert holds(copy, *WORDS) == []


def test_files_in_a_folder_that_a_setting_names_are_forgotten_by_whoever_does_not_know_of_it(path: Path) -> None:
    folder = path.parent / "elsewhere"
    with at(path, index_cache=str(folder)) as memory:
        found_by(memory.of("alice"), *QUESTIONS)
    assert len([*folder.rglob("*.index")]) == 1
    with at(path) as other:
        forgets_a_page(other.of("alice"))
    assert [*folder.rglob("*.index")] == []
    assert holds(path, *WORDS) == []


def test_files_in_such_a_folder_are_forgotten_by_an_older_copy_of_the_store_that_does_not_know_of_it(
    path: Path,
) -> None:
    folder, older = path.parent / "elsewhere", path.read_bytes()
    with at(path, index_cache=str(folder)) as memory:
        found_by(memory.of("alice"), *QUESTIONS)
    assert len([*folder.rglob("*.index")]) == 1
    path.write_bytes(older)
    with at(path, index_cache=str(folder)) as memory:
        forgets_a_page(memory.of("alice"))
        assert [*folder.rglob("*.index")] == []
    assert holds(path, *WORDS) == []


def test_verify_and_doctor_see_what_is_in_such_a_folder(path: Path) -> None:
    folder = path.parent / "elsewhere"
    with at(path, index_cache=str(folder)) as memory:
        found_by(memory.of("alice"), *QUESTIONS)
    (file,) = folder.rglob("*.index")
    old = file.read_bytes()
    with at(path, index_cache=str(folder)) as memory:
        alice = memory.of("alice")
        receipt = alice.forget(page=secret_page(alice))
        file.write_bytes(old)
        assert not alice.verify(receipt).ok
        memory.repair()
        assert alice.verify(receipt).ok
    assert holds(path, *WORDS) == []


@pytest.mark.engines
def test_a_folder_of_this_machine_serves_every_engine(opened: Opener, tmp_path: Path) -> None:
    folder = tmp_path / "indexes"
    settings = {**SETTINGS, "index_cache": str(folder)}
    with opened(**settings) as memory:
        lived(memory.of("alice"))
        before = found_by(memory.of("alice"), *QUESTIONS)
    assert len([*folder.rglob("*.index")]) == 1
    with opened(**settings) as memory:
        assert found_by(memory.of("alice"), *QUESTIONS) == before
        assert memory.mapped_bytes > 0
        forgets_a_page(memory.of("alice"))
        assert [*folder.rglob("*.index")] == []
        assert SECRET not in found_by(memory.of("alice"), *QUESTIONS)


def test_verify_and_doctor_see_what_a_file_holds_that_was_brought_back(path: Path) -> None:
    (file,) = files(path)
    old = file.read_bytes()
    with at(path) as memory:
        alice = memory.of("alice")
        receipt = alice.forget(page=secret_page(alice))
        assert alice.verify(receipt).ok
        file.write_bytes(old)
        assert not alice.verify(receipt).ok
        assert any(finding.level == "error" for finding in memory.check())
        assert SECRET not in found_by(alice, *QUESTIONS)
        memory.repair()
        assert alice.verify(receipt).ok
        assert holds(path, *WORDS) == []
    with at(path) as memory:
        file.write_bytes(old)
        assert SECRET not in found_by(memory.of("alice"), *QUESTIONS)


def test_a_file_of_another_copy_of_the_store_is_not_used(path: Path, tmp_path: Path) -> None:
    old = tmp_path / "old" / "memory.db"
    old.parent.mkdir()
    shutil.copy(path, old)
    for copy, line in ((path, "I bought a canoe."), (old, "I sold my piano.")):
        with at(copy) as memory:
            memory.of("alice").add(line, at="2026-06-01T10:00:00+00:00")
            memory.of("alice").settle()
            found_by(memory.of("alice"), *QUESTIONS)
        assert len(files(copy)) == 1
    shutil.copy(old, path)
    with at(path) as memory:
        found = found_by(memory.of("alice"), "What did I buy or sell?")
        assert "piano" in found
        assert "canoe" not in found


def made_again(path: Path) -> tuple[Memory, OwnerId, Standing, Callable[[BinaryIO], None]]:
    """What a process does when a file is due: of an owner who is held, what would be written, and where it stands."""
    memory = at(path)
    owner = memory.of("alice").owner.id
    memory.of("alice").recall("tea?")
    snapshot = memory._parts.system._residents.snapshot(owner)
    held = snapshot.held(memory.embedder_name)
    assert held is not None
    standing = Standing(seq=snapshot.seq, revision=snapshot.revision, born=snapshot.born, mark=snapshot.mark)
    return memory, owner, standing, lambda file: mapped.write(held, file)


def test_no_file_is_made_of_what_stood_before_a_forgetting(path: Path) -> None:
    memory, owner, standing, write = made_again(path)
    with memory, at(path) as other:

        def while_it_is_written(file: BinaryIO) -> None:
            write(file)
            forgets_a_page(other.of("alice"))

        assert memory._store.index_files.keep(owner, standing, write)
        assert not memory._store.index_files.keep(owner, standing, while_it_is_written)
        assert files(path) == []
        assert not memory._store.index_files.keep(owner, standing, write)
    assert holds(path, *WORDS) == []


def write_again_and_again(path: Path) -> None:
    """The child: puts the same file in its place until it is killed."""
    try:
        memory, owner, standing, write = made_again(path)
        os.write(1, b"")
        while True:
            memory._store.index_files.keep(owner, standing, write)
    finally:
        os._exit(1)


@needs_fork
@pytest.mark.proof
def test_a_process_that_is_killed_while_it_writes_leaves_a_whole_file_or_none(path: Path) -> None:
    with at(path) as memory:
        before = found_by(memory.of("alice"), *QUESTIONS)
    moment = random.Random(3)
    for _ in range(bounded(6, proofs=30)):
        child = os.fork()
        if child == 0:
            write_again_and_again(path)
        time.sleep(0.3 + moment.uniform(0, 0.2))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        assert [file.suffix for file in files(path)] in ([], [".index"])
        with at(path) as memory:
            assert found_by(memory.of("alice"), *QUESTIONS) == before


@needs_fork
@pytest.mark.proof
def test_one_process_forgets_while_another_writes_and_is_killed(path: Path) -> None:
    moment = random.Random(5)
    whole = path.read_bytes()
    for _ in range(bounded(4, proofs=20)):
        path.write_bytes(whole)
        child = os.fork()
        if child == 0:
            write_again_and_again(path)
        time.sleep(0.3 + moment.uniform(0, 0.2))
        with at(path) as memory:
            forgets_a_page(memory.of("alice"))
            assert holds(path, *WORDS) == [] or files(path) == []
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            assert files(path) == []
        assert holds(path, *WORDS) == []
