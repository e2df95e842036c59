"""Who goes first on a server that answers one at a time: a chat, which somebody reads, before background work."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from embermem.protocols import BreakableStream

__all__ = ["Turn", "Turns"]

# Seconds that a question waits for chats to end before it is asked beside them.
_PATIENCE_S = 60.0
# Questions in a row that give way; the next one is let through, so that a busy chat does not keep all others waiting.
_MOST = 3


class Turn:
    """The turn of one question in the background."""

    def __init__(self) -> None:
        self._stream: object = None
        self.gave_way = False
        """Whether it is to be ended for a chat."""

    def awaits(self, stream: object) -> None:
        """What its answer comes by."""
        self._stream = stream
        if self.gave_way:
            self.give_way()

    def give_way(self) -> None:
        """End it, from another thread: at once where its answer can be broken off, else at the next piece."""
        self.gave_way = True
        if isinstance(self._stream, BreakableStream):
            self._stream.break_off()


class Turns:
    """The requests of one process to one server. Safe to use from several threads."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._chats: list[int] = []
        self._given = 0
        self._turns: set[Turn] = set()

    @contextmanager
    def chat(self) -> Iterator[None]:
        """While it lasts, questions in the background give way, and new ones of other threads wait."""
        me = threading.get_ident()
        with self._changed:
            self._chats.append(me)
            giving = list(self._turns)
            self._given += bool(giving)
            self._turns.clear()
        for turn in giving:
            turn.give_way()
        try:
            yield
        finally:
            with self._changed:
                self._chats.remove(me)
                self._changed.notify_all()

    @contextmanager
    def background(self) -> Iterator[Turn]:
        """The turn of one question, which begins when no chat goes on, or has gone on for too long."""
        turn, me = Turn(), threading.get_ident()
        with self._changed:
            self._changed.wait_for(lambda: all(one == me for one in self._chats), _PATIENCE_S)
            if self._given < _MOST:
                self._turns.add(turn)
            else:
                self._given = 0
        try:
            yield turn
        finally:
            with self._changed:
                if not turn.gave_way and turn in self._turns:
                    self._given = 0
                self._turns.discard(turn)
