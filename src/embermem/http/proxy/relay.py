"""A stream of upstream's, passed on as it comes, and kept when it ends, breaks or is left."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

import anyio
import httpx2
from starlette.responses import Response

from embermem.http.problems import problem_of
from embermem.http.proxy.replies import Reply, StreamedReply
from embermem.http.proxy.upstream import failure

if TYPE_CHECKING:
    from contextlib import ExitStack

    from starlette.background import BackgroundTask
    from starlette.types import Receive, Scope, Send

    from embermem.http.proxy.dialects.dialect import Dialect

__all__ = ["Relay"]

logger = logging.getLogger(__name__)

Keep = Callable[[Reply | None], Awaitable[None]]


class Relay(Response):
    """Upstream's events, each chunk at once. The reply is kept before the event that ends the stream goes out, so that
    who has seen the end can rely on it; where the client leaves, or upstream breaks off, what came so far is. A reply
    of more than `most_bytes` is passed on and not kept. `first` is closed at the end of all."""

    def __init__(
        self,
        answer: httpx2.Response,
        headers: Mapping[str, str],
        *,
        dialect: Dialect,
        most_bytes: int,
        keep: Keep,
        background: BackgroundTask | None,
        first: ExitStack,
    ) -> None:
        super().__init__(status_code=answer.status_code, headers=headers)
        del self.headers["content-length"]
        self._answer = answer
        self._keep = keep
        self._background = background
        self._first = first
        self._dialect = dialect
        self._reply = StreamedReply(most_bytes, dialect.line, dialect.event)
        self._kept = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            async with anyio.create_task_group() as group:

                async def until_the_client_leaves() -> None:
                    while (await receive())["type"] != "http.disconnect":
                        pass
                    group.cancel_scope.cancel()

                group.start_soon(until_the_client_leaves)
                await self._pass_on(send)
                group.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True), self._first:
                await self._answer.aclose()
                await self._keep_once()
                if self._background is not None:
                    await self._background()

    async def _pass_on(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})

        async def out(content: bytes) -> None:
            if content:
                await send({"type": "http.response.body", "body": content, "more_body": True})

        try:
            async for chunk in self._answer.aiter_bytes():
                end = self._reply.feed(chunk)
                if end is not None:
                    await out(chunk[:end])
                    await self._keep_once()
                await out(chunk[end or 0 :])
        except httpx2.RequestError as error:
            await self._keep_once()
            broken = self._dialect.broken(problem_of(failure(error)))
            await out(self._reply.separator + broken)
        await self._keep_once()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _keep_once(self) -> None:
        if not self._kept:
            self._kept = True
            if self._reply.too_large:
                logger.info("a reply larger than proxy_answer_bytes was passed on, and is not kept")
            with anyio.CancelScope(shield=True):
                await self._keep(self._reply.reply())
