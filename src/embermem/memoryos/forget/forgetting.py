"""Forgetting: what goes with a page, a fact, a segment or a thread, and what is said anew of what stays."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import pairwise

from embermem.core.attributes import attribute
from embermem.core.changes import (
    ChainSummarised,
    Change,
    Decision,
    Erased,
    FactAdded,
    FactArchived,
    FactBarred,
    FactPinned,
    FactRestored,
    FactRetired,
    KeywordCount,
    Noted,
    SegmentWritten,
    Sort,
    SummaryPart,
    TextsBarred,
    ids,
)
from embermem.core.config import Settings
from embermem.core.errors import ForgottenKeyLost, InputError, NotFound, RevisionMoved
from embermem.core.text import fold
from embermem.core.types import (
    About,
    Chain,
    ChainId,
    Fact,
    FactId,
    Forgotten,
    Owner,
    OwnerId,
    Page,
    PageId,
    SegmentId,
    Source,
    ThreadId,
    Utterance,
    Verified,
)
from embermem.core.user_overrides import mark_of, mark_of_key, mark_of_message, mark_of_text, plain
from embermem.languages.quote_matcher import probes_of
from embermem.languages.words import words_to_match
from embermem.memoryos.forget.redacting import Going, Pieces, Redacted, Traces, changed_facts, redacted
from embermem.memoryos.ingest import mid_term
from embermem.protocols import ARCHIVED, ENDED, HELD, Erasure, Forgetting, Store, Trail

Summarise = Callable[[str, Page], tuple[str, tuple[Source, ...]]]
"""The summary of a chain with one page more, from that before, and where its new sentences stand."""

_TRIES = 16
"""How often it is decided anew when another change came first."""
_NEWEST = 8
"""Of so many of its newest pages a segment that lost its whole text is summarised again."""
_AS_SAID = ("", "caller")
"""Analysts of changes whose words are the caller's, or taken from what was said as it was said."""


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


def forget(
    store: Store,
    owner: Owner,
    named: Named,
    *,
    now: datetime,
    settings: Settings,
    summarise: Summarise,
    extractive: str,
    dry_run: bool,
) -> Forgotten:
    """Forget what is named, or with `dry_run` say what that would take. `extractive` is the analyst whose every text
    says what it was taken from. Raises NotFound, StoreError, and RevisionMoved if others never leave room."""
    for attempt in range(_TRIES):
        key = b"" if dry_run else store.secret()
        decided = _Deciding(store, owner, named, now, settings, summarise, extractive, key).decide()
        if dry_run:
            return decided.forgotten
        if not decided.erasure.pages and not decided.forgotten.facts:
            return replace(decided.forgotten, dry_run=False, scrubbed=store.wipe().scrubbed)
        try:
            change = store.forget(owner, decided.erasure, now=now, revision=decided.revision)
        except RevisionMoved:
            if attempt == _TRIES - 1:
                raise
        else:
            return _done(store, replace(decided.forgotten, change_no=change.no))
    raise AssertionError("unreachable: the loop returns or raises")


def forget_owner(store: Store, owner: Owner, *, now: datetime, dry_run: bool) -> Forgotten:
    """Forget a whole memory. Raises NotFound where there is none."""
    if store.owner_state(owner.id) is None:
        raise NotFound(f"there is no memory of {owner.user}/{owner.agent}")
    pages, persona = store.pages(owner.id, 0), store.persona(owner.id)
    facts = [fact for state in (HELD, ARCHIVED, ENDED) for fact in store.facts(owner.id, state)]
    said = [u for page in pages for u in page.utterances]
    key = b"" if dry_run else store.secret()
    forgotten = _forgotten(
        now,
        pages=[page.id for page in pages],
        utterances=said,
        facts=[fact.id for fact in facts],
        segments=[segment.id for segment in store.segments(owner.id)],
        chains=[chain.id for chain in store.chains(owner.id)],
        traits=[trait.dimension for trait in persona.traits],
        profile=[f"{line.whose.value}.{line.name}" for line in (*persona.profile, *persona.agent_profile)],
        marks=[] if dry_run else [*(mark_of_text(key, u.text) for u in said), *(_mark(key, fact) for fact in facts)],
    )
    if dry_run:
        return forgotten
    store.forget_owner(owner.id, now)
    return _done(store, forgotten)


