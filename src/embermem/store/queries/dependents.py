"""What the logs say of pages and facts that are to be forgotten, found by indexes and by looking at raw text: of a long
log only the changes that matter are decoded."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

from sqlalchemy import and_, func, select
from sqlalchemy.engine import Connection

from embermem.core.changes import (
    Cause,
    ChainSummarised,
    Change,
    Decision,
    FactRetired,
    Item,
    Noted,
    SegmentGrew,
    SegmentWritten,
    is_verbatim,
    sources,
)
from embermem.core.state import Version
from embermem.core.text import fold
from embermem.core.types import ChainId, FactId, OwnerId, Page, Relation, SegmentId
from embermem.languages.quote_matcher import Probes
from embermem.protocols import Apart, SegmentImpact, Trail
from embermem.store import schema
from embermem.store.codec import decisions_naming, decisions_on, json_text, micros, moment, record
from embermem.store.engines.packed_text import Plain
from embermem.store.engines.words import holds
from embermem.store.queries import reads
from embermem.store.queries.changes import change_from, resting_on
from embermem.store.queries.segment_texts import last_texts
from embermem.store.states import Known, States


def _all_but(*causes: Cause) -> tuple[Cause, ...]:
    """Of a cause that nobody thought of here, the changes are looked at: so nothing of what is forgotten stays."""
    return tuple(cause for cause in Cause if cause not in causes)


_FOUND = (
    Cause.EMBEDDING,
    Cause.ANNOTATION,
    Cause.CONSOLIDATION,
    Cause.REGROUPING,
    Cause.EVICTION,
    Cause.EXPIRY,
    Cause.PROFILE,
    Cause.REINDEX,
    Cause.ANEW,
    Cause.FORGETTING,
)
"""Causes of changes that the state finds by all that they name."""
_READING = _all_but(
    Cause.EMBEDDING,
    Cause.EVICTION,
    Cause.PROFILE,
    Cause.REINDEX,
    Cause.UNDO,
    Cause.ANEW,
    Cause.CORRECTION,
    Cause.FORGETTING,
    Cause.IMPORT,
    Cause.RETENTION,
    Cause.EXPIRY,
)
"""Causes of changes in which an analyst's words stand."""
_RULING = _all_but(*_FOUND, Cause.PROMOTION, Cause.REDONE, Cause.RETENTION)
"""Causes of changes that name facts and segments by which the state does not find them."""
_ID = re.compile(r'"([a-z][0-9a-z-]{2,40})"')
"""What may be an id of ours in the JSON of decisions."""
_UNTOUCHED = SegmentImpact(lost=0, left=1, holds=1, first_no=0, said_from=None, said_to=None, words=frozenset())
"""A segment that loses no page, only words of its chains' summaries."""
_MANY = 64
"""Of so many pages, utterances, chains and segments each decision is looked for, at most; else all are read."""
_RETOLD = 24
"""Of a fact that is said elsewhere too, the notes of so many other utterances are looked at for its words."""


class Trails(States):
    """Looking for what rests on pages and facts."""

    def trail(
        self,
        owner_id: OwnerId,
        pages: Sequence[Page],
        facts: Collection[FactId],
        *,
        said: Collection[tuple[str, str]],
        probes: Collection[str],
    ) -> Trail:
        with self._read() as c:
            known = self._known(c, owner_id, topics=True)
            exact = not pages or self._is_verbatim(c, known)
            return _Following(c, known, pages, frozenset(facts), probes).follow(said, verbatim=exact)

    def _is_verbatim(self, c: Connection, known: Known) -> bool:
        """Whether every analyst was verbatim; where it is so, only later changes are looked at the next time."""
        table = schema.change.c
        query = (
            select(table.analyst)
            .where(table.owner_id == known.owner_id, table.no > known.held.verbatim)
            .where(table.cause.in_([cause.value for cause in _READING]))
        )
        if not all(map(is_verbatim, c.scalars(query.distinct()))):
            return False
        self._hold(known.owner_id, known.held, replace(known.held, verbatim=known.no))
        return True


