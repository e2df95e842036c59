"""What a memory holds of a span of time: counted in buckets, the largest given, nothing of what has expired."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from embermem import OwnerMemory
from embermem.core.errors import InputError, NotFound
from embermem.types import Timeline
from scripted import Clock, Opener

DAYS = ("2026-05-01", "2026-05-02", "2026-05-03", "2026-05-04")
SAID = (
    ("2026-05-01T10:00:00Z", "home", "I live in Lyon."),
    ("2026-05-01T11:00:00Z", "home", "My sister Ana lives in Rome. She keeps a parrot."),
    ("2026-05-03T09:00:00Z", "work", "Now I live in Nantes."),
)


@pytest.fixture
def alice(opened: Opener) -> OwnerMemory:
    """Three pages of two threads, with what was learnt of them."""
    mine = opened(short_term_pages=1).of("alice")
    for at, thread, text in SAID:
        mine.add(text, "I see.", at=at, thread=thread)
    mine.settle()
    return mine


@pytest.mark.engines
def test_messages_and_facts_are_counted_in_the_buckets_in_which_they_are_and_given_up_to_the_limit(
    alice: OwnerMemory,
) -> None:
    found = alice.timeline(DAYS)
    assert found.said == (4, 0, 2)
    assert found.said_found == 6
    assert sum(found.began) == len([fact for fact in (*alice.facts(), *alice.past_facts()) if fact.valid_from])
    lyon = next(fact for fact in alice.past_facts() if fact.value == "Lyon")
    assert lyon.valid_to is not None
    assert lyon.valid_to.astimezone(UTC).isoformat()[:10] == "2026-05-03"
    assert found.ended == (0, 0, 1)
    assert lyon in found.facts
    assert found.facts_found == len(found.facts)
    assert found.segments_found == len(found.segments) > 0
    every, one = alice.timeline(DAYS), alice.timeline(DAYS, limit=1)
    assert len(one.facts) == len(one.segments) == 1
    assert (one.facts_found, one.segments_found) == (every.facts_found, every.segments_found)
    assert max(len(segment.page_ids) for segment in every.segments) == len(one.segments[0].page_ids)
    assert alice.timeline(DAYS, limit=0).facts == ()


@pytest.mark.engines
def test_edges_may_be_left_out_or_reach_over_all_years_and_bound_something(alice: OwnerMemory) -> None:
    found = alice.timeline()
    assert found.said_from == found.edges[0] == datetime(2026, 5, 1, 10, tzinfo=UTC)
    assert found.said_to == datetime(2026, 5, 3, 9, tzinfo=UTC)
    assert found.said == (6,)
    assert found.said_to < found.edges[-1]
    found = alice.timeline(["2030-01-01", "2030-02-01"])
    assert (found.facts_found, found.said_found, found.segments_found) == (0, 0, 0)
    assert found.held == len(alice.facts())
    found = alice.timeline(["0001-01-02", "2026-05-02", "9999-12-30"])
    assert found.said == (4, 2)
    cases: list[tuple[list[str], str]] = [
        (["2026-05-01"], "edges has 1 times; give none, or 2 to 401"),
        (["2026-05-02", "2026-05-01"], "edges are not in ascending order"),
        (["2026-05-01", "soon"], r"edges\[1\] = 'soon' is not a time"),
    ]
    for edges, told in cases:
        with pytest.raises(InputError, match=told):
            alice.timeline(edges)
    alice.add("I will be there.", at="9999-12-31T23:59:59.999999Z")
    found = alice.timeline()
    assert found.said_to == found.edges[-1] == datetime.max.replace(tzinfo=UTC)


def test_an_empty_memory_has_an_empty_timeline(opened: Opener) -> None:
    nobody = opened().of("nobody")
    assert nobody.timeline() == Timeline()
    found = nobody.timeline(DAYS)
    assert (found.said, found.began, found.segments, found.said_from) == ((0, 0, 0), (0, 0, 0), (), None)


@pytest.mark.engines
def test_a_person_a_thread_words_that_mean_themselves_and_an_attribute_limit_it(alice: OwnerMemory) -> None:
    assert {fact.person for fact in alice.timeline(DAYS, person="Ana").facts} == {"Ana"}
    assert alice.timeline(DAYS, person="Ana").said_found == 0
    assert alice.timeline(DAYS, person="Ana").segments_found >= 1
    assert alice.timeline(DAYS, thread="work").said == (0, 0, 2)
    assert alice.timeline(DAYS, words=["PARROT"]).said == (1, 0, 0)
    assert alice.timeline(DAYS, words=["parrot", "Nantes"]).said_found == 0
    assert {fact.attribute for fact in alice.timeline(DAYS, attribute="lives_in").facts} == {"lives_in"}
    with pytest.raises(NotFound, match="there is no person 'Zoltan'"):
        alice.timeline(DAYS, person="Zoltan")
    assert alice.timeline(DAYS, words=["%"]).said_found == 0
    assert alice.timeline(DAYS, words=["_"]).said_found == 0


@pytest.mark.engines
def test_what_was_corrected_is_named_by_its_change(alice: OwnerMemory) -> None:
    fact = alice.facts()[-1]
    alice.retire(fact.id)
    no = alice.history(fact.id)[-1].no
    at = alice.change(no).recorded_at
    found = alice.timeline([at - timedelta(hours=1), at + timedelta(hours=1)])
    assert found.changes[0] == no
    assert found.changes_found == len(found.changes)


def test_what_has_expired_is_neither_counted_nor_given(alice: OwnerMemory, clock: Clock) -> None:
    page = alice.pages()[0]
    alice.expire(page_id=page.id, at=timedelta(hours=1))
    clock.go(7200)
    found = alice.timeline(DAYS)
    assert found.said == (2, 0, 2)
    assert all(page.id not in segment.page_ids for segment in found.segments)
