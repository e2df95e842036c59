"""The conversation itself: pages by thread, one page, one utterance whole."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, PlainTextResponse

from embermem.core.types import Scope, Tier
from embermem.http.inspector import reading
from embermem.http.inspector.drawing import charts
from embermem.http.inspector.place import PageContext, PageRoute

A_PAGE = 40
"""Pages of memory on one page of the inspector."""
TIERS = {
    Tier.SHORT: "newest",
    Tier.PENDING: "waiting",
    Tier.MID: "in a topic",
    Tier.ARCHIVE: "archive",
}
"""The tiers in words."""

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/pages")
def pages(
    here: PageContext,
    tier: str = "",
    thread: str = "",
    speaker: str = "",
    since: str = "",
    until: str = "",
    before: int = 0,
) -> HTMLResponse:
    """The conversation, newest first: of one tier or thread, what one person said, or what was said on some days."""
    asked = {name: value.strip() for name, value in (("speaker", speaker), ("since", since), ("until", until))}
    scope = Scope(
        speakers=[asked["speaker"]] if asked["speaker"] else None,
        since=asked["since"] or None,
        until=asked["until"] or None,
    )
    found = here.mine.pages(tier or None, limit=A_PAGE + 1, before=before or None, thread=thread or None, scope=scope)
    shown = found[-A_PAGE:]
    return here.page(
        "pages.html",
        title="Pages",
        pages=shown[::-1],
        tiers=TIERS,
        tier_now=tier,
        thread=thread,
        threads=sorted({page.thread for page in shown}),
        speakers=sorted({one.speaker for page in shown for one in page.utterances}),
        asked=asked,
        filtered=bool(thread or any(asked.values())),
        before=before,
        older=shown[0].no if len(found) > A_PAGE else None,
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
        facts=reading.resting_on(here.mine, [one]),
        history=here.mine.history(page_id),
        label=charts.label,
        tiers=TIERS,
    )


@router.get("/utterances/{utterance_id}/text")
def whole(here: PageContext, utterance_id: str) -> PlainTextResponse:
    """One utterance whole, as plain text."""
    text = here.mine.utterance(utterance_id).text
    return PlainTextResponse(
        text.encode("utf-8", "replace").decode(),
        headers={"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"},
    )
