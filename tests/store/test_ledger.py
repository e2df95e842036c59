"""The ledger of model calls: no number of processes goes over a day's limit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from embermem.core import ids
from embermem.core.errors import BudgetSpent
from embermem.core.types import Owner
from embermem.protocols import Call, Limits, Purpose
from embermem.store.sql import SqlStore
from forked import script
from proofs import bounded
from scripted import NOW, Place
from soundness import rows

ALICE = Owner(id=ids.owner_id("alice", "default"), user="alice", agent="default")
BOB = Owner(id=ids.owner_id("bob", "default"), user="bob", agent="default")
MIDNIGHT = datetime(2026, 5, 3, tzinfo=UTC)


def call(name: str = "k1", owner: Owner = ALICE, at: datetime = NOW, **told: Any) -> Call:
    given_: dict[str, Any] = {
        "prompt_tokens": 70,
        "completion_tokens": 30,
        "cached_tokens": 0,
        "ms": 0,
        "outcome": "started",
        **told,
    }
    return Call(id=name, owner_id=owner.id, at=at, purpose=Purpose.ANNOTATE, model="m", **given_)


def begin(store: SqlStore, limits: Limits, name: str = "k1", owner: Owner = ALICE, **told: Any) -> Call:
    made = call(name, owner, **told)
    store.begin_call(owner, made, limits)
    return made


def test_calls_of_an_owner_who_is_forgotten_whole_go_and_those_of_others_stay(store: SqlStore) -> None:
    store.set_timezone(ALICE, "UTC", NOW)
    begin(store, Limits())
    kept = begin(store, Limits(), "k2", BOB)
    store.forget_owner(ALICE.id, NOW)
    assert store.calls(NOW) == (kept,)


def test_a_call_is_started_and_then_what_came_of_it(store: SqlStore) -> None:
    begun = begin(store, Limits())
    assert store.calls(NOW) == (begun,)
    ended = replace(begun, prompt_tokens=81, completion_tokens=9, cached_tokens=64, ms=1234, outcome="ok")
    store.end_call(ended)
    assert store.calls(NOW) == (ended,)


def test_the_ledger_is_read_from_a_time_on_of_one_owner_or_of_all_oldest_first(store: SqlStore) -> None:
    begin(store, Limits(), "k2", at=NOW + timedelta(seconds=2))
    begin(store, Limits(), "k1", at=NOW)
    begin(store, Limits(), "k1", BOB, at=NOW + timedelta(seconds=1))
    assert [(c.id, c.owner_id) for c in store.calls(NOW)] == [("k1", ALICE.id), ("k1", BOB.id), ("k2", ALICE.id)]
    assert [c.id for c in store.calls(NOW, ALICE.id)] == ["k1", "k2"]
    assert [c.id for c in store.calls(NOW + timedelta(seconds=1))] == ["k1", "k2"]
    assert store.calls(NOW + timedelta(days=1)) == ()


@pytest.mark.parametrize(
    "limits", [Limits(calls=2), Limits(tokens=250), Limits(owner_calls=2), Limits(owner_tokens=250)]
)
def test_a_limit_that_is_reached_refuses_the_call_until_the_next_midnight(store: SqlStore, limits: Limits) -> None:
    begin(store, limits, "k1")
    begin(store, limits, "k2")
    with pytest.raises(BudgetSpent, match="2026-05-03 00:00 UTC") as refused:
        begin(store, limits, "k3")
    assert refused.value.retry_at == MIDNIGHT
    assert [c.id for c in store.calls(NOW)] == ["k1", "k2"]
    begin(store, limits, "k3", at=MIDNIGHT)


def test_one_owner_s_limit_holds_back_no_other_and_that_of_all_holds_back_everyone(store: SqlStore) -> None:
    begin(store, Limits(owner_calls=1, calls=2), "k1", ALICE)
    with pytest.raises(BudgetSpent, match="for alice"):
        begin(store, Limits(owner_calls=1, calls=2), "k2", ALICE)
    begin(store, Limits(owner_calls=1, calls=2), "k1", BOB)
    with pytest.raises(BudgetSpent, match="for all"):
        begin(store, Limits(owner_calls=9, calls=2), "k2", BOB)


def test_a_limit_of_nothing_allows_nothing(store: SqlStore) -> None:
    for limits in (Limits(calls=0), Limits(tokens=0), Limits(owner_calls=0), Limits(owner_tokens=0)):
        with pytest.raises(BudgetSpent):
            begin(store, limits)
    assert store.calls(NOW) == ()


def test_a_call_counts_as_estimated_until_it_ended_and_then_as_counted(store: SqlStore) -> None:
    limits = Limits(tokens=150)
    begun = begin(store, limits, "k1")
    with pytest.raises(BudgetSpent):
        begin(store, limits, "k2")
    store.end_call(replace(begun, prompt_tokens=40, completion_tokens=10, outcome="ok"))
    begin(store, limits, "k2")


def test_a_day_is_that_of_utc_whatever_zone_the_time_came_in(store: SqlStore) -> None:
    early = datetime(2026, 5, 3, 1, 30, tzinfo=timezone(timedelta(hours=2)))  # still the second of May in UTC
    begin(store, Limits(calls=1), "k1", at=early)
    with pytest.raises(BudgetSpent) as refused:
        begin(store, Limits(calls=1), "k2", at=NOW)
    assert refused.value.retry_at == MIDNIGHT


def test_the_ledger_holds_no_text() -> None:
    from embermem.store import schema

    assert {c.name for c in schema.call.columns} == {
        *("owner_id", "id", "at", "purpose", "model", "outcome"),
        *("prompt_tokens", "completion_tokens", "cached_tokens", "ms"),
    }


@given(
    st.lists(st.tuples(st.sampled_from([ALICE, BOB]), st.integers(0, 60), st.integers(0, 60)), max_size=12),
    st.integers(0, 6),
    st.integers(0, 300),
    st.integers(0, 4),
    st.integers(0, 150),
)
@settings(max_examples=bounded(10, proofs=125), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_limit_is_ever_passed_where_estimates_hold(
    store: SqlStore, asked: list[tuple[Owner, int, int]], calls: int, tokens: int, own_calls: int, own_tokens: int
) -> None:
    limits = Limits(calls=calls, tokens=tokens, owner_calls=own_calls, owner_tokens=own_tokens)
    day = NOW + timedelta(days=len(store.calls(datetime(2000, 1, 1, tzinfo=UTC))) + 1)  # a day of its own
    for n, (owner, estimate, cost) in enumerate(asked):
        name = f"{day:%d%m%y}-{n}"
        try:
            begun = begin(store, limits, name, owner, at=day, prompt_tokens=estimate, completion_tokens=0)
        except BudgetSpent:
            continue
        store.end_call(replace(begun, prompt_tokens=min(cost, estimate), outcome="ok"))
    made = [c for c in store.calls(day) if c.at == day]
    assert len(made) <= calls
    assert sum(c.prompt_tokens + c.completion_tokens for c in made) <= tokens
    for owner in (ALICE, BOB):
        own = [c for c in made if c.owner_id == owner.id]
        assert len(own) <= own_calls
        assert sum(c.prompt_tokens for c in own) <= own_tokens


SPENDER = """
import json
import sys
from datetime import datetime, UTC
from embermem.bootstrap import open_store
from embermem.core.config import load
from embermem.core.errors import BudgetSpent
from embermem.protocols import Call, Limits, Purpose
from embermem.core.types import Owner, OwnerId
place, name, number, limits = sys.argv[1], sys.argv[2], sys.argv[3], Limits(**json.loads(sys.argv[4]))
owner = Owner(id=OwnerId(name), user=name, agent="default")
store = open_store(place, load(busy_timeout_s=30.0))
print("ready", flush=True)
sys.stdin.readline()
for n in range(20):
    call = Call(id=f"k{number}.{n}", owner_id=owner.id, at=datetime(2026, 5, 2, 10, tzinfo=UTC),
                purpose=Purpose.CHAT, model="m", prompt_tokens=5, completion_tokens=5, cached_tokens=0, ms=0,
                outcome="started")
    try:
        store.begin_call(owner, call, limits)
    except BudgetSpent:
        print("spent", flush=True)
