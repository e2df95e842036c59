"""Connections: how many are held at once, how long a request may take to arrive, and an answer to be taken.

uvicorn closes a connection that is idle between two requests, and waits for ever where half a request came, or where
nobody reads the answer. Such connections cost a client nothing and the server a socket each, until it has none left.
"""

from __future__ import annotations

import asyncio
import json
import logging
from enum import Enum
from typing import TYPE_CHECKING, Any, cast

import h11
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol

from embermem.http import problems
from embermem.http.problems import HttpError

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from uvicorn.config import Config

    from embermem.core.config import Settings

__all__ = ["BoundedProtocol", "RequestTooSlow", "TooManyConnections"]

logger = logging.getLogger(__name__)

_LAST_S = 1.0
"""How long a connection that is closed may take to hand over the last words."""


class RequestTooSlow(HttpError):
    """The request did not arrive in time."""

    tag = "request-too-slow"
    status = 408


class TooManyConnections(HttpError):
    """As many connections as the server holds are all at work."""

    tag = "too-many-connections"
    status = 503
    retry_after_s = 1.0


class _Awaits(Enum):
    """What of a request has not arrived yet."""

    HEAD = "head"
    BODY = "body"


class BoundedProtocol(H11Protocol):
    """One connection of a server, whose application has a memory at `state.serving`; its settings say how much.

    The head of a request has `http_request_s` seconds, and then its body as many, and one more for each
    `http_least_rate` bytes that came; after that 408 is answered. No time counts while the server itself does not read.
    An answer must be taken at that rate too. Beyond `http_connections` the one that has waited longest for a request,
    or for the rest of one, is closed; where all are at work, the newcomer is answered 503.
    """

    def __init__(self, config: Config, *args: Any, **more: Any) -> None:
        super().__init__(config, *args, **more)
        settings: Settings = cast("Starlette", config.app).state.serving.memory.settings
        self._most = settings.http_connections
        self._wait_s = settings.http_request_s
        self._least_rate = settings.http_least_rate
        self._awaits: _Awaits | None = None
        self._since = 0.0
        self._came = 0
        self._arriving: asyncio.TimerHandle | None = None
        self._taking: asyncio.TimerHandle | None = None

    # --------------------------------------------------------------------------------------- what the loop calls

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Make room for it, or refuse it."""
        super().connection_made(transport)
        self._await(_Awaits.HEAD)
        if len(self.connections) > self._most and not self._make_room():
            logger.warning("a connection was refused: %d are at work (the setting http_connections)", self._most)
            self._end(TooManyConnections("the server holds as many connections as it may; come again in a second"))

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        self._await(None)
        self._taken()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """More of a request."""
        super().data_received(data)
        self._came += len(data)
        self._await({h11.IDLE: _Awaits.HEAD, h11.SEND_BODY: _Awaits.BODY}.get(self.conn.their_state))

    def on_response_complete(self) -> None:
        """An answer is written; what of it is still here must be taken, and the next request may be here in part."""
        super().on_response_complete()
        self._since = self.loop.time()
        if self.conn.their_state is h11.SEND_BODY:
            self._await(_Awaits.BODY)
        if self.transport.get_write_buffer_size():
            self._watch_taking()

    def pause_writing(self) -> None:
        """The client takes less than is written."""
        super().pause_writing()
        self._watch_taking()

    def resume_writing(self) -> None:
        """It has taken enough."""
        super().resume_writing()
        self._taken()

    # ------------------------------------------------------------------------------------------ requests that arrive

    def _await(self, what: _Awaits | None) -> None:
        """From now on this is awaited; time goes on where it was already."""
        if what is self._awaits and (what is None or self._arriving is not None):
            return
        self._awaits, self._since, self._came = what, self.loop.time(), 0
        if self._arriving is not None:
            self._arriving.cancel()
        self._arriving = None if what is None else self.loop.call_later(self._wait_s, self._has_arrived)

    def _has_arrived(self) -> None:
        """Give up, unless there is time left."""
        cycle = self.cycle
        if self.flow.read_paused or (cycle is not None and cycle.waiting_for_100_continue):
            self._since, self._came = self.loop.time(), 0
        more_s = self._came / self._least_rate if self._awaits is _Awaits.BODY else 0.0
        left_s = self._since + self._wait_s + more_s - self.loop.time()
        if left_s > 0.0:
            self._arriving = self.loop.call_later(left_s, self._has_arrived)
            return
        silent = self._awaits is _Awaits.HEAD and not self.conn.trailing_data[0]
        logger.debug("a request did not arrive in time")
        self._end(None if silent else RequestTooSlow(_too_slow(self._awaits, self._wait_s, self._least_rate)))

    def _make_room(self) -> bool:
        """Close the connection that has waited longest for a request; whether there was one."""
        others = cast("set[BoundedProtocol]", self.connections) - {self}
        waiting = [one for one in others if one._is_waiting()]
        if not waiting:
            return False
        min(waiting, key=lambda one: one._since)._end(None)
        return True

    def _is_waiting(self) -> bool:
        idle = self.cycle is None or self.cycle.response_complete
        return (idle or self._awaits is _Awaits.BODY) and not self.transport.is_closing()

    # -------------------------------------------------------------------------------------- answers that are taken

    def _watch_taking(self) -> None:
        self._taken()
        left = self.transport.get_write_buffer_size()
        self._taking = self.loop.call_later(self._wait_s, self._has_taken, left)

    def _has_taken(self, before: int) -> None:
        """Break off where too little of what is written was taken since. While a client is behind, nothing is added."""
        left = self.transport.get_write_buffer_size()
        self._taking = None
        if left and before - left < self._least_rate * self._wait_s:
            logger.debug("an answer was not taken in time")
            self.transport.abort()
        elif left:
            self._watch_taking()

    def _taken(self) -> None:
        if self._taking is not None:
            self._taking.cancel()
            self._taking = None

    # ----------------------------------------------------------------------------------------------------- the end

    def _end(self, failed: HttpError | None) -> None:
        """Close, with words where no answer has begun. Whoever still waits for the request's body learns of it."""
        self._await(None)
        self._unset_keepalive_if_required()
        unanswered = self.cycle is None or self.cycle.response_complete or not self.cycle.response_started
        if failed is not None and unanswered and not self.transport.is_closing():
            self._say(failed)
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.close()
        self.loop.call_later(_LAST_S, self.transport.abort)

    def _say(self, failed: HttpError) -> None:
        problem = problems.problem_of(failed)
        body = json.dumps(problem.body()).encode()
        headers = {
            "Content-Type": problems.MEDIA_TYPE,
            "Content-Length": str(len(body)),
            "Connection": "close",
            "Cache-Control": "no-store",
            **problem.headers,
        }
        head = h11.Response(
            status_code=problem.status, headers=list(headers.items()), reason=STATUS_PHRASES[problem.status]
        )
        try:
            for event in (head, h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        except h11.LocalProtocolError:  # an answer ended while the request still came: nothing more can be said
            return


def _too_slow(what: _Awaits | None, wait_s: float, least_rate: int) -> str:
    if what is _Awaits.BODY:
        return (
            f"the body did not arrive in time: send at least {least_rate} bytes a second (the setting http_least_rate)"
        )
    return f"the head of the request did not arrive within {wait_s:g} s (the setting http_request_s)"
