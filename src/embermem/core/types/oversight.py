"""What those look at who run a store: the work on it, what its model cost, what leaves it, and its copies."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

from embermem.core.record import Record
from embermem.core.types.ids import Owner
from embermem.core.types.memories import Waiting
from embermem.core.types.webhooks import Webhook

__all__ = [
    "Background",
    "Backup",
    "Breaking",
    "CallSum",
    "CallsBy",
    "Copied",
    "ForgottenAt",
    "KeyState",
    "Leaving",
    "OwnerWaits",
    "OwnerWork",
    "Restored",
    "StoreWork",
]


class CallsBy(StrEnum):
    """What calls of a model are summed up by."""

    DAY = "day"
    PURPOSE = "purpose"
    MODEL = "model"
    OUTCOME = "outcome"
    OWNER = "owner"


@dataclass(frozen=True, kw_only=True, slots=True)
class CallSum(Record):
    """Calls of a model summed up: those of one day (UTC), purpose, model, outcome and owner, as far as it was asked for
    by these. `owner_id` may be of an owner who has no memory (any more): then there is no `owner`. `ms` are the
    milliseconds of all calls together, `slowest_ms` of the longest."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    ms: int
    slowest_ms: int
    day: date | None = None
    purpose: str | None = None
    model: str | None = None
    outcome: str | None = None
    owner_id: str | None = None
    owner: Owner | None = None

    @property
    def tokens(self) -> int:
        """Those of prompts and answers together."""
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, kw_only=True, slots=True)
class Breaking(Record):
    """The circuit breaker of this process: so many requests in a row failed; `until` is when the rest of an open one
    ends, None while it is closed."""

    failures: int
    until: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Background(Record):
    """The background thread of this process: whether it may run, whether it does, when it ended its work last, and
    what kind of error ended it, if one did."""

    on: bool
    running: bool
    worked_at: datetime | None
    failed: str


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnerWork(Record):
    """An owner and the work on them: when it is due, who does it and until when their lease holds, and, where it failed
    last, why and how often in a row."""

    owner: Owner
    due_at: datetime | None
    lease_by: str | None
    lease_until: datetime | None
    failures: int
    error: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnerWaits(Record):
    """An owner, and what of their pages waits for the model."""

    owner: Owner
    waiting: tuple[Waiting, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class StoreWork(Record):
    """The work on all owners of a store. `at_work` are owners whom a worker holds, `due` those who wait for one, the
    longest first, `failed` those whose work failed last, `waits` those whose pages wait for the model, `webhooks` those
    that are retrying or stopped: of each the first, and how many there are of all."""

    at_work: tuple[OwnerWork, ...]
    at_work_count: int
    due: tuple[OwnerWork, ...]
    due_count: int
    failed: tuple[OwnerWork, ...]
    failed_count: int
    waits: tuple[OwnerWaits, ...]
    waits_count: int
    webhooks: tuple[tuple[Owner, Webhook], ...]
    webhooks_count: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ForgottenAt(Record):
    """One forgetting, without content: whose, the number of its change, when, and how many pages, utterances and facts
    went."""

    owner: Owner
    no: int
    at: datetime
    pages: int
    utterances: int
    facts: int


class KeyState(StrEnum):
    """The key of forgotten values, beside the store: of no use yet, there, or not there though the store needs it."""

    UNUSED = "unused"
    THERE = "there"
    LOST = "lost"


@dataclass(frozen=True, kw_only=True, slots=True)
class Leaving(Record):
    """What leaves a store: pages and facts that have expired and wait for a worker, when the next expire, the newest
    forgettings, whether a scrub of the files is due, and the state and place of the key of forgotten values."""

    expired_pages: int
    expired_facts: int
    next_at: datetime | None
    forgotten: tuple[ForgottenAt, ...]
    forgotten_count: int
    scrub_due: bool
    key: KeyState
    key_place: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Backup(Record):
    """A backup that was made: its file, and when the store was read for it.

    `bytes` is the size of the file, `store_bytes` that of the store that it gives. An increment holds the pages that
    the backups before it hold otherwise; `after` is the one that it comes after, None for a whole store. `owners`,
    `utterances` and `changes` are counts of what it holds. `erased` changes with every forgetting: a backup with
    another one than the store has may hold what was forgotten since. `dropped` are older backups of the folder that
    were removed."""

    place: str
    at: datetime
    bytes: int
    store_bytes: int
    owners: int
    utterances: int
    changes: int
    schema: str
    sha256: str
    erased: str
    after: str | None = None
    dropped: tuple[str, ...] = ()

    @property
    def incremental(self) -> bool:
        """Whether it rests on others."""
        return self.after is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class Restored(Record):
    """A store that was made from a backup: its file, and the backup with the time at which the store was read for it.
    `known_at` is the time whose memory it holds, None for all of the backup's; `forgotten_later` counts forgettings
    after that time, whose content it does not hold either. `replaced` is where the store lies that was there before."""

    place: str
    backup: str
    backup_at: datetime | None
    owners: int
    utterances: int
    changes: int
    known_at: datetime | None = None
    forgotten_later: int = 0
    replaced: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Copied(Record):
    """A file that the store was copied or backed up to, or that a migration kept of it. `bytes` and `at` (when it was
    last written) are None where there is no such file any more. `holds_forgotten`: whether it holds something that was
    forgotten since, or may; None where that was not looked at. Of a backup, `backup_at` says when the store was read
    for it, `utterances` and `changes` how many it holds, and `increment` that it rests on others."""

    place: str
    bytes: int | None
    at: datetime | None
    of_migration: bool
    holds_forgotten: bool | None
    backup_at: datetime | None = None
    utterances: int | None = None
    changes: int | None = None
    increment: bool = False
