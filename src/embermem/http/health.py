"""/health, /ready and /metrics."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.responses import PlainTextResponse, Response

from embermem.http.access import Accessible
from embermem.http.serving import serving_of

router = APIRouter(tags=["server"])

_OK: dict[int | str, dict[str, Any]] = {
    200: {"description": "It is so.", "content": {"text/plain": {"example": "ok\n"}}}
}

_FIGURES: dict[int | str, dict[str, Any]] = {
    200: {"description": "In Prometheus' text format.", "content": {"text/plain": {}}}
}


@router.get(
    "/health",
    summary="Whether the server is alive",
    operation_id="get_health",
    response_class=PlainTextResponse,
    responses=_OK,
)
async def health() -> PlainTextResponse:
    """Answers as long as the process does. Asks neither store nor model, and needs no key."""
    return PlainTextResponse("ok\n")


@router.get(
    "/ready",
    summary="Whether the server can do its work",
    operation_id="get_readiness",
    response_class=PlainTextResponse,
    responses=_OK,
)
def ready(request: Request) -> PlainTextResponse:
    """Reads the store and embeds one word; 503, 502 or 500 where one of them fails. Over a replica, a second line says
    how far it is behind. Needs no key."""
    memory = serving_of(request).memory
    memory.keys.key("")
    memory.embed(["ready"])
    lag_s = memory.replica_lag_s()
    return PlainTextResponse("ok\n" if lag_s is None else f"ok\nreplica, {lag_s:.3f} s behind\n")


@router.get(
    "/metrics",
    summary="Figures for Prometheus",
    operation_id="get_metrics",
    response_class=PlainTextResponse,
    responses=_FIGURES,
)
def metrics(access: Accessible, request: Request) -> Response:
    """Requests by route and status, latency, work that waits, and what the language model was asked. Where keys are
    required, any key will do."""
    return Response(serving_of(request).metrics.text(), media_type=CONTENT_TYPE_LATEST)
