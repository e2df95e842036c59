"""What all requests of the proxy share: the connections to upstream, and what is known of the owners' threads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx2
from starlette.responses import JSONResponse, Response

from embermem.http.proxy.errors import FORMS
from embermem.http.proxy.talk import Known
from embermem.http.proxy.upstream import Server, Upstream, client, upstream
from embermem.http.serving import kept, serving_of

if TYPE_CHECKING:
    from starlette.requests import Request

    from embermem.http.problems import Problem, Shape

__all__ = ["Shared", "answered_as", "shared_of", "upstream_of"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Shared:
    """Made at the first request; the application closes the connections."""

    client: httpx2.AsyncClient
    known: Known
    timeout_s: float
    answer_bytes: int


def shared_of(request: Request) -> Shared:
    """What the requests of an application share."""
    settings = serving_of(request).memory.settings

    def make() -> Shared:
        return Shared(
            client=client(settings),
            known=Known(settings.proxy_known),
            timeout_s=settings.proxy_timeout_s,
            answer_bytes=settings.proxy_answer_bytes,
        )

    return kept(request.app, "proxy", make)


def upstream_of(request: Request, server: Server) -> Upstream:
    """The server that answers a request. Raises NoUpstream."""
    serving = serving_of(request)
    return upstream(serving.memory.settings, request.headers, server, require_keys=serving.require_keys)


def answered_as(server: Server) -> Shape:
    """Failures in the form that the clients of a server read."""

    def answered(problem: Problem, request: Request) -> Response:
        return JSONResponse(FORMS[server](problem), problem.status)

    return answered
