"""Owners as JSON lines: out of a store, and the same memory in another."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embermem import Memory, OwnerMemory, Tier
from embermem.bootstrap import choose_embedder, open_store
from embermem.core.config import load
from embermem.core.errors import InputError
from embermem.embedders.hashed import HashedNgrams
from embermem.store.sql import SqlStore
from embermem.transfer.importing import import_owners
from json_lines import Lines, exported, file_of, imported, lines_of
from lives import live, store_of
from proofs import bounded
from scripted import NOW, SMALL, Clock, Opener, Place
from soundness import assert_sound, assert_tiers
from store_keys import key_of


def public(mine: OwnerMemory) -> dict[str, Any]:
    """All that an owner's memory shows, but for what it weighs by the time of day."""
    return {
        "said": mine.utterances(),
        "pages": [(page, [mine.page(page.id).tier]) for tier in Tier for page in mine.pages(tier)],
        "chains": mine.chains(),
        "segments": [(one, [] if one.embedding is None else one.embedding.tolist()) for one in mine.segments()],
        "archived": mine.segments(archived=True), "persona": mine.persona(),
        "archived facts": mine.facts(archived=True), "past facts": mine.past_facts(), "changes": mine.changes(),
        "stats": mine.stats(), "zone": None if (state := mine.state()) is None else state.timezone,
    }  # fmt: skip


def assert_alike(told: dict[str, Any], before: dict[str, Any]) -> None:
    """Two memories show the same; the vectors of segments are sums, rounded after each page (core/vector_sums.py)."""
    for (made, vector), (one, own) in zip(told.pop("segments"), before.pop("segments"), strict=True):
        assert (made, vector) == (one, pytest.approx(own, abs=1e-4))
    for name, was in before.items():
        assert told[name] == was, name


def two(memory: Memory, clock: Clock) -> None:
    """Two users live."""
    for user in ("alice", "bob"):
        live(memory.of(user, timezone="Europe/Paris"), clock)


@pytest.fixture
def lived(opened: Opener, lived_in: Callable[..., Any]) -> Memory:
    """A store in which two users lived."""
    lived_in(two, "lived.db")
    return opened("lived.db")


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """An export of one owner with a line of every kind."""
    clock = Clock()
    with Memory(tmp_path_factory.mktemp("sample") / "memory.db", clock=clock, **SMALL) as memory:
        live(memory.of("alice"), clock)
        data = exported(memory, vectors=True)
    assert len({line["kind"] for line in lines_of(data)}) == 9
    return data


def of_two(sample: bytes) -> bytes:
    """The same as if bob had lived alice's life too."""
    header, owner, *rest, finish = lines_of(sample)
    return file_of([header, owner, *rest, {**owner, "user": "bob"}, *rest, {**finish, "owners": 2}])


# ------------------------------------------------------------------------------------------------ there, and the same


def test_with_its_vectors_an_owner_is_the_same_in_another_store(
    lived: Memory, opened: Opener, place: Place, clock: Clock
) -> None:
    other = opened("other.db")
    done = imported(other, exported(lived, vectors=True))
    assert ([owner.user for owner in done.owners], done.without_vector, done.other_key) == (["alice", "bob"], 0, True)
    for user in ("alice", "bob"):
        assert_alike(public(other.of(user)), public(lived.of(user)))
        for query in ("Where do I live?", "heron", "figs"):
            assert other.of(user).recall(query).text == lived.of(user).recall(query).text
    assert all(one.same for one in other.rebuild())
    assert exported(other, vectors=True).splitlines()[1:] == exported(lived, vectors=True).splitlines()[1:]
    assert_sound(place("other.db"))
    assert_tiers(other)


@pytest.mark.proof
def test_from_one_engine_to_the_other_and_back_it_is_the_same(
    lived: Memory, opened: Opener, tmp_path: Path, clock: Clock
) -> None:
    with Memory(tmp_path / "file.db", clock=clock, **SMALL) as file:
        imported(file, exported(lived, vectors=True))
        back = opened("back.db")
        imported(back, exported(file, vectors=True))
        for one in (back, file):
            assert_alike(public(one.of("alice")), public(lived.of("alice")))


