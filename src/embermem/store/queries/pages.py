"""What is read of an owner's pages, now and at any moment.

Where a page stands now is written on its row; where it stood, the state says.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, bindparam, case, exists, false, func, or_, select
from sqlalchemy.engine import Connection

from embermem.core.changes import Noted
from embermem.core.types import Kind, OwnerId, Page, PageId, Role, SegmentId, ThreadId, Tier, UtteranceId
from embermem.protocols import NOW, Moment, Within
from embermem.store import schema
from embermem.store.codec import micros
from embermem.store.engines.words import among
from embermem.store.queries import reads
from embermem.store.queries.item_decisions import item_decisions
from embermem.store.queries.reads import PageStanding
from embermem.store.states import Known, States
from embermem.store.values import meets

_LAST = 2**31 - 1
"""After the last utterance of any owner."""


class Pages(States):
    """Readers of pages."""

    def pages(
        self,
        owner_id: OwnerId,
        short: int,
        *,
        moment: Moment = NOW,
        tier: Tier | None = None,
        thread: ThreadId | None = None,
        segment: SegmentId | None = None,
        after: int | None = None,
        before: int | None = None,
        limit: int | None = None,
        within: Within | None = None,
    ) -> tuple[Page, ...]:
        page, said = schema.page.c, schema.utterance.c
        where = [page.no >= 1 if thread is None else page.thread == thread]
        if after is not None:
            where.append(page.no > after)
        if before is not None:
            where.append(page.no < before)
        with self._read() as c:
            known = None if moment.is_now else self._known(c, owner_id, topics=True)
            shown = _said_by(moment)
            if within is not None:
                shown += said_within(c, owner_id, within, known, moment)
                where.append(page.page_id.in_(select(said.page_id).where(said.owner_id == owner_id, *shown)))
            if known is None:
                if tier is not None:
                    where.append(_in_tier(tier, short))
                if segment is not None:
                    where.append(page.segment_id == segment)
                query = reads.select_pages(owner_id).where(*where).order_by(page.no.desc()).limit(limit)
                return reads.pages_from(c, owner_id, c.execute(query).all()[::-1], short, said=shown)
            stood = _Standings(c, known, moment)
            rows = [
                row
                for row in c.execute(select_present(owner_id, moment).where(*where).order_by(page.no.desc()))
                if segment is None or stood.places.get(row.page_id) == segment
                if tier is None or stood.at(row).tier(row.no, short) is tier
            ][:limit][::-1]
            return reads.pages_from(c, owner_id, rows, short, said=shown, standing=stood.noted(rows))

    def pages_by_id(
        self, owner_id: OwnerId, ids: Collection[PageId], short: int = 0, *, moment: Moment = NOW
    ) -> tuple[Page, ...]:
        with self._read() as c:
            if moment.is_now:
                return reads.pages_from(c, owner_id, _some(c, _THESE, owner_id, ids), short)
            stood = _Standings(c, self._known(c, owner_id, topics=True), moment)
            present = select_present(owner_id, moment).where(_IS_ONE)
            rows = _some(c, present, owner_id, ids)
            said = _said_by(moment)
            return reads.pages_from(c, owner_id, rows, short, said=said, standing=stood.noted(rows))

    def all_pages(self, owner_id: OwnerId) -> tuple[Page, ...]:
        return self._pages_now(owner_id)

    def pages_said_before(self, owner_id: OwnerId, at: datetime) -> tuple[Page, ...]:
        page, said = schema.page.c, schema.utterance.c
        whole = func.max(said.said_at) < micros(at)
        before = select(said.page_id).where(said.owner_id == owner_id).group_by(said.page_id).having(whole)
        return self._pages_now(owner_id, page.no >= 1, page.page_id.in_(before))

    def _pages_now(self, owner_id: OwnerId, *where: ColumnElement[bool]) -> tuple[Page, ...]:
        with self._read() as c:
            rows = c.execute(reads.select_pages(owner_id).where(*where).order_by(schema.page.c.no)).all()
            return reads.pages_from(c, owner_id, rows, 0)

    def pages_within(
        self, owner_id: OwnerId, within: Within, *, moment: Moment = NOW
    ) -> tuple[frozenset[PageId], frozenset[PageId]]:
        said = schema.utterance.c
        count = select(said.page_id, func.count()).where(said.owner_id == owner_id, *_said_by(moment))
        with self._read() as c:
            known = None if moment.is_now else self._known(c, owner_id, topics=True)
            shown = count.where(*said_within(c, owner_id, within, known, moment)).group_by(said.page_id)
            found = {PageId(page_id): number for page_id, number in c.execute(shown)}
            query = count.where(said.page_id.in_(bindparam("ids", expanding=True))).group_by(said.page_id)
            query = query.with_hint(*reads.BY_PAGE)
            rows = [row for ids in reads.chunks(sorted(found)) for row in c.execute(query, {"ids": ids})]
            whole = frozenset(PageId(page_id) for page_id, number in rows if number == found[page_id])
            return whole, frozenset(found) - whole

    def seqs_within(
        self, owner_id: OwnerId, ids: Collection[UtteranceId], within: Within, *, moment: Moment = NOW
    ) -> frozenset[int]:
        said = schema.utterance.c
        with self._read() as c:
            known = None if moment.is_now else self._known(c, owner_id, topics=True)
            query = select(said.seq).where(said.owner_id == owner_id, *said_within(c, owner_id, within, known, moment))
            some = (query.where(said.id.in_(these)) for these in reads.chunks(sorted(ids)))
            return frozenset(seq for one in some for seq in c.scalars(one))


_IS_ONE = schema.page.c.page_id.in_(bindparam("ids", expanding=True))
_THESE = reads.select_pages(bindparam("of")).where(_IS_ONE)
"""The pages of some ids, by a statement that is made once."""


def _some(c: Connection, query: Select[Any], owner_id: OwnerId, ids: Collection[PageId]) -> list[Row[Any]]:
    """The pages of some ids, in order."""
    some = reads.chunks(sorted(set(ids)))
    rows = (row for these in some for row in c.execute(query, {"of": owner_id, "ids": these}))
    return sorted(rows, key=lambda row: int(row.no))


class _Standings:
    """Where pages stood at a moment."""

    def __init__(self, c: Connection, known: Known, moment: Moment) -> None:
        self._c, self._owner_id = c, known.owner_id
        self._topics = known.topics_at(moment.revision)
        self._pages = _pages_counted(c, known.owner_id, moment.seq)
        self.places = self._topics.places()
        self._notes = self._topics.notes()
        self._left = self._topics.all_left()

    def at(self, row: Row[Any], keywords: Mapping[str, tuple[str, ...]] | None = None) -> PageStanding:
        """Where a page stood. Whether an analyst failed on one has no past."""
        segment_id, note = self.places.get(row.page_id), self._notes.get(row.page_id)
        return PageStanding(
            segment_id=segment_id,
            archived=segment_id in self._left,
            chain_id=None if note is None else note[0],
            keywords=(keywords or {}).get(row.page_id, ()),
            pages=self._pages,
        )

    def noted(self, rows: Sequence[Row[Any]]) -> Callable[[Row[Any]], PageStanding]:
        """The same, with the keywords of some pages."""
        numbers = {row.page_id: self._notes[row.page_id][1] for row in rows if row.page_id in self._notes}
        notes = item_decisions(self._c, self._owner_id, Noted, numbers)
        keywords = {page_id: note.keywords for page_id, note in notes.items()}
        return lambda row: self.at(row, keywords)


def _in_tier(tier: Tier, short: int) -> ColumnElement[bool]:
    """The condition of `paging.tier_of` on rows of `reads.select_pages`, for the database."""
    page, evicted = schema.page.c, schema.segment.c.evicted_no
    newest, of_talk = page.no > schema.owner.c.pages - short, page.no >= 1
    return {
        Tier.MID: and_(page.segment_id.is_not(None), evicted.is_(None)),
        Tier.ARCHIVE: evicted.is_not(None),
        Tier.SHORT: and_(page.segment_id.is_(None), of_talk, newest),
        Tier.PENDING: and_(page.segment_id.is_(None), of_talk, ~newest),
    }[tier]


def said_within(
    c: Connection, owner_id: OwnerId, within: Within, known: Known | None, moment: Moment = NOW
) -> list[ColumnElement[bool]]:
    """The conditions that an utterance is in scope, as `Scope.admits` says it; by `people` and `kinds` too. The tiers
    of a moment need what is `known`."""
    said, scope = schema.utterance.c, within.scope
    since, until = scope.span
    shown: list[ColumnElement[bool]] = []
    if scope.threads is not None:
        shown.append(said.thread.in_(sorted(scope.threads)))
    if scope.not_threads:
        shown.append(said.thread.not_in(sorted(scope.not_threads)))
    if scope.speakers is not None:
        shown.append(said.speaker.in_(sorted(scope.speakers)))
    if scope.before_seq is not None:
        shown.append(said.seq < scope.before_seq)
    if since is not None:
        shown.append(said.said_at >= micros(since))
    if until is not None:
        shown.append(said.said_at <= micros(until))
    if scope.kinds is not None:
        kinds = {Kind.MESSAGE: said.role != Role.DOCUMENT.value, Kind.DOCUMENT: said.role == Role.DOCUMENT.value}
        shown.append(or_(false(), *(kinds[one] for one in kinds if one in scope.kinds)))
    if scope.metadata is not None:
        shown.append(meets(owner_id, said.seq, scope.metadata))
    if scope.people is not None:
        shown.append(or_(reads.spoke(within.speakers), said.seq.in_(sorted(within.seqs))))
    if scope.tiers is not None and known is None:
        tiers = (_in_tier(tier, within.short) for tier in Tier if tier in scope.tiers)
        some = reads.select_pages(owner_id).with_only_columns(schema.page.c.page_id).where(or_(false(), *tiers))
        shown.append(said.page_id.in_(some))
    elif scope.tiers is not None and known is not None:
        stood = _Standings(c, known, moment)
        rows = c.execute(select_present(owner_id, moment))
        wanted = [row.page_id for row in rows if stood.at(row).tier(row.no, within.short) in scope.tiers]
        shown.append(among(c, said.page_id, wanted))
    return shown


# ---------------------------------------------------------------------------------------------------------------- then


def select_present(owner_id: OwnerId, moment: Moment) -> Select[Any]:
    """The pages of which something was said, each with the last that was."""
    page, said = schema.page, schema.utterance
    columns = ("page_id", "no", "thread", "first_seq", "recorded_at", "expires_at", "expires_offset")
    own = said.c.owner_id == owner_id, said.c.page_id == page.c.page_id
    last: Any = page.c.last_seq
    query = select(*(page.c[name] for name in columns)).where(page.c.owner_id == owner_id)
    if moment.seq is not None:
        then = select(func.max(said.c.seq)).where(*own, said.c.seq <= moment.seq).with_hint(*reads.BY_PAGE)
        last = case((last > moment.seq, then.scalar_subquery()), else_=last)
        query = query.where(page.c.first_seq <= moment.seq)
    if moment.valid_at is not None:
        query = query.where(exists(select(said.c.seq).where(*own, *_said_by(moment)).with_hint(*reads.BY_PAGE)))
    return query.add_columns(last.label("last_seq"))


def _said_by(moment: Moment) -> list[Any]:
    """The conditions that an utterance was there, and was said by then."""
    said = schema.utterance
    conditions: list[Any] = []
    if moment.seq is not None:
        conditions.append(said.c.seq <= moment.seq)
    if moment.valid_at is not None:
        conditions.append(said.c.said_at <= micros(moment.valid_at))
    return conditions


def _pages_counted(c: Connection, owner_id: OwnerId, seq: int | None) -> int:
    """How many pages the owner had: those before the next to come. One that was forgotten just before it counts, so
    that nothing takes its place in short-term memory."""
    return c.scalar(_COUNTED, {"of": owner_id, "then": _LAST if seq is None else seq}) or 0


def _counted() -> Select[Any]:
    page, owner, said = schema.page, schema.owner, schema.utterance
    following = (
        select(page.c.no - 1)
        .select_from(said)
        .join(page, and_(reads.same(page, said, "page_id"), page.c.first_seq == said.c.seq))
        .where(said.c.owner_id == bindparam("of"), said.c.seq > bindparam("then"), page.c.no >= 1)
        .order_by(said.c.seq)
        .limit(1)
    )
    told = following.correlate(None).scalar_subquery()
    return select(func.coalesce(told, owner.c.pages)).where(owner.c.owner_id == bindparam("of"))


_COUNTED = _counted()
