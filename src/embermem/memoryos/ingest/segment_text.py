"""The text of a segment: its keywords and its summary, as they follow from its pages.

Pure functions over `SegmentState`; no database, no clock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from embermem.core.changes import KeywordCount, SegmentWritten, SummaryPart
from embermem.core.config import Settings
from embermem.protocols import SegmentState

_COUNTED_KEYWORDS = 3
"""Counts are kept for so many times the keywords shown, so that a word can still rise."""


def counted_keywords(settings: Settings) -> int:
    """How many keywords of a segment are counted."""
    if settings.placed_by == "chain":
        return max(settings.topic_words, settings.segment_keywords)
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


def with_counts(counts: Sequence[KeywordCount], more: Mapping[str, int], limit: int) -> tuple[KeywordCount, ...]:
    """Keyword counts after pages came (above zero) or left (below), most frequent first, the newer first among
    equals."""
    total = Counter({count.word: count.pages for count in counts})
    total.update(more)
    order = dict.fromkeys((*more, *total))
    ranked = sorted((word for word in order if total[word] > 0), key=lambda word: -total[word])
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
