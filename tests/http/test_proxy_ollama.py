"""Ollama's chat through the proxy, by Ollama's own client: streams of lines, tools, and what else is passed on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import ollama
import pytest
from proxying import Spoken, spoken, threads
from serving import NO_TLS, running

from embermem.core import injected_blocks
from embermem.testing.wire import Call
from scripted import Opener

HERON = "My heron is called Bartholomew."
ASKED = "What is my heron called?"


@pytest.fixture
def proxy(opened: Opener) -> Iterator[Spoken]:
    """A proxy on an empty memory."""
    with spoken(opened) as one:
        yield one


def user(content: str, **more: Any) -> dict[str, Any]:
    """A message of the user."""
    return {"role": "user", "content": content, **more}


def said(proxy: Spoken) -> list[list[str]]:
    """What each thread holds."""
    return list(threads(proxy.alice).values())


def test_a_chat_is_answered_with_memory_and_both_are_kept(opened: Opener) -> None:
    for number, stream in enumerate((False, True)):
        with spoken(partial(opened, f"{number}.db")) as proxy:
            proxy.alice.add(HERON, thread="long ago")
            proxy.model.script.says = "Bartholomew, as ever."
            messages = [{"role": "system", "content": "Be brief."}, user(ASKED)]
            if stream:
                came = "".join(one.message.content or "" for one in proxy.ollama.chat("m", messages, stream=True))
            else:
                came = proxy.ollama.chat("m", messages).message.content or ""
            assert came == "Bartholomew, as ever.", stream
            system, asked = proxy.model.last.body["messages"]
            assert system == messages[0], stream
            assert asked["content"].startswith(f"<{injected_blocks.MARK}"), stream
            assert asked["content"].endswith(f">\n\n{ASKED}"), stream
            assert said(proxy)[1:] == [[ASKED, "Bartholomew, as ever."]], stream


def test_calls_of_tools_and_their_results_are_kept_once(opened: Opener) -> None:
    for number, stream in enumerate((False, True)):
        with spoken(partial(opened, f"{number}.db")) as proxy:
            proxy.model.script.says = Call(name="weather", arguments='{"city": "Lyon", "unit": "°C"}')
            messages: list[Any] = [user("Is it cold in Lyon?")]
            if stream:
                calls = [
                    one
                    for part in proxy.ollama.chat("m", messages, stream=True)
                    for one in part.message.tool_calls or ()
                ]
                messages.append({"role": "assistant", "content": "", "tool_calls": [one.model_dump() for one in calls]})
            else:
                messages.append(proxy.ollama.chat("m", messages).message)
                calls = list(messages[-1].tool_calls)
            assert calls[0].function.arguments == {"city": "Lyon", "unit": "°C"}, stream
            proxy.model.script.says = "Yes, 3 degrees."
            proxy.ollama.chat("m", [*messages, {"role": "tool", "tool_name": "weather", "content": "3 °C"}])
            assert said(proxy) == [
                [
                    "Is it cold in Lyon?",
                    '[tool call: weather({"city": "Lyon", "unit": "°C"})]',
                    "3 °C",
                    "Yes, 3 degrees.",
                ]
            ], stream


def test_images_stay_and_are_named(proxy: Spoken) -> None:
    proxy.alice.add(HERON, thread="long ago")
    proxy.ollama.chat("m", [user(ASKED, images=["AAAA"])])
    asked = proxy.model.last.body["messages"][0]
    assert asked["images"] == ["AAAA"]
    assert "Bartholomew" in asked["content"]
    assert said(proxy)[1:] == [[f"{ASKED}\n[image]", "Hello."]]


def test_an_upstream_that_fails_in_mid_stream_is_an_error_and_what_came_is_kept(proxy: Spoken) -> None:
    proxy.model.script.says = "The heron stands in the reeds and waits."
    proxy.model.script.cut_after = 4
    with pytest.raises(ollama.ResponseError, match="connection was lost"):
        list(proxy.ollama.chat("m", [user("Hello.")], stream=True))
    ((asked, came),) = said(proxy)
    assert (asked, came) == ("Hello.", "The heron stands in the \n[broken off]")


def test_what_changes_no_models_or_cannot_be_read_is_passed_on_and_all_else_refused_in_ollamas_form(
    proxy: Spoken,
) -> None:
    client = proxy.ollama
    assert [one.model for one in client.list().models] == ["scripted"]
    assert client.generate("m", "Hi").response == "Hello."
    assert "".join(one.response or "" for one in client.generate("m", "Hi", stream=True)) == "Hello."
    assert client.embed("m", "Hi").embeddings == [[0.5, 1.0]]
    seen = len(proxy.model.script.requests)
    with pytest.raises(ollama.ResponseError, match="does not pass on /api/delete") as refused:
        client.delete("m")
    assert refused.value.status_code == 403
    assert len(proxy.model.script.requests) == seen
    assert proxy.memory.owners() == ()

    with proxy.http as plain:
        for given in (3, [3, None, {"role": "user"}, user("x", images=3) | {"content": 3}]):
            raw = json.dumps({"model": "m", "messages": given}).encode()
            plain.post("/api/chat", content=raw)
            assert proxy.model.last.raw == raw

    proxy.model.script.status = 429
    with pytest.raises(ollama.ResponseError, match="Slow down") as limited:
        proxy.ollama.chat("m", [user("Hello.")])
    assert limited.value.status_code == 429


def test_the_address_may_end_in_the_root_of_any_protocol(opened: Opener) -> None:
    with spoken(opened, proxy_ollama_url="") as proxy:
        assert proxy.ollama.chat("m", [user("Hello.")]).message.content == "Hello."
        for number, path in enumerate(("/v1", "/api", "")):
            memory = opened(f"{number}.db", proxy_ollama_url=f"{proxy.model.root}{path}/")
            with running(memory) as url:
                told = ollama.Client(url, trust_env=False, verify=NO_TLS).chat("m", [user("Hello.")])
            assert told.message.content == "Hello.", path
