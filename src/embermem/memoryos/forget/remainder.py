"""What is said anew of what stays: summaries that lost a sentence, segments that lost a page, facts that hold again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from embermem.core.attributes import attributes
from embermem.core.changes import (
    ChainSummarised,
    Change,
    Decision,
    FactAdded,
    FactArchived,
    FactPinned,
    FactRestored,
    FactRetired,
    KeywordCount,
    Noted,
    SegmentEnded,
    SegmentWritten,
    SummaryPart,
)
from embermem.core.config import Settings
from embermem.core.types import Fact, FactId, OwnerId, Page, SegmentId, Source
from embermem.core.user_overrides import speaks_of
from embermem.memoryos.forget.redacting import Redacted
from embermem.memoryos.ingest import segment_text
from embermem.memoryos.ingest.knowledge_cap import over_cap
from embermem.protocols import ARCHIVED, ENDED, HELD, FactSelection, MemoryReads, SegmentWriter, Trail

Summarise = Callable[[str, Page], tuple[str, tuple[Source, ...]]]
"""The summary of a chain with one page more, from that before, and where its new sentences stand."""

_NEWEST = 8
"""Of so many of its newest pages a segment that lost its whole text is summarised again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Remainder:
    """What an owner's log says of what goes (`trail`), and what is `left` of it."""

    reads: MemoryReads
    owner_id: OwnerId
    settings: Settings
    summarise: Summarise
    writer: SegmentWriter
    trail: Trail
    left: Redacted

    def chains(self) -> list[ChainSummarised]:
        """The summaries that lost a sentence, by extraction from the pages left."""
        made = []
        for chain_id in sorted(self.left.chains):
            pages = self.trail.chains.get(chain_id, ())
            if not pages:
                continue
            summary, sources = "", dict[Source, None]()
            for page in pages:
                summary, own = self.summarise(summary, page)
                sources |= dict.fromkeys(own)
            if summary and not sources:
                sources = {Source(seq=u.seq, utterance_id=u.id): None for u in pages[-1].utterances}
            made.append(
                ChainSummarised(chain_id=chain_id, thread=pages[-1].thread, summary=summary, sources=tuple(sources))
            )
        return made

    def segments(self) -> list[SegmentWritten]:
        """The texts of segments that lost a page or a sentence: of what stays, with the keywords of the pages that
        stay, and with their times."""
        spread: segment_text.Spread | None = None
        made = []
        for segment_id, text in sorted(self.left.segments.items()):
            losing = self.trail.segments.get(segment_id)
            lost = losing is not None and losing.lost > 0
            if (losing is not None and not losing.holds) or not (lost or segment_id in self.left.altered):
                continue
            times = None if text is None else (text.said_from, text.said_to)
            if losing is not None and losing.said_from is not None and losing.said_to is not None:
                times = losing.said_from, losing.said_to
            stay = () if times is not None else self._pages_left(segment_id)
            if stay:  # no version of its text is left to go on from
                times = min(page.said_at for page in stay), max(page.said_at for page in stay)
            if times is None:
                continue  # it has no page
            spread = spread or segment_text.spread_of(self.reads.segment_words(self.owner_id))
            parts = self._parts(segment_id, () if text is None else text.parts)
            keywords = _keywords_left(segment_id, text, self.left)
            shown = segment_text.shown(parts, keywords, spread, self.writer, self.settings)
            made.append(
                SegmentWritten(
                    segment_id=segment_id,
                    parts=shown.parts,
                    keywords=keywords,
                    said_from=times[0],
                    said_to=times[1],
                    title=shown.title,
                    shown=shown.keywords,
                )
            )
        return made

    def ended(self) -> list[SegmentEnded]:
        """The segments of which no page is left, though other pages were in them once."""
        return [
            SegmentEnded(segment_id=segment_id)
            for segment_id, losing in sorted(self.trail.segments.items())
            if losing.lost and losing.left and not losing.holds and not losing.ended
        ]

    def _parts(self, segment_id: SegmentId, left: Sequence[SummaryPart]) -> Sequence[SummaryPart]:
        """What is left of a segment's summary, with sentences of its pages in the chains that lost all of theirs, and
        of its newest pages where nothing is left."""
        parts, told = left, {part.chain_id for part in left}
        for chain_id in sorted(self.left.chains - told):
            for page in self.trail.chains.get(chain_id, ()):
                if page.segment_id == segment_id:
                    parts = segment_text.with_told(parts, self.writer.told(page, (), chain_id))
        if any(part.sources for part in parts):
            return parts
        stay = self._pages_left(segment_id)[-_NEWEST:]
        for page in stay:
            parts = segment_text.with_told(parts, self.writer.told(page, (), page.chain_id))
        if stay and not any(part.sources for part in parts):
            said = tuple(Source(seq=u.seq, utterance_id=u.id) for u in stay[-1].utterances)
            return (SummaryPart(chain_id=stay[-1].chain_id, text="", sources=said),)
        return parts

    def _pages_left(self, segment_id: SegmentId) -> Sequence[Page]:
        """The pages that a segment keeps."""
        pages = self.reads.pages(self.owner_id, 0, segment=segment_id)
        return [page for page in pages if page.id not in self.left.placed]

    def settled(self) -> list[Decision]:
        """What makes the persona agree with itself where facts hold again: of an attribute that is single the latest
        value holds and ends the others, and no knowledge base is above its cap."""
        if not self.left.reopened:
            return []
        gone = {*self.left.facts}
        reopened = frozenset(self.left.reopened)
        past = {fact.id: fact for fact in self._facts(ENDED, ids=reopened)}
        again = [replace(past[one], retired_at=None) for one in sorted(reopened) if one in past]
        told = tuple(_told_anew(self.trail, self.left))
        known = [*self._archived(again, reopened, told), *self._facts(HELD)]
        again.sort(key=lambda fact: fact.change_no)  # those that hold again are the oldest: the first to be archived
        standing = _as_told({fact.id: fact for fact in (*again, *known) if fact.id not in gone}, told)
        said = _said_to_be_single(self.left.changes)
        ended: dict[FactId, FactRetired] = {}
        groups = {speaks_of(standing[one]) for one in self.left.reopened if one in standing}
        for group in sorted(one for one in groups if self.settings.attributes.single(one[-1]) or one[-1] in said):
            held = sorted((one for one in standing.values() if speaks_of(one) == group), key=_since)
            for fact, after in pairwise(held):
                ended[fact.id] = FactRetired(fact_id=fact.id, superseded_by=after.id, valid_to=after.valid_from)
        held = [one for one in standing.values() if one.id not in ended and not one.archived]
        return [*ended.values(), *over_cap(held, self.settings)]

    def _archived(self, again: Sequence[Fact], reopened: Collection[FactId], told: Sequence[Decision]) -> list[Fact]:
        """The archived facts that may be ended by what holds again, or that come back: those of its attributes, and
        those that are told anew. Most of a long memory's facts are archived, and have nothing to do with it."""
        named = {d.fact_id for d in told if isinstance(d, FactAdded | FactArchived | FactRestored | FactPinned)}
        by_id = self._facts(ARCHIVED, ids=frozenset((*reopened, *named)))
        attributes = frozenset(fact.attribute for fact in (*again, *by_id, *self._facts(HELD, ids=reopened)))
        like = self._facts(ARCHIVED, attributes=attributes)
        return [*like, *(fact for fact in by_id if fact.attribute not in attributes)]

    def _facts(self, of: FactSelection, **some: Any) -> tuple[Fact, ...]:
        return self.reads.facts(self.owner_id, replace(of, **some))


