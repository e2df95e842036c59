"""Pydantic AI's agents over a memory, with its own test models."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    RetryFeedbackPart,
    RetryInfo,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.models.test import TestModel

from embermem import Memory, OwnerMemory
from embermem.integrations.pydantic_ai import EmberMemory, add_messages, memory_toolset, messages_of

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "integrations" / "pydantic-ai.md"
AT = datetime(2026, 5, 1, 9, tzinfo=UTC)


def history() -> list[ModelMessage]:
    """One message of each shape that a run makes."""
    call = ToolCallPart("weather", {"city": "Lyon"}, tool_call_id="c1")
    return [
        ModelRequest(
            [SystemPromptPart("Be brief.", timestamp=AT), UserPromptPart("Is it warm in Lyon?", timestamp=AT)]
        ),
        ModelResponse([ThinkingPart("I should look.", signature="s"), call], model_name="m", timestamp=AT),
        ModelRequest([ToolReturnPart("weather", {"celsius": 31}, tool_call_id="c1", timestamp=AT)], timestamp=AT),
        ModelResponse([TextPart("Yes, 31 degrees.")], timestamp=AT),
        ModelRequest([RetryFeedbackPart("Say it in words.", retry=RetryInfo("model_retry"), timestamp=AT)]),
        ModelRequest(
            [
                UserPromptPart(
                    ["And this?", ImageUrl("https://e.org/a.png"), BinaryContent(b"\x00\xff", media_type="image/png")],
                    timestamp=AT,
                )
            ],
            instructions="Be kind.",
        ),
    ]


class Model:
    """Answers with a text, and keeps what it was sent."""

    def __init__(self, answer: str = "I see.") -> None:
        self.answer = answer
        self.sent: list[list[ModelMessage]] = []

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.sent.append(list(messages))
        return ModelResponse([TextPart(self.answer)])

    def prompts(self) -> list[str]:
        """The user's prompts in the last request."""
        parts = [part for message in self.sent[-1] for part in message.parts]
        return [str(part.content) for part in parts if isinstance(part, UserPromptPart)]


def test_messages_come_back_as_they_were(alice: OwnerMemory) -> None:
    add_messages(alice, history()[:3])
    add_messages(alice, history()[3:])
    expected = ModelMessagesTypeAdapter.dump_json(history())
    assert ModelMessagesTypeAdapter.dump_json(messages_of(alice)) == expected
    assert messages_of(alice) == ModelMessagesTypeAdapter.validate_json(expected)
    assert messages_of(alice, last=2) == messages_of(alice)[-2:]
    assert messages_of(alice, thread="other") == []


def test_the_memory_reads_what_was_said_and_no_instructions(alice: OwnerMemory) -> None:
    add_messages(alice, history())
    texts = [one.text for one in alice.utterances()]
    assert texts[0] == "Is it warm in Lyon?"
    assert texts[1] == '[tool call: weather({"city":"Lyon"})]'
    assert '"celsius":31' in texts[2]
    assert texts[3] == "Yes, 31 degrees."
    assert texts[5].startswith("And this?\n[image: https://e.org/a.png]\n[file: ")
    assert {one.said_at for one in alice.utterances()[1:4]} == {AT}
    for hidden in ("Be brief", "I should look", "Be kind"):
        assert not any(hidden in text for text in texts)


def test_no_messages_are_none(alice: OwnerMemory) -> None:
    assert add_messages(alice, []) is None


def test_a_repeated_key_adds_nothing(alice: OwnerMemory) -> None:
    add_messages(alice, history(), key="turn 1")
    add_messages(alice, history(), key="turn 1")
    assert len(messages_of(alice)) == len(history())


def test_messages_that_are_forgotten_are_not_in_the_history(alice: OwnerMemory) -> None:
    add_messages(alice, history())
    alice.forget(thread="main")
    assert messages_of(alice) == []


def test_an_agent_remembers_from_run_to_run(alice: OwnerMemory) -> None:
    model = Model()
    agent = Agent(FunctionModel(model))
    agent.run_sync("My heron is called Zephyrine.", capabilities=[EmberMemory(alice, thread="one")])
    assert model.prompts() == ["My heron is called Zephyrine."]
    result = agent.run_sync("What is my heron called?", capabilities=[EmberMemory(alice, thread="two")])
    shown, asked = model.prompts()
    assert "Zephyrine" in shown
    assert asked == "What is my heron called?"
    assert "Zephyrine" not in str(result.all_messages())
    assert [page.query for page in alice.pages()] == ["My heron is called Zephyrine.", "What is my heron called?"]
    assert messages_of(alice, thread="two") == result.all_messages()


def test_what_the_history_shows_is_not_recalled_again(alice: OwnerMemory) -> None:
    model = Model()
    agent = Agent(FunctionModel(model), capabilities=[EmberMemory(alice, tools=False)])
    first = agent.run_sync("My heron is called Zephyrine.")
    agent.run_sync("What is my heron called?", message_history=first.all_messages())
    assert sum(prompt.count("My heron is called Zephyrine.") for prompt in model.prompts()) == 1