class _Following:
    """One look for what rests on pages and facts: gathers numbers of changes, then reads those."""

    def __init__(
        self,
        c: Connection,
        known: Known,
        pages: Sequence[Page],
        facts: frozenset[FactId],
        probes: Collection[str],
    ) -> None:
        self._c = c
        self._owner_id = known.owner_id
        self._state = known.held.state
        self._topics = known.topics
        self._told = pages
        self._pages = {page.id for page in pages}
        self._seqs = {u.seq for page in pages for u in page.utterances}
        self._sources = [b'"seq":%d,' % seq for seq in sorted(self._seqs)]
        """How sources that go begin in the log."""
        self._facts: set[str] = set(facts)
        self._probes = Probes(json_text(probe)[1:-1] for probe in probes)
        self._numbers: set[int] = set()
        self._chains: dict[str, int] = {}
        """By chain of a page that goes, the change from which on its summary may tell of it."""
        self._segments: dict[str, int] = {}
        """By segment that may tell of one, the change from which on."""
        self._lost: dict[str, dict[str, list[int]]] = {}
        """By segment and page that goes, the changes that placed it there."""
        self._words: set[str] = set()
        self._emptied: set[ChainId] = set()

    def follow(self, said: Collection[tuple[str, str]], *, verbatim: bool) -> Trail:
        begun = self._topics.begun
        self._notes_and_places()
        chains = self._pages_left()
        self._emptied = {chain_id for chain_id, left in chains.items() if not left}
        losing = {SegmentId(one): self._losing(one) for one in sorted(self._segments)}
        self._resting()
        self._told_facts()
        self._persona()
        self._summaries()
        self._unindexed(losing)
        self._proposed(said)
        read_from = min((*self._chains.values(), *self._segments.values()), default=None)
        since = self._segments if verbatim or read_from is None else self._all_segments(read_from)
        apart: dict[int, Apart] = {}
        return Trail(
            begun=begun,
            changes=self._changes(begun, apart) if verbatim else self._all_changes(begun, read_from),
            apart=apart,
            written_from={SegmentId(segment_id): no for segment_id, no in since.items()},
            texts=self._texts_before(since),
            chains=chains,
            segments=losing,
            facts=frozenset(FactId(fact_id) for fact_id in self._facts),
            repeated=self._repeated(),
            verbatim=verbatim,
        )

    # ----------------------------------------------------------------------------------------------------- pages

    def _notes_and_places(self) -> None:
        noted: set[int] = set()
        for page_id in self._pages:
            for chain_id, no in self._topics.notes_of(page_id):
                noted.add(no)
                self._chains[chain_id] = min(no, self._chains.get(chain_id, no))
            for segment_id, no in self._topics.places_of(page_id):
                self._numbers.add(no)
                self._segments[segment_id] = min(no, self._segments.get(segment_id, no))
                self._lost.setdefault(segment_id, {}).setdefault(page_id, []).append(no)
        self._numbers |= noted
        for row in self._rows(select(schema.change), schema.change.c.no, noted):
            for note in decisions_on(row.decisions, (Noted,), self._pages):
                self._words.update(note.keywords)

    def _pages_left(self) -> Mapping[ChainId, tuple[Page, ...]]:
        """What the chains keep, and in which other segments they are told of."""
        page = schema.page
        stay = self._topics.at().notes(self._chains).keys() - self._pages
        kept = list(self._rows(reads.select_pages(self._owner_id), page.c.page_id, stay))
        for row in kept:
            if row.segment_id is not None:
                since = self._chains[row.chain_id]
                self._segments[row.segment_id] = min(since, self._segments.get(row.segment_id, since))
        found: dict[ChainId, list[Page]] = {ChainId(chain_id): [] for chain_id in self._chains}
        for one in reads.pages_from(self._c, self._owner_id, kept, 0):
            if one.chain_id is not None:
                found[one.chain_id].append(one)
        return {chain_id: tuple(sorted(pages, key=lambda p: p.no)) for chain_id, pages in found.items()}

    def _losing(self, segment_id: str) -> SegmentImpact:
        """What a segment keeps. Its pages are looked at one by one only where its first, or one at an end of its time,
        goes."""
        segment = schema.segment
        words, lost = self._words_of_none(segment_id), self._lost.get(segment_id, {})
        row = self._c.execute(
            select(segment.c.pages, segment.c.opened_no, segment.c.said_from, segment.c.said_to)
            .where(segment.c.owner_id == self._owner_id, segment.c.segment_id == segment_id)
            .where(segment.c.parts.is_not(None))
        ).first()
        losing = replace(_UNTOUCHED, words=words, ended=row is None)
        if not lost:
            return losing
        going = [page for page in self._told if page.segment_id == segment_id]
        holds = 0 if row is None else row.pages - len(going)
        losing = replace(losing, lost=len(lost), left=holds, holds=holds)
        said = [micros(page.said_at) for page in going]
        first = row is None or any(row.opened_no in numbers for numbers in lost.values())
        inside = bool(said) and row is not None and row.said_from < min(said) and max(said) < row.said_to
        return losing if inside and holds and not first else self._looked_at(segment_id, losing)

    def _looked_at(self, segment_id: str, losing: SegmentImpact) -> SegmentImpact:
        page, said = schema.page, schema.utterance
        rows = self._c.execute(
            select(page.c.page_id, said.c.said_at, said.c.said_offset)
            .join(said, and_(said.c.owner_id == page.c.owner_id, said.c.seq == page.c.first_seq))
            .where(page.c.owner_id == self._owner_id, page.c.segment_id == segment_id)
        ).all()
        left = {page_id: no for page_id, no in self._topics.ever_in(segment_id).items() if page_id not in self._pages}
        losing = replace(losing, left=len(left), first_no=min(left.values(), default=0))
        holds = [row for row in rows if row.page_id not in self._pages]
        if not holds:
            return replace(losing, holds=0)
        first, last = min(holds, key=lambda row: int(row.said_at)), max(holds, key=lambda row: int(row.said_at))
        return replace(
            losing,
            holds=len(holds),
            said_from=moment(first.said_at, first.said_offset),
            said_to=moment(last.said_at, last.said_offset),
        )

    def _words_of_none(self, segment_id: str) -> frozenset[str]:
        """Keywords of the pages that go, that no page which stays in the segment has."""
        if not self._words:
            return frozenset()
        page = schema.page
        query = select(page.c.page_id, page.c.keywords).where(
            page.c.owner_id == self._owner_id, page.c.segment_id == segment_id, page.c.keywords.is_not(None)
        )
        if len(self._pages) <= reads.CHUNK:
            every = func.aggregate_strings(Plain(page.c.keywords), "\n")
            others = query.with_only_columns(every).where(page.c.page_id.not_in(sorted(self._pages)))
            kept = self._c.scalar(others) or ""
        else:
            kept = "\n".join(row.keywords for row in self._c.execute(query) if row.page_id not in self._pages)
        return frozenset(word for word in self._words if json_text(word) not in kept)

    def _repeated(self) -> frozenset[str]:
        """The texts of the pages that go that others say too, in whatever case."""
        said = schema.utterance
        texts = {u.text.lower() for page in self._told for u in page.utterances}
        return frozenset(
            row.text.lower()
            for row in self._rows(select(said.c.page_id, said.c.text), func.lower(said.c.text), texts, of=said)
            if row.page_id not in self._pages
        )

    # ----------------------------------------------------------------------------------------------------- persona

    def _resting(self) -> None:
        """The changes that rest on the utterances that go, and the segments whose texts do."""
        numbers, table = resting_on(self._c, self._owner_id, self._seqs), schema.change
        self._numbers |= numbers
        for row in self._rows(select(table), table.c.no, numbers):
            for d in decisions_naming(row.decisions, self._sources)[0]:
                if isinstance(d, SegmentWritten | SegmentGrew) and not self._seqs.isdisjoint(s.seq for s in sources(d)):
                    self._segments[d.segment_id] = min(row.no, self._segments.get(d.segment_id, row.no))

    def _told_facts(self) -> None:
        """Every change that tells of the facts that rest on what goes, and of those that they ended; and the notes
        where their words may be told again."""
        others: set[int] = set()
        for fact in self._state.facts:
            if not any(one.seq in self._seqs for one in fact.sources):
                continue
            self._facts.add(fact.added.fact_id)
            if not self._seqs.isdisjoint(source.seq for source in fact.added.sources):
                left = {source.seq for source in fact.rests_on(self._state.no)} - self._seqs
                others.update(sorted(left)[-_RETOLD:])
        for fact in self._state.facts:
            if any(isinstance(one, FactRetired) and one.superseded_by in self._facts for _, one in fact.moves):
                self._facts.add(fact.added.fact_id)
        for fact_id in self._facts:
            if (told := self._state.facts.get(fact_id)) is not None:
                self._numbers |= {told.no, *(no for no, _ in told.moves)}
        pages = {row.page_id for row in self._rows(select(schema.utterance.c.page_id), schema.utterance.c.seq, others)}
        self._numbers |= {no for page_id in pages for _, no in self._topics.notes_of(page_id)}

    def _persona(self) -> None:
        """Every version of traits, lines and relations that rest on what goes, and of lines that say what the facts
        say; each with the newest version that does not, which stands then. Callers' words on people hold names."""
        of_facts = {
            source.seq
            for fact_id in self._facts
            if (fact := self._state.facts.get(fact_id)) is not None
            for source in fact.rests_on(self._state.no)
        }
        for item, seqs in ((Item.TRAIT, self._seqs), (Item.PROFILE, self._seqs | of_facts), (Item.PERSON, self._seqs)):
            versions = self._state.items[item]
            for key in versions:
                of = versions.of(key)
                resting = {one.began for one in of if any(source.seq in seqs for source in sources(one.value))}
                if item is Item.PERSON and key[0] == Relation.IS.value:
                    self._numbers |= {no for one in of for no in (one.began, one.ended) if no is not None}
                elif item is Item.PERSON:
                    self._numbers |= resting
                elif resting:
                    self._last(of, resting)

    def _last(self, versions: Sequence[Version[Decision]], resting: AbstractSet[int]) -> None:
        """The versions of a trait or line that rest on what goes, and the newest that does not: it stands then."""
        self._numbers |= resting
        for one in reversed(versions):
            self._numbers |= {no for no in (one.began, one.ended) if no is not None}
            if one.began not in resting:
                break

    # --------------------------------------------------------------------------------------------------- summaries

    def _summaries(self) -> None:
        """The versions of chains that may tell of what goes, and those of segments from the first on that may: each
        that follows is told relative to the one before it."""
        of = self._topics.summaries_of(self._chains)
        for row in self._rows(select(schema.change), schema.change.c.no, of):
            for told in decisions_on(row.decisions, (ChainSummarised,), self._chains):
                if told.chain_id in self._emptied or self._probes.in_(json_text(told.summary)):
                    self._numbers.add(row.no)
        for no, segment_id, until in self._topics.texts_of(self._segments):
            if no >= self._segments[segment_id]:
                self._numbers |= {no} if until is None else {no, until}

    def _all_segments(self, since: int) -> Mapping[str, int]:
        """Every segment, from one change on."""
        return dict.fromkeys((segment_id for _, segment_id, _ in self._topics.texts_of()), since)

    def _texts_before(self, since: Mapping[str, int]) -> Mapping[SegmentId, SegmentWritten]:
        """The text of each segment before a change."""
        before = {SegmentId(segment_id): no for segment_id, no in since.items()}
        found = last_texts(self._c, self._owner_id, self._topics, before)
        return {segment_id: version.text for segment_id, version in found.items()}

    def _unindexed(self, losing: Mapping[SegmentId, SegmentImpact]) -> None:
        """Changes that name what goes, and that the index of sources does not have."""
        emptied = {segment_id for segment_id, lost in losing.items() if not lost.left}
        self._numbers |= {no for one in emptied if (no := self._topics.at().left(one)) is not None}
        self._numbers |= self._topics.analysed_by(self._pages) | self._topics.ended_into(emptied)
        self._numbers |= self._topics.visited_by(self._facts | emptied)
        self._naming(_RULING, self._facts | self._segments.keys())

    def _naming(self, causes: Collection[Cause], ids: AbstractSet[str]) -> None:
        table = schema.change
        if not ids:
            return
        query = select(table.c.no, table.c.decisions).where(
            table.c.owner_id == self._owner_id, table.c.cause.in_([cause.value for cause in causes])
        )
        rows = self._c.execute(query)
        few = [json_text(one) for one in sorted(ids)] if len(ids) <= 8 else []
        for row in rows:
            named = any(one in row.decisions for one in few) if few else not ids.isdisjoint(_ID.findall(row.decisions))
            if named:
                self._numbers.add(row.no)

    def _proposed(self, said: Collection[tuple[str, str]]) -> None:
        """Notes that propose a value."""
        table = schema.change
        for attribute, value in said:
            rows = self._c.execute(
                select(table.c.no, table.c.decisions).where(
                    table.c.owner_id == self._owner_id,
                    table.c.no > self._topics.begun,
                    table.c.cause.in_([cause.value for cause in _READING]),
                    holds(self._c, Plain(table.c.decisions), f'"attribute":{json_text(attribute)}'),
                )
            )
            words = [word for word in value.split() if '"' not in word and "\\" not in word]
            for row in rows:
                told = fold(row.decisions)
                if all(word in told for word in words):
                    self._numbers.add(row.no)

    # ----------------------------------------------------------------------------------------------------- reading

    def _changes(self, begun: int, apart: dict[int, Apart]) -> tuple[Change, ...]:
        """Those found, and all up to `begun`. Of those found, decisions that do not have to do with what goes are put
        `apart`: what no model wrote says by its ids and sources of what it tells."""
        ids = sorted({*self._pages, *self._chains, *self._segments})
        names = [*(json_text(one).encode() for one in ids), *self._sources]
        if len(names) > _MANY:
            return self._all_changes(begun, None)
        made = []
        for row in self._logged(begun):
            if row.no <= begun:
                made.append(change_from(row))
            else:
                decisions, apart[row.no] = decisions_naming(row.decisions, names)
                made.append(record(Change, row, decisions=decisions))
        return tuple(made)

    def _all_changes(self, begun: int, since: int | None) -> tuple[Change, ...]:
        """Those found, all up to `begun`, and all from `since` on (None: no others), whole."""
        table = schema.change
        if since is not None:
            others = self._c.scalars(select(table.c.no).where(table.c.owner_id == self._owner_id, table.c.no >= since))
            self._numbers |= set(others)
        return tuple(map(change_from, self._logged(begun)))

    def _logged(self, begun: int) -> Sequence[Any]:
        """The rows of changes that were found, and of all up to `begun`, in order."""
        table = schema.change
        self._numbers |= set(range(1, begun + 1))
        return sorted(self._rows(select(table), table.c.no, self._numbers), key=lambda row: int(row.no))

    def _rows(self, query: Any, column: Any, values: Iterable[Any], *, of: Any = None) -> Iterable[Any]:
        """The owner's rows in which a column has one of some values."""
        table = column.table if of is None else of
        for some in reads.chunks(sorted(values)):
            mine = (table.c.owner_id == self._owner_id, reads.one_of(column, some))
            yield from self._c.execute(query.where(*mine)).all()
