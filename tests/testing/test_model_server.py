"""The scripted model server, seen by plain HTTP clients: what it answers, how it fails, what it counts."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embermem.core.errors import InputError
from embermem.index.tokens import counter
from embermem.testing import faults, wire
from embermem.testing.model_server import ModelServer

ANSWER = {"pages": [{"page": 1, "summary": "湿地公园 walk", "keywords": ["park", "heron"]}], "note": "ok"}
SCHEMA = {
    "type": "object",
    "properties": {"note": {"type": "string"}},
    "required": ["note"],
    "additionalProperties": False,
}
COUNT = counter("approx").count


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What a client got back."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def document(self) -> Any:
        return json.loads(self.body)

    @property
    def text(self) -> Any:
        return self.document["choices"][0]["message"]["content"]

    @property
    def finish(self) -> Any:
        return self.document["choices"][0]["finish_reason"]

    def events(self) -> list[Any]:
        lines = [line for line in self.body.decode().split("\n\n") if line]
        assert all(line.startswith("data: ") for line in lines)
        assert lines[-1] == "data: [DONE]"
        return [json.loads(line[6:]) for line in lines[:-1]]

    def pieces(self) -> list[str]:
        deltas = [event["choices"][0]["delta"] for event in self.events() if event["choices"]]
        return [delta["content"] for delta in deltas if delta.get("content")]


def question(text: str = "Where was I? Answer in JSON.", **more: Any) -> dict[str, Any]:
    return {"model": "scripted", "messages": [{"role": "user", "content": text}], **more}


def formed(kind: str = "json_schema", **more: Any) -> dict[str, Any]:
    named = {"json_schema": {"name": "note", "schema": SCHEMA, "strict": True}} if kind == "json_schema" else {}
    return question(response_format={"type": kind, **named}, **more)


def connect(server: ModelServer) -> http.client.HTTPConnection:
    return http.client.HTTPConnection(str(urlsplit(server.url).hostname), server.port, timeout=20)


def ask(server: ModelServer, request: object = None, path: str = "/chat/completions", **headers: str) -> Seen:
    """One request on a connection of its own."""
    connection = connect(server)
    try:
        sent = json.dumps(question() if request is None else request)
        connection.request("POST", "/v1" + path, sent, {"Content-Type": "application/json", **headers})
        reply = connection.getresponse()
        return Seen(status=reply.status, headers=reply.headers, body=reply.read())
    finally:
        connection.close()


def look(server: ModelServer, path: str) -> Seen:
    connection = connect(server)
    try:
        connection.request("GET", "/v1" + path)
        reply = connection.getresponse()
        return Seen(status=reply.status, headers=reply.headers, body=reply.read())
    finally:
        connection.close()


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(ANSWER) as made:
        yield made


# ------------------------------------------------------------------------------------------------------ what it answers


def test_it_answers_in_openais_form_what_it_is_given_or_what_a_function_makes_of_the_request(
    server: ModelServer,
) -> None:
    reply = ask(server).document
    text = reply["choices"][0]["message"]["content"]
    assert (reply["object"], reply["model"], reply["choices"][0]["finish_reason"]) == (
        "chat.completion",
        "scripted",
        "stop",
    )
    asked, answered = COUNT(question()["messages"][0]["content"]), COUNT(text)
    assert {key: reply["usage"][key] for key in ("prompt_tokens", "completion_tokens", "total_tokens")} == {
        "prompt_tokens": asked,
        "completion_tokens": answered,
        "total_tokens": asked + answered,
    }

    assert json.loads(ask(server).text) == ANSWER
    server.reply_with("Bonjour.")
    assert ask(server).text == "Bonjour."
    server.reply_with(lambda request: {"said": request["messages"][0]["content"]})
    assert json.loads(ask(server, question("你好")).text) == {"said": "你好"}


def test_its_models_and_its_key_are_asked_for_as_openai_does() -> None:
    with ModelServer(models=("small", "large")) as server:
        assert [one["id"] for one in look(server, "/models").document["data"]] == ["small", "large"]
        assert look(server, "/models/large").document["id"] == "large"
        assert look(server, "/models/huge").status == 404
        assert server.calls == 0

    with ModelServer(key="k") as locked:
        assert ask(locked).status == 401
        assert ask(locked, Authorization="Bearer other").status == 401
        assert ask(locked, Authorization="Bearer k").status == 200
        assert locked.authorizations == [None, "Bearer other", "Bearer k"]


def test_a_stream_gives_the_same_text_in_pieces_and_the_usage_if_it_is_asked_for(server: ModelServer) -> None:
    seen = ask(server, question(stream=True, stream_options={"include_usage": True}))
    assert seen.headers["Content-Type"].startswith("text/event-stream")
    assert json.loads("".join(seen.pieces())) == ANSWER
    assert len(seen.pieces()) > 5
    *_, last, usage = seen.events()
    assert last["choices"][0]["finish_reason"] == "stop"
    assert usage["choices"] == []
    assert usage["usage"] == ask(server).document["usage"]

    assert not any("usage" in event for event in ask(server, question(stream=True)).events())

    before = server.calls
    connection = connect(server)
    for stream in (False, True, False):
        connection.request("POST", "/v1/chat/completions", json.dumps(question(stream=stream)))
        assert connection.getresponse().read()
    connection.close()
    assert server.calls == before + 3


def test_what_openai_would_refuse_is_refused(server: ModelServer) -> None:
    assert ask(server, [1, 2]).status == 400
    assert ask(server, question(), path="/completions").status == 404
    assert server.calls == 0

    for request_body, word in [
        ({"messages": [{"role": "user", "content": "x"}]}, "model"),
        ({"model": "m", "messages": []}, "messages"),
        ({"model": "m", "messages": [{"role": "wizard", "content": "x"}]}, "role"),
        ({"model": "m", "messages": [{"role": "user"}]}, "content"),
        (question(response_format={"type": "yaml"}), "type"),
        (question("no word of it", response_format={"type": "json_object"}), "json"),
        (question(response_format={"type": "json_schema", "json_schema": {"schema": SCHEMA}}), "name"),
        (question(response_format={"type": "json_schema", "json_schema": {"name": "n"}}), "schema"),
    ]:
        seen = ask(server, request_body)
        assert seen.status == 400
        assert word in seen.document["error"]["message"]

    for schema in [
        {"$ref": "#/$defs/A", "$defs": {"A": SCHEMA}},
        {**SCHEMA, "additionalProperties": True},
        {**SCHEMA, "required": []},
        {
            **SCHEMA,
            "properties": {"note": {"type": "array", "items": {"anyOf": [{"type": "null"}, {"type": "object"}]}}},
        },
    ]:
        for strict, status in ((True, 400), (False, 200)):
            form = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema, "strict": strict}}
            assert ask(server, question(response_format=form)).status == status


def test_an_error_of_the_answering_function_comes_up_at_the_end_or_is_noted_on_the_error_that_it_led_to() -> None:
    def broken(request: dict[str, Any]) -> str:
        raise LookupError("no answer for this")

    with pytest.raises(LookupError, match="no answer"), ModelServer(broken) as server:
        assert ask(server).status == 500

    with pytest.raises(AssertionError) as caught, ModelServer(broken) as server:
        raise AssertionError(ask(server).status)
    assert "no answer for this" in caught.value.__notes__[0]


# --------------------------------------------------------------------------------------------------------- how it fails


def text_under(server: ModelServer, kind: str, **detail: Any) -> Any:
    server.fail_next(kind, **detail)
    return ask(server, formed()).text


def test_each_fault_of_an_answer_is_as_it_is_named(server: ModelServer) -> None:
    server.fail_next("wrong_shape", times=4)
    shapes = [json.loads(ask(server).text) for _ in range(4)]
    assert shapes[0] == shapes[3] == [ANSWER, ANSWER]
    assert "summaries" in shapes[1]
    assert shapes[2] == {"pages": [{"page": 1, "summary": "湿地公园 walk", "keywords": None}], "note": "ok"}
    assert "summaries" in json.loads(text_under(server, "wrong_shape", variant="other"))

    server.fail_next("truncated", times=2)
    cut = ask(server)
    assert cut.finish == "length"
    assert json.dumps(ANSWER, ensure_ascii=False).startswith(cut.text)
    with pytest.raises(ValueError, match=r"delimiter|value|Unterminated"):
        json.loads(cut.text)
    assert ask(server, question(stream=True)).events()[-1]["choices"][0]["finish_reason"] == "length"

    assert text_under(server, "empty") == ""
    assert text_under(server, "null") is None
    server.fail_next("no_choices", times=2)
    assert ask(server).document["choices"] == []
    assert all(event["choices"] == [] for event in ask(server, question(stream=True)).events())

    good = json.dumps(ANSWER, ensure_ascii=False)
    assert "{" not in text_under(server, "prose")
    around = text_under(server, "prose", around=True)
    assert good in around
    assert not around.startswith("{")
    assert text_under(server, "fence") == f"```json\n{good}\n```"
    assert text_under(server, "error_text") == "Error: Could not get response from LLM."
    assert json.loads(text_under(server, "schema_echo")) == SCHEMA
    server.fail_next("schema_echo")
    assert json.loads(ask(server).text) == {"type": "object", "properties": {}}

    whole = text_under(server, "think")
    assert whole.startswith("<think>")
    assert whole.partition("</think>")[2].strip() == good
    server.fail_next("think", unclosed=True)
    unclosed = ask(server)
    assert (unclosed.text[:7], "</think>" in unclosed.text, unclosed.finish) == ("<think>", False, "length")
    unopened = text_under(server, "think", unopened=True)
    assert "<think>" not in unopened
    assert unopened.partition("</think>")[2].strip() == good

    server.fail_next("garbage", times=2)
    rubbish = ask(server)
    assert (rubbish.status, rubbish.body[:6]) == (200, b"<html>")
    assert ask(server, question(stream=True)).body.startswith(b"data: <html>")

    server.fail_next("slow", seconds=0.05)
    assert json.loads(ask(server).text) == ANSWER


def test_refusals_have_their_status_openais_body_and_may_say_when_to_come_again(server: ModelServer) -> None:
    for kind, status in [("http_401", 401), ("http_429", 429), ("http_500", 500), ("http_503", 503)]:
        for stream in [False, True]:
            server.fail_next(kind)
            seen = ask(server, question(stream=stream))
            assert (seen.status, set(seen.document["error"])) == (status, {"message", "type", "param", "code"})
            assert seen.headers["Retry-After"] is None
            assert ask(server).status == 200

    server.fail_next("http_429", retry_after=7)
    server.fail_next("http_503", retry_after=0.5)
    assert [ask(server).headers["Retry-After"] for _ in range(3)] == ["7", "0.5", None]


def test_a_server_that_refuses_formats_answers_all_other_requests(server: ModelServer) -> None:
    server.fail_next("http_400_format")
    assert [ask(server, one).status for one in (question(), formed(), formed())] == [200, 400, 200]

    server.fail_always("http_400_format")
    assert [ask(server, one).status for one in (formed(), formed("json_object"), question())] == [400, 200, 200]
    server.fail_always("http_400_format", json_object=True)
    assert [ask(server, one).status for one in (formed(), formed("json_object"), question())] == [400, 400, 200]
    assert ask(server, formed()).document["error"]["param"] == "response_format"


def test_a_connection_that_is_cut_leaves_half_of_a_reply_or_nothing(server: ModelServer) -> None:
    server.fail_next("disconnect", before=True)
    with pytest.raises(http.client.RemoteDisconnected):
        ask(server)
    assert server.calls == 1

    server.fail_next("disconnect", times=2)
    with pytest.raises(http.client.IncompleteRead) as whole:
        ask(server)
    assert b"choices" in whole.value.partial
    with pytest.raises(http.client.IncompleteRead) as stream:
        ask(server, question(stream=True))
    assert b"data: " in stream.value.partial
    assert b"[DONE]" not in stream.value.partial


def test_closing_ends_what_hangs_or_is_slow_and_frees_the_port() -> None:
    for midway in [False, True]:
        for stream in [False, True]:
            with ModelServer(ANSWER) as server, ThreadPoolExecutor(3) as pool:
                server.fail_always("hang", midway=midway)
                hanging = [pool.submit(ask, server, question(stream=stream)) for _ in range(3)]
                server.wait_for_calls(3)
                server.close()
                for one in hanging:
                    assert isinstance(one.exception(20), (http.client.HTTPException, ConnectionError))

    with ModelServer() as server, ThreadPoolExecutor(1) as pool:
        server.fail_next("slow", seconds=600)
        waiting = pool.submit(ask, server)
        server.wait_for_calls(1)
        server.close()
        assert isinstance(waiting.exception(20), (http.client.HTTPException, ConnectionError))

    with ModelServer() as first:
        connection = connect(first)
        connection.request("POST", "/v1/chat/completions", json.dumps(question()))
        connection.getresponse().read()
    connection.close()
    with pytest.raises(ConnectionRefusedError):
        ask(first)
    with ModelServer("again", port=first.port) as second:
        assert ask(second).text == "again"

    ModelServer().close()


def test_a_hang_ends_when_the_client_leaves(server: ModelServer) -> None:
    before = set(threading.enumerate())
    server.fail_next("hang")
    connection = connect(server)
    connection.request("POST", "/v1/chat/completions", json.dumps(question()))
    server.wait_for_calls(1)
    handlers = set(threading.enumerate()) - before
    connection.close()
    for handler in handlers:
        handler.join(20)
        assert not handler.is_alive()
    assert ask(server).status == 200


def test_faults_come_in_their_order_and_standing_ones_behind_them_until_recovery(server: ModelServer) -> None:
    server.fail_next("empty", times=2, after=1)
    server.fail_next("http_500", after=2)
    assert [outcome(server) for _ in range(7)] == ["good", "empty", "empty", "good", "good", "500", "good"]

    server.fail_always("http_503")
    server.fail_next("empty")
    assert [outcome(server) for _ in range(3)] == ["empty", "503", "503"]
    assert look(server, "/models").status == 503
    server.fail_next("http_500", times=5)
    server.recover()
    assert [outcome(server), look(server, "/models").status] == ["good", 200]

    server.fail_always("null")
    assert look(server, "/models").status == 200

    with pytest.raises(InputError, match="http_418"):
        server.fail_next("http_418")
    with pytest.raises(InputError, match="seconds"):
        server.fail_always("slow", second=1)
    with pytest.raises(InputError, match="variant"):
        server.fail_next("wrong_shape", variant="odd")


# -------------------------------------------------------------------------------------------------- order and counts


def outcome(server: ModelServer) -> str:
    seen = ask(server)
    if seen.status != 200:
        return str(seen.status)
    return "good" if seen.text else "empty"


def test_requests_are_kept_in_order_and_their_tokens_are_those_of_all_text_sent(server: ModelServer) -> None:
    server.fail_next("http_500", after=1)
    sent = [question(f"number {n}") for n in range(3)]
    for one in sent:
        ask(server, one)
    assert server.requests == sent
    assert server.calls == 3

    parts = [{"type": "text", "text": "one two"}, {"type": "text", "text": "三"}]
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": parts}]
    plain: dict[str, Any] = {"model": "m", "messages": messages}
    with ModelServer("yes") as counting:
        ask(counting, plain)
        assert counting.prompt_tokens == COUNT("Be brief.") + COUNT("one two") + COUNT("三")
        assert counting.completion_tokens == COUNT("yes")
        before = counting.prompt_tokens
        asked = ask(counting, {**plain, "response_format": formed()["response_format"]}).document["usage"]
        schema = COUNT(json.dumps(formed()["response_format"]["json_schema"]))
        assert counting.prompt_tokens - before == before + schema == asked["prompt_tokens"]


def test_many_clients_at_once_are_all_counted_and_each_fault_is_met_once() -> None:
    together = threading.Barrier(16)

    def answer(request: dict[str, Any]) -> str:
        together.wait(20)
        return str(request["messages"][0]["content"])

    with ModelServer(answer) as server, ThreadPoolExecutor(16) as pool:
        asked = [question(f"word {n}") for n in range(16)]
        assert [seen.text for seen in pool.map(lambda one: ask(server, one), asked)] == [
            one["messages"][0]["content"] for one in asked
        ]
        server.reply_with("yes")
        server.fail_next("http_500", times=5, after=3)
        statuses = [seen.status for seen in pool.map(lambda one: ask(server, one), asked)]
        assert statuses.count(500) == 5
        assert server.calls == 32
        assert server.prompt_tokens == 2 * sum(wire.prompt_tokens(one) for one in asked)
        assert sorted(json.dumps(one) for one in server.requests) == sorted(json.dumps(one) for one in asked * 2)


# ------------------------------------------------------------------------------------------------------ pure functions

TEXTS = st.text(st.characters(codec="utf-8"))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(text=TEXTS)
def test_the_pieces_of_a_stream_add_up_to_the_text(text: str) -> None:
    events = list(wire.events(wire.Completion(text=text), question(), 1))
    assert "".join(event["choices"][0]["delta"].get("content") or "" for event in events) == text


@given(answer=st.dictionaries(TEXTS, VALUES, min_size=1, max_size=3), kind=st.sampled_from(sorted(faults.KINDS)))
def test_a_spoilt_answer_can_always_be_put_on_the_wire(answer: dict[str, Any], kind: str) -> None:
    text = json.dumps(answer)
    for turn in range(len(faults.SHAPES)):
        made = faults.spoil(faults.make(kind, {}), lambda: text, question(), turn)
        assert json.loads(json.dumps(wire.body(made, question(), 1)))["usage"]["completion_tokens"] == made.tokens
        if kind == "wrong_shape":
            json.loads(made.text or "")
        if kind == "truncated":
            assert text.startswith(made.text or "")
            assert made.text != text


# -------------------------------------------------------------------------------------------------- OpenAI's own client


def talking_to(server: ModelServer) -> Any:
    from openai import OpenAI

    return OpenAI(base_url=server.url, api_key="k", max_retries=0, timeout=20)


def test_openais_client_reads_replies_streams_and_models_and_raises_its_own_error_for_each_refusal(
    server: ModelServer,
) -> None:
    client = talking_to(server)
    request = formed()
    whole = client.chat.completions.create(**request)
    assert json.loads(whole.choices[0].message.content) == ANSWER
    assert whole.usage.prompt_tokens == wire.prompt_tokens(request)
    chunks = list(client.chat.completions.create(**request, stream=True, stream_options={"include_usage": True}))
    assert json.loads("".join(one.choices[0].delta.content or "" for one in chunks if one.choices)) == ANSWER
    assert chunks[-1].usage == whole.usage
    assert [one.id for one in client.models.list()] == ["scripted"]
    assert server.authorizations == ["Bearer k"] * 2

    for kind, name in [
        ("http_401", "AuthenticationError"),
        ("http_429", "RateLimitError"),
        ("http_500", "InternalServerError"),
        ("http_503", "InternalServerError"),
        ("http_400_format", "BadRequestError"),
    ]:
        import openai

        server.fail_next(kind)
        wanted: Callable[..., Any] = getattr(openai, name)
        with pytest.raises(wanted):  # type: ignore[call-overload]
            talking_to(server).chat.completions.create(**formed())

    server.fail_next("disconnect")
    stream = talking_to(server).chat.completions.create(**question(stream=True))
    with pytest.raises(Exception, match=r"(?i)peer closed|incomplete|connection error"):
        list(stream)


# ------------------------------------------------------------------------------------------------------------ its page


def test_the_page_lists_every_kind_of_fault_with_its_details() -> None:
    page = (Path(__file__).parents[2] / "docs" / "guides" / "scripted-model.md").read_text(encoding="utf-8")
    rows = [line.split("|") for line in page.partition("## What it saw")[0].splitlines() if line.startswith("| `")]
    listed = {row[1].strip(" `"): row[3] for row in rows}
    assert set(listed) == set(faults.KINDS)
    for kind, details in faults.KINDS.items():
        assert all(f"`{detail}`" in listed[kind] for detail in details), kind
