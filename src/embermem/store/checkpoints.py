"""Checkpoints of a state: what an owner's changes say of the persona and of topics, apart from all else that they say,
so that a process which reads an owner for the first time decodes that, and only the few changes after it.

A checkpoint is a cache: it is checked against its digests and the number of the log, and where it is wrong or missing
the log is read. A part holds the changes of a range of numbers, so that writing one stays linear in what is new. Who
forgets rewrites the parts in which something changed, in the same transaction. Nothing is added to a part that is not
what its digest says: a damaged checkpoint is dropped, never signed anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import msgspec
from sqlalchemy import Column, Select, delete, exc, select
from sqlalchemy.engine import Connection, Row

from embermem.core.changes import Cause, Change
from embermem.core.errors import StoreCorrupt
from embermem.core.state import PERSONA_KINDS, TopicRows, TopicState, alike_of_topics
from embermem.core.types import OwnerId
from embermem.store import schema
from embermem.store.codec import decisions_from, decisions_text, from_json, json_text, micros, moment
from embermem.store.engines.words import replacing
from embermem.store.statements import update_rows

__all__ = ["EVERY", "TABLES", "drop", "load", "load_topics", "persona_only", "redact", "write"]

TABLES = (schema.checkpoint, schema.checkpoint_part)

EVERY = 128
"""Changes after which the process that wrote the last of them brings the checkpoint up to date."""
_PART = 64
"""Numbers of changes of one part."""
_OF = ("changes", "topics")
"""The columns of a part: what its changes say of the persona, and of topics."""
_Digests = tuple[str, str]
"""Those of the two."""
_Entry = tuple[int, str, str, int, msgspec.Raw]
"""A change: its number, cause and analyst, when it was recorded, and its decisions."""


def load(c: Connection, owner_id: OwnerId, upto: int) -> tuple[int, list[Change]]:
    """The number of the checkpoint and what its changes say of the persona, oldest first; 0 and none where there is no
    checkpoint that can be believed of a log of `upto` changes."""
    no, digests = _head(c, owner_id)
    if not 0 < no <= upto:
        return 0, []
    try:
        texts = _parts(c, owner_id, digests, schema.checkpoint_part.c.changes)
        return no, [_change(entry) for text in texts for entry in from_json(text, list[_Entry])]
    except (StoreCorrupt, ValueError):
        return 0, []


def load_topics(c: Connection, owner_id: OwnerId, upto: int) -> TopicState:
    """The topics of the checkpoint; of no change where there is no checkpoint that can be believed."""
    no, digests = _head(c, owner_id)
    if not 0 < no <= upto:
        return TopicState()
    try:
        texts = _parts(c, owner_id, digests, schema.checkpoint_part.c.topics)
        return TopicState.of_rows((from_json(text, TopicRows) for text in texts), no)
    except (StoreCorrupt, ValueError):
        return TopicState()


def write(c: Connection, owner_id: OwnerId, since: int, later: Sequence[Change], upto: int, topics: TopicState) -> bool:
    """Bring an owner's checkpoint from change `since` to `upto`; `later` is what the changes between them say of the
    persona, `topics` what all up to `upto` say of these. With 0 it is made from nothing. False where it is no longer at
    `since`, or is damaged."""
    no, digests = _head(c, owner_id)
    if since == 0:
        drop(c, owner_id)
        no, digests = 0, {}
    if no != since:
        return False
    try:
        of = {part: [*some] for part, some in groupby(later, key=lambda change: _part_of(change.no))}
        for part in range(_part_of(since + 1), _part_of(upto) + 1):
            entries = [*_entries(c, owner_id, part, digests), *map(_entry, of.get(part, ()))]
            changes, rows = json_text(entries), json_text(_rows_of(topics, part, upto))
            digests[part] = _put(c, owner_id, part, digests.get(part), changes=changes, topics=rows)
    except StoreCorrupt:
        drop(c, owner_id)
        return False
    _put_head(c, owner_id, upto, digests)
    return True


def redact(c: Connection, owner_id: OwnerId, pairs: Iterable[tuple[Change, Change]], topics: TopicState) -> None:
    """Changes of the log read otherwise from now on: the second of each pair takes the place of the first. `topics` is
    what is left of these."""
    no, digests = _head(c, owner_id)
    table = schema.checkpoint_part
    parts = {*c.scalars(select(table.c.part).where(table.c.owner_id == owner_id))}
    if not no and not parts:
        return
    if topics.begun > no:  # it is of the memory before it was begun anew, of which topics say nothing
        drop(c, owner_id)
        return
    both = [(was, now) for was, now in pairs if now.no <= no]
    told = ((persona_only(was), persona_only(now)) for was, now in both)
    redacted = {now.no: now for was, now in told if was.decisions != now.decisions}
    of_topics = {_part_of(now.no) for was, now in both if not alike_of_topics(was, now)}
    try:
        if not no or parts != digests.keys():
            raise StoreCorrupt("a checkpoint is damaged")
        if not redacted and not of_topics:
            return
        for part in sorted({_part_of(one) for one in redacted}):
            kept: list[_Entry] = []
            for entry in _entries(c, owner_id, part, digests):
                now = redacted.get(entry[0])
                if now is None:
                    kept.append(entry)
                elif now.decisions:
                    kept.append(_entry(now))
            digests[part] = _put(c, owner_id, part, digests[part], changes=json_text(kept))
        for part in sorted(of_topics):
            digests[part] = _put(c, owner_id, part, digests[part], topics=json_text(_rows_of(topics, part, no)))
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


def _head(c: Connection, owner_id: OwnerId) -> tuple[int, dict[int, _Digests]]:
    """The number up to which the checkpoint holds changes, and the digests of each part; 0 and none where there is no
    head, or one that is not what its own digest says."""
    table = schema.checkpoint
    try:
        for row in _rows(c, select(table.c.no, table.c.digests).where(table.c.owner_id == owner_id)):
            digest, digests = from_json(row.digests, tuple[str, dict[int, _Digests]])
            if digest == _digest_of_head(owner_id, row.no, digests):
                return row.no, digests
    except StoreCorrupt:
        pass
    return 0, {}


def _parts(c: Connection, owner_id: OwnerId, digests: Mapping[int, _Digests], column: Column[str]) -> Iterator[str]:
    """One column of each part, in order. Raises StoreCorrupt where they are not what their digests say."""
    table, left = schema.checkpoint_part.c, {**digests}
    try:
        for part, text in c.execute(select(table.part, column).where(table.owner_id == owner_id).order_by(table.part)):
            if part not in left or _digest(part, text) != left.pop(part)[_OF.index(column.name)]:
                raise StoreCorrupt("a checkpoint is damaged")
            yield text
    except exc.OperationalError:
        raise StoreCorrupt("a checkpoint is damaged") from None
    if left:
        raise StoreCorrupt("a checkpoint is damaged")


def _put_head(c: Connection, owner_id: OwnerId, no: int, digests: Mapping[int, _Digests]) -> None:
    told = json_text((_digest_of_head(owner_id, no, digests), digests))
    c.execute(replacing(c, schema.checkpoint), {"owner_id": owner_id, "no": no, "digests": told})


def _entries(c: Connection, owner_id: OwnerId, part: int, digests: Mapping[int, _Digests]) -> list[_Entry]:
    """What a part holds of the persona; nothing where it is new. Raises StoreCorrupt."""
    if part not in digests:
        return []
    table = schema.checkpoint_part
    found = _rows(c, select(table.c.changes).where(table.c.owner_id == owner_id, table.c.part == part))
    if [_digest(part, row.changes) for row in found] != [digests[part][0]]:
        raise StoreCorrupt("a checkpoint is damaged")
    return from_json(found[0].changes, list[_Entry])


def _rows(c: Connection, query: Select[Any]) -> Sequence[Row[Any]]:
    """Raises StoreCorrupt also for a text that is not UTF-8, which SQLite refuses to hand out; whatever else the driver
    raises of this kind, the next statement raises again."""
    try:
        return c.execute(query).all()
    except exc.OperationalError:
        raise StoreCorrupt("a checkpoint is damaged") from None


def _put(c: Connection, owner_id: OwnerId, part: int, known: _Digests | None, **told: str) -> _Digests:
    """Write columns of a part, all of one that is not `known` yet; its digests."""
    if known is None:
        c.execute(replacing(c, schema.checkpoint_part), {"owner_id": owner_id, "part": part, **told})
    else:
        update_rows(c, schema.checkpoint_part, owner_id, ("part",), [{"part": part, **told}])
    changes, topics = (_digest(part, told[name]) if name in told else "" for name in _OF)
    return (changes, topics) if known is None else (changes or known[0], topics or known[1])


def _rows_of(topics: TopicState, part: int, upto: int) -> TopicRows:
    return topics.rows(part * _PART, min((part + 1) * _PART, upto))


def _part_of(no: int) -> int:
    return (no - 1) // _PART


def _digest(part: int, text: str) -> str:
    return hashlib.sha256(f"{part}\n{text}".encode()).hexdigest()[:32]


def _digest_of_head(owner_id: OwnerId, no: int, digests: Mapping[int, _Digests]) -> str:
    told = "\n".join(f"{part} {' '.join(both)}" for part, both in sorted(digests.items()))
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
