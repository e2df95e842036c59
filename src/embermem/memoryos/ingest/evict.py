"""Evict: what leaves mid-term and long-term memory, because there is no room, or because its time is over."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from embermem.core.changes import CALLER, Cause, Decision, Evicted, FactRetired, ProfileSet
from embermem.core.types import Fact, Owner, Persona, SegmentId
from embermem.memoryos.ingest import decay, mid_term
from embermem.memoryos.ingest.claim import Claim
from embermem.memoryos.ingest.profile_lines import mirrors
from embermem.memoryos.ingest.promote import analyse
from embermem.protocols import ChangeLog, FactSelection, FactState

_STANDING = frozenset({FactState.HELD, FactState.ARCHIVED})


def make_room(claim: Claim, protected: frozenset[SegmentId] = frozenset()) -> bool:
    """Above the capacity the coldest segment is analysed, then leaves for the archive."""
    segments = claim.segments
    evicted = False
    while True:
        cold = mid_term.coldest(tuple(segments.values()), claim.parts.clock(), claim.settings, protected)
        if cold is None:
            return evicted
        if cold.unanalysed and not analyse(claim, cold, leaving=True):
            return evicted  # the analyst failed: its pages wait, and the segment with them
        claim.apply(Cause.EVICTION, "", [Evicted(segment_id=cold.id)])
        del segments[cold.id]
        evicted = True


def expire(claim: Claim) -> None:
    """What has expired is forgotten, or ends, before anything is read. A page that is said again later teaches as if it
    were new: it ended, and was not ruled out."""
    parts, now = claim.parts, claim.parts.clock()
    pages, _ = claim.store.reads.expired(claim.owner.id, now)
    if pages:
        from embermem.memoryos.forget.forgetting import forget
        from embermem.memoryos.forget.impact import Impact, Named

        impact = Impact(
            store=claim.store,
            owner=claim.owner,
            named=Named(pages=pages, again=True),
            now=now,
            settings=claim.settings,
            summarise=parts.summarise,
            writer=parts.writer,
        )
        forget(impact, dry_run=False)
        claim.renew()
        claim.read_anew()
    claim.deciding(end_expired, alone=True)


def end_expired(claim: Claim) -> bool:
    """Facts whose time is over hold no longer, also those that were learnt after it."""
    expired = FactSelection(states=_STANDING, expired_by=claim.parts.clock())
    facts = claim.store.reads.facts(claim.owner.id, expired)
    if facts:
        claim.apply(Cause.EXPIRY, "", _ended(facts, claim.store.reads.persona(claim.owner.id)))
        claim.held.knowledge = None
    return bool(facts)


def _ended(facts: Sequence[Fact], persona: Persona) -> list[Decision]:
    """The decisions by which facts that have expired hold no longer: they were true until then. Profile lines that say
    the same end with them, but for what callers set."""
    made: list[Decision] = []
    gone: set[str] = set()
    for fact in sorted(facts, key=lambda fact: (fact.expires_at, fact.id)):
        made.append(FactRetired(fact_id=fact.id, superseded_by=None, valid_to=fact.expires_at))
        for line in persona.profile:
            if line.set_by != CALLER and line.name not in gone and mirrors(fact, line):
                gone.add(line.name)
                made.append(ProfileSet.ended(line, fact.expires_at))
    return made


def fade(claim: Claim) -> bool:
    """At most once in `retention_every_s`: what was not used for long leaves for the archive, segments when their
    pages are analysed."""
    now, last = claim.parts.clock(), faded_at(claim.store.change_log, claim.owner)
    if last is not None and (now - last).total_seconds() < claim.settings.retention_every_s:
        return False
    uses = claim.store.work.uses(claim.owner.id)
    for segment_id in sorted(decay.waiting(uses, now, claim.settings) & claim.segments.keys()):
        analyse(claim, claim.segments[segment_id])
    decisions = decay.fading(decay.retentions(claim.store.work.uses(claim.owner.id), now, claim.settings))
    if not decisions:
        return False
    claim.apply(Cause.RETENTION, "", decisions)
    claim.held.segments = claim.held.knowledge = None
    return True


def faded_at(log: ChangeLog, owner: Owner) -> datetime | None:
    """When memories last faded."""
    last = log.last_changes(owner.id, 1, causes=[Cause.RETENTION])
    return last[0].recorded_at if last else None
