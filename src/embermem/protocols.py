"""The seams: what a store, an embedder, an analyst, a token counter and a memory system must be able to do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar, runtime_checkable

from embermem.core.changes import Cause, Change, Decision, KeywordCount, SummaryPart
from embermem.core.types import (
    About,
    Added,
    Annotation,
    Chain,
    ChainId,
    ChainTail,
    Conflict,
    Context,
    Fact,
    FactId,
    Forgotten,
    Hit,
    Link,
    LinkId,
    Message,
    Owner,
    OwnerId,
    Page,
    PageId,
    PageView,
    Persona,
    PersonaChange,
    ProfileField,
    Role,
    Segment,
    SegmentId,
    ThreadId,
    Tier,
    Trait,
    Utterance,
    UtteranceId,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from embermem.core.types import Vector, Vectors

    IntArray = NDArray[np.int64]


class Embedder(Protocol):
    """Turns texts into vectors. `name` and `dim` are stored beside every vector."""

    @property
    def name(self) -> str:
        """The model and its version: vectors of different names are never compared."""

    @property
    def dim(self) -> int:
        """The length of one vector."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (len(texts), dim), float32, L2 norm 1 (0 for a text with nothing to embed).

        Safe to call from several threads. Raises EmbedderError; never returns a guess.
        """


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class TokenVectors:
    """One text's tokens: `words` (t,), the word that each stands in, as it was cut out of the text (lower case), and
    `vectors` float32 (t, token_dim), L2 norm 1. Several tokens may stand in one word; t = 0 for nothing to embed.

    `reads` is what the embedder has learned: "en" is English and no Chinese, Japanese or Korean. Recall trusts the
    vectors of a query no further than that.
    """

    words: tuple[str, ...]
    vectors: Vectors
    reads: Literal["any", "en"] = "any"


@runtime_checkable
class TokenEmbedder(Embedder, Protocol):
    """An embedder that also gives a vector for each token, for late interaction (ColBERT, arXiv 2004.12832)."""

    @property
    def token_dim(self) -> int:
        """The length of one token's vector; even."""

    def embed_tokens(self, texts: Sequence[str]) -> tuple[Vectors, list[TokenVectors]]:
        """What `embed` gives, and each text's tokens, in one run. A long text's tokens reach further than its vector.

        Safe to call from several threads. Raises EmbedderError.
        """


class TokenCounter(Protocol):
    """Counts what a text costs in a prompt."""

    @property
    def name(self) -> str:
        """Named in every Context, so that a budget can be read."""

    def count(self, text: str) -> int:
        """Tokens of the text."""


# --------------------------------------------------------------------------------------------------- language models


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatMessage:
    """One message of a request to a language model."""

    role: Role
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplySchema:
    """The form that a structured answer must have: a name, and a JSON schema."""

    name: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelRequest:
    """What a language model is asked. With a `schema` the answer is to be one JSON object of that form."""

    messages: tuple[ChatMessage, ...]
    max_tokens: int
    temperature: float | None = None
    schema: ReplySchema | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelReply:
    """What it answered. Tokens are the server's count, our estimate where it gives none; `cached_tokens` are those of
    the prompt that it read from its cache. `cut`: the answer ended at `max_tokens`."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int = 0
    cut: bool = False


class LanguageModel(Protocol):
    """A chat model behind an endpoint. One call of a method is one request: whoever calls it retries and repairs."""

    @property
    def name(self) -> str:
        """The model's name, as it stands in the ledger and in changes that rest on it."""

    def complete(self, request: ModelRequest) -> ModelReply:
        """One answer, reasoning text (`<think>…</think>`) taken out. Safe to call from several threads.

        Raises ModelTimeout, ModelUnreachable, ModelBusy, ModelRefused; ModelReplyError for an empty answer.
        """

    def stream(self, request: ModelRequest) -> Iterator[str | ModelReply]:
        """The answer's text piece by piece as it comes; last of all the whole as a ModelReply. Raises as `complete`."""


