"""What an owner's memory holds of a span of time: counts in buckets, and the largest of what they count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Integer, Select, and_, case, false, func, literal_column, or_, select
from sqlalchemy.engine import Connection

from embermem.core.changes import Cause
from embermem.core.types import Fact, FactId, OwnerId, Role, Segment, SegmentId, Timeline
from embermem.protocols import NOW, FactSelection, TimelineSelection
from embermem.store import schema
from embermem.store.codec import micros, moment
from embermem.store.engines.packed_text import Plain
from embermem.store.queries import reads
from embermem.store.queries.persona import facts
from embermem.store.queries.segments import segments_now
from embermem.store.transactions import Transactions

CORRECTING = (Cause.CORRECTION, Cause.FORGETTING, Cause.RETENTION, Cause.UNDO)
"""Changes that a timeline tells of: what was learnt is told by the facts themselves."""
_ONCE = {"compiled_cache": None}
"""Statements that hold their edges are kept for no other span."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Asked:
    """A selection, of whose memory it is, and its edges in microseconds."""

    owner_id: OwnerId
    selection: TimelineSelection
    edges: Sequence[int]

    def within(self, at: Any) -> ColumnElement[bool]:
        """Whether a time lies in the span."""
        return and_(at >= self.edges[0], at < self.edges[-1])

    def bucket(self, at: str) -> Any:
        """The number of the bucket that holds a time of the span: a tree of comparisons, so that a row takes few. It is
        written as SQL at once, since a tree of expressions takes longer to build than all else."""

        def among(low: int, high: int) -> str:
            if high - low == 1:
                return str(low)
            middle = (low + high) // 2
            return f"CASE WHEN {at} < {self.edges[middle]} THEN {among(low, middle)} ELSE {among(middle, high)} END"

        return literal_column(among(0, len(self.edges) - 1), Integer)


class Spans(Transactions):
    """Reader of what was said, learnt and corrected in a span of time."""

    def timeline(self, owner_id: OwnerId, selection: TimelineSelection) -> Timeline:
        """What the selection finds; facts with their subjects as they were said, segments whole."""
        said = schema.utterance.c
        with self._read() as c:
            every = _said(owner_id, TimelineSelection(edges=(), now=selection.now, limit=0, without=selection.without))
            first, last = c.execute(select(func.min(said.said_at), func.max(said.said_at)).where(*every)).one()
            if first is None and not selection.edges:
                return Timeline()
            edges = [micros(one) for one in selection.edges] or [first, last + 1]
            asked = _Asked(owner_id=owner_id, selection=selection, edges=edges)
            segments, segments_found = _segments(c, asked)
            known, facts_found = _facts(c, asked)
            changes, changes_found = _changes(c, asked)
            counts = _counts(c, asked, said.said_at, _said(owner_id, selection))
            return Timeline(
                edges=tuple(selection.edges) or (moment(first), _just_after(moment(last))),
                said_from=None if first is None else moment(first),
                said_to=None if last is None else moment(last),
                said=counts,
                began=_counts(c, asked, _BEGAN, _known(asked)),
                ended=_counts(c, asked, _ENDED, _known(asked)),
                segments=segments,
                facts=known,
                changes=changes,
                said_found=sum(counts),
                segments_found=segments_found,
                facts_found=facts_found,
                changes_found=changes_found,
                held=_held(c, asked),
            )

    def named(self, owner_id: OwnerId) -> tuple[frozenset[str], frozenset[tuple[str, Role]]]:
        """The subjects of all facts as they were said, and everybody who said something, by name and role."""
        fact, said = schema.fact.c, schema.utterance.c
        with self._read() as c:
            subjects = c.scalars(select(fact.subject).where(fact.owner_id == owner_id).distinct())
            spoke = c.execute(select(said.speaker, said.role).where(said.owner_id == owner_id).distinct())
            return frozenset(subjects), frozenset((row.speaker, Role(row.role)) for row in spoke)


