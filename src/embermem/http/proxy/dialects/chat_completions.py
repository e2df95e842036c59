"""OpenAI's chat completions: a client sends all that was said with every request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from embermem.http.proxy.client_text import words
from embermem.http.proxy.dialects.dialect import Dialect, Fields, Told, before, decoded, in_message, joined, newest
from embermem.http.proxy.replies import Draft, Reply
from embermem.http.proxy.upstream import Server

__all__ = ["ChatCompletions"]


class ChatCompletions(Dialect):
    """POST /v1/chat/completions."""

    server = Server.OPENAI
    path = "/v1/chat/completions"
    sent_to = "chat/completions"

    def told(self, fields: Fields) -> Told:
        messages = decoded(fields, "messages")
        at = newest(messages)
        return Told(
            messages=messages if isinstance(messages, list) else (),
            at=at,
            question="" if at is None else joined(words(messages[at].get("content")), "text"),
            metadata=decoded(fields, "metadata"),
        )

    def with_block(self, fields: Fields, told: Told, block: str) -> Fields:
        assert told.at is not None
        return in_message(fields, "messages", told.at, lambda content: before(content, block, "text"))

    def reply(self, body: Mapping[str, Any]) -> Reply | None:
        choices = body.get("choices")
        first = choices[0] if isinstance(choices, list) and choices else None
        message = first.get("message") if isinstance(first, Mapping) else None
        return Reply.of({**message, "role": "assistant"}) if isinstance(message, Mapping) else None

    def event(self, draft: Draft, event: Mapping[str, Any]) -> bool:
        choices = event.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, Mapping) and choice.get("index", 0) == 0:
                draft.whole = draft.whole or choice.get("finish_reason") is not None
                delta = choice.get("delta")
                if isinstance(delta, Mapping):
                    _delta(draft, delta)
        return False  # that is said by `[DONE]`


def _delta(draft: Draft, delta: Mapping[str, Any]) -> None:
    draft.text(joined(delta.get("content"), "text"))
    draft.text(delta.get("refusal"), "refusal")
    calls = delta.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, Mapping):
            at, function = call.get("index"), call.get("function")
            named = function if isinstance(function, Mapping) else {}
            draft.call(
                at if isinstance(at, int) else 0,
                id=call.get("id"),
                name=named.get("name"),
                arguments=named.get("arguments"),
            )
