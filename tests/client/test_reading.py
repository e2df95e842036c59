"""What the server writes, the client reads as the record that it was."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from datetime import datetime
from typing import Any, get_type_hints

import hypothesis
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from drawn import records, texts, times
from embermem.client.exchange import read
from embermem.core.changes import Cause, Change, Decision
from embermem.core.errors import ServerError
from embermem.core.types import (
    About,
    Fact,
    Hit,
    Owner,
    OwnerId,
    Page,
    PageId,
    Persona,
    ProfileField,
    Segment,
    ThreadId,
    Tier,
    Trait,
    Utterance,
)
from embermem.wire import answers, memories
from embermem.wire.mapping import from_record, to_record
from proofs import bounded

ALICE = Owner(id=OwnerId("o1"), user="alice", agent="tutor")


def of(kind: Any, *without: str) -> st.SearchStrategy[Any]:
    """Values of a type of the core, in all fields that it has today but for some: a new one must reach the client."""
    hints = get_type_hints(kind)
    return st.builds(kind, **{one.name: records(hints[one.name]) for one in fields(kind) if one.name not in without})


@st.composite
def pages(draw: st.DrawFn) -> Page:
    """Pages as a store gives them."""
    page_id, thread = PageId(draw(texts)), ThreadId(draw(texts))
    said = [replace(draw(of(Utterance)), page_id=page_id, thread=thread) for _ in range(draw(st.integers(1, 3)))]
    page: Page = replace(draw(of(Page)), id=page_id, thread=thread, utterances=tuple(said))
    return page


def sent(record: Any) -> Any:
    """The record as the client reads what the server writes of it: FastAPI writes by pydantic, the client reads by
    msgspec."""
    kind = type(record)
    return read(TypeAdapter(kind).dump_json(record), kind)


def without_nulls(value: Any) -> Any:
    """JSON without the fields that are null."""
    if isinstance(value, list):
        return [without_nulls(one) for one in value]
    if isinstance(value, dict):
        return {name: without_nulls(one) for name, one in value.items() if one is not None}
    return value


@hypothesis.settings(max_examples=bounded(20, proofs=400))
@given(
    page=pages(),
    score=st.floats(0, 9),
    tier=st.sampled_from(Tier),
    fact=of(Fact),
    trait=of(Trait),
    line=of(ProfileField).map(lambda line: replace(line, whose=About.AGENT)),
    segment=of(Segment, "embedding"),
    heat=st.floats(0, 1e9),
)
def test_what_is_remembered_comes_as_it_was_and_a_field_that_is_null_may_be_absent(
    page: Page, score: float, tier: Tier, fact: Fact, trait: Trait, line: ProfileField, segment: Segment, heat: float
) -> None:
    assert memories.page_of(sent(memories.page_item(ALICE, page))) == page
    hit = Hit(utterance=page.utterances[0], score=score, rank=1, tier=tier, segment_id=page.segment_id)
    found = sent(memories.Found(results=(memories.hit_item(ALICE, hit),)))
    assert memories.hits_of(found.results) == (hit,)
    assert from_record(Fact, sent(memories.fact_item(ALICE, fact))) == fact
    (told,) = sent(answers.Traits(results=(to_record(memories.TraitItem, trait),))).results
    assert from_record(Trait, told) == trait
    profile = sent(memories.profile(Persona(agent_profile=(line,))))
    assert memories.lines_of(profile.agent, About.AGENT) == (line,)
    one = sent(to_record(memories.SegmentItem, segment, heat=heat))
    assert (from_record(Segment, one), one.heat) == (segment, heat)
    whole = answers.Facts(results=(memories.fact_item(ALICE, fact),), next_cursor=None)
    assert read(json.dumps(without_nulls(msgspec.to_builtins(whole))).encode(), answers.Facts) == whole
    item = memories.page_item(ALICE, page)
    assert read(json.dumps(without_nulls(msgspec.to_builtins(item))).encode(), memories.PageItem) == item


@hypothesis.settings(max_examples=bounded(8, proofs=100))
@given(decisions=st.tuples(*map(records, Decision.__args__)), cause=st.sampled_from(Cause), at=times)
def test_every_kind_of_decision_is_known(decisions: tuple[Decision, ...], cause: Cause, at: datetime) -> None:
    change = Change(no=3, cause=cause, analyst="extractive-v1", recorded_at=at, decisions=decisions)
    assert memories.change_of(sent(to_record(memories.ChangeItem, change))) == change


@given(body=st.binary(max_size=40))
def test_what_is_no_answer_is_an_error_of_ours(body: bytes) -> None:
    with pytest.raises(ServerError, match="cannot be read"):
        read(body, memories.PageItem)
