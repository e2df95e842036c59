"""Chains in segments, in preset `default`: where a new chain goes, and what looking back over a batch changes.

After a batch, segments that pages joined are compared with all others: those that have come to be one topic are joined,
and chains among their newest pages that belong elsewhere move. It is one change (`Cause.REGROUPING`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from embermem.core.changes import Cause, Decision, Placed, SegmentEnded, SummaryPart
from embermem.core.types import ChainId, PageId, SegmentId
from embermem.memoryos.ingest import segment_text
from embermem.memoryos.ingest.claim import Claim
from embermem.memoryos.ingest.grouping import Group, Grouping, Members, added
from embermem.memoryos.ingest.topics import words_of
from embermem.protocols import NotedPage, SegmentState

_ROUNDS = 2
"""How often segments are joined and chains move after a batch."""


def choose(claim: Claim, chain: Sequence[NotedPage], last: SegmentId | None) -> tuple[SegmentId | None, float | None]:
    """Where a new chain goes, of which these pages have come: into the segment that it is most like, with how like it
    is, or into none. Filler goes where the page of its thread before it is, else where the `last` one is."""
    group = Group()
    for noted in chain:
        group.add(noted)
    if not group.telling:
        first = chain[0].view.page
        tail = claim.store.work.tails(claim.owner.id, {first.thread: first.no}).get(first.thread)
        before = None if tail is None else tail.view.page.segment_id
        return (before if before in claim.segments else last), None
    best = claim.grouping.topics.nearest(group.words, group.vector_sum, len(chain))
    if best is None or best[1] < claim.settings.topic_linkage:
        return None, None
    return best


def look_back(claim: Claim, touched: Collection[SegmentId]) -> bool:
    """Join segments that are one topic by now, and move chains to where they belong. Whether anything changed."""
    claim.grouping.follow()
    work = _LookingBack(claim, [one for one in touched if one in claim.segments])
    work.run()
    return work.apply()


_RETOLD = 8
"""Of so many of its newest pages a segment is told of that lost all its sentences to others."""


class _LookingBack:
    def __init__(self, claim: Claim, touched: Iterable[SegmentId]) -> None:
        self._claim = claim
        self._settings = claim.settings
        self._grouping: Grouping = claim.grouping
        self._topics = self._grouping.topics
        self._states = dict(claim.segments)
        self._touched = list(touched)
        self._changed: dict[SegmentId, None] = {}
        self._ended: dict[SegmentId, SegmentId] = {}
        self._placed: dict[PageId, tuple[SegmentId, float | None]] = {}
        self._opened = 0

    def run(self) -> None:
        """Segments are joined, then chains of them move; again where that changed something."""
        todo = list(self._touched)
        for _ in range(_ROUNDS):
            todo = self._join(todo)
            moved = self._move({*self._touched, *todo} & self._states.keys())
            if not moved:
                return
            todo = [one for one in moved if one in self._states]
        self._join(todo)

    # ------------------------------------------------------------------------------------------------------ joining

    def _join(self, todo: Sequence[SegmentId]) -> list[SegmentId]:
        """Join the two that are most alike, as long as there are two. What is left of those to be compared."""
        best: dict[SegmentId, tuple[SegmentId, float]] = {}
        left = list(dict.fromkeys(todo))
        while True:
            for one in left:
                if one not in best:
                    state = self._states[one]
                    found = self._topics.nearest(words_of(state), state.vector_sum, state.pages, but=one)
                    if found is not None:
                        best[one] = found
            first = max(best, key=lambda one: best[one][1], default=None)
            if first is None or best[first][1] < self._settings.topic_linkage:
                return left
            other, linkage = best[first]
            into, gone = self._larger(first, other)
            self._merge(gone, into, linkage)
            left = [one for one in dict.fromkeys((*left, into)) if one != gone]
            best = {
                one: (at, value)
                for one, (at, value) in best.items()
                if one not in (gone, into) and at not in (gone, into)
            }

    def _larger(self, one: SegmentId, other: SegmentId) -> tuple[SegmentId, SegmentId]:
        """The one with more pages first, the older of equals: it stays."""
        order = {segment_id: place for place, segment_id in enumerate(self._states)}
        first, second = sorted((one, other), key=lambda name: (-self._states[name].pages, order[name]))
        return first, second

    def _merge(self, gone: SegmentId, into: SegmentId, linkage: float) -> None:
        members, target = self._grouping.members(gone), self._grouping.members(into)
        for page_id in self._pages_of(gone, members):
            self._placed[page_id] = into, linkage
        for chain_id, group in members.chains.items():
            target.chains.setdefault(chain_id, Group()).add_all(group)
            self._grouping.moved(chain_id, into)
        target.whole = target.whole and members.whole
        a, b = self._states[into], self._states.pop(gone)
        self._set(
            replace(
                a,
                parts=segment_text.with_told(a.parts, b.parts),
                keywords=segment_text.with_counts(
                    a.keywords, words_of(b), segment_text.counted_keywords(self._settings)
                ),
                said_from=min(a.said_from, b.said_from),
                said_to=max(a.said_to, b.said_to),
                pages=a.pages + b.pages,
                visits=a.visits + b.visits,
                unanalysed=a.unanalysed + b.unanalysed,
                last_access=max(a.last_access, b.last_access),
                visited_at=max((at for at in (a.visited_at, b.visited_at) if at is not None), default=None),
                vector_sum=added(a.vector_sum, b.vector_sum),
            )
        )
        self._end(gone, into)

    def _pages_of(self, segment_id: SegmentId, members: Members) -> list[PageId]:
        """All pages of a segment, as far as this look back went."""
        known = [page_id for group in members.chains.values() for page_id in group.pages]
        if members.whole:
            return known
        is_stored = segment_id in self._claim.segments
        stored = self._claim.store.reads.segments(self._claim.owner.id, ids=[segment_id]) if is_stored else ()
        gone = {page_id for page_id, (at, _) in self._placed.items() if at != segment_id}
        here = [page_id for one in stored for page_id in one.page_ids if page_id not in gone]
        came = [page_id for page_id, (at, _) in self._placed.items() if at == segment_id]
        return list(dict.fromkeys((*here, *came, *known)))

    # ------------------------------------------------------------------------------------------------------- moving

    def _move(self, among: Collection[SegmentId]) -> list[SegmentId]:
        """Chains of these segments that another segment is more like go there; those that are like none go alone."""
        moved: dict[SegmentId, None] = {}
        for segment_id in [one for one in self._states if one in among]:
            members = self._grouping.members(segment_id)
            for chain_id, group in list(members.chains.items()):
                others = (one for one in members.chains.values() if one is not group)
                if not group.telling or (members.whole and not any(one.telling for one in others)):
                    continue  # filler stays where it is, and is not left alone
                if len(group.pages) == self._states[segment_id].pages:
                    continue  # a whole segment is joined, not moved
                to = self._better(segment_id, group)
                if to is not None:
                    self._take_out(segment_id, chain_id, group, to)
                    moved |= dict.fromkeys((segment_id, to[0]))
        return list(moved)

    def _better(self, segment_id: SegmentId, group: Group) -> tuple[SegmentId, float | None] | None:
        """Where a chain belongs, if not in its segment."""
        found = self._topics.linkages(group.words, group.vector_sum, len(group.pages), segment_id)
        own, least = found.pop(segment_id), self._settings.topic_linkage * self._settings.topic_leaves
        best = max(found, key=lambda one: found[one], default=None)
        if best is not None and found[best] > own and found[best] >= least:
            return best, found[best]
        if own < least:
            self._opened += 1
            return SegmentId(f"s{self._claim.next_no}-{self._opened:02}"), None
        return None

    def _take_out(
        self, segment_id: SegmentId, chain_id: ChainId, group: Group, to: tuple[SegmentId, float | None]
    ) -> None:
        state, (target_id, linkage) = self._states[segment_id], to
        members = self._grouping.members(segment_id)
        del members.chains[chain_id]
        told = tuple(part for part in state.parts if part.chain_id == chain_id)
        self._placed |= dict.fromkeys(group.pages, (target_id, linkage))
        left = self._timed(self._without(state, group), members, group)
        parts = tuple(part for part in state.parts if part.chain_id != chain_id)
        if not parts:  # others said the same in the same words
            parts = _begun(members.chains)
        self._set(replace(left, parts=parts))
        told = told or _begun({chain_id: group})
        target = self._states.get(target_id)
        unanalysed = min(group.unanalysed, state.unanalysed)
        if target is None:
            self._grouping.opened(target_id)
            target = SegmentState(
                id=target_id,
                parts=(),
                keywords=(),
                said_from=group.said_from,
                said_to=group.said_to,
                pages=0,
                visits=0,
                unanalysed=0,
                last_access=group.arrived,
            )
        limit = segment_text.counted_keywords(self._settings)
        self._set(
            replace(
                target,
                parts=segment_text.with_told(target.parts, told),
                keywords=segment_text.with_counts(target.keywords, group.words, limit),
                said_from=min(target.said_from, group.said_from),
                said_to=max(target.said_to, group.said_to),
                pages=target.pages + len(group.pages),
                unanalysed=target.unanalysed + unanalysed,
                last_access=max(target.last_access, group.arrived),
                vector_sum=added(target.vector_sum, group.vector_sum),
            )
        )
        self._grouping.members(target_id).chains.setdefault(chain_id, Group()).add_all(group)
        self._grouping.moved(chain_id, target_id)

    def _timed(self, left: SegmentState, members: Members, group: Group) -> SegmentState:
        """A segment that a chain left, with the times of the pages that stay. Pages that were not looked back over are
        read where the chain held one of its ends."""
        ends: Iterable[tuple[datetime, datetime]]
        if members.whole:
            ends = [(one.said_from, one.said_to) for one in members.chains.values()]
        elif left.said_from < group.said_from and group.said_to < left.said_to:
            return left
        else:
            stay = self._pages_of(left.id, members)
            pages = self._claim.store.reads.pages_by_id(self._claim.owner.id, stay)
            ends = [(page.said_at, page.said_at) for page in pages]
        return replace(left, said_from=min(first for first, _ in ends), said_to=max(last for _, last in ends))

    def _without(self, state: SegmentState, group: Group) -> SegmentState:
        """A segment without the pages of a chain; its times stay. See `_timed`."""
        minus = {word: -n for word, n in group.words.items()}
        vector = state.vector_sum
        if vector is not None and group.vector_sum is not None:
            vector = vector - group.vector_sum
        return replace(
            state,
            keywords=segment_text.with_counts(state.keywords, minus, segment_text.counted_keywords(self._settings)),
            pages=state.pages - len(group.pages),
            unanalysed=max(0, state.unanalysed - group.unanalysed),
            vector_sum=vector,
        )

    # ------------------------------------------------------------------------------------------------------ writing

    def _set(self, state: SegmentState) -> None:
        self._states[state.id] = state
        self._changed[state.id] = None
        self._topics.replace(state.id, state)

    def _end(self, segment_id: SegmentId, into: SegmentId) -> None:
        self._changed.pop(segment_id, None)
        self._topics.replace(segment_id, None)
        self._grouping.ended(segment_id)
        if segment_id in self._claim.segments:
            self._ended[segment_id] = into

    def _finish(self) -> None:
        """The texts that are shown of what changed: where no sentence is left, those of its newest pages."""
        claim = self._claim
        spread = self._topics.spread(self._states[one] for one in self._changed)
        for segment_id in self._changed:
            state = self._states[segment_id]
            if not any(part.text for part in state.parts):
                own = self._pages_of(segment_id, self._grouping.members(segment_id))
                pages = claim.store.reads.pages_by_id(claim.owner.id, own[-_RETOLD:])
                told = [part for page in pages for part in claim.parts.writer.told(page, (), page.chain_id)]
                state = replace(state, parts=segment_text.with_told(state.parts, told))
            self._states[segment_id] = segment_text.finished(state, spread, claim.parts.writer, self._settings)

    def apply(self) -> bool:
        """Write what changed, as one change."""
        if not self._changed:
            return False
        claim = self._claim
        self._finish()
        decisions: list[Decision] = [
            Placed(page_id=page_id, segment_id=segment_id, f_score=linkage)
            for page_id, (segment_id, linkage) in self._placed.items()
        ]
        decisions += [segment_text.written(self._states[one]) for one in self._changed]
        decisions += [SegmentEnded(segment_id=one, into=into) for one, into in self._ended.items()]
        sums = {one: total for one in self._changed if (total := self._states[one].vector_sum) is not None}
        claim.apply(Cause.REGROUPING, "", decisions, segment_vectors=sums)
        for ended in self._ended:
            del claim.segments[ended]
        claim.segments.update((one, self._states[one]) for one in self._changed)
        return True


def _begun(chains: Mapping[ChainId, Group]) -> tuple[SummaryPart, ...]:
    """What a text without sentences rests on: what begins the first of its chains."""
    parts = (
        SummaryPart(chain_id=name, text="", sources=(one.begins,))
        for name, one in chains.items()
        if one.begins is not None
    )
    return tuple(parts)[:1]
