"""How large a body a client may send."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection

from embermem.core.errors import EmberError
from embermem.http.access import is_stranger
from embermem.http.middleware import HttpMiddleware
from embermem.http.problems import BodyTooLarge, Unauthorized, answer

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

STRANGERS_BYTES = 64 * 1024
"""The largest body that is read before its key is: a login's form. Routes read bodies whole, and files onto the disk,
before they ask who sent them."""


class BodyLimit(HttpMiddleware):
    """Refuses a body of more than `most` bytes, by its Content-Length, or as it comes. `larger` names paths that may
    take more. Where keys are required, a large body is read only for a key that holds."""

    def __init__(self, app: ASGIApp, most: int, larger: Mapping[str, int] | None = None) -> None:
        super().__init__(app)
        self._most = most
        self._larger = larger or {}

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        most = self._larger.get(scope["path"], self._most)
        length = _announced(Headers(scope=scope))
        if most < length < math.inf:
            await answer(scope, _too_large(most))(scope, receive, send)
            return
        try:
            if length > STRANGERS_BYTES and await run_in_threadpool(is_stranger, HTTPConnection(scope)):
                if length != math.inf:
                    raise Unauthorized("a body of this size requires a valid key")
                most = min(most, STRANGERS_BYTES)
        except EmberError as error:
            await answer(scope, error)(scope, receive, send)
            return
        came, begun = 0, False

        async def counted() -> Message:
            nonlocal came
            message = await receive()
            came += len(message.get("body", b""))
            if came > most:
                raise HTTPException(413)  # of a kind that parsers of bodies let through
            return message

        async def unless_too_large(message: Message) -> None:
            nonlocal begun
            if came <= most or begun:
                begun = True
                await send(message)

        try:
            await self._app(scope, counted, unless_too_large)
        except HTTPException:
            if came <= most:
                raise
        if came > most and not begun:
            await answer(scope, _too_large(most))(scope, receive, send)


def _announced(headers: Headers) -> float:
    """The length that a request says its body has; infinite where it comes in chunks."""
    said = headers.get("content-length", "0")
    return math.inf if "transfer-encoding" in headers or not said.isdecimal() else int(said)


def _too_large(most: int) -> BodyTooLarge:
    return BodyTooLarge(
        f"the body is larger than {most} bytes (the settings http_body_bytes, http_import_bytes, proxy_body_bytes); "
        "send less at once"
    )
