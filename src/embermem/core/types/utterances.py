"""What was said: messages, utterances, pages; and what `add` says of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar

from embermem.core.metadata import Metadata, inherited
from embermem.core.record import Record
from embermem.core.types.ids import (
    ChainId,
    DocumentId,
    PageId,
    Role,
    SegmentId,
    ThreadId,
    Tier,
    UtteranceId,
    UtteranceOrigin,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Passage(Record):
    """Where a passage stands: the document's id, title and source, the `place` (the headings over it, such as "Leave >
    Parental leave", or "page 3"; empty if there are none), and the characters [start, end) of the document's text."""

    document: DocumentId
    title: str
    source: str
    place: str
    start: int
    end: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Message(Record):
    """An utterance before it is stored: checked input, not yet numbered. `original` is what the caller handed in, as
    JSON (`embermem.core.originals`). `origin` is None where it is that of the role."""

    role: Role
    speaker: str
    text: str
    said_at: datetime
    thread: ThreadId
    metadata: Metadata = field(default_factory=dict, hash=False)
    passage: Passage | None = None
    original: str | None = None
    origin: UtteranceOrigin | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Utterance(Record):
    """One message as it was said: the unit that is indexed and cited as evidence. `metadata` are the caller's own
    (`embermem.core.metadata`). Of a document, it is a `passage`: its role is document and its speaker the title."""

    id: UtteranceId
    seq: int
    page_id: PageId
    thread: ThreadId
    role: Role
    origin: UtteranceOrigin
    speaker: str
    text: str
    said_at: datetime
    recorded_at: datetime
    metadata: Metadata = field(default_factory=dict, hash=False)
    passage: Passage | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Page(Record):
    """{Q, R, T}: user-side utterances, then agent-side ones, of one thread.

    `no` counts an owner's pages in the order of their first utterance, from 1. A passage of a document is a page by
    itself, of no tier; its number is below 0.
    """

    _derived: ClassVar = ("query", "response", "said_at", "metadata")

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
    def metadata(self) -> Metadata:
        """What its utterances' metadata say together (`embermem.core.metadata.inherited`)."""
        return inherited(one.metadata for one in self.utterances)

    @property
    def last_seq(self) -> int:
        """The seq of its newest utterance."""
        return self.utterances[-1].seq

    @property
    def answered(self) -> bool:
        """Whether an agent-side utterance has joined it; while not, and newest of its thread, it is open."""
        return any(u.role.agent_side for u in self.utterances)


@dataclass(frozen=True, kw_only=True, slots=True)
class Added(Record):
    """What `add_messages` stored: the pages it touched and every utterance, in order."""

    page_ids: tuple[PageId, ...]
    utterance_ids: tuple[UtteranceId, ...]
    redactions: tuple[Redaction, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class AddedItem(Record):
    """What `add_many` did with one item, by its `index` from 0: `added`, or the `error` why it stored nothing, whose
    kind is `error_kind`, the tag of an error of `embermem.errors`."""

    index: int
    added: Added | None = None
    error: str = ""
    error_kind: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Redaction(Record):
    """What the filter of sensitive texts removed before storing, without the removed text. `message` is the index of
    the message in the call, from 0; [start, end) are the characters of the replacement, in the message's text or, if
    `where` is "name", in its speaker's name; "metadata.tags[1]" is a text of its metadata, "original.content[0].text"
    one of its original."""

    message: int
    kind: str
    start: int
    end: int
    where: str = "text"