def _just_after(at: datetime) -> datetime:
    """The next moment; of the last one that there is, itself."""
    return at if at == datetime.max.replace(tzinfo=UTC) else at + timedelta(microseconds=1)


def _counts(c: Connection, asked: _Asked, at: Any, conditions: Sequence[ColumnElement[bool]]) -> tuple[int, ...]:
    bucket = asked.bucket(_sql(at)).label("bucket")
    query = select(bucket, func.count().label("rows")).where(*conditions, asked.within(at)).group_by("bucket")
    found = {row.bucket: row.rows for row in c.execute(query, execution_options=_ONCE)}
    return tuple(found.get(one, 0) for one in range(len(asked.edges) - 1))


def _sql(at: Any) -> str:
    """A time of a row as SQL, its numbers written out."""
    return str(at.compile(compile_kwargs={"literal_binds": True}))


# ------------------------------------------------------------------------------------------------------------ messages


def _said(owner_id: OwnerId, selection: TimelineSelection) -> list[ColumnElement[bool]]:
    """The messages of a selection; passages of documents were said by nobody."""
    said = schema.utterance.c
    found = [said.owner_id == owner_id, said.role != Role.DOCUMENT.value]
    if selection.without:
        found.append(said.page_id.not_in(sorted(selection.without)))
    if selection.thread is not None:
        found.append(said.thread == selection.thread)
    if selection.speakers is not None:
        found.append(_spoke(selection))
    return [*found, *_with(selection.words, said.text)]


def _spoke(selection: TimelineSelection) -> ColumnElement[bool]:
    said = schema.utterance.c
    spoke = (and_(said.speaker == name, said.role == role.value) for name, role in sorted(selection.speakers or ()))
    return or_(false(), *spoke)


def _with(words: Sequence[str], *texts: Any) -> list[ColumnElement[bool]]:
    """Each word stands in one of the texts."""
    return [or_(*(one.icontains(word, autoescape=True) for one in texts)) for word in words]


# ------------------------------------------------------------------------------------------------------------ segments


def _segments(c: Connection, asked: _Asked) -> tuple[tuple[Segment, ...], int]:
    """The largest of which something was said in the span, and how many there are."""
    segment, told, selection = schema.segment, schema.segment_text, asked.selection
    of_text = and_(reads.same(told, segment, "segment_id"), told.c.retired_no.is_(None))
    query = (
        select(segment.c.segment_id)
        .join(told, of_text)
        .where(
            segment.c.owner_id == asked.owner_id,
            segment.c.pages > 0,
            told.c.said_from < asked.edges[-1],
            told.c.said_to >= asked.edges[0],
            *_with(selection.words, told.c.title, Plain(told.c.parts), Plain(told.c.keywords)),
        )
    )
    if selection.thread is not None or selection.speakers is not None:
        query = query.where(segment.c.segment_id.in_(_talked_of(asked)))
    found = c.scalar(select(func.count()).select_from(query.subquery("found"))) or 0
    if not selection.limit:
        return (), found
    order = (segment.c.pages.desc(), told.c.said_to.desc(), segment.c.segment_id)
    ids = [SegmentId(one) for one in c.scalars(query.order_by(*order).limit(selection.limit))]
    by_id = {one.id: one for one in segments_now(c, asked.owner_id, NOW, None, sorted(ids))}
    return tuple(by_id[one] for one in ids), found


def _talked_of(asked: _Asked) -> Select[Any]:
    """The segments of the thread, or in which the person spoke or is told of."""
    page, said, selection = schema.page, schema.utterance, asked.selection
    conditions = []
    if selection.thread is not None:
        conditions.append(said.c.thread == selection.thread)
    if selection.speakers is not None:
        conditions.append(or_(_spoke(selection), said.c.seq.in_(_told_of(asked))))
    return (
        select(page.c.segment_id)
        .join(said, reads.same(said, page, "page_id"))
        .where(page.c.owner_id == asked.owner_id, page.c.segment_id.is_not(None), *conditions)
    )


