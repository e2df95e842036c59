"""Spans of time as a calendar has them: how a span is divided, zoomed and moved, and what its marks are called."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

SHORTEST = timedelta(hours=1)
"""No span is shorter."""
FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
_FEWEST = 24
"""A span has at least so many buckets, of the longest unit that gives them."""


@dataclass(frozen=True, slots=True)
class Unit:
    """So many minutes, hours, days, weeks, months or years; `seconds` is about how long that is."""

    kind: str
    count: int
    seconds: int


def _units(*some: tuple[str, int]) -> tuple[Unit, ...]:
    return tuple(Unit(kind, count, count * _SECONDS[kind]) for kind, count in some)


_SECONDS = {"minute": 60, "hour": 3600, "day": 86_400, "week": 604_800, "month": 2_629_746, "year": 31_556_952}
PERIODS = {name: Unit(name, 1, _SECONDS[name]) for name in ("year", "month", "week", "day")}
"""What one may look at whole."""
_BUCKETS = _units(
    *(("minute", count) for count in (1, 5, 15)),
    ("hour", 1),
    ("hour", 6),
    *((name, 1) for name in ("day", "week", "month")),
    ("month", 3),
    *(("year", count) for count in (1, 10, 100)),
)
_TICKS = _units(
    *(("minute", count) for count in (1, 5, 10, 30)),
    *(("hour", count) for count in (1, 3, 6, 12)),
    *(("day", 1), ("day", 2), ("week", 1), ("week", 2)),
    *(("month", count) for count in (1, 2, 3, 6)),
    *(("year", count) for count in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2500)),
)


@dataclass(frozen=True, slots=True)
class Span:
    """From `start` until before `end`, both in UTC."""

    start: datetime
    end: datetime

    @property
    def length(self) -> timedelta:
        """How long it is."""
        return self.end - self.start

    def part(self, at: datetime) -> float:
        """Where a time lies in the span: 0 at its start, 1 at its end."""
        return (at - self.start) / self.length


def span(start: datetime, end: datetime) -> Span:
    """The span between two times, at least an hour long, within the years 1 to 9999."""
    start, end = start.astimezone(UTC), end.astimezone(UTC)
    if end - start < SHORTEST:
        middle = min(max(start + (end - start) / 2, FIRST + SHORTEST / 2), LAST - SHORTEST / 2)
        start, end = middle - SHORTEST / 2, middle + SHORTEST / 2
    return Span(start, end)


def whole(first: datetime, last: datetime, zone: ZoneInfo) -> Span:
    """The whole days from a first to a last moment."""
    unit = PERIODS["day"]
    return span(_instant(_floor(_there(first, zone), unit), zone), _after(last, unit, zone))


def period(name: str, at: datetime, zone: ZoneInfo) -> Span:
    """The year, month, week or day in which a moment lies."""
    unit = PERIODS[name]
    return span(_instant(_floor(_there(at, zone), unit), zone), _after(at, unit, zone))


def period_of(one: Span, zone: ZoneInfo) -> str | None:
    """Which of the periods a span is exactly."""
    return next((name for name in PERIODS if period(name, one.start, zone) == one), None)


def moved(one: Span, zone: ZoneInfo, *, later: bool) -> Span:
    """The period before or after; of another span half of it further, never out of the calendar."""
    known = period_of(one, zone)
    if known is not None:
        at = one.end if later else one.start
        if not (FIRST < at < LAST):
            return one
        return period(known, at if later else at - timedelta(microseconds=1), zone)
    by = min(one.length / 2, LAST - one.end) if later else -min(one.length / 2, one.start - FIRST)
    return Span(one.start + by, one.end + by)


def zoomed(one: Span, factor: float) -> Span:
    """The span about the same middle, so many times as long."""
    middle, half = one.start + one.length / 2, one.length / 2
    before, after = (min(half * factor, room) for room in (middle - FIRST, LAST - middle))
    return span(middle - before, middle + after)


def edges(one: Span, zone: ZoneInfo) -> tuple[list[datetime], Unit]:
    """The bounds of the buckets that a span is divided into, and how long one is; those at its ends may be cut."""
    fitting = [unit for unit in _BUCKETS if one.length.total_seconds() / unit.seconds >= _FEWEST]
    unit = fitting[-1] if fitting else _BUCKETS[0]
    return [one.start, *_bounds(one, unit, zone), one.end], unit


def ticks(one: Span, zone: ZoneInfo, most: int) -> list[tuple[datetime, str]]:
    """At most about so many moments to name on an axis, each with its name."""
    seconds = one.length.total_seconds()
    unit = next((unit for unit in _TICKS if seconds / unit.seconds <= most), _TICKS[-1])
    return [(at, _name(_there(at, zone), unit)) for at in _bounds(one, unit, zone)]


def words(one: Span, zone: ZoneInfo) -> str:
    """What a span is called: a year, a month, a day, or from when to when."""
    first, last = _there(one.start, zone), _there(one.end - timedelta(microseconds=1), zone)
    known = period_of(one, zone)
    if known == "year":
        return f"{first.year:04}"
    if known == "month":
        return f"{MONTHS[first.month - 1]} {first.year:04}"
    if first.date() != last.date():
        return f"{day(first)} to {day(last)}"
    if known == "day":
        return day(first)
    return f"{day(first)}, {first:%H:%M} to {last:%H:%M}"


def bucket(at: datetime, unit: Unit, zone: ZoneInfo) -> str:
    """What a bucket is called that begins then."""
    there = _there(at, zone)
    match unit.kind:
        case "year":
            return f"{there.year:04}"
        case "month":
            return f"{MONTHS[there.month - 1]} {there.year:04}"
        case "week":
            return f"week of {day(there)}"
        case "day":
            return day(there)
        case _:
            return f"{day(there)}, {there:%H:%M}"


def read(text: str, zone: ZoneInfo, *, end: bool) -> datetime | None:
    """A moment as an address has it, or a day: its beginning, or with `end` the end of it. None for neither."""
    try:
        if len(text) == len("2026-05-02"):
            first = datetime.combine(date.fromisoformat(text), datetime.min.time())
            return _after(_instant(first, zone), PERIODS["day"], zone) if end else _instant(first, zone)
        at = datetime.fromisoformat(text)
        return _instant(at, zone) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def written(at: datetime) -> str:
    """A moment as an address has it."""
    at = at.astimezone(UTC)
    return at.isoformat(timespec="seconds" if at.second else "minutes").replace("+00:00", "Z")


def day(at: datetime) -> str:
    """A day in words, of a moment that has the zone which is meant."""
    return f"{at.day} {MONTHS[at.month - 1]} {at.year:04}"


def _name(at: datetime, unit: Unit) -> str:
    if unit.kind == "year" or (unit.kind == "month" and at.month == 1):
        return f"{at.year}"
    if unit.kind == "month":
        return MONTHS[at.month - 1]
    if unit.kind in ("day", "week") or (at.hour, at.minute) == (0, 0):
        return f"{at.day} {MONTHS[at.month - 1]}"
    return f"{at:%H:%M}"


def _bounds(one: Span, unit: Unit, zone: ZoneInfo) -> Iterator[datetime]:
    """The moments within a span at which a unit begins, ascending: an hour that the clocks leave out has none."""
    at, last = _floor(_there(one.start, zone), unit), one.start
    while True:
        try:
            at = _next(at, unit)
        except (OverflowError, ValueError):
            return
        moment = _instant(at, zone)
        if moment >= one.end:
            return
        if moment > last:
            yield moment
            last = moment


def _after(at: datetime, unit: Unit, zone: ZoneInfo) -> datetime:
    """The end of the unit in which a moment lies."""
    try:
        return _instant(_next(_floor(_there(at, zone), unit), unit), zone)
    except (OverflowError, ValueError):
        return LAST


def _floor(at: datetime, unit: Unit) -> datetime:
    """The beginning of the unit in which a moment of the wall's clock lies."""
    day = at.replace(hour=0, minute=0, second=0, microsecond=0)
    match unit.kind:
        case "minute":
            return at.replace(minute=at.minute - at.minute % unit.count, second=0, microsecond=0)
        case "hour":
            return day.replace(hour=at.hour - at.hour % unit.count)
        case "day":
            return day - timedelta(days=(day.toordinal() - 1) % unit.count)
        case "week":
            return day - timedelta(days=min((day.toordinal() - 1) % (7 * unit.count), day.toordinal() - 1))
        case "month":
            return day.replace(day=1, month=at.month - (at.month - 1) % unit.count)
        case _:
            return day.replace(day=1, month=1, year=max(1, at.year - at.year % unit.count))


def _next(at: datetime, unit: Unit) -> datetime:
    """The beginning of the next unit after one."""
    match unit.kind:
        case "month":
            months = at.month - 1 + unit.count
            return at.replace(year=at.year + months // 12, month=months % 12 + 1)
        case "year":
            return at.replace(year=at.year - at.year % unit.count + unit.count)
        case _:
            return at + timedelta(seconds=unit.seconds)


def _there(at: datetime, zone: ZoneInfo) -> datetime:
    """What the clock on the wall shows; UTC's, where the zone's year would be none."""
    try:
        return at.astimezone(zone).replace(tzinfo=None)
    except OverflowError:
        return at.astimezone(UTC).replace(tzinfo=None)


def _instant(at: datetime, zone: ZoneInfo) -> datetime:
    try:
        return at.replace(tzinfo=zone).astimezone(UTC)
    except OverflowError:
        return at.replace(tzinfo=UTC)
