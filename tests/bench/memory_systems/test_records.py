"""Records: what goes in comes out, alike after any writes, and two who write at once do not undo each other."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from embermem.core.errors import RevisionMoved, StoreError
from embermem.core.ids import new_id
from embermem.core.types import OwnerId
from embermem_bench.systems.record_file import RecordFile
from embermem_bench.systems.records import Record, RecordId, Written
from proofs import bounded
from scripted import NOW

NUMBERS = itertools.count()
ALICE, BOB = OwnerId("alice"), OwnerId("bob")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where the records are."""
    return tmp_path / "memory.db.records"


@pytest.fixture
def store(file: Path) -> Iterator[RecordFile]:
    """An empty file of records."""
    with closing(RecordFile(file, 5.0)) as records:
        yield records


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Thing(Record):
    """A record with a field of each kind that there may be."""

    kind: ClassVar[str] = "test.thing"
    word: str
    words: tuple[str, ...]
    number: int
    share: float
    truth: bool
    numbers: tuple[int, ...] = ()
    when: datetime | None = None
    other: RecordId | None = None
    links: tuple[RecordId, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Other(Record):
    """A record with nothing of its own."""

    kind: ClassVar[str] = "test.other"


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Grown(Other):
    """The same kind in a later version, which has more fields."""

    word: str = "none"
    number: int = 7
    words: tuple[str, ...] = ()
    when: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Renamed(Other):
    """The same kind with a field that no record has."""

    number: int


def thing(text: str = "a thing", **own: object) -> Thing:
    given = {"word": "w", "words": ("a", "b"), "number": 3, "share": 0.5, "truth": True, **own}
    return Thing(id=RecordId(new_id("r")), text=text, at=NOW, **given)  # type: ignore[arg-type]


def shown(record: Record) -> dict[str, object]:
    """Every field, vectors as lists."""
    values = {field.name: getattr(record, field.name) for field in fields(record)}
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}


def write(store: RecordFile, owner: OwnerId, *keep: Record, drop: tuple[RecordId, ...] = (), read_to: int = 0) -> int:
    revision = store.standing(owner).revision
    return store.write(owner, Written(keep=keep, drop=drop), revision=revision, read_to=read_to)


def test_every_kind_of_value_comes_back_as_it_was(store: RecordFile) -> None:
    zone = timezone(timedelta(hours=2))
    whole = thing(
        "大家好 😀\nline",
        words=("", "二", "c"),
        number=-(2**40),
        share=1e-9,
        truth=False,
        numbers=(3, 1, 2),
        when=datetime(2026, 5, 2, 10, 3, 4, 567, tzinfo=zone),
        other=RecordId("r1"),
        links=(RecordId("r1"), RecordId("r2")),
    )
    whole = replace(whole, sources=(7, 3), vector=np.array([1.0, 0.0, 0.5], dtype=np.float32))
    bare = thing(words=(), number=0, share=0.0)
    write(store, ALICE, whole, bare)
    found = store.records(ALICE, [Thing])
    assert [shown(one) for one in found.records] == [shown(whole), shown(bare)]
    back = found.records[0]
    assert isinstance(back, Thing)
    assert (type(back.number), type(back.truth), type(back.share)) == (int, bool, float)
    assert back.when is not None
    assert back.when.utcoffset() == timedelta(hours=2)


def test_a_field_of_which_nothing_is_stored_is_read_as_its_default(store: RecordFile) -> None:
    write(store, ALICE, Other(id=RecordId("r1"), text="old", at=NOW))
    (old,) = store.records(ALICE, [Grown]).records
    assert shown(old) == shown(Grown(id=RecordId("r1"), text="old", at=NOW))
    write(store, ALICE, replace(old, text="new", number=0))  # type: ignore[call-arg]
    (new,) = store.records(ALICE, [Grown]).records
    assert shown(new) == shown(Grown(id=RecordId("r1"), text="new", at=NOW, number=0))


def test_what_is_new_since_a_revision_is_told_and_what_is_gone(store: RecordFile) -> None:
    first, second, third = thing("first"), thing("second"), thing("third")
    one = write(store, ALICE, first, second)
    two = write(store, ALICE, replace(first, text="first, again"), third, drop=(second.id,))
    found = store.records(ALICE, [Thing], since=one)
    assert ([r.text for r in found.records], found.gone) == (["first, again", "third"], frozenset({second.id}))
    assert found.revision == two == store.standing(ALICE).revision
    assert store.records(ALICE, [Thing], since=two).records == ()
    fresh = store.records(ALICE, [Thing])
    assert ([r.text for r in fresh.records], fresh.gone) == (["first, again", "third"], frozenset())


