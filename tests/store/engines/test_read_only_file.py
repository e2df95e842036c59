"""A store in a folder that may not be written can be read: by a process that truly may not write there."""

from __future__ import annotations

import sqlite3
import sys
import textwrap
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from embermem import Memory
from forked import script
from scripted import SMALL, Clock

pytestmark = [pytest.mark.sqlite, pytest.mark.skipif(sys.platform == "win32", reason="folders have other rights there")]

PLAIN = """
import ctypes, os, sys
if os.geteuid() == 0:  # whom no rights stop but for what is taken from him here: CAP_DAC_OVERRIDE and all others
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    if ctypes.CDLL(None, use_errno=True).capset(header, (ctypes.c_uint32 * 6)()) != 0:
        sys.exit(77)
from embermem import Memory
from embermem.core.errors import EmberError
memory_at = lambda **more: Memory(sys.argv[1], embedder="hashed", background=False, **more)
"""


def plainly(place: Path, text: str) -> list[str]:
    """The lines that a script prints in a process whose user the folder's rights hold for."""
    child = script(PLAIN + textwrap.dedent(text), str(place))
    out, errors = child.communicate()
    if child.returncode == 77:
        pytest.skip("this system lets nobody give up root's rights")
    assert child.returncode == 0, errors
    return out.splitlines()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A store in a folder of its own, which a test may shut."""
    folder = tmp_path / "shut"
    folder.mkdir()
    with Memory(folder / "memory.db", **SMALL, clock=Clock()) as memory:
        memory.of("alice").add("I live in Lyon.", "Since when?")
        memory.of("alice").settle()
    yield folder / "memory.db"
    folder.chmod(0o755)


def shut(place: Path) -> list[str]:
    """Nobody may write; what lies there."""
    for file in place.parent.iterdir():
        file.chmod(0o444)
    place.parent.chmod(0o555)
    return sorted(file.name for file in place.parent.iterdir())


READS = """
with memory_at(read_only=True) as memory:
    alice = memory.of("alice")
    print(alice.recall("Where do I live?").hits[0].utterance.text)
    print(sorted({finding.level for finding in memory.check(deep=True)}))
    try:
        alice.add("And today?")
    except EmberError as error:
        print(type(error).__name__)
"""


def test_a_store_in_a_folder_that_may_not_be_written_is_read(place: Path) -> None:
    lies = shut(place)
    assert plainly(place, READS) == ["I live in Lyon.", "['ok', 'warning']", "StoreReadOnly"]
    assert sorted(file.name for file in place.parent.iterdir()) == lies


def test_a_file_that_may_not_be_written_in_a_folder_that_may_is_read(place: Path) -> None:
    place.chmod(0o444)
    assert plainly(place, READS) == ["I live in Lyon.", "['ok', 'warning']", "StoreReadOnly"]


def test_without_read_only_the_error_says_that_the_folder_may_not_be_written(place: Path) -> None:
    shut(place)
    told = plainly(
        place,
        """
        try:
            memory_at()
        except EmberError as error:
            print(type(error).__name__, error)
        """,
    )
    assert len(told) == 1
    assert told[0].startswith("StoreReadOnly")
    assert "read_only=True" in told[0]


def test_changes_that_wait_in_a_log_are_never_passed_over(place: Path) -> None:
    """The log of a process that was killed, without and with the index that it left."""
    with closing(sqlite3.connect(place)) as other:
        other.execute("PRAGMA wal_autocheckpoint=0")
        other.execute("UPDATE utterance SET text = 'I live in Nantes.' WHERE seq = 1")
        other.commit()
        kept = {suffix: Path(f"{place}{suffix}").read_bytes() for suffix in ("", "-wal", "-shm")}
    for suffixes in (("", "-wal"), ("", "-wal", "-shm")):
        place.parent.chmod(0o755)
        for file in place.parent.iterdir():
            file.unlink()
        for suffix in suffixes:
            Path(f"{place}{suffix}").write_bytes(kept[suffix])
        shut(place)
        told = plainly(
            place,
            """
            try:
                with memory_at(read_only=True) as memory:
                    print(memory.of("alice").pages()[0].query)
            except EmberError as error:
                print(type(error).__name__, error)
            """,
        )
        assert told[0] == "I live in Nantes." or (told[0].startswith("StoreReadOnly") and "folder" in told[0]), told


def test_a_reader_beside_one_who_writes_sees_what_is_written(place: Path) -> None:
    with Memory(place, **SMALL, clock=Clock()) as memory:
        memory.of("alice").add("I moved to Nantes.")
        for file in place.parent.iterdir():
            file.chmod(0o444)
        place.parent.chmod(0o555)
        told = plainly(
            place,
            """
            with memory_at(read_only=True) as memory:
                print(len(memory.of("alice").pages()))
                sys.stdout.flush()
            """,
        )
        assert told == ["2"]


def test_a_file_that_is_written_after_all_is_no_longer_read_as_one_that_nobody_writes(place: Path) -> None:
    told = plainly(
        place,
        """
        import pathlib
        folder = pathlib.Path(sys.argv[1]).parent
        folder.chmod(0o555)
        reader = memory_at(read_only=True)
        print(len(reader.of("alice").pages()))
        folder.chmod(0o755)
        with memory_at() as writer:
            writer.of("alice").add("I moved to Nantes.")
        try:
            reader.of("alice").pages()
        except EmberError as error:
            print(error)
        """,
    )
    assert told[0] == "1"
    assert "open it again" in told[1]
