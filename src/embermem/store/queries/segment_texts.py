"""Texts of segments: the one that stands is in the segment's row too, those before it are folded from the log."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
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

__all__ = ["NO_TEXT", "TextVersion", "standing_text", "text_row", "text_versions"]

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


def text_row(text: SegmentWritten) -> dict[str, Any]:
    """A text as columns of its segment's row."""
    return row_of(text, schema.segment, shown=shown_text(text.shown, text.keywords))


def text_versions(
    c: Connection,
    owner_id: OwnerId,
    topics: TopicState,
    ids: Iterable[str] | None = None,
    upto: int | None = None,
    before: Mapping[str, int] | None = None,
) -> Iterator[TextVersion]:
    """The versions of all segments' texts, or of some, up to a change, in the order of their changes; with `before`
    those of each of its segments that were written before a change of its own. Raises StoreCorrupt where the log does
    not have what the state names."""
    written: defaultdict[int, dict[SegmentId, int | None]] = defaultdict(dict)
    for no, segment_id, until in topics.texts_of(before if ids is None else ids):
        if (upto is None or no <= upto) and (before is None or no < before[segment_id]):
            written[no][segment_id] = until
    log, texts = schema.change, SegmentTexts()
    for numbers in reads.chunks(sorted(written)):
        mine = (log.c.owner_id == owner_id, log.c.no.in_(numbers))
        for row in c.execute(select(log).where(*mine).order_by(log.c.no)):
            due = written.pop(row.no)
            for d in decisions_on(row.decisions, _KINDS, due):
                _take(texts, d)
            for segment_id, until in due.items():
                text = texts.get(segment_id)
                if text is None:
                    raise StoreCorrupt(f"change {row.no} does not write segment {segment_id}, as the state says; {_DO}")
                yield TextVersion(row.no, until, moment(row.recorded_at), text)
    if written:
        raise StoreCorrupt(f"texts of segments name change {min(written)}, which is not in the log; {_DO}")


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
