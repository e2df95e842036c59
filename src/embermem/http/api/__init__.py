"""The routes under /v1, one module a subject."""

from __future__ import annotations

from collections.abc import Iterator

from fastapi import APIRouter


def routers() -> Iterator[APIRouter]:
    """All of them, in the order of the documentation."""
    from embermem.http.api import (
        changes,
        documents,
        memories,
        operations,
        owners,
        past,
        persona,
        search,
        segments,
        spaces,
        webhooks,
    )

    of_memory = (memories, documents, search, persona, segments, past, changes, webhooks)
    for module in (*of_memory, operations, owners, spaces):
        yield module.routes
