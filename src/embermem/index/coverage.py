"""Several pieces of evidence: the more of a conversation has been told, the less another piece of it adds.

Not by similarity (MMR did harm when it was measured), but by how much of the same thread stands above: short
messages of one talk follow each other freely, a long answer gives way to other threads.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

import numpy as np

from embermem.core import equations

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["widened"]


def widened(
    scores: Floats,
    threads: NDArray[np.integer[Any]],
    chars: Floats,
    *,
    weight: float,
    unit: float,
    first: int,
) -> tuple[NDArray[np.int64], Floats]:
    """Hits anew, best first, each one's score less `weight` · told_penalty of the characters of its thread above it.

    `scores` best first; `threads` and `chars` run in parallel with them, shape (n,). Greedy for the `first` places;
    the rest follows in its order under the penalties that hold then. Returns places in `scores`, and the penalties
    (≥ 0, to be subtracted).
    """
    score_at, thread_at, chars_at = scores.tolist(), threads.tolist(), chars.tolist()
    told: dict[int, float] = {}
    penalties: dict[int, float] = {}
    paid = np.zeros(len(scores))
    order: list[int] = []
    heap: list[tuple[float, int]] = []
    seen = 0
    while len(order) < min(first, len(score_at)):
        # No penalty lifts a score, so nothing below the best so far need be looked at.
        while seen < len(score_at) and (not heap or score_at[seen] > -heap[0][0]):
            heapq.heappush(heap, (penalties.get(thread_at[seen], 0.0) - score_at[seen], seen))
            seen += 1
        value, place = heap[0]
        thread = thread_at[place]
        # A penalty only grows, so what is still best under its present one is best of all.
        penalty = penalties.get(thread, 0.0)
        now = score_at[place] - penalty
        if now < -value:
            heapq.heapreplace(heap, (-now, place))
            continue
        heapq.heappop(heap)
        order.append(place)
        paid[place] = penalty
        told[thread] = told.get(thread, 0.0) + chars_at[place]
        penalties[thread] = weight * equations.told_penalty(told[thread], unit)
    below = np.ones(len(scores), dtype=bool)
    below[order] = False
    for thread, penalty in penalties.items():
        paid[below & (threads == thread)] = penalty
    rest = np.flatnonzero(below)
    places = np.concatenate(
        [np.array(order, dtype=np.int64), rest[np.argsort(paid[rest] - scores[rest], kind="stable")]]
    )
    return places, paid[places]
