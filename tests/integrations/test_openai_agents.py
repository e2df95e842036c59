"""OpenAI's Agents SDK with a memory: sessions, tools and what is recalled, run by the SDK itself."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Coroutine
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest
from agents import Agent, RunConfig, Runner, SessionSettings, function_tool
from agents.memory.session import Session, SessionABC
from agents.testing import ScriptedModel, assistant_message, function_call
from hypothesis import given, settings
from hypothesis import strategies as st
from serving import running

from embermem import Memory, OwnerMemory
from embermem.client import Client
from embermem.integrations.openai_agents import EmberSession, memory_tools, recalling
from forked import script
from scripted import SMALL, Clock, Opener

_T = TypeVar("_T")
QUIET = RunConfig(tracing_disabled=True)

ITEMS: list[Any] = [
    {"role": "user", "content": "I live in Lyon and keep a heron."},
    {
        "type": "message",
        "role": "user",
        "content": [
            {"type": "input_text", "text": "See:"},
            {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,iVBOR"},
            {"type": "input_file", "filename": "lease.pdf", "file_data": "JVBER"},
        ],
    },
    {
        "id": "rs_1",
        "type": "reasoning",
        "summary": [],
        "content": None,
        "encrypted_content": "gAAAAAB" * 50,
    },
    {
        "id": "fc_1",
        "type": "function_call",
        "call_id": "c1",
        "name": "weather",
        "arguments": '{"place":"Lyon"}',
        "status": "completed",
    },
    {"type": "function_call_output", "call_id": "c1", "output": "Sunny in Lyon"},
    {
        "type": "function_call_output",
        "call_id": "c2",
        "output": [{"type": "input_text", "text": "Rain"}, {"type": "input_image", "image_url": "data:x"}],
    },
    {
        "id": "cu_1",
        "type": "computer_call",
        "call_id": "c3",
        "action": {"type": "click", "x": 1, "y": 2, "button": "left"},
        "pending_safety_checks": [],
        "status": "completed",
    },
    {
        "type": "computer_call_output",
        "call_id": "c3",
        "output": {"type": "computer_screenshot", "image_url": "data:image/png;base64,AAAA"},
    },
    {"id": "fs_1", "type": "file_search_call", "queries": ["rent of the flat"], "status": "completed", "results": None},
    {
        "id": "ws_1",
        "type": "web_search_call",
        "status": "completed",
        "action": {"type": "search", "query": "herons of Lyon"},
    },
    {
        "id": "mcp_1",
        "type": "mcp_call",
        "server_label": "s",
        "name": "find",
        "arguments": "{}",
        "output": "A purple heron",
        "error": None,
    },
    {
        "id": "ml_1",
        "type": "mcp_list_tools",
        "server_label": "s",
        "tools": [{"name": "find", "input_schema": {"type": "object"}}],
    },
    {"id": "ig_1", "type": "image_generation_call", "status": "completed", "result": "iVBORw0KGgo="},
    {
        "id": "ci_1",
        "type": "code_interpreter_call",
        "code": "1+1",
        "container_id": "k",
        "outputs": [{"type": "logs", "logs": "2"}],
        "status": "completed",
    },
    {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "It is sunny.", "annotations": [], "logprobs": []}],
    },
    {"role": "system", "content": "Be brief."},
    {"role": "developer", "content": "Be kind."},
]


@pytest.fixture
def memory(opened: Opener, clock: Clock) -> Memory:
    """Its time goes on with each look at the clock."""

    def now() -> datetime:
        clock.go(0.001)
        return clock()

    return opened(clock=now)


@pytest.fixture
def alice(memory: Memory) -> OwnerMemory:
    return memory.of("alice")


def run(coroutine: Coroutine[Any, Any, _T]) -> _T:
    return asyncio.run(coroutine)


def said(model: ScriptedModel, call: int = -1) -> Any:
    return model.calls[call].input


# ------------------------------------------------------------------------------------------------------------ sessions


def test_items_of_every_kind_come_back_exactly_and_in_order_and_their_words_are_found(alice: OwnerMemory) -> None:
    session = EmberSession(alice, "s1")
    assert isinstance(session, SessionABC)
    assert isinstance(session, Session)

    async def kept() -> None:
        given_items = copy.deepcopy(ITEMS)
        for place in range(0, len(ITEMS), 4):
            await session.add_items(given_items[place : place + 4])
        await session.add_items([])
        assert given_items == ITEMS
        assert repr(await session.get_items()) == repr(ITEMS)
        assert await session.get_items(3) == ITEMS[-3:]
        assert await session.get_items(0) == []
        assert await session.get_items(-1) == await session.get_items(10**6) == ITEMS
        assert await EmberSession(alice, "s2").get_items() == []
        limited = EmberSession(alice, "s1", session_settings=SessionSettings(limit=2))
        assert await limited.get_items() == ITEMS[-2:]
        assert await limited.get_items(5) == ITEMS[-5:]

    run(kept())
    texts = [one.text for one in alice.utterances() if one.text]
    assert texts == [
        "I live in Lyon and keep a heron.",
        "See:\n[image]\n[file: lease.pdf]",
        '[tool call: weather({"place":"Lyon"})]',
        "Sunny in Lyon",
        "Rain\n[image]",
        "[tool call: file_search(rent of the flat)]",
        "[tool call: web_search(herons of Lyon)]",
        "A purple heron\n[tool call: find({})]",
        "It is sunny.",
        "Be brief.",
        "Be kind.",
    ]
    assert "heron" in alice.recall("What animal do I keep?").text


def test_an_item_that_is_popped_is_forgotten_and_all_else_stays(memory: Memory, alice: OwnerMemory) -> None:
    session = EmberSession(alice, "s1")

    async def popped() -> None:
        assert await session.pop_item() is None
        items = [*ITEMS[:4], ITEMS[2], ITEMS[14]]
        await session.add_items(copy.deepcopy(items))
        alice.settle()
        for left in range(len(items), 0, -1):
            assert await session.pop_item() == items[left - 1]
            assert await session.get_items() == items[: left - 1]
        assert await session.pop_item() is None

    run(popped())
    assert [one for one in memory.check(deep=True) if one.level == "error"] == []
    assert [one.text for one in alice.utterances() if one.text] == []


def test_what_stays_of_a_page_is_learnt_and_the_popped_words_are_gone(alice: OwnerMemory) -> None:
    session = EmberSession(alice, "s1")
    answer = {"role": "assistant", "content": "Zanzibaresque."}

    async def popped() -> None:
        await session.add_items([cast("Any", {"role": "user", "content": "I live in Lyon."}), cast("Any", answer)])
        alice.settle()
        assert await session.pop_item() == answer
        alice.settle()

    run(popped())
    assert [fact.value for fact in alice.facts()] == ["Lyon"]
    assert [(page.query, page.response) for page in alice.pages()] == [("I live in Lyon.", "")]
    assert "Zanzibaresque" not in "".join(str(change) for change in alice.changes())


def test_a_session_that_is_cleared_is_forgotten_and_another_is_not(alice: OwnerMemory) -> None:
    one, other = EmberSession(alice, "s1"), EmberSession(alice, "s2")

    async def cleared() -> None:
        await one.clear_session()
        await one.add_items(copy.deepcopy(ITEMS))
        await other.add_items(copy.deepcopy(ITEMS[:2]))
        await one.clear_session()
        assert (await one.get_items(), await other.get_items()) == ([], ITEMS[:2])
        await one.add_items(copy.deepcopy(ITEMS[:1]))
        assert await one.get_items() == ITEMS[:1]

    run(cleared())


@settings(max_examples=10)
@given(actions=st.lists(st.sampled_from(["pop", "clear", *range(len(ITEMS))]), max_size=12))
def test_a_session_is_a_list_of_items(actions: list[str | int]) -> None:
    async def checked(session: EmberSession) -> None:
        expected: list[Any] = []
        for action in actions:
            if isinstance(action, int):
                await session.add_items([copy.deepcopy(ITEMS[action])])
                expected.append(ITEMS[action])
            elif action == "pop":
                assert await session.pop_item() == (expected.pop() if expected else None)
            else:
                await session.clear_session()
                expected = []
            assert await session.get_items() == expected

    clock = Clock()

    def now() -> datetime:
        clock.go(0.001)
        return clock()

    with Memory(":memory:", **SMALL, clock=now) as memory:
        run(checked(EmberSession(memory.of("alice"), "s1")))


APPENDER = """
import asyncio, sys
from embermem import Memory
from embermem.integrations.openai_agents import EmberSession
async def main():
    with Memory(sys.argv[1], embedder="hashed", background=False, busy_timeout_s=60.0) as memory:
        session = EmberSession(memory.of("alice"), "s1")
        for n in range(10):
            asked = {"role": "user", "content": f"{sys.argv[2]} {n}"}
            await session.add_items([asked, {"role": "assistant", "content": f"Yes {n}"}])
