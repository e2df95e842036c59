"""What those look at who run a store: sums of calls, the work on all owners, what leaves, copies, settings."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from embermem import Memory
from embermem.bootstrap import copy_store
from embermem.core.config import load, load_with_origins
from embermem.core.errors import InputError
from embermem.core.setting_list import in_use
from embermem.core.types import KeyState, Owner, WaitsFor
from embermem.protocols import Call, Limits, Purpose
from embermem.testing.model_server import ModelServer
from lives import store_of
from scripted import NOW, SMALL, Clock, Opener, Place


def asked(memory: Memory, owner: Owner, at: datetime, outcome: str = "ok", **told: int) -> None:
    """A line in the ledger."""
    given = {"prompt_tokens": 70, "completion_tokens": 30, "cached_tokens": 10, "ms": 100, **told}
    store = store_of(memory)
    name = f"k{len(store.calls(datetime(2000, 1, 1, tzinfo=UTC)))}"
    call = Call(id=name, owner_id=owner.id, at=at, purpose=Purpose.ANNOTATE, model="m", outcome="started", **given)
    store.begin_call(owner, call, Limits())
    store.end_call(replace(call, outcome=outcome))


# ------------------------------------------------------------------------------------------------------ model calls


@pytest.mark.engines
def test_calls_are_summed_by_what_is_asked_for(opened: Opener) -> None:
    memory = opened()
    alice, bob = memory.of("alice"), memory.of("bob")
    alice.add("Hello.")
    for owner, at, outcome, ms in (
        (alice.owner, NOW, "ok", 100),
        (alice.owner, NOW + timedelta(days=1), "ok", 300),
        (bob.owner, NOW, "timeout", 900),
    ):
        asked(memory, owner, at, outcome, ms=ms)
    (whole,) = memory.call_sums(NOW)
    assert (whole.calls, whole.tokens, whole.cached_tokens, whole.ms, whole.slowest_ms) == (3, 300, 30, 1300, 900)
    by_day = {one.day: one.calls for one in memory.call_sums(NOW, by=["day"])}
    assert by_day == {date(2026, 5, 2): 2, date(2026, 5, 3): 1}
    most = memory.call_sums(NOW, by=["owner"], most=1)
    assert [(one.owner, one.owner_id, one.calls) for one in most] == [(alice.owner, alice.owner.id, 2)]
    several = {(one.purpose, one.outcome): one.calls for one in memory.call_sums(NOW, by=["purpose", "outcome"])}
    assert several == {("annotate", "ok"): 2, ("annotate", "timeout"): 1}
    (bobs,) = memory.call_sums(NOW, by=["owner"], owner=bob.owner)
    assert (bobs.owner, bobs.owner_id, bobs.calls) == (None, bob.owner.id, 1)  # who never said anything
    assert memory.call_sums(NOW + timedelta(days=2)) == ()


def test_sums_that_cannot_be_are_refused(opened: Opener) -> None:
    with pytest.raises(InputError, match="day, purpose, model, outcome, owner"):
        opened().call_sums(NOW, by=["week"])
    with pytest.raises(InputError, match="most"):
        opened().call_sums(NOW, most=-1)


def test_the_breaker_tells_how_it_stands(opened: Opener) -> None:
    assert opened().model_breaker() is None
    with ModelServer() as model:
        memory = opened(model="scripted", model_url=model.url)
        assert memory.model_breaker() is not None
        assert (memory.model_breaker().failures, memory.model_breaker().until) == (0, None)  # type: ignore[union-attr]


# ------------------------------------------------------------------------------------------------------------- work


@pytest.mark.engines
def test_the_work_on_all_owners_is_told_with_who_does_it(opened: Opener, clock: Clock) -> None:
    memory = opened()
    store = store_of(memory)
    for name in ("alice", "bob", "carol", "dan"):
        memory.of(name).add("Hello.")
        clock.go(1)
    held = store.claim(memory.of("bob").owner.id, "worker-7", clock(), 60.0)
    failed = store.claim(memory.of("carol").owner.id, "worker-8", clock(), 60.0)
    assert held is not None
    assert failed is not None
    store.release(failed, due_at=clock() + timedelta(minutes=5), error="the model does not answer")
    told = memory.work_state(limit=1)
    assert [(one.owner.user, one.lease_by) for one in told.at_work] == [("bob", "worker-7")]
    assert ([one.owner.user for one in told.due], told.due_count) == (["alice"], 2)
    (bad,) = told.failed
    assert (bad.owner.user, bad.error, bad.failures) == ("carol", "the model does not answer", 1)
    assert bad.due_at == clock() + timedelta(minutes=5)
    clock.go(61)
    assert memory.work_state().at_work == ()  # its lease has ended: another may take over
    assert memory.work_state().due_count == 3


@pytest.mark.engines
def test_pages_that_wait_are_told_by_owner_with_the_reason(opened: Opener, clock: Clock) -> None:
    memory = opened(short_term_pages=1)
    alice = memory.of("alice")
    for number in range(3):
        alice.add(f"I like figs, said {number} times.", "Noted.")
    page = alice.pages()[0]
    store = store_of(memory)
    lease = store.claim(alice.owner.id, "worker-7", clock(), 60.0)
    assert lease is not None
    store.postpone(lease, [page.id], "the model does not answer", clock() + timedelta(minutes=1))
    told = memory.work_state()
    ((owner, (waiting,)),) = [(one.owner, one.waiting) for one in told.waits]
    assert (owner, told.waits_count) == (alice.owner, 1)
    assert (waiting.waits_for, waiting.pages, waiting.reason) == (WaitsFor.PLACE, 2, "the model does not answer")


def test_webhooks_that_fail_are_told(opened: Opener, clock: Clock) -> None:
    memory = opened()
    alice = memory.of("alice")
    hook = alice.add_webhook("https://example.com/hook")
    alice.add("Hello.")
    assert memory.work_state().webhooks == ()
    claimed = store_of(memory).claim_delivery(clock(), 60.0)
    assert claimed is not None
    store_of(memory).undelivered(claimed, "no answer", clock(), None)
    ((owner, told),) = memory.work_state().webhooks
    assert (owner, told.id, told.state, told.error) == (alice.owner, hook.id, "stopped", "no answer")


def test_the_background_thread_tells_whether_it_runs(place: Place) -> None:
    with Memory(place(), **{**SMALL, "background": True}) as memory:
        assert (memory.background_state().on, memory.background_state().running) == (True, False)
        memory.wake()
        assert memory.background_state().running
    assert not memory.background_state().running
    with Memory(place(), **SMALL) as memory:
        assert not memory.background_state().on


# ---------------------------------------------------------------------------------------------------------- leaving


@pytest.mark.engines
def test_what_expired_and_what_was_forgotten_is_told_without_content(opened: Opener, clock: Clock) -> None:
    memory = opened()
    alice = memory.of("alice")
    assert memory.leaving().key is KeyState.UNUSED
    first = alice.add("I live in Lyon.", expires_at=clock() + timedelta(hours=1))
    alice.learn([{"text": "likes figs", "expires_at": clock() + timedelta(hours=2)}])
    told = memory.leaving()
    assert (told.expired_pages, told.expired_facts, told.next_at) == (0, 0, clock() + timedelta(hours=1))
    clock.go(3 * 3600)
    told = memory.leaving()
    assert (told.expired_pages, told.expired_facts, told.next_at) == (1, 1, None)
    alice.forget_pages([first])
    alice.learn([{"text": "likes plums"}])
    gone = memory.leaving(limit=1)
    (one,) = gone.forgotten
    assert (one.owner, one.pages, one.utterances, gone.forgotten_count) == (alice.owner, 1, 1, 1)
    assert alice.change(one.no).recorded_at == one.at
    assert gone.key is KeyState.THERE
    Path(gone.key_place).unlink()
    assert memory.leaving().key is KeyState.LOST


def test_a_copy_tells_whether_it_holds_what_was_forgotten_since(opened: Opener, place: Place, tmp_path: Path) -> None:
    memory = opened()
    alice, bob = memory.of("alice"), memory.of("bob")
    page = alice.add("I live in Lyon.")
    alice.add("I like figs.")
    bob.add("I live in Oslo.")
    for name in ("before.db", "later.db"):
        if name == "later.db":
            alice.forget_pages([page])
        copy_store(str(place()), str(tmp_path / name), load(**SMALL), NOW, lambda progress: None)
    before, later = memory.copies()
    assert [Path(one.place).name for one in (before, later)] == ["before.db", "later.db"]
    assert (before.bytes, before.holds_forgotten) == ((tmp_path / "before.db").stat().st_size, None)
    assert [one.holds_forgotten for one in memory.copies(look=True)] == [True, False]
    bob.forget_owner()
    assert [one.holds_forgotten for one in memory.copies(look=True)] == [True, True]
    (tmp_path / "later.db").unlink()
    gone = memory.copies(look=True)[1]
    assert (gone.bytes, gone.at, gone.holds_forgotten) == (None, None, None)
    (tmp_path / "before.db").write_bytes(b"no database")
    assert memory.copies(look=True)[0].holds_forgotten  # what cannot be opened may hold it


# --------------------------------------------------------------------------------------------------------- settings


def test_every_setting_says_where_it_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "ember.toml"
    file.write_text("# ours\ntop_k = 4\n\ntimezone = 'Asia/Shanghai'\nhits = 9\n")
    monkeypatch.setenv("EMBERMEM_BUDGET", "600")
    monkeypatch.setenv("EMBERMEM_HITS", "8")
    monkeypatch.setenv("EMBERMEM_MODEL_KEY", "sk-secret")
    loaded = load_with_origins("paper", config=file, theta=0.5, proxy_url="https://me:pass@example.com/v1")
    told = {one.name: one for one in in_use(loaded.settings, loaded.origins)}
    assert (told["top_k"].value, told["top_k"].origin) == ("4", f"file {file}, line 2")
    assert told["timezone"].origin == f"file {file}, line 4"
    assert told["budget"].origin == "environment variable EMBERMEM_BUDGET"
    assert (told["hits"].value, told["hits"].origin) == ("8", "environment variable EMBERMEM_HITS")
    assert (told["theta"].value, told["theta"].default, told["theta"].origin) == ("0.5", "0.6", "argument")
    assert (told["preset"].origin, told["min_new"].origin) == ("argument", "preset paper")
    assert (told["top_m"].origin, told["top_m"].changed) == ("default", False)
    assert (told["model_key"].value, told["proxy_url"].value) == ("(set)", "https://…@example.com/v1")
    assert "secret" not in str(told.values())
    assert "pass@" not in str(told.values())
    assert {"Recall", "Server", "Retention"} <= {one.group for one in told.values()}
    assert all(one.group and one.meaning for one in told.values())


def test_a_memory_tells_its_settings_and_the_fields_that_its_store_remembers(place: Place, tmp_path: Path) -> None:
    fields = tmp_path / "fields.toml"
    fields.write_text('[boat]\ndescription = "the boat that somebody sails"\n')
    with Memory(place(), **SMALL, fields=str(fields)) as memory:
        given = {one.name: one for one in memory.settings_in_use()}["fields"]
        assert (given.value, given.origin) == ("boat", "argument")
    with Memory(place(), **SMALL) as memory:
        kept = {one.name: one for one in memory.settings_in_use()}["fields"]
        assert (kept.value, kept.origin) == ("boat", "the store")