def test_what_is_dropped_or_forgotten_leaves_no_word_in_the_file(store: RecordFile, file: Path) -> None:
    secret = thing("the secret text", word="secretword")
    write(store, ALICE, secret, thing("goes with its owner"))
    write(store, BOB, thing("stays"))
    write(store, ALICE, drop=(secret.id,))
    assert b"secret" not in file.read_bytes()
    store.forget_owner(ALICE)
    assert b"goes with its owner" not in file.read_bytes()
    assert b"stays" in file.read_bytes()
    forgotten = store.standing(ALICE)
    assert (forgotten.read_to, forgotten.born, store.records(ALICE, [Thing]).records) == (0, forgotten.revision, ())


def test_what_is_no_file_of_records_or_holds_another_form_is_told(store: RecordFile, tmp_path: Path) -> None:
    write(store, ALICE, Other(id=RecordId("r1"), text="bare", at=NOW))
    with pytest.raises(StoreError, match=r"kind test\.other cannot be read.*`number`"):
        store.records(ALICE, [Renamed])
    (tmp_path / "text").write_text("This is no database. " * 99, encoding="utf-8")
    for wrong in (tmp_path / "text", tmp_path, tmp_path / "nowhere" / "one"):
        with pytest.raises(StoreError, match=wrong.name):
            RecordFile(wrong, 0.1)


def test_a_kind_is_read_by_itself_and_an_owner_by_himself(store: RecordFile) -> None:
    write(store, ALICE, thing("mine"), Other(id=RecordId("r1"), text="other", at=NOW))
    write(store, BOB, thing("his"))
    assert [r.text for r in store.records(ALICE, [Thing]).records] == ["mine"]
    assert [r.text for r in store.records(ALICE, [Thing, Other]).records] == ["mine", "other"]
    assert [r.text for r in store.records(BOB, [Thing, Other]).records] == ["his"]


def test_who_decided_on_older_records_is_refused_and_nothing_is_written(store: RecordFile) -> None:
    kept = thing("kept")
    before = store.standing(ALICE).revision
    write(store, ALICE, kept, read_to=2)
    with pytest.raises(RevisionMoved):
        store.write(ALICE, Written(keep=[thing("late")]), revision=before, read_to=4)
    assert [r.text for r in store.records(ALICE, [Thing]).records] == ["kept"]
    assert store.standing(ALICE).read_to == 2


def test_a_record_that_may_not_be_kept_is_refused_whole(store: RecordFile) -> None:
    @dataclass(frozen=True, kw_only=True, slots=True, eq=False)
    class Wrong(Record):
        kind: ClassVar[str] = "test.wrong"
        held: object

    with pytest.raises(TypeError, match="object"):
        write(store, ALICE, thing(), Wrong(id=RecordId("r1"), text="", at=NOW, held=object()))
    assert store.records(ALICE, [Thing]).records == ()


def test_many_records_go_in_and_out_at_once(store: RecordFile) -> None:
    many = [thing(f"thing {n}") for n in range(1203)]
    write(store, ALICE, *many)
    assert [r.text for r in store.records(ALICE, [Thing]).records] == [r.text for r in many]
    write(store, ALICE, drop=tuple(r.id for r in many[1:]))
    assert [r.text for r in store.records(ALICE, [Thing]).records] == ["thing 0"]


steps = st.lists(
    st.tuples(st.sets(st.integers(0, 5), max_size=4), st.sets(st.integers(0, 5), max_size=3), st.text(max_size=5)),
    max_size=8,
)


@settings(max_examples=bounded(8, proofs=400), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(written=steps)
def test_reading_what_is_new_gives_what_reading_all_gives(
    store: RecordFile, written: list[tuple[set[int], set[int], str]]
) -> None:
    owner = OwnerId(f"reader {next(NUMBERS)}")  # each example has an owner of its own
    held: dict[RecordId, Record] = {}
    model: dict[RecordId, str] = {}
    since = 0
    for keep, drop, text in written:
        kept = [replace(thing(text.replace("\x00", "")), id=RecordId(f"r{n}")) for n in sorted(keep)]
        kept = [one for one in kept if one.text.isprintable()]
        write(store, owner, *kept, drop=tuple(RecordId(f"r{n}") for n in drop))
        model = {i: t for i, t in model.items() if i not in {f"r{n}" for n in drop}}
        model |= {one.id: one.text for one in kept}
        found = store.records(owner, [Thing], since)
        held = {i: r for i, r in held.items() if i not in found.gone} | {r.id: r for r in found.records}
        since = found.revision
        assert {i: r.text for i, r in held.items()} == model
    assert {r.id: r.text for r in store.records(owner, [Thing]).records} == model


def test_the_time_of_a_record_keeps_its_zone(store: RecordFile) -> None:
    at = datetime(2026, 1, 1, 1, tzinfo=timezone(timedelta(hours=-5)))
    write(store, ALICE, replace(thing(), at=at))
    (back,) = store.records(ALICE, [Thing]).records
    assert (back.at, back.at.utcoffset()) == (at.astimezone(UTC), timedelta(hours=-5))
