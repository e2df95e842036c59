"""Rows into records: what the store's readers share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import ColumnElement, Select, and_, bindparam, false, func, literal, or_, select
from sqlalchemy.engine import Connection, Row

from embermem.core.changes import KeywordCount, SegmentWritten, SummaryPart
from embermem.core.config import SHOWN_KEYWORDS
from embermem.core.paging import tier_of
from embermem.core.state import NO_VISITS, Visits, sorted_sources
from embermem.core.types import (
    ChainId,
    DocumentId,
    Owner,
    OwnerId,
    Page,
    PageId,
    PageView,
    Role,
    Segment,
    SegmentId,
    Source,
    Tier,
    Utterance,
    UtteranceOrigin,
    thread_of,
)
from embermem.core.vectors import of_summaries, page_vector
from embermem.protocols import OwnerState, SegmentState
from embermem.store import schema
from embermem.store.codec import from_json, moment, record, shown_from, sum_from, vector_from

if TYPE_CHECKING:
    from embermem.core.types import Vector

DOCUMENT_THREAD = literal(thread_of(DocumentId(""))) + schema.document.c.document_id
"""The thread of a document's passages, beside its row."""
BY_PAGE = schema.utterance, "INDEXED BY ix_utterance_page", "sqlite"
"""A hint: SQLite takes an owner to have few utterances, and would read all of them for those of one page."""
CHUNK = 500
"""Ids in one IN list; SQLite's bound on parameters is far above."""


def chunks(items: Sequence[Any], size: int = CHUNK) -> Iterable[Sequence[Any]]:
    """The items, `size` at a time."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def one_of(column: Any, some: Sequence[Any]) -> Any:
    """Whether a column has one of some values. For a single one SQLAlchemy need not write the statement anew."""
    return column == some[0] if len(some) == 1 else column.in_(some)


def spoke(speakers: Collection[tuple[str, Role]]) -> ColumnElement[bool]:
    """Whether an utterance is of one of these, by name and role; one condition for each role, however many they are."""
    said, names = schema.utterance.c, {role: sorted(name for name, one in speakers if one is role) for role in Role}
    own = (and_(said.role == role.value, said.speaker.in_(some)) for role, some in names.items() if some)
    return or_(false(), *own)


def owner_from(row: Row[Any]) -> Owner:
    """An owner's identity."""
    return record(Owner, row, id=row.owner_id)


def owner_state_from(row: Row[Any]) -> OwnerState:
    """An owner's row."""
    return record(OwnerState, row, owner=owner_from(row))


def unembedded(connection: Connection, owner_id: OwnerId) -> int:
    """How many of an owner's utterances have no vector yet. Their numbers may have gaps."""
    owner, said = schema.owner, schema.utterance
    upto = select(owner.c.embedded_seq).where(owner.c.owner_id == owner_id).scalar_subquery()
    query = select(func.count()).select_from(said).where(said.c.owner_id == owner_id, said.c.seq > upto)
    return connection.scalar(query) or 0


def utterance_from(row: Row[Any]) -> Utterance:
    """An utterance."""
    origin = Role(row.role).origin if row.origin is None else UtteranceOrigin(row.origin)
    return record(Utterance, row, origin=origin)


# --------------------------------------------------------------------------------------------------------------- pages


def same(one: Any, other: Any, *names: str) -> ColumnElement[bool]:
    """Whether rows of two tables are of one owner, and have the same values in some columns."""
    return and_(one.c.owner_id == other.c.owner_id, *(one.c[name] == other.c[name] for name in names))


_PAGES = (
    select(schema.page, schema.segment.c.evicted_no, schema.owner.c.pages.label("owner_pages"))
    .join(schema.owner, same(schema.owner, schema.page))
    .outerjoin(schema.segment, same(schema.segment, schema.page, "segment_id"))
)


def select_pages(owner_id: Any) -> Select[Any]:
    """Pages with their segment's eviction and their owner's page count."""
    return _PAGES.where(schema.page.c.owner_id == owner_id)