def verify(store: Store, owner: Owner, receipt: Forgotten) -> Verified:
    """Whether what a receipt says is gone is in no table, log or text any more. Raises InputError for a dry run's."""
    if receipt.dry_run:
        raise InputError("this receipt is from a dry run: nothing was forgotten")
    left = store.remains(owner.id, receipt)
    marked, unchecked = list[str](), ""
    try:
        marked = _marks_found(store, owner.id, receipt)
    except ForgottenKeyLost as error:
        unchecked = f"cannot be checked: {error}"
    found = tuple(dict.fromkeys([*left.rows, *marked, *sorted(left.bytes)]))
    return Verified(
        ok=not found and left.scrubbed and not unchecked,
        found=found,
        scrubbed=left.scrubbed,
        backups=left.backups,
        unchecked=unchecked,
    )


def _marks_found(store: Store, owner_id: OwnerId, receipt: Forgotten) -> list[str]:
    """The marks of a receipt that something stored has. Raises ForgottenKeyLost where they are of another key."""
    if not receipt.marks:
        return []
    key, marks = store.secret(), {*receipt.marks}
    if receipt.key_mark and receipt.key_mark != mark_of_key(key):
        raise ForgottenKeyLost("the receipt was made with another key than the current one of the store")
    found = sorted(marks & {mark_of_text(key, text) for text in {u.text for u in store.utterances(owner_id)}})
    for state in (HELD, ARCHIVED, ENDED):
        found += sorted(marks & {_mark(key, fact) for fact in store.facts(owner_id, state)})
    return found


def taught_by(store: Forgetting, owner_id: OwnerId, pages: Iterable[Page]) -> dict[int, datetime]:
    """When the utterances were said from which something may be learnt: all, but for words that were forgotten."""
    said = [u for page in pages for u in page.utterances]
    gone = store.barred(owner_id, {u.text for u in said})
    return {u.seq: u.said_at for u in said if u.text not in gone}


def matching(pages: Iterable[Page], query: str, unnamed: Collection[str] = ()) -> list[PageId]:
    """The pages that hold every word of a query that says something, in whatever form of the word, in what was said or
    in the names of those who said it. `unnamed` are speakers whose names are not looked at, since all pages have them.
    Raises InputError for a query without such a word."""
    wanted = set(words_to_match(query))
    if not wanted:
        raise InputError(f"matching = {query!r} contains no word to search for")

    def held(page: Page) -> set[str]:
        speakers = {u.speaker for u in page.utterances} - {*unnamed}
        return {word for text in (*(u.text for u in page.utterances), *speakers) for word in words_to_match(text)}

    return [page.id for page in pages if wanted <= held(page)]


def _done(store: Forgetting, forgotten: Forgotten) -> Forgotten:
    """A receipt, once what went is gone."""
    wiped = store.wipe([*forgotten.utterances, *forgotten.facts])
    mark = mark_of_key(store.secret()) if forgotten.marks else ""
    return replace(forgotten, dry_run=False, scrubbed=wiped.scrubbed, backups=wiped.backups, key_mark=mark)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Decided:
    erasure: Erasure
    revision: int
    forgotten: Forgotten


