"""Stores the conversations of a data set, reads what was understood, and asks the questions."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embermem.core.types import Context, Fact, Page, Segment, Utterance
from embermem_bench import ProgressFn, recall
from embermem_bench.datasets import Conversation, Dataset
from embermem_bench.load_conversation import Stored, add_conversation, look_up
from embermem_bench.understanding import context_sheet, contexts, measures, segment_sheet
from embermem_bench.understanding.context_sheet import ContextRow
from embermem_bench.understanding.gold import Gold
from embermem_bench.understanding.measures import Asking, Figures, added
from embermem_bench.understanding.rows import BUDGET, BUDGETS, OVERVIEW_BUDGET, OVERVIEW_WORDS, ROWS
from embermem_bench.understanding.segment_sheet import SegmentRow
from embermem_bench.understanding.sheet import SheetRow, rows_of

if TYPE_CHECKING:
    from embermem.memory import Memory, OwnerMemory

AGENT, TIMEZONE = "bench", "UTC"
OVERVIEW_QUESTIONS = (
    "Tell me about {name}.",
    "What do you know about {name}?",
    "Give me a summary of {name}'s life.",
    "What has {name} been up to?",
    "Who is {name}?",
    "What are the main events in {name}'s life?",
    "How has {name}'s life changed over time?",
    "Summarise what you remember about {name}.",
    "Catch me up on {name}.",
    "Can you describe what happened to {name} so far?",
)
OVERVIEW_QUESTION = "What has happened in {name}'s life?"
_DIGITS = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """The figures of one data set, how many things they are over, and every fact and segment for a sheet."""

    name: str
    preset: str
    embedder: str
    conversations: int
    counts: Mapping[str, int]
    figures: Mapping[str, tuple[float, float]]
    facts: tuple[SheetRow, ...]
    contexts: tuple[ContextRow, ...] = ()
    segments: tuple[SegmentRow, ...] = ()

    def figure(self, key: str) -> float | None:
        """A figure by its key in `ROWS`; None where there is nothing that it is over."""
        total, divisor = self.figures.get(key, (0.0, 0.0))
        return round(total / divisor, _DIGITS) if divisor else None

    def as_json(self) -> dict[str, Any]:
        """The keys that docs/research/understanding.md lists."""
        return {
            "name": self.name,
            "preset": self.preset,
            "embedder": self.embedder,
            "conversations": self.conversations,
            **self.counts,
            **{row.key: self.figure(row.key) for row in ROWS},
        }


def run(
    dataset: Dataset,
    gold: Mapping[str, Gold],
    folder: Path,
    *,
    preset: str | None = None,
    context_tokens: int | None = None,
    told: ProgressFn = lambda what, done, total: None,
    **settings: Any,
) -> Report:
    """Store the data set in `folder`, settle it, and measure. `gold` is what its file brings for each conversation.
    With `context_tokens` the report has the context of every question at that budget, for a sheet.

    Raises BudgetExceeded as `recall.run`.
    """
    from embermem.memory import Memory

    figures: Figures = {}
    counts = dict.fromkeys(("pages", "facts", "segments", "notes", "asked"), 0)
    facts: list[SheetRow] = []
    of_contexts: list[ContextRow] = []
    segments: list[SegmentRow] = []
    given = {"background": False, **settings}
    path = folder / "bench.db"
    with (
        Memory(path, preset=preset, **given) as memory,
        Memory(path, preset=preset, **{**given, "token_counter": "words"}) as by_words,
    ):
        for number, conversation in enumerate(dataset.conversations, 1):
            what = f"{conversation.id} ({number}/{len(dataset.conversations)})"
            talk = replace(conversation, questions=conversation.with_evidence)
            one = _Understood.of(memory, talk, gold.get(conversation.id, Gold()), what, told)
            figures = added(figures, one.figures(by_words, dataset.headline, what, told))
            counts = {key: counts[key] + more for key, more in one.counts().items()}
            facts += rows_of(conversation.id, one.facts, one.pages.values())
            if context_tokens is not None:
                of_contexts += [
                    context_sheet.row_of(conversation.id, question, asking.context)
                    for question, asking in zip(talk.questions, one.asked(context_tokens, what, told), strict=True)
                ]
            segments += segment_sheet.rows_of(conversation.id, one.segments, one.pages)
        return Report(
            name=dataset.name,
            preset=memory.settings.preset,
            embedder=memory.embedder_name,
            conversations=len(dataset.conversations),
            counts=counts,
            figures=figures,
            facts=tuple(facts),
            contexts=tuple(of_contexts),
            segments=tuple(segments),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Understood:
    """One conversation that was stored and settled, with what the memory made of it."""

    owner: OwnerMemory
    conversation: Conversation
    gold: Gold
    stored: Stored
    pages: Mapping[str, Page]
    segments: tuple[Segment, ...]
    facts: tuple[Fact, ...]
    seconds: float
    cpu_seconds: float

    @classmethod
    def of(cls, memory: Memory, conversation: Conversation, gold: Gold, what: str, told: ProgressFn) -> _Understood:
        """Add the conversation, settle it, and read its pages, segments and facts."""
        owner = memory.of(conversation.id, agent=AGENT, timezone=TIMEZONE)
        began, began_cpu = time.perf_counter(), time.process_time()
        turn_of = add_conversation(owner, conversation)
        owner.settle(lambda done, total: told(f"{what}: settling", done, total))
        seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - began_cpu
        segments = {segment.id: segment for segment in (*owner.segments(), *owner.segments(archived=True))}
        return cls(
            owner=owner,
            conversation=conversation,
            gold=gold,
            stored=look_up(owner, conversation, turn_of),
            pages={page.id: page for page in owner.pages()},
            segments=tuple(segments.values()),
            facts=measures.distinct((*owner.facts(), *owner.facts(archived=True), *owner.past_facts())),
            seconds=seconds,
            cpu_seconds=cpu_seconds,
        )

    @property
    def utterances(self) -> list[Utterance]:
        return [utterance for page in self.pages.values() for utterance in page.utterances]

    def counts(self) -> dict[str, int]:
        """What the figures are over."""
        return {
            "pages": len(self.pages),
            "facts": len(self.facts),
            "segments": len(self.segments),
            "notes": len(self.gold.notes),
            "asked": len(self.conversation.questions),
        }

    def figures(self, by_words: Memory, headline: frozenset[str] | None, what: str, told: ProgressFn) -> Figures:
        """Every figure of `ROWS` that this conversation has. A new figure is one more part here."""
        utterances = sorted(self.utterances, key=lambda utterance: utterance.seq)
        asked = {budget: self.asked(budget, what, told) for budget in BUDGETS}
        answers = contexts.answers_of(utterances)
        id_of = {turn: utterance_id for utterance_id, turn in self.stored.turn_of.items()}
        parts: tuple[Figures, ...] = (
            measures.facts_held(self.facts, self.gold.notes, utterances, id_of),
            measures.facts_made(self.facts, utterances, len(self.pages)),
            measures.facts_in_contexts(asked[BUDGET], {u.id: u.speaker for u in utterances}),
            *(contexts.figures([one.context for one in some], answers, budget) for budget, some in asked.items()),
            contexts.unrelated(self._unrelated()),
            measures.evidence_found(
                self._found(by_words, what, told), headline, ("rec@10", "rec@600w", "thread_any@5")
            ),
            {
                "pages_per_s": (len(self.pages), self.seconds),
                "pages_per_cpu_s": (len(self.pages), self.cpu_seconds),
            },
            measures.segments_by_project(self.segments, self.pages, self.gold.project_of),
            measures.segments_made(self.segments, self.pages),
            self._overview(f"overview_{OVERVIEW_WORDS}w", self._answered([OVERVIEW_QUESTION])),
            self._overview("overview_other_words", self._answered(OVERVIEW_QUESTIONS)),
            self._overview("overview_unasked", self._unasked()),
        )
        made: Figures = {}
        for part in parts:
            made = added(made, part)
        return made

    def asked(self, budget: int, what: str, told: ProgressFn) -> list[Asking]:
        """The context of each question within a budget, with the utterances that are its evidence."""
        made = []
        for number, question in enumerate(self.conversation.questions, 1):
            told(f"{what}: contexts of {budget}", number, len(self.conversation.questions))
            context = self.owner.recall(
                question.text,
                at=self.stored.asked_at(question),
                budget=budget,
                thread=question.thread,
                scope=self.stored.scope(question),
            )
            evidence = frozenset(
                utterance_id
                for utterance_id, turn in self.stored.turn_of.items()
                if turn in question.evidence or self.stored.thread_of[turn] in question.evidence_threads
            )
            made.append(Asking(context=context, evidence=evidence))
        return made

    def _unrelated(self) -> list[Context]:
        """The contexts of questions of which nothing is known."""
        return [self.owner.recall(text, at=self.stored.latest, budget=BUDGET) for text in contexts.UNRELATED]

    def _found(self, by_words: Memory, what: str, told: ProgressFn) -> list[recall.Asked]:
        """The questions as `bench recall` asks them, in words."""
        tally = recall.Tally()
        owner = by_words.of(self.conversation.id, agent=AGENT, timezone=TIMEZONE)
        recall.ask_all(owner, self.conversation, self.stored, tally, what, told)
        return tally.asked

    def _overview(self, key: str, overviews: Iterable[tuple[str, str]]) -> Figures:
        return measures.events_covered(key, overviews, self.gold.events, OVERVIEW_WORDS)

    def _answered(self, questions: Iterable[str]) -> Iterator[tuple[str, str]]:
        """The contexts of questions about each speaker with events."""
        for question, name in product(questions, self.gold.events):
            asked = question.format(name=name)
            yield name, self.owner.recall(asked, at=self.stored.latest, budget=OVERVIEW_BUDGET).text

    def _unasked(self) -> Iterator[tuple[str, str]]:
        for name in self.gold.events:
            yield name, self.owner.overview(OVERVIEW_BUDGET, person=name).text
