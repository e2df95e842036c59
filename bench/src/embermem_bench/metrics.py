"""How well a ranking finds its evidence. Pure functions; k counts utterances from the best down.

A ranking holds each id once. Evidence is a set of ids and is never empty.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence
from itertools import islice


def recall_at(ranking: Sequence[str], evidence: Collection[str], k: int) -> float:
    """rec@k: the share of the evidence among the first k, in [0, 1]."""
    return len(set(evidence).intersection(islice(ranking, k))) / len(set(evidence))


def any_at(ranking: Sequence[str], evidence: Collection[str], k: int) -> float:
    """any@k: 1 if some evidence is among the first k, else 0."""
    return float(not set(evidence).isdisjoint(islice(ranking, k)))


def all_at(ranking: Sequence[str], evidence: Collection[str], k: int) -> float:
    """all@k: 1 if the whole evidence is among the first k, else 0."""
    return float(set(evidence).issubset(islice(ranking, k)))


def reciprocal_rank(ranking: Sequence[str], evidence: Collection[str]) -> float:
    """1 / rank of the first evidence (ranks from 1); 0 if there is none in the ranking."""
    return next((1 / rank for rank, item in enumerate(ranking, 1) if item in evidence), 0.0)


def recall_packed(packed: Collection[str], evidence: Collection[str]) -> float:
    """rec@Nw: the share of the evidence whose utterance stands in a context of at most N words."""
    return len(set(evidence).intersection(packed)) / len(set(evidence))


def threads_of(ranking: Sequence[str], thread_of: Mapping[str, str]) -> list[str]:
    """The thread of each ranked utterance, in order, repeats kept: k still counts utterances."""
    return [thread_of[item] for item in ranking]


def mean(values: Collection[float]) -> float | None:
    """The arithmetic mean, or None of nothing."""
    return sum(values) / len(values) if values else None


def auc(yes: Collection[float], no: Collection[float]) -> float | None:
    """The area under the ROC curve: how often one of `yes` lies above one of `no`, equals counted half, in [0, 1].

    None if either is empty.
    """
    if not yes or not no:
        return None
    below = sorted(no)
    wins = sum(bisect_left(below, value) + bisect_right(below, value) for value in yes)
    return wins / (2 * len(yes) * len(no))


def percentile(values: Collection[float], share: float) -> float | None:
    """The value at `share` in [0, 1] of the sorted values (nearest rank), or None of nothing."""
    if not values:
        return None
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]
