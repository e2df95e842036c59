"""The persona of a state: facts, traits, profile lines, and what is known of names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from embermem.core import changes as c
from embermem.core.changes import KINDS, BegunAnew, Change, Decision, FactAdded, Item, Moves
from embermem.core.state.facts import FactHistory, FactMove, Facts, FactState
from embermem.core.state.versions import Version, Versions
from embermem.core.types import FactId

__all__ = ["PERSONA", "PERSONA_KINDS", "Key", "PersonaMoment", "PersonaState"]

Key = tuple[str, ...]
"""What an item is known by: the fields that the table of decisions names."""

PERSONA = (Item.TRAIT, Item.PROFILE, Item.PERSON)
"""The items of the persona that decisions set whole; facts are the fourth kind."""
PERSONA_KINDS: frozenset[type[Decision]] = frozenset(
    {kind.of for kind in KINDS.values() if kind.moves is Moves.PERSONA and (kind.sets or kind.ends)} | {BegunAnew}
)
"""The kinds of decisions that a persona is made of; a fold passes over all others."""
_FactDecision = FactAdded | FactMove


class PersonaState:
    """The fold of what an owner's changes say of the persona, oldest first.

    An item's value is the decision that set it: it is resolved, and holds all that is known of it. A state that others
    read is not folded further: `extended` and `redacted` make another, which shares what is the same.
    """

    __slots__ = ("_ended", "begun", "facts", "items", "no", "recorded")

    def __init__(self, changes: Iterable[Change] = ()) -> None:
        self.no = 0
        """The last change that was folded."""
        self.begun = 0
        """The change that last began memory anew; 0: none."""
        self._begin_anew()
        self.fold(changes)

    def _begin_anew(self) -> None:
        self.recorded: dict[int, datetime] = {}
        """When the changes that say something of the persona were recorded."""
        self.items: Mapping[Item, Versions[Key, Decision]] = {item: Versions() for item in PERSONA}
        self.facts = Facts()
        self._ended: list[tuple[Item, Key]] = []

    def fold(self, changes: Iterable[Change]) -> None:
        """Take in the next changes. Raises ValueError for one that is not newer than the last."""
        for change in changes:
            if change.no <= self.no:
                raise ValueError(f"change {change.no} comes after {self.no}; a state folds changes in their order")
            found = False
            for decision in change.decisions:
                found = self._take(change.no, decision) or found
            if found:
                self.recorded[change.no] = change.recorded_at
                self.facts.end_of_change(change.no)
                ended, self._ended = self._ended, []
                for item, key in ended:  # what a change ends is ended once it is whole
                    self.items[item].end(key, change.no)
            self.no = change.no

    def extended(self, changes: Iterable[Change], upto: int = 0) -> PersonaState:
        """The state after further changes, the last of which is `upto` if it says nothing of the persona."""
        made = self._copy()
        made.fold(changes)
        made.no = max(made.no, upto)
        return made

    def _copy(self) -> PersonaState:
        made = PersonaState()
        made.no, made.begun, made.recorded = self.no, self.begun, dict(self.recorded)
        made.facts = self.facts.copy()
        made.items = {item: versions.copy() for item, versions in self.items.items()}
        return made

    def at(self, no: int | None = None) -> PersonaMoment:
        """What was known after change `no`; by default the newest."""
        return PersonaMoment(self, self.no if no is None else no)

    def redacted(self, pairs: Iterable[tuple[Change, Change]]) -> PersonaState:
        """The state of the log in which each first change reads as the second, of the same number."""
        made = self._copy()
        facts: dict[FactId, dict[int, list[_FactDecision]]] = {}
        items: dict[tuple[Item, Key], dict[int, list[Decision]]] = {}
        numbers: set[int] = set()
        for was, now in pairs:
            if was.no < self.begun or was.no > self.no:
                continue  # nothing of it is held
            numbers.add(was.no)
            for change, fresh in ((was, False), (now, True)):
                for one in _since_begun(change.decisions):
                    if isinstance(one, _FactDecision):
                        facts.setdefault(one.fact_id, {}).setdefault(was.no, []).extend([one] if fresh else [])
                    elif (which := c.set_by(one) or c.ended_by(one)) is not None and which[0] in self.items:
                        items.setdefault(which, {}).setdefault(was.no, []).extend([one] if fresh else [])
            if not any(type(one) in PERSONA_KINDS for one in now.decisions):
                made.recorded.pop(was.no, None)
        for fact_id, told in facts.items():
            old = self.facts.get(fact_id)
            kept = [] if old is None else [(old.no, old.added), *old.moves]
            events = [(no, one) for no, one in kept if no not in numbers]
            made.facts.put(fact_id, [*events, *((no, one) for no, some in told.items() for one in some)])
        for (item, key), of in items.items():
            made.items[item].put(key, _told_anew(self.items[item].of(key), key, numbers, of))
        return made

    def _take(self, no: int, d: Decision) -> bool:
        """Whether a decision says something of the persona; it is folded then."""
        if type(d) not in PERSONA_KINDS:
            return False
        if isinstance(d, FactAdded):
            self.facts.add(no, d)
        elif isinstance(d, FactMove):
            self.facts.move(d)
        elif isinstance(d, BegunAnew):
            self._begin_anew()
            self.begun = no
        elif (which := c.set_by(d)) is not None:
            self.items[which[0]].set(which[1], no, d)
        elif (which := c.ended_by(d)) is not None:
            self._ended.append(which)
        else:
            raise TypeError(f"the persona has no place for a decision of kind {d.tag}")
        return True


def _since_begun(decisions: Sequence[Decision]) -> Sequence[Decision]:
    """Those after the last of them that begins memory anew."""
    begun = [place for place, one in enumerate(decisions) if isinstance(one, BegunAnew)]
    return decisions[begun[-1] + 1 :] if begun else decisions


def _told_anew(
    known: Iterable[Version[Decision]], key: Key, numbers: set[int], told: Mapping[int, Iterable[Decision]]
) -> list[Version[Decision]]:
    """The versions of an item, with what changes of some numbers say of it now in place of what they said."""
    events: dict[int, tuple[Decision | None, bool]] = {}  # by change: what it sets, and whether it ends the item
    versions = [*known]
    for place, one in enumerate(versions):
        events[one.began] = (one.value, events.get(one.began, (None, False))[1])
        follows = place + 1 < len(versions) and versions[place + 1].began == one.ended
        if one.ended is not None and not follows:
            events[one.ended] = (events.get(one.ended, (None, False))[0], True)
    for no in numbers & events.keys():
        del events[no]
    for no, some in told.items():
        sets = [one for one in some if c.set_by(one) is not None]
        ends = any(c.ended_by(one) is not None for one in some)
        if sets or ends:
            events[no] = (sets[-1] if sets else None, ends)
    made: Versions[Key, Decision] = Versions()
    for no in sorted(events):
        value, ends = events[no]
        if value is not None:
            made.set(key, no, value)
        if ends:
            made.end(key, no)
    return [*made.of(key)]


@dataclass(frozen=True, slots=True)
class PersonaMoment:
    """A persona as it was after change `no`: a view, of which nothing is copied."""

    state: PersonaState
    no: int

    def get(self, item: Item, *key: str) -> Decision | None:
        """The decision that set what holds of an item; None where nothing does."""
        return self.state.items[item].get(key, self.no)

    def all(self, item: Item) -> Iterator[Version[Decision]]:
        """What holds of each item of a kind, in no order."""
        return (version for _, version in self.state.items[item].at(self.no))

    def facts(self) -> Iterator[tuple[FactHistory, FactState]]:
        """The facts that are known, current or not, each as it stands, in no order."""
        return self.state.facts.at(self.no)

    def fact(self, fact_id: str) -> tuple[FactHistory, FactState] | None:
        """One fact as it stands; None where it was not known."""
        history = self.state.facts.get(fact_id)
        state = None if history is None else history.state_at(self.no)
        return None if history is None or state is None else (history, state)
