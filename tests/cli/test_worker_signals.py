"""`embermem worker` ends at a signal, whatever its main thread holds when the signal comes."""

from __future__ import annotations

import signal
import subprocess
import sys

PROGRAM = """
import signal
from embermem.cli.worker import stopping

with stopping() as stop:
    with stop._cond:  # as within `wait`, where a signal may come
        signal.raise_signal(signal.{name})
    print("told" if stop.wait(20) else "not told")
"""


def test_a_signal_while_the_event_s_lock_is_held_is_not_lost() -> None:
    running = {
        name: subprocess.Popen([sys.executable, "-c", PROGRAM.format(name=name)], stdout=subprocess.PIPE, text=True)
        for name in (signal.SIGINT.name, signal.SIGTERM.name)
    }
    ended: dict[str, str] = {}
    for name, process in running.items():
        try:
            ended[name] = process.communicate(timeout=40)[0].strip()
        except subprocess.TimeoutExpired:
            process.kill()
            ended[name] = "hangs"
    assert ended == {"SIGINT": "told", "SIGTERM": "told"}
