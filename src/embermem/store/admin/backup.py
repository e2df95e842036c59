"""Backing a store up while it is in use: a whole one, or the pages that the backups before it do not have.

A backup is made as `NAME.part` beside its place, cleaned of the bytes that hold no row, checked, and synced before it
gets its name. Of the store, only one reader is open meanwhile. A chain of increments ends with a forgetting: what is
forgotten stands in the older ones, so the next backup is a whole one, which rests on none of them.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from embermem.core.config import BACKUP_INCREMENTS, BACKUP_SHARE
from embermem.core.errors import InputError, StoreCorrupt, StoreError
from embermem.core.types import Backup
from embermem.store import backup_list, schema
from embermem.store.admin.backup_files import (
    FORMAT,
    PAGES,
    WHOLE,
    Manifest,
    Part,
    chain_there,
    clear_leftovers,
    clear_manifest,
    clear_unfinished,
    disk_told,
    in_folder,
    key_beside,
    locked,
    next_name,
    pruned,
    sha256_of,
    write_manifest,
)
from embermem.store.backup_list import known_begun, remember_backup
from embermem.store.engines.backup_pages import Contents, changed_pages, contents_of, refuse_unsound
from embermem.store.engines.copies import BESIDE
from embermem.store.erasing import Erasing, erased_mark
from embermem.store.forgotten_key import KEY_MARK, bring_key, refuse_other_key
from embermem.store.migrations import VERSION_TABLE
from embermem.store.transactions import Transaction

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from embermem.store.engines.database import Database

__all__ = ["Backups", "Told", "back_up", "backup_of", "refuse_different", "remember_begun"]

logger = logging.getLogger(__name__)

Told = Callable[[str, int, int], None]
"""Gets the step (`copying`, `checking` or `comparing`), how much of it is done, and of how much (0: not known)."""


class How(TypedDict, total=False):
    """How a backup is made; `back_up` says what each means."""

    incremental: bool
    keep: int | None
    drop_forgotten: bool
    as_file: bool


class Backups(Erasing):
    """What a store remembers of its backups."""

    def back_up(self, target: Path, *, now: datetime, told: Told, **how: Unpack[How]) -> Backup:
        """See `back_up`; the store remembers it, unless it is read only."""
        made = back_up(self._database, target, now=now, told=told, begun=self._begin, **how)
        if not self._database.read_only:
            self.remember_backup(made)
        return made

    def _begin(self, part: Path) -> None:
        if not self._database.read_only:
            with self._write() as c:
                begin(c, part)

    def remember_backup(self, made: Backup) -> None:
        """Keep in mind that there is a backup: what is forgotten here from now on stands there still."""
        with self._write() as c:
            remember_backup(c, made, made.dropped)


def back_up(
    database: Database,
    target: Path,
    *,
    now: datetime,
    told: Told,
    incremental: bool = False,
    keep: int | None = None,
    drop_forgotten: bool = False,
    as_file: bool = False,
    begun: Callable[[Path], None],
) -> Backup:
    """A backup of a store in a new file; in a new file of a folder where `target` is one, or may only be one:
    `incremental` writes what the folder does not have yet, where that is possible; `keep` removes older backups but for
    so many; `drop_forgotten` those that may hold what was forgotten since.

    `as_file` copies a store on a server row by row. `begun` hears of each file before it holds a word. Raises
    StoreError for one without it, InputError where the name is taken, StoreBusy where another run is at it, StoreFull,
    StoreCorrupt where the store is not sound: then there is no backup.
    """
    target = target.absolute()
    if (commands := database.own_backup(str(target))) and not as_file:
        raise StoreError(
            f"{database.place} is backed up by the server's own programs: {'; '.join(commands)}. as_file=True "
            "(--as-file) copies it row by row to an SQLite file"
        )
    run = _Run(database, now, told, begun)
    with disk_told(target):
        is_folder = target.is_dir()
    if incremental or keep is not None or drop_forgotten or is_folder:
        return run.into_folder(target, incremental=incremental, keep=keep, drop_forgotten=drop_forgotten)
    return run.into_file(target)


class _Run:
    def __init__(self, database: Database, now: datetime, told: Told, begun: Callable[[Path], None]) -> None:
        self._database = database
        self._now = now
        self._told = told
        self._begun = begun
        self._store = database.place if "://" in database.place else os.path.abspath(database.place)

    def into_file(self, target: Path) -> Backup:
        with disk_told(target):
            if not target.parent.is_dir():
                raise InputError(f"the folder {target.parent} does not exist; create it first")
            if os.path.abspath(target) in {f"{self._store}{end}" for end in BESIDE}:
                raise InputError(f"{target} is the name of a file that belongs to the store; choose another name")
            with locked(target):
                if target.exists():
                    raise InputError(f"{target} already exists; choose another name")
                clear_manifest(target)
                with Part(target) as part:
                    contents = self._image(part)
                    return self._whole(part, contents)

    def into_folder(self, folder: Path, *, incremental: bool, keep: int | None, drop_forgotten: bool) -> Backup:
        with disk_told(folder):
            if folder.exists() and not folder.is_dir():
                raise InputError(f"{folder} is a file; increments and --keep need a folder of backups")
            folder.mkdir(mode=0o700, exist_ok=True)
            with locked(folder):
                made = self._next(folder, incremental=incremental)
                return self._dropped(folder, made, keep, drop_forgotten)

    def _next(self, folder: Path, *, incremental: bool) -> Backup:
        """The next backup of a folder that this run has for itself."""
        clear_leftovers(folder)
        known = in_folder(folder)
        if known and known[-1].store != self._store:
            raise InputError(f"{folder} holds backups of another store, {known[-1].store}; choose another folder")
        with Part(folder / next_name(folder, self._now, WHOLE)) as image:
            contents = self._image(image)
            chain = self._continued(folder, known, contents) if incremental else []
            made = self._increment(folder, chain, image, contents) if chain else None
            return made or self._whole(image, contents)

    def _image(self, image: Part) -> Contents:
        """The store as it stands now in a file, checked."""
        part = image.file
        self._begun(part)
        counted = self._database.snapshot(part, lambda done, of: self._told("copying", done, of))
        if counted is None:
            image.adopt()
        self._told("checking", 0, 0)
        refuse_unsound(part)
        contents = contents_of(part, VERSION_TABLE)
        if counted is not None:
            refuse_different(part, contents.rows, counted)
        return contents

    def _whole(self, part: Part, contents: Contents) -> Backup:
        sha256 = sha256_of(part.file)
        key = key_beside(part.place)
        refuse_other_key(self._database.key, key)
        size = part.file.stat().st_size
        manifest = self._manifest(part.place.name, contents, size=size, sha256=sha256, whole_sha256=sha256)
        write_manifest(part.place.parent, manifest)
        bring_key(self._database.key, key)
        part.keep()
        return backup_of(part.place, manifest)

    # ---------------------------------------------------------------------------------------------------- increments

    def _continued(self, folder: Path, known: list[Manifest], contents: Contents) -> list[Manifest]:
        """The chain that the next increment continues; none where it must be a whole store: there is no chain yet, or
        it is long, damaged or has a gap, something was forgotten since, or its pages are not of the same size."""
        if not known:
            return []
        chain, last = chain_there(folder, known[-1]), known[-1]
        erased, key_mark = _marks(contents)
        there = (erased, key_mark, contents.schema, contents.page_size)
        same = there == (last.erased, last.key_mark, last.schema, last.page_size)
        if not same or not erased or len(chain) > BACKUP_INCREMENTS:
            return []
        self._told("comparing", 0, 0)
        return chain if all(sha256_of(folder / one.file) == one.sha256 for one in chain) else []

    def _increment(self, folder: Path, chain: list[Manifest], image: Part, contents: Contents) -> Backup | None:
        """The pages that the chain holds otherwise; None where they are most of the store."""
        with Part(folder / next_name(folder, self._now, PAGES)) as part:
            self._begun(part.file)
            older = [(folder / one.file, one.pages) for one in chain]
            with part.file.open("wb") as file:
                runs = changed_pages(image.file, older, contents.page_size, file)
            size = part.file.stat().st_size
            if size > BACKUP_SHARE * contents.page_size * contents.pages:
                return None
            manifest = self._manifest(
                part.place.name,
                contents,
                size=size,
                sha256=sha256_of(part.file),
                whole_sha256=sha256_of(image.file),
                after=chain[-1].file,
                pages=tuple(runs),
            )
            write_manifest(folder, manifest)
            part.keep()
        return backup_of(part.place, manifest)

    def _dropped(self, folder: Path, made: Backup, keep: int | None, drop_forgotten: bool) -> Backup:
        """Remove what is not to be kept, now that there is a newer one."""
        kept = in_folder(folder)
        if keep is not None:  # those that a gap makes useless are not counted
            first = [one.number for one in kept if chain_there(folder, one)][-keep:][0]
            kept = [one for one in kept if one.number >= first]
        if drop_forgotten:
            kept = [one for one in kept if one.erased == made.erased]
        dropped = tuple(str(folder / name) for name in pruned(folder, kept))
        return replace(made, dropped=dropped)

    def _manifest(
        self,
        name: str,
        contents: Contents,
        *,
        size: int,
        sha256: str,
        whole_sha256: str,
        after: str | None = None,
        pages: tuple[tuple[int, int], ...] = (),
    ) -> Manifest:
        erased, key_mark = _marks(contents)
        return Manifest(
            format=FORMAT,
            store=self._store,
            at=self._now,
            file=name,
            bytes=size,
            sha256=sha256,
            whole_sha256=whole_sha256,
            schema=contents.schema,
            page_size=contents.page_size,
            page_count=contents.pages,
            rows=contents.rows,
            erased=erased,
            key_mark=key_mark,
            after=after,
            pages=pages,
        )


def _marks(contents: Contents) -> tuple[str, str]:
    """The mark of forgettings, and that of the key."""
    return erased_mark(contents.settings), contents.settings.get(KEY_MARK, "")


def begin(c: Connection, part: Path) -> None:
    """Remember a file that is begun now, and remove what killed runs left of others."""
    clear_unfinished(one for one in known_begun(c) if one != part)
    backup_list.remember_begun(c, part)


def remember_begun(database: Database, part: Path) -> None:
    """The same in a store that is not open, where that may be written."""
    engine = database.open()
    try:
        with Transaction(database, engine, writes=True) as c:
            begin(c, part)
    except StoreError as error:
        logger.warning("%s cannot remember that %s is written: %s", database.place, part, error)
    finally:
        engine.dispose()


def backup_of(place: Path, manifest: Manifest) -> Backup:
    """What a manifest says of a backup."""
    rows = manifest.rows
    return Backup(
        place=str(place),
        at=manifest.at,
        bytes=manifest.bytes,
        store_bytes=manifest.page_size * manifest.page_count,
        owners=rows[schema.owner.name],
        utterances=rows[schema.utterance.name],
        changes=rows[schema.change.name],
        schema=manifest.schema,
        sha256=manifest.sha256,
        erased=manifest.erased,
        after=manifest.after,
    )


def refuse_different(file: Path, found: Mapping[str, int], expected: Mapping[str, int]) -> None:
    """Raises StoreCorrupt where a file does not have the rows that it must have."""
    for name in sorted({*found, *expected}):
        if found.get(name) != expected.get(name):
            raise StoreCorrupt(f"{file}: table {name} has {found.get(name)} rows in place of {expected.get(name)}")
