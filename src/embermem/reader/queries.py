"""What a message to the agent needs of memory: a perceptron of one hidden layer over the mean of its shared states.

Weights: `queries.safetensors`, made by `reader/train_queries.py` of `reader/data/queries`; figures: `reader/CARD.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from embermem.protocols import Needs
from embermem.reader.network import softmax

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

__all__ = ["KINDS", "QueryNetwork"]

KINDS = ("advice", "now", "several", "past", "nothing", "tells")
"""The outputs, in order; the fields of `Needs`."""


class QueryNetwork:
    """The perceptron; immutable once made."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """`arrays` are those of `queries.safetensors`. Raises KeyError for one that is not there."""
        names = ("hidden.weight", "hidden.bias", "out.weight", "out.bias")
        self._hidden, self._bias, self._out, self._base = (arrays[name].astype(np.float32) for name in names)

    def needs(self, rows: Floats) -> Needs:
        """Of the shared states of a query's pieces (t, 384)."""
        return Needs(**dict(zip(KINDS, self.probabilities(rows.mean(axis=0)).tolist(), strict=True)))

    def probabilities(self, mean: Floats) -> Floats:
        """The probabilities of the kinds (6,), of the mean of the states (384,)."""
        return softmax(np.maximum(0.0, mean @ self._hidden + self._bias) @ self._out + self._base)
