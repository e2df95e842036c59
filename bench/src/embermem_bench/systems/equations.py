"""Equations of the papers' other systems, with the papers' letters. Those that MemoryOS shares stand in
`embermem.core.equations`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from embermem.core.types import Vector, Vectors

# ---------------------------------------------------------- Think-in-Memory (Liu et al., 2023, arXiv 2311.08719), §3.2


def lsh_scores(x: Vector, R: Vectors) -> tuple[float, ...]:
    """[xR; −xR], b numbers for R of shape (d, b/2): how far x lies towards each of the b directions."""
    projected = [float(one) for one in x @ R]
    return (*projected, *(-one for one in projected))


def lsh(x: Vector, R: Vectors) -> int:
    """§3.2: F(x) = argmax([xR; −xR]), the bucket of x in [0, b), the first of equals; 0 where R has no columns."""
    scores = lsh_scores(x, R)
    return scores.index(max(scores)) if scores else 0
