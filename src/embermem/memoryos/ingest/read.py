"""Read: chains, keywords and proposals of pages, by the extractive analyst first, then by the configured one."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from embermem.core.changes import Analysed, Cause, ChainSummarised, Decision, Noted, SummaryPart
from embermem.core.errors import (
    AnalystError,
    EmberError,
    ModelError,
    ModelReplyError,
    ModelResting,
    ModelTimeout,
    ModelTooLong,
    ModelWait,
    kind,
)
from embermem.core.types import Annotation, ChainId, ChainTail, PageId, PageView, PersonaChange, SegmentId, ThreadId
from embermem.memoryos.ingest import mid_term, segment_text, short_term
from embermem.memoryos.ingest.claim import Claim, pause, rest
from embermem.memoryos.ingest.embed import summary_vectors
from embermem.protocols import Analyst, NotedPage, SegmentState

logger = logging.getLogger(__name__)


def annotate(claim: Claim) -> bool:
    """Chains, keywords and plain facts by the extractive analyst, for pages that are embedded. Open ones only if asked
    to settle, or once they have been quiet for `quiet_s`: most are answered soon, and would be read twice.

    A page that was read before something joined it keeps its chain, and teaches only what was added.
    """
    settings, analyst = claim.settings, claim.parts.extractive
    batch = claim.store.work.unread_pages(
        claim.owner.id,
        settings.short_term_pages,
        open_too=claim.whole,
        now=claim.parts.clock(),
        quiet_s=settings.quiet_s,
        limit=settings.embed_batch,
    )
    if not batch:
        return False
    views = [noted.view for noted in batch]
    tails = _tails_gone_on_from(_tails(claim, views), views)
    annotations = _asked(claim, analyst, tails, views)
    stays = _chains_kept(tails, views, annotations)
    chained = short_term.chained(tails, views, annotations, analyst.name, claim.next_no)
    decisions = [d for d in chained if not isinstance(d, ChainSummarised) or d.chain_id not in stays]
    decisions += claim.knowledge.meet(view.page for view in views)
    decisions += learnt_when_read(claim, [_added(noted) for noted in _as_read(batch, annotations)])
    claim.apply(Cause.ANNOTATION, analyst.name, decisions)
    claim.held.pending = ()
    return True


def learnt_when_read(claim: Claim, notes: Sequence[NotedPage]) -> list[Decision]:
    """What pages teach at once, where the settings say so; else they teach at their promotion."""
    if claim.settings.facts_when != "read":
        return []
    return claim.learn(*((noted.change, [noted.view.page]) for noted in notes))


def _tails_gone_on_from(tails: Mapping[ThreadId, ChainTail], views: Sequence[PageView]) -> Mapping[ThreadId, ChainTail]:
    """Without the tails of threads whose first page here was read before, and began a chain then."""
    first = {view.page.thread: view.page.chain_id for view in reversed(views)}
    return {thread: tail for thread, tail in tails.items() if first[thread] in (None, tail.chain_id)}


def _chains_kept(
    tails: Mapping[ThreadId, ChainTail], views: Sequence[PageView], annotations: Sequence[Annotation]
) -> set[ChainId]:
    """The chains in which a page read before stays, though with its reply the analyst would begin another: it was not
    shown such a chain's summary to go on from, so the summary stays as it was."""
    return {
        tails[view.page.thread].chain_id
        for view, said in zip(views, annotations, strict=True)
        if view.page.chain_id is not None and view.page.thread in tails and not said.continues
    }


def _added(noted: NotedPage) -> NotedPage:
    """The page with only what joined it since it was read."""
    page = noted.view.page
    new = tuple(said for said in page.utterances if said.seq > noted.read_seq)
    return replace(noted, view=replace(noted.view, page=replace(page, utterances=new)))


# ------------------------------------------------------------------------------------------- by the configured analyst


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """Pages as somebody read them: their notes, decisions of the change that places them, and who read them. `error`:
    why it was not the configured analyst; `tried`: that was shown this page alone, and failed on it. `told` are the
    chains whose summaries are the configured analyst's own."""

    notes: list[NotedPage]
    decisions: list[Decision]
    analyst: str
    told: frozenset[ChainId] = frozenset()
    error: str = ""
    tried: bool = False


