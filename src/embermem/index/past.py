"""Snapshots of the past: what a recall looked at when the logs stood at (seq, revision), or what was true at a time.

All versions are held, most as arrays. A moment is a choice among them by the numbers of their changes, so that another
moment costs a few passes over arrays and no question to the store. Rows, postings and vectors are those of the
snapshot of now: a moment sees the first of them (index/snapshot.py). An utterance has its vector at every moment,
whenever it was made.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from embermem.core.equations import f_score, jaccard_of_counts
from embermem.core.state import NEVER
from embermem.core.types import About, Fact, Persona, ProfileField, SegmentId, Trait
from embermem.index.facts import FactTable, Sources
from embermem.index.products import cosines, direction
from embermem.index.snapshot import Snapshot
from embermem.languages.words import terms

if TYPE_CHECKING:
    from datetime import datetime

    from numpy.typing import NDArray

    from embermem.core.types import Vector, Vectors
    from embermem.index.facts import Rows
    from embermem.index.vectors import TextVectors
    from embermem.protocols import PersonaTimeline, SegmentTimeline, Version

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Mask = NDArray[np.bool_]

__all__ = ["PersonaHistory", "SegmentHistory", "SegmentsThen", "true_at"]

_Line = TypeVar("_Line", ProfileField, Trait)

_ARCHIVED = 2
"""The part of a table of facts that holds those which the cap moved out."""
_AT_ONCE = 1024
"""Pages whose vectors are added up at once: what is held meanwhile stays small."""
_FACT_BYTES, _KEYWORD_BYTES, _LINE_BYTES, _SUMMARY_BYTES = 1500, 70, 700, 200
"""Estimated bytes of a version of a fact with its terms, a keyword, a trait or line, a summary without its text."""


class SegmentHistory:
    """The versions of an owner's segments, ready for any moment up to `revision`.

    It is built from a snapshot of the same owner, whose pages and vectors it counts on; a snapshot that began anew
    since needs a new one.
    """

    def __init__(self, timeline: SegmentTimeline, snapshot: Snapshot, vectors: TextVectors | None = None) -> None:
        """`vectors` makes those of the summaries in the timeline, where segments have these."""
        self.revision = min(timeline.revision, snapshot.revision)
        self._vectors = vectors
        self._summaries = timeline.summaries
        self._places = {segment_id: place for place, segment_id in enumerate(timeline.segments)}
        self._placings = _Placings(timeline, snapshot)
        self._keywords = _Keywords(timeline)
        self._left = timeline.left

    def at(self, then: Snapshot) -> Snapshot:
        """A snapshot with the segments of its own revision in place of those of now."""
        segments = SegmentsThen(
            dim=then.dim,
            ids=tuple(self._places),
            archived=self._left <= then.revision,
            revision=then.revision,
            row_dots=then.dots,
            placings=self._placings,
            keywords=self._keywords,
            summaries=self._told(then.revision),
            vectors=self._vectors,
        )
        return then.placed(segments, self._placings.by_page(then.pages, then.revision))

    def _told(self, revision: int) -> Mapping[int, str]:
        """By its place, the summary of each segment that told something at a revision."""
        return {
            self._places[name]: summary
            for version in self._summaries
            for name, summary in (version.item,)
            if name in self._places and version.no <= revision < _until(version) and summary.strip()
        }

    @property
    def nbytes(self) -> int:
        """Estimated bytes held."""
        told = sum(_SUMMARY_BYTES + len(version.item[1]) for version in self._summaries)
        return self._placings.nbytes + self._keywords.nbytes + told


class PersonaHistory:
    """The versions of an owner's facts, traits and profile lines, likewise. It also serves later revisions, as long as
    none of them moved the persona."""

    def __init__(self, timeline: PersonaTimeline, snapshot: Snapshot) -> None:
        self._revision = min(timeline.revision, snapshot.revision)
        self._newest = snapshot.persona
        self._timeline = timeline
        self._facts = _Facts(timeline)

    def serves(self, snapshot: Snapshot, revision: int) -> bool:
        """Whether it holds all that there was at a revision of this snapshot's owner."""
        return revision <= self._revision or snapshot.persona is self._newest

    def at(self, then: Snapshot, valid_at: datetime | None) -> Snapshot:
        """A snapshot with the persona of its own revision in place of that of now; or with what was true at a time."""
        of_user, of_agent, archived = self._facts.chosen(then.revision, valid_at)
        chosen = np.concatenate([of_user, of_agent, archived])
        known = self._facts.known(chosen)
        lines = _known(self._timeline.profile, lambda line: (line.whose, line.name), then.revision, valid_at)
        traits = _known(self._timeline.traits, lambda trait: trait.dimension, then.revision, valid_at)
        lines.sort(key=lambda line: line.name)
        return replace(
            then,
            persona=Persona(
                profile=tuple(line for line in lines if line.whose is About.USER),
                agent_profile=tuple(line for line in lines if line.whose is About.AGENT),
                traits=tuple(sorted(traits, key=lambda trait: trait.dimension)),
                facts=known[: len(of_user)],
                agent_facts=known[len(of_user) : len(of_user) + len(of_agent)],
                relations=tuple(
                    one.item
                    for one in self._timeline.relations
                    if one.no <= then.revision < _until(one) and not one.gone
                ),
            ),
            facts=FactsThen(known, {}, self._facts.table, chosen),
            archived_facts=(),
            ended_facts=() if valid_at is not None else self._facts.ended(then.revision),
        )

    @property
    def nbytes(self) -> int:
        """Estimated bytes held."""
        lines = _LINE_BYTES * (len(self._timeline.profile) + len(self._timeline.traits))
        return _FACT_BYTES * len(self._timeline.facts) + lines


