"""Lists of facts in parts: by words, person, attribute, days, source and state."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from embermem import Memory, OwnerMemory
from embermem.core.errors import InputError, NotFound
from embermem.core.types import FactStatus, Origin
from scripted import Clock

FACTS: tuple[dict[str, Any], ...] = (
    {"text": "lives in Lyon", "attribute": "lives_in", "value": "Lyon", "valid_from": "2024-03-01"},
    {"text": "likes Crème brûlée", "attribute": "likes", "valid_from": "2025-01-10"},
    {"text": "plays the cello", "subject": "Ana", "attribute": "plays", "valid_from": "2025-06-01"},
    {"text": "在成都长大", "subject": "小明", "attribute": "grew_up_in", "valid_from": "2020-01-01"},
    {"text": "rented a room", "attribute": "did", "valid_from": "2023-01-01", "valid_to": "2023-06-01"},
)


@pytest.fixture
def alice(memory: Memory) -> OwnerMemory:
    """A memory with facts set by hand, and one that was said."""
    mine = memory.of("alice")
    mine.learn(FACTS)
    mine.add("I have a rabbit named Biscuit.", "What does Biscuit eat?")
    mine.settle()
    return mine


def attributes(alice: OwnerMemory, text: str = "", **conditions: Any) -> list[str]:
    """Of the facts found, newest first."""
    found = alice.find_facts(text, **conditions)
    assert found.total == len(found.facts)
    return [one.attribute for one in found.facts]


def test_the_list_is_what_facts_gives_newest_first(alice: OwnerMemory) -> None:
    assert {one.id for one in alice.find_facts().facts} == {one.id for one in alice.facts()}
    assert attributes(alice) == ["has_pet", "grew_up_in", "plays", "likes", "lives_in"]
    assert attributes(alice, state=None) == ["has_pet", "did", "grew_up_in", "plays", "likes", "lives_in"]
    by_id = {one.id: one for one in alice.facts()}
    assert all(by_id[one.id] == one for one in alice.find_facts().facts)


def test_words_are_found_whatever_their_case_accents_and_width_in_chinese_and_in_the_name_of_the_person(
    alice: OwnerMemory,
) -> None:
    assert {
        text: got
        for text in ["CRÈME", "creme BRULEE", "brûl crè", "ｃreme"]
        if (got := attributes(alice, text)) != ["likes"]
    } == {}
    assert attributes(alice, "成都") == ["grew_up_in"]
    assert attributes(alice, "小明 长大") == ["grew_up_in"]
    assert attributes(alice, "ana cello") == ["plays"]
    assert attributes(alice, "cello Lyon") == []


def test_facts_are_found_by_person_attribute_source_and_days_and_by_nothing_else(
    alice: OwnerMemory, clock: Clock
) -> None:
    assert attributes(alice, person="ana") == ["plays"]
    assert attributes(alice, attribute="lives_in") == ["lives_in"]
    assert attributes(alice, about="agent") == []
    assert attributes(alice, origin=Origin.CONVERSATION) == ["has_pet"]
    assert len(attributes(alice, origin="caller")) == 4
    assert attributes(alice, origin="document") == []
    with pytest.raises(NotFound, match="no person"):
        alice.find_facts(person="Zoe")
    assert attributes(alice, held_until="2024-12-31") == ["grew_up_in", "lives_in"]
    assert attributes(alice, held_until="2023-05-31", state=None) == ["did", "grew_up_in"]
    later = {"held_since": "2023-06-02", "held_until": "2024-03-01"}
    assert attributes(alice, state=None, **later) == ["grew_up_in", "lives_in"]
    with pytest.raises(InputError, match="after held_until"):
        alice.find_facts(held_since="2025-01-02", held_until="2025-01-01")
    today = clock.now.date()
    assert len(attributes(alice, recorded_since=today, recorded_until=today)) == 5
    assert attributes(alice, recorded_since=today + timedelta(days=1)) == []
    assert attributes(alice, recorded_until=today - timedelta(days=1)) == []
    with pytest.raises(InputError, match="recorded_since"):
        alice.find_facts(recorded_since="soon")
    cases: list[dict[str, Any]] = [
        {"state": "gone"}, {"origin": "rumour"}, {"about": "cat"}, {"limit": -1}, {"before": "x"}, {"text": 3},
    ]  # fmt: skip
    for wrong in cases:
        with pytest.raises(InputError):
            alice.find_facts(**wrong)


def test_facts_are_found_by_their_state(alice: OwnerMemory, clock: Clock) -> None:
    (likes,) = alice.find_facts(attribute="likes").facts
    home = {"subject": "Ana", "attribute": "lives_in", "valid_from": "2026-04-01"}
    bern, basel = alice.learn([{"text": f"lives in {city}", "value": city, **home} for city in ("Bern", "Basel")])
    alice.pin(likes.id)
    alice.expire(fact_id=likes.id, at=timedelta(days=2))
    assert attributes(alice, state="pinned") == attributes(alice, state="expiring") == ["likes"]
    assert [one.id for one in alice.find_facts(state=FactStatus.CONFLICT).facts] == [basel.id, bern.id]
    assert attributes(alice, state="past") == ["did"]
    assert attributes(alice, state="archived") == []
    clock.go(3 * 86_400)
    assert attributes(alice, state="expiring") == [], "it has expired, though no worker came by"
    assert "likes" not in attributes(alice)


def test_a_list_goes_on_after_its_last_fact_though_newer_ones_came_and_it_was_forgotten(alice: OwnerMemory) -> None:
    every = [one.id for one in alice.find_facts().facts]
    first = alice.find_facts(limit=2)
    assert (first.total, first.next) == (5, every[1])
    alice.learn([{"text": "likes figs"}])
    alice.forget(fact=every[1])
    rest = alice.find_facts(limit=9, before=first.next)
    assert [one.id for one in rest.facts] == every[2:]
    assert rest.next is None


def test_everybody_is_known_without_reading_all_facts(alice: OwnerMemory, clock: Clock) -> None:
    alice.learn([{"text": "runs", "subject": "Mia"}])
    alice.learn(
        [
            {"text": "has a sister Mia", "attribute": "has_relative", "value": "sister Mia"},
            {"text": "sails", "subject": "alice's sister Mia"},
            {"text": "has a colleague Mia", "attribute": "knows", "value": "colleague Mia"},
            {"text": "is called Ana Bell", "subject": "Ana", "attribute": "name", "value": "Ana Bell"},
        ]
    )
    assert alice.people() == alice.people(as_of=clock.now), "which reads all of them"
    for person in alice.people():
        if not person.undecided:
            wanted = {one.id for one in alice.facts(person=person.names[0] if person.names else person.name)}
            assert len(wanted) == person.facts
            found = alice.find_facts(person=person.names[0] if person.names else person.name)
            assert {one.id for one in found.facts} == wanted
