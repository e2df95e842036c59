"""Taking what is forgotten out of the log: every decision that names it or rests on it alone goes, or is said anew.

Pure: changes in, changes out. Applying the log with the new ones gives the memory as if what went had never been said.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Never, TypeVar, assert_never

from embermem.core.changes import (
    CALLER,
    KINDS,
    BegunAnew,
    ByRule,
    ChainSummarised,
    Change,
    Decision,
    FactAdded,
    FactBarred,
    FactDenied,
    FactRestored,
    FactRetired,
    FactStrengthened,
    Falls,
    Item,
    Kind,
    Noted,
    PersonRelated,
    Placed,
    ProfileSet,
    Rests,
    SegmentEnded,
    SegmentGrew,
    SegmentTexts,
    SegmentTold,
    SegmentWritten,
    Sort,
    Stays,
    SummaryPart,
    VisitCount,
    Visited,
    ended_by,
    grows,
    growth,
    set_by,
    sources,
    texts,
    values,
)
from embermem.core.errors import StoreError
from embermem.core.metadata import texts as texts_of
from embermem.core.types import (
    ChainId,
    FactId,
    FactProposal,
    ItemId,
    PageId,
    ProfileProposal,
    Relation,
    SegmentId,
    Source,
    TraitProposal,
)
from embermem.core.user_overrides import Says, mark_of, plain, says
from embermem.memoryos.forget.traces import Pieces, Traces
from embermem.memoryos.ingest.profile_lines import mirrors
from embermem.protocols import Trail

OwnRule = (
    Noted
    | ChainSummarised
    | SegmentWritten
    | SegmentGrew
    | FactAdded
    | FactRetired
    | FactRestored
    | FactDenied
    | ProfileSet
    | PersonRelated
    | Visited
    | SegmentEnded
)
"""The kinds of decisions with a rule of their own below; what becomes of all others, the table of decisions says."""
_Resting = TypeVar("_Resting", FactProposal, TraitProposal, ProfileProposal, ProfileSet)


@dataclass(frozen=True, kw_only=True, slots=True)
class Going:
    """What is to be forgotten: pages with the seqs of their utterances, facts by their ids (then with all that say the
    same), and what gives the forgotten words away in a text (`traces`). `pieces` takes out of a summary what was of
    them. `spoken` finds what a speaker said in a role that stays. `exact`: no model wrote of these pages, so that every
    text says what it was taken from."""

    pages: frozenset[PageId] = frozenset()
    seqs: frozenset[int] = frozenset()
    facts: frozenset[FactId] = frozenset()
    traces: Traces
    pieces: Pieces
    spoken: Callable[[str, str], Source | None]
    exact: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Redacted:
    """Changes without what was forgotten, and from which decision of it each one in a change that lost something came
    (`places`). `facts` are all that went; `reopened` those that hold again, since what ended
    them went; `barred` what the facts said that were themselves to be forgotten; `chains` those whose summary lost
    something; `segments` the last text of each, as it is left (None: nothing), and `altered` those that lost something
    of it; `keywords` and `placed` what was noted last of the pages that go, and where they were."""

    changes: tuple[Change, ...]
    places: Mapping[int, Sequence[int]]
    facts: tuple[FactId, ...]
    reopened: frozenset[FactId]
    barred: frozenset[Says]
    chains: frozenset[ChainId]
    segments: Mapping[SegmentId, SegmentWritten | None]
    altered: frozenset[SegmentId]
    keywords: Mapping[PageId, tuple[str, ...]]
    placed: Mapping[PageId, SegmentId]


def redacted(trail: Trail, going: Going, key: bytes) -> Redacted:
    """The changes of a trail without what goes. `key` is that of the marks which take the place of denied values."""
    return _Redaction(trail, going, key).run()


class _Redaction:
    def __init__(self, trail: Trail, going: Going, key: bytes) -> None:
        self._log = trail.changes
        self._trail = trail
        self._going = going
        self._key = key
        self._added = _added(self._log)
        self._said = {says(d) for fact_id, d in self._added.items() if fact_id in going.facts}
        self._facts = self._facts_left()
        self._gone = {fact_id: d for fact_id, d in self._added.items() if fact_id not in self._facts}
        self._emptied = {segment_id for segment_id, one in trail.segments.items() if one.lost and not one.left}
        ended = (d for change in self._log for d in change.decisions if isinstance(d, SegmentEnded))
        self._heirs: dict[str, SegmentId | None] = {d.segment_id: d.into for d in ended}
        self._chains: set[ChainId] = set()
        """Chains of pages that go, from their first note on: what a model says of one may be of them."""
        self._words: set[str] = set()
        self._cut_chains: set[ChainId] = set()
        self._cut_segments: set[SegmentId] = set()
        self._texts: dict[SegmentId, SegmentWritten | None] = {}
        self._was, self._left_of = self._texts_before(), self._texts_before()
        """The whole texts of segments up to the decision that is looked at: as they were, and as they are left."""
        self._whole: set[SegmentId] = set()
        """Segments of whose text nothing went: what is left of it is the text as it was, and not written down."""
        self._keywords: dict[PageId, tuple[str, ...]] = {}
        self._placed: dict[PageId, SegmentId] = {}
        self._ended_by: dict[FactId, list[FactId]] = {}
        """By a fact that is gone: those that it ended, and that hold until another ends them."""

    def run(self) -> Redacted:
        made: list[Change] = []
        places: dict[int, Sequence[int]] = {}
        for change in self._log:
            self._read(change)
            kept: list[Decision] = []
            from_: list[int] = []
            for place, d in enumerate(change.decisions):
                left = self._kept(d, change.no)
                self._last(d, left)
                kept += left
                from_ += [place] * len(left)
            same = tuple(kept) == change.decisions
            made.append(change if same else replace(change, decisions=tuple(kept)))
            places |= {} if same else {change.no: from_}
        self._look_again()
        return Redacted(
            changes=tuple(made),
            places=places,
            facts=tuple(self._gone),
            reopened=frozenset(fact_id for ended in self._ended_by.values() for fact_id in ended),
            barred=frozenset(self._said),
            chains=frozenset(self._cut_chains),
            segments=self._texts,
            altered=frozenset(self._cut_segments),
            keywords=self._keywords,
            placed=self._placed,
        )

    def _read(self, change: Change) -> None:
        """What a change says of the pages that go, before its texts are looked at."""
        for d in change.decisions:
            if isinstance(d, BegunAnew):
                self._cut_chains, self._cut_segments = set(), set()
                self._texts, self._keywords, self._placed, self._whole = {}, {}, {}, set()
                self._was, self._left_of = self._texts_before(), self._texts_before()
            elif isinstance(d, Noted) and d.page_id in self._going.pages:
                self._chains.add(d.chain_id)
                self._look_again()  # texts may tell of it
                self._words.update(d.keywords)
                self._keywords[d.page_id] = d.keywords
            elif isinstance(d, Placed) and d.page_id in self._going.pages:
                self._placed[d.page_id] = d.segment_id

    def _last(self, d: Decision, left: Sequence[Decision]) -> None:
        """What the last version of a summary is, and whether it lost something."""
        if isinstance(d, ChainSummarised):
            (self._cut_chains.discard if left == [d] else self._cut_chains.add)(d.chain_id)
        elif isinstance(d, SegmentEnded):
            self._look_again()
            self._cut_segments.discard(d.segment_id)
            self._texts.pop(d.segment_id, None)

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
        own, traces = self._left(d.sources), self._going.traces
        labels = {
            name: one
            for name, one in d.metadata.items()
            if not any(traces.in_(text) for _, text in texts_of({name: one}))
        }
        fact = replace(d, sources=own or sources, metadata=labels)
        if len(own) == len(d.sources):
            return fact
        seqs = {source.seq for source in sources}
        if own and not traces.in_(d.text) and not traces.in_(d.value):
            return fact
        for p in proposals:
            if says(p) == says(d) and not p.retracts and any(source.seq in seqs for source in p.sources):
                return replace(fact, value=p.value, text=p.text, valid_from=p.valid_from or d.valid_from)
        if traces.in_(d.value) or traces.in_(d.subject):
            return None
        return replace(fact, text=d.value) if traces.in_(d.text) else fact

    # ------------------------------------------------------------------------------------------- decision by decision

    def _kept(self, d: Decision, no: int) -> Sequence[Decision]:
        """What of a decision stays."""
        if isinstance(d, OwnRule):
            return self._by_own_rule(d, no)
        forgotten = _entry(d).forgotten
        match forgotten:
            case Stays():
                kept: Sequence[Decision] = [d]
            case Falls(fields):
                kept = [] if self._names_gone(d, fields) else [d]
            case Rests(fields):
                gone = self._names_gone(d, fields) or self._tells(sources(d), texts(d))
                kept = [] if gone else [_resting_on(d, self._left(sources(d)))]
            case ByRule():
                _refuse(d)
            case _:
                assert_never(forgotten)
        return kept

    def _by_own_rule(self, d: OwnRule, no: int) -> Sequence[Decision]:
        match d:
            case Noted():
                return [] if d.page_id in self._going.pages else [self._note(d)]
            case ChainSummarised():
                return self._chain(d)
            case SegmentWritten() | SegmentGrew():
                return self._text(d, no)
            case FactAdded():
                return [self._facts[d.fact_id]] if d.fact_id in self._facts else []
            case FactRetired() | FactRestored():
                return self._ending(d)
            case FactDenied():
                return [self._denied(d)]
            case ProfileSet():
                return self._line(d)
            case PersonRelated():
                return self._related(d)
            case Visited():
                return self._visits(d)
            case SegmentEnded():
                heir = None if d.into is None else self._heir(d.into)
                into = None if heir is None else SegmentId(heir)
                return [] if self._is_gone(Sort.SEGMENT, d.segment_id) else [replace(d, into=into)]
            case _:
                assert_never(d)

    def _visits(self, d: Visited) -> Sequence[Visited]:
        """Visits of what stays; those of a segment that goes, and had ended, are of its heir."""
        left: dict[str, VisitCount] = {}
        for one in d.items:
            if (heir := self._heir(one.item_id)) is not None:
                had = left.get(heir, replace(one, visits=0))
                at = max(one.at, had.at)
                left[heir] = VisitCount(item_id=ItemId(heir), visits=one.visits + had.visits, at=at)
        return [replace(d, items=tuple(left.values()))] if left else []

    def _heir(self, item_id: str) -> str | None:
        """An item that stays; of a segment that goes, the one that its visits are of, if that stays."""
        if not self._is_gone(Sort.VISITED, item_id):
            return item_id
        heir: str | None = item_id
        heirs = dict(self._heirs)
        while heir is not None and self._is_gone(Sort.VISITED, heir):
            heir = heirs.pop(heir, None)
        return heir

    def _names_gone(self, d: Decision, fields: Collection[str]) -> bool:
        """Whether one of these fields of a decision names what goes."""
        sorts = _entry(d).ids
        return any(self._is_gone(sorts[name], one) for name in fields for one in values(d, name))

    def _is_gone(self, sort: Sort, item_id: str) -> bool:
        match sort:
            case Sort.PAGE:
                return item_id in self._going.pages
            case Sort.CHAIN:
                return item_id in self._chains and not self._trail.chains.get(ChainId(item_id))
            case Sort.SEGMENT | Sort.FACT | Sort.VISITED:
                return item_id in self._emptied or item_id in self._gone
            case Sort.DIMENSION | Sort.CHANGE:
                return False
            case _:
                assert_never(sort)

    def _chain(self, d: ChainSummarised) -> Sequence[ChainSummarised]:
        """A chain's summary without the sentences that go; none where nothing of it is left."""
        if not self._may_tell(d.chain_id, d.sources, d.summary):
            return [d]
        if d.chain_id in self._chains and not self._trail.chains.get(d.chain_id):
            return []
        summary, sources = self._going.pieces.kept(d.summary), self._left(d.sources)
        if summary == d.summary and len(sources) == len(d.sources) and self._going.exact:
            return [d]
        sources = sources or self._standing_for(d.chain_id)
        return [replace(d, summary=summary, sources=sources)] if summary and sources else []

    def _standing_for(self, chain_id: ChainId | None) -> tuple[Source, ...]:
        """What a chain's summary rests on where all that it named goes: the first page that stays."""
        pages = self._trail.chains.get(chain_id, ()) if chain_id is not None else ()
        return tuple(Source(seq=u.seq, utterance_id=u.id) for page in pages[:1] for u in page.utterances)

    def _may_tell(self, chain_id: ChainId | None, sources: Iterable[Source], text: str) -> bool:
        """Whether a summary may tell of what goes. What needs no model says what it was taken from; a model may have
        used words that it was shown for context only."""
        if self._touched(sources) or (chain_id is not None and chain_id in self._chains):
            return True
        return not self._going.exact and self._going.traces.in_(text)

    def _texts_before(self) -> SegmentTexts:
        texts = SegmentTexts()
        for text in self._trail.texts.values():
            texts.set(text)
        return texts

    def _text(self, d: SegmentTold, no: int) -> Sequence[SegmentTold]:
        """What a decision writes of a segment's text, relative to what is left of the text before it."""
        written_from = self._trail.written_from.get(d.segment_id)
        if no > self._trail.begun and (written_from is None or no < written_from):
            if any(self._touched(part.sources) for part in d.parts):
                raise StoreError(
                    f"change {no} tells of what is to be forgotten, and no row names it; nothing was changed: run "
                    "`embermem doctor --repair`"
                )
            return [d]
        try:
            if d.segment_id in self._whole and self._loses_nothing(d, no):
                self._was.take(d)
                return [d]
            before, whole = self._was.get(d.segment_id), self._was.after(d)
        except ValueError as error:
            raise StoreError(f"change {no} of the log is damaged: {error}; nothing was changed") from None
        if d.segment_id in self._whole and before is not None:
            self._left_of.set(before)
        self._was.set(whole)
        left = self._segment(whole, no)
        (self._whole.add if left == whole else self._whole.discard)(d.segment_id)
        (self._cut_segments.discard if left == whole else self._cut_segments.add)(d.segment_id)
        self._texts[d.segment_id] = left
        if left is None:
            return []
        stood = self._left_of.get(d.segment_id)
        self._left_of.set(left)
        if left == whole and stood == before:
            return [d]
        if isinstance(d, SegmentGrew) and stood is not None and grows(stood, d, left):
            return [d]
        return [growth(stood, left) if isinstance(d, SegmentGrew) else left]

    def _look_again(self) -> None:
        """Write down what is left of texts: more goes from now on."""
        for text in filter(None, map(self._was.get, self._whole)):
            self._left_of.set(text)
            self._texts[text.segment_id] = text
        self._whole.clear()

    def _loses_nothing(self, d: SegmentTold, no: int) -> bool:
        """Whether a text that lost nothing loses nothing of what a growth adds; False where that is not plain."""
        losing = self._trail.segments.get(d.segment_id)
        if not isinstance(d, SegmentGrew) or not self._going.exact or no <= self._trail.begun or losing is None:
            return False
        return losing.words.isdisjoint(k.word for k in d.keywords) and all([*self._part(p)] == [p] for p in d.parts)

    def _segment(self, d: SegmentWritten, no: int) -> SegmentWritten | None:
        """A segment's text without what goes; None where nothing is left, and before the first page that stays entered
        it."""
        losing = self._trail.segments.get(d.segment_id)
        if losing is not None and losing.lost and (not losing.left or no < losing.first_no):
            return None
        if not self._going.pages:
            return d
        parts = tuple(left for part in d.parts for left in self._part(part))
        words = losing.words if losing is not None else self._words if no < self._trail.begun else frozenset()
        keywords = tuple(count for count in d.keywords if count.word not in words and not self._given(count.word))
        told = not self._going.exact and d.title is not None and self._going.traces.in_(d.title)
        if parts == d.parts and keywords == d.keywords and not told:
            return d
        if not any(part.sources for part in parts):
            return None
        left = {count.word for count in keywords}
        shown = None if d.shown is None else tuple(word for word in d.shown if word in left)
        return replace(d, parts=parts, keywords=keywords, shown=shown, title=None)

    def _part(self, part: SummaryPart) -> Sequence[SummaryPart]:
        if not self._may_tell(part.chain_id, part.sources, part.text):
            return [part]
        text, sources = self._going.pieces.kept(part.text), self._left(part.sources)
        if not sources or self._going.traces.in_(text):
            return []
        gone = part.chain_id is not None and part.chain_id in self._chains and not self._trail.chains.get(part.chain_id)
        if gone or not text:
            return []
        if text == part.text and len(sources) == len(part.sources) and self._going.exact:
            return [part]
        return [replace(part, text=text, sources=sources, phrases=())]

    def _given(self, word: str) -> bool:
        return not self._going.exact and self._going.traces.in_(word)

    def _note(self, d: Noted) -> Noted:
        told: tuple[FactProposal | TraitProposal | ProfileProposal, ...] = (*d.facts, *d.traits, *d.profile)
        if any(map(self._given, d.keywords)):
            d = replace(d, keywords=tuple(word for word in d.keywords if not self._given(word)))
        if not self._said and not any(self._touched(one.sources) for one in told):
            return d
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
        if d.fact_id not in self._gone:
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
        if d.fact_id not in self._gone and says(d) not in self._said:
            return d
        return FactBarred(mark=mark_of(self._key, says(d)), upto_seq=d.upto_seq)

    def _line(self, d: ProfileSet) -> list[Decision]:
        """A line that callers set of themselves stays, and so does one whose fact stays: it has that one's sources now.
        One that says what a forgotten fact said has no value now."""
        if not d.sources:
            return [d]
        if any(says(fact) in self._said and mirrors(fact, d) for fact in self._gone.values()):
            return [replace(d, value=None, sources=(), set_by=CALLER)]
        if not self._left(d.sources):
            same = (fact for fact_id, fact in self._facts.items() if mirrors(self._added[fact_id], d))
            fact = next(same, None)
            if fact is not None and (plain(fact.value) == plain(d.value or "") or not self._traced(d)):
                return [replace(d, sources=fact.sources)]
        return list(self._resting([d]))

    def _related(self, d: PersonRelated) -> Sequence[PersonRelated]:
        """Who speaks is known as long as something stays that they said. What callers ruled of two names stays, unless
        one of them was said in what goes alone."""
        left = self._left(d.sources)
        if d.relation is not Relation.SPEAKS:
            return [] if self._tells(d.sources, (d.one, d.other)) else [replace(d, sources=left)]
        if not left and (other := self._going.spoken(d.one, d.other)) is not None:
            left = (other,)
        return [replace(d, sources=left)] if left else []

    def _tells(self, sources: Sequence[Source], texts: Iterable[str]) -> bool:
        """Whether what a model or a caller wrote in a few words rests on what goes alone, or has words of it."""
        if sources and not self._left(sources):
            return True
        return bool(self._going.pages) and any(self._going.traces.in_(text) for text in texts)

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


