"""Which memories a caller reaches, and what all calls over one store share."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from embermem.compat.mem0.reading import Vectors
from embermem.memory import Memory as Ember

if TYPE_CHECKING:
    from embermem.core.types import Owner
    from embermem.memory import OwnerMemory

NO_USER = "the user"
"""The user of memories that were added without one. No user_id of mem0 holds a space."""


class Reach(Protocol):
    """Which memories of a store a caller reaches."""

    def owner(self, user: str, agent: str, *, write: bool) -> OwnerMemory:
        """The memory of an owner, to read or to write. Raises an error where it is not reached."""

    def may(self, owner: Owner) -> bool:
        """Whether an owner is reached, to read."""

    def owners(self) -> Sequence[Owner]:
        """Every owner that is reached."""


class Whole:
    """All memories of a store."""

    def __init__(self, memory: Ember) -> None:
        self._memory = memory

    def owner(self, user: str, agent: str, *, write: bool) -> OwnerMemory:
        return self._memory.of(user, agent)

    def may(self, owner: Owner) -> bool:
        return True

    def owners(self) -> Sequence[Owner]:
        return tuple(owner for owner in self._memory.owners() if owner.space is None)


class Shared:
    """What all calls over one store share: vectors of texts, and whose an id is. `at_once`: what is added is learnt
    before `add` returns; with a language model it is learnt in the background. Who changes or deletes a memory holds
    `changing`: that stores the rest of its page again, and of two at once each would store what the other deletes."""

    def __init__(self, memory: Ember) -> None:
        self.vectors = Vectors(memory.embed)
        self.owners: dict[str, Owner] = {}
        self.changing = threading.Lock()
        self.at_once = not memory.settings.model
