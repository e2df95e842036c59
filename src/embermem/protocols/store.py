"""The protocols of a store, one for each consumer, with at most 42 methods in total."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol

from embermem.core.changes import Cause, Change, Decision
from embermem.core.types import (
    Added,
    Chain,
    ChainId,
    ChainTail,
    Fact,
    FactId,
    Forgotten,
    ItemId,
    Message,
    Owner,
    OwnerId,
    Page,
    PageId,
    Persona,
    Segment,
    SegmentId,
    ThreadId,
    Tier,
    Utterance,
    UtteranceId,
)
from embermem.protocols.models import (
    Call,
    Limits,
)
from embermem.protocols.records import (
    HELD,
    NOW,
    ApiKey,
    Backlog,
    Delta,
    Erasure,
    FactSelection,
    Lease,
    Moment,
    NotedPage,
    OwnerState,
    PagesToRead,
    PersonaTimeline,
    Receipt,
    Remains,
    SegmentState,
    SegmentTimeline,
    SegmentVectors,
    Standing,
    Trail,
    Use,
    VectorBatch,
    Wiped,
    Within,
)

if TYPE_CHECKING:
    pass

__all__ = [
    "ChangeLog",
    "ConversationLog",
    "Forgetting",
    "History",
    "IndexFiles",
    "KeyStore",
    "Marks",
    "MemoryReads",
    "PageWork",
    "Store",
    "StoredSettings",
    "UsageLog",
    "WorkQueue",
    "WorkingSetSource",
]


class StoredSettings(Protocol):
    """Settings of the store itself, such as its embedder. They belong to no owner."""

    def setting(self, key: str) -> str | None:
        """What the store remembers under a key, such as its embedder."""

    def remember_once(self, key: str, value: str) -> str:
        """What stands under a key; this value, if nothing did. Whoever asks, at whatever moment, is told the same."""


class ConversationLog(Protocol):
    """The first log: what was said."""

    def append(
        self,
        owner: Owner,
        messages: Sequence[Message],
        *,
        now: datetime,
        key: str | None,
        digest: str,
        fresh: bool,
        expires_at: datetime | None = None,
    ) -> Added:
        """Store messages, durably, in one transaction; a key used before gives what it gave then.

        `fresh`: the first user-side message begins a page of its own. `expires_at` is that of the pages they make; one
        that they join keeps the earlier of both. Raises KeyReused.
        """

    def owner_state(self, owner_id: OwnerId) -> OwnerState | None: ...

    def set_timezone(self, owner: Owner, timezone: str, now: datetime) -> None: ...

    def utterances(
        self,
        owner_id: OwnerId,
        after_seq: int = 0,
        limit: int | None = None,
        *,
        ids: Collection[UtteranceId] | None = None,
        within: Within | None = None,
        moment: Moment = NOW,
    ) -> tuple[Utterance, ...]:
        """Utterances in order: the next `limit` after a seq, or those with some ids; those in scope, where `moment`
        says in which tier a page was."""


class ChangeLog(Protocol):
    """The second log: decisions, and everything that they derive."""

    def apply(
        self,
        owner: Owner,
        cause: Cause,
        analyst: str,
        decisions: Sequence[Decision],
        *,
        now: datetime,
        revision: int,
        lease: Lease | None,
        vectors: VectorBatch | None = None,
        segment_vectors: SegmentVectors | None = None,
        receipt: Receipt | None = None,
    ) -> Change:
        """Write the next change and all that it derives, if the owner still stands at `revision`; with it the receipt
        of the call that made it.

        Raises StaleLease if the lease no longer holds, RevisionMoved if another change came first.
        """

    def changes(
        self,
        owner_id: OwnerId,
        *,
        since: int | datetime = 0,
        before: int | None = None,
        limit: int | None = None,
        causes: Collection[Cause] | None = None,
        naming: str | None = None,
        kinds: Collection[type[Decision]] | None = None,
    ) -> tuple[Change, ...]:
        """Changes in order: the next `limit` after `since`, a number or the time by which others were recorded, or with
        `before` the last `limit` below it; those of some causes; those in whose decisions the id `naming` stands. With
        `kinds` each has its decisions of these kinds alone: the others are not even decoded."""

    def moment(self, owner_id: OwnerId, as_of: datetime) -> Moment:
        """Where the logs stood at a time: the seq and revision of the last utterance and the last change recorded at or
        before it; 0 and 0 before the first. Where clocks disagreed, the time counts, not the number.

        Raises InputError where what was derived by then was put away since (`rebuild --anew`).
        """


class MemoryReads(Protocol):
    """Derived memory, now and at any moment."""

    def pages(
        self,
        owner_id: OwnerId,
        short: int,
        *,
        moment: Moment = NOW,
        tier: Tier | None = None,
        ids: Collection[PageId] | None = None,
        thread: ThreadId | None = None,
        segment: SegmentId | None = None,
        said_before: datetime | None = None,
        after: int | None = None,
        before: int | None = None,
        limit: int | None = None,
        within: Within | None = None,
        documents: bool = False,
    ) -> tuple[Page, ...]:
        """Pages in order: those of a tier (short-term memory has `short` pages), of some ids, of a thread, of a
        segment, wholly said before a time; the newest `limit` of those with a number above `after` and below `before`.
        At a moment, each has what of it was said by then. Passages of documents are among them only with `documents`,
        by their ids, or by their thread."""

    def segments(
        self,
        owner_id: OwnerId,
        *,
        moment: Moment = NOW,
        archived: bool | None = None,
        ids: Collection[SegmentId] | None = None,
    ) -> tuple[Segment, ...]:
        """Segments, all or those of some ids, with their pages and sources, oldest first. At a moment, without vectors
        and counters; with `valid_at` those of which something was said by then, with those pages, and with the newest
        summary that tells of nothing later, an empty one where there is none."""

    def segment_words(self, owner_id: OwnerId) -> Sequence[tuple[str, ...]]:
        """`Segment.counted` of every segment, and nothing else of them."""

    def chains(
        self, owner_id: OwnerId, *, moment: Moment = NOW, ids: Collection[ChainId] | None = None
    ) -> tuple[Chain, ...]:
        """Chains with their pages; those of some ids, among them such as lost their pages to others. With `valid_at` as
        `segments`."""

    def persona(self, owner_id: OwnerId, moment: Moment = NOW, selection: FactSelection = HELD) -> Persona:
        """Profiles, traits and the facts that are held, or those of a selection. With `valid_at`: the traits and lines
        as the newest change that reaches back to then says, and the facts that were true."""

    def facts(self, owner_id: OwnerId, selection: FactSelection = HELD, moment: Moment = NOW) -> tuple[Fact, ...]:
        """Facts, the most recently confirmed last."""

    def expired(self, owner_id: OwnerId, now: datetime) -> tuple[frozenset[PageId], frozenset[int]]:
        """Pages that have expired and are still there, and the seqs of their utterances. One indexed read where there
        are none."""


class WorkingSetSource(Protocol):
    """The data of an owner's index, and what is new since its last update."""

    def delta(self, owner_id: OwnerId, seq: int, revision: int, embedder: str, dim: int, mark: str = "") -> Delta: ...

    def segment_timeline(self, owner_id: OwnerId, *, summaries: bool = False) -> SegmentTimeline:
        """All versions of what a recall looks at of segments: any moment is a choice among them. With `summaries`, for
        those whose vectors are of these."""

    def persona_timeline(self, owner_id: OwnerId) -> PersonaTimeline:
        """The same of facts, traits and profiles."""


