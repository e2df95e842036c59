"""What one agent knows of the user, told where the user talks to another, as far as the user allows it."""

from __future__ import annotations

import pytest

from embermem import Memory, OwnerMemory
from embermem.core.errors import InputError, NotFound, NotGranted
from embermem.core.types import Context
from scripted import Clock, Opener


@pytest.fixture
def coach(memory: Memory) -> OwnerMemory:
    """An agent that knows something of alice and of others."""
    coach = memory.of("alice", "coach")
    coach.set_agent_profile("a strict coach")
    coach.add("My name is Alice. I live in Lyon. I have a dog named Tofu.", "Woof.", at="2026-03-01T10:00:00Z")
    coach.add("My sister Ana lives in Rome. The safe opens with heron.", at="2026-03-02T10:00:00Z")
    coach.add("Always answer in metric units.", at="2026-03-03T10:00:00Z")
    coach.settle()
    return coach


@pytest.fixture
def bound(memory: Memory, coach: OwnerMemory) -> OwnerMemory:
    """Another agent of hers, with which the first one shares."""
    coach.share_person_with("tutor")
    return memory.of("alice", "tutor", person_from="coach")


def told(context: Context) -> str:
    own, _, theirs = context.text.partition("known of the user by coach:\n")
    assert "Tofu" not in own
    return theirs


def test_it_is_told_only_where_the_user_shared_it(memory: Memory, coach: OwnerMemory) -> None:
    refused = []
    for source in ("coach", "nobody"):
        with pytest.raises(NotGranted) as found:
            memory.of("alice", "tutor", person_from=source)
        refused.append(str(found.value).replace(source, "…"))
    assert refused[0] == refused[1]
    coach.share_person_with("tutor")
    for user, agent in (("alice", "other"), ("bob", "tutor")):
        with pytest.raises(NotGranted):
            memory.of(user, agent, person_from="coach")
    with pytest.raises(NotGranted):  # it is not shared the other way round
        memory.of("alice", "coach", person_from="tutor")


def test_profile_and_facts_about_the_user_are_told_and_nothing_else(bound: OwnerMemory) -> None:
    for context in (bound.recall("What is the name of my dog?"), bound.overview()):
        assert "user: home Lyon; name Alice" in told(context)
        assert "Alice has a dog named Tofu" in told(context)
        for hidden in ("Rome", "heron", "metric", "strict", "Woof", "#1"):
            assert hidden not in context.text
        assert (context.facts, context.packed, context.rests_on) == ((), (), ())
        assert [one.value for one in context.persona.profile] == []
        shared = context.shared["agent:coach"]
        assert {fact.person for fact in shared.facts} == {"Alice"}
        assert shared.persona.agent_profile == ()


def test_lists_and_search_stay_the_agents_own(bound: OwnerMemory) -> None:
    assert (bound.facts(), bound.profile(), bound.search("dog Tofu")) == ((), (), ())
    assert bound.shared == {}


def test_of_two_values_the_one_said_later_is_told_and_both_stay_stored(
    bound: OwnerMemory, coach: OwnerMemory, clock: Clock
) -> None:
    bound.add("I live in Paris.", at="2026-04-01T10:00:00Z")
    bound.settle()
    context = bound.recall("Where do I live?")
    assert "Paris" in context.text
    assert "Lyon" not in context.text
    clock.go(3600)
    coach.add("I live in Oslo.", at="2026-04-20T10:00:00Z")
    coach.settle()
    for context in (bound.recall("Where do I live?"), bound.overview()):
        assert "Oslo" in context.text
        assert "home Paris" not in context.text
        assert "- alice lives in Paris" not in context.text
    assert [one.value for one in bound.profile() if one.name == "home"] == ["Paris"]
    assert [one.value for one in coach.profile() if one.name == "home"] == ["Oslo"]


def test_taking_it_back_holds_at_the_next_read_in_every_process(opened: Opener) -> None:
    here, there = opened(), opened()
    coach = here.of("alice", "coach")
    coach.add("I have a dog named Tofu.")
    coach.settle()
    first = coach.share_person_with("tutor")
    tutor = there.of("alice", "tutor", person_from="coach")
    assert "Tofu" in tutor.recall("dog").text
    ended = coach.share_person_with("tutor", False)
    assert (ended.id, ended.stands, coach.person_shares()) == (first.id, False, ())
    assert coach.person_shares(past=True) == (ended,)
    with pytest.raises(NotGranted):
        tutor.recall("dog")
    with pytest.raises(NotGranted):
        tutor.overview()
    with pytest.raises(NotFound):
        coach.share_person_with("tutor", False)


def test_what_is_forgotten_there_is_not_told_here(bound: OwnerMemory, coach: OwnerMemory, memory: Memory) -> None:
    assert "Tofu" in bound.recall("dog").text
    coach.forget(matching="Tofu")
    assert "Tofu" not in repr(bound.recall("dog"))
    coach.forget_owner()
    with pytest.raises(NotGranted):
        bound.recall("dog")


def test_forgetting_the_reader_takes_the_grant_along(memory: Memory, bound: OwnerMemory, coach: OwnerMemory) -> None:
    bound.add("Hello.")
    bound.forget_owner()
    assert coach.person_shares(past=True) == ()


def test_a_space_has_no_user_to_share_and_an_agent_not_itself(memory: Memory, coach: OwnerMemory) -> None:
    for handle, agent in ((memory.space("team"), "tutor"), (coach, "coach")):
        with pytest.raises(InputError, match="another agent of one user"):
            handle.share_person_with(agent)


def test_the_budget_holds(bound: OwnerMemory) -> None:
    for n in range(9):
        bound.add(f"I practised verb number {n} with my dog.", "Well done.")
    for budget in (1, 5, 10, 20, 40, 80):
        assert bound.recall("my dog", budget=budget).tokens <= budget
        assert bound.overview(budget).tokens <= budget
