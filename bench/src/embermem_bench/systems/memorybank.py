"""MemoryBank (arXiv 2305.10250): exchanges by date, a diary of days, a portrait of the user, and a forgetting curve.

Learning: each exchange is kept with its date and a vector. When a day is over, the model writes down its events and
what it shows of the user; at the end of what there is to learn, both are worked into a global summary and portrait.
Recall: the exchanges and days nearest to the query, under the portrait and the summary. With `forgetting`, a memory is
left out once it has faded, R = e^(−t/S); being recalled makes it stronger.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import ClassVar, TypeVar

from embermem.core.equations import retention
from embermem.core.types import About, Annotation, Context, Hit, Owner, Page, PageView, Scope, ThreadId
from embermem.prompts import data
from embermem.prompts.rendering import day, one_line
from embermem.protocols import Purpose
from embermem_bench.systems.numbers import MemoryBankNumbers
from embermem_bench.systems.recorded import Kit, Piece, RecordedSystem, similarities
from embermem_bench.systems.records import Record, Written

_SPEAKER_CHARS, _UTTERANCE_CHARS = 40, 4_000
"""Of a name and of an utterance as the model is shown them; of a longer one the beginning and the end."""
_BETWEEN = "; "
"""Stands between the notes of an insight or portrait without a model."""
_LOT_BYTES = 6
"""Of the hash that a lot is drawn from; a float holds them exactly."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Fading(Record):
    """What can be recalled, and may be forgotten: `strength` is S of the curve, `recalled_at` the time of the last
    recall."""

    strength: float
    recalled_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Exchange(Fading):
    """One turn of the conversation, what was said and answered, in one line."""

    kind: ClassVar[str] = "memorybank.exchange"


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Day(Fading):
    """A day's events, and what it shows of the user. `date` is the day in the zone of whoever spoke: 2026-05-02."""

    kind: ClassVar[str] = "memorybank.day"

    date: str
    insight: str


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Overview(Record):
    """The global event summary, of all days that it rests on."""

    kind: ClassVar[str] = "memorybank.overview"


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Portrait(Record):
    """The global portrait of the user, of all days that it rests on."""

    kind: ClassVar[str] = "memorybank.portrait"


@dataclass(frozen=True, kw_only=True, slots=True)
class DayEvents:
    """A day's events."""

    schema_name: ClassVar[str] = "DayEvents"
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class DayInsight:
    """What a day shows of the user."""

    schema_name: ClassVar[str] = "DayInsight"
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class AllEvents:
    """The events of all days."""

    schema_name: ClassVar[str] = "AllEvents"
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class UserPortrait:
    """What all days show of the user."""

    schema_name: ClassVar[str] = "UserPortrait"
    text: str


Note = TypeVar("Note", DayEvents, DayInsight, AllEvents, UserPortrait)
Whole = TypeVar("Whole", Overview, Portrait)
Summarise = Callable[[Owner, str, Sequence[Day]], str]


