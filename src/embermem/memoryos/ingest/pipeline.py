"""Understanding behind the path of `add`: embed, read, place, promote, evict (paper §3.3), under one lease.

Each step reads, decides outside any transaction, and applies one change. A worker may die between any two lines: what
was not applied is done again, once, by the next one.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta

from embermem.core.types import Owner
from embermem.memoryos.ingest import decay, mid_term
from embermem.memoryos.ingest.claim import Claim, Parts
from embermem.memoryos.ingest.embed import embed, renew_segment_vectors
from embermem.memoryos.ingest.evict import end_expired, expire, fade, faded_at, make_room
from embermem.memoryos.ingest.place import place
from embermem.memoryos.ingest.promote import promote
from embermem.memoryos.ingest.read import annotate, redo
from embermem.protocols import Lease

Progress = Callable[[int, int], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Done:
    """What came of a claim: pages placed, pages analysed at promotions, and segments promoted; whether it ended before
    all was done, told to stop or its slice used up; until when the analyst is not to be asked, and from when on pages
    may be read again (None: now)."""

    placed: int
    analysed: int = 0
    promoted: int = 0
    cut: bool = False
    waits_until: datetime | None = None
    redo_from: datetime | None = None


def consolidate(
    parts: Parts,
    owner: Owner,
    lease: Lease,
    *,
    whole: bool,
    any_heat: bool = False,
    progress: Progress | None = None,
    stopping: Callable[[], bool] = lambda: False,
) -> Done:
    """Do all that is due for one owner whose lease is held.

    `whole`: place a batch that is not yet full or old enough too, and read again all that the configured analyst has
    not read (what `settle` asks for); with `any_heat`, also promote whatever is in mid-term memory. Else: a slice of
    `slice_pages` or `slice_s`, and one batch of that, so that other owners have their turn. `stopping` is asked between
    steps. `progress` is told (done, total) in utterances embedded and pages placed or read again.
    Raises EmbedderError, StaleLease, StoreError; what was applied until then stays.
    """
    with ThreadPoolExecutor(1, "embermem-embed") as pool:
        return _Consolidation(
            Claim(parts, owner, lease, pool, whole=whole, any_heat=any_heat), progress, stopping
        ).run()


def due_at(parts: Parts, owner: Owner, began: datetime, done: Done) -> datetime | None:
    """When the owner has work again if nothing new comes in, after a claim that `began` then; None if never."""
    now, store = parts.clock(), parts.store
    left = parts.backlog(owner, now, retry_after=began)
    times = [at for at in (left.retry_at, left.quiet_at, left.expires_at) if at is not None]
    if left.pending_since is not None:
        full = left.pending >= parts.settings.batch_pages
        placing = now if full else left.pending_since + timedelta(seconds=parts.settings.batch_wait_s)
        times.append(_latest(placing, done.waits_until))
    if left.redo_at is not None:
        times.append(_latest(left.redo_at, now, done.waits_until, done.redo_from))
    if parts.settings.retention:
        fades = decay.due(store.work.uses(owner.id), now, faded_at(store.change_log, owner), parts.settings)
        times += [] if fades is None else [fades]
    return min(times, default=None)


def _latest(first: datetime, *others: datetime | None) -> datetime:
    return max([first, *(other for other in others if other is not None)])


class _Consolidation:
    def __init__(self, claim: Claim, progress: Progress | None, stopping: Callable[[], bool]) -> None:
        self._claim = claim
        self._progress = progress
        self._stopping = stopping
        self._began = claim.parts.clock()
        self._cut = False
        self._total = self._outstanding()

    def run(self) -> Done:
        """Steps in turn until none has anything to do; the next batch is embedded while this one is placed. Only then
        what another analyst read is read again, a batch at a time, because what is new comes first."""
        claim = self._claim
        expire(claim)
        self._understand()
        while not self._over() and claim.deciding(redo, alone=False):
            self._understand()
            if not claim.whole:
                break
        claim.deciding(end_expired, alone=True)
        if claim.settings.retention and not self._over():
            claim.deciding(fade, alone=not claim.parts.modelled)
        now = claim.parts.clock()
        heats = [mid_term.heat_of(segment, now, claim.settings) for segment in claim.segments.values()]
        claim.parts.heats.worked(claim.owner.id, heats)
        return Done(
            placed=claim.placed,
            analysed=claim.analysed,
            promoted=len(claim.promoted),
            cut=self._cut,
            waits_until=claim.waits_until,
            redo_from=claim.redo_from,
        )

    def _over(self) -> bool:
        self._cut = self._cut or self._stopping() or self._slice_is_used_up()
        return self._cut

    def _slice_is_used_up(self) -> bool:
        claim, settings = self._claim, self._claim.settings
        if claim.whole:
            return False
        seconds = (claim.parts.clock() - self._began).total_seconds()
        return claim.placed >= settings.slice_pages or seconds >= settings.slice_s

    def _understand(self) -> None:
        """All that is new: embedded, read, placed, promoted."""
        claim, worked = self._claim, True
        quick = not claim.parts.modelled
        while worked and not self._over():
            worked = claim.deciding(embed, alone=True)
            worked = claim.deciding(annotate, alone=True) or worked
            if claim.ahead is None:
                worked = claim.deciding(renew_segment_vectors, alone=claim.settings.placed_by == "chain") or worked
            while not self._over() and claim.deciding(place, alone=quick):
                worked = True
                claim.renew()
            claim.renew()
            if self._progress is not None:
                left = self._outstanding()
                self._total = max(self._total, left)
                self._progress(self._total - left, self._total)
        claim.deciding(promote, alone=quick)
        claim.deciding(make_room, alone=quick)

    def _outstanding(self) -> int:
        """Utterances to embed, pages to place and pages to read again: what a progress bar counts down."""
        owner = self._claim.owner
        if self._progress is None or self._claim.store.log.owner_state(owner.id) is None:
            return 0
        left = self._claim.parts.backlog(owner, self._claim.parts.clock())
        return left.unembedded + left.pending + sum(left.to_redo.values())
