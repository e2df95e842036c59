"""Changes into rows: where the work on pages stands, and the segments as they stand. All else that changes say is
folded from the log (store/states.py)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, assert_never

from sqlalchemy import Select, Table, bindparam, case, delete, func, insert, select, update
from sqlalchemy.engine import Connection

from embermem.core import changes
from embermem.core.changes import Cause, Change
from embermem.core.errors import StoreCorrupt
from embermem.core.types import OwnerId, SegmentId
from embermem.core.vector_sums import sum_bytes
from embermem.protocols import SegmentVectors
from embermem.store import schema
from embermem.store.codec import json_text, micros
from embermem.store.engines.words import upsert
from embermem.store.queries.changes import changes as logged
from embermem.store.queries.reads import chunks
from embermem.store.queries.segment_texts import NO_TEXT, standing_text, text_row
from embermem.store.statements import update_rows

Row = dict[str, Any]

_BARRING = (Cause.FORGETTING, Cause.UNDO)
"""The causes of changes that bar texts, or lift that."""
NO_WAITING: Mapping[str, int | None] = {
    "attempts": 0,
    "error": None,
    "retry_at": None,
    "redo_tries": None,
    "redo_at": None,
}
"""What a page waits for, when it waits for nothing."""
_NO_RETRY: Mapping[str, int | None] = {"attempts": 0, "retry_at": None}
"""The same of the wait to be placed or analysed."""
_BARE = {**NO_TEXT, "embedder": None, "vector_sum": None}
"""Columns of a segment that has no text and no vector."""


Texts = dict[SegmentId, tuple[int, changes.SegmentWritten]]
"""Texts of segments as they stand, each with the change that wrote it."""


def _some(table: Table, key: str, *names: str) -> Select[Any]:
    """Columns of an owner's rows with some keys, by a statement that is made once."""
    mine = (table.c.owner_id == bindparam("of"), table.c[key].in_(bindparam("some", expanding=True)))
    return select(table.c[key], *(table.c[name] for name in names)).where(*mine)


_PAGES = _some(schema.page, "page_id", "segment_id", "recorded_at", "error", "redo_at")
_NEWEST = select(func.max(schema.page.c.recorded_at)).where(
    schema.page.c.owner_id == bindparam("of"), schema.page.c.segment_id == bindparam("segment")
)
_COUNTERS = ("opened_no", "evicted_no", "touched_no", "pages", "newest_at")
_SEGMENTS = _some(schema.segment, "segment_id", *_COUNTERS, "change_no")
_BEGUN: Mapping[str, int | None] = {**dict.fromkeys(_COUNTERS, 0), "evicted_no": None}
"""What a segment counts before anything happens to it."""


@dataclass(kw_only=True, slots=True)
class _SegmentMoves:
    """What happens to a segment: the numbers of the changes that touch it, and that evict or end it (the same for all
    who look for what is in mid-term memory); and what its text becomes, each time with the number and the time of the
    change (None: it ends)."""

    touched: list[int] = field(default_factory=list)
    evicted: list[int] = field(default_factory=list)
    told: list[tuple[int, int, changes.SegmentTold | None]] = field(default_factory=list)


