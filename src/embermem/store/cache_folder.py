"""The folder beside a store that holds what its readers worked out: a file for each owner (index/mapped.py).

A file in it may be removed at any time, and none outlives what was forgotten: a forgetting removes an owner's files
before its transaction ends, and a file appears only within one that holds the owner, whole, and out of nothing.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import BinaryIO

from embermem.core.packed_ids import packed_ids, unpacked_id
from embermem.core.types import OwnerId
from embermem.index import mapped

__all__ = ["CacheFolder"]

_SUFFIX = ".index"


class CacheFolder:
    """One store's folder. It is made when its first file is."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def is_link(self) -> bool:
        """Whether it leads elsewhere: then nothing is written, read or removed there."""
        return os.path.islink(self.path)  # False where it cannot be reached

    def file(self, owner_id: OwnerId) -> Path:
        """Where an owner's file is, if there is one."""
        return self.path / f"{owner_id}{_SUFFIX}"

    def files(self) -> tuple[Path, ...]:
        """All files in it, also those that a process was at when it ended. Raises OSError."""
        return tuple(one for one in self._entries() if one.is_file())

    def drop(self, owner_id: OwnerId) -> None:
        """Remove an owner's file, and what was to be one. Raises OSError, also where the folder cannot be listed."""
        for one in self._entries():
            if one.name.startswith(f"{owner_id}{_SUFFIX}"):
                one.unlink(missing_ok=True)

    def put(
        self,
        owner_id: OwnerId,
        write: Callable[[BinaryIO], None],
        alone: Callable[[], contextlib.AbstractContextManager[bool]],
    ) -> bool:
        """A new file in place of an owner's, if it may be there: `alone` holds up whoever would forget, and says so.

        Where the system has files without a name, the file is written before and gets its name within `alone`: a
        process that ends at any step leaves nothing. Elsewhere it is written within. Raises OSError, also where the
        folder is a link: where that leads to, nobody would look for what was forgotten.
        """
        if self.is_link:
            raise OSError(errno.ELOOP, "it is a link; the setting index_cache names a folder elsewhere")
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            nameless = os.open(self.path, os.O_TMPFILE | os.O_RDWR, 0o600)
        except (AttributeError, OSError):
            return self._put_named(owner_id, write, alone)
        with open(nameless, "r+b") as file:
            write(file)
            with alone() as may:
                if may:
                    self.drop(owner_id)
                    here = os.open(self.path, os.O_RDONLY)
                    try:  # with a folder given, the link is followed
                        os.link(f"/proc/self/fd/{file.fileno()}", self.file(owner_id), src_dir_fd=here)
                    finally:
                        os.close(here)
                return may

    def _put_named(
        self,
        owner_id: OwnerId,
        write: Callable[[BinaryIO], None],
        alone: Callable[[], contextlib.AbstractContextManager[bool]],
    ) -> bool:
        with alone() as may:
            if may:
                self.drop(owner_id)
                unfinished = self.path / f"{owner_id}{_SUFFIX}.{secrets.token_hex(4)}"
                try:
                    with open(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600), "r+b") as file:
                        write(file)
                    os.replace(unfinished, self.file(owner_id))
                finally:
                    unfinished.unlink(missing_ok=True)
            return may

    def drop_all(self) -> None:
        """Remove all files. Raises OSError."""
        for one in self.files():
            one.unlink(missing_ok=True)

    def utterances(self) -> frozenset[str]:
        """The ids of all utterances in its files. Raises OSError."""
        return frozenset(one for data in self._contents() for one in mapped.utterance_ids(data))

    def remains(self, ids: Collection[str]) -> frozenset[str]:
        """Those of some ids that stand in any of its files. Raises OSError."""
        packed = packed_ids(sorted(ids))
        wanted = {one.tobytes(): unpacked_id(one.tobytes()) for one in packed if one[0]}
        found: set[str] = set()
        for data in self._contents():
            found |= {name for key, name in wanted.items() if key in data or name.encode() in data}
        return frozenset(found)

    def _contents(self) -> Iterator[bytes]:
        for file in self.files():
            with contextlib.suppress(FileNotFoundError):  # it was removed meanwhile
                yield file.read_bytes()

    def _entries(self) -> tuple[Path, ...]:
        """What has the name of a file of ours, whatever it is; nothing behind a link. Raises OSError."""
        if self.is_link:
            return ()
        try:
            names = os.listdir(self.path)
        except (FileNotFoundError, NotADirectoryError):
            return ()
        except PermissionError:
            if os.path.exists(self.path):
                raise
            return ()  # a folder of another machine, which cannot be reached on this one
        return tuple(self.path / name for name in sorted(names) if _SUFFIX in name)
