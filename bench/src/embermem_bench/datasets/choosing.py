"""A part of a data set, for shorter runs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from embermem.core.errors import InputError
from embermem.transfer.datasets.records import Conversation, Dataset, Question

T = TypeVar("T")


def subset(
    dataset: Dataset, *, conversations: int | None = None, questions: int | None = None, seed: int | None = None
) -> Dataset:
    """At most so many conversations, and at most so many questions of each; None: all of them.

    Without a seed they are the first ones. With a seed they are drawn, always the same for the same seed and ids, and
    kept in file order. A larger part holds the smaller one of the same seed, so a run can be made longer. The turns
    stay as they are. Raises InputError for a number below 1.
    """
    for name, number in (("conversations", conversations), ("questions", questions)):
        if number is not None and number < 1:
            raise InputError(f"{name} = {number}: a part of a data set has at least one")

    def lot(*ids: str) -> bytes:
        return hashlib.sha256("\x00".join((str(seed), *ids)).encode("utf-8", "surrogatepass")).digest()

    def shorter(talk: Conversation) -> Conversation:
        def drawn(question: Question) -> bytes:
            return lot(talk.id, question.id)

        return replace(talk, questions=_chosen(talk.questions, questions, None if seed is None else drawn))

    def drawn(talk: Conversation) -> bytes:
        return lot(talk.id)

    chosen = _chosen(dataset.conversations, conversations, None if seed is None else drawn)
    return replace(dataset, conversations=tuple(map(shorter, chosen)))


def _chosen(items: Sequence[T], number: int | None, lot: Callable[[T], bytes] | None) -> tuple[T, ...]:
    """The first `number` items, or those with the lowest lots, in their order."""
    if number is None or lot is None:
        return tuple(items[:number])
    places = sorted(range(len(items)), key=lambda place: lot(items[place]))[:number]
    return tuple(items[place] for place in sorted(places))
