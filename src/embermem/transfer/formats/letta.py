"""Letta's agent file (`.af`): the agent's messages and its memory blocks. Both of its forms are read: one agent, or
lists of agents and blocks that name each other."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from embermem.transfer.files import Files
from embermem.transfer.formats.format import Format, Options
from embermem.transfer.formats.shapes import (
    bad,
    json_of,
    json_with,
    listed,
    mapping,
    moment,
    statements,
    text_of,
    untimed,
)
from embermem.transfer.items import DocumentEntry, Entry, FactEntry, Found, LeftOut

_LABELS = {"source": "letta"}
_ONE, _SEVERAL = ("core_memory", "messages"), ("agents", "blocks")
_OF_AGENT = ("persona",)
_SAYS = ("send_message",)


def sniff(files: Files) -> bool:
    return bool(json_with(files, *_ONE) or json_with(files, *_SEVERAL))


def read(files: Files, options: Options) -> Iterator[Found]:
    for name in [*json_with(files, *_ONE), *json_with(files, *_SEVERAL)]:
        for place, _, value in json_of(files, name, lambda path: False):
            of = mapping(value)
            blocks = {text_of(mapping(one).get("id")): mapping(one) for one in listed(of.get("blocks"))}
            if "agents" not in of:
                yield from _agent(of, place, blocks)
            for number, agent in enumerate(listed(of.get("agents"))):
                yield from _agent(mapping(agent), f"{place}.agents[{number}]", blocks)


def _agent(agent: Mapping[str, Any], place: str, blocks: Mapping[str, Mapping[str, Any]]) -> Iterator[Found]:
    own = [(f"{place}.core_memory[{n}]", mapping(one)) for n, one in enumerate(listed(agent.get("core_memory")))]
    own += [
        (f"{place}.block_ids[{n}]", blocks.get(text_of(one), {}))
        for n, one in enumerate(listed(agent.get("block_ids")))
    ]
    for where, block in own:
        yield from _block(block, where)
    thread = f"letta:{text_of(agent.get('id')) or text_of(agent.get('name')) or 'agent'}"
    for number, message in enumerate(listed(agent.get("messages"))):
        where = f"{place}.messages[{number}]"
        yield from _message(mapping(message), where, thread, text_of(agent.get("name")) or None)


def _block(block: Mapping[str, Any], place: str) -> Iterator[Found]:
    """A block as facts: `persona` is about the agent, `human` and any other about the user."""
    label, text = text_of(block.get("label")), text_of(block.get("value"))
    if not text.strip():
        yield bad(place, f"the block {label or 'without a label'} is empty")
        return
    if label not in (*_OF_AGENT, "human"):
        yield DocumentEntry(
            place=place,
            text=text,
            title=label or "memory block",
            source=f"letta:block:{block.get('id') or label}",
            metadata=_LABELS,
        )
        return
    yield from untimed(block, place, "updated_at", "created_at")
    about, at = "agent" if label in _OF_AGENT else "user", moment(block.get("updated_at") or block.get("created_at"))
    for line in statements(text):
        yield FactEntry(place=place, text=line, about=about, since=at, metadata={**_LABELS, "block": label})


def _message(message: Mapping[str, Any], place: str, thread: str, title: str | None) -> Iterator[Found]:
    role, content = text_of(message.get("role")), message.get("content")
    text = content if isinstance(content, str) else _parts(content) or text_of(message.get("text"))
    yield from untimed(message, place, "created_at")
    at = moment(message.get("created_at"))
    calls = [mapping(one) for one in listed(message.get("tool_calls"))]
    if role in ("system", "developer"):
        yield LeftOut(what="messages of the system")
    elif role == "user" and _is_event(text):
        inner = _event_text(text)
        if inner:
            yield Entry(place=place, role="user", content=inner, thread=thread, title=title, at=at, metadata=_LABELS)
        else:
            yield LeftOut(what="events that nobody said (heartbeats, logins)")
    elif role == "assistant" and calls:
        for call in calls:
            yield from _call(mapping(call.get("function")), place, thread, title, message)
    elif role in ("tool", "function"):
        yield LeftOut(what="results of tools")
    elif role not in ("user", "assistant"):
        yield bad(place, f"the role {role!r} is not known")
    elif text.strip():
        yield Entry(place=place, role=role, content=text, thread=thread, title=title, at=at, metadata=_LABELS)
    else:
        yield LeftOut(what="empty messages")


def _call(
    function: Mapping[str, Any], place: str, thread: str, title: str | None, message: Mapping[str, Any]
) -> Iterator[Found]:
    """What an agent says is an argument of its tool `send_message`; other tools are its own business."""
    if function.get("name") not in _SAYS:
        yield LeftOut(what="calls of tools")
        return
    try:
        said = text_of(mapping(json.loads(text_of(function.get("arguments")))).get("message"))
    except ValueError:
        yield bad(place, "the arguments of send_message are not JSON")
        return
    if said.strip():
        at = moment(message.get("created_at"))
        yield Entry(place=place, role="assistant", content=said, thread=thread, title=title, at=at, metadata=_LABELS)


def _parts(content: object) -> str:
    told = []
    for part in map(mapping, listed(content)):
        if part.get("type") == "text":
            told.append(text_of(part.get("text")))
        elif part.get("type") == "image":
            told.append("[image]")
    return "\n".join(told)


def _is_event(text: str) -> bool:
    return text.lstrip().startswith("{") and '"type"' in text


def _event_text(text: str) -> str:
    """The words of a user's message that Letta has packed as an event; nothing of other events."""
    try:
        event = mapping(json.loads(text))
    except ValueError:
        return text
    return text_of(event.get("message")) if event.get("type") == "user_message" else ""


FORMAT = Format(name="letta", title="Letta's agent file", sniff=sniff, read=read)
