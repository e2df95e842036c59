"""Vectors as they are stored: rounded once, the same bytes for the same numbers, nothing lost after."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from embermem.core import vector_codes

NUMBERS = st.floats(-4.0, 4.0, width=32)


def drawn(n: int, dim: int = 384) -> np.ndarray:
    """Unit vectors."""
    vectors = np.random.default_rng(n).standard_normal((n, dim)).astype(np.float32)
    made: np.ndarray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return made


@given(data=st.data(), dim=st.sampled_from([384, 64, 8, 7, 1]))
def test_what_was_rounded_is_stored_exactly_in_a_byte_a_number_and_not_changed_by_rounding_it_again(
    data: st.DataObject, dim: int
) -> None:
    vectors = data.draw(arrays(np.float32, (2, dim), elements=NUMBERS))
    once = vector_codes.rounded(vectors)
    np.testing.assert_array_equal(vector_codes.rounded(once), once)
    rows = vector_codes.stored_rows(once)
    assert vector_codes.stored_rows(vectors) == rows
    for one, row in zip(once, rows, strict=True):
        np.testing.assert_array_equal(vector_codes.vector_of(row), one)
        np.testing.assert_array_equal(np.frombuffer(vector_codes.halves_of(row), "<f2").astype(np.float32), one)
        assert vector_codes.stored(one.astype(np.float16).astype(np.float32)) == row
        assert len(row) == dim + 5
    codes, exponents = vector_codes.codes_of(rows, dim)
    np.testing.assert_array_equal(codes * 2.0 ** exponents[:, None].astype(float), once)
    np.testing.assert_array_equal(np.asarray(vector_codes.StoredVectors(rows, dim)), once)


def test_rounding_changes_a_cosine_by_less_than_a_hundredth_and_hardly_at_all_on_average() -> None:
    vectors = drawn(400)
    made = vector_codes.rounded(vectors)
    error = made @ vectors.T - vectors @ vectors.T
    assert np.abs(error).max() < 0.003
    assert error.std() < 0.001


def test_bytes_of_another_dimension_or_form_and_numbers_without_a_code_are_refused() -> None:
    row = vector_codes.stored(np.ones(8, dtype=np.float32))
    with pytest.raises(ValueError, match="does not have 384 numbers"):
        vector_codes.codes_of([row], 384)
    halves = np.ones(8, dtype="<f2").tobytes()
    of_two_parts = row[:-3] + (4).to_bytes(2, "little") + b"\1"
    in_three_bits = row[:-1] + b"\3"
    for other in [halves, of_two_parts, in_three_bits, bytes(11), b"", row[:-1], row + b"\0"]:
        with pytest.raises(ValueError, match="damaged"):
            vector_codes.vector_of(other)
    for odd in [np.nan, np.inf, 1e6]:
        with pytest.raises(ValueError, match="not finite, or above 65504"):
            vector_codes.stored(np.array([1.0, odd, 0.5, 0.25], dtype=np.float32))
