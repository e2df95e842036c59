"""A model's reply, read from what upstream sends: as a whole, or from the events of a stream while they pass."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from embermem.http.proxy.histories import CUT

__all__ = ["Draft", "Message", "Reply", "StreamedReply", "parsed"]

Message = Mapping[str, Any]
"""A message in the form of chat completions."""

DONE = b"[DONE]"
"""What the last line of OpenAI's streams holds, where they do not say it by an event."""

_BEGINNING = 64
"""Bytes of a line by which that line is known from any other."""
_PIECE = 64
_CALL = 600
"""What one more piece of a text, and one more call, take in memory beside their letters."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """What a model said, and the id by which a client may go on after it, if there is one."""

    message: Message
    id: str | None = None

    @classmethod
    def of(cls, message: Message, id: str | None = None) -> Reply | None:
        """A reply that says something; None for one that says nothing."""
        says = any(message.get(name) for name in ("content", "refusal", "tool_calls", "function_call", "audio"))
        return cls(message=message, id=id) if says else None


def parsed(content: bytes | bytearray) -> Mapping[str, Any]:
    """The JSON object of an answer or an event; empty for what is none."""
    try:
        body = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


class Draft:
    """A reply that comes in pieces. `whole` is whether upstream said that it has ended."""

    def __init__(self) -> None:
        self.whole = False
        self.id: str | None = None
        self.held = 0
        """About how many bytes are held."""
        self._texts: dict[Hashable, list[str]] = {}
        self._calls: dict[int, dict[str, list[str]]] = {}
        self._settled: Reply | None = None

    @property
    def calls(self) -> int:
        """How many calls of tools it has."""
        return len(self._calls)

    def text(self, piece: object, part: Hashable = "content") -> None:
        """More of one part of its text. Parts stand on lines of their own; `refusal` is what the model refused with."""
        if isinstance(piece, str) and piece:
            self._add(self._texts.setdefault(part, []), piece)

    def call(self, number: int, *, id: object = None, name: object = None, arguments: object = None) -> None:
        """A call of a tool, or more of it."""
        if number not in self._calls:
            self._calls[number] = {"id": [], "name": [], "arguments": []}
            self.held += _CALL
        given = {"id": id, "name": name, "arguments": arguments}
        for part, pieces in self._calls[number].items():
            self._add(pieces, given[part])

    def call_goes_on(self, number: int, arguments: object) -> None:
        """More of the arguments of a call; nothing where that is none of ours."""
        if number in self._calls:
            self.call(number, arguments=arguments)

    def change_arguments(self, number: int, change: Callable[[str], str]) -> None:
        """The arguments of a call have ended: write them in another way, if they can be read."""
        if number in self._calls:
            arguments = self._calls[number]["arguments"]
            try:
                arguments[:] = [change("".join(arguments))]
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                return

    def settle(self, reply: Reply) -> None:
        """Upstream has told all of it again: this is what it says."""
        self._settled = reply

    def reply(self) -> Reply | None:
        """The reply so far; None while it says nothing. One that is not whole ends in a line that says so."""
        if self._settled is not None:
            return self._settled
        texts = {part: "".join(pieces) for part, pieces in self._texts.items()}
        refusal = texts.pop("refusal", None)
        content = "\n".join(texts.values())
        calls = [
            _call({name: "".join(pieces) for name, pieces in call.items()}) for _, call in sorted(self._calls.items())
        ]
        # A call whose arguments are not whole was never made.
        made = {
            "role": "assistant",
            "content": content or None,
            "refusal": refusal,
            "tool_calls": calls if self.whole else [],
        }
        reply = Reply.of(made, self.id)
        if reply is None or self.whole:
            return reply
        return replace(reply, message={**made, "content": f"{content}\n{CUT}"})

    def _add(self, pieces: list[str], text: object) -> None:
        if isinstance(text, str) and text:
            pieces.append(text)
            self.held += _PIECE + len(text)


class StreamedReply:
    """The reply of a stream, put together from the bytes of its lines. Of one that comes to more than `most_bytes`
    nothing is held. A line that begins with `line` holds an event, of which `event` says whether it is the last."""

    def __init__(self, most_bytes: int, line: bytes, event: Callable[[Draft, Mapping[str, Any]], bool]) -> None:
        self.too_large = False
        """Whether it came to more than `most_bytes`: then there is no reply."""
        self._most_bytes = most_bytes
        self._begins = line
        self._event = event
        self._line = bytearray()
        self._draft = Draft()

    @property
    def held(self) -> int:
        """About how many bytes are held."""
        return len(self._line) + self._draft.held

    @property
    def separator(self) -> bytes:
        """What ends the line and the event that came last, before another is written."""
        return b"\n\n" if self._begins else b"\n" * bool(self._line)

    def feed(self, chunk: bytes) -> int | None:
        """Read the next bytes; where among them the line of the stream's last event begins, if it has ended."""
        begin, last = 0, None
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            self._go_on(end)
            if self._line_ended() and last is None:
                last = begin
            begin += len(end) + 1
        self._go_on(rest)
        return last

    def reply(self) -> Reply | None:
        """The reply so far; None while it says nothing."""
        return None if self.too_large else self._draft.reply()

    def _go_on(self, part: bytes) -> None:
        """More of a line. Of what is too large only so much is held that the end of the stream is seen."""
        self._line += part if not self.too_large else part[: _BEGINNING - len(self._line)]
        if self.held > self._most_bytes:
            self.too_large = True
            self._draft = Draft()
            del self._line[_BEGINNING:]

    def _line_ended(self) -> bool:
        line, self._line = self._line, bytearray()
        if not line.startswith(self._begins):
            return False
        data = line.removeprefix(self._begins).strip()
        if data == DONE:
            self._draft.whole = True
            return True
        return not self.too_large and self._event(self._draft, parsed(data))


def _call(made: dict[str, str]) -> dict[str, Any]:
    function = {"name": made["name"], "arguments": made["arguments"]}
    return {"id": made["id"], "type": "function", "function": function}
