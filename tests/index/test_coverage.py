from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embermem.index.coverage import widened


def wide(
    scores: list[float], threads: list[int], chars: list[float], *, weight: float = 2.0, first: int = 10
) -> tuple[list[int], list[float]]:
    at = np.array(threads, dtype=np.int64)
    order, penalties = widened(np.array(scores), at, np.array(chars), weight=weight, unit=1000.0, first=first)
    return order.tolist(), penalties.tolist()


def test_after_a_long_answer_another_thread_comes_first() -> None:
    order, _ = wide([5.0, 4.9, 4.5], [0, 0, 1], [3000, 3000, 100])
    assert order == [0, 2, 1]


def test_short_messages_of_one_talk_follow_each_other() -> None:
    order, _ = wide([5.0, 4.9, 4.5], [0, 0, 1], [60, 60, 60])
    assert order == [0, 1, 2]


def test_without_a_weight_the_order_stays() -> None:
    order, penalties = wide([5.0, 4.9, 4.5], [0, 0, 1], [3000, 3000, 100], weight=0.0)
    assert order == [0, 1, 2]
    assert penalties == [0.0, 0.0, 0.0]


@given(
    st.lists(st.tuples(st.floats(-9, 9), st.integers(0, 3), st.floats(0, 9000)), max_size=30),
    st.integers(1, 40),
)
def test_every_row_once_and_best_first(rows: list[tuple[float, int, float]], first: int) -> None:
    ranked = sorted(rows, key=lambda row: -row[0])
    scores = [row[0] for row in ranked]
    order, penalties = wide(scores, [row[1] for row in ranked], [row[2] for row in ranked], first=first)
    assert sorted(order) == list(range(len(rows)))
    assert all(penalty >= 0.0 for penalty in penalties)
    worth = [scores[place] - penalty for place, penalty in zip(order, penalties, strict=True)]
    assert worth == pytest.approx(sorted(worth, reverse=True))
