"""When a request is sent again, and which error an answer is: without a exchange."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embermem.client import exchange
from embermem.client.exchange import Broken, Problem, Reply, Request
from embermem.core import errors
from embermem.core.errors import EmberError, ModelBusy, ModelReplyError, ModelWait, ServerError
from embermem.http.problems import problem_of

NOW = datetime(2026, 5, 2, 10, tzinfo=UTC)
READ = Request(method="GET", path="/v1/pages", repeatable=True)
WRITE = Request(method="POST", path="/v1/changes/1/undo")

outcomes = st.one_of(
    st.builds(Broken, why=st.just("broke off"), sent=st.booleans(), late=st.booleans()),
    st.builds(
        Reply,
        status=st.integers(100, 599),
        headers=st.fixed_dictionaries({}, optional={"Retry-After": st.sampled_from(["0", "2", "9999", "-1", "soon"])}),
        body=st.sampled_from([b"", b"{}", b'{"type": "urn:embermem:problem:store-full"}']),
    ),
)


@given(outcome=outcomes, tries=st.integers(1, 9), retries=st.integers(0, 5))
def test_tries_and_pauses_are_bounded_and_what_may_have_been_done_is_not_asked_again(
    outcome: Reply | Broken, tries: int, retries: int
) -> None:
    pause = exchange.pause_before_again(READ, outcome, tries, retries)
    if tries > retries:
        assert pause is None
    if pause is not None:
        assert 0 <= pause <= exchange.LONGEST_PAUSE_S

    again = exchange.pause_before_again(WRITE, outcome, 1, 5)
    turned_away = not outcome.sent if isinstance(outcome, Broken) else outcome.status == 429
    assert turned_away or again is None


@given(outcome=outcomes)
def test_an_answer_is_good_or_one_of_our_errors(outcome: Reply | Broken) -> None:
    if isinstance(outcome, Reply) and 200 <= outcome.status < 300:
        assert exchange.answered(outcome, NOW) == outcome.body
    else:
        with pytest.raises(EmberError):
            exchange.answered(outcome, NOW)


def test_what_the_server_tells_of_our_errors_is_read_as_the_same_error() -> None:
    kinds = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, EmberError)]
    for kind in kinds:
        if issubclass(kind, ServerError) or kind is EmberError:
            continue
        error: EmberError
        if issubclass(kind, ModelWait):
            error = kind("said", NOW)
        elif issubclass(kind, ModelReplyError):
            error = kind("said", "raw")
        else:
            error = kind("said")
        told = problem_of(error)
        problem = Problem(type=str(told.body()["type"]), detail=told.detail, status=told.status)
        made = exchange.failure(problem, status=told.status, wait_s=2.0, now=NOW)
        assert type(made) is kind
        if isinstance(made, ModelWait):
            assert made.retry_at == NOW + timedelta(seconds=2)
        if isinstance(made, ModelBusy):
            assert made.retry_after_s == 2.0


def test_a_type_that_is_not_ours_makes_no_error_of_ours() -> None:
    for kind in ("about:blank", "urn:embermem:problem:exception", "urn:embermem:problem:access-refused", "not-found"):
        made = exchange.failure(Problem(type=kind, detail="said"), status=418, wait_s=None, now=NOW)
        assert (type(made), str(made)) == (ServerError, "said")
