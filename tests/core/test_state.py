"""State: the fold of a log of changes, whole or in parts, and what it tells of a moment."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embermem.core import changes as c
from embermem.core.changes import Cause, Change, Decision, Item
from embermem.core.state import PersonaState, State
from embermem.core.types import About, FactId, SegmentId, Source, UtteranceId
from persona_rows import everything

AT = datetime(2026, 5, 2, 10, tzinfo=UTC)
FIGS, DATES = FactId("f1-00"), FactId("f2-00")


def change(no: int, *decisions: Decision) -> Change:
    return Change(no=no, cause=Cause.PROMOTION, analyst="rules", recorded_at=AT, decisions=decisions)


def added(fact_id: FactId, value: str, seq: int) -> c.FactAdded:
    return c.FactAdded(
        fact_id=fact_id,
        about=About.USER,
        subject="user",
        attribute="likes",
        value=value,
        text=f"likes {value}",
        sources=(source(seq),),
        valid_from=None,
    )


def source(seq: int) -> Source:
    return Source(seq=seq, utterance_id=UtteranceId(f"u{seq}"))


def current(state: State, no: int) -> dict[str, int]:
    return {fact.added.value: len(fact.rests_on(no)) for fact, held in state.at(no).persona.facts() if held.is_current}


def test_the_newest_and_a_past_moment_are_read_alike() -> None:
    trait = c.TraitSet(dimension="openness", level=0.5, confidence=0.4, sources=(source(1),))
    log = [
        change(1, added(FIGS, "figs", 1), trait),
        change(2, c.FactStrengthened(fact_id=FIGS, sources=(source(2), source(1)))),
        # What ends a fact may stand before the one that takes its place.
        change(3, c.FactRetired(fact_id=FIGS, superseded_by=DATES, valid_to=AT), added(DATES, "dates", 3)),
        change(4, c.TraitCleared(dimension="openness")),
        change(5, c.FactRestored(fact_id=FIGS)),
        change(6, c.BegunAnew(), added(DATES, "dates", 3)),
    ]
    state = State(log[:5])
    assert [current(state, no) for no in range(6)] == [
        {},
        {"figs": 1},
        {"figs": 2},
        {"dates": 1},
        {"dates": 1},
        {"figs": 2, "dates": 1},
    ]
    assert [state.at(no).persona.get(Item.TRAIT, "openness") for no in (0, 1, 3, 4, 5)] == [
        None,
        trait,
        trait,
        None,
        None,
    ]
    assert [one.value for one in state.at(3).persona.all(Item.TRAIT)] == [trait]
    state.fold(log[5:])
    assert (state.no, current(state, 6)) == (6, {"dates": 1})
    with pytest.raises(ValueError, match="change 6 comes after 6"):
        state.fold(log[5:])


def test_a_segment_is_in_mid_term_memory_from_its_opening_to_its_eviction() -> None:
    written = c.SegmentWritten(segment_id=SegmentId("s1"), parts=(), keywords=(), said_from=AT, said_to=AT)
    state = State([change(2, written), change(4, c.Evicted(segment_id=SegmentId("s1")))])
    assert [state.at(no).in_mid_term(SegmentId("s1")) for no in range(1, 6)] == [False, True, True, False, False]
    assert not state.at().in_mid_term(SegmentId("s2"))


RATIOS = st.sampled_from([0.1, 0.5])
NAMES = st.sampled_from([FIGS, DATES, FactId("f3-00")])
TRAITS = st.sampled_from(["openness", "warmth"])
DECISIONS = st.one_of(
    st.builds(lambda one, seq: c.FactStrengthened(fact_id=one, sources=(source(seq),)), NAMES, st.integers(1, 3)),
    st.builds(lambda one, by: c.FactRetired(fact_id=one, superseded_by=by, valid_to=None), NAMES, NAMES),
    st.builds(lambda one: c.FactArchived(fact_id=one), NAMES),
    st.builds(lambda one: c.FactRestored(fact_id=one), NAMES),
    st.builds(lambda one, other: c.FactsConflict(fact_id=one, other_id=other, reason="both"), NAMES, NAMES),
    st.builds(lambda one, other: c.ConflictSettled(fact_id=one, other_id=other), NAMES, NAMES),
    st.builds(lambda one, level: c.TraitSet(dimension=one, level=level, confidence=0.5, sources=()), TRAITS, RATIOS),
    st.builds(lambda one: c.TraitCleared(dimension=one), TRAITS),
    st.builds(c.BegunAnew),
    st.builds(c.FactBarred, mark=st.just("m"), upto_seq=st.just(1)),
)


@given(st.lists(st.lists(DECISIONS, max_size=4), min_size=1, max_size=8), st.data())
def test_a_redacted_state_is_the_fold_of_the_redacted_log(said: list[list[Decision]], data: st.DataObject) -> None:
    places = {one: data.draw(st.integers(0, len(said) - 1)) for one in (FIGS, DATES)}
    log = [
        change(no, *some, *(added(one, one, no) for one, place in places.items() if place == no - 1))
        for no, some in enumerate(said, 1)
    ]
    kept = [
        change(one.no, *(d for d in one.decisions if isinstance(d, c.BegunAnew) or data.draw(st.booleans())))
        for one in log
    ]
    state = PersonaState(log)
    before = everything(state)
    redacted = state.redacted(zip(log, kept, strict=True))
    assert everything(redacted) == everything(PersonaState(kept))
    assert everything(state) == before, "the state before is as it was"
    place = data.draw(st.integers(0, len(log)))
    first = PersonaState(log[:place])
    told = everything(first)
    assert everything(first.extended(log[place:])) == before
    assert everything(first) == told, "and so is one that was extended"
