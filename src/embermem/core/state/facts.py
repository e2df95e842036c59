"""The facts of a state: what each says, which never changes, and how it stands, which does."""

from __future__ import annotations

from collections.abc import Iterator
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
from embermem.core.state.versions import Version, Versions
from embermem.core.types import FactId, Source

__all__ = ["FactHistory", "FactMove", "FactState", "Facts"]

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
    """One fact: the decision that added it with the number of its change, the versions of its state, and the utterances
    it rests on, by the change that named them."""

    no: int
    added: FactAdded
    sources: dict[int, tuple[Source, ...]] = field(default_factory=dict)

    def rests_on(self, no: int) -> tuple[Source, ...]:
        """Its sources as of change `no`, in order of arrival, each once."""
        found = {one for at, some in self.sources.items() if at <= no for one in some}
        return tuple(sorted(found, key=lambda one: (one.seq, one.start or 0, one.end or 0)))


class Facts:
    """All facts of an owner.

    What moves a fact counts once its change is whole, wherever it stands in it: a change may end a fact before it says
    which new one does so.
    """

    __slots__ = ("_moves", "_of", "_states")

    def __init__(self) -> None:
        self._of: dict[FactId, FactHistory] = {}
        self._states: Versions[FactId, FactState] = Versions()
        self._moves: list[FactMove] = []

    def __iter__(self) -> Iterator[FactId]:
        return iter(self._of)

    def add(self, no: int, one: FactAdded) -> None:
        """A fact is new, and current."""
        self._of[one.fact_id] = FactHistory(no, one, {no: one.sources})
        self._states.set(one.fact_id, no, FactState(confirmed_no=no, expires_at=one.expires_at))

    def move(self, one: FactMove) -> None:
        """Something happens to a fact in the change that is being folded."""
        self._moves.append(one)

    def end_of_change(self, no: int) -> None:
        """Apply what the change moves. A fact that is not there is passed over: it was forgotten."""
        moves, self._moves = self._moves, []
        for one in moves:
            fact, state = self._of.get(one.fact_id), self._states.get(one.fact_id, no)
            if fact is None or state is None:
                continue
            if isinstance(one, FactStrengthened):
                fact.sources[no] = (*fact.sources.get(no, ()), *one.sources)
            self._states.set(one.fact_id, no, _moved(state, no, one))

    def states(self, fact_id: FactId) -> tuple[Version[FactState], ...]:
        """All versions of a fact's state, oldest first."""
        return tuple(self._states.of(fact_id))

    def at(self, no: int) -> Iterator[tuple[FactHistory, FactState]]:
        """The facts that were known after change `no`, current or not, each as it stood then."""
        return ((self._of[fact_id], state) for fact_id, state in self._states.at(no))


def _moved(state: FactState, no: int, one: FactMove) -> FactState:
    match one:
        case FactStrengthened():
            return replace(state, confirmed_no=no)
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
