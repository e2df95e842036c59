"""The records that a store takes and returns: frozen data, created at its edge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, tzinfo
from enum import StrEnum
from typing import TYPE_CHECKING

from embermem.core.changes import Change, Decision, KeywordCount, SegmentWritten, SummaryPart
from embermem.core.metadata import Metadata
from embermem.core.record import Record
from embermem.core.types import (
    About,
    ChainId,
    Fact,
    FactId,
    Origin,
    Owner,
    OwnerId,
    Page,
    PageId,
    PageView,
    Persona,
    PersonaChange,
    Position,
    Role,
    Scope,
    Segment,
    SegmentId,
    ThreadId,
    Utterance,
    Waiting,
    Webhook,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from embermem.core.packed_ids import IdTable
    from embermem.core.types import Vector, Vectors
    from embermem.core.vector_codes import StoredVectors

    IntArray = NDArray[np.int64]

__all__ = [
    "ALL_FACTS",
    "ARCHIVED",
    "ENDED",
    "HELD",
    "NOW",
    "Apart",
    "ApiKey",
    "Backlog",
    "Bounds",
    "Census",
    "Delivery",
    "Delta",
    "DiskUsage",
    "Erasure",
    "FactSelection",
    "FactState",
    "Finding",
    "Grant",
    "Lease",
    "Moment",
    "NewDocument",
    "NewPassage",
    "NotedPage",
    "OwnerEntry",
    "OwnerOrder",
    "OwnerState",
    "PageMark",
    "PartBytes",
    "PersonaThen",
    "Receipt",
    "Remains",
    "SegmentImpact",
    "SegmentState",
    "SegmentText",
    "SegmentTimeline",
    "SegmentVectors",
    "Span",
    "Standing",
    "Stats",
    "TimelineSelection",
    "Trail",
    "Use",
    "VectorBatch",
    "Within",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class PageMark:
    """Where a page stands: its segment, if it has one by now."""

    page_id: PageId
    no: int
    segment_id: SegmentId | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Delta:
    """What an owner's reader has not seen: everything newer than the (seq, revision) it named.

    `vector_seqs` (n,) and `vectors` (n, dim) are those made by the embedder asked for, one for each passage of an
    utterance, in order: float32, or as the store has them; `tokens` (n) are their packed token vectors
    (index/late.py), empty where the embedder gives none. `persona` is whole, and None if nothing of it changed.
    `archived_facts` are those the cap moved out since, `ended_facts` and `ended_segments` those that ended since.
    `pages` are those that a change touched: a page not named yet is in no segment.
    `expiring` are all pages that expire, and when; None where nothing is newer.
    With `reset`, what the reader holds is to be thrown away first (a reindex, a rebuild, a forgetting). `born` tells
    an owner from one of the same name that was forgotten whole: a reader of another `born` begins from nothing. `mark`
    tells what stands at these numbers from what stands there in another copy of the database.
    """

    seq: int
    revision: int
    utterances: tuple[Utterance, ...]
    vector_seqs: IntArray
    vectors: Vectors | StoredVectors
    pages: tuple[PageMark, ...]
    segments: tuple[Segment, ...]
    persona: Persona | None
    tokens: tuple[bytes, ...] = ()
    archived_facts: tuple[Fact, ...] = ()
    ended_facts: tuple[Fact, ...] = ()
    ended_segments: tuple[SegmentId, ...] = ()
    expiring: tuple[tuple[PageId, datetime], ...] | None = None
    reset: bool = False
    born: int = 0
    mark: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Standing:
    """Where a reader of deltas stands: what it holds is what the store held at (seq, revision); see `Delta` for `born`
    and `mark`."""

    seq: int
    revision: int
    born: int
    mark: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Moment:
    """The point in time of a read. `seq` and `revision` select what was known after that utterance and that change
    (see ChangeLog.moment), `valid_at` what was true then. None means the current state, and true at any time.

    A read of the past returns what a copy taken then would return, without counters and content forgotten since.
    """

    seq: int | None = None
    revision: int | None = None
    valid_at: datetime | None = None

    @property
    def is_now(self) -> bool:
        """Whether it is the current state."""
        return self.seq is None and self.revision is None and self.valid_at is None


@dataclass(frozen=True, kw_only=True, slots=True)
class Within:
    """A scope as a store is told it: its times have a zone (`Scope.in_zone`), and short-term memory has `short` pages.
    Its people said what those of `speakers` said, each by name and role, and facts about them rest on the utterances
    `seqs`."""

    scope: Scope
    short: int
    speakers: frozenset[tuple[str, Role]] = frozenset()
    seqs: frozenset[int] = frozenset()


NOW = Moment()
"""The current state, the default of every read."""


class FactState(StrEnum):
    """Whether a fact is in the persona, was archived by the cap, or is no longer true."""

    HELD = "held"
    ARCHIVED = "archived"
    ENDED = "ended"


Span = tuple[datetime | None, datetime | None]
"""From a time on, and before another one; None: no bound."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FactSelection:
    """The filter of a read of facts: all conditions must hold; None means any value.

    `states` are those of the moment; at a `valid_at`, HELD and ARCHIVED mean that a fact was true then, superseded
    since or not. `resting_on`: facts with one of these seqs among their sources; `superseded_by`: those of which
    one of these took the place; `expired_by`: those that expired by then; `recorded` and `true`: those that were
    recorded, or true at some time, from a time on and before another; `expiring`: those that end at a set time;
    `instructing`: standing instructions; `rivals`: those with another value than others of their group, which it
    tells by subject and attribute (None: of no group).
    """

    states: frozenset[FactState] | None = None
    about: About | None = None
    attributes: frozenset[str] | None = None
    ids: frozenset[FactId] | None = None
    resting_on: frozenset[int] | None = None
    superseded_by: frozenset[FactId] | None = None
    expired_by: datetime | None = None
    subjects: frozenset[str] | None = None
    origin: Origin | None = None
    recorded: Span | None = None
    true: Span | None = None
    pinned: bool | None = None
    expiring: bool | None = None
    instructing: bool = False
    rivals: Callable[[str, str], Hashable | None] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class TimelineSelection:
    """The filter of a read of a timeline: all conditions must hold; None means any value.

    `edges` are the bounds of its buckets, ascending; without any there is one bucket of all that was said. `subjects`
    are those by which facts name a person, `speakers` those who said something, by name and role; in what was said, a
    title, a summary or a fact each of `words` stands. Pages `without` are not looked at, nor facts that expired by
    `now`. At most `limit` segments, facts and changes are given.
    """

    edges: Sequence[datetime]
    now: datetime
    limit: int
    subjects: frozenset[str] | None = None
    speakers: frozenset[tuple[str, Role]] | None = None
    attribute: str | None = None
    words: Sequence[str] = ()
    thread: ThreadId | None = None
    without: frozenset[PageId] = frozenset()


