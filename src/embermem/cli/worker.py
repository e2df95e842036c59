"""`embermem worker`: the due work of all owners, by several threads, until it is told to stop."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from queue import SimpleQueue
from types import FrameType
from typing import TYPE_CHECKING

from embermem.core.errors import ConfigError, StoreBusy, StoreUnreachable
from embermem.memoryos.ingest.work_watch import kind_of_failure
from embermem.pulse import Beat, Pulse

if TYPE_CHECKING:
    from embermem.core.types import Owner
    from embermem.memory import Memory

_LOOPBACK, _LAST_PORT = "127.0.0.1", 65535


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
    memory: Memory,
    stop: threading.Event,
    *,
    threads: int,
    once: bool,
    told: Callable[[Turn | Waits], None],
    pulse: Pulse | None = None,
) -> int:
    """Works in so many threads until `stop` is set (see `stopping`), or with `once` until nothing is due. Returns the
    pages placed. `pulse` is told the signs of life of the threads.

    Each thread then finishes its step in hand and gives its lease back; the store is sound whenever the process ends.
    What ends one thread ends all, and is raised.
    """
    crew = _Crew(memory, once=once, told=told, stop=stop, pulse=pulse or Pulse())
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
        self,
        memory: Memory,
        *,
        once: bool,
        told: Callable[[Turn | Waits], None],
        stop: threading.Event,
        pulse: Pulse,
    ) -> None:
        self._memory = memory
        self._once = once
        self._told = told
        self._stop = stop
        self._pulse = pulse
        self._telling = threading.Lock()
        self._began = memory.now()
        self.failure: BaseException | None = None

    def work(self) -> None:
        beat = self._pulse.thread()
        try:
            while not self._stop.is_set():
                placed = self._round(beat)
                if self._once and placed is not None:
                    return
                if not placed:
                    self._stop.wait(self._pause_s())
        except BaseException as error:  # noqa: BLE001  raised in the main thread
            self.failure = self.failure or error
            self._stop.set()

    def deliver(self) -> None:
        """Send webhooks what is due; receivers that are slow keep no page waiting."""
        beat = self._pulse.thread()
        while not self._stop.is_set():
            try:
                self._memory.deliver(lambda: self._stopping(beat))
                beat()
            except (StoreBusy, StoreUnreachable) as error:
                beat.failed(kind_of_failure(error))
                self._tell(Waits(error=str(error), seconds=self._memory.settings.poll_s))
            except BaseException as error:  # noqa: BLE001  raised in the main thread
                self.failure = self.failure or error
                self._stop.set()
            self._stop.wait(self._memory.settings.poll_s)

    def _round(self, beat: Beat) -> int | None:
        """All that is due; pages placed, or None where the store could not be asked."""
        try:
            placed = self._memory.work(owner_done=self._done, stopping=lambda: self._stopping(beat))
            beat.round_ended()
            return placed
        except (StoreBusy, StoreUnreachable) as error:
            beat.failed(kind_of_failure(error))
            self._tell(Waits(error=str(error), seconds=self._memory.settings.poll_s))
            return None

    def _stopping(self, beat: Beat) -> bool:
        """Whether to stop; the work asks between its steps, which is a sign of life."""
        beat()
        return self._stop.is_set()

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
    """An event that SIGINT and SIGTERM set, in place of ending the process.

    A handler runs between two steps of the main thread, which may hold the event's lock as it waits for it: the event
    is set by a thread of its own, and the handler puts into a queue that is made for it.
    """
    stop = threading.Event()
    signals: SimpleQueue[bool] = SimpleQueue()

    def wait_for_signal() -> None:
        if signals.get():
            stop.set()

    def on_signal(number: int, frame: FrameType | None) -> None:
        signals.put(True)

    waiting = threading.Thread(target=wait_for_signal, name="embermem-worker-signals", daemon=True)
    waiting.start()
    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        signals.put(False)
        waiting.join()


@contextmanager
def listening(
    memory: Memory, pulse: Pulse, stop: threading.Event, address: str, *, remote: bool, told: Callable[[str], None]
) -> Iterator[None]:
    """Answers /health and /metrics at an address (HOST:PORT, or a port of loopback) within the block; `told` is told
    where, with the port it got. Raises ConfigError for an address that cannot be had, or that others than this machine
    reach, unless `remote` says that they may."""
    from embermem.cli import serve

    host, port = _address(address)
    if serve.must_have_keys(host) and not remote:
        raise ConfigError(
            f"--listen {address}: other machines reach {host or 'every address'}; give a loopback address such as "
            "127.0.0.1:9464, or allow it with --allow-remote"
        )
    serve.check_packages()
    import uvicorn

    from embermem.http.worker import create_app

    with closing(serve.bound(host, port, options=("--listen", "--listen"))) as found:
        if remote:
            serve.check_keys(memory, host)
        app = create_app(memory, pulse, stop, hosts=(host,), remote=remote)
        server = uvicorn.Server(serve.configured(app, memory.settings))
        thread = threading.Thread(target=server.run, args=([found],), name="embermem-worker-http", daemon=True)
        thread.start()
        told(f"health and metrics at {serve.url_of(host, found)}/health and /metrics")
        try:
            yield
        finally:
            server.should_exit = True
            thread.join(memory.settings.http_stop_s)


def _address(given: str) -> tuple[str, int]:
    """HOST:PORT, [HOST]:PORT or PORT. Raises ConfigError."""
    host, colon, port = given.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") if colon else _LOOPBACK
    if not port.isdecimal() or int(port) > _LAST_PORT or not host or (":" in host and not given.startswith("[")):
        raise ConfigError(f"--listen {given!r} is no HOST:PORT; give one such as 127.0.0.1:9464 or [::1]:9464")
    return host, int(port)
