"""A new fact ends an old one only if both speak of the same; two values of one attribute may be in conflict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_of import ALICE, Bench
from embermem import Memory, OwnerMemory
from embermem.core import messages
from embermem.core.attributes import BUILT_IN
from embermem.core.changes import (
    Cause,
    ConflictSettled,
    Decision,
    FactAdded,
    FactRetired,
    FactStrengthened,
)
from embermem.core.config import load
from embermem.core.errors import InputError, NotFound
from embermem.core.types import About, Fact, FactId, FactProposal, Persona, PersonaChange, Source, UtteranceId
from embermem.core.user_overrides import Rulings
from embermem.memoryos.conflicts import in_conflict
from embermem.memoryos.ingest.long_term import Knowledge
from embermem.protocols import ProfileRequest
from scripted import NOW, SMALL, Clock, Opener, Place, ScriptedAnalyst
from soundness import assert_sound

OWNER = messages.owner("ann", "default")

MAY = datetime(2020, 5, 3, tzinfo=UTC)
DAY = {"valid_from": "2020-05-03"}
LYON = {"text": "lives in Lyon", "attribute": "lives_in", "value": "Lyon", **DAY}
NANTES = {"text": "lives in Nantes", "attribute": "lives_in", "value": "Nantes", **DAY}


def proposal(value: str, seq: int, attribute: str = "lives_in", **more: object) -> FactProposal:
    made = FactProposal(
        about=About.USER,
        subject="user",
        attribute=attribute,
        value=value,
        text=f"{attribute} {value}",
        sources=(Source(seq=seq, utterance_id=UtteranceId(f"u{seq}")),),
        single=attribute == "lives_in",
    )
    return replace(made, **more)  # type: ignore[arg-type]


class Learner:
    """Knowledge that learns a page at a time. Utterance n was said n days after NOW, unless told otherwise."""

    def __init__(self, said: Mapping[int, datetime] | None = None, rulings: Rulings | None = None) -> None:
        self.said = {seq: NOW + timedelta(days=seq) for seq in range(1, 60)} | dict(said or {})
        self.knowledge = Knowledge(OWNER, Persona(), rulings, self.said.get)
        self.no = 0

    def learn(self, *facts: FactProposal) -> list[Decision]:
        self.no += 1
        seqs = {source.seq for fact in facts for source in fact.sources}
        return self.knowledge.learn(
            PersonaChange(facts=facts),
            said={seq: self.said[seq] for seq in seqs},
            known=(),
            no=self.no,
            at=NOW,
            settings=load(None, **SMALL),
        )

    def held(self) -> list[str]:
        return [fact.value for fact in self.knowledge.current()]

    def conflicts(self) -> list[tuple[str, str]]:
        found = in_conflict(self.knowledge.current(), BUILT_IN, frozenset, self.knowledge.people)
        return [(one.id, other.id) for one, other in found]


# ------------------------------------------------------------------------------------- what an analyst says it ends


def test_a_fact_said_to_end_one_of_another_matter_leaves_it() -> None:
    for more in ({"attribute": "works_at"}, {"subject": "sister Ana"}):
        learner = Learner()
        learner.learn(proposal("Lyon", 1))
        decisions = learner.learn(proposal("Nantes", 2, **more, replaces=FactId("f1-000")))
        assert [type(d) for d in decisions] == [FactAdded]
        assert learner.held() == ["Lyon", "Nantes"]
        assert learner.conflicts() == []

    learner = Learner()
    learner.learn(proposal("Lyon", 1))
    told = proposal("Nantes", 2, "works_at", replaces=FactId("f1-000"))
    learner.learn(told)
    assert learner.learn(told) == []
    again = learner.learn(proposal("Nantes", 3, "works_at", replaces=FactId("f1-000")))
    assert [type(d) for d in again] == [FactStrengthened]

    learner = Learner()
    learner.learn(proposal("Lyon", 1))
    assert learner.learn(proposal("Lyon", 2, "works_at", replaces=FactId("f1-000"), retracts=True)) == []
    assert learner.held() == ["Lyon"]


def test_who_says_that_he_dislikes_a_thing_takes_back_that_he_likes_it() -> None:
    learner = Learner()
    learner.learn(proposal("coffee", 1, "likes"), proposal("tea", 1, "likes"))
    soured = proposal("the coffee", 2, "dislikes", replaces=FactId("f1-000"))
    added, retired = learner.learn(soured)
    assert isinstance(added, FactAdded)
    assert isinstance(retired, FactRetired)
    assert (retired.fact_id, retired.superseded_by, retired.valid_to) == ("f1-000", None, learner.said[2])
    (other,) = learner.learn(proposal("milk", 3, "dislikes", replaces=FactId("f1-001")))
    assert isinstance(other, FactAdded)  # of another thing: neither ends


# ------------------------------------------------------------------------------------------ told of the same day


def test_two_values_told_at_once_of_the_same_day_are_in_conflict_and_a_later_word_ends_both() -> None:
    learner = Learner(said={1: NOW, 2: NOW})
    learner.learn(proposal("Lyon", 1, valid_from=MAY))
    learner.learn(proposal("Nantes", 2, valid_from=MAY + timedelta(hours=5)))
    assert learner.conflicts() == [("f1-000", "f2-000")]
    assert learner.held() == ["Lyon", "Nantes"]

    learner = Learner(said={1: NOW, 2: NOW})
    learner.learn(proposal("Nantes", 2, valid_from=MAY), proposal("Lyon", 1, valid_from=MAY))
    assert len(learner.conflicts()) == 1

    for said, day in (({1: NOW, 2: NOW + timedelta(minutes=1)}, MAY), ({1: NOW, 2: NOW}, MAY + timedelta(days=1))):
        learner = Learner(said=said)
        learner.learn(proposal("Lyon", 1, valid_from=MAY))
        learner.learn(proposal("Nantes", 2, valid_from=day))
        assert learner.held() == ["Nantes"]

    learner = Learner()
    learner.learn(proposal("Lyon", 1, valid_from=MAY), proposal("Nantes", 1, valid_from=MAY))
    assert learner.held() == ["Nantes"]

    learner = Learner(said={1: NOW, 2: NOW})
    learner.learn(proposal("Lyon", 1, valid_from=MAY), proposal("Nantes", 2, valid_from=MAY))
    learner.learn(proposal("Oslo", 3))
    assert learner.held() == ["Oslo"]


# --------------------------------------------------------------------------------------------------- as properties

ATTRIBUTES = ("lives_in", "works_at", "likes")
told = st.builds(
    proposal,
    st.sampled_from(("tea", "green tea", "the tea", "Lyon", "Nantes", "2 dogs", "dogs", "not tea")),
    st.integers(1, 12),
    st.sampled_from(ATTRIBUTES),
    subject=st.sampled_from(("user", "User", "sister Ana")),
    valid_from=st.sampled_from((None, MAY, NOW)),
    retracts=st.booleans(),
    replaces=st.none() | st.builds(lambda no, n: FactId(f"f{no}-{n:03}"), st.integers(1, 6), st.integers(0, 2)),
)
pages = st.lists(st.lists(told, max_size=3), max_size=7)


@given(pages)
def test_whatever_is_proposed_no_fact_ends_another_of_another_subject_or_attribute(
    lives: list[list[FactProposal]],
) -> None:
    learner = Learner()
    added: dict[str, FactAdded] = {}
    held: set[str] = set()
    for facts in lives:
        for d in learner.learn(*facts):
            match d:
                case FactAdded():
                    added[d.fact_id] = d
                    held.add(d.fact_id)
                case FactRetired():
                    held.remove(d.fact_id)
                    if d.superseded_by is not None:
                        one, other = added[d.fact_id], added[d.superseded_by]
                        assert (one.subject.lower(), one.attribute) == (other.subject.lower(), other.attribute)
                case FactStrengthened():
                    assert d.fact_id in held
                case _:
                    held.discard(getattr(d, "fact_id", ""))
        assert {fact.id for fact in learner.knowledge.current()} == held


@given(pages)
def test_a_value_said_again_adds_a_source_and_no_fact(lives: list[list[FactProposal]]) -> None:
    learner = Learner()
    for facts in lives:
        for one in facts:
            before = {fact.id: fact for fact in learner.knowledge.current()}
            decisions = learner.learn(one)
            after = {fact.id: fact for fact in learner.knowledge.current()}
            if decisions and isinstance(decisions[0], FactStrengthened):
                assert not any(isinstance(d, FactAdded) for d in decisions)
                assert after.keys() <= before.keys()
                if decisions[0].fact_id in after:
                    known, now = before[decisions[0].fact_id], after[decisions[0].fact_id]
                    assert len(now.sources) == len(known.sources) + 1
                    assert (now.value, now.text) == (known.value, known.text)


# ------------------------------------------------------------------------------------------ through the public face


class Mistaken(ScriptedAnalyst):
    """Says at every promotion that the user's work ends where the user lives."""

    def profile(self, request: ProfileRequest) -> PersonaChange:
        home = next((fact.id for fact in request.nearest if fact.attribute == "lives_in"), None)
        said = request.pages[0].page.utterances[0]
        source = Source(seq=said.seq, utterance_id=said.id)
        work = proposal("Nantes", said.seq, "works_at", sources=(source,), replaces=home)
        return PersonaChange(facts=(work,) if home is not None else ())


