"""Vectors in the plane, to be looked at: principal components, the same picture each time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from embermem.core.types import Vectors

    Floats = NDArray[np.float64]


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
