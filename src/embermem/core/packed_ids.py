"""Ids in 16 bytes each, for arrays and files that hold many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from embermem.core.ids import DIGITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["PACKED", "IdTable", "packed_ids", "unpacked_id"]

_BYTES = 15
"""Bytes of an id without its letter, 24 digits of 5 bits; and of the longest that is packed as it is."""
PACKED = 1 + _BYTES
"""Bytes of an id of `packed_ids`."""
_LENGTH = 1 + 8 * _BYTES // 5
_PAIRS = tuple(one + other for one in DIGITS for other in DIGITS)
"""What 10 bits are: a recall unpacks some dozens of ids."""
_SHIFTS = np.arange(59, 23, -5, dtype=np.uint64)
"""Where the digits of 40 bits are in 64."""
_DIGITS = DIGITS.encode()
_LETTERS = np.frombuffer(_DIGITS, dtype=np.uint8)
_AS_BASE_32 = bytes.maketrans(_DIGITS, b"0123456789abcdefghijklmnopqrstuv")
"""Our digits as those that `int` reads."""
_FEW = 8
"""So many ids are packed sooner one by one than as arrays."""
_NO_DIGIT = 255
_AT_ONCE = 4096
_VALUES = np.full(256, _NO_DIGIT, dtype=np.uint8)
_VALUES[_LETTERS] = np.arange(len(DIGITS), dtype=np.uint8)


def packed_ids(ids: Sequence[str]) -> NDArray[np.uint8]:
    """Ids of `new_id`, and others of at most 15 bytes, in 16 bytes each, shape (n, 16); any other is 16 zeros."""
    if len(ids) <= _FEW:
        return np.frombuffer(b"".join(map(_packed_id, ids)), dtype=np.uint8).reshape(-1, PACKED)
    told, lengths = "".join(ids).encode("utf-8", "surrogatepass"), np.fromiter(map(len, ids), np.int64, len(ids))
    if lengths.sum() < len(told):
        lengths = np.array([len(one.encode("utf-8", "surrogatepass")) for one in ids], dtype=np.int64)
    letters = np.frombuffer(told + bytes(_LENGTH), dtype=np.uint8)
    packed, starts = np.zeros((len(ids), PACKED), dtype=np.uint8), np.cumsum(lengths) - lengths
    short = np.flatnonzero(lengths <= _BYTES)
    packed[short, 0] = lengths[short]  # of these the first byte is the length
    places = np.arange(_BYTES)
    packed[short, 1:] = np.where(places < lengths[short, None], letters[starts[short, None] + places], 0)
    made = np.flatnonzero(lengths == _LENGTH)
    of = letters[starts[made, None] + np.arange(_LENGTH)]
    digits = _VALUES[of[:, 1:]]
    known = (digits != _NO_DIGIT).all(axis=1) & (of[:, 0] > _BYTES) & (of[:, 0] < 128)
    numbers = (digits[known].reshape(-1, 3, 8).astype(np.uint64) << _SHIFTS).sum(axis=2)
    packed[made[known], 0] = of[known, 0]
    packed[made[known], 1:] = numbers.astype(">u8").view(np.uint8).reshape(-1, 3, 8)[:, :, :5].reshape(-1, _BYTES)
    return packed


def _packed_id(one: str) -> bytes:
    told = one.encode("utf-8", "surrogatepass")
    if len(told) <= _BYTES:
        return bytes([len(told)]) + told.ljust(_BYTES, b"\0")
    if len(told) != _LENGTH or not _BYTES < told[0] < 128 or told[1:].strip(_DIGITS):
        return bytes(PACKED)
    return told[:1] + int(told[1:].translate(_AS_BASE_32), 32).to_bytes(_BYTES, "big")


def unpacked_id(packed: bytes) -> str:
    """The id of 16 bytes of `packed_ids`; empty for zeros."""
    if packed[0] <= _BYTES:
        return packed[1 : 1 + packed[0]].decode("utf-8", "surrogatepass")
    number = int.from_bytes(packed[1:], "big")
    return chr(packed[0]) + "".join([_PAIRS[number >> shift & 1023] for shift in range(8 * _BYTES - 10, -1, -10)])


def _unpacked_ids(packed: NDArray[np.uint8]) -> list[str]:
    """The same of many, some of which are made at once: what is held meanwhile stays small."""
    if len(packed) > _AT_ONCE:
        return [one for at in range(0, len(packed), _AT_ONCE) for one in _unpacked_ids(packed[at : at + _AT_ONCE])]
    parts = np.zeros((len(packed), 3, 8), dtype=np.uint8)
    parts[:, :, :5] = packed[:, 1:].reshape(-1, 3, 5)
    numbers = parts.view(">u8").astype(np.uint64)
    letters = _LETTERS[(numbers >> _SHIFTS & np.uint64(31)).reshape(-1, _LENGTH - 1)]
    told = np.concatenate([packed[:, :1], letters], axis=1).tobytes().decode("latin-1")
    found = [told[at : at + _LENGTH] for at in range(0, len(told), _LENGTH)]
    for place in np.flatnonzero(packed[:, 0] <= _BYTES).tolist():
        found[place] = unpacked_id(packed[place].tobytes())
    return found


class IdTable:
    """Ids by their numbers, from 0, and numbers by their ids. Others are only ever added, to a copy; of an id that is
    there twice the first number counts."""

    __slots__ = ("_odd_numbers", "_order", "odd", "packed")

    def __init__(self, packed: NDArray[np.uint8] | None = None, odd: Mapping[int, str] = {}, order: Any = None) -> None:
        """Ids of `packed_ids`; of those that are not packed, `odd` has them by their numbers. `order` is that of the
        numbers by what they are packed as."""
        self.packed = packed_ids(()) if packed is None else packed
        self.odd = odd
        self._odd_numbers = {one: number for number, one in reversed([*odd.items()])}
        order = np.argsort(_keys(self.packed), kind="stable") if order is None else order
        self._order: NDArray[np.int32] = order.astype(np.int32)

    @classmethod
    def of(cls, packed: NDArray[np.uint8], odd: Mapping[int, str]) -> tuple[IdTable, NDArray[np.int64]]:
        """The table of packed ids, each of which may be there several times, and its number there; of what is not
        packed, `odd` has the id by its place."""
        made, numbers = np.unique(_keys(packed), return_inverse=True)
        names = {one: number for number, one in enumerate(dict.fromkeys(odd.values()), len(made))}
        numbers[[*odd]] = [names[one] for one in odd.values()]
        rows = np.concatenate([made.view(np.uint8).reshape(-1, PACKED), packed_ids([""] * len(names))])
        return cls(rows, {number: one for one, number in names.items()}), numbers

    def __len__(self) -> int:
        return len(self.packed)

    def __getitem__(self, number: int) -> str:
        return self.odd[number] if number in self.odd else unpacked_id(self.packed[number].tobytes())

    def some(self, numbers: NDArray[np.integer[Any]]) -> list[str]:
        """The ids of these numbers, each of which is made once."""
        distinct, places = np.unique(numbers, return_inverse=True)
        made = _unpacked_ids(self.packed[distinct])
        for place in np.flatnonzero(np.isin(distinct, [*self.odd])).tolist() if self.odd else ():
            made[place] = self.odd[int(distinct[place])]
        return [made[place] for place in places.tolist()]

    def part(self, numbers: NDArray[np.integer[Any]]) -> IdTable:
        """The ids of these numbers, ascending, numbered anew."""
        places = {int(number): place for place, number in enumerate(numbers)} if self.odd else {}
        odd = {places[number]: one for number, one in self.odd.items() if number in places}
        return IdTable(self.packed[numbers], odd)

    def numbers(self, wanted: Sequence[str]) -> NDArray[np.int64]:
        """The number of each of these ids; −1 for one that is not there."""
        packed = packed_ids(wanted)
        return self._found(packed, {place: wanted[place] for place in np.flatnonzero(~packed.any(axis=1)).tolist()})

    def numbers_of(self, other: IdTable) -> NDArray[np.int64]:
        """The same of all ids of another table, in their order there."""
        return self._found(other.packed, other.odd)

    def _found(self, packed: NDArray[np.uint8], odd: Mapping[int, str]) -> NDArray[np.int64]:
        found = np.full(len(packed), -1)
        if len(self.packed):
            asked, keys = _keys(packed), _keys(self.packed)
            places = np.minimum(np.searchsorted(keys, asked, sorter=self._order), len(keys) - 1)
            there = (keys[self._order[places]] == asked) & (asked != b"")
            found[there] = self._order[places[there]]
            for place, one in odd.items():
                found[place] = self._odd_numbers.get(one, -1)
        return found

    def with_new(self, ids: Iterable[str]) -> IdTable:
        """These, and those of `ids` that are not there yet."""
        distinct = [*dict.fromkeys(ids)]
        new = [distinct[place] for place in np.flatnonzero(self.numbers(distinct) < 0).tolist()]
        if not new:
            return self
        packed, first = packed_ids(new), len(self.packed)
        keys = _keys(packed)
        own = np.argsort(keys, kind="stable")
        places = np.searchsorted(_keys(self.packed), keys[own], side="right", sorter=self._order)
        odd = {first + place: new[place] for place in np.flatnonzero(keys == b"").tolist()}
        order = np.insert(self._order, places, first + own)
        return IdTable(np.concatenate([self.packed, packed]), {**self.odd, **odd}, order)


def _keys(packed: NDArray[np.uint8]) -> NDArray[np.bytes_]:
    """Packed ids as values that can be ordered."""
    return np.ascontiguousarray(packed).view(f"S{PACKED}")[:, 0]
