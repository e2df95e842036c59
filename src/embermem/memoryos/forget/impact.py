"""What forgetting takes: the pages and facts that are named, what rests on them, and what the log says without them."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from embermem.core.changes import (
    Cause,
    Decision,
    Erased,
    FactBarred,
    Item,
    Sort,
    TextsBarred,
    ids,
)
from embermem.core.config import Settings
from embermem.core.errors import NotFound
from embermem.core.types import (
    ChainId,
    Fact,
    FactId,
    Forgotten,
    Owner,
    Page,
    PageId,
    SegmentId,
    Source,
    ThreadId,
    Utterance,
)
from embermem.core.user_overrides import mark_of, plain, says
from embermem.languages.quote_matcher import probes_of
from embermem.languages.text_marks import mark_of_text, marks_of_message
from embermem.memoryos.correct.field_changes import BY
from embermem.memoryos.forget.redacting import Going, Redacted, changed_facts, redacted, standing
from embermem.memoryos.forget.remainder import Remainder, Summarise
from embermem.memoryos.forget.traces import Pieces, Traces
from embermem.memoryos.people import speaker_of
from embermem.protocols import ALL_FACTS, Erasure, SegmentWriter, Store, Trail


@dataclass(frozen=True, kw_only=True, slots=True)
class Named:
    """What is to be forgotten: one of these. `pages` are those found by what the caller asked for; none is an error
    only if `page` names it. `again`: the same words, said at another time, may teach again."""

    page: str | None = None
    fact: str | None = None
    segment: str | None = None
    thread: str | None = None
    before: datetime | None = None
    pages: frozenset[str] | None = None
    again: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Decided:
    """What is erased, and the receipt as a dry run says it."""

    erasure: Erasure
    forgotten: Forgotten


@dataclass(frozen=True, kw_only=True)
class Impact:
    """What forgetting takes, decided from what an owner's logs say of it."""

    store: Store
    owner: Owner
    named: Named
    now: datetime
    settings: Settings
    summarise: Summarise
    writer: SegmentWriter

    def decided(self, key: bytes) -> Decided:
        """What goes as the log is now. `key` is that of the marks, empty for a dry run, which makes none. Raises
        NotFound where there is nothing of the name."""
        state = self.store.log.owner_state(self.owner.id)
        if state is None:
            raise self._none_such()
        named, facts = self._pages(), self._facts()
        pages = [page for page in named if page.no >= 1]
        passages = [page for page in named if page.no < 1]  # nothing rests on them, and they may be stored again
        trail, left = self._redacted(pages, facts, key)
        said = [u for page in pages for u in page.utterances]
        alone = [u.text for u in said if u.text.lower() not in trail.repeated] if key else []
        remainder = Remainder(
            reads=self.store.reads,
            owner_id=self.owner.id,
            settings=self.settings,
            summarise=self.summarise,
            writer=self.writer,
            trail=trail,
            left=left,
        )
        chains = remainder.chains()
        segments = remainder.segments()
        bars = [FactBarred(mark=mark_of(key, said), upto_seq=state.seq) for said in sorted(left.barred)]
        decisions: list[Decision] = [
            Erased(
                pages=tuple(page.id for page in named),
                facts=left.facts,
                utterances=len(said) + len(passages),
                passages=len(passages),
            ),
            *bars,
            *self._texts_barred(pages, alone, key),
            *chains,
            *segments,
            *remainder.ended(),
            *remainder.settled(),
        ]
        lost = {page.segment_id for page in pages if page.segment_id is not None}
        erasure = Erasure(
            revision=state.revision,
            born=state.created_at,
            pages={page.id: page.last_seq for page in named},
            before=trail.changes,
            after=left.changes,
            begun=trail.begun,
            places=left.places,
            apart=trail.apart,
            decisions=tuple(decisions),
            segments=tuple(d.segment_id for d in segments if d.segment_id in lost),
        )
        rewritten: tuple[SegmentId | ChainId, ...] = (
            *(d.segment_id for d in segments),
            *(d.chain_id for d in chains),
        )
        marks = [mark_of_text(key, text) for text in alone]
        forgotten = self._forgotten(named, trail, left, rewritten, [*marks, *(bar.mark for bar in bars)] if key else ())
        return Decided(erasure=erasure, forgotten=forgotten)

    # ------------------------------------------------------------------------------------------------- what is named

    def _pages(self) -> tuple[Page, ...]:
        named, owner_id = self.named, self.owner.id
        if named.fact is not None:
            return ()
        if named.pages is not None:
            return self.store.reads.pages_by_id(owner_id, [PageId(one) for one in named.pages])
        if named.before is not None:
            return self.store.reads.pages_said_before(owner_id, named.before)
        if named.page is not None:
            pages = self.store.reads.pages_by_id(owner_id, [PageId(named.page)])
        elif named.segment is not None:
            pages = self.store.reads.pages(owner_id, 0, segment=SegmentId(named.segment))
        else:
            pages = self.store.reads.pages(owner_id, 0, thread=ThreadId(named.thread or ""))
        if not pages:
            raise self._none_such()
        return pages

    def _facts(self) -> dict[FactId, Fact]:
        """The fact that is named, and all that say the same, be it under the former name of its field."""
        if self.named.fact is None:
            return {}
        known = self.store.reads.facts(self.owner.id, ALL_FACTS)
        fact = next((one for one in known if one.id == self.named.fact), None)
        if fact is None:
            raise self._none_such()
        found: dict[FactId, Fact] = {}
        wanted = [fact]
        while wanted:
            said = {says(one) for one in wanted}
            found |= {one.id: one for one in known if says(one) in said}
            wanted = [one for one in self._moved(known, found) if one.id not in found]
        return found

    def _moved(self, known: Sequence[Fact], found: Mapping[FactId, Fact]) -> Iterator[Fact]:
        """What these facts were before their field changed, and what became of them by that."""
        changes = self.store.change_log.changes(self.owner.id, causes=(Cause.CORRECTION,))
        by_fields = {change.no for change in changes if change.analyst == BY}
        by_id = {one.id: one for one in known}
        for one in known if by_fields else ():
            after = by_id.get(one.superseded_by) if one.superseded_by is not None else None
            if after is not None and after.change_no in by_fields and one.valid_to == one.valid_from:
                if after.id in found:
                    yield one
                elif one.id in found:
                    yield after

    def _none_such(self) -> NotFound:
        kind, name = next(
            (
                (kind, name)
                for kind in ("page", "fact", "segment", "thread")
                if (name := getattr(self.named, kind)) is not None
            ),
            ("memory", "of this name"),
        )
        return NotFound(f"no {kind} {name!r} of {self.owner.user}/{self.owner.agent}")

    # --------------------------------------------------------------------------------------------- what rests on it

    def _redacted(self, pages: Sequence[Page], facts: Mapping[FactId, Fact], key: bytes) -> tuple[Trail, Redacted]:
        """The log without what goes. Where that tells of a fact otherwise that was not looked for, it is looked for.
        Where a model wrote of these pages, a sentence stays only if it stands in what was said and stays."""
        texts = [u.text for page in pages for u in page.utterances]
        said = {(fact.attribute, plain(fact.value)) for fact in facts.values()}
        seqs = frozenset(u.seq for page in pages for u in page.utterances)
        stays = cache(lambda: [u for u in self.store.log.utterances(self.owner.id) if u.seq not in seqs])
        wanted = frozenset(facts)
        while True:
            trail = self.store.forgetting.trail(
                self.owner.id,
                pages,
                wanted,
                said=said,
                probes=probes_of(texts),
            )
            near = [u.text for some in trail.chains.values() for page in some for u in page.utterances]
            going = Going(
                pages=frozenset(page.id for page in pages),
                seqs=seqs,
                facts=frozenset(facts),
                traces=Traces(texts, lambda: [u.text for u in stays()], near=near),
                pieces=Pieces(texts, near if trail.verbatim else [u.text for u in stays()], exact=trail.verbatim),
                spoken=lambda speaker, role: _spoken(stays(), speaker, role),
                exact=trail.verbatim,
            )
            left = redacted(trail, going, key)
            more = frozenset(changed_facts(trail.changes, left.changes)) - trail.facts
            if not more:
                return trail, left
            wanted = trail.facts | more

    def _texts_barred(self, pages: Sequence[Page], alone: Sequence[str], key: bytes) -> list[Decision]:
        """Marks of the messages that go, and of the words that nothing else says."""
        if not pages:
            return []
        said = [u for page in pages for u in page.utterances]
        messages = {mark: None for u in said for mark in sorted(marks_of_message(key, u.role.value, u.text, u.said_at))}
        texts = {} if self.named.again else {mark_of_text(key, text): None for text in alone}
        return [TextsBarred(messages=tuple(messages), texts=tuple(texts))]

    # ---------------------------------------------------------------------------------------------- the receipt

    def _forgotten(
        self,
        pages: Sequence[Page],
        trail: Trail,
        left: Redacted,
        rewritten: tuple[SegmentId | ChainId, ...],
        marks: Sequence[str],
    ) -> Forgotten:
        traits, lines = (
            sorted(standing(trail.changes, item) - standing(left.changes, item)) for item in (Item.TRAIT, Item.PROFILE)
        )
        emptied = {segment_id for segment_id, one in trail.segments.items() if one.lost and not one.left}
        chains = {page.chain_id for page in pages if page.chain_id is not None and not trail.chains.get(page.chain_id)}
        if chains:  # a page that stays may have been in one of them, before a model read it again
            decisions = (d for change in left.changes for d in change.decisions)
            chains -= {item_id for d in decisions for sort, item_id in ids(d) if sort is Sort.CHAIN}
        return receipt(
            self.now,
            pages=[page.id for page in pages],
            utterances=[u for page in pages for u in page.utterances],
            facts=left.facts,
            segments=sorted(emptied),
            chains=sorted(chains),
            traits=traits,
            profile=lines,
            rewritten=rewritten,
            marks=marks,
        )


def _spoken(said: Iterable[Utterance], speaker: str, role: str) -> Source | None:
    """The first that somebody said in a role."""
    first = next((u for u in said if u.role.value == role and speaker_of(u.speaker, u.role) == speaker), None)
    return None if first is None else Source(seq=first.seq, utterance_id=first.id)


def receipt(
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
    marks: Sequence[str] = (),
) -> Forgotten:
    """The receipt as a dry run says it."""
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
        marks=tuple(dict.fromkeys(marks)),
    )
