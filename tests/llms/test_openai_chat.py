"""The OpenAI-compatible adapter against servers that refuse, fail and differ."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import msgspec
import pytest
from scripted_llms import Raw, RawServer, always, completion, question

from embermem.core.errors import (
    ConfigError,
    ModelBusy,
    ModelError,
    ModelRefused,
    ModelReplyError,
    ModelTimeout,
    ModelUnreachable,
)
from embermem.core.types import Role
from embermem.llms import OpenAIChat
from embermem.llms.dialect import THINKING_TOKENS
from embermem.llms.structured import read_answer, reply_schema
from embermem.protocols import ChatMessage, ModelReply, ModelRequest
from embermem.testing.model_server import ModelServer

KEY = "sk-secret-7"


class City(msgspec.Struct, frozen=True, kw_only=True):
    city: str


SCHEMA = reply_schema(City)
ASKED = question(schema=SCHEMA, temperature=0.2)
NANTES = '{"city": "Nantes"}'


def chat(url: str, timeout_s: float = 10.0, key: str | None = KEY) -> OpenAIChat:
    return OpenAIChat(model="m-1", base_url=url, api_key=key, timeout_s=timeout_s)


def whole(model: OpenAIChat, request: ModelRequest) -> ModelReply:
    return model.complete(request)


def streamed(model: OpenAIChat, request: ModelRequest) -> ModelReply:
    *_, last = model.stream(request)
    assert isinstance(last, ModelReply)
    return last


Read = Callable[[OpenAIChat, ModelRequest], ModelReply]
BOTH: tuple[Read, ...] = (whole, streamed)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(NANTES, key=KEY) as server:
        yield server


# ----------------------------------------------------------------------------------------------------------- requests


def test_the_request_holds_what_was_asked_and_nothing_more(server: ModelServer) -> None:
    chat(server.url).complete(question("Hello.", temperature=0.5))
    assert server.requests == [
        {
            "model": "m-1",
            "messages": [{"role": "user", "content": "Hello."}],
            "max_tokens": 100,
            "temperature": 0.5,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
    ]


def test_a_structured_answer_is_asked_for_by_a_strict_schema(server: ModelServer) -> None:
    assert read_answer(chat(server.url).complete(ASKED).text, City) == City(city="Nantes")
    assert server.requests[0]["response_format"]["json_schema"]["strict"] is True


def test_a_server_without_schemas_is_asked_for_an_object_and_the_prompt_describes_it(server: ModelServer) -> None:
    server.fail_always("http_400_format")
    for read in BOTH:
        model = chat(server.url)
        for _ in range(2):
            assert read(model, ASKED).text == NANTES
        formats = [request["response_format"]["type"] for request in server.requests[-3:]]
        assert formats == ["json_schema", "json_object", "json_object"]
        assert '"city"' in server.requests[-1]["messages"][-1]["content"]
    assert server.calls == 2 * 3


def test_a_server_without_formats_is_asked_in_the_prompt_alone(server: ModelServer) -> None:
    server.fail_always("http_400_format", json_object=True)
    for read in BOTH:
        model = chat(server.url)
        for _ in range(2):
            assert read(model, ASKED).text == NANTES
        assert "response_format" not in server.requests[-1]
    assert server.calls == 2 * 4


def test_a_schema_in_words_follows_the_first_system_message() -> None:
    messages = tuple(ChatMessage(role=role, text=role.value) for role in (Role.SYSTEM, Role.USER))
    with RawServer(lambda request: answer_unless("response_format", "not supported")(request)) as server:
        chat(server.url).complete(ModelRequest(messages=messages, max_tokens=9, schema=SCHEMA))
    system, user = server.requests[-1]["messages"]
    assert system["content"].startswith("system\n\n")
    assert '"city"' in system["content"]
    assert user["content"] == "user"


def answer_unless(key: str, message: str, status: int = 400) -> Callable[[dict[str, Any]], Raw]:
    """Refuses requests that hold the key, answers the others."""

    def answer(request: dict[str, Any]) -> Raw:
        if key in request:
            return Raw.refusal(message, status=status)
        if request.get("stream"):
            delta = '{"choices": [{"delta": {"content": "Nantes"}, "finish_reason": "stop"}]}'
            return Raw.events(f"data: {delta}", "data: [DONE]")
        return Raw.json(completion("Nantes"))

    return answer


def test_a_part_that_a_server_refuses_is_left_out_from_then_on() -> None:
    cases: list[tuple[str, str, int, dict[str, Any]]] = [
        (
            "max_tokens",
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'.",
            400,
            {"max_completion_tokens": 100 + THINKING_TOKENS},  # only models that reason out of sight ask for it
        ),
        ("temperature", "'temperature' does not support 0.2 with this model. Only the default (1) is.", 400, {}),
        ("stream_options", "Extra inputs are not permitted: stream_options", 422, {}),
    ]
    for key, message, status, instead in cases:
        with RawServer(answer_unless(key, message, status)) as server:
            model = chat(server.url)
            for _ in range(2):
                assert streamed(model, question(temperature=0.2)).text == "Nantes"
        assert [key in request for request in server.requests] == [True, False, False]
        assert instead.items() <= server.requests[-1].items()


def test_a_refusal_for_another_reason_teaches_nothing() -> None:
    turns = iter([Raw.refusal("images are not supported")] * 4 + [Raw.json(completion(NANTES))])
    with RawServer(lambda request: next(turns)) as server:
        model = chat(server.url)
        with pytest.raises(ModelRefused):
            model.complete(ASKED)
        model.complete(ASKED)
    assert server.requests[-1]["response_format"]["type"] == "json_schema"


def test_too_many_tokens_asked_for_is_no_matter_of_the_parameters_name() -> None:
    text = "'max_tokens' or 'max_completion_tokens' is too large: 100. This model's maximum is 10 and it does not more."
    with RawServer(lambda request: Raw.refusal(text)) as server, pytest.raises(ModelRefused):
        chat(server.url).complete(question())
    assert len(server.requests) == 1


# ------------------------------------------------------------------------------------------------------------ replies


def test_usage_is_the_servers(server: ModelServer) -> None:
    for number, read in enumerate(BOTH, 1):
        reply = read(chat(server.url), ASKED)
        given = (number * reply.prompt_tokens, number * reply.completion_tokens)
        assert given == (server.prompt_tokens, server.completion_tokens)


def test_tokens_read_from_the_cache_are_told_also_by_an_older_llama_cpp() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 8}}
    with RawServer(lambda request: Raw.json(completion("x", usage=usage))) as server:
        assert chat(server.url).complete(question()).cached_tokens == 8
    told = {"usage": {"prompt_tokens": 9, "completion_tokens": 2}, "timings": {"cache_n": 7, "prompt_n": 2}}
    with RawServer(lambda _: Raw.json(completion("Hi.", **told))) as server:
        assert chat(server.url).complete(question()).cached_tokens == 7


def test_where_the_server_does_not_count_we_estimate() -> None:
    usages: list[dict[str, Any]] = [{}, {"usage": None}, {"usage": {"prompt_tokens": None}}]
    for usage in usages:
        answer = Raw.json(completion("去湿地公园 with me.", **usage))
        with RawServer(always(answer)) as server:
            reply = chat(server.url).complete(question("a" * 40))
        assert (reply.prompt_tokens, reply.completion_tokens) == (14, 5 + 3)


def test_an_answer_at_the_limit_is_cut_even_if_all_of_it_was_reasoning(server: ModelServer) -> None:
    for read in BOTH:
        server.fail_next("truncated")
        assert read(chat(server.url), ASKED).cut
        server.fail_next("think", unclosed=True)
        reply = read(chat(server.url), ASKED)
        assert (reply.text, reply.cut) == ("", True)


def test_reasoning_in_a_field_or_part_of_its_own_is_not_read() -> None:
    parts = [{"type": "thinking", "thinking": [{"text": "hm"}]}, {"type": "text", "text": "Yes."}]
    body = {"choices": [{"message": {"content": parts, "reasoning_content": "hm"}, "finish_reason": "stop"}]}
    with RawServer(lambda request: Raw.json(body)) as server:
        assert chat(server.url).complete(question()).text == "Yes."


def test_what_is_no_answer_is_an_error(server: ModelServer) -> None:
    for kind, read in product(["empty", "null", "no_choices", "garbage"], BOTH):
        server.fail_next(kind)
        with pytest.raises(ModelReplyError):
            read(chat(server.url), ASKED)


# ------------------------------------------------------------------------------------------------------------- errors


def test_failures_are_told_apart(server: ModelServer) -> None:
    cases: list[tuple[str, dict[str, Any], type[ModelError], str]] = [
        ("hang", {}, ModelTimeout, "timeout"), ("hang", {"midway": True}, ModelTimeout, "timeout"),
        ("disconnect", {}, ModelUnreachable, "unreachable"),
        ("disconnect", {"before": True}, ModelUnreachable, "unreachable"),
        ("http_500", {}, ModelUnreachable, "HTTP 500"), ("http_503", {}, ModelUnreachable, "HTTP 503"),
        ("http_429", {}, ModelBusy, "busy"), ("http_401", {}, ModelRefused, "refused"),
    ]  # fmt: skip
    for calls, ((kind, detail, error, outcome), read) in enumerate(product(cases, BOTH), 1):
        server.fail_next(kind, **detail)
        model = chat(server.url, timeout_s=0.4 if kind == "hang" else 10.0)
        with pytest.raises(error) as raised:
            read(model, ASKED)
        assert server.calls == calls
        assert raised.value.outcome == outcome


def test_nobody_at_the_address_is_unreachable() -> None:
    with RawServer(lambda request: Raw()) as server:
        gone = server.url
    with pytest.raises(ModelUnreachable):
        chat(gone).complete(question())


def test_how_long_the_server_asks_to_wait() -> None:
    cases: list[tuple[dict[str, str], float | None]] = [
        ({"Retry_After": "7"}, 7.0), ({"Retry_After": "1.5"}, 1.5),
        ({"Retry_After": "Sat, 02 May 2026 10:00:30 GMT", "Date": "Sat, 02 May 2026 10:00:00 GMT"}, 30.0),
        ({"Retry_After": "Sat, 02 May 2026 10:00:30 GMT"}, None), ({"Retry_After": "soon"}, None),
        ({"Retry_After": "-3"}, None), ({"Retry_After": "nan"}, None), ({}, None),
    ]  # fmt: skip
    for headers, seconds in cases:
        with (
            RawServer(always(Raw.refusal("slow down", status=429, **headers))) as server,
            pytest.raises(ModelBusy) as busy,
        ):
            chat(server.url).complete(question())
        assert busy.value.retry_after_s == seconds


def test_an_account_without_credit_is_refused_and_not_asked_to_wait() -> None:
    with RawServer(lambda request: Raw.refusal("…", "insufficient_quota", 429)) as server, pytest.raises(ModelRefused):
        chat(server.url).complete(question())


def test_an_error_says_model_host_and_status_and_repeats_neither_server_nor_key(
    caplog: pytest.LogCaptureFixture,
) -> None:
    text = (
        f"BODY-TEXT of the disk\x1b[31m\n about {KEY}, {KEY[:6]}***, AKIAIOSFODNN7EXAMPLE and which City " + "x " * 200
    )
    statuses = [400, 401, 403, 404, 413, 418, 422, 429, 500, 503]
    answers = [Raw.refusal(text, text, status) for status in statuses for _ in BOTH]
    with RawServer(lambda request: answers.pop(0)) as server:
        for status, read in product(statuses, BOTH):
            caplog.clear()
            with pytest.raises(ModelError) as failed:
                read(chat(server.url), question())
            said = str(failed.value)
            assert "m-1" in said
            assert "127.0.0.1" in said
            assert str(status) in said
            assert "BODY-TEXT" not in said
            assert KEY not in said
            assert failed.value.__suppress_context__  # nor does a traceback
            (line,) = [record.message for record in caplog.records if record.name == "embermem.llms.refusals"]
            assert "BODY-TEXT of the disk" in line
            assert line.isprintable()
            assert len(line) < 300
            for hidden in (KEY, KEY[:6], "AKIA", "City"):  # the question was about a city
                assert hidden not in line


def test_a_redirect_is_refused_and_the_key_is_not_taken_along() -> None:
    with RawServer(lambda request: Raw()) as other:
        away = Raw(status=307, headers={"Location": other.url})
        with RawServer(lambda request: away) as server, pytest.raises(ModelRefused, match="another address"):
            chat(server.url).complete(question())
        assert other.requests == []


def test_no_proxy_of_the_environment_is_used(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with RawServer(lambda request: Raw()) as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        assert chat(server.url).complete(ASKED).text == NANTES
        assert proxy.requests == []


def test_what_the_environment_says_of_openai_is_not_told_to_other_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY"):
        monkeypatch.setenv(name, "PRIVATE")
    with RawServer(lambda request: Raw.json(completion("x"))) as server:
        chat(server.url, key=None).complete(question())
    assert not any("PRIVATE" in value for value in server.headers[0].values())


def test_a_stream_that_ends_without_an_end_or_in_an_error_is_broken_off() -> None:
    piece = 'data: {"choices": [{"delta": {"content": "Nan"}}]}'
    with RawServer(lambda request: Raw.events(piece)) as server, pytest.raises(ModelUnreachable):
        streamed(chat(server.url), question())
    piece = 'data: {"choices": [{"delta": {"content": "Nan"}}]}'
    failure = 'data: {"error": {"message": "BODY-TEXT"}}'
    with (
        RawServer(lambda request: Raw.events(": wait", piece, failure)) as server,
        pytest.raises(ModelUnreachable) as broken,
    ):
        streamed(chat(server.url), question())
    assert "BODY-TEXT" not in str(broken.value)


def test_bytes_that_trickle_do_not_put_the_deadline_off() -> None:
    def trickle() -> Iterator[bytes]:
        for _ in range(60):
            time.sleep(0.05)
            yield b" "

    class Slowly(list[bytes]):
        def __iter__(self) -> Iterator[bytes]:
            return trickle()

    with RawServer(lambda request: Raw(parts=Slowly())) as server, pytest.raises(ModelTimeout):
        chat(server.url, timeout_s=0.3).complete(question())


# -------------------------------------------------------------------------------------------------------- construction


def test_an_address_that_is_none_and_a_key_that_no_header_may_hold_are_refused_without_being_shown() -> None:
    for url in ["", "localhost:11434", "ftp://x/v1", "http://user:word@x/v1"]:
        with pytest.raises(ConfigError):
            chat(url)
    with pytest.raises(ConfigError) as refused:
        chat("http://localhost/v1", key="sk-1\nX: y")
    assert "sk-1" not in str(refused.value)


def test_the_package_is_not_imported_before_the_first_request() -> None:
    code = (
        "import sys; from embermem.llms import OpenAIChat;"
        "OpenAIChat(model='m', base_url='http://localhost/v1', api_key=None, timeout_s=1.0);"
        "assert not {'openai', 'pydantic_ai'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
