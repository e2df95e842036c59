"""The proxy, by OpenAI's own client: memory in the prompt, nothing else changed, upstream's answers as they are."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from proxying import Proxied, ask, assistant, proxied, streamed, texts, user
from serving import NO_TLS, key_for

from embermem.core import injected_blocks
from embermem.core.config import load
from embermem.core.errors import ConfigError
from embermem.http.proxy.upstream import Server, returned, upstream
from embermem.testing.model_server import Call, ModelServer
from scripted import Opener

SYSTEM = {"role": "system", "content": "You are brief."}


@pytest.fixture
def model() -> Iterator[ModelServer]:
    """A model that says hello."""
    with ModelServer() as one:
        yield one


@pytest.fixture
def proxy(opened: Opener, model: ModelServer) -> Iterator[Proxied]:
    """A proxy before it, on an empty memory."""
    with proxied(opened(proxy_url=model.url), model) as one:
        yield one


def post(proxy: Proxied, body: Any, **headers: str) -> httpx2.Response:
    """A request by a plain client."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value.encode() for name, value in headers.items()}
    with httpx2.Client(trust_env=False, timeout=20.0, verify=NO_TLS) as client:
        return client.post(
            f"{proxy.url}/v1/chat/completions",
            content=content,
            headers={b"content-type": b"application/json", **{k.encode(): v for k, v in named.items()}},
        )


# ------------------------------------------------------------------------------------------------ memory in the prompt


def test_an_answer_comes_back_and_the_exchange_is_one_page(proxy: Proxied) -> None:
    proxy.model.reply_with("Good evening, Alice.")
    assert ask(proxy.client(), [user("Good evening.")]) == "Good evening, Alice."
    (page,) = proxy.owner().pages()
    assert [(u.role, u.speaker, u.text) for u in page.utterances] == [
        ("user", "alice", "Good evening."),
        ("assistant", "assistant", "Good evening, Alice."),
    ]
    assert page.thread.startswith("chat-")


def test_a_scope_limits_what_the_model_is_told_and_metadata_are_kept(proxy: Proxied) -> None:
    for food, desk in (("figs", "a"), ("plums", "b")):
        sent = {"metadata": {"desk": desk, "note": "x"}, "messages": [user(f"I like {food}.")], "model": "m"}
        assert post(proxy, sent, **{"x-ember-user": "alice"}).status_code == 200
    alice = proxy.memory.of("alice")
    assert [dict(one.metadata) for one in alice.utterances()] == [
        {"desk": desk, "note": "x"} for desk in ("a", "a", "b", "b")
    ]
    alice.settle()
    asked = {"model": "m", "messages": [user("What do I like?")]}
    scope = json.dumps({"metadata": {"desk": "a"}, "not_threads": ["none"]})
    assert post(proxy, asked, **{"x-ember-user": "alice", "x-ember-scope": scope}).status_code == 200
    told = str(proxy.shown())
    assert "figs" in told
    assert "plums" not in told


def test_what_other_conversations_of_the_user_held_is_told_unless_it_is_turned_off(proxy: Proxied) -> None:
    proxy.owner().add("My heron is called Bartholomew.", thread="long ago")
    question = [user("What is my heron called?")]
    ask(proxy.client(x_ember_memory="off", x_ember_store="off"), question)
    assert proxy.shown() == question
    ask(proxy.client(x_ember_store="off"), question)
    assert "Bartholomew" in str(proxy.shown()[0])
    assert len(proxy.owner().pages()) == 1
    ask(proxy.client(), [SYSTEM, user("What is my heron called?")])
    first, asked = proxy.shown()
    assert first == SYSTEM
    assert asked["role"] == "user"
    assert asked["content"].startswith(f"<{injected_blocks.MARK}")
    assert asked["content"].endswith(">\n\nWhat is my heron called?")
    assert "Bartholomew" in asked["content"]
    assert asked["content"].count(f"<{injected_blocks.MARK}") == 1


