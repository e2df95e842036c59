"""How memory came to be what it is: what changed between two times, and why something is remembered."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from embermem.core.record import Record
from embermem.core.types.ids import PageId
from embermem.core.types.memories import Conflict, Fact, ProfileField, Segment, Trait
from embermem.core.types.utterances import Utterance


@dataclass(frozen=True, kw_only=True, slots=True)
class Timeline(Record):
    """A span of time in buckets: between `edges[k]` and `edges[k + 1]` so many messages were said (`said[k]`), and so
    many facts began (`began[k]`) and ended (`ended[k]`) to be true. Without a time of its own a fact began when it was
    learnt, and ended when it was retired.

    `segments` are those of which something was said in the span, the largest first; `facts` began or ended in it, a few
    of each bucket before more of one; `changes` are the numbers of those that corrected or forgot something and were
    recorded in the span, the newest first. `segments_found`, `facts_found` and `changes_found` say how many there are,
    `said_found` how many messages; `held` is how many facts began before the span and had not ended after it.
    `said_from` and `said_to` are the times of the first and the last message of all, None if there is none."""

    edges: tuple[datetime, ...] = ()
    said_from: datetime | None = None
    said_to: datetime | None = None
    said: tuple[int, ...] = ()
    began: tuple[int, ...] = ()
    ended: tuple[int, ...] = ()
    segments: tuple[Segment, ...] = ()
    facts: tuple[Fact, ...] = ()
    changes: tuple[int, ...] = ()
    said_found: int = 0
    segments_found: int = 0
    facts_found: int = 0
    changes_found: int = 0
    held: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Diff(Record):
    """What changed for an owner between two times, without what was forgotten since. `changes` are the numbers of
    the changes in between. A fact that was added and ended in between is in `facts_added` and in `facts_ended`;
    `facts_changed` were said again, pinned, archived, given an end, or made current again. Pairs are (before,
    after), with None for no value. `segments_rewritten` have a new title, summary or keywords."""

    earlier: datetime
    later: datetime
    changes: tuple[int, ...] = ()
    pages_added: tuple[PageId, ...] = ()
    facts_added: tuple[Fact, ...] = ()
    facts_ended: tuple[Fact, ...] = ()
    facts_changed: tuple[tuple[Fact, Fact], ...] = ()
    traits: tuple[tuple[Trait | None, Trait | None], ...] = ()
    profile: tuple[tuple[ProfileField | None, ProfileField | None], ...] = ()
    segments_opened: tuple[Segment, ...] = ()
    segments_rewritten: tuple[tuple[Segment, Segment], ...] = ()
    segments_archived: tuple[Segment, ...] = ()
    conflicts_added: tuple[Conflict, ...] = ()
    conflicts_ended: tuple[Conflict, ...] = ()

    def __str__(self) -> str:
        numbers = f"changes {self.changes[0]} to {self.changes[-1]}" if self.changes else "no change"
        lines = [f"{self.earlier.isoformat()} to {self.later.isoformat()}: {numbers}"]
        lines += [f"+ page {page_id}" for page_id in self.pages_added]
        lines += [f"+ fact {fact.id}: {_line(fact.text)}" for fact in self.facts_added]
        lines += [
            f"- fact {fact.id}: {_line(fact.text)}"
            + ("" if fact.superseded_by is None else f" (superseded by {fact.superseded_by})")
            for fact in self.facts_ended
        ]
        lines += [f"~ fact {new.id}: {_line(new.text)}" for _, new in self.facts_changed]
        lines += [_moved(_told_trait(old), _told_trait(new)) for old, new in self.traits]
        lines += [_moved(_told_field(old), _told_field(new)) for old, new in self.profile]
        lines += [f"+ segment {one.id}: {_line(one.summary)}" for one in self.segments_opened]
        lines += [f"~ segment {new.id}: {_line(new.summary)}" for _, new in self.segments_rewritten]
        lines += [f"- segment {one.id}: archived" for one in self.segments_archived]
        lines += [f"+ conflict {one.older.id} {one.newer.id}" for one in self.conflicts_added]
        lines += [f"- conflict {one.older.id} {one.newer.id}" for one in self.conflicts_ended]
        return "\n".join(lines)


def _line(text: str) -> str:
    return " ".join(text.split())


def _told_trait(trait: Trait | None) -> tuple[str, str] | None:
    return None if trait is None else (f"trait {trait.dimension}", f"{trait.level:+.2f}")


def _told_field(field: ProfileField | None) -> tuple[str, str] | None:
    return None if field is None else (f"profile {field.whose}.{field.name}", _line(field.value))


def _moved(old: tuple[str, str] | None, new: tuple[str, str] | None) -> str:
    """A line of a diff; each side is a name and what stands under it."""
    if old is not None and new is not None:
        return f"~ {old[0]}: {old[1]} → {new[1]}"
    name, value = new or old or ("", "")
    return f"{'-' if new is None else '+'} {name}: {value}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Edit(Record):
    """What one change did to one field of an item: from what to what, as text, None for nothing; when, why (`cause`),
    and `by` whom: an analyst, or "caller"."""

    change_no: int
    recorded_at: datetime
    cause: str
    by: str
    field: str
    before: str | None
    after: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Quote(Record):
    """The words that something rests on: an utterance, and its characters [start, end) if extracted."""

    utterance: Utterance
    start: int | None = None
    end: int | None = None

    @property
    def text(self) -> str:
        """The words meant; the whole utterance, where no characters are named."""
        return self.utterance.text[self.start : self.end]


@dataclass(frozen=True, kw_only=True, slots=True)
class MadeBy(Record):
    """A change that made an item what it is."""

    no: int
    cause: str
    analyst: str
    recorded_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Why(Record):
    """Why something is remembered. `kind` is fact, segment, chain, trait or profile. `quotes` are the words it rests
    on, oldest first; `changes` are those that made it. `behind` are the facts behind a profile line or trait.
    `replaced` is what it replaced, the oldest last; `replaced_by` is what replaced it, up to the current item.
    `conflicts` are facts that contradict it. `left_out` counts quotes and changes beyond those returned."""

    item_id: str
    kind: str
    text: str
    quotes: tuple[Quote, ...] = ()
    changes: tuple[MadeBy, ...] = ()
    held: bool = True
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    behind: tuple[Why, ...] = ()
    replaced: tuple[Why, ...] = ()
    replaced_by: tuple[Why, ...] = ()
    conflicts: tuple[Why, ...] = ()
    left_out: int = 0

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> list[str]:
        """Text of others on one line each, without characters that control a terminal or cannot be seen."""
        lines = [f"{self.kind} {self.item_id}: {_seen(self.text)}{self._times()}"]
        for quote in self.quotes:
            said = quote.utterance
            when = said.said_at.isoformat(sep=" ", timespec="minutes")
            lines.append(f'  said #{said.seq} {when} {_seen(said.speaker)}: "{_seen(quote.text)}"')
        for change in self.changes:
            by = f" by {_seen(change.analyst)}" if change.analyst else ""
            lines.append(f"  change {change.no}, {change.cause}{by}, {change.recorded_at.date()}")
        if self.left_out:
            lines.append(f"  and {self.left_out} more quotes and changes")
        groups = (
            ("rests on", self.behind),
            ("took the place of", self.replaced),
            ("its place was taken by", self.replaced_by),
            ("in conflict with", self.conflicts),
        )
        for title, items in groups:
            lines += [f"  {title}"] * bool(items) + [f"    {line}" for item in items for line in item._lines()]
        return lines

    def _times(self) -> str:
        told = [] if self.valid_from is None else [f"from {self.valid_from.date()}"]
        told += [] if self.valid_to is None else [f"until {self.valid_to.date()}"]
        told += [] if self.held else ["held no longer"]
        return f" ({', '.join(told)})" if told else ""


_SEEN = 300
"""Characters of one text in a `Why` as it is printed."""


def _seen(text: str) -> str:
    shown = "".join(one if one.isprintable() else " " for one in text[: 4 * _SEEN])
    shown = " ".join(shown.split())
    return shown if len(shown) <= _SEEN else f"{shown[: _SEEN - 1]}…"
