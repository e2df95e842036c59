"""A model that cannot be used: fewer pages, then extraction; what waits for it, why, and until when."""

from __future__ import annotations

import contextlib
import time
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from bench_of import ALICE, LINES, Bench, Maker
from embermem import Tier
from embermem.core.changes import Cause
from embermem.core.errors import (
    BudgetSpent,
    ModelBusy,
    ModelError,
    ModelGaveWay,
    ModelReplyError,
    ModelResting,
    ModelTimeout,
    ModelTooLong,
    ModelUnreachable,
)
from embermem.core.types import Annotation, PersonaChange, Waiting, WaitsFor
from embermem.memoryos.ingest.pace import Pace
from embermem.memoryos.system import MemoryOS
from embermem.reports import waiting
from mortal import Mortal, Struck
from proofs import bounded
from scripted import Clock, Place, ScriptedAnalyst
from soundness import assert_sound

UNUSABLE = (
    ModelReplyError("the answer is not of the form asked for", raw="{}"),
    ModelTooLong("the prompt is too long"),
)
ON_THE_WAY = (ModelTimeout("no answer within 60 s"), ModelUnreachable("cannot be reached"))


@pytest.fixture
def bench(bench: Maker) -> Maker:
    return partial(bench, batch_pages=8)


def test_what_is_settled_is_asked_about_in_full_batches_however_old(bench: Maker, clock: Clock) -> None:
    for old_s in (0.0, 3600.0):
        analyst = ScriptedAnalyst()
        one = bench(analyst, file=f"{old_s}.db", embed_batch=10, batch_pages=3, short_term_pages=1, batch_wait_s=600.0)
        one.add(*(f"{line} {n}" for n in range(3) for line in LINES[:4]))
        clock.go(old_s)
        one.system.settle(ALICE)
        assert [len(pages) for pages in analyst.asked] == [3, 3, 3, 2]


class Weak(ScriptedAnalyst):
    """A model that can be used for so many pages at once, and for none that hold a word."""

    def __init__(self, error: ModelError, most: int = 64, word: str = "\0", most_at_promotions: int = 64) -> None:
        super().__init__()
        self.error = error
        self.most = most
        self.most_at_promotions = most_at_promotions
        self.word = word
        self.answered: list[int] = []

    def annotate(self, owner: Any, tails: Any, batch: Any) -> tuple[Annotation, ...]:
        made = super().annotate(owner, tails, batch)
        if len(batch) > self.most or any(self.word in view.page.query for view in batch):
            raise self.error
        self.answered.append(len(batch))
        return made

    def profile(self, request: Any) -> PersonaChange:
        made = super().profile(request)
        if len(request.pages) > self.most_at_promotions or any(self.word in page.page.query for page in request.pages):
            raise self.error
        return made


def filled(one: Bench, pages: int = 15) -> Bench:
    one.add(*(f"{LINES[n % 5]} Number {n}." for n in range(pages)))
    return one


def waits(one: Bench) -> dict[WaitsFor, tuple[int, str]]:
    stats = one.store.owner_stats(ALICE.id, 3)
    return {wait.waits_for: (wait.pages, wait.reason) for wait in stats.waiting}


def readers(one: Bench) -> dict[str, int]:
    """How many placed pages each analyst read last."""
    last = {note.page_id: note.analyst for note in one.notes()}
    read = [last[page.id] for page in one.pages(Tier.MID)]
    return {name: read.count(name) for name in sorted(set(read))}


# --------------------------------------------------------------------------------------------------------- of a form


def test_a_batch_whose_answer_cannot_be_used_is_halved_until_it_can_and_all_is_placed(bench: Maker) -> None:
    for error in UNUSABLE:
        one = filled(bench(analyst := Weak(error, most=2), file=f"{error.tag}.db"))
        assert one.system.settle(ALICE) == 12
        assert [len(asked) for asked in analyst.asked][:4] == [8, 4, 2, 2]
        assert readers(one) == {"scripted-v1": 12}
        assert waits(one) == {}


