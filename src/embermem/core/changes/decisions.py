"""The second log: numbered changes, each with decisions that record in full what was derived.

Everything that Ember derives from utterances is written by applying a change; replaying all changes in order gives the
same memory. A decision is resolved: it contains ids and texts, so that applying it needs no model. Vectors are not part
of the log, because they can be computed again from the texts. The log only grows, except that forgetting removes all
forgotten text from it.

A kind of decision is stored under its `tag`, which does not change when the class is renamed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import ClassVar

from embermem.core.metadata import Metadata
from embermem.core.record import Record
from embermem.core.types import (
    About,
    ChainId,
    Fact,
    FactId,
    FactProposal,
    ItemId,
    PageId,
    PersonRelation,
    ProfileField,
    ProfileProposal,
    Relation,
    SegmentId,
    Source,
    ThreadId,
    TraitProposal,
)

__all__ = [
    "CALLER",
    "EXTRACTIVE",
    "Analysed",
    "BegunAnew",
    "Cause",
    "ChainSummarised",
    "Change",
    "ConflictSettled",
    "Decision",
    "Embedded",
    "Erased",
    "Evicted",
    "FactAdded",
    "FactAffirmed",
    "FactArchived",
    "FactBarred",
    "FactDenied",
    "FactExpires",
    "FactPinned",
    "FactRestored",
    "FactRetired",
    "FactStrengthened",
    "Item",
    "KeywordCount",
    "Noted",
    "PersonRelated",
    "Placed",
    "ProfileSet",
    "Refused",
    "Ruling",
    "SegmentEnded",
    "SegmentGrew",
    "SegmentWritten",
    "SummaryPart",
    "TextsBarred",
    "TraitCleared",
    "TraitSet",
    "UndoPlan",
    "Undone",
    "VisitCount",
    "Visited",
    "barred_by",
    "is_extractive",
    "is_verbatim",
    "undone",
]

CALLER = "caller"
"""Who set a line of a profile that the caller gave."""
EXTRACTIVE = "extractive-v1"
"""The extractive analyst, with the version of its rules. In changes "+" and a name follow if a trained reader read."""
_EXTRACTIVE = re.compile(r"extractive-v\d+(\+.+)?")


def is_extractive(analyst: str) -> bool:
    """Whether a name is that of the extractive analyst, of any version, with any reader or none."""
    return _EXTRACTIVE.fullmatch(analyst) is not None


def is_verbatim(analyst: str) -> bool:
    """Whether every text of an analyst is the caller's, or is taken from what was said as it was said."""
    return analyst in ("", CALLER) or is_extractive(analyst)


class Cause(StrEnum):
    """Why a change was made."""

    EMBEDDING = "embedding"
    ANNOTATION = "annotation"
    CONSOLIDATION = "consolidation"
    PROMOTION = "promotion"
    EVICTION = "eviction"
    PROFILE = "profile"
    REINDEX = "reindex"
    REDONE = "redone"
    UNDO = "undo"
    ANEW = "anew"
    CORRECTION = "correction"
    FORGETTING = "forgetting"
    IMPORT = "import"
    RETENTION = "retention"
    EXPIRY = "expiry"
    REGROUPING = "regrouping"


class Item(StrEnum):
    """What decisions set and end."""

    NOTE = "note"
    MEMBERSHIP = "membership"
    CHAIN = "chain"
    SEGMENT_TEXT = "segment_text"
    FACT = "fact"
    TRAIT = "trait"
    PROFILE = "profile"
    PERSON = "person"


