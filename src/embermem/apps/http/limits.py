"""How much a client may ask: requests a minute for each key, and the size of a body."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

from embermem.apps.http.problems import BodyTooLarge, answer

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: float


class RateLimit:
    """A token bucket for each key: `per_minute` requests at once, and as many again in each minute; 0: no limit.

    The buckets are this process's: two servers on one store count apart. `clock` gives seconds that only grow.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: dict[str, _Bucket] = {}

    def take(self, key_id: str) -> float:
        """Count one request: 0.0, or the seconds until there is room for it. Then it is not counted."""
        if self._per_minute == 0:
            return 0.0
        rate, now = self._per_minute / 60.0, self._clock()
        with self._lock:
            bucket = self._buckets.setdefault(key_id, _Bucket(self._per_minute, now))
            bucket.tokens = min(float(self._per_minute), bucket.tokens + (now - bucket.at) * rate)
            bucket.at = now
            if bucket.tokens < 1.0:
                return (1.0 - bucket.tokens) / rate
            bucket.tokens -= 1.0
            return 0.0


class BodyLimit:
    """Refuses a body of more than `most` bytes, by its Content-Length, or as it comes. `larger` names paths that may
    take more."""

    def __init__(self, app: ASGIApp, most: int, larger: Mapping[str, int] | None = None) -> None:
        self._app = app
        self._most = most
        self._larger = larger or {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most = self._larger.get(scope["path"], self._most)
        said = Headers(scope=scope).get("content-length", "")
        if said.isdecimal() and int(said) > most:
            await answer(scope, _too_large(most))(scope, receive, send)
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


def _too_large(most: int) -> BodyTooLarge:
    return BodyTooLarge(f"the body is larger than {most} bytes (the setting http_body_bytes); send less at once")
