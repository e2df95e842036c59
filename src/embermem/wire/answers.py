"""The answers of the HTTP API that contain records: complete and paginated lists, and results of requests."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from embermem.core.fields import FieldType, SetBy
from embermem.core.types import Conflict, Document, Edit, PageId, Redaction, Retention, Webhook
from embermem.wire.mapping import Doc, From
from embermem.wire.memories import (
    Addition,
    ChangeItem,
    FactItem,
    PageItem,
    PersonItem,
    SegmentItem,
    ShareItem,
    TraitItem,
    UtteranceMemory,
)

# ------------------------------------------------------------------------------------------------------------ lists


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """A page of a list; subclasses define its items."""

    results: tuple[Any, ...]
    next_cursor: Annotated[str | None, Doc("Pass it as `cursor` for the next page; null at the end.")]


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnerItem:
    """One (user, agent) pair."""

    user_id: Annotated[str, From("user")]
    agent_id: Annotated[str, From("agent")]


@dataclass(frozen=True, kw_only=True, slots=True)
class Pages(Part):
    """Pages, newest first."""

    results: tuple[PageItem, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts(Part):
    """Facts, newest first."""

    results: tuple[FactItem, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Segments(Part):
    """Segments, newest first."""

    results: tuple[SegmentItem, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Changes(Part):
    """Changes, oldest first."""

    results: tuple[ChangeItem, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Owners(Part):
    """Owners, in order of their names."""

    results: tuple[OwnerItem, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Webhooks:
    """The webhooks of one memory, oldest first."""

    results: tuple[Webhook, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Spaces:
    """Names of shared spaces, sorted."""

    results: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Shares:
    """Grants, oldest first."""

    results: tuple[ShareItem, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class FieldItem:
    """A field of the application's own."""

    name: str
    type: FieldType
    many: Annotated[bool, Doc("Whether it holds any number of values, else one, which stands in the profile.")]
    description: str
    examples: tuple[str, ...]
    choices: tuple[str, ...]
    aliases: Annotated[tuple[str, ...], Doc("Other words for it in talk.")]
    units: Annotated[tuple[str, ...], Doc("Words or signs that belong to its numbers.")]
    set_by: Annotated[SetBy, Doc("Who may set it: `caller`; `user`, who also states it; `model`, which also reads it.")]


@dataclass(frozen=True, kw_only=True, slots=True)
class Fields:
    """The fields of the application's own, in their order."""

    results: tuple[FieldItem, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class History:
    """What was decided of one memory, oldest first; and what of it changed from what to what."""

    results: tuple[ChangeItem, ...]
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Traits:
    """The traits that are known."""

    results: tuple[TraitItem, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class People:
    """Everybody whom the memory knows, the user and the agent first. Without a person `user`, it is undecided which
    speaker is the user."""

    results: tuple[PersonItem, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class PeopleRuled:
    """Everybody, after it was said who is who."""

    change_no: Annotated[int, Doc("The change that says so; undoing it takes it back.")]
    results: tuple[PersonItem, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class FactsChanged:
    """That several facts were changed at once."""

    change_no: Annotated[int, Doc("The change; undoing it takes it back. 0 if there was nothing to change.")]


@dataclass(frozen=True, kw_only=True, slots=True)
class Instructions:
    """The user's standing instructions, oldest first."""

    results: tuple[FactItem, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Documents:
    """Documents, the first stored first."""

    results: tuple[Document, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class DocumentWhole:
    """A document with its passages, in the order of its text."""

    document: Document
    passages: tuple[UtteranceMemory, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class OriginalItem:
    """What was handed in with a message or document."""

    id: Annotated[str, Doc("Of the utterance or document.")]
    original: Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Originals:
    """Originals, in the order in which what they belong to was stored."""

    results: tuple[OriginalItem, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Conflicts:
    """Facts that cannot both be so."""

    results: tuple[Conflict, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ConflictSettled:
    """The conflicts that are left after one was settled."""

    change_no: Annotated[int, Doc("The change that settled it; undoing it takes it back.")]
    results: tuple[Conflict, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Retained:
    """How much of each memory is retained."""

    results: tuple[Retention, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Learnt:
    """What each became, in order."""

    results: tuple[FactItem, ...]


# ------------------------------------------------------------------------------------------------ what a request did


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchKept:
    """An item that is kept."""

    status: Literal[201] = 201
    results: tuple[Addition, ...]
    page_ids: tuple[PageId, ...]
    redactions: tuple[Redaction, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchRefused:
    """An item that is not kept, and why."""

    status: int
    problem: Annotated[dict[str, Any], Doc("The problem, in the form of a failed request.")]


@dataclass(frozen=True, kw_only=True, slots=True)
class Batch:
    """What came of each item, in order."""

    items: tuple[BatchKept | BatchRefused, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Undoing:
    """The change that took another back; undoing it restores that."""

    change_no: int


@dataclass(frozen=True, kw_only=True, slots=True)
class RefusedItem:
    """Something that an undoing leaves, and why."""

    item: str
    reason: str
    change_no: int


@dataclass(frozen=True, kw_only=True, slots=True)
class UndoPlanAnswer:
    """What taking a change back would do: how many decisions, and what it leaves."""

    decisions: Annotated[int, From(by=len)]
    refused: tuple[RefusedItem, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class DiffAnswer:
    """What came to be known from one time to another; `text` is all of it in words."""

    earlier: datetime
    later: datetime
    text: Annotated[str, From("", str)]
    changes: tuple[int, ...]
    pages_added: tuple[PageId, ...]
    facts_added: tuple[FactItem, ...]
    facts_ended: tuple[FactItem, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class OperationItem:
    """Work that goes on behind."""

    id: str
    kind: str
    status: Literal["running", "done", "failed"]
    user_id: Annotated[str, From("owner.user")]
    agent_id: Annotated[str, From("owner.agent")]
    done: int
    total: Annotated[int | None, Doc("Null until known.")]
    result: dict[str, int] | None = None
    error: Annotated[dict[str, Any] | None, Doc("A problem, as a failed request would have it.")] = None
