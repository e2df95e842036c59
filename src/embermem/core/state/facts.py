"""The facts of a state: what each says, which never changes, and how it stands, which does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import assert_never

from embermem.core.changes import (
    FactAdded,
    FactArchived,
    FactExpires,
    FactPinned,
    FactRestored,
    FactRetired,
    FactStrengthened,
)
from embermem.core.types import FactId, Source

__all__ = ["FactHistory", "FactMove", "FactState", "Facts", "sorted_sources"]

FactMove = FactStrengthened | FactRetired | FactArchived | FactRestored | FactPinned | FactExpires


@dataclass(frozen=True, kw_only=True, slots=True)
class FactState:
    """How a fact stands: the numbers of the changes that last confirmed, archived and ended it, and its validity."""

    confirmed_no: int
    archived_no: int | None = None
    ended_no: int | None = None
    superseded_by: FactId | None = None
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    pinned: bool = False

    @property
    def is_current(self) -> bool:
        """Whether it is neither ended nor archived."""
        return self.ended_no is None and self.archived_no is None


@dataclass(slots=True)
class FactHistory:
    """One fact: the decision that added it with the number of its change, and what happened to it since."""

    no: int
    added: FactAdded
    moves: list[tuple[int, FactMove]] = field(default_factory=list)

    def state_at(self, no: int) -> FactState | None:
        """How it stood after change `no`; None where it was not known yet."""
        return self._folded(no) if no >= self.no else None

    @property
    def last_no(self) -> int:
        """The change with which something happened to it last."""
        return self.moves[-1][0] if self.moves else self.no

    @property
    def now(self) -> FactState:
        """How it stands."""
        return self._folded(self.last_no)

    def _folded(self, upto: int) -> FactState:
        state, confirmed = FactState(confirmed_no=self.no, expires_at=self.added.expires_at), self.no
        for no, one in self.moves:
            if no > upto:
                break
            if isinstance(one, FactStrengthened):  # nearly all are
                confirmed = no
            else:
                state = moved(state, no, one)
        return state if confirmed == self.no else replace(state, confirmed_no=confirmed)

    @property
    def sources(self) -> Iterator[Source]:
        """What was ever said of it, in no order."""
        yield from self.added.sources
        for _, one in self.moves:
            if isinstance(one, FactStrengthened):
                yield from one.sources

    def rests_on(self, no: int) -> tuple[Source, ...]:
        """Its sources as of change `no`, each once: by the change that named them, then by their place."""
        found = dict.fromkeys(sorted_sources(self.added.sources))
        if self.moves:
            by_change: dict[int, list[Source]] = {self.no: [*self.added.sources]}
            for at, one in self.moves:
                if at <= no and isinstance(one, FactStrengthened):
                    by_change.setdefault(at, []).extend(one.sources)
            found = dict.fromkeys(source for some in by_change.values() for source in sorted_sources(some))
        return tuple(found)


def sorted_sources(sources: Sequence[Source]) -> tuple[Source, ...]:
    """Sources by their place, each once."""
    if len(sources) < 2:
        return tuple(sources)
    return tuple(sorted(set(sources), key=lambda one: (one.seq, one.start or 0, one.end or 0)))


class Facts:
    """All facts of an owner.

    What moves a fact counts once its change is whole, wherever it stands in it: a change may end a fact before it says
    which new one does so.
    """

    __slots__ = ("_moves", "_of", "_own")

    def __init__(self) -> None:
        self._of: dict[FactId, FactHistory] = {}
        self._own: set[FactId] = set()
        """The facts whose histories no other has (`copy`)."""
        self._moves: list[FactMove] = []

    def __iter__(self) -> Iterator[FactHistory]:
        return iter(self._of.values())

    def __len__(self) -> int:
        return len(self._of)

    def get(self, fact_id: str) -> FactHistory | None:
        """The fact of an id; None where there is none."""
        return self._of.get(FactId(fact_id))

    def add(self, no: int, one: FactAdded) -> None:
        """A fact is new, and current."""
        self._of[one.fact_id] = FactHistory(no, one)
        self._own.add(one.fact_id)

    def move(self, one: FactMove) -> None:
        """Something happens to a fact in the change that is being folded."""
        self._moves.append(one)

    def end_of_change(self, no: int) -> None:
        """Apply what the change moves. A fact that is not there is passed over: it was forgotten."""
        moves, self._moves = self._moves, []
        for one in moves:
            if (fact := self._of.get(one.fact_id)) is None:
                continue
            if one.fact_id not in self._own:
                self._own.add(one.fact_id)
                fact = self._of[one.fact_id] = FactHistory(fact.no, fact.added, [*fact.moves])
            fact.moves.append((no, one))

    def at(self, no: int) -> Iterator[tuple[FactHistory, FactState]]:
        """The facts that were known after change `no`, current or not, each as it stood then."""
        for fact in self:
            if (state := fact.state_at(no)) is not None:
                yield fact, state

    def copy(self) -> Facts:
        """The same facts. What is done to the copy this one does not see; it is not to be written to any more."""
        made = Facts()
        made._of = dict(self._of)
        return made

    def put(self, fact_id: FactId, events: Sequence[tuple[int, FactAdded | FactMove]]) -> None:
        """Tell a fact anew, by what happened to it in the order of the changes; without its beginning it is gone."""
        self._own.add(fact_id)
        made: FactHistory | None = None
        for no, one in sorted(events, key=lambda event: (event[0], not isinstance(event[1], FactAdded))):
            if isinstance(one, FactAdded):
                made = FactHistory(no, one)
            elif made is not None:
                made.moves.append((no, one))
        if made is None:
            self._of.pop(fact_id, None)
        else:
            self._of[fact_id] = made


_Ending = FactRetired | FactArchived | FactRestored | FactPinned | FactExpires


def moved(state: FactState, no: int, one: _Ending) -> FactState:
    """How a fact stands after something happened to it with change `no`."""
    match one:
        case FactRetired():
            return replace(state, ended_no=no, superseded_by=one.superseded_by, valid_to=one.valid_to)
        case FactArchived():
            return replace(state, archived_no=no)
        case FactRestored():
            return replace(state, ended_no=None, archived_no=None, superseded_by=None, valid_to=None)
        case FactPinned():
            return replace(state, pinned=one.pinned)
        case FactExpires():
            return replace(state, expires_at=one.at)
        case _:
            assert_never(one)
