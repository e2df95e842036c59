"""Mid-term memory: segments, and the pages in them."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from embermem.apps.http.api import listing, models, views
from embermem.apps.http.api.owning import Asking, ItemId, Reading, RunQuery, router
from embermem.types import Tier

routes = router("segments")


@routes.get("/segments", summary="The topics")
def list_segments(
    owner: Reading,
    asked: Asking,
    archived: Annotated[bool, Query(description="Those that left for the archive.")] = False,
) -> models.Segments:
    """Segments with their heat, newest first, in parts."""
    part = listing.keyed(
        owner.segments(archived),
        lambda segment: segment.id,
        listing.by_numbers,
        asked,
        lambda segment: views.segment(segment, owner.heat(segment)),
        listing=listing.named("segments", owner.owner.id, archived),
    )
    return models.Segments(results=part.things, next_cursor=part.next_cursor)


@routes.get("/segments/{item_id}", summary="One topic")
def get_segment(
    owner: Reading,
    item_id: ItemId,
    limit: Annotated[int, Query(ge=0, le=models.MOST_RESULTS, description="How many of its newest pages.")] = 50,
) -> models.SegmentWhole:
    """A segment, with its newest pages in order. `page_ids` names them all."""
    segment = owner.segment(item_id)
    newest = segment.page_ids[-limit:] if limit else ()
    pages = [views.page(owner.owner, owner.page(page_id)) for page_id in newest]
    return models.SegmentWhole(**dict(views.segment(segment, owner.heat(segment))), pages=pages)


@routes.get("/pages", summary="The exchanges")
def list_pages(
    owner: Reading,
    asked: Asking,
    tier: Annotated[Tier | None, Query(description="Only of this tier.")] = None,
    run_id: RunQuery = None,
) -> models.Pages:
    """Pages, newest first, in parts."""
    part = listing.pages(owner, asked, lambda page: views.page(owner.owner, page), tier=tier, thread=run_id)
    return models.Pages(results=part.things, next_cursor=part.next_cursor)


@routes.get("/pages/{item_id}", summary="One exchange")
def get_page(owner: Reading, item_id: ItemId) -> models.PageItem:
    """A page with what was said in it."""
    return views.page(owner.owner, owner.page(item_id))
