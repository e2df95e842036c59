"""What each process says it is about to do and has done, in a file of its own outside the store."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


class Journal:
    """Lines of one process. Each is on the disk before the process goes on."""

    def __init__(self, folder: Path, worker: int, life: int) -> None:
        file = folder / f"{worker}.{life}.jsonl"
        self._file = os.open(file, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)

    def say(self, no: int, what: str, **told: Any) -> None:
        """A line about the action of a number."""
        line = {"no": no, "what": what, "at": time.monotonic_ns(), **told}
        os.write(self._file, json.dumps(line, ensure_ascii=False).encode() + b"\n")
        os.fsync(self._file)


@dataclass(kw_only=True, slots=True)
class Attempt:
    """An action as a process did it. Without an `end` it was cut off, and may have happened or not until `until`."""

    no: int
    begun: int
    intent: Mapping[str, Any]
    end: str = "killed"
    ended: int | None = None
    result: Mapping[str, Any] = field(default_factory=dict)

    @property
    def done(self) -> bool:
        """Whether it was acknowledged."""
        return self.end == "done"

    def until(self, rests: list[int]) -> int:
        """The moment by which it has happened, or never will: processes at rest do nothing."""
        if self.ended is not None:
            return self.ended
        return next((rest for rest in rests if rest > self.begun), 2**63)


_ENDS = ("done", "error", "interrupted", "foreign")


def entries(folder: Path) -> list[dict[str, Any]]:
    """All whole lines, in the order of time; a line cut short was not said."""
    found = [
        json.loads(line) for file in sorted(folder.glob("*.jsonl")) for line in file.read_bytes().split(b"\n")[:-1]
    ]
    return sorted(found, key=lambda line: line["at"])


def attempts(lines: list[dict[str, Any]]) -> Iterator[Attempt]:
    """What was begun, with what came of it."""
    open_ones: dict[int, Attempt] = {}
    for line in lines:
        if line["what"] == "intend":
            open_ones[line["no"]] = Attempt(no=line["no"], begun=line["at"], intent=line)
        elif line["what"] in _ENDS and line["no"] in open_ones:
            one = open_ones.pop(line["no"])
            one.end, one.ended, one.result = line["what"], line["at"], line
            yield one
    yield from open_ones.values()
