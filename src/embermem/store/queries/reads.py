"""Rows into records: what the store's readers share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import Select, and_, func, or_, select, true
from sqlalchemy.engine import Connection, Row

from embermem.core.changes import KeywordCount, SummaryPart
from embermem.core.paging import tier_of
from embermem.core.types import (
    ChainId,
    Owner,
    OwnerId,
    Page,
    PageId,
    PageView,
    PersonaChange,
    Role,
    Segment,
    SegmentId,
    Source,
    ThreadId,
    Utterance,
    UtteranceId,
)
from embermem.protocols import NotedPage, OwnerState, SegmentState
from embermem.store import schema
from embermem.store.codec import from_json, moment, sum_from, vector_from

if TYPE_CHECKING:
    from embermem.core.types import Vector

CHUNK = 500
"""Ids in one IN list; SQLite's bound on parameters is far above."""
_FEW = 50
"""Items in a statement that looks up each of them under each of their changes' numbers."""


def chunks(items: Sequence[Any], size: int = CHUNK) -> Iterable[Sequence[Any]]:
    """The items, `size` at a time."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def one_of(column: Any, some: Sequence[Any]) -> Any:
    """Whether a column has one of some values. For a single one SQLAlchemy need not write the statement anew."""
    return column == some[0] if len(some) == 1 else column.in_(some)


def owner_from(row: Row[Any]) -> Owner:
    """An owner's identity."""
    return Owner(id=OwnerId(row.owner_id), user=row.user, agent=row.agent)


def owner_state_from(row: Row[Any]) -> OwnerState:
    """An owner's row."""
    return OwnerState(
        owner=owner_from(row),
        timezone=row.timezone,
        seq=row.seq,
        pages=row.pages,
        revision=row.revision,
        embedded_seq=row.embedded_seq,
        due_at=None if row.due_at is None else moment(row.due_at),
        failures=row.failures,
        error=row.error,
    )


def unembedded(connection: Connection, owner_id: OwnerId) -> int:
    """How many of an owner's utterances have no vector yet. Their numbers may have gaps."""
    owner, said = schema.owner, schema.utterance
    upto = select(owner.c.embedded_seq).where(owner.c.owner_id == owner_id).scalar_subquery()
    query = select(func.count()).select_from(said).where(said.c.owner_id == owner_id, said.c.seq > upto)
    return connection.scalar(query) or 0


def utterance_from(row: Row[Any]) -> Utterance:
    """An utterance."""
    return Utterance(
        id=UtteranceId(row.id),
        seq=row.seq,
        page_id=PageId(row.page_id),
        thread=ThreadId(row.thread),
        role=Role(row.role),
        speaker=row.speaker,
        text=row.text,
        said_at=moment(row.said_at, row.said_offset),
        recorded_at=moment(row.recorded_at),
    )


# --------------------------------------------------------------------------------------------------------------- pages


def select_pages(owner_id: OwnerId) -> Select[Any]:
    """Pages with their segment's eviction, their owner's page count and their note's keywords."""
    page, segment, owner, note = schema.page, schema.segment, schema.owner, schema.note
    return (
        select(page, segment.c.evicted_no, owner.c.pages.label("owner_pages"), note.c.keywords)
        .join(owner, owner.c.owner_id == page.c.owner_id)
        .outerjoin(segment, and_(segment.c.owner_id == page.c.owner_id, segment.c.segment_id == page.c.segment_id))
        .outerjoin(
            note,
            and_(note.c.owner_id == page.c.owner_id, note.c.page_id == page.c.page_id, note.c.retired_no.is_(None)),
        )
        .where(page.c.owner_id == owner_id)
    )


def pages_from(
    connection: Connection, owner_id: OwnerId, rows: Sequence[Row[Any]], short: int, *, said: Sequence[Any] = ()
) -> tuple[Page, ...]:
    """Pages with their utterances: those of some conditions."""
    of: dict[str, list[Utterance]] = {}
    for ids in chunks([row.page_id for row in rows]):
        found = connection.execute(
            select(schema.utterance)
            .where(schema.utterance.c.owner_id == owner_id, one_of(schema.utterance.c.page_id, ids), *said)
            .order_by(schema.utterance.c.page_id, schema.utterance.c.seq)  # the index's order: by seq alone reads all
        )
        for row in found:
            of.setdefault(row.page_id, []).append(utterance_from(row))
    return tuple(
        Page(
            id=PageId(row.page_id),
            no=row.no,
            thread=ThreadId(row.thread),
            utterances=tuple(of[row.page_id]),
            tier=tier_of(
                placed=row.segment_id is not None,
                archived=row.evicted_no is not None,
                no=row.no,
                pages=row.owner_pages,
                short=short,
            ),
            segment_id=None if row.segment_id is None else SegmentId(row.segment_id),
            chain_id=None if row.chain_id is None else ChainId(row.chain_id),
            keywords=() if row.keywords is None else from_json(row.keywords, tuple[str, ...]),
            error=row.error,
            expires_at=time_from(row.expires_at, row.expires_offset),
        )
        for row in rows
    )


