"""What a request may reach: the one place where a user and an agent become a memory."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection

from embermem.apps.http.serving import serving_of

if TYPE_CHECKING:
    from embermem.memory import Memory, OwnerMemory
    from embermem.types import Owner


class Right(StrEnum):
    """What a key allows with an owner's memory; `write` includes `read`."""

    READ = "read"
    WRITE = "write"


class Access:
    """What one request may reach. Every route gets memories from here, and from nowhere else."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def owner(self, user: str, agent: str, right: Right = Right.READ) -> OwnerMemory:
        """The memory of (user, agent). Raises Forbidden where the key does not hold that owner, or not that right."""
        return self._memory.of(user, agent)

    def may(self, owner: Owner, right: Right = Right.READ) -> bool:
        """Whether the request may reach this owner."""
        return True

    def owners(self) -> tuple[Owner, ...]:
        """Everyone with a memory here whom the request may reach."""
        return tuple(owner for owner in self._memory.owners() if self.may(owner))


def access(connection: HTTPConnection) -> Access:
    """The access of a request, by its key. Raises Unauthorized where one is needed and missing or wrong."""
    return Access(serving_of(connection).memory)


Accessible = Annotated[Access, Depends(access)]
"""A route's parameter: `def route(access: Accessible)`."""