def test_without_vectors_they_are_made_again_and_recall_is_the_same(
    lived: Memory, opened: Opener, place: Place
) -> None:
    other = opened("other.db")
    data = exported(lived, "alice")
    assert not any(line["kind"] == "vector" for line in lines_of(data))
    mine, theirs = other.of("alice"), lived.of("alice")
    assert imported(other, data).without_vector == mine.stats().without_vector == len(mine.utterances())
    assert mine.recall("Where do I live?").hits  # by words
    assert [owner.user for owner in store_of(other).due(NOW, 9)] == ["alice"]
    mine.settle()
    assert mine.stats().without_vector == 0
    before, after = public(theirs), public(mine)
    names = ("said", "pages", "chains", "persona", "past facts", "segments")
    assert_alike(*({name: told[name] for name in names} for told in (after, before)))
    assert mine.recall("Where do I live?").text == theirs.recall("Where do I live?").text
    assert_sound(place("other.db"))


def test_a_life_goes_on_after_the_import(lived: Memory, opened: Opener, place: Place, clock: Clock) -> None:
    other = opened("other.db")
    imported(other, exported(lived, vectors=True))
    for memory in (lived, other):
        mine = memory.of("alice")
        last = mine.pages()[-1]
        assert mine.add_messages([{"role": "assistant", "content": "It rains."}], thread="open").page_ids == (last.id,)
        mine.add("I moved to Laon.", at=NOW, key="laon")
        mine.settle()
        mine.forget(page=mine.pages()[0].id)
        mine.set_profile(name="Zoé")
    learnt, there = ([(f.text, f.change_no) for f in memory.of("alice").facts()] for memory in (other, lived))
    assert learnt == there
    assert all(one.same for one in other.rebuild())
    assert_sound(place("other.db"))


def test_a_key_given_before_the_export_stores_nothing_after_the_import(memory: Memory, sample: bytes) -> None:
    imported(memory, sample)
    mine = memory.of("alice")
    said, count = "I live in Lyon. That was on day 1.", len(mine.utterances())
    of = next(one.metadata for one in mine.utterances() if one.text == said)
    page_id = mine.add(said, "I see.", at="2026-05-01T10:00:00+02:00", thread="home 1", key="home 1", metadata=of)
    assert mine.page(page_id).query == said
    assert len(mine.utterances()) == count


def test_no_import_brings_back_what_was_forgotten_unless_it_is_readmitted(memory: Memory, sample: bytes) -> None:
    imported(memory, sample)
    mine = memory.of("alice")
    before = mine.recall("Where do I live?").text
    mine.forget(page=mine.pages()[0].id)
    mine.forget_owner()
    with pytest.raises(InputError, match=r"lines 2–\d+: \d+ of \d+ messages of alice / default were forgotten"):
        imported(memory, sample)
    assert [one.user for one in imported(memory, sample, leave_out=True).left_out] == ["alice"]
    assert (memory.owners(), mine.utterances()) == ((), ())
    mine.readmit()
    imported(memory, sample)
    assert mine.recall("Where do I live?").text == before


def test_an_import_says_where_what_was_forgotten_may_be_learnt_again(memory: Memory, opened: Opener) -> None:
    mine = memory.of("alice")
    mine.add("I like figs.", "I see.")
    mine.settle()
    mine.forget(fact=mine.facts()[0].id)
    data, secret = exported(memory), store_of(memory).secret().hex()
    assert secret not in data.decode()
    stranger, relative = opened("other.db"), opened("third.db")
    assert imported(stranger, data).other_key
    key_of(relative.of("alice")).write_text(secret)
    assert not imported(relative, data).other_key


def test_a_file_with_marks_of_another_key_hinders_nobody_who_forgets(memory: Memory, sample: bytes) -> None:
    bob = memory.of("bob")
    page = bob.add("I live in Rome.", "I see.")
    lines = lines_of(sample)
    first(lines, "export")["key"] = None  # it says that nothing was forgotten, and brings marks all the same
    first(lines, "change")["decisions"].append(["TextsBarred", {"messages": ["1" * 40], "texts": []}])
    imported(memory, file_of(lines))
    bob.forget(page=page)
    memory.of("alice").forget(page=memory.of("alice").pages()[0].id)
    assert [found for found in memory.check(deep=True) if found.level == "error"] == []


def test_vectors_of_another_embedder_are_left_where_they_are(memory: Memory, sample: bytes) -> None:
    lines = lines_of(sample)
    lines[0]["embedder"] = "another"
    done = imported(memory, file_of(lines))
    assert done.without_vector == len(memory.of("alice").utterances())
    memory.of("alice").settle()
    assert memory.of("alice").recall("Where do I live?").hits


