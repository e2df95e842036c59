"""Undo: what a change taught the persona is taken back, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embermem import Memory, OwnerMemory
from embermem.core.changes import (
    BegunAnew,
    Cause,
    Change,
    Decision,
    Erased,
    Evicted,
    FactAdded,
    FactArchived,
    FactBarred,
    FactExpires,
    FactRestored,
    FactRetired,
    FactStrengthened,
    ProfileSet,
    TextsBarred,
    TraitCleared,
    TraitSet,
    Undone,
)
from embermem.core.config import load
from embermem.core.errors import InputError, NotFound
from embermem.core.types import About, FactId, PageId, SegmentId, Source, UtteranceId
from embermem.memoryos.correct.undoing import undo_plan, undoing
from scripted import NOW, SMALL, Opener, Place
from soundness import assert_sound, rows

SETTINGS = load(None, **SMALL)
SOURCE = Source(seq=1, utterance_id=UtteranceId("u1"))


def told(alice: OwnerMemory) -> dict[str, Any]:
    """All that the persona says, without when it was written."""
    return {
        "held": [(f.id, f.value, f.valid_to) for f in alice.facts()],
        "archived": [(f.id, f.value) for f in alice.facts(archived=True)],
        "traits": [(t.dimension, t.level, t.confidence, t.sources) for t in alice.traits()],
        "profile": [(p.name, p.value, p.set_by) for p in (*alice.profile(), *alice.agent_profile())],
    }


def newest(alice: OwnerMemory, cause: Cause) -> int:
    return max(change.no for change in alice.changes() if change.cause is cause)


def added(alice: OwnerMemory, value: str) -> int:
    """The change that added a fact of this value."""
    return next(c.no for c in alice.changes() for d in c.decisions if isinstance(d, FactAdded) and d.value == value)


# ------------------------------------------------------------------------------------------ through the public face


def test_undoing_takes_back_what_was_taught_and_undoing_the_undo_restores_it(
    alice: OwnerMemory, memory: Memory
) -> None:
    alice.add("I live in Lyon.", "Nice.")
    alice.settle()
    before = told(alice)
    alice.add("I moved to Nantes.", "Nice.", thread="later")
    alice.settle()
    assert [f.value for f in alice.facts()] == ["Nantes"]
    wrong = added(alice, "Nantes")
    assert alice.undo(wrong) == newest(alice, Cause.UNDO)
    assert told(alice) == before
    (gone,) = alice.past_facts()
    assert (gone.value, gone.valid_to == gone.valid_from, gone.superseded_by) == ("Nantes", True, None)
    assert "Nantes" not in [fact.value for fact in alice.recall("Where do I live?").facts]
    assert [fact.value for fact in alice.recall("Where do I live?").facts] == ["Lyon"]

    alice = memory.of("alice", "2")
    alice.add("I live in Lyon.", "Nice.")
    alice.settle()
    first = told(alice)
    alice.add("I moved to Nantes. Call me Sam.", "Nice.", thread="later")
    alice.settle()
    second, wrong = told(alice), added(alice, "Nantes")
    undone = alice.undo(wrong)
    assert told(alice) == first
    restored = alice.undo(undone)
    assert told(alice) == second
    alice.undo(wrong)
    assert told(alice) == first
    with pytest.raises(InputError, match=f"undone by change {restored}"):
        alice.undo(undone)

    alice = memory.of("alice", "3")
    alice.set_profile(name="Alice", birth_year=1994)
    alice.set_profile(name="Alicia", town="Lyon")
    alice.undo(2)
    assert {line.name: line.value for line in alice.profile()} == {"name": "Alice", "birth_year": "1994"}
    alice.set_profile(birth_year=1995)
    alice.undo(1)
    assert {line.name: line.value for line in alice.profile()} == {"birth_year": "1995"}  # it was set since
    alice.set_profile(name="Al")
    alice.set_profile(name=None)
    alice.undo(newest(alice, Cause.PROFILE))
    assert {line.name: line.value for line in alice.profile()} == {"birth_year": "1995", "name": "Al"}


def test_an_undo_of_what_taught_nothing_was_undone_or_is_another_owner_s_is_refused(
    alice: OwnerMemory, memory: Memory
) -> None:
    alice.add("I live in Lyon.", "Nice.")
    alice.settle()
    no = added(alice, "Lyon")
    undone = alice.undo(no)
    with pytest.raises(InputError, match=f"undone by change {undone}"):
        alice.undo(no)
    with pytest.raises(InputError, match="taught the persona nothing"):
        alice.undo(newest(alice, Cause.EMBEDDING))
    with pytest.raises(NotFound):
        alice.undo(999)
    for no_number in (0, -1, "1", True, 1.0):
        with pytest.raises(InputError):
            alice.undo(no_number)  # type: ignore[arg-type]
    assert len(alice.changes()) == undone

    alice = memory.of("alice", "2")
    alice.set_profile(name="Alice")
    alice.set_profile(name="Alice")
    with pytest.raises(InputError, match="later changes built on it"):
        alice.undo(1)


def test_an_undo_keeps_to_the_cap_and_brings_back_what_it_moved_out(alice: OwnerMemory, memory: Memory) -> None:
    alice.add("I like green tea. I like figs. I like jazz. I like rain. I like maps.", "Nice.")
    alice.settle()
    before = told(alice)
    alice.add("I live in Lyon. My sister Ana is a nurse.", "Nice.", thread="later")
    alice.settle()
    assert alice.facts(archived=True)
    alice.undo(added(alice, "Lyon"))
    assert told(alice) == before
    assert [f.id for f in alice.recall("figs").facts].count(before["held"][1][0]) <= 1

    alice = memory.of("alice", "2")
    alice.add("My favorite color is green.", "Nice.")
    alice.settle()
    alice.add("My favorite color is red.", "Nice.", thread="b")
    alice.settle()
    wrong = added(alice, "red")
    alice.add("I like green tea. I like figs. I like jazz. I like rain. I like maps.", "Nice.", thread="c")
    alice.settle()
    assert [f.value for f in alice.facts(archived=True)] == ["red"]
    undone = alice.undo(wrong)
    assert "green" in {f.value for f in (*alice.facts(), *alice.facts(archived=True))}
    assert "red" not in {f.value for f in (*alice.facts(), *alice.facts(archived=True))}
    assert len(alice.facts("user")) <= 5
    alice.undo(undone)
    assert [f.value for f in alice.facts(archived=True)] == ["red"]


def test_what_was_undone_is_not_learnt_again_unless_a_forgetting_was_undone(alice: OwnerMemory, memory: Memory) -> None:
    alice.add("I live in Lyon.", None)
    alice.settle()
    alice.undo(added(alice, "Lyon"))
    alice.add(None, "Nice.")  # its page is read again
    for n in range(6):
        alice.add(f"The train was late, {n}.", "Yes.")
    alice.settle()
    assert alice.facts() == ()

    alice = memory.of("alice", "2")
    alice.add("I live in Lyon.", None)
    alice.settle()
    alice.forget(fact=alice.facts()[0].id)
    forgotten = newest(alice, Cause.FORGETTING)
    alice.add(None, "Nice.")  # its page is read again
    alice.settle()
    assert alice.facts() == ()
    plan = alice.undo_plan(forgotten)
    assert [one.reason for one in plan.refused] == ["it was forgotten, and is gone for good"]
    undone = alice.undo(forgotten)
    alice.add(None, "Very nice.")
    alice.understand_anew()
    assert [fact.value for fact in alice.facts()] == ["Lyon"]
    assert undone in {change.no for change in alice.changes()}


def test_texts_are_barred_by_each_forgetting_that_stands_also_after_a_rebuild(opened: Opener, place: Place) -> None:
    memory = opened()
    alice, other = memory.of("alice"), memory.of("other")
    store = memory._store
    for one in (alice, other):
        one.set_profile(name="A")
        for marks in (("aa", "bb"), ("bb",)):
            texts = TextsBarred(messages=("cc",), texts=marks)
            store.apply(one.owner, Cause.FORGETTING, "", [texts], now=NOW, revision=len(one.changes()), lease=None)

    def barred() -> list[tuple[str, int]]:
        found = rows(place(), "SELECT mark, change_no FROM barred WHERE owner_id = ? ORDER BY 1, 2", alice.owner.id)
        return [(row["mark"], row["change_no"]) for row in found]

    first, second = [("aa", 2), ("bb", 2), ("cc", 2)], [("bb", 3), ("cc", 3)]
    assert barred() == sorted(first + second)
    undone = alice.undo(2)
    assert barred() == second
    again = alice.undo(undone)
    assert barred() == sorted(first + second)
    alice.undo(2)
    alice.undo(3)
    assert barred() == []
    with pytest.raises(InputError):
        alice.undo(again)
    alice.undo(newest(alice, Cause.UNDO))
    assert barred() == second
    assert all(found.same for found in memory.rebuild())
    assert barred() == second
    assert len(rows(place(), "SELECT mark FROM barred WHERE owner_id = ?", other.owner.id)) == 5


def test_an_undo_is_of_one_owner_alone(memory: Memory) -> None:
    alice, bob = memory.of("alice"), memory.of("bob")
    for one in (alice, bob):
        one.set_profile(name="A")
    alice.undo(1)
    assert alice.profile() == ()
    assert [line.value for line in bob.profile()] == ["A"]
    assert len(bob.changes()) == 1


def test_replaying_the_log_gives_the_same_after_undoing(opened: Opener, place: Place) -> None:
    memory = opened()
    alice = memory.of("alice")
    for n, line in enumerate(
        ("I live in Lyon. Call me Sam.", "I moved to Nantes.", "I was born in 1990. I love jazz.")
    ):
        alice.add(line, "ok", thread=f"t{n}")
        alice.settle()
    for no in [c.no for c in alice.changes()]:
        try:
            alice.undo(alice.undo(no))
            alice.undo(no)
        except InputError:
            continue
    assert newest(alice, Cause.UNDO)
    (found,) = memory.rebuild()
    assert found.same
    assert_sound(place())


# ---------------------------------------------------------------------------------------------------- as decisions


def log(*changes: tuple[Decision, ...]) -> list[Change]:
    return [
        Change(
            no=no,
            cause=Cause.UNDO if any(isinstance(d, Undone) for d in made) else Cause.PROMOTION,
            analyst="",
            recorded_at=NOW,
            decisions=made,
        )
        for no, made in enumerate(changes, 1)
    ]


def fact(name: str, valid_from: datetime | None = NOW) -> FactAdded:
    return FactAdded(
        fact_id=FactId(name),
        about=About.USER,
        subject="user",
        attribute="likes",
        value=name,
        text=f"likes {name}",
        sources=(SOURCE,),
        valid_from=valid_from,
    )


def trait(level: float) -> TraitSet:
    return TraitSet(dimension="openness", level=level, confidence=0.5, sources=(SOURCE,))


def test_what_changed_since_is_left_alone() -> None:
    first, second = trait(0.1), trait(0.2)
    assert undoing(log((first,), (second,)), 2, SETTINGS) == [Undone(no=2), first]
    assert undoing(log((first,)), 1, SETTINGS) == [Undone(no=1), TraitCleared(dimension="openness")]
    with pytest.raises(InputError, match="later changes built on it"):
        undoing(log((first,), (second,)), 1, SETTINGS)

    again = FactStrengthened(fact_id=FactId("tea"), sources=(SOURCE,))
    done = log((fact("tea"), fact("figs")), (again,))
    assert undoing(done, 1, SETTINGS) == [
        Undone(no=1),
        FactRetired(fact_id=FactId("figs"), superseded_by=None, valid_to=NOW),
    ]

    superseded = FactRetired(fact_id=FactId("tea"), superseded_by=FactId("figs"), valid_to=NOW)
    with pytest.raises(InputError, match="later changes built on it"):
        undoing(log((fact("tea"),), (fact("figs"), superseded)), 1, SETTINGS)

    done = log((fact("tea"),), (FactArchived(fact_id=FactId("tea")),))
    assert undoing(done, 1, SETTINGS)[1] == FactRetired(fact_id=FactId("tea"), superseded_by=None, valid_to=NOW)

    done = log((fact("tea"),), (BegunAnew(),), (fact("figs"),))
    for no in (1, 2):
        with pytest.raises(InputError, match="began memory anew"):
            undoing(done, no, SETTINGS)
    assert undoing(done, 3, SETTINGS)


def made(decisions: Iterable[Decision], cause: Cause, log: list[Change]) -> list[Change]:
    """The log with one more change."""
    return [*log, Change(no=len(log) + 1, cause=cause, analyst="", recorded_at=NOW, decisions=tuple(decisions))]


def undone(log: list[Change], no: int) -> list[Change]:
    return made(undoing(log, no, SETTINGS), Cause.UNDO, log)


def test_the_plan_names_what_is_refused_the_reason_and_the_change_that_rests_on_it() -> None:
    tea, figs = fact("tea"), fact("figs")
    line = ProfileSet(whose=About.USER, name="drink", value="tea", sources=(), set_by="caller")
    done = log(
        (tea, figs, trait(0.1), line),
        (FactStrengthened(fact_id=tea.fact_id, sources=(SOURCE,)),),
        (FactRetired(fact_id=figs.fact_id, superseded_by=tea.fact_id, valid_to=NOW),),
        (trait(0.2), ProfileSet(whose=About.USER, name="drink", value=None, sources=(), set_by="caller")),
    )
    plan = undo_plan(done, 1, SETTINGS)
    assert plan.decisions == ()
    assert [(one.item, one.change_no) for one in plan.refused] == [
        ("tea", 2),
        ("figs", 3),
        ("openness", 4),
        ("user.drink", 4),
    ]
    with pytest.raises(InputError) as refused:
        undoing(done, 1, SETTINGS)
    for reason in ("tea: it has been said again", "figs: fact tea has taken its place since (change 3)"):
        assert reason in str(refused.value)


def test_what_a_fact_ended_holds_again_only_when_the_fact_goes() -> None:
    lyon, nantes = fact("lyon"), fact("nantes")
    superseded = FactRetired(fact_id=lyon.fact_id, superseded_by=nantes.fact_id, valid_to=NOW)
    line = ProfileSet(whose=About.USER, name="home", value="nantes", sources=(SOURCE,), set_by="analyst")
    done = log(
        (lyon,),
        (nantes, superseded, line, fact("figs")),
        (FactStrengthened(fact_id=nantes.fact_id, sources=(SOURCE,)),),
    )
    plan = undo_plan(done, 2, SETTINGS)
    assert plan.decisions == (Undone(no=2), FactRetired(fact_id=FactId("figs"), superseded_by=None, valid_to=NOW))
    assert [(one.item, one.change_no) for one in plan.refused] == [("nantes", 3), ("lyon", 3), ("user.home", 3)]
    assert "which it goes with, is left as it is" in plan.refused[1].reason

    lyon, nantes, oslo = fact("lyon"), fact("nantes"), fact("oslo")
    done = log(
        (lyon,),
        (nantes, FactRetired(fact_id=lyon.fact_id, superseded_by=nantes.fact_id, valid_to=NOW)),
        (oslo, FactRetired(fact_id=nantes.fact_id, superseded_by=oslo.fact_id, valid_to=NOW)),
    )
    assert [(one.item, one.change_no) for one in undo_plan(done, 2, SETTINGS).refused] == [("nantes", 3), ("lyon", 3)]
    back = undone(done, 3)
    assert undone(back, 2)[-1].decisions[1:] == (
        FactRestored(fact_id=lyon.fact_id),
        FactRetired(fact_id=nantes.fact_id, superseded_by=None, valid_to=NOW),
    )


def test_when_a_fact_expires_is_set_back_to_what_it_was() -> None:
    until = NOW + timedelta(days=1)
    tea = replace(fact("tea"), expires_at=until)
    ended = FactRetired(fact_id=tea.fact_id, superseded_by=None, valid_to=until)
    done = made((ended,), Cause.EXPIRY, log((tea,)))
    back = undone(done, 2)
    assert back[-1].decisions == (
        Undone(no=2),
        FactRestored(fact_id=tea.fact_id),
        FactExpires(fact_id=tea.fact_id, at=None),
    )
    assert undone(back, 3)[-1].decisions == (Undone(no=3), ended, FactExpires(fact_id=tea.fact_id, at=until))

    first, second = NOW + timedelta(days=1), NOW + timedelta(days=2)
    done = made(
        (FactExpires(fact_id=FactId("tea"), at=second),),
        Cause.CORRECTION,
        log((replace(fact("tea"), expires_at=first),)),
    )
    assert undoing(done, 2, SETTINGS) == [Undone(no=2), FactExpires(fact_id=FactId("tea"), at=first)]


def test_of_a_fading_or_a_forgetting_what_it_decided_is_taken_back_and_what_left_is_gone() -> None:
    faded = (FactArchived(fact_id=FactId("tea")), Evicted(segment_id=SegmentId("s1")))
    plan = undo_plan(made(faded, Cause.RETENTION, log((fact("tea"),))), 2, SETTINGS)
    assert plan.decisions == (Undone(no=2), FactRestored(fact_id=FactId("tea")))
    assert [one.item for one in plan.refused] == ["s1"]

    erased = Erased(pages=(PageId("p1"),), facts=(FactId("figs"),), utterances=2)
    barred = FactBarred(mark="00", upto_seq=9)
    ended = FactRetired(fact_id=FactId("tea"), superseded_by=None, valid_to=NOW)
    done = made((erased, barred, ended), Cause.FORGETTING, log((fact("tea"),)))
    plan = undo_plan(done, 2, SETTINGS)
    assert plan.decisions == (Undone(no=2), FactRestored(fact_id=FactId("tea")))
    assert [(one.item, one.reason) for one in plan.refused] == [
        (item, "it was forgotten, and is gone for good") for item in ("p1", "figs")
    ]
    assert undone(undone(done, 2), 3)[-1].decisions == (Undone(no=3), ended)
    only = made((erased,), Cause.FORGETTING, log((fact("tea"),)))
    with pytest.raises(InputError, match="gone for good"):
        undoing(only, 2, SETTINGS)


FACTS = tuple(f"f{n}" for n in range(7))


class Persona:
    """A plain model: what holds after a list of changes."""

    def __init__(self, changes: list[Change]) -> None:
        self.held: dict[str, bool] = {}
        self.said: dict[str, object] = {}
        for change in changes:
            for d in change.decisions:
                match d:
                    case FactAdded() | FactRestored():
                        self.held[d.fact_id] = True
                    case FactRetired() | FactArchived():
                        self.held[d.fact_id] = False
                    case TraitSet() | TraitCleared():
                        self.said[d.dimension] = getattr(d, "level", None)
                    case ProfileSet():
                        self.said[d.name] = d.value
                    case _:
                        pass

    @property
    def all(self) -> tuple[object, ...]:
        said = {name: value for name, value in self.said.items() if value is not None}
        return sorted(name for name, holds in self.held.items() if holds), said


@given(st.data())
def test_whatever_is_undone_in_whatever_order_the_last_change_and_its_undo_leave_no_trace(data: st.DataObject) -> None:
    done: list[Change] = []
    for _ in range(data.draw(st.integers(1, 9))):
        undo: bool = data.draw(st.booleans())
        if undo and done:
            no = data.draw(st.integers(1, len(done)))
            try:
                done = log(*(c.decisions for c in done), tuple(undoing(done, no, SETTINGS)))
            except InputError:
                continue
        else:
            made: list[Decision] = [fact(f"f{len(done)}-{n}") for n in range(data.draw(st.integers(0, 3)))]
            held = [FactId(name) for name, holds in Persona(done).held.items() if holds]
            ended = data.draw(st.lists(st.sampled_from(held), unique=True, max_size=2)) if held else []
            made += [FactRetired(fact_id=one, superseded_by=None, valid_to=NOW) for one in ended]
            left = [name for name in held if name not in ended]
            made += [FactArchived(fact_id=one) for one in left[: max(0, len(left) + len(made) - len(ended) - 5)]]
            made.append(trait(len(done) / 10))
            made.append(ProfileSet(whose=About.USER, name="n", value=str(len(done)), sources=(), set_by="caller"))
            done = log(*(c.decisions for c in done), tuple(made))
        assert sum(Persona(done).held.values()) <= 5
    last = len(done)
    before, after = Persona(done[:-1]).all, Persona(done).all
    back = log(*(c.decisions for c in done), tuple(undoing(done, last, SETTINGS)))
    assert Persona(back).all == before
    again = log(*(c.decisions for c in back), tuple(undoing(back, last + 1, SETTINGS)))
    assert Persona(again).all == after