def true_at(fact: Fact, at: datetime) -> bool:
    """Whether a fact was true at a time, by what it says. One that ended without a day was true until it was recorded
    that it ended; one that was true for no time never was."""
    until = fact.valid_to or fact.retired_at or fact.expires_at
    return (fact.valid_from is None or fact.valid_from <= at) and (until is None or at < until)


# ------------------------------------------------------------------------------------------------------------ segments


@dataclass(frozen=True, kw_only=True, eq=False)
class SegmentsThen:
    """An owner's segments at one revision, those opened since too, which hold no page yet.

    A segment's cosine is the sum of its pages' products with the query over the length of the sum of their vectors,
    which is measured once for a moment, where it is asked for. Where segments have the vectors of their summaries
    (`vectors`), those of the summaries of then are made when they are asked for.
    """

    dim: int
    ids: tuple[SegmentId, ...]
    archived: Mask
    revision: int
    row_dots: Callable[[Vector], Floats]
    placings: _Placings
    keywords: _Keywords
    summaries: Mapping[int, str]
    vectors: TextVectors | None

    def f_scores(self, e_q: Vector | None, K_q: AbstractSet[str]) -> Floats:
        """Eq. 2 of every segment against the query, as `SegmentTable.f_scores`."""
        return f_score(self._cosines(e_q), self.keywords.jaccards(K_q, self.revision))

    def _cosines(self, e_q: Vector | None) -> Floats:
        towards = direction(e_q)
        if towards is None or not self.ids:
            return np.zeros(len(self.ids))
        found = self.placings.cosines(self.row_dots(towards), self._measured)
        if self.vectors is not None and self.summaries:
            made = self.vectors.of(list(self.summaries.values()))
            found[list(self.summaries)] = np.clip(cosines(made, towards[None])[:, 0], -1.0, 1.0)
        return found

    @cached_property
    def _measured(self) -> _Measured:
        return self.placings.measured(self.revision, len(self.ids))

    def place_of(self, segment_id: str) -> int | None:
        """The place of a segment."""
        return next((place for place, known in enumerate(self.ids) if known == segment_id), None)

    def id_at(self, place: int) -> SegmentId:
        """The segment at a place."""
        return self.ids[place]

    @property
    def nbytes(self) -> int:
        """What it holds alone."""
        return self.archived.nbytes


@dataclass(frozen=True, slots=True, eq=False)
class _Measured:
    """The placings that stood at a revision, by their places; the length of each page's sum of vectors; and of each
    segment's sum of its pages' vectors, which have length 1."""

    stood: Ints
    lengths: Floats
    norms: Floats