def test_the_size_that_worked_is_kept_for_later_claims_and_grows_again_slowly(bench: Maker) -> None:
    one = filled(bench(analyst := Weak(UNUSABLE[0], most=2), min_new=40))
    one.system.settle(ALICE)
    del analyst.asked[:]
    filled(one, 8)
    one.system.settle(ALICE)
    sizes = [len(asked) for asked in analyst.asked]
    assert max(sizes) <= 4
    assert sizes.count(4) <= 1
    analyst.most = 64
    filled(one, 72)
    one.system.settle(ALICE)
    assert len(analyst.asked[-2]) == 8


def test_a_page_that_the_model_fails_on_stands_as_extraction_read_it_and_the_others_go_on(
    bench: Maker, clock: Clock
) -> None:
    one = filled(bench(analyst := Weak(UNUSABLE[0], word="Number 7."), min_new=40))
    assert one.system.settle(ALICE) == 12
    assert readers(one) == {"extractive-v1": 1, "scripted-v1": 11}
    assert waits(one) == {WaitsFor.READING: (1, str(UNUSABLE[0]))}
    asked = len(analyst.asked)
    one.system.settle(ALICE)
    assert len(analyst.asked) == asked, "it is not asked about that page again soon"
    analyst.word = "\0"
    clock.go(7200.0)
    one.system.settle(ALICE)
    assert readers(one) == {"scripted-v1": 12}
    assert waits(one) == {}


def test_a_page_that_is_to_be_read_again_waits_on_though_its_segment_is_analysed(bench: Maker, clock: Clock) -> None:
    analyst = Weak(UNUSABLE[0], word="Number 7.")
    analyst.profile = ScriptedAnalyst().profile  # type: ignore[method-assign]
    one = filled(bench(analyst, placed_by="page", theta=-1.0))
    one.system.settle(ALICE)
    assert [segment.unanalysed for segment in one.store.segment_states(ALICE.id)] == [0]
    assert waits(one) == {WaitsFor.READING: (1, str(UNUSABLE[0]))}
    asked = len(analyst.asked)
    one.system.settle(ALICE)
    assert len(analyst.asked) == asked


def test_a_model_that_never_gives_a_usable_answer_is_asked_about_a_page_a_claim_and_holds_nothing_up(
    bench: Maker, clock: Clock
) -> None:
    one = filled(bench(analyst := Weak(UNUSABLE[0], most=0), min_new=40))
    assert one.system.settle(ALICE) == 12
    assert [len(asked) for asked in analyst.asked] == [8, 4, 2, 1, 1, 1, 1]
    assert readers(one) == {"extractive-v1": 12}
    assert waits(one) == {WaitsFor.READING: (12, str(UNUSABLE[0]))}
    filled(one, 8)
    assert one.system.settle(ALICE) == 8
    assert len(analyst.asked) == 8
    analyst.most = 64
    for _ in range(3):
        clock.go(7200.0)
        one.system.settle(ALICE)
    assert readers(one) == {"scripted-v1": 20}


def test_the_work_behind_goes_on_in_the_same_way(bench: Maker) -> None:
    one = filled(bench(analyst := Weak(UNUSABLE[0], most=2), min_new=40, batch_wait_s=600.0))
    placed = sum(one.system.work() for _ in range(3))
    assert placed == 8, "a full batch; four pages more are not due yet"
    assert [len(asked) for asked in analyst.asked][:4] == [8, 4, 2, 2]
    assert waits(one) == {}


def test_numbers_of_pages_never_leave_their_bounds() -> None:
    for most in (1, 3):
        pace = Pace()
        for _ in range(50):
            pages = pace.size(8)
            assert 1 <= pages <= 8
            (pace.answered if pages <= most else pace.failed)(pages)
        assert pace.size(8) <= 2 * most
        assert not pace.hopeless


# --------------------------------------------------------------------------------------------------------- on the way


