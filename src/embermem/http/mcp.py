"""The server over HTTP ("streamable HTTP"): whose memory a request reaches is said by its key and its headers.

`X-Ember-User` and `X-Ember-Agent` name the owner; where a key holds one user alone, that is the one. Without a key and
headers it is the default owner. `X-Ember-Shares` names the spaces that are read too, with commas between them, and
`X-Ember-Person-From` the other agent of the user that shares what it knows of the user. Each request stands alone:
nothing is kept between two, so any number of processes may serve one client, and a key that was revoked ends at once.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence, Set
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import anyio.to_thread
from fastapi import FastAPI
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import HTTPConnection, Request
from starlette.routing import Route

from embermem.core.errors import EmberError, InputError, StoreClosed
from embermem.http import frame, problems
from embermem.http.access import Access, Right, access, shares_named
from embermem.mcp.server import server_of

if TYPE_CHECKING:
    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.applications import Starlette
    from starlette.types import Receive, Scope, Send

    from embermem.memory import Memory, OwnerMemory

__all__ = ["AGENT_HEADER", "PATH", "USER_HEADER", "create_app", "mount"]

PATH = "/mcp"
USER_HEADER, AGENT_HEADER = "X-Ember-User", "X-Ember-Agent"
SHARES_HEADER, PERSON_FROM_HEADER = "X-Ember-Shares", "X-Ember-Person-From"
_DEFAULT = "default"
_BOUND = "ember.mcp.bound"
"""Where a request's scope holds whose memory it reaches."""
_GUARDED = TransportSecuritySettings(enable_dns_rebinding_protection=False)
"""The frame's `Guard` keeps foreign pages out, here as on every other route."""


def mount(app: Starlette, memory: Memory, path: str = PATH, *, user: str = _DEFAULT, agent: str = _DEFAULT) -> None:
    """Serve a memory at a path of an application that has our frame, and whose `state.serving` says who may use it.

    `user` and `agent` are those of a request that names none and gives no key. The application's lifespan runs what is
    needed.
    """
    endpoint = _Endpoint(memory, user, agent)
    # POST only: GET is for what a server says unasked, and this one says nothing; each GET would hold a connection.
    path = path.removesuffix("/") or "/"  # the frame serves an address with a slash at its end as that without it
    app.router.routes.insert(0, Route(path, endpoint=endpoint, methods=["POST"], name="mcp"))
    before = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(served: Any) -> AsyncIterator[Any]:
        async with before(served) as state, endpoint.running():
            yield state

    app.router.lifespan_context = lifespan


def create_app(
    memory: Memory,
    *,
    path: str = PATH,
    require_keys: bool = False,
    hosts: Sequence[str] = (),
    user: str = _DEFAULT,
    agent: str = _DEFAULT,
) -> FastAPI:
    """A server of nothing but the protocol, guarded as the whole service is. The caller opens and closes the memory."""
    serving = frame.serving_over(memory, require_keys=require_keys)
    app = FastAPI(
        title="Ember",
        openapi_url=None,
        redirect_slashes=False,
        lifespan=frame.lifespan,
        middleware=frame.middleware(serving, hosts=hosts),
    )
    app.state.serving = serving
    problems.install(app)
    mount(app, memory, path, user=user, agent=agent)
    return app


class _Endpoint:
    """The ASGI application at the path: finds out whose memory a request reaches, and hands it to the SDK."""

    def __init__(self, memory: Memory, user: str, agent: str) -> None:
        self._memory = memory
        self._user, self._agent = user, agent
        self._manager: StreamableHTTPSessionManager | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serves until the block ends. A server and its manager serve once, an application may start again."""
        server = server_of(
            self._memory, _reach, says=lambda error: problems.problem_of(error).detail, middleware=[_bind]
        )
        server.streamable_http_app(stateless_http=True, json_response=True, transport_security=_GUARDED)
        async with server.session_manager.run():
            self._manager = server.session_manager
            try:
                yield
            finally:
                self._manager = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._manager is None:
            raise StoreClosed("the server is starting or stopping")
        try:
            bound = await anyio.to_thread.run_sync(_bound, HTTPConnection(scope), self._user, self._agent)
        except EmberError as error:
            await problems.answer(scope, error)(scope, receive, send)
            return
        await self._manager.handle_request({**scope, _BOUND: bound}, receive, send)


# -------------------------------------------------------------------------------------------- whose memory it is


@dataclass(frozen=True, kw_only=True, slots=True)
class _Bound:
    """Whose memory one request reaches, as far as its access goes."""

    access: Access
    user: str
    agent: str
    shares: tuple[str, ...] = ()
    person_from: str | None = None

    def reached(self, right: Right) -> OwnerMemory:
        """The memory, with what it is bound with."""
        return self.access.owner(self.user, self.agent, right, shares=self.shares, person_from=self.person_from)


_current: ContextVar[_Bound] = ContextVar("ember_mcp_bound")


def _bound(connection: HTTPConnection, default_user: str, default_agent: str) -> _Bound:
    """Whom a request names, else whom its key holds, else the default.

    Raises Unauthorized, Forbidden, TooManyRequests, InputError, StoreError.
    """
    allowed = access(connection)
    user, agent = _named(connection, USER_HEADER), _named(connection, AGENT_HEADER)
    if allowed.key is not None:
        grants = allowed.key.of_users
        user = user or _only({grant.user for grant in grants}, "users", USER_HEADER)
        agents = {grant.agent or _DEFAULT for grant in grants if grant.user in (None, user)}
        agent = agent or _only(agents or {_DEFAULT}, "agents", AGENT_HEADER)
    user, agent = user or default_user, agent or default_agent
    shares = tuple(shares_named(_named(connection, SHARES_HEADER)))
    bound = _Bound(
        access=allowed, user=user, agent=agent, shares=shares, person_from=_named(connection, PERSON_FROM_HEADER)
    )
    bound.reached(Right.READ)
    return bound


def _only(names: Set[str | None] | Set[str], what: str, header: str) -> str:
    """The one name that a key holds. Raises InputError for several, any or none."""
    first = next(iter(names), None)
    if first is None or len(names) > 1:
        raise InputError(f"this key grants access to several {what}: name one with the header {header}")
    return first


def _named(connection: HTTPConnection, header: str) -> str | None:
    """A name from a header, in UTF-8. Raises InputError for bytes that are none."""
    given = connection.headers.get(header)
    if given is None:
        return None
    try:
        return given.encode("latin-1").decode("utf-8")
    except UnicodeError as error:
        raise InputError(f"the header {header} is not UTF-8") from error


async def _bind(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """While one message is handled, its request says whose memory is reached."""
    token = _current.set(cast(Request, ctx.request).scope[_BOUND])
    try:
        return await call_next(ctx)
    finally:
        _current.reset(token)


def _reach(right: Right) -> OwnerMemory:
    return _current.get().reached(right)
