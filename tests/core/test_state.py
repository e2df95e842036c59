"""State: the fold of a log of changes, whole or in parts, and what it tells of a moment."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embermem.core import changes as c
from embermem.core.changes import Cause, Change, Decision, Item
from embermem.core.state import PersonaState, State
from embermem.core.types import About, ChainId, FactId, SegmentId, Source, UtteranceId
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


def test_a_text_that_grew_is_read_whole_at_every_moment() -> None:
    first = text(said("figs", 1), said("dates", 2), words={"figs": 2, "dates": 1})
    second = text(said("plums", 0), said("figs", 1), said("nuts", 4), words={"nuts": 3, "figs": 2, "plums": 1})
    third = replace(second, title="Fruit", shown=("figs",), said_to=AT + timedelta(days=1))
    condensed = text(said("all of it", 1), words={"figs": 2})
    words = text(words={"nuts": 3, "plums": 3, "figs": 2}).keywords
    reordered = replace(third, parts=(third.parts[1], third.parts[0], third.parts[2]), keywords=words)
    texts, before, log = [first, second, third, condensed, third, reordered, reordered], None, []
    for no, after in enumerate(texts, 1):
        told = c.growth(before, after)
        assert before is None or isinstance(told, c.SegmentWritten) or c.grown(before, told) == after
        log.append(change(no, told))
        before = after
    kinds = [type(one.decisions[0]) for one in log]
    assert kinds == [c.SegmentWritten, *[c.SegmentGrew] * 2, *[c.SegmentWritten] * 2, *[c.SegmentGrew] * 2]
    grew = log[1].decisions[0]
    assert isinstance(grew, c.SegmentGrew)
    assert ([one.text for one in grew.parts], grew.places, grew.left) == (["plums", "nuts"], (0, 2), (1,))
    assert ([one.word for one in grew.keywords], grew.dropped) == (["nuts", "plums"], ("dates",))
    assert log[6].decisions == (c.SegmentGrew(segment_id=first.segment_id),)
    state = State(log)
    assert state.at().get(Item.SEGMENT_TEXT, "s1") == reordered
    state.fold([change(8, log[0].decisions[0], grew), change(9, c.SegmentEnded(segment_id=first.segment_id))])
    every = [None, *texts, second, None]
    assert [state.at(no).get(Item.SEGMENT_TEXT, "s1") for no in (*range(10), *range(9, -1, -1))] == [
        *every,
        *every[::-1],
    ]
    assert list(state.at(8).all(Item.SEGMENT_TEXT)) == [second]
    for wrong in (replace(grew, left=(2,)), replace(grew, places=(0,)), replace(grew, dropped=("kiwis",))):
        with pytest.raises(ValueError, match="a growth of segment s1 is not of the text before it"):
            State([log[0], change(2, wrong)]).at().get(Item.SEGMENT_TEXT, "s1")
    with pytest.raises(ValueError, match="segment s1 has no text before it"):
        State([change(1, grew)])


def said(words: str, seq: int) -> c.SummaryPart:
    return c.SummaryPart(chain_id=ChainId("c1"), text=words, sources=(source(seq),))


def text(*parts: c.SummaryPart, words: dict[str, int]) -> c.SegmentWritten:
    keywords = tuple(c.KeywordCount(word=word, pages=pages) for word, pages in words.items())
    return c.SegmentWritten(segment_id=SegmentId("s1"), parts=parts, keywords=keywords, said_from=AT, said_to=AT)


RATIOS = st.sampled_from([0.1, 0.5])
NAMES = st.sampled_from([FIGS, DATES, FactId("f3-00")])
TRAITS = st.sampled_from(["openness", "warmth"])
DECISIONS = st.one_of(
    st.builds(lambda one, seq: c.FactStrengthened(fact_id=one, sources=(source(seq),)), NAMES, st.integers(1, 3)),
    st.builds(lambda one, by: c.FactRetired(fact_id=one, superseded_by=by, valid_to=None), NAMES, NAMES),
    st.builds(lambda one: c.FactArchived(fact_id=one), NAMES),
    st.builds(lambda one: c.FactRestored(fact_id=one), NAMES),
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
