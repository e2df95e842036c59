"""When a proposal was said, and whether that is before or after what is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar

from embermem.core.types import Fact, FactProposal, ProfileProposal, Source, TraitProposal

_Proposal = TypeVar("_Proposal", FactProposal, TraitProposal, ProfileProposal)

_NEWS = timedelta(days=60)
"""A change told within so long of its day ("I moved last week") is the newest word; one of long ago ("in 2010") is
history, and does not end what was said to hold since (ours)."""
_NEWER_THAN_ALL = 2**62
"""In place of the newest seq behind what a caller brings himself: nothing that was said came after it."""


def compared_at(told: datetime | None, when: datetime | None) -> datetime | None:
    """The time by which a statement is compared with others: when it was told, if it is news, else its own time."""
    return told if when is not None and told is not None and told - when <= _NEWS else when


def later(one: datetime | None, other: datetime | None) -> bool:
    """Whether both times are known and the one is later."""
    return one is not None and other is not None and one > other


def newest(proposal: FactProposal) -> int:
    """The seq of the newest utterance that a proposal rests on."""
    return max((source.seq for source in proposal.sources), default=_NEWER_THAN_ALL)


def said_after(fact: Fact, proposal: FactProposal, when: datetime | None) -> bool:
    """Whether the fact holds from a later time than `when`, or was said later of the same time."""
    if fact.valid_from != when:
        return later(fact.valid_from, when)
    return max((source.seq for source in fact.sources), default=0) > max(source.seq for source in proposal.sources)


def resting(proposals: Iterable[_Proposal], said: Mapping[int, datetime]) -> list[_Proposal]:
    """The proposals that rest on an utterance that was read, with no other sources."""
    resting = []
    for proposal in proposals:
        sources = tuple(source for source in proposal.sources if source.seq in said)
        if sources:
            resting.append(replace(proposal, sources=sources))
    return resting


def last_said(sources: Sequence[Source], said: Mapping[int, datetime]) -> datetime | None:
    """When the newest of these sources was said."""
    return max((said[source.seq] for source in sources if source.seq in said), default=None)


def first_said(sources: Sequence[Source], said: Mapping[int, datetime]) -> datetime | None:
    """When the oldest of these sources was said."""
    return min((said[source.seq] for source in sources if source.seq in said), default=None)
