"""What has expired and is still stored, until a worker comes by: no read shows it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from embermem.core.changes import CALLER
from embermem.core.types import Chain, Fact, Page, PageId, Persona, ProfileField, Segment, Source

__all__ = ["Hidden"]

_Told = TypeVar("_Told", Segment, Chain)


@dataclass(frozen=True, kw_only=True, slots=True)
class Hidden:
    """The pages that have expired, the seqs of their utterances, and the time up to which facts have."""

    pages: frozenset[PageId]
    seqs: frozenset[int]
    at: datetime

    def shown_pages(self, pages: Iterable[Page]) -> tuple[Page, ...]:
        """Those that have not expired."""
        return tuple(page for page in pages if page.id not in self.pages)

    def shown_facts(self, facts: Iterable[Fact]) -> tuple[Fact, ...]:
        """Those that have not expired, and rest on more than what has."""
        return tuple(fact for fact in facts if self.shows(fact))

    def shows(self, fact: Fact) -> bool:
        """Whether a fact has not expired, and rests on more than what has. One that was ended before is what it was."""
        lapsed = fact.retired_at is None and fact.expires_at is not None and fact.expires_at <= self.at
        return not lapsed and self.stands(fact.sources)

    def shown(self, persona: Persona) -> Persona:
        """The persona without what has expired, without what rests on it alone, and without lines that say the same."""
        held = (*persona.facts, *persona.agent_facts)
        gone = [fact for fact in held if not self.shows(fact)]
        if not gone and not self.seqs:
            return persona
        said = {source for fact in gone for source in fact.sources if source.start is not None}

        def lines(fields: Sequence[ProfileField]) -> tuple[ProfileField, ...]:
            return tuple(
                line
                for line in fields
                if self.stands(line.sources) and (line.set_by == CALLER or not said.intersection(line.sources))
            )

        return replace(
            persona,
            profile=lines(persona.profile),
            agent_profile=lines(persona.agent_profile),
            traits=tuple(trait for trait in persona.traits if self.stands(trait.sources)),
            facts=self.shown_facts(persona.facts),
            agent_facts=self.shown_facts(persona.agent_facts),
        )

    def shown_segments(self, segments: Iterable[Segment]) -> tuple[Segment, ...]:
        """Those with other pages too, and of these only those; a summary that tells of what has expired is empty,
        and so are title and keywords."""
        return self._shown(
            one if self.pages.isdisjoint(one.page_ids) else replace(one, title="", keywords=(), counted=())
            for one in segments
        )

    def shown_chains(self, chains: Iterable[Chain]) -> tuple[Chain, ...]:
        """As `shown_segments`."""
        return self._shown(chains)

    def _shown(self, told: Iterable[_Told]) -> tuple[_Told, ...]:
        if not self.pages:
            return tuple(told)
        left = (
            one
            if self.pages.isdisjoint(one.page_ids)
            else replace(
                one,
                page_ids=tuple(page_id for page_id in one.page_ids if page_id not in self.pages),
                summary="" if self._touches(one.sources) else one.summary,
                sources=self._left(one.sources),
            )
            for one in told
        )
        return tuple(one for one in left if one.page_ids)

    def stands(self, sources: Sequence[Source]) -> bool:
        """Whether what has these sources rests on more than what has expired."""
        return not sources or not self.seqs or any(source.seq not in self.seqs for source in sources)

    def _touches(self, sources: Sequence[Source]) -> bool:
        return not sources or any(source.seq in self.seqs for source in sources)

    def _left(self, sources: Sequence[Source]) -> tuple[Source, ...]:
        return tuple(source for source in sources if source.seq not in self.seqs)
