"""What every part of an owner's memory stands on: the owner, the store, and how a change by the caller is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from embermem import messages, telemetry
from embermem.errors import ConfigError, NotFound, RevisionMoved
from embermem.types import Owner

if TYPE_CHECKING:
    from embermem.changes import Cause, Decision
    from embermem.memory import Memory
    from embermem.protocols import Store

_TRIES = 16
"""How often a change is decided anew when another came first."""


class Handle:
    """One owner of one memory."""

    def __init__(self, memory: Memory, owner: Owner) -> None:
        self.owner = owner
        self._memory = memory
        self._watch = telemetry.Watch(store_id=owner.id, trace_text=memory.settings.trace_text, done=memory.done)

    @property
    def _store(self) -> Store:
        return self._memory._store

    def _inbox(self) -> messages.Inbox:
        state = self._store.owner_state(self.owner.id)
        settings = self._memory.settings
        zone = settings.timezone if state is None or state.timezone is None else state.timezone
        return messages.Inbox(
            owner=self.owner,
            zone=zone_of(zone),
            now=self._memory._clock(),
            max_chars=settings.max_text_chars,
            nonce_key=self._memory.nonce_key,
        )

    def _none_such(self, kind: str, item_id: str) -> NotFound:
        return NotFound(f"no {kind} {item_id!r} of {self.owner.user}/{self.owner.agent}")

    def _changing(self, cause: Cause, decided: Callable[[int, int], Sequence[Decision]]) -> int:
        """The number of a change by the caller, 0 if there is nothing to change; if another came first, it is decided
        again. What is decided may name the change's number, and the seq of the newest utterance."""
        for attempt in range(_TRIES):
            state = self._store.owner_state(self.owner.id)
            revision, seq = (0, 0) if state is None else (state.revision, state.seq)
            decisions = decided(revision + 1, seq)
            if not decisions:
                return 0
            try:
                return self._store.apply(
                    self.owner,
                    cause,
                    "",
                    decisions,
                    now=self._memory._clock(),
                    revision=revision,
                    lease=None,
                ).no
            except RevisionMoved:
                if attempt == _TRIES - 1:
                    raise
        raise AssertionError("a loop that returns or raises")


def zone_of(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError, TypeError) as error:
        raise ConfigError(f"timezone = {name!r} is not an IANA time zone such as Europe/Paris") from error
