"""What was known at a time, and what was true at one: the twins of views.py that read the past.

Every derived row says by which change it was written and by which it ended, so what stood at a revision is a condition
(`reads.stood`). What is counted (visits, heat, waits) has no past and is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Any

from sqlalchemy import Select, and_, bindparam, case, exists, func, literal, null, or_, select
from sqlalchemy.engine import Connection, Row

from embermem.core.changes import Cause, KeywordCount, SummaryPart
from embermem.core.errors import InputError
from embermem.core.types import (
    About,
    Chain,
    ChainId,
    Fact,
    FactId,
    OwnerId,
    Page,
    PageId,
    Persona,
    Segment,
    SegmentId,
    Source,
    ThreadId,
    Tier,
)
from embermem.protocols import Moment, PageMark
from embermem.store import schema
from embermem.store.codec import from_json, micros
from embermem.store.codec import moment as time_of
from embermem.store.queries import reads
from embermem.store.transactions import Transactions

_OF_A_STATE = {
    **{name: name for name in ("confirmed_no", "archived_no", "pinned", "superseded_by", "valid_to")},
    **{name: name for name in ("valid_to_offset", "expires_at", "expires_offset")},
    "retired_no": "ended_no",
    "retired_at": "ended_at",
}
"""Columns of `fact` that a state has too, by their names there."""


class Past(Transactions):
    """Readers of an owner's memory as it was."""

    def moment(self, owner_id: OwnerId, as_of: datetime) -> tuple[int, int]:
        """Where the logs stood; see protocols.Store."""
        with self._read() as c:
            row = c.execute(_WHERE_THEY_STOOD, {"owner": owner_id, "at": micros(as_of)}).first()
            if row is None:
                return 0, 0
            seq, revision = row.seq if row.said_later is None else row.said or 0, _revision(row)
            if (row.begun or 0) > revision:
                change = schema.change
                begun_at = select(change.c.recorded_at).where(change.c.owner_id == owner_id, change.c.no == row.begun)
                since = time_of(c.execute(begun_at).scalar_one()).isoformat(timespec="seconds")
                raise InputError(
                    f"as_of = {as_of.isoformat()}: change {row.begun} began memory anew at {since}, and earlier "
                    "derived memory was discarded; give a later time"
                )
        return seq, revision

    def revision_at(self, owner_id: OwnerId, at: datetime) -> int:
        """The last change by then."""
        with self._read() as c:
            row = c.execute(_WHERE_THEY_STOOD, {"owner": owner_id, "at": micros(at)}).first()
            return 0 if row is None else _revision(row)

    def page_marks_at(self, owner_id: OwnerId, moment: Moment) -> tuple[PageMark, ...]:
        """Where each page stood."""
        page, member = schema.page, schema.membership
        query = _joined(_present(owner_id, moment), member, moment).add_columns(member.c.segment_id)
        with self._read() as c:
            return tuple(
                PageMark(
                    page_id=PageId(row.page_id),
                    no=row.no,
                    segment_id=None if row.segment_id is None else SegmentId(row.segment_id),
                )
                for row in c.execute(query.order_by(page.c.no))
            )

    def pages_at(
        self,
        owner_id: OwnerId,
        short: int,
        moment: Moment,
        *,
        tier: Tier | None = None,
        before: int | None = None,
        limit: int | None = None,
        thread: ThreadId | None = None,
    ) -> tuple[Page, ...]:
        """Pages in order, as they were."""
        page = schema.page
        with self._read() as c:
            counted = _pages_counted(c, owner_id, moment.seq)
            query = _whole(owner_id, moment, counted)
            if tier is not None:
                query = query.where(_in_tier(tier, counted - short, moment))
            if before is not None:
                query = query.where(page.c.no < before)
            if thread is not None:
                query = query.where(page.c.thread == thread)
            rows = c.execute(query.order_by(page.c.no.desc()).limit(limit)).all()
            return reads.pages_from(c, owner_id, rows[::-1], short, said=_said_by(moment))

    def page_at(self, owner_id: OwnerId, page_id: PageId, short: int, moment: Moment) -> Page | None:
        """One page of this owner, as it was."""
        with self._read() as c:
            query = _whole(owner_id, moment, _pages_counted(c, owner_id, moment.seq))
            rows = c.execute(query.where(schema.page.c.page_id == page_id)).all()
            return next(iter(reads.pages_from(c, owner_id, rows, short, said=_said_by(moment))), None)

    def segments_at(
        self, owner_id: OwnerId, moment: Moment, *, archived: bool | None, only: SegmentId | None = None
    ) -> tuple[Segment, ...]:
        """Segments with their pages and sources, oldest first, as they were."""
        with self._read() as c:
            members = _members(c, owner_id, moment, only)
            known = [
                row
                for row in c.execute(_select_segments(owner_id, moment))
                if row.segment_id in members and archived in (None, row.evicted_no is not None)
            ]
            texts = {row.segment_id: row for row in c.execute(_segment_texts(owner_id, moment, only))}
            sources = reads.sources_of(c, owner_id, "segment", {name: row.change_no for name, row in texts.items()})
            told = _told(owner_id, schema.evolution, schema.evolution.c.segment_id, "evolution", moment)
            evolved = {row.segment_id: row for row in c.execute(told)}
            return tuple(
                _segment(
                    row,
                    members[row.segment_id],
                    _text_from(texts[row.segment_id])
                    if row.segment_id in texts
                    else _bare(c, owner_id, moment, members[row.segment_id].page_ids),
                    evolved.get(row.segment_id),
                    sources.get(row.segment_id, ()),
                )
                for row in known
            )

    def chains_at(self, owner_id: OwnerId, moment: Moment) -> tuple[Chain, ...]:
        """All chains with their pages, as they were."""
        note = schema.note
        with self._read() as c:
            of: dict[str, list[Row[Any]]] = {}
            noted = _noted(_present(owner_id, moment), moment).where(note.c.chain_id.is_not(None))
            for row in c.execute(noted.order_by(schema.page.c.no)):
                of.setdefault(row.chain_id, []).append(row)
            told = _told(owner_id, schema.chain, schema.chain.c.chain_id, "chain", moment)
            texts = {row.chain_id: row for row in c.execute(told)}
            sources = reads.sources_of(c, owner_id, "chain", {name: row.change_no for name, row in texts.items()})
            made = []
            for name in sorted(of):
                text, first = texts.get(name), of[name][0]
                made.append(
                    Chain(
                        id=ChainId(name),
                        thread=ThreadId(first.thread),
                        summary="" if text is None else text.summary,
                        page_ids=tuple(PageId(row.page_id) for row in of[name]),
                        change_no=first.noted_no if text is None else text.change_no,
                        recorded_at=time_of(first.noted_at if text is None else text.recorded_at),
                        sources=sources.get(name, ()),
                    )
                )
            return tuple(made)

    def persona_at(self, owner_id: OwnerId, moment: Moment) -> Persona:
        """Profiles, traits and facts, as they were."""
        profile, trait = schema.profile, schema.trait
        with self._read() as c:
            lines = [
                row
                for row in _versions_at(c, owner_id, profile, (profile.c.name, profile.c.whose), moment)
                if row.value is not None
            ]
            fields = reads.fields_from(c, owner_id, lines)
            levels = _versions_at(c, owner_id, trait, (trait.c.dimension,), moment)
            facts = _facts(c, owner_id, moment, archived=False)
            return Persona(
                profile=tuple(f for f in fields if f.whose is About.USER),
                agent_profile=tuple(f for f in fields if f.whose is About.AGENT),
                traits=reads.traits_from(c, owner_id, levels),
                facts=tuple(f for f in facts if f.about is About.USER),
                agent_facts=tuple(f for f in facts if f.about is About.AGENT),
            )

    def facts_at(self, owner_id: OwnerId, moment: Moment, *, about: About | None, archived: bool) -> tuple[Fact, ...]:
        """Facts that were held, or archived; or that were true."""
        with self._read() as c:
            return _facts(c, owner_id, moment, archived=archived, about=about)

    def history_at(self, owner_id: OwnerId, moment: Moment) -> tuple[Fact, ...]:
        """Facts that were no longer held."""
        query, of = _select_facts(owner_id, moment.revision)
        with self._read() as c:
            ended = query.where(of["retired_no"].is_not(None))
            return reads.facts_from(c, owner_id, ended, upto=moment.revision)

    def fact_at(self, owner_id: OwnerId, fact_id: FactId, moment: Moment) -> Fact | None:
        """One fact of this owner, in whatever state it was."""
        query, _ = _select_facts(owner_id, moment.revision)
        with self._read() as c:
            found = reads.facts_from(c, owner_id, query.where(schema.fact.c.fact_id == fact_id), upto=moment.revision)
            return next(iter(found), None)


