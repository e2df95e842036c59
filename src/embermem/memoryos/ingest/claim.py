"""One claim of an owner: what every step of consolidation works with, and what it has read while the lease is held."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from embermem.core.changes import Cause, Change, Decision, SegmentTexts, SegmentWritten, growth
from embermem.core.config import Settings
from embermem.core.errors import (
    AnalystError,
    ModelBusy,
    ModelError,
    ModelGaveWay,
    ModelWait,
    RevisionMoved,
)
from embermem.core.types import (
    Annotation,
    Fact,
    FactProposal,
    Owner,
    Page,
    PageId,
    PersonaChange,
    SegmentId,
    Utterance,
)
from embermem.core.user_overrides import RULING, rulings_of
from embermem.core.vectors import of_summaries
from embermem.memoryos.ingest.grouping import Grouping
from embermem.memoryos.ingest.heat_sample import HeatWatch
from embermem.memoryos.ingest.long_term import Knowledge
from embermem.memoryos.ingest.pace import Pace
from embermem.memoryos.ingest.segment_text import stored
from embermem.memoryos.ingest.work_watch import WorkWatch
from embermem.protocols import (
    ARCHIVED,
    Analyst,
    Backlog,
    Embedder,
    FactSelection,
    Lease,
    NotedPage,
    Reader,
    SegmentState,
    SegmentVectors,
    SegmentWriter,
    Store,
    VectorBatch,
)

if TYPE_CHECKING:
    from embermem.core.types import Vector
    from embermem.memoryos.forget.remainder import Summarise

logger = logging.getLogger(__name__)

Clock = Callable[[], datetime]
Keywords = Callable[[str, int], tuple[str, ...]]
"""At most so many keywords of a text."""

_REST_DOUBLES = 10
_GIVES_WAY = 30
"""How often a claim that is to do all asks again what gave way to a chat, before its pages wait."""
_GIVES_WAY_S = 5.0
"""The longest pause before that."""
_BATCHES = 8
"""Of so many batches the pages are read at once."""
_TRIES = 7
"""How often a step is decided anew when another change came first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Parts:
    """What the system works with. `extractive` reads every page first; `analyst` may be the same. `keywords` are
    those of a query, in the form in which that analyst gives a page's. `reading` and `promoting`
    say how many pages the analyst is shown in one question of each kind. `reader` says what a query needs of memory;
    None without its weights."""

    store: Store
    embedder: Embedder
    analyst: Analyst
    extractive: Analyst
    keywords: Keywords
    settings: Settings
    clock: Clock
    summarise: Summarise
    writer: SegmentWriter
    reader: Reader | None = None
    reading: Pace = field(default_factory=Pace)
    promoting: Pace = field(default_factory=Pace)
    heats: HeatWatch = field(default_factory=HeatWatch)
    """What claims see of the heat of segments, for who watches the process."""
    watch: WorkWatch = field(default_factory=WorkWatch)
    """What the work does and where it fails, for the same."""

    @property
    def modelled(self) -> bool:
        """Whether another analyst than the extractive one reads."""
        return self.analyst is not self.extractive

    @property
    def segment_vectors(self) -> str:
        """What segments' vectors are stored under: they are sums of their pages', or where pages are placed one by one
        those of their summaries (paper §3.2)."""
        return of_summaries(self.embedder.name) if self.settings.placed_by == "page" else self.embedder.name

    def backlog(self, owner: Owner, now: datetime, *, retry_after: datetime | None = None) -> Backlog:
        """What is left to do for an owner; see the store's."""
        return self.store.work.backlog(
            owner.id,
            self.settings.short_term_pages,
            now=now,
            vectors_of=self.segment_vectors,
            redo=self.modelled,
            retry_after=retry_after,
            quiet_s=self.settings.quiet_s,
        )