def _told_anew(trail: Trail, left: Redacted) -> Iterator[Decision]:
    """The decisions that redacting put in place of others. All others count in what is stored already."""
    for was, now in zip(trail.changes, left.changes, strict=True):
        if was.decisions != now.decisions:
            yield from (d for d in now.decisions if d not in was.decisions)


def _as_told(standing: Mapping[FactId, Fact], told: Iterable[Decision]) -> dict[FactId, Fact]:
    """The facts that stand, as the decisions leave them."""
    found = dict(standing)
    for d in told:
        if isinstance(d, FactAdded) and d.fact_id in found:
            found[d.fact_id] = replace(found[d.fact_id], valid_from=d.valid_from)
        elif isinstance(d, FactArchived | FactRestored) and d.fact_id in found:
            found[d.fact_id] = replace(found[d.fact_id], archived=isinstance(d, FactArchived))
        elif isinstance(d, FactPinned) and d.fact_id in found:
            found[d.fact_id] = replace(found[d.fact_id], pinned=d.pinned)
    return found


def _keywords_left(segment_id: SegmentId, text: SegmentWritten | None, left: Redacted) -> tuple[KeywordCount, ...]:
    """A segment's keywords without those that its pages which go were counted with."""
    gone = Counter(
        word for page_id, words in left.keywords.items() if left.placed.get(page_id) == segment_id for word in {*words}
    )
    return tuple(
        replace(count, pages=count.pages - gone[count.word])
        for count in (() if text is None else text.keywords)
        if count.pages > gone[count.word]
    )


def _said_to_be_single(log: Iterable[Change]) -> set[str]:
    """The attributes beyond our vocabulary of which an analyst said that they hold one value at a time."""
    notes = (d for change in log for d in change.decisions if isinstance(d, Noted))
    return {p.attribute for d in notes for p in d.facts if p.single and p.attribute not in attributes()}


def _since(fact: Fact) -> float:
    """From when a fact is true, in seconds since 1970; long ago where that is not known."""
    return float("-inf") if fact.valid_from is None else fact.valid_from.timestamp()
