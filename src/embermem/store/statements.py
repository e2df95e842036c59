"""Statements that several parts of the store share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Table, Update, and_, bindparam, case, or_, select, update
from sqlalchemy.engine import Connection

from embermem.core.errors import RevisionMoved
from embermem.core.types import Owner, OwnerId, Utterance
from embermem.protocols import OwnerState, Receipt
from embermem.store import schema
from embermem.store.engines.words import replacing, upsert
from embermem.store.queries import reads

BORN_AFTER = "born_after"
"""The store's setting that new owners are younger than: see `Erasing.forget_owner`."""

SCRUBBED = "scrubbed"
"""The store's setting that changes with each scrub that was whole. A store without it was made by an Ember that did not
look at the bytes."""
_LEASES_AHEAD = 2
"""A lease that ends so many times its length ahead, or more, was not given by this clock."""
_NEVER = 2**62
"""A time in microseconds that no clock says."""


_SETTING = select(schema.store.c.value).where(schema.store.c.key == bindparam("key"))
_OWNER = select(schema.owner).where(schema.owner.c.owner_id == bindparam("owner"))
_LOCKED = _OWNER.with_only_columns(schema.owner.c.seq).with_for_update()


def setting(c: Connection, key: str) -> str:
    return c.scalar(_SETTING, {"key": key}) or ""


def remember(c: Connection, values: Mapping[str, str]) -> None:
    c.execute(replacing(c, schema.store), [{"key": key, "value": value} for key, value in values.items()])


def remember_once(c: Connection, key: str, value: str) -> str:
    """Keep a value, unless there is one; the one that stands. Where it stands nothing is written: on Citus, a setting
    is written on every node."""
    known = setting(c, key)
    if known:
        return known
    c.execute(upsert(c, schema.store).values(key=key, value=value).on_conflict_do_nothing())
    return setting(c, key)


def owner_state(c: Connection, owner_id: OwnerId) -> OwnerState | None:
    row = c.execute(_OWNER, {"owner": owner_id}).first()
    return None if row is None else reads.owner_state_from(row)


def locked_owner(c: Connection, owner_id: OwnerId) -> bool:
    """Wait until no other transaction writes of this owner; what is read from here on is what they left. False for an
    owner that there is not. On SQLite a transaction that writes is alone from its beginning."""
    return c.scalar(_LOCKED, {"owner": owner_id}) is not None


def set_owner(c: Connection, owner_id: OwnerId, **values: Any) -> None:
    """Set columns of an owner's row."""
    c.execute(update(schema.owner).where(schema.owner.c.owner_id == owner_id).values(**values))


def ensure_owner(c: Connection, owner: Owner, at: int) -> bool:
    """The owner's row, held by this transaction until its end; whether it is new. A new owner begins at this time, or
    just after the last owner that was forgotten whole (`BORN_AFTER`).

    The setting is read after the insert. `forget_owner` commits it before it deletes the row, and the key lets the
    insert through only once that deletion is committed: so a statement that begins after the insert (in READ COMMITTED
    it sees what is committed by then) sees what the forgetting of this owner wrote. Read before the insert, or in it,
    the setting could be older than the deletion that the insert waited for. Nobody sees the row in between: it is not
    committed yet. A forgetting of another owner in between only makes the time later.
    """
    while not locked_owner(c, owner.id):
        row = {
            "owner_id": owner.id,
            "user": owner.user,
            "agent": owner.agent,
            "created_at": at,
            **dict.fromkeys(("seq", "pages", "revision", "persona_no", "reset_no", "embedded_seq", "failures"), 0),
            "lease_token": 0,
        }
        made = upsert(c, schema.owner).values(**row).on_conflict_do_nothing().returning(schema.owner.c.seq)
        if c.scalar(made) is not None:
            after = int(setting(c, BORN_AFTER) or 0)
            if after >= at:
                set_owner(c, owner.id, created_at=after + 1)
            return True  # else another was first, or forgot the owner in between
    return False


def utterances(
    c: Connection,
    owner_id: OwnerId,
    after_seq: int = 0,
    limit: int | None = None,
    where: Sequence[ColumnElement[bool]] = (),
) -> tuple[Utterance, ...]:
    table = schema.utterance
    query = select(table).where(table.c.owner_id == owner_id, table.c.seq > after_seq, *where)
    rows = c.execute(query.order_by(table.c.seq).limit(limit))
    return tuple(reads.utterance_from(row) for row in rows)


def due_from(at: int | BindParameter[int]) -> Any:
    """When the owner is due, now that something came in: at once, but where its work failed and must wait."""
    table = schema.owner
    waits = and_(table.c.error.is_not(None), table.c.lease_by.is_(None), table.c.due_at.is_not(None))
    return case((or_(table.c.due_at < at, waits), table.c.due_at), else_=at)


def unclaimed(at: int, lease_s: float) -> Any:
    """That no lease holds. One that ends later than two leases from now was given by a clock that runs ahead, and is
    none: its holder finds out by its token. The second lease is for clocks that differ a little."""
    until, latest = schema.owner.c.lease_until, min(at + _LEASES_AHEAD * lease_s * 1e6, _NEVER)
    return or_(until.is_(None), until <= at, until > int(latest))


def update_rows(
    c: Connection,
    table: Table,
    owner_id: OwnerId,
    keys: tuple[str, ...],
    rows: Iterable[Mapping[Any, Any]],
) -> int:
    """Set columns of an owner's rows that are there: each of `rows` has the `keys` of one, and the columns it sets.
    Whether a single one is there is known by how many were set."""
    grouped: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows:
        parameters = {f"k_{name}" if name in keys else f"b_{name}": value for name, value in row.items()}
        names = tuple(sorted(name for name in row if name not in keys))
        grouped.setdefault(names, []).append({"k_owner": owner_id, **parameters})
    return sum(
        c.execute(_updating(table, keys, names), some if len(some) > 1 else some[0]).rowcount
        for names, some in grouped.items()
    )


@cache
def _updating(table: Table, keys: tuple[str, ...], names: tuple[str, ...]) -> Update:
    return (
        update(table)
        .where(table.c.owner_id == bindparam("k_owner"))
        .where(*(table.c[name] == bindparam(f"k_{name}") for name in keys))
        .values({name: bindparam(f"b_{name}") for name in names})
    )


def write_receipt(c: Connection, owner_id: OwnerId, receipt: Receipt | None, at: int) -> None:
    """Keep the receipt of a call, in the transaction of what it did. Raises RevisionMoved where another call has used
    the key meanwhile: whoever decides anew finds its receipt."""
    if receipt is None:
        return
    values = {"key": receipt.key, "digest": receipt.digest, "change_no": receipt.change_no, "result": receipt.result}
    row = {"owner_id": owner_id, "first_seq": 0, "last_seq": 0, "recorded_at": at, **values}
    if c.execute(upsert(c, schema.receipt).values(**row).on_conflict_do_nothing()).rowcount == 0:
        raise RevisionMoved(f"the key {receipt.key!r} was used by another call meanwhile")
