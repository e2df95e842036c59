"""A model turned on later: what extraction read is read again, the hottest first, while there is a budget for it."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from bench_of import ALICE, LINES, Bench, Maker
from embermem import Tier
from embermem.core.changes import Analysed, Cause, Noted, SegmentGrew, SegmentWritten
from embermem.core.errors import AnalystError, BudgetSpent
from embermem.core.types import Annotation, ItemId, PersonaChange
from scripted import Clock, ScriptedAnalyst
from soundness import rows


def filled(bench: Maker, pages: int = 12, **settings: Any) -> Bench:
    """A memory that extraction alone has read."""
    one = bench(**settings)
    one.add(*(LINES[n % 5] for n in range(pages)))
    one.system.settle(ALICE)
    return one


def readers(one: Bench, tier: Tier) -> list[str]:
    """Who read each page of a tier last."""
    last = {note.page_id: note.analyst for note in one.notes()}
    return sorted({last[page.id] for page in one.pages(tier)})


def due_at(one: Bench) -> Any:
    state = one.store.owner_state(ALICE.id)
    assert state is not None
    return state.due_at


def test_turning_a_model_on_reads_again_what_extraction_read_promotes_it_and_learns_nothing_twice(bench: Maker) -> None:
    plain = filled(bench, placed_by="page", theta=-1.0)
    before = {page.id: page.segment_id for page in plain.pages()}
    one = bench(analyst := ScriptedAnalyst(), placed_by="page", theta=-1.0)
    assert one.system.settle(ALICE) == 0
    assert readers(one, Tier.MID) == ["scripted-v1"]
    assert readers(one, Tier.SHORT) == ["extractive-v1"]
    assert {page.id: page.segment_id for page in one.pages()} == before
    asked = [page for batch in analyst.asked for page in batch]
    assert len(asked) == len(set(asked)) == 9
    assert max(len(batch) for batch in analyst.asked) <= 2
    assert analyst.profiled
    assert all(
        part.text.startswith("scripted: ") or part.chain_id is None
        for s in one.store.segment_states(ALICE.id)
        for part in s.parts
    )
    assert one.system.settle(ALICE) == 0
    assert len(analyst.asked) == 5  # nothing is read a third time

    bench = partial(bench, file="2.db")
    plain = filled(bench)
    known = plain.store.facts(ALICE.id)
    assert known
    one = bench(ScriptedAnalyst())
    one.system.settle(ALICE)
    after = one.store.facts(ALICE.id)
    assert {f.id: (f.value, f.valid_from) for f in after} == {f.id: (f.value, f.valid_from) for f in known}


def test_chains_and_keywords_are_of_the_newest_reading(bench: Maker) -> None:
    plain = bench(placed_by="page", theta=-1.0)
    for thread in ("a", "b", "c"):
        plain.add(*LINES, thread=thread)
    plain.system.settle(ALICE)
    one = bench(ScriptedAnalyst(), placed_by="page", theta=-1.0)
    one.system.settle(ALICE)
    placed = {page.chain_id for page in one.pages(Tier.MID)} - {page.chain_id for page in one.pages(Tier.SHORT)}
    told = {chain.id: chain.summary for chain in one.store.chains(ALICE.id) if chain.id in placed}
    assert told
    assert all(summary.startswith("scripted: ") for summary in told.values())

    bench = partial(bench, file="2.db")

    class OneWord(ScriptedAnalyst):
        def annotate(self, *asked: Any) -> tuple[Annotation, ...]:
            made = super().annotate(*asked)
            return tuple(
                Annotation(page_id=a.page_id, continues=a.continues, chain_summary=a.chain_summary, keywords=("bird",))
                for a in made
            )

    filled(bench, placed_by="page", theta=-1.0)
    one = bench(OneWord(), placed_by="page", theta=-1.0)
    one.system.settle(ALICE)
    (segment,) = one.store.segment_states(ALICE.id)
    assert [(count.word, count.pages) for count in segment.keywords] == [("bird", 9)]


def test_what_is_new_is_read_first_then_the_hottest_segment_and_not_the_archive(bench: Maker, clock: Clock) -> None:
    filled(bench)
    one = bench(ScriptedAnalyst())
    one.add(*LINES)
    one.system.settle(ALICE)
    causes = [change.cause for change in one.store.changes(ALICE.id) if change.analyst == "scripted-v1"]
    reading = [cause for cause in causes if cause in (Cause.CONSOLIDATION, Cause.REDONE)]
    assert Cause.REDONE in reading
    assert reading == sorted(reading, key=lambda cause: cause is Cause.REDONE)

    bench = partial(bench, file="2.db")
    plain = filled(bench, placed_by="page", theta=2.0, short_term_pages=1, pages=4, mid_term_segments=9)
    cold, _, hot = plain.store.segment_states(ALICE.id)
    plain.store.visit(ALICE.id, {ItemId(hot.id): 3}, clock.now)
    one = bench(ScriptedAnalyst(), placed_by="page", theta=2.0, short_term_pages=1, mid_term_segments=9, tau=100.0)
    one.system.settle(ALICE)
    written = [
        d.segment_id
        for change in one.store.changes(ALICE.id)
        if change.cause is Cause.REDONE
        for d in change.decisions
        if isinstance(d, SegmentWritten | SegmentGrew)
    ]
    assert written[0] == hot.id
    assert set(written) == {s.id for s in one.store.segment_states(ALICE.id)}
    assert cold.id in written

    bench = partial(bench, file="3.db")
    plain = filled(bench, placed_by="page", theta=2.0, mid_term_segments=2)
    archived = {page.id for page in plain.pages(Tier.ARCHIVE)}
    assert archived
    one = bench(analyst := ScriptedAnalyst(), placed_by="page", theta=2.0, mid_term_segments=2)
    one.system.settle(ALICE)
    assert not archived & {page for batch in analyst.asked for page in batch}
    assert due_at(one) is None


def test_a_worker_does_a_batch_a_turn_and_the_owner_is_due_until_all_is_done(bench: Maker, clock: Clock) -> None:
    filled(bench, placed_by="page", theta=-1.0)
    one = bench(analyst := ScriptedAnalyst(), placed_by="page", theta=-1.0)
    one.store.visit(ALICE.id, {ItemId(one.store.segment_states(ALICE.id)[0].id): 1}, clock.now)
    turns = 0
    while one.store.due(clock.now, 1):
        assert one.system.work() == 0
        turns += 1
        assert len(analyst.asked) == min(turns, 5)
        assert turns < 8
    assert readers(one, Tier.MID) == ["scripted-v1"]
    assert due_at(one) is None


def test_with_the_budget_spent_it_goes_on_when_there_is_one_again(bench: Maker, clock: Clock) -> None:
    class Poor(ScriptedAnalyst):
        calls = 3

        def annotate(self, *asked: Any) -> tuple[Annotation, ...]:
            if self.calls == 0:
                raise BudgetSpent("the day's calls are spent", tomorrow)
            self.calls -= 1
            return super().annotate(*asked)

    tomorrow = clock.now + timedelta(hours=14)
    filled(bench, placed_by="page", theta=-1.0)
    one = bench(analyst := Poor(), placed_by="page", theta=-1.0)
    one.system.settle(ALICE)
    assert len(analyst.asked) == 3
    assert due_at(one) == tomorrow
    assert one.system.work() == 0
    assert [page.error for page in one.pages() if page.error] == []
    clock.now, analyst.calls = tomorrow, 100
    one.system.settle(ALICE)
    assert readers(one, Tier.MID) == ["scripted-v1"]
    asked = [page for batch in analyst.asked for page in batch]
    assert len(asked) == len(set(asked))


def test_pages_that_it_fails_on_keep_their_notes_and_wait_longer_and_longer(bench: Maker, clock: Clock) -> None:
    class Broken(ScriptedAnalyst):
        def annotate(self, *asked: Any) -> tuple[Annotation, ...]:
            self.asked.append(())
            raise AnalystError("the model gave no answer")

    filled(bench, pages=5, placed_by="page", theta=-1.0)
    one = bench(analyst := Broken(), placed_by="page", theta=-1.0, retry_max_s=1000.0)
    waits = []
    for tried in range(1, 5):
        one.system.settle(ALICE)
        assert len(analyst.asked) == tried  # one failing question a claim
        waits.append((due_at(one) - clock.now).total_seconds())
        clock.now = due_at(one)
    assert waits == [1000, 2000, 4000, 8000]
    assert readers(one, Tier.MID) == ["extractive-v1"]
    assert {page.error for page in one.pages(Tier.MID)} == {"the model gave no answer"}
    assert one.store.owner_stats(ALICE.id, 3).failed == 2
    well = bench(ScriptedAnalyst(), placed_by="page", theta=-1.0)
    well.system.settle(ALICE)
    assert readers(well, Tier.MID) == ["scripted-v1"]
    assert well.store.owner_stats(ALICE.id, 3).failed == 0


def test_pages_that_extraction_took_over_or_that_were_answered_late_are_read_again(bench: Maker, clock: Clock) -> None:
    analyst = ScriptedAnalyst(failures=2)
    one = bench(analyst, attempts=2, retry_max_s=500.0)
    one.add(*LINES)
    for _ in range(2):
        one.system.settle(ALICE)
        clock.go(100)
    assert readers(one, Tier.MID) == ["extractive-v1"]
    assert len(analyst.asked) == 2
    one.system.settle(ALICE)
    assert len(analyst.asked) == 2
    clock.now = due_at(one)
    one.system.work()
    assert readers(one, Tier.MID) == ["scripted-v1"]
    assert due_at(one) is None

    bench = partial(bench, file="2.db")
    one = bench(ScriptedAnalyst(), short_term_pages=1)
    one.add("Which bird was it?", thread="birds", reply=False)
    one.add(*LINES)
    one.system.settle(ALICE)
    one.reply("A purple heron.", thread="birds")
    one.system.settle(ALICE)
    late = one.pages()[0]
    last = [note for note in one.notes() if note.page_id == late.id][-1]
    assert (last.analyst, last.upto_seq) == ("scripted-v1", late.last_seq)


def test_pages_read_again_count_as_not_analysed_so_that_a_promotion_follows(bench: Maker) -> None:
    class Learning(ScriptedAnalyst):
        def profile(self, request: Any) -> PersonaChange:
            super().profile(request)
            return PersonaChange(segment_summary="A model's summary.")

    filled(bench, placed_by="page", theta=-1.0)
    one = bench(analyst := Learning(), placed_by="page", theta=-1.0)
    one.system.settle(ALICE)
    assert [
        d.upto_seq
        for c in one.store.changes(ALICE.id)
        if c.cause is Cause.REDONE
        for d in c.decisions
        if isinstance(d, Analysed)
    ] == [0] * 9
    (segment,) = one.store.segment_states(ALICE.id)
    assert analyst.profiled
    assert segment.unanalysed < 5
    assert segment.parts[0].text == "A model's summary."


@pytest.mark.proof  # what every life of test_life.py ends with
def test_the_log_gives_the_same_memory_after_reading_again(bench: Maker) -> None:
    filled(bench, placed_by="page", theta=0.9, mid_term_segments=3)
    one = bench(ScriptedAnalyst(), placed_by="page", theta=0.9, mid_term_segments=3)
    one.system.settle(ALICE)
    assert [note for note in one.notes() if isinstance(note, Noted)]
    tables = ("segment", "page", "checkpoint_part")
    before = {table: sorted(map(str, rows(one.place, f"SELECT * FROM {table}"))) for table in tables}
    one.store.replay(ALICE.id)
    assert {table: sorted(map(str, rows(one.place, f"SELECT * FROM {table}"))) for table in tables} == before
