"""Converts arguments of the client's methods to the form of a request; values that cannot be sent are refused."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

from embermem.core.errors import InputError, NotFound
from embermem.core.messages import At, Expiry, checked
from embermem.core.originals import json_of
from embermem.core.types import Scope

_IDS = frozenset("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_")


def moment(as_of: At, valid_at: At) -> Mapping[str, str]:
    """The moment that a read looks back to, as parameters of a query; none for now. Raises InputError."""
    times = (("as_of", as_of), ("valid_at", valid_at))
    return {name: told for name, time in times if (told := time_text(time, name)) is not None}


def scope_text(scope: Scope | None) -> str | None:
    """A scope as a parameter of a query. Raises InputError."""
    return None if scope is None else json.dumps(scope_fields(scope), ensure_ascii=False)


def scope_fields(scope: Scope | None) -> Mapping[str, Any] | None:
    """A scope as a field of a body. Raises InputError."""
    if scope is None:
        return None
    if not isinstance(scope, Scope):
        raise InputError(f"scope is {type(scope).__name__}; give a Scope such as Scope(threads=['s1']), or None")
    return scope.to_dict()


def time_text(at: object, where: str) -> str | None:
    """A time as text. Raises InputError for what is none."""
    if at is None or (isinstance(at, str) and at.isascii()):
        return at
    if isinstance(at, date):  # a datetime is one
        return at.isoformat()
    raise InputError(f"{where} = {at!r} is not a time; give a datetime or an ISO 8601 text")


def expiry(at: Expiry) -> datetime | date | str | None:
    """When something ends; a span, as the time that it comes to. Raises InputError."""
    try:
        return datetime.now(UTC) + at if isinstance(at, timedelta) else at
    except OverflowError as error:
        raise InputError(f"{at} from now is outside the times that can be stored") from error


def original(value: object, where: str) -> object:
    """An original as it is sent: JSON has no NaN, which would become null. Raises InputError."""
    json_of(value, where)
    return value


def several(given: object, where: str) -> list[str]:
    """Several texts. Raises InputError."""
    if not isinstance(given, Sequence) or isinstance(given, (str, bytes)):
        raise InputError(f"{where} is {type(given).__name__}; give several texts, such as a list")
    for place, one in enumerate(given):
        checked(one, f"{where}[{place}]", sys.maxsize)
    return [*given]


def brought_fact(fact: object) -> object:
    """A fact that the caller brings, as it is sent."""
    if isinstance(fact, Mapping) and isinstance(ends := fact.get("expires_at"), timedelta):
        return {**fact, "expires_at": expiry(ends)}
    return fact


def file_bytes(path: Path) -> bytes:
    """A file that is sent. Raises InputError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error


def batch_item(item: object, new_key: Callable[[], str]) -> object:
    """An item of a batch, as it is sent, with a key."""
    if not isinstance(item, Mapping):
        return item
    told = {"run_id" if name == "thread" else name: one for name, one in item.items()}
    if isinstance(ends := told.get("expires_at"), timedelta):
        told["expires_at"] = expiry(ends)
    messages(told.get("messages"))
    return {**told, "key": told.get("key") or new_key()}


def messages(given: object) -> None:
    """Raises InputError for messages whose originals cannot be sent."""
    if isinstance(given, Sequence) and not isinstance(given, (str, bytes)):
        for place, one in enumerate(given):
            if isinstance(one, Mapping):
                original(one.get("original"), f"messages[{place}].original")


def item_path(item_id: object) -> str:
    """The name of anything remembered, a profile line's included, as a part of a path. Raises NotFound for what is the
    name of nothing."""
    if not isinstance(item_id, str) or not item_id.strip(".") or "/" in item_id or not item_id.isprintable():
        raise none_such(item_id, "memory")
    return quote(item_id, safe="")


def id_path(item_id: object, kind: str) -> str:
    """An id as a part of a path. Raises NotFound for what is the id of nothing: it could name another path."""
    if not isinstance(item_id, str) or not item_id or not _IDS.issuperset(item_id):
        raise none_such(item_id, kind)
    return quote(item_id, safe="")


def none_such(item_id: object, kind: str) -> NotFound:
    """The error for an id that nothing can have."""
    return NotFound(f"no {kind} {item_id!r}")


def header(key: str) -> str:
    """A key as a header may hold it. Raises InputError."""
    if not isinstance(key, str) or not key or key != key.strip() or not (key.isascii() and key.isprintable()):
        raise InputError(f"key = {key!r} cannot be sent; give letters, digits and signs of ASCII")
    return key
