"""Pydantic AI: a capability with the context, the tools and the history of an agent, and message lists kept exactly."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from embermem.core.extras import needing
from embermem.core.types import Added
from embermem.integrations import shared
from embermem.owner_memory import OwnerMemory

with needing("pydantic-ai", "embermem.integrations.pydantic_ai"):
    from pydantic_ai import AgentRunResult, FunctionToolset, ModelRequestContext, RunContext, Tool
    from pydantic_ai.capabilities import AbstractCapability, WrapRunHandler
    from pydantic_ai.messages import (
        ImageUrl,
        ModelMessage,
        ModelMessagesTypeAdapter,
        ModelRequest,
        ModelResponse,
        RetryFeedbackPart,
        RetryPromptPart,
        TextContent,
        ToolReturnPart,
        UserContent,
        UserPromptPart,
    )

__all__ = ["EmberMemory", "add_messages", "memory_toolset", "messages_of"]


_NAME = "pydantic-ai"


@dataclass
class EmberMemory(AbstractCapability[Any]):
    """The memory of one user for an agent: `Agent(…, capabilities=[EmberMemory(memory.of("alice"))])`, or for one run
    as `agent.run(…, capabilities=[…])`.

    Before each request to the model, what is recalled for the user's newest prompt is put before that prompt; it is in
    the request only, not in the history of the run. After a run its new messages are added to `thread`; of a run that
    is cancelled or left, what was said until then. `tools` offers `search_memory` and `remember` too. `budget` is the
    most tokens of a recalled context (default: the setting).
    """

    memory: OwnerMemory
    thread: str = "main"
    tools: bool = True
    budget: int | None = None
    _recalled: dict[str, str] = field(default_factory=dict, init=False, repr=False)
    """The recalled text of each prompt of this run, so that the requests of one run begin alike."""
    _asked: RunContext[Any] | None = field(default=None, init=False, repr=False)
    """The context of the newest request, which has the run's messages."""
    _added: bool = field(default=False, init=False, repr=False)

    async def for_run(self, ctx: RunContext[Any]) -> EmberMemory:
        """The instance of one run."""
        return replace(self)

    def get_toolset(self) -> FunctionToolset[Any] | None:
        """`memory_toolset`, unless `tools` is False."""
        return memory_toolset(self.memory, budget=self.budget) if self.tools else None

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Put what is recalled before the user's newest prompt."""
        self._asked = ctx
        messages = request_context.messages
        for place in reversed(range(len(messages))):
            prompts = [part for part in messages[place].parts if isinstance(part, UserPromptPart)]
            if isinstance(request := messages[place], ModelRequest) and (query := _text_of(prompts)):
                if shown := await asyncio.to_thread(self._shown, query):
                    parts = list(request.parts)
                    parts.insert(parts.index(prompts[0]), UserPromptPart(shown, timestamp=prompts[0].timestamp))
                    told = [*messages[:place], replace(request, parts=parts), *messages[place + 1 :]]
                    return replace(request_context, messages=told)
                break
        return request_context

    async def after_run(self, ctx: RunContext[Any], *, result: AgentRunResult[Any]) -> AgentRunResult[Any]:
        """Add the run's new messages to the memory."""
        self._added = True
        await asyncio.to_thread(add_messages, self.memory, result.new_messages(), thread=self.thread)
        return result

    async def wrap_run(self, ctx: RunContext[Any], *, handler: WrapRunHandler) -> AgentRunResult[Any]:
        """Add the messages of a run that ends without a result too, if it was cancelled or its model had begun to
        answer. A run whose model answered nothing adds none: it will be asked again."""
        try:
            return await handler()
        except BaseException as error:
            said = [] if self._asked is None or self._added else _said_in(self._asked)
            if isinstance(error, asyncio.CancelledError) or any(isinstance(one, ModelResponse) for one in said):
                await asyncio.to_thread(add_messages, self.memory, said, thread=self.thread)
            raise

    def _shown(self, query: str) -> str:
        if query not in self._recalled:
            context = self.memory.recall(query, budget=self.budget, shown_threads=[self.thread], mode="inject")
            shared.count_visit(self.memory, context)
            self._recalled[query] = shared.recalled_text(self.memory, context)
        return self._recalled[query]


