"""Segments: the list, and one of them."""

from __future__ import annotations

from itertools import pairwise

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from embermem.http.inspector import reading
from embermem.http.inspector.drawing import charts
from embermem.http.inspector.place import PageContext, PageRoute, Place
from embermem.memoryos.ingest.mid_term import accessed_at

LISTED = 200
"""Segments in one list: mid-term memory holds no more, the archive may."""
SHOWN = 200
"""Pages of one segment on its page."""
LINES = 3
"""Lines of a summary in the list; a segment's page has them all."""
ORDERS = {"heat": "hottest", "size": "largest", "new": "newest"}

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/segments")
def segments(here: PageContext, by: str = "heat", archived: int = 0) -> HTMLResponse:
    """All segments of mid-term memory, or of the archive."""
    found = _heats(here, archived=bool(archived))
    if by == "size":
        found.sort(key=lambda one: (-len(one.segment.page_ids), -one.heat))
    elif by == "new":
        found.sort(key=lambda one: one.segment.said_to, reverse=True)
    return here.page(
        "segments.html",
        title="Segments",
        heats=found[:LISTED],
        total=len(found),
        more=max(0, len(found) - LISTED),
        by=by if by in ORDERS else "heat",
        orders=ORDERS,
        archived=bool(archived),
        label=charts.label,
        lines=LINES,
    )


@router.get("/segments/{segment_id}")
def segment(here: PageContext, segment_id: str) -> HTMLResponse:
    """One segment: its summary and what that rests on, its pages with their chains, and what rests on it."""
    one = here.mine.segment(segment_id)
    pages = [here.mine.page(page_id) for page_id in one.page_ids[:SHOWN]]
    joined = [a.chain_id is not None and a.chain_id == b.chain_id for a, b in pairwise(pages)]
    return here.page(
        "segment.html",
        title=charts.label(one),
        segment=one,
        accessed_at=accessed_at(one, here.memory.settings),
        heat_since=here.memory.settings.heat_since,
        heat=next(heat for heat in _heats(here, archived=one.archived) if heat.segment.id == one.id),
        pages=list(zip(pages, [False, *joined], [*joined, False], strict=False)),
        left=max(0, len(one.page_ids) - SHOWN),
        facts=reading.resting_on(reading.every_fact(here.mine), pages),
    )


@router.get("/segments/{segment_id}/sources")
def sources(here: PageContext, segment_id: str) -> HTMLResponse:
    """What was said that a summary rests on: the part of a page that opens in place."""
    return reading.sources_page(here, here.mine.segment(segment_id).sources, back=f"/segments/{segment_id}")


def _heats(here: Place, *, archived: bool) -> list[charts.Heat]:
    """The heat of all segments of a tier now, so that a bar is as long on a segment's page as in the list."""
    return charts.heats(here.mine.segments(archived=archived), here.memory.now(), here.memory.settings)
