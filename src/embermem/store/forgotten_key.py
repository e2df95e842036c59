"""The key of what was forgotten, which lies outside the database, and the mark by which the store knows it again."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path
from typing import Protocol

from embermem.core.errors import ForgottenKeyLost, StoreError
from embermem.core.user_overrides import mark_of_key

__all__ = [
    "KEY_MARK",
    "KeyFile",
    "KeyInMemory",
    "StoredKey",
    "bring_key",
    "key_in",
    "lost",
    "new_key",
    "refuse_other_key",
]

KEY_MARK = "forgotten_key_mark"
"""The store's setting that holds the mark of the key which its hashes were made with."""
_KEY_BYTES = 32


class StoredKey(Protocol):
    """Where a key lies; as a text, its place. Its content is the key in hexadecimal."""

    def read(self) -> bytes | None:
        """Its content; None where there is none. Raises OSError."""

    def write(self, content: bytes) -> None:
        """Keep a key whole or not at all, and the first one only. Raises OSError."""

    def set_aside(self) -> None:
        """Make room for another key. Raises OSError."""


class KeyFile(StoredKey):
    """A key in a file; set aside, it is kept as `FILE.other`."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __str__(self) -> str:
        return str(self.file)

    def read(self) -> bytes | None:
        try:
            return self.file.read_bytes()
        except FileNotFoundError:
            return None

    def write(self, content: bytes) -> None:
        """It has no name until it is complete, where the file system can do that; else another one."""
        handle, part = self._unnamed() or self._named()
        try:
            os.write(handle, content)
            os.fsync(handle)
            with contextlib.suppress(FileExistsError):
                if part is None:  # with a folder given, a link is followed to what it leads to
                    os.link(f"/proc/self/fd/{handle}", self.file, src_dir_fd=handle, follow_symlinks=True)
                else:
                    os.link(part, self.file)
        finally:
            os.close(handle)
            if part is not None:
                part.unlink()

    def _unnamed(self) -> tuple[int, None] | None:
        if not hasattr(os, "O_TMPFILE") or not os.path.isdir("/proc/self/fd"):
            return None
        try:
            return os.open(self.file.parent, os.O_TMPFILE | os.O_WRONLY, 0o600), None
        except OSError:
            return None

    def _named(self) -> tuple[int, Path]:
        part = self.file.with_name(f"{self.file.name}.{secrets.token_hex(4)}")
        return os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), part

    def set_aside(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            self.file.replace(self.file.with_name(f"{self.file.name}.other"))


class KeyInMemory(StoredKey):
    """The key of a store in memory, which ends with it."""

    def __init__(self) -> None:
        self._content: list[bytes] = []

    def __str__(self) -> str:
        return "the key in memory"

    def read(self) -> bytes | None:
        return self._content[0] if self._content else None

    def write(self, content: bytes) -> None:
        self._content.append(content)  # of two threads, the first one's is read

    def set_aside(self) -> None:
        self._content.clear()


def key_in(place: StoredKey, mark: str) -> bytes | None:
    """The key that lies there; None where there is none. `mark` is what the store remembers of it ("": nothing). Raises
    ForgottenKeyLost where the key is gone that the store remembers, or another one lies there; StoreError where it
    cannot be read."""
    try:
        content = place.read()
        found = None if content is None else bytes.fromhex(content.decode("ascii"))
    except (OSError, ValueError) as error:
        raise StoreError(f"{place}: the key of what was forgotten cannot be read: {error}") from error
    if found is None:
        if mark:
            raise lost(place)
        return None
    if mark and mark_of_key(found) != mark:
        raise ForgottenKeyLost(
            f"{place} is not the key that this store's hashes of what was forgotten were made with: put the right one "
            "back from a copy; if it is lost for good, `embermem doctor --new-key` goes on with another"
        )
    return found


def lost(place: StoredKey) -> ForgottenKeyLost:
    """The error for a key that is gone."""
    return ForgottenKeyLost(
        f"{place}: the key of what was forgotten is missing: put it back from a copy; if it is lost for good, "
        "`embermem doctor --new-key` makes another, and what was forgotten until now may be learnt again"
    )


def new_key(place: StoredKey) -> bytes:
    """Make a key where there is none; the one that is there then, by whoever made it first. Raises StoreError."""
    try:
        place.write(secrets.token_hex(_KEY_BYTES).encode())
        return bytes.fromhex((place.read() or b"").decode("ascii"))
    except (OSError, ValueError) as error:
        raise StoreError(f"{place}: the key of what was forgotten cannot be made: {error}") from error


def refuse_other_key(mine: StoredKey, theirs: StoredKey) -> None:
    """Raises StoreError where a copy's key would lie, at `theirs`, and another key lies there than `mine`."""
    try:
        known, found = mine.read(), theirs.read()
    except OSError as error:
        raise StoreError(f"the key of forgotten values cannot be read: {error}") from error
    if known is not None and found is not None and known != found:
        raise StoreError(f"{theirs} is the key of another store; move it away, or name another forgotten_key_file")


def bring_key(mine: StoredKey, theirs: StoredKey) -> None:
    """Keep the key for a copy too: without it the copy would not know what was forgotten. Raises StoreError."""
    refuse_other_key(mine, theirs)
    try:
        known = mine.read()
        if known is not None and theirs.read() is None:
            theirs.write(known)
    except OSError as error:
        raise StoreError(f"{theirs}: the key of forgotten values cannot be brought here: {error}") from error
