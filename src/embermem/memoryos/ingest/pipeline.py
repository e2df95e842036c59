"""Understanding behind the path of `add`: embed, read, place, promote, evict (paper §3.3), under one lease.

Each step reads, decides outside any transaction, and applies one change. A worker may die between any two lines: what
was not applied is done again, once, by the next one.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from embermem.core.changes import (
    Analysed,
    Cause,
    ChainSummarised,
    Change,
    Decision,
    Embedded,
    Evicted,
    Linked,
    Noted,
    Placed,
    SegmentEvolved,
    SummaryPart,
)
from embermem.core.config import LinkNumbers, Settings
from embermem.core.errors import AnalystError, EmberError, ModelWait, RevisionMoved, kind
from embermem.core.types import (
    Annotation,
    ChainId,
    ChainTail,
    Fact,
    Owner,
    Page,
    PageId,
    PageView,
    PersonaChange,
    Segment,
    SegmentId,
    ThreadId,
    Utterance,
)
from embermem.core.user_overrides import RULING, rulings_of
from embermem.index.vectors import embedded
from embermem.memoryos.forget.forgetting import Summarise, taught_by
from embermem.memoryos.ingest import decay, linking, mid_term, short_term
from embermem.memoryos.ingest.expiring import ended, forget_expired
from embermem.memoryos.ingest.long_term import Knowledge
from embermem.protocols import (
    Analyst,
    Backlog,
    ChangeLog,
    Embedder,
    FactSelection,
    FactState,
    InSegment,
    Lease,
    NotedPage,
    Pending,
    ProfileRequest,
    ReadBy,
    SegmentState,
    Store,
    Unread,
    VectorBatch,
)

if TYPE_CHECKING:
    from embermem.core.types import Vector

logger = logging.getLogger(__name__)

Clock = Callable[[], datetime]
Progress = Callable[[int, int], None]
Keywords = Callable[[str, int], tuple[str, ...]]
"""At most so many keywords of a text."""

_CONDENSED_SOURCES = 64
"""A condensed summary names the newest so many utterances it rests on; its segment's pages are all the others."""
_PROFILED_AT_ONCE = 32
"""Pages that a model is shown at a promotion; what a segment has more of is shown to it next."""
_REDO_DOUBLES = 10
"""The pause before pages are read again doubles so often: from `retry_max_s`, an hour, to six weeks."""
_LINKS = LinkNumbers()
_STANDING = frozenset({FactState.HELD, FactState.ARCHIVED})
_NO_LIMIT = 2**31 - 1
"""Above every change's number."""
_TRIES = 8
"""How often a step is decided anew when another change came first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Parts:
    """What the system works with. `extractive` reads every page first; `analyst` may be the same. `keywords` are
    those of a query, in the form in which that analyst gives a page's; `theta` is Eq. 1's, as set or calibrated."""

    store: Store
    embedder: Embedder
    analyst: Analyst
    extractive: Analyst
    keywords: Keywords
    theta: float
    settings: Settings
    clock: Clock
    summarise: Summarise


@dataclass(frozen=True, kw_only=True, slots=True)
class Done:
    """What came of a claim: pages placed; whether it ended before all was done, told to stop or its slice used up;
    until when the analyst is not to be asked, and from when on pages may be read again (None: now)."""

    placed: int
    cut: bool = False
    waits_until: datetime | None = None
    redo_from: datetime | None = None


@dataclass(slots=True)
class _Held:
    """What one claim has read and keeps up to date as it applies changes; thrown away when another change came."""

    revision: int
    embedded_seq: int
    segments: dict[SegmentId, SegmentState] | None = None
    knowledge: Knowledge | None = None
    stale_segments: tuple[SegmentId, ...] | None = None
    to_redo: set[SegmentId] | None = None


def consolidate(
    parts: Parts,
    owner: Owner,
    lease: Lease,
    *,
    whole: bool,
    progress: Progress | None = None,
    stopping: Callable[[], bool] = lambda: False,
) -> Done:
    """Do all that is due for one owner whose lease is held.

    `whole`: place a batch that is not yet full or old enough too, and read again all that the configured analyst has
    not read (what `settle` asks for); else a slice of `slice_pages` or `slice_s`, and one batch of that, so that other
    owners have their turn. `stopping` is asked between steps. `progress` is told (done, total) in utterances embedded
    and pages placed or read again.
    Raises EmbedderError, StaleLease, StoreError; what was applied until then stays.
    """
    return _Consolidation(parts, owner, lease, whole=whole, progress=progress).run(stopping)


def due_at(parts: Parts, owner: Owner, began: datetime, done: Done) -> datetime | None:
    """When the owner has work again if nothing new comes in, after a claim that `began` then; None if never."""
    now, store = parts.clock(), parts.store
    modelled = parts.analyst is not parts.extractive
    left = store.backlog(
        owner.id,
        parts.settings.short_term_pages,
        now=now,
        embedder=parts.embedder.name,
        analyst=parts.extractive.name if modelled else None,
        retry_after=began,
    )
    times = [at for at in (left.retry_at, left.expires_at) if at is not None]
    if left.pending_since is not None:
        full = left.pending >= parts.settings.batch_pages
        placing = now if full else left.pending_since + timedelta(seconds=parts.settings.batch_wait_s)
        times.append(_latest(placing, done.waits_until))
    if left.redo_at is not None:
        times.append(_latest(left.redo_at, now, done.waits_until, done.redo_from))
    if parts.settings.retention:
        fades = decay.due(store.uses(owner.id), now, faded_at(store, owner), parts.settings)
        times += [] if fades is None else [fades]
    return min(times, default=None)


def faded_at(store: ChangeLog, owner: Owner) -> datetime | None:
    """When memories last faded."""
    last = store.changes(owner.id, before=_NO_LIMIT, limit=1, causes=[Cause.RETENTION])
    return last[0].recorded_at if last else None


def _latest(first: datetime, *others: datetime | None) -> datetime:
    return max([first, *(other for other in others if other is not None)])


def pause(settings: Settings, failures: int) -> timedelta:
    """The pause after so many failures: doubles from `retry_base_s` up to `retry_max_s`."""
    return timedelta(seconds=min(settings.retry_max_s, settings.retry_base_s * 2.0 ** min(failures, 32)))


class _Consolidation:
    def __init__(self, parts: Parts, owner: Owner, lease: Lease, *, whole: bool, progress: Progress | None) -> None:
        self._parts = parts
        self._settings = parts.settings
        self._store = parts.store
        self._owner = owner
        self._lease = lease
        self._whole = whole
        self._progress = progress
        self._placed = 0
        self._began = self._renewed_at = parts.clock()
        self._cut = False
        self._waits_until: datetime | None = None
        self._redo_from: datetime | None = None
        self._annotated: tuple[tuple[tuple[PageId, int], ...], tuple[Annotation, ...]] | None = None
        self._ahead: tuple[int, Future[tuple[tuple[Utterance, ...], VectorBatch]]] | None = None
        self._held = self._read_state()
        self._total = self._outstanding()

    def run(self, stopping: Callable[[], bool]) -> Done:
        """Steps in turn until none has anything to do; the next batch is embedded while this one is placed. Only then
        what another analyst read is read again, a batch at a time, because what is new comes first."""

        def over() -> bool:
            self._cut = self._cut or stopping() or self._slice_is_used_up()
            return self._cut

        self._expire()
        with ThreadPoolExecutor(1, "embermem-embed") as self._pool:
            self._understand(over)
            while not over() and self._deciding(self._redo):
                self._understand(over)
                if not self._whole:
                    break
            if self._settings.retention and not over():
                self._deciding(self._fade)
        return Done(placed=self._placed, cut=self._cut, waits_until=self._waits_until, redo_from=self._redo_from)

    def _slice_is_used_up(self) -> bool:
        settings = self._settings
        if self._whole:
            return False
        seconds = (self._parts.clock() - self._began).total_seconds()
        return self._placed >= settings.slice_pages or seconds >= settings.slice_s

    def _understand(self, stopping: Callable[[], bool]) -> None:
        """All that is new: embedded, read, placed, promoted."""
        worked = True
        while worked and not stopping():
            worked = self._deciding(self._embed)
            worked = self._deciding(self._annotate) or worked
            if self._ahead is None:
                worked = self._deciding(self._renew_segment_vectors) or worked
            while not stopping() and self._deciding(self._place):
                worked = True
                self._renew()
            self._renew()
            if self._progress is not None:
                left = self._outstanding()
                self._total = max(self._total, left)
                self._progress(self._total - left, self._total)
        self._deciding(self._promote)
        self._deciding(self._make_room)

    def _renew(self) -> None:
        """A sign of life, when a quarter of the lease has gone by."""
        now = self._parts.clock()
        if (now - self._renewed_at).total_seconds() > self._settings.lease_s / 4:
            self._store.renew(self._lease, now, self._settings.lease_s)
            self._renewed_at = now

    def _outstanding(self) -> int:
        """Utterances to embed, pages to place and pages to read again: what a progress bar counts down."""
        if self._progress is None:
            return 0
        state = self._store.owner_state(self._owner.id)
        if state is None:
            return 0
        left = self._backlog()
        return left.unembedded + left.pending + sum(left.to_redo.values())

    def _backlog(self) -> Backlog:
        parts = self._parts
        return self._store.backlog(
            self._owner.id,
            self._settings.short_term_pages,
            now=parts.clock(),
            embedder=parts.embedder.name,
            analyst=None if parts.analyst is parts.extractive else parts.extractive.name,
        )

    # ------------------------------------------------------------------------------------------------ what is held

    def _read_state(self) -> _Held:
        state = self._store.owner_state(self._owner.id)
        return _Held(
            revision=0 if state is None else state.revision,
            embedded_seq=0 if state is None else state.embedded_seq,
        )

    @property
    def _segments(self) -> dict[SegmentId, SegmentState]:
        """Mid-term memory, read once a claim, when it is first needed."""
        if self._held.segments is None:
            self._held.segments = {state.id: state for state in self._store.segment_states(self._owner.id)}
        return self._held.segments

    @property
    def _stale_segments(self) -> tuple[SegmentId, ...]:
        """Segments whose vectors are of another embedder, read once a claim: a reindex begun later ends the lease."""
        if self._held.stale_segments is None:
            self._held.stale_segments = self._backlog().stale_segments
        return self._held.stale_segments

    @property
    def _knowledge(self) -> Knowledge:
        """Long-term memory, read once a claim, when it is first needed."""
        if self._held.knowledge is None:
            rulings = rulings_of(self._store.changes(self._owner.id, causes=RULING), self._store.secret)
            self._held.knowledge = Knowledge(self._store.persona(self._owner.id), rulings, self._said_at)
        return self._held.knowledge

    def _said_at(self, seq: int) -> datetime | None:
        """When an utterance was said; None if it is gone."""
        found = self._store.utterances(self._owner.id, seq - 1, 1)
        return found[0].said_at if found and found[0].seq == seq else None

    @property
    def _to_redo(self) -> set[SegmentId]:
        """Segments with pages to be read again, read once a claim."""
        if self._held.to_redo is None:
            self._held.to_redo = set(self._backlog().to_redo)
        return self._held.to_redo

    @property
    def _waiting(self) -> bool:
        """Whether the analyst is not to be asked by now."""
        return self._waits_until is not None and self._waits_until > self._parts.clock()

    def _deciding(self, step: Callable[[], bool]) -> bool:
        """Run a step; if another change came first, read again and decide again."""
        for _ in range(_TRIES):
            try:
                return step()
            except RevisionMoved:
                self._read_held_again()
            except EmberError:
                self._held = self._read_state()
                raise
        return step()

    def _read_held_again(self) -> None:
        """Another change came first. What was embedded or read ahead stays good, but not where something was forgotten:
        it may say that."""
        since, self._held = self._held.revision, self._read_state()
        fresh = self._store.changes(self._owner.id, since=since)
        if not fresh or fresh[0].no != since + 1 or any(one.cause is Cause.FORGETTING for one in fresh):
            self._ahead = self._annotated = None

    def _apply(
        self,
        cause: Cause,
        analyst: str,
        decisions: Sequence[Decision],
        *,
        vectors: VectorBatch | None = None,
        segment_vectors: Mapping[SegmentId, Vector] | None = None,
    ) -> Change:
        change = self._store.apply(
            self._owner,
            cause,
            analyst,
            decisions,
            now=self._parts.clock(),
            revision=self._held.revision,
            lease=self._lease,
            vectors=vectors,
            segment_vectors=segment_vectors,
        )
        self._held.revision = change.no
        return change

    @property
    def _next_no(self) -> int:
        return self._held.revision + 1

    # ------------------------------------------------------------------------------------------------------- embed

    def _embed(self) -> bool:
        """Vectors for the next utterances that have none."""
        after = self._held.embedded_seq
        ahead, self._ahead = self._ahead, None
        batch, made = ahead[1].result() if ahead is not None and ahead[0] == after else self._vectors_after(after)
        if not batch:
            return False
        embedder = self._parts.embedder
        if len(batch) == self._settings.embed_batch:
            with contextlib.suppress(RuntimeError):  # the interpreter is ending: no thread can be had any more
                self._ahead = (batch[-1].seq, self._pool.submit(self._vectors_after, batch[-1].seq))
        first, last = batch[0].seq, batch[-1].seq
        self._apply(
            Cause.EMBEDDING,
            embedder.name,
            [Embedded(first_seq=first, last_seq=last, embedder=embedder.name)],
            vectors=made,
        )
        self._held.embedded_seq = last
        return True

    def _vectors_after(self, seq: int) -> tuple[tuple[Utterance, ...], VectorBatch]:
        batch = self._store.utterances(self._owner.id, seq, self._settings.embed_batch)
        vectors, tokens = embedded(self._parts.embedder, batch)
        return batch, VectorBatch(
            embedder=self._parts.embedder.name, seqs=[u.seq for u in batch], vectors=vectors, tokens=tokens
        )

    # ---------------------------------------------------------------------------------------------------- annotate

    def _annotate(self) -> bool:
        """Chains, keywords and plain facts by the extractive analyst, for pages that are embedded. Open ones
        only if asked to settle: most are answered soon, and would be read twice."""
        settings = self._settings
        unread = Unread(short=settings.short_term_pages, open_too=self._whole, limit=settings.embed_batch)
        views = [noted.view for noted in self._store.pages_to_read(self._owner.id, unread)]
        if not views:
            return False
        analyst = self._parts.extractive
        tails = self._store.tails(self._owner.id, _first_no(views))
        annotations = self._asked(analyst, tails, views)
        decisions = short_term.chained(tails, views, annotations, analyst.name, self._next_no)
        for view, annotation in zip(views, annotations, strict=True):
            if self._settings.facts_when == "read":
                decisions += self._learn(_change_of(annotation), [view.page])
        self._apply(Cause.ANNOTATION, analyst.name, decisions)
        return True

    # ------------------------------------------------------------------------------------------------------- place

    def _place(self) -> bool:
        """One batch of pending pages into segments, if it is full, old enough, or asked for."""
        settings, now = self._settings, self._parts.clock()
        if self._stale_segments:
            return False  # a reindex is on its way: nothing could be compared with them
        pending = Pending(short=settings.short_term_pages, now=now, limit=settings.batch_pages)
        batch = self._store.pages_to_read(self._owner.id, pending)
        asked = self._whole and self._ahead is None  # more is on its way: only full batches until then
        if not batch or not (asked or self._is_due(batch, now)):
            return False
        read = self._read_by_analyst(batch, now)
        if read is None:
            return False
        notes, decisions, analyst = read
        segments = self._segments
        chains = self._chain_parts(notes, decisions)
        touched: dict[SegmentId, SegmentState] = {}
        for ordinal, noted in enumerate(notes):
            segment, f_score = self._placed_in(noted, segments, chains[noted.view.page.id], ordinal)
            segments[segment.id] = touched[segment.id] = segment
            decisions.append(Placed(page_id=noted.view.page.id, segment_id=segment.id, f_score=f_score))
        decisions += [mid_term.written(segment) for segment in touched.values()]
        if settings.facts_when == "read" and analyst != self._parts.extractive.name:
            for noted in notes:
                decisions += self._learn(noted.change, [noted.view.page])
        self._apply(
            Cause.CONSOLIDATION,
            analyst,
            decisions,
            segment_vectors={s.id: s.vector_sum for s in touched.values() if s.vector_sum is not None},
        )
        self._placed += len(notes)
        if analyst == self._parts.extractive.name != self._parts.analyst.name:
            again = now + timedelta(seconds=settings.retry_max_s)
            pages = [noted.view.page.id for noted in notes]
            self._store.postpone(self._lease, pages, "", again, tried=False, redo=True)
        if self._placed // settings.promote_every > (self._placed - len(notes)) // settings.promote_every:
            self._promote()
        self._make_room(frozenset(touched))
        return True

    def _is_due(self, batch: Sequence[NotedPage], now: datetime) -> bool:
        settings = self._settings
        if len(batch) >= settings.batch_pages or batch[0].retry_at is not None:
            return True
        since = self._backlog().pending_since
        return since is not None and (now - since).total_seconds() >= settings.batch_wait_s

    def _read_by_analyst(
        self, batch: Sequence[NotedPage], now: datetime
    ) -> tuple[list[NotedPage], list[Decision], str] | None:
        """The batch as the configured analyst reads it. If that fails, the pages wait, with the error, for a longer
        time after each try; after `attempts` tries the extractive notes stand. If it is not to be asked now, they wait
        as long as it says, and that counts as no try. None: they wait."""
        analyst, extractive = self._parts.analyst, self._parts.extractive
        if analyst is extractive:
            return list(batch), [], extractive.name
        if self._waiting:
            return None
        views = [noted.view for noted in batch]
        tails = self._store.tails(self._owner.id, _first_no(views))
        try:
            annotations = self._annotations(tails, views)
        except ModelWait as wait:
            self._wait(wait)
            self._store.postpone(self._lease, [view.page.id for view in views], str(wait), wait.retry_at, tried=False)
            return None
        except AnalystError as error:
            self._redo_from = now + pause(self._settings, 0)
            tried = max(noted.attempts for noted in batch)
            if tried + 1 < self._settings.attempts:
                logger.warning("analyst %s failed on %d pages: %s", analyst.name, len(views), error)
                pages = [view.page.id for view in views]
                self._store.postpone(self._lease, pages, str(error), now + pause(self._settings, tried))
                return None
            logger.warning(
                "analyst %s failed %d times; the extractive one takes over: %s", analyst.name, tried + 1, error
            )
            return list(batch), [], extractive.name
        annotations = _with_earlier_proposals(batch, annotations)
        decisions = short_term.chained_anew(tails, views, annotations, analyst.name, self._next_no)
        return _as_read(batch, annotations), decisions, analyst.name

    def _annotations(self, tails: Mapping[ThreadId, ChainTail], views: Sequence[PageView]) -> tuple[Annotation, ...]:
        """What the analyst says of pages. It is not asked again where another change came first. Raises AnalystError,
        whatever went wrong in it."""
        analyst, key = self._parts.analyst, tuple((view.page.id, view.page.last_seq) for view in views)
        if self._annotated is not None and self._annotated[0] == key:
            return self._annotated[1]
        with _in_our_words(analyst):
            annotations = self._asked(analyst, tails, views)
        if [annotation.page_id for annotation in annotations] != [view.page.id for view in views]:
            raise AnalystError(f"{analyst.name} answered for pages that were not in the request")
        self._annotated = key, annotations
        return annotations

    def _asked(
        self, analyst: Analyst, tails: Mapping[ThreadId, ChainTail], views: Sequence[PageView]
    ) -> tuple[Annotation, ...]:
        """What an analyst says of pages. Without chains (an ablation) it is shown each alone, and none continues."""
        if self._settings.without != "chain":
            return analyst.annotate(self._owner, tails, views)
        alone = [analyst.annotate(self._owner, {}, [view]) for view in views]
        return tuple(replace(annotation, continues=False) for one in alone for annotation in one)

    def _wait(self, wait: ModelWait) -> None:
        """The analyst is not asked any more in this claim, until the time it named."""
        logger.warning("analyst %s waits until %s: %s", self._parts.analyst.name, wait.retry_at, wait)
        self._waits_until = wait.retry_at

    def _chain_parts(self, notes: Sequence[NotedPage], decisions: Sequence[Decision]) -> Mapping[PageId, SummaryPart]:
        """For each page its chain's summary, as it goes into its segment's."""
        noted = {d.page_id: d.chain_id for d in decisions if isinstance(d, Noted)}
        fresh = {d.chain_id: d for d in decisions if isinstance(d, ChainSummarised)}
        of = {n.view.page.id: noted.get(n.view.page.id, n.chain_id or ChainId("")) for n in notes}
        known = {chain.id: chain for chain in self._store.chains(self._owner.id, ids=set(of.values()))}
        parts: dict[PageId, SummaryPart] = {}
        for page_id, chain_id in of.items():
            chain = fresh.get(chain_id) or known.get(chain_id)
            parts[page_id] = SummaryPart(
                chain_id=chain_id,
                text="" if chain is None else chain.summary,
                sources=() if chain is None else chain.sources,
            )
        return parts

    def _placed_in(
        self, noted: NotedPage, segments: Mapping[SegmentId, SegmentState], part: SummaryPart, ordinal: int
    ) -> tuple[SegmentState, float | None]:
        settings, view = self._settings, noted.view
        placement = mid_term.place(
            view.vector, noted.keywords, tuple(segments.values()), self._parts.theta, settings.segment_keywords
        )
        if placement.segment_id is None:
            segment_id = SegmentId(f"s{self._next_no}-{ordinal:02}")
            return mid_term.opened(segment_id, view, noted.keywords, part), None
        known = segments[placement.segment_id]
        return mid_term.grown(known, view, noted.keywords, part, settings), placement.f_score

    # ----------------------------------------------------------------------------------------------------- promote

    def _promote(self) -> bool:
        """Every segment above τ with enough new pages is analysed: what its pages say enters the persona."""
        promoted = False
        for segment in mid_term.hot(tuple(self._segments.values()), self._parts.clock(), self._settings):
            promoted = self._analyse(segment) or promoted
        return promoted

    def _analyse(self, segment: SegmentState) -> bool:
        """§3.3: read the segment's new pages for the persona; L_interaction falls to zero by itself."""
        if self._waiting:
            return False
        now, left = self._parts.clock(), InSegment(segment_id=segment.id, unanalysed=True)
        notes = self._store.pages_to_read(self._owner.id, left)
        if not notes or any(noted.retry_at is not None and noted.retry_at > now for noted in notes):
            return False
        size = len(notes) if self._parts.analyst is self._parts.extractive else _PROFILED_AT_ONCE
        for start in range(0, len(notes), size):
            if not self._analyse_pages(self._segments[segment.id], notes[start : start + size], now):
                return False
            self._renew()
        return True

    def _analyse_pages(self, segment: SegmentState, notes: Sequence[NotedPage], now: datetime) -> bool:
        persona = self._store.persona(self._owner.id)
        views, others = tuple(noted.view for noted in notes), tuple(self._segments.values())
        modelled = self._parts.analyst is not self._parts.extractive
        near = linking.neighbours(segment.id, views, others, _LINKS.neighbours) if modelled else ()
        request = ProfileRequest(
            owner=self._owner,
            segment=_as_segment(segment, notes),
            pages=views,
            persona=persona,
            nearest=self._knowledge.current(),
            neighbours=tuple(_as_segment(one, ()) for one in near),
        )
        analyst = self._parts.analyst
        try:
            change = self._profiled(analyst, request, notes)
        except ModelWait as wait:
            self._wait(wait)
            pages = [noted.view.page.id for noted in notes]
            self._store.postpone(self._lease, pages, str(wait), wait.retry_at, tried=False)
            return False
        except AnalystError as error:
            self._redo_from = now + pause(self._settings, 0)
            if max(noted.attempts for noted in notes) + 1 < self._settings.attempts:
                logger.warning("analyst %s failed at promoting segment %s: %s", analyst.name, segment.id, error)
                retry_at = now + pause(self._settings, notes[0].attempts)
                self._store.postpone(self._lease, [n.view.page.id for n in notes], str(error), retry_at)
                return False
            analyst = self._parts.extractive
            change = self._profiled(analyst, request, notes)
        decisions = self._learn(change, [noted.view.page for noted in notes])
        named = analyst is self._parts.extractive
        tied = self._tied(change, segment, views, others if named else near, named=named)
        decisions += tied
        for noted in notes:
            decisions.append(Analysed(page_id=noted.view.page.id, upto_seq=noted.view.page.last_seq))
        after = replace(segment, unanalysed=max(0, segment.unanalysed - len(notes)))
        if change.segment_summary:
            rests_on = sorted(change.summary_sources or request.segment.sources, key=lambda source: source.seq)
            newest = tuple(rests_on[-_CONDENSED_SOURCES:])
            part = SummaryPart(chain_id=None, text=change.segment_summary, sources=newest)
            after = replace(after, parts=(part,))
            decisions.append(mid_term.written(after))
        self._apply(Cause.PROMOTION, analyst.name, decisions)
        self._segments[segment.id] = after
        for evolved in tied:
            if isinstance(evolved, SegmentEvolved):
                self._segments[evolved.segment_id] = linking.after(self._segments[evolved.segment_id], evolved)
        return True

    def _profiled(self, analyst: Analyst, request: ProfileRequest, notes: Sequence[NotedPage]) -> PersonaChange:
        """What an analyst says at a promotion. The extractive one has read these pages: its notes say what it found."""
        if analyst is not self._parts.extractive:
            with _in_our_words(analyst):
                return analyst.profile(request)
        return replace(
            analyst.profile(replace(request, pages=())),
            facts=tuple(fact for noted in notes for fact in noted.change.facts),
            traits=tuple(trait for noted in notes for trait in noted.change.traits),
            profile=tuple(field for noted in notes for field in noted.change.profile),
        )

    def _tied(
        self,
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
        held = self._knowledge.current()
        around = linking.Around(
            held=held,
            fresh=linking.fresh(held, said),
            segment=segment,
            pages=views,
            segments=segments,
            apart=linking.speakers(views, self._owner.user, self._owner.agent),
        )

        def made(known: Collection[linking.Pair]) -> list[Linked]:
            if named:
                return linking.by_name(around, known, self._next_no, _LINKS)
            return linking.linked(change.links, around, known, self._next_no, _LINKS)

        links = made(())
        if links:  # those that are there, or were taken back, are not made again
            ends = {segment.id, *(fact.id for fact in around.fresh), *(p.from_id for p in change.links if p.from_id)}
            known = self._store.links(self._owner.id, of=ends, standing=False)
            links = made(linking.pairs((one.from_id, one.to_id) for one in known))
        return [*links, *(linking.evolved(change.evolutions, around) if change.evolutions else ())]

    def _learn(self, change: PersonaChange, pages: Sequence[Page]) -> list[Decision]:
        if not (change.facts or change.traits or change.profile):
            return []
        said = taught_by(self._store, self._owner.id, pages)
        return self._knowledge.learn(
            change,
            said=said,
            known=self._resting_on(said) if change.facts else (),
            no=self._next_no,
            at=self._parts.clock(),
            settings=self._settings,
        )

    def _resting_on(self, seqs: Iterable[int]) -> list[Fact]:
        found = self._store.facts(self._owner.id, FactSelection(resting_on=frozenset(seqs)))
        return sorted(found, key=lambda fact: fact.id)

    # ------------------------------------------------------------------------------------------------------- evict

    def _make_room(self, protected: frozenset[SegmentId] = frozenset()) -> bool:
        """Above the capacity the coldest segment is analysed, then leaves for the archive."""
        segments = self._segments
        evicted = False
        while True:
            now = self._parts.clock()
            cold = mid_term.coldest(tuple(segments.values()), now, self._settings, protected)
            if cold is None:
                return evicted
            if cold.unanalysed and not self._analyse(cold):
                return evicted  # the analyst failed: its pages wait, and the segment with them
            self._apply(Cause.EVICTION, "", [Evicted(segment_id=cold.id)])
            del segments[cold.id]
            evicted = True

    # --------------------------------------------------------------------------------------------- expiry and fading

    def _expire(self) -> None:
        """What has expired is forgotten, or ends, before anything is read."""
        parts, now = self._parts, self._parts.clock()
        if forget_expired(
            self._store,
            self._owner,
            now=now,
            settings=self._settings,
            summarise=parts.summarise,
            extractive=parts.extractive.name,
        ):
            self._renew()
            self._held = self._read_state()
        self._deciding(self._end_expired)

    def _end_expired(self) -> bool:
        facts = self._store.facts(self._owner.id, FactSelection(states=_STANDING, expired_by=self._parts.clock()))
        if facts:
            self._apply(Cause.EXPIRY, "", ended(facts, self._store.persona(self._owner.id)))
            self._held.knowledge = None
        return bool(facts)

    def _fade(self) -> bool:
        """At most once in `retention_every_s`: what was not used for long leaves for the archive, segments when their
        pages are analysed."""
        now, last = self._parts.clock(), faded_at(self._store, self._owner)
        if last is not None and (now - last).total_seconds() < self._settings.retention_every_s:
            return False
        uses = self._store.uses(self._owner.id)
        for segment_id in sorted(decay.waiting(uses, now, self._settings) & self._segments.keys()):
            self._analyse(self._segments[segment_id])
        decisions = decay.fading(decay.retentions(self._store.uses(self._owner.id), now, self._settings))
        if not decisions:
            return False
        self._apply(Cause.RETENTION, "", decisions)
        self._held.segments = self._held.knowledge = None
        return True

    # -------------------------------------------------------------------------------------------------------- redo

    def _redo(self) -> bool:
        """One batch of placed pages that the extractive analyst read last is read by the configured one: of the hottest
        segment, oldest first. The segment keeps its pages; they count as not analysed again, so that it is promoted.

        What left mid-term memory for the archive stays as it was read. If the analyst fails, or failed in this claim,
        the pages keep their notes, and are tried again after longer and longer pauses.
        """
        analyst, extractive, now = self._parts.analyst, self._parts.extractive, self._parts.clock()
        if analyst is extractive or self._waiting or self._redo_from is not None or self._stale_segments:
            return False
        left = [segment for segment in self._segments.values() if segment.id in self._to_redo]
        if not left:
            return False
        segment = max(left, key=lambda s: mid_term.heat_of(s, now, self._settings))
        size = self._settings.batch_pages
        read = ReadBy(segment_id=segment.id, analyst=extractive.name, now=now, limit=size)
        batch = self._store.pages_to_read(self._owner.id, read)
        if len(batch) < size:
            self._to_redo.discard(segment.id)  # these are its last
        return not batch or self._read_again(segment, batch, now)

    def _read_again(self, segment: SegmentState, batch: Sequence[NotedPage], now: datetime) -> bool:
        analyst, views = self._parts.analyst, [noted.view for noted in batch]
        tails = self._store.tails(self._owner.id, _first_no(views))
        try:
            annotations = self._annotations(tails, views)
        except ModelWait as wait:
            self._wait(wait)
            return False
        except AnalystError as error:
            logger.warning("analyst %s failed on %d pages read before: %s", analyst.name, len(views), error)
            tries = min(_REDO_DOUBLES, max(noted.attempts for noted in batch))
            longest = timedelta(seconds=self._settings.retry_max_s)
            self._redo_from = now + longest
            pages = [view.page.id for view in views]
            self._store.postpone(self._lease, pages, str(error), now + longest * 2.0**tries, redo=True)
            return False
        annotations = _with_earlier_proposals(batch, annotations)
        notes = _as_read(batch, annotations)
        decisions = self._newest_told(short_term.chained(tails, views, annotations, analyst.name, self._next_no), views)
        decisions += [Analysed(page_id=view.page.id, upto_seq=0) for view in views]
        parts, after = self._parts_told(segment.id, views, annotations), segment
        for old, new in zip(batch, notes, strict=True):
            after = mid_term.reread(after, old.keywords, new.keywords, parts.get(old.view.page.id, ()), self._settings)
        decisions.append(mid_term.written(after))
        if self._settings.facts_when == "read":
            for noted in notes:
                decisions += self._learn(noted.change, [noted.view.page])
        self._apply(Cause.REDONE, analyst.name, decisions)
        self._held.segments = None
        return True

    def _newest_told(self, decisions: Sequence[Decision], views: Sequence[PageView]) -> list[Decision]:
        """Without the summaries of chains that go on behind these pages: theirs comes with their newest page."""
        last = {view.page.chain_id: view.page.id for view in views if view.page.chain_id is not None}
        ends = {chain.id: chain.page_ids[-1:] for chain in self._store.chains(self._owner.id, ids=last.keys())}
        return [
            d
            for d in decisions
            if not isinstance(d, ChainSummarised)
            or d.chain_id not in last
            or ends.get(d.chain_id) == (last[d.chain_id],)
        ]

    def _parts_told(
        self, segment_id: SegmentId, views: Sequence[PageView], annotations: Sequence[Annotation]
    ) -> Mapping[PageId, tuple[SummaryPart, ...]]:
        """By page, the new summary of its chain, where it is the newest page of that chain in the segment."""
        chain_ids = {view.page.chain_id for view in views if view.page.chain_id is not None}
        pages = {page_id for one in self._store.segments(self._owner.id, only=segment_id) for page_id in one.page_ids}
        ends = {
            chain.id: next((page_id for page_id in reversed(chain.page_ids) if page_id in pages), None)
            for chain in self._store.chains(self._owner.id, ids=chain_ids)
        }
        return {
            view.page.id: (
                SummaryPart(chain_id=view.page.chain_id, text=told.chain_summary, sources=told.summary_sources),
            )
            for view, told in zip(views, annotations, strict=True)
            if view.page.chain_id is not None and ends.get(view.page.chain_id) == view.page.id
        }

    # ----------------------------------------------------------------------------------------------------- reindex

    def _renew_segment_vectors(self) -> bool:
        """After a reindex, once every utterance has its new vector: each segment's from its pages'."""
        embedder, stale = self._parts.embedder.name, self._stale_segments
        if not stale or self._store.utterances(self._owner.id, self._held.embedded_seq, 1):
            return False
        sums: dict[SegmentId, Vector] = {}
        for segment_id in stale:
            own = self._store.pages_to_read(self._owner.id, InSegment(segment_id=segment_id))
            vectors = [noted.view.vector for noted in own if noted.view.vector is not None]
            if vectors:
                sums[segment_id] = np.sum(vectors, axis=0)
        if not sums:
            return False
        self._apply(Cause.REINDEX, embedder, [], segment_vectors=sums)
        self._held.segments = self._held.stale_segments = None
        return True


def _first_no(views: Sequence[PageView]) -> Mapping[ThreadId, int]:
    """For each thread the number of its first page here."""
    first: dict[ThreadId, int] = {}
    for view in views:
        first.setdefault(view.page.thread, view.page.no)
    return first


@contextlib.contextmanager
def _in_our_words(analyst: Analyst) -> Iterator[None]:
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
        replace(noted, keywords=annotation.keywords, change=_change_of(annotation))
        for noted, annotation in zip(batch, annotations, strict=True)
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


def _change_of(annotation: Annotation) -> PersonaChange:
    return PersonaChange(facts=annotation.facts, traits=annotation.traits, profile=annotation.profile)


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
    )
