"""A backup brought back to a time holds what was known then: every read of it is that of the store as of that time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from embermem import Memory, OwnerMemory
from embermem.bootstrap import restore_store, wall_clock
from embermem.core.config import load
from embermem.core.errors import InputError
from embermem.core.types import Restored
from embermem.store.erasing import is_marked
from lives import fill_every_table, live, store_of
from proofs import bounded
from scripted import SMALL, Clock
from soundness import rows

QUESTIONS = ("Where do I live?", "What is my dog called?", "heron")


def restored(backup: Path, target: Path, at: datetime | None = None) -> Restored:
    return restore_store(backup, target, load(**SMALL), wall_clock(), lambda *told: None, at=at)


def picture(mine: OwnerMemory, as_of: datetime | None = None) -> dict[str, Any]:
    """What the memory tells; with `as_of`, of what was known then."""
    return {
        "pages": [(page.id, page.no, page.query, page.response) for page in mine.pages(as_of=as_of)],
        "segments": sorted(
            (one.id, one.title, one.summary, one.keywords, sorted(one.page_ids)) for one in mine.segments(as_of=as_of)
        ),
        "chains": sorted((one.id, one.summary, sorted(one.page_ids)) for one in mine.chains(as_of=as_of)),
        "facts": sorted((one.id, one.text, one.value, one.pinned) for one in mine.facts(as_of=as_of)),
        "past": sorted((one.id, one.text) for one in mine.past_facts(as_of=as_of)),
        "profile": sorted((one.name, one.value) for one in mine.profile(as_of=as_of)),
        "traits": sorted((one.dimension, one.level) for one in mine.traits(as_of=as_of)),
        "recalled": [mine.recall(question, as_of=as_of, at="2027-01-01").text for question in QUESTIONS],
    }


@contextmanager
def opened(place: Path, clock: Clock) -> Iterator[Memory]:
    with Memory(place, clock=clock, **SMALL) as memory:
        yield memory


def assert_sound(memory: Memory) -> None:
    assert [one.what for one in memory.check(deep=True) if one.level == "error"] == []


STEPS: dict[str, Callable[[OwnerMemory, int], object]] = {
    "say": lambda mine, n: mine.add(f"I live in {('Lyon', 'Oslo', 'Kiel')[n % 3]}.", "I see.", thread=f"t{n % 2}"),
    "ask": lambda mine, n: mine.add(f"My dog is called Rex{n}.", thread="open"),
    "settle": lambda mine, n: mine.settle(),
    "name": lambda mine, n: mine.set_profile(name=f"Zoë {n}"),
    "pin": lambda mine, n: [mine.pin(one.id) for one in mine.facts()[:1]],
    "note": lambda mine, n: mine.add_document(f"# Lease\n\nThe rent is {n}.", source=f"lease{n}.md"),
    "forget": lambda mine, n: [mine.forget(page=page.id) for page in mine.pages()[n % 5 : n % 5 + 1]],
    "end": lambda mine, n: [mine.forget(fact=one.id) for one in mine.facts()[:1]],
    "visit": lambda mine, n: visited(mine, n),
}


def visited(mine: OwnerMemory, n: int) -> None:
    """A visit, and the change that tells it."""
    mine.visit(mine.recall("Where do I live?"))
    mine.set_profile(name=f"Zoë {n}")


def visits(mine: OwnerMemory, as_of: datetime | None = None) -> dict[str, tuple[int, datetime]]:
    """What is counted of segments."""
    return {one.id: (one.visits, one.last_access) for one in mine.segments(as_of=as_of)}


@pytest.mark.sqlite
@settings(
    max_examples=bounded(4, proofs=60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=st.lists(st.sampled_from(sorted(STEPS)), min_size=4, max_size=14), data=st.data())
def test_a_store_brought_back_to_any_time_tells_what_the_store_tells_as_of_that_time(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str], data: st.DataObject
) -> None:
    folder, clock = tmp_path_factory.mktemp("life"), Clock()
    times = [clock.now]
    with opened(folder / "memory.db", clock) as memory:
        alice = memory.of("alice")
        for n, step in enumerate(steps):
            clock.go(60)
            STEPS[step](alice, n)
            times.append(clock.now)
        clock.go(60)
        memory.backup(folder / "backup.db")
        at = data.draw(st.sampled_from(times))
        before, counted = picture(alice, as_of=at), visits(alice, at)
    made = restored(folder / "backup.db", folder / "then.db", at)
    assert made.known_at == at
    with opened(folder / "then.db", clock) as memory:
        then = memory.of("alice")
        assert (picture(then), visits(then)) == (before, counted)
        assert_sound(memory)
        clock.go(60)
        then.add("I live in Bergen now.", "I see.")
        then.settle()
        assert_sound(memory)


@pytest.mark.sqlite
def test_every_table_is_brought_back_and_the_life_goes_on_from_there(tmp_path: Path) -> None:
    clock = Clock()
    with opened(tmp_path / "memory.db", clock) as memory:
        live(memory.of("alice"), clock)
        clock.go(60)
        at = clock.now
        before = picture(memory.of("alice"))
        clock.go(60)
        live(memory.of("bob"), clock)
        memory.of("alice").add("I moved to Bergen.", "I see.", key="later")
        memory.of("alice").settle()
        clock.go(60)
        memory.backup(tmp_path / "backup.db")
    made = restored(tmp_path / "backup.db", tmp_path / "then.db", at)
    assert (made.owners, made.forgotten_later) == (1, 0)
    assert b"Bergen" not in (tmp_path / "then.db").read_bytes()
    with opened(tmp_path / "then.db", clock) as memory:
        assert picture(memory.of("alice")) == before
        assert_sound(memory)
        memory.of("alice").add("I moved to Bergen.", "I see.", key="later")  # the key was not used yet
        memory.of("alice").settle()
        assert_sound(memory)


@pytest.mark.sqlite
def test_what_was_forgotten_later_stays_forgotten_and_is_not_learnt_again(tmp_path: Path) -> None:
    clock = Clock()
    said_at = "2026-05-02T10:00:00+02:00"
    with opened(tmp_path / "memory.db", clock) as memory:
        alice = memory.of("alice")
        alice.add("I live in Lyon.", "I see.")
        gone = alice.add("The code is qwertzuiop.", "Noted.", at=said_at)
        alice.add("I like figs.", "I see.")
        alice.settle()
        clock.go(60)
        at = clock.now
        clock.go(60)
        alice.forget(page=gone)
        memory.backup(tmp_path / "backup.db")
    made = restored(tmp_path / "backup.db", tmp_path / "then.db", at)
    assert made.forgotten_later == 1
    assert b"qwertzuiop" not in (tmp_path / "then.db").read_bytes()
    with opened(tmp_path / "then.db", clock) as memory:
        alice = memory.of("alice")
        assert [page.query for page in alice.pages()] == ["I live in Lyon.", "I like figs."]
        assert_sound(memory)
        with store_of(memory)._read() as c:
            assert is_marked(c)
        with pytest.raises(InputError, match="was forgotten"):
            alice.add("The code is qwertzuiop.", "Noted.", at=said_at)


@pytest.mark.sqlite
def test_a_time_after_the_backup_is_refused_and_so_is_a_store_of_another_system(tmp_path: Path) -> None:
    clock = Clock()
    with opened(tmp_path / "memory.db", clock) as memory:
        fill_every_table(memory, clock, users=("alice",))
        memory.backup(tmp_path / "backup.db")
        clock.go(3600)
    with pytest.raises(InputError, match="take a newer one"):
        restored(tmp_path / "backup.db", tmp_path / "then.db", clock.now)
    assert not (tmp_path / "then.db").exists()
    assert not rows(tmp_path / "backup.db", "SELECT value FROM store WHERE key = 'system'")
