"""What is read of the second log, and where both logs stood at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Select, bindparam, delete, func, insert, literal, select
from sqlalchemy.engine import Connection, Row

from embermem.core.changes import BegunAnew, Cause, Change, Decision, VisitCount, Visited, sources
from embermem.core.errors import InputError
from embermem.core.ids import made_in
from embermem.core.types import OwnerId
from embermem.protocols import Apart, Moment
from embermem.store import schema
from embermem.store.codec import decisions_from, decisions_text, json_text, micros, record, row_of
from embermem.store.codec import moment as time_of
from embermem.store.engines.packed_text import Plain
from embermem.store.engines.words import holds, upsert
from embermem.store.queries.reads import chunks
from embermem.store.transactions import Transactions

_AT_ONCE = 200
"""Changes that are read at once."""
_LOG = insert(schema.change)
_VISITS = delete(schema.visit).where(schema.visit.c.owner_id == bindparam("owner")).returning(schema.visit)


class Changes(Transactions):
    """Readers of the log of changes."""

    def changes(
        self,
        owner_id: OwnerId,
        since: int = 0,
        limit: int | None = None,
        *,
        causes: Collection[Cause] | None = None,
        kinds: Collection[type[Decision]] | None = None,
    ) -> tuple[Change, ...]:
        with self._read() as c:
            return changes(c, owner_id, since, limit, causes=causes, kinds=kinds)

    def last_changes(
        self,
        owner_id: OwnerId,
        limit: int | None,
        *,
        since: int = 0,
        before: int | None = None,
        causes: Collection[Cause] | None = None,
        kinds: Collection[type[Decision]] | None = None,
    ) -> tuple[Change, ...]:
        table = schema.change.c
        query = _selected(owner_id, since, causes).order_by(table.no.desc()).limit(limit)
        if before is not None:
            query = query.where(table.no < before)
        with self._read() as c:
            return tuple(change_from(row, kinds) for row in c.execute(query).all()[::-1])

    def changes_naming(self, owner_id: OwnerId, item_id: str) -> tuple[Change, ...]:
        table = schema.change.c
        query = _selected(owner_id, made_in(item_id) - 1).order_by(table.no)
        with self._read() as c:
            return tuple(map(change_from, c.execute(query.where(holds(c, Plain(table.decisions), json_text(item_id))))))

    def revision_at(self, owner_id: OwnerId, at: datetime) -> int:
        with self._read() as c:
            return stood_at(c, owner_id, at)[1]

    def moment(self, owner_id: OwnerId, as_of: datetime) -> Moment:
        with self._read() as c:
            row = _where_they_stood_at(c, owner_id, as_of)
            if row is None:
                return Moment(seq=0, revision=0)
            seq, revision = _seq(row), _revision(row)
            if (row.begun or 0) > revision:
                change = schema.change
                begun_at = select(change.c.recorded_at).where(change.c.owner_id == owner_id, change.c.no == row.begun)
                since = time_of(c.execute(begun_at).scalar_one()).isoformat(timespec="seconds")
                raise InputError(
                    f"as_of = {as_of.isoformat()}: change {row.begun} began memory anew at {since}, and earlier "
                    "derived memory was discarded; give a later time"
                )
        return Moment(seq=seq, revision=revision)


def changes(
    c: Connection,
    owner_id: OwnerId,
    since: int = 0,
    limit: int | None = None,
    *,
    causes: Collection[Cause] | None = None,
    kinds: Collection[type[Decision]] | None = None,
) -> tuple[Change, ...]:
    """The next `limit` changes after `since`, of some causes, each with its decisions of some kinds only. In order.
    What is left out is not decoded."""
    query = _selected(owner_id, since, causes).order_by(schema.change.c.no).limit(limit)
    return tuple(change_from(row, kinds) for row in c.execute(query))


def _selected(owner_id: OwnerId, since: int, causes: Collection[Cause] | None = None) -> Select[Any]:
    table = schema.change
    query = select(table).where(table.c.owner_id == owner_id, table.c.no > since)
    return query if causes is None else query.where(table.c.cause.in_([cause.value for cause in causes]))


def parts(
    c: Connection,
    owner_id: OwnerId,
    since: int = 0,
    upto: int | None = None,
    *,
    kinds: Collection[type[Decision]] | None = None,
) -> Iterator[tuple[Change, ...]]:
    """All changes after `since`, up to `upto` where it is given, some at a time: a long log is never held whole."""
    while upto is None or since < upto:
        limit = _AT_ONCE if upto is None else min(_AT_ONCE, upto - since)
        some = changes(c, owner_id, since, limit, kinds=kinds)
        if not some:
            return
        yield some
        since = some[-1].no


def change_from(row: Row[Any], kinds: Collection[type[Decision]] | None = None) -> Change:
    """A change, with its decisions of some kinds."""
    return record(Change, row, decisions=decisions_from(row.decisions, kinds))


def log(c: Connection, owner_id: OwnerId, change: Change) -> Change:
    """Write the next change, and index it. The visits that waited for it are told in it, and wait no more; where it
    begins memory anew, nothing is left that was visited. Returns it with them."""
    rows = sorted(c.execute(_VISITS, {"owner": owner_id}).all())
    if rows and not any(isinstance(one, BegunAnew) for one in change.decisions):
        items = tuple(record(VisitCount, row, at=time_of(row.visited_at)) for row in rows)
        change = replace(change, decisions=(*change.decisions, Visited(items=items)))
    c.execute(_LOG, change_row(owner_id, change))
    index(c, owner_id, [change])
    return change


def index(c: Connection, owner_id: OwnerId, some: Iterable[Change]) -> None:
    """Note which utterances changes rest on."""
    _note(c, owner_id, {(seq, one.no) for one in some for seq in rests_on(one)})


def index_again(c: Connection, owner_id: OwnerId) -> None:
    """Note it anew of all changes."""
    table = schema.change_source
    c.execute(delete(table).where(table.c.owner_id == owner_id))
    for some in parts(c, owner_id):
        index(c, owner_id, some)


def index_rewritten(
    c: Connection, owner_id: OwnerId, pairs: Iterable[tuple[Change, Change]], apart: Mapping[int, Apart]
) -> None:
    """Note it of changes that read otherwise now, each as it was and as it is. What was left `apart` of them stays."""
    table, gone, more = schema.change_source, list[dict[str, int]](), set[tuple[int, int]]()
    for was, now in pairs:
        before, after = rests_on(was), rests_on(now)
        kept = [fields for one in apart.get(now.no, ()) if one is not None for fields in one[1:]]
        gone += [
            {"k_seq": seq, "k_no": now.no}
            for seq in sorted(before - after)
            if not any(b'"seq":%d,' % seq in fields for fields in kept)
        ]
        more |= {(seq, now.no) for seq in after - before}
    if gone:
        of = (table.c.owner_id == owner_id, table.c.seq == bindparam("k_seq"), table.c.no == bindparam("k_no"))
        c.execute(delete(table).where(*of), gone)
    _note(c, owner_id, more)


def rests_on(change: Change) -> set[int]:
    """The numbers of the utterances that a change rests on."""
    return {source.seq for d in change.decisions for source in sources(d)}


def _note(c: Connection, owner_id: OwnerId, pairs: Collection[tuple[int, int]]) -> None:
    rows = [{"owner_id": owner_id, "seq": seq, "no": no} for seq, no in sorted(pairs)]
    if rows:
        c.execute(upsert(c, schema.change_source).on_conflict_do_nothing(), rows)


def resting_on(c: Connection, owner_id: OwnerId, seqs: Collection[int]) -> set[int]:
    """The numbers of the changes that rest on some utterances."""
    table = schema.change_source.c
    query = select(table.no).where(table.owner_id == owner_id)
    return {no for some in chunks(sorted(seqs)) for no in c.scalars(query.where(table.seq.in_(some)))}


def change_row(owner_id: OwnerId, change: Change) -> dict[str, Any]:
    """A change as a row."""
    return row_of(change, schema.change, owner_id=owner_id, decisions=decisions_text(change.decisions))


def _where_they_stood() -> Select[Any]:
    """In one statement, made once: the newest numbers of both logs, whether something was recorded later than a time,
    the numbers that were the newest then, and the change that last began memory anew."""
    owner, said, change = schema.owner, schema.utterance, schema.change
    mine, at = bindparam("owner", type_=owner.c.owner_id.type), bindparam("at", type_=change.c.recorded_at.type)

    def last(log: Any, number: Any, name: str) -> list[Any]:
        later = select(literal(1)).where(log.c.owner_id == mine, log.c.recorded_at > at).limit(1)
        then = select(number).where(log.c.owner_id == mine, log.c.recorded_at <= at)
        newest = then.order_by(log.c.recorded_at.desc(), number.desc()).limit(1)
        return [later.scalar_subquery().label(f"{name}_later"), newest.scalar_subquery().label(name)]

    begun = select(func.max(change.c.no)).where(change.c.owner_id == mine, change.c.cause == Cause.ANEW.value)
    return select(
        owner.c.seq,
        owner.c.revision,
        *last(said, said.c.seq, "said"),
        *last(change, change.c.no, "changed"),
        begun.scalar_subquery().label("begun"),
    ).where(owner.c.owner_id == mine)


_WHERE_THEY_STOOD = _where_they_stood()


def _where_they_stood_at(c: Connection, owner_id: OwnerId, at: datetime) -> Row[Any] | None:
    return c.execute(_WHERE_THEY_STOOD, {"owner": owner_id, "at": micros(at)}).first()


def stood_at(c: Connection, owner_id: OwnerId, at: datetime) -> tuple[int, int]:
    """The last utterance and the last change that were recorded by a time; 0 where there was none."""
    row = _where_they_stood_at(c, owner_id, at)
    return (0, 0) if row is None else (_seq(row), _revision(row))


def _seq(row: Row[Any]) -> int:
    return int(row.seq if row.said_later is None else row.said or 0)


def _revision(row: Row[Any]) -> int:
    return int(row.revision if row.changed_later is None else row.changed or 0)
