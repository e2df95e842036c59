"""Promote: what the new pages of a hot segment say enters the persona (paper §3.3)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING

from embermem.core.changes import Analysed, Cause, SummaryPart, is_extractive
from embermem.core.errors import AnalystError, ModelReplyError, ModelResting, ModelTooLong, ModelWait
from embermem.core.types import Persona, PersonaChange, Segment, SegmentId
from embermem.memoryos.ingest import mid_term, segment_text
from embermem.memoryos.ingest.claim import Claim, pause, rest
from embermem.memoryos.ingest.embed import summary_vectors
from embermem.memoryos.ingest.read import ids_of, in_our_words
from embermem.protocols import Analyst, NotedPage, ProfileRequest, SegmentState

if TYPE_CHECKING:
    from embermem.core.types import Vector

logger = logging.getLogger(__name__)

_CONDENSED_SOURCES = 64
"""A condensed summary names the newest so many utterances it rests on; its segment's pages are all the others."""
_PROFILED_AT_ONCE = 32
"""Pages that a model is shown at a promotion; what a segment has more of is shown to it next."""
_ALONE = 2
"""Single pages of a segment that may fail at one promotion, one where the model is hopeless; the segment's others are
left to the next."""


def promote(claim: Claim) -> bool:
    """Every segment above τ with enough new pages is analysed: what its pages say enters the persona."""
    promoted, segments = False, tuple(claim.segments.values())
    due = mid_term.hot(segments, claim.parts.clock(), claim.settings)
    for segment in mid_term.not_analysed(segments) if claim.any_heat else due:
        promoted = analyse(claim, segment) or promoted
    return promoted


class _Came(Enum):
    """What came of a question at a promotion."""

    TAUGHT = "taught"
    AGAIN = "again"
    """Nothing: the pages are asked about again, fewer at a time."""
    STOPPED = "stopped"
    """The pages wait; the segment's others are not asked about."""


def analyse(claim: Claim, segment: SegmentState, *, leaving: bool = False) -> bool:
    """§3.3: read the segment's new pages for the persona; L_interaction falls to zero by itself. Whether none is left.

    Pages on which the analyst failed wait, and count as new; others are analysed once there are `min_new` of them.
    What failed `attempts` times teaches what extraction found in it, and is shown to the analyst again after longer and
    longer pauses, but not if the segment is `leaving` for the archive.
    """
    settings, now = claim.settings, claim.parts.clock()
    notes = claim.store.work.unanalysed_pages(claim.owner.id, segment.id)
    waiting = [noted for noted in notes if noted.retry_at is not None and noted.retry_at > now]
    ready = [noted for noted in notes if noted not in waiting]
    if leaving:
        _close(claim, segment, [noted for noted in notes if noted.attempts >= settings.attempts])
        waiting, ready = ([n for n in some if n.attempts < settings.attempts] for some in (waiting, ready))
    elif (
        waiting
        and len(ready) < (1 if claim.any_heat else settings.min_new)
        and not any(noted.attempts for noted in ready)
    ):
        return False
    alone = 0
    while ready and not claim.waiting:
        if claim.unpromoted is not None:
            until = now + pause(settings, 0)
            claim.store.work.postpone(claim.lease, ids_of(ready), claim.unpromoted, until, tried=False)
            return False
        asks = claim.parts.modelled and not claim.unbelieved
        size = _asked_at_once(claim) if asks else len(ready)
        came = _analyse_pages(claim, claim.segments[segment.id], ready[:size], now)
        claim.renew()
        if came is _Came.STOPPED:
            return False
        if came is _Came.AGAIN:
            continue
        some, ready = ready[:size], ready[size:]
        if isinstance(came, AnalystError):
            waiting += some
            alone += 1
            if ready and (alone >= _ALONE or claim.parts.promoting.hopeless):
                claim.store.work.postpone(claim.lease, ids_of(ready), str(came), now + pause(settings, 0), tried=False)
                return False
    return not ready and not waiting


def _asked_at_once(claim: Claim) -> int:
    """How many pages the model is shown in one question; one where it could not even note a page."""
    return claim.parts.promoting.size(1 if claim.parts.reading.hopeless else _PROFILED_AT_ONCE)


