"""Microsoft Agent Framework's agents over a memory, with a scripted chat client."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Coroutine, Sequence
from pathlib import Path
from typing import Any

import pytest
from agent_framework import (
    Agent,
    BaseChatClient,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    HistoryProvider,
    InMemoryHistoryProvider,
    Message,
)

from embermem import Memory, OwnerMemory
from embermem.core.errors import InputError
from embermem.integrations.agent_framework import EmberContextProvider, EmberHistoryProvider, memory_tools

PAGE = Path(__file__).parents[3] / "docs" / "guides" / "integrations" / "agent-framework.md"


class Scripted(FunctionInvocationLayer[Any], BaseChatClient[Any]):
    """Answers with contents in order, whole or as a stream, and keeps what it was sent."""

    def __init__(self, *answers: str | Content) -> None:
        super().__init__()
        self.answers = list(answers)
        self.sent: list[list[Message]] = []

    def _inner_get_response(self, *, messages: Sequence[Message], stream: bool, options: Any, **kwargs: Any) -> Any:
        self.sent.append(list(messages))
        answer = self.answers.pop(0)

        async def whole() -> ChatResponse:
            return ChatResponse(messages=[Message("assistant", [answer])])

        async def pieces() -> AsyncIterator[ChatResponseUpdate]:
            for piece in str(answer).partition(" "):
                yield ChatResponseUpdate(role="assistant", contents=[Content.from_text(piece)])

        return self._build_response_stream(pieces()) if stream else whole()


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)


def shown(client: Scripted) -> str:
    """The texts of the last request."""
    return " | ".join(message.text for message in client.sent[-1])


def history() -> list[Message]:
    call = Content.from_function_call("1", "weather", arguments={"city": "Lyon"})
    return [
        Message("user", ["Is it warm?", Content.from_data(b"\x00\xff", "image/png")], message_id="m1"),
        Message("assistant", [Content.from_text_reasoning(text="I look."), call], author_name="Tutor"),
        Message("tool", [Content.from_function_result("1", result="31 degrees")]),
        Message("assistant", ["Yes."], additional_properties={"a": [1, None]}),
    ]


@pytest.mark.parametrize(
    "made", [EmberHistoryProvider, lambda _: InMemoryHistoryProvider()], ids=["ember", "in-memory"]
)
def test_a_history_gives_back_what_it_saved(made: Any, alice: OwnerMemory) -> None:
    provider: HistoryProvider = made(alice)
    state: dict[str, Any] = {}

    async def saved() -> list[Message]:
        await provider.save_messages("s1", history()[:2], state=state)
        await provider.save_messages("s1", history()[2:], state=state)
        await provider.save_messages("s1", [], state=state)
        kept: list[Message] = await provider.get_messages("s1", state=state)
        return kept

    assert [one.to_dict() for one in run(saved())] == [one.to_dict() for one in history()]
    assert run(provider.get_messages("s2", state={})) == []


def test_the_memory_reads_what_was_said(alice: OwnerMemory) -> None:
    run(EmberHistoryProvider(alice).save_messages("s1", history()))
    assert [(one.role.value, one.text) for one in alice.utterances()] == [
        ("user", "Is it warm?\n[file: image/png]"),
        ("assistant", '[tool call: weather({"city": "Lyon"})]'),
        ("tool", "31 degrees"),
        ("assistant", "Yes."),
    ]
    assert {one.thread for one in alice.utterances()} == {"s1"}


def test_messages_without_a_session_are_in_the_main_thread(alice: OwnerMemory) -> None:
    run(EmberHistoryProvider(alice).save_messages(None, history()))
    assert {one.thread for one in alice.utterances()} == {"main"}
    assert len(run(EmberHistoryProvider(alice).get_messages(None))) == len(history())


def test_a_message_that_cannot_be_kept_is_refused(alice: OwnerMemory) -> None:
    with pytest.raises(InputError):
        run(EmberHistoryProvider(alice).save_messages("s1", [Message("user", ["x" * 1_000_001])]))


def test_an_agent_remembers_from_session_to_session(memory: Memory) -> None:
    client = Scripted("A fine name.", "She is Zephyrine.", "I do not know.")

    def agent(user: str) -> Agent:
        owner = memory.of(user)
        return Agent(client, context_providers=[EmberHistoryProvider(owner), EmberContextProvider(owner)])

    async def talk() -> None:
        one = agent("alice")
        await one.run("My heron is called Zephyrine.", session=one.create_session(session_id="one"))
        await one.run("What is my heron called?", session=one.create_session(session_id="two"))
        assert "My heron is called Zephyrine." in shown(client)
        other = agent("bob")
        await other.run("What is my heron called?", session=other.create_session(session_id="three"))

    run(talk())
    assert shown(client) == "What is my heron called?"
    assert [(page.query, page.response) for page in memory.of("alice").pages()] == [
        ("My heron is called Zephyrine.", "A fine name."),
        ("What is my heron called?", "She is Zephyrine."),
    ]


def test_a_session_s_history_is_shown_once(alice: OwnerMemory) -> None:
    client = Scripted("A fine name.", "She is Zephyrine.")

    async def talk() -> None:
        agent = Agent(client, context_providers=[EmberHistoryProvider(alice), EmberContextProvider(alice)])
        session = agent.create_session(session_id="one")
        await agent.run("My heron is called Zephyrine.", session=session)
        await agent.run("What is my heron called?", session=session)

    run(talk())
    assert shown(client).count("My heron is called Zephyrine.") == 1


def test_a_streamed_run_is_kept(alice: OwnerMemory) -> None:
    client = Scripted("She is Zephyrine.")

    async def talk() -> str:
        agent = Agent(client, context_providers=[EmberHistoryProvider(alice)])
        stream = agent.run("What is my heron called?", stream=True, session=agent.create_session(session_id="one"))
        return "".join([update.text async for update in stream])

    assert run(talk()) == "She is Zephyrine."
    assert alice.pages()[-1].response == "She is Zephyrine."


def test_an_agent_uses_the_tools(alice: OwnerMemory) -> None:
    alice.add("My heron is called Zephyrine.")
    client = Scripted(
        Content.from_function_call("1", "search_memory", arguments={"query": "What is the heron called?"}),
        Content.from_function_call("2", "remember", arguments={"text": "I have two herons."}),
        "Zephyrine.",
    )
    run(Agent(client, context_providers=[EmberContextProvider(alice)]).run("Hello"))
    results = [
        str(one.result) for message in client.sent[-1] for one in message.contents if one.type == "function_result"
    ]
    assert "Zephyrine" in results[0]
    assert results[1] == "Remembered."
    assert alice.pages()[-1].query == "I have two herons."
    assert [one.name for one in memory_tools(alice)] == ["search_memory", "remember"]


def test_what_was_shown_is_not_stored(alice: OwnerMemory) -> None:
    alice.add("My heron is called Zephyrine.")
    client = Scripted("Yes.")
    keep = EmberHistoryProvider(alice, store_context_messages=True, load_messages=False)
    run(Agent(client, context_providers=[EmberContextProvider(alice), keep]).run("What is my heron called?"))
    assert "Zephyrine" in shown(client)
    assert [one.text for one in alice.utterances() if "Zephyrine" in one.text] == ["My heron is called Zephyrine."]
    assert "Zephyrine" not in str(alice.originals())


def test_the_page_s_example_runs_as_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EMBERMEM_EMBEDDER", "hashed")
    (example,) = re.findall(r"```python no-run\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    client = Scripted("A fine name.", "She is Zephyrine.")
    exec(compile(example, str(PAGE), "exec"), {"__name__": "__main__", "client": client})
    assert "Zephyrine" in shown(client)
