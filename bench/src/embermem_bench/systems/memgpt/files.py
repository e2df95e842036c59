"""Text files as passages of archival storage."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from embermem.core.errors import InputError
from embermem.languages.words import sentences

__all__ = ["FileText", "Loaded", "cut", "read_folder"]

_SUFFIXES = (".txt", ".md")
_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")


@dataclass(frozen=True, kw_only=True, slots=True)
class FileText:
    """A file of a folder: its path in it with `/`, and its text with its hash, or why it was not read."""

    name: str
    text: str = ""
    digest: str = ""
    error: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Loaded:
    """What came of loading a folder: the files whose passages are new or made anew, those that were there already, how
    many passages were written, and what was not read with the reason."""

    files: tuple[str, ...]
    unchanged: tuple[str, ...]
    passages: int
    errors: tuple[tuple[str, str], ...]


def read_folder(folder: Path, most_bytes: int) -> Iterator[FileText]:
    """The files of a folder and those below it, by name; hidden ones are left out. No link is followed.

    Raises InputError if it is no folder.
    """
    if not folder.is_dir():
        raise InputError(f"{str(folder)!r} is no folder")
    closed: list[OSError] = []
    for here, folders, names in os.walk(folder, onerror=closed.append):
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        links = [one for one in folders if (Path(here) / one).is_symlink()]
        for name in sorted(one for one in (*names, *links) if not one.startswith(".")):
            yield _read(Path(here) / name, (Path(here) / name).relative_to(folder).as_posix(), most_bytes)
    for error in closed:
        name = Path(error.filename).relative_to(folder).as_posix()
        yield FileText(name=name, error=f"cannot be read: {error.strerror}")


def _read(path: Path, name: str, most_bytes: int) -> FileText:
    name = name.encode("utf-8", "replace").decode()  # a name may hold bytes that are no text
    if path.is_symlink() or not path.is_file():
        return FileText(name=name, error="not a plain file")
    if path.suffix.lower() not in _SUFFIXES:
        return FileText(name=name, error=f"not one of {', '.join(_SUFFIXES)}")
    try:
        with path.open("rb") as file:
            content = file.read(most_bytes + 1)
    except OSError as error:
        return FileText(name=name, error=f"cannot be read: {error.strerror}")
    if len(content) > most_bytes:
        return FileText(name=name, error=f"longer than {most_bytes} bytes")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return FileText(name=name, error="not UTF-8")
    if "\0" in text:
        return FileText(name=name, error="not text: it holds a zero byte")
    digest = hashlib.blake2b(content, digest_size=16).hexdigest()
    return FileText(name=name, text=text, digest=digest)


def cut(text: str, chars: int) -> list[str]:
    """The text in parts of at most so many characters: whole paragraphs, as many as fit; a longer one at its sentences,
    and a longer sentence anywhere."""
    text = "\n".join(text.splitlines())
    pieces = [piece for paragraph in _PARAGRAPH.split(text) for piece in _small(paragraph.strip(), max(1, chars))]
    parts: list[str] = []
    for piece, begins in pieces:
        between = "\n\n" if begins else " "
        if parts and len(parts[-1]) + len(between) + len(piece) <= chars:
            parts[-1] += between + piece
        else:
            parts.append(piece)
    return parts


def _small(paragraph: str, chars: int) -> Iterator[tuple[str, bool]]:
    """The paragraph in pieces that are no longer, each with whether it begins the paragraph."""
    if len(paragraph) <= chars:
        if paragraph:
            yield paragraph, True
        return
    begins = True
    for start, end in sentences(paragraph):
        for at in range(start, end, chars):
            if piece := paragraph[at : min(end, at + chars)].strip():
                yield piece, begins
                begins = False
