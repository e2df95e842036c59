"""Short-term memory's dialogue chains: which pages go on with which (paper §3.2).

The queue itself, the newest 7 pages by arrival, needs no code of its own: see `paging.tier_of`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from embermem.core.changes import ChainSummarised, Decision, Noted
from embermem.core.types import Annotation, ChainId, ChainTail, PageView, ThreadId


def chained(
    tails: Mapping[ThreadId, ChainTail],
    views: Sequence[PageView],
    annotations: Sequence[Annotation],
    analyst: str,
    no: int,
    *,
    anew: bool = False,
) -> list[Decision]:
    """What an analyst said of pages, as notes and chain summaries of change `no`.

    A page that has a chain keeps it; one that continues joins that of the page before it in its thread (`tails` for
    the first here); any other begins a chain. A chain's summary is that of its last page here. With `anew` the
    analyst's word decides, whatever chains the pages had from another one before.
    """
    ends: dict[ThreadId, ChainId] = {thread: tail.chain_id for thread, tail in tails.items()}
    decisions: list[Decision] = []
    summaries: dict[ChainId, ChainSummarised] = {}
    for ordinal, (view, annotation) in enumerate(zip(views, annotations, strict=True)):
        page = view.page
        before = ends.get(page.thread)
        if page.chain_id is not None and not anew:
            chain_id = page.chain_id
        elif annotation.continues and before is not None:
            chain_id = before
        else:
            chain_id = ChainId(f"c{no}-{ordinal}")
        ends[page.thread] = chain_id
        decisions.append(
            Noted(
                page_id=page.id,
                upto_seq=page.last_seq,
                chain_id=chain_id,
                continues=chain_id == before,
                keywords=annotation.keywords,
                analyst=annotation.read_by or analyst,
                facts=annotation.facts,
                traits=annotation.traits,
                profile=annotation.profile,
            )
        )
        summaries[chain_id] = ChainSummarised(
            chain_id=chain_id,
            thread=page.thread,
            summary=annotation.chain_summary,
            sources=annotation.summary_sources,
        )
    return [*decisions, *summaries.values()]
