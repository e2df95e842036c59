"""What Mem0 and Mem0g share: exchanges, what holds when, numbers that were shown, and the nearest by cosine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

import numpy as np

from embermem.core.text import fold
from embermem.core.types import Page, Utterance
from embermem.prompts.data import one_line
from embermem_bench.systems.recorded import only_shown
from embermem_bench.systems.records import AnyRecord, Record

if TYPE_CHECKING:
    from embermem.core.types import Vector, Vectors

__all__ = ["exchanges", "holds", "only_numbered", "ranked", "same_words", "stacked", "visible"]


def exchanges(page: Page, most: int) -> Iterator[Sequence[Utterance]]:
    """A page's messages, in parts of at most so many."""
    step = max(1, most)
    return (page.utterances[start : start + step] for start in range(0, len(page.utterances), step))


def visible(text: str) -> bool:
    """Whether there is anything to read."""
    return bool(one_line(text, 1))


def same_words(text: str) -> str:
    """What two texts of the same words have in common."""
    return " ".join(fold(text).split()).rstrip(".!。！")


class Dated(Protocol):
    """What holds from the time at which it was said until another time, which an utterance tells."""

    @property
    def at(self) -> datetime:
        """When it was said."""

    @property
    def ended_at(self) -> datetime | None:
        """When it ended; None while it holds."""

    @property
    def ended_by(self) -> int:
        """The seq of the utterance that ended it."""


def holds(one: Dated, at: datetime | None, seen: Set[int] | None) -> bool:
    """Whether a memory or a relation holds for a recall, which may ask for a time, or see these utterances only."""
    if at is not None and at < one.at:
        return False
    if one.ended_at is None:
        return True
    return (at is not None and at < one.ended_at) or (seen is not None and one.ended_by not in seen)


def only_numbered(numbers: Iterable[int], shown: int, what: str) -> None:
    """Raise ValueError, in words for the model, if a number of what it names was not shown."""
    only_shown(numbers, shown, f"There is no {what} {{}}; they are numbered from 1 to {{}}.")


def stacked(records: Sequence[Record]) -> Vectors:
    """Their vectors as rows; each has one."""
    rows = [record.vector for record in records if record.vector is not None]
    return np.concatenate(rows).reshape(len(rows), -1) if rows else np.zeros((0, 0), np.float32)


def ranked(vector: Vector, rows: Vectors, records: Sequence[AnyRecord], k: int) -> list[tuple[float, AnyRecord]]:
    """The k records whose rows are nearest to a vector, each after its cosine; of equals the older first."""
    if not records:
        return []
    scores = rows @ vector
    return [(float(scores[i]), records[i]) for i in np.argsort(-scores, kind="stable")[:k]]