asyncio.run(main())
"""


def test_two_processes_append_to_one_session_and_nothing_is_lost_or_out_of_order(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    Memory(file, **SMALL).close()
    for one in [script(APPENDER, str(file), name) for name in ("a", "b")]:
        assert (one.communicate(), one.returncode) == (("", ""), 0)
    with Memory(file, **SMALL) as memory:
        items = run(EmberSession(memory.of("alice"), "s1").get_items())
    spoken = [cast("Any", one)["content"] for one in items]
    for name in ("a", "b"):
        assert [one for one in spoken if one.startswith(name)] == [f"{name} {n}" for n in range(10)]
    pairs = list(zip(spoken[::2], spoken[1::2], strict=True))
    assert all(asked.split()[1] == answer.split()[1] for asked, answer in pairs)


def test_a_session_works_over_http_too(memory: Memory) -> None:
    with running(memory) as url, Client(url) as client:
        session = EmberSession(cast("Any", client.of("alice")), "s1")

        async def used() -> None:
            await session.add_items(copy.deepcopy(ITEMS))
            assert await session.get_items() == ITEMS
            assert await session.pop_item() == ITEMS[-1]
            assert await session.get_items(2) == ITEMS[-3:-1]
            await session.clear_session()
            assert await session.get_items() == []

        run(used())


# ---------------------------------------------------------------------------------------------------------- the runner


def test_a_run_with_a_session_goes_on_where_the_last_one_ended(alice: OwnerMemory) -> None:
    session = EmberSession(alice, "s1")
    model = ScriptedModel([[assistant_message("Hello Ana.")], [assistant_message("You are Ana.")]])
    agent = Agent(name="tutor", model=model)
    assert run(Runner.run(agent, "My name is Ana.", session=session, run_config=QUIET)).final_output == "Hello Ana."
    assert run(Runner.run(agent, "Who am I?", session=session, run_config=QUIET)).final_output == "You are Ana."
    assert [one.get("content") for one in said(model) if one.get("role") == "user"] == ["My name is Ana.", "Who am I?"]
    assert [(page.query, page.response) for page in alice.pages()] == [
        ("My name is Ana.", "Hello Ana."),
        ("Who am I?", "You are Ana."),
    ]


def test_tools_streaming_and_handoffs_run_for_real(alice: OwnerMemory) -> None:
    alice.add("I keep a heron called Bartholomew.", "A fine name.", thread="before")

    @function_tool
    def weather(place: str) -> str:
        """The weather of a place."""
        return f"Sunny in {place}"

    helper_model = ScriptedModel([[assistant_message("Bartholomew is fine.")]])
    helper = Agent(name="helper", model=helper_model)
    model = ScriptedModel(
        [
            [function_call("search_memory", {"query": "What is the heron called?"}, call_id="c1")],
            [function_call("weather", {"place": "Lyon"}, call_id="c2")],
            [function_call("remember", {"text": "I am allergic to nuts."}, call_id="c3")],
            [function_call("transfer_to_helper", {}, call_id="c4")],
        ]
    )
    session = EmberSession(alice, "s1")
    agent = Agent(name="tutor", model=model, tools=[*memory_tools(alice), weather], handoffs=[helper])

    async def streamed() -> Any:
        result = Runner.run_streamed(agent, "How is my heron?", session=session, run_config=QUIET)
        async for _ in result.stream_events():
            pass
        return result.final_output

    assert run(streamed()) == "Bartholomew is fine."
    outputs = [one["output"] for one in said(helper_model) if one.get("type") == "function_call_output"]
    assert "Bartholomew" in outputs[0]
    assert outputs[1:3] == ["Sunny in Lyon", "Remembered."]
    kept = run(session.get_items())
    calls = [cast("Any", one)["call_id"] for one in kept if cast("Any", one).get("type") == "function_call"]
    assert calls == ["c1", "c2", "c3", "c4"]
    assert [page.query for page in alice.pages(thread="remembered")] == ["I am allergic to nuts."]
    told = [one.text for one in alice.utterances() if one.thread == "s1" and "called Bartholomew" in one.text]
    assert told == []  # what Ember told the model is not kept again


def test_what_is_recalled_is_shown_before_the_newest_message_and_kept_nowhere(alice: OwnerMemory) -> None:
    alice.add("I keep a heron called Bartholomew.", "A fine name.", thread="before")
    session = EmberSession(alice, "s1")
    model = ScriptedModel([[assistant_message("Hello.")], [assistant_message("Bartholomew.")]])
    agent = Agent(name="tutor", model=model, instructions="Be brief.")
    config = RunConfig(tracing_disabled=True, call_model_input_filter=recalling(alice, thread="s1"))
    run(Runner.run(agent, "Good morning.", session=session, run_config=config))
    run(Runner.run(agent, "What is my heron called?", session=session, run_config=config))
    shown = said(model)
    assert [one["role"] for one in shown] == ["user", "assistant", "system", "user"]
    assert "Bartholomew" in shown[2]["content"]
    assert "Good morning." not in shown[2]["content"]  # the prompt holds it already
    assert model.calls[-1].system_instructions == "Be brief."
    assert [cast("Any", one)["role"] for one in run(session.get_items())] == ["user", "assistant", "user", "assistant"]


def test_where_nothing_is_recalled_the_prompt_is_as_it_was(alice: OwnerMemory) -> None:
    model = ScriptedModel([[assistant_message("Hello.")]])
    config = RunConfig(tracing_disabled=True, call_model_input_filter=recalling(alice))
    run(Runner.run(Agent(name="tutor", model=model), "Good morning.", run_config=config))
    assert said(model) == [{"role": "user", "content": "Good morning."}]
