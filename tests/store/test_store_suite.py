"""What every store must do: the two logs, leases, changes, and reading what is newer."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embermem.core import ids
from embermem.core.changes import (
    BegunAnew,
    Cause,
    ChainSummarised,
    Decision,
    Embedded,
    Erased,
    Evicted,
    FactAdded,
    FactArchived,
    FactPinned,
    FactRestored,
    FactRetired,
    KeywordCount,
    Noted,
    Placed,
    ProfileSet,
    SegmentWritten,
    SummaryPart,
    TraitCleared,
    TraitSet,
    Undone,
)
from embermem.core.errors import EmbedderMismatch, KeyReused, RevisionMoved, StaleLease, StoreClosed
from embermem.core.traits import dimensions
from embermem.core.types import (
    About,
    Added,
    ChainId,
    FactId,
    ItemId,
    Message,
    Origin,
    Owner,
    PageId,
    Role,
    SegmentId,
    Source,
    ThreadId,
    Tier,
    UtteranceId,
)
from embermem.core.vector_codes import rounded
from embermem.protocols import (
    ARCHIVED,
    ENDED,
    HELD,
    Backlog,
    Delta,
    Erasure,
    FactSelection,
    Lease,
    NotedPage,
    VectorBatch,
)
from embermem.store import schema
from embermem.store.engines.sqlite import Sqlite
from embermem.store.sql import SqlStore
from proofs import bounded
from scripted import NOW

ALICE = Owner(id=ids.owner_id("alice", "default"), user="alice", agent="default")
BOB = Owner(id=ids.owner_id("bob", "default"), user="bob", agent="default")
MINUTE = timedelta(minutes=1)
SHORT = 1
TRAIT = dimensions()[0].name


def message(text: str = "Hello", role: Role = Role.USER, thread: str = "main", at: datetime = NOW) -> Message:
    return Message(role=role, speaker="alice", text=text, said_at=at, thread=ThreadId(thread))


def append(
    store: SqlStore, *messages: Message, owner: Owner = ALICE, now: datetime = NOW, fresh: bool = False, **key: Any
) -> Added:
    given_key = {"key": None, "digest": "", **key}
    return store.append(owner, messages or (message(),), now=now, fresh=fresh, **given_key)


def apply(store: SqlStore, *decisions: Decision, owner: Owner = ALICE, lease: Lease | None = None, **more: Any) -> int:
    state = store.owner_state(owner.id)
    revision = 0 if state is None else state.revision
    return store.apply(
        owner, Cause.CONSOLIDATION, "test", decisions, now=NOW, revision=revision, lease=lease, **more
    ).no


def claimed(store: SqlStore, by: str = "w1", now: datetime = NOW, seconds: float = 60) -> Lease:
    lease = store.claim(ALICE.id, by, now, seconds)
    assert lease is not None
    return lease


def embed(
    store: SqlStore, first: int, last: int, owner: Owner = ALICE, *, tokens: Sequence[bytes] = (), embedder: str = "e1"
) -> None:
    vectors = np.array([[1.0, seq % 7] for seq in range(first, last + 1)], dtype=np.float32)
    batch = VectorBatch(embedder=embedder, seqs=range(first, last + 1), vectors=vectors, tokens=tokens)
    apply(store, Embedded(first_seq=first, last_seq=last, embedder=embedder), owner=owner, vectors=batch)


def noted(page_id: PageId, upto: int, chain: str = "c1") -> list[Decision]:
    source = Source(seq=upto, utterance_id=UtteranceId("u"))
    return [
        Noted(
            page_id=page_id, upto_seq=upto, chain_id=ChainId(chain), continues=False, keywords=("k",), analyst="test"
        ),
        ChainSummarised(chain_id=ChainId(chain), thread=ThreadId("main"), summary="Said.", sources=(source,)),
    ]


def placed(page_id: PageId, segment: str = "s1", seq: int = 1) -> list[Decision]:
    source = Source(seq=seq, utterance_id=UtteranceId("u"))
    return [
        Placed(page_id=page_id, segment_id=SegmentId(segment), f_score=None),
        SegmentWritten(
            segment_id=SegmentId(segment),
            parts=(SummaryPart(chain_id=ChainId("c1"), text="Said.", sources=(source,)),),
            keywords=(KeywordCount(word="k", pages=1),),
            said_from=NOW,
            said_to=NOW,
        ),
    ]


def fact(name: str = "f1", seq: int = 1) -> FactAdded:
    return FactAdded(
        fact_id=FactId(name),
        about=About.USER,
        subject="user",
        attribute="likes",
        value="tea",
        text="likes tea",
        sources=(Source(seq=seq, utterance_id=UtteranceId("u")),),
        valid_from=NOW,
    )


# ---------------------------------------------------------------------------------------------- what was said


def test_utterances_are_numbered_without_gaps_for_each_owner(store: SqlStore) -> None:
    append(store, message("a"), message("b"))
    append(store, message("x"), owner=BOB)
    append(store, message("c", Role.ASSISTANT))
    said = store.utterances(ALICE.id, 0, 10)
    assert [(u.seq, u.text) for u in said] == [(1, "a"), (2, "b"), (3, "c")]
    assert [u.seq for u in store.utterances(ALICE.id, 1, 1)] == [2]
    assert [u.text for u in store.utterances(BOB.id, 0, 10)] == ["x"]
    state = store.owner_state(ALICE.id)
    assert state is not None
    assert (state.seq, state.pages, state.revision) == (3, 1, 0)


def test_what_was_said_comes_back_as_it_was(store: SqlStore) -> None:
    at = datetime.fromisoformat("1931-02-03T04:05:06.789012+05:30")
    text = 'ünï 汉字 🦩 \u202eRTL\u202c "quotes" \\ \t\r\n\x01 %s :name'
    append(store, Message(role=Role.TOOL, speaker="O'Neill; --", text=text, said_at=at, thread=ThreadId("t/1")))
    (kept,) = store.utterances(ALICE.id, 0, 10)
    assert (kept.text, kept.speaker, kept.thread, kept.role) == (text, "O'Neill; --", "t/1", Role.TOOL)
    assert (kept.said_at, kept.said_at.utcoffset(), kept.recorded_at) == (at, at.utcoffset(), NOW)


def test_a_key_given_again_gives_what_it_gave_and_other_content_is_refused(store: SqlStore) -> None:
    first = append(store, message("a"), key="k", digest="1")
    assert append(store, message("a"), key="k", digest="1") == first
    with pytest.raises(KeyReused):
        append(store, message("b"), key="k", digest="2")
    assert append(store, message("a"), key="k", digest="1", owner=BOB) != first
    assert len(store.utterances(ALICE.id, 0, 10)) == 1


def test_an_unknown_owner_has_nothing(store: SqlStore) -> None:
    assert store.owner_state(BOB.id) is None
    assert store.pages(BOB.id, 7) == ()
    assert store.pages_by_id(BOB.id, [PageId("p")], 7) == ()
    assert store.segments(BOB.id) == ()
    assert store.facts(BOB.id) == store.facts(BOB.id, ENDED) == ()
    assert store.claim(BOB.id, "w", NOW, 60) is None
    assert store.owner_stats(BOB.id, 7).utterances == 0
    assert store.delta(BOB.id, 0, 0, "e1", 2).utterances == ()


def test_pages_are_listed_by_the_newest_below_a_number(store: SqlStore) -> None:
    for n in range(5):
        append(store, message(str(n)), message("r", Role.ASSISTANT))
    got = store.pages(ALICE.id, 2, tier=None, before=5, limit=2)
    assert [(p.no, p.query, p.tier) for p in got] == [(3, "2", Tier.PENDING), (4, "3", Tier.SHORT)]


# ------------------------------------------------------------------------------------------------------- leases


def test_one_worker_holds_an_owner_at_a_time(store: SqlStore) -> None:
    append(store)
    append(store, owner=BOB)
    claimed(store)
    assert store.claim(ALICE.id, "w2", NOW, 60) is None
    assert store.claim(ALICE.id, "w1", NOW, 60) is None
    assert store.claim(BOB.id, "w2", NOW, 60) is not None


def test_a_lease_runs_out_and_the_token_grows_with_each_claim(store: SqlStore) -> None:
    append(store)
    first = claimed(store, seconds=60)
    assert store.claim(ALICE.id, "w2", NOW + timedelta(seconds=59), 60) is None
    second = claimed(store, "w2", NOW + timedelta(seconds=60))
    store.release(second, due_at=None, error=None)
    third = claimed(store, "w1", NOW + timedelta(seconds=61))
    assert first.token < second.token < third.token


def test_a_sign_of_life_keeps_a_lease(store: SqlStore) -> None:
    append(store)
    lease = claimed(store, seconds=60)
    store.renew(lease, NOW + timedelta(seconds=50), 60)
    assert store.claim(ALICE.id, "w2", NOW + timedelta(seconds=100), 60) is None


def test_a_stale_token_is_refused_everywhere_and_its_release_does_nothing(store: SqlStore) -> None:
    added = append(store)
    stale = claimed(store, seconds=1)
    held = claimed(store, "w2", NOW + MINUTE)
    with pytest.raises(StaleLease):
        store.renew(stale, NOW + MINUTE, 60)
    with pytest.raises(StaleLease):
        apply(store, fact(), lease=stale)
    with pytest.raises(StaleLease):
        store.postpone(stale, added.page_ids, "late", NOW + MINUTE)
    store.release(stale, due_at=None, error="late")
    assert store.claim(ALICE.id, "w3", NOW + MINUTE, 60) is None
    assert apply(store, fact(), lease=held) == 1
    assert store.facts(ALICE.id)[0].change_no == 1


def test_a_lease_that_ran_out_and_that_nobody_took_still_counts(store: SqlStore) -> None:
    append(store)
    lease = claimed(store, seconds=1)
    change = store.apply(ALICE, Cause.PROMOTION, "slow", [fact()], now=NOW + MINUTE, revision=0, lease=lease)
    assert change.no == 1
    store.renew(lease, NOW + MINUTE, 60)
    assert store.claim(ALICE.id, "w2", NOW + MINUTE, 60) is None


def test_due_owners_come_the_longest_waiting_first_and_without_those_held(store: SqlStore) -> None:
    append(store, owner=BOB, now=NOW)
    append(store, now=NOW + MINUTE)
    assert store.due(NOW - MINUTE, 9) == ()
    assert store.due(NOW + MINUTE, 9) == (BOB, ALICE)
    assert store.due(NOW + MINUTE, 1) == (BOB,)
    claimed(store, now=NOW + MINUTE)
    assert store.due(NOW + MINUTE, 9) == (BOB,)
    assert store.due(NOW + 3 * MINUTE, 9) == (BOB, ALICE)  # the lease ran out: its worker died
    turn = store.claim(BOB.id, "w2", NOW + 3 * MINUTE, 60)
    assert turn is not None
    store.release(turn, due_at=NOW + 4 * MINUTE, error=None)
    assert store.due(NOW + 9 * MINUTE, 9) == (ALICE, BOB)  # who had a turn stands behind, though he was here first


def test_a_release_says_when_the_owner_is_due_again(store: SqlStore) -> None:
    append(store)
    embed(store, 1, 1)
    store.release(claimed(store), due_at=NOW + MINUTE, error=None)
    assert store.due(NOW, 9) == ()
    assert store.due(NOW + MINUTE, 9) == (ALICE,)
    store.release(claimed(store), due_at=None, error=None)
    assert store.due(NOW + timedelta(days=9), 9) == ()


def test_what_came_in_meanwhile_makes_the_owner_due_at_once(store: SqlStore) -> None:
    append(store)
    lease = claimed(store)
    embed(store, 1, 1)
    append(store, message("meanwhile"), now=NOW + MINUTE)
    store.release(lease, due_at=None, error=None)
    assert store.due(NOW + MINUTE, 9) == (ALICE,)


def test_work_given_back_unfinished_is_due_when_it_was_said_to_be(store: SqlStore) -> None:
    append(store)
    store.release(claimed(store, seconds=600), due_at=NOW, error=None)  # interrupted before anything was embedded
    assert store.due(NOW, 9) == (ALICE,)


def test_after_a_failure_the_owner_waits_whatever_comes_in(store: SqlStore) -> None:
    append(store)
    store.release(claimed(store), due_at=NOW + MINUTE, error="EmbedderError: down")
    append(store, message("meanwhile"))
    store.visit(ALICE.id, {ItemId("s1"): 1}, NOW)
    assert store.due(NOW, 9) == ()
    assert store.due(NOW + MINUTE, 9) == (ALICE,)


def test_a_failure_is_counted_and_kept_until_the_next_success(store: SqlStore) -> None:
    append(store)
    for failures in (1, 2):
        store.release(claimed(store), due_at=NOW + MINUTE, error="EmbedderError: down")
        state = store.owner_state(ALICE.id)
        assert state is not None
        assert (state.failures, state.error, state.due_at) == (failures, "EmbedderError: down", NOW + MINUTE)
    store.release(claimed(store), due_at=None, error=None)
    state = store.owner_state(ALICE.id)
    assert state is not None
    assert (state.failures, state.error) == (0, None)


# ------------------------------------------------------------------------------------------------------- changes


def test_a_change_is_refused_when_another_came_first_and_nothing_of_it_is_written(store: SqlStore) -> None:
    append(store)
    apply(store, fact("f1"))
    with pytest.raises(RevisionMoved):
        store.apply(ALICE, Cause.PROMOTION, "", [fact("f2")], now=NOW, revision=0, lease=None)
    assert [f.id for f in store.facts(ALICE.id)] == ["f1"]
    assert [c.no for c in store.changes(ALICE.id)] == [1]


def test_the_log_gives_back_each_change_as_it_was_applied(store: SqlStore) -> None:
    added = append(store)
    decisions = (*noted(added.page_ids[0], 1), *placed(added.page_ids[0]), fact(), Evicted(segment_id=SegmentId("s1")))
    apply(store, *decisions)
    (change,) = store.changes(ALICE.id)
    assert (change.no, change.cause, change.analyst, change.recorded_at) == (1, Cause.CONSOLIDATION, "test", NOW)
    assert change.decisions == decisions
    assert store.changes(ALICE.id, since=1) == ()
    assert store.changes(BOB.id) == ()


def test_changes_are_found_by_the_ids_that_stand_in_them_whole(store: SqlStore) -> None:
    added = append(store)
    apply(store, fact("f1"))
    apply(store, fact("f11"))
    apply(store, FactRetired(fact_id=FactId("f1"), superseded_by=FactId("f11"), valid_to=None))
    apply(store, replace(fact("f2"), text='says "f1"'))
    apply(store, *noted(added.page_ids[0], 1))
    assert [c.no for c in store.changes_naming(ALICE.id, "f1")] == [1, 3]
    assert [c.no for c in store.changes_naming(ALICE.id, "f11")] == [2, 3]
    assert [c.no for c in store.changes_naming(ALICE.id, added.page_ids[0])] == [5]
    for nothing in ("f", "%", '"', "f1\x00", "\\", 'says "f1"x'):
        assert store.changes_naming(ALICE.id, nothing) == ()
    assert store.changes_naming(BOB.id, "f1") == ()


def test_of_all_changes_the_decisions_of_some_kinds_are_read(store: SqlStore) -> None:
    added = append(store)
    apply(store, *noted(added.page_ids[0], 1), fact("f1"))
    apply(store, *placed(added.page_ids[0]))
    assert [c.decisions for c in store.changes(ALICE.id, kinds=(FactAdded, FactRetired))] == [(fact("f1"),), ()]


def test_vectors_of_another_embedder_than_the_store_s_are_refused(store: SqlStore) -> None:
    append(store)
    vectors = VectorBatch(embedder="e2", seqs=[1], vectors=np.ones((1, 2), dtype=np.float32))
    with pytest.raises(EmbedderMismatch, match=r"'e1'.*'e2'"):
        apply(store, Embedded(first_seq=1, last_seq=1, embedder="e2"), vectors=vectors)
    assert store.changes(ALICE.id) == ()


def test_a_reindex_takes_the_leases_back_and_makes_everyone_due(store: SqlStore) -> None:
    append(store)
    embed(store, 1, 1)
    lease = claimed(store)
    store.begin_reindex("e2", 2, NOW)
    with pytest.raises(StaleLease):
        apply(store, fact(), lease=lease)
    state = store.owner_state(ALICE.id)
    assert state is not None
    assert state.embedded_seq == 0
    assert store.due(NOW, 9) == (ALICE,)
    delta = store.delta(ALICE.id, 1, 1, "e2", 2)
    assert delta.reset
    assert len(delta.utterances) == 1
    assert delta.vectors.shape == (0, 2)


# ------------------------------------------------------------------------------------------- what waits for work


def unread(
    store: SqlStore, short: int, *, open_too: bool = False, now: datetime = NOW, quiet_s: float | None = 5.0
) -> Sequence[NotedPage]:
    return store.unread_pages(ALICE.id, short, open_too=open_too, now=now, quiet_s=quiet_s, limit=9)


def pending(store: SqlStore, short: int, limit: int, now: datetime) -> Sequence[NotedPage]:
    return store.pending_pages(ALICE.id, short, now, limit)


def backlog(store: SqlStore, short: int = 2, *, now: datetime = NOW, **more: Any) -> Backlog:
    return store.backlog(ALICE.id, short, now=now, vectors_of="e1", **more)


def pending_since(store: SqlStore, short: int) -> tuple[int, datetime | None, datetime | None]:
    left = backlog(store, short)
    return left.pending, left.pending_since, left.retry_at


def names(pages: Sequence[NotedPage]) -> Sequence[PageId]:
    return [one.view.page.id for one in pages]


def test_pages_are_read_once_embedded_and_no_longer_open_oldest_first(store: SqlStore) -> None:
    first = append(store, message("a"), message("b", Role.ASSISTANT)).page_ids[0]
    open_page = append(store, message("c")).page_ids[0]
    assert unread(store, SHORT) == ()
    embed(store, 1, 2)
    assert names(unread(store, 7)) == [first]
    embed(store, 3, 3)
    assert names(unread(store, 7)) == [first]
    append(store, message("d"), fresh=True)
    assert names(unread(store, 7)) == [first, open_page]
    vector = unread(store, 7)[0].view.vector
    assert vector is not None
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-3)


def test_an_open_page_is_read_once_nothing_has_joined_it_for_the_quiet_time(store: SqlStore) -> None:
    page_id, quiet = append(store, message("a")).page_ids[0], timedelta(seconds=5)
    embed(store, 1, 1)
    assert backlog(store, 7, quiet_s=5.0).quiet_at == NOW + quiet
    assert backlog(store, 7).quiet_at is None
    assert unread(store, 7, now=NOW + quiet - timedelta(microseconds=1)) == ()
    assert unread(store, 7, now=NOW + MINUTE, quiet_s=None) == ()
    assert names(unread(store, 7, now=NOW + quiet)) == [page_id]
    append(store, message("b"), now=NOW + MINUTE)
    embed(store, 2, 2)
    assert backlog(store, 7, quiet_s=5.0).quiet_at == NOW + MINUTE + quiet
    (noted_page,) = unread(store, 7, now=NOW + MINUTE + quiet)
    assert (noted_page.read_seq, len(noted_page.view.page.utterances)) == (0, 2)
    apply(store, *noted(page_id, 2))
    assert backlog(store, 7, quiet_s=5.0).quiet_at is None
    assert unread(store, 7, now=NOW + MINUTE + MINUTE) == ()
    append(store, message("c"), now=NOW + MINUTE)
    assert backlog(store, 1, quiet_s=5.0).quiet_at == NOW + MINUTE + quiet
    append(store, message("d", Role.ASSISTANT), now=NOW + MINUTE)
    embed(store, 3, 4)
    assert backlog(store, 7, quiet_s=5.0).quiet_at is None
    assert [one.read_seq for one in unread(store, 7)] == [2]


def test_a_late_reply_makes_a_page_unread_again(store: SqlStore) -> None:
    page_id = append(store, message("a"), message("b", Role.ASSISTANT)).page_ids[0]
    embed(store, 1, 2)
    apply(store, *noted(page_id, 2))
    assert unread(store, 7) == ()
    append(store, message("c", Role.ASSISTANT))
    embed(store, 3, 3)
    assert names(unread(store, 7)) == [page_id]


def five_pages(store: SqlStore) -> Sequence[PageId]:
    pages = [append(store, message(str(n)), message("r", Role.ASSISTANT)).page_ids[0] for n in range(5)]
    embed(store, 1, 10)
    for n, page_id in enumerate(pages, 1):
        apply(store, *noted(page_id, 2 * n))
    return pages


def test_pages_wait_to_be_placed_in_order_once_they_left_short_term_memory(store: SqlStore) -> None:
    pages = five_pages(store)
    assert names(pending(store, 2, 9, NOW)) == pages[:3]
    assert names(pending(store, 2, 2, NOW)) == pages[:2]
    assert pending_since(store, 2) == (3, NOW, None)
    apply(store, *placed(pages[0]))
    assert names(pending(store, 2, 9, NOW)) == pages[1:3]


def test_a_page_is_pending_since_another_took_its_place_in_short_term_memory(store: SqlStore) -> None:
    five_pages(store)
    append(store, message("later"), now=NOW + MINUTE)
    assert pending_since(store, 5) == (1, NOW + MINUTE, None)


def test_a_page_not_read_or_not_embedded_holds_back_those_behind_it(store: SqlStore) -> None:
    pages = five_pages(store)
    append(store, message("late", Role.TOOL, thread="other"))
    append(store, message("0 again", thread="third"))
    embed(store, 11, 11)
    assert names(pending(store, 2, 9, NOW)) == pages  # page 6 and 7 are short-term
    append(store, message("more", Role.ASSISTANT, thread="third"))
    assert names(pending(store, 0, 9, NOW)) == pages


def test_a_postponed_page_waits_with_its_error_and_those_behind_it_wait_too(store: SqlStore) -> None:
    pages = five_pages(store)
    store.postpone(claimed(store), [pages[1]], "the model said no", NOW + MINUTE)
    assert names(pending(store, 2, 9, NOW)) == pages[:1]
    assert [p.attempts for p in pending(store, 2, 9, NOW + MINUTE)] == [0, 1, 0]
    assert pending_since(store, 2) == (1, NOW, NOW + MINUTE)
    (page,) = store.pages_by_id(ALICE.id, [pages[1]], 2)
    assert page is not None
    assert (page.error, page.tier) == ("the model said no", Tier.PENDING)
    apply(store, *placed(pages[0]), *placed(pages[1]))
    (page,) = store.pages_by_id(ALICE.id, [pages[1]], 2)
    assert page is not None
    assert (page.error, page.tier) == (None, Tier.MID)


def test_a_page_that_was_not_tried_waits_without_an_attempt_counted(store: SqlStore) -> None:
    pages = five_pages(store)
    lease = claimed(store)
    store.postpone(lease, [pages[0]], "the day's calls are spent", NOW + MINUTE, tried=False)
    assert pending(store, 2, 9, NOW) == ()
    assert [p.attempts for p in pending(store, 2, 9, NOW + MINUTE)] == [0, 0, 0]
    assert store.owner_stats(ALICE.id, 2).failed == 1
    assert backlog(store, retry_after=NOW).retry_at == NOW + MINUTE
    assert backlog(store, retry_after=NOW + MINUTE).retry_at is None


def test_pages_that_an_analyst_read_last_are_found_by_segment_and_may_have_to_wait(store: SqlStore) -> None:
    pages = five_pages(store)
    apply(store, *placed(pages[0]), *placed(pages[1]), *placed(pages[2], "s2", 5), *placed(pages[3], "s3", 7))
    apply(store, Evicted(segment_id=SegmentId("s3")))
    assert backlog(store, redo=True).to_redo == {}
    assert backlog(store, redo=True).redo_at is None
    notes = [note for n, page in enumerate(pages[:4]) for note in noted(page, 2 * n + 2) if isinstance(note, Noted)]
    read_by = ("extractive-v1", "extractive-v1+reader-1", "extractive-v1+reader-5", "extractive-v1")
    apply(store, *(replace(note, analyst=name) for note, name in zip(notes, read_by, strict=True)))
    assert backlog(store, redo=True, now=NOW).to_redo == {"s1": 2, "s2": 1}
    first = backlog(store, redo=True).redo_at
    assert first is not None
    assert first < NOW
    lease = claimed(store)
    for tries in (0, 1, 2):
        found = store.pages_to_redo(ALICE.id, SegmentId("s1"), NOW + tries * MINUTE, 9)
        assert [(p.view.page.id, p.attempts) for p in found] == [(pages[0], tries), (pages[1], 0)]
        store.postpone_redo(lease, [pages[0]], "the model said no", NOW + (tries + 1) * MINUTE)
    assert backlog(store, redo=True, now=NOW).to_redo == {"s1": 1, "s2": 1}
    store.postpone_redo(lease, pages[1:3], "", NOW + MINUTE, tried=False)
    assert backlog(store, redo=True).redo_at == NOW + MINUTE
    (page,) = store.pages_by_id(ALICE.id, [pages[0]], 2)
    assert page is not None
    assert page.error == "the model said no"
    again, _ = noted(pages[0], 2)
    assert isinstance(again, Noted)
    apply(store, replace(again, analyst="another"))
    assert backlog(store, redo=True, now=NOW + MINUTE).to_redo == {"s1": 1, "s2": 1}
    assert store.owner_stats(ALICE.id, 2).failed == 0


def test_a_chain_holds_its_pages_in_order_and_one_of_an_unknown_id_is_none(store: SqlStore) -> None:
    pages = five_pages(store)
    (chain,) = store.chains(ALICE.id, ids=[ChainId("c1"), ChainId("c9")])
    assert list(chain.page_ids) == pages
    assert store.chains(BOB.id, ids=[ChainId("c1")]) == ()


def test_visits_are_counted_and_make_the_owner_due(store: SqlStore) -> None:
    pages = five_pages(store)
    apply(store, *placed(pages[0]))
    store.release(claimed(store), due_at=None, error=None)
    before = store.owner_state(ALICE.id)
    assert before is not None
    store.visit(ALICE.id, {ItemId("s1"): 2}, NOW + MINUTE)
    store.visit(ALICE.id, {ItemId("s1"): 1, ItemId("unknown"): 1}, NOW)
    store.visit(BOB.id, {ItemId("s1"): 1}, NOW)
    assert store.owner_state(ALICE.id) == replace(before, due_at=NOW), "neither log moves"
    (state,) = store.segment_states(ALICE.id)
    assert (state.visits, state.last_access, state.unanalysed) == (3, NOW + MINUTE, 1)
    assert store.due(NOW + MINUTE, 9) == (ALICE,)


# ------------------------------------------------------------------------------------------------------- reading


class Reader:
    """Holds what the deltas told it."""

    def __init__(self) -> None:
        self.seq = self.revision = 0
        self.said: dict[int, str] = {}
        self.vectors: dict[int, tuple[float, ...]] = {}
        self.tokens: dict[int, bytes] = {}
        self.pages: dict[PageId, tuple[int, SegmentId | None]] = {}
        self.segments: dict[SegmentId, tuple[str, int, bool]] = {}
        self.facts: tuple[FactId, ...] = ()

    def read(self, delta: Delta) -> Reader:
        if delta.reset:
            self.__init__()  # type: ignore[misc]
        self.seq, self.revision = delta.seq, delta.revision
        self.said |= {u.seq: u.text for u in delta.utterances}
        self.vectors |= {
            int(s): tuple(map(float, v)) for s, v in zip(delta.vector_seqs, np.asarray(delta.vectors), strict=True)
        }
        tokens = delta.tokens or (b"",) * len(delta.vector_seqs)
        self.tokens |= {int(seq): of for seq, of in zip(delta.vector_seqs, tokens, strict=True)}
        self.pages |= {mark.page_id: (mark.no, mark.segment_id) for mark in delta.pages}
        self.segments |= {s.id: (s.summary, len(s.keywords), s.archived) for s in delta.segments}
        if delta.persona is not None:
            self.facts = tuple(f.id for f in delta.persona.facts)
        return self

    @property
    def all(self) -> tuple[object, ...]:
        held = (self.said, self.vectors, self.tokens, self.pages, self.segments, self.facts)
        return (self.seq, self.revision, *held)


def test_sources_are_those_of_the_version_that_stands(store: SqlStore) -> None:
    append(store, message("I am Al"), message("I am Ali"), message("Call me Alice"))

    def named(value: str, *seqs: int) -> ProfileSet:
        sources = tuple(Source(seq=seq, utterance_id=UtteranceId("u")) for seq in seqs)
        return ProfileSet(whose=About.USER, name="name", value=value, sources=sources, set_by="test")

    apply(store, named("Al", 1))
    apply(store, named("Ali", 2, 3))
    assert [source.seq for source in store.persona(ALICE.id).profile[0].sources] == [2, 3]
    apply(store, named("Alice"))
    assert store.persona(ALICE.id).profile[0].sources == ()


def test_facts_are_found_by_what_they_rest_on_whether_held_or_not(store: SqlStore) -> None:
    append(store, message("a"), message("b"), message("c"))
    apply(store, fact("f1", 1), fact("f2", 2), fact("f3", 3))
    apply(store, FactArchived(fact_id=FactId("f1")))
    apply(store, FactRetired(fact_id=FactId("f2"), superseded_by=None, valid_to=None))
    assert {found.id for found in store.facts(ALICE.id, FactSelection(resting_on=frozenset([1, 2])))} == {"f1", "f2"}
    assert (
        store.facts(ALICE.id, FactSelection(resting_on=frozenset([4])))
        == store.facts(BOB.id, FactSelection(resting_on=frozenset([1])))
        == ()
    )


def several_facts(store: SqlStore) -> None:
    """f1-000 rests on what was said, f2-000 on a document, f3-000 and f3-001 on nothing; f3-001 is pinned and ends."""
    append(store, message("I drink tea"), message("a passage"))
    passages = schema.utterance.update().where(schema.utterance.c.seq == 2).values(passage='{"place": 1}')
    with store._write() as c:
        c.execute(passages)
    later = replace(fact("f3-001"), subject="Ana", attribute="lives_in", sources=(), expires_at=NOW + MINUTE)
    apply(store, fact("f1-000", 1))
    apply(
        store, replace(fact("f2-000", 2), subject="Ana", valid_from=NOW + timedelta(days=9), text="likes Crème brûlée")
    )
    apply(
        store,
        replace(fact("f3-000"), sources=(), valid_from=None),
        later,
        FactPinned(fact_id=later.fact_id, pinned=True),
    )


def test_ids_of_facts_are_found_by_every_condition_newest_first(store: SqlStore) -> None:
    several_facts(store)
    day = timedelta(days=1)

    def found(**conditions: Any) -> list[str]:
        return [one[1:] for one in store.fact_ids(ALICE.id, FactSelection(**conditions))]

    assert found() == ["3-001", "3-000", "2-000", "1-000"]
    assert found(subjects=frozenset({"Ana"})) == ["3-001", "2-000"]
    assert found(attributes=frozenset({"lives_in"})) == ["3-001"]
    assert found(pinned=True) == found(expiring=True) == ["3-001"]
    assert found(pinned=False) == found(expiring=False) == ["3-000", "2-000", "1-000"]
    assert found(origin=Origin.CALLER) == ["3-001", "3-000"]
    assert found(origin=Origin.CONVERSATION) == ["1-000"]
    assert found(origin=Origin.DOCUMENT) == ["2-000"]
    assert found(true=(None, NOW)) == ["3-000"]
    assert found(true=(None, NOW + day)) == ["3-001", "3-000", "1-000"]
    assert found(true=(NOW + day, None)) == ["3-000", "2-000", "1-000"]
    assert found(recorded=(NOW, NOW + day)) == found()
    assert found(recorded=(NOW + day, None)) == found(recorded=(None, NOW)) == []
    assert found(ids=frozenset({FactId("f2-000"), FactId("f9-000")})) == ["2-000"]
    assert found(ids=frozenset()) == []
    apply(store, FactRetired(fact_id=FactId("f1-000"), superseded_by=None, valid_to=NOW))
    assert found(states=ENDED.states) == ["1-000"]
    assert found(true=(None, NOW + day)) == ["3-001", "3-000"], "what ended as it began was never true"


def test_ids_of_facts_are_found_by_what_a_caller_makes_of_subject_and_text(store: SqlStore) -> None:
    several_facts(store)
    told = []

    def matches(subject: str, text: str) -> bool:
        told.append((subject, text))
        return "brûlée" in text

    assert store.fact_ids(ALICE.id, FactSelection(), matches) == ("f2-000",)
    assert ("Ana", "likes Crème brûlée") in told
    assert store.fact_ids(BOB.id, FactSelection()) == ()


def test_of_one_change_with_very_many_facts_the_last_is_the_newest(store: SqlStore) -> None:
    append(store)
    apply(store, *(fact(f"f1-{number:03}") for number in (2, 999, 1000)))
    assert store.fact_ids(ALICE.id, FactSelection()) == ("f1-1000", "f1-999", "f1-002")


def test_whom_held_facts_speak_of_is_counted_in_their_order(store: SqlStore) -> None:
    several_facts(store)
    assert list(store.subjects(ALICE.id).items()) == [("user", 2), ("Ana", 2)]
    apply(store, FactArchived(fact_id=FactId("f1-000")))
    assert list(store.subjects(ALICE.id).items()) == [("Ana", 2), ("user", 1)]
    assert store.subjects(BOB.id) == {}


def test_a_persona_may_hold_only_some_facts(store: SqlStore) -> None:
    several_facts(store)
    some = replace(HELD, attributes=frozenset({"lives_in"}))
    assert [one.id for one in store.persona(ALICE.id, selection=some).facts] == ["f3-001"]


steps = st.lists(
    st.sampled_from(["add", "reply", "embed", "note", "place", "fact", "evict", "read", "reindex"]), max_size=24
)


@settings(max_examples=bounded(6, proofs=150))
@given(steps)
def test_reading_what_is_newer_equals_reading_all(plan: list[str]) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.closing(SqlStore(Sqlite(Path(folder) / "m.db", 5.0))) as store,
    ):
        store.remember({"embedder": "e1", "dim": "2"})
        reader = Reader()
        for n, step in enumerate([*plan, "read"]):
            state = store.owner_state(ALICE.id)
            seq, embedded = (0, 0) if state is None else (state.seq, state.embedded_seq)
            pages = store.pages(ALICE.id, 0)
            if step == "add":
                append(store, message(f"said {n}"), fresh=True)
            elif step == "reply" and pages:
                append(store, message(f"reply {n}", Role.ASSISTANT))
            elif step == "embed" and embedded < seq:
                embed(
                    store, embedded + 1, seq, tokens=[b"%d" % m * (m % 3) for m in range(embedded, seq)][: n % 2 * seq]
                )
            elif step == "note" and pages:
                apply(store, *noted(pages[n % len(pages)].id, pages[n % len(pages)].last_seq))
            elif step == "place" and (free := [p for p in pages if p.segment_id is None]):
                apply(store, *placed(free[0].id, f"s{n % 3}", free[0].last_seq))
            elif step == "fact" and seq:
                apply(store, fact(f"f{n}"))
            elif step == "evict" and (live := store.segments(ALICE.id, archived=False)):
                apply(store, Evicted(segment_id=live[0].id))
            elif step == "reindex":
                store.begin_reindex("e1", 2, NOW)
            elif step == "read":
                reader.read(store.delta(ALICE.id, reader.seq, reader.revision, "e1", 2))
                assert reader.all == Reader().read(store.delta(ALICE.id, 0, 0, "e1", 2)).all


def test_a_reader_of_another_copy_of_the_database_reads_all_again(store: SqlStore) -> None:
    append(store)
    embed(store, 1, 1)
    held = store.delta(ALICE.id, 0, 0, "e1", 2)
    assert store.delta(ALICE.id, 1, 1, "e1", 2, held.mark).utterances == ()
    for seq, revision, mark in ((1, 1, "of another copy"), (2, 1, held.mark), (1, 2, held.mark)):
        delta = store.delta(ALICE.id, seq, revision, "e1", 2, mark)
        assert delta.reset
        assert (delta.utterances, delta.mark) == (held.utterances, held.mark)


def test_a_reader_who_is_up_to_date_is_told_nothing(store: SqlStore) -> None:
    append(store)
    embed(store, 1, 1)
    delta = store.delta(ALICE.id, 1, 1, "e1", 2)
    assert (delta.utterances, delta.pages, delta.segments, delta.persona, delta.reset) == ((), (), (), None, False)
    apply(store, ProfileSet(whose=About.USER, name="name", value="Al", sources=(), set_by="caller"), owner=BOB)
    assert store.delta(ALICE.id, 1, 1, "e1", 2).persona is None


def test_vectors_come_back_as_they_were_rounded(store: SqlStore) -> None:
    append(store)
    made = rounded(np.array([[0.6, -0.8]], dtype=np.float32))
    batch = VectorBatch(embedder="e1", seqs=[1], vectors=made)
    apply(store, Embedded(first_seq=1, last_seq=1, embedder="e1"), vectors=batch)
    delta = store.delta(ALICE.id, 0, 0, "e1", 2)
    np.testing.assert_array_equal(np.asarray(delta.vectors), made)
    assert store.delta(ALICE.id, 0, 0, "e2", 2).vectors.shape == (0, 2)


def tokens_of(store: SqlStore, embedder: str = "e1") -> dict[int, bytes]:
    """Each utterance's packed token vectors, of those that have any."""
    tokens = Reader().read(store.delta(ALICE.id, 0, 0, embedder, 2)).tokens
    return {seq: of for seq, of in tokens.items() if of}


