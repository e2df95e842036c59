"""The schema as SQL, for whoever makes the tables by hand: a database whose user may not, or an engine that shards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import Column, LargeBinary, String, Table, Text, TypeDecorator
from sqlalchemy.dialects import postgresql

from embermem.core.errors import ConfigError
from embermem.store import migrations, schema
from embermem.store.engines.citus import every_table, spreading
from embermem.store.engines.sqlite_schema import new_file

ENGINES = ("sqlite", "postgresql", "citus")


def ddl(engine: str, *, halfvec: bool = True) -> tuple[str, ...]:
    """The statements that make an empty store, in order; run in one transaction, they make what opening one makes.

    `halfvec`: vectors are of pgvector's type (`postgresql`, `citus`); without, bytes. Raises ConfigError for another
    engine than those of ENGINES.
    """
    if engine == "sqlite":
        return new_file()
    if engine not in ENGINES:
        raise ConfigError(f"there is no engine {engine!r}; one of: {', '.join(ENGINES)}")
    dialect: Any = postgresql.dialect()  # type: ignore[no-untyped-call]
    dialect.ember_halfvec = halfvec
    extension = ("CREATE EXTENSION IF NOT EXISTS vector",) if halfvec else ()
    made = (*extension, *migrations.new_store(dialect), *without_statistics())
    return (*made, *(spreading(every_table()) if engine == "citus" else ()))


def of_content(table: Table) -> Iterator[Column[Any]]:
    """A table's columns of words, vectors, and what else was made of what people said: all but numbers, and the ids and
    names of Ember's own."""
    for column in table.c:
        kind = column.type.impl_instance if isinstance(column.type, TypeDecorator) else column.type
        if isinstance(kind, Text | LargeBinary) or (isinstance(kind, String) and (kind.length or 0) > schema.ID_LENGTH):
            yield column


def without_statistics(tables: Iterable[Table] = schema.metadata.sorted_tables) -> Iterator[str]:
    """PostgreSQL: ANALYZE keeps samples of what a column holds in a catalog that forgetting does not reach. No column
    of content is sampled."""
    for table in tables:
        for column in of_content(table):
            yield f'ALTER TABLE {table.name} ALTER COLUMN "{column.name}" SET STATISTICS 0'
