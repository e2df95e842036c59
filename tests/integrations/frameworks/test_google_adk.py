"""Google ADK's Runner and tools over a memory, with a scripted model."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.events.event import Event
from google.adk.memory.in_memory_memory_service import InMemoryMemoryService
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.adk.sessions.session import Session
from google.adk.tools import load_memory, preload_memory
from google.genai import types

from embermem import Memory, OwnerMemory
from embermem.core.errors import InputError
from embermem.integrations.google_adk import EmberMemoryService

PAGE = Path(__file__).parents[3] / "docs" / "guides" / "integrations" / "google-adk.md"


class Scripted(BaseLlm):
    """Answers with parts in order, and keeps the requests."""

    answers: list[types.Part]
    requests: list[LlmRequest]

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        self.requests.append(llm_request.model_copy(deep=True))
        part = self.answers.pop(0)
        yield LlmResponse(content=types.Content(role="model", parts=[part]))

    def asked(self) -> str:
        """All texts of the last request."""
        return " ".join(
            part.text or str(part.function_response) for one in self.requests[-1].contents for part in one.parts
        )


def event(number: int, text: str, author: str = "user", **more: Any) -> Event:
    content = types.Content(role="user" if author == "user" else "model", parts=[types.Part(text=text)])
    return Event(id=f"e{number}", author=author, timestamp=1_777_700_000.0 + number, content=content, **more)


def session(*events: Event, user: str = "alice", app: str = "tutor", named: str = "s1") -> Session:
    return Session(id=named, app_name=app, user_id=user, events=list(events))


HERON = event(1, "My heron is called Zephyrine.")
ANSWER = event(2, "A fine name.", "tutor")


@pytest.fixture
def service(memory: Memory) -> EmberMemoryService:
    return EmberMemoryService(memory)


@pytest.fixture
def tutored(memory: Memory) -> OwnerMemory:
    return memory.of("alice", agent="tutor")


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)


def found(
    service: Any, query: str = "What is the heron called?", user: str = "alice", app: str = "tutor"
) -> list[MemoryEntry]:
    return list(run(service.search_memory(app_name=app, user_id=user, query=query)).memories)


def texts(entries: list[MemoryEntry]) -> list[str]:
    return [part.text for entry in entries for part in entry.content.parts if part.text]


# What every memory service of ADK does, asked of its own one too.
SERVICES = pytest.mark.parametrize(
    "made", [EmberMemoryService, lambda memory: InMemoryMemoryService()], ids=["ember", "in-memory"]
)


@SERVICES
def test_a_session_is_found_by_its_user_and_application_only(made: Callable[[Memory], Any], memory: Memory) -> None:
    service = made(memory)
    run(service.add_session_to_memory(session(HERON, ANSWER)))
    assert "My heron is called Zephyrine." in texts(found(service, "What is my heron called?"))
    assert found(service, "What is my heron called?", user="bob") == []
    assert found(service, "What is my heron called?", app="chess") == []


@SERVICES
def test_a_session_that_went_on_is_added_without_repeats(made: Callable[[Memory], Any], memory: Memory) -> None:
    service = made(memory)
    run(service.add_session_to_memory(session(HERON)))
    run(service.add_session_to_memory(session(HERON, ANSWER, event(3, "My heron likes trout."))))
    told = [
        text
        for text in texts(found(service, "my heron"))
        if text in ("My heron is called Zephyrine.", "My heron likes trout.")
    ]
    assert sorted(told) == ["My heron is called Zephyrine.", "My heron likes trout."]


@SERVICES
def test_events_are_added_once(made: Callable[[Memory], Any], memory: Memory) -> None:
    service = made(memory)
    for _ in range(2):
        run(service.add_events_to_memory(app_name="tutor", user_id="alice", events=[HERON], session_id="s1"))
    run(service.add_session_to_memory(session(HERON)))
    assert texts(found(service, "my heron")).count("My heron is called Zephyrine.") == 1


@SERVICES
def test_a_deleted_memory_does_not_come_back_with_its_session(made: Callable[[Memory], Any], memory: Memory) -> None:
    service = made(memory)
    run(service.add_session_to_memory(session(HERON)))
    for entry in found(service, "my heron"):
        run(service.delete_memory(app_name="tutor", user_id="alice", memory_id=entry.id))
    run(service.add_session_to_memory(session(HERON)))
    assert found(service, "my heron") == []
    run(service.delete_memory(app_name="tutor", user_id="alice", memory_id="no-such-memory"))


def test_events_become_messages_of_a_thread(service: EmberMemoryService, tutored: OwnerMemory) -> None:
    run(service.add_session_to_memory(session(HERON, ANSWER)))
    (page,) = tutored.pages()
    assert (page.thread, page.query, page.response) == ("s1", "My heron is called Zephyrine.", "A fine name.")
    assert [one.said_at.timestamp() for one in tutored.utterances()] == [HERON.timestamp, ANSWER.timestamp]
    assert [one.speaker for one in tutored.utterances()] == ["alice", "tutor"]


def test_parts_come_back_as_they_were(service: EmberMemoryService) -> None:
    parts = [
        types.Part(text="My heron Zephyrine, in a photo."),
        types.Part(inline_data=types.Blob(data=b"\x00\xff", mime_type="image/png")),
        types.Part(text="Shall I tell?", thought=True, thought_signature=b"\x01"),
    ]
    content = types.Content(role="user", parts=parts)
    run(service.add_session_to_memory(session(Event(id="e1", author="user", timestamp=1.0, content=content))))
    assert content in [entry.content for entry in found(service)]


def test_calls_and_results_of_tools_are_messages(service: EmberMemoryService, tutored: OwnerMemory) -> None:
    call = types.Part(function_call=types.FunctionCall(id="1", name="weather", args={"city": "Lyon"}))
    result = types.Part(function_response=types.FunctionResponse(id="1", name="weather", response={"celsius": 31}))
    asked = Event(id="e2", author="tutor", content=types.Content(role="model", parts=[call]))
    answered = Event(id="e3", author="tutor", content=types.Content(role="user", parts=[result]))
    run(service.add_session_to_memory(session(HERON, asked, answered)))
    assert [one.text for one in tutored.utterances()][1:] == [
        '[tool call: weather({"city": "Lyon"})]',
        '{"celsius": 31}',
    ]


def test_events_without_content_and_pieces_of_a_stream_are_left_out(
    service: EmberMemoryService, tutored: OwnerMemory
) -> None:
    run(service.add_session_to_memory(session(Event(id="e0", author="tutor"), event(1, "My", partial=True), HERON)))
    assert [one.text for one in tutored.utterances()] == ["My heron is called Zephyrine."]


def test_custom_metadata_are_the_messages_own(service: EmberMemoryService, tutored: OwnerMemory) -> None:
    run(
        service.add_events_to_memory(
            app_name="tutor", user_id="alice", events=[HERON], custom_metadata={"ticket": "T-1"}
        )
    )
    assert tutored.utterances()[0].metadata == {"ticket": "T-1"}
    with pytest.raises(InputError, match="metadata"):
        run(
            service.add_events_to_memory(
                app_name="tutor", user_id="alice", events=[ANSWER], custom_metadata={"a": {1: 2}}
            )
        )


def test_memories_can_be_added_without_events(service: EmberMemoryService, tutored: OwnerMemory) -> None:
    entry = MemoryEntry(
        id="m1",
        content=types.Content(parts=[types.Part(text="I am allergic to nuts.")]),
        timestamp="2026-05-01T09:00:00Z",
    )
    for _ in range(2):
        run(service.add_memory(app_name="tutor", user_id="alice", memories=[entry]))
    assert [page.query for page in tutored.pages()] == ["I am allergic to nuts."]
    assert "I am allergic to nuts." in texts(found(service, "What am I allergic to?"))


def runner(service: EmberMemoryService, model: Scripted, *tools: Any) -> Runner:
    agent = LlmAgent(name="tutor", model=model, tools=list(tools))
    return Runner(
        app_name="tutor",
        agent=agent,
        session_service=InMemorySessionService(),
        memory_service=service,
        auto_create_session=True,
    )


async def said(runner: Runner, text: str, session_id: str) -> None:
    message = types.Content(role="user", parts=[types.Part(text=text)])
    async for _ in runner.run_async(user_id="alice", session_id=session_id, new_message=message):
        pass
    kept = await runner.session_service.get_session(app_name="tutor", user_id="alice", session_id=session_id)
    await runner.memory_service.add_session_to_memory(kept)


def test_a_runner_loads_memories_by_adk_s_own_tool(service: EmberMemoryService, tutored: OwnerMemory) -> None:
    call = types.Part(function_call=types.FunctionCall(name="load_memory", args={"query": "heron"}))
    model = Scripted(
        model="scripted",
        answers=[types.Part(text="A fine name."), call, types.Part(text="She is Zephyrine.")],
        requests=[],
    )
    talk = runner(service, model, load_memory)

    async def both() -> None:
        await said(talk, "My heron is called Zephyrine.", "one")
        await said(talk, "What is she called?", "two")

    run(both())
    assert "My heron is called Zephyrine." in model.asked()
    two = [one.text for one in tutored.utterances() if one.thread == "two"]
    assert two == ["What is she called?", '[tool call: load_memory({"query": "heron"})]', "She is Zephyrine."]


def test_a_runner_preloads_memories(service: EmberMemoryService) -> None:
    model = Scripted(
        model="scripted", answers=[types.Part(text="A fine name."), types.Part(text="Zephyrine.")], requests=[]
    )
    talk = runner(service, model, preload_memory)

    async def both() -> None:
        await said(talk, "My heron is called Zephyrine.", "one")
        await said(talk, "What is my heron called?", "two")

    run(both())
    assert "<PAST_CONVERSATIONS>" in model.asked()
    assert "My heron is called Zephyrine." in model.asked()


def test_the_page_s_example_runs_as_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EMBERMEM_EMBEDDER", "hashed")
    (example,) = re.findall(r"```python no-run\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(example, str(PAGE), "exec"), {"__name__": "__main__"})
