"""Who goes first on a server that answers one at a time: a chat, which somebody reads, before background work."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from embermem.protocols import BreakableStream

__all__ = ["Turn", "Turns"]

# Seconds that a chat holds up questions; then they are asked beside it, as somebody may have left it unread.
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
        self._chats: set[_Chat] = set()
        self._given = 0
        self._turns: set[Turn] = set()

    @contextmanager
    def chat(self) -> Iterator[None]:
        """While it lasts, questions in the background give way, and new ones of other threads wait."""
        chat = _Chat(threading.get_ident(), time.monotonic() + _PATIENCE_S)
        with self._changed:
            self._chats.add(chat)
            giving = list(self._turns)
            self._given += bool(giving)
            self._turns.clear()
        for turn in giving:
            turn.give_way()
        try:
            yield
        finally:
            with self._changed:
                self._chats.remove(chat)
                self._changed.notify_all()

    @contextmanager
    def background(self) -> Iterator[Turn]:
        """The turn of one question, which begins when no chat of another thread holds it up."""
        turn = Turn()
        with self._changed:
            while (left := self._held_up_s()) > 0:
                self._changed.wait(left)
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

    def _held_up_s(self) -> float:
        """Seconds until no chat of another thread holds questions up, if none ends sooner."""
        me, now = threading.get_ident(), time.monotonic()
        return max((chat.until - now for chat in self._chats if chat.thread != me), default=0.0)


@dataclass(frozen=True, eq=False, slots=True)
class _Chat:
    """A chat that goes on: who began it, and until when it holds up questions."""

    thread: int
    until: float
