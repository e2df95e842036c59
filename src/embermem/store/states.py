"""The states of owners, held in memory: each is folded from a checkpoint and the changes after it, and kept for the
next who asks. What another process changed, or forgot, is seen before the next read: the owner's row has the number of
the last change, and of the last one that readers must begin anew after.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, func, select
from sqlalchemy.engine import Connection

from embermem.core.changes import BegunAnew, Change, Item, set_by
from embermem.core.errors import RevisionMoved
from embermem.core.state import (
    PERSONA_KINDS,
    TOPIC_KINDS,
    FactHistory,
    FactState,
    PersonaMoment,
    PersonaState,
    TopicMoment,
    TopicState,
)
from embermem.core.types import About, OwnerId
from embermem.store import checkpoints, schema
from embermem.store.codec import micros
from embermem.store.engines.database import Database
from embermem.store.projector import Texts
from embermem.store.queries.changes import parts
from embermem.store.transactions import Transactions

__all__ = ["Held", "Known", "States", "counted", "counted_after", "folded", "folded_anew"]

_MOST = 200_000
"""Facts, and changes that say something of the persona or of topics, of all states that are held, at most (some 600
bytes each); the states that were asked for longest ago leave first."""
_ALONE = 20
"""What a state with none counts as."""
_ALL_KINDS = PERSONA_KINDS | TOPIC_KINDS
_TEXTS = 256
"""Texts of segments that are held of an owner, at most."""
_RECENT = 64
"""Changes of which it is known when they were recorded."""

_owner, _change = schema.owner.c, schema.change.c


def _recorded(no: Any) -> Any:
    at = select(_change.recorded_at).where(_change.owner_id == bindparam("owner"), _change.no == no)
    return at.scalar_subquery()


_HOW_FAR = select(
    _owner.revision,
    _owner.reset_no,
    _owner.created_at,
    _recorded(bindparam("no")).label("there"),
    _recorded(_owner.revision).label("last"),
).where(_owner.owner_id == bindparam("owner"))
"""Made once, because each read asks it first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Held:
    """What is held of one owner: a state, and what tells whether it still is that of the log."""

    state: PersonaState = field(default_factory=PersonaState)
    topics: TopicState | None = None
    """As far as `state`; None where nobody has asked for them."""
    born: int = 0
    """When the owner began, which tells it from one of the same name that was forgotten."""
    reset: int = 0
    """The last change that readers must begin anew after, as of `state.no`."""
    recent: Mapping[int, int] = field(default_factory=dict)
    """When the last changes were recorded, by number, which tells them from those of another copy of the database."""
    checkpoint: int = 0
    """The number of the checkpoint that it was read from, or that was written of it."""
    later: tuple[Change, ...] = ()
    """What the changes that were folded after it say of the persona."""
    verbatim: int = 0
    """The change up to which every analyst was verbatim."""
    texts: Texts = field(default_factory=dict)
    """Texts of segments that this process wrote last: whoever lets one grow need not read it."""

    def after(self, change: Change, *, reset: bool = False) -> Held:
        """The same after the next change; `reset`: readers must begin anew after it."""
        told = checkpoints.persona_only(change)
        return replace(
            self,
            state=self.state.extended([told], change.no),
            topics=None if self.topics is None else self.topics.extended([change], change.no),
            reset=change.no if reset else self.reset,
            recent=_recent(self.recent, [change]),
            texts={} if reset else self.texts,
            later=(*self.later, told) if told.decisions else self.later,
        )

    def redacted(self, pairs: Sequence[tuple[Change, Change]]) -> Held:
        """The same of the log in which the second of each pair stands in place of the first."""
        now = {after.no: checkpoints.persona_only(after) for _, after in pairs}
        later = (now.get(one.no, one) for one in self.later)
        return replace(
            self,
            state=self.state.redacted(pairs),
            topics=None if self.topics is None else self.topics.redacted(pairs),
            later=tuple(one for one in later if one.decisions),
            texts={},
        )

    def with_texts(self, texts: Texts) -> Held:
        """The same with new texts, of which the last few are kept."""
        return replace(self, texts=dict([*(self.texts | texts).items()][-_TEXTS:])) if texts else self


