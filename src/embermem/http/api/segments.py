"""Mid-term memory: segments, and the pages in them."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import Query

from embermem.core.messages import LookBack
from embermem.core.types import Segment, Tier
from embermem.http.api import listing, models, serializers
from embermem.http.api.dependencies import Asking, ItemId, LookingBack, Reading, RunQuery, router
from embermem.memory import OwnerMemory

routes = router("segments")


@routes.get("/segments", summary="List segments")
def list_segments(
    owner: Reading,
    asked: Asking,
    then: LookingBack,
    archived: Annotated[bool, Query(description="Archived segments.")] = False,
) -> models.Segments:
    """Segments with their heat, newest first, paginated."""
    part = listing.keyed(
        owner.segments(archived, **then),
        lambda segment: segment.id,
        listing.by_numbers,
        asked,
        lambda segment: serializers.segment(segment, _heat(owner, segment, then)),
        listing=listing.named("segments", owner.owner.id, archived, *then.items()),
    )
    return models.Segments(results=part.things, next_cursor=part.next_cursor)


@routes.get("/segments/{item_id}", summary="Read one segment")
def get_segment(
    owner: Reading,
    item_id: ItemId,
    then: LookingBack,
    limit: Annotated[int, Query(ge=0, le=models.MOST_RESULTS, description="Number of its newest pages.")] = 50,
) -> models.SegmentWhole:
    """A segment, with its newest pages in order. `page_ids` lists all of them."""
    segment = owner.segment(item_id, **then)
    newest = segment.page_ids[-limit:] if limit else ()
    pages = [serializers.page(owner.owner, owner.page(page_id, **then)) for page_id in newest]
    return models.SegmentWhole(**dict(serializers.segment(segment, _heat(owner, segment, then))), pages=pages)


@routes.get("/pages", summary="List pages")
def list_pages(
    owner: Reading,
    asked: Asking,
    then: LookingBack,
    tier: Annotated[Tier | None, Query(description="Only this tier.")] = None,
    run_id: RunQuery = None,
) -> models.Pages:
    """Pages, newest first, paginated."""
    show = partial(serializers.page, owner.owner)
    part = listing.pages(owner, asked, show, tier=tier, thread=run_id, then=then)
    return models.Pages(results=part.things, next_cursor=part.next_cursor)


@routes.get("/pages/{item_id}", summary="Read one page")
def get_page(owner: Reading, item_id: ItemId, then: LookingBack) -> models.PageItem:
    """A page with its utterances."""
    return serializers.page(owner.owner, owner.page(item_id, **then))


def _heat(owner: OwnerMemory, segment: Segment, then: LookBack) -> float:
    """Heat is of now: of another time it is told as 0."""
    return 0.0 if then else owner.heat(segment)
