"""LlamaIndex: a memory block, which keeps what leaves the short-term memory and recalls for the newest message."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

from embermem.core.extras import needing
from embermem.core.types import Context
from embermem.integrations import shared
from embermem.owner_memory import OwnerMemory

with needing("llama-index", "embermem.integrations.llama_index"):
    from llama_index.core.base.llms.types import (
        ChatMessage,
        ContentBlock,
        ImageBlock,
        MessageRole,
        TextBlock,
        ThinkingBlock,
        ToolCallBlock,
    )
    from llama_index.core.bridge.pydantic import ConfigDict, Field, PrivateAttr
    from llama_index.core.memory import BaseMemoryBlock

__all__ = ["EmberMemoryBlock", "messages_of"]

_NAME = "llama-index"
_SESSION = "session_id"
"""The entry of a message's additional_kwargs, in which LlamaIndex's memory says which session it is of."""
_ROLES = {
    MessageRole.USER: "user",
    MessageRole.SYSTEM: "system",
    MessageRole.DEVELOPER: "system",
    MessageRole.TOOL: "tool",
    MessageRole.FUNCTION: "tool",
}


class EmberMemoryBlock(BaseMemoryBlock[str]):
    """The memory of one user: `Memory.from_defaults(memory_blocks=[EmberMemoryBlock(memory=memory.of("alice"))])`.

    `thread` is that of messages without a session. `budget` is the most tokens of a recalled context (default: the
    setting). With the priority 1, which is the default, the block is cut where the prompt would be too long; with 0
    never. Errors of the memory are raised (EmberError).
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    name: str = Field(default="long_term_memory")
    priority: int = Field(default=1)
    memory: OwnerMemory = Field(exclude=True)
    thread: str = Field(default="main")
    budget: int | None = Field(default=None)

    _recalled: dict[str, Context] = PrivateAttr(default_factory=dict)
    """The context of the newest text, by that text."""

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        """The context of the newest message of the user; empty where there is none, or nothing is recalled."""
        asked = [one.content for one in messages or () if one.role == MessageRole.USER and (one.content or "").strip()]
        return await asyncio.to_thread(self._shown, asked[-1]) if asked else ""

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Add messages, each to the thread of its session."""
        for thread, some in _by_thread(messages, self.thread):
            await asyncio.to_thread(self.memory.add_messages, [_said(one) for one in some], thread=thread)

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Recall the same with so many tokens less; None if too few would be left."""
        context = self._recalled.get(content)
        left = 0 if context is None else context.tokens - tokens_to_truncate
        if context is None or left <= 0:
            return None
        less = await asyncio.to_thread(self.memory.recall, context.query, budget=left)
        return shared.recalled_text(self.memory, less) or None

    def _shown(self, query: str) -> str:
        context = self.memory.recall(query, budget=self.budget, mode="inject")
        if not any(before.query == query for before in self._recalled.values()):
            shared.count_visit(self.memory, context)
        shown = shared.recalled_text(self.memory, context)
        self._recalled = {shown: context}
        return shown


def messages_of(memory: OwnerMemory, *, thread: str = "main", last: int | None = None) -> list[ChatMessage]:
    """The messages that a block added to a thread, oldest first; with `last`, so many of the newest."""
    return [
        ChatMessage.model_validate(one) for one in shared.items_of(memory, _NAME, thread=thread, last=last).values()
    ]


def _by_thread(messages: Sequence[ChatMessage], thread: str) -> Iterable[tuple[str, list[ChatMessage]]]:
    found: dict[str, list[ChatMessage]] = {}
    for message in messages:
        found.setdefault(str(message.additional_kwargs.get(_SESSION) or thread), []).append(message)
    return found.items()


def _said(message: ChatMessage) -> dict[str, Any]:
    """A message in OpenAI's format, with its original."""
    original = message.model_dump(mode="json")
    original["additional_kwargs"].pop(_SESSION, None)
    calls = [block for block in message.blocks if isinstance(block, ToolCallBlock)]
    return {
        "role": _ROLES.get(message.role, "assistant"),
        "content": [part for block in message.blocks if (part := _part(block)) is not None],
        "tool_calls": [{"name": one.tool_name, "arguments": one.tool_kwargs} for one in calls],
        "original": shared.original_of(_NAME, original),
    }


def _part(block: ContentBlock) -> dict[str, Any] | None:
    match block:
        case TextBlock():
            return {"type": "text", "text": block.text}
        case ToolCallBlock() | ThinkingBlock():
            return None
        case ImageBlock():
            return {"type": "image_url", "image_url": {"url": str(block.url)} if block.url else None}
        case _:
            return {"type": "file", "file": {"filename": block.block_type}}
