"""Answers to the questions of MemGPT: a model that notes what people say of themselves, and searches twice."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from embermem.languages.words import sentences

_SAID = re.compile(r"said \d{4}-\d\d-\d\d (?P<speaker>[^:]*): (?P<text>.*)")
_OWN = re.compile(r"\b(?:I|I'm|I've|[Mm]y|[Ww]e|[Oo]ur)\b|我")
_NOTE = 120
"""Characters of a sentence that is noted, or searched for."""
_WORDS = 120
"""Of a summary."""


def _called(shown: str) -> dict[str, Any]:
    lines = shown.splitlines()
    start = lines.index("queue:") + 1
    asked = [number for number, line in enumerate(lines) if number >= start and line.startswith("query: ")]
    if asked:
        query = lines[asked[0]].removeprefix("query: ")
        return _looked(query, [line for line in lines[asked[0] :] if line.startswith("call ")])
    return _learnt(lines[:start], lines[start:])


def _looked(query: str, calls: Sequence[str]) -> dict[str, Any]:
    """One search of each storage with the query's beginning, then the message. A long answer that repeats itself would
    be ended."""
    functions = ("conversation_search", "archival_memory_search")
    if query and len(calls) < len(functions):
        return _call(functions[len(calls)], query=query[:_NOTE], heartbeat=True)
    return _call("send_message")


def _learnt(head: Sequence[str], queue: Sequence[str]) -> dict[str, Any]:
    """A sentence in the first person goes into the block; what does not fit there, and what pressure is about to drive
    out, into the archive."""
    last = queue[-1] if queue else ""
    if last.startswith("system "):
        return _call("archival_memory_insert", content=_notes(queue)[0] if _notes(queue) else "nothing was said")
    new: list[str] = []
    for line in reversed(queue):
        if line.startswith("said "):
            new.insert(0, line)
        elif new:
            break
    told = [note for note in _notes(new) if _OWN.search(note)]
    if not told or f"  {told[0]}" in head or last == "result OK":
        return _call("send_message", content=_noted(queue))
    if last.startswith("result error:"):
        return _call("archival_memory_insert", content=told[0])
    return _call("core_memory_append", label="human", content=told[0], heartbeat=True)


def _noted(queue: Sequence[str]) -> str:
    """The reply of a model that talks: the newest note of the queue."""
    return next(iter(_notes(queue)[::-1]), "Nothing was said.")


def _notes(lines: Sequence[str]) -> list[str]:
    """`Alice: first sentence` of each message."""
    found = [match for match in map(_SAID.match, lines) if match and match["text"]]
    return [f"{match['speaker']}: {_first(match['text'])}" for match in found]


def _first(text: str) -> str:
    start, end = (sentences(text) or [(0, len(text))])[0]
    return text[start:end][:_NOTE].strip()


def _call(function: str, **given: object) -> dict[str, Any]:
    empty: dict[str, Any] = {"label": "", "content": "", "old_content": "", "query": "", "page": 0, "heartbeat": False}
    return {"function": function, **empty, **given}


def _summarised(shown: str) -> dict[str, Any]:
    """The newest words of the old summary and of each message's first sentence."""
    first, *lines = shown.splitlines()
    old = first.removeprefix("summary so far: ")
    words = " ".join([*([] if old == "none" else [old]), *_notes(lines)]).split()
    return {"summary": " ".join(words[-_WORDS:]) or "Nothing was said."}


ANSWERS: Mapping[str, Callable[[str], dict[str, Any]]] = {"MemGptCall": _called, "MemGptSummary": _summarised}
