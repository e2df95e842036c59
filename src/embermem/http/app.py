"""The application: routes, middleware and errors are put together here."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, FastAPI

import embermem
from embermem.http import events, frame, health, mem0, problems, reference
from embermem.http.api import routers
from embermem.http.inspector import routes as inspector
from embermem.http.inspector.place import lost
from embermem.http.mcp import mount
from embermem.http.proxy import routes as proxy

if TYPE_CHECKING:
    from embermem.memory import Memory

logger = logging.getLogger(__name__)

FILE_PATHS = ("/import", "/documents")
"""Where the inspector takes files: they may be larger than other bodies."""


def create_app(memory: Memory, *, require_keys: bool = False, hosts: Sequence[str] = ()) -> FastAPI:
    """The server of one memory. The caller opens and closes the memory.

    Without `require_keys` it answers only requests to loopback, by name, and to `hosts`.
    """
    settings = memory.settings
    serving = frame.serving_over(memory, require_keys=require_keys)
    larger = dict.fromkeys(FILE_PATHS, settings.http_import_bytes)
    larger |= dict.fromkeys(proxy.LARGER, settings.proxy_body_bytes)
    app = _Ember(
        title="Ember",
        version=embermem.__version__,
        summary="Memory for AI agents.",
        description=_DESCRIPTION,
        # The usual pages of FastAPI load scripts from elsewhere; /docs is our own.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan,
        middleware=frame.middleware(serving, hosts=hosts, larger=larger),
        # Its own spans carry addresses with their queries: only where texts may be told.
        telemetry={"tracing": settings.trace_text, "logs": False, "operation_spans": False},
    )
    app.state.serving = serving
    problems.install(app, lost, proxy.shape_at)
    mount(app, memory)
    app.router.routes.extend(_routes().routes)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    async with frame.lifespan(app), _routes().lifespan_context(app):
        yield


@cache
def _routes() -> APIRouter:
    """All routes but that of MCP, the same for every application: FastAPI derives their models at the first request,
    which takes longer than anything else an application does until then."""
    shared = APIRouter(responses=problems.ANSWERS)
    for router in routers():
        shared.include_router(router, prefix="/v1")
    for router in (mem0.router, proxy.router, health.router, reference.router, events.router, inspector.router):
        shared.include_router(router)
    return shared


class _Ember(FastAPI):
    """Adds to the OpenAPI description what all routes share."""

    def openapi(self) -> dict[str, Any]:
        """The description, made once."""
        if self.openapi_schema is None or "securitySchemes" not in self.openapi_schema.get("components", {}):
            components = super().openapi().setdefault("components", {})
            components.setdefault("schemas", {})["Problem"] = problems.SCHEMA
            components["securitySchemes"] = _SCHEMES
            # Where no key is required, none need be given.
            super().openapi()["security"] = [{}, *({name: []} for name in _SCHEMES)]
        return super().openapi()


_SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "`Authorization: Bearer ember_…`"},
    "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
}

_DESCRIPTION = """\
An owner is one pair of `user_id` and `agent_id`: query parameters of GET and DELETE, fields of other bodies; both are
`default` if not given. Failures are problem details (RFC 9457). Every answer has `X-Request-Id`: the client's, if it
sent a plain one.
"""
