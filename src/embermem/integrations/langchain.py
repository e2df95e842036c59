"""LangChain: the memory as a history of messages, as a retriever, and as tools and hooks of an agent."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from embermem.core.errors import InputError
from embermem.core.extras import needing
from embermem.core.messages import whole
from embermem.core.types import Fact, Hit, Scope
from embermem.integrations import shared
from embermem.owner_memory import OwnerMemory

with needing("langchain", "embermem.integrations.langchain"):
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.chat_history import BaseChatMessageHistory
    from langchain_core.documents import Document
    from langchain_core.messages import (
        AIMessage,
        BaseMessage,
        HumanMessage,
        SystemMessage,
        message_to_dict,
        messages_from_dict,
    )
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import RunnableConfig
    from langchain_core.tools import BaseTool, StructuredTool
    from pydantic import ConfigDict

__all__ = ["EmberChatMessageHistory", "EmberRetriever", "MemoryHooks", "memory_tools"]

_NAME = "langchain"
_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "tool"}
_CHAT_ROLES = {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant", "system": "system"}


class EmberChatMessageHistory(BaseChatMessageHistory):
    """The messages of one thread of a memory.

    Each message is stored with its original: `messages` gives back what was added, of whatever kind, with tool calls,
    parts of other media, ids and all. What Ember reads of it is its text. A message must be JSON: bytes or an object of
    Python in it are an InputError. `clear` forgets the thread for good.
    """

    def __init__(self, memory: OwnerMemory, thread: str = "main") -> None:
        self._memory = memory
        self._thread = thread

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """The messages that were added here to the thread, in their order; those of others are left out."""
        return messages_from_dict(list(shared.items_of(self._memory, _NAME, thread=self._thread).values()))

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Add messages, in one transaction. Raises InputError, StoreError."""
        if messages:
            self._memory.add_messages([_told(one) for one in messages], thread=self._thread)

    def clear(self) -> None:
        """Forget the messages of the thread, and what was learnt from them alone."""
        if self._memory.pages(limit=1, thread=self._thread):
            self._memory.forget(thread=self._thread)


class EmberRetriever(BaseRetriever):
    """Documents from a recall: facts first, then what was said and passages of documents, best first.

    `page_content` is the text; `metadata` says what it is and where it is from (`kind`, `id`, `thread`, `speaker`,
    `said_at`, `relevance`, `source`, …). A retrieval is counted as a visit. `invoke` takes the fields too, for one
    retrieval: `retriever.invoke("Where do I live?", k=3)`.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    memory: OwnerMemory
    k: int | None = None
    """The most documents: those with the highest relevance, a fact's being that of the messages it rests on."""
    budget: int | None = None
    """Tokens of all texts together; the memory's setting by default."""
    min_score: float = 0.0
    """The least relevance of what was said, from 0 to 1."""
    scope: Scope | None = None

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **fields: Any
    ) -> list[Document]:
        return self._found(query, **fields)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **fields: Any
    ) -> list[Document]:
        return await asyncio.to_thread(self._found, query, **fields)

    def _found(self, query: str, **fields: Any) -> list[Document]:
        asked = {name: getattr(self, name) for name in ("k", "budget", "min_score", "scope")}
        if unknown := [name for name in fields if name not in asked]:
            raise InputError(f"{unknown[0]} is not known to invoke(); it takes: {', '.join(asked)}")
        asked.update(fields)
        k = asked.pop("k")
        most = None if k is None else whole(k, "k", 1)
        context = self.memory.recall(query, **asked)
        shared.count_visit(self.memory, context)
        relevance = {hit.utterance.id: hit.relevance or 0.0 for hit in context.hits}
        found = [
            (max((relevance.get(one.utterance_id, 0.0) for one in fact.sources), default=0.0), _of_fact(fact))
            for fact in context.facts
        ]
        found += [(hit.relevance or 0.0, _of_hit(hit)) for hit in sorted(context.packed, key=lambda hit: hit.rank)]
        best = sorted(range(len(found)), key=lambda place: -found[place][0])[:most]
        return [found[place][1] for place in sorted(best)]


def memory_tools(memory: OwnerMemory | Callable[[RunnableConfig], OwnerMemory]) -> list[BaseTool]:
    """The tools `search_memory` and `remember`, for an agent of LangChain or LangGraph.

    `memory` is that of the user, or a function that finds it in the run's config, such as
    `lambda config: memory.of(config["configurable"]["user_id"])`; the model cannot choose it.
    """
    memory_of = shared.bound(memory)

    def search_memory(query: str, config: RunnableConfig) -> str:
        return shared.search_memory(memory_of(config), query)

    def remember(text: str, config: RunnableConfig) -> str:
        return shared.remember(memory_of(config), text)

    return [
        StructuredTool.from_function(
            search_memory, name=shared.SEARCH_MEMORY, description=shared.SEARCH_MEMORY_DESCRIPTION
        ),
        StructuredTool.from_function(remember, name=shared.REMEMBER, description=shared.REMEMBER_DESCRIPTION),
    ]