def _where_they_stood() -> Select[Any]:
    """In one statement, made once: the newest numbers of both logs, whether something was recorded later than a time,
    the numbers that were the newest then, and the change that last began memory anew."""
    owner, said, change = schema.owner, schema.utterance, schema.change
    mine, at = bindparam("owner", type_=owner.c.owner_id.type), bindparam("at", type_=change.c.recorded_at.type)

    def last(log: Any, number: Any, name: str) -> list[Any]:
        later = select(literal(1)).where(log.c.owner_id == mine, log.c.recorded_at > at).limit(1)
        then = select(number).where(log.c.owner_id == mine, log.c.recorded_at <= at)
        newest = then.order_by(log.c.recorded_at.desc(), number.desc()).limit(1)
        return [later.scalar_subquery().label(f"{name}_later"), newest.scalar_subquery().label(name)]

    begun = select(func.max(change.c.no)).where(change.c.owner_id == mine, change.c.cause == Cause.ANEW.value)
    return select(
        owner.c.seq,
        owner.c.revision,
        *last(said, said.c.seq, "said"),
        *last(change, change.c.no, "changed"),
        begun.scalar_subquery().label("begun"),
    ).where(owner.c.owner_id == mine)


_WHERE_THEY_STOOD = _where_they_stood()


def _revision(row: Row[Any]) -> int:
    return int(row.revision if row.changed_later is None else row.changed or 0)


