"""What must hold of every store at any time, looked at in the database itself and through the public face."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from embermem import Memory, Tier
from embermem.bootstrap import on_a_server
from embermem.core.vector_codes import vector_of
from embermem.store import schema
from embermem.store.engines.owner_alias import KEYS
from embermem.store.engines.packed_text import PLAIN, PackedText, plain_text
from embermem.store.engines.short_names import _SHORT
from state_rows import log_of, state_rows, topic_rows

Rows = list[dict[str, Any]]
Look = Callable[..., Rows]
"""Rows of a query with `?` for its values, on whichever engine."""

RESTING = ("chain", "segment", "fact", "trait", "profile", "person")
"""Kinds of items that name their sources; a profile line set by the caller rests on the caller alone."""


@contextmanager
def looking(place: str | Path) -> Iterator[Look]:
    """A connection of its own to a store, beside everything else, that writes nothing."""
    if on_a_server(place):
        import psycopg
        from psycopg.rows import dict_row

        with psycopg.connect(str(place), autocommit=True, row_factory=dict_row) as server:
            server.execute("SET default_transaction_read_only = on")

            def ask(query: str, *values: object) -> Rows:
                said = query.replace("%", "%%").replace("?", "%s").replace(f"{PLAIN}(", "(")
                return server.execute(said, values).fetchall()

            yield ask
        return
    with closing(sqlite3.connect(f"file:{place}?mode=ro", uri=True)) as file:
        file.row_factory = sqlite3.Row
        file.create_function(PLAIN, 1, plain_text, deterministic=True)
        yield lambda query, *values: _shown(file, file.execute(*_asked(file, query, values)))


_OWNER_ID = re.compile(r"[0-9a-f]{32}")


def owner_numbers(file: sqlite3.Connection) -> dict[str, str]:
    """The number of each owner's id in a file, if it has numbers (store/engines/owner_alias.py)."""
    if not file.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (KEYS,)).fetchone():
        return {}
    return {str(owner_id): str(no) for owner_id, no in file.execute(f"SELECT id, no FROM {KEYS}").fetchall()}


def _asked(file: sqlite3.Connection, query: str, values: Sequence[object]) -> tuple[str, Sequence[object]]:
    """A statement that names owners by their ids, as the file's tables name them."""
    numbers = owner_numbers(file)
    if not numbers:
        return query, values
    query = _OWNER_ID.sub(lambda found: numbers.get(found[0], found[0]), query)
    return query, [numbers.get(one, one) if isinstance(one, str) else one for one in values]


def _shown(file: sqlite3.Connection, found: Iterable[sqlite3.Row]) -> Rows:
    """Rows with the ids of owners, and the texts of packed columns, as PostgreSQL has them."""
    ids = {no: owner_id for owner_id, no in owner_numbers(file).items()}
    made = [dict(row) for row in found]
    for row in made:
        for name, value in row.items():
            if name == "owner_id":
                row[name] = ids.get(str(value), value)
            elif isinstance(value, bytes) and name in _PACKED:
                row[name] = plain_text(value)
    return made


_PACKED = frozenset(
    column.name for table in schema.metadata.sorted_tables for column in table.c if isinstance(column.type, PackedText)
)


def rows(place: str | Path, query: str, *values: object) -> Rows:
    """Rows of one query on a store."""
    with looking(place) as look:
        return look(query, *values)


def meddle(place: str | Path, *statements: str) -> None:
    """Change a store behind Ember's back."""
    if on_a_server(place):
        import psycopg

        with psycopg.connect(str(place)) as server:
            for statement in statements:
                server.execute(statement)
        return
    with closing(sqlite3.connect(place)) as file:
        file.create_function(PLAIN, 1, plain_text, deterministic=True)
        for statement in statements:
            file.execute(*_asked(file, statement, ()))
        file.commit()


def written(place: str | Path) -> tuple[Any, ...]:
    """What any write to the store changes: the file's own counter and its WAL, or the newest transaction of a row."""
    tables = [table.name for table in schema.metadata.sorted_tables]
    with looking(place) as look:
        if on_a_server(place):
            newest = "SELECT count(*) AS n, max(xmin::text::bigint) AS newest FROM"
            return tuple(tuple(look(f"{newest} {table}")[0].values()) for table in tables)
        counts = (look(f"SELECT count(*) AS n FROM {table}")[0]["n"] for table in tables)
        wal = Path(f"{place}-wal")
        return (Path(place).read_bytes()[24:28], wal.stat().st_size if wal.exists() else 0, *counts)


def assert_sound(place: str | Path) -> None:
    """Both logs are without gaps but for what was forgotten, every page is in at most one segment, every derived row
    says where it comes from."""
    with looking(place) as look:
        if not on_a_server(place):
            assert look("PRAGMA integrity_check") == [{"integrity_check": "ok"}]
        for owner in look("SELECT * FROM owner"):
            assert_owner_is_sound(look, owner)


