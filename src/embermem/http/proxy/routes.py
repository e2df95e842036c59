"""POST /v1/chat/completions and GET /v1/models: what upstream answers, with memory in the prompt."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import httpx2
from anyio.to_thread import run_sync
from fastapi import APIRouter, Request
from starlette.background import BackgroundTask
from starlette.responses import JSONResponse, Response

from embermem.core.errors import NotFound
from embermem.http.access import Access, Accessible, Right
from embermem.http.problems import Problem, shaped
from embermem.http.proxy.relay import Relay, as_openai
from embermem.http.proxy.replies import whole_reply
from embermem.http.proxy.request import Asked, asked
from embermem.http.proxy.talk import Known, Remembered, Talk
from embermem.http.proxy.upstream import Upstream, client, read, returned, send, upstream
from embermem.http.serving import kept, serving_of
from embermem.llms.turns import turns_at

if TYPE_CHECKING:
    from fastapi import FastAPI

__all__ = ["CHAT_PATH", "router"]

CHAT_PATH = "/v1/chat/completions"
"""Its bodies may be larger than others: images travel in them."""
_EVENTS = "text/event-stream"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Proxy:
    """What all requests share: the connections to upstream, and what is known of the owners' threads."""

    client: httpx2.AsyncClient
    known: Known
    timeout_s: float
    answer_bytes: int


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    yield
    if (proxy := getattr(app.state, "proxy", None)) is not None:
        await cast(_Proxy, proxy).client.aclose()


router = APIRouter(lifespan=_lifespan)


def _answered(problem: Problem, request: Request) -> Response:
    return JSONResponse(as_openai(problem), problem.status)


# The form of these routes is OpenAI's, and so is their description.
@router.post(CHAT_PATH, include_in_schema=False)
@shaped(_answered)
async def complete(request: Request, access: Accessible) -> Response:
    """A chat completion by upstream, with memory. What was said is kept."""
    target, proxy = _upstream(request), _proxy(request)
    given = asked(await request.body(), request.headers)
    talk, remembered = await run_sync(_opened, request, access, given, proxy.known)
    keeping = asyncio.create_task(run_sync(talk.keep))  # while upstream is asked; before its answer is passed on
    first = ExitStack()
    first.enter_context(turns_at(target.url).chat())  # background questions to the same server give way
    try:
        sent = proxy.client.build_request(
            "POST",
            f"{target.url}/chat/completions",
            content=given.body(remembered.block),
            headers=target.headers(request.headers.items()),
        )
        answer = await send(proxy.client, sent, proxy.timeout_s)
    except BaseException:
        first.close()
        raise
    finally:
        await asyncio.shield(keeping)
    headers = {**returned(answer.headers), **_ours(talk, remembered)}
    counting = BackgroundTask(talk.visit, remembered) if answer.is_success else None
    if answer.is_success and answer.headers.get("content-type", "").startswith(_EVENTS):
        return Relay(
            answer,
            headers,
            most_bytes=proxy.answer_bytes,
            keep=lambda reply: run_sync(talk.close, reply),
            background=counting,
            first=first,
        )
    with first:
        content = await read(answer, proxy.answer_bytes, proxy.timeout_s)
    if answer.is_success:
        await run_sync(talk.close, whole_reply(content))
    return Response(content, answer.status_code, headers, background=counting)


@router.get("/v1/models", include_in_schema=False)
@router.get("/v1/models/{name:path}", include_in_schema=False)
@shaped(_answered)
async def models(request: Request, access: Accessible, name: str | None = None) -> Response:
    """Upstream's models, or one of them. Raises NotFound for a name that would lead to upstream's other addresses."""
    if {".", ".."} & set((name or "").replace("\\", "/").split("/")):
        raise NotFound("a model's name must not be a path")
    target, proxy = _upstream(request), _proxy(request)
    path = request.scope["raw_path"].decode("ascii").partition("/v1/models")[2] if name else ""
    sent = proxy.client.build_request(
        "GET", f"{target.url}/models{path}", headers=target.headers(request.headers.items())
    )
    answer = await send(proxy.client, sent, proxy.timeout_s)
    content = await read(answer, proxy.answer_bytes, proxy.timeout_s)
    return Response(content, answer.status_code, returned(answer.headers))


def _upstream(request: Request) -> Upstream:
    serving = serving_of(request)
    authorization = request.headers.get("authorization", "")
    return upstream(serving.memory.settings, authorization, require_keys=serving.require_keys)


def _proxy(request: Request) -> _Proxy:
    settings = serving_of(request).memory.settings

    def make() -> _Proxy:
        return _Proxy(
            client=client(settings),
            known=Known(settings.proxy_known),
            timeout_s=settings.proxy_timeout_s,
            answer_bytes=settings.proxy_answer_bytes,
        )

    return kept(request.app, "proxy", make)


def _opened(request: Request, access: Access, given: Asked, known: Known) -> tuple[Talk, Remembered]:
    """Raises Forbidden where the key does not hold the owner, or may only read: upstream costs money."""
    owner = access.owner(given.user, given.agent, Right.WRITE, shares=given.shares, person_from=given.person_from)
    memory = serving_of(request).memory
    talk = Talk(
        memory,
        owner,
        known,
        given.messages,
        thread=given.thread,
        keep=given.keep,
        scope=given.scope,
        metadata=given.metadata,
    )
    talk.open()
    return talk, talk.recall() if given.remember else Remembered(state="off")


def _ours(talk: Talk, remembered: Remembered) -> dict[str, str]:
    """Headers are bytes; a thread's name may be of any writing."""
    thread = {} if talk.thread is None else {"x-ember-thread": talk.thread.encode().decode("latin-1")}
    return {"x-ember-memory": remembered.state, **thread}
