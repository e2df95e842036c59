"""Creates the schema, and brings a store of an older schema up to date: what it lacks is added, then a step rewrites
its rows where they need it, and drops what is no more. No table gets another layout."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
import numpy as np
from sqlalchemy import (
    Column,
    Connection,
    Dialect,
    Engine,
    Table,
    delete,
    func,
    inspect,
    literal_column,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import CreateIndex, CreateTable, ExecutableDDLElement
from sqlalchemy.sql.compiler import DDLCompiler

from embermem.core.changes import Cause, ConflictSettled
from embermem.core.errors import SchemaMismatch, StoreCorrupt
from embermem.core.vector_codes import stored
from embermem.store import schema
from embermem.store.codec import from_json, json_text, passages_bytes, passages_from
from embermem.store.engines.packed_text import Plain
from embermem.store.engines.vector_type import column_is_halfvec
from embermem.store.engines.words import holds
from embermem.store.queries.changes import index_again
from embermem.store.schema import HEAD
from embermem.store.segment_growth import write_what_is_new
from embermem.store.statements import SCRUBBED, set_owner, update_rows
from embermem.store.states import counted, folded_anew

VERSION_TABLE = "ember_version"
NEW_STORE = f"INSERT INTO {schema.store.name} (key, value) VALUES ('{SCRUBBED}', 'new')"
"""What a store holds that was just made: nothing was ever deleted there."""

_ENDED = ("CaseAdded", "CaseDropped", "Linked", "Unlinked", "SegmentEvolved", "FactsConflict")
"""Kinds of decisions that end with schema 0013."""
_PERSONA_TABLES = ("fact", "fact_state", "conflict", "trait", "profile", "person")
_RECORD_TABLES = ("record", "record_value", "record_state")
_TOPIC_TABLES = ("note", "membership", "chain", "segment_text")
_ENDED_TABLES = ("recall_case", "link", "evolution", "source", *_PERSONA_TABLES, *_TOPIC_TABLES, *_RECORD_TABLES)
"""Tables that end with it."""


def refuse_unknown(found: str, place: str) -> None:
    """Raises SchemaMismatch for a schema that no step leads from."""
    if found == HEAD or found in STEPS:
        return
    oldest = next(iter(STEPS), HEAD)
    if found < oldest:
        raise SchemaMismatch(
            f"{place} has schema {found}, of a version of Ember before the first release; this version opens schema "
            f"{oldest} and later: export its users with the embermem that wrote it (`embermem export FILE`), and "
            "import the file into a new store (`embermem import FILE`)"
        )
    raise SchemaMismatch(
        f"{place} was made by a newer version of Ember (schema {found}; this version supports up to {HEAD}): "
        "upgrade embermem"
    )


def refuse_other(connection: Connection, place: str) -> None:
    """Raises SchemaMismatch in a transaction that writes, where another Ember has migrated the store since it was
    opened. On PostgreSQL the look holds a migration off until the transaction ends."""
    with closing(connection.connection.cursor()) as cursor:  # the driver's own: every write asks this
        cursor.execute(f"SELECT version_num FROM {VERSION_TABLE}")
        (found,) = cursor.fetchone() or (None,)
    if found != HEAD:
        raise SchemaMismatch(
            f"{place} was migrated to schema {found} while this process, which supports up to {HEAD}, had it open; "
            "nothing was written: restart this program with the newer embermem"
        )


def version(engine: Engine, path: Path) -> str | None:
    """The schema's revision; None for an empty file. Raises StoreCorrupt for somebody else's database."""
    with engine.connect() as connection:
        tables = set(inspect(connection).get_table_names())
        if VERSION_TABLE in tables:
            return str(connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar_one())
    if tables:
        raise StoreCorrupt(f"{path} is a database, but not an Ember store; choose another file")
    return None


def new_store(dialect: Dialect) -> Iterator[str]:
    """The statements that make the tables of an empty store, in order."""
    for table in schema.metadata.sorted_tables:
        yield str(CreateTable(table).compile(dialect=dialect)).strip()
        for index in sorted(table.indexes, key=lambda index: str(index.name)):
            yield str(CreateIndex(index).compile(dialect=dialect)).strip()
    yield f"CREATE TABLE {VERSION_TABLE} (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"
    yield f"INSERT INTO {VERSION_TABLE} VALUES ('{HEAD}')"
    yield NEW_STORE


def upgrade(connection: Connection, made: Callable[[Table], None] = lambda table: None) -> None:
    """Make an older schema the present one, in the transaction of the caller: what it lacks is added, then its steps
    run. `made` is called with each new table before anything is written into it. Raises SchemaMismatch."""
    found = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar_one()
    _add_what_is_missing(connection, made)
    for step in list(STEPS.values())[list(STEPS).index(found) :]:
        step(connection)
    connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '{HEAD}'"))


def _add_what_is_missing(connection: Connection, made: Callable[[Table], None]) -> None:
    """Tables, columns and indexes. A column that is added may be NULL."""
    there_before = set(inspect(connection).get_table_names())
    for table in schema.metadata.sorted_tables:
        connection.execute(CreateTable(table, if_not_exists=True))
        if table.name not in there_before:
            made(table)
        there = set(connection.execute(select(literal_column("*")).select_from(table).limit(0)).keys())
        for column in table.c:
            if column.name not in there:
                connection.execute(_AddColumn(column))
        for index in table.indexes:
            connection.execute(CreateIndex(index, if_not_exists=True))


class _AddColumn(ExecutableDDLElement):
    def __init__(self, column: Column[Any]) -> None:
        self.column = column


@compiles(_AddColumn)
def _added(element: _AddColumn, compiler: DDLCompiler, **options: Any) -> str:
    table = compiler.preparer.format_table(element.column.table)
    return f"ALTER TABLE {table} ADD COLUMN {compiler.get_column_specification(element.column)}"


def _drop_what_ended(connection: Connection) -> None:
    """Cases, links between memories, what links made of segments, and conflicts leave the log. So do settlements that
    an undo wrote: a settlement is a ruling, which the word that its change is undone takes back. A change of nothing
    else keeps its number; of a caller's link it is a correction. A scrub is due then."""
    change = schema.change
    tags = (*_ENDED, ConflictSettled.tag)
    named = or_(*(holds(connection, Plain(change.c.decisions), f'"{tag}"') for tag in tags))
    columns = change.c.owner_id, change.c.no, change.c.cause, change.c.decisions
    rows = connection.execute(select(*columns).where(named)).all()
    for row in rows:
        decisions = from_json(row.decisions, list[tuple[str, msgspec.Raw]])
        ended = (*_ENDED, ConflictSettled.tag) if row.cause == Cause.UNDO else _ENDED
        kept = [(tag, fields) for tag, fields in decisions if tag not in ended]
        update_rows(connection, change, row.owner_id, ("no",), [{"no": row.no, "decisions": json_text(kept)}])
    linked = update(change).where(change.c.cause == "linking")
    connection.execute(linked.values(cause=Cause.CORRECTION.value))
    if rows:
        connection.execute(delete(schema.store).where(schema.store.c.key == SCRUBBED))


