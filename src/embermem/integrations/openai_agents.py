"""OpenAI's Agents SDK: a session that keeps its items in a memory, tools, and a filter that shows a model what is
recalled.

A session is a thread: each item is a message with the item as its original (docs/guides/originals.md), and what the
item says as its text. Items come back exactly and in order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, cast

from embermem.core.errors import InputError, NotFound
from embermem.core.extras import needing
from embermem.core.types import Page, Utterance, UtteranceId
from embermem.integrations import shared
from embermem.owner_memory import OwnerMemory

with needing("openai-agents", "embermem.integrations.openai_agents"):
    from agents import SessionSettings, Tool, TResponseInputItem, function_tool
    from agents.memory.session import SessionABC
    from agents.run_config import CallModelData, ModelInputData

__all__ = ["EmberSession", "memory_tools", "recalling"]

_NAME = "openai-agents"
_LONGEST = 200_000
"""Characters of an item's text that enter memory; its original keeps all of them."""
_CALLS = ("function_call", "custom_tool_call", "mcp_call")


class EmberSession(SessionABC):
    """A session of the Agents SDK in the thread `session_id` of an owner's memory (also a client's handle).

    Several sessions of one id, also in other processes, may append to the same thread. `pop_item` and `clear_session`
    forget what they remove, also in memory.
    """

    def __init__(
        self, memory: OwnerMemory, session_id: str, *, session_settings: SessionSettings | None = None
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings or SessionSettings()
        self._memory = memory

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The last `limit` items, oldest first; all where neither it nor the settings' limit is given or is at least
        0."""
        last = self.session_settings.limit if limit is None and self.session_settings is not None else limit
        return [item for _, item in await asyncio.to_thread(self._items, last)]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Append items, all or none."""
        if items:
            messages = [
                {**_message(cast("Mapping[str, Any]", item)), "original": shared.original_of(_NAME, item)}
                for item in items
            ]
            await asyncio.to_thread(self._memory.add_messages, messages, thread=self.session_id)

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove the newest item from the session and the memory, and return it; None if there is none."""
        return await asyncio.to_thread(self._pop)

    async def clear_session(self) -> None:
        """Forget all items, and what was learnt from them alone."""
        await asyncio.to_thread(self._clear)

    def _items(self, last: int | None) -> list[tuple[str, TResponseInputItem]]:
        newest = last if last is not None and last >= 0 else None
        return list(shared.items_of(self._memory, _NAME, thread=self.session_id, last=newest).items())

    def _clear(self) -> None:
        try:
            self._memory.forget(thread=self.session_id)
        except NotFound:
            return

    def _pop(self) -> TResponseInputItem | None:
        """What is forgotten is a page. The other messages of the page are added as a new page first, and only then the
        old one is forgotten: nothing else is lost or barred from being learnt. Their time is a microsecond later, since
        what was forgotten is not stored again for its time. Whoever reads in between finds these messages twice."""
        newest = self._items(1)
        if not newest:
            return None
        item_id, item = newest[0]
        page = self._memory.page(self._memory.utterance(item_id).page_id)
        rest = [one for one in page.utterances if one.id != item_id]
        if rest:
            self._add_again(page, rest, apart=True)
            grown = self._memory.page(page.id).utterances[len(page.utterances) :]  # by others, until the new page began
            if grown:
                self._add_again(page, grown, apart=False)
        self._memory.forget(page=page.id)
        return item

    def _add_again(self, page: Page, messages: Sequence[Utterance], *, apart: bool) -> None:
        """Messages of a page as they were; `apart`: on a page of their own, which an agent's message does not begin."""
        originals = self._memory.originals([one.id for one in messages])
        again = [_again(one, originals) for one in messages]
        if apart and messages[0].role.agent_side:
            # Without words, and with an original of no adapter: it begins the page, and is no item.
            again.insert(0, {"role": "user", "content": "", "original": {}, "at": again[0]["at"]})
        self._memory.add_messages(again, thread=page.thread, fresh=apart, expires_at=page.expires_at)


def memory_tools(memory: OwnerMemory, *, budget: int | None = None) -> list[Tool]:
    """The tools `search_memory` and `remember` for an agent. `budget` is that of `recall`, in tokens."""

    async def search_memory(query: str) -> str:
        return await asyncio.to_thread(shared.search_memory, memory, query, budget=budget)

    async def remember(text: str) -> str:
        return await asyncio.to_thread(shared.remember, memory, text)

    return [
        function_tool(
            search_memory,
            name_override=shared.SEARCH_MEMORY,
            description_override=shared.SEARCH_MEMORY_DESCRIPTION,
        ),
        function_tool(remember, name_override=shared.REMEMBER, description_override=shared.REMEMBER_DESCRIPTION),
    ]


def recalling(
    memory: OwnerMemory, *, thread: str | None = None, budget: int | None = None
) -> Callable[[CallModelData[Any]], Any]:
    """A `RunConfig(call_model_input_filter=…)` that puts what is recalled for the user's newest message before it, as
    a system message that no session keeps.

    `thread` is the session's id: the prompt holds the session already, so none of its lines is told again.
    """

    async def filtered(data: CallModelData[Any]) -> ModelInputData:
        items = list(data.model_data.input)
        place = next((i for i in reversed(range(len(items))) if _is_of_user(items[i])), None)
        query = "" if place is None else _text(cast("Mapping[str, Any]", items[place]).get("content"))
        if place is not None and query.strip():
            told = await asyncio.to_thread(_recalled, query, visited=place == len(items) - 1)
            if told:
                items.insert(place, {"role": "system", "content": told})
        return ModelInputData(input=items, instructions=data.model_data.instructions)

    def _recalled(query: str, *, visited: bool) -> str:
        shown = () if thread is None else (thread,)
        context = memory.recall(query[:_LONGEST], budget=budget, thread=thread, shown_threads=shown, mode="inject")
        if visited:
            shared.count_visit(memory, context)
        return shared.recalled_text(memory, context)

    return filtered


def _is_of_user(item: Any) -> bool:
    return isinstance(item, Mapping) and item.get("role") == "user"


def _message(item: Mapping[str, Any]) -> dict[str, Any]:
    """An item as a message: its role and what it says. Raises InputError."""
    if not isinstance(item, Mapping):
        raise InputError(
            f"an item of a session is {type(item).__name__}; give dicts such as {{'role': 'user', 'content': '…'}}"
        )
    kind, role = item.get("type", "message"), item.get("role")
    if kind == "message" and isinstance(role, str):
        return {"role": role, "content": _text(item.get("content"))}
    if kind in _CALLS:
        asked = {"name": item.get("name", ""), "arguments": item.get("arguments", item.get("input", ""))}
        return {
            "role": "assistant",
            "content": _text(item.get("output")),
            "tool_calls": [{"function": asked}],
        }
    if kind == "file_search_call":
        return _search("file_search", item.get("queries"))
    if kind == "web_search_call":
        action = item.get("action")
        return _search("web_search", action.get("query") if isinstance(action, Mapping) else None)
    output = item.get("output") if str(kind).endswith("_output") else None
    return {"role": "tool", "content": _text(output)}


def _search(name: str, asked: object) -> dict[str, Any]:
    text = _text([asked] if isinstance(asked, str) else asked)
    calls = [{"function": {"name": name, "arguments": text}}] if text else []
    return {"role": "assistant", "content": "", "tool_calls": calls}


def _text(content: object) -> str:
    """What a content says: texts as they are, images and files by their names, nothing of what is only data."""
    parts = [content] if isinstance(content, str) else content if isinstance(content, Sequence) else []
    told = [one if isinstance(one, str) else _part(one) for one in parts]
    text = "\n".join(one for one in told if one).replace("\x00", "")[:_LONGEST]
    return text.encode("utf-8", "replace").decode()


def _part(part: object) -> str:
    if not isinstance(part, Mapping):
        return ""
    text = part.get("text", part.get("refusal", part.get("transcript")))
    if isinstance(text, str):
        return text
    kind = str(part.get("type", ""))
    if "image" in kind:
        return "[image]"
    if "file" in kind:
        name = part.get("filename")
        return f"[file: {name}]" if isinstance(name, str) else "[file]"
    return "[audio]" if "audio" in kind else ""


def _again(said: Utterance, originals: Mapping[UtteranceId | str, Any]) -> dict[str, Any]:
    """A message as it was added, but for its time."""
    return {
        "role": said.role.value,
        "content": said.text,
        "name": said.speaker,
        "at": said.said_at + timedelta(microseconds=1),
        "metadata": dict(said.metadata),
        "original": originals.get(said.id),
    }
