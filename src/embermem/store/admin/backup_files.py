"""The files of backups: what each is called, what its manifest says, and which of them belong together.

Beside each backup `NAME` lies `NAME.json`, its manifest, and `NAME.key`, the key of forgotten values, if the store has
one. In a folder of backups, `backup-0001-TIME.db` is a whole store, and `backup-0002-TIME.pages` has the pages that
differ from what the backups before it give: a chain. A manifest is written before its backup gets its name, so a file
under such a name is whole, and a manifest without its file is a leftover.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

import msgspec

from embermem.core.errors import InputError, NotFound, StoreBusy, StoreCorrupt, StoreError, StoreFull
from embermem.store.engines.copies import LOGS, PAGES, PART
from embermem.store.forgotten_key import KeyFile

try:
    import fcntl
except ImportError:  # Windows, where a file that another run has open cannot be removed
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "FORMAT",
    "PAGES",
    "WHOLE",
    "Manifest",
    "Part",
    "chain_of",
    "chain_there",
    "clear_leftovers",
    "clear_manifest",
    "clear_unfinished",
    "copy_file",
    "disk_told",
    "in_folder",
    "key_beside",
    "locked",
    "manifest_of",
    "newest_in",
    "next_name",
    "pruned",
    "sha256_of",
    "write_manifest",
]

logger = logging.getLogger(__name__)

FORMAT = 1
WHOLE = ".db"
_NAME = re.compile(r"backup-(\d{4,})-\d{8}T\d{6}Z(\.db|\.pages)")
_MANIFEST, _KEY, _LOCK = ".json", ".key", f"{PART}.lock"
_BLOCK = 1 << 20
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(frozen=True, kw_only=True, slots=True)
class Manifest:
    """What is known of one backup: of which store, when it was read, its file with size and SHA-256, the schema, and
    the rows of each table.

    `whole_sha256` is that of the store that it gives; of a whole one the same as `sha256`. An increment names the
    backup `after` which it comes, and its runs of `pages`. `erased` changes with every forgetting, and is "" where that
    is not known; `key_mark` tells one key of forgotten values from another. `seal` is the SHA-256 of the rest of it.
    """

    format: int
    store: str
    at: datetime
    file: str
    bytes: int
    sha256: str
    whole_sha256: str
    schema: str
    page_size: int
    page_count: int
    rows: Mapping[str, int]
    erased: str
    key_mark: str
    after: str | None = None
    pages: tuple[tuple[int, int], ...] = ()
    seal: str = ""

    @property
    def number(self) -> int:
        """Its place among the backups of its folder; 0 for one that has a name of the caller's."""
        return _number(self.file)


# ------------------------------------------------------------------------------------------------------------- reading


def manifest_of(file: Path) -> Manifest | None:
    """The manifest beside a backup, under the name that the backup has now; None where there is none. Raises
    StoreCorrupt."""
    found = _as_written(file)
    return None if found is None else replace(found, file=file.name)


def _as_written(file: Path) -> Manifest | None:
    place = _beside(file, _MANIFEST)
    try:
        found = msgspec.json.decode(place.read_bytes(), type=Manifest)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise StoreCorrupt(f"{place} cannot be read as the manifest of a backup: {error}") from error
    if found.format > FORMAT:
        raise StoreCorrupt(f"{place} is of a newer version of Ember (format {found.format}): upgrade embermem")
    if found.seal != _seal(found):
        raise StoreCorrupt(f"{place} is damaged: it is not what was written")
    return found


def _seal(manifest: Manifest) -> str:
    return hashlib.sha256(msgspec.json.encode(replace(manifest, seal=""))).hexdigest()


def in_folder(folder: Path) -> list[Manifest]:
    """The backups of a folder whose files are there, the oldest first. One is passed over whose manifest cannot be
    read: nothing new rests on it, and it is never removed."""
    found: list[Manifest] = []
    for file in _numbered(folder):
        try:
            manifest = manifest_of(file)
        except StoreCorrupt as error:
            logger.warning("a backup is passed over: %s", error)
            continue
        if manifest is not None:
            found.append(manifest)
    return found


def newest_in(folder: Path) -> Manifest | None:
    """The newest backup of a folder; None where there is none. Raises StoreCorrupt."""
    return next((one for file in reversed(_numbered(folder)) if (one := manifest_of(file)) is not None), None)


