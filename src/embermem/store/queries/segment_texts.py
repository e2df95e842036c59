"""Texts of segments: the one that stands is in its row, those before it are folded from the log of changes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.engine import Connection

from embermem.core.changes import SegmentGrew, SegmentTexts, SegmentWritten
from embermem.core.errors import StoreCorrupt
from embermem.core.types import OwnerId, SegmentId
from embermem.store import schema
from embermem.store.codec import decisions_naming, json_text, moment
from embermem.store.queries import reads

__all__ = ["TextVersion", "standing_text", "text_versions"]


@dataclass(frozen=True, slots=True)
class TextVersion:
    """A version of a segment's text: the change that wrote it, and the one that ended it."""

    no: int
    until: int | None
    recorded_at: datetime
    text: SegmentWritten


def text_versions(
    c: Connection,
    owner_id: OwnerId,
    ids: Collection[str] | None = None,
    upto: int | None = None,
    before: Mapping[str, int] | None = None,
) -> Iterator[TextVersion]:
    """The versions of all segments' texts, or of some, up to a change, in the order of their changes; with `before`
    those of each of its segments that were written before a change of its own. Raises StoreCorrupt where the log does
    not have what the rows name."""
    of, log, texts = schema.segment_text.c, schema.change, SegmentTexts()
    rows = select(of.change_no, of.segment_id, of.retired_no).where(of.owner_id == owner_id)
    ids = before if ids is None else ids
    if ids is not None:
        rows = rows.where(of.segment_id.in_(sorted(ids)))
    if upto is not None:
        rows = rows.where(of.change_no <= upto)
    written: defaultdict[int, dict[str, int | None]] = defaultdict(dict)
    for no, segment_id, until in c.execute(rows):
        if before is None or no < before[segment_id]:
            written[no][segment_id] = until
    for numbers in reads.chunks(sorted(written)):
        mine = (log.c.owner_id == owner_id, log.c.no.in_(numbers))
        for row in c.execute(select(log).where(*mine).order_by(log.c.no)):
            due = written.pop(row.no)
            for d in decisions_naming(row.decisions, [json_text(one).encode() for one in due])[0]:
                if isinstance(d, SegmentWritten | SegmentGrew) and d.segment_id in due:
                    _take(texts, d)
            for segment_id, until in due.items():
                text = texts.get(SegmentId(segment_id))
                if text is None:
                    raise StoreCorrupt(f"change {row.no} does not write segment {segment_id}, as its row says; {_DO}")
                yield TextVersion(row.no, until, moment(row.recorded_at), text)
    if written:
        raise StoreCorrupt(f"texts of segments name change {min(written)}, which is not in the log; {_DO}")


def standing_text(c: Connection, owner_id: OwnerId, segment_id: SegmentId) -> SegmentWritten | None:
    """The text of a segment that stands."""
    table = schema.segment_text
    mine = (table.c.owner_id == owner_id, table.c.segment_id == segment_id, table.c.retired_no.is_(None))
    row = c.execute(select(table).where(*mine)).first()
    return None if row is None else reads.text_from(row)


def _take(texts: SegmentTexts, d: SegmentWritten | SegmentGrew) -> None:
    try:
        texts.take(d)
    except ValueError as error:
        raise StoreCorrupt(f"the log of changes is damaged: {error}; {_DO}") from None


_DO = "run `embermem doctor`"
