"""A snapshot in a file that can be mapped: a cache beside the store, so that a process need not work it out again.

The file is arrays, checksums of their blocks, which are looked at when a block is first read (index/blocks.py), and a
head that says where they are. Mapped, it is memory that all processes share and the system may take back; what a
process writes to it (what is said later, in the room left behind each array) stays its own. A file is never changed: it
is replaced, or removed. What it holds is checked by whoever reads what is newer (`Residents`), never trusted to be the
newest.
"""

from __future__ import annotations

import mmap
import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec
import numpy as np

from embermem import core, languages
from embermem.core.packed_ids import unpacked_id
from embermem.core.types import Fact, OwnerId, PageId, Persona
from embermem.index.blocks import Blocks, rows_of_block, sums_of
from embermem.index.growable_array import Column, under
from embermem.index.said import Blob
from embermem.index.segments import SegmentRow

try:
    import resource
except ImportError:  # Windows, which has no such limit
    resource = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Held", "read", "write"]

_MAGIC = b"EMBERIX2"
_END = struct.Struct("<8sII")
"""The last bytes of a file: the magic, the head's length and its checksum."""
_SUM = np.dtype("<u4")
_MAPS = os.name == "posix"
"""Windows lets nobody remove or replace a file that any process has mapped: there its contents are read."""
_PAGE = 4096
_WORD_CUTTERS = ("PyStemmer", "rjieba")
"""Packages by which texts are cut into terms: another version may cut otherwise than the postings of a file."""
_ROOM, _LEAST_ROOM = 8, 64
"""An array has room for one more row for so many, at least for so many, before this process needs a copy of it."""


class Held(msgspec.Struct, kw_only=True):
    """A snapshot as a file has it: what stands at (seq, revision) of the store with this mark, with vectors of an
    embedder, and the terms of its facts. `arrays` has (name → column)."""

    owner: OwnerId
    embedder: str
    dim: int
    token_dim: int
    seq: int
    revision: int
    born: int
    mark: str
    vectors: int
    segments: tuple[SegmentRow, ...]
    persona: Persona
    archived_facts: tuple[Fact, ...]
    ended_facts: tuple[Fact, ...]
    expiring: tuple[tuple[PageId, datetime], ...]
    fact_terms: dict[str, list[str]]
    arrays: dict[str, Column] = {}

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.arrays["slots"].length


class _Section(msgspec.Struct, frozen=True, array_like=True):
    name: str
    dtype: str
    width: int | None
    length: int
    room: int
    offset: int


class _Head(msgspec.Struct, frozen=True, kw_only=True):
    """`sums` are the place of the checksums of all blocks, section by section, how many there are, and their own
    checksum."""

    version: str
    sections: list[_Section]
    sums: tuple[int, int, int]
    held: msgspec.Raw


def write(held: Held, file: BinaryIO) -> None:
    """Write it into an empty file, and see it through to the disk. Raises OSError."""
    arrays, held = held.arrays, msgspec.structs.replace(held, arrays={})
    sections = list(_sections(arrays))
    sums = [np.zeros(0, dtype=np.uint32)]
    for section in sections:  # the room behind each is a hole, which takes no place on the disk
        numbers = np.ascontiguousarray(arrays[section.name].first(section.length))
        if numbers.size:
            sums.append(sums_of(numbers))
            file.seek(section.offset)
            file.write(numbers.data.cast("B"))
    of_blocks = np.concatenate(sums).astype(_SUM)
    end = sections[-1].offset + _bytes_of(sections[-1], sections[-1].room)
    of_all = end, len(of_blocks), zlib.crc32(of_blocks.tobytes())
    told = msgspec.Raw(msgspec.json.encode(held))
    head = msgspec.json.encode(_Head(version=_version(), sections=sections, sums=of_all, held=told))
    file.seek(end)
    file.write(of_blocks.tobytes())
    file.write(head)
    file.write(_END.pack(_MAGIC, len(head), zlib.crc32(head)))
    file.flush()
    os.fsync(file.fileno())


def read(path: Path, owner: OwnerId, embedder: str, dim: int, token_dim: int) -> Held | None:
    """What a file holds of an owner, mapped where the system allows its removal meanwhile. None where there is none, or
    it is of another owner, embedder or version, or damaged."""
    try:
        if not path.is_file():  # opening a pipe would wait
            return None
        with path.open("rb") as file:
            area = _area(file)
    except (OSError, ValueError):
        return None
    try:
        head = _head_of(area)
        if head.version != _version():
            return None
        held, sums = msgspec.json.decode(head.held, type=Held), _sums(area, head)
        held.arrays = {section.name: _column(area, section, sums) for section in head.sections}
    except (ValueError, TypeError, struct.error, msgspec.DecodeError):
        return None
    asked = (owner, embedder, dim, token_dim)
    found = (held.owner, held.embedder, held.dim, held.token_dim)
    return held if found == asked else None


