"""Data sets as conversations and questions: LoCoMo, GVD, LongMemEval, and the neutral recall-set format.

`load` recognises each by its form; docs/research/datasets.md has the rules. What cannot be understood is an InputError
that names the file, the place in it and what is wrong. No turn is left out, put into another session or misdated.
"""

from __future__ import annotations

from pathlib import Path

from embermem.transfer import datasets
from embermem.transfer.datasets.locomo import LOCOMO_HEADLINE, is_locomo
from embermem.transfer.datasets.neutral import is_neutral
from embermem.transfer.datasets.reading import read_json, refuse
from embermem.transfer.datasets.records import Conversation, Dataset, Observation, Question, Thread, Turn
from embermem_bench.datasets import gvd, longmemeval
from embermem_bench.datasets.choosing import subset
from embermem_bench.datasets.longmemeval import is_longmemeval

__all__ = [
    "LOCOMO_HEADLINE",
    "Conversation",
    "Dataset",
    "Observation",
    "Question",
    "Thread",
    "Turn",
    "is_locomo",
    "is_longmemeval",
    "is_neutral",
    "load",
    "parse",
    "subset",
]


def load(path: str | Path) -> Dataset:
    """A data set from a file of any format; GVD's two files also by their folder, or by either of them.

    Raises InputError that names the file, the place in it and what is wrong.
    """
    path = gvd.bank_of(Path(path))
    document = read_json(path)
    if gvd.is_bank(document):
        return gvd.dataset(document, path)
    return parse(document, path.stem, str(path))


def parse(document: object, name: str, where: str) -> Dataset:
    """A data set from the JSON of one file; `name` is used if it brings none, `where` begins each error.

    Raises InputError.
    """
    if is_neutral(document) or is_locomo(document):
        return datasets.parse(document, name, where)
    if is_longmemeval(document):
        return longmemeval.dataset(document, name, where)
    if gvd.is_bank(document):
        refuse(where, "GVD is two files: load their folder, or either of them with the other beside it")
    refuse(
        where,
        'neither LoCoMo (a list of {"conversation", "qa"}), nor LongMemEval (a list of {"haystack_sessions", …}), '
        'nor GVD (memory_bank_*.json), nor a recall set ({"conversations": [...]})',
    )
