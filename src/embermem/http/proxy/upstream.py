"""The server that answers: its address, the key for it, and which headers pass."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx2

from embermem.http.problems import HttpError

if TYPE_CHECKING:
    from embermem.core.config import Settings

__all__ = [
    "NoUpstream",
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
_SENT = frozenset({"accept", "content-type", "idempotency-key", "user-agent"})
_SENT_PREFIXES = ("openai-", "x-stainless-")
_BILLED_TO = frozenset({"openai-organization", "openai-project"})
"""Headers that say who pays: they belong to the key, and pass only with the client's own."""
_RETURNED = frozenset({"content-type", "retry-after", "retry-after-ms", "x-should-retry"})
_HARMLESS = frozenset({"application/json", "application/problem+json", "text/event-stream", "text/plain"})
_RETURNED_PREFIXES = ("openai-", "x-ratelimit-")
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Upstream:
    """Where requests go: the base URL, which ends before /chat/completions, and the key, if there is one; `own` where
    that is the client's."""

    url: str
    key: str | None = field(repr=False)
    own: bool

    def headers(self, given: Iterable[tuple[str, str]]) -> dict[str, str]:
        """Those of a client's request that pass, and the key."""
        passed = {
            name: value
            for name, value in given
            if value.isascii()
            and (name in _SENT or name.startswith(_SENT_PREFIXES))
            and (self.own or name not in _BILLED_TO)
        }
        key = {} if self.key is None else {"authorization": f"Bearer {self.key}"}
        # llama.cpp's server closes a connection after a stream without saying so, and the next request on it is lost.
        once = {"connection": "close"} if self.url.lower().startswith("http:") else {}
        return {**passed, **key, **once, "accept-encoding": "identity"}


def upstream(settings: Settings, authorization: str, *, require_keys: bool) -> Upstream:
    """`proxy_url`, else `model_url`, else OPENAI_BASE_URL; with `proxy_key`, else the key that is set for this host.

    Where no key is set and our server requires none, the client's own bearer token is passed on, unless it is a key of
    ours. Raises NoUpstream.
    """
    others = {
        settings.model_url: settings.model_key or os.environ.get("OPENAI_API_KEY", ""),
        os.environ.get("OPENAI_BASE_URL", ""): os.environ.get("OPENAI_API_KEY", ""),
    }
    url = settings.proxy_url or next((other for other in others if other), "")
    if not url:
        raise NoUpstream(
            "the proxy has no upstream: set EMBERMEM_PROXY_URL (or proxy_url in embermem.toml) to the base URL of an "
            "OpenAI-compatible server, such as http://127.0.0.1:11434/v1, and EMBERMEM_PROXY_KEY to its key"
        )
    address = urlsplit(url)
    if address.scheme not in ("http", "https") or not address.hostname or address.username is not None:
        raise NoUpstream("proxy_url must be an http:// or https:// address without a user or password")
    here = [key for other, key in others.items() if key and urlsplit(other)[:2] == address[:2]]
    key = settings.proxy_key or next(iter(here), None)
    scheme, _, token = authorization.partition(" ")
    token = token.strip()
    if key is None and not require_keys and scheme.lower() == "bearer" and token and not token.startswith(_OURS):
        return Upstream(url=url.rstrip("/"), key=token, own=True)
    return Upstream(url=url.rstrip("/"), key=key, own=False)


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
    return passed if kind in _HARMLESS else passed | {"content-type": "text/plain; charset=utf-8"}


def failure(error: httpx2.RequestError | TimeoutError) -> HttpError:
    """What went wrong on the way, in our words."""
    if isinstance(error, (httpx2.TimeoutException, TimeoutError)):
        return UpstreamLate("the upstream server did not answer in time (the setting proxy_timeout_s)")
    return UpstreamUnreachable("the upstream server cannot be reached, or the connection was lost")
