"""LangChain on a memory: a history of messages, a retriever, tools."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.history import RunnableWithMessageHistory

from embermem import Memory, OwnerMemory, Scope
from embermem.core.errors import InputError
from embermem.integrations.langchain import EmberChatMessageHistory, EmberRetriever, memory_tools

PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}}
MESSAGES: Sequence[BaseMessage] = [
    SystemMessage("Be brief.", id="0"),
    HumanMessage(content=["What is ", {"type": "text", "text": "this?"}, PICTURE], id="1", name="alice"),
    AIMessage(
        content="",
        id="2",
        tool_calls=[{"name": "look", "args": {"a": [1, {"b": None}]}, "id": "c1", "type": "tool_call"}],
        invalid_tool_calls=[{"name": "x", "args": "{", "id": "c2", "error": "no JSON", "type": "invalid_tool_call"}],
        additional_kwargs={"x": {"y": 1.5}},
        response_metadata={"model_name": "m", "logprobs": None},
        usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
    ),
    ToolMessage(content="42", tool_call_id="c1", artifact={"k": [1]}, status="error", name="look"),
    ChatMessage(role="critic", content="No."),
    FunctionMessage(name="g", content="r"),
    AIMessageChunk(content="It is a "),
    AIMessage(content=[{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "heron."}], id="3"),
    RemoveMessage(id="9"),
    HumanMessage("  \n"),
]


def test_a_message_of_any_kind_is_given_back_as_it_was(alice: OwnerMemory) -> None:
    for number, message in enumerate(MESSAGES):
        history = EmberChatMessageHistory(alice, f"t{number}")
        history.add_message(message)
        (found,) = history.messages
        assert found == message
        assert type(found) is type(message)
        assert found.model_dump() == message.model_dump()


def test_messages_are_given_back_in_their_order_and_those_of_other_threads_are_not(alice: OwnerMemory) -> None:
    one, other = EmberChatMessageHistory(alice, "one"), EmberChatMessageHistory(alice, "other")
    one.add_messages(MESSAGES[:5])
    other.add_messages([HumanMessage("Hello.")])
    one.add_messages(MESSAGES[5:])
    one.add_messages([])
    assert one.messages == list(MESSAGES)
    assert other.messages == [HumanMessage("Hello.")]
    assert EmberChatMessageHistory(alice, "none").messages == []


def test_ember_reads_the_texts_of_messages_by_their_roles(alice: OwnerMemory) -> None:
    EmberChatMessageHistory(alice, "t").add_messages([HumanMessage("I am allergic to nuts."), *MESSAGES[1:5]])
    alice.settle()
    assert [fact.value for fact in alice.facts()] == ["nuts"]
    said = [(one.role.value, one.text) for page in alice.pages() for one in page.utterances]
    assert ("user", "What is this?") in said
    assert ("tool", "42") in said
    assert ("system", "No.") in said


def test_clearing_forgets_the_thread_for_good_and_no_other(alice: OwnerMemory) -> None:
    one, other = EmberChatMessageHistory(alice, "one"), EmberChatMessageHistory(alice, "other")
    one.add_messages([HumanMessage("I am allergic to nuts."), AIMessage("Noted.")])
    other.add_messages([HumanMessage("I live in Lyon.")])
    alice.settle()
    one.clear()
    one.clear()
    assert one.messages == []
    assert [fact.value for fact in alice.facts()] == ["Lyon"]
    assert len(other.messages) == 1
    one.add_messages([HumanMessage("Hello again.")])
    assert one.messages == [HumanMessage("Hello again.")]


def test_a_message_that_is_not_json_is_refused_and_none_of_the_call_is_stored(alice: OwnerMemory) -> None:
    history = EmberChatMessageHistory(alice, "t")
    with pytest.raises(InputError, match=r"messages\[1\].original.langchain.data.artifact"):
        history.add_messages([HumanMessage("Hello."), ToolMessage("x", tool_call_id="c", artifact=object())])
    assert history.messages == []


def chain(alice: OwnerMemory, replies: list[str]) -> RunnableWithMessageHistory:
    prompt = ChatPromptTemplate.from_messages([MessagesPlaceholder("history"), ("human", "{question}")])
    return RunnableWithMessageHistory(
        prompt | FakeListChatModel(responses=replies),
        lambda session_id: EmberChatMessageHistory(alice, session_id),
        input_messages_key="question",
        history_messages_key="history",
    )


def test_a_chain_with_a_history_goes_on_where_it_was(alice: OwnerMemory) -> None:
    config: RunnableConfig = {"configurable": {"session_id": "s1"}}
    asking = chain(alice, ["Hello.", "A heron."])
    asking.invoke({"question": "I keep a heron."}, config)
    asking.invoke({"question": "What do I keep?"}, config)
    found = EmberChatMessageHistory(alice, "s1").messages
    assert [one.text for one in found] == ["I keep a heron.", "Hello.", "What do I keep?", "A heron."]
    assert [len(page.utterances) for page in alice.pages()] == [2, 2]


def test_a_chain_awaited_and_streamed_keeps_its_messages_too(alice: OwnerMemory) -> None:
    config: RunnableConfig = {"configurable": {"session_id": "s1"}}
    asking = chain(alice, ["Hello.", "A heron."])

    async def use() -> list[BaseMessage]:
        await asking.ainvoke({"question": "I keep a heron."}, config)
        assert "".join([str(piece.text) async for piece in asking.astream({"question": "And?"}, config)]) == "A heron."
        return await EmberChatMessageHistory(alice, "s1").aget_messages()

    assert [one.text for one in asyncio.run(use())] == ["I keep a heron.", "Hello.", "And?", "A heron."]


# ------------------------------------------------------------------------------------------------- retriever and tools


def test_a_retriever_gives_facts_and_what_was_said_with_their_sources(alice: OwnerMemory) -> None:
    alice.add("I am allergic to nuts.", "Noted.", thread="s1", at="2026-05-02T10:00:00+02:00", metadata={"ticket": "T"})
    alice.add_document("# Kitchen\n\n## Nuts\n\nThe nuts are in the green box.", source="kitchen.md")
    alice.settle()
    found = EmberRetriever(memory=alice).invoke("Where are the nuts, and what am I allergic to?")
    kinds = {one.metadata["kind"]: one for one in reversed(found)}
    fact, said, passage = kinds["fact"], kinds["message"], kinds["document"]
    assert fact.page_content == "alice is allergic to nuts"
    assert fact.id == alice.facts()[0].id
    assert alice.utterance(fact.metadata["sources"][0]).text == "I am allergic to nuts."
    assert said.page_content == "I am allergic to nuts."
    assert (said.metadata["thread"], said.metadata["speaker"], said.metadata["role"]) == ("s1", "alice", "user")
    assert said.metadata["said_at"] == "2026-05-02T10:00:00+02:00"
    assert said.metadata["metadata"] == {"ticket": "T"}
    assert (passage.metadata["source"], passage.metadata["place"]) == ("kitchen.md", "Nuts")
    assert "green box" in passage.page_content


def test_a_retriever_keeps_to_its_scope_and_budget_and_can_be_awaited(alice: OwnerMemory) -> None:
    for place in ("Lyon", "Oslo"):
        alice.add(f"The heron was in {place}.", thread=place)

    async def use(**given: Any) -> list[Document]:
        return await EmberRetriever(memory=alice, **given).ainvoke("Where was the heron?")

    assert len(asyncio.run(use())) == 2
    (one,) = asyncio.run(use(scope=Scope(threads=["Oslo"])))
    assert one.page_content == "The heron was in Oslo."
    assert asyncio.run(use(budget=1)) == []


def test_a_retriever_gives_at_most_k_documents_the_most_relevant(alice: OwnerMemory) -> None:
    alice.add("I live in Lyon.")
    for number in range(6):
        alice.add(f"Heron {number} stands in the river.")
    alice.settle()
    assert len(EmberRetriever(memory=alice).invoke("Where is heron 3?")) == 7
    for k in (1, 3):
        found = EmberRetriever(memory=alice, k=k).invoke("Where is heron 3?")
        assert len(found) == k
        assert "Heron 3 stands in the river." in [one.page_content for one in found]
        assert EmberRetriever(memory=alice, k=5).invoke("Where is heron 3?", k=k) == found
        assert asyncio.run(EmberRetriever(memory=alice).ainvoke("Where is heron 3?", k=k)) == found
    (fact,) = EmberRetriever(memory=alice, k=1).invoke("Where do I live?")
    assert fact.page_content == "alice lives in Lyon"
    with pytest.raises(ValueError, match="bugdet"):
        EmberRetriever(memory=alice, bugdet=5)  # type: ignore[call-arg]
    for wrong, said in (({"bugdet": 5}, "bugdet is not known to invoke"), ({"k": 0}, "k = 0 is not allowed")):
        with pytest.raises(InputError, match=said):
            EmberRetriever(memory=alice).invoke("Where is heron 3?", **wrong)  # type: ignore[arg-type]


def test_the_tools_show_a_model_a_query_and_a_text_and_no_owner(memory: Memory) -> None:
    search, remember = memory_tools(lambda config: memory.of(config["configurable"]["user_id"]))
    assert (search.name, list(search.args)) == ("search_memory", ["query"])
    assert (remember.name, list(remember.args)) == ("remember", ["text"])
    config: RunnableConfig = {"configurable": {"user_id": "alice"}}
    assert remember.invoke({"text": "I am allergic to nuts."}, config) == "Remembered."
    assert "allergic to nuts" in search.invoke({"query": "What am I allergic to?"}, config)
    nobody: RunnableConfig = {"configurable": {"user_id": "bo"}}
    assert "nuts" not in asyncio.run(search.ainvoke({"query": "What am I allergic to?"}, nobody))
