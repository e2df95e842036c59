"""What `doctor` asks of a store: whether every owner's rows are what they must be, and what puts them right."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import Table, and_, delete, exists, func, select
from sqlalchemy.engine import Connection, Row

from embermem.core.changes import Cause, Erased, FactBarred, Sort, ids, sources
from embermem.core.errors import StoreCorrupt, StoreError
from embermem.core.ids import owner_id as id_of
from embermem.core.types import Owner, OwnerId
from embermem.core.vectors import of_summaries
from embermem.protocols import Bounds, Finding
from embermem.store import checkpoints, schema
from embermem.store.admin.invariants import AREAS, CHANGES, Broken, Mending, broken
from embermem.store.admin.repairs import count_again, forget_vectors, roll_up, unread_sums
from embermem.store.admin.replaying import replay
from embermem.store.admin.state_checks import broken_state
from embermem.store.admin.store_admin import Whole
from embermem.store.codec import decisions_from, micros
from embermem.store.erasing import GONE, Erasing
from embermem.store.queries import reads
from embermem.store.queries.changes import changes
from embermem.store.statements import due_from, locked_owner, set_owner, setting
from embermem.store.transactions import Undo, damage_told
from embermem.store.values import write_again

_TOLD = 200
"""Findings told one by one; a store with more of them is damaged as a whole."""
_CHANGES_AT_ONCE = 200
_ROWS_AT_ONCE = 500
_MADE_OF_CHANGES = (schema.segment, schema.barred, schema.page)
"""Tables that applying the changes again must leave as they are."""
_NOT_DERIVED = {"segment": ("touched_no",)}
"""What a new vector moves too, which stands in no change. Readers go by it; they begin anew after a replay."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Seen:
    """What is wrong with one owner. `unsure`: the log cannot be applied again."""

    owner: Owner
    broken: tuple[Broken, ...]
    findings: tuple[Finding, ...]
    unsure: bool


