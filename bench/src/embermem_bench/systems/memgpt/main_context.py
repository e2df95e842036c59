"""Main context: what an owner's window holds, how it is counted and shown, and the queue manager that bounds it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import ClassVar

from embermem import prompts
from embermem.core import ids, messages
from embermem.core.types import Owner, Page, Scope, Utterance
from embermem.prompts.data import one_line
from embermem.protocols import Purpose
from embermem_bench.systems.memgpt.blocks import HUMAN, PERSONA, SHARED, Block
from embermem_bench.systems.memgpt.kept import Alarm, Attachment, Entry, Line, Mark, Passage, Summary, Voice
from embermem_bench.systems.memgpt.window import (
    WARNING,
    Turn,
    Usage,
    entry_line,
    event_line,
    evicted,
    fitting,
    head_lines,
    said_line,
)
from embermem_bench.systems.numbers import MemGptNumbers
from embermem_bench.systems.recorded import Kit, RecordedSystem
from embermem_bench.systems.records import Record, RecordId

__all__ = ["MainContext", "home_of", "mark_id", "shared_lines", "spoken"]

_BLOCK_AGENT = "block:"
"""A shared block is kept as if by an agent of the same user, whose name begins so."""
_LETTERS_A_WORD = 10
_QUEUE = "queue:"


@dataclass(frozen=True, kw_only=True, slots=True)
class MemGptSummary:
    """The recursive summary, made anew."""

    schema_name: ClassVar[str] = "MemGptSummary"
    summary: str


class MainContext(RecordedSystem):
    """What MemGPT's window holds of an owner. `recall` and `learn` are its subclass's."""

    kinds: ClassVar[tuple[type[Record], ...]] = (Line, Attachment, Mark, Entry, Summary, Passage, Alarm)

    def __init__(self, kit: Kit, numbers: MemGptNumbers | None = None) -> None:
        super().__init__(kit)
        self.numbers = numbers or MemGptNumbers()
        self._cost = lru_cache(maxsize=8_192)(self.cost)

    # --------------------------------------------------------------------------------------------------- main context

    def turn(self, owner: Owner, scope: Scope | None, page: Page | None = None) -> Turn:
        """What is in mind. While a page is learnt, nothing of what was said after it is."""
        searched = scope if page is None else Scope(before_seq=page.last_seq + 1)
        summary = self.kept(owner, Summary, scope)
        return Turn(
            owner=owner,
            at=self.kit.clock() if page is None else page.utterances[-1].said_at,
            sources=() if page is None else tuple(u.seq for u in spoken(page)),
            scope=searched,
            said=len(self.said(owner, scope)) if page is None else page.last_seq,
            blocks=self.blocks_of(owner, scope, page),
            summary=summary[0] if summary else None,
            queue=list(self.kept(owner, Entry, scope)),
            passages=list(self.kept(owner, Passage, scope)),
            alarms=list(self.kept(owner, Alarm)),
        )

    def blocks_of(self, owner: Owner, scope: Scope | None, page: Page | None = None) -> dict[str, Block]:
        """The memory blocks by label. Under a scope shared ones are empty: what other agents wrote has no place in this
        one's order."""
        limit = self.numbers.block_chars
        lines = self.kept(owner, Line, scope)
        blocks = {
            label: Block(label=label, limit=limit, lines=tuple(line for line in lines if line.label == label))
            for label in (HUMAN, PERSONA)
        }
        for attached in self.kept(owner, Attachment):
            home = home_of(owner, attached.text)
            blocks[attached.label] = Block(
                label=attached.label,
                limit=limit,
                lines=() if scope is not None else shared_lines(self.kept(home, Line)),
                shared=attached.text,
                closed=page is not None and self.through(owner, home) >= page.last_seq,
            )
        return blocks

    def usage_of(self, turn: Turn) -> Usage:
        """Tokens of a turn's main context."""
        blocks, summary = ([self._cost(line) for line in lines] for lines in head_lines(turn))
        return Usage(
            window=self.numbers.window_tokens,
            system=self._cost(prompts.load(turn.prompt, self.prompts).fill(**turn.variables)) + self._cost(_QUEUE),
            blocks=sum(blocks),
            summary=sum(summary),
            queue=sum(self._cost(entry_line(entry)) for entry in turn.queue),
        )

    def shown(self, turn: Turn) -> str:
        """Main context as the model sees it: of the queue what fits, the newest; the query, and what came of it."""
        blocks, summary = head_lines(turn)
        asked = [] if turn.query is None else [f"query: {one_line(turn.query, self.numbers.message_chars)}"]
        queue = turn.queue[len(turn.queue) - self.fitting(turn, sum(map(self._cost, asked))) :]
        after = [entry_line(entry) for entry in turn.done]
        return "\n".join([*blocks, *summary, _QUEUE, *map(entry_line, queue), *asked, *after])

    def fitting(self, turn: Turn, more: int = 0) -> int:
        """Entries of the queue that stand in the window beside the rest of it."""
        usage = self.usage_of(turn)
        done = sum(self._cost(entry_line(entry)) for entry in turn.done)
        room = usage.window - (usage.total - usage.queue) - done - more
        count = fitting([self._cost(entry_line(entry)) for entry in turn.queue], room)
        return max(count, min(1, len(turn.queue)))

    # -------------------------------------------------------------------------------------------------- queue manager

    def entry(self, voice: Voice, text: str, at: datetime, *sources: int) -> Entry:
        """A new entry of the queue."""
        return Entry(id=self.new_id(), text=text, at=at, sources=sources, voice=voice)

    def hear(self, turn: Turn, page: Page) -> bool:
        """Put those messages of a page into the queue that are not in it yet, after the events that are due; whether
        there are any. A message to which the agent itself replied is there before its page is learnt."""
        known = {seq for entry in turn.queue if entry.voice is Voice.SAID for seq in entry.sources}
        known.update(turn.summary.sources if turn.summary else ())
        new, chars = [u for u in spoken(page) if u.seq not in known], self.numbers.message_chars
        if new:
            self.deliver(turn)
        turn.queue += [self.entry(Voice.SAID, said_line(u, chars), u.said_at, u.seq) for u in new]
        return bool(new)

    def deliver(self, turn: Turn) -> bool:
        """Put the timed events whose time has come into the queue, as system messages; whether there were any.

        One that comes again is set to its next time after now, however often it was missed.
        """
        now = self.kit.clock()
        due = sorted((alarm for alarm in turn.alarms if alarm.at <= now), key=lambda alarm: alarm.at)
        for alarm in due:
            turn.queue.append(self.entry(Voice.SYSTEM, event_line(alarm), now, *turn.sources))
        left = [alarm for alarm in turn.alarms if alarm not in due]
        turn.alarms = [*left, *(replace(alarm, at=alarm.after(now)) for alarm in due if alarm.every_s)]
        return bool(due)

    def press(self, turn: Turn) -> bool:
        """Flush the queue while it passes the window, and warn once when it comes near; whether it warned."""
        numbers = self.numbers
        while self.usage_of(turn).total > numbers.flush_share * numbers.window_tokens and len(turn.queue) > 1:
            self._flush(turn)
        warned = turn.summary is not None and turn.summary.warned
        if warned or self.kit.asker is None:  # nobody would read it
            return False
        if self.usage_of(turn).total <= numbers.warning_share * numbers.window_tokens:
            return False
        turn.queue.append(self.entry(Voice.SYSTEM, WARNING, turn.at, *turn.sources))
        turn.summary = replace(self._summary_of(turn), warned=True)
        return True

    def _flush(self, turn: Turn) -> None:
        """Evict the oldest of the queue into the recursive summary. The messages among them stay in recall storage."""
        count = evicted([self._cost(entry_line(entry)) for entry in turn.queue], self.numbers.evicted_share)
        gone, left = turn.queue[:count], turn.queue[count:]
        old = self._summary_of(turn)
        sources = tuple(sorted({*old.sources, *(seq for entry in gone for seq in entry.sources)}))
        text = self._summarised(turn.owner, old.text, gone)
        turn.queue = [entry for entry in left if entry.text != WARNING]  # the pressure is gone
        turn.summary = replace(old, text=text, at=gone[-1].at, sources=sources, warned=False)

    def _summarised(self, owner: Owner, old: str, gone: Sequence[Entry]) -> str:
        """A summary of a summary and of what comes after it."""
        words = self.numbers.summary_words
        if self.kit.asker is None:
            said = [_said_text(entry) for entry in gone if entry.voice is Voice.SAID]
            return self.kit.condense([*filter(None, [old]), *said], words * _LETTERS_A_WORD)
        shown = "\n".join([f"summary so far: {old or 'none'}", *(entry_line(entry) for entry in gone)])
        answer = self.ask(
            owner, Purpose.REMEMBER, "memgpt_summary", MemGptSummary, shown, _check_summary, words=str(words)
        )
        return one_line(answer.summary, words * _LETTERS_A_WORD)

    def _summary_of(self, turn: Turn) -> Summary:
        return turn.summary or Summary(id=self.new_id(), text="", at=turn.at, sources=())

    # -------------------------------------------------------------------------------------------------- shared blocks

    def through(self, owner: Owner, home: Owner) -> int:
        """Up to which seq the agent's talk has been worked into a shared block."""
        marks = [mark for mark in self.kept(home, Mark) if mark.id == mark_id(owner)]
        if not marks or marks[0].born != self.kit.records.standing(owner.id).born:
            return 0
        return marks[0].through


def home_of(owner: Owner, block: str) -> Owner:
    """Whose records a shared block of the owner's user is: the user stands in its id, so no other's can be it."""
    agent = messages.name(f"{_BLOCK_AGENT}{block}", "block")
    return Owner(id=ids.owner_id(owner.user, agent), user=owner.user, agent=agent)


def mark_id(owner: Owner) -> RecordId:
    """The id of an agent's mark beside the lines of a shared block."""
    return RecordId(f"mark:{owner.id}")


def shared_lines(lines: Sequence[Line]) -> tuple[Line, ...]:
    """Of the lines that stand under a shared block's own owner those of the block."""
    return tuple(line for line in lines if line.label == SHARED)


def spoken(page: Page) -> tuple[Utterance, ...]:
    """The messages of a page that say anything."""
    return tuple(u for u in page.utterances if u.text.strip())


def _check_summary(answer: MemGptSummary) -> None:
    if not answer.summary.strip():
        raise ValueError("The summary is empty.")


def _said_text(entry: Entry) -> str:
    """Speaker and text, without the day."""
    return entry.text.partition(" ")[2]
