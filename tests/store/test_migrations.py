"""The schema is the frozen one; a store of an older schema becomes one of the present schema, or stays as it was."""

from __future__ import annotations

import json
import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

import citus
from embermem import Memory
from embermem.bootstrap import migrate_store, on_a_server, restore_store
from embermem.core.changes import Decision, SegmentGrew, SegmentTexts
from embermem.core.config import load
from embermem.core.errors import SchemaMismatch, StoreError
from embermem.core.state import PersonaState
from embermem.store import migrations, schema
from embermem.store.codec import decisions_from
from embermem.store.engines.packed_text import unpacked_within
from embermem.store.engines.sqlite import Sqlite
from embermem.store.sql import SqlStore
from forked import script
from net import stores
from net.outputs import owners_of
from older import BEFORE, SAID, STEPPED, VERSION, content, older, step
from readings import assert_folded_alike
from scripted import NOW, SMALL, Place
from soundness import assert_sound, looking, meddle, rows, written
from state_rows import state_rows

Shape = list[tuple[str, ...]]
OF_A_SERVER = (
    """
    SELECT c.relname, 'column', a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, l.collname,
        a.attstattarget
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid LEFT JOIN pg_collation l ON l.oid = a.attcollation
    WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped
    """,
    "SELECT tablename, 'index', indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
)


def shape(place: str | Path) -> Shape:
    """Every table's columns and keys, and every index, as the engine reports them."""
    if on_a_server(place):
        return sorted(tuple(map(repr, row.values())) for query in OF_A_SERVER for row in rows(place, query))
    found = []
    with closing(sqlite3.connect(place)) as c:
        for (table,) in c.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall():
            for column in c.execute(f"PRAGMA table_info('{table}')"):
                found.append((table, "column", repr(column[1:])))
            for index in sorted(c.execute(f"PRAGMA index_list('{table}')").fetchall(), key=lambda row: row[1]):
                columns = [row[2] for row in c.execute(f"PRAGMA index_info('{index[1]}')")]
                (sql,) = c.execute("SELECT sql FROM sqlite_master WHERE name = ?", (index[1],)).fetchone() or (None,)
                where = "" if sql is None else " ".join(re.split(r"\bWHERE\b", sql)[1:]).strip()
                name = "" if index[1].startswith("sqlite_autoindex") else index[1]
                found.append((table, "index", repr((name, index[2:], columns, where))))
    return sorted(found)


# --------------------------------------------------------------------------------------------------- the frozen schema


@pytest.mark.sqlite
def test_a_new_file_has_the_schema_that_is_frozen_and_so_has_an_older_one_once_it_is_opened(tmp_path: Path) -> None:
    SqlStore(Sqlite(tmp_path / "new.db", 5)).close()
    new = shape(tmp_path / "new.db")
    assert len(new) > 100
    assert shape(stores.thaw(stores.TODAY, tmp_path)) == new
    for name in (*stores.SCHEMAS, stores.MIGRATED):
        frozen = stores.thaw(name, tmp_path)
        SqlStore(Sqlite(frozen, 5)).close()
        assert shape(frozen) == new


@pytest.mark.postgresql
def test_a_new_database_has_the_schema_that_is_frozen_and_so_has_an_older_one_once_it_is_migrated(
    place: Place, tmp_path: Path, server_folder: Path
) -> None:
    for name in stores.SCHEMAS:
        with stores.thawed_on_a_server(tmp_path, server_folder, name) as (url, _):
            assert migrated(url) == (name, schema.HEAD)
            # What the server samples of it is not frozen: a scrub sees to that (forget/test_receipts.py).
            assert [row[:6] for row in shape(url)] == [row[:6] for row in shape(place())]


# ------------------------------------------------------------------------------------------------------ an older store


def migrated(place: str | Path) -> tuple[str, str]:
    return migrate_store(place, load(**SMALL))


