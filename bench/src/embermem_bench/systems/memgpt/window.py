"""Main context: what stands in the window, how it is written, and when it is full. Pure functions but for `Turn`, which
changes while one page or one query is worked on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from embermem.core.types import Owner, Scope, Utterance
from embermem.prompts.data import one_line
from embermem.prompts.rendering import day, utterance_line
from embermem_bench.systems.memgpt.blocks import Block, Edit, plain
from embermem_bench.systems.memgpt.kept import Alarm, Entry, Line, Passage, Summary
from embermem_bench.systems.records import Record, RecordId, Written

__all__ = [
    "CHAT",
    "EVENT",
    "QUERY",
    "WARNING",
    "Find",
    "Turn",
    "Usage",
    "changed",
    "entry_line",
    "event_line",
    "evicted",
    "fitting",
    "head_lines",
    "log_line",
    "passage_line",
    "said_line",
]

EVENT, QUERY, CHAT = "memgpt_event", "memgpt_query", "memgpt_chat"
"""The prompts of a turn: a page is learnt, a recall is answered, the user is."""

WARNING = (
    "Memory pressure: the queue will soon lose its oldest half. Put what matters of it into a block, or into archival"
    " storage, now."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Find:
    """One result of a search: as the window shows it, as a context shows it, what it rests on, and how much of the
    query it answers, in [0, 1]."""

    shown: str
    text: str
    seqs: tuple[int, ...]
    relevance: float


@dataclass(slots=True, kw_only=True)
class Turn:
    """What is in mind while one page is learnt or one query is answered.

    `query` is that of a recall: then blocks and archive are read-only, and what is called and found stands in `done`,
    since the queue may not grow. `prompt` with its `variables` is what the model is told to do. In a chat it speaks to
    the user, and `sent` is what it said; in the queue that has no sources until it is stored. `edits` are those of
    shared blocks, by label.
    """

    owner: Owner
    at: datetime
    sources: tuple[int, ...]
    scope: Scope | None
    said: int
    """Utterances in recall storage."""
    blocks: dict[str, Block]
    summary: Summary | None
    queue: list[Entry]
    passages: list[Passage]
    alarms: list[Alarm]
    prompt: str = EVENT
    variables: Mapping[str, str] = field(default_factory=dict)
    query: str | None = None
    done: list[Entry] = field(default_factory=list)
    finds: list[Find] = field(default_factory=list)
    edits: dict[str, list[Edit]] = field(default_factory=dict)
    sent: list[str] = field(default_factory=list)

    @property
    def own(self) -> tuple[Record, ...]:
        """The owner's records as they stand now."""
        lines: list[Line] = [line for block in self.blocks.values() if block.shared is None for line in block.lines]
        return (*lines, *([] if self.summary is None else [self.summary]), *self.queue, *self.passages, *self.alarms)


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """Tokens of main context, part by part, and of the window."""

    window: int
    system: int
    blocks: int
    summary: int
    queue: int

    @property
    def total(self) -> int:
        """All of main context."""
        return self.system + self.blocks + self.summary + self.queue


def evicted(costs: Sequence[int], share: float) -> int:
    """How many of the oldest entries go at a flush: as few as hold that share of the queue's tokens; at least one, and
    never the newest if there are others."""
    goal, gone = share * sum(costs), 0
    for count, cost in enumerate(costs, 1):
        gone += cost
        if gone >= goal or count == len(costs) - 1:
            return count
    return len(costs)


def fitting(costs: Sequence[int], room: float) -> int:
    """How many of the newest entries fit."""
    for count, cost in enumerate(reversed(costs)):
        room -= cost
        if room < 0:
            return count
    return len(costs)


def changed(before: Sequence[Record], after: Sequence[Record]) -> Written:
    """What is to be written so that what was `before` is as `after`."""
    known, left = {record.id: record for record in before}, {record.id for record in after}
    keep = [record for record in after if known.get(record.id) is not record]
    return Written(keep=keep, drop=[RecordId(one) for one in known if one not in left])


# ------------------------------------------------------------------------------------------------------------- lines


def head_lines(turn: Turn) -> list[list[str]]:
    """What stands above the queue: the lines of the blocks, and those of the summary."""
    blocks = ["blocks:"]
    for block in turn.blocks.values():
        shared = ", shared" if block.shared is not None else ""
        blocks.append(f"{block.label} ({len(block.text)} of {block.limit} characters{shared})")
        blocks += [f"  {line.text}" for line in block.lines]
    blocks.append(f"stored: {turn.said} messages in recall storage, {len(turn.passages)} passages in archival storage")
    summary = [f"summary of what left the queue: {turn.summary.text}"] if turn.summary and turn.summary.text else []
    return [blocks, summary]


def entry_line(entry: Entry) -> str:
    """`said 2026-05-02 Alice: text`; a result has a line for each thing found, each of them indented."""
    return f"{entry.voice} {entry.text}"


def event_line(alarm: Alarm) -> str:
    """`event of 2026-05-02 10:00: text`, in the zone in which it was set."""
    return f"event of {day(alarm.at)} {alarm.at:%H:%M}: {alarm.text}"


def said_line(utterance: Utterance, chars: int) -> str:
    """`2026-05-02 Alice: text`, cut to so many characters of the text."""
    return f"{day(utterance.said_at)} {one_line(utterance.speaker, 60)}: {one_line(utterance.text, chars)}"


def log_line(utterance: Utterance) -> str:
    """`2026-05-02 #12 Alice: text`, as a context shows it, whole."""
    return f"{day(utterance.said_at)} {utterance_line(utterance)}"


def passage_line(passage: Passage) -> str:
    """`2026-05-02: text`, or of a file `guide.md (3): text`."""
    place = f"{passage.file} ({passage.part})" if passage.file else day(passage.at)
    return f"{plain(place)}: {plain(passage.text)}"
