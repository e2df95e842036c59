"""OpenAI's responses through the proxy, by OpenAI's own client: with all items, after a response, in a conversation."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from functools import partial
from typing import Any
from urllib.parse import unquote

import openai
import pytest
from proxying import Spoken, spoken, threads

from embermem.core import injected_blocks
from embermem.testing.wire import Call
from scripted import Opener

HERON = "My heron is called Bartholomew."
ASKED = "What is my heron called?"
WEATHER: Any = {"type": "function", "name": "weather", "parameters": {}, "strict": False}


@pytest.fixture
def proxy(opened: Opener) -> Iterator[Spoken]:
    """A proxy on an empty memory."""
    with spoken(opened) as one:
        yield one


def ask(proxy: Spoken, given: Any, **more: Any) -> Any:
    """A response for alice."""
    return proxy.openai.responses.create(model="scripted", input=given, user="alice", **more)


def streamed(proxy: Spoken, given: Any, **more: Any) -> list[Any]:
    """The events of one."""
    return list(proxy.openai.responses.create(model="scripted", input=given, user="alice", stream=True, **more))


def said(proxy: Spoken) -> list[list[str]]:
    """What each thread holds."""
    return list(threads(proxy.alice).values())


def test_a_text_is_answered_with_memory_and_both_are_kept(opened: Opener) -> None:
    for number, stream in enumerate((False, True)):
        with spoken(partial(opened, f"{number}.db")) as proxy:
            proxy.alice.add(HERON, thread="long ago")
            proxy.model.script.says = "Bartholomew, as ever."
            if stream:
                events = streamed(proxy, ASKED, instructions="Be brief.", store=False)
                assert (
                    "".join(one.delta for one in events if one.type == "response.output_text.delta")
                    == proxy.model.script.says
                ), stream
                assert events[-1].type == "response.completed", stream
            else:
                assert (
                    ask(proxy, ASKED, instructions="Be brief.", store=False).output_text == "Bartholomew, as ever."
                ), stream
            sent = proxy.model.last.body
            assert sent["input"].startswith(f"<{injected_blocks.MARK}"), stream
            assert sent["input"].endswith(f">\n\n{ASKED}"), stream
            assert "Bartholomew" in sent["input"], stream
            assert (sent["instructions"], sent["store"]) == ("Be brief.", False), stream
            assert said(proxy)[1:] == [[ASKED, "Bartholomew, as ever."]], stream


def test_items_are_recognised_when_they_are_sent_again_and_the_reply_is_learnt_once(proxy: Spoken) -> None:
    proxy.alice.add(HERON, thread="long ago")
    items: list[Any] = [{"role": "user", "content": [{"type": "input_text", "text": ASKED}]}]
    for number, stream in enumerate((False, True, False)):
        proxy.model.script.says = f"Answer {number}."
        answer = streamed(proxy, items)[-1].response if stream else ask(proxy, items)
        sent = proxy.model.last.body["input"]
        assert sent[:-1] == items[:-1]
        assert sent[-1]["content"][-1] == items[-1]["content"][-1]
        items = [*items, *(one.model_dump(exclude_none=True) for one in answer.output)]
        items.append({"role": "user", "content": [{"type": "input_text", "text": f"And again, {number}?"}]})
    assert said(proxy)[1:] == [[ASKED, "Answer 0.", "And again, 0?", "Answer 1.", "And again, 1?", "Answer 2."]]


def test_what_follows_a_response_is_kept_in_its_thread_though_the_same_words_come_again(proxy: Spoken) -> None:
    proxy.model.script.says = "Fine."
    first = ask(proxy, "Water the roses.")
    second = ask(proxy, "Yes.", previous_response_id=first.id)
    third = ask(proxy, "Yes.", previous_response_id=second.id)
    other = ask(proxy, "No.", previous_response_id=second.id)
    ask(proxy, "Why?", previous_response_id=other.id)
    streamed(proxy, "Good.", previous_response_id=third.id)
    assert said(proxy) == [
        ["Water the roses.", "Fine.", "Yes.", "Fine.", "Yes.", "Fine.", "Good.", "Fine."],
        ["No.", "Fine.", "Why?", "Fine."],
    ]


def test_a_thread_is_found_by_its_response_after_a_restart(opened: Opener) -> None:
    with spoken(opened) as before:
        first = ask(before, "Water the roses.", metadata={"garden": "front"})
        held = before.model.script.responses
    labels = [dict(one.metadata) for one in before.alice.utterances()]
    assert labels == [{"garden": "front"}, {"garden": "front", "response_id": "resp_1"}]
    with spoken(opened) as after:
        after.model.script.responses.update(held)
        ask(after, "And the tulips.", previous_response_id=first.id)
        assert said(after) == [["Water the roses.", "Hello.", "And the tulips.", "Hello."]]


def test_a_retry_after_a_response_keeps_the_question_once_and_its_new_response_can_be_followed(proxy: Spoken) -> None:
    first = ask(proxy, "Water the roses.")
    proxy.model.script.status = 500
    with pytest.raises(openai.InternalServerError):
        ask(proxy, "And the tulips.", previous_response_id=first.id)
    proxy.model.script.status = 200
    ask(proxy, "And the tulips.", previous_response_id=first.id)
    again = ask(proxy, "And the tulips.", previous_response_id=first.id)
    ask(proxy, "Thanks.", previous_response_id=again.id)
    assert said(proxy) == [["Water the roses.", "Hello.", "And the tulips.", "Hello.", "Thanks.", "Hello."]]


def test_a_response_of_the_time_before_the_proxy_begins_a_thread_of_its_own(proxy: Spoken) -> None:
    ask(proxy, "Yes.")
    proxy.model.script.responses["resp_old"] = []
    second = ask(proxy, "Yes.", previous_response_id="resp_old")
    ask(proxy, "Good.", previous_response_id=second.id)
    assert said(proxy) == [["Yes.", "Hello."], ["Yes.", "Hello.", "Good.", "Hello."]]


def test_a_conversation_is_one_thread_by_its_name_and_a_retry_in_it_keeps_the_question_once(proxy: Spoken) -> None:
    proxy.alice.add(HERON, thread="long ago")
    for conversation in ("conv_1", {"id": "conv_1"}):
        ask(proxy, "Yes.", conversation=conversation)
    answer = proxy.openai.responses.with_raw_response.create(
        model="scripted", input=ASKED, user="alice", conversation="conv_1"
    )
    assert answer.headers["x-ember-thread"] == "conv_1"
    assert "Bartholomew" in proxy.model.last.body["input"]
    assert threads(proxy.alice)["conv_1"] == ["Yes.", "Hello.", "Yes.", "Hello.", ASKED, "Hello."]

    proxy.model.script.status = 500
    for _ in range(2):
        with pytest.raises(openai.InternalServerError):
            ask(proxy, "Yes.", conversation="conv_2")
    proxy.model.script.status = 200
    ask(proxy, "Yes.", conversation="conv_2")
    assert threads(proxy.alice)["conv_2"] == ["Yes.", "Hello."]


def test_calls_of_functions_and_their_results_are_kept_once(opened: Opener) -> None:
    for number, (stateful, stream) in enumerate(itertools.product((False, True), (False, True))):
        with spoken(partial(opened, f"{number}.db")) as proxy:
            proxy.model.script.says = Call(name="weather", arguments='{"city": "Lyon"}')
            items: Any = [{"role": "user", "content": "Is it cold in Lyon?"}]
            more: dict[str, Any] = {"tools": [WEATHER]}
            first = streamed(proxy, items, **more)[-1].response if stream else ask(proxy, items, **more)
            (call,) = [one for one in first.output if one.type == "function_call"]
            result = {"type": "function_call_output", "call_id": call.call_id, "output": "3 °C"}
            proxy.model.script.says = "Yes, 3 degrees."
            if stateful:
                more["previous_response_id"] = first.id
                items = [result]
            else:
                items = [*items, *(one.model_dump(exclude_none=True) for one in first.output), result]
            assert ask(proxy, items, **more).output_text == "Yes, 3 degrees.", (stateful, stream)
            assert proxy.model.last.body["tools"] == [WEATHER], (stateful, stream)
            assert said(proxy) == [
                ["Is it cold in Lyon?", '[tool call: weather({"city": "Lyon"})]', "3 °C", "Yes, 3 degrees."]
            ], (stateful, stream)


def test_parallel_calls_sent_back_each_with_its_result_are_kept_once(opened: Opener) -> None:
    for number, stream in enumerate((False, True)):
        with spoken(partial(opened, f"{number}.db")) as proxy:
            items: Any = [{"role": "user", "content": "Is it cold in Lyon and in Nice?"}]
            more: dict[str, Any] = {"tools": [WEATHER], "store": False}

            def answered(says: Any, items: Any = items, more: Any = more, stream: bool = stream) -> Any:
                proxy.model.script.says = says
                return streamed(proxy, items, **more)[-1].response if stream else ask(proxy, items, **more)

            cities = ("Lyon", "Nice", "Oslo")
            for calls in (cities[:2], cities[2:]):  # two at once, and then one alone
                made = [Call(name="weather", arguments=json.dumps({"city": city})) for city in calls]
                proxy.model.script.also = tuple(made[1:])
                output = [one for one in answered(made[0]).output if one.type == "function_call"]
                assert len(output) == len(calls), stream
                for one, city in zip(output, calls, strict=True):
                    items.append(one.model_dump(exclude_none=True))
                    items.append({"type": "function_call_output", "call_id": one.call_id, "output": f"3 °C in {city}"})
            items += [one.model_dump(exclude_none=True) for one in answered("Yes.").output]
            items.append({"role": "user", "content": "Thanks."})
            answered("You are welcome.")
            called = [f'[tool call: weather({{"city": "{city}"}})]' for city in cities]
            results = [f"3 °C in {city}" for city in cities]
            (told,) = said(proxy)
            assert told == [
                "Is it cold in Lyon and in Nice?",
                "\n".join(called[:2]),
                *results[:2],
                called[2],
                results[2],
                "Yes.",
                "Thanks.",
                "You are welcome.",
            ], stream


def test_a_half_marker_at_the_end_of_a_reply_is_not_kept_and_the_reply_is_known_again(opened: Opener) -> None:
    for number, stream in enumerate((False, True)):
        with spoken(partial(opened, f"{number}.db")) as proxy:
            proxy.alice.add(HERON, thread="long ago")
            ask(proxy, ASKED)
            marker = proxy.model.last.body["input"].partition("\n")[0]
            proxy.model.script.says = f"Bartholomew.\n{marker[:-8]}"
            items: list[Any] = [{"role": "user", "content": "Again, what is it called?"}]
            answer = streamed(proxy, items)[-1].response if stream else ask(proxy, items)
            assert answer.output_text == proxy.model.script.says, stream
            items += [
                *(one.model_dump(exclude_none=True) for one in answer.output),
                {"role": "user", "content": "Thanks."},
            ]
            proxy.model.script.says = "Good."
            ask(proxy, items)
            assert said(proxy)[-1] == ["Again, what is it called?", "Bartholomew.\n", "Thanks.", "Good."], stream


def test_the_bytes_of_a_stream_and_of_unknown_fields_are_as_they_were_sent(proxy: Spoken) -> None:
    proxy.alice.add(HERON, thread="long ago")
    raw = (
        b'{ "input": [{"role":"user","content":"\\u0057hich heron?","x":1.00}], "model":"m", "top_p":1.00,'
        b' "x_unknown":{"deep":[null,1.0,"\\u00e9"],"big":12345678901234567890123}, "stream":true, "user":"alice"}'
    )
    with proxy.http as client:
        through = client.post("/v1/responses", content=raw).content
    sent = proxy.model.last.raw
    assert b'"x":1.00' in sent
    assert b'"top_p":1.00' in sent
    assert b'"x_unknown":{"deep":[null,1.0,"\\u00e9"],"big":12345678901234567890123}' in sent
    assert b"Bartholomew" in sent
    with proxy.http as client:
        direct = client.post(f"{proxy.model.root}/v1/responses", content=raw).content
    assert direct.replace(b"resp_2", b"resp_1").replace(b"_2", b"_1") == through


def test_an_upstream_that_fails_in_mid_stream_is_an_error_and_what_came_is_kept(proxy: Spoken) -> None:
    proxy.model.script.says = "The heron stands in the reeds and waits."
    proxy.model.script.cut_after = 8
    with pytest.raises(openai.APIError, match="connection was lost"):
        streamed(proxy, "Hello.")
    ((asked, came),) = said(proxy)
    assert asked == "Hello."
    assert came.startswith("The heron")
    assert came.endswith("\n[broken off]")


def test_responses_are_read_deleted_and_cancelled_upstream_and_what_cannot_be_read_is_its_to_refuse(
    proxy: Spoken,
) -> None:
    client = proxy.openai
    assert client.responses.retrieve("resp_7", include=["reasoning.encrypted_content"]).id == "resp_7"
    assert unquote(proxy.model.last.path) == "/v1/responses/resp_7?include[]=reasoning.encrypted_content"
    client.responses.delete("resp_7")
    assert (proxy.model.last.method, proxy.model.last.path) == ("DELETE", "/v1/responses/resp_7")
    assert client.responses.cancel("resp_7").status == "cancelled"
    assert len(client.responses.input_items.list("resp_7").data) == 1
    assert proxy.model.last.path.startswith("/v1/responses/resp_7/input_items")
    assert proxy.model.last.headers["authorization"] == "Bearer sk-mine"
    assert proxy.memory.owners() == ()

    with proxy.http as plain:
        for given in ({"input": 3}, {"input": [3, {"type": "x"}, {"content": None}]}, {"conversation": [1]}):
            raw = json.dumps({"model": "m", "input": [], **given}).encode()
            plain.post("/v1/responses", content=raw)
            assert proxy.model.last.raw == raw


def test_upstreams_refusal_comes_back_as_it_is(proxy: Spoken) -> None:
    proxy.model.script.status = 429
    with pytest.raises(openai.RateLimitError, match="Slow down") as raised:
        ask(proxy, "Hello.")
    assert raised.value.response.headers["retry-after"] == "7"
    assert said(proxy) == [["Hello."]]
