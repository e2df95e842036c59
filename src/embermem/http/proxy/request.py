"""A request for a chat completion: what of it is ours to read, and its body with a block of memory put in."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import msgspec

from embermem.core import messages
from embermem.core.errors import InputError
from embermem.core.metadata import Metadata, checked
from embermem.core.types import Scope
from embermem.http.access import shares_named

__all__ = ["Asked", "asked", "newest_question"]

logger = logging.getLogger(__name__)

_DEFAULT = "default"


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
    scope: Scope | None = None
    metadata: Metadata = field(default_factory=dict)
    shares: Sequence[str] = ()
    person_from: str | None = None

    def body(self, block: str | None) -> bytes:
        """The body for upstream, with a block before the words of the user's newest message. All else keeps its bytes.

        There, and not in the system message, since a server's cache holds a prompt up to where it first differs: what
        was said before that message stays as it was.
        """
        at = newest_question(self.messages)
        if block is None or at is None:
            return self.raw
        parts = msgspec.json.decode(self.fields["messages"], type=list[msgspec.Raw])
        message = msgspec.json.decode(parts[at], type=dict[str, msgspec.Raw])
        content = _with(block, self.messages[at].get("content"), message["content"])
        parts[at] = _raw({**message, "content": content})
        return msgspec.json.encode({**self.fields, "messages": parts})


def asked(raw: bytes, headers: Mapping[str, str]) -> Asked:
    """A request's body and headers, read. Raises InputError for a header that names no owner or thread, or is no
    scope."""
    fields: Mapping[str, msgspec.Raw] = {}
    given: Any = None
    user: Any = None
    try:
        fields = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
        given = msgspec.json.decode(fields.get("messages", msgspec.Raw(b"null")))
        user = msgspec.json.decode(fields.get("user", msgspec.Raw(b"null")))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        fields, given = {}, None
    scope = _text(headers, "x-ember-scope")
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
        shares=tuple(shares_named(_text(headers, "x-ember-shares"))),
        person_from=_text(headers, "x-ember-person-from"),
        scope=None if scope is None else _scope(scope),
        metadata=_metadata(fields.get("metadata", msgspec.Raw(b"null"))),
    )


def _scope(text: str) -> Scope:
    try:
        return Scope.from_dict(msgspec.json.decode(text))
    except (msgspec.DecodeError, RecursionError) as error:
        raise InputError(f"the header X-Ember-Scope is not JSON ({error})") from error


def _metadata(given: msgspec.Raw) -> Metadata:
    """The request's metadata, to be kept with its messages; none where they are not as metadata of ours must be."""
    try:
        return checked(msgspec.json.decode(given), "metadata")
    except (InputError, msgspec.DecodeError, RecursionError) as error:
        logger.info("the metadata of a request are not kept: %s", type(error).__name__)
        return {}


def newest_question(messages: Sequence[Any]) -> int | None:
    """Where the user's newest message stands; what follows it are replies, calls of tools and their results."""
    for at in reversed(range(len(messages))):
        if isinstance(messages[at], Mapping) and messages[at].get("role") == "user":
            return at
    return None


def _with(block: str, content: object, raw: msgspec.Raw) -> msgspec.Raw:
    """A message's content, a text or a list of parts, with the block before it."""
    if isinstance(content, list):
        return _raw([{"type": "text", "text": block}, *msgspec.json.decode(raw, type=list[msgspec.Raw])])
    return _raw(f"{block}\n\n{content}")


def _raw(value: object) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))


def _text(headers: Mapping[str, str], name: str) -> str | None:
    """A header's text: UTF-8, which HTTP hands over as Latin-1."""
    value = headers.get(name, "")
    with suppress(UnicodeError):
        value = value.encode("latin-1").decode("utf-8")
    return value.strip() or None


def _off(headers: Mapping[str, str], name: str) -> bool:
    return headers.get(name, "").strip().lower() in ("off", "false", "no", "0")
