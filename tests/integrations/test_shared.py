"""What the adapters of agent frameworks share."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from pydantic_ai.messages import ModelRequest, UserPromptPart

from embermem import Memory, OwnerMemory
from embermem.core.errors import ConfigError, InputError
from embermem.core.extras import needing
from embermem.integrations import pydantic_ai, shared
from embermem.integrations.langchain import EmberChatMessageHistory, EmberRetriever, MemoryHooks
from embermem.integrations.openai_agents import EmberSession


def test_a_missing_package_is_told_with_its_extra() -> None:
    said = "the adapter needs the package no_such_framework: pip install 'embermem\\[some-extra\\]'"
    with pytest.raises(ConfigError, match=said), needing("some-extra", "the adapter"):
        import no_such_framework  # type: ignore[import-not-found]  # noqa: F401


def test_what_is_shown_to_a_model_is_removed_when_it_is_added_again(alice: OwnerMemory) -> None:
    alice.add("I keep a heron called Zephyrine.")
    shown = shared.recalled_text(alice, alice.recall("What is the heron called?"))
    assert "Zephyrine" in shown
    alice.add(f"{shown}\nHello again.")
    assert alice.pages()[-1].query.strip() == "Hello again."


def test_the_same_context_is_shown_as_the_same_text(alice: OwnerMemory) -> None:
    alice.add("I keep a heron called Zephyrine.")
    context = alice.recall("What is the heron called?")
    assert shared.recalled_text(alice, context) == shared.recalled_text(alice, context)


def test_an_empty_context_is_shown_as_no_text(alice: OwnerMemory) -> None:
    assert shared.recalled_text(alice, alice.recall("What is the heron called?")) == ""
    assert shared.search_memory(alice, "What is the heron called?") == "Nothing is remembered about this."


def test_the_tools_find_what_they_remembered(alice: OwnerMemory) -> None:
    assert shared.remember(alice, "I am allergic to nuts.") == "Remembered."
    assert "allergic to nuts" in shared.search_memory(alice, "What am I allergic to?")
    assert [(page.thread, page.query) for page in alice.pages()] == [("remembered", "I am allergic to nuts.")]


def test_two_texts_that_are_remembered_are_two_pages(alice: OwnerMemory) -> None:
    for text in ("I am allergic to nuts.", "I live in Lyon."):
        shared.remember(alice, text)
    assert [page.query for page in alice.pages()] == ["I am allergic to nuts.", "I live in Lyon."]


def test_a_text_that_cannot_be_stored_is_refused(alice: OwnerMemory) -> None:
    with pytest.raises(InputError):
        shared.remember(alice, "x" * 1_000_001)


def test_adapters_on_one_thread_give_back_their_own_items_only(alice: OwnerMemory) -> None:
    session, history = EmberSession(alice, "t"), EmberChatMessageHistory(alice, "t")
    said: list[Any] = [{"role": "user", "content": "I keep a heron."}, {"role": "assistant", "content": "Noted."}]
    asyncio.run(session.add_items(said))
    history.add_messages([HumanMessage("I live in Lyon."), AIMessage("Noted too.")])
    prompt = ModelRequest(parts=[UserPromptPart("I am allergic to nuts.")])
    pydantic_ai.add_messages(alice, [prompt], thread="t")
    alice.add_messages([{"role": "user", "content": "Hello.", "original": ["a caller's own"]}], thread="t")

    assert asyncio.run(session.get_items()) == said
    assert asyncio.run(session.get_items(1)) == said[1:]
    assert [one.text for one in history.messages] == ["I live in Lyon.", "Noted too."]
    assert pydantic_ai.messages_of(alice, thread="t", last=5) == [prompt]
    assert asyncio.run(session.pop_item()) == said[1]
    assert asyncio.run(session.get_items()) == said[:1]
    assert len(history.messages) == 2
    assert len(pydantic_ai.messages_of(alice, thread="t")) == 1


def test_a_thread_must_have_a_name(alice: OwnerMemory) -> None:
    """Without one, the originals of all threads would be meant."""
    alice.add_messages([{"role": "user", "content": "Hello.", "original": {"a": 1}}])
    wrong: Any = None
    for reading in (
        lambda: asyncio.run(EmberSession(alice, wrong).get_items()),
        lambda: EmberChatMessageHistory(alice, wrong).messages,
        lambda: pydantic_ai.messages_of(alice, thread=wrong),
    ):
        with pytest.raises(InputError, match="thread = None is not a name"):
            reading()


def test_who_may_only_read_a_space_recalls_from_it(memory: Memory) -> None:
    memory.space("team").add("The deploy happens every Friday.")
    memory.grant("team", user="alice")
    team = memory.of("alice", shares=["team"]).shared["team"]
    assert "Friday" in shared.search_memory(team, "When is the deploy?")
    assert "Friday" in EmberRetriever(memory=team).invoke("When is the deploy?")[0].page_content
    asked = {"messages": [HumanMessage("When is the deploy?")]}
    assert "Friday" in MemoryHooks(team).recall(asked, {})["llm_input_messages"][0].text
