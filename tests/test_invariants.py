"""What holds of a memory whatever is done with it, in whatever order, by several owners at once."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, event, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from embermem import Memory, OwnerMemory, Tier
from embermem.changes import Evicted, FactAdded, Placed
from embermem.errors import NotFound
from scripted import SMALL, Clock, Place
from soundness import assert_sound, assert_tiers, looking, written

OWNERS = (("a", "b:c"), ("a:b", "c"), ("a", "b"), ("a", "default"))
"""Names chosen to be confused; two pairs share a user."""
TEXTS = (
    "I live in Lyon.",
    "I moved to Nantes in May.",
    "I like green tea. I like figs. I like jazz. I like rain. I like maps. I like salt.",
    "My sister Ana is a nurse.",
    "We saw a purple heron on the lake.",
    "The heron came back to the lake today.",
    "The train to Bordeaux was late.",
    "我住在北京。我喜欢喝茶。",
    "",
)
owners = st.sampled_from(OWNERS)
texts = st.sampled_from(TEXTS)
threads = st.sampled_from(("t1", "t2"))
roles = st.sampled_from(("user", "assistant"))


def mark_of(owner: tuple[str, str]) -> str:
    """What stands in every text of this owner and in no other's."""
    return f"Owner{OWNERS.index(owner)}"