def _numbered(folder: Path) -> list[Path]:
    """The files in a folder that are called as backups are, by their numbers."""
    return sorted((one for one in folder.iterdir() if _number(one.name)), key=lambda one: (_number(one.name), one.name))


def _last_number(folder: Path) -> int:
    return max((_number(one.name) for one in _numbered(folder)), default=0)


def _number(name: str) -> int:
    found = _NAME.fullmatch(name)
    return int(found[1]) if found else 0


def chain_of(folder: Path, last: Manifest) -> list[Manifest]:
    """The backups that give a store together: a whole one, and increments up to `last`. Raises NotFound, StoreCorrupt
    where one is not there."""
    chain = [last]
    while (before := chain[0].after) is not None:
        found = manifest_of(folder / before)
        if found is None or not (folder / before).exists():
            raise NotFound(
                f"{folder / last.file} rests on {before}, which is not there: put that and its manifest back, or take "
                "an older backup"
            )
        if any(found.file == one.file for one in chain):
            raise StoreCorrupt(f"{folder / before}: its manifest says that it rests on itself")
        chain.insert(0, found)
    return chain


def chain_there(folder: Path, last: Manifest) -> list[Manifest]:
    """The same; none where one of them is not there, or its manifest cannot be read."""
    try:
        return chain_of(folder, last)
    except (NotFound, StoreCorrupt):
        return []


def key_beside(file: Path) -> KeyFile:
    """The key of forgotten values that lies beside a backup, or would."""
    return KeyFile(_beside(file, _KEY))


def sha256_of(file: Path) -> str:
    """In hexadecimal."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


# ------------------------------------------------------------------------------------------------------------- writing


def next_name(folder: Path, at: datetime, kind: str) -> str:
    """The name of the next backup in a folder: WHOLE or PAGES."""
    return f"backup-{_last_number(folder) + 1:04}-{at.astimezone(UTC):%Y%m%dT%H%M%SZ}{kind}"


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write it whole, before the file that it is of gets its name. Raises OSError."""
    place = _beside(folder / manifest.file, _MANIFEST)
    data = msgspec.json.format(msgspec.json.encode(replace(manifest, seal=_seal(manifest))), indent=1)
    with Part(place) as part:
        part.file.write_bytes(data)
        part.keep(over=True)


@contextmanager
def locked(place: Path) -> Iterator[None]:
    """Keep other runs from a file, or from a folder of backups: each would remove the unfinished file of the other as a
    leftover. What a killed run left locks nothing. Raises StoreBusy where another run is at the place; OSError."""
    lock = _beside(place / "backup" if place.is_dir() else place, _LOCK)
    handle = _lock_of(lock, place)
    try:
        yield
    finally:
        with suppress(OSError):
            lock.unlink(missing_ok=True)
        os.close(handle)


