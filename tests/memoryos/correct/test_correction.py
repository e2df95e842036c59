"""What callers say of facts: corrected, pinned, retired. What was said before does not teach otherwise."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bench_of import ALICE, Bench
from embermem import Fact, Memory, OwnerMemory
from embermem.core import messages
from embermem.core.changes import Cause, FactAdded, FactRetired
from embermem.core.errors import InputError, NotFound
from embermem.core.types import About, FactId, FactProposal, Persona, PersonaChange, Source, UtteranceId
from embermem.core.user_overrides import Rulings
from embermem.memoryos.ingest.long_term import Knowledge
from scripted import NOW, SMALL, Clock, Opener, Place, ScriptedAnalyst
from soundness import assert_sound

OWNER = messages.owner("ann", "default")


def say(alice: OwnerMemory, *lines: str) -> None:
    """Each in a page of its own thread, understood at once."""
    for line in lines:
        alice.add(line, "I see.", thread=line)
    alice.settle()


def the(alice: OwnerMemory, value: str) -> Fact:
    """The fact held that has this value."""
    return next(fact for fact in (*alice.facts(), *alice.facts(archived=True)) if fact.value == value)


def held(alice: OwnerMemory) -> list[str]:
    return [fact.value for fact in alice.facts()]


def test_a_corrected_fact_takes_the_place_of_the_old_one_and_is_found_by_its_id_by_its_owner_alone(
    alice: OwnerMemory, memory: Memory
) -> None:
    say(alice, "I live in Lyon.")
    wrong = the(alice, "Lyon")
    right = alice.correct(wrong.id, "lives in Laon", value="Laon")
    assert (right.subject, right.attribute, right.value, right.text) == (
        "alice",
        "lives_in",
        "Laon",
        "alice lives in Laon",
    )
    assert right.sources == wrong.sources
    assert right.valid_from == wrong.valid_from
    assert held(alice) == ["Laon"]
    (past,) = alice.past_facts()
    assert (past.id, past.superseded_by, past.valid_to) == (wrong.id, right.id, wrong.valid_from)
    assert [line.value for line in alice.profile() if line.name == "home"] == ["Laon"]
    assert alice.changes()[-1].cause is Cause.CORRECTION

    alice = memory.of("alice", "2")
    say(alice, "I live in Lyon.")
    alice.correct(the(alice, "Lyon").id, "lives in Laon", value="Laon")
    alice.undo(alice.changes()[-1].no)
    assert held(alice) == ["Lyon"]
    assert [line.value for line in alice.profile() if line.name == "home"] == ["Lyon"]
    alice.undo(alice.changes()[-1].no)
    assert held(alice) == ["Laon"]

    alice = memory.of("alice", "3")
    say(alice, "I like figs. I like dates.")
    figs, dates = the(alice, "figs"), the(alice, "dates")
    one = alice.correct(figs.id, "likes dates", value="dates")
    assert held(alice) == ["dates"]
    assert set(one.sources) == {*figs.sources, *dates.sources}
    assert {fact.superseded_by for fact in alice.past_facts()} == {one.id}

    alice = memory.of("alice", "4")
    say(alice, "I live in Lyon. I like figs.")
    alice.correct(the(alice, "Lyon").id, "lives in Laon", value="Laon")
    alice.pin(the(alice, "figs").id)
    found = alice.understand_anew()
    assert sorted(held(alice)) == ["Laon", "figs"]
    assert the(alice, "figs").pinned
    assert [line.value for line in alice.profile()] == ["Laon"]
    assert (found.facts_gone, found.facts_new) == ((), ())


def test_what_was_said_before_a_correction_does_not_teach_the_old_value_again(opened: Opener, clock: Clock) -> None:
    late = opened(facts_when="promoted").of("alice")
    for n in range(6):
        late.add("I live in Lyon.", "I see.", thread=f"t{n}")
    late.settle()
    assert late.facts() == ()  # nothing is promoted yet
    alice = opened(tau=0.1, min_new=1).of("alice")
    alice.add("I live in Lyon.", "I see.", thread="last")
    embedded = opened(short_term_pages=20, tau=100.0).of("alice")
    embedded.settle()  # the last page alone is read for facts
    right = alice.correct(the(alice, "Lyon").id, "lives in Laon", value="Laon")
    clock.go(60)
    alice.settle()  # now the older pages are
    assert alice.stats().mid > 0
    assert [line.value for line in alice.profile()] == ["Laon"]
    assert all(segment.unanalysed == 0 for segment in alice.segments())
    assert [fact.id for fact in alice.facts()] == [right.id]


def test_what_is_said_after_a_correction_is_believed_and_what_was_said_before_brings_no_retired_fact_back(
    alice: OwnerMemory, clock: Clock, memory: Memory
) -> None:
    say(alice, "I live in Lyon.")
    alice.correct(the(alice, "Lyon").id, "lives in Laon", value="Laon")
    clock.go(60)
    say(alice, "I moved to Nantes.")
    assert held(alice) == ["Nantes"]
    assert [line.value for line in alice.profile()] == ["Nantes"]

    alice = memory.of("alice", "2")
    say(alice, "I live in Lyon.")
    alice.add("I live in Lyon.", "I see.", thread="other")
    clock.go(3600)
    gone = alice.retire(the(alice, "Lyon").id)
    assert (gone.valid_to, gone.retired_at, gone.superseded_by) == (clock.now, clock.now, None)
    assert alice.profile() == ()
    alice.settle()
    assert (held(alice), alice.profile()) == ([], ())
    assert [fact.id for fact in alice.past_facts()] == [gone.id]
    say(alice, "I live in Lyon, again.")
    assert held(alice) == ["Lyon"]


def learn(knowledge: Knowledge, value: str, seq: int, *, retracts: bool = False, single: bool = True) -> list[str]:
    proposal = FactProposal(
        about=About.USER,
        subject="user",
        attribute="lives_in",
        value=value,
        text=f"lives in {value}",
        sources=(Source(seq=seq, utterance_id=UtteranceId(f"u{seq}")),),
        single=single,
        retracts=retracts,
    )
    from embermem.core.config import load

    decisions = knowledge.learn(
        PersonaChange(facts=(proposal,)), said={seq: NOW}, known=(), no=9, at=NOW, settings=load(None, **SMALL)
    )
    return [type(d).__name__ for d in decisions]


def laon(**more: object) -> Knowledge:
    fact = Fact(
        id=FactId("f1"),
        about=About.USER,
        subject="user",
        attribute="lives_in",
        value="Laon",
        text="lives in Laon",
        sources=(),
        valid_from=NOW,
        valid_to=None,
        recorded_at=NOW,
    )
    return Knowledge(OWNER, Persona(facts=(fact,)), Rulings(affirmed={FactId("f1"): 10}, **more))  # type: ignore[arg-type]


def test_affirmed_and_denied_values_outlast_what_is_older() -> None:
    assert learn(laon(), "Nantes", 10) == []
    assert learn(laon(), "Laon", 10, retracts=True) == []
    assert learn(laon(), "Nantes", 11) == ["FactAdded", "FactRetired"]
    assert learn(laon(), "Laon", 11, retracts=True) == ["FactRetired"]
    assert learn(laon(), "Laon", 10) == ["FactStrengthened"]

    denied = {("user", "user", "lives_in", "nantes"): 10}
    assert learn(laon(denied=denied), "Nantes.", 10, single=False) == []
    assert learn(laon(denied=denied), "Nantes.", 11, single=False) == ["FactAdded"]

    denied = {("user", "user", "lives_in", "old hills of nantes"): 10}
    assert learn(laon(denied=denied), "the old hills of Nantes", 10, single=False) == []
    assert learn(laon(denied=denied), "the hills of Nantes", 10, single=False) == ["FactAdded"]


def test_what_cannot_be_corrected_is_refused(alice: OwnerMemory) -> None:
    say(alice, "I live in Lyon.")
    fact = the(alice, "Lyon")
    with pytest.raises(InputError, match="already has this text"):
        alice.correct(fact.id, fact.text, value=fact.value)
    for empty in ("", "  "):
        with pytest.raises(InputError):
            alice.correct(fact.id, empty)
    with pytest.raises(NotFound):
        alice.correct("f0", "x")
    alice.retire(fact.id)
    calls: tuple[Callable[[], Fact], ...] = (
        lambda: alice.correct(fact.id, "x"),
        lambda: alice.retire(fact.id),
        lambda: alice.pin(fact.id),
    )
    for refused in calls:
        with pytest.raises(InputError, match="no longer current"):
            refused()


def test_a_pinned_fact_is_not_archived_by_the_cap_and_one_in_the_archive_holds_again(alice: OwnerMemory) -> None:
    say(alice, "I like figs.")
    assert alice.pin(the(alice, "figs").id).pinned
    changes = len(alice.changes())
    alice.pin(the(alice, "figs").id)
    assert len(alice.changes()) == changes  # nothing to change
    say(alice, "I like jazz. I like rain. I like maps. I like salt. I like tea. I like snow.")
    assert "figs" in held(alice)
    assert len(held(alice)) == 6
    (archived,) = alice.facts(archived=True)
    assert alice.pin(archived.id).current
    assert len(held(alice)) == 7
    assert not alice.pin(archived.id, False).pinned
    assert len(held(alice)) == 6  # one above the cap has gone
    alice.undo(alice.changes()[-1].no)
    assert alice.fact(archived.id).pinned
    assert len(held(alice)) == 7


def test_the_history_of_an_item_is_its_owner_s_and_holds_only_the_decisions_that_name_it(
    alice: OwnerMemory, memory: Memory
) -> None:
    say(alice, "I live in Lyon. I like figs.")
    wrong = the(alice, "Lyon")
    right = alice.correct(wrong.id, "lives in Laon", value="Laon")
    told = alice.history(wrong.id)
    assert [change.cause for change in told] == [Cause.ANNOTATION, Cause.CORRECTION]
    assert [type(d).__name__ for change in told for d in change.decisions] == ["FactAdded", "FactRetired", "FactDenied"]
    assert [type(d) for d in alice.history(right.id)[0].decisions][:2] == [FactAdded, FactRetired]
    for n in range(4):
        alice.add(f"The heron came again, {n}.", "Yes.")
    alice.settle()
    page = alice.pages("mid")[0]
    assert page.chain_id is not None
    for item in (page.id, page.segment_id, page.chain_id):
        assert alice.history(str(item))
    fresh = alice.add("Nothing was read of this yet.")
    assert alice.history(fresh) == ()
    with pytest.raises(NotFound):
        alice.history("nothing")

    alice, bob = memory.of("alice", "2"), memory.of("bob", "2")
    say(alice, "I live in Lyon.")
    (fact,) = alice.facts()
    assert alice.fact(fact.id) == fact
    said = alice.pages()[0].utterances[0]
    assert alice.utterance(said.id) == said
    for missing in (lambda: bob.fact(fact.id), lambda: bob.utterance(said.id), lambda: bob.history(fact.id)):
        with pytest.raises(NotFound):
            missing()


def test_corrections_are_replayed_identically_and_seen_by_another_memory(opened: Opener, place: Place) -> None:
    alice, other = opened().of("alice"), opened().of("alice")
    say(alice, "I live in Lyon.")
    assert [fact.value for fact in other.recall("Where do I live?").facts] == ["Lyon"]
    alice.correct(the(alice, "Lyon").id, "lives in Laon", value="Laon")
    assert [fact.value for fact in other.recall("Where do I live?").facts] == ["Laon"]

    memory = opened("2.db")
    alice = memory.of("alice")
    say(alice, "I live in Lyon. I like figs. I like jazz.")
    alice.correct(the(alice, "Lyon").id, "lives in Laon", value="Laon")
    alice.pin(the(alice, "figs").id)
    alice.retire(the(alice, "jazz").id)
    (found,) = memory.rebuild()
    assert found.same
    assert_sound(place("2.db"))


def test_a_model_that_was_asked_before_a_correction_does_not_overturn_it(place: Place, clock: Clock) -> None:
    corrected: list[str] = []

    def meanwhile() -> None:
        if corrected:
            return
        with Memory(place(), clock=clock, **SMALL) as memory:
            alice = memory.of("alice")
            corrected.append(alice.correct(the(alice, "Lyon").id, "lives in Laon", value="Laon").id)

    bench = Bench(place(), clock, ScriptedAnalyst(during=meanwhile), None)
    bench.add("I live in Lyon.", *(f"The heron came, {n}." for n in range(5)))
    bench.system.settle(ALICE)
    assert corrected
    with Memory(place(), clock=clock, **SMALL) as memory:
        assert [fact.id for fact in memory.of("alice").facts()] == corrected


def test_a_corrected_fact_has_the_dates_given_else_those_of_its_words_else_the_old_ones(
    alice: OwnerMemory, memory: Memory
) -> None:
    say(alice, "I moved to Lyon in May 2025.")
    home = the(alice, "Lyon")
    assert str(home.valid_from)[:10] == "2025-05-01"
    home = alice.correct(home.id, "lives in Laon (since May 2025)", value="Laon")
    assert str(home.valid_from)[:10] == "2025-05-01"
    home = alice.correct(home.id, "has lived in Laon since June 2024", value="Laon")
    assert str(home.valid_from)[:10] == "2024-06-01"
    home = alice.correct(home.id, "lives in Laon", value="Laon")  # said no longer: since it was told
    assert home.valid_from == alice.pages()[0].said_at
    home = alice.correct(home.id, home.text, value="Laon", valid_from="2023-01-02")
    assert str(home.valid_from)[:10] == "2023-01-02"
    for wrong in ({"valid_from": "soon"}, {"valid_to": "2999-01-01"}, {"valid_to": "2001-01-01"}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            alice.correct(home.id, home.text, value="Laon", **wrong)
    was = alice.correct(home.id, home.text, value="Laon", valid_to="2024-02-03")
    assert [str(one)[:10] for one in (was.valid_from, was.valid_to)] == ["2023-01-02", "2024-02-03"]
    assert held(alice) == []
    alice.understand_anew()
    assert held(alice) == []

    alice = memory.of("alice", "2")
    say(alice, "I'm planning to run a marathon next month.")
    (plan,) = alice.facts()
    assert plan.expires_at is not None
    other = alice.correct(plan.id, "plans to run a half marathon next month")
    assert (other.expires_at, other.valid_from) == (plan.expires_at, plan.valid_from)
    other = alice.correct(other.id, "plans to run a half marathon on 3 May 2099")
    assert str(other.expires_at)[:10] == "2099-05-04"
