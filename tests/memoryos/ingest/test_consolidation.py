"""Understanding behind the path of add: failures, leases, waiting, promotion and eviction."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_of import ALICE, LINES, Maker
from embermem import Memory, OwnerMemory, Tier
from embermem.core import ids
from embermem.core.changes import Cause, Change
from embermem.core.config import load
from embermem.core.errors import AnalystError, BudgetSpent, EmbedderError, StaleLease, StoreBusy
from embermem.core.types import Annotation, Owner
from embermem.embedders.hashed import HashedNgrams
from embermem.memoryos.ingest.claim import pause
from embermem.memoryos.ingest.pipeline import consolidate
from embermem.store.sql import SqlStore
from embermem_bench.systems import MemorySystem
from proofs import bounded
from scripted import SMALL, Clock, Opener, Place, ScriptedAnalyst
from soundness import assert_sound, assert_tiers, rows

# ---------------------------------------------------------------------------------------------- a failing analyst


def test_pages_stay_pending_with_the_error_and_are_tried_after_growing_pauses(bench: Maker, clock: Clock) -> None:
    analyst = ScriptedAnalyst(failures=3)
    one = bench(analyst, attempts=9, retry_base_s=30, retry_max_s=100)
    one.add(*LINES)
    for tried, wait in enumerate((30, 60, 100), 1):
        assert one.system.settle(ALICE) == 0
        waiting = one.pages(Tier.PENDING)
        assert [page.error for page in waiting] == ["Error: the model is overloaded"] * 2
        assert len(analyst.asked) == tried
        state = one.store.owner_state(ALICE.id)
        assert state is not None
        assert state.due_at is not None
        assert (state.due_at - clock.now).total_seconds() == wait
        clock.go(wait - 1)
        assert one.system.settle(ALICE) == 0
        assert len(analyst.asked) == tried
        clock.go(1)
    assert one.system.settle(ALICE) == 2
    assert [page.error for page in one.pages()] == [None] * 5
    assert one.analysts(Cause.CONSOLIDATION) == ["scripted-v1"]


def test_pauses_double_up_to_the_longest() -> None:
    settings = load(retry_base_s=30, retry_max_s=100)
    assert [pause(settings, n).total_seconds() for n in (0, 1, 2, 3, 10_000)] == [30, 60, 100, 100, 100]


def test_after_the_configured_attempts_extraction_takes_over_and_no_error_text_enters_memory(
    bench: Maker, clock: Clock
) -> None:
    analyst = ScriptedAnalyst(failures=10**6)
    one = bench(analyst, attempts=3, retry_base_s=30)
    one.add(*LINES)
    placed = 0
    for _ in range(3):
        placed += one.system.settle(ALICE)
        clock.go(100)
    assert placed == 2
    assert len(analyst.asked) == 3
    assert {page.tier for page in one.pages()} == {Tier.SHORT, Tier.MID}
    assert one.analysts(Cause.CONSOLIDATION) == ["extractive-v1"]
    assert {note.analyst for note in one.notes()} == {"extractive-v1"}
    assert [page.error for page in one.pages()] == [None] * 5

    bench = partial(bench, file="2.db")
    one = bench(ScriptedAnalyst(failures=10**6), attempts=2, min_new=1, tau=0.0)
    one.add(*LINES, *LINES)
    for _ in range(8):
        one.system.settle(ALICE)
        clock.go(10_000)
    assert not one.pages(Tier.PENDING)
    for table in ("segment", "change", "utterance"):
        assert not [row for row in rows(one.place, f"SELECT * FROM {table}") if "overloaded" in str(row)]
    assert "overloaded" not in one.system.recall(ALICE, "What went wrong?").text


def test_a_failing_analyst_keeps_no_page_from_being_recalled_and_the_check_tells_why_pages_wait(bench: Maker) -> None:
    one = bench(ScriptedAnalyst(failures=10**6))
    one.add(*LINES)
    one.system.settle(ALICE)
    assert one.system.search(ALICE, "heron", 1)[0].utterance.text == "We saw a heron."

    bench = partial(bench, file="2.db")
    one = bench(ScriptedAnalyst(failures=10**6))
    one.add(*LINES)
    one.system.settle(ALICE)
    assert one.store.owner_stats(ALICE.id, 3).failed == 2
    (warned,) = [finding for finding in one.store.check() if finding.level == "warning"]
    assert warned.what == "2 pages wait for a retry: Error: the model is overloaded"


def test_what_an_analyst_answers_for_other_pages_or_without_a_source_is_not_kept_nor_are_its_defects(
    bench: Maker, clock: Clock
) -> None:
    class Muddled(ScriptedAnalyst):
        def annotate(self, *asked: Any) -> tuple[Annotation, ...]:
            return super().annotate(*asked)[::-1]

    class Short(ScriptedAnalyst):
        def annotate(self, *asked: Any) -> tuple[Annotation, ...]:
            return super().annotate(*asked)[1:]

    for analyst in (Muddled(), Short()):
        one = bench(analyst, short_term_pages=1)
        one.add(*LINES)
        one.system.settle(ALICE)
        assert "answered for pages that were not in the request" in str(one.pages(Tier.PENDING)[0].error)

    bench = partial(bench, file="2.db")

    class Inventor(ScriptedAnalyst):
        def annotate(self, *asked: Any) -> tuple[Annotation, ...]:
            return tuple(
                replace(one, facts=tuple(replace(f, value="Paris", sources=()) for f in one.facts))
                for one in super().annotate(*asked)
            )

    one = bench(Inventor())
    one.add(*LINES)
    one.system.settle(ALICE)
    assert "Paris" not in {fact.value for fact in one.store.facts(ALICE.id)}

    bench = partial(bench, file="3.db")

    class Defective(ScriptedAnalyst):
        def annotate(self, *asked: Any) -> tuple[Annotation, ...]:
            raise KeyError("My password is swordfish")

    one = bench(Defective(), attempts=2)
    one.add(*LINES)
    one.system.settle(ALICE)
    assert [p.error for p in one.pages(Tier.PENDING)] == ["scripted-v1 failed with a KeyError; the log says where"] * 2
    clock.go(3600)
    assert one.system.settle(ALICE) == 2
    for table in ("page", "owner", "segment", "change"):
        assert "swordfish" not in str(rows(one.place, f"SELECT * FROM {table}"))

    bench = partial(bench, file="4.db")
    one = bench(ScriptedAnalyst())
    one.add(*LINES)
    one.system.settle(ALICE)
    assert all(part.text.startswith("scripted: ") for s in one.store.segment_states(ALICE.id) for part in s.parts)


def test_a_failing_promotion_leaves_the_pages_unanalysed_and_is_tried_again(bench: Maker, clock: Clock) -> None:
    class Forgetful(ScriptedAnalyst):
        def profile(self, request: Any) -> Any:
            if self.failures:
                return super().profile(request)
            self.failures = 1
            raise AnalystError("Error: no answer")

    analyst = Forgetful()
    one = bench(analyst, min_new=1, tau=0.0, placed_by="page", theta=-1.0, batch_pages=2)
    one.add(*LINES)
    one.system.settle(ALICE)
    (segment,) = one.store.segment_states(ALICE.id)
    assert segment.unanalysed == 2
    assert {page.tier for page in one.pages()} == {Tier.SHORT, Tier.MID}
    analyst.failures = 0
    clock.go(3600)
    later = bench(ScriptedAnalyst(), min_new=1, tau=0.0, placed_by="page", theta=-1.0)
    later.system.settle(ALICE)
    assert [s.unanalysed for s in later.store.segment_states(ALICE.id)] == [0]
    assert [page.error for page in later.pages()] == [None] * 5


# ------------------------------------------------------------------------------------- a model that must be waited for


class Spending(ScriptedAnalyst):
    """A model whose day is spent, for one kind of question, until a time."""

    def __init__(self, until: datetime, *, annotate: bool = True, profile: bool = True) -> None:
        super().__init__()
        self.until = until
        self.spent = {"annotate": annotate, "profile": profile}
        self.refused = 0

    def annotate(self, *asked: Any) -> tuple[Annotation, ...]:
        self._budget("annotate")
        return super().annotate(*asked)

    def profile(self, request: Any) -> Any:
        self._budget("profile")
        return super().profile(request)

    def _budget(self, kind: str) -> None:
        if self.spent[kind]:
            self.refused += 1
            raise BudgetSpent("the day's calls are spent", self.until)


def test_with_the_budget_spent_pages_wait_until_it_is_there_again_and_no_try_is_counted(
    bench: Maker, clock: Clock
) -> None:
    analyst = Spending(clock.now + timedelta(hours=5))
    one = bench(analyst, attempts=2)
    one.add(*LINES)
    for _ in range(4):
        assert one.system.settle(ALICE) == 0
        clock.go(60)
    assert analyst.refused == 1
    assert one.analysts(Cause.CONSOLIDATION) == []
    assert [page.error for page in one.pages(Tier.PENDING)] == ["the day's calls are spent"] * 2
    assert {row["attempts"] for row in rows(one.place, "SELECT attempts FROM page")} == {0}
    state = one.store.owner_state(ALICE.id)
    assert state is not None
    assert (state.due_at, state.error) == (analyst.until, None)
    clock.now = analyst.until
    analyst.spent["annotate"] = False
    assert one.system.work() == 2
    assert one.analysts(Cause.CONSOLIDATION) == ["scripted-v1"]
    assert one.store.owner_stats(ALICE.id, 3).failed == 0


def test_meanwhile_what_comes_in_is_embedded_read_by_extraction_and_recalled(bench: Maker, clock: Clock) -> None:
    one = bench(Spending(clock.now + timedelta(hours=5)))
    one.add(*LINES)
    one.system.settle(ALICE)
    one.add("My sister Ana is a nurse.", *LINES)
    one.system.settle(ALICE)
    assert one.store.owner_stats(ALICE.id, 3).without_vector == 0
    assert "nurse" in one.system.recall(ALICE, "What does Ana do?").text
    assert "Ana" in str([f.subject for f in one.store.facts(ALICE.id)])
    assert {note.analyst for note in one.notes()} == {"extractive-v1"}


def test_a_wait_at_a_promotion_holds_back_no_placing_and_asks_once_a_claim(bench: Maker, clock: Clock) -> None:
    analyst = Spending(clock.now + timedelta(hours=5), annotate=False)
    one = bench(analyst, min_new=1, tau=0.0, placed_by="page", theta=2.0, mid_term_segments=2, promote_every=100)
    one.add(*LINES, *LINES)
    assert one.system.settle(ALICE) > 0
    refused = analyst.refused
    assert refused == 1
    for _ in range(4):
        one.system.settle(ALICE)
        one.system.work()
    assert analyst.refused <= refused + 4  # a claim each, not a segment each
    clock.go(6 * 3600)
    analyst.spent["profile"] = False
    for _ in range(4):
        one.system.settle(ALICE)
    assert len(one.store.segment_states(ALICE.id)) == 2
    assert not one.pages(Tier.PENDING)
    state = one.store.owner_state(ALICE.id)
    assert state is not None
    assert state.due_at is None or state.due_at > clock.now


def test_while_the_model_waits_mid_term_memory_grows_and_then_has_its_size_again(bench: Maker, clock: Clock) -> None:
    analyst = Spending(clock.now + timedelta(hours=5), annotate=False)
    one = bench(analyst, placed_by="page", theta=2.0, mid_term_segments=2)
    analyst.spent["profile"] = True
    one.add(*LINES, *LINES)
    for _ in range(3):
        one.system.settle(ALICE)
    grown = len(one.store.segment_states(ALICE.id))
    assert grown > 2
    assert one.pages(Tier.ARCHIVE) == ()
    clock.now = analyst.until
    analyst.spent["profile"] = False
    one.system.settle(ALICE)
    one.system.settle(ALICE)
    assert len(one.store.segment_states(ALICE.id)) == 2


def test_a_large_segment_is_shown_to_a_model_in_parts(bench: Maker) -> None:
    sizes: list[int] = []

    class Counting(ScriptedAnalyst):
        def profile(self, request: Any) -> Any:
            sizes.append(len(request.pages))
            return super().profile(request)

    one = bench(Counting(), placed_by="page", theta=-1.0, tau=0.0, min_new=34)
    pages = bounded(37, proofs=83)
    one.add(*(LINES[n % 5] for n in range(pages)))
    one.system.settle(ALICE)
    (segment,) = one.store.segment_states(ALICE.id)
    assert sum(sizes) == pages - 3 - segment.unanalysed
    assert len(sizes) > 1
    assert max(sizes) <= 32


def test_a_broken_embedder_is_an_error_to_who_settles_and_the_work_is_tried_later(bench: Maker, clock: Clock) -> None:
    class Broken(HashedNgrams):
        broken = True

        def embed(self, texts: Sequence[str]) -> Any:
            if self.broken:
                raise EmbedderError("the endpoint is down")
            return super().embed(texts)

    embedder = Broken()
    one = bench(None, embedder)
    one.add(*LINES)
    with pytest.raises(EmbedderError):
        one.system.settle(ALICE)
    assert one.system.work() == 0
    state = one.store.owner_state(ALICE.id)
    assert state is not None
    assert state.error is not None
    assert "the endpoint is down" in state.error
    context = one.system.recall(ALICE, "heron")
    assert context.partial
    assert "heron" in context.text
    embedder.broken = False
    clock.go(3600)
    assert one.system.work() == 2


# ------------------------------------------------------------------------------------------------------- leases


def test_the_result_of_a_stale_lease_is_refused_and_the_other_does_the_work_once(bench: Maker, clock: Clock) -> None:
    other = bench()

    def overtaken() -> None:
        clock.go(100)  # the lease of 60 s runs out while the model thinks
        assert other.system.settle(ALICE) == 2

    slow = ScriptedAnalyst(during=overtaken)
    one = bench(slow)
    one.add(*LINES)
    lease = one.store.claim(ALICE.id, "slow", clock(), 60)
    assert lease is not None
    with pytest.raises(StaleLease):
        consolidate(one.parts, ALICE, lease, whole=True)
    assert one.analysts(Cause.CONSOLIDATION) == ["extractive-v1"]
    assert len(one.pages(Tier.MID)) == 2


def test_who_changes_the_owner_all_the_time_is_held_off_while_a_step_is_taken_and_nothing_is_embedded_twice(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, other = opened().of("alice"), opened().of("alice")
    for line in LINES:
        alice.add(line, "I see.")
    rivals: list[threading.Thread] = []
    apply, embed, told = SqlStore.apply, HashedNgrams.embed, list[str]()

    def overtaken(self: SqlStore, *given: Any, **named: Any) -> Change:
        """A change, which another overtakes once it is decided, unless that one is held off until then."""
        if self is alice._parts.admin and len(rivals) < 100:
            rivals.append(threading.Thread(target=partial(other.set_profile, town=f"Town {len(rivals)}")))
            rivals[-1].start()
            rivals[-1].join(0.2)
        return apply(self, *given, **named)

    def embedded(self: HashedNgrams, texts: Sequence[str]) -> Any:
        told.extend(texts)
        return embed(self, texts)

    monkeypatch.setattr(SqlStore, "apply", overtaken)
    monkeypatch.setattr(HashedNgrams, "embed", embedded)
    assert alice.settle() > 0
    for rival in rivals:
        rival.join()
    assert 8 < len(rivals) < 100
    assert len(told) == len({*told}) + len(LINES) - 1  # each once, but for the answers, which say the same
    assert [change.cause for change in alice.changes()].count(Cause.PROFILE) == len(rivals)


def test_a_slow_analyst_gets_its_work_done_and_settle_does_not_wait_for_ever(bench: Maker, clock: Clock) -> None:
    one = bench(ScriptedAnalyst(during=lambda: clock.go(500)))
    one.add(*LINES)
    assert one.system.settle(ALICE) == 2
    assert one.analysts(Cause.CONSOLIDATION) == ["scripted-v1"]

    bench = partial(bench, file="2.db")
    one = bench(lease_s=0.1)
    one.add(*LINES)
    assert one.store.claim(ALICE.id, "dead", clock(), 0.1) is not None  # the clock stands still
    with pytest.raises(StoreBusy, match="try again"):
        one.system.settle(ALICE)

    bench = partial(bench, file="3.db")
    system: MemorySystem = bench().system
    assert system.name == "memoryos"


def test_settle_waits_for_the_other_and_then_does_what_is_left(bench: Maker, clock: Clock) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def held_up() -> None:
        begun.set()
        assert go_on.wait(20)

    one, other = bench(ScriptedAnalyst(during=held_up)), bench()
    one.add(*LINES)
    first = threading.Thread(target=one.system.settle, args=(ALICE,))
    first.start()
    assert begun.wait(20)
    second = threading.Thread(target=other.system.settle, args=(ALICE,))
    second.start()
    time.sleep(0.2)
    assert second.is_alive()
    assert other.pages(Tier.PENDING)
    go_on.set()
    first.join(20)
    second.join(20)
    assert not second.is_alive()
    assert not other.pages(Tier.PENDING)


def test_two_threads_settling_one_owner_do_each_thing_once(bench: Maker) -> None:
    one, other = bench(ScriptedAnalyst()), bench(ScriptedAnalyst())
    one.add(*(line for _ in range(3) for line in LINES))
    placed: list[int] = []
    threads = [
        threading.Thread(target=lambda s=s: placed.append(s.system.settle(ALICE))) for s in (one, other, one, other)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sum(placed) == 12
    assert len(one.pages(Tier.MID)) + len(one.pages(Tier.ARCHIVE)) == 12
    asked = [page for s in (one, other) for batch in s.parts.analyst.asked for page in batch]  # type: ignore[attr-defined]
    assert len(asked) == len(set(asked)) == 12


# --------------------------------------------------------------------------------------- when a batch is taken


def test_a_batch_is_taken_when_full_or_when_its_oldest_page_waited_as_pending(opened: Opener, clock: Clock) -> None:
    memory = opened(batch_pages=4, batch_wait_s=600)
    alice = memory.of("alice")
    for n in range(5):
        alice.add(f"line {n}", "ok")
    assert memory.work() == 0
    clock.go(599)
    assert memory.work() == 0
    clock.go(1)
    assert memory.work() == 2
    for n in range(4):
        alice.add(f"more {n}", "ok")
    assert memory.work() == 4

    memory = opened("2.db", batch_pages=4, batch_wait_s=600, short_term_pages=3)
    alice = memory.of("alice")
    for n in range(3):
        alice.add(f"line {n}", "ok")
    clock.go(86_400)
    for n in range(3):
        alice.add(f"the next day {n}", "ok")
        assert memory.work() == 0, "it is pending for a moment, though it came a day ago"
    clock.go(600)
    assert memory.work() == 3


def test_an_owner_that_fails_keeps_no_other_from_being_understood(bench: Maker, place: Place, clock: Clock) -> None:
    one = bench(ScriptedAnalyst(failures=1))
    one.add(*LINES)
    with Memory(place(), clock=clock, **SMALL) as memory:
        for n in range(5):
            memory.of("bob").add(f"line {n}", "ok")
    one.system.work()
    bob = ids.owner_id("bob", "default")
    assert one.store.owner_stats(bob, 3).pending == 0

    bench = partial(bench, file="2.db")

    class Brittle(HashedNgrams):
        def embed(self, texts: Sequence[str]) -> Any:
            if any("heron" in text for text in texts):
                raise ValueError("no herons")
            return super().embed(texts)

    one = bench(None, Brittle())
    one.add(*LINES)
    with Memory(place("2.db"), clock=clock, **SMALL) as memory:
        memory.of("bob").add("It snowed.", "ok")
    done: list[Owner] = []
    one.system.work(owner_done=done.append)
    assert [owner.user for owner in done] == ["bob"]
    state = one.store.owner_state(ALICE.id)
    assert state is not None
    assert state.error == "ValueError: a defect; the log says where"


# --------------------------------------------------------------------------------------- segments and the persona


def test_a_late_reply_joins_its_page_wherever_that_is(opened: Opener) -> None:
    alice = opened(short_term_pages=1, batch_pages=1).of("alice")
    late = alice.add("Which bird was it?", thread="birds")
    for n in range(4):
        alice.add(f"The train was late, {n}.", "Yes.")
    alice.settle()
    assert alice.page(late).tier is Tier.MID
    segment = alice.page(late).segment_id
    alice.add(None, "My name is Ember. It was a purple heron.", thread="birds")
    assert alice.page(late).response.endswith("purple heron.")
    assert alice.settle() == 0
    assert alice.page(late).segment_id == segment
    assert alice.search("purple heron", k=1)[0].utterance.page_id == late
    assert {(fact.attribute, fact.value) for fact in alice.facts("agent")} == {("name", "Ember")}


def test_a_segment_is_promoted_above_tau_by_visits_and_before_it_leaves(opened: Opener) -> None:
    memory = opened(
        mid_term_segments=1, placed_by="page", theta=2.0, short_term_pages=1, batch_pages=1, facts_when="promoted"
    )
    alice = memory.of("alice")
    alice.add("I live in Lyon.", "Nice.")
    for line in LINES[1:]:
        alice.add(line, "ok")
    alice.settle()
    assert len(alice.segments()) == 1
    assert "Lyon" in {fact.value for fact in alice.facts()}
    causes = [change.cause for change in alice.changes()]
    assert causes.index(Cause.PROMOTION) < causes.index(Cause.EVICTION)
    assert all(segment.unanalysed == 0 for segment in alice.segments(archived=True))
    assert alice.search("Lyon", k=1)[0].tier is Tier.ARCHIVE

    alice = opened("2.db", preset="paper", batch_pages=None).of("alice")
    for n in range(13):
        alice.add(f"We walked to the lake in the park, day {n}.", "I see.")
    assert alice.settle() == 10
    causes = [change.cause for change in alice.changes()]
    assert causes.count(Cause.CONSOLIDATION) == 10
    assert causes.count(Cause.PROMOTION) >= 1
    (segment,) = alice.segments()
    assert segment.unanalysed < 5  # heat above 5 sets L_interaction to zero
    placed = [d for c in alice.changes() for d in c.decisions if type(d).__name__ == "Placed"]
    assert all(d.f_score is None or d.f_score > 0.6 for d in placed)  # type: ignore[union-attr]

    memory = opened("3.db", min_new=1, tau=4.0, placed_by="page", theta=-1.0, facts_when="promoted")
    alice = memory.of("alice")
    for line in LINES:
        alice.add(line, "ok")
    alice.settle()
    assert alice.facts() == ()
    (segment,) = alice.segments()
    hits = [hit for hit in alice.search("Lyon heron", k=9) if hit.segment_id]
    for _ in range(2):
        alice.visit(hits)
    assert alice.heat(alice.segments()[0]) == pytest.approx(alice.heat(segment) + 2)
    assert memory.work() == 0
    assert "Lyon" in {fact.value for fact in alice.facts()}


def test_nothing_is_evicted_while_its_analysis_fails(bench: Maker) -> None:
    class NoProfile(ScriptedAnalyst):
        def profile(self, request: Any) -> Any:
            raise AnalystError("Error: no answer")

    one = bench(NoProfile(), mid_term_segments=1, placed_by="page", theta=2.0)
    one.add(*LINES)
    one.system.settle(ALICE)
    assert one.pages(Tier.ARCHIVE) == ()
    assert len(one.store.segment_states(ALICE.id)) == 2


# ------------------------------------------------------------------------------------------------------ reindex


def filled(memory: Memory) -> OwnerMemory:
    alice = memory.of("alice")
    for n in range(12):
        alice.add(LINES[n % 5], "ok", thread=f"t{n % 2}")
    alice.settle()
    return alice


def test_a_reindex_makes_every_vector_again_and_loses_no_place(opened: Opener, place: Place) -> None:
    memory = opened()
    alice = filled(memory)
    before = [(page.id, page.tier, page.segment_id) for page in alice.pages()]
    vectors = [segment.embedding for segment in alice.segments()]
    told: list[tuple[int, int]] = []
    assert memory.reindex(progress=lambda done, total: told.append((done, total))) == 24
    assert told[-1] == (24, 24)
    assert [(page.id, page.tier, page.segment_id) for page in alice.pages()] == before
    for old, new in zip(vectors, [segment.embedding for segment in alice.segments()], strict=True):
        assert old is not None
        assert new is not None
        assert np.allclose(old, new, atol=2e-3)
    assert_sound(place())


def test_an_interrupted_reindex_goes_on_and_places_nothing_meanwhile(opened: Opener, place: Place) -> None:
    memory = opened(embed_batch=4)
    alice = filled(memory)
    places = {page.id: page.segment_id for page in alice.pages() if page.segment_id}

    def interrupt(done: int, total: int) -> None:
        if done >= 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.reindex(progress=interrupt)
    assert 0 < alice.stats().without_vector < 24
    assert alice.recall("heron").hits
    for n in range(3):
        alice.add(f"We saw another heron, {n}.", "ok")
    memory.close()
    memory = opened()
    alice = memory.of("alice")
    alice.settle()
    assert alice.stats().without_vector == 0
    assert alice.stats().pending == 0
    assert all(segment.embedding is not None for segment in alice.segments())
    assert all(alice.page(page_id).segment_id == segment_id for page_id, segment_id in places.items())
    assert_sound(place())
    assert_tiers(memory)


@given(st.integers(0, 40), st.floats(1, 1000), st.floats(1, 10_000))
def test_no_pause_is_shorter_than_the_first_or_longer_than_the_longest(
    failures: int, base: float, longest: float
) -> None:
    settings = load(retry_base_s=base, retry_max_s=longest)
    seconds = pause(settings, failures).total_seconds()
    assert min(base, longest) - 1e-6 <= seconds <= longest + 1e-6
