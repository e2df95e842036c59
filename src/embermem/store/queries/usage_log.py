"""The ledger of model calls: how many there were today, and what they cost."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, func, insert, literal_column, select, update
from sqlalchemy.engine import Connection

from embermem.core.errors import BudgetSpent
from embermem.core.types import CallsBy, CallSum, Owner, OwnerId
from embermem.protocols import Call, Limits
from embermem.store import schema
from embermem.store.codec import micros, moment, record, row_of
from embermem.store.queries import reads
from embermem.store.statements import locked_owner, remember_once
from embermem.store.transactions import Transactions, over_owners

_FEW = 6
"""Lines found by an index take so many times as long as lines read one after the other (measured with SQLite)."""
_LIMITS = "limits"
"""The store's setting whose row is held while a limit over all owners is looked at."""


class Ledger(Transactions):
    """Calls that were begun, and what came of them."""

    def begin_call(self, owner: Owner, call: Call, limits: Limits) -> None:
        """Write a call as "started", if the day's limits have room for it; see protocols.

        A call counts with its estimate until it ended, also where whoever made it died. So no limit on calls is ever
        passed, and one on tokens by no more than estimates fell short. The day's sum over all owners is one of the few
        statements that cross them; it is asked only where there is such a limit.
        """
        with self._write() as c:
            day = call.at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
            everyone, owned = (limits.calls, limits.tokens), (limits.owner_calls, limits.owner_tokens)
            for whose, (calls, tokens), owner_id in (("all", everyone, None), (owner.user, owned, owner.id)):
                if (calls, tokens) == (None, None):
                    continue
                _alone(c, owner_id)
                had, spent = _sums(c, day, owner_id)
                if calls is not None and had + 1 > calls:
                    raise _spent(whose, f"{calls} calls", day)
                if tokens is not None and spent + call.prompt_tokens + call.completion_tokens > tokens:
                    raise _spent(whose, f"{tokens} tokens", day)
            c.execute(insert(schema.call), row_of(call, schema.call, outcome="started"))

    def end_call(self, call: Call) -> None:
        table = schema.call
        with self._write() as c:
            query = update(table).where(table.c.owner_id == call.owner_id, table.c.id == call.id)
            row = row_of(call, table)
            c.execute(query.values({name: row[name] for name in row.keys() - {"owner_id", "id"}}))

    @over_owners
    def calls(self, since: datetime, owner_id: OwnerId | None = None) -> tuple[Call, ...]:
        """The ledger from a time on, oldest first; without an owner that of all, which crosses owners."""
        table = schema.call
        query = select(table).where(table.c.at >= micros(since)).order_by(table.c.at, table.c.id)
        if owner_id is not None:
            query = query.where(table.c.owner_id == owner_id)
        with self._read() as c:
            return tuple(record(Call, row) for row in c.execute(query))

    @over_owners
    def call_sums(
        self, since: datetime, by: Collection[CallsBy], owner_id: OwnerId | None = None, most: int | None = None
    ) -> tuple[CallSum, ...]:
        """The ledger from a time on, summed up by the database: those with most tokens first, `most` of them at most.
        Without an owner over all."""
        owner = schema.owner
        with self._read() as c:
            rows = c.execute(_summing(c, since, by, owner_id).limit(most)).all()
            ids = {row.owner_id for row in rows} if CallsBy.OWNER in by else set[str]()
            owners = {
                row.owner_id: reads.owner_from(row)
                for some in reads.chunks(sorted(ids))
                for row in c.execute(select(owner).where(owner.c.owner_id.in_(some)))
            }
        return tuple(_call_sum(row, owners) for row in rows if row.calls)


def _summing(c: Connection, since: datetime, by: Collection[CallsBy], owner_id: OwnerId | None) -> Any:
    call = schema.call.c
    whole = owner_id is None and _are_most(c, since)
    key: ColumnElement[Any] = call.owner_id + literal_column("''") if whole else call.owner_id
    named = {**_NAMED, CallsBy.OWNER: key}
    grouped = [named[one] for one in CallsBy if one in by]
    names = [named[one].label("owner_id" if one is CallsBy.OWNER else one.value) for one in CallsBy if one in by]
    tokens = func.sum(call.prompt_tokens) + func.sum(call.completion_tokens)
    sums = [func.sum(call[name]).label(name) for name in ("prompt_tokens", "completion_tokens", "cached_tokens")]
    times = [func.sum(call.ms).label("ms"), func.max(call.ms).label("slowest_ms")]
    at = call.at + literal_column("0") if whole else call.at
    return (
        select(*names, func.count().label("calls"), *sums, *times)
        .where(at >= micros(since), *(() if owner_id is None else (call.owner_id == owner_id,)))
        .group_by(*grouped)
        .order_by(tokens.desc(), *grouped)
    )


def _are_most(c: Connection, since: datetime) -> bool:
    """Whether the lines of the ledger from a time on are so many that all are read sooner one after the other than
    those are found by an index: 17 against 124 ms of 100,000."""
    lines = select(func.count()).select_from(schema.call)
    return (c.scalar(lines.where(schema.call.c.at >= micros(since))) or 0) * _FEW > (c.scalar(lines) or 0)


_DAY = schema.call.c.at - schema.call.c.at % literal_column("86400000000")
"""When the day of a call began, in microseconds."""
_NAMED: dict[CallsBy, ColumnElement[Any]] = {
    CallsBy.DAY: _DAY,
    CallsBy.PURPOSE: schema.call.c.purpose,
    CallsBy.MODEL: schema.call.c.model,
    CallsBy.OUTCOME: schema.call.c.outcome,
}


def _call_sum(row: Any, owners: dict[str, Owner]) -> CallSum:
    named = {name: getattr(row, name) for name in ("purpose", "model", "outcome", "owner_id") if name in row._fields}
    return CallSum(
        calls=row.calls,
        prompt_tokens=int(row.prompt_tokens or 0),
        completion_tokens=int(row.completion_tokens or 0),
        cached_tokens=int(row.cached_tokens or 0),
        ms=int(row.ms or 0),
        slowest_ms=row.slowest_ms or 0,
        day=moment(row.day).date() if "day" in row._fields else None,
        owner=owners.get(named.get("owner_id", "")),
        **named,
    )


def _alone(c: Connection, owner_id: OwnerId | None) -> None:
    """Wait until nobody else adds to the sums that a limit is held against. An owner who has said nothing yet has no
    row to hold."""
    if owner_id is not None and locked_owner(c, owner_id):
        return
    remember_once(c, _LIMITS, "")
    table = schema.store
    c.execute(select(table.c.value).where(table.c.key == _LIMITS).with_for_update())


def _sums(c: Connection, day: datetime, owner_id: OwnerId | None) -> tuple[int, int]:
    """Calls and tokens of a day, of one owner or of all."""
    table = schema.call
    spent = func.coalesce(func.sum(table.c.prompt_tokens + table.c.completion_tokens), 0)
    query = select(func.count(), spent).where(table.c.at >= micros(day), table.c.at < micros(day + timedelta(days=1)))
    row = c.execute(query if owner_id is None else query.where(table.c.owner_id == owner_id)).one()
    return row[0], row[1]


def _spent(whose: str, limit: str, day: datetime) -> BudgetSpent:
    again = day + timedelta(days=1)
    return BudgetSpent(
        f"the model's limit of {limit} a day for {whose} is reached; it is asked again {again:%Y-%m-%d %H:%M} UTC",
        again,
    )
