"""The start page: all owners that the request may reach; and their list in the header."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from embermem.http.inspector.place import PageRoute, ServerContext

OWNERS = 200
"""Owners listed; the others are opened by name."""

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/")
def start(here: ServerContext, request: Request, user: str = "", agent: str = "") -> Response:
    """All owners. The address of an owner, as it was once, leads to that owner's overview."""
    if user:
        return RedirectResponse(here.link("/overview", user=user, agent=agent), status_code=303)
    known = here.access.owners()
    key = here.access.key
    named = [] if key is None else [(one.user, one.agent or "default") for one in key.of_users if one.user is not None]
    return here.page(
        "owners.html", title="Owners", owners=known[:OWNERS], more=max(0, len(known) - OWNERS), named=named
    )


@router.get("/owners")
def listed(here: ServerContext) -> HTMLResponse:
    """The part that opens in the header."""
    known = here.access.owners()
    return here.page("owners_part.html", owners=known[:OWNERS], more=max(0, len(known) - OWNERS))
