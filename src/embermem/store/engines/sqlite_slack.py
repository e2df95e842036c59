"""The bytes of an SQLite file that hold no row, and how they are overwritten with zeros.

`secure_delete` zeroes a row where it is deleted. It does not reach the copies that SQLite leaves behind when it splits
a b-tree page: rows that move to a sibling page remain in the unallocated gap of the page that they came from. This
module reads the file format (https://www.sqlite.org/fileformat2.html) and finds every byte that belongs to no row: the
gap of a b-tree page, the bodies of its free blocks, pages on the free list, and the end of the last page of an overflow
chain. SQLite never reads these bytes, so zeroing them changes nothing that it sees.

The file must stand still meanwhile: the caller holds a read transaction that began on an empty WAL. As long as that is
open, no checkpoint writes to the file; writers go on in the WAL.
"""

from __future__ import annotations

import os
import struct
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Damaged", "RawFile", "committed_pages", "slack", "wipe", "with_wal"]

_HEADER = 100
_INDEX, _TABLE, _INDEX_LEAF, _TABLE_LEAF = 2, 5, 10, 13
_LOCK_BYTE = 0x40000000
"""The page with this byte is used for locks, and never for data."""
_BLOCK = 1 << 20


class Clean:
    """The pages that a walk found in use and without slack. The next need not look at those again that hold the same
    bytes still: of each, eight bytes are kept, and the numbers of the pages that it leads to."""

    def __init__(self) -> None:
        self.marks: NDArray[np.int64] = np.zeros(0, np.int64)
        """Python's hash of each page, by its number; 0 for one that was not found clean."""
        self.links: dict[int, Links] = {}
        """Of the pages that lead to others."""


class Links(NamedTuple):
    """Where a page of a b-tree leads: to the pages `below` it, and those of the overflow `chains` of its rows."""

    below: tuple[int, ...]
    chains: tuple[int, ...]


_NOWHERE = Links((), ())


class Damaged(Exception):
    """The file is not what its format says; the message names the page."""


class RawFile:
    """A file read and written beside SQLite.

    On POSIX, closing any descriptor of a file gives up every lock that the process holds on it, those of SQLite's own
    connections too. One descriptor is therefore shared by the whole process, and is closed only when its path no longer
    leads to the file.
    """

    _shared: dict[Path, RawFile] = {}  # noqa: RUF012 - locks belong to the process, and so does this
    _sharing = threading.Lock()

    def __init__(self, path: Path) -> None:
        flags = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
        try:
            self._handle = os.open(path, os.O_RDWR | flags)
        except PermissionError:  # which is enough to look at it
            self._handle = os.open(path, os.O_RDONLY | flags)
        found = os.fstat(self._handle)
        self._identity = found.st_dev, found.st_ino
        self._seeking = threading.Lock()
        self.clean = Clean()
        """What the last walk found."""

    @classmethod
    def of(cls, path: Path) -> RawFile:
        """The file at a path, opened by the first who asks. Raises OSError."""
        path = path.absolute()
        with cls._sharing:
            for other, known in list(cls._shared.items()):
                if not known._is_at(other):
                    os.close(cls._shared.pop(other)._handle)
            if path not in cls._shared:
                cls._shared[path] = cls(path)
            return cls._shared[path]

    def _is_at(self, path: Path) -> bool:
        try:
            found = path.stat()
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == self._identity

    def close(self) -> None:
        """Of one that is not shared, and whose file no connection of this process has open."""
        os.close(self._handle)

    @property
    def size(self) -> int:
        """Bytes."""
        return os.fstat(self._handle).st_size

    def read(self, start: int, count: int) -> bytes:
        """`count` bytes from `start`; fewer at the end of the file."""
        if hasattr(os, "pread"):
            return os.pread(self._handle, count, start)
        with self._seeking:
            os.lseek(self._handle, start, os.SEEK_SET)
            return os.read(self._handle, count)

    def zero(self, start: int, end: int) -> None:
        """Overwrite a range with zeros. Raises OSError."""
        if hasattr(os, "pwrite"):
            done = os.pwrite(self._handle, bytes(end - start), start)
        else:
            with self._seeking:
                os.lseek(self._handle, start, os.SEEK_SET)
                done = os.write(self._handle, bytes(end - start))
        if done != end - start:
            raise OSError(f"only {done} of {end - start} bytes were overwritten")

    def sync(self) -> None:
        """Have what was written on the disk."""
        os.fsync(self._handle)

    def marks(self, page_size: int, pages: int) -> NDArray[np.int64]:
        """The hashes of the first pages, by their numbers, which begin at 1."""
        found, zeros = [0], bytes(page_size)
        empty = hash(zeros)  # of pages in no use, which are told from others sooner than they are hashed
        for start in range(0, pages * page_size, _BLOCK):
            block = self.read(start, _BLOCK)
            if not block:
                break
            some = (block[at : at + page_size] for at in range(0, len(block), page_size))
            found += [empty if page == zeros else hash(page) for page in some]
        return np.array(found[: pages + 1], np.int64)

    def blocks(self, overlap: int) -> Iterator[bytes]:
        """The whole file in blocks, each beginning with the last `overlap` bytes of the one before."""
        start = 0
        while block := self.read(start, _BLOCK + overlap):
            yield block
            if len(block) < _BLOCK + overlap:
                return
            start += _BLOCK