class Life(RuleBasedStateMachine):
    """A memory with small capacities, and a plain model of what went in."""

    stores: ClassVar[Iterator[str | Path]]
    """Where each example's own store lies."""

    @initialize(
        short=st.integers(3, 7),
        min_new=st.integers(1, 3),
        tau=st.sampled_from([0.5, 3.0]),
        theta=st.sampled_from([0.6, 1.2]),
    )
    def begin(self, short: int, min_new: int, tau: float, theta: float) -> None:
        self.place = next(self.stores)
        self.clock = Clock()
        self.settings: dict[str, Any] = {
            **SMALL,
            "short_term_pages": short,
            "min_new": min_new,
            "tau": tau,
            "theta": theta,
            "batch_wait_s": 60.0,
        }
        self.memory = Memory(self.place, clock=self.clock, **self.settings)
        self.said: dict[tuple[str, str], list[str]] = {owner: [] for owner in OWNERS}
        self.count = 0

    def teardown(self) -> None:
        if hasattr(self, "memory"):
            self.memory.close()

    def of(self, owner: tuple[str, str]) -> OwnerMemory:
        return self.memory.of(*owner)

    def marked(self, owner: tuple[str, str], text: str) -> str:
        """The text with a mark of its owner, so that one who sees another's is found out."""
        self.count += 1
        self.clock.go(7)
        made = f"{text}\n{mark_of(owner)} {self.count}."
        self.said[owner].append(made)
        return made

    # ------------------------------------------------------------------------------------------------- rules

    @rule(owner=owners, text=texts, thread=threads, answered=st.booleans(), days=st.integers(0, 3000))
    def add(self, owner: tuple[str, str], text: str, thread: str, answered: bool, days: int) -> None:
        query = self.marked(owner, text)
        response = self.marked(owner, "I see.") if answered else None
        self.of(owner).add(query, response, thread=thread, at=f"{2015 + days // 365}-03-05T10:00:00+02:00")

    @rule(owner=owners, thread=threads, said=st.lists(st.tuples(roles, texts), min_size=1, max_size=9))
    def add_messages(self, owner: tuple[str, str], thread: str, said: list[tuple[str, str]]) -> None:
        made = [{"role": role, "content": self.marked(owner, text)} for role, text in said]
        self.of(owner).add_messages(made, thread=thread)

    @rule(owner=owners, thread=threads, start=st.integers(0, 8), count=st.integers(6, 14))
    def add_many_and_settle(self, owner: tuple[str, str], thread: str, start: int, count: int) -> None:
        for n in range(start, start + count):
            self.of(owner).add(self.marked(owner, TEXTS[n % len(TEXTS)]), self.marked(owner, "I see."), thread=thread)
        self.settle(owner)

    @rule(owner=owners)
    def settle(self, owner: tuple[str, str]) -> None:
        mine = self.of(owner)
        mine.settle()
        stats = mine.stats()
        event(f"archived segments: {min(stats.archived_segments, 3)}, archived facts: {min(stats.archived_facts, 3)}")
        assert (stats.pending, stats.without_vector) == (0, 0)
        assert stats.segments <= 4

    @rule(seconds=st.sampled_from([1, 100, 10**6]))
    def work(self, seconds: int) -> None:
        self.clock.go(seconds)
        self.memory.work()

    @rule(owner=owners, query=texts)
    def recall_and_visit(self, owner: tuple[str, str], query: str) -> None:
        mine = self.of(owner)
        before = written(self.place)
        context = mine.recall(query, budget=200)
        hits = mine.search(query, k=5)
        assert written(self.place) == before
        known = {hit.segment_id: mine.segment(hit.segment_id) for hit in hits if hit.segment_id}
        mine.visit(hits)
        for segment_id, segment in known.items():
            assert mine.segment(segment_id).visits == segment.visits + 1
        assert context.tokens <= 200

    @rule(owner=owners, name=st.sampled_from(["Alice", "Bob", None]))
    def set_profile(self, owner: tuple[str, str], name: str | None) -> None:
        self.of(owner).set_profile(name=name)
        assert [f.value for f in self.of(owner).profile() if f.name == "name"] == ([] if name is None else [name])

    @precondition(lambda self: self.count > 0)
    @rule()
    def reopen(self) -> None:
        self.memory.close()
        self.memory = Memory(self.place, clock=self.clock, **self.settings)

    # -------------------------------------------------------------------------------------------- invariants

    @invariant()
    def the_store_is_sound_and_every_page_in_one_tier(self) -> None:
        if hasattr(self, "memory"):
            assert_sound(self.place)
            assert_tiers(self.memory)

    @invariant()
    def pages_in_are_pages_out(self) -> None:
        for owner, said in getattr(self, "said", {}).items():
            kept = [u for page in self.of(owner).pages() for u in page.utterances]
            assert [u.text for u in sorted(kept, key=lambda u: u.seq)] == said

    @invariant()
    def pages_leave_short_term_memory_in_the_order_they_came(self) -> None:
        for owner in getattr(self, "said", {}):
            mine = self.of(owner)
            number = {page.id: page.no for page in mine.pages()}
            left = [d.page_id for c in mine.changes() for d in c.decisions if isinstance(d, Placed)]
            assert [number[page_id] for page_id in left] == list(range(1, len(left) + 1))

    @invariant()
    def no_capacity_is_exceeded(self) -> None:
        for owner in getattr(self, "said", {}):
            mine = self.of(owner)
            assert len(mine.segments()) <= 4
            assert len(mine.facts("user")) <= 5
            assert len(mine.facts("agent")) <= 5
            evicted = {d.segment_id for c in mine.changes() for d in c.decisions if isinstance(d, Evicted)}
            assert {segment.id for segment in mine.segments(archived=True)} == evicted
            entered = {d.fact_id for c in mine.changes() for d in c.decisions if isinstance(d, FactAdded)}
            held = [f.id for f in (*mine.facts(), *mine.facts(archived=True), *mine.past_facts())]
            assert Counter(held) == Counter(entered)

    @invariant()
    def heat_is_as_the_formula_says(self) -> None:
        if not hasattr(self, "memory"):
            return
        with looking(self.place) as look:
            for mine in map(self.of, OWNERS):
                of = "WHERE owner_id = ? AND segment_id = ?"
                for segment in (*mine.segments(), *mine.segments(archived=True)):
                    pages = look(f"SELECT * FROM page {of}", mine.owner.id, segment.id)
                    (row,) = look(f"SELECT * FROM segment {of}", mine.owner.id, segment.id)
                    new = sum(page["analysed_seq"] < page["last_seq"] for page in pages)
                    newest = max([page["recorded_at"] for page in pages] + [row["visited_at"] or 0]) / 1e6
                    age = max(0.0, self.clock.now.timestamp() - newest)
                    assert mine.heat(segment) == pytest.approx(row["visits"] + new + math.exp(-age / 1e7))

    @invariant()
    def no_owner_sees_another_s(self) -> None:
        if not hasattr(self, "memory"):
            return
        for owner in OWNERS:
            mark, mine = mark_of(owner), self.of(owner)
            context = mine.recall("heron Lyon train nurse", budget=5000)
            seen = [
                *(hit.utterance.text for hit in (*context.hits, *mine.search("heron Lyon train", k=50))),
                *(u.text for tier in (None, *Tier) for page in mine.pages(tier) for u in page.utterances),
            ]
            assert all(mark in text for text in seen)
            derived = [
                context.text,
                *(segment.summary for segment in (*mine.segments(), *mine.segments(archived=True))),
                *(chain.summary for chain in mine.chains()),
                *(f"{fact.value} {fact.text}" for fact in (*mine.facts(), *mine.past_facts())),
                *(line.value for line in (*mine.profile(), *mine.agent_profile())),
                *(repr(change.decisions) for change in mine.changes()),
            ]
            others = [mark_of(other) for other in OWNERS if other != owner]
            assert not [text for text in derived if any(other in text for other in others)]
            own = {page.id for page in mine.pages()}
            for other in OWNERS:
                for page in self.of(other).pages() if other != owner else ():
                    assert page.id not in own
                    with pytest.raises(NotFound):
                        mine.page(page.id)
                for segment in self.of(other).segments() if other != owner else ():
                    try:
                        assert set(mine.segment(segment.id).page_ids) <= own
                    except NotFound:
                        continue


@pytest.mark.slow
@pytest.mark.timeout(280)
def test_whatever_is_done_in_whatever_order_the_memory_keeps_its_promises(place: Place, engine: str) -> None:
    class Here(Life):
        stores = (place(f"{n}.db") for n in itertools.count())

    run_state_machine_as_test(
        Here,
        settings=settings(
            max_examples=8 if engine == "sqlite" else 3,
            stateful_step_count=16,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )
