"""What an owner's memory holds of a span of time: counts in buckets, and the largest of what they count."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Integer, and_, func, literal_column, or_, select
from sqlalchemy.engine import Connection

from embermem.core.changes import Cause
from embermem.core.state import FactHistory, FactState
from embermem.core.types import Fact, FactId, OwnerId, Role, Segment, SegmentId, Timeline
from embermem.protocols import FactSelection, TimelineSelection
from embermem.store import schema
from embermem.store.codec import micros, moment
from embermem.store.engines.packed_text import Plain
from embermem.store.queries import reads
from embermem.store.queries.persona import facts
from embermem.store.queries.segments import segments_now
from embermem.store.states import Known, States

CORRECTING = (Cause.CORRECTION, Cause.FORGETTING, Cause.RETENTION, Cause.UNDO)
"""Changes that a timeline tells of: what was learnt is told by the facts themselves."""
_ONCE = {"compiled_cache": None}
"""Statements that hold their edges are kept for no other span."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Asked:
    """A selection, of whose memory it is, and its edges in microseconds."""

    known: Known
    selection: TimelineSelection
    edges: Sequence[int]

    @property
    def owner_id(self) -> OwnerId:
        """Whose memory it is."""
        return self.known.owner_id

    def holds(self, at: int) -> bool:
        """Whether a time in microseconds lies in the span."""
        return self.edges[0] <= at < self.edges[-1]

    def place(self, at: int) -> int:
        """The number of the bucket that holds it."""
        return bisect_right(self.edges, at) - 1

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


class Spans(States):
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
            asked = _Asked(known=self._known(c, owner_id, topics=True), selection=selection, edges=edges)
            segments, segments_found = _segments(c, asked)
            changes, changes_found = _changes(c, asked)
            counts = _counts(c, asked, said.said_at, _said(owner_id, selection))
            told = _told(c, asked)
            known, facts_found = _facts(c, asked, told)
            return Timeline(
                edges=tuple(selection.edges) or (moment(first), _just_after(moment(last))),
                said_from=None if first is None else moment(first),
                said_to=None if last is None else moment(last),
                said=counts,
                began=_buckets(asked, (one.began for one in told)),
                ended=_buckets(asked, (one.ended for one in told)),
                segments=segments,
                facts=known,
                changes=changes,
                said_found=sum(counts),
                segments_found=segments_found,
                facts_found=facts_found,
                changes_found=changes_found,
                held=_held(asked, told),
            )

    def subjects_ever(self, owner_id: OwnerId) -> frozenset[str]:
        """The subjects of all facts, past ones too, as they were said."""
        with self._read() as c:
            return frozenset(fact.added.subject for fact, _ in self._known(c, owner_id).newest.facts())


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
        found.append(reads.spoke(selection.speakers))
    return [*found, *_with(selection.words, said.text)]


def _with(words: Sequence[str], *texts: Any) -> list[ColumnElement[bool]]:
    """Each word stands in one of the texts."""
    return [or_(*(one.icontains(word, autoescape=True) for one in texts)) for word in words]


# ------------------------------------------------------------------------------------------------------------ segments


def _segments(c: Connection, asked: _Asked) -> tuple[tuple[Segment, ...], int]:
    """The largest of which something was said in the span, and how many there are."""
    segment, selection = schema.segment, asked.selection
    query = select(segment.c.segment_id).where(
        segment.c.owner_id == asked.owner_id,
        segment.c.pages > 0,
        segment.c.said_from < asked.edges[-1],
        segment.c.said_to >= asked.edges[0],
        *_with(selection.words, segment.c.title, Plain(segment.c.parts), Plain(segment.c.keywords)),
    )
    if selection.thread is not None or selection.speakers is not None:
        query = query.where(segment.c.segment_id.in_(sorted(_talked_of(c, asked))))
    found = c.scalar(select(func.count()).select_from(query.subquery("found"))) or 0
    if not selection.limit:
        return (), found
    order = (segment.c.pages.desc(), segment.c.said_to.desc(), segment.c.segment_id)
    ids = [SegmentId(one) for one in c.scalars(query.order_by(*order).limit(selection.limit))]
    by_id = {one.id: one for one in segments_now(c, asked.known, None, sorted(ids))}
    return tuple(by_id[one] for one in ids), found


