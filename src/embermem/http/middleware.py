"""What every request goes through: an id, a line in the log, headers, a guard against foreign pages. Plain ASGI."""

from __future__ import annotations

import ipaddress
import logging
import re
import secrets
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fastapi.routing import iter_route_contexts
from starlette.datastructures import Headers, MutableHeaders

from embermem.http.problems import REQUEST_ID, Forbidden, answer
from embermem.http.recent import KEY_ID

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from embermem.http.metrics import Metrics
    from embermem.http.recent import Recent

logger = logging.getLogger(__name__)

_PLAIN_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
_METHODS = _SAFE_METHODS | {"POST", "PUT", "PATCH", "DELETE"}
LIVE_REQUESTS, LIVE_WORKERS = "/operations/requests/live", "/operations/workers/live"
POLLED = frozenset({LIVE_REQUESTS, LIVE_WORKERS})
"""Parts of pages that are asked for every few seconds: no recent requests themselves."""
QUIET = frozenset({"/health", "/ready", "/metrics", *POLLED})
"""Asked by machines every few seconds: logged at level DEBUG."""
_STREAMS = ("text/event-stream", "application/x-ndjson")
"""Types of answers that stay open while something comes: how long is no measure of how quick they are."""
_CLIENT_LEFT = 499
"""The status in log and metrics where the client left before an answer began."""
NO_ROUTE = "(none)"

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    # Not no-referrer: with that, browsers tell "null" as the origin of our own forms.
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class HttpMiddleware:
    """What sees every request by `http`; all else passes."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self.http if scope["type"] == "http" else self._app)(scope, receive, send)

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A request."""
        raise NotImplementedError


class SecurityHeaders(HttpMiddleware):
    """Headers of every answer; what a route has set stays."""

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, with_headers)


class TrailingSlash(HttpMiddleware):
    """An address with a slash at its end is that without it: served at once, since a redirect would lose the method or
    the body with some clients. Only one slash that stands in the address itself counts, none that was encoded."""

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] != "/":
            raw = scope.get("raw_path") or scope["path"].encode()
            if raw.endswith(b"/"):
                scope["path"], scope["raw_path"] = scope["path"][:-1], raw[:-1]
        await self._app(scope, receive, send)


