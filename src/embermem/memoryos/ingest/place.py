"""Place: pages that left short-term memory join a segment, or open one (paper §3.3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from embermem.core.changes import Cause, ChainSummarised, Decision, Noted, Placed, SummaryPart
from embermem.core.types import ChainId, PageId, SegmentId, ThreadId
from embermem.memoryos.ingest import mid_term, segment_text
from embermem.memoryos.ingest.claim import Claim
from embermem.memoryos.ingest.evict import make_room
from embermem.memoryos.ingest.promote import promote
from embermem.memoryos.ingest.read import learnt_when_read, read_by_analyst
from embermem.memoryos.ingest.regroup import choose, look_back
from embermem.protocols import NotedPage, Pending, SegmentState


def place(claim: Claim) -> bool:
    """One batch of pending pages into segments, if it is full, old enough, or asked for."""
    settings, parts, now = claim.settings, claim.parts, claim.parts.clock()
    if claim.stale_segments:
        return False  # a reindex is on its way: nothing could be compared with them
    pending = Pending(short=settings.short_term_pages, now=now, limit=settings.batch_pages)
    batch = claim.store.pages_to_read(claim.owner.id, pending)
    asked = claim.whole and claim.ahead is None  # more is on its way: only full batches until then
    if not batch or not (asked or _is_due(claim, batch, now)):
        return False
    read = read_by_analyst(claim, batch, now)
    if read is None:
        return False
    notes, decisions, analyst = read
    chains = _chain_parts(claim, notes, decisions)
    touched: dict[SegmentId, SegmentState] = {}
    for noted, segment, f_score in (_by_chain if settings.placed_by == "chain" else _by_page)(claim, notes, chains):
        claim.segments[segment.id] = touched[segment.id] = segment
        decisions.append(Placed(page_id=noted.view.page.id, segment_id=segment.id, f_score=f_score))
    decisions += [segment_text.written(segment) for segment in touched.values()]
    if analyst != parts.extractive.name:
        decisions += learnt_when_read(claim, notes)
    sums = {s.id: s.vector_sum for s in touched.values() if s.vector_sum is not None}
    claim.apply(Cause.CONSOLIDATION, analyst, decisions, segment_vectors=sums)
    claim.placed += len(notes)
    if settings.placed_by == "chain":
        look_back(claim, touched)
    if analyst == parts.extractive.name != parts.analyst.name:
        again = now + timedelta(seconds=settings.retry_max_s)
        pages = [noted.view.page.id for noted in notes]
        claim.store.postpone(claim.lease, pages, "", again, tried=False, redo=True)
    if claim.placed // settings.promote_every > (claim.placed - len(notes)) // settings.promote_every:
        promote(claim)
    make_room(claim, frozenset(touched) & claim.segments.keys())
    return True


def _is_due(claim: Claim, batch: Sequence[NotedPage], now: datetime) -> bool:
    if len(batch) >= claim.settings.batch_pages or batch[0].retry_at is not None:
        return True
    since = claim.parts.backlog(claim.owner, now).pending_since
    return since is not None and (now - since).total_seconds() >= claim.settings.batch_wait_s


def _chain_parts(
    claim: Claim, notes: Sequence[NotedPage], decisions: Sequence[Decision]
) -> Mapping[PageId, SummaryPart]:
    """For each page its chain's summary, as it goes into its segment's."""
    noted = {d.page_id: d.chain_id for d in decisions if isinstance(d, Noted)}
    fresh = {d.chain_id: d for d in decisions if isinstance(d, ChainSummarised)}
    of = {n.view.page.id: noted.get(n.view.page.id, n.chain_id or ChainId("")) for n in notes}
    known = {chain.id: chain for chain in claim.store.chains(claim.owner.id, ids=set(of.values()))}
    parts: dict[PageId, SummaryPart] = {}
    for page_id, chain_id in of.items():
        chain = fresh.get(chain_id) or known.get(chain_id)
        parts[page_id] = SummaryPart(
            chain_id=chain_id,
            text="" if chain is None else chain.summary,
            sources=() if chain is None else chain.sources,
        )
    return parts


def _by_page(
    claim: Claim, notes: Sequence[NotedPage], parts: Mapping[PageId, SummaryPart]
) -> Iterator[tuple[NotedPage, SegmentState, float | None]]:
    """Each page into the segment of the highest F_score above θ, else into one of its own (paper §3.3)."""
    for ordinal, noted in enumerate(notes):
        placement = mid_term.place(
            noted.view.vector,
            noted.keywords,
            tuple(claim.segments.values()),
            claim.parts.theta,
            claim.settings.segment_keywords,
        )
        part = parts[noted.view.page.id]
        yield noted, *_placed_in(claim, noted, part, placement.segment_id, placement.f_score, ordinal)


def _by_chain(
    claim: Claim, notes: Sequence[NotedPage], parts: Mapping[PageId, SummaryPart]
) -> Iterator[tuple[NotedPage, SegmentState, float | None]]:
    """Each page into the segment of its chain; a new chain into the one that it is most like, else into its own."""
    grouping = claim.grouping
    grouping.follow()
    chain_of = {noted.view.page.id: parts[noted.view.page.id].chain_id or ChainId("") for noted in notes}
    places = dict(grouping.places_of({*chain_of.values()}))
    last: SegmentId | None = next(reversed(claim.segments), None)
    last_of: dict[ThreadId, SegmentId] = {}
    for ordinal, noted in enumerate(notes):
        page_id = noted.view.page.id
        chain_id, f_score = chain_of[page_id], None
        segment_id = places.get(chain_id)
        if segment_id is None:
            chain = [one for one in notes if chain_of[one.view.page.id] == chain_id]
            segment_id, f_score = choose(claim, chain, last_of.get(noted.view.page.thread, last))
        segment, f_score = _placed_in(claim, noted, parts[page_id], segment_id, f_score, ordinal)
        places[chain_id] = last_of[noted.view.page.thread] = last = segment.id
        grouping.joined(chain_id, noted, segment)
        yield noted, segment, f_score


def _placed_in(
    claim: Claim,
    noted: NotedPage,
    part: SummaryPart,
    segment_id: SegmentId | None,
    f_score: float | None,
    ordinal: int,
) -> tuple[SegmentState, float | None]:
    """A segment with one page more; None: a segment of this page alone."""
    if segment_id is None:
        opened = SegmentId(f"s{claim.next_no}-{ordinal:02}")
        return mid_term.opened(opened, noted.view, noted.keywords, part), None
    known = claim.segments[segment_id]
    return mid_term.grown(known, noted.view, noted.keywords, part, claim.settings), f_score
