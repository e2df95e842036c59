"""The protocols of a store, one for each purpose, each with at most 15 methods."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
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
    Role,
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
    PersonaThen,
    Receipt,
    Remains,
    SegmentState,
    SegmentText,
    SegmentTimeline,
    SegmentVectors,
    Standing,
    Trail,
    Use,
    VectorBatch,
    Within,
)

if TYPE_CHECKING:
    from embermem.core.types import Vector

__all__ = [
    "ChangeLog",
    "ConversationLog",
    "Forgetting",
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
        self, owner_id: OwnerId, after_seq: int = 0, limit: int | None = None, *, within: Within | None = None
    ) -> tuple[Utterance, ...]:
        """The next `limit` utterances after a seq, in order; those in scope."""

    def utterances_by_id(self, owner_id: OwnerId, ids: Collection[UtteranceId]) -> tuple[Utterance, ...]:
        """Utterances with some ids, in order."""


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
        born: datetime | None = None,
        vectors: VectorBatch | None = None,
        segment_vectors: SegmentVectors | None = None,
        receipt: Receipt | None = None,
    ) -> Change:
        """Write the next change and all that it derives, if the owner still stands at `revision`; with it the receipt
        of the call that made it. What no lease guards names when the owner began of whom it was decided (`born`).

        Raises StaleLease if the lease no longer holds, RevisionMoved if another change came first, or if the owner was
        forgotten and is another now.
        """

    def changes(
        self,
        owner_id: OwnerId,
        since: int = 0,
        limit: int | None = None,
        *,
        causes: Collection[Cause] | None = None,
        kinds: Collection[type[Decision]] | None = None,
    ) -> tuple[Change, ...]:
        """The next `limit` changes after number `since`, in order; those of some causes. With `kinds` each has its
        decisions of these kinds alone: the others are not even decoded."""

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
        """The last `limit` changes with a number below `before`, in order; otherwise as `changes`."""

    def changes_naming(self, owner_id: OwnerId, item_id: str) -> tuple[Change, ...]:
        """The changes in whose decisions an id stands, in order."""

    def revision_at(self, owner_id: OwnerId, at: datetime) -> int:
        """The number of the last change recorded by a time; 0 before the first."""

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
        thread: ThreadId | None = None,
        segment: SegmentId | None = None,
        after: int | None = None,
        before: int | None = None,
        limit: int | None = None,
        within: Within | None = None,
    ) -> tuple[Page, ...]:
        """Pages in order: those of a tier (short-term memory has `short` pages), of a thread, of a segment; the newest
        `limit` of those with a number above `after` and below `before`. At a moment, each has what of it was said by
        then. Passages of documents are among them only by their thread."""

    def pages_by_id(
        self, owner_id: OwnerId, ids: Collection[PageId], short: int = 0, *, moment: Moment = NOW
    ) -> tuple[Page, ...]:
        """Pages of some ids, in order, passages of documents too."""

    def all_pages(self, owner_id: OwnerId) -> tuple[Page, ...]:
        """All pages, with the passages of documents."""

    def pages_said_before(self, owner_id: OwnerId, at: datetime) -> tuple[Page, ...]:
        """Pages wholly said before a time."""

    def pages_within(
        self, owner_id: OwnerId, within: Within, *, moment: Moment = NOW
    ) -> tuple[frozenset[PageId], frozenset[PageId]]:
        """The pages all of which is in scope, and those part of which is, passages of documents too."""

    def speakers(self, owner_id: OwnerId) -> frozenset[tuple[str, Role]]:
        """Everybody who said something, by name and role."""

    def seqs_within(
        self, owner_id: OwnerId, ids: Collection[UtteranceId], within: Within, *, moment: Moment = NOW
    ) -> frozenset[int]:
        """The seqs of those utterances of some ids that are in scope; `moment` says in which tier a page was."""

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

    def mark(self, owner_id: OwnerId, seq: int, revision: int) -> str:
        """The `Delta.mark` of what stands at (seq, revision)."""

    def segment_timeline(self, owner_id: OwnerId) -> SegmentTimeline:
        """All versions of what a recall looks at of segments, but for the words of their texts: any moment is a choice
        among them."""

    def segment_texts(self, owner_id: OwnerId, numbers: Mapping[SegmentId, int]) -> Mapping[SegmentId, SegmentText]:
        """The text of each of some segments that a change wrote, by the number of the change; without those that were
        forgotten meanwhile."""

    def persona_then(self, owner_id: OwnerId, moment: Moment) -> PersonaThen:
        """What a recall looks at of facts, traits and profiles at a moment."""


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

    def unread_pages(
        self, owner_id: OwnerId, short: int, *, open_too: bool, now: datetime, quiet_s: float | None, limit: int
    ) -> tuple[NotedPage, ...]:
        """The first pages with utterances that no analyst has read yet, all embedded. Open ones (not answered, not
        followed in their thread, in short-term memory of `short` pages) only with `open_too`, or if `now` nothing has
        joined them for `quiet_s`, and longer if they are long (QUIET_MESSAGES); None: never."""

    def pending_pages(self, owner_id: OwnerId, short: int, now: datetime, limit: int) -> tuple[NotedPage, ...]:
        """The first pages that left short-term memory of `short` pages, are read, have no segment and need not wait
        `now`: those before the first that is not read yet, or must wait."""

    def newest_pages(self, owner_id: OwnerId, segment_id: SegmentId, limit: int) -> tuple[NotedPage, ...]:
        """The newest pages of a segment, in order, without what their notes propose."""

    def unanalysed_pages(self, owner_id: OwnerId, segment_id: SegmentId) -> tuple[NotedPage, ...]:
        """The pages of a segment with something that is not analysed yet."""

    def pages_to_redo(
        self, owner_id: OwnerId, segment_id: SegmentId, now: datetime, limit: int
    ) -> tuple[NotedPage, ...]:
        """The first pages of a segment that the extractive analyst read last and that may be read again `now`; their
        `attempts` are those at reading them again."""

    def page_vectors(self, owner_id: OwnerId, segment_id: SegmentId) -> Sequence[Vector]:
        """The vectors of a segment's pages."""

    def backlog(
        self,
        owner_id: OwnerId,
        short: int,
        *,
        now: datetime,
        vectors_of: str,
        redo: bool = False,
        retry_after: datetime | None = None,
        quiet_s: float | None = None,
    ) -> Backlog:
        """What waits of an owner's work. Segments whose vectors are not of the kind `vectors_of` (`SegmentVectors`) are
        stale. With `redo`, what the extractive analyst read is to be read again; of pages that failed only those count
        that wait until later than `retry_after`, if it is given; without `quiet_s` open pages wait for no time."""

    def postpone(
        self, lease: Lease, page_ids: Sequence[PageId], error: str, until: datetime, *, tried: bool = True
    ) -> None:
        """Pages wait until a time to be read: an analyst failed on them, with this error. Not `tried`: it was not
        asked, and no attempt is counted."""

    def postpone_redo(
        self, lease: Lease, page_ids: Sequence[PageId], error: str, until: datetime, *, tried: bool = True
    ) -> None:
        """The same of pages that are to be read again."""

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
    ) -> Trail:
        """What the log says of pages and facts. `said` are attributes and values whose every proposal is meant,
        `probes` texts that give a page away in a summary. Where an analyst that is not verbatim (`is_verbatim`) wrote
        of the pages, all changes since they were read are given."""

    def alone_with(self, owner_id: OwnerId) -> AbstractContextManager[None]:
        """Within it this thread reads and writes in one transaction, and nobody else writes of the owner."""

    def forget(self, owner: Owner, erasure: Erasure, *, now: datetime, receipt: Receipt | None = None) -> Change:
        """Take out of both logs what is to be forgotten, bring the tables to what the logs now say, and write the
        change that says so, with the receipt of the call.

        One transaction; it remembers that a scrub is due. Counters, vectors and waits of what stays are kept. Raises
        RevisionMoved as `apply` does, or if a page that is to go has grown.
        """

    def forget_owner(self, owner_id: OwnerId, now: datetime) -> None:
        """Delete every row of an owner, in one transaction; it remembers that a scrub is due. Of one that there is not,
        delete the lines of the ledger.

        Keyed hashes of the messages and of the keys of `add` are kept apart, so that `append` stores neither again.
        """

    def wipe(self) -> bool:
        """Bring the store's files to where they hold no byte of what was deleted, where something was and that holds
        others up for a moment at most. False: it stays due."""

    def backups_holding(self, ids: Collection[str]) -> tuple[str, ...]:
        """The paths of backups and copies, as far as the store knows them, that hold one of some ids."""

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Store:
    """The store of MemoryOS by what is asked of it: both logs, and everything derived from them.

    Every method names one owner, but for `due` and `wipe`. Each call is one transaction. Every failure is a StoreError.
    Methods for its operator are in `embermem.store.admin`.
    """

    log: ConversationLog
    change_log: ChangeLog
    reads: MemoryReads
    index: WorkingSetSource
    index_files: IndexFiles
    queue: WorkQueue
    work: PageWork
    marks: Marks
    forgetting: Forgetting
