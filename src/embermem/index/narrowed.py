"""What a narrowed snapshot knows of the whole it was made of, and how many of them are kept."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

import numpy as np

from embermem.core.equations import f_score
from embermem.index.products import cosines, direction
from embermem.index.segments import Segments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from embermem.core.types import SegmentId, Vector, Vectors

    Floats = NDArray[np.float64]
    Mask = NDArray[np.bool_]
    Rows = NDArray[np.int32]

__all__ = ["Narrowings", "SegmentsInSight", "Whole"]

_KEPT = 8
"""Of each snapshot, the narrowed ones that were asked for last."""

_FEW = 16
"""Vectors of a run up to which all runs are added up side by side."""

_Kept = TypeVar("_Kept")


class Narrowings(Generic[_Kept]):
    """Some things by what they were made for; those used last stay. Safe to call from several threads."""

    def __init__(self) -> None:
        self.made = 0
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, _Kept] = OrderedDict()

    def of(self, which: Hashable, make: Callable[[], _Kept]) -> _Kept:
        """The one that was made for it, else one made now."""
        with self._lock:
            if which in self._kept:
                self._kept.move_to_end(which)
                return self._kept[which]
        made = make()
        with self._lock:
            self.made += 1
            self._kept[which] = made
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return made

    def all(self) -> tuple[_Kept, ...]:
        """Those that are kept."""
        with self._lock:
            return tuple(self._kept.values())


@dataclass(frozen=True, slots=True, eq=False)
class Whole:
    """Of each page of a narrowed snapshot: whether some utterance of it was left out, and how many pages of the whole
    memory began after it (`Snapshot.newer_pages`)."""

    cut: Mask
    newer: Rows

    @classmethod
    def of(cls, before: Whole | None, here: Rows, cut: Mask, newer: Rows) -> Whole:
        """That of the pages `here` of a snapshot, of which those `cut` lose an utterance, and after which so many
        `newer` ones began; `before` is what it knows itself, if it was narrowed."""
        return cls(cut[here] if before is None else before.cut[here] | cut[here], newer[here])


class _Sighted(Protocol):
    """The rows whose vectors a segment's is made of."""

    @property
    def n(self) -> int: ...
    @property
    def dim(self) -> int: ...
    def begins(self) -> NDArray[np.int64]: ...
    def page_of(self, n: int) -> Rows: ...
    def segment_of_page(self) -> Rows: ...
    def vectors_of(self, rows: NDArray[np.int64]) -> Vectors: ...


@dataclass(frozen=True, eq=False)
class SegmentsInSight:
    """The segments of a narrowed snapshot. Those `told` have all their pages there, and are what they are. Of the
    others nothing is known but the vectors of their pages that are there; they have no keywords."""

    whole: Segments
    told: Mask
    rows: _Sighted

    def f_scores(self, e_q: Vector | None, K_q: AbstractSet[str]) -> Floats:
        """Eq. 2 of every segment against the query, as `SegmentTable.f_scores`."""
        towards, places, found = direction(e_q), self._partly[0], np.zeros(len(self.told))
        if towards is not None:
            found[places] = np.clip(cosines(self._partly[1], towards[None])[:, 0], -1.0, 1.0)
        return np.where(self.told, self.whole.f_scores(e_q, K_q), f_score(found, np.zeros(len(found))))

    @property
    def archived(self) -> Mask:
        """Which places hold a segment that left mid-term memory."""
        return self.whole.archived

    def place_of(self, segment_id: str) -> int | None:
        """The place of a segment that has all its pages here."""
        place = self.whole.place_of(segment_id)
        return place if place is not None and self.told[place] else None

    def id_at(self, place: int) -> SegmentId:
        """The segment at a place."""
        return self.whole.id_at(place)

    @property
    def nbytes(self) -> int:
        """What it holds alone."""
        seen = np.unique(self.rows.segment_of_page())
        return self.told.nbytes + 4 * self.rows.dim * int(np.count_nonzero(~self.told[seen[seen >= 0]]))

    @cached_property
    def _partly(self) -> tuple[NDArray[np.int64], Vectors]:
        """The segments that have some pages here, and the directions of the sums of these pages' vectors."""
        begins = self.rows.begins()
        page_of, segment_of = self.rows.page_of(self.rows.n)[begins], self.rows.segment_of_page()
        segment = segment_of[page_of]
        inside = np.flatnonzero(segment >= 0)
        inside = inside[~self.told[segment[inside]]]
        pages, vectors = _sums(page_of[inside], self.rows.vectors_of(begins[inside]))
        return _sums(segment_of[pages], vectors)


def _sums(of: NDArray[np.int32] | NDArray[np.int64], vectors: Vectors) -> tuple[NDArray[np.int64], Vectors]:
    """The numbers that occur, ascending, and for each the sum of its vectors with norm 1; 0 for a sum of 0."""
    if (of[1:] < of[:-1]).any():
        order = np.argsort(of, kind="stable")
        of, vectors = of[order], vectors[order]
    first = np.flatnonzero(np.append(True, of[1:] != of[:-1])) if len(of) else np.zeros(0, dtype=np.int64)
    vectors = _added(vectors, first, np.diff(np.append(first, len(of))))
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    return of[first].astype(np.int64), np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0.0)


def _added(vectors: Vectors, first: NDArray[np.int64], counts: NDArray[np.int64]) -> Vectors:
    """The sum of each run of vectors. `np.add.reduceat` takes five times as long for runs of two."""
    if counts.max(initial=0) > _FEW:
        return np.stack(
            [vectors[start : start + count].sum(axis=0) for start, count in zip(first, counts, strict=True)]
        )
    sums = vectors[first]
    for place in range(1, int(counts.max(initial=0))):
        longer = np.flatnonzero(counts > place)
        sums[longer] += vectors[first[longer] + place]
    return sums
