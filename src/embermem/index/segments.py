"""Segments as a query sees them: F_score (Eq. 2) of all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from embermem.core.equations import f_score, jaccard_of_counts
from embermem.core.types import SegmentId
from embermem.index.products import cosines, direction

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from embermem.core.types import Segment, Vector, Vectors

    Floats = NDArray[np.float64]

__all__ = ["SegmentRow", "SegmentTable", "sums_by"]


class SegmentRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a query reads of a segment beside its vector: `counted` are the words that it is compared by, each once;
    `change_no` is the change that wrote its text. A segment of which nothing is known has its id alone."""

    id: SegmentId
    archived: bool = False
    change_no: int = 0
    summary: str = ""
    counted: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class SegmentTable:
    """An owner's segments at one revision, archived ones too: now, at a moment of the past, or in a scope. In a table
    that replaces another one a segment keeps its place.

    `vectors` gives the vector of each row, of any length, 0 where it has none. It is called when they are first needed.
    """

    dim: int
    rows: tuple[SegmentRow, ...] = ()
    vectors: Callable[[], Sequence[Vector] | Vectors] = list

    def replaced(self, segments: Iterable[Segment], ended: Iterable[SegmentId]) -> SegmentTable:
        """A table in which each of these takes the place of the one with its id, or a new place. Those that `ended`
        keep nothing but theirs: they hold no page."""
        rows, vectors, places = [*self.rows], [*self.vectors()], dict(self.places)
        none = np.zeros(self.dim, dtype=np.float32)
        for one in segments:
            place, vector = places.setdefault(one.id, len(rows)), one.embedding
            rows[place : place + 1] = [
                SegmentRow(
                    id=one.id,
                    archived=one.archived,
                    change_no=one.change_no,
                    summary=one.summary,
                    counted=tuple(dict.fromkeys(one.counted)),
                )
            ]
            vectors[place : place + 1] = [none if vector is None or vector.shape != none.shape else vector]
        for place in [places[one] for one in ended if one in places]:
            rows[place], vectors[place] = SegmentRow(id=rows[place].id, archived=True), none
        return SegmentTable(self.dim, tuple(rows), lambda: vectors)

    def partly(self, whole: NDArray[np.bool_], sums: Callable[[], Vectors]) -> SegmentTable:
        """The segments of a narrowed snapshot: those that are `whole` (len(rows),) as they are; of the others nothing
        is known but the `sums` (len(rows), dim) of the vectors of their pages there."""
        rows = (
            row if is_whole else SegmentRow(id=row.id, archived=row.archived)
            for row, is_whole in zip(self.rows, whole.tolist(), strict=True)
        )
        return SegmentTable(self.dim, tuple(rows), lambda: np.where(whole[:, None], self.stacked(), sums()))

    def f_scores(self, e_q: Vector | None, K_q: AbstractSet[str]) -> Floats:
        """Eq. 2 of every segment against the query, shape (len(rows),); without e_q the cosine counts 0."""
        shared = np.zeros(len(self.rows))
        for keyword in K_q:
            if (places := self._holders.get(keyword)) is not None:
                shared[places] += 1.0
        counts = np.array([len(row.counted) for row in self.rows], dtype=np.float64)
        return f_score(self._cosines(e_q), jaccard_of_counts(shared, counts, len(K_q)))

    def _cosines(self, e_q: Vector | None) -> Floats:
        towards = direction(e_q)
        if towards is None or not self.rows:
            return np.zeros(len(self.rows))
        found: Floats = cosines(self._directions, towards[None].astype(np.float32))[:, 0].astype(np.float64)
        return np.clip(found, -1.0, 1.0)

    @cached_property
    def places(self) -> Mapping[SegmentId, int]:
        """The place of each segment in `rows`."""
        return {row.id: place for place, row in enumerate(self.rows)}

    @cached_property
    def archived(self) -> NDArray[np.bool_]:
        """Which places hold a segment that left mid-term memory."""
        return np.array([row.archived for row in self.rows], dtype=bool)

    def stacked(self) -> Vectors:
        """The vectors as one array, (len(rows), dim)."""
        return np.array(self.vectors(), dtype=np.float32).reshape(len(self.rows), self.dim)

    @cached_property
    def _directions(self) -> Vectors:
        return _units(self.stacked())

    @cached_property
    def _holders(self) -> Mapping[str, NDArray[np.int64]]:
        holders: dict[str, list[int]] = {}
        for place, row in enumerate(self.rows):
            for keyword in row.counted:
                holders.setdefault(keyword, []).append(place)
        return {keyword: np.array(places, dtype=np.int64) for keyword, places in holders.items()}

    @property
    def nbytes(self) -> int:
        """Estimated bytes held."""
        return sum(300 + 4 * len(row.summary) + 100 * len(row.counted) + 8 * self.dim for row in self.rows)


def sums_by(of: NDArray[np.int32] | NDArray[np.int64], vectors: Vectors) -> tuple[NDArray[np.int64], Vectors]:
    """The numbers that occur, ascending, and for each the sum of its vectors with norm 1; 0 for a sum of 0."""
    if (of[1:] < of[:-1]).any():
        order = np.argsort(of, kind="stable")
        of, vectors = of[order], vectors[order]
    first = np.flatnonzero(np.diff(of, prepend=-1))
    return of[first].astype(np.int64), _units(np.add.reduceat(vectors, first) if len(of) else vectors)


def _units(vectors: Vectors) -> Vectors:
    """The vectors with norm 1; 0 for one of 0."""
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    return np.asarray(np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0.0))