HELD = FactSelection(states=frozenset({FactState.HELD}))
ARCHIVED = FactSelection(states=frozenset({FactState.ARCHIVED}))
ENDED = FactSelection(states=frozenset({FactState.ENDED}))
ALL_FACTS = FactSelection()


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class SegmentTimeline:
    """Where pages were, and which changes wrote texts of segments, as the changes up to `revision` left them: what
    stood at any of these. Changes only add to it, until a reader is told to begin from nothing (`Delta.reset`).

    `segments` are all that there were, in the order of their beginning, and `pages` all that were in one; the arrays
    name both by their places there. A row of `placings` (n, 5) is a page, its segment, the changes that began and ended
    this, and when it was recorded, in microseconds since 1970. A row of `texts` (m, 3) is a segment, and the changes
    that wrote and ended a text. `left` (len(segments),) is by which change each left mid-term memory.
    """

    revision: int
    segments: tuple[SegmentId, ...]
    pages: IdTable
    placings: IntArray
    texts: IntArray
    left: IntArray


@dataclass(frozen=True, kw_only=True, slots=True)
class SegmentText:
    """What a recall looks at of a segment's text: the words that it is counted with, and its summary."""

    words: frozenset[str]
    summary: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PersonaThen:
    """A persona at a moment, with the facts that the cap moved out, and those that had ended."""

    persona: Persona
    archived_facts: tuple[Fact, ...]
    ended_facts: tuple[Fact, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class NewPassage(Record):
    """A part of a document that is to be stored: its text, where it stands, and its characters [start, end)."""

    text: str
    place: str
    start: int
    end: int


@dataclass(frozen=True, kw_only=True, slots=True)
class NewDocument(Record):
    """A document that is to be stored, whole, with its passages in order. `digest` tells one text of a source from
    another; `said_at` is when it was written, `original` what the caller handed in, as JSON, `expires_at` when its
    pages end."""

    source: str
    title: str
    digest: str
    said_at: datetime
    metadata: Metadata
    passages: Sequence[NewPassage]
    original: str | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnerState(Record):
    """An owner's row: how far its logs and the work on them have come."""

    owner: Owner
    timezone: str | None
    created_at: datetime
    seq: int
    pages: int
    revision: int
    embedded_seq: int
    due_at: datetime | None
    failures: int
    error: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Lease:
    """A worker's claim on an owner. `token` grows with each claim; a result with an older one is refused."""

    owner_id: OwnerId
    by: str
    token: int


@dataclass(frozen=True, kw_only=True, slots=True)
class NotedPage:
    """A page as consolidation sees it: read by an analyst up to `read_seq` (0: not at all), with what its note
    proposes; `analysed`: for the persona, up to its end."""

    view: PageView
    read_seq: int
    chain_id: ChainId | None
    keywords: tuple[str, ...]
    change: PersonaChange
    attempts: int
    retry_at: datetime | None
    analysed: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Backlog:
    """The pending work of an owner.

    `unembedded` utterances have no vector yet. `pending` pages need not wait for one that failed, the oldest of them
    since `pending_since` (when the page came that took its place in short-term memory); `retry_at` is when the first
    failed page, pending or placed, may be tried again. `quiet_at` is when the first open page that is not read has been
    quiet for long enough (see `PageWork.unread_pages`). `expires_at` is when the next page or held fact expires, or the
    first one did that is still there. `to_redo` are segments of mid-term memory with pages that the extractive analyst
    read last, and how many of these may be read again by now; `redo_at` is from when on the first of all may be.
    `stale_segments` have no vector of the kind named, archived ones too.
    """

    unembedded: int
    pending: int
    pending_since: datetime | None
    retry_at: datetime | None
    quiet_at: datetime | None
    expires_at: datetime | None
    to_redo: Mapping[SegmentId, int]
    redo_at: datetime | None
    stale_segments: tuple[SegmentId, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class SegmentVectors:
    """Vectors of segments, and what they are stored under: the embedder's name for sums of pages' vectors, or
    `of_summaries` of it."""

    of: str
    vectors: Mapping[SegmentId, Vector]


@dataclass(frozen=True, kw_only=True, slots=True)
class SegmentState:
    """A segment as placing, promotion and eviction see it. `vector_sum` is the sum of its pages' unit vectors, or where
    pages are placed one by one (`placed_by`) the vector of its summary."""

    id: SegmentId
    parts: tuple[SummaryPart, ...]
    keywords: tuple[KeywordCount, ...]
    said_from: datetime
    said_to: datetime
    pages: int
    title: str = ""
    shown: tuple[str, ...] = ()
    visits: int
    unanalysed: int
    last_access: datetime
    visited_at: datetime | None = None
    vector_sum: Vector | None = field(default=None, compare=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Stats(Record):
    """Counts of a whole store. `oldest_pending_s` is how long the oldest pending page has been so, 0 without any; `due`
    are the owners who wait for a worker; of the `webhooks`, some are retrying after failures or were stopped.
    `passages` of `documents` are counted apart from what was said. `unreachable` are parts of the database (nodes of
    Citus) that did not answer: what is theirs is in no count."""

    path: str
    bytes: int
    owners: int
    utterances: int
    pages: int
    pending: int
    oldest_pending_s: float
    without_vector: int
    due: int
    embedder: str
    dim: int
    schema: str
    webhooks: int = 0
    webhooks_retrying: int = 0
    webhooks_stopped: int = 0
    documents: int = 0
    passages: int = 0
    unreachable: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class PartBytes(Record):
    """What a table or an index takes on disk, in bytes; `unused` of them hold nothing. `index_of` is an index's
    table."""

    name: str
    index_of: str | None
    bytes: int
    unused: int


@dataclass(frozen=True, kw_only=True, slots=True)
class DiskUsage(Record):
    """What a store takes on disk, in bytes, without a write-ahead log; the largest part first. `free` are pages that
    hold nothing, `other` belongs to no part. Where the engine does not count its pages, `exact` is False, and a part's
    bytes are those of its values. `utterances` are rows: passages of documents among them."""

    bytes: int
    free: int
    other: int
    exact: bool
    utterances: int
    pages: int
    parts: tuple[PartBytes, ...]

    @property
    def unused(self) -> int:
        """Of all parts."""
        return sum(one.unused for one in self.parts)


class OwnerOrder(StrEnum):
    """What comes first in a list of owners: whose memory was added to last, the name, the most pages, or the most work
    that failed."""

    RECENT = "recent"
    NAME = "name"
    SIZE = "size"
    TROUBLE = "trouble"


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnerEntry(Record):
    """One owner in a list: `last_at` is when something was recorded last, `facts` are those held of the user's side,
    `waiting` pages that left short-term memory and have no segment yet, `failed` pages have an error. `error` is that
    of the owner's work as a whole. `position` is where it stands in the order asked for."""

    owner: Owner
    created_at: datetime
    last_at: datetime
    pages: int
    facts: int
    waiting: int
    failed: int
    due_at: datetime | None
    error: str | None
    position: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Census(Record):
    """Counts over many owners. `new` began in the time that is looked at, in which `said` says how many utterances and
    passages were recorded, in spans of a quarter of an hour by when these began. The work of `failing` owners failed;
    `due` wait for a worker, the first of them since `due_since`. `calls` of the model are today's (UTC).
    `unreachable` as in Stats."""

    owners: int
    new: int
    failing: int
    due: int
    due_since: datetime | None
    said: tuple[tuple[datetime, int], ...]
    waiting: tuple[Waiting, ...]
    calls: int
    failed_calls: int
    unreachable: tuple[str, ...] = ()

    def by_day(self, zone: tzinfo) -> Mapping[date, int]:
        """What was recorded by day in a zone; days without anything are not in it."""
        days: Counter[date] = Counter()
        for at, said in self.said:
            days[at.astimezone(zone).date()] += said
        return days


@dataclass(frozen=True, kw_only=True, slots=True)
class Receipt(Record):
    """What a call with an idempotency key did: its content's digest, the number of its change (0: it changed nothing),
    and what of its result does not follow from that, in JSON: ids, never text."""

    key: str
    digest: str
    change_no: int = 0
    result: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Delivery(Record):
    """An attempt to tell a webhook's receiver what came after `since`, up to `upto`; `token` is that of its lease."""

    owner: Owner
    webhook: Webhook
    since: Position
    upto: Position
    token: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Grant(Record):
    """Owners that a key holds: one user or agent by its name, or any (None). A space's has the user of every space, the
    space's name as agent, and a `right`: read, write or grant."""

    user: str | None
    agent: str | None
    right: str | None = None

    @property
    def space(self) -> str | None:
        """The space's name; None for memories of users."""
        return None if self.right is None else self.agent


@dataclass(frozen=True, kw_only=True, slots=True)
class ApiKey(Record):
    """A key of the service, as it is kept: `digest` is a hash of what its holder sends; the key itself is not kept."""

    id: str
    name: str
    digest: str
    grants: tuple[Grant, ...]
    read_only: bool
    created_at: datetime
    revoked_at: datetime | None

    @property
    def of_users(self) -> tuple[Grant, ...]:
        """The grants that are not of spaces."""
        return tuple(grant for grant in self.grants if grant.space is None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding(Record):
    """One thing that `doctor` looked at. `level` is ok, warning or error; mended, for what a repair put right."""

    level: str
    what: str
    advice: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bounds:
    """What the settings bound an owner's memory by: pages of short-term memory, segments, and facts on each side, of
    each person there or (`by_person` False) of all."""

    short: int
    segments: int
    user_facts: int
    agent_facts: int
    by_person: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class SegmentImpact:
    """A segment that tells of pages that are to go: how many of them were ever in it (`lost`), how many other pages
    were (`left`), which change placed the first of those (0: one before the pages that go), how many are in it now
    (`holds`), when these were said (None: from and to as before), the keywords that none of them has, and whether it
    ended."""

    lost: int
    left: int
    holds: int
    first_no: int
    said_from: datetime | None
    said_to: datetime | None
    words: frozenset[str]
    ended: bool = False


Apart = tuple[tuple[str, bytes] | None, ...]
"""The decisions of a change that were not read, as they are written, with their tags; None in the place of each that
was."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Trail:
    """What an owner's logs say of pages and facts that are to be forgotten, at one revision.

    `changes` are those that may tell of them, in order; decisions of theirs that cannot are left `apart`. `begun` is
    the change that began memory anew last (0: none): what came before stands in the log only. `chains` are those of the
    pages, each with the pages that it keeps, in order; `segments` those that hold them or their chains' summaries;
    `facts` all that rest on them; `repeated` the texts, in lower case, that pages which stay say too. `verbatim`:
    whoever wrote of the pages wrote what was said as it was said. `written_from`: by segment, the change from which on
    all that write its text are among `changes`; `texts` the text of each before that, if it had one. Up to `begun` all
    changes are there, whole.
    """

    begun: int
    changes: tuple[Change, ...]
    chains: Mapping[ChainId, tuple[Page, ...]]
    segments: Mapping[SegmentId, SegmentImpact]
    facts: frozenset[FactId]
    repeated: frozenset[str]
    verbatim: bool
    written_from: Mapping[SegmentId, int] = field(default_factory=dict)
    texts: Mapping[SegmentId, SegmentWritten] = field(default_factory=dict)
    apart: Mapping[int, Apart] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Remains:
    """Where something that is to be gone is found: those of its ids that stand in any table, or in the log but for what
    says that they were forgotten; those of its utterances in the bytes of the store's files, in use or not, where they
    were scrubbed and can be read; and the backups that still hold one of them."""

    rows: tuple[str, ...]
    bytes: frozenset[str]
    scrubbed: bool
    backups: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Use:
    """How a fact or segment that is held was used: how often it was recalled, and when it was last recalled, said again
    or ruled on (by when it was recorded)."""

    item: Fact | Segment
    visits: int
    last: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Erasure:
    """What forgetting does to both logs, decided at a `revision` of an owner who began when she was `born` (None: that
    is not asked): `pages` that go, each with the seq of its last utterance; the changes of a Trail as they were and as
    they are to be, its `begun`, and what it left `apart`, where `places` says from which decision before each of those
    after came; the decisions of the change that says so; and the segments whose vector is to be made again from the
    pages left."""

    revision: int
    born: datetime | None = None
    pages: Mapping[PageId, int]
    before: tuple[Change, ...]
    after: tuple[Change, ...]
    begun: int
    decisions: tuple[Decision, ...]
    segments: tuple[SegmentId, ...]
    places: Mapping[int, Sequence[int]] = field(default_factory=dict)
    apart: Mapping[int, Apart] = field(default_factory=dict)

    @property
    def pairs(self) -> list[tuple[Change, Change]]:
        """The changes that lose something, each as it was and as it is to be."""
        both = zip(self.before, self.after, strict=True)
        return [(was, now) for was, now in both if was.decisions != now.decisions]


@dataclass(frozen=True, kw_only=True, slots=True)
class VectorBatch:
    """Vectors of utterances: seqs (n,), vectors (n, dim), whose they are, and packed token vectors (n) if any. The seq
    of a long text stands once for each of its passages, in order (index/passages.py)."""

    embedder: str
    seqs: Sequence[int]
    vectors: Vectors
    tokens: Sequence[bytes] = ()
