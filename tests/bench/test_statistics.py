"""Intervals over conversations and the agreement of judges: by hand, and kappa against NLTK."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.metrics.agreement import AnnotationTask

from embermem.core.errors import InputError
from embermem_bench.statistics import Interval, agreement, bootstrap, kappa, paired_bootstrap
from proofs import bounded

values = st.lists(st.floats(0, 1), max_size=6)
conversations = st.dictionaries(st.text("abcdef", min_size=1, max_size=3), values, max_size=6)
judged = st.lists(
    st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.0, 0.5, 1.0])), min_size=1, max_size=20
)

# ------------------------------------------------------------------------------------------------------- bootstrap


def test_intervals_by_hand() -> None:
    assert bootstrap({"a": [1.0, 1.0, 1.0], "b": [0.0]}, seed=0, resamples=10).mean == 0.75

    # 0 and 1: both draws 0 (a quarter), one each (a half), both 1 (a quarter).
    drawn = {"a": [0.0], "b": [1.0]}
    wide = bootstrap(drawn, seed=1)
    assert (wide.low, wide.mean, wide.high) == (0.0, 0.5, 1.0)
    narrow = bootstrap(drawn, seed=1, level=0.4)
    assert (narrow.low, narrow.high) == (0.5, 0.5)

    few = {"a": [0.0, 1.0], "b": [1.0, 1.0], "c": [0.0, 0.0]}
    many = {name: numbers * 50 for name, numbers in few.items()}
    one, other = bootstrap(few, seed=3), bootstrap(many, seed=3)
    assert [one.low, one.high] == pytest.approx([other.low, other.high])
    assert (one.questions, other.questions) == (6, 300)

    expected = Interval(low=None, mean=0.5, high=None, conversations=1, questions=2)
    assert bootstrap({"a": [0.0, 1.0], "b": []}, seed=0) == expected

    assert bootstrap({}, seed=0) == Interval(low=None, mean=None, high=None, conversations=0, questions=0)


def test_with_many_conversations_it_is_the_interval_of_the_normal_distribution_drawn_in_pieces() -> None:
    numbers = [(n * 37 % 100) / 100 for n in range(400)]
    found = bootstrap({str(n): [value] for n, value in enumerate(numbers)}, seed=0, resamples=4000)
    mean = sum(numbers) / 400
    error = (sum((value - mean) ** 2 for value in numbers) / 400 / 400) ** 0.5
    assert found.low == pytest.approx(mean - 1.96 * error, abs=0.1 * error)
    assert found.high == pytest.approx(mean + 1.96 * error, abs=0.1 * error)

    pieces = bootstrap({str(n): [float(n % 2)] for n in range(3000)}, seed=0, resamples=700)
    assert pieces.low is not None
    assert pieces.high is not None
    assert 0.47 < pieces.low < 0.5 < pieces.high < 0.53


@settings(max_examples=bounded(15, proofs=400))
@given(conversations, st.integers(0, 2**32))
def test_the_same_seed_gives_the_same_interval_in_any_order(asked: dict[str, list[float]], seed: int) -> None:
    backwards = dict(reversed(asked.items()))
    found = bootstrap(asked, seed, resamples=50)
    assert found == bootstrap(backwards, seed, resamples=50)
    given_values = [value for numbers in asked.values() for value in numbers]
    if found.low is not None and found.high is not None:
        assert min(given_values) - 1e-9 <= found.low <= found.high <= max(given_values) + 1e-9


def test_what_cannot_be_drawn_or_compared_is_refused() -> None:
    for resamples, level in [(0, 0.95), (10, 0.0), (10, 1.0)]:
        with pytest.raises(InputError, match="resamples"):
            bootstrap({"a": [1.0]}, seed=0, resamples=resamples, level=level)

    with pytest.raises(InputError, match=r"'a'.*'2'"):
        paired_bootstrap({"a": {"1": 1.0}}, {"a": {"1": 1.0, "2": 0.0}}, seed=0)

    for measure in [agreement, kappa]:
        assert callable(measure)
        with pytest.raises(InputError, match="1 and 2"):
            measure([1.0], [1.0, 0.0])


def test_pairs_are_found_by_the_question_and_show_a_difference_that_hides_in_the_spread() -> None:
    first = {str(n): {"q": n / 10 + 0.05} for n in range(10)}
    second = {str(n): {"q": n / 10} for n in range(10)}
    found = paired_bootstrap(first, second, seed=0, resamples=500)
    assert (found.low, found.mean, found.high) == pytest.approx((0.05, 0.05, 0.05))
    alone = bootstrap({name: list(asked.values()) for name, asked in second.items()}, seed=0, resamples=500)
    assert alone.low is not None
    assert alone.high is not None
    assert alone.high - alone.low > 0.2

    one, other = {"a": {"1": 1.0, "2": 0.0}, "b": {"1": 1.0}}, {"b": {"1": 0.0}, "a": {"2": 0.0, "1": 1.0}}
    assert paired_bootstrap(one, other, seed=0, resamples=10).mean == pytest.approx(1 / 3)


# ------------------------------------------------------------------------------------------------------- agreement


def test_agreement_and_kappa_by_hand() -> None:
    # 20 both yes, 15 both no, 5 and 10 apart: 0.7 observed, 0.5 by chance.
    first = [1.0] * 20 + [1.0] * 5 + [0.0] * 10 + [0.0] * 15
    second = [1.0] * 20 + [0.0] * 5 + [1.0] * 10 + [0.0] * 15
    assert agreement(first, second) == pytest.approx(0.7)
    assert kappa(first, second) == pytest.approx(0.4)

    # Observed (½ + 0)/2; by chance 0 and 1 with ½ and 1: (½ + 1 + ½ + 0)/4.
    one, other = [0.0, 1.0], [0.5, 1.0]
    assert kappa(one, other) == pytest.approx(1 - 0.25 / ((0.5 + 1 + 0.5 + 0) / 4))
    assert agreement(one, other) == 0.5

    assert kappa([1.0, 1.0], [1.0, 1.0]) is None
    assert agreement([1.0, 1.0], [1.0, 1.0]) == 1.0
    assert kappa([1.0, 1.0], [0.0, 0.0]) == 0.0

    assert agreement([], []) is None
    assert kappa([], []) is None


@given(judged)
def test_kappa_is_nltk_s_weighted_by_distance(pairs: list[tuple[float, float]]) -> None:
    rows = [(judge, n, pair[place]) for n, pair in enumerate(pairs) for place, judge in enumerate("ab")]
    found = kappa([a for a, _ in pairs], [b for _, b in pairs])
    if found is None:
        assert len({label for pair in pairs for label in pair}) == 1
    else:
        task = AnnotationTask(rows, distance=lambda a, b: abs(a - b))
        assert found == pytest.approx(task.weighted_kappa_pairwise("a", "b"))


@given(st.lists(st.tuples(st.sampled_from([0.0, 1.0]), st.sampled_from([0.0, 1.0])), min_size=1, max_size=20))
def test_kappa_of_yes_and_no_is_the_plain_one(pairs: list[tuple[float, float]]) -> None:
    rows = [(judge, n, pair[place]) for n, pair in enumerate(pairs) for place, judge in enumerate("ab")]
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    found = kappa(first, second)
    if found is not None:
        assert found == pytest.approx(AnnotationTask(rows).kappa_pairwise("a", "b"))
        assert agreement(first, second) == pytest.approx(AnnotationTask(rows).Ao("a", "b"))
