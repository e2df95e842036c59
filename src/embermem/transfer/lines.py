"""Parts of an owner as lines of JSON, and lines as parts: one object a line, whose `kind` says what it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

import msgspec

from embermem.core.changes import Cause, Change, VisitCount
from embermem.core.errors import InputError, StoreCorrupt
from embermem.core.messages import checked
from embermem.core.metadata import checked as checked_metadata
from embermem.core.originals import json_of, value_of
from embermem.core.traits import dimensions_by_name
from embermem.store.admin.transferring import (
    DocumentPart,
    OriginalPart,
    OwnerPart,
    Part,
    ReceiptPart,
    UtterancePart,
    VectorPart,
)
from embermem.store.codec import decisions_from, decisions_text, json_text, micros, moment, offset

VERSION = 1
"""Of the format; a file of a higher one is refused."""
_LARGEST = 2**31 - 1
"""Numbers are 32 bits wide on PostgreSQL."""
_LONGEST_TEXT = 10_000_000
"""Characters of any text: far above what `max_text_chars` lets in, and below what fills a machine."""
_LONGEST = {
    **dict.fromkeys(("user", "agent", "thread", "speaker", "source", "title"), 512),
    **{"key": 256, "digest": 64, "name": 64},
}
"""Characters of texts that are names."""
_LONGEST_ID = 40


@dataclass(frozen=True, kw_only=True, slots=True)
class Header:
    """The first line: the format's version, the schema it was read from, whose vectors come and how long they are, and
    what tells the key of forgotten values from another."""

    version: int
    schema: str
    at: datetime
    embedder: str
    dim: int
    vectors: bool
    key: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class End:
    """The last line of an owner: how many lines of each kind it has."""

    utterances: int
    changes: int
    receipts: int
    vectors: int
    visits: int = 0
    documents: int = 0
    originals: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Finish:
    """The last line of the file."""

    owners: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _ChangeHead:
    """A change without its decisions, which have a form of their own (store/codec.py)."""

    no: int
    cause: Cause
    analyst: str
    recorded_at: datetime


Line = Header | Part | End | Finish
KINDS: Mapping[str, type[Any]] = {
    "export": Header,
    "owner": OwnerPart,
    "document": DocumentPart,
    "utterance": UtterancePart,
    "original": OriginalPart,
    "change": Change,
    "receipt": ReceiptPart,
    "visit": VisitCount,
    "vector": VectorPart,
    "end": End,
    "finish": Finish,
}
LISTS: Mapping[type[Part], str] = {
    DocumentPart: "documents",
    UtterancePart: "utterances",
    OriginalPart: "originals",
    Change: "changes",
    ReceiptPart: "receipts",
    VisitCount: "visits",
    VectorPart: "vectors",
}
"""What an owner has many of: what these are called in `Parts` and `End`."""
_NAMES = {kind: name for name, kind in KINDS.items()}
_FIELDS = {name: frozenset(one.name for one in fields(kind)) for name, kind in KINDS.items()}
_IDS = frozenset({"id", "item_id", "page", "document"})


def written(line: Line) -> bytes:
    """One line of JSON, with its line break. Bytes are base64, times ISO 8601."""
    told: dict[str, Any] = {"kind": _NAMES[type(line)]}
    for one in fields(line):
        value = getattr(line, one.name)
        told[one.name] = msgspec.Raw(decisions_text(value).encode()) if one.name == "decisions" else value
    return msgspec.json.encode(told) + b"\n"


def read(text: bytes) -> Line:
    """The line of `written`. Raises InputError for what no store could hold."""
    try:
        told = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise InputError(f"it is not JSON ({error})") from error
    kind = told.pop("kind", None) if isinstance(told, dict) else None
    if not isinstance(kind, str) or kind not in KINDS:
        raise InputError(f"it is not an object with a kind; one of: {', '.join(KINDS)}")
    if unknown := sorted(set(told) - _FIELDS[kind]):
        raise InputError(f"a line of the kind {kind} has no field {unknown[0][:40]!r}")
    _check(told, kind)
    try:
        line: Line = _change(told) if kind == "change" else msgspec.convert(told, KINDS[kind])
        if isinstance(line, OriginalPart):
            json_of(value_of(line.value), "value")
        for one in fields(line):
            _check_time(getattr(line, one.name), one.name)
    except (msgspec.ValidationError, StoreCorrupt) as error:
        raise InputError(str(error)) from error
    return line


def _change(told: dict[str, Any]) -> Change:
    decisions = decisions_from(json_text(told.pop("decisions", None)))
    head = msgspec.convert(told, _ChangeHead)
    return Change(no=head.no, cause=head.cause, analyst=head.analyst, recorded_at=head.recorded_at, decisions=decisions)


def _check(value: object, name: str) -> None:
    """Every text, number and name, however deep it stands."""
    if name == "metadata":
        checked_metadata(value, name)
    elif isinstance(value, Mapping):
        for key, one in value.items():
            _check(one, str(key))
    elif isinstance(value, list):
        for one in value:
            _check(one, name)
    elif isinstance(value, str):
        _check_text(value, name)
    elif isinstance(value, int) and not isinstance(value, bool) and abs(value) > _LARGEST:
        raise InputError(f"{name} = {value} is too large")


def _check_text(text: str, name: str) -> None:
    if name in _IDS or name.endswith("_id"):
        if not len(checked(text, name, _LONGEST_ID)) > 0:
            raise InputError(f"{name} is empty")
    elif name == "dimension" and text not in dimensions_by_name():
        raise InputError(f"there is no trait {text[:64]!r}")
    else:
        checked(text, name, _LONGEST.get(name, _LONGEST_TEXT))


def _check_time(value: object, name: str) -> None:
    if isinstance(value, datetime):
        if value.utcoffset() is None:
            raise InputError(f"{name} has no zone")
        try:
            moment(micros(value), offset(value))
        except (OverflowError, ValueError) as error:
            raise InputError(f"{name} is outside the times that can be stored") from error
