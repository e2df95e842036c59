"""The forgetting curve: what is not used leaves for the archive, and no answer is weighed by it."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embermem import Memory, OwnerMemory
from embermem.core.changes import Cause
from embermem.core.config import Settings
from embermem.core.errors import InputError
from embermem.core.types import About, Fact, FactId, Segment, SegmentId
from embermem.memoryos.ingest import decay as curve
from embermem.protocols import Use
from json_lines import exported, file_of, imported, lines_of
from scripted import NOW, Clock, Opener

DAY = 86_400.0
LINES = (
    "I live in Lyon.",
    "I like green tea.",
    "My sister Ana is a nurse.",
    "I am allergic to peanuts.",
    "The purple heron sat on the lake.",
    "It rained on the lake all day.",
    "We walked around the lake.",
    "The train was late.",
)


def talk(memory: Memory, clock: Clock) -> None:
    alice = memory.of("alice")
    for line in LINES:
        alice.add(line, "I see.")
    alice.settle()


Living = Callable[[], tuple[Memory, OwnerMemory]]


@pytest.fixture
def lived(lived_in: Callable[..., Any], opened: Opener) -> Living:
    """Opens a memory of what was said in `talk`."""

    def begin() -> tuple[Memory, OwnerMemory]:
        lived_in(talk, user_facts=50)
        memory = opened(user_facts=50)
        return memory, memory.of("alice")

    return begin


INSTRUCTIONS = ("instruction", "instruction_units")


def fact(name: str = "f1-000", attribute: str = "likes", pinned: bool = False) -> Fact:
    return Fact(
        id=FactId(name),
        about=About.USER,
        subject="user",
        attribute=attribute,
        value="tea",
        text="alice likes tea",
        sources=(),
        valid_from=None,
        valid_to=None,
        recorded_at=NOW,
        pinned=pinned,
    )


def segment(name: str = "s1-00", visits: int = 0, unanalysed: int = 0) -> Segment:
    return Segment(
        id=SegmentId(name),
        summary="A heron.",
        keywords=(),
        page_ids=(),
        visits=visits,
        unanalysed=unanalysed,
        last_access=NOW,
        archived=False,
        change_no=1,
        recorded_at=NOW,
        said_from=NOW,
        said_to=NOW,
    )


SETTINGS = Settings(retention_strength_days=10.0, retention_floor=0.1)


def test_what_is_retained_is_e_to_the_minus_t_by_s() -> None:
    uses = [Use(item=fact(), visits=0, last=NOW), Use(item=segment(), visits=1, last=NOW)]
    told = curve.retentions(uses, NOW + timedelta(days=10), SETTINGS)
    assert [(one.kind, one.S, one.t) for one in told] == [("fact", 10.0, 10.0), ("segment", 20.0, 10.0)]
    assert [one.R for one in told] == pytest.approx([math.exp(-1), math.exp(-0.5)])
    assert not any(one.archives for one in told)


@given(st.floats(0, 400), st.integers(0, 20))
def test_it_falls_with_time_and_rises_with_each_recall(days: float, visits: int) -> None:
    at = NOW + timedelta(days=days)

    def retained(visits: int, at_days: float) -> float:
        return curve.retentions([Use(item=fact(), visits=visits, last=NOW)], NOW + timedelta(days=at_days), SETTINGS)[
            0
        ].R

    assert 0.0 <= retained(visits, days) <= 1.0
    assert retained(visits + 1, days) >= retained(visits, days)
    assert retained(visits, days + 1) <= retained(visits, days)
    one = curve.retentions([Use(item=fact(), visits=visits, last=NOW)], at, SETTINGS)[0]
    assert one.archives == (SETTINGS.retention_floor > one.R)


@given(
    st.lists(st.tuples(st.integers(0, 5), st.floats(0, 300)), min_size=1),
    st.floats(0, 300),
    st.one_of(st.none(), st.floats(0, 300)),
)
def test_nothing_fades_before_it_is_due(
    used: list[tuple[int, float]], now_days: float, last_days: float | None
) -> None:
    uses = [
        Use(item=fact(f"f{n}-000"), visits=visits, last=NOW + timedelta(days=days))
        for n, (visits, days) in enumerate(used)
    ]
    now = NOW + timedelta(days=now_days)
    last = None if last_days is None else NOW + timedelta(days=last_days)
    due = curve.due(uses, now, last, SETTINGS)
    assert due is not None
    if not any(one.archives for one in curve.retentions(uses, now, SETTINGS)):
        before = due - timedelta(seconds=1)
        if before > now:
            waits = last is not None and before < last + timedelta(days=1)
            assert waits or not any(one.archives for one in curve.retentions(uses, before, SETTINGS))
    else:
        assert due > now  # it could not leave now, and is not asked at once again


def test_instructions_and_limits_stay_and_pinned_facts_are_not_told_of() -> None:
    uses = [Use(item=fact(f"f{i}-000", attribute=name), visits=0, last=NOW) for i, name in enumerate(INSTRUCTIONS)]
    told = curve.retentions(uses, NOW + timedelta(days=400), SETTINGS)
    assert [(one.archives, "instruction" in one.reason) for one in told] == [(False, True)] * 2
    assert curve.due(uses, NOW, None, SETTINGS) is None

    uses = [
        Use(item=fact("f1-000", pinned=True), visits=0, last=NOW),
        Use(item=fact("f2-000", attribute="allergic_to"), visits=0, last=NOW),
        Use(item=segment(unanalysed=2), visits=0, last=NOW),
    ]
    told = curve.retentions(uses, NOW + timedelta(days=400), SETTINGS)
    assert [(one.item_id, one.archives) for one in told] == [("f2-000", False), ("s1-00", False)]
    assert "limit" in told[0].reason
    assert "analysed" in told[1].reason
    assert curve.waiting(uses, NOW + timedelta(days=400), SETTINGS) == {"s1-00"}


def test_a_memory_says_what_is_retained_of_each_and_why_and_what_is_said_again_is_as_new(
    lived: Living, clock: Clock
) -> None:
    _, alice = lived()
    told = {one.text: one for one in alice.retention(at=NOW + timedelta(days=200))}
    tea = next(one for text, one in told.items() if "green tea" in text)
    assert tea.archives
    assert tea.reason == "never recalled, not used for 200 days"
    assert not next(one for text, one in told.items() if "peanut" in text).archives
    assert {one.kind for one in told.values()} == {"fact", "segment"}
    assert all(one.R == 1.0 for one in alice.retention(at=NOW - timedelta(days=3)))

    with pytest.raises(InputError, match="visit takes"):
        alice.visit(["hits"])  # type: ignore[list-item]

    clock.go(60 * DAY)
    alice.add("I like green tea.", "I know.")
    alice.settle()
    assert {one.text: one.t for one in alice.retention() if one.kind == "fact" and "tea" in one.text}.popitem()[
        1
    ] == 0.0


def test_what_was_recalled_lasts_longer(lived: Living, clock: Clock) -> None:
    _, alice = lived()
    context = alice.recall("What tea do I like?")
    tea = next(one for one in context.facts if "tea" in one.text)
    for _ in range(3):
        alice.visit(context)
    strengths = {one.item_id: one.S for one in alice.retention()}
    assert strengths[tea.id] == 30.0 * 4
    alice.visit(context.packed)
    assert {one.item_id: one.S for one in alice.retention()}[tea.id] == 30.0 * 4  # hits name no facts
    clock.go(120 * DAY)  # after 90 an unused one fades
    assert tea.id not in alice.fade().facts
    clock.go(400 * DAY)
    assert tea.id in alice.fade().facts


def test_fading_moves_to_the_archive_and_loses_nothing(lived: Living, clock: Clock) -> None:
    _, alice = lived()
    alice.pin(next(one.id for one in alice.facts() if "Ana" in one.text))
    profile, said = alice.profile(), len(alice.utterances())
    clock.go(200 * DAY)
    plan = alice.fade(dry_run=True)
    assert plan.facts
    assert plan.change_no is None
    assert not alice.facts(archived=True)
    faded = alice.fade()
    assert (faded.facts, faded.segments) == (plan.facts, plan.segments)
    assert {one.id for one in alice.facts(archived=True)} == set(faded.facts)
    assert {"Ana", "peanuts"} <= {word.strip(".") for one in alice.facts() for word in one.text.split()}
    assert {one.id for one in alice.segments(archived=True)} == set(faded.segments)
    assert alice.profile() == profile
    assert len(alice.utterances()) == said
    assert any("green tea" in hit.utterance.text for hit in alice.search("green tea"))
    assert alice.fade().change_no is None
    assert [change.no for change in alice.changes(cause=Cause.RETENTION)] == [faded.change_no]


def test_retention_enters_no_answer(opened: Opener, clock: Clock) -> None:
    answers = []
    for on in (False, True):
        _, alice = lived_in(opened, f"{on}.db", on)
        context = alice.recall("What did I see at the lake?", at=NOW + timedelta(days=60))
        answers.append((context.text, [(hit.utterance.text, hit.score) for hit in context.hits], context.confidence))
    assert answers[0] == answers[1]


def lived_in(opened: Opener, file: str, on: bool) -> tuple[Memory, OwnerMemory]:
    memory = opened(file, user_facts=50, retention=on)
    alice = memory.of("alice")
    for line in LINES:
        alice.add(line, "I see.")
    alice.settle()
    return memory, alice


def test_a_worker_fades_when_it_is_due_at_most_once_a_day_and_only_if_it_is_on(opened: Opener, clock: Clock) -> None:
    memory, alice = lived_in(opened, "memory.db", True)
    clock.go(200 * DAY)
    memory.work()
    alice.add("I like figs.", "I see.")
    clock.go(3600.0)
    alice.settle()
    assert len(alice.changes(cause=Cause.RETENTION)) == 1

    began = clock.now
    for on in (False, True):
        clock.now = began
        memory, alice = lived_in(opened, f"{on}.db", on)
        state = alice.state()
        assert state is not None
        clock.go(200 * DAY)
        memory.work()
        memory.work()
        assert bool(alice.changes(cause=Cause.RETENTION)) == on
        assert bool(alice.facts(archived=True)) == on


def test_visits_and_what_faded_survive_a_rebuild(lived: Living, clock: Clock) -> None:
    memory, alice = lived()
    context = alice.recall("What tea do I like?")
    alice.visit(context)
    before = alice.retention(at=NOW + timedelta(days=20))
    assert max(one.S for one in before) > 30.0
    assert all(one.same for one in memory.rebuild())
    assert alice.retention(at=NOW + timedelta(days=20)) == before

    clock.now = NOW
    clock.go(200 * DAY)
    alice.fade()
    assert all(one.same for one in memory.rebuild())
    clock.go(DAY)
    assert alice.facts(as_of=NOW + timedelta(days=1))  # then they were held


def test_visits_and_expiry_travel_to_another_store_and_an_export_without_them_is_read(
    lived: Living, opened: Opener, clock: Clock
) -> None:
    memory, alice = lived()
    lines = lines_of(exported(memory))
    page = alice.add("The zyxglorp plays.", "I see.", expires_at=NOW + timedelta(days=3))
    alice.visit(alice.recall("What tea do I like?"))
    other = opened("other.db", user_facts=50)
    imported(other, exported(memory))
    there = other.of("alice")
    assert there.page(page).expires_at == alice.page(page).expires_at == NOW + timedelta(days=3)
    assert there.retention() == alice.retention()
    assert exported(other).splitlines()[1:] == exported(memory).splitlines()[1:]
    clock.go(4 * DAY)
    assert not [hit for hit in there.search("zyxglorp") if hit.utterance.page_id == page]
    other.work()
    assert page not in {one.id for one in there.pages()}

    for line in lines:
        line.pop("expires_at", None) if line["kind"] == "utterance" else None
        line.pop("visits", None) if line["kind"] == "end" else None
    another = opened("another.db", user_facts=50)
    assert imported(another, file_of(lines)).owners
    assert {one.S for one in another.of("alice").retention()} == {30.0}


def test_an_undo_restores_the_facts_that_faded_and_they_count_as_used(lived: Living, clock: Clock) -> None:
    _, alice = lived()
    clock.go(200 * DAY)
    faded = alice.fade()
    assert faded.change_no is not None
    alice.undo(faded.change_no)
    assert set(faded.facts) <= {one.id for one in alice.facts()}
    assert alice.fade().facts == ()
