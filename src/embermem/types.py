"""The words of Ember as types: frozen, keyword-only, and free of any database.

Ids are strings made by the client. `seq` is an owner's arrival order of utterances, from 1, without gaps.
Two times stand everywhere: `said_at` (when it was said or true, given by the caller, with a zone) and
`recorded_at` (when Ember wrote it).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, NewType

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    """One embedding, shape (dim,), L2 norm 1 (or 0 where there was nothing to embed)."""
    Vectors = NDArray[np.float32]
    """Many embeddings, shape (n, dim)."""

OwnerId = NewType("OwnerId", str)
PageId = NewType("PageId", str)
UtteranceId = NewType("UtteranceId", str)
ThreadId = NewType("ThreadId", str)
ChainId = NewType("ChainId", str)
SegmentId = NewType("SegmentId", str)
FactId = NewType("FactId", str)
LinkId = NewType("LinkId", str)
ItemId = FactId | SegmentId
"""What a link joins."""


class Role(StrEnum):
    """Who an utterance belongs to, in OpenAI's words."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"

    @property
    def agent_side(self) -> bool:
        """Whether it stands on the agent's side of a page."""
        return self in (Role.ASSISTANT, Role.TOOL)


class Tier(StrEnum):
    """Where a page is. Derived from memberships and order, never stored."""

    SHORT = "short"
    PENDING = "pending"
    MID = "mid"
    ARCHIVE = "archive"


class About(StrEnum):
    """Which knowledge base a fact belongs to: the user's, or the agent's traits."""

    USER = "user"
    AGENT = "agent"


@dataclass(frozen=True, kw_only=True, slots=True)
class Owner:
    """One (user, agent) pair: the unit of isolation."""

    id: OwnerId
    user: str
    agent: str


# ---------------------------------------------------------------------------------------------- what was said


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """An utterance before it is stored: checked input, not yet numbered."""

    role: Role
    speaker: str
    text: str
    said_at: datetime
    thread: ThreadId


@dataclass(frozen=True, kw_only=True, slots=True)
class Utterance:
    """One message as it was said: the unit that is indexed and cited as evidence."""

    id: UtteranceId
    seq: int
    page_id: PageId
    thread: ThreadId
    role: Role
    speaker: str
    text: str
    said_at: datetime
    recorded_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """{Q, R, T}: user-side utterances, then agent-side ones, of one thread.

    `no` counts an owner's pages in the order of their first utterance, from 1.
    """

    id: PageId
    no: int
    thread: ThreadId
    utterances: tuple[Utterance, ...]
    tier: Tier | None = None
    segment_id: SegmentId | None = None
    chain_id: ChainId | None = None
    keywords: tuple[str, ...] = ()
    error: str | None = None
    expires_at: datetime | None = None

    @property
    def query(self) -> str:
        """Q: the user-side texts, joined by line breaks."""
        return "\n".join(u.text for u in self.utterances if not u.role.agent_side)

    @property
    def response(self) -> str:
        """R: the agent-side texts, joined by line breaks."""
        return "\n".join(u.text for u in self.utterances if u.role.agent_side)

    @property
    def said_at(self) -> datetime:
        """T: when its first utterance was said."""
        return self.utterances[0].said_at

    @property
    def last_seq(self) -> int:
        """The seq of its newest utterance."""
        return self.utterances[-1].seq

    @property
    def answered(self) -> bool:
        """Whether an agent-side utterance has joined it; while not, and newest of its thread, it is open."""
        return any(u.role.agent_side for u in self.utterances)