class Projector:
    """Changes on their way into the tables: stages the rows of one change after the other, then writes them in few
    statements. What comes of it is the same whether they are written one by one or together."""

    def __init__(self, connection: Connection, owner_id: OwnerId, texts: Texts | None = None) -> None:
        """`texts` are those that the caller knows; others are read."""
        self._connection = connection
        self._owner_id = owner_id
        self._known_texts = texts or {}
        self._no = 0
        self._at = 0
        self._embedded_seq: int | None = None
        self._barred: dict[tuple[str, int], Row] = {}
        self._undid = False
        self._stage_anew()

    def stage(self, change: Change) -> None:
        """Take in the next change."""
        self._no, self._at = change.no, micros(change.recorded_at)
        for decision in change.decisions:
            self._take(decision)
        for segment_id in self._ended:  # what a change ends is ended once it is whole
            self._segment(segment_id).told.append((self._no, self._at, None))
        self._ended.clear()

    def flush(self, segment_vectors: SegmentVectors | None = None) -> Texts:
        """Write all that was staged, once, with the vectors of segments that were written; their new texts."""
        there = self._there()
        self._write_pages(there)
        texts = self._write_segments(segment_vectors or SegmentVectors(of="", vectors={}), there)
        self._write_barred()
        if self._embedded_seq is not None:
            update_rows(self._connection, schema.owner, self._owner_id, (), [{"embedded_seq": self._embedded_seq}])
        return texts

    # -------------------------------------------------------------------------------------------------- decisions

    def _take(self, d: changes.Decision) -> None:
        match d:
            case changes.Noted():
                self._page(d.page_id).update(
                    annotated_seq=d.upto_seq,
                    noted_no=self._no,
                    read_by=d.analyst,
                    keywords=json_text(d.keywords),
                    chain_id=d.chain_id,
                )
            case changes.Placed():
                self._page(d.page_id)["segment_id"] = d.segment_id
                self._placed[d.page_id] = d.segment_id
                self._segment(d.segment_id).touched.append(self._no)
            case changes.SegmentWritten() | changes.SegmentGrew():
                self._segment(d.segment_id).told.append((self._no, self._at, d))
                self._segment(d.segment_id).touched.append(self._no)
            case changes.Analysed():
                self._page(d.page_id)["analysed_seq"] = d.upto_seq
            case changes.Evicted():
                self._segment(d.segment_id).evicted.append(self._no)
            case changes.SegmentEnded():
                self._ended.append(d.segment_id)
                self._segment(d.segment_id).evicted.append(self._no)
            case changes.Embedded():
                self._embedded_seq = d.last_seq
            case changes.TextsBarred():
                self._bar(self._no, d)
            case changes.Undone():  # what it takes back stands in the decisions that follow, but for barred texts
                self._undid = True
            case changes.BegunAnew():  # the first of its change: what was staged before is put away too
                self._stage_anew()
                forget_derived(self._connection, self._owner_id)
            case (
                changes.ChainSummarised()
                | changes.FactAdded()
                | changes.FactStrengthened()
                | changes.FactRetired()
                | changes.FactArchived()
                | changes.FactRestored()
                | changes.FactPinned()
                | changes.FactExpires()
                | changes.TraitSet()
                | changes.TraitCleared()
                | changes.ProfileSet()
                | changes.PersonRelated()
                | changes.FactAffirmed()
                | changes.FactDenied()
                | changes.FactBarred()
                | changes.ConflictSettled()
                | changes.Erased()
                | changes.Visited()
            ):
                pass  # folded from the log, or read there: no row holds it
            case _:
                assert_never(d)

    # ------------------------------------------------------------------------------------------------- gathering

    def _stage_anew(self) -> None:
        self._pages: dict[str, Row] = {}
        self._segments: dict[SegmentId, _SegmentMoves] = {}
        self._placed: dict[str, SegmentId] = {}
        self._ended: list[SegmentId] = []

    def _row(self, **values: object) -> Row:
        return {"owner_id": self._owner_id, **values}

    def _page(self, page_id: str) -> Row:
        return self._pages.setdefault(page_id, {})

    def _segment(self, segment_id: SegmentId) -> _SegmentMoves:
        return self._segments.setdefault(segment_id, _SegmentMoves())

    # --------------------------------------------------------------------------------------------------- writing

    def _write_barred(self) -> None:
        """The marks of changes that stand. Where one was undone, all are taken from the log again."""
        table = schema.barred
        if self._undid:
            self._connection.execute(delete(table).where(table.c.owner_id == self._owner_id))
            self._barred = {}
            kinds = (changes.TextsBarred, changes.Undone)
            known = logged(self._connection, self._owner_id, causes=_BARRING, kinds=kinds)
            for no, texts in changes.barred_by([one for one in known if one.no <= self._no]):
                self._bar(no, texts)
        if self._barred:
            statement = upsert(self._connection, table)
            statement = statement.on_conflict_do_nothing(index_elements=["owner_id", "mark", "change_no"])
            self._connection.execute(statement, list(self._barred.values()))

    def _bar(self, no: int, d: changes.TextsBarred) -> None:
        for kind, marks in (("message", d.messages), ("text", d.texts)):
            self._barred.update({(mark, no): self._row(mark=mark, kind=kind, change_no=no) for mark in marks})

    def _there(self) -> dict[str, Any]:
        """The rows of the pages that are placed or analysed, as they are so far."""
        found: dict[str, Any] = {}
        wanted = (key for key, values in self._pages.items() if key in self._placed or "annotated_seq" not in values)
        for some in chunks(sorted(wanted)):
            rows = self._connection.execute(_PAGES, {"of": self._owner_id, "some": some})
            found.update((row.page_id, row) for row in rows)
        return found

    def _write_pages(self, there: Mapping[str, Any]) -> None:
        """What becomes of the pages; what they waited for has happened. A page that is to be read again, and was not,
        waits on, and its error says why."""
        rows: list[Row] = []
        for page_id, values in self._pages.items():
            rows.append({"page_id": page_id, **(NO_WAITING if "annotated_seq" in values else _NO_RETRY), **values})
            row = there.get(page_id)
            if "annotated_seq" not in values and row is not None and row.error is not None and row.redo_at is None:
                rows[-1]["error"] = None
        update_rows(self._connection, schema.page, self._owner_id, ("page_id",), rows)

    def _write_segments(self, segment_vectors: SegmentVectors, there: Mapping[str, Any]) -> Texts:
        """What becomes of the segments; their new texts."""
        for grown_id in segment_vectors.vectors:
            self._segment(grown_id).touched.append(self._no)
        placed = {page_id: into for page_id, into in self._placed.items() if page_id in there}
        moved = {
            page_id: there[page_id].segment_id
            for page_id, into in placed.items()
            if there[page_id].segment_id not in (None, into)
        }
        known = self._known_segments({*self._segments, *moved.values()})
        rows = self._counted(placed, moved, there, known)
        texts: Texts = {}
        for segment_id in (one for one, moves in self._segments.items() if moves.told and one in rows):
            stands = known[segment_id].change_no if segment_id in known else None
            no, at, text = self._text(segment_id, stands)
            if text is None:
                rows[segment_id] |= _BARE
            else:
                rows[segment_id] |= text_row(text, no, at)
                texts[segment_id] = no, text
        for segment_id, vector in segment_vectors.vectors.items():
            if segment_id in rows:
                rows[segment_id] |= {"embedder": segment_vectors.of, "vector_sum": sum_bytes(vector)}
        new = [self._row(**{**_BARE, **row, "segment_id": one}) for one, row in rows.items() if one not in known]
        if new:
            self._connection.execute(insert(schema.segment), new)
        others = ({"segment_id": one, **row} for one, row in rows.items() if one in known)
        update_rows(self._connection, schema.segment, self._owner_id, ("segment_id",), others)
        return texts

    def _counted(
        self,
        placed: Mapping[str, SegmentId],
        moved: Mapping[str, SegmentId],
        there: Mapping[str, Any],
        known: Mapping[SegmentId, Any],
    ) -> dict[SegmentId, Row]:
        """What segments count once pages were `placed`, some of which `moved` from another segment."""
        entered = Counter(into for page_id, into in placed.items() if there[page_id].segment_id != into)
        left, arrived = Counter(moved.values()), dict[SegmentId, int]()
        for page_id, into in placed.items():
            arrived[into] = max(arrived.get(into, 0), there[page_id].recorded_at)
        rows: dict[SegmentId, Row] = {}
        for segment_id in sorted({*self._segments, *left}):
            moves = self._segments.get(segment_id, _SegmentMoves())
            if segment_id in known:
                row = {name: getattr(known[segment_id], name) for name in _COUNTERS}
            elif moves.touched:
                row = {**_BEGUN, "opened_no": min(moves.touched)}
            else:
                continue  # before it was there, nothing happens to it
            gone = [no for no in moves.evicted if no >= row["opened_no"]]
            row["evicted_no"] = gone[-1] if gone else row["evicted_no"]
            row["touched_no"] = max([row["touched_no"], *moves.touched, *gone])
            row["pages"] += entered[segment_id] - left[segment_id]
            row["newest_at"] = max(row["newest_at"], arrived.get(segment_id, 0))
            if left[segment_id]:
                row["newest_at"] = self._newest(segment_id) if row["pages"] else 0
            rows[segment_id] = row
        return rows

    def _known_segments(self, ids: Collection[SegmentId]) -> dict[SegmentId, Any]:
        found: dict[SegmentId, Any] = {}
        for some in chunks(sorted(ids)):
            rows = self._connection.execute(_SEGMENTS, {"of": self._owner_id, "some": some})
            found.update((row.segment_id, row) for row in rows)
        return found

    def _newest(self, segment_id: SegmentId) -> int:
        """When the newest of a segment's pages was recorded."""
        return self._connection.scalar(_NEWEST, {"of": self._owner_id, "segment": segment_id}) or 0

    def _text(self, segment_id: SegmentId, stands: int | None) -> tuple[int, int, changes.SegmentWritten | None]:
        """The text that stands of a segment in the end, with the change that wrote it and its time; before, that of a
        change stood."""
        texts, told = changes.SegmentTexts(), self._segments[segment_id].told
        if stands is not None and isinstance(told[0][2], changes.SegmentGrew):
            no, known = self._known_texts.get(segment_id, (0, None))
            known = known if no == stands else standing_text(self._connection, self._owner_id, segment_id)
            if known is not None:
                texts.set(known)
        for no, _, d in told:
            try:
                texts.take(changes.SegmentEnded(segment_id=segment_id) if d is None else d)
            except ValueError as error:
                raise StoreCorrupt(f"change {no} of the log is damaged: {error}; run `embermem doctor`") from None
        return *told[-1][:2], texts.get(segment_id)


def forget_derived(connection: Connection, owner_id: OwnerId) -> None:
    """An owner has no segment, and pages are as they came in; the logs stay."""
    connection.execute(delete(schema.segment).where(schema.segment.c.owner_id == owner_id))
    read = case((schema.page.c.no < 1, schema.page.c.last_seq), else_=0)  # a passage of a document is never read
    none = dict.fromkeys(("noted_no", "read_by", "keywords", "chain_id", "segment_id"))
    connection.execute(
        update(schema.page)
        .where(schema.page.c.owner_id == owner_id)
        .values(annotated_seq=read, analysed_seq=read, **none, **NO_WAITING)
    )
