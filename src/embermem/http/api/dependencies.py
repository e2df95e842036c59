"""What the routes share: the owner of a request, the parameters of lists, and a router that documents itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Path, Query
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import AfterValidator, ValidationError
from starlette.requests import HTTPConnection, Request

from embermem.core.errors import InputError, NotFound
from embermem.core.messages import LookBack
from embermem.core.types import Scope
from embermem.http.access import Access, Accessible, Right
from embermem.http.api import bodies
from embermem.http.api.listing import Asked
from embermem.http.serving import serving_of
from embermem.memory import OwnerMemory


def text_query(description: str, longest: int = bodies.LONGEST_NAME, examples: list[Any] | None = None) -> Any:
    """A text parameter that is not empty and not longer than `longest`."""
    return Query(min_length=1, max_length=longest, description=description, examples=examples)


def time_query(description: str) -> Any:
    """A time parameter."""
    return text_query(description, bodies.LONGEST_TIME)


UserQuery = Annotated[str, text_query("The user.", examples=["alice"])]
AgentQuery = Annotated[str, text_query("The agent.", examples=["tutor"])]
SpaceQuery = Annotated[
    str | None, text_query("A shared space in place of the user's own memory, as it was granted.", bodies.LONGEST_SPACE)
]
RunQuery = Annotated[str | None, text_query("Only this thread.")]
Limit = Annotated[int, Query(ge=0, le=bodies.MOST_RESULTS, description="Most items.")]
Cursor = Annotated[str | None, text_query("The `next_cursor` of the previous page.", bodies.LONGEST_CURSOR)]
AsOf = Annotated[str | None, time_query("Read what was known at this time or day.")]
ScopeQuery = Annotated[
    str | None,
    text_query(
        "What may be seen, as JSON with the fields of `scope` in `POST /v1/search`.",
        bodies.LONGEST_CURSOR,
        ['{"threads": ["main"]}'],
    ),
]
ValidAt = Annotated[str | None, time_query("Read what was true at this time.")]
PersonQuery = Annotated[
    str | None,
    text_query("Only of this person: a name, a kin word such as `Bob's sister`, or `user`.", examples=["Ana"]),
]


def _possible(item_id: str) -> str:
    """Raises NotFound for an id that no memory can have."""
    if "\0" in item_id:
        raise NotFound(f"no memory {item_id!r}")
    return item_id


ItemId = Annotated[
    str,
    Path(min_length=1, max_length=bodies.LONGEST_NAME, description="An id from an answer."),
    AfterValidator(_possible),
]
Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=bodies.LONGEST_KEY,
        description="Idempotency key. Repeated with the same request, it changes nothing and returns what it "
        "returned; with another request it is refused (409).",
    ),
]
ChangeNo = Annotated[int, Path(ge=1, le=bodies.LARGEST, description="The change's number.")]


def reading(
    access: Accessible,
    user_id: UserQuery = bodies.DEFAULT,
    agent_id: AgentQuery = bodies.DEFAULT,
    space: SpaceQuery = None,
) -> OwnerMemory:
    """The memory that a request may read."""
    return access.owner(user_id, agent_id, Right.READ, space=space)


def bound(
    access: Accessible,
    user_id: UserQuery = bodies.DEFAULT,
    agent_id: AgentQuery = bodies.DEFAULT,
    space: SpaceQuery = None,
    shares: Annotated[
        list[str], Query(max_length=bodies.MOST_SHARES, description="Shared spaces to read too; repeatable.")
    ] = [],  # noqa: B006  (FastAPI copies it)
    person_from: Annotated[str | None, text_query("Another agent, whose knowledge of the user is told too.")] = None,
) -> OwnerMemory:
    """The memory that a request may read, with the spaces and the other agent that it names."""
    return _bound(access, user_id, agent_id, space, shares, person_from)


def writing(
    access: Accessible,
    user_id: UserQuery = bodies.DEFAULT,
    agent_id: AgentQuery = bodies.DEFAULT,
    space: SpaceQuery = None,
) -> OwnerMemory:
    """The memory that a request may change."""
    return access.owner(user_id, agent_id, Right.WRITE, space=space)


def asking(connection: HTTPConnection, limit: Limit = 50, cursor: Cursor = None) -> Asked:
    """Which part of a list a request asks for."""
    most_bytes = serving_of(connection).memory.settings.http_answer_bytes
    return Asked(limit=limit, cursor=cursor, most_bytes=most_bytes)


def looking_back(as_of: AsOf = None, valid_at: ValidAt = None) -> LookBack:
    """The moment that a request looks back to; nothing for now."""
    return then_of(as_of, valid_at)


def scoping(scope: ScopeQuery = None) -> Scope | None:
    """The scope that a request limits a list to."""
    if scope is None:
        return None
    try:
        return bodies.ScopeBody.model_validate_json(scope).scope
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        raise RequestValidationError([{**one, "loc": ("query", "scope", *one["loc"])} for one in found]) from error


def then_of(as_of: str | None, valid_at: str | None) -> LookBack:
    """As the memory's reads take it."""
    then = LookBack()
    if as_of is not None:
        then["as_of"] = as_of
    if valid_at is not None:
        then["valid_at"] = valid_at
    return then


