"""Products of matrices in the thread that asks for them.

BLAS would share them among threads that wait for each other. On a busy machine that waiting took 8 to 35 ms in each
product; done here they take less than one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from embermem.core.types import Vector

    Floats = NDArray[np.float64]

__all__ = ["code_products", "cosines", "direction", "highest", "places_of_highest", "rows_alone"]

_ALONE = 2**18
"""Multiplications that OpenBLAS does in one thread, at most."""
_SAMPLE = 1024
"""Numbers, evenly spaced, by which it is guessed where the highest of many begin."""


def rows_alone(size: int) -> int:
    """How many rows of a matrix BLAS multiplies with one of `size` numbers in the caller's thread; 1 at least."""
    return max(1, _ALONE // max(1, size))


def direction(vector: Vector | None) -> Vector | None:
    """The vector with norm 1; None without a vector, and for one without length."""
    norm = 0.0 if vector is None else float(np.sqrt(vector @ vector))
    return None if vector is None or norm == 0.0 else vector / norm


def cosines(rows: NDArray[Any], directions: NDArray[Any]) -> NDArray[Any]:
    """`rows @ directions.T`, shape (n, m), of rows (n, dim) and directions (m, dim)."""
    if len(directions) == 1:
        return np.asarray(np.einsum("ij,j->i", rows, directions[0]))[:, None]
    columns = np.ascontiguousarray(directions.T)
    found = np.empty((len(rows), len(directions)), dtype=np.result_type(rows, directions))
    at_once = rows_alone(columns.size)
    for start in range(0, len(rows), at_once):
        np.matmul(rows[start : start + at_once], columns, out=found[start : start + at_once])
    return found


def code_products(codes: NDArray[np.int8], scales: NDArray[np.float32], direction: NDArray[Any]) -> Floats:
    """The product of each vector, which is codes (n, dim) times its scale (n,), and a direction (dim,); shape (n,).

    The codes become numbers block by block, each of which stays in the processor's cache until it is multiplied.
    """
    towards = direction.astype(np.float32)
    found = np.empty(len(codes), dtype=np.float32)
    at_once = rows_alone(len(towards))
    numbers = np.empty((min(at_once, len(codes)), len(towards)), dtype=np.float32)
    for start in range(0, len(codes), at_once):
        block = codes[start : start + at_once]
        np.copyto(numbers[: len(block)], block)
        np.matmul(numbers[: len(block)], towards, out=found[start : start + at_once])
    return np.multiply(found, scales, dtype=np.float64)


def highest(values: Floats, k: int) -> NDArray[np.int64]:
    """The places of the k highest values, and of all that equal the k-th, ascending; of all, where there are no more.

    A few numbers say where the highest begin, so that only what lies above is put in order.
    """
    if len(values) <= k:
        return np.arange(len(values))
    step = len(values) // _SAMPLE
    if step > 1:
        sample = values[::step]
        guessed = min(len(sample), 8 + 2 * k * len(sample) // len(values))
        above = np.flatnonzero(values >= np.partition(sample, len(sample) - guessed)[len(sample) - guessed])
        if len(above) >= k:
            among = values[above]
            return above[among >= np.partition(among, len(above) - k)[len(above) - k]]
    return np.flatnonzero(values >= np.partition(values, len(values) - k)[len(values) - k])


def places_of_highest(values: Floats, k: int) -> NDArray[np.int64]:
    """The places of the k highest finite values, in no order; of what equals the k-th, the first ones."""
    places = highest(values, k)
    if len(places) > k:
        places = places[np.argsort(-values[places], kind="stable")[:k]]
    return places[np.isfinite(values[places])]
