"""A request: what of it is ours to read, and its body with a block of memory put in."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import msgspec

from embermem.core import messages
from embermem.core.errors import InputError
from embermem.core.metadata import Metadata, checked
from embermem.core.types import Scope, UtteranceOrigin
from embermem.http.access import shares_named
from embermem.http.proxy.dialects.dialect import Dialect, Fields, Told, decoded

__all__ = ["Asked", "agent_named", "asked", "user_named"]

logger = logging.getLogger(__name__)

_DEFAULT = "default"


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What was asked, and for whom. `fields` and `told` are empty where the body cannot be read: upstream says what is
    wrong."""

    raw: bytes
    dialect: Dialect
    fields: Fields
    told: Told
    user: str
    agent: str
    thread: str | None
    remember: bool
    keep: bool
    scope: Scope | None = None
    metadata: Metadata = field(default_factory=dict)
    origin: UtteranceOrigin | None = None
    shares: Sequence[str] = ()
    person_from: str | None = None

    def body(self, block: str | None) -> bytes:
        """The body for upstream, with a block beside the words of the user's newest message. All else keeps its bytes.

        There, and not in the system message, since a server's cache holds a prompt up to where it first differs: what
        was said before that message stays as it was.
        """
        if block is None or self.told.at is None:
            return self.raw
        return msgspec.json.encode(self.dialect.with_block(self.fields, self.told, block))


def asked(raw: bytes, headers: Mapping[str, str], dialect: Dialect) -> Asked:
    """A request's body and headers, read. Raises InputError for a header that names no owner or thread, or is no
    scope or origin."""
    fields, user, told = _read(raw, dialect)
    scope = _text(headers, "x-ember-scope")
    thread, origin = _text(headers, "x-ember-thread"), _text(headers, "x-ember-origin")
    return Asked(
        raw=raw,
        dialect=dialect,
        fields=fields,
        told=told,
        user=user or _text(headers, "x-ember-user") or told.user or _DEFAULT,
        agent=agent_named(headers),
        thread=None if thread is None else messages.thread_id(thread),
        remember=not _off(headers, "x-ember-memory"),
        keep=not _off(headers, "x-ember-store"),
        shares=tuple(shares_named(_text(headers, "x-ember-shares"))),
        person_from=_text(headers, "x-ember-person-from"),
        scope=None if scope is None else _scope(scope),
        metadata=_metadata(told.metadata),
        origin=None if origin is None else messages.one_of(UtteranceOrigin, origin, "the header X-Ember-Origin"),
    )


def user_named(raw: bytes, headers: Mapping[str, str]) -> str:
    """The user of a request that is only passed on."""
    return _read(raw, None)[1] or _text(headers, "x-ember-user") or _DEFAULT


def agent_named(headers: Mapping[str, str]) -> str:
    """The agent of a request."""
    return _text(headers, "x-ember-agent") or _DEFAULT


def _read(raw: bytes, dialect: Dialect | None) -> tuple[Fields, str | None, Told]:
    """A body's fields, its field `user`, and what it tells."""
    try:
        fields = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
        user = decoded(fields, "user")
        told = Told() if dialect is None else dialect.told(fields)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}, None, Told()
    return fields, user if isinstance(user, str) and user.strip() else None, told


def _scope(text: str) -> Scope:
    try:
        return Scope.from_dict(msgspec.json.decode(text))
    except (msgspec.DecodeError, RecursionError) as error:
        raise InputError(f"the header X-Ember-Scope is not JSON ({error})") from error


def _metadata(given: object) -> Metadata:
    """The request's metadata, to be kept with its messages; none where they are not as metadata of ours must be."""
    try:
        return checked(given, "metadata")
    except InputError as error:
        logger.info("the metadata of a request are not kept: %s", type(error).__name__)
        return {}


def _text(headers: Mapping[str, str], name: str) -> str | None:
    """A header's text: UTF-8, which HTTP hands over as Latin-1."""
    value = headers.get(name, "")
    with suppress(UnicodeError):
        value = value.encode("latin-1").decode("utf-8")
    return value.strip() or None


def _off(headers: Mapping[str, str], name: str) -> bool:
    return headers.get(name, "").strip().lower() in ("off", "false", "no", "0")
