"""Requests that name an owner, and paginated lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import fields as parts_of
from types import MappingProxyType
from typing import Any, Protocol, TypeVar
from urllib.parse import quote

from embermem.client import arguments, exchange
from embermem.client.exchange import Request, Steps, read
from embermem.client.handles import Handle
from embermem.core import messages
from embermem.core.fields import Field
from embermem.core.types import Fact, Owner, Share
from embermem.wire import answers, memories
from embermem.wire.mapping import from_record

MOST_AT_ONCE = 200
"""Items asked for at once where a list comes in parts: as many as the API gives."""

_Item = TypeVar("_Item")
_Result = TypeVar("_Result", covariant=True)


class _Part(Protocol[_Result]):
    """A part of a list."""

    @property
    def results(self) -> Sequence[_Result]: ...
    @property
    def next_cursor(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Reached:
    """What a handle reaches beside the owner's memory, or (`space`) in place of it."""

    shares: Sequence[str] = ()
    person_from: str | None = None
    space: str | None = None


class OwnerRequests(Handle):
    """Requests for one owner's memory over the HTTP API. `new_key` returns a unique idempotency key."""

    def __init__(self, owner: Owner, new_key: Callable[[], str], reached: Reached) -> None:
        self.owner = owner
        self._owner = {"user_id": owner.user, "agent_id": owner.agent}
        if reached.space is not None:
            self._owner["space"] = reached.space
        self._bound: dict[str, object] = (
            {"shares": shares} if (shares := arguments.several(reached.shares, "shares")) else {}
        )
        if reached.person_from is not None:
            self._bound["person_from"] = reached.person_from
        self._new_key = new_key

    def _get(self, path: str, params: Mapping[str, str] = MappingProxyType({}), *, bound: bool = False) -> Request:
        """With `bound`, of what the handle is bound with too."""
        named: Mapping[str, Any] = self._bound if bound else {}
        return Request(method="GET", path=path, params={**self._owner, **params, **named}, repeatable=True)

    def _post(self, path: str, fields: Mapping[str, object], *, repeatable: bool = False) -> Request:
        body = exchange.encoded({**fields, **self._owner})
        return Request(method="POST", path=path, body=body, repeatable=repeatable)

    def _write(self, path: str, fields: Mapping[str, object], key: str | None, *, method: str = "POST") -> Request:
        """A request that changes something. It carries a key, the caller's or a new one: a lost answer is asked for
        again, and nothing is done twice."""
        body = exchange.encoded({**fields, **self._owner})
        return Request(method=method, path=path, headers=self._keyed(key), body=body, repeatable=True)

    def _delete(self, path: str, params: Mapping[str, str], dry_run: bool, key: str | None = None) -> Request:
        dry = {"dry_run": "true"} if dry_run else {}
        given = {**self._owner, **params, **dry}
        headers = {} if dry_run else self._keyed(key)
        return Request(method="DELETE", path=path, params=given, headers=headers, repeatable=True)

    def _keyed(self, key: str | None) -> Mapping[str, str]:
        return {"Idempotency-Key": self._new_key() if key is None else arguments.header(key)}

    def _list(
        self, path: str, filters: Mapping[str, str | None], kind: type[_Part[_Item]], limit: int | None = None
    ) -> Steps[list[_Item]]:
        given = {name: value for name, value in filters.items() if value is not None}
        return (yield from _listed(path, {**self._owner, **given}, kind, limit))


def owners() -> Steps[tuple[Owner, ...]]:
    """Everyone with a memory on the server whom the key may reach."""
    found = yield from _listed("/v1/owners", {}, answers.Owners)
    return tuple(messages.owner(one.user_id, one.agent_id) for one in found)


def fields() -> Steps[tuple[Field, ...]]:
    """The fields of the application's own that the server's memory works with."""
    found = read((yield Request(method="GET", path="/v1/fields", repeatable=True)), answers.Fields)
    return tuple(Field(**{part.name: getattr(one, part.name) for part in parts_of(one)}) for one in found.results)


def spaces() -> Steps[tuple[str, ...]]:
    """The names of the spaces that the key may read."""
    return read((yield Request(method="GET", path="/v1/spaces", repeatable=True)), answers.Spaces).results


def grant(space: str, *, user: str | None, agent: str | None = None, write: bool = False) -> Steps[Share]:
    """Let a user read a space, or write to it too; `user=None` is everybody."""
    body = exchange.encoded({"user_id": user, "agent_id": agent, "write": write})
    answer = yield Request(method="POST", path=_grants(space), body=body, repeatable=True)
    return from_record(Share, read(answer, memories.ShareItem))


def revoke(space: str, *, user: str | None, agent: str | None = None) -> Steps[tuple[Share, ...]]:
    """End a user's grants of a space; the grants that ended."""
    named = {"user_id": user, "agent_id": agent}
    params = {name: value for name, value in named.items() if value is not None}
    return _shares((yield Request(method="DELETE", path=_grants(space), params=params)))


def grants(space: str, *, past: bool = False) -> Steps[tuple[Share, ...]]:
    """The grants of a space; with `past` also those that were revoked."""
    params = {"past": "true"} if past else {}
    return _shares((yield Request(method="GET", path=_grants(space), params=params, repeatable=True)))


def _grants(space: str) -> str:
    return f"/v1/spaces/{quote(messages.space(space).agent, safe='')}/grants"


def _shares(answer: bytes) -> tuple[Share, ...]:
    return tuple(from_record(Share, one) for one in read(answer, answers.Shares).results)


def _listed(
    path: str, params: Mapping[str, str], kind: type[_Part[_Item]], limit: int | None = None
) -> Steps[list[_Item]]:
    """The items of a list that comes in parts, or its first `limit`, in the order of the API."""
    if limit is not None:
        messages.whole(limit, "limit", 0)
    found: list[_Item] = []
    cursor: dict[str, str] = {}
    while limit is None or len(found) < limit:
        wanted = MOST_AT_ONCE if limit is None else min(MOST_AT_ONCE, limit - len(found))
        asked = {**params, **cursor, "limit": str(wanted)}
        part = read((yield Request(method="GET", path=path, params=asked, repeatable=True)), kind)
        found += part.results
        if part.next_cursor is None:
            break
        cursor = {"cursor": part.next_cursor}
    return found


def fact_of(answer: bytes) -> Fact:
    """The fact in an answer that is a fact."""
    return from_record(Fact, read(answer, memories.FactItem))
