"""Checkpoints of a state: what an owner's changes say of the persona, apart from all else that they say, so that a
process which reads an owner for the first time decodes that, and only the few changes after it.

A checkpoint is a cache: it is checked against its digests and the number of the log, and where it is wrong or missing
the log is read. A part holds the changes of a range of numbers, so that writing one stays linear in what is new. Who
forgets rewrites the parts in which something changed, in the same transaction. Nothing is added to a part that is not
what its digest says: a damaged checkpoint is dropped, never signed anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import msgspec
from sqlalchemy import Select, delete, exc, select
from sqlalchemy.engine import Connection, Row

from embermem.core.changes import Cause, Change
from embermem.core.errors import StoreCorrupt
from embermem.core.state import PERSONA_KINDS
from embermem.core.types import OwnerId
from embermem.store import schema
from embermem.store.codec import decisions_from, decisions_text, from_json, json_text, micros, moment
from embermem.store.engines.words import upsert

__all__ = ["EVERY", "TABLES", "drop", "load", "persona_only", "redact", "write"]

TABLES = (schema.checkpoint, schema.checkpoint_part)

EVERY = 128
"""Changes after which the process that wrote the last of them brings the checkpoint up to date."""
_PART = 1024
"""Numbers of changes of one part."""
_Entry = tuple[int, str, str, int, msgspec.Raw]
"""A change: its number, cause and analyst, when it was recorded, and its decisions."""


def load(c: Connection, owner_id: OwnerId, upto: int) -> tuple[int, list[Change]]:
    """The number of the checkpoint and the changes that it holds, oldest first; 0 and none where there is none that can
    be believed of a log of `upto` changes."""
    no, digests = _head(c, owner_id)
    if not 0 < no <= upto:
        return 0, []
    table = schema.checkpoint_part
    try:
        rows = _rows(c, select(table).where(table.c.owner_id == owner_id).order_by(table.c.part))
        if {row.part: _digest(row.part, row.changes) for row in rows} != digests:
            return 0, []
        return no, [_change(entry) for row in rows for entry in from_json(row.changes, list[_Entry])]
    except (StoreCorrupt, ValueError):
        return 0, []


def write(c: Connection, owner_id: OwnerId, since: int, later: Sequence[Change], upto: int) -> bool:
    """Bring an owner's checkpoint from change `since` to `upto`; `later` are the changes between them that say
    something of the persona. With 0 it is made from nothing. False where it is no longer at `since`, or is damaged."""
    no, digests = _head(c, owner_id)
    if since == 0:
        drop(c, owner_id)
        no, digests = 0, {}
    if no != since:
        return False
    try:
        for part, some in groupby(later, key=lambda change: _part_of(change.no)):
            digests[part] = _put(c, owner_id, part, [*_entries(c, owner_id, part, digests), *map(_entry, some)])
    except StoreCorrupt:
        drop(c, owner_id)
        return False
    _put_head(c, owner_id, upto, digests)
    return True


def redact(c: Connection, owner_id: OwnerId, pairs: Iterable[tuple[Change, Change]]) -> None:
    """Changes of the log read otherwise from now on: the second of each pair takes the place of the first."""
    no, digests = _head(c, owner_id)
    table = schema.checkpoint_part
    parts = {*c.scalars(select(table.c.part).where(table.c.owner_id == owner_id))}
    if not no and not parts:
        return
    told = ((persona_only(was), persona_only(now)) for was, now in pairs if now.no <= no)
    redacted = {now.no: now for was, now in told if was.decisions != now.decisions}
    try:
        if not no or parts != digests.keys():
            raise StoreCorrupt("a checkpoint is damaged")
        if not redacted:
            return
        for part in sorted({_part_of(one) for one in redacted} & parts):
            kept: list[_Entry] = []
            for entry in _entries(c, owner_id, part, digests):
                now = redacted.get(entry[0])
                if now is None:
                    kept.append(entry)
                elif now.decisions:
                    kept.append(_entry(now))
            digests[part] = _put(c, owner_id, part, kept)
    except StoreCorrupt:  # nothing of it may stay that is to be forgotten
        drop(c, owner_id)
    else:
        _put_head(c, owner_id, no, digests)


def drop(c: Connection, owner_id: OwnerId) -> None:
    """Throw an owner's checkpoint away; the next one is made from the log."""
    for table in TABLES:
        c.execute(delete(table).where(table.c.owner_id == owner_id))