def page_views(
    connection: Connection, owner_id: OwnerId, rows: Sequence[Row[Any]], short: int, embedder: str
) -> tuple[PageView, ...]:
    """Pages with their vectors: the normalised mean of their utterances' vectors."""
    from embermem.core.vectors import page_vector

    pages = pages_from(connection, owner_id, rows, short)
    vectors: dict[int, Vector] = {}
    for seqs in chunks([u.seq for page in pages for u in page.utterances]):
        table = schema.embedding
        found = connection.execute(
            select(table.c.seq, table.c.data).where(
                table.c.owner_id == owner_id, table.c.seq.in_(seqs), table.c.embedder == embedder
            )
        )
        vectors.update((row.seq, vector_from(row.data)) for row in found)
    views = []
    for page in pages:
        own = [vectors[u.seq] for u in page.utterances if u.seq in vectors]
        views.append(PageView(page=page, vector=page_vector(np.stack(own)) if own else None))
    return tuple(views)


def noted_pages(
    connection: Connection, owner_id: OwnerId, rows: Sequence[Row[Any]], short: int, embedder: str
) -> tuple[NotedPage, ...]:
    """Pages with their vectors and their notes; rows are of `select_pages` with the note's columns."""
    views = page_views(connection, owner_id, rows, short, embedder)
    return tuple(
        NotedPage(
            view=view,
            chain_id=view.page.chain_id,
            keywords=view.page.keywords,
            change=PersonaChange() if row.proposals is None else from_json(row.proposals, PersonaChange),
            attempts=row.attempts,
            retry_at=None if row.retry_at is None else moment(row.retry_at),
        )
        for view, row in zip(views, rows, strict=True)
    )


# ------------------------------------------------------------------------------------------------------------ segments


EVOLVED = tuple(schema.evolution.c[name].label(f"evolved_{name}") for name in ("keywords", "tags", "context"))
"""What of an evolution is read beside a segment's text."""


def select_segments(owner_id: OwnerId) -> Select[Any]:
    """Segments with their text as it stands, and what newer memories made of them."""
    segment, text, evolution = schema.segment, schema.segment_text, schema.evolution
    return (
        select(segment, text, *EVOLVED)
        .join(
            text,
            and_(
                text.c.owner_id == segment.c.owner_id,
                text.c.segment_id == segment.c.segment_id,
                text.c.retired_no.is_(None),
            ),
        )
        .outerjoin(
            evolution,
            and_(
                evolution.c.owner_id == segment.c.owner_id,
                evolution.c.segment_id == segment.c.segment_id,
                evolution.c.retired_no.is_(None),
            ),
        )
        .where(segment.c.owner_id == owner_id)
        .order_by(segment.c.opened_no, segment.c.segment_id)
    )


def evolved_from(row: Row[Any]) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    """Keywords, tags and context of the columns `EVOLVED`; all empty where a segment never evolved."""
    if row.evolved_keywords is None:
        return (), (), ""
    keywords, tags = (from_json(text, tuple[str, ...]) for text in (row.evolved_keywords, row.evolved_tags))
    return keywords, tags, row.evolved_context


def unanalysed_counts(connection: Connection, owner_id: OwnerId) -> dict[str, int]:
    """L_interaction: each segment's pages with something not yet analysed."""
    page = schema.page
    found = connection.execute(
        select(page.c.segment_id, func.count().label("pages"))
        .where(page.c.owner_id == owner_id, page.c.segment_id.is_not(None), page.c.analysed_seq < page.c.last_seq)
        .group_by(page.c.segment_id)
    )
    return {row.segment_id: row.pages for row in found}


