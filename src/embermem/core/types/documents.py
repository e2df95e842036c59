"""Documents: texts that nobody said in a talk."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from embermem.core.metadata import Metadata
from embermem.core.record import Record
from embermem.core.types.ids import DocumentId, ThreadId

__all__ = ["Document", "DocumentAdded", "document_of", "is_of_document", "thread_of"]

_THREAD = "document:"


@dataclass(frozen=True, kw_only=True, slots=True)
class Document(Record):
    """A document as it is stored. `source` tells it from others: a path, an address, or what the caller named.
    `said_at` is when it was written, `passages` how many it has now, `expires_at` when it is forgotten by itself."""

    id: DocumentId
    title: str
    source: str
    said_at: datetime
    recorded_at: datetime
    passages: int
    metadata: Metadata = field(default_factory=dict, hash=False)
    expires_at: datetime | None = None

    @property
    def thread(self) -> ThreadId:
        """The thread of its passages."""
        return thread_of(self.id)


@dataclass(frozen=True, kw_only=True, slots=True)
class DocumentAdded(Record):
    """What `add_document` did: how many passages it stored, how many were there already, and how many it removed that
    the document does not have any more."""

    id: DocumentId
    title: str
    source: str
    added: int
    kept: int
    removed: int


def thread_of(document: DocumentId) -> ThreadId:
    """The thread of a document's passages."""
    return ThreadId(f"{_THREAD}{document}")


def is_of_document(thread: str) -> bool:
    """Whether a thread is of a document's passages: nothing is said there."""
    return thread.startswith(_THREAD)


def document_of(thread: str) -> DocumentId:
    """The document whose passages are in a thread."""
    return DocumentId(thread.removeprefix(_THREAD))