def test_a_streamed_run_is_added_when_it_is_over(alice: OwnerMemory) -> None:
    alice.add("My heron is called Zephyrine.", thread="before")
    sent: list[list[ModelMessage]] = []

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> Any:
        sent.append(list(messages))
        for piece in ("She is ", "Zephyrine."):
            yield piece

    async def run() -> str:
        agent = Agent(FunctionModel(stream_function=stream), capabilities=[EmberMemory(alice)])
        async with agent.run_stream("What is my heron called?") as result:
            return "".join([piece async for piece in result.stream_text(delta=True)])

    assert asyncio.run(run()) == "She is Zephyrine."
    assert "Zephyrine" in str(sent[0])
    assert alice.pages()[-1].response == "She is Zephyrine."
    assert len(messages_of(alice)) == 2


def test_a_run_that_is_left_keeps_what_was_said(alice: OwnerMemory) -> None:
    async def stream(messages: list[ModelMessage], info: AgentInfo) -> Any:
        said = str(messages[-1].parts[-1].content)  # type: ignore[union-attr]
        if "fail" in said:
            raise RuntimeError("no answer")
        if "look" in said:
            yield {0: DeltaToolCall("remember", '{"text": "I wa')}
        for piece in ("She is ", "Zephyrine."):
            yield piece
            await asyncio.sleep(0)

    agent = Agent(FunctionModel(stream_function=stream), capabilities=[EmberMemory(alice)])

    async def leave(said: str, error: type[BaseException] | None = None) -> None:
        async with agent.run_stream(said, message_history=messages_of(alice)) as result:
            async for _ in result.stream_text(delta=True):
                if error is not None:
                    raise error
                break

    async def run() -> None:
        await leave("I keep a heron.")
        with pytest.raises(LookupError):
            await leave("I live in Lyon.", LookupError)
        with pytest.raises(RuntimeError, match="no answer"):
            await leave("Please fail.")
        async with agent.run_stream_events("I look around.") as events:
            async for _ in events:
                break

    asyncio.run(run())
    said = [page.query for page in alice.pages()]
    assert said == ["I keep a heron.", "I live in Lyon.", "I look around."]
    assert "She is" in alice.pages()[0].response
    model = Model()
    Agent(FunctionModel(model)).run_sync("And?", message_history=messages_of(alice))
    assert model.prompts()[:2] == said[:2]


def test_every_request_of_a_run_begins_alike(alice: OwnerMemory) -> None:
    alice.add("My heron is called Zephyrine.", thread="before")
    sent: list[list[ModelMessage]] = []

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        sent.append(list(messages))
        if len(sent) == 1:
            return ModelResponse(
                [
                    ToolCallPart("search_memory", {"query": "heron"}),
                    ToolCallPart("remember", {"text": "I have two herons."}),
                ]
            )
        return ModelResponse([TextPart("Zephyrine.")])

    agent = Agent(FunctionModel(model), capabilities=[EmberMemory(alice)])
    assert agent.run_sync("What is my heron called?").output == "Zephyrine."
    assert sent[1][0] == sent[0][0]
    returned = [part for part in sent[1][-1].parts if isinstance(part, ToolReturnPart)]
    assert "Zephyrine" in str(returned[0].content)
    assert returned[1].content == "Remembered."
    assert "I have two herons." in [page.query for page in alice.pages()]
    kept = [part for message in messages_of(alice) for part in message.parts if isinstance(part, ToolReturnPart)]
    assert "Zephyrine" not in str(kept[0].content)  # a recalled context is not stored again


def test_the_tools_are_described_to_the_model(alice: OwnerMemory) -> None:
    model = TestModel(call_tools=[])
    Agent(model, toolsets=[memory_toolset(alice)]).run_sync("Hello")
    parameters = model.last_model_request_parameters
    assert parameters is not None
    tools = {tool.name: tool for tool in parameters.function_tools}
    assert set(tools) == {"search_memory", "remember"}
    assert tools["remember"].parameters_json_schema["required"] == ["text"]
    assert "own words" in (tools["remember"].description or "")


def test_tools_called_by_pydantic_s_test_model(alice: OwnerMemory) -> None:
    result = Agent(TestModel(), toolsets=[memory_toolset(alice)]).run_sync("Hello")
    assert "Remembered." in result.output


def test_two_users_have_nothing_of_each_other(memory: Memory) -> None:
    model = Model()
    agent = Agent(FunctionModel(model))
    agent.run_sync("My heron is called Zephyrine.", capabilities=[EmberMemory(memory.of("alice"))])
    agent.run_sync("What is my heron called?", capabilities=[EmberMemory(memory.of("bob"), thread="two")])
    assert "Zephyrine" not in str(model.sent[-1])


def test_the_page_s_example_runs_as_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EMBERMEM_EMBEDDER", "hashed")
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(example, str(PAGE), "exec"), {"__name__": "__main__"})
