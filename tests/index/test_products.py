"""Products of matrices, done in parts."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from embermem.index.products import cosines, highest, places_of_highest


def test_the_parts_give_what_the_whole_would() -> None:
    for rows in [0, 1, 999]:
        for queries in [1, 2, 7, 300]:
            rng = np.random.default_rng(0)
            left, right = (rng.standard_normal((n, 384)).astype(np.float32) for n in (rows, queries))
            found = cosines(left, right)
            assert found.shape == (rows, queries)
            assert found.dtype == np.float32
            np.testing.assert_allclose(found, left @ right.T, atol=1e-3)


def test_a_half_of_a_matrix_may_be_given() -> None:
    rng = np.random.default_rng(0)
    left, right = rng.standard_normal((600, 64)), rng.standard_normal((5, 128))
    np.testing.assert_allclose(cosines(left, right[:, 64:]), left @ right[:, 64:].T)


@given(
    st.sampled_from([0, 1, 7, 1000, 5000]), st.integers(1, 300), st.integers(0, 2**32 - 1), st.sampled_from([3, 10**9])
)
def test_the_highest_are_those_that_sorting_would_give(n: int, k: int, seed: int, different: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, different, n).astype(np.float64)
    values[rng.random(n) < 0.3] = -np.inf
    if n % 2:
        values = np.sort(values)  # a sample says little of where the highest are
    best = np.sort(values)[::-1][:k]
    places = highest(values, k)
    assert (np.diff(places) > 0).all()
    assert np.array_equal(np.sort(values[places])[::-1][:k], best)
    assert (values[np.setdiff1d(np.arange(n), places)] < best.min(initial=np.inf)).all()
    assert np.array_equal(np.sort(values[places_of_highest(values, k)])[::-1], best[np.isfinite(best)])