def _talked_of(c: Connection, asked: _Asked) -> set[str]:
    """The segments of the thread, or in which the person spoke or is told of."""
    page, said, selection = schema.page, schema.utterance, asked.selection
    query = (
        select(page.c.segment_id)
        .join(said, reads.same(said, page, "page_id"))
        .where(page.c.owner_id == asked.owner_id, page.c.segment_id.is_not(None))
        .distinct()
    )
    if selection.thread is not None:
        query = query.where(said.c.thread == selection.thread)
    if selection.speakers is None:
        return {*c.scalars(query)}
    found = {*c.scalars(query.where(reads.spoke(selection.speakers)))}
    for seqs in reads.chunks(sorted(_told_of(asked))):
        found |= {*c.scalars(query.where(said.c.seq.in_(seqs)))}
    return found


def _told_of(asked: _Asked) -> set[int]:
    """The utterances on which facts of the person rest."""
    subjects = asked.selection.subjects or ()
    of_person = (fact for fact, _ in asked.known.newest.facts() if fact.added.subject in subjects)
    return {source.seq for fact in of_person for source in fact.rests_on(asked.known.no)}


# --------------------------------------------------------------------------------------------------------------- facts


@dataclass(frozen=True, kw_only=True, slots=True)
class _Told:
    """A fact of a selection: how it stands, and when it began and ended, in microseconds (None: it has not)."""

    one: tuple[FactHistory, FactState]
    began: int
    ended: int | None


def _told(c: Connection, asked: _Asked) -> list[_Told]:
    """The facts of a selection, whenever they began."""
    known, selection = asked.known, asked.selection
    recorded = known.held.state.recorded
    seqs = None if selection.thread is None else _of_thread(c, asked)
    words = [word.lower() for word in selection.words]
    found = []
    for fact, state in known.newest.facts():
        added = fact.added
        if state.ended_no is None and state.expires_at is not None and state.expires_at <= selection.now:
            continue
        if selection.subjects is not None and added.subject not in selection.subjects:
            continue
        if selection.attribute is not None and added.attribute != selection.attribute:
            continue
        if seqs is not None and not any(source.seq in seqs for source in fact.rests_on(known.no)):
            continue
        if not all(word in added.text.lower() for word in words):
            continue
        retired = None if state.ended_no is None else recorded[state.ended_no]
        ended = state.valid_to or retired
        began = added.valid_from or recorded[fact.no]
        found.append(_Told(one=(fact, state), began=micros(began), ended=None if ended is None else micros(ended)))
    return found


def _of_thread(c: Connection, asked: _Asked) -> set[int]:
    said = schema.utterance.c
    query = select(said.seq).where(said.owner_id == asked.owner_id, said.thread == asked.selection.thread)
    return {*c.scalars(query)}


def _facts(c: Connection, asked: _Asked, told: Sequence[_Told]) -> tuple[tuple[Fact, ...], int]:
    """Facts that began or ended in the span, the first of every bucket before the second of any; and how many."""
    happened: list[tuple[int, _Told]] = []
    for one in told:
        at = one.began if asked.holds(one.began) else one.ended
        if at is not None and asked.holds(at):
            happened.append((asked.place(at), one))
    if not asked.selection.limit or not happened:
        return (), len(happened)

    def rank(one: _Told) -> tuple[bool, int, str]:
        fact, state = one.one
        return not state.pinned, -state.confirmed_no, fact.added.fact_id

    ranked: list[tuple[int, int, str]] = []
    places: Counter[int] = Counter()
    for bucket, one in sorted(happened, key=lambda found: rank(found[1])):
        places[bucket] += 1
        ranked.append((places[bucket], -one.one[1].confirmed_no, one.one[0].added.fact_id))
    ids = frozenset(FactId(fact_id) for *_, fact_id in sorted(ranked)[: asked.selection.limit])
    return facts(c, asked.known, FactSelection(ids=ids)), len(happened)


def _buckets(asked: _Asked, times: Iterable[int | None]) -> tuple[int, ...]:
    """How many of some times lie in each bucket."""
    found = Counter(asked.place(at) for at in times if at is not None and asked.holds(at))
    return tuple(found[one] for one in range(len(asked.edges) - 1))


def _held(asked: _Asked, told: Sequence[_Told]) -> int:
    """Facts that began before the span and did not end before its end."""
    return sum(one.began < asked.edges[0] and (one.ended is None or one.ended >= asked.edges[-1]) for one in told)


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
