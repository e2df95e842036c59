"""Mid-term memory: which segment a page joins, what a segment becomes by it, and which one is coldest (paper §3.2–3.3).

Pure functions over `SegmentState`; no database, no clock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from embermem.core.changes import KeywordCount, SegmentWritten, SummaryPart
from embermem.core.config import Settings
from embermem.core.equations import cosine, f_score, heat, jaccard, recency
from embermem.core.types import PageView, Segment, SegmentId
from embermem.protocols import SegmentState

if TYPE_CHECKING:
    from embermem.core.types import Vector

_COUNTED_KEYWORDS = 3
"""Counts are kept for so many times the keywords shown, so that a word can still rise."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Placement:
    """Where a page goes: the segment it joins with its F_score, or None to open one (`f_score`: the best refused)."""

    segment_id: SegmentId | None
    f_score: float | None


def place(
    vector: Vector | None, keywords: Collection[str], segments: Sequence[SegmentState], theta: float, shown: int
) -> Placement:
    """Eq. 1: the segment of the highest F_score, if that exceeds θ. `shown` keywords of each segment count."""
    if vector is None:
        return Placement(segment_id=None, f_score=None)
    K_p = frozenset(keywords)
    best: SegmentState | None = None
    best_score = float("-inf")
    for segment in segments:
        if segment.vector_sum is None:
            continue
        K_s = frozenset(count.word for count in segment.keywords[:shown])
        score = f_score(cosine(segment.vector_sum, vector), jaccard(K_s, K_p))
        if score > best_score:
            best, best_score = segment, score
    if best is None:
        return Placement(segment_id=None, f_score=None)
    return Placement(segment_id=best.id if best_score > theta else None, f_score=best_score)


def opened(segment_id: SegmentId, view: PageView, keywords: Sequence[str], part: SummaryPart) -> SegmentState:
    """A segment of one page."""
    page = view.page
    return SegmentState(
        id=segment_id,
        parts=(part,),
        keywords=tuple(KeywordCount(word=word, pages=1) for word in dict.fromkeys(keywords)),
        said_from=page.said_at,
        said_to=page.said_at,
        visits=0,
        unanalysed=1,
        last_access=page.utterances[0].recorded_at,
        vector_sum=view.vector,
    )


def grown(
    segment: SegmentState, view: PageView, keywords: Sequence[str], part: SummaryPart, settings: Settings
) -> SegmentState:
    """The segment after a page joined: its summary, keywords, embedding and times follow its pages."""
    page = view.page
    vector = segment.vector_sum
    if view.vector is not None:
        vector = view.vector if vector is None else vector + view.vector
    return replace(
        segment,
        parts=with_part(segment.parts, part, settings.segment_summary_chars),
        keywords=with_keywords(segment.keywords, keywords, counted_keywords(settings)),
        said_from=min(segment.said_from, page.said_at),
        said_to=max(segment.said_to, page.said_at),
        unanalysed=segment.unanalysed + 1,
        last_access=max(segment.last_access, page.utterances[0].recorded_at),
        vector_sum=vector,
    )


def counted_keywords(settings: Settings) -> int:
    """How many keywords of a segment are counted."""
    return settings.segment_keywords * _COUNTED_KEYWORDS


def with_part(parts: Sequence[SummaryPart], part: SummaryPart, limit: int) -> tuple[SummaryPart, ...]:
    """A chain's summary takes the place of its older one, and of its like; else it stands last; the oldest leave
    above `limit` characters. The newest always stays."""
    kept = [old for old in parts if old.text != part.text and (old.chain_id is None or old.chain_id != part.chain_id)]
    kept.append(part)
    while len(kept) > 1 and sum(len(one.text) + 1 for one in kept) > limit:
        del kept[0]
    return tuple(kept)


def with_keywords(counts: Sequence[KeywordCount], keywords: Sequence[str], limit: int) -> tuple[KeywordCount, ...]:
    """Keyword counts after a page joined, most frequent first, the newer first among equals."""
    total = Counter({count.word: count.pages for count in counts})
    total.update(set(keywords))
    order = {word: place for place, word in enumerate([*dict.fromkeys(keywords), *(c.word for c in counts)][::-1])}
    ranked = sorted(total, key=lambda word: (-total[word], -order[word]))
    return tuple(KeywordCount(word=word, pages=total[word]) for word in ranked[:limit])


def reread(
    segment: SegmentState, before: Sequence[str], after: Sequence[str], parts: Sequence[SummaryPart], settings: Settings
) -> SegmentState:
    """The segment after a page of it was read again: its keywords in place of those it had, and chains' new summaries
    in place of their older ones. Pages, embedding and times stay."""
    gone = set(before)
    left = tuple(replace(count, pages=count.pages - (count.word in gone)) for count in segment.keywords)
    kept = tuple(count for count in left if count.pages > 0)
    for part in parts:
        segment = replace(segment, parts=with_part(segment.parts, part, settings.segment_summary_chars))
    return replace(segment, keywords=with_keywords(kept, after, counted_keywords(settings)))


def written(segment: SegmentState) -> SegmentWritten:
    """The decision that stores a segment's text."""
    return SegmentWritten(
        segment_id=segment.id,
        parts=segment.parts,
        keywords=segment.keywords,
        said_from=segment.said_from,
        said_to=segment.said_to,
    )


def heat_of(segment: SegmentState | Segment, at: datetime, settings: Settings) -> float:
    """Eq. 3 at a time passed in."""
    R = recency((at - segment.last_access).total_seconds(), settings.mu)
    return heat(segment.visits, segment.unanalysed, R, settings.alpha, settings.beta, settings.gamma)


def hot(segments: Sequence[SegmentState], at: datetime, settings: Settings) -> tuple[SegmentState, ...]:
    """All segments to be promoted: heat above τ, and at least `min_new` pages not yet analysed; hottest first."""
    ready = [s for s in segments if s.unanalysed >= settings.min_new and heat_of(s, at, settings) > settings.tau]
    return tuple(sorted(ready, key=lambda s: -heat_of(s, at, settings)))


def coldest(
    segments: Sequence[SegmentState], at: datetime, settings: Settings, protected: Collection[SegmentId]
) -> SegmentState | None:
    """The segment of the lowest heat, if there are more than the capacity. Those just opened or joined are protected,
    unless there is nothing else."""
    if len(segments) <= settings.mid_term_segments:
        return None
    free = [segment for segment in segments if segment.id not in protected] or list(segments)
    return min(free, key=lambda s: (heat_of(s, at, settings), s.last_access, s.id))