def assert_owner_is_sound(look: Look, owner: dict[str, Any]) -> None:
    mine = owner["owner_id"]
    seqs = [row["seq"] for row in look("SELECT seq FROM utterance WHERE owner_id = ? ORDER BY seq", mine)]
    pages = look("SELECT * FROM page WHERE owner_id = ? ORDER BY no", mine)
    lost_seqs, lost_pages = forgotten(look, mine)
    assert_ascending(seqs, owner["seq"], lost_seqs)
    assert_ascending([page["no"] for page in pages if page["no"] > 0], owner["pages"], lost_pages)
    assert_passages_are_of_documents(look, mine, [page for page in pages if page["no"] <= 0])
    changes = look("SELECT no, recorded_at FROM change WHERE owner_id = ? ORDER BY no", mine)
    assert [change["no"] for change in changes] == list(range(1, owner["revision"] + 1))
    assert_pages_agree_with_their_utterances(look, mine, pages)
    assert_single_membership(look, mine, pages)
    assert_vectors_are_whole(look, mine, seqs)
    assert_every_derived_row_says_where_it_comes_from(look, mine, {c["no"]: c["recorded_at"] for c in changes})


def forgotten(look: Look, mine: str) -> tuple[int, int]:
    """How many utterances were forgotten, and how many pages of talk, as the log says."""
    told = look("SELECT decisions FROM change WHERE owner_id = ? AND cause = 'forgetting'", mine)
    erased = [d for row in told for name, d in json.loads(row["decisions"]) if name == "Erased"]
    return sum(d["utterances"] for d in erased), sum(len(d["pages"]) - d.get("passages", 0) for d in erased)


def assert_ascending(numbers: list[int], newest: int, lost: int) -> None:
    """Numbers from 1 up to the newest, of which as many are missing as were forgotten."""
    assert numbers == sorted(set(numbers) & set(range(1, newest + 1)))
    assert newest - len(numbers) == lost


def assert_pages_agree_with_their_utterances(look: Look, mine: str, pages: list[dict[str, Any]]) -> None:
    said = look(
        """SELECT page_id, min(seq) AS first_seq, max(seq) AS last_seq, count(DISTINCT thread) AS threads,
                  max(CASE WHEN role IN ('assistant', 'tool') THEN 1 ELSE 0 END) AS answered
           FROM utterance WHERE owner_id = ? GROUP BY page_id""",
        mine,
    )
    by_id = {row["page_id"]: row for row in said}
    assert set(by_id) == {page["page_id"] for page in pages}
    for page in pages:
        told = by_id[page["page_id"]]
        assert told["threads"] == 1
        assert all(page[key] == told[key] for key in ("first_seq", "last_seq", "answered"))


def assert_passages_are_of_documents(look: Look, mine: str, pages: Rows) -> None:
    """A passage is a page by itself, numbered by its utterance, of a document that is there."""
    assert all((page["no"], page["last_seq"]) == (-page["first_seq"], page["first_seq"]) for page in pages)
    documents = look("SELECT document_id FROM document WHERE owner_id = ?", mine)
    assert {page["thread"] for page in pages} <= {f"document:{one['document_id']}" for one in documents}
    said = look("SELECT seq FROM utterance WHERE owner_id = ? AND passage IS NOT NULL", mine)
    assert {row["seq"] for row in said} == {page["first_seq"] for page in pages}


def assert_single_membership(look: Look, mine: str, pages: list[dict[str, Any]]) -> None:
    told = topic_rows(log_of(look, mine))
    current = [row for row in told["membership"] if row["retired_no"] is None]
    notes = {row["page_id"]: row for row in told["note"] if row["retired_no"] is None}
    assert {m["page_id"]: m["segment_id"] for m in current} == {
        p["page_id"]: p["segment_id"] for p in pages if p["segment_id"] is not None
    }
    for page in pages:
        note = notes.pop(page["page_id"], {})
        names = {"noted_no": "change_no", "read_by": "analyst", "keywords": "keywords", "chain_id": "chain_id"}
        there = {**page, "read_by": _SHORT_NAMES.get(page["read_by"], page["read_by"])}
        assert {one: there[one] for one in names} == {one: note.get(of) for one, of in names.items()}
    assert not notes
    counted = Counter(m["segment_id"] for m in current)
    segments = {s["segment_id"]: s for s in look("SELECT * FROM segment WHERE owner_id = ?", mine)}
    assert {one: s["pages"] for one, s in segments.items() if s["pages"]} == dict(counted)
    assert all(s["evicted_no"] is not None for s in segments.values() if not s["pages"])
    texts = {row["segment_id"]: row for row in told["segment_text"] if row["retired_no"] is None}
    assert texts.keys() == {one for one, s in segments.items() if s["parts"] is not None}
    for segment_id, text in texts.items():
        row = segments[segment_id]
        assert row["pages"]
        assert row["said_from"] <= row["said_to"]
        for one in ("parts", "keywords", "title", "change_no"):
            assert row[one] == text[one]