def test_an_owner_of_whom_only_the_zone_is_known_comes_along(opened: Opener) -> None:
    memory, other = opened(), opened("other.db")
    memory.of("alice", timezone="Asia/Tokyo")
    assert imported(other, exported(memory)).utterances == 0
    state = other.of("alice").state()
    assert state is not None
    assert state.timezone == "Asia/Tokyo"


# ---------------------------------------------------------------------------------------------------------- refused


def test_who_has_a_memory_here_is_refused_by_name_or_left_out(memory: Memory, sample: bytes) -> None:
    memory.of("alice").add("I am here already.")
    for _ in range(2):  # those who are here with all that the file has are passed by, another memory never is
        with pytest.raises(InputError, match=r"lines 2–\d+: alice / default already has a memory here"):
            imported(memory, of_two(sample))
    assert [owner.user for owner in memory.owners()] == ["alice"]
    done = imported(memory, of_two(sample), leave_out=True)
    assert ([one.user for one in done.owners], [one.user for one in done.left_out]) == (["bob"], ["alice"])
    assert len(memory.of("alice").utterances()) == 1
    again = imported(memory, of_two(sample), leave_out=True)
    assert ([one.user for one in again.here_already], [one.user for one in again.left_out]) == (["bob"], ["alice"])
    memory.of("bob").forget(page=memory.of("bob").pages()[0].id)
    assert [one.user for one in imported(memory, of_two(sample), leave_out=True).left_out] == ["alice", "bob"]


Change = Callable[[Lines], object]


def first(lines: Lines, kind: str) -> dict[str, Any]:
    return next(line for line in lines if line["kind"] == kind)


def decision(lines: Lines, name: str) -> dict[str, Any]:
    named = (one for line in lines if line["kind"] == "change" for one in line["decisions"])
    return next(fields for kind, fields in named if kind == name)


def put(named: str, /, **values: object) -> Change:
    return lambda lines: first(lines, named).update(values)


def decide(named: str, /, **values: object) -> Change:
    return lambda lines: decision(lines, named).update(values)


def say(named: str, **values: object) -> Change:
    """A decision more in the first change."""
    return lambda lines: first(lines, "change")["decisions"].append([named, values])


def again(kind: str) -> Change:
    """A line twice."""
    return lambda lines: lines.insert(lines.index(first(lines, kind)), first(lines, kind))


ANOTHER = "u00000000000000000000000"
"""An id of nothing that this owner has."""


def source(lines: Lines) -> dict[str, Any]:
    """The first source of a fact."""
    found: dict[str, Any] = decision(lines, "FactAdded")["sources"][0]
    return found


def superseded(lines: Lines) -> None:
    """The last change ends a fact in favour of one that is not there."""
    ended = {"fact_id": decision(lines, "FactAdded")["fact_id"], "superseded_by": ANOTHER, "valid_to": None}
    [line for line in lines if line["kind"] == "change"][-1]["decisions"].append(["FactRetired", ended])


def deep() -> list[Any]:
    """A list in a list in a list, as deep as this Python writes one."""
    nested: list[Any] = []
    for _ in range(400):
        nested = [nested]
    return nested


