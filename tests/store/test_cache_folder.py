"""The folder of index files: what is asked to go from it goes, or whoever asks is told."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from embermem import Memory
from embermem.core.types import OwnerId
from embermem.store.cache_folder import CacheFolder

ALICE, BOB = OwnerId("alice"), OwnerId("bob")

needs_rights = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs the rights of POSIX")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CacheFolder]:
    """One with a file of each, for somebody from whom a folder can be kept: from root nothing can."""
    monkeypatch.chdir(tmp_path)
    tmp_path.chmod(0o755)
    path = Path("cache")
    path.mkdir()
    for owner in (ALICE, BOB):
        (path / f"{owner}.index").write_bytes(b"what was said")
    root = os.geteuid() == 0
    if root:
        os.chown(path, 65534, 65534)
        os.seteuid(65534)
    try:
        yield CacheFolder(path)
    finally:
        if root:
            os.seteuid(0)
        path.chmod(0o700)


@needs_rights
def test_a_file_is_removed_and_that_of_another_stays(folder: CacheFolder) -> None:
    folder.drop(ALICE)
    assert [file.name for file in folder.files()] == ["bob.index"]


@needs_rights
def test_a_folder_that_cannot_be_listed_is_not_taken_for_an_empty_one(folder: CacheFolder) -> None:
    folder.path.chmod(0o300)
    with pytest.raises(PermissionError):
        folder.drop(ALICE)
    with pytest.raises(PermissionError):
        folder.files()


def test_a_folder_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "alice.index").write_bytes(b"of somebody else")
    (tmp_path / "memory.db-cache").symlink_to(tmp_path / "elsewhere")
    with Memory(tmp_path / "memory.db", embedder="hashed", background=False) as memory:
        alice = memory.of("alice")
        alice.add("I live in Lyon.")
        alice.settle()
        alice.recall("Where do I live?")
        alice.forget_owner()
    folder = CacheFolder(tmp_path / "memory.db-cache")
    folder.drop_all()
    with pytest.raises(OSError, match="it is a link"):
        folder.put(ALICE, lambda file: None, lambda: nullcontext(True))
    assert [one.name for one in (tmp_path / "elsewhere").iterdir()] == ["alice.index"]


@needs_rights
def test_a_folder_that_is_not_there_or_out_of_reach_has_no_files(folder: CacheFolder) -> None:
    for path in (Path("none"), Path("cache/alice.index/none"), folder.path / "within"):
        folder.path.chmod(0o700 if path.parts[-1] != "within" else 0)
        CacheFolder(path).drop(ALICE)
        assert CacheFolder(path).files() == ()
