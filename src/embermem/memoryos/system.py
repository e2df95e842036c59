"""MemoryOS on the protocols: observe, settle, recall, and the work behind."""

from __future__ import annotations

import hashlib
import logging
import os
import socket
import threading
import time
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial, wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from embermem.core.config import Mode, Preset, Settings
from embermem.core.errors import (
    EmbedderError,
    EmberError,
    NotFound,
    StaleLease,
    StoreBusy,
    StoreError,
    StoreUnreachable,
    kind,
)
from embermem.core.recent import Recent
from embermem.core.types import (
    Added,
    Analysis,
    Context,
    Fact,
    FactId,
    Hit,
    ItemId,
    Kind,
    Message,
    Owner,
    OwnerId,
    Persona,
    Scope,
    Segment,
    Source,
    ThreadId,
    Utterance,
)
from embermem.index.blocks import DamagedBlock
from embermem.index.products import cosines
from embermem.index.residents import Residents
from embermem.index.snapshot import Snapshot
from embermem.index.tokens import counter
from embermem.index.vectors import TextVectors, embedded
from embermem.memoryos.conflicts import known_people
from embermem.memoryos.ingest.claim import Parts, pause
from embermem.memoryos.ingest.heat_sample import HeatSample
from embermem.memoryos.ingest.leases import Leases
from embermem.memoryos.ingest.work_watch import AT_CLAIM, AT_WORK, WorkCounts
from embermem.memoryos.people import People, shown
from embermem.memoryos.recall import retrieval
from embermem.memoryos.recall.elsewhere import Elsewhere, known_of_user
from embermem.memoryos.recall.follow_ups import read_in_thread
from embermem.memoryos.recall.overview import Subject
from embermem.memoryos.recall.scoping import in_scope, tells
from embermem.memoryos.recall.summaries import of_pages
from embermem.protocols import NOW, Moment, Needs, Reader, TokenEmbedder, TokenVectors, VectorBatch

if TYPE_CHECKING:
    from embermem.core.types import Vector
    from embermem.languages.dates.engine import DateSpan
    from embermem.memoryos.ingest.pipeline import Done, Progress

logger = logging.getLogger(__name__)

_QUERIES_KEPT = 256
"""Vectors of the last queries: asking the same again embeds nothing."""
_FACTS_KEPT = 10_000
"""Vectors of facts: of about 50 owners with full knowledge bases, 15 MB with MiniLM."""
_SUMMARIES_KEPT = 2000
"""Vectors of segments' summaries that are not of now: of about 10 owners with full mid-term memories."""
_QUERY_KEYWORDS = 8
_CLAIM_PAUSE_S = 0.05
_PATIENCE = 2
"""So many leases `settle` waits for a worker that changes nothing; that of a dead one has run out by then."""
_STILL_DUE_S = 1.0
"""Until an owner is looked at again who is due though work has just been done."""
_DUE_AT_ONCE = 64
"""Owners read of those that wait: a worker goes through them before it looks who has waited longest by then."""
_PEOPLE = 256
"""Personas of which it is kept who is who."""


_P = ParamSpec("_P")
_Read = TypeVar("_Read")


def _undamaged(
    read: Callable[Concatenate[MemoryOS, Owner, _P], _Read],
) -> Callable[Concatenate[MemoryOS, Owner, _P], _Read]:
    """A read of an owner that is made again of the store, if it meets a damaged block of the index's file."""

    @wraps(read)
    def reading(self: MemoryOS, owner: Owner, /, *args: _P.args, **kwargs: _P.kwargs) -> _Read:
        try:
            return read(self, owner, *args, **kwargs)
        except DamagedBlock:
            self._residents.read_anew(owner.id)
            return read(self, owner, *args, **kwargs)

    return reading


