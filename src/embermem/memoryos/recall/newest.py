"""Of statements of one matter the newer comes first, and an older one that is told says so.

Which statements are of one matter is told by the state, where a fact has taken the place of another. Where there is no
fact, the utterances tell it, for a query that asks for one matter as it is now ("where do I work?"): a logistic
regression on how near two come to the query and to each other says whether the newer may take the place of the older,
and the older is marked if the reader finds in both a value of one attribute of one person. The weights are those of
reader/fit_newest.py; figures: docs/research/contexts.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from embermem.core import equations
from embermem.core.text import fold
from embermem.index.query_context import View
from embermem.languages.people import kin_in, may_be_another, mentions
from embermem.languages.questions import asks_for_several, asks_of_the_past
from embermem.languages.words import search_terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from embermem.protocols import Assertion

    Floats = NDArray[np.float64]

__all__ = ["Pair", "asks_for_list", "asks_for_now", "newer_of", "pairs"]

_NOW, _SEVERAL = 0.1, 0.3
"""The probabilities from which a query may ask for one matter as it is now, and for several."""
_LOOKS_AT = 500
"""Characters of an utterance in which words of kin are looked for."""
_AMONG, _GAP = 12, 8.0
"""How many of the best hits are held against each other, and how much lower than the best their scores may be."""
_FIRST, _MARKED = 0.05, 0.3
"""The probabilities from which the newer comes first, and the older may be marked."""
_STATED, _READ, _READS_TO = 0.48, 3, 300
"""The confidence from which a value counts as stated, and how many utterances are read for it, up to which
character."""
_ONE_VALUE = frozenset(
    "name nickname age birthday height contact lives_in works_as works_at studies_at status takes owns plans "
    "other".split()
)
"""Attributes of which a new value may take another's place without saying so."""
_WEIGHTS, _BASE = np.array((0.69, -3.32, 6.44, -0.93, -0.62, -1.44, 8.05, -1.29, -0.46)), -3.68
"""Of the signs of a pair, in their order."""


class Pair(NamedTuple):
    """Two rows of one speaker, and the signs that the newer takes the place of the older: the probabilities that the
    query asks for one matter as it is now and for several, the cosine of the two, by how much their scores are lower
    than the best one, whether the newer asks something, the share of words that they share, and whether the newer has a
    word of kin that the older lacks, and the older one that the newer lacks."""

    older: int
    newer: int
    signs: tuple[float, ...]


def asks_for_now(view: View) -> bool:
    """Whether a query may ask for one matter as it is now, as far as a trained reader says so."""
    query = view.query
    if query.needs is None or query.valid_at is not None or view.asked_days or query.needs.now < _NOW:
        return False
    return not asks_for_several(query.text) and not asks_of_the_past(query.text)


def asks_for_list(view: View) -> bool:
    """Whether a query asks for several things, or how many there are."""
    needs = view.query.needs
    return asks_for_several(view.query.text) or (needs is not None and needs.several >= _SEVERAL)


def newer_of(view: View, rows: Sequence[int], scores: Sequence[float]) -> tuple[dict[int, int], dict[int, int]]:
    """By row the newest one that takes its place, of the best of these rows; where there is none, nothing. First by
    which the newer comes before the older; then what of it is sure enough to be told."""
    stated = _Stated(view)
    found = [(equations.logistic(float(_WEIGHTS @ one.signs) + _BASE), one) for one in pairs(view, rows, scores)]
    likely = sorted((pair for pair in found if pair[0] >= _MARKED), key=lambda pair: -pair[0])
    sure = {one for _, one in likely if stated.anew(one)}
    first = {one.older: one.newer for probability, one in found if probability >= _FIRST}
    return first, {one.older: one.newer for _, one in found if one in sure}


class _Stated:
    """What the reader finds in the first rows that it is asked for."""

    def __init__(self, view: View) -> None:
        self._view, self._reader = view, view.query.reader
        self._asked: set[int] = set()
        name = None if self._reader is None else self._reader.name
        self._read: dict[int, tuple[Assertion, ...]] = view.snapshot.notes(("stated", name), texts=True)

    def anew(self, pair: Pair) -> bool:
        """Whether both state one attribute of one person, and the newer another value."""
        return any(self._is_new(pair, one, two) for one in self._of(pair.older) for two in self._of(pair.newer))

    def _is_new(self, pair: Pair, one: Assertion, two: Assertion) -> bool:
        if one.attribute != two.attribute or _of_whom(one) != _of_whom(two):
            return False
        if two.change == "none" and (one.attribute not in _ONE_VALUE or may_be_another(two.person or two.relation)):
            return False
        text = self._view.snapshot.text
        old, new = text(pair.older)[one.start : one.end], text(pair.newer)[two.start : two.end]
        return ("@" in old) == ("@" in new) and not (mentions(old, new) or mentions(new, old))

    def _of(self, row: int) -> tuple[Assertion, ...]:
        reader = self._reader
        if reader is None or (row not in self._asked and len(self._asked) >= _READ):
            return ()
        self._asked.add(row)
        if row not in self._read:
            utterance = self._view.snapshot.utterances[row]
            said = reader.read(replace(utterance, text=utterance.text[:_READS_TO]), None)
            self._read[row] = tuple(one for one in said if one.confidence >= _STATED)
        return self._read[row]


def _of_whom(one: Assertion) -> tuple[bool, str]:
    return one.of_other, fold(one.person or one.relation) if one.of_other else ""


def pairs(view: View, rows: Sequence[int], scores: Sequence[float]) -> Iterator[Pair]:
    """The pairs of the best of these rows, the older and then the newer by time; only of queries with `needs`."""
    best, needs = max(scores, default=0.0), view.query.needs
    assert needs is not None
    near = [(row, best - score) for row, score in zip(rows, scores, strict=True) if score >= best - _GAP][:_AMONG]
    told = view.snapshot.has_vector[: view.n] & ~view.snapshot.is_passage(view.n)
    utterances = view.snapshot.utterances
    said = sorted((one for one in near if told[one[0]]), key=lambda one: (utterances[one[0]].said_at, one[0]))
    vectors, asks = view.snapshot.vectors_of([row for row, _ in said]), view.snapshot.asks(view.n)
    alike, texts = vectors @ vectors.T, [view.snapshot.text(row) for row, _ in said]
    words, kin = [set(search_terms(text)) for text in texts], [kin_in(text[:_LOOKS_AT]) for text in texts]
    for one, (row, gap) in enumerate(said):
        for two, (newer, its_gap) in enumerate(said[one + 1 :], one + 1):
            if utterances[row].speaker != utterances[newer].speaker or utterances[row].seq == utterances[newer].seq:
                continue
            shared = len(words[one] & words[two]) / (1 + min(len(words[one]), len(words[two])))
            of_others = float(bool(kin[two] - kin[one])), float(bool(kin[one] - kin[two]))
            near_to = float(alike[one, two]), gap, its_gap, float(asks[newer]), shared
            yield Pair(row, newer, (needs.now, needs.several, *near_to, *of_others))
