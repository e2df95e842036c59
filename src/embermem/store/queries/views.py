"""What is read of one owner."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from operator import itemgetter
from typing import Any

import numpy as np
from sqlalchemy import and_, bindparam, func, select
from sqlalchemy.engine import Connection

from embermem.core.changes import Cause, Change, Decision
from embermem.core.types import (
    About,
    Chain,
    Fact,
    FactId,
    OwnerId,
    OwnerStats,
    Page,
    PageId,
    Persona,
    Segment,
    SegmentId,
    ThreadId,
    Tier,
    Utterance,
    UtteranceId,
)
from embermem.protocols import Delta, PageMark
from embermem.store import schema
from embermem.store.codec import moment
from embermem.store.queries import reads
from embermem.store.statements import chains, changes, owner_state, setting, utterances
from embermem.store.transactions import Transactions

_owner = schema.owner.c
_said, _change = schema.utterance.c, schema.change.c
_SAID_THERE = select(_said.id).where(_said.owner_id == bindparam("owner"), _said.seq == bindparam("seq"))
_CHANGED_THERE = select(_change.recorded_at).where(
    _change.owner_id == bindparam("owner"), _change.no == bindparam("revision")
)
_HOW_FAR = select(
    _owner.seq,
    _owner.revision,
    _owner.reset_no,
    _owner.persona_no,
    _owner.created_at,
    _SAID_THERE.scalar_subquery().label("said"),
    _CHANGED_THERE.scalar_subquery().label("changed"),
).where(_owner.owner_id == bindparam("owner"))
"""Made once, because each search asks it first."""


class Views(Transactions):
    """Readers of an owner's memory."""

    def delta(self, owner_id: OwnerId, seq: int, revision: int, embedder: str, dim: int, mark: str = "") -> Delta:
        """What is newer than (seq, revision), read in one transaction, vectors in the order of their utterances.

        `tokens` is parallel to `vector_seqs`, b"" for a vector without; the empty tuple if none of them has any.
        `mark` is that of the delta which brought the reader there: where another stands there now, or nothing yet, the
        database was replaced by another copy, and all is read again.
        """
        with self._read() as c:
            row = c.execute(_HOW_FAR, {"owner": owner_id, "seq": seq, "revision": revision}).first()
            if row is None:
                return _no_owner((seq, revision) != (0, 0), dim)
            found = _mark(row.said, row.changed)
            replaced = row.seq < seq or row.revision < revision or mark not in ("", found)
            if (row.seq, row.revision) == (seq, revision) and row.reset_no <= revision and not replaced:
                return _nothing(seq, revision, dim, row.created_at, found)
            reset = (row.reset_no > revision or replaced) and (seq, revision) != (0, 0)
            if reset:
                seq, revision = 0, 0
            return _newer(c, row, owner_id, seq, revision, embedder, dim, reset)

    def pages(
        self,
        owner_id: OwnerId,
        short: int,
        *,
        tier: Tier | None,
        before: int | None,
        limit: int | None,
        thread: ThreadId | None = None,
    ) -> tuple[Page, ...]:
        """Pages in order."""
        page = schema.page
        query = reads.select_pages(owner_id)
        if tier is not None:
            query = query.where(reads.in_tier(tier, short))
        if before is not None:
            query = query.where(page.c.no < before)
        if thread is not None:
            query = query.where(page.c.thread == thread)
        with self._read() as c:
            rows = c.execute(query.order_by(page.c.no.desc()).limit(limit)).all()
            return reads.pages_from(c, owner_id, rows[::-1], short)

    def page(self, owner_id: OwnerId, page_id: PageId, short: int) -> Page | None:
        """One page of this owner."""
        with self._read() as c:
            rows = c.execute(reads.select_pages(owner_id).where(schema.page.c.page_id == page_id)).all()
            return next(iter(reads.pages_from(c, owner_id, rows, short)), None)

    def segments(self, owner_id: OwnerId, *, archived: bool | None, only: SegmentId | None) -> tuple[Segment, ...]:
        """Segments with their pages and sources, oldest first."""
        segment, page = schema.segment, schema.page
        query = reads.select_segments(owner_id)
        if archived is not None:
            query = query.where(segment.c.evicted_no.is_not(None) if archived else segment.c.evicted_no.is_(None))
        if only is not None:
            query = query.where(segment.c.segment_id == only)
        with self._read() as c:
            embedder = setting(c, "embedder")
            counts = reads.unanalysed_counts(c, owner_id)
            rows = c.execute(query).all()
            sources = reads.sources_of(c, owner_id, "segment", {row.segment_id: row.change_no for row in rows})
            of: dict[str, list[PageId]] = {}
            members = select(page.c.segment_id, page.c.page_id).where(
                page.c.owner_id == owner_id,
                page.c.segment_id.is_not(None) if only is None else page.c.segment_id == only,
            )
            for row in c.execute(members.order_by(page.c.no)):
                of.setdefault(row.segment_id, []).append(PageId(row.page_id))
            return tuple(
                reads.segment_from(
                    row,
                    embedder,
                    counts.get(row.segment_id, 0),
                    tuple(of.get(row.segment_id, ())),
                    sources.get(row.segment_id, ()),
                )
                for row in rows
            )

    def chains(self, owner_id: OwnerId) -> tuple[Chain, ...]:
        """All chains with their pages."""
        with self._read() as c:
            return chains(c, owner_id, None)

    def persona(self, owner_id: OwnerId) -> Persona:
        """Profiles, traits and current facts."""
        with self._read() as c:
            return reads.persona_of(c, owner_id)

    def facts(self, owner_id: OwnerId, *, about: About | None, archived: bool) -> tuple[Fact, ...]:
        """Current facts, or archived ones."""
        query = reads.select_facts(owner_id, archived=archived)
        if about is not None:
            query = query.where(schema.fact.c.about == about.value)
        with self._read() as c:
            return reads.facts_from(c, owner_id, query)

    def history(self, owner_id: OwnerId) -> tuple[Fact, ...]:
        """Facts that are no longer held."""
        with self._read() as c:
            return reads.facts_from(c, owner_id, reads.select_facts(owner_id, archived=False, retired=True))

    def fact(self, owner_id: OwnerId, fact_id: FactId) -> Fact | None:
        """One fact of this owner, in whatever state."""
        fact = schema.fact
        with self._read() as c:
            query = select(fact).where(fact.c.owner_id == owner_id, fact.c.fact_id == fact_id)
            return next(iter(reads.facts_from(c, owner_id, query)), None)

    def utterance(self, owner_id: OwnerId, utterance_id: UtteranceId) -> Utterance | None:
        """One utterance of this owner."""
        said = schema.utterance
        with self._read() as c:
            row = c.execute(select(said).where(said.c.owner_id == owner_id, said.c.id == utterance_id)).first()
            return None if row is None else reads.utterance_from(row)

    def facts_resting_on(self, owner_id: OwnerId, seqs: Sequence[int]) -> tuple[Fact, ...]:
        """Facts, held or not, that rest on one of these utterances."""
        source, fact = schema.source, schema.fact
        with self._read() as c:
            fact_ids: set[str] = set()
            for some in reads.chunks(seqs):
                fact_ids.update(
                    c.scalars(
                        select(source.c.item_id).where(
                            source.c.owner_id == owner_id, source.c.seq.in_(some), source.c.item == "fact"
                        )
                    )
                )
            query = select(fact).where(fact.c.owner_id == owner_id)
            return tuple(
                found
                for some in reads.chunks(sorted(fact_ids))
                for found in reads.facts_from(c, owner_id, query.where(fact.c.fact_id.in_(some)))
            )

    def changes(
        self,
        owner_id: OwnerId,
        since: int,
        *,
        limit: int | None = None,
        before: int | None = None,
        cause: Cause | None = None,
    ) -> tuple[Change, ...]:
        """The second log, after a number; the next or the last of it."""
        with self._read() as c:
            return changes(c, owner_id, since, limit, before=before, causes=None if cause is None else (cause,))

    def changes_of(self, owner_id: OwnerId, causes: Collection[Cause]) -> tuple[Change, ...]:
        """The changes of some causes."""
        with self._read() as c:
            return changes(c, owner_id, 0, causes=causes)

    def changes_naming(self, owner_id: OwnerId, item_id: str) -> tuple[Change, ...]:
        """The changes in whose decisions an id stands."""
        with self._read() as c:
            return changes(c, owner_id, 0, naming=item_id)

    def decisions(self, owner_id: OwnerId, kinds: Collection[type[Decision]]) -> tuple[Change, ...]:
        """All changes, each with its decisions of these kinds alone."""
        with self._read() as c:
            return changes(c, owner_id, 0, kinds=kinds)

    def owner_stats(self, owner_id: OwnerId, short: int) -> OwnerStats:
        """Counts of one owner."""
        page, segment, fact, trait, chain = schema.page, schema.segment, schema.fact, schema.trait, schema.chain
        with self._read() as c:
            state = owner_state(c, owner_id)

            def count(table: Any, *conditions: Any) -> int:
                query = select(func.count()).select_from(table).where(table.c.owner_id == owner_id, *conditions)
                return c.scalar(query) or 0

            evicted = select(segment.c.segment_id).where(
                segment.c.owner_id == owner_id, segment.c.evicted_no.is_not(None)
            )
            pages = 0 if state is None else state.pages
            archive = count(page, page.c.segment_id.in_(evicted))
            mid = count(page, page.c.segment_id.is_not(None)) - archive
            in_short = count(page, page.c.segment_id.is_(None), page.c.no > pages - short)
            held = and_(fact.c.retired_no.is_(None), fact.c.archived_no.is_(None))
            return OwnerStats(
                utterances=count(schema.utterance),
                pages=count(page),
                short=in_short,
                pending=count(page, page.c.segment_id.is_(None)) - in_short,
                mid=mid,
                archive=archive,
                segments=count(segment, segment.c.evicted_no.is_(None)),
                archived_segments=count(segment, segment.c.evicted_no.is_not(None)),
                chains=count(chain, chain.c.retired_no.is_(None)),
                facts=count(fact, held, fact.c.about == About.USER.value),
                agent_facts=count(fact, held, fact.c.about == About.AGENT.value),
                archived_facts=count(fact, fact.c.retired_no.is_(None), fact.c.archived_no.is_not(None)),
                traits=count(trait, trait.c.retired_no.is_(None)),
                changes=0 if state is None else state.revision,
                without_vector=reads.unembedded(c, owner_id),
                failed=count(page, page.c.error.is_not(None)),
            )


