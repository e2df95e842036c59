"""Place: pages that left short-term memory join a segment, or open one (paper §3.3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from embermem.core.changes import Cause, ChainSummarised, Decision, Noted, Placed, SummaryPart, is_extractive
from embermem.core.types import ChainId, PageId, SegmentId, ThreadId
from embermem.memoryos.ingest import mid_term, segment_text
from embermem.memoryos.ingest.claim import Claim, rest
from embermem.memoryos.ingest.embed import summary_vectors
from embermem.memoryos.ingest.evict import make_room
from embermem.memoryos.ingest.promote import promote
from embermem.memoryos.ingest.read import ids_of, learnt_when_read, read_by_analyst
from embermem.memoryos.ingest.regroup import choose, look_back
from embermem.protocols import NotedPage, SegmentState


def place(claim: Claim) -> bool:
    """One batch of pending pages into segments, if it is full, old enough, or asked for."""
    settings, parts, now = claim.settings, claim.parts, claim.parts.clock()
    if claim.stale_segments:
        return False  # a reindex is on its way: nothing could be compared with them
    batch = claim.next_pending(now)
    if not batch:
        return False
    if not claim.whole or claim.ahead is not None:
        if batch[0].view.page.no > claim.due_to:
            if not _is_due(claim, batch, now):
                return False
            claim.due_to = batch[-1].view.page.no
        batch = tuple(noted for noted in batch if noted.view.page.no <= claim.due_to)
    read = read_by_analyst(claim, batch, now)
    if read is None:
        claim.held.pending = ()
        return False
    notes, decisions, analyst = read.notes, read.decisions, read.analyst
    chain_of = _chains_of(notes, decisions)
    touched: dict[SegmentId, SegmentState] = {}
    told = {
        noted.view.page.id: parts.writer.told(noted.view.page, noted.change.facts, chain_of[noted.view.page.id])
        for noted in notes
    }
    by_chain = settings.placed_by == "chain"
    placed = _by_chain(claim, notes, told, chain_of) if by_chain else _by_page(claim, notes, told)
    for noted, segment, f_score in placed:
        claim.segments[segment.id] = touched[segment.id] = segment
        decisions.append(Placed(page_id=noted.view.page.id, segment_id=segment.id, f_score=f_score))
    own = [d for d in decisions if not isinstance(d, ChainSummarised) or d.chain_id in read.told]
    touched |= _with_chains_told(claim, own, touched, chain_of)
    touched = _finished(claim, touched)
    decisions += [segment_text.written(segment) for segment in touched.values()]
    if not is_extractive(analyst):
        decisions += learnt_when_read(claim, notes)
    vectors = {s.id: s.vector_sum for s in touched.values() if s.vector_sum is not None}
    for one, vector in summary_vectors(claim, touched.values()).items():
        vectors[one] = vector
        claim.segments[one] = touched[one] = replace(touched[one], vector_sum=vector)
    claim.apply(Cause.CONSOLIDATION, analyst, decisions, segment_vectors=vectors)
    claim.placed += len(notes)
    claim.held.pending = claim.held.pending[len(notes) :]
    if settings.placed_by == "chain":
        look_back(claim, touched)
    if is_extractive(analyst) and parts.modelled:
        claim.store.work.postpone_redo(
            claim.lease, ids_of(notes), read.error, now + rest(settings, 0), tried=read.tried
        )
    if claim.placed // settings.promote_every > (claim.placed - len(notes)) // settings.promote_every:
        promote(claim)
    make_room(claim, frozenset(touched) & claim.segments.keys())
    return True


def _is_due(claim: Claim, batch: Sequence[NotedPage], now: datetime) -> bool:
    if len(batch) >= claim.settings.batch_pages or batch[0].retry_at is not None:
        return True
    if claim.ahead is not None:  # more pages are on their way: the batch is not asked about in two parts
        return False
    since = claim.parts.backlog(claim.owner, now).pending_since
    return since is not None and (now - since).total_seconds() >= claim.settings.batch_wait_s


def _finished(claim: Claim, touched: Mapping[SegmentId, SegmentState]) -> dict[SegmentId, SegmentState]:
    """The segments that pages joined, with the text that is shown."""
    claim.segments.update(touched)
    if claim.settings.placed_by == "chain":
        claim.grouping.follow()
        spread = claim.grouping.topics.spread(touched.values())
    else:
        spread = segment_text.spread_of((count.word for count in one.keywords) for one in claim.segments.values())
    made = {
        segment_id: segment_text.finished(segment, spread, claim.parts.writer, claim.settings)
        for segment_id, segment in touched.items()
    }
    claim.segments.update(made)
    return made


def _chains_of(notes: Sequence[NotedPage], decisions: Sequence[Decision]) -> Mapping[PageId, ChainId]:
    """The chain of each page, as it was noted last."""
    noted = {d.page_id: d.chain_id for d in decisions if isinstance(d, Noted)}
    return {n.view.page.id: noted.get(n.view.page.id, n.chain_id or ChainId("")) for n in notes}


def _with_chains_told(
    claim: Claim,
    decisions: Sequence[Decision],
    touched: Mapping[SegmentId, SegmentState],
    chain_of: Mapping[PageId, ChainId],
) -> dict[SegmentId, SegmentState]:
    """The segments in which a model's summary of a chain stands in place of its pages' sentences: those that have all
    pages of the chain. A segment tells of its own pages only."""
    told = {d.chain_id: d for d in decisions if isinstance(d, ChainSummarised) and d.summary}
    placed = {d.page_id: d.segment_id for d in decisions if isinstance(d, Placed)}
    made: dict[SegmentId, SegmentState] = {}
    if not told:
        return made
    owner_id = claim.owner.id
    before = {chain.id: chain.page_ids for chain in claim.store.reads.chains(owner_id, ids=told.keys())}
    known = {page_id for page_ids in before.values() for page_id in page_ids} - placed.keys()
    held = {page.id: page.segment_id for page in claim.store.reads.pages_by_id(owner_id, known)} if known else {}
    for chain_id, summarised in told.items():
        here = [page_id for page_id, one in chain_of.items() if one == chain_id]
        chain = before.get(chain_id, ())
        until = max((place for place, page_id in enumerate(chain) if page_id in placed), default=len(chain))
        earlier = [page_id for page_id in chain[:until] if page_id not in placed]
        where = {*(placed[page_id] for page_id in here), *(held.get(page_id) for page_id in earlier)}
        only = next(iter(where)) if len(where) == 1 else None
        if only is not None and only in touched:
            part = SummaryPart(chain_id=chain_id, text=summarised.summary, sources=summarised.sources)
            segment = made.get(only, touched[only])
            made[only] = replace(segment, parts=segment_text.with_part(segment.parts, part))
    return made


def _by_page(
    claim: Claim, notes: Sequence[NotedPage], told: Mapping[PageId, Sequence[SummaryPart]]
) -> Iterator[tuple[NotedPage, SegmentState, float | None]]:
    """Each page into the segment of the highest F_score above θ, else into one of its own (paper §3.3)."""
    for ordinal, noted in enumerate(notes):
        placement = mid_term.place(
            noted.view.vector,
            noted.keywords,
            tuple(claim.segments.values()),
            claim.settings.theta,
            claim.settings.segment_keywords,
        )
        own = told[noted.view.page.id]
        yield noted, *_placed_in(claim, noted, own, placement.segment_id, placement.f_score, ordinal)


def _by_chain(
    claim: Claim,
    notes: Sequence[NotedPage],
    told: Mapping[PageId, Sequence[SummaryPart]],
    chain_of: Mapping[PageId, ChainId],
) -> Iterator[tuple[NotedPage, SegmentState, float | None]]:
    """Each page into the segment of its chain; a new chain into the one that it is most like, else into its own."""
    grouping = claim.grouping
    grouping.follow()
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
        segment, f_score = _placed_in(claim, noted, told[page_id], segment_id, f_score, ordinal)
        places[chain_id] = last_of[noted.view.page.thread] = last = segment.id
        grouping.joined(chain_id, noted, segment)
        yield noted, segment, f_score


def _placed_in(
    claim: Claim,
    noted: NotedPage,
    told: Sequence[SummaryPart],
    segment_id: SegmentId | None,
    f_score: float | None,
    ordinal: int,
) -> tuple[SegmentState, float | None]:
    """A segment with one page more; None: a segment of this page alone."""
    if segment_id is None:
        opened = SegmentId(f"s{claim.next_no}-{ordinal:02}")
        return mid_term.opened(opened, noted.view, noted.keywords, told), None
    known = claim.segments[segment_id]
    return mid_term.grown(known, noted.view, noted.keywords, told, claim.settings), f_score
