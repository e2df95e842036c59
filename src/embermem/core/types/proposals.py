"""What an analyst is shown and answers. It proposes; memory decides."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from embermem.core.types.ids import About, ChainId, FactId, ItemId, PageId, SegmentId, Vector
from embermem.core.types.memories import Source
from embermem.core.types.utterances import Page


@dataclass(frozen=True, kw_only=True, slots=True)
class PageView:
    """A page with its embedding, as an analyst and the placing see it."""

    page: Page
    vector: Vector | None = field(default=None, compare=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class ChainTail:
    """The newest page of a thread and the chain that it ends: what the next page may continue. `sources` are those of
    the chain's summary, in order."""

    view: PageView
    chain_id: ChainId
    summary: str
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class FactProposal:
    """A fact as an analyst found it. `single` marks an attribute that holds one value at a time."""

    about: About
    subject: str
    attribute: str
    value: str
    text: str
    sources: tuple[Source, ...]
    single: bool
    valid_from: datetime | None = None
    retracts: bool = False
    """The statement says that it is no longer so ("I don't live in Lyon any more")."""
    replaces: FactId | None = None
    """A known fact, one that was shown, which this one supersedes; with `retracts` the one that is retired."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TraitProposal:
    """Evidence for one trait dimension: level in [−1, 1], confidence in [0, 1]."""

    dimension: str
    level: float
    confidence: float
    sources: tuple[Source, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ProfileProposal:
    """A value for a field of the user's profile."""

    name: str
    value: str
    sources: tuple[Source, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkProposal:
    """A link as an analyst found it: of a memory that was shown (`from_id`), or of a fact that it proposes beside
    (`from_fact`), to one that was shown."""

    from_id: ItemId | None
    from_fact: FactProposal | None
    to_id: ItemId
    reason: str
    sources: tuple[Source, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class EvolutionProposal:
    """What new pages teach of an older segment that was shown: what it is to be found by, and a line of context."""

    segment_id: SegmentId
    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    context: str
    reason: str
    sources: tuple[Source, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Annotation:
    """What an analyst says of one page: does it continue the page before, its chain's summary, its keywords.

    `summary_sources` are the utterances the chain's summary was taken from.
    """

    page_id: PageId
    continues: bool
    chain_summary: str
    keywords: tuple[str, ...]
    summary_sources: tuple[Source, ...] = ()
    facts: tuple[FactProposal, ...] = ()
    traits: tuple[TraitProposal, ...] = ()
    profile: tuple[ProfileProposal, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class PersonaChange:
    """What an analyst proposes at a promotion; it is applied in code, never by the analyst."""

    facts: tuple[FactProposal, ...] = ()
    traits: tuple[TraitProposal, ...] = ()
    profile: tuple[ProfileProposal, ...] = ()
    segment_summary: str | None = None
    summary_sources: tuple[Source, ...] = ()
    links: tuple[LinkProposal, ...] = ()
    evolutions: tuple[EvolutionProposal, ...] = ()