@dataclass(frozen=True, kw_only=True, slots=True)
class PageStanding:
    """Where a page stands, or stood: in which segment, which may be in the archive, and which chain, with the keywords
    of its note; how many pages the owner has; and why it waits."""

    segment_id: SegmentId | None
    archived: bool
    chain_id: ChainId | None
    keywords: tuple[str, ...]
    pages: int
    error: str | None = None

    @classmethod
    def now(cls, row: Row[Any]) -> PageStanding:
        """Of a row of `select_pages`."""
        return cls(
            segment_id=row.segment_id,
            archived=row.evicted_no is not None,
            chain_id=row.chain_id,
            keywords=() if row.keywords is None else from_json(row.keywords, tuple[str, ...]),
            pages=row.owner_pages,
            error=row.error,
        )

    def tier(self, no: int, short: int) -> Tier | None:
        """The tier of the page, which has a number, with `short` pages of short-term memory."""
        placed = self.segment_id is not None
        return tier_of(placed=placed, archived=self.archived, no=no, pages=self.pages, short=short)


def pages_from(
    connection: Connection,
    owner_id: OwnerId,
    rows: Sequence[Row[Any]],
    short: int,
    *,
    said: Sequence[Any] = (),
    standing: Callable[[Row[Any]], PageStanding] = PageStanding.now,
) -> tuple[Page, ...]:
    """Pages with their utterances: those of some conditions; `standing` says where each stands."""
    of: dict[str, list[Utterance]] = {}
    query = _SAID_OF.where(*said) if said else _SAID_OF
    for ids in chunks([row.page_id for row in rows]):
        for row in connection.execute(query, {"of": owner_id, "pages": ids}):
            of.setdefault(row.page_id, []).append(utterance_from(row))
    return tuple(_page_from(row, of[row.page_id], short, standing(row)) for row in rows)


_SAID_OF = (
    select(schema.utterance)
    .where(
        schema.utterance.c.owner_id == bindparam("of"),
        schema.utterance.c.page_id.in_(bindparam("pages", expanding=True)),
    )
    .order_by(schema.utterance.c.page_id, schema.utterance.c.seq)
    .with_hint(*BY_PAGE)
)
_VECTORS_OF = select(schema.embedding.c.seq, schema.embedding.c.data).where(
    schema.embedding.c.owner_id == bindparam("of"),
    schema.embedding.c.seq.in_(bindparam("seqs", expanding=True)),
    schema.embedding.c.embedder == bindparam("made_by"),
)
"""Statements that every step of background work asks, made once."""


def _page_from(row: Row[Any], said: Sequence[Utterance], short: int, standing: PageStanding) -> Page:
    return record(
        Page,
        row,
        id=row.page_id,
        utterances=tuple(said),
        tier=standing.tier(row.no, short),
        segment_id=standing.segment_id,
        chain_id=standing.chain_id,
        keywords=standing.keywords,
        error=standing.error,
    )


def page_views(
    connection: Connection, owner_id: OwnerId, rows: Sequence[Row[Any]], short: int, embedder: str
) -> tuple[PageView, ...]:
    """Pages with their vectors: the normalised mean of their utterances' vectors."""
    pages = pages_from(connection, owner_id, rows, short)
    vectors: dict[int, Vector] = {}
    for seqs in chunks([u.seq for page in pages for u in page.utterances]):
        found = connection.execute(_VECTORS_OF, {"of": owner_id, "seqs": seqs, "made_by": embedder})
        vectors.update((row.seq, vector_from(row.data)) for row in found)
    views = []
    for page in pages:
        own = [vectors[u.seq] for u in page.utterances if u.seq in vectors]
        views.append(PageView(page=page, vector=page_vector(np.stack(own)) if own else None))
    return tuple(views)


def segment_page_vectors(
    connection: Connection, owner_id: OwnerId, segment_id: str, embedder: str
) -> list[Vector | None]:
    """The vectors of a segment's pages, as `page_views` gives them, in order; None of a page that has none."""
    page, said, table = schema.page, schema.utterance, schema.embedding
    made = and_(same(table, said, "seq"), table.c.embedder == embedder)
    rows = connection.execute(
        select(page.c.no, table.c.data)
        .join(said, same(said, page, "page_id"))
        .outerjoin(table, made)
        .where(page.c.owner_id == owner_id, page.c.segment_id == segment_id)
        .order_by(page.c.no, said.c.seq)
    )
    of: dict[int, list[Vector]] = {}
    for no, data in rows:
        of.setdefault(no, []).extend(() if data is None else [vector_from(data)])
    return [page_vector(np.stack(own)) if own else None for own in of.values()]


# ------------------------------------------------------------------------------------------------------------ segments


_SEGMENTS = (
    select(schema.segment)
    .where(schema.segment.c.parts.is_not(None))
    .order_by(schema.segment.c.opened_no, schema.segment.c.segment_id)
)


def select_segments(owner_id: OwnerId) -> Select[Any]:
    """Segments that have a text: all but those that ended."""
    return _SEGMENTS.where(schema.segment.c.owner_id == owner_id)


