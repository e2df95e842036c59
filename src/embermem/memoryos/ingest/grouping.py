"""Which chains are in which segments: what a claim knows of it, read when it is needed and kept up to date."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from embermem.core.config import Settings
from embermem.core.ids import made_in
from embermem.core.text import fold
from embermem.core.types import ChainId, OwnerId, PageId, SegmentId, Source
from embermem.memoryos.ingest.topics import Topics
from embermem.protocols import NotedPage, SegmentState, Store

if TYPE_CHECKING:
    from embermem.core.types import Vector


_TELLING = 5
"""Pages with fewer keywords are filler: greetings, thanks, agreement."""
_EARLY, _LATE = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


@dataclass(kw_only=True, slots=True)
class Group:
    """The pages of a chain in one segment: what they add to it. `told` are their keywords without speakers' names."""

    pages: list[PageId] = field(default_factory=list)
    told: set[str] = field(default_factory=set)
    words: Counter[str] = field(default_factory=Counter)
    vector_sum: Vector | None = None
    begins: Source | None = None
    unanalysed: int = 0
    said_from: datetime = _LATE
    said_to: datetime = _EARLY
    arrived: datetime = _EARLY

    @property
    def telling(self) -> bool:
        """Whether it says more than filler."""
        return len(self.told) >= _TELLING

    def add(self, noted: NotedPage) -> None:
        """One more page."""
        page, vector = noted.view.page, noted.view.vector
        self.pages.append(page.id)
        first = page.utterances[0]
        self.begins = self.begins or Source(seq=first.seq, utterance_id=first.id)
        names = {name for said in page.utterances for name in fold(said.speaker).split()}
        self.told.update(word for word in noted.keywords if word not in names)
        self.words.update(dict.fromkeys(noted.keywords, 1))
        self.vector_sum = added(self.vector_sum, vector)
        self.unanalysed += not noted.analysed
        self.said_from, self.said_to = min(self.said_from, page.said_at), max(self.said_to, page.said_at)
        self.arrived = max(self.arrived, page.utterances[0].recorded_at)

    def add_all(self, other: Group) -> None:
        """The pages of another group too."""
        self.pages += other.pages
        self.begins = self.begins or other.begins
        self.told |= other.told
        self.words.update(other.words)
        self.vector_sum = added(self.vector_sum, other.vector_sum)
        self.unanalysed += other.unanalysed
        self.said_from, self.said_to = min(self.said_from, other.said_from), max(self.said_to, other.said_to)
        self.arrived = max(self.arrived, other.arrived)


def added(one: Vector | None, other: Vector | None) -> Vector | None:
    """The sum of two vectors that there may be."""
    if one is None or other is None:
        return other if one is None else one
    return one + other


@dataclass(kw_only=True, slots=True)
class Members:
    """The chains of a segment's newest pages. `whole`: the segment has no other pages."""

    chains: dict[ChainId, Group]
    whole: bool


class Grouping:
    """What a claim knows of the chains in segments; read when it is needed, and kept up to date."""

    def __init__(
        self,
        owner_id: OwnerId,
        store: Store,
        settings: Settings,
        segments: Mapping[SegmentId, SegmentState],
        revision: int,
    ) -> None:
        """`revision` is the number of the last change that the store had: what came after it, it is told."""
        self._owner_id = owner_id
        self._store = store
        self._looked_back = settings.topic_looked_back
        self._segments = segments
        self._revision = revision
        self.topics = Topics(settings)
        self._members: dict[SegmentId, Members] = {}
        self._segment_of: dict[ChainId, SegmentId] = {}

    def follow(self) -> None:
        """Know what the segments are by now."""
        self.topics.follow(self._segments)
        for gone in self._members.keys() - self._segments.keys():
            del self._members[gone]
        for segment_id, members in self._members.items():
            if not self._segments[segment_id].unanalysed:
                for group in members.chains.values():
                    group.unanalysed = 0

    def members(self, segment_id: SegmentId) -> Members:
        """The chains of a segment's newest pages; of one that has more, those whose first page is among them."""
        known = self._members.get(segment_id)
        if known is None:
            limit = self._looked_back
            notes = self._store.work.newest_pages(self._owner_id, segment_id, limit)
            chains: dict[ChainId, Group] = {}
            for noted in notes:
                chains.setdefault(noted.chain_id or ChainId(""), Group()).add(noted)
            whole = len(notes) < limit
            if not whole:
                there = {noted.view.page.id for noted in notes}
                began = self._store.reads.chains(self._owner_id, ids=chains.keys())
                cut = {one.id for one in began if one.page_ids and one.page_ids[0] not in there}
                chains = {chain_id: group for chain_id, group in chains.items() if chain_id not in cut}
            known = self._members[segment_id] = Members(chains=chains, whole=whole)
        return known

    def places_of(self, chains: Collection[ChainId]) -> Mapping[ChainId, SegmentId]:
        """The segments of mid-term memory that chains are in."""
        unknown = {one for one in chains if one not in self._segment_of and made_in(one) <= self._revision}
        if unknown:
            first = {
                one.page_ids[0]: one.id for one in self._store.reads.chains(self._owner_id, ids=unknown) if one.page_ids
            }
            for page in self._store.reads.pages_by_id(self._owner_id, list(first)):
                if page.segment_id is not None:
                    self._segment_of[first[page.id]] = page.segment_id
        return {one: at for one in chains if (at := self._segment_of.get(one)) in self._segments and at is not None}

    def joined(self, chain_id: ChainId, noted: NotedPage, segment: SegmentState) -> None:
        """A page joined a segment."""
        self._segment_of[chain_id] = segment.id
        if segment.pages == 1:
            self.opened(segment.id)
        if segment.id in self._members:
            members = self._members[segment.id]
            if chain_id in members.chains or members.whole or noted.chain_id != chain_id:
                members.chains.setdefault(chain_id, Group()).add(noted)

    def opened(self, segment_id: SegmentId) -> None:
        """A segment without pages."""
        self._members[segment_id] = Members(chains={}, whole=True)

    def ended(self, segment_id: SegmentId) -> None:
        """A segment is no more."""
        self._members.pop(segment_id, None)

    def moved(self, chain_id: ChainId, segment_id: SegmentId) -> None:
        """A chain is in another segment now."""
        self._segment_of[chain_id] = segment_id
