"""Where lines, bars and boxes stand. Templates draw them; nothing here knows markup."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from embermem.core.config import Settings
from embermem.core.types import ChannelScore, Hit, Segment, SegmentId
from embermem.http.inspector.words import plain
from embermem.memoryos.ingest.mid_term import heat_of, recency_of

LINE_WIDE, LINE_HIGH = 100, 30
"""The units in which a line of heat is drawn, with room at its end and above."""
_ROOM_RIGHT, _ROOM_ABOVE = 1.5, 4
_SPEAKER = re.compile(r"\A[^:：]{1,40}[:：]\s*(?=\S)")
"""Who says what a line of a summary tells."""
_SAMPLES = 48
"""Points of a line between two arrivals far apart, so that its decay is a curve."""

_TITLE = 60
"""Columns of a title that is the beginning of a summary."""

CHANNEL_GROUPS: Mapping[str, str] = {"dense": "meaning", "page": "meaning", "window": "words", "late": "close"}
"""Channels by what they look at; all others are priors."""
GROUPS: Mapping[str, str] = {
    "meaning": "meaning: vectors",
    "words": "words: BM25 over the utterance and its neighbours",
    "close": "close reading: token by token",
    "prior": "priors: speaker, date, length, document, repetition",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Heat:
    """A segment's heat and its three parts (paper, Eq. 3), with the widths of their bars in percent."""

    segment: Segment
    heat: float
    visits: float
    new: float
    recency: float
    bars: tuple[tuple[str, float, float], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class HeatLines:
    """The heat of some segments from `since` until `until`, `most` at most: of each when it was how high, from its
    first page on."""

    since: datetime
    until: datetime
    most: float
    courses: tuple[tuple[tuple[datetime, float], ...], ...]

    def points(self, course: Sequence[tuple[datetime, float]]) -> str:
        """A course as points of an SVG line, on the scale of all, within LINE_WIDE x LINE_HIGH."""
        span = (self.until - self.since).total_seconds() or 1.0
        wide, high = LINE_WIDE - _ROOM_RIGHT, LINE_HIGH - _ROOM_ABOVE
        return " ".join(
            f"{wide * (at - self.since).total_seconds() / span:.1f},{LINE_HIGH - high * heat / self.most:.1f}"
            for at, heat in course
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """One piece of a hit's bar: where it begins and how wide it is, in percent of the chart."""

    group: str
    names: str
    value: float
    x: float
    width: float


@dataclass(frozen=True, kw_only=True, slots=True)
class HitBar:
    """What each group of channels gave to one hit, and each channel in full."""

    hit: Hit
    parts: tuple[Part, ...]
    channels: tuple[tuple[str, str, ChannelScore, float], ...]


def heats(segments: Sequence[Segment], now: datetime, settings: Settings) -> list[Heat]:
    """The heat of segments and its parts, hottest first; bars are scaled to the hottest, or to 1 if all are colder."""
    parts = {one.id: _parts(one, now, settings) for one in segments}
    most = max([1.0, *(sum(three) for three in parts.values())])
    made = []
    for one in segments:
        at, bars = 0.0, []
        for name, value in zip(("visits", "new", "recency"), parts[one.id], strict=True):
            bars.append((name, at, 100.0 * value / most))
            at += 100.0 * value / most
        visits, new, recency = parts[one.id]
        made.append(
            Heat(
                segment=one,
                heat=heat_of(one, now, settings),
                visits=visits,
                new=new,
                recency=recency,
                bars=tuple(bars),
            )
        )
    return sorted(made, key=lambda heat: (-heat.heat, heat.segment.id))


def heat_lines(
    hottest: Sequence[Heat], said: Mapping[SegmentId, Sequence[datetime]], now: datetime, settings: Settings
) -> HeatLines | None:
    """How the heat of segments came about as their pages were said; None where nothing was. `said` is when the pages
    of each were, the newest at least.

    A line ends now, at the heat of now; what was said in the future counts as said now. The newest pages are those not
    yet analysed, and all visits count from the last one on.
    """
    arrivals = [sorted(min(at, now) for at in said.get(one.segment.id, ())) for one in hottest]
    since = min((all_of[0] for all_of in arrivals if all_of), default=None)
    if since is None:
        return None
    step = max((now - since) / _SAMPLES, timedelta(seconds=1))
    between = [at for k in range(_SAMPLES) if (at := since + step * k) <= now]
    courses = []
    for one, known in zip(hottest, arrivals, strict=True):
        visited = None if one.segment.visited_at is None else min(one.segment.visited_at, now)
        moments = {*known, *([] if visited is None or visited < since else [visited])}
        # Just before an arrival or a visit, so that a line rises upright.
        before = [at - timedelta(seconds=1) for at in moments if at > since]
        xs = sorted({*moments, *before, *between, now})
        course = ((x, _heat_then(one, known, visited, x, settings)) for x in xs)
        courses.append(tuple((x, heat) for x, heat in course if heat is not None))
    most = max([1.0, *(heat for course in courses for _, heat in course)])
    return HeatLines(since=since, until=now, most=most, courses=tuple(courses))


def hit_bars(hits: Sequence[Hit]) -> tuple[list[HitBar], float]:
    """The bars of hits on one scale, and where zero stands on it, in percent."""
    summed = [_by_group(hit) for hit in hits]
    most = max((sum(v for _, v, _ in one if v > 0) for one in summed), default=0.0)
    least = min((sum(v for _, v, _ in one if v < 0) for one in summed), default=0.0)
    span = (most - least) or 1.0
    zero = -100.0 * least / span
    return [
        HitBar(
            hit=hit,
            parts=tuple(_stacked(groups, zero, 100.0 / span)),
            channels=tuple(
                (name, group_of(name), score, score.normalised * score.weight) for name, score in hit.spoke.items()
            ),
        )
        for hit, groups in zip(hits, summed, strict=True)
    ], zero


def group_of(channel: str) -> str:
    """What a channel looks at."""
    return CHANNEL_GROUPS.get(channel, "prior")


def label(segment: Segment) -> str:
    """What a segment is called, in words: its title, or how its summary begins. Where there is neither, it is called by
    what its keywords say."""
    if segment.title.strip():
        return segment.title
    told = next((line for line in segment.summary.splitlines() if line.strip()), "")
    if told:
        return plain(_SPEAKER.sub("", told, count=1), _TITLE)
    *first, last = segment.keywords[:3] or ("something",)
    return f"Talk about {', '.join(first)} and {last}" if first else f"Talk about {last}"


def _parts(segment: Segment, now: datetime, settings: Settings) -> tuple[float, float, float]:
    recency = recency_of(segment, now, settings)
    return settings.alpha * segment.visits, settings.beta * segment.unanalysed, settings.gamma * recency


def _heat_then(
    heat: Heat, said: Sequence[datetime], visited_at: datetime | None, at: datetime, settings: Settings
) -> float | None:
    known = [one for one in said if one <= at]
    if not known:
        return None  # the line has not begun
    segment = heat.segment
    visited = visited_at is not None and visited_at <= at
    then = replace(
        segment,
        visits=segment.visits if visited else 0,
        visited_at=segment.visited_at if visited else None,
        unanalysed=max(0, segment.unanalysed - (len(said) - len(known))),
        said_to=known[-1] if len(known) < len(said) else segment.said_to,
    )
    return round(heat_of(then, at, settings), 3)


def _by_group(hit: Hit) -> list[tuple[str, float, str]]:
    """Each group's sum in a hit's score, and the channels that spoke."""
    sums: dict[str, list[tuple[str, float]]] = {name: [] for name in GROUPS}
    for name, score in hit.spoke.items():
        sums[group_of(name)].append((name, score.normalised * score.weight))
    return [
        (
            group,
            sum(value for _, value in some),
            ", ".join(f"{name} {value:+.2f}" for name, value in some),
        )
        for group, some in sums.items()
        if some
    ]


def _stacked(groups: Sequence[tuple[str, float, str]], zero: float, scale: float) -> list[Part]:
    parts, right, left = [], zero, zero
    for group, value, names in groups:
        width = abs(value) * scale
        if width < 0.05:
            continue
        if value < 0:
            left -= width
        parts.append(Part(group=group, names=names, value=value, x=right if value > 0 else left, width=width))
        if value > 0:
            right += width
    return parts
