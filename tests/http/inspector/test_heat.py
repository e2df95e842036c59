"""A heat is the same wherever it is shown at one time: the list, a segment's page, the map, the timeline, the API."""

from __future__ import annotations

import re
from datetime import timedelta

import httpx2
import pytest
from read_page import get

from embermem import Memory, OwnerMemory
from embermem.http.inspector.drawing import charts
from scripted import NOW, Clock


@pytest.fixture
def warm(memory: Memory, clock: Clock) -> OwnerMemory:
    """Topics of last winter, of now and of a time to come; some were visited, days ago."""
    alice = memory.of("alice")
    winter, to_come = NOW - timedelta(days=150), NOW + timedelta(days=40)
    for n in range(4):
        day = timedelta(days=n)
        alice.add(f"The cello sounds warm in the evening hall of the old school {n}.", at=winter + day, thread="cello")
        alice.add(f"My tomato plants need sun, water and good soil on the balcony {n}.", at=NOW, thread="garden")
        alice.add(f"The night train to Vienna leaves platform nine after supper {n}.", at=to_come, thread="train")
    alice.settle()
    alice.visit(alice.search("cello"))
    clock.go(6 * 86_400.0)
    return alice


def test_the_same_heat_is_told_everywhere_and_lines_and_bars_end_at_it(warm: OwnerMemory, http: httpx2.Client) -> None:
    told = {segment.id: f"{warm.heat(segment):.2f}" for segment in warm.segments()}
    assert len(set(told.values())) > 1
    listed = re.findall(
        r'data-test="segment">.*?/segments/([^?"]+)\?.*?class="heat-no num"[^>]*>([\d.]+)<',
        _page(http, "/segments"),
        re.S,
    )
    assert dict(listed) == told
    for segment_id, heat in told.items():
        page = _page(http, f"/segments/{segment_id}")
        assert re.findall(r'class="heat-no num">([\d.]+)<', page) == [heat]
        assert "said or used" in page
        parts = re.findall(r'<dd class="num">([\d.]+)</dd>', page)
        assert sum(map(float, parts)) == pytest.approx(float(heat), abs=0.02)
    mapped = re.findall(r'<a href="/segments/([^?"]+)\?[^>]*><title>[^<]*heat ([\d.]+)', _page(http, "/map", draw="1"))
    assert dict(mapped) == told
    answer = http.get("/v1/segments", params={"user_id": "alice"}).json()
    assert {one["id"]: f"{one['heat']:.2f}" for one in answer["results"]} == told
    hottest = sorted(warm.segments(), key=lambda one: (-warm.heat(one), one.id))
    rows = re.findall(
        r'/segments/([^?"]+)\?[^"]*">.*?aria-label="Heat over time[^"]*now ([\d.]+)".*?<polyline points="([^"]*)".*?'
        r'title="heat now">([\d.]+)<',
        _page(http, "/overview").partition('id="heat"')[2],
        re.S,
    )
    assert [segment_id for segment_id, *_ in rows] == [one.id for one in hottest]
    ends = []
    for one, (_, told, points, beside) in zip(hottest, rows, strict=True):
        assert told == beside == f"{warm.heat(one):.2f}"
        ends.append([float(x) for x in points.split()[-1].split(",")])
    assert len({x for x, _ in ends}) == 1
    floor = charts.LINE_HIGH
    heights = [(floor - y) / warm.heat(one) for one, (_, y) in zip(hottest, ends, strict=True)]
    assert heights == pytest.approx([heights[0]] * len(heights), abs=0.1)
    coldest = min(warm.segments(), key=warm.heat)
    most = max(warm.heat(one) for one in warm.segments())
    widths = re.findall(r'class="part-\w+" x="[\d.]+%" width="([\d.]+)%"', _page(http, f"/segments/{coldest.id}"))
    assert sum(map(float, widths)) == pytest.approx(100 * warm.heat(coldest) / most, abs=0.1)


def _page(http: httpx2.Client, path: str, **query: str) -> str:
    answer = get(http, path, **query)
    assert answer.status_code == 200
    return answer.text
