"""`embermem worker`: the due work of all owners, by several threads, until it is told to stop."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING

from embermem.core.errors import StoreBusy, StoreUnreachable

if TYPE_CHECKING:
    from embermem.core.types import Owner
    from embermem.memory import Memory


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """An owner had a turn, which ended well; pages placed by this process until then, and its seconds."""

    user: str
    agent: str
    placed: int
    seconds: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Waits:
    """The store could not be asked; it is tried again after so many seconds."""

    error: str
    seconds: float


def run(
    memory: Memory, stop: threading.Event, *, threads: int, once: bool, told: Callable[[Turn | Waits], None]
) -> int:
    """Works in so many threads until `stop` is set (see `stopping`), or with `once` until nothing is due. Returns the
    pages placed.

    Each thread then finishes its step in hand and gives its lease back; the store is sound whenever the process ends.
    What ends one thread ends all, and is raised.
    """
    crew = _Crew(memory, once=once, told=told, stop=stop)
    others = [threading.Thread(target=crew.work, name=f"embermem-worker-{n}") for n in range(1, threads)]
    others += [] if once else [threading.Thread(target=crew.deliver, name="embermem-worker-webhooks")]
    for thread in others:
        thread.start()
    crew.work()
    if once:
        memory.deliver(stop.is_set)
    for thread in others:
        thread.join()
    if crew.failure is not None:
        raise crew.failure
    return memory.pages_placed


class _Crew:
    """What the threads of one process share."""

    def __init__(
        self, memory: Memory, *, once: bool, told: Callable[[Turn | Waits], None], stop: threading.Event
    ) -> None:
        self._memory = memory
        self._once = once
        self._told = told
        self._stop = stop
        self._telling = threading.Lock()
        self._began = memory.now()
        self.failure: BaseException | None = None

    def work(self) -> None:
        try:
            while not self._stop.is_set():
                placed = self._round()
                if self._once and placed is not None:
                    return
                if not placed:
                    self._stop.wait(self._pause_s())
        except BaseException as error:  # noqa: BLE001  raised in the main thread
            self.failure = self.failure or error
            self._stop.set()

    def deliver(self) -> None:
        """Send webhooks what is due; receivers that are slow keep no page waiting."""
        while not self._stop.is_set():
            try:
                self._memory.deliver(self._stop.is_set)
            except (StoreBusy, StoreUnreachable) as error:
                self._tell(Waits(error=str(error), seconds=self._memory.settings.poll_s))
            except BaseException as error:  # noqa: BLE001  raised in the main thread
                self.failure = self.failure or error
                self._stop.set()
            self._stop.wait(self._memory.settings.poll_s)

    def _round(self) -> int | None:
        """All that is due; pages placed, or None where the store could not be asked."""
        try:
            return self._memory.work(owner_done=self._done, stopping=self._stop.is_set)
        except (StoreBusy, StoreUnreachable) as error:
            self._tell(Waits(error=str(error), seconds=self._memory.settings.poll_s))
            return None

    def _pause_s(self) -> float:
        try:
            return self._memory.idle_s()
        except (StoreBusy, StoreUnreachable):  # the next round says so
            return self._memory.settings.poll_s

    def _done(self, owner: Owner) -> None:
        seconds = (self._memory.now() - self._began).total_seconds()
        turn = Turn(user=owner.user, agent=owner.agent, placed=self._memory.pages_placed, seconds=seconds)
        self._tell(turn)

    def _tell(self, what: Turn | Waits) -> None:
        with self._telling:
            self._told(what)


@contextmanager
def stopping() -> Iterator[threading.Event]:
    """An event that SIGINT and SIGTERM set, in place of ending the process."""
    stop = threading.Event()

    def on_signal(number: int, frame: FrameType | None) -> None:
        stop.set()

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