class _Placings:
    """Pages in segments, as they came and went: arrays in the order of (segment, change)."""

    def __init__(self, timeline: SegmentTimeline, snapshot: Snapshot) -> None:
        number = np.array([-1 if one is None else one for one in snapshot.page_numbers(timeline.pages)], dtype=np.int64)
        known = timeline.placings[number[timeline.placings[:, 0]] >= 0]
        known = known[np.lexsort((known[:, 2], known[:, 1]))]
        self._page, self._place = number[known[:, 0]], known[:, 1]
        self._no, self._until = known[:, 2], known[:, 3]
        self._vectors_of, self._dim = snapshot.vectors_of, snapshot.dim
        # What a page's vector is made of: what was said on it until it was placed.
        begins = snapshot.begins()
        pages = snapshot.page_of(snapshot.n)[begins]
        order = np.argsort(pages, kind="stable")
        first, last = (np.searchsorted(pages[order], self._page, side) for side in ("left", "right"))
        which, inside = _ranges(first, last)
        rows = begins[order][inside]
        said = snapshot.recorded_at(rows) <= known[which, 4]
        self._rows = rows[said]
        self._starts = np.append(0, np.cumsum(np.bincount(which[said], minlength=len(known))))

    def by_page(self, pages: int, revision: int) -> NDArray[np.int32]:
        """The place of the segment that each page was in, −1 for none; shape (pages,)."""
        found = np.full(pages, -1, dtype=np.int32)
        stood = self._stood(revision) & (self._page < pages)
        found[self._page[stood]] = self._place[stood]
        return found

    def cosines(self, row_dots: Floats, then: _Measured) -> Floats:
        """Each segment's cosine to a query, of which `row_dots` are the products with every row; 0 without a vector."""
        products = np.zeros(len(self._rows))
        seen = self._rows < len(row_dots)  # the others came later, or only were recorded so, by a clock that went back
        products[seen] = row_dots[self._rows[seen]]
        sums = np.append(0.0, np.cumsum(products))
        dots = (sums[self._starts[1:]] - sums[self._starts[:-1]])[then.stood]
        dots = np.divide(dots, then.lengths, out=np.zeros_like(dots), where=then.lengths > 0.0)
        total = np.bincount(self._place[then.stood], weights=dots, minlength=len(then.norms))
        norms = then.norms
        return np.clip(np.divide(total, norms, out=np.zeros(len(norms)), where=norms > 1e-6), -1.0, 1.0)

    def measured(self, revision: int, segments: int) -> _Measured:
        """What the cosines of a revision need beside a query: one pass over the vectors of the pages that stood."""
        stood = np.flatnonzero(self._stood(revision))
        lengths, sums = np.zeros(len(stood)), np.zeros((segments, self._dim))
        for start in range(0, len(stood), _AT_ONCE):
            which = stood[start : start + _AT_ONCE]
            lengths[start : start + _AT_ONCE], vectors = self._page_vectors(which)
            np.add.at(sums, self._place[which], vectors)
        return _Measured(stood, lengths, np.sqrt(np.einsum("ij,ij->i", sums, sums)))

    def _stood(self, revision: int) -> Mask:
        return np.asarray((self._no <= revision) & (self._until > revision))

    def _page_vectors(self, which: Ints) -> tuple[Floats, Vectors]:
        """How long the sums of the vectors of these pages' rows are, and the sums with length 1 (0 without any)."""
        sums = np.zeros((len(which), self._dim), dtype=np.float32)
        page, inside = _ranges(self._starts[which], self._starts[which + 1])
        if len(inside):
            some, begins = np.unique(page, return_index=True)
            sums[some] = np.add.reduceat(self._vectors_of(self._rows[inside]), begins, axis=0)
        lengths = np.sqrt(np.einsum("ij,ij->i", sums, sums))
        np.divide(sums, lengths[:, None], out=sums, where=lengths[:, None] > 0.0)
        return lengths.astype(np.float64), sums

    @property
    def nbytes(self) -> int:
        arrays = (self._place, self._no, self._until, self._page, self._rows, self._starts)
        return sum(a.nbytes for a in arrays)


def _ranges(first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """All numbers from each of `first` to before its `last`, and of which of these each is."""
    counts = last - first
    which = np.repeat(np.arange(len(counts)), counts)
    return which, np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts - first, counts)


class _Keywords:
    """Segments' keywords by version."""

    def __init__(self, timeline: SegmentTimeline) -> None:
        self._segments = len(timeline.segments)
        self._texts = timeline.texts
        self._words = timeline.words

    def jaccards(self, K_q: AbstractSet[str], revision: int) -> Floats:
        """J(K_s, K_q) of every segment as it was; 0 for one that was not there."""
        found = np.zeros(self._segments)
        stood = np.flatnonzero((self._texts[:, 1] <= revision) & (self._texts[:, 2] > revision))
        row = np.full(self._segments, -1)
        row[self._texts[stood, 0]] = stood
        shared = np.zeros(self._segments)
        for keyword in K_q:
            if (held := self._words.get(keyword)) is not None:
                place = held[:, 0]
                shared[place[(held[:, 1] <= row[place]) & (row[place] < held[:, 2])]] += 1.0
        there = row >= 0
        counts = self._texts[row[there], 3].astype(np.float64)
        found[there] = jaccard_of_counts(shared[there], counts, len(K_q))
        return found

    @cached_property
    def nbytes(self) -> int:
        return self._texts.nbytes + sum(held.nbytes + _KEYWORD_BYTES for held in self._words.values())


# --------------------------------------------------------------------------------------------------------------- facts