def test_memory_stands_in_the_newest_message_and_all_before_it_is_as_it_was_sent(proxy: Proxied) -> None:
    proxy.owner().add("My heron is called Bartholomew.", thread="long ago")
    history = [
        SYSTEM,
        user("Good evening."),
        assistant("Good evening, Alice."),
        {"role": "developer", "content": "Speak of birds."},
        user("What is my heron called?"),
    ]
    ask(proxy.client(), history)
    assert proxy.shown()[:-1] == history[:-1]
    assert "Bartholomew" in proxy.shown()[-1]["content"]
    assert texts(proxy.owner())[-1][-2] == "What is my heron called?"


def test_a_message_of_parts_gets_one_more_before_them(proxy: Proxied) -> None:
    proxy.owner().add("My heron is called Bartholomew.", thread="long ago")
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    parts = [{"type": "text", "text": "What is my heron called?"}, image]
    ask(proxy.client(), [SYSTEM, {"role": "user", "name": "alice", "content": parts}])
    first, asked = proxy.shown()
    assert first == SYSTEM
    assert (asked["role"], asked["name"], asked["content"][1:]) == ("user", "alice", parts)
    assert "Bartholomew" in asked["content"][0]["text"]


def test_with_each_result_of_a_tool_the_question_and_its_memory_are_sent_as_before(proxy: Proxied) -> None:
    """An agent sends its question again and again; a server's cache holds what was sent the same way before."""
    proxy.owner().add("My heron is called Bartholomew.", thread="long ago")
    history = [SYSTEM, user("What is my heron called?")]
    for number in range(3):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        post(proxy, {"model": "scripted", "user": "alice", "messages": history})
        history += [assistant(None, tool_calls=[call]), {"role": "tool", "tool_call_id": f"c{number}", "content": "-"}]
    shown = [proxy.shown(number) for number in range(3)]
    assert "Bartholomew" in shown[0][1]["content"]
    assert [one[:2] for one in shown] == [shown[0]] * 3
    assert [one[2:] for one in shown[1:]] == [history[2:4], history[2:6]]


def test_a_block_that_a_client_sends_back_is_no_part_of_what_is_stored(proxy: Proxied) -> None:
    proxy.owner().add("My heron is called Bartholomew.", thread="long ago")
    ask(proxy.client(), [user("What is my heron called?")])
    told = proxy.shown()[0]["content"]
    ask(proxy.client(), [user(told), assistant("Hello."), user("And my boat?")])
    assert sorted(text for page in texts(proxy.owner())[1:] for text in page if "heron" in text) == [
        "What is my heron called?"
    ]


def test_what_the_request_itself_holds_is_not_told_again(proxy: Proxied) -> None:
    client = proxy.client()
    history = [
        user("My heron is called Bartholomew."),
        assistant(ask(client, [user("My heron is called Bartholomew.")])),
    ]
    ask(client, [*history, user("What is my heron called?")])
    assert "Bartholomew" not in str(proxy.shown()[2:])
    assert proxy.shown()[0] == history[0]


def test_a_body_without_memory_reaches_the_model_as_it_was_sent_and_models_are_upstreams(proxy: Proxied) -> None:
    body = {"model": "scripted", "messages": [user("Hello.")]}
    answer = post(proxy, body)
    assert proxy.model.requests[-1] == body
    assert answer.headers["x-ember-memory"] == "empty"

    raw = b'{ "messages":[{"role":"user","content":"\\u0048i"}],\n "model":"scripted","top_p":1.00}'
    assert post(proxy, raw, x_ember_memory="off").status_code == 200
    assert proxy.model.requests[-1] == json.loads(raw)

    client = proxy.client()
    assert [one.id for one in client.models.list()] == ["scripted"]
    assert client.models.retrieve("scripted").id == "scripted"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("other")