def test_token_vectors_come_back_byte_for_byte_beside_their_vectors(store: SqlStore) -> None:
    append(store, message("a"), message("b"), message("c"))
    packed = [bytes(range(256)) * 8, b"", b"\x00\x00"]
    embed(store, 1, 3, tokens=packed)
    delta = store.delta(ALICE.id, 0, 0, "e1", 2)
    assert (list(delta.vector_seqs), list(delta.tokens)) == ([1, 2, 3], packed)
    assert store.delta(ALICE.id, 3, 1, "e1", 2).tokens == ()
    append(store, message("x"), owner=BOB)
    embed(store, 1, 1, owner=BOB, tokens=[b"bob's"])
    assert store.delta(ALICE.id, 0, 0, "e1", 2).tokens == delta.tokens


def test_the_vectors_of_a_long_text_s_passages_come_back_in_order_with_their_tokens(store: SqlStore) -> None:
    append(store, message("a"), message("b"))
    made = np.array([[1, 0], [0.5, 0.5], [0, 1], [0.25, 0.75]], dtype=np.float32)
    packed = [b"\x01\x02", b"", b"\x03", b"\x04\x05"]
    batch = VectorBatch(embedder="e1", seqs=[1, 1, 1, 2], vectors=made, tokens=packed)
    apply(store, Embedded(first_seq=1, last_seq=2, embedder="e1"), vectors=batch)
    delta = store.delta(ALICE.id, 0, 0, "e1", 2)
    assert (delta.vector_seqs.tolist(), np.asarray(delta.vectors).tolist()) == ([1, 1, 1, 2], made.tolist())
    assert list(delta.tokens) == packed


