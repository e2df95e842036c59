"""Processes that begin at once: children of this one, which has imported everything already. Where a test is about the
start of Python or of the command, it starts a process of its own instead."""

from __future__ import annotations

import gc
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NoReturn

from running import environment

from embermem.cli.main import app


class Child:
    """A process with pipes to its stdin and from its stdout, used as `subprocess.Popen` is."""

    def __init__(self, run: Callable[[], object]) -> None:
        (reading, self_in), (self_out, writing) = os.pipe(), os.pipe()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (closed by `communicate`)
        self.returncode: int | None = None
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self_in)
            os.close(self_out)
            _become(run, reading, writing, self._errors.fileno())
        os.close(reading)
        os.close(writing)
        os.set_inheritable(self_in, False)
        self.stdin = open(self_in, "w", encoding="utf-8")  # noqa: SIM115
        self.stdout = open(self_out, encoding="utf-8")  # noqa: SIM115

    def poll(self) -> int | None:
        """Its exit code once it has ended; minus the signal that killed it."""
        if self.returncode is None and (ended := os.waitpid(self.pid, os.WNOHANG))[0]:
            self.returncode = os.waitstatus_to_exitcode(ended[1])
        return self.returncode

    def wait(self) -> int:
        if self.returncode is None:
            self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def tell(self, line: str) -> None:
        """A line to its stdin."""
        self.stdin.write(f"{line}\n")
        self.stdin.flush()

    def errors(self) -> str:
        """Its stderr so far."""
        return os.pread(self._errors.fileno(), 1 << 20, 0).decode()

    def communicate(self) -> tuple[str, str]:
        """Waits for its end; the rest of its stdout, and its stderr."""
        if not self.stdin.closed:
            self.stdin.close()
        out = "" if self.stdout.closed else self.stdout.read()
        self.stdout.close()
        self.wait()
        if self._errors.closed:
            return out, ""
        with self._errors:
            return out, self.errors()


def _become(run: Callable[[], object], reading: int, writing: int, errors: int) -> NoReturn:
    """In the child: its own streams, and an end without anything that this process would do at its own."""
    code = 1
    try:
        gc.freeze()  # what the parent has open is never closed by the child
        for number, stream in ((reading, 0), (writing, 1), (errors, 2)):
            os.dup2(number, stream)
        os.close(reading)
        os.close(writing)
        sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        run()
        code = 0
    except SystemExit as ended:
        code = int(ended.code or 0)
    except BaseException:  # noqa: BLE001  (told on stderr)
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def script(text: str, *arguments: str) -> Child:
    """What `python -c` does with a script."""

    def run() -> None:
        sys.argv = ["-c", *arguments]
        exec(compile(text, "<script>", "exec"), {"__name__": "__main__"})

    return Child(run)


def ember(store: str | Path, *arguments: str, more: Mapping[str, str] | None = None) -> Child:
    """The command `embermem` on a store."""

    def run() -> None:
        os.environ.update(environment(Path("unused"), more), EMBERMEM_STORE=str(store))
        signal.signal(signal.SIGINT, signal.default_int_handler)  # as Python begins
        app(list(arguments))

    return Child(run)
