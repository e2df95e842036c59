"""Segments: the list, and one of them."""

from __future__ import annotations

from itertools import pairwise

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from embermem.core.text import fold
from embermem.core.types import Segment
from embermem.http.inspector import reading
from embermem.http.inspector.drawing import charts
from embermem.http.inspector.place import PageContext, PageRoute, Place
from embermem.memoryos.ingest.mid_term import accessed_at

A_PAGE = 48
"""Segments in one part of the list."""
SHOWN = 60
"""Pages in one part of a segment's page."""
LINES = 3
"""Lines of a summary in the list; a segment's page has them all."""
ORDERS = {"heat": "hottest", "size": "largest", "new": "newest"}

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/segments")
def segments(here: PageContext, by: str = "heat", archived: int = 0, q: str = "", after: str = "") -> HTMLResponse:
    """The segments of mid-term memory, or of the archive, in parts: those that speak of some words."""
    every = _heats(here, archived=bool(archived))
    words = fold(q).split()
    found = [one for one in every if not words or all(word in words_of(one.segment) for word in words)]
    if by == "size":
        found.sort(key=lambda one: (-len(one.segment.page_ids), -one.heat))
    elif by == "new":
        found.sort(key=lambda one: one.segment.said_to, reverse=True)
    start = next((at for at, one in enumerate(found, 1) if one.segment.id == after), 0)
    shown = found[start : start + A_PAGE]
    return here.page(
        "segments.html",
        title="Segments",
        heats=shown,
        total=len(every),
        found=len(found),
        first=start + 1,
        next=shown[-1].segment.id if start + A_PAGE < len(found) else None,
        by=by if by in ORDERS else "heat",
        orders=ORDERS,
        archived=bool(archived),
        q=q,
        label=charts.label,
        lines=LINES,
    )


@router.get("/segments/{segment_id}")
def segment(here: PageContext, segment_id: str, before: int = 0) -> HTMLResponse:
    """One segment: its summary and what that rests on, its pages with their chains, and what rests on them."""
    one = here.mine.segment(segment_id)
    found = here.mine.pages(segment=one.id, limit=SHOWN + 1, before=before or None)
    pages = found[-SHOWN:]
    joined = [a.chain_id is not None and a.chain_id == b.chain_id for a, b in pairwise(pages)]
    return here.page(
        "segment.html",
        title=charts.label(one),
        segment=one,
        accessed_at=accessed_at(one, here.memory.settings),
        heat_since=here.memory.settings.heat_since,
        heat=next(heat for heat in _heats(here, archived=one.archived) if heat.segment.id == one.id),
        pages=list(zip(pages, [False, *joined], [*joined, False], strict=False)),
        before=before,
        older=pages[0].no if len(found) > SHOWN else None,
        facts=reading.resting_on(here.mine, pages),
    )


def words_of(one: Segment) -> str:
    """All that is said of a segment, to look for words in it, whatever their case."""
    return fold(f"{one.title} {' '.join(one.keywords)} {one.summary}")


@router.get("/segments/{segment_id}/sources")
def sources(here: PageContext, segment_id: str) -> HTMLResponse:
    """What was said that a summary rests on: the part of a page that opens in place."""
    return reading.sources_page(here, here.mine.segment(segment_id).sources, back=f"/segments/{segment_id}")


def _heats(here: Place, *, archived: bool) -> list[charts.Heat]:
    """The heat of all segments of a tier now, so that a bar is as long on a segment's page as in the list."""
    return charts.heats(here.mine.segments(archived=archived), here.memory.now(), here.memory.settings)
