"""Memories: kept, listed, read, corrected, forgotten."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from fastapi import Header, Query

from embermem.core.errors import EmberError, InputError
from embermem.core.messages import LookBack
from embermem.core.types import Forgotten, Tier
from embermem.http.access import Access, Accessible, Right
from embermem.http.api import adding, facts, items, listing, models, serializers
from embermem.http.api.dependencies import Asking, AsOf, ItemId, Reading, RunQuery, Writing, router, written_by
from embermem.http.problems import problem_of
from embermem.memory import OwnerMemory

routes = router("memories")


class Kind(StrEnum):
    """What is listed."""

    PAGE = "page"
    FACT = "fact"


Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=models.LONGEST_KEY,
        description="Idempotency key. Repeated with the same messages, it adds nothing and returns the same answer; "
        "with other messages it is refused (409).",
    ),
]
DryRun = Annotated[bool, Query(description="Only return what would be removed.")]
Confirm = Annotated[bool, Query(description="Must be true unless dry_run is.")]


@routes.post("/memories", status_code=201, summary="Store messages")
def add_memories(access: Accessible, body: models.AddBody, key: Key = None) -> models.Added:
    """Stores messages. When it answers, they are on disk and can be found; they are analysed in the background."""
    return adding.add(
        written_by(access, body),
        body.messages,
        thread=body.run_id,
        at=body.at,
        key=key,
        fresh=body.fresh,
        expires_at=body.expires_at,
    )


@routes.post("/memories/batch", summary="Store a batch of messages")
def add_memories_batch(access: Accessible, body: models.BatchBody) -> models.Batch:
    """Each item is stored or refused separately, in order. If the key does not grant access to one of the owners,
    all are refused."""
    owners = [_owner_of(access, body, item) for item in body.read]
    return models.Batch(items=[_kept(owner, body, item) for owner, item in zip(owners, body.read, strict=True)])


@routes.get("/memories", summary="List memories")
def list_memories(
    owner: Reading,
    asked: Asking,
    kind: Annotated[Kind, Query(description="Pages, or current facts.")] = Kind.PAGE,
    tier: Annotated[Tier | None, Query(description="Only pages in this tier.")] = None,
    run_id: RunQuery = None,
) -> models.Items:
    """Pages or facts, newest first, paginated. Additions between two requests neither skip nor repeat items."""
    if kind is Kind.PAGE:
        pages = listing.pages(owner, asked, lambda page: serializers.page(owner.owner, page), tier=tier, thread=run_id)
        return models.Items(results=[*pages.things], next_cursor=pages.next_cursor)
    if tier is not None or run_id is not None:
        raise InputError("tier and run_id apply to pages only: leave them out, or use kind=page")
    known = facts.part(owner, asked, about=None, state=facts.State.CURRENT, then=LookBack())
    return models.Items(results=[*known.things], next_cursor=known.next_cursor)


@routes.get("/memories/{item_id}", summary="Read one memory")
def get_memory(owner: Reading, item_id: ItemId, as_of: AsOf = None) -> models.Item:
    """A page, an utterance or a fact, by its id; with `as_of`, as known at a time."""
    return items.shown(owner, item_id, as_of)


@routes.put("/memories/{item_id}", summary="Correct a fact")
@routes.patch("/memories/{item_id}", summary="Correct a fact", operation_id="patch_memory")
def update_memory(access: Accessible, item_id: ItemId, body: models.UpdateBody) -> models.FactItem:
    """Replaces a fact by a new one with a new id. Messages cannot be changed."""
    owner = written_by(access, body)
    return serializers.fact(owner.owner, items.corrected(owner, item_id, body.text))


@routes.delete("/memories/{item_id}", summary="Forget a page, a fact or a segment")
def delete_memory(owner: Writing, item_id: ItemId, dry_run: DryRun = False) -> Forgotten:
    """Removes it with everything that rests on it alone. The answer lists what was removed; `sha256` is over the
    ids."""
    return items.forgotten(owner, item_id, dry_run=dry_run)


@routes.delete("/memories", summary="Forget many pages, or everything")
def delete_memories(
    owner: Writing,
    run_id: RunQuery = None,
    before: Annotated[
        str | None,
        Query(min_length=1, max_length=models.LONGEST_TIME, description="Everything said before a time or day."),
    ] = None,
    matching: Annotated[
        str | None,
        Query(min_length=1, max_length=models.LONGEST_VALUE, description="Pages that contain all of these words."),
    ] = None,
    limit: Annotated[
        int | None,
        Query(ge=1, le=models.MOST_RESULTS, description="With `matching`: also the pages of this many search results."),
    ] = None,
    confirm: Confirm = False,
    dry_run: DryRun = False,
) -> Forgotten:
    """Forgets a thread, what was said before a time, or what matches; without any of these, everything of this
    owner."""
    if not (confirm or dry_run):
        raise InputError("this forgets for good: give confirm=true, or dry_run=true to see what would go")
    if all(named is None for named in (run_id, before, matching)):
        if limit is not None:
            raise InputError("limit requires matching")
        return owner.forget_owner(dry_run=dry_run)
    return owner.forget(thread=run_id, before=before, matching=matching, limit=limit, dry_run=dry_run)


@routes.get("/memories/{item_id}/history", summary="Read the history of a memory")
def get_memory_history(owner: Reading, item_id: ItemId) -> models.History:
    """The changes of a page, fact, segment or chain, each with only the decisions that name it."""
    return models.History(results=[serializers.change(change) for change in owner.history(item_id)])


def _owner_of(access: Access, body: models.BatchBody, item: models.BatchItem | models.RefusedItem) -> OwnerMemory:
    if isinstance(item, models.RefusedItem):
        return written_by(access, body)
    return access.owner(item.user_id or body.user_id, item.agent_id or body.agent_id, Right.WRITE)


def _kept(
    owner: OwnerMemory, body: models.BatchBody, item: models.BatchItem | models.RefusedItem
) -> models.BatchKept | models.BatchRefused:
    try:
        if isinstance(item, models.RefusedItem):
            raise InputError(item.why)
        added = adding.add(
            owner,
            item.messages,
            thread=item.run_id or body.run_id,
            at=item.at or body.at,
            key=item.key,
            fresh=item.fresh,
        )
    except EmberError as error:
        problem = problem_of(error)
        return models.BatchRefused(status=problem.status, problem=problem.body())
    return models.BatchKept(results=added.results, page_ids=added.page_ids)