class MemoryBank(RecordedSystem):
    """A MemorySystem that keeps a diary, knows its user, and may forget."""

    name: ClassVar[str] = "memorybank"
    kinds: ClassVar[tuple[type[Record], ...]] = (Exchange, Day, Overview, Portrait)

    def __init__(self, kit: Kit, numbers: MemoryBankNumbers | None = None) -> None:
        super().__init__(kit)
        self.numbers = numbers or MemoryBankNumbers()

    # ------------------------------------------------------------------------------------------ keeping, paper §2.1

    def learn(self, owner: Owner, pages: Sequence[Page]) -> Written:
        """The exchange; its day, if the next utterance is of another day or there is none; in the latter case also
        what all days tell."""
        page, date = pages[0], day(pages[0].said_at)
        exchange = self._exchange(page)
        following = self.kit.log.utterances(owner.id, page.last_seq, 1)
        if following and day(following[0].said_at) == date:
            return Written(keep=[exchange])
        of_the_day = self._day(owner, date, exchange)
        if following:
            return Written(keep=[exchange, of_the_day])
        days = [*(one for one in self.kept(owner, Day) if one.date != date), of_the_day]
        overview = self._global(owner, Overview, self._overview, days)
        portrait = self._global(owner, Portrait, self._portrait, days)
        return Written(keep=[exchange, of_the_day, *overview, *portrait])

    def _exchange(self, page: Page) -> Exchange:
        said = (f"{one_line(u.speaker)}: {one_line(u.text)}" for u in page.utterances if u.text.strip())
        text = " / ".join(said)
        return Exchange(
            id=self.new_id(),
            text=text,
            at=page.said_at,
            sources=tuple(utterance.seq for utterance in page.utterances),
            vector=self.embed(text)[0],
            strength=self.numbers.strength,
        )

    def _day(self, owner: Owner, date: str, newest: Exchange) -> Day:
        """A day as it stands now: what is noted of it, with the exchanges since then worked in."""
        before = next((one for one in self.kept(owner, Day) if one.date == date), None)
        told = frozenset(before.sources if before else ())
        exchanges = [*(one for one in self.kept(owner, Exchange) if day(one.at) == date), newest]
        new = frozenset(seq for exchange in exchanges for seq in exchange.sources) - told
        pages = [_part(page, new) for page in self.pages(owner) if any(u.seq in new for u in page.utterances)]
        events = self._events(owner, date, before.text if before else "", pages)
        return Day(
            id=before.id if before else self.new_id(),
            text=events,
            at=newest.at,
            sources=tuple(sorted(told | new)),
            vector=self.embed(f"{date} {events}")[0],
            strength=before.strength if before else self.numbers.strength,
            recalled_at=before.recalled_at if before else None,
            date=date,
            insight=self._insight(owner, date, before.insight if before else "", pages),
        )

    def _events(self, owner: Owner, date: str, so_far: str, pages: Sequence[Page]) -> str:
        """The daily event summary."""
        lines, limit = _lines(pages), self.numbers.events_chars
        if self.kit.asker is None:
            return self.kit.condense([so_far, *(line.partition(" ")[2] for line in lines)], limit)
        return self._noted(owner, "memorybank_events", DayEvents, so_far, date, lines, limit)

    def _insight(self, owner: Owner, date: str, so_far: str, pages: Sequence[Page]) -> str:
        """The daily personality insight; without a model the facts that users tell of themselves, and their traits."""
        if self.kit.asker is None:
            views = [PageView(page=page) for page in pages]
            notes = [note for read in self.kit.extractive.annotate(owner, {}, views) for note in _noticed(read)]
            return _latest([*_notes(so_far), *notes], self.numbers.insight_chars)
        lines, limit = _lines(pages), self.numbers.insight_chars
        return self._noted(owner, "memorybank_insight", DayInsight, so_far, date, lines, limit)

    def _overview(self, owner: Owner, so_far: str, days: Sequence[Day]) -> str:
        """The global event summary."""
        lines, limit = [f"{one.date}: {one.text}" for one in days if one.text], self.numbers.overview_chars
        if self.kit.asker is None:
            return self.kit.condense([so_far, *(one.text for one in days)], limit)
        return self._noted(owner, "memorybank_overview", AllEvents, so_far, "", lines, limit)

    def _portrait(self, owner: Owner, so_far: str, days: Sequence[Day]) -> str:
        """The global portrait; without a model all insights, each note once, the newest if they are too many."""
        lines, limit = [f"{one.date}: {one.insight}" for one in days if one.insight], self.numbers.portrait_chars
        if self.kit.asker is None:
            return _latest([note for text in (so_far, *(one.insight for one in days)) for note in _notes(text)], limit)
        return self._noted(owner, "memorybank_portrait", UserPortrait, so_far, "", lines, limit)

    def _global(self, owner: Owner, kind: type[Whole], tell: Summarise, days: Sequence[Day]) -> Iterator[Whole]:
        """The summary or portrait, with the days worked in that have something it does not rest on; nothing if none."""
        before = next(iter(self.kept(owner, kind)), None)
        told = frozenset(before.sources if before else ())
        if new := sorted((one for one in days if not told.issuperset(one.sources)), key=lambda one: one.date):
            yield kind(
                id=before.id if before else self.new_id(),
                text=tell(owner, before.text if before else "", new),
                at=new[-1].at,
                sources=tuple(sorted(told.union(*(one.sources for one in new)))),
            )

    def _noted(
        self, owner: Owner, prompt: str, kind: type[Note], so_far: str, head: str, lines: Sequence[str], limit: int
    ) -> str:
        """A note brought up to date by the model with some lines, part by part. An empty answer changes nothing."""
        for part in _parts(lines, self.numbers.day_chars):
            shown = "\n".join([f"So far: {so_far}"] * bool(so_far) + [head] * bool(head) + part)
            so_far = data.one_line(self.ask(owner, Purpose.REMEMBER, prompt, kind, shown).text, limit) or so_far
        return so_far

    # ---------------------------------------------------------------------------------------- recalling, paper §2.2

    def recall(
        self,
        owner: Owner,
        query: str,
        *,
        at: datetime | None = None,
        budget: int | None = None,
        thread: ThreadId | None = None,
        scope: Scope | None = None,
    ) -> Context:
        """The exchanges and days nearest to the query, under what is known of the user and what happened so far."""
        now = at or self.kit.clock()
        memories: list[Exchange | Day] = [*self.kept(owner, Exchange, scope), *self.kept(owner, Day, scope)]
        memories = [memory for memory in memories if memory.text and self.remembered(memory, now)]
        scores = similarities(self.embed(query)[0], memories)
        ranked = sorted(zip(memories, scores, strict=True), key=lambda pair: -pair[1])
        exchanges = [memory for memory, _ in ranked if isinstance(memory, Exchange)]
        pieces = [
            Piece(text=_shown(memory), score=score, seqs=_telling(memory, exchanges))
            for memory, score in ranked[: self.numbers.top_k]
        ]
        portrait, overview = self.kept(owner, Portrait, scope), self.kept(owner, Overview, scope)
        head = [f"About the user: {one.text}" for one in portrait] + [f"So far: {one.text}" for one in overview]
        return self.context(owner, query, pieces, budget=budget, head=head)

    # --------------------------------------------------------------------------------------- forgetting, paper §2.3

    def remembered(self, memory: Exchange | Day, at: datetime) -> bool:
        """Whether a memory is still there at a time: with `forgetting`, as long as R is not below its lot."""
        if not self.numbers.forgetting:
            return True
        elapsed = (at - (memory.recalled_at or memory.at)).total_seconds()
        return retention(elapsed, memory.strength * self.numbers.day_s) >= lot(memory)

    def visit(self, owner: Owner, hits: Iterable[Hit]) -> None:
        """An exchange that gave a hit was recalled now, and its day with it: S + 1, t = 0."""
        recalled, now = frozenset(hit.utterance.seq for hit in hits), self.kit.clock()

        def decide() -> Written:
            memories = (*self.kept(owner, Exchange), *self.kept(owner, Day))
            return Written(
                keep=[
                    replace(memory, strength=memory.strength + 1.0, recalled_at=now)
                    for memory in memories
                    if not recalled.isdisjoint(memory.sources)
                ]
            )

        if recalled:
            self.write(owner, decide)


