"""An owner who was forgotten does not come back by a retry, and may begin anew."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from embermem import Memory, OwnerMemory
from embermem.bootstrap import on_a_server
from embermem.core.errors import InputError, KeyReused, NotFound
from embermem.core.types import Forgotten
from scripted import NOW, Clock, Opener, Place
from soundness import assert_sound

SAID = "I live in Xanadu."
MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": SAID, "at": "2026-05-01T10:00:00+00:00"},
    {"role": "assistant", "content": "Since when?", "at": "2026-05-01T10:00:05+00:00"},
]


def nothing_of(memory: Memory, place: Place, user: str) -> bool:
    """Whether no read and no row knows of anyone."""
    assert_sound(place())
    assert all(finding.level == "ok" for finding in memory.check(deep=True))
    assert memory.repair() == ()
    told = b"" if on_a_server(place()) else Path(place()).read_bytes()
    assert [word for word in (b"Xanadu", user.encode(), b"turn-1") if word in told] == []
    return memory.owners() == () and memory.of(user).pages() == ()


def test_no_retry_and_no_ingestion_brings_a_forgotten_owner_back(
    memory: Memory, alice: OwnerMemory, place: Place, clock: Clock
) -> None:
    alice.add(SAID, "Since when?", key="turn-1")
    alice.add_messages([{"role": "user", "content": "I like figs."}], key="turn-2")
    alice.forget_owner()
    clock.go(30)
    for _ in range(2):
        with pytest.raises(KeyReused, match="was forgotten"):
            alice.add(SAID, "Since when?", key="turn-1")
        added = alice.add_messages([{"role": "user", "content": "I like figs."}], key="turn-2")
        assert (added.page_ids, added.utterance_ids) == ((), ())
        assert nothing_of(memory, place, "alice")

    alice.add_messages(MESSAGES, thread="s1")
    alice.forget_owner()
    clock.go(30)
    assert alice.add_messages(MESSAGES, thread="another").page_ids == ()
    with pytest.raises(InputError, match="was forgotten"):
        alice.add(SAID, at="2026-05-01T12:00:00+02:00")
    assert nothing_of(memory, place, "alice")
    added = alice.add_messages([*MESSAGES, {"role": "user", "content": "And today?"}])
    assert [u.text for u in alice.utterances()] == ["And today?"]
    assert len(added.utterance_ids) == 1


def test_no_zone_and_no_redaction_of_who_sends_a_forgotten_message_again_brings_it_back(
    opened: Opener, clock: Clock
) -> None:
    card, at = "My card is 4111 1111 1111 1111.", "2026-05-01T10:00:00"
    raw, clean = opened(redact="none"), opened(redact="secrets")
    for place, first in enumerate((raw, clean)):
        for zone in (None, "Asia/Tokyo"):
            user = f"user {place} {zone}"
            owner = first.of(user, timezone=zone)
            page = owner.add(card, at=at)
            for forgotten in ("a page", "everything"):
                owner.forget(page=page) if forgotten == "a page" else owner.forget_owner()
                for again in (raw, clean):
                    for other in ("Asia/Tokyo", "America/New_York", "UTC"):
                        sent = {"role": "user", "content": card, "at": at}
                        added = again.of(user, timezone=other).add_messages([sent])
                        assert added.page_ids == (), (place, zone, forgotten, again is raw, other)
            assert [u.text for u in owner.utterances()] == []
    clock.go(30)
    assert raw.of("user 0 None").add(card, at="2026-05-01T10:00:01")  # another time


def test_who_comes_back_begins_anew_with_the_same_words_and_keys_of_other_content(
    alice: OwnerMemory, clock: Clock
) -> None:
    alice.add(SAID, "Since when?", key="turn-1")
    alice.settle()
    alice.forget_owner()
    clock.go(30)
    page = alice.add(SAID, "Since when?")  # said again, at another time
    alice.settle()
    assert [fact.value for fact in alice.facts()] == ["Xanadu"]
    other = alice.add("I like figs.", key="turn-1")
    assert alice.add("I like figs.", key="turn-1") == other
    assert [one.id for one in alice.pages()] == [page, other]


def test_what_is_decided_of_a_forgotten_owner_is_not_written_for_who_comes_back(
    memory: Memory, opened: Opener, clock: Clock
) -> None:
    others = {user: memory.of(user) for user in ("alice", "bob", "clara")}

    def lived(user: str, word: str) -> int:
        clock.go(30)
        others[user].add(f"I live in {word}.", f"Why {word}?")
        others[user].settle()
        return others[user].changes()[-1].no

    stood, to_come = {user: lived(user, "Xanadu") for user in others}, list[str]()
    receipts: list[Forgotten] = []

    def clock_of_another() -> datetime:
        """Before a correction reads, in between, or before it writes, everything is forgotten, and the user is back."""
        if to_come and (user := to_come.pop()):
            receipts.append(others[user].forget_owner())
            assert lived(user, "Lyon") == stood[user]
        return clock()

    second = opened(clock=clock_of_another)
    for calls, (user, other) in enumerate(others.items()):
        mine = second.of(user)
        (fact,) = mine.facts()
        to_come += [user, *[""] * calls]
        with suppress(NotFound):  # else it corrects the fact that has this id by now
            mine.correct(fact.id, f"{user} lives in Rome", value="Rome")
        assert next(one.value for one in (*other.past_facts(), *other.facts())) == "Lyon"
        assert (to_come, [one.what for one in memory.check(deep=True) if one.level == "error"]) == ([], [])
        assert other.verify(receipts[-1]).ok  # facts and segments of the same ids are others now


def test_what_was_forgotten_before_stays_so_when_all_the_rest_is_forgotten(
    memory: Memory, alice: OwnerMemory, place: Place, clock: Clock
) -> None:
    alice.forget(page=alice.add(SAID, at=NOW, key="turn-1"))
    alice.add("I like figs.", key="turn-2")
    alice.forget_owner()
    clock.go(30)
    with pytest.raises(KeyReused):
        alice.add(SAID, at=NOW, key="turn-1")
    with pytest.raises(InputError):
        alice.add(SAID, at=NOW)
    assert nothing_of(memory, place, "alice")

    alice = memory.of("alice", "2")
    said = {SAID: clock.now, "I like figs.": clock.now + timedelta(seconds=30)}
    for text, at in said.items():
        alice.add(text, at=at, key=text)
        alice.forget_owner()
        clock.go(30)
    for text, at in said.items():
        with pytest.raises(KeyReused):
            alice.add(text, at=at, key=text)
        with pytest.raises(InputError, match="this message was forgotten"):
            alice.add(text, at=at)


def test_who_is_readmitted_or_another_stores_the_same_messages(
    memory: Memory, alice: OwnerMemory, place: Place
) -> None:
    alice.add(SAID, at=NOW, key="turn-1")
    alice.forget_owner()
    bob = memory.of("bob")
    bob.add(SAID, at=NOW, key="turn-1")
    assert [page.query for page in bob.pages()] == [SAID]

    alice = memory.of("alice", "2")
    alice.add(SAID, at=NOW, key="turn-1")
    memory.of("bob").add(SAID, at=NOW)
    alice.forget_owner()
    memory.of("bob").forget_owner()
    assert alice.readmit() == 2
    assert alice.readmit() == 0
    alice.add(SAID, at=NOW, key="turn-1")
    with pytest.raises(InputError):
        memory.of("bob").add(SAID, at=NOW)
    assert_sound(place())


def test_what_is_kept_of_a_forgotten_owner_moves_with_a_copy(opened: Opener, place: Place, tmp_path: Any) -> None:
    from embermem.bootstrap import copy_store
    from embermem.core.config import load
    from scripted import SMALL

    memory = opened()
    memory.of("alice").add(SAID, at=NOW, key="turn-1")
    memory.of("alice").forget_owner()
    memory.of("bob").add("Hello")
    settings = load(**SMALL, forgotten_key_file=str(tmp_path / "memory.db.key"))
    copy_store(place(), place("copy.db"), settings, NOW, lambda progress: None)
    copied = opened("copy.db", forgotten_key_file=str(tmp_path / "memory.db.key"))
    with pytest.raises(KeyReused):
        copied.of("alice").add(SAID, at=NOW, key="turn-1")
    assert [owner.user for owner in copied.owners()] == ["bob"]
