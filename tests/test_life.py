"""The life of a store: whatever is done to it, in whatever order, by several owners and two processes, and wherever it
is interrupted, it keeps every promise. What was said is kept once, in order, and for its owner alone; what was known at
any moment can be read again; what was forgotten is nowhere; and the log gives what is stored."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, event, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule, run_state_machine_as_test

from bench_of import ALICE, Bench
from embermem import Memory, OwnerMemory
from embermem.core.changes import Cause
from embermem.core.errors import InputError, NotFound
from embermem.core.types import Fact
from embermem.testing.answers import answer
from embermem.testing.model_server import ModelServer
from lives import copy_of
from proofs import bounded
from readings import assert_as_applied_again
from scripted import NOW, Place, ScriptedAnalyst
from soundness import written
from store_life import LINES, OTHER, OWNERS, QUESTIONS, Copied, Name, Said, StoreLife

TEACHING = {*Cause} - {Cause.EMBEDDING, Cause.CONSOLIDATION, Cause.EVICTION, Cause.REINDEX, Cause.ANEW}
"""The causes of changes that may be undone."""

owners = st.sampled_from((*OWNERS[:1] * 3, *OWNERS[1:]))
lines, threads, which = st.sampled_from(LINES), st.sampled_from(("t1", "t2")), st.integers(0, 30)
turns = st.lists(st.none() | st.just(OTHER) | st.tuples(st.integers(1, 4), st.booleans()), min_size=12, max_size=12)


class Life(StoreLife):
    """Everything that may happen to a store."""

    stores: ClassVar[Iterator[str | Path]]
    """Where each example's own store lies."""
    server: ClassVar[ModelServer]
    """A model that reads pages."""

    @initialize(
        own=st.fixed_dictionaries(
            {
                "theta": st.sampled_from([-1.0, 0.3, 0.6, 1.2]),
                "placed_by": st.sampled_from(["chain", "page"]),
                "topic_linkage": st.sampled_from([0.0, 0.025, 0.3, 9.0]),
                "topic_looked_back": st.sampled_from([2, 64]),
                "facts_when": st.sampled_from(["read", "promoted"]),
                "tau": st.sampled_from([0.5, 3.0]),
                "min_new": st.integers(1, 3),
                "short_term_pages": st.integers(1, 5),
            }
        ),
        told=st.lists(lines, min_size=3, max_size=6),
        turns=turns,
    )
    def begin(self, own: dict[str, Any], told: list[str], turns: list[Any]) -> None:
        self.begin_on(next(self.stores), own)
        for owner, some in ((OWNERS[0], told), (OWNERS[1], told[:1])):
            self.add_messages(owner, [line for one in some for line in (one, "I see.")], "t1", 1)
        self.settle(OWNERS[0])
        self.turns = turns

    # ----------------------------------------------------------------------------------------------------- what is said

    @rule(owner=owners, line=lines, thread=threads, answered=st.booleans(), days=st.integers(0, 400))
    def add(self, owner: Name, line: str, thread: str, answered: bool, days: int) -> None:
        told = [self.worded(owner, line), *([self.worded(owner, "I see.")] if answered else [])]
        key, at, page_id = f"k{self.count}", NOW - timedelta(days=days), ""

        def step(memory: Memory) -> None:
            nonlocal page_id
            page_id = memory.of(*owner).add(*(text for _, text in told), thread=thread, key=key, at=at)

        self.do(step)
        self.said[owner] += [Said(text=text, word=word, page_id=page_id) for word, text in told]
        self.assert_kept(owner)

    @rule(owner=owners, told=st.lists(lines, min_size=1, max_size=5), thread=threads, first=st.integers(0, 1))
    def add_messages(self, owner: Name, told: list[str], thread: str, first: int) -> None:
        said = [self.worded(owner, line) for line in told]
        key, pages = f"k{self.count}", list[str]()
        roles = ("assistant", "user")
        made = [{"role": roles[(n + first) % 2], "content": text} for n, (_, text) in enumerate(said)]

        def step(memory: Memory) -> None:
            mine = memory.of(*owner)
            added = mine.add_messages(made, thread=thread, key=key)
            page_of = {u.id: page.id for page in mine.pages() for u in page.utterances}
            pages[:] = [page_of[utterance_id] for utterance_id in added.utterance_ids]

        self.do(step)
        for (word, text), page_id in zip(said, pages, strict=True):
            self.said[owner].append(Said(text=text, word=word, page_id=page_id))
        self.assert_kept(owner)

    @rule(owner=owners, thread=threads, start=st.integers(0, 8), count=st.integers(6, 12))
    def add_many_and_settle(self, owner: Name, thread: str, start: int, count: int) -> None:
        chosen = [LINES[n % len(LINES)] for n in range(start, start + count)]
        self.add_messages(owner, [line for one in chosen for line in (one, "I see.")], thread, 1)
        self.settle(owner)

    # ------------------------------------------------------------------------------------- what is understood

    @rule(owner=owners)
    def settle(self, owner: Name) -> None:
        self.do(lambda memory: memory.of(*owner).settle())
        stats = self.of(owner).stats()
        event(f"archived segments: {min(stats.archived_segments, 3)}, archived facts: {min(stats.archived_facts, 3)}")
        assert stats.without_vector == 0
        assert stats.failed or stats.pending == 0

    @rule(better=st.booleans(), seconds=st.sampled_from((1, 200)))
    def settle_with_another_analyst(self, better: bool, seconds: int) -> None:
        self.clock.go(seconds)
        analyst = ScriptedAnalyst() if better else ScriptedAnalyst(failures=10**6)
        own = {name: value for name, value in self.settings.items() if name != "embedder"}
        bench = Bench(self.place, self.clock, analyst, None, **own, attempts=2)
        with self.losing_what_is_due(), closing(bench.store):
            bench.system.settle(ALICE)
        self.assert_well()

    @rule(owner=owners)
    def settle_with_a_model(self, owner: Name) -> None:
        self.clock.go(7)
        own: dict[str, Any] = {"model": "scripted", "model_url": self.server.url, "model_key": "none"}
        memory = Memory(self.place, clock=self.clock, **self.settings, **own)
        with self.losing_what_is_due(), memory as understanding:
            understanding.of(*owner).settle()
        self.assert_well()

    @rule(seconds=st.sampled_from([1, 100, 10**6]))
    def work(self, seconds: int) -> None:
        self.clock.go(seconds)
        self.do(Memory.work)

    @rule(owner=owners)
    def understand_anew(self, owner: Name) -> None:
        self.compare()
        self.copies = []
        self.do(lambda memory: memory.of(*owner).understand_anew())

    @rule()
    def rebuild(self) -> None:
        self.do(Memory.rebuild)
        assert_as_applied_again(self.memory, self.place)

    # ------------------------------------------------------------------------------------------ what is corrected

    @rule(owner=owners, name=st.sampled_from(["Alice", "Bob", None]))
    def set_profile(self, owner: Name, name: str | None) -> None:
        self.do(lambda memory: memory.of(*owner).set_profile(name=name))
        assert [f.value for f in self.of(owner).profile() if f.name == "name"] == ([] if name is None else [name])

    @rule(owner=owners, how=st.sampled_from(["correct", "pin", "unpin", "retire"]), n=which)
    def rule_on_a_fact(self, owner: Name, how: str, n: int) -> None:
        if not (facts := self.of(owner).facts()):
            return
        fact = facts[n % len(facts)].id
        ways: dict[str, Callable[[OwnerMemory], object]] = {
            "correct": lambda mine: mine.correct(fact, f"says {n} now, not {fact}", value=f"{n} {fact}"),
            "pin": lambda mine: mine.pin(fact),
            "unpin": lambda mine: mine.pin(fact, False),
            "retire": lambda mine: mine.retire(fact),
        }
        self.do(lambda memory: ways[how](memory.of(*owner)))

    @rule(owner=owners, value=st.sampled_from(["Lyon", "Nantes", "Laon"]), day=st.integers(1, 28))
    def learn(self, owner: Name, value: str, day: int) -> None:
        fact = {"text": f"lives in {value}", "attribute": "lives_in", "value": value, "valid_from": f"2026-03-{day:02}"}
        self.do(lambda memory: memory.of(*owner).learn([fact]))

    @rule(owner=owners, n=which)
    def settle_a_conflict(self, owner: Name, n: int) -> None:
        if found := self.of(owner).conflicts():
            one = found[n % len(found)]
            self.do(lambda memory: memory.of(*owner).settle_conflict(one.older.id, one.newer.id))

    @rule(owner=owners, back=st.integers(0, 9))
    def undo(self, owner: Name, back: int) -> None:
        if changes := [change for change in self.of(owner).changes() if change.cause in TEACHING]:
            no = changes[-1 - back % len(changes)].no
            self.do(lambda memory: memory.of(*owner).undo(no))

    @rule(owner=owners)
    def undo_the_last_undoing(self, owner: Name) -> None:
        if undone := self.of(owner).changes(cause="undo"):
            self.do(lambda memory: memory.of(*owner).undo(undone[-1].no))

    # ------------------------------------------------------------------------------------------ what is forgotten

    @rule(owner=owners, of=st.sampled_from(["page", "page", "fact", "segment"]), n=which)
    def forget(self, owner: Name, of: str, n: int) -> None:
        mine = self.of(owner)
        ids: dict[str, list[str]] = {
            "page": [page.id for page in mine.pages()],
            "fact": [fact.id for fact in (*mine.facts(), *mine.past_facts())],
            "segment": [one.id for archived in (False, True) for one in mine.segments(archived)],
        }
        if found := ids[of]:
            self.take(owner, **{of: found[n % len(found)]})

    @rule(owner=owners, thread=threads)
    def forget_a_thread(self, owner: Name, thread: str) -> None:
        self.take(owner, thread=thread)

    @rule(owner=owners, ago=st.integers(0, 600))
    def forget_what_is_old(self, owner: Name, ago: int) -> None:
        self.take(owner, before=self.clock.now - timedelta(seconds=ago))

    @rule(owner=owners, n=which)
    def forget_what_matches(self, owner: Name, n: int) -> None:
        if said := self.said[owner]:
            self.take(owner, matching=said[n % len(said)].word)

    @rule(owner=owners, n=which)
    def forget_some_pages(self, owner: Name, n: int) -> None:
        if pages := [page.id for page in self.of(owner).pages()][n % 5 :: 3]:
            self.compare()
            self.forgotten += 1
            self.do(lambda memory: memory.of(*owner).forget_pages(pages), forgets=owner)
            assert_as_applied_again(self.memory, self.place)

    def take(self, owner: Name, **named: Any) -> None:
        self.compare()
        before = len(self.gone)
        with suppress(InputError, NotFound):
            self.of(owner).forget(**named, dry_run=True)
            self.do(lambda memory: memory.of(*owner).forget(**named), forgets=owner)
            self.forgotten += 1
            event(f"forgot by {next(iter(named))}: {min(len(self.gone) - before, 3)} words")
            assert_as_applied_again(self.memory, self.place)

    @rule(owner=owners, dry_run=st.booleans())
    def fade(self, owner: Name, dry_run: bool) -> None:
        self.do(lambda memory: memory.of(*owner).fade(dry_run=dry_run), forgets=owner)

    @rule(owner=owners, n=which, of=st.sampled_from(["fact", "page"]))
    def expire(self, owner: Name, n: int, of: str) -> None:
        mine = self.of(owner)
        ids: list[str] = [one.id for one in (mine.facts() if of == "fact" else mine.pages())]
        if ids:
            self.compare()
            self.forgotten += 1
            ending: dict[str, Any] = {f"{of}_id": ids[n % len(ids)], "at": timedelta(seconds=90)}
            self.do(lambda memory: memory.of(*owner).expire(**ending))

    # ------------------------------------------------------------------------------------------------ what is read

    @rule(owner=owners, query=st.sampled_from((*LINES, *QUESTIONS)))
    def recall_and_visit(self, owner: Name, query: str) -> None:
        mine = self.of(owner)
        before = written(self.place)
        context = mine.recall(query, budget=200)
        hits = mine.search(query, k=5)
        assert written(self.place) == before
        assert context.tokens <= 200
        visits = {hit.segment_id: mine.segment(hit.segment_id).visits for hit in hits if hit.segment_id}
        mine.visit(hits)
        assert all(mine.segment(segment_id).visits == count + 1 for segment_id, count in visits.items())

    @rule(owner=owners, day=st.integers(0, 410))
    def read_what_was_true(self, owner: Name, day: int) -> None:
        mine, at = self.of(owner), NOW - timedelta(days=day) + timedelta(hours=1)
        known = (*mine.facts(), *(fact for fact in mine.past_facts() if not fact.archived))
        assert {fact.id for fact in mine.facts(valid_at=at)} == {fact.id for fact in known if is_true(fact, at)}
        pages = mine.pages(valid_at=at)
        assert all(page.said_at <= at for page in pages)
        assert {page.id for page in pages} >= {p for s in mine.segments(valid_at=at) for p in s.page_ids}

    @rule()
    def reopen(self) -> None:
        self.memory.close()
        self.open()

    @precondition(lambda self: len(self.copies) < 3)
    @rule()
    def copy(self) -> None:
        self.clock.go(1)
        file = Path(self.folder.name) / f"copy {self.count} {self.clock.now.timestamp():.0f}.db"
        copy_of(self.memory, file)
        self.copies.append(Copied(at=self.clock.now, file=file, forgotten=self.forgotten))
        self.clock.go(1)


def is_true(fact: Fact, at: datetime) -> bool:
    until = fact.valid_to or fact.retired_at
    return (fact.valid_from is None or fact.valid_from <= at) and (until is None or at < until)


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer(answer) as server:
        yield server


@pytest.mark.engines
@pytest.mark.timeout(3000)
def test_whatever_is_done_in_whatever_order_and_wherever_it_is_interrupted_a_store_keeps_its_promises(
    place: Place, engine: str, model: ModelServer
) -> None:
    class Here(Life):
        stores = (place(f"{n}/memory.db") for n in itertools.count())
        server = model

    phases = [Phase.explicit, Phase.reuse, Phase.generate]
    many = settings(
        max_examples=bounded(1, proofs=60 if engine == "sqlite" else 20),
        stateful_step_count=bounded(7, proofs=20),
        phases=bounded(phases, proofs=[*phases, Phase.shrink]),  # to shrink a life takes minutes
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(Here, settings=many)
