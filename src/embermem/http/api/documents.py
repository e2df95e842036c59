"""Documents: stored, listed, read, forgotten."""

from __future__ import annotations

import base64
from typing import Annotated

from embermem.core.errors import InputError
from embermem.core.types import DocumentAdded, Forgotten
from embermem.http.access import Accessible, asker_of
from embermem.http.api import bodies
from embermem.http.api.dependencies import ItemId, Key, Reading, Writing, read_by, router, text_query, written_by
from embermem.http.api.memories import DryRun
from embermem.wire.answers import Documents, DocumentWhole, OriginalItem, Originals
from embermem.wire.memories import utterance_item

routes = router("documents")


@routes.post("/documents", status_code=201, summary="Store a document")
def add_document(access: Accessible, body: bodies.DocumentBody, key: Key = None) -> DocumentAdded:
    """Stores a text, or a file, in passages. Where a document of its `source` is stored, what changed is replaced."""
    return written_by(access, body).add_document(
        _content(body),
        title=body.title,
        source=body.source,
        at=body.at,
        metadata=body.metadata,
        key=key,
        original=body.original,
        expires_at=body.expires_at,
    )


@routes.get("/documents", summary="List documents")
def list_documents(
    owner: Reading,
    source: Annotated[str | None, text_query("Only the document of this source.")] = None,
    under: Annotated[str | None, text_query("Only documents whose source begins with this text.")] = None,
) -> Documents:
    """Documents, the first stored first, without their passages."""
    return Documents(results=owner.documents(source=source, under=under))


@routes.get("/documents/{item_id}", summary="Read one document")
def get_document(owner: Reading, item_id: ItemId) -> DocumentWhole:
    """A document with its passages, in the order of its text."""
    found = owner.passages(item_id)
    passages = tuple(utterance_item(asker_of(owner), one, tier=None, segment_id=None) for one in found)
    return DocumentWhole(document=owner.document(item_id), passages=passages)


@routes.delete("/documents/{item_id}", summary="Forget a document")
def forget_document(owner: Writing, item_id: ItemId, dry_run: DryRun = False) -> Forgotten:
    """Removes a document and its passages from every table and the file; returns what was removed."""
    return owner.forget_document(item_id, dry_run=dry_run)


@routes.post("/originals", summary="Read originals")
def read_originals(access: Accessible, body: bodies.OriginalsBody) -> Originals:
    """The originals of messages and documents, in the order in which these were stored."""
    found = read_by(access, body).originals(body.ids, thread=body.run_id, last=body.last)
    return Originals(results=tuple(OriginalItem(id=item, original=one) for item, one in found.items()))


def _content(body: bodies.DocumentBody) -> str | bytes:
    if (body.text is None) == (body.file is None):
        raise InputError("give exactly one of text and file")
    if body.file is None:
        return body.text or ""
    try:
        return base64.b64decode(body.file, validate=True)
    except ValueError as error:
        raise InputError(f"file is not base64: {error}") from error