class MemoryOS:
    """The system of the MemoryOS paper over a store, an embedder and an analyst."""

    name = "memoryos"

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._settings = parts.settings
        self._store = parts.store
        embedder = parts.embedder
        self._residents = Residents(
            parts.store.index,
            embedder.name,
            embedder.dim,
            parts.settings.resident_bytes,
            embedder.token_dim if isinstance(embedder, TokenEmbedder) else 0,
            TextVectors(embedder, _SUMMARIES_KEPT) if parts.settings.placed_by == "page" else None,
            parts.store.index_files,
            parts.settings.index_cache_from,
            self._index_due,
        )
        self._when_index_due: Callable[[], None] = lambda: None
        self._counter = counter(parts.settings.token_counter)
        self._queries: Recent[bytes, tuple[Vector, TokenVectors | None]] = Recent(_QUERIES_KEPT)
        self._needs: Recent[bytes, Needs] = Recent(_QUERIES_KEPT)
        self._fact_vectors = TextVectors(embedder, _FACTS_KEPT)
        self._people: Recent[tuple[OwnerId, int], tuple[Persona, People]] = Recent(_PEOPLE)
        self._by = f"{socket.gethostname()}:{os.getpid()}:{id(self):x}"
        self._leases = Leases(parts.store.queue.renew, parts.clock, parts.settings.lease_s)
        self._placed = 0
        self._placed_lock = threading.Lock()

    @property
    def resident_bytes(self) -> int:
        """Bytes of memory used by the owners' indexes now."""
        return self._residents.nbytes

    @property
    def mapped_bytes(self) -> int:
        """Bytes of these that are mapped files: other processes share them, and the system may take them back."""
        return self._residents.mapped_bytes

    def keep_indexes(self) -> None:
        """Write the files of owners' indexes that are due. What fails is left for later."""
        with suppress(StoreError):
            self._residents.keep()

    def when_index_due(self, call: Callable[[], None]) -> None:
        """Whom to tell that a file of an index is due: `keep_indexes` writes it, outside of a recall."""
        self._when_index_due = call

    def _index_due(self) -> None:
        self._when_index_due()

    def is_resident(self, owner_id: OwnerId) -> bool:
        """Whether an owner's index is in memory."""
        return owner_id in self._residents

    @property
    def analyst_name(self) -> str:
        """The analyst that reads pages."""
        return self._parts.analyst.name

    @property
    def extractive_name(self) -> str:
        """The extractive analyst that reads pages first, with its reader."""
        return self._parts.extractive.name

    @property
    def placed(self) -> int:
        """Pages placed into segments here, since this was made."""
        return self._placed

    @property
    def heat(self) -> HeatSample:
        """The heat that the work of this process has seen last. Asks nobody."""
        return self._parts.heats.sample()

    @property
    def work_counts(self) -> WorkCounts:
        """What the work of this process has done, and what went wrong in it. Asks nobody."""
        return self._parts.watch.counts()

    def forgotten(self, owner: Owner) -> None:
        """An owner was forgotten whole."""
        self._parts.heats.forgotten(owner.id)

    # ----------------------------------------------------------------------------------------------------- observe

    def observe(
        self,
        owner: Owner,
        messages: Sequence[Message],
        *,
        key: str | None = None,
        digest: str = "",
        fresh: bool = False,
        expires_at: datetime | None = None,
    ) -> Added:
        """Keep messages: one short transaction; durable and recallable when it returns."""
        now = self._parts.clock()
        return self._store.log.append(
            owner, messages, now=now, key=key, digest=digest, fresh=fresh, expires_at=expires_at
        )

    # ------------------------------------------------------------------------------------------------------ settle

    def settle(self, owner: Owner, progress: Progress | None = None) -> int:
        """Understand all that is pending now, and read again what the configured analyst has not read. Waits while
        another worker holds the owner, and goes on after it.
        Raises StoreBusy where that worker has changed nothing for two leases (`lease_s`).

        Pages on which the model fails are placed as extraction read them, and read by it later; where it asks to wait,
        they stay pending. `stats().waiting` says what waits, and why. Raises EmbedderError, StoreError. What was
        understood until then stays.
        """
        return self._all_done(owner, progress).placed

    def analyse(self, owner: Owner, progress: Progress | None = None) -> Analysis:
        """Do what `settle` does, and promote every segment with new pages, whatever its heat. Raises the same."""
        done = self._all_done(owner, progress, any_heat=True)
        return Analysis(placed=done.placed, analysed=done.analysed, promoted=done.promoted)

    def _all_done(self, owner: Owner, progress: Progress | None, *, any_heat: bool = False) -> Done:
        patience_s = _PATIENCE * max(self._settings.lease_s, 1.0)
        seen, until = -1, 0.0
        while True:
            try:
                done = self._work_on(owner, whole=True, any_heat=any_heat, progress=progress)
            except StaleLease:
                done = None
            if done is not None:
                return done
            state = self._store.log.owner_state(owner.id)
            stands = 0 if state is None else state.revision  # what comes in meanwhile is no progress
            if stands != seen:
                seen, until = stands, time.monotonic() + patience_s
            elif time.monotonic() > until:
                raise StoreBusy(f"another worker holds {owner.user}/{owner.agent} and makes no progress; try again")
            time.sleep(_CLAIM_PAUSE_S)

    def work(
        self,
        *,
        limit_s: float | None = None,
        owner_done: Callable[[Owner], None] | None = None,
        stopping: Callable[[], bool] = lambda: False,
    ) -> int:
        """Do what is due for all owners; pages placed. A failure of one owner is logged and tried later; `owner_done`
        is told of each claim of the others that ended well. May be called in many threads and processes at once.

        Those who have waited longest come first. An owner with much to do is given a slice of it (`slice_pages`,
        `slice_s`), and the next one after those who wait already.
        """
        placed = 0
        until = None if limit_s is None else time.monotonic() + limit_s
        seen: set[OwnerId] = set()
        while waiting := self._waiting(seen):
            for owner, at in waiting:
                if stopping() or (until is not None and time.monotonic() > until):
                    return placed
                seen.add(owner.id)
                try:
                    if not self._still_waits(owner, at):
                        seen.discard(owner.id)
                        continue
                    done = self._work_on(owner, whole=False, stopping=stopping)
                except StaleLease:
                    self._parts.watch.lost(AT_WORK)
                    logger.info("another worker took over %s/%s", owner.user, owner.agent)
                except EmberError as error:
                    self._parts.watch.failed(error)
                    logger.warning("work on %s/%s failed and will be tried again: %s", owner.user, owner.agent, error)
                except Exception as error:  # noqa: BLE001 - one owner's pages must not stop the work on all others
                    self._parts.watch.failed(error)
                    whose = f"{owner.user}/{owner.agent}"
                    logger.error("work on %s failed and will be tried again: %s", whose, kind(error))
                else:
                    if done is None:
                        self._parts.watch.lost(AT_CLAIM)
                        continue
                    placed += done.placed
                    if done.cut:
                        seen.discard(owner.id)
                    if owner_done is not None:
                        owner_done(owner)
        return placed

    def idle_s(self, longest_s: float) -> float:
        """Seconds until the next owner is due, at most `longest_s`; a short pause where one is due already: it became
        so while `work` was at it, or there is nothing that can be done for it yet."""
        now = self._parts.clock()
        next_one = self._store.queue.due(now + timedelta(seconds=longest_s), 1, lease_s=self._settings.lease_s)
        state = self._store.log.owner_state(next_one[0].id) if next_one else None
        if state is None or state.due_at is None:
            return longest_s
        until = (state.due_at - now).total_seconds()
        return min(longest_s, until if until > 0 else _STILL_DUE_S)

    def _waiting(self, seen: Collection[OwnerId]) -> list[tuple[Owner, datetime]]:
        """The owners who have waited longest, of those not seen, and when they were read. Where there are many, each
        worker begins at another place of the list, so that not all try to claim the same ones."""
        lease_s = self._settings.lease_s
        for limit in (_DUE_AT_ONCE, _DUE_AT_ONCE + len(seen)):
            at = self._parts.clock()
            owners = [
                (owner, at) for owner in self._store.queue.due(at, limit, lease_s=lease_s) if owner.id not in seen
            ]
            if owners:
                many = len(owners) >= _DUE_AT_ONCE
                first = zlib.crc32(self._by_thread().encode()) % len(owners) if many else 0
                return owners[first:] + owners[:first]
        return []

    def _still_waits(self, owner: Owner, at: datetime) -> bool:
        """Whether nobody else has taken the owner's turn since the list was read. Costs one read, and no write."""
        state = self._store.log.owner_state(owner.id)
        return state is not None and state.due_at is not None and state.due_at <= at

    def _work_on(
        self,
        owner: Owner,
        *,
        whole: bool,
        any_heat: bool = False,
        progress: Progress | None = None,
        stopping: Callable[[], bool] = lambda: False,
    ) -> Done | None:
        """Claim, consolidate, release; None if another worker holds the owner. Raises StaleLease if one took over."""
        from embermem.memoryos.ingest.pipeline import Done, consolidate, due_at  # a recall from cold needs none of it

        parts = self._parts
        state = self._store.log.owner_state(owner.id)
        if state is None:
            return Done(placed=0)
        lease = self._store.queue.claim(owner.id, self._by_thread(), parts.clock(), self._settings.lease_s)
        if lease is None:
            return None
        try:
            began = parts.clock()
            with self._leases.held(lease) as held, parts.watch.holding():
                done = consolidate(
                    parts,
                    owner,
                    lease,
                    whole=whole,
                    any_heat=any_heat,
                    progress=progress,
                    stopping=lambda: held.lost or stopping(),
                )
            if held.lost:
                raise StaleLease(f"the lease of {owner.user}/{owner.agent} was lost while its pages were processed")
            at = parts.clock() if done.cut else due_at(parts, owner, began, done)
        except StaleLease:
            raise
        except (StoreBusy, StoreUnreachable):  # no failure of this owner: due again as soon as the store is
            with suppress(StoreError):
                self._store.queue.release(lease, due_at=parts.clock(), error=None)
            raise
        except Exception as error:
            retry_at = parts.clock() + pause(self._settings, state.failures)
            self._store.queue.release(lease, due_at=retry_at, error=_in_our_words(error))
            raise
        except BaseException:  # interrupted: given back at once, so that whoever comes next need not wait
            self._store.queue.release(lease, due_at=parts.clock(), error=None)
            raise
        self._store.queue.release(lease, due_at=at, error=None)
        with self._placed_lock:
            self._placed += done.placed
        with suppress(StoreError):  # then the next query reads it
            self._residents.renew(owner.id)
            self._residents.keep(owner.id)
        return done

    def _by_thread(self) -> str:
        return f"{self._by}:{threading.get_ident():x}"

    # ------------------------------------------------------------------------------------------------------ recall

    @_undamaged
    def recall(
        self,
        owner: Owner,
        query: str,
        *,
        at: datetime | None = None,
        budget: int | None = None,
        thread: ThreadId | None = None,
        scope: Scope | None = None,
        shown_threads: Iterable[str] = (),
        preset: Preset | None = None,
        min_score: float = 0.0,
        mode: Mode = "ask",
        moment: Moment = NOW,
        outdated: frozenset[str] = frozenset(),
    ) -> Context:
        """The context for a query, by the settings' preset or the one named, of utterances with at least a relevance;
        at a moment, as it was or of what was true then. `shown_threads` are threads whose lines whoever asks shows
        already. What is `outdated` (`elsewhere.newer_here`) is not told. In mode `inject` a message that needs no
        memory gets nothing. Reads only."""
        settings = self._settings if preset is None else replace(self._settings, preset=preset)
        snapshot, asked, notes = self._ask(owner, query, at, budget, thread, scope, shown_threads, moment, settings)
        asked = replace(asked, min_score=min_score, outdated=outdated, mode=mode)
        people = self._people_of(owner, snapshot.persona, moment)
        summaries_of = partial(of_pages, self._store.reads, owner.id, moment)
        context = retrieval.recall(snapshot, asked, settings, self._counter, people, summaries_of)
        known = context.persona
        known = replace(known, facts=shown(known.facts, people), agent_facts=shown(known.agent_facts, people))
        if not notes:
            return replace(context, persona=known)
        return replace(context, persona=known, partial=True, notes=(*context.notes, *notes))

    @_undamaged
    def overview(
        self,
        owner: Owner,
        *,
        person: str | None = None,
        days: Sequence[DateSpan] = (),
        at: datetime | None = None,
        budget: int | None = None,
        segments: Sequence[Segment] = (),
        scope: Scope | None = None,
        moment: Moment = NOW,
        outdated: frozenset[str] = frozenset(),
    ) -> Context:
        """What is known of a person (None: everybody), on these days, and talked about in these segments; at a moment,
        as it was known or true then. Raises NotFound for a person nobody knows. Reads only."""
        snapshot = self._seen(owner, scope, moment)
        people = self._people_of(owner, snapshot.persona, moment)
        found = None if person is None else people.find(person)
        if person is not None and found is None:
            raise NotFound(f"there is no person {person!r} in this memory; `people` lists everybody")
        subject = Subject(people=frozenset() if found is None else frozenset((found,)), days=tuple(days))
        kinds = _kinds(scope)
        query = retrieval.Query(text="", budget=budget, at=at, scope=kinds, valid_at=moment.valid_at, outdated=outdated)
        return retrieval.overview_of(snapshot, subject, query, self._settings, self._counter, people, segments)

    def _seen(self, owner: Owner, scope: Scope | None, moment: Moment) -> Snapshot:
        """The owner's snapshot without what has expired, and of what is in scope."""
        whole = self._residents.snapshot(owner.id, moment)
        whole = whole.unexpired(self._parts.clock(), facts=moment.is_now)
        before = whole.times_narrowed
        snapshot = in_scope(whole, scope, self._settings, lambda: self._people_of(owner, whole.persona, moment))
        if whole.times_narrowed != before:
            self._residents.weigh(owner.id)
        return snapshot

    @_undamaged
    def known_of_user(
        self,
        owner: Owner,
        query: str | None = None,
        *,
        at: datetime | None = None,
        scope: Scope | None = None,
        moment: Moment = NOW,
    ) -> Elsewhere:
        """What may be told of the user where another agent is asked: with a query the facts that bear on it, else all.
        Reads only."""
        if query is None:
            snapshot = self._seen(owner, scope, moment)
            people, told = self._people_of(owner, snapshot.persona, moment), None
            persona = snapshot.persona if tells(scope, Kind.FACT) else Persona()
        else:
            snapshot, asked, _ = self._ask(owner, query, at, None, None, scope, (), moment, self._settings)
            if tells(scope, Kind.FACT):  # they may rest on what is not told itself
                asked = replace(asked, scope=None)
            people = self._people_of(owner, snapshot.persona, moment)
            ranking = retrieval.rank(snapshot, asked, self._settings)
            persona, told = ranking.persona, [fact for fact, _ in ranking.facts(people)]

        def said_at(source: Source) -> datetime | None:
            row = snapshot.row(source.seq)
            return None if row is None else snapshot.utterances[row].said_at

        return known_of_user(persona, people, said_at, told)

    def _people_of(self, owner: Owner, persona: Persona, moment: Moment) -> People:
        """Whom a persona knows: worked out once for each that is read."""

        def known() -> tuple[Persona, People]:  # the persona is held, so that its id stays its own
            return persona, known_people(self._store, owner, persona, self._settings.attributes, moment)

        return self._people.of((owner.id, id(persona)), known)[1]

    @_undamaged
    def search(
        self,
        owner: Owner,
        query: str,
        k: int,
        *,
        at: datetime | None = None,
        scope: Scope | None = None,
        min_score: float = 0.0,
        moment: Moment = NOW,
    ) -> tuple[Hit, ...]:
        """The best k utterances for a query, with at least a relevance; at a moment, as it was or of what was
        true then. Reads only."""
        snapshot, asked, _ = self._ask(owner, query, at, None, None, scope, (), moment, self._settings)
        ranking = retrieval.rank(snapshot, replace(asked, min_score=min_score), self._settings, first=k)
        return ranking.first_hits(k)

    def _ask(
        self,
        owner: Owner,
        query: str,
        at: datetime | None,
        budget: int | None,
        thread: ThreadId | None,
        scope: Scope | None,
        shown_threads: Iterable[str],
        moment: Moment,
        settings: Settings,
    ) -> tuple[Snapshot, retrieval.Query, tuple[str, ...]]:
        snapshot = self._seen(owner, scope, moment)
        is_turn = scope is not None and scope.before_seq is not None
        asked = retrieval.Query(
            text=query,
            budget=self._settings.budget if budget is None else budget,
            at=self._parts.clock() if at is None and not is_turn else at,
            thread=thread,
            scope=_kinds(scope),
            shown=frozenset(map(ThreadId, shown_threads)),
            valid_at=moment.valid_at,
        )
        asked = read_in_thread(asked, snapshot, self._people_of(owner, snapshot.persona, moment))
        text = asked.in_full if settings.preset == "paper" else asked.searched
        vector, tokens, facts, needs, wishes, notes = None, None, None, None, None, []
        try:
            missing = snapshot.missing_vectors(self._settings.recall_embed_limit)
            if missing:
                self._residents.with_vectors(owner.id, missing, self._embed)
                snapshot = self._seen(owner, scope, moment)
            vector, tokens = self._embedded_query(text)
            if settings.preset == "paper":
                facts = self._facts_near(snapshot.persona, vector)
            elif self._parts.reader is not None:
                needs = self._needs_of(query, self._parts.reader)
                wishes = self._parts.reader.wishes(vector, self._parts.embedder.name)
        except EmbedderError as error:
            notes.append(f"ranked by words alone, the embedder failed: {error}")
        asked = replace(
            asked,
            vector=vector,
            tokens=tokens,
            keywords=frozenset(self._parts.keywords(text, _QUERY_KEYWORDS)),
            facts=facts,
            needs=needs,
            wishes=wishes,
            reader=self._parts.reader,
        )
        return snapshot, asked, tuple(notes)

    def _facts_near(self, persona: Persona, vector: Vector) -> Mapping[FactId, float]:
        """The cosine of each held fact's own vector to the query's (paper §3.4)."""
        facts = (*persona.facts, *persona.agent_facts)
        near = cosines(self._fact_vectors.of([fact.text for fact in facts]), vector[None])[:, 0]
        return dict(zip((fact.id for fact in facts), near.tolist(), strict=True))

    def _embed(self, utterances: Sequence[Utterance]) -> VectorBatch:
        return embedded(self._parts.embedder, utterances)

    def _embedded_query(self, query: str) -> tuple[Vector, TokenVectors | None]:
        """The query's vector and, where the embedder gives them, its tokens'."""
        embedder = self._parts.embedder

        def made() -> tuple[Vector, TokenVectors | None]:
            return (
                embedder.embed_query(query)
                if isinstance(embedder, TokenEmbedder)
                else (embedder.embed([query])[0], None)
            )

        return self._queries.of(_digest(query), made)

    def _needs_of(self, query: str, reader: Reader) -> Needs:
        """What a message needs of memory."""
        return self._needs.of(_digest(query), lambda: reader.needs(query))

    def visit(self, owner: Owner, hits: Iterable[Hit], facts: Iterable[Fact] = ()) -> None:
        """The one write of a read: N_visit grows by one for each segment that gave a hit, and for each fact."""
        segments = (hit.segment_id for hit in hits if hit.segment_id is not None)
        counts = dict.fromkeys(map(ItemId, (*segments, *(fact.id for fact in facts))), 1)
        if counts:
            self._store.marks.visit(owner.id, counts, self._parts.clock())

    # ----------------------------------------------------------------------------------------------------- reindex

    def reindex(self, owners: Iterable[Owner], progress: Progress | None = None) -> int:
        """Make the vectors of owners again; goes on where it was interrupted. Utterances embedded."""
        now = self._parts.clock()
        missing = {owner: self._parts.backlog(owner, now).unembedded for owner in owners}
        total = sum(missing.values())
        done = 0
        for owner, count in missing.items():
            before = done

            def counted(embedded: int, of: int, before: int = before) -> None:
                if progress is not None:
                    progress(min(total, before + embedded), total)

            self.settle(owner, counted)
            done += count
        if progress is not None:
            progress(total, total)
        return done


def _digest(query: str) -> bytes:
    """What a query's vector is kept by: a pasted page is not kept itself."""
    return hashlib.blake2b(query.encode(), digest_size=16).digest()


def _kinds(scope: Scope | None) -> Scope | None:
    """What a scope says to a snapshot that was narrowed to it."""
    return None if scope is None else Scope(kinds=scope.kinds)


def _in_our_words(error: Exception) -> str:
    """What is kept of a failure. The text of an error that is not ours may hold what was said."""
    kind = type(error).__name__
    return f"{kind}: {error}" if isinstance(error, EmberError) else f"{kind}: a defect; the log says where"
