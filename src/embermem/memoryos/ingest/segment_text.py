"""The text of a segment: its title, summary and keywords, as they follow from its own pages.

Pages give sentences and keywords, which are kept as they come, so that the work is linear in what is new; `finished`
makes of them what is shown. Pure functions over `SegmentState`; no database, no clock.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from embermem.core.changes import KeywordCount, SegmentWritten, SummaryPart
from embermem.core.config import SHOWN_KEYWORDS, Settings
from embermem.protocols import SegmentState, SegmentWriter

_COUNTED_KEYWORDS = 3
"""Counts are kept for so many times the keywords of Eq. 2, so that a word can still rise."""
_FEW_SEGMENTS = 4
"""Among fewer segments than so many, a word that most of them have may still be a keyword."""
_NEARLY_ALL = 0.8
"""A word that more than this share of the segments have is in no title: names of those who speak, mostly."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Spread:
    """How many segments an owner has, and how many of them have each keyword."""

    segments: int
    having: Mapping[str, int]


def spread_of(counted: Iterable[Iterable[str]]) -> Spread:
    """The spread of the keywords of each segment."""
    each = [frozenset(words) for words in counted]
    return Spread(segments=len(each), having=Counter(word for words in each for word in words))


def weights(keywords: Sequence[KeywordCount], spread: Spread) -> dict[str, float]:
    """How much each keyword tells a segment from the owner's others, above zero: the more of its pages have it, and the
    fewer segments. A word that most segments have is left out."""
    found = {}
    for count in keywords:
        having = max(1, spread.having.get(count.word, 1))
        if spread.segments < _FEW_SEGMENTS or 2 * having <= spread.segments:
            rarity = math.log((1 + max(spread.segments, having)) / having)
            found[count.word] = count.pages * max(rarity, 0.1)
    return found


def naming(keywords: Sequence[KeywordCount], spread: Spread) -> dict[str, float]:
    """How much each keyword says what a segment is about, above zero: as `weights`, but what most segments are about
    counts too, unless nearly all are."""
    every, found = 1 + spread.segments, dict[str, float]()
    for count in keywords:
        having = max(1, spread.having.get(count.word, 1))
        if spread.segments < _FEW_SEGMENTS or having <= _NEARLY_ALL * spread.segments:
            found[count.word] = count.pages * math.sqrt(math.log(2.0 + every / having))
    return found


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """What is shown of a segment's text."""

    parts: tuple[SummaryPart, ...]
    title: str
    keywords: tuple[str, ...]


def shown(
    parts: Sequence[SummaryPart],
    keywords: Sequence[KeywordCount],
    spread: Spread,
    writer: SegmentWriter,
    settings: Settings,
) -> Shown:
    """What is shown of all that a segment keeps."""
    telling = weights(keywords, spread)
    chosen = writer.chosen(parts, telling, settings.segment_summary_chars)
    people = writer.people([part.text for part in chosen])
    ranked = sorted((word for word in telling if word not in people), key=lambda word: -telling[word])
    return Shown(
        parts=chosen, title=writer.title(chosen, naming(keywords, spread)), keywords=tuple(ranked[:SHOWN_KEYWORDS])
    )


def finished(segment: SegmentState, spread: Spread, writer: SegmentWriter, settings: Settings) -> SegmentState:
    """The segment with the text that is shown. A model's title stands as long as its summary does."""
    made = shown(segment.parts, segment.keywords, spread, writer, settings)
    by_model = bool(segment.title) and any(part.chain_id is None for part in made.parts)
    return replace(segment, parts=made.parts, title=segment.title if by_model else made.title, shown=made.keywords)


def counted_keywords(settings: Settings) -> int:
    """How many keywords of a segment are counted."""
    if settings.placed_by == "chain":
        return max(settings.topic_words, settings.segment_keywords)
    return settings.segment_keywords * _COUNTED_KEYWORDS


def with_part(parts: Sequence[SummaryPart], part: SummaryPart) -> tuple[SummaryPart, ...]:
    """A chain's summary takes the place of all that was told of the chain, and of its like; it stands last. One that
    names no source rests on what that rested on."""
    gone = [
        old for old in parts if old.text == part.text or (old.chain_id is not None and old.chain_id == part.chain_id)
    ]
    sources = part.sources or tuple(dict.fromkeys(source for old in gone for source in old.sources))
    return (*(old for old in parts if old not in gone), replace(part, sources=sources))


def with_told(parts: Sequence[SummaryPart], told: Sequence[SummaryPart]) -> tuple[SummaryPart, ...]:
    """Sentences of one page more; none twice."""
    texts = {part.text for part in told}
    return (*(part for part in parts if part.text not in texts), *told)


def with_counts(counts: Sequence[KeywordCount], more: Mapping[str, int], limit: int) -> tuple[KeywordCount, ...]:
    """Keyword counts after pages came (above zero) or left (below), most frequent first, the newer first among
    equals."""
    known = {count.word: count for count in counts}
    total = dict.fromkeys(more, 0) | {word: count.pages for word, count in known.items()}
    for word, pages in more.items():
        total[word] += pages
    ranked = sorted((word for word in total if total[word] > 0), key=total.__getitem__, reverse=True)[:limit]
    return tuple(KeywordCount(word=word, pages=total[word]) if word in more else known[word] for word in ranked)


def reread(
    segment: SegmentState, before: Sequence[str], after: Sequence[str], parts: Sequence[SummaryPart], settings: Settings
) -> SegmentState:
    """The segment after a page of it was read again: its keywords in place of those it had, and chains' new summaries
    in place of what was told of them. Pages, embedding and times stay."""
    gone = set(before)
    left = tuple(replace(count, pages=count.pages - (count.word in gone)) for count in segment.keywords)
    kept = tuple(count for count in left if count.pages > 0)
    for part in parts:
        segment = replace(segment, parts=with_part(segment.parts, part))
    return replace(segment, keywords=with_counts(kept, dict.fromkeys(after, 1), counted_keywords(settings)))


def written(segment: SegmentState) -> SegmentWritten:
    """The decision that stores a segment's text."""
    return SegmentWritten(
        segment_id=segment.id,
        parts=segment.parts,
        keywords=segment.keywords,
        said_from=segment.said_from,
        said_to=segment.said_to,
        title=segment.title,
        shown=segment.shown,
    )


def stored(segment: SegmentState) -> SegmentWritten:
    """The text of a segment as it was read from the store. What is empty there may be missing in the log: a growth
    that gives an empty title or no keywords to be shown says so."""
    return replace(written(segment), title=segment.title or None, shown=segment.shown or None)
