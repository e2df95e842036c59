"""Shared spaces through the other faces: chat, the async one, tools of MCP."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from typing import Any

import pytest
from mcp import Client

from embermem import AsyncMemory, Memory, OwnerMemory
from embermem.core.errors import NotGranted
from embermem.mcp.server import make_server
from embermem.testing.model_server import ModelServer
from scripted import SMALL, Clock, Opener, Place


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model that says hello."""
    with ModelServer() as one:
        yield one


def calls() -> dict[str, dict[str, Any]]:
    """Every public method of a handle, with arguments that it needs."""
    known = {"segment": None, "earlier": "2026-01-01", "change_no": 1, "no": 1}
    return {
        name: {
            one.name: known.get(one.name, "x")
            for one in [*inspect.signature(method).parameters.values()][1:]
            if one.default is one.empty and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
        }
        for name, method in inspect.getmembers(OwnerMemory, inspect.isfunction)
        if not name.startswith("_")
    }


def filled(memory: Memory) -> Memory:
    """With a space that alice may read."""
    memory.space("team").add("The deploy happens every Friday.")
    memory.grant("team", user="alice")
    return memory


def test_a_chat_is_shown_the_space_and_keeps_all_in_the_own_memory(opened: Opener, server: ModelServer) -> None:
    memory = filled(opened(model="scripted", model_url=server.url, model_retries=0))
    alice = memory.of("alice", shares=["team"])
    alice.chat("When is the deploy?")
    prompt = server.requests[-1]["messages"][-1]["content"]
    assert "shared memory of team:" in prompt
    assert "#1 team: The deploy happens every Friday." in prompt
    assert [page.query for page in alice.pages()] == ["When is the deploy?"]
    assert len(memory.space("team").pages()) == 1
    alice.chat("And who runs it?")  # #1 of the own memory is a turn by now, #1 of the space is not
    prompt = server.requests[-1]["messages"][-1]["content"]
    assert "#1 team: The deploy happens every Friday." in prompt
    assert "#1 alice" not in prompt
    asked = server.calls
    memory.revoke("team", user="alice")
    with pytest.raises(NotGranted):
        alice.chat("When is the deploy?")
    assert server.calls == asked


def test_what_ember_put_into_a_prompt_is_taken_out_of_what_comes_back(opened: Opener) -> None:
    memory = filled(opened())
    alice = memory.of("alice", shares=["team"])
    shown = memory.marked(alice.recall("When is the deploy?").text)
    alice.add(f"{shown}\nI know that now.")
    assert "Friday" not in (alice.pages()[0].query or "")


def test_the_async_face_binds_reads_and_refuses(place: Place) -> None:
    async def use() -> None:
        async with AsyncMemory(place(), **SMALL, clock=Clock()) as memory:
            await memory.space("team").add("The deploy happens every Friday.")
            early = memory.of("alice", shares=["team"])
            with pytest.raises(NotGranted):
                await early.recall("deploy")
            await memory.grant("team", user="alice", write=True)
            alice = memory.of("alice", shares=["team"])
            assert "Friday" in (await alice.recall("When is the deploy?")).text
            assert "Friday" in (await early.recall("When is the deploy?")).text
            await alice.shared["team"].add("I moved it to Monday.")
            assert [one.speaker for one in await alice.shared["team"].utterances()] == ["team", "alice"]
            assert (await memory.spaces(), len(await memory.grants("team"))) == (("team",), 1)
            await memory.revoke("team", user="alice")
            with pytest.raises(NotGranted):
                await alice.recall("deploy")
            for name, given in calls().items():
                asked = getattr(alice.shared["team"], name)(**given)
                with pytest.raises(NotGranted):
                    await (anext(asked) if name == "watch" else asked)
            coach = memory.of("alice", "coach")
            await coach.add("I have a dog named Tofu.")
            await coach.settle()
            await coach.share_person_with("tutor")
            told = await memory.of("alice", "tutor", person_from="coach").recall("my dog")
            assert "Tofu" in told.text

    asyncio.run(use())


def test_the_tools_tell_from_which_space_something_is(opened: Opener) -> None:
    memory = filled(opened())
    memory.of("alice", "tutor").add("I deploy boats on Sunday.")

    async def ask(tool: str, **given: Any) -> Any:
        async with Client(make_server(memory, "alice", "tutor", shares=["team"])) as client:
            return await client.call_tool(tool, given)

    recalled = asyncio.run(ask("retrieve_memory", query="When is the deploy?"))
    assert {one["space"] for one in recalled.structured_content["sources"]} == {None, "team"}
    assert "team #1 u" in recalled.content[0].text
    found = asyncio.run(ask("search_memory", query="deploy"))
    assert {one["space"] for one in found.structured_content["results"]} == {None, "team"}
    asyncio.run(ask("add_memory", user_input="I like tea."))
    assert len(memory.space("team").pages()) == 1
    with pytest.raises(NotGranted):
        make_server(memory, "bob", shares=["team"])
    memory.of("bob")
    revoked = make_server(memory, "alice", "tutor", shares=["team"])
    memory.revoke("team", user="alice")

    async def refused() -> Any:
        async with Client(revoked) as client:
            return [await client.call_tool(t, {"query": "deploy"}) for t in ("retrieve_memory", "search_memory")]

    assert all(one.is_error and "Friday" not in str(one.content) for one in asyncio.run(refused()))
