"""The timeline: what was said, talked about, learnt, ended and corrected in a span of time, drawn and in words."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby, pairwise
from typing import Annotated
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from embermem.core.changes import Change
from embermem.core.errors import InputError, NotFound
from embermem.core.types import Fact, Timeline
from embermem.http.inspector import words
from embermem.http.inspector.drawing import calendar, charts
from embermem.http.inspector.drawing import timeline as drawing
from embermem.http.inspector.drawing.calendar import Span
from embermem.http.inspector.drawing.timeline import LANES, NARROW, WIDE, Told
from embermem.http.inspector.entries import Teller
from embermem.http.inspector.place import PageContext, PageRoute, Place, there

LISTED = 48
"""Topics, facts and changes of one span, of each at most so many; more are counted."""

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Filters:
    """What of a memory is looked at, as the address has it."""

    person: str
    attribute: str
    q: str
    thread: str

    def read(self, here: Place, edges: Sequence[datetime], limit: int) -> Timeline:
        """What they find in a span."""
        return here.mine.timeline(
            edges,
            person=self.person or None,
            attribute=words.attribute_named(self.attribute) if self.attribute else None,
            words=self.q.split(),
            thread=self.thread or None,
            limit=limit,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One line of the list: when, what it is, its words, what is said beside it, and where it leads."""

    at: datetime
    kind: str
    what: str
    text: str
    detail: str
    path: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Day:
    """One day of the list, or (without a span) what began before."""

    span: Span | None
    name: str
    said: int | None
    lines: tuple[Line, ...]


@router.get("/timeline")
def timeline(
    here: PageContext,
    since: Annotated[str, Query(alias="from")] = "",
    to: str = "",
    person: str = "",
    attribute: str = "",
    q: str = "",
    thread: str = "",
    lanes: str = "",
) -> HTMLResponse:
    """A span of time; without one in the address, from the first message to the last."""
    zone, own_zone, now = here.zone, here.owner_zone, here.memory.now()
    filters = Filters(person=person.strip(), attribute=attribute.strip(), q=q.strip(), thread=thread)
    span = _asked(zone, since, to) or _whole(here.mine.timeline(limit=0), zone, now)
    edges, unit = calendar.edges(span, zone)
    shown = tuple(one for one in lanes.split(".") if one in LANES) or tuple(LANES)
    found, note = _found(here, filters, edges)
    topics = _topics(here, found)
    changes = [here.mine.change(no) for no in found.changes] if "changes" in shown else []
    told = _told(here, changes)
    drawn = functools.partial(
        drawing.draw,
        found,
        topics,
        drawing.spread([_fact(one) for one in found.facts], edges),
        told,
        span=span,
        zone=zone,
        now=now,
        lanes=shown,
    )
    to_span = functools.partial(_address, here, filters, shown)
    return here.page(
        "timeline.html",
        title="Timeline",
        nothing=here.mine.state() is None,
        note=note,
        span=span,
        is_whole=span == _whole(found, zone, now),
        **_told_of(span, zone),
        to_span=to_span,
        periods=_periods(span, found, zone),
        written=calendar.written,
        found=found,
        pictures=[drawn(size=size) for size in (WIDE, NARROW)],
        lanes=LANES,
        lanes_shown=shown,
        filters=asdict(filters),
        attributes=sorted({words.attribute(one.attribute) for one in found.facts}),
        people=sorted({one.person for one in found.facts if one.person}),
        unit=unit,
        buckets=_buckets(found, unit, zone),
        days=_days(found, told, topics, shown, unit.kind, zone),
        thick=drawing.THICK,
        bucket_words=lambda bar: calendar.bucket(bar.since, unit, zone),
        bucket_span=lambda bar: Span(bar.since, bar.until),
        when_of=lambda told: _lasted(told, zone if told.kind == "topics" else own_zone),
    )


def _address(
    here: Place, filters: Filters, shown: Sequence[str], one: Span | None, lanes: Sequence[str] | None = None
) -> str:
    """Where a span is shown, with what limits it, and with these parts of the drawing or those shown now; without a
    span, where all is."""
    own = {} if one is None else {"from": calendar.written(one.start), "to": calendar.written(one.end)}
    some = tuple(shown if lanes is None else lanes)
    told = "" if some == tuple(LANES) else ".".join(some)
    return here.link("/timeline", **own, **asdict(filters), lanes=told)


def _whole(found: Timeline, zone: ZoneInfo, now: datetime) -> Span:
    """From the first message to the last; where nothing was said, this month."""
    if found.said_from is None or found.said_to is None:
        return calendar.period("month", now, zone)
    return calendar.whole(found.said_from, found.said_to, zone)


def _asked(zone: ZoneInfo, since: str, to: str) -> Span | None:
    """What the address says, if it is a span."""
    start, end = calendar.read(since, zone, end=False), calendar.read(to, zone, end=True)
    return None if start is None or end is None or start >= end else calendar.span(start, end)


def _told_of(span: Span, zone: ZoneInfo) -> Mapping[str, object]:
    """What a span is called, its days, and the spans beside it."""
    return {
        "words_of_span": calendar.words(span, zone),
        "period_now": calendar.period_of(span, zone),
        "earlier": calendar.moved(span, zone, later=False),
        "later": calendar.moved(span, zone, later=True),
        "closer": calendar.zoomed(span, 0.5),
        "wider": calendar.zoomed(span, 2.0),
        "dates": [f"{there(at, zone):%Y-%m-%d}" for at in (span.start, span.end - timedelta(microseconds=1))],
    }


