"""Taking what is forgotten out of the log: every decision that names it or rests on it alone goes, or is said anew.

Pure: a log in, a log out. Applying the new one gives the memory as if what went had never been said.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from embermem.changes import (
    Analysed,
    BegunAnew,
    ChainSummarised,
    Change,
    Decision,
    Evicted,
    FactAdded,
    FactAffirmed,
    FactArchived,
    FactBarred,
    FactDenied,
    FactPinned,
    FactRestored,
    FactRetired,
    FactStrengthened,
    Noted,
    Placed,
    ProfileSet,
    SegmentWritten,
    TraitCleared,
    TraitSet,
)
from embermem.rulings import mark_of, plain
from embermem.systems.memoryos.long_term import CALLER, mirrors
from embermem.text import fold, terms
from embermem.types import (
    About,
    ChainId,
    FactId,
    FactProposal,
    PageId,
    ProfileProposal,
    SegmentId,
    Source,
    TraitProposal,
)

_Resting = TypeVar(
    "_Resting", FactProposal, TraitProposal, ProfileProposal, FactAdded, FactStrengthened, TraitSet, ProfileSet
)
Says = tuple[About, str, str, str]
"""What a fact says, as it is compared: about, subject, attribute, value."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Going:
    """What is to be forgotten: pages with the seqs of their utterances, facts by their ids (then with all that say the
    same), and what gives the forgotten words away in a text (`traces`)."""

    pages: frozenset[PageId] = frozenset()
    seqs: frozenset[int] = frozenset()
    facts: frozenset[FactId] = frozenset()
    traces: Traces


class Traces:
    """What stands in the texts that go and in none of those that stay: words, and runs of three of them. A derived text
    that holds one was taken from what goes, whatever it says of its sources."""

    def __init__(self, gone: Iterable[str] = (), left: Iterable[str] = ()) -> None:
        self._own: set[object] = set()
        for text in gone:
            self._own |= _marks(text)
        for text in left:
            if not self._own:
                break
            self._own -= _marks(text)
        self._known: dict[str, bool] = {}

    def in_(self, text: str) -> bool:
        """Whether the text gives something of it away."""
        if not self._own:
            return False
        if text not in self._known:
            self._known[text] = not self._own.isdisjoint(_marks(text))
        return self._known[text]


@dataclass(kw_only=True, slots=True)
class Standing:
    """What stands after a log, as far as forgetting must know it: each page's chain, segment and keywords."""

    chain_of: dict[PageId, ChainId] = field(default_factory=dict)
    segment_of: dict[PageId, SegmentId] = field(default_factory=dict)
    keywords: dict[PageId, tuple[str, ...]] = field(default_factory=dict)
    chains: dict[ChainId, ChainSummarised] = field(default_factory=dict)
    traits: set[str] = field(default_factory=set)
    profile: set[str] = field(default_factory=set)

    def read(self, decision: Decision) -> None:
        """One more decision."""
        match decision:
            case BegunAnew():
                for table in (self.chain_of, self.segment_of, self.keywords, self.chains, self.traits, self.profile):
                    table.clear()
            case Noted():
                self.chain_of[decision.page_id] = decision.chain_id
                self.keywords[decision.page_id] = decision.keywords
            case ChainSummarised():
                self.chains[decision.chain_id] = decision
            case Placed():
                self.segment_of[decision.page_id] = decision.segment_id
            case TraitSet():
                self.traits.add(decision.dimension)
            case TraitCleared():
                self.traits.discard(decision.dimension)
            case ProfileSet():
                name = f"{decision.whose.value}.{decision.name}"
                (self.profile.discard if decision.value is None else self.profile.add)(name)
            case _:
                pass


@dataclass(frozen=True, kw_only=True, slots=True)
class Redacted:
    """A log without what was forgotten. `rewritten` are the changes that lost something, with the decisions they have
    now; `facts` all that went; `reopened` those that hold again, since what ended them went; `barred` what the facts
    said that were themselves to be forgotten; `chains` and `segments` those whose text is to be made again or that are
    gone; `before` and `after` what stood and stands."""

    log: tuple[Change, ...]
    rewritten: Mapping[int, tuple[Decision, ...]]
    facts: tuple[FactId, ...]
    reopened: frozenset[FactId]
    barred: frozenset[Says]
    chains: frozenset[ChainId]
    segments: frozenset[SegmentId]
    before: Standing
    after: Standing


def redacted(log: Sequence[Change], going: Going, key: bytes) -> Redacted:
    """The log without what goes. `key` is that of the marks which take the place of denied values."""
    return _Redaction(log, going, key).run()


