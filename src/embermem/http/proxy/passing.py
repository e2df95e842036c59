"""Routes that are passed on as they are: nothing is remembered for them, and nothing of them is kept."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import httpx2
from anyio.to_thread import run_sync
from fastapi import APIRouter, Request
from starlette.responses import Response, StreamingResponse

from embermem.core.errors import NotFound
from embermem.http.access import Access, Accessible, Right
from embermem.http.problems import Forbidden, Problem, problem_of, shaped
from embermem.http.proxy.errors import FORMS
from embermem.http.proxy.request import agent_named, user_named
from embermem.http.proxy.shared import answered_as, shared_of, upstream_of
from embermem.http.proxy.upstream import Server, failure, read, returned, send

if TYPE_CHECKING:
    from embermem.http.proxy.upstream import Upstream

__all__ = ["LARGER", "router"]

router = APIRouter()

_ASKED = (
    "/v1/completions",
    "/v1/embeddings",
    "/v1/moderations",
    "/v1/images/{rest:path}",
    "/v1/audio/{rest:path}",
)
"""Questions to a model."""
_HELD = (
    "/v1/responses/{rest:path}",
    "/v1/conversations",
    "/v1/conversations/{rest:path}",
    "/v1/chat/completions/{rest:path}",
)
"""What upstream holds: who asks for it knows its id, which is chance."""
_ACCOUNTS = (
    "agents assistants batches chatkit containers content_provenance_checks decisions deployment_runs deployments "
    "dreams environments evals files fine_tuning live memory_stores organization organizations projects realtime "
    "safety sessions skills threads tunnels uploads user_profiles vaults vector_stores videos webhook_endpoints "
    "webhook_event_types"
).split()
"""What OpenAI and Anthropic hold for everybody who has the key, with lists of all of it."""
_OLLAMA = frozenset({"chat", "embed", "embeddings", "generate", "ps", "show", "tags", "version"})
"""What changes no models."""
_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
_STREAMS = ("text/event-stream", "application/x-ndjson")

LARGER = frozenset(
    {
        "/v1/completions",
        "/v1/embeddings",
        "/v1/moderations",
        "/v1/images/edits",
        "/v1/images/variations",
        "/v1/audio/transcriptions",
        "/v1/audio/translations",
        "/v1/responses/compact",
        "/v1/responses/input_tokens",
        "/v1/messages/count_tokens",
        "/v1/files",
        "/v1/messages/batches",
        "/api/generate",
        "/api/embed",
        "/api/embeddings",
    }
)


def _by_version(problem: Problem, request: Request) -> Response:
    return answered_as(_server_by_version(request))(problem, request)


@router.get("/v1/models", include_in_schema=False)
@router.get("/v1/models/{rest:path}", include_in_schema=False)
@shaped(_by_version)
async def models(request: Request, access: Accessible) -> Response:
    """Upstream's models, or one of them."""
    return await _passed(request, upstream_of(request, _server_by_version(request)))


@shaped(answered_as(Server.OPENAI))
async def openai(request: Request, access: Accessible) -> Response:
    """A question to a model, or something that upstream holds."""
    await _may(request, access)
    return await _passed(request, upstream_of(request, Server.OPENAI))


@router.get("/v1/chat/completions", include_in_schema=False)
@shaped(_by_version)
async def accounts(request: Request, access: Accessible) -> Response:
    """What upstream holds for its account."""
    await _may(request, access)
    return await _passed(request, _own(upstream_of(request, _server_by_version(request))))


@router.post("/v1/messages/count_tokens", include_in_schema=False)
@shaped(answered_as(Server.ANTHROPIC))
async def count_tokens(request: Request, access: Accessible) -> Response:
    """How many tokens a request has, without the memory that would be added."""
    await _may(request, access)
    return await _passed(request, upstream_of(request, Server.ANTHROPIC))


