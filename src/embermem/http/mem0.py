"""The paths of mem0's REST server, and those of its platform that `MemoryClient` calls, below /mem0.

Whose memories a request names is checked as everywhere (`http/access.py`): `user_id` is Ember's user, with the agent
`default`. A key is sent as `X-API-Key`, `Authorization: Bearer` or, as mem0's client does, `Authorization: Token`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Body, Depends, Request
from starlette.responses import JSONResponse, Response

from embermem.compat.mem0.arguments import ENTITIES, most
from embermem.compat.mem0.exceptions import not_found
from embermem.compat.mem0.memories import Memories
from embermem.compat.mem0.reach import Shared
from embermem.core.errors import InputError, Unchangeable
from embermem.core.ids import new_id
from embermem.http.access import Access, Accessible, Right
from embermem.http.problems import Problem, shaped
from embermem.http.serving import kept, serving_of

if TYPE_CHECKING:
    from embermem.core.types import Owner
    from embermem.memory import OwnerMemory

router = APIRouter(prefix="/mem0", include_in_schema=False)
Json = Annotated[Mapping[str, Any], Body()]
_ADD = (*ENTITIES, "metadata", "timestamp", "expiration_date", "infer", "memory_type", "prompt")
_SEARCH = (*ENTITIES, "filters", "top_k", "limit", "threshold", "rerank", "explain", "reference_date")
_UPDATE = ("text", "metadata", "expiration_date", "data")
_PAGE = 100
"""Memories of one answer of the platform's lists, if the request says nothing else."""
_ALL = 2**31


class _Reach:
    """The memories that a request's key reaches."""

    def __init__(self, access: Access) -> None:
        self._access = access

    def owner(self, user: str, agent: str, *, write: bool) -> OwnerMemory:
        return self._access.owner(user, agent, Right.WRITE if write else Right.READ)

    def may(self, owner: Owner) -> bool:
        return self._access.may(owner)

    def owners(self) -> Sequence[Owner]:
        return self._access.owners()


async def _memories(request: Request, access: Accessible) -> Memories:  # in the loop: `Shared` is made once
    shared = kept(request.app, "mem0", lambda: Shared(serving_of(request).memory))
    return Memories(_Reach(access), shared)


Reached = Annotated[Memories, Depends(_memories)]


def _told(problem: Problem, request: Request) -> Response:
    """A failure in the form of mem0's server."""
    return JSONResponse({"detail": problem.detail}, problem.status, dict(problem.headers))