def test_a_model_that_confuses_work_and_home_ends_neither(place: Place, clock: Clock) -> None:
    bench = Bench(place(), clock, Mistaken(), None, tau=0.1, min_new=1)
    with Memory(place(), clock=clock, **SMALL) as memory:
        memory.of("alice").learn([LYON])
        bench.add(*(f"The heron came, {n}." for n in range(6)))
        bench.system.settle(ALICE)
        alice = memory.of("alice")
        assert {fact.value for fact in alice.facts()} == {"Lyon", "Nantes"}
        assert alice.conflicts() == ()
        (found,) = memory.rebuild()
        assert found.same
    assert_sound(place())


def learnt(alice: OwnerMemory) -> tuple[Fact, Fact]:
    """Two facts in conflict."""
    one, other = alice.learn([LYON, NANTES])
    assert len(alice.conflicts()) == 1
    return one, other


def test_a_conflict_that_was_settled_is_one_no_more_and_undoing_that_opens_it_again(alice: OwnerMemory) -> None:
    one, other = learnt(alice)
    alice.settle_conflict(one.id, other.id)
    assert alice.conflicts() == ()
    assert [fact.conflicts for fact in alice.facts()] == [(), ()]
    change = alice.changes()[-1]
    assert (change.cause, change.decisions) == (
        Cause.CORRECTION,
        (ConflictSettled(fact_id=one.id, other_id=other.id),),
    )
    undone = alice.undo(change.no)
    assert len(alice.conflicts()) == 1
    alice.undo(undone)
    assert alice.conflicts() == ()
    alice.update(one.id, metadata={"from": "a form"})
    one = next(fact for fact in alice.facts() if fact.value == "Lyon")
    assert alice.conflicts() == ()
    with pytest.raises(InputError, match="not in conflict"):
        alice.settle_conflict(one.id, other.id)
    with pytest.raises(NotFound):
        alice.settle_conflict(one.id, "f9-000")


