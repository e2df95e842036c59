"""Sums of vectors as they are stored: near what they were, and not changed by being stored again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from embermem.core.vector_sums import sum_bytes, sum_from
from proofs import bounded

NUMBERS = st.floats(-300.0, 300.0, width=32)
SMALL = 0.01
"""The length of the last blocks of a sum beside that of the first."""


def drawn_sum(pages: int, *, second: float = SMALL) -> np.ndarray:
    """A sum of vectors of two parts: of length 1, and of length `second`."""
    rng = np.random.default_rng(pages)
    parts = [rng.standard_normal((pages, dim)) for dim in (384, 512)]
    first, other = (part / np.linalg.norm(part, axis=1, keepdims=True) for part in parts)
    made: np.ndarray = np.concatenate((first, other * second), axis=1).sum(axis=0).astype(np.float32)
    return made


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


@given(data=st.data(), dim=st.sampled_from([1, 2, 3, 7, 127, 129, 384, 896]))
def test_a_sum_that_was_stored_is_not_changed_by_being_stored_again(data: st.DataObject, dim: int) -> None:
    once = sum_from(sum_bytes(data.draw(arrays(np.float32, (dim,), elements=NUMBERS))))
    assert once.shape == (dim,)
    np.testing.assert_array_equal(sum_from(sum_bytes(once)), once)


def test_a_sum_takes_two_bytes_a_number_and_half_a_byte_where_numbers_are_far_smaller_unless_it_is_long() -> None:
    cases = [
        (5, SMALL, 2 * 384 + 256), (5, 1.0, 2 * 896), (50, SMALL, 2 * 896), (50, 1.0, 2 * 896),
    ]  # fmt: skip
    assert [
        (pages, second, length)
        for pages, second, length in cases
        if not (length < len(sum_bytes(drawn_sum(pages, second=second))) <= length + 12)
    ] == []


def test_both_parts_of_a_sum_keep_their_direction_over_many_additions() -> None:
    for second in [SMALL, 1.0]:
        exact = kept = topic = drawn_sum(1, second=second)
        for pages in range(2, bounded(80, proofs=200)):
            page = topic + drawn_sum(pages, second=second) / pages
            exact, kept = exact + page, sum_from(sum_bytes((kept + page).astype(np.float32)))
        assert cosine(kept[:384], exact[:384]) > 0.999999
        assert cosine(kept[384:], exact[384:]) > 0.97


def test_a_block_of_zeros_takes_half_a_byte_a_number() -> None:
    alone = np.concatenate((np.zeros(384), drawn_sum(1, second=1.0)[384:])).astype(np.float32)
    assert 192 + 1024 < len(sum_bytes(alone)) <= 192 + 1024 + 12


def test_stored_sums_in_single_precision_and_numbers_without_a_code_are_in_single_precision() -> None:
    exact = drawn_sum(7)
    np.testing.assert_array_equal(sum_from(exact.astype("<f4").tobytes()), exact)
    odd = np.array([1.0, np.inf, 0.5], dtype=np.float32)
    np.testing.assert_array_equal(sum_from(sum_bytes(odd)), odd)


def test_a_damaged_sum_is_refused() -> None:
    for damaged in [b"", b"\x01", b"\xff\xff\x00", sum_bytes(drawn_sum(3))[:-9]]:
        with pytest.raises(ValueError, match="damaged"):
            sum_from(damaged)
