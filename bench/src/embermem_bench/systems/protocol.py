"""The protocol of a memory system."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable

from embermem.core.types import (
    Added,
    Context,
    Hit,
    Message,
    Owner,
    Scope,
    ThreadId,
    Utterance,
)

__all__ = [
    "MemorySystem",
    "Reply",
    "ReplyingSystem",
]


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
        """Store messages; see ConversationLog.append."""

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """A reply that a memory system made itself: its text, what it had in view, and what is to be called with the
    utterance of the reply when that is stored."""

    text: str
    context: Context
    stored: Callable[[Utterance], None]


@runtime_checkable
class ReplyingSystem(Protocol):
    """A memory system that answers its user itself, and may change what it remembers while it does."""

    def reply(self, owner: Owner, asked: Utterance, *, system: str | None, style: str | None) -> Reply:
        """The reply to a message of the user that is stored already. Writes nothing until the reply is `stored`.

        Raises ModelError, ModelWait.
        """
