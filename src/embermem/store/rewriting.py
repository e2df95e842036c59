"""Rows after the log was redacted: they become what applying the log from its beginning would make of them, and only
those that must change are touched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, delete, func, select, update
from sqlalchemy.engine import Connection

from embermem.core.changes import Change, Noted, SegmentTold, SegmentWritten, Sort, ids
from embermem.core.state import NEVER, TopicState
from embermem.core.types import OwnerId, SegmentId
from embermem.protocols import Erasure
from embermem.store import schema
from embermem.store.codec import decisions_text, decisions_together, json_text, micros
from embermem.store.queries.changes import index_rewritten
from embermem.store.queries.segment_texts import NO_TEXT, last_texts, text_row
from embermem.store.statements import update_rows


def _counted() -> Any:
    """A segment, with how many pages it has now and when the newest was recorded."""
    segment, page = schema.segment, schema.page.c
    owner: Any = bindparam("owner", type_=segment.c.owner_id.type)
    one: Any = bindparam("segment")

    def of(what: Any) -> Any:
        return select(what).where(page.owner_id == owner, page.segment_id == one).scalar_subquery()

    pages_left, newest = of(func.count()).label("pages_left"), of(func.max(page.recorded_at)).label("newest")
    return select(segment, pages_left, newest).where(segment.c.owner_id == owner, segment.c.segment_id == one)


_COUNTED = _counted()


def rewrite(c: Connection, owner_id: OwnerId, erasure: Erasure, topics: TopicState) -> None:
    """Bring an owner's log, and the rows that follow from it, from `erasure.before` to `erasure.after`; `topics` is
    what the log says of these then."""
    _Rewriting(c, owner_id, erasure, topics).run()


class _Rewriting:
    def __init__(self, c: Connection, owner_id: OwnerId, erasure: Erasure, topics: TopicState) -> None:
        self._c = c
        self._owner_id = owner_id
        self._erasure = erasure
        self._topics = topics
        self._pairs = erasure.pairs

    def run(self) -> None:
        """The log, then the pages and segments of which it says something else."""
        self._write_log()
        self._write_keywords()
        segments: set[str] = set()
        retold: set[str] = set()
        for was, now in self._pairs:
            segments |= {one[1] for one in _segment_parts(was) - _segment_parts(now)}
            if was.no >= self._erasure.begun:  # no row holds what was derived before memory was begun anew
                retold |= _texts_changed(was, now)
        written_next = {d.segment_id for d in self._erasure.decisions if isinstance(d, SegmentWritten)}
        self._write_texts_again(retold - written_next)
        for segment_id in sorted(segments):
            self._count_again(segment_id)

    def _write_log(self) -> None:
        rows = [{"no": now.no, "decisions": self._text_of(now)} for _, now in self._pairs]
        update_rows(self._c, schema.change, self._owner_id, ("no",), rows)
        index_rewritten(self._c, self._owner_id, self._pairs, self._erasure.apart)

    def _text_of(self, change: Change) -> str:
        apart = self._erasure.apart.get(change.no)
        if apart is None:
            return decisions_text(change.decisions)
        return decisions_together(change.decisions, self._erasure.places[change.no], apart)

    def _write_keywords(self) -> None:
        """Those of the pages whose note the log has anew."""
        rows = [
            {"page_id": d.page_id, "noted_no": now.no, "keywords": json_text(d.keywords)}
            for was, now in self._pairs
            for d in now.decisions
            if isinstance(d, Noted) and d not in was.decisions
        ]
        update_rows(self._c, schema.page, self._owner_id, ("page_id", "noted_no"), rows)

    def _write_texts_again(self, segment_ids: set[str]) -> None:
        """The texts that stand of segments, from the log, which is rewritten already."""
        if not segment_ids:
            return
        rows: dict[str, dict[str, Any]] = {one: {**NO_TEXT, "segment_id": one} for one in segment_ids}
        all_of = {SegmentId(one): NEVER for one in segment_ids}
        for version in last_texts(self._c, self._owner_id, self._topics, all_of).values():
            if version.until is None:
                at = micros(version.recorded_at)
                rows[version.text.segment_id] = text_row(version.text, version.no, at)
        update_rows(self._c, schema.segment, self._owner_id, ("segment_id",), rows.values())

    def _count_again(self, segment_id: str) -> None:
        """What a segment counts, from the pages and texts that it still has; where it never had any it goes."""
        segment = schema.segment
        mine = (segment.c.owner_id == self._owner_id, segment.c.segment_id == segment_id)
        row = self._c.execute(_COUNTED, {"owner": self._owner_id, "segment": segment_id}).first()
        if row is None:
            return
        numbers = [no for no, _, _ in self._topics.texts_of([segment_id])]
        if not numbers and not self._topics.ever_in(segment_id):
            self._c.execute(delete(segment).where(*mine))
            return
        opened = row.opened_no
        if any(was.no == opened for was, _ in self._pairs):
            opened = self._topics.opened()[SegmentId(segment_id)]
        left = self._topics.at().left(segment_id)
        evicted = None if left is None or left < opened else left
        self._c.execute(
            update(segment)
            .where(*mine)
            .values(
                opened_no=opened,
                evicted_no=evicted,
                touched_no=max(*numbers, opened, evicted or 0),
                pages=row.pages_left,
                newest_at=row.newest or 0,
            )
        )


def _texts_changed(was: Change, now: Change) -> set[str]:
    """The segments of whose texts two tellings of a change do not say the same."""
    old, new = (_tellings(one) for one in (was, now))
    return {one for one in (*old, *new) if old.get(one) != new.get(one)}


def _tellings(change: Change) -> Mapping[str, Sequence[SegmentTold]]:
    found: dict[str, list[SegmentTold]] = {}
    for d in change.decisions:
        if isinstance(d, SegmentTold):
            found.setdefault(d.segment_id, []).append(d)
    return found


def _segment_parts(change: Change) -> set[tuple[str, str, str]]:
    """What a change does to segments: by kind, segment and page."""
    told: set[tuple[str, str, str]] = set()
    for d in change.decisions:
        of = dict(ids(d))
        if Sort.SEGMENT in of:
            told.add((d.tag, of[Sort.SEGMENT], of.get(Sort.PAGE, "")))
    return told
