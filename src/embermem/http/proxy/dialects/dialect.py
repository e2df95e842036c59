"""What the proxy must know of a protocol: where a request says what was said, and where an answer holds the reply."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec

from embermem.http.problems import Problem
from embermem.http.proxy.client_text import asks
from embermem.http.proxy.errors import FORMS
from embermem.http.proxy.replies import Draft, Message, Reply
from embermem.http.proxy.upstream import Server

__all__ = [
    "Dialect",
    "Fields",
    "Told",
    "after",
    "before",
    "decoded",
    "in_message",
    "joined",
    "newest",
    "raw",
    "replied",
]

Fields = Mapping[str, msgspec.Raw]
"""A body's fields. A value that is not changed keeps its bytes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """What a request tells. It is empty where the body cannot be read: upstream says what is wrong."""

    messages: Sequence[Message] = ()
    """What was said, in the form of chat completions; the system's
    messages are read, and not kept."""
    at: int | None = None
    """Where the user's newest message stands in the request's own list."""
    question: str = ""
    """The user's words in that message: what is recalled for."""
    user: str | None = None
    """Who the user is, where neither the field `user` nor a header says so."""
    metadata: object = None
    """The labels that are kept with the messages."""
    answer: str | None = None
    """The id of the response after which the messages come: upstream holds what was said before."""
    conversation: str | None = None
    """The conversation, held by upstream, at whose end the messages come."""
    begun: str = ""
    """The beginning of the reply, given by the client."""


class Dialect(ABC):
    """One protocol of talking to a model."""

    server: ClassVar[Server]
    """Which upstream speaks it."""
    path: ClassVar[str]
    """Where its requests come in."""
    sent_to: ClassVar[str]
    """The same below upstream's base URL."""
    stream: ClassVar[str] = "text/event-stream"
    """The content type of its streams."""
    line: ClassVar[bytes] = b"data:"
    """How a line of a stream begins that holds an event."""

    @abstractmethod
    def told(self, fields: Fields) -> Told:
        """What a request tells. Raises DecodeError, RecursionError."""

    @abstractmethod
    def with_block(self, fields: Fields, told: Told, block: str) -> Fields:
        """The fields with a block of memory beside the user's newest message, `told.at`."""

    @abstractmethod
    def reply(self, body: Mapping[str, Any]) -> Reply | None:
        """The reply that a whole answer holds; None where it says nothing."""

    @abstractmethod
    def event(self, draft: Draft, event: Mapping[str, Any]) -> bool:
        """Read one event of a stream; whether it is the last."""

    def broken(self, problem: Problem) -> bytes:
        """The event by which a client learns that a stream failed after it had begun."""
        return b"data: " + json.dumps(FORMS[self.server](problem)).encode() + b"\n\n"


# ------------------------------------------------------------------------------------------------------- for reading


def decoded(fields: Fields, name: str) -> Any:
    """The value of a field; None where there is none."""
    given = fields.get(name)
    return None if given is None else msgspec.json.decode(given)


def newest(messages: object) -> int | None:
    """Where the newest message stands that says something of the user's; what follows are replies, calls of tools,
    their results, and what a client adds."""
    given = messages if isinstance(messages, list) else []
    for at in reversed(range(len(given))):
        one = given[at]
        if isinstance(one, Mapping) and one.get("role") == "user" and (asks(one.get("content")) or one.get("images")):
            return at
    return None


def joined(content: object, *kinds: str) -> str:
    """The text of a content: itself, or its parts of these kinds, each on a line."""
    if isinstance(content, str):
        return content
    parts = [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []
    texts = [part.get("text", part.get("refusal")) for part in parts if part.get("type") in kinds]
    return "\n".join(text for text in texts if isinstance(text, str))


def replied(texts: Iterable[str], calls: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """An assistant's message."""
    return {"role": "assistant", "content": "\n".join(texts) or None, "tool_calls": list(calls)}


# ------------------------------------------------------------------------------------------------------- for writing


def raw(value: object) -> msgspec.Raw:
    """A value as it stands in a body."""
    return msgspec.Raw(msgspec.json.encode(value))


def in_message(fields: Fields, name: str, at: int, change: Callable[[msgspec.Raw], msgspec.Raw]) -> Fields:
    """The fields with the content of one message of a list changed."""
    messages = msgspec.json.decode(fields[name], type=list[msgspec.Raw])
    message = msgspec.json.decode(messages[at], type=dict[str, msgspec.Raw])
    messages[at] = raw({**message, "content": change(message["content"])})
    return {**fields, name: raw(messages)}


def before(content: msgspec.Raw, block: str, kind: str) -> msgspec.Raw:
    """A content, a text or a list of parts, with the block before it; as a part it is of this kind."""
    given = msgspec.json.decode(content)
    if isinstance(given, list):
        return raw([{"type": kind, "text": block}, *msgspec.json.decode(content, type=list[msgspec.Raw])])
    return raw(f"{block}\n\n{given}")


def after(content: msgspec.Raw, block: str, mark: msgspec.Raw | None) -> msgspec.Raw:
    """A content of Anthropic's with the block after it. `mark` is put on what was last before, if that has none."""
    given = msgspec.json.decode(content)
    if isinstance(given, list):
        parts = msgspec.json.decode(content, type=list[msgspec.Raw])
    else:
        given, parts = [{}], [raw({"type": "text", "text": content})]
    if mark is not None and parts and isinstance(given[-1], dict):
        last = msgspec.json.decode(parts[-1], type=dict[str, msgspec.Raw])
        parts[-1] = raw({**last, "cache_control": last.get("cache_control", mark)})
    return raw([*parts, {"type": "text", "text": block}])
