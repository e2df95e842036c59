"""Changes into rows: where the work on pages stands, and the segments as they stand. All else that changes say is
folded from the log (store/states.py)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, assert_never

from sqlalchemy import bindparam, case, delete, func, insert, select, update
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
from embermem.store.statements import set_owner, update_rows

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


@dataclass(kw_only=True, slots=True)
class _SegmentMoves:
    """What happens to a segment: the numbers of the changes that touch it, and that evict or end it (the same for all
    who look for what is in mid-term memory)."""

    touched: list[int] = field(default_factory=list)
    evicted: list[int] = field(default_factory=list)
    ended: bool = False


class Projector:
    """Changes on their way into the tables: stages the rows of one change after the other, then writes them in few
    statements. What comes of it is the same whether they are written one by one or together."""

    def __init__(self, connection: Connection, owner_id: OwnerId) -> None:
        self._connection = connection
        self._owner_id = owner_id
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
        self._end_of_change()

    def flush(self, segment_vectors: SegmentVectors | None = None) -> None:
        """Write all that was staged, once, with the vectors of segments that were written."""
        places = self._places()
        self._write_pages()
        self._write_segments(segment_vectors or SegmentVectors(of="", vectors={}), places)
        self._write_barred()
        if self._embedded_seq is not None:
            set_owner(self._connection, self._owner_id, embedded_seq=self._embedded_seq)

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
                self._write_text(d)
                self._segment(d.segment_id).touched.append(self._no)
            case changes.Analysed():
                self._page(d.page_id)["analysed_seq"] = d.upto_seq
            case changes.Evicted():
                self._segment(d.segment_id).evicted.append(self._no)
            case changes.SegmentEnded():
                self._ended.append(d.segment_id)
                self._segment(d.segment_id).evicted.append(self._no)
                self._segment(d.segment_id).ended = True
            case changes.Embedded():
                self._embedded_seq = d.last_seq
            case changes.TextsBarred():
                self._bar(self._no, d)
            case changes.Undone():  # what it takes back stands in the decisions that follow, but for barred texts
                self._undid = True
            case changes.BegunAnew():  # the first of its change: what was staged before is put away too
                self._stage_anew()
                forget_derived(self._connection, self._owner_id)
                visit = schema.fact_visit
                self._connection.execute(delete(visit).where(visit.c.owner_id == self._owner_id))
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
            ):
                pass  # folded from the log, or read there: no row holds it
            case _:
                assert_never(d)

    def _write_text(self, d: changes.SegmentTold) -> None:
        """The whole text that stands now."""
        if isinstance(d, changes.SegmentGrew) and self._texts.get(d.segment_id) is None:
            known = standing_text(self._connection, self._owner_id, d.segment_id)
            if known is not None:
                self._texts.set(known)
        try:
            self._texts.take(d)
        except ValueError as error:
            raise StoreCorrupt(f"change {self._no} of the log is damaged: {error}; run `embermem doctor`") from None
        text = self._texts.get(d.segment_id)
        assert text is not None  # it was taken
        self._told[d.segment_id] = {**text_row(text), "change_no": self._no, "recorded_at": self._at}

    # ------------------------------------------------------------------------------------------------- gathering

    def _stage_anew(self) -> None:
        self._texts = changes.SegmentTexts()
        self._told: dict[str, Row] = {}
        self._pages: dict[str, Row] = {}
        self._segments: dict[str, _SegmentMoves] = {}
        self._placed: dict[str, str] = {}
        self._ended: list[SegmentId] = []

    def _end_of_change(self) -> None:
        """What counts once a change is whole: what is no more."""
        for segment_id in self._ended:
            self._texts.take(changes.SegmentEnded(segment_id=segment_id))
            self._told[segment_id] = dict(NO_TEXT)
        self._ended = []

    def _row(self, **values: object) -> Row:
        return {"owner_id": self._owner_id, **values}

    def _page(self, page_id: str) -> Row:
        return self._pages.setdefault(page_id, {})

    def _segment(self, segment_id: str) -> _SegmentMoves:
        return self._segments.setdefault(segment_id, _SegmentMoves())

    # --------------------------------------------------------------------------------------------------- writing

    def _many(self, statement: Any, rows: Sequence[Row]) -> None:
        if rows:
            self._connection.execute(statement, rows)

    def _write_barred(self) -> None:
        """The marks of changes that stand. Where one was undone, all are taken from the log again."""
        table = schema.barred
        if self._undid:
            self._connection.execute(delete(table).where(table.c.owner_id == self._owner_id))
            self._barred = {}
            kinds = (changes.TextsBarred, changes.Undone)
            known = logged(self._connection, self._owner_id, 0, causes=_BARRING, before=self._no + 1, kinds=kinds)
            for no, texts in changes.barred_by(known):
                self._bar(no, texts)
        if self._barred:
            statement = upsert(self._connection, table)
            statement = statement.on_conflict_do_nothing(index_elements=["owner_id", "mark", "change_no"])
            self._many(statement, list(self._barred.values()))

    def _bar(self, no: int, d: changes.TextsBarred) -> None:
        for kind, marks in (("message", d.messages), ("text", d.texts)):
            self._barred.update({(mark, no): self._row(mark=mark, kind=kind, change_no=no) for mark in marks})

    def _write_pages(self) -> None:
        """What becomes of the pages; what they waited for has happened. A page that is to be read again, and was not,
        waits on, and its error says why."""
        page = schema.page
        rows = [
            {"page_id": page_id, **(NO_WAITING if "annotated_seq" in values else _NO_RETRY), **values}
            for page_id, values in self._pages.items()
        ]
        update_rows(self._connection, page, self._owner_id, ("page_id",), rows)
        for some in chunks(sorted(key for key, values in self._pages.items() if "annotated_seq" not in values)):
            mine = (page.c.owner_id == self._owner_id, page.c.page_id.in_(some))
            told = update(page).where(*mine, page.c.error.is_not(None), page.c.redo_at.is_(None)).values(error=None)
            self._connection.execute(told)

    def _places(self) -> Mapping[str, str | None]:
        """The segments in which the pages that are placed stand so far."""
        page = schema.page
        found: dict[str, str | None] = {}
        for ids in chunks(sorted(self._placed)):
            rows = self._connection.execute(
                select(page.c.page_id, page.c.segment_id).where(
                    page.c.owner_id == self._owner_id, page.c.page_id.in_(ids)
                )
            )
            found.update((page_id, segment_id) for page_id, segment_id in rows)
        return found

    def _write_segments(self, segment_vectors: SegmentVectors, places: Mapping[str, str | None]) -> None:
        for grown_id in segment_vectors.vectors:
            self._segment(grown_id).touched.append(self._no)
        if not self._segments:
            return
        table = schema.segment
        mine = table.c.owner_id == self._owner_id
        known = {
            segment_id
            for ids in chunks(sorted(self._segments))
            for segment_id in self._connection.scalars(
                select(table.c.segment_id).where(mine, table.c.segment_id.in_(ids))
            )
        }
        moved = {page_id for page_id, before in places.items() if before not in (None, self._placed[page_id])}
        entered = Counter(into for page_id, into in self._placed.items() if places.get(page_id, into) != into)
        arrivals = self._arrivals()
        opened, grown, evicted = [], [], []
        for segment_id, moves in sorted(self._segments.items()):
            newest = arrivals.get(segment_id, 0)
            if segment_id in known:
                last = max((*moves.touched, *moves.evicted))
                pages = entered[segment_id]
                grown.append({"k_id": segment_id, "b_touched": last, "b_pages": pages, "b_newest": newest})
                evicted += [{"segment_id": segment_id, "evicted_no": no} for no in moves.evicted[-1:]]
            elif moves.touched:
                opened_no = min(moves.touched)
                left = [no for no in moves.evicted if no >= opened_no]  # before it was there, nothing left
                opened.append(
                    self._row(
                        segment_id=segment_id,
                        opened_no=opened_no,
                        touched_no=max((*moves.touched, *left)),
                        evicted_no=left[-1] if left else None,
                        visits=0,
                        pages=entered[segment_id],
                        newest_at=newest,
                    )
                )
        newer = bindparam("b_newest", type_=table.c.newest_at.type)
        self._many(insert(table), opened)
        self._many(
            update(table)
            .where(mine, table.c.segment_id == bindparam("k_id"))
            .values(
                touched_no=bindparam("b_touched"),
                pages=table.c.pages + bindparam("b_pages"),
                newest_at=case((table.c.newest_at < newer, newer), else_=table.c.newest_at),
            ),
            grown,
        )
        vectors = [
            {"segment_id": grown_id, "embedder": segment_vectors.of, "vector_sum": sum_bytes(vector)}
            for grown_id, vector in segment_vectors.vectors.items()
        ]
        told = ({"segment_id": segment_id, **row} for segment_id, row in self._told.items())
        update_rows(self._connection, table, self._owner_id, ("segment_id",), [*told, *evicted, *vectors])
        self._left({page_id: str(places[page_id]) for page_id in moved})

    def _left(self, moved: Mapping[str, str]) -> None:
        """Segments that pages left count those that stay. One that ended counts nothing, and its visits are of the
        segment where its pages are."""
        segment, page = schema.segment, schema.page
        mine = segment.c.owner_id == self._owner_id
        into = {before: self._placed[page_id] for page_id, before in sorted(moved.items())}
        for before in sorted({*moved.values()} | {one for one, moves in self._segments.items() if moves.ended}):
            there = (page.c.owner_id == self._owner_id, page.c.segment_id == before)
            pages, newest = self._connection.execute(
                select(func.count(), func.max(page.c.recorded_at)).where(*there)
            ).one()
            values: Row = {"pages": pages, "newest_at": newest or 0}
            row = self._connection.execute(select(segment).where(mine, segment.c.segment_id == before)).first()
            if row is not None and before in self._segments and self._segments[before].ended:
                values.update(visits=0, visited_at=None, embedder=None, vector_sum=None)
                if row.visits and before in into:
                    visited = case((segment.c.visited_at > row.visited_at, segment.c.visited_at), else_=row.visited_at)
                    self._connection.execute(
                        update(segment)
                        .where(mine, segment.c.segment_id == into[before])
                        .values(visits=segment.c.visits + row.visits, visited_at=visited)
                    )
            self._connection.execute(update(segment).where(mine, segment.c.segment_id == before).values(**values))

    def _arrivals(self) -> dict[str, int]:
        """When the newest page placed into each segment arrived."""
        page = schema.page
        recorded: dict[str, int] = {}
        for ids in chunks(sorted(self._placed)):
            rows = self._connection.execute(
                select(page.c.page_id, page.c.recorded_at).where(
                    page.c.owner_id == self._owner_id, page.c.page_id.in_(ids)
                )
            )
            recorded.update((page_id, recorded_at) for page_id, recorded_at in rows)
        newest: dict[str, int] = {}
        for page_id, segment_id in self._placed.items():
            newest[segment_id] = max(newest.get(segment_id, 0), recorded.get(page_id, 0))
        return newest


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
