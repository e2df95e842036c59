"""What changes did, in words that a person reads, each under its heading; bookkeeping is left out, and counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from embermem.core.attributes import is_instruction
from embermem.core.changes import (
    CALLER,
    KINDS,
    Cause,
    Change,
    Decision,
    Erased,
    FactAdded,
    FactAffirmed,
    FactBarred,
    FactDenied,
    FactRetired,
    Heading,
    Say,
    Sort,
    TextsBarred,
    Undoing,
    api_kind,
    ids,
    kind_of,
    sources,
    texts,
)
from embermem.core.errors import NotFound
from embermem.core.types import Fact, Segment, Source
from embermem.http.inspector.drawing import charts
from embermem.memory import OwnerMemory
from embermem.reports import render, show

NEWS = tuple(api_kind(kind) for kind, entry in KINDS.items() if entry.heading is not Heading.BOOKKEEPING)
"""The kinds of decisions that are told; the others are folded."""
NAMED = 2000
"""So many facts and segments of one list are looked up by name; a memory that was begun anew has more."""
FEW = 6
"""Entries of one change in a list; its own page has all."""

_BY_ITSELF = (Cause.EXPIRY, Cause.RETENTION)
_BY_HAND = (Cause.CORRECTION, Cause.UNDO)


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One thing that a change did: `verb` says what, `text` to what, `note` what it took the place of. `path` leads to
    what it is about, where there is a page; it rests on `sources`."""

    heading: Heading
    verb: str
    text: str
    note: str = ""
    path: str = ""
    sources: tuple[Source, ...] = ()
    place: int = 0
    """Which of the change's decisions that are told it is, from 0."""
    words: str = ""
    """All that it says, for a search."""
    subjects: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """A change in words: its entries, who made it, and whether an undo can take something of it back. Of what was
    forgotten none can: it only lets the same be learnt again."""

    change: Change
    entries: Sequence[Entry]
    by: str
    undoable: bool
    left: int = 0
    """Entries that are not listed."""


Names = Mapping[str, Fact | Segment]


