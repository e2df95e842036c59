"""A store whose life a test makes up, a plain model of what went in, and what must hold of both after every step."""

from __future__ import annotations

import itertools
import math
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event
from hypothesis.stateful import RuleBasedStateMachine

from bench_of import ALICE
from embermem import Memory, OwnerMemory
from embermem.core.changes import Cause, Change, Evicted, FactAdded, Placed
from embermem.core.config import Preset
from embermem.core.errors import InputError, NotFound
from forgotten import found_by, holds
from lives import store_of
from mortal import Mortal, Struck
from readings import all_read, assert_as_applied_again, assert_recalled_alike, assert_same_rows, stored
from scripted import SMALL, Clock
from soundness import assert_sound, assert_tiers, looking, rows
from state_rows import visits

Name = tuple[str, str]
Step = Callable[[Memory], object]

OTHER = "other"
LEASE_S = 60.0
OWNERS: tuple[Name, ...] = ((ALICE.user, ALICE.agent), ("alice", "b:c"), ("alice:b", "c"), ("default", "alice"))
"""Names chosen to be confused; two of them share a user."""
LINES = (
    "I live in {0}.",
    "I live in Lyon.",
    "I moved to {0} in May.",
    "I like {0}. I like figs. I like jazz.",
    "I like green tea. I like figs. I like jazz. I like rain. I like maps. I like salt.",
    "My sister {0} is a nurse.",
    "We saw a purple {0} on the lake. The {0} came back.",
    "The train to Bordeaux was late.",
    "Call me {0}.",
    "我住在北京。{0}很好。",
    "I don't live in Lyon any more. {0}!",
    "",
)
QUESTIONS = ("Where do I live?", "What came back to the lake?")
PRESETS: tuple[Preset, ...] = ("default", "paper")
ORDINARY = {Cause.EMBEDDING, Cause.ANNOTATION, Cause.CONSOLIDATION, Cause.PROMOTION, Cause.EVICTION, Cause.PROFILE}
"""The causes of changes that neither take anything back nor come from outside."""
RARE = re.compile("zq([a-d])[a-z]{2}xw", re.IGNORECASE)
"""A word that is said once; its third letter names its owner."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Copied:
    """A copy of the store, when it was taken, and how much had been forgotten by then."""

    at: datetime
    file: Path
    forgotten: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """One message that was acknowledged."""

    text: str
    word: str
    page_id: str


class StoreLife(RuleBasedStateMachine):
    """A memory with small capacities, a second handle on the same store, what was said, and copies of the store that
    were taken on the way. The rules are a subclass's."""

    def begin_on(self, place: str | Path, own: dict[str, Any]) -> None:
        """An empty store, with some settings of its own."""
        self.place = place
        self.folder = tempfile.TemporaryDirectory(prefix="embermem-life-")
        self.clock = Clock()
        self.settings: dict[str, Any] = {**SMALL, **own, "batch_wait_s": 60.0, "lease_s": LEASE_S, "retry_max_s": 100.0}
        self.settings["forgotten_key_file"] = str(Path(self.folder.name) / "key")
        self.turns: list[Any] = []
        """Who makes the steps to come: this process (None), another one, or this one, which dies in its n-th
        transaction, before or after the commit."""
        self.said: dict[Name, list[Said]] = {owner: [] for owner in OWNERS}
        self.gone: set[str] = set()
        self.copies: list[Copied] = []
        self.forgotten = 0
        self.count = 0
        self.other = Memory(self.place, clock=self.clock, **self.settings)
        self.open()

    def open(self) -> None:
        self.memory = Memory(self.place, clock=self.clock, **self.settings)
        self.store = Mortal(store_of(self.memory))
        self.memory._store.close()
        self.memory._store = self.memory._parts.admin = self.store
        self.memory._parts.store = self.store.protocols
        self.memory._parts.system = self.memory._make_system()

    def teardown(self) -> None:
        if not hasattr(self, "memory"):
            return
        try:
            self.do(lambda memory: memory.of(*OWNERS[0]).settle())
            self.compare()
            self.assert_well(deep=True)
            assert_as_applied_again(self.memory, self.place)
            self.compare()
        finally:
            self.memory.close()
            self.other.close()
            self.folder.cleanup()

    def of(self, owner: Name) -> OwnerMemory:
        return self.memory.of(*owner)

    # ------------------------------------------------------------------------------------------------ a step, and again

    def do(self, step: Step, *, forgets: Name | None = None) -> None:
        """A step; if it is to be struck down in its midst, it is tried again by a new process."""
        self.clock.go(7)
        turn = self.turns.pop() if self.turns else None
        if isinstance(turn, tuple):
            self.store.left, self.store.after = turn
        others = stored(self.place, without=self.id_of(forgets)) if forgets else {}
        with self.losing_what_is_due(forgets), suppress(InputError, NotFound):
            try:
                step(self.other if turn == OTHER else self.memory)
            except Struck:
                event(f"struck {'after' if self.store.after else 'before'} a commit")
                self.store.close()
                self.clock.go(LEASE_S + 1)
                self.open()
                step(self.memory)
        self.store.left = None
        if forgets:
            assert_same_rows(others, stored(self.place, without=self.id_of(forgets)))
        self.assert_well(deep=forgets is not None)

    @contextmanager
    def losing_what_is_due(self, forgets: Name | None = None) -> Iterator[None]:
        """A step in which pages may go that have expired by its end; others only where it forgets."""
        due = self.hidden(within_s=LEASE_S + 1)
        yield
        assert self.lose() <= due or forgets

    def id_of(self, owner: Name) -> str:
        return self.of(owner).owner.id

    def hidden(self, *, within_s: float = 0.0) -> set[str]:
        """Stored pages that are shown no more, by now or within some seconds: a worker is to forget them."""
        now = (self.clock.now.timestamp() + within_s) * 1e6
        found = rows(self.place, "SELECT page_id, expires_at FROM page WHERE expires_at IS NOT NULL")
        return {row["page_id"] for row in found if row["expires_at"] <= now}

    def lose(self) -> set[str]:
        """Words of pages that are there no more are to be nowhere. Which pages these are."""
        there = {row["page_id"] for row in rows(self.place, "SELECT page_id FROM page")}
        lost = {one.page_id for said in self.said.values() for one in said} - there
        if lost:
            self.gone |= {one.word for said in self.said.values() for one in said if one.page_id in lost}
            self.said = {owner: [one for one in said if one.page_id not in lost] for owner, said in self.said.items()}
            self.forgotten += 1
            if self.store.scrub_due():  # it was struck down before it was scrubbed
                assert self.store.scrub()
            self.assert_gone()
        return lost

    def worded(self, owner: Name, line: str) -> tuple[str, str]:
        """A word that is said once, and a text with it."""
        self.count += 1
        word = f"Zq{'abcd'[OWNERS.index(owner)]}{chr(97 + self.count // 26)}{chr(97 + self.count % 26)}xw"
        return word, line.format(word) if "{0}" in line else f"{line}\n{word} {self.count}."

    # ------------------------------------------------------------------------------------------------ what always holds

    def assert_well(self, *, deep: bool = False) -> None:
        """The store is sound, to the row, the doctor finds nothing, and both processes see the same."""
        assert_sound(self.place)
        assert [one for one in self.memory.check(deep=deep) if one.level == "error"] == []
        for owner in OWNERS if deep else ():
            self.assert_kept(owner)
        hidden = bool(self.hidden())
        if not hidden:  # what is counted are the pages that are stored
            assert_tiers(self.memory)
        for owner in OWNERS:
            if self.said[owner]:
                changes = self.of(owner).changes()
                self.assert_placed_in_order(owner, changes)
                self.assert_within_capacities(owner, changes)
                self.assert_nothing_of_others_is_seen(owner)
                if not hidden:
                    self.assert_heat(owner)

    def assert_kept(self, owner: Name) -> None:
        """What was said is stored once, in the order in which it came."""
        found = rows(self.place, "SELECT text FROM utterance WHERE owner_id = ? ORDER BY seq", self.id_of(owner))
        assert [row["text"] for row in found] == [one.text for one in self.said[owner]]

    def assert_placed_in_order(self, owner: Name, changes: tuple[Change, ...]) -> None:
        """Pages leave short-term memory in the order in which they came, also when memory is understood anew."""
        found = rows(self.place, "SELECT page_id, no FROM page WHERE owner_id = ? ORDER BY no", self.id_of(owner))
        number = {row["page_id"]: row["no"] for row in found}
        begun = max((change.no for change in changes if change.cause is Cause.ANEW), default=0)
        placed = (d.page_id for c in changes if c.no > begun for d in c.decisions if isinstance(d, Placed))
        left = list(dict.fromkeys(placed))  # a page that moves to another segment is placed again
        assert [number[page_id] for page_id in left] == [*number.values()][: len(left)]

    def assert_within_capacities(self, owner: Name, changes: tuple[Change, ...]) -> None:
        mine = self.of(owner)
        assert len(mine.segments()) <= SMALL["mid_term_segments"]
        for about in ("user", "agent"):
            of = Counter(fact.subject.casefold() for fact in mine.facts(about) if not fact.pinned)
            assert max(of.values(), default=0) <= SMALL[f"{about}_facts"]
        held = Counter(f.id for f in (*mine.facts(), *mine.facts(archived=True), *mine.past_facts()))
        assert max(held.values(), default=1) == 1
        if {change.cause for change in changes} <= ORDINARY:
            decisions = [d for change in changes for d in change.decisions]
            evicted = {d.segment_id for d in decisions if isinstance(d, Evicted)}
            assert {segment.id for segment in mine.segments(archived=True)} == evicted
            assert held == Counter(d.fact_id for d in decisions if isinstance(d, FactAdded))

    def assert_heat(self, owner: Name) -> None:
        """Heat is Eq. 3, with recency since the last visit or since the newest page was said."""
        mine = self.of(owner)
        of = "WHERE owner_id = ? AND segment_id = ?"
        with looking(self.place) as look:
            counted = visits(mine.changes(), look("SELECT * FROM visit WHERE owner_id = ?", mine.owner.id))
            for segment in (*mine.segments(), *mine.segments(archived=True)):
                pages = look(f"SELECT * FROM page {of}", mine.owner.id, segment.id)
                times, last = counted.get(segment.id, (0, 0))
                new = sum(page["analysed_seq"] < page["last_seq"] for page in pages)
                first = ", ".join(str(page["first_seq"]) for page in pages)
                said = look(f"SELECT said_at FROM utterance WHERE owner_id = ? AND seq IN ({first})", mine.owner.id)
                newest = max([one["said_at"] for one in said] + [last]) / 1e6
                age = max(0.0, self.clock.now.timestamp() - newest)
                assert mine.heat(segment) == pytest.approx(times + new + math.exp(-age / 1e7))

    def assert_nothing_of_others_is_seen(self, owner: Name) -> None:
        ours, theirs = self.of(owner), self.other.of(*owner)
        read = (
            ours.recall(" ".join(QUESTIONS), budget=5000),
            ours.search("heron", k=50),
            ours.chains(),
            ours.changes(),
        )
        assert {found.lower() for found in RARE.findall(repr(read))} <= {"abcd"[OWNERS.index(owner)]}
        assert [page.id for page in theirs.pages()] == [page.id for page in ours.pages()]
        for other in OWNERS:
            for said in self.said[other][:1] if other != owner else ():
                with pytest.raises(NotFound):
                    ours.page(said.page_id)

    def compare(self) -> None:
        """What was known when a copy was taken is what the copy says; after a forgetting, no more than that."""
        mine = self.of(OWNERS[0])
        for copied in self.copies:
            with Memory(copied.file, clock=Clock(copied.at), **self.settings) as then:
                old = then.of(*OWNERS[0])
                if copied.forgotten != self.forgotten:
                    event("compared with a copy of what was forgotten in part")
                    assert {*map(told, mine.pages(as_of=copied.at))} <= {*map(told, old.pages())}
                    continue
                event("compared with a copy")
                assert all_read(mine, as_of=copied.at) == all_read(old)
                for question, preset in itertools.product(QUESTIONS, PRESETS):
                    assert_recalled_alike(mine, old, question, copied.at, preset)

    def assert_gone(self) -> None:
        """No word of what was forgotten is in a file of the store, or in a read of any moment, by either process."""
        assert holds(self.place, *self.gone) == []
        read = [repr(self.read(owner)) for owner in OWNERS]
        read += [repr(self.read(OWNERS[0], as_of=copied.at)) for copied in self.copies]
        read += [found_by(memory.of(*OWNERS[0]), *QUESTIONS) for memory in (self.memory, self.other)]
        found = " ".join(read)
        assert [word for word in self.gone if word in found] == []

    def read(self, owner: Name, **at: Any) -> tuple[object, ...]:
        mine = self.of(owner)
        told = (all_read(mine, **at), *(mine.recall(question, budget=5000, **at) for question in QUESTIONS))
        return (*told, mine.conflicts(**at), mine.changes())


def told(page: Any) -> tuple[str, ...]:
    """A page by its id and its words."""
    return (page.id, *(utterance.text for utterance in page.utterances))
