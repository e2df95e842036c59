"""What several adapters share: the tools of an agent, the text that shows a model what was recalled, and the items of a
framework that messages keep."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from embermem import prompts
from embermem.core import messages
from embermem.core.types import Context
from embermem.owner_memory import OwnerMemory, count_visit

__all__ = [
    "REMEMBER",
    "REMEMBERED",
    "REMEMBER_DESCRIPTION",
    "SEARCH_MEMORY",
    "SEARCH_MEMORY_DESCRIPTION",
    "bound",
    "count_visit",
    "item_in",
    "items_of",
    "original_of",
    "recalled_text",
    "remember",
    "search_memory",
]

SEARCH_MEMORY = "search_memory"
SEARCH_MEMORY_DESCRIPTION = (
    "Search the long-term memory of this user: who they are, facts about them, and what was said in earlier"
    " conversations, with dates. Call it before you answer whenever earlier conversations may help. `query` is the"
    " question in plain words, with names. If the result says nothing about the matter, say that you do not know."
)
REMEMBER = "remember"
REMEMBER_DESCRIPTION = (
    "Keep something that the user has said in the long-term memory. Call it when the user asks you to remember"
    " something. `text` is what the user said, in the user's own words and the first person, such as 'I am allergic to"
    " nuts.' Do not pass it what search_memory returned, your own notes, passwords or keys."
)
REMEMBERED = "remembered"
"""The thread of what `remember` adds, where the adapter names no other."""

_Run = TypeVar("_Run")


def bound(memory: OwnerMemory | Callable[[_Run], OwnerMemory]) -> Callable[[_Run], OwnerMemory]:
    """What finds the memory of a run: always this one, or what a function returns for the run."""
    return (lambda _: memory) if isinstance(memory, OwnerMemory) else memory


def original_of(adapter: str, item: Any) -> dict[str, Any]:
    """The original of a message that an adapter adds: its item, under the adapter's name."""
    return {adapter: item}


def item_in(original: Any, adapter: str) -> Any:
    """The item of an adapter in an original; None where the original is of another adapter or of a caller."""
    return original.get(adapter) if isinstance(original, Mapping) and len(original) == 1 else None


def items_of(memory: OwnerMemory, adapter: str, *, thread: str, last: int | None = None) -> dict[str, Any]:
    """The items that an adapter added to a thread, by the ids of their messages, oldest first; with `last`, so many of
    the newest. Other messages of the thread are left out. Raises InputError."""
    name = messages.thread_id(thread)
    found = memory.originals(thread=name, last=last)
    items = {id: item for id, one in found.items() if (item := item_in(one, adapter)) is not None}
    if last is None or len(items) == last or len(found) < last:
        return items
    return dict(list(items_of(memory, adapter, thread=name).items())[-last:])


def recalled_text(memory: OwnerMemory, context: Context) -> str:
    """The text of a system message that shows a recalled context to a model; empty if nothing was recalled.

    The context is between the store's markers (`OwnerMemory.marked`), with a notice on how to read it: if the text is
    added to the memory again, all of it is removed. The same context gives the same text.
    """
    return memory.marked(f"{prompts.load('recalled').fill()}\n\n{context.text}") if context.text else ""


def search_memory(memory: OwnerMemory, query: str, *, thread: str | None = None, budget: int | None = None) -> str:
    """The tool `search_memory`: recalls, counts the visit, and returns the text for the model."""
    context = memory.recall(query, thread=thread, budget=budget)
    count_visit(memory, context)
    return recalled_text(memory, context) or "Nothing is remembered about this."


def remember(memory: OwnerMemory, text: str, *, thread: str = REMEMBERED, key: str | None = None) -> str:
    """The tool `remember`: adds the text as said by the user, and returns what the model is told. Raises InputError."""
    memory.add(text, thread=thread, key=key)
    return "Remembered."
