"""The data types of Ember: frozen, keyword-only, independent of any database.

Ids are strings created by the client. `seq` is an owner's arrival order of utterances, from 1, without gaps. There are
two kinds of time: `said_at` (when something was said or true, given by the caller, with a zone) and `recorded_at` (when
Ember wrote it).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, NewType

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    """One embedding, shape (dim,), L2 norm 1 (or 0 where there was nothing to embed)."""
    Vectors = NDArray[np.float32]
    """Many embeddings, shape (n, dim)."""
else:

    class _AsNumbers:
        """How pydantic, and so FastAPI, serves a vector: as a list of numbers. It alone calls these methods."""

        @classmethod
        def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
            from pydantic_core import core_schema

            numbers = core_schema.plain_serializer_function_ser_schema(lambda vector: vector.tolist())
            return core_schema.any_schema(serialization=numbers)

        @classmethod
        def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> dict[str, Any]:
            return {"type": "array", "items": {"type": "number"}}

    Vector = Vectors = Annotated[Any, _AsNumbers]

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
    """The speaker's role, with OpenAI's names."""

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
    """What the filter of sensitive texts removed before storing, without the removed text. `message` is the index of
    the message in the call, from 0; [start, end) are the characters of the replacement, in the message's text or, if
    `where` is "name", in its speaker's name."""

    message: int
    kind: str
    start: int
    end: int
    where: str = "text"


# ------------------------------------------------------------------------------------------- what was understood


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """The source of a derived item: an utterance, and the characters [start, end) if extracted."""

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
    """Pages of one topic, over all threads (paper §3.2, mid-term memory). `unanalysed` is L_interaction; `visits` is
    N_visit; `last_access` is the later of the newest page's arrival and the last visit. Heat is computed from these
    when needed and never stored."""

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
    """One entry of the user knowledge base or of the agent traits. `subject` is "user", "agent", or the name or kin
    word of another person ("sister Ana"); `attribute` is the property of the subject ("lives_in"); a fact whose
    attribute has one value at a time supersedes the older one. `valid_from`/`valid_to` are when it was true,
    `recorded_at`/`retired_at` when Ember knew it. `conflicts` are ids of current facts that contradict it;
    `expires_at` is when it ends by itself."""

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
        """Neither superseded, retired nor archived by the cap."""
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
    """Two related memories, facts or segments, with the reason. It is visible while both exist."""

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
    """Two current facts that cannot both be true; `older` was known first."""

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
class Diff:
    """What changed for an owner between two times, without what was forgotten since. `changes` are the numbers of
    the changes in between. A fact that was added and ended in between is in `facts_added` and in `facts_ended`;
    `facts_changed` were said again, pinned, archived, given an end, or made current again. Pairs are (before,
    after), with None for no value. `segments_rewritten` have a new summary, keywords, tags or context."""

    earlier: datetime
    later: datetime
    changes: tuple[int, ...] = ()
    pages_added: tuple[PageId, ...] = ()
    facts_added: tuple[Fact, ...] = ()
    facts_ended: tuple[Fact, ...] = ()
    facts_changed: tuple[tuple[Fact, Fact], ...] = ()
    traits: tuple[tuple[Trait | None, Trait | None], ...] = ()
    profile: tuple[tuple[ProfileField | None, ProfileField | None], ...] = ()
    segments_opened: tuple[Segment, ...] = ()
    segments_rewritten: tuple[tuple[Segment, Segment], ...] = ()
    segments_archived: tuple[Segment, ...] = ()
    conflicts_added: tuple[Conflict, ...] = ()
    conflicts_ended: tuple[Conflict, ...] = ()
    links_added: tuple[Link, ...] = ()
    links_ended: tuple[Link, ...] = ()

    def __str__(self) -> str:
        numbers = f"changes {self.changes[0]} to {self.changes[-1]}" if self.changes else "no change"
        lines = [f"{self.earlier.isoformat()} to {self.later.isoformat()}: {numbers}"]
        lines += [f"+ page {page_id}" for page_id in self.pages_added]
        lines += [f"+ fact {fact.id}: {_line(fact.text)}" for fact in self.facts_added]
        lines += [
            f"- fact {fact.id}: {_line(fact.text)}"
            + ("" if fact.superseded_by is None else f" (superseded by {fact.superseded_by})")
            for fact in self.facts_ended
        ]
        lines += [f"~ fact {new.id}: {_line(new.text)}" for _, new in self.facts_changed]
        lines += [_moved(_told_trait(old), _told_trait(new)) for old, new in self.traits]
        lines += [_moved(_told_field(old), _told_field(new)) for old, new in self.profile]
        lines += [f"+ segment {one.id}: {_line(one.summary)}" for one in self.segments_opened]
        lines += [f"~ segment {new.id}: {_line(new.summary)}" for _, new in self.segments_rewritten]
        lines += [f"- segment {one.id}: archived" for one in self.segments_archived]
        lines += [f"+ conflict {one.older.id} {one.newer.id}: {_line(one.reason)}" for one in self.conflicts_added]
        lines += [f"- conflict {one.older.id} {one.newer.id}" for one in self.conflicts_ended]
        lines += [f"+ link {one.id} {one.from_id} {one.to_id}: {_line(one.reason)}" for one in self.links_added]
        lines += [f"- link {one.id} {one.from_id} {one.to_id}" for one in self.links_ended]
        return "\n".join(lines)