def test_where_no_vector_has_tokens_a_reader_is_given_none(store: SqlStore) -> None:
    append(store, message("a"), message("b"))
    embed(store, 1, 1)
    embed(store, 2, 2, tokens=[b""])
    delta = store.delta(ALICE.id, 0, 0, "e1", 2)
    assert (list(delta.vector_seqs), delta.tokens) == ([1, 2], ())


def test_vectors_with_tokens_stand_beside_vectors_without_in_the_order_said(store: SqlStore) -> None:
    append(store, *(message(str(n)) for n in range(5)))
    embed(store, 4, 5, tokens=[b"four", b"five"])
    embed(store, 1, 2)
    embed(store, 3, 3, tokens=[b"three"])
    delta = store.delta(ALICE.id, 0, 0, "e1", 2)
    assert list(delta.vector_seqs) == [1, 2, 3, 4, 5]
    assert delta.tokens == (b"", b"", b"three", b"four", b"five")
    assert list(np.asarray(delta.vectors)[:, 1]) == [1, 2, 3, 4, 5]


def test_a_batch_whose_tokens_are_too_few_is_refused_whole(store: SqlStore) -> None:
    append(store, message("a"), message("b"))
    with pytest.raises(ValueError, match="shorter"):
        embed(store, 1, 2, tokens=[b"a"])
    assert store.changes(ALICE.id) == ()
    assert len(store.delta(ALICE.id, 0, 0, "e1", 2).vector_seqs) == 0