def persona_only(change: Change) -> Change:
    """A change without the decisions that say nothing of the persona."""
    kept = tuple(one for one in change.decisions if type(one) in PERSONA_KINDS)
    return change if len(kept) == len(change.decisions) else replace(change, decisions=kept)


def _head(c: Connection, owner_id: OwnerId) -> tuple[int, dict[int, str]]:
    """The number up to which the checkpoint holds changes, and the digest of each part; 0 and none where there is no
    head, or one that is not what its own digest says."""
    table = schema.checkpoint
    try:
        for row in _rows(c, select(table.c.no, table.c.digests).where(table.c.owner_id == owner_id)):
            digest, digests = from_json(row.digests, tuple[str, dict[int, str]])
            if digest == _digest_of_head(owner_id, row.no, digests):
                return row.no, digests
    except StoreCorrupt:
        pass
    return 0, {}


def _put_head(c: Connection, owner_id: OwnerId, no: int, digests: Mapping[int, str]) -> None:
    told = {"no": no, "digests": json_text((_digest_of_head(owner_id, no, digests), digests))}
    statement = upsert(c, schema.checkpoint).values(owner_id=owner_id, **told)
    c.execute(statement.on_conflict_do_update(index_elements=["owner_id"], set_=told))


def _entries(c: Connection, owner_id: OwnerId, part: int, digests: Mapping[int, str]) -> list[_Entry]:
    """What a part holds; nothing where it is new. Raises StoreCorrupt."""
    if part not in digests:
        return []
    table = schema.checkpoint_part
    found = _rows(c, select(table.c.changes).where(table.c.owner_id == owner_id, table.c.part == part))
    if [_digest(part, row.changes) for row in found] != [digests[part]]:
        raise StoreCorrupt("a checkpoint is damaged")
    return from_json(found[0].changes, list[_Entry])


def _rows(c: Connection, query: Select[Any]) -> Sequence[Row[Any]]:
    """Raises StoreCorrupt also for a text that is not UTF-8, which SQLite refuses to hand out; whatever else the driver
    raises of this kind, the next statement raises again."""
    try:
        return c.execute(query).all()
    except exc.OperationalError:
        raise StoreCorrupt("a checkpoint is damaged") from None


def _put(c: Connection, owner_id: OwnerId, part: int, entries: Sequence[_Entry]) -> str:
    """Write a part; its digest."""
    text = json_text(entries)
    statement = upsert(c, schema.checkpoint_part).values(owner_id=owner_id, part=part, changes=text)
    c.execute(statement.on_conflict_do_update(index_elements=["owner_id", "part"], set_={"changes": text}))
    return _digest(part, text)


def _part_of(no: int) -> int:
    return (no - 1) // _PART


def _digest(part: int, text: str) -> str:
    return hashlib.sha256(f"{part}\n{text}".encode()).hexdigest()[:32]


def _digest_of_head(owner_id: OwnerId, no: int, digests: Mapping[int, str]) -> str:
    told = "\n".join(f"{part} {digest}" for part, digest in sorted(digests.items()))
    return hashlib.sha256(f"{owner_id}\n{no}\n{told}".encode()).hexdigest()[:32]


def _entry(change: Change) -> _Entry:
    decisions = msgspec.Raw(decisions_text(change.decisions).encode())
    return change.no, change.cause.value, change.analyst, micros(change.recorded_at), decisions


def _change(entry: _Entry) -> Change:
    no, cause, analyst, recorded_at, decisions = entry
    return Change(
        no=no,
        cause=Cause(cause),
        analyst=analyst,
        recorded_at=moment(recorded_at),
        decisions=decisions_from(bytes(decisions).decode()),
    )