def read_by_analyst(claim: Claim, batch: Sequence[NotedPage], now: datetime) -> Reading | None:
    """The batch, or the first pages of it, as the configured analyst reads them. None: they wait.

    After an answer that cannot be used, or to a prompt that is too long, half as many pages are shown; a single page
    stands as extraction read it. If a question fails on the way, the pages wait, with the error, for a longer time
    after each try; after `attempts` tries these pages, and those that follow in this claim, stand as extraction read
    them. A claim that is to do all makes these tries at once, and none while the server is left alone: whoever settles
    is not held up by a server that does not answer. Where the analyst is not to be asked for another reason, pages wait
    as long as it says, and that counts as no try.
    """
    if not claim.parts.modelled:
        return _as_extracted(claim, batch)
    if claim.unread is not None:
        return _as_extracted(claim, batch, error=claim.unread)
    if claim.waiting:
        return None
    pace, tried, failure = claim.parts.reading, max(noted.attempts for noted in batch), ""
    while True:
        shown = batch[: pace.size(len(batch))]
        tails = _tails(claim, [noted.view for noted in shown])
        try:
            annotations = _annotations(claim, tails, [noted.view for noted in shown])
        except ModelWait as wait:
            if claim.gives_way(wait):
                continue
            if claim.whole and isinstance(wait, ModelResting):
                claim.go_on_without(failure or str(wait))
                return _as_extracted(claim, batch, error=failure or str(wait))
            claim.wait(wait)
            claim.store.work.postpone(claim.lease, ids_of(batch), str(wait), wait.retry_at, tried=False)
            return None
        except (ModelReplyError, ModelTooLong) as error:
            logger.warning("the answer about %d pages could not be used: %s", len(shown), error)
            pace.failed(len(shown))
            if len(shown) == 1:
                claim.unread = str(error) if pace.hopeless else None
                return _as_extracted(claim, shown, error=str(error), tried=True)
        except AnalystError as error:
            tried, failure = tried + 1, str(error)
            if isinstance(error, ModelTimeout) and len(shown) > 1:
                pace.failed(len(shown))
            if tried < claim.settings.attempts and claim.tries_on(error):
                continue
            return _failed_on_the_way(claim, batch, error, tried, now)
        else:
            pace.answered(len(shown))
            return _as_analysed(claim, shown, tails, annotations)


def _as_extracted(claim: Claim, batch: Sequence[NotedPage], *, error: str = "", tried: bool = False) -> Reading:
    """Pages as extraction noted them before."""
    return Reading(notes=list(batch), decisions=[], analyst=claim.parts.extractive.name, error=error, tried=tried)


def _as_analysed(
    claim: Claim,
    batch: Sequence[NotedPage],
    tails: Mapping[ThreadId, ChainTail],
    annotations: Sequence[Annotation],
) -> Reading:
    annotations, views = _with_earlier_proposals(batch, annotations), [noted.view for noted in batch]
    name = claim.parts.analyst.name
    decisions = short_term.chained(tails, views, annotations, name, claim.next_no, anew=True)
    noted = (decision for decision in decisions if isinstance(decision, Noted))
    last = {note.chain_id: said for note, said in zip(noted, annotations, strict=True)}
    return Reading(
        notes=_as_read(batch, annotations),
        decisions=decisions,
        analyst=_read_by(claim, annotations),
        told=frozenset(chain_id for chain_id, said in last.items() if not said.extracted),
    )


def _read_by(claim: Claim, annotations: Sequence[Annotation]) -> str:
    """Who read the pages: the analyst, or another with it where that read some of what they say."""
    return next((one.read_by for one in annotations if one.read_by), claim.parts.analyst.name)


def _failed_on_the_way(
    claim: Claim, batch: Sequence[NotedPage], error: AnalystError, tried: int, now: datetime
) -> Reading | None:
    """After so many tries: the pages wait, or extraction's notes of them stand."""
    analyst = claim.parts.analyst
    claim.redo_from = now + pause(claim.settings, 0)
    if tried < claim.settings.attempts:
        logger.warning("analyst %s failed on %d pages: %s", analyst.name, len(batch), error)
        claim.store.work.postpone(claim.lease, ids_of(batch), str(error), now + claim.pause_after(error, tried))
        return None
    logger.warning("analyst %s failed %d times; the extractive one takes over: %s", analyst.name, tried, error)
    told = str(error) if isinstance(error, ModelError) else ""
    claim.go_on_without(told)
    return _as_extracted(claim, batch, error=told)


