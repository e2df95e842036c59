"""`copy`: a whole store from one database into another, whatever happens on the way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from embermem import Memory
from embermem.bootstrap import copy_store
from embermem.core.config import load
from embermem.core.errors import NotFound, StoreBusy, StoreError
from embermem.store.admin import copying
from embermem.store.admin.copying import Copied, Progress
from embermem.store.backup_list import BEGUN, COPIES
from embermem.store.statements import SCRUBBED
from forked import script
from lives import call, contents, fill_every_table, key, live, store_of
from scripted import NOW, SMALL, Clock, Place
from soundness import assert_sound, assert_tiers, meddle, rows

OWN = (copying.FINISHED, SCRUBBED, BEGUN, COPIES)
"""Settings of one store alone: that a copy is whole, its last scrub, and where its own copies lie."""


@pytest.fixture(params=["store into store", "store into file", "file into store"])
def ends(request: pytest.FixtureRequest, place: Place, tmp_path: Path, engine: str) -> tuple[str | Path, str | Path]:
    """A source and a target: of the engine of this run, and an SQLite file on either side."""
    source, _, target = request.param.partition(" into ")
    if engine == "sqlite" and "file" in request.param:
        pytest.skip("all are files")
    return (
        place("source.db") if source == "store" else tmp_path / "source.db",
        place("target.db") if target == "store" else tmp_path / "target.db",
    )


def opened(place: str | Path, clock: Clock) -> Memory:
    return Memory(place, clock=clock, **SMALL)


def copied(source: str | Path, target: str | Path, told: Callable[[Progress], None] = lambda progress: None) -> Copied:
    return copy_store(source, target, load(**SMALL), NOW, told)


def settings_of(place: str | Path) -> dict[str, str]:
    return {row["key"]: row["value"] for row in rows(place, "SELECT * FROM store")}


@pytest.mark.engines
def test_every_row_of_every_table_comes_along_and_the_copy_is_a_sound_store(
    ends: tuple[str | Path, str | Path], place: Place, lived_in: Callable[..., object], clock: Clock
) -> None:
    source, target = ends
    if source == place("source.db"):
        lived_in(fill_every_table, "source.db")
    with opened(source, clock) as memory:
        if source != place("source.db"):
            fill_every_table(memory, clock)
        before = memory.of("alice").recall("Where do I live?").text
    assert all(contents(source).values())  # no table is left out of this test
    seen: list[Progress] = []
    done = copied(source, target, seen.append)
    assert contents(target, without=OWN) == contents(source, without=OWN)
    counted = {table: len(found) for table, found in contents(source, without=OWN).items()}
    assert {name: one.rows for name, one in done.tables.items()} == counted
    assert (done.owners, done.again, done.went_on) == (2, 0, False)
    assert [(p.step, p.owners, p.total) for p in seen] == [
        (step, n, 2) for step in ("copying", "comparing") for n in (1, 2)
    ]
    told = settings_of(target)[copying.FINISHED]
    assert all(one.sha in told for one in done.tables.values())
    assert copying.UNFINISHED not in settings_of(target)
    with opened(target, clock) as memory:
        assert memory.of("alice").recall("Where do I live?").text == before
        memory.of("alice").add("I am in another house now.")
        memory.of("alice").settle()
        assert_tiers(memory)
    assert_sound(target)


def test_a_copy_of_a_copy_has_the_same_sums(place: Place, clock: Clock, tmp_path: Path) -> None:
    with opened(place(), clock) as memory:
        live(memory.of("alice"), clock, days=1)
    first = copied(place(), place("second.db"))
    second = copied(place("second.db"), tmp_path / "third.db")
    assert second.tables == first.tables


def test_what_was_forgotten_stays_forgotten_in_the_copy(place: Place, tmp_path: Path, clock: Clock) -> None:
    with opened(place(), clock) as memory:
        live(memory.of("alice"), clock)
        secret = store_of(memory).secret()
    target = tmp_path / "copy.db"
    copied(place(), target)
    assert bytes.fromhex((tmp_path / "copy.db.key").read_text()) == secret
    assert (tmp_path / "copy.db.key").stat().st_mode & 0o777 == target.stat().st_mode & 0o777 == 0o600


def test_a_key_of_another_store_in_the_target_s_place_is_not_overwritten(
    place: Place, tmp_path: Path, clock: Clock
) -> None:
    with opened(place(), clock) as memory:
        live(memory.of("alice"), clock)
    other = tmp_path / "copy.db.key"
    other.write_text("00" * 32)
    with pytest.raises(StoreError, match="the key of another store"):
        copied(place(), tmp_path / "copy.db")
    assert other.read_text() == "00" * 32


# ------------------------------------------------------------------------------------------------- stopped, and again


class Stopped(Exception):
    """The test ends the copy here."""


def stopping(after: int) -> Callable[[Progress], None]:
    left = [after]

    def told(progress: Progress) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise Stopped

    return told


def test_stopped_after_any_owner_it_goes_on_there_and_nobody_opens_it_before(place: Place, clock: Clock) -> None:
    source, target = place("source.db"), place("target.db")
    users = ("alice", "bob", "carol")
    with opened(source, clock) as memory:
        for user in users:
            memory.of(user).add("I live in Lyon.", "I see.")
    for after in range(2 * len(users)):
        with pytest.raises(Stopped):
            copied(source, target, stopping(0 if after < len(users) else after - len(users)))
        with pytest.raises(StoreError, match=r"an unfinished copy of .*"):
            opened(target, clock)
        assert len(rows(target, "SELECT * FROM owner")) == min(after + 1, len(users))
    seen: list[Progress] = []
    assert copied(source, target, seen.append).went_on
    assert {p.step for p in seen} == {"comparing"}
    assert contents(target, without=OWN) == contents(source, without=OWN)


COPIER = """
import sys
from datetime import UTC, datetime
from embermem.bootstrap import copy_store
from embermem.core.config import load

