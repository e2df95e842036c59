"""A message without a reply is read by rules once its page has been quiet for `quiet_s`, and the page stays open."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest

from bench_of import ALICE, LINES, Bench, Maker
from embermem import Memory, OwnerMemory
from embermem.core.changes import Cause, Decision, FactAdded, FactStrengthened, Noted
from embermem.core.config import QUIET_MESSAGES, load
from embermem.core.types import Message, Role, ThreadId
from scripted import NOW, Clock, Opener, Place, ScriptedAnalyst
from soundness import assert_sound

QUIET_S = 5.0


def say(one: Bench, *texts: str, role: Role = Role.USER, thread: str = "main") -> None:
    """One message after the other, each in a transaction of its own; they join the open page."""
    for text in texts:
        message = Message(role=role, speaker=role.value, text=text, said_at=one.clock(), thread=ThreadId(thread))
        one.system.observe(ALICE, [message])


def facts(one: Bench) -> list[str]:
    return sorted(fact.value for fact in one.store.persona(ALICE.id).facts)


def due_at(one: Bench) -> datetime | None:
    state = one.store.owner_state(ALICE.id)
    assert state is not None
    return state.due_at


def revision(one: Bench) -> int:
    state = one.store.owner_state(ALICE.id)
    assert state is not None
    return state.revision


def decided(one: Bench, kind: type[Decision]) -> int:
    return sum(isinstance(d, kind) for change in one.store.changes(ALICE.id) for d in change.decisions)


def quiet(one: Bench, seconds: float = QUIET_S) -> None:
    """What is due is done, before and after a time in which nothing is said."""
    one.system.work()
    one.clock.go(seconds)
    one.system.work()


# ------------------------------------------------------------------------------------------------------- a lone message


def test_a_lone_message_is_read_once_after_the_quiet_time_by_the_workers_of_every_process(
    bench: Maker, clock: Clock
) -> None:
    one, other = bench(), bench()
    say(one, "I live in Lyon.")
    assert due_at(one) == NOW  # its vector is made at once
    one.system.work()
    assert due_at(other) == NOW + timedelta(seconds=QUIET_S)
    assert facts(one) == []
    clock.go(QUIET_S - 0.001)
    assert other.store.due(clock(), 9) == ()
    other.system.work()
    assert facts(other) == []
    clock.go(0.001)
    assert other.store.due(clock(), 9) == (ALICE,)
    other.system.work()
    assert facts(one) == ["Lyon"]

    bench = partial(bench, file="2.db")
    one = bench()
    say(one, "I live in Lyon.")
    quiet(one)
    after = revision(one)
    assert due_at(one) is None
    for _ in range(3):
        clock.go(3600)
        one.system.work()
        assert one.system.settle(ALICE) == 0
    assert revision(one) == after
    assert decided(one, Noted) == 1

    bench = partial(bench, file="3.db")
    one = bench()
    say(one, "I live in Lyon.")
    one.system.settle(ALICE)
    assert facts(one) == ["Lyon"]
    assert due_at(one) is None

    bench = partial(bench, file="4.db")
    assert load("paper").quiet_s is None
    one = bench(preset="paper")
    say(one, "I live in Lyon.")
    quiet(one, 3600)
    assert (decided(one, Noted), due_at(one)) == (0, None)
    say(one, "I see.", role=Role.ASSISTANT)
    one.system.work()
    assert decided(one, Noted) == 1


def test_each_thread_has_its_own_quiet_after_its_last_message_and_a_long_page_waits_longer(
    bench: Maker, clock: Clock
) -> None:
    one = bench()
    for text in LINES:
        say(one, text)
        one.system.work()
        assert due_at(one) == clock() + timedelta(seconds=QUIET_S)
        clock.go(QUIET_S - 1)
        one.system.work()
        assert facts(one) == []
    clock.go(1)
    one.system.work()
    assert len(one.pages()) == 1
    assert "Lyon" in facts(one)
    assert decided(one, Noted) == 1

    clock.now = NOW
    bench = partial(bench, file="2.db")
    one = bench()
    say(one, "I live in Lyon.", thread="a")
    one.system.work()
    clock.go(3)
    say(one, "I work as a nurse.", thread="b")
    one.system.work()
    assert due_at(one) == NOW + timedelta(seconds=QUIET_S)
    clock.go(2)
    one.system.work()
    assert facts(one) == ["Lyon"]
    assert due_at(one) == NOW + timedelta(seconds=3 + QUIET_S)
    clock.go(3)
    one.system.work()
    assert facts(one) == ["Lyon", "nurse"]

    bench = partial(bench, file="3.db")
    one = bench()
    say(one, *("It rained all day." for _ in range(QUIET_MESSAGES - 1)), "I live in Lyon.")
    quiet(one)
    assert facts(one) == ["Lyon"]
    say(one, "I work as a nurse.")
    quiet(one)
    assert facts(one) == ["Lyon"]
    assert due_at(one) == clock() + timedelta(seconds=QUIET_S)
    quiet(one)
    assert facts(one) == ["Lyon", "nurse"]


# ------------------------------------------------------------------------------------------------------------ its reply


def test_what_joins_a_page_that_was_read_is_learnt_once_and_brings_nothing_back(bench: Maker, clock: Clock) -> None:
    one = bench()
    say(one, "I live in Lyon.")
    quiet(one)
    clock.go(60)
    say(one, "Lyon is a fine city. I am a helpful assistant.", role=Role.ASSISTANT)
    one.system.work()
    (page,) = one.pages()
    assert [u.role for u in page.utterances] == [Role.USER, Role.ASSISTANT]
    assert facts(one) == ["Lyon"]
    assert (decided(one, FactAdded), decided(one, FactStrengthened)) == (1, 0)
    assert decided(one, Noted) == 2  # with the reply it is read whole
    assert due_at(one) is None

    bench = partial(bench, file="2.db")
    one = bench()
    say(one, "I live in Lyon.")
    quiet(one)
    say(one, "I work as a nurse. As you know, I live in Lyon.")
    quiet(one)
    say(one, "I see.", role=Role.ASSISTANT)
    quiet(one)
    assert len(one.pages()) == 1
    assert facts(one) == ["Lyon", "nurse"]
    assert (decided(one, FactAdded), decided(one, FactStrengthened)) == (2, 1)

    bench = partial(bench, file="3.db")
    one = bench()
    say(one, "I live in Lyon.")
    one.system.work()
    clock.go(QUIET_S - 1)
    say(one, "I see.", role=Role.ASSISTANT)
    quiet(one)
    assert facts(one) == ["Lyon"]
    assert decided(one, Noted) == 1

    bench = partial(bench, file="4.db")
    one = bench()
    say(one, "I live in Lyon.", thread="a")
    quiet(one)
    say(one, "I moved to Nantes.", thread="b")
    quiet(one)
    assert facts(one) == ["Nantes"]
    say(one, "I see.", role=Role.ASSISTANT, thread="a")
    quiet(one)
    assert facts(one) == ["Nantes"]


def test_a_page_read_before_its_reply_keeps_its_chain_and_the_chain_its_sentences(bench: Maker) -> None:
    one, walk = bench(short_term_pages=7), "We walked in the wetland park and saw a heron by the water."
    for thread in ("goes on", "begins"):
        one.add(walk, thread=thread)
    say(one, "Yes, sure!", thread="goes on")
    say(one, "Quarterly invoices are payable within thirty days.", thread="begins")
    quiet(one)
    chains = {page.id: page.chain_id for page in one.pages()}
    assert len(set(chains.values())) == 3
    say(one, "Quarterly invoices are payable within thirty days.", role=Role.ASSISTANT, thread="goes on")
    say(one, "A heron saw water in the wetland park.", role=Role.ASSISTANT, thread="begins")
    one.system.work()
    assert {page.id: page.chain_id for page in one.pages()} == chains
    summaries = {chain.id: (chain.summary, chain.sources) for chain in one.store.chains(ALICE.id)}
    first_on, first_begins, goes_on, begins = (summaries[chain] for chain in chains.values() if chain is not None)
    assert goes_on == first_on
    assert walk in goes_on[0]
    assert {s.seq for s in begins[1]}.isdisjoint(s.seq for s in first_begins[1])


# -------------------------------------------------------------------------------------------------------------- a model


def test_a_model_reads_lone_messages_later_in_a_batch_that_is_full_or_ten_minutes_old(
    bench: Maker, clock: Clock
) -> None:
    one = bench(analyst := ScriptedAnalyst(), short_term_pages=1, batch_pages=4, batch_wait_s=600.0)
    for n, text in enumerate(LINES[:4]):
        say(one, text, thread=f"t{n}")
        quiet(one)
    assert (facts(one), analyst.asked) == (["Lyon", "dog Rex"], [])
    assert {note.analyst for note in one.notes()} == {"extractive-v1"}
    say(one, LINES[4], thread="t4")
    quiet(one)
    first = [page.id for page in one.pages()][:4]
    assert analyst.asked == [tuple(first)]
    last = {note.page_id: note.analyst for note in one.notes()}
    assert [last[page_id] for page_id in first] == ["scripted-v1"] * 4
    assert decided(one, FactAdded) == 2

    clock.now = NOW
    bench = partial(bench, file="2.db")
    one = bench(analyst := ScriptedAnalyst(), short_term_pages=1, batch_pages=8, batch_wait_s=600.0)
    for n, text in enumerate(LINES):
        say(one, text, thread=f"t{n}")
    quiet(one)
    assert due_at(one) == NOW + timedelta(seconds=600)
    clock.go(594)
    one.system.work()
    assert analyst.asked == []
    clock.go(1)
    one.system.work()
    assert len(analyst.asked) == 1


# ------------------------------------------------------------------------------------ corrected, forgotten, looked back


def read_at_once(memory: Memory, clock: Clock, *texts: str, thread: str = "main") -> OwnerMemory:
    """A memory in which one message after the other was read alone."""
    alice = memory.of("alice")
    for text in texts:
        alice.add(text, thread=thread)
        memory.work()
        clock.go(QUIET_S)
        memory.work()
    return alice


def values(alice: OwnerMemory, **when: Any) -> list[str]:
    return sorted(fact.value for fact in alice.facts(**when))


def reply(memory: Memory, alice: OwnerMemory, thread: str = "main") -> None:
    alice.add_messages([{"role": "assistant", "content": "I see."}], thread=thread)
    memory.work()


def test_what_was_undone_ruled_or_forgotten_before_the_reply_stands_after_it(
    opened: Opener, clock: Clock, place: Place
) -> None:
    memory = opened()
    alice = read_at_once(memory, clock, "I live in Lyon.", thread="a")
    read_at_once(memory, clock, "I no longer live in Lyon. I work as a nurse.", thread="b")
    assert values(alice) == ["nurse"]
    alice.undo(alice.changes(cause=Cause.ANNOTATION)[-1].no)
    assert values(alice) == ["Lyon"]
    reply(memory, alice, "b")
    assert values(alice) == ["Lyon"]

    for ruled in ("retire", "correct"):
        memory = opened(f"{ruled}.db")
        alice = read_at_once(memory, clock, "I live in Lyon.")
        (fact,) = alice.facts()
        if ruled == "retire":
            alice.retire(fact.id)
        else:
            alice.correct(fact.id, "Lives in Nantes", value="Nantes")
        before = values(alice)
        reply(memory, alice)
        assert values(alice) == before == ([] if ruled == "retire" else ["Nantes"])

    memory = opened("3.db")
    alice = read_at_once(memory, clock, "I live in Lyon.", "I work as a nurse.")
    alice.forget(page=alice.pages()[0].id)
    reply(memory, alice)
    assert values(alice) == ["nurse"]
    assert not [u for u in alice.utterances() if "Lyon" in u.text]
    assert_sound(place("3.db"))


def test_what_was_read_at_once_is_known_of_its_time_and_rebuilt(opened: Opener, clock: Clock) -> None:
    memory = opened()
    alice = read_at_once(memory, clock, "I live in Lyon.")
    clock.go(60)
    reply(memory, alice)
    assert values(alice, as_of=NOW + timedelta(seconds=QUIET_S - 1)) == []
    assert values(alice, as_of=NOW + timedelta(seconds=QUIET_S)) == ["Lyon"]
    assert values(alice, as_of=NOW + timedelta(seconds=QUIET_S + 61)) == ["Lyon"]

    memory = opened("2.db")
    alice = read_at_once(memory, clock, "I live in Lyon.", "I work as a nurse.")
    reply(memory, alice)
    assert all(difference.same for difference in memory.rebuild())
    memory.work()
    assert values(alice) == ["Lyon", "nurse"]


# ------------------------------------------------------------------------------------------------------------ real time


def until(come: Callable[[], object], seconds: float = 20.0) -> None:
    """Waits for something; it is no test of how long it takes."""
    end = time.monotonic() + seconds
    while not come():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_the_background_thread_reads_a_lone_message_by_itself_long_before_its_next_poll(opened: Opener) -> None:
    memory = opened(clock=None, background=True, quiet_s=0.5, pause_s=0.0, poll_s=3600.0)
    alice, bob = memory.of("alice"), memory.of("bob")
    alice.add("I live in Lyon.")
    bob.add("I work as a nurse.")
    until(lambda: (values(alice), values(bob)) == (["Lyon"], ["nurse"]))


@pytest.mark.engines
def test_many_workers_read_each_lone_message_once(opened: Opener) -> None:
    settings = {"clock": None, "background": False, "quiet_s": 0.0, "pause_s": 0.0}
    memories = [opened(**settings) for _ in range(2)]
    stop = threading.Event()

    def work(memory: Memory) -> None:
        while not stop.is_set():
            memory.work()

    threads = [threading.Thread(target=work, args=(memory,)) for memory in memories]
    for thread in threads:
        thread.start()
    owners: Sequence[OwnerMemory] = [memories[0].of(f"user {n}") for n in range(6)]
    for owner in owners:
        owner.add("I live in Lyon.")
        owner.add_messages([{"role": "user", "content": "I work as a nurse."}])
    try:
        until(lambda: all(values(owner) == ["Lyon", "nurse"] for owner in owners))
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    for owner in owners:
        owner.settle()
        added = Counter(d.value for change in owner.changes() for d in change.decisions if isinstance(d, FactAdded))
        assert added == {"Lyon": 1, "nurse": 1}