def lot(memory: Exchange | Day) -> float:
    """A number in [0, 1) that is a memory's own: it is forgotten once R falls below, and lasts S·ln(1/lot) days.

    Of many memories a share R is left at any time, as the curve says; the same ones in every process and replay.
    """
    drawn = f"{memory.sources[0]}\n{memory.text}".encode()
    return int.from_bytes(hashlib.blake2b(drawn, digest_size=_LOT_BYTES).digest()) / 256.0**_LOT_BYTES


# ------------------------------------------------------------------------------------------------------------ the words


def _shown(memory: Exchange | Day) -> str:
    """A memory as it is recalled: `2026-05-02 Ana: … / assistant: …`, `2026-05-02, the day: …`."""
    head = day(memory.at) if isinstance(memory, Exchange) else f"{memory.date}, the day:"
    return f"{head} {memory.text}"


def _telling(memory: Exchange | Day, exchanges: Sequence[Exchange]) -> tuple[int, ...]:
    """The utterances of a memory; of a day, those of its remembered exchanges, given nearest to the query first."""
    if isinstance(memory, Exchange):
        return memory.sources
    its = frozenset(memory.sources)
    return tuple(seq for exchange in exchanges for seq in exchange.sources if seq in its)


def _lines(pages: Sequence[Page]) -> list[str]:
    """What was said, as the model is shown it: `user Ana: …`, `agent Ben: …`."""
    return [
        f"{'agent' if u.role.agent_side else 'user'} {data.one_line(u.speaker, _SPEAKER_CHARS)}: {said}"
        for page in pages
        for u in page.utterances
        if (said := data.one_line(u.text, _UTTERANCE_CHARS))
    ]


def _parts(lines: Sequence[str], limit: int) -> Iterator[list[str]]:
    """The lines in parts of at most so many characters, but at least one line."""
    part: list[str] = []
    for line in lines:
        if part and sum(map(len, part)) + len(line) > limit:
            yield part
            part = []
        part.append(line)
    if part:
        yield part


def _part(page: Page, seqs: Collection[int]) -> Page:
    return replace(page, utterances=tuple(u for u in page.utterances if u.seq in seqs))


def _noticed(read: Annotation) -> Iterator[str]:
    """What was found without a model of the user: facts and traits."""
    yield from (fact.text for fact in read.facts if fact.about is About.USER and not fact.retracts)
    yield from (f"{trait.dimension} {'high' if trait.level > 0 else 'low'}" for trait in read.traits)


def _notes(text: str) -> list[str]:
    return [note for note in text.split(_BETWEEN) if note]


def _latest(notes: Sequence[str], limit: int) -> str:
    """Notes in one line, each once, the newest if they are too many."""
    kept: list[str] = []
    left = limit + len(_BETWEEN)
    for note in dict.fromkeys(reversed(notes)):
        line = data.one_line(note.replace(_BETWEEN, ", "), limit)
        left -= len(line) + len(_BETWEEN)
        if left < 0:
            break
        kept.append(line)
    return _BETWEEN.join(reversed(kept))
