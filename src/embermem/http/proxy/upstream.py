"""The server that answers, one for each family of protocols: its address, the key for it, and which headers pass."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx2

from embermem.http.problems import HttpError

if TYPE_CHECKING:
    from embermem.core.config import Settings

__all__ = [
    "NoUpstream",
    "Server",
    "Upstream",
    "UpstreamLate",
    "UpstreamTooLarge",
    "UpstreamUnreachable",
    "UpstreamUnreadable",
    "client",
    "failure",
    "read",
    "returned",
    "send",
    "upstream",
]

_CONNECT_S = 10.0
_SENT = frozenset(
    {"accept", "content-encoding", "content-type", "idempotency-key", "user-agent", "x-client-request-id"}
)
_SENT_PREFIXES = ("anthropic-", "openai-", "x-stainless-")
_BILLED_TO = frozenset({"openai-organization", "openai-project"})
"""Headers that say who pays: they belong to the key, and pass only with the client's own."""
_RETURNED = frozenset({"content-type", "request-id", "retry-after", "retry-after-ms", "x-should-retry"})
_HARMLESS = frozenset(
    {
        "application/json",
        "application/octet-stream",
        "application/problem+json",
        "application/x-ndjson",
        "text/event-stream",
        "text/plain",
    }
)
_RETURNED_PREFIXES = ("anthropic-", "openai-", "x-ratelimit-")
_ENCODINGS = frozenset({"", "identity", "gzip", "deflate"})
"""Codings of an answer that are taken, though only the first two were asked for: some servers compress all the same.
None becomes more than 1,032 times its length, and several on top of each other are refused."""
_OURS = "ember_"
"""How our own keys begin: they are nobody else's business."""


class NoUpstream(HttpError):
    """No upstream is set, or its address has a fault."""

    tag = "no-upstream"
    status = 503


class UpstreamUnreachable(HttpError):
    """The upstream cannot be reached, or the connection was lost."""

    tag = "upstream-unreachable"
    status = 502


class UpstreamLate(HttpError):
    """The upstream did not answer in time."""

    tag = "upstream-late"
    status = 504


class UpstreamTooLarge(HttpError):
    """The upstream's answer is larger than `proxy_answer_bytes`."""

    tag = "upstream-too-large"
    status = 502


class UpstreamUnreadable(HttpError):
    """The upstream's answer has a coding that was not asked for, and is not read here."""

    tag = "upstream-unreadable"
    status = 502


class Server(StrEnum):
    """Whose protocols a server speaks."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    OLLAMA = "ollama"


@dataclass(frozen=True, kw_only=True, slots=True)
class Upstream:
    """Where requests go: the base URL, which ends before /chat/completions, /messages or /chat, and the key, as the
    header that brings it; `own` where that is the client's."""

    server: Server
    url: str
    key: Mapping[str, str] = field(repr=False)
    own: bool

    def address(self, path: str, query: str) -> str:
        """That of a path below the base URL."""
        return f"{self.url}/{path}?{query}" if query else f"{self.url}/{path}"

    def headers(self, given: Iterable[tuple[str, str]]) -> dict[str, str]:
        """Those of a client's request that pass, and the key."""
        passed = {
            name: value
            for name, value in given
            if value.isascii()
            and (name in _SENT or name.startswith(_SENT_PREFIXES))
            and (self.own or name not in _BILLED_TO)
        }
        # llama.cpp's server closes a connection after a stream without saying so, and the next request on it is lost.
        once = {"connection": "close"} if self.url.lower().startswith("http:") else {}
        return {**passed, **self.key, **once, "accept-encoding": "identity"}


def upstream(settings: Settings, given: Mapping[str, str], server: Server, *, require_keys: bool) -> Upstream:
    """The server that speaks these protocols, for a request with these headers.

    Where no key is set and our server requires none, the client's own is passed on to the server that is set for its
    protocol, unless it is a key of ours. Raises NoUpstream.
    """
    match server:
        case Server.OPENAI:
            url, key = _openai(settings)
            own = _bearer(given)
        case Server.ANTHROPIC:
            url, key, own = _anthropic(settings, given)
        case Server.OLLAMA:
            url, key, own = _ollama(settings, given)
    if not key and not require_keys and own:
        return Upstream(server=server, url=url, key=own, own=True)
    return Upstream(server=server, url=url, key=key, own=False)


_Key = Mapping[str, str]


def _openai(settings: Settings) -> tuple[str, _Key]:
    """`proxy_url`, else `model_url`, else OPENAI_BASE_URL; with `proxy_key`, else the key that is set for this host."""
    others = {
        settings.model_url: settings.model_key or os.environ.get("OPENAI_API_KEY", ""),
        os.environ.get("OPENAI_BASE_URL", ""): os.environ.get("OPENAI_API_KEY", ""),
    }
    url = settings.proxy_url or next((other for other in others if other), "")
    if not url:
        raise NoUpstream(
            "the proxy has no upstream: set EMBERMEM_PROXY_URL (or proxy_url in embermem.toml) to the base URL of an "
            "OpenAI-compatible server, such as http://127.0.0.1:11434/v1, and EMBERMEM_PROXY_KEY to its key; "
            "proxy_anthropic_url and proxy_ollama_url name the servers of Anthropic's and Ollama's clients"
        )
    address = _checked(url, "proxy_url")
    here = [key for other, key in others.items() if key and urlsplit(other)[:2] == urlsplit(address)[:2]]
    key = settings.proxy_key or next(iter(here), None)
    return address, _as_bearer(key)