def _entry(d: Decision) -> Kind[Any]:
    """What the table says of a decision's kind. Raises StoreError for a kind that it does not know."""
    return KINDS.get(type(d)) or _refuse(d)


def _resting_on(d: Decision, sources: tuple[Source, ...]) -> Decision:
    """A decision with the sources that stay."""
    said: Any = d  # of a kind that has sources of its own: the table is checked for that
    return d if len(sources) == len(said.sources) else replace(said, sources=sources)


def _refuse(unknown: object) -> Never:
    """A kind of decision that nothing says how to forget might tell of what goes. Raises StoreError."""
    kind = type(unknown).__name__
    raise StoreError(f"a decision of the kind {kind} cannot be forgotten by this version of Ember; nothing was changed")


def changed_facts(before: Iterable[Change], after: Iterable[Change]) -> Collection[FactId]:
    """The facts of which a redacted log does not say what it said."""
    found: set[FactId] = set()
    for was, now in zip(before, after, strict=True):
        if was.decisions != now.decisions:
            kinds = (FactAdded, FactStrengthened, FactRetired, FactRestored)
            old, new = ([d for d in one.decisions if isinstance(d, kinds)] for one in (was, now))
            found |= {d.fact_id for d in (*old, *new) if d not in old or d not in new}
    return found


def standing(log: Iterable[Change], item: Item) -> set[str]:
    """The names of the traits or profile lines that stand after changes."""
    found: set[str] = set()
    for d in (d for change in log for d in change.decisions):
        which = set_by(d) or ended_by(d)
        if isinstance(d, BegunAnew):
            found.clear()
        elif which is not None and which[0] is item:
            stands = set_by(d) is not None and not (isinstance(d, ProfileSet) and d.value is None)
            (found.add if stands else found.discard)(".".join(which[1]))
    return found


def _added(log: Iterable[Change]) -> dict[FactId, FactAdded]:
    return {d.fact_id: d for change in log for d in change.decisions if isinstance(d, FactAdded)}
