"""Topics: chains become segments by their words, over threads, and are looked back over; heat follows what was said."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from embermem import Memory, OwnerMemory
from embermem.core.changes import Cause, Placed, SegmentEnded
from embermem.core.config import load
from embermem.core.equations import topic_linkage, topic_weight
from embermem.memoryos.ingest.mid_term import heat_of, recency_of
from embermem.memoryos.ingest.topics import Topics
from forgotten import holds
from json_lines import exported, imported
from proofs import bounded
from scripted import NOW, Clock, Opener, Place, segment, vector
from soundness import assert_sound, assert_tiers

CHOIR = (
    ("The choir rehearses the requiem on Monday.", "Which voices of the choir sing the requiem?"),
    ("The altos of the choir lose the pitch in the requiem.", "Slow rehearsals help a choir to keep the pitch."),
    ("The conductor wants the requiem faster.", "A faster requiem needs clear consonants from the choir."),
    ("The choir sang the requiem in the church.", "Churches blur fast singing, so a choir articulates more."),
)
GARDEN = (
    ("I planted tomatoes and beans in the garden.", "Tomatoes in a garden need sun; beans need poles."),
    ("Snails ate the beans in the garden.", "Copper tape keeps snails off beans."),
    ("The tomatoes in the garden have brown leaves.", "Brown leaves of tomatoes may be blight; water the soil."),
    ("We picked the first tomatoes and beans.", "Fresh tomatoes keep best outside the fridge."),
)
TOUR = (
    ("I plan a bicycle tour along the canal.", "A bicycle tour along a canal is flat and easy."),
    ("The bicycle needs new tyres for the tour.", "Wide tyres suit the gravel of a canal path."),
    ("We booked a hostel at the canal for the tour.", "Hostels on the canal often store a bicycle."),
    ("The bicycle chain broke on the tour.", "Carry a chain tool on a bicycle tour."),
)
TOPICS = {"choir": CHOIR, "garden": GARDEN, "tour": TOUR}


def talked(alice: OwnerMemory, clock: Clock, rounds: int = 2) -> dict[str, list[str]]:
    """Each topic in threads of its own, a day apart; the pages of each."""
    pages: dict[str, list[str]] = {name: [] for name in TOPICS}
    for number in range(rounds):
        for name, said in TOPICS.items():
            for query, response in said:
                pages[name].append(alice.add(query, response, thread=f"{name}-{number}"))
            alice.settle()
            clock.go(86_400)
    return pages


CAPACITIES = {"short_term_pages": 1, "batch_pages": 4, "mid_term_segments": 50}


def two_rounds(memory: Memory, clock: Clock) -> None:
    talked(memory.of("alice"), clock)


def by_topic(alice: OwnerMemory) -> dict[str, list[str]]:
    """The pages of each topic."""
    return {name: [page.id for page in alice.pages() if page.thread.startswith(name)] for name in TOPICS}


@pytest.fixture
def apart(lived_in: Callable[..., Any], opened: Opener) -> tuple[Memory, OwnerMemory]:
    """A memory in which no topic was joined, opened with the threshold by which they are."""
    lived_in(two_rounds, topic_linkage=9.0, **CAPACITIES)
    memory = opened(**CAPACITIES)
    return memory, memory.of("alice")


def segments_of(alice: OwnerMemory) -> dict[str, set[str]]:
    return {one.id: {*one.page_ids} for one in alice.segments()}


# ------------------------------------------------------------------------------------------------------- likeness


def test_the_linkage_of_a_group_and_a_segment_weighs_their_rare_keywords() -> None:
    assert topic_weight(9, 1) == pytest.approx(3.5991, abs=1e-4)  # ln²(10 / 1.5)
    assert topic_weight(9, 9) < topic_weight(9, 3) < topic_weight(9, 1)

    assert topic_linkage(12.0, 0.5, 6, 4.0, 0.1) == pytest.approx(12 / 24 + 0.05)
    assert topic_linkage(12.0, 0.5, 6, 0.0, 0.1) == pytest.approx(0.05)

    topics = Topics(load())
    segments = segment("s1", words=("photo", "hall", "choir")), segment("s2", words=("photo", "hall", "party"))
    topics.follow({one.id: one for one in (*segments, segment("s3", words=("party", "hall")))})
    found = topics.linkages(dict.fromkeys(("choir", "photo", "party", "hall"), 1), None, 1)
    assert found["s1"] > found["s2"] > 0  # type: ignore[index]


def test_groups_of_more_pages_must_have_more_keywords_in_common() -> None:
    for pages, least in ((1, 2), (2, 3), (6, 7), (7, 8), (9, 8)):
        words = ("requiem", "choir", "altos", "pitch", "conductor", "voices", "church", "hall", "organ")
        topics = Topics(load())
        topics.follow(
            {one.id: one for one in (segment("s1", words=words, pages=pages), segment("s2", words=("canal",)))}
        )
        found = [
            topics.linkages(dict.fromkeys((*words[:n], "tyres"), 1), None, pages)[segment("s1").id] > 0
            for n in range(10)
        ]
        assert found == [n >= least for n in range(10)]


def test_vectors_are_compared_without_what_all_pages_share() -> None:
    known = [segment("s1", vector_sum=vector(1, 1)), segment("s2", vector_sum=vector(1, -1))]
    topics = Topics(load(topic_vectors=1.0))
    topics.follow({one.id: one for one in known})
    found = topics.linkages({}, vector(1, 1), 1)
    assert found["s1"] == pytest.approx(-found["s2"])  # type: ignore[index]
    assert found["s1"] > 0  # type: ignore[index]


# ------------------------------------------------------------------------------------------------------- a life


def test_a_topic_is_one_segment_over_its_threads_a_chain_is_in_one_and_filler_founds_none(
    opened: Opener, clock: Clock
) -> None:
    memory = opened(**CAPACITIES)
    alice = memory.of("alice")
    pages = talked(alice, clock)
    placed = segments_of(alice)
    for name in TOPICS:
        placed_together = [own for own in placed.values() if len(own & {*pages[name]}) >= 5]
        assert len(placed_together) == 1
        assert len(placed_together[0] - {*pages[name]}) <= 1

    segment_of = {page_id: name for name, own in segments_of(alice).items() for page_id in own}
    for chain in alice.chains():
        assert len({segment_of[one] for one in chain.page_ids if one in segment_of}) <= 1

    filler = [alice.add("Thanks!", "Bye!", thread=f"bye-{number}") for number in range(3)]
    alice.add(*CHOIR[0], thread="choir-9")
    alice.settle()
    for own in segments_of(alice).values():
        assert own - {*filler}
    assert_tiers(memory)


@pytest.fixture
def joined(apart: tuple[Memory, OwnerMemory], clock: Clock) -> tuple[Memory, OwnerMemory]:
    """A memory in which segments were alone first, and were joined with the next round."""
    memory, alice = apart
    assert len(alice.segments()) >= 6
    talked(alice, clock, 1)
    changes = [change for change in alice.changes() if change.cause is Cause.REGROUPING]
    assert any(isinstance(d, SegmentEnded) for change in changes for d in change.decisions)
    assert any(isinstance(d, Placed) for change in changes for d in change.decisions)
    return memory, alice


def test_segments_that_are_one_topic_are_joined_were_apart_before_and_travel_as_they_are(
    joined: tuple[Memory, OwnerMemory], opened: Opener, place: Place
) -> None:
    memory, alice = joined
    ended = {d.segment_id for change in alice.changes() for d in change.decisions if isinstance(d, SegmentEnded)}
    assert ended
    assert not ended & segments_of(alice).keys()
    assert not ended & {one.id for one in alice.segments(archived=True)}
    assert_well(memory)
    assert_sound(place())
    assert_tiers(memory)

    first = next(change for change in alice.changes() if change.cause is Cause.REGROUPING)
    then = alice.segments(as_of=first.recorded_at - timedelta(seconds=1))
    gone = {d.segment_id for d in first.decisions if isinstance(d, SegmentEnded)}
    assert gone <= {one.id for one in then}
    assert all(one.page_ids for one in then)
    now = {hit.utterance.id for hit in alice.search("requiem", k=5)}
    assert now
    assert alice.recall("Who sings the requiem?", as_of=first.recorded_at - timedelta(seconds=1)).hits

    alice.visit(alice.search("requiem", k=5))
    other = opened("other.db", **CAPACITIES)
    imported(other, exported(memory, vectors=True))
    assert other.of("alice").segments() == alice.segments()
    assert_well(other)


def assert_well(memory: Memory) -> None:
    """The log gives the same memory again, and the doctor finds nothing."""
    assert all(one.same for one in memory.rebuild())
    assert all(finding.level == "ok" for finding in memory.check())


def test_a_segment_s_times_are_those_of_the_pages_that_stay(opened: Opener, clock: Clock) -> None:
    for looked_back in bounded((5,), proofs=(3, 5, 64)):
        file = f"{looked_back}.db"
        memory = opened(file, topic_linkage=0.0, topic_looked_back=looked_back, **CAPACITIES)
        talked(memory.of("alice"), clock)
        memory.close()
        alice = opened(file, topic_looked_back=looked_back, **CAPACITIES).of("alice")
        talked(alice, clock, 1)
        regrouped = [d for one in alice.changes() if one.cause is Cause.REGROUPING for d in one.decisions]
        assert any(isinstance(d, Placed) for d in regrouped)
        for one in alice.segments():
            said = [page.said_at for page in alice.pages() if page.id in one.page_ids]
            assert (one.said_from, one.said_to) == (min(said), max(said))


def test_the_visits_of_a_segment_go_with_its_pages(apart: tuple[Memory, OwnerMemory], clock: Clock) -> None:
    _, alice = apart
    alice.visit(alice.search("requiem", k=20))
    visits = sum(one.visits for one in alice.segments())
    assert visits
    before = len(alice.segments())
    talked(alice, clock, 1)
    assert len(alice.segments()) < before
    assert sum(one.visits for one in alice.segments()) == visits
    assert sum(one.unanalysed for one in alice.segments()) <= 36


def test_what_was_moved_or_joined_is_forgotten_wherever_it_was(
    joined: tuple[Memory, OwnerMemory], place: Place
) -> None:
    memory, alice = joined
    for page_id in by_topic(alice)["garden"]:
        alice.forget(page=page_id)
    assert_well(memory)
    assert holds(place(), "Snails", "tomatoes") == []

    largest = max(alice.segments(), key=lambda one: len(one.page_ids))
    alice.forget(segment=largest.id)
    assert_well(memory)
    assert largest.id not in segments_of(alice)
    assert not {page.id for page in alice.pages()} & {*largest.page_ids}
    assert_sound(place())


# ---------------------------------------------------------------------------------------------------------- heat


def test_recency_counts_from_when_the_newest_page_was_said_and_a_visit_makes_it_warm() -> None:
    old = segment("s1", said_to=NOW - timedelta(days=365), last_access=NOW)
    assert recency_of(old, NOW, load()) == pytest.approx(2.718281828 ** -(365 * 86_400 / 1e7))
    assert recency_of(old, NOW, load(preset="paper")) == 1.0

    visited = segment("s1", said_to=NOW - timedelta(days=365), last_access=NOW, visited_at=NOW, visits=1)
    assert heat_of(visited, NOW, load()) == pytest.approx(2.0 + visited.unanalysed)


def test_an_import_of_last_year_is_cold(opened: Opener, clock: Clock) -> None:
    memory = opened(short_term_pages=1)
    alice, bob = memory.of("alice"), memory.of("bob")
    for owner, back in ((alice, 365), (bob, 0)):
        for query, response in CHOIR:
            owner.add(query, response, at=clock() - timedelta(days=back))
        owner.settle()
    (cold,), (warm,) = alice.segments(), bob.segments()
    assert alice.heat(cold) - cold.unanalysed < 0.1
    assert bob.heat(warm) - warm.unanalysed > 0.9
