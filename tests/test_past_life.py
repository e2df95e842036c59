"""A memory with a past, whatever is done with it and wherever it is interrupted: what was known at any moment can be
read again, what was forgotten is nowhere, and the log gives what is stored."""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, event, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from sqlalchemy.engine import Connection

from embermem import Memory, OwnerMemory
from embermem.changes import Cause
from embermem.errors import InputError, NotFound
from embermem.stores.sql import SqlStore
from embermem.stores.transactions import Transaction
from embermem.testing.answers import linking_answer
from embermem.testing.model_server import ModelServer
from lives import store_of
from scripted import SMALL, Clock, Place
from soundness import assert_sound, assert_tiers, rows
from test_forgetting import found_by, holds
from test_past import all_read

EXAMPLES = int(os.environ.get("EMBER_LIVES", "8"))
"""How many lives are lived; the suite's few take some seconds each."""
LINES = (
    "I live in {0}.",
    "I live in Lyon.",
    "I moved to {0} in May.",
    "I like {0}. I like figs. I like jazz.",
    "My sister {0} is a nurse.",
    "We saw a purple {0} on the lake. The {0} came back.",
    "Call me {0}.",
    "我住在北京。{0}很好。",
    "I don't live in Lyon any more. {0}!",
)
QUESTIONS = ("Where do I live?", "What came back to the lake?")
lines, threads, which = st.sampled_from(LINES), st.sampled_from(("t1", "t2")), st.integers(0, 30)


TEACHING = {*Cause} - {Cause.EMBEDDING, Cause.CONSOLIDATION, Cause.EVICTION, Cause.REINDEX, Cause.ANEW}
"""The causes of changes that may be undone."""


class Struck(Exception):
    """The process died here."""


class Mortal(SqlStore):
    """A store whose process dies in one of its next transactions: before it is committed, or just after. From then on
    it does nothing."""

    def __init__(self, store: SqlStore) -> None:
        super().__init__(store._database)
        self.left: int | None = None
        self.after = False
        self.dead = False

    def _transaction(self, *, writes: bool) -> Transaction:
        if self.dead:
            raise Struck
        return super()._transaction(writes=writes)

    @contextmanager
    def _write(self) -> Iterator[Connection]:  # type: ignore[override]
        if self.left is not None:
            self.left -= 1
        struck = self.left == 0
        with super()._write() as connection:
            yield connection
            self.dead = struck and not self.after
            if self.dead:
                raise Struck
        self.dead = struck
        if self.dead:
            raise Struck


@dataclass(frozen=True, kw_only=True, slots=True)
class Copied:
    """A copy of the store, when it was taken, and how much had been forgotten by then."""

    at: datetime
    file: Path
    forgotten: int


