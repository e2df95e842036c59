"""Segments as a query sees them: F_score (Eq. 2) of all of them at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np

from embermem.core.equations import f_score, jaccard_of_counts
from embermem.index.products import cosines, direction

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from embermem.core.types import Segment, SegmentId, Vector

    Floats = NDArray[np.float64]

__all__ = ["SegmentTable", "Segments"]


class Segments(Protocol):
    """An owner's segments as a query sees them, now (`SegmentTable`) or at a moment (`past.SegmentsThen`)."""

    @property
    def archived(self) -> NDArray[np.bool_]:
        """Which places hold a segment that left mid-term memory."""

    @property
    def nbytes(self) -> int:
        """Estimated bytes held."""

    def f_scores(self, e_q: Vector | None, K_q: AbstractSet[str]) -> Floats:
        """Eq. 2 of every segment against the query."""

    def place_of(self, segment_id: str) -> int | None:
        """The place of a segment."""

    def id_at(self, place: int) -> SegmentId:
        """The segment at a place."""


@dataclass(frozen=True)
class SegmentTable:
    """An owner's segments at one revision, archived ones too. A segment's place in `rows` never changes."""

    dim: int
    rows: tuple[Segment, ...] = ()
    places: Mapping[SegmentId, int] = field(default_factory=dict)

    def replaced(self, segments: Iterable[Segment]) -> SegmentTable:
        """A table in which each of these takes the place of the one with its id, or a new place."""
        rows, places = list(self.rows), dict(self.places)
        for segment in segments:
            place = places.setdefault(segment.id, len(rows))
            rows[place : place + 1] = [segment]
        return SegmentTable(self.dim, tuple(rows), places)

    def without(self, ended: Iterable[SegmentId]) -> SegmentTable:
        """A table in which these say nothing any more; they hold no page."""
        known = (self.rows[self.places[one]] for one in ended if one in self.places)
        return self.replaced(
            replace(
                one,
                summary="",
                title="",
                keywords=(),
                counted=(),
                page_ids=(),
                sources=(),
                archived=True,
                embedding=None,
            )
            for one in known
        )

    def place_of(self, segment_id: str) -> int | None:
        """The place of a segment."""
        return self.places.get(cast("SegmentId", segment_id))

    def id_at(self, place: int) -> SegmentId:
        """The segment at a place."""
        return self.rows[place].id

    def f_scores(self, e_q: Vector | None, K_q: AbstractSet[str]) -> Floats:
        """Eq. 2 of every segment against the query, shape (len(rows),); without e_q the cosine counts 0."""
        return f_score(self._cosines(e_q), self._jaccards(K_q))

    def _cosines(self, e_q: Vector | None) -> Floats:
        towards = direction(e_q)
        if towards is None or not self.rows:
            return np.zeros(len(self.rows))
        found: Floats = np.clip(cosines(self._directions, towards[None])[:, 0], -1.0, 1.0)
        return found

    def _jaccards(self, K_q: AbstractSet[str]) -> Floats:
        shared = np.zeros(len(self.rows))
        for keyword in K_q:
            if (places := self._holders.get(keyword)) is not None:
                shared[places] += 1.0
        return jaccard_of_counts(shared, self._keyword_counts, len(K_q))

    @cached_property
    def archived(self) -> NDArray[np.bool_]:
        """Which places hold a segment that left mid-term memory."""
        return np.array([segment.archived for segment in self.rows], dtype=bool)

    @cached_property
    def _directions(self) -> Floats:
        """(n, dim): every segment's embedding with norm 1; 0 where it has none."""
        directions = np.zeros((len(self.rows), self.dim))
        for place, segment in enumerate(self.rows):
            if segment.embedding is not None and segment.embedding.shape == (self.dim,):
                norm = float(np.sqrt(segment.embedding @ segment.embedding))
                directions[place] = segment.embedding / norm if norm > 0.0 else 0.0
        return directions

    @cached_property
    def _holders(self) -> Mapping[str, NDArray[np.int64]]:
        holders: dict[str, list[int]] = {}
        for place, segment in enumerate(self.rows):
            for keyword in set(segment.counted):
                holders.setdefault(keyword, []).append(place)
        return {keyword: np.array(places, dtype=np.int64) for keyword, places in holders.items()}

    @cached_property
    def _keyword_counts(self) -> Floats:
        return np.array([float(len(set(segment.counted))) for segment in self.rows])

    @property
    def nbytes(self) -> int:
        """Estimated bytes held."""
        return sum(_nbytes(segment, self.dim) for segment in self.rows)


def _nbytes(segment: Segment, dim: int) -> int:
    return 1000 + 4 * len(segment.summary) + 100 * len(segment.counted) + 12 * dim