def test_one_user_is_not_told_what_another_said(proxy: Proxied) -> None:
    proxy.owner("bob").add("My heron is called Bartholomew.")
    ask(proxy.client(), [user("What is my heron called?")])
    assert "Bartholomew" not in str(proxy.model.requests)
    assert texts(proxy.owner("bob")) == [["My heron is called Bartholomew."]]


def test_headers_name_owner_agent_and_thread_and_metadata_that_are_none_of_ours_are_passed_on(proxy: Proxied) -> None:
    body = {"model": "scripted", "messages": [user("Hello.")]}
    answer = post(proxy, body, x_ember_user="小明", x_ember_agent="老师", x_ember_thread="课程一")
    assert answer.headers["x-ember-thread"] == "课程一"
    (page,) = proxy.memory.of("小明", agent="老师").pages()
    assert page.thread == "课程一"
    post(proxy, {**body, "user": "eve"}, x_ember_user="小明")
    assert len(proxy.owner("eve").pages()) == 1
    post(proxy, body)
    assert len(proxy.owner("default").pages()) == 1

    odd = {"model": "m", "metadata": {"a b": "c"}, "messages": [{**user("Hi"), "metadata": 3}]}
    assert post(proxy, odd, **{"x-ember-user": "alice"}).status_code == 200
    assert [dict(one.metadata) for one in proxy.memory.of("alice").utterances()] == [{}, {}]


def test_chinese_is_kept_and_found(proxy: Proxied) -> None:
    proxy.model.reply_with("好的，我记住了。")
    client = proxy.client()
    assert "".join(streamed(client, [user("我的苍鹭叫小白，住在湿地公园。")])) == "好的，我记住了。"
    ask(client, [user("我的苍鹭叫什么名字？")])
    assert "小白" in proxy.shown()[-1]["content"]
    assert texts(proxy.owner())[0] == ["我的苍鹭叫小白，住在湿地公园。", "好的，我记住了。"]


def test_visits_are_counted_when_a_reply_comes(opened: Opener, model: ModelServer) -> None:
    memory = opened(proxy_url=model.url)
    alice = memory.of("alice")
    for number in range(12):
        alice.add(f"I planted tulip number {number} in the garden.", "Lovely.", thread="garden")
    alice.settle()
    with proxied(memory, model) as proxy:
        model.fail_next("http_500")
        with pytest.raises(openai.InternalServerError):
            ask(proxy.client(), [user("Which tulips did I plant?")])
        assert not any(segment.visits for segment in alice.segments())
        ask(proxy.client(), [user("Which tulips did I plant?")])
        for _ in range(500):  # the count follows the reply
            if any(segment.visits for segment in alice.segments()):
                return
            threading.Event().wait(0.01)
    raise AssertionError("no visit was counted")


# ------------------------------------------------------------------------------------------------ nothing else changed


def test_tools_images_and_unknown_fields_reach_the_model_as_they_were_sent(proxy: Proxied) -> None:
    proxy.owner().add("My heron is called Bartholomew.", thread="long ago")
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}}
    body: dict[str, Any] = {
        "model": "scripted",
        "user": "alice",
        "messages": [user([{"type": "text", "text": "Is this my heron?"}, image])],
        "tools": [tool],
        "tool_choice": "auto",
        "n": 1,
        "logprobs": True,
        "temperature": 0.10,
        "seed": 12345678901234567890123,
        "x_unknown": {"deep": [None, 1.0, "é\u0001"]},
    }
    post(proxy, body)
    seen = proxy.model.requests[-1]
    assert {k: v for k, v in seen.items() if k != "messages"} == {k: v for k, v in body.items() if k != "messages"}
    (asked,) = seen["messages"]
    assert asked["content"][1:] == body["messages"][0]["content"]
    assert "Bartholomew" in asked["content"][0]["text"]
    assert texts(proxy.owner())[-1] == ["Is this my heron?\n[image]", "Hello."]


