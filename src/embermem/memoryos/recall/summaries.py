"""The summaries beside the pages that preset `paper` recalls (paper §3.2, §3.5): their chains', and their segments'."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from embermem.core.types import Chain, OwnerId, PageId, Segment, Source
from embermem.index.query_context import View
from embermem.prompts.rendering import chain_line, segment_line
from embermem.protocols import MemoryReads, Moment

__all__ = ["Summaries", "SummariesOf", "of_pages", "told"]

SEGMENTS = "topics of these pages:"
CHAINS = "conversations of these pages:"
"""The lines over summaries. No text of anybody's can make one: theirs begin with a number or a dash."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Summaries:
    """The lines of a context's summaries, and what they rest on."""

    lines: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()


SummariesOf = Callable[[Sequence[PageId]], tuple[Sequence[Segment], Sequence[Chain]]]
"""Reads the segments of mid-term memory and the chains of some pages."""


def told(view: View, pages: Sequence[PageId], read: SummariesOf) -> Summaries:
    """What is told of the segments and chains of these pages. A summary tells of all its pages, so one of which any may
    not be seen is left out, and what the setting `without` names."""
    without = view.settings.without
    segments, chains = read(pages)
    topics = [one for one in segments if one.summary and _is_seen(view, one.page_ids)]
    topics.sort(key=lambda one: (one.said_from, one.id))
    began = {chain.id: _began(view, chain) for chain in chains if chain.summary and _is_seen(view, chain.page_ids)}
    talks = [(chain, at) for chain in chains if (at := began.get(chain.id)) is not None]
    talks.sort(key=lambda talk: (talk[1], talk[0].id))
    if without == "mid_term":
        topics = []
    if without == "chain":
        talks = []
    return Summaries(
        lines=(
            *_under(SEGMENTS, map(segment_line, topics)),
            *_under(CHAINS, (chain_line(chain, at) for chain, at in talks)),
        ),
        sources=(
            *(source for one in topics for source in one.sources),
            *(source for chain, _ in talks for source in chain.sources),
        ),
    )


def of_pages(
    reads: MemoryReads, owner_id: OwnerId, moment: Moment, pages: Sequence[PageId]
) -> tuple[Sequence[Segment], Sequence[Chain]]:
    """The segments of mid-term memory and the chains of some pages, at a moment."""
    known = reads.pages_by_id(owner_id, pages, moment=moment)
    segments = {page.segment_id for page in known if page.segment_id is not None}
    chains = {page.chain_id for page in known if page.chain_id is not None}
    return (
        reads.segments(owner_id, moment=moment, archived=False, ids=segments),
        reads.chains(owner_id, moment=moment, ids=chains),
    )


def _under(head: str, lines: Iterable[str]) -> list[str]:
    found = list(lines)
    return [head, *found] if found else []


def _is_seen(view: View, pages: Sequence[PageId]) -> bool:
    snapshot = view.snapshot
    numbers = snapshot.page_numbers(pages)
    return all(
        number is not None
        and snapshot.is_whole(number)
        and all(view.candidates[row] for row in snapshot.page_rows(number))
        for number in numbers
    )


def _began(view: View, chain: Chain) -> datetime | None:
    """When the first utterance of a chain was said."""
    number = view.snapshot.page_number(chain.page_ids[0]) if chain.page_ids else None
    return None if number is None else view.snapshot.utterances[view.snapshot.page_rows(number)[0]].said_at
