"""The key of what was forgotten: a file outside the database, and the mark by which the store knows it again."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from embermem.core.errors import ForgottenKeyLost, StoreError
from embermem.core.user_overrides import mark_of_key

__all__ = ["KEY_MARK", "key_in", "lost", "new_key", "refuse_other_key", "write_key"]

KEY_MARK = "forgotten_key_mark"
"""The store's setting that holds the mark of the key which its hashes were made with."""
_KEY_BYTES = 32


def key_in(file: Path, mark: str) -> bytes | None:
    """The key in its file; None where there is no file. `mark` is what the store remembers of it ("": nothing). Raises
    ForgottenKeyLost where the file is gone that the store remembers, or holds another key; StoreError where it cannot
    be read."""
    try:
        found = bytes.fromhex(file.read_text(encoding="ascii"))
    except FileNotFoundError:
        if mark:
            raise lost(file) from None
        return None
    except (OSError, ValueError) as error:
        raise StoreError(f"{file}: the key of what was forgotten cannot be read: {error}") from error
    if mark and mark_of_key(found) != mark:
        raise ForgottenKeyLost(
            f"{file} is not the key that this store's hashes of what was forgotten were made with: put the right one "
            "back from a copy; if it is lost for good, `embermem doctor --new-key` goes on with another"
        )
    return found


def lost(file: Path) -> ForgottenKeyLost:
    """The error for a file that is gone."""
    return ForgottenKeyLost(
        f"{file}: the key of what was forgotten is missing: put it back from a copy; if it is lost for good, "
        "`embermem doctor --new-key` makes another, and what was forgotten until now may be learnt again"
    )


def new_key(file: Path) -> bytes:
    """Make a key where there is none; the one that is there then, by whoever made it first. Raises StoreError."""
    try:
        write_key(file, secrets.token_hex(_KEY_BYTES).encode())
        return bytes.fromhex(file.read_text(encoding="ascii"))
    except (OSError, ValueError) as error:
        raise StoreError(f"{file}: the key of what was forgotten cannot be made: {error}") from error


def refuse_other_key(mine: Path, theirs: Path) -> None:
    """Raises StoreError where a copy's key would lie, at `theirs`, and another key lies there than `mine`."""
    try:
        if mine.exists() and theirs.exists() and mine.read_bytes() != theirs.read_bytes():
            raise StoreError(f"{theirs} is the key of another store; move it away, or name another forgotten_key_file")
    except OSError as error:
        raise StoreError(f"the key of forgotten values cannot be read: {error}") from error


def write_key(file: Path, key: bytes) -> None:
    """Keep a key whole or not at all, and the first one only: it appears under its name when it is complete."""
    part = file.with_name(f"{file.name}.{secrets.token_hex(4)}")
    handle = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        os.write(handle, key)
        os.fsync(handle)
        with contextlib.suppress(FileExistsError):
            os.link(part, file)
    finally:
        os.close(handle)
        part.unlink()
