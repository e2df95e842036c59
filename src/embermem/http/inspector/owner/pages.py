"""The conversation itself: pages by thread, one page, one utterance whole."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, PlainTextResponse

from embermem.core.types import Page, Tier
from embermem.http.inspector import reading
from embermem.http.inspector.drawing import charts
from embermem.http.inspector.place import PageContext, PageRoute, Place

A_PAGE = 40
"""Pages of memory on one page of the inspector."""
_LOOK = 200
"""Pages read at once when one thread's are looked for."""
_FAR = 5000
"""So many pages are looked through for one thread; then a link goes on."""

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/pages")
def pages(here: PageContext, tier: str = "", thread: str = "", before: int = 0) -> HTMLResponse:
    """The conversation, newest first."""
    found, older = _found(here, tier, thread, before)
    return here.page(
        "pages.html",
        title="Pages",
        pages=found[::-1],
        tiers=[one.value for one in Tier],
        tier_now=tier,
        thread=thread,
        threads=sorted({chain.thread for chain in here.mine.chains()} | {page.thread for page in found}),
        before=before,
        older=older,
        nothing_said=here.mine.state() is None,
    )


@router.get("/pages/{page_id}")
def page(here: PageContext, page_id: str) -> HTMLResponse:
    """One page: what was said, where it stands, and what rests on it."""
    one = here.mine.page(page_id)
    return here.page(
        "page.html",
        title=f"Page {one.no}",
        page=one,
        segment=here.mine.segment(one.segment_id) if one.segment_id else None,
        facts=reading.resting_on(reading.every_fact(here.mine), [one]),
        history=here.mine.history(page_id),
        label=charts.label,
    )


@router.get("/utterances/{utterance_id}/text")
def whole(here: PageContext, utterance_id: str) -> PlainTextResponse:
    """One utterance whole, as plain text."""
    text = here.mine.utterance(utterance_id).text
    return PlainTextResponse(
        text.encode("utf-8", "replace").decode(),
        headers={"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"},
    )


def _found(here: Place, tier: str, thread: str, before: int) -> tuple[tuple[Page, ...], int | None]:
    """Pages oldest first, and the number below which older ones begin, if there are any."""
    at = before or None
    if not thread:
        found = here.mine.pages(tier or None, limit=A_PAGE + 1, before=at)
        more = len(found) > A_PAGE
        found = found[-A_PAGE:]
        return found, found[0].no if more else None
    kept: list[Page] = []
    seen = 0
    while len(kept) < A_PAGE and seen < _FAR:
        some = here.mine.pages(tier or None, limit=_LOOK, before=at)
        seen += len(some)
        kept = [*(one for one in some if one.thread == thread), *kept]
        if len(some) < _LOOK:
            kept, over = kept[-A_PAGE:], len(kept) > A_PAGE
            return tuple(kept), kept[0].no if over else None
        at = some[0].no
    kept = kept[-A_PAGE:]
    return tuple(kept), kept[0].no if kept else at
