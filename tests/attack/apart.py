"""Work in a process of its own, which is ended with all that it began when its time is over."""

from __future__ import annotations

import os
import selectors
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress

from attack.outcome import Outcome


def apart(look: Callable[[], Outcome], longest_s: float, *, what: str, group: bool = False) -> Outcome:
    """What a function finds. With `group` the process leads a group, and what it began ends with it."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _answer(writing, look, group)
    os.close(writing)
    ended = False
    try:
        told, ended = _heard(reading, time.monotonic() + longest_s)
    finally:  # also where this process is told to stop
        with suppress(ProcessLookupError, PermissionError):
            if not ended:
                os.kill(pid, signal.SIGKILL)
            if group:
                os.killpg(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    outcome = Outcome()
    if not ended:
        outcome.fail("a hang", f"{what} took longer than {longest_s:g} s")
    with suppress(ValueError):
        return Outcome.from_json(told.decode())
    if ended:
        outcome.fail("a process died", f"{what}: {told.decode()[-2000:]!r}")
    return outcome


def _heard(reading: int, until: float) -> tuple[bytes, bool]:
    """What a process says to its end, and whether it came to that."""
    told = b""
    with selectors.DefaultSelector() as selector, open(reading, "rb", buffering=0) as file:
        selector.register(file, selectors.EVENT_READ)
        while (left := until - time.monotonic()) > 0:
            if selector.select(left):
                piece = file.read(1 << 16)
                if not piece:
                    return told, True
                told += piece
    return told, False


def _answer(writing: int, look: Callable[[], Outcome], group: bool) -> None:
    """In the process apart; it does not return."""
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if group:
            os.setpgid(0, 0)
        try:
            found = look()
        except Exception as error:  # noqa: BLE001  (told in the report)
            found = Outcome()
            found.fail(f"the looking failed: {type(error).__name__}", traceback.format_exc())
        with open(writing, "wb") as file:
            file.write(found.to_json().encode())
        os._exit(0)
    finally:
        os._exit(1)
