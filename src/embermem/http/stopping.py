"""A server that returns when it was told to stop, and ends within a time."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, cast

import uvicorn

from embermem.http.events import feeds_of

if TYPE_CHECKING:
    from starlette.applications import Starlette

logger = logging.getLogger(__name__)


class Server(uvicorn.Server):
    """uvicorn's, which would end the process by the same signal again once it has stopped: ours returns, so that the
    memory is closed. After `last_s` seconds, with threads still busy that no one can interrupt, the process ends all
    the same: the store is sound whenever it does."""

    def __init__(self, config: uvicorn.Config, last_s: float) -> None:
        super().__init__(config)
        self._last_s = last_s

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """SIGINT and SIGTERM stop the server, and nothing else."""
        before = {number: signal.signal(number, self._on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Streams of events, which have no end of their own, end first; then what is in flight is waited for."""
        feeds_of(cast("Starlette", self.config.app)).stop()
        await super().shutdown(sockets)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if not self.should_exit:
            last = threading.Timer(self._last_s, _end)
            last.daemon = True
            last.start()
        self.handle_exit(number, frame)


def _end() -> None:
    logger.error("not all work ended in time; stopping without it")
    os._exit(1)
