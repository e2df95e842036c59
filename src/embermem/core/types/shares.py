"""Who may read another owner's memory."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from embermem.core.record import Record


@dataclass(frozen=True, kw_only=True, slots=True)
class Share(Record):
    """One grant, also after it was revoked: of a space to a user (None: to everybody) with one agent (None: with any),
    with or without the right to write; or of what is known of a user to another agent of the same user."""

    id: str
    user: str | None
    agent: str | None
    write: bool
    granted_at: datetime
    revoked_at: datetime | None = None

    @property
    def stands(self) -> bool:
        """Whether it was not revoked."""
        return self.revoked_at is None