class PastLife(RuleBasedStateMachine):
    """One owner's memory, the words that it was told, and copies of it taken on the way."""

    stores: ClassVar[Iterator[str | Path]]
    """Where each example's own store lies."""
    server: ClassVar[ModelServer]
    """A model that reads pages, and links what it is shown."""

    @initialize(
        theta=st.sampled_from([0.3, 0.6, 1.2]),
        when=st.sampled_from(["read", "promoted"]),
        told=st.lists(st.tuples(lines, threads), min_size=3, max_size=6),
        strikes=st.lists(st.none() | st.tuples(st.integers(1, 4), st.booleans()), min_size=10, max_size=10),
    )
    def begin(
        self, theta: float, when: str, told: list[tuple[str, str]], strikes: list[tuple[int, bool] | None]
    ) -> None:
        self.place = next(self.stores)
        self.folder = tempfile.TemporaryDirectory(prefix="embermem-past-")
        self.clock = Clock()
        self.settings: dict[str, Any] = {**SMALL, "theta": theta, "facts_when": when, "tau": 0.5, "min_new": 1}
        self.settings |= {"forgotten_key_file": str(Path(self.folder.name) / "key"), "lease_s": 60.0}
        self.strikes: list[tuple[int, bool] | None] = []
        """For each step to come: in which transaction it is struck down, and whether after its commit."""
        self.words: dict[str, str] = {}
        self.gone: set[str] = set()
        self.copies: list[Copied] = []
        self.forgotten = 0
        self.count = 0
        self.open()
        for line, thread in told:
            self.add(line, thread, True)
        self.settle()
        self.strikes = strikes

    def open(self) -> None:
        self.memory = Memory(self.place, clock=self.clock, **self.settings)
        self.store = Mortal(store_of(self.memory))
        self.memory._parts.store.close()
        self.memory._parts.store = self.store
        self.memory._parts.system = self.memory._make_system()
        self.alice: OwnerMemory = self.memory.of("alice")

    def teardown(self) -> None:
        if not hasattr(self, "alice"):
            return
        try:
            self.settle()
            self.compare()
            self.assert_well(deep=True)
            assert all(found.same for found in self.memory.rebuild())
            self.compare()
        finally:
            self.memory.close()
            self.folder.cleanup()

    # ------------------------------------------------------------------------------------------------ a step, and again

    def do(self, step: Callable[[], object]) -> None:
        """A step; if it is to be struck down in its midst, it is tried again by a new process."""
        self.clock.go(7)
        strike = self.strikes.pop() if self.strikes else None
        if strike is not None:
            self.store.left, self.store.after = strike
        with suppress(InputError, NotFound):
            try:
                step()
            except Struck:
                event(f"struck {'after' if self.store.after else 'before'} a commit")
                self.store.close()
                self.clock.go(61)
                self.open()
                step()
        self.store.left = None
        self.lose()
        self.assert_well()

    def lose(self) -> None:
        """Words of pages that are there no more are to be nowhere."""
        there = {row["page_id"] for row in rows(self.place, "SELECT page_id FROM page")}
        lost = {word for word, page in self.words.items() if page not in there}
        if lost:
            self.gone |= lost
            self.words = {word: page for word, page in self.words.items() if word not in lost}
            self.forgotten += 1
            if self.store.scrub_due():  # it was struck down before it was scrubbed
                assert self.store.scrub()
            self.assert_gone()

    def word(self) -> str:
        self.count += 1
        return f"Zq{chr(97 + self.count // 26)}{chr(97 + self.count % 26)}xw"

    # ------------------------------------------------------------------------------------------------------------ rules

    @rule(line=lines, thread=threads, answered=st.booleans())
    def add(self, line: str, thread: str, answered: bool) -> None:
        word = self.word()
        said, key = line.format(word), f"k{self.count}"

        def step() -> None:
            reply = "I see." if answered else None
            self.words[word] = self.alice.add(said, reply, thread=thread, key=key)

        self.do(step)

    @rule(told=st.lists(lines, min_size=1, max_size=4), thread=threads)
    def add_messages(self, told: list[str], thread: str) -> None:
        said = [(word := self.word(), line.format(word)) for line in told]
        key = f"k{self.count}"
        made = [{"role": "user" if n % 2 else "assistant", "content": text} for n, (_, text) in enumerate(said)]

        def step() -> None:
            added = self.alice.add_messages(made, thread=thread, key=key)
            pages = {u.id: page.id for page in self.alice.pages() for u in page.utterances}
            for (word, _), utterance_id in zip(said, added.utterance_ids, strict=True):
                self.words[word] = pages[utterance_id]

        self.do(step)

    @rule()
    def settle(self) -> None:
        self.do(self.alice_settles)

    def alice_settles(self) -> None:
        self.alice.settle()

    @rule()
    def settle_with_a_model(self) -> None:
        self.clock.go(7)
        own: dict[str, Any] = {"model": "scripted", "model_url": self.server.url, "model_key": "none"}
        with Memory(self.place, clock=self.clock, **self.settings, **own) as understanding:
            understanding.of("alice").settle()
        self.assert_well()

    @rule(seconds=st.sampled_from([1, 100, 10**6]))
    def work(self, seconds: int) -> None:
        self.clock.go(seconds)
        self.do(lambda: self.memory.work())

    @rule(name=st.sampled_from(["Alice", "Bob", None]))
    def set_profile(self, name: str | None) -> None:
        self.do(lambda: self.alice.set_profile(name=name))

    @rule(how=st.sampled_from(["correct", "pin", "unpin", "retire"]), n=which)
    def rule_on_a_fact(self, how: str, n: int) -> None:
        if not (facts := self.alice.facts()):
            return
        fact = facts[n % len(facts)]
        self.do(
            {
                "correct": lambda: self.alice.correct(fact.id, f"says {n} now, not {fact.id}", value=f"{n} {fact.id}"),
                "pin": lambda: self.alice.pin(fact.id),
                "unpin": lambda: self.alice.pin(fact.id, False),
                "retire": lambda: self.alice.retire(fact.id),
            }[how]
        )

    @rule(value=st.sampled_from(["Lyon", "Nantes", "Laon"]), day=st.integers(1, 28))
    def learn(self, value: str, day: int) -> None:
        fact = {"text": f"lives in {value}", "attribute": "lives_in", "value": value, "valid_from": f"2026-03-{day:02}"}
        self.do(lambda: self.alice.learn([fact]))

    @rule(n=which, m=which)
    def settle_a_conflict(self, n: int, m: int) -> None:
        if found := self.alice.conflicts():
            one = found[n % len(found)]
            self.do(lambda: self.alice.settle_conflict(one.older.id, one.newer.id))

    @rule(n=which, m=which)
    def link(self, n: int, m: int) -> None:
        ends: list[str] = [*(fact.id for fact in self.alice.facts()), *(one.id for one in self.alice.segments())]
        if ends:
            one, other = ends[n % len(ends)], ends[m % len(ends)]
            self.do(lambda: self.alice.link(one, other, "both are told of"))

    @rule(n=which)
    def unlink(self, n: int) -> None:
        if links := self.alice.links():
            self.do(lambda: self.alice.unlink(links[n % len(links)].id))

    @rule(dry_run=st.booleans())
    def fade(self, dry_run: bool) -> None:
        self.do(lambda: self.alice.fade(dry_run=dry_run))

    @rule(n=which, of=st.sampled_from(["fact", "page"]))
    def expire(self, n: int, of: str) -> None:
        ids: list[str] = [one.id for one in (self.alice.facts() if of == "fact" else self.alice.pages())]
        if ids:
            self.compare()
            self.forgotten += 1
            chosen = ids[n % len(ids)]
            self.do(lambda: self.alice.expire(**{f"{of}_id": chosen}, at=timedelta(seconds=90)))

    @rule(back=st.integers(0, 9))
    def undo(self, back: int) -> None:
        if changes := [change for change in self.alice.changes() if change.cause in TEACHING]:
            no = changes[-1 - back % len(changes)].no
            self.do(lambda: self.alice.undo(no))

    @rule()
    def undo_the_last_undoing(self) -> None:
        if undone := self.alice.changes(cause="undo"):
            self.do(lambda: self.alice.undo(undone[-1].no))

    @rule(of=st.sampled_from(["page", "page", "fact", "segment"]), n=which)
    def forget(self, of: str, n: int) -> None:
        if of == "page":
            ids: list[str] = [page.id for page in self.alice.pages()]
        elif of == "fact":
            ids = [fact.id for fact in (*self.alice.facts(), *self.alice.past_facts())]
        else:
            ids = [one.id for archived in (False, True) for one in self.alice.segments(archived)]
        if ids:
            self.take(**{of: ids[n % len(ids)]})

    @rule(thread=threads)
    def forget_a_thread(self, thread: str) -> None:
        self.take(thread=thread)

    @rule(ago=st.integers(0, 600))
    def forget_what_is_old(self, ago: int) -> None:
        self.take(before=self.clock.now - timedelta(seconds=ago))

    @rule(n=which)
    def forget_what_matches(self, n: int) -> None:
        if self.words:
            self.take(matching=sorted(self.words)[n % len(self.words)])

    def take(self, **named: Any) -> None:
        self.compare()
        before = len(self.gone)
        told = suppress(InputError, NotFound)
        with told:
            self.alice.forget(**named, dry_run=True)
            self.do(lambda: self.alice.forget(**named))
            self.forgotten += 1
            event(f"forgot by {next(iter(named))}: {min(len(self.gone) - before, 3)} words")
            self.assert_well(deep=True)

    @rule()
    def rebuild(self) -> None:
        self.do(lambda: self.memory.rebuild())

    @rule()
    def understand_anew(self) -> None:
        self.compare()
        self.copies = []
        self.do(lambda: self.alice.understand_anew())

    @rule()
    def reopen(self) -> None:
        self.memory.close()
        self.open()

    @precondition(lambda self: len(self.copies) < 3)
    @rule()
    def copy(self) -> None:
        self.clock.go(1)
        file = Path(self.folder.name) / f"copy {self.count} {self.clock.now.timestamp():.0f}.db"
        self.store.copy(file)
        self.copies.append(Copied(at=self.clock.now, file=file, forgotten=self.forgotten))
        self.clock.go(1)

    # ------------------------------------------------------------------------------------------------------- invariants

    def assert_well(self, *, deep: bool = False) -> None:
        """The store is sound, to the row, and the doctor finds nothing."""
        assert_sound(self.place)
        assert [one for one in self.memory.check(deep=deep) if one.level == "error"] == []
        hidden = [page for page in rows(self.place, "SELECT * FROM page") if expired(page, self.clock.now)]
        if not hidden:  # what is counted are the pages that are stored
            assert_tiers(self.memory)

    def compare(self) -> None:
        """What was known when a copy was taken is what the copy says; after a forgetting, no more than that."""
        for copied in self.copies:
            with Memory(copied.file, clock=Clock(copied.at), **self.settings) as then:
                old = then.of("alice")
                if copied.forgotten == self.forgotten:
                    event("compared with a copy")
                    assert all_read(self.alice, as_of=copied.at) == all_read(old)
                    for question in QUESTIONS:
                        now = self.alice.recall(question, as_of=copied.at)
                        assert now.text == old.recall(question, at=copied.at).text
                else:
                    event("compared with a copy of what was forgotten in part")
                    assert {*map(told, self.alice.pages(as_of=copied.at))} <= {*map(told, old.pages())}

    def assert_gone(self) -> None:
        """No word of what was forgotten is in a file of the store, or in a read of any moment."""
        assert holds(self.place, *self.gone) == []
        read = [repr(self.read()), found_by(self.alice, *QUESTIONS)]
        read += [repr(self.read(as_of=copied.at)) for copied in self.copies]
        found = " ".join(read)
        assert [word for word in self.gone if word in found] == []

    def read(self, **at: Any) -> tuple[object, ...]:
        told = (all_read(self.alice, **at), *(self.alice.recall(question, **at) for question in QUESTIONS))
        return (*told, self.alice.conflicts(**at), self.alice.links(**at), self.alice.changes())


def expired(page: dict[str, Any], now: datetime) -> bool:
    """Whether a stored page is shown no more: a worker is to forget it."""
    return page["expires_at"] is not None and page["expires_at"] <= now.timestamp() * 1e6


def told(page: Any) -> tuple[str, ...]:
    """A page by its id and its words."""
    return (page.id, *(utterance.text for utterance in page.utterances))


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer(linking_answer) as server:
        yield server


@pytest.mark.slow
@pytest.mark.timeout(580)
def test_whatever_is_done_and_interrupted_the_past_can_be_read_and_what_was_forgotten_is_nowhere(
    place: Place, engine: str, model: ModelServer
) -> None:
    class Here(PastLife):
        stores = (place(f"{n}/memory.db") for n in itertools.count())
        server = model

    run_state_machine_as_test(
        Here,
        settings=settings(
            max_examples=EXAMPLES if engine == "sqlite" else max(1, EXAMPLES // 3),
            stateful_step_count=14,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
