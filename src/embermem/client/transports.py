"""The two clients of the HTTP API: `Client` waits, `AsyncClient` awaits. All else is the same code."""

from __future__ import annotations

import asyncio
import functools
import math
import secrets
import ssl
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from datetime import UTC, datetime
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar
from urllib.parse import urlsplit

from embermem.client import exchange, requests
from embermem.client.calls import OwnerCalls
from embermem.client.exchange import Broken, Pause, Reply, Request, Steps
from embermem.client.handles import Awaits, Sends
from embermem.client.requests import Reached
from embermem.core import messages
from embermem.core.errors import ConfigError, StoreClosed
from embermem.core.extras import needing
from embermem.core.fields import Field
from embermem.core.types import Owner, Share

if TYPE_CHECKING:
    import httpx2

__all__ = ["AsyncClient", "AsyncOwnerClient", "Client", "OwnerClient"]

TIMEOUT_S = 30.0
"""Seconds for each wait on the server. A recall takes milliseconds; one behind a busy disk takes seconds."""
RETRIES = 3
"""Tries after the first. With pauses that double they bridge a restart of two seconds."""

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
        self._http: httpx2.Client = _httpx2().Client(**_settings(url, key, timeout_s, retries))
        self._retries = retries

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
            return _reply(self._http.request(act.method, act.path, **_arguments(act)))
        except _httpx2().RequestError as error:
            return _broken(error)


class AsyncClient:
    """`Client` for asyncio: the same, awaited. `async with` closes it."""

    def __init__(
        self, url: str, *, key: str | None = None, timeout_s: float = TIMEOUT_S, retries: int = RETRIES
    ) -> None:
        self._http: httpx2.AsyncClient = _httpx2().AsyncClient(**_settings(url, key, timeout_s, retries))
        self._retries = retries

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
            return _reply(await self._http.request(act.method, act.path, **_arguments(act)))
        except _httpx2().RequestError as error:
            return _broken(error)


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


class AsyncOwnerClient(OwnerCalls, Awaits):
    """One owner's memory on a server, awaited: the methods of `AsyncOwnerMemory`, as far as the API has them."""

    _method_of = staticmethod(_awaited)

    def __init__(self, client: AsyncClient, owner: Owner, reached: Reached) -> None:
        super().__init__(owner, _new_key, reached)
        self._client = client
        self._calls = OwnerCalls(owner, _new_key, reached)


# --------------------------------------------------------------------------------------------------------- httpx2


def _httpx2() -> ModuleType:
    with needing("client", "the client"):
        import httpx2
    return httpx2


def _settings(url: str, key: str | None, timeout_s: float, retries: int) -> dict[str, Any]:
    """The arguments of either kind of connection. Raises ConfigError."""
    refusal = ConfigError("url is not an http:// or https:// address, such as http://127.0.0.1:8765")
    for name, one in {"url": url, "key": key or ""}.items():
        if not isinstance(one, str):
            raise ConfigError(f"{name} is {type(one).__name__}; give a text")
    if isinstance(timeout_s, bool) or not isinstance(timeout_s, (int, float)) or not 0 < timeout_s < math.inf:
        raise ConfigError(f"timeout_s = {timeout_s!r} is not allowed; give seconds, more than 0")
    if isinstance(retries, bool) or not isinstance(retries, int) or retries < 0:
        raise ConfigError(f"retries = {retries!r} is not allowed; give a whole number from 0")
    try:
        address = urlsplit(url)
        _ = address.port  # read here for what it raises
    except ValueError as error:
        raise refusal from error
    if address.scheme not in ("http", "https") or not address.hostname:
        raise refusal
    if address.username is not None or address.password is not None:
        raise ConfigError("the url must not contain a user or password; give key")
    if key is not None and not (key and key.isascii() and key.isprintable()):
        raise ConfigError("key is empty, or holds a character that no header may hold")
    headers = {"Accept": "application/json"} | ({} if key is None else {"Authorization": f"Bearer {key}"})
    return {
        "base_url": url,
        "headers": headers,
        # Over http no certificate is asked for, and reading the known ones takes longer than a request.
        "verify": ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if address.scheme == "http" else True,
        "timeout": timeout_s,
        "trust_env": False,
        "follow_redirects": False,
    }


def _arguments(request: Request) -> dict[str, Any]:
    """Raises InputError for a parameter that is no text."""
    for name, value in request.params.items():
        for one in value if isinstance(value, list) else (value,):
            messages.checked(one, name, sys.maxsize)
    kind = {} if request.body is None else {"Content-Type": "application/json"}
    return {"params": request.params, "content": request.body, "headers": {**kind, **request.headers}}


def _reply(response: httpx2.Response) -> Reply:
    return Reply(status=response.status_code, headers=response.headers, body=response.content)


def _broken(error: httpx2.RequestError) -> Broken:
    httpx2 = _httpx2()
    unsent = isinstance(error, (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout))
    late = isinstance(error, httpx2.TimeoutException)
    said = "did not answer in time" if late else "cannot be reached" if unsent else "broke off"
    return Broken(why=f"the server at {error.request.url.netloc.decode()} {said}", sent=not unsent, late=late)


def _now() -> datetime:
    return datetime.now(UTC)


def _closed() -> StoreClosed:
    return StoreClosed("this client was closed; make another")


def _new_key() -> str:
    """A key for one addition: 16 random bytes."""
    return secrets.token_hex(16)