def test_calls_of_tools_and_their_results_are_kept(proxy: Proxied) -> None:
    for name, stream in (("alice", False), ("bob", True)):
        client, asked = proxy.client(), user("Is it cold in Lyon?")
        proxy.model.reply_with(Call(name="weather", arguments='{"city": "Lyon"}'))
        more: dict[str, Any] = {"model": "scripted", "user": name, "messages": [asked], "stream": stream}
        if stream:
            names = [
                call.function.name
                for chunk in client.chat.completions.create(**more)
                for call in chunk.choices[0].delta.tool_calls or ()
                if call.function and call.function.name
            ]
            assert names == ["weather"]
        else:
            assert client.chat.completions.create(**more).choices[0].finish_reason == "tool_calls"
        call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Lyon"}'}}
        proxy.model.reply_with("Yes, 3 degrees.")
        ask(
            client,
            [asked, assistant(None, tool_calls=[call]), {"role": "tool", "tool_call_id": "c1", "content": "3 °C"}],
            user=name,
        )
        assert texts(proxy.owner(name)) == [
            ["Is it cold in Lyon?", '[tool call: weather({"city": "Lyon"})]', "3 °C", "Yes, 3 degrees."]
        ]


def test_a_block_of_ours_that_the_model_repeats_is_not_kept(proxy: Proxied) -> None:
    proxy.owner().add("I live in Lyon.", "Nice.", thread="old")

    def echo(request: dict[str, Any]) -> str:
        asked = str(request["messages"][-1]["content"])
        return asked[asked.index(f"<{injected_blocks.MARK}") :].removesuffix("Where do I live?") + "In Lyon."

    proxy.model.reply_with(echo)
    client = proxy.client()
    said = ask(client, [user("Where do I live?")])
    assert injected_blocks.MARK in said
    proxy.model.reply_with("Yes.")
    ask(client, [user("Where do I live?"), assistant(said), user("Sure?")])
    kept = [text for page in texts(proxy.owner())[1:] for text in page]
    assert [text.strip() for text in kept] == ["Where do I live?", "In Lyon.", "Sure?", "Yes."]


# --------------------------------------------------------------------------------------------------------- streams


def test_a_stream_comes_whole_and_is_kept(proxy: Proxied) -> None:
    proxy.model.reply_with("The heron stands in the reeds and waits.")
    for name, more in (("alice", {}), ("bob", {"stream_options": {"include_usage": True}})):
        came = "".join(streamed(proxy.client(), [user("Hello.")], user=name, **more))
        assert came == "The heron stands in the reeds and waits."
        assert texts(proxy.owner(name)) == [["Hello.", "The heron stands in the reeds and waits."]]


def test_the_first_piece_comes_while_the_model_still_talks(proxy: Proxied) -> None:
    proxy.model.reply_with("The heron stands in the reeds and waits.")
    proxy.model.fail_next("hang", midway=True)
    pieces = streamed(proxy.client(), [user("Hello.")])
    assert next(pieces) == "The h"
    pieces.close()


def test_upstreams_break_in_mid_stream_is_an_error_and_what_came_is_kept(proxy: Proxied) -> None:
    proxy.model.reply_with("The heron stands in the reeds and waits.")
    proxy.model.fail_next("disconnect")
    with pytest.raises(openai.APIError, match="connection was lost"):
        list(streamed(proxy.client(), [user("Hello.")]))
    ((asked, came),) = texts(proxy.owner())
    assert asked == "Hello."
    assert came.startswith("The heron")
    assert came.endswith("\n[broken off]")


# --------------------------------------------------------------------------------------------- upstream's own failures


def test_upstreams_refusals_come_back_as_they_are(proxy: Proxied) -> None:
    for kind, error in (
        ("http_401", openai.AuthenticationError),
        ("http_429", openai.RateLimitError),
        ("http_500", openai.InternalServerError),
    ):
        for stream in (False, True):
            detail = {"retry_after": 7} if kind == "http_429" else {}
            proxy.model.fail_next(kind, **detail)
            with pytest.raises(error) as raised:
                list(streamed(proxy.client(), [user("Hello.")])) if stream else ask(proxy.client(), [user("Hello.")])
            from embermem.testing.faults import STATUSES

            assert raised.value.body == STATUSES[kind][1]["error"], (kind, error, stream)
            if detail:
                assert raised.value.response.headers["retry-after"] == "7", (kind, error, stream)
            assert texts(proxy.owner()) == [["Hello."]], (kind, error, stream)


