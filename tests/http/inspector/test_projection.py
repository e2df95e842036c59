"""The map's plane: principal components, the same picture each time."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from embermem.index.projection import plane


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(0, 12), dim=st.integers(1, 8))
def test_every_vector_stands_within_the_map_and_the_picture_is_the_same(seed: int, n: int, dim: int) -> None:
    vectors = np.random.default_rng(seed).standard_normal((n, dim)).astype(np.float32)
    places = plane(vectors)
    assert places.shape == (n, 2)
    assert np.all(np.abs(places) <= 1 + 1e-9)
    assert np.array_equal(places, plane(vectors.copy()))


def test_the_first_direction_is_the_one_in_which_they_differ_most_and_equals_stand_in_one_place() -> None:
    vectors = np.array([[0, 0, 0], [10, 1, 0], [20, 0, 0], [30, 1, 0]], dtype=np.float32)
    places = plane(vectors)
    assert np.all(np.diff(places[:, 0]) > 0)
    assert places[0, 0] == -1.0
    assert places[3, 0] == 1.0
    assert not plane(np.ones((4, 3), dtype=np.float32)).any()
