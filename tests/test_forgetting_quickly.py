"""Forgetting touches only the rows that must change, and leaves what applying the whole log again would give."""

from __future__ import annotations

import itertools
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench_of import ALICE, Bench
from embermem import Memory, OwnerMemory
from embermem.changes import SegmentWritten
from embermem.errors import InputError, NotFound
from embermem.stores import schema
from embermem.types import Page, PageId
from scripted import SMALL, Clock, Opener, Place, ScriptedAnalyst
from soundness import assert_sound, rows
from test_forgetting import LINES, holds

LIVES = itertools.count()
KEPT = ("utterance", "page", "embedding", "change", "barred", "receipt")
"""Tables that are compared beside the derived ones."""


def stored(place: str | Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of both logs and of what is derived. When a page or segment was touched last is told to readers only,
    who begin anew after a forgetting."""
    told: dict[str, list[tuple[Any, ...]]] = {}
    for table in (*(table.name for table in schema.DERIVED), *KEPT):
        found = rows(place, f"SELECT * FROM {table}")
        told[table] = sorted(
            tuple((name, repr(value)) for name, value in row.items() if name != "touched_no") for row in found
        )
    return told


def assert_as_applied_again(memory: Memory, place: str | Path) -> None:
    before = stored(place)
    assert all(found.same for found in memory.rebuild())
    after = stored(place)
    for table, found in before.items():
        assert found == after[table], table


adds = st.tuples(st.just("add"), st.integers(0, len(LINES) - 1), st.sampled_from(("t1", "t2")), st.booleans())
steps = st.one_of(
    adds,
    adds,
    st.tuples(st.just("settle")),
    st.tuples(st.sampled_from(("page", "pages", "fact", "segment")), st.integers(0, 30)),
    st.tuples(st.sampled_from(("correct", "retire", "pin")), st.integers(0, 30)),
    st.tuples(st.just("undo"), st.integers(1, 30)),
    st.tuples(st.just("anew")),
)
lives = st.tuples(st.lists(adds, min_size=5, max_size=10), st.lists(steps, min_size=3, max_size=10))


class Life:
    """One owner's, with words of which each is said in one page."""

    def __init__(self, place: str | Path, analyst: ScriptedAnalyst | None) -> None:
        self.place, self.clock = place, Clock()
        self.bench = Bench(place, self.clock, analyst, None, **{"tau": 0.5, "min_new": 1})
        self.memory = Memory(place, clock=self.clock, **{**SMALL, "tau": 0.5, "min_new": 1})
        self.alice: OwnerMemory = self.memory.of("alice")
        self.words: dict[str, str] = {}
        self.count = 0

    def do(self, step: tuple[Any, ...]) -> None:
        alice = self.alice
        self.clock.go(60)
        match step:
            case ("add", line, thread, answered):
                self.count += 1
                word = f"Zq{chr(97 + self.count // 26)}{chr(97 + self.count % 26)}xw"
                text = LINES[line].format(word)
                page = alice.add(text, f"I see {self.count}." if answered else None, thread=thread)
                if word in text:
                    self.words[word] = page
            case ("settle",):
                self.bench.system.settle(ALICE)
            case (("page" | "pages" | "fact" | "segment") as kind, which):
                self.forget(kind, which)
            case ("correct", which) if alice.facts():
                with suppress(InputError):
                    alice.correct(alice.facts()[which % len(alice.facts())].id, f"says {which}", value=f"v{which}")
            case (("retire" | "pin") as ruling, which) if alice.facts():
                getattr(alice, ruling)(alice.facts()[which % len(alice.facts())].id)
            case ("undo", which):
                with suppress(InputError, NotFound):
                    alice.undo(which)
            case ("anew",):
                alice.understand_anew()

    def forget(self, kind: str, which: int) -> None:
        pages: tuple[Page, ...] = self.alice.pages()
        if kind == "pages":
            self.alice.forget_pages([page.id for page in pages[which % 5 :: 3]])
        else:
            named: dict[str, list[str]] = {
                "page": [page.id for page in pages],
                "fact": [fact.id for fact in (*self.alice.facts(), *self.alice.past_facts())],
                "segment": [one.id for one in (*self.alice.segments(), *self.alice.segments(archived=True))],
            }
            ids = named[kind]
            if not ids:
                return
            self.alice.forget(**{kind: ids[which % len(ids)]})  # type: ignore[arg-type]
        left = {page.id for page in self.alice.pages()}
        assert holds(self.place, *(word for word, page in self.words.items() if page not in left)) == []
        assert_sound(self.place)
        assert_as_applied_again(self.memory, self.place)

    def close(self) -> None:
        self.bench.store.close()
        self.memory.close()


LONG = settings(
    max_examples=10,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)


@pytest.mark.slow
@pytest.mark.timeout(280)
@LONG
@given(life=lives, modelled=st.booleans())
def test_what_is_left_is_row_for_row_what_the_redacted_log_gives(
    place: Place, life: tuple[list[Any], list[Any]], modelled: bool
) -> None:
    begun, steps = life
    analyst = ScriptedAnalyst() if modelled else None
    with closing(Life(place(f"quick{next(LIVES)}/memory.db"), analyst)) as living:
        for step in (*begun, ("settle",), *steps, ("settle",), ("pages", 1), ("page", 0)):
            living.do(step)


def long_life(alice: OwnerMemory, pages: int = 60) -> list[PageId]:
    made = [
        alice.add(f"On day {n} I saw a purple heron number {n} by the lake.", f"Day {n}, I see.", thread=f"t{n // 6}")
        for n in range(pages)
    ]
    alice.settle()
    return made


def test_of_a_long_log_only_what_tells_of_a_page_is_read_and_written_anew(opened: Opener, place: Place) -> None:
    memory = opened(mid_term_segments=50)
    alice = memory.of("alice")
    pages = long_life(alice)
    before = {row["no"]: row["decisions"] for row in rows(place(), "SELECT * FROM change")}
    alice.forget(page=pages[30])
    after = {row["no"]: row["decisions"] for row in rows(place(), "SELECT * FROM change")}
    changed = [no for no, decisions in before.items() if after[no] != decisions]
    assert 0 < len(changed) < len(before) / 2
    assert len(after) == len(before) + 1
    assert_as_applied_again(memory, place())


def summaries(alice: OwnerMemory) -> list[tuple[int, str]]:
    """Every sentence of every version of every segment, and the change that it stands in."""
    return [
        (change.no, sentence)
        for change in alice.changes(limit=1000)
        for d in change.decisions
        if isinstance(d, SegmentWritten)
        for part in d.parts
        for sentence in part.text.split(". ")
    ]


def test_earlier_summaries_keep_every_sentence_of_other_pages(opened: Opener) -> None:
    alice = opened(mid_term_segments=50).of("alice")
    pages = long_life(alice, 24)
    before = summaries(alice)
    alice.forget(page=pages[7])
    after = summaries(alice)
    gone = {(no, sentence) for no, sentence in before if "number 7 " in sentence or "Day 7," in sentence}
    assert {one for one in before if one not in gone} - {*after} == set()
    assert not any("number 7 " in sentence or "Day 7," in sentence for _, sentence in after)


def test_the_past_of_a_segment_is_there_still_but_for_what_was_forgotten(opened: Opener, clock: Clock) -> None:
    alice = opened(mid_term_segments=50).of("alice")
    pages = long_life(alice, 24)
    earlier = clock()
    clock.go(3600)
    long_life(alice, 12)
    then = {segment.id: segment for segment in alice.segments(as_of=earlier)}
    alice.forget(page=pages[7])
    left = {segment.id: segment for segment in alice.segments(as_of=earlier)}
    assert {*left} <= {*then}
    assert sum(len(segment.page_ids) for segment in left.values()) == 20
    for segment_id, segment in left.items():
        before = then[segment_id]
        assert set(segment.page_ids) == {*before.page_ids} - {pages[7]}
        assert set(segment.keywords) <= set(before.keywords)
        assert all(sentence in before.summary for sentence in segment.summary.split(". "))
