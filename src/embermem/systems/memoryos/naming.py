"""What of the log names one item: how a fact, page, segment or chain came to be what it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from embermem.changes import Change, Decision, Erased, FactRetired, SegmentWritten

_NAMES = ("fact_id", "other_id", "page_id", "segment_id", "chain_id", "link_id", "from_id", "to_id")
"""Fields of decisions that hold an id."""


def history(log: Iterable[Change], item_id: str) -> tuple[Change, ...]:
    """The changes that name a fact, page, segment or chain, in order, each with only the decisions that do."""
    found = []
    for change in log:
        own = tuple(decision for decision in change.decisions if item_id in named_by(decision))
        if own:
            found.append(replace(change, decisions=own))
    return tuple(found)


def named_by(decision: Decision) -> frozenset[str]:
    """The ids of facts, pages, segments, chains and links that a decision names. What is forgotten is named by none."""
    if isinstance(decision, Erased):
        return frozenset()
    names = [getattr(decision, name, None) for name in _NAMES]
    if isinstance(decision, FactRetired):
        names.append(decision.superseded_by)
    if isinstance(decision, SegmentWritten):
        names += [part.chain_id for part in decision.parts]
    return frozenset(name for name in names if name is not None)
