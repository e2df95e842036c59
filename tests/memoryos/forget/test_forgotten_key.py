"""The key of what was forgotten is missing, or is another store's: what needs it says so, and all else goes on."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from embermem import Memory, OwnerMemory
from embermem.core.errors import ForgottenKeyLost, StoreError
from embermem.store.forgotten_key import KeyFile
from lives import store_of
from scripted import Clock, Opener, Place
from soundness import meddle
from store_keys import key_of

SAID = [{"role": "user", "content": "I live in Quuxville."}, {"role": "assistant", "content": "Noted."}]
AT = "2026-03-01T10:00:00Z"


@pytest.fixture
def alice(memory: Memory) -> OwnerMemory:
    return memory.of("alice")


def forgets(alice: OwnerMemory) -> str:
    """One page forgotten, by page and by fact; the receipt."""
    alice.add_messages(SAID, at=AT)
    alice.add("I like figs.", "Dried ones?")
    alice.settle()
    alice.forget(fact=next(fact.id for fact in alice.facts() if fact.value == "figs"))
    return alice.forget(page=alice.pages()[0].id).to_json()


def take_away(alice: OwnerMemory) -> Path:
    file = key_of(alice)
    file.rename(file.with_name(f"{file.name}.away"))
    return file


def put_another(alice: OwnerMemory) -> Path:
    file = take_away(alice)
    file.write_text("00" * 32)
    return file


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a key that is being written has a name of its own")
def test_a_key_that_is_being_written_has_no_name_that_a_killed_process_could_leave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there: list[list[Path]] = []
    monkeypatch.setattr(os, "fsync", lambda handle: there.append([*tmp_path.iterdir()]))
    key = KeyFile(tmp_path / "memory.db.key")
    for content in (b"00ff", b"11ee"):
        key.write(content)
    assert there == [[], [key.file]]
    assert key.read() == b"00ff"
    assert [*tmp_path.iterdir()] == [key.file]
    assert key.file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("spoil", [take_away, put_another])
def test_what_needs_the_key_is_refused_and_reads_and_adds_go_on(
    alice: OwnerMemory, spoil: object, clock: Clock, memory: Memory
) -> None:
    receipt = forgets(alice)
    assert alice.verify(receipt).ok
    assert callable(spoil)
    file = spoil(alice)
    before = file.read_bytes() if file.exists() else None
    found = alice.verify(receipt)
    assert not found.ok
    assert found.unchecked.startswith("cannot be checked: ")
    assert str(file) in found.unchecked
    page = alice.add("We saw a heron on the lake.", "Where?")
    with pytest.raises(ForgottenKeyLost, match="put "):
        alice.forget(page=page)
    clock.go(60)
    alice.add("I live in Nantes.", "Since when?")
    with pytest.raises(ForgottenKeyLost):
        alice.settle()
    assert alice.search("heron")[0].utterance.page_id == page
    assert "heron" in alice.recall("What was on the lake?").text
    assert alice.facts() == ()
    wrong = [finding for finding in memory.check() if finding.level == "error"]
    assert any("forgotten content cannot be recognised" in finding.what for finding in wrong)
    assert (file.read_bytes() if file.exists() else None) == before
    file.with_name(f"{file.name}.away").replace(file)
    alice.settle()
    assert alice.verify(receipt).ok
    assert alice.add_messages(SAID, at=AT).page_ids == ()


def test_a_store_that_forgot_before_it_remembered_its_key_refuses_to_make_another(
    alice: OwnerMemory, place: Place
) -> None:
    receipt = forgets(alice)
    meddle(place(), "DELETE FROM store WHERE key = 'forgotten_key_mark'")
    take_away(alice)
    assert alice.verify(receipt).unchecked
    with pytest.raises(StoreError, match="missing"):
        alice.forget(page=alice.pages()[0].id)


def test_a_key_that_is_lost_for_good_is_replaced_on_demand_only(alice: OwnerMemory, memory: Memory) -> None:
    receipt, file = forgets(alice), put_another(alice)
    memory.renew_forgotten_key()
    assert file.with_name(f"{file.name}.other").read_text() == "00" * 32
    found = alice.verify(receipt)
    assert not found.ok
    assert (
        found.unchecked == "cannot be checked: the receipt was made with another key than the current one of the store"
    )
    again = alice.add_messages(SAID, at=AT)
    assert len(again.utterance_ids) == 2
    alice.settle()
    assert alice.verify(alice.forget(page=again.page_ids[0])).ok


def test_a_store_without_the_mark_remembers_its_key_at_the_next_forgetting(alice: OwnerMemory, place: Place) -> None:
    receipt = forgets(alice)
    meddle(place(), "DELETE FROM store WHERE key = 'forgotten_key_mark'")
    assert alice.verify(receipt).ok
    assert store_of(alice).key_mark() == store_of(alice).setting("forgotten_key_mark")


def test_a_read_only_store_makes_no_key(opened: Opener, place: Place) -> None:
    memory = opened()
    memory.of("alice").add("I live in Lyon.")
    file = key_of(memory.of("alice"))
    memory.close()
    with Memory(place(), read_only=True, embedder="hashed") as reader:
        assert reader.of("alice").pages()
    assert not file.exists()
