"""The files of a run's folder, safe against an end at any moment: one process at a time, whole lines only."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import msgspec

from embermem.core.errors import ConfigError, EmberError

LOCK = "lock"


class FolderBusy(EmberError):
    """Another process works in this folder."""


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """The folder, made if it is not there, for this process alone. The lock ends with the process, however that ends:
    it is SQLite's, on an empty file. Raises FolderBusy, ConfigError."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = sqlite3.connect(folder / LOCK, timeout=0, isolation_level=None)
    except (OSError, sqlite3.Error) as error:
        raise ConfigError(f"cannot write in the folder {folder}: {error}") from error
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        lock.close()
        if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
            raise FolderBusy(f"another process runs in {folder}; wait for it, or name another folder") from error
        raise ConfigError(f"cannot write in the folder {folder}: {error}") from error
    try:
        yield
    finally:
        lock.close()


class Lines:
    """A file of records, one a line of JSON, each written at once and on the disk when `add` returns."""

    def __init__(self, file: Path) -> None:
        """An unfinished last line, of a writer that died, is cut off."""
        self._file = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        _cut(self._file)

    def add(self, record: Any) -> None:
        """Raises OSError if the line could not be written whole; what was written of it is cut off next time."""
        line = msgspec.json.encode(record) + b"\n"
        if os.write(self._file, line) != len(line):
            raise OSError("the disk took a part of a line only")
        os.fsync(self._file)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def write_whole(file: Path, content: bytes) -> None:
    """A file that is there whole or not at all."""
    beside = file.with_name(file.name + ".part")
    with beside.open("wb") as out:
        out.write(content)
        out.flush()
        os.fsync(out.fileno())
    beside.replace(file)


def _cut(file: int) -> None:
    size = os.fstat(file).st_size
    end, step = size, 65_536
    while end:
        start = max(0, end - step)
        os.lseek(file, start, os.SEEK_SET)
        found = os.read(file, end - start).rfind(b"\n")
        if found >= 0:
            end = start + found + 1
            break
        end = start
    if end != size:
        os.ftruncate(file, end)
        os.fsync(file)