class _Facts:
    """All versions of all facts in one table, and which of them a moment has."""

    def __init__(self, timeline: PersonaTimeline) -> None:
        versions = sorted(timeline.facts, key=lambda one: (one.order, one.item.change_no, one.item.id))
        facts = [one.item for one in versions]
        self.table = FactTable(tuple(facts), {fact.id: frozenset(terms(fact.text)) for fact in facts})
        self._no = np.array([one.no for one in versions], dtype=np.int64)
        self._until = np.array([_until(one) for one in versions], dtype=np.int64)
        self._ended = np.array([fact.retired_at is not None for fact in facts], dtype=bool)
        # In the order in which a snapshot's table has them: the user's, the agent's, those that the cap moved out.
        self._part = np.array(
            [_ARCHIVED if f.archived else 1 if f.about is About.AGENT else 0 for f in facts], dtype=np.int8
        )

    def chosen(self, revision: int, valid_at: datetime | None) -> list[Ints]:
        """The places in the table of the facts that were held, or with `valid_at` true: of the user, of the agent, and
        of the archive."""
        stood = (self._no <= revision) & (self._until > revision)
        if valid_at is None:
            places = np.flatnonzero(stood & ~self._ended)
        else:
            places = np.array(
                [place for place in np.flatnonzero(stood).tolist() if true_at(self.table.rows[place], valid_at)],
                dtype=np.int64,
            )
        return [places[self._part[places] == part] for part in range(3)]

    def known(self, places: Ints) -> tuple[Fact, ...]:
        """The facts at these places."""
        return tuple(self.table.rows[place] for place in places.tolist())

    def ended(self, revision: int) -> tuple[Fact, ...]:
        """The facts that were no longer held."""
        stood = (self._no <= revision) & (self._until > revision) & self._ended
        return tuple(self.table.rows[place] for place in np.flatnonzero(stood).tolist())


@dataclass(frozen=True)
class FactsThen(FactTable):
    """Some of a larger table's facts, as a table: what that table worked out once serves all moments."""

    whole: FactTable = field(default_factory=FactTable, repr=False)
    chosen: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64), repr=False)

    def at(self, places: Sequence[int], rows: Sequence[Fact] | None = None) -> FactTable:
        """The table of some of these facts."""
        chosen = self.chosen[np.asarray(places, dtype=np.int64)]
        some = tuple(self.rows[place] for place in places) if rows is None else tuple(rows)
        return FactsThen(some, {}, self.whole, chosen)

    def coverage(self, weights: Mapping[str, float]) -> Floats:
        """As of the larger table."""
        return self.whole.coverage(weights)[self.chosen]

    def lent(self, weights: Mapping[str, float], holders: Callable[[str], Rows], rows: Sources) -> Floats:
        """As of the larger table: what was not chosen is silent in `rows`."""
        return self.whole.lent(weights, holders, rows)

    def sources(self, seqs: Ints, allowed: Mask | None) -> Sources:
        """Those of all pairs of the larger table."""
        found = self.whole.sources(seqs, allowed)
        return Sources(n=found.n, pairs=np.where(self._place_of[self.whole.source_seqs[0]] >= 0, found.pairs, found.n))

    @cached_property
    def source_seqs(self) -> tuple[Ints, Ints]:
        """Every (fact, source) pair, by the places here."""
        places, seqs = self.whole.source_seqs
        here = self._place_of[places]
        return here[here >= 0], seqs[here >= 0]

    @cached_property
    def _place_of(self) -> Ints:
        """Where each of the larger table's facts stands here; −1 for those that do not."""
        found = np.full(len(self.whole.rows), -1, dtype=np.int64)
        found[self.chosen] = np.arange(len(self.chosen))
        return found


# ----------------------------------------------------------------------------------------------------- traits, profile


def _known(
    versions: Sequence[Version[_Line]], key: Callable[[_Line], Hashable], revision: int, valid_at: datetime | None
) -> list[_Line]:
    """What stood of each thing; with `valid_at`, what was true. `versions` are in the order of their changes."""
    if valid_at is None:
        return [_as_known(one, revision) for one in versions if one.no <= revision < _until(one) and not one.gone]
    of: dict[Hashable, list[Version[_Line]]] = {}
    for one in versions:
        if one.no <= revision:
            of.setdefault(key(one.item), []).append(one)
    found = (_true_of(some, valid_at, revision) for some in of.values())
    return [_as_known(one, revision) for one in found if one is not None and not one.gone]


def _as_known(version: Version[_Line], revision: int) -> _Line:
    """The item as it was known: what came to an end later had none yet."""
    return version.item if _until(version) <= revision else replace(version.item, retired_at=None)


def _true_of(versions: Sequence[Version[Any]], at: datetime, revision: int) -> Version[Any] | None:
    """The last version that reaches back to a time. What was cleared, with nothing in its place, was never true, nor
    what came before it."""
    standing: list[Version[Any]] = []
    ended: int | None = None
    for one in versions:
        if ended is not None and ended != one.no:
            standing = []
        standing.append(one)
        ended = one.until
    if ended is not None and ended <= revision:
        return None
    return next((o for o in reversed(standing) if o.item.valid_from is None or o.item.valid_from <= at), None)


def _until(version: Version[Any]) -> int:
    return NEVER if version.until is None else version.until
