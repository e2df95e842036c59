"""Forgetting: what goes with a page, a fact, a segment or a thread, and what is said anew of what stays."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from embermem.analysts.attributes import attribute
from embermem.changes import (
    ChainSummarised,
    Change,
    Decision,
    Erased,
    FactBarred,
    KeywordCount,
    Noted,
    SegmentWritten,
    SummaryPart,
)
from embermem.config import Settings
from embermem.errors import NotFound, RevisionMoved
from embermem.protocols import Erasure, Store
from embermem.rulings import mark_of
from embermem.systems.memoryos import mid_term
from embermem.systems.memoryos.redacting import Going, Redacted, Traces, redacted
from embermem.systems.memoryos.undoing import settled
from embermem.types import (
    ChainId,
    FactId,
    Forgotten,
    Owner,
    Page,
    PageId,
    SegmentId,
    Source,
    Utterance,
)

Summarise = Callable[[str, Page], tuple[str, tuple[Source, ...]]]
"""The summary of a chain with one page more, from that before, and where its new sentences stand."""

_TRIES = 16
"""How often it is decided anew when another change came first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Named:
    """What is to be forgotten: one of these."""

    page: str | None = None
    fact: str | None = None
    segment: str | None = None
    thread: str | None = None


def forget(
    store: Store,
    owner: Owner,
    named: Named,
    *,
    now: datetime,
    settings: Settings,
    summarise: Summarise,
    dry_run: bool,
) -> Forgotten:
    """Forget what is named, or with `dry_run` say what that would take. Raises NotFound, StoreError, and RevisionMoved
    if others never leave room."""
    for attempt in range(_TRIES):
        decided = _Deciding(store, owner, named, now, settings, summarise, b"" if dry_run else store.secret()).decide()
        if dry_run:
            return decided.forgotten
        try:
            change = store.forget(owner, decided.erasure, now=now, revision=decided.revision)
        except RevisionMoved:
            if attempt == _TRIES - 1:
                raise
        else:
            return replace(decided.forgotten, dry_run=False, change_no=change.no, scrubbed=store.scrub())
    raise AssertionError("a loop that returns or raises")


def forget_all(store: Store, owner: Owner, *, now: datetime, dry_run: bool) -> Forgotten:
    """Forget a whole memory. Raises NotFound where there is none."""
    if store.owner_state(owner.id) is None:
        raise NotFound(f"there is no memory of {owner.user}/{owner.agent}")
    pages, persona = store.pages(owner.id, 0, tier=None, before=None, limit=None), store.persona(owner.id)
    forgotten = _forgotten(
        now,
        pages=[page.id for page in pages],
        utterances=[u for page in pages for u in page.utterances],
        facts=[
            fact.id
            for facts in (
                store.facts(owner.id, about=None, archived=False),
                store.facts(owner.id, about=None, archived=True),
                store.history(owner.id),
            )
            for fact in facts
        ],
        segments=[segment.id for segment in store.segments(owner.id, archived=None, only=None)],
        chains=[chain.id for chain in store.chains(owner.id)],
        traits=[trait.dimension for trait in persona.traits],
        profile=[f"{line.whose.value}.{line.name}" for line in (*persona.profile, *persona.agent_profile)],
    )
    if dry_run:
        return forgotten
    store.forget_owner(owner.id, now)
    return replace(forgotten, dry_run=False, scrubbed=store.scrub())


@dataclass(frozen=True, kw_only=True, slots=True)
class _Decided:
    erasure: Erasure
    revision: int
    forgotten: Forgotten


