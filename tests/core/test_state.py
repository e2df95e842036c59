"""State: the fold of a log of changes, whole or in parts, and what it tells of a moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embermem.core import changes as c
from embermem.core.changes import Cause, Change, Decision, Item
from embermem.core.state import PersonaState, TopicRows, TopicState, analysed, visits
from embermem.core.types import About, ChainId, FactId, ItemId, PageId, SegmentId, Source, ThreadId, UtteranceId
from state_rows import all_topics, everything

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


def current(state: PersonaState, no: int) -> dict[str, int]:
    return {fact.added.value: len(fact.rests_on(no)) for fact, held in state.at(no).facts() if held.is_current}


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
    state = PersonaState(log[:5])
    assert [current(state, no) for no in range(6)] == [
        {},
        {"figs": 1},
        {"figs": 2},
        {"dates": 1},
        {"dates": 1},
        {"figs": 2, "dates": 1},
    ]
    assert [state.at(no).get(Item.TRAIT, "openness") for no in (0, 1, 3, 4, 5)] == [
        None,
        trait,
        trait,
        None,
        None,
    ]
    assert [one.value for one in state.at(3).all(Item.TRAIT)] == [trait]
    state.fold(log[5:])
    assert (state.no, current(state, 6)) == (6, {"dates": 1})
    with pytest.raises(ValueError, match="change 6 comes after 6"):
        state.fold(log[5:])


def test_topics_say_where_pages_were_and_which_changes_wrote_texts() -> None:
    page, one, other, chain = PageId("p1"), SegmentId("s1"), SegmentId("s2"), ChainId("c1")
    written = c.SegmentWritten(segment_id=one, parts=(), keywords=(), said_from=AT, said_to=AT)
    log = [
        change(2, noted(page, chain), written, c.Placed(page_id=page, segment_id=one, f_score=None)),
        change(4, c.SegmentGrew(segment_id=one), visited({one: 2, other: 1}, 4)),
        change(5, c.Placed(page_id=page, segment_id=other, f_score=0.7), c.SegmentEnded(segment_id=one, into=other)),
        change(7, c.Evicted(segment_id=other), visited({other: 1, FIGS: 3}, 2)),
    ]
    topics = TopicState().extended(log)
    assert [topics.at(no).places().get(page) for no in (1, 2, 4, 5, 9)] == [None, one, one, other, other]
    assert [topics.at(no).texts().get(one) for no in (1, 2, 3, 4, 5)] == [None, 2, 2, 4, None]
    assert [topics.at(no).left(one) for no in (4, 5)] == [None, 5]
    assert [topics.at(no).left(other) for no in (6, 7)] == [None, 7]
    assert topics.at().all_left() == {one: 5, other: 7}
    assert (topics.at().notes()[page], topics.places_of(page)) == ((chain, 2), [(one, 2), (other, 5)])
    assert list(topics.texts_of()) == [(2, one, 4), (4, one, 5)]
    assert [topics.made_by(one, before) for before in (2, 4, 5, 9)] == [([], None), ([2], 4), ([2, 4], 5), ([2, 4], 5)]
    again = topics.extended([change(8, c.SegmentGrew(segment_id=one)), change(9, written)])
    assert [again.made_by(one, before)[0] for before in (9, 10)] == [[2, 4, 8], [9]]
    with pytest.raises(ValueError, match="2147483648 is no number of a change"):
        topics.extended([change(2**31, written)])
    assert [*topics.opened().items()] == [(one, 2), (other, 5)]
    last = AT + timedelta(hours=4)
    assert [visits(topics.at(no)).get(one) for no in (3, 4, 5)] == [None, (2, last), None]
    assert [visits(topics.at(no)).get(other) for no in (3, 4, 5, 7)] == [None, (1, last), (3, last), (4, last)]
    waiting = [(one, 1, 0), (FIGS, 1, 0)]
    assert visits(topics.at(), waiting) == {other: (5, last), FIGS: (4, AT + timedelta(hours=2))}
    assert ([topics.visited_by([item]) for item in (one, FIGS)], analysed(topics.at())) == ([{4}, {7}], {})
    with pytest.raises(ValueError, match="change 7 comes after 7"):
        topics.extended(log[3:])
    anew = topics.extended([change(8, c.BegunAnew(), noted(page, chain))])
    assert (anew.begun, anew.at().places(), anew.at().notes()[page]) == (8, {}, (chain, 8))
    for wrong in ({"places": [1, 5, 0]}, {"places": [1, 0, 1]}, {"places": [1]}, {"else": [1, 0, 0]}):
        with pytest.raises(ValueError, match=r"damaged|reshape"):
            TopicState.of_rows([TopicRows(names=["p1"], spans=wrong)], 1)


def visited(items: Mapping[Any, int], hours: int = 0) -> c.Visited:
    at = AT + timedelta(hours=hours)
    return c.Visited(items=tuple(c.VisitCount(item_id=ItemId(one), visits=n, at=at) for one, n in items.items()))


def noted(page: PageId, chain: ChainId) -> c.Noted:
    return c.Noted(page_id=page, upto_seq=1, chain_id=chain, continues=False, keywords=("figs",), analyst="rules")


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
    assert c.growth(first, second, 64) == second, "some are whole, so that no text is folded from all before it"
    texts_held = c.SegmentTexts()
    for one, whole in zip(log, texts, strict=True):
        texts_held.take(one.decisions[0])
        assert texts_held.get(first.segment_id) == whole
    for wrong in (replace(grew, left=(2,)), replace(grew, places=(0,)), replace(grew, dropped=("kiwis",))):
        held = c.SegmentTexts()
        held.set(first)
        with pytest.raises(ValueError, match="a growth of segment s1 is not of the text before it"):
            held.take(wrong)
    with pytest.raises(ValueError, match="segment s1 has no text before it"):
        c.SegmentTexts().take(grew)


def said(words: str, seq: int) -> c.SummaryPart:
    return c.SummaryPart(chain_id=ChainId("c1"), text=words, sources=(source(seq),))


def text(*parts: c.SummaryPart, words: dict[str, int]) -> c.SegmentWritten:
    keywords = tuple(c.KeywordCount(word=word, pages=pages) for word, pages in words.items())
    return c.SegmentWritten(segment_id=SegmentId("s1"), parts=parts, keywords=keywords, said_from=AT, said_to=AT)


RATIOS = st.sampled_from([0.1, 0.5])
NAMES = st.sampled_from([FIGS, DATES, FactId("f3-00")])
TRAITS = st.sampled_from(["openness", "warmth"])
PAGES = st.sampled_from([PageId("p1"), PageId("p2")])
CHAINS = st.sampled_from([ChainId("c1"), ChainId("c2")])
SEGMENTS = st.sampled_from([SegmentId("s1"), SegmentId("s2")])
DECISIONS = st.one_of(
    st.builds(lambda one, seq: c.FactStrengthened(fact_id=one, sources=(source(seq),)), NAMES, st.integers(1, 3)),
    st.builds(lambda one, by: c.FactRetired(fact_id=one, superseded_by=by, valid_to=None), NAMES, NAMES),
    st.builds(lambda one: c.FactArchived(fact_id=one), NAMES),
    st.builds(lambda one: c.FactRestored(fact_id=one), NAMES),
    st.builds(lambda one, other: c.ConflictSettled(fact_id=one, other_id=other), NAMES, NAMES),
    st.builds(lambda one, level: c.TraitSet(dimension=one, level=level, confidence=0.5, sources=()), TRAITS, RATIOS),
    st.builds(lambda one: c.TraitCleared(dimension=one), TRAITS),
    st.builds(c.BegunAnew),
    st.builds(noted, PAGES, CHAINS),
    st.builds(lambda one, into: c.Placed(page_id=one, segment_id=into, f_score=None), PAGES, SEGMENTS),
    st.builds(lambda one: c.ChainSummarised(chain_id=one, thread=ThreadId("t"), summary="figs", sources=()), CHAINS),
    st.builds(lambda one: replace(text(words={}), segment_id=one), SEGMENTS),
    st.builds(lambda one: c.SegmentGrew(segment_id=one), SEGMENTS),
    st.builds(lambda one, into: c.SegmentEnded(segment_id=one, into=into), SEGMENTS, SEGMENTS | st.none()),
    st.builds(lambda one: c.Evicted(segment_id=one), SEGMENTS),
    st.builds(lambda one, n: visited({one: n}), SEGMENTS | NAMES, st.integers(1, 3)),
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
    topics, whole = TopicState().extended(log), TopicState().extended(kept)
    assert all_topics(topics.redacted(zip(log, kept, strict=True))) == all_topics(whole)
    cut = TopicState().extended(log[:place]).extended(log[place:])
    assert all_topics(cut) == all_topics(topics)
    parts = [topics.rows(0, place), topics.rows(place)]
    assert all_topics(TopicState.of_rows(parts, topics.no)) == all_topics(topics)
