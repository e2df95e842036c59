"""The papers' formulas: numbers worked out by hand, and what holds for any input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from embermem.core import equations as eq

words = st.frozensets(st.text(min_size=1, max_size=3), max_size=6)
counts = st.integers(0, 10_000)
shares = st.floats(0, 1)
levels = st.floats(-1, 1)
components = st.lists(st.floats(-1000, 1000, width=32), min_size=4, max_size=4)


def vector(*values: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.array(values, dtype=np.float32)


def test_the_papers_formulas_give_the_numbers_that_were_worked_out_by_hand() -> None:
    assert eq.cosine(vector(3, 4), vector(4, 3)) == pytest.approx(24 / 25)
    assert eq.cosine(vector(1, 0), vector(0, 5)) == 0.0
    assert eq.cosine(vector(2, 0), vector(-7, 0)) == -1.0
    assert eq.cosine(vector(0, 0), vector(1, 0)) == 0.0
    assert eq.jaccard({"park", "bird", "walk"}, {"bird", "walk", "rain", "sun"}) == pytest.approx(2 / 5)
    assert eq.jaccard(set(), set()) == 0.0
    assert eq.jaccard({"a"}, {"a"}) == 1.0
    score = eq.f_score(eq.cosine(vector(3, 4), vector(4, 3)), eq.jaccard({"park", "bird"}, {"bird"}))
    assert score == pytest.approx(0.96 + 0.5)
    assert eq.recency(0, 1e7) == 1.0
    assert eq.recency(1e7, 1e7) == pytest.approx(1 / math.e)
    assert eq.recency(86_400, 1e7) == pytest.approx(0.991397, abs=1e-6)  # one day
    assert eq.heat(2, 3, 0.5, 1.0, 1.0, 1.0) == 5.5
    assert eq.heat(2, 3, 0.5, 0.5, 2.0, 4.0) == 9.0
    assert eq.heat(0, 0, 0.0, 1.0, 1.0, 1.0) == 0.0
    assert eq.idf(10, 1) == pytest.approx(math.log(1 + 9.5 / 1.5))
    assert eq.bm25_term(2, 10, 10, 1.2, 0.75) == pytest.approx(2 * 2.2 / 3.2)
    assert eq.bm25_term(0, 10, 10, 1.2, 0.75) == 0.0
    assert eq.z_score(7, 5, 4) == 0.5
    assert eq.z_score(7, 7, 0) == 0.0
    assert eq.logistic(0) == 0.5
    assert eq.logistic(math.log(3)) == pytest.approx(0.75)
    assert eq.logistic(-1e9) == 0.0
    assert eq.evidence_level(1.0, 0.6, -1.0, 0.2) == pytest.approx(0.5)
    assert eq.evidence_level(0.3, 0.0, 0.9, 0.0) == 0.0
    assert eq.evidence_confidence(0.5, 0.5) == 0.75


@given(components, components, st.floats(0.01, 100))
def test_cosine_is_bounded_symmetric_and_deaf_to_length(a: list[float], b: list[float], scale: float) -> None:
    x, y = vector(*a), vector(*b)
    assert -1.0 <= eq.cosine(x, y) <= 1.0
    assert eq.cosine(x, y) == pytest.approx(eq.cosine(y, x), abs=1e-6)
    if float(x @ x) > 1e-6 and float(y @ y) > 1e-6:
        assert eq.cosine(np.float32(scale) * x, y) == pytest.approx(eq.cosine(x, y), abs=1e-4)


@given(words, words)
def test_jaccard_is_bounded_and_symmetric_and_one_only_for_the_same(a: frozenset[str], b: frozenset[str]) -> None:
    assert 0.0 <= eq.jaccard(a, b) <= 1.0
    assert eq.jaccard(a, b) == eq.jaccard(b, a)
    assert (eq.jaccard(a, b) == 1.0) == (a == b and bool(a))


@given(words, words, st.text(min_size=4, max_size=4))
def test_jaccard_grows_with_a_word_that_both_gain(a: frozenset[str], b: frozenset[str], word: str) -> None:
    assert eq.jaccard(a | {word}, b | {word}) >= eq.jaccard(a, b)


@given(components, components, words, words)
def test_f_score_lies_between_minus_one_and_two(
    a: list[float], b: list[float], k: frozenset[str], j: frozenset[str]
) -> None:
    assert -1.0 <= eq.f_score(eq.cosine(vector(*a), vector(*b)), eq.jaccard(k, j)) <= 2.0


@given(st.floats(-1e12, 1e12), st.floats(0, 1e9), st.floats(1, 1e9))
def test_recency_is_bounded_falls_with_time_and_takes_no_time_below_zero(dt: float, more: float, mu: float) -> None:
    assert 0.0 <= eq.recency(dt, mu) <= 1.0
    assert eq.recency(dt + more, mu) <= eq.recency(dt, mu)
    if dt <= 0:
        assert eq.recency(dt, mu) == 1.0


@given(counts, counts, shares, st.floats(0, 10), st.floats(0, 10), st.floats(0, 10), counts)
def test_heat_is_never_negative_and_grows_with_visits_and_pages(
    n: int, length: int, r: float, alpha: float, beta: float, gamma: float, more: int
) -> None:
    heat = eq.heat(n, length, r, alpha, beta, gamma)
    assert heat >= 0
    assert eq.heat(n + more, length, r, alpha, beta, gamma) >= heat
    assert eq.heat(n, length + more, r, alpha, beta, gamma) >= heat


@given(st.integers(1, 10_000), st.data())
def test_idf_is_positive_and_falls_with_how_common_a_word_is(N: int, data: st.DataObject) -> None:
    n = data.draw(st.integers(1, N))
    assert eq.idf(N, n) > 0
    if n < N:
        assert eq.idf(N, n) > eq.idf(N, n + 1)


@given(st.integers(1, 100), st.integers(1, 1000), st.floats(1, 1000), st.floats(0.1, 3), shares)
def test_bm25_saturates_and_never_rewards_length(tf: int, dl: int, avgdl: float, k_1: float, b: float) -> None:
    term = eq.bm25_term(tf, dl, avgdl, k_1, b)
    assert 0 < term < k_1 + 1
    assert eq.bm25_term(tf + 1, dl, avgdl, k_1, b) > term
    assert eq.bm25_term(tf, dl + 100, avgdl, k_1, b) <= term


@given(st.floats(-700, 700))
def test_logistic_is_bounded_and_symmetric_about_a_half(x: float) -> None:
    assert 0.0 <= eq.logistic(x) <= 1.0
    assert eq.logistic(x) + eq.logistic(-x) == pytest.approx(1.0)


@example(0.0, 0.0, 0.75, 5e-324)
@given(levels, shares, levels, shares)
def test_merged_evidence_lies_between_both_and_is_surer_than_either(a: float, c: float, b: float, d: float) -> None:
    level, sure = eq.evidence_level(a, c, b, d), eq.evidence_confidence(c, d)
    if c + d > 0:
        assert min(a, b) - 1e-9 <= level <= max(a, b) + 1e-9
    assert max(c, d) - 1e-9 <= sure <= 1.0
    assert sure == pytest.approx(eq.evidence_confidence(d, c))


def test_what_is_told_of_a_thread_costs_more_the_more_it_is() -> None:
    assert eq.told_penalty(0.0, 1000.0) == 0.0
    assert eq.told_penalty(1000.0, 1000.0) == pytest.approx(math.log(2.0))


def test_what_is_far_in_time_fades() -> None:
    assert eq.fading(0.0, 4.0) == 1.0
    assert eq.fading(4.0, 4.0) == pytest.approx(1.0 / math.e)
    assert eq.fading(np.array([0.0, 8.0]), 4.0) == pytest.approx([1.0, math.e**-2])


def test_a_wide_span_says_less_about_a_short_one() -> None:
    assert eq.sharpness(1.0, 365.0, 31.0) == pytest.approx(32 / 365)
    assert eq.sharpness(1.0, np.array([1.0, 64.0]), 31.0) == pytest.approx([32.0, 0.5])


def test_a_soft_maximum_lies_between_the_mean_and_the_greatest() -> None:
    assert eq.soft_maximum([], 0.1, 8) == 0.0
    assert eq.soft_maximum([0.7, 0.7], 0.1, 2) == pytest.approx(0.7)
    assert eq.soft_maximum([1.0], 0.1, 2) == pytest.approx(0.1 * math.log((math.exp(10) + 1) / 2))
    assert 0.5 < eq.soft_maximum([0.2, 0.8], 0.1, 2) < 0.8