class _Deciding:
    """What forgetting takes, decided from what an owner's logs say of it."""

    def __init__(
        self,
        store: Store,
        owner: Owner,
        named: Named,
        now: datetime,
        settings: Settings,
        summarise: Summarise,
        extractive: str,
        key: bytes,
    ) -> None:
        self._store = store
        self._owner = owner
        self._named = named
        self._now = now
        self._settings = settings
        self._summarise = summarise
        self._extractive = extractive
        self._key = key

    def decide(self) -> _Decided:
        state = self._store.owner_state(self._owner.id)
        if state is None:
            raise self._none_such()
        pages, facts = self._pages(), self._facts()
        trail, left = self._redacted(pages, facts)
        said = [u for page in pages for u in page.utterances]
        alone = [u.text for u in said if u.text.lower() not in trail.repeated] if self._key else []
        chains = self._chains_anew(trail, left)
        segments = self._segments_anew(trail, left, {d.chain_id: d for d in chains})
        bars = [FactBarred(mark=mark_of(self._key, *said), upto_seq=state.seq) for said in sorted(left.barred)]
        decisions: list[Decision] = [
            Erased(pages=tuple(page.id for page in pages), facts=left.facts, utterances=len(said)),
            *bars,
            *self._texts_barred(pages, alone),
            *chains,
            *segments,
            *self._settled(trail, left),
        ]
        lost = {page.segment_id for page in pages if page.segment_id is not None}
        erasure = Erasure(
            pages={page.id: page.last_seq for page in pages},
            before=trail.changes,
            after=left.changes,
            begun=trail.begun,
            decisions=tuple(decisions),
            segments=tuple(d.segment_id for d in segments if d.segment_id in lost),
        )
        rewritten: tuple[SegmentId | ChainId, ...] = (
            *(d.segment_id for d in segments),
            *(d.chain_id for d in chains),
        )
        marks = [mark_of_text(self._key, text) for text in alone]
        forgotten = self._forgotten(pages, trail, left, rewritten, [*marks, *(bar.mark for bar in bars)])
        return _Decided(erasure=erasure, revision=state.revision, forgotten=forgotten)

    # ------------------------------------------------------------------------------------------------- what is named

    def _pages(self) -> tuple[Page, ...]:
        named, owner_id = self._named, self._owner.id
        if named.fact is not None:
            return ()
        if named.pages is not None:
            return self._store.pages(owner_id, 0, ids=[PageId(one) for one in named.pages])
        if named.before is not None:
            return self._store.pages(owner_id, 0, said_before=named.before)
        if named.page is not None:
            pages = self._store.pages(owner_id, 0, ids=[PageId(named.page)])
        elif named.segment is not None:
            pages = self._store.pages(owner_id, 0, segment=SegmentId(named.segment))
        else:
            pages = self._store.pages(owner_id, 0, thread=ThreadId(named.thread or ""))
        if not pages:
            raise self._none_such()
        return pages

    def _facts(self) -> dict[FactId, Fact]:
        """The fact that is named, and all that say the same."""
        if self._named.fact is None:
            return {}
        owner_id = self._owner.id
        known = [fact for state in (HELD, ARCHIVED, ENDED) for fact in self._store.facts(owner_id, state)]
        fact = next((one for one in known if one.id == self._named.fact), None)
        if fact is None:
            raise self._none_such()
        said = _said(fact)
        return {fact.id: fact, **{one.id: one for one in known if _said(one) == said}}

    def _none_such(self) -> NotFound:
        kind, name = next(
            (
                (kind, name)
                for kind in ("page", "fact", "segment", "thread")
                if (name := getattr(self._named, kind)) is not None
            ),
            ("memory", "of this name"),
        )
        return NotFound(f"no {kind} {name!r} of {self._owner.user}/{self._owner.agent}")

    # --------------------------------------------------------------------------------------------- what rests on it

    def _redacted(self, pages: Sequence[Page], facts: Mapping[FactId, Fact]) -> tuple[Trail, Redacted]:
        """The log without what goes. Where that tells of a fact otherwise that was not looked for, it is looked for.
        Where a model wrote of these pages, a sentence stays only if it stands in what was said and stays."""
        texts = [u.text for page in pages for u in page.utterances]
        said = {(fact.attribute, plain(fact.value)) for fact in facts.values()}
        wanted = frozenset(facts)
        while True:
            trail = self._store.trail(
                self._owner.id,
                pages,
                wanted,
                said=said,
                probes=probes_of(texts),
                verbatim=(*_AS_SAID, self._extractive),
            )
            near = (u.text for some in trail.chains.values() for page in some for u in page.utterances)
            going = Going(
                pages=frozenset(page.id for page in pages),
                seqs=frozenset(u.seq for page in pages for u in page.utterances),
                facts=frozenset(facts),
                traces=Traces(texts, lambda: self._left(pages)),
                pieces=Pieces(texts, near if trail.verbatim else self._left(pages), exact=trail.verbatim),
                exact=trail.verbatim,
            )
            left = redacted(trail, going, self._key)
            more = frozenset(changed_facts(trail.changes, left.changes)) - trail.facts
            if not more:
                return trail, left
            wanted = trail.facts | more

    @cached_property
    def _texts(self) -> Mapping[int, str]:
        """Everything that was said, by seq; read once."""
        return {u.seq: u.text for u in self._store.utterances(self._owner.id)}

    def _left(self, pages: Iterable[Page]) -> list[str]:
        """Everything that was said, but for the pages."""
        gone = {u.seq for page in pages for u in page.utterances}
        return [text for seq, text in self._texts.items() if seq not in gone]

    def _texts_barred(self, pages: Sequence[Page], alone: Sequence[str]) -> list[Decision]:
        """Marks of the messages that go, and of the words that nothing else says."""
        if not pages:
            return []
        said = [u for page in pages for u in page.utterances]
        messages = {mark_of_message(self._key, u.role.value, u.text, u.said_at): None for u in said}
        texts = {} if self._named.again else {mark_of_text(self._key, text): None for text in alone}
        return [TextsBarred(messages=tuple(messages), texts=tuple(texts))]

    # ------------------------------------------------------------------------------------------ what is said anew

    def _chains_anew(self, trail: Trail, left: Redacted) -> list[ChainSummarised]:
        """The summaries that lost a sentence, by extraction from the pages left."""
        made = []
        for chain_id in sorted(left.chains):
            pages = trail.chains.get(chain_id, ())
            if not pages:
                continue
            summary, sources = "", dict[Source, None]()
            for page in pages:
                summary, own = self._summarise(summary, page)
                sources |= dict.fromkeys(own)
            if summary and not sources:
                sources = {Source(seq=u.seq, utterance_id=u.id): None for u in pages[-1].utterances}
            made.append(
                ChainSummarised(chain_id=chain_id, thread=pages[-1].thread, summary=summary, sources=tuple(sources))
            )
        return made

    def _segments_anew(
        self, trail: Trail, left: Redacted, fresh: Mapping[ChainId, ChainSummarised]
    ) -> list[SegmentWritten]:
        """The texts of segments that lost a page or a sentence: with the new summaries of their chains, without the
        keywords of the pages that go, and with the times of those that stay."""
        made = []
        for segment_id, text in sorted(left.segments.items()):
            losing = trail.segments.get(segment_id)
            lost = losing is not None and losing.lost > 0
            if (losing is not None and not losing.left) or not (lost or segment_id in left.altered):
                continue
            times = None if text is None else (text.said_from, text.said_to)
            if losing is not None and losing.said_from is not None and losing.said_to is not None:
                times = losing.said_from, losing.said_to
            stay = () if times is not None else self._pages_left(segment_id, left)
            if stay:  # no version of its text is left to go on from
                times = min(page.said_at for page in stay), max(page.said_at for page in stay)
            if times is None:
                continue  # it has no page
            parts = () if text is None else text.parts
            told = {part.chain_id for part in parts}
            for chain_id in self._chains_in(trail, left, segment_id, told):
                if chain_id in fresh:
                    parts = mid_term.with_part(parts, _part(fresh[chain_id]), self._settings.segment_summary_chars)
            if not any(part.sources for part in parts):
                parts = self._parts_anew(segment_id, left, fresh)
            made.append(
                SegmentWritten(
                    segment_id=segment_id,
                    parts=parts,
                    keywords=_keywords_left(segment_id, text, left),
                    said_from=times[0],
                    said_to=times[1],
                )
            )
        return made

    def _parts_anew(
        self, segment_id: SegmentId, left: Redacted, fresh: Mapping[ChainId, ChainSummarised]
    ) -> tuple[SummaryPart, ...]:
        """The summaries of the chains of a segment's newest pages, where its text lost everything."""
        stay = self._pages_left(segment_id, left)[-_NEWEST:]
        told = {page.chain_id for page in stay if page.chain_id is not None}
        known = {chain.id: chain for chain in self._store.chains(self._owner.id, ids=told)}
        parts: tuple[SummaryPart, ...] = ()
        for chain_id in dict.fromkeys(page.chain_id for page in stay if page.chain_id is not None):
            chain = fresh.get(chain_id) or (known.get(chain_id) if chain_id not in left.chains else None)
            if chain is not None:
                parts = mid_term.with_part(parts, _part(chain), self._settings.segment_summary_chars)
        if stay and not any(part.sources for part in parts):
            said = tuple(Source(seq=u.seq, utterance_id=u.id) for u in stay[-1].utterances)
            parts = (SummaryPart(chain_id=stay[-1].chain_id, text="", sources=said),)
        return parts

    def _pages_left(self, segment_id: SegmentId, left: Redacted) -> Sequence[Page]:
        """The pages that a segment keeps."""
        pages = self._store.pages(self._owner.id, 0, segment=segment_id)
        return [page for page in pages if page.id not in left.placed]

    def _chains_in(
        self, trail: Trail, left: Redacted, segment_id: SegmentId, told: Collection[ChainId | None]
    ) -> list[ChainId]:
        """The chains with a new summary whose part a segment has, or whose pages it holds where its text lost all."""
        return [
            chain_id
            for chain_id in sorted(left.chains)
            if chain_id in told or any(page.segment_id == segment_id for page in trail.chains.get(chain_id, ()))
        ]

    def _settled(self, trail: Trail, left: Redacted) -> list[Decision]:
        """What makes the persona agree with itself where facts hold again: of an attribute that is single the latest
        value holds and ends the others, and no knowledge base is above its cap."""
        if not left.reopened:
            return []
        owner_id, gone = self._owner.id, {*left.facts}
        past = {fact.id: fact for fact in self._store.facts(owner_id, ENDED)}
        again = [replace(past[one], retired_at=None) for one in sorted(left.reopened) if one in past]
        known = [*self._store.facts(owner_id, ARCHIVED), *self._store.facts(owner_id, HELD)]
        again.sort(key=lambda fact: fact.change_no)  # those that hold again are the oldest: the first to be archived
        standing = _as_told(
            {fact.id: fact for fact in (*again, *known) if fact.id not in gone}, _told_anew(trail, left)
        )
        single = _one_at_a_time(left.changes)
        ended: dict[FactId, FactRetired] = {}
        groups = {_speaks_of(standing[one]) for one in left.reopened if one in standing}
        for group in sorted(group for group in groups if single(group[-1])):
            held = sorted((one for one in standing.values() if _speaks_of(one) == group), key=_since)
            for fact, after in pairwise(held):
                ended[fact.id] = FactRetired(fact_id=fact.id, superseded_by=after.id, valid_to=after.valid_from)
        held = [one for one in standing.values() if one.id not in ended and not one.archived and not one.pinned]
        archived = []
        for about, cap in ((About.USER, self._settings.user_facts), (About.AGENT, self._settings.agent_facts)):
            queue = [fact for fact in held if fact.about is about]
            archived += [FactArchived(fact_id=fact.id) for fact in queue[: max(0, len(queue) - cap)]]
        return [*ended.values(), *archived]

    def _forgotten(
        self,
        pages: Sequence[Page],
        trail: Trail,
        left: Redacted,
        rewritten: tuple[SegmentId | ChainId, ...],
        marks: Sequence[str],
    ) -> Forgotten:
        was, now = left.before, left.after
        emptied = {segment_id for segment_id, one in trail.segments.items() if one.lost and not one.left}
        chains = {page.chain_id for page in pages if page.chain_id is not None and not trail.chains.get(page.chain_id)}
        # A page that stays may have been in one of them, before a model read it again.
        decisions = (d for change in left.changes for d in change.decisions)
        named = {item_id for d in decisions for sort, item_id in ids(d) if sort is Sort.CHAIN}
        return _forgotten(
            self._now,
            pages=[page.id for page in pages],
            utterances=[u for page in pages for u in page.utterances],
            facts=left.facts,
            segments=sorted(emptied),
            chains=sorted(chains - named),
            traits=sorted(was.traits - now.traits),
            profile=sorted(was.profile - now.profile),
            rewritten=rewritten,
            marks=marks if self._key else (),
        )


