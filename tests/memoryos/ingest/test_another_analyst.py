"""What waits because of one model is ready when memory is processed with another."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from embermem import Memory, OwnerMemory
from embermem.core.changes import Analysed, Noted
from embermem.core.types import WaitsFor
from embermem.testing.answers import answer
from embermem.testing.model_server import ModelServer
from scripted import Clock, Opener


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(answer) as one:
        yield one


def with_model(opened: Opener, server: ModelServer, model: str = "first", **settings: Any) -> Memory:
    where: dict[str, Any] = {"model": model, "model_url": server.url, "model_retries": 0} if model else {}
    return opened(**{"batch_wait_s": 0.0, "batch_pages": 8, **where, **settings})


def talked(memory: Memory) -> OwnerMemory:
    alice = memory.of("alice")
    for number in range(6):
        alice.add(f"I saw heron number {number} by the lake.", "Lovely.", thread="walks")
    return alice


def waits(alice: OwnerMemory) -> dict[WaitsFor, int]:
    return {one.waits_for: one.pages for one in alice.stats().waiting}


def readers(alice: OwnerMemory) -> set[str]:
    """Who read the placed pages last."""
    last = {d.page_id: d.analyst for change in alice.changes() for d in change.decisions if isinstance(d, Noted)}
    return {last[page.id].partition("/")[0] for page in alice.pages() if page.segment_id is not None}


def failing_on_the_way(opened: Opener, server: ModelServer) -> OwnerMemory:
    """A memory whose pages wait for a place, since the model's server fails."""
    server.fail_always("http_500")
    memory = with_model(opened, server)
    alice = talked(memory)
    memory.work()
    server.recover()
    assert waits(alice) == {WaitsFor.PLACE: 3}
    return alice


def test_pages_that_wait_for_a_place_are_placed_at_once_by_another_analyst(opened: Opener, server: ModelServer) -> None:
    for model in ("second", ""):
        own = partial(opened, f"{model}.db")
        failing_on_the_way(own, server)
        other = with_model(own, server, model)
        assert other.work() == 3
        alice = other.of("alice")
        assert readers(alice) == {"model:second" if model else "extractive-v1"}
        assert waits(alice) == {}


def test_the_tries_of_another_model_do_not_count(opened: Opener, server: ModelServer) -> None:
    failing_on_the_way(opened, server)
    asked = server.calls
    server.fail_next("http_500")
    other = with_model(opened, server, "second", attempts=2)
    assert other.work() == 0, "the first failure of the second model"
    assert server.calls == asked + 1
    assert waits(other.of("alice")) == {WaitsFor.PLACE: 3}


def test_pages_wait_on_for_the_model_they_wait_for(opened: Opener, server: ModelServer, clock: Clock) -> None:
    failing_on_the_way(opened, server)
    again = with_model(opened, server)
    asked = server.calls
    assert with_model(opened, server, "second", read_only=True).work() == 0  # who may only read ends no wait
    assert again.work() == 0
    assert again.of("alice").settle() == 0
    assert server.calls == asked
    clock.go(3601.0)
    assert again.work() == 3


def test_two_processes_with_models_that_fail_do_not_end_each_others_waits_again_and_again(
    opened: Opener, server: ModelServer
) -> None:
    failing_on_the_way(opened, server)
    server.fail_always("http_500")
    both = [with_model(opened, server), with_model(opened, server, "second")]
    for one in both:
        one.work()
    asked = server.calls
    for one in both * 3:
        one.work()
    assert server.calls == asked


def test_what_stands_as_extraction_read_it_is_read_at_once_by_another_model(
    opened: Opener, server: ModelServer
) -> None:
    for settled in (True, False):
        own = partial(opened, f"{settled}.db")
        server.reply_with("No JSON.")
        alice = talked(with_model(own, server))
        alice.settle()
        assert waits(alice) == {WaitsFor.READING: 3}
        assert readers(alice) == {"extractive-v1"}
        server.reply_with(answer)
        other = with_model(own, server, "second")
        alice = other.of("alice")
        if settled:
            alice.settle()
        else:
            other.work()
        assert readers(alice) == {"model:second"}
        assert waits(alice) == {}


def test_a_promotion_that_failed_is_made_at_once_by_another_model(opened: Opener, server: ModelServer) -> None:
    def no_promotion(request: dict[str, Any]) -> Any:
        return "No JSON." if "BatchNotes" not in str(request) else answer(request)

    how: dict[str, Any] = {"placed_by": "page", "theta": -1.0, "min_new": 3, "tau": 0.5}
    server.reply_with(no_promotion)
    alice = talked(with_model(opened, server, **how))
    alice.settle()
    assert waits(alice) == {WaitsFor.ANALYSIS: 3}
    server.reply_with(answer)
    other = with_model(opened, server, "second", **how)
    other.work()
    alice = other.of("alice")
    assert waits(alice) == {}
    analysed = [change.analyst for change in alice.changes() if any(isinstance(d, Analysed) for d in change.decisions)]
    assert {name.partition("/")[0] for name in analysed} == {"model:second"}
