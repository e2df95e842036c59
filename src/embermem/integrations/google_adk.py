"""Google ADK: a memory service, whose applications are agents and whose sessions are threads of a memory."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from embermem.core.errors import InputError, KeyReused, NotFound
from embermem.core.extras import needing
from embermem.core.types import Fact, Hit
from embermem.integrations import shared
from embermem.memory import Memory
from embermem.owner_memory import OwnerMemory

with needing("google-adk", "embermem.integrations.google_adk"):
    from google.adk.events.event import Event
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.sessions.session import Session
    from google.genai import types

__all__ = ["EmberMemoryService"]

_NAME = "google-adk"
LOAD_MEMORY = "load_memory"
"""ADK's own tool, whose results are memories already and are not added again."""
_AT_ONCE = 500
"""Events that one call adds."""


class EmberMemoryService(BaseMemoryService):
    """Memories of users for a Runner: `Runner(…, memory_service=EmberMemoryService(memory))`.

    The user is `memory.of(user_id, agent=app_name)`; no call reaches another one. `budget` is the most tokens that a
    search returns (default: the setting). Errors of the memory are raised (EmberError).
    """

    def __init__(self, memory: Memory, *, budget: int | None = None) -> None:
        self._memory = memory
        self._budget = budget

    async def add_session_to_memory(self, session: Session) -> None:
        """Add the events of a session that were not added before, to the thread of its id. An event that was forgotten
        since is not added again."""
        await asyncio.to_thread(
            self._add_events, self._of(session.app_name, session.user_id), session.events, session.id, None
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Add events that were not added before, to the thread of the session, or "main" without one.
        `custom_metadata` is stored as the metadata of their messages."""
        owner = self._of(app_name, user_id)
        await asyncio.to_thread(self._add_events, owner, events, session_id or "main", custom_metadata)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Add memories as messages of the user, or of the author if it is another, to the thread "remembered". With an
        id, a memory is added once."""
        owner = self._of(app_name, user_id)
        items = [
            _item(
                one.id,
                one.author or "user",
                one.content,
                one.timestamp,
                {**one.custom_metadata, **(custom_metadata or {})},
            )
            for one in memories
        ]
        await asyncio.to_thread(_add, owner, items, shared.REMEMBERED)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Recall: the facts that matter to the query, then what was said, each with its content as it was added. The
        ids are those of facts and pages of the memory."""
        owner = self._of(app_name, user_id)
        return SearchMemoryResponse(memories=await asyncio.to_thread(self._recalled, owner, query))

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Forget a fact or a page by the id that `search_memory` returned; unknown ids are ignored. A page is one
        exchange: what the user said with the answer."""
        if memory_id:
            try:
                await asyncio.to_thread(self._of(app_name, user_id).delete, memory_id)
            except NotFound:
                return

    def _of(self, app_name: str, user_id: str) -> OwnerMemory:
        return self._memory.of(user_id, agent=app_name)

    def _add_events(
        self, owner: OwnerMemory, events: Sequence[Event], thread: str, metadata: Mapping[str, object] | None
    ) -> None:
        items = []
        for event in events:
            content = _without_memories(event.content)
            if content is not None and not event.partial:
                at = datetime.fromtimestamp(event.timestamp, UTC).isoformat()
                items.append(_item(event.id, event.author, content, at, metadata))
        _add(owner, items, thread)

    def _recalled(self, owner: OwnerMemory, query: str) -> list[MemoryEntry]:
        context = owner.recall(query, budget=self._budget)
        shared.count_visit(owner, context)
        said = sorted(context.packed, key=lambda hit: hit.utterance.seq)
        kept = owner.originals([hit.utterance.id for hit in said]) if said else {}
        return [
            *(_entry_of_fact(fact) for fact in context.facts),
            *(_entry(hit, kept.get(hit.utterance.id)) for hit in said),
        ]


def _item(
    event_id: str | None, author: str, content: types.Content, at: str | None, metadata: Mapping[str, object] | None
) -> dict[str, Any]:
    """A content as an item of `add_many`."""
    original = content.model_dump(mode="json", exclude_none=True)
    message = {**_said(author, content), "original": shared.original_of(_NAME, original)}
    return {
        "messages": [message],
        **({"at": at} if at else {}),
        **({"key": f"google-adk:{event_id}"} if event_id else {}),
        **({"metadata": metadata} if metadata else {}),
    }


def _add(owner: OwnerMemory, items: Sequence[dict[str, Any]], thread: str) -> None:
    """Add items. Those whose key was used before were added before."""
    for first in range(0, len(items), _AT_ONCE):
        for result in owner.add_many(items[first : first + _AT_ONCE], thread=thread):
            if result.error and result.error_kind != KeyReused.tag:
                raise InputError(result.error)


def _without_memories(content: types.Content | None) -> types.Content | None:
    """A content without the results of ADK's `load_memory`; None if there is nothing else."""
    parts = [
        part
        for part in (content.parts if content else None) or []
        if not (part.function_response and part.function_response.name == LOAD_MEMORY)
    ]
    return content.model_copy(update={"parts": parts}) if content and parts else None


def _said(author: str, content: types.Content) -> dict[str, Any]:
    """A content in OpenAI's format: thoughts are left out, data are named."""
    parts: list[dict[str, Any]] = []
    calls: list[dict[str, Any]] = []
    returned = False
    for part in content.parts or []:
        if part.text and not part.thought:
            parts.append({"type": "text", "text": part.text})
        elif part.function_call:
            calls.append({"name": part.function_call.name, "arguments": part.function_call.args or {}})
        elif part.function_response:
            returned = True
            shown = json.dumps(part.function_response.response, ensure_ascii=False, default=str)
            parts.append({"type": "text", "text": shown})
        elif data := part.inline_data or part.file_data:
            parts.append({"type": "file", "file": {"filename": data.display_name or data.mime_type or "file"}})
    if author == "user":
        return {"role": "user", "content": parts}
    return {"role": "tool" if returned else "assistant", "name": author, "content": parts, "tool_calls": calls}


def _entry(hit: Hit, original: object) -> MemoryEntry:
    said = hit.utterance
    content = types.Content.model_validate(shared.item_in(original, _NAME) or {"parts": [{"text": said.text}]})
    author = "user" if said.role.value == "user" else said.speaker
    return MemoryEntry(
        id=said.page_id,
        content=content,
        author=author,
        timestamp=said.said_at.isoformat(),
        custom_metadata=dict(said.metadata),
    )


def _entry_of_fact(fact: Fact) -> MemoryEntry:
    return MemoryEntry(
        id=fact.id,
        content=types.Content(parts=[types.Part(text=fact.text)]),
        timestamp=(fact.valid_from or fact.recorded_at).isoformat(),
        custom_metadata=dict(fact.metadata),
    )
