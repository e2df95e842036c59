"""What was said, as arrays: an utterance's record is made when it is asked for."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from embermem.core.packed_ids import PACKED, IdTable, packed_ids, unpacked_id
from embermem.core.types import Passage, Utterance, UtteranceOrigin
from embermem.index.growable_array import Column, Columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from embermem.core.metadata import Metadata

__all__ = ["Blob", "Ids", "Said", "micros", "moment"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_ODD_ID_BYTES = 150
"""Estimated bytes of an id that is not packed: the text, and an entry of a dict."""
_MOST_LATER = 1024
"""Ids that may come before the table is made anew, beside an eighth of those in it."""


class Ids(Columns):
    """Ids of things that are numbered from 0. One writer, many readers."""

    def __init__(self) -> None:
        self.packed = Column(np.uint8, width=PACKED)
        self.odd_numbers = Column(np.int32)
        """The numbers of ids that are not packed, which tests and importers make."""
        self.odd = Blob()
        self._odd: dict[int, str] = {}
        self._table: IdTable | None = None
        self._later: dict[str, int] = {}
        """Those that came after the table was made."""
        self._lock = threading.Lock()

    def extend(self, ids: Sequence[str]) -> None:
        """The next ids."""
        first, packed = self.packed.length, packed_ids(ids)
        odd = {first + place: ids[place] for place in np.flatnonzero(~packed.any(axis=1)).tolist()}
        if odd:
            self.odd_numbers.extend([*odd])
            self.odd.extend_texts([*odd.values()])
            self._odd |= odd
        with self._lock:
            self.packed.extend(packed)
            if self._table is not None:
                for number, one in enumerate(ids, first):
                    self._later.setdefault(one, number)
                if len(self._later) > _MOST_LATER + len(self._table) // 8:
                    self._table, self._later = None, {}

    def __getitem__(self, number: int) -> str:
        return unpacked_id(self.packed.data[number].tobytes()) or self._odd.get(number, "")

    def numbers(self, wanted: Sequence[str]) -> list[int | None]:
        """The number of each of these ids; None for one that is not held."""
        table, later = self._known()
        found = table.numbers(wanted).tolist()
        return [later.get(one) if number < 0 else number for one, number in zip(wanted, found, strict=True)]

    def numbers_of(self, some: IdTable) -> NDArray[np.int64]:
        """The same of all ids of a table; −1 for one that is not held."""
        table, later = self._known()
        found = table.numbers_of(some)
        for place in np.flatnonzero(found < 0).tolist() if later else ():
            found[place] = later.get(some[place], -1)
        return found

    def _known(self) -> tuple[IdTable, Mapping[str, int]]:
        with self._lock:
            if self._table is None:
                self._table = IdTable(self.packed.first(self.packed.length), dict(self._odd))
            return self._table, self._later

    def adopt(self, columns: Mapping[str, Column]) -> None:
        """As `Columns.adopt`."""
        super().adopt(columns)
        numbers = self.odd_numbers.first(self.odd_numbers.length).tolist()
        self._odd = dict(zip(numbers, self.odd.texts(), strict=True))

    @property
    def nbytes(self) -> int:
        """Estimated bytes held."""
        table = 0 if self._table is None else 4 * len(self._table)
        return super().nbytes + table + _ODD_ID_BYTES * (len(self._odd) + len(self._later))


class Blob(Columns):
    """Byte strings one after the other; `ends` has where each ends."""

    def __init__(self) -> None:
        self.data = Column(np.uint8)
        self.ends = Column(np.int64)

    def extend(self, pieces: Sequence[bytes]) -> None:
        """The next ones."""
        ends = self.data.length + np.cumsum([len(one) for one in pieces], dtype=np.int64)
        self.data.extend(np.frombuffer(b"".join(pieces), dtype=np.uint8))
        self.ends.extend(ends)

    def extend_texts(self, texts: Sequence[str]) -> None:
        """The next ones, as UTF-8."""
        self.extend([one.encode("utf-8", "surrogatepass") for one in texts])

    def text(self, place: int) -> str:
        """One of these."""
        return self[place].decode("utf-8", "surrogatepass")

    def texts(self) -> list[str]:
        """All of them."""
        return [self.text(place) for place in range(self.ends.length)]

    def __getitem__(self, place: int) -> bytes:
        ends = self.ends.data
        begin = int(ends[place - 1]) if place else 0
        return self.data.part(begin, int(ends[place])).tobytes()


class Said(Columns):
    """The utterances of rows, of which only the first of each utterance's counts. One writer, many readers."""

    def __init__(self) -> None:
        self.ids = Ids()
        self.texts = Blob()
        self.offset = Column(np.int16)
        """Minutes from UTC of the zone in which a time was given."""
        self.recorded_at = Column(np.int64)
        self.more_rows = Column(np.int32)
        """The rows that have metadata, are a passage of a document, or have another origin than their role's; of no
        others."""
        self.more = Blob()

    def extend(self, said: Sequence[Utterance], begin: int, begins: Sequence[bool]) -> None:
        """The utterance of each of the next rows, from `begin` on, and whether the row is its first."""
        self.ids.extend([one.id for one in said])
        self.texts.extend_texts([one.text if first else "" for one, first in zip(said, begins, strict=True)])
        self.offset.extend([_minutes(one.said_at) for one in said])
        self.recorded_at.extend([micros(one.recorded_at) for one in said])
        more = [
            (row, one)
            for row, one, first in zip(range(begin, begin + len(said)), said, begins, strict=True)
            if first and (one.metadata or one.passage is not None or one.origin is not one.role.origin)
        ]
        self.more.extend([msgspec.json.encode((one.metadata, one.passage, one.origin)) for _, one in more])
        self.more_rows.extend([row for row, _ in more])  # written last: what it names is there

    def extras(self, row: int) -> tuple[Metadata, Passage | None, UtteranceOrigin | None]:
        """The metadata of an utterance, where in which document it stands, and its origin; None: that of its role."""
        rows = self.more_rows.first(self.more_rows.length)
        place = int(np.searchsorted(rows, row))
        if place == len(rows) or rows[place] != row:
            return {}, None, None
        return _extras(self.more[place])

    def labelled(self, begin: int, end: int) -> Iterator[tuple[int, Metadata]]:
        """The rows from `begin` to `end` that have metadata, ascending."""
        rows = self.more_rows.first(self.more_rows.length)
        first, last = np.searchsorted(rows, [begin, end]).tolist()
        for place, row in enumerate(rows[first:last].tolist(), first):
            yield row, _extras(self.more[place])[0]


def micros(at: datetime) -> int:
    """Microseconds since 1970 (UTC)."""
    return (at - _EPOCH) // _MICROSECOND


def moment(microseconds: int, minutes: int) -> datetime:
    """The time so many microseconds after 1970 (UTC), in a zone so many minutes from UTC."""
    at = _EPOCH + timedelta(microseconds=microseconds)
    return at.astimezone(timezone(timedelta(minutes=minutes))) if minutes else at


def _minutes(at: datetime) -> int:
    """As a store keeps them: seconds, which zones had before 1937, are cut off."""
    if at.tzinfo is UTC:
        return 0
    delta = at.utcoffset()
    return 0 if delta is None else int(delta.total_seconds() / 60)


_EXTRAS: Any = msgspec.json.Decoder(tuple[dict[str, Any], Passage | None, UtteranceOrigin])


def _extras(data: bytes) -> tuple[Metadata, Passage | None, UtteranceOrigin]:
    metadata, passage, origin = _EXTRAS.decode(data)
    return {name: tuple(one) if isinstance(one, list) else one for name, one in metadata.items()}, passage, origin
