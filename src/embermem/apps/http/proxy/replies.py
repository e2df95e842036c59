"""A model's reply, read from what upstream sends: as a whole, or from the events of a stream while they pass."""

from __future__ import annotations

from typing import Any

import msgspec

from embermem.apps.http.proxy.histories import CUT

__all__ = ["DONE", "Reply", "StreamedReply", "whole_reply"]

Reply = dict[str, Any]
"""An assistant's message in OpenAI's format."""

DONE = b"data: [DONE]"
"""The event that ends a stream."""


def whole_reply(content: bytes) -> Reply | None:
    """The first choice's message of a chat completion; None where there is none that says anything."""
    try:
        body = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    choices = body.get("choices") if isinstance(body, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    return message | {"role": "assistant"} if isinstance(message, dict) and _says(message) else None


class StreamedReply:
    """The first choice of a stream, put together from the bytes of its events."""

    def __init__(self) -> None:
        self.whole = False
        """Whether upstream said that the reply has ended."""
        self._line = b""
        self._texts: dict[str, list[str]] = {"content": [], "refusal": []}
        self._calls: dict[int, dict[str, str]] = {}

    def feed(self, chunk: bytes) -> bool:
        """Read the next bytes; whether the last event of the stream was among them."""
        *lines, self._line = (self._line + chunk).split(b"\n")
        ended = False
        for line in lines:
            if line.startswith(b"data:"):
                data = line.removeprefix(b"data:").strip()
                if data == b"[DONE]":
                    self.whole = ended = True
                else:
                    self._event(data)
        return ended

    def message(self) -> Reply | None:
        """The reply so far; None while it says nothing. One that is not whole ends in a line that says so."""
        content, refusal = "".join(self._texts["content"]), "".join(self._texts["refusal"])
        calls = [
            {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": call["arguments"]}}
            for _, call in sorted(self._calls.items())
        ]
        made = {"role": "assistant", "content": content or None, "refusal": refusal or None, "tool_calls": calls}
        if not _says(made):
            return None
        if not self.whole:
            if calls:  # a call whose arguments are not whole was never made
                made["tool_calls"] = []
            made["content"] = f"{content}\n{CUT}"
        return made if _says({**made, "content": content}) else None

    def _event(self, data: bytes) -> None:
        try:
            event = msgspec.json.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return
        choices = event.get("choices") if isinstance(event, dict) else None
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict) and choice.get("index", 0) == 0:
                self.whole = self.whole or choice.get("finish_reason") is not None
                self._delta(choice.get("delta"))

    def _delta(self, delta: object) -> None:
        if not isinstance(delta, dict):
            return
        for name, texts in self._texts.items():
            if isinstance(piece := delta.get(name), str):
                texts.append(piece)
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict):
                self._call(call)

    def _call(self, piece: dict[str, Any]) -> None:
        at = piece.get("index")
        call = self._calls.setdefault(at if isinstance(at, int) else 0, {"id": "", "name": "", "arguments": ""})
        function = piece.get("function")
        given = {"id": piece.get("id"), **(function if isinstance(function, dict) else {})}
        for name in call:
            if isinstance(text := given.get(name), str):
                call[name] += text


def _says(message: dict[str, Any]) -> bool:
    return any(message.get(name) for name in ("content", "refusal", "tool_calls", "function_call", "audio"))
