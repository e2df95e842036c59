"""Files of owners' indexes beside the store: who may read one, and when one may appear."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from sqlalchemy import select
from sqlalchemy.engine import Connection

from embermem.core.errors import StoreError
from embermem.core.types import OwnerId
from embermem.protocols import IndexFiles, Standing
from embermem.store import schema
from embermem.store.cache_folder import CacheFolder
from embermem.store.engines.database import Database
from embermem.store.queries.delta import mark_at
from embermem.store.statements import locked_owner, remember, setting
from embermem.store.transactions import Transactions, interruptible

__all__ = ["IndexCache", "drop_index_files"]

logger = logging.getLogger(__name__)

_FOLDERS = "index_folders"
"""The store's setting that lists the folders which held files of indexes, but for the one beside the store."""


class IndexCache(Transactions):
    """A store whose readers keep files of indexes."""

    @cached_property
    def index_files(self) -> IndexFiles:
        """The files of this store's owners."""
        return _Files(self, self._database)


class _Files(IndexFiles):
    def __init__(self, store: Transactions, database: Database) -> None:
        self._store, self._database = store, database
        self._failed = False

    def file(self, owner_id: OwnerId) -> Path | None:
        folder = self._database.cache
        return None if folder is None or folder.is_link else folder.file(owner_id)

    def drop(self, owner_id: OwnerId) -> None:
        if self._database.cache is not None and not self._database.read_only:
            with suppress(OSError):
                self._database.cache.drop(owner_id)

    @interruptible
    def keep(self, owner_id: OwnerId, standing: Standing, write: Callable[[BinaryIO], None]) -> bool:
        folder = self._database.cache
        if folder is None or self._database.read_only:
            return False

        @contextmanager
        def alone() -> Iterator[bool]:
            with self._store._write() as c:
                may = _stands(c, owner_id, standing)
                if may:
                    _remember_folder(c, folder, self._database.cache_beside)
                yield may

        try:
            return folder.put(owner_id, write, alone)
        except OSError as error:
            if not self._failed:
                logger.warning("no file of an index can be kept in %s: %s", folder.path, error)
            self._failed = True
            return False


def drop_index_files(c: Connection, owner_id: OwnerId, database: Database) -> None:
    """Remove an owner's files from all folders that ever had any, within the transaction that forgets something: no
    other can appear before it ends, and after it none that is older. Raises StoreError where one cannot be removed."""
    known = [CacheFolder(Path(one)) for one in json.loads(setting(c, _FOLDERS) or "[]")]
    # An older copy of the database knows nothing of its own folder.
    for folder in (*known, *database.caches):
        try:
            folder.drop(owner_id)
        except OSError as error:
            raise StoreError(
                f"nothing was forgotten: a file in {folder.path} holds it and cannot be removed ({error}); remove it "
                "and try again"
            ) from error


def _stands(c: Connection, owner_id: OwnerId, standing: Standing) -> bool:
    if not locked_owner(c, owner_id):
        return False
    owner = schema.owner.c
    row = c.execute(
        select(owner.seq, owner.revision, owner.reset_no, owner.created_at).where(owner.owner_id == owner_id)
    ).one()
    return (
        row.created_at == standing.born
        and row.reset_no <= standing.revision <= row.revision
        and standing.seq <= row.seq
        and mark_at(c, owner_id, standing.seq, standing.revision) == standing.mark
    )


def _remember_folder(c: Connection, folder: CacheFolder, beside: CacheFolder | None) -> None:
    if beside is not None and folder.path == beside.path:
        return
    known = json.loads(setting(c, _FOLDERS) or "[]")
    if str(folder.path) not in known:
        remember(c, {_FOLDERS: json.dumps([*known, str(folder.path)])})