def test_a_reindex_replaces_vectors_and_their_tokens(store: SqlStore) -> None:
    append(store, message("a"), message("b"))
    embed(store, 1, 2, tokens=[b"a1", b"b1"])
    store.begin_reindex("e2", 2, NOW)
    assert tokens_of(store, "e2") == {}
    embed(store, 1, 1, embedder="e2", tokens=[b"a2"])
    embed(store, 2, 2, embedder="e2")
    assert tokens_of(store, "e2") == {1: b"a2"}
    assert tokens_of(store, "e1") == {}


def test_a_rebuild_keeps_vectors_and_their_tokens(store: SqlStore) -> None:
    append(store, message("a"), message("b"))
    embed(store, 1, 2, tokens=[b"a1", b""])
    before = store.delta(ALICE.id, 0, 0, "e1", 2)
    store.replay(ALICE.id)
    after = store.delta(ALICE.id, 0, 0, "e1", 2)
    assert after.tokens == before.tokens == (b"a1", b"")
    assert np.array_equal(after.vectors, before.vectors)


def trait(level: float) -> TraitSet:
    source = Source(seq=1, utterance_id=UtteranceId("u"))
    return TraitSet(dimension=TRAIT, level=level, confidence=0.5, sources=(source,))


def test_a_fact_that_was_retired_or_archived_holds_again_when_restored(store: SqlStore) -> None:
    append(store)
    apply(store, fact("f1"), fact("f2"))
    before = store.persona(ALICE.id).facts
    apply(store, FactRetired(fact_id=FactId("f1"), superseded_by=FactId("f2"), valid_to=NOW))
    apply(store, FactArchived(fact_id=FactId("f2")))
    assert store.persona(ALICE.id).facts == ()
    apply(store, Undone(no=2), FactRestored(fact_id=FactId("f1")), FactRestored(fact_id=FactId("f2")))
    assert store.persona(ALICE.id).facts == before
    assert store.facts(ALICE.id, ENDED) == ()
    apply(store, FactRestored(fact_id=FactId("f1")), FactArchived(fact_id=FactId("f1")))
    assert [f.id for f in store.facts(ALICE.id, ARCHIVED)] == ["f1"]


