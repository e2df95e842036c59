"""The routes at which a client talks to a model: what upstream answers, with memory in the prompt."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from typing import TYPE_CHECKING, cast

from anyio.to_thread import run_sync
from fastapi import APIRouter, Request
from starlette.background import BackgroundTask
from starlette.responses import Response

from embermem.http.access import Access, Accessible, Right
from embermem.http.problems import shaped
from embermem.http.proxy import passing
from embermem.http.proxy.dialects.chat_completions import ChatCompletions
from embermem.http.proxy.dialects.dialect import Dialect
from embermem.http.proxy.dialects.messages import Messages
from embermem.http.proxy.dialects.ollama import OllamaChat
from embermem.http.proxy.dialects.responses import Responses
from embermem.http.proxy.relay import Relay
from embermem.http.proxy.replies import parsed
from embermem.http.proxy.request import Asked, asked
from embermem.http.proxy.shared import Shared, answered_as, shared_of, upstream_of
from embermem.http.proxy.talk import Known, Remembered, Talk
from embermem.http.proxy.upstream import Server, read, returned, send
from embermem.http.serving import serving_of
from embermem.llms.turns import turns_at

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from fastapi import FastAPI

    from embermem.http.problems import Shape

__all__ = ["LARGER", "router", "shape_at"]

_DIALECTS: tuple[Dialect, ...] = (ChatCompletions(), Responses(), Messages(), OllamaChat())
LARGER = frozenset({*(dialect.path for dialect in _DIALECTS), *passing.LARGER})
"""Paths whose bodies may be larger than others: images travel in them."""


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    yield
    if (shared := getattr(app.state, "proxy", None)) is not None:
        await cast(Shared, shared).client.aclose()


def shape_at(path: str) -> Shape | None:
    """The form of failures at a path of the proxy that its bodies come to, before the route is found."""
    if path not in LARGER:
        return None
    if path.startswith("/api/"):
        return answered_as(Server.OLLAMA)
    return answered_as(Server.ANTHROPIC if path.startswith("/v1/messages") else Server.OPENAI)


router = APIRouter(lifespan=_lifespan)


def _talking(dialect: Dialect) -> Callable[..., Coroutine[None, None, Response]]:
    @shaped(answered_as(dialect.server))
    async def talk(request: Request, access: Accessible) -> Response:
        return await _talk(request, access, dialect)

    return talk


# The form of these routes is the protocol's, and so is their description.
for _dialect in _DIALECTS:
    router.add_api_route(_dialect.path, _talking(_dialect), methods=["POST"], include_in_schema=False)
router.include_router(passing.router)


async def _talk(request: Request, access: Access, dialect: Dialect) -> Response:
    """An answer of upstream's, with memory. What was said is kept."""
    target, proxy = upstream_of(request, dialect.server), shared_of(request)
    given = asked(await request.body(), request.headers, dialect)
    talk, remembered = await run_sync(_opened, request, access, given, proxy.known)
    keeping = asyncio.create_task(run_sync(talk.keep))  # while upstream is asked; before its answer is passed on
    first = ExitStack()
    first.enter_context(turns_at(target.url).chat())  # background questions to the same server give way
    answer = None
    try:
        try:
            sent = proxy.client.build_request(
                "POST",
                target.address(dialect.sent_to, request.url.query),
                content=given.body(remembered.block),
                headers=target.headers(request.headers.items()),
            )
            answer = await send(proxy.client, sent, proxy.timeout_s)
        finally:
            await asyncio.shield(keeping)
    except BaseException:  # also where what was said could not be kept
        first.close()
        if answer is not None:
            await answer.aclose()
        raise
    headers = {**returned(answer.headers), **_ours(talk, remembered)}
    counting = BackgroundTask(talk.visit, remembered) if answer.is_success else None
    if answer.is_success and answer.headers.get("content-type", "").startswith(dialect.stream):
        return Relay(
            answer,
            headers,
            dialect=dialect,
            most_bytes=proxy.answer_bytes,
            keep=lambda reply: run_sync(talk.close, reply),
            background=counting,
            first=first,
        )
    with first:
        content = await read(answer, proxy.answer_bytes, proxy.timeout_s)
    if answer.is_success:
        await run_sync(talk.close, dialect.reply(parsed(content)))
    return Response(content, answer.status_code, headers, background=counting)


def _opened(request: Request, access: Access, given: Asked, known: Known) -> tuple[Talk, Remembered]:
    """Raises Forbidden where the key does not hold the owner, or may only read: upstream costs money."""
    owner = access.owner(given.user, given.agent, Right.WRITE, shares=given.shares, person_from=given.person_from)
    memory = serving_of(request).memory
    talk = Talk(
        memory,
        owner,
        known,
        given.told,
        thread=given.thread,
        keep=given.keep,
        scope=given.scope,
        metadata=given.metadata,
        origin=given.origin,
    )
    talk.open()
    return talk, talk.recall() if given.remember else Remembered(state="off")


def _ours(talk: Talk, remembered: Remembered) -> dict[str, str]:
    """Headers are bytes; a thread's name may be of any writing."""
    thread = {} if talk.thread is None else {"x-ember-thread": talk.thread.encode().decode("latin-1")}
    return {"x-ember-memory": remembered.state, **thread}
