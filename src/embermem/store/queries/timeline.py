"""All versions of what a recall looks at, read at once: any moment is then a choice among them (index/past.py)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from sqlalchemy import Table, select
from sqlalchemy.engine import Connection, Row

from embermem.core.types import (
    Fact,
    FactId,
    OwnerId,
    PageId,
    PersonRelation,
    ProfileField,
    SegmentId,
    Source,
    Trait,
)
from embermem.protocols import PersonaTimeline, Placing, SegmentTimeline, Version
from embermem.store import schema
from embermem.store.codec import from_json, moment
from embermem.store.queries import reads
from embermem.store.queries.persona import fact_from, field_from, relation_from, select_states, trait_from
from embermem.store.queries.reads import SOURCES, source_from
from embermem.store.queries.segment_texts import text_versions
from embermem.store.transactions import Transactions

_SourcesOf = Mapping[tuple[str, str], Mapping[int, Mapping[Source, str | None]]]
"""By an item's kind and id, the sources that each change gave it, in the order of the changes; each with the metadata
of its utterance, as they are stored."""


class Timelines(Transactions):
    """Readers of an owner's past as a whole."""

    def segment_timeline(self, owner_id: OwnerId, *, summaries: bool = False) -> SegmentTimeline:
        segment = schema.segment.c
        with self._read() as c:
            texts = _texts(c, owner_id, summaries=summaries)
            return SegmentTimeline(
                revision=_revision(c, owner_id),
                placings=_placings(c, owner_id),
                keywords=_keywords(texts.words, _evolved(c, owner_id)),
                evicted={
                    SegmentId(row.segment_id): row.evicted_no
                    for row in c.execute(
                        select(segment.segment_id, segment.evicted_no).where(
                            segment.owner_id == owner_id, segment.evicted_no.is_not(None)
                        )
                    )
                },
                summaries=tuple(texts.summaries),
            )

    def persona_timeline(self, owner_id: OwnerId) -> PersonaTimeline:
        with self._read() as c:
            told = _sources(c, owner_id)
            return PersonaTimeline(
                revision=_revision(c, owner_id),
                facts=_facts(c, owner_id, told),
                conflicts=_conflicts(c, owner_id),
                profile=tuple(_line(row, told) for row in _rows(c, owner_id, schema.profile)),
                traits=tuple(_trait(row, told) for row in _rows(c, owner_id, schema.trait)),
                relations=tuple(_relation(row, told) for row in _rows(c, owner_id, schema.person)),
            )


def _revision(c: Connection, owner_id: OwnerId) -> int:
    return c.scalar(select(schema.owner.c.revision).where(schema.owner.c.owner_id == owner_id)) or 0


def _rows(c: Connection, owner_id: OwnerId, table: Table) -> Sequence[Row[Any]]:
    query = select(table).where(table.c.owner_id == owner_id)
    return c.execute(query.order_by(table.c.change_no, *table.primary_key.columns)).all()


def _placings(c: Connection, owner_id: OwnerId) -> tuple[Version[Placing], ...]:
    table = schema.membership.c
    columns = (table.page_id, table.segment_id, table.change_no, table.retired_no, table.recorded_at)
    rows = c.execute(select(*columns).where(table.owner_id == owner_id))
    return tuple(
        Version(
            item=Placing(page_id=PageId(row[0]), segment_id=SegmentId(row[1]), at=moment(row[4])),
            no=row[2],
            until=row[3],
        )
        for row in rows
    )


# ------------------------------------------------------------------------------------------------------------ segments


_Words = Mapping[str, Sequence[Version[tuple[str, ...]]]]
"""By segment, the keywords of its versions."""


def _keywords(said: _Words, evolved: _Words) -> tuple[Version[tuple[SegmentId, tuple[str, ...]]], ...]:
    """A segment's keywords are those of its text, then those that it evolved to."""
    return tuple(
        Version(item=(SegmentId(name), one.item), no=one.no, until=one.until)
        for name, versions in said.items()
        for one in (_both(versions, evolved[name]) if name in evolved else versions)
    )


@dataclass(slots=True)
class _Texts:
    """What a recall looks at of the versions of segments' texts."""

    words: dict[str, list[Version[tuple[str, ...]]]] = field(default_factory=dict)
    summaries: list[Version[tuple[SegmentId, str]]] = field(default_factory=list)


def _texts(c: Connection, owner_id: OwnerId, *, summaries: bool) -> _Texts:
    found = _Texts()
    for one in text_versions(c, owner_id):
        segment_id, no, until = one.text.segment_id, one.no, one.until
        words = tuple(count.word for count in one.text.keywords)
        found.words.setdefault(segment_id, []).append(Version(item=words, no=no, until=until))
        if summaries:
            summary = reads.summary_of(one.text.parts)
            found.summaries.append(Version(item=(segment_id, summary), no=no, until=until))
    return found


