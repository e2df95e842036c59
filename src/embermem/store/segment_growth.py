"""The step of schema 0014 for texts of segments: a log that wrote each whole says what is new in each, and the one
that stands is in the segment's row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from sqlalchemy import Connection, select

from embermem.core.changes import BegunAnew, SegmentEnded, SegmentGrew, SegmentTexts, SegmentWritten, growth
from embermem.core.types import OwnerId, SegmentId
from embermem.store import schema
from embermem.store.codec import decision_from, from_json, json_text
from embermem.store.queries.segment_texts import text_row
from embermem.store.statements import update_rows

_AT_ONCE = 200
"""Changes held in memory."""
_KINDS = {kind.tag: kind for kind in (SegmentWritten, SegmentEnded, BegunAnew)}


def write_what_is_new(c: Connection) -> None:
    """Bring the log and the rows of every owner into the present form. Every read gives what it gave before."""
    for owner_id in c.scalars(select(schema.owner.c.owner_id)).all():
        _of_owner(c, owner_id)


def _of_owner(c: Connection, owner_id: OwnerId) -> None:
    texts, standing = SegmentTexts(), dict[SegmentId, tuple[int, int]]()
    for rows in _log(c, owner_id):
        changed = []
        for row in rows:
            decisions, told = _grown(row.decisions, row.no, texts)
            if decisions is not None:
                changed.append({"no": row.no, "decisions": decisions})
            for segment_id in told:
                standing[segment_id] = row.no, row.recorded_at
        update_rows(c, schema.change, owner_id, ("no",), changed)
    found = ((texts.get(segment_id), written) for segment_id, written in standing.items())
    told_of = [text_row(text, *written) for text, written in found if text is not None]
    update_rows(c, schema.segment, owner_id, ("segment_id",), told_of)


def _log(c: Connection, owner_id: OwnerId) -> Iterator[Any]:
    change, done = schema.change.c, 0
    columns = change.no, change.recorded_at, change.decisions
    query = select(*columns).where(change.owner_id == owner_id).order_by(change.no).limit(_AT_ONCE)
    while rows := c.execute(query.where(change.no > done)).all():
        yield rows
        done = rows[-1].no


def _grown(decisions: str, no: int, texts: SegmentTexts) -> tuple[str | None, set[SegmentId]]:
    """The decisions of a change in the present form (None where they are in it), and the segments whose texts it
    writes."""
    told: set[SegmentId] = set()
    made: list[tuple[str, object]] = []
    changed = False
    for tag, fields in from_json(decisions, list[tuple[str, msgspec.Raw]]):
        made.append((tag, fields))
        if tag not in _KINDS:
            continue
        d = decision_from(tag, fields)
        if isinstance(d, SegmentWritten):
            told.add(d.segment_id)
            now = growth(texts.get(d.segment_id), d, no)
            if isinstance(now, SegmentGrew):
                made[-1], changed = (now.tag, now), True
        texts.take(d)
    return json_text(made) if changed else None, told
