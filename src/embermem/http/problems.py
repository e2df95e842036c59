"""Failures as problem details (RFC 9457): what was wrong, where, and what to do.

Every error of ours becomes one answer of the kind `application/problem+json`, with the type
`urn:embermem:problem:<the error's tag>`. Texts of the database, of a disk or of an unexpected exception never stand in
an answer: they are in the log, beside the request's id.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeVar

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from embermem.core import errors
from embermem.core.errors import EmberError

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import Scope

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
REQUEST_ID = "ember.request_id"
"""Where a request's scope holds its id."""
_LONGEST_DETAIL = 2000
_MOST_ERRORS = 50


class HttpError(EmberError):
    """A failure that only a server knows. `status` is its HTTP status."""

    tag = "http-error"
    status = 500


class Unauthorized(HttpError):
    """No key, or one that is not ours, was revoked, or has a fault."""

    tag = "unauthorized"
    status = 401


class Forbidden(HttpError):
    """The key does not hold this owner, or not this right; or the request comes from a foreign page."""

    tag = "forbidden"
    status = 403


class BodyTooLarge(HttpError):
    """The request's body is larger than the server takes."""

    tag = "body-too-large"
    status = 413


class TooManyRequests(HttpError):
    """The key asked more than `http_rate_per_minute` allows. `retry_after_s` is when there is room again."""

    tag = "too-many-requests"
    status = 429

    def __init__(self, message: str, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """What a failed request is told. `errors` are pairs of where and what; `headers` go with the answer."""

    kind: str
    title: str
    status: int
    detail: str
    errors: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)

    def body(self, request_id: str | None = None) -> dict[str, Any]:
        """As the contract writes it; `instance` names the request."""
        made: dict[str, Any] = {
            "type": f"urn:embermem:problem:{self.kind}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
        }
        if request_id is not None:
            made["instance"] = f"urn:embermem:request:{request_id}"
        if self.errors:
            made["errors"] = [{"where": where, "what": what} for where, what in self.errors]
        return made


Shape = Callable[[Problem, "Request"], Response]
"""How one route tells its failures, where it must not be problem+json."""
_Route = TypeVar("_Route", bound=Callable[..., Any])
_SHAPE = "__ember_shape__"


def shaped(shape: Shape) -> Callable[[_Route], _Route]:
    """Marks a route (below its `@router.get(…)`) whose failures are told in a form of its own, as OpenAI's, or a page.

    It also holds for failures before the route runs: a missing key, a body that cannot be read.
    """

    def marked(route: _Route) -> _Route:
        setattr(route, _SHAPE, shape)
        return route

    return marked


# ------------------------------------------------------------------------------------------------ errors → problems

_STATUS: Mapping[type[EmberError], int] = {
    errors.KeyReused: 409,
    errors.Unchangeable: 409,
    errors.InputError: 422,
    errors.NotFound: 404,
    errors.NotGranted: 403,
    errors.StoreBusy: 503,
    errors.StoreFull: 507,
    errors.StoreReadOnly: 503,
    errors.StoreUnreachable: 503,
    errors.StoreClosed: 503,
    errors.StaleLease: 409,
    errors.RevisionMoved: 409,
    errors.StoreError: 500,
    errors.EmbedderMissing: 503,
    errors.EmbedderMismatch: 503,
    errors.EmbedderError: 502,
    errors.ModelMissing: 503,
    errors.ModelTimeout: 504,
    errors.ModelBusy: 503,
    errors.ModelError: 502,
    errors.ModelWait: 503,
    errors.AnalystError: 502,
    errors.ConfigError: 422,
}
"""The status of each error; the nearest class counts. A ConfigError in a request is of a value that it gave."""

_SAID: Mapping[type[EmberError], str] = {
    errors.StoreBusy: "the store was locked for too long; nothing was stored; try again",
    errors.StoreFull: "the server's disk is full; acknowledged content is kept",
    errors.StoreReadOnly: "the server cannot write its store",
    errors.StoreUnreachable: "the server's database cannot be reached: repeat the request with its key",
    errors.StoreClosed: "the server is stopping",
    errors.RevisionMoved: "another change was applied first; read and decide again",
    errors.StaleLease: "another worker took over; try again",
    errors.StoreError: "the store failed; nothing was half done; the server's log says more",
    errors.EmbedderError: "the embedder failed; the server's log says more",
}
"""What is told in place of the error's own text, which names files or addresses of the server."""

_RETRY_S = 1
"""Seconds after which a busy or stopping server, or another change, is worth another try."""
_RETRY = (errors.StoreBusy, errors.StoreUnreachable, errors.StoreClosed, errors.StaleLease, errors.RevisionMoved)


def problem_of(error: Exception) -> Problem:
    """The problem that an error is told as."""
    if isinstance(error, RequestValidationError):
        return _of_validation(error.errors())
    if isinstance(error, HTTPException):
        return _of_framework(error)
    if not isinstance(error, EmberError):
        return Problem(
            kind="internal",
            title="Internal error",
            status=500,
            detail="an unexpected error; the server's log has it under this request's id",
        )
    status = error.status if isinstance(error, HttpError) else _nearest(_STATUS, error, 500)
    return Problem(
        kind=error.tag,
        title=error.tag.replace("-", " ").capitalize(),
        status=status,
        detail=_cut(_nearest(_SAID, error, str(error))),
        headers=_headers(error),
    )


