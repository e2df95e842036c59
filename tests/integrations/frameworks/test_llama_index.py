"""LlamaIndex's Memory and its agents with a block over a memory, and its own mock of a model."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ImageBlock, TextBlock, ThinkingBlock, ToolCallBlock
from llama_index.core.llms import ChatMessage
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import BaseMemoryBlock, InsertMethod
from llama_index.core.memory import Memory as ChatMemory
from llama_index.core.storage.chat_store.sql import MessageStatus

from embermem import Memory, OwnerMemory
from embermem.integrations.llama_index import EmberMemoryBlock, messages_of

PAGE = Path(__file__).parents[3] / "docs" / "guides" / "integrations" / "llama-index.md"


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)


def user(text: str) -> ChatMessage:
    return ChatMessage(role="user", content=text)


def assistant(text: str) -> ChatMessage:
    return ChatMessage(role="assistant", content=text)


def chat(*blocks: BaseMemoryBlock, limit: int = 400, ratio: float = 0.1, **more: Any) -> ChatMemory:
    """A memory of which a tenth is the queue of messages, with words for tokens."""
    return ChatMemory.from_defaults(
        session_id="s1",
        token_limit=limit,
        chat_history_token_ratio=ratio,
        token_flush_size=10,
        tokenizer_fn=str.split,
        memory_blocks=list(blocks),
        **more,
    )


def talk() -> list[ChatMessage]:
    """More than the queue takes."""
    said = [user("My heron is called Zephyrine."), assistant("A fine name.")]
    for number in range(6):
        said += [user(f"Today is day {number} of the long rain in Lyon."), assistant("I hope that it ends soon.")]
    return said


def test_messages_that_leave_the_queue_are_in_the_memory(alice: OwnerMemory) -> None:
    memory = chat(EmberMemoryBlock(memory=alice))
    memory.put_messages(talk())
    kept, queue = [one.text for one in alice.utterances()], memory.get_all(MessageStatus.ACTIVE)
    assert kept[:2] == ["My heron is called Zephyrine.", "A fine name."]
    assert [*kept, *(one.content for one in queue)] == [one.content for one in talk()]
    assert {one.thread for one in alice.utterances()} == {"s1"}


@pytest.mark.parametrize("where", list(InsertMethod))
def test_what_is_recalled_is_in_the_prompt(alice: OwnerMemory, where: InsertMethod) -> None:
    alice.add("My heron {{ name }} is called <b>Zephyrine</b>.")
    memory = chat(EmberMemoryBlock(memory=alice), insert_method=where)
    memory.put(user("What is my heron called?"))
    (shown, *_) = [one for one in memory.get() if one.role.value == where.value]
    assert "<long_term_memory>" in (shown.content or "")
    assert "My heron {{ name }} is called <b>Zephyrine</b>." in (shown.content or "")


def test_the_input_of_a_prompt_is_what_is_recalled_for(alice: OwnerMemory) -> None:
    alice.add("My heron is called Zephyrine.")
    memory = chat(EmberMemoryBlock(memory=alice))
    assert "Zephyrine" in str(memory.get(input="What is my heron called?"))


def test_nothing_is_put_in_where_nothing_is_recalled(alice: OwnerMemory) -> None:
    memory = chat(EmberMemoryBlock(memory=alice))
    assert memory.get() == []
    memory.put(user("What is my heron called?"))
    assert [one.content for one in memory.get()] == ["What is my heron called?"]


def test_a_prompt_that_is_too_long_gets_less_of_the_memory(alice: OwnerMemory) -> None:
    for number in range(12):
        alice.add(f"My heron number {number} is called Zephyrine the {number}th and likes to eat trout and eel.")
    block = EmberMemoryBlock(memory=alice)
    whole = run(block.aget([user("What are my herons called?")]))
    less = run(block.atruncate(whole, 100))
    assert less is not None
    assert "Zephyrine" in less
    assert len(less.split()) <= len(whole.split()) - 60
    assert run(block.atruncate(whole, 10_000)) is None
    assert run(block.atruncate("another text", 1)) is None
    memory = chat(EmberMemoryBlock(memory=alice), limit=150, ratio=0.5)
    memory.put(user("What are my herons called?"))
    assert sum(len((one.content or "").split()) for one in memory.get()) <= 150 + len(
        "<memory> <long_term_memory> </long_term_memory> </memory>".split()
    )
    assert chat(EmberMemoryBlock(memory=alice, priority=0), limit=150).get(input="What are my herons called?")


def test_messages_come_back_as_they_were(alice: OwnerMemory) -> None:
    said = [
        ChatMessage(
            role="user",
            blocks=[TextBlock(text="Is this Zephyrine?"), ImageBlock(image=b"\x00\xff", image_mimetype="image/png")],
            additional_kwargs={"a": 1},
        ),
        ChatMessage(
            role="assistant",
            blocks=[
                ThinkingBlock(content="I look."),
                ToolCallBlock(tool_call_id="1", tool_name="look", tool_kwargs={"at": "photo"}),
            ],
        ),
        ChatMessage(role="tool", content="a heron", additional_kwargs={"tool_call_id": "1"}),
        assistant("Yes."),
    ]
    expected = [one.model_dump() for one in said]
    run(EmberMemoryBlock(memory=alice).aput(said, session_id="s1"))
    assert [one.model_dump() for one in messages_of(alice, thread="s1")] == expected
    assert [one.text for one in alice.utterances()] == [
        "Is this Zephyrine?\n[image]",
        '[tool call: look({"at": "photo"})]',
        "a heron",
        "Yes.",
    ]


def test_a_recalled_text_is_not_stored_again(alice: OwnerMemory) -> None:
    alice.add("My heron is called Zephyrine.")
    block = EmberMemoryBlock(memory=alice)
    shown = run(block.aget([user("What is my heron called?")]))
    run(block.aput([user(f"{shown}\nI ask again.")]))
    assert [one.text.strip() for one in alice.utterances()][1:] == ["I ask again."]
    with pytest.raises(ValueError, match="bugdet"):
        EmberMemoryBlock(memory=alice, **{"bugdet": 5})


def test_the_base_class_s_switch_for_short_term_memory_holds(alice: OwnerMemory) -> None:
    block = EmberMemoryBlock(memory=alice, accept_short_term_memory=False)
    run(block.aput([user("Hello.")], from_short_term_memory=True))
    assert alice.utterances() == ()
    run(block.aput([user("Hello.")]))
    assert [(one.text, one.thread) for one in alice.utterances()] == [("Hello.", "main")]


def test_an_agent_remembers_from_session_to_session(memory: Memory) -> None:
    sent: list[Sequence[ChatMessage]] = []

    def answer(messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
        sent.append([one.model_copy(deep=True) for one in messages])
        return assistant("I see.")

    async def run_agent() -> None:
        agent = FunctionAgent(
            llm=MockFunctionCallingLLM(response_generator=answer, is_chat_model=True), tools=[], streaming=False
        )
        for session_id, said in (("one", "My heron is called Zephyrine."), ("two", "What is my heron called?")):
            block = EmberMemoryBlock(memory=memory.of("alice"))
            session = ChatMemory.from_defaults(session_id=session_id, memory_blocks=[block], tokenizer_fn=str.split)
            await agent.run(said, memory=session)
            await block.aput(await session.aget_all(), session_id=session_id)

    run(run_agent())
    assert "Zephyrine" in str(sent[-1][0].content)
    assert [page.query for page in memory.of("alice").pages()] == [
        "My heron is called Zephyrine.",
        "What is my heron called?",
    ]
    assert memory.of("alice").pages()[0].response == "I see."


def test_the_page_s_example_runs_as_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EMBERMEM_EMBEDDER", "hashed")
    (example,) = re.findall(r"```python no-run\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(example, str(PAGE), "exec"), {"__name__": "__main__"})