def _evolved(c: Connection, owner_id: OwnerId) -> _Words:
    of, found = schema.evolution.c, dict[str, list[Version[tuple[str, ...]]]]()
    query = select(of.segment_id, of.change_no, of.retired_no, of.keywords).where(of.owner_id == owner_id)
    for row in c.execute(query.order_by(of.segment_id, of.change_no)):
        words = from_json(row.keywords, tuple[str, ...])
        found.setdefault(row.segment_id, []).append(Version(item=words, no=row.change_no, until=row.retired_no))
    return found


def _both(
    said: Sequence[Version[tuple[str, ...]]], evolved: Sequence[Version[tuple[str, ...]]]
) -> Iterable[Version[tuple[str, ...]]]:
    """Two columns of versions as one, a version for each change of either."""
    moved = {one.no for one in (*said, *evolved)} | {one.until for one in (*said, *evolved) if one.until is not None}
    numbers = sorted(moved)
    for no, until in zip(numbers, [*numbers[1:], None], strict=True):
        words = [one.item for side in (said, evolved) for one in side if one.no <= no and _stands(one, no)]
        if any(one.no <= no and _stands(one, no) for one in said):
            yield Version(item=tuple(dict.fromkeys(word for some in words for word in some)), no=no, until=until)


def _stands(version: Version[Any], no: int) -> bool:
    return version.until is None or version.until > no


# ------------------------------------------------------------------------------------------------------------- persona


def _sources(c: Connection, owner_id: OwnerId) -> _SourcesOf:
    source = schema.source.c
    rows = c.execute(
        SOURCES.add_columns(source.item)
        .where(source.owner_id == owner_id, source.item.in_(("fact", "person", "profile", "trait")))
        .order_by(source.item, source.item_id, source.change_no, source.ordinal)
    )
    told: dict[tuple[str, str], dict[int, Mapping[Source, str | None]]] = {}
    for (item, item_id, no), some in groupby(rows, key=lambda row: (row.item, row.item_id, row.change_no)):
        told.setdefault((item, item_id), {})[no] = {source_from(row): row.metadata for row in some}
    return told


def _facts(c: Connection, owner_id: OwnerId, told: _SourcesOf) -> tuple[Version[Fact], ...]:
    """Each fact as each change that told of it left it."""
    state = schema.fact_state.c
    query = (
        select_states(owner_id)
        .add_columns(state.change_no.label("state_no"), state.retired_no.label("state_until"))
        .order_by(state.fact_id, state.change_no)
    )
    made: list[Version[Fact]] = []
    for fact_id, some in groupby(c.execute(query), key=lambda row: row.fact_id):
        by_change = told.get(("fact", fact_id), {})
        for row in some:
            sources = {one: said for no, of in by_change.items() if no <= row.state_no for one, said in of.items()}
            known = fact_from(row, sources)
            made.append(Version(item=known, no=row.state_no, until=row.state_until, order=row.confirmed_no))
    return tuple(made)


def _conflicts(c: Connection, owner_id: OwnerId) -> tuple[Version[tuple[FactId, FactId]], ...]:
    table = schema.conflict.c
    rows = c.execute(
        select(table.fact_id, table.other_id, table.change_no, table.retired_no)
        .where(table.owner_id == owner_id)
        .order_by(table.change_no, table.fact_id, table.other_id)
    )
    return tuple(
        Version(item=(FactId(row.fact_id), FactId(row.other_id)), no=row.change_no, until=row.retired_no)
        for row in rows
    )


def _line(row: Row[Any], told: _SourcesOf) -> Version[ProfileField]:
    line = field_from(row, tuple(told.get(("profile", f"{row.whose}.{row.name}"), {}).get(row.change_no, ())))
    return Version(item=line, no=row.change_no, until=row.retired_no, gone=row.value is None)


def _relation(row: Row[Any], told: _SourcesOf) -> Version[PersonRelation]:
    name = ".".join((row.relation, row.one, row.other))
    relation = relation_from(row, tuple(told.get(("person", name), {}).get(row.change_no, ())))
    return Version(item=relation, no=row.change_no, until=row.retired_no, gone=row.holds is None)


def _trait(row: Row[Any], told: _SourcesOf) -> Version[Trait]:
    trait = trait_from(row, tuple(told.get(("trait", row.dimension), {}).get(row.change_no, ())))
    return Version(item=trait, no=row.change_no, until=row.retired_no)
