"""The timeline's calendar and picture: whatever is drawn has its own room, within the picture, the same each time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import combinations, pairwise
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from embermem.http.inspector.drawing import calendar
from embermem.http.inspector.drawing.calendar import FIRST, LAST, Span
from embermem.http.inspector.drawing.timeline import EDGE, LANES, NARROW, ROW, WIDE, Picture, Told, draw, spread
from embermem.types import Timeline

ZONES = st.sampled_from(
    ["UTC", "Europe/Paris", "Asia/Kathmandu", "America/New_York", "Pacific/Apia", "Africa/Monrovia"]
).map(ZoneInfo)
MOMENTS = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59)).map(lambda at: at.replace(tzinfo=UTC))
NEAR = st.datetimes(datetime(2025, 1, 1), datetime(2027, 12, 31)).map(lambda at: at.replace(tzinfo=UTC))
SPANS = st.one_of(st.tuples(MOMENTS, MOMENTS), st.tuples(NEAR, NEAR)).map(lambda two: calendar.span(*sorted(two)))
TEXTS = st.text(max_size=80)


def some(kind: str) -> st.SearchStrategy[list[Told]]:
    """Things of a kind, near in time, some of which still hold."""
    made = st.tuples(TEXTS, NEAR, st.none() | st.timedeltas(timedelta(0), timedelta(days=900)), st.floats(0, 1))
    return st.lists(made, max_size=30).map(
        lambda them: [
            Told(kind=kind, id=f"{kind}{k}", text=text, since=at, until=None if last is None else at + last, strength=s)
            for k, (text, at, last, s) in enumerate(them)
        ]
    )


def picture(
    span: Span, zone: ZoneInfo, topics: Sequence[Told], facts: Sequence[Told], changes: Sequence[Told], size: str
) -> Picture:
    edges, _ = calendar.edges(span, zone)
    buckets = len(edges) - 1
    found = Timeline(
        edges=tuple(edges),
        said=tuple(range(buckets)),
        began=tuple(k % 3 for k in range(buckets)),
        ended=tuple(k % 2 for k in range(buckets)),
        said_found=sum(range(buckets)),
        segments_found=len(topics),
        facts_found=len(facts) + 1,
        changes_found=len(changes),
    )
    return draw(
        found,
        topics,
        spread(facts, edges),
        changes,
        span=span,
        zone=zone,
        now=datetime(2026, 6, 1, tzinfo=UTC),
        lanes=tuple(LANES),
        size={"wide": WIDE, "narrow": NARROW}[size],
    )


@given(SPANS, ZONES, some("topics"), some("facts"), some("changes"), st.sampled_from(["wide", "narrow"]))
def test_nothing_overlaps_and_all_is_within_the_picture_which_is_the_same_each_time(
    span: Span, zone: ZoneInfo, topics: list[Told], facts: list[Told], changes: list[Told], size: str
) -> None:
    inside = [one for one in (*topics, *facts) if one.since < span.end and (one.until or one.since) >= span.start]
    of_topics, of_facts = ([one for one in inside if one.kind == kind] for kind in ("topics", "facts"))
    changes = [one for one in changes if span.start <= one.since < span.end]
    drawn = picture(span, zone, of_topics, of_facts, changes, size)
    assert drawn == picture(span, zone, of_topics, of_facts[::-1], changes, size)
    for one in drawn.strips:
        left, right = one.reach
        assert EDGE - 0.2 <= left <= right <= drawn.width + 0.2, one
        assert 0 <= one.y <= drawn.height - ROW
    for one, other in combinations(drawn.strips, 2):
        if one.y == other.y:
            (a, b), (c, d) = one.reach, other.reach
            assert b <= c or d <= a, (one, other)
        else:
            assert abs(one.y - other.y) >= ROW
    for bar in drawn.bars:
        assert 0 <= bar.x <= bar.x + bar.w <= drawn.width
        assert 0 <= bar.y <= bar.y + bar.h <= drawn.height
    for mark, after in pairwise(sorted(drawn.marks, key=lambda one: one.x)):
        assert after.x - mark.x >= 12
    assert sum(len(mark.told) for mark in drawn.marks) == len(changes)
    assert all(0 <= x <= drawn.width for x, _ in drawn.ticks)


@given(NEAR, st.timedeltas(timedelta(hours=1), timedelta(days=400)), st.timedeltas(timedelta(0), timedelta(days=800)))
def test_what_goes_on_beyond_the_span_is_cut_at_its_edges(start: datetime, length: timedelta, more: timedelta) -> None:
    span = calendar.span(start, start + length)
    told = Told(kind="topics", id="s1", text="a topic", since=start - more, until=start + length + more)
    (one,) = picture(span, ZoneInfo("UTC"), [told], [], [], "wide").strips
    assert (one.before, one.after) == (more > timedelta(0), more > timedelta(0))
    assert one.x == EDGE
    assert one.x + one.w == WIDE.width - EDGE


@given(SPANS, ZONES, st.sampled_from([4, 10]))
def test_buckets_and_an_axis_of_few_moments_fill_a_span_and_its_neighbours_stay_within_the_calendar(
    span: Span, zone: ZoneInfo, most: int
) -> None:
    edges, unit = calendar.edges(span, zone)
    assert (edges[0], edges[-1]) == (span.start, span.end)
    assert all(since < until for since, until in pairwise(edges))
    assert len(edges) <= 301
    assert unit.seconds > 0
    ticks = calendar.ticks(span, zone, most)
    assert len(ticks) <= most + 3
    assert all(one < other for (one, _), (other, _) in pairwise(ticks))
    assert all(name for _, name in ticks)
    for one in (
        calendar.zoomed(span, 0.5),
        calendar.zoomed(span, 2.0),
        calendar.moved(span, zone, later=True),
        calendar.moved(span, zone, later=False),
    ):
        assert FIRST <= one.start < one.end <= LAST
        assert calendar.words(one, zone)


@given(MOMENTS, ZONES, st.sampled_from(sorted(calendar.PERIODS)))
def test_periods_follow_each_other_and_an_address_is_read_as_it_was_written(
    at: datetime, zone: ZoneInfo, name: str
) -> None:
    one = calendar.period(name, at, zone)
    if 2 < at.year < 9998:
        assert one.start <= at < one.end
        assert calendar.period_of(one, zone) is not None
        later = calendar.moved(one, zone, later=True)
        assert later.start == one.end
        assert calendar.moved(later, zone, later=False) == one
    assert calendar.read(calendar.written(at), zone, end=False) == at.replace(microsecond=0)


def test_a_day_of_an_address_is_whole_and_what_is_no_time_none() -> None:
    paris = ZoneInfo("Europe/Paris")
    assert calendar.read("2026-05-02", paris, end=False) == datetime(2026, 5, 1, 22, tzinfo=UTC)
    assert calendar.read("2026-05-02", paris, end=True) == datetime(2026, 5, 2, 22, tzinfo=UTC)
    for text in ("", "soon", "2026-13-01", "2026-5-2", "9" * 40, "\x00", "2026-05-02T25:00"):
        assert calendar.read(text, ZoneInfo("UTC"), end=True) is None, text


def test_a_span_is_called_by_what_it_is() -> None:
    for start, end, told in (
        ("2026-01-01", "2027-01-01", "2026"),
        ("2026-03-01", "2026-04-01", "Mar 2026"),
        ("2026-03-02", "2026-03-09", "2 Mar 2026 to 8 Mar 2026"),
        ("2026-03-02", "2026-03-03", "2 Mar 2026"),
        ("2026-03-02T10:00", "2026-03-02T12:00", "2 Mar 2026, 10:00 to 11:59"),
    ):
        two = (datetime.fromisoformat(one).replace(tzinfo=UTC) for one in (start, end))
        assert calendar.words(calendar.span(*two), ZoneInfo("UTC")) == told