class _Deciding:
    """What forgetting takes, decided from an owner's logs as they stand."""

    def __init__(
        self,
        store: Store,
        owner: Owner,
        named: Named,
        now: datetime,
        settings: Settings,
        summarise: Summarise,
        key: bytes,
    ) -> None:
        self._store = store
        self._owner = owner
        self._named = named
        self._now = now
        self._settings = settings
        self._summarise = summarise
        self._key = key

    def decide(self) -> _Decided:
        state = self._store.owner_state(self._owner.id)
        if state is None:
            raise self._none_such()
        pages, facts = self._pages(), self._facts()
        gone = {page.id for page in pages}
        left_pages = [page for page in self._every.values() if page.id not in gone] if pages else []
        traces = Traces(_texts(pages), _texts(left_pages))
        seqs = frozenset(u.seq for page in pages for u in page.utterances)
        going = Going(pages=frozenset(gone), seqs=seqs, facts=facts, traces=traces)
        log = self._store.changes(self._owner.id, 0)
        revision = log[-1].no if log else 0
        left = redacted(log, going, self._key)
        chains = self._chains_anew(left)
        segments = self._segments_anew(left, {d.chain_id: d for d in chains})
        decisions: list[Decision] = [
            Erased(pages=tuple(page.id for page in pages), facts=left.facts, utterances=len(seqs)),
            *(FactBarred(mark=mark_of(self._key, *said), upto_seq=state.seq) for said in sorted(left.barred)),
            *chains,
            *segments,
            *settled(left.log, left.reopened, _one_at_a_time(log), self._settings),
        ]
        erasure = Erasure(
            pages={page.id: page.last_seq for page in pages},
            rewritten=left.rewritten,
            decisions=tuple(decisions),
            segments=tuple(d.segment_id for d in segments),
        )
        rewritten: tuple[SegmentId | ChainId, ...] = (
            *(d.segment_id for d in segments),
            *(d.chain_id for d in chains),
        )
        return _Decided(erasure=erasure, revision=revision, forgotten=self._forgotten(pages, left, rewritten))

    # ------------------------------------------------------------------------------------------------- what is named

    def _pages(self) -> tuple[Page, ...]:
        named = self._named
        if named.fact is not None:
            return ()
        ids: Sequence[PageId]
        if named.page is not None:
            ids = [PageId(named.page)]
        elif named.segment is not None:
            found = self._store.segments(self._owner.id, archived=None, only=SegmentId(named.segment))
            ids = [page_id for segment in found for page_id in segment.page_ids]
        else:
            ids = [page.id for page in self._every.values() if page.thread == named.thread]
        pages = tuple(self._every[page_id] for page_id in ids if page_id in self._every)
        if not pages:
            raise self._none_such()
        return pages

    def _facts(self) -> frozenset[FactId]:
        if self._named.fact is None:
            return frozenset()
        fact = self._store.fact(self._owner.id, FactId(self._named.fact))
        if fact is None:
            raise self._none_such()
        return frozenset({fact.id})

    @cached_property
    def _every(self) -> Mapping[PageId, Page]:
        """All pages in order, read once."""
        pages = self._store.pages(self._owner.id, 0, tier=None, before=None, limit=None)
        return {page.id: page for page in pages}

    def _none_such(self) -> NotFound:
        kind, name = next(
            (kind, name)
            for kind in ("page", "fact", "segment", "thread")
            if (name := getattr(self._named, kind)) is not None
        )
        return NotFound(f"no {kind} {name!r} of {self._owner.user}/{self._owner.agent}")

    # ------------------------------------------------------------------------------------------ what is said anew

    def _chains_anew(self, left: Redacted) -> list[ChainSummarised]:
        """The summaries of chains that lost a page, by extraction from those left."""
        made = []
        of: dict[ChainId, list[PageId]] = {}
        for page_id, chain_id in left.after.chain_of.items():
            of.setdefault(chain_id, []).append(page_id)
        for chain_id in sorted(left.chains & of.keys()):
            pages = self._in_order(of[chain_id])
            summary, sources = "", dict[Source, None]()
            for page in pages:
                summary, own = self._summarise(summary, page)
                sources |= dict.fromkeys(own)
            if summary and not sources:
                sources = {Source(seq=u.seq, utterance_id=u.id): None for u in pages[-1].utterances}
            made.append(
                ChainSummarised(
                    chain_id=chain_id,
                    thread=pages[-1].thread,
                    summary=summary,
                    sources=tuple(sources),
                )
            )
        return made

    def _segments_anew(self, left: Redacted, fresh: Mapping[ChainId, ChainSummarised]) -> list[SegmentWritten]:
        """The segments that told of what goes: their summary is that of their chains again, their keywords and times
        those of the pages left."""
        made = []
        of: dict[SegmentId, list[PageId]] = {}
        for page_id, segment_id in left.after.segment_of.items():
            of.setdefault(segment_id, []).append(page_id)
        for segment_id in sorted(left.segments & of.keys()):
            pages = self._in_order(of[segment_id])
            parts: tuple[SummaryPart, ...] = ()
            keywords: tuple[KeywordCount, ...] = ()
            for page in pages:
                chain_id = left.after.chain_of.get(page.id)
                chain = fresh.get(chain_id) or left.after.chains.get(chain_id) if chain_id is not None else None
                part = SummaryPart(
                    chain_id=chain_id,
                    text="" if chain is None else chain.summary,
                    sources=() if chain is None else chain.sources,
                )
                parts = mid_term.with_part(parts, part, self._settings.segment_summary_chars)
                keywords = mid_term.with_keywords(
                    keywords, left.after.keywords.get(page.id, ()), mid_term.counted_keywords(self._settings)
                )
            said = [page.said_at for page in pages]
            made.append(
                SegmentWritten(
                    segment_id=segment_id, parts=parts, keywords=keywords, said_from=min(said), said_to=max(said)
                )
            )
        return made

    def _in_order(self, ids: Iterable[PageId]) -> list[Page]:
        return sorted((self._every[page_id] for page_id in ids if page_id in self._every), key=lambda page: page.no)

    def _forgotten(
        self, pages: Sequence[Page], left: Redacted, rewritten: tuple[SegmentId | ChainId, ...]
    ) -> Forgotten:
        was, now = left.before, left.after
        return _forgotten(
            self._now,
            pages=[page.id for page in pages],
            utterances=[u for page in pages for u in page.utterances],
            facts=left.facts,
            segments=sorted({*was.segment_of.values()} - {*now.segment_of.values()}),
            chains=sorted({*was.chain_of.values()} - {*now.chain_of.values()}),
            traits=sorted(was.traits - now.traits),
            profile=sorted(was.profile - now.profile),
            rewritten=rewritten,
        )