def _said_by(moment: Moment) -> list[Any]:
    """The conditions that an utterance was there, and was said by then."""
    said = schema.utterance
    conditions: list[Any] = []
    if moment.seq is not None:
        conditions.append(said.c.seq <= moment.seq)
    if moment.valid_at is not None:
        conditions.append(said.c.said_at <= micros(moment.valid_at))
    return conditions


# --------------------------------------------------------------------------------------------------------------- pages


def _present(owner_id: OwnerId, moment: Moment) -> Select[Any]:
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


def _joined(pages: Select[Any], table: Any, moment: Moment) -> Select[Any]:
    """Each page with the version of it, in a table, that stood."""
    page = schema.page
    same = (table.c.owner_id == page.c.owner_id, table.c.page_id == page.c.page_id)
    return pages.outerjoin(table, and_(*same, reads.stood(table, moment.revision)))


def _placed(pages: Select[Any], moment: Moment) -> Select[Any]:
    """Each with the segment that it was in."""
    member, segment = schema.membership, schema.segment
    same = and_(segment.c.owner_id == member.c.owner_id, segment.c.segment_id == member.c.segment_id)
    return (
        _joined(pages, member, moment)
        .outerjoin(segment, same)
        .add_columns(
            member.c.segment_id,
            _evicted_no(moment).label("evicted_no"),
        )
    )


def _noted(pages: Select[Any], moment: Moment) -> Select[Any]:
    """Each with the chain that it was in."""
    note = schema.note
    return _joined(pages, note, moment).add_columns(
        note.c.chain_id, note.c.keywords, note.c.change_no.label("noted_no"), note.c.recorded_at.label("noted_at")
    )


