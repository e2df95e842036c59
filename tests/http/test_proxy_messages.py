"""Anthropic's messages through the proxy, by Anthropic's own client: streams, tools, thinking, marks of the cache."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import anthropic
import pytest
from proxying import Spoken, spoken, threads
from serving import key_for

from embermem.core import injected_blocks
from embermem.http.proxy.dialects.messages import Messages
from embermem.http.proxy.request import asked
from embermem.testing.wire import Call
from scripted import Opener

HERON = "My heron is called Bartholomew."
ASKED = "What is my heron called?"
WEATHER: Any = {"name": "weather", "input_schema": {"type": "object", "properties": {}}}
MARK = {"type": "ephemeral"}


@pytest.fixture
def proxy(opened: Opener) -> Iterator[Spoken]:
    """A proxy on an empty memory."""
    with spoken(opened) as one:
        yield one


def ask(proxy: Spoken, messages: Any, **more: Any) -> anthropic.types.Message:
    """A message for alice."""
    given: dict[str, Any] = {"model": "claude", "max_tokens": 100, "metadata": {"user_id": "alice"}, **more}
    answer: anthropic.types.Message = proxy.anthropic().messages.create(messages=messages, **given)
    return answer


def streamed(proxy: Spoken, messages: Any, **more: Any) -> tuple[str, anthropic.types.Message]:
    """The text that comes in pieces, and the message that the client makes of all."""
    given: dict[str, Any] = {"model": "claude", "max_tokens": 100, "metadata": {"user_id": "alice"}, **more}
    with proxy.anthropic().messages.stream(messages=messages, **given) as stream:
        return "".join(stream.text_stream), stream.get_final_message()


def user(content: Any) -> dict[str, Any]:
    """A turn of the user."""
    return {"role": "user", "content": content}


def text(words: str, **more: Any) -> dict[str, Any]:
    """A block of text."""
    return {"type": "text", "text": words, **more}


def said(proxy: Spoken) -> list[list[str]]:
    """What each thread holds."""
    return list(threads(proxy.alice).values())


def test_a_message_is_answered_with_memory_and_both_are_kept(opened: Opener) -> None:
    for number, stream in enumerate((False, True)):
        with spoken(partial(opened, f"{number}.db")) as proxy:
            proxy.alice.add(HERON, thread="long ago")
            proxy.model.script.says = "Bartholomew, as ever."
            system = [text("Be brief.", cache_control=MARK)]
            if stream:
                came, answer = streamed(proxy, [user(ASKED)], system=system)
                assert came == "Bartholomew, as ever.", stream
            else:
                answer = ask(proxy, [user(ASKED)], system=system)
            assert [block.type for block in answer.content] == ["thinking", "text"], stream
            sent = proxy.model.last.body
            assert sent["system"] == system, stream
            words, block = sent["messages"][0]["content"]
            assert words == text(ASKED), stream
            assert block["text"].startswith(f"<{injected_blocks.MARK}"), stream
            assert "Bartholomew" in block["text"], stream
            assert said(proxy)[1:] == [[ASKED, "Bartholomew, as ever."]], stream
            headers = proxy.model.last.headers
            assert (headers["authorization"], "anthropic-version" in headers) == ("Bearer sk-ant-mine", True), stream


def test_turns_that_are_sent_again_with_their_thinking_are_recognised(proxy: Spoken) -> None:
    turns: list[Any] = [user("Good evening.")]
    for number in range(3):
        proxy.model.script.says = f"Answer {number}."
        answer = streamed(proxy, turns)[1] if number % 2 else ask(proxy, turns)
        turns.append({"role": "assistant", "content": [one.model_dump(exclude_none=True) for one in answer.content]})
        turns.append(user([text(f"And again, {number}?")]))
    sent = proxy.model.last.body["messages"]
    assert sent[1]["content"] == turns[1]["content"]
    assert sent[1]["content"][0]["signature"]
    assert said(proxy) == [["Good evening.", "Answer 0.", "And again, 0?", "Answer 1.", "And again, 1?", "Answer 2."]]


def test_calls_of_tools_and_their_results_are_kept_once(opened: Opener) -> None:
    for number, stream in enumerate((False, True)):
        with spoken(partial(opened, f"{number}.db")) as proxy:
            proxy.alice.add(HERON, thread="long ago")
            turns: list[Any] = [user("Is it cold in Lyon for my heron?")]
            proxy.model.script.says = Call(name="weather", arguments='{"city": "Lyon", "unit": "°C"}')
            first = streamed(proxy, turns, tools=[WEATHER])[1] if stream else ask(proxy, turns, tools=[WEATHER])
            asked = proxy.model.last.body["messages"]
            assert first.stop_reason == "tool_use", stream
            (call,) = [one for one in first.content if one.type == "tool_use"]
            assert call.input == {"city": "Lyon", "unit": "°C"}, stream
            turns.append({"role": "assistant", "content": [one.model_dump(exclude_none=True) for one in first.content]})
            result = {"type": "tool_result", "tool_use_id": call.id, "content": [text("3 °C")], "cache_control": MARK}
            turns.append(user([result]))
            proxy.model.script.says = "Yes, 3 degrees."
            ask(proxy, turns, tools=[WEATHER])
            sent = proxy.model.last.body["messages"]
            assert sent[:1] == asked[:1], stream  # the question and its memory are sent as before
            assert "Bartholomew" in str(sent[0]), stream
            assert sent[1:] == turns[1:], stream
            assert said(proxy)[1:] == [
                [
                    "Is it cold in Lyon for my heron?",
                    '[tool call: weather({"city": "Lyon", "unit": "°C"})]',
                    "3 °C",
                    "Yes, 3 degrees.",
                ]
            ], stream


def test_what_a_mark_of_the_cache_covers_is_sent_as_it_came_alone_or_of_the_whole_request(proxy: Spoken) -> None:
    proxy.alice.add(HERON, thread="long ago")
    parts = [text("Look at this."), text(ASKED, cache_control=MARK)]
    ask(proxy, [user(parts)])
    marked = proxy.model.last.body["messages"][0]["content"]
    assert marked[:-1] == parts
    assert "Bartholomew" in marked[-1]["text"]
    assert "cache_control" not in marked[-1]

    for content in (ASKED, [text(ASKED)]):
        proxy.alice.add(HERON, thread="long ago")
        ask(proxy, [user(content)], cache_control={"type": "ephemeral", "ttl": "1h"})
        sent = proxy.model.last.body
        words, block = sent["messages"][0]["content"]
        assert words == text(ASKED, cache_control={"type": "ephemeral", "ttl": "1h"}), content
        assert "cache_control" not in block, content
        assert "cache_control" not in sent, content
        ask(proxy, [user("Never heard.")], cache_control=MARK, extra_headers={"X-Ember-Memory": "off"})
        assert proxy.model.last.body["cache_control"] == MARK, content


def test_a_reply_that_the_client_began_is_kept_whole(proxy: Spoken) -> None:
    proxy.model.script.says = "is called Bartholomew."
    ask(proxy, [user(ASKED), {"role": "assistant", "content": "Your heron "}])
    assert said(proxy) == [[ASKED, "Your heron is called Bartholomew."]]


def test_images_and_documents_are_named_and_not_copied(proxy: Spoken) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    source = {"type": "text", "media_type": "text/plain", "data": "All about herons"}
    ask(proxy, [user([image, {"type": "document", "title": "herons", "source": source}, text("What is this?")])])
    assert proxy.model.last.body["messages"][0]["content"][0] == image
    assert said(proxy) == [["[image]\n[file: herons]\nWhat is this?", "Hello."]]


def test_headers_name_user_and_key_and_what_cannot_be_read_is_upstreams_to_refuse(proxy: Spoken) -> None:
    given: Any = {"model": "claude", "max_tokens": 9, "messages": [user("Hi")], "metadata": {"user_id": "session-9"}}
    proxy.anthropic(x_ember_user="alice").messages.create(**given)
    assert [owner.user for owner in proxy.memory.owners()] == ["alice"]

    for name in ("x-api-key", "authorization"):
        before = "Bearer " if name == "authorization" else ""
        with proxy.http as client:
            client.post("/v1/messages", json={"model": "m", "messages": [user("Hi")]}, headers={name: f"{before}sk-1"})
        assert proxy.model.last.headers[name] == f"{before}sk-1", name

    odd: list[Any] = [3, None, {"role": "user"}, user([3, {"type": "tool_result"}, {"type": "x"}]), user(None)]
    with proxy.http as client:
        for given in ({"messages": 3}, {"messages": odd, "metadata": 3}):
            raw = json.dumps({"model": "m", **given}).encode()
            client.post("/v1/messages", content=raw)
            assert proxy.model.last.raw == raw

    for wrong in (None, 5, "x", [3]):
        block = {"messages": [user([text("Hello"), wrong])], "cache_control": MARK}
        sent = json.loads(asked(json.dumps(block).encode(), {}, Messages()).body("a block"))
        assert sent["messages"][0]["content"] == [text("Hello"), wrong, text("a block")], wrong


def test_an_upstream_that_fails_in_mid_stream_is_an_error_and_what_came_is_kept(proxy: Spoken) -> None:
    proxy.model.script.says = "The heron stands in the reeds and waits."
    proxy.model.script.cut_after = 8
    with pytest.raises(anthropic.APIStatusError, match="connection was lost"):
        streamed(proxy, [user("Hello.")])
    ((asked, came),) = said(proxy)
    assert asked == "Hello."
    assert came.startswith("The heron")
    assert came.endswith("\n[broken off]")


def test_refusals_have_anthropics_form_upstreams_and_ours(proxy: Spoken, opened: Opener) -> None:
    proxy.model.script.status = 429
    with pytest.raises(anthropic.RateLimitError, match="Slow down") as limited:
        ask(proxy, [user("Hello.")])
    assert (limited.value.response.headers["retry-after"], limited.value.request_id) == ("7", "req_1")
    with pytest.raises(anthropic.UnprocessableEntityError) as wrong:
        ask(proxy, [user("Hello.")], extra_headers={"X-Ember-Scope": "{"})
    body: Any = wrong.value.body
    assert (body["type"], body["error"]["type"]) == ("error", "invalid_request_error")
    with spoken(lambda **given: opened("keys.db", **given), require_keys=True) as guarded:
        with pytest.raises(anthropic.AuthenticationError) as refused:
            ask(guarded, [user("Hello.")])
        body = refused.value.body
        assert body["error"]["type"] == "authentication_error"
        _, key = key_for(guarded.memory, "alice/*")
        guarded.anthropic().with_options(api_key=key).messages.create(
            model="claude", max_tokens=9, messages=[{"role": "user", "content": "Hi"}], metadata={"user_id": "alice"}
        )
        assert key not in str(guarded.model.last.headers)


def test_tokens_are_counted_and_models_listed_upstream_and_batches_only_with_an_own_key(
    proxy: Spoken, opened: Opener
) -> None:
    client = proxy.anthropic()
    counted = client.messages.count_tokens(model="claude", messages=[{"role": "user", "content": ASKED}])
    assert (counted.input_tokens, proxy.model.last.path) == (12, "/v1/messages/count_tokens")
    assert [one.id for one in client.models.list()] == ["scripted"]
    assert proxy.model.last.headers["authorization"] == "Bearer sk-ant-mine"
    list(client.messages.batches.list())
    assert proxy.model.last.path == "/v1/messages/batches"
    assert proxy.memory.owners() == ()
    with spoken(lambda **given: opened("set.db", **given), proxy_anthropic_key="sk-set") as theirs:
        ask(theirs, [user("Hello.")])
        sent = theirs.model.last.headers
        assert (sent["x-api-key"], "authorization" in sent) == ("sk-set", False)
        with pytest.raises(anthropic.PermissionDeniedError, match="own key"):
            list(theirs.anthropic().messages.batches.list())


def test_a_server_of_openais_protocols_is_asked_where_no_other_is_set_and_gets_no_clients_key(opened: Opener) -> None:
    with spoken(opened, proxy_anthropic_url="", proxy_key="sk-openai") as proxy:
        ask(proxy, [user("Hello.")])
        sent = proxy.model.last.headers
        assert (sent.get("x-api-key"), sent["authorization"]) == (None, "Bearer sk-openai")
        assert proxy.model.last.path == "/v1/messages"