@dataclass(frozen=True, kw_only=True, slots=True)
class Known:
    """A state as a transaction sees it."""

    owner_id: OwnerId
    held: Held
    no: int

    @property
    def newest(self) -> PersonaMoment:
        """What was known after the last change."""
        return self.held.state.at(self.no)

    def at(self, no: int | None) -> PersonaMoment:
        """What was known after a change; None: the last."""
        return self.held.state.at(self.no if no is None else min(no, self.no))

    @property
    def topics(self) -> TopicState:
        """The topics, which were asked for."""
        assert self.held.topics is not None
        return self.held.topics

    def topics_at(self, no: int | None = None) -> TopicMoment:
        """The topics after a change; None: the last."""
        return self.topics.at(self.no if no is None else min(no, self.no))


class States(Transactions):
    """Readers of states."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._states: dict[OwnerId, Held] = {}
        self._held = 0
        """What all states count as."""
        self._states_lock = threading.Lock()

    def _known(self, c: Connection, owner_id: OwnerId, *, topics: bool = False, locked: bool = False) -> Known:
        """An owner's state, as far as the log is in this transaction, with `topics` where they are asked for; `locked`:
        it holds the owner's row, so nobody has folded more than it sees.

        A transaction that sees less than another has folded meanwhile reads the same state at its own number. A state
        of another log is not read: the owner was forgotten whole, something was forgotten or begun anew, or the
        database was replaced by another copy.
        """
        with self._states_lock:
            held = self._states.get(owner_id, Held())
        row = c.execute(_HOW_FAR, {"owner": owner_id, "no": held.state.no}).first()
        if row is None:
            self._hold(owner_id, held, None)
            return Known(owner_id=owner_id, held=Held(topics=TopicState()), no=0)
        before, no = held, held.state.no
        same = (row.created_at, row.reset_no) == (held.born, held.reset) and (
            held.recent.get(no) == row.there if no < row.revision else held.recent.get(row.revision) == row.last
        )
        if not same or (locked and row.revision < no):
            held = Held(born=row.created_at, reset=row.reset_no)
        if row.revision > held.state.no:
            held = _caught_up(c, owner_id, held, row.revision, row.last)
        if topics and held.topics is None:
            held = replace(held, topics=_topics(c, owner_id, min(held.state.no, row.revision)))
        if locked or row.revision >= no:  # else others see more than this transaction
            self._hold(owner_id, before, held)
        return Known(owner_id=owner_id, held=held, no=row.revision)

    def _standing(
        self, c: Connection, owner_id: OwnerId, revision: int, born: datetime | None, *, topics: bool = False
    ) -> Known:
        """The state of an owner whose row is held, at the revision that something was decided by; `born`: when the
        owner began of whom it was. Raises RevisionMoved."""
        known = self._known(c, owner_id, topics=topics, locked=True)
        if known.no != revision:
            raise RevisionMoved(f"the owner stands at change {known.no}, not at {revision}")
        if born is not None and known.held.born != micros(born):
            raise RevisionMoved("the owner was forgotten meanwhile, and is another now")
        return known

    def _let_go(self, owner_id: OwnerId) -> None:
        """Hold nothing of an owner: the next who asks reads it."""
        with self._states_lock:
            self._drop(owner_id)

    def _hold(self, owner_id: OwnerId, before: Held, now: Held | None) -> None:
        """Keep an owner's state in place of the one before, unless another has put its own there meanwhile. What is not
        committed yet (`alone_with`) is for nobody else, and is read again."""
        if self._asked.held is not None:
            return
        with self._states_lock:
            if self._states.get(owner_id, before) is not before:
                return
            self._drop(owner_id)
            if now is None:
                return
            self._states[owner_id] = now
            self._held += _count(now)
            while self._held > _MOST and len(self._states) > 1:
                self._drop(next(iter(self._states)))

    def _drop(self, owner_id: OwnerId) -> None:
        if (held := self._states.pop(owner_id, None)) is not None:
            self._held -= _count(held)


def _count(held: Held) -> int:
    of_topics = 0 if held.topics is None else len(held.topics.recorded)
    return _ALONE + len(held.state.facts) + len(held.state.recorded) + of_topics


def folded(c: Connection, owner_id: OwnerId) -> Known:
    """An owner's state from the log alone, which may hold what is not committed: nothing is kept of it."""
    row = c.execute(_HOW_FAR, {"owner": owner_id, "no": 0}).first()
    if row is None:
        return Known(owner_id=owner_id, held=Held(topics=TopicState()), no=0)
    held = Held(born=row.created_at, reset=row.reset_no, topics=TopicState())
    held = _caught_up(c, owner_id, held, row.revision, row.last, believe=False)
    return Known(owner_id=owner_id, held=held, no=row.revision)


