"""Records of the papers' systems: one row each, with a row for each value of its own fields, typed by column."""

from __future__ import annotations

import types
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from datetime import datetime
from functools import cache
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

import numpy as np
from sqlalchemy import Row, delete, insert, select
from sqlalchemy.engine import Connection

from embermem.baselines.records import Found, Record, RecordId, Standing, Written
from embermem.core.errors import RevisionMoved
from embermem.core.types import Owner, OwnerId
from embermem.store import schema
from embermem.store.codec import micros, moment, vector_bytes, vector_from, zoned
from embermem.store.engines.words import upsert
from embermem.store.queries.reads import chunks
from embermem.store.statements import ensure_owner
from embermem.store.transactions import Transactions

_BASE = frozenset(field.name for field in fields(Record))


class Records(Transactions):
    """records.RecordStore, as far as it is about records."""

    def standing(self, owner_id: OwnerId) -> Standing:
        """How far an owner's log and records have come."""
        owner, state = schema.owner, schema.record_state
        with self._read() as c:
            row = c.execute(
                select(owner.c.seq, owner.c.created_at, state.c.revision, state.c.read_to)
                .select_from(owner.outerjoin(state, state.c.owner_id == owner.c.owner_id))
                .where(owner.c.owner_id == owner_id)
            ).first()
        if row is None:
            return Standing()
        return Standing(seq=row.seq, revision=row.revision or 0, read_to=row.read_to or 0, born=row.created_at)

    def records(self, owner_id: OwnerId, kinds: Sequence[type[Record]], since: int = 0) -> Found:
        """What was written after a revision, in one read."""
        table = schema.record
        of = {kind.kind: kind for kind in kinds}
        with self._read() as c:
            revision = _revision(c, owner_id)
            rows = c.execute(
                select(table)
                .where(table.c.owner_id == owner_id, table.c.kind.in_(of), table.c.revision > since)
                .order_by(table.c.no)
            ).all()
            living = [row for row in rows if not row.gone]
            values = _values(c, owner_id, living)
        gone = frozenset(RecordId(row.record_id) for row in rows if row.gone) if since else frozenset()
        made = tuple(_record(of[row.kind], row, values[row.record_id]) for row in living)
        return Found(records=made, gone=gone, revision=revision)

    def write(self, owner: Owner, written: Written, *, revision: int, read_to: int, now: datetime) -> int:
        """Keep and drop records in one transaction. Raises RevisionMoved."""
        with self._write() as c:
            ensure_owner(c, owner, micros(now))
            found = _revision(c, owner.id)
            if found != revision:
                raise RevisionMoved(f"the records of {owner.user}/{owner.agent} were written by another meanwhile")
            c.execute(
                upsert(c, schema.record_state)
                .values(owner_id=owner.id, revision=revision + 1, read_to=read_to)
                .on_conflict_do_update(index_elements=["owner_id"], set_={"revision": revision + 1, "read_to": read_to})
            )
            kept = {record.id: record for record in written.keep}
            _empty(c, owner.id, [*written.drop, *kept])
            _mark_gone(c, owner.id, [one for one in written.drop if one not in kept], revision + 1)
            _keep(c, owner.id, list(kept.values()), revision + 1)
            return revision + 1


def _revision(c: Connection, owner_id: OwnerId) -> int:
    table = schema.record_state
    return c.scalar(select(table.c.revision).where(table.c.owner_id == owner_id)) or 0


# ------------------------------------------------------------------------------------------------------------ writing


def _empty(c: Connection, owner_id: OwnerId, record_ids: Sequence[RecordId]) -> None:
    """Take away all values of records that are dropped or written again."""
    for some in chunks(record_ids):
        table = schema.record_value
        c.execute(delete(table).where(table.c.owner_id == owner_id, table.c.record_id.in_(some)))


def _mark_gone(c: Connection, owner_id: OwnerId, record_ids: Sequence[RecordId], revision: int) -> None:
    """A row without its text stays, so that readers learn of it."""
    table = schema.record
    for some in chunks(record_ids):
        c.execute(
            table.update()
            .where(table.c.owner_id == owner_id, table.c.record_id.in_(some))
            .values(gone=True, text="", vector=None, revision=revision)
        )


def _keep(c: Connection, owner_id: OwnerId, records: Sequence[Record], revision: int) -> None:
    if not records:
        return
    table = schema.record
    last = c.scalar(select(table.c.no).where(table.c.owner_id == owner_id).order_by(table.c.no.desc()).limit(1)) or 0
    rows = [
        {
            "owner_id": owner_id,
            "record_id": record.id,
            "kind": record.kind,
            "no": last + n,
            "revision": revision,
            "gone": False,
            "text": record.text,
            **zoned("at", record.at),
            "vector": None if record.vector is None else vector_bytes(record.vector),
        }
        for n, record in enumerate(records, 1)
    ]
    statement = upsert(c, table)
    again = {name: statement.excluded[name] for name in rows[0] if name not in ("owner_id", "record_id", "no")}
    c.execute(statement.on_conflict_do_update(index_elements=["owner_id", "record_id"], set_=again), rows)
    values = [row for record in records for row in _value_rows(owner_id, record)]
    if values:
        c.execute(insert(schema.record_value), values)