@router.api_route("/v1/messages/{rest:path}", methods=_METHODS, include_in_schema=False)
@shaped(answered_as(Server.ANTHROPIC))
async def anthropics_accounts(request: Request, access: Accessible) -> Response:
    """Batches, which upstream holds for its account."""
    await _may(request, access)
    return await _passed(request, _own(upstream_of(request, Server.ANTHROPIC)))


@router.api_route("/api/{rest:path}", methods=[*_METHODS, "HEAD"], include_in_schema=False)
@shaped(answered_as(Server.OLLAMA))
async def ollama(request: Request, access: Accessible, rest: str) -> Response:
    """All else of Ollama's that changes no models. Raises Forbidden for what does."""
    if rest not in _OLLAMA:
        raise Forbidden(f"the proxy does not pass on /api/{rest}: ask the Ollama server itself")
    await _may(request, access)
    return await _passed(request, upstream_of(request, Server.OLLAMA))


for _path in _ASKED:
    router.add_api_route(_path, openai, methods=["POST"], include_in_schema=False)
for _path in _HELD:
    router.add_api_route(_path, openai, methods=["GET", "POST", "DELETE"], include_in_schema=False)
for _name in _ACCOUNTS:
    for _path in (f"/v1/{_name}", f"/v1/{_name}/{{rest:path}}"):
        router.add_api_route(_path, accounts, methods=_METHODS, include_in_schema=False)


def _server_by_version(request: Request) -> Server:
    return Server.ANTHROPIC if "anthropic-version" in request.headers else Server.OPENAI


def _own(target: Upstream) -> Upstream:
    """An upstream that is asked with the client's own key. Raises Forbidden: with ours, one user would see what
    another's programs hold there."""
    if not target.own:
        raise Forbidden("the proxy passes this on only with the client's own key: ask the upstream server itself")
    return target


async def _may(request: Request, access: Access) -> None:
    """Raises Forbidden where the key does not hold the owner, or may only read: upstream costs money."""
    user, agent = user_named(await request.body(), request.headers), agent_named(request.headers)
    await run_sync(lambda: access.owner(user, agent, Right.READ if request.method == "GET" else Right.WRITE))


async def _passed(request: Request, target: Upstream) -> Response:
    """Upstream's answer to the same request. Raises NotFound for an address that would lead to other ones."""
    rest = request.path_params.get("rest", "")
    if {".", ".."} & set(rest.replace("\\", "/").split("/")):
        raise NotFound("this address must not hold . or .. as a part")
    raw: bytes = request.scope.get("raw_path") or request.url.path.encode()
    proxy = shared_of(request)
    sent = proxy.client.build_request(
        request.method,
        target.address(raw.decode("ascii").lstrip("/").partition("/")[2], request.url.query),
        content=await request.body(),
        headers=target.headers(request.headers.items()),
    )
    answer = await send(proxy.client, sent, proxy.timeout_s)
    headers = returned(answer.headers)
    if answer.is_success and answer.headers.get("content-type", "").startswith(_STREAMS):
        return StreamingResponse(_pieces(answer, target.server), answer.status_code, headers)
    return Response(await read(answer, proxy.answer_bytes, proxy.timeout_s), answer.status_code, headers)


async def _pieces(answer: httpx2.Response, server: Server) -> AsyncIterator[bytes]:
    """A stream as it comes; where upstream breaks it off, its client is told so in the protocol's form."""
    last = b"\n"
    try:
        async for chunk in answer.aiter_bytes():
            last = chunk or last
            yield chunk
    except httpx2.RequestError as error:
        told = json.dumps(FORMS[server](problem_of(failure(error)))).encode()
        if answer.headers["content-type"].startswith(_STREAMS[0]):
            yield b"\n\ndata: " + told + b"\n\n"
        else:
            yield (b"" if last.endswith(b"\n") else b"\n") + told + b"\n"
    finally:
        await answer.aclose()