Scoping = Annotated[Scope | None, Depends(scoping)]
LookingBack = Annotated[LookBack, Depends(looking_back)]
Reading = Annotated[OwnerMemory, Depends(reading)]
Bound = Annotated[OwnerMemory, Depends(bound)]
Writing = Annotated[OwnerMemory, Depends(writing)]
Asking = Annotated[Asked, Depends(asking)]


def read_by(access: Access, body: bodies.OwnerBody) -> OwnerMemory:
    """The memory that a body asks."""
    return access.owner(body.user_id, body.agent_id, Right.READ, space=body.space)


def bound_by(access: Access, body: bodies.Question, user: str, agent: str) -> OwnerMemory:
    """The memory that a question asks, with the spaces and the other agent that it names."""
    return _bound(access, user, agent, body.space, body.shares, body.person_from)


def _bound(
    access: Access, user: str, agent: str, space: str | None, shares: Sequence[str], person_from: str | None
) -> OwnerMemory:
    if space is not None and (shares or person_from is not None):
        raise InputError("space asks a shared space alone: leave shares and person_from out, or name it in shares")
    return access.owner(user, agent, Right.READ, space=space, shares=shares, person_from=person_from)


def written_by(access: Access, body: bodies.OwnerBody) -> OwnerMemory:
    """The memory that a body changes."""
    return access.owner(body.user_id, body.agent_id, Right.WRITE, space=body.space)


def only_known_parameters(request: Request) -> None:
    """Refuses a query parameter that the route does not know: one that was misspelt would be left out unseen. Raises
    RequestValidationError."""
    known = _parameters(request.scope["route"].dependant)
    unknown = [name for name in dict.fromkeys(request.query_params) if name not in known]
    if unknown:
        what = f"is not known; one of: {', '.join(known)}" if known else "is not known; this address takes none"
        raise RequestValidationError([{"loc": ("query", ascii(name)[1:-1]), "msg": what} for name in unknown])


def _parameters(dependant: Dependant) -> list[str]:
    """The names of the query parameters of a route, and of all that it depends on."""
    own = {one.alias for one in dependant.query_params}
    return sorted(own.union(*(_parameters(one) for one in dependant.dependencies)))


def router(tag: str, lifespan: Callable[[Any], Any] | None = None) -> APIRouter:
    """A router whose operations are named as its functions are."""
    return APIRouter(
        tags=[tag],
        generate_unique_id_function=_name,
        dependencies=[Depends(_request_id), Depends(only_known_parameters)],
        lifespan=lifespan,
    )


def _name(route: APIRoute) -> str:
    return route.name


def _request_id(
    x_request_id: Annotated[
        str | None,
        Header(description="An id of this request for the log and the answer; created if missing."),
    ] = None,
) -> None:
    """Documents the header; the frame reads it."""