def words_of(counted: Iterable[KeywordCount]) -> tuple[str, ...]:
    """The words that a segment is counted with."""
    return tuple(count.word for count in counted)


def unanalysed_counts(connection: Connection, owner_id: OwnerId, ids: Sequence[str] | None = None) -> dict[str, int]:
    """L_interaction: each segment's pages with something not yet analysed; of all segments, or of some."""
    page = schema.page
    chosen = page.c.segment_id.is_not(None) if ids is None else page.c.segment_id.in_(ids)
    found = connection.execute(
        select(page.c.segment_id, func.count().label("pages"))
        .where(page.c.owner_id == owner_id, chosen, page.c.analysed_seq < page.c.last_seq)
        .group_by(page.c.segment_id)
    )
    return {row.segment_id: row.pages for row in found}


def shown_keywords(text: SegmentWritten) -> tuple[str, ...]:
    """The keywords of a segment that are shown: those chosen when its text was written, the most frequent ones where
    none were; at most eight."""
    return (words_of(text.keywords) if text.shown is None else text.shown)[:SHOWN_KEYWORDS]


def segment_from(
    row: Row[Any],
    embedder: str,
    counted: Mapping[str, Any] | None = None,
    page_ids: tuple[PageId, ...] = (),
) -> Segment:
    """A segment; with its pages also what it rests on. Its vector is given if it is of this embedder, of whichever
    kind."""
    text = text_from(row)
    embedding = None
    if (total := _vector_from(row, embedder)) is not None:
        length = float(np.linalg.norm(total))
        embedding = total / np.float32(length) if length else total
    of = accessed(row.newest_at, 0, NO_VISITS) if counted is None else counted
    at, archived = moment(row.recorded_at), row.evicted_no is not None
    return segment_of(text, row.change_no, at, page_ids, archived=archived, embedding=embedding, **of)


def segment_of(text: SegmentWritten, no: int, recorded_at: datetime, page_ids: Sequence[PageId], **of: Any) -> Segment:
    """A segment with a text that a change wrote; with its pages also what it rests on."""
    return Segment(
        id=text.segment_id,
        summary=summary_of(text.parts),
        title=text.title or "",
        keywords=shown_keywords(text),
        counted=words_of(text.keywords),
        page_ids=tuple(page_ids),
        change_no=no,
        recorded_at=recorded_at,
        said_from=text.said_from,
        said_to=text.said_to,
        sources=sources_in(text.parts) if page_ids else (),
        **of,
    )


def segment_state_from(row: Row[Any], embedder: str, counted: Mapping[str, Any]) -> SegmentState:
    """A segment as placing sees it."""
    text = text_from(row)
    return record(
        SegmentState,
        row,
        id=row.segment_id,
        parts=text.parts,
        keywords=text.keywords,
        title=text.title or "",
        shown=text.shown or (),
        **counted,
        vector_sum=_vector_from(row, embedder),
    )


def accessed(newest_at: int, unanalysed: int, visits: Visits) -> Mapping[str, Any]:
    """What a segment counts (Eq. 3); its last access is when its newest page came, unless a visit was later."""
    came = moment(newest_at)
    counted = {"unanalysed": unanalysed, "visits": visits.times, "visited_at": visits.at}
    return counted | {"last_access": max(came, visits.at or came)}


def _vector_from(row: Row[Any], embedder: str) -> Vector | None:
    ours = row.vector_sum is not None and row.embedder in (embedder, of_summaries(embedder))
    return sum_from(row.vector_sum) if ours else None


def text_from(row: Row[Any]) -> SegmentWritten:
    """The text in a segment's row."""
    keywords = from_json(row.keywords, tuple[KeywordCount, ...])
    shown = None if row.shown is None else shown_from(row.shown, keywords)
    parts = from_json(row.parts, tuple[SummaryPart, ...])
    return record(SegmentWritten, row, parts=parts, keywords=keywords, shown=shown)


def summary_of(parts: Sequence[SummaryPart]) -> str:
    """A segment's summary, of its parts."""
    return "\n".join(part.text for part in parts)


def sources_in(parts: Sequence[SummaryPart]) -> tuple[Source, ...]:
    """What a segment's text rests on, in order of arrival, each once."""
    return sorted_sources([source for part in parts for source in part.sources])


def time_from(value: int | None, minutes: int | None = 0) -> datetime | None:
    """A time that may be missing, in its zone."""
    return None if value is None else moment(value, minutes or 0)
