"""All pages of the inspector, and its files."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import RedirectResponse, Response

from embermem.http.inspector import (
    atlas,
    forgetting,
    imports,
    login,
    overview,
    pages,
    persona,
    recall,
    search,
    segments,
    timeline,
)
from embermem.http.inspector.assets import FOREVER, address, asset
from embermem.http.inspector.place import PageRoute

router = APIRouter(include_in_schema=False)
files = APIRouter(route_class=PageRoute, include_in_schema=False)


@files.get("/assets/{mark}/{name:path}")
def file(mark: str, name: str) -> Response:
    """A file under its hash: it may be kept for ever."""
    found = asset(mark, name)
    return Response(
        found.content,
        media_type=found.type,
        headers={"Cache-Control": FOREVER, "X-Content-Type-Options": "nosniff"},
    )


@files.get("/favicon.ico")
def icon() -> RedirectResponse:
    """Browsers ask for it at this address."""
    return RedirectResponse(address("ember.svg"))


for one in (overview, pages, segments, persona, atlas, recall, timeline, search, imports, forgetting, login):
    router.include_router(one.router)
router.include_router(files)
