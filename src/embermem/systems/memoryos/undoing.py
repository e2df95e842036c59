"""Taking back what a change taught the persona. Decided from the log alone, so that doing it again gives the same."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from embermem.changes import (
    BegunAnew,
    Cause,
    Change,
    Decision,
    FactAdded,
    FactArchived,
    FactPinned,
    FactRestored,
    FactRetired,
    FactStrengthened,
    ProfileSet,
    TraitCleared,
    TraitSet,
    Undone,
)
from embermem.config import Settings
from embermem.errors import InputError, NotFound
from embermem.systems.memoryos.long_term import CALLER
from embermem.text import fold
from embermem.types import About, FactId

TEACHING = (
    BegunAnew,
    FactAdded,
    FactArchived,
    FactPinned,
    FactRestored,
    FactRetired,
    FactStrengthened,
    ProfileSet,
    TraitCleared,
    TraitSet,
    Undone,
)
"""The kinds of decisions that an undoing is decided by."""

_Key = tuple[str, ...]
"""What was set: ("fact", id), ("archived", id), ("pinned", id), ("trait", dimension), or ("profile", whose, name)."""
_State = FactAdded | FactRetired | TraitSet | ProfileSet | bool | None
"""What it was set to: a fact as it came in or was retired, whether it is archived or pinned, a trait, a line; None:
nothing."""


def undoing(log: Sequence[Change], no: int, settings: Settings) -> list[Decision]:
    """The decisions that take back what change `no` of an owner's whole log taught the persona. Each
    change of `log` holds at least its decisions of the kinds in `TEACHING`.

    Facts that it added are retired, as if they never held; those that it retired, superseded or moved to the archive
    hold again; traits and profile lines get what stood there before. What a later change built on is left alone: a fact
    that was said again or superseded since, a trait or line that was set since. Where more facts would hold than the
    cap allows, the oldest go to the archive. Undoing what undid a change restores it, and then it can be undone again.

    Raises NotFound for no such change, InputError where nothing is left to take back.
    """
    told = _Told(log)
    change = next((one for one in log if one.no == no), None)
    if change is None:
        raise NotFound(f"there is no change {no}")
    if no <= told.begun:
        raise InputError(f"change {told.begun} began memory anew: it and what was before cannot be undone")
    if change.cause is Cause.FORGETTING:
        raise InputError(f"what change {no} forgot is gone: it cannot be undone")
    if no in told.undone:
        raise InputError(f"change {no} was undone by change {told.undone[no]}; undo that one to restore it")
    keys = [key for key, states in told.states.items() if any(one.no == no for one in states)]
    if not keys:
        raise InputError(f"change {no} ({change.cause}) taught the persona nothing")
    back = {key: told.before(key, no) for key in keys if told.stands(key, no)}
    facts = list(dict.fromkeys(FactId(key[1]) for key in back if key[0] in ("fact", "archived")))
    decisions: list[Decision] = [d for fact_id in facts for d in told.fact_as_it_was(fact_id, back)]
    pins = {FactId(key[1]): bool(state) for key, state in back.items() if key[0] == "pinned"}
    decisions += [FactPinned(fact_id=fact_id, pinned=pinned) for fact_id, pinned in pins.items()]
    decisions += [_trait(key[1], state) for key, state in back.items() if key[0] == "trait"]
    decisions += [_line(key[1], key[2], state) for key, state in back.items() if key[0] == "profile"]
    if not decisions:
        raise InputError(f"nothing of change {no} ({change.cause}) can be taken back: later changes built on it")
    return [Undone(no=no), *decisions, *told.over_cap(decisions, settings)]


def settled(
    log: Sequence[Change], reopened: Collection[FactId], single: Callable[[str], bool], settings: Settings
) -> list[Decision]:
    """What makes an owner's log agree with itself where facts hold again: of an attribute that is `single` the latest
    value holds and ends the others, and no knowledge base is above its cap."""
    told = _Told(log)
    ended: list[Decision] = []
    groups = {_speaks_of(told.added[fact_id]) for fact_id in reopened if fact_id in told.added}
    for group in sorted(group for group in groups if single(group[-1])):
        held = [one for one in told.order if _speaks_of(told.added[one]) == group and told.is_true(one)]
        held.sort(key=told.since)
        for fact_id, after in pairwise(held):
            until = told.added[after].valid_from
            ended.append(FactRetired(fact_id=fact_id, superseded_by=after, valid_to=until))
    return [*ended, *told.over_cap(ended, settings)]


def _speaks_of(fact: FactAdded) -> tuple[str, str, str]:
    return fact.about.value, fold(fact.subject), fact.attribute


@dataclass(frozen=True, slots=True)
class _Set:
    """A state, the change that wrote it, and the change that it came with first: another one, if it was brought back
    (0: nothing was there before)."""

    no: int
    origin: int
    state: _State


class _Told:
    """What the log says of the persona: every state of everything that was set, oldest first."""

    def __init__(self, log: Iterable[Change]) -> None:
        self.states: dict[_Key, list[_Set]] = {}
        self.added: dict[FactId, FactAdded] = {}
        self.order: list[FactId] = []
        self.undone: dict[int, int] = {}
        self.begun = 0
        for change in log:
            self._read(change)

    def _read(self, change: Change) -> None:
        undoes = next((d.no for d in change.decisions if isinstance(d, Undone)), None)
        if undoes is not None:
            self.undone[undoes] = change.no
            for no in [no for no, by in self.undone.items() if by == undoes]:
                del self.undone[no]  # what was undone by a change that is undone now, stands again
        for d in change.decisions:
            match d:
                case BegunAnew():
                    self.states, self.added, self.order, self.undone = {}, {}, [], {}
                    self.begun = change.no
                case FactAdded():
                    self.added[d.fact_id] = d
                    self.order.append(d.fact_id)
                    self._set(change.no, undoes, ("fact", d.fact_id), d)
                case FactStrengthened():
                    self.order.remove(d.fact_id)
                    self.order.append(d.fact_id)
                    self._set(change.no, undoes, ("fact", d.fact_id), self.added[d.fact_id])
                case FactRetired():
                    self._set(change.no, undoes, ("fact", d.fact_id), d)
                case FactRestored():
                    self._set(change.no, undoes, ("fact", d.fact_id), self.added[d.fact_id])
                    self._set(change.no, undoes, ("archived", d.fact_id), False)
                case FactArchived():
                    self._set(change.no, undoes, ("archived", d.fact_id), True)
                case FactPinned():
                    self._set(change.no, undoes, ("pinned", d.fact_id), d.pinned)
                case TraitSet():
                    self._set(change.no, undoes, ("trait", d.dimension), d)
                case TraitCleared():
                    self._set(change.no, undoes, ("trait", d.dimension), None)
                case ProfileSet():
                    self._set(change.no, undoes, ("profile", d.whose.value, d.name), d)
                case _:
                    pass

    def _set(self, no: int, undoes: int | None, key: _Key, state: _State) -> None:
        states = self.states.setdefault(key, [])
        if key[0] in ("archived", "pinned") and self._now(key) == state:
            return
        origin = no
        if undoes is not None and any(one.no == undoes for one in states):
            former = _before(states, undoes)
            origin = 0 if former is None else former.origin
        if states and states[-1].no == no:
            states.pop()
        states.append(_Set(no, origin, state))

    def _now(self, key: _Key) -> _State:
        states = self.states.get(key)
        return states[-1].state if states else False

    def stands(self, key: _Key, no: int) -> bool:
        """Whether what change `no` set still stands, or stands again."""
        states = self.states[key]
        return states[-1].origin == next(one.origin for one in states if one.no == no)

    def before(self, key: _Key, no: int) -> _State:
        """The state before change `no` set it."""
        former = _before(self.states[key], no)
        return None if former is None else former.state

    def fact_as_it_was(self, fact_id: FactId, back: dict[_Key, _State]) -> list[Decision]:
        """A fact held, archived, retired, or, where it was not there, retired as if it never held."""
        fact, archived = ("fact", fact_id), ("archived", fact_id)
        now, was = self._now(fact), back.get(fact, self._now(fact))
        if was is None:
            was = FactRetired(fact_id=fact_id, superseded_by=None, valid_to=self.added[fact_id].valid_from)
        if isinstance(was, FactRetired):
            return [] if was == now else [was]
        stays = bool(back.get(archived, self._now(archived)))
        if isinstance(now, FactAdded) and stays == bool(self._now(archived)):
            return []
        return [FactRestored(fact_id=fact_id), *([FactArchived(fact_id=fact_id)] if stays else [])]

    def over_cap(self, decisions: Sequence[Decision], settings: Settings) -> list[FactArchived]:
        """The oldest of those that hold after the decisions, beyond the cap of each knowledge base."""
        after = {d.fact_id: isinstance(d, FactRestored) for d in decisions if isinstance(d, FactRestored | FactRetired)}
        after |= {d.fact_id: False for d in decisions if isinstance(d, FactArchived)}
        pinned = {d.fact_id: d.pinned for d in decisions if isinstance(d, FactPinned)}
        held = [
            fact_id
            for fact_id in self.order
            if after.get(fact_id, self._holds(fact_id)) and not pinned.get(fact_id, self._now(("pinned", fact_id)))
        ]
        archived = []
        for about, cap in ((About.USER, settings.user_facts), (About.AGENT, settings.agent_facts)):
            queue = [fact_id for fact_id in held if self.added[fact_id].about is about]
            archived += [FactArchived(fact_id=fact_id) for fact_id in queue[: max(0, len(queue) - cap)]]
        return archived

    def is_true(self, fact_id: FactId) -> bool:
        """Whether a fact is not retired; it may be in the archive."""
        return isinstance(self._now(("fact", fact_id)), FactAdded)

    def since(self, fact_id: FactId) -> float:
        """From when a fact is true, in seconds since 1970; long ago where that is not known."""
        valid_from = self.added[fact_id].valid_from
        return float("-inf") if valid_from is None else valid_from.timestamp()

    def _holds(self, fact_id: FactId) -> bool:
        return isinstance(self._now(("fact", fact_id)), FactAdded) and not self._now(("archived", fact_id))


def _before(states: Sequence[_Set], no: int) -> _Set | None:
    """The state that stood before those of change `no`."""
    first = next(place for place, one in enumerate(states) if one.no == no)
    return states[first - 1] if first else None


def _trait(dimension: str, state: _State) -> TraitSet | TraitCleared:
    return state if isinstance(state, TraitSet) else TraitCleared(dimension=dimension)


def _line(whose: str, name: str, state: _State) -> ProfileSet:
    if isinstance(state, ProfileSet):
        return state
    return ProfileSet(whose=About(whose), name=name, value=None, sources=(), set_by=CALLER)