def test_a_trait_that_is_cleared_is_unknown_and_can_be_set_again(store: SqlStore) -> None:
    append(store)
    apply(store, trait(0.5))
    apply(store, TraitCleared(dimension=TRAIT))
    assert store.persona(ALICE.id).traits == ()
    apply(store, trait(-0.5))
    assert [t.level for t in store.persona(ALICE.id).traits] == [-0.5]


def test_memory_begun_anew_holds_what_was_said_and_its_vectors_and_nothing_that_was_derived(store: SqlStore) -> None:
    pages = five_pages(store)
    apply(store, *placed(pages[0]), fact(), trait(0.5))
    reader = Reader().read(store.delta(ALICE.id, 0, 0, "e1", 2))
    line = ProfileSet(whose=About.USER, name="name", value="Alice", sources=(), set_by="caller")
    store.release(claimed(store), due_at=None, error=None)
    no = apply(store, BegunAnew(), line)
    stats = store.owner_stats(ALICE.id, 2)
    assert (stats.utterances, stats.pages, stats.pending, stats.segments, stats.chains) == (10, 5, 3, 0, 0)
    assert (stats.facts, stats.traits, stats.without_vector, stats.changes) == (0, 0, 0, no)
    assert [p.value for p in store.persona(ALICE.id).profile] == ["Alice"]
    assert store.due(NOW, 9) == (ALICE,)
    assert len(unread(store, 2, open_too=True)) == 5
    delta = store.delta(ALICE.id, reader.seq, reader.revision, "e1", 2)
    assert (delta.reset, len(delta.vector_seqs), delta.segments, delta.pages) == (True, 10, (), ())
    before = store.persona(ALICE.id)
    store.replay(ALICE.id)
    assert store.persona(ALICE.id) == before
    assert store.owner_stats(ALICE.id, 2) == stats