class Checking(Whole, Erasing):
    """Invariants, looked at and mended, one owner and one transaction at a time."""

    def check(
        self, *, now: datetime | None = None, bounds: Bounds | None = None, deep: bool = False
    ) -> tuple[Finding, ...]:
        """What is sound, and every invariant that is broken, owner by owner. Nothing is written.

        What has to do with the time or with settings is looked at where they are given. `deep`: whether what was
        derived is, row by row, what the log of changes gives; each owner waits for as long as that takes.
        """
        with self._read() as c:
            findings = list(self._database.soundness(c))
        seen: list[_Seen] = []
        for owner in self._owners_to_check(findings):
            try:
                one = self._looked_at(owner, now, bounds, deep=deep and not self._database.read_only)
            except StoreCorrupt as error:
                one = _Seen(owner=owner, broken=(), findings=(_damaged(owner, error),), unsure=True)
            if one.broken or one.findings:
                seen.append(one)
        findings += _told(seen, deep and not self._database.read_only)
        if deep and self._database.read_only:
            what = "the store is open read-only: derived rows were not compared with the log"
            findings.append(Finding(level="warning", what=what, advice="run the check on the store itself"))
        return (*findings, *self._of_all(self._of_nobody, self._of_scrub, self._waiting))

    def repair(self, *, now: datetime, bounds: Bounds | None = None) -> tuple[Finding, ...]:
        """Put right what can be without losing a word: what was derived, from the log; pages, from their utterances;
        vectors and work, by making them due. Neither log is touched. What was mended, and what is left."""
        done = self._of_all(self._reindexed)
        for owner in self._owners_to_check(done):
            try:
                done += self._mended(owner, now, bounds)
            except StoreCorrupt as error:
                done.append(_damaged(owner, error))
        return (*done, *self._of_all(partial(self._of_nobody, mend=True), partial(self._of_scrub, mend=True)))

    def _reindexed(self) -> list[Finding]:
        with self._write() as c:
            return list(self._database.reindexed(c))

    def _owners_to_check(self, found: list[Finding]) -> list[Owner]:
        """The owners whose rows can be read; those whose cannot, or are not found by their names, are added to what was
        found."""
        owners = self._owners_that_can_be_read(found)
        for one in owners:
            # In an SQLite file a number stands for an id (engines/owner_alias.py): it may be lost, or another's.
            if one.id != id_of(one.user, one.agent):
                what = f"{_name(one)}: nobody finds its rows, because they are not under the id of these names"
                found.append(Finding(level="error", what=what, advice=_ADVICE[Mending.NOTHING]))
        return owners

    def _owners_that_can_be_read(self, found: list[Finding]) -> list[Owner]:
        ids = select(schema.owner.c.owner_id).order_by(schema.owner.c.user, schema.owner.c.agent)
        with self._read() as c:
            try:
                with self._database.errors():
                    return [reads.owner_from(row) for row in c.execute(ids.with_only_columns(schema.owner))]
            except StoreCorrupt:
                pass
        owners = []
        for owner_id in self._owner_ids(found):
            try:
                with self._read() as c:
                    row = c.execute(select(schema.owner).where(schema.owner.c.owner_id == owner_id)).one()
                    owners.append(reads.owner_from(row))
            except StoreCorrupt as error:
                found.append(_damaged(owner_id, error))
        return owners

    def _owner_ids(self, found: list[Finding]) -> list[str]:
        try:
            with self._read() as c:
                return list(c.scalars(select(schema.owner.c.owner_id)))
        except StoreCorrupt as error:
            found.append(_damaged("the list of owners", error))
            return []

    def _of_all(self, *looks: Callable[[], list[Finding]]) -> list[Finding]:
        """What was found in the store as a whole; a look that damage stops is told of, and the next one taken."""
        found: list[Finding] = []
        for look in looks:
            try:
                found += look()
            except StoreCorrupt as error:
                found.append(_damaged("the store as a whole", error))
        return found

    # -------------------------------------------------------------------------------------------------- one owner

    def _looked_at(self, owner: Owner, now: datetime | None, bounds: Bounds | None, *, deep: bool) -> _Seen:
        with self._read() as c:
            one = self._seen(c, owner, now, bounds)
        differs = self._differing(owner) if deep and not one.unsure else ()
        return replace(one, findings=(*one.findings, _differs(owner, differs))) if differs else one

    def _seen(self, c: Connection, owner: Owner, now: datetime | None, bounds: Bounds | None) -> _Seen:
        damaged = tuple(self._not_text(c, owner))
        if damaged:
            return _Seen(owner=owner, broken=(), findings=damaged, unsure=True)
        asked = _asked(c, owner.id, now, bounds)
        found, log = broken(c, asked), _log(c, owner.id)
        found += [] if log.unreadable else broken_state(c, owner.id, asked)
        findings = [*_of_log(owner, log), *self._of_key(c, owner, log), *_of_sums(owner, unread_sums(c, owner.id))]
        unsure = bool(log.unreadable) or any(one.invariant.area == CHANGES for one in found)
        return _Seen(owner=owner, broken=tuple(found), findings=tuple(findings), unsure=unsure)

    def _not_text(self, c: Connection, owner: Owner) -> Iterator[Finding]:
        for table in (one for one in schema.OWNED if one not in checkpoints.TABLES):  # a cache is made again
            if count := self._database.unreadable(c, table, owner.id):
                what = f"{_name(owner)}: rows of `{table.name}` whose text is damaged (not UTF-8): {count}"
                yield Finding(level="error", what=what, advice="restore a copy; other owners are not touched by it")

    def _differing(self, owner: Owner) -> tuple[str, ...]:
        """Tables that are not what applying the log again gives. Nothing is kept of trying."""
        found: tuple[str, ...] = ()
        with damage_told(self._database.place), self._write() as c:
            if locked_owner(c, owner.id):
                found = _derived_again(c, owner.id)
            raise Undo
        return found

    def _mended(self, owner: Owner, now: datetime, bounds: Bounds | None) -> list[Finding]:
        mended: list[Finding] = []
        with damage_told(self._database.place), self._write() as c:
            if not locked_owner(c, owner.id):
                raise Undo
            before = self._seen(c, owner, now, bounds)
            wrong = {one.invariant.mending for one in before.broken}
            if Mending.ROLL_UP in wrong:
                roll_up(c, owner.id)
            if Mending.VALUES in wrong:
                write_again(c, owner.id)
            if Mending.NUMBERS in wrong:
                count_again(c, owner.id)
            unread = unread_sums(c, owner.id)
            if Mending.EMBED in wrong or unread:
                forget_vectors(c, owner.id, micros(now), unread)
                mended += _of_sums(owner, unread, "mended")
            differs = () if before.unsure else _derived_where_wrong(c, owner.id, Mending.DERIVE in wrong)
            if differs or wrong - {
                Mending.NOTHING,
                Mending.LATER,
                Mending.VALUES,
            }:  # vectors of segments may be to be made again
                set_owner(c, owner.id, due_at=due_from(micros(now)))
            after = self._seen(c, owner, now, bounds)
            left = {one.invariant.what for one in after.broken}
            gone = [one for one in before.broken if one.invariant.what not in left]
            mended += [_finding(owner, one, "mended") for one in gone]
            if differs and not any(one.invariant.mending is Mending.DERIVE for one in gone):
                mended.append(_differs(owner, differs, "mended"))
            if not mended and not differs:
                mended += _all_of(after)
                raise Undo
            mended += _all_of(after)
        self._let_go(owner.id)
        return mended

    def _of_key(self, c: Connection, owner: Owner, log: _Log) -> Iterator[Finding]:
        """Whether the key is there, where something was marked with it."""
        barred, receipt = schema.barred, schema.receipt
        marked = (
            log.keyed
            or c.scalar(select(exists().where(barred.c.owner_id == owner.id)))
            or c.scalar(select(exists().where(receipt.c.owner_id == owner.id, receipt.c.digest.like("*%"))))
        )
        if not marked:
            return
        try:
            self._secret_within(c)
        except StoreError as error:
            what = f"{_name(owner)}: forgotten content cannot be recognised: {error}"
            yield Finding(level="error", what=what, advice="put the key's file back from a copy")

    # ------------------------------------------------------------------------------------------- the store as a whole

    def _of_nobody(self, *, mend: bool = False) -> list[Finding]:
        """Rows of owners that are not there. What is derived is thrown away, if that is asked for."""
        found = []
        with self._write() if mend else self._read() as c:
            for table, count in _ownerless(c, mend=mend):
                mended = mend and _MENDS[table] is Mending.DERIVE
                level, advice = ("mended", "") if mended else ("error", _ADVICE[_MENDS[table]])
                found.append(
                    Finding(level=level, what=f"rows of `{table.name}` without an owner: {count}", advice=advice)
                )
        return found

    def _of_scrub(self, *, mend: bool = False) -> list[Finding]:
        """Whether bytes of what was forgotten are in the files: as the store remembers, and as they are."""
        if self._database.has_parts:
            what = "what was forgotten is in the bytes of the nodes until these are used again: VACUUM there"
            return [] if mend else [Finding(level="ok", what=what)]
        if self.scrub_due():
            what, level = "what was forgotten may still be in the bytes of the store's files: a scrub is due", "warning"
        elif gone := self._gone_but_left():
            what, level = f"bytes of {len(gone)} forgotten messages are in the store's files", "error"
        else:
            return []
        for folder in self._database.caches if mend else ():
            folder.drop_all()
        mended = mend and self.scrub()
        advice = "embermem doctor --repair, once no other process reads an older state (docs/concepts/forgetting.md)"
        return [Finding(level="mended" if mended else level, what=what, advice="" if mended else advice)]

    def _gone_but_left(self) -> set[str]:
        """Ids of utterances that stand in no table, and in bytes that hold no row."""
        left = set(self._database.leftovers())
        for owner in self.owners() if left else ():
            with self._read() as c:
                said = schema.utterance
                for some in reads.chunks(sorted(left)):
                    left -= set(c.scalars(select(said.c.id).where(said.c.owner_id == owner.id, said.c.id.in_(some))))
        return left

    def _waiting(self) -> list[Finding]:
        """What waits for another try, and why."""
        found = []
        with self._read() as c:
            for table, what, advice in (
                (schema.page, "{} pages wait for a retry", "embermem show PAGE"),
                (schema.owner, "the last processing of {} owners failed", "embermem settle"),
            ):
                if rows := _failed(c, table):
                    told = f"{what.format(sum(row.count for row in rows))}: {rows[0].error}"
                    found.append(Finding(level="warning", what=told, advice=advice))
        return found


