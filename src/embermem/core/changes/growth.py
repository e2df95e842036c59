"""The text of a segment and what a change adds to it: growth and text give the next text, two texts give the growth."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

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

_WHOLE_EACH = 64
"""Changes by their numbers of which one writes texts whole."""
SegmentTold = SegmentWritten | SegmentGrew
"""The decisions that write the text of a segment."""


class _Growing:
    """A text that grows, in place: no text between two growths is made whole."""

    __slots__ = ("_counts", "_first", "_last", "_parts", "_sorted")

    def __init__(self, text: SegmentWritten) -> None:
        self._last = text
        self._parts = [*text.parts]
        self._counts = {count.word: (place, count) for place, count in enumerate(text.keywords)}
        """The keywords, each with its place among those that as many pages have."""
        self._first = 0
        self._sorted = False

    def grow(self, by: SegmentGrew) -> None:
        """Raises ValueError where the growth is not of this text."""
        sizes = (len(self._parts), len(self._parts) - len(by.left) + len(by.parts))
        outside = any(
            not 0 <= place < size for places, size in zip((by.left, by.places), sizes, strict=True) for place in places
        )
        if outside or len(by.places) != len(by.parts) or not {*by.dropped} <= self._counts.keys():
            raise ValueError(f"a growth of segment {by.segment_id} is not of the text before it")
        for place in sorted({*by.left}, reverse=True):
            del self._parts[place]
        for place, part in zip(by.places, by.parts, strict=True):
            self._parts.insert(place, part)
        for word in by.dropped:
            self._counts.pop(word, None)
        self._first -= len(by.keywords)
        self._counts |= {count.word: (place, count) for place, count in enumerate(by.keywords, self._first)}
        self._sorted = self._sorted or bool(by.keywords)
        last = self._last
        self._last = SegmentWritten(
            segment_id=last.segment_id,
            parts=(),
            keywords=(),
            said_from=last.said_from if by.said_from is None else by.said_from,
            said_to=last.said_to if by.said_to is None else by.said_to,
            title=last.title if by.title is None else by.title,
            shown=last.shown if by.shown is None else by.shown,
        )

    def whole(self) -> SegmentWritten:
        """The text as it is now."""
        counts = sorted(self._counts.values(), key=lambda one: (-one[1].pages if self._sorted else 0, one[0]))
        return replace(self._last, parts=tuple(self._parts), keywords=tuple(count for _, count in counts))


def grown(before: SegmentWritten, by: SegmentGrew) -> SegmentWritten:
    """The text that a growth makes of the text before it. Raises ValueError where the growth is not of that text."""
    made = _Growing(before)
    made.grow(by)
    return made.whole()


def growth(before: SegmentWritten | None, after: SegmentWritten, no: int = 1) -> SegmentTold:
    """The decision that writes a text with change `no`: what it adds to the text before it, or the whole text where
    there was none, where no part of it stays, and where a growth cannot express the difference. One in `_WHOLE_EACH` is
    whole, so that whoever wants a text of the past need not fold all that came before it."""
    if before is None or no % _WHOLE_EACH == 0:
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
    """The texts of segments that hold after the decisions that were taken in."""

    __slots__ = ("_growing", "_of")

    def __init__(self) -> None:
        self._of: dict[SegmentId, SegmentWritten] = {}
        self._growing: dict[SegmentId, _Growing] = {}
        """Those that are to be made whole when they are asked for."""

    def get(self, segment_id: SegmentId) -> SegmentWritten | None:
        """The whole text of a segment; None where it has none."""
        if (growing := self._growing.pop(segment_id, None)) is not None:
            self._of[segment_id] = growing.whole()
        return self._of.get(segment_id)

    def set(self, text: SegmentWritten) -> None:
        """A text holds from now on."""
        self._growing.pop(text.segment_id, None)
        self._of[text.segment_id] = text

    def take(self, d: Decision) -> None:
        """One more decision; most kinds write no text. Raises ValueError for a growth of a text that is not there, or
        of another."""
        if isinstance(d, SegmentWritten):
            self.set(d)
        elif isinstance(d, SegmentGrew):
            if d.segment_id not in self._growing:
                self._growing[d.segment_id] = _Growing(self._there(d))
            self._growing[d.segment_id].grow(d)
        elif isinstance(d, SegmentEnded):
            self._growing.pop(d.segment_id, None)
            self._of.pop(d.segment_id, None)
        elif isinstance(d, BegunAnew):
            self._growing.clear()
            self._of.clear()

    def after(self, d: SegmentTold) -> SegmentWritten:
        """The text that a decision would write. Raises ValueError for a growth of a text that is not there."""
        return d if isinstance(d, SegmentWritten) else grown(self._there(d), d)

    def _there(self, d: SegmentGrew) -> SegmentWritten:
        before = self.get(d.segment_id)
        if before is None:
            raise ValueError(f"a growth of segment {d.segment_id} has no text before it")
        return before


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
