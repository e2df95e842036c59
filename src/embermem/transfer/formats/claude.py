"""Claude's export: conversations, projects with their documents, and what Claude remembers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from embermem.transfer.files import Files
from embermem.transfer.formats.format import Format, Options
from embermem.transfer.formats.shapes import (
    bad,
    branches,
    json_of,
    json_with,
    lineage,
    listed,
    mapping,
    moment,
    text_of,
    untimed,
)
from embermem.transfer.items import DocumentEntry, Entry, Found, LeftOut

_LABELS = {"source": "claude"}
_TALKS, _PROJECTS, _PROJECT, _MEMORIES = "[].chat_messages", "[].docs", "docs", "[].conversations_memory"
_ROLES = {"human": "user", "assistant": "assistant"}
_SILENT = ("thinking", "redacted_thinking", "token_budget", "flag")


def sniff(files: Files) -> bool:
    projects = [*json_with(files, _PROJECTS, "[].prompt_template"), *json_with(files, _PROJECT, "prompt_template")]
    return bool(json_with(files, _TALKS) or json_with(files, _MEMORIES) or projects)


def read(files: Files, options: Options) -> Iterator[Found]:
    for name in json_with(files, _MEMORIES):
        for place, _, value in json_of(files, name, lambda path: path == ()):
            yield from _memories(mapping(value), place)
    for name in json_with(files, _PROJECTS):
        for place, _, value in json_of(files, name, lambda path: path == ()):
            yield from _project(mapping(value), place)
    for name in json_with(files, _PROJECT, "prompt_template"):
        for place, _, value in json_of(files, name, lambda path: False):
            yield from _project(mapping(value), place)
    for name in json_with(files, _TALKS):
        for place, _, value in json_of(files, name, lambda path: path == ()):
            if isinstance(value, dict) and isinstance(value.get("chat_messages"), list):
                yield from _conversation(value, place, options)
            else:
                yield bad(place, "no conversation with chat_messages")


def _conversation(value: Mapping[str, Any], place: str, options: Options) -> Iterator[Found]:
    messages = [mapping(one) for one in value["chat_messages"]]
    ids = [text_of(one.get("uuid")) or str(number) for number, one in enumerate(messages)]
    parents: dict[str, str | None] = {}
    for number, (message, name) in enumerate(zip(messages, ids, strict=True)):
        before = ids[number - 1] if number else None
        parents[name] = message.get("parent_message_uuid", before)
    by_name = dict(zip(ids, zip(messages, range(len(messages)), strict=True), strict=True))
    current = lineage(parents, ids[-1] if ids else None)
    thread = f"claude:{text_of(value.get('uuid')) or place}"
    yield from untimed(value, place, "created_at")
    title, began = text_of(value.get("name")) or None, moment(value.get("created_at"))
    for number, branch in enumerate([current, *branches(parents, current)]):
        for name in branch:
            message, at = by_name[name]
            where = f"{place}.chat_messages[{at}]"
            named = thread if not number else f"{thread}:branch:{number}"
            for found in _message(message, where, named, title, began):
                left = number and isinstance(found, Entry) and not options.branches
                yield LeftOut(what="messages of other branches (--branches imports them)") if left else found


def _message(
    message: Mapping[str, Any], place: str, thread: str, title: str | None, began: datetime | None
) -> Iterator[Found]:
    role = _ROLES.get(text_of(message.get("sender")))
    if role is None:
        yield bad(place, f"the sender {message.get('sender')!r} is not known")
        return
    yield from untimed(message, place, "created_at")
    at = moment(message.get("created_at")) or began
    for key, form in (("text", str), ("content", list), ("attachments", list), ("files", list)):
        if not isinstance(message.get(key), (form, type(None))):
            yield bad(place, f"{key} is of type {type(message[key]).__name__}", f"{key} was left out")
    texts, calls, results = list[str](), list[object](), list[str]()
    for number, part in enumerate(listed(message.get("content"))):
        kind, of = text_of(mapping(part).get("type")), mapping(part)
        if kind == "text" and not isinstance(of.get("text"), str):
            yield bad(f"{place}.content[{number}]", f"text is of type {type(of.get('text')).__name__}")
        elif kind == "text":
            texts.append(text_of(of.get("text")))
        elif kind == "tool_use":
            given = json.dumps(of.get("input"), ensure_ascii=False)
            calls.append({"function": {"name": text_of(of.get("name")) or "tool", "arguments": given}})
        elif kind == "tool_result":
            results.append(_result(of.get("content")))
        elif kind == "image":
            texts.append("[image]")
        elif kind in _SILENT:
            yield LeftOut(what="reasoning of the model")
        else:
            yield bad(f"{place}.content[{number}]", f"content of the kind {kind or 'none'!r} is not known")
    said = [one for one in texts if one.strip()] or [text_of(message.get("text"))]
    for one in [*listed(message.get("attachments")), *listed(message.get("files"))]:
        name, inner = text_of(mapping(one).get("file_name")) or "a file", mapping(one).get("extracted_content")
        said.append(f"[file: {name}]")
        if isinstance(inner, str) and inner.strip():
            yield DocumentEntry(
                place=place,
                text=inner,
                title=name,
                source=f"{thread}/{name}#{message.get('uuid') or place}"[-512:],
                at=at,
                metadata=_LABELS,
            )
    text = "\n".join(one for one in said if one.strip())
    if not text and not calls and not results:
        yield LeftOut(what="empty messages")
        return
    made = Entry(place=place, role=role, content=text, thread=thread, title=title, at=at, metadata=_LABELS)
    if calls:
        yield replace(made, content=None, more={"tool_calls": calls})
    yield from (replace(made, role="tool", content=result) for result in results if result.strip())
    if text:
        yield made


def _result(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = [text_of(mapping(one).get("text")) or f"[{mapping(one).get('type', 'part')}]" for one in listed(content)]
    return "\n".join(parts)


def _project(value: Mapping[str, Any], place: str) -> Iterator[Found]:
    project = text_of(value.get("name")) or "project"
    source = f"claude:project:{text_of(value.get('uuid')) or project}"
    at = moment(value.get("created_at"))
    template = text_of(value.get("prompt_template"))
    if template.strip():
        yield DocumentEntry(
            place=f"{place}.prompt_template",
            text=template,
            title=f"{project}: instructions",
            source=source,
            at=at,
            metadata=_LABELS,
        )
    for number, one in enumerate(listed(value.get("docs"))):
        doc, where = mapping(one), f"{place}.docs[{number}]"
        name, text = text_of(doc.get("filename")) or f"document {number + 1}", text_of(doc.get("content"))
        if not text.strip():
            yield bad(where, f"the document {name!r} has no text")
            continue
        yield DocumentEntry(
            place=where,
            text=text,
            title=f"{project}: {name}",
            source=f"{source}/{name}#{doc.get('uuid') or number}"[-512:],
            at=moment(doc.get("created_at")) or at,
            metadata=_LABELS,
        )


def _memories(value: Mapping[str, Any], place: str) -> Iterator[Found]:
    """What Claude remembers is a text of Claude's: it is stored as a document, not as the user's word."""
    texts = {"conversations_memory": value.get("conversations_memory"), **mapping(value.get("project_memories"))}
    for name, text in texts.items():
        if isinstance(text, str) and text.strip():
            title = "What Claude remembers" if name == "conversations_memory" else "What Claude remembers of a project"
            yield DocumentEntry(
                place=f"{place}.{name}", text=text, title=title, source=f"claude:memory:{name}", metadata=_LABELS
            )


FORMAT = Format(name="claude", title="Claude's export", sniff=sniff, read=read)
