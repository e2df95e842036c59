"""Rows from one database to another, in one state of the first."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import insert, select

from embermem.errors import StoreError
from embermem.stores import schema

if TYPE_CHECKING:
    from embermem.stores.database import Database

_ROWS = 1_000
"""Rows read and written at once."""


def copied(database: Database, place: Path) -> None:
    """Every row of a database in a new SQLite file, with the key of what was forgotten. Raises StoreError."""
    from embermem.stores.sqlite import Sqlite

    if place.exists():
        raise StoreError(f"no copy can be made at {place}: it is there already")
    file = Sqlite(place, 60.0)
    theirs, mine = database.open(), file.open()
    try:
        file.prepare(mine)
        with (
            database.errors(),
            theirs.connect() as reader,
            database.reading(reader),
            mine.connect() as writer,
            file.writing(writer),
        ):
            for table in schema.metadata.sorted_tables:
                rows = reader.execution_options(stream_results=True).execute(select(table))
                for some in rows.mappings().partitions(_ROWS):
                    writer.execute(insert(table), [dict(row) for row in some])
    finally:
        theirs.dispose()
        mine.dispose()
    if database.key_file.exists():
        with closing(open(f"{place}.key", "wb")) as key:
            Path(key.name).chmod(0o600)
            key.write(database.key_file.read_bytes())
