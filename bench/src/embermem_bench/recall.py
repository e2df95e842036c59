"""`embermem bench recall`: how well a preset finds the evidence, on the public face only.

One owner a conversation in a temporary store; turns become pages in file order; `settle`; then each question.
The rules stand in docs/research/bench.md.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from embermem.core.errors import EmberError, InputError
from embermem.core.types import Context, UtteranceId
from embermem.memoryos.system import MemoryOS
from embermem_bench import ProgressFn, metrics
from embermem_bench.datasets import Conversation, Dataset, Question
from embermem_bench.evidence import KS, ranking_names, ranking_values
from embermem_bench.load_conversation import Stored, add_conversation, look_up
from embermem_bench.recorded import reading_with

if TYPE_CHECKING:
    from embermem.memory import Memory, OwnerMemory

BUDGETS = (300, 600, 1200)
"""The budgets of packed context, in words."""
QUOTED = tuple(f"quoted@{budget}w" for budget in BUDGETS)
"""The figures of questions that say which piece of a text holds the answer."""
EXTRACTIVE, RECORDED = "extractive", "recorded"
"""The analysts: the one that needs no model, and a model's notes that the file brings (`recorded.py`)."""
_DATE_BESIDE = re.compile(r" ?\[\d{4}[-\d.]*\]")
PAPER = "paper"
"""The preset that ignores the budget: its context is cut at the budget when it is measured."""


class BudgetExceeded(EmberError):
    """A recall packed more words than its budget."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """One question's figures, by their public names, and how sure the recall was."""

    conversation: str
    category: str
    values: Mapping[str, float]
    confidence: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """The figures of one data set. `headline` says which categories the headline figures cover; None: all. `segments`
    are the pages of each segment."""

    name: str
    preset: str
    embedder: str
    analyst: str
    asked: tuple[Asked, ...]
    headline: frozenset[str] | None
    skipped: int
    pages: int
    utterances: int
    facts: int
    segments: tuple[int, ...]
    ingest_s: float
    query_ms: tuple[float, ...]
    search_ms: tuple[float, ...]
    bytes: int
    cut_contexts: int

    def as_json(self) -> dict[str, Any]:
        """The keys that docs/research/bench.md lists. A figure that no question gives is null."""
        counted = [a for a in self.asked if self._counts(a)]
        return {
            "name": self.name,
            "preset": self.preset,
            "embedder": self.embedder,
            "analyst": self.analyst,
            **figures(counted),
            **certainty(self.asked, self.headline),
            "skipped": self.skipped,
            "pages": self.pages,
            "utterances": self.utterances,
            "facts": self.facts,
            "segments": segment_figures(self.segments),
            "ingest_pages_per_s": round(self.pages / self.ingest_s, 2) if self.ingest_s else None,
            "query_ms_p50": _ms(metrics.percentile(self.query_ms, 0.5)),
            "query_ms_p95": _ms(metrics.percentile(self.query_ms, 0.95)),
            "search_ms_p50": _ms(metrics.percentile(self.search_ms, 0.5)),
            "search_ms_p95": _ms(metrics.percentile(self.search_ms, 0.95)),
            "bytes_per_page": round(self.bytes / self.pages) if self.pages else None,
            "cut_contexts": self.cut_contexts,
            "by_category": {key: figures(some) for key, some in _grouped(self.asked, lambda a: a.category)},
            "by_conversation": {
                key: figures([a for a in some if self._counts(a)]) | certainty(some, self.headline)
                for key, some in _grouped(self.asked, lambda a: a.conversation)
                if any(map(self._counts, some))
            },
        }

    def _counts(self, asked: Asked) -> bool:
        return self.headline is None or asked.category in self.headline


