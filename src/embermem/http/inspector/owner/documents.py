"""Documents: texts and files that nobody said in a talk, found, read in their passages, added and forgotten."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, UploadFile
from fastapi.responses import HTMLResponse, RedirectResponse

from embermem.core.errors import InputError
from embermem.core.types import Document
from embermem.http.inspector.place import Changing, PageContext, PageRoute, Place

A_PART = 40
"""Documents on one page."""
PASSAGES = 50
"""Passages of a document on one page."""

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/documents")
def documents(here: PageContext, q: str = "", before: str = "") -> HTMLResponse:
    """Documents, those stored last first; those with a text in title or source."""
    found, earlier = _part(here, q, before)
    return here.page(
        "documents.html",
        title="Documents",
        found=found,
        q=q,
        before=before,
        earlier=earlier,
        limit=here.memory.settings.http_import_bytes,
        any=bool(found) or bool(here.mine.documents(limit=1)),
    )


@router.get("/documents/{document_id}")
def document(here: PageContext, document_id: str, start: int = 0, added: int = -1, removed: int = 0) -> HTMLResponse:
    """One document: its passages in the order of its text, from a character on. `added` and `removed` are the passages
    that were stored and removed just now."""
    one = here.mine.document(document_id)
    found = here.mine.passages(document_id, start=max(0, start), limit=PASSAGES + 1)
    last = found[PASSAGES].passage if len(found) > PASSAGES else None
    return here.page(
        "document.html",
        title=one.title,
        document=one,
        passages=found[:PASSAGES],
        start=start,
        following=None if last is None else last.start,
        original=bool(here.mine.originals([document_id])),
        added=added,
        removed=removed,
    )


@router.post("/documents")
def add(
    here: Changing,
    title: Annotated[str, Form()] = "",
    text: Annotated[str, Form()] = "",
    file: UploadFile | None = None,
) -> RedirectResponse:
    """Store a text, or a file: its name is its source, so that the same file given again replaces what changed."""
    name = title.strip() or None
    if file is not None and file.filename:
        if text.strip():
            raise InputError("there are a text and a file; give one of them")
        done = here.mine.add_document(file.file.read(), source=file.filename, title=name)
    elif text.strip():
        done = here.mine.add_document(text, title=name)
    else:
        raise InputError("there is no text and no file; write a text, or choose a file")
    return here.back(f"/documents/{done.id}", added=done.added, removed=done.removed)


def _part(here: Place, q: str, before: str) -> tuple[tuple[Document, ...], str | None]:
    """Documents, the newest first, and the one before which earlier ones begin, if there are any."""
    found = here.mine.documents(text=q.strip() or None, before=before or None, limit=A_PART + 1)
    more = len(found) > A_PART
    shown = found[-A_PART:][::-1]
    return shown, shown[-1].id if more else None
