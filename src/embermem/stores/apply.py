"""Applying a change: each decision becomes rows, and the rows they replace are retired."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from sqlalchemy import Table, bindparam, case, delete, insert, select, update
from sqlalchemy.engine import Connection

from embermem import changes
from embermem.changes import Decision
from embermem.stores import schema
from embermem.stores.codec import json_text, micros, offset, sum_bytes
from embermem.types import OwnerId, PersonaChange, SegmentId, Source

if TYPE_CHECKING:
    from embermem.types import Vector

Row = dict[str, Any]
_Span = tuple[int, int | None, int | None]
"""seq, start, end"""

PERSONA_DECISIONS = (
    changes.FactAdded,
    changes.FactStrengthened,
    changes.FactRetired,
    changes.FactArchived,
    changes.FactRestored,
    changes.FactPinned,
    changes.TraitCleared,
    changes.Undone,
    changes.BegunAnew,
    changes.TraitSet,
    changes.ProfileSet,
)
"""Decisions that move a reader's persona."""
RESETTING_DECISIONS = (changes.Undone, changes.BegunAnew)
"""Decisions after which a reader begins from nothing: they take away what it was told."""

NO_WAITING: Mapping[str, int | None] = {
    "attempts": 0,
    "error": None,
    "retry_at": None,
    "redo_tries": None,
    "redo_at": None,
}
"""What a page waits for, when it waits for nothing."""

_KEYS: Mapping[Table, tuple[str, ...]] = {
    schema.note: ("page_id",),
    schema.membership: ("page_id",),
    schema.chain: ("chain_id",),
    schema.segment_text: ("segment_id",),
    schema.trait: ("dimension",),
    schema.profile: ("whose", "name"),
}


