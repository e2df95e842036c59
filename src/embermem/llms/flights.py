"""Requests on their way: how long a server may be silent, and how a request is broken off from another thread.

A connection carries one request at a time, so that breaking it off ends that request alone. Closing a socket does not
wake the thread that reads from it; shutting it down does, and tells the server that nobody waits for the answer.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar

__all__ = ["FIRST_FACTOR", "Flight", "Lanes"]

FIRST_FACTOR = 5
"""How many times as long as another the first piece of an answer may take: small machines read a prompt for minutes."""

# What the package that carries HTTP calls the moments at which it has a connection.
_CONNECTED = ("connection.connect_tcp.complete", "connection.start_tls.complete")


class Flight:
    """One request, from its beginning to the end of its answer. While it lasts, a thread watches over the silence."""

    def __init__(self, first_s: float, silence_s: float) -> None:
        """`first_s` is for the first piece of the answer, `silence_s` for each further one."""
        self._first_s, self._silence_s = first_s, silence_s
        self._due = 0.0
        self._resting = False
        self._changed = threading.Condition()
        self._stream: Any = None
        self._over = self._begun = False
        self.late = False
        """Whether the server was silent for too long."""
        self.broken = False
        """Whether it was broken off, by `break_off` or for its silence."""

    @property
    def begun(self) -> bool:
        """Whether a piece of the answer has come."""
        return self._begun

    def __enter__(self) -> Self:
        self._due = time.monotonic() + self._first_s
        threading.Thread(target=self._watch, name="embermem-model-watch", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._changed:
            self._over = True
            self._stream = None
            self._changed.notify()

    def rest(self) -> None:
        """Nobody awaits a piece, until `heard` says that somebody does again."""
        self._resting = True

    def heard(self) -> None:
        """A piece has come, or is awaited again."""
        self._due = time.monotonic() + self._silence_s
        self._resting = False
        if not self._begun:
            with self._changed:
                self._begun = True
                self._changed.notify()

    def carried_by(self, stream: Any) -> None:
        """The connection that the request goes over; None: none yet."""
        with self._changed:
            self._stream = stream
            if self.broken:
                _shut(stream)

    def break_off(self) -> None:
        """End the request, from any thread: whoever reads its answer meets an error of the connection."""
        with self._changed:
            if not self._over:
                self.broken = True
                _shut(self._stream)

    def _watch(self) -> None:
        with self._changed:
            while not self._over and not self.broken:
                left = self._silence_s if self._resting else self._due - time.monotonic()
                if left <= 0:
                    self.late = self.broken = True
                    _shut(self._stream)
                    return
                self._changed.wait(left)


class _Request(Protocol):
    """A request of the package that carries HTTP."""

    extensions: Any


class _Client(Protocol):
    def close(self) -> None: ...


Client = TypeVar("Client", bound=_Client)


class Lanes(Generic[Client]):
    """Clients with one connection each: a request takes one that is free, or a new one. Safe to use from threads."""

    def __init__(self, make: Callable[[Callable[[_Request], None]], Client]) -> None:
        """`make` gives a client that hands each request to the function before it is sent."""
        self._make = make
        self._lock = threading.Lock()
        self._free: list[_Lane[Client]] = []

    @contextmanager
    def taken(self, flight: Flight) -> Iterator[Client]:
        """A client for one request."""
        with self._lock:
            lane = self._free.pop() if self._free else None
        lane = lane or _Lane(self._make)
        lane.begin(flight)
        try:
            yield lane.client
        finally:
            lane.end()
            if flight.broken:
                lane.client.close()
            else:
                with self._lock:
                    self._free.append(lane)


class _Lane(Generic[Client]):
    """A client, the connection that it has, and the request that goes over it."""

    def __init__(self, make: Callable[[Callable[[_Request], None]], Client]) -> None:
        self._flight: Flight | None = None
        self._stream: Any = None
        self.client = make(self._sent)

    def begin(self, flight: Flight) -> None:
        self._flight = flight
        flight.carried_by(self._stream)

    def end(self) -> None:
        self._flight = None

    def _sent(self, request: _Request) -> None:
        request.extensions = {**request.extensions, "trace": self._traced}

    def _traced(self, event: str, info: Mapping[str, Any]) -> None:
        if event in _CONNECTED:
            self._stream = info["return_value"]
            if self._flight is not None:
                self._flight.carried_by(self._stream)


def _shut(stream: Any) -> None:
    """Shut a connection down, for good. It may be gone already."""
    ours = None if stream is None else stream.get_extra_info("socket")
    if ours is not None:
        try:
            socket.socket.shutdown(ours, socket.SHUT_RDWR)  # of the plain socket, below any TLS
        except OSError:
            return