def memory_toolset(memory: OwnerMemory, *, budget: int | None = None) -> FunctionToolset[Any]:
    """The tools `search_memory(query)` and `remember(text)` over the memory of one user."""

    def search_memory(query: str) -> str:
        return shared.search_memory(memory, query, budget=budget)

    def remember(text: str) -> str:
        return shared.remember(memory, text)

    search = Tool(search_memory, name=shared.SEARCH_MEMORY, description=shared.SEARCH_MEMORY_DESCRIPTION)
    keep = Tool(remember, name=shared.REMEMBER, description=shared.REMEMBER_DESCRIPTION)
    return FunctionToolset[Any]([search, keep], id="embermem")


def add_messages(
    memory: OwnerMemory, messages: Sequence[ModelMessage], *, thread: str = "main", key: str | None = None
) -> Added | None:
    """Add new messages to a thread in one transaction, such as `result.new_messages()`; None if there are none.

    Each is one message of the memory with the text of its parts, and is kept beside it as an original. System prompts,
    instructions and thoughts are in the original only. Repeated with the same `key`, the call stores nothing. Raises
    InputError.
    """
    if not messages:
        return None
    kept = json.loads(ModelMessagesTypeAdapter.dump_json(list(messages)))
    given = [
        {**_said(one), "original": shared.original_of(_NAME, original)}
        for one, original in zip(messages, kept, strict=True)
    ]
    return memory.add_messages(given, thread=thread, key=key)


def messages_of(memory: OwnerMemory, *, thread: str = "main", last: int | None = None) -> list[ModelMessage]:
    """The messages that `add_messages` or `EmberMemory` added to a thread, oldest first, as `message_history` for a
    run; with `last`, so many of the newest."""
    kept = list(shared.items_of(memory, _NAME, thread=thread, last=last).values())
    return ModelMessagesTypeAdapter.validate_json(json.dumps(kept))


def _said_in(ctx: RunContext[Any]) -> list[ModelMessage]:
    """The messages of a run so far, without calls of tools that nothing has answered: no history may end with them."""
    messages = [one for one in ctx.messages if one.run_id == ctx.run_id]
    if messages and isinstance(last := messages[-1], ModelResponse) and (last.tool_calls or not last.parts):
        messages.pop()
    return messages


def _said(message: ModelMessage) -> dict[str, Any]:
    """A message in OpenAI's format."""
    at = {} if message.timestamp is None else {"at": message.timestamp}
    if isinstance(message, ModelResponse):
        calls = [{"name": call.tool_name, "arguments": call.args_as_json_str()} for call in message.tool_calls]
        return {"role": "assistant", "content": message.text or "", "tool_calls": calls, **at}
    if prompts := [part for part in message.parts if isinstance(part, UserPromptPart)]:
        contents = [[one.content] if isinstance(one.content, str) else one.content for one in prompts]
        return {"role": "user", "content": [_part(part) for content in contents for part in content], **at}
    returned = [
        part.model_response_str() if isinstance(part, ToolReturnPart) else part.model_response()
        for part in message.parts
        if isinstance(part, (ToolReturnPart, RetryPromptPart, RetryFeedbackPart))
    ]
    return {"role": "tool" if returned else "system", "content": "\n".join(returned), **at}


def _part(part: UserContent) -> str | dict[str, Any]:
    match part:
        case str():
            return part
        case TextContent():
            return part.content
        case ImageUrl():
            return {"type": "image_url", "image_url": {"url": part.url}}
        case _:
            return {"type": "file", "file": {"filename": str(getattr(part, "identifier", part.kind))}}


def _text_of(prompts: Sequence[UserPromptPart]) -> str:
    contents = [[one.content] if isinstance(one.content, str) else one.content for one in prompts]
    texts = [said for content in contents for one in content if isinstance(said := _part(one), str)]
    return "\n".join(text for text in texts if text.strip())
