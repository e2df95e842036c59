"""Hand-computed figures."""

from __future__ import annotations

import pytest

from embermem_bench import metrics

RANKING = ["a", "b", "c", "d", "e"]


def test_recall_reciprocal_rank_and_what_was_packed_by_hand() -> None:
    for k, expected in [(1, 0.0), (2, 1 / 3), (4, 2 / 3), (5, 2 / 3), (50, 2 / 3)]:
        assert metrics.recall_at(RANKING, {"b", "d", "x"}, k) == pytest.approx(expected)

    assert [metrics.any_at(RANKING, {"c", "x"}, k) for k in (1, 2, 3)] == [0, 0, 1]
    assert [metrics.all_at(RANKING, {"a", "c"}, k) for k in (1, 2, 3)] == [0, 0, 1]
    assert metrics.all_at(RANKING, {"a", "x"}, 5) == 0

    assert metrics.reciprocal_rank(RANKING, {"c", "e"}) == pytest.approx(1 / 3)
    assert metrics.reciprocal_rank(RANKING, {"x"}) == 0

    assert metrics.recall_packed({"a", "b"}, {"b", "x"}) == 0.5

    threads = metrics.threads_of(["1", "2", "3"], {"1": "t", "2": "t", "3": "s"})
    assert threads == ["t", "t", "s"]
    assert metrics.recall_at(threads, {"t", "s"}, 2) == 0.5
    assert metrics.recall_at(threads, {"t", "s"}, 3) == 1


def test_the_area_under_the_curve_percentiles_and_means_by_hand() -> None:
    for yes, no, expected in [
        ([0.9, 0.4], [0.1, 0.5], 0.75),
        ([0.5], [0.5], 0.5),
        ([0.1], [0.2, 0.1, 0.0], 0.5),
        ([], [0.1], None),
        ([1.0], [], None),
    ]:
        assert metrics.auc(yes, no) == expected

    assert metrics.percentile([4.0, 1.0, 3.0, 2.0], 0.5) == 2
    assert metrics.percentile([float(n) for n in range(1, 101)], 0.95) == 95
    assert metrics.percentile([7.0], 0.95) == 7
    assert metrics.percentile([], 0.5) is None
    assert metrics.mean([]) is None
    assert metrics.mean([1.0, 2.0]) == 1.5