@dataclass(frozen=True, kw_only=True, slots=True)
class Embedded(Record):
    """Utterances of seq first…last have vectors of this embedder."""

    tag: ClassVar[str] = "Embedded"
    first_seq: int
    last_seq: int
    embedder: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Noted(Record):
    """A page was analysed up to `upto_seq`: its chain, its keywords, and proposals for the persona."""

    tag: ClassVar[str] = "Noted"
    page_id: PageId
    upto_seq: int
    chain_id: ChainId
    continues: bool
    keywords: tuple[str, ...]
    analyst: str
    facts: tuple[FactProposal, ...] = ()
    traits: tuple[TraitProposal, ...] = ()
    profile: tuple[ProfileProposal, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ChainSummarised(Record):
    """A chain has a new summary (the paper's meta)."""

    tag: ClassVar[str] = "ChainSummarised"
    chain_id: ChainId
    thread: ThreadId
    summary: str
    sources: tuple[Source, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Placed(Record):
    """A page joined a segment, or moved to it; `f_score` is how near it is, None if it started the segment."""

    tag: ClassVar[str] = "Placed"
    page_id: PageId
    segment_id: SegmentId
    f_score: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class SummaryPart(Record):
    """A piece of a segment's summary: a sentence of a page of this chain, or a model's summary of the chain. A model's
    summary of the whole segment belongs to no single chain."""

    chain_id: ChainId | None
    text: str
    sources: tuple[Source, ...] = ()
    phrases: tuple[str, ...] = ()
    """What the page of a sentence speaks of, for the segment's title."""


@dataclass(frozen=True, kw_only=True, slots=True)
class KeywordCount(Record):
    """A keyword of a segment and how many of its pages have it."""

    word: str
    pages: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SegmentWritten(Record):
    """A segment's whole text: of a new segment, and where hardly anything of the text before it stays, as when a model
    condensed it. `parts` are its summary, `keywords` all that are counted, `shown` those of them that tell it from the
    owner's other segments; title and `shown` are None in a store that was migrated to schema 0013."""

    tag: ClassVar[str] = "SegmentWritten"
    segment_id: SegmentId
    parts: tuple[SummaryPart, ...]
    keywords: tuple[KeywordCount, ...]
    said_from: datetime
    said_to: datetime
    title: str | None = None
    shown: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SegmentGrew(Record):
    """What is new in a segment's text, relative to the text before it (changes.grown): `parts` with their `places` in
    the new text, those that `left` by their places before; `keywords` whose counts changed, in their order among
    equals, and the words of those that were `dropped`. None: as before."""

    tag: ClassVar[str] = "SegmentGrew"
    segment_id: SegmentId
    parts: tuple[SummaryPart, ...] = ()
    places: tuple[int, ...] = ()
    left: tuple[int, ...] = ()
    keywords: tuple[KeywordCount, ...] = ()
    dropped: tuple[str, ...] = ()
    said_from: datetime | None = None
    said_to: datetime | None = None
    title: str | None = None
    shown: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Analysed(Record):
    """A page was analysed for the persona up to `upto_seq`."""

    tag: ClassVar[str] = "Analysed"
    page_id: PageId
    upto_seq: int


@dataclass(frozen=True, kw_only=True, slots=True)
class FactAdded(Record):
    """A fact was added to a knowledge base."""

    tag: ClassVar[str] = "FactAdded"
    fact_id: FactId
    about: About
    subject: str
    attribute: str
    value: str
    text: str
    sources: tuple[Source, ...]
    valid_from: datetime | None
    expires_at: datetime | None = None
    metadata: Metadata = field(default_factory=dict, hash=False)
    """Those that a caller gave with it."""

    @classmethod
    def of(cls, fact: Fact) -> FactAdded:
        """The decision that adds a fact as it is."""
        return cls(
            fact_id=fact.id,
            about=fact.about,
            subject=fact.subject,
            attribute=fact.attribute,
            value=fact.value,
            text=fact.text,
            sources=fact.sources,
            valid_from=fact.valid_from,
            expires_at=fact.expires_at,
            metadata=fact.own_metadata,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class FactStrengthened(Record):
    """A known fact was said again: more sources, and it counts as new for the cap."""

    tag: ClassVar[str] = "FactStrengthened"
    fact_id: FactId
    sources: tuple[Source, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class FactRetired(Record):
    """A fact has ended; it can still be queried by date."""

    tag: ClassVar[str] = "FactRetired"
    fact_id: FactId
    superseded_by: FactId | None
    valid_to: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class FactArchived(Record):
    """A fact was archived by the cap (first in, first out)."""

    tag: ClassVar[str] = "FactArchived"
    fact_id: FactId


@dataclass(frozen=True, kw_only=True, slots=True)
class FactRestored(Record):
    """A fact is current again: what retired, superseded or archived it was undone."""

    tag: ClassVar[str] = "FactRestored"
    fact_id: FactId


@dataclass(frozen=True, kw_only=True, slots=True)
class FactPinned(Record):
    """The caller exempts a fact from the cap, or (False) no longer does."""

    tag: ClassVar[str] = "FactPinned"
    fact_id: FactId
    pinned: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class FactExpires(Record):
    """Set by the caller: the fact ends at `at`; None removes this."""

    tag: ClassVar[str] = "FactExpires"
    fact_id: FactId
    at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ConflictSettled(Record):
    """Set by the caller: these two facts may both stay; they are in conflict no more."""

    tag: ClassVar[str] = "ConflictSettled"
    fact_id: FactId
    other_id: FactId


@dataclass(frozen=True, kw_only=True, slots=True)
class FactAffirmed(Record):
    """Set by the caller: what was said up to `upto_seq` does not end this fact."""

    tag: ClassVar[str] = "FactAffirmed"
    fact_id: FactId
    upto_seq: int


@dataclass(frozen=True, kw_only=True, slots=True)
class FactDenied(Record):
    """Set by the caller: what was said up to `upto_seq` does not teach this value again. `fact_id` had it."""

    tag: ClassVar[str] = "FactDenied"
    fact_id: FactId
    about: About
    subject: str
    attribute: str
    value: str
    upto_seq: int


@dataclass(frozen=True, kw_only=True, slots=True)
class FactBarred(Record):
    """As `FactDenied`, for a forgotten value: `mark` is a keyed hash of it, which does not reveal it."""

    tag: ClassVar[str] = "FactBarred"
    mark: str
    upto_seq: int


@dataclass(frozen=True, kw_only=True, slots=True)
class TextsBarred(Record):
    """Forgotten texts as keyed hashes. A message in `messages` (role, text and time) is not stored again; from texts
    in `texts`, whenever they are said, nothing is learnt."""

    tag: ClassVar[str] = "TextsBarred"
    messages: tuple[str, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Erased(Record):
    """What a change with the cause `forgetting` removed from both logs: ids and counts, without text. So many of the
    pages were `passages` of documents."""

    tag: ClassVar[str] = "Erased"
    pages: tuple[PageId, ...]
    facts: tuple[FactId, ...]
    utterances: int
    passages: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class TraitCleared(Record):
    """A trait is unknown again: the change that first set it was undone."""

    tag: ClassVar[str] = "TraitCleared"
    dimension: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Undone(Record):
    """What change `no` taught the persona is reverted by the decisions that follow."""

    tag: ClassVar[str] = "Undone"
    no: int


@dataclass(frozen=True, kw_only=True, slots=True)
class BegunAnew(Record):
    """All earlier derived memory is discarded; what callers set follows in the same change, the rest is analysed
    again."""

    tag: ClassVar[str] = "BegunAnew"


@dataclass(frozen=True, kw_only=True, slots=True)
class TraitSet(Record):
    """A trait's level and confidence now."""

    tag: ClassVar[str] = "TraitSet"
    dimension: str
    level: float
    confidence: float
    sources: tuple[Source, ...]
    valid_from: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ProfileSet(Record):
    """The value of a profile field, true from `valid_from` on (None: always); a value of None removes it."""

    tag: ClassVar[str] = "ProfileSet"
    whose: About
    name: str
    value: str | None
    sources: tuple[Source, ...]
    set_by: str
    valid_from: datetime | None = None

    @classmethod
    def of(cls, line: ProfileField) -> ProfileSet:
        """The decision that sets a line as it is."""
        return cls(
            whose=line.whose,
            name=line.name,
            value=line.value,
            sources=line.sources,
            set_by=line.set_by,
            valid_from=line.valid_from,
        )

    @classmethod
    def ended(cls, line: ProfileField, at: datetime | None) -> ProfileSet:
        """The decision that takes a line away, from a time on."""
        return cls(whose=line.whose, name=line.name, value=None, sources=(), set_by=line.set_by, valid_from=at)


@dataclass(frozen=True, kw_only=True, slots=True)
class PersonRelated(Record):
    """What is known of a name (`PersonRelation`); `holds` None takes it away."""

    tag: ClassVar[str] = "PersonRelated"
    relation: Relation
    one: str
    other: str
    holds: bool | None = True
    sources: tuple[Source, ...] = ()

    @classmethod
    def of(cls, known: PersonRelation) -> PersonRelated:
        """The decision that says it as it is."""
        return cls(relation=known.relation, one=known.one, other=known.other, holds=known.holds, sources=known.sources)


@dataclass(frozen=True, kw_only=True, slots=True)
class Evicted(Record):
    """A segment moved from mid-term memory to the archive."""

    tag: ClassVar[str] = "Evicted"
    segment_id: SegmentId


@dataclass(frozen=True, kw_only=True, slots=True)
class SegmentEnded(Record):
    """All pages of a segment are in others now, and it is no more; its visits are of the segment `into` (None: of
    none)."""

    tag: ClassVar[str] = "SegmentEnded"
    segment_id: SegmentId
    into: SegmentId | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class VisitCount(Record):
    """How often a segment or fact was visited, and when last."""

    item_id: ItemId
    visits: int
    at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Visited(Record):
    """What was visited since the change before: it comes with whatever change follows, never alone."""

    tag: ClassVar[str] = "Visited"
    items: tuple[VisitCount, ...]


Decision = (
    Embedded
    | Noted
    | ChainSummarised
    | Placed
    | SegmentWritten
    | SegmentGrew
    | Analysed
    | FactAdded
    | FactStrengthened
    | FactRetired
    | FactArchived
    | FactRestored
    | FactPinned
    | FactExpires
    | ConflictSettled
    | FactAffirmed
    | FactDenied
    | FactBarred
    | TextsBarred
    | Erased
    | TraitCleared
    | Undone
    | BegunAnew
    | TraitSet
    | ProfileSet
    | PersonRelated
    | Evicted
    | SegmentEnded
    | Visited
)

Ruling = FactAffirmed | FactDenied | FactBarred | TextsBarred | ConflictSettled
"""What a caller decided of what may be learnt. It holds until the change that it stands in is undone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Change(Record):
    """One entry of the log. `no` counts an owner's changes from 1, without gaps; it is the owner's revision."""

    no: int
    cause: Cause
    analyst: str
    recorded_at: datetime
    decisions: tuple[Decision, ...] = field(default=())


@dataclass(frozen=True, kw_only=True, slots=True)
class Refused(Record):
    """What an undo leaves unchanged: an id, the name of a trait or of a profile line; the reason; and the change
    that rests on it or prevents it."""

    item: str
    reason: str
    change_no: int


@dataclass(frozen=True, kw_only=True, slots=True)
class UndoPlan(Record):
    """What undoing a change would decide now, and what it would refuse. Without decisions, nothing can be undone."""

    decisions: tuple[Decision, ...]
    refused: tuple[Refused, ...]


def undone(log: Iterable[Change]) -> dict[int, int]:
    """By the number of each change that is undone, the number of the one that did so."""
    by: dict[int, int] = {}
    for change in log:
        for no in (d.no for d in change.decisions if isinstance(d, Undone)):
            by[no] = change.no
            for earlier in [one for one, later in by.items() if later == no]:
                del by[earlier]  # what was undone by a change that is undone now, stands again
    return by


def barred_by(log: Iterable[Change]) -> Iterator[tuple[int, TextsBarred]]:
    """The texts that stand as barred, each with the number of the change that did so."""
    log = tuple(log)
    lifted = undone(log)
    return (
        (change.no, d)
        for change in log
        if change.no not in lifted
        for d in change.decisions
        if isinstance(d, TextsBarred)
    )
