"""Vectors as they are stored: rounded once, the same bytes for the same numbers, nothing lost after."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from embermem.core import vector_codes
from embermem.core.vectors import SECOND_SHARE

NUMBERS = st.floats(-4.0, 4.0, width=32)


def lengths_of(dim: int) -> frozenset[int]:
    """In how many bytes a vector of so many numbers may be stored: in half precision, or as codes of 8 bits, or of 3 in
    the second part, to an even number, and a tail of 5 bytes."""
    codes = {dim, *(first + (dim - first) * 3 // 8 for first in range(32, dim, 32))}
    return frozenset({2 * dim, *(one + one % 2 + 5 for one in codes)})


def drawn(n: int, dim: int = 896, first_dim: int = 384, *, both: bool = True) -> np.ndarray:
    """Unit vectors as the pair of encoders makes them."""
    rng = np.random.default_rng(n)
    vectors = rng.standard_normal((n, dim)).astype(np.float32)
    first, second = vectors[:, :first_dim], vectors[:, first_dim:]
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    if second.shape[1]:
        second *= (SECOND_SHARE**0.5 if both else 1.0) / np.linalg.norm(second, axis=1, keepdims=True)
    if not both:
        first[:] = 0.0
    return vectors


@given(data=st.data(), dims=st.sampled_from([(896, 384), (384, 384), (8, 8), (7, 7), (64, 32)]))
def test_what_was_rounded_is_stored_exactly_and_not_changed_by_rounding_it_again(
    data: st.DataObject, dims: tuple[int, int]
) -> None:
    dim, first_dim = dims
    vectors = data.draw(arrays(np.float32, (2, dim), elements=NUMBERS))
    once = vector_codes.rounded(vectors, first_dim)
    np.testing.assert_array_equal(vector_codes.rounded(once, first_dim), once)
    for one in once:
        data_of = vector_codes.stored(one)
        np.testing.assert_array_equal(vector_codes.vector_of(data_of), one)
        np.testing.assert_array_equal(np.frombuffer(vector_codes.halves_of(data_of), "<f2").astype(np.float32), one)
        assert vector_codes.stored(one.astype(np.float16).astype(np.float32)) == data_of
        assert len(data_of) in lengths_of(dim)
        assert len(data_of) % 2 == 1
    codes, exponents = vector_codes.codes_of([vector_codes.stored(one) for one in once], dim, first_dim)
    steps = np.repeat(2.0 ** exponents.astype(float), [first_dim, dim - first_dim], axis=1)
    np.testing.assert_array_equal(codes * steps, once)


def test_a_vector_of_two_encoders_takes_a_byte_a_number_and_three_bits_of_the_second_s_where_both_read_the_text() -> (
    None
):
    for both, length in [(True, 384 + 192 + 5), (False, 896 + 5)]:
        vectors = vector_codes.rounded(drawn(50, both=both), 384)
        assert {len(vector_codes.stored(one)) for one in vectors} == {length}


def test_rounding_changes_a_cosine_by_less_than_a_thousandth() -> None:
    vectors = drawn(400)
    made = vector_codes.rounded(vectors, 384)
    error = made[:, :384] @ vectors[:, :384].T - vectors[:, :384] @ vectors[:, :384].T
    assert np.abs(error).max() < 0.003
    assert error.std() < 0.001


def test_vectors_in_half_precision_stay_as_they_are_and_have_codes_when_they_are_read() -> None:
    halves = drawn(20).astype(np.float16)
    data = [one.tobytes() for one in halves]
    for one, bytes_of in zip(halves, data, strict=True):
        assert vector_codes.stored(one.astype(np.float32)) == bytes_of
        assert vector_codes.halves_of(bytes_of) == bytes_of
        np.testing.assert_array_equal(vector_codes.vector_of(bytes_of), one.astype(np.float32))
    codes, exponents = vector_codes.codes_of(data, 896, 384)
    made = codes * np.repeat(2.0 ** exponents.astype(float), [384, 512], axis=1)
    assert np.abs(made - halves.astype(float)).max() < 0.002
    assert set(map(len, data)) <= lengths_of(896)


def test_bytes_of_another_dimension_or_form_are_refused() -> None:
    with pytest.raises(ValueError, match="does not have 896 numbers"):
        vector_codes.codes_of([vector_codes.stored(np.ones(8, dtype=np.float32))], 896, 384)
    with pytest.raises(ValueError, match="damaged"):
        vector_codes.vector_of(bytes(11))


def test_a_number_that_has_no_code_is_kept_in_half_precision() -> None:
    for odd in [np.nan, np.inf, 1e6]:
        vector = np.array([1.0, odd, 0.5, 0.25], dtype=np.float32)
        with np.errstate(over="ignore"):
            assert len(vector_codes.stored(vector)) == 8


def test_the_second_part_of_a_text_that_both_read_keeps_its_direction() -> None:
    vectors = drawn(200)
    made = vector_codes.rounded(vectors, 384)[:, 384:]
    cosines = (made * vectors[:, 384:]).sum(axis=1) / np.linalg.norm(made, axis=1) / SECOND_SHARE**0.5
    assert cosines.min() > 0.97
