"""Mid-term memory: which segment a page joins, what a segment becomes by it, and which one is coldest (paper §3.2–3.3).

Pure functions over `SegmentState`; no database, no clock.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from embermem.core.changes import KeywordCount, SummaryPart
from embermem.core.config import Settings
from embermem.core.equations import cosine, f_score, heat, jaccard, recency
from embermem.core.types import PageView, Segment, SegmentId
from embermem.memoryos.ingest.grouping import added
from embermem.memoryos.ingest.segment_text import counted_keywords, with_counts, with_told
from embermem.protocols import SegmentState

if TYPE_CHECKING:
    from embermem.core.types import Vector


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


def opened(segment_id: SegmentId, view: PageView, keywords: Sequence[str], told: Sequence[SummaryPart]) -> SegmentState:
    """A segment of one page, which gives these sentences."""
    page = view.page
    return SegmentState(
        id=segment_id,
        parts=tuple(told),
        keywords=tuple(KeywordCount(word=word, pages=1) for word in dict.fromkeys(keywords)),
        said_from=page.said_at,
        said_to=page.said_at,
        pages=1,
        visits=0,
        unanalysed=1,
        last_access=page.utterances[0].recorded_at,
        vector_sum=view.vector,
    )


def grown(
    segment: SegmentState, view: PageView, keywords: Sequence[str], told: Sequence[SummaryPart], settings: Settings
) -> SegmentState:
    """The segment after a page joined: its summary, keywords, embedding and times follow its pages."""
    page = view.page
    return replace(
        segment,
        parts=with_told(segment.parts, told),
        keywords=with_counts(segment.keywords, dict.fromkeys(keywords, 1), counted_keywords(settings)),
        said_from=min(segment.said_from, page.said_at),
        said_to=max(segment.said_to, page.said_at),
        pages=segment.pages + 1,
        unanalysed=segment.unanalysed + 1,
        last_access=max(segment.last_access, page.utterances[0].recorded_at),
        vector_sum=added(segment.vector_sum, view.vector),
    )


def accessed_at(segment: SegmentState | Segment, settings: Settings) -> datetime:
    """The last access, from which recency is counted: the last visit, or when the newest page was said or
    (`heat_since`) came."""
    if settings.heat_since == "said":
        return max(segment.said_to, segment.visited_at or segment.said_to)
    return segment.last_access


def recency_of(segment: SegmentState | Segment, at: datetime, settings: Settings) -> float:
    """§3.3 at a time passed in, since the last access. What was said in the future counts as said now."""
    return recency((at - accessed_at(segment, settings)).total_seconds(), settings.mu)


def heat_of(segment: SegmentState | Segment, at: datetime, settings: Settings) -> float:
    """Eq. 3 at a time passed in."""
    R = recency_of(segment, at, settings)
    return heat(segment.visits, segment.unanalysed, R, settings.alpha, settings.beta, settings.gamma)


def hot(segments: Sequence[SegmentState], at: datetime, settings: Settings) -> tuple[SegmentState, ...]:
    """All segments to be promoted: heat above τ, and at least `min_new` pages not yet analysed; hottest first."""
    ready = [s for s in segments if s.unanalysed >= settings.min_new and heat_of(s, at, settings) > settings.tau]
    return tuple(sorted(ready, key=lambda s: -heat_of(s, at, settings)))


def not_analysed(segments: Sequence[SegmentState]) -> tuple[SegmentState, ...]:
    """All segments with pages not yet analysed, whatever their heat; in the order given."""
    return tuple(segment for segment in segments if segment.unanalysed)


def coldest(
    segments: Sequence[SegmentState], at: datetime, settings: Settings, protected: Collection[SegmentId]
) -> SegmentState | None:
    """The segment of the lowest heat, if there are more than the capacity. Those just opened or joined are protected,
    unless there is nothing else."""
    if len(segments) <= settings.mid_term_segments:
        return None
    free = [segment for segment in segments if segment.id not in protected] or list(segments)
    return min(free, key=lambda s: (heat_of(s, at, settings), s.last_access, s.id))