def test_a_settle_makes_the_tries_itself_and_then_extraction_reads_all_that_is_left(bench: Maker, clock: Clock) -> None:
    for error in ON_THE_WAY:
        one = filled(bench(analyst := Weak(error, most=0), file=f"{error.tag}.db", attempts=3, min_new=40))
        assert one.system.settle(ALICE) == 12
        assert len(analyst.asked) == 3
        assert readers(one) == {"extractive-v1": 12}
        assert waits(one) == {WaitsFor.READING: (12, str(error))}
        analyst.most = 64
        clock.go(3600.0)
        one.system.settle(ALICE)
        assert readers(one) == {"scripted-v1": 12}
        assert waits(one) == {}


def test_a_server_that_is_left_alone_holds_no_settle_up_and_what_failed_is_told(bench: Maker, clock: Clock) -> None:
    one = filled(bench(Weak(ModelResting("it failed", clock.now + timedelta(seconds=60)), most=0), min_new=40))  # type: ignore[arg-type]
    assert one.system.settle(ALICE) == 12
    assert waits(one) == {WaitsFor.READING: (12, "it failed")}

    bench = partial(bench, file="2.db")

    class Failing(ScriptedAnalyst):
        def annotate(self, *asked: Any) -> tuple[Annotation, ...]:
            if not self.failures:
                self.failures = 1
                raise ON_THE_WAY[1]
            raise ModelResting("it failed", clock.now + timedelta(seconds=60))

    one = filled(bench(Failing()))
    one.system.settle(ALICE)
    assert waits(one) == {WaitsFor.READING: (12, "cannot be reached")}


def test_pages_wait_for_a_busy_server_a_spent_budget_and_in_the_work_behind(bench: Maker, clock: Clock) -> None:
    one = filled(bench(analyst := Weak(ON_THE_WAY[1], most=0), attempts=3, retry_base_s=30.0))
    assert one.system.work() == 0
    assert waits(one) == {WaitsFor.PLACE: (12, "cannot be reached")}
    assert one.store.owner_stats(ALICE.id, 3).waiting[0].until == clock.now + timedelta(seconds=30)
    analyst.most = 64
    clock.go(30.0)
    assert one.system.work() == 12
    assert readers(one) == {"scripted-v1": 12}

    bench = partial(bench, file="2.db")
    one = filled(bench(analyst := Weak(ModelBusy("busy", 500.0), most=0)))
    assert one.system.settle(ALICE) == 0
    assert len(analyst.asked) == 1
    assert one.store.owner_stats(ALICE.id, 3).waiting == (
        Waiting(waits_for=WaitsFor.PLACE, pages=12, reason="busy", until=clock.now + timedelta(seconds=500)),
    )

    bench = partial(bench, file="3.db")
    tomorrow = clock.now + timedelta(hours=14)
    one = filled(bench(Weak(BudgetSpent("the day's calls are spent", tomorrow), most=0)))  # type: ignore[arg-type]
    assert one.system.settle(ALICE) == 0
    (wait,) = one.store.owner_stats(ALICE.id, 3).waiting
    assert (wait.pages, wait.reason, wait.until) == (12, "the day's calls are spent", tomorrow)


