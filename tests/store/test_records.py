"""Records: what goes in comes out, alike after any writes, and two who write at once do not undo each other."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from embermem.baselines.records import Record, RecordId, Written
from embermem.core.errors import RevisionMoved
from embermem.core.ids import new_id, owner_id
from embermem.core.types import Owner
from embermem.store.sql import SqlStore
from proofs import bounded
from scripted import NOW, Place
from soundness import rows

if TYPE_CHECKING:
    from embermem.core.types import Vector

NUMBERS = itertools.count()
ALICE, BOB = (Owner(id=owner_id(user, "default"), user=user, agent="default") for user in ("alice", "bob"))


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
    direction: Vector | None = None


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


def thing(text: str = "a thing", **own: object) -> Thing:
    given = {"word": "w", "words": ("a", "b"), "number": 3, "share": 0.5, "truth": True, **own}
    return Thing(id=RecordId(new_id("r")), text=text, at=NOW, **given)  # type: ignore[arg-type]


def shown(record: Record) -> dict[str, object]:
    """Every field, vectors as lists."""
    values = {field.name: getattr(record, field.name) for field in fields(record)}
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}


def write(store: SqlStore, owner: Owner, *keep: Record, drop: tuple[RecordId, ...] = (), read_to: int = 0) -> int:
    revision = store.standing(owner.id).revision
    return store.write(owner, Written(keep=keep, drop=drop), revision=revision, read_to=read_to, now=NOW)


@pytest.mark.engines
def test_every_kind_of_value_comes_back_as_it_was(store: SqlStore) -> None:
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
        direction=np.array([0.5, -0.25], dtype=np.float32),
    )
    whole = replace(whole, sources=(7, 3), vector=np.array([1.0, 0.0, 0.5], dtype=np.float32))
    bare = thing(words=(), number=0, share=0.0)
    write(store, ALICE, whole, bare)
    found = store.records(ALICE.id, [Thing])
    assert [shown(one) for one in found.records] == [shown(whole), shown(bare)]
    back = found.records[0]
    assert isinstance(back, Thing)
    assert (type(back.number), type(back.truth), type(back.share)) == (int, bool, float)
    assert back.when is not None
    assert back.when.utcoffset() == timedelta(hours=2)


def test_a_field_of_which_nothing_is_stored_is_read_as_its_default(store: SqlStore) -> None:
    write(store, ALICE, Other(id=RecordId("r1"), text="old", at=NOW))
    (old,) = store.records(ALICE.id, [Grown]).records
    assert shown(old) == shown(Grown(id=RecordId("r1"), text="old", at=NOW))
    write(store, ALICE, replace(old, text="new", number=0))  # type: ignore[call-arg]
    (new,) = store.records(ALICE.id, [Grown]).records
    assert shown(new) == shown(Grown(id=RecordId("r1"), text="new", at=NOW, number=0))


def test_what_is_new_since_a_revision_is_told_and_what_is_gone(store: SqlStore) -> None:
    first, second, third = thing("first"), thing("second"), thing("third")
    one = write(store, ALICE, first, second)
    two = write(store, ALICE, replace(first, text="first, again"), third, drop=(second.id,))
    found = store.records(ALICE.id, [Thing], since=one)
    assert ([r.text for r in found.records], found.gone) == (["first, again", "third"], frozenset({second.id}))
    assert found.revision == two == store.standing(ALICE.id).revision
    assert store.records(ALICE.id, [Thing], since=two).records == ()
    fresh = store.records(ALICE.id, [Thing])
    assert ([r.text for r in fresh.records], fresh.gone) == (["first, again", "third"], frozenset())


def test_what_is_dropped_leaves_no_word_in_the_tables(store: SqlStore, place: Place) -> None:
    secret = thing("the secret text", word="secretword")
    write(store, ALICE, secret, thing("stays"))
    write(store, ALICE, drop=(secret.id,))
    kept = [repr(row) for table in ("record", "record_value") for row in rows(place(), f"SELECT * FROM {table}")]
    assert not any("secret" in row for row in kept)
    assert any("stays" in row for row in kept)


def test_a_kind_is_read_by_itself_and_an_owner_by_himself(store: SqlStore) -> None:
    write(store, ALICE, thing("mine"), Other(id=RecordId("r1"), text="other", at=NOW))
    write(store, BOB, thing("his"))
    assert [r.text for r in store.records(ALICE.id, [Thing]).records] == ["mine"]
    assert [r.text for r in store.records(ALICE.id, [Thing, Other]).records] == ["mine", "other"]
    assert [r.text for r in store.records(BOB.id, [Thing, Other]).records] == ["his"]


def test_who_decided_on_older_records_is_refused_and_nothing_is_written(store: SqlStore) -> None:
    kept = thing("kept")
    before = store.standing(ALICE.id).revision
    write(store, ALICE, kept, read_to=2)
    with pytest.raises(RevisionMoved):
        store.write(ALICE, Written(keep=[thing("late")]), revision=before, read_to=4, now=NOW)
    assert [r.text for r in store.records(ALICE.id, [Thing]).records] == ["kept"]
    assert store.standing(ALICE.id).read_to == 2


def test_a_record_that_may_not_be_kept_is_refused_whole(store: SqlStore) -> None:
    @dataclass(frozen=True, kw_only=True, slots=True, eq=False)
    class Wrong(Record):
        kind: ClassVar[str] = "test.wrong"
        held: dict[str, str]

    with pytest.raises(TypeError, match="may not hold"):
        write(store, ALICE, thing(), Wrong(id=RecordId("r1"), text="", at=NOW, held={}))
    assert store.records(ALICE.id, [Thing]).records == ()


def test_many_records_go_in_and_out_at_once(store: SqlStore) -> None:
    many = [thing(f"thing {n}") for n in range(1203)]
    write(store, ALICE, *many)
    assert [r.text for r in store.records(ALICE.id, [Thing]).records] == [r.text for r in many]
    write(store, ALICE, drop=tuple(r.id for r in many[1:]))
    assert [r.text for r in store.records(ALICE.id, [Thing]).records] == ["thing 0"]


steps = st.lists(
    st.tuples(st.sets(st.integers(0, 5), max_size=4), st.sets(st.integers(0, 5), max_size=3), st.text(max_size=5)),
    max_size=8,
)


@settings(max_examples=bounded(8, proofs=400), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(written=steps)
def test_reading_what_is_new_gives_what_reading_all_gives(
    store: SqlStore, written: list[tuple[set[int], set[int], str]]
) -> None:
    user = f"reader {next(NUMBERS)}"  # each example has an owner of its own
    owner = Owner(id=owner_id(user, "default"), user=user, agent="default")
    held: dict[RecordId, Record] = {}
    model: dict[RecordId, str] = {}
    since = 0
    for keep, drop, text in written:
        kept = [replace(thing(text.replace("\x00", "")), id=RecordId(f"r{n}")) for n in sorted(keep)]
        kept = [one for one in kept if one.text.isprintable()]
        write(store, owner, *kept, drop=tuple(RecordId(f"r{n}") for n in drop))
        model = {i: t for i, t in model.items() if i not in {f"r{n}" for n in drop}}
        model |= {one.id: one.text for one in kept}
        found = store.records(owner.id, [Thing], since)
        held = {i: r for i, r in held.items() if i not in found.gone} | {r.id: r for r in found.records}
        since = found.revision
        assert {i: r.text for i, r in held.items()} == model
    assert {r.id: r.text for r in store.records(owner.id, [Thing]).records} == model


def test_the_time_of_a_record_keeps_its_zone(store: SqlStore) -> None:
    at = datetime(2026, 1, 1, 1, tzinfo=timezone(timedelta(hours=-5)))
    write(store, ALICE, replace(thing(), at=at))
    (back,) = store.records(ALICE.id, [Thing]).records
    assert (back.at, back.at.utcoffset()) == (at.astimezone(UTC), timedelta(hours=-5))
