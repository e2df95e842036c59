"""What leaves the store: what fades, what expires, what was forgotten, and whether its bytes are gone."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from embermem.http.inspector.place import OperatorContext, PageRoute

SHOWN = 50

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/operations/retention")
def shown(here: OperatorContext) -> HTMLResponse:
    """Retention in words, expiry, forgettings by number and time, the scrub and the key."""
    settings = here.memory.settings
    return here.page(
        "operations_retention.html",
        title="Retention",
        settings=settings,
        every_h=settings.retention_every_s / 3600,
        leaving=here.memory.leaving(limit=SHOWN),
    )
