"""The log of what was derived, and taking back."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from embermem.http.access import Accessible
from embermem.http.api import bodies, listing
from embermem.http.api.dependencies import Asking, ChangeNo, Key, Reading, router, time_query, written_by
from embermem.wire.answers import Changes, Undoing

routes = router("changes")


@routes.get("/changes", summary="List changes to derived memory")
def list_changes(
    owner: Reading,
    asked: Asking,
    since: Annotated[int, Query(ge=0, le=bodies.LARGEST, description="Only changes after this number.")] = 0,
    recorded_after: Annotated[str | None, time_query("Only changes after this time.")] = None,
) -> Changes:
    """The log of changes, oldest first, paginated. Pass the last number as `since` to get newer changes."""
    if recorded_after is not None:
        newer = owner.changes(recorded_after, limit=1)
        since = max(since, newer[0].no - 1 if newer else bodies.LARGEST)
    return listing.changes(owner, asked, since=since)


@routes.post("/changes/{change_no}/undo", summary="Undo a change")
def undo_change(access: Accessible, change_no: ChangeNo, body: bodies.UndoBody, key: Key = None) -> Undoing:
    """Undoes what a change taught about the user and the agent; returns the number of the change that does so."""
    return Undoing(change_no=written_by(access, body).undo(change_no, key=key))
