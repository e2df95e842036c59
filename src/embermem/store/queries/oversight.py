"""What those look at who run the store: the work on all owners, what leaves it, and its copies."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import func, or_, select
from sqlalchemy.engine import Connection

from embermem.core.changes import Cause, Erased
from embermem.core.errors import StoreError
from embermem.core.types import (
    Copied,
    ForgottenAt,
    KeyState,
    Leaving,
    Owner,
    OwnerWaits,
    OwnerWork,
    StoreWork,
    Webhook,
)
from embermem.store import schema
from embermem.store.backup_list import LAST_BACKUP, KnownBackup, known_backups, known_copies
from embermem.store.codec import decisions_from, micros, moment, record
from embermem.store.engines.copies import holds_any, holds_others
from embermem.store.engines.owner_alias import IdOf
from embermem.store.erasing import Erasing, is_marked
from embermem.store.forgotten_key import KEY_MARK, key_in
from embermem.store.queries import reads, waits
from embermem.store.queries.webhooks import webhook_from
from embermem.store.statements import setting
from embermem.store.transactions import over_owners


class Oversight(Erasing):
    """Reads over all owners: each tells the first so many of what there is, and how many there are."""

    @over_owners
    def work_state(self, now: datetime, short: int, limit: int) -> StoreWork:
        """The work on all owners; with `short` pages of short-term memory."""
        owner, at = schema.owner, micros(now)
        held = [owner.c.lease_by.is_not(None), owner.c.lease_until > at]
        free = or_(owner.c.lease_until.is_(None), owner.c.lease_until <= at)
        with self._read() as c:
            at_work, at_work_count = _owners(c, held, owner.c.lease_until, limit)
            due, due_count = _owners(c, [owner.c.due_at <= at, free], owner.c.due_at, limit)
            failed, failed_count = _owners(c, [owner.c.error.is_not(None)], owner.c.due_at, limit)
            waiting, waits_count = _waiting(c, short, limit)
            hooks = _troubled(c)
        return StoreWork(
            at_work=at_work,
            at_work_count=at_work_count,
            due=due,
            due_count=due_count,
            failed=failed,
            failed_count=failed_count,
            waits=waiting,
            waits_count=waits_count,
            webhooks=tuple(hooks[:limit]),
            webhooks_count=len(hooks),
        )

    def last_backup_at(self) -> datetime | None:
        """When the newest backup was made, as who made it noted; None if nobody did."""
        with self._read() as c:
            noted = setting(c, LAST_BACKUP)
        return moment(int(noted)) if noted.isdecimal() else None

    @over_owners
    def leaving(self, now: datetime, limit: int) -> Leaving:
        """What has expired, and what was forgotten."""
        with self._read() as c:
            pages, page_at = _expired(c, now)
            facts, fact_at = self._expired_facts(c, now)
            forgotten, count = _forgotten(c, limit)
        coming = [one for one in (page_at, fact_at) if one is not None]
        return Leaving(
            expired_pages=pages,
            expired_facts=facts,
            next_at=min(coming, default=None),
            forgotten=forgotten,
            forgotten_count=count,
            scrub_due=self.scrub_due(),
            key=self._key_state(),
            key_place=str(self._database.key),
        )

    def _expired_facts(self, c: Connection, now: datetime) -> tuple[int, datetime | None]:
        """The same of facts. Only owners with one that has expired are looked at."""
        owner = schema.owner.c
        count, coming = 0, c.scalar(select(func.min(owner.fact_expires_at)).where(owner.fact_expires_at > micros(now)))
        times = [] if coming is None else [moment(coming)]
        for owner_id in c.scalars(select(owner.owner_id).where(owner.fact_expires_at <= micros(now))).all():
            for _, state in self._known(c, owner_id).newest.facts():
                if state.ended_no is None and state.expires_at is not None:
                    count += state.expires_at <= now
                    times += [state.expires_at] if state.expires_at > now else []
        return count, min(times, default=None)

    def copies(self, *, look: bool) -> tuple[Copied, ...]:
        """Files that hold a copy of the store, as far as it knows; with `look` each is looked at for what was forgotten
        since."""
        with self._read() as c:
            made = known_copies(c)
            backed_up, since = known_backups(c), self._erased_mark(c)
        ids, born = (self._forgotten_ids(), self._born()) if look else (set[str](), set[tuple[str, int]]())

        def copied(file: Path, of_migration: bool, backup: KnownBackup | None = None) -> Copied:
            size, at = _of_file(file)
            if not look or size is None:
                holds = None
            elif backup is not None and (backup.erased == since or backup.after is not None):
                holds = backup.erased != since  # of an increment that is older, it is not looked for: it may
            else:
                holds = holds_any(file, ids) or holds_others(file, born)
            return Copied(
                place=str(file),
                bytes=size,
                at=at,
                of_migration=of_migration,
                holds_forgotten=holds,
                backup_at=None if backup is None else backup.at,
                utterances=None if backup is None else backup.utterances,
                changes=None if backup is None else backup.changes,
                increment=backup is not None and backup.after is not None,
            )

        return (
            *(copied(file, False) for file in made),
            *(copied(Path(one.place), False, one) for one in backed_up),
            *(copied(file, ".before-" in file.name) for file in self._database.backups()),
        )

    def _key_state(self) -> KeyState:
        with self._read() as c:
            try:
                found = key_in(self._database.key, setting(c, KEY_MARK))
            except StoreError:  # lost, or not to be read
                return KeyState.LOST
            if found is not None:
                return KeyState.THERE
            return KeyState.LOST if is_marked(c) else KeyState.UNUSED

    def _forgotten_ids(self) -> set[str]:
        """Pages and facts that forgettings of parts of a memory name."""
        change = schema.change
        with self._read() as c:
            rows = c.scalars(select(change.c.decisions).where(change.c.cause == Cause.FORGETTING.value))
            erased = [one for text in rows for one in decisions_from(text, [Erased]) if isinstance(one, Erased)]
        return {item for one in erased for item in (*one.pages, *one.facts)}

    def _born(self) -> set[tuple[str, int]]:
        """Who has a memory here, each by when it began: one that was forgotten whole and came back began later."""
        owner = schema.owner
        with self._read() as c:
            return {(row.owner_id, row.created_at) for row in c.execute(select(owner.c.owner_id, owner.c.created_at))}


def _owners(c: Connection, where: Sequence[Any], order: Any, limit: int) -> tuple[tuple[OwnerWork, ...], int]:
    owner = schema.owner
    rows = c.execute(select(owner).where(*where).order_by(order, IdOf(owner.c.owner_id)).limit(limit)).all()
    count = len(rows) if len(rows) < limit else c.scalar(select(func.count()).select_from(owner).where(*where))
    return tuple(record(OwnerWork, row, owner=reads.owner_from(row)) for row in rows), count or 0


def _waiting(c: Connection, short: int, limit: int) -> tuple[tuple[OwnerWaits, ...], int]:
    """Owners with pages that wait, those first whose pages are tried again first."""
    page, owner = schema.page, schema.owner
    first = func.min(func.coalesce(page.c.retry_at, page.c.redo_at))
    waits_now = or_(page.c.retry_at.is_not(None), page.c.redo_at.is_not(None))
    of = select(page.c.owner_id, first.label("first")).where(waits_now).group_by(page.c.owner_id).subquery()
    rows = c.execute(
        select(owner, of.c.first)
        .join(of, of.c.owner_id == owner.c.owner_id)
        .order_by(of.c.first, IdOf(owner.c.owner_id))
    ).all()
    owners = [reads.owner_from(row) for row in rows[:limit]]
    told = tuple(OwnerWaits(owner=one, waiting=waits.waiting(c, waits.one(one.id), short)) for one in owners)
    found = tuple(one for one in told if one.waiting)  # a page that is short-term again waits for nothing
    return found, len(rows) - len(told) + len(found)


def _troubled(c: Connection) -> list[tuple[Owner, Webhook]]:
    """Webhooks whose last attempt failed, those that were stopped first."""
    hook, owner = schema.webhook, schema.owner
    rows = c.execute(
        select(hook, owner.c.user, owner.c.agent)
        .join(owner, owner.c.owner_id == hook.c.owner_id)
        .where(hook.c.attempts > 0)
        .order_by(hook.c.stopped_at.is_(None), hook.c.retry_at, hook.c.webhook_id)
    )
    return [(reads.owner_from(row), webhook_from(row)) for row in rows]


def _expired(c: Connection, now: datetime) -> tuple[int, datetime | None]:
    """How many pages have expired, and when the next one does."""
    at = schema.page.c.expires_at
    of = select(func.count()).select_from(schema.page).where(at.is_not(None))
    coming = c.scalar(of.with_only_columns(func.min(at)).where(at > micros(now)))
    return c.scalar(of.where(at <= micros(now))) or 0, None if coming is None else moment(coming)


def _forgotten(c: Connection, limit: int) -> tuple[tuple[ForgottenAt, ...], int]:
    """The newest forgettings. They are found by the index of causes, and only then read."""
    change, whole, owner = schema.change, schema.change.alias("whole"), schema.owner
    found = select(change.c.owner_id, change.c.no).where(change.c.cause == Cause.FORGETTING.value).subquery()
    rows = c.execute(
        select(owner, whole.c.no, whole.c.recorded_at, whole.c.decisions)
        .select_from(found)
        .join(whole, (whole.c.owner_id == found.c.owner_id) & (whole.c.no == found.c.no))
        .join(owner, owner.c.owner_id == found.c.owner_id)
        .order_by(whole.c.recorded_at.desc(), IdOf(owner.c.owner_id))
        .limit(limit)
    ).all()
    told = tuple(
        ForgottenAt(
            owner=reads.owner_from(row),
            no=row.no,
            at=moment(row.recorded_at),
            pages=sum(len(one.pages) for one in erased),
            utterances=sum(one.utterances for one in erased),
            facts=sum(len(one.facts) for one in erased),
        )
        for row in rows
        for erased in [[one for one in decisions_from(row.decisions, [Erased]) if isinstance(one, Erased)]]
    )
    return told, len(told) if len(told) < limit else c.scalar(select(func.count()).select_from(found)) or 0


def _of_file(file: Path) -> tuple[int | None, datetime | None]:
    """The bytes of a file, and when it was last written."""
    try:
        found = file.stat()
    except OSError:
        return None, None
    return found.st_size, datetime.fromtimestamp(found.st_mtime, UTC)
