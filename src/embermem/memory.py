"""The public face of a store: settings, parts, and background work. `OwnerMemory` is the face of one owner."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from embermem import telemetry
from embermem.arguments import checked
from embermem.core import config as configuration
from embermem.core import ids, injected_blocks, messages
from embermem.core.config import Settings
from embermem.core.errors import StoreError
from embermem.core.sensitive import Finder
from embermem.core.types import Owner
from embermem.owner_memory import OwnerMemory, Parts, zone_of
from embermem.owner_memory.census import Owners
from embermem.owner_memory.overseeing import Overseeing
from embermem.owner_memory.sharing import KnownElsewhere, SharedMemory

if TYPE_CHECKING:
    from embermem.core.fields import Field
    from embermem.core.types import Background as BackgroundState
    from embermem.core.types import Backup, Forgotten, Outdated, Vectors
    from embermem.memoryos.ingest.heat_sample import HeatSample
    from embermem.memoryos.ingest.work_watch import WorkCounts
    from embermem.memoryos.rebuild import Difference
    from embermem.memoryos.system import MemoryOS
    from embermem.protocols import Bounds, Call, DiskUsage, Finding, LanguageModel, Stats, Store
    from embermem.store.queries.keys import Keys
    from embermem.store.sql import SqlStore

__all__ = ["Memory", "OwnerMemory"]

logger = logging.getLogger(__name__)

_REINDEXING = "reindexing"
"""The store's setting that names the embedder of a reindex not yet finished."""


