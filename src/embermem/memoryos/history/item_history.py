"""What of the log names one item: how a fact, page, segment or chain came to be what it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime

from embermem.core.changes import CALLER, Change, ProfileSet, TraitCleared, TraitSet, named
from embermem.core.types import Chain, Edit, Fact, Page, ProfileField, Segment, Trait
from embermem.protocols import Moment

_FIELDS: Mapping[type, tuple[str, ...]] = {
    Page: ("segment_id", "chain_id", "keywords"),
    Fact: (
        *("subject", "attribute", "value", "text", "valid_from", "valid_to"),
        *("expires_at", "pinned", "archived", "superseded_by", "retired_at"),
    ),
    Segment: ("title", "summary", "keywords", "page_ids", "archived"),
    Chain: ("summary", "page_ids"),
    Trait: ("level", "confidence"),
    ProfileField: ("value", "valid_from"),
}
"""What of an item of each kind a change may set."""


def history(log: Iterable[Change], item_id: str) -> tuple[Change, ...]:
    """The changes that name a fact, page, segment or chain, in order, each with only the decisions that do."""
    found = []
    for change in log:
        own = tuple(decision for decision in change.decisions if item_id in named(decision))
        if own:
            found.append(replace(change, decisions=own))
    return tuple(found)


def edits(log: Iterable[Change], item_at: Callable[[Moment], object | None]) -> Iterator[Edit]:
    """What the changes of an item did to its fields, in order. `item_at` reads it at a moment."""
    before: object | None = None
    for change in log:
        after = item_at(Moment(revision=change.no))
        kind = type(before if after is None else after)
        for name in _FIELDS.get(kind, ()):
            was, now = (_text(getattr(one, name, None)) for one in (before, after))
            if was != now:
                yield Edit(
                    change_no=change.no,
                    recorded_at=change.recorded_at,
                    cause=change.cause.value,
                    by=change.analyst or CALLER,
                    field=name,
                    before=was,
                    after=now,
                )
        before = after


def of_persona(log: Iterable[Change], item_id: str) -> tuple[Change, ...]:
    """The changes that set a trait, by its dimension, or a profile line, such as "user.home"."""

    def sets(decision: object) -> bool:
        if isinstance(decision, ProfileSet):
            return f"{decision.whose.value}.{decision.name}" == item_id
        return isinstance(decision, TraitSet | TraitCleared) and decision.dimension == item_id

    return tuple(change for change in log if any(map(sets, change.decisions)))


def _text(value: object) -> str | None:
    """A value as text; None for none, and for what is empty or not so."""
    if value is None or value is False or value in ("", ()):
        return None
    if isinstance(value, datetime):
        return value.isoformat()
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
