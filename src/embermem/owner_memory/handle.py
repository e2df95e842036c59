"""What the parts of an owner's memory share: the owner, the store, and how a caller's change is made."""

from __future__ import annotations

import hashlib
import json
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from embermem import telemetry
from embermem.core import messages, sensitive
from embermem.core.changes import Cause, Decision
from embermem.core.errors import ConfigError, NotFound
from embermem.core.messages import At
from embermem.core.revisions import decided_anew
from embermem.core.types import Owner
from embermem.core.user_overrides import kept_settled
from embermem.owner_memory.scoped import InScope, in_scope
from embermem.protocols import NOW, Asker, Moment, OwnerState, Receipt, Store

if TYPE_CHECKING:
    from embermem.core.config import Settings
    from embermem.core.sensitive import Finder
    from embermem.core.types import OwnerId, Scope
    from embermem.memoryos.people import People
    from embermem.memoryos.system import MemoryOS
    from embermem.store.sql import Administration

logger = logging.getLogger(__name__)

PEOPLE_KEPT = 16
"""Memories of which it is kept whom they know: to work it out takes 45 ms at 5,000 facts, and most reads ask for it."""


@dataclass(kw_only=True, slots=True)
class Parts:
    """What a memory works with. The memory and all of its handles share one object, because a reindex replaces
    `system`. `admin` is the same store with the methods for its operator. `added` tells the background thread about new
    work; `deleted` has it scrub the file, or does so where none runs; `copied` returns a store and a system with a copy
    of one owner's memory that writes to no file; `before_work` replaces `system` if the store has another embedder by
    now, or is to get a better one, and makes ready what waits for another analyst."""

    settings: Settings
    read_only: bool
    clock: Callable[[], datetime]
    finders: tuple[Finder, ...]
    nonce_key: Callable[[], bytes]
    store: Store
    admin: Administration
    system: MemoryOS
    asker: Asker | None
    done: telemetry.Done
    added: Callable[[], None]
    deleted: Callable[[], None]
    copied: Callable[[Owner], AbstractContextManager[tuple[Store, MemoryOS]]]
    before_work: Callable[[], None]
    people: dict[tuple[OwnerId, int | None], tuple[tuple[OwnerState | None, str], People]] = field(default_factory=dict)
    """Whom the memories read last knew, now (None) or by a revision, and in which state of theirs; at most
    `PEOPLE_KEPT`, the newest last."""


@dataclass(kw_only=True, slots=True)
class Once:
    """A call with an idempotency key: the digest of what it was given, and what of its result does not follow from the
    number of its change (`protocols.Receipt`)."""

    key: str
    digest: str
    result: str | None = None

    def receipt(self, change_no: int) -> Receipt:
        """The receipt of the call, once it is done."""
        return Receipt(key=self.key, digest=self.digest, change_no=change_no, result=self.result)


