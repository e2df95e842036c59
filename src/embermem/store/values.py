"""Metadata of utterances as rows by which they are found: the rows, whether they agree, and filters as conditions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import ColumnElement, and_, delete, false, insert, not_, or_, select, true
from sqlalchemy.engine import Connection

from embermem.core.errors import StoreCorrupt
from embermem.core.metadata import Metadata, Plain
from embermem.core.types import OwnerId
from embermem.store import schema
from embermem.store.codec import metadata_from

_AT_ONCE = 1_000


def value_rows(owner_id: str, seq: int, metadata: Metadata) -> Iterator[dict[str, Any]]:
    """The rows of one utterance's metadata."""
    for name, value in metadata.items():
        several: tuple[Plain | None, ...] = (value or (None,)) if isinstance(value, tuple) else (value,)
        for ordinal, one in enumerate(several):
            yield {"owner_id": owner_id, "seq": seq, "name": name, "ordinal": ordinal, **_columns(one)}


def _columns(value: Plain | None) -> dict[str, Any]:
    """A value in the column of its type; the others are empty."""
    row: dict[str, Any] = {"text": None, "number": None, "truth": None}
    if isinstance(value, bool):
        row["truth"] = value
    elif isinstance(value, str):
        row["text"] = value
    elif value is not None:
        row["number"] = float(value)
    return row


# ------------------------------------------------------------------------------------------------------------- filters


def meets(owner_id: str, seq: ColumnElement[int], wanted: Mapping[str, Any]) -> ColumnElement[bool]:
    """The condition that the utterance of a seq meets a filter (core/metadata.py), which `checked_filter` gave."""
    return and_(true(), *(_meets(owner_id, seq, name, one) for name, one in wanted.items()))


def _meets(owner_id: str, seq: ColumnElement[int], name: str, wanted: Any) -> ColumnElement[bool]:
    if name == "$and":
        return and_(*(meets(owner_id, seq, one) for one in wanted))
    if name == "$or":
        return or_(*(meets(owner_id, seq, one) for one in wanted))
    if name == "$not":
        return not_(meets(owner_id, seq, wanted))
    return and_(*(_holds(owner_id, seq, name, operator, one) for operator, one in wanted.items()))


def _holds(owner_id: str, seq: ColumnElement[int], name: str, operator: str, wanted: Any) -> ColumnElement[bool]:
    value = schema.utterance_value.c
    match operator:
        case "$exists":
            held: ColumnElement[bool] = true()
        case "$eq" | "$ne":
            held = _is(wanted)
        case "$in" | "$nin":
            held = or_(false(), *(_is(one) for one in wanted))
        case _:
            held = _compared(operator, wanted)
    found = seq.in_(select(value.seq).where(value.owner_id == owner_id, value.name == name, held))
    return not_(found) if operator in ("$ne", "$nin") or (operator == "$exists" and not wanted) else found


def _is(wanted: Plain) -> ColumnElement[bool]:
    """Whether a row has a value. Each is looked for as the index has it, with the columns before its own empty."""
    return and_(*(schema.utterance_value.c[name] == one for name, one in _told(wanted)))


def _told(wanted: Plain) -> Iterator[tuple[str, Any]]:
    for name, one in _columns(wanted).items():
        yield name, one
        if one is not None:
            return


def _compared(operator: str, wanted: Plain) -> ColumnElement[bool]:
    *before, (name, one) = _told(wanted)
    column = schema.utterance_value.c[name]
    compared = {"$gt": column > one, "$gte": column >= one, "$lt": column < one, "$lte": column <= one}[operator]
    return and_(*(schema.utterance_value.c[empty].is_(None) for empty, _ in before), compared)


# --------------------------------------------------------------------------------------------------- what doctor asks


def unreadable(c: Connection, owner_id: OwnerId) -> int:
    """How many utterances have metadata that cannot be read."""
    return sum(metadata is None for _, metadata in _stored(c, owner_id))


def disagreeing(c: Connection, owner_id: OwnerId) -> int:
    """How many utterances have other rows than their metadata give."""
    table = schema.utterance_value
    held: Counter[tuple[Any, ...]] = Counter()
    query = select(*(table.c[name] for name in _NAMES)).where(table.c.owner_id == owner_id)
    for row in c.execute(query, execution_options={"yield_per": _AT_ONCE}):
        held[tuple(row)] += 1
    for seq, metadata in _stored(c, owner_id):
        for one in value_rows(owner_id, seq, metadata or {}):
            held[tuple(one[name] for name in _NAMES)] -= 1
    return len({row[0] for row, count in held.items() if count})


def write_again(c: Connection, owner_id: OwnerId) -> None:
    """The rows as the metadata of the utterances give them."""
    table = schema.utterance_value
    rows = [row for seq, metadata in _stored(c, owner_id) for row in value_rows(owner_id, seq, metadata or {})]
    c.execute(delete(table).where(table.c.owner_id == owner_id))
    if rows:
        c.execute(insert(table), rows)


_NAMES = ("seq", "name", "ordinal", "text", "number", "truth")


def _stored(c: Connection, owner_id: OwnerId) -> Iterator[tuple[int, Metadata | None]]:
    """The utterances that have metadata, and these; None where they cannot be read."""
    said = schema.utterance.c
    query = select(said.seq, said.metadata).where(said.owner_id == owner_id, said.metadata.is_not(None))
    for seq, text in c.execute(query, execution_options={"yield_per": _AT_ONCE}):
        try:
            yield seq, metadata_from(text)
        except StoreCorrupt:
            yield seq, None
