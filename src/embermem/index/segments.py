"""Segments as a query sees them: F_score (Eq. 2) of all of them at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, cast

import msgspec
import numpy as np

from embermem.core.equations import f_score, jaccard_of_counts
from embermem.core.types import Segment
from embermem.index.products import cosines, direction

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from embermem.core.types import SegmentId, Vector, Vectors

    Floats = NDArray[np.float64]

__all__ = ["SegmentRow", "SegmentTable", "Segments"]


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

    @classmethod
    def of_held(cls, dim: int, rows: Sequence[SegmentRow], vectors: NDArray[np.float32]) -> SegmentTable:
        """The table of rows that a file keeps, and `vectors` of theirs."""
        known: list[bool] = np.any(vectors[: len(rows)], axis=1).tolist()
        found = tuple(one.segment(vectors[place] if known[place] else None) for place, one in enumerate(rows))
        return cls(dim, found, {one.id: place for place, one in enumerate(found)})

    def vectors(self) -> NDArray[np.float32]:
        """The vector of each segment, as it is; 0 where it has none. Shape (len(rows), dim)."""
        found = np.zeros((len(self.rows), self.dim), dtype=np.float32)
        for place, segment in enumerate(self.rows):
            if segment.embedding is not None and segment.embedding.shape == (self.dim,):
                found[place] = segment.embedding
        return found

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
        found: Floats = cosines(self._directions, towards[None].astype(np.float32))[:, 0].astype(np.float64)
        return np.clip(found, -1.0, 1.0)

    def _jaccards(self, K_q: AbstractSet[str]) -> Floats:
        return jaccard_of_counts(*self.shared(K_q), len(K_q))

    def shared(self, K_q: AbstractSet[str]) -> tuple[Floats, Floats]:
        """How many keywords each segment shares with the query, and how many it has."""
        shared = np.zeros(len(self.rows))
        for keyword in K_q:
            if (places := self._holders.get(keyword)) is not None:
                shared[places] += 1.0
        return shared, self._keyword_counts

    @cached_property
    def archived(self) -> NDArray[np.bool_]:
        """Which places hold a segment that left mid-term memory."""
        return np.array([segment.archived for segment in self.rows], dtype=bool)

    @cached_property
    def _directions(self) -> Vectors:
        """(n, dim): every segment's embedding with norm 1; 0 where it has none."""
        directions = np.zeros((len(self.rows), self.dim), dtype=np.float32)
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


class SegmentRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What of a segment a file keeps beside its vector."""

    id: str
    summary: str
    keywords: tuple[str, ...]
    last_access: datetime
    archived: bool
    change_no: int
    recorded_at: datetime
    said_from: datetime
    said_to: datetime
    title: str = ""
    counted: tuple[str, ...] = ()

    @classmethod
    def of(cls, segment: Segment) -> SegmentRow:
        """That of a segment of a table, whose pages and sources are not read."""
        return cls(**{name: getattr(segment, name) for name in cls.__struct_fields__})

    def segment(self, embedding: Vector | None) -> Segment:
        """The segment again."""
        told: dict[str, Any] = {name: getattr(self, name) for name in self.__struct_fields__}
        return Segment(**told, visits=0, unanalysed=0, page_ids=(), embedding=embedding)


def _nbytes(segment: Segment, dim: int) -> int:
    return 1000 + 4 * len(segment.summary) + 100 * len(segment.counted) + 8 * dim
