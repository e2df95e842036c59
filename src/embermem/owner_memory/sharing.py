"""What was granted, as one user reaches it: a shared space, and what another agent knows of the user."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from datetime import datetime
from functools import wraps
from typing import TYPE_CHECKING, Any

from embermem.core.errors import NotGranted
from embermem.core.messages import At
from embermem.core.types import Owner, Scope
from embermem.owner_memory import OwnerMemory
from embermem.owner_memory.handle import Handle, Parts

if TYPE_CHECKING:
    from embermem.memoryos.recall.elsewhere import Elsewhere

__all__ = ["KnownElsewhere", "SharedMemory"]

_READS = frozenset(
    (
        *("recall", "search", "overview", "pages", "page", "utterance", "utterances", "segments", "segment", "heat"),
        *("chains", "persona", "people", "facts", "instructions", "past_facts", "fact", "named", "traits", "profile"),
        *("agent_profile", "changes", "diff", "change", "history", "state", "stats", "why", "retention"),
        *("conflicts", "undo_plan", "get", "items", "edits", "watch", "events", "standing"),
        *("document", "documents", "passages", "original", "originals", "marked"),
        *("find_facts", "facts_resting_on", "timeline"),
    )
)
"""What a grant to read allows. All else writes, visits too."""
_OF_WHO_RUNS_IT = frozenset(
    (
        *("forget_owner", "readmit", "share_person_with", "person_shares"),
        *("add_webhook", "webhooks", "remove_webhook", "replay_webhook"),
    )
)
"""What no grant allows: a space is forgotten whole, granted, and told to others, by who runs the store. A webhook would
outlive the grant of whoever added it."""


class SharedMemory(OwnerMemory):
    """A space as a user reaches it to whom it was granted: the methods of `OwnerMemory`.

    Each call looks at the grant first, in the store: one that was revoked ends at once, in all processes. Raises
    NotGranted without one, whether the space exists or not; a grant to read allows reads only, without visits. What is
    added here is said by the user.
    """

    def __init__(self, parts: Parts, space: Owner, reader: Owner) -> None:
        super().__init__(parts, space)
        self.reader = reader
        self._read_only = False

    def only_read(self) -> None:
        """Write nothing through this handle, whatever is granted: who asks may not."""
        self._read_only = True

    def _speaks_as(self) -> Owner:
        return self.reader

    def may(self, *, write: bool) -> bool:
        """Whether the user may read the space now, or write to it."""
        if write and self._read_only:
            return False
        right = self._parts.admin.share_with(self.owner.id, self.reader.user, self.reader.agent)
        return right is not None and (right or not write)

    def require(self, *, write: bool = False) -> None:
        """Raises NotGranted where the user may not."""
        if not self.may(write=write):
            to = "written to" if write and self.may(write=False) else "read"
            raise NotGranted(
                f"the space {self.owner.space} may not be {to} by {self.reader}; who runs the store can grant it: "
                f"memory.grant({self.owner.space!r}, user={self.reader.user!r}{', write=True' if write else ''})"
            )


class KnownElsewhere(Handle):
    """What another agent of the same user knows of the user, as far as the user shared it with this one
    (`OwnerMemory.share_person_with`)."""

    def __init__(self, parts: Parts, source: Owner, reader: Owner) -> None:
        super().__init__(parts, source)
        self._reader = Handle(parts, reader)

    def require(self) -> None:
        """Raises NotGranted where the user has not shared it, or no longer."""
        reader = self._reader.owner
        if self._parts.admin.share_with(self.owner.id, reader.user, reader.agent) is None:
            raise NotGranted(
                f"what {self.owner} knows of the user is not shared with {reader}; the user can share it: "
                f"memory.of({self.owner.user!r}, {self.owner.agent!r}).share_person_with({reader.agent!r})"
            )

    def beside(
        self, query: str | None = None, *, at: datetime | None = None, scope: Scope | None = None, **then: At
    ) -> tuple[Elsewhere, frozenset[str]]:
        """What of it is told beside the reader's own memory, and what of that one is outdated by it."""
        from embermem.memoryos.recall.elsewhere import newer_here, without

        self.require()
        system, own = self._parts.system, self._reader
        moment, mine = (one._moment(then.get("as_of"), then.get("valid_at")) for one in (self, own))
        theirs = system.known_of_user(self.owner, query, at=at, scope=scope, moment=moment)
        ours = system.known_of_user(own.owner, scope=scope, moment=mine)
        return without(theirs, newer_here(ours, theirs)), newer_here(theirs, ours)


def _guarded(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def guarded(self: SharedMemory, /, *given: Any, **named: Any) -> Any:
        if name in _OF_WHO_RUNS_IT:
            raise NotGranted(f"{name} of a whole space is for who runs the store: memory.space({self.owner.space!r})")
        self.require(write=name not in _READS)
        return method(self, *given, **named)

    return guarded


for _name, _method in inspect.getmembers(OwnerMemory, inspect.isfunction):
    if not _name.startswith("_"):
        setattr(SharedMemory, _name, _guarded(_name, _method))
