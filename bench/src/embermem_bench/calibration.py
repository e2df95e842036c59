"""`embermem bench calibration`: whether relevance and confidence are the probabilities that they are said to be.

Each conversation's own questions are asked, and questions of the other conversations of the file, with the names of
this one's speakers: nothing here answers those, nor the questions of a category outside of the data set's headline.

A context holds the answer if all evidence utterances are packed; where whole threads are the evidence, if some
utterance of one is. A hit is right if it is evidence.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embermem_bench import ProgressFn, metrics
from embermem_bench.datasets import Conversation, Dataset, Question
from embermem_bench.load_conversation import Stored, add_conversation, look_up

if TYPE_CHECKING:
    from embermem.core.types import Context, Hit
    from embermem.memory import OwnerMemory

BINS = 10
"""Bins of equal numbers of questions or hits, in order of the probability."""
ANSWERABLE, UNANSWERABLE, UNRELATED = "answerable", "unanswerable", "unrelated"
TOP = 10
"""The first hits, which are measured apart."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """One hit: its place from 0, its score, its relevance, and whether it is evidence."""

    place: int
    score: float
    relevance: float | None
    right: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """One question: of which kind it is, how sure the context was, whether it holds the answer, and its hits."""

    conversation: str
    kind: str
    confidence: float
    holds: bool
    hits: tuple[Found, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """What was asked of a data set."""

    name: str
    preset: str
    embedder: str
    asked: tuple[Asked, ...]

    def of(self, *kinds: str) -> list[Asked]:
        """The questions of some kinds."""
        return [one for one in self.asked if one.kind in kinds]

    def as_json(self) -> dict[str, Any]:
        """The figures that docs/research/recall.md, Calibration, explains."""
        own = self.of(ANSWERABLE, UNANSWERABLE)
        return {
            "name": self.name,
            "preset": self.preset,
            "embedder": self.embedder,
            "kinds": {
                kind: {
                    "questions": len(some),
                    "confidence": metrics.mean([one.confidence for one in some]),
                    "holds": metrics.mean([float(one.holds) for one in some]),
                }
                for kind in (ANSWERABLE, UNANSWERABLE, UNRELATED)
                if (some := self.of(kind))
            },
            "confidence": {"own": _confidence(own), "all": _confidence(self.asked)},
            "relevance": {"own": _relevance(own), "all": _relevance(self.asked)},
        }


def run(
    dataset: Dataset,
    folder: Path,
    *,
    preset: str | None = None,
    last: int | None = None,
    unrelated: int = 100,
    seed: int = 0,
    told: ProgressFn = lambda what, done, total: None,
    **settings: Any,
) -> Report:
    """Stores the `last` conversations (None: all) in `folder`; asks of each its questions and `unrelated` others."""
    from embermem.memory import Memory

    chosen = dataset.conversations[-last:] if last else dataset.conversations
    asked: list[Asked] = []
    with Memory(folder / "bench.db", preset=preset, **{"background": False, **settings}) as memory:
        for conversation in chosen:
            owner = memory.of(conversation.id, agent="bench", timezone="UTC")
            turn_of = add_conversation(owner, conversation)
            owner.settle()
            stored = look_up(owner, conversation, turn_of)
            questions = [*_own(conversation, dataset), *_others(conversation, dataset, unrelated, seed)]
            for number, (kind, question) in enumerate(questions, 1):
                told(f"{conversation.id}: asking", number, len(questions))
                asked.append(_ask(owner, conversation.id, kind, question, stored))
        preset, embedder = memory.settings.preset, memory.embedder_name
    return Report(name=dataset.name, preset=preset, embedder=embedder, asked=tuple(asked))


def reliability(values: Sequence[tuple[float, bool]]) -> list[tuple[int, float, float]]:
    """Of each bin: how many it has, the mean probability, and the share that is true."""
    ordered = sorted(values, key=lambda one: one[0])
    edges = [round(n * len(ordered) / BINS) for n in range(BINS + 1)]
    bins = [ordered[low:high] for low, high in pairwise(edges) if high > low]
    return [(len(one), sum(p for p, _ in one) / len(one), sum(y for _, y in one) / len(one)) for one in bins]


def calibration_error(values: Sequence[tuple[float, bool]]) -> float | None:
    """The expected calibration error: the mean distance of both over the bins, by their numbers."""
    return sum(n * abs(said - true) for n, said, true in reliability(values)) / len(values) if values else None


def curves(report: Report) -> dict[str, list[tuple[float, float | None]]]:
    """The reliability of both by the bins of all questions, and the line on which it would be if they were exact."""
    confidence = [(one.confidence, one.holds) for one in report.asked]
    relevance = [(h.relevance, h.right) for one in report.asked for h in one.hits if h.relevance is not None]
    return {
        "exact": [(0.0, 0.0), (1.0, 1.0)],
        "confidence": [(said, true) for _, said, true in reliability(confidence)],
        "relevance": [(said, true) for _, said, true in reliability(relevance)],
    }


def renamed(text: str, theirs: Sequence[str], ours: Sequence[str]) -> str:
    """A question of others, with our names in place of theirs, in their order."""
    names = dict(zip(theirs, ours, strict=False))
    if not names:
        return text
    return re.sub(rf"\b(?:{'|'.join(map(re.escape, names))})\b", lambda found: names[found[0]], text)


# ------------------------------------------------------------------------------------------------------ questions


def _own(conversation: Conversation, dataset: Dataset) -> Iterator[tuple[str, Question]]:
    for question in conversation.with_evidence:
        headline = dataset.headline is None or question.category in dataset.headline
        yield ANSWERABLE if headline else UNANSWERABLE, question


def _others(conversation: Conversation, dataset: Dataset, number: int, seed: int) -> Iterator[tuple[str, Question]]:
    chance = random.Random(f"{seed}:{conversation.id}")
    ours = list(dict.fromkeys(turn.speaker for _, turn in conversation.turns()))
    texts: list[str] = []
    for other in dataset.conversations:
        if other.id == conversation.id:
            continue
        theirs = list(dict.fromkeys(turn.speaker for _, turn in other.turns()))
        mine = chance.sample(ours, len(ours))
        texts += [renamed(q.text, theirs, mine) for kind, q in _own(other, dataset) if kind == ANSWERABLE]
    for n, text in enumerate(chance.sample(texts, min(number, len(texts)))):
        yield UNRELATED, Question(id=f"unrelated-{n}", text=text, category=UNRELATED)


def _ask(owner: OwnerMemory, conversation: str, kind: str, question: Question, stored: Stored) -> Asked:
    context = owner.recall(
        question.text, at=stored.asked_at(question), thread=question.thread, scope=stored.scope(question)
    )
    wanted = replace(question, evidence=frozenset(), evidence_threads=frozenset()) if kind != ANSWERABLE else question
    return Asked(
        conversation=conversation,
        kind=kind,
        confidence=context.confidence,
        holds=_holds(context, wanted, stored),
        hits=tuple(
            Found(place=place, score=hit.score, relevance=hit.relevance, right=_is_right(hit, wanted, stored))
            for place, hit in enumerate(context.hits)
        ),
    )


def _holds(context: Context, question: Question, stored: Stored) -> bool:
    if question.evidence_threads:
        return any(_is_right(hit, question, stored) for hit in context.packed)
    packed = {stored.turn_of[hit.utterance.id] for hit in context.packed}
    return bool(question.evidence) and question.evidence <= packed


def _is_right(hit: Hit, question: Question, stored: Stored) -> bool:
    turn = stored.turn_of[hit.utterance.id]
    return turn in question.evidence or stored.thread_of[turn] in question.evidence_threads


# -------------------------------------------------------------------------------------------------------- figures


def _confidence(asked: Sequence[Asked]) -> dict[str, Any]:
    values = [(one.confidence, one.holds) for one in asked]
    return {"questions": len(values), **_calibrated(values), "auc": _auc(values)}


def _relevance(asked: Sequence[Asked]) -> dict[str, Any]:
    found = [hit for one in asked for hit in one.hits]
    known = [(hit.relevance, hit.right) for hit in found if hit.relevance is not None]
    top = [hit for hit in found if hit.place < TOP]
    neighbours = [pair for one in asked for pair in pairwise(one.hits)]
    return {
        "hits": len(found),
        "right": sum(hit.right for hit in found),
        **_calibrated(known),
        "auc": _auc(known),
        "auc_of_score": _auc([(hit.score, hit.right) for hit in found]),
        f"auc@{TOP}": _auc([(hit.relevance, hit.right) for hit in top if hit.relevance is not None]),
        f"auc_of_score@{TOP}": _auc([(hit.score, hit.right) for hit in top]),
        "out_of_order": metrics.mean([float((a.relevance or 0.0) < (b.relevance or 0.0)) for a, b in neighbours]),
    }


def _calibrated(values: Sequence[tuple[float, bool]]) -> dict[str, Any]:
    return {"calibration_error": calibration_error(values), "reliability": reliability(values) if values else []}


def _auc(values: Sequence[tuple[float, bool]]) -> float | None:
    return metrics.auc([p for p, y in values if y], [p for p, y in values if not y])
