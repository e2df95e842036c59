"""Forgetting from the inspector: always with a preview of what goes."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse

from embermem.core.errors import InputError
from embermem.core.types import Forgotten, Scope
from embermem.http.inspector.place import Changing, PageRoute, Place

KINDS = ("page", "fact", "segment", "thread", "days", "document")

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/forget")
def preview(here: Changing, kind: str = "", id: str = "") -> HTMLResponse:
    """What would go, and a button that lets it go."""
    return here.page(
        "forget_part.html" if here.partial else "forget.html",
        title="Forget",
        kind=kind,
        id=id,
        gone=_forget(here, kind, id, dry_run=True),
    )


@router.post("/forget")
def forget(here: Changing, kind: Annotated[str, Form()] = "", id: Annotated[str, Form()] = "") -> HTMLResponse:
    """Forget it, and show the receipt."""
    return here.page("forgotten.html", title="Forgotten", kind=kind, gone=_forget(here, kind, id, dry_run=False))


def _forget(here: Place, kind: str, id: str, *, dry_run: bool) -> Forgotten:
    match kind:
        case "page":
            return here.mine.forget(page=id, dry_run=dry_run)
        case "fact":
            return here.mine.forget(fact=id, dry_run=dry_run)
        case "segment":
            return here.mine.forget(segment=id, dry_run=dry_run)
        case "thread":
            return here.mine.forget(thread=id, dry_run=dry_run)
        case "document":
            return here.mine.forget_document(id, dry_run=dry_run)
        case "days":
            since, _, until = id.partition("/")
            if not (since and until):
                raise InputError(f"days = {id!r} are not two days as 2026-06-20/2026-06-20")
            pages = here.mine.pages(scope=Scope(since=since, until=until))
            return here.mine.forget_pages([page.id for page in pages], dry_run=dry_run)
        case _:
            raise InputError(f"cannot forget {kind!r}; one of: {', '.join(KINDS)}")