def _told_of(asked: _Asked) -> Select[Any]:
    """The utterances on which facts of the person rest."""
    source, fact = schema.source, schema.fact
    of_fact = and_(source.c.owner_id == fact.c.owner_id, source.c.item_id == fact.c.fact_id)
    return (
        select(source.c.seq)
        .join(fact, of_fact)
        .where(
            source.c.owner_id == asked.owner_id,
            source.c.item == "fact",
            fact.c.subject.in_(sorted(asked.selection.subjects or ())),
        )
    )


# --------------------------------------------------------------------------------------------------------------- facts


_BEGAN = func.coalesce(schema.fact.c.valid_from, schema.fact.c.recorded_at)
_ENDED = func.coalesce(schema.fact.c.valid_to, schema.fact.c.retired_at)


def _known(asked: _Asked) -> list[ColumnElement[bool]]:
    """The facts of a selection, whenever they began."""
    fact, selection = schema.fact.c, asked.selection
    lapsed = and_(fact.retired_at.is_(None), fact.expires_at.is_not(None), fact.expires_at <= micros(selection.now))
    found = [fact.owner_id == asked.owner_id, or_(fact.expires_at.is_(None), ~lapsed)]
    if selection.subjects is not None:
        found.append(fact.subject.in_(sorted(selection.subjects)))
    if selection.attribute is not None:
        found.append(fact.attribute == selection.attribute)
    if selection.thread is not None:
        found.append(fact.fact_id.in_(_resting_on_thread(asked)))
    return [*found, *_with(selection.words, fact.text)]


def _resting_on_thread(asked: _Asked) -> Select[Any]:
    source, said = schema.source, schema.utterance
    return (
        select(source.c.item_id)
        .join(said, reads.same(said, source, "seq"))
        .where(
            source.c.owner_id == asked.owner_id,
            source.c.item == "fact",
            said.c.thread == asked.selection.thread,
        )
    )


def _facts(c: Connection, asked: _Asked) -> tuple[tuple[Fact, ...], int]:
    """Facts that began or ended in the span, the first of every bucket before the second of any; and how many."""
    fact, limit = schema.fact.c, asked.selection.limit
    conditions = (*_known(asked), or_(asked.within(_BEGAN), asked.within(_ENDED)))
    total = c.scalar(select(func.count()).where(*conditions)) or 0
    if not limit or not total:
        return (), total
    happened = case((asked.within(_BEGAN), _BEGAN), else_=_ENDED)
    order = (fact.pinned.desc(), fact.confirmed_no.desc(), fact.fact_id)
    place = func.row_number().over(partition_by=asked.bucket(_sql(happened)), order_by=order)
    found = select(fact.fact_id, fact.confirmed_no, place.label("place")).where(*conditions).subquery("found")
    some = select(found.c.fact_id).order_by(found.c.place, found.c.confirmed_no.desc(), found.c.fact_id).limit(limit)
    ids = frozenset(FactId(one) for one in c.scalars(some, execution_options=_ONCE))
    return facts(c, asked.owner_id, FactSelection(ids=ids)), total


def _held(c: Connection, asked: _Asked) -> int:
    """Facts that began before the span and did not end before its end."""
    holds = or_(_ENDED.is_(None), asked.edges[-1] <= _ENDED)
    return c.scalar(select(func.count()).where(*_known(asked), asked.edges[0] > _BEGAN, holds)) or 0


# ------------------------------------------------------------------------------------------------------------- changes


def _changes(c: Connection, asked: _Asked) -> tuple[tuple[int, ...], int]:
    change = schema.change.c
    conditions = (
        change.owner_id == asked.owner_id,
        change.cause.in_([one.value for one in CORRECTING]),
        asked.within(change.recorded_at),
    )
    found = c.scalar(select(func.count()).where(*conditions)) or 0
    newest = select(change.no).where(*conditions).order_by(change.no.desc()).limit(asked.selection.limit)
    return tuple(c.scalars(newest)) if found and asked.selection.limit else (), found