def run(
    dataset: Dataset,
    folder: Path,
    *,
    preset: str | None = None,
    analyst: str = EXTRACTIVE,
    limit: int | None = None,
    told: ProgressFn = lambda what, done, total: None,
    **settings: Any,
) -> Report:
    """Stores the data set in `folder`, asks its first `limit` questions (None: all), and measures.

    `analyst` reads what is stored: `extractive` or `recorded`. Raises BudgetExceeded if a context is longer than its
    budget, InputError for `recorded` where the file brings no notes of a model.
    """
    from embermem.memory import Memory

    conversations = limited(dataset.conversations, limit)
    if analyst == RECORDED and not any(c.observations or c.summaries for c in conversations):
        raise InputError(f"{dataset.name} brings neither observations nor summaries of a model to replay")
    tally = Tally()
    path = folder / "bench.db"
    with Memory(path, preset=preset, **{"token_counter": "words", "background": False, **settings}) as memory:
        recorded = reading_with(path, memory.settings, conversations) if analyst == RECORDED else nullcontext()
        with recorded as reader:
            for number, conversation in enumerate(conversations, 1):
                _one(memory, reader, conversation, tally, f"{conversation.id} ({number}/{len(conversations)})", told)
        preset, embedder = memory.settings.preset, memory.embedder_name
    return Report(
        name=dataset.name,
        preset=preset,
        embedder=embedder,
        analyst=analyst,
        asked=tuple(tally.asked),
        headline=dataset.headline,
        skipped=sum(c.skipped for c in dataset.conversations[: len(conversations)]),
        pages=tally.pages,
        utterances=tally.utterances,
        facts=tally.facts,
        segments=tuple(tally.segments),
        ingest_s=tally.ingest_s,
        query_ms=tuple(tally.query_ms),
        search_ms=tuple(tally.search_ms),
        bytes=sum(file.stat().st_size for file in folder.glob("bench.db*")),
        cut_contexts=tally.cut_contexts,
    )


def segment_figures(pages: Sequence[int]) -> dict[str, float]:
    """How many segments there are, and their pages: the largest, the median, and how many have one."""
    return {
        "count": len(pages),
        "largest": max(pages, default=0),
        "median": median(pages) if pages else 0,
        "of_one_page": sum(one == 1 for one in pages),
    }


def limited(conversations: Sequence[Conversation], limit: int | None) -> tuple[Conversation, ...]:
    """The conversations that hold the first `limit` questions that have evidence, with these only."""
    if limit is None:
        return tuple(replace(conversation, questions=conversation.with_evidence) for conversation in conversations)
    kept: list[Conversation] = []
    for conversation in conversations:
        if limit <= 0:
            break
        kept.append(replace(conversation, questions=conversation.with_evidence[:limit]))
        limit -= len(conversation.with_evidence)
    return tuple(kept)


def figures(asked: Sequence[Asked]) -> dict[str, Any]:
    """The mean of each figure over the questions that have it, and their number."""
    names = [*ranking_names(""), "mrr", *_budget_names("")]
    if any("thread_mrr" in a.values for a in asked):
        names += [*ranking_names("thread_"), "thread_mrr", *_budget_names("thread_")]
    if any(QUOTED[0] in a.values for a in asked):
        names += QUOTED
    means = {name: metrics.mean([a.values[name] for a in asked if name in a.values]) for name in names}
    sure = metrics.mean([a.confidence for a in asked])
    return {"questions": len(asked)} | {k: _rounded(v) for k, v in (means | {"confidence": sure}).items()}


def certainty(asked: Sequence[Asked], headline: frozenset[str] | None) -> dict[str, Any]:
    """How well confidence tells the categories that have an answer from the others; nothing where all have one."""
    answered = [a.confidence for a in asked if headline is None or a.category in headline]
    others = [a.confidence for a in asked if headline is not None and a.category not in headline]
    return {"confidence_auc": _rounded(metrics.auc(answered, others))}


# ------------------------------------------------------------------------------------------------ one conversation


class Tally:
    """What a run counts as it goes."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.query_ms: list[float] = []
        self.search_ms: list[float] = []
        self.segments: list[int] = []
        self.pages = self.utterances = self.facts = self.cut_contexts = 0
        self.ingest_s = 0.0


def _one(
    memory: Memory, reader: MemoryOS | None, conversation: Conversation, tally: Tally, what: str, told: ProgressFn
) -> None:
    """`reader` settles in the memory's place."""
    owner = memory.of(conversation.id, agent="bench", timezone="UTC")
    began = time.perf_counter()
    turn_of = add_conversation(owner, conversation)
    settle = owner.settle if reader is None else partial(reader.settle, owner.owner)
    settle(lambda done, total: told(f"{what}: settling", done, total))
    tally.ingest_s += time.perf_counter() - began
    ask_all(owner, conversation, look_up(owner, conversation, turn_of), tally, what, told)
    stats = owner.stats()
    tally.pages += stats.pages
    tally.utterances += stats.utterances
    tally.facts += stats.facts + stats.agent_facts + stats.archived_facts
    tally.segments += [len(segment.page_ids) for segment in owner.segments()]


def ask_all(
    owner: OwnerMemory, conversation: Conversation, stored: Stored, tally: Tally, what: str, told: ProgressFn
) -> None:
    """Ask the questions of a conversation that was added, and count their figures in `tally`."""
    for number, question in enumerate(conversation.questions, 1):
        told(f"{what}: asking", number, len(conversation.questions))
        tally.asked.append(_ask(owner, conversation, question, stored, tally))


