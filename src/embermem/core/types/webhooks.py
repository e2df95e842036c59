"""What is new in a memory, told one event at a time, and where to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from embermem.core.record import Record

__all__ = ["Event", "Position", "Webhook", "WebhookState"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Position(Record):
    """How far a memory has come: the numbers of its last utterance and its last change. As text, "seq.revision"."""

    seq: int
    revision: int

    def __str__(self) -> str:
        return f"{self.seq}.{self.revision}"

    @classmethod
    def parsed(cls, text: str | None) -> Position | None:
        """The position that a text says; None for none, or for a text that says none."""
        first, _, second = (text or "").partition(".")
        if not (first.isascii() and first.isdigit() and second.isascii() and second.isdigit()):
            return None
        if len(first) > 18 or len(second) > 18:  # SQLite's whole numbers end there
            return None
        return cls(seq=int(first), revision=int(second))


@dataclass(frozen=True, kw_only=True, slots=True)
class Event(Record):
    """One event, and where the memory stands after it. `name` is "page" (something was said), "change" (one entry of
    the log of changes) or "state" (where the memory stands)."""

    name: str
    position: Position
    data: Mapping[str, Any] = field(hash=False)


class WebhookState(StrEnum):
    """Whether events are delivered: `active`; `retrying` after failures; `stopped` after the last attempt failed."""

    ACTIVE = "active"
    RETRYING = "retrying"
    STOPPED = "stopped"


@dataclass(frozen=True, kw_only=True, slots=True)
class Webhook(Record):
    """An address to which what is new in one memory is sent.

    `events` are "page" and causes of changes; none means all. With `text`, events hold what was said and decided.
    `position` is how far its receiver was told; `attempts` are those that failed since, `error` is why the last one
    did, `retry_at` when the next one is made. `secret` signs what is sent; only the call that registers it returns it.
    """

    id: str
    url: str
    events: tuple[str, ...]
    text: bool
    state: WebhookState
    created_at: datetime
    position: str
    attempts: int = 0
    error: str = ""
    retry_at: datetime | None = None
    delivered_at: datetime | None = None
    secret: str = field(default="", repr=False)
