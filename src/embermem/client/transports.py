"""The two clients of the HTTP API: `Client` waits, `AsyncClient` awaits. All else is the same code."""

from __future__ import annotations

import asyncio
import functools
import secrets
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterator, Sequence
from contextlib import aclosing, closing
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from embermem.client import connecting, exchange, requests
from embermem.client.calls import OwnerCalls
from embermem.client.exchange import Broken, Pause, Reply, Request, Steps
from embermem.client.following import Following
from embermem.client.handles import Awaits, Sends
from embermem.client.requests import Reached
from embermem.core import messages
from embermem.core.errors import StoreClosed
from embermem.core.fields import Field
from embermem.core.messages import At
from embermem.core.types import Event, Owner, Share

if TYPE_CHECKING:
    import httpx2

    from embermem.core.changes import Change

__all__ = ["AsyncClient", "AsyncOwnerClient", "Client", "OwnerClient"]

TIMEOUT_S = 30.0
"""Seconds for each wait on the server. A recall takes milliseconds; one behind a busy disk takes seconds."""
RETRIES = 3
"""Tries after the first. With pauses that double they bridge a restart of two seconds."""

_AT_ONCE = 100
"""Changes read at once."""
_LONGEST_WAIT_S = 60.0
"""So long at most the server waits for changes."""
_ENDED: Reply | Broken = Broken(why="the server ended the stream", sent=True, late=False)

_P = ParamSpec("_P")
_T = TypeVar("_T")


class Client:
    """A server of Ember, at a URL such as http://127.0.0.1:8765, reached with a key where it asks for one.

    `timeout_s` is for each wait on the server; `retries` is how often a request that can be repeated is sent again:
    reads, and adds, which carry a key. Connections go to this URL alone: proxies that the environment names are not
    used, and redirects are not followed. Safe to use from several threads. `with` closes it.

    Raises ConfigError for an argument that cannot be, and where the package httpx2 is not installed.
    """

    def __init__(
        self, url: str, *, key: str | None = None, timeout_s: float = TIMEOUT_S, retries: int = RETRIES
    ) -> None:
        self._http: httpx2.Client = connecting.httpx2_module().Client(
            **connecting.settings(url, key, timeout_s, retries)
        )
        self._retries = retries
        self._wait_s = min(_LONGEST_WAIT_S, timeout_s / 2)

    def of(
        self,
        user: str,
        agent: str = "default",
        *,
        shares: Sequence[str] = (),
        person_from: str | None = None,
        space: str | None = None,
    ) -> OwnerClient:
        """The memory of one (user, agent) pair there: the handle through which everything goes. Asks nothing.

        `shares` and `person_from` as in `Memory.of`; with `space` it is that shared space in place of the user's own
        memory, as it was granted to them. Calls raise NotGranted for what was not granted.
        """
        return OwnerClient(self, messages.owner(user, agent), Reached(shares, person_from, space))

    def owners(self) -> tuple[Owner, ...]:
        """Everyone with a memory there whom the key may reach."""
        return self._run(requests.owners())

    def fields(self) -> tuple[Field, ...]:
        """The fields of the application's own that the memory there works with."""
        return self._run(requests.fields())

    def spaces(self) -> tuple[str, ...]:
        """The names of the spaces there that the key may read."""
        return self._run(requests.spaces())

    def grant(self, space: str, *, user: str | None, agent: str | None = None, write: bool = False) -> Share:
        """Let a user read a space, or write to it too, as `Memory.grant`; the key must allow granting it."""
        return self._run(requests.grant(space, user=user, agent=agent, write=write))

    def revoke(self, space: str, *, user: str | None, agent: str | None = None) -> tuple[Share, ...]:
        """End a user's grants of a space, as `Memory.revoke`."""
        return self._run(requests.revoke(space, user=user, agent=agent))

    def grants(self, space: str, *, past: bool = False) -> tuple[Share, ...]:
        """The grants of a space, as `Memory.grants`."""
        return self._run(requests.grants(space, past=past))

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self, steps: Steps[_T]) -> _T:
        acts = exchange.acts(steps, self._retries, _now)
        try:
            act = next(acts)
            while True:
                act = acts.send(self._done(act))
        except StopIteration as done:
            result: _T = done.value
            return result

    def _done(self, act: Request | Pause) -> Reply | Broken | None:
        """What came of a request; of a pause, nothing."""
        if isinstance(act, Pause):
            time.sleep(act.seconds)
            return None
        if self._http.is_closed:
            raise _closed()
        try:
            return connecting.reply(self._http.request(act.method, act.path, **connecting.sent(act)))
        except connecting.httpx2_module().RequestError as error:
            return connecting.broken(error)

    def _follow(self, request: Request, since: str | None) -> Generator[Event, None, None]:
        following = Following(request, since, self._retries, _now)
        limit = connecting.patient(self._http.timeout)
        while True:
            if self._http.is_closed:
                raise _closed()
            asked, outcome = following.request(), _ENDED
            try:
                with self._http.stream(asked.method, asked.path, **connecting.sent(asked), timeout=limit) as got:
                    if got.status_code != 200:
                        got.read()
                        outcome = connecting.reply(got)
                    else:
                        for line in got.iter_lines():
                            if (event := following.line(line)) is not None:
                                yield event
            except connecting.httpx2_module().RequestError as error:
                outcome = connecting.broken(error)
            time.sleep(following.pause(outcome))


