"""Stores as older versions of Ember left them."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from embermem import Memory
from embermem.core.vector_codes import halves_of
from embermem.store import migrations
from embermem.store.engines import sqlite_file
from embermem.store.engines.owner_alias import KEYS
from embermem.store.engines.packed_text import PLAIN, plain_text
from embermem.store.engines.packed_tokens import PackedTokens
from embermem.store.engines.sqlite_file import AnyFile
from net.stores import thaw
from scripted import SMALL
from soundness import rows

VERSION = f"SELECT version_num FROM {migrations.VERSION_TABLE}"


def older(file: Path, revision: str) -> Path:
    """A store with something in every log, in the tables of an Ember whose newest schema was `revision`."""
    made = file.with_name("made.db")
    with Memory(made, **SMALL) as memory:
        alice = memory.of("alice")
        for n in range(12):
            alice.add(f"I live in town {n}. I like herons.", "I see.", thread=f"t{n % 2}")
        alice.settle()
    with tempfile.TemporaryDirectory() as folder, closing(sqlite3.connect(thaw(revision, Path(folder)))) as c:
        made_by = [row[0] for row in c.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid")]
    with closing(sqlite3.connect(file)) as c:
        c.execute("PRAGMA journal_mode=WAL")
        for statement in made_by:
            c.execute(statement)
        c.execute(f"INSERT INTO {migrations.VERSION_TABLE} VALUES (?)", (revision,))
        c.create_function(PLAIN, 1, plain_text)
        c.create_function("halves", 1, halves_of)
        c.create_function("codes", 1, lambda value: PackedTokens().process_result_value(value, AnyFile()))
        c.execute("ATTACH ? AS made", (str(made),))
        for (table,) in c.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'").fetchall():
            if table != migrations.VERSION_TABLE:
                names = [row[1] for row in c.execute(f"PRAGMA main.table_info('{table}')")]
                columns = ", ".join(f'"{name}"' for name in names)
                then = ", ".join(_as_it_was(name) for name in names)
                now = RENAMED.get(table, table)
                c.execute(f"INSERT INTO main.{table} ({columns}) SELECT {then} FROM made.{now}")
        _without_what_is_newer(c)
        c.commit()
        c.execute(f"PRAGMA application_id={sqlite_file.APPLICATION_ID}")
    file.chmod(0o600)
    made.unlink()
    return file


def _as_it_was(name: str) -> str:
    """A column in the form in which an older version had it."""
    match name:
        case "owner_id":
            return f"(SELECT id FROM made.{KEYS} WHERE no = owner_id)"
        case "tokens":
            return "codes(tokens)"
        case "data":
            return "halves(data)"
        case "decisions" | "proposals" | "parts" | "keywords":
            return f"{PLAIN}({name})"
    return f'"{name}"'


def _without_what_is_newer(c: sqlite3.Connection) -> None:
    """Nothing in the log tells of who is who, for which there was no table, nor of titles of segments."""
    for mine, no, told in c.execute("SELECT owner_id, no, decisions FROM main.change").fetchall():
        kept = [d for d in json.loads(told) if d[0] != "PersonRelated"]
        for tag, fields in kept:
            if tag == "SegmentWritten":
                del fields["title"], fields["shown"]
                for part in fields["parts"]:
                    del part["phrases"]
        written = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
        c.execute("UPDATE main.change SET decisions = ? WHERE owner_id = ? AND no = ?", (written, mine, no))
    for mine, name, no, told in c.execute(
        "SELECT owner_id, segment_id, change_no, parts FROM main.segment_text"
    ).fetchall():
        parts = [{key: value for key, value in part.items() if key != "phrases"} for part in json.loads(told)]
        written = json.dumps(parts, ensure_ascii=False, separators=(",", ":"))
        c.execute(
            "UPDATE main.segment_text SET parts = ? WHERE owner_id = ? AND segment_id = ? AND change_no = ?",
            (written, mine, name, no),
        )
    c.execute("DELETE FROM main.source WHERE item = 'person'")


RENAMED = {"vector": "embedding"}
"""Tables that a migration gave another name."""
NEWER = {
    *(("utterance", name) for name in ("metadata", "passage")),
    *(("embedding", name) for name in ("tokens", "passages")),
    *(("page", name) for name in ("redo_tries", "redo_at", "expires_at", "expires_offset")),
    *(
        ("fact", name)
        for name in ("expires_at", "expires_offset", "visits", "visited_at", "embedder", "vector", "metadata")
    ),
    *((table, name) for table in ("trait", "profile") for name in ("valid_from", "valid_from_offset")),
    *(("segment_text", name) for name in ("title", "shown")),
}
"""Columns that a migration added."""


NEW = (
    *("call", "api_key", "record", "record_state", "record_value"),
    *("fact_state", "conflict", "link", "evolution", "barred", "person", "recall_case"),
    *("utterance_value", "share", "document", "original", "webhook"),
)
"""Tables that a migration made."""


def content(file: Path) -> dict[str, list[str]]:
    """Every row of every table, without the tables and columns that newer versions add; owners by their ids, and packed
    texts unpacked."""
    tables = [row["name"] for row in rows(file, "SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {
        RENAMED.get(table, table): sorted(
            repr({key: value for key, value in row.items() if (RENAMED.get(table, table), key) not in NEWER})
            for row in rows(file, f"SELECT * FROM {table}")
        )
        for table in tables
        if table not in (migrations.VERSION_TABLE, KEYS, *NEW) and not table.startswith("sqlite_")
    }