class Applying:
    """One change on its way into the tables: gathers rows, then writes them in few statements."""

    def __init__(self, connection: Connection, owner_id: OwnerId, no: int, recorded_at: datetime) -> None:
        self._connection = connection
        self._owner_id = owner_id
        self._no = no
        self._at = micros(recorded_at)
        self._versions: dict[Table, dict[tuple[object, ...], Row]] = {}
        self._sources: dict[tuple[str, str], set[_Span]] = {}
        self._facts: list[Row] = []
        self._fact_updates: list[Row] = []
        self._page_updates: dict[str, Row] = {}
        self._placed: dict[str, list[str]] = {}
        self._opened: list[Row] = []
        self._touched: set[str] = set()
        self._evicted: list[str] = []
        self._cleared: list[str] = []
        self._embedded_seq: int | None = None

    def apply(self, decisions: Iterable[Decision], segment_vectors: Mapping[SegmentId, tuple[str, Vector]]) -> None:
        """Write all that the decisions derive. `segment_vectors` holds each grown segment's embedder and sum."""
        for decision in decisions:
            self._HANDLERS[type(decision)](self, decision)
        self._write_versions()
        self._write_pages()
        self._write_segments(segment_vectors)
        self._write_facts()
        self._write_sources()
        if self._embedded_seq is not None:
            self._connection.execute(
                update(schema.owner)
                .where(schema.owner.c.owner_id == self._owner_id)
                .values(embedded_seq=self._embedded_seq)
            )

    # -------------------------------------------------------------------------------------- one handler a decision

    def _embedded(self, d: changes.Embedded) -> None:
        self._embedded_seq = d.last_seq

    def _noted(self, d: changes.Noted) -> None:
        proposals = PersonaChange(facts=d.facts, traits=d.traits, profile=d.profile)
        self._version(
            schema.note,
            page_id=d.page_id,
            chain_id=d.chain_id,
            continues=d.continues,
            keywords=json_text(d.keywords),
            proposals=json_text(proposals) if d.facts or d.traits or d.profile else None,
            analyst=d.analyst,
        )
        page = self._page(d.page_id)
        page["annotated_seq"] = d.upto_seq
        page["chain_id"] = d.chain_id

    def _chain_summarised(self, d: changes.ChainSummarised) -> None:
        self._version(schema.chain, chain_id=d.chain_id, thread=d.thread, summary=d.summary)
        self._rests_on("chain", d.chain_id, d.sources)

    def _placed_page(self, d: changes.Placed) -> None:
        self._version(schema.membership, page_id=d.page_id, segment_id=d.segment_id, f_score=d.f_score)
        self._page(d.page_id)["segment_id"] = d.segment_id
        self._placed.setdefault(d.segment_id, []).append(d.page_id)

    def _segment_written(self, d: changes.SegmentWritten) -> None:
        self._version(
            schema.segment_text,
            segment_id=d.segment_id,
            parts=json_text(d.parts),
            keywords=json_text(d.keywords),
            said_from=micros(d.said_from),
            said_from_offset=offset(d.said_from),
            said_to=micros(d.said_to),
            said_to_offset=offset(d.said_to),
        )
        self._touched.add(d.segment_id)
        self._rests_on("segment", d.segment_id, [source for part in d.parts for source in part.sources])

    def _analysed(self, d: changes.Analysed) -> None:
        self._page(d.page_id)["analysed_seq"] = d.upto_seq

    def _fact_added(self, d: changes.FactAdded) -> None:
        self._facts.append(
            self._row(
                fact_id=d.fact_id,
                change_no=self._no,
                about=d.about.value,
                subject=d.subject,
                attribute=d.attribute,
                value=d.value,
                text=d.text,
                valid_from=None if d.valid_from is None else micros(d.valid_from),
                valid_from_offset=None if d.valid_from is None else offset(d.valid_from),
                confirmed_no=self._no,
                pinned=False,
                recorded_at=self._at,
            )
        )
        self._rests_on("fact", d.fact_id, d.sources)

    def _fact_strengthened(self, d: changes.FactStrengthened) -> None:
        self._fact_updates.append({"id": d.fact_id, "confirmed_no": self._no})
        self._rests_on("fact", d.fact_id, d.sources)

    def _fact_retired(self, d: changes.FactRetired) -> None:
        self._fact_updates.append(
            {
                "id": d.fact_id,
                "superseded_by": d.superseded_by,
                "retired_no": self._no,
                "retired_at": self._at,
                "valid_to": None if d.valid_to is None else micros(d.valid_to),
                "valid_to_offset": None if d.valid_to is None else offset(d.valid_to),
            }
        )

    def _fact_archived(self, d: changes.FactArchived) -> None:
        self._fact_updates.append({"id": d.fact_id, "archived_no": self._no})

    def _fact_restored(self, d: changes.FactRestored) -> None:
        ended = ("superseded_by", "retired_no", "retired_at", "valid_to", "valid_to_offset", "archived_no")
        self._fact_updates.append({"id": d.fact_id, **dict.fromkeys(ended)})

    def _fact_pinned(self, d: changes.FactPinned) -> None:
        self._fact_updates.append({"id": d.fact_id, "pinned": d.pinned})

    def _ruled(self, d: changes.FactAffirmed | changes.FactDenied | changes.FactBarred | changes.Erased) -> None:
        """It is read from the log where facts are learnt (rulings.py); no table holds it."""

    def _trait_cleared(self, d: changes.TraitCleared) -> None:
        self._cleared.append(d.dimension)

    def _undone(self, d: changes.Undone) -> None:
        """What it takes back stands in the decisions that follow."""

    def _begun_anew(self, d: changes.BegunAnew) -> None:
        """The first decision of its change: nothing gathered is lost."""
        forget_derived(self._connection, self._owner_id)

    def _trait_set(self, d: changes.TraitSet) -> None:
        self._version(schema.trait, dimension=d.dimension, level=d.level, confidence=d.confidence)
        self._rests_on("trait", d.dimension, d.sources)

    def _profile_set(self, d: changes.ProfileSet) -> None:
        self._version(schema.profile, whose=d.whose.value, name=d.name, value=d.value, set_by=d.set_by)
        self._rests_on("profile", f"{d.whose.value}.{d.name}", d.sources)

    def _evicted_segment(self, d: changes.Evicted) -> None:
        self._evicted.append(d.segment_id)

    _HANDLERS: ClassVar[dict[type[Any], Callable[[Applying, Any], None]]] = {
        changes.Embedded: _embedded,
        changes.Noted: _noted,
        changes.ChainSummarised: _chain_summarised,
        changes.Placed: _placed_page,
        changes.SegmentWritten: _segment_written,
        changes.Analysed: _analysed,
        changes.FactAdded: _fact_added,
        changes.FactStrengthened: _fact_strengthened,
        changes.FactRetired: _fact_retired,
        changes.FactArchived: _fact_archived,
        changes.FactRestored: _fact_restored,
        changes.FactPinned: _fact_pinned,
        changes.FactAffirmed: _ruled,
        changes.FactDenied: _ruled,
        changes.FactBarred: _ruled,
        changes.Erased: _ruled,
        changes.TraitCleared: _trait_cleared,
        changes.Undone: _undone,
        changes.BegunAnew: _begun_anew,
        changes.TraitSet: _trait_set,
        changes.ProfileSet: _profile_set,
        changes.Evicted: _evicted_segment,
    }

    # ------------------------------------------------------------------------------------------------- gathering

    def _row(self, **values: object) -> Row:
        return {"owner_id": self._owner_id, **values}

    def _version(self, table: Table, **values: object) -> None:
        """One version a change: the last decision on a key holds."""
        row = self._row(change_no=self._no, recorded_at=self._at, **values)
        self._versions.setdefault(table, {})[tuple(row[key] for key in _KEYS[table])] = row

    def _page(self, page_id: str) -> Row:
        return self._page_updates.setdefault(page_id, {})

    def _rests_on(self, item: str, item_id: str, sources: Iterable[Source]) -> None:
        """What an item's new version rests on; a fact's sources add up instead."""
        spans = {(source.seq, source.start, source.end) for source in sources}
        if item == "fact":
            spans |= self._sources.get((item, item_id), set())
        self._sources[item, item_id] = spans

    # --------------------------------------------------------------------------------------------------- writing

    def _many(self, statement: Any, rows: list[Row]) -> None:
        if rows:
            self._connection.execute(statement, rows)

    def _write_versions(self) -> None:
        for table, by_key in self._versions.items():
            keys, rows = _KEYS[table], list(by_key.values())
            retire = (
                update(table)
                .where(table.c.owner_id == self._owner_id, table.c.retired_no.is_(None))
                .where(*(table.c[key] == bindparam(f"k_{key}") for key in keys))
                .values(retired_no=self._no, retired_at=self._at)
            )
            self._many(retire, [{f"k_{key}": row[key] for key in keys} for row in rows])
            self._many(insert(table), rows)
        trait = schema.trait
        clear = (
            update(trait)
            .where(trait.c.owner_id == self._owner_id, trait.c.retired_no.is_(None))
            .where(trait.c.dimension == bindparam("k_dimension"))
            .values(retired_no=self._no, retired_at=self._at)
        )
        self._many(clear, [{"k_dimension": dimension} for dimension in self._cleared])

    def _write_sources(self) -> None:
        rows = [
            self._row(item=item, item_id=item_id, change_no=self._no, ordinal=ordinal, seq=seq, start=start, end=end)
            for (item, item_id), spans in self._sources.items()
            for ordinal, (seq, start, end) in enumerate(sorted(spans, key=lambda s: (s[0], s[1] or 0, s[2] or 0)))
        ]
        self._many(insert(schema.source), rows)

    def _write_pages(self) -> None:
        table = schema.page
        by_columns: dict[tuple[str, ...], list[Row]] = {}
        for page_id, values in self._page_updates.items():
            by_columns.setdefault(tuple(sorted(values)), []).append({"k_page": page_id, **values})
        for columns, rows in by_columns.items():
            statement = (
                update(table)
                .where(table.c.owner_id == self._owner_id, table.c.page_id == bindparam("k_page"))
                .values(
                    touched_no=self._no,
                    **NO_WAITING,
                    **{column: bindparam(column) for column in columns},
                )
            )
            self._many(statement, rows)

    def _write_segments(self, segment_vectors: Mapping[SegmentId, tuple[str, Vector]]) -> None:
        table = schema.segment
        mine = table.c.owner_id == self._owner_id
        arrivals = self._arrivals()
        touched = self._touched | set(self._placed) | set(segment_vectors)
        known = set(self._connection.scalars(select(table.c.segment_id).where(mine, table.c.segment_id.in_(touched))))
        for segment_id in sorted(touched - known):
            self._opened.append(
                self._row(
                    segment_id=segment_id, opened_no=self._no, touched_no=self._no, visits=0, pages=0, newest_at=0
                )
            )
        self._many(insert(table), self._opened)
        counts = Counter({segment_id: len(pages) for segment_id, pages in self._placed.items()})
        for segment_id in sorted(touched):
            newest = arrivals.get(segment_id, 0)
            values: Row = {
                "touched_no": self._no,
                "pages": table.c.pages + counts[segment_id],
                "newest_at": case((table.c.newest_at < newest, newest), else_=table.c.newest_at),
            }
            if SegmentId(segment_id) in segment_vectors:
                embedder, vector = segment_vectors[SegmentId(segment_id)]
                values |= {"embedder": embedder, "vector_sum": sum_bytes(vector)}
            self._connection.execute(update(table).where(mine, table.c.segment_id == segment_id).values(**values))
        if self._evicted:
            self._connection.execute(
                update(table)
                .where(mine, table.c.segment_id.in_(self._evicted))
                .values(evicted_no=self._no, touched_no=self._no)
            )

    def _arrivals(self) -> dict[str, int]:
        """When the newest page placed into each segment arrived."""
        page = schema.page
        of_page = {page_id: segment_id for segment_id, pages in self._placed.items() for page_id in pages}
        rows = self._connection.execute(
            select(page.c.page_id, page.c.recorded_at).where(
                page.c.owner_id == self._owner_id, page.c.page_id.in_(of_page)
            )
        )
        newest: dict[str, int] = {}
        for page_id, recorded_at in rows if of_page else ():
            segment_id = of_page[page_id]
            newest[segment_id] = max(newest.get(segment_id, 0), recorded_at)
        return newest

    def _write_facts(self) -> None:
        table = schema.fact
        self._many(insert(table), self._facts)
        by_fact: dict[str, Row] = {}
        for values in self._fact_updates:
            by_fact.setdefault(values["id"], {}).update(values)
        by_columns: dict[tuple[str, ...], list[Row]] = {}
        for values in by_fact.values():
            columns = tuple(sorted(column for column in values if column != "id"))
            by_columns.setdefault(columns, []).append({f"k_{column}": value for column, value in values.items()})
        for columns, rows in by_columns.items():
            statement = (
                update(table)
                .where(table.c.owner_id == self._owner_id, table.c.fact_id == bindparam("k_id"))
                .values({column: bindparam(f"k_{column}") for column in columns})
            )
            self._many(statement, rows)


def forget_derived(connection: Connection, owner_id: OwnerId) -> None:
    """Empty an owner's derived tables and set its pages back to how they came in; the logs stay."""
    for table in schema.DERIVED:
        connection.execute(delete(table).where(table.c.owner_id == owner_id))
    connection.execute(
        update(schema.page)
        .where(schema.page.c.owner_id == owner_id)
        .values(annotated_seq=0, analysed_seq=0, chain_id=None, segment_id=None, touched_no=0, **NO_WAITING)
    )
