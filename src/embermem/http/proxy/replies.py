"""A model's reply, read from what upstream sends: as a whole, or from the events of a stream while they pass."""

from __future__ import annotations

from typing import Any

import msgspec

from embermem.http.proxy.histories import CUT

__all__ = ["DONE", "Reply", "StreamedReply", "whole_reply"]

Reply = dict[str, Any]
"""An assistant's message in OpenAI's format."""

DONE = b"data: [DONE]"
"""The event that ends a stream."""

_BEGINNING = 64
"""Bytes of a line by which that event is known from any other."""
_PIECE = 64
_CALL = 600
"""What one more piece of a text, and one more call, take in memory beside their letters."""


def whole_reply(content: bytes) -> Reply | None:
    """The first choice's message of a chat completion; None where there is none that says anything."""
    try:
        body = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    choices = body.get("choices") if isinstance(body, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    return message | {"role": "assistant"} if isinstance(message, dict) and _says(message) else None


class StreamedReply:
    """The first choice of a stream, put together from the bytes of its events. Of a reply that comes to more than
    `most_bytes` nothing is held."""

    def __init__(self, most_bytes: int) -> None:
        self.whole = False
        """Whether upstream said that the reply has ended."""
        self.too_large = False
        """Whether it came to more than `most_bytes`: then there is no message."""
        self._most_bytes = most_bytes
        self._pieces_bytes = 0
        self._line = bytearray()
        self._texts: dict[str, list[str]] = {"content": [], "refusal": []}
        self._calls: dict[int, dict[str, list[str]]] = {}

    @property
    def held(self) -> int:
        """About how many bytes are held."""
        return len(self._line) + self._pieces_bytes

    def feed(self, chunk: bytes) -> bool:
        """Read the next bytes; whether the last event of the stream was among them."""
        ended = False
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            self._go_on(end)
            ended = self._line_ended() or ended
        self._go_on(rest)
        return ended

    def _go_on(self, part: bytes) -> None:
        """More of a line. Of what is too large only so much is held that the end of the stream is seen."""
        self._line += part if not self.too_large else part[: _BEGINNING - len(self._line)]
        if self.held > self._most_bytes:
            self.too_large = True
            self._texts, self._calls, self._pieces_bytes = {}, {}, 0
            del self._line[_BEGINNING:]

    def _line_ended(self) -> bool:
        line, self._line = self._line, bytearray()
        if not line.startswith(b"data:"):
            return False
        data = line.removeprefix(b"data:").strip()
        if data == b"[DONE]":
            self.whole = True
            return True
        if not self.too_large:
            self._event(data)
        return False

    def message(self) -> Reply | None:
        """The reply so far; None while it says nothing. One that is not whole ends in a line that says so."""
        if self.too_large:
            return None
        content, refusal = "".join(self._texts["content"]), "".join(self._texts["refusal"])
        calls = [
            _call({name: "".join(pieces) for name, pieces in call.items()}) for _, call in sorted(self._calls.items())
        ]
        made = {"role": "assistant", "content": content or None, "refusal": refusal or None, "tool_calls": calls}
        if not _says(made):
            return None
        if not self.whole:
            if calls:  # a call whose arguments are not whole was never made
                made["tool_calls"] = []
            made["content"] = f"{content}\n{CUT}"
        return made if _says({**made, "content": content}) else None

    def _event(self, data: bytearray) -> None:
        try:
            event = msgspec.json.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return
        choices = event.get("choices") if isinstance(event, dict) else None
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict) and choice.get("index", 0) == 0:
                self.whole = self.whole or choice.get("finish_reason") is not None
                self._delta(choice.get("delta"))

    def _delta(self, delta: object) -> None:
        if not isinstance(delta, dict):
            return
        for name, pieces in self._texts.items():
            self._add(pieces, delta.get(name))
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict):
                self._call(call)

    def _call(self, piece: dict[str, Any]) -> None:
        at = piece.get("index")
        number = at if isinstance(at, int) else 0
        if number not in self._calls:
            self._calls[number] = {"id": [], "name": [], "arguments": []}
            self._pieces_bytes += _CALL
        function = piece.get("function")
        given = {"id": piece.get("id"), **(function if isinstance(function, dict) else {})}
        for name, pieces in self._calls[number].items():
            self._add(pieces, given.get(name))

    def _add(self, pieces: list[str], text: object) -> None:
        if isinstance(text, str) and text:
            pieces.append(text)
            self._pieces_bytes += _PIECE + len(text)


def _call(made: dict[str, str]) -> dict[str, Any]:
    function = {"name": made["name"], "arguments": made["arguments"]}
    return {"id": made["id"], "type": "function", "function": function}


def _says(message: dict[str, Any]) -> bool:
    return any(message.get(name) for name in ("content", "refusal", "tool_calls", "function_call", "audio"))
