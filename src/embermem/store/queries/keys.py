"""The service's keys: a table that belongs to no owner."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import insert, select, update

from embermem.core.errors import NotFound
from embermem.protocols import ApiKey, Grant
from embermem.store import schema
from embermem.store.codec import micros, record, row_of
from embermem.store.transactions import Transactions


class Keys(Transactions):
    """The keys of the service."""

    def all_keys(self) -> tuple[ApiKey, ...]:
        """All of them, oldest first."""
        table = schema.api_key
        with self._read() as c:
            rows = c.execute(select(table).order_by(table.c.created_at, table.c.id))
            return tuple(_key_from(row) for row in rows)

    def key(self, key_id: str) -> ApiKey | None:
        """One key; None where there is none of this id. A row is read in either case: the time does not tell."""
        table = schema.api_key
        with self._read() as c:
            row = c.execute(select(table).where(table.c.id == key_id)).first()
        key = _key_from(_Nobody() if row is None else row)
        return None if row is None else key

    def add_key(self, key: ApiKey) -> None:
        """Keep a new key."""
        told = ((one.user, one.agent, *(() if one.right is None else (one.right,))) for one in key.grants)
        grants = json.dumps([*told], ensure_ascii=False)
        with self._write() as c:
            c.execute(insert(schema.api_key), row_of(key, schema.api_key, grants=grants))

    def revoke_key(self, key_id: str, now: datetime) -> ApiKey:
        """End a key. Raises NotFound."""
        table = schema.api_key
        with self._write() as c:
            c.execute(
                update(table).where(table.c.id == key_id, table.c.revoked_at.is_(None)).values(revoked_at=micros(now))
            )
            row = c.execute(select(table).where(table.c.id == key_id)).first()
        if row is None:
            raise NotFound(f"there is no key {key_id!r}; `embermem keys list` names them")
        return _key_from(row)


class _Nobody(NamedTuple):
    """A row of no key."""

    id: str = ""
    name: str = ""
    digest: str = ""
    grants: str = '[["nobody", null]]'
    read_only: bool = False
    created_at: int = 0
    revoked_at: int | None = None


def _key_from(row: Any) -> ApiKey:
    return record(ApiKey, row, grants=tuple(_grant_from(*one) for one in json.loads(row.grants)))


def _grant_from(user: str | None, agent: str | None, right: str | None = None) -> Grant:
    return Grant(user=user, agent=agent, right=right)