def with_wal(file: RawFile, wal: RawFile) -> Callable[[int, int], bytes]:
    """What `slack` reads of a database whose newest pages are still in its WAL: those of transactions that were
    committed there take the place of the file's."""
    header = wal.read(0, 32)
    if len(header) < 32:
        return file.read
    size, salts = struct.unpack_from(">I", header, 8)[0], header[16:24]
    newest: dict[int, int] = {}
    open_: dict[int, int] = {}
    at = len(header)
    while len(frame := wal.read(at, 24)) == 24 and frame[8:16] == salts:
        number, committed = struct.unpack_from(">II", frame)
        open_[number] = at + 24
        if committed:
            newest |= open_
            open_.clear()
        at += 24 + size

    def read(start: int, count: int) -> bytes:
        page, inside = divmod(start, size)
        return wal.read(newest[page + 1] + inside, count) if page + 1 in newest else file.read(start, count)

    return read


def committed_pages(wal: RawFile) -> Iterator[bytes]:
    """Every page in a WAL that a transaction wrote which was committed: those of its present content, and those beyond
    its end, of the content that it had before it was begun anew.

    What a transaction wrote that was rolled back, or whose process was killed, lies behind the last commit and is left
    out. It was never stored, and SQLite never copies it to the file.
    """
    header = wal.read(0, 32)
    size = struct.unpack_from(">I", header, 8)[0] if len(header) == 32 else 0
    at, salts = len(header), b""
    open_: list[int] = []
    while size and len(frame := wal.read(at, 24)) == 24:
        if frame[8:16] != salts:
            salts = frame[8:16]
            open_.clear()
        open_.append(at + 24)
        if struct.unpack_from(">I", frame, 4)[0]:
            yield from (wal.read(start, size) for start in open_)
            open_.clear()
        at += 24 + size


def wipe(file: RawFile, roots: Collection[int]) -> int:
    """Overwrite all slack of a database with zeros, and have that on the disk; how many ranges were not zero.

    `roots` are the root pages of its tables and indexes. Raises Damaged, before anything is written, where the file
    cannot be understood whole, and OSError.
    """
    spans = list(slack(file.read, roots, file))
    for start, end in spans:
        file.zero(start, end)
    if spans:
        file.sync()
    return len(spans)


def slack(
    read: Callable[[int, int], bytes], roots: Collection[int], walked: RawFile | None = None
) -> Iterator[tuple[int, int]]:
    """The ranges (start, end) of a database file that hold no row and are not all zero. `read` gives bytes of it, by
    offset and count. Pages that the last walk of a file that is `walked` again found clean, and that hold the same
    bytes, are not taken apart. Raises Damaged."""
    header = read(0, _HEADER)
    if len(header) < _HEADER:
        return
    size = struct.unpack_from(">H", header, 16)[0]
    walk = _Walk(read, 65536 if size == 1 else size, header)
    try:
        if walked is None:
            yield from walk.run(roots)
        else:
            yield from walk.again(roots, walked)
    except (IndexError, struct.error) as error:
        raise Damaged(f"a page ends before what it holds: {error}") from error