@dataclass(frozen=True, kw_only=True, slots=True)
class Added:
    """What `add_messages` stored: the pages it touched and every utterance, in order."""

    page_ids: tuple[PageId, ...]
    utterance_ids: tuple[UtteranceId, ...]
    redactions: tuple[Redaction, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Redaction:
    """What the filter of sensitive texts took out before anything was stored: no word of it. `message` counts the
    messages of the call from 0; [start, end) are the characters of what now stands in its place."""

    message: int
    kind: str
    start: int
    end: int


# ------------------------------------------------------------------------------------------- what was understood


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """Where a derived item comes from: an utterance, and the characters [start, end) if extracted."""

    seq: int
    utterance_id: UtteranceId
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Chain:
    """Consecutive pages of a thread on one topic (the paper's dialogue chain), with their summary (its meta)."""

    id: ChainId
    thread: ThreadId
    summary: str
    page_ids: tuple[PageId, ...]
    change_no: int
    recorded_at: datetime
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Segment:
    """Pages of one topic, over all threads (paper §3.2, mid-term memory).

    `unanalysed` is L_interaction; `visits` is N_visit; `last_access` the later of the newest page's arrival
    and the last visit. Heat is computed from them when it is needed and never stored.
    """

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
    tags: tuple[str, ...] = ()
    context: str = ""
    embedding: Vector | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """One entry of the user knowledge base or of the agent traits.

    `subject` is "user", "agent", or the name or kin word of another ("sister Ana"); `attribute` says what is
    told of the subject ("lives_in"); a fact whose attribute holds one value at a time supersedes the older one.
    `valid_from`/`valid_to` say when it was true, `recorded_at`/`retired_at` when Ember held it. `conflicts` are facts
    that are held and cannot be so beside it; `expires_at` is when it ends by itself.
    """

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

    @property
    def current(self) -> bool:
        """Neither superseded or retired, nor moved to the archive by the cap."""
        return self.retired_at is None and not self.archived


@dataclass(frozen=True, kw_only=True, slots=True)
class Trait:
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
class ProfileField:
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
class Link:
    """Two memories, facts or segments, that have to do with each other, and why. It stands while both do."""

    id: LinkId
    from_id: ItemId
    to_id: ItemId
    reason: str
    sources: tuple[Source, ...]
    analyst: str
    recorded_at: datetime
    retired_at: datetime | None = None
    change_no: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Conflict:
    """Two facts, both held, that cannot both be so; `older` was known first."""

    older: Fact
    newer: Fact
    reason: str
    recorded_at: datetime
    change_no: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Persona:
    """Long-term personal memory: both profiles, the traits, and both knowledge bases (current facts, oldest first)."""

    profile: tuple[ProfileField, ...] = ()
    agent_profile: tuple[ProfileField, ...] = ()
    traits: tuple[Trait, ...] = ()
    facts: tuple[Fact, ...] = ()
    agent_facts: tuple[Fact, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Forgotten:
    """What `forget` took away, or with `dry_run` would take: ids and names, no word of it.

    `facts` are current, archived and past ones; `traits` are dimensions, `profile` names such as "user.home".
    `rewritten` are the segments and chains that stay, whose text was made anew from what is left. `change_no` is None
    for a dry run, and where the whole memory went. `scrubbed`: whether the file holds no byte of it any more; False
    for a dry run, and while another reader keeps the old text in the WAL until a later checkpoint. `sha256` is over
    the sorted ids of all pages, utterances, facts, segments and chains that went, one a line.
    """

    dry_run: bool
    pages: tuple[PageId, ...]
    utterances: tuple[UtteranceId, ...]
    facts: tuple[FactId, ...]
    segments: tuple[SegmentId, ...]
    chains: tuple[ChainId, ...]
    traits: tuple[str, ...]
    profile: tuple[str, ...]
    rewritten: tuple[SegmentId | ChainId, ...]
    change_no: int | None
    recorded_at: datetime
    scrubbed: bool
    sha256: str


# -------------------------------------------------------------------------------------- what an analyst answers


@dataclass(frozen=True, kw_only=True, slots=True)
class PageView:
    """A page with its embedding, as an analyst and the placing see it."""

    page: Page
    vector: Vector | None = field(default=None, compare=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class ChainTail:
    """The newest page of a thread and the chain that it ends: what the next page may continue."""

    view: PageView
    chain_id: ChainId
    summary: str


@dataclass(frozen=True, kw_only=True, slots=True)
class FactProposal:
    """A fact as an analyst found it. `single` marks an attribute that holds one value at a time."""

    about: About
    subject: str
    attribute: str
    value: str
    text: str
    sources: tuple[Source, ...]
    single: bool
    valid_from: datetime | None = None
    retracts: bool = False
    """The statement says that it is no longer so ("I don't live in Lyon any more")."""
    replaces: FactId | None = None
    """A known fact, one that was shown, which this one supersedes; with `retracts` the one that is retired."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TraitProposal:
    """Evidence for one trait dimension: level in [−1, 1], confidence in [0, 1]."""

    dimension: str
    level: float
    confidence: float
    sources: tuple[Source, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ProfileProposal:
    """A value for a field of the user's profile."""

    name: str
    value: str
    sources: tuple[Source, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Annotation:
    """What an analyst says of one page: does it continue the page before, its chain's summary, its keywords.

    `summary_sources` are the utterances the chain's summary was taken from.
    """

    page_id: PageId
    continues: bool
    chain_summary: str
    keywords: tuple[str, ...]
    summary_sources: tuple[Source, ...] = ()
    facts: tuple[FactProposal, ...] = ()
    traits: tuple[TraitProposal, ...] = ()
    profile: tuple[ProfileProposal, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class PersonaChange:
    """What an analyst proposes at a promotion; it is applied in code, never by the analyst."""

    facts: tuple[FactProposal, ...] = ()
    traits: tuple[TraitProposal, ...] = ()
    profile: tuple[ProfileProposal, ...] = ()
    segment_summary: str | None = None
    summary_sources: tuple[Source, ...] = ()


# ---------------------------------------------------------------------------------------------- what is recalled


@dataclass(frozen=True, kw_only=True, slots=True)
class ChannelScore:
    """One channel's say about a hit: as measured, and normalised over the candidates; `weight` as fused.

    `rank_without` is the hit's place by score, from 1, had the channel nothing to say (None: not known).
    """

    raw: float
    normalised: float
    weight: float
    rank_without: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """A recalled utterance with its score (comparable within one recall only)."""

    utterance: Utterance
    score: float
    rank: int
    tier: Tier
    segment_id: SegmentId | None = None
    channels: Mapping[str, ChannelScore] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftOut:
    """Something that was found and not packed, and why."""

    what: str
    score: float
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Explanation:
    """Why a hit was recalled, or (without a hit) what the whole recall did and left out."""

    query: str
    preset: str
    hit: Hit | None
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"query: {self.query}", f"preset: {self.preset}"]
        if self.hit is not None:
            u = self.hit.utterance
            lines.append(f"hit {self.hit.rank}: #{u.seq} {u.speaker}: {u.text}")
            lines.append(f"  score {self.hit.score:.4f}, tier {self.hit.tier}, segment {self.hit.segment_id or '-'}")
            lines.extend(
                f"  {name:<10} raw {s.raw:8.4f}  normalised {s.normalised:7.3f}  × {s.weight:6.3f}"
                + ("" if s.rank_without is None else f"  rank without it {s.rank_without}")
                for name, s in self.hit.channels.items()
            )
        else:
            lines.extend(f"left out ({o.reason}, score {o.score:.4f}): {o.what}" for o in self.left_out)
        lines.extend(self.notes)
        return "\n".join(lines)


@dataclass(frozen=True, kw_only=True, slots=True)
class Context:
    """What `recall` hands back: text ready for a prompt, within the budget, and what it is made of.

    `tokens` is the length of `text` by the counter named in `counter`. `packed` are the hits whose text is in
    `text`; `hits` are all that were ranked high, best first. `partial` says that some utterances had no vector
    yet and were ranked by words alone. `confidence` in [0, 1]. `rests_on` are the utterances that something in `text`
    rests on: those in `packed`, and those that it tells in other words (facts, gists, notes).
    """

    text: str
    hits: tuple[Hit, ...]
    packed: tuple[Hit, ...]
    facts: tuple[Fact, ...]
    persona: Persona
    tokens: int
    counter: str
    confidence: float
    partial: bool
    query: str
    preset: str
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()
    rests_on: tuple[UtteranceId, ...] = ()

    def explain(self, hit: Hit | None = None) -> Explanation:
        """Each channel's share in a hit's score; without a hit, what was left out and why."""
        return Explanation(query=self.query, preset=self.preset, hit=hit, left_out=self.left_out, notes=self.notes)
