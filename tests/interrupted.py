"""A process that is interrupted again and again while it uses a store, and asks another one whether it may write.

`python interrupted.py PLACE SEED ROUNDS TRACED`: after each interrupt it writes `write?` and waits for a line, with the
exception still in its hands; at its end it writes one line of JSON. Without TRACED the interrupts are signals of a
timer; with it the timer is replaced by a trace function that raises at every TRACED-th line that Python runs, which
finds the moments that a timer seldom meets.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

from embermem import Memory
from embermem.core.errors import NotFound
from scripted import SMALL


class OutOfTime(Exception):
    """What a caller's own time-out raises."""


class Timer:
    """Raises at a random moment within an operation, now and then a second time while the first is dealt with."""

    def __init__(self, random: random.Random) -> None:
        self.random = random
        self.took: dict[str, float] = {}
        self.left = 0
        signal.signal(signal.SIGALRM, self.ring)

    def ring(self, number: int, frame: FrameType | None) -> None:
        self.left -= 1
        if self.left == 0:
            signal.setitimer(signal.ITIMER_REAL, 0)
        if self.left >= 0:
            raise self.kind

    def run(self, name: str, operation: Callable[[], Any]) -> Any:
        usual = self.took.setdefault(name, 0.02)
        self.kind: type[BaseException] = self.random.choice((KeyboardInterrupt, OutOfTime))
        self.left = 2 if self.random.random() < 0.2 else 1
        began = time.perf_counter()
        try:
            delay, again = self.random.uniform(1e-5, 1.3 * usual), self.random.uniform(5e-5, 1e-3)
            signal.setitimer(signal.ITIMER_REAL, delay, again)
            return operation()
        finally:
            self.left = 0
            signal.setitimer(signal.ITIMER_REAL, 0)
            self.took[name] = 0.8 * usual + 0.2 * min(1.0, time.perf_counter() - began)


class Tracer:
    """Raises before one line of an operation, and before a later one the next time, until it is past the last."""

    def __init__(self, step: int) -> None:
        self.step = step
        self.next: dict[str, int] = {}

    def run(self, name: str, operation: Callable[[], Any]) -> Any:
        at = left = self.next.get(name, 1)
        kind = KeyboardInterrupt if at % 2 else OutOfTime

        def trace(frame: FrameType, event: str, argument: object) -> Any:
            nonlocal left
            if event == "line" and frame.f_code.co_name not in UNRAISABLE:
                left -= 1
                if left == 0:
                    sys.settrace(None)
                    raise kind
            return trace

        sys.settrace(trace)
        try:
            return operation()
        finally:
            sys.settrace(None)
            self.next[name] = at + self.step if left <= 0 else 1 + at % self.step


UNRAISABLE = ("__del__", "<lambda>", "_remove", "remove")
"""Functions that the garbage collector calls: what is raised in them goes nowhere."""


def main(place: str, seed: int, rounds: int, step: int) -> None:
    moment = random.Random(seed)
    interrupts: Timer | Tracer = Tracer(step) if step else Timer(moment)
    memory = Memory(place, **{**SMALL, "busy_timeout_s": 2.0})
    told: dict[str, Any] = {"kept": [], "perhaps": [], "gone": [], "raised": 0, "locked": 0, "foreign": []}
    pages: list[tuple[str, str]] = []
    ann = memory.of("ann")
    for n in range(rounds):
        text = f"note {n}: the heron number {n} flew over the river"
        name = moment.choices(("add", "settle", "recall", "forget"), (6, 1, 2, 2))[0]
        if name == "forget" and not pages:
            name = "add"
        chosen = moment.choice(pages) if name == "forget" else ("", "")
        operations: dict[str, Callable[[], Any]] = {
            "add": partial(ann.add, text, "I see.", at="2026-05-01T10:00:00+00:00"),
            "settle": ann.settle,
            "recall": partial(ann.recall, "the heron over the river"),
            "forget": partial(ann.forget, page=chosen[0]),
        }
        try:
            done = interrupts.run(name, operations[name])
        except (KeyboardInterrupt, OutOfTime) as error:
            told["raised"] += 1
            print("write?", flush=True)
            if sys.stdin.readline().strip() != "yes":
                told["locked"] += 1
            outcome = "perhaps"
            del error
        except NotFound:  # what was forgotten just before the interrupt came out
            outcome = "perhaps"
        except BaseException as error:  # noqa: BLE001 - told to the other process
            told["foreign"].append(f"{name}: {type(error).__name__}: {error}\n{traceback.format_exc()[-3000:]}")
            outcome = "perhaps"
        else:
            outcome = "kept"
            if name == "add":
                pages.append((done, text))
        if name == "add":
            told[outcome].append(text)
        elif name == "forget":
            pages.remove(chosen)
            told["kept"].remove(chosen[1])
            told["gone" if outcome == "kept" else "perhaps"].append(chosen[1])
    memory.close()
    print(json.dumps(told), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], *(int(argument) for argument in sys.argv[2:5]))
