"""The files that an import reads: one file, those of a folder, or those of a ZIP archive, as services hand them out."""

from __future__ import annotations

import codecs
import io
import zipfile
import zlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from embermem.core.errors import InputError
from embermem.transfer.items import BadLine

HEAD_BYTES = 256 * 1024
"""What is looked at of a file to find its format."""
MAX_LINE_BYTES = 64 * 2**20
"""A longer line is refused before it is parsed."""
MOST_FILES = 20_000
"""Files of a folder or an archive."""
SQLITE = b"SQLite format 3\x00"


class Files:
    """What stands at a path. Raises InputError where nothing can be read there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.keys: dict[str, frozenset[str]] = {}
        """The keys that JSON files begin with, as far as somebody has looked (`formats.shapes.json_with`)."""
        self.opened: set[str] = set()
        """The files that somebody has opened, not counting how they begin."""
        self._zip: zipfile.ZipFile | None = None
        try:
            if path.is_dir():
                found = sorted(one for one in path.rglob("*") if one.is_file())
                names = [one.relative_to(path).as_posix() for one in found]
            elif zipfile.is_zipfile(path):
                self._zip = zipfile.ZipFile(path)
                names = [one.filename for one in self._zip.infolist() if not one.is_dir()]
            else:
                path.open("rb").close()
                names = [path.name]
        except (OSError, zipfile.BadZipFile, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise InputError(f"cannot read {path}: {reason}") from error
        hidden = ("__MACOSX/", ".")
        self.names = tuple(name for name in names if len(names) == 1 or not name.startswith(hidden))
        if len(self.names) > MOST_FILES:
            raise InputError(f"{path} has {len(self.names):,} files, more than {MOST_FILES:,}; name the one to read")

    @cached_property
    def heads(self) -> dict[str, bytes]:
        """How each file begins."""
        return {name: self._head(name) for name in self.names}

    @property
    def size(self) -> int:
        """Bytes of all files, unpacked."""
        if self._zip is not None:
            return sum(one.file_size for one in self._zip.infolist())
        return sum(self._path(name).stat().st_size for name in self.names)

    def named(self, *endings: str) -> list[str]:
        """The files whose path ends so, in the order of their names, without regard to case."""
        return sorted(name for name in self.names if name.lower().endswith(endings))

    def where(self, name: str) -> str:
        """How a place in this file begins; nothing where there is one file only."""
        return "" if len(self.names) == 1 else f"{name}, "

    def open(self, name: str) -> IO[bytes]:
        """One of the files. Raises InputError."""
        self.opened.add(name)
        return self._open(name)

    def _open(self, name: str) -> IO[bytes]:
        try:
            if self._zip is not None:
                return io.BufferedReader(_Unpacked(self._zip.open(name), self.where(name)))
            return self._path(name).open("rb")
        except (OSError, RuntimeError, NotImplementedError, zipfile.BadZipFile) as error:
            raise InputError(f"{self.where(name)}it cannot be read ({error})") from error

    def real(self, name: str) -> Path:
        """The path of one of the files. Raises InputError within an archive."""
        if self._zip is not None:
            raise InputError(f"{name} cannot be read within an archive; unpack {self.path.name}, and import the folder")
        self.opened.add(name)
        return self._path(name)

    def _path(self, name: str) -> Path:
        return self.path / name if self.path.is_dir() else self.path

    def close(self) -> None:
        """Close the archive."""
        if self._zip is not None:
            self._zip.close()

    def _head(self, name: str) -> bytes:
        with self._open(name) as file:
            try:
                return file.read(HEAD_BYTES)
            except OSError as error:
                raise InputError(f"{self.where(name)}it cannot be read ({error})") from error


class _Unpacked(io.RawIOBase):
    """A file of an archive, as it is unpacked. Raises InputError where that is damaged."""

    def __init__(self, file: IO[bytes], where: str) -> None:
        self._file, self._where = file, where

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """The next bytes."""
        try:
            data = self._file.read(len(buffer))
        except (OSError, RuntimeError, zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise InputError(f"{self._where}the archive is damaged and cannot be unpacked ({error})") from error
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close both."""
        self._file.close()
        super().close()


def encoding_of(head: bytes) -> str:
    """The encoding that a file's first bytes name; UTF-8 where they name none."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return "utf-8-sig"


def text_of_head(head: bytes) -> str:
    """How a text file begins; empty for what is no text."""
    try:
        made = codecs.getincrementaldecoder(encoding_of(head))().decode(head)
    except UnicodeDecodeError:
        return ""
    return "" if "\x00" in made else made


def text_lines(files: Files, name: str) -> Iterator[tuple[int, str | BadLine]]:
    """The lines of a text file with their numbers, without their line breaks; lines that are no text as bad ones."""
    encoding = encoding_of(files.heads[name][:4])
    where = files.where(name)
    with files.open(name) as file:
        if encoding == "utf-16":
            yield from _lines_of_utf_16(file, where)
            return
        number = 0
        while raw := file.readline(MAX_LINE_BYTES):
            number += 1
            if number == 1:
                raw = raw.removeprefix(codecs.BOM_UTF8)
            place = f"{where}line {number}"
            if len(raw) >= MAX_LINE_BYTES:
                yield (
                    number,
                    BadLine(
                        place=place,
                        what=f"longer than {MAX_LINE_BYTES // 2**20} MB",
                        advice="split it into several lines",
                    ),
                )
                while raw and not raw.endswith(b"\n"):
                    raw = file.readline(MAX_LINE_BYTES)
                continue
            try:
                yield number, raw.decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                what = f"not UTF-8 (byte {raw[error.start]:#04x} at column {error.start + 1})"
                yield number, BadLine(place=place, what=what, advice="save the file as UTF-8")


def _lines_of_utf_16(file: IO[bytes], where: str) -> Iterator[tuple[int, str]]:
    number = 0
    try:
        for number, line in enumerate(io.TextIOWrapper(file, "utf-16", newline="\n"), 1):
            yield number, line.rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{where}after line {number}: it is not UTF-16; save the file as UTF-8") from error
