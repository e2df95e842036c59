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


def test_the_mean_is_over_questions() -> None:
    assert bootstrap({"a": [1.0, 1.0, 1.0], "b": [0.0]}, seed=0, resamples=10).mean == 0.75


def test_two_conversations_are_drawn_in_three_ways() -> None:
    """0 and 1: both draws 0 (a quarter), one each (a half), both 1 (a quarter)."""
    drawn = {"a": [0.0], "b": [1.0]}
    wide = bootstrap(drawn, seed=1)
    assert (wide.low, wide.mean, wide.high) == (0.0, 0.5, 1.0)
    narrow = bootstrap(drawn, seed=1, level=0.4)
    assert (narrow.low, narrow.high) == (0.5, 0.5)


def test_it_draws_conversations_not_questions() -> None:
    few = {"a": [0.0, 1.0], "b": [1.0, 1.0], "c": [0.0, 0.0]}
    many = {name: numbers * 50 for name, numbers in few.items()}
    one, other = bootstrap(few, seed=3), bootstrap(many, seed=3)
    assert [one.low, one.high] == pytest.approx([other.low, other.high])
    assert (one.questions, other.questions) == (6, 300)


def test_with_many_conversations_it_is_the_interval_of_the_normal_distribution() -> None:
    numbers = [(n * 37 % 100) / 100 for n in range(400)]
    found = bootstrap({str(n): [value] for n, value in enumerate(numbers)}, seed=0, resamples=4000)
    mean = sum(numbers) / 400
    error = (sum((value - mean) ** 2 for value in numbers) / 400 / 400) ** 0.5
    assert found.low == pytest.approx(mean - 1.96 * error, abs=0.1 * error)
    assert found.high == pytest.approx(mean + 1.96 * error, abs=0.1 * error)


def test_one_conversation_alone_has_a_mean_and_no_interval() -> None:
    expected = Interval(low=None, mean=0.5, high=None, conversations=1, questions=2)
    assert bootstrap({"a": [0.0, 1.0], "b": []}, seed=0) == expected


def test_nothing_has_nothing() -> None:
    assert bootstrap({}, seed=0) == Interval(low=None, mean=None, high=None, conversations=0, questions=0)


@settings(max_examples=bounded(15, proofs=400))
@given(conversations, st.integers(0, 2**32))
def test_the_same_seed_gives_the_same_interval_in_any_order(asked: dict[str, list[float]], seed: int) -> None:
    backwards = dict(reversed(asked.items()))
    found = bootstrap(asked, seed, resamples=50)
    assert found == bootstrap(backwards, seed, resamples=50)
    given_values = [value for numbers in asked.values() for value in numbers]
    if found.low is not None and found.high is not None:
        assert min(given_values) - 1e-9 <= found.low <= found.high <= max(given_values) + 1e-9


def test_large_draws_are_made_in_pieces() -> None:
    found = bootstrap({str(n): [float(n % 2)] for n in range(3000)}, seed=0, resamples=700)
    assert found.low is not None
    assert found.high is not None
    assert 0.47 < found.low < 0.5 < found.high < 0.53


@pytest.mark.parametrize(("resamples", "level"), [(0, 0.95), (10, 0.0), (10, 1.0)])
def test_a_bootstrap_of_nothing_is_refused(resamples: int, level: float) -> None:
    with pytest.raises(InputError, match="resamples"):
        bootstrap({"a": [1.0]}, seed=0, resamples=resamples, level=level)


def test_pairs_show_a_small_difference_that_hides_in_the_spread() -> None:
    first = {str(n): {"q": n / 10 + 0.05} for n in range(10)}
    second = {str(n): {"q": n / 10} for n in range(10)}
    found = paired_bootstrap(first, second, seed=0, resamples=500)
    assert (found.low, found.mean, found.high) == pytest.approx((0.05, 0.05, 0.05))
    alone = bootstrap({name: list(asked.values()) for name, asked in second.items()}, seed=0, resamples=500)
    assert alone.low is not None
    assert alone.high is not None
    assert alone.high - alone.low > 0.2


def test_pairs_are_found_by_the_question_not_by_its_place() -> None:
    first, second = {"a": {"1": 1.0, "2": 0.0}, "b": {"1": 1.0}}, {"b": {"1": 0.0}, "a": {"2": 0.0, "1": 1.0}}
    assert paired_bootstrap(first, second, seed=0, resamples=10).mean == pytest.approx(1 / 3)


def test_pairs_need_the_same_questions() -> None:
    with pytest.raises(InputError, match=r"'a'.*'2'"):
        paired_bootstrap({"a": {"1": 1.0}}, {"a": {"1": 1.0, "2": 0.0}}, seed=0)


# ------------------------------------------------------------------------------------------------------- agreement


def test_kappa_of_a_table_of_two_by_two() -> None:
    """20 both yes, 15 both no, 5 and 10 apart: 0.7 observed, 0.5 by chance."""
    first = [1.0] * 20 + [1.0] * 5 + [0.0] * 10 + [0.0] * 15
    second = [1.0] * 20 + [0.0] * 5 + [1.0] * 10 + [0.0] * 15
    assert agreement(first, second) == pytest.approx(0.7)
    assert kappa(first, second) == pytest.approx(0.4)


def test_a_step_of_a_half_is_half_a_disagreement() -> None:
    """Observed (½ + 0)/2; by chance 0 and 1 with ½ and 1: (½ + 1 + ½ + 0)/4."""
    first, second = [0.0, 1.0], [0.5, 1.0]
    assert kappa(first, second) == pytest.approx(1 - 0.25 / ((0.5 + 1 + 0.5 + 0) / 4))
    assert agreement(first, second) == 0.5


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


def test_judges_that_say_one_thing_only_have_no_kappa() -> None:
    assert kappa([1.0, 1.0], [1.0, 1.0]) is None
    assert agreement([1.0, 1.0], [1.0, 1.0]) == 1.0
    assert kappa([1.0, 1.0], [0.0, 0.0]) == 0.0


def test_nothing_judged_is_no_agreement() -> None:
    assert agreement([], []) is None
    assert kappa([], []) is None


@pytest.mark.parametrize("measure", [agreement, kappa])
def test_judges_must_judge_the_same_items(measure: object) -> None:
    assert callable(measure)
    with pytest.raises(InputError, match="1 and 2"):
        measure([1.0], [1.0, 0.0])