class _Redaction:
    def __init__(self, log: Sequence[Change], going: Going, key: bytes) -> None:
        self._log = log
        self._going = going
        self._key = key
        self._added = _added(log)
        self._said = {says(d) for fact_id, d in self._added.items() if fact_id in going.facts}
        self._facts = self._facts_left()
        self._gone = {fact_id: d for fact_id, d in self._added.items() if fact_id not in self._facts}
        self._chains: set[ChainId] = set()
        self._segments: set[SegmentId] = set()
        self._ended_by: dict[FactId, list[FactId]] = {}
        """By a fact that is gone: those that it ended, and that hold until another ends them."""

    def run(self) -> Redacted:
        before, after = Standing(), Standing()
        made: list[Change] = []
        rewritten: dict[int, tuple[Decision, ...]] = {}
        left = self._pages_left()
        for change in self._log:
            self._taint(change)
            kept = tuple(d for one in change.decisions for d in self._kept(one, left))
            for d in change.decisions:
                before.read(d)
            for d in kept:
                after.read(d)
            made.append(replace(change, decisions=kept))
            if kept != change.decisions:
                rewritten[change.no] = kept
        return Redacted(
            log=tuple(made),
            rewritten=rewritten,
            facts=tuple(self._gone),
            reopened=frozenset(fact_id for ended in self._ended_by.values() for fact_id in ended),
            barred=frozenset(self._said),
            chains=frozenset(self._chains),
            segments=frozenset(self._segments),
            before=before,
            after=after,
        )

    # ------------------------------------------------------------------------------------------- before it is read

    def _facts_left(self) -> dict[FactId, FactAdded]:
        """The facts that stay, as they are added now: with the utterances left, and in words that are left."""
        rest: dict[FactId, dict[Source, None]] = {}
        touched: set[FactId] = set()
        proposals: list[FactProposal] = []
        for change in self._log:
            for d in change.decisions:
                if isinstance(d, FactAdded | FactStrengthened):
                    kept = self._left(d.sources)
                    rest.setdefault(d.fact_id, {}).update(dict.fromkeys(kept))
                    if len(kept) < len(d.sources):
                        touched.add(d.fact_id)
                elif isinstance(d, Noted) and d.page_id not in self._going.pages:
                    proposals += d.facts
        facts: dict[FactId, FactAdded] = {}
        for fact_id, d in self._added.items():
            if says(d) in self._said:
                continue
            if fact_id not in touched:
                facts[fact_id] = d
            elif rest[fact_id] and (told := self._told_again(d, tuple(rest[fact_id]), proposals)) is not None:
                facts[fact_id] = told
        return facts

    def _told_again(
        self, d: FactAdded, sources: tuple[Source, ...], proposals: Iterable[FactProposal]
    ) -> FactAdded | None:
        """A fact that loses sources. Where its words are theirs, those of another page that says the same take their
        place, else its value; None where that too is theirs alone."""
        own = self._left(d.sources)
        fact = replace(d, sources=own or sources)
        seqs = {source.seq for source in sources}
        traces = self._going.traces
        if own and not traces.in_(d.text) and not traces.in_(d.value):
            return fact
        for p in proposals:
            if says(p) == says(d) and not p.retracts and any(source.seq in seqs for source in p.sources):
                return replace(fact, value=p.value, text=p.text, valid_from=p.valid_from or d.valid_from)
        if traces.in_(d.value) or traces.in_(d.subject):
            return None
        return replace(fact, text=d.value) if traces.in_(d.text) else fact

    def _pages_left(self) -> Mapping[SegmentId, int]:
        """How many pages each segment has left, whenever they entered it."""
        left: dict[SegmentId, set[PageId]] = {}
        for change in self._log:
            for d in change.decisions:
                if isinstance(d, Placed) and d.page_id not in self._going.pages:
                    left.setdefault(d.segment_id, set()).add(d.page_id)
        return {segment_id: len(pages) for segment_id, pages in left.items()}

    def _taint(self, change: Change) -> None:
        """Which chains and segments tell of what goes, from this change on."""
        going, traces = self._going, self._going.traces
        for d in change.decisions:
            match d:
                case Noted() if d.page_id in going.pages:
                    self._chains.add(d.chain_id)
                case Placed() if d.page_id in going.pages:
                    self._segments.add(d.segment_id)
                case ChainSummarised() if self._touched(d.sources) or traces.in_(d.summary):
                    self._chains.add(d.chain_id)
                case _:
                    pass
        for d in change.decisions:
            if isinstance(d, SegmentWritten) and (
                any(
                    part.chain_id in self._chains or self._touched(part.sources) or traces.in_(part.text)
                    for part in d.parts
                )
                or any(traces.in_(count.word) for count in d.keywords)
            ):
                self._segments.add(d.segment_id)

    # ------------------------------------------------------------------------------------------- decision by decision

    def _kept(self, d: Decision, left: Mapping[SegmentId, int]) -> list[Decision]:
        """What of a decision stays."""
        going = self._going
        match d:
            case Noted():
                return [] if d.page_id in going.pages else [self._note(d)]
            case Placed() | Analysed():
                return [] if d.page_id in going.pages else [d]
            case ChainSummarised():
                return [] if d.chain_id in self._chains else [d]
            case SegmentWritten():
                return [] if d.segment_id in self._segments else [d]
            case Evicted():
                return [d] if d.segment_id not in self._segments or left.get(d.segment_id) else []
            case FactAdded():
                return [self._facts[d.fact_id]] if d.fact_id in self._facts else []
            case FactRetired() | FactRestored():
                return self._ending(d)
            case FactStrengthened():
                return list(self._resting([d])) if d.fact_id in self._facts else []
            case FactArchived() | FactPinned() | FactAffirmed():
                return [d] if d.fact_id in self._facts else []
            case FactDenied():
                return [self._denied(d)]
            case TraitSet():
                return list(self._resting([d]))
            case ProfileSet():
                return self._line(d)
            case _:
                return [d]

    def _note(self, d: Noted) -> Noted:
        dropped = [fact for fact in d.facts if says(fact) in self._said]
        facts = [fact for fact in d.facts if says(fact) not in self._said]
        lines = [line for line in d.profile if not any(mirrors(fact, line) for fact in dropped)]
        return replace(
            d,
            facts=tuple(self._resting(facts)),
            traits=tuple(self._resting(d.traits)),
            profile=tuple(self._resting(lines)),
        )

    def _ending(self, d: FactRetired | FactRestored) -> list[Decision]:
        """A fact that what goes has ended holds again, or is ended by what came after that. Where a fact itself was to
        be forgotten, what it had ended stays so: it was said that it changed."""
        by = d.superseded_by if isinstance(d, FactRetired) else None
        if d.fact_id in self._facts:
            for others in self._ended_by.values():
                others[:] = [fact_id for fact_id in others if fact_id != d.fact_id]
            if by is None or by not in self._gone or not isinstance(d, FactRetired):
                return [d]
            if says(self._gone[by]) in self._said:
                return [replace(d, superseded_by=None)]
            self._ended_by.setdefault(by, []).append(d.fact_id)
            return []
        before = self._ended_by.get(d.fact_id, [])
        if isinstance(d, FactRestored):
            return [FactRestored(fact_id=fact_id) for fact_id in before]
        if by is None:
            return []
        if by in self._gone:
            self._ended_by.setdefault(by, []).extend(before)
            return []
        return [replace(d, fact_id=fact_id) for fact_id in before if fact_id != by]

    def _denied(self, d: FactDenied) -> Decision:
        if d.fact_id in self._facts and says(d) not in self._said:
            return d
        mark = mark_of(self._key, d.about, d.subject, d.attribute, d.value)
        return FactBarred(mark=mark, upto_seq=d.upto_seq)

    def _line(self, d: ProfileSet) -> list[Decision]:
        """A line that callers set of themselves stays, and so does one whose fact stays: it has that one's sources now.
        One that says what a forgotten fact said has no value now."""
        if not d.sources:
            return [d]
        if any(says(fact) in self._said and mirrors(fact, d) for fact in self._gone.values()):
            return [replace(d, value=None, sources=(), set_by=CALLER)]
        if not self._left(d.sources) and not self._traced(d):
            for fact_id, fact in self._facts.items():
                if mirrors(self._added[fact_id], d):
                    return [replace(d, sources=fact.sources)]
        return list(self._resting([d]))

    def _resting(self, told: Iterable[_Resting]) -> Iterable[_Resting]:
        """What rests on something that stays, with no other sources. What rests on nothing stays."""
        for one in told:
            left = self._left(one.sources)
            if len(left) == len(one.sources):
                yield one
            elif left and not (isinstance(one, FactProposal | ProfileProposal | ProfileSet) and self._traced(one)):
                yield replace(one, sources=left)

    def _traced(self, one: FactProposal | ProfileProposal | ProfileSet) -> bool:
        texts = (one.value or "", one.text if isinstance(one, FactProposal) else "")
        return any(self._going.traces.in_(text) for text in texts)

    def _left(self, sources: Sequence[Source]) -> tuple[Source, ...]:
        return tuple(source for source in sources if source.seq not in self._going.seqs)

    def _touched(self, sources: Iterable[Source]) -> bool:
        return any(source.seq in self._going.seqs for source in sources)


def says(fact: FactAdded | FactDenied | FactProposal) -> Says:
    """What a fact says, as it is compared with others."""
    return fact.about, fold(fact.subject), fact.attribute, plain(fact.value)


def _added(log: Iterable[Change]) -> dict[FactId, FactAdded]:
    return {d.fact_id: d for change in log for d in change.decisions if isinstance(d, FactAdded)}


def _marks(text: str) -> set[object]:
    found = terms(text)
    return {*found, *zip(found, found[1:], found[2:], strict=False)}
