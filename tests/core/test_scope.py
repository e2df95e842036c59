"""Scopes: what they take, and which utterances they admit."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from embermem.core.errors import InputError
from embermem.core.types import PageId, Role, Scope, ThreadId, Tier, Utterance, UtteranceId

SAID = Utterance(
    id=UtteranceId("u1"),
    seq=5,
    page_id=PageId("p1"),
    thread=ThreadId("s1"),
    role=Role.USER,
    origin=Role.USER.origin,
    speaker="Ann",
    text="Hello",
    said_at=datetime(2026, 5, 2, 22, 30, tzinfo=UTC),
    recorded_at=datetime(2026, 5, 3, tzinfo=UTC),
    metadata={"ticket": "T-1"},
)
WHOLE = {
    "threads": ["s1"], "not_threads": ["s2"], "metadata": {"ticket": {"$in": ["T-1"]}}, "speakers": ["Ann"],
    "people": ["Bob"], "kinds": ["fact", "message"], "tiers": ["mid", "short"], "since": "2026-05-01",
    "until": "2026-05-02T23:00:00+02:00", "before_seq": 9,
}  # fmt: skip


def test_a_wrong_scope_is_refused_with_its_place() -> None:
    cases: list[tuple[Any, str]] = [
        ({"threads": "s1"}, "scope.threads is str"), ({"threads": [1]}, "scope.threads holds 1"),
        ({"threads": [""]}, "scope.threads holds ''"), ({"not_threads": 3}, "scope.not_threads is int"),
        ({"metadata": {"a": {"$like": 1}}}, "scope.metadata.a.$like is not an operator"),
        ({"kinds": ["facts"]}, "scope.kinds holds 'facts'"), ({"tiers": ["long"]}, "scope.tiers holds 'long'"),
        ({"since": "yesterday"}, "scope.since = 'yesterday' is not a time"), ({"until": 3}, "scope.until is int"),
        ({"before_seq": -1}, "scope.before_seq = -1"), ({"before_seq": True}, "scope.before_seq = True"),
        ({"thread": ["s1"]}, "scope.thread is not known"),
    ]  # fmt: skip
    for given, said in cases:
        with pytest.raises(InputError) as refused:
            Scope.from_dict(given)
        assert str(refused.value).startswith(said)


def test_a_span_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(InputError, match=r"is after scope\.until"):
        Scope(since="2026-05-03", until="2026-05-02")
    with pytest.raises(InputError, match=r"is after scope\.until"):
        Scope(since="2026-05-03T10:00:00Z", until="2026-05-03T11:00:00+02:00")
    half = Scope(since="2026-05-03T10:00:00Z", until="2026-05-03T09:30:00")  # without a zone: a read's owner has one
    assert half.in_zone(timezone(-timedelta(hours=1))).span[0] is not None
    with pytest.raises(InputError, match=r"is after scope\.until"):
        half.in_zone(UTC)


def test_a_scope_is_printed_by_what_is_given() -> None:
    assert repr(Scope()) == "Scope()"
    assert repr(Scope(threads=[])) == "Scope(threads=[])"
    assert repr(Scope(threads=["b", "a"], since="2026-05-03")) == "Scope(threads=['a', 'b'], since='2026-05-03')"
    assert len(repr(Scope(threads=[str(one) for one in range(300)]))) < 250


def test_a_scope_goes_through_json_pickle_and_copies() -> None:
    scope = Scope.from_dict(WHOLE)
    assert Scope.from_dict(json.loads(json.dumps(scope.to_dict()))) == scope
    assert pickle.loads(pickle.dumps(scope)) == scope == copy.deepcopy(scope)
    assert len({scope, Scope.from_dict(WHOLE)}) == 1
    assert Scope().to_dict() == {}
    assert Scope().is_whole
    assert not scope.is_whole


def test_which_utterances_are_in_scope() -> None:
    cases: list[tuple[Scope, bool]] = [
        (Scope(), True), (Scope(threads=["s1", "s2"]), True), (Scope(threads=[]), False),
        (Scope(not_threads={"s1"}), False), (Scope(metadata={"ticket": "T-1"}), True),
        (Scope(metadata={"ticket": "T-2"}), False), (Scope(speakers=["Bob"]), False), (Scope(tiers=["mid"]), True),
        (Scope(tiers=["short"]), False), (Scope(before_seq=5), False), (Scope(before_seq=6), True),
        (Scope(since=date(2026, 5, 2)), True), (Scope(since=date(2026, 5, 3)), False),
        (Scope(until=date(2026, 5, 2)), True), (Scope(until=datetime(2026, 5, 2, 22, 30, tzinfo=UTC)), True),
        (Scope(until=datetime(2026, 5, 2, 22, 29, tzinfo=UTC)), False),
    ]  # fmt: skip
    assert [
        (scope, expected, got) for scope, expected in cases if (got := scope.admits(SAID, Tier.MID)) is not expected
    ] == []


def test_days_are_days_of_the_owners_zone() -> None:
    tokyo = ZoneInfo("Asia/Tokyo")  # there it was said on 3 May
    assert not Scope(until="2026-05-02").in_zone(tokyo).admits(SAID)
    assert Scope(since="2026-05-03", until="2026-05-03").in_zone(tokyo).admits(SAID)
    assert Scope(since="2026-05-03T00:00").in_zone(tokyo).admits(replace(SAID, said_at=SAID.said_at))