def test_a_request_that_upstream_or_a_scope_refuses_is_refused_and_nothing_kept(proxy: Proxied) -> None:
    for scope, said in (
        ("{", "X-Ember-Scope is not JSON"),
        ('{"tiers": ["x"]}', "scope.tiers holds"),
        ("3", "scope is int"),
    ):
        answer = post(proxy, {"model": "m", "messages": [user("Hi")]}, **{"x-ember-scope": scope})
        assert (answer.status_code, said in answer.json()["error"]["message"]) == (422, True), (scope, said)
        assert proxy.model.requests == [], (scope, said)
    for wrong in (
        b"no json",
        b'{"model": "scripted"}',
        b'{"model": "scripted", "messages": [{"role": "king"}]}',
        b"[]",
    ):
        answer = post(proxy, wrong)
        assert answer.status_code == 400
        assert answer.json()["error"]["type"] == "invalid_request_error"
    assert proxy.memory.owners() == ()


def test_an_upstream_that_is_late_or_not_there_or_not_set_is_an_error_that_says_so(
    opened: Opener, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.fail_next("hang")
    with proxied(opened(proxy_url=model.url, proxy_timeout_s=0.2), model) as proxy:
        with pytest.raises(openai.InternalServerError, match="in time") as raised:
            ask(proxy.client(), [user("Hello.")])
        assert raised.value.status_code == 504
        assert texts(proxy.owner()) == [["Hello."]]

    with ModelServer() as gone:
        url = gone.url
    with (
        proxied(opened("gone.db", proxy_url=url), model) as proxy,
        pytest.raises(openai.InternalServerError, match="cannot be reached") as absent,
    ):
        ask(proxy.client(), [user("Hello.")])
    assert absent.value.status_code == 502

    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with (
        proxied(opened("none.db"), model) as proxy,
        pytest.raises(openai.InternalServerError, match="EMBERMEM_PROXY_URL") as unset,
    ):
        ask(proxy.client(), [user("Hello.")])
    assert (unset.value.status_code, unset.value.code) == (503, "no_upstream")
    assert proxy.memory.owners() == ()


# ------------------------------------------------------------------------------------------------- failures of ours


def test_where_recall_fails_the_model_is_asked_without_memory(opened: Opener, model: ModelServer) -> None:
    with proxied(opened(proxy_url=model.url, max_text_chars=100), model) as proxy:
        proxy.owner("default").add("My heron is called Bartholomew.", thread="long ago")
        asked = [user("What is my heron called? " * 10)]
        answer = post(proxy, {"model": "scripted", "messages": asked})
        assert (answer.status_code, answer.headers["x-ember-memory"]) == (200, "unavailable")
        assert proxy.shown() == asked


def test_what_could_not_be_kept_is_kept_with_the_next_request(
    opened: Opener, model: ModelServer, tmp_path: Path
) -> None:
    memory = opened(proxy_url=model.url, busy_timeout_s=0.1)
    memory.of("alice").add("My heron is called Bartholomew.", thread="long ago")
    with proxied(memory, model) as proxy, closing(sqlite3.connect(tmp_path / "memory.db")) as other:
        ask(proxy.client(x_ember_store="off"), [user("Which heron?")])  # the store's key of markers is made
        other.execute("BEGIN IMMEDIATE")
        history = [user("What is my heron called?")]
        history.append(assistant(ask(proxy.client(), history)))
        assert "Bartholomew" in str(proxy.shown()[0])
        assert len(proxy.owner().pages()) == 1
        other.rollback()
        ask(proxy.client(), [*history, user("Sure?")])
        assert texts(proxy.owner())[1:] == [["What is my heron called?", "Hello."], ["Sure?", "Hello."]]


# ---------------------------------------------------------------------------------------------------------- keys


def test_a_foreign_key_is_refused_in_openais_form_and_one_of_ours_reaches_its_owners_only(
    opened: Opener, model: ModelServer
) -> None:
    with proxied(opened(proxy_url=model.url), model, require_keys=True) as proxy:
        for key in ("sk-foreign", "ember_wrong"):
            with pytest.raises(openai.AuthenticationError) as raised:
                ask(proxy.client(key), [user("Hello.")])
            assert raised.value.code == "unauthorized"
        with pytest.raises(openai.AuthenticationError):
            proxy.client("sk-foreign").models.list()
    assert model.calls == 0
    assert proxy.memory.owners() == ()

    memory = opened(proxy_url=model.url)
    _, reads = key_for(memory, "alice/*", read_only=True)
    _, writes = key_for(memory, "alice/*")
    memory.of("alice").add("My heron is called Bartholomew.", thread="long ago")
    with proxied(memory, model, require_keys=True) as proxy:
        for text, name in ((reads, "alice"), (writes, "bob")):
            with pytest.raises(openai.PermissionDeniedError):
                ask(proxy.client(text, x_ember_store="off"), [user("What is my heron called?")], user=name)
        ask(proxy.client(writes, x_ember_store="off"), [user("What is my heron called?")])
        assert "Bartholomew" in str(proxy.shown()[0])
    assert model.calls == 1
    assert writes not in str(model.authorizations)
    assert [owner.user for owner in memory.owners()] == ["alice"]
    assert memory.of("alice").stats().utterances == 1


def test_what_a_browser_would_run_comes_back_as_text_and_who_pays_is_said_with_the_clients_own_key_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for kind in ("text/html; charset=utf-8", "image/svg+xml", "application/javascript", ""):
        assert returned({"content-type": kind})["content-type"] == "text/plain; charset=utf-8", kind

    for authorization, passes in (("Bearer sk-mine", True), ("", False), ("Bearer ember_x", False)):
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        given = {"authorization": authorization}
        target = upstream(load(proxy_url="http://127.0.0.1:9/v1"), given, Server.OPENAI, require_keys=False)
        sent = target.headers([("openai-organization", "org-1"), ("openai-project", "p-1"), ("openai-beta", "x")])
        assert ("openai-organization" in sent, "openai-project" in sent) == (passes, passes), (authorization, passes)
        assert sent["openai-beta"] == "x", (authorization, passes)


def test_the_key_that_is_set_goes_to_its_own_host_alone_and_a_clients_own_where_none_is_set(
    proxy: Proxied, monkeypatch: pytest.MonkeyPatch, opened: Opener, model: ModelServer
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    ask(proxy.client("sk-mine"), [user("Hello.")])
    assert proxy.model.authorizations == ["Bearer sk-mine"]

    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    for number, (settings, sent) in enumerate(
        (
            ({"proxy_url": model.url, "proxy_key": "sk-set"}, "Bearer sk-set"),
            ({"model_url": model.url, "model_key": "sk-model"}, "Bearer sk-model"),
            ({"model_url": model.url}, "Bearer sk-of-openai"),
            ({"proxy_url": model.url, "model_url": "http://localhost:9/v1", "model_key": "sk-model"}, "Bearer none"),
        )
    ):
        with proxied(opened(f"{number}.db", **settings), model) as proxy:
            ask(proxy.client(), [user("Hello.")])
        assert model.authorizations[-1] == sent


def test_no_message_shows_the_key(opened: Opener) -> None:
    memory = opened(proxy_url="http://127.0.0.1:9", proxy_key="sk-secret")
    assert "sk-secret" not in repr(memory.settings)
    with pytest.raises(ConfigError) as raised:
        opened("other.db", proxy_key=5)
    assert "5" not in str(raised.value)
