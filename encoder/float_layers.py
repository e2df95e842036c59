"""The encoder's layers in float32 with numpy: what calibration measures on, and what tests compare the graph with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

HEADS = 12
EPSILON = 1e-12


def normed(rows: Floats, weight: Floats, bias: Floats) -> Floats:
    """Layer normalization."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    scaled = centred / np.sqrt((centred * centred).mean(axis=1, keepdims=True) + EPSILON)
    return np.asarray(scaled * weight + bias, dtype=np.float32)


def layer(
    rows: Floats, weights: Mapping[str, Floats], seen: Callable[[str, Floats], None] = lambda name, rows: None
) -> Floats:
    """One layer of one text (t, 384); `seen` is shown the inputs of each dense layer."""

    def dense(name: str, inputs: Floats) -> Floats:
        seen(name, inputs)
        return inputs @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    count, width = rows.shape
    query, key, value = dense("qkv", rows).reshape(count, 3, HEADS, width // HEADS).transpose(1, 2, 0, 3)
    scores = query @ key.transpose(0, 2, 1) / sqrt(width // HEADS)
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    mixed = (scores / scores.sum(axis=-1, keepdims=True)) @ value
    attended = dense("o", mixed.transpose(1, 0, 2).reshape(count, width))
    rows = normed(rows + attended, weights["n1.weight"], weights["n1.bias"])
    outer = dense("f2", gelu(dense("f1", rows)))
    return normed(rows + outer, weights["n2.weight"], weights["n2.bias"])


def gelu(numbers: Floats) -> Floats:
    """x·Φ(x), with Abramowitz and Stegun's formula 7.1.26 for erf (1.5e-7)."""
    scaled = np.abs(numbers) / np.float32(sqrt(2.0))
    t = 1.0 / (1.0 + 0.3275911 * scaled)
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    erf = np.sign(numbers) * (1.0 - series * np.exp(-scaled * scaled))
    return np.asarray(0.5 * numbers * (1.0 + erf), dtype=np.float32)
