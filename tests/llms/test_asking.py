"""The asker: budget, ledger, retries, repair, rest."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_llms import ALICE, MemoryLedger, ScriptedModel, Turn

from embermem.core.config import Settings
from embermem.core.errors import (
    BudgetSpent,
    ModelBusy,
    ModelError,
    ModelMissing,
    ModelRefused,
    ModelReplyError,
    ModelResting,
    ModelTimeout,
    ModelUnreachable,
    ModelWait,
)
from embermem.core.types import Role
from embermem.llms import ModelAsker, OpenAIChat
from embermem.protocols import AnswerForm, ChatMessage, LanguageModel, ModelReply, ModelRequest, Purpose, StructuredMode
from embermem.testing.model_server import ModelServer
from scripted import Clock


@dataclass(frozen=True, kw_only=True)
class City:
    city: str


NANTES = '{"city": "Nantes"}'
MESSAGES = (ChatMessage(role=Role.USER, text="Which city?"),)


class Asked:
    """An asker on scripted parts, and what became of them."""

    def __init__(self, model: LanguageModel, clock: Clock, *, fails_at_end: bool = False, **settings: Any) -> None:
        self.ledger = MemoryLedger(fails_at_end=fails_at_end)
        self.pauses: list[float] = []
        self.asker = ModelAsker(
            model, self.ledger, Settings(**settings), clock, sleep=self.pauses.append, chance=lambda: 0.0
        )

    def ask(self, check: Any = lambda _: None, form: AnswerForm | None = None) -> City:
        return self.asker.ask(ALICE, Purpose.ANNOTATE, MESSAGES, City, check, form=form)

    def stream(self) -> list[str]:
        return list(self.asker.stream(ALICE, Purpose.CHAT, MESSAGES))


class Served:
    """A server that gives one answer for ever, in one piece."""

    name, structured_mode, one_at_a_time = "served", StructuredMode.JSON_SCHEMA, False

    def __init__(self, text: str, tokens: int = 500) -> None:
        self.reply = ModelReply(text=text, prompt_tokens=9, completion_tokens=tokens)
        self.requests: list[ModelRequest] = []

    def find_context(self) -> int | None:
        return None

    def complete(self, request: ModelRequest) -> ModelReply:
        self.requests.append(request)
        return self.reply

    def stream(self, request: ModelRequest) -> Iterator[str | ModelReply]:
        yield self.reply.text
        yield self.complete(request)


def asked(clock: Clock, *turns: Turn, **settings: Any) -> tuple[Asked, ScriptedModel]:
    model = ScriptedModel(*turns)
    return Asked(model, clock, **settings), model


# --------------------------------------------------------------------------------------------------------- the ledger


def test_an_answer_is_one_line_with_its_tokens(clock: Clock) -> None:
    one, model = asked(clock, ModelReply(text=NANTES, prompt_tokens=40, completion_tokens=6, cached_tokens=32))
    assert one.ask() == City(city="Nantes")
    (line,) = one.ledger.calls(clock.now)
    assert (line.outcome, line.prompt_tokens, line.completion_tokens, line.cached_tokens) == ("ok", 40, 6, 32)
    assert (line.owner_id, line.purpose, line.model, line.at) == (ALICE.id, Purpose.ANNOTATE, "scripted", clock.now)
    assert model.requests[0].max_tokens == Settings().model_answer_tokens


def test_a_line_is_begun_with_the_most_that_it_may_cost(clock: Clock) -> None:
    one, _ = asked(clock, NANTES, model_answer_tokens=500)
    one.ask()
    (begun,) = one.ledger.begun
    assert begun.outcome == "started"
    assert begun.completion_tokens == 500
    assert begun.prompt_tokens > 0


def test_a_limit_that_is_reached_is_told_and_nothing_is_asked(clock: Clock) -> None:
    one, model = asked(clock, NANTES, NANTES, calls_per_day=1)
    one.ask()
    with pytest.raises(BudgetSpent):
        one.ask()
    assert len(model.requests) == 1


def test_every_request_has_a_line_of_its_own(clock: Clock) -> None:
    one, model = asked(clock, ModelTimeout("late"), "nothing of the kind", ModelUnreachable("gone"), NANTES)
    assert one.ask() == City(city="Nantes")
    assert one.ledger.outcomes == ["timeout", "unusable", "unreachable", "ok"]
    assert len({call.id for call in one.ledger.begun}) == len(model.requests) == 4


def test_a_line_is_ended_whatever_happens(clock: Clock) -> None:
    cases: list[tuple[BaseException, str, bool]] = [
        (ModelTimeout("late"), "timeout", True), (ModelUnreachable("gone"), "unreachable", False),
        (ModelBusy("wait"), "busy", False), (ModelRefused("no"), "refused", False),
        (ModelReplyError("empty", "x" * 8), "bad reply", True), (ModelMissing("none"), "missing", True),
        (KeyboardInterrupt(), "failed", True), (RuntimeError("a defect"), "failed", True),
    ]  # fmt: skip
    for error, outcome, billed in cases:
        one, _ = asked(clock, error, error, model_retries=0)
        with pytest.raises(type(error)):
            one.ask()
        line = one.ledger.calls(clock.now)[0]
        assert line.outcome == outcome
        assert (line.prompt_tokens > 0) is billed
        assert line.completion_tokens < 10


def test_a_ledger_that_cannot_note_the_end_does_not_cost_the_answer(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    one, _ = asked(clock, NANTES, fails_at_end=True)
    assert one.ask() == City(city="Nantes")
    assert one.ledger.outcomes == ["started"]
    assert "could not note" in caplog.text


# ------------------------------------------------------------------------------------------------------------ retries


def test_failures_on_the_way_are_tried_again_with_growing_pauses(clock: Clock) -> None:
    one, _ = asked(clock, ModelTimeout("1"), ModelUnreachable("2"), ModelBusy("3"), NANTES, model_retries=3)
    assert one.ask() == City(city="Nantes")
    assert one.pauses == [0.5, 1.0, 2.0]


def test_no_pause_is_longer_than_the_setting(clock: Clock) -> None:
    one, _ = asked(clock, *[ModelTimeout("late")] * 4, NANTES, model_retries=4, model_retry_max_s=0.7)
    one.ask()
    assert one.pauses == [0.5, 0.7, 0.7, 0.7]


def test_after_so_many_retries_the_failure_is_told(clock: Clock) -> None:
    one, model = asked(clock, *[ModelTimeout("late")] * 9, model_retries=2)
    with pytest.raises(ModelTimeout):
        one.ask()
    assert len(model.requests) == 3
    assert len(one.pauses) == 2


def test_a_server_that_asks_to_wait_is_waited_for(clock: Clock) -> None:
    one, _ = asked(clock, ModelBusy("wait", 7.0), NANTES)
    one.ask()
    assert one.pauses == [7.0]


def test_a_server_that_asks_to_wait_too_long_is_not(clock: Clock) -> None:
    one, model = asked(clock, ModelBusy("wait", 21.0), NANTES, model_retry_max_s=20.0)
    with pytest.raises(ModelBusy) as busy:
        one.ask()
    assert busy.value.retry_after_s == 21.0
    assert one.pauses == []
    assert len(model.requests) == 1


def test_a_refusal_is_not_tried_again(clock: Clock) -> None:
    for error in [ModelRefused("no"), ModelMissing("none")]:
        one, model = asked(clock, error)
        with pytest.raises(type(error)):
            one.ask()
        assert len(model.requests) == 1


def test_a_limit_met_at_a_retry_does_not_hide_the_failure(clock: Clock) -> None:
    one, _ = asked(clock, ModelTimeout("late"), NANTES, calls_per_day=1)
    with pytest.raises(ModelTimeout):
        one.ask()


# ------------------------------------------------------------------------------------------------------------- repair


def test_after_a_wrong_answer_the_model_is_told_the_fault_and_never_shown_the_answer(clock: Clock) -> None:
    one, model = asked(clock, '{"town": "SECRET"}', NANTES)
    assert one.ask() == City(city="Nantes")
    (again,) = model.requests[1].messages
    assert again.role is Role.USER
    assert again.text.startswith(MESSAGES[0].text)
    assert "none of the keys city" in again.text
    assert "SECRET" not in again.text
    assert len(again.text) < len(MESSAGES[0].text) + 200


def test_an_answer_that_fails_the_check_is_repaired_in_the_checks_words(clock: Clock) -> None:
    def in_france(city: City) -> None:
        if city.city != "Nantes":
            raise ValueError(f"{city.city} is not in France.")

    one, model = asked(clock, '{"city": "Rome"}', NANTES)
    assert one.ask(in_france) == City(city="Nantes")
    assert "Rome is not in France." in model.requests[1].messages[-1].text


def test_an_answer_that_repeats_itself_is_told_so_and_not_asked_for_with_more_tokens(clock: Clock) -> None:
    endless = '{"city": "' + "Nantes and " * 400
    one, model = asked(clock, endless, NANTES)
    assert one.ask() == City(city="Nantes")
    assert "repeats itself" in model.requests[1].messages[-1].text
    assert [request.max_tokens for request in model.requests] == [4000, 4000]
    assert one.ledger.outcomes == ["unusable", "ok"]


def test_an_answers_limit_is_that_of_its_form_and_doubled_once(clock: Clock) -> None:
    cut = ModelReply(text='{"ci', prompt_tokens=1, completion_tokens=1, cut=True)
    one, model = asked(clock, cut, NANTES, NANTES, model_answer_tokens=500)
    one.ask(form=AnswerForm(tokens=120))
    one.ask(form=AnswerForm(tokens=9000))
    assert [request.max_tokens for request in model.requests] == [120, 240, 500]
    assert model.requests[0].messages == model.requests[1].messages
    assert [call.completion_tokens for call in one.ledger.begun] == [120, 240, 500]


def test_an_example_of_the_answer_goes_to_the_model_as_json(clock: Clock) -> None:
    one, model = asked(clock, NANTES)
    one.ask(form=AnswerForm(tokens=120, example=City(city="Lyon")))
    schema = model.requests[0].schema
    assert schema is not None
    assert schema.example == '{"city":"Lyon"}'


def test_an_answer_that_stays_wrong_is_an_error_that_keeps_it_and_does_not_repeat_it(clock: Clock) -> None:
    one, model = asked(clock, "no", '{"town": "SECRET"}')
    with pytest.raises(ModelReplyError) as wrong:
        one.ask()
    assert wrong.value.raw == '{"town": "SECRET"}'
    assert "SECRET" not in str(wrong.value)
    assert wrong.value.__suppress_context__
    assert len(model.requests) == 2


def test_an_empty_answer_is_asked_for_once_more(clock: Clock) -> None:
    one, model = asked(clock, ModelReplyError("empty", ""), NANTES)
    assert one.ask() == City(city="Nantes")
    assert model.requests[0] == model.requests[1]


def test_a_cut_answer_to_a_question_that_can_be_divided_is_an_error_at_once(clock: Clock) -> None:
    one, model = asked(clock, ModelReply(text='{"ci', prompt_tokens=1, completion_tokens=1, cut=True), NANTES)
    with pytest.raises(ModelReplyError, match="cut at its limit"):
        one.ask(form=AnswerForm(tokens=120, divisible=True))
    assert len(model.requests) == 1


def test_an_answer_has_two_minutes_at_the_speed_of_the_last_one(clock: Clock) -> None:
    """An answer of 500 tokens in so many seconds."""
    for seconds, limit in [(0.1, 3000), (5.0, 3000), (60.0, 1000), (600.0, 256), (0.0, 3000)]:
        times, model = count(0.0, seconds), Served(NANTES)
        asker = ModelAsker(model, MemoryLedger(), Settings(), clock, timer=times.__next__)
        for _ in range(2):
            asker.ask(ALICE, Purpose.PROFILE, MESSAGES, City, form=AnswerForm(tokens=3000))
        assert [request.max_tokens for request in model.requests] == [3000, limit]


def test_a_short_answer_tells_no_speed(clock: Clock) -> None:
    times, model = count(0.0, 60.0), Served(NANTES, tokens=6)
    asker = ModelAsker(model, MemoryLedger(), Settings(), clock, timer=lambda: next(times))
    for _ in range(2):
        asker.ask(ALICE, Purpose.PROFILE, MESSAGES, City, form=AnswerForm(tokens=3000))
    assert model.requests[-1].max_tokens == 3000


def test_an_answer_cut_twice_is_an_error(clock: Clock) -> None:
    cut = ModelReply(text='{"ci', prompt_tokens=1, completion_tokens=1, cut=True)
    one, model = asked(clock, cut, cut, NANTES)
    with pytest.raises(ModelReplyError):
        one.ask()
    assert len(model.requests) == 2


def test_an_answer_that_is_whole_though_cut_is_taken(clock: Clock) -> None:
    one, _ = asked(clock, ModelReply(text=NANTES + "  ", prompt_tokens=1, completion_tokens=1, cut=True))
    assert one.ask() == City(city="Nantes")


def test_a_limit_met_before_the_repair_leaves_a_wrong_answer_wrong(clock: Clock) -> None:
    one, _ = asked(clock, "no", NANTES, calls_per_day=1)
    with pytest.raises(ModelReplyError):
        one.ask()


# --------------------------------------------------------------------------------------------------------------- rest


def test_a_server_that_failed_too_often_is_left_alone_and_nothing_is_written(clock: Clock) -> None:
    one, model = asked(clock, *[ModelTimeout("late")] * 9, model_retries=0, model_breaker_failures=2)
    for _ in range(2):
        with pytest.raises(ModelTimeout):
            one.ask()
    with pytest.raises(ModelResting):
        one.ask()
    assert len(model.requests) == len(one.ledger.begun) == 2


def test_when_it_opens_amid_retries_the_failure_is_told_and_so_counts_as_a_try(clock: Clock) -> None:
    one, model = asked(clock, *[ModelTimeout("late")] * 9, model_retries=5, model_breaker_failures=2)
    with pytest.raises(ModelTimeout):
        one.ask()
    assert len(model.requests) == 2


def test_a_server_that_comes_back_is_asked_again(clock: Clock) -> None:
    one, _ = asked(clock, ModelTimeout("late"), NANTES, NANTES, model_retries=0, model_breaker_failures=1)
    with pytest.raises(ModelTimeout):
        one.ask()
    clock.go(60)
    assert one.ask() == one.ask() == City(city="Nantes")


def test_a_server_that_answers_is_not_down(clock: Clock) -> None:
    for error in [ModelRefused("no"), ModelReplyError("empty", "")]:
        asks = 4
        requests = asks * (2 if isinstance(error, ModelReplyError) else 1)
        one, _ = asked(clock, *[error] * requests, NANTES, model_breaker_failures=2)
        for _ in range(asks):
            with pytest.raises(type(error)):
                one.ask()
        assert one.ask() == City(city="Nantes")


def test_a_limit_met_by_the_trial_leaves_the_turn_to_another(clock: Clock) -> None:
    one, _ = asked(clock, ModelTimeout("late"), model_retries=0, model_breaker_failures=1, calls_per_day=1)
    with pytest.raises(ModelTimeout):
        one.ask()
    clock.go(60)
    for _ in range(2):
        with pytest.raises(BudgetSpent):
            one.ask()


# ------------------------------------------------------------------------------------------------------------- stream


def test_a_stream_is_given_on_and_written_down(clock: Clock) -> None:
    one, _ = asked(clock, "Hello there.")
    assert one.stream() == ["Hell", "o th", "ere."]
    (line,) = one.ledger.calls(clock.now)
    assert (line.outcome, line.prompt_tokens, line.completion_tokens, line.purpose) == ("ok", 7, 3, Purpose.CHAT)


def test_a_stream_is_tried_again_while_nothing_has_come(clock: Clock) -> None:
    one, _ = asked(clock, ModelTimeout("late"), "Hello.")
    assert "".join(one.stream()) == "Hello."
    assert one.ledger.outcomes == ["timeout", "ok"]


def test_a_stream_that_breaks_off_is_not_begun_again(clock: Clock) -> None:
    model = ScriptedModel("Hello.", "Hello.", breaks_off=True)
    one = Asked(model, clock)
    came: list[str] = []
    with pytest.raises(ModelUnreachable):
        came.extend(one.asker.stream(ALICE, Purpose.CHAT, MESSAGES))
    assert "".join(came) == "Hello."
    (line,) = one.ledger.calls(clock.now)
    assert (line.outcome, line.completion_tokens > 0) == ("unreachable", True)


def test_a_stream_left_early_is_written_down_with_what_came(clock: Clock) -> None:
    one, _ = asked(clock, "Hello there.")
    stream = one.asker.stream(ALICE, Purpose.CHAT, MESSAGES)
    assert next(stream) == "Hell"
    del stream
    (line,) = one.ledger.calls(clock.now)
    assert (line.outcome, line.completion_tokens) == ("ok", 1)


def test_an_empty_stream_is_an_error(clock: Clock) -> None:
    one, _ = asked(clock, "")
    with pytest.raises(ModelReplyError):
        one.stream()
    assert one.ledger.outcomes == ["bad reply"]


# ------------------------------------------------------------------------------------------------------ all of it


TURNS = st.lists(
    st.sampled_from(
        [
            NANTES,
            "no",
            '{"city": 3}',
            ModelReply(text='{"c', prompt_tokens=1, completion_tokens=1, cut=True),
            ModelTimeout("late"),
            ModelUnreachable("gone"),
            ModelBusy("wait", 1.0),
            ModelBusy("wait", 1000.0),
            ModelRefused("no"),
            ModelReplyError("empty", ""),
        ]
    ),
    max_size=12,
)


@given(turns=TURNS, retries=st.integers(0, 2), failures=st.integers(1, 4), limit=st.none() | st.integers(0, 6))
def test_whatever_a_model_does_each_request_has_an_ended_line_and_the_answer_is_right_or_an_error(
    turns: list[Turn], retries: int, failures: int, limit: int | None
) -> None:
    clock = Clock()
    one, model = asked(
        clock,
        *turns,
        *[NANTES] * 20,
        model_retries=retries,
        model_breaker_failures=failures,
        calls_per_day=limit,
    )
    for _ in range(3):
        try:
            assert one.ask() == City(city="Nantes")
        except (ModelError, ModelWait):
            clock.go(10)
    assert len(model.requests) == len(one.ledger.lines)
    assert limit is None or len(model.requests) <= limit
    assert "started" not in one.ledger.outcomes
    assert len(model.requests) <= 3 * 3 * (retries + 1)
    assert all(pause <= Settings().model_retry_max_s for pause in one.pauses)


def test_over_real_http_many_threads_get_answers_and_the_ledger_adds_up(clock: Clock) -> None:
    with ModelServer(NANTES) as server:
        server.fail_next("http_500", times=2)
        server.fail_next("wrong_shape", variant="list")
        server.fail_next("think")
        server.fail_next("truncated")
        server.fail_next("fence")
        one = Asked(OpenAIChat(model="m", base_url=server.url, api_key=None, timeout_s=10.0), clock, model_retries=3)
        with ThreadPoolExecutor(4) as pool:
            cities = list(pool.map(lambda _: one.ask(), range(8)))
        assert cities == [City(city="Nantes")] * 8
        lines = one.ledger.calls(clock.now)
        assert len(lines) == server.calls == 8 + 2 + 2
        counted = sum(line.prompt_tokens for line in lines)
        sent = sum(len(json.dumps(request)) for request in server.requests)
        assert 0 < counted < server.prompt_tokens <= sent
