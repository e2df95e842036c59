"""The step of schema 0014 for texts of segments: a log that wrote each whole says what is new in each, and only the row
of the text that stands holds it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from sqlalchemy import Connection, select, update

from embermem.core.changes import BegunAnew, SegmentEnded, SegmentGrew, SegmentTexts, SegmentWritten, growth
from embermem.core.types import OwnerId
from embermem.store import schema
from embermem.store.codec import decision_from, from_json, json_text
from embermem.store.statements import update_rows

_AT_ONCE = 200
"""Changes held in memory."""
_KINDS = {kind.tag: kind for kind in (SegmentWritten, SegmentEnded, BegunAnew)}


def write_what_is_new(c: Connection) -> None:
    """Bring the log and the rows of every owner into the present form. Every read gives what it gave before."""
    for owner_id in c.scalars(select(schema.owner.c.owner_id)).all():
        _of_owner(c, owner_id)


def _of_owner(c: Connection, owner_id: OwnerId) -> None:
    texts = SegmentTexts()
    for rows in _log(c, owner_id):
        made = ((row.no, _grown(row.decisions, texts)) for row in rows)
        written = [{"no": no, "decisions": decisions} for no, decisions in made if decisions is not None]
        update_rows(c, schema.change, owner_id, ("no",), written)
    text = schema.segment_text
    ended = update(text).where(text.c.owner_id == owner_id, text.c.retired_no.is_not(None))
    c.execute(ended.values(**schema.ENDED[text]))


def _log(c: Connection, owner_id: OwnerId) -> Iterator[Any]:
    change, done = schema.change.c, 0
    query = select(change.no, change.decisions).where(change.owner_id == owner_id).order_by(change.no).limit(_AT_ONCE)
    while rows := c.execute(query.where(change.no > done)).all():
        yield rows
        done = rows[-1].no


def _grown(decisions: str, texts: SegmentTexts) -> str | None:
    """The decisions of a change in the present form; None where they are in it."""
    made: list[tuple[str, object]] = []
    changed = False
    for tag, fields in from_json(decisions, list[tuple[str, msgspec.Raw]]):
        made.append((tag, fields))
        if tag not in _KINDS:
            continue
        d = decision_from(tag, fields)
        if isinstance(d, SegmentWritten):
            now = growth(texts.get(d.segment_id), d)
            if isinstance(now, SegmentGrew):
                made[-1], changed = (now.tag, now), True
        texts.take(d)
    return json_text(made) if changed else None
