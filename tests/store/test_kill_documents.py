"""A document is stored, or replaced, whole or not at all: the process that does it is killed with SIGKILL."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path
from typing import Any

import pytest

from embermem import Memory
from forked import Child, script
from proofs import bounded
from scripted import Place
from soundness import assert_sound

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

SETTINGS: dict[str, Any] = {"embedder": "hashed", "background": False}
LINE = "Line {line} of {part} says that the purple heron is at the office."
FIRST = "\n\n".join(
    f"## Part {part}\n\n" + " ".join(LINE.format(line=line, part=part) for line in range(17)) for part in range(1000)
)
"""About a million characters."""
SECOND = FIRST.replace("Line 3 ", "Row 3 ").replace("## Part 9", "## Chapter 9")
VERSIONS = (FIRST, SECOND)
ADDING = """
import sys
from pathlib import Path
from embermem import Memory

with Memory(sys.argv[1], embedder="hashed", background=False) as memory:
    alice = memory.of("alice")
    alice.documents()
    print("ready", flush=True)
    for name in sys.argv[2:]:
        alice.add_document(Path(name).read_text(), source="lease.md", metadata={"file": Path(name).name})
        print("done", flush=True)
"""
Told = list[tuple[str, str, dict[str, Any]]]


@pytest.fixture
def files(tmp_path: Path, engine: str) -> list[str]:
    """The versions of a document; on a server a fifth of them, where not all is run."""
    share = 1 if engine == "sqlite" else bounded(5, proofs=1)
    for number, text in enumerate(VERSIONS):
        (tmp_path / f"{number}.md").write_text(text[: len(text) // share])
    return [str(tmp_path / f"{number}.md") for number in range(len(VERSIONS))]


def told(place: str | Path) -> Told:
    """A document as it is read back; nothing where there is none."""
    with Memory(place, **SETTINGS) as memory:
        assert [one for one in memory.check(deep=True) if one.level == "error"] == []
        alice = memory.of("alice")
        found = [one for document in alice.documents() for one in alice.passages(document.id)]
        assert alice.stats().passages == len(found)
        assert {one.metadata["file"] for one in found} <= {document.metadata["file"] for document in alice.documents()}
        return [(one.text, one.passage.place, dict(one.metadata)) for one in found if one.passage is not None]


def began(child: Child) -> None:
    assert child.stdout.readline() == "ready\n", child.errors()


def test_a_document_whose_process_was_killed_is_there_whole_or_as_it_was(
    place: Place, engine: str, files: list[str]
) -> None:
    assert len(FIRST) > 1_000_000
    child = script(ADDING, str(place("whole.db")), *files)
    began(child)
    took: list[float] = []
    wanted: list[Told] = [[]]
    for number in range(len(files)):
        begun = time.monotonic()
        assert child.stdout.readline() == "done\n", child.errors()
        took.append(time.monotonic() - begun)
        if number == 0:
            single = script(ADDING, str(place("first.db")), files[0])
            single.communicate()
            wanted.append(told(place("first.db")))
    child.communicate()
    wanted.append(told(place("whole.db")))
    assert wanted[1] != wanted[2]
    chance, hit = random.Random(24), 0
    for store in range(bounded(1, proofs=5)):
        target = place(f"killed{store}.db")
        for stands, name in enumerate(files):
            for blow in range(bounded(3 if engine == "sqlite" else 1, proofs=6)):
                child = script(ADDING, str(target), name)
                began(child)
                time.sleep(chance.uniform(0, took[stands] * (1.0 if blow else 0.3)))  # the first hits it
                child.kill()
                out, _ = child.communicate()
                hit += out == ""
                now = told(target)
                assert now == wanted[stands + 1] or (now == wanted[stands] and out == "")
                assert_sound(target)
                if now == wanted[stands + 1]:
                    break
            whole = script(ADDING, str(target), name)
            _, errors = whole.communicate()
            assert whole.returncode == 0, errors
            assert told(target) == wanted[stands + 1]
    assert hit > 0
