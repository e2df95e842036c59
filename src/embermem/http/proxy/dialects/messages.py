"""Anthropic's messages: turns of content blocks, with calls of tools and their results among them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from embermem.http.problems import Problem
from embermem.http.proxy.client_text import words
from embermem.http.proxy.dialects.dialect import (
    Dialect,
    Fields,
    Told,
    after,
    decoded,
    in_message,
    joined,
    newest,
    replied,
)
from embermem.http.proxy.errors import as_anthropic
from embermem.http.proxy.replies import Draft, Message, Reply
from embermem.http.proxy.upstream import Server

__all__ = ["Messages"]


class Messages(Dialect):
    """POST /v1/messages."""

    server = Server.ANTHROPIC
    path = "/v1/messages"
    sent_to = "messages"

    def told(self, fields: Fields) -> Told:
        given, metadata = decoded(fields, "messages"), decoded(fields, "metadata")
        turns = [one for one in given if isinstance(one, Mapping)] if isinstance(given, list) else []
        begun = joined(turns.pop().get("content"), "text") if turns and turns[-1].get("role") == "assistant" else ""
        at = newest(given)
        system = {"role": "system", "content": decoded(fields, "system")}
        user = metadata.get("user_id") if isinstance(metadata, Mapping) else None
        return Told(
            messages=[system, *(message for turn in turns for message in _messages(turn))],
            at=at,
            question="" if at is None else joined(words(given[at].get("content")), "text"),
            user=user if isinstance(user, str) and user.strip() else None,
            begun=begun,
        )

    def with_block(self, fields: Fields, told: Told, block: str) -> Fields:
        """The block comes after the message's own words. So all of the request up to any `cache_control` in this
        message or before it stays as it was sent, and is found in the cache again; and this place does not change as
        the breakpoints move on with the results of tools. A `cache_control` of the whole request, which marks its last
        block, is put on the last one that the client sent."""
        assert told.at is not None
        mark = None
        last = len(msgspec.json.decode(fields["messages"], type=list[msgspec.Raw])) - 1
        if told.at == last and isinstance(decoded(fields, "cache_control"), Mapping):
            mark = fields["cache_control"]
            fields = {name: value for name, value in fields.items() if name != "cache_control"}
        return in_message(fields, "messages", told.at, lambda content: after(content, block, mark))

    def reply(self, body: Mapping[str, Any]) -> Reply | None:
        return Reply.of(_answer(body.get("content")))

    def event(self, draft: Draft, event: Mapping[str, Any]) -> bool:
        at, kind = event.get("index"), event.get("type")
        number = at if isinstance(at, int) else 0
        begun, delta = event.get("content_block"), event.get("delta")
        if kind == "content_block_start" and isinstance(begun, Mapping):
            if begun.get("type") == "text":
                draft.text(begun.get("text"), number)
            elif begun.get("type") == "tool_use":
                draft.call(number, id=begun.get("id"), name=begun.get("name"))
        elif kind == "content_block_delta" and isinstance(delta, Mapping):
            if delta.get("type") == "text_delta":
                draft.text(delta.get("text"), number)
            elif delta.get("type") == "input_json_delta":
                draft.call_goes_on(number, delta.get("partial_json"))
        elif kind == "content_block_stop":
            draft.change_arguments(number, _as_sent_back)
        elif kind == "message_delta" and isinstance(delta, Mapping):
            draft.whole = draft.whole or delta.get("stop_reason") is not None
        elif kind == "message_stop":
            draft.whole = True
        return kind == "message_stop"

    def broken(self, problem: Problem) -> bytes:
        return b"event: error\ndata: " + json.dumps(as_anthropic(problem)).encode() + b"\n\n"


def _messages(turn: Mapping[str, Any]) -> list[Message]:
    """A turn as messages: results of tools, each of its own, then the rest."""
    role, content = turn.get("role"), turn.get("content")
    if role == "assistant":
        return [_answer(content)]
    if role != "user" or not isinstance(content, list):
        return [{"role": role, "content": content}]
    blocks = [block for block in content if isinstance(block, Mapping)]
    results = [block.get("content") for block in blocks if block.get("type") == "tool_result"]
    parts = [part for block in blocks if (part := _part(block)) is not None]
    made = [{"role": "tool", "content": _parts(result) if isinstance(result, list) else result} for result in results]
    return [*made, *([{"role": "user", "content": parts}] if parts else [])]


def _answer(content: object) -> dict[str, Any]:
    if isinstance(content, str):
        return replied([content], [])
    blocks = [block for block in content if isinstance(block, Mapping)] if isinstance(content, list) else []
    texts = [block["text"] for block in blocks if block.get("type") == "text" and isinstance(block.get("text"), str)]
    calls = [
        {"id": one.get("id"), "type": "function", "function": {"name": one.get("name"), "arguments": _arguments(one)}}
        for one in blocks
        if one.get("type") == "tool_use"
    ]
    return replied([text for text in texts if text], calls)


def _arguments(block: Mapping[str, Any]) -> str:
    return json.dumps(block.get("input") or {}, ensure_ascii=False)


def _as_sent_back(arguments: str) -> str:
    """The arguments of a call, which came in pieces, as a client's next request has them: as an object."""
    return json.dumps(msgspec.json.decode(arguments) if arguments else {}, ensure_ascii=False)


def _parts(blocks: list[Any]) -> list[dict[str, Any]]:
    return [part for block in blocks if isinstance(block, Mapping) and (part := _part(block)) is not None]


def _part(block: Mapping[str, Any]) -> dict[str, Any] | None:
    """A block as a part of a message: texts, and the names of images and files."""
    match block.get("type"):
        case "text" | "image":
            return dict(block)
        case "document":
            return {"type": "file", "file": {"filename": block.get("title")}}
        case _:
            return None
