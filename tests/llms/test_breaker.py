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


def test_after_the_rest_one_request_goes_and_what_becomes_of_it_decides_for_the_others(clock: Clock) -> None:
    waits = broken(clock)
    clock.go(60)
    waits.ask()
    with pytest.raises(ModelResting):
        waits.ask()
    closes, opens, given_back, never_heard_of = (broken(clock) for _ in range(4))
    clock.go(60)
    for breaker in (closes, opens, never_heard_of):
        breaker.ask()
    closes.succeeded()
    closes.ask()
    closes.ask()
    opens.failed()
    with pytest.raises(ModelResting):
        opens.ask()
    given_back.give_back(given_back.ask())
    given_back.ask()
    clock.go(60)
    never_heard_of.ask()


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
