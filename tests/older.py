"""A store of an older schema, and the step that leads from it to the present one."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Connection, insert

from embermem import Memory
from embermem.store import migrations, schema
from scripted import SMALL
from soundness import meddle, rows

BEFORE = "0012"
VERSION = f"SELECT version_num FROM {migrations.VERSION_TABLE}"
STEPPED = "stepped"
"""The setting that the step leaves."""
SAID = [f"I live in town {n}. I like herons." for n in range(6)]


def older(place: str | Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a store with something in every log, of a schema that lacks a table, a column and an index, and register
    the step that leads from it."""
    with Memory(place, **SMALL) as memory:
        alice = memory.of("alice")
        for n, text in enumerate(SAID):
            alice.add(text, "I see.", thread=f"t{n % 2}")
        alice.settle()
    meddle(
        place,
        f"DROP TABLE {schema.visit.name}",
        "ALTER TABLE page DROP COLUMN redo_at",
        "DROP INDEX ix_page_unread",
        f"UPDATE {migrations.VERSION_TABLE} SET version_num = '{BEFORE}'",
    )
    monkeypatch.setattr(migrations, "STEPS", {BEFORE: step})
    return Path(place)


def step(connection: Connection) -> None:
    """Writes a setting."""
    connection.execute(insert(schema.store).values(key=STEPPED, value="1"))


def content(place: str | Path) -> dict[str, list[str]]:
    """Every row of every table, without what the older schema lacks."""
    return {
        table.name: sorted(
            repr({key: value for key, value in row.items() if key != "redo_at"})
            for row in rows(place, f"SELECT * FROM {table.name}")
            if row.get("key") != STEPPED
        )
        for table in schema.metadata.sorted_tables
        if table is not schema.visit
    }