def test_a_store_of_the_schema_before_is_brought_to_the_present_one_and_keeps_every_row(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    Memory(place("new.db"), **SMALL).close()
    older(place(), monkeypatch)
    before = content(place())
    assert shape(place()) != shape(place("new.db"))
    assert migrated(place()) == (BEFORE, schema.HEAD)
    assert shape(place()) == shape(place("new.db"))
    assert rows(place(), f"SELECT value FROM store WHERE key = '{STEPPED}'") == [{"value": "1"}]
    assert content(place()) == before
    assert migrated(place()) == (schema.HEAD, schema.HEAD)
    with Memory(place(), **SMALL) as memory:
        alice = memory.of("alice")
        alice.add("I moved to Nantes.", "I see.")
        alice.settle()
        assert len(alice.pages()) == len(SAID) + 1
        assert [one.same for one in memory.rebuild()] == [True]
    assert_sound(place())


def test_steps_run_in_order_from_the_schema_that_a_store_has(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    older(place(), monkeypatch)
    ran: list[str] = []

    def named(name: str) -> Callable[[Connection], None]:
        return lambda connection: ran.append(name)

    monkeypatch.setattr(migrations, "STEPS", {name: named(name) for name in ("0011", BEFORE, f"{BEFORE}a")})
    assert migrated(place()) == (BEFORE, schema.HEAD)
    assert ran == [BEFORE, f"{BEFORE}a"]


def test_a_step_that_fails_half_way_leaves_the_store_as_it_was(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    older(place(), monkeypatch)
    before = content(place()), shape(place())

    def fails(connection: Connection) -> None:
        step(connection)
        connection.exec_driver_sql("UPDATE nothing SET there = 1")

    monkeypatch.setattr(migrations, "STEPS", {BEFORE: fails})
    with pytest.raises(StoreError, match="error"):
        migrated(place())
    assert (content(place()), shape(place())) == before
    assert rows(place(), VERSION) == [{"version_num": BEFORE}]
    assert rows(place(), f"SELECT value FROM store WHERE key = '{STEPPED}'") == []
    monkeypatch.setattr(migrations, "STEPS", {BEFORE: step})
    assert migrated(place()) == (BEFORE, schema.HEAD)


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ("0012", r"has schema 0012, of a version of Ember before the first release; this version opens schema 0013"),
        ("9999", r"newer version of Ember \(schema 9999; this version supports up to 0014\): upgrade embermem"),
    ],
)
def test_a_store_that_no_step_leads_from_is_refused_with_what_to_do_and_left_as_it_is(
    place: Place, tmp_path: Path, found: str, told: str
) -> None:
    Memory(place(), **SMALL).close()
    meddle(place(), f"UPDATE {migrations.VERSION_TABLE} SET version_num = '{found}'")
    before, new = written(place()), tmp_path / "restored.db"
    uses: list[Callable[[], Any]] = [
        lambda: Memory(place(), **SMALL),
        lambda: Memory(place(), **SMALL, read_only=True),
        lambda: migrated(place()),
    ]
    if not on_a_server(place()):
        uses.append(lambda: restore_store(Path(place()), new, load(), NOW, lambda *told: None))
    for use in uses:
        with pytest.raises(SchemaMismatch, match=told):
            use()
    assert written(place()) == before
    assert not new.exists()


# ---------------------------------------------------------------------------- from 0013: no cases, links and records

SECRET = "quillwort"
"""A word of a case, a link and an evolution alone."""
ASKED: dict[str, Any] = {
    **{"case_id": "q900-00", "query": f"Which {SECRET}?", "asked_at": "2026-05-02T10:00:00Z", "note": SECRET},
    **dict.fromkeys(("budget", "preset", "thread", "as_of", "valid_at")),
    **{"expected": [{"seq": 1, "utterance_id": "u1"}], "unwanted": []},
}
CASES = [["CaseAdded", ASKED], ["CaseDropped", {"case_id": "q900-00"}]]
SOURCES: dict[str, Any] = {"reason": SECRET, "sources": [{"seq": 1, "utterance_id": "u1"}]}
LINK = ["Linked", {"link_id": "l900-00", "from_id": "f900-000", "to_id": "s900-00", **SOURCES}]
UNLINKED = ["Unlinked", {"link_id": "l900-00"}]
EVOLVED = ["SegmentEvolved", {"segment_id": "s1", "keywords": [SECRET], "tags": [], "context": SECRET, **SOURCES}]
SETTLED = ["ConflictSettled", {"fact_id": "f900-000", "other_id": "f900-001"}]
"""What an undo said of a conflict."""
OTHER = ["Undone", {"no": 1}]
ENDED = {"CaseAdded", "CaseDropped", "Linked", "Unlinked", "SegmentEvolved", "FactsConflict"}
ENDED_ITEMS = ("recall_case", "link", "evolution", "fact", "trait", "profile", "person")
"""Items of whom rows of `source` told."""
RECORD_TABLES = ("record", "record_value", "record_state")
TOPIC_TABLES = ("note", "membership", "chain", "segment_text")
ENDED_TABLES = ("source", *ENDED_ITEMS, "fact_state", "conflict", *TOPIC_TABLES, *RECORD_TABLES)
ENDED_COLUMNS = (("page", "touched_no"), ("segment", "visits"), ("segment", "visited_at"))
VISITS = "visits, visited_at"
LOG = "SELECT no, cause, decisions FROM change WHERE owner_id = (SELECT max(owner_id) FROM change) ORDER BY no"


@pytest.fixture
def of_0013(engine: str, tmp_path: Path, server_folder: Path) -> Iterator[str | Path]:
    """The frozen store of schema 0013, with more cases and links in it."""
    if engine == "sqlite":
        yield with_cases(stores.thaw("0013", tmp_path))
    elif engine == "citus":
        made = citus.with_dump(citus.empty(), stores.dump("0013"))
        yield with_cases(made)
        citus.drop(made)
    else:
        with stores.thawed_on_a_server(tmp_path, server_folder, "0013") as (url, _):
            yield with_cases(url)


def with_cases(place: str | Path) -> str | Path:
    """A store of schema 0013 with changes of two cases, of a case and something else, of a link and an evolution, and
    one that undoes these."""
    last = rows(place, LOG)[-1]["no"]
    undo = [["Undone", {"no": last + 3}], UNLINKED, EVOLVED, SETTLED]
    made = (("correction", CASES), ("correction", [OTHER, CASES[0]]), ("linking", [LINK, EVOLVED]), ("undo", undo))
    for no, (cause, decisions) in enumerate(made, last + 1):
        meddle(
            place,
            "INSERT INTO change (owner_id, no, cause, analyst, recorded_at, decisions) SELECT max(owner_id),"
            f" {no}, '{cause}', '', 0, '{json.dumps(decisions, separators=(',', ':'))}' FROM change",
            "INSERT INTO link (owner_id, link_id, change_no, from_id, to_id, reason, analyst, recorded_at)"
            f" SELECT max(owner_id), 'l{no}-00', {no}, 'f1', 's1', '{SECRET}', '', 0 FROM change",
            "INSERT INTO evolution (owner_id, segment_id, change_no, keywords, tags, context, reason, analyst,"
            f" recorded_at) SELECT max(owner_id), 's{no}', {no}, '[]', '[]', '{SECRET}', '', '', 0 FROM change",
            "INSERT INTO recall_case (owner_id, case_id, change_no, query, asked_at, asked_offset, expected, unwanted,"
            f" note, recorded_at) SELECT max(owner_id), 'q{no}-00', {no}, '{SECRET}', 0, 0, '[]', '[]', '{SECRET}', 0"
            " FROM change",
        )
    meddle(
        place,
        f"UPDATE owner SET revision = {last + 4} WHERE owner_id = (SELECT max(owner_id) FROM change)",
        "UPDATE fact SET visits = change_no, visited_at = recorded_at WHERE about = 'user'",
        "UPDATE segment SET visits = opened_no, visited_at = newest_at WHERE pages > 0",
    )
    with_records(place)
    return place


def with_records(place: str | Path) -> None:
    """What another memory system kept in a store of schema 0013."""
    meddle(
        place,
        "INSERT INTO record (owner_id, record_id, kind, no, revision, gone, text, at, at_offset)"
        f" SELECT max(owner_id), 'r1', 'amem.note', 1, 1, '0', '{SECRET}', 0, 0 FROM owner",
        "INSERT INTO record_value (owner_id, record_id, name, ordinal, text)"
        f" SELECT max(owner_id), 'r1', 'tags', 0, '{SECRET}' FROM owner",
        "INSERT INTO record_state (owner_id, revision, read_to) SELECT max(owner_id), 1, 1 FROM owner",
        "INSERT INTO store (key, value) VALUES ('system', 'amem')",
    )


def test_cases_links_and_records_leave_the_log_and_the_tables_and_the_rest_is_as_it_was(
    of_0013: str | Path, tmp_path: Path, engine: str
) -> None:
    log = rows(of_0013, "SELECT * FROM change ORDER BY owner_id, no")
    kept = [[one for one in json.loads(row["decisions"]) if one[0] not in ENDED and one != SETTLED] for row in log]
    assert {one[0] for row in log for one in json.loads(row["decisions"])} >= ENDED
    items = [row["item"] for row in rows(of_0013, "SELECT DISTINCT item FROM source")]
    assert {*ENDED_ITEMS} <= {*items}
    there = {one[0].strip("'") for one in shape(of_0013)}
    before = {
        table.name: [
            {name: value for name, value in row.items() if (table.name, name) not in ENDED_COLUMNS}
            for row in rows(of_0013, f"SELECT * FROM {table.name}")
        ]
        for table in schema.metadata.sorted_tables
        if table.name in there and table.name not in ("change", "source", "store")
    }
    standing = {
        table: rows(of_0013, f"SELECT * FROM {table} WHERE retired_no IS NULL") for table in ("note", "segment_text")
    }
    versions = {
        table: {
            (row[key], row["change_no"], row["retired_no"])
            for row in rows(of_0013, f"SELECT {key}, change_no, retired_no FROM {table}")
        }
        for table, key in zip(TOPIC_TABLES, ("page_id", "page_id", "chain_id", "segment_id"), strict=True)
    }
    current = "SELECT count(*) AS n FROM fact WHERE retired_no IS NULL AND archived_no IS NULL AND about = 'user'"
    (facts,) = rows(of_0013, current)
    visited = [
        some
        for kind in ("fact", "segment")
        if (some := rows(of_0013, f"SELECT owner_id, {kind}_id AS item_id, {VISITS} FROM {kind} WHERE visits > 0"))
    ]
    assert len(visited) == 2
    assert migrated(of_0013) == ("0013", schema.HEAD)
    after = rows(of_0013, "SELECT * FROM change ORDER BY owner_id, no")
    assert [*resolved(after)] == [decisions_from(json.dumps(some)) for some in kept]
    assert sum(len(row["decisions"]) for row in after) < 0.95 * sum(len(row["decisions"]) for row in log)
    pages = {row["page_id"]: row for row in rows(of_0013, "SELECT * FROM page WHERE noted_no IS NOT NULL")}
    assert {row["page_id"]: (row["change_no"], row["analyst"], row["keywords"]) for row in standing["note"]} == {
        page_id: (row["noted_no"], row["read_by"], row["keywords"]) for page_id, row in pages.items()
    }
    names = ("change_no", "recorded_at", "title", "said_from", "said_from_offset", "said_to", "keywords")
    assert {(row["owner_id"], row["segment_id"]): [row[one] for one in names] for row in standing["segment_text"]} == {
        (row["owner_id"], row["segment_id"]): [row[one] for one in names]
        for row in rows(of_0013, "SELECT * FROM segment WHERE parts IS NOT NULL")
    }
    with looking(of_0013) as look:
        folded = state_rows(look)
    assert versions == {
        table: {(row[key], row["change_no"], row["retired_no"]) for row in folded[table]}
        for table, key in zip(TOPIC_TABLES, ("page_id", "page_id", "chain_id", "segment_id"), strict=True)
    }
    causes = {row["cause"]: row["cause"] for row in log} | {"linking": "correction"}
    assert [{**row, "decisions": ""} for row in after] == [
        {**row, "decisions": "", "cause": causes[row["cause"]]} for row in log
    ]
    *_, fourth, third, second, first = rows(of_0013, LOG)
    assert [json.loads(row["decisions"]) for row in (fourth, third, second)] == [[], [OTHER], []]
    assert json.loads(first["decisions"]) == [["Undone", {"no": second["no"]}]]
    assert rows(of_0013, "SELECT DISTINCT no FROM change_source")
    assert not {*ENDED_TABLES} & {one[0].strip("'") for one in shape(of_0013)}
    for name, told in before.items():
        columns = ", ".join(f'"{column}"' for column in told[0]) if told else "*"
        assert sorted(map(repr, rows(of_0013, f"SELECT {columns} FROM {name}"))) == sorted(map(repr, told)), name
    assert rows(of_0013, "SELECT sum(facts) AS n FROM owner") == [facts]
    waiting = rows(of_0013, f"SELECT owner_id, item_id, {VISITS} FROM visit")
    assert sorted(map(repr, waiting)) == sorted(repr(row) for some in visited for row in some)
    assert rows(of_0013, "SELECT * FROM store WHERE key = 'system'") == []
    assert not [
        row for name in schema.metadata.tables for row in rows(of_0013, f"SELECT * FROM {name}") if SECRET in repr(row)
    ]
    with stores.opened(of_0013, forgotten_key_file=str(stores.thaw_key("0013", tmp_path / "own.key"))) as memory:
        due = "VACUUM there" if engine == "citus" else "a scrub is due"
        assert due in "".join(one.what for one in memory.check())
        assert sum(len(mine.changes()) for mine in owners_of(memory).values()) == len(log)
        for mine in owners_of(memory).values():
            assert PersonaState(mine.changes()).no == len(mine.changes())
            assert_folded_alike(mine, of_0013)
        assert memory.scrub() is (engine != "citus")  # whose nodes do not say what VACUUM left
        assert (due in "".join(one.what for one in memory.check())) is (engine == "citus")
    if not on_a_server(of_0013):
        assert not [file for file in tmp_path.glob("0013.db*") if "before" not in file.name and in_file(file)]


def resolved(log: list[dict[str, Any]]) -> Iterator[tuple[Decision, ...]]:
    """The decisions of each change of all owners, with whole texts in place of growths."""
    of: dict[str, SegmentTexts] = {}
    for row in log:
        texts, made = of.setdefault(row["owner_id"], SegmentTexts()), list[Decision]()
        for d in decisions_from(row["decisions"]):
            made.append(texts.after(d) if isinstance(d, SegmentGrew) else d)
            texts.take(d)
        yield tuple(made)


def in_file(file: Path) -> bool:
    """Whether the word stands in a file's bytes, packed or not."""
    content = file.read_bytes()
    return any(SECRET.encode() in piece for piece in (content, *unpacked_within(content)))


def test_a_store_without_cases_links_and_records_needs_no_scrub_after_its_migration(place: Place) -> None:
    Memory(place(), **SMALL).close()
    meddle(
        place(),
        *(
            f"CREATE TABLE {name} (owner_id VARCHAR(32) PRIMARY KEY)"
            for name in ENDED_TABLES
            if name not in ("fact", "note")
        ),
        "CREATE TABLE note (owner_id VARCHAR(32) PRIMARY KEY, page_id VARCHAR(40), change_no INTEGER, analyst TEXT,"
        " keywords TEXT, retired_no INTEGER)",
        "CREATE TABLE fact (owner_id VARCHAR(32) PRIMARY KEY, fact_id VARCHAR(40), visits INTEGER, visited_at BIGINT)",
        "ALTER TABLE page ADD COLUMN touched_no INTEGER",
        "ALTER TABLE segment ADD COLUMN visits INTEGER",
        "ALTER TABLE segment ADD COLUMN visited_at BIGINT",
        f"UPDATE {migrations.VERSION_TABLE} SET version_num = '0013'",
    )
    assert migrated(place()) == ("0013", schema.HEAD)
    with Memory(place(), **SMALL) as memory:
        assert [one.what for one in memory.check() if one.level != "ok"] == []


# --------------------------------------------------------------------------------------------- the copy beside a file


@pytest.mark.sqlite
def test_a_file_is_copied_before_it_is_migrated_and_without_room_for_the_copy_nothing_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, backup = older(tmp_path / "memory.db", monkeypatch), tmp_path / f"memory.db.before-{schema.HEAD}"
    before = content(file)
    backup.mkdir()
    with pytest.raises(StoreError, match="no backup can be made"):
        SqlStore(Sqlite(file, 5))
    assert (rows(file, VERSION), content(file)) == ([{"version_num": BEFORE}], before)
    backup.rmdir()
    SqlStore(Sqlite(file, 5)).close()
    assert rows(backup, VERSION) == [{"version_num": BEFORE}]
    assert content(backup) == before
    assert backup.stat().st_mode == file.stat().st_mode
    assert sorted(f.name for f in tmp_path.iterdir()) == sorted([file.name, backup.name])


OPENER = """
import sys
from embermem import Memory
print("ready", flush=True)
sys.stdin.readline()
with Memory(sys.argv[1], embedder="hashed", background=False, busy_timeout_s=20.0) as memory:
    assert len(memory.of("alice").pages()) >= 6
    memory.of("alice").add("I opened it", "I see.", thread=sys.argv[2])
"""


@pytest.mark.sqlite
def test_processes_that_open_an_older_store_at_once_all_succeed_and_one_migrates_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = older(tmp_path / "memory.db", monkeypatch)
    before = content(file)
    openers = [script(OPENER, str(file), f"p{n}") for n in range(4)]
    for one in openers:
        assert one.stdout.readline() == "ready\n"
    with closing(sqlite3.connect(file)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        for one in openers:
            one.tell("go")
        time.sleep(0.5)  # long enough for all to find the older version, and to wait for the writer
        writer.rollback()
    for one in openers:
        assert (one.communicate(), one.returncode) == (("", ""), 0)
    with Memory(file, **SMALL) as memory:
        assert len(memory.of("alice").pages()) == len(SAID) + len(openers)
    backup = tmp_path / f"memory.db.before-{schema.HEAD}"
    assert (rows(backup, VERSION), content(backup)) == ([{"version_num": BEFORE}], before)
    assert_sound(file)