class AsyncClient:
    """`Client` for asyncio: the same, awaited. `async with` closes it."""

    def __init__(
        self, url: str, *, key: str | None = None, timeout_s: float = TIMEOUT_S, retries: int = RETRIES
    ) -> None:
        self._http: httpx2.AsyncClient = connecting.httpx2_module().AsyncClient(
            **connecting.settings(url, key, timeout_s, retries)
        )
        self._retries = retries
        self._wait_s = min(_LONGEST_WAIT_S, timeout_s / 2)

    def of(
        self,
        user: str,
        agent: str = "default",
        *,
        shares: Sequence[str] = (),
        person_from: str | None = None,
        space: str | None = None,
    ) -> AsyncOwnerClient:
        """The memory of one (user, agent) pair there: the handle through which everything goes. Asks nothing.

        `shares` and `person_from` as in `Memory.of`; with `space` it is that shared space in place of the user's own
        memory, as it was granted to them. Calls raise NotGranted for what was not granted.
        """
        return AsyncOwnerClient(self, messages.owner(user, agent), Reached(shares, person_from, space))

    async def owners(self) -> tuple[Owner, ...]:
        """Everyone with a memory there whom the key may reach."""
        return await self._run(requests.owners())

    async def fields(self) -> tuple[Field, ...]:
        """The fields of the application's own that the memory there works with."""
        return await self._run(requests.fields())

    async def spaces(self) -> tuple[str, ...]:
        """The names of the spaces there that the key may read."""
        return await self._run(requests.spaces())

    async def grant(self, space: str, *, user: str | None, agent: str | None = None, write: bool = False) -> Share:
        """Let a user read a space, or write to it too, as `Memory.grant`; the key must allow granting it."""
        return await self._run(requests.grant(space, user=user, agent=agent, write=write))

    async def revoke(self, space: str, *, user: str | None, agent: str | None = None) -> tuple[Share, ...]:
        """End a user's grants of a space, as `Memory.revoke`."""
        return await self._run(requests.revoke(space, user=user, agent=agent))

    async def grants(self, space: str, *, past: bool = False) -> tuple[Share, ...]:
        """The grants of a space, as `Memory.grants`."""
        return await self._run(requests.grants(space, past=past))

    async def aclose(self) -> None:
        """Let go of the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _run(self, steps: Steps[_T]) -> _T:
        acts = exchange.acts(steps, self._retries, _now)
        try:
            act = next(acts)
            while True:
                act = acts.send(await self._done(act))
        except StopIteration as done:
            result: _T = done.value
            return result

    async def _done(self, act: Request | Pause) -> Reply | Broken | None:
        """What came of a request; of a pause, nothing."""
        if isinstance(act, Pause):
            await asyncio.sleep(act.seconds)
            return None
        if self._http.is_closed:
            raise _closed()
        try:
            return connecting.reply(await self._http.request(act.method, act.path, **connecting.sent(act)))
        except connecting.httpx2_module().RequestError as error:
            return connecting.broken(error)

    async def _follow(self, request: Request, since: str | None) -> AsyncGenerator[Event, None]:
        following = Following(request, since, self._retries, _now)
        limit = connecting.patient(self._http.timeout)
        while True:
            if self._http.is_closed:
                raise _closed()
            asked, outcome = following.request(), _ENDED
            try:
                async with self._http.stream(asked.method, asked.path, **connecting.sent(asked), timeout=limit) as got:
                    if got.status_code != 200:
                        await got.aread()
                        outcome = connecting.reply(got)
                    else:
                        async for line in got.aiter_lines():
                            if (event := following.line(line)) is not None:
                                yield event
            except connecting.httpx2_module().RequestError as error:
                outcome = connecting.broken(error)
            await asyncio.sleep(following.pause(outcome))


# ------------------------------------------------------------------------------------------------ one owner's memory


def _sent(call: Callable[Concatenate[OwnerCalls, _P], Steps[_T]]) -> Callable[Concatenate[OwnerClient, _P], _T]:
    """The call, run on a connection; its name, parameters and documentation stay."""

    @functools.wraps(call)
    def run(self: OwnerClient, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        return self._client._run(call(self._calls, *args, **kwargs))

    return run


def _awaited(
    call: Callable[Concatenate[OwnerCalls, _P], Steps[_T]],
) -> Callable[Concatenate[AsyncOwnerClient, _P], Coroutine[Any, Any, _T]]:
    """The call, awaited on a connection."""

    @functools.wraps(call)
    async def run(self: AsyncOwnerClient, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        return await self._client._run(call(self._calls, *args, **kwargs))

    return run


class OwnerClient(OwnerCalls, Sends):
    """One owner's memory on a server: the methods of `OwnerMemory`, as far as the API has them."""

    _method_of = staticmethod(_sent)

    def __init__(self, client: Client, owner: Owner, reached: Reached) -> None:
        super().__init__(owner, _new_key, reached)
        self._client = client
        self._calls = OwnerCalls(owner, _new_key, reached)

    def standing(self) -> Event:
        """Return where the memory stands: an event `state`, whose position is where `events` begins."""
        with closing(self._client._follow(self._get("/v1/events"), None)) as events:
            return next(events)

    def events(self, since: str) -> Iterator[Event]:
        """Yield what came after a position ("seq.revision") and what comes, without end: ids, counts and causes,
        without text. A lost connection is made again. Raises InputError for what is no position."""
        return self._client._follow(self._get("/v1/events"), since)

    def watch(self, since: int | At = None) -> Iterator[Change]:
        """Yield changes as they are made, without end: those after a number or a time, by default after now. A reader
        that stopped goes on from the last `no`."""
        if isinstance(since, int):
            return self._watched((), since)
        now = self.standing().position.revision
        return self._watched(() if since is None else self.changes(since, limit=_AT_ONCE), now)

    def _watched(self, some: Sequence[Change], last: int) -> Iterator[Change]:
        while True:
            yield from some
            last = some[-1].no if some else last
            some = self.changes(last, limit=_AT_ONCE, wait_s=self._client._wait_s)