def _fold_states(connection: Connection) -> None:
    """Persona and topics are folded from the log. What no change holds yet, the visits of facts and segments, waits for
    the next; the owner's row counts the facts."""
    for item in ("fact", "segment"):
        connection.execute(
            text(
                f"INSERT INTO {schema.visit.name} (owner_id, item_id, visits, visited_at) "
                f"SELECT owner_id, {item}_id, visits, visited_at FROM {item} WHERE visits > 0"
            )
        )
    for owner_id in connection.scalars(select(schema.owner.c.owner_id)).all():
        set_owner(connection, owner_id, **counted(folded_anew(connection, owner_id)))


def _notes_to_pages(connection: Connection) -> None:
    """What stands of a page's note is in the page's row, but for what it proposes: that is in the log."""
    set_to = ", ".join(f"{name} = n.{of}" for name, of in (("noted_no", "change_no"), ("read_by", "analyst")))
    connection.execute(
        text(
            f"UPDATE page SET {set_to}, keywords = n.keywords FROM note AS n "
            "WHERE n.owner_id = page.owner_id AND n.page_id = page.page_id AND n.retired_no IS NULL"
        )
    )


def _index_sources(connection: Connection) -> None:
    """What changes rest on is found by an index of the log."""
    for owner_id in connection.scalars(select(schema.owner.c.owner_id)).all():
        index_again(connection, owner_id)


def _drop_records(connection: Connection) -> None:
    """Records of memory systems other than MemoryOS leave the store, which is one of MemoryOS from then on: all that
    was said is read by it. A scrub is due then."""
    if connection.execute(text("SELECT 1 FROM record LIMIT 1")).first() is not None:
        connection.execute(delete(schema.store).where(schema.store.c.key == SCRUBBED))
    connection.execute(delete(schema.store).where(schema.store.c.key == "system"))


def _in_codes(connection: Connection) -> None:
    """Vectors that stand in half precision, as bytes of an even length, get codes."""
    table = schema.embedding
    if column_is_halfvec(connection, table.name):
        return
    columns = table.c.owner_id, table.c.seq, table.c.data, table.c.passages
    for row in connection.execute(select(*columns).where(func.length(table.c.data) % 2 == 0)).all():
        vectors, tokens = ([], []) if row.passages is None else passages_from(row.passages)
        further = passages_bytes([_coded(one) for one in vectors], tokens) if vectors else None
        coded = {"seq": row.seq, "data": _coded(row.data), "passages": further}
        update_rows(connection, table, row.owner_id, ("seq",), [coded])


def _coded(halves: bytes) -> bytes:
    return stored(np.frombuffer(halves, dtype="<f2").astype(np.float32))


def _drop_tables(connection: Connection) -> None:
    """Tables and columns that are no more, and indexes that nothing asks."""
    for index in ("ix_page_chain", "ix_page_touched"):
        connection.execute(text(f"DROP INDEX IF EXISTS {index}"))
    for table, column in (("page", "touched_no"), ("segment", "visits"), ("segment", "visited_at")):
        connection.execute(text(f"ALTER TABLE {table} DROP COLUMN {column}"))
    for table in _ENDED_TABLES:
        connection.execute(text(f"DROP TABLE {table}"))


def _to_0014(connection: Connection) -> None:
    _drop_what_ended(connection)
    write_what_is_new(connection)
    _notes_to_pages(connection)
    _fold_states(connection)
    _index_sources(connection)
    _drop_records(connection)
    _in_codes(connection)
    _drop_tables(connection)


STEPS: Mapping[str, Callable[[Connection], None]] = MappingProxyType({"0013": _to_0014})
"""For each older schema that this version opens, oldest first: what it does to the rows to reach the schema after it.
Tables, columns and indexes that the older schema lacks have been added before."""
