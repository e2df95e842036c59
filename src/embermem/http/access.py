"""What a request may reach: the one place where a user and an agent become a memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection

from embermem import api_keys
from embermem.api_keys import Right as Right
from embermem.http.problems import Forbidden, TooManyRequests, Unauthorized
from embermem.http.serving import serving_of

if TYPE_CHECKING:
    from embermem.core.fields import Field
    from embermem.core.types import Owner
    from embermem.memory import Memory, OwnerMemory
    from embermem.protocols import ApiKey

COOKIE = "ember_key"
"""The cookie by which the inspector's pages send their key: HttpOnly, SameSite=Strict."""


class Access:
    """What one request may reach. Every route gets memories from here, and from nowhere else.

    `key` is the key that the request gave, None where none is needed and none was given: then it may reach everything.
    """

    def __init__(self, memory: Memory, key: ApiKey | None = None) -> None:
        self._memory = memory
        self.key = key

    def owner(self, user: str, agent: str, right: Right = Right.READ) -> OwnerMemory:
        """The memory of (user, agent). Raises Forbidden where the key does not hold that owner, or not that right.

        Nothing is looked up before: the answer is the same whether that owner exists or not. Raises InputError.
        """
        owner = self._memory.of(user, agent)
        if self._memory.read_only and right is Right.WRITE:
            raise Forbidden("this server is read-only: send changes to another server")
        if not self.may(owner.owner, right):
            raise Forbidden("this key does not grant access to this user and agent, or is read-only")
        return owner

    def may(self, owner: Owner, right: Right = Right.READ) -> bool:
        """Whether the request may reach this owner. To change something, the server must write too."""
        if self._memory.read_only and right is Right.WRITE:
            return False
        if self.key is None:
            return True
        return api_keys.covers(self.key, owner.user, owner.agent) and (right is Right.READ or not self.key.read_only)

    def fields(self) -> tuple[Field, ...]:
        """The fields of the application's own. They say nothing of any owner."""
        return self._memory.fields

    def owners(self) -> tuple[Owner, ...]:
        """Everyone with a memory here whom the request may reach."""
        return tuple(owner for owner in self._memory.owners() if self.may(owner))


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
    return Access(serving.memory, key)


def is_stranger(connection: HTTPConnection) -> bool:
    """Whether a request would be told Unauthorized. Counts no request. Raises StoreError."""
    serving, given = serving_of(connection), given_key(connection)
    return serving.require_keys and (given is None or api_keys.verified(given, serving.memory.keys) is None)


def given_key(connection: HTTPConnection) -> str | None:
    """The key that a request gives: by Authorization, X-API-Key or the cookie; of several the first of our form.

    Where no key is required, a token that is not of our form is none: clients of OpenAI always send one, which the
    proxy may pass on. Nor is the cookie asked there: browsers send it to each port of a host, so it may be meant for
    another server.
    """
    required = serving_of(connection).require_keys
    scheme, _, token = connection.headers.get("authorization", "").partition(" ")
    given = [
        token.strip() if scheme.lower() == "bearer" else "",
        connection.headers.get("x-api-key", "").strip(),
        connection.cookies.get(COOKIE, "") if required else "",
    ]
    ours = (one for one in given if one.startswith(api_keys.PREFIX))
    return next(ours, next((one for one in given if one), None) if required else None)


Accessible = Annotated[Access, Depends(access)]
"""A route's parameter: `def route(access: Accessible)`."""