def _whole(owner_id: OwnerId, moment: Moment, counted: int) -> Select[Any]:
    """Pages as `reads.pages_from` takes them. Whether an analyst failed on one has no past."""
    page = schema.page
    return _noted(_placed(_present(owner_id, moment), moment), moment).add_columns(
        page.c.expires_at,
        page.c.expires_offset,
        literal(counted).label("owner_pages"),
        null().label("error"),
    )


def _evicted_no(moment: Moment) -> Any:
    """By which change a page's segment had left mid-term memory; nothing brings one back."""
    evicted_no = schema.segment.c.evicted_no
    return evicted_no if moment.revision is None else case((evicted_no <= moment.revision, evicted_no), else_=null())


def _pages_counted(c: Connection, owner_id: OwnerId, seq: int | None) -> int:
    """How many pages the owner had: those before the next to come. One that was forgotten just before it counts, so
    that nothing takes its place in short-term memory."""
    page, owner, said = schema.page, schema.owner, schema.utterance
    if seq is not None:
        same = (page.c.owner_id == said.c.owner_id, page.c.page_id == said.c.page_id, page.c.first_seq == said.c.seq)
        opening = select(page.c.no).select_from(said).join(page, and_(*same))
        mine = (said.c.owner_id == owner_id, said.c.seq > seq)
        following = c.scalar(opening.where(*mine).order_by(said.c.seq).limit(1))
        if following is not None:
            return int(following) - 1
    return c.scalar(select(owner.c.pages).where(owner.c.owner_id == owner_id)) or 0


def _in_tier(tier: Tier, left: int, moment: Moment) -> Any:
    """The condition of `paging.tier_of`, for the database. Pages above the number `left` had not left short-term
    memory."""
    placed, evicted, newest = schema.membership.c.segment_id, _evicted_no(moment), schema.page.c.no > left
    return {
        Tier.MID: and_(placed.is_not(None), evicted.is_(None)),
        Tier.ARCHIVE: evicted.is_not(None),
        Tier.SHORT: and_(placed.is_(None), newest),
        Tier.PENDING: and_(placed.is_(None), ~newest),
    }[tier]


# ------------------------------------------------------------------------------------------------- segments and chains


def _segment_texts(owner_id: OwnerId, moment: Moment, only: SegmentId | None) -> Select[Any]:
    """The text that each segment had; with `valid_at` the newest that tells of nothing said later."""
    text = schema.segment_text
    query = select(text).where(text.c.owner_id == owner_id)
    if only is not None:
        query = query.where(text.c.segment_id == only)
    if moment.valid_at is None:
        return query.where(reads.stood(text, moment.revision))
    newest_first = (text.c.said_to.desc(), text.c.change_no.desc())
    place = func.row_number().over(partition_by=text.c.segment_id, order_by=newest_first)
    ranked = query.add_columns(place.label("place")).where(
        _known_by(text, moment.revision), text.c.said_to <= micros(moment.valid_at)
    )
    return _first(ranked)


def _told(owner_id: OwnerId, table: Any, key: Any, item: str, moment: Moment) -> Select[Any]:
    """As `_segment_texts`, of a table whose versions tell of what was said where they were taken from."""
    source, said = schema.source, schema.utterance
    query = select(table).where(table.c.owner_id == owner_id)
    if moment.valid_at is None:
        return query.where(reads.stood(table, moment.revision))
    told = (
        select(source.c.item_id, source.c.change_no, func.max(said.c.said_at).label("said_to"))
        .join(said, and_(said.c.owner_id == source.c.owner_id, said.c.seq == source.c.seq))
        .where(source.c.owner_id == owner_id, source.c.item == item)
        .group_by(source.c.item_id, source.c.change_no)
        .subquery("told")
    )
    newest_first = (told.c.said_to.desc(), table.c.change_no.desc())
    place = func.row_number().over(partition_by=key, order_by=newest_first)
    ranked = (
        query.add_columns(place.label("place"))
        .join(told, and_(told.c.item_id == key, told.c.change_no == table.c.change_no))
        .where(_known_by(table, moment.revision), told.c.said_to <= micros(moment.valid_at))
    )
    return _first(ranked)


def _known_by(table: Any, revision: int | None) -> Any:
    return literal(True) if revision is None else table.c.change_no <= revision


