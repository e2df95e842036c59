"""Citus: a PostgreSQL that spreads tables over nodes, an owner's rows of all tables on one of them.

A statement of one owner goes to that owner's node. One over all owners needs every node: where some do not answer,
`Living` asks it of the others.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, Select, Table, text
from sqlalchemy.engine import Connection, IteratorResult, Result
from sqlalchemy.engine.result import SimpleResultMetaData
from sqlalchemy.sql import operators, visitors
from sqlalchemy.sql.elements import BinaryExpression, Cast, Grouping, Label, UnaryExpression
from sqlalchemy.sql.functions import FunctionElement

from embermem.store import migrations, schema
from embermem.store.schema import COMMON, OWNED

_OWNED = {table.name: table for table in OWNED}
_SPREAD = """
    SELECT c.relname FROM pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid
    WHERE c.relname = ANY(:names) AND pg_table_is_visible(c.oid)
"""
_SIZE = """
    SELECT coalesce(sum(shard_size), 0)::bigint FROM citus_shards
    WHERE table_name::oid IN (SELECT oid FROM pg_class WHERE relname = ANY(:names) AND pg_table_is_visible(oid))
"""
"""One question to each node; `citus_total_relation_size` would put one for each table. What does not answer is left
out."""
_SHARDS = """
    SELECT c.relname AS table, shard_name(s.logicalrelid, s.shardid) AS shard, s.shardminvalue AS part,
        n.nodename AS host, n.nodeport AS port
    FROM pg_dist_shard s JOIN pg_class c ON c.oid = s.logicalrelid
    JOIN pg_dist_placement p ON p.shardid = s.shardid
    JOIN pg_dist_node n ON n.groupid = p.groupid AND n.noderole = 'primary'
    WHERE c.relname = ANY(:names) AND pg_table_is_visible(c.oid)
"""
_ASK = "SELECT node_name, node_port, success, result FROM master_run_on_worker(:hosts, :ports, :commands, true)"


def spreading(names: Collection[str]) -> Iterator[str]:
    """The statements that spread tables of ours: an owner's rows of all of them on one shard; what belongs to no owner
    on every node."""
    for name in (*(table.name for table in COMMON), migrations.VERSION_TABLE):
        if name in names:
            yield f"SELECT create_reference_table('{name}')"
    first = schema.owner.name
    if first in names:
        yield f"SELECT create_distributed_table('{first}', 'owner_id')"
    for name in (table.name for table in OWNED if table.name != first and table.name in names):
        yield f"SELECT create_distributed_table('{name}', 'owner_id', colocate_with => '{first}')"


def every_table() -> Collection[str]:
    """The names of all tables of a store."""
    return [*schema.metadata.tables, migrations.VERSION_TABLE]


def is_installed(c: Connection) -> bool:
    """Whether the database has the extension."""
    return c.scalar(text("SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')")) is True


def spread_tables(c: Connection) -> frozenset[str]:
    """Our tables that are spread over nodes, or kept on all of them; none where Citus is not installed."""
    return frozenset(c.scalars(text(_SPREAD), {"names": every_table()})) if is_installed(c) else frozenset()


def size(c: Connection) -> int:
    """Bytes on all nodes that answer, of our tables and their indexes."""
    return int(c.execute(text(_SIZE), {"names": every_table()}).scalar_one())


class Living:
    """A connection, as far as reads need one, that puts a statement over all owners to each shard that can be reached,
    and makes one answer of theirs. `missing` are the nodes that did not answer.

    An owner's rows are on one shard, so rows of all shards are those of all owners; counts and sums are added up, and
    of the least and the greatest value the least and the greatest hold. Shards are not read in one state.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.dialect = connection.dialect
        self.missing: set[str] = set()

    def execute(self, statement: Any, parameters: Any = None, **options: Any) -> Result[Any]:
        """The answer of the shards, ordered and cut as the statement asks."""
        names = _tables_of(statement)
        if not names:
            return self._connection.execute(statement, parameters, **options)
        asked = statement.params(parameters) if parameters else statement
        columns = list(asked.selected_columns)
        kinds = [_kind(column) for column in columns]
        counted = any(kinds)
        put = asked.order_by(None).limit(None) if counted else asked
        rows = [tuple(row) for answer in self._answers(put, names, len(columns)) for row in answer]
        rows = _ordered(_merged(rows, kinds) if counted else rows, asked, columns)[: asked._limit]
        return IteratorResult(SimpleResultMetaData([str(column.key) for column in columns]), iter(rows))

    def scalar(self, statement: Any, parameters: Any = None) -> Any:
        """The first column of the first row, or None."""
        return self.execute(statement, parameters).scalar()

    def scalars(self, statement: Any, parameters: Any = None) -> Any:
        """The first column of each row."""
        return self.execute(statement, parameters).scalars()

    def _answers(self, statement: Select[Any], names: Collection[str], width: int) -> Iterator[Sequence[Any]]:
        """Of each shard that can be reached, its rows."""
        compiled = statement.compile(dialect=self.dialect, compile_kwargs={"literal_binds": True})
        said = str(compiled) % ()  # a percent sign is doubled for the driver
        row = ", ".join(f"c{at}" for at in range(width))
        shards: defaultdict[tuple[str, str, int], dict[str, str]] = defaultdict(dict)
        for one in self._connection.execute(text(_SHARDS), {"names": sorted(names)}):
            shards[one.part, one.host, one.port][one.table] = one.shard
        commands = [
            f"WITH {_named(tables)} SELECT coalesce(json_agg(json_build_array({row})), '[]') FROM ({said}) AS t({row})"
            for tables in shards.values()
        ]
        hosts, ports = [host for _, host, _ in shards], [port for _, _, port in shards]
        for one in self._connection.execute(text(_ASK), {"hosts": hosts, "ports": ports, "commands": commands}):
            if one.success:
                yield json.loads(one.result)
            else:
                self.missing.add(f"{one.node_name}:{one.node_port}")