@dataclass(slots=True)
class _Held:
    """What one claim has read and keeps up to date as it applies changes; thrown away when another change came."""

    revision: int = 0
    embedded_seq: int = 0
    segments: dict[SegmentId, SegmentState] | None = None
    texts: SegmentTexts = field(default_factory=SegmentTexts)
    """The texts of segments as the log has them, of those that were read."""
    grouping: Grouping | None = None
    knowledge: Knowledge | None = None
    stale_segments: tuple[SegmentId, ...] | None = None
    to_redo: set[SegmentId] | None = None
    pending: tuple[NotedPage, ...] = ()
    """The next pages to be placed, with what was noted of them."""


class Claim:
    """An owner whose lease is held. `whole`: all is to be done, not a slice of it; `any_heat`: segments are promoted
    whatever their heat, with one new page or more.

    `placed` counts the pages placed, `analysed` those that a promotion read; `promoted` has the segments of the latter.
    Pages up to the number `due_to` are due, however many of them are left. `waits_until`: when the analyst may be asked
    again. `redo_from`: when pages may be read again. `ahead` gives the vectors that are made for the next batch;
    `annotated` what the analyst said of the pages it was asked about last. `unread` and `unpromoted` say why the
    analyst is not asked any more in this claim to read pages, or at promotions; None: it is. `unbelieved`: at
    promotions extraction stands in for it, because nothing of its answers was believed.
    """

    def __init__(
        self, parts: Parts, owner: Owner, lease: Lease, pool: Executor, *, whole: bool, any_heat: bool = False
    ) -> None:
        self.parts = parts
        self.settings = parts.settings
        self.store = parts.store
        self.owner = owner
        self.lease = lease
        self.pool = pool
        self.whole = whole
        self.any_heat = any_heat
        self.placed = 0
        self.analysed = 0
        self.promoted: set[SegmentId] = set()
        self.due_to = 0
        self.unread: str | None = None
        self.unpromoted: str | None = None
        self.unbelieved = False
        self._gave_way = 0
        self.waits_until: datetime | None = None
        self.redo_from: datetime | None = None
        self.annotated: tuple[tuple[tuple[PageId, int], ...], tuple[Annotation, ...]] | None = None
        self.ahead: tuple[int, Callable[[], tuple[tuple[Utterance, ...], VectorBatch]]] | None = None
        self.read_anew()
        self._renewed_at = parts.clock()

    # ------------------------------------------------------------------------------------------------ what is held

    def read_anew(self) -> None:
        """What was read is not to be relied on any more."""
        state = self.store.log.owner_state(self.owner.id)
        self.held = _Held() if state is None else _Held(revision=state.revision, embedded_seq=state.embedded_seq)

    @property
    def segments(self) -> dict[SegmentId, SegmentState]:
        """Mid-term memory, read once a claim, when it is first needed."""
        if self.held.segments is None:
            self.held.segments = {state.id: state for state in self.store.work.segment_states(self.owner.id)}
            for state in self.held.segments.values():
                self.held.texts.set(stored(state))
            self.held.grouping = None
        return self.held.segments

    @property
    def grouping(self) -> Grouping:
        """The chains of mid-term memory, as far as they are needed."""
        if self.held.grouping is None or self.held.segments is None:
            self.held.grouping = Grouping(self.owner.id, self.store, self.settings, self.segments, self.held.revision)
        return self.held.grouping

    @property
    def stale_segments(self) -> tuple[SegmentId, ...]:
        """Segments whose vectors are of another embedder or kind, read once a claim: a reindex begun later ends the
        lease."""
        if self.held.stale_segments is None:
            self.held.stale_segments = self.parts.backlog(self.owner, self.parts.clock()).stale_segments
        return self.held.stale_segments

    @property
    def knowledge(self) -> Knowledge:
        """Long-term memory, read once a claim, when it is first needed."""
        if self.held.knowledge is None:
            ruled = self.store.change_log.changes(self.owner.id, causes=RULING)
            rulings = rulings_of(ruled, self.store.forgetting.secret)
            persona = self.store.reads.persona(self.owner.id)
            self.held.knowledge = Knowledge(
                self.owner,
                persona,
                rulings,
                lambda seq: None if (said := self._utterance(seq)) is None else said.said_at,
                lambda seq: None if (said := self._utterance(seq)) is None else said.thread,
                self.settings.attributes,
            )
        return self.held.knowledge

    def _utterance(self, seq: int) -> Utterance | None:
        """An utterance; None if it is gone."""
        found = self.store.log.utterances(self.owner.id, seq - 1, 1)
        return found[0] if found and found[0].seq == seq else None

    @property
    def to_redo(self) -> set[SegmentId]:
        """Segments with pages to be read again, read once a claim."""
        if self.held.to_redo is None:
            self.held.to_redo = set(self.parts.backlog(self.owner, self.parts.clock()).to_redo)
        return self.held.to_redo

    def next_pending(self, now: datetime) -> tuple[NotedPage, ...]:
        """The next batch of pages to be placed; those of several are read at once."""
        size = self.settings.batch_pages
        if len(self.held.pending) < size:
            short, limit = self.settings.short_term_pages, _BATCHES * size
            self.held.pending = self.store.work.pending_pages(self.owner.id, short, now, limit)
        return self.held.pending[:size]

    @property
    def waiting(self) -> bool:
        """Whether the analyst is not to be asked by now."""
        return self.waits_until is not None and self.waits_until > self.parts.clock()

    @property
    def next_no(self) -> int:
        """The number of the change that is applied next."""
        return self.held.revision + 1

    # ---------------------------------------------------------------------------------------------- what steps do

    def deciding(self, step: Callable[[Claim], bool], *, alone: bool) -> bool:
        """Run a step; if another change came first, read again and decide again. Where others make changes all the time
        it is run `alone`, while they are held off, if it asks no model."""
        with suppress(RevisionMoved):
            return step(self)
        for _ in range(_TRIES):
            self._read_held_again()
            with suppress(RevisionMoved):
                return step(self)
        with self.store.forgetting.alone_with(self.owner.id) if alone else nullcontext():
            self._read_held_again()
            return step(self)

    def _read_held_again(self) -> None:
        """Another change came first. What was embedded or read ahead stays good, but not where something was forgotten:
        it may say that."""
        since = self.held.revision
        self.read_anew()
        fresh = self.store.change_log.changes(self.owner.id, since)
        if not fresh or fresh[0].no != since + 1 or any(one.cause is Cause.FORGETTING for one in fresh):
            self.ahead = self.annotated = None

    def apply(
        self,
        cause: Cause,
        analyst: str,
        decisions: Sequence[Decision],
        *,
        vectors: VectorBatch | None = None,
        segment_vectors: Mapping[SegmentId, Vector] | None = None,
    ) -> Change:
        """Apply a change under the lease; of a segment's text, what is new is written. Raises StaleLease,
        RevisionMoved, StoreError."""
        texts, no = self.held.texts, self.held.revision + 1
        change = self.store.change_log.apply(
            self.owner,
            cause,
            analyst,
            [growth(texts.get(d.segment_id), d, no) if isinstance(d, SegmentWritten) else d for d in decisions],
            now=self.parts.clock(),
            revision=self.held.revision,
            lease=self.lease,
            vectors=vectors,
            segment_vectors=SegmentVectors(of=self.parts.segment_vectors, vectors=segment_vectors or {}),
        )
        self.held.revision = change.no
        for decision in decisions:
            texts.take(decision)
        self.parts.heats.applied(cause, decisions)
        return change

    def renew(self) -> None:
        """A sign of life, when a quarter of the lease has gone by."""
        now = self.parts.clock()
        if (now - self._renewed_at).total_seconds() > self.settings.lease_s / 4:
            self.store.queue.renew(self.lease, now, self.settings.lease_s)
            self._renewed_at = now

    def wait(self, wait: ModelWait) -> None:
        """The analyst is not asked any more in this claim, until the time it named."""
        logger.warning("analyst %s waits until %s: %s", self.parts.analyst.name, wait.retry_at, wait)
        self.waits_until = wait.retry_at

    def gives_way(self, wait: ModelWait) -> bool:
        """Whether the question was broken off for a chat, and is to be asked again: a claim that is to do all waits for
        that here, a number of times."""
        if not (self.whole and isinstance(wait, ModelGaveWay)) or self._gave_way >= _GIVES_WAY:
            return False
        self._gave_way += 1
        time.sleep(min(_GIVES_WAY_S, max(0.0, (wait.retry_at - self.parts.clock()).total_seconds())))
        return True

    def tries_on(self, error: AnalystError) -> bool:
        """Whether a question that failed on the way is asked again at once, while `attempts` allow: by a claim that is
        to do all, where the failure is a server's, which has not asked to wait."""
        return self.whole and isinstance(error, ModelError) and not isinstance(error, ModelBusy)

    def pause_after(self, error: AnalystError, tried: int) -> timedelta:
        """How long pages wait after so many tries, the last of which failed so: at least as long as the server asks."""
        asked = (error.retry_after_s if isinstance(error, ModelBusy) else None) or 0.0
        return max(pause(self.settings, tried - 1), timedelta(seconds=min(asked, self.settings.retry_max_s)))

    def go_on_without(self, reason: str) -> None:
        """The analyst is not asked any more in this claim."""
        self.unread = self.unpromoted = reason

    def learn(self, *lessons: tuple[PersonaChange, Sequence[Page]]) -> list[Decision]:
        """What an analyst proposes, each taken from these pages, as decisions of the next change."""
        lessons = tuple(one for one in lessons if one[0].facts or one[0].dropped or one[0].traits or one[0].profile)
        if not lessons:
            return []
        every = [u for _, pages in lessons for page in pages for u in page.utterances]
        gone = self.store.forgetting.barred(self.owner.id, {u.text for u in every})  # teaches nothing again
        said = {u.seq: u.said_at for u in every if u.text not in gone}
        resting, archived = self._known([fact for change, _ in lessons for fact in change.facts], said)
        dropped = frozenset(fact.attribute for change, _ in lessons for fact in change.dropped)
        other = self.store.reads.facts(self.owner.id, FactSelection(attributes=dropped)) if dropped else ()
        decisions: list[Decision] = []
        for change, pages in lessons:
            own = {u.seq: said[u.seq] for page in pages for u in page.utterances if u.seq in said}
            may_end = _may_end(change.facts)
            known = {one.id: one for one in resting if any(source.seq in own for source in one.sources)}
            known |= {one.id: one for one in archived if one.attribute in may_end}
            known |= {one.id: one for one in other}
            decisions += self.knowledge.learn(
                change,
                said=own,
                known=sorted(known.values(), key=lambda fact: fact.id) if change.facts or change.dropped else (),
                no=self.next_no,
                at=self.parts.clock(),
                settings=self.settings,
            )
        return decisions

    def _known(self, proposals: Sequence[FactProposal], said: Collection[int]) -> tuple[Sequence[Fact], Sequence[Fact]]:
        """Facts that rest on what is read, and those of the archive that a new value may end."""
        if not proposals:
            return (), ()
        resting, may_end = FactSelection(resting_on=frozenset(said)), _may_end(proposals)
        return (
            self.store.reads.facts(self.owner.id, resting),
            self.store.reads.facts(self.owner.id, replace(ARCHIVED, attributes=may_end)) if may_end else (),
        )


def _may_end(proposals: Iterable[FactProposal]) -> frozenset[str]:
    """The attributes of which a proposal may end another value."""
    return frozenset(fact.attribute for fact in proposals if fact.single or fact.retracts)


def rest(settings: Settings, failures: int) -> timedelta:
    """The pause before pages that stand as extraction read them are shown to the analyst again, after so many failures
    there: from `retry_max_s`, an hour, up to six weeks."""
    return timedelta(seconds=settings.retry_max_s * 2.0 ** min(failures, _REST_DOUBLES))


def pause(settings: Settings, failures: int) -> timedelta:
    """The pause after so many failures: doubles from `retry_base_s` up to `retry_max_s`."""
    return timedelta(seconds=min(settings.retry_max_s, settings.retry_base_s * 2.0 ** min(failures, 32)))
