"""One memory by its id, of whatever kind, as an answer shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, assert_never

from pydantic import Field

from embermem.core.types import Chain, Document, Fact, Page, Segment, Utterance
from embermem.http.access import asker_of
from embermem.wire.answers import Part
from embermem.wire.mapping import to_record
from embermem.wire.memories import (
    ChainMemory,
    DocumentMemory,
    FactItem,
    PageItem,
    SegmentMemory,
    UtteranceMemory,
    fact_item,
    page_item,
    utterance_item,
)

if TYPE_CHECKING:
    from embermem.memory import OwnerMemory


Item = Annotated[
    PageItem | UtteranceMemory | FactItem | SegmentMemory | ChainMemory | DocumentMemory,
    Field(discriminator="kind"),
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Items(Part):
    """A part of a list."""

    results: tuple[Item, ...]


def shown(owner: OwnerMemory, item: Any, as_of: str | None = None) -> Item:
    """The memory as an answer shows it; its page as it was at a time."""
    one: Page | Utterance | Fact | Segment | Chain | Document = item
    asker = asker_of(owner)
    names = {"user_id": asker.user, "agent_id": asker.agent}
    match one:
        case Page():
            return page_item(asker_of(owner), one)
        case Utterance():
            page = owner.page(one.page_id, as_of=as_of)
            return utterance_item(asker_of(owner), one, tier=page.tier, segment_id=page.segment_id)
        case Fact():
            return fact_item(asker_of(owner), one)
        case Segment():
            return to_record(SegmentMemory, one, **names)
        case Chain():
            return to_record(ChainMemory, one, **names)
        case Document():
            return to_record(DocumentMemory, one, **names)
    assert_never(one)
