"""What was known at a time, and what was true at one."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from embermem import Memory, OwnerMemory
from embermem.core.config import PRESETS
from embermem.core.errors import InputError, NotFound
from embermem.core.types import Fact
from proofs import bounded
from readings import all_read
from scripted import NOW, SMALL, Clock, Opener, Place

MARCH = "2026-03-15"


def said(mine: OwnerMemory, text: str, day: str, thread: str = "main") -> None:
    """Something said at noon of a day, and understood."""
    mine.add(text, "I see.", at=f"{day}T12:00:00+01:00", thread=thread)
    mine.settle()


def values(facts: tuple[Fact, ...], attribute: str = "lives_in") -> list[str]:
    return [fact.value for fact in facts if fact.attribute == attribute]


def moved(mine: OwnerMemory, clock: Clock) -> None:
    """She lives in Lyon, and in May she moves to Nantes."""
    said(mine, "I live in Lyon.", "2026-02-01")
    clock.go(3600)
    said(mine, "I live in Nantes now.", "2026-05-01")
    clock.go(3600)


# ------------------------------------------------------------------------------------------------------- what was true


def test_a_fact_and_a_profile_line_are_those_of_the_time_asked(opened: Opener, clock: Clock) -> None:
    mine = opened(facts_when="read").of("alice")
    assert (mine.pages(as_of=NOW), mine.facts(as_of=NOW)) == ((), ())
    moved(mine, clock)
    assert values(mine.facts()) == ["Nantes"]
    assert values(mine.facts(valid_at=MARCH)) == ["Lyon"]
    assert values(mine.facts(valid_at="2026-05-02")) == ["Nantes"]
    assert values(mine.facts(valid_at="2026-01-01")) == []
    assert mine.facts(valid_at=MARCH)[0].retired_at is not None

    line = {field.name: field.value for field in mine.profile()}
    earlier = {field.name: field.value for field in mine.profile(valid_at=MARCH)}
    assert [name for name, value in line.items() if value == "Nantes" and earlier.get(name) == "Lyon"] == ["home"]
    assert "home" not in {field.name for field in mine.profile(valid_at="2026-01-01")}

    old = mine.past_facts()[0]
    assert mine.fact(old.id, as_of=NOW).current
    assert mine.fact(old.id, as_of=NOW).superseded_by is None
    with pytest.raises(NotFound):
        mine.fact(mine.facts()[0].id, as_of=NOW)

    assert mine.pages(as_of=NOW - timedelta(seconds=1)) == ()
    assert mine.persona(as_of=NOW - timedelta(seconds=1)) == type(mine.persona())()
    assert mine.facts(as_of="2100-01-01") == mine.facts()
    assert mine.pages(as_of="2100-01-01") == mine.pages()
    assert mine.past_facts(as_of="2100-01-01") == mine.past_facts()

    later = mine.changes(since=NOW)
    assert [change.no for change in later] == [change.no for change in mine.changes() if change.recorded_at > NOW]
    assert later
    assert mine.changes(since=NOW, limit=1) == later[:1]
    assert mine.changes(since="2100-01-01") == ()
    assert mine.changes(since=NOW - timedelta(days=1)) == mine.changes()


def test_what_was_corrected_or_undone_was_never_true_and_a_line_ends_with_its_fact(
    opened: Opener, clock: Clock
) -> None:
    memory = opened(facts_when="read")
    mine = memory.of("alice")
    said(mine, "I live in Lyon.", "2026-02-01")
    clock.now = datetime(2026, 6, 1, tzinfo=UTC)
    mine.retire(next(fact for fact in mine.facts() if fact.value == "Lyon").id)
    assert [field.value for field in mine.profile(valid_at=MARCH)] == ["Lyon"]
    assert mine.profile(valid_at="2026-06-02") == ()
    assert values(mine.facts(valid_at="2026-05-31")) == ["Lyon"]
    assert values(mine.facts(valid_at="2026-06-02")) == []

    clock.now, mine = NOW, memory.of("bea")
    said(mine, "I live in Lyon.", "2026-02-01")
    clock.go(3600)
    mine.correct(mine.facts()[0].id, "lives in Laon", value="Laon")
    assert values(mine.facts(valid_at=MARCH)) == ["Laon"]
    assert [field.value for field in mine.profile(valid_at=MARCH)] == ["Laon"]
    assert values(mine.facts(valid_at=MARCH, as_of=NOW)) == ["Lyon"]

    clock.now, mine = NOW, memory.of("cleo")
    moved(mine, clock)
    mine.undo(next(fact for fact in mine.facts() if fact.value == "Nantes").change_no)
    assert values(mine.facts(valid_at="2026-06-01")) == ["Lyon"]
    assert [field.value for field in mine.profile(valid_at="2026-06-01")] == ["Lyon"]
    mine.undo(next(fact for fact in mine.facts() if fact.value == "Lyon").change_no)
    assert mine.profile(valid_at=MARCH) == mine.profile(valid_at="2026-06-01") == ()
    assert values(mine.facts(valid_at=MARCH)) == []

    mine = memory.of("dan")
    clock.now = datetime(2026, 4, 1, tzinfo=UTC)
    said(mine, "I live in Lyon.", "2026-02-01")
    clock.now = datetime(2026, 7, 1, tzinfo=UTC)
    said(mine, "I live in Nantes now.", "2026-03-01")
    assert values(mine.facts(valid_at=MARCH)) == ["Nantes"]
    assert values(mine.facts(valid_at=MARCH, as_of="2026-05-01")) == ["Lyon"]
    assert values(mine.facts(valid_at=MARCH, as_of="2026-03-20")) == []


def test_pages_segments_and_chains_hold_what_was_said_by_then(opened: Opener, clock: Clock) -> None:
    mine = opened(short_term_pages=1, placed_by="page", theta=0.0).of("alice")
    for day in (1, 2, 3):
        said(mine, f"I saw heron number {day} by the lake.", f"2026-04-{day:02}")
        clock.go(60)
    said(mine, "The lake was frozen over.", "2026-04-04")
    then = "2026-04-02T18:00:00+01:00"
    assert [page.no for page in mine.pages(valid_at=then)] == [1, 2]
    (segment,) = mine.segments(valid_at=then)
    assert segment.page_ids == tuple(page.id for page in mine.pages(valid_at=then))
    assert "3" not in segment.summary
    assert segment.said_to <= datetime.fromisoformat(then)
    assert {page for chain in mine.chains(valid_at=then) for page in chain.page_ids} == {*segment.page_ids}
    assert mine.segment(segment.id, valid_at=then) == segment
    assert mine.segments(valid_at="2026-03-31") == ()
    with pytest.raises(NotFound):
        mine.page(mine.pages()[-1].id, valid_at=then)


def test_the_age_is_that_of_the_time_asked(memory: Memory, clock: Clock) -> None:
    mine = memory.of("alice")
    mine.set_profile(birth_year=2000)
    clock.now = datetime(2046, 5, 2, tzinfo=UTC)
    ages = [mine.traits(valid_at=at)[0].level for at in ("2026-06-01", "2036-06-01", None)]
    assert ages == sorted(ages, reverse=True)
    assert len({*ages}) == 3
    assert mine.traits(as_of="2036-06-01") == mine.traits(valid_at="2036-06-01")


# -------------------------------------------------------------------------------------------------- what was known then


def test_a_moment_before_words_that_a_clock_gone_back_has_placed_is_answered(opened: Opener, clock: Clock) -> None:
    mine = opened(short_term_pages=1, placed_by="page", theta=0.0).of("alice")
    clock.go(7200)
    for day in (1, 2, 3):
        mine.add(f"I saw heron number {day} by the lake.", "I see.", at=f"2026-04-{day:02}T12:00:00+01:00")
    clock.go(-3600)
    mine.settle()  # the change is of an hour before what it places
    clock.go(7200)
    said(mine, "I saw a swan.", "2026-04-04")
    assert mine.recall("the heron", as_of=NOW + timedelta(seconds=5400)).hits == ()


def test_times_are_in_the_owners_zone_and_what_is_none_or_runs_backward_is_refused(
    memory: Memory, clock: Clock
) -> None:
    mine = memory.of("bea", timezone="Asia/Tokyo")
    mine.add("Good evening.")
    local = NOW.astimezone(tz=None).replace(tzinfo=None)
    assert mine.pages(as_of=(NOW + timedelta(hours=9)).replace(tzinfo=None)) == mine.pages()
    assert mine.pages(as_of=local - timedelta(hours=9)) == ()

    for at in ("yesterday", 7):
        for asked in ("as_of", "valid_at"):
            with pytest.raises(InputError, match=asked):
                memory.of("alice").facts(**{asked: at})  # type: ignore[arg-type]

    with pytest.raises(InputError, match="after later"):
        memory.of("alice").diff("2026-05-02", "2026-05-01")
    with pytest.raises(InputError, match="earlier is missing"):
        memory.of("alice").diff(None)


def test_before_memory_was_begun_anew_nothing_derived_is_kept(opened: Opener, clock: Clock) -> None:
    mine = opened(facts_when="read").of("alice")
    moved(mine, clock)
    mine.understand_anew()
    with pytest.raises(InputError, match="began memory anew"):
        mine.facts(as_of=NOW)
    assert mine.facts(as_of=clock.now) == mine.facts()
    assert values(mine.facts(valid_at=MARCH)) == ["Lyon"]


def test_what_was_forgotten_is_in_no_past(opened: Opener, clock: Clock) -> None:
    mine = opened(facts_when="read").of("alice")
    page = mine.add("I live in Lyon.", "I see.", at="2026-02-01T12:00:00Z", thread="a")
    mine.add("I like figs.", "I see.", at="2026-02-02T12:00:00Z", thread="b")
    mine.settle()
    clock.go(3600)
    mine.forget(page=page)
    for then in (NOW, clock.now):
        told = repr(
            (mine.pages(as_of=then), mine.persona(as_of=then), mine.segments(as_of=then), mine.chains(as_of=then))
        )
        assert "Lyon" not in told
        assert "figs" in told


BEGINNING: tuple[tuple[Any, ...], ...] = (
    ("add", "I live in Lyon.", 200, "t1"),
    ("talk", "I like figs. We saw a purple heron.", 190, "t2"),
    ("talk", "I like figs. The train to Bordeaux was late.", 180, "t2"),
    ("talk", "I live in Nantes now. My sister Ana is a nurse.", 90, "t1"),
    ("talk", "The old lighthouse is shut.", 80, "t3"),
)
"""So much of a life that something of everything stands: facts said again and superseded, segments that were left."""


QUICK: dict[str, Any] = {
    "facts_when": "read",
    "short_term_pages": 1,
    "mid_term_segments": 2,
    "placed_by": "page",
    "theta": 1.2,
}
"""Settings with which a short life has facts, segments, and an archive."""


def step(mine: OwnerMemory, what: str, *how: Any) -> None:
    """One step of a life; one that cannot be made is left out."""
    facts = mine.facts()
    if what in ("add", "talk"):
        mine.add(how[0], "I see.", at=NOW - timedelta(days=how[1]), thread=how[2])
        if what == "talk":
            mine.settle()
    elif what == "profile":
        mine.set_profile(name=how[0])
    elif what == "visit":
        mine.visit(mine.recall("Where do I live?").hits)
    elif what == "undo":
        with_that_number = mine.changes()[-1 - how[0] :][:1]
        if with_that_number:
            with suppress(InputError):
                mine.undo(with_that_number[0].no)
    elif facts:
        fact = facts[how[0] % len(facts)]
        if what == "correct":
            mine.correct(fact.id, f"says {how[0]}, not {fact.id}", value=f"{how[0]} {fact.id}")
        elif what == "pin":
            mine.pin(fact.id, how[0] % 2 == 0)
        else:
            mine.retire(fact.id)


LONG: list[tuple[Any, ...]] = [
    *(("correct", 1), ("undo", 0), ("undo", 0), ("pin", 0), ("retire", 1), ("profile", "Zoë"), ("profile", None)),
    *(("talk", "I like figs. 我喜欢喝茶。", 20, "t2"), ("visit",)),
]


def test_as_of_any_moment_gives_what_reads_gave_then(place: Place) -> None:
    clock = Clock()
    with Memory(place(), clock=clock, **{**SMALL, **QUICK}) as memory:
        mine = memory.of("alice")
        copies: list[tuple[datetime, dict[str, object]]] = []
        counted: list[tuple[datetime, list[tuple[Any, ...]]]] = []
        for n, what in enumerate((*BEGINNING, *LONG)):
            clock.go(60)
            step(mine, "visit")
            before = len(mine.changes())
            step(mine, *what)
            if n % bounded(3, proofs=1) == 0:
                copies.append((clock.now, all_read(mine)))
            if len(mine.changes()) > before:  # what was visited before it is told with it
                counted.append((clock.now, counters(mine)))
        assert len(counted) > 8
        assert max(visits for _, some in counted for _, visits, *_ in some) > 3
        memory.rebuild()
        for at, copy in copies:
            assert all_read(mine, as_of=at + timedelta(seconds=1)) == copy
        for at, some in counted:
            assert counters(mine, as_of=at) == some


def counters(mine: OwnerMemory, **at: Any) -> list[tuple[Any, ...]]:
    """What is counted of segments, and their heat."""
    found = [one for archived in (False, True) for one in mine.segments(archived, **at)]
    return [
        (one.id, one.visits, one.visited_at, one.unanalysed, one.last_access, mine.heat(one, **at)) for one in found
    ]


def test_a_recall_as_of_a_moment_scores_as_it_did_then(opened: Opener, clock: Clock) -> None:
    for placed_by in ("chain", "page"):
        settings = {"facts_when": "read", "short_term_pages": 1, "placed_by": placed_by, "theta": 0.6}
        mine = opened(f"{placed_by}.db", **settings).of("alice")
        told = (
            "I saw a heron by the lake.",
            "My sister Zoe is a nurse.",
            "My cello needs a string.",
            "I live in Lyon.",
        )
        for text in (*told, "I like figs."):
            mine.add(text, "I see, tell me more of it.")
            mine.settle()
        asked: list[tuple[str, Any]] = [
            (query, preset) for query in ("Where was the heron?", "And the cello?") for preset in PRESETS
        ]
        then = {one: mine.recall(one[0], preset=one[1]).hits for one in asked}
        at = clock.now
        clock.go(60)
        mine.add("I saw a swan.", "I see, tell me more of it.")
        mine.settle()
        for (query, preset), hits in then.items():
            again = {hit.utterance.id: hit.score for hit in mine.recall(query, preset=preset, as_of=at, at=at).hits}
            assert again == pytest.approx({hit.utterance.id: hit.score for hit in hits}, abs=5e-4)


def test_facts_at_a_time_are_those_whose_time_it_is_in(place: Place) -> None:
    clock = Clock()
    with Memory(place(), clock=clock, **{**SMALL, **QUICK}) as memory:
        mine = memory.of("alice")
        for what in (*BEGINNING, *LONG):
            clock.go(60)
            step(mine, *what)
        known = (*mine.facts(), *(fact for fact in mine.past_facts() if not fact.archived))
        for day in (0, 85, 95, 185, 310):
            at = NOW - timedelta(days=day) + timedelta(hours=1)
            assert {fact.id for fact in mine.facts(valid_at=at)} == {fact.id for fact in known if holds(fact, at)}
            assert all(page.said_at <= at for page in mine.pages(valid_at=at))
            assert {page.id for page in mine.pages(valid_at=at)} >= {
                p for s in mine.segments(valid_at=at) for p in s.page_ids
            }


def holds(fact: Fact, at: datetime) -> bool:
    until = fact.valid_to or fact.retired_at
    return (fact.valid_from is None or fact.valid_from <= at) and (until is None or at < until)


# ------------------------------------------------------------------------------------------------------ what is between


def test_a_diff_names_what_came_and_ended_between_two_times(opened: Opener, clock: Clock) -> None:
    mine = opened(facts_when="read", short_term_pages=1).of("alice")
    moved(mine, clock)
    told = mine.diff(NOW)
    assert told.changes == tuple(change.no for change in mine.changes(since=NOW))
    assert told.pages_added == (mine.pages()[-1].id,)
    assert [fact.value for fact in told.facts_added] == ["Nantes"]
    assert [fact.value for fact in told.facts_ended] == ["Lyon"]
    assert [(old and old.value, new and new.value) for old, new in told.profile] == [("Lyon", "Nantes")]
    text = str(told)
    assert f"+ fact {told.facts_added[0].id}: " in text
    assert f"(superseded by {told.facts_added[0].id})" in text
    assert "~ profile user.home: Lyon → Nantes" in text

    first = mine.diff("2000-01-01", NOW)
    assert [fact.value for fact in first.facts_added] == ["Lyon"]
    assert first.facts_ended == ()
    assert not mine.diff(clock.now).changes
    assert str(mine.diff(clock.now)).endswith("no change")
    pinned_at = clock.now
    clock.go(60)
    mine.pin(mine.facts()[0].id)
    changed = mine.diff(pinned_at)
    assert [(old.pinned, new.pinned) for old, new in changed.facts_changed] == [(False, True)]


def test_a_line_that_one_change_learnt_and_replaced_is_told_of_its_own_time(opened: Opener) -> None:
    alice = opened(user_facts=20).of("alice")
    for day, line in enumerate(("I live in Lyon.", "I live in Oslo now.", *(f"I read chapter {n}." for n in range(6)))):
        alice.add(line, "I see.", at=f"2026-04-{day + 1:02}T10:00:00Z", thread="s1")
    alice.settle()
    assert [line.value for line in alice.profile() if line.name == "home"] == ["Oslo"]
    (home,) = [line for line in alice.profile(valid_at="2026-04-01T20:00:00Z") if line.name == "home"]
    assert (home.value, home.sources[0].seq) == ("Lyon", 1)
    assert not [line for line in alice.profile(valid_at="2026-03-01") if line.name == "home"]
