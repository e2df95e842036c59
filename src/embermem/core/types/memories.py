"""What was understood of it: chains, segments, facts, traits and profile lines."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from embermem.core.metadata import Metadata
from embermem.core.record import Record
from embermem.core.types.ids import (
    About,
    ChainId,
    FactId,
    PageId,
    SegmentId,
    ThreadId,
    UtteranceId,
    Vector,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Source(Record):
    """The source of a derived item: an utterance, and the characters [start, end) if extracted."""

    seq: int
    utterance_id: UtteranceId
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Chain(Record):
    """Consecutive pages of a thread on one topic (the paper's dialogue chain), with their summary (its meta)."""

    id: ChainId
    thread: ThreadId
    summary: str
    page_ids: tuple[PageId, ...]
    change_no: int
    recorded_at: datetime
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Segment(Record):
    """Pages of one topic, over all threads (paper §3.2, mid-term memory). `title` is a heading of a few words, ""
    where none was made yet; `keywords` are at most eight that tell it from the owner's other segments, and `counted`
    all those that are compared. `unanalysed` is L_interaction; `visits` is N_visit; `last_access` is the later of the
    newest page's arrival and the last visit (`visited_at`). Heat is computed from these, or from when its pages were
    said, when needed, and never stored."""

    id: SegmentId
    summary: str
    keywords: tuple[str, ...]
    page_ids: tuple[PageId, ...]
    visits: int
    unanalysed: int
    last_access: datetime
    archived: bool
    change_no: int
    recorded_at: datetime
    said_from: datetime
    said_to: datetime
    sources: tuple[Source, ...] = ()
    title: str = ""
    counted: tuple[str, ...] = field(default=(), compare=False, repr=False)
    visited_at: datetime | None = field(default=None, compare=False, repr=False)
    embedding: Vector | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Analysis(Record):
    """What `analyse` did: pages `placed` into segments, pages `analysed` for the persona, and segments `promoted`, to
    which these belong."""

    placed: int
    analysed: int
    promoted: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact(Record):
    """One entry of the user knowledge base or of the agent traits. `subject` is a name ("Ana"), somebody's relative
    ("Bob's sister"), or "user" or "agent" for a speaker without a name; `person` is the name of the person whom it
    means, where the fact was read through a handle; `text` can be read alone, because it names its subject;
    `attribute` is the property of the subject ("lives_in"); a fact whose
    attribute has one value at a time supersedes the older one. `valid_from`/`valid_to` are when it was true,
    `recorded_at`/`retired_at` when Ember knew it. `conflicts` are ids of current facts that contradict it;
    `expires_at` is when it ends by itself. `metadata` are those of what it rests on (`metadata.inherited`), and before
    them those that a caller gave with the fact, `own_metadata`."""

    id: FactId
    about: About
    subject: str
    attribute: str
    value: str
    text: str
    sources: tuple[Source, ...]
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_at: datetime
    retired_at: datetime | None = None
    superseded_by: FactId | None = None
    archived: bool = False
    pinned: bool = False
    change_no: int = 0
    expires_at: datetime | None = None
    conflicts: tuple[FactId, ...] = ()
    person: str = ""
    metadata: Metadata = field(default_factory=dict, hash=False)
    own_metadata: Metadata = field(default_factory=dict, compare=False, repr=False)

    @property
    def current(self) -> bool:
        """Neither superseded, retired nor archived by the cap."""
        return self.retired_at is None and not self.archived


class FactStatus(StrEnum):
    """Which facts a list shows: those that hold; those that have ended; those that the cap archived; of those that have
    not ended, those that are pinned, that are in conflict with another one, or that end at a set time."""

    CURRENT = "current"
    PAST = "past"
    ARCHIVED = "archived"
    PINNED = "pinned"
    CONFLICT = "conflict"
    EXPIRING = "expiring"


class Origin(StrEnum):
    """What a fact rests on: nothing but a caller's word, what was said, or a document."""

    CALLER = "caller"
    CONVERSATION = "conversation"
    DOCUMENT = "document"


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundFacts(Record):
    """A part of a list of facts, newest first. `total` counts the whole list; `next` is what to give as `before` for
    the next part, None after the last."""

    facts: tuple[Fact, ...]
    total: int
    next: FactId | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Trait(Record):
    """One of the 90 user traits: `level` from −1 (low pole) to +1 (high pole), `confidence` in [0, 1]."""

    dimension: str
    category: str
    level: float
    confidence: float
    pole: str
    sources: tuple[Source, ...]
    recorded_at: datetime
    change_no: int = 0
    valid_from: datetime | None = None
    retired_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ProfileField(Record):
    """One line of the user's or the agent's profile, such as name or birth_year."""

    whose: About
    name: str
    value: str
    sources: tuple[Source, ...]
    recorded_at: datetime
    valid_from: datetime | None = None
    change_no: int = 0
    set_by: str = "caller"
    retired_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Conflict(Record):
    """Two current facts that cannot both be true; `older` was known first."""

    older: Fact
    newer: Fact


class WaitsFor(StrEnum):
    """What pages wait for that the model has not done yet."""

    PLACE = "place"
    """To be placed into a segment: they are pending."""
    ANALYSIS = "analysis"
    """To be analysed at their segment's promotion."""
    READING = "reading"
    """To be read by the model: they were placed as extraction read them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Waiting(Record):
    """Pages that wait for the model: how many, for what, why, and when the first of them is tried next (where that has
    passed: when memory is processed next). The reason is in our words; "": not known."""

    waits_for: WaitsFor
    pages: int
    reason: str
    until: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Outdated(Record):
    """Pages that the extractive analyst read without today's trained reader, `reader` (empty: there is none, and rules
    alone read): its name then, and how many."""

    analyst: str
    pages: int
    reader: str


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnerStats(Record):
    """Counts of one owner's memory. `failed` pages have an error; `waiting` says what waits for the model, and why.
    `passages` of `documents` are counted apart from what was said. `outdated` says what was read without today's
    trained reader."""

    utterances: int
    pages: int
    short: int
    pending: int
    mid: int
    archive: int
    segments: int
    archived_segments: int
    chains: int
    facts: int
    agent_facts: int
    archived_facts: int
    traits: int
    changes: int
    without_vector: int
    failed: int
    waiting: tuple[Waiting, ...] = ()
    documents: int = 0
    passages: int = 0
    past_facts: int = 0
    outdated: tuple[Outdated, ...] = ()
