"""The background thread of a process, which analyses what was added."""

from __future__ import annotations

import atexit
import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime

from embermem.core.errors import kind

logger = logging.getLogger(__name__)


class Background:
    """Runs `work` when woken, when it is due again, and every `poll_s` seconds for what others added. Starts with the
    first wake. `work` returns the seconds until it is due again.

    `worked_at` is when work ended last, `failed` the kind of error that ended it ("": none).

    It waits `pause_s` seconds after a wake, so that a question and its answer are processed together and the caller
    does not share a core with it.
    """

    def __init__(self, work: Callable[[], float], poll_s: float, pause_s: float) -> None:
        self._work = work
        self._poll_s = poll_s
        self._pause_s = pause_s
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self.worked_at: datetime | None = None
        self.failed = ""

    @property
    def running(self) -> bool:
        """Whether the thread runs: it begins with the first wake."""
        return self._thread is not None and self._thread.is_alive()

    @property
    def stopping(self) -> bool:
        """Whether `stop` was called; long work checks it between steps."""
        return self._stop.is_set()

    def wake(self) -> None:
        """Tell the thread about new work."""
        self._wake.set()
        if not self.running:
            with self._starting:
                if not self.running and not self._stop.is_set():
                    self._thread = threading.Thread(target=self._run, name="embermem-background", daemon=True)
                    self._thread.start()
                    # A thread that is killed inside native code at exit takes the process down with it.
                    atexit.register(self.stop)

    def stop(self) -> None:
        """Stop after the current step; the rest is left to the next worker."""
        self._stop.set()
        self._wake.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        atexit.unregister(self.stop)

    def _run(self) -> None:
        wait_s = self._poll_s
        while not self._stop.is_set():
            if self._wake.wait(wait_s):
                self._stop.wait(self._pause_s)
            self._wake.clear()
            if self._stop.is_set():
                return
            wait_s = self._poll_s
            try:
                wait_s = min(wait_s, self._work())
                self.failed = ""
            except Exception as error:  # noqa: BLE001 - the thread must outlive any one failure; what failed is due again
                self.failed = type(error).__name__
                logger.error("background work failed; it will be tried again: %s", kind(error))
            self.worked_at = datetime.now(UTC)
