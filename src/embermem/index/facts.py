"""Facts as a query sees them: which of its words they hold, and which utterances they rest on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from embermem.core.types import Fact, FactId, Persona
from embermem.languages.words import search_terms

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
        return FactTable(rows, {f.id: known[f.id] if f.id in known else frozenset(search_terms(f.text)) for f in rows})

    @classmethod
    def of_terms(cls, persona: Persona, archived: Iterable[Fact], known: Mapping[str, Sequence[str]]) -> FactTable:
        """The table of a persona, whose facts have been cut into terms before."""
        terms_of = {FactId(name): frozenset(some) for name, some in known.items()}
        return FactTable((), terms_of).replaced(persona, archived)

    def terms(self) -> dict[str, list[str]]:
        """The terms of each fact, for `of_terms`."""
        return {fact.id: sorted(self._terms[fact.id]) for fact in self.rows}

    def only(self, shown: Callable[[Fact], bool]) -> FactTable:
        """The table of some of these facts."""
        return self.at([place for place, fact in enumerate(self.rows) if shown(fact)])

    def at(self, places: Sequence[int], rows: Sequence[Fact] | None = None) -> FactTable:
        """The table of the facts at these places, ascending; `rows` are the same facts, if they are told otherwise."""
        return FactTable(tuple(self.rows[place] for place in places) if rows is None else tuple(rows), self._terms)

    def coverage(self, weights: Mapping[str, float]) -> Floats:
        """The share of the query's terms, by weight, that each fact's text holds: in [0, 1], shape (len(rows),)."""
        found = np.zeros(len(self.rows))
        for term, weight in weights.items():
            if (places := self._holders.get(term)) is not None:
                found[places] += weight
        total = sum(weights.values())
        return found / total if total > 0.0 else found

    def found(self, seqs: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """For every (fact, source) pair the row of the source among utterances of these seqs, ascending, and whether it
        is one of them; for one that is not, the row says nothing."""
        _, wanted = self.source_seqs
        if len(seqs) == 0:
            return np.zeros(len(wanted), dtype=np.int64), np.zeros(len(wanted), dtype=bool)
        rows = np.minimum(np.searchsorted(seqs, wanted), len(seqs) - 1)
        return rows, seqs[rows] == wanted

    def best(self, seqs: NDArray[np.int64], scores: Floats) -> tuple[Floats, NDArray[np.int64]]:
        """For each fact the highest of its sources' scores, and the row of the first source that has it; −∞ and −1
        where no source has a finite one. `scores` are those of the utterances of these seqs, ascending."""
        places, (rows, inside) = self.source_seqs[0], self.found(seqs)
        places, rows = places[inside], rows[inside]
        told = scores[rows]
        highest, where = np.full(len(self.rows), -np.inf), np.full(len(self.rows), -1, dtype=np.int64)
        np.maximum.at(highest, places, told)
        first = np.flatnonzero(np.isfinite(told) & (told == highest[places]))[::-1]
        where[places[first]] = rows[first]  # the first of equals is written last
        return highest, where

    @cached_property
    def own(self) -> NDArray[np.bool_]:
        """Which facts rest on nothing that was said: those of the caller's own, shape (len(rows),)."""
        return np.array([not fact.sources for fact in self.rows], dtype=bool)

    @cached_property
    def of_attribute(self) -> Mapping[str, NDArray[np.int64]]:
        """The places of the facts of each attribute."""
        places: dict[str, list[int]] = {}
        for place, fact in enumerate(self.rows):
            places.setdefault(fact.attribute, []).append(place)
        return {attribute: np.array(of, dtype=np.int64) for attribute, of in places.items()}

    @cached_property
    def ending(self) -> tuple[Fact, ...]:
        """The facts that end by themselves at a time."""
        return tuple(fact for fact in self.rows if fact.expires_at is not None)

    @cached_property
    def source_seqs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Every (fact, source) pair: the place of the fact in `rows`, and the source's seq."""
        pairs = [(place, source.seq) for place, fact in enumerate(self.rows) for source in fact.sources]
        table = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        return table[:, 0], table[:, 1]

    def is_source(self, seq: int) -> bool:
        """Whether some fact rests on an utterance."""
        place = int(np.searchsorted(self._sorted_seqs, seq))
        return place < len(self._sorted_seqs) and bool(self._sorted_seqs[place] == seq)

    @cached_property
    def _sorted_seqs(self) -> NDArray[np.int64]:
        return np.unique(self.source_seqs[1])

    @cached_property
    def _holders(self) -> Mapping[str, NDArray[np.int64]]:
        holders: dict[str, list[int]] = {}
        for place, fact in enumerate(self.rows):
            for term in self._terms[fact.id]:
                holders.setdefault(term, []).append(place)
        return {term: np.array(places, dtype=np.int64) for term, places in holders.items()}