def unsound(c: Connection, owner: Owner) -> tuple[str, ...]:
    """What is wrong with one owner's rows, whatever key of forgotten values is here: nothing, where they are sound."""
    asked = _asked(c, owner.id, None, None)
    found = [*broken(c, asked), *broken_state(c, owner.id, asked)]
    found = [one for one in found if one.invariant.level == "error"]
    told = [finding.what for finding in _of_log(owner, _log(c, owner.id))]
    return (*(f"{one.invariant.what}: {one.count}" for one in found), *told)


# -------------------------------------------------------------------------------------------------------------- telling

_ADVICE = {
    **dict.fromkeys(Mending, "embermem doctor --repair"),
    Mending.NOTHING: "restore a copy",
    Mending.LATER: "embermem settle",
}


def _name(owner: Owner) -> str:
    return f"{owner.user}/{owner.agent}"


def _of_sums(owner: Owner, unread: Sequence[str], level: str = "error") -> list[Finding]:
    """Of segments whose sum of vectors cannot be read, which is found out by reading it."""
    what = f"{_name(owner)}: segments whose sum of vectors cannot be read: {len(unread)}"
    advice = "" if level == "mended" else _ADVICE[Mending.EMBED]
    return [Finding(level=level, what=what, advice=advice)] if unread else []