def _ask(owner: OwnerMemory, conversation: Conversation, question: Question, stored: Stored, tally: Tally) -> Asked:
    scope, at = stored.scope(question), stored.asked_at(question)
    for times in (tally.query_ms, tally.search_ms):  # the second time the query's vector is at hand
        began = time.perf_counter()
        owner.search(question.text, k=max(KS), scope=scope)
        times.append(1000 * (time.perf_counter() - began))
    packed: dict[str, set[str]] = {}
    ranking: list[str] = []
    confidence = 0.0
    values: dict[str, float] = {}
    for budget in BUDGETS:
        context = owner.recall(question.text, at=at, budget=budget, thread=question.thread, scope=scope)
        confidence = context.confidence
        found = packed_within(context, budget)
        tally.cut_contexts += found.was_cut
        packed[f"rec@{budget}w"] = {stored.turn_of[u] for u in found.present}
        packed[f"whole@{budget}w"] = {stored.turn_of[u] for u in found.whole}
        packed[f"told@{budget}w"] = {stored.turn_of[u] for u in found.present | found.behind_facts}
        if question.quote is not None:
            values[f"quoted@{budget}w"] = float(found.says(question.quote))
        ranking = list(dict.fromkeys(stored.turn_of[hit.utterance.id] for hit in context.hits))
    if question.evidence:
        values |= _values("", ranking, packed, question.evidence)
    if question.evidence_threads:
        by_thread = {name: {stored.thread_of[turn] for turn in turns} for name, turns in packed.items()}
        threads = metrics.threads_of(ranking, stored.thread_of)
        values |= _values("thread_", threads, by_thread, question.evidence_threads)
    return Asked(conversation=conversation.id, category=question.category, values=values, confidence=confidence)


@dataclass(frozen=True, kw_only=True, slots=True)
class Packed:
    """The utterances of a context: all that stand in it, those whose whole text does (others were shortened), and
    those that its facts rest on. `words` are the words of its text, one space between them."""

    words: str
    present: frozenset[UtteranceId]
    whole: frozenset[UtteranceId]
    behind_facts: frozenset[UtteranceId]
    was_cut: bool

    def says(self, quote: str) -> bool:
        """Whether a piece of what was said stands in the text, whatever dates were put beside its words."""
        return _without_dates(quote) in self.words


def packed_within(context: Context, words: int) -> Packed:
    """The utterances that stand in the first `words` words of the packed text.

    Preset `paper` ignores the budget; its context is cut here, and an utterance is present if it stands there whole.
    Of any other preset a longer text raises BudgetExceeded. What somebody said twice in the same words stands there
    if it does so once.
    """
    text = context.text.split()
    was_cut = len(text) > words
    if was_cut and context.preset != PAPER:
        raise BudgetExceeded(f"{len(text)} words were packed for a budget of {words}: {context.query!r}")
    kept = f" {' '.join(text[:words])} "
    bare = f" {_without_dates(kept)} "
    standing = [hit.utterance for hit in context.packed if f" {_without_dates(hit.utterance.text)} " in bare]
    said = {(u.speaker, u.text) for u in standing}
    whole = frozenset(
        u.id for u in (*standing, *(hit.utterance for hit in context.hits)) if (u.speaker, u.text) in said
    )
    present = whole if was_cut else whole | {hit.utterance.id for hit in context.packed}
    facts = [fact for fact in context.facts if not was_cut or f" {' '.join(fact.text.split())} " in kept]
    behind = frozenset(source.utterance_id for fact in facts for source in fact.sources)
    return Packed(words=bare, present=present, whole=whole, behind_facts=behind, was_cut=was_cut)


def _without_dates(text: str) -> str:
    """The text without the dates in brackets that stand beside relative times in a context."""
    return " ".join(_DATE_BESIDE.sub("", text).split())


def _values(
    prefix: str, ranking: Sequence[str], packed: Mapping[str, set[str]], evidence: frozenset[str]
) -> dict[str, float]:
    values = ranking_values(prefix, ranking, evidence)
    for name, present in packed.items():
        values[f"{prefix}{name}"] = metrics.recall_packed(present, evidence)
    return values


def _budget_names(prefix: str) -> list[str]:
    return [f"{prefix}{kind}@{budget}w" for kind in ("rec", "whole", "told") for budget in BUDGETS]


def _grouped(asked: Iterable[Asked], key: Callable[[Asked], str]) -> list[tuple[str, list[Asked]]]:
    return [(name, list(some)) for name, some in groupby(sorted(asked, key=key), key)]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _ms(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
