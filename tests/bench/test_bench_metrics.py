"""Hand-computed figures."""

from __future__ import annotations

import pytest

from embermem_bench import metrics

RANKING = ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize(("k", "expected"), [(1, 0.0), (2, 1 / 3), (4, 2 / 3), (5, 2 / 3), (50, 2 / 3)])
def test_recall_is_the_share_of_the_evidence_in_the_first_k(k: int, expected: float) -> None:
    assert metrics.recall_at(RANKING, {"b", "d", "x"}, k) == pytest.approx(expected)


def test_any_needs_one_and_all_needs_every_piece() -> None:
    assert [metrics.any_at(RANKING, {"c", "x"}, k) for k in (1, 2, 3)] == [0, 0, 1]
    assert [metrics.all_at(RANKING, {"a", "c"}, k) for k in (1, 2, 3)] == [0, 0, 1]
    assert metrics.all_at(RANKING, {"a", "x"}, 5) == 0


def test_reciprocal_rank_looks_for_the_first_evidence() -> None:
    assert metrics.reciprocal_rank(RANKING, {"c", "e"}) == pytest.approx(1 / 3)
    assert metrics.reciprocal_rank(RANKING, {"x"}) == 0


def test_packed_recall_is_the_share_that_was_packed() -> None:
    assert metrics.recall_packed({"a", "b"}, {"b", "x"}) == 0.5


def test_a_thread_counts_once_however_often_it_is_ranked() -> None:
    threads = metrics.threads_of(["1", "2", "3"], {"1": "t", "2": "t", "3": "s"})
    assert threads == ["t", "t", "s"]
    assert metrics.recall_at(threads, {"t", "s"}, 2) == 0.5
    assert metrics.recall_at(threads, {"t", "s"}, 3) == 1


@pytest.mark.parametrize(
    ("yes", "no", "expected"),
    [
        ([0.9, 0.4], [0.1, 0.5], 0.75),
        ([0.5], [0.5], 0.5),
        ([0.1], [0.2, 0.1, 0.0], 0.5),
        ([], [0.1], None),
        ([1.0], [], None),
    ],
)
def test_the_area_under_the_curve_counts_pairs_in_the_right_order(
    yes: list[float], no: list[float], expected: float | None
) -> None:
    assert metrics.auc(yes, no) == expected


def test_percentiles_are_values_that_were_measured() -> None:
    assert metrics.percentile([4.0, 1.0, 3.0, 2.0], 0.5) == 2
    assert metrics.percentile([float(n) for n in range(1, 101)], 0.95) == 95
    assert metrics.percentile([7.0], 0.95) == 7
    assert metrics.percentile([], 0.5) is None
    assert metrics.mean([]) is None
    assert metrics.mean([1.0, 2.0]) == 1.5
