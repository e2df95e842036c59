"""What is said of a kind of decision: the form of an entry of the table (table.py)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, StrEnum
from typing import Any, Generic, TypeVar, assert_never

from embermem.core.changes.decisions import Decision, Item

__all__ = [
    "ByRule",
    "Falls",
    "Heading",
    "Kind",
    "Moves",
    "Rests",
    "Say",
    "Sort",
    "Stays",
    "Undoing",
]

D = TypeVar("D")


class Sort(StrEnum):
    """What an id is of."""

    PAGE = "page"
    CHAIN = "chain"
    SEGMENT = "segment"
    FACT = "fact"
    VISITED = "visited"
    """A segment or a fact."""
    DIMENSION = "dimension"
    CHANGE = "change"


class Heading(StrEnum):
    """Under what a log for people lists a decision. What it says about a standing instruction is listed there."""

    LEARNT = "learnt"
    CORRECTED = "corrected"
    FORGOTTEN = "forgotten"
    PEOPLE = "people"
    INSTRUCTIONS = "instructions"
    PROFILE = "profile"
    BOOKKEEPING = "bookkeeping"
    """What only keeps the memory in order: vectors, chains, segments, counters."""


@dataclass(frozen=True, slots=True)
class Stays:
    """The decision always stays: it holds numbers, ids and keyed hashes, and no word of what was said."""


@dataclass(frozen=True, slots=True)
class Falls:
    """The decision goes with any of what these fields name, and stays as it is otherwise."""

    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rests:
    """The decision goes with any of what these fields name, with the last of its sources, and where one of its texts
    gives away what is forgotten. Otherwise it stays, with the sources that stay."""

    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ByRule:
    """memoryos/forget/redacting.py has a rule of its own for the kind."""


Forgotten = Stays | Falls | Rests | ByRule
"""What becomes of a decision when something is forgotten."""


class Undoing(Enum):
    """What becomes of a decision when its change is undone."""

    RESTORED = "restored"
    """What it set is set to what stood there before (memoryos/correct/undoing.py)."""
    LIFTED = "lifted"
    """It is a ruling: the word that its change is undone takes it back."""
    LOST = "lost"
    """What it took away does not come back."""
    MARK = "mark"
    """It says which changes are undone, or from where on the log counts."""
    NOTHING = "nothing"
    """It taught nothing."""


class Moves(Enum):
    """What a reader, who holds a snapshot of the memory, has to read again after a decision."""

    NOTHING = "nothing"
    PERSONA = "persona"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Say:
    """How ids and times are written where a decision is told: `names` are what ids stand for."""

    names: Mapping[Any, str]
    when: Callable[[datetime], str]

    def __call__(self, item_id: str) -> str:
        """What an id stands for; the id itself where that is not known."""
        return self.names.get(item_id, item_id)


def _nothing(decision: object, say: Say) -> str:
    return ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind(Generic[D]):
    """All that is said of one kind of decision.

    A field of a decision is named by its path: `parts.sources` are the sources of each of its parts.
    """

    of: type[D]
    heading: Heading
    ids: Mapping[str, Sort] = field(default_factory=dict)
    """The fields that hold an id, and what of."""
    unnamed: frozenset[str] = frozenset()
    """Those of them that the history of what they name passes over."""
    sources: tuple[str, ...] = ()
    """The fields that hold the utterances it rests on."""
    texts: tuple[str, ...] = ()
    """The fields that hold words of somebody, or of a model."""
    labels: tuple[str, ...] = ()
    """The fields that hold other texts: names, words of ours, keyed hashes."""
    forgotten: Forgotten
    undone: Undoing
    moves: Moves
    sets: tuple[Item, tuple[str, ...]] | None = None
    """What it sets, and the fields by which that is known."""
    ends: tuple[Item, tuple[str, ...]] | None = None
    """What it ends, likewise."""
    unset: Callable[[tuple[str, ...], D | None], Decision] | None = None
    """The decision that takes away what it sets, given the item's names and the decision that set it. An undo needs it
    if nothing was there before."""
    told: Callable[[D, Say], tuple[str, str]]
    """What it did, in a word or two, and to what: a row of the inspector's page of a change."""
    about: str = ""
    """The field whose id the row leads to."""
    taught: Callable[[D, Say], str] = _nothing
    """What it taught the persona, in few words: a piece of a line of `embermem show changes`."""
    did: Callable[[D], tuple[str, int]] | None = None
    """What that line counts in place of telling it, and how many of it this is."""

    def __post_init__(self) -> None:
        """Raises TypeError where the entry does not agree with itself: so nothing is kept that cannot be forgotten."""
        fault = self._fault()
        if fault:
            raise TypeError(f"the entry of {self.of.__name__} in the table of decisions: {fault}")

    def _fault(self) -> str:
        match self.forgotten:
            case Stays():
                fields: tuple[str, ...] = ()
                lasting = (Sort.DIMENSION, Sort.CHANGE)
                if any(sort not in lasting for path, sort in self.ids.items() if path not in self.unnamed):
                    return "it names what may be forgotten, and would stay"
            case Falls(fields):
                if not fields:
                    return "it does not say what it falls with"
            case Rests(fields):
                if self.sources != ("sources",):
                    return "it has no sources of its own to rest on"
            case ByRule():
                fields = ()
            case _:
                assert_never(self.forgotten)
        sets_back = self.unset is not None or (self.sets is not None and self.sets[0] is Item.FACT)
        if self.undone is Undoing.RESTORED and self.ends is None and not sets_back:
            return "an undoing could not take it back: it says neither what it ends, nor what unsets what it sets"
        if isinstance(self.forgotten, Stays | Falls) and (self.texts or self.sources):
            return "it holds words or sources, so it neither stays nor falls as a whole"
        if unknown := {*fields, *self.unnamed, *filter(None, [self.about])} - self.ids.keys():
            return f"{min(unknown)} is none of its ids"
        paths = [*self.ids, *self.sources, *self.texts, *self.labels]
        for which in (self.sets, self.ends):
            paths += which[1] if which is not None else ()
        known: Mapping[str, Any] = getattr(self.of, "__dataclass_fields__", {})
        missing = [path for path in paths if path.partition(".")[0] not in known]
        return f"it has no field {missing[0]}" if missing else ""