class IndexFiles(Protocol):
    """Where owners' indexes are kept in files, as a cache: any may be removed at any time."""

    def file(self, owner_id: OwnerId) -> Path | None:
        """Where an owner's file is, if there is one; None where none are kept."""

    def drop(self, owner_id: OwnerId) -> None:
        """Remove an owner's file, which is of no use any more; where it cannot be removed, it stays."""

    def keep(self, owner_id: OwnerId, standing: Standing, write: Callable[[BinaryIO], None]) -> bool:
        """Put the file that `write` makes in place of an owner's, if what stands at these numbers is what it was made
        of: nothing was forgotten since, and the store is no other copy. Whether it is there; where the folder cannot be
        written, that is logged once. Raises StoreError."""


class WorkQueue(Protocol):
    """Owners with due work, and the leases of workers."""

    def due(self, now: datetime, limit: int, *, lease_s: float = ...) -> tuple[Owner, ...]:
        """Owners with work to do whom no one holds, the longest waiting first. `lease_s` is how long leases are: one
        that ends much later does not hold, as for `claim`."""

    def claim(self, owner_id: OwnerId, by: str, now: datetime, seconds: float) -> Lease | None:
        """The owner's lease, or None while another holds it.

        A lease that ends more than twice `seconds` ahead was given by a clock that runs ahead, and does not hold.
        """

    def renew(self, lease: Lease, now: datetime, seconds: float) -> None:
        """A sign of life. Raises StaleLease."""

    def release(self, lease: Lease, *, due_at: datetime | None, error: str | None) -> None:
        """Give the lease back, and say when the owner is due again.

        Where something came in since the claim, the owner is due since then, unless the work failed (`error`): then it
        waits until `due_at`, whatever comes in. A stale lease is ignored.
        """