# -------------------------------------------------------------------------------------------------- as a whole


def test_a_closed_store_says_that_it_is_closed(store: SqlStore) -> None:
    store.close()
    store.close()
    for use in (lambda: append(store), lambda: store.owners(), lambda: store.setting("embedder")):
        with pytest.raises(StoreClosed, match="closed"):
            use()


def test_a_sound_store_is_found_sound(store: SqlStore) -> None:
    append(store)
    assert {finding.level for finding in store.check()} == {"ok"}
    store.release(claimed(store), due_at=None, error="EmbedderError: down")
    assert {finding.level for finding in store.check()} == {"ok", "warning"}


def test_counts_agree_with_what_is_there(store: SqlStore) -> None:
    pages = five_pages(store)
    append(store, owner=BOB)
    apply(store, *placed(pages[0]), *placed(pages[1], "s2", 3), fact(), Evicted(segment_id=SegmentId("s2")))
    mine = store.owner_stats(ALICE.id, 2)
    assert (mine.utterances, mine.pages, mine.short, mine.pending, mine.mid, mine.archive) == (10, 5, 2, 1, 1, 1)
    assert (mine.segments, mine.archived_segments, mine.chains, mine.facts) == (1, 1, 1, 1)
    whole = store.stats(NOW, 2)
    assert (whole.owners, whole.utterances, whole.pages, whole.pending, whole.without_vector) == (2, 11, 6, 1, 1)
    assert replace(whole, path="", bytes=0).embedder == "e1"


