"""How sure a figure is: intervals over conversations, and how far two judges agree. Pure functions; randomness is a
seed.

Questions of one conversation share its text, its memory and its mishaps: they are not independent. So what is drawn
again is conversations, with all of their questions (Cameron, Gelbach and Miller, 2008, on cluster bootstraps). With few
conversations (LoCoMo has ten) such intervals are rough, and rather too narrow.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from embermem.core.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

RESAMPLES = 10_000
"""Draws of one bootstrap: between seeds the ends of a 95 % interval then move by less than a hundredth of its width."""
LEVEL = 0.95
"""The share of the draws that an interval holds."""

_CELLS = 1_000_000
"""Conversations drawn at once: some megabytes of memory."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Interval:
    """A mean over all questions, and where it lies when conversations are drawn again.

    `low` and `high` are None with fewer than two `conversations`: one alone says nothing of others. `mean` is None
    without any question.
    """

    low: float | None
    mean: float | None
    high: float | None
    conversations: int
    questions: int


def bootstrap(
    values_by_conversation: Mapping[str, Sequence[float]],
    seed: int,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Interval:
    """The percentile bootstrap (Efron, 1979) of the mean over all questions; conversations are drawn, not questions.

    The same values and seed give the same interval, in whatever order they come. Conversations without a value do not
    count. InputError if `resamples` is below 1, or `level` not between 0 and 1.
    """
    if resamples < 1 or not 0.0 < level < 1.0:
        raise InputError(f"resamples must be at least 1 and level between 0 and 1, not {resamples} and {level}")
    groups = [values for _, values in sorted(values_by_conversation.items()) if len(values)]
    sums = np.array([math.fsum(values) for values in groups], dtype=np.float64)
    counts = np.array([len(values) for values in groups], dtype=np.float64)
    mean = float(sums.sum() / counts.sum()) if groups else None
    low, high = _percentiles(sums, counts, seed, resamples, level) if len(groups) > 1 else (None, None)
    return Interval(low=low, mean=mean, high=high, conversations=len(groups), questions=int(counts.sum()))


def paired_bootstrap(
    first: Mapping[str, Mapping[str, float]],
    second: Mapping[str, Mapping[str, float]],
    seed: int,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Interval:
    """The bootstrap of first − second, question by question: conversation → question → value.

    Both were asked the same questions, else InputError. An interval without 0 in it says that they differ.
    """
    apart: dict[str, list[float]] = {}
    for conversation in sorted({*first, *second}):
        a, b = first.get(conversation, {}), second.get(conversation, {})
        if a.keys() != b.keys():
            other = sorted(a.keys() ^ b.keys())[0]
            raise InputError(f"conversation {conversation!r}: only one of the two was asked question {other!r}")
        apart[conversation] = [a[question] - b[question] for question in sorted(a)]
    return bootstrap(apart, seed, resamples, level)


def agreement(first: Sequence[float], second: Sequence[float]) -> float | None:
    """The share of items on which two judges say the same, in [0, 1]; None of nothing. InputError if their items do
    not pair."""
    _check_pairs(first, second)
    return sum(a == b for a, b in zip(first, second, strict=True)) / len(first) if first else None


def kappa(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Cohen's kappa (1960) of two judges, weighted by distance (Cohen, 1968): 1 is full agreement, 0 that of chance.

    κ = 1 − observed/expected, where both are means of |a − b|: over the items, and over all pairs of a judgement of the
    first with one of the second. For 0 and 1 that is the plain kappa; for 0, ½ and 1 a step of ½ is half a
    disagreement (linear weights). None where both always say the same one thing, and of nothing: chance explains it
    all. InputError if their items do not pair.
    """
    _check_pairs(first, second)
    if not first:
        return None
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    (kinds_a, shares_a), (kinds_b, shares_b) = _shares(a), _shares(b)
    expected = float(shares_a @ np.abs(kinds_a[:, None] - kinds_b[None, :]) @ shares_b)
    return 1.0 - float(np.abs(a - b).mean()) / expected if expected else None


def _percentiles(
    sums: Floats,
    counts: Floats,
    seed: int,
    resamples: int,
    level: float,
) -> tuple[float, float]:
    rng, n = np.random.default_rng(seed), len(sums)
    block = max(1, _CELLS // n)
    means = []
    for done in range(0, resamples, block):
        drawn = rng.integers(0, n, size=(min(block, resamples - done), n))
        means.append(sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1))
    low, high = np.quantile(np.concatenate(means), [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return float(low), float(high)


def _shares(
    values: Floats,
) -> tuple[Floats, Floats]:
    """What a judge says, and how often, as a share."""
    kinds, counts = np.unique(values, return_counts=True)
    return kinds, counts / len(values)


def _check_pairs(first: Sequence[float], second: Sequence[float]) -> None:
    if len(first) != len(second):
        raise InputError(f"two judges must judge the same items; these judged {len(first)} and {len(second)}")