class _Walk:
    """One walk over all pages that are in use or on the free list."""

    def __init__(self, read: Callable[[int, int], bytes], page_size: int, header: bytes) -> None:
        self._read = read
        self._size = page_size
        self._usable = page_size - header[20]
        self._pages, self._free = struct.unpack_from(">II", header, 28)
        if page_size < 512 or self._usable < 480 or not self._pages:
            raise Damaged("page 1: the header names no size")
        self._zeros = bytes(page_size)
        self._seen: set[int] = set()
        self._same = self._empty = b""
        self._links: dict[int, Links] = {}
        self._found: dict[int, Links] = {}
        usable = self._usable
        self._least = (usable - 12) * 32 // 255 - 23
        self._most = {_TABLE_LEAF: usable - 35, _INDEX_LEAF: (usable - 12) * 64 // 255 - 23}
        self._most[_INDEX] = self._most[_INDEX_LEAF]

    def run(self, roots: Iterable[int]) -> Iterator[tuple[int, int]]:
        """Every span, tree by tree, then the free list."""
        for root in {1, *roots}:
            waiting = [root]
            while waiting:
                yield from self._tree_page(waiting.pop(), waiting)
        yield from self._free_list()

    def again(self, roots: Iterable[int], file: RawFile) -> Iterator[tuple[int, int]]:
        """The same, of a file of which it is known what the last walk found; then that is known of this one."""
        marks, before = file.marks(self._size, self._pages), file.clean
        shared = min(len(marks), len(before.marks))
        same = (marks[:shared] == before.marks[:shared]) & (marks[:shared] != 0)
        self._same, self._links = same.tobytes().ljust(len(marks), b"\0"), before.links
        self._empty = (marks == hash(self._zeros)).tobytes()
        yield from self.run(roots)
        clean = np.zeros_like(marks)
        numbers = np.fromiter((one for page, to in self._found.items() for one in (page, *to.chains)), np.int64)
        clean[numbers] = marks[numbers]
        file.clean.marks = clean
        file.clean.links = {page: to for page, to in self._found.items() if to.below or to.chains}

    def _claim(self, number: int) -> None:
        """Note that a page is met, which was not met before."""
        if number in self._seen or not 1 <= number <= self._pages:
            raise Damaged(f"page {number}: two parts of the file lay claim to it, or it lies beyond the end")
        self._seen.add(number)

    def _page(self, number: int) -> bytes:
        self._claim(number)
        start = (number - 1) * self._size
        page = self._read(start, self._size)
        if len(page) != self._size or start <= _LOCK_BYTE < start + self._size:
            raise Damaged(f"page {number}: it cannot hold data")
        return page

    def _dirty(self, number: int, page: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
        if start < end and page[start:end] != self._zeros[: end - start]:
            base = (number - 1) * self._size
            yield base + start, base + end

    def _tree_page(self, number: int, waiting: list[int]) -> Iterator[tuple[int, int]]:
        to = self._known(number)
        if to is None:
            below, chains = list[int](), list[tuple[int, int]]()
            ranges = list(self._taken_apart(number, self._page(number), below, chains))
            linked = list[int]()
            for start, left in chains:
                ranges += self._chain(start, left, linked)
            yield from ranges
            to = Links(tuple(below), tuple(linked)) if below or linked else _NOWHERE
            if not ranges:
                self._found[number] = to
        else:
            for page in (number, *to.chains):
                self._claim(page)
            self._found[number] = to
        waiting += to.below

    def _known(self, number: int) -> Links | None:
        """Where a page leads that holds the bytes which were clean, with the chains that begin on it."""
        if not self._is_same(number):
            return None
        to = self._links.get(number, _NOWHERE)
        return to if all(map(self._is_same, to.chains)) else None

    def _is_same(self, number: int) -> bool:
        return 0 < number < len(self._same) and bool(self._same[number])

    def _taken_apart(
        self, number: int, page: bytes, below: list[int], chains: list[tuple[int, int]]
    ) -> Iterator[tuple[int, int]]:
        """The spans of a page; the pages `below` it, and the `chains` that begin on it."""
        head = _HEADER if number == 1 else 0
        kind, free, cells, content = struct.unpack_from(">BHHH", page, head)
        if kind not in (_INDEX, _TABLE, _INDEX_LEAF, _TABLE_LEAF):
            raise Damaged(f"page {number}: it is of no known kind")
        inner = kind in (_INDEX, _TABLE)
        first = head + (12 if inner else 8)
        top = first + 2 * cells
        content = content or 65536
        if not top <= content <= self._usable:
            raise Damaged(f"page {number}: its rows begin outside of it")
        pointers = struct.unpack_from(f">{cells}H", page, first)
        if cells and not content <= min(pointers) <= max(pointers) <= self._usable - 4:
            raise Damaged(f"page {number}: a row lies outside of it")
        if inner:
            below += [struct.unpack_from(">I", page, pointer)[0] for pointer in pointers]
            below.append(struct.unpack_from(">I", page, head + 8)[0])
        yield from self._dirty(number, page, top, content)
        yield from self._free_blocks(number, page, free, content)
        if kind != _TABLE:
            chains += self._overflows(number, page, kind, pointers)

    def _free_blocks(self, number: int, page: bytes, free: int, content: int) -> Iterator[tuple[int, int]]:
        """The bodies of free blocks; each begins with where the next is, and how long it is itself."""
        least = content
        while free:
            if not least <= free <= self._usable - 4:
                raise Damaged(f"page {number}: a free block lies outside of the page")
            following, length = struct.unpack_from(">HH", page, free)
            if length < 4 or free + length > self._usable:
                raise Damaged(f"page {number}: a free block runs out of it")
            yield from self._dirty(number, page, free + 4, free + length)
            least, free = free + length, following

    def _overflows(self, number: int, page: bytes, kind: int, pointers: Iterable[int]) -> Iterator[tuple[int, int]]:
        """The chains of the rows of a page that are longer than a page holds: where each begins, and how long it is."""
        most, skip = self._most[kind], 4 if kind == _INDEX else 0
        starts = [pointer + skip for pointer in pointers] if skip else pointers
        for at in starts:
            first = page[at]
            second = page[at + 1]
            short = first if first < 0x80 else (first & 0x7F) << 7 | second if second < 0x80 else most + 1
            if short <= most:
                continue  # a number of one byte or two, of a row that fits
            payload, at = _varint(page, at)
            if payload <= most:
                continue
            if kind == _TABLE_LEAF:
                _, at = _varint(page, at)
            local = self._least + (payload - self._least) % (self._usable - 4)
            local = local if local <= most else self._least
            if at + local + 4 > self._usable:
                raise Damaged(f"page {number}: a row runs out of it")
            following = struct.unpack_from(">I", page, at + local)[0]
            yield following, payload - local

    def _chain(self, number: int, left: int, linked: list[int]) -> Iterator[tuple[int, int]]:
        """The end of the last page of an overflow chain; its pages are added to `linked`."""
        while number:
            linked.append(number)
            page = self._page(number)
            if left <= self._usable - 4:
                yield from self._dirty(number, page, 4 + left, self._usable)
            number, left = struct.unpack_from(">I", page)[0], left - (self._usable - 4)
            if (left > 0) != bool(number):
                raise Damaged(f"page {number}: an overflow chain is not as long as its row")

    def _free_list(self) -> Iterator[tuple[int, int]]:
        """Pages in no use: trunks, which name others, and those others."""
        trunk = self._free
        while trunk:
            page = self._page(trunk)
            following, count = struct.unpack_from(">II", page)
            if 8 + 4 * count > self._usable:
                raise Damaged(f"page {trunk}: the free list runs out of it")
            yield from self._dirty(trunk, page, 8 + 4 * count, self._size)
            for leaf in struct.unpack_from(f">{count}I", page, 8):
                if leaf < len(self._empty) and self._empty[leaf]:
                    self._claim(leaf)
                else:
                    yield from self._dirty(leaf, self._page(leaf), 0, self._size)
            trunk = following


def _varint(page: bytes, at: int) -> tuple[int, int]:
    """A number of one to nine bytes, and where it ends."""
    value = 0
    for one in page[at : at + 8]:
        at += 1
        value = value << 7 | one & 0x7F
        if one < 0x80:
            return value, at
    return value << 8 | page[at], at + 1
