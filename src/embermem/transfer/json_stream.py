"""JSON of any size, in pieces: what is not asked for whole is never held whole.

The memory that is needed is that of the largest single value that is given. The standard library parses each value;
what is here finds where it ends.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import IO, NoReturn

from embermem.core.errors import InputError
from embermem.transfer.files import encoding_of

Path = tuple[str | int, ...]
Into = Callable[[Path], bool]

CHUNK = 1 << 20
"""Bytes that are read at once."""
MOST_CHARS = 512 * 2**20
"""Characters that one value may have."""
MOST_DEEP = 200
"""Values within values."""
_LONGEST_TOKEN = 16
"""Characters of the longest number, word or escape that may have been cut through, about."""
_CUT_OFF = "the file ends in the middle: it was cut off; export or copy it again"
_SPACE = " \t\r\n"


def walk(file: IO[bytes], into: Into, where: str = "") -> Iterator[tuple[Path, object]]:
    """The values of a JSON text with their paths. A list or object for whose path `into` holds is not given itself:
    what is in it is. `where` begins each error. Raises InputError with line and column."""
    reader = _Reader(file, where)
    yield from reader.value((), into)
    reader.end()


def place(path: Path) -> str:
    """A path as it is written: `$.chats[2].text`."""
    return "$" + "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in path)


def keys_seen(head: bytes, deep: int = 4) -> frozenset[str]:
    """The keys of how a JSON text begins, as patterns: `[].mapping`, `chats.list[].messages`. Of text that is no JSON,
    none."""
    seen: set[str] = set()

    def into(path: Path) -> bool:
        seen.add("".join("[]" if isinstance(one, int) else f".{one}" for one in path[:deep]).removeprefix("."))
        return len(path) < deep

    try:
        for path, _ in walk(BytesIO(head.decode(encoding_of(head), "replace").encode()), into):
            into(path)
    except InputError:
        pass  # it is cut off, or no JSON: what was seen until then counts
    return frozenset(seen - {""})


class _Reader:
    def __init__(self, file: IO[bytes], where: str) -> None:
        first = file.read(4)
        self._file, self._where = file, where
        self._decoder = codecs.getincrementaldecoder(encoding_of(first))()
        self._json = json.JSONDecoder(strict=False)
        self._text, self._at, self._ended = "", 0, False
        self._lines, self._column, self._bytes = 0, 0, 0
        self._take(first)

    def value(self, path: Path, into: Into) -> Iterator[tuple[Path, object]]:
        """The value that begins here, or what is in it."""
        opened = self._next()
        if opened not in "[{" or not into(path):
            yield path, self._whole()
            return
        if len(path) > MOST_DEEP:
            self._refuse(f"more than {MOST_DEEP} values within values")
        self._at += 1
        ends, number = "]" if opened == "[" else "}", 0
        if self._next() == ends:
            self._at += 1
            return
        while True:
            key: str | int = number
            if opened == "{":
                if self._next() != '"':
                    self._refuse("a key in quotes is expected")
                key = str(self._whole())
                self._expect(":")
            yield from self.value((*path, key), into)
            number += 1
            if self._next() == ends:
                self._at += 1
                return
            self._expect(",")

    def end(self) -> None:
        """Raises InputError if anything follows."""
        while self._skip():
            self._refuse("more follows the end of the JSON")

    def _next(self) -> str:
        """The next character that is no space. Raises InputError at the end of the file."""
        if not self._skip():
            self._refuse(_CUT_OFF)
        return self._text[self._at]

    def _skip(self) -> bool:
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in _SPACE:
                    return True
                self._at += 1
            if not self._more():
                return False

    def _expect(self, sign: str) -> None:
        found = self._next()
        if found != sign:
            self._refuse(f"{sign!r} is expected, and {found!r} is here")
        self._at += 1

    def _whole(self) -> object:
        """The value that begins here, parsed: more is read, twice as much each time, until it is whole."""
        while True:
            try:
                value, end = self._json.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                cut = error.msg.startswith("Unterminated string") or error.pos >= len(self._text) - _LONGEST_TOKEN
                if cut and self._more(len(self._text) - self._at):
                    continue
                cut = error.msg.startswith("Unterminated string") or not self._text[error.pos :].strip()
                self._at = error.pos
                self._refuse(_CUT_OFF if cut else f"not JSON ({error.msg})")
            except (ValueError, RecursionError) as error:
                self._refuse(f"not JSON that can be read ({error})")
            if end < len(self._text) or not self._more():  # a number might go on
                self._at = end
                made: object = value
                return made

    def _more(self, least: int = CHUNK) -> bool:
        """Read on; whether there was more."""
        if self._ended:
            return False
        if len(self._text) - self._at > MOST_CHARS:
            self._refuse(f"one value has more than {MOST_CHARS:,} characters")
        self._forget()
        raw = self._file.read(max(CHUNK, least))
        before = len(self._text)
        self._take(raw)
        return len(self._text) > before or (bool(raw) and self._more())

    def _take(self, raw: bytes) -> None:
        try:
            self._text += self._decoder.decode(raw, final=not raw)
        except UnicodeDecodeError as error:
            at = self._bytes + error.start
            raise InputError(f"{self._where}it is not UTF-8 at byte {at:,}; save the file as UTF-8") from error
        self._bytes += len(raw)
        self._ended = not raw

    def _forget(self) -> None:
        """Drop what was read, and remember where that ended."""
        gone = self._text[: self._at]
        lines = gone.count("\n")
        self._column = len(gone) - gone.rfind("\n") - 1 if lines else self._column + len(gone)
        self._lines += lines
        self._text, self._at = self._text[self._at :], 0

    def _refuse(self, what: str) -> NoReturn:
        self._forget()
        raise InputError(f"{self._where}line {self._lines + 1}, column {self._column + 1}: {what}")