def _lock_of(lock: Path, place: Path) -> int:
    """The file that locks a place, held."""
    while True:
        handle = os.open(lock, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            if fcntl is not None:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(handle)
            raise StoreBusy(
                f"{place}: another backup or restore is being written there; nothing was written: wait until it has "
                "ended, and try again"
            ) from error
        except OSError:  # a file system without locks
            return handle
        with suppress(OSError):
            if os.path.samestat(os.fstat(handle), lock.stat()):
                return handle
        os.close(handle)  # whoever held it has removed it


def clear_leftovers(folder: Path) -> None:
    """Remove what a killed run left in a folder of backups: unfinished files, and the manifest and key of what was to
    be the newest backup. Those of an older one whose file is not there stay: it may be put back. Raises OSError."""
    last = _last_number(folder)
    for file in list(folder.iterdir()):
        store = next((file.name.removesuffix(end) for end in LOGS if file.name.endswith(end)), file.name)
        name, part = store.removesuffix(PART), store.endswith(PART)
        whole = next((name.removesuffix(end) for end in (_MANIFEST, _KEY) if name.endswith(end)), name)
        if _NAME.fullmatch(whole) and (part or (name != whole and _number(whole) > last)):
            file.unlink(missing_ok=True)


def clear_unfinished(files: Iterable[Path]) -> None:
    """Remove files that backups of other names began and never finished, but for those that a run works on now."""
    for file in files:
        place = file.with_name(file.name.removesuffix(PART))
        if file.suffix != PART or not file.exists():
            continue
        with suppress(OSError, StoreBusy), locked(file.parent if _number(place.name) else place):
            for one in Part(place).files():
                one.unlink(missing_ok=True)


def clear_manifest(target: Path) -> None:
    """Remove the manifest that a killed run left of a backup that has no file. Raises InputError for a file that is
    none."""
    place = _beside(target, _MANIFEST)
    if not place.exists() or target.exists():
        return
    try:
        ours = _as_written(target)
    except StoreCorrupt:
        ours = None
    if ours is None or ours.file != target.name:
        raise InputError(f"{place} already exists, and the manifest of the backup has that name; choose another one")
    place.unlink()


def pruned(folder: Path, keep: Collection[Manifest]) -> list[str]:
    """Remove the backups of a folder that are not kept, unless one that is kept rests on them; the names that went.
    Only files that a manifest names, with what lies beside them, are touched."""
    needed = {one.file for last in keep for one in (last, *chain_there(folder, last))}
    going = [one for one in in_folder(folder) if one.file not in needed]
    for one in reversed(going):  # an increment before what it rests on
        for end in ("", _MANIFEST, _KEY):
            _beside(folder / one.file, end).unlink(missing_ok=True)
    return [one.file for one in going]


class Part:
    """A new file that only its maker may read, made as `NAME.part` and under its name when it is whole. What a killed
    run left is thrown away."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.file = _beside(place, PART)

    def __enter__(self) -> Part:
        for one in self.files():
            one.unlink(missing_ok=True)
        handle = os.open(self.file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        self._own = os.fstat(handle)
        os.close(handle)
        return self

    def adopt(self) -> None:
        """The file was made anew for this run by whoever filled it."""
        self._own = os.stat(self.file)

    def __exit__(self, *error: object) -> None:
        if self._is_mine():
            for one in self.files():
                with suppress(OSError):
                    one.unlink(missing_ok=True)

    def keep(self, *, over: bool = False) -> None:
        """Have it on the disk, and give it its name; `over` what has the name now. Raises InputError where it is taken,
        or another run works on the same; OSError."""
        if not self._is_mine():
            raise InputError(f"{self.file} is now used by another run for the same name; nothing was written")
        _sync(self.file)
        if over:
            self.file.replace(self.place)
        else:
            try:
                _named(self.file, self.place)
            except FileExistsError as error:
                raise InputError(f"{self.place} already exists; choose another name") from error
        _sync(self.place.parent)

    def take(self, other: Part) -> None:
        """Have the content of another one, which ends with that."""
        other.file.replace(self.file)
        self._own = other._own

    def _is_mine(self) -> bool:
        with suppress(OSError):
            return os.path.samestat(self._own, self.file.lstat())
        return False

    def files(self) -> Iterator[Path]:
        """The file, and what may be made beside it while it is a store."""
        yield self.file
        for end in LOGS:
            yield self.file.with_name(self.file.name + end)


def _named(file: Path, place: Path) -> None:
    """Give a file a name that no file has yet."""
    try:
        os.link(file, place)
    except FileExistsError:
        raise
    except OSError as error:  # a file system without links
        if place.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(place)) from error
        file.rename(place)
    else:
        file.unlink()


def _sync(place: Path) -> None:
    """A file, or the names in a folder, where the system can do that."""
    if place.is_dir() and os.name != "posix":
        return
    handle = os.open(place, os.O_RDONLY if place.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _beside(file: Path, end: str) -> Path:
    return file.with_name(file.name + end)


@contextmanager
def disk_told(place: Path) -> Iterator[None]:
    """An error of the system becomes one of ours: StoreFull where no room is left, else StoreError."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise StoreFull(f"{place}: no room is left on its disk; nothing was kept there: {error}") from error
        raise StoreError(f"{place} cannot be written: {error}") from error


def copy_file(source: Path, target: BinaryIO, told: Callable[[int, int], None]) -> str:
    """Copy the bytes of a file; their SHA-256 in hexadecimal. Raises OSError."""
    digest, size, done = hashlib.sha256(), source.stat().st_size, 0
    with source.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
            target.write(block)
            done += len(block)
            told(done, size)
    return digest.hexdigest()