def _damaged(what: Owner | str, error: StoreCorrupt) -> Finding:
    """Of an owner, or of a part of the store, that cannot be read."""
    name = what if isinstance(what, str) else _name(what)
    return Finding(
        level="error",
        what=f"{name}: cannot be read: {error}",
        advice="restore a copy; everything else in the store is readable",
    )


def _finding(owner: Owner, one: Broken, level: str | None = None) -> Finding:
    kind = one.invariant
    return Finding(
        level=level or kind.level,
        what=f"{_name(owner)}: {kind.what}: {one.count}",
        advice="" if level == "mended" else _ADVICE[kind.mending],
    )


def _differs(owner: Owner, tables: Sequence[str], level: str = "error") -> Finding:
    return Finding(
        level=level,
        what=f"{_name(owner)}: differs from the log: {', '.join(tables)}",
        advice="" if level == "mended" else _ADVICE[Mending.DERIVE],
    )


def _all_of(seen: _Seen) -> list[Finding]:
    return [*(_finding(seen.owner, one) for one in seen.broken), *seen.findings]


def _told(seen: Sequence[_Seen], deep: bool) -> list[Finding]:
    """What is sound, area by area, and all that is not."""
    every = [finding for one in seen for finding in _all_of(one)]
    areas = {one.invariant.area for owner in seen for one in owner.broken if one.invariant.level == "error"}
    if any(one.findings for one in seen):
        areas.add(CHANGES)
    found = [Finding(level="ok", what=area) for area in AREAS if area not in areas]
    if deep and not every:
        found.append(Finding(level="ok", what="derived rows are equal to what the log of changes gives"))
    if len(every) > _TOLD:
        more = f"and {len(every) - _TOLD} more"
        return [*found, *every[:_TOLD], Finding(level="error", what=more, advice="restore a copy")]
    return [*found, *every]


# -------------------------------------------------------------------------------------------------------------- asking


def _asked(c: Connection, owner_id: OwnerId, now: datetime | None, bounds: Bounds | None) -> dict[str, Any]:
    """What the invariants' statements are told."""
    log = changes(c, owner_id, 0, causes=(Cause.FORGETTING,), kinds=(Erased,))
    erased = [d for change in log for d in change.decisions if isinstance(d, Erased)]
    none, embedder = 2**31 - 1, setting(c, "embedder")
    return {
        "owner": owner_id,
        "now": None if now is None else micros(now),
        "embedder": embedder,
        "summaries": of_summaries(embedder),
        "dim": int(setting(c, "dim") or 0),
        "short": none if bounds is None else bounds.short,
        "segments": none if bounds is None else bounds.segments,
        "user_facts": none if bounds is None else bounds.user_facts,
        "agent_facts": none if bounds is None else bounds.agent_facts,
        "by_person": int(bounds is not None and bounds.by_person),
        "utterances_forgotten": sum(d.utterances for d in erased),
        "pages_forgotten": sum(len(d.pages) - d.passages for d in erased),
    }


@dataclass(kw_only=True, slots=True)
class _Log:
    """What a reading of an owner's log of changes found. `keyed`: something in it is marked with the key."""

    unreadable: int = 0
    pages_gone: int = 0
    utterances_gone: int = 0
    keyed: bool = False


def _log(c: Connection, owner_id: OwnerId) -> _Log:
    """Whether every change can be read, and all that it names is there."""
    table, found, done = schema.change, _Log(), 0
    while True:
        rows = c.execute(
            select(table.c.no, table.c.decisions)
            .where(table.c.owner_id == owner_id, table.c.no > done)
            .order_by(table.c.no)
            .limit(_CHANGES_AT_ONCE)
        ).all()
        if not rows:
            return found
        pages: set[str] = set()
        said: set[tuple[int, str]] = set()
        for row in rows:
            try:
                decisions = decisions_from(row.decisions)
            except StoreCorrupt:
                found.unreadable += 1
                continue
            found.keyed = found.keyed or any(isinstance(one, FactBarred) for one in decisions)
            for one in decisions:
                pages.update(item for sort, item in ids(one) if sort is Sort.PAGE)
                said.update((source.seq, source.utterance_id) for source in sources(one))
        there, known = schema.page.c, schema.utterance.c
        found.pages_gone += len(pages - {row[0] for row in _rows(c, owner_id, pages, there.page_id)})
        still = _rows(c, owner_id, dict(said), known.seq, known.id)
        found.utterances_gone += len(said - {(row.seq, row.id) for row in still})
        done = rows[-1].no