class PageWork(Protocol):
    """The reads of consolidation, and pages that it postpones."""

    def pages_to_read(self, owner_id: OwnerId, selection: PagesToRead) -> tuple[NotedPage, ...]:
        """The pages that a step works on, oldest first, with their vectors."""

    def backlog(
        self,
        owner_id: OwnerId,
        short: int,
        *,
        now: datetime,
        vectors_of: str,
        analyst: str | None = None,
        retry_after: datetime | None = None,
        quiet_s: float | None = None,
    ) -> Backlog:
        """What waits of an owner's work. Segments whose vectors are not of the kind `vectors_of` (`SegmentVectors`) are
        stale. Without an `analyst` named, nothing is to be read again; of pages that failed only those count that wait
        until later than `retry_after`, if it is given; without `quiet_s` open pages wait for no time."""

    def postpone(
        self,
        lease: Lease,
        page_ids: Sequence[PageId],
        error: str,
        until: datetime,
        *,
        tried: bool = True,
        redo: bool = False,
    ) -> None:
        """Pages wait until a time to be read, or with `redo` to be read again: an analyst failed on them, with this
        error. Not `tried`: it was not asked, and no attempt is counted."""

    def tails(self, owner_id: OwnerId, before: Mapping[ThreadId, int]) -> Mapping[ThreadId, ChainTail]:
        """For each thread the newest read page with a number below the one named, and its chain."""

    def segment_states(self, owner_id: OwnerId) -> tuple[SegmentState, ...]:
        """The segments of mid-term memory (not the archive), oldest first."""

    def uses(self, owner_id: OwnerId) -> tuple[Use, ...]:
        """How each held fact, and each segment of mid-term memory (without its pages), was used."""


class Marks(Protocol):
    """Counters and settings that change without a decision."""

    def visit(self, owner_id: OwnerId, counts: Mapping[ItemId, int], now: datetime) -> None:
        """Count visits of segments and facts; the owner is due, since heat may have passed τ. The next change says it
        (changes.Visited)."""

    def expire_page(
        self, owner: Owner, page_id: PageId, at: datetime | None, now: datetime, receipt: Receipt | None = None
    ) -> bool:
        """When a page expires from now on (None: never). False for no such page. Readers are told, and it is due."""


class Forgetting(Protocol):
    """Permanent deletion, and the recognition of deleted content."""

    def trail(
        self,
        owner_id: OwnerId,
        pages: Sequence[Page],
        facts: Collection[FactId],
        *,
        said: Collection[tuple[str, str]],
        probes: Collection[str],
        verbatim: Collection[str],
    ) -> Trail:
        """What the log says of pages and facts. `said` are attributes and values whose every proposal is meant,
        `probes` texts that give a page away in a summary, `verbatim` the analysts whose every text says what it was
        taken from: where another wrote of the pages, all changes since they were read are given."""

    def alone_with(self, owner_id: OwnerId) -> AbstractContextManager[None]:
        """Within it this thread reads and writes in one transaction, and nobody else writes of the owner."""

    def forget(
        self, owner: Owner, erasure: Erasure, *, now: datetime, revision: int, receipt: Receipt | None = None
    ) -> Change:
        """Take out of both logs what is to be forgotten, bring the tables to what the logs now say, and write the
        change that says so, with the receipt of the call.

        One transaction; it remembers that a scrub is due. Counters, vectors and waits of what stays are kept. Raises
        RevisionMoved if another change came first, or if a page that is to go has grown.
        """

    def forget_owner(self, owner_id: OwnerId, now: datetime) -> None:
        """Delete every row of an owner, in one transaction; it remembers that a scrub is due. Of one that there is not,
        delete the lines of the ledger.

        Keyed hashes of the messages and of the keys of `add` are kept apart, so that `append` stores neither again.
        """

    def wipe(self, ids: Collection[str] = ()) -> Wiped:
        """Bring the store's files to where they hold no byte of what was deleted, where something was and that holds
        others up for a moment at most; else it stays due. `backups` are those that hold one of the ids."""

    def remains(self, owner_id: OwnerId, forgotten: Forgotten) -> Remains:
        """The places where content that a receipt names as forgotten is still found."""

    def barred(self, owner_id: OwnerId, texts: Collection[str]) -> frozenset[str]:
        """Those of the texts that were forgotten before."""

    def secret(self) -> bytes:
        """The key of what the store keeps as keyed hashes. It lies outside the database; made when it is first asked
        for, and its mark remembered. Raises ForgottenKeyLost where the key of that mark is not there any more."""


class UsageLog(Protocol):
    """The log of model calls."""

    def begin_call(self, owner: Owner, call: Call, limits: Limits) -> None:
        """Write a call as "started", with its tokens estimated, if the day's limits have room for it.

        One transaction, so that no number of processes goes over a limit. Raises BudgetSpent.
        """

    def end_call(self, call: Call) -> None:
        """What came of a call that was begun."""


class KeyStore(Protocol):
    """The keys of the service, as far as requests need them."""

    def key(self, key_id: str) -> ApiKey | None:
        """One key of the service, by one indexed read; they belong to no owner."""


class History(ConversationLog, ChangeLog, MemoryReads, Protocol):
    """Both logs, and what is derived from them."""


class Store(History, WorkingSetSource, WorkQueue, PageWork, Marks, Forgetting, Protocol):
    """The store of MemoryOS, with both logs and everything derived from them.

    Every method names one owner, but for `due` and `wipe`. Each call is one transaction. Every failure is a StoreError.
    Methods for its operator are in `embermem.store.admin`.
    """

    @property
    def index_files(self) -> IndexFiles:
        """Where its owners' indexes are kept."""
