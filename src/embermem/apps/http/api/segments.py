"""Mid-term memory: segments, and the pages in them."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from embermem.apps.http.api import listing, models, views
from embermem.apps.http.api.owning import Cursor, ItemId, Limit, Reading, RunQuery, router
from embermem.types import Tier

routes = router("segments")


@routes.get("/segments", summary="The topics")
def list_segments(
    owner: Reading,
    archived: Annotated[bool, Query(description="Those that left for the archive.")] = False,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> models.Segments:
    """Segments with their heat, newest first, in parts."""
    part = listing.keyed(
        owner.segments(archived),
        lambda segment: segment.id,
        listing.by_numbers,
        listing=listing.named("segments", owner.owner.id, archived),
        limit=limit,
        cursor=cursor,
    )
    return models.Segments(
        results=[views.segment(segment, owner.heat(segment)) for segment in part.things], next_cursor=part.next_cursor
    )


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
    tier: Annotated[Tier | None, Query(description="Only of this tier.")] = None,
    run_id: RunQuery = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> models.Pages:
    """Pages, newest first, in parts."""
    part = listing.pages(owner, tier=tier, thread=run_id, limit=limit, cursor=cursor)
    return models.Pages(results=[views.page(owner.owner, page) for page in part.things], next_cursor=part.next_cursor)


@routes.get("/pages/{item_id}", summary="One exchange")
def get_page(owner: Reading, item_id: ItemId) -> models.PageItem:
    """A page with what was said in it."""
    return views.page(owner.owner, owner.page(item_id))
