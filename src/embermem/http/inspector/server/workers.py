"""The work on all owners: who does it, who waits for it, what failed; and how it is begun by hand."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Form
from fastapi.responses import HTMLResponse, Response

from embermem.http.access import Right
from embermem.http.api.operations import begin_settling
from embermem.http.api.working import Operations
from embermem.http.inspector.place import Operating, OperatorContext, PageRoute, ServerPlace, there
from embermem.http.middleware import LIVE_WORKERS
from embermem.reports import waiting

SHOWN = 20

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/operations/workers")
def shown(here: OperatorContext, operation: str = "", woken: bool = False) -> HTMLResponse:
    """The page, which renews its part every few seconds."""
    return here.page("operations_workers.html", title="Workers", woken=woken, **_values(here, operation))


@router.get(LIVE_WORKERS)
def live(here: OperatorContext, operation: str = "") -> HTMLResponse:
    """The part of it that moves."""
    return here.page("operations_workers_part.html", **_values(here, operation))


@router.post("/operations/workers/wake")
def wake(here: Operating) -> Response:
    """Let the background thread of this process look for work now."""
    here.memory.wake()
    return here.back("/operations/workers", woken=True)


@router.post("/operations/workers/settle")
def settle(here: Operating, user: Annotated[str, Form()], agent: Annotated[str, Form()] = "") -> Response:
    """Do all that is pending of one owner, as `POST /v1/settle` does."""
    owner = here.access.owner(user, agent or "default", Right.WRITE)
    return here.back("/operations/workers", operation=begin_settling(here.request, owner).id)


def _values(here: ServerPlace, operation: str) -> dict[str, object]:
    memory, now = here.memory, here.memory.now()
    state = memory.work_state(limit=SHOWN)
    operations: Operations = here.request.app.state.operations
    stats = memory.stats()
    return {
        "state": state,
        "background": memory.background_state(),
        "pending": stats.pending,
        "oldest_s": stats.oldest_pending_s,
        "batch_wait_s": memory.settings.batch_wait_s,
        "without_vector": stats.without_vector,
        "webhooks": stats.webhooks,
        "waits": [(one.owner, waiting.sentences(one.waiting, now)) for one in state.waits],
        "hosts": {hook.id: urlsplit(hook.url).hostname or "" for _, hook in state.webhooks},
        "operation": operations.get(operation) if operation else None,
        "at_second": lambda moment: f"{there(moment, here.zone):%H:%M:%S}",
        "live_address": here.link(LIVE_WORKERS, operation=operation),
    }