def segment_from(
    row: Row[Any],
    embedder: str,
    unanalysed: int = 0,
    page_ids: tuple[PageId, ...] = (),
    sources: tuple[Source, ...] = (),
) -> Segment:
    """A segment. Its vector is given if it is of this embedder."""
    parts = from_json(row.parts, tuple[SummaryPart, ...])
    keywords = from_json(row.keywords, tuple[KeywordCount, ...])
    embedding = None
    if row.vector_sum is not None and row.embedder == embedder:
        total = sum_from(row.vector_sum)
        length = float(np.linalg.norm(total))
        embedding = total / np.float32(length) if length else total
    evolved, tags, context = evolved_from(row)
    return Segment(
        id=SegmentId(row.segment_id),
        summary="\n".join(part.text for part in parts),
        keywords=tuple(dict.fromkeys((*(count.word for count in keywords), *evolved))),
        page_ids=page_ids,
        visits=row.visits,
        unanalysed=unanalysed,
        last_access=moment(max(row.newest_at, row.visited_at or 0)),
        archived=row.evicted_no is not None,
        change_no=row.change_no,
        recorded_at=moment(row.recorded_at),
        said_from=moment(row.said_from, row.said_from_offset),
        said_to=moment(row.said_to, row.said_to_offset),
        sources=sources,
        tags=tags,
        context=context,
        embedding=embedding,
    )


def segment_state_from(row: Row[Any], embedder: str, unanalysed: int) -> SegmentState:
    """A segment as placing sees it."""
    evolved, tags, context = evolved_from(row)
    return SegmentState(
        id=SegmentId(row.segment_id),
        parts=from_json(row.parts, tuple[SummaryPart, ...]),
        keywords=from_json(row.keywords, tuple[KeywordCount, ...]),
        said_from=moment(row.said_from, row.said_from_offset),
        said_to=moment(row.said_to, row.said_to_offset),
        visits=row.visits,
        unanalysed=unanalysed,
        last_access=moment(max(row.newest_at, row.visited_at or 0)),
        vector_sum=sum_from(row.vector_sum) if row.vector_sum is not None and row.embedder == embedder else None,
        evolved=evolved,
        tags=tags,
        context=context,
    )


# ------------------------------------------------------------------------------------------------- sources, versions


_Sources = dict[str, tuple[Source, ...]]


def sources_of(connection: Connection, owner_id: OwnerId, item: str, versions: Mapping[str, int]) -> _Sources:
    """By item id, the source utterances of its version in the given change."""
    source = schema.source
    found: dict[str, list[Source]] = {}
    for ids in chunks(sorted(versions), _FEW):
        numbers = {versions[item_id] for item_id in ids}
        query = select_sources(owner_id, item, ids).where(source.c.change_no.in_(numbers))
        for row in connection.execute(query):
            if row.change_no == versions[row.item_id]:
                found.setdefault(row.item_id, []).append(source_from(row))
    return {item_id: tuple(sources) for item_id, sources in found.items()}


def select_sources(owner_id: OwnerId, item: str, ids: Sequence[str]) -> Select[Any]:
    """The sources of items of a kind, by all changes."""
    source, utterance = schema.source, schema.utterance
    return (
        select(source.c.item_id, source.c.change_no, source.c.seq, source.c.start, source.c.end, utterance.c.id)
        .join(utterance, and_(utterance.c.owner_id == source.c.owner_id, utterance.c.seq == source.c.seq))
        .where(source.c.owner_id == owner_id, source.c.item == item, source.c.item_id.in_(ids))
        .order_by(source.c.item_id, source.c.change_no, source.c.ordinal)
    )


def source_from(row: Row[Any]) -> Source:
    """A source."""
    return Source(seq=row.seq, utterance_id=UtteranceId(row.id), start=row.start, end=row.end)


def stood(table: Any, upto: int | None) -> Any:
    """Whether a version stands, or stood at change `upto`."""
    if upto is None:
        return table.c.retired_no.is_(None)
    return and_(table.c.change_no <= upto, or_(table.c.retired_no.is_(None), table.c.retired_no > upto))


def known_by(table: Any, upto: int | None) -> Any:
    """Whether a version was written by change `upto`, whether it stands or not."""
    return true() if upto is None else table.c.change_no <= upto


def time_from(value: int | None, minutes: int | None = 0) -> datetime | None:
    """A time that may be missing, in its zone."""
    return None if value is None else moment(value, minutes or 0)
