"""Receipts: what was forgotten can be shown to be gone, does not come back by itself, and the disk is scrubbed."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from attack.engines import PostgresServer
from embermem import Forgotten, Memory, OwnerMemory
from embermem.bootstrap import copy_store, wall_clock
from embermem.core.changes import TextsBarred
from embermem.core.config import load
from embermem.core.errors import InputError
from embermem.core.types import UtteranceId
from embermem.testing.answers import answer
from embermem.testing.model_server import ModelServer
from forgotten import SECRET, WORDS, holds, lived, tell
from lives import call, copy_of, store_of
from scripted import NOW, SMALL, Clock, Opener, Place
from soundness import meddle, rows


def test_a_receipt_says_no_word_is_the_same_after_a_journey_as_json_and_what_it_names_is_verified_to_be_gone(
    alice: OwnerMemory, place: Place, clock: Clock
) -> None:
    pages = lived(alice)
    text = alice.page(pages["secret"]).query
    fact = next(fact for fact in alice.facts() if "fig" in fact.value)
    receipt = alice.forget(page=pages["secret"])
    told = receipt.to_json()
    assert Forgotten.from_json(told) == receipt
    assert not any(word.lower() in told.lower() for word in WORDS)
    assert {len(mark) for mark in receipt.marks} == {40}
    assert not receipt.scrub_pending
    for wrong in ("", "{}", "[1]", '{"dry_run": 3}'):
        with pytest.raises(ValueError, match="receipt"):
            Forgotten.from_json(wrong)
        with pytest.raises(InputError, match="receipt"):
            alice.verify(wrong)
    for one in (receipt, alice.forget(fact=fact.id), alice.forget(segment=alice.segments()[0].id)):
        found = alice.verify(one)
        assert (found.ok, found.found, found.scrubbed, found.backups) == (True, (), True, ())
        assert alice.verify(one.to_json()) == found
    with pytest.raises(InputError, match="dry run"):
        alice.verify(alice.forget(page=pages["walk"], dry_run=True))

    # What is no id is checked like any other.
    strange = ("", "u", "p" * 25, "ü" * 25, "u' OR 1=1 --", "x" * 10_000)
    made_up = replace(receipt, utterances=tuple(UtteranceId(one) for one in strange), marks=("", "0" * 40))
    assert alice.verify(made_up).ok

    # An id or a text that came back is found.
    clock.go(60)
    alice.add(text.upper())
    found = alice.verify(receipt)
    assert not found.ok
    assert found.found
    assert set(found.found) <= set(receipt.marks)
    first = alice.pages()[0]
    meddle(
        place(),
        f"UPDATE page SET chain_id = '{receipt.pages[0]}' WHERE owner_id = '{alice.owner.id}' AND no = {first.no}",
    )
    assert {*alice.verify(receipt).found} == {receipt.pages[0], *found.found}


def test_a_chain_that_a_page_which_stays_was_in_is_not_named_as_gone(opened: Opener) -> None:
    """A model that reads the first page again gives it a chain of its own; the log still names the old one."""
    with ModelServer(answer) as server:
        alice = opened(model="scripted", model_url=server.url).of("alice")
        alice.add("I saw a heron on the lake.", thread="t1")
        last = alice.add("The heron on the lake came back.", thread="t1")
        for n in range(2):
            alice.add(f"Town {n} is far.", thread=f"t{n + 2}")
        alice.settle()
        first, page = alice.pages()[:2]
        assert page.id == last
        assert page.chain_id != first.chain_id
        assert alice.verify(receipt := alice.forget(page=last)).ok
    assert (receipt.pages, receipt.chains) == ((last,), ())


def test_a_whole_memory_and_a_whole_user_are_forgotten_with_receipts(opened: Opener) -> None:
    memory = opened()
    tutor, friend, bob = memory.of("alice", "tutor"), memory.of("alice"), memory.of("bob")
    for one in (tutor, friend, bob):
        tell(one, "I live in Lyon.", "I like figs.")
        one.settle()
    tried = memory.forget_user("alice", dry_run=True)
    assert [owner.user for owner in memory.owners()] == ["alice", "alice", "bob"]
    done = memory.forget_user("alice")
    assert {*done} == {*tried} == {"tutor", "default"}
    assert {agent: one.sha256 for agent, one in done.items()} == {agent: one.sha256 for agent, one in tried.items()}
    assert [owner.user for owner in memory.owners()] == ["bob"]
    assert tutor.verify(done["tutor"]).ok
    assert not bob.verify(bob.forget(page=bob.pages()[0].id)).found
    assert memory.forget_user("nobody") == {}


@pytest.mark.engines
def test_with_a_user_go_the_lines_of_the_ledger_of_agents_whose_memory_holds_nothing(
    opened: Opener,
) -> None:
    memory = opened()
    tell(memory.of("alice"), "I live in Lyon.")
    tell(memory.of("bob", "tutor"), "I live in Laon.")
    store = store_of(memory)
    for number, (user, agent) in enumerate((("alice", "tutor"), ("carol", "default"), ("bob", "default"))):
        call(store, memory.of(user, agent), number)
    memory.forget_user("alice", dry_run=True)
    assert len(memory.calls(NOW)) == 3
    assert {*memory.forget_user("alice")} == {"default"}
    assert memory.forget_user("carol") == {}
    assert [line.id for line in memory.calls(NOW)] == ["call2"]


# ------------------------------------------------------------------------------------------------ it does not come back


def test_the_same_message_is_not_stored_again_but_new_words_and_another_time_are(alice: OwnerMemory) -> None:
    at = "2026-03-01T10:00:00+01:00"
    messages = [{"role": "user", "content": f"I live in {SECRET}."}, {"role": "assistant", "content": "Noted."}]
    added = alice.add_messages(messages, at=at)
    alice.settle()
    alice.forget(page=added.page_ids[0])
    again = alice.add_messages([*messages, {"role": "user", "content": "And I like figs."}], at=at)
    assert len(again.utterance_ids) == 1
    assert [page.query for page in alice.pages()] == ["And I like figs."]
    same = f"i live in  {SECRET.lower()}."
    with pytest.raises(InputError, match="forgotten"):
        alice.add(same, at=datetime(2026, 3, 1, 9, tzinfo=UTC))
    assert alice.add_messages(messages, at=at).page_ids == ()
    assert alice.add(f"I live in {SECRET}.", at="2026-03-02T10:00:00+01:00")
    assert alice.add_messages([{"role": "assistant", "content": messages[0]["content"]}], at=at).page_ids


def test_words_that_were_forgotten_teach_nothing_and_those_that_other_pages_say_too_teach_on(
    alice: OwnerMemory, clock: Clock, memory: Memory
) -> None:
    pages = tell(alice, f"I live in {SECRET}.", "I like figs.", "The heron came.")
    alice.settle()
    alice.forget(page=pages[0])
    for line in (f"I live in {SECRET}.", "I like tea.", "One.", "Two.", "Three."):
        clock.go(60)
        tell(alice, line)
    alice.settle()
    assert {fact.value for fact in alice.facts()} == {"figs", "tea"}
    alice.understand_anew()
    assert {fact.value for fact in alice.facts()} == {"figs", "tea"}
    clock.go(60)
    tell(alice, f"By the way, I live in {SECRET} now.")
    alice.settle()
    assert SECRET in {fact.value for fact in alice.facts()}

    alice = memory.of("alice", "2")
    first, _ = tell(alice, "I live in Lyon.", "I live in Lyon.", thread="a")
    alice.settle()
    alice.forget(page=first)
    barred = [d for change in alice.changes() for d in change.decisions if isinstance(d, TextsBarred)]
    assert [len(d.messages) for d in barred] == [2]
    alice.understand_anew()
    assert [fact.value for fact in alice.facts()] == ["Lyon"]

    alice, bob = memory.of("alice", "3"), memory.of("bob")
    for owner, words in ((alice, f"I live in {SECRET}."), (bob, "I like figs.")):
        (page,) = tell(owner, words)
        owner.settle()
        owner.forget(page=page)
    clock.go(60)
    tell(bob, f"I live in {SECRET}.", "One.", "Two.", "Three.", "Four.")
    bob.settle()
    assert {fact.value for fact in bob.facts()} == {SECRET}


# ----------------------------------------------------------------------------------------------------- many at a time


def test_pages_said_before_a_time_or_that_hold_all_words_of_a_query_are_forgotten_at_once_and_nothing_else(
    alice: OwnerMemory, place: Place, memory: Memory
) -> None:
    made = [alice.add(f"On day {day} it rained.", "Yes.", at=f"2026-03-{day:02}T10:00:00Z") for day in range(1, 9)]
    alice.settle()
    before = len(alice.changes())
    tried = alice.forget(before="2026-03-05T00:00:00Z", dry_run=True)
    done = alice.forget(before="2026-03-05T00:00:00Z")
    assert done.pages == tried.pages == tuple(made[:4])
    assert len(alice.changes()) == before + 1
    assert [page.id for page in alice.pages()] == made[4:]
    nothing = alice.forget(before="2026-03-05T00:00:00Z")
    assert (nothing.pages, nothing.change_no) == ((), None)
    assert len(alice.changes()) == before + 1

    alice = memory.of("alice", "2")
    pages = lived(alice)
    tried = alice.forget(matching="the purple herons", dry_run=True)
    assert tried.pages == (pages["heron"], pages["rain"])
    assert alice.forget(matching="the purple herons").pages == tried.pages
    assert alice.forget(matching="purple heron").pages == ()
    for wrong in ("", "the of and"):
        with pytest.raises(InputError, match="no word"):
            alice.forget(matching=wrong)
    assert alice.forget_pages([pages["tea"], "p-nothing", pages["figs"]]).pages == (pages["tea"], pages["figs"])
    assert alice.forget_pages([pages["tea"]]).change_no is None


# ----------------------------------------------------------------------------------------------------------- the disk


@pytest.mark.sqlite
def test_a_scrub_that_a_reader_is_in_the_way_of_is_finished_later(opened: Opener, place: Place) -> None:
    memory = opened()
    alice = memory.of("alice")
    pages = lived(alice)
    with closing(sqlite3.connect(place(), isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM utterance").fetchall()
        receipt = alice.forget(page=pages["secret"])
        assert receipt.scrub_pending
        found = alice.verify(receipt)
        assert (found.ok, found.found, found.scrubbed) == (False, (), False)
    assert memory.scrub()
    assert alice.verify(receipt).ok
    assert holds(place(), *WORDS) == []


@pytest.mark.postgresql
def test_a_transaction_in_another_database_of_the_server_is_not_in_the_way_of_a_scrub(
    alice: OwnerMemory, place: Place
) -> None:
    import psycopg

    pages = lived(alice)
    other = re.sub(r"/test_\w+", "/postgres", str(place()))
    with psycopg.connect(other) as writer:
        writer.execute("SELECT pg_current_xact_id()")
        receipt = alice.forget(page=pages["secret"])
        assert not receipt.scrub_pending
        assert alice.verify(receipt).ok
    assert holds(place(), *WORDS) == []


@pytest.mark.postgresql
def test_the_server_s_statistics_hold_nothing_of_what_was_said(alice: OwnerMemory, place: Place) -> None:
    alice.add(f"I live in {SECRET}. My sister Wrenfield is a nurse.", "I see.", key="zyxglorp", thread="orchestra")
    pages = lived(alice)
    meddle(place(), "ANALYZE")
    sampled = rows(place(), "SELECT tablename, attname FROM pg_stats WHERE schemaname = current_schema()")
    names = {f"{one['tablename']}.{one['attname']}" for one in sampled}
    assert {"page.no", "page.page_id", "utterance.owner_id"} <= names
    assert not {"change.decisions", "embedding.data", "segment.vector_sum", "receipt.key", "person.one"} & names
    told = str(rows(place(), "SELECT * FROM pg_stats WHERE schemaname = current_schema()")).lower()
    assert not [word for word in WORDS if word.lower() in told]

    # What an older Ember let the server sample goes with the next forgetting.
    meddle(place(), "ALTER TABLE embedding ALTER COLUMN data SET STATISTICS -1", "ANALYZE embedding")
    query = "SELECT * FROM pg_stats WHERE schemaname = current_schema() AND attname = 'data'"
    assert rows(place(), query)
    assert not alice.forget(page=pages["secret"]).scrub_pending
    assert not rows(place(), query)


@pytest.mark.postgresql
def test_a_scrub_reaches_the_indexes_of_a_table_that_the_server_emptied_by_itself(
    opened: Opener, place: Place, tmp_path: Path
) -> None:
    import psycopg

    memory = opened()
    alice = memory.of("alice")
    tell(alice, f"I live in {SECRET}.", "I like figs.")
    alice.settle()
    with psycopg.connect(str(place())) as reader:
        reader.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        reader.execute("SELECT 1")
        receipt = alice.forget_owner()
        assert receipt.scrub_pending
    with psycopg.connect(str(place()), autocommit=True) as server:
        server.execute("VACUUM")  # as autovacuum does: a table without a row becomes an empty file, its indexes do not
    assert memory.scrub()
    held = b"".join(file.read_bytes() for file in PostgresServer(tmp_path).files(place()))
    assert not [one for one in receipt.utterances if one.encode() in held]


@pytest.mark.sqlite
def test_a_worker_or_the_end_of_a_program_finishes_a_scrub(place: Place) -> None:
    for later in ("work", "close"):
        with Memory(place(later), clock=Clock(), **SMALL) as memory:
            alice = memory.of("alice")
            pages = tell(alice, f"I live in {SECRET}.", "I like figs.", "The heron came.", "It rained.")
            alice.settle()
            with closing(sqlite3.connect(place(later), isolation_level=None)) as reader:
                reader.execute("BEGIN")
                reader.execute("SELECT count(*) FROM utterance").fetchall()
                receipt = alice.forget(page=pages[0])
            assert receipt.scrub_pending
            if later == "work":
                memory.work()
                assert alice.verify(receipt).scrubbed
        assert holds(place(later), SECRET) == []
        assert rows(place(later), "SELECT * FROM store WHERE key = 'scrub_due'") == []


@pytest.mark.sqlite
def test_backups_and_copies_that_still_hold_it_are_named_until_they_are_gone(
    opened: Opener, place: Place, tmp_path: Path
) -> None:
    alice = opened().of("alice")
    pages = lived(alice)
    copied, backup = tmp_path / "elsewhere.db", Path(f"{place()}.before-0007")
    copy_store(place(), copied, load(None, **SMALL), wall_clock(), lambda _: None)
    copy_of(alice, backup)
    receipt = alice.forget(page=pages["secret"])
    assert receipt.backups == (str(backup), str(copied))
    assert alice.verify(receipt).backups == receipt.backups
    assert alice.verify(receipt).ok
    with Memory(copied, clock=Clock(), **SMALL) as other:
        other.of("alice").forget(page=pages["secret"])
    backup.unlink()
    assert alice.verify(receipt).backups == ()