class Watch(HttpMiddleware):
    """Gives each request an id, logs and counts it, and answers for an error that nobody foresaw.

    Log, metrics and the list of recent requests hold no address with its values, no query, body or key: the route's
    template stands for the address.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, recent: Recent) -> None:
        super().__init__(app)
        self._metrics = metrics
        self._recent = recent

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = Headers(scope=scope).get("x-request-id", "")
        request_id = given if _PLAIN_ID.fullmatch(given) else secrets.token_hex(8)
        scope[REQUEST_ID] = request_id
        begun, status, size, stream = time.perf_counter(), None, 0, False

        async def watched(message: Message) -> None:
            nonlocal status, size, stream
            if message["type"] == "http.response.body":
                size += len(message.get("body", b""))
            elif message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = request_id
                stream = headers.get("content-type", "").startswith(_STREAMS)
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except Exception as error:  # whatever it is: it is logged, and the client is told where to look
            logger.error("unexpected error", exc_info=error, extra={"request_id": request_id})
            if status is not None:
                raise
            await answer(scope, error)(scope, receive, watched)
        finally:
            self._ended(scope, request_id, status or _CLIENT_LEFT, time.perf_counter() - begun, size, stream)

    def _ended(self, scope: Scope, request_id: str, status: int, seconds: float, size: int, stream: bool) -> None:
        method = scope["method"] if scope["method"] in _METHODS else "OTHER"
        route = template(scope)
        self._metrics.request(method, route, status, seconds)
        if route not in POLLED:
            self._recent.note(method, route, status, seconds, size, scope.get(KEY_ID), request_id, stream=stream)
        logger.log(
            logging.DEBUG if route in QUIET else logging.INFO,
            "request",
            extra={
                "request_id": request_id,
                "method": method,
                "route": route,
                "status": status,
                "ms": round(seconds * 1000, 1),
            },
        )


def template(scope: Scope) -> str:
    """The template of the route that a request was led to, such as /v1/memories/{memory_id}."""
    endpoint, app = scope.get("endpoint"), scope.get("app")
    if endpoint is None or app is None:
        return NO_ROUTE
    found = _templates(app).get(id(endpoint), ())
    for path, pattern in found:
        if len(found) == 1 or pattern.match(scope["path"]):
            return path
    return "(files)"  # a mounted folder


def _templates(app: FastAPI) -> dict[int, list[tuple[str, re.Pattern[str]]]]:
    made: dict[int, list[tuple[str, re.Pattern[str]]]] | None = getattr(app.state, "templates", None)
    if made is None:
        made = {}
        for route in iter_route_contexts(app.routes):
            if route.endpoint is not None and route.path_format is not None:
                made.setdefault(id(route.endpoint), []).append((route.path_format, route.path_regex))
        app.state.templates = made
    return made


class Guard:
    """Keeps foreign web pages out: a browser on this machine reaches loopback, whichever page it shows.

    Where no key is required, the Host must be a name of loopback or one of `hosts`: a name that a foreign page had
    pointed here (DNS rebinding) is refused. A request that changes something is refused where the browser says that
    another origin sent it; one that reads, unless it is a link that was followed: a page could not see the answer, but
    how long it took tells of what is there. One that brings its key in a header needs no such care: browsers let no
    foreign page do that without asking, and we never consent.
    """

    def __init__(self, app: ASGIApp, hosts: Sequence[str], any_host: bool) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts)
        self._any_host = any_host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            refused = self._refused(scope)
            if refused is not None:
                if scope["type"] == "http":
                    await answer(scope, Forbidden(refused))(scope, receive, send)
                else:
                    await send({"type": "websocket.close", "code": 1008})
                return
        await self._app(scope, receive, send)

    def _refused(self, scope: Scope) -> str | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        name = _name_of(host)
        if not self._any_host and not (is_loopback(name) or name in self._hosts):
            return "the Host header names neither this machine's loopback nor the host that is served; require keys"
        if _key_in_header(headers):
            return None
        if scope.get("method") in _SAFE_METHODS:
            foreign = headers.get("sec-fetch-site") in ("cross-site", "same-site")
            if foreign and headers.get("sec-fetch-mode") != "navigate":
                return "a page of another origin may lead here, and fetch nothing"
            return None
        origin = headers.get("origin")
        if origin is not None and not _same(origin, host):
            return "a page of another origin may not change anything here"
        if headers.get("sec-fetch-site") == "cross-site":
            return "a page of another site may not change anything here"
        return None


def is_loopback(host: str) -> bool:
    """Whether a host is this machine only: localhost, 127.0.0.0/8 or ::1. An address with a zone is none."""
    if host.lower().removesuffix(".") == "localhost":
        return True
    try:
        return "%" not in host and ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _key_in_header(headers: Headers) -> bool:
    return headers.get("authorization", "").lower().startswith("bearer ") or "x-api-key" in headers


_AUTHORITY = re.compile(
    r"(?:\[(?P<v6>[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*)\]|(?P<name>[A-Za-z0-9._-]+))(?::(?P<port>[0-9]{0,5}))?"
)
"""A host as browsers send it: a name, or an address, and a port. No user, no zone, nothing after the brackets."""
_ORIGIN = re.compile(r"(?P<scheme>[a-z]+)://(?P<authority>[^/?#]*)")
_STANDARD_PORTS = {"http": 80, "https": 443}


def _authority(text: str) -> tuple[str, int | None] | None:
    """The name in small letters, without brackets, and the port; None for what is no host and port."""
    found = _AUTHORITY.fullmatch(text)
    if found is None:
        return None
    port = int(found["port"]) if found["port"] else None
    if port is not None and port > 65535:
        return None
    return (found["v6"] or found["name"]).lower(), port


def _name_of(host: str) -> str:
    """The name in a Host header, without port and brackets; empty if it is not one."""
    found = _authority(host)
    return "" if found is None else found[0]


def _same(origin: str, host: str) -> bool:
    """Whether an Origin is of the host that was asked. A proxy may have taken TLS off, so the scheme is not compared;
    a port that is the scheme's own may be left out."""
    found = _ORIGIN.fullmatch(origin)
    standard = None if found is None else _STANDARD_PORTS.get(found["scheme"])
    if found is None or standard is None:
        return False
    ours, theirs = _authority(host), _authority(found["authority"])
    if ours is None or theirs is None:
        return False
    return (ours[0], ours[1] or standard) == (theirs[0], theirs[1] or standard)