class Teller:
    """Tells changes of one memory, with the facts and segments that they name; with `pages`, the pages too. `only` says
    of a decision and its cause whether it is told. Of the change `whole`, which is too long to be told at once, the
    decisions [first, first + most) are."""

    def __init__(
        self,
        mine: OwnerMemory,
        changes: Iterable[Change] = (),
        *,
        pages: bool = False,
        only: Callable[[Decision, Cause], bool] = lambda decision, cause: True,
        whole: Change | None = None,
        first: int = 0,
        most: int = 0,
    ) -> None:
        self._mine = mine
        self._only = only
        self._changes = (*changes, *(() if whole is None else (whole,)))
        self._cut = None if whole is None else range(first, first + most)
        decisions = [one for change in self._changes for one in self._named_by(change)]
        wanted = {item for one in decisions for sort, item in ids(one) if sort in (Sort.FACT, Sort.SEGMENT)}
        self._added: dict[str, FactAdded] = {one.fact_id: one for one in decisions if isinstance(one, FactAdded)}
        self._known = mine.named(sorted(wanted)[:NAMED])
        names: dict[str, str] = {fact_id: one.text for fact_id, one in self._added.items()}
        names |= {item: one.text if isinstance(one, Fact) else charts.label(one) for item, one in self._known.items()}
        self.say = Say({**names, **(self._pages(decisions) if pages else {})}, render.when)

    def shown(self, change: Change) -> Sequence[Decision]:
        """The decisions of a change that are told."""
        return change.decisions if self._cut is None else change.decisions[self._cut.start : self._cut.stop]

    def _named_by(self, change: Change) -> Iterator[Decision]:
        """The decisions of a change of which the names are told."""
        shown = {id(one) for one in self.shown(change) if self._only(one, change.cause)}
        every = {one.fact_id for one in change.decisions if isinstance(one, FactAdded)}
        told = {one.fact_id for one in change.decisions if isinstance(one, FactAdded) and id(one) in shown}
        for one in change.decisions:
            if isinstance(one, FactRetired) and one.superseded_by in every:
                if one.superseded_by in told:
                    yield one
            elif id(one) in shown and not (isinstance(one, FactAffirmed) and one.fact_id in every):
                yield one

    def told(self) -> Iterator[Told]:
        """The changes in their order."""
        for change in self._changes:
            entries = tuple(self.entries(change))
            teaches = any(kind_of(one).undone in (Undoing.RESTORED, Undoing.LIFTED) for one in change.decisions)
            may = teaches and change.cause is not Cause.FORGETTING
            yield Told(change=change, entries=entries, by=made_by(change), undoable=may)

    def beside(self, changes: Iterable[Change]) -> Iterator[tuple[Change, Told | None]]:
        """Some changes, each with what is told of it; None of one that this does not tell."""
        told = {one.change.no: one for one in self.told()}
        return ((change, told.get(change.no)) for change in changes)

    def in_words(self, change: Change) -> str:
        """What a change did, on one line; what it counted, where it only kept books."""
        told = [f"{one.verb}: {one.text}{f' ({one.note})' if one.note else ''}" for one in self.entries(change)]
        return "; ".join(told) or show.holds(change, self.say.names)

    def entries(self, change: Change) -> Iterator[Entry]:
        """What a change did, without what another of its decisions says already."""
        retired = {one.fact_id: one for one in change.decisions if isinstance(one, FactRetired)}
        added = {one.fact_id for one in change.decisions if isinstance(one, FactAdded)}
        erased = any(isinstance(one, Erased) for one in change.decisions)
        replaced: dict[str, list[str]] = {}
        for one in retired.values():
            if one.superseded_by in added:
                replaced.setdefault(str(one.superseded_by), []).append(one.fact_id)
        news = (pair for pair in enumerate(change.decisions) if is_news(pair[1]))
        for place, (index, decision) in enumerate(news):
            if (self._cut is not None and index not in self._cut) or not self._only(decision, change.cause):
                continue
            match decision:
                case FactRetired(superseded_by=newer) if newer in added:
                    continue
                case FactDenied(fact_id=fact_id) if fact_id in retired:
                    continue
                case FactAffirmed(fact_id=fact_id) if fact_id in added:
                    continue
                case FactBarred() | TextsBarred() if erased:
                    continue
                case FactAdded(fact_id=fact_id):
                    told = self._added_fact(change, decision, [self.say(old) for old in replaced.get(fact_id, ())])
                case _:
                    told = self.entry(change, decision)
            yield replace(told, place=place)

    def entry(self, change: Change, decision: Decision) -> Entry:
        """One decision in words, by itself."""
        kind = kind_of(decision)
        verb, text = kind.told(decision, self.say)
        fact_id = getattr(decision, "fact_id", "")
        if isinstance(decision, FactAdded):
            text = self.say(fact_id)
        if isinstance(decision, Erased):
            verb, text = "forgotten", _counted(decision)
        elif isinstance(decision, FactRetired):
            newer = decision.superseded_by
            verb, text = _ended(change.cause), self.say(fact_id) + (f" (now: {self.say(newer)})" if newer else "")
        heading = self._heading(change, decision)
        return Entry(
            heading=heading,
            verb=verb,
            text=text,
            path=path_of(kind.ids[kind.about], getattr(decision, kind.about)) if kind.about else "",
            sources=sources(decision) or self._sources(fact_id),
            words=" ".join([text, *texts(decision)]).casefold(),
            subjects=frozenset({*self._subjects(decision)}),
        )

    def _added_fact(self, change: Change, decision: FactAdded, replaced: Sequence[str]) -> Entry:
        heading = self._heading(change, decision)
        match heading:
            case Heading.INSTRUCTIONS:
                verb = "instruction"
            case Heading.CORRECTED:
                verb = "corrected" if replaced else "added by hand"
                verb = "holds again" if change.cause is Cause.UNDO else verb
            case _:
                verb = "learnt"
        note = f"replaces: {'; '.join(replaced)}" if replaced else ""
        told = self.entry(change, decision)
        return replace(told, verb=verb, note=note, words=f"{told.words} {note.casefold()}")

    def _heading(self, change: Change, decision: Decision) -> Heading:
        heading = kind_of(decision).heading
        attribute = getattr(self._fact(getattr(decision, "fact_id", "")), "attribute", "")
        if is_instruction(attribute):
            return Heading.INSTRUCTIONS
        if is_news(decision) and change.cause is Cause.FORGETTING:
            return Heading.FORGOTTEN
        if heading is Heading.LEARNT and change.cause in _BY_HAND:
            return Heading.CORRECTED
        if isinstance(decision, FactRetired) and change.cause in _BY_ITSELF:
            return Heading.FORGOTTEN
        return heading

    def _fact(self, fact_id: str) -> Fact | FactAdded | None:
        known = self._known.get(fact_id)
        return known if isinstance(known, Fact) else self._added.get(fact_id)

    def _sources(self, fact_id: str) -> tuple[Source, ...]:
        fact = self._fact(fact_id)
        return () if fact is None else fact.sources

    def _subjects(self, decision: Decision) -> Iterator[str]:
        for _, item in ids(decision):
            fact = self._fact(item)
            if fact is not None:
                yield fact.subject
                yield getattr(fact, "person", "")
        for name in ("subject", "one", "other"):
            if isinstance(said := getattr(decision, name, None), str):
                yield said
        if kind_of(decision).heading is Heading.PROFILE:
            yield str(getattr(decision, "whose", "user"))

    def _pages(self, decisions: Iterable[Decision]) -> Mapping[str, str]:
        """What the pages of these decisions are called, by their ids."""
        names = {}
        for page_id in sorted({item for one in decisions for sort, item in ids(one) if sort is Sort.PAGE})[:NAMED]:
            try:
                names[page_id] = f"page {self._mine.page(page_id).no}"
            except NotFound:
                names[page_id] = "a page that was forgotten"
        return names