class Purpose(StrEnum):
    """What a model was asked for."""

    ANNOTATE = "annotate"
    PROFILE = "profile"
    CHAT = "chat"
    REMEMBER = "remember"
    """One of the papers' other systems understands what was said."""
    RECALL = "recall"
    """One of them looks for what a query asks: MemGPT's functions, ReadAgent's look-up."""
    JUDGE = "judge"
    """A bench has an answer judged."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Ceilings of a day (UTC) in calls and in tokens (prompt and answer), for all owners and for each; None: none."""

    calls: int | None = None
    tokens: int | None = None
    owner_calls: int | None = None
    owner_tokens: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One line of the ledger: a request that was sent to a model. `outcome` is "ok", "started" (not yet ended, or
    whoever made it died), or a ModelError's. Tokens are the server's count, or our estimate where it gave none."""

    id: str
    owner_id: OwnerId
    at: datetime
    purpose: Purpose
    model: str
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    ms: int
    outcome: str


_Answer = TypeVar("_Answer")
_Item = TypeVar("_Item")


class Asker(Protocol):
    """Puts questions to a language model on behalf of an owner: within the budget, each request in the ledger, failures
    on the way tried again, a wrong answer repaired once, a server that is down left alone for a while."""

    @property
    def model(self) -> str:
        """The model's name."""

    def ask(
        self,
        owner: Owner,
        purpose: Purpose,
        messages: Sequence[ChatMessage],
        answer: type[_Answer],
        check: Callable[[_Answer], None] = lambda _: None,
    ) -> _Answer:
        """An answer of the type `answer` (a frozen dataclass or msgspec.Struct, whose JSON schema the model is shown).

        `check` raises ValueError, in words meant for the model, where the answer is of the form but wrong; the repair
        round shows it that. Raises ModelError, ModelWait.
        """

    def stream(self, owner: Owner, purpose: Purpose, messages: Sequence[ChatMessage]) -> Iterator[str]:
        """A free answer, piece by piece. Tried again only while nothing has come. Raises ModelError, ModelWait."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ProfileRequest:
    """What an analyst is shown at a promotion: a segment, its pages not yet analysed, and what is known. `neighbours`
    are the segments nearest to the pages, nearest first."""

    owner: Owner
    segment: Segment
    pages: tuple[PageView, ...]
    persona: Persona
    nearest: tuple[Fact, ...]
    neighbours: tuple[Segment, ...] = ()


class Analyst(Protocol):
    """Whatever reads pages and says what they mean. It proposes; the system applies."""

    @property
    def name(self) -> str:
        """Stored with every change that rests on it."""

    def annotate(
        self, owner: Owner, tails: Mapping[ThreadId, ChainTail], batch: Sequence[PageView]
    ) -> tuple[Annotation, ...]:
        """One annotation a page, in the batch's order.

        `tails` holds, for each thread of the batch that has one, the page before the batch; within the batch
        a page continues the one before it in the same thread. Raises AnalystError.
        """

    def profile(self, request: ProfileRequest) -> PersonaChange:
        """What the new pages of a segment say of the user and the agent. Raises AnalystError."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PageMark:
    """Where a page stands: its segment, if it has one by now."""

    page_id: PageId
    no: int
    segment_id: SegmentId | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Delta:
    """What an owner's reader has not seen: everything newer than the (seq, revision) it named.

    `vector_seqs` (n,) and `vectors` (n, dim) float32 are those made by the embedder asked for; `tokens` (n) are their
    packed token vectors (index/late.py), empty where the embedder gives none. `persona` is whole,
    and None if nothing of it changed. `archived_facts` are those the cap moved out since, `ended_facts`
    those that ended since. `pages` are those that a change touched: a page not named yet is in no segment.
    `expiring` are all pages that expire, and when; None where nothing is newer.
    With `reset`, what the reader holds is to be thrown away first (a reindex, a rebuild, a forgetting). `born` tells
    an owner from one of the same name that was forgotten whole: a reader of another `born` begins from nothing. `mark`
    tells what stands at these numbers from what stands there in another copy of the database.
    """

    seq: int
    revision: int
    utterances: tuple[Utterance, ...]
    vector_seqs: IntArray
    vectors: Vectors
    pages: tuple[PageMark, ...]
    segments: tuple[Segment, ...]
    persona: Persona | None
    tokens: tuple[bytes, ...] = ()
    archived_facts: tuple[Fact, ...] = ()
    ended_facts: tuple[Fact, ...] = ()
    expiring: tuple[tuple[PageId, datetime], ...] | None = None
    reset: bool = False
    born: int = 0
    mark: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Moment:
    """What every read goes by. `seq` and `revision`: what was known when the logs stood there, the last utterance and
    the last change (see ChangeLog.moment). `valid_at`: what was true then. None: as it stands now, and true at any
    time.

    A read of the past gives what a copy taken then would give, without counters, and without what was forgotten since.
    """

    seq: int | None = None
    revision: int | None = None
    valid_at: datetime | None = None

    @property
    def is_now(self) -> bool:
        """Whether it asks for what stands now."""
        return self.seq is None and self.revision is None and self.valid_at is None


