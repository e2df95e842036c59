"""A disk that can be filled: a small file system of its own where that may be mounted, else a limit on each file."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

_SIZE = 24 * 2**20


class Disk:
    """Below a folder. One that need not be full is the machine's own."""

    def __init__(self, folder: Path, *, mounted: bool) -> None:
        self._folder = folder
        self._mounted = mounted
        self._limit: int | None = None

    @classmethod
    @contextmanager
    def of(cls, folder: Path, *, full: bool) -> Iterator[Disk]:
        """For as long as a life goes on."""
        mounted = full and _mount(folder)
        try:
            yield cls(folder, mounted=mounted)
        finally:
            if mounted:
                subprocess.run(["umount", "--lazy", str(folder)], check=False)

    def fill(self, seed: int) -> None:
        """Leave so little room that a few writes succeed yet."""
        left = Random(f"disk {seed}").choice((0, 8, 40, 120, 400)) * 1024
        if not self._mounted:
            largest = max((one.stat().st_size for one in self._folder.rglob("*") if one.is_file()), default=0)
            self._limit = largest + left + 2**16
            return
        with open(self._folder / "filler", "wb") as file:
            state = os.statvfs(self._folder)
            try:
                file.write(bytes(max(0, state.f_bavail * state.f_frsize - left)))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise

    def make_room(self) -> None:
        """There is room again."""
        self._limit = None
        (self._folder / "filler").unlink(missing_ok=True)

    def limit_this_process(self) -> None:
        """In a process of a life: hold it to the limit, where the disk itself is none."""
        if self._limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (self._limit, resource.RLIM_INFINITY))


def _mount(folder: Path) -> bool:
    """A file system in memory over a folder; False where that is not allowed."""
    if os.name != "posix" or os.geteuid() != 0:
        return False
    told = ["mount", "-t", "tmpfs", "-o", f"size={_SIZE}", "tmpfs", str(folder)]
    return subprocess.run(told, check=False, capture_output=True).returncode == 0
