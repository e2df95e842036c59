"""Receipts of calls with an idempotency key: the same call made again finds what it did."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from sqlalchemy import Row, bindparam, select
from sqlalchemy.engine import Connection

from embermem.core.errors import KeyReused
from embermem.core.types import Owner, OwnerId
from embermem.protocols import Receipt
from embermem.store import schema
from embermem.store.codec import micros
from embermem.store.erasing import Erasing, is_gone, is_keyed, same_digest
from embermem.store.statements import ensure_owner, owner_state, write_receipt

_KEPT = select(schema.receipt).where(
    schema.receipt.c.owner_id == bindparam("of"), schema.receipt.c.key == bindparam("key")
)


class Receipts(Erasing):
    """Receipts of all calls but `add`, whose receipts `append` reads and writes."""

    def receipt(self, owner_id: OwnerId, key: str, digest: str) -> Receipt | None:
        """What a call with this key did; None if there was none. Raises KeyReused for a key of another call, and for
        one whose owner was forgotten since."""
        with self._read() as c:
            row = kept_receipt(c, owner_id, key, digest, lambda: self._secret_within(c))
            if row is not None:
                return Receipt(key=key, digest=digest, change_no=row.change_no, result=row.result)
            secret = self._known_key(c)
            new = owner_state(c, owner_id) is None
            if secret is not None and is_gone(c, owner_id, key, digest, secret, new=new):
                raise KeyReused(f"what the call with the key {key!r} did was forgotten; nothing is done again")
            return None

    def keep_receipt(self, owner: Owner, receipt: Receipt, now: datetime) -> None:
        """Keep the receipt of a call that had nothing to change. Raises RevisionMoved where another call has used the
        key meanwhile."""
        with self._write() as c:
            ensure_owner(c, owner, micros(now))
            write_receipt(c, owner.id, receipt, micros(now))


def kept_receipt(
    c: Connection, owner_id: OwnerId, key: str, digest: str, secret: Callable[[], bytes]
) -> Row[Any] | None:
    """The receipt of a key. Raises KeyReused where it is of other content."""
    row = c.execute(_KEPT, {"of": owner_id, "key": key}).first()
    if row is not None and not same_digest(row.digest, digest, secret() if is_keyed(row.digest) else b""):
        raise KeyReused(f"the key {key!r} was used before with other content; nothing was stored; give a new key")
    return row
