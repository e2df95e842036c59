"""The function executor: the form of a call, and what each function does. Whatever it may not do goes back to the model
in words."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

from embermem.core.types import Owner, Scope, Utterance
from embermem.languages.words import terms
from embermem_bench.systems.memgpt import storage
from embermem_bench.systems.memgpt.blocks import Edit, Refused, edited, plain
from embermem_bench.systems.memgpt.kept import Passage, Voice
from embermem_bench.systems.memgpt.window import Find, Turn, log_line, passage_line, said_line
from embermem_bench.systems.numbers import MemGptNumbers
from embermem_bench.systems.records import RecordId

if TYPE_CHECKING:
    from embermem.core.types import Vectors

__all__ = ["Functions", "MemGptCall", "call_line", "page_of"]


@dataclass(frozen=True, kw_only=True, slots=True)
class MemGptCall:
    """One step of the model: a function with its arguments, those that it does not take left empty. `page` counts from
    0. `heartbeat` asks for one more step, with the result in view."""

    schema_name: ClassVar[str] = "MemGptCall"
    function: Literal[
        "core_memory_append",
        "core_memory_replace",
        "archival_memory_insert",
        "archival_memory_search",
        "conversation_search",
        "send_message",
    ]
    label: str = ""
    content: str = ""
    old_content: str = ""
    query: str = ""
    page: int = 0
    heartbeat: bool = False


class Functions:
    """What the functions do to a turn."""

    def __init__(
        self,
        numbers: MemGptNumbers,
        recall_storage: storage.RecallStorage,
        *,
        said: Callable[[Owner, Scope | None], Sequence[Utterance]],
        embed: Callable[[str], Vectors],
        new_id: Callable[[], RecordId],
    ) -> None:
        self._numbers, self._recall_storage = numbers, recall_storage
        self._said, self._embed, self._new_id = said, embed, new_id

    def run(self, turn: Turn, call: MemGptCall) -> str:
        """What a function gives back. Raises Refused, whose words go back to the model."""
        match call.function:
            case "archival_memory_search":
                return self._page_shown(turn, call, self.near(turn, _given(call.query, "query")))
            case "conversation_search":
                return self._page_shown(turn, call, self.said(turn, _given(call.query, "query")))
            case "send_message":  # one with content is no function of memory
                raise Refused("content is empty")
        if turn.query is not None:
            raise Refused("memory is read-only while a query is answered")
        if call.function == "archival_memory_insert":
            content = _given(call.content, "content")
            return self.insert(turn, content, _rests_on(turn, content))
        replaces = call.function == "core_memory_replace"
        old = _given(call.old_content, "old_content") if replaces else ""
        content = plain(call.content) if replaces else _given(call.content, "content")
        return self.edit(turn, call.label, content, _rests_on(turn, content), old_content=old)

    def edit(
        self, turn: Turn, label: str, content: str, sources: tuple[int, ...], *, old_content: str = "", key: str = ""
    ) -> str:
        """core_memory_replace with an old content, else core_memory_append."""
        block = turn.blocks.get(label)
        if block is None:
            raise Refused(f"there is no block {plain(label)[:32]!r}; blocks are {', '.join(turn.blocks)}")
        shared = block.shared is not None
        edit = Edit(
            id=self._new_id(),
            content=content,
            old_content=old_content,
            at=turn.at,
            sources=() if shared else sources,
            key=key,
        )
        turn.blocks[label] = edited(block, edit)
        if shared:
            turn.edits.setdefault(label, []).append(edit)
        return "OK"

    def insert(self, turn: Turn, content: str, sources: tuple[int, ...]) -> str:
        """A new passage; one of the same words rests on more from now on."""
        if len(content) > self._numbers.passage_chars:
            raise Refused(f"content has {len(content)} of {self._numbers.passage_chars} characters; insert it in parts")
        for i, passage in enumerate(turn.passages):
            if passage.text == content and not passage.file:
                turn.passages[i] = replace(passage, sources=tuple(sorted({*passage.sources, *sources})))
                return "OK, it was there already"
        vector = self._embed(content)[0]
        turn.passages.append(Passage(id=self._new_id(), text=content, at=turn.at, sources=sources, vector=vector))
        return "OK"

    def _page_shown(self, turn: Turn, call: MemGptCall, found: Sequence[Find]) -> str:
        """One page of results as the model sees it."""
        if not found:
            return "nothing found"
        on_page, said = page_of(len(found), call.page, max(1, self._numbers.page_size))
        turn.finds += found[on_page]
        return "\n".join([said, *(f"  {find.shown}" for find in found[on_page])])

    def near(self, turn: Turn, query: str) -> list[Find]:
        """archival_memory_search: all that is near the query."""
        if not turn.passages:
            return []
        found = storage.near(turn.passages, self._embed(query)[0])
        return [Find(shown=passage_line(p), text=passage_line(p), seqs=p.sources, relevance=near) for p, near in found]

    def said(self, turn: Turn, query: str) -> list[Find]:
        """conversation_search: all that holds words of the query."""
        log = self._said(turn.owner, None)
        seen = log if turn.scope is None else self._said(turn.owner, turn.scope)
        return [
            Find(shown=said_line(u, self._numbers.message_chars), text=log_line(u), seqs=(u.seq,), relevance=share)
            for u, share in self._recall_storage.search(turn.owner.id, log, seen, query)
        ]


_TAKES = {
    "core_memory_append": ("label", "content"),
    "core_memory_replace": ("label", "old_content", "content"),
    "archival_memory_insert": ("content",),
    "archival_memory_search": ("query", "page"),
    "conversation_search": ("query", "page"),
    "send_message": ("content",),
}


def call_line(call: MemGptCall, chars: int) -> str:
    """`conversation_search(query="heron", page=0)`, each argument cut to so many characters."""
    given = {name: getattr(call, name) for name in _TAKES[call.function]}
    shown = {n: plain(v)[:chars] if isinstance(v, str) else v for n, v in given.items()}
    return f"{call.function}({', '.join(f'{n}={json.dumps(v, ensure_ascii=False)}' for n, v in shown.items())})"


def page_of(found: int, page: int, size: int) -> tuple[slice, str]:
    """Which of so many results stand on a page, and what is said of it. Raises Refused if there is no such page."""
    last = max(0, -(-found // size) - 1)
    if not 0 <= page <= last:
        raise Refused(f"there is no page {page}; pages are 0 to {last}")
    return slice(page * size, (page + 1) * size), f"page {page} of 0 to {last}, {found} found:"


def _rests_on(turn: Turn, content: str) -> tuple[int, ...]:
    """The messages of the queue that hold at least half of the content's words; where none does, the page at hand."""
    words = set(terms(content))
    said = [entry for entry in turn.queue if entry.voice is Voice.SAID]
    held = {entry.sources[0]: len(words.intersection(terms(entry.text))) for entry in said}
    return tuple(seq for seq, count in held.items() if count and 2 * count >= len(words)) or turn.sources


def _given(text: str, name: str) -> str:
    if not (text := plain(text)):
        raise Refused(f"{name} is empty")
    return text
