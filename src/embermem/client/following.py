"""What is new in one memory, read from the server's stream of events (WHATWG HTML, "server-sent events").

`Following` is the reader of one stream without a connection: a sender hands it lines, and asks it after a connection
ended how long to wait before the next. It goes on after the last event that it gave.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

import msgspec

from embermem.client import exchange
from embermem.client.exchange import Broken, Reply, Request
from embermem.core.types import Event, Position

SILENCE_S = 45.0
"""The server shows every 15 s that it lives; after so long without a sign the connection is dead."""


class Following:
    """The events after a position, or from now on; then the first is `state`, which says where the memory stands."""

    def __init__(self, request: Request, since: str | None, retries: int, now: Callable[[], datetime]) -> None:
        self._request = request
        self._last = since
        self._retries = retries
        self._now = now
        self._tries = 0
        self._opening = True
        self._fields: dict[str, str] = {}

    def request(self) -> Request:
        """What is asked to go on."""
        self._opening, self._fields = True, {}
        # A position that is none is refused as `since`; as a header it would be passed over.
        params = self._request.params if self._last is None else {**self._request.params, "since": self._last}
        last = {} if self._last is None else {"Last-Event-ID": self._last}
        return replace(self._request, params=params, headers={"Accept": "text/event-stream", **last})

    def line(self, line: str) -> Event | None:
        """The event that ends with this line of the stream. Raises ServerError for what is no event."""
        self._tries = 0
        if line:
            name, _, value = line.partition(":")
            if name in ("id", "event", "data"):
                self._fields[name] = value.removeprefix(" ")
            return None
        fields, self._fields = self._fields, {}
        position = Position.parsed(fields.get("id"))
        if "data" not in fields or position is None:
            return None
        # A connection opens with where the memory stands, before what came since `last`.
        opening, self._opening = self._opening, False
        if opening and self._last is not None:
            return None
        self._last = str(position)
        try:
            data = msgspec.json.decode(fields["data"], type=dict)
        except msgspec.DecodeError as error:
            raise exchange.unreadable(error) from error
        return Event(name=fields.get("event", "message"), position=position, data=data)

    def pause(self, outcome: Reply | Broken) -> float:
        """Seconds to wait before the stream is asked for again. Raises the error of a refusal that stays, and of a
        server that cannot be reached by as many tries as the client makes."""
        self._tries += 1
        pause = exchange.pause_before_again(self._request, outcome, self._tries, self._retries)
        if pause is None:
            exchange.answered(outcome, self._now())
            raise exchange.unreadable(ValueError("the answer is no stream of events"))
        return pause
