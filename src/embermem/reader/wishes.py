"""How near a request for advice is to what somebody said that bears on it, in whatever words.

Of the vectors of a request and of an utterance, q and u, the score is s·q·u + (A q)·(B u) + w·u: a difference of two
scores is the logarithm of how much likelier the one bears. Weights: `wishes.safetensors`, made by
`reader/train_wishes.py` of `reader/data/wishes`; figures: `reader/CARD.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from embermem.core.types import Vector

__all__ = ["score"]


def score(weights: Mapping[str, NDArray[Any]], request: Vector) -> Vector:
    """The vector (dim,) whose product with an utterance's vector is the score of the two. `weights` are the arrays of
    `wishes.safetensors` as float32: `query` and `said` (dim, rank), `bias` (dim,), `scale` (1,)."""
    found: Vector = weights["scale"] * request + weights["said"] @ (request @ weights["query"]) + weights["bias"]
    return found
