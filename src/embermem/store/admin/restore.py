"""A store made from a backup: checked first, whole before it has its name, and brought back to a time if asked."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from contextlib import closing
from datetime import datetime
from pathlib import Path

from embermem.core.errors import InputError, NotFound, StoreCorrupt, StoreError
from embermem.core.types import Restored
from embermem.store import schema
from embermem.store.admin.backup import Backups, Told, backup_of, refuse_different, remember_begun
from embermem.store.admin.backup_files import (
    Manifest,
    Part,
    chain_of,
    copy_file,
    disk_told,
    in_folder,
    key_beside,
    locked,
    manifest_of,
    newest_in,
    sha256_of,
)
from embermem.store.admin.point_in_time import PointInTime
from embermem.store.engines.backup_pages import Contents, alone, apply_pages, compact, contents_of, refuse_unsound
from embermem.store.engines.copies import LOGS, PAGES
from embermem.store.engines.database import Database
from embermem.store.forgotten_key import KeyFile, bring_key, refuse_other_key
from embermem.store.migrations import VERSION_TABLE, refuse_unknown
from embermem.store.schema import HEAD

__all__ = ["restore"]


def restore(
    backup: Path,
    target: Path,
    *,
    opened: Callable[[Path], Database],
    now: datetime,
    told: Told,
    at: datetime | None = None,
    replace: bool = False,
) -> Restored:
    """The store of a backup in a new file: a file with or without a manifest, an increment, or a folder, whose newest
    one is taken. `at` a time, its memory is what was known then. `replace` moves a store that is there aside.

    Raises NotFound, InputError where the place is taken, StoreCorrupt for a damaged backup, StoreBusy where a process
    has the store open that is to be replaced, SchemaMismatch for a newer one, StoreFull. Then the place is as it was.
    """
    source, manifest = _found(backup.absolute())
    named = target.absolute()
    target = named.resolve() if named.is_symlink() else named  # the store is where the link leads
    if target.is_dir() or not target.parent.is_dir():
        raise InputError(f"{target} is not a place for a store's file: name a file in a folder that exists")
    _refuse_taken(target, replace)
    if at is not None and manifest is not None and at > manifest.at:
        when, until = at.isoformat(timespec="seconds"), manifest.at.isoformat(timespec="seconds")
        raise InputError(f"{source} was made at {until}, before {when}: take a newer one, or leave the time out")
    if not target.exists():
        _refuse_beside(target)
    with disk_told(target), locked(target), Part(target) as part:
        if manifest is not None and Path(manifest.store).exists() and not target.exists():
            remember_begun(opened(Path(manifest.store)), part.file)  # a store that is at the place sees it there
        contents = _assembled(source, manifest, part.file, told)
        forgotten = 0
        if at is not None:
            forgotten = _brought_back(part, opened, at, now, told)
            contents = contents_of(part.file, VERSION_TABLE)
        if contents.schema == HEAD:
            beside = opened(target).backups()
            _remember(opened(part.file), source, manifest, beside)
        first = source if manifest is None else source.with_name(chain_of(source.parent, manifest)[0].file)
        for place in (named, target):
            _drop_caches(opened(place))
        replaced = _put(part, target, key_beside(first), key_beside(named), replace)
    rows = contents.rows
    return Restored(
        place=str(named),
        backup=str(source),
        backup_at=None if manifest is None else manifest.at,
        owners=rows[schema.owner.name],
        utterances=rows[schema.utterance.name],
        changes=rows[schema.change.name],
        known_at=at,
        forgotten_later=forgotten,
        replaced=replaced,
    )


# ----------------------------------------------------------------------------------------------- what it is made of


def _found(backup: Path) -> tuple[Path, Manifest | None]:
    """The file of a backup, and its manifest."""
    if backup.is_dir():
        newest = newest_in(backup)
        if newest is None:
            raise NotFound(f"there is no backup in {backup}")
        return backup / newest.file, newest
    if not backup.exists():
        raise NotFound(f"there is no backup at {backup}")
    manifest = manifest_of(backup)
    if manifest is None and backup.suffix == PAGES:
        raise NotFound(f"{backup} has some pages of a store, and its manifest is not beside it")
    return backup, manifest


def _assembled(source: Path, manifest: Manifest | None, part: Path, told: Told) -> Contents:
    """The store of a backup in a file, as whole and sound as its manifest says. Raises StoreCorrupt."""
    folder, chain = source.parent, [] if manifest is None else chain_of(source.parent, manifest)
    first = source if manifest is None else folder / chain[0].file
    if Path(f"{first}-wal").exists() and Path(f"{first}-wal").stat().st_size:
        raise StoreError(f"{first} is in use, or was not closed: what {first}-wal holds is no part of the backup")
    with part.open("r+b") as file:
        sha256 = copy_file(first, file, lambda done, of: told("copying", done, of))
        for one, found in ((one, sha256 if one is chain[0] else sha256_of(folder / one.file)) for one in chain):
            if found != one.sha256:
                raise StoreCorrupt(f"{folder / one.file} is damaged: its SHA-256 is not that of its manifest")
        for one in chain[1:]:
            apply_pages(file, folder / one.file, one.pages, one.page_size, one.page_count)
    told("checking", 0, 0)
    if manifest is not None and len(chain) > 1 and sha256_of(part) != manifest.whole_sha256:
        raise StoreCorrupt(f"{source} does not give the store that it was made of: a backup before it was changed")
    refuse_unsound(part)
    contents = contents_of(part, VERSION_TABLE)
    refuse_unknown(contents.schema, str(source))
    if manifest is not None:
        refuse_different(source, contents.rows, manifest.rows)
    return contents


def _brought_back(part: Part, opened: Callable[[Path], Database], at: datetime, now: datetime, told: Told) -> int:
    """The file as it was known at a time, without the bytes of what it had since; how many forgettings were later."""
    store = PointInTime(opened(part.file))
    try:
        forgotten = store.bring_back(at, now, lambda done, of: told("replaying", done, of))
    finally:
        store.close()
        part.file.with_name(f"{part.file.name}.before-{HEAD}").unlink(missing_ok=True)  # of a migration
    with Part(part.file) as small:
        compact(part.file, small.file)
        part.take(small)
    return forgotten


def _remember(database: Database, source: Path, manifest: Manifest | None, beside: Collection[Path]) -> None:
    """Keep in mind what the store was made of, and the other backups in the folder: what is forgotten from now on may
    be in them. What is `beside` the store is looked at anyway."""
    store = Backups(database)
    try:
        if manifest is not None:
            known = [one for one in in_folder(source.parent) if one.store == manifest.store]
            for one in known if manifest in known else [manifest]:
                store.remember_backup(backup_of(source.with_name(one.file), one))
        elif source not in beside:
            store.remember_copy(source)
    finally:
        store.close()


# -------------------------------------------------------------------------------------------------- where it is put


def _refuse_taken(target: Path, replace: bool) -> None:
    """Raises InputError for a store that is there and may not be replaced."""
    if target.exists() and not replace:
        raise InputError(f"{target} already exists; choose another name, or replace it (--replace)")


def _refuse_beside(target: Path) -> None:
    """Raises InputError where changes of a store lie that is gone: SQLite would take them for the new one's."""
    for end in LOGS:
        if (one := Path(f"{target}{end}")).exists():
            raise InputError(f"{one} is left of a store that was at {target}: move it away first")


def _drop_caches(database: Database) -> None:
    """Remove the files of indexes of the store that was at the place. Raises OSError."""
    for folder in database.caches:
        folder.drop_all()


def _put(part: Part, target: Path, ours: KeyFile, theirs: KeyFile, replace: bool) -> str | None:
    """Give the file its name, with its key at the place of `theirs`; where the store is now that had the name, if one
    had it."""
    _refuse_taken(target, replace)  # by a store that was made meanwhile
    if not target.exists():
        refuse_other_key(ours, theirs)
        bring_key(ours, theirs)
        part.keep()
        return None
    with closing(alone(target)) as held:
        aside = next(one for n in range(1, 10_000) if not (one := Path(f"{target}.replaced-{n}")).exists())
        bring_key(theirs, key_beside(aside))
        if ours.read() is not None and theirs.read() not in (None, ours.read()):
            theirs.set_aside()
        bring_key(ours, theirs)
        os.link(target, aside)
        for end in LOGS:  # of one that is damaged: SQLite would take its changes for the new one's
            if (one := Path(f"{target}{end}")).exists():
                one.replace(f"{aside}{end}")
        if os.name != "posix":  # where an open file keeps its name
            held.close()
        part.keep(over=True)
    return str(aside)
