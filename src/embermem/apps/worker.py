"""`embermem worker`: the due work of all owners, until it is told to stop."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from embermem.errors import StoreBusy

if TYPE_CHECKING:
    from embermem.memory import Memory
    from embermem.types import Owner


def run(memory: Memory, *, once: bool, told: Callable[[str], None]) -> int:
    """Works until SIGINT or SIGTERM, or with `once` through what is due now. Returns the pages placed.

    A signal lets the step in hand finish; the store is sound whenever the process ends.
    """
    placed = 0

    def owner_done(owner: Owner) -> None:
        told(f"done: {owner.user} / {owner.agent}")

    with stopping() as stop:
        while not stop.is_set():
            try:
                step = memory.work(owner_done=owner_done, stopping=stop.is_set)
            except StoreBusy as error:
                told(f"{error}; trying again in {memory.settings.poll_s:g} s")
                step = 0
            placed += step
            if once:
                break
            if not step:
                stop.wait(memory.settings.poll_s)
    return placed


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
