"""What was derived has the metadata of what it rests on, and facts of callers their own."""

from __future__ import annotations

import pytest

from embermem import Memory, OwnerMemory
from embermem.core.errors import InputError
from forgotten import holds
from scripted import Opener, Place


@pytest.fixture
def alice(opened: Opener) -> OwnerMemory:
    return opened().of("alice")


def labels(mine: OwnerMemory) -> dict[str, object]:
    return {fact.value: dict(fact.metadata) for fact in mine.facts()}


def test_facts_and_pages_have_the_metadata_of_what_they_rest_on_and_of_their_callers(
    alice: OwnerMemory, memory: Memory
) -> None:
    for thread in ("a", "b", "c"):  # whose messages have the same numbers
        memory.of("bob").add("I live in Porto.", thread=thread, metadata={"of": "bob"})
    alice.add("I live in Lyon.", metadata={"ticket": "T-1", "n": 1})
    second = alice.add("I live in Lyon.", thread="b", metadata={"ticket": "T-2", "n": 2})
    alice.add("I like figs.", thread="c")
    alice.settle()
    assert labels(alice) == {"Lyon": {"ticket": ("T-1", "T-2")}, "figs": {}}
    assert alice.fact(alice.facts()[0].id).metadata == alice.persona().facts[0].metadata == {"ticket": ("T-1", "T-2")}
    then = alice.recall("Where do I live?", as_of=alice.changes()[-1].recorded_at).facts
    assert [fact.metadata for fact in then if fact.value == "Lyon"] == [{"ticket": ("T-1", "T-2")}]
    alice.forget(page=second)
    assert labels(alice) == {"Lyon": {"ticket": "T-1", "n": 1}, "figs": {}}

    alice = memory.of("alice", "2")
    said = [
        {"role": "user", "content": "Hi", "metadata": {"lang": "en", "n": 1}},
        {"role": "assistant", "content": "Hello", "metadata": {"lang": "fr", "n": 2, "model": "m"}},
    ]
    added = alice.add_messages(said, metadata={"desk": "b"})
    assert alice.page(added.page_ids[0]).metadata == {"desk": "b", "lang": ("en", "fr"), "model": "m"}

    alice = memory.of("alice", "3")
    (fact,) = alice.learn([{"text": "lives in Lyon", "attribute": "lives_in", "value": "Lyon", "metadata": {"crm": 7}}])
    assert fact.metadata == {"crm": 7}
    alice.add("I live in Lyon.", metadata={"crm": 8, "ticket": "T-1"})
    alice.settle()
    assert labels(alice) == {"Lyon": {"crm": 7, "ticket": "T-1"}}
    assert alice.correct(fact.id, "lives in Paris", value="Paris").metadata == {"crm": 7, "ticket": "T-1"}

    alice = memory.of("alice", "4")
    with pytest.raises(InputError, match=r"facts\[1\]\.metadata\.a is dict"):
        alice.learn([{"text": "lives in Lyon"}, {"text": "likes figs", "metadata": {"a": {}}}])
    assert alice.facts() == ()


def test_a_known_fact_that_is_given_further_metadata_is_replaced_by_one_that_has_them(alice: OwnerMemory) -> None:
    alice.add("I live in Lyon.", metadata={"ticket": "T-1"})
    alice.settle()
    brought = {"text": "lives in Lyon", "attribute": "lives_in", "value": "Lyon", "metadata": {"crm": [7 * "x"]}}
    known = alice.facts()[0]
    alice.pin(known.id)
    (fact,) = alice.learn([brought])
    assert (fact.metadata, fact.pinned) == ({"ticket": "T-1", "crm": ("xxxxxxx",)}, True)
    assert (fact.sources, fact.text, fact.valid_from) == (known.sources, known.text, known.valid_from)
    assert [one.superseded_by for one in alice.past_facts()] == [fact.id]
    alice.undo(fact.change_no)
    assert labels(alice) == {"Lyon": {"ticket": "T-1"}}
    (fact,) = alice.learn([brought])
    assert [one.id for one in alice.learn([brought])] == [fact.id]


def test_no_metadata_of_what_was_forgotten_are_left(opened: Opener, place: Place) -> None:
    alice = opened().of("alice")
    words = ["zyxglorp", "Quuxville"]
    page = alice.add("I live in Lyon.", metadata={"note": words[0]})
    (fact,) = alice.learn([{"text": "likes figs", "metadata": {"notes": [words[1]]}}])
    alice.settle()
    assert holds(place(), *words) == words
    corrected = alice.correct(alice.facts()[-1].id, "lives in Paris", value="Paris")
    alice.forget(page=page)
    assert holds(place(), *words) == words[1:]
    assert all("note" not in one.metadata for one in alice.facts())
    alice.forget(fact=fact.id)
    assert corrected.id
    assert holds(place(), *words) == []