def _rows(c: Connection, owner_id: OwnerId, keys: Iterable[Any], key: Any, *more: Any) -> Iterator[Row[Any]]:
    """Columns of an owner's rows in which the first has one of some values."""
    query = select(key, *more).where(key.table.c.owner_id == owner_id)
    for some in reads.chunks(sorted(keys)):
        yield from c.execute(query.where(key.in_(some)))


def _of_log(owner: Owner, log: _Log) -> Iterator[Finding]:
    for count, what in (
        (log.unreadable, "changes that cannot be read"),
        (log.pages_gone, "pages that the log names and that are not there"),
        (log.utterances_gone, "utterances that the log names and that are not there"),
    ):
        if count:
            yield Finding(level="error", what=f"{_name(owner)}: {what}: {count}", advice=_ADVICE[Mending.NOTHING])


def _derived_again(c: Connection, owner_id: OwnerId) -> tuple[str, ...]:
    """Derive everything again, in this transaction; the tables that differ from what they were."""
    before = {table.name: _digest(c, table, owner_id) for table in _MADE_OF_CHANGES}
    c.execute(delete(schema.barred).where(schema.barred.c.owner_id == owner_id))
    replay(c, owner_id)
    return tuple(table.name for table in _MADE_OF_CHANGES if _digest(c, table, owner_id) != before[table.name])


def _derived_where_wrong(c: Connection, owner_id: OwnerId, wrong: bool) -> tuple[str, ...]:
    """The same, and nothing kept of it where nothing was `wrong` nor differs: readers would begin anew for nothing."""
    nested = c.begin_nested()
    differs = _derived_again(c, owner_id)
    if differs or wrong:
        nested.commit()
    else:
        nested.rollback()
    return differs


def _digest(c: Connection, table: Table, owner_id: OwnerId) -> str:
    """A hash over an owner's rows of a table, in the order of the key."""
    hashed = hashlib.sha256()
    columns = [column for column in table.c if column.name not in _NOT_DERIVED.get(table.name, ())]
    query = select(*columns).where(table.c.owner_id == owner_id).order_by(*table.primary_key.columns)
    for row in c.execute(query, execution_options={"yield_per": _ROWS_AT_ONCE}):
        hashed.update(repr(tuple(row)).encode())
    return hashed.hexdigest()


# -------------------------------------------------------------------------------------- statements that name no owner

_MENDS = {
    **dict.fromkeys(
        (schema.segment, schema.change_source, schema.barred, schema.embedding, schema.receipt), Mending.DERIVE
    ),
    **dict.fromkeys((schema.utterance_value, schema.share, schema.webhook), Mending.DERIVE),
    **dict.fromkeys((schema.visit, schema.checkpoint, schema.checkpoint_part), Mending.DERIVE),
    **dict.fromkeys((schema.utterance, schema.page, schema.document, schema.original), Mending.NOTHING),
    schema.change: Mending.NOTHING,
}
"""Tables whose rows have an owner, and what is done with those that have none: only what is derived is thrown away."""


def _ownerless(c: Connection, *, mend: bool) -> Iterator[tuple[Table, int]]:
    """Tables with rows of owners that are not there, and how many; with `mend`, without what was derived of them."""
    for table, mending in _MENDS.items():
        alone = ~exists().where(schema.owner.c.owner_id == table.c.owner_id)
        if table is schema.barred:
            alone = and_(alone, table.c.kind != GONE)
        if count := c.scalar(select(func.count()).select_from(table).where(alone)):
            yield table, count
            if mend and mending is Mending.DERIVE:
                c.execute(delete(table).where(alone))


def _failed(c: Connection, table: Table) -> Sequence[Any]:
    query = select(table.c.error, func.count().label("count")).where(table.c.error.is_not(None))
    return c.execute(query.group_by(table.c.error).order_by(func.count().desc())).all()
