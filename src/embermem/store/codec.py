"""Rows to records and back: times, vectors, and the decisions of a change as JSON."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import numpy as np

from embermem.core.changes import BY_TAG, Decision
from embermem.core.errors import StoreCorrupt

if TYPE_CHECKING:
    from embermem.core.types import Vector

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_DECODERS: Mapping[str, msgspec.json.Decoder[Any]] = {
    tag: msgspec.json.Decoder(kind, strict=False) for tag, kind in BY_TAG.items()
}
_TAGGED = msgspec.json.Decoder(list[tuple[str, msgspec.Raw]])
_Record = TypeVar("_Record")


def micros(moment: datetime) -> int:
    """Microseconds since 1970 in UTC."""
    return (moment - EPOCH) // _MICROSECOND


def offset(moment: datetime) -> int:
    """The zone's offset from UTC in minutes. Seconds, which zones had before 1937, are cut off towards UTC, so that
    a time that could be given can be read."""
    delta = moment.utcoffset()
    return 0 if delta is None else int(delta.total_seconds() / 60)


def moment(microseconds: int, minutes: int = 0) -> datetime:
    """The time, in the zone in which it was given."""
    zone = UTC if minutes == 0 else timezone(timedelta(minutes=minutes))
    return (EPOCH + timedelta(microseconds=microseconds)).astimezone(zone)


def vector_bytes(vector: Vector) -> bytes:
    """Half precision: a third of one per mille of a cosine is lost, and half of the bytes saved."""
    return vector.astype("<f2").tobytes()


def vector_from(data: bytes) -> Vector:
    """The float32 vector of `vector_bytes`."""
    return np.frombuffer(data, dtype="<f2").astype(np.float32)


def sum_bytes(vector: Vector) -> bytes:
    """A segment's sum of page vectors, kept in full precision because it is added to."""
    return vector.astype("<f4").tobytes()


def sum_from(data: bytes) -> Vector:
    """The float32 vector of `sum_bytes`."""
    return np.frombuffer(data, dtype="<f4").astype(np.float32)


def json_text(record: object) -> str:
    """A frozen record as JSON."""
    return msgspec.json.encode(record).decode()


def from_json(text: str, kind: type[_Record]) -> _Record:
    """The record of `json_text`. Raises StoreCorrupt."""
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.DecodeError as error:
        raise StoreCorrupt(f"a stored {kind.__name__} cannot be read ({type(error).__name__})") from None


def decisions_text(decisions: tuple[Decision, ...]) -> str:
    """Decisions as JSON: a list of [tag, fields]."""
    return json_text([(decision.tag, decision) for decision in decisions])


def decisions_from(text: str, kinds: Collection[type[Decision]] | None = None) -> tuple[Decision, ...]:
    """The decisions of `decisions_text`, all or those of some kinds; no others are decoded. Raises StoreCorrupt."""
    wanted = None if kinds is None else {kind.tag for kind in kinds}
    try:
        tagged = _TAGGED.decode(text)
        return tuple(_DECODERS[tag].decode(fields) for tag, fields in tagged if wanted is None or tag in wanted)
    except (msgspec.DecodeError, KeyError) as error:
        raise StoreCorrupt(f"a stored change cannot be read ({type(error).__name__})") from None
