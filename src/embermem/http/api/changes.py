"""The log of what was derived, and taking back."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from starlette.concurrency import run_in_threadpool

from embermem.http.access import Accessible, access_uncounted
from embermem.http.api import bodies, listing
from embermem.http.api.dependencies import Asking, ChangeNo, Key, Reading, router, time_query, written_by
from embermem.http.events import changed
from embermem.http.problems import Forbidden
from embermem.memory import OwnerMemory
from embermem.wire.answers import Changes, Undoing

routes = router("changes")


@routes.get("/changes", summary="List changes to derived memory")
async def list_changes(
    request: Request,
    access: Accessible,
    owner: Reading,
    asked: Asking,
    since: Annotated[int, Query(ge=0, le=bodies.LARGEST, description="Only changes after this number.")] = 0,
    recorded_after: Annotated[str | None, time_query("Only changes after this time.")] = None,
    wait_s: Annotated[float, Query(ge=0, le=60, description="If there are none, wait so many seconds for some.")] = 0.0,
) -> Changes:
    """The log of changes, oldest first, paginated. Pass the last number as `since` to get newer changes; with `wait_s`,
    the answer comes when there are some (long poll)."""
    part = await run_in_threadpool(_part, owner, asked, since, recorded_after)
    if part.results or not wait_s:
        return part
    await changed(request, owner, None if access.key is None else access.key.id, since, wait_s)
    if not await run_in_threadpool(lambda: access_uncounted(request).may(owner.owner)):
        raise Forbidden("the key does not hold this memory any more")
    return await run_in_threadpool(_part, owner, asked, since, recorded_after)


def _part(owner: OwnerMemory, asked: listing.Asked, since: int, recorded_after: str | None) -> Changes:
    if recorded_after is not None:
        newer = owner.changes(recorded_after, limit=1)
        since = max(since, newer[0].no - 1 if newer else bodies.LARGEST)
    return listing.changes(owner, asked, since=since)


@routes.post("/changes/{change_no}/undo", summary="Undo a change")
def undo_change(access: Accessible, change_no: ChangeNo, body: bodies.UndoBody, key: Key = None) -> Undoing:
    """Undoes what a change taught about the user and the agent; returns the number of the change that does so."""
    return Undoing(change_no=written_by(access, body).undo(change_no, key=key))