class AsyncOwnerClient(OwnerCalls, Awaits):
    """One owner's memory on a server, awaited: the methods of `AsyncOwnerMemory`, as far as the API has them."""

    _method_of = staticmethod(_awaited)

    def __init__(self, client: AsyncClient, owner: Owner, reached: Reached) -> None:
        super().__init__(owner, _new_key, reached)
        self._client = client
        self._calls = OwnerCalls(owner, _new_key, reached)

    async def standing(self) -> Event:
        """Return where the memory stands, as `OwnerClient.standing`."""
        async with aclosing(self._client._follow(self._get("/v1/events"), None)) as events:
            return await anext(events)

    async def events(self, since: str) -> AsyncGenerator[Event, None]:
        """Yield what came after a position and what comes, as `OwnerClient.events`. `aclose` lets
        go of the connection, as the end of `contextlib.aclosing` does."""
        async with aclosing(self._client._follow(self._get("/v1/events"), since)) as events:
            async for event in events:
                yield event

    async def watch(self, since: int | At = None) -> AsyncGenerator[Change, None]:
        """Yield changes as they are made, as `OwnerClient.watch`."""
        last = since if isinstance(since, int) else (await self.standing()).position.revision
        some: Sequence[Change] = (
            () if since is None or isinstance(since, int) else await self.changes(since, limit=_AT_ONCE)
        )
        while True:
            for change in some:
                yield change
            last = some[-1].no if some else last
            some = await self.changes(last, limit=_AT_ONCE, wait_s=self._client._wait_s)


def _now() -> datetime:
    return datetime.now(UTC)


def _closed() -> StoreClosed:
    return StoreClosed("this client was closed; make another")


def _new_key() -> str:
    """A key for one addition: 16 random bytes."""
    return secrets.token_hex(16)