def ids_of(batch: Sequence[NotedPage]) -> list[PageId]:
    """The ids of pages."""
    return [noted.view.page.id for noted in batch]


def _tails(claim: Claim, views: Sequence[PageView]) -> Mapping[ThreadId, ChainTail]:
    """What stands before these pages, by the number of the first one of each thread."""
    first: dict[ThreadId, int] = {}
    for view in views:
        first.setdefault(view.page.thread, view.page.no)
    return claim.store.work.tails(claim.owner.id, first)


def _annotations(
    claim: Claim, tails: Mapping[ThreadId, ChainTail], views: Sequence[PageView]
) -> tuple[Annotation, ...]:
    """What the analyst says of pages. It is not asked again where another change came first. Raises AnalystError,
    whatever went wrong in it."""
    analyst, key = claim.parts.analyst, tuple((view.page.id, view.page.last_seq) for view in views)
    if claim.annotated is not None and claim.annotated[0] == key:
        return claim.annotated[1]
    with in_our_words(analyst):
        annotations = _asked(claim, analyst, tails, views)
    if [annotation.page_id for annotation in annotations] != [view.page.id for view in views]:
        raise AnalystError(f"{analyst.name} answered for pages that were not in the request")
    claim.annotated = key, annotations
    return annotations


def _asked(
    claim: Claim, analyst: Analyst, tails: Mapping[ThreadId, ChainTail], views: Sequence[PageView]
) -> tuple[Annotation, ...]:
    """What an analyst says of pages. Without chains (an ablation) it is shown each alone, and none continues."""
    if claim.settings.without != "chain":
        return analyst.annotate(claim.owner, tails, views)
    alone = [analyst.annotate(claim.owner, {}, [view]) for view in views]
    return tuple(replace(annotation, continues=False) for one in alone for annotation in one)


@contextlib.contextmanager
def in_our_words(analyst: Analyst) -> Iterator[None]:
    """Whatever goes wrong in an analyst is an AnalystError in our words: what it says may be a page's or a server's."""
    try:
        yield
    except EmberError:
        raise
    except Exception as error:
        logger.error("analyst %s has a defect: %s", analyst.name, kind(error))
        raise AnalystError(f"{analyst.name} failed with a {type(error).__name__}; the log says where") from error


def _as_read(batch: Sequence[NotedPage], annotations: Sequence[Annotation]) -> list[NotedPage]:
    """The pages with what an analyst now says of them."""
    return [
        replace(
            noted,
            keywords=said.keywords,
            change=PersonaChange(facts=said.facts, traits=said.traits, profile=said.profile),
        )
        for noted, said in zip(batch, annotations, strict=True)
    ]


def _with_earlier_proposals(batch: Sequence[NotedPage], annotations: Sequence[Annotation]) -> tuple[Annotation, ...]:
    """An analyst that leaves the persona to promotion says nothing of it here: then what an earlier one found stands,
    for a promotion at which the model fails."""
    return tuple(
        annotation
        if annotation.facts or annotation.traits or annotation.profile
        else replace(annotation, facts=noted.change.facts, traits=noted.change.traits, profile=noted.change.profile)
        for noted, annotation in zip(batch, annotations, strict=True)
    )


# -------------------------------------------------------------------------------------------------------------- again


def redo(claim: Claim) -> bool:
    """One batch of placed pages that the extractive analyst read last is read by the configured one: of the hottest
    segment, oldest first. The segment keeps its pages; they count as not analysed again, so that it is promoted.

    What left mid-term memory for the archive stays as it was read. If the analyst fails, or failed in this claim, the
    pages keep their notes, and are tried again after longer and longer pauses. After an answer that cannot be used,
    half as many are shown.
    """
    now, size = claim.parts.clock(), claim.parts.reading.size(claim.settings.batch_pages)
    failed = claim.unread is not None or claim.redo_from is not None
    if not claim.parts.modelled or claim.waiting or failed or claim.stale_segments:
        return False
    left = [segment for segment in claim.segments.values() if segment.id in claim.to_redo]
    if not left:
        return False
    segment = max(left, key=lambda s: mid_term.heat_of(s, now, claim.settings))
    batch = claim.store.work.pages_to_redo(claim.owner.id, segment.id, now, size)
    if not batch:
        claim.to_redo.discard(segment.id)
        return True
    return _read_again(claim, segment, batch, now)


