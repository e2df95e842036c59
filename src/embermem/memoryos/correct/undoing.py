"""Taking back what a change taught: facts, traits, profile lines, rulings.

Decided from the log alone, so that doing it again gives the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, assert_never

from embermem.core.changes import (
    KINDS,
    BegunAnew,
    Cause,
    Change,
    Decision,
    Erased,
    Evicted,
    FactAdded,
    FactArchived,
    FactExpires,
    FactPinned,
    FactRestored,
    FactRetired,
    FactStrengthened,
    Item,
    PersonRelated,
    ProfileSet,
    Refused,
    Undoing,
    Undone,
    UndoPlan,
    kind_of,
    unset,
)
from embermem.core.config import Settings
from embermem.core.errors import InputError, NotFound
from embermem.core.state import PersonaState
from embermem.core.state.facts import FactMove
from embermem.core.types import FactId, Relation
from embermem.memoryos.ingest.knowledge_cap import beyond_cap
from embermem.memoryos.ingest.profile_lines import mirrors

TEACHING = tuple(kind for kind, entry in KINDS.items() if entry.undone is not Undoing.NOTHING)
"""The kinds of decisions that an undoing is decided by."""

_Aspect = Literal["archived", "pinned", "expires"]
"""What of a fact is set by itself."""
_State = Decision | bool | None
"""What it was set to: the decision that set it, whether a fact is archived or pinned; None: nothing."""


class _Key(NamedTuple):
    """What was set, and the names by which it is known: a fact, or an aspect of one, by its id; a trait by its
    dimension; a line by whose it is and its name."""

    what: Item | _Aspect
    names: tuple[str, ...]


def undoing(log: Sequence[Change], no: int, settings: Settings) -> list[Decision]:
    """The decisions that take back what change `no` taught: see `undo_plan`. Raises as it does, and InputError with
    all reasons where nothing can be taken back."""
    plan = undo_plan(log, no, settings)
    if plan.decisions:
        return list(plan.decisions)
    cause = next(change.cause for change in log if change.no == no)
    reasons = "; ".join(f"{refused.item}: {refused.reason}" for refused in plan.refused[:_REASONS])
    more = len(plan.refused) - _REASONS
    reasons += f"; and {more} more" if more > 0 else ""
    built = "" if cause is Cause.FORGETTING else ": later changes built on it"
    raise InputError(f"nothing of change {no} ({cause}) can be undone{built}{'; ' if built else ': '}{reasons}")


def undo_plan(log: Sequence[Change], no: int, settings: Settings) -> UndoPlan:
    """What takes back what change `no` of an owner's whole log taught, and what of it cannot be taken back. Each
    change of `log` holds at least its decisions of the kinds in `TEACHING`.

    Facts that it added are retired, as if they never held; those that it retired, superseded or moved to the archive
    hold again; traits and profile lines get what stood there before; what it ruled is lifted. What a later
    change built on is refused: a fact that was said again or superseded since, a trait or line that was set since; so
    is what stands or falls with it. What forgetting erased is gone. Where more facts would hold than the cap allows,
    the oldest go to the archive. Undoing what undid a change restores it, and then it can be undone again.

    Raises NotFound for no such change, InputError for one that taught nothing, is undone already, or came before memory
    was begun anew.
    """
    told = _PersonaLog(log)
    change = next((one for one in log if one.no == no), None)
    if change is None:
        raise NotFound(f"there is no change {no}")
    if no <= told.begun:
        raise InputError(f"change {told.begun} began memory anew: it and what was before cannot be undone")
    if no in told.undone:
        raise InputError(f"change {no} was undone by change {told.undone[no]}; undo that one to restore it")
    keys = [key for key, states in told.states.items() if any(one.no == no for one in states)]
    gone = _gone(change)
    lifts = told.lifts(no)
    if not keys and not gone and not lifts:
        raise InputError(f"change {no} ({change.cause}) taught the persona nothing")
    refused = {key: told.refused(key, no) for key in keys if not told.stands(key, no)}
    told.refuse_what_rests_on(refused, keys, no)
    back = {key: told.before(key, no) for key in keys if key not in refused}
    facts = list(dict.fromkeys(FactId(key.names[0]) for key in back if key.what in (Item.FACT, "archived")))
    decisions: list[Decision] = [d for fact_id in facts for d in told.fact_as_it_was(fact_id, back)]
    if change.cause is Cause.EXPIRY:  # else it would end again at once
        decisions += [FactExpires(fact_id=d.fact_id, at=None) for d in decisions if isinstance(d, FactRestored)]
    decisions += [made for key, state in back.items() if (made := told.as_it_was(key, state)) is not None]
    left = tuple(dict.fromkeys((*refused.values(), *gone)))
    if not decisions and not (lifts and (not refused or told.forgot(change))):
        return UndoPlan(decisions=(), refused=left)
    return UndoPlan(decisions=(Undone(no=no), *decisions, *told.over_cap(decisions, settings)), refused=left)


_REASONS = 20
"""Reasons that the message of an error gives."""


def _gone(change: Change) -> list[Refused]:
    """What no undoing brings back: what was erased, and segments that left for the archive."""
    gone: list[Refused] = []
    for d in change.decisions:
        if isinstance(d, Erased):
            erased = "it was forgotten, and is gone for good"
            gone += [Refused(item=item, reason=erased, change_no=change.no) for item in (*d.pages, *d.facts)]
        elif isinstance(d, Evicted) and change.cause is Cause.RETENTION:
            reason = "a segment that left for the archive stays there, and can be found there"
            gone.append(Refused(item=d.segment_id, reason=reason, change_no=change.no))
    return gone


@dataclass(frozen=True, slots=True)
class _Set:
    """A state, the change that wrote it, and the change that it came with first: another one, if it was brought back
    (0: nothing was there before)."""

    no: int
    origin: int
    state: _State


class _PersonaLog:
    """What the log says of the persona: every state of everything that was set, oldest first."""

    def __init__(self, log: Sequence[Change]) -> None:
        self.undone: dict[int, int] = {}
        self._undoes: dict[int, int] = {}
        self._ruling: set[int] = set()
        self._forgetting: set[int] = set()
        for change in log:
            self._read(change)
        persona = PersonaState(log)
        self.begun, self._facts = persona.begun, persona.facts
        self.states: dict[_Key, list[_Set]] = {}
        for fact in persona.facts:
            self._set(fact.no, _fact(fact.added.fact_id), fact.added)
            for no, move in fact.moves:
                self._move(no, fact.added, move)
        for item, of in persona.items.items():
            for key, version in ((_Key(item, names), one) for names in of for one in of.of(names)):
                if isinstance(version.value, PersonRelated) and version.value.relation is Relation.SPEAKS:
                    continue  # who spoke is known as long as what they said is there
                self._set(version.began, key, version.value)
                if version.ended is not None:  # where another version begins then, it takes this place
                    self._set(version.ended, key, None)

    def _read(self, change: Change) -> None:
        """What a change says of other changes."""
        if any(isinstance(d, BegunAnew) for d in change.decisions):
            self.undone = {}
        undoes = next((d.no for d in change.decisions if isinstance(d, Undone)), None)
        if undoes is not None:
            self._undoes[change.no] = undoes
            self.undone[undoes] = change.no
            for no in [no for no, by in self.undone.items() if by == undoes]:
                del self.undone[no]  # what was undone by a change that is undone now, stands again
        if any(kind_of(d).undone is Undoing.LIFTED for d in change.decisions):
            self._ruling.add(change.no)
        if change.cause is Cause.FORGETTING or undoes in self._forgetting:
            self._forgetting.add(change.no)

    def _move(self, no: int, added: FactAdded, move: FactMove) -> None:
        names = (added.fact_id,)
        if isinstance(move, FactStrengthened | FactRestored | FactRetired):
            self._set(no, _Key(Item.FACT, names), move if isinstance(move, FactRetired) else added)
        if isinstance(move, FactRestored | FactArchived):
            self._set(no, _Key("archived", names), isinstance(move, FactArchived))
        if isinstance(move, FactPinned):
            self._set(no, _Key("pinned", names), move.pinned)
        if isinstance(move, FactExpires):
            self._set(no, _Key("expires", names), move)

    def _set(self, no: int, key: _Key, state: _State) -> None:
        states = self.states.setdefault(key, [])
        if key.what in ("archived", "pinned") and self._now(key) == state:
            return
        origin, undoes = no, self._undoes.get(no)
        if undoes is not None and any(one.no == undoes for one in states):
            former = _before(states, undoes)
            origin = 0 if former is None else former.origin
        if states and states[-1].no == no:
            states.pop()
        states.append(_Set(no, origin, state))

    def _added(self, name: str) -> FactAdded:
        fact = self._facts.get(name)
        assert fact is not None, "only facts that are there have states"
        return fact.added

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

    def lifts(self, no: int) -> bool:
        """Whether undoing change `no` lifts rulings, or brings some back that it lifted."""
        after = {undone for undone, by in self.undone.items() if by != no} | {no}
        return self._ruling & after != self._ruling & self.undone.keys()

    def forgot(self, change: Change) -> bool:
        """Whether a change forgot something, or undid one that did: its bars go, or come back, by themselves."""
        return change.no in self._forgetting

    def refused(self, key: _Key, no: int) -> Refused:
        """Why what change `no` set does not stand as it set it."""
        last = self.states[key][-1]
        match key.what:
            case Item.FACT:
                reason = _since_then(last.state)
            case "archived":
                reason = "it has left or entered the archive since"
            case _:
                reason = "it has been set again since"
        return Refused(item=_name(key), reason=f"{reason} (change {last.no})", change_no=last.no)

    def refuse_what_rests_on(self, refused: dict[_Key, Refused], keys: Iterable[_Key], no: int) -> None:
        """Where a fact that change `no` added is left as it is, so are what it ended and the lines that say it: else
        that would hold beside it, or beside what took its place."""
        staying = {
            key.names[0]: refused[key] for key in refused if key.what is Item.FACT and self.before(key, no) is None
        }
        for key in keys:
            state = next(one.state for one in reversed(self.states[key]) if one.no == no)
            by: Refused | None = None
            if isinstance(state, FactRetired) and state.superseded_by is not None:
                by = staying.get(state.superseded_by)
            elif isinstance(state, ProfileSet) and state.value is not None:
                behind = (kept for name, kept in staying.items() if mirrors(self._added(name), state))
                by = next(behind, None)
            if by is not None and key not in refused:
                reason = f"fact {by.item}, which it goes with, is left as it is (change {by.change_no})"
                refused[key] = Refused(item=_name(key), reason=reason, change_no=by.change_no)

    def as_it_was(self, key: _Key, state: _State) -> Decision | None:
        """What sets anything but whether a fact holds to a former state."""
        names = key.names
        match key.what:
            case "pinned":
                return FactPinned(fact_id=FactId(names[0]), pinned=bool(state))
            case "expires":
                fact_id = FactId(names[0])
                was = self._added(fact_id).expires_at if not isinstance(state, FactExpires) else state.at
                return FactExpires(fact_id=fact_id, at=was)
            case Item.FACT | "archived":
                return None  # as fact_as_it_was says
            case Item():
                assert not isinstance(state, bool)
                now = self._now(key)
                return state or unset(key.what, names, now if not isinstance(now, bool) else None)
            case _:
                assert_never(key.what)

    def fact_as_it_was(self, fact_id: FactId, back: dict[_Key, _State]) -> list[Decision]:
        """A fact held, archived, retired, or, where it was not there, retired as if it never held."""
        fact, archived = _fact(fact_id), _Key("archived", (fact_id,))
        now, was = self._now(fact), back.get(fact, self._now(fact))
        if was is None:
            was = FactRetired(fact_id=fact_id, superseded_by=None, valid_to=self._added(fact_id).valid_from)
        if isinstance(was, FactRetired):
            return [] if was == now else [was]
        stays = bool(back.get(archived, self._now(archived)))
        if isinstance(now, FactAdded) and stays == bool(self._now(archived)):
            return []
        return [FactRestored(fact_id=fact_id), *([FactArchived(fact_id=fact_id)] if stays else [])]

    def over_cap(self, decisions: Sequence[Decision], settings: Settings) -> list[FactArchived]:
        """Those of what holds after the decisions that are beyond the cap of each knowledge base."""
        after = {d.fact_id: isinstance(d, FactRestored) for d in decisions if isinstance(d, FactRestored | FactRetired)}
        after |= {d.fact_id: False for d in decisions if isinstance(d, FactArchived)}
        pinned = {d.fact_id: d.pinned for d in decisions if isinstance(d, FactPinned)}
        held = [
            (state.confirmed_no, fact.added)
            for fact, state in ((fact, fact.now) for fact in self._facts)
            if after.get(fact.added.fact_id, state.is_current) and not pinned.get(fact.added.fact_id, state.pinned)
        ]
        held.sort(key=lambda one: one[0])  # by confirmation, then by entry, as the cap takes them
        return beyond_cap({fact.fact_id: fact for _, fact in held}, settings)


def _before(states: Sequence[_Set], no: int) -> _Set | None:
    """The state that stood before those of change `no`."""
    first = next(place for place, one in enumerate(states) if one.no == no)
    return states[first - 1] if first else None


def _name(key: _Key) -> str:
    """What was set, as callers know it."""
    return ".".join(key.names) if key.what is Item.PROFILE else " and ".join(key.names)


def _fact(fact_id: FactId) -> _Key:
    return _Key(Item.FACT, (fact_id,))


def _since_then(state: _State) -> str:
    """Why a fact does not stand as it came in."""
    if isinstance(state, FactRetired):
        by = state.superseded_by
        return "it has been retired since" if by is None else f"fact {by} has taken its place since"
    return "it has been said again, or holds again, since"
