"""What a request may reach: the one place where a user and an agent become a memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection

from embermem import api_keys
from embermem.api_keys import Right as Right
from embermem.core import messages
from embermem.http.problems import Forbidden, TooManyRequests, Unauthorized
from embermem.http.recent import KEY_ID
from embermem.http.serving import serving_of
from embermem.owner_memory.sharing import SharedMemory
from embermem.protocols import OwnerOrder

if TYPE_CHECKING:
    from embermem.core.fields import Field
    from embermem.core.types import Owner
    from embermem.memory import Memory, OwnerMemory
    from embermem.protocols import ApiKey, Grant, OwnerEntry

COOKIE = "ember_key"
"""The cookie by which the inspector's pages send their key: HttpOnly, SameSite=Strict."""


class Access:
    """What one request may reach. Every route gets memories from here, and from nowhere else.

    `key` is the key that the request gave, None where none is needed and none was given: then it may reach everything.
    """

    def __init__(self, memory: Memory, key: ApiKey | None = None) -> None:
        self._memory = memory
        self.key = key

    def owner(
        self,
        user: str,
        agent: str,
        right: Right = Right.READ,
        *,
        space: str | None = None,
        shares: Sequence[str] = (),
        person_from: str | None = None,
    ) -> OwnerMemory:
        """The memory of (user, agent), bound with the spaces `shares` and another agent of the user's; or with `space`
        that space, as this user reaches it. Raises Forbidden where the key does not hold that owner, or not that right.

        Nothing is looked up before: the answer is the same whether that owner or space exists or not. Then the grants
        to the user are: raises NotGranted. Raises InputError.
        """
        asked = messages.owner(user, agent)
        if self._memory.read_only and right is Right.WRITE:
            raise Forbidden("this server is read-only: send changes to another server")
        self._refuse(asked, Right.READ if space is not None else right, "this user and agent")
        for name in shares:
            self._refuse(messages.space(name), Right.READ, f"the space {name}")
        if space is not None:
            self._refuse(messages.space(space), right, f"the space {space}")
        names = dict.fromkeys(shares if space is None else (space,))
        bound = self._memory.of(user, agent, shares=tuple(names), person_from=person_from)
        for shared in bound.shared.values():
            if isinstance(shared, SharedMemory) and not self.may(shared.owner, Right.WRITE):
                shared.only_read()
        return bound if space is None else bound.shared[space]

    def space(self, name: str, *, change: bool = True) -> Memory:
        """The memory that holds a space's grants, for a key that may grant it, to `change` or to read them. Raises
        Forbidden, InputError."""
        if change and self._memory.read_only:
            raise Forbidden("this server is read-only: send changes to another server")
        if self.key is not None and not api_keys.covers(self.key, messages.space(name), Right.GRANT):
            raise Forbidden(f"this key does not allow granting the space {name}, or is read-only")
        return self._memory

    def may(self, owner: Owner, right: Right = Right.READ) -> bool:
        """Whether the request may reach this owner. To change something, the server must write too."""
        if self._memory.read_only and right is not Right.READ:
            return False
        return self.key is None or api_keys.covers(self.key, owner, right)

    def operates(self, right: Right = Right.READ) -> bool:
        """Whether the request may see what concerns the whole server, such as its keys and settings, or with WRITE
        change it: with a key of all owners, or where none is needed."""
        if self._memory.read_only and right is not Right.READ:
            return False
        return self.key is None or (
            api_keys.is_for_all(self.key) and not (self.key.read_only and right is not Right.READ)
        )

    def fields(self) -> tuple[Field, ...]:
        """The fields of the application's own. They say nothing of any owner."""
        return self._memory.fields

    def owners(self) -> tuple[Owner, ...]:
        """Every user's memory here that the request may reach."""
        return tuple(owner for owner in self._memory.owners() if owner.space is None and self.may(owner))

    @property
    def among(self) -> tuple[Grant, ...] | None:
        """What bounds the owners that the request may reach; None: nothing does."""
        return None if self.key is None or api_keys.is_for_all(self.key) else self.key.grants

    def find_owners(
        self,
        text: str = "",
        *,
        order: OwnerOrder | str = OwnerOrder.RECENT,
        limit: int = 50,
        after: str | None = None,
    ) -> tuple[OwnerEntry, ...]:
        """`Memory.find_owners`, among the owners that the request may reach. Raises InputError."""
        return self._memory.find_owners(text, order=order, limit=limit, after=after, among=self.among)

    def space_whole(self, name: str, right: Right = Right.READ) -> OwnerMemory:
        """The memory of a space as those reach it who run the server: no grant to a user is asked. Raises Forbidden,
        InputError."""
        if not self.operates(right):
            raise Forbidden("a space is looked at as a whole with a key for all owners; others read it as their user")
        return self._memory.space(name)

    @property
    def knows_spaces(self) -> bool:
        """Whether the request may reach any space, if there is one."""
        return self.among is None or any(grant.space is not None for grant in self.among)

    def spaces(self) -> tuple[str, ...]:
        """The spaces here that the request may read."""
        return tuple(name for name in self._memory.spaces() if self.may(messages.space(name)))

    def _refuse(self, owner: Owner, right: Right, what: str) -> None:
        if not self.may(owner, right):
            raise Forbidden(f"this key does not grant access to {what}, or is read-only")