VISIT = {"item_id": "s1-00", "visits": 1, "at": "2026-05-02T10:00:00Z"}
HOSTILE: dict[str, tuple[Change, str]] = {
    "no export": (lambda lines: lines.pop(0), "line 1: this is not an export"),
    "a newer format": (put("export", version=2), "upgrade embermem"),
    "no owner": (lambda lines: lines.pop(1), "line 2: an owner is to begin here"),
    "an owner in an owner": (lambda lines: lines.insert(3, lines[1]), "line 4: the owner of line 2 has no end"),
    "an unknown kind": (put("utterance", kind="shell"), "line 3: it is not an object with a kind"),
    "an unknown field": (put("utterance", owner_id="x"), "line 3: a line of the kind utterance has no field"),
    "a missing field": (lambda lines: first(lines, "utterance").pop("text"), "line 3: Object missing required field"),
    "a number for a text": (put("utterance", text=5), "line 3: Expected `str`"),
    "a NUL": (put("utterance", text="a\x00b"), "line 3: text has a NUL"),
    "a number too large": (put("owner", seq=2**31), "line 2: seq = 2147483648 is too large"),
    "a seq below 0": (put("utterance", seq=-1), "line 3: utterance -1 follows utterance 0"),
    "a seq twice": (lambda lines: lines.insert(4, lines[3]), "line 5: utterance"),
    "an id twice": (lambda lines: lines[3].update(id=lines[2]["id"]), "line 4: the id"),
    "an id too long": (put("utterance", id="u" * 41), "line 3: id has 41 characters"),
    "no id": (put("utterance", id=""), "line 3: id is empty"),
    "a page of two threads": (lambda lines: lines[3].update(thread="elsewhere"), "line 4: the page"),
    "a page beyond the last": (put("utterance", page_no=10_000), "line 3: page 10000 follows page 0"),
    "an unknown role": (put("utterance", role="root"), "line 3: Invalid enum value"),
    "a time without a zone": (put("utterance", said_at="2026-05-02T10:00:00"), "line 3: said_at has no zone"),
    "no time": (put("utterance", said_at="yesterday"), "line 3: Invalid RFC3339"),
    "a time before all": (put("utterance", said_at="0001-01-01T00:00:00+10:00"), "line 3: said_at is outside"),
    "no user": (put("owner", user=""), "line 2: user = '' is not a name"),
    "no such zone": (put("owner", timezone="../etc/passwd"), "line 2: unknown time zone"),
    "a zone of nowhere": (put("owner", timezone="Nowhere/Here"), "line 2: unknown time zone"),
    "a gap in the log": (put("change", no=7), "change 7 follows change 0"),
    "an unknown decision": (say("Run"), "does not know"),
    "no decisions": (put("change", decisions=None), "cannot be read"),
    "an unknown cause": (put("change", cause="magic"), "Invalid enum value"),
    "an unknown trait": (say("TraitCleared", dimension="x"), "no trait 'x'"),
    "a field's name too long": (decide("ProfileSet", name="n" * 65), "name has 65 characters"),
    "a segment never written": (decide("Placed", segment_id="elsewhere"), "segments without a text: 1"),
    "a receipt of nothing": (put("receipt", first_seq=0), "the receipt is of no utterances"),
    "no visits": (put("visit", visits=0), "visits are counted from 1"),
    "fewer than no visits": (say("Visited", items=[VISIT | {"visits": -5}]), "visits are counted from 1"),
    "visits at the end of time": (say("Visited", items=[VISIT | {"at": "9999-12-31T00:00:00Z"}]), "of the year 9999"),
    "visits twice": (again("visit"), "are given twice"),
    "visits of nothing": (put("visit", item_id="f9-000"), "visits of what is not there"),
    "a vector of nothing": (put("vector", seq=9_999), "there is no utterance 9999"),
    "a vector twice": (again("vector"), "has a vector already"),
    "a short vector": (put("vector", data="AAAA"), "is none of hashed"),
    "no numbers": (put("vector", data="//9/" * 256), "is none of hashed"),
    "no base64": (put("vector", data="%"), "Invalid base64"),
    "tokens of nobody": (put("vector", tokens="AAAA"), "is none of hashed"),
    "a source of nothing said": (lambda lines: source(lines).update(seq=9_999), "memory: "),
    "a source in another's words": (lambda lines: source(lines).update(utterance_id=ANOTHER), "memory: "),
    "a source beyond its text": (lambda lines: source(lines).update(end=2**31 - 1), "memory: sources that end"),
    "a page of nobody noted": (decide("Noted", page_id=ANOTHER), "memory: "),
    "a page of nobody placed": (decide("Placed", page_id=ANOTHER), "memory: "),
    "a fact superseded by none": (superseded, "memory: facts superseded by"),
    "a decision of an earlier Ember": (say("Linked", link_id="l9"), "does not know"),
    "forgotten more than is missing": (decide("Erased", utterances=7), "memory: utterances missing"),
    "said that nobody forgot": (decide("Erased", utterances=0), "memory: utterances missing that nobody forgot"),
    "an owner's id": (put("owner", id=ANOTHER), "line 2: a line of the kind owner has no field 'id'"),
    "deep in a line": (lambda lines: lines.insert(3, {"kind": "utterance", "text": deep()}), "line 4: "),
    "a name given twice": (put("owner", user="bob\x00alice"), "line 2: user has a NUL"),
    "a name too long": (put("owner", user="a" * 513), "line 2: user has 513 characters"),
    "a wrong count": (put("end", utterances=1), "the owner has 1 utterances"),
    "a missing line": (lambda lines: lines.remove(first(lines, "receipt")), "receipts, and"),
}  # fmt: skip