def test_a_question_that_gave_way_to_a_chat_is_asked_again_in_the_same_settle(
    bench: Maker, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Polite(ScriptedAnalyst):
        gave_way = 0

        def annotate(self, *asked: Any) -> tuple[Annotation, ...]:
            if self.gave_way < 3:
                self.gave_way += 1
                raise ModelGaveWay("a chat needs the model", clock.now + timedelta(seconds=1))
            return super().annotate(*asked)

    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    one = filled(bench(Polite()))
    assert one.system.settle(ALICE) == 12
    assert pauses == [1.0] * 3
    assert waits(one) == {}


# --------------------------------------------------------------------------------------------------------- promotions


def promoted(one: Bench) -> list[str]:
    return one.analysts(Cause.PROMOTION)


def test_a_promotion_is_made_in_parts_of_pages_and_those_that_were_shown_are_done(bench: Maker) -> None:
    analyst = Weak(UNUSABLE[0], most_at_promotions=3)
    one = filled(bench(analyst, placed_by="page", theta=-1.0))
    one.system.settle(ALICE)
    assert [segment.unanalysed for segment in one.store.segment_states(ALICE.id)] == [0]
    assert set(promoted(one)) == {"scripted-v1"}

    bench = partial(bench, file="2.db")
    one = filled(bench(shown := Unbelieved(), placed_by="page", theta=-1.0))
    one.system.settle(ALICE)
    assert [segment.unanalysed for segment in one.store.segment_states(ALICE.id)] == [0]
    assert shown.sizes == sorted(shown.sizes, reverse=True)
    assert sum(shown.sizes) <= 12
    assert set(promoted(one)) == {"extractive-v1"}

    bench = partial(bench, file="3.db")

    def annotate(*asked: Any) -> tuple[Annotation, ...]:
        raise UNUSABLE[0]

    alone = Unbelieved()
    alone.annotate = annotate  # type: ignore[assignment, method-assign]
    one = filled(bench(alone, placed_by="page", theta=-1.0))
    one.system.settle(ALICE)
    assert alone.sizes == [1] * 4
    assert [segment.unanalysed for segment in one.store.segment_states(ALICE.id)] == [0]


def test_a_failed_promotion_is_made_again_by_a_model_that_can(bench: Maker, clock: Clock) -> None:
    analyst = Weak(UNUSABLE[0], most_at_promotions=0)
    one = filled(bench(analyst, placed_by="page", theta=-1.0, attempts=2))
    for _ in range(6):
        one.system.settle(ALICE)
        clock.go(100.0)
    assert "scripted-v1" not in promoted(one)
    (segment,) = one.store.segment_states(ALICE.id)
    assert segment.unanalysed == 12
    assert waits(one) == {WaitsFor.ANALYSIS: (12, str(UNUSABLE[0]))}
    analyst.most_at_promotions = 64
    clock.go(7200.0)
    one.system.settle(ALICE)
    one.system.settle(ALICE)
    assert one.store.segment_states(ALICE.id)[0].unanalysed < 5
    assert promoted(one)[-1] == "scripted-v1"


def test_where_facts_are_learnt_at_promotion_the_last_try_teaches_what_extraction_found(
    bench: Maker, clock: Clock
) -> None:
    one = bench(
        Weak(ON_THE_WAY[0], most_at_promotions=0), placed_by="page", theta=-1.0, attempts=2, facts_when="promoted"
    )
    filled(one)
    one.system.settle(ALICE)
    assert one.store.facts(ALICE.id) == ()
    clock.go(100.0)
    one.system.settle(ALICE)
    known = one.store.facts(ALICE.id)
    assert "Lyon" in {fact.value for fact in known}
    clock.go(7200.0)
    one.system.settle(ALICE)
    assert one.store.facts(ALICE.id) == known


class Unbelieved(ScriptedAnalyst):
    """A model of which nothing is believed at promotions: what stands is extraction's."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []
        self.believed = False

    def profile(self, request: Any) -> PersonaChange:
        self.sizes.append(len(request.pages))
        made = super().profile(request)
        return made if self.believed else replace(made, read_by="extractive-v1")


def test_a_model_of_which_nothing_is_believed_holds_no_promotion_up_and_is_asked_ever_less(bench: Maker) -> None:
    alone = {"placed_by": "page", "theta": 2.0, "min_new": 1, "tau": 0.5, "mid_term_segments": 64}
    one = filled(bench(analyst := Unbelieved(), **alone), 27)
    one.system.settle(ALICE)
    assert [segment.unanalysed for segment in one.store.segment_states(ALICE.id)] == [0] * 24
    assert analyst.sizes == [1] * 4, "each of the 24 pages is a segment of its own"
    assert set(promoted(one)) == {"extractive-v1"}
    assert waits(one) == {}
    filled(one, 8)
    one.system.settle(ALICE)
    assert len(analyst.sizes) == 5, "one page more, as a trial"
    analyst.believed = True
    filled(one, 8)
    one.system.settle(ALICE)
    assert promoted(one)[-1] == "scripted-v1"


def test_a_segment_that_must_leave_takes_with_it_what_extraction_found(bench: Maker, clock: Clock) -> None:
    one = bench(Weak(UNUSABLE[0], most_at_promotions=0), placed_by="page", theta=2.0, mid_term_segments=2, attempts=2)
    filled(one, 11)
    for _ in range(16):
        one.system.settle(ALICE)
        clock.go(4000.0)
    assert len(one.store.segment_states(ALICE.id)) == 2
    assert "scripted-v1" not in promoted(one)


# -------------------------------------------------------------------------------------------------- killed on the way


@pytest.mark.parametrize(
    ("fails", "after"),
    [
        ("in a form", True),
        *(
            pytest.param(fails, after, marks=pytest.mark.proof)
            for fails, after in (("in a form", False), ("on the way", False), ("on the way", True))
        ),
    ],
)
def test_whoever_is_killed_at_any_write_leaves_nothing_undone_and_nothing_double(
    place: Place, clock: Clock, fails: str, after: bool
) -> None:
    strikes = 0
    for strike in range(1, 60, bounded(7, proofs=1)):
        where = place(f"m{fails[0]}{after:d}{strike}")
        analyst = Weak(UNUSABLE[0], most=2, word="Number 3.", most_at_promotions=1)
        if fails == "on the way":
            analyst = Weak(ON_THE_WAY[0], most=0, most_at_promotions=0)
        one = Bench(where, clock, analyst, None, placed_by="page", theta=-1.0, attempts=2, batch_pages=4)
        filled(one, 11)
        mortal = Mortal(one.store)
        mortal.left, mortal.after = strike, after
        with contextlib.suppress(Struck):
            MemoryOS(replace(one.parts, store=mortal.protocols)).settle(ALICE)
        strikes += mortal.dead
        one.store.close()
        clock.go(7200.0)
        well = Bench(where, clock, ScriptedAnalyst(), None, placed_by="page", theta=-1.0, attempts=2, batch_pages=4)
        well.system.settle(ALICE)
        clock.go(7200.0)
        well.system.settle(ALICE)
        assert (readers(well), waits(well)) == ({"scripted-v1": 8}, {})
        assert sum(segment.pages for segment in well.store.segment_states(ALICE.id)) == 8
        well.store.close()
        assert_sound(where)
        if not mortal.dead:
            break
    assert strikes > bounded(1, proofs=8)


# --------------------------------------------------------------------------------------------------------- what is told


def test_what_waits_is_told_in_sentences_and_by_the_exit_code(clock: Clock) -> None:
    later, before = clock.now + timedelta(hours=2), clock.now - timedelta(seconds=1)
    reason = "the model x at localhost:1 did not answer within 60 s (model_timeout_s)"
    told = waiting.sentences(
        [
            Waiting(waits_for=WaitsFor.PLACE, pages=12, reason=reason, until=later),
            Waiting(waits_for=WaitsFor.ANALYSIS, pages=1, reason="", until=before),
            Waiting(waits_for=WaitsFor.READING, pages=4, reason=reason, until=later),
        ],
        clock.now,
    )
    assert told == [
        f"12 pages wait: {reason}; next try after 2026-05-02 12:00 UTC",
        "1 page waits to be analysed for the profile; next try when memory is processed next",
        f"4 pages were read without the model and will be read again after 2026-05-02 12:00 UTC: {reason}",
    ]

    for kinds, code in (
        ((), 0),
        ((WaitsFor.PLACE, WaitsFor.READING), 3),
        ((WaitsFor.READING,), 4),
        ((WaitsFor.ANALYSIS,), 4),
    ):
        found = [Waiting(waits_for=kind, pages=1, reason="", until=clock.now) for kind in kinds]
        assert waiting.exit_code(found) == code