def _no_owner(had: bool, dim: int) -> Delta:
    """Nobody is there: whoever was, is forgotten."""
    return replace(_nothing(0, 0, dim, 0, ""), persona=Persona() if had else None, reset=had)


def _mark(said: str | None, changed: int | None) -> str:
    """The last utterance's id, which is random, and the last change's time: another copy of the database has others."""
    return f"{said} {changed}"


def _nothing(seq: int, revision: int, dim: int, born: int, mark: str) -> Delta:
    return Delta(
        seq=seq,
        revision=revision,
        utterances=(),
        vector_seqs=np.zeros(0, dtype=np.int64),
        vectors=np.zeros((0, dim), dtype=np.float32),
        pages=(),
        segments=(),
        persona=None,
        born=born,
        mark=mark,
    )


def _newer(
    c: Connection, owner: Any, owner_id: OwnerId, seq: int, revision: int, embedder: str, dim: int, reset: bool
) -> Delta:
    vector, page, segment = schema.embedding, schema.page, schema.segment
    fresh = c.execute(
        select(vector.c.seq, vector.c.data, vector.c.tokens).where(
            vector.c.owner_id == owner_id, vector.c.change_no > revision, vector.c.embedder == embedder
        )
    ).all()
    found = sorted(fresh, key=itemgetter(0))  # nearly in order; SQLite would carry the bytes through its sorter
    data = np.frombuffer(b"".join([row[1] for row in found]), dtype="<f2").astype(np.float32)
    marks = c.execute(
        select(page.c.page_id, page.c.no, page.c.segment_id)
        .where(page.c.owner_id == owner_id, page.c.touched_no > revision)
        .order_by(page.c.no)
    )
    segments = c.execute(reads.select_segments(owner_id).where(segment.c.touched_no > revision))
    persona_moved = owner.persona_no > revision or reset
    persona = reads.persona_of(c, owner_id) if persona_moved else None
    archived: tuple[Fact, ...] = ()
    ended: tuple[Fact, ...] = ()
    if persona_moved:
        left = reads.select_facts(owner_id, archived=True).where(schema.fact.c.archived_no > revision)
        archived = reads.facts_from(c, owner_id, left)
        past = reads.select_facts(owner_id, archived=False, retired=True).where(schema.fact.c.retired_no > revision)
        ended = reads.facts_from(c, owner_id, past)
    there = {"owner": owner_id, "seq": owner.seq, "revision": owner.revision}
    return Delta(
        seq=owner.seq,
        revision=owner.revision,
        utterances=utterances(c, owner_id, seq, None),
        vector_seqs=np.array([row[0] for row in found], dtype=np.int64),
        vectors=data.reshape(len(found), -1) if found else np.zeros((0, dim), dtype=np.float32),
        pages=tuple(
            PageMark(
                page_id=PageId(row.page_id),
                no=row.no,
                segment_id=None if row.segment_id is None else SegmentId(row.segment_id),
            )
            for row in marks
        ),
        segments=tuple(reads.segment_from(row, embedder) for row in segments),
        persona=persona,
        tokens=_tokens(found),
        archived_facts=archived,
        ended_facts=ended,
        expiring=_expiring(c, owner_id),
        reset=reset,
        born=owner.created_at,
        mark=_mark(c.scalar(_SAID_THERE, there), c.scalar(_CHANGED_THERE, there)),
    )


def _expiring(c: Connection, owner_id: OwnerId) -> tuple[tuple[PageId, datetime], ...]:
    """The pages that expire, the first first, and when."""
    page = schema.page
    rows = c.execute(
        select(page.c.page_id, page.c.expires_at)
        .where(page.c.owner_id == owner_id, page.c.expires_at.is_not(None))
        .order_by(page.c.expires_at)
    )
    return tuple((PageId(row.page_id), moment(row.expires_at)) for row in rows)


def _tokens(found: Sequence[Any]) -> tuple[bytes, ...]:
    """One a row, b"" where it has none; the empty tuple if no row has any."""
    tokens = tuple([row[2] or b"" for row in found])
    return tokens if any(tokens) else ()