def _found(here: Place, filters: Filters, edges: Sequence[datetime]) -> tuple[Timeline, str]:
    """What the filters find, and why they find nothing."""
    try:
        return filters.read(here, edges, LISTED), ""
    except (NotFound, InputError) as error:
        return Timeline(edges=tuple(edges)), str(error)


def _periods(span: Span, found: Timeline, zone: ZoneInfo) -> Mapping[str, Span]:
    """The year, month, week and day that one looks at next: around the middle of what is shown; where more than it is
    shown, the newest of which something was said."""
    newest = min(span.end - timedelta(microseconds=1), found.said_to or span.end)
    middle = span.start + span.length / 2
    made = {}
    for name, unit in calendar.PERIODS.items():
        longer = span.length.total_seconds() < unit.seconds
        made[name] = calendar.period(name, middle if longer else max(span.start, newest), zone)
    return made


def _topics(here: Place, found: Timeline) -> list[Told]:
    """Segments, the largest first, as strong as they are hot."""
    heats = charts.heats(found.segments, here.memory.now(), here.memory.settings)
    heat_of = {one.segment.id: one.heat for one in heats}
    most = max(heat_of.values(), default=0.0) or 1.0
    return [
        Told(
            kind="topics",
            id=one.id,
            text=charts.label(one),
            since=one.said_from,
            until=one.said_to,
            strength=heat_of[one.id] / most,
        )
        for one in found.segments
    ]


def _told(here: Place, changes: Sequence[Change]) -> list[Told]:
    """Changes in words."""
    teller = Teller(here.mine, changes)
    return [
        Told(kind="changes", id=str(one.no), text=teller.in_words(one), since=one.recorded_at, until=None)
        for one in changes
    ]


def _fact(fact: Fact) -> Told:
    since, until = began(fact), ended(fact)
    return Told(
        kind="facts",
        id=fact.id,
        text=fact.text,
        since=since if until is None else min(since, until),
        until=until,
        strength=float(fact.pinned),
    )


def began(fact: Fact) -> datetime:
    """Since when a fact is true: where nothing says so, since it is known."""
    return fact.valid_from or fact.recorded_at


def ended(fact: Fact) -> datetime | None:
    """Until when a fact was true: where nothing says so, until it was retired."""
    return fact.valid_to or fact.retired_at


# ------------------------------------------------------------------------------------------------------------ in words


def _lasted(told: Told, zone: ZoneInfo) -> str:
    """Since when and until when, in words."""
    first = calendar.day(there(told.since, zone))
    if told.kind == "changes":
        return first
    if told.until is None:
        return f"since {first}"
    last = calendar.day(there(told.until, zone))
    return first if first == last else f"{first} to {last}"


def _buckets(found: Timeline, unit: calendar.Unit, zone: ZoneInfo) -> list[tuple[Span, str, int, int, int]]:
    """What happened in each bucket, in numbers; those in which nothing did are left out."""
    counted = zip(pairwise(found.edges), found.said, found.began, found.ended, strict=False)
    return [
        (
            one := Span(since.astimezone(UTC), until.astimezone(UTC)),
            calendar.bucket(one.start, unit, zone),
            said,
            started,
            over,
        )
        for (since, until), said, started, over in counted
        if said or started or over
    ]


def _days(
    found: Timeline,
    changes: Sequence[Told],
    topics: Sequence[Told],
    shown: Sequence[str],
    unit: str,
    zone: ZoneInfo,
) -> list[Day]:
    """The list, the newest day first, and last what began before the span."""
    start, end = found.edges[0], found.edges[-1]
    lines = [
        *(_topic_lines(found, topics) if "topics" in shown else ()),
        *(_fact_lines(found.facts, start, end) if "facts" in shown else ()),
        *(_change_line(one) for one in changes),
    ]
    said = dict(zip(found.edges, found.said, strict=False)) if unit == "day" and "said" in shown else {}
    days: list[Day] = []
    within = sorted((one for one in lines if one.at >= start), key=lambda one: (one.at, one.path), reverse=True)
    for first, some in groupby(within, key=lambda one: calendar.period("day", one.at, zone)):
        count = said.get(max(first.start, start))
        days.append(Day(span=first, name=calendar.day(there(first.start, zone)), said=count, lines=tuple(some)))
    before = sorted((one for one in lines if one.at < start), key=lambda one: one.at, reverse=True)
    if before:
        days.append(Day(span=None, name="Begun before", said=None, lines=tuple(before)))
    return days


def _topic_lines(found: Timeline, topics: Sequence[Told]) -> list[Line]:
    return [
        Line(
            at=one.said_from,
            kind="topics",
            what="Topic",
            text=topic.text,
            detail=f"{len(one.page_ids)} page{'' if len(one.page_ids) == 1 else 's'}",
            path=f"/segments/{one.id}",
        )
        for one, topic in zip(found.segments, topics, strict=True)
    ]


def _fact_lines(facts: Sequence[Fact], start: datetime, end: datetime) -> list[Line]:
    """A line where a fact began, and one where it ended, of those in the span."""
    made = []
    for fact in facts:
        told = _fact(fact)
        detail = words.attribute(fact.attribute)
        for at, what in ((told.since, "True since"), (told.until, "No longer true")):
            if at is not None and start <= at < end:
                made.append(
                    Line(at=at, kind="facts", what=what, text=fact.text, detail=detail, path=f"/facts/{fact.id}")
                )
    return made


def _change_line(told: Told) -> Line:
    return Line(
        at=told.since,
        kind="changes",
        what=f"Change {told.id}",
        text=told.text,
        detail="",
        path=f"/audit/{told.id}",
    )
