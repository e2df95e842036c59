"""A folder of text files becomes passages of MemGPT's archival storage, once."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embermem.core.errors import InputError
from embermem_bench.systems import OwnerSystem, SystemMemory
from embermem_bench.systems.memgpt.files import Loaded, cut
from embermem_bench.systems.memgpt.kept import Passage
from embermem_bench.systems.memgpt.system import MemGpt
from memory_systems.conftest import SystemOpener

GUIDE = "The marsh opens at six.\n\nHerons nest in the old alder by the lock.\n\n\nDogs stay outside.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "texts"
    (made / "inner").mkdir(parents=True)
    (made / "guide.md").write_text(GUIDE, encoding="utf-8")
    (made / "inner" / "公园.TXT").write_text("苍鹭在老桤树上筑巢。", encoding="utf-8")
    return made


def opened(system_opened: SystemOpener, passage_chars: int = 60) -> tuple[MemGpt, OwnerSystem]:
    memory: SystemMemory = system_opened("memgpt", "one.db", options={"passage_chars": passage_chars})
    return cast("MemGpt", memory.system), memory.of("alice")


def test_passages_know_their_file_and_place_and_are_found(system_opened: SystemOpener, folder: Path) -> None:
    system, alice = opened(system_opened)
    loaded = system.load_folder(alice.owner, folder)
    assert loaded == Loaded(files=("guide.md", "inner/公园.TXT"), unchanged=(), passages=4, errors=())
    kept = system.kept(alice.owner, Passage)
    assert [(p.file, p.part, p.sources) for p in kept][:3] == [("guide.md", n, ()) for n in (1, 2, 3)]
    context = alice.recall("Where do the herons nest?")
    assert "guide.md (2): Herons nest in the old alder by the lock." in context.text.splitlines()[0:2]
    assert context.hits == ()
    assert "公园.TXT (1): 苍鹭在老桤树上筑巢。" in alice.recall("苍鹭在哪里筑巢？").text


def test_a_folder_loaded_again_writes_nothing_a_changed_file_takes_its_own_place_and_files_are_the_owners_alone(
    system_opened: SystemOpener, folder: Path
) -> None:
    system, alice = opened(system_opened)
    system.load_folder(alice.owner, folder)
    before = system.kit.records.standing(alice.owner.id).revision
    restarted, _ = opened(system_opened)
    assert len(restarted.kept(alice.owner, Passage)) == 4
    other = system_opened("memgpt", "one.db").of("alice", agent="other")
    assert restarted.kept(other.owner, Passage) == ()
    assert "alder" not in other.recall("Where do the herons nest?").text
    again = system.load_folder(alice.owner, folder)
    assert (again.files, again.unchanged, again.passages) == ((), ("guide.md", "inner/公园.TXT"), 0)
    assert system.kit.records.standing(alice.owner.id).revision == before
    (folder / "guide.md").write_text("Closed for the winter.", encoding="utf-8")
    assert system.load_folder(alice.owner, folder).files == ("guide.md",)
    texts = {p.text for p in system.kept(alice.owner, Passage)}
    assert texts == {"Closed for the winter.", "苍鹭在老桤树上筑巢。"}


def test_what_cannot_be_read_as_text_is_named_and_not_guessed(system_opened: SystemOpener, folder: Path) -> None:
    (folder / "picture.png").write_bytes(b"\x89PNG")
    (folder / "latin.txt").write_bytes("Müller".encode("latin-1"))
    (folder / "zero.txt").write_bytes(b"a\0b")
    (folder / "long.txt").write_text("x" * 200, encoding="utf-8")
    (folder / "link.txt").symlink_to("/etc/hostname")
    (folder / "away").symlink_to("/etc")
    (folder / ".hidden.txt").write_text("hidden", encoding="utf-8")
    memory = system_opened("memgpt", options={"file_bytes": 150})
    system, alice = cast("MemGpt", memory.system), memory.of("alice")
    loaded = system.load_folder(alice.owner, folder)
    assert loaded.files == ("guide.md", "inner/公园.TXT")
    assert dict(loaded.errors) == {
        "picture.png": "not one of .txt, .md",
        "latin.txt": "not UTF-8",
        "zero.txt": "not text: it holds a zero byte",
        "long.txt": "longer than 150 bytes",
        "link.txt": "not a plain file",
        "away": "not a plain file",
    }
    with pytest.raises(InputError, match="no folder"):
        system.load_folder(alice.owner, folder / "guide.md")


@given(st.text("ab c.\n。苍", max_size=300), st.integers(1, 40))
def test_cutting_loses_nothing_and_keeps_to_its_length(text: str, chars: int) -> None:
    parts = cut(text, chars)
    assert all(0 < len(part) <= chars for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())


def test_whole_paragraphs_stand_together_as_far_as_they_fit() -> None:
    assert cut("One.\n\nTwo.\r\n\r\nThree is longer.", 12) == ["One.\n\nTwo.", "Three is lon", "ger."]
    assert cut("First one. Second one.\n\nNext.", 12) == ["First one.", "Second one.", "Next."]
