"""A shared space as one user reaches it, and grants."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from embermem.core.errors import NotGranted
from embermem.core.types import Owner
from embermem.owner_memory import OwnerMemory
from embermem.owner_memory.handle import Parts

__all__ = ["SharedMemory"]

_READS = frozenset(
    (
        *("recall", "search", "overview", "pages", "page", "utterance", "utterances", "segments", "segment", "heat"),
        *("chains", "persona", "people", "facts", "instructions", "past_facts", "fact", "traits", "profile"),
        *("agent_profile", "changes", "diff", "change", "history", "state", "stats", "links", "why", "retention"),
        *("conflicts", "undo_plan"),
    )
)
"""What a grant to read allows. All else writes, visits too."""
_OF_WHO_RUNS_IT = frozenset(("forget_owner", "readmit"))
"""What no grant allows: a space is forgotten whole by who runs the store."""


class SharedMemory(OwnerMemory):
    """A space as a user reaches it to whom it was granted: the methods of `OwnerMemory`.

    Each call looks at the grant first, in the store: one that was revoked ends at once, in all processes. Raises
    NotGranted without one, whether the space exists or not; a grant to read allows reads only, without visits. What is
    added here is said by the user.
    """

    def __init__(self, parts: Parts, space: Owner, reader: Owner) -> None:
        super().__init__(parts, space)
        self.reader = reader

    def _speaks_as(self) -> Owner:
        return self.reader

    def may(self, *, write: bool) -> bool:
        """Whether the user may read the space now, or write to it."""
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
