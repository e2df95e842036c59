"""All owners at a glance: how many there are, what they do and what waits, and who they are, found by name."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, and_, case, false, func, or_, select, tuple_
from sqlalchemy.engine import Connection

from embermem.core.errors import InputError
from embermem.core.ids import owner_id
from embermem.core.types import NO_USER
from embermem.protocols import Census, Grant, OwnerEntry, OwnerOrder
from embermem.store import schema
from embermem.store.codec import json_text, micros, moment
from embermem.store.engines.owner_alias import IdOf
from embermem.store.engines.words import has_text
from embermem.store.queries import reads, waits
from embermem.store.transactions import Transactions, missing_parts, over_owners

_SPAN = timedelta(minutes=15)
"""Activity is counted in spans of this length: the days of every zone that is in use now are made of them."""
_ENDED_WELL = ("ok", "started", "gave way")
"""Outcomes of model calls that are no failures."""


class Owners(Transactions):
    """What is asked of all owners that have a user; spaces are not among them."""

    @over_owners
    def census(self, since: datetime, now: datetime, short: int, among: Sequence[Grant] | None) -> Census:
        """Counts of the owners that some grants hold (None: of all): what was recorded `since`, and what is due
        `now`; with `short` pages of short-term memory."""
        owner, said, call = schema.owner, schema.utterance, schema.call
        whose = _reached(among)
        today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        due = case((owner.c.due_at <= micros(now), 1), else_=0)
        span = said.c.recorded_at // (_SPAN // timedelta(microseconds=1))
        failed = case((call.c.outcome.in_(_ENDED_WELL), 0), else_=1)
        with self._read() as c:
            row = c.execute(
                select(
                    func.count().label("owners"),
                    func.coalesce(func.sum(case((owner.c.created_at >= micros(since), 1), else_=0)), 0).label("new"),
                    func.coalesce(func.sum(due), 0).label("due"),
                    func.min(owner.c.due_at).label("due_since"),
                    func.coalesce(func.sum(case((owner.c.error.is_not(None), 1), else_=0)), 0).label("failing"),
                ).where(whose)
            ).one()
            spans = c.execute(
                select(span.label("span"), func.count().label("said"))
                .where(said.c.owner_id.in_(select(owner.c.owner_id).where(whose)), said.c.recorded_at >= micros(since))
                .group_by(span)
                .order_by(span)
            ).all()
            asked = select(func.count().label("calls"), func.coalesce(func.sum(failed), 0).label("failed"))
            asked = asked.where(call.c.at >= micros(today))
            if among is not None:
                asked = asked.join(owner, owner.c.owner_id == call.c.owner_id).where(whose)
            calls = c.execute(asked).one()
            behind = select(owner.c.owner_id).where(whose, owner.c.due_at.is_not(None))  # of others nothing waits
            waiting = waits.waiting(c, lambda column: column.in_(behind), short)
            missing = missing_parts(c)
        return Census(
            owners=row.owners,
            new=row.new,
            failing=row.failing,
            due=row.due,
            due_since=moment(row.due_since) if row.due else None,
            said=tuple((moment(one.span * (_SPAN // timedelta(microseconds=1))), one.said) for one in spans),
            waiting=waiting,
            calls=calls.calls,
            failed_calls=calls.failed,
            unreachable=missing,
        )

    @over_owners
    def find_owners(
        self,
        text: str,
        order: OwnerOrder,
        limit: int,
        after: str | None,
        short: int,
        among: Sequence[Grant] | None,
    ) -> tuple[OwnerEntry, ...]:
        """Owners that some grants hold (None: all) with a text in `user/agent`, in an order, those that come after a
        position; what would take a scan of their pages is counted for these alone. Raises InputError."""
        owner = schema.owner
        keys, later = _keys(order)
        listed = select(owner, *(key.label(f"key_{at}") for at, key in enumerate(keys))).where(
            _reached(among), *_named(text)
        )
        found = listed.cte("found").prefix_with("MATERIALIZED") if after is not None else listed.subquery("found")
        columns = [found.c[f"key_{at}"] for at in range(len(keys))]
        query = select(found).order_by(*(one.desc() if later else one.asc() for one in columns)).limit(limit)
        if after is not None:
            place = tuple_(*_place(after, columns))
            query = query.where(tuple_(*columns) < place if later else tuple_(*columns) > place)
        with self._read() as c:
            rows = c.execute(query).all()
            return tuple(_entries(c, rows, columns, short))


def _reached(among: Sequence[Grant] | None) -> ColumnElement[bool]:
    """That an owner has a user, and that one of some grants of users holds it."""
    owner = schema.owner.c
    has_user = owner.user != NO_USER
    if among is None:
        return has_user
    of = [one for one in among if one.space is None]
    if any(one.user is None and one.agent is None for one in of):
        return has_user
    held: list[ColumnElement[bool]] = []
    users = sorted({one.user for one in of if one.user is not None and one.agent is None})
    agents = sorted({one.agent for one in of if one.agent is not None and one.user is None})
    both = sorted({owner_id(one.user, one.agent) for one in of if one.user is not None and one.agent is not None})
    for column, names in ((owner.user, users), (owner.agent, agents), (owner.owner_id, both)):
        if names:
            held.append(column.in_(names))
    return and_(has_user, or_(*held)) if held else false()


def _named(text: str) -> list[ColumnElement[bool]]:
    """That a text stands in the name, whatever its case."""
    wanted = " ".join(text.split()).replace(" /", "/").replace("/ ", "/")
    if not wanted:
        return []
    return [has_text(schema.owner.c.user + "/" + schema.owner.c.agent, wanted)]


def _keys(order: OwnerOrder) -> tuple[Sequence[Any], bool]:
    """What owners are ordered by, and whether what is greater comes first. Utterances and pages are looked up of all
    owners only where nothing else says who comes first: among a million that takes seconds."""
    owner, said, page = schema.owner, schema.utterance, schema.page
    name = IdOf(owner.c.owner_id)  # a position has the id, whatever stands for it in the file
    newest = select(func.max(said.c.recorded_at)).where(said.c.owner_id == owner.c.owner_id).scalar_subquery()
    last = func.coalesce(newest, owner.c.created_at)
    failed = (
        select(func.count())
        .where(page.c.owner_id == owner.c.owner_id, page.c.retry_at.is_not(None), page.c.error.is_not(None))
        .scalar_subquery()
    )
    match order:
        case OwnerOrder.NAME:
            return (owner.c.user, owner.c.agent), False
        case OwnerOrder.SIZE:
            return (owner.c.pages, owner.c.created_at, name), True
        case OwnerOrder.TROUBLE:  # of owners with nothing due nothing has failed
            failures = case((owner.c.due_at.is_(None), owner.c.failures), else_=owner.c.failures + failed)
            since = case((failures > 0, last), else_=owner.c.created_at)
            return (failures, since, name), True
        case _:
            return (last, name), True


def _place(after: str, columns: Sequence[Any]) -> Sequence[Any]:
    """The values of a position. Raises InputError."""
    try:
        values = msgspec.json.decode(after, type=list[str | int])
    except msgspec.DecodeError:
        values = []
    kinds = [one.type.python_type for one in columns]
    if [type(one) for one in values] != kinds:
        raise InputError(f"after = {after!r} is no position of this order; give that of the last owner of a list")
    return values


def _entries(c: Connection, rows: Sequence[Any], columns: Sequence[Any], short: int) -> Sequence[OwnerEntry]:
    owner, page, said = schema.owner, schema.page, schema.utterance
    every = [row.owner_id for row in rows]
    behind = [row.owner_id for row in rows if row.due_at is not None]  # else nothing waits, and nothing has failed
    pages = _by_owner(c, page, every, page.c.no >= 1)
    left = (page.c.segment_id.is_(None), page.c.no.between(1, owner.c.pages - short))
    waiting = _by_owner(c, page, every, owner.c.owner_id == page.c.owner_id, *left)
    failed = _by_owner(c, page, behind, page.c.error.is_not(None))
    newest = select(said.c.owner_id, func.max(said.c.recorded_at).label("at")).where(said.c.owner_id.in_(every))
    last = {row.owner_id: row.at for row in c.execute(newest.group_by(said.c.owner_id))} if every else {}
    return [
        OwnerEntry(
            owner=reads.owner_from(row),
            created_at=moment(row.created_at),
            last_at=moment(last.get(row.owner_id, row.created_at)),
            pages=pages.get(row.owner_id, 0),
            facts=row.facts or 0,
            waiting=waiting.get(row.owner_id, 0),
            failed=failed.get(row.owner_id, 0),
            due_at=None if row.due_at is None else moment(row.due_at),
            error=row.error,
            position=json_text([getattr(row, one.name) for one in columns]),
        )
        for row in rows
    ]


def _by_owner(c: Connection, table: Any, ids: Sequence[str], *where: Any) -> dict[str, int]:
    """How many rows of a table each of some owners has."""
    if not ids:
        return {}
    query = select(table.c.owner_id, func.count().label("rows")).where(table.c.owner_id.in_(ids), *where)
    return {row.owner_id: row.rows for row in c.execute(query.group_by(table.c.owner_id))}
