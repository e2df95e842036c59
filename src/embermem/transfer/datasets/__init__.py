"""Conversations with questions about them, in two formats: LoCoMo's, and the neutral recall-set format.

`embermem ingest` reads the conversations, and embermem-bench also the questions. Rules: docs/research/datasets.md.
Content that cannot be read raises an InputError that names the place in the file and what is wrong. No turn is left
out, assigned to another session or misdated.
"""

from __future__ import annotations

from embermem.transfer.datasets import locomo, neutral
from embermem.transfer.datasets.locomo import is_locomo
from embermem.transfer.datasets.neutral import is_neutral
from embermem.transfer.datasets.reading import refuse
from embermem.transfer.datasets.records import Conversation, Dataset, Observation, Question, Thread, Turn

__all__ = [
    "Conversation",
    "Dataset",
    "Observation",
    "Question",
    "Thread",
    "Turn",
    "is_locomo",
    "is_neutral",
    "parse",
]


def parse(document: object, name: str, where: str) -> Dataset:
    """A data set from the JSON of one file; `name` is used if it brings none, `where` begins each error.

    Raises InputError.
    """
    if is_neutral(document):
        return neutral.dataset(document, name, where)
    if is_locomo(document):
        return locomo.dataset(document, name, where)
    refuse(where, 'neither LoCoMo (a list of {"conversation", "qa"}) nor a recall set ({"conversations": [...]})')
