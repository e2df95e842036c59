"""What an analyst is shown and answers. It proposes; memory decides."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from embermem.core.record import Record
from embermem.core.types.ids import About, ChainId, FactId, PageId, Vector
from embermem.core.types.memories import Source
from embermem.core.types.utterances import Page


@dataclass(frozen=True, kw_only=True, slots=True)
class PageView(Record):
    """A page with its embedding, as used by an analyst and for placing."""

    page: Page
    vector: Vector | None = field(default=None, compare=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class ChainTail(Record):
    """The newest page of a thread and the chain that it ends: what the next page may continue. `sources` are those of
    the chain's summary, in order."""

    view: PageView
    chain_id: ChainId
    summary: str
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class FactProposal(Record):
    """A fact found by an analyst. `single` marks an attribute with one value at a time."""

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
    expires_at: datetime | None = None
    """When it ends by itself: a plan with a date, after that date."""
    sure: bool = True
    """Whether a new value takes the place of one that is known; one that is not sure is not believed beside it.
    With `retracts`, whether it ends what only a death ends."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TraitProposal(Record):
    """Evidence for one trait dimension of a person: level in [−1, 1], confidence in [0, 1]. Memory keeps those of the
    user."""

    dimension: str
    level: float
    confidence: float
    sources: tuple[Source, ...]
    subject: str = "user"


@dataclass(frozen=True, kw_only=True, slots=True)
class ProfileProposal(Record):
    """A value for a field of a person's profile. Memory keeps those of the user."""

    name: str
    value: str
    sources: tuple[Source, ...]
    subject: str = "user"


@dataclass(frozen=True, kw_only=True, slots=True)
class Annotation(Record):
    """An analyst's result for one page: whether it continues the previous page, its chain's summary, its keywords.
    `summary_sources` are the source utterances of the summary. `read_by` names who read it, where that is not the
    analyst alone; `extracted`: the summary is extraction's."""

    page_id: PageId
    continues: bool
    chain_summary: str
    keywords: tuple[str, ...]
    summary_sources: tuple[Source, ...] = ()
    facts: tuple[FactProposal, ...] = ()
    traits: tuple[TraitProposal, ...] = ()
    profile: tuple[ProfileProposal, ...] = ()
    read_by: str = ""
    extracted: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class PersonaChange(Record):
    """What an analyst proposes at a promotion; it is applied in code, never by the analyst. `dropped` are findings of
    the extractive analyst that it judged to be wrong. `read_by` names who read the pages, where that is not the analyst
    alone."""

    facts: tuple[FactProposal, ...] = ()
    dropped: tuple[FactProposal, ...] = ()
    traits: tuple[TraitProposal, ...] = ()
    profile: tuple[ProfileProposal, ...] = ()
    segment_summary: str | None = None
    segment_title: str = ""
    summary_sources: tuple[Source, ...] = ()
    read_by: str = ""
