"""What MemGPT keeps of an owner, beside what was said (its recall storage)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import ClassVar

from embermem_bench.systems.records import Record

__all__ = ["Alarm", "Attachment", "Entry", "Line", "Mark", "Passage", "Summary", "Voice"]


class Voice(StrEnum):
    """Whose entry of the queue it is, as the window shows it."""

    SAID = "said"
    CALL = "call"
    RESULT = "result"
    SYSTEM = "system"


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Line(Record):
    """One line of a memory block: a block is its lines, in the order in which they were first written.

    `key` names what it tells where that has one value at a time, and is empty otherwise. A shared block's lines stand
    under its own owner, with no sources: the seqs of several agents would not be one order.
    """

    kind: ClassVar[str] = "memgpt.line"
    label: str
    key: str = ""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Attachment(Record):
    """A shared block, whose name is the text, in the place of the block of this label."""

    kind: ClassVar[str] = "memgpt.attachment"
    label: str


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Mark(Record):
    """Up to which seq an agent's talk has been worked into a shared block; it stands beside the block's lines. `born`
    tells an agent from one of the same name that was forgotten whole."""

    kind: ClassVar[str] = "memgpt.mark"
    born: int
    through: int


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Entry(Record):
    """One entry of the FIFO queue: what was said, a call of a function, its result, or a system message."""

    kind: ClassVar[str] = "memgpt.entry"
    voice: Voice


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Summary(Record):
    """The recursive summary at the head of the queue; its sources are all that was evicted. `warned`: whether a
    memory-pressure warning has gone out since the last flush."""

    kind: ClassVar[str] = "memgpt.summary"
    warned: bool = False


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Alarm(Record):
    """A timed event: its text is told to the model as a system message when the time `at` has come, and again every
    `every_s` seconds, if that is not 0."""

    kind: ClassVar[str] = "memgpt.alarm"
    every_s: float = 0.0

    def after(self, now: datetime) -> datetime:
        """Its first time after now; for one that comes again."""
        missed = (now - self.at).total_seconds() // self.every_s
        return self.at + timedelta(seconds=(missed + 1) * self.every_s)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Passage(Record):
    """One passage of archival storage. Of a file: its path in the folder, the number of this part, from 1, and the hash
    of the whole file."""

    kind: ClassVar[str] = "memgpt.passage"
    file: str = ""
    part: int = 0
    digest: str = ""
