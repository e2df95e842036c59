"""What an id stands for: what is forgotten by it, and where it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from embermem.core.errors import InputError
from embermem.core.traits import dimensions
from embermem.core.types import Fact, Forgotten, Source, Tier, Why
from embermem.mcp import shapes
from embermem.reports import render
from embermem.wire.mapping import to_record

if TYPE_CHECKING:
    from embermem.memory import OwnerMemory

_SAID_SHOWN = 40
"""What `why` and a preview show of a long segment, so that an answer does not fill a model's window."""


def forgetting(owner: OwnerMemory, item: str) -> partial[Forgotten]:
    """`forget` of what an id stands for: its first letter is its kind. Raises NotFound, InputError."""
    match item[:1]:
        case "p":
            return partial(owner.forget, page=item)
        case "u":
            return partial(owner.forget, page=owner.utterance(item).page_id)
        case "f":
            return partial(owner.forget, fact=item)
        case "s":
            return partial(owner.forget, segment=item)
        case "d":
            return partial(owner.forget_document, item)
        case _:
            raise _no_id(item)


def origin(owner: OwnerMemory, item: str, notice: str) -> shapes.Origin:
    """Where the item with this id or name comes from. Raises NotFound, InputError."""
    if "." in item or item in {one.name for one in dimensions()} or item[:1] in ("c", "l"):
        return _origin_of_other(owner.why(item), notice)
    of_pages = partial(_origin_of_pages, owner, item, notice=notice)
    match item[:1]:
        case "f":
            return _origin_of_fact(owner, owner.fact(item), notice)
        case "u":
            one = owner.utterance(item)
            page = owner.page(one.page_id)
            return of_pages([page.id], kind="utterance", text=one.text, state=str(page.tier or ""), changed=page.id)
        case "p":
            page = owner.page(item)
            return of_pages([page.id], kind="page", text=page.query, state=str(page.tier or ""), changed=page.id)
        case "s":
            segment = owner.segment(item)
            tier = Tier.ARCHIVE if segment.archived else Tier.MID
            return of_pages(segment.page_ids, kind="segment", text=segment.summary, state=tier, changed=segment.id)
        case _:
            raise _no_id(item)


def words(owner: OwnerMemory, pages: Sequence[str], facts: Sequence[str]) -> dict[str, str]:
    """The words of what would go, by id; of much, the first."""
    shown = [one for page in pages[:_SAID_SHOWN] for one in owner.page(page).utterances][:_SAID_SHOWN]
    said: dict[str, str] = {one.id: f"{one.speaker}: {one.text}" for one in shown}
    return {**said, **{fact: owner.fact(fact).text for fact in facts[:_SAID_SHOWN]}}


def _origin_of_pages(
    owner: OwnerMemory,
    item: str,
    page_ids: Sequence[str],
    *,
    notice: str,
    kind: str,
    text: str,
    state: str,
    changed: str,
) -> shapes.Origin:
    pages = [owner.page(page_id) for page_id in page_ids[:_SAID_SHOWN]]
    return shapes.Origin(
        notice=notice,
        id=item,
        kind=kind,
        text=text,
        state=state,
        said=[to_record(shapes.SaidShown, u) for page in pages for u in page.utterances][:_SAID_SHOWN],
        changes=[to_record(shapes.ChangeShown, entry) for entry in owner.history(changed)],
        replaces=[],
        replaced_by=[],
        pages=len(page_ids),
    )


def _origin_of_fact(owner: OwnerMemory, fact: Fact, notice: str) -> shapes.Origin:
    by = [owner.fact(fact.superseded_by)] if fact.superseded_by is not None else []
    said = _said(owner, fact.sources)
    return shapes.Origin(
        notice=notice,
        id=fact.id,
        kind="fact",
        text=fact.text,
        state=shapes.state(fact),
        said=said[-_SAID_SHOWN:],
        changes=[to_record(shapes.ChangeShown, entry) for entry in owner.history(fact.id)],
        replaces=shapes.facts(past for past in owner.past_facts() if past.superseded_by == fact.id),
        replaced_by=shapes.facts(by),
        pages=len({one.page_id for one in said}),
    )


def _origin_of_other(why: Why, notice: str) -> shapes.Origin:
    """Of a line of a profile, a trait, a chain."""
    said = [quote.utterance for quote in why.quotes] or [quote.utterance for one in why.behind for quote in one.quotes]
    return shapes.Origin(
        notice=notice,
        id=why.item_id,
        kind=why.kind,
        text=why.text,
        state="current" if why.held else "past",
        said=[to_record(shapes.SaidShown, one) for one in said[:_SAID_SHOWN]],
        changes=[to_record(shapes.ChangeShown, one, did=[]) for one in why.changes],
        replaces=[_replaced(one) for one in why.replaced],
        replaced_by=[_replaced(one) for one in why.replaced_by],
        pages=len({one.page_id for one in said}),
    )


def _said(owner: OwnerMemory, sources: Sequence[Source]) -> list[shapes.SaidShown]:
    return [
        to_record(shapes.SaidShown, owner.utterance(key)) for key in dict.fromkeys(one.utterance_id for one in sources)
    ]


def _replaced(why: Why) -> shapes.FactShown:
    """What a line took the place of, or what took its place."""
    return to_record(shapes.FactShown, why, id=why.item_id, subject="user", person="user", pinned=False, metadata={})


def _no_id(item: str) -> InputError:
    shown = render.cut(item, 40)
    return InputError(f"{shown!r} is not an id of the memory; search_memory, list_memory and get_user_profile give ids")
