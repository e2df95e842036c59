"""A request for a chat completion: what of it is ours to read, and its body with a block of memory put in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import msgspec

from embermem.core import messages

__all__ = ["Asked", "asked"]

_DEFAULT = "default"
_SYSTEM = ("system", "developer")


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What was asked. `messages` is empty where the body has none that can be read: upstream says what is wrong."""

    raw: bytes
    fields: Mapping[str, msgspec.Raw]
    messages: Sequence[Any]
    user: str
    agent: str
    thread: str | None
    remember: bool
    keep: bool

    def body(self, block: str | None) -> bytes:
        """The body for upstream, with a block in its first system message or a new one. All else keeps its bytes."""
        if block is None:
            return self.raw
        parts = msgspec.json.decode(self.fields["messages"], type=list[msgspec.Raw])
        first = self.messages[0]
        system = first if isinstance(first, dict) and first.get("role") in _SYSTEM else None
        if system is None:
            parts.insert(0, msgspec.Raw(msgspec.json.encode({"role": "system", "content": block})))
        else:
            parts[0] = msgspec.Raw(msgspec.json.encode({**system, "content": _with(system.get("content"), block)}))
        return msgspec.json.encode({**self.fields, "messages": parts})


def asked(raw: bytes, headers: Mapping[str, str]) -> Asked:
    """A request's body and headers, read. Raises InputError for a header that names no owner or thread."""
    fields: Mapping[str, msgspec.Raw] = {}
    given: Any = None
    user: Any = None
    try:
        fields = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
        given = msgspec.json.decode(fields.get("messages", msgspec.Raw(b"null")))
        user = msgspec.json.decode(fields.get("user", msgspec.Raw(b"null")))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        fields, given = {}, None
    thread = _text(headers, "x-ember-thread")
    return Asked(
        raw=raw,
        fields=fields,
        messages=given if isinstance(given, list) else (),
        user=user if isinstance(user, str) and user.strip() else _text(headers, "x-ember-user") or _DEFAULT,
        agent=_text(headers, "x-ember-agent") or _DEFAULT,
        thread=None if thread is None else messages.thread_id(thread),
        remember=not _off(headers, "x-ember-memory"),
        keep=not _off(headers, "x-ember-store"),
    )


def _with(content: object, block: str) -> object:
    """A system message's content with the block at its end, where what stands before it stays in caches."""
    if isinstance(content, list):
        return [*content, {"type": "text", "text": block}]
    return f"{content}\n\n{block}" if isinstance(content, str) and content else block


def _text(headers: Mapping[str, str], name: str) -> str | None:
    """A header's text: UTF-8, which HTTP hands over as Latin-1."""
    value = headers.get(name, "")
    with suppress(UnicodeError):
        value = value.encode("latin-1").decode("utf-8")
    return value.strip() or None


def _off(headers: Mapping[str, str], name: str) -> bool:
    return headers.get(name, "").strip().lower() in ("off", "false", "no", "0")
