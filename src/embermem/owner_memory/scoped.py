"""What a scope lets the lists of one owner's memory show, by the rule of recall (memoryos/recall/scoping.py): an item
that was derived is in scope if all its sources are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import TYPE_CHECKING, TypeVar

from embermem.core.types import Chain, Fact, FactId, Kind, Owner, Scope, Segment, Source
from embermem.protocols import ALL_FACTS, FactSelection, MemoryReads, Moment, Within

if TYPE_CHECKING:
    from embermem.memoryos.recall.scoping import Wanted

__all__ = ["InScope", "in_scope"]

_Told = TypeVar("_Told", Segment, Chain)


def in_scope(reads: MemoryReads, owner: Owner, scope: Scope, *, zone: tzinfo, short: int, moment: Moment) -> InScope:
    """What a scope lets a read of a moment show. Times without a zone are of `zone`; short-term memory has `short`
    pages."""
    within, wanted = Within(scope=scope.in_zone(zone), short=short), None
    if scope.people is not None:
        from embermem.memoryos.people import People, speaker_of
        from embermem.memoryos.recall.scoping import Wanted

        wanted = Wanted(scope.people, People(owner, reads.persona(owner.id, moment)))
        known = reads.facts(owner.id, ALL_FACTS, replace(moment, valid_at=None))
        within = replace(
            within,
            speakers=frozenset(one for one in reads.speakers(owner.id) if wanted.speaks(speaker_of(*one))),
            seqs=frozenset(source.seq for fact in known if wanted.has(fact) for source in fact.sources),
        )
    return InScope(reads=reads, owner=owner, within=within, moment=moment, wanted=wanted)


@dataclass(frozen=True, kw_only=True, slots=True)
class InScope:
    """One scope, at one moment, of one owner. `within` is what the store is told of it."""

    reads: MemoryReads
    owner: Owner
    within: Within
    moment: Moment
    wanted: Wanted | None

    def facts(self, facts: Sequence[Fact]) -> tuple[Fact, ...]:
        """Those in scope; of facts that have ended, those that did so by a fact in scope or at a date of their own. Of
        the facts that they contradict they name those in scope."""
        if not self.within.scope.tells(Kind.FACT):
            return ()
        told = self._told((*facts, *self._others(facts)))
        return tuple(
            replace(fact, conflicts=tuple(one for one in fact.conflicts if one in told))
            for fact in facts
            if fact.id in told and (fact.retired_at is None or _ended_within(fact, told))
        )

    def _others(self, facts: Sequence[Fact]) -> tuple[Fact, ...]:
        """The facts that some name, and that are not among them."""
        named = {one for fact in facts for one in (fact.superseded_by, *fact.conflicts) if one is not None}
        if not (named := named - {fact.id for fact in facts}):
            return ()
        return self.reads.facts(self.owner.id, FactSelection(ids=frozenset(named)), self.moment)

    def _told(self, facts: Sequence[Fact]) -> set[FactId]:
        there = self._inside(source for fact in facts for source in fact.sources)
        return {fact.id for fact in facts if self._stands(fact, there)}

    def _stands(self, fact: Fact, there: frozenset[int]) -> bool:
        if fact.sources:
            return all(source.seq in there for source in fact.sources)
        return not self.within.scope.needs_sources and (self.wanted is None or self.wanted.has(fact))

    def _inside(self, sources: Iterable[Source]) -> frozenset[int]:
        """The seqs of the utterances that are in scope, of those that something rests on."""
        ids = {source.utterance_id for source in sources}
        return self.reads.seqs_within(self.owner.id, ids, self._of_sources, moment=self.moment)

    @property
    def _of_sources(self) -> Within:
        """What may be a source: `kinds` does not limit it."""
        return replace(self.within, scope=replace(self.within.scope, kinds=None))

    def whole(self, items: Sequence[_Told]) -> tuple[_Told, ...]:
        """Segments or chains all of whose pages and sources are in scope."""
        if not items or not self.within.scope.tells(Kind.SEGMENT):
            return ()
        pages, _ = self.reads.pages_within(self.owner.id, self._of_sources, moment=self.moment)
        there = self._inside(source for one in items for source in one.sources)
        return tuple(
            one
            for one in items
            if pages.issuperset(one.page_ids) and all(source.seq in there for source in one.sources)
        )


def _ended_within(fact: Fact, told: set[FactId]) -> bool:
    return fact.superseded_by in told or (fact.expires_at is not None and fact.valid_to == fact.expires_at)
