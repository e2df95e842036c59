"""What is asked of a store as a whole: these few statements name no owner."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Self

from sqlalchemy import Table, and_, exists, func, insert, literal, select, update
from sqlalchemy.engine import Connection

from embermem.core.changes import Cause, Item, is_extractive
from embermem.core.errors import StoreUnreachable
from embermem.core.types import About, Outdated, Owner, OwnerId, OwnerStats, WebhookState
from embermem.protocols import DiskUsage, Stats
from embermem.store import schema
from embermem.store.admin.replaying import replay
from embermem.store.codec import decisions_text, micros
from embermem.store.engines.words import how_it_runs, planned_rows
from embermem.store.queries import reads, waits
from embermem.store.queries.webhooks import webhook_counts
from embermem.store.statements import locked_owner, owner_state, remember, remember_once
from embermem.store.states import States
from embermem.store.transactions import missing_parts, over_owners

logger = logging.getLogger(__name__)

_ANALYST = "analyst"
"""The store's setting that names the analyst with which memory was processed last."""
_COUNTED = 100_000
"""Tables that are taken for smaller are counted: that takes some milliseconds."""


class Whole(States):
    """Settings, owners, counts."""

    def setting(self, key: str) -> str | None:
        with self._read() as c:
            return c.scalar(select(schema.store.c.value).where(schema.store.c.key == key))

    def remember(self, values: Mapping[str, str]) -> None:
        """Keep values under their keys."""
        with self._write() as c:
            remember(c, values)

    def remember_once(self, key: str, value: str) -> str:
        with self._write() as c:
            return remember_once(c, key, value)

    def worked_on_by(self, analyst: str, now: datetime) -> int:
        """Note which analyst reads pages from now on. If it was another one before, or nobody knows, what waited
        because of that one is ready; the number of pages. Where a part of the database does not answer, nothing is
        noted yet, and the work on the owners of the others goes on."""
        if self.setting(_ANALYST) == analyst:
            return 0
        try:
            with self._write() as c:
                remember(c, {_ANALYST: analyst})
                return waits.end_all(c, now)
        except StoreUnreachable as error:
            if not self._database.has_parts:
                raise
            logger.warning("which analyst reads from now on could not be noted: %s", error)
            return 0

    def owners(self, user: str | None = None, *, partly: bool = False) -> tuple[Owner, ...]:
        """All owners, or those of a user, by user and agent. With `partly`, those of the parts of the database that
        answer; else StoreUnreachable is raised where one does not: whoever goes through all is not to miss some."""
        return (over_owners(Whole._owners) if partly else Whole._owners)(self, user)

    def _owners(self, user: str | None) -> tuple[Owner, ...]:
        owner = schema.owner
        query = select(owner).order_by(owner.c.user, owner.c.agent)
        with self._read() as c:
            rows = c.execute(query if user is None else query.where(owner.c.user == user))
            return tuple(reads.owner_from(row) for row in rows)

    def agents(self) -> tuple[str, ...]:
        """The agents of all owners, each once."""
        agent = schema.owner.c.agent
        with self._read() as c:
            return tuple(c.scalars(select(agent).distinct().order_by(agent)))

    @over_owners
    def stats(self, now: datetime, short: int, *, estimated: bool = False) -> Stats:
        """Return counts of the whole store; with `estimated`, of its largest tables what the engine's planner takes
        them for, where they are large and it knows."""
        owner, page, utterance = schema.owner, schema.page, schema.utterance
        with self._read() as c:
            owners = c.scalar(_count(owner)) or 0
            due = c.scalar(_count(owner, owner.c.due_at <= micros(now))) or 0  # apart, each by an index alone
            documents = c.scalar(_count(schema.document)) or 0
            large = {table: planned_rows(c, table) if estimated else None for table in (utterance, page)}
            said, pages = (
                (c.scalar(_count(table)) or 0) if rows is None or rows < _COUNTED else rows
                for table, rows in large.items()
            )
            passages = (c.scalar(_count(page, page.c.no < 1)) or 0) if documents else 0
            bare = c.scalar(
                select(func.count())
                .select_from(owner)
                .join(utterance, utterance.c.owner_id == owner.c.owner_id)
                .where(owner.c.due_at.is_not(None), owner.c.embedded_seq < owner.c.seq)  # what is to be embedded is due
                .where(utterance.c.seq > owner.c.embedded_seq)
            )
            pending, since = _backlog(c, short)
            settings = {row.key: row.value for row in c.execute(select(schema.store))}
            hooks = webhook_counts(c)
            size, missing = self._database.size(c), missing_parts(c)
        return Stats(
            path=self._database.place,
            bytes=size,
            owners=owners,
            utterances=said - passages,
            pages=pages - passages,
            documents=documents,
            passages=passages,
            pending=pending,
            oldest_pending_s=0.0 if since is None else max(0.0, (micros(now) - since) / 1e6),
            without_vector=bare or 0,
            due=due,
            embedder=settings.get("embedder", ""),
            dim=int(settings.get("dim", 0)),
            schema=schema.HEAD,
            webhooks=sum(hooks.values()),
            webhooks_retrying=hooks[WebhookState.RETRYING],
            webhooks_stopped=hooks[WebhookState.STOPPED],
            unreachable=missing,
        )

    def disk_usage(self) -> DiskUsage:
        """What the tables and indexes take on disk."""
        with self._read() as c:
            return self._database.disk_usage(c)

    @over_owners
    def outdated(self, analyst: str, of: Owner | None = None) -> Mapping[Owner, tuple[Outdated, ...]]:
        """By owner, all or one, the pages that the extractive analyst read under another name than this one, which it
        has now; without a reader, those that it read without one."""
        owner, page = schema.owner.c, schema.page.c
        columns = (owner.owner_id, owner.user, owner.agent, page.read_by)
        query = (
            select(*columns, func.count().label("pages"))
            .join_from(schema.owner, schema.page, page.owner_id == owner.owner_id)
            .where(page.read_by.is_not(None))
            .group_by(*columns)
            .order_by(owner.user, owner.agent, page.read_by)
        )
        found: dict[Owner, tuple[Outdated, ...]] = {}
        reader = analyst.partition("+")[2]
        with self._read() as c:
            for row in c.execute(query if of is None else query.where(owner.owner_id == of.id)):
                if is_extractive(row.read_by) and (row.read_by != analyst if reader else "+" not in row.read_by):
                    one = reads.owner_from(row)
                    old = Outdated(analyst=row.read_by, pages=row.pages, reader=reader)
                    found[one] = (*found.get(one, ()), old)
        return found

    def owner_stats(self, owner_id: OwnerId, short: int) -> OwnerStats:
        """Counts of one owner, without its outdated pages."""
        page, segment = schema.page, schema.segment
        with self._read() as c:
            state = owner_state(c, owner_id)

            def count(table: Any, *conditions: Any) -> int:
                query = select(func.count()).select_from(table).where(table.c.owner_id == owner_id, *conditions)
                return c.scalar(query) or 0

            evicted = select(segment.c.segment_id).where(
                segment.c.owner_id == owner_id, segment.c.evicted_no.is_not(None)
            )
            pages = 0 if state is None else state.pages
            archive = count(page, page.c.segment_id.in_(evicted))
            mid = count(page, page.c.segment_id.is_not(None)) - archive
            talk = page.c.no >= 1
            in_short = count(page, page.c.segment_id.is_(None), talk, page.c.no > pages - short)
            passages = count(page, page.c.no < 1)
            known = self._known(c, owner_id, topics=True)
            then = known.newest
            standing = [(fact.added.about, held) for fact, held in then.facts()]
            held = Counter(about for about, state in standing if state.is_current)
            return OwnerStats(
                utterances=count(schema.utterance) - passages,
                pages=count(page, talk),
                documents=count(schema.document),
                passages=passages,
                short=in_short,
                pending=count(page, page.c.segment_id.is_(None), talk) - in_short,
                mid=mid,
                archive=archive,
                segments=count(segment, segment.c.evicted_no.is_(None)),
                archived_segments=count(segment, segment.c.evicted_no.is_not(None), segment.c.pages > 0),
                chains=len(known.topics_at().summaries()),
                facts=held[About.USER],
                agent_facts=held[About.AGENT],
                archived_facts=sum(one.ended_no is None and one.archived_no is not None for _, one in standing),
                past_facts=sum(one.ended_no is not None for _, one in standing),
                traits=sum(1 for _ in then.all(Item.TRAIT)),
                changes=0 if state is None else state.revision,
                without_vector=reads.unembedded(c, owner_id),
                failed=count(page, page.c.error.is_not(None)),
                waiting=waits.waiting(c, waits.one(owner_id), short),
            )

    def replica_lag_s(self) -> float | None:
        """Of a replica, in seconds."""
        with self._read() as c:
            return self._database.lag_s(c)

    def begin_reindex(self, embedder: str, dim: int, now: datetime) -> None:
        """The store changes its embedder: every owner's vectors are due again. One transaction, no vector touched.
        Leases end: what is worked out with the old vectors is refused."""
        owner, change = schema.owner, schema.change
        with self._write() as c:
            remember(c, {"embedder": embedder, "dim": str(dim)})
            c.execute(  # holds every owner's row until the end
                update(owner).values(
                    embedded_seq=0,
                    due_at=0,
                    revision=owner.c.revision + 1,
                    reset_no=owner.c.revision + 1,
                    lease_by=None,
                    lease_until=None,
                    lease_token=owner.c.lease_token + 1,
                )
            )
            columns = ["owner_id", "no", "cause", "analyst", "recorded_at", "decisions"]
            begun = (literal(Cause.REINDEX.value), literal(embedder), literal(micros(now)), literal(decisions_text(())))
            # An owner who came in since then has the change of its revision, or none yet.
            logged = exists().where(change.c.owner_id == owner.c.owner_id, change.c.no == owner.c.revision)
            moved = select(owner.c.owner_id, owner.c.revision, *begun).where(owner.c.revision > 0, ~logged)
            c.execute(insert(change).from_select(columns, moved))

    def replay(self, owner_id: OwnerId) -> None:
        """Derive everything again from the changes. Counters, vectors and waits, which no change holds, are kept."""
        with self._write() as c:
            locked_owner(c, owner_id)
            replay(c, owner_id)
        self._let_go(owner_id)

    def explain(self, text: str, parameters: Any) -> str:
        """How the engine would run a statement, with its parameters as the driver takes them. It is not run."""
        with self._read() as c:
            return "\n".join(str(row[-1]) for row in c.exec_driver_sql(f"{how_it_runs(c)} {text}", parameters))

    def in_memory(self, owner_id: OwnerId) -> Self:
        """One owner in a store of the process's own memory: closed, or killed, it leaves nothing. Raises StoreError."""
        from embermem.store.admin import copying

        return type(self)(copying.in_memory(self._database, owner_id))


def _count(table: Table, *conditions: Any) -> Any:
    return select(func.count()).select_from(table).where(*conditions)


def _backlog(c: Connection, short: int) -> tuple[int, int | None]:
    """How many pages are pending, of all owners, and since when the oldest is: since the one came that took its place
    in short-term memory."""
    owner, page, later = schema.owner, schema.page, schema.page.alias("later")
    row = c.execute(
        select(func.count(), func.min(func.coalesce(later.c.recorded_at, page.c.recorded_at)))
        .select_from(page)
        .join(owner, owner.c.owner_id == page.c.owner_id)
        .outerjoin(later, and_(later.c.owner_id == page.c.owner_id, later.c.no == page.c.no + short))
        .where(page.c.segment_id.is_(None), page.c.no.between(1, owner.c.pages - short))
        .where(owner.c.due_at.is_not(None))  # of others nothing is pending: few owners are looked at, of however many
    ).one()
    return row[0], row[1]