def _first(ranked: Select[Any]) -> Select[Any]:
    found = ranked.subquery("ranked")
    return select(found).where(found.c.place == 1)


@dataclass(kw_only=True, slots=True)
class _Members:
    """A segment's pages, in order, and when the newest of them came."""

    page_ids: list[PageId] = field(default_factory=list)
    arrived: int = 0


def _members(c: Connection, owner_id: OwnerId, moment: Moment, only: SegmentId | None) -> Mapping[str, _Members]:
    """The pages that were in each segment."""
    page, member = schema.page, schema.membership
    same = and_(member.c.owner_id == page.c.owner_id, member.c.page_id == page.c.page_id)
    query = (
        _present(owner_id, moment)
        .with_only_columns(member.c.segment_id, page.c.page_id, page.c.recorded_at)
        .join(member, and_(same, reads.stood(member, moment.revision)))
        .order_by(page.c.no)
    )
    if only is not None:
        query = query.where(member.c.segment_id == only)
    found: dict[str, _Members] = {}
    for segment_id, page_id, recorded_at in c.execute(query):
        own = found.get(segment_id)
        if own is None:
            own = found[segment_id] = _Members()
        own.page_ids.append(page_id)
        own.arrived = max(own.arrived, recorded_at)
    return found


def _select_segments(owner_id: OwnerId, moment: Moment) -> Select[Any]:
    """All segments, oldest first, and by which change they had left mid-term memory."""
    segment = schema.segment
    query = select(segment.c.segment_id, _evicted_no(moment).label("evicted_no")).where(segment.c.owner_id == owner_id)
    return query.order_by(segment.c.opened_no, segment.c.segment_id)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Text:
    """What was told of a segment, and since which change."""

    summary: str = ""
    keywords: tuple[str, ...] = ()
    said_from: datetime
    said_to: datetime
    change_no: int
    recorded_at: datetime


def _text_from(row: Row[Any]) -> _Text:
    return _Text(
        summary="\n".join(part.text for part in from_json(row.parts, tuple[SummaryPart, ...])),
        keywords=tuple(count.word for count in from_json(row.keywords, tuple[KeywordCount, ...])),
        said_from=time_of(row.said_from, row.said_from_offset),
        said_to=time_of(row.said_to, row.said_to_offset),
        change_no=row.change_no,
        recorded_at=time_of(row.recorded_at),
    )


def _bare(c: Connection, owner_id: OwnerId, moment: Moment, page_ids: Sequence[PageId]) -> _Text:
    """In place of a text that tells of more than it may, or is gone with what was forgotten: nothing told, when the
    pages were said, and by which change the first of them entered."""
    page, member, said = schema.page, schema.membership, schema.utterance
    of_page = and_(page.c.owner_id == member.c.owner_id, page.c.page_id == member.c.page_id)
    first = and_(said.c.owner_id == page.c.owner_id, said.c.seq == page.c.first_seq)
    query = (
        select(member.c.change_no, member.c.recorded_at, said.c.said_at, said.c.said_offset)
        .select_from(member)
        .join(page, of_page)
        .join(said, first)
        .where(member.c.owner_id == owner_id, reads.stood(member, moment.revision))
    )
    rows = [row for ids in reads.chunks(page_ids) for row in c.execute(query.where(member.c.page_id.in_(ids)))]
    said_at = [time_of(row.said_at, row.said_offset) for row in rows]
    change_no, recorded_at = min((row.change_no, row.recorded_at) for row in rows)
    return _Text(said_from=min(said_at), said_to=max(said_at), change_no=change_no, recorded_at=time_of(recorded_at))


