"""Several pieces of evidence: the more of a conversation has been told, the less another piece of it adds.

Not by similarity (MMR did harm when it was measured), but by how much of the same thread stands above: short
messages of one talk follow each other freely, a long answer gives way to other threads. docs/retrieval.md.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence

__all__ = ["told_penalty", "widened"]


def told_penalty(chars: float, unit: float) -> float:
    """ln(1 + characters told / unit): 0 where nothing was told yet."""
    return math.log1p(chars / unit)


def widened(
    scores: Sequence[float],
    threads: Sequence[int],
    chars: Sequence[float],
    *,
    weight: float,
    unit: float,
    first: int,
) -> tuple[list[int], list[float]]:
    """Hits anew, best first, each one's score less `weight` · told_penalty of the characters of its thread above it.

    `threads` and `chars` run in parallel with `scores`. Greedy for the `first` places; the rest follows in its order
    under the penalties that hold then. Returns places in `scores`, and the penalties (≥ 0, to be subtracted).
    """
    told: dict[int, float] = {}
    penalties = dict.fromkeys(threads, weight * told_penalty(0.0, unit))

    def penalty(place: int) -> float:
        return penalties[threads[place]]

    heap = [(-score, place) for place, score in enumerate(scores)]
    heapq.heapify(heap)
    order: list[int] = []
    paid: list[float] = []
    while heap and len(order) < first:
        value, place = heap[0]
        # A penalty only grows, so what is still best under its present one is best of all.
        now = scores[place] - penalty(place)
        if now < -value:
            heapq.heapreplace(heap, (-now, place))
            continue
        heapq.heappop(heap)
        order.append(place)
        paid.append(penalty(place))
        thread = threads[place]
        told[thread] = told.get(thread, 0.0) + chars[place]
        penalties[thread] = weight * told_penalty(told[thread], unit)
    below = sorted((penalty(place) - scores[place], place) for _, place in heap)
    rest = [place for _, place in below]
    return order + rest, paid + [penalty(place) for place in rest]