_SHORT_NAMES = {short: name for name, short in _SHORT.items()}


def assert_vectors_are_whole(look: Look, mine: str, seqs: list[int]) -> None:
    """Vectors are of what was said, and as long as their embedder's others; tokens are bytes or missing."""
    told = look("SELECT seq, embedder, data, tokens FROM embedding WHERE owner_id = ?", mine)
    assert {row["seq"] for row in told} <= set(seqs)
    assert all(isinstance(row["tokens"], bytes | None) for row in told)
    sizes = {(row["embedder"], length(row["data"])) for row in told}
    assert len(sizes) == len({embedder for embedder, _ in sizes})


def length(vector: bytes | str) -> int:
    """Of a vector as its column has it: bytes, or pgvector's own writing."""
    return vector.count(",") + 1 if isinstance(vector, str) else len(vector_of(vector))


def assert_every_derived_row_says_where_it_comes_from(look: Look, mine: str, changes: dict[int, int]) -> None:
    for row in look("SELECT * FROM segment WHERE owner_id = ?", mine):
        assert row["opened_no"] in changes
        assert row["evicted_no"] is None or row["evicted_no"] in changes
        assert row["change_no"] is None or changes[row["change_no"]] == row["recorded_at"]
    assert_sources(look, mine)


def assert_sources(look: Look, mine: str) -> None:
    told_by = {row["no"]: row["cause"] for row in look("SELECT no, cause FROM change WHERE owner_id = ?", mine)}
    told_of_all = {name: [r for r in some if r["owner_id"] == mine] for name, some in state_rows(look).items()}
    brought = ("import", "correction", "anew")  # what callers bring rests on nothing said
    bare = [
        *(
            ("fact", r["fact_id"], r["change_no"])
            for r in told_of_all["fact"]
            if told_by[r["change_no"]] not in brought
        ),
        *(("trait", r["dimension"], r["change_no"]) for r in told_of_all["trait"]),
        *(
            ("profile", f"{r['whose']}.{r['name']}", r["change_no"])
            for r in told_of_all["profile"]
            if r["set_by"] != "caller" and r["value"] is not None
        ),
        *(
            ("person", f"{r['relation']}.{r['one']}.{r['other']}", r["change_no"])
            for r in told_of_all["person"]
            if r["relation"] == "speaks" and r["holds"] is not None
        ),
        *(("chain", r["chain_id"], r["change_no"]) for r in told_of_all["chain"] if r["summary"]),
        *(
            ("segment", r["segment_id"], r["change_no"])
            for r in told_of_all["segment_text"]
            if any(part["text"] for part in json.loads(r["parts"]))
        ),
    ]
    known = {r["seq"] for r in look("SELECT seq FROM utterance WHERE owner_id = ?", mine)}
    told = told_of_all["source"]
    assert {row["seq"] for row in told} <= known
    assert {row["item"] for row in told} <= set(RESTING)
    named = {(row["item"], row["item_id"], row["change_no"]) for row in told}
    told_of = {row["item_id"] for row in told if row["item"] == "segment"}  # a text rests on what those before it said
    for one in bare:
        assert one in named or (one[0] == "segment" and one[1] in told_of), one


def assert_tiers(memory: Memory) -> None:
    """Pages in = pages out: each page of each owner is in exactly one tier, and short-term holds the newest."""
    for owner in memory.owners():
        mine = memory.space(owner.space) if owner.space else memory.of(owner.user, owner.agent)
        everything = mine.pages()
        by_tier = {tier: mine.pages(tier) for tier in Tier}
        listed = [page.id for pages in by_tier.values() for page in pages]
        assert sorted(listed) == sorted(page.id for page in everything)
        state = memory._parts.store.owner_state(owner.id)
        assert state is not None
        numbers = [page.no for page in everything]
        assert numbers == sorted(set(numbers) & set(range(1, state.pages + 1)))
        newest = {no for no in numbers if no > state.pages - memory.settings.short_term_pages}
        assert {page.no for page in by_tier[Tier.SHORT]} <= newest
        assert all(page.no not in newest for page in by_tier[Tier.PENDING])
        assert len(by_tier[Tier.SHORT]) <= memory.settings.short_term_pages
        stats = mine.stats()
        assert (stats.short, stats.pending, stats.mid, stats.archive) == tuple(len(by_tier[tier]) for tier in Tier)
