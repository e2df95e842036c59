"""What is read of an owner's pages, now and at any moment.

Where a page stands now is written on its row. Where it stood is what its memberships and notes of then say.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Select,
    and_,
    bindparam,
    case,
    exists,
    false,
    func,
    literal,
    null,
    or_,
    select,
)
from sqlalchemy.engine import Connection

from embermem.core.types import Kind, OwnerId, Page, PageId, Role, SegmentId, ThreadId, Tier
from embermem.protocols import NOW, Moment, Within
from embermem.store import schema
from embermem.store.codec import micros
from embermem.store.queries import reads
from embermem.store.transactions import Transactions
from embermem.store.values import meets

_LAST = 2**31 - 1
"""After the last utterance of any owner."""


class Pages(Transactions):
    """Readers of pages."""

    def pages(
        self,
        owner_id: OwnerId,
        short: int,
        *,
        moment: Moment = NOW,
        tier: Tier | None = None,
        ids: Collection[PageId] | None = None,
        thread: ThreadId | None = None,
        segment: SegmentId | None = None,
        said_before: datetime | None = None,
        after: int | None = None,
        before: int | None = None,
        limit: int | None = None,
        within: Within | None = None,
        documents: bool = False,
    ) -> tuple[Page, ...]:
        page, said = schema.page.c, schema.utterance.c
        others = (tier, thread, segment, said_before, after, before, limit, within, moment.valid_at)
        if ids is not None and len(ids) == 1 and all(one is None for one in others):
            with self._read() as c:
                return _one(c, owner_id, next(iter(ids)), short, moment)
        with self._read() as c:
            then: dict[str, Any] = {}
            if moment.is_now or moment.valid_at is not None:
                query, placed, pages = _pages(c, owner_id, moment)
            else:
                query, placed = (
                    _then(moment.seq is not None, moment.revision is not None),
                    schema.membership.c.segment_id,
                )
                pages = _pages_counted(c, owner_id, moment.seq)
                then = _at(owner_id, moment, pages)
            shown = _said_by(moment)
            if within is not None:
                shown += said_within(c, owner_id, within, moment)
                query = query.where(page.page_id.in_(select(said.page_id).where(said.owner_id == owner_id, *shown)))
            if not documents and ids is None and thread is None:
                query = query.where(page.no >= 1)
            if tier is not None:
                query = query.where(_in_tier(tier, placed, evicted_no(moment), page.no > pages - short))
            if thread is not None:
                query = query.where(page.thread == thread)
            if segment is not None:
                query = query.where(placed == segment)
            if said_before is not None:
                query = query.where(page.page_id.in_(_said_before(owner_id, said_before)))
            if after is not None:
                query = query.where(page.no > after)
            if before is not None:
                query = query.where(page.no < before)
            if limit is not None:
                query = query.order_by(page.no.desc()).limit(limit)
            queries = [query]
            if ids is not None:
                queries = [query.where(reads.one_of(page.page_id, some)) for some in reads.chunks(sorted(set(ids)))]
            rows = sorted((row for one in queries for row in c.execute(one, then)), key=lambda row: row.no)
            return reads.pages_from(c, owner_id, rows if limit is None else rows[-limit:], short, said=shown)


def _one(c: Connection, owner_id: OwnerId, page_id: PageId, short: int, moment: Moment) -> tuple[Page, ...]:
    """The page of an id, if there is one, by statements that are made once."""
    seq = _LAST if moment.seq is None else moment.seq
    given = {"then_of": owner_id, "then_seq": moment.seq, "then_revision": moment.revision, "one": page_id}
    if not moment.is_now:
        given |= {"of": owner_id, "then": seq}
    statement = _select_one(moment.seq is not None, moment.revision is not None)
    row = c.execute(statement, {name: value for name, value in given.items() if value is not None}).first()
    return () if row is None else (reads.page_from(c, owner_id, row, short, seq),)


def _pages(c: Connection, owner_id: OwnerId, moment: Moment) -> tuple[Select[Any], Any, Any]:
    """Pages as `reads.pages_from` takes them, the column of their segment, and how many pages the owner has."""
    if moment.is_now:
        return reads.select_pages(owner_id), schema.page.c.segment_id, schema.owner.c.pages
    counted = _pages_counted(c, owner_id, moment.seq)
    return _select_pages_then(owner_id, moment, counted), schema.membership.c.segment_id, counted


def _in_tier(tier: Tier, placed: Any, evicted: Any, newest: Any) -> Any:
    """The condition of `paging.tier_of`, for the database."""
    of_talk = schema.page.c.no >= 1
    return {
        Tier.MID: and_(placed.is_not(None), evicted.is_(None)),
        Tier.ARCHIVE: evicted.is_not(None),
        Tier.SHORT: and_(placed.is_(None), of_talk, newest),
        Tier.PENDING: and_(placed.is_(None), of_talk, ~newest),
    }[tier]


def said_within(c: Connection, owner_id: OwnerId, within: Within, moment: Moment) -> list[ColumnElement[bool]]:
    """The conditions that an utterance is in scope, as `Scope.admits` says it; by `people` and `kinds` too."""
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
        spoke = [and_(said.speaker == name, said.role == role.value) for name, role in sorted(within.speakers)]
        shown.append(or_(*spoke, said.seq.in_(sorted(within.seqs))))
    if scope.tiers is not None:
        query, placed, pages = _pages(c, owner_id, moment)
        newest = schema.page.c.no > pages - within.short
        tiers = (_in_tier(tier, placed, evicted_no(moment), newest) for tier in Tier if tier in scope.tiers)
        some = query.with_only_columns(schema.page.c.page_id).where(or_(false(), *tiers))
        shown.append(said.page_id.in_(some))
    return shown


def _said_before(owner_id: OwnerId, at: datetime) -> Select[Any]:
    """The pages all of which was said before a time."""
    said = schema.utterance.c
    whole = func.max(said.said_at) < micros(at)
    return select(said.page_id).where(said.owner_id == owner_id).group_by(said.page_id).having(whole)


# ---------------------------------------------------------------------------------------------------------------- then


def select_present(owner_id: Any, moment: Moment) -> Select[Any]:
    """The pages of which something was said."""
    page, said = schema.page, schema.utterance
    columns = (page.c[name] for name in ("page_id", "no", "thread", "first_seq", "recorded_at"))
    query = select(*columns).select_from(page).where(page.c.owner_id == owner_id)
    if moment.seq is not None:
        query = query.where(page.c.first_seq <= moment.seq)
    if moment.valid_at is not None:
        own = (said.c.owner_id == page.c.owner_id, said.c.page_id == page.c.page_id)
        query = query.where(exists().where(*own, *_said_by(moment)))
    return query


def noted(pages: Select[Any], moment: Moment) -> Select[Any]:
    """Each page with the chain that it was in."""
    note = schema.note
    return _joined(pages, note, moment).add_columns(
        note.c.chain_id, note.c.keywords, note.c.change_no.label("noted_no"), note.c.recorded_at.label("noted_at")
    )


def evicted_no(moment: Moment) -> Any:
    """By which change a segment had left mid-term memory; nothing brings one back."""
    column = schema.segment.c.evicted_no
    return column if moment.revision is None else case((column <= moment.revision, column), else_=null())


def _select_pages_then(owner_id: Any, moment: Moment, counted: Any) -> Select[Any]:
    """Each page with the segment and the chain that it was in. Whether an analyst failed on one has no past."""
    page, member, segment = schema.page, schema.membership, schema.segment
    placed = (
        _joined(select_present(owner_id, moment), member, moment)
        .outerjoin(segment, reads.same(segment, member, "segment_id"))
        .add_columns(member.c.segment_id, evicted_no(moment).label("evicted_no"))
    )
    return noted(placed, moment).add_columns(
        page.c.expires_at,
        page.c.expires_offset,
        (literal(counted) if isinstance(counted, int) else counted).label("owner_pages"),
        null().label("error"),
    )


def _joined(pages: Select[Any], table: Any, moment: Moment) -> Select[Any]:
    """Each page with the version of it, in a table, that stood."""
    page = schema.page
    same = (table.c.owner_id == page.c.owner_id, table.c.page_id == page.c.page_id)
    return pages.outerjoin(table, and_(*same, reads.stood(table, moment.revision)))


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


@cache
def _then(has_seq: bool, has_revision: bool) -> Select[Any]:
    """`_select_pages_then` of any owner and moment, made once for each kind of moment: see `_at`."""
    moment: Any = Moment(
        seq=bindparam("then_seq", type_=BigInteger) if has_seq else None,  # type: ignore[arg-type]
        revision=bindparam("then_revision", type_=BigInteger) if has_revision else None,  # type: ignore[arg-type]
    )
    return _select_pages_then(bindparam("then_of"), moment, bindparam("owner_pages", type_=BigInteger))


@cache
def _select_one(has_seq: bool, has_revision: bool) -> Select[Any]:
    """The same of one page, with the count of pages within it; without either, the page as it is now."""
    if not has_seq and not has_revision:
        query = reads.select_pages(bindparam("then_of"))
    else:
        moment: Any = Moment(
            seq=bindparam("then_seq", type_=BigInteger) if has_seq else None,  # type: ignore[arg-type]
            revision=bindparam("then_revision", type_=BigInteger) if has_revision else None,  # type: ignore[arg-type]
        )
        query = _select_pages_then(bindparam("then_of"), moment, _COUNTED.correlate(None).scalar_subquery())
    return query.where(schema.page.c.page_id == bindparam("one"))


def _at(owner_id: OwnerId, moment: Moment, counted: int) -> dict[str, Any]:
    """The parameters of `_then`."""
    given = {"then_of": owner_id, "then_seq": moment.seq, "then_revision": moment.revision, "owner_pages": counted}
    return {name: value for name, value in given.items() if value is not None}
