"""Products of matrices, done in parts."""

from __future__ import annotations

import numpy as np
import pytest

from embermem.index.products import cosines


@pytest.mark.parametrize("queries", [1, 2, 7, 300])
@pytest.mark.parametrize("rows", [0, 1, 999])
def test_the_parts_give_what_the_whole_would(rows: int, queries: int) -> None:
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