NOW = Moment()
"""As it stands now: what a read goes by that names no other moment."""


class FactState(StrEnum):
    """Whether a fact is held: in the persona, in the archive that the cap moved it to, or no longer."""

    HELD = "held"
    ARCHIVED = "archived"
    ENDED = "ended"


@dataclass(frozen=True, kw_only=True, slots=True)
class FactSelection:
    """Which facts a read gives: those for which all of this holds. None: whatever it is.

    `states` are those of the moment; at a `valid_at`, HELD and ARCHIVED mean that a fact was true then, superseded
    since or not. `resting_on`: facts with one of these seqs among their sources; `superseded_by`: those of which
    one of these took the place; `expired_by`: those that expired by then.
    """

    states: frozenset[FactState] | None = None
    about: About | None = None
    ids: frozenset[FactId] | None = None
    resting_on: frozenset[int] | None = None
    superseded_by: frozenset[FactId] | None = None
    expired_by: datetime | None = None


HELD = FactSelection(states=frozenset({FactState.HELD}))
ARCHIVED = FactSelection(states=frozenset({FactState.ARCHIVED}))
ENDED = FactSelection(states=frozenset({FactState.ENDED}))
ALL_FACTS = FactSelection()


@dataclass(frozen=True, kw_only=True, slots=True)
class Version(Generic[_Item]):
    """An item as change `no` left it, until change `until` (None: it stands). `gone`: from then on there is none, and
    the item only says whose end it is. `order` is its place among its like, where they have one."""

    item: _Item
    no: int
    until: int | None
    gone: bool = False
    order: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Placing:
    """A page in a segment; `at` is when it was recorded that it is."""

    page_id: PageId
    segment_id: SegmentId
    at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class SegmentTimeline:
    """Every version of what a recall looks at of segments, as the changes up to `revision` left them: what stood at any
    of these. Changes only add to it, until a reader is told to begin from nothing (`Delta.reset`)."""

    revision: int
    placings: tuple[Version[Placing], ...]
    keywords: tuple[Version[tuple[SegmentId, tuple[str, ...]]], ...]
    evicted: Mapping[SegmentId, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class PersonaTimeline:
    """The same of the persona. Facts come whole in each version: their `order` is the change that confirmed them last,
    and those that ended, or were archived, say so; which of them conflict is said apart."""

    revision: int
    facts: tuple[Version[Fact], ...]
    conflicts: tuple[Version[tuple[FactId, FactId]], ...]
    profile: tuple[Version[ProfileField], ...]
    traits: tuple[Version[Trait], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Scope:
    """Narrows a recall: only utterances before `before_seq`, none of the threads named."""

    before_seq: int | None = None
    not_threads: frozenset[ThreadId] = frozenset()


# ------------------------------------------------------------------------------------------------------------ the store


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnerState:
    """An owner's row: how far its logs and the work on them have come."""

    owner: Owner
    timezone: str | None
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
    """A page as consolidation sees it: read by an analyst, with what its note proposes."""

    view: PageView
    chain_id: ChainId | None
    keywords: tuple[str, ...]
    change: PersonaChange
    attempts: int
    retry_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Unread:
    """Pages with utterances no analyst has read yet, all embedded; open ones (not answered, not followed in their
    thread, in short-term memory of `short` pages) only if asked for."""

    short: int
    open_too: bool
    limit: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Pending:
    """Pages that left short-term memory of `short` pages, are read, have no segment and need not wait `now`: those
    before the first that is not read yet, or must wait."""

    short: int
    now: datetime
    limit: int


@dataclass(frozen=True, kw_only=True, slots=True)
class InSegment:
    """The pages of a segment; with `unanalysed` those with something not yet analysed."""

    segment_id: SegmentId
    unanalysed: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadBy:
    """The pages of a segment that an analyst read last and that may be read again `now`; their `attempts` are those at
    reading them again."""

    segment_id: SegmentId
    analyst: str
    now: datetime
    limit: int


PagesToRead = Unread | Pending | InSegment | ReadBy
"""Which pages a step of consolidation works on."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Backlog:
    """What waits of an owner's work.

    `unembedded` utterances have no vector yet. `pending` pages need not wait for one that failed, the oldest of them
    since `pending_since` (when the page came that took its place in short-term memory); `retry_at` is when the first
    failed page, pending or placed, may be tried again. `expires_at` is when the next page or held fact expires, or the
    first one did that is still there. `to_redo` are segments of mid-term memory with pages that the analyst named read
    last, and how many of these may be read again by now; `redo_at` is from when on the first of all may be.
    `stale_segments` have no vector of the embedder named, archived ones too.
    """

    unembedded: int
    pending: int
    pending_since: datetime | None
    retry_at: datetime | None
    expires_at: datetime | None
    to_redo: Mapping[SegmentId, int]
    redo_at: datetime | None
    stale_segments: tuple[SegmentId, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class SegmentState:
    """A segment as placing, promotion and eviction see it. `vector_sum` is the sum of its pages' unit vectors."""

    id: SegmentId
    parts: tuple[SummaryPart, ...]
    keywords: tuple[KeywordCount, ...]
    said_from: datetime
    said_to: datetime
    visits: int
    unanalysed: int
    last_access: datetime
    vector_sum: Vector | None = field(default=None, compare=False)
    evolved: tuple[str, ...] = ()
    """Keywords that newer memories gave it; places are found by the counted ones alone."""
    tags: tuple[str, ...] = ()
    context: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnerStats:
    """Counts of one owner's memory."""

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Stats:
    """Counts of a whole store. `oldest_pending_s` is how long the oldest pending page has been so, 0 without any; `due`
    are the owners who wait for a worker."""

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Grant:
    """Owners that a key holds: one user or agent by its name, or any (None)."""

    user: str | None
    agent: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ApiKey:
    """A key of the service, as it is kept: `digest` is a hash of what its holder sends; the key itself is not kept."""

    id: str
    name: str
    digest: str
    grants: tuple[Grant, ...]
    read_only: bool
    created_at: datetime
    revoked_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One thing that `doctor` looked at. `level` is ok, warning or error; mended, for what a repair put right."""

    level: str
    what: str
    advice: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bounds:
    """What the settings bound an owner's memory by: pages of short-term memory, segments, and facts of each kind."""

    short: int
    segments: int
    user_facts: int
    agent_facts: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SegmentImpact:
    """A segment that tells of pages that are to go: how many of them were placed in it (`lost`), how many pages it
    keeps (`left`), which change placed the first of those (0: one before the pages that go), when they were said
    (None: from and to as before), and the keywords that none of them has."""

    lost: int
    left: int
    first_no: int
    said_from: datetime | None
    said_to: datetime | None
    words: frozenset[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Trail:
    """What an owner's logs say of pages and facts that are to be forgotten, at one revision.

    `changes` are those that may tell of them, whole and in order. `begun` is the change that began memory anew last
    (0: none): what came before stands in the log only. `chains` are those of the pages, each with the pages that it
    keeps, in order; `segments` those that hold them or their chains' summaries; `facts` all that rest on them;
    `repeated` the texts, in lower case, that pages which stay say too. `verbatim`: whoever wrote of the pages wrote
    what was said as it was said.
    """

    begun: int
    changes: tuple[Change, ...]
    chains: Mapping[ChainId, tuple[Page, ...]]
    segments: Mapping[SegmentId, SegmentImpact]
    facts: frozenset[FactId]
    repeated: frozenset[str]
    verbatim: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Wiped:
    """What came of wiping a store's files: whether they hold no byte of what was deleted, and the paths of backups and
    copies, as far as the store knows them, that still hold one of some utterances or facts."""

    scrubbed: bool
    backups: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Remains:
    """Where something that is to be gone is found: those of its ids that stand in any table, or in the log but for what
    says that they were forgotten; those of its utterances in the bytes of the store's files, in use or not, where they
    were scrubbed and can be read; and what `Wiped` says."""

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
    """What forgetting does to both logs, decided before: `pages` that go, each with the seq of its last utterance; the
    changes of a Trail as they were and as they are to be, and its `begun`; the decisions of the change that says so;
    and the segments whose vector is to be made again from the pages left."""

    pages: Mapping[PageId, int]
    before: tuple[Change, ...]
    after: tuple[Change, ...]
    begun: int
    decisions: tuple[Decision, ...]
    segments: tuple[SegmentId, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class VectorBatch:
    """Vectors of utterances: seqs (n,), vectors (n, dim), whose they are, and packed token vectors (n) if any."""

    embedder: str
    seqs: Sequence[int]
    vectors: Vectors
    tokens: Sequence[bytes] = ()


class StoredSettings(Protocol):
    """What a store remembers of itself, such as its embedder. It belongs to no owner."""

    def setting(self, key: str) -> str | None:
        """What the store remembers under a key, such as its embedder."""

    def remember_once(self, key: str, value: str) -> str:
        """What stands under a key; this value, if nothing did. Whoever asks, at whatever moment, is told the same."""


class ConversationLog(Protocol):
    """The first log: what was said."""

    def append(
        self,
        owner: Owner,
        messages: Sequence[Message],
        *,
        now: datetime,
        key: str | None,
        digest: str,
        fresh: bool,
        expires_at: datetime | None = None,
    ) -> Added:
        """Store messages, durably, in one transaction; a key used before gives what it gave then.

        `fresh`: the first user-side message begins a page of its own. `expires_at` is that of the pages they make; one
        that they join keeps the earlier of both. Raises KeyReused.
        """

    def owner_state(self, owner_id: OwnerId) -> OwnerState | None: ...

    def set_timezone(self, owner: Owner, timezone: str, now: datetime) -> None: ...

    def utterances(
        self,
        owner_id: OwnerId,
        after_seq: int = 0,
        limit: int | None = None,
        *,
        ids: Collection[UtteranceId] | None = None,
    ) -> tuple[Utterance, ...]:
        """What was said, in order: the next `limit` after a seq; of some ids."""


class ChangeLog(Protocol):
    """The second log: what was decided, and all that it derives."""

    def apply(
        self,
        owner: Owner,
        cause: Cause,
        analyst: str,
        decisions: Sequence[Decision],
        *,
        now: datetime,
        revision: int,
        lease: Lease | None,
        vectors: VectorBatch | None = None,
        segment_vectors: Mapping[SegmentId, Vector] | None = None,
    ) -> Change:
        """Write the next change and all that it derives, if the owner still stands at `revision`.

        Raises StaleLease if the lease no longer holds, RevisionMoved if another change came first.
        """

    def changes(
        self,
        owner_id: OwnerId,
        *,
        since: int | datetime = 0,
        before: int | None = None,
        limit: int | None = None,
        causes: Collection[Cause] | None = None,
        naming: str | None = None,
        kinds: Collection[type[Decision]] | None = None,
    ) -> tuple[Change, ...]:
        """Changes in order: the next `limit` after `since`, a number or the time by which others were recorded, or with
        `before` the last `limit` below it; those of some causes; those in whose decisions the id `naming` stands. With
        `kinds` each has its decisions of these kinds alone: the others are not even decoded."""

    def moment(self, owner_id: OwnerId, as_of: datetime) -> Moment:
        """Where the logs stood at a time: the seq and revision of the last utterance and the last change recorded at or
        before it; 0 and 0 before the first. Where clocks disagreed, the time counts, not the number.

        Raises InputError where what was derived by then was put away since (`rebuild --anew`).
        """


class MemoryReads(Protocol):
    """What is derived, now and at any moment."""

    def pages(
        self,
        owner_id: OwnerId,
        short: int,
        *,
        moment: Moment = NOW,
        tier: Tier | None = None,
        ids: Collection[PageId] | None = None,
        thread: ThreadId | None = None,
        segment: SegmentId | None = None,
        said_before: datetime | None = None,
        after: int | None = None,
        before: int | None = None,
        limit: int | None = None,
    ) -> tuple[Page, ...]:
        """Pages in order: those of a tier (short-term memory has `short` pages), of some ids, of a thread, of a
        segment, wholly said before a time; the newest `limit` of those with a number above `after` and below `before`.
        At a moment, each has what of it was said by then."""

    def segments(
        self,
        owner_id: OwnerId,
        *,
        moment: Moment = NOW,
        archived: bool | None = None,
        only: SegmentId | None = None,
    ) -> tuple[Segment, ...]:
        """Segments with their pages and sources, oldest first. At a moment, without vectors and counters; with
        `valid_at` those of which something was said by then, with those pages, and with the newest summary that tells
        of nothing later, an empty one where there is none."""

    def chains(
        self, owner_id: OwnerId, *, moment: Moment = NOW, ids: Collection[ChainId] | None = None
    ) -> tuple[Chain, ...]:
        """Chains with their pages; those of some ids, among them such as lost their pages to others. With `valid_at` as
        `segments`."""

    def persona(self, owner_id: OwnerId, moment: Moment = NOW) -> Persona:
        """Profiles, traits and the facts that are held. With `valid_at`: the traits and lines as the newest change that
        reaches back to then says, and the facts that were true."""

    def facts(self, owner_id: OwnerId, selection: FactSelection = HELD, moment: Moment = NOW) -> tuple[Fact, ...]:
        """Facts, those confirmed last at the end."""

    def links(
        self,
        owner_id: OwnerId,
        *,
        moment: Moment = NOW,
        of: Collection[str] | None = None,
        ids: Collection[LinkId] | None = None,
        standing: bool = True,
    ) -> tuple[Link, ...]:
        """The links both of whose ends stand, in the order in which they were made; those of some facts and segments,
        of some ids. Not only `standing`: those too that were taken back, or lost an end; of one that was made again all
        versions. Of a moment its revision counts."""

    def conflicts(self, owner_id: OwnerId, moment: Moment = NOW) -> tuple[Conflict, ...]:
        """The open conflicts: both facts are held, and nobody has settled it. Of a moment its revision counts."""

    def expired(self, owner_id: OwnerId, now: datetime) -> tuple[frozenset[PageId], frozenset[int]]:
        """Pages that have expired and are still there, and the seqs of their utterances. One indexed read where there
        are none."""


class WorkingSetSource(Protocol):
    """What an index holds of an owner, and what is new of it."""

    def delta(self, owner_id: OwnerId, seq: int, revision: int, embedder: str, dim: int, mark: str = "") -> Delta: ...

    def segment_timeline(self, owner_id: OwnerId) -> SegmentTimeline:
        """All versions of what a recall looks at of segments: any moment is a choice among them."""

    def persona_timeline(self, owner_id: OwnerId) -> PersonaTimeline:
        """The same of facts, traits and profiles."""


class WorkQueue(Protocol):
    """Whose turn it is, and who works on it."""

    def due(self, now: datetime, limit: int, *, lease_s: float = ...) -> tuple[Owner, ...]:
        """Owners with work to do whom no one holds, the longest waiting first. `lease_s` is how long leases are: one
        that ends much later does not hold, as for `claim`."""

    def claim(self, owner_id: OwnerId, by: str, now: datetime, seconds: float) -> Lease | None:
        """The owner's lease, or None while another holds it.

        A lease that ends more than twice `seconds` ahead was given by a clock that runs ahead, and does not hold.
        """

    def renew(self, lease: Lease, now: datetime, seconds: float) -> None:
        """A sign of life. Raises StaleLease."""

    def release(self, lease: Lease, *, due_at: datetime | None, error: str | None) -> None:
        """Give the lease back, and say when the owner is due again.

        Where something came in since the claim, the owner is due since then, unless the work failed (`error`): then it
        waits until `due_at`, whatever comes in. A stale lease is ignored.
        """


class PageWork(Protocol):
    """What consolidation reads, and what it puts off."""

    def pages_to_read(self, owner_id: OwnerId, selection: PagesToRead) -> tuple[NotedPage, ...]:
        """The pages that a step works on, oldest first, with their vectors."""

    def backlog(
        self,
        owner_id: OwnerId,
        short: int,
        *,
        now: datetime,
        embedder: str,
        analyst: str | None = None,
        retry_after: datetime | None = None,
    ) -> Backlog:
        """What waits of an owner's work. Without an `analyst` named, nothing is to be read again; of pages that failed
        only those count that wait until later than `retry_after`, if it is given."""

    def postpone(
        self,
        lease: Lease,
        page_ids: Sequence[PageId],
        error: str,
        until: datetime,
        *,
        tried: bool = True,
        redo: bool = False,
    ) -> None:
        """Pages wait until a time to be read, or with `redo` to be read again: an analyst failed on them, with this
        error. Not `tried`: it was not asked, and no attempt is counted."""

    def tails(self, owner_id: OwnerId, before: Mapping[ThreadId, int]) -> Mapping[ThreadId, ChainTail]:
        """For each thread the newest read page with a number below the one named, and its chain."""

    def segment_states(self, owner_id: OwnerId) -> tuple[SegmentState, ...]:
        """The segments of mid-term memory (not the archive), oldest first."""

    def uses(self, owner_id: OwnerId) -> tuple[Use, ...]:
        """How each held fact, and each segment of mid-term memory (without its pages), was used."""


class Marks(Protocol):
    """What is counted or set without a decision."""

    def visit(
        self,
        owner_id: OwnerId,
        segments: Mapping[SegmentId, int],
        now: datetime,
        facts: Mapping[FactId, int] | None = None,
    ) -> None:
        """Count visits; the owner is due, since heat may have passed τ."""

    def expire_page(self, owner: Owner, page_id: PageId, at: datetime | None, now: datetime) -> bool:
        """When a page expires from now on (None: never). False for no such page. Readers are told, and it is due."""


class Forgetting(Protocol):
    """What goes for good, and what knows it again."""

    def trail(
        self,
        owner_id: OwnerId,
        pages: Sequence[Page],
        facts: Collection[FactId],
        *,
        said: Collection[tuple[str, str]],
        probes: Collection[str],
        verbatim: Collection[str],
    ) -> Trail:
        """What the log says of pages and facts. `said` are attributes and values whose every proposal is meant,
        `probes` texts that give a page away in a summary, `verbatim` the analysts whose every text says what it was
        taken from: where another wrote of the pages, all changes since they were read are given."""

    def forget(self, owner: Owner, erasure: Erasure, *, now: datetime, revision: int) -> Change:
        """Take out of both logs what is to be forgotten, bring the tables to what the logs now say, and write the
        change that says so.

        One transaction; it remembers that a scrub is due. Counters, vectors and waits of what stays are kept. Raises
        RevisionMoved if another change came first, or if a page that is to go has grown.
        """

    def forget_owner(self, owner_id: OwnerId, now: datetime) -> None:
        """Delete every row of an owner, in one transaction; it remembers that a scrub is due.

        Keyed hashes of the messages and of the keys of `add` are kept apart, so that `append` stores neither again.
        """

    def wipe(self, ids: Collection[str] = ()) -> Wiped:
        """Bring the store's files to where they hold no byte of what was deleted, where something was and that holds
        others up for a moment at most; else it stays due. `backups` are those that hold one of the ids."""

    def remains(self, owner_id: OwnerId, forgotten: Forgotten) -> Remains:
        """Where what a receipt says is gone is found."""

    def barred(self, owner_id: OwnerId, texts: Collection[str]) -> frozenset[str]:
        """Those of the texts that were forgotten."""

    def secret(self) -> bytes:
        """The key of what the store keeps as keyed hashes. It lies outside the database; made when it is first asked
        for, and its mark remembered. Raises ForgottenKeyLost where the key of that mark is not there any more."""


class UsageLog(Protocol):
    """The log of model calls."""

    def begin_call(self, owner: Owner, call: Call, limits: Limits) -> None:
        """Write a call as "started", with its tokens estimated, if the day's limits have room for it.

        One transaction, so that no number of processes goes over a limit. Raises BudgetSpent.
        """

    def end_call(self, call: Call) -> None:
        """What came of a call that was begun."""


class KeyStore(Protocol):
    """The keys of the service, as requests are checked by them."""

    def key(self, key_id: str) -> ApiKey | None:
        """One key of the service, by one indexed read; they belong to no owner."""


class History(ConversationLog, ChangeLog, MemoryReads, Protocol):
    """Both logs, and what is derived from them."""


class Store(History, WorkingSetSource, WorkQueue, PageWork, Marks, Forgetting, Protocol):
    """Where MemoryOS keeps both logs and what is derived from them.

    Every method names one owner, but for `due` and `wipe`. Each call is one transaction. Every failure is a StoreError.
    What those who run a store ask of it is in `embermem.store.admin`.
    """


# ------------------------------------------------------------------------------------------------------- memory systems


class MemorySystem(Protocol):
    """One way of remembering. `observe` is durable and quick; `settle` understands; `recall` reads and never writes."""

    @property
    def name(self) -> str:
        """The system's name in reports."""

    def observe(
        self,
        owner: Owner,
        messages: Sequence[Message],
        *,
        key: str | None = None,
        digest: str = "",
        fresh: bool = False,
    ) -> Added:
        """Keep messages; see ConversationLog.append."""

    def settle(self, owner: Owner, progress: Callable[[int, int], None] | None = None) -> int:
        """Understand all that is pending; the number of pages placed."""

    def recall(
        self,
        owner: Owner,
        query: str,
        *,
        at: datetime | None = None,
        budget: int | None = None,
        thread: ThreadId | None = None,
        scope: Scope | None = None,
    ) -> Context:
        """The little that matters for a query, whose hits name utterances."""

    def visit(self, owner: Owner, hits: Iterable[Hit]) -> None:
        """The one write of a read, for systems that count what was recalled; whoever uses a recall's hits calls it."""