class Handle:
    """One owner of one memory. `shared` are handles of the spaces that it is bound with, by name; `elsewhere` is one of
    what another agent knows of the user."""

    def __init__(
        self, parts: Parts, owner: Owner, shared: Mapping[str, Any] = MappingProxyType({}), elsewhere: Any = None
    ) -> None:
        self.owner = owner
        self._shared = MappingProxyType(dict(shared))
        self._elsewhere = elsewhere
        self._parts = parts
        self._watch = telemetry.Watch(store_id=owner.id, trace_text=parts.settings.trace_text, done=parts.done)

    @property
    def _store(self) -> Store:
        return self._parts.store

    def _speaks_as(self) -> Owner:
        """Who says what is added here without a name."""
        return self.owner

    def _inbox(self, *, zoned: bool = False) -> messages.Inbox:
        """How what callers give is read. `zoned`: all times have a zone of their own, and the owner's is not read."""
        state = None if zoned else self._store.log.owner_state(self.owner.id)
        settings = self._parts.settings
        zone = settings.timezone if state is None or state.timezone is None else state.timezone
        return messages.Inbox(
            owner=self._speaks_as(),
            zone=zone_of(zone),
            now=self._parts.clock(),
            max_chars=settings.max_text_chars,
            nonce_key=self._parts.nonce_key,
            finders=self._parts.finders,
        )

    def _clean(self, **texts: str) -> list[str]:
        """Texts of a caller without what is sensitive in them, told by their names. Raises InputError."""
        left = sensitive.redacted(list(texts.values()), self._parts.finders, list(texts))
        self._tell_of([place.kind for one in left for place in one.places])
        return [one.text for one in left]

    def _tell_of(self, kinds: Sequence[str]) -> None:
        """What was taken out, and not of what."""
        if kinds:
            told = ", ".join(f"{count} {kind}" for kind, count in sorted(Counter(kinds).items()))
            logger.warning("taken out of what %s/%s was given: %s", self.owner.user, self.owner.agent, told)

    def _moment(self, as_of: At, valid_at: At = None, inbox: messages.Inbox | None = None) -> Moment:
        """What a read goes by that asks what was known or true at a time, or now. Raises InputError for what is no
        time, and for an `as_of` of which nothing derived is kept."""
        if as_of is None and valid_at is None:
            return NOW
        if inbox is None:
            inbox = self._inbox(zoned=all(_has_zone(one) for one in (as_of, valid_at) if one is not None))
        known = NOW if as_of is None else self._store.change_log.moment(self.owner.id, inbox.moment(as_of, "as_of"))
        return known if valid_at is None else replace(known, valid_at=inbox.moment(valid_at, "valid_at"))

    def _at(self, as_of: At) -> datetime:
        """A time that a caller gives; None: now."""
        return self._inbox(zoned=as_of is None or _has_zone(as_of)).moment(as_of, "as_of")

    def _in_scope(self, scope: Scope | None, moment: Moment) -> InScope | None:
        """What a scope lets a list show; None where it leaves nothing out."""
        if scope is None or scope.is_whole:
            return None
        short, zone = self._parts.settings.short_term_pages, self._inbox().zone
        return in_scope(self._store.reads, self.owner, scope, zone=zone, short=short, moment=moment)

    def _drop_people(self) -> None:
        """Keep nothing of whom this memory knew."""
        for key in [key for key in self._parts.people if key[0] == self.owner.id]:
            self._parts.people.pop(key, None)

    def _none_such(self, kind: str, item_id: str) -> NotFound:
        return NotFound(f"no {kind} {item_id!r} of {self.owner}")

    def _once(self, key: str | None, call: str, *given: object) -> Once | None:
        """A call with its key and what it was given; None without a key. Raises InputError for what is no key."""
        if key is None:
            return None
        messages.idempotency_key(key)
        said = json.dumps([call, *given], default=str, sort_keys=True)
        return Once(key=key, digest=hashlib.blake2b(said.encode(), digest_size=32).hexdigest())

    def _done_before(self, once: Once | None) -> int | None:
        """The number of the change that this call made before, and `once` with its result; None if it was not made.
        Raises KeyReused."""
        known = None if once is None else self._parts.admin.receipt(self.owner.id, once.key, once.digest)
        if once is None or known is None:
            return None
        once.result = known.result
        return known.change_no

    def _changing(
        self,
        cause: Cause,
        decided: Callable[[int, int], Sequence[Decision]],
        analyst: str = "",
        *,
        once: Once | None = None,
    ) -> int:
        """The number of a change by the caller, 0 if there is nothing to change; if another came first, it is decided
        again. What is decided may name the change's number, and the seq of the newest utterance. What was done `once`
        is not done again: the number is that of its change then."""
        from embermem.memoryos.conflicts import settled

        def change() -> int:
            if (before := self._done_before(once)) is not None:
                return before
            state = self._store.log.owner_state(self.owner.id)
            revision, seq, born = (0, 0, None) if state is None else (state.revision, state.seq, state.created_at)
            decisions = decided(revision + 1, seq)
            decisions = [*decisions, *kept_settled(decisions, partial(settled, self._store.change_log, self.owner.id))]
            now = self._parts.clock()
            if not decisions:
                if once is not None:
                    self._parts.admin.keep_receipt(self.owner, once.receipt(0), now)
                return 0
            return self._store.change_log.apply(
                self.owner,
                cause,
                analyst,
                decisions,
                now=now,
                revision=revision,
                lease=None,
                born=born,
                receipt=None if once is None else once.receipt(revision + 1),
            ).no

        return decided_anew(change, partial(self._store.forgetting.alone_with, self.owner.id))


def zone_of(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError, TypeError) as error:
        raise ConfigError(f"timezone = {name!r} is not an IANA time zone such as Europe/Paris") from error


def _has_zone(at: At) -> bool:
    return isinstance(at, datetime) and at.utcoffset() is not None
