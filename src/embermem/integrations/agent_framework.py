"""Microsoft Agent Framework: a context provider that recalls, and a history provider that keeps conversations."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from embermem.core.extras import needing
from embermem.integrations import shared
from embermem.owner_memory import OwnerMemory

with needing("agent-framework", "embermem.integrations.agent_framework"):
    from agent_framework import (
        AgentSession,
        ContextProvider,
        FunctionTool,
        HistoryProvider,
        Message,
        SessionContext,
        SupportsAgentRun,
        tool,
    )

__all__ = ["EmberContextProvider", "EmberHistoryProvider", "memory_tools"]

_NAME = "agent-framework"
_NO_SESSION = "main"
_ROLES = ("user", "assistant", "system", "developer", "tool")


class EmberContextProvider(ContextProvider):
    """The memory of one user for an agent: `Agent(…, context_providers=[EmberContextProvider(memory.of("alice"))])`.

    Before a run, what is recalled for its input is put before it; nothing of the session's own thread is told, as the
    history has it. `tools` offers `search_memory` and `remember` too. `budget` is the most tokens of a recalled context
    (default: the setting). It stores nothing: that does `EmberHistoryProvider`.
    """

    def __init__(
        self, memory: OwnerMemory, *, source_id: str = "embermem", tools: bool = True, budget: int | None = None
    ) -> None:
        super().__init__(source_id)
        self._memory = memory
        self._tools = tools
        self._budget = budget

    async def before_run(
        self, *, agent: SupportsAgentRun, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Add what is recalled, and the tools."""
        if self._tools:
            context.extend_tools(self.source_id, memory_tools(self._memory, budget=self._budget))
        query = "\n".join(one.text for one in context.input_messages if one.role == "user" and one.text.strip())
        if query and (shown := await asyncio.to_thread(self._shown, query, context.session_id or _NO_SESSION)):
            context.extend_messages(self, [Message("user", [shown])])

    def _shown(self, query: str, thread: str) -> str:
        context = self._memory.recall(query, budget=self._budget, shown_threads=[thread], mode="inject")
        shared.count_visit(self._memory, context)
        return shared.recalled_text(self._memory, context)


class EmberHistoryProvider(HistoryProvider):
    """The messages of sessions in the memory of one user, each session in the thread of its id.

    The options are those of `HistoryProvider`. With `load_messages=False` it stores only, beside another history.
    """

    def __init__(self, memory: OwnerMemory, *, source_id: str = "embermem_history", **options: Any) -> None:
        super().__init__(source_id, **options)
        self._memory = memory

    async def get_messages(
        self, session_id: str | None, *, state: dict[str, Any] | None = None, **kwargs: Any
    ) -> list[Message]:
        """The messages of a session as they were saved, oldest first."""
        kept = await asyncio.to_thread(shared.items_of, self._memory, _NAME, thread=session_id or _NO_SESSION)
        return [Message.from_dict(one) for one in kept.values()]

    async def save_messages(
        self,
        session_id: str | None,
        messages: Sequence[Message],
        *,
        state: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Add new messages to a session in one transaction. Raises InputError."""
        if messages:
            said = [_said(one) for one in messages]
            await asyncio.to_thread(self._memory.add_messages, said, thread=session_id or _NO_SESSION)


def memory_tools(memory: OwnerMemory, *, budget: int | None = None) -> list[FunctionTool]:
    """The tools `search_memory(query)` and `remember(text)` over the memory of one user."""

    async def search_memory(query: str) -> str:
        return await asyncio.to_thread(shared.search_memory, memory, query, budget=budget)

    async def remember(text: str) -> str:
        return await asyncio.to_thread(shared.remember, memory, text)

    return [
        tool(search_memory, name=shared.SEARCH_MEMORY, description=shared.SEARCH_MEMORY_DESCRIPTION),
        tool(remember, name=shared.REMEMBER, description=shared.REMEMBER_DESCRIPTION),
    ]


def _said(message: Message) -> dict[str, Any]:
    """A message in OpenAI's format, with its original: reasoning is left out, data are named."""
    parts: list[dict[str, Any]] = []
    calls: list[dict[str, Any]] = []
    for content in message.contents:
        match content.type:
            case "text":
                parts.append({"type": "text", "text": content.text or ""})
            case "function_call":
                calls.append({"name": content.name, "arguments": content.arguments or {}})
            case "function_result":
                parts.append({"type": "text", "text": str(content.result)})
            case "data" | "uri" | "hosted_file":
                parts.append({"type": "file", "file": {"filename": content.media_type or content.type}})
            case _:
                continue
    name = {"name": message.author_name} if message.author_name and message.role == "assistant" else {}
    original = shared.original_of(_NAME, message.to_dict())
    role = message.role if message.role in _ROLES else "assistant"
    return {"role": role, "content": parts, "tool_calls": calls, "original": original, **name}
