"""Facts as a query sees them: which of its words they hold, and which utterances they rest on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from embermem.text import terms
from embermem.types import Fact, FactId, Persona

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["FactTable"]


@dataclass(frozen=True)
class FactTable:
    """The facts of a persona at one revision, then the archived ones."""

    rows: tuple[Fact, ...] = ()
    _terms: Mapping[FactId, frozenset[str]] = field(default_factory=dict, repr=False)

    def replaced(self, persona: Persona, archived: Iterable[Fact]) -> FactTable:
        """The table of another persona. A fact that both hold is not cut into terms again."""
        rows = (*persona.facts, *persona.agent_facts, *archived)
        known = self._terms
        return FactTable(rows, {f.id: known[f.id] if f.id in known else frozenset(terms(f.text)) for f in rows})

    def coverage(self, weights: Mapping[str, float]) -> Floats:
        """The share of the query's terms, by weight, that each fact's text holds: in [0, 1], shape (len(rows),)."""
        found = np.zeros(len(self.rows))
        for term, weight in weights.items():
            if (places := self._holders.get(term)) is not None:
                found[places] += weight
        total = sum(weights.values())
        return found / total if total > 0.0 else found

    @cached_property
    def source_seqs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Every (fact, source) pair: the place of the fact in `rows`, and the source's seq."""
        pairs = [(place, source.seq) for place, fact in enumerate(self.rows) for source in fact.sources]
        table = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        return table[:, 0], table[:, 1]

    @cached_property
    def _holders(self) -> Mapping[str, NDArray[np.int64]]:
        holders: dict[str, list[int]] = {}
        for place, fact in enumerate(self.rows):
            for term in self._terms[fact.id]:
                holders.setdefault(term, []).append(place)
        return {term: np.array(places, dtype=np.int64) for term, places in holders.items()}