def _headers(error: EmberError) -> dict[str, str]:
    if isinstance(error, Unauthorized):
        return {"WWW-Authenticate": 'Bearer realm="ember"'}
    wait: float | None = getattr(error, "retry_after_s", None)
    if isinstance(error, errors.ModelWait):
        wait = (error.retry_at - datetime.now(UTC)).total_seconds()
    elif wait is None and isinstance(error, _RETRY):
        wait = _RETRY_S
    return {} if wait is None else {"Retry-After": str(max(1, math.ceil(wait)))}


def _of_validation(found: Sequence[Any]) -> Problem:
    listed = tuple((_where(one.get("loc", ())), _cut(str(one.get("msg", "")), 300)) for one in found[:_MOST_ERRORS])
    first = "; ".join(f"{where}: {what}" for where, what in listed[:3])
    return Problem(kind="input-error", title="Input error", status=422, detail=_cut(first), errors=listed)


def _of_framework(error: HTTPException) -> Problem:
    try:
        phrase = HTTPStatus(error.status_code).phrase
    except ValueError:
        phrase = "Error"
    detail = {404: "there is nothing at this address", 405: "this address takes other methods; Allow names them"}
    return Problem(
        kind=phrase.lower().replace(" ", "-"),
        title=phrase.capitalize(),
        status=error.status_code,
        detail=detail.get(error.status_code, _cut(str(error.detail or phrase))),
        headers=dict(error.headers or {}),
    )


_Found = TypeVar("_Found")


def _nearest(table: Mapping[type[EmberError], _Found], error: EmberError, other: _Found) -> _Found:
    return next((table[kind] for kind in type(error).__mro__ if kind in table), other)


def _where(path: Sequence[object]) -> str:
    return ".".join(str(part) for part in path)[:200]


def _cut(text: str, longest: int = _LONGEST_DETAIL) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


# ----------------------------------------------------------------------------------------------- problems → answers


def install(app: FastAPI, lost: Shape | None = None, shape_at: Callable[[str], Shape | None] | None = None) -> None:
    """Every failure of the application is answered as a problem.

    `lost` tells browsers that there is nothing at an address: what it makes is shown in place of the problem.
    `shape_at` knows the form of failures at a path, for those that come before a route is found.
    """
    app.state.lost, app.state.shape_at = lost, shape_at
    for kind in (EmberError, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, _handle)


def answer(scope: Scope, error: Exception) -> Response:
    """The answer to a request that failed before a route was found."""
    problem = problem_of(error)
    shape_at: Callable[[str], Shape | None] | None = getattr(scope["app"].state, "shape_at", None)
    shape = None if shape_at is None else shape_at(scope["path"])
    return _response(problem, scope) if shape is None else _shaped(shape, problem, Request(scope))


def _handle(request: Request, error: Exception) -> Response:
    problem = problem_of(error)
    if problem.status >= 500:
        logger.error("failed", exc_info=error, extra={"request_id": request.scope.get(REQUEST_ID)})
    endpoint = request.scope.get("endpoint")
    shape: Shape | None = getattr(endpoint, _SHAPE, None)
    if problem.status == HTTPStatus.NOT_FOUND and endpoint is None and _of_a_browser(request):
        shape = request.app.state.lost
    if shape is None:
        return _response(problem, request.scope)
    return _shaped(shape, problem, request)


def _shaped(shape: Shape, problem: Problem, request: Request) -> Response:
    made = shape(problem, request)
    for name, value in problem.headers.items():
        made.headers.setdefault(name, value)
    return made


def _of_a_browser(request: Request) -> bool:
    """Whether a page was asked for. Below /v1 all answers are JSON, whoever asks."""
    api = f"{request.url.path}/".startswith("/v1/")
    return request.method in ("GET", "HEAD") and not api and "text/html" in request.headers.get("accept", "")


def _response(problem: Problem, scope: Scope) -> Response:
    # ASCII: a client's text may hold half a character, which UTF-8 cannot carry.
    content = json.dumps(problem.body(scope.get(REQUEST_ID)), ensure_ascii=True)
    return Response(content, problem.status, dict(problem.headers), MEDIA_TYPE)


# ------------------------------------------------------------------------------------------------------ in OpenAPI

SCHEMA: Mapping[str, Any] = {
    "title": "Problem",
    "description": "Why a request failed (RFC 9457).",
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "examples": ["urn:embermem:problem:not-found"]},
        "title": {"type": "string", "examples": ["Not found"]},
        "status": {"type": "integer", "examples": [404]},
        "detail": {"type": "string", "examples": ["no page 'p1' of alice/default"]},
        "instance": {"type": "string", "description": "The request, as in the header X-Request-Id and the log."},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["where", "what"],
                "properties": {"where": {"type": "string"}, "what": {"type": "string"}},
            },
        },
    },
}

_TOLD: Mapping[int, str] = {
    400: "The request cannot be read.",
    401: "A key is needed, or the one given does not hold.",
    403: "The key does not hold this owner or this right, or the request comes from a foreign page.",
    404: "This owner has no such item.",
    405: "This address takes other methods; `Allow` names them.",
    408: "The request did not arrive in time.",
    409: "It does not fit what is there: a key reused with other content, or another change came first.",
    413: "The body is too large.",
    415: "The body is of a kind that is not read here.",
    422: "The input cannot be stored or asked; `errors` says where.",
    429: "Too many requests with this key; `Retry-After` says when there is room.",
    500: "An unexpected error; the log has it under the request's id.",
    502: "The language model or the embedder failed.",
    503: "Busy, stopping or not set up; `Retry-After` says when to come again, if that helps.",
    504: "The language model did not answer in time.",
    507: "The disk is full.",
}

ANSWERS: dict[int | str, dict[str, Any]] = {
    status: {"description": told, "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
    for status, told in _TOLD.items()
}
"""The failures that any route may answer with; create_app documents them on every route."""