def _at(method: str, *paths: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A route at several paths, each with and without a slash at its end."""

    def added(route: Callable[..., Any]) -> Callable[..., Any]:
        told = shaped(_told)(route)
        for path in paths:
            for form in (path, f"{path}/"):
                router.add_api_route(form, told, methods=[method])
        return told

    return added


@_at("GET", "/v1/ping")
def ping(memories: Reached) -> dict[str, Any]:
    """What `MemoryClient` asks first: whether its key holds. It needs a name of an organisation and of a project."""
    return {"status": "ok", "org_id": "ember", "project_id": "default", "user_email": None}


@_at("POST", "/configure")
def configure(memories: Reached) -> None:
    """Refused: a server of Ember is configured where it is started."""
    raise Unchangeable("an Ember server is configured where it is started: see `embermem serve --help`")


@_at("POST", "/memories")
def add_as_server(memories: Reached, body: Json) -> dict[str, Any]:
    """Store messages."""
    return _added(memories, body)


@_at("POST", "/v1/memories", "/v3/memories/add")
def add_as_platform(memories: Reached, body: Json) -> dict[str, Any]:
    """Store messages. The platform works later on what it was sent; here it is stored and can be searched at once."""
    return {**_added(memories, body), "event_id": new_id("e"), "status": "SUCCEEDED"}


def _added(memories: Memories, body: Mapping[str, Any]) -> dict[str, Any]:
    if "messages" not in body:
        raise InputError("messages is missing; give a list such as [{'role': 'user', 'content': 'Hello'}]")
    given = _named(_ids_too(body), _ADD)
    if body.get("app_id") is not None:
        given["metadata"] = {**_object(given, "metadata"), "app_id": body["app_id"]}
    return memories.add(body["messages"], **given)


@_at("GET", "/memories")
def get_all(memories: Reached, request: Request) -> dict[str, Any]:
    """List memories."""
    asked = request.query_params
    count = _number(asked.get("top_k") or asked.get("limit"), "top_k")
    return memories.get_all(top_k=count, filters={name: asked[name] for name in ENTITIES if name in asked})


@_at("GET", "/v1/memories")
def get_all_old(memories: Reached, request: Request) -> dict[str, Any]:
    """List memories in parts, by query parameters, as older clients do."""
    asked = request.query_params
    return _part(memories, {name: asked[name] for name in (*ENTITIES, "app_id") if name in asked}, request)


@_at("POST", "/v2/memories", "/v3/memories")
def get_all_filtered(memories: Reached, request: Request, body: Json) -> dict[str, Any]:
    """List memories in parts, by a filter."""
    return _part(memories, _filters(body), request)


def _part(memories: Memories, filters: Mapping[str, Any], request: Request) -> dict[str, Any]:
    asked = request.query_params
    page = most(_number(asked.get("page") or "1", "page"))
    size = most(_number(asked.get("page_size") or str(_PAGE), "page_size"))
    if page < 1 or size < 1:
        raise InputError("page and page_size are whole numbers from 1")
    found = memories.get_all(filters=filters, top_k=_ALL)["results"]

    def place(number: int) -> str | None:
        there = 1 <= number <= -(-len(found) // size)
        return str(request.url.include_query_params(page=number, page_size=size)) if there else None

    shown = found[(page - 1) * size : page * size]
    return {"count": len(found), "next": place(page + 1), "previous": place(page - 1), "results": shown}


@_at("POST", "/search", "/v1/memories/search", "/v2/memories/search", "/v3/memories/search")
def search(memories: Reached, body: Json) -> dict[str, Any]:
    """Search memories."""
    given = _named(body, _SEARCH)
    if body.get("app_id") is not None:
        given["filters"] = {**_object(given, "filters"), "app_id": body["app_id"]}
    return memories.search(body.get("query"), **given)  # type: ignore[arg-type]  # checked there, in mem0's words


@_at("DELETE", "/memories", "/v1/memories")
def delete_all(memories: Reached, request: Request) -> dict[str, str]:
    """Forget the memories of a user, agent or run."""
    return memories.delete_all(**{name: request.query_params.get(name) for name in ENTITIES})


@_at("POST", "/reset")
def reset(memories: Reached) -> dict[str, str]:
    """Forget all memories that the key reaches."""
    memories.reset()
    return {"message": "All memories reset"}


@_at("PUT", "/v1/batch")
def update_batch(memories: Reached, body: Json) -> dict[str, str]:
    """Change several memories."""
    for one in _batch(body):
        memories.update(str(one.get("memory_id")), **_named(one, _UPDATE))
    return {"message": f"Successfully updated {len(_batch(body))} memories"}


@_at("DELETE", "/v1/batch")
def delete_batch(memories: Reached, body: Json) -> dict[str, str]:
    """Forget several memories."""
    for one in _batch(body):
        memories.delete(str(one.get("memory_id")))
    return {"message": f"Successfully deleted {len(_batch(body))} memories"}


@_at("GET", "/v1/entities")
def entities(memories: Reached) -> dict[str, Any]:
    """The users of whom there are memories."""
    found = [{"id": name, "name": name, "type": "user"} for name in memories.users()]
    return {"count": len(found), "next": None, "previous": None, "results": found}


@_at("DELETE", "/v2/entities/{kind}/{name}")
def delete_entity(memories: Reached, kind: str, name: str) -> dict[str, str]:
    """Forget a user, an agent or a run."""
    if f"{kind}_id" not in ENTITIES:
        raise InputError(f"there is no entity {kind!r}; one of: user, agent, run")
    memories.delete_all(**{f"{kind}_id": name})
    return {"message": "Entity deleted successfully!"}


@_at("GET", "/memories/{memory_id}", "/v1/memories/{memory_id}")
def get(memories: Reached, memory_id: str) -> dict[str, Any]:
    """Read one memory."""
    found = memories.get(memory_id)
    if found is None:
        raise not_found(memory_id)
    return found


@_at("PUT", "/memories/{memory_id}", "/v1/memories/{memory_id}")
def update(memories: Reached, memory_id: str, body: Json) -> dict[str, str]:
    """Change one memory."""
    return memories.update(memory_id, **_named(body, _UPDATE, none=("expiration_date",)))


@_at("DELETE", "/memories/{memory_id}", "/v1/memories/{memory_id}")
def delete(memories: Reached, memory_id: str) -> dict[str, str]:
    """Forget one memory."""
    return memories.delete(memory_id)


@_at("GET", "/memories/{memory_id}/history", "/v1/memories/{memory_id}/history")
def history(memories: Reached, memory_id: str) -> list[dict[str, Any]]:
    """What became of one memory."""
    return memories.history(memory_id)


def _named(body: Mapping[str, Any], names: Sequence[str], none: Sequence[str] = ()) -> dict[str, Any]:
    """The entries of a body that a call takes; what is null is not given."""
    return {name: body[name] for name in names if name in body and (body[name] is not None or name in none)}


def _ids_too(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """A body of `add` with the ids that the platform takes in `filters`."""
    inside = body.get("filters")
    return {**inside, **body} if isinstance(inside, Mapping) else body


def _filters(body: Mapping[str, Any]) -> dict[str, Any]:
    """The filter of a list, with the ids beside it."""
    return {**_named(body, (*ENTITIES, "app_id")), **_object(body, "filters")}


def _object(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """An entry of a body that is an object; an empty one where it is missing. Raises InputError."""
    found = body.get(name) or {}
    if not isinstance(found, Mapping):
        raise InputError(f"{name} is {type(found).__name__}; give an object")
    return found


def _batch(body: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    found = body.get("memories")
    if not isinstance(found, list) or not all(isinstance(one, Mapping) for one in found):
        raise InputError("memories is not a list of objects with a memory_id")
    return found


def _number(text: str | None, name: str) -> int | None:
    if text is None:
        return None
    if not text.isdecimal():
        raise InputError(f"{name} = {text!r} is not a whole number")
    return int(text)
