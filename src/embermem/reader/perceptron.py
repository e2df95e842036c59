"""What the shared states of a message say by their means: what a query needs of memory, and whether a request stands.

Perceptrons of one hidden layer. Weights: `perceptrons.safetensors`, made by `reader/train_perceptrons.py` of
`reader/data/queries` and `reader/data/requests`; figures: `reader/CARD.md`.
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

__all__ = ["NEEDS", "QUERIES", "REQUESTS", "STANDS", "Perceptron", "needs", "of_request", "stands"]

QUERIES, REQUESTS = "queries", "requests"
"""The perceptrons, by which the names of their arrays begin."""
NEEDS = ("advice", "now", "several", "past", "nothing", "tells")
"""The outputs for a query, in order; the fields of `Needs`."""
STANDS = ("standing", "once", "none")
"""The outputs for words of a message: a wish for all that follows, one for this answer or task alone, or none."""


class Perceptron:
    """One of them; immutable once made."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], name: str) -> None:
        """`arrays` are those of `perceptrons.safetensors`. Raises KeyError for one that is not there."""
        names = ("hidden.weight", "hidden.bias", "out.weight", "out.bias")
        self._hidden, self._bias, self._out, self._base = (arrays[f"{name}.{one}"].astype(np.float32) for one in names)

    def probabilities(self, means: Floats) -> Floats:
        """The probabilities of the outputs, of the means of the states."""
        return softmax(np.maximum(0.0, means @ self._hidden + self._bias) @ self._out + self._base)


def needs(queries: Perceptron, rows: Floats) -> Needs:
    """Of the shared states of a query's pieces (t, 384)."""
    return Needs(**dict(zip(NEEDS, queries.probabilities(rows.mean(axis=0)).tolist(), strict=True)))


def stands(requests: Perceptron, rows: Floats, first: int, last: int) -> float:
    """The probability that the request of the rows [first, last) of a message's shared states (t, 384) is one for all
    that follows."""
    return float(requests.probabilities(of_request(rows, first, last))[STANDS.index("standing")])


def of_request(rows: Floats, first: int, last: int) -> Floats:
    """What is looked at of a request: the mean of its rows and that of all rows of its message (768,)."""
    return np.concatenate((rows[first:last].mean(axis=0), rows.mean(axis=0)))