def told(progress):
    print(progress.step, progress.owners, flush=True)
    sys.stdin.readline()

copy_store(sys.argv[1], sys.argv[2], load(), datetime.now(UTC), told)
"""


@pytest.mark.engines
def test_killed_in_the_middle_of_anything_it_goes_on(place: Place, clock: Clock) -> None:
    source, target = place("source.db"), place("target.db")
    with opened(source, clock) as memory:
        for n in range(6):
            memory.of(f"user {n}").add("I live in Lyon.", "I see.")
    for line in (1, 3):
        process = script(COPIER, str(source), str(target))
        for _ in range(line):
            process.stdout.readline()
            process.tell("")
        process.kill()  # while the next owner is on its way
        process.communicate()
        with pytest.raises(StoreError, match="unfinished copy"):
            opened(target, clock)
    assert copied(source, target).went_on
    assert contents(target, without=OWN) == contents(source, without=OWN)
    assert_sound(target)


def test_a_run_that_another_took_over_stops_and_does_no_harm(place: Place, clock: Clock) -> None:
    source, target = place("source.db"), place("target.db")
    with opened(source, clock) as memory:
        for user in ("alice", "bob"):
            memory.of(user).add("I live in Lyon.")
    finished: list[Copied] = []

    def another_run(progress: Progress) -> None:
        if not finished:
            finished.append(copied(source, target))
            with opened(target, clock) as copy:
                copy.of("alice").add("I live here now.")

    with pytest.raises(StoreError, match="another copy took over"):
        copied(source, target, another_run)
    assert len(rows(target, "SELECT * FROM utterance")) == 3


# --------------------------------------------------------------------------------------------------- a source in use


def test_what_is_written_to_the_source_meanwhile_is_copied_again(place: Place, clock: Clock) -> None:
    source, target = place("source.db"), place("target.db")
    with opened(source, clock) as memory:
        for user in ("alice", "bob", "carol"):
            memory.of(user).add("I live in Lyon.", "I see.")
            memory.of(user).settle()
        store, seen = store_of(memory), list[Progress]()

        def using(progress: Progress) -> None:
            seen.append(progress)
            if len(seen) == 3:
                alice, bob = memory.of("alice"), memory.of("bob")
                alice.add("One thing more.")
                call(store, bob, 2)
                memory.of("carol").forget_owner()
                memory.of("dora").add("I am new.")
                key(store, "k2")

        done = copied(source, target, using)
        assert contents(target, without=OWN) == contents(source, without=OWN)
    assert (done.owners, done.again) == (3, 5)  # with what is kept of carol, under an id that nobody knows
    assert done.tables["owner"].rows == 3


def test_a_source_that_is_written_without_end_leaves_a_copy_that_goes_on_when_it_rests(
    place: Place, tmp_path: Path, clock: Clock
) -> None:
    target = tmp_path / "copy.db"
    with opened(place(), clock) as memory:
        alice = memory.of("alice")
        alice.add("I live in Lyon.")

        def using(progress: Progress) -> None:
            alice.add("And more.")

        with pytest.raises(StoreBusy, match="stop what uses it"):
            copied(place(), target, using)
    with pytest.raises(StoreError, match="unfinished copy"):
        opened(target, clock)
    done = copied(place(), target)
    assert (done.went_on, done.again) == (True, 1)
    assert contents(target, without=OWN) == contents(place(), without=OWN)


def test_calls_of_a_user_who_never_said_anything_come_along(place: Place, tmp_path: Path, clock: Clock) -> None:
    with opened(place(), clock) as memory:
        call(store_of(memory), memory.of("nobody"))
    done = copied(place(), tmp_path / "copy.db")
    assert (done.owners, done.tables["call"].rows) == (0, 1)
    assert contents(tmp_path / "copy.db", without=OWN) == contents(place(), without=OWN)


# ---------------------------------------------------------------------------------------------------------- refused


def test_a_target_that_holds_anything_is_refused_and_stays_as_it_is(place: Place, clock: Clock) -> None:
    source, target = place("source.db"), place("target.db")
    for end in (source, target):
        with opened(end, clock) as memory:
            memory.of("alice").add("I live in Lyon.")
    before = contents(target)
    with pytest.raises(StoreError, match="already contains a store"):
        copied(source, target)
    assert contents(target) == before


def test_a_finished_copy_is_not_copied_into_again(place: Place, tmp_path: Path, clock: Clock) -> None:
    opened(place(), clock).close()
    copied(place(), tmp_path / "copy.db")
    with pytest.raises(StoreError, match="already contains a store"):
        copied(place(), tmp_path / "copy.db")


def test_nothing_is_copied_from_nowhere_into_itself_or_from_an_unfinished_copy(
    place: Place, tmp_path: Path, clock: Clock
) -> None:
    with pytest.raises(NotFound, match="there is no store"):
        copied(tmp_path / "none.db", place())
    with opened(place(), clock) as memory:
        memory.of("alice").add("I live in Lyon.")
    with pytest.raises(StoreError, match="into itself"):
        copied(place(), place())
    half = tmp_path / "half.db"
    with pytest.raises(Stopped):
        copied(place(), half, stopping(0))
    with pytest.raises(StoreError, match="an unfinished copy"):
        copied(half, tmp_path / "quarter.db")
    opened(tmp_path / "other.db", clock).close()
    with pytest.raises(StoreError, match="of another store"):
        copied(tmp_path / "other.db", half)
    assert not (tmp_path / "none.db").exists()


@pytest.mark.sqlite
def test_a_row_that_the_target_does_not_keep_as_it_was_is_an_error(tmp_path: Path, clock: Clock) -> None:
    source, target = tmp_path / "source.db", tmp_path / "target.db"
    for place in (source, target):
        with opened(place, clock) as memory:
            memory.of("alice").add("I live in Lyon.")
    meddle(
        target,
        *(f"DELETE FROM {table}" for table in contents(target)),
        "CREATE TRIGGER t AFTER INSERT ON utterance BEGIN UPDATE utterance SET text = 'no' WHERE seq = new.seq; END",
    )
    with pytest.raises(StoreError, match="rows of the table utterance differ from what was read"):
        copied(source, target)
    assert rows(target, "SELECT * FROM owner") == []
