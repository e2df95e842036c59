"""Texts of segments: the one that stands is in the segment's row too, those before it are folded from the log."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.engine import Connection

from embermem.core.changes import SegmentGrew, SegmentTexts, SegmentTold, SegmentWritten
from embermem.core.errors import StoreCorrupt
from embermem.core.state import TopicState
from embermem.core.types import OwnerId, SegmentId
from embermem.store import schema
from embermem.store.codec import decisions_on, moment, offset_of, row_of, shown_text
from embermem.store.queries import reads

__all__ = ["NO_TEXT", "TextVersion", "last_texts", "standing_text", "text_row", "text_versions"]

_TIMES = ("said_from", "said_to")
NO_TEXT: Mapping[str, None] = dict.fromkeys(
    (*("change_no", "recorded_at", "parts", "keywords", "title", "shown"), *_TIMES, *map(offset_of, _TIMES))
)
"""What the row of a segment says of its text where it has none."""


@dataclass(frozen=True, slots=True)
class TextVersion:
    """A version of a segment's text: the change that wrote it, and the one that ended it."""

    no: int
    until: int | None
    recorded_at: datetime
    text: SegmentWritten


def text_row(text: SegmentWritten, no: int, at: int) -> dict[str, Any]:
    """A text, which a change wrote at a time, as columns of its segment's row."""
    return row_of(text, schema.segment, shown=shown_text(text.shown, text.keywords), change_no=no, recorded_at=at)


def text_versions(
    c: Connection,
    owner_id: OwnerId,
    topics: TopicState,
    ids: Iterable[str] | None = None,
    upto: int | None = None,
) -> Iterator[TextVersion]:
    """The versions of all segments' texts, or of some, up to a change, in the order of their changes. Raises
    StoreCorrupt where the log does not have what the state names."""
    written: defaultdict[int, dict[SegmentId, int | None]] = defaultdict(dict)
    for no, segment_id, until in topics.texts_of(ids):
        if upto is None or no <= upto:
            written[no][segment_id] = until
    for row, texts in _folded(c, owner_id, written):
        for segment_id, until in written[row.no].items():
            yield _version(row, until, texts, segment_id)


def last_texts(
    c: Connection, owner_id: OwnerId, topics: TopicState, before: Mapping[SegmentId, int]
) -> dict[SegmentId, TextVersion]:
    """The text of each of some segments that the last change before one of its own wrote, if there is one. Raises
    StoreCorrupt as `text_versions`."""
    written: defaultdict[int, set[SegmentId]] = defaultdict(set)
    last: dict[SegmentId, tuple[int, int | None]] = {}
    for segment_id, upto in before.items():
        numbers, until = topics.made_by(segment_id, upto)
        for no in numbers:
            written[no].add(segment_id)
        if numbers:
            last[segment_id] = numbers[-1], until
    found: dict[SegmentId, TextVersion] = {}
    for row, texts in _folded(c, owner_id, written):
        for segment_id in written[row.no]:
            no, until = last[segment_id]
            if no == row.no:
                found[segment_id] = _version(row, until, texts, segment_id)
    return found


def _folded(
    c: Connection, owner_id: OwnerId, written: Mapping[int, Collection[SegmentId]]
) -> Iterator[tuple[Any, SegmentTexts]]:
    """The changes that write texts of some segments, each with the texts after it."""
    log, texts, numbers = schema.change.c, SegmentTexts(), sorted(written)
    query = select(log.no, log.recorded_at, log.decisions).where(log.owner_id == owner_id).order_by(log.no)
    for some in reads.chunks(numbers):
        rows = c.execute(query.where(log.no.in_(some))).all()
        if gone := {*some} - {row.no for row in rows}:
            raise StoreCorrupt(f"texts of segments name change {min(gone)}, which is not in the log; {_DO}")
        for row in rows:
            for d in decisions_on(row.decisions, _KINDS, written[row.no]):
                _take(texts, d)
            yield row, texts


def _version(row: Any, until: int | None, texts: SegmentTexts, segment_id: SegmentId) -> TextVersion:
    text = texts.get(segment_id)
    if text is None:
        raise StoreCorrupt(f"change {row.no} does not write segment {segment_id}, as the state says; {_DO}")
    return TextVersion(row.no, until, moment(row.recorded_at), text)


def standing_text(c: Connection, owner_id: OwnerId, segment_id: SegmentId) -> SegmentWritten | None:
    """The text of a segment that stands."""
    table = schema.segment
    mine = (table.c.owner_id == owner_id, table.c.segment_id == segment_id, table.c.parts.is_not(None))
    row = c.execute(select(table).where(*mine)).first()
    return None if row is None else reads.text_from(row)


def _take(texts: SegmentTexts, d: SegmentWritten | SegmentGrew) -> None:
    try:
        texts.take(d)
    except ValueError as error:
        raise StoreCorrupt(f"the log of changes is damaged: {error}; {_DO}") from None


_DO = "run `embermem doctor`"
_KINDS: tuple[type[SegmentTold], ...] = (SegmentWritten, SegmentGrew)
