"""The text of a segment and what a change adds to it: growth and text give the next text, two texts give the growth."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TypeVar

from embermem.core.changes.decisions import (
    BegunAnew,
    Decision,
    KeywordCount,
    SegmentEnded,
    SegmentGrew,
    SegmentWritten,
)
from embermem.core.types import SegmentId

__all__ = ["SegmentTexts", "SegmentTold", "grown", "grows", "growth"]

_Item = TypeVar("_Item")
SegmentTold = SegmentWritten | SegmentGrew
"""The decisions that write the text of a segment."""


def grown(before: SegmentWritten, by: SegmentGrew) -> SegmentWritten:
    """The text that a growth makes of the text before it. Raises ValueError where the growth is not of that text."""
    sizes = (len(before.parts), len(before.parts) - len(by.left) + len(by.parts))
    gone = {*by.dropped}
    changed = {count.word for count in by.keywords}
    kept = [count for count in before.keywords if count.word not in gone]
    if (
        len(by.places) != len(by.parts)
        or len(kept) + len(gone) != len(before.keywords)
        or any(
            not 0 <= place < size for places, size in zip((by.left, by.places), sizes, strict=True) for place in places
        )
    ):
        raise ValueError(f"a growth of segment {by.segment_id} is not of the text before it")
    parts = _without(before.parts, by.left)
    for place, part in zip(by.places, by.parts, strict=True):
        parts.insert(place, part)
    kept = [count for count in kept if count.word not in changed]
    keywords = sorted([*by.keywords, *kept], key=lambda count: -count.pages) if by.keywords else kept
    return SegmentWritten(
        segment_id=before.segment_id,
        parts=tuple(parts),
        keywords=tuple(keywords),
        said_from=before.said_from if by.said_from is None else by.said_from,
        said_to=before.said_to if by.said_to is None else by.said_to,
        title=before.title if by.title is None else by.title,
        shown=before.shown if by.shown is None else by.shown,
    )


def growth(before: SegmentWritten | None, after: SegmentWritten) -> SegmentTold:
    """The decision that writes a text: what it adds to the text before it, or the whole text where there was none,
    where no part of it stays, and where a growth cannot express the difference."""
    if before is None:
        return after
    kept = _kept(before, after)
    if not kept:
        return after
    new = [(place, part) for place, part in enumerate(after.parts) if place not in kept]
    stay = {*kept.values()}
    now = {count.word for count in after.keywords}
    made = SegmentGrew(
        segment_id=after.segment_id,
        parts=tuple(part for _, part in new),
        places=tuple(place for place, _ in new),
        left=tuple(place for place in range(len(before.parts)) if place not in stay),
        keywords=_counted(before, after),
        dropped=tuple(count.word for count in before.keywords if count.word not in now),
        said_from=None if _same(after.said_from, before.said_from) else after.said_from,
        said_to=None if _same(after.said_to, before.said_to) else after.said_to,
        title=None if after.title == before.title else after.title,
        shown=None if after.shown == before.shown else after.shown,
    )
    return made if grown(before, made) == after else after


def grows(before: SegmentWritten, by: SegmentGrew, after: SegmentWritten) -> bool:
    """Whether a growth makes one text of another, of which it may not be."""
    try:
        return grown(before, by) == after
    except ValueError:
        return False


def _counted(before: SegmentWritten, after: SegmentWritten) -> tuple[KeywordCount, ...]:
    """The keywords that a growth names: among equals they come first, and those that it does not name follow in their
    order before. So it names what changed, and what does not follow from that order."""
    places = {count.word: place for place, count in enumerate(before.keywords)}
    follow: dict[int, int] = {}
    made = []
    for count in reversed(after.keywords):
        place = places.get(count.word, -1)
        same = place >= 0 and before.keywords[place].pages == count.pages
        if same and place < follow.get(count.pages, len(places)):
            follow[count.pages] = place
        else:
            follow[count.pages] = -1  # all that come before it among equals are named
            made.append(count)
    return tuple(reversed(made))


def _same(one: datetime, other: datetime) -> bool:
    return one == other and one.utcoffset() == other.utcoffset()


class SegmentTexts:
    """The texts of segments that hold after the decisions that were taken in, whole."""

    __slots__ = ("_of",)

    def __init__(self) -> None:
        self._of: dict[SegmentId, SegmentWritten] = {}

    def get(self, segment_id: SegmentId) -> SegmentWritten | None:
        """The text of a segment; None where it has none."""
        return self._of.get(segment_id)

    def set(self, text: SegmentWritten) -> None:
        """A text holds from now on."""
        self._of[text.segment_id] = text

    def take(self, d: Decision) -> None:
        """One more decision; most kinds write no text. Raises ValueError for a growth of a text that is not there."""
        if isinstance(d, SegmentWritten | SegmentGrew):
            self.set(self.after(d))
        elif isinstance(d, SegmentEnded):
            self._of.pop(d.segment_id, None)
        elif isinstance(d, BegunAnew):
            self._of.clear()

    def after(self, d: SegmentTold) -> SegmentWritten:
        """The text that a decision would write. Raises ValueError for a growth of a text that is not there."""
        if isinstance(d, SegmentWritten):
            return d
        before = self._of.get(d.segment_id)
        if before is None:
            raise ValueError(f"a growth of segment {d.segment_id} has no text before it")
        return grown(before, d)


def _without(items: Sequence[_Item], places: Sequence[int]) -> list[_Item]:
    gone = {*places}
    return [item for place, item in enumerate(items) if place not in gone]


def _kept(before: SegmentWritten, after: SegmentWritten) -> dict[int, int]:
    """By the place of each part that stays, its place before. Those that stay keep their order."""
    places = {part: place for place, part in enumerate(before.parts)}
    found: dict[int, int] = {}
    last = -1
    for place, part in enumerate(after.parts):
        was = places.get(part, -1)
        if was > last:
            found[place] = last = was
    return found
