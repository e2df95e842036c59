"""A store whose process dies in the middle of its work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from sqlalchemy.engine import Connection

from embermem.store.sql import SqlStore


class Struck(Exception):
    """The process died here."""


class Mortal(SqlStore):
    """A store whose process dies in one of its next transactions: before it is committed, or just after. From then on
    it does nothing."""

    def __init__(self, store: SqlStore) -> None:
        super().__init__(store._database)
        self.left: int | None = None
        self.after = False
        self.dead = False

    def _transaction(self, *, writes: bool) -> AbstractContextManager[Connection]:
        if self.dead:
            raise Struck
        return super()._transaction(writes=writes)

    @contextmanager
    def _write(self) -> Iterator[Connection]:
        if self.left is not None:
            self.left -= 1
        struck = self.left == 0
        with super()._write() as connection:
            yield connection
            self.dead = struck and not self.after
            if self.dead:
                raise Struck
        self.dead = struck
        if self.dead:
            raise Struck
