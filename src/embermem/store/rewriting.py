"""Tables after the log was redacted: rows become what applying the log from its beginning would make of them, and only
those that must change are touched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Table, bindparam, delete, func, select, update
from sqlalchemy.engine import Connection

from embermem.core.changes import (
    BegunAnew,
    Change,
    Decision,
    Evicted,
    Item,
    SegmentEnded,
    SegmentTold,
    SegmentWritten,
    Sort,
    ids,
    set_by,
)
from embermem.core.state import PERSONA_KINDS
from embermem.core.types import OwnerId
from embermem.protocols import Erasure
from embermem.store import schema
from embermem.store.codec import decisions_text, decisions_together, row_of, shown_text
from embermem.store.projector import Projector
from embermem.store.queries import reads
from embermem.store.queries.changes import index_rewritten
from embermem.store.queries.segment_texts import text_versions
from embermem.store.statements import update_rows

_Key = tuple[Table, tuple[str, ...]]
"""A table of versions, and what of it."""
_RETIRING = ("retired_no", "retired_at")


def _counted() -> Any:
    """A segment with what it counts now: its pages, when the newest was recorded, and the first and the last change
    that wrote its text."""
    segment, page, text = schema.segment, schema.page.c, schema.segment_text.c
    owner: Any = bindparam("owner", type_=segment.c.owner_id.type)
    one: Any = bindparam("segment")

    def of(columns: Any, what: Any) -> Any:
        return select(what).where(columns.owner_id == owner, columns.segment_id == one).scalar_subquery()

    return select(
        segment,
        of(page, func.count()).label("pages_left"),
        of(page, func.max(page.recorded_at)).label("newest"),
        of(text, func.min(text.change_no)).label("first_no"),
        of(text, func.max(text.change_no)).label("last_no"),
    ).where(segment.c.owner_id == owner, segment.c.segment_id == one)


_COUNTED = _counted()


def rewrite(c: Connection, owner_id: OwnerId, erasure: Erasure) -> None:
    """Bring an owner's log, and what is derived from it, from `erasure.before` to `erasure.after`."""
    _Rewriting(c, owner_id, erasure).run()


