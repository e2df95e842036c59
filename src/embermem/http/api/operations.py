"""Understanding what is pending, asked for and followed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, FastAPI, Request, Response
from starlette.concurrency import run_in_threadpool

from embermem.core.errors import NotFound
from embermem.core.types import WaitsFor
from embermem.http.access import Accessible, Right
from embermem.http.api import bodies
from embermem.http.api.dependencies import ItemId, SpaceQuery, router, text_query, written_by
from embermem.http.api.working import Operation, Operations
from embermem.wire.answers import OperationItem
from embermem.wire.mapping import to_record


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """A server's operations end with it."""
    app.state.operations = Operations()
    try:
        yield
    finally:
        await run_in_threadpool(app.state.operations.close)


if TYPE_CHECKING:
    from embermem.owner_memory import OwnerMemory

routes = router("operations", _lifespan)


def _operations(request: Request) -> Operations:
    operations: Operations = request.app.state.operations
    return operations


Running = Annotated[Operations, Depends(_operations)]
OfUser = Annotated[str | None, text_query("If given, the operation must be of this user.")]


@routes.post("/settle", status_code=202, summary="Process what is pending")
def settle(access: Accessible, request: Request, response: Response, body: bodies.SettleBody) -> OperationItem:
    """Starts processing everything that is pending in one memory, and answers at once. Location is the address of
    the operation."""
    begun = begin_settling(request, written_by(access, body))
    response.headers["Location"] = request.app.url_path_for("get_operation", item_id=begun.id)
    return _shown(begun)


@routes.post("/analyse", status_code=202, summary="Analyse what is not yet due")
def analyse(access: Accessible, request: Request, response: Response, body: bodies.SettleBody) -> OperationItem:
    """Starts processing everything that is pending in one memory, and analyses what is in its mid-term memory whatever
    its heat. Answers at once; Location is the address of the operation."""
    owner = written_by(access, body)
    begun = _operations(request).begin("analyse", owner.owner, lambda progress: _analysed(owner, progress))
    response.headers["Location"] = request.app.url_path_for("get_operation", item_id=begun.id)
    return _shown(begun)


def begin_settling(request: Request, owner: OwnerMemory) -> Operation:
    """Have all that is pending of an owner processed. Raises TooManyOperations."""
    return _operations(request).begin("settle", owner.owner, lambda progress: _settled(owner, progress))


def _settled(owner: OwnerMemory, progress: Callable[[int, int], None]) -> dict[str, int]:
    """What came of processing all that was pending; `GET /v1/stats` says why pages wait."""
    return {"placed": owner.settle(progress), **_left(owner)}


def _analysed(owner: OwnerMemory, progress: Callable[[int, int], None]) -> dict[str, int]:
    """The same, with what was analysed."""
    return {**owner.analyse(progress).to_dict(), **_left(owner)}


def _left(owner: OwnerMemory) -> dict[str, int]:
    counts = {"waiting": 0, "without_model": 0}
    for one in owner.stats().waiting:
        counts["waiting" if one.waits_for is WaitsFor.PLACE else "without_model"] += one.pages
    return counts


@routes.get("/operations/{item_id}", summary="Read the status of an operation")
def get_operation(
    access: Accessible,
    operations: Running,
    item_id: ItemId,
    user_id: OfUser = None,
    agent_id: OfUser = None,
    space: SpaceQuery = None,
) -> OperationItem:
    """An operation of an owner that the key grants access to. A server keeps the last thousand since its start."""
    if user_id is not None or agent_id is not None or space is not None:
        user, agent = user_id or bodies.DEFAULT, agent_id or bodies.DEFAULT
        asked = access.owner(user, agent, Right.READ, space=space).owner
    else:
        asked = None
    found = operations.get(item_id)
    if found is None or not access.may(found.owner) or asked not in (None, found.owner):
        raise NotFound(f"no operation {item_id!r}: the server keeps only the latest operations since its start")
    return _shown(found)


def _shown(one: Operation) -> OperationItem:
    error = None if one.error is None else one.error.body()
    return to_record(OperationItem, one, result=dict(one.result) or None, error=error)
