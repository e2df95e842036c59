"""The breaker."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embermem.core.errors import ModelResting
from embermem.llms.breaker import Breaker
from scripted import Clock


def broken(clock: Clock, failures: int = 3, rest_s: float = 60.0) -> Breaker:
    """A breaker that has just opened."""
    breaker = Breaker(failures=failures, rest_s=rest_s, clock=clock)
    for _ in range(failures):
        breaker.ask()
        breaker.failed()
    return breaker


def test_it_opens_after_so_many_failures_in_a_row_and_says_until_when(clock: Clock) -> None:
    with pytest.raises(ModelResting) as resting:
        broken(clock).ask()
    assert resting.value.retry_at == clock.now + timedelta(seconds=60)


def test_an_answer_between_failures_keeps_it_closed(clock: Clock) -> None:
    breaker = Breaker(failures=2, rest_s=60.0, clock=clock)
    for _ in range(5):
        breaker.ask()
        breaker.failed()
        breaker.ask()
        breaker.succeeded()
    breaker.ask()


def test_after_the_rest_one_request_goes_and_the_others_wait(clock: Clock) -> None:
    breaker = broken(clock)
    clock.go(60)
    breaker.ask()
    with pytest.raises(ModelResting):
        breaker.ask()


def test_a_trial_that_comes_back_closes_it(clock: Clock) -> None:
    breaker = broken(clock)
    clock.go(60)
    breaker.ask()
    breaker.succeeded()
    breaker.ask()
    breaker.ask()


def test_a_trial_that_fails_opens_it_again_at_once(clock: Clock) -> None:
    breaker = broken(clock)
    clock.go(60)
    breaker.ask()
    breaker.failed()
    with pytest.raises(ModelResting):
        breaker.ask()


def test_a_trial_that_was_not_made_leaves_the_turn_to_another(clock: Clock) -> None:
    breaker = broken(clock)
    clock.go(60)
    breaker.give_back(breaker.ask())
    breaker.ask()


def test_a_trial_never_heard_of_again_does_not_keep_it_open_for_ever(clock: Clock) -> None:
    breaker = broken(clock)
    clock.go(60)
    breaker.ask()
    clock.go(60)
    breaker.ask()


def test_a_clock_that_is_set_back_does_not_make_the_rest_longer(clock: Clock) -> None:
    breaker = broken(clock)
    clock.go(-86_400)
    breaker.ask()


@given(steps=st.lists(st.sampled_from(["failed", "succeeded", "go", "back"]), max_size=40))
def test_once_time_has_passed_somebody_may_always_ask(steps: list[str]) -> None:
    clock = Clock()
    breaker = Breaker(failures=3, rest_s=60.0, clock=clock)
    for step in steps:
        if step == "go":
            clock.go(25)
            continue
        permit = None
        with suppress(ModelResting):
            permit = breaker.ask()
        if permit is None:
            continue
        match step:
            case "failed":
                breaker.failed()
            case "succeeded":
                breaker.succeeded()
            case _:
                breaker.give_back(permit)
    clock.go(60)
    breaker.ask()
