"""Ollama's chat: messages as in chat completions, and streams of one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from embermem.http.problems import Problem
from embermem.http.proxy.client_text import words
from embermem.http.proxy.dialects.dialect import Dialect, Fields, Told, before, decoded, in_message, joined, newest
from embermem.http.proxy.errors import as_ollama
from embermem.http.proxy.replies import Draft, Message, Reply
from embermem.http.proxy.upstream import Server

__all__ = ["OllamaChat"]


class OllamaChat(Dialect):
    """POST /api/chat."""

    server = Server.OLLAMA
    path = "/api/chat"
    sent_to = "chat"
    stream = "application/x-ndjson"
    line = b""

    def told(self, fields: Fields) -> Told:
        messages = decoded(fields, "messages")
        at = newest(messages)
        given = messages if isinstance(messages, list) else []
        return Told(
            messages=[_message(one) for one in given if isinstance(one, Mapping)],
            at=at,
            question="" if at is None else joined(words(messages[at].get("content"))),
        )

    def with_block(self, fields: Fields, told: Told, block: str) -> Fields:
        assert told.at is not None
        return in_message(fields, "messages", told.at, lambda content: before(content, block, "text"))

    def reply(self, body: Mapping[str, Any]) -> Reply | None:
        message = body.get("message")
        return Reply.of({**message, "role": "assistant"}) if isinstance(message, Mapping) else None

    def event(self, draft: Draft, event: Mapping[str, Any]) -> bool:
        message = event.get("message")
        if isinstance(message, Mapping):
            draft.text(message.get("content"))
            calls = message.get("tool_calls")
            for call in calls if isinstance(calls, list) else ():
                function = call.get("function") if isinstance(call, Mapping) else None
                if isinstance(function, Mapping):
                    arguments = json.dumps(function.get("arguments"), ensure_ascii=False)
                    draft.call(draft.calls, name=function.get("name"), arguments=arguments)
        ended = event.get("done") is True
        draft.whole = draft.whole or ended
        return ended

    def broken(self, problem: Problem) -> bytes:
        return json.dumps(as_ollama(problem)).encode() + b"\n"


def _message(message: Mapping[str, Any]) -> Message:
    """Images stand beside the text."""
    images = message.get("images")
    if not isinstance(images, list) or not images:
        return message
    return {
        **message,
        "content": [{"type": "text", "text": message.get("content")}, *[{"type": "image"}] * len(images)],
    }
