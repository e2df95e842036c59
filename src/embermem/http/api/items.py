"""One memory by its id: a page (p…), an utterance (u…), a fact (f…), or a segment (s…) to forget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from embermem.core.errors import NotFound
from embermem.http.problems import HttpError
from embermem.wire.answers import Part
from embermem.wire.memories import FactItem, PageItem, UtteranceMemory, fact_item, page_item, utterance_item

if TYPE_CHECKING:
    from embermem.core.types import Fact, Forgotten
    from embermem.memory import OwnerMemory


Item = Annotated[PageItem | UtteranceMemory | FactItem, Field(discriminator="kind")]


@dataclass(frozen=True, kw_only=True, slots=True)
class Items(Part):
    """A part of a list, newest first."""

    results: tuple[Item, ...]


class Conflict(HttpError):
    """The memory is there, but this cannot be done with what it is; the message says what can."""

    tag = "conflict"
    status = 409


def shown(owner: OwnerMemory, item_id: str, as_of: str | None) -> Item:
    """The memory as an answer shows it; as it stood at a time. Raises NotFound."""
    match item_id[:1]:
        case "p":
            return page_item(owner.owner, owner.page(item_id, as_of=as_of))
        case "u":
            utterance = owner.utterance(item_id)
            page = owner.page(utterance.page_id, as_of=as_of)
            return utterance_item(owner.owner, utterance, tier=page.tier, segment_id=page.segment_id)
        case "f":
            return fact_item(owner.owner, owner.fact(item_id, as_of=as_of))
    raise _none_such(item_id)


def corrected(owner: OwnerMemory, item_id: str, text: str) -> Fact:
    """The fact that takes the place of this one. Raises NotFound, Conflict for what was said."""
    match item_id[:1]:
        case "p":
            owner.page(item_id)
            raise Conflict("messages cannot be changed: forget the page, or correct a fact that rests on it")
        case "u":
            page_id = owner.utterance(item_id).page_id
            raise Conflict(f"messages cannot be changed: forget the page {page_id}, or correct a fact that rests on it")
        case "f":
            return owner.correct(item_id, text)
    raise _none_such(item_id)


def forgotten(owner: OwnerMemory, item_id: str, *, dry_run: bool) -> Forgotten:
    """What went with a page, a fact or a segment. Raises NotFound, Conflict for one utterance of a page."""
    match item_id[:1]:
        case "p":
            return owner.forget(page=item_id, dry_run=dry_run)
        case "u":
            page_id = owner.utterance(item_id).page_id
            raise Conflict(f"an utterance is forgotten with its page: forget {page_id}")
        case "f":
            return owner.forget(fact=item_id, dry_run=dry_run)
        case "s":
            return owner.forget(segment=item_id, dry_run=dry_run)
    raise _none_such(item_id)


def _none_such(item_id: str) -> NotFound:
    return NotFound(f"no memory {item_id!r}: ids of pages begin with p, of utterances with u, of facts with f")