# --------------------------------------------------------------------------------------------------------- forgetting


def erasure(*pages: Any, **more: Any) -> Erasure:
    """Of pages as (id, last seq)."""
    erased = Erased(pages=tuple(page_id for page_id, _ in pages), facts=(), utterances=len(pages))
    told: dict[str, Any] = {
        "revision": 0,
        "before": (),
        "after": (),
        "begun": 0,
        "decisions": (erased,),
        "segments": (),
    }
    return Erasure(pages=dict(pages), **{**told, **more})


def test_forgetting_purges_the_first_log_redacts_the_second_and_derives_again(store: SqlStore, engine: str) -> None:
    first, second = (append(store, message(text), fresh=True, key=text, digest="d").page_ids[0] for text in "ab")
    made = ProfileSet(whose=About.USER, name="town", value="Lyon", sources=(), set_by="caller")
    apply(store, made)
    before = store.changes(ALICE.id)
    after = tuple(replace(one, decisions=()) for one in before)
    change = store.forget(ALICE, erasure((first, 1), revision=1, before=before, after=after), now=NOW)
    assert (change.no, change.cause) == (2, Cause.FORGETTING)
    assert [page.id for page in store.pages(ALICE.id, SHORT)] == [second]
    assert [one.decisions for one in store.changes(ALICE.id)] == [(), change.decisions]
    assert store.changes(ALICE.id, causes=(Cause.FORGETTING,)) == (change,)
    assert store.persona(ALICE.id).profile == ()
    assert append(store, message("a"), key="a", digest="d") == Added(page_ids=(), utterance_ids=())
    with pytest.raises(KeyReused):
        append(store, message("a"), key="a", digest="other")
    assert append(store, message("c")).page_ids != ()
    state = store.owner_state(ALICE.id)
    assert state is not None
    assert (state.seq, state.revision) == (3, 2)
    assert store.scrub() is (engine != "citus")  # whose nodes do not say what VACUUM left
    assert [one for one in store.check() if one.level != "ok"] == []