@pytest.mark.sqlite
def test_a_hostile_file_is_refused_with_its_line_and_nothing_is_kept(shelf: SqlStore, sample: bytes) -> None:
    for hostile in HOSTILE:
        change, says = HOSTILE[hostile]
        lines = lines_of(sample)
        change(lines)
        with pytest.raises(InputError) as caught:
            import_owners(shelf, io.BytesIO(file_of(lines)), HashedNgrams(), lambda: NOW)
        assert says in str(caught.value)
        assert "line" in str(caught.value)
        assert shelf.owners() == ()


@pytest.mark.sqlite
def test_what_is_no_export_is_refused(shelf: SqlStore) -> None:
    cases = [b"", b"\n", b"{", b"[]\n", b"\xff\n", b"[" * 100_000, b'{"kind": ["export"]}\n', b'{"kind": "\\ud800"}\n']
    for data in cases:
        with pytest.raises(InputError, match="line 1"):
            import_owners(shelf, io.BytesIO(data), HashedNgrams(), lambda: NOW)


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlStore]:
    """A store that stays empty."""
    with closing(open_store(tmp_path_factory.mktemp("shelf") / "memory.db", load(embedder="hashed"))) as store:
        choose_embedder(store, load(embedder="hashed"))
        yield store


@given(data=st.data())
@settings(max_examples=bounded(20, proofs=600))
def test_a_file_torn_anywhere_brings_nobody_in(sample: bytes, shelf: SqlStore, data: st.DataObject) -> None:
    end = data.draw(st.integers(min_value=0, max_value=len(sample) - 2 - sample[::-1].index(b"\n", 1)), "length")
    with pytest.raises(InputError, match="line"):
        import_owners(shelf, io.BytesIO(sample[:end]), HashedNgrams(), lambda: NOW)
    assert shelf.owners() == ()


def test_torn_between_owners_the_file_is_told_to_be_torn_and_those_before_are_whole(
    memory: Memory, sample: bytes
) -> None:
    lines = lines_of(of_two(sample))
    with pytest.raises(InputError, match="the file is torn"):
        imported(memory, file_of(lines[:-3]))
    assert [owner.user for owner in memory.owners()] == ["alice"]
    with pytest.raises(InputError, match="the file has 2 owners, and 1 are here"):
        imported(memory, file_of([*lines_of(sample)[:-1], lines[-1]]), leave_out=True)
    assert imported(memory, of_two(sample), leave_out=True).owners == (memory.of("bob").owner,)


def test_nobody_comes_in_under_the_id_of_another(memory: Memory, sample: bytes) -> None:
    lines = lines_of(sample)
    first(lines, "owner")["user"] = "mallory"
    imported(memory, file_of(lines))
    assert not memory.of("alice").utterances()
    assert memory.of("mallory").facts()


# ------------------------------------------------------------------------------------------------- one owner's alone


LIKE_ALICE = ["alice/default", "Alice", "%", "../alice", "alice\nbob", "\u0430lice", "alice\u200b", "*"]


def test_a_file_of_one_owner_holds_nothing_of_another_whose_name_is_like_it(memory: Memory) -> None:
    theirs = memory.of("alice")
    theirs.add("I live in Quillport.", "Brigantia.", thread="zebrawood", key="oriole")
    theirs.settle()
    for user in bounded(LIKE_ALICE[:3], proofs=LIKE_ALICE):
        mine = memory.of(user)
        mine.add("I live in Rome.", "I see.")
        mine.settle()
        data = exported(memory, user, vectors=True).decode()
        ids = [theirs.owner.id, *(page.id for page in theirs.pages()), *(one.id for one in theirs.utterances())]
        assert [word for word in ("Quillport", "Brigantia", "zebrawood", "oriole", *ids) if word in data] == []
        assert [line["user"] for line in lines_of(data.encode()) if line["kind"] == "owner"] == [user]


def test_a_file_with_the_ids_of_somebody_who_is_here_changes_nothing_of_theirs(
    lived: Memory, place: Place, sample: bytes
) -> None:
    mine = lived.of("alice")
    before, rows_before = public(mine), [mine.recall(query).text for query in ("Where do I live?", "heron")]
    copy = lines_of(exported(lived, "alice", vectors=True))
    first(copy, "owner")["user"] = "mallory"
    for line in copy:
        if line["kind"] == "utterance":
            line["text"] = f"Mallory was here. {line['text']}"
    imported(lived, file_of(copy))
    assert public(mine) == before
    assert [mine.recall(query).text for query in ("Where do I live?", "heron")] == rows_before
    mallory = lived.of("mallory")
    for page in mallory.pages():
        mallory.forget(page=page.id)
    mallory.forget_owner()
    assert public(mine) == before
    assert_sound(place("lived.db"))
