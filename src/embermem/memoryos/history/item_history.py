"""What of the log names one item: how a fact, page, segment or chain came to be what it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from embermem.core.changes import Change, named


def history(log: Iterable[Change], item_id: str) -> tuple[Change, ...]:
    """The changes that name a fact, page, segment or chain, in order, each with only the decisions that do."""
    found = []
    for change in log:
        own = tuple(decision for decision in change.decisions if item_id in named(decision))
        if own:
            found.append(replace(change, decisions=own))
    return tuple(found)
