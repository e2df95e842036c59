"""Undo: what a change taught the persona is taken back, and nothing else."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embermem import Memory, OwnerMemory
from embermem.changes import (
    BegunAnew,
    Cause,
    Change,
    Decision,
    FactAdded,
    FactArchived,
    FactRestored,
    FactRetired,
    FactStrengthened,
    ProfileSet,
    TraitCleared,
    TraitSet,
    Undone,
)
from embermem.config import load
from embermem.errors import InputError, NotFound
from embermem.systems.memoryos.undoing import undoing
from embermem.types import About, FactId, Source, UtteranceId
from scripted import NOW, SMALL, Opener, Place
from soundness import assert_sound

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


def test_a_fact_that_was_added_is_retired_and_one_that_it_superseded_holds_again(alice: OwnerMemory) -> None:
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


def test_undoing_an_undo_restores_what_was_taken_back_and_then_it_can_be_undone_again(alice: OwnerMemory) -> None:
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


def test_a_second_undo_is_refused_and_so_is_one_of_a_change_that_taught_nothing(alice: OwnerMemory) -> None:
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


def test_profile_lines_get_what_stood_there_before(alice: OwnerMemory) -> None:
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


def test_where_nothing_is_left_to_take_back_the_undo_is_refused(alice: OwnerMemory) -> None:
    alice.set_profile(name="Alice")
    alice.set_profile(name="Alice")
    with pytest.raises(InputError, match="later changes built on it"):
        alice.undo(1)


def test_facts_that_the_cap_moved_out_hold_again(alice: OwnerMemory) -> None:
    alice.add("I like green tea. I like figs. I like jazz. I like rain. I like maps.", "Nice.")
    alice.settle()
    before = told(alice)
    alice.add("I live in Lyon. My sister Ana is a nurse.", "Nice.", thread="later")
    alice.settle()
    assert alice.facts(archived=True)
    alice.undo(added(alice, "Lyon"))
    assert told(alice) == before
    assert [f.id for f in alice.recall("figs").facts].count(before["held"][1][0]) <= 1


def test_an_undo_keeps_to_the_cap(alice: OwnerMemory) -> None:
    alice.add("I live in Lyon.", "Nice.")
    alice.settle()
    alice.add("I moved to Nantes.", "Nice.", thread="b")
    alice.settle()
    wrong = added(alice, "Nantes")
    alice.add("I like green tea. I like figs. I like jazz. I like rain. I like maps.", "Nice.", thread="c")
    alice.settle()
    assert [f.value for f in alice.facts(archived=True)] == ["Nantes"]
    undone = alice.undo(wrong)
    assert "Lyon" in {f.value for f in (*alice.facts(), *alice.facts(archived=True))}
    assert "Nantes" not in {f.value for f in (*alice.facts(), *alice.facts(archived=True))}
    assert len(alice.facts("user")) <= 5
    alice.undo(undone)
    assert [f.value for f in alice.facts(archived=True)] == ["Nantes"]


def test_what_was_undone_is_not_learnt_again_from_the_same_words(alice: OwnerMemory) -> None:
    alice.add("I live in Lyon.", None)
    alice.settle()
    alice.undo(added(alice, "Lyon"))
    alice.add(None, "Nice.")  # its page is read again
    for n in range(6):
        alice.add(f"The train was late, {n}.", "Yes.")
    alice.settle()
    assert alice.facts() == ()


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


def test_a_trait_gets_its_former_level_or_is_cleared_and_one_set_since_is_left() -> None:
    first, second = trait(0.1), trait(0.2)
    assert undoing(log((first,), (second,)), 2, SETTINGS) == [Undone(no=2), first]
    assert undoing(log((first,)), 1, SETTINGS) == [Undone(no=1), TraitCleared(dimension="openness")]
    with pytest.raises(InputError, match="later changes built on it"):
        undoing(log((first,), (second,)), 1, SETTINGS)


def test_a_fact_said_again_since_is_left_alone() -> None:
    again = FactStrengthened(fact_id=FactId("tea"), sources=(SOURCE,))
    done = log((fact("tea"), fact("figs")), (again,))
    assert undoing(done, 1, SETTINGS) == [
        Undone(no=1),
        FactRetired(fact_id=FactId("figs"), superseded_by=None, valid_to=NOW),
    ]


def test_a_fact_superseded_since_is_left_alone() -> None:
    superseded = FactRetired(fact_id=FactId("tea"), superseded_by=FactId("figs"), valid_to=NOW)
    with pytest.raises(InputError, match="later changes built on it"):
        undoing(log((fact("tea"),), (fact("figs"), superseded)), 1, SETTINGS)


def test_a_fact_that_the_cap_moved_out_since_is_retired_all_the_same() -> None:
    done = log((fact("tea"),), (FactArchived(fact_id=FactId("tea")),))
    assert undoing(done, 1, SETTINGS)[1] == FactRetired(fact_id=FactId("tea"), superseded_by=None, valid_to=NOW)


def test_what_was_before_memory_was_begun_anew_cannot_be_undone() -> None:
    done = log((fact("tea"),), (BegunAnew(),), (fact("figs"),))
    for no in (1, 2):
        with pytest.raises(InputError, match="began memory anew"):
            undoing(done, no, SETTINGS)
    assert undoing(done, 3, SETTINGS)


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