def _read_again(claim: Claim, segment: SegmentState, batch: Sequence[NotedPage], now: datetime) -> bool:
    analyst, views, pace = claim.parts.analyst, [noted.view for noted in batch], claim.parts.reading
    tails = _tails(claim, views)
    try:
        annotations = _annotations(claim, tails, views)
    except ModelWait as wait:
        if claim.gives_way(wait):
            return True
        claim.wait(wait)
        return False
    except AnalystError as error:
        logger.warning("analyst %s failed on %d pages read before: %s", analyst.name, len(views), error)
        unusable, tries = isinstance(error, (ModelReplyError, ModelTooLong)), max(noted.attempts for noted in batch)
        if unusable:
            pace.failed(len(views))
        if unusable and len(views) > 1:
            return True
        if not unusable or pace.hopeless:
            claim.redo_from = now + rest(claim.settings, 0)
        claim.store.work.postpone_redo(claim.lease, ids_of(batch), str(error), now + rest(claim.settings, tries))
        return claim.redo_from is None
    pace.answered(len(views))
    annotations = _with_earlier_proposals(batch, annotations)
    notes = _as_read(batch, annotations)
    chained = short_term.chained(tails, views, annotations, analyst.name, claim.next_no)
    decisions = _newest_told(claim, chained, views)
    decisions += [Analysed(page_id=view.page.id, upto_seq=0) for view in views]
    parts, after = _parts_told(claim, segment.id, views, annotations), segment
    for old, new in zip(batch, notes, strict=True):
        after = segment_text.reread(after, old.keywords, new.keywords, parts.get(old.view.page.id, ()), claim.settings)
    spread = segment_text.spread_of((count.word for count in one.keywords) for one in claim.segments.values())
    after = segment_text.finished(after, spread, claim.parts.writer, claim.settings)
    decisions.append(segment_text.written(after))
    decisions += learnt_when_read(claim, notes)
    vectors = summary_vectors(claim, [after])
    claim.apply(Cause.REDONE, _read_by(claim, annotations), decisions, segment_vectors=vectors)
    claim.held.segments = None
    return True


def _newest_told(claim: Claim, decisions: Sequence[Decision], views: Sequence[PageView]) -> list[Decision]:
    """Without the summaries of chains that go on after these pages: theirs comes with their newest page."""
    last = {view.page.chain_id: view.page.id for view in views if view.page.chain_id is not None}
    ends = {chain.id: chain.page_ids[-1:] for chain in claim.store.reads.chains(claim.owner.id, ids=last.keys())}
    return [
        d
        for d in decisions
        if not isinstance(d, ChainSummarised) or d.chain_id not in last or ends.get(d.chain_id) == (last[d.chain_id],)
    ]


def _parts_told(
    claim: Claim, segment_id: SegmentId, views: Sequence[PageView], annotations: Sequence[Annotation]
) -> Mapping[PageId, tuple[SummaryPart, ...]]:
    """By page, the new summary of its chain, where it is the newest of the chain's pages in the segment, which has all
    before it too."""
    owner_id = claim.owner.id
    chain_ids = {view.page.chain_id for view in views if view.page.chain_id is not None}
    pages = {page_id for one in claim.store.reads.segments(owner_id, ids=[segment_id]) for page_id in one.page_ids}
    ends: dict[ChainId, PageId] = {}
    for chain in claim.store.reads.chains(owner_id, ids=chain_ids):
        here = [page_id for page_id in chain.page_ids if page_id in pages]
        if here and tuple(here) == chain.page_ids[: len(here)]:
            ends[chain.id] = here[-1]
    return {
        view.page.id: (SummaryPart(chain_id=view.page.chain_id, text=told.chain_summary, sources=told.summary_sources),)
        for view, told in zip(views, annotations, strict=True)
        if view.page.chain_id is not None and ends.get(view.page.chain_id) == view.page.id and not told.extracted
    }
