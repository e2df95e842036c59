"""Memories: kept, listed, read, corrected, forgotten."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import partial
from typing import Annotated, Any

from fastapi import Query

from embermem.core.errors import EmberError, InputError, NotFound
from embermem.core.types import Fact, Forgotten, Tier, Utterance
from embermem.http.access import Access, Accessible, Right, asker_of
from embermem.http.api import bodies, items, listing
from embermem.http.api.dependencies import (
    Asking,
    AsOf,
    ItemId,
    Key,
    Reading,
    RunQuery,
    Scoping,
    Writing,
    router,
    text_query,
    time_query,
    written_by,
)
from embermem.http.problems import problem_of
from embermem.memory import OwnerMemory
from embermem.wire.answers import Batch, BatchKept, BatchRefused, History
from embermem.wire.mapping import to_record
from embermem.wire.memories import Added, Addition, ChangeItem, FactItem, PageItem, fact_item, page_item

routes = router("memories")


class Kind(StrEnum):
    """What is listed."""

    PAGE = "page"
    UTTERANCE = "utterance"
    FACT = "fact"
    SEGMENT = "segment"
    CHAIN = "chain"
    DOCUMENT = "document"


class Order(StrEnum):
    """What comes first."""

    NEWEST = "newest"
    OLDEST = "oldest"


DryRun = Annotated[bool, Query(description="Only return what would be removed.")]
Confirm = Annotated[bool, Query(description="Must be true unless dry_run is.")]


@routes.post("/memories", status_code=201, summary="Store messages")
def add_memories(access: Accessible, body: bodies.AddBody, key: Key = None) -> Added:
    """Stores messages. When it answers, they are on disk and can be found; they are analysed in the background."""
    return _add(
        written_by(access, body),
        body.messages,
        thread=body.run_id,
        at=body.at,
        key=key,
        fresh=body.fresh,
        expires_at=body.expires_at,
        metadata=body.metadata,
    )


@routes.post("/memories/batch", summary="Store a batch of messages")
def add_memories_batch(access: Accessible, body: bodies.BatchBody) -> Batch:
    """Each item is stored or refused separately, in order. If the key does not grant access to one of the owners,
    all are refused."""
    owners = [_owner_of(access, body, item) for item in body.read]
    return Batch(items=tuple(_kept(owner, body, item) for owner, item in zip(owners, body.read, strict=True)))


@routes.get("/memories", summary="List memories")
def list_memories(
    owner: Reading,
    asked: Asking,
    kind: Annotated[Kind, Query(description="Pages, current facts, or other items.")] = Kind.PAGE,
    order: Annotated[Order, Query(description="Which come first.")] = Order.NEWEST,
    tier: Annotated[Tier | None, Query(description="Only pages in this tier, newest first.")] = None,
    run_id: RunQuery = None,
    scope: Scoping = None,
    after: Annotated[
        str | None, text_query("Begin after this item: an id, or the number of a page or message.")
    ] = None,
) -> items.Items:
    """Items of one kind, paginated. Additions between two requests neither skip nor repeat items."""
    if kind is Kind.PAGE and order is Order.NEWEST and after is None:
        return listing.pages(owner, asked, into=items.Items, tier=tier, thread=run_id, scope=scope)
    if tier is not None or run_id is not None:
        raise InputError("tier and run_id apply to pages, newest first and from the first, only: leave them out")
    show = partial(items.shown, owner)
    return listing.items(owner, asked, kind.value, order.value, show, after=after, scope=scope, into=items.Items)


@routes.get("/memories/{item_id}", summary="Read one memory")
def get_memory(owner: Reading, item_id: ItemId, as_of: AsOf = None) -> items.Item:
    """A page, utterance, fact, segment, chain or document, by its id; with `as_of`, as known at a time."""
    return items.shown(owner, owner.get(item_id, as_of=as_of), as_of)


@routes.put("/memories/{item_id}", summary="Update a fact or a page")
@routes.patch("/memories/{item_id}", summary="Update a fact or a page", operation_id="patch_memory")
def update_memory(access: Accessible, item_id: ItemId, body: bodies.UpdateBody, key: Key = None) -> FactItem | PageItem:
    """With `text` or `metadata`, replaces a fact by a new one with a new id; `pinned` and `expires_at` change it in
    place. Of a page, `expires_at` can be changed. What was said cannot be changed (409)."""
    owner = written_by(access, body)
    updated = owner.update(
        item_id,
        body.text,
        value=body.value,
        pinned=body.pinned,
        expires_at=body.expires_at,
        metadata=body.metadata,
        key=key,
    )
    return fact_item(asker_of(owner), updated) if isinstance(updated, Fact) else page_item(asker_of(owner), updated)


@routes.delete("/memories/{item_id}", summary="Forget a page, a fact, a segment or a document")
def delete_memory(owner: Writing, item_id: ItemId, dry_run: DryRun = False, key: Key = None) -> Forgotten:
    """Removes it with everything that rests on it alone. The answer lists what was removed; `sha256` is over the
    ids."""
    return owner.delete(item_id, dry_run=dry_run, key=key)


@routes.delete("/memories", summary="Forget many pages, or everything")
def delete_memories(
    owner: Writing,
    run_id: RunQuery = None,
    before: Annotated[str | None, time_query("Everything said before a time or day.")] = None,
    matching: Annotated[str | None, text_query("Pages that contain all of these words.", bodies.LONGEST_VALUE)] = None,
    scope: Scoping = None,
    confirm: Confirm = False,
    dry_run: DryRun = False,
    key: Key = None,
) -> Forgotten:
    """Forgets a thread, what was said before a time, what matches, or the pages of a scope; without any of these,
    everything of this owner, which takes no key."""
    if not (confirm or dry_run):
        raise InputError("this forgets for good: give confirm=true, or dry_run=true to see what would go")
    if all(named is None for named in (run_id, before, matching, scope)):
        if key is not None:
            raise InputError("forgetting a whole memory takes no Idempotency-Key: its receipts are forgotten with it")
        return owner.forget_owner(dry_run=dry_run)
    return owner.forget(thread=run_id, before=before, matching=matching, scope=scope, dry_run=dry_run, key=key)


@routes.get("/memories/{item_id}/history", summary="Read the history of a memory")
def get_memory_history(owner: Reading, item_id: ItemId) -> History:
    """The changes of a page, fact, segment or chain, each with only the decisions that name it; and what they
    changed, from what to what."""
    results = tuple(to_record(ChangeItem, change) for change in owner.history(item_id))
    return History(results=results, edits=owner.edits(item_id))


def _owner_of(access: Access, body: bodies.BatchBody, item: bodies.BatchItem | bodies.RefusedItem) -> OwnerMemory:
    if isinstance(item, bodies.RefusedItem):
        return written_by(access, body)
    return access.owner(item.user_id or body.user_id, item.agent_id or body.agent_id, Right.WRITE, space=body.space)


def _kept(
    owner: OwnerMemory, body: bodies.BatchBody, item: bodies.BatchItem | bodies.RefusedItem
) -> BatchKept | BatchRefused:
    try:
        if isinstance(item, bodies.RefusedItem):
            raise InputError(item.why)
        added = _add(
            owner,
            item.messages,
            thread=item.run_id or body.run_id,
            at=item.at or body.at,
            key=item.key,
            fresh=item.fresh,
            metadata=item.metadata,
            expires_at=item.expires_at,
        )
    except EmberError as error:
        problem = problem_of(error)
        return BatchRefused(status=problem.status, problem=problem.body())
    return BatchKept(results=added.results, page_ids=added.page_ids, redactions=added.redactions)


def _add(
    owner: OwnerMemory,
    given: str | Sequence[bodies.Message],
    *,
    thread: str,
    at: str | None,
    key: str | None,
    fresh: bool | None,
    expires_at: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Added:
    """Keep messages; what was kept. The same key gives the same answer again.

    Without a word on `fresh`, a text begins a page of its own, and a list goes on with the open one.
    """
    alone = isinstance(given, str)
    messages = [{"role": "user", "content": given}] if isinstance(given, str) else [_plain(one) for one in given]
    added = owner.add_messages(
        messages,
        thread=thread,
        at=at,
        key=key,
        fresh=alone if fresh is None else fresh,
        expires_at=expires_at,
        metadata=metadata,
    )
    wanted = set(added.utterance_ids)
    kept = [utterance for page_id in added.page_ids for utterance in _said(owner, page_id) if utterance.id in wanted]
    return Added(
        results=tuple(to_record(Addition, utterance) for utterance in sorted(kept, key=lambda one: one.seq)),
        page_ids=added.page_ids,
        redactions=added.redactions,
    )


def _plain(message: bodies.Message) -> Mapping[str, Any]:
    """The message as it was given. Not by model_dump: that refuses parts nested deeper than it likes."""
    return {name: getattr(message, name) for name in message.model_fields_set}


def _said(owner: OwnerMemory, page_id: str) -> tuple[Utterance, ...]:
    """A page's utterances; none where it was forgotten just now."""
    try:
        return owner.page(page_id).utterances
    except NotFound:
        return ()