def _line(text: str) -> str:
    return " ".join(text.split())


def _told_trait(trait: Trait | None) -> tuple[str, str] | None:
    return None if trait is None else (f"trait {trait.dimension}", f"{trait.level:+.2f}")


def _told_field(field: ProfileField | None) -> tuple[str, str] | None:
    return None if field is None else (f"profile {field.whose}.{field.name}", _line(field.value))


def _moved(old: tuple[str, str] | None, new: tuple[str, str] | None) -> str:
    """A line of a diff; each side is a name and what stands under it."""
    if old is not None and new is not None:
        return f"~ {old[0]}: {old[1]} → {new[1]}"
    name, value = new or old or ("", "")
    return f"{'-' if new is None else '+'} {name}: {value}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Forgotten:
    """What `forget` removed, or with `dry_run` would remove: ids and names, without text.

    `facts` are current, archived and past ones; `traits` are dimensions, `profile` names such as "user.home".
    `rewritten` are the remaining segments and chains whose text was made again. `change_no` is None for a dry run, and
    if the whole memory was removed. `scrubbed`: whether no byte of it is left in the file; False for a dry run, and
    while another reader keeps the old text in the WAL until a later checkpoint. `sha256` is over the sorted ids of all
    removed pages, utterances, facts, segments and chains, one per line. `marks` are keyed hashes of the removed texts
    that occur nowhere else, and of the forgotten facts; `backups` are files known to the store that still contain the
    content. `key_mark` identifies the key of the marks without revealing it.

    It is also the receipt that `verify` checks later: its JSON can be kept anywhere, because it contains no removed
    text.
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
    marks: tuple[str, ...] = ()
    backups: tuple[str, ...] = ()
    key_mark: str = ""

    @property
    def scrub_pending(self) -> bool:
        """Whether the disk may still contain bytes of the removed content, until a later scrub."""
        return not self.dry_run and not self.scrubbed

    def to_json(self) -> str:
        """The receipt as one line of JSON."""
        import msgspec

        return msgspec.json.encode(self).decode()

    @classmethod
    def from_json(cls, text: str) -> Forgotten:
        """The receipt from the output of `to_json`. Raises ValueError if it is invalid."""
        import msgspec

        try:
            return msgspec.json.decode(text, type=cls, strict=False)
        except msgspec.MsgspecError as error:
            raise ValueError(f"this is not a receipt of forgetting: {error}") from error


@dataclass(frozen=True, kw_only=True, slots=True)
class Verified:
    """Whether the content named by a receipt is gone. `found` are ids and marks of it that are in a table, in a log
    or in the bytes of a file; `scrubbed`: whether a scrub has overwritten the deleted bytes; `backups` are files
    that contain the content. `unchecked` is the reason why the marks could not be compared ("": they were). `ok`:
    everything was checked, nothing was found, and the store is scrubbed. Backups are listed but do not affect `ok`."""

    ok: bool
    found: tuple[str, ...]
    scrubbed: bool
    backups: tuple[str, ...]
    unchecked: str = ""


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


# ----------------------------------------------------------------------------------- why something is remembered


@dataclass(frozen=True, kw_only=True, slots=True)
class Quote:
    """The words that something rests on: an utterance, and its characters [start, end) if extracted."""

    utterance: Utterance
    start: int | None = None
    end: int | None = None

    @property
    def text(self) -> str:
        """The words meant; the whole utterance, where no characters are named."""
        return self.utterance.text[self.start : self.end]


@dataclass(frozen=True, kw_only=True, slots=True)
class MadeBy:
    """A change that made an item what it is."""

    no: int
    cause: str
    analyst: str
    recorded_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Why:
    """Why something is remembered. `kind` is fact, segment, chain, link, trait or profile; inside `behind` also
    evolution. `quotes` are the words it rests on, oldest first; `changes` are those that made it. `behind` are the
    facts behind a profile line or trait, both ends of a link, or the changes that links made to a segment.
    `replaced` is what it replaced, the oldest last; `replaced_by` is what replaced it, up to the current item.
    `conflicts` are facts that contradict it. `left_out` counts quotes and changes beyond those returned."""

    item_id: str
    kind: str
    text: str
    quotes: tuple[Quote, ...] = ()
    changes: tuple[MadeBy, ...] = ()
    held: bool = True
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    behind: tuple[Why, ...] = ()
    replaced: tuple[Why, ...] = ()
    replaced_by: tuple[Why, ...] = ()
    links: tuple[Link, ...] = ()
    conflicts: tuple[Why, ...] = ()
    left_out: int = 0

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> list[str]:
        """Text of others on one line each, without characters that control a terminal or cannot be seen."""
        lines = [f"{self.kind} {self.item_id}: {_seen(self.text)}{self._times()}"]
        for quote in self.quotes:
            said = quote.utterance
            when = said.said_at.isoformat(sep=" ", timespec="minutes")
            lines.append(f'  said #{said.seq} {when} {_seen(said.speaker)}: "{_seen(quote.text)}"')
        for change in self.changes:
            by = f" by {_seen(change.analyst)}" if change.analyst else ""
            lines.append(f"  change {change.no}, {change.cause}{by}, {change.recorded_at.date()}")
        if self.left_out:
            lines.append(f"  and {self.left_out} more quotes and changes")
        groups = (
            ("rests on", self.behind),
            ("took the place of", self.replaced),
            ("its place was taken by", self.replaced_by),
            ("in conflict with", self.conflicts),
        )
        for title, items in groups:
            lines += [f"  {title}"] * bool(items) + [f"    {line}" for item in items for line in item._lines()]
        for link in self.links:
            other = link.to_id if link.from_id == self.item_id else link.from_id
            lines.append(f"  linked to {other}: {_seen(link.reason)} ({link.id})")
        return lines

    def _times(self) -> str:
        told = [] if self.valid_from is None else [f"from {self.valid_from.date()}"]
        told += [] if self.valid_to is None else [f"until {self.valid_to.date()}"]
        told += [] if self.held else ["held no longer"]
        return f" ({', '.join(told)})" if told else ""


_SEEN = 300
"""Characters of one text in a `Why` as it is printed."""


def _seen(text: str) -> str:
    shown = "".join(one if one.isprintable() else " " for one in text[: 4 * _SEEN])
    shown = " ".join(shown.split())
    return shown if len(shown) <= _SEEN else f"{shown[: _SEEN - 1]}…"


@dataclass(frozen=True, kw_only=True, slots=True)
class Retention:
    """How much of a current fact or of a segment is retained (MemoryBank, arXiv 2305.10250, §2.3): R = exp(−t/S), in
    [0, 1]. `t` is the number of days since it was last recalled or said again, `S` its strength in days, which grows
    with each recall. `kind` is "fact" or "segment"; `archives`: whether it would be archived now, with the `reason`."""

    item_id: ItemId
    kind: str
    text: str
    S: float
    t: float
    R: float
    archives: bool
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Faded:
    """What was archived because it was not used, or with `dry_run` would be. `change_no` is the number of the
    change, whose undo restores the facts; None if nothing was archived."""

    dry_run: bool
    facts: tuple[FactId, ...]
    segments: tuple[SegmentId, ...]
    change_no: int | None
    recorded_at: datetime


# -------------------------------------------------------------------------------------- what an analyst answers


@dataclass(frozen=True, kw_only=True, slots=True)
class PageView:
    """A page with its embedding, as used by an analyst and for placing."""

    page: Page
    vector: Vector | None = field(default=None, compare=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class ChainTail:
    """The newest page of a thread and the chain that it ends: what the next page may continue. `sources` are those of
    the chain's summary, in order."""

    view: PageView
    chain_id: ChainId
    summary: str
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class FactProposal:
    """A fact found by an analyst. `single` marks an attribute with one value at a time."""

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
class LinkProposal:
    """A link found by an analyst: from a shown memory (`from_id`), or from a fact proposed in the same answer
    (`from_fact`), to a shown memory."""

    from_id: ItemId | None
    from_fact: FactProposal | None
    to_id: ItemId
    reason: str
    sources: tuple[Source, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class EvolutionProposal:
    """A change to an older segment that was shown: additional keywords and tags, and a sentence of context."""

    segment_id: SegmentId
    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    context: str
    reason: str
    sources: tuple[Source, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Annotation:
    """An analyst's result for one page: whether it continues the previous page, its chain's summary, its keywords.
    `summary_sources` are the source utterances of the summary."""

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
    links: tuple[LinkProposal, ...] = ()
    evolutions: tuple[EvolutionProposal, ...] = ()


# ---------------------------------------------------------------------------------------------- what is recalled


@dataclass(frozen=True, kw_only=True, slots=True)
class ChannelScore:
    """One channel's contribution to a hit: the raw value, the value normalised over the candidates, and the
    `weight`. `rank_without` is the hit's rank by score, from 1, without this channel (None: not known)."""

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
    """Something that was found but not packed, with the reason."""

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
    """The result of `recall`: text for a prompt, within the budget, and its parts. `tokens` is the length of `text`
    by the counter named in `counter`. `packed` are the hits whose text is in `text`; `hits` are all ranked hits,
    best first. `partial`: some utterances had no vector yet and were ranked by words alone. `confidence` is in [0,
    1]. `rests_on` are the utterances that `text` rests on: those in `packed`, and the sources of facts, gists and
    notes in it."""

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