def _anthropic(settings: Settings, given: Mapping[str, str]) -> tuple[str, _Key, _Key]:
    """`proxy_anthropic_url`; else the server of OpenAI's protocols, as many speak both: it gets no client's key."""
    if not settings.proxy_anthropic_url:
        return *_openai(settings), {}
    url = _checked(settings.proxy_anthropic_url, "proxy_anthropic_url").removesuffix("/v1")
    token = given.get("x-api-key", "").strip()
    own = {"x-api-key": token} if token and not token.startswith(_OURS) else _bearer(given)
    return f"{url}/v1", {"x-api-key": settings.proxy_anthropic_key} if settings.proxy_anthropic_key else {}, own


def _ollama(settings: Settings, given: Mapping[str, str]) -> tuple[str, _Key, _Key]:
    """`proxy_ollama_url`; else the server of OpenAI's protocols: it gets no client's key."""
    if settings.proxy_ollama_url:
        url = _checked(settings.proxy_ollama_url, "proxy_ollama_url")
        return f"{_root(url)}/api", _as_bearer(settings.proxy_ollama_key), _bearer(given)
    url, key = _openai(settings)
    return f"{_root(url)}/api", key, {}


def _root(url: str) -> str:
    return url.removesuffix("/v1").removesuffix("/api")


def _checked(url: str, name: str) -> str:
    """A base URL without a slash at its end. Raises NoUpstream."""
    address = urlsplit(url)
    if address.scheme not in ("http", "https") or not address.hostname or address.username is not None:
        raise NoUpstream(f"{name} must be an http:// or https:// address without a user or password")
    return url.rstrip("/")


def _bearer(given: Mapping[str, str]) -> _Key:
    """A client's own bearer token."""
    scheme, _, token = given.get("authorization", "").partition(" ")
    token = token.strip()
    return _as_bearer(token) if scheme.lower() == "bearer" and not token.startswith(_OURS) else {}


def _as_bearer(key: str | None) -> _Key:
    return {"authorization": f"Bearer {key}"} if key else {}


def client(settings: Settings) -> httpx2.AsyncClient:
    """The connections to upstream, shared by all clients of ours: so no cookie is kept, of which another client's
    request would carry it. No proxy that the environment names is used, and no redirect followed."""
    wait = settings.proxy_timeout_s
    return httpx2.AsyncClient(
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
        timeout=httpx2.Timeout(wait, connect=min(wait, _CONNECT_S)),
        limits=httpx2.Limits(max_connections=settings.http_connections, max_keepalive_connections=100),
        follow_redirects=False,
        trust_env=False,
    )


async def send(connections: httpx2.AsyncClient, request: httpx2.Request, within_s: float) -> httpx2.Response:
    """The answer, its body not yet read; its whole head arrives within so many seconds, and the time to connect.

    Raises UpstreamLate, UpstreamUnreachable, UpstreamUnreadable.
    """
    try:
        async with asyncio.timeout(within_s + min(within_s, _CONNECT_S)):
            answer = await connections.send(request, stream=True)
    except (httpx2.RequestError, TimeoutError) as error:
        raise failure(error) from error
    if answer.headers.get("content-encoding", "").strip().lower() not in _ENCODINGS:
        await answer.aclose()
        raise UpstreamUnreadable("the upstream server uses a content coding that was not requested")
    return answer


async def read(answer: httpx2.Response, most_bytes: int, within_s: float) -> bytes:
    """The body of an answer, which is closed. Raises UpstreamTooLarge, UpstreamLate, UpstreamUnreachable."""
    parts: list[bytes] = []
    left = most_bytes
    announced = answer.headers.get("content-length", "")
    try:
        if announced.isdecimal() and int(announced) > most_bytes:
            raise _too_large(most_bytes)
        async with asyncio.timeout(within_s):
            async for part in answer.aiter_bytes():
                left -= len(part)
                if left < 0:
                    raise _too_large(most_bytes)
                parts.append(part)
    except (httpx2.RequestError, TimeoutError) as error:
        raise failure(error) from error
    finally:
        await answer.aclose()
    return b"".join(parts)


def _too_large(most_bytes: int) -> UpstreamTooLarge:
    return UpstreamTooLarge(
        f"the upstream server's answer is larger than {most_bytes} bytes (the setting proxy_answer_bytes); "
        "ask for less, or for a stream"
    )


def returned(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of upstream's answer that go back to the client. Its request's id gets a name of its own: ours
    stands in X-Request-Id. What a browser would run is plain text here: the inspector is of the same origin."""
    upstreams = {"x-upstream-request-id": headers["x-request-id"]} if "x-request-id" in headers else {}
    passed = upstreams | {
        name.lower(): value
        for name, value in headers.items()
        if name.lower() in _RETURNED or name.lower().startswith(_RETURNED_PREFIXES)
    }
    kind = passed.get("content-type", "").partition(";")[0].strip().lower()
    harmless = kind in _HARMLESS or kind.startswith("audio/")
    return passed if harmless else passed | {"content-type": "text/plain; charset=utf-8"}


def failure(error: httpx2.RequestError | TimeoutError) -> HttpError:
    """What went wrong on the way, in our words."""
    if isinstance(error, (httpx2.TimeoutException, TimeoutError)):
        return UpstreamLate("the upstream server did not answer in time (the setting proxy_timeout_s)")
    return UpstreamUnreachable("the upstream server cannot be reached, or the connection was lost")
