"""Mid-term memory: segments, and the pages in them."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from embermem.core.types import Tier
from embermem.http.access import asker_of
from embermem.http.api import bodies, listing
from embermem.http.api.dependencies import Asking, ItemId, LookingBack, Reading, RunQuery, Scoping, router
from embermem.wire.answers import Pages, Segments
from embermem.wire.mapping import to_record
from embermem.wire.memories import PageItem, SegmentItem, SegmentWhole, page_item

routes = router("segments")


@routes.get("/segments", summary="List segments")
def list_segments(
    owner: Reading,
    asked: Asking,
    then: LookingBack,
    archived: Annotated[bool, Query(description="Archived segments.")] = False,
    scope: Scoping = None,
) -> Segments:
    """Segments with their heat, newest first, paginated."""
    return listing.keyed(
        owner.segments(archived, scope=scope, **then),
        lambda segment: segment.id,
        listing.by_numbers,
        asked,
        lambda segment: to_record(SegmentItem, segment, heat=owner.heat(segment, as_of=then.get("as_of"))),
        into=Segments,
        listing=listing.named("segments", owner.owner.id, archived, listing.told(scope), *then.items()),
    )


@routes.get("/segments/{item_id}", summary="Read one segment")
def get_segment(
    owner: Reading,
    item_id: ItemId,
    then: LookingBack,
    limit: Annotated[int, Query(ge=0, le=bodies.MOST_RESULTS, description="Number of its newest pages.")] = 50,
) -> SegmentWhole:
    """A segment, with its newest pages in order. `page_ids` lists all of them."""
    segment = owner.segment(item_id, **then)
    newest = owner.pages(limit=limit, segment=segment.id, **then) if limit else ()
    pages = tuple(page_item(asker_of(owner), page) for page in newest)
    return to_record(SegmentWhole, segment, heat=owner.heat(segment, as_of=then.get("as_of")), pages=pages)


@routes.get("/pages", summary="List pages")
def list_pages(
    owner: Reading,
    asked: Asking,
    then: LookingBack,
    tier: Annotated[Tier | None, Query(description="Only this tier.")] = None,
    run_id: RunQuery = None,
    scope: Scoping = None,
) -> Pages:
    """Pages, newest first, paginated."""
    return listing.pages(owner, asked, into=Pages, tier=tier, thread=run_id, scope=scope, then=then)


@routes.get("/pages/{item_id}", summary="Read one page")
def get_page(owner: Reading, item_id: ItemId, then: LookingBack) -> PageItem:
    """A page with its utterances."""
    return page_item(asker_of(owner), owner.page(item_id, **then))
