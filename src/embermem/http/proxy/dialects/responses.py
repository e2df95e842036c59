"""OpenAI's responses: a request has all items, or those after a response or at the end of a conversation that upstream
holds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from embermem.http.problems import Problem
from embermem.http.proxy.client_text import words
from embermem.http.proxy.dialects.dialect import (
    Dialect,
    Fields,
    Told,
    before,
    decoded,
    in_message,
    joined,
    newest,
    replied,
)
from embermem.http.proxy.errors import as_openai
from embermem.http.proxy.replies import Draft, Message, Reply
from embermem.http.proxy.upstream import Server

__all__ = ["Responses"]

_CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
_RESULTS = frozenset({"function_call_output", "custom_tool_call_output"})
_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})


class Responses(Dialect):
    """POST /v1/responses."""

    server = Server.OPENAI
    path = "/v1/responses"
    sent_to = "responses"

    def told(self, fields: Fields) -> Told:
        given, conversation = decoded(fields, "input"), decoded(fields, "conversation")
        items = [{"role": "user", "content": given}] if isinstance(given, str) else given
        at = newest(items)
        return Told(
            messages=[{"role": "system", "content": decoded(fields, "instructions")}, *_messages(items)]
            if isinstance(items, list)
            else (),
            at=at,
            question="" if at is None else joined(words(items[at].get("content")), "input_text", "text"),
            metadata=decoded(fields, "metadata"),
            answer=_text(decoded(fields, "previous_response_id")),
            conversation=_text(conversation.get("id") if isinstance(conversation, Mapping) else conversation),
        )

    def with_block(self, fields: Fields, told: Told, block: str) -> Fields:
        def change(content: msgspec.Raw) -> msgspec.Raw:
            return before(content, block, "input_text")

        assert told.at is not None
        if isinstance(decoded(fields, "input"), str):
            return {**fields, "input": change(fields["input"])}
        return in_message(fields, "input", told.at, change)

    def reply(self, body: Mapping[str, Any]) -> Reply | None:
        output = body.get("output")
        made = _messages(output) if isinstance(output, list) else []
        said = [message for message in made if message.get("role") == "assistant"]
        return Reply.of(said[0], _text(body.get("id"))) if said else None

    def event(self, draft: Draft, event: Mapping[str, Any]) -> bool:
        kind = str(event.get("type"))
        response = event.get("response")
        if isinstance(response, Mapping):
            draft.id = _text(response.get("id")) or draft.id
        if kind in ("response.output_text.delta", "response.refusal.delta"):
            draft.text(event.get("delta"), (_number(event, "output_index"), _number(event, "content_index")))
        elif kind == "response.output_item.done":
            _call_done(draft, _number(event, "output_index"), event.get("item"))
        if kind in ("response.completed", "response.incomplete"):
            draft.whole = True
            if isinstance(response, Mapping) and (reply := self.reply(response)) is not None:
                draft.settle(reply)
        return kind in _ENDS

    def broken(self, problem: Problem) -> bytes:
        told = as_openai(problem)["error"]
        # Clients raise for `error`; by the specification code and message stand beside the type.
        event = {"type": "error", "sequence_number": 0, **told, "error": told} | {"type": "error"}
        return b"event: error\ndata: " + json.dumps(event).encode() + b"\n\n"


def _messages(items: Iterable[object]) -> list[Message]:
    """Items as messages. What a response may hold, texts and calls, is one message of the assistant's."""
    made: list[Message] = []
    texts: list[str] = []
    calls: list[Mapping[str, Any]] = []

    def close() -> None:
        if texts or calls:
            made.append(replied(texts, calls))
            texts.clear()
            calls.clear()

    for item in items:
        if not isinstance(item, Mapping):
            continue
        kind = str(item.get("type", "message"))
        if kind in _CALLS:
            calls.append(_call(item))
        elif kind in _RESULTS:
            close()
            made.append({"role": "tool", "content": _output(item.get("output"))})
        elif kind == "message" and item.get("role") == "assistant":
            texts.append(joined(item.get("content"), "output_text", "text", "refusal", "input_text"))
        elif kind == "message":
            close()
            made.append({"role": item.get("role"), "content": _parts(item.get("content"))})
    close()
    return made


def _call(item: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": item.get("name"), "arguments": item.get(_CALLS[item["type"]])}
    return {"id": item.get("call_id"), "type": "function", "function": function}


def _call_done(draft: Draft, number: int, item: object) -> None:
    if isinstance(item, Mapping) and str(item.get("type")) in _CALLS:
        call = _call(item)
        draft.call(number, id=call["id"], **call["function"])


def _output(output: object) -> object:
    return output if isinstance(output, str) else _parts(output)


def _parts(content: object) -> object:
    """A content of items as chat completions write it: a file names itself below `file`."""
    if not isinstance(content, list):
        return content
    return [
        {**part, "file": {"filename": part.get("filename")}}
        if isinstance(part, Mapping) and part.get("type") == "input_file"
        else part
        for part in content
    ]


def _number(event: Mapping[str, Any], name: str) -> int:
    found = event.get(name)
    return found if isinstance(found, int) else 0


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None
