"""What the server writes, the client reads as the record that it was."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from drawn import counts, levels, records, texts, times
from embermem.client.exchange import read
from embermem.core.changes import Cause, Change, Decision
from embermem.core.errors import ServerError
from embermem.core.types import (
    About,
    Fact,
    FactId,
    Hit,
    Owner,
    OwnerId,
    Page,
    PageId,
    Persona,
    ProfileField,
    Role,
    Segment,
    SegmentId,
    Source,
    ThreadId,
    Tier,
    Trait,
    Utterance,
    UtteranceId,
)
from embermem.wire import answers, memories
from embermem.wire.mapping import from_record, to_record
from proofs import bounded

ALICE = Owner(id=OwnerId("o1"), user="alice", agent="tutor")

places = st.none() | counts
sources = st.builds(Source, seq=counts, utterance_id=texts.map(UtteranceId), start=places, end=places)
many_sources = st.lists(sources, max_size=3).map(tuple)


@st.composite
def pages(draw: st.DrawFn) -> Page:
    """Pages as a store gives them."""
    page_id, thread = PageId(draw(texts)), ThreadId(draw(texts))
    said = [
        Utterance(
            id=UtteranceId(draw(texts)),
            seq=draw(counts),
            page_id=page_id,
            thread=thread,
            role=draw(st.sampled_from(Role)),
            speaker=draw(texts),
            text=draw(texts),
            said_at=draw(times),
            recorded_at=draw(times),
        )
        for _ in range(draw(st.integers(1, 3)))
    ]
    return Page(
        id=page_id,
        no=draw(counts),
        thread=thread,
        utterances=tuple(said),
        tier=draw(st.none() | st.sampled_from(Tier)),
        segment_id=draw(st.none() | texts.map(SegmentId)),
        keywords=tuple(draw(st.lists(texts, max_size=3))),
        error=draw(st.none() | texts),
    )


facts = st.builds(
    Fact,
    id=texts.map(FactId),
    about=st.sampled_from(About),
    subject=texts,
    attribute=texts,
    value=texts,
    text=texts,
    sources=many_sources,
    valid_from=st.none() | times,
    valid_to=st.none() | times,
    recorded_at=times,
    retired_at=st.none() | times,
    superseded_by=st.none() | texts.map(FactId),
    archived=st.booleans(),
    pinned=st.booleans(),
    change_no=counts,
)
traits = st.builds(
    Trait,
    dimension=texts,
    category=texts,
    level=levels,
    confidence=levels,
    pole=texts,
    sources=many_sources,
    recorded_at=times,
    change_no=counts,
)


def sent(record: Any) -> Any:
    """The record as the client reads what the server writes of it: FastAPI writes by pydantic, the client reads by
    msgspec."""
    kind = type(record)
    return read(TypeAdapter(kind).dump_json(record), kind)


@given(page=pages())
def test_a_page_and_its_utterances(page: Page) -> None:
    assert memories.page_of(sent(memories.page_item(ALICE, page))) == page


@given(page=pages(), score=st.floats(0, 9), tier=st.sampled_from(Tier))
def test_a_hit(page: Page, score: float, tier: Tier) -> None:
    hit = Hit(utterance=page.utterances[0], score=score, rank=1, tier=tier, segment_id=page.segment_id)
    found = sent(memories.Found(results=(memories.hit_item(ALICE, hit),)))
    assert memories.hits_of(found.results) == (hit,)


@given(fact=facts)
def test_a_fact(fact: Fact) -> None:
    assert from_record(Fact, sent(memories.fact_item(ALICE, fact))) == fact


@given(trait=traits)
def test_a_trait(trait: Trait) -> None:
    (told,) = sent(answers.Traits(results=(to_record(memories.TraitItem, trait),))).results
    assert from_record(Trait, told) == trait


lines = st.builds(
    ProfileField,
    whose=st.just(About.AGENT),
    name=texts,
    value=texts,
    sources=many_sources,
    recorded_at=times,
    change_no=counts,
    set_by=texts,
)


@given(line=lines)
def test_a_line_of_a_profile(line: ProfileField) -> None:
    told = sent(memories.profile(Persona(agent_profile=(line,))))
    assert memories.lines_of(told, About.AGENT) == (line,)


@given(words=st.lists(texts, max_size=3), at=times, visits=counts, heat=st.floats(0, 1e9), rests_on=many_sources)
def test_a_segment(words: list[str], at: Any, visits: int, heat: float, rests_on: tuple[Source, ...]) -> None:
    segment = Segment(
        id=SegmentId("s1-00"),
        summary=" ".join(words),
        keywords=tuple(words),
        page_ids=tuple(PageId(word) for word in words),
        visits=visits,
        unanalysed=visits,
        last_access=at,
        archived=False,
        change_no=7,
        recorded_at=at + timedelta(microseconds=visits % 2),
        said_from=at,
        said_to=at,
        sources=rests_on,
    )
    told = sent(to_record(memories.SegmentItem, segment, heat=heat))
    assert (from_record(Segment, told), told.heat) == (segment, heat)


@pytest.mark.parametrize("kind", Decision.__args__, ids=lambda kind: kind.__name__)
def test_every_kind_of_decision_is_known(kind: type[Any]) -> None:
    @hypothesis.settings(max_examples=bounded(10, proofs=100))
    @given(decision=records(kind), cause=st.sampled_from(Cause), at=times)
    def holds(decision: Decision, cause: Cause, at: datetime) -> None:
        change = Change(no=3, cause=cause, analyst="extractive-v1", recorded_at=at, decisions=(decision,))
        assert memories.change_of(sent(to_record(memories.ChangeItem, change))) == change

    holds()


@given(body=st.binary(max_size=40))
def test_what_is_no_answer_is_an_error_of_ours(body: bytes) -> None:
    with pytest.raises(ServerError, match="cannot be read"):
        read(body, memories.PageItem)
