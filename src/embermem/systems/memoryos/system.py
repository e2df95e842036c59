"""MemoryOS on the protocols: observe, settle, recall, and the work behind."""

from __future__ import annotations

import hashlib
import logging
import os
import socket
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from embermem.config import Preset
from embermem.errors import EmbedderError, EmberError, StaleLease, StoreBusy, StoreError
from embermem.index.residents import Residents
from embermem.index.snapshot import Snapshot
from embermem.index.tokens import counter
from embermem.index.vectors import embedded
from embermem.protocols import Scope, TokenEmbedder, TokenVectors
from embermem.systems.memoryos import retrieval
from embermem.systems.memoryos.consolidate import Parts, Progress, consolidate, due_at, pause
from embermem.types import Added, Context, Hit, Message, Owner, OwnerId, SegmentId, ThreadId, Utterance

if TYPE_CHECKING:
    from embermem.types import Vector, Vectors

logger = logging.getLogger(__name__)

_QUERIES_KEPT = 256
"""Vectors of the last queries: asking the same again embeds nothing."""
_QUERY_KEYWORDS = 8
_CLAIM_PAUSE_S = 0.05
_DUE_AT_ONCE = 64


class MemoryOS:
    """The system of the MemoryOS paper over a store, an embedder and an analyst."""

    name = "memoryos"

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._settings = parts.settings
        self._store = parts.store
        embedder = parts.embedder
        self._residents = Residents(
            lambda owner_id, seq, revision: parts.store.delta(owner_id, seq, revision, embedder.name, embedder.dim),
            embedder.dim,
            parts.settings.resident_bytes,
            embedder.token_dim if isinstance(embedder, TokenEmbedder) else 0,
        )
        self._counter = counter(parts.settings.token_counter)
        self._queries: OrderedDict[bytes, tuple[Vector, TokenVectors | None]] = OrderedDict()
        self._queries_lock = threading.Lock()
        self._by = f"{socket.gethostname()}:{os.getpid()}:{id(self):x}"

    @property
    def resident_bytes(self) -> int:
        """What the owners' indexes hold in memory now."""
        return self._residents.nbytes

    # ----------------------------------------------------------------------------------------------------- observe

    def observe(
        self,
        owner: Owner,
        messages: Sequence[Message],
        *,
        key: str | None = None,
        digest: str = "",
        fresh: bool = False,
    ) -> Added:
        """Keep messages: one short transaction; durable and recallable when it returns."""
        now = self._parts.clock()
        return self._store.append(owner, messages, now=now, key=key, digest=digest, fresh=fresh)

    # ------------------------------------------------------------------------------------------------------ settle

    def settle(self, owner: Owner, progress: Progress | None = None) -> int:
        """Understand all that is pending now, and read again what the configured analyst has not read. Waits while
        another worker holds the owner, and goes on after it.

        Pages on which the analyst fails stay pending: `stats().failed` counts them, and each names its `error`.
        Raises EmbedderError, StoreError. What was understood until then stays.
        """
        patience = time.monotonic() + max(self._settings.lease_s, 1.0) * 2
        while True:
            try:
                done = self._work_on(owner, whole=True, progress=progress)
            except StaleLease:
                done = None
            if done is not None:
                return done
            if time.monotonic() > patience and not self._advances(owner):
                raise StoreBusy(f"another worker holds {owner.user}/{owner.agent} and does not go on; try again")
            time.sleep(_CLAIM_PAUSE_S)

    def _advances(self, owner: Owner) -> bool:
        before = self._store.owner_state(owner.id)
        time.sleep(1.0)
        return before != self._store.owner_state(owner.id)

    def work(
        self,
        *,
        limit_s: float | None = None,
        owner_done: Callable[[Owner], None] | None = None,
        stopping: Callable[[], bool] = lambda: False,
    ) -> int:
        """Do what is due for all owners, once; pages placed. A failure of one owner is logged and tried later;
        `owner_done` is told of the others."""
        placed = 0
        until = None if limit_s is None else time.monotonic() + limit_s
        seen: set[OwnerId] = set()
        while True:
            due = self._store.due(self._parts.clock(), len(seen) + _DUE_AT_ONCE)
            owners = [owner for owner in due if owner.id not in seen]
            if not owners:
                return placed
            for owner in owners:
                seen.add(owner.id)
                if stopping() or (until is not None and time.monotonic() > until):
                    return placed
                try:
                    done = self._work_on(owner, whole=False, stopping=stopping)
                except StaleLease:
                    logger.info("another worker took over %s/%s", owner.user, owner.agent)
                except EmberError as error:
                    logger.warning("work on %s/%s failed and will be tried again: %s", owner.user, owner.agent, error)
                except Exception:  # a defect that one owner's pages bring out must not stop the work on all others
                    logger.exception("work on %s/%s failed and will be tried again", owner.user, owner.agent)
                else:
                    placed += done or 0
                    if done is not None and owner_done is not None:
                        owner_done(owner)

    def _work_on(
        self,
        owner: Owner,
        *,
        whole: bool,
        progress: Progress | None = None,
        stopping: Callable[[], bool] = lambda: False,
    ) -> int | None:
        """Claim, consolidate, release; None if another worker holds the owner."""
        parts = self._parts
        state = self._store.owner_state(owner.id)
        if state is None:
            return 0
        lease = self._store.claim(owner.id, self._by_thread(), parts.clock(), self._settings.lease_s)
        if lease is None:
            return None
        try:
            began = parts.clock()
            done = consolidate(parts, owner, lease, whole=whole, progress=progress, stopping=stopping)
            at = parts.clock() if stopping() else due_at(parts, owner, began, done)
        except StaleLease:
            raise
        except Exception as error:
            retry_at = parts.clock() + pause(self._settings, state.failures)
            self._store.release(lease, due_at=retry_at, error=_in_our_words(error))
            raise
        except BaseException:  # interrupted: given back at once, so that whoever comes next need not wait
            self._store.release(lease, due_at=parts.clock(), error=None)
            raise
        self._store.release(lease, due_at=at, error=None)
        with suppress(StoreError):  # then the next query reads it
            self._residents.renew(owner.id)
        return done.placed

    def _by_thread(self) -> str:
        return f"{self._by}:{threading.get_ident():x}"

    # ------------------------------------------------------------------------------------------------------ recall

    def recall(
        self,
        owner: Owner,
        query: str,
        *,
        at: datetime | None = None,
        budget: int | None = None,
        thread: ThreadId | None = None,
        scope: Scope | None = None,
        preset: Preset | None = None,
    ) -> Context:
        """The context for a query, by the settings' preset or the one named. Reads only."""
        snapshot, asked, notes = self._ask(owner, query, at, budget, thread, scope)
        settings = self._settings if preset is None else replace(self._settings, preset=preset)
        context = retrieval.recall(snapshot, asked, settings, self._counter)
        if not notes:
            return context
        return replace(context, partial=True, notes=(*context.notes, *notes))

    def search(self, owner: Owner, query: str, k: int, *, scope: Scope | None = None) -> tuple[Hit, ...]:
        """The best k utterances for a query. Reads only."""
        snapshot, asked, _ = self._ask(owner, query, None, None, None, scope)
        ranking = retrieval.rank(snapshot, asked, self._settings, first=k)
        return ranking.hits_at(range(min(k, len(ranking.rows))))

    def _ask(
        self,
        owner: Owner,
        query: str,
        at: datetime | None,
        budget: int | None,
        thread: ThreadId | None,
        scope: Scope | None,
    ) -> tuple[Snapshot, retrieval.Query, tuple[str, ...]]:
        snapshot = self._residents.snapshot(owner.id)
        vector, tokens, notes = None, None, []
        try:
            missing = snapshot.missing_vectors(self._settings.recall_embed_limit)
            if missing:
                snapshot = self._residents.with_vectors(owner.id, missing, self._embed)
            vector, tokens = self._embedded_query(query)
        except EmbedderError as error:
            notes.append(f"ranked by words alone, the embedder failed: {error}")
        asked = retrieval.Query(
            text=query,
            vector=vector,
            tokens=tokens,
            keywords=frozenset(self._parts.keywords(query, _QUERY_KEYWORDS)),
            budget=self._settings.budget if budget is None else budget,
            at=self._parts.clock() if at is None and scope is None else at,
            thread=thread,
            scope=scope,
        )
        return snapshot, asked, tuple(notes)

    def _embed(self, utterances: Sequence[Utterance]) -> tuple[Vectors, list[bytes]]:
        return embedded(self._parts.embedder, utterances)

    def _embedded_query(self, query: str) -> tuple[Vector, TokenVectors | None]:
        """The query's vector and, where the embedder gives them, its tokens'."""
        key = hashlib.blake2b(query.encode(), digest_size=16).digest()  # a pasted page is not kept for its vector
        with self._queries_lock:
            known = self._queries.get(key)
            if known is not None:
                self._queries.move_to_end(key)
                return known
        embedder = self._parts.embedder
        made: tuple[Vector, TokenVectors | None]
        if isinstance(embedder, TokenEmbedder):
            vectors, tokens = embedder.embed_tokens([query])
            made = vectors[0], tokens[0]
        else:
            made = embedder.embed([query])[0], None
        with self._queries_lock:
            self._queries[key] = made
            while len(self._queries) > _QUERIES_KEPT:
                self._queries.popitem(last=False)
        return made

    def visit(self, owner: Owner, hits: Iterable[Hit]) -> None:
        """The one write of a read: N_visit grows by one for each segment that gave a hit."""
        segments: Counter[SegmentId] = Counter({hit.segment_id: 1 for hit in hits if hit.segment_id is not None})
        if segments:
            self._store.visit(owner.id, segments, self._parts.clock())

    # ----------------------------------------------------------------------------------------------------- reindex

    def reindex(self, progress: Progress | None = None) -> int:
        """Make the vectors of every owner again; goes on where it was interrupted. Utterances embedded."""
        owners = self._store.owners()
        states = [state for owner in owners if (state := self._store.owner_state(owner.id)) is not None]
        missing = {state.owner.id: self._store.unembedded(state.owner.id) for state in states}
        total = sum(missing.values())
        done = 0
        for state in states:
            before = done

            def counted(embedded: int, of: int, before: int = before) -> None:
                if progress is not None:
                    progress(min(total, before + embedded), total)

            self.settle(state.owner, counted)
            done += missing[state.owner.id]
        if progress is not None:
            progress(total, total)
        return done


def _in_our_words(error: Exception) -> str:
    """What is kept of a failure. The text of an error that is not ours may hold what was said."""
    kind = type(error).__name__
    return f"{kind}: {error}" if isinstance(error, EmberError) else f"{kind}: a defect; the log says where"