class MemoryHooks:
    """The two hooks of an agent of LangGraph: `recall` before the model, `keep` after it.

        hooks = MemoryHooks(memory.of("alice"))
        agent = create_react_agent(model, tools, pre_model_hook=hooks.recall, post_model_hook=hooks.keep)

    `memory` is that of the user, or a function that finds it in the run's config, such as
    `lambda config: memory.of(config["configurable"]["user_id"])`. The thread of the memory is the run's `thread_id`.
    """

    def __init__(
        self, memory: OwnerMemory | Callable[[RunnableConfig], OwnerMemory], *, budget: int | None = None
    ) -> None:
        self._memory_of = shared.bound(memory)
        self._budget = budget

    def recall(self, state: Any, config: RunnableConfig) -> dict[str, Any]:
        """The messages for the model: what is recalled for the user's newest message, as a system message, and the
        run's own, which do not change. What the run shows of its thread is not told again."""
        messages = _messages(state)
        asked = [one for one in messages if isinstance(one, HumanMessage)]
        query = str(asked[-1].text) if asked else ""
        if not query.strip():
            return {"llm_input_messages": messages}
        memory, shown = self._memory_of(config), [_thread(config)] if len(asked) > 1 else []
        context = memory.recall(query, budget=self._budget, shown_threads=shown, mode="inject")
        if messages[-1] is asked[-1]:  # not again for each answer of a tool
            shared.count_visit(memory, context)
        text = shared.recalled_text(memory, context)
        return {"llm_input_messages": [*([SystemMessage(content=text)] if text else []), *messages]}

    def keep(self, state: Any, config: RunnableConfig) -> dict[str, Any]:
        """Add the exchange that the model's newest message ends, if it ends one: what the user said since the exchange
        before, and the reply. A message with an id, as a graph's messages have, is stored once, so the node may be run
        again."""
        messages = _messages(state)
        if messages and _ends(messages[-1]):
            began = next((place for place in range(len(messages) - 1, 0, -1) if _ends(messages[place - 1])), 0)
            memory, thread, fresh = self._memory_of(config), _thread(config), True
            for message in messages[began:]:
                text = str(message.text)
                if text.strip() and (isinstance(message, HumanMessage) or _ends(message)):
                    said = {"role": "assistant" if _ends(message) else "user", "content": text}
                    memory.add_messages([said], thread=thread, key=_key(thread, message), fresh=fresh)
                    fresh = False
        return {}


def _ends(message: BaseMessage) -> bool:
    """Whether a message is a model's reply that asks for no tool."""
    return isinstance(message, AIMessage) and not message.tool_calls


def _key(thread: str, message: BaseMessage) -> str | None:
    """An idempotency key; None for a message that nothing tells from another one with its text."""
    if message.id is None:
        return None
    said = json.dumps([thread, message.id, str(message.text)])
    return f"langchain:{hashlib.blake2b(said.encode(), digest_size=16).hexdigest()}"


def _messages(state: Any) -> list[BaseMessage]:
    return list(state["messages"] if isinstance(state, Mapping) else state.messages)


def _thread(config: RunnableConfig) -> str:
    return str(config.get("configurable", {}).get("thread_id", "main"))


def _told(message: BaseMessage) -> dict[str, Any]:
    """A message as `add_messages` takes it."""
    role = _ROLES.get(message.type.removesuffix("MessageChunk").lower())
    if role is None:
        role = _CHAT_ROLES.get(str(getattr(message, "role", "")).lower(), "system")
    return {"role": role, "content": str(message.text), "original": shared.original_of(_NAME, message_to_dict(message))}


def _of_fact(fact: Fact) -> Document:
    said = {
        "kind": "fact",
        "subject": fact.subject,
        "attribute": fact.attribute,
        "value": fact.value,
        "valid_from": None if fact.valid_from is None else fact.valid_from.isoformat(),
        "sources": [str(one.utterance_id) for one in fact.sources],
    }
    return Document(id=fact.id, page_content=fact.text, metadata=said)


def _of_hit(hit: Hit) -> Document:
    said, passage = hit.utterance, hit.passage
    metadata: dict[str, Any] = {
        "kind": "message" if passage is None else "document",
        "page_id": said.page_id,
        "thread": said.thread,
        "speaker": said.speaker,
        "role": said.role.value,
        "said_at": said.said_at.isoformat(),
        "relevance": hit.relevance,
        "space": hit.space,
        "metadata": dict(said.metadata),
    }
    if passage is not None:
        metadata |= {"source": passage.source, "title": passage.title, "place": passage.place}
    return Document(id=said.id, page_content=said.text, metadata=metadata)
