"""Promote: what the new pages of a hot segment say enters the persona, and ties memories together (paper §3.3)."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime

from embermem.core.changes import Analysed, Cause, Linked, SegmentEvolved, SummaryPart
from embermem.core.config import LinkNumbers
from embermem.core.errors import AnalystError, ModelWait
from embermem.core.types import PageView, PersonaChange, Segment
from embermem.memoryos.ingest import linking, mid_term, segment_text
from embermem.memoryos.ingest.claim import Claim, pause
from embermem.memoryos.ingest.read import in_our_words
from embermem.protocols import Analyst, InSegment, NotedPage, ProfileRequest, SegmentState

logger = logging.getLogger(__name__)

_CONDENSED_SOURCES = 64
"""A condensed summary names the newest so many utterances it rests on; its segment's pages are all the others."""
_PROFILED_AT_ONCE = 32
"""Pages that a model is shown at a promotion; what a segment has more of is shown to it next."""
_LINKS = LinkNumbers()


def promote(claim: Claim) -> bool:
    """Every segment above τ with enough new pages is analysed: what its pages say enters the persona."""
    promoted = False
    for segment in mid_term.hot(tuple(claim.segments.values()), claim.parts.clock(), claim.settings):
        promoted = analyse(claim, segment) or promoted
    return promoted


def analyse(claim: Claim, segment: SegmentState) -> bool:
    """§3.3: read the segment's new pages for the persona; L_interaction falls to zero by itself."""
    if claim.waiting:
        return False
    now, left = claim.parts.clock(), InSegment(segment_id=segment.id, unanalysed=True)
    notes = claim.store.pages_to_read(claim.owner.id, left)
    if not notes or any(noted.retry_at is not None and noted.retry_at > now for noted in notes):
        return False
    size = _PROFILED_AT_ONCE if claim.parts.modelled else len(notes)
    for start in range(0, len(notes), size):
        if not _analyse_pages(claim, claim.segments[segment.id], notes[start : start + size], now):
            return False
        claim.renew()
    return True


def _analyse_pages(claim: Claim, segment: SegmentState, notes: Sequence[NotedPage], now: datetime) -> bool:
    persona = claim.store.persona(claim.owner.id)
    views, others = tuple(noted.view for noted in notes), tuple(claim.segments.values())
    pages = [view.page for view in views]
    near = linking.neighbours(segment.id, views, others, _LINKS.neighbours) if claim.parts.modelled else ()
    request = ProfileRequest(
        owner=claim.owner,
        segment=_as_segment(segment, notes),
        pages=views,
        persona=persona,
        nearest=claim.knowledge.current(),
        neighbours=tuple(_as_segment(one, ()) for one in near),
    )
    analyst = claim.parts.analyst
    try:
        change = _profiled(claim, analyst, request, notes)
    except ModelWait as wait:
        claim.wait(wait)
        claim.store.postpone(claim.lease, [page.id for page in pages], str(wait), wait.retry_at, tried=False)
        return False
    except AnalystError as error:
        claim.redo_from = now + pause(claim.settings, 0)
        if max(noted.attempts for noted in notes) + 1 < claim.settings.attempts:
            logger.warning("analyst %s failed at promoting segment %s: %s", analyst.name, segment.id, error)
            retry_at = now + pause(claim.settings, notes[0].attempts)
            claim.store.postpone(claim.lease, [page.id for page in pages], str(error), retry_at)
            return False
        analyst = claim.parts.extractive
        change = _profiled(claim, analyst, request, notes)
    decisions = claim.learn(change, pages)
    named = analyst is claim.parts.extractive
    tied = _tied(claim, change, segment, views, others if named else near, named=named)
    decisions += tied
    decisions += [Analysed(page_id=page.id, upto_seq=page.last_seq) for page in pages]
    after = replace(segment, unanalysed=max(0, segment.unanalysed - len(notes)))
    if change.segment_summary:
        rests_on = sorted(change.summary_sources or request.segment.sources, key=lambda source: source.seq)
        newest = tuple(rests_on[-_CONDENSED_SOURCES:])
        part = SummaryPart(chain_id=None, text=change.segment_summary, sources=newest)
        spread = segment_text.spread_of((count.word for count in one.keywords) for one in others)
        after = replace(after, parts=(part,), title=change.segment_title)
        after = segment_text.finished(after, spread, claim.parts.writer, claim.settings)
        decisions.append(segment_text.written(after))
    claim.apply(Cause.PROMOTION, change.read_by or analyst.name, decisions)
    claim.segments[segment.id] = after
    for evolved in tied:
        if isinstance(evolved, SegmentEvolved):
            claim.segments[evolved.segment_id] = linking.after(claim.segments[evolved.segment_id], evolved)
    return True


def _profiled(claim: Claim, analyst: Analyst, request: ProfileRequest, notes: Sequence[NotedPage]) -> PersonaChange:
    """What an analyst says at a promotion. The extractive one has read these pages: its notes say what it found."""
    if analyst is not claim.parts.extractive:
        with in_our_words(analyst):
            return analyst.profile(request)
    return replace(
        analyst.profile(replace(request, pages=())),
        facts=tuple(fact for noted in notes for fact in noted.change.facts),
        traits=tuple(trait for noted in notes for trait in noted.change.traits),
        profile=tuple(field for noted in notes for field in noted.change.profile),
    )


def _tied(
    claim: Claim,
    change: PersonaChange,
    segment: SegmentState,
    views: Sequence[PageView],
    segments: Sequence[SegmentState],
    *,
    named: bool,
) -> list[Linked | SegmentEvolved]:
    """The links that a promotion makes, and what it makes of the segments beside: as the analyst proposes, or with
    `named` by the names of what the facts are about."""
    said = {u.seq: u for view in views for u in view.page.utterances}
    held = claim.knowledge.current()
    around = linking.Around(
        held=held,
        fresh=linking.fresh(held, said),
        segment=segment,
        pages=views,
        segments=segments,
        apart=linking.speakers(views, claim.owner.user, claim.owner.agent),
    )

    def made(known: Collection[linking.Pair]) -> list[Linked]:
        if named:
            return linking.by_name(around, known, claim.next_no, _LINKS)
        return linking.linked(change.links, around, known, claim.next_no, _LINKS)

    links = made(())
    if links:  # those that are there, or were taken back, are not made again
        ends = {segment.id, *(fact.id for fact in around.fresh), *(p.from_id for p in change.links if p.from_id)}
        known = claim.store.links(claim.owner.id, of=ends, standing=False)
        links = made(linking.pairs((one.from_id, one.to_id) for one in known))
    return [*links, *(linking.evolved(change.evolutions, around) if change.evolutions else ())]


def _as_segment(state: SegmentState, notes: Sequence[NotedPage]) -> Segment:
    """The segment as an analyst is shown it, with those of its pages that are new."""
    return Segment(
        id=state.id,
        summary="\n".join(part.text for part in state.parts),
        keywords=tuple(dict.fromkeys((*(count.word for count in state.keywords), *state.evolved))),
        page_ids=tuple(noted.view.page.id for noted in notes),
        visits=state.visits,
        unanalysed=state.unanalysed,
        last_access=state.last_access,
        archived=False,
        change_no=0,
        recorded_at=state.last_access,
        said_from=state.said_from,
        said_to=state.said_to,
        sources=tuple(dict.fromkeys(source for part in state.parts for source in part.sources)),
        tags=state.tags,
        context=state.context,
        title=state.title,
    )