def _tables_of(statement: Any) -> frozenset[str]:
    """The owners' tables that a statement names."""
    found = (getattr(element, "element", element) for element in visitors.iterate(statement))
    return frozenset(one.name for one in found if isinstance(one, Table) and one.name in _OWNED)


def _named(tables: Mapping[str, str]) -> str:
    """The tables of a statement stand for one shard's."""
    return ", ".join(f'"{name}" AS NOT MATERIALIZED (SELECT * FROM {shard})' for name, shard in sorted(tables.items()))


_MERGES: Mapping[str, Callable[[Any, Any], Any]] = {
    "count": operators.add,
    "sum": operators.add,
    "min": min,
    "max": max,
}


def _kind(column: Any) -> Callable[[Any, Any], Any] | None:
    """How the values that shards give in a column are made one; None for a column that tells rows apart."""
    match column:
        case Label() | Grouping():
            return _kind(column.element)
        case Cast():
            return _kind(column.clause)
        case FunctionElement():
            inner = next(iter(column.clauses), None)
            return _kind(inner) if column.name == "coalesce" else _MERGES.get(column.name)
        case BinaryExpression() if column.operator is operators.add:
            kind = _kind(column.left)
            return kind if kind is _kind(column.right) else None
        case _:
            return None


def _merged(rows: Sequence[tuple[Any, ...]], kinds: Sequence[Callable[[Any, Any], Any] | None]) -> list[Any]:
    """One row for all that agree in what tells rows apart."""
    merged: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for row in rows:
        key = tuple(value for value, kind in zip(row, kinds, strict=True) if kind is None)
        known = merged.get(key)
        merged[key] = row if known is None else tuple(map(_together, known, row, kinds))
    return list(merged.values())


def _together(one: Any, other: Any, kind: Callable[[Any, Any], Any] | None) -> Any:
    if one is None or other is None or kind is None:
        return other if one is None else one
    return kind(one, other)


def _ordered(rows: list[Any], statement: Select[Any], columns: Sequence[ColumnElement[Any]]) -> list[Any]:
    """In the statement's order, as far as that is by its columns; NULL is after every value, as for PostgreSQL."""
    for clause in reversed(statement._order_by_clauses):
        descends = isinstance(clause, UnaryExpression) and clause.modifier is operators.desc_op
        by = clause.element if isinstance(clause, UnaryExpression) else clause
        at = next((at for at, column in enumerate(columns) if _bare(column).compare(_bare(by))), None)
        if at is not None:
            rows = sorted(rows, key=partial(_place, at), reverse=descends)
    return rows


def _place(at: int, row: Sequence[Any]) -> tuple[bool, Any]:
    return (True, 0) if row[at] is None else (False, row[at])


def _bare(column: Any) -> Any:
    found = getattr(column, "element", column) if isinstance(column, Label | Grouping) else column
    return found if found is column else _bare(found)
