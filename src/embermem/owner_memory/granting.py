"""Spaces of a store: their memories, and to whom they are granted."""

from __future__ import annotations

from embermem.arguments import checked
from embermem.core import ids, messages
from embermem.core.errors import InputError, NotFound
from embermem.core.types import NO_USER, Share
from embermem.owner_memory import OwnerMemory
from embermem.owner_memory.handle import Parts

__all__ = ["Granting"]


@checked
class Granting:
    """Spaces and grants. Whoever has this object runs the store, and may grant."""

    _parts: Parts

    def space(self, name: str) -> OwnerMemory:
        """Return the memory of a shared space, for who runs the store: no grant is asked. What is added without a name
        is said by the space. Writes nothing; a space is there once something was added or granted."""
        return OwnerMemory(self._parts, messages.space(name))

    def spaces(self) -> tuple[str, ...]:
        """Return the names of all spaces in the store, sorted."""
        return tuple(sorted(owner.agent for owner in self._parts.admin.owners(NO_USER)))

    def grant(self, space: str, *, user: str | None, agent: str | None = None, write: bool = False) -> Share:
        """Let a user read a space, with one agent or with any; with `write` also add to it, correct and forget.
        `user=None` is everybody. Returns the grant.

        It takes the place of a standing grant to the same user and agent, whose end is kept; one that says the same
        stays.
        """
        owner, (named, by) = messages.space(space), _reader(user, agent)
        made = Share(id=ids.new_id("g"), user=named, agent=by, write=write, granted_at=self._parts.clock())
        return self._parts.admin.share(owner, made)

    def revoke(self, space: str, *, user: str | None, agent: str | None = None) -> tuple[Share, ...]:
        """End a user's grants of a space, those for one agent or all; `user=None` ends what everybody was granted.
        Returns the grants that ended. Raises NotFound if none stands.

        It holds from the next call on, in all processes. What was granted to everybody stays.
        """
        owner, (named, by) = messages.space(space), _reader(user, agent)
        ended = self._parts.admin.end_shares(owner.id, named, by, self._parts.clock())
        if not ended:
            raise NotFound(f"{space!r} is not granted to {user or 'everybody'}; `grants` lists to whom it is")
        return ended

    def grants(self, space: str, *, past: bool = False) -> tuple[Share, ...]:
        """Return the grants of a space, oldest first; with `past`, also those that were revoked, with the times."""
        return tuple(one for one in self._parts.admin.shares(messages.space(space).id) if past or one.stands)


def _reader(user: str | None, agent: str | None) -> tuple[str | None, str | None]:
    """Whom a grant is to. Raises InputError."""
    if user is None and agent is not None:
        raise InputError(f"agent = {agent!r} is given without a user; name the user too")
    named = None if user is None else messages.name(user, "user")
    return named, None if agent is None else messages.name(agent, "agent")