def _area(file: BinaryIO) -> mmap.mmap | bytearray:
    """A file as memory. What is mapped keeps a descriptor: where half of those that a process may have are in use, the
    file is read instead, so that some are left for its connections. Raises OSError, ValueError."""
    if not _MAPS or _descriptors_are_few(file):
        return bytearray(file.read())
    return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)


def _descriptors_are_few(file: BinaryIO) -> bool:
    if resource is None:
        return False
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    next_one = os.dup(file.fileno())  # the lowest that is free, as the map's would be
    os.close(next_one)
    return most != resource.RLIM_INFINITY and next_one > most // 2


def utterance_ids(data: bytes) -> frozenset[str]:
    """The ids of all utterances in the bytes of a file, whichever version wrote it; none of a damaged file."""
    try:
        head = _head_of(data)
        ids = [one for one in head.sections if one.name.startswith("said.ids.")]
        held = {one.name.removeprefix("said.ids."): Column.of(_rows(data, one)[: one.length]) for one in ids}
        odd = Blob()
        odd.adopt(under("odd", held))
        return frozenset(odd.texts()).union(filter(None, (unpacked_id(one.tobytes()) for one in held["packed"].data)))
    except (ValueError, TypeError, KeyError, struct.error, msgspec.DecodeError):
        return frozenset()


def _sections(arrays: Mapping[str, Column]) -> Iterator[_Section]:
    offset = 0
    for name, column in arrays.items():
        width = column.data.shape[1] if column.data.ndim == 2 else None
        room = column.length + column.length // _ROOM + _LEAST_ROOM
        section = _Section(name, column.data.dtype.str, width, column.length, room, offset)
        yield section
        offset = _aligned(offset + _bytes_of(section, room))


def _head_of(area: mmap.mmap | bytearray | bytes) -> _Head:
    """Raises ValueError or struct.error for a file that is cut off or damaged."""
    magic, length, checksum = _END.unpack(area[-_END.size :])
    head = area[-_END.size - length : -_END.size]
    if magic != _MAGIC or zlib.crc32(head) != checksum:
        raise ValueError("no head")
    return msgspec.json.decode(head, type=_Head)


def _sums(area: mmap.mmap | bytearray, head: _Head) -> dict[str, NDArray[np.uint32]]:
    """The checksums of each section's blocks. Raises ValueError where they are damaged themselves."""
    at, count, checksum = head.sums
    data = np.frombuffer(area, _SUM, count, at)
    counts = [-(-one.length // rows_of_block(_bytes_of(one, 1))) if _bytes_of(one, 1) else 0 for one in head.sections]
    if zlib.crc32(data.tobytes()) != checksum or count != sum(counts):
        raise ValueError("damaged checksums")
    parts = np.split(data, np.cumsum(counts)[:-1])
    return {section.name: part for section, part in zip(head.sections, parts, strict=True)}


def _column(area: mmap.mmap | bytearray, section: _Section, sums: Mapping[str, NDArray[np.uint32]]) -> Column:
    return Column.on(_rows(area, section), section.length, Blocks(sums[section.name]))


def _rows(area: mmap.mmap | bytearray | bytes, section: _Section) -> NDArray[Any]:
    """A section's rows, with the room behind them. Raises ValueError."""
    dtype, shape = np.dtype(section.dtype), (section.room, *(() if section.width is None else (section.width,)))
    if min(section.length, *shape) < 0 or section.length > section.room or dtype.hasobject:
        raise ValueError(section.name)
    return np.ndarray(shape, dtype, area, section.offset)


def _bytes_of(section: _Section, rows: int) -> int:
    return rows * (1 if section.width is None else section.width) * np.dtype(section.dtype).itemsize


def _aligned(offset: int) -> int:
    return -(-offset // _PAGE) * _PAGE


@cache
def _version() -> str:
    """What arrays depend on: the contents of the modules that make them and of their lists of words, and the packages
    that cut words."""
    found = zlib.crc32(np.dtype("<u4").newbyteorder("=").str.encode())
    for package in (Path(core.__file__).parent, Path(__file__).parent, Path(languages.__file__).parent):
        for module in sorted((*package.rglob("*.py"), *package.rglob("*.txt"))):
            found = zlib.crc32(module.read_bytes(), zlib.crc32(os.fspath(module.relative_to(package)).encode(), found))
    for name in _WORD_CUTTERS:
        with suppress(PackageNotFoundError):  # an application that was frozen has no metadata of packages
            found = zlib.crc32(f"{name} {version(name)}".encode(), found)
    return f"{found:08x}"