@checked
class Memory(Overseeing, Owners):
    """A store of memories: a path or URL, and settings.

    Settings come from argument > `EMBERMEM_*` > file > preset; see `embermem.core.config.Settings`. `clock` returns the
    current time with a zone. `reindex` opens a store whose vectors are from another embedder than the configured one:
    until `reindex()` is called, recall uses words only. `model` is the setting of that name, or a language model of
    your own; without one, memory is derived by extraction. `read_only` opens an existing store, or a replica of a
    PostgreSQL server, and never writes: no background thread runs, no visit is counted, and calls that would change
    something raise StoreReadOnly. `filter` finds sensitive content in a text, in addition to what the setting `redact`
    finds: it is removed before anything is stored (docs/guides/sensitive.md). The setting `fields` may be a list of
    `Field` (docs/guides/fields.md).

    Raises ConfigError for an invalid setting, StoreError if the store cannot be opened, EmbedderMismatch if its vectors
    are from another embedder, ModelMissing if the package for the model is not installed.
    """

    def __init__(
        self,
        place: str | Path,
        *,
        preset: str | None = None,
        config: str | Path | None = None,
        clock: Callable[[], datetime] | None = None,
        reindex: bool = False,
        model: str | LanguageModel | None = None,
        read_only: bool = False,
        filter: Finder | None = None,
        **settings: object,
    ) -> None:
        from embermem import bootstrap
        from embermem.background import Background

        named = model if isinstance(model, str) else None
        loaded = configuration.load_with_origins(preset, config=config, model=named, **settings)
        self.settings: Settings = loaded.settings
        self._origins = loaded.origins
        self.read_only = read_only
        self.finders = bootstrap.finders(self.settings, filter)
        clock = clock or bootstrap.wall_clock
        self._store = store = bootstrap.open_store(place, self.settings, read_only=read_only)
        try:
            self.settings = bootstrap.fields_of(store, self.settings)
            self._embedder = bootstrap.choose_embedder(store, self.settings, reindex=reindex)
            self._embedder_stays = reindex or read_only or self.settings.embedder != bootstrap.AUTO
            self._embedder_changes = threading.Lock()
            self._analyst_noted = read_only
            made = bootstrap.make_model(model, self.settings)
            if not read_only:
                bootstrap.check_instructions(self.settings, made)
            asker = bootstrap.make_asker(made, store, self.settings, clock)
            system = bootstrap.make_system(store, self._embedder, self.settings, clock, asker)
            if not read_only:
                bootstrap.adopt_fields(store, self.settings, clock)
            self._fields_known = store.setting(bootstrap.FIELDS)
        except BaseException:
            store.close()
            raise
        self._parts = Parts(
            settings=self.settings,
            read_only=read_only,
            clock=clock,
            finders=self.finders,
            nonce_key=self.nonce_key,
            store=store.protocols,
            admin=store,
            system=system,
            asker=asker,
            done=telemetry.Done(),
            added=self._added,
            deleted=self._deleted,
            copied=self._copied,
            before_work=self._before_work,
        )
        self._background = Background(self._work_behind, self.settings.poll_s, self.settings.pause_s)
        system.when_index_due(self._added)
        self._deliveries = Background(self._deliver_behind, self.settings.poll_s, 0.0)
        self._delivered = telemetry.Done("delivered", "failed")
        if self.better_embedder() is not None:
            self._added()

    def of(
        self,
        user: str,
        agent: str = "default",
        *,
        timezone: str | None = None,
        shares: Sequence[str] = (),
        person_from: str | None = None,
    ) -> OwnerMemory:
        """Return the memory of one (user, agent) pair.

        `timezone` is the IANA zone for this owner's times given without one; it is stored, and written only if it
        changes. Writes nothing else. `shares` are spaces that `recall`, `search`, `overview` and `chat` read too
        (docs/guides/spaces.md). With `person_from`, another agent of the user, `recall`, `overview` and `chat` also
        tell what that one knows of the user. Raises NotGranted for what was not granted.
        """
        owner = messages.owner(user, agent)
        shared = {name: SharedMemory(self._parts, messages.space(name), owner) for name in shares}
        for space in shared.values():
            space.require()
        elsewhere = None
        if person_from is not None:
            elsewhere = KnownElsewhere(self._parts, messages.owner(user, person_from), owner)
            elsewhere.require()
        if timezone is not None:
            zone_of(timezone)
            state = self._store.owner_state(owner.id)
            if state is None or state.timezone != timezone:
                self._store.set_timezone(owner, timezone, self._parts.clock())
        return OwnerMemory(self._parts, owner, shared, elsewhere)

    def owners(self, *, partly: bool = False) -> tuple[Owner, ...]:
        """Return all owners in the store, those of spaces too (`Owner.space`).

        Where the store is spread over nodes (Citus) and one does not answer, StoreUnreachable is raised, so that nobody
        is left out unseen; with `partly` the owners of the other nodes are returned.
        """
        return self._store.owners(partly=partly)

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields of your own that this memory works with: those that were set, else those that the store
        remembers."""
        return self.settings.attributes.own

    @property
    def embedder_name(self) -> str:
        """The embedder whose vectors this store holds."""
        return self._embedder.name

    @property
    def model_name(self) -> str:
        """The language model in use, by its name; empty without one."""
        return "" if self._parts.asker is None else self._parts.asker.model

    def better_embedder(self) -> str | None:
        """The embedder that replaces the current one at the next `settle` or `work`, or in the background; None if the
        current one is kept.

        It is `e5` if the store was created without its weights, no setting named its embedder, and they are installed
        now.
        """
        from embermem import bootstrap

        return None if self._embedder_stays else bootstrap.better_embedder(self._store, self.settings)

    @property
    def keys(self) -> Keys:
        """The keys of the service; see docs/operations/server.md."""
        return self._store

    @property
    def done(self) -> telemetry.Done:
        """How often `add`, `recall` and similar methods were called on this object, by name."""
        return self._parts.done

    @property
    def mapped_bytes(self) -> int:
        """Bytes of `resident_bytes` that are mapped files (the setting `index_cache`): processes share them, and the
        system may take them back."""
        return self._parts.system.mapped_bytes

    @property
    def resident_bytes(self) -> int:
        """Bytes of memory used by the owners' indexes now."""
        return self._parts.system.resident_bytes

    def is_resident(self, owner: Owner) -> bool:
        """Whether an owner's index is in memory, so that the next recall does not have to load it."""
        return self._parts.system.is_resident(owner.id)

    @property
    def pages_placed(self) -> int:
        """Pages that this object has placed into segments, in all its threads."""
        return self._parts.system.placed

    @property
    def heat(self) -> HeatSample:
        """The heat of segments as the background work of this object saw it last, and what that work has promoted and
        evicted. Asks nobody."""
        return self._parts.system.heat

    @property
    def work_counts(self) -> WorkCounts:
        """What the background work of this object has embedded, where it failed, and the leases it holds. Asks
        nobody."""
        return self._parts.system.work_counts

    @property
    def deliveries(self) -> telemetry.Done:
        """How many deliveries to webhooks this object has made: `delivered` and `failed`."""
        return self._delivered

    def now(self) -> datetime:
        """The current time of this memory's clock."""
        return self._parts.clock()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return vectors of texts by the embedder in use, shape (n, dim), L2 norm 1. Stores nothing. Raises
        EmbedderError."""
        return self._embedder.embed(texts)

    def marked(self, text: str) -> str:
        """Return the text between two markers of this store, to show to an agent: if it is added again, it is
        removed."""
        return injected_blocks.wrap(text, self.nonce_key())

    def nonce_key(self) -> bytes:
        """The key of the markers that this store puts around memory in prompts (`marked`); created on first use.

        If several processes create it at the same time, all get the stored one.
        """
        from embermem import bootstrap

        return bootstrap.nonce_key(self._store)

    def work(
        self,
        limit_s: float | None = None,
        owner_done: Callable[[Owner], None] | None = None,
        stopping: Callable[[], bool] = lambda: False,
    ) -> int:
        """Do the due work of all owners: embed, place, promote. Returns the number of pages placed.

        Owners take turns, the one that has waited longest first; `owner_done` is called after each turn. Many threads
        and processes may call this at the same time. See docs/operations/workers.md.
        """
        self._before_work()
        placed = self._parts.system.work(limit_s=limit_s, owner_done=owner_done, stopping=stopping)
        self._scrub_if_due()
        return placed

    def deliver(self, stopping: Callable[[], bool] = lambda: False) -> int:
        """Send webhooks what is new, and what failed before and is due; returns how many deliveries were taken. Many
        threads and processes may call this at the same time. See docs/guides/changes.md."""
        from embermem.webhooks.delivery import Deliverer

        deliverer = Deliverer(store=self._store, settings=self.settings, clock=self._parts.clock, done=self._delivered)
        return deliverer.run(stopping)

    def idle_s(self) -> float:
        """Seconds until `work` has something to do if nothing is added, at most `poll_s`."""
        return self._parts.system.idle_s(self.settings.poll_s)

    def wake(self) -> None:
        """Let the background thread look for due work now, and from now on; without `background`, do nothing."""
        self._added()

    def reindex(self, embedder: str | None = None, progress: Callable[[int, int], None] | None = None) -> int:
        """Make vectors again; returns the number of utterances embedded.

        With an embedder, makes its missing vectors; without, makes all vectors again with the current one. It may be
        interrupted: finished vectors are kept, recall uses words for the other utterances, and calling it again, or
        normal work, continues.
        """
        from embermem import bootstrap

        with self._embedder_changes:
            if embedder is not None:
                self._embedder = bootstrap.make_embedder(embedder, self.settings)
                bootstrap.remember_choice(self._store)
            name, dim = self._embedder.name, self._embedder.dim
            made_by_it = (self._store.setting("embedder"), self._store.setting("dim")) == (name, str(dim))
            goes_on = embedder is not None or self._store.setting(_REINDEXING) == name
            if not (made_by_it and goes_on):
                self._begin_reindex()
                self._store.remember({_REINDEXING: name})
            self._parts.system = self._make_system()
        done = self._parts.system.reindex(self.owners(), progress)
        self._store.remember({_REINDEXING: ""})
        return done

    def rebuild(self, owner: Owner | None = None) -> tuple[Difference, ...]:
        """Derive the memory of one owner, or of all, from the log of changes again; returns the difference for each
        owner.

        There is none (`same`) unless the store was damaged, which this repairs. Uses no model.
        """
        from embermem.memoryos import rebuild

        owners = self.owners() if owner is None else (owner,)
        return tuple(
            rebuild.replay(self._store, one, self.settings.short_term_pages, self._store.replay) for one in owners
        )

    def background_state(self) -> BackgroundState:
        """Return whether the background thread of this object may run, and does, and how its last work ended."""
        from embermem.core.types import Background as BackgroundState

        return BackgroundState(
            on=self.settings.background and not self.read_only,
            running=self._background.running,
            worked_at=self._background.worked_at,
            failed=self._background.failed,
        )

    def stats(self, *, estimated: bool = False) -> Stats:
        """Return counts of the whole store.

        With `estimated`, the utterances, pages and passages of a large store on PostgreSQL are what its planner
        estimates, which takes milliseconds where counting takes minutes; the rest is exact.
        """
        return self._store.stats(self._parts.clock(), self.settings.short_term_pages, estimated=estimated)

    def outdated(self) -> Mapping[Owner, tuple[Outdated, ...]]:
        """Return the owners with pages that were read without today's trained reader, and how many: `understand_anew`
        reads an owner's pages again. Without a trained reader these are all that rules alone have read."""
        return self._store.outdated(self._parts.system.extractive_name)

    def disk_usage(self) -> DiskUsage:
        """Return what the tables and indexes of the store take on disk. It reads every page of an SQLite file."""
        return self._store.disk_usage()

    def replica_lag_s(self) -> float | None:
        """The lag of a replica in seconds; None if the store is not a replica.

        While the replica is disconnected from its primary, this is the age of the last change that it applied.
        """
        return self._store.replica_lag_s()

    def calls(self, since: datetime) -> tuple[Call, ...]:
        """Return the usage log of model calls of all owners since a time, oldest first."""
        return self._store.calls(since)

    def check(self, *, deep: bool = False) -> tuple[Finding, ...]:
        """Check every invariant of every owner's memory; returns what is wrong, with advice.

        With `deep`, derived rows are compared with what the log of changes gives; on SQLite, writers wait during the
        check of each owner. Changes nothing.
        """
        return self._store.check(now=self._parts.clock(), bounds=self._bounds(), deep=deep)

    def repair(self) -> tuple[Finding, ...]:
        """Repair what can be repaired without losing text; returns what was repaired and what is left, with advice.

        Derived rows that differ are derived from the log again, pages from their utterances, and damaged vectors are
        made again. Neither log is changed. Raises StoreError.
        """
        return self._store.repair(now=self._parts.clock(), bounds=self._bounds())

    def backup(
        self,
        path: str | Path,
        *,
        incremental: bool = False,
        keep: int | None = None,
        drop_forgotten: bool = False,
        as_file: bool = False,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> Backup:
        """Back the store up while it is in use: a consistent, checked copy in a new file, or in a folder of backups.

        In a folder, `incremental` writes only what its backups do not have yet, where that is possible; `keep` removes
        older ones but for so many, `drop_forgotten` those that may hold what was forgotten since. `as_file` copies a
        store on a PostgreSQL server to an SQLite file, owner by owner. `progress` gets the step, how much of it is
        done, and of how much. Raises InputError where the name is taken, StoreFull, StoreCorrupt, StoreError. See
        docs/operations/backups.md.
        """
        return self._store.back_up(
            Path(path).expanduser(),
            now=self._parts.clock(),
            told=progress or (lambda step, done, of: None),
            incremental=incremental,
            keep=None if keep is None else messages.whole(keep, "keep", 1),
            drop_forgotten=drop_forgotten,
            as_file=as_file,
        )

    def forget_user(self, user: str, *, dry_run: bool = False) -> Mapping[str, Forgotten]:
        """Forget a user with all agents: every row of each memory. Returns the receipts by agent, none for an
        unknown user.

        The lines of the usage log go too where a memory holds nothing, of `default` and of every agent in the store.
        """
        mine, agents = self._store.owners(user), self._store.agents()
        done = {owner.agent: self.of(owner.user, owner.agent).forget_owner(dry_run=dry_run) for owner in mine}
        if not dry_run:
            for agent in sorted({"default", *agents} - done.keys()):
                self._store.forget_owner(ids.owner_id(user, agent), self._parts.clock())
            self._store.forget_shares(user, None)
        return done

    def scrub(self) -> bool:
        """Overwrite forgotten content that is left in the store's files; returns whether no deleted byte is left.

        On SQLite every forgetting does this itself, unless other processes read an older state; False means that they
        still do. On PostgreSQL it rewrites the tables (VACUUM FULL) and locks each of them meanwhile; in a large store
        only this call does so. Raises StoreError. See docs/concepts/forgetting.md.
        """
        return self._store.scrub()

    def renew_forgotten_key(self) -> None:
        """Create a new key of forgotten values if the old one is lost for good.

        What was forgotten until now is then no longer recognised if it is said again, and its receipts cannot be
        checked. An existing key file is kept as `FILE.key.other`. Raises StoreError.
        """
        self._store.renew_secret()

    def close(self) -> None:
        """Stop the background thread after its current step, finish a due scrub if no other process prevents it, and
        close the store."""
        self._background.stop()
        self._deliveries.stop()
        if not self.read_only:
            self._parts.system.keep_indexes()
        self._scrub_if_due()
        self._store.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _bounds(self) -> Bounds:
        from embermem.protocols import Bounds

        settings = self.settings
        return Bounds(
            short=settings.short_term_pages,
            segments=settings.mid_term_segments,
            user_facts=settings.user_facts,
            agent_facts=settings.agent_facts,
            by_person=settings.preset != "paper",
        )

    def _make_system(self, store: SqlStore | None = None) -> MemoryOS:
        from embermem import bootstrap

        parts = self._parts
        return bootstrap.make_system(store or self._store, self._embedder, self.settings, parts.clock, parts.asker)

    @contextmanager
    def _copied(self, owner: Owner) -> Iterator[tuple[Store, MemoryOS]]:
        """One owner's memory copied into the memory of this process, and a system on it: no file is written that a
        killed process could leave. What its model is asked stands in the ledger of the real one."""
        store = self._store.in_memory(owner.id)
        try:
            yield store.protocols, self._make_system(store)
        finally:
            store.close()

    def _begin_reindex(self) -> None:
        from embermem import bootstrap

        store = self._store
        store.begin_reindex(self._embedder.name, self._embedder.dim, self._parts.clock())
        bootstrap.remember(store, self._embedder)

    def _before_work(self) -> None:
        """Once for each object what waits for another analyst is made ready: two processes whose models both fail do
        not end each other's waits again and again."""
        self._renew_embedder()
        self._tell_of_other_fields()
        if not self._analyst_noted:
            ready = self._store.worked_on_by(self._parts.system.analyst_name, self._parts.clock())
            self._analyst_noted = True
            if ready:
                logger.info("%d pages that waited for another analyst are ready", ready)

    def _tell_of_other_fields(self) -> None:
        """Say once that another process has changed the fields: this one goes on with its own."""
        from embermem import bootstrap

        known = self._store.setting(bootstrap.FIELDS)
        if known != self._fields_known:
            self._fields_known = known
            logger.warning("another process has changed the fields of this store; open it again to work with them")

    def _renew_embedder(self) -> None:
        """Switch to the embedder that the store has by now, or to the one that replaces it. Utterances that it has not
        embedded yet are due, and recall finds them by words."""
        from embermem import bootstrap

        if self._embedder_stays:
            return
        with self._embedder_changes:
            store = self._store
            if (better := self.better_embedder()) is not None:
                before, self._embedder = self._embedder.name, bootstrap.make_embedder(better, self.settings)
                self._begin_reindex()
                name = self._embedder.name
                logger.warning(
                    "%s is now available and embeds again what %s embedded; recall finds the rest by words until then",
                    name,
                    before,
                )
            elif store.setting("embedder") != self._embedder.name:  # another process changed it
                self._embedder = bootstrap.choose_embedder(store, self.settings)
            else:
                return
            self._parts.system = self._make_system()

    def _work_behind(self) -> float:
        self._before_work()
        self._parts.system.keep_indexes()
        self._parts.system.work(stopping=lambda: self._background.stopping)
        self._scrub_if_due()
        if self._store.has_webhooks():
            self._deliveries.wake()
        return self.idle_s()

    def _deliver_behind(self) -> float:
        self.deliver(stopping=lambda: self._deliveries.stopping)
        return self.settings.poll_s

    def _scrub_if_due(self) -> None:
        if not self.read_only:
            with suppress(StoreError):  # it stays due
                self._store.wipe()

    def _deleted(self) -> None:
        """Have the background thread scrub the file; without one, scrub it now."""
        if self.settings.background:
            self._added()
        else:
            self._scrub_if_due()

    def _added(self) -> None:
        if self.settings.background and not self.read_only:
            self._background.wake()
