"""The picture of a timeline: where its bars, topics, facts and marks stand, on a wide page and on a narrow one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

from embermem.core.types import Timeline
from embermem.http.inspector.drawing import calendar
from embermem.http.inspector.drawing.calendar import Span
from embermem.http.inspector.words import columns, plain

LANES = {"said": "Said", "topics": "Topics", "facts": "Facts", "changes": "Corrected and forgotten"}
"""What is drawn, and what it is called."""
EDGE = 8
"""Left free at both sides of a picture."""
ROW, THICK = 24, 18
"""How high a row is, and a topic or a fact in it."""
_AXIS, _HEAD, _BARS, _ENDED, _GAP, _MARK = 24, 24, 56, 16, 10, 24
"""How high the axis, a lane's name, the bars, the bars of ends, the room below a lane, and a row of marks are."""
_LEAST = 3.0
"""How wide what hardly lasted is drawn."""
_POINT = 10.0
"""How wide the mark of a fact is that still holds."""
_BETWEEN = 10.0
"""Room between two things in one row."""
_COLUMN, _INSET = 6.7, 6.0
"""How wide a letter of a name is, about, and where the name begins in what it names."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """One topic, fact or change: its words, since when, until when (None: it holds), and how strong it is, in [0, 1].
    `pinned` facts are drawn first."""

    kind: str
    id: str
    text: str
    since: datetime
    until: datetime | None
    strength: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Bar:
    """How much was said, began or ended in one bucket."""

    lane: str
    since: datetime
    until: datetime
    count: int
    x: float
    y: float
    w: float
    h: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Strip:
    """A topic or a fact: from x on so wide; `before` and `after` say whether it goes on beyond the picture, `point`
    that it has only a beginning. `name` is written at `name_x`; `reach` is from where to where there is anything of
    it."""

    told: Told
    x: float
    y: float
    w: float
    name: str
    name_x: float
    before: bool
    after: bool
    point: bool
    reach: tuple[float, float]


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
    """One change, or some at nearly the same time, the newest first."""

    told: tuple[Told, ...]
    x: float
    y: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Lane:
    """A part of the picture: where its name stands, and what could not be drawn."""

    key: str
    name: str
    y: float
    left: int
    empty: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Picture:
    """The whole picture. `ticks` are moments of the axis with their places; `now` is where this moment stands."""

    key: str
    width: int
    height: float
    lanes: tuple[Lane, ...]
    ticks: tuple[tuple[float, str], ...]
    now: float | None
    bars: tuple[Bar, ...]
    strips: tuple[Strip, ...]
    marks: tuple[Mark, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Size:
    """How wide a picture is, how many rows of topics and of facts it has at most, and how long names may be."""

    key: str
    width: int
    rows: int
    longest: int
    ticks: int

    def x(self, part: float) -> float:
        """Where a part of the span stands."""
        return EDGE + min(1.0, max(0.0, part)) * (self.width - 2 * EDGE)


WIDE = Size(key="wide", width=960, rows=12, longest=44, ticks=10)
NARROW = Size(key="narrow", width=340, rows=8, longest=26, ticks=4)


def wide(text: str) -> float:
    """How wide a name is, about."""
    return _COLUMN * columns(text)


def draw(
    found: Timeline,
    topics: Sequence[Told],
    facts: Sequence[Told],
    changes: Sequence[Told],
    *,
    span: Span,
    zone: ZoneInfo,
    now: datetime,
    lanes: Sequence[str],
    size: Size,
) -> Picture:
    """The picture of a span: the first topics and facts, as many as have room."""
    drawn = _Drawn(span=span, size=size)
    for lane in lanes:
        if lane == "said":
            drawn.said(found)
        elif lane == "topics":
            drawn.topics(topics, found.segments_found)
        elif lane == "facts":
            drawn.facts(found, facts)
        elif lane == "changes":
            drawn.changes(changes, found.changes_found)
    named = calendar.ticks(span, zone, size.ticks)
    places = [(round(size.x(span.part(at)), 1), name) for at, name in named]
    return Picture(
        key=size.key,
        width=size.width,
        height=drawn.y,
        lanes=tuple(drawn.lanes),
        ticks=tuple(_apart(places, size.width)),
        now=round(size.x(span.part(now)), 1) if span.start <= now < span.end else None,
        bars=tuple(drawn.bars),
        strips=tuple(drawn.strips),
        marks=tuple(drawn.marks),
    )


def _apart(places: Iterable[tuple[float, str]], width: int) -> Iterable[tuple[float, str]]:
    """The names of an axis that leave each other room, written from their places on."""
    free = 0.0
    for x, name in places:
        if x >= free and x + wide(name) <= width:
            yield x, name
            free = x + wide(name) + _BETWEEN


class _Drawn:
    """A picture as it is made, lane below lane."""

    def __init__(self, *, span: Span, size: Size) -> None:
        self.span, self.size = span, size
        self.y: float = _AXIS
        self.lanes: list[Lane] = []
        self.bars: list[Bar] = []
        self.strips: list[Strip] = []
        self.marks: list[Mark] = []

    def said(self, found: Timeline) -> None:
        """How much was said, as bars."""
        top = self._begin("said", empty=not found.said_found)
        if found.said_found:
            self._columns("said", found.edges, found.said, top + _BARS, _BARS, max(found.said))
            self.y += _BARS
        self.y += _GAP

    def topics(self, topics: Sequence[Told], found: int) -> None:
        """Topics in rows, the first ones on top."""
        top = self._begin("topics", empty=not topics)
        drawn = self._rows(topics, top)
        self._left(found - drawn)

    def facts(self, found: Timeline, facts: Sequence[Told]) -> None:
        """Facts in rows; where not all have room, how many began and ended as bars above them."""
        top = self._begin("facts", empty=not facts)
        packed = self._rows(facts, top)
        if packed < found.facts_found and facts:
            high = _BARS / 2 + _ENDED + _GAP
            self.strips = [_lower(one, high) if one.told.kind == "facts" else one for one in self.strips]
            most = max(*found.began, *found.ended, 1)
            self._columns("began", found.edges, found.began, top + _BARS / 2, _BARS / 2, most)
            self._columns("ended", found.edges, found.ended, top + _BARS / 2 + 1, _ENDED, most, down=True)
            self.y += high
        self._left(found.facts_found - packed)

    def changes(self, changes: Sequence[Told], found: int) -> None:
        """Changes as marks; those that would stand over each other are one mark."""
        top = self._begin("changes", empty=not changes)
        near: list[list[Told]] = []
        for one in sorted(changes, key=lambda one: one.since):
            if near and self._x(one.since) - self._x(near[-1][0].since) < _MARK:
                near[-1].append(one)
            else:
                near.append([one])
        for some in near:
            place = min(max(self._x(some[0].since), EDGE + _MARK / 2), self.size.width - EDGE - _MARK / 2)
            self.marks.append(Mark(told=tuple(some[::-1]), x=round(place, 1), y=top + _MARK / 2))
        self.y += _MARK if near else 0
        self._left(found - len(changes))

    def _begin(self, key: str, *, empty: bool) -> float:
        self.lanes.append(Lane(key=key, name=LANES[key], y=self.y + 15, left=0, empty=empty))
        self.y += _HEAD
        return self.y

    def _left(self, left: int) -> None:
        """What of the last lane could not be drawn."""
        last = self.lanes[-1]
        self.lanes[-1] = replace(last, left=max(0, left))
        self.y += _GAP

    def _x(self, at: datetime) -> float:
        return self.size.x(self.span.part(at))

    def _columns(
        self,
        lane: str,
        edges: Sequence[datetime],
        counts: Sequence[int],
        base: float,
        high: float,
        most: int,
        *,
        down: bool = False,
    ) -> None:
        """A bar for each bucket that holds something, on a base or hanging from it."""
        for (since, until), count in zip(pairwise(edges), counts, strict=True):
            if not count:
                continue
            left, right = self._x(since), self._x(until)
            tall = round(max(2.0, high * count / most), 1)
            gap = 1.0 if right - left > 3 else 0.0
            self.bars.append(
                Bar(
                    lane=lane,
                    since=since,
                    until=until,
                    count=count,
                    x=round(left, 2),
                    y=base if down else base - tall,
                    w=round(right - left - gap, 2),
                    h=tall,
                )
            )

    def _rows(self, some: Sequence[Told], top: float) -> int:
        """Each in the first row in which it has room; how many had any. Rows that stay empty take no room."""
        rows: list[list[Strip]] = []
        drawn = 0
        for one in some:
            made = self._strip(one)
            at = next((k for k, row in enumerate(rows) if not any(_touch(made, other) for other in row)), len(rows))
            if at == self.size.rows:
                continue
            if at == len(rows):
                rows.append([])
            rows[at].append(made)
            self.strips.append(_lower(made, top + at * ROW))
            drawn += 1
        self.y += len(rows) * ROW
        return drawn

    def _strip(self, told: Told) -> Strip:
        """Something that lasted, cut at the edges of the picture, and its name within the picture."""
        until = told.until
        left, right = EDGE, self.size.width - EDGE
        x = self._x(told.since)
        point = until is None
        w = _POINT if until is None else max(_LEAST, self._x(max(until, told.since)) - x)
        x = min(x, right - w)
        name = plain(told.text, self.size.longest) or told.id
        length = wide(name)
        begins = x + (w + 4 if point else _INSET)
        if begins + length > right:
            begins = x - 4 - length
        begins = max(float(left), begins)
        return Strip(
            told=told,
            x=round(x, 1),
            y=0.0,
            w=round(w, 1),
            name=name,
            name_x=round(begins, 1),
            reach=(round(min(x, begins), 1), round(max(x + w, begins + length), 1)),
            before=told.since < self.span.start,
            after=until is not None and until > self.span.end,
            point=point,
        )


def _lower(one: Strip, by: float) -> Strip:
    return replace(one, y=one.y + by)


def _touch(one: Strip, other: Strip) -> bool:
    (left, right), (a, b) = one.reach, other.reach
    return left < b + _BETWEEN and a < right + _BETWEEN


def spread(facts: Sequence[Told], edges: Sequence[datetime]) -> list[Told]:
    """The first of each bucket before the second of any, and buckets far from each other one after the other, so that
    however few are drawn, they are of the whole span. Of a bucket those that are pinned, then what has ended, then the
    newest."""
    taken: dict[int, int] = {}
    placed: list[tuple[int, int, int, Told]] = []
    strongest = sorted(facts, key=lambda one: (-one.strength, one.until is None, -one.since.timestamp(), one.id))
    for number, one in enumerate(strongest):
        at = one.since if one.since >= edges[0] or one.until is None else one.until
        bucket = bisect_right(edges, at)
        place = taken[bucket] = taken.get(bucket, -1) + 1
        placed.append((place, int(f"{len(edges) - bucket:012b}"[::-1], 2), number, one))
    return [one for *_, one in sorted(placed, key=lambda four: four[:3])]