def is_news(decision: Decision) -> bool:
    """Whether a decision is told; the others are bookkeeping."""
    return kind_of(decision).heading is not Heading.BOOKKEEPING


def may_be_under(heading: str, decision: Decision, cause: Cause) -> bool:
    """Whether a decision may be listed under a heading, by its kind, its cause, and its attribute if it has one."""
    own = kind_of(decision).heading
    match Heading(heading):
        case Heading.LEARNT:
            return own is Heading.LEARNT and cause not in (*_BY_HAND, Cause.FORGETTING)
        case Heading.CORRECTED:
            return own is Heading.CORRECTED or (own is Heading.LEARNT and cause in _BY_HAND)
        case Heading.FORGOTTEN:
            return own is Heading.FORGOTTEN or cause in (*_BY_ITSELF, Cause.FORGETTING)
        case Heading.INSTRUCTIONS:
            told = getattr(decision, "attribute", None)
            return hasattr(decision, "fact_id") and (told is None or is_instruction(told))
        case Heading.PEOPLE | Heading.PROFILE:
            return own == heading
        case Heading.BOOKKEEPING:
            return False
        case other:
            assert_never(other)


def made_by(change: Change) -> str:
    """Who made a change: the caller, an analyst, or nobody in particular."""
    if change.analyst and change.analyst != CALLER:
        return f"by {change.analyst}"
    match change.cause:
        case Cause.CORRECTION | Cause.UNDO | Cause.FORGETTING | Cause.IMPORT:
            return "by hand"
        case _:
            return "by itself"


def in_words(mine: OwnerMemory, change: Change) -> str:
    """What a change did, on one line; what it counted, where it only kept books."""
    return Teller(mine, [change]).in_words(change)


def path_of(sort: Sort, item: object) -> str:
    """The page of what a decision is about; there is none for some."""
    match sort:
        case Sort.PAGE:
            return f"/pages/{item}"
        case Sort.SEGMENT:
            return f"/segments/{item}"
        case Sort.FACT:
            return f"/facts/{item}"
        case Sort.CHANGE:
            return f"/audit/{item}"
        case Sort.CHAIN | Sort.DIMENSION | Sort.VISITED:
            return ""
        case _:
            assert_never(sort)


def _ended(cause: Cause) -> str:
    if cause in _BY_ITSELF:
        return "expired"
    return "retired by hand" if cause is Cause.CORRECTION else "no longer held"


def _counted(erased: Erased) -> str:
    counts = (("page", len(erased.pages)), ("message", erased.utterances), ("fact", len(erased.facts)))
    return ", ".join(f"{count} {what}{'s' if count != 1 else ''}" for what, count in counts if count) or "nothing"
