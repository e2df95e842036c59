"""All pages of the inspector, and its files."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header
from fastapi.responses import RedirectResponse, Response

from embermem.http.inspector.assets import FOREVER, address, asset
from embermem.http.inspector.owner import (
    atlas,
    audit,
    chat,
    documents,
    facts,
    forgetting,
    imports,
    many_facts,
    overview,
    pages,
    persona,
    playground,
    search,
    segments,
    timeline,
)
from embermem.http.inspector.place import PageRoute
from embermem.http.inspector.server import (
    backups,
    keys,
    login,
    models,
    operations,
    owners,
    requests,
    retention,
    settings,
    spaces,
    workers,
)

router = APIRouter(include_in_schema=False)
files = APIRouter(route_class=PageRoute, include_in_schema=False)


@files.get("/assets/{mark}/{name:path}")
def file(mark: str, name: str, accept_encoding: Annotated[str, Header()] = "") -> Response:
    """A file under its hash: it may be kept for ever. It is sent compressed to those who take that."""
    found = asset(mark, name)
    headers = {"Cache-Control": FOREVER, "X-Content-Type-Options": "nosniff", "Vary": "Accept-Encoding"}
    if "gzip" in accept_encoding.lower():
        return Response(found.compressed, media_type=found.type, headers={**headers, "Content-Encoding": "gzip"})
    return Response(found.content, media_type=found.type, headers=headers)


@files.get("/favicon.ico")
def icon() -> RedirectResponse:
    """Browsers ask for it at this address."""
    return RedirectResponse(address("ember.svg"))


for one in (
    owners,
    spaces,
    login,
    overview,
    many_facts,
    facts,
    persona,
    pages,
    segments,
    documents,
    atlas,
    timeline,
    playground,
    chat,
    audit,
    imports,
    search,
    forgetting,
    operations,
    keys,
    settings,
    requests,
    workers,
    models,
    retention,
    backups,
):
    router.include_router(one.router)
router.include_router(files)