def test_forgetting_is_refused_where_a_change_or_a_message_came_first(store: SqlStore) -> None:
    page = append(store).page_ids[0]
    for wrong in (erasure((page, 9)), erasure((PageId("p0"), 1))):
        with pytest.raises(RevisionMoved):
            store.forget(ALICE, wrong, now=NOW)
    apply(store)
    with pytest.raises(RevisionMoved):
        store.forget(ALICE, erasure((page, 1)), now=NOW)
    assert store.pages_by_id(ALICE.id, [page], SHORT)


def test_an_owner_forgotten_whole_is_no_more_and_one_of_that_name_is_another(store: SqlStore) -> None:
    append(store)
    append(store, owner=BOB)
    before, state = store.delta(ALICE.id, 0, 0, "e1", 2), store.owner_state(ALICE.id)
    store.forget_owner(ALICE.id, NOW)
    store.forget_owner(ALICE.id, NOW)
    assert store.owners() == (BOB,)
    gone = store.delta(ALICE.id, before.seq, before.revision, "e1", 2)
    assert (gone.reset, gone.seq, gone.utterances) == (True, 0, ())
    assert append(store).utterance_ids == ()  # the same message does not come back by a retry
    assert store.readmit(ALICE.id) == 1
    append(store)
    after = store.delta(ALICE.id, before.seq, before.revision, "e1", 2)
    assert (after.seq, after.revision) == (before.seq, before.revision)
    assert after.born > before.born
    assert state is not None
    with pytest.raises(RevisionMoved):  # what was decided of the other is not written, though the number is the same
        store.forget(ALICE, erasure(born=state.created_at), now=NOW)


def test_the_key_lies_outside_the_file_and_is_the_same_for_all(store: SqlStore) -> None:
    keys = {store.secret() for _ in range(3)}
    assert len(keys) == 1
    assert len(keys.pop()) >= 32


def test_facts_and_utterances_are_found_by_id_by_their_owner_alone(store: SqlStore) -> None:
    said = append(store).utterance_ids[0]
    (found,) = store.utterances_by_id(ALICE.id, [said])
    assert (found.id, found.text) == (said, "Hello")
    assert store.utterances_by_id(BOB.id, [said]) == ()
    assert store.facts(ALICE.id, FactSelection(ids=frozenset({FactId("f1")}))) == ()