class _Rewriting:
    def __init__(self, c: Connection, owner_id: OwnerId, erasure: Erasure) -> None:
        self._c = c
        self._owner_id = owner_id
        self._erasure = erasure
        self._pairs = erasure.pairs
        self._pages = frozenset[str](erasure.pages)
        self._begun = erasure.begun
        self._rewritten = {d.segment_id for d in erasure.decisions if isinstance(d, SegmentWritten)}
        self._segments: set[str] = set()

    def run(self) -> None:
        """Each change that lost something, then what adds up over several of them."""
        self._write_log()
        overwriting = Overwriting(self._c, self._owner_id)
        dropped: list[tuple[_Key, int]] = []
        retold: set[str] = set()
        for was, now in self._pairs:
            self._segments |= {one[1] for one in _segment_parts(was) - _segment_parts(now)}
            if was.no < self._begun:
                continue  # no table holds what was derived before memory was begun anew
            old, new = _versions(was), _versions(now)
            dropped += [
                ((table, key), was.no) for table, key in old if (table, key) not in new and key[0] not in self._pages
            ]
            edited = tuple(d for key, d in new.items() if d != old.get(key))
            if edited:
                overwriting.stage(replace(now, decisions=edited))
            told = _texts_changed(was, now)
            dropped += [((schema.segment_text, (one,)), was.no) for one, left in told.items() if not left]
            retold |= told.keys()
        self._drop_pages()
        for key, no in sorted(dropped, key=lambda one: -one[1]):
            self._drop(*key, no)
        overwriting.overwrite()
        self._write_texts_again(retold - self._rewritten)
        for segment_id in sorted(self._segments):
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

    # -------------------------------------------------------------------------------------------------- versions

    def _drop_pages(self) -> None:
        """What was noted of the pages that go, such as where they were."""
        for some in reads.chunks(sorted(self._pages)):
            for table in schema.OF_PAGES:
                mine = (table.c.owner_id == self._owner_id, reads.one_of(table.c.page_id, some))
                self._c.execute(delete(table).where(*mine))

    def _drop(self, table: Table, key: tuple[str, ...], no: int) -> None:
        """A version goes; the one before it, if it stood until then, stands until this one's end."""
        mine = (table.c.owner_id == self._owner_id, *_is(table, key))
        row = self._c.execute(
            select(table.c.retired_no, table.c.retired_at).where(*mine, table.c.change_no == no)
        ).first()
        if row is None:
            return
        self._c.execute(delete(table).where(*mine, table.c.change_no == no))
        self._c.execute(
            update(table)
            .where(*mine, table.c.retired_no == no, table.c.change_no < no)
            .values(retired_no=row.retired_no, retired_at=row.retired_at)
        )

    # -------------------------------------------------------------------------------------------------- segments

    def _write_texts_again(self, segment_ids: set[str]) -> None:
        """The texts that stand of segments, from the log, which is rewritten already. The rows of those before them
        hold no text. The change that is about to be written writes most of them itself."""
        if not segment_ids:
            return
        text = schema.segment_text
        standing = (version for version in text_versions(self._c, self._owner_id, segment_ids) if version.until is None)
        rows = [
            {
                "segment_id": version.text.segment_id,
                "change_no": version.no,
                **row_of(version.text, text, shown=shown_text(version.text.shown, version.text.keywords)),
            }
            for version in standing
        ]
        update_rows(self._c, text, self._owner_id, (*schema.KEYS[text], "change_no"), rows)

    def _count_again(self, segment_id: str) -> None:
        """What a segment counts, from the pages and texts that it still has; where it has none it goes."""
        segment = schema.segment
        mine = (segment.c.owner_id == self._owner_id, segment.c.segment_id == segment_id)
        row = self._c.execute(_COUNTED, {"owner": self._owner_id, "segment": segment_id}).first()
        if row is None:
            return
        numbers = [no for no in (row.first_no, row.last_no) if no is not None]
        if not numbers and not row.pages_left:
            self._c.execute(delete(segment).where(*mine))
            return
        opened = row.opened_no
        if any(was.no == opened for was, _ in self._pairs):
            numbers += [no for no in self._places(segment_id) if no is not None]
            opened = min(numbers)
        evicted = row.evicted_no if row.evicted_no is not None and row.evicted_no >= opened else None
        if evicted is not None and not self._evicts(segment_id, evicted):
            evicted = None
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

    def _places(self, segment_id: str) -> tuple[int | None, int | None]:
        """The first and the last change that placed a page in a segment."""
        placed = schema.membership
        row = self._c.execute(
            select(func.min(placed.c.change_no), func.max(placed.c.change_no)).where(
                placed.c.owner_id == self._owner_id, placed.c.segment_id == segment_id
            )
        ).one()
        return row[0], row[1]

    def _evicts(self, segment_id: str, no: int) -> bool:
        """Whether a change still evicts or ends a segment: it does, if it is not one of those that lost something."""
        now = next((now for _, now in self._pairs if now.no == no), None)
        return now is None or any(
            isinstance(d, Evicted | SegmentEnded) and d.segment_id == segment_id for d in now.decisions
        )


class Overwriting(Projector):
    """Versions that are told otherwise under the same change: their rows are written over, not retired."""

    def overwrite(self) -> None:
        """Write what was gathered over the rows that are there."""
        for table, by_key in self._versions.items():
            rows = [row for versions in by_key.values() for row in versions]
            names = [column.name for column in table.c if column.name not in ("owner_id", *_RETIRING)]
            told = [{name: row.get(name) for name in names} for row in rows]
            update_rows(self._connection, table, self._owner_id, (*schema.KEYS[table], "change_no"), told)


def _is(table: Table, key: Sequence[str]) -> Iterable[Any]:
    return (table.c[name] == value for name, value in zip(schema.KEYS[table], key, strict=True))


def _versions(change: Change) -> Mapping[_Key, Decision]:
    """The decision that wrote each version of a change: the last on its key."""
    found: dict[_Key, Decision] = {}
    for d in change.decisions:
        if isinstance(d, BegunAnew):
            found.clear()
        which = set_by(d)
        if which is None or type(d) in PERSONA_KINDS or which[0] is Item.SEGMENT_TEXT:  # whose rows are written again
            continue
        found[schema.metadata.tables[which[0]], which[1]] = d
    return found


def _texts_changed(was: Change, now: Change) -> Mapping[str, Sequence[SegmentTold]]:
    """The segments of whose texts two tellings of a change do not say the same, with what the second says."""
    old, new = (_tellings(one) for one in (was, now))
    return {one: new.get(one, []) for one in (*old, *new) if old.get(one) != new.get(one)}


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
