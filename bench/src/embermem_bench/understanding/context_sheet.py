"""Contexts for a person to judge: a sheet in CSV with a column `answers`, written with questions drawn at random, and
read back.

A context answers its question if who reads nothing else can give the answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from embermem.core.types import Context
from embermem_bench.datasets import Question
from embermem_bench.understanding import sheet


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextRow:
    """One line of the sheet. `answers` is for the reader: y or n. `gold` is the data's answer."""

    answers: str
    conversation: str
    category: str
    question: str
    gold: str
    tokens: int
    context: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Answered:
    """How many contexts of a sheet were judged, and how many of them answer their question."""

    judged: int
    answers: int
    not_judged: int


def row_of(conversation: str, question: Question, context: Context) -> ContextRow:
    """The line of a question and its context."""
    return ContextRow(
        answers="",
        conversation=conversation,
        category=question.category,
        question=question.text,
        gold=question.answer or "",
        tokens=context.tokens,
        context=context.text,
    )


def judged(file: Path) -> Answered:
    """Count the judgements of a sheet. Raises InputError."""
    verdicts = [verdict for _, verdict in sheet.verdicts(file, "answers", "question")]
    given = [verdict for verdict in verdicts if verdict is not None]
    return Answered(judged=len(given), answers=sum(given), not_judged=len(verdicts) - len(given))


def is_one(file: Path) -> bool:
    """Whether a file is a sheet of contexts. Raises InputError."""
    return {"answers", "question"} <= sheet.columns(file)