def test_a_conflict_ends_when_one_side_is_retired_corrected_or_superseded(opened: Opener, clock: Clock) -> None:
    ends: dict[str, Callable[[OwnerMemory, Fact], object]] = {
        "retired": lambda alice, one: alice.retire(one.id),
        "corrected": lambda alice, one: alice.correct(one.id, "lives in Laon", value="Laon"),
        "superseded": lambda alice, one: alice.learn([{"text": "Oslo", "attribute": "lives_in"}]),
    }
    memory = opened()
    for user, end in ends.items():
        alice = memory.of(user)
        one, _ = learnt(alice)
        clock.go(60)
        end(alice, one)
        assert alice.conflicts() == ()
        assert all(fact.conflicts == () for fact in alice.facts())
        alice.undo(alice.changes()[-1].no)
        assert len(alice.conflicts()) == 1  # both are held again


def test_a_conflict_of_a_moment_is_one_that_was_open_then_and_of_its_owner(
    alice: OwnerMemory, clock: Clock, memory: Memory
) -> None:
    clock.go(60)
    one, other = learnt(alice)
    clock.go(60)
    alice.settle_conflict(one.id, other.id)
    clock.go(60)
    alice.retire(one.id)
    at = [len(alice.conflicts(as_of=NOW + timedelta(seconds=s))) for s in (30, 90, 150, 210)]
    assert at == [0, 1, 0, 0]
    then = NOW + timedelta(seconds=90)
    assert alice.conflicts(as_of=then)[0].older.conflicts == (other.id,)
    recalled = (alice.recall("Where do I live?", as_of=at).persona.facts for at in (then, None))
    assert [[fact.conflicts for fact in facts] for facts in recalled] == [[(other.id,), (one.id,)], [()]]

    alice = memory.of("alice", "2")
    learnt(memory.of("alice"))
    assert memory.of("bob").conflicts() == ()
