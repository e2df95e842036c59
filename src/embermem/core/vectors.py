"""How a page gets its vector, what a segment's is called by what it was made from, vectors in 8 bits or two numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from embermem.core.types import Vector, Vectors

    Codes = NDArray[np.int8]
    Floats = NDArray[np.float64]

__all__ = ["dequantized", "of_summaries", "page_vector", "plane", "quantized"]

_LARGEST = 127
"""The largest code: a number of a vector is kept as −127 … 127 steps."""
_FINEST, _COARSEST = -126, 127
"""The exponents of steps that are normal numbers in float32."""


def of_summaries(embedder: str) -> str:
    """What vectors of segments' summaries are stored under; sums of pages' vectors, under the embedder's own name."""
    return f"{embedder}, of summaries"


def page_vector(vectors: Vectors) -> Vector:
    """A page's vector: the mean of its utterances' vectors (n, dim), with L2 norm 1.

    Rows of norm 0 (nothing to embed) do not count; without any other the vector is 0, shape (dim,).
    """
    total = np.asarray(vectors, dtype=np.float32).sum(axis=0)
    norm = float(np.sqrt(total @ total))
    return np.asarray(total / norm if norm > 0.0 else total, dtype=np.float32)


def quantized(vectors: Vectors) -> tuple[Codes, Codes]:
    """Each vector (n, dim) in 8 bits a number: codes (n, dim), and the exponents (n,) of its steps, x ≈ code · 2^e.

    The step is the smallest power of two that reaches the vector's largest number, so that what was rounded once is
    not changed when it is rounded again. A vector of zeros has e = 0.
    """
    numbers = np.asarray(vectors, dtype=np.float32)
    largest = np.abs(numbers).max(axis=1, initial=0.0)
    _, exponents = np.frexp(
        largest / np.float32(_LARGEST)
    )  # m · 2^e with m in [0.5, 1): 2^e is above, or the half is it
    reaches = np.ldexp(np.float32(_LARGEST), exponents - 1) >= largest
    exponents = np.where(largest > 0.0, exponents - reaches, 0)
    exponents = np.clip(exponents, _FINEST, _COARSEST).astype(np.int8)
    steps = np.ldexp(np.float32(1.0), exponents.astype(np.int32))
    codes = np.clip(np.rint(numbers / steps[:, None]), -_LARGEST, _LARGEST).astype(np.int8)
    return codes, exponents


def dequantized(codes: Codes, exponents: Codes) -> Vectors:
    """The float32 vectors of `quantized`."""
    steps = np.ldexp(np.float32(1.0), exponents.astype(np.int32))
    return np.multiply(codes, steps[:, None], dtype=np.float32)


def plane(vectors: Vectors) -> Floats:
    """Each vector's place along the two directions in which they differ most, shape (n, 2), scaled into [−1, 1].

    Of each direction the sign is chosen so that its largest entry is positive: equal vectors give the equal picture,
    on every machine. Directions in which nothing differs give 0.
    """
    n = len(vectors)
    places = np.zeros((n, 2), dtype=np.float64)
    if n < 2:
        return places
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    _, sizes, directions = np.linalg.svd(centred, full_matrices=False)
    for axis in range(min(2, len(sizes))):
        if sizes[axis] <= 1e-9:
            continue
        direction = directions[axis]
        sign = np.sign(direction[np.argmax(np.abs(direction))])
        along = centred @ (direction * sign)
        places[:, axis] = along / np.max(np.abs(along))
    return places
