"""Arrays of .npz files, each read when it is taken; safe in several threads.

`numpy.load` parses the header of each array with `ast`, which raises SystemError in Python 3.11 when two threads parse
at the same time. These headers are matched with a pattern.

Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html, versions 1 to 3.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from embermem.core.patterns import regex

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Arrays", "reading"]

_MAGIC = b"\x93NUMPY"
_HEADER = regex(
    r"\{'descr': '(?P<type>[<>|=]?[biufU]\d+)', 'fortran_order': (?P<fortran>True|False), "
    r"'shape': \((?P<shape>[\d, ]*)\), \}\s*"
)


class Arrays:
    """The arrays of an open .npz file by name."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self.names = tuple(name.removesuffix(".npy") for name in archive.namelist())

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Raises KeyError for a name that the file has not, ValueError for an array that is damaged or of objects."""
        with self._archive.open(f"{name}.npy") as file:
            dtype, fortran, shape = _header(file)
            found = np.frombuffer(bytearray(file.read()), dtype=dtype)
        return found.reshape(shape, order="F" if fortran else "C")


@contextmanager
def reading(path: Path) -> Iterator[Arrays]:
    """The arrays of a file. Raises OSError, KeyError and ValueError for what goes wrong meanwhile."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield Arrays(archive)
    except (EOFError, zlib.error, zipfile.BadZipFile) as error:
        raise ValueError(str(error)) from error


def _header(file: IO[bytes]) -> tuple[np.dtype[Any], bool, tuple[int, ...]]:
    start = file.read(8)
    if start[:6] != _MAGIC or start[6:7] not in (b"\1", b"\2", b"\3"):
        raise ValueError("an array does not begin like one")
    size = int.from_bytes(file.read(2 if start[6] == 1 else 4), "little")
    match = _HEADER.fullmatch(file.read(size).decode("latin-1"))
    if match is None:
        raise ValueError("an array's header cannot be read")
    shape = tuple(int(n) for n in match["shape"].split(",") if n.strip())
    return np.dtype(match["type"]), match["fortran"] == "True", shape
