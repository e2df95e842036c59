"""Facts that a caller brings himself: the same rules as for facts that are understood, and his word is the newest."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from embermem import Memory, OwnerMemory
from embermem.core.changes import Cause
from embermem.core.errors import InputError
from embermem.core.types import About
from scripted import NOW, Clock, Opener, Place
from soundness import assert_sound

LYON = {"text": "lives in Lyon", "attribute": "lives_in", "value": "Lyon"}
NANTES = {"text": "lives in Nantes", "attribute": "lives_in", "value": "Nantes"}
REPLY = {"role": "assistant", "content": "I see."}


def say(alice: OwnerMemory, *lines: str) -> None:
    """Each in a page of its own thread, understood at once."""
    for line in lines:
        alice.add(line, "I see.", thread=line)
    alice.settle()


def held(alice: OwnerMemory) -> list[str]:
    return [fact.value for fact in alice.facts()]


def test_facts_are_learnt_in_one_change_of_the_caller_s(alice: OwnerMemory) -> None:
    likes = {"text": "likes green tea", "attribute": "likes", "value": "green tea"}
    ana = {"text": "sister Ana is a nurse", "subject": "sister Ana"}
    agent = {"text": "speaks French", "about": "agent"}
    learnt = alice.learn([LYON, likes, ana, agent])
    assert [fact.text for fact in learnt] == [
        "The user lives in Lyon",
        "The user likes green tea",
        "Ana is a nurse",
        "The assistant speaks French",
    ]
    assert [(f.about, f.subject, f.attribute) for f in learnt] == [
        (About.USER, "user", "lives_in"),
        (About.USER, "user", "likes"),
        (About.USER, "sister Ana", "other"),
        (About.AGENT, "agent", "other"),
    ]
    assert all(fact.sources == () and fact.current and fact.valid_from == NOW for fact in learnt)
    (change,) = alice.changes()
    assert (change.cause, change.analyst) == (Cause.IMPORT, "caller")
    assert [fact.value for fact in alice.recall("Which tea do I like?").facts][:1] == ["green tea"]


def test_a_fact_that_is_learnt_takes_the_place_of_what_was_said_before(
    alice: OwnerMemory, clock: Clock, memory: Memory
) -> None:
    say(alice, "I live in Lyon.")
    clock.go(60)
    (new,) = alice.learn([NANTES])
    assert held(alice) == ["Nantes"]
    (old,) = alice.past_facts()
    assert (old.value, old.superseded_by, old.valid_to) == ("Lyon", new.id, clock.now)
    assert alice.profile() == ()  # the line said what the old fact said

    alice = memory.of("alice", "2")
    alice.add("I moved to Nantes.", "I see.")
    alice.learn([LYON])
    alice.settle()
    assert held(alice) == ["Lyon"]
    clock.go(60)
    say(alice, "I moved to Oslo.")
    assert held(alice) == ["Oslo"]

    alice = memory.of("alice", "3")
    say(alice, "I live in Nantes.")
    (past,) = alice.learn([LYON | {"valid_from": "2015-04-01"}])
    assert held(alice) == ["Nantes"]
    assert past.retired_at is not None
    assert past.valid_from is not None
    assert (past.valid_from.year, past.valid_to) == (2015, alice.facts()[0].valid_from)

    alice = memory.of("alice", "4")
    say(alice, "I like green tea.")
    (known,) = alice.facts()
    tea = {"text": "fond of green tea", "attribute": "likes", "value": "I'm fond of green tea"}
    (again,) = alice.learn([tea])
    assert again == known
    assert len(alice.facts()) == 1


def test_two_values_of_one_day_are_in_conflict_and_the_cap_holds(alice: OwnerMemory, memory: Memory) -> None:
    day = {"valid_from": "2020-05-03"}
    one, other = alice.learn([LYON | day, NANTES | day])
    assert held(alice) == ["Lyon", "Nantes"]
    (conflict,) = alice.conflicts()
    assert (conflict.older.id, conflict.newer.id) == (one.id, other.id)
    assert alice.fact(one.id).conflicts == (other.id,)

    alice = memory.of("alice", "2")
    things = [{"text": f"likes {n}", "attribute": "likes", "value": f"thing {n}"} for n in range(7)]
    learnt = alice.learn(things)
    assert len(alice.facts()) == 5
    assert [fact.archived for fact in learnt] == [True, True, *[False] * 5]

    alice = memory.of("alice", "3")
    year = timedelta(days=365)
    likes = {"text": "likes tea", "attribute": "likes", "value": "tea"}
    alice.learn([{**likes, "valid_from": NOW - timedelta(days=10)}])
    alice.learn([{**likes, "valid_from": NOW - 2 * year, "valid_to": NOW - year}])
    assert held(alice) == ["tea"]


def test_what_was_learnt_survives_memory_understood_anew_more_than_once(alice: OwnerMemory, clock: Clock) -> None:
    say(alice, "I live in Oslo.")
    day = {"valid_from": "2020-05-03"}
    pet = {"attribute": "has_pet", "expires_at": NOW + timedelta(days=90)}
    alice.learn(
        [LYON | {"valid_from": "2015-04-01"}, NANTES | {"subject": "Ana"} | day, LYON | {"subject": "Ana"} | day]
    )
    alice.learn([{"text": "keeps a cat for a while", "value": "cat"} | pet])
    before = {(f.subject, f.value, f.valid_from, f.expires_at) for f in alice.facts()}
    past = {(f.value, f.valid_from, f.valid_to) for f in alice.past_facts()}
    for _ in range(2):
        clock.go(60)
        alice.understand_anew()
        assert {(f.subject, f.value, f.valid_from, f.expires_at) for f in alice.facts()} == before
        assert {(f.value, f.valid_from, f.valid_to) for f in alice.past_facts()} == past
        assert [{c.older.value, c.newer.value} for c in alice.conflicts()] == [{"Lyon", "Nantes"}]


def test_what_was_learnt_can_be_undone_corrected_or_forgotten_and_brought_again(
    alice: OwnerMemory, memory: Memory
) -> None:
    say(alice, "I live in Lyon. I like figs.")
    before = {fact.id for fact in alice.facts()}
    (new, _) = alice.learn([NANTES, {"text": "likes figs", "attribute": "likes", "value": "figs"}])
    undone = alice.undo(alice.changes()[-1].no)
    assert {fact.id for fact in alice.facts()} == before
    alice.undo(undone)
    assert new.id in {fact.id for fact in alice.facts()}

    alice = memory.of("alice", "2")
    say(alice, "I live in Lyon.")
    alice.correct(alice.facts()[0].id, "lives in Laon", value="Laon")
    alice.learn([LYON])
    assert held(alice) == ["Lyon"]
    alice.forget(fact=alice.facts()[0].id)
    assert "Lyon" not in held(alice)
    alice.learn([LYON])
    assert "Lyon" in held(alice)


WRONG: dict[str, tuple[Any, str]] = {
    "no list": ("lives in Lyon", "facts must be a list"),
    "one mapping": (LYON, "facts must be a list"),
    "nothing": ([], "facts is empty"),
    "a text in the list": ([LYON, "lives in Lyon"], r"facts\[1\] is str"),
    "an unknown key": ([LYON | {"source": "me"}], r"facts\[0\] has the key 'source'"),
    "no text": ([{"value": "Lyon"}], r"facts\[0\]\.text is NoneType"),
    "an empty text": ([LYON | {"text": "  "}], r"facts\[0\]\.text is empty"),
    "an empty value": ([LYON | {"value": ""}], r"facts\[0\]\.value is empty"),
    "a long value": ([LYON | {"value": "x" * 3000}], r"facts\[0\]\.value has 3,000 characters"),
    "of nobody": ([LYON | {"about": "dog"}], r"facts\[0\]\.about = 'dog'"),
    "no name": ([LYON | {"attribute": "lives in"}], r"facts\[0\]\.attribute = 'lives in'"),
    "no time": ([LYON, LYON | {"valid_from": "spring"}], r"facts\[1\]\.valid_from = 'spring'"),
    "over already": ([LYON | {"expires_at": "2001-01-01"}], r"facts\[0\]\.expires_at"),
    "a NUL": ([LYON | {"text": "a\x00"}], r"facts\[0\]\.text has a NUL"),
    "too many": ([LYON] * 1001, "split it"),
}


def test_what_cannot_be_learnt_is_refused_with_its_place_and_nothing_is_learnt(alice: OwnerMemory) -> None:
    for name in WRONG:
        facts, says = WRONG[name]
        with pytest.raises(InputError, match=says):
            alice.learn(facts)
        assert alice.changes() == ()

    day = timedelta(days=1)
    with pytest.raises(InputError, match=r"facts\[0\].valid_to = .* is still to come; give it as expires_at"):
        alice.learn([{**LYON, "valid_to": NOW + day}])
    with pytest.raises(InputError, match=r"facts\[0\].valid_to = .* is before valid_from"):
        alice.learn([{**LYON, "valid_from": NOW - day, "valid_to": NOW - 2 * day}])


def test_the_user_is_known_by_the_owner_s_name_too(alice: OwnerMemory) -> None:
    for subject in ("user", "User", "alice", "Alice", None):
        (fact,) = alice.learn([{**LYON, "subject": subject, "value": f"Lyon {subject}"}])
        assert fact.subject == "user"


def test_a_learnt_fact_sets_no_line_of_the_profile_when_it_is_known_who_the_user_is(
    alice: OwnerMemory, place: Place
) -> None:
    alice.learn([LYON])
    alice.add_messages([{"role": "user", "name": "Bob", "content": "I like figs."}, REPLY])
    alice.settle()
    for said in ("I live in Nantes.", "I like tea."):
        say(alice, said)
        assert_sound(place())
    assert [(line.name, line.value) for line in alice.profile()] == [("home", "Nantes")]


def test_what_was_learnt_is_replayed_identically(opened: Opener, place: Place) -> None:
    memory = opened()
    alice = memory.of("alice")
    say(alice, "I live in Lyon. I like figs.")
    day = {"valid_from": "2020-05-03"}
    given: Sequence[dict[str, Any]] = [NANTES | day, LYON | day, {"text": "likes the figs", "value": "the figs"}]
    alice.learn(given)
    alice.undo(alice.changes()[-1].no)
    (found,) = memory.rebuild()
    assert found.same
    assert_sound(place())


def test_a_fact_that_is_over_is_learnt_as_past_until_its_end(alice: OwnerMemory, place: Place) -> None:
    year = timedelta(days=365)
    over = {**LYON, "attribute": "visited", "valid_from": NOW - 2 * year, "valid_to": NOW - year}
    (fact,) = alice.learn([over], key="once")
    assert (fact.valid_from, fact.valid_to, fact.superseded_by) == (NOW - 2 * year, NOW - year, None)
    assert (held(alice), [one.value for one in alice.past_facts()]) == ([], ["Lyon"])
    assert [one.value for one in alice.facts(valid_at=NOW - 1.5 * year)] == ["Lyon"]
    assert alice.learn([over], key="once") == (fact,)
    assert_sound(place())