def _one_at_a_time(log: Iterable[Change]) -> Callable[[str], bool]:
    """Whether an attribute holds one value at a time: as our vocabulary has it, or as an analyst said."""
    said = {
        p.attribute for change in log for d in change.decisions if isinstance(d, Noted) for p in d.facts if p.single
    }

    def single(name: str) -> bool:
        with suppress(KeyError):
            return attribute(name).single
        return name in said

    return single


def _texts(pages: Iterable[Page]) -> Iterator[str]:
    return (utterance.text for page in pages for utterance in page.utterances)


def _forgotten(
    now: datetime,
    *,
    pages: Sequence[PageId],
    utterances: Sequence[Utterance],
    facts: Sequence[FactId],
    segments: Sequence[SegmentId],
    chains: Sequence[ChainId],
    traits: Sequence[str],
    profile: Sequence[str],
    rewritten: tuple[SegmentId | ChainId, ...] = (),
) -> Forgotten:
    """As a dry run says it."""
    ids: Collection[str] = [*pages, *(u.id for u in utterances), *facts, *segments, *chains]
    return Forgotten(
        dry_run=True,
        pages=tuple(pages),
        utterances=tuple(u.id for u in utterances),
        facts=tuple(facts),
        segments=tuple(segments),
        chains=tuple(chains),
        traits=tuple(traits),
        profile=tuple(profile),
        rewritten=rewritten,
        change_no=None,
        recorded_at=now,
        scrubbed=False,
        sha256=hashlib.sha256("\n".join(sorted(ids)).encode()).hexdigest(),
    )