def _value_rows(owner_id: OwnerId, record: Record) -> Iterator[dict[str, Any]]:
    named: dict[str, object] = {"sources": record.sources}
    named |= {name: getattr(record, name) for name in _forms(type(record))}
    for name, value in named.items():
        if value is None:
            continue
        for ordinal, one in enumerate(value if isinstance(value, tuple) else (value,)):
            row = dict.fromkeys(("text", "number", "at", "at_offset", "data"), None)
            row |= {"owner_id": owner_id, "record_id": record.id, "name": name, "ordinal": ordinal}
            yield row | _columns(one)


def _columns(value: object) -> dict[str, object]:
    if isinstance(value, str):
        return {"text": value}
    if isinstance(value, (bool, int, float)):
        return {"number": float(value)}
    if isinstance(value, datetime):
        return zoned("at", value)
    if isinstance(value, np.ndarray):
        return {"data": vector_bytes(value)}
    raise TypeError(f"a record may not hold a {type(value).__name__}")


# ------------------------------------------------------------------------------------------------------------ reading


def _values(c: Connection, owner_id: OwnerId, rows: Sequence[Row[Any]]) -> Mapping[str, dict[str, list[Row[Any]]]]:
    table = schema.record_value
    found: defaultdict[str, dict[str, list[Row[Any]]]] = defaultdict(dict)
    for some in chunks([row.record_id for row in rows]):
        query = select(table).where(table.c.owner_id == owner_id, table.c.record_id.in_(some))
        for row in c.execute(query.order_by(table.c.record_id, table.c.name, table.c.ordinal)):
            found[row.record_id].setdefault(row.name, []).append(row)
    return found


def _record(kind: type[Record], row: Row[Any], values: Mapping[str, Sequence[Row[Any]]]) -> Record:
    own = {name: form(values.get(name, ())) for name, form in _forms(kind).items()}
    return kind(
        id=RecordId(row.record_id),
        text=row.text,
        at=moment(row.at, row.at_offset),
        sources=tuple(int(one.number) for one in values.get("sources", ())),
        vector=None if row.vector is None else vector_from(row.vector),
        **own,
    )


def _forms(kind: type[Record]) -> Mapping[str, Callable[[Sequence[Row[Any]]], object]]:
    """For each field of a record's own: how its value is read from its rows. Raises TypeError for a field of another
    type than a record may hold."""
    return _forms_of(cast("Hashable", kind))


@cache
def _forms_of(kind: type[Record]) -> Mapping[str, Callable[[Sequence[Row[Any]]], object]]:
    hints = get_type_hints(kind, localns={"Vector": np.ndarray})  # which modules import for type checkers only
    return {
        field.name: _or_default(_form(hints[field.name]), field.default)
        for field in fields(kind)
        if field.name not in _BASE
    }


def _or_default(
    form: Callable[[Sequence[Row[Any]]], object], default: object
) -> Callable[[Sequence[Row[Any]]], object]:
    """A field's form that gives its default where nothing is stored of it, as in a store of an earlier version."""
    return form if default is MISSING else lambda rows: form(rows) if rows else default


def _form(hint: Any) -> Callable[[Sequence[Row[Any]]], object]:
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        inner = [one for one in get_args(hint) if one is not types.NoneType]
        if len(inner) == 1:
            one = _form(inner[0])
            return lambda rows: one(rows) if rows else None
    elif origin is tuple and get_args(hint)[1:] == (...,):
        read = _reader(get_args(hint)[0])
        return lambda rows: tuple(read(row) for row in rows)
    else:
        read = _reader(hint)
        return lambda rows: read(rows[0])
    raise TypeError(f"a record may not hold a {hint}")


def _reader(hint: Any) -> Callable[[Row[Any]], object]:
    hint = getattr(hint, "__supertype__", hint)  # of a NewType
    if hint is np.ndarray or get_origin(hint) is np.ndarray:
        return lambda row: vector_from(row.data)
    if not isinstance(hint, type):
        raise TypeError(f"a record may not hold a {hint}")
    if issubclass(hint, str):
        return lambda row: hint(row.text)
    if issubclass(hint, (bool, int, float)):
        return lambda row: hint(row.number)
    if issubclass(hint, datetime):
        return lambda row: moment(row.at, row.at_offset)
    raise TypeError(f"a record may not hold a {hint.__name__}")
