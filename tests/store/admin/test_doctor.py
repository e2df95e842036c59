"""The doctor: a store damaged behind its back is found out, mended where that is safe, and is then as it was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from embermem import Memory
from embermem.cli.doctor import look
from embermem.cli.session import Session
from embermem.protocols import Finding
from embermem.store import schema
from embermem.store.admin import invariants
from lives import contents, fill_every_table
from proofs import bounded
from scripted import Clock, Opener, Place
from soundness import assert_sound, meddle, rows
from store_keys import key_of

LOST = "0" * 32
"""The id of an owner who is not there."""


def first(table: str, key: str, where: str = "1 = 1") -> str:
    """The condition that picks one row of a table."""
    return f"{key} = (SELECT min({key}) FROM {table} WHERE {where})"


PAGE, PLACED = first("page", "page_id"), first("page", "page_id", "segment_id <> ''")
ELSEWHERE = "pages that are not where the log has them"
MENDED: dict[str, tuple[tuple[str, ...], str]] = {
    "a page's roll-up": (
        (f"UPDATE page SET answered = NOT answered, first_seq = first_seq + 1 WHERE {PAGE}",),
        "pages that disagree with their utterances",
    ),
    "a page's thread": ((f"UPDATE page SET thread = 'x' WHERE {PAGE}",), "pages that disagree with their utterances"),
    "a page's arrival": (
        (f"UPDATE page SET recorded_at = 7 WHERE {PAGE}",),
        "pages that disagree with their utterances",
    ),
    "how far a page was read": ((f"UPDATE page SET analysed_seq = 99999 WHERE {PAGE}",), "pages analysed beyond"),
    "where a page is": ((f"UPDATE page SET segment_id = NULL WHERE {PLACED}",), ELSEWHERE),
    "where a page is not": (
        (f"UPDATE page SET segment_id = 'nowhere' WHERE {PLACED}",),
        "pages in a missing segment",
    ),
    "a page's chain": ((f"UPDATE page SET chain_id = 'c1' WHERE {PLACED}",), ELSEWHERE),
    "a page's note": ((f"UPDATE page SET noted_no = NULL WHERE {PLACED}",), ELSEWHERE),
    "a page's keywords": (("UPDATE page SET keywords = '[]'",), "differs from the log: page"),
    "a segment's count": (("UPDATE segment SET pages = pages + 1",), "segments with a wrong count of pages"),
    "a segment's text": (("UPDATE segment SET parts = NULL",), "segments without a text"),
    "a segment's times": (("UPDATE segment SET said_from = said_to + 1",), "segments that end before they begin"),
    "a change that was not yet": (("UPDATE segment SET touched_no = 99999",), "rows of `segment` with a change beyond"),
    "visits of nothing": (
        ("INSERT INTO visit (owner_id, item_id, visits, visited_at) SELECT owner_id, 'none', 1, 1 FROM owner",),
        "visits of what is not there",
    ),
    "a count of facts": (("UPDATE owner SET facts = 99",), "owners with counts of facts that are not those of the log"),
    "a checkpoint": (
        (
            "DELETE FROM checkpoint",
            "INSERT INTO checkpoint (owner_id, no, digests) SELECT owner_id, 1, '{}' FROM owner",
        ),
        "checkpoints that are not what the log says",
    ),
    "a mark": (("UPDATE barred SET change_no = 99999",), "marks of forgotten texts without a change"),
    "a mark that is gone": (("DELETE FROM barred",), "differs from the log: barred"),
    "a source": (("UPDATE change_source SET seq = seq + 99999",), "changes that the index of sources has otherwise"),
    "an owner's numbers": (
        ("UPDATE owner SET persona_no = 99999, reset_no = 99999, embedded_seq = 99999",),
        "owners with counters beyond their logs",
    ),
    "a value by which an utterance is found": (
        (f"UPDATE utterance_value SET text = 'x' WHERE name = 'by' AND {first('utterance_value', 'seq')}",),
        "utterances that are found by other metadata than theirs: 1",
    ),
    "all values by which utterances are found": (
        ("DELETE FROM utterance_value",),
        "utterances that are found by other metadata than theirs: 21",
    ),
    "rows of nobody": (
        (f"UPDATE change_source SET owner_id = '{LOST}' WHERE {first('change_source', 'no')}",),
        "rows of `change_source` without an owner: ",
    ),
}
"""What is done to a store, and what the doctor then says."""
VECTORS: dict[str, tuple[tuple[str, ...], str]] = {
    "a vector that is gone": (("DELETE FROM embedding WHERE seq = 3",), "utterances without a vector that is not due"),
    "a vector of another embedder": (
        ("UPDATE embedding SET embedder = 'other' WHERE seq = 4",),
        "vectors of another embedder",
    ),
    "a vector of nothing": (
        (
            "INSERT INTO embedding SELECT owner_id, 99999, embedder, change_no, data, tokens, passages FROM embedding "
            "WHERE seq = 5",
        ),
        "vectors of missing utterances",
    ),
    "a segment's vector": (
        (f"UPDATE segment SET vector_sum = NULL WHERE {first('segment', 'segment_id')}",),
        "segments whose vector is damaged",
    ),
}
LEFT: dict[str, tuple[tuple[str, ...], str]] = {
    "an utterance that is gone": (("DELETE FROM utterance WHERE seq = 3",), "utterances missing that nobody forgot: 1"),
    "an utterance beyond the last": (
        ("UPDATE utterance SET seq = 99999 WHERE seq = 3",),
        "utterances beyond the last one: 1",
    ),
    "metadata that cannot be read": (
        ("UPDATE utterance SET metadata = '{' WHERE seq = 3",),
        "utterances whose metadata cannot be read: 1",
    ),
    "a page that is gone": ((f"DELETE FROM page WHERE {PAGE}",), "pages missing that nobody forgot: 1"),
    "a page that is empty": ((f"DELETE FROM utterance WHERE {PAGE}",), "pages without an utterance: 1"),
    "a page's utterances": ((f"UPDATE page SET page_id = 'p' WHERE {PAGE}",), "utterances without their page: 2"),
    "two threads in a page": (("UPDATE utterance SET thread = 'x' WHERE seq = 4",), "pages with several threads: 1"),
    "a change that is gone": (("DELETE FROM change WHERE no = 2",), "changes missing that nobody forgot: 1"),
    "a change that cannot be read": (
        ("UPDATE change SET decisions = '[[\"No\",{}]]' WHERE no = 2",),
        "changes that cannot be read: 1",
    ),
    "a receipt": (("UPDATE receipt SET last_seq = 99999",), "receipts of utterances that never existed: "),
    "all of an owner": (("DELETE FROM owner",), "rows of `utterance` without an owner"),
    "an original": (
        ("INSERT INTO original SELECT owner_id, id, '{' FROM utterance WHERE seq = 3",),
        "originals that cannot be read: 1",
    ),
    "an original of nothing": (
        ("INSERT INTO original SELECT owner_id, 'none', '1' FROM utterance WHERE seq = 3",),
        "originals of no utterance or document: 1",
    ),
}
"""What no repair brings back."""


def of_two(memory: Memory, clock: Clock) -> None:
    """Something in every table, all of it sound and understood."""
    fill_every_table(memory, clock)
    memory.work()
    assert_well(memory)


def of_one(memory: Memory, clock: Clock) -> None:
    """The same of one user."""
    fill_every_table(memory, clock, users=("alice",))
    memory.work()
    assert_well(memory)


@pytest.fixture
def full(lived_in: Callable[..., Any], opened: Opener) -> Memory:
    """A memory with something in every table, of two users."""
    lived_in(of_two)
    return opened()


@pytest.fixture
def alone(lived_in: Callable[..., Any], opened: Opener) -> Memory:
    """A memory with something in every table, of one user."""
    lived_in(of_one)
    return opened()


def assert_well(memory: Memory) -> None:
    assert [finding for finding in memory.check(deep=True) if finding.level != "ok"] == []


def kept(place: str | Path) -> dict[str, list[tuple[Any, ...]]]:
    """All that a repair must bring back: every row, but for how far readers are and when work is due."""
    found = contents(place)
    del found["checkpoint"], found["checkpoint_part"]  # a cache, which is made again in time
    columns = list(schema.owner.c.keys())
    moves = [columns.index(name) for name in ("due_at", "reset_no", "persona_no", "embedded_seq")]
    found["owner"] = [tuple(v for n, v in enumerate(row) if n not in moves) for row in found["owner"]]
    return found


def wrong(findings: tuple[Finding, ...], what: str) -> list[Finding]:
    return [finding for finding in findings if finding.level in ("error", "warning") and what in finding.what]


DEEP = [name for name, (_, says) in MENDED.items() if "differs from the log" in says]
"""What only applying the log again finds."""
SHALLOW = [name for name in MENDED if name not in DEEP]
TOGETHER: list[tuple[str, ...]] = [*((name,) for name in DEEP), *(tuple(SHALLOW[n::5]) for n in range(5))]
"""Damages that hide none of each other."""


def test_whatever_was_damaged_of_what_is_derived_is_found_mended_and_as_before(
    alone: Memory, place: Place, engine: str
) -> None:
    before = kept(place())
    rounds: list[tuple[str, ...]] = bounded(TOGETHER, proofs=[(name,) for name in MENDED])
    for names in rounds:
        done = [name for name in names if name != "rows of nobody" or engine != "citus"]  # which moves no owner's row
        for name in done:
            meddle(place(), *MENDED[name][0])
        told = alone.check(deep=names[0] in DEEP)
        advice = {name: {one.advice for one in wrong(told, MENDED[name][1])} for name in done}
        assert advice == {name: {"embermem doctor --repair"} for name in done}
        mended = alone.repair() if done else ()
        assert {finding.level for finding in mended} <= {"mended"}, (names, mended)
        assert kept(place()) == before, names
    assert_well(alone)
    assert alone.repair() == ()
    assert_sound(place())


def test_a_segment_that_is_gone_comes_back_with_the_visits_of_the_log_and_gets_its_vector_again(
    alone: Memory, place: Place
) -> None:
    full, alice = alone, alone.of("alice")
    for name in ("Ann", "Ann Lee"):
        alice.visit(alice.search("heron", k=20))
        alice.set_profile(name=name)
    before = max(alice.segments(), key=lambda one: one.visits)
    assert before.visits >= 2
    meddle(place(), f"DELETE FROM segment WHERE segment_id = '{before.id}'")
    assert wrong(full.check(), "pages in a missing segment")
    assert {finding.level for finding in full.repair()} == {"mended"}
    full.work()
    assert_well(full)
    after = alice.segment(before.id)
    assert (after.summary, after.page_ids, after.sources) == (before.summary, before.page_ids, before.sources)
    assert (after.visits, after.embedding is None) == (before.visits, False)


def test_a_finding_names_the_owner_and_says_how_many(full: Memory, place: Place, engine: str) -> None:
    bob = full.of("bob").owner.id
    (told,) = rows(place(), "SELECT count(*) AS n FROM segment WHERE owner_id = ?", bob)
    meddle(place(), f"UPDATE segment SET pages = 99 WHERE owner_id = '{bob}'")
    (found,) = (one for one in full.check() if one.level == "error")
    assert found.what == f"bob/default: segments with a wrong count of pages: {told['n']}"
    well = [one.what for one in full.check() if one.level == "ok"][1:]
    if engine == "citus":
        assert "VACUUM" in well.pop()
    assert well == [area for area in invariants.AREAS if area != invariants.DERIVED]


def test_vectors_that_are_damaged_are_made_again(alone: Memory, place: Place, engine: str) -> None:
    full = alone
    short = "'[1,2]'" if engine == "postgresql" and is_halfvec(place()) else "'00'"
    damages = {**VECTORS, "a short vector": ((f"UPDATE embedding SET data = {short} WHERE seq = 6",), "wrong length")}
    before = [row[:3] for row in contents(place())["embedding"]]
    rounds: list[tuple[str, ...]] = bounded([tuple(damages)], proofs=[(name,) for name in damages])
    for names in rounds:
        for name in names:
            meddle(place(), *damages[name][0])
        told = full.check()
        assert [name for name in names if not wrong(told, damages[name][1])] == []
        assert {finding.level for finding in full.repair()} == {"mended"}, names
        assert not [finding for finding in full.check() if finding.level == "error"]
        full.work()
        assert [row[:3] for row in contents(place())["embedding"]] == before, names
        assert all(segment.embedding is not None for segment in full.of("alice").segments())
    assert_well(full)
    assert_sound(place())


def is_halfvec(place: str | Path) -> bool:
    told = rows(place, "SELECT data_type FROM information_schema.columns WHERE table_name = 'embedding'")
    return "USER-DEFINED" in {row["data_type"] for row in told}


LEFT_TOGETHER = (
    ("metadata that cannot be read", "a change that cannot be read", "an original", "an original of nothing"),
    ("an utterance that is gone", "a change that is gone", "a receipt"),
    ("an utterance beyond the last",),
    ("two threads in a page",),
    ("a page that is gone",),
    ("a page that is empty",),
    ("a page's utterances",),
    ("all of an owner",),
)
"""Those that hide none of each other."""


def test_what_is_gone_from_a_log_is_told_and_left_alone(
    lived_in: Callable[..., Any], opened: Opener, place: Place
) -> None:
    assert sorted(name for names in LEFT_TOGETHER for name in names) == sorted(LEFT)
    for number, names in enumerate(bounded(LEFT_TOGETHER, proofs=tuple((name,) for name in LEFT))):
        store = lived_in(of_one, f"{number}.db")
        memory = opened(f"{number}.db")
        for name in names:
            meddle(store, *LEFT[name][0])
        before = {table: contents(store)[table] for table in ("utterance", "change")}
        told = memory.check()
        found = {name: [(one.level, one.advice) for one in wrong(told, LEFT[name][1])] for name in names}
        assert found == {name: [("error", "restore a copy")] for name in names}
        left = memory.repair()
        assert [name for name in names if not wrong(left, LEFT[name][1])] == []
        assert {table: contents(store)[table] for table in ("utterance", "change")} == before


def test_work_that_is_never_due_is_made_due(alone: Memory, place: Place) -> None:
    full = alone
    alice = full.of("alice")
    alice.add("A heron!", "Where?")
    meddle(place(), "UPDATE owner SET due_at = NULL")
    assert wrong(full.check(), "alice/default: owners with work that is never due: 1")
    assert [finding.level for finding in full.repair()] == ["mended"]
    full.work()
    assert alice.stats().without_vector == 0
    assert_well(full)


def test_more_than_the_settings_allow_is_a_warning(alone: Memory, opened: Opener) -> None:
    narrow = opened(user_facts=1, mid_term_segments=1)
    told = [finding.what for finding in narrow.check() if finding.level == "warning"]
    assert "alice/default: facts of the user above the capacity: " in " ".join(told)


def test_a_key_that_is_gone_is_told_and_how_to_get_it_back(full: Memory) -> None:
    key = key_of(full.of("alice"))
    content = key.read_bytes()
    key.unlink()
    found = wrong(full.check(), "the key of what was forgotten is missing")
    assert [one.what.split(":")[0] for one in found] == ["alice/default", "bob/default"]
    assert not key.exists()
    key.write_bytes(content)
    assert_well(full)


def test_looking_writes_nothing_and_a_repair_of_what_is_sound_neither(alone: Memory, place: Place) -> None:
    full = alone
    before = contents(place())
    assert full.check(deep=True) == full.check(deep=True)
    assert full.repair() == ()
    assert contents(place()) == before


def test_what_is_read_only_is_looked_at_but_not_derived_again(alone: Memory, opened: Opener, place: Place) -> None:
    reader = opened(read_only=True)
    (warned,) = (finding for finding in reader.check(deep=True) if finding.level != "ok")
    assert warned.level == "warning"
    assert "not compared" in warned.what


@pytest.mark.sqlite
def test_the_command_repairs_what_it_finds_and_says_what_it_did(
    lived_in: Callable[..., Any], place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lived_in(of_one)
    monkeypatch.setenv("EMBERMEM_FORGOTTEN_KEY_FILE", str(tmp_path / "memory.db.key"))
    session = Session(store=str(place()), user="alice", agent="default", preset=None)
    meddle(place(), "UPDATE page SET keywords = '[]'", "UPDATE segment SET pages = 99")
    broken = "alice/default: segments with a wrong count of pages: "
    assert [check.level for check in look(session) if check.what.startswith(broken)] == ["error"]
    told = "alice/default: differs from the log: segment, page"
    assert [check.level for check in look(session, deep=True) if check.what == told] == ["error"]
    checks = look(session, repair=True)
    assert [check.level for check in checks if check.what.startswith(broken)] == ["mended"]
    assert [check for check in checks if check.level == "error"] == []
    assert [check for check in look(session, deep=True) if check.level in ("error", "mended")] == []