def folded_anew(c: Connection, owner_id: OwnerId) -> PersonaState:
    """The same, with a checkpoint made of it in place of the one that is there."""
    known = folded(c, owner_id)
    checkpoints.drop(c, owner_id)
    if known.no >= checkpoints.EVERY:
        checkpoints.write(c, owner_id, 0, known.held.later, known.no, known.topics)
    return known.held.state


def counted(state: PersonaState) -> dict[str, int | None]:
    """The columns of an owner's row that say what lists over all owners show of a state."""
    standing = [(fact.added.about, held) for fact, held in state.at().facts() if held.ended_no is None]
    facts = sum(about is About.USER and held.archived_no is None for about, held in standing)
    expiring = [held.expires_at for _, held in standing if held.expires_at is not None]
    return {"facts": facts or None, "fact_expires_at": micros(min(expiring)) if expiring else None}


def counted_after(before: PersonaState, after: PersonaState, change: Change) -> dict[str, Any]:
    """The same after a change; only the facts that it names are counted."""
    if any(isinstance(one, BegunAnew) for one in change.decisions):
        return counted(after)
    more, expiring = 0, False
    for fact_id in {which[1][0] for one in change.decisions if (which := set_by(one)) and which[0] is Item.FACT}:
        was, now = before.at().fact(fact_id), after.at().fact(fact_id)
        if now is None:
            continue
        is_users = now[0].added.about is About.USER
        more += is_users * (now[1].is_current - (was is not None and was[1].is_current))
        expiring = expiring or _expiry(was) != _expiry(now)
    if expiring:
        return counted(after)
    return {"facts": func.coalesce(_owner.facts, 0) + more} if more else {}


def _expiry(one: tuple[FactHistory, FactState] | None) -> datetime | None:
    return None if one is None or one[1].ended_no is not None else one[1].expires_at


@contextmanager
def _without_collecting() -> Iterator[None]:
    """While much is decoded that stays, the garbage collector would look at all of it several times."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


@_without_collecting()
def _caught_up(
    c: Connection, owner_id: OwnerId, held: Held, revision: int, last: int | None, *, believe: bool = True
) -> Held:
    """A state with the changes up to `revision`, which was recorded at `last`, read from the log; one that holds
    nothing is read from the checkpoint first, if that is to be believed."""
    state, topics, checkpoint, later = held.state, held.topics, held.checkpoint, [*held.later]
    if state.no == 0 and believe:
        checkpoint, kept = checkpoints.load(c, owner_id, revision)
        state = PersonaState(kept).extended((), checkpoint)
        topics = None  # those of no change are not those of the checkpoint
    fresh: list[Change] = []
    recent = held.recent
    for some in parts(c, owner_id, state.no, revision, kinds=PERSONA_KINDS if topics is None else _ALL_KINDS):
        recent = _recent(recent, some)
        topics = None if topics is None else topics.extended(some)
        fresh += [told for one in some if (told := checkpoints.persona_only(one)).decisions]
    if not recent and last is not None:  # the checkpoint was as new
        recent = {revision: last}
    return replace(
        held,
        state=state.extended(fresh, revision),
        topics=None if topics is None else topics.extended((), revision),
        recent=recent,
        checkpoint=checkpoint,
        later=(*later, *fresh),
    )


@_without_collecting()
def _topics(c: Connection, owner_id: OwnerId, upto: int) -> TopicState:
    """Topics after change `upto`, from the checkpoint and the changes after it."""
    found = checkpoints.load_topics(c, owner_id, upto)
    for some in parts(c, owner_id, found.no, upto, kinds=TOPIC_KINDS):
        found = found.extended(some)
    return found.extended((), upto)


def _recent(known: Mapping[int, int], some: Sequence[Change]) -> Mapping[int, int]:
    last = {one.no: micros(one.recorded_at) for one in some[-_RECENT:]}
    return dict([*known.items(), *last.items()][-_RECENT:])
