"""Rows to records and back, by the names of columns: times, vectors, and the decisions of a change as JSON."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime, timedelta, timezone
from enum import Enum
from functools import cache
from itertools import count
from operator import index
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_args, get_type_hints

import msgspec
import numpy as np
from sqlalchemy import Table

from embermem.core import vector_codes, vector_sums
from embermem.core.changes import (
    BY_TAG,
    Analysed,
    ChainSummarised,
    Decision,
    KeywordCount,
    Noted,
    Placed,
    SegmentGrew,
    SegmentWritten,
)
from embermem.core.errors import StoreCorrupt
from embermem.core.metadata import Metadata
from embermem.core.types import Passage

if TYPE_CHECKING:
    from embermem.core.types import Vector
    from embermem.protocols import Apart

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_COUNT = np.dtype("<u4")
_MICROSECOND = timedelta(microseconds=1)
_DECODERS: Mapping[str, msgspec.json.Decoder[Any]] = {
    tag: msgspec.json.Decoder(kind, strict=False) for tag, kind in BY_TAG.items()
}
_TAGGED = msgspec.json.Decoder(list[tuple[str, msgspec.Raw]])
_OF_ITEMS = frozenset(kind.tag for kind in (Noted, ChainSummarised, Placed, SegmentWritten, SegmentGrew, Analysed))
"""Kinds of decisions that tell of one item, and of nothing but by ids and sources, or in its own words."""
_ITEM_FIELDS = (b'{"page_id":"', b'{"chain_id":"', b'{"segment_id":"')
"""How the fields of these begin."""
_NO_FACTS = b'"facts":[]'
_Record = TypeVar("_Record")
_Decision = TypeVar("_Decision", bound=Decision)


def micros(moment: datetime) -> int:
    """Microseconds since 1970 in UTC."""
    return (moment - EPOCH) // _MICROSECOND


def offset(moment: datetime) -> int:
    """The zone's offset from UTC in minutes. Seconds, which zones had before 1937, are cut off towards UTC, so that
    a time that could be given can be read."""
    delta = moment.utcoffset()
    return 0 if delta is None else int(delta.total_seconds() / 60)


def zoned(column: str, at: datetime | None) -> dict[str, Any]:
    """A time and its zone's offset, under the names of their columns."""
    return {column: None if at is None else micros(at), offset_of(column): None if at is None else offset(at)}


def offset_of(column: str) -> str:
    """The column of the zone's offset that stands beside a time's."""
    return f"{column.removesuffix('_at')}_offset"


def moment(microseconds: int, minutes: int = 0) -> datetime:
    """The time, in the zone in which it was given."""
    zone = UTC if minutes == 0 else timezone(timedelta(minutes=minutes))
    return (EPOCH + timedelta(microseconds=microseconds)).astimezone(zone)


def vector_from(data: bytes) -> Vector:
    """The float32 vector of its codes (core/vector_codes.py). Raises StoreCorrupt."""
    try:
        return vector_codes.vector_of(data)
    except ValueError as error:
        raise StoreCorrupt(f"{error}; run `embermem reindex`") from None