def asker_of(memory: OwnerMemory) -> Owner:
    """Whose names the items of an answer carry: who asked, also for items of a shared space."""
    return memory.reader if isinstance(memory, SharedMemory) else memory.owner


def access(connection: HTTPConnection) -> Access:
    """The access of a request, by its key. Raises Unauthorized where one is needed and missing or wrong, and
    TooManyRequests. A key is looked up at each request: one that was revoked ends at once, in all processes."""
    allowed = access_uncounted(connection)
    wait = 0.0 if allowed.key is None else serving_of(connection).rate.take(allowed.key.id)
    if wait > 0.0:
        raise TooManyRequests("too many requests with this key", wait)
    return allowed


def access_uncounted(connection: HTTPConnection) -> Access:
    """The same for a request that was counted before, or is not a request yet. Raises Unauthorized."""
    serving = serving_of(connection)
    given = given_key(connection)
    if given is None:
        if serving.require_keys:
            raise Unauthorized("this server needs a key: send it as `Authorization: Bearer ember_…`")
        return Access(serving.memory)
    key = api_keys.verified(given, serving.memory.keys)
    if key is None:
        raise Unauthorized("this key is unknown or was revoked")
    connection.scope[KEY_ID] = key.id
    return Access(serving.memory, key)


def is_stranger(connection: HTTPConnection) -> bool:
    """Whether a request would be told Unauthorized. Counts no request. Raises StoreError."""
    serving, given = serving_of(connection), given_key(connection)
    return serving.require_keys and (given is None or api_keys.verified(given, serving.memory.keys) is None)


def shares_named(header: str | None) -> list[str]:
    """The spaces that a header names, with commas between them."""
    return [name.strip() for name in (header or "").split(",") if name.strip()]


def given_key(connection: HTTPConnection) -> str | None:
    """The key that a request gives: by Authorization, X-API-Key or the cookie; of several the first of our form.

    Where no key is required, a token that is not of our form is none: clients of OpenAI always send one, which the
    proxy may pass on. Nor is the cookie asked there: browsers send it to each port of a host, so it may be meant for
    another server.
    """
    required = serving_of(connection).require_keys
    scheme, _, token = connection.headers.get("authorization", "").partition(" ")
    given = [
        token.strip() if scheme.lower() in ("bearer", "token") else "",
        connection.headers.get("x-api-key", "").strip(),
        connection.cookies.get(COOKIE, "") if required else "",
    ]
    ours = (one for one in given if one.startswith(api_keys.PREFIX))
    return next(ours, next((one for one in given if one), None) if required else None)


Accessible = Annotated[Access, Depends(access)]
"""A route's parameter: `def route(access: Accessible)`."""