def _analyse_pages(
    claim: Claim, segment: SegmentState, notes: Sequence[NotedPage], now: datetime
) -> _Came | AnalystError:
    """An error: the page waits, because its answer could not be used; the next one is asked about."""
    extractive, pace = claim.parts.extractive, claim.parts.promoting
    analyst = extractive if claim.unbelieved else claim.parts.analyst
    # the extractive one reads pages alone
    persona = Persona() if analyst is extractive else claim.store.reads.persona(claim.owner.id)
    views, others = tuple(noted.view for noted in notes), tuple(claim.segments.values())
    pages = [view.page for view in views]
    request = ProfileRequest(
        owner=claim.owner,
        segment=_as_segment(segment, notes),
        pages=views,
        persona=persona,
        nearest=claim.knowledge.current(),
        read=tuple(fact for noted in notes for fact in noted.change.facts),
    )
    try:
        change = _profiled(claim, analyst, request, notes)
    except ModelWait as wait:
        if claim.gives_way(wait):
            return _Came.AGAIN
        if claim.whole and isinstance(wait, ModelResting):
            claim.go_on_without(str(wait))
            return _Came.AGAIN
        claim.wait(wait)
        claim.store.work.postpone(claim.lease, ids_of(notes), str(wait), wait.retry_at, tried=False)
        return _Came.STOPPED
    except AnalystError as error:
        logger.warning("analyst %s failed at promoting segment %s: %s", analyst.name, segment.id, error)
        unusable = isinstance(error, (ModelReplyError, ModelTooLong))
        if unusable:
            pace.failed(len(notes))
        if unusable and len(notes) > 1:
            return _Came.AGAIN
        if not unusable:
            claim.redo_from = now + pause(claim.settings, 0)
        _put_off(claim, segment, request, notes, error)
        return error if unusable else _Came.STOPPED
    if is_extractive(change.read_by):  # nothing of the model's answer was believed
        pace.failed(len(notes))
        claim.unbelieved = pace.hopeless
        analyst, change = extractive, _profiled(claim, extractive, request, notes)
    elif analyst is not extractive:
        pace.answered(len(notes))
    decisions = claim.learn((change, pages))
    decisions += [Analysed(page_id=page.id, upto_seq=page.last_seq) for page in pages]
    after = replace(segment, unanalysed=max(0, segment.unanalysed - len(notes)))
    vectors: dict[SegmentId, Vector] = {}
    if change.segment_summary:
        rests_on = sorted(change.summary_sources or request.segment.sources, key=lambda source: source.seq)
        newest = tuple(rests_on[-_CONDENSED_SOURCES:])
        part = SummaryPart(chain_id=None, text=change.segment_summary, sources=newest)
        spread = segment_text.spread_of((count.word for count in one.keywords) for one in others)
        after = replace(after, parts=(part,), title=change.segment_title)
        after = segment_text.finished(after, spread, claim.parts.writer, claim.settings)
        decisions.append(segment_text.written(after))
        vectors = summary_vectors(claim, [after])
        after = replace(after, vector_sum=vectors.get(after.id, after.vector_sum))
    claim.apply(Cause.PROMOTION, change.read_by or analyst.name, decisions, segment_vectors=vectors)
    claim.segments[segment.id] = after
    claim.analysed += len(notes)
    claim.promoted.add(segment.id)
    return _Came.TAUGHT


def _put_off(
    claim: Claim, segment: SegmentState, request: ProfileRequest, notes: Sequence[NotedPage], error: AnalystError
) -> None:
    """Pages on which the analyst failed wait. At the last of its `attempts` they teach what extraction found."""
    settings, extractive = claim.settings, claim.parts.extractive
    tried = max(noted.attempts for noted in notes) + 1
    last = [noted for noted in notes if noted.attempts + 1 == settings.attempts]
    if last:
        change = _profiled(claim, extractive, request, last)
        decisions = claim.learn((change, [noted.view.page for noted in last]))
        if decisions:
            claim.apply(Cause.PROMOTION, extractive.name, decisions)
    wait = claim.pause_after(error, tried) if tried < settings.attempts else rest(settings, tried - settings.attempts)
    claim.store.work.postpone(claim.lease, ids_of(notes), str(error), claim.parts.clock() + wait)


def _close(claim: Claim, segment: SegmentState, notes: Sequence[NotedPage]) -> None:
    """These pages are analysed as extraction read them, for good."""
    if notes:
        done = [Analysed(page_id=noted.view.page.id, upto_seq=noted.view.page.last_seq) for noted in notes]
        claim.apply(Cause.PROMOTION, claim.parts.extractive.name, done)
        claim.segments[segment.id] = replace(segment, unanalysed=max(0, segment.unanalysed - len(notes)))


def _profiled(claim: Claim, analyst: Analyst, request: ProfileRequest, notes: Sequence[NotedPage]) -> PersonaChange:
    """What an analyst says at a promotion. The extractive one has read these pages: its notes say what it found."""
    if analyst is not claim.parts.extractive:
        with in_our_words(analyst):
            return analyst.profile(request)
    return PersonaChange(
        facts=tuple(fact for noted in notes for fact in noted.change.facts),
        traits=tuple(trait for noted in notes for trait in noted.change.traits),
        profile=tuple(field for noted in notes for field in noted.change.profile),
    )


def _as_segment(state: SegmentState, notes: Sequence[NotedPage]) -> Segment:
    """The segment as an analyst is shown it, with those of its pages that are new."""
    return Segment(
        id=state.id,
        summary="\n".join(part.text for part in state.parts),
        keywords=tuple(count.word for count in state.keywords),
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
        title=state.title,
    )