def _segment(
    row: Row[Any], members: _Members, text: _Text, evolved: Row[Any] | None, sources: tuple[Source, ...]
) -> Segment:
    """A segment as it was, without counters."""
    words = () if evolved is None else from_json(evolved.keywords, tuple[str, ...])
    return Segment(
        id=SegmentId(row.segment_id),
        summary=text.summary,
        keywords=tuple(dict.fromkeys((*text.keywords, *words))),
        page_ids=tuple(members.page_ids),
        visits=0,
        unanalysed=0,
        last_access=time_of(members.arrived),
        archived=row.evicted_no is not None,
        change_no=text.change_no,
        recorded_at=text.recorded_at,
        said_from=text.said_from,
        said_to=text.said_to,
        sources=sources,
        tags=() if evolved is None else from_json(evolved.tags, tuple[str, ...]),
        context="" if evolved is None else evolved.context,
    )


# ------------------------------------------------------------------------------------------------------------- persona


def _versions_at(c: Connection, owner_id: OwnerId, table: Any, keys: Sequence[Any], moment: Moment) -> list[Row[Any]]:
    """The version that stood of each trait or profile line; with `valid_at` the one that says what was true then."""
    retired_at: Any = table.c.retired_at
    if moment.revision is not None:
        retired_at = case((table.c.retired_no <= moment.revision, retired_at), else_=null())
    kept = [column for column in table.c if column.name != "retired_at"]
    query: Select[Any] = select(*kept, retired_at.label("retired_at")).where(table.c.owner_id == owner_id)
    query = query.order_by(*keys, table.c.change_no)
    if moment.valid_at is None:
        return list(c.execute(query.where(reads.stood(table, moment.revision))).all())
    rows = c.execute(query.where(_known_by(table, moment.revision)))
    names = [key.name for key in keys]
    found = (
        _true_of(list(versions), micros(moment.valid_at), moment.revision)
        for _, versions in groupby(rows, lambda row: tuple(getattr(row, name) for name in names))
    )
    return [row for row in found if row is not None]


def _true_of(versions: Iterable[Row[Any]], at: int, revision: int | None) -> Row[Any] | None:
    """Of all versions of one thing, in order, the last that reaches back to a time. One that was cleared, with no other
    in its place, was never true, nor what came before it."""
    standing: list[Row[Any]] = []
    ended: int | None = None
    for row in versions:
        if ended is not None and ended != row.change_no:
            standing = []
        standing.append(row)
        ended = row.retired_no
    if ended is not None and (revision is None or ended <= revision):
        return None
    return next((row for row in reversed(standing) if row.valid_from is None or row.valid_from <= at), None)


def _facts(
    c: Connection, owner_id: OwnerId, moment: Moment, *, archived: bool, about: About | None = None
) -> tuple[Fact, ...]:
    query, of = _select_facts(owner_id, moment.revision)
    is_archived = of["archived_no"].is_not(None)
    query = query.where(is_archived if archived else ~is_archived)
    if about is not None:
        query = query.where(schema.fact.c.about == about.value)
    if moment.valid_at is None:
        query = query.where(of["retired_no"].is_(None))
    else:
        at, since = micros(moment.valid_at), schema.fact.c.valid_from
        until = func.coalesce(of["valid_to"], of["retired_at"], of["expires_at"])
        query = query.where(or_(since.is_(None), since <= at), or_(until.is_(None), until > at))
    return reads.facts_from(c, owner_id, query, upto=moment.revision)


def _select_facts(owner_id: OwnerId, revision: int | None) -> tuple[Select[Any], Mapping[str, Any]]:
    """Facts as they were, in the order of `reads.select_facts`, and the columns that change, by their names."""
    fact, state = schema.fact, schema.fact_state
    if revision is None:
        of = {name: fact.c[name] for name in _OF_A_STATE}
        query = select(fact).where(fact.c.owner_id == owner_id)
    else:
        of = {name: state.c[theirs] for name, theirs in _OF_A_STATE.items()}
        fixed = [column for column in fact.c if column.name not in _OF_A_STATE]
        query = (
            select(*fixed, *(column.label(name) for name, column in of.items()))
            .select_from(state)
            .join(fact, and_(fact.c.owner_id == state.c.owner_id, fact.c.fact_id == state.c.fact_id))
            .where(state.c.owner_id == owner_id, reads.stood(state, revision))
        )
    return query.order_by(of["confirmed_no"], fact.c.change_no, fact.c.fact_id), of