def _told_anew(trail: Trail, left: Redacted) -> Iterator[Decision]:
    """The decisions that redacting put in place of others. All others count in what is stored already."""
    for was, now in zip(trail.changes, left.changes, strict=True):
        if was.decisions != now.decisions:
            yield from (d for d in now.decisions if d not in was.decisions)


def _as_told(standing: Mapping[FactId, Fact], told: Iterable[Decision]) -> dict[FactId, Fact]:
    """The facts that stand, as the decisions leave them."""
    found = dict(standing)
    for d in told:
        if isinstance(d, FactAdded) and d.fact_id in found:
            found[d.fact_id] = replace(found[d.fact_id], valid_from=d.valid_from)
        elif isinstance(d, FactArchived | FactRestored) and d.fact_id in found:
            found[d.fact_id] = replace(found[d.fact_id], archived=isinstance(d, FactArchived))
        elif isinstance(d, FactPinned) and d.fact_id in found:
            found[d.fact_id] = replace(found[d.fact_id], pinned=d.pinned)
    return found


def _part(chain: ChainSummarised | Chain) -> SummaryPart:
    """A chain's summary as a segment holds it."""
    chain_id = chain.chain_id if isinstance(chain, ChainSummarised) else chain.id
    return SummaryPart(chain_id=chain_id, text=chain.summary, sources=chain.sources)


def _keywords_left(segment_id: SegmentId, text: SegmentWritten | None, left: Redacted) -> tuple[KeywordCount, ...]:
    """A segment's keywords without those that its pages which go were counted with."""
    gone = Counter(
        word for page_id, words in left.keywords.items() if left.placed.get(page_id) == segment_id for word in {*words}
    )
    return tuple(
        replace(count, pages=count.pages - gone[count.word])
        for count in (() if text is None else text.keywords)
        if count.pages > gone[count.word]
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


def _speaks_of(fact: Fact) -> tuple[str, str, str]:
    return fact.about.value, fold(fact.subject), fact.attribute


def _said(fact: Fact) -> tuple[str, str, str, str]:
    return (*_speaks_of(fact), plain(fact.value))


def _since(fact: Fact) -> float:
    """From when a fact is true, in seconds since 1970; long ago where that is not known."""
    return float("-inf") if fact.valid_from is None else fact.valid_from.timestamp()


def _mark(key: bytes, fact: Fact) -> str:
    return mark_of(key, fact.about, fact.subject, fact.attribute, fact.value)


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
    marks: Sequence[str] = (),
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
        marks=tuple(dict.fromkeys(marks)),
    )
