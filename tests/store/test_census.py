"""All owners at a glance: they are found by name and in order, with what is theirs, and counted together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from embermem import Memory, api_keys
from embermem.api_keys import Right
from embermem.core.errors import InputError
from embermem.protocols import Grant, OwnerEntry, OwnerOrder
from embermem.testing.model_server import ModelServer
from scripted import Clock, Opener

NAMES = [(f"user-{number}", ("default", "tutor")[number % 2]) for number in range(7)]


@pytest.fixture
def peopled(memory: Memory, clock: Clock) -> Memory:
    """Seven owners, each of whom was told one page more than the one before, an hour later; and a space."""
    for number, (user, agent) in enumerate(NAMES):
        clock.go(3600)
        for page in range(number + 1):
            memory.of(user, agent).add(f"I like the number {page}.", "Noted.")
    memory.space("team").add("The deploy is on Friday.")
    memory.grant("handbook", user=None)
    return memory


def names(found: Sequence[OwnerEntry]) -> list[tuple[str, str]]:
    return [(one.owner.user, one.owner.agent) for one in found]


@pytest.mark.engines
def test_lists_go_on_where_they_ended(peopled: Memory) -> None:
    for order in OwnerOrder:
        whole = peopled.find_owners(order=order)
        assert sorted(names(whole)) == sorted(NAMES)
        parts: list[OwnerEntry] = []
        while some := peopled.find_owners(order=order, limit=2, after=parts[-1].position if parts else None):
            assert len(some) <= 2
            parts += some
        assert parts == list(whole)


def test_orders_are_what_they_are_called(peopled: Memory, clock: Clock) -> None:
    assert names(peopled.find_owners(order="name")) == sorted(NAMES)
    assert names(peopled.find_owners()) == NAMES[::-1]
    clock.go(60)
    peopled.of(*NAMES[2]).add("I like herons.")
    assert names(peopled.find_owners(order="recent"))[:2] == [NAMES[2], NAMES[6]]
    assert [one.pages for one in peopled.find_owners(order="size")][:3] == [7, 6, 5]


def test_an_owner_is_told_with_what_is_theirs(peopled: Memory, clock: Clock) -> None:
    for user, agent in NAMES:
        mine = peopled.of(user, agent)
        mine.settle()
        mine.add("I live in Lyon.", "A fine town.")
    for entry in peopled.find_owners():
        mine = peopled.of(entry.owner.user, entry.owner.agent)
        stats, state = mine.stats(), mine.state()
        assert state is not None
        assert entry.owner == mine.owner
        assert (entry.pages, entry.facts, entry.waiting, entry.failed) == (
            stats.pages,
            stats.facts,
            stats.pending,
            stats.failed,
        )
        assert (entry.due_at, entry.error, entry.last_at) == (state.due_at, state.error, clock.now)
        assert entry.created_at <= entry.last_at


def test_an_owner_without_a_message_was_active_when_it_began(memory: Memory, clock: Clock) -> None:
    memory.of("alice").set_profile(tea="oolong")
    (entry,) = memory.find_owners()
    assert (entry.last_at, entry.pages) == (clock.now, 0)


@pytest.mark.engines
def test_owners_are_found_by_a_part_of_the_name_whatever_its_case(memory: Memory) -> None:
    for user, agent in [("Alice", "tutor"), ("malice", "default"), ("100%", "a_b"), ("Élodie", "x"), ("a/b", "c")]:
        memory.of(user, agent).add("Hello.")
    for text, found in (
        ("ALICE", {"Alice", "malice"}),
        ("alice/tut", {"Alice"}),
        (" alice / tutor ", {"Alice"}),
        ("%", {"100%"}),
        ("_", {"100%"}),
        ("Élo", {"Élodie"}),
        ("élo", set() if not memory.stats().path.startswith("postgresql") else {"Élodie"}),
        ("/b/", {"a/b"}),
        ("bob", set()),
        ("\\", set()),
    ):
        assert {one.owner.user for one in memory.find_owners(text)} == found, text


def test_what_is_asked_wrongly_is_refused(peopled: Memory) -> None:
    by_size = peopled.find_owners(order="size")[0].position
    wrong: tuple[dict[str, Any], ...] = (
        {"order": "age"},
        {"limit": -1},
        {"after": "x"},
        {"after": "[1]"},
        {"after": by_size},
    )
    for one in wrong:
        with pytest.raises(InputError):
            peopled.find_owners(**one)
    with pytest.raises(InputError):
        peopled.census(0)
    with pytest.raises(InputError, match="a list of grants"):
        peopled.census(among=["alice"])  # type: ignore[list-item]


@pytest.mark.engines
def test_among_the_grants_of_a_key_are_the_owners_that_it_covers(peopled: Memory, clock: Clock) -> None:
    cases: list[list[str]] = [
        ["user-1"],
        ["user-1/default"],
        ["user-1/tutor", "user-2/default", "user-3"],
        ["*/tutor"],
        ["*/tutor", "user-2"],
        ["*"],
        ["nobody"],
    ]
    for held in cases:
        key, _ = api_keys.make("one", held, spaces=["team:grant"], read_only=False, now=clock.now)
        covered = [one for one in peopled.owners() if one.space is None and api_keys.covers(key, one, Right.READ)]
        found = peopled.find_owners(order="name", among=key.grants)
        assert sorted(one.owner.id for one in found) == sorted(one.id for one in covered)
        census = peopled.census(among=key.grants)
        assert (census.owners, census.new) == (len(covered), len(covered))
        assert sum(said for _, said in census.said) == sum(
            peopled.of(one.user, one.agent).stats().utterances for one in covered
        )


def test_a_key_of_spaces_alone_reaches_no_owner(peopled: Memory, clock: Clock) -> None:
    key, _ = api_keys.make("one", [], spaces=["team:grant"], read_only=False, now=clock.now)
    for among in (key.grants, ()):
        assert peopled.find_owners(among=among) == ()
        census = peopled.census(among=among)
        assert (census.owners, census.due, census.said, census.waiting) == (0, 0, (), ())


def test_more_owners_than_a_statement_nests_may_be_named(peopled: Memory) -> None:
    among = [Grant(user=f"user-{number}", agent=("default", None)[number % 2]) for number in range(1000)]
    assert len(peopled.find_owners(among=among)) == 7


@pytest.mark.engines
def test_what_was_recorded_is_counted_by_the_days_of_a_zone(memory: Memory, clock: Clock) -> None:
    said: Counter[date] = Counter()
    kolkata = ZoneInfo("Asia/Kolkata")
    for _ in range(40):
        clock.go(5 * 3600 + 17)
        memory.of("alice").add("Good day.")
        said[clock.now.astimezone(kolkata).date()] += 1
    memory.of("alice").add_document("A note.", title="note")
    said[clock.now.astimezone(kolkata).date()] += 1
    census = memory.census(30)
    assert census.by_day(kolkata) == said
    assert sum(census.by_day(UTC).values()) == 41
    clock.go(40 * 86400)
    later = memory.census(30)
    assert (later.owners, later.new, later.said) == (1, 0, ())


def test_what_is_due_and_since_when_is_told(memory: Memory, clock: Clock) -> None:
    assert (memory.census().due, memory.census().due_since) == (0, None)
    began = clock.now
    memory.of("alice").add("I live in Lyon.")
    clock.go(10)
    memory.of("bob").add("I live in Bern.")
    census = memory.census()
    assert (census.due, census.due_since, census.failing) == (2, began, 0)
    for user in ("alice", "bob"):
        memory.of(user).settle()
    assert memory.census().due == 0


def test_what_waits_for_the_model_is_summed_over_owners(opened: Opener, clock: Clock) -> None:
    with ModelServer() as server:
        memory = opened(model="scripted", model_url=server.url, model_retries=0, calls_per_day=3)
        server.fail_always("prose")
        for user in ("alice", "bob"):
            mine = memory.of(user)
            for number in range(9):
                mine.add(f"The heron number {number} stands in the garden.", "Lovely.")
            mine.settle()
            clock.go(1)
        memory.of("carol").add("Hello.")
        summed: Counter[tuple[str, str]] = Counter()
        for user in ("alice", "bob"):
            for one in memory.of(user).stats().waiting:
                summed[one.waits_for, one.reason] += one.pages
        census = memory.census()
        assert {(one.waits_for, one.reason): one.pages for one in census.waiting} == summed
        assert len(summed) >= 2
        calls = memory.calls(clock.now - timedelta(hours=1))
        assert (census.calls, census.failed_calls) == (len(calls), len([one for one in calls if one.outcome != "ok"]))
        assert census.failed_calls > 0
        alone = memory.census(among=[Grant(user="carol", agent=None)])
        assert (alone.calls, alone.waiting) == (0, ())
        troubled = memory.find_owners(order="trouble")
        assert [one.failed > 0 for one in troubled] == [True, True, False]
        for entry in troubled:
            assert entry.failed == memory.of(entry.owner.user).stats().failed
