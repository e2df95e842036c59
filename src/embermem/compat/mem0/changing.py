"""How one memory of mem0 is changed or deleted, in calls of Ember.

What was said cannot be changed, and is forgotten by whole pages. So where one memory of a page goes, its page is
forgotten, and what else the page taught or held is kept apart from it, under the ids that it had.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from embermem.compat.mem0.arguments import end_of
from embermem.compat.mem0.items import ACTOR, AS_GIVEN, CREATED, ENDS, ID, ROLE, SOURCE, Item, iso, of_fact, spans_of
from embermem.compat.mem0.reading import Reading, document_of, page_of
from embermem.core.errors import NotFound
from embermem.core.types import Document, Fact, FactId, PageId

if TYPE_CHECKING:
    from embermem.core.metadata import Metadata
    from embermem.memory import OwnerMemory


def update(memory: OwnerMemory, item: Item, text: str | None, metadata: Mapping[str, Any]) -> None:
    """Give a memory other words, or further metadata; an empty `ENDS` takes its end away. Its id stays.
    Raises InputError."""
    if isinstance(item.what, Fact):
        _update_fact(memory, item, item.what, text, metadata)
        return
    keep(memory, item, item.text if text is None else text, {**item.metadata, **metadata})
    if (page_id := page_of(item)) is not None:
        _detach(memory, [page_id], but=item)


def _update_fact(memory: OwnerMemory, item: Item, fact: Fact, text: str | None, metadata: Mapping[str, Any]) -> None:
    own = {**fact.own_metadata, **metadata, ID: item.id, CREATED: item.created_at.isoformat()}
    words = None if text in (None, item.text) else text
    if words is not None:
        own[AS_GIVEN] = True
    labels = None if own == fact.own_metadata else own
    if words is None and labels is None:
        return
    day = metadata.get(ENDS)
    after = memory.update(fact.id, words, metadata=labels, expires_at=end_of(day) if day else None)
    if day == "" and isinstance(after, Fact) and after.expires_at is not None:
        memory.expire(fact_id=after.id, at=None)


def delete(memory: OwnerMemory, item: Item) -> None:
    """Forget a memory and the words that it rests on."""
    if (document_id := document_of(item)) is not None:
        memory.forget_document(document_id)
        return
    if (page_id := page_of(item)) is not None:
        _detach(memory, [page_id], but=item)
        return
    fact = item.what
    assert isinstance(fact, Fact)
    said = (memory.utterance(source.utterance_id) for source in fact.sources)
    _detach(memory, list(dict.fromkeys(one.page_id for one in said)), but=item)
    _forget_fact(memory, fact.id)


def _forget_fact(memory: OwnerMemory, fact_id: FactId) -> None:
    try:
        memory.forget(fact=fact_id)
    except NotFound:
        return  # it went with the page that it rested on


def _detach(memory: OwnerMemory, page_ids: list[PageId], *, but: Item) -> None:
    """Forget pages, and keep what else they hold, but for one memory: facts are learnt again, as the caller's, and
    words that no fact holds are kept as they are.

    Whatever is kept is stored before the pages are forgotten: where the process ends on the way, nothing is lost.
    """
    if not page_ids:
        return
    reading = Reading(memory=memory, user_id=None)
    gone = set(memory.forget_pages(page_ids, dry_run=True).facts)
    dropped = but.what if isinstance(but.what, Fact) else None
    facts = [one for one in reading.facts if one.id in gone and one is not dropped and of_fact(one).id != but.id]
    cut = spans_of([dropped]) if dropped is not None else {}
    for page_id in page_ids:
        if page_id != but.id and (kept := reading.page(memory.page(page_id), cut)) is not None:
            keep(memory, kept, kept.text, kept.metadata)
    held = [keep(memory, one, one.text, one.metadata) for one in map(of_fact, facts)]
    memory.forget_pages(page_ids)
    if facts:
        memory.learn([_as_learnt(one, memory.owner.user) for one in facts])
        for document_id in held:
            memory.forget_document(document_id)


def keep(memory: OwnerMemory, item: Item, text: str, metadata: Metadata) -> str:
    """Store the text of a memory as it is, under the memory's id; returns the id of the document that holds it."""
    known = item.what if isinstance(item.what, Document) else None
    said = {name: one for name, one in ((ROLE, item.role), (ACTOR, item.actor_id)) if one is not None}
    labels = {**said, **metadata, CREATED: item.created_at.isoformat()}
    source = f"{SOURCE}{item.id}" if known is None else known.source
    title = str(labels.get(ACTOR) or memory.owner.user) if known is None else known.title
    steps = item.steps or ((item.text, iso(item.created_at)),)
    before = steps if text != item.text else steps[:-1]
    return put(memory, text, source=source, title=title, metadata=labels, before=before)


def put(
    memory: OwnerMemory,
    text: str,
    *,
    source: str,
    title: str,
    metadata: Metadata,
    before: Sequence[tuple[str, str]] = (),
    at: datetime | str | None = None,
) -> str:
    """Store a text as it is, or in place of the one of its source; returns the id of the document that holds it.
    `before` are earlier texts, with their times."""
    day = metadata.get(ENDS)
    labels = {name: value for name, value in metadata.items() if value != ""}
    ends = end_of(str(day)) if day else None
    kept = {"memory": text, "before": [list(one) for one in before]}
    made = memory.add_document(text, source=source, title=title, metadata=labels, at=at, original=kept, expires_at=ends)
    return str(made.id)


def _as_learnt(fact: Fact, user: str) -> Mapping[str, Any]:
    """A fact as a caller brings it: of the user without the name, which Ember puts before it."""
    item = of_fact(fact)
    text = item.text.removeprefix(f"{user} ") if fact.subject == user else item.text
    labels = {**fact.metadata, ID: item.id, CREATED: item.created_at.isoformat()}
    told = {"text": text, "value": fact.value, "subject": fact.subject, "attribute": fact.attribute}
    return {**told, "about": fact.about.value, "valid_from": fact.valid_from, "metadata": labels}


def history(reading: Reading, item_id: str, memory_id: str) -> list[dict[str, Any]]:
    """What became of a memory, oldest first: each step with the text before and after it."""
    steps: list[dict[str, Any]] = []

    def step(event: str, old: str | None, new: str | None, updated_at: datetime | None, item: Item) -> None:
        steps.append(
            {
                "id": f"{memory_id}:{len(steps)}",
                "memory_id": memory_id,
                "old_memory": old,
                "new_memory": new,
                "event": event,
                "created_at": item.result(memory_id, None)["created_at"],
                "updated_at": None if updated_at is None else iso(updated_at),
                "is_deleted": event == "DELETE",
                "actor_id": item.held(None).get("actor_id"),
                "role": item.held(None).get("role"),
            }
        )

    before: Item | None = None
    for item in map(of_fact, reading.past(item_id) if item_id[:1] in ("f", "p") else ()):
        if before is None:
            step("ADD", None, item.text, None, item)
        else:
            step("UPDATE", before.text, item.text, item.updated_at, item)
        before = item
    if before is not None and isinstance(before.what, Fact) and before.what.retired_at is not None:
        step("DELETE", before.text, None, before.what.retired_at, before)
    elif before is None and (known := reading.find(item_id)) is not None:
        old: str | None = None
        for text, at in known.steps or ((known.text, iso(known.created_at)),):
            step("ADD" if old is None else "UPDATE", old, text, datetime.fromisoformat(at), known)
            old = text
    return steps