store.close()
"""


def spent(place: str | Path, owners: Sequence[str], limits: dict[str, int]) -> int:
    """Each owner's process asks twenty times, all at once; how often they were refused."""
    spenders = [script(SPENDER, str(place), owner, str(n), json.dumps(limits)) for n, owner in enumerate(owners)]
    for one in spenders:
        assert one.stdout.readline() == "ready\n"
    for one in spenders:
        one.tell("go")
    refused = 0
    for one in spenders:
        said, errors = one.communicate()
        assert (one.returncode, errors) == (0, "")
        refused += said.count("spent")
    return refused


@pytest.mark.engines
def test_many_processes_together_do_not_go_over_a_limit(place: Place) -> None:
    refused = spent(place(), ["o0", "o1", "o2", "o3"], {"calls": 37, "owner_tokens": 150})
    (made,) = rows(place(), "SELECT count(*) AS n FROM call")
    assert (made["n"], refused) == (37, 80 - 37)
    assert max(row["n"] for row in rows(place(), "SELECT count(*) AS n FROM call GROUP BY owner_id")) <= 15


def test_many_processes_together_do_not_go_over_the_limit_of_one_who_said_nothing_yet(place: Place) -> None:
    refused = spent(place(), ["o0"] * 4, {"owner_calls": 7})
    (made,) = rows(place(), "SELECT count(*) AS n FROM call")
    assert (made["n"], refused) == (7, 80 - 7)