def passages_bytes(vectors: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    """The vectors of an utterance's further passages, one at least (their codes), and their packed tokens, as one
    value: how many there are; how long each vector is; the lengths of the tokens; vectors; tokens."""
    sizes = np.array([len(vectors), len(vectors[0]), *map(len, tokens)], dtype=_COUNT)
    return b"".join([sizes.tobytes(), *vectors, *tokens])


def passages_from(data: bytes) -> tuple[list[bytes], list[bytes]]:
    """What `passages_bytes` was given. Raises StoreCorrupt for what it did not write."""
    count, width = np.frombuffer(data[: 2 * _COUNT.itemsize].ljust(2 * _COUNT.itemsize), dtype=_COUNT).tolist()
    at = (2 + count) * _COUNT.itemsize
    if at > len(data):
        raise StoreCorrupt("a row of `embedding` has damaged vectors of passages; run `embermem reindex`")
    told = np.frombuffer(data[2 * _COUNT.itemsize : at], dtype=_COUNT).tolist()
    lengths = [width] * count + told
    ends = (at + np.cumsum(lengths)).tolist()
    if (ends[-1] if ends else at) != len(data):
        raise StoreCorrupt("a row of `embedding` has damaged vectors of passages; run `embermem reindex`")
    parts = [data[end - length : end] for length, end in zip(lengths, ends, strict=True)]
    return parts[:count], parts[count:]


def sum_from(data: bytes) -> Vector:
    """A segment's sum of page vectors, of `vector_sums.sum_bytes`. Raises StoreCorrupt."""
    try:
        return vector_sums.sum_from(data)
    except ValueError as error:
        raise StoreCorrupt(f"{error}; run `embermem doctor --repair`") from None


def shown_text(shown: Sequence[str] | None, counted: Sequence[KeywordCount]) -> str | None:
    """The keywords of a segment that are shown, as JSON: the place of each among those that are counted, or the
    word."""
    if shown is None:
        return None
    places = {count.word: place for place, count in enumerate(counted)}
    return json_text([places.get(word, word) for word in shown])


def shown_from(text: str, counted: Sequence[KeywordCount]) -> tuple[str, ...]:
    """The keywords of `shown_text`. Raises StoreCorrupt."""
    told = from_json(text, tuple[int | str, ...])
    if any(isinstance(one, int) and not 0 <= one < len(counted) for one in told):
        raise StoreCorrupt("a stored segment shows a keyword that it does not have; run `embermem doctor --repair`")
    return tuple(counted[one].word if isinstance(one, int) else one for one in told)


class _Word(msgspec.Struct):
    word: str


_WORDS = msgspec.json.Decoder(list[_Word])


def counted_words(text: str) -> tuple[str, ...]:
    """The words of the keywords that a segment is counted with, and nothing else of them. Raises StoreCorrupt."""
    try:
        return tuple(one.word for one in _WORDS.decode(text))
    except msgspec.DecodeError as error:
        raise StoreCorrupt(f"the keywords of a segment cannot be read ({type(error).__name__})") from None


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
    except KeyError:
        raise _unknown() from None
    except msgspec.DecodeError as error:
        raise StoreCorrupt(f"a stored change cannot be read ({type(error).__name__})") from None


def decisions_on(text: str, kinds: Collection[type[_Decision]], ids: Collection[str]) -> Iterator[_Decision]:
    """The decisions of some kinds in `decisions_text` that are on some items, whose ids stand in their first fields.
    Raises StoreCorrupt."""
    tags = {kind.tag for kind in kinds}
    names = {json_text(one).encode() for one in ids}
    try:
        for tag, fields in _TAGGED.decode(text):
            if tag in tags and _first_value(bytes(fields)) in names:
                yield cast("_Decision", decision_from(tag, fields))
    except msgspec.DecodeError as error:
        raise StoreCorrupt(f"a stored change cannot be read ({type(error).__name__})") from None


def _first_value(fields: bytes) -> bytes:
    """The value of the first field, which is an id."""
    return fields.partition(b":")[2].partition(b",")[0].removesuffix(b"}")


def decisions_naming(text: str, names: Collection[bytes]) -> tuple[tuple[Decision, ...], Apart]:
    """Of the decisions of `decisions_text`, those that may have to do with some ids, which are given in quotes; and all
    others as they are written, each in its place (None: one of the first). Apart are decisions of kinds that only
    name ids and the utterances that they rest on, where no decision on the same item names one of these ids. Raises
    StoreCorrupt."""
    try:
        tagged = [(tag, bytes(fields)) for tag, fields in _TAGGED.decode(text)]
    except msgspec.DecodeError as error:
        raise StoreCorrupt(f"a stored change cannot be read ({type(error).__name__})") from None
    written = text.encode()
    here = [name for name in names if name in written]
    items = [_item_of(tag, fields) for tag, fields in tagged]
    meant = {None, *(items[place] for name in here for place, (_, fields) in enumerate(tagged) if name in fields)}
    apart = tuple(None if item in meant else one for item, one in zip(items, tagged, strict=True))
    return tuple(decision_from(*one) for one, other in zip(tagged, apart, strict=True) if other is None), apart


def _item_of(tag: str, fields: bytes) -> bytes | None:
    """The field that says what item a decision is of; None where it may have to do with anything."""
    if tag not in _OF_ITEMS or (tag == Noted.tag and _NO_FACTS not in fields):
        return None
    item = fields.partition(b",")[0]
    return item if item.startswith(_ITEM_FIELDS) else None


def decisions_together(decisions: Sequence[Decision], places: Sequence[int], apart: Apart) -> str:
    """The text of decisions with those that were left apart. `places` says by each of the first from which of those
    that were read it came."""
    of: dict[int, list[Decision]] = {}
    for place, decision in zip(places, decisions, strict=True):
        of.setdefault(place, []).append(decision)
    read = count()
    return json_text(
        [
            told
            for one in apart
            for told in (
                [(d.tag, d) for d in of.get(next(read), ())] if one is None else [(one[0], msgspec.Raw(one[1]))]
            )
        ]
    )


def decision_from(tag: str, fields: msgspec.Raw | bytes) -> Decision:
    """A decision of its tag and its fields. Raises StoreCorrupt."""
    try:
        return cast("Decision", _DECODERS[tag].decode(fields))
    except KeyError:
        raise _unknown() from None
    except msgspec.DecodeError as error:
        raise StoreCorrupt(f"a stored change cannot be read ({type(error).__name__})") from None


def _unknown() -> StoreCorrupt:
    return StoreCorrupt("a stored change has a kind of decision that this version of Ember does not know")


def metadata_from(text: str) -> dict[str, Any]:
    """Metadata as `row_of` wrote them. Raises StoreCorrupt."""
    return {name: tuple(one) if isinstance(one, list) else one for name, one in from_json(text, dict).items()}


# ------------------------------------------------------------------------------------------------ records and rows


def record(kind: type[_Record], row: Any, **given: Any) -> _Record:
    """A frozen record from a row: each field from the column of its name, a time in its zone. `given` are the fields
    that have no column, or mean something else than it."""
    for name, place, beside, make in _fields_in(cast("Hashable", kind), tuple(row._fields)):
        if name not in given:
            value = row[place]
            if value is None and make is metadata_from:
                continue  # the field's default: none
            if value is None or make is None:
                given[name] = value
            else:
                given[name] = make(value) if beside is None else moment(value, row[beside] or 0)
    return kind(**given)


@cache
def _fields_in(
    kind: Any, columns: tuple[str, ...]
) -> Sequence[tuple[str, int, int | None, Callable[[Any], Any] | None]]:
    """The fields of a record that a row has: the name, its place, that of its zone's offset, and what makes a value."""
    places = {name: place for place, name in reversed([*enumerate(columns)])}
    hints = get_type_hints(kind, localns={"Vector": Any})  # which modules import for type checkers only
    return [
        (one.name, places[one.name], places.get(offset_of(one.name)), _maker(hints[one.name]))
        for one in fields(kind)
        if one.name in places
    ]


def _maker(hint: Any) -> Callable[[Any], Any] | None:
    """What makes a value of a type from what a column holds; None where it holds the value itself. Numbers and texts
    are looked at: a damaged file may have a text where a number belongs."""
    if hint == Metadata:
        return metadata_from
    if Passage in get_args(hint):
        return lambda text: from_json(text, Passage)
    for one in [part for part in get_args(hint) if part is not NoneType] or [hint]:
        if one is datetime:
            return moment
        if isinstance(one, type) and issubclass(one, Enum):
            return one
        if getattr(one, "__supertype__", one) is int:
            return index
        if getattr(one, "__supertype__", one) is str:
            return _text
    return None


def _text(value: str) -> str:
    if not isinstance(value, str):
        raise TypeError("a column of texts holds something else")
    return value


def row_of(item: Any, table: Table, **more: Any) -> dict[str, Any]:
    """A frozen record as a row of a table: each field in the column of its name, if there is one, a time with its zone,
    several values as JSON. `more` are other columns."""
    row: dict[str, Any] = {}
    for name, is_zoned in _columns_in(cast("Hashable", type(item)), table):
        if name in more:
            continue
        value = getattr(item, name)
        if is_zoned:
            row |= zoned(name, value)
        elif isinstance(value, datetime):
            row[name] = micros(value)
        elif isinstance(value, Enum):
            row[name] = value.value
        elif isinstance(value, Mapping):
            row[name] = json_text(value) if value else None
        else:
            row[name] = json_text(value) if isinstance(value, tuple | Passage) else value
    return row | more


@cache
def _columns_in(kind: Any, table: Table) -> Sequence[tuple[str, bool]]:
    return [(one.name, offset_of(one.name) in table.c) for one in fields(kind) if one.name in table.c]
